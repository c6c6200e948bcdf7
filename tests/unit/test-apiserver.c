/* The API server over HTTP/1.1 and HTTP/2, as clients see it (docs/spec/apiserver 0.1 to 0.3, 2, 3, 8). */
#include "api-side.h"
#include "memory-log.h"

#include <zlib.h>

#define CMS     "/api/v1/namespaces/default/configmaps"
#define CRDS    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define LEASES  "/apis/coordination.k8s.io/v1/namespaces/default/leases"
#define SECRETS "/api/v1/namespaces/default/secrets"
#define EVENTS  "/api/v1/namespaces/default/events"
#define WS      "/apis/example.org/v1/namespaces/default/widgets"
#define MERGE   "content-type: application/merge-patch+json\r\n"
#define WIDGET  "{'apiVersion':'example.org/v1','kind':'Widget','metadata':{'name':'%s'},'spec':{'size':1}}"

static const char crd[] =
        "{'apiVersion':'apiextensions.k8s.io/v1','kind':'CustomResourceDefinition','metadata':{'name':"
        "'widgets.example.org'},'spec':{'group':'example.org','scope':'Namespaced','names':{'plural':'widgets',"
        "'kind':'Widget'},'versions':[{'name':'v1','served':true,'storage':true,'subresources':{'status':{},'scale':{"
        "'specReplicasPath':'.spec.replicas','statusReplicasPath':'.status.replicas'}},'schema':{'openAPIV3Schema':{"
        "'type':'object','properties':{'spec':{'type':'object','properties':{'size':{'type':'integer'},'replicas':{"
        "'type':'integer'}}},'status':{'type':'object','properties':{'phase':{'type':'string'}}}}}}}]}}";

static void add_widgets(struct client *c, struct arena *a)
{
        ASSERT_REPLY(ask(c, a, "POST", CRDS, JSON_TYPE, crd), 201, "widgets.example.org");
}

static struct str version_of(struct arena *a, struct reply r)
{
        const struct value *v;

        ASSERT_INT(json_parse(a, r.body, NULL, &v, NULL), 0);
        return meta_resource_version(v);
}

/* --- Objects --- */

TEST(objects)
{
        _cleanup_api_ struct api api;
        _cleanup_client_ struct client c;
        struct arena *a = &api.fixture.arena;
        struct reply r;

        api_init(&api);
        client_init(&c, &api);
        r = ask(&c, a, "POST", CMS, JSON_TYPE, "{'metadata':{'name':'a'},'data':{'x':'1'}}");
        ASSERT_REPLY(r, 201, "\"name\":\"a\"");
        ASSERT(head_value(r.head, "audit-id").n == 36);
        ASSERT_STR(head_value(r.head, "cache-control"), STR("no-cache, private"));
        ASSERT_REPLY(ask(&c, a, "POST", CMS, JSON_TYPE, "{'metadata':{'name':'a'}}"), 409, "already exists");
        ASSERT_REPLY(ask(&c, a, "GET", CMS "/a", "", NULL), 200, "\"x\":\"1\"");
        ASSERT_REPLY(ask(&c, a, "GET", CMS "/a", "accept: application/yaml\r\n", NULL), 200, "\n  x: \"1\"\n");
        ASSERT_REPLY(ask(&c, a, "GET", CMS "/nope", "", NULL), 404, "configmaps \\\"nope\\\" not found");
        ASSERT_REPLY(ask(&c, a, "PATCH", CMS "/a", MERGE, "{'data':{'y':'2'}}"), 200, "\"y\":\"2\"");
        ASSERT_REPLY(ask(&c, a, "PATCH", CMS "/a", "content-type: application/json-patch+json\r\n",
                         "[{'op':'remove','path':'/data/x'}]"),
                     200, "\"data\":{\"y\":\"2\"}");
        ASSERT_REPLY(ask(&c, a, "PATCH", CMS "/b?fieldManager=m", "content-type: application/apply-patch+yaml\r\n",
                         "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\ndata: {k: v}\n"),
                     201, "\"operation\":\"Apply\"");
        ASSERT_REPLY(ask(&c, a, "PUT", CMS "/a", JSON_TYPE,
                         "{'metadata':{'name':'a','resourceVersion':'1'},'data':{'z':'3'}}"),
                     409, "the object has been modified");
        ASSERT_REPLY(ask(&c, a, "PUT", CMS "/a", JSON_TYPE, "{'metadata':{'name':'a'},'data':{'z':'3'}}"), 200,
                     "\"data\":{\"z\":\"3\"}");
        r = ask(&c, a, "HEAD", CMS "/a", "", NULL);
        ASSERT(r.status == 200 && atoi(head_value(r.head, "content-length").p) > 100);
        ASSERT_REPLY(ask(&c, a, "DELETE", CMS "/a", JSON_TYPE, "{'propagationPolicy':'Background'}"), 200,
                     "\"status\":\"Success\"");
        ASSERT_REPLY(ask(&c, a, "DELETE", CMS, "", NULL), 200, "\"kind\":\"ConfigMapList\"");
        ASSERT_REPLY(ask(&c, a, "GET", CMS, "", NULL), 200, "\"items\":[]");
}

