/* Texts that registries and users write: references, challenges, URLs, manifests, configurations, credentials. */
#include "test.h"

#include "arena.h"
#include "buf.h"
#include "oci-challenge.h"
#include "oci-credentials.h"
#include "oci-digest.h"
#include "oci-manifest.h"
#include "oci-reference.h"
#include "oci-url.h"

#include <fcntl.h>
#include <sys/stat.h>

#define HEX    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define DIGEST "sha256:" HEX

TEST(references)
{
        static const struct {
                const char *text;
                unsigned flags;
                const char *registry, *repository, *tag, *digest, *source;
        } good[] = {
                { "nginx", 0, "index.docker.io", "library/nginx", "latest", "", "nginx" },
                { "acme/fn:v1", 0, "index.docker.io", "acme/fn", "v1", "", "acme/fn" },
                { "docker.io/nginx", 0, "index.docker.io", "library/nginx", "latest", "", "docker.io/nginx" },
                { "localhost/x1", 0, "localhost", "x1", "latest", "", "localhost/x1" },
                { "xpkg.crossplane.io/contrib/function-a:v0.2.0", 3, "xpkg.crossplane.io", "contrib/function-a",
                  "v0.2.0", "", "xpkg.crossplane.io/contrib/function-a" },
                { "127.0.0.1:5000/a/b", 1, "127.0.0.1:5000", "a/b", "latest", "", "127.0.0.1:5000/a/b" },
                { "[::1]:5000/a/b:t", 1, "[::1]:5000", "a/b", "t", "", "[::1]:5000/a/b" },
                { "r.io/a/b@" DIGEST, 3, "r.io", "a/b", "", DIGEST, "r.io/a/b" },
                { "r.io/a/b:v1@" DIGEST, 3, "r.io", "a/b", "v1", DIGEST, "r.io/a/b" },
        };
        static const struct {
                const char *text;
                unsigned flags;
                const char *error;
        } bad[] = {
                { "", 0, "empty" },
                { "Acme/fn", 0, "lower-case" },
                { "r.io/a//b", 0, "lower-case" },
                { "r.io/../b", 0, "lower-case" },
                { "r.io/a", 0, "2 to 255" },
                { "r.io/aa:", 0, "the tag has 0 characters" },
                { "r.io/aa:v 1", 0, "takes only letters" },
                { "r.io/aa@sha256:12", 0, "not a digest" },
                { "r.io/aa@sha512:" HEX HEX, 0, "not a digest" },
                { "r.io/aa@" DIGEST "@" DIGEST, 0, "not a digest" },
                { "user@r.io/aa", 0, "not a digest" },
                { "r.io:port/aa", 0, "not a registry" },
                { "r.io:/aa", 0, "not a registry" },
                { "r.io:99999/aa", 0, "not a registry" },
                { "-r.io/aa", 0, "not a registry" },
                { "acme/fn:v1", OCI_NEEDS_REGISTRY, "names no registry" },
                { "r.io/acme/fn", OCI_NEEDS_TAG, "has no tag" },
                { "r.io/aa\n", 0, "lower-case" },
        };
        _cleanup_arena_ struct arena a;

        arena_init(&a, "test", 0);
        for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
                _cleanup_err_ struct err err = { 0 };
                struct oci_reference r, again;

                if (oci_reference_parse(&a, str_from(good[i].text), good[i].flags, &r, &err) < 0)
                        test_fail(__FILE__, __LINE__, "[%s] %s", good[i].text, err_message(&err));
                ASSERT_STR_CASE(good[i].text, r.registry, str_from(good[i].registry));
                ASSERT_STR_CASE(good[i].text, r.repository, str_from(good[i].repository));
                ASSERT_STR_CASE(good[i].text, r.tag, str_from(good[i].tag));
                ASSERT_STR_CASE(good[i].text, r.digest, str_from(good[i].digest));
                ASSERT_STR_CASE(good[i].text, r.source, str_from(good[i].source));
                ASSERT_CASE(good[i].text, oci_reference_parse(&a, oci_reference_text(&a, &r), 0, &again, NULL) == 0 &&
                                                  str_equal(again.repository, r.repository));
        }
        for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
                _cleanup_err_ struct err err = { 0 };
                struct oci_reference r;

                ASSERT_CASE(bad[i].text,
                            oci_reference_parse(&a, str_from(bad[i].text), bad[i].flags, &r, &err) == ERR_INVALID);
                if (!strstr(err_message(&err), bad[i].error))
                        test_fail(__FILE__, __LINE__, "[%s] %s", bad[i].text, err_message(&err));
        }
        ASSERT(oci_registry_is_loopback(STR("localhost:5000")) && oci_registry_is_loopback(STR("127.1.2.3")));
        ASSERT(oci_registry_is_loopback(STR("[::1]:80")) && !oci_registry_is_loopback(STR("localhost.example.org")));
        ASSERT(!oci_registry_is_loopback(STR("128.0.0.1:5000")) && !oci_registry_is_loopback(STR("[::2]:80")));
}

