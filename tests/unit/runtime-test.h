/* For tests of the process runtime: images that are made in memory, a runtime whose changes and log lines can be waited for, and
 * conversations with sandbox-probe.c in it.
 *
 * The runtime starts this program anew for each process of a package, so the program must include this header. */
#pragma once

#include "test.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "buf.h"
#include "clock.h"
#include "input.h"
#include "oci-digest.h"
#include "oci-layer.h"
#include "oci-unpack.h"
#include "park.h"
#include "process-runtime.h"

#define PATIENCE_MS 60000

__attribute__((constructor(200))) static void runtime_test_child(int argc, char **argv)
{
        if (process_runtime_is_child(argc, argv))
                _exit(process_runtime_child());
}

struct side {
        struct arena arena;
        char directory[64];
        struct oci_cache *cache;
        struct runtime *runtime;
        struct mutex mutex;
        struct buf log; /* REVISION: LINE, one each */
        _Atomic unsigned n_changes;
};

static inline void side_on_log(void *context, struct str revision, struct str line)
{
        struct side *s = context;

        mutex_lock(&s->mutex);
        buf_appendf(&s->log, "%.*s: %.*s\n", STR_ARG(revision), STR_ARG(line));
        mutex_unlock(&s->mutex);
}

static inline void side_on_change(void *context, struct str revision)
{
        struct side *s = context;

        (void)revision;
        atomic_fetch_add(&s->n_changes, 1);
}

static inline void side_init_with(struct side *s, struct process_runtime_options options)
{
        _cleanup_err_ struct err err = { 0 };

        *s = (struct side) { .directory = "/tmp/weft-runtime-XXXXXX", .mutex = MUTEX_INIT };
        arena_init(&s->arena, "side", 0);
        buf_init(&s->log, 0);
        ASSERT(mkdtemp(s->directory));
        options.on_log = side_on_log;
        options.log_context = s;
        if (oci_cache_open(&(struct oci_cache_options) { .directory = s->directory }, &s->cache, &err) < 0 ||
            process_runtime_new(&options, &s->runtime, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
        s->runtime->on_change = side_on_change;
        s->runtime->context = s;
}

static inline void side_init(struct side *s)
{
        side_init_with(s, (struct process_runtime_options) { .backoff_ms = 10, .term_ms = 5000 });
}

static inline void side_done(struct side *s)
{
        _cleanup_err_ struct err err = { 0 };

        runtime_free(s->runtime);
        oci_cache_free(s->cache);
        if (oci_remove_tree(AT_FDCWD, s->directory, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
        buf_done(&s->log);
        arena_done(&s->arena);
}

static inline void side_add_program(struct buf *tar)
{
        _cleanup_buf_ struct buf program = BUF_INIT(0);

        ASSERT(input_read(PROBE, &program, NULL) == 0);
        oci_tar_append_file(tar, STR("probe"), 0755, buf_str(&program));
}

/* An image of one layer. config is what stands in "config" of its configuration. */
static inline struct oci_image *side_image(struct side *s, struct str tar, const char *config)
{
        struct arena *a = &s->arena;
        _cleanup_err_ struct err err = { 0 };
        struct oci_content content = { .layers = &tar, .n_layers = 1 };
        struct str diff_id = oci_digest_of(a, tar);
        struct oci_image *image;

        content.config = arena_printf(a,
                                      "{\"architecture\":\"amd64\",\"os\":\"linux\",\"config\":%s,\"rootfs\":{\"type\":"
                                      "\"layers\",\"diff_ids\":[\"%.*s\"]}}",
                                      config, STR_ARG(diff_id));
        content.manifest =
                arena_printf(a,
                             "{\"schemaVersion\":2,\"mediaType\":\"" OCI_MEDIA_MANIFEST
                             "\",\"config\":{\"mediaType\":\"" OCI_MEDIA_CONFIG
                             "\",\"digest\":\"%.*s\",\"size\":%zu},\"layers\":[{\"mediaType\":\"application/"
                             "vnd.oci.image.layer.v1.tar\","
                             "\"digest\":\"%.*s\",\"size\":%zu}]}",
                             STR_ARG(oci_digest_of(a, content.config)), content.config.n, STR_ARG(diff_id), tar.n);
        if (oci_cache_import(s->cache, &content, &image, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
        return image;
}

static inline struct oci_image *side_probe(struct side *s, const char *config)
{
        _cleanup_buf_ struct buf tar = BUF_INIT(0);

        side_add_program(&tar);
        oci_tar_append_file(&tar, STR("etc/of-image"), 0644, STR("image"));
        oci_tar_append_end(&tar);
        return side_image(s, buf_str(&tar), config);
}

#define PROBE_CONFIG "{\"Entrypoint\":[\"/probe\"],\"Env\":[\"OF_IMAGE=1\"]}"

static inline struct runtime_wish side_wish(const char *revision, struct oci_image *image)
{
        return (struct runtime_wish) {
                .revision = str_from(revision),
                .uid = STR("uid-1"),
                .package = STR("function-probe"),
                .kind = XPKG_FUNCTION,
                .image = image,
                .server = { STR("the certificate"), STR("the key"), STR("the authority") },
        };
}

static inline struct runtime_state side_ensure(struct side *s, const struct runtime_wish *wish)
{
        _cleanup_err_ struct err err = { 0 };
        struct runtime_state state;

        if (runtime_ensure(s->runtime, &s->arena, wish, &state, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
        return state;
}

/* Waits for the phase. */
static inline struct runtime_state side_await(struct side *s, const struct runtime_wish *wish, enum runtime_phase phase)
{
        struct deadline deadline = deadline_after_ms(PATIENCE_MS);

        for (;;) {
                struct runtime_state state = side_ensure(s, wish);

                if (state.phase == phase)
                        return state;
                if (deadline_has_passed(deadline))
                        test_fail(__FILE__, __LINE__, "phase %d: %.*s; log: %.*s", state.phase, STR_ARG(state.message),
                                  STR_ARG(buf_str(&s->log)));
                thread_sleep(deadline_after_ms(2), NULL);
        }
}

static inline bool side_has_logged(struct side *s, const char *line)
{
        bool found;

        mutex_lock(&s->mutex);
        found = str_find(buf_str(&s->log), str_from(line)) >= 0;
        mutex_unlock(&s->mutex);
        return found;
}

static inline int side_dial(struct side *s, const char *revision)
{
        _cleanup_err_ struct err err = { 0 };
        int fd;

        if (runtime_dial(s->runtime, str_from(revision), &fd, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
        fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
        return fd;
}

/* The probe's answer, without its end; "" if the connection ends. In the arena. */
static inline struct str side_ask_on(struct side *s, int fd, const char *command)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        char byte;

        buf_appendf(&b, "%s\n", command);
        ASSERT(send(fd, b.p, b.n, MSG_NOSIGNAL) == (ssize_t)b.n);
        buf_clear(&b);
        for (;;) {
                struct pollfd p = { fd, POLLIN, 0 };

                ASSERT(poll(&p, 1, PATIENCE_MS) == 1);
                if (read(fd, &byte, 1) != 1 || byte == '\n')
                        return buf_to_arena(&b, &s->arena);
                buf_append_char(&b, byte);
        }
}

static inline struct str side_ask(struct side *s, const char *revision, const char *command)
{
        int fd = side_dial(s, revision);
        struct str answer = side_ask_on(s, fd, command);

        close(fd);
        return answer;
}