TEST(custom_objects)
{
        _cleanup_api_ struct api api;
        _cleanup_client_ struct client c;
        struct arena *a = &api.fixture.arena;
        struct reply r;

        api_init(&api);
        client_init(&c, &api);
        add_widgets(&c, a);
        r = ask(&c, a, "POST", WS, JSON_TYPE,
                "{'apiVersion':'example.org/v1','kind':'Widget','metadata':{'name':'w'},'spec':{'size':1,'bogus':2,"
                "'size':3}}");
        ASSERT_REPLY(r, 201, "\"size\":3");
        ASSERT_STR(head_value(r.head, "warning"), STR("299 - \"duplicate field \\\"spec.size\\\"\""));
        ASSERT(str_find(r.head, STR("299 - \"unknown field \\\"spec.bogus\\\"\"")) >= 0);
        ASSERT_REPLY(ask(&c, a, "POST", WS "?fieldValidation=Strict", JSON_TYPE,
                         "{'apiVersion':'example.org/v1','kind':'Widget','metadata':{'name':'v'},'spec':{'bogus':2}}"),
                     400, "strict decoding error: unknown field \\\"spec.bogus\\\"");
        ASSERT_REPLY(ask(&c, a, "POST", WS "?dryRun=All", JSON_TYPE,
                         "{'apiVersion':'example.org/v1','kind':'Widget','metadata':{'generateName':'v-'}}"),
                     201, "\"name\":\"v-");
        ASSERT_REPLY(ask(&c, a, "PATCH", WS "/w/status", MERGE, "{'status':{'phase':'Up'},'spec':{'size':9}}"), 200,
                     "\"phase\":\"Up\"");
        ASSERT_REPLY(ask(&c, a, "PATCH", WS "/w/scale", MERGE, "{'spec':{'replicas':4}}"), 200, "\"kind\":\"Scale\"");
        ASSERT_REPLY(ask(&c, a, "GET", WS "/w", "", NULL), 200, "\"replicas\":4");
        ASSERT_REPLY(ask(&c, a, "DELETE", WS "/w/status", "", NULL), 405,
                     "delete is not supported on resources of kind \\\"widgets.example.org\\\"");
        ASSERT_REPLY(ask(&c, a, "GET", WS "/w/bogus", "", NULL), 404, "widgets.example.org \\\"w\\\" not found");
        ASSERT_REPLY(ask(&c, a, "PUT", WS, JSON_TYPE, "{}"), 400, "name must be provided");
        ASSERT_REPLY(ask(&c, a, "PATCH", WS "/w", "content-type: application/strategic-merge-patch+json\r\n", "{}"),
                     415, "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml");
        ASSERT_REPLY(ask(&c, a, "DELETE", WS "/w", "", NULL), 200, "\"group\":\"example.org\"");
}

/* --- What is refused --- */

/* The wanted answers are those of kube-apiserver 1.36 where a PUT may create. */
TEST(puts_that_create)
{
        _cleanup_api_ struct api api;
        _cleanup_client_ struct client c;
        struct arena *a = &api.fixture.arena;

        api_init(&api);
        client_init(&c, &api);
        ASSERT_REPLY(
                ask(&c, a, "PUT", LEASES "/a", JSON_TYPE,
                    "{'metadata':{'name':'a','uid':'11111111-2222-3333-4444-555555555555','resourceVersion':'5'}}"),
                409,
                "Operation cannot be fulfilled on leases.coordination.k8s.io \\\"a\\\": StorageError: invalid object, "
                "Code: 4, Key: /registry/leases/default/a, ResourceVersion: 0, AdditionalErrorMsg: Precondition "
                "failed: UID in precondition: 11111111-2222-3333-4444-555555555555, UID in object meta: \"");
        ASSERT_REPLY(ask(&c, a, "GET", LEASES "/a", "", NULL), 404, "");
        ASSERT_REPLY(ask(&c, a, "PUT", LEASES "/a", JSON_TYPE, "{'metadata':{'name':'a','resourceVersion':'5'}}"), 201,
                     "\"name\":\"a\"");
        ASSERT_REPLY(ask(&c, a, "POST", LEASES, JSON_TYPE, "{'metadata':{'name':'b','resourceVersion':'5'}}"), 500,
                     "resourceVersion should not be set on objects to be created");
}

/* Configurations with values that the Go types cannot hold. */
TEST(applies_of_wrong_values)
{
        static const struct {
                const char *path, *body, *error;
        } cases[] = {
                { SECRETS "/a", "{'apiVersion':'v1','kind':'Secret','metadata':{'name':'a'},'data':{'a':'***'}}",
                  "failed to convert new object (/a; /v1, Kind=Secret) to proper version: unable to convert "
                  "unstructured object to /v1, Kind=Secret: error decoding from json: illegal base64 data at input "
                  "byte 0" },
                { EVENTS "/a",
                  "{'apiVersion':'v1','kind':'Event','metadata':{'name':'a','namespace':'default'},'firstTimestamp':'a'"
                  "}",
                  "failed to convert new object (default/a; /v1, Kind=Event) to proper version: unable to convert "
                  "unstructured object to /v1, Kind=Event: parsing time \\\"a\\\" as" },
                { EVENTS "/a", "{'apiVersion':'v1','kind':'Event','metadata':{'name':'a'},'firstTimestamp':1}",
                  "failed to convert new object (/a; /v1, Kind=Event) to proper version: unable to convert "
                  "unstructured object to /v1, Kind=Event: json: cannot unmarshal number into Go value of type "
                  "string" },
                { CMS "/a", "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'a','creationTimestamp':'b'}}",
                  "failed to convert new object (/a; /v1, Kind=ConfigMap) to proper version: unable to convert "
                  "unstructured object to /v1, Kind=ConfigMap: parsing time \\\"b\\\" as" },
        };
        _cleanup_api_ struct api api;
        _cleanup_client_ struct client c;
        struct arena *a = &api.fixture.arena;

        api_init(&api);
        client_init(&c, &api);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
                ASSERT_REPLY(ask(&c, a, "PATCH", arena_printf(a, "%s?fieldManager=m", cases[i].path).p,
                                 "content-type: application/apply-patch+yaml\r\n", cases[i].body),
                             500, cases[i].error);
}

/* Events have no dependents, so that every policy of a delete removes them at once. */
TEST(deletes_of_events)
{
        static const char *const policies[] = { "Orphan", "Foreground", "Background" };
        _cleanup_api_ struct api api;
        _cleanup_client_ struct client c;
        struct arena *a = &api.fixture.arena;

        api_init(&api);
        client_init(&c, &api);
        for (size_t i = 0; i < ARRAY_SIZE(policies); i++) {
                ASSERT_REPLY(ask(&c, a, "POST", EVENTS, JSON_TYPE,
                                 "{'metadata':{'name':'e'},'involvedObject':{'namespace':'default'},'reason':'x'}"),
                             201, "");
                ASSERT_REPLY(ask(&c, a, "DELETE", arena_printf(a, EVENTS "/e?propagationPolicy=%s", policies[i]).p, "",
                                 NULL),
                             200, "\"status\":\"Success\"");
        }
}