static struct str show_challenges(struct arena *a, const char *field, struct err *err)
{
        const struct oci_challenge *c;
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        size_t n;

        if (oci_challenges_parse(a, str_from(field), &c, &n, err) < 0)
                return STR("error");
        for (size_t i = 0; i < n; i++) {
                buf_appendf(&b, "%s%.*s", i > 0 ? "; " : "", STR_ARG(c[i].scheme));
                for (size_t k = 0; k < c[i].n; k++)
                        buf_appendf(&b, " %.*s=<%.*s>", STR_ARG(c[i].parameters[k].name),
                                    STR_ARG(c[i].parameters[k].value));
        }
        return buf_to_arena(&b, a);
}

TEST(challenges)
{
        static const struct {
                const char *field, *wanted;
        } cases[] = {
                { "Bearer realm=\"https://a/t\",service=\"s\",scope=\"repository:x:pull\"",
                  "bearer realm=<https://a/t> service=<s> scope=<repository:x:pull>" },
                { "Basic realm=\"Registry \\\"1\\\"\"", "basic realm=<Registry \"1\">" },
                { "BASIC", "basic" },
                { "Negotiate, Basic realm=x , Bearer realm = \"y\"", "negotiate; basic realm=<x>; bearer realm=<y>" },
                { "Negotiate a87421000492aa874209af8bc028==, Basic realm=\"x\"", "negotiate; basic realm=<x>" },
                { ", ,Basic realm=a,,charset=\"UTF-8\"", "basic realm=<a> charset=<UTF-8>" },
                { "", "" },
                { "Bearer realm=\"open", "error" },
                { "=x", "error" },
                { "Basic realm=\"a\x01\"", "error" },
        };
        _cleanup_arena_ struct arena a;

        arena_init(&a, "test", 0);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
                ASSERT_STR_CASE(cases[i].field, show_challenges(&a, cases[i].field, NULL), str_from(cases[i].wanted));
}

TEST(tokens)
{
        _cleanup_arena_ struct arena a;
        const struct oci_challenge *c;
        struct str token;
        int64_t seconds;
        size_t n;

        arena_init(&a, "test", 0);
        ASSERT(oci_challenges_parse(&a, STR("Bearer realm=\"https://a/t?x=1\",service=\"s &\""), &c, &n, NULL) == 0);
        ASSERT_STR(oci_token_query(&a, c, oci_scope(&a, STR("acme/fn"), true)),
                   STR("&service=s%20%26&scope=repository:acme/fn:pull,push"));
        ASSERT_STR(oci_token_form(&a, c, STR("x"), STR("id+=")),
                   STR("client_id=weft&grant_type=refresh_token&refresh_token=id%2B%3D&scope=x&service=s%20%26"));
        ASSERT(oci_token_parse(&a, STR("{\"access_token\":\"t\",\"expires_in\":300}"), &token, &seconds, NULL) == 0);
        ASSERT(str_equal(token, STR("t")) && seconds == 300);
        ASSERT(oci_token_parse(&a, STR("{\"token\":\"u\",\"access_token\":\"t\"}"), &token, &seconds, NULL) == 0);
        ASSERT(str_equal(token, STR("u")) && seconds == 60);
        ASSERT(oci_token_parse(&a, STR("{}"), &token, &seconds, NULL) == ERR_INVALID);
        ASSERT(oci_token_parse(&a, STR("{\"token\":\"a\\r\\nHost: b\"}"), &token, &seconds, NULL) == ERR_INVALID);
}

