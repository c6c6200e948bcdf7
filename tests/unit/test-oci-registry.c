/* The registry client against a registry in this process, honest and hostile. */
#include "oci-toy.h"

#include "raw.h"

#include <fcntl.h>

struct scene {
        struct arena arena;
        struct toy toy, other;
        struct oci_credentials *credentials;
        struct oci_client *client;
        struct str blob; /* 5000 bytes */
        struct oci_descriptor descriptor;
};

static void scene_init(struct scene *s, struct oci_client_options options)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        _cleanup_err_ struct err err = { 0 };
        struct oci_login login = { .username = STR("user"), .password = STR("secret") };

        *s = (struct scene) { 0 };
        arena_init(&s->arena, "test", 0);
        toy_init(&s->toy);
        toy_init(&s->other);
        s->toy.other = s->other.host;
        for (int i = 0; b.n < 5000; i++)
                buf_appendf(&b, "%d,", i);
        s->blob = str_first(buf_to_arena(&b, &s->arena), 5000);
        s->descriptor = (struct oci_descriptor) { .digest = oci_digest_of(&s->arena, s->blob), .size_bytes = 5000 };
        toy_put(&s->toy, s->descriptor.digest, "", s->blob);
        toy_put(&s->other, s->descriptor.digest, "", s->blob);
        s->credentials = oci_credentials_new();
        oci_credentials_add_login(s->credentials, str_from(s->toy.host), &login);
        options.credentials = options.credentials ? options.credentials : s->credentials;
        options.retry_ms = 1;
        options.ignores_environment = true;
        options.stall_ms = options.stall_ms ? options.stall_ms : 20000;
        if (oci_client_new(&options, &s->client, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
}

static void scene_done(struct scene *s)
{
        oci_client_unref(s->client);
        oci_credentials_free(s->credentials);
        toy_done(&s->toy);
        toy_done(&s->other);
        arena_done(&s->arena);
}

static int new_file(void)
{
        int fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600); /* a call that ThreadSanitizer sees */

        ASSERT(fd >= 0);
        return fd;
}

static struct str file_text(struct arena *a, int fd)
{
        char *p = arena_alloc(a, 1 << 20);
        ssize_t n = pread(fd, p, 1 << 20, 0);

        ASSERT(n >= 0);
        return str_make(p, (size_t)n);
}

static void put_manifest(struct toy *t, struct arena *a, const char *repo, const char *tag, const char *json)
{
        struct str text = str_from(json);

        toy_put(t, arena_printf(a, "%s:%s", repo, tag), OCI_MEDIA_MANIFEST, text);
        toy_put(t, arena_printf(a, "%s@%.*s", repo, STR_ARG(oci_digest_of(a, text))), OCI_MEDIA_MANIFEST, text);
}

#define HEX64    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define MANIFEST "{\"schemaVersion\":2,\"config\":{\"digest\":\"sha256:" HEX64 "\",\"size\":1},\"layers\":[]}"

TEST(blobs)
{
        static const struct {
                const char *repo, *error; /* NULL: it comes */
                int code;
        } cases[] = {
                { "good/x", NULL, 0 },
                { "basic/x", NULL, 0 },
                { "bearer/x", NULL, 0 },
                { "pieces/x", NULL, 0 },
                { "stubborn/x", NULL, 0 },
                { "moved/x", NULL, 0 },
                { "busy/x", NULL, 0 },
                { "wrong/x", "its bytes have the digest", ERR_INVALID },
                { "endless/x", "more than the 5000 bytes", ERR_INVALID },
                { "round/x", "more than 10 redirects", ERR_LIMIT },
                { "away/x", "must be http or https", ERR_INVALID },
                { "elsewhere/x", "token server without TLS", ERR_FORBIDDEN },
        };
        struct scene s;

        scene_init(&s, (struct oci_client_options) { 0 });
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct oci_reference ref = toy_ref(&s.toy, &s.arena, cases[i].repo);
                _cleanup_err_ struct err err = { 0 };
                _cleanup_close_ int fd = new_file();
                int r = oci_pull_blob(s.client, &ref, &s.descriptor, fd, OCI_WAIT_NONE, &err);

                if (r != cases[i].code || (r < 0 && !strstr(err_message(&err), cases[i].error)))
                        test_fail(__FILE__, __LINE__, "[%s] %d %s", cases[i].repo, r, err_message(&err));
                if (r == 0)
                        ASSERT_STR_CASE(cases[i].repo, file_text(&s.arena, fd), s.blob);
                else
                        ASSERT_CASE(cases[i].repo,
                                    !strstr(err_message(&err), "secret") && strstr(err_message(&err), s.toy.host));
        }
        ASSERT_INT(atomic_load(&s.toy.n_tokens), 1);
        scene_done(&s);
}