TEST(refusals)
{
        static const struct {
                const char *method, *target, *fields, *body;
                int status;
                const char *text;
        } cases[] = {
                { "GET", "/nope", "", NULL, 404, "404 page not found\n" },
                { "GET", "/api/v1/nopes", "", NULL, 404, "the server could not find the requested resource" },
                { "GET", "/apis/no.org/v1/nopes", "", NULL, 404, "404 page not found\n" },
                { "GET", "/api/v1/configmaps/a", "", NULL, 404, "could not find" },
                { "GET", "/api/v1/namespaces/x/namespaces", "", NULL, 404, "could not find" },
                { "GET", "/api/v1/%2e%2e/secrets", "", NULL, 404, "could not find the requested resource" },
                { "GET", "/apis/a.org/v1/%2e%2e/x", "", NULL, 404, "404 page not found\n" },
                { "GET", "/api/v1/%zz", "", NULL, 400, "not a path" },
                { "POST", "/api/v1/configmaps", JSON_TYPE, "{}", 405, "does not allow this method" },
                { "DELETE", "/api/v1/configmaps", "", NULL, 405, "does not allow this method" },
                { "DELETE", "/apis/example.org/v1/widgets", "", NULL, 404, "404 page not found" },
                { "POST", "/healthz", "", "", 200, "ok" },
                { "POST", CMS, "content-type: text/plain\r\n", "{}", 415, "application/vnd.kubernetes.protobuf" },
                { "PATCH", CMS "/a", JSON_TYPE, "{}", 415, "415: Unsupported Media Type" },
                { "POST", CMS, JSON_TYPE "content-encoding: br\r\n", "{}", 415, "content encoding" },
                { "POST", CMS, JSON_TYPE "content-encoding: gzip\r\n", "{}", 400, "gzip" },
                { "GET", CMS, "accept: text/html\r\n", NULL, 406, "406: Not Acceptable" },
                { "GET", "/version", "accept: application/*\r\n", NULL, 406,
                  "406: Not Acceptable\\n\\nAvailable representations: application/json\"" },
                { "GET", "/version", "accept: application/yaml, application/json;q=0.5\r\n", NULL, 200,
                  "\"minCompatibilityMinor\":" },
                { "GET", CMS "?watch=1", "accept: application/yaml\r\n", NULL, 406, "stream=watch" },
                { "POST", CMS, JSON_TYPE, "{", 400,
                  "must be of type ConfigMap): couldn't get version/kind; json parse error: unexpected end of JSON "
                  "input ({)" },
                { "POST", CMS, JSON_TYPE, "[1]", 400, "json: cannot unmarshal array into Go value of type struct {" },
                { "POST", CMS, JSON_TYPE, "null", 422, "metadata.name: Required value" },
                { "POST", CMS, "content-type: application/yaml\r\n", "a: [", 400, "yaml: line 1: did not find" },
                { "DELETE", CMS "/a", JSON_TYPE, "{'gracePeriodSeconds':'x'}", 400,
                  "json: cannot unmarshal string into Go struct field DeleteOptions.gracePeriodSeconds of type int64" },
                { "DELETE", CMS "/a", JSON_TYPE, "{'dryRun':'All'}", 400, "DeleteOptions.dryRun of type []string" },
                { "GET", CMS "/a/status", "", NULL, 404, "the server could not find the requested resource" },
                { "PATCH", CMS "/a", MERGE, "{", 400, "error decoding patch: unexpected end of JSON input" },
                { "GET", CMS "?limit=x", "", NULL, 400, "strconv.ParseInt" },
                { "GET", CMS "?timeout=abc", "", NULL, 400, "invalid timeout specified in the request URL" },
                { "GET", CMS "?resourceVersion=abc", "", NULL, 400, "invalid resource version" },
                { "GET", CMS "?watch=1&resourceVersion=abc", "", NULL, 500, "strconv.ParseUint" },
                { "GET", CMS "?continue=abc", "", NULL, 400, "continue key is not valid" },
                { "DELETE", CMS "/a", JSON_TYPE, "{'kind':'Pod','apiVersion':'v1'}", 400, "no kind" },
                { "DELETE", CMS "/a?propagationPolicy=X", "", NULL, 422, "propagationPolicy" },
                { "GET", "/api/v1/namespaces/default/pods/x/log", "", NULL, 501, "runs no pods" },
                { "POST", "/api/v1/namespaces/default/pods/x/exec", "", "", 501, "runs no pods" },
                { "GET", CMS, "origin: https://evil.example\r\n", NULL, 403, "web pages" },
        };
        _cleanup_api_ struct api api;
        struct arena *a = &api.fixture.arena;

        api_init(&api);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_client_ struct client c;

                client_init(&c, &api);
                ASSERT_REPLY(ask(&c, a, cases[i].method, cases[i].target, cases[i].fields, cases[i].body),
                             cases[i].status, cases[i].text);
        }
}

/* A page of a stranger whose name leads to this port is not the administrator. */
TEST(other_hosts)
{
        _cleanup_api_ struct api api;
        _cleanup_client_ struct client c;
        struct arena *a = &api.fixture.arena;

        api_init(&api);
        client_init(&c, &api);
        raw_say(c.fd, STR("GET /api/v1/secrets HTTP/1.1\r\nhost: evil.example:80\r\n\r\n"));
        ASSERT_REPLY(client_reply(&c, a, false), 403, "evil.example");
        raw_say(c.fd, STR("GET /api/v1/secrets HTTP/1.1\r\nhost: [::1]:80\r\n\r\n"));
        ASSERT_REPLY(client_reply(&c, a, false), 200, "SecretList");
}

TEST(large_bodies)
{
        _cleanup_api_ struct api api;
        struct arena *a = &api.fixture.arena;
        char *block;

        api_init(&api);
        block = arena_alloc(a, 64 << 10);
        memset(block, ' ', 64 << 10);
        {
                _cleanup_client_ struct client c;

                client_init(&c, &api);
                raw_say(c.fd, STR("POST " CMS " HTTP/1.1\r\nhost: localhost\r\ncontent-length: 3145729\r\n\r\n"));
                ASSERT_REPLY(client_reply(&c, a, false), 413, "Request entity too large: limit is 3145728");
        }
        {
                _cleanup_client_ struct client c;

                client_init(&c, &api);
                raw_say(c.fd, STR("POST " CMS " HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n"));
                for (int i = 0; i < 49; i++) {
                        raw_say(c.fd, STR("10000\r\n"));
                        raw_fill(c.fd, block, 64 << 10, 64 << 10, 1000);
                        send(c.fd, "\r\n", 2, MSG_NOSIGNAL);
                }
                ASSERT_REPLY(client_reply(&c, a, false), 413, "Request entity too large: limit is 3145728");
        }
}