TEST(urls)
{
        static const struct {
                const char *text, *origin, *path; /* origin NULL: an error */
        } cases[] = {
                { "https://A.b/c?d#e", "https://a.b", "/c?d" },
                { "https://a.b:443", "https://a.b", "/" },
                { "http://a:80/x", "http://a", "/x" },
                { "http://a:81/x", "http://a:81", "/x" },
                { "/y?z", "https://base:1", "/y?z" },
                { "y", "https://base:1", "/dir/y" },
                { "?q", "https://base:1", "/dir/file?q" },
                { "//other/x", "https://other", "/x" },
                { "https://u:p@a/", NULL, NULL },
                { "ftp://a/", NULL, NULL },
                { "https:///x", NULL, NULL },
                { "https://a b/", NULL, NULL },
                { "https://a/ b", NULL, NULL },
                { "https://a\\b/", NULL, NULL },
                { "file:///etc/passwd", NULL, NULL },
        };
        struct oci_url base, u;
        _cleanup_arena_ struct arena a;

        arena_init(&a, "test", 0);
        ASSERT(oci_url_parse(&a, STR("https://base:1/dir/file?a=/b"), NULL, &base, NULL) == 0);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                int r = oci_url_parse(&a, str_from(cases[i].text), &base, &u, NULL);

                ASSERT_CASE(cases[i].text, (r == 0) == (cases[i].origin != NULL));
                if (r < 0)
                        continue;
                ASSERT_STR_CASE(cases[i].text, u.origin, str_from(cases[i].origin));
                ASSERT_STR_CASE(cases[i].text, u.path, str_from(cases[i].path));
        }
}

#define D(rest) "{\"mediaType\":\"m\",\"digest\":\"" DIGEST "\",\"size\":1" rest "}"

TEST(hosts_that_are_here)
{
        static const struct {
                const char *host;
                bool is_here;
        } cases[] = {
                { "localhost", true },
                { "LocalHost:5000", true },
                { "localhost.", true },
                { "a.localhost", true },
                { "127.0.0.1", true },
                { "127.255.1.2:80", true },
                { "127.1", true },
                { "2130706433:443", true },
                { "0x7f.1", true },
                { "0177.0.0.1", true },
                { "0.0.0.0", true },
                { "0", true },
                { "[::1]:5000", true },
                { "[::]", true },
                { "[::ffff:127.0.0.1]", true },
                { "[::ffff:7f00:1]:443", true },
                { "[::127.0.0.1]", true },
                { "example.org", false },
                { "localhost.example.org", false },
                { "notlocalhost", false },
                { "128.0.0.1", false },
                { "192.0.2.1:5000", false },
                { "[2001:db8::1]", false },
                { "[::ffff:192.0.2.1]", false },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
                ASSERT_CASE(cases[i].host, oci_host_is_here(str_from(cases[i].host)) == cases[i].is_here);
}

TEST(manifests)
{
        static const struct {
                const char *text, *type, *error; /* NULL: it is good */
        } cases[] = {
                { "{\"schemaVersion\":2,\"config\":" D() ",\"layers\":[" D() "]}", "", NULL },
                { "{\"schemaVersion\":2,\"config\":" D() ",\"layers\":[" D() "]}", DOCKER_MEDIA_MANIFEST, NULL },
                { "{\"schemaVersion\":2,\"config\":" D() ",\"layers\":[]}", "text/plain; charset=utf-8", NULL },
                { "{\"schemaVersion\":2,\"mediaType\":\"" OCI_MEDIA_INDEX "\",\"manifests\":[" D() "]}",
                  OCI_MEDIA_INDEX "; charset=utf-8", NULL },
                { "{\"schemaVersion\":2,\"mediaType\":\"" OCI_MEDIA_INDEX "\",\"manifests\":[]}", OCI_MEDIA_MANIFEST,
                  "calls itself" },
                { "{\"schemaVersion\":2,\"manifests\":[],\"layers\":[],\"config\":" D() "}", "", "both" },
                { "{\"schemaVersion\":2,\"layers\":[],\"config\":" D() "}", OCI_MEDIA_INDEX, "has none" },
                { "{\"schemaVersion\":1,\"fsLayers\":[]}", "", "schema 1" },
                { "{\"schemaVersion\":2}", "", "config: it is not an object" },
                { "{\"schemaVersion\":2,\"mediaType\":\"x/y\",\"config\":" D() "}", "", "x/y" },
                { "{\"schemaVersion\":2,\"config\":" D() ",\"layers\":[{\"digest\":\"" DIGEST "\",\"size\":-1}]}", "",
                  "layers[0]: size" },
                { "{\"schemaVersion\":2,\"config\":" D() ",\"layers\":[{\"digest\":\"sha1:1\",\"size\":1}]}", "",
                  "layers[0]: \"sha1:1\"" },
                { "{\"schemaVersion\":2,\"config\":" D() ",\"layers\":{}}", "", "layers is not a list" },
                { "{\"schemaVersion\":2,\"config\":" D(",\"annotations\":{\"a\":1}") "}", "", "annotations" },
                { "{\"schemaVersion\":2,\"config\":{\"digest\":\"" DIGEST "\",\"size\":99999999999999}}", "", "limit" },
                { "[]", "", "not an object" },
                { "{", "", "unexpected end" },
        };
        _cleanup_buf_ struct buf many = BUF_INIT(0);
        _cleanup_err_ struct err limit = { 0 };
        struct oci_manifest m;
        _cleanup_arena_ struct arena a;

        arena_init(&a, "test", 0);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_err_ struct err err = { 0 };
                int r = oci_manifest_parse(&a, str_from(cases[i].text), str_from(cases[i].type), &m, &err);

                if ((r >= 0) != (cases[i].error == NULL) || (r < 0 && !strstr(err_message(&err), cases[i].error)))
                        test_fail(__FILE__, __LINE__, "[%s] %s", cases[i].text, err_message(&err));
        }
        buf_append_literal(&many, "{\"schemaVersion\":2,\"config\":" D() ",\"layers\":[");
        for (int i = 0; i < 20000; i++)
                buf_appendf(&many, "%s" D(), i > 0 ? "," : "");
        buf_append_literal(&many, "]}");
        ASSERT(oci_manifest_parse(&a, buf_str(&many), STR(""), &m, &limit) == ERR_LIMIT);
        ASSERT(strstr(err_message(&limit), "20000 layers; the limit is 1000"));
        for (int i = 20000; i < 100000; i++)
                buf_append_literal(&many, "," D());
        ASSERT(oci_manifest_parse(&a, buf_str(&many), STR(""), &m, NULL) == ERR_LIMIT);
}