struct taken {
        struct buf buf;
        size_t most;  /* bytes to read */
        bool refuses; /* what it read */
};

static int take(void *context, oci_read_fn *read, void *blob, struct err *err)
{
        struct taken *t = context;
        char block[700];
        int64_t n = 0;

        buf_clear(&t->buf);
        while (t->buf.n < t->most && (n = read(blob, block, MIN(sizeof(block), t->most - t->buf.n), err)) > 0)
                buf_append(&t->buf, block, (size_t)n);
        return n < 0 ? (int)n : t->refuses ? err_set(err, ERR_LIMIT, "it means nothing") : 0;
}

/* A blob as it comes: whoever reads it sees each byte once, and knows at the end whether they are the right ones. */
TEST(streams)
{
        static const struct {
                const char *repo;
                size_t most;
                bool refuses;
                const char *error; /* NULL: it comes */
        } cases[] = {
                { "good/x", SIZE_MAX, false, NULL },
                { "bearer/x", SIZE_MAX, false, NULL },
                { "pieces/x", SIZE_MAX, false, NULL },
                { "stubborn/x", SIZE_MAX, false, NULL },
                { "good/x", 10, false, NULL },
                { "good/x", 0, false, NULL },
                { "good/x", 10, true, "it means nothing" },
                { "wrong/x", SIZE_MAX, false, "its bytes have the digest" },
                { "wrong/x", 10, false, "its bytes have the digest" },
                { "wrong/x", 10, true, "its bytes have the digest" },
                { "endless/x", SIZE_MAX, false, "more than the 5000 bytes" },
                { "round/x", SIZE_MAX, false, "more than 10 redirects" },
        };
        struct scene s;

        scene_init(&s, (struct oci_client_options) { 0 });
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct oci_reference ref = toy_ref(&s.toy, &s.arena, cases[i].repo);
                struct taken t = { BUF_INIT(0), cases[i].most, cases[i].refuses };
                _cleanup_err_ struct err err = { 0 };
                int r = oci_pull_stream(s.client, &ref, &s.descriptor, take, &t, OCI_WAIT_NONE, &err);

                if ((r < 0) != (cases[i].error != NULL) || (r < 0 && !strstr(err_message(&err), cases[i].error)))
                        test_fail(__FILE__, __LINE__, "[%zu %s] %d %s", i, cases[i].repo, r, err_message(&err));
                if (r >= 0)
                        ASSERT_STR_CASE(cases[i].repo, buf_str(&t.buf),
                                        str_first(s.blob, MIN(cases[i].most, s.blob.n)));
                else
                        ASSERT_CASE(cases[i].repo, strstr(err_message(&err), s.toy.host));
                buf_done(&t.buf);
        }
        scene_done(&s);
}

