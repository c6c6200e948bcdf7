/* A request to the API before anyone has looked at it: METHOD SPACE TARGET LF ACCEPT LF USER-AGENT. */
#include "fuzz.h"

#include "accept.h"
#include "options.h"

static void check_route(const struct api_route *r)
{
        struct str rest = str_skip(r->path, 1), segment;

        assert(r->path.n > 0 && r->path.p[0] == '/');
        assert(r->path.n == 1 || r->path.p[r->path.n - 1] != '/');
        while (rest.n > 0) {
                str_split(&rest, '/', &segment);
                assert(segment.n > 0 && !str_equal(segment, STR(".")) && !str_equal(segment, STR("..")));
        }
        if (!r->is_resource) {
                assert(r->gvr.plural.n == 0 && r->name.n == 0 && r->ns.n == 0);
                return;
        }
        assert(r->gvr.plural.n > 0 && r->gvr.version.n > 0);
        assert(r->subresource.n == 0 || r->name.n > 0);
        assert(str_find_char(r->name, '/') < 0 && str_find_char(r->ns, '/') < 0);
        assert((r->verb != API_LIST && r->verb != API_WATCH && r->verb != API_DELETE_COLLECTION) || r->name.n == 0);
}

static void read_options(struct arena *a, const struct api_query *q, struct str agent)
{
        struct write_request write = { .verb = WRITE_CREATE }, deletion = { .verb = WRITE_DELETE };
        struct list_options o;
        bool is_explicit;
        int64_t ms;

        options_list(a, q, &o, NULL);
        options_watch(a, q, &o, NULL);
        options_write(a, q, agent, &write, NULL);
        assert(write.manager.n <= 128 || api_query_get(q, STR("fieldManager")).n > 128);
        options_delete(a, q, NULL, &deletion, &is_explicit, NULL);
        if (options_timeout(q, &ms, NULL) == 0)
                assert(ms > 0 && ms <= 60000);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_arena_ struct arena a;
        struct str rest = str_make((const char *)data, size), line, method, accept;
        struct api_route route;
        struct acceptable allowed = { .forms = FORMS_OF_LIST, .is_watch = true };
        struct accepted accepted;

        arena_init(&a, "fuzz", 0);
        str_split(&rest, '\n', &line);
        str_split(&rest, '\n', &accept);
        str_split(&line, ' ', &method);
        if (api_route_parse(&a, method, line, &route, NULL) == 0) {
                check_route(&route);
                read_options(&a, &route.query, rest);
        }
        if (accept_negotiate(accept, &allowed, &accepted, NULL) == 0)
                assert(!accepted.is_yaml && accepted.form != ANSWER_METADATA);
        accept_has_token(accept, STR("gzip"));
        return 0;
}