TEST(platforms)
{
        static const char text[] = "{\"schemaVersion\":2,\"manifests\":[" D(
                ",\"platform\":{\"os\":\"windows\",\"architecture\":"
                "\"amd64\"}") "," D(",\"platform\":{\"os\":\"linux\","
                                    "\"architecture\":\"arm64\",\"variant\":"
                                    "\"v8\"}") "," D(",\"platform\":{\"os\":\"linux\",\"architecture\":"
                                                     "\"arm64\"}") "," D() "]}";
        static const struct {
                const char *os, *architecture, *variant;
                int wanted;
        } cases[] = {
                { "linux", "amd64", "", 3 },   { "linux", "arm64", "", 2 },   { "linux", "arm64", "v8", 1 },
                { "linux", "arm64", "v7", 2 }, { "windows", "amd64", "", 0 }, { "linux", "s390x", "", -1 },
        };
        _cleanup_err_ struct err err = { 0 };
        struct oci_manifest index;
        _cleanup_arena_ struct arena a;

        arena_init(&a, "test", 0);
        ASSERT(oci_manifest_parse(&a, str_from(text), STR(""), &index, NULL) == 0);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct oci_platform p = { str_from(cases[i].os), str_from(cases[i].architecture),
                                          str_from(cases[i].variant), STR("") };
                const struct oci_descriptor *d = NULL;
                int r = oci_index_choose(&index, &p, &d, &err);

                ASSERT_INT(r < 0 ? -1 : (int)(d - index.manifests), cases[i].wanted);
        }
        ASSERT_TEXT(err_message(&err), "the index has no image for linux/s390x; it has: windows/amd64, linux/arm64/v8, "
                                       "linux/arm64, linux/amd64");
}