/* --- Lists --- */

static void add_config_maps(struct api *api, int n, size_t size_bytes)
{
        char *text = xmalloc(size_bytes + 1);

        memset(text, 'x', size_bytes);
        text[size_bytes] = 0;
        for (int i = 0; i < n; i++) {
                struct arena a, *arena = api->fixture.run.arena;
                struct value data = value_of_str(str_make(text, size_bytes));
                const struct value *v;

                arena_init(&a, "test", 0);
                v = JSON(&api->fixture,
                         "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'c%06d','namespace':"
                         "'default'}}",
                         i);
                v = value_with(&a, v, STR("data"), value_with(&a, &value_empty_object, STR("x"), &data));
                api->fixture.run.arena = &a;
                MUST(&api->fixture, create(&api->fixture, v));
                api->fixture.run.arena = arena;
                arena_done(&a);
                arena_reset(&api->fixture.arena);
                str_list_init(&api->fixture.warnings, &api->fixture.arena);
        }
        free(text);
}

TEST(pages)
{
        _cleanup_api_ struct api api;
        _cleanup_client_ struct client c;
        struct arena *a = &api.fixture.arena;
        const struct value *v;
        struct str token = STR("");
        size_t n = 0;

        api_init(&api);
        add_config_maps(&api, 25, 10);
        client_init(&c, &api);
        do {
                struct str target = arena_printf(a, CMS "?limit=10&continue=%.*s", STR_ARG(token));
                struct reply r = ask(&c, a, "GET", target.p, "", NULL);

                ASSERT_REPLY(r, 200, "\"kind\":\"ConfigMapList\"");
                ASSERT_INT(json_parse(a, r.body, NULL, &v, NULL), 0);
                n += value_count(value_get(v, STR("items")));
                ASSERT_INT(value_int(value_find(v, "metadata", "remainingItemCount"), 0), 25 - (int64_t)n);
                token = value_str(value_find(v, "metadata", "continue"));
        } while (token.n);
        ASSERT_INT(n, 25);
        ASSERT_REPLY(ask(&c, a, "GET", CMS "?fieldSelector=metadata.name%3Dc000007", "", NULL), 200, "c000007");
        ASSERT_REPLY(ask(&c, a, "GET", CMS "?resourceVersion=99999&timeout=1s", "", NULL), 504,
                     "Too large resource version");
}

/* Sanitizers take memory of their own, and time. */
#if HAS_ASAN || defined(__SANITIZE_THREAD__)
#define HAS_SANITIZER 1
#else
#define HAS_SANITIZER 0
#endif

static size_t resident_bytes(void)
{
        size_t total = 0, resident = 0;
        FILE *f = fopen("/proc/self/statm", "re");

        ASSERT(f && fscanf(f, "%zu %zu", &total, &resident) == 2);
        fclose(f);
        return resident * (size_t)sysconf(_SC_PAGESIZE);
}

/* A list that is far larger than what the server may hold of it, to a reader that takes its time. */
TEST(long_list_in_little_memory)
{
        _cleanup_api_ struct api api;
        _cleanup_client_ struct client c;
        _cleanup_buf_ struct buf chunk = BUF_INIT(0);
        struct store_options options = { .history_bytes = 1 << 20 };
        struct arena *a = &api.fixture.arena;
        size_t before, most = 0, n = 0;
        int count = HAS_SANITIZER ? 5000 : 50000;

        api_init_with(&api, &options, NULL);
        add_config_maps(&api, count, 1000);
        client_init(&c, &api);
        before = resident_bytes();
        client_send(&c, "GET", CMS, "", STR_NONE);
        ASSERT_INT(client_head(&c, a).status, 200);
        while (client_chunk(&c, &chunk)) {
                n += chunk.n;
                buf_clear(&chunk);
                most = MAX(most, resident_bytes());
        }
        ASSERT(n > (size_t)count * 1200);
        if (!HAS_SANITIZER && most > before + (16u << 20))
                test_fail(__FILE__, __LINE__, "%zu KiB more than before, for a list of %zu KiB", (most - before) >> 10,
                          n >> 10);
}

/* --- Compression --- */

static struct str inflated(struct arena *a, struct str packed)
{
        size_t max = 8 << 20;
        char *out = arena_alloc(a, max);
        z_stream z = { .next_in = (Bytef *)packed.p,
                       .avail_in = (uInt)packed.n,
                       .next_out = (Bytef *)out,
                       .avail_out = (uInt)max };

        ASSERT(inflateInit2(&z, 31) == Z_OK && inflate(&z, Z_FINISH) == Z_STREAM_END);
        inflateEnd(&z);
        return str_make(out, max - z.avail_out);
}

static struct str deflated(struct arena *a, struct str text)
{
        char *out = arena_alloc(a, text.n + 1000);
        z_stream z = { .next_in = (Bytef *)text.p,
                       .avail_in = (uInt)text.n,
                       .next_out = (Bytef *)out,
                       .avail_out = (uInt)text.n + 1000 };

        ASSERT(deflateInit2(&z, 6, Z_DEFLATED, 31, 8, 0) == Z_OK && deflate(&z, Z_FINISH) == Z_STREAM_END);
        deflateEnd(&z);
        return str_make(out, text.n + 1000 - z.avail_out);
}

#define GZIP "accept-encoding: gzip\r\n"

TEST(compression)
{
        _cleanup_api_ struct api api;
        _cleanup_client_ struct client c;
        struct arena *a = &api.fixture.arena;
        struct str bomb;
        struct reply r;
        const struct value *v;

        api_init(&api);
        add_config_maps(&api, 700, 500);
        client_init(&c, &api);
        r = ask(&c, a, "GET", CMS "/c000000", GZIP, NULL);
        ASSERT(r.status == 200 && !head_value(r.head, "content-encoding").p);
        r = ask(&c, a, "GET", CMS, GZIP, NULL);
        ASSERT_STR(head_value(r.head, "content-encoding"), STR("gzip"));
        ASSERT_INT(json_parse(a, inflated(a, r.body), NULL, &v, NULL), 0);
        ASSERT_INT(value_count(value_get(v, STR("items"))), 700);

        client_send(&c, "POST", CMS, JSON_TYPE "content-encoding: gzip\r\n",
                    deflated(a, STR("{\"metadata\":{\"name\":\"packed\"}}")));
        ASSERT_REPLY(client_reply(&c, a, false), 201, "packed");
        bomb = deflated(a, str_make(arena_zalloc(a, 4 << 20), 4 << 20));
        client_send(&c, "POST", CMS, JSON_TYPE "content-encoding: gzip\r\n", bomb);
        ASSERT_REPLY(client_reply(&c, a, false), 413, "Request entity too large");
}

