#include "access.h"
#include "apiserver.h"
#include "buf.h"
#include "cluster.h"
#include "fn-cache.h"
#include "functions.h"
#include "inspector.h"
#include "json.h"
#include "log.h"
#include "meter.h"
#include "nop.h"
#include "own-kinds.h"
#include "plane.h"
#include "requirements-memory.h"
#include "up.h"

#include <stdio.h>

#define LOOK_MS      100 /* between two looks at the objects while something changes */
#define MOST_LOOK_MS 1000
#define RUN_BYTES    (256u << 20)

static const struct str masters[] = { STR_INIT("system:masters") };

/* Everything that runs. */
struct up {
        const struct up_options *options;
        struct arena arena; /* for the life of the command */
        struct server *server;
        struct cluster *checked; /* what the controllers may do */
        struct registry *registry;
        struct requirements_memory *memory;
        struct run_records *records;
        struct up_inspection inspection;
        struct meters *meters;
        struct fn_cache *cache;      /* NULL unless its gate is open */
        struct inspector *inspector; /* the same */
        struct apiserver_metrics metrics;
        struct apiserver_path path; /* for commands that look into it */
        struct server_options server_options;
        struct manager *manager;
        struct up_packages *packages;
        struct plane *plane;
        struct nop *nop;
        struct arena files[2]; /* manifests and their states; the other one is for loading them again */
        unsigned current;
        struct up_items items;
        struct up_screen screen;
        int files_fd; /* -1: files are not watched */
        int look_ms;  /* the last pause between two looks */
};

static struct run admin_run(struct arena *a, const char *cause)
{
        return (struct run) { .arena = a,
                              .deadline = DEADLINE_NONE,
                              .user = { .name = STR("weft-up"), .groups = masters, .n_groups = 1 },
                              .cause = str_from(cause) };
}

/* --- Rights --- */

/* The controllers act as Crossplane's service account, which may do everything until somebody takes a right away. */
static const char *const own_objects[] = {
        "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"crossplane-system\"}}",
        "{\"apiVersion\":\"v1\",\"kind\":\"ServiceAccount\",\"metadata\":{\"name\":\"crossplane\",\"namespace\":"
        "\"crossplane-system\"}}",
        "{\"apiVersion\":\"rbac.authorization.k8s.io/"
        "v1\",\"kind\":\"ClusterRoleBinding\",\"metadata\":{\"name\":\"crossplane\"},"
        "\"roleRef\":{\"apiGroup\":\"rbac.authorization.k8s.io\",\"kind\":\"ClusterRole\",\"name\":\"cluster-admin\"},"
        "\"subjects\":[{"
        "\"kind\":\"ServiceAccount\",\"name\":\"crossplane\",\"namespace\":\"crossplane-system\"}]}",
};

/* Makes an object if it does not exist; one that exists is the user's to change. */
static int make_own(struct up *u, struct run *run, const char *text, struct err *err)
{
        struct write_request req = { .verb = WRITE_CREATE, .manager = CROSSPLANE_MANAGER };
        struct write_result result;
        _cleanup_err_ struct err inner = { 0 };
        int r = json_parse(run->arena, str_from(text), NULL, &req.body, err);

        if (r < 0)
                return r;
        req.key = object_key_of(req.body);
        r = cluster_write(server_cluster(u->server), run, &req, &result, &inner);
        return r < 0 && r != ERR_EXISTS ? err_move(err, &inner) : 0;
}

static int install(struct up *u, struct err *err)
{
        _cleanup_arena_ struct arena a;
        struct run run = admin_run(&a, "start of weft up");
        int r = 0;

        arena_init(&a, "start", RUN_BYTES);
        for (size_t i = 0; r == 0 && i < ARRAY_SIZE(own_objects); i++)
                r = make_own(u, &run, own_objects[i], err);
        if (r == 0)
                r = plane_install(server_cluster(u->server), &run, u->options->features, err);
        if (r == 0)
                r = packages_install(server_cluster(u->server), &run, err);
        return r < 0 ? r : nop_install(server_cluster(u->server), &run, err);
}

/* --- Controllers --- */