TEST(configurations)
{
        static const char text[] =
                "{\"os\":\"linux\",\"architecture\":\"amd64\",\"config\":{\"Entrypoint\":[\"/f\"],\"Cmd\":null,"
                "\"Env\":[\"A=b\"],\"User\":\"2000\",\"Labels\":{\"a\":\"b\"}},\"rootfs\":{\"type\":"
                "\"layers\",\"diff_ids\":[\"" DIGEST "\"]}}";
        struct oci_config c;
        _cleanup_arena_ struct arena a;

        arena_init(&a, "test", 0);
        ASSERT(oci_config_parse(&a, str_from(text), &c, NULL) == 0);
        ASSERT(c.entrypoint.n == 1 && c.command.n == 0 && c.environment.n == 1 && c.diff_ids.n == 1);
        ASSERT_STR(c.user, STR("2000"));
        ASSERT_STR(oci_annotation(c.labels, "a"), STR("b"));
        ASSERT(oci_config_parse(&a, STR("{\"config\":{\"Cmd\":[1]}}"), &c, NULL) == ERR_INVALID);
        ASSERT(oci_config_parse(&a, STR("{\"config\":{\"Cmd\":[\"a\\u0000b\"]}}"), &c, NULL) == ERR_INVALID);
        ASSERT(oci_config_parse(&a, STR("{\"rootfs\":{\"diff_ids\":[\"x\"]}}"), &c, NULL) == ERR_INVALID);
        ASSERT(oci_config_parse(&a, STR("{\"config\":[]}"), &c, NULL) == ERR_INVALID);
}

static const char config_json[] = "{\"auths\":{"
                                  "\"https://index.docker.io/v1/\":{\"auth\":\"aHViOnB3\"},"
                                  "\"r.io\":{\"username\":\"u\",\"password\":\"p\"},"
                                  "\"r.io/team\":{\"auth\":\"dGVhbTp4OnkA\"},"
                                  "\"*.pull.io\":{\"auth\":\"c3RhcjpzdGFy\"},"
                                  "\"https://t.io/v2/\":{\"identitytoken\":\"id\"},"
                                  "\"empty.io\":{},"
                                  "\"bad.io\":{\"auth\":\"!secret!\"}}}";

TEST(credentials)
{
        static const struct {
                const char *registry, *repository, *user, *password, *identity; /* user NULL: none */
        } cases[] = {
                { "index.docker.io", "library/nginx", "hub", "pw", "" },
                { "r.io", "other/x", "u", "p", "" },
                { "r.io", "team/x", "team", "x:y", "" },
                { "r.io", "teams/x", "u", "p", "" },
                { "r.io:5000", "x", NULL, "", "" },
                { "a.pull.io", "x", "star", "star", "" },
                { "a.b.pull.io", "x", NULL, "", "" },
                { "t.io", "x", "", "", "id" },
                { "empty.io", "x", NULL, "", "" },
        };
        _cleanup_(oci_credentials_freep)
        struct oci_credentials *c = oci_credentials_new();
        _cleanup_err_ struct err err = { 0 };
        struct oci_login login;
        _cleanup_arena_ struct arena a;

        arena_init(&a, "test", 0);
        ASSERT(oci_credentials_add_config(c, "config.json", str_from(config_json), false, NULL) == 0);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                int r = oci_credentials_find(c, &a, str_from(cases[i].registry), str_from(cases[i].repository),
                                             DEADLINE_NONE, NULL, &login, NULL);

                ASSERT_CASE(cases[i].repository, r == (cases[i].user ? 1 : 0));
                if (r == 0)
                        continue;
                ASSERT_STR_CASE(cases[i].registry, login.username, str_from(cases[i].user));
                ASSERT_STR_CASE(cases[i].registry, login.password, str_from(cases[i].password));
                ASSERT_STR_CASE(cases[i].registry, login.identity_token, str_from(cases[i].identity));
        }
        ASSERT(oci_credentials_find(c, &a, STR("bad.io"), STR("x"), DEADLINE_NONE, NULL, &login, &err) == ERR_INVALID);
        ASSERT(strstr(err_message(&err), "bad.io") && !strstr(err_message(&err), "secret"));
        ASSERT(oci_credentials_add_config(c, "f", STR("{\"auths\": hunter2"), false, &err) == ERR_INVALID);
        ASSERT(!strstr(err_message(&err), "hunter2"));
}