/* Bytes of a blob that are there are not asked for again; if they are the wrong ones, everything is. */
TEST(blobs_continue)
{
        struct oci_reference ref;
        _cleanup_close_ int fd = new_file();
        struct scene s;

        scene_init(&s, (struct oci_client_options) { 0 });
        ref = toy_ref(&s.toy, &s.arena, "pieces/x");
        ASSERT(pwrite(fd, s.blob.p, 4500, 0) == 4500);
        ASSERT(oci_pull_blob(s.client, &ref, &s.descriptor, fd, OCI_WAIT_NONE, NULL) == 0);
        ASSERT_STR(file_text(&s.arena, fd), s.blob);
        ASSERT_INT(atomic_load(&s.toy.n_requests), 2); /* the first one finds out that it does not speak TLS */
        ASSERT(pwrite(fd, "wrong", 5, 0) == 5 && ftruncate(fd, 4900) == 0);
        ASSERT(oci_pull_blob(s.client, &ref, &s.descriptor, fd, OCI_WAIT_NONE, NULL) == 0);
        ASSERT_STR(file_text(&s.arena, fd), s.blob);
        ASSERT(pwrite(fd, "longer", 6, 5000) == 6);
        ASSERT(oci_pull_blob(s.client, &ref, &s.descriptor, fd, OCI_WAIT_NONE, NULL) == 0);
        ASSERT_STR(file_text(&s.arena, fd), s.blob);
        ref = toy_ref(&s.toy, &s.arena, "whole/x");
        ASSERT(ftruncate(fd, 4000) == 0);
        ASSERT(oci_pull_blob(s.client, &ref, &s.descriptor, fd, OCI_WAIT_NONE, NULL) == 0);
        ASSERT_STR(file_text(&s.arena, fd), s.blob);
        /* A whole file needs no registry. */
        http_server_close(s.toy.server);
        ASSERT(oci_pull_blob(s.client, &ref, &s.descriptor, fd, OCI_WAIT_NONE, NULL) == 0);
        scene_done(&s);
}

/* Credentials go nowhere but to the registry. */
TEST(credentials_stay)
{
        struct oci_reference ref;
        _cleanup_close_ int fd = new_file();
        struct scene s;

        scene_init(&s, (struct oci_client_options) { 0 });
        ref = toy_ref(&s.toy, &s.arena, "basic/x");
        ASSERT(oci_pull_blob(s.client, &ref, &s.descriptor, fd, OCI_WAIT_NONE, NULL) == 0);
        ASSERT(toy_has_logged(&s.toy, "Basic dXNlcjpzZWNyZXQ="));
        ASSERT(ftruncate(fd, 0) == 0);
        ref = toy_ref(&s.toy, &s.arena, "moved/x");
        ASSERT(oci_pull_blob(s.client, &ref, &s.descriptor, fd, OCI_WAIT_NONE, NULL) == 0);
        ASSERT(toy_has_logged(&s.other, "sig=1") && !toy_has_logged(&s.other, "Basic") &&
               !toy_has_logged(&s.other, "Bearer"));
        /* The challenge asked for a token for everything; ours is for the repository alone. */
        ASSERT(ftruncate(fd, 0) == 0);
        ref = toy_ref(&s.toy, &s.arena, "bearer/x");
        ASSERT(oci_pull_blob(s.client, &ref, &s.descriptor, fd, OCI_WAIT_NONE, NULL) == 0);
        ASSERT(toy_has_logged(&s.toy, "/token?service=toy&scope=repository:bearer/x:pull"));
        ASSERT(!toy_has_logged(&s.toy, "scope=repository:all"));
        scene_done(&s);
}

TEST(no_login)
{
        _cleanup_(oci_credentials_freep)
        struct oci_credentials *none = oci_credentials_new();
        static const char *const repos[] = { "basic/x", "bearer/x" };
        struct scene s;

        scene_init(&s, (struct oci_client_options) { .credentials = none });
        for (size_t i = 0; i < ARRAY_SIZE(repos); i++) {
                struct oci_reference ref = toy_ref(&s.toy, &s.arena, repos[i]);
                _cleanup_err_ struct err err = { 0 };
                _cleanup_close_ int fd = new_file();

                ASSERT_INT(oci_pull_blob(s.client, &ref, &s.descriptor, fd, OCI_WAIT_NONE, &err), ERR_FORBIDDEN);
                ASSERT_CASE(err_message(&err),
                            strstr(err_message(&err), i == 0 ? "none is configured" : "log in first"));
        }
        scene_done(&s);
}

