/* How long it takes from the wish for a function until it has answered its first call.
 *   runtime-start package FILE.xpkg REQUEST ROUNDS DIRECTORY   in the process runtime; the image is unpacked before
 *   runtime-start bare PROGRAM REQUEST ROUNDS PORT             the program alone, started by us
 * Prints the shortest time in microseconds. */
#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "bytes.h"
#include "clock.h"
#include "dialer.h"
#include "fn-client.h"
#include "input.h"
#include "process-runtime.h"
#include "xpkg-image.h"

extern char **environ;

static struct arena arena;

static _Noreturn void give_up(const struct err *err)
{
        fprintf(stderr, "runtime-start: %s\n", err_message(err));
        exit(1);
}

static void call(struct str target, struct dialer *dialer, struct bytes *request)
{
        struct grpc_channel_options options = { .dialer = dialer, .backoff_ms = 1 };
        struct grpc_call_options how = { .deadline = deadline_after_ms(60000) };
        _cleanup_err_ struct err err = { 0 };
        struct grpc_channel *c;
        struct grpc_reply reply;

        if (grpc_channel_new(target, &options, &c, &err) < 0 || fn_call(c, request, &how, &arena, &reply, &err) < 0)
                give_up(&err);
        bytes_unref(reply.response);
        grpc_channel_unref(c);
}

/* --- In the runtime --- */

static struct semaphore changed;

static void on_change(void *context, struct str revision)
{
        (void)context, (void)revision;
        semaphore_release(&changed);
}

static struct oci_image *load(const char *path, const char *directory)
{
        _cleanup_err_ struct err err = { 0 };
        struct oci_cache *cache;
        struct xpkg_image image;
        struct oci_content content;
        struct oci_image *ret;
        struct str layers[16];

        if (oci_cache_open(&(struct oci_cache_options) { .directory = directory }, &cache, &err) < 0 ||
            xpkg_image_read(&arena, path, &image, &err) < 0 ||
            xpkg_image_manifest(&arena, &image, false, NULL, &content.manifest, &err) < 0)
                give_up(&err);
        for (size_t i = 0; i < image.n_layers && i < ARRAY_SIZE(layers); i++)
                layers[i] = image.layers[i].bytes;
        content.config = image.config;
        content.layers = layers;
        content.n_layers = image.n_layers;
        if (oci_cache_import(cache, &content, &ret, &err) < 0)
                give_up(&err);
        oci_cache_free(cache);
        return ret;
}

static void run_package(struct runtime *r, struct oci_image *image, unsigned round, struct bytes *request)
{
        struct runtime_wish wish = { .revision = arena_printf(&arena, "function-%u", round),
                                     .package = STR("function"),
                                     .kind = XPKG_FUNCTION,
                                     .image = image };
        _cleanup_err_ struct err err = { 0 };
        struct runtime_state state;
        struct dialer *dialer;

        for (;;) {
                if (runtime_ensure(r, &arena, &wish, &state, &err) < 0)
                        give_up(&err);
                if (state.phase == RUNTIME_READY)
                        break;
                if (state.phase == RUNTIME_FAILED) {
                        err_set(&err, ERR_FAILED, "%.*s", STR_ARG(state.message));
                        give_up(&err);
                }
                semaphore_acquire(&changed, deadline_after_ms(1000), NULL);
        }
        dialer = runtime_dialer(r, wish.revision);
        call(state.endpoint, dialer, request);
        dialer_unref(dialer);
        runtime_stop(r, wish.revision);
}

/* The next round begins when the program of the last one is gone. */
static void await_end(void)
{
        while (waitid(P_ALL, 0, &(siginfo_t) { 0 }, WEXITED | WNOHANG | WNOWAIT) == 0)
                usleep(1000);
        usleep(50000); /* the kernel removes a network namespace behind our back */
}

/* --- Alone --- */

static void run_bare(const char *program, const char *port, struct bytes *request)
{
        struct sockaddr_in to = { .sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)atoi(port)),
                                  .sin_addr = { htonl(INADDR_LOOPBACK) } };
        struct str address = arena_printf(&arena, "127.0.0.1:%s", port);
        const char *arguments[] = { program, "--insecure", "--address", address.p, NULL };
        bool is_up = false;
        pid_t pid;

        if (posix_spawn(&pid, program, NULL, NULL, (char *const *)arguments, environ) != 0)
                exit(1);
        while (!is_up) {
                int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

                is_up = connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0;
                close(fd);
                if (!is_up)
                        usleep(1000);
        }
        call(address, NULL, request);
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
}

static void hide_line(void *context, struct str revision, struct str line)
{
        (void)context, (void)revision, (void)line;
}

int main(int argc, char **argv)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        _cleanup_err_ struct err err = { 0 };
        struct runtime *runtime = NULL;
        struct oci_image *image = NULL;
        struct bytes *request;
        int64_t best_ns = INT64_MAX;

        if (process_runtime_is_child(argc, argv))
                return process_runtime_child();
        if (argc != 6)
                return 2;
        arena_init(&arena, "bench", 0);
        semaphore_init(&changed, "a function", 0);
        if (input_read(argv[3], &b, &err) < 0)
                give_up(&err);
        request = bytes_take(&b);
        if (strcmp(argv[1], "package") == 0) {
                image = load(argv[2], argv[5]);
                if (process_runtime_new(&(struct process_runtime_options) { .is_insecure = true, .on_log = hide_line },
                                        &runtime, &err) < 0)
                        give_up(&err);
                runtime->on_change = on_change;
        }
        for (unsigned i = 0; i < (unsigned)atoi(argv[4]); i++) {
                int64_t began_ns = clock_mono_ns();

                if (runtime)
                        run_package(runtime, image, i, request);
                else
                        run_bare(argv[2], argv[5], request);
                best_ns = MIN(best_ns, clock_mono_ns() - began_ns);
                await_end();
        }
        printf("%lld\n", (long long)(best_ns / 1000));
        bytes_unref(request);
        runtime_free(runtime);
        oci_image_unref(image);
        semaphore_done(&changed);
        arena_done(&arena);
        return 0;
}