static void write_script(const char *directory, const char *name, const char *text)
{
        char path[256];
        int fd;

        snprintf(path, sizeof(path), "%s/%s", directory, name);
        fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
        ASSERT(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
        close(fd);
}

TEST(helpers)
{
        static const char json[] =
                "{\"credHelpers\":{\"r.io\":\"good\",\"none.io\":\"none\",\"fails.io\":\"fails\","
                "\"hangs.io\":\"hangs\",\"endless.io\":\"endless\",\"path.io\":\"../x\",\"t.io\":\"token\","
                "\"absent.io\":\"absent\"},\"auths\":{\"none.io\":{\"username\":\"f\",\"password\":\"g\"}}}";
        char directory[] = "/tmp/test-oci-XXXXXX", path[4096];
        _cleanup_(oci_credentials_freep)
        struct oci_credentials *c = oci_credentials_new(), *without = oci_credentials_new();
        _cleanup_err_ struct err err = { 0 };
        struct oci_login login;
        _cleanup_arena_ struct arena a;

        arena_init(&a, "test", 0);
        ASSERT(mkdtemp(directory));
        write_script(directory, "docker-credential-good",
                     "#!/bin/sh\nread s\n[ \"$1 $s\" = 'get r.io' ] && echo '{\"Username\":\"u\",\"Secret\":\"s\"}'\n");
        write_script(directory, "docker-credential-token",
                     "#!/bin/sh\ncat >/dev/null\necho '{\"Username\":\"<token>\",\"Secret\":\"i\"}'\n");
        write_script(directory, "docker-credential-none",
                     "#!/bin/sh\necho credentials not found in native keychain\nexit 1\n");
        write_script(directory, "docker-credential-fails", "#!/bin/sh\necho no key ring\nexit 3\n");
        write_script(directory, "docker-credential-hangs", "#!/bin/sh\nexec sleep 1000\n");
        write_script(directory, "docker-credential-endless", "#!/bin/sh\nexec yes\n");
        snprintf(path, sizeof(path), "%s:%s", directory, getenv("PATH"));
        setenv("PATH", path, 1);

        ASSERT(oci_credentials_add_config(c, "config.json", str_from(json), true, NULL) == 0);
        ASSERT(oci_credentials_add_config(without, "secret", str_from(json), false, NULL) == 0);
        ASSERT_INT(oci_credentials_find(c, &a, STR("r.io"), STR("x"), DEADLINE_NONE, NULL, &login, &err), 1);
        ASSERT(str_equal(login.username, STR("u")) && str_equal(login.password, STR("s")));
        ASSERT_INT(oci_credentials_find(c, &a, STR("t.io"), STR("x"), DEADLINE_NONE, NULL, &login, &err), 1);
        ASSERT_STR(login.identity_token, STR("i"));
        ASSERT_INT(oci_credentials_find(c, &a, STR("none.io"), STR("x"), DEADLINE_NONE, NULL, &login, &err), 1);
        ASSERT_STR(login.username, STR("f"));
        ASSERT(oci_credentials_find(c, &a, STR("fails.io"), STR("x"), DEADLINE_NONE, NULL, &login, &err) == ERR_FAILED);
        ASSERT(strstr(err_message(&err), "docker-credential-fails failed with status 3: no key ring"));
        ASSERT_INT(oci_credentials_find(c, &a, STR("hangs.io"), STR("x"), deadline_after_ms(100), NULL, &login, &err),
                   ERR_TIMEOUT);
        ASSERT_INT(oci_credentials_find(c, &a, STR("endless.io"), STR("x"), DEADLINE_NONE, NULL, &login, &err),
                   ERR_LIMIT);
        ASSERT_INT(oci_credentials_find(c, &a, STR("path.io"), STR("x"), DEADLINE_NONE, NULL, &login, &err),
                   ERR_INVALID);
        ASSERT_INT(oci_credentials_find(c, &a, STR("absent.io"), STR("x"), DEADLINE_NONE, NULL, &login, &err),
                   ERR_SYSTEM);
        ASSERT(strstr(err_message(&err), "docker-credential-absent"));
        ASSERT_INT(oci_credentials_find(without, &a, STR("r.io"), STR("x"), DEADLINE_NONE, NULL, &login, &err), 0);
        snprintf(path, sizeof(path), "rm -r %s", directory);
        ASSERT(system(path) == 0);
}