TEST(slow_bodies)
{
        static const struct {
                const char *repo, *error;
        } cases[] = { { "hangs/x", "blob sha256" }, { "trickles/x", "less than 1024 bytes per second" } };
        struct scene s;

        scene_init(&s, (struct oci_client_options) { .stall_ms = 300, .slow_ms = 500 });
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct oci_reference ref = toy_ref(&s.toy, &s.arena, cases[i].repo);
                struct oci_wait wait = { deadline_after_ms(60000), NULL };
                _cleanup_err_ struct err err = { 0 };
                _cleanup_close_ int fd = new_file();

                ASSERT_CASE(cases[i].repo, oci_pull_blob(s.client, &ref, &s.descriptor, fd, wait, &err) < 0);
                ASSERT_CASE(err_message(&err), strstr(err_message(&err), cases[i].error));
                ASSERT_CASE(cases[i].repo, !deadline_has_passed(wait.deadline));
        }
        scene_done(&s);
}

TEST(manifests)
{
        struct oci_reference ref;
        struct oci_descriptor d;
        struct oci_fetched fetched;
        _cleanup_err_ struct err err = { 0 };
        struct scene s;

        scene_init(&s, (struct oci_client_options) { 0 });
        put_manifest(&s.toy, &s.arena, "good/x", "v1", MANIFEST);
        put_manifest(&s.toy, &s.arena, "wrong/x", "v1", MANIFEST);
        put_manifest(&s.toy, &s.arena, "silent/x", "v1", MANIFEST);
        ref = toy_ref(&s.toy, &s.arena, "good/x:v1");
        if (oci_pull_manifest(s.client, &s.arena, &ref, OCI_WAIT_NONE, &fetched, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
        ASSERT_STR(fetched.json, STR(MANIFEST));
        ASSERT_STR(fetched.digest, oci_digest_of(&s.arena, STR(MANIFEST)));
        for (int i = 0; i < 2; i++) {
                ref = toy_ref(&s.toy, &s.arena, i == 0 ? "good/x:v1" : "silent/x:v1");
                ASSERT(oci_resolve(s.client, &s.arena, &ref, OCI_WAIT_NONE, &d, &err) == 0);
                ASSERT_STR(d.digest, fetched.digest);
                ASSERT_INT(d.size_bytes, sizeof(MANIFEST) - 1);
        }
        ref = toy_ref(&s.toy, &s.arena, "wrong/x:v1");
        ASSERT_INT(oci_pull_manifest(s.client, &s.arena, &ref, OCI_WAIT_NONE, &fetched, &err), ERR_INVALID);
        ASSERT(strstr(err_message(&err), "sent something else"));
        ref = toy_ref(&s.toy, &s.arena, "good/x:v2");
        ASSERT_INT(oci_pull_manifest(s.client, &s.arena, &ref, OCI_WAIT_NONE, &fetched, &err), ERR_NOT_FOUND);
        ASSERT(strstr(err_message(&err), "MANIFEST_UNKNOWN: manifest unknown"));
        ref = toy_ref(&s.toy, &s.arena, "good/x@sha256:" HEX64);
        toy_put(&s.toy, STR("good/x@sha256:" HEX64), OCI_MEDIA_MANIFEST, STR(MANIFEST));
        ASSERT_INT(oci_pull_manifest(s.client, &s.arena, &ref, OCI_WAIT_NONE, &fetched, &err), ERR_INVALID);
        scene_done(&s);
}

/* Indexes within indexes end; sizes that an index states are checked. */
TEST(indexes)
{
        struct oci_platform platform = { STR("linux"), STR("amd64"), STR(""), STR("") };
        struct oci_reference ref;
        struct oci_fetched fetched;
        _cleanup_err_ struct err err = { 0 };
        struct str child = STR(MANIFEST), top;
        struct scene s;

        scene_init(&s, (struct oci_client_options) { 0 });
        put_manifest(&s.toy, &s.arena, "good/x", "level0", MANIFEST);
        for (int level = 1; level <= 5; level++) {
                struct str json = arena_printf(&s.arena,
                                               "{\"schemaVersion\":2,\"mediaType\":\"" OCI_MEDIA_INDEX
                                               "\",\"manifests\":[{\"digest\":\"%.*s\",\"size\":%zu}]}",
                                               STR_ARG(oci_digest_of(&s.arena, child)), child.n + (level == 5));

                toy_put(&s.toy, arena_printf(&s.arena, "good/x:level%d", level), OCI_MEDIA_INDEX, json);
                toy_put(&s.toy, arena_printf(&s.arena, "good/x@%.*s", STR_ARG(oci_digest_of(&s.arena, json))),
                        OCI_MEDIA_INDEX, json);
                child = json;
        }
        ref = toy_ref(&s.toy, &s.arena, "good/x:level3");
        if (oci_pull_platform(s.client, &s.arena, &ref, &platform, OCI_WAIT_NONE, &fetched, &top, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
        ASSERT_STR(fetched.json, STR(MANIFEST));
        ASSERT(!str_equal(top, fetched.digest));
        ref = toy_ref(&s.toy, &s.arena, "good/x:level4");
        ASSERT_INT(oci_pull_platform(s.client, &s.arena, &ref, &platform, OCI_WAIT_NONE, &fetched, &top, &err),
                   ERR_LIMIT);
        ref = toy_ref(&s.toy, &s.arena, "good/x:level5");
        ASSERT_INT(oci_pull_platform(s.client, &s.arena, &ref, &platform, OCI_WAIT_NONE, &fetched, &top, &err),
                   ERR_INVALID);
        ASSERT(strstr(err_message(&err), "but its index says"));
        scene_done(&s);
}

TEST(tags)
{
        static const struct {
                const char *repo, *error; /* NULL: three tags */
                int code;
        } cases[] = {
                { "good/x", NULL, 0 },
                { "long/x", "something that is not a tag", ERR_INVALID },
                { "pages/x", "more than 1000 pages", ERR_LIMIT },
        };
        struct oci_strings tags;
        struct scene s;

        scene_init(&s, (struct oci_client_options) { 0 });
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct oci_reference ref = toy_ref(&s.toy, &s.arena, cases[i].repo);
                _cleanup_err_ struct err err = { 0 };
                int r = oci_list_tags(s.client, &s.arena, &ref, OCI_WAIT_NONE, &tags, &err);

                if (r != cases[i].code || (r < 0 && !strstr(err_message(&err), cases[i].error)))
                        test_fail(__FILE__, __LINE__, "[%s] %d %s", cases[i].repo, r, err_message(&err));
                if (r >= 0)
                        ASSERT(tags.n == 3 && str_equal(tags.p[2], STR("c")));
                else
                        ASSERT_CASE(cases[i].repo, strstr(err_message(&err), cases[i].repo));
        }
        scene_done(&s);
}

TEST(pushes)
{
        static const char *const repos[] = { "good/new", "basic/new", "bearer/new" };
        _cleanup_close_ int fd = new_file();
        struct scene s;

        scene_init(&s, (struct oci_client_options) { 0 });
        ASSERT(write(fd, "from a file", 11) == 11);
        for (size_t i = 0; i < ARRAY_SIZE(repos); i++) {
                struct oci_reference ref = toy_ref(&s.toy, &s.arena, repos[i]);
                struct str bytes = arena_printf(&s.arena, "blob of %s", repos[i]), back;
                struct oci_descriptor blob = { .digest = oci_digest_of(&s.arena, bytes),
                                               .size_bytes = (int64_t)bytes.n };
                struct oci_descriptor file = { .digest = oci_digest_of(&s.arena, STR("from a file")),
                                               .size_bytes = 11 };
                _cleanup_err_ struct err err = { 0 };
                struct oci_fetched fetched;

                if (oci_push_blob(s.client, &ref, &blob, bytes, -1, OCI_WAIT_NONE, &err) < 0 ||
                    oci_push_blob(s.client, &ref, &file, STR(""), fd, OCI_WAIT_NONE, &err) < 0 ||
                    oci_push_manifest(s.client, &ref, STR(OCI_MEDIA_MANIFEST), STR(MANIFEST), OCI_WAIT_NONE, &err) <
                            0 ||
                    oci_pull_bytes(s.client, &s.arena, &ref, &blob, 1000, OCI_WAIT_NONE, &back, &err) < 0 ||
                    oci_pull_manifest(s.client, &s.arena, &ref, OCI_WAIT_NONE, &fetched, &err) < 0)
                        test_fail(__FILE__, __LINE__, "[%s] %s", repos[i], err_message(&err));
                ASSERT_STR(back, bytes);
                ASSERT_INT(oci_pull_bytes(s.client, &s.arena, &ref, &blob, 3, OCI_WAIT_NONE, &back, &err), ERR_LIMIT);
        }
        scene_done(&s);
}

TEST(mirrors)
{
        struct oci_mirror mirrors[2];
        struct oci_reference ref;
        struct toy first, second;
        struct oci_client *client;
        _cleanup_arena_ struct arena a;
        struct str bytes;
        struct oci_descriptor blob;

        arena_init(&a, "test", 0);
        toy_init(&first);
        toy_init(&second);
        blob = (struct oci_descriptor) { .digest = oci_digest_of(&a, STR("mirrored")), .size_bytes = 8 };
        toy_put(&second, blob.digest, "", STR("mirrored"));
        mirrors[0] = (struct oci_mirror) { STR("registry.example.org"), str_from(first.host) };
        mirrors[1] = (struct oci_mirror) { STR("registry.example.org"), str_from(second.host) };
        ASSERT(oci_client_new(&(struct oci_client_options) { .mirrors = mirrors, .n_mirrors = 2, .retry_ms = 1 },
                              &client, NULL) == 0);
        ASSERT(oci_reference_parse(&a, STR("registry.example.org/good/x"), 0, &ref, NULL) == 0);
        ASSERT(oci_pull_bytes(client, &a, &ref, &blob, 1000, OCI_WAIT_NONE, &bytes, NULL) == 0);
        ASSERT_STR(bytes, STR("mirrored"));
        ASSERT(toy_has_logged(&first, "/v2/good/x/blobs/") && toy_has_logged(&second, "/v2/good/x/blobs/"));
        oci_client_unref(client);
        toy_done(&first);
        toy_done(&second);
}

TEST(cancel)
{
        struct cancel *cancel = cancel_new(NULL);
        struct oci_reference ref;
        _cleanup_close_ int fd = new_file();
        struct scene s;

        scene_init(&s, (struct oci_client_options) { 0 });
        ref = toy_ref(&s.toy, &s.arena, "hangs/x");
        ASSERT_INT(oci_pull_blob(s.client, &ref, &s.descriptor, fd, (struct oci_wait) { deadline_after_ms(300), NULL },
                                 NULL),
                   ERR_TIMEOUT);
        cancel_trigger(cancel, "enough");
        ASSERT_INT(oci_pull_blob(s.client, &ref, &s.descriptor, fd, (struct oci_wait) { DEADLINE_NONE, cancel }, NULL),
                   ERR_CANCELED);
        cancel_unref(cancel);
        scene_done(&s);
}