static int start_manager(struct up *u, struct err *err)
{
        static const struct str groups[] = { STR_INIT("system:serviceaccounts"),
                                             STR_INIT("system:serviceaccounts:crossplane-system"),
                                             STR_INIT("system:authenticated") };
        struct manager_options options = {
                .user = { .name = STR("system:serviceaccount:crossplane-system:crossplane"),
                          .groups = groups,
                          .n_groups = 3 },
        };
        int r = access_cluster_new(server_cluster(u->server), server_access(u->server), &u->checked, err);

        if (r < 0)
                return r;
        options.cluster = u->checked;
        options.meters = u->meters;
        return manager_new(&options, &u->manager, err);
}

static int start_packages(struct up *u, struct err *err)
{
        return up_packages_start(u->options, u->manager, u->registry, u->server, &u->packages, err);
}

/* Sets the hint that errors about an unknown function end with. */
static void set_hint(struct up *u)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        buf_append_literal(
                &b,
                "; apply a Function of that name, start with --function NAME=HOST:PORT, or use one that is built in: ");
        for (size_t i = 0; i < builtin_n_functions; i++)
                buf_appendf(&b, "%s%s", i ? ", " : "", builtin_functions[i]->name);
        registry_set_hint(u->registry, arena_cstring(&u->arena, buf_str(&b)));
}

/* A pipeline may name a built-in function, or one that runs beside, without a Function object. */
static void register_builtins(struct up *u)
{
        functions_register_native(u->registry);
        for (size_t i = 0; i < builtin_n_functions; i++)
                registry_set(u->registry, str_from(builtin_functions[i]->name), function_builtin(builtin_functions[i]));
}

static int start_plane(struct up *u, struct err *err)
{
        const struct up_options *o = u->options;
        struct plane_options options = {
                .manager = u->manager,
                .protection = server_protection(u->server),
                .steps = { .registry = u->registry,
                           .memory = u->memory,
                           .features = u->options->features,
                           .cache = u->cache },
                .records = u->records,
                .meters = u->meters,
        };
        int r = 0;

        if (feature_is_on(o->features, FEATURE_PIPELINE_INSPECTOR))
                r = inspector_new(o->inspector_socket, u->meters, &u->inspector, err);
        options.inspector = u->inspector;
        return r < 0 ? r : plane_new(&options, &u->plane, err);
}

/* --- Metrics (docs/spec/engine 4.5) --- */

static void append_number(struct buf *b, const char *name, const char *type, double n)
{
        buf_appendf(b, "# TYPE %s %s\n%s %.15g\n", name, type, name, n);
}

static void append_cache(struct buf *b, struct fn_cache *cache)
{
        struct fn_cache_stats s = fn_cache_stats(cache);

        append_number(b, "function_run_function_response_cache_errors_total", "counter", (double)s.errors);
        append_number(b, "function_run_function_response_cache_writes_total", "counter", (double)s.writes);
        append_number(b, "function_run_function_response_cache_deletes_total", "counter", (double)s.deletes);
        append_number(b, "function_run_function_response_cache_bytes_written_total", "counter",
                      (double)s.bytes_written);
        append_number(b, "function_run_function_response_cache_bytes_deleted_total", "counter",
                      (double)s.bytes_deleted);
}

/* Called by the server; the meters and records outlive it. */
static void append_metrics(void *arg, struct buf *b)
{
        struct up *u = arg;
        struct run_records_stats records = run_records_stats(u->records);

        meters_append(u->meters, b);
        append_number(b, "weft_run_records", "gauge", (double)records.n_records);
        append_number(b, "weft_run_record_bytes", "gauge", (double)records.size_bytes);
        if (u->cache)
                append_cache(b, u->cache);
}

static int open_cache(struct up *u, struct err *err)
{
        struct fn_cache_options options = { .directory = u->options->cache_directory,
                                            .max_ttl_ns = u->options->cache_max_ttl_ns };

        if (!feature_is_on(u->options->features, FEATURE_FUNCTION_RESPONSE_CACHE))
                return 0;
        return fn_cache_new(&options, &u->cache, err);
}

