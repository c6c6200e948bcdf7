/* The image cache: pulls once, keeps what is used or held, fits its limit, survives other processes. */
#include "oci-toy.h"

#include "oci-cache.h"
#include "oci-layer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

static const struct oci_platform platform = { STR_INIT("linux"), STR_INIT("amd64"), STR_INIT(""), STR_INIT("") };

struct scene {
        struct arena arena;
        struct toy toy;
        struct oci_client *client;
        struct oci_cache *cache;
        char directory[64];
        size_t manifest_bytes; /* of the last image */
};

/* Puts an image with one file of so many bytes into the registry. */
static struct oci_reference put_image(struct scene *s, const char *name, size_t n_bytes, bool is_hostile)
{
        _cleanup_buf_ struct buf content = BUF_INIT(0), tar = BUF_INIT(0), layer = BUF_INIT(0);
        struct str config, manifest, digest;
        struct arena *a = &s->arena;

        buf_appendf(&content, "%s ", name);
        buf_append_repeat(&content, 'x', n_bytes);
        oci_tar_append_file(&tar, is_hostile ? STR("../escaped") : STR("file"), 0644, buf_str(&content));
        oci_tar_append_end(&tar);
        oci_gzip(&layer, buf_str(&tar));
        toy_put(&s->toy, oci_digest_of(a, buf_str(&layer)), "", buf_str(&layer));
        config = arena_printf(
                a,
                "{\"os\":\"linux\",\"architecture\":\"amd64\",\"config\":{\"Entrypoint\":[\"/%s\"]},\"rootfs\":{"
                "\"diff_ids\":[\"%.*s\"]}}",
                name, STR_ARG(oci_digest_of(a, buf_str(&tar))));
        toy_put(&s->toy, oci_digest_of(a, config), "", config);
        manifest = arena_printf(
                a,
                "{\"schemaVersion\":2,\"config\":{\"digest\":\"%.*s\",\"size\":%zu},\"layers\":[{\"digest\":"
                "\"%.*s\",\"size\":%zu}]}",
                STR_ARG(oci_digest_of(a, config)), config.n, STR_ARG(oci_digest_of(a, buf_str(&layer))), layer.n);
        digest = oci_digest_of(a, manifest);
        s->manifest_bytes = manifest.n;
        toy_put(&s->toy, arena_printf(a, "good/%s:v1", name), OCI_MEDIA_MANIFEST, manifest);
        toy_put(&s->toy, arena_printf(a, "good/%s@%.*s", name, STR_ARG(digest)), OCI_MEDIA_MANIFEST, manifest);
        return toy_ref(&s->toy, a, arena_printf(a, "good/%s:v1", name).p);
}