/* --- Watches --- */

TEST(watch_events)
{
        _cleanup_api_ struct api api;
        _cleanup_client_ struct client c, w;
        struct arena *a = &api.fixture.arena;
        struct watch_lines lines;
        struct reply r;

        api_init(&api);
        client_init(&c, &api);
        client_init(&w, &api);
        ask(&c, a, "POST", CMS, JSON_TYPE, "{'metadata':{'name':'a'}}");
        watch_open(&lines, &w, a,
                   CMS "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true");
        ASSERT_LINE(watch_line(&lines), "{\"type\":\"ADDED\",\"object\":{", "\"name\":\"a\"");
        ASSERT_LINE(watch_line(&lines), "\"type\":\"BOOKMARK\"", "\"k8s.io/initial-events-end\":\"true\"",
                    "\"kind\":\"ConfigMap\"");
        r = ask(&c, a, "POST", CMS, JSON_TYPE, "{'metadata':{'name':'b'}}");
        ASSERT_LINE(watch_line(&lines), "\"type\":\"ADDED\"", "\"name\":\"b\"");
        ask(&c, a, "PATCH", CMS "/b", MERGE, "{'data':{'x':'1'}}");
        ASSERT_LINE(watch_line(&lines), "\"type\":\"MODIFIED\"", "\"x\":\"1\"");
        ask(&c, a, "DELETE", CMS "/b", "", NULL);
        ASSERT_LINE(watch_line(&lines), "\"type\":\"DELETED\"", "\"name\":\"b\"");
        buf_done(&lines.text);

        /* Again from the version of the creation, with an end. */
        client_done(&w);
        client_init(&w, &api);
        watch_open(&lines, &w, a,
                   arena_printf(a, CMS "?watch=1&timeoutSeconds=1&resourceVersion=%.*s", STR_ARG(version_of(a, r))).p);
        ASSERT_LINE(watch_line(&lines), "\"type\":\"MODIFIED\"");
        ASSERT_LINE(watch_line(&lines), "\"type\":\"DELETED\"");
        ASSERT(!watch_line(&lines).p);
        buf_done(&lines.text);
        ASSERT_REPLY(ask(&w, a, "GET", "/healthz", "", NULL), 200, "ok"); /* the connection is still in order */
}

TEST(an_empty_list_that_is_said_is_owned)
{
#define ROLES "/apis/rbac.authorization.k8s.io/v1/clusterroles"
        _cleanup_api_ struct api api;
        _cleanup_client_ struct client c;
        struct arena *a = &api.fixture.arena;
        struct reply r;

        api_init(&api);
        client_init(&c, &api);
        r = ask(&c, a, "POST", ROLES, JSON_TYPE, "{'metadata':{'name':'a'},'rules':[]}");
        ASSERT_REPLY(r, 201, "\"fieldsV1\":{\"f:rules\":{}}");
        ASSERT_REPLY(r, 201, "\"rules\":null");
        ask(&c, a, "POST", ROLES, JSON_TYPE, "{'metadata':{'name':'b','labels':{'a':'b'}}}");
        r = ask(&c, a, "PATCH", ROLES "/b?fieldManager=m", MERGE, "{'rules':null}");
        ASSERT_REPLY(r, 200, "\"rules\":null");
        ASSERT(!reply_has(r, "f:rules"));
        r = ask(&c, a, "PATCH", ROLES "/b?fieldManager=m", MERGE, "{'rules':[]}");
        ASSERT_REPLY(r, 200, "\"f:rules\":{}");
        ASSERT_REPLY(r, 200, "\"rules\":null");
#undef ROLES
}

TEST(bookmarks_are_empty_objects)
{
        _cleanup_api_ struct api api;
        _cleanup_client_ struct client w;
        struct watch_lines lines;

        api_init(&api);
        client_init(&w, &api);
        watch_open(&lines, &w, &api.fixture.arena,
                   "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles?watch=1&sendInitialEvents=true&"
                   "resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=1");
        ASSERT_LINE(watch_line(&lines), "\"type\":\"BOOKMARK\"",
                    "\"k8s.io/initial-events-end\":\"true\"}},\"rules\":null}}");
        buf_done(&lines.text);
}

TEST(watch_too_old)
{
        _cleanup_api_ struct api api;
        _cleanup_client_ struct client c;
        struct store_options options = { .history_events = 10 };
        struct arena *a = &api.fixture.arena;
        struct watch_lines lines;

        api_init_with(&api, &options, NULL);
        add_config_maps(&api, 40, 10);
        client_init(&c, &api);
        watch_open(&lines, &c, a, CMS "?watch=1&resourceVersion=3");
        ASSERT_LINE(watch_line(&lines), "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\"",
                    "too old resource version: 3 (", "\"reason\":\"Expired\"", "\"code\":410");
        ASSERT(!watch_line(&lines).p);
        buf_done(&lines.text);
}

/* --- Other forms --- */

#define AS(form) "accept: application/json;as=" form ";g=meta.k8s.io;v=v1\r\n"