static int open_server(struct up *u, struct err *err)
{
        u->meters = meters_new();
        u->metrics = (struct apiserver_metrics) { append_metrics, u };
        u->records = run_records_new(0, 0);
        u->registry = registry_new();
        u->inspection = (struct up_inspection) { u->records, u->registry, u->options->features };
        u->path = (struct apiserver_path) { .path = UP_INSPECT_PATH, .handle = up_inspect, .context = &u->inspection };
        u->server_options = u->options->server;
        u->server_options.paths = &u->path;
        u->server_options.n_paths = 1;
        u->server_options.metrics = &u->metrics;
        u->server_options.n_metrics = 1;
        return server_open(&u->server_options, &u->server, err);
}

static int start(struct up *u, struct err *err)
{
        int r = open_cache(u, err);

        if (r == 0)
                r = open_server(u, err);
        if (r < 0)
                return r;
        u->memory = requirements_memory_new(0, 0);
        register_builtins(u);
        set_hint(u);
        r = install(u, err);
        if (r == 0)
                r = start_manager(u, err);
        if (r == 0)
                r = start_packages(u, err);
        if (r == 0)
                r = nop_new(u->manager, &u->nop, err);
        return r < 0 ? r : start_plane(u, err);
}

static void stop(struct up *u)
{
        plane_free(u->plane);
        nop_free(u->nop);
        inspector_free(u->inspector);
        up_packages_stop(u->packages);
        manager_free(u->manager);
        if (u->checked)
                cluster_free(u->checked);
        server_close(u->server);
        registry_free(u->registry);
        requirements_memory_free(u->memory);
        run_records_free(u->records);
        for (size_t i = 0; i < ARRAY_SIZE(u->files); i++)
                arena_done(&u->files[i]);
        meters_free(u->meters);
        fn_cache_free(u->cache);
        arena_done(&u->arena);
        if (u->files_fd >= 0)
                close(u->files_fd);
}

/* --- Manifests --- */

static int load(struct up *u, struct arena *a, struct up_items *ret, struct err *err)
{
        struct manifests *m = ARENA_NEW(a, struct manifests);
        int r = 0;

        manifests_init(m, a);
        for (size_t i = 0; r == 0 && i < u->options->n_paths; i++)
                r = manifests_load(m, str_from(u->options->paths[i]), err);
        if (r == 0)
                up_sort(a, m, ret);
        return r;
}

static void tell_gone(struct arena *a, const struct up_items *gone)
{
        for (size_t i = 0; i < gone->n; i++)
                printf("%-7s %.*s: it left the files; --prune deletes such objects\n", "kept",
                       STR_ARG(up_name(a, &gone->p[i])));
        fflush(stdout);
}

/* The files were saved: what changed in them is applied at the next look. A file that cannot be read changes nothing. */
static void reload(struct up *u)
{
        struct arena *a = &u->files[1 - u->current];
        struct run run = admin_run(a, "weft up --watch");
        struct up_items items, gone;
        _cleanup_err_ struct err err = { 0 };

        up_screen_clear(&u->screen);
        if (up_files_watch(u->options, &u->files_fd, &err) < 0 || load(u, a, &items, &err) < 0) {
                printf("%-7s %s\n", "refused", err_message(&err));
                fflush(stdout);
                arena_reset(a);
                return;
        }
        up_take_over(a, &u->items, &items, &gone);
        if (u->options->prunes)
                up_prune(server_cluster(u->server), &run, &gone);
        else
                tell_gone(a, &gone);
        u->items = items;
        arena_reset(&u->files[u->current]);
        u->current = 1 - u->current;
}

static void tell_address(struct up *u)
{
        _cleanup_free_ char *url = server_url(u->server), *path = server_kubeconfig(u->server);

        printf("The API is at %s. To connect:\n\n  export KUBECONFIG=%s\n\n", url, path);
        fflush(stdout);
}

