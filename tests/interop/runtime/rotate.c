/* Calls the function of a .xpkg file without a pause while its keys are replaced, and reports calls that failed.
 *   runtime-rotate FILE REQUEST ROUNDS DIRECTORY */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>

#include "bytes.h"
#include "dialer.h"
#include "fn-client.h"
#include "input.h"
#include "process-runtime.h"
#include "runtime-tls.h"
#include "store.h"
#include "tls.h"
#include "xpkg-image.h"

#define N_CALLERS 4

struct rotation {
        struct arena arena;
        struct run run;
        struct store *store;
        struct oci_cache *cache;
        struct oci_image *image;
        struct runtime *runtime;
        const char *directory;
        struct runtime_tls_options tls;
        struct runtime_wish wish;

        struct grpc_channel *channel;
        struct bytes *request;
        _Atomic bool is_over;
        _Atomic unsigned n_calls, n_failed;
        unsigned n_replaced; /* how often the program got other keys */
};

static _Noreturn void give_up(const char *what, const struct err *err)
{
        fprintf(stderr, "runtime-rotate: %s: %s\n", what, err_message(err));
        exit(1);
}

static void load(struct rotation *r, const char *path)
{
        _cleanup_err_ struct err err = { 0 };
        struct xpkg_image image;
        struct oci_content content;
        struct str layers[16];

        if (oci_cache_open(&(struct oci_cache_options) { .directory = r->directory }, &r->cache, &err) < 0 ||
            xpkg_image_read(&r->arena, path, &image, &err) < 0 ||
            xpkg_image_manifest(&r->arena, &image, false, NULL, &content.manifest, &err) < 0)
                give_up(path, &err);
        for (size_t i = 0; i < image.n_layers && i < ARRAY_SIZE(layers); i++)
                layers[i] = image.layers[i].bytes;
        content.config = image.config;
        content.layers = layers;
        content.n_layers = image.n_layers;
        if (oci_cache_import(r->cache, &content, &r->image, &err) < 0)
                give_up(path, &err);
}

/* Makes the keys true: the client's files first, then the program. */
static void ensure_keys(struct rotation *r)
{
        static const struct runtime_tls_leaf server = { .use = RUNTIME_TLS_SERVES,
                                                        .secret = STR_INIT("function-a-tls-server"),
                                                        .name = STR_INIT("function-a") };
        static const struct runtime_tls_leaf client = { .use = RUNTIME_TLS_CALLS,
                                                        .secret = STR_INIT("crossplane-tls-client"),
                                                        .name = STR_INIT("crossplane.crossplane-system") };
        _cleanup_err_ struct err err = { 0 };
        struct runtime_tls own, before = r->wish.server;
        const char *keys = arena_printf(&r->arena, "%s/keys", r->directory).p;

        if (runtime_tls_ensure(store_cluster(r->store), &r->run, &r->tls, &client, &own, NULL, &err) < 0 ||
            runtime_tls_write(keys, &own, &err) < 0 ||
            runtime_tls_ensure(store_cluster(r->store), &r->run, &r->tls, &server, &r->wish.server, NULL, &err) < 0)
                give_up("keys", &err);
        r->n_replaced += before.cert.n &&
                         (!str_equal(before.cert, r->wish.server.cert) || !str_equal(before.ca, r->wish.server.ca));
}

/* Launchers that are running: one for each program. */
static unsigned count_programs(void)
{
        DIR *tasks = opendir("/proc/self/task");
        unsigned n = 0;

        for (struct dirent *e; tasks && (e = readdir(tasks));) {
                char path[300];
                FILE *f;
                int pid;

                snprintf(path, sizeof(path), "/proc/self/task/%s/children", e->d_name);
                f = fopen(path, "re");
                while (f && fscanf(f, "%d", &pid) == 1)
                        n++;
                if (f)
                        fclose(f);
        }
        if (tasks)
                closedir(tasks);
        return n;
}

static void await_ready(struct rotation *r)
{
        _cleanup_err_ struct err err = { 0 };
        struct deadline deadline = deadline_after_ms(60000);
        struct runtime_state state;

        for (;;) {
                if (runtime_ensure(r->runtime, &r->arena, &r->wish, &state, &err) < 0)
                        give_up("wish", &err);
                if (state.phase == RUNTIME_READY)
                        return;
                if (deadline_has_passed(deadline)) {
                        err_set(&err, ERR_TIMEOUT, "%.*s", STR_ARG(state.message));
                        give_up("the function does not answer", &err);
                }
                thread_sleep(deadline_after_ms(5), NULL);
        }
}