TEST(tables)
{
        _cleanup_api_ struct api api;
        _cleanup_client_ struct client c, w;
        struct arena *a = &api.fixture.arena;
        struct watch_lines lines;
        struct reply r;

        api_init(&api);
        client_init(&c, &api);
        client_init(&w, &api);
        ask(&c, a, "POST", CMS, JSON_TYPE, "{'metadata':{'name':'a'},'data':{'x':'1'}}");
        r = ask(&c, a, "GET", CMS, AS("Table"), NULL);
        ASSERT_REPLY(r, 200, "{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/v1\",\"columnDefinitions\":[{");
        ASSERT_REPLY(r, 200, "\"rows\":[{\"cells\":[\"a\",1,");
        ASSERT_REPLY(r, 200, "\"kind\":\"PartialObjectMetadata\"");
        ASSERT(!reply_has(r, "\"data\""));
        r = ask(&c, a, "GET", CMS "?includeObject=Object", AS("Table"), NULL);
        ASSERT_REPLY(r, 200, "\"data\":{\"x\":\"1\"}");
        r = ask(&c, a, "GET", CMS "/a?includeObject=None", AS("Table"), NULL);
        ASSERT_REPLY(r, 200, "\"object\":null");

        lines = (struct watch_lines) { .client = &w };
        client_send(&w, "GET",
                    CMS "?watch=1&allowWatchBookmarks=1&sendInitialEvents=1&resourceVersionMatch=NotOlderThan",
                    AS("Table"), STR_NONE);
        ASSERT_INT(client_head(&w, a).status, 200);
        ASSERT_LINE(watch_line(&lines), "{\"type\":\"ADDED\",\"object\":{\"kind\":\"Table\"",
                    "\"columnDefinitions\":[{", "\"rows\":[{\"cells\":[\"a\",1,");
        ASSERT_LINE(watch_line(&lines), "\"type\":\"BOOKMARK\"", "\"columnDefinitions\":null",
                    "\"cells\":[\"\",null,null]", "\"k8s.io/initial-events-end\":\"true\"");
        ask(&c, a, "DELETE", CMS "/a", "", NULL);
        ASSERT_LINE(watch_line(&lines), "\"type\":\"DELETED\"", "\"columnDefinitions\":null", "[\"a\",1,");
        buf_done(&lines.text);
}

TEST(metadata_only)
{
        _cleanup_api_ struct api api;
        _cleanup_client_ struct client c, w;
        struct arena *a = &api.fixture.arena;
        struct watch_lines lines;
        struct reply r;

        api_init(&api);
        client_init(&c, &api);
        client_init(&w, &api);
        r = ask(&c, a, "POST", CMS, JSON_TYPE AS("PartialObjectMetadata"),
                "{'metadata':{'name':'a'},'data':{'x':'1'}}");
        ASSERT_REPLY(r, 201, "\"kind\":\"PartialObjectMetadata\"");
        ASSERT(!reply_has(r, "\"data\""));
        ASSERT_REPLY(ask(&c, a, "GET", CMS, AS("PartialObjectMetadata"), NULL), 406,
                     "the requested object is a list (*core.ConfigMapList)");
        ASSERT_REPLY(ask(&c, a, "GET", CMS "/b", "accept: application/yaml\r\n", NULL), 404, "\nreason: NotFound\n");
        ASSERT_REPLY(ask(&c, a, "GET", CMS, AS("PartialObjectMetadataList"), NULL), 200,
                     "{\"kind\":\"PartialObjectMetadataList\",\"apiVersion\":\"meta.k8s.io/v1\",\"items\":[{");
        lines = (struct watch_lines) { .client = &w };
        client_send(&w, "GET", CMS "?watch=1", AS("PartialObjectMetadata"), STR_NONE);
        ASSERT_INT(client_head(&w, a).status, 200);
        ASSERT_LINE(watch_line(&lines), "\"type\":\"ADDED\"", "\"kind\":\"PartialObjectMetadata\"");
        buf_done(&lines.text);
}

/* A watch of a kind whose CRD goes away ends after the last object. */
TEST(watch_of_removed_kind)
{
        _cleanup_api_ struct api api;
        _cleanup_client_ struct client c, w;
        struct arena *a = &api.fixture.arena;
        struct watch_lines lines;

        api_init(&api);
        client_init(&c, &api);
        client_init(&w, &api);
        add_widgets(&c, a);
        ask(&c, a, "POST", WS, JSON_TYPE, arena_printf(a, WIDGET, "w").p);
        watch_open(&lines, &w, a, "/apis/example.org/v1/widgets?watch=1&resourceVersion=0");
        ASSERT_LINE(watch_line(&lines), "\"type\":\"ADDED\"");
        ASSERT_INT(ask(&c, a, "DELETE", CRDS "/widgets.example.org", "", NULL).status, 200);
        ASSERT_LINE(watch_line(&lines), "\"type\":\"DELETED\"", "\"name\":\"w\"");
        ASSERT(!watch_line(&lines).p);
        buf_done(&lines.text);
}

/* A reader that stops reading is told so when it reads again; until then it costs a bounded amount of memory. */
TEST(slow_watch_is_cut_off)
{
        _cleanup_api_ struct api api;
        _cleanup_client_ struct client w, c;
        struct store_options options = { .watch_bytes = 256 << 10 };
        struct arena *a = &api.fixture.arena;
        struct watch_lines lines;
        struct str line, last = STR("");
        size_t n = 0;

        api_init_with(&api, &options, NULL);
        client_init(&w, &api);
        client_init(&c, &api);
        watch_open(&lines, &w, a, CMS "?watch=1");
        add_config_maps(&api, 300, 100 << 10);
        while ((line = watch_line(&lines)).p) {
                last = arena_copy(a, str_first(line, 300));
                lines.at = lines.text.n ? lines.at : 0;
                n++;
        }
        ASSERT(n < 300);
        ASSERT_LINE(last, "\"type\":\"ERROR\"", "\"code\":410");
        ASSERT_REPLY(ask(&c, a, "GET", "/metrics", "", NULL), 200, "\nweft_apiserver_watches_cut_off_total 1\n");
        buf_done(&lines.text);
}

TEST(drain_ends_watches)
{
        _cleanup_api_ struct api api;
        _cleanup_client_ struct client w;
        struct arena *a = &api.fixture.arena;
        struct watch_lines lines;

        api_init(&api);
        client_init(&w, &api);
        watch_open(&lines, &w, a, "/api/v1/namespaces?watch=1");
        ASSERT_LINE(watch_line(&lines), "default");
        apiserver_drain(api.server, deadline_after_ms(10000));
        for (int i = 0; i < 3; i++)
                ASSERT_LINE(watch_line(&lines), "\"type\":\"ADDED\"");
        ASSERT(!watch_line(&lines).p);
        buf_done(&lines.text);
}

/* --- Limits --- */