/* Applies what can be applied, and shows what changed. 1: all is ready; 0: not yet. */
static int look(struct up *u, struct err *err)
{
        _cleanup_arena_ struct arena a;
        struct run run = admin_run(&a, "weft up");
        size_t left;
        bool is_ready;
        int r;

        arena_init(&a, "look", RUN_BYTES);
        r = up_apply(server_cluster(u->server), &run, &u->files[u->current], &u->items, u->options->watches, &left,
                     err);
        if (r < 0)
                return r;
        is_ready = up_show(server_cluster(u->server), &run, &u->files[u->current], &u->screen, &u->items);
        return is_ready && left == 0;
}

static void print_trees(struct up *u)
{
        _cleanup_arena_ struct arena a;
        struct run run = admin_run(&a, "weft up");

        arena_init(&a, "trees", RUN_BYTES);
        printf("\n");
        up_print_trees(server_cluster(u->server), &run, &u->items);
        fflush(stdout);
}

/* The pause between two looks grows while nothing changes. True if a signal came. */
static bool wait_a_moment(struct up *u, const sigset_t *signals)
{
        struct timespec moment = { 0 };

        u->look_ms = u->screen.has_news || !u->look_ms ? LOOK_MS : MIN(u->look_ms + LOOK_MS / 4, MOST_LOOK_MS);
        moment = (struct timespec) { .tv_sec = u->look_ms / 1000, .tv_nsec = u->look_ms % 1000 * 1000000l };
        return sigtimedwait(signals, NULL, &moment) > 0;
}

static int tell_late(struct up *u, struct err *err)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        _cleanup_arena_ struct arena a;
        struct run run = admin_run(&a, "weft up");

        arena_init(&a, "reasons", RUN_BYTES);
        up_reasons(server_cluster(u->server), &run, &b, &u->items);
        return err_set(err, ERR_TIMEOUT, "not everything is ready in time; --timeout gives it more. Not ready:%.*s",
                       STR_ARG(buf_str(&b)));
}

/* Until everything is ready, or a signal comes. */
static int await_ready(struct up *u, const sigset_t *signals, bool *ret_is_signalled, struct err *err)
{
        struct deadline deadline = u->options->is_once ? deadline_after_ns(u->options->timeout_ns) : DEADLINE_NONE;
        int r;

        *ret_is_signalled = false;
        up_screen_hold_log(&u->screen);
        while ((r = look(u, err)) == 0 && !*ret_is_signalled) {
                if (deadline_has_passed(deadline)) {
                        r = tell_late(u, err);
                        break;
                }
                *ret_is_signalled = wait_a_moment(u, signals);
                if (up_files_changed(u->files_fd))
                        reload(u);
        }
        up_screen_clear(&u->screen);
        up_screen_release_log(&u->screen);
        return MIN(r, 0);
}

static void tell_ready(struct up *u)
{
        if (u->items.n)
                print_trees(u);
        if (u->options->is_once)
                return;
        printf("%sServing until Ctrl-C.%s\n", u->items.n ? "\nEverything is ready. " : "",
               u->options->watches ? " Saved files are applied again." : "");
        fflush(stdout);
}

static int serve(struct up *u, const sigset_t *signals, struct err *err)
{
        for (;;) {
                bool is_signalled;
                int r = await_ready(u, signals, &is_signalled, err);

                if (r < 0 || is_signalled)
                        return r;
                tell_ready(u);
                if (u->options->is_once || server_wait_for(u->server, signals, u->files_fd) > 0)
                        return 0;
                if (up_files_changed(u->files_fd))
                        reload(u);
        }
}

int up_run(const struct up_options *options, struct err *err)
{
        struct up u = { .options = options, .files_fd = -1 };
        sigset_t signals;
        int r;

        server_set_up_process(options->server.is_debug, &signals);
        arena_init(&u.arena, "weft up", 0);
        for (size_t i = 0; i < ARRAY_SIZE(u.files); i++)
                arena_init(&u.files[i], "manifests", 0);
        up_screen_init(&u.screen, options->server.is_debug);
        r = options->watches ? up_files_watch(options, &u.files_fd, err) : 0;
        if (r == 0)
                r = load(&u, &u.files[u.current], &u.items, err);
        if (r == 0)
                r = start(&u, err);
        if (r == 0) {
                tell_address(&u);
                r = serve(&u, &signals, err);
        }
        stop(&u);
        log_flush();
        return r;
}