static void open_cache(struct scene *s, uint64_t max_bytes)
{
        struct oci_cache_options options = { .directory = s->directory, .max_bytes = max_bytes };
        _cleanup_err_ struct err err = { 0 };

        oci_cache_free(TAKE(s->cache));
        if (oci_cache_open(&options, &s->cache, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
}

static void scene_init(struct scene *s)
{
        *s = (struct scene) { 0 };
        arena_init(&s->arena, "test", 0);
        toy_init(&s->toy);
        snprintf(s->directory, sizeof(s->directory), "/tmp/test-oci-cache-XXXXXX");
        ASSERT(mkdtemp(s->directory));
        ASSERT(oci_client_new(&(struct oci_client_options) { .retry_ms = 1, .ignores_environment = true }, &s->client,
                              NULL) == 0);
        open_cache(s, 0);
}

static void scene_done(struct scene *s)
{
        char command[128];

        oci_cache_free(s->cache);
        oci_client_unref(s->client);
        toy_done(&s->toy);
        snprintf(command, sizeof(command), "rm -r %s", s->directory);
        ASSERT(system(command) == 0);
        arena_done(&s->arena);
}

static struct oci_image *must_get(struct scene *s, const struct oci_reference *ref)
{
        _cleanup_err_ struct err err = { 0 };
        struct oci_image *image;

        if (oci_cache_image(s->cache, s->client, ref, &platform, OCI_WAIT_NONE, &image, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
        return image;
}

TEST(images)
{
        struct oci_image *image, *again;
        struct oci_reference ref;
        struct str digest;
        struct stat st;
        struct scene s;
        int n;

        scene_init(&s);
        ref = put_image(&s, "one", 1000, false);
        image = must_get(&s, &ref);
        ASSERT_STR(oci_image_config(image)->entrypoint.p[0], STR("/one"));
        ASSERT(fstatat(oci_image_root(image), "file", &st, 0) == 0 && st.st_size == 1004);
        digest = arena_copy(&s.arena, oci_image_digest(image));
        n = atomic_load(&s.toy.n_requests);
        again = must_get(&s, &ref);
        ASSERT_INT(atomic_load(&s.toy.n_requests), n + 1); /* what the tag means is asked again, nothing else */
        ASSERT_TEXT(oci_image_path(again), oci_image_path(image));
        oci_image_unref(again);

        /* Without a registry: by digest, and what the tag meant last. */
        http_server_close(s.toy.server);
        ASSERT(oci_cache_image(s.cache, NULL, &ref, &platform, OCI_WAIT_NONE, &again, NULL) == 0);
        oci_image_unref(again);
        ref.digest = digest;
        again = must_get(&s, &ref);
        oci_image_unref(again);
        ref.digest = STR("");
        ref.tag = STR("v2");
        ASSERT_INT(oci_cache_image(s.cache, NULL, &ref, &platform, OCI_WAIT_NONE, &again, NULL), ERR_NOT_FOUND);
        oci_image_unref(image);
        scene_done(&s);
}

/* The digest of an index stays what it is, so an image that it gave once needs no registry. */
TEST(indexes)
{
        struct oci_image *image;
        struct oci_reference ref;
        struct str json, digest;
        struct scene s;

        scene_init(&s);
        ref = put_image(&s, "one", 1000, false);
        image = must_get(&s, &ref);
        json = arena_printf(&s.arena, "{\"schemaVersion\":2,\"manifests\":[{\"digest\":\"%.*s\",\"size\":%zu}]}",
                            STR_ARG(oci_image_digest(image)), s.manifest_bytes);
        oci_image_unref(image);
        digest = oci_digest_of(&s.arena, json);
        toy_put(&s.toy, arena_printf(&s.arena, "good/one@%.*s", STR_ARG(digest)), OCI_MEDIA_INDEX, json);
        ref.tag = STR("");
        ref.digest = digest;
        oci_image_unref(must_get(&s, &ref));
        http_server_close(s.toy.server);
        oci_image_unref(must_get(&s, &ref));
        scene_done(&s);
}

TEST(hostile_images_leave_nothing)
{
        struct oci_reference ref;
        struct oci_image *image = NULL;
        _cleanup_err_ struct err err = { 0 };
        char path[256];
        struct scene s;

        scene_init(&s);
        ref = put_image(&s, "bad", 10, true);
        ASSERT(oci_cache_image(s.cache, s.client, &ref, &platform, OCI_WAIT_NONE, &image, &err) == ERR_INVALID);
        ASSERT(strstr(err_message(&err), "layer 1") && strstr(err_message(&err), "../escaped"));
        snprintf(path, sizeof(path), "[ -z \"$(ls -d %s/new-* %s/images/* 2>/dev/null)\" ]", s.directory, s.directory);
        ASSERT(system(path) == 0);
        scene_done(&s);
}

/* Whether the image is there without a registry. */
static bool has(struct scene *s, const struct oci_reference *ref)
{
        struct oci_image *image = NULL;
        bool is_there = oci_cache_image(s->cache, NULL, ref, &platform, OCI_WAIT_NONE, &image, NULL) == 0;

        oci_image_unref(image);
        return is_there;
}

TEST(collection)
{
        struct oci_reference used, held, old, newer;
        struct oci_image *in_use, *image;
        struct str held_digest;
        uint64_t left;
        char path[256];
        struct scene s;

        scene_init(&s);
        used = put_image(&s, "used", 100000, false);
        held = put_image(&s, "held", 100000, false);
        old = put_image(&s, "old", 100000, false);
        newer = put_image(&s, "new", 100000, false);
        in_use = must_get(&s, &used);
        image = must_get(&s, &held);
        held_digest = arena_copy(&s.arena, oci_image_digest(image));
        ASSERT(oci_cache_hold(s.cache, held_digest, "revision-1", NULL) == 0);
        oci_image_unref(image);
        oci_image_unref(must_get(&s, &old));
        thread_sleep(deadline_after_ms(20), NULL); /* their times of use must differ */
        oci_image_unref(must_get(&s, &newer));
        ASSERT(oci_cache_collect(s.cache, &left, NULL) == 0 && left > 400000);
        snprintf(path, sizeof(path), "%s/new-1-x", s.directory);
        ASSERT(mkdir(path, 0700) == 0);

        open_cache(&s, 310000);
        ASSERT(oci_cache_collect(s.cache, &left, NULL) == 0 && left <= 310000);
        ASSERT(has(&s, &used) && has(&s, &held) && !has(&s, &old) && has(&s, &newer));
        ASSERT(access(path, F_OK) < 0);
        open_cache(&s, 1);
        ASSERT(oci_cache_collect(s.cache, &left, NULL) == 0);
        ASSERT(has(&s, &used) && has(&s, &held) && !has(&s, &newer));
        ASSERT(oci_cache_release(s.cache, held_digest, "revision-1", NULL) == 0);
        ASSERT(oci_cache_release(s.cache, held_digest, "revision-1", NULL) == 0);
        oci_image_unref(in_use);
        ASSERT(oci_cache_collect(s.cache, &left, NULL) == 0 && left == 0);
        ASSERT(!has(&s, &used) && !has(&s, &held));
        ASSERT(oci_cache_hold(s.cache, held_digest, "../x", NULL) == ERR_INVALID);
        ASSERT(oci_cache_hold(s.cache, held_digest, "gone", NULL) < 0);
        scene_done(&s);
}

struct puller {
        struct scene *scene;
        struct oci_reference ref;
        struct oci_cache *cache; /* its own, as another process has */
        struct thread *thread;
        struct err err; /* the first, if something went wrong */
};

static void run_puller(void *arg)
{
        struct puller *p = arg;

        for (int i = 0; i < 10 && p->err.code == 0; i++) {
                struct oci_image *image = NULL;
                struct stat st;

                if (oci_cache_image(p->cache, p->scene->client, &p->ref, &platform, OCI_WAIT_NONE, &image, &p->err) >=
                            0 &&
                    fstatat(oci_image_root(image), "file", &st, 0) < 0)
                        err_set_errno(&p->err, errno, "a file of the image is gone");
                oci_image_unref(image);
                oci_cache_collect(p->cache, NULL, NULL);
        }
}

/* Caches on the same directory do not see each other's memory, only the files: as processes do. */
TEST(many_at_once)
{
        struct puller pullers[6];
        struct scene s;

        scene_init(&s);
        for (int i = 0; i < 6; i++) {
                struct oci_cache_options options = { .directory = s.directory, .max_bytes = i % 2 ? 1 : 0 };

                pullers[i] = (struct puller) { .scene = &s, .ref = put_image(&s, i < 3 ? "a1" : "b1", 20000, false) };
                ASSERT(oci_cache_open(&options, &pullers[i].cache, NULL) == 0);
        }
        for (int i = 0; i < 6; i++)
                ASSERT(thread_start("puller", run_puller, &pullers[i], &pullers[i].thread, NULL) == 0);
        for (int i = 0; i < 6; i++) {
                thread_join(pullers[i].thread);
                oci_cache_free(pullers[i].cache);
        }
        for (int i = 0; i < 6; i++) {
                ASSERT_CASE(err_message(&pullers[i].err), pullers[i].err.code == 0);
                err_done(&pullers[i].err);
        }
        scene_done(&s);
}

TEST(another_version)
{
        struct oci_cache *cache = NULL;
        struct oci_cache_options options;
        _cleanup_err_ struct err err = { 0 };
        char path[256];
        struct scene s;
        int fd;

        scene_init(&s);
        options = (struct oci_cache_options) { .directory = s.directory };
        snprintf(path, sizeof(path), "%s/version", s.directory);
        fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
        ASSERT(fd >= 0 && write(fd, "weft images 9\n", 14) == 14);
        close(fd);
        ASSERT(oci_cache_open(&options, &cache, &err) == ERR_UNSUPPORTED);
        ASSERT(strstr(err_message(&err), "weft images 9"));
        scene_done(&s);
}