TEST(user_limits)
{
        _cleanup_api_ struct api api;
        struct client c[3];
        struct apiserver_options options = { .max_user_watches = 2 };
        struct store_options store = { 0 };
        struct arena *a = &api.fixture.arena;
        struct watch_lines lines[2];
        struct reply r;

        api_init_with(&api, &store, &options);
        for (int i = 0; i < 3; i++)
                client_init(&c[i], &api);
        for (int i = 0; i < 2; i++)
                watch_open(&lines[i], &c[i], a, CMS "?watch=1");
        r = ask(&c[2], a, "GET", CMS "?watch=1", "", NULL);
        ASSERT_REPLY(r, 429, "\"reason\":\"TooManyRequests\"");
        ASSERT_STR(head_value(r.head, "retry-after"), STR("1"));
        ASSERT_REPLY(ask(&c[2], a, "GET", CMS, "", NULL), 200, "ConfigMapList");
        for (int i = 0; i < 2; i++)
                client_done(&c[i]);
        for (int i = 0; i < 2; i++)
                client_init(&c[i], &api);
        do
                r = ask(&c[2], a, "GET", CMS "?watch=1&timeoutSeconds=1", "", NULL);
        while (r.status == 429);
        ASSERT_INT(r.status, 200);
        for (int i = 0; i < 3; i++)
                client_done(&c[i]);
}

/* Requests that do not fit are told to come again; the server still says how it is. */
TEST(little_memory)
{
        _cleanup_api_ struct api api;
        struct apiserver_options options = { .max_memory_bytes = 1 << 20 };
        struct store_options store = { 0 };
        struct arena *a = &api.fixture.arena;
        struct str body;
        struct reply r;

        api_init_with(&api, &store, &options);
        body = str_make(arena_zalloc(a, 2 << 20), 2 << 20);
        for (int i = 0; i < 3; i++) {
                _cleanup_client_ struct client c;

                client_init(&c, &api);
                raw_say(c.fd, STR("POST " CMS " HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2097152\r\n\r\n"));
                raw_fill(c.fd, body.p, 64 << 10, body.n, 1000);
                r = client_reply(&c, a, false);
                ASSERT_REPLY(r, 429, "all requests together may use 1 MiB");
                ASSERT_STR(head_value(r.head, "retry-after"), STR("1"));
        }
        {
                _cleanup_client_ struct client c;

                client_init(&c, &api);
                ASSERT_REPLY(ask(&c, a, "GET", "/livez", "", NULL), 200, "ok");
                ASSERT_REPLY(ask(&c, a, "GET", CMS, "", NULL), 200, "ConfigMapList");
        }
}

/* Asks until the metrics hold a line that starts so: the server may not have read yet what was sent to it. */
static void await_metric(struct client *c, struct arena *a, const char *line)
{
        struct reply r;

        do
                r = ask(c, a, "GET", "/metrics", "", NULL);
        while (r.status == 200 && !reply_has(r, line));
        ASSERT_REPLY(r, 200, line);
}

/* Writes that wait for the log leave threads for everything else. */
TEST(reads_while_the_log_is_held)
{
        enum { N = 100 };
        _cleanup_api_ struct api api;
        _cleanup_client_ struct client reader;
        struct client writers[N];
        struct memory_log log;
        struct store_options options = { .log = &log.log };
        struct arena *a = &api.fixture.arena;

        memory_log_init(&log);
        api_init_with(&api, &options, NULL);
        memory_log_hold(&log);
        for (int i = 0; i < N; i++) {
                struct str body = arena_printf(a, "{\"metadata\":{\"name\":\"c%d\"}}", i);

                client_init(&writers[i], &api);
                client_send(&writers[i], "POST", CMS, JSON_TYPE, body);
        }
        client_init(&reader, &api);
        ASSERT_REPLY(ask(&reader, a, "GET", "/readyz", "", NULL), 200, "ok");
        ASSERT_REPLY(ask(&reader, a, "GET", CMS, "", NULL), 200, "\"items\":[]");
        await_metric(&reader, a, "weft_apiserver_open_requests 10");
        memory_log_release(&log);
        for (int i = 0; i < N; i++) {
                ASSERT_REPLY(client_reply(&writers[i], a, false), 201, "\"uid\"");
                client_done(&writers[i]);
        }
        apiserver_free(TAKE(api.server));
        fixture_done(&api.fixture);
        memory_log_done(&log);
        fixture_init(&api.fixture);
}

/* A server on a log that the test holds up. */
struct held_api {
        struct api api;
        struct memory_log log;
};

static void held_api_init(struct held_api *h)
{
        struct store_options options = { .log = &h->log.log };

        memory_log_init(&h->log);
        api_init_with(&h->api, &options, NULL);
        memory_log_hold(&h->log);
}

static void held_api_done(struct held_api *h)
{
        api_done(&h->api);
        memory_log_done(&h->log);
}

/* A body whose answer is compressed for clients that take that. */
static struct str large_body(struct arena *a)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        buf_append_literal(&b, "{\"metadata\":{\"name\":\"large\"},\"data\":{\"x\":\"");
        buf_append_repeat(&b, 'x', 200000);
        buf_append_literal(&b, "\"}}");
        return buf_to_arena(&b, a);
}

static void await_object(struct client *c, struct arena *a, const char *path)
{
        struct reply r;

        do
                r = ask(c, a, "GET", path, "", NULL);
        while (r.status == 404);
        ASSERT_REPLY(r, 200, "metadata");
}

/* A write that is late is answered, and goes on. */
TEST(late_writes)
{
        struct held_api h;
        struct client c, gone, large;
        struct reply r;
        struct arena a;

        arena_init(&a, "test", 0);
        held_api_init(&h);
        client_init(&gone, &h.api);
        client_init(&large, &h.api);
        client_init(&c, &h.api);
        client_send(&gone, "POST", CMS "?timeout=1s", JSON_TYPE, STR("{\"metadata\":{\"name\":\"gone\"}}"));
        client_send(&large, "POST", CMS "?timeout=1s", JSON_TYPE "accept-encoding: gzip\r\n", large_body(&a));
        r = ask(&c, &a, "POST", CMS "?timeout=1s", JSON_TYPE, "{'metadata':{'name':'late'}}");
        ASSERT_REPLY(r, 504, "the write may have happened, it was being logged: deadline exceeded");
        r = client_reply(&large, &a, false);
        ASSERT_REPLY(r, 504, "the write may have happened, it was being logged: deadline exceeded");
        ASSERT(!head_value(r.head, "content-encoding").p);
        client_done(&gone);
        client_done(&large);
        ASSERT_REPLY(ask(&c, &a, "GET", CMS "/late", "", NULL), 404, "");
        memory_log_release(&h.log);
        await_object(&c, &a, CMS "/late");
        await_object(&c, &a, CMS "/gone");
        await_object(&c, &a, CMS "/large");
        await_metric(&c, &a, "weft_apiserver_open_requests 1\n");
        client_done(&c);
        held_api_done(&h);
        arena_done(&a);
}

