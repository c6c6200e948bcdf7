#include "process-runtime.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "ids.h"
#include "program-limits.h"
#include "unit.h"

#define DIAL_MS 5000

/* --- What the machine can do --- */

/* A process in new namespaces that ends at once. */
static int try_namespaces(struct err *err)
{
        unsigned long flags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS |
                              CLONE_NEWCGROUP;
        pid_t pid = (pid_t)syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, NULL);

        if (pid == 0)
                _exit(0);
        if (pid < 0)
                return ids_explain_clone(errno, err);
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
                ;
        return 0;
}

int process_runtime_check(struct err *err)
{
        struct ids ids;

        if (try_namespaces(err) < 0 || ids_choose("", IDS_FIRST, &ids, err) < 0)
                return err_wrap(err, "programs of packages cannot be isolated on this machine, so they are not run");
        return 0;
}

static int check_once(struct process_runtime *r, struct err *err)
{
        if (atomic_load(&r->is_checked))
                return 0;
        if (process_runtime_check(err) < 0)
                return err->code;
        atomic_store(&r->is_checked, true);
        return 0;
}

/* A limit that cannot be kept refuses the wish, before anything is started. */
static int try_limits(const struct runtime_config *config, struct err *err)
{
        struct program_limits limits;
        char name[64];

        snprintf(name, sizeof(name), "%d-try-%ld", (int)getpid(), syscall(SYS_gettid));
        if (program_limits_make("", str_from(name), config->memory_bytes, config->cpu_millis, &limits, err) < 0)
                return err->code;
        program_limits_done(&limits);
        return 0;
}

/* --- The operations --- */

static struct process_runtime *of(struct runtime *base)
{
        return CONTAINER_OF(base, struct process_runtime, base);
}

static void set_wish(struct process_runtime *r, const struct runtime_wish *wish, struct program *program,
                     unsigned n_replicas, struct arena *a, struct runtime_state *ret)
{
        struct unit *u;

        mutex_lock(&r->mutex);
        u = unit_get(r, wish->revision);
        if (!u->program || strcmp(u->program->digest, program->digest) != 0) {
                program_unref(u->program);
                u->program = program_ref(program);
                unit_settle_soon(u);
        }
        if (u->n_replicas != n_replicas) {
                u->n_replicas = n_replicas;
                unit_settle_soon(u);
        }
        unit_describe(u, a, ret);
        mutex_unlock(&r->mutex);
}

static int ensure(struct runtime *base, struct arena *a, const struct runtime_wish *wish, struct runtime_state *ret,
                  struct err *err)
{
        struct process_runtime *r = of(base);
        _cleanup_(program_unrefp)
        struct program *program = NULL;
        struct runtime_config config;
        struct str ns = r->options.tls_namespace, service = wish->service.n ? wish->service : wish->package;

        if (check_once(r, err) < 0)
                return err->code;
        if (runtime_config_read(a, wish->config, &config, err) < 0)
                return err_wrap(err, "cannot use the DeploymentRuntimeConfig");
        if (try_limits(&config, err) < 0)
                return err_wrap(err, "cannot use the DeploymentRuntimeConfig");
        if (program_make(&r->options, wish, &config, &program, err) < 0)
                return err->code;
        set_wish(r, wish, program, (unsigned)config.replicas, a, ret);
        ret->endpoint = arena_printf(a, "dns:///%.*s.%.*s:%u", STR_ARG(service), STR_ARG(ns), config.port);
        ret->ignored = str_list_join(&config.ignored, STR(", "));
        return 0;
}

static void stop(struct runtime *base, struct str revision)
{
        struct process_runtime *r = of(base);
        struct unit *u;

        mutex_lock(&r->mutex);
        u = map_get(&r->units, revision);
        if (u && u->program) {
                program_unref(u->program);
                u->program = NULL;
                unit_settle_soon(u);
        }
        mutex_unlock(&r->mutex);
}

static int dial(struct runtime *base, struct str revision, int *ret_fd, struct err *err)
{
        struct process_runtime *r = of(base);
        _cleanup_arena_ struct arena a;
        struct runtime_state state = { .message = STR("it is not known") };
        struct program_gate *g = NULL;
        struct unit *u;
        int code;

        arena_init(&a, "dial", 0);
        mutex_lock(&r->mutex);
        u = map_get(&r->units, revision);
        if (u)
                g = unit_choose_gate(u);
        if (u && !g)
                unit_describe(u, &a, &state);
        mutex_unlock(&r->mutex);
        if (!g)
                return err_set(err, ERR_NOT_FOUND, "revision \"%.*s\" has no program that answers: %.*s",
                               STR_ARG(revision), STR_ARG(state.message));
        code = gate_dial(g, DIAL_MS, ret_fd, err);
        gate_unref(g);
        return code < 0 ? err_wrap(err, "revision \"%.*s\"", STR_ARG(revision)) : 0;
}

static struct dialer *get_dialer(struct runtime *base, struct str revision)
{
        struct process_runtime *r = of(base);
        struct dialer *d;

        mutex_lock(&r->mutex);
        d = dialer_ref(unit_get(r, revision)->dialer);
        mutex_unlock(&r->mutex);
        return d;
}

static void begin_close(void *arg)
{
        struct process_runtime *r = arg;

        r->is_closing = true;
        for (struct map_entry *e = map_first(&r->units); e; e = map_next(&r->units, e))
                unit_kill(e->value);
        if (r->n_slots == 0)
                completion_complete(&r->closed);
}

static void free_runtime(struct runtime *base)
{
        struct process_runtime *r = of(base);

        loop_call(r->loop, begin_close, r);
        completion_wait(&r->closed, DEADLINE_NONE, NULL);
        loop_free(r->loop); /* runs what units have posted */
        for (struct map_entry *e = map_first(&r->units); e; e = map_next(&r->units, e))
                unit_free(e->value);
        map_done(&r->units);
        completion_done(&r->closed);
        mutex_done(&r->mutex);
        arena_done(&r->arena);
        free(r);
}

static const struct runtime_ops ops = {
        .ensure = ensure,
        .stop = stop,
        .dial = dial,
        .dialer = get_dialer,
        .free = free_runtime,
};

int process_runtime_new(const struct process_runtime_options *options, struct runtime **ret, struct err *err)
{
        struct process_runtime *r = xcalloc(1, sizeof(*r));
        struct process_runtime_options *o = &r->options;

        r->base.ops = &ops;
        *o = *options;
        o->drain_ms = o->drain_ms ? o->drain_ms : 30000;
        o->term_ms = o->term_ms ? o->term_ms : 10000;
        o->backoff_ms = o->backoff_ms ? o->backoff_ms : 1000;
        arena_init(&r->arena, "process runtime", 0);
        o->tls_namespace = arena_copy(&r->arena, o->tls_namespace.n ? o->tls_namespace : STR("crossplane-system"));
        mutex_init(&r->mutex);
        completion_init(&r->closed, "programs of packages");
        if (loop_new("runtime", &r->loop, err) < 0) {
                completion_done(&r->closed);
                mutex_done(&r->mutex);
                arena_done(&r->arena);
                free(r);
                return err->code;
        }
        *ret = &r->base;
        return 0;
}