static void run_caller(void *arg)
{
        struct rotation *r = arg;

        while (!atomic_load(&r->is_over)) {
                struct grpc_call_options options = { .deadline = deadline_after_ms(60000) };
                _cleanup_arena_ struct arena a;
                _cleanup_err_ struct err err = { 0 };
                struct grpc_reply reply;

                arena_init(&a, "call", 0);
                if (fn_call(r->channel, r->request, &options, &a, &reply, &err) < 0) {
                        atomic_fetch_add(&r->n_failed, 1);
                        fprintf(stderr, "runtime-rotate: a call failed: %s\n", err_message(&err));
                } else {
                        bytes_unref(reply.response);
                }
                atomic_fetch_add(&r->n_calls, 1);
        }
}

static void open_channel(struct rotation *r)
{
        struct dialer *dialer = runtime_dialer(r->runtime, r->wish.revision);
        struct grpc_channel_options options = { .dialer = dialer };
        _cleanup_err_ struct err err = { 0 };

        if (tls_config_new(&(struct tls_options) { .directory = arena_printf(&r->arena, "%s/keys", r->directory).p },
                           &options.tls, &err) < 0 ||
            grpc_channel_new(STR("dns:///function-a.crossplane-system:9443"), &options, &r->channel, &err) < 0)
                give_up("channel", &err);
        tls_config_unref(options.tls);
        dialer_unref(dialer);
}

static void read_request(struct rotation *r, const char *path)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        _cleanup_err_ struct err err = { 0 };

        if (input_read(path, &b, &err) < 0)
                give_up(path, &err);
        r->request = bytes_take(&b);
}

/* Waits until the new program has taken over and the old one has gone, and some calls more. */
static void await_switch(struct rotation *r)
{
        unsigned before;

        await_ready(r);
        while (count_programs() < 2)
                thread_sleep(deadline_after_ms(1), NULL);
        while (count_programs() > 1)
                thread_sleep(deadline_after_ms(1), NULL);
        before = atomic_load(&r->n_calls);
        while (atomic_load(&r->n_calls) < before + 20)
                thread_sleep(deadline_after_ms(1), NULL);
}

/* Another round: the keys are about to end, so the authority is replaced, then the leaves; calls go on with each. Times are chosen by
 * the lifetime, which doubles: the margin is more than what the old ones have left, and less than what the new ones have. */
static void rotate(struct rotation *r, unsigned round)
{
        int64_t old_s = INT64_C(100000) << 2 * round;

        r->tls.lifetime_s = 4 * old_s;
        r->tls.margin_s = old_s / 2 + 10; /* the authority has less than twice that */
        ensure_keys(r);
        await_switch(r);
        r->tls.margin_s = old_s + 10; /* leaves of the old authority have less than that */
        ensure_keys(r);
        await_switch(r);
}

int main(int argc, char **argv)
{
        struct rotation r = { .tls = { .lifetime_s = 100000, .margin_s = 1000 } };
        struct thread *callers[N_CALLERS];
        _cleanup_err_ struct err err = { 0 };

        if (process_runtime_is_child(argc, argv))
                return process_runtime_child();
        if (argc != 5)
                return 2;
        arena_init(&r.arena, "rotation", 0);
        r.run = (struct run) {
                .arena = &r.arena, .deadline = DEADLINE_NONE, .user.name = STR("weft"), .cause = STR("a test")
        };
        r.directory = argv[4];
        load(&r, argv[1]);
        read_request(&r, argv[2]);
        if (store_new(&(struct store_options) { .accepts_any_kind = true }, &r.store, &err) < 0 ||
            process_runtime_new(&(struct process_runtime_options) { 0 }, &r.runtime, &err) < 0)
                give_up("start", &err);
        r.wish = (struct runtime_wish) { .revision = STR("function-a-1"),
                                         .uid = STR("1"),
                                         .package = STR("function-a"),
                                         .kind = XPKG_FUNCTION,
                                         .image = r.image };
        ensure_keys(&r);
        await_ready(&r);
        open_channel(&r);
        for (size_t i = 0; i < N_CALLERS; i++)
                if (thread_start("caller", run_caller, &r, &callers[i], &err) < 0)
                        give_up("start", &err);
        for (unsigned i = 0; i < (unsigned)atoi(argv[3]); i++)
                rotate(&r, i);
        atomic_store(&r.is_over, true);
        for (size_t i = 0; i < N_CALLERS; i++)
                thread_join(callers[i]);
        grpc_channel_unref(r.channel);
        printf("replaced %u times, failed calls: %u\n", r.n_replaced, r.n_failed);
        bytes_unref(r.request);
        runtime_free(r.runtime);
        oci_image_unref(r.image);
        oci_cache_free(r.cache);
        arena_done(&r.arena);
        store_free(r.store);
        return r.n_failed > 0;
}