static void release_log(void *arg)
{
        memory_log_release(arg);
}

TEST(the_end_waits_for_late_writes)
{
        struct thread *thread;
        struct held_api h;
        struct client c;
        struct arena a;

        arena_init(&a, "test", 0);
        held_api_init(&h);
        client_init(&c, &h.api);
        ASSERT_REPLY(ask(&c, &a, "POST", CMS "?timeout=1s", JSON_TYPE, "{'metadata':{'name':'late'}}"), 504,
                     "may have");
        client_done(&c);
        ASSERT_INT(thread_start("release", release_log, &h.log, &thread, NULL), 0);
        api_done(&h.api);
        thread_join(thread);
        memory_log_done(&h.log);
        arena_done(&a);
}

TEST(writes_that_the_log_loses)
{
        enum { N = 20 };
        struct client writers[N];
        struct held_api h;
        struct arena a;

        arena_init(&a, "test", 0);
        held_api_init(&h);
        for (int i = 0; i < N; i++) {
                client_init(&writers[i], &h.api);
                client_send(&writers[i], "POST", CMS, JSON_TYPE,
                            arena_printf(&a, "{\"metadata\":{\"name\":\"c%d\"}}", i));
        }
        memory_log_await_arrival(&h.log);
        h.log.fails_at = h.log.n_appends + 1;
        memory_log_release(&h.log);
        for (int i = 0; i < N; i++) {
                struct reply r = client_reply(&writers[i], &a, false);

                ASSERT(r.status == 500 ? reply_has(r, "cannot log the write") : r.status == 503);
                client_done(&writers[i]);
        }
        held_api_done(&h);
        arena_done(&a);
}

/* --- HTTP/2 --- */

static void h2_get(struct raw_peer *p, uint32_t id, const char *path)
{
        raw_send_headers(p->fd, id, RAW_END_STREAM,
                         RAW_FIELDS(":method", "GET", ":scheme", "http", ":authority", "localhost", ":path", path));
}

/* Collects the data of a stream until it ends or has the text. */
static struct str h2_data(struct raw_peer *p, uint32_t id, struct buf *b, const char *until)
{
        struct raw_frame f;

        while (!until || str_find(buf_str(b), str_from(until)) < 0) {
                ASSERT(raw_next(p, &f));
                if (f.type == RAW_DATA && f.id == id)
                        buf_append_str(b, f.payload);
                if (f.id == id && (f.type == RAW_DATA || f.type == RAW_HEADERS) && (f.flags & RAW_END_STREAM))
                        break;
        }
        return buf_str(b);
}

/* A watch and other requests share a connection. */
TEST(http2)
{
        _cleanup_api_ struct api api;
        _cleanup_client_ struct client c;
        _cleanup_buf_ struct buf watched = BUF_INIT(0), listed = BUF_INIT(0);
        struct arena *a = &api.fixture.arena;
        struct raw_peer p;

        api_init(&api);
        client_init(&c, &api);
        raw_peer_init(&p, raw_dial(&api.address), false);
        raw_say(p.fd, RAW_PREFACE);
        raw_send_frame(p.fd, RAW_SETTINGS, 0, 0, STR(""));
        h2_get(&p, 1, CMS "?watch=1&timeoutSeconds=2");
        ASSERT_INT(ask(&c, a, "POST", CMS, JSON_TYPE, "{'metadata':{'name':'a'}}").status, 201);
        ASSERT_LINE(h2_data(&p, 1, &watched, "\n"), "{\"type\":\"ADDED\"", "\"name\":\"a\"");
        h2_get(&p, 3, CMS);
        ASSERT_LINE(h2_data(&p, 3, &listed, NULL), "ConfigMapList", "\"name\":\"a\"");
        buf_clear(&watched);
        ASSERT_INT(ask(&c, a, "DELETE", CMS "/a", "", NULL).status, 200);
        ASSERT_LINE(h2_data(&p, 1, &watched, NULL), "\"type\":\"DELETED\"");
        raw_peer_done(&p);
}

/* --- Everything at once --- */

struct crowd {
        struct api *api;
        int number;
        struct thread *thread;
};

static void write_much(void *arg)
{
        struct crowd *m = arg;
        _cleanup_arena_ struct arena a;
        _cleanup_client_ struct client c;

        arena_init(&a, "test", 0);
        client_init(&c, m->api);
        for (int i = 0; i < 30; i++) {
                struct str body = arena_printf(&a, "{\"metadata\":{\"name\":\"n%d-%d\"}}", m->number, i);
                struct str target = arena_printf(&a, CMS "/n%d-%d", m->number, i);

                client_send(&c, "POST", CMS, JSON_TYPE, body);
                ASSERT_INT(client_reply(&c, &a, false).status, 201);
                ASSERT_INT(ask(&c, &a, "PATCH", target.p, MERGE, "{'data':{'x':'1'}}").status, 200);
                ASSERT_INT(ask(&c, &a, "GET", CMS "?limit=7", "", NULL).status, 200);
                if (i % 2)
                        ASSERT_INT(ask(&c, &a, "DELETE", target.p, "", NULL).status, 200);
        }
}

/* Follows all changes until every writer is done: 4 x (30 created, 30 changed, 15 deleted). */
static void watch_all(void *arg)
{
        struct crowd *m = arg;
        _cleanup_arena_ struct arena a;
        _cleanup_client_ struct client c;
        struct watch_lines lines;

        arena_init(&a, "test", 0);
        client_init(&c, m->api);
        watch_open(&lines, &c, &a, CMS "?watch=1&resourceVersion=4");
        for (int i = 0; i < 4 * 75; i++)
                ASSERT(watch_line(&lines).p);
        buf_done(&lines.text);
}

TEST(crowd)
{
        _cleanup_api_ struct api api;
        _cleanup_err_ struct err err = { 0 };
        struct crowd crowd[8];

        api_init(&api);
        for (int i = 0; i < 8; i++) {
                crowd[i] = (struct crowd) { .api = &api, .number = i };
                ASSERT_INT(thread_start("crowd", i < 4 ? write_much : watch_all, &crowd[i], &crowd[i].thread, &err), 0);
        }
        for (int i = 0; i < 8; i++)
                thread_join(crowd[i].thread);
}
