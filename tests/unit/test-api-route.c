/* Methods and targets to routes, as docs/spec/apiserver 0.2 has them. */
#include "test.h"

#include "route.h"

static int parse(struct arena *a, const char *method, const char *target, struct api_route *ret, struct err *err)
{
        return api_route_parse(a, str_from(method), str_from(target), ret, err);
}

TEST(resources)
{
        static const struct {
                const char *method, *target;
                enum api_verb verb;
                const char *group, *version, *ns, *plural, *name, *subresource;
        } cases[] = {
                { "GET", "/api/v1/pods", API_LIST, "", "v1", "", "pods", "", "" },
                { "GET", "/api/v1/pods/", API_LIST, "", "v1", "", "pods", "", "" },
                { "GET", "/api/v1/pods?watch=true", API_WATCH, "", "v1", "", "pods", "", "" },
                { "GET", "/api/v1/pods?watch", API_WATCH, "", "v1", "", "pods", "", "" },
                { "GET", "/api/v1/pods?watch=0", API_LIST, "", "v1", "", "pods", "", "" },
                { "GET", "/api/v1/pods?watch=false", API_LIST, "", "v1", "", "pods", "", "" },
                { "HEAD", "/api/v1/pods", API_LIST, "", "v1", "", "pods", "", "" },
                { "POST", "/api/v1/pods?watch=1", API_CREATE, "", "v1", "", "pods", "", "" },
                { "GET", "/api/v1/namespaces", API_LIST, "", "v1", "", "namespaces", "", "" },
                { "GET", "/api/v1/namespaces/x", API_GET, "", "v1", "", "namespaces", "x", "" },
                { "GET", "/api/v1/namespaces/x?watch=1", API_GET, "", "v1", "", "namespaces", "x", "" },
                { "PUT", "/api/v1/namespaces/x/finalize", API_UPDATE, "", "v1", "", "namespaces", "x", "finalize" },
                { "PATCH", "/api/v1/namespaces/x/status", API_PATCH, "", "v1", "", "namespaces", "x", "status" },
                { "GET", "/api/v1/namespaces/x/pods", API_LIST, "", "v1", "x", "pods", "", "" },
                { "GET", "/api/v1/namespaces/x/pods/y", API_GET, "", "v1", "x", "pods", "y", "" },
                { "GET", "/api/v1/namespaces/x/pods/y/log", API_GET, "", "v1", "x", "pods", "y", "log" },
                { "DELETE", "/apis/g.org/v2/namespaces/x/ws/y", API_DELETE, "g.org", "v2", "x", "ws", "y", "" },
                { "DELETE", "/apis/g.org/v2/namespaces/x/ws", API_DELETE_COLLECTION, "g.org", "v2", "x", "ws", "", "" },
                { "PATCH", "/apis/g.org/v2/ws/y/scale", API_PATCH, "g.org", "v2", "", "ws", "y", "scale" },
                { "OPTIONS", "/apis/g.org/v2/ws/y", API_OTHER, "g.org", "v2", "", "ws", "y", "" },
                { "GET", "/api/v1/watch/pods", API_WATCH, "", "v1", "", "pods", "", "" },
                { "GET", "/apis/g/v1/watch/namespaces/x/ws", API_WATCH, "g", "v1", "x", "ws", "", "" },
                { "GET", "/api/v1/namespaces/x/watch", API_LIST, "", "v1", "x", "watch", "", "" },
                { "GET", "/api/v1/namespaces/x/cms/a%2Fb", API_GET, "", "v1", "x", "cms", "a", "b" },
                { "GET", "/api/v1/namespaces/x/cms/a%20b", API_GET, "", "v1", "x", "cms", "a b", "" },
                { "GET", "/api/v1/namespaces/x/cms/a+b", API_GET, "", "v1", "x", "cms", "a+b", "" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_arena_ struct arena a;
                _cleanup_err_ struct err err = { 0 };
                struct api_route r;

                arena_init(&a, "test", 0);
                ASSERT_CASE(cases[i].target, parse(&a, cases[i].method, cases[i].target, &r, &err) == 0);
                ASSERT_CASE(cases[i].target, r.is_resource && r.verb == cases[i].verb);
                ASSERT_STR_CASE(cases[i].target, r.gvr.group, str_from(cases[i].group));
                ASSERT_STR_CASE(cases[i].target, r.gvr.version, str_from(cases[i].version));
                ASSERT_STR_CASE(cases[i].target, r.ns, str_from(cases[i].ns));
                ASSERT_STR_CASE(cases[i].target, r.gvr.plural, str_from(cases[i].plural));
                ASSERT_STR_CASE(cases[i].target, r.name, str_from(cases[i].name));
                ASSERT_STR_CASE(cases[i].target, r.subresource, str_from(cases[i].subresource));
        }
}

TEST(other_paths)
{
        static const char *const targets[] = { "/",        "/api",         "/api/",    "/api/v1",
                                               "/apis",    "/apis/g.org",  "/version", "/apis/g.org/v1",
                                               "/healthz", "/openapi/v3?", "/apis/" };

        for (size_t i = 0; i < ARRAY_SIZE(targets); i++) {
                _cleanup_arena_ struct arena a;
                struct api_route r;

                arena_init(&a, "test", 0);
                ASSERT_CASE(targets[i], parse(&a, "GET", targets[i], &r, NULL) == 0);
                ASSERT_CASE(targets[i], !r.is_resource);
                ASSERT_CASE(targets[i], r.path.n == 1 || r.path.p[r.path.n - 1] != '/');
        }
}

TEST(wrong_targets)
{
        static const struct {
                const char *target;
                int code;
        } cases[] = {
                { "", ERR_INVALID },
                { "api", ERR_INVALID },
                { "http://a/api", ERR_INVALID },
                { "*", ERR_INVALID },
                { "/api/v1/%zz", ERR_INVALID },
                { "/api/v1/%4", ERR_INVALID },
                { "/api/v1/%", ERR_INVALID },
                { "//api/v1/pods", ERR_NOT_FOUND },
                { "/api//v1/pods", ERR_NOT_FOUND },
                { "/api/v1/namespaces/../secrets", ERR_NOT_FOUND },
                { "/api/v1/namespaces/%2e%2e/secrets", ERR_NOT_FOUND },
                { "/api/v1/namespaces/x%2f..%2fy/secrets", ERR_NOT_FOUND },
                { "/api/v1/./pods", ERR_NOT_FOUND },
                { "/api/v1/pods//", ERR_NOT_FOUND },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_arena_ struct arena a;
                struct api_route r;

                arena_init(&a, "test", 0);
                ASSERT_CASE(cases[i].target, parse(&a, "GET", cases[i].target, &r, NULL) == cases[i].code);
        }
}

TEST(query)
{
        _cleanup_arena_ struct arena a;
        struct api_route r;

        arena_init(&a, "test", 0);
        ASSERT_INT(parse(&a, "GET", "/x?a=1&b=%20+&a=2&=&bad=%z&c;d=1&e", &r, NULL), 0);
        ASSERT_INT(r.query.n, 5);
        ASSERT_STR(api_query_get(&r.query, STR("a")), STR("1"));
        ASSERT_STR(api_query_get(&r.query, STR("b")), STR("  "));
        ASSERT(!api_query_get(&r.query, STR("bad")).p && !api_query_get(&r.query, STR("c")).p);
        ASSERT(api_query_get(&r.query, STR("e")).p && api_query_flag(&r.query, STR("e")));
        ASSERT(!api_query_flag(&r.query, STR("f")));
}

/* A watch by its old path watches one name. */
TEST(old_watch_of_one)
{
        _cleanup_arena_ struct arena a;
        struct api_route r;

        arena_init(&a, "test", 0);
        ASSERT_INT(parse(&a, "GET", "/api/v1/watch/namespaces/x/pods/y?timeoutSeconds=1", &r, NULL), 0);
        ASSERT(r.verb == API_WATCH && r.name.n == 0);
        ASSERT_STR(api_query_get(&r.query, STR("fieldSelector")), STR("metadata.name=y"));
        ASSERT_STR(api_query_get(&r.query, STR("timeoutSeconds")), STR("1"));
}

TEST(too_many_parameters)
{
        _cleanup_arena_ struct arena a;
        struct api_route r;
        char target[5000] = "/x?";

        for (size_t n = 3; n < sizeof(target) - 5; n += 4)
                memcpy(target + n, "a=1&", 5);
        arena_init(&a, "test", 0);
        ASSERT_INT(parse(&a, "GET", target, &r, NULL), ERR_LIMIT);
}
