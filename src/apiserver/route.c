#include "route.h"

#include "ascii.h"
#include "buf.h"
#include "limits.h"
#include "vec.h"

struct str api_verb_name(enum api_verb verb)
{
        static const char *const names[_API_VERB_COUNT] = {
                [API_GET] = "get",       [API_LIST] = "list",
                [API_WATCH] = "watch",   [API_CREATE] = "create",
                [API_UPDATE] = "update", [API_PATCH] = "patch",
                [API_DELETE] = "delete", [API_DELETE_COLLECTION] = "deletecollection",
                [API_OTHER] = "",
        };

        return str_from(names[verb]);
}

bool api_group_is_builtin(struct str group)
{
        return str_find_char(group, '.') < 0 || str_ends_with(group, STR(".k8s.io"));
}

int api_no_such_path(struct str group, struct err *err)
{
        int r;

        if (!api_group_is_builtin(group))
                return err_set(err, ERR_NOT_FOUND, "404 page not found");
        r = err_set(err, ERR_NOT_FOUND, "the server could not find the requested resource");
        err_set_details(err, STR("{}"));
        return r;
}

/* --- Escapes --- */

/* False for a broken escape. With `plus`, + stands for a space. */
static bool unescape(struct arena *a, struct str text, bool plus, struct str *ret)
{
        char *p, *to;

        if (str_find_char(text, '%') < 0 && (!plus || str_find_char(text, '+') < 0)) {
                *ret = text;
                return true;
        }
        p = to = arena_alloc(a, text.n + 1);
        for (size_t i = 0; i < text.n; i++) {
                if (text.p[i] == '%') {
                        int high = text.n - i > 2 ? ascii_hex_digit(text.p[i + 1]) : -1;
                        int low = text.n - i > 2 ? ascii_hex_digit(text.p[i + 2]) : -1;

                        if (high < 0 || low < 0)
                                return false;
                        *to++ = (char)(high << 4 | low);
                        i += 2;
                } else {
                        *to++ = plus && text.p[i] == '+' ? ' ' : text.p[i];
                }
        }
        *ret = str_make(p, (size_t)(to - p));
        return true;
}

/* --- Parameters --- */

/* As Go's url.ParseQuery: a pair with a semicolon or a broken escape does not count. */
static int parse_query(struct arena *a, struct str text, struct api_query *ret, struct err *err)
{
        VEC(struct http_field) fields = { 0 };
        struct str pair;
        int r = 0;

        while (text.n > 0) {
                struct http_field f = { 0 };
                struct str name;

                str_split(&text, '&', &pair);
                if (pair.n == 0 || str_find_char(pair, ';') >= 0)
                        continue;
                str_split(&pair, '=', &name);
                if (!unescape(a, name, true, &f.name) || !unescape(a, pair, true, &f.value))
                        continue;
                if (!f.value.p)
                        f.value = STR("");
                if (fields.n == LIMIT_QUERY_PARAMETERS) {
                        r = err_set(err, ERR_LIMIT, "the request has more than %d query parameters",
                                    LIMIT_QUERY_PARAMETERS);
                        break;
                }
                vec_push(&fields, f);
        }
        if (r == 0 && fields.n) {
                ret->p = ARENA_NEW_ARRAY(a, struct http_field, fields.n);
                ret->n = fields.n;
                memcpy(ret->p, fields.p, fields.n * sizeof(*fields.p));
        }
        vec_done(&fields);
        return r;
}

/* --- Paths --- */

#define MAX_SEGMENTS 16 /* of a resource's path; what is behind them stays one text */

struct segments {
        struct str p[MAX_SEGMENTS];
        struct str rest[MAX_SEGMENTS]; /* from this segment on to the end */
        size_t n;
};

/* The error of a path with a segment that no path has. */
static int wrong_segment(struct str path, struct err *err)
{
        struct str group;

        if (str_cut_prefix(&path, STR("/apis/"))) {
                str_split(&path, '/', &group);
                return api_no_such_path(group, err);
        }
        return api_no_such_path(str_starts_with(path, STR("/api/")) ? STR("") : STR("no.group"), err);
}

static int split_path(struct str path, struct segments *ret, struct err *err)
{
        struct str rest = str_skip(path, 1);

        ret->n = 0;
        while (rest.n > 0) {
                struct str from = rest, segment;

                str_split(&rest, '/', &segment);
                if (segment.n == 0 || str_equal(segment, STR(".")) || str_equal(segment, STR("..")))
                        return wrong_segment(path, err);
                if (ret->n < MAX_SEGMENTS) {
                        ret->rest[ret->n] = from;
                        ret->p[ret->n++] = segment;
                }
        }
        return 0;
}

static enum api_verb verb_of(struct str method, bool has_name)
{
        static const struct {
                struct str method;
                enum api_verb with_name, without;
        } verbs[] = {
                { STR_INIT("GET"), API_GET, API_LIST },       { STR_INIT("HEAD"), API_GET, API_LIST },
                { STR_INIT("POST"), API_CREATE, API_CREATE }, { STR_INIT("PUT"), API_UPDATE, API_UPDATE },
                { STR_INIT("PATCH"), API_PATCH, API_PATCH },  { STR_INIT("DELETE"), API_DELETE, API_DELETE_COLLECTION },
        };

        for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
                if (str_equal(method, verbs[i].method))
                        return has_name ? verbs[i].with_name : verbs[i].without;
        return API_OTHER;
}

/* The part of a path behind the version: `[namespaces/NS/]PLURAL[/NAME[/SUBRESOURCE[/...]]]`. */
static void parse_resource(const struct segments *s, size_t at, struct api_route *ret)
{
        const struct str *p = s->p + at;
        size_t n = s->n - at;

        if (str_equal(p[0], STR("namespaces")) && n >= 3 && !str_equal(p[2], STR("status")) &&
            !str_equal(p[2], STR("finalize"))) {
                ret->ns = p[1];
                p += 2;
                n -= 2;
                at += 2;
        }
        ret->gvr.plural = p[0];
        if (n > 1)
                ret->name = p[1];
        if (n > 2)
                ret->subresource = p[2];
        if (n > 3)
                ret->rest = s->rest[at + 3];
}

/* Index of the first segment behind the version, or 0 if the path is not that of a resource. */
static size_t find_version(const struct segments *s, struct api_route *ret)
{
        if (s->n >= 3 && str_equal(s->p[0], STR("api"))) {
                ret->gvr.version = s->p[1];
                return 2;
        }
        if (s->n >= 4 && str_equal(s->p[0], STR("apis"))) {
                ret->gvr.group = s->p[1];
                ret->gvr.version = s->p[2];
                return 3;
        }
        return 0;
}

/* A watch by its old path, /api/v1/watch/..., selects the name that stands in the path. */
static void add_name_selector(struct arena *a, struct api_route *route)
{
        struct api_query *q = &route->query;
        struct http_field *fields = ARENA_NEW_ARRAY(a, struct http_field, q->n + 1);

        fields[0] = (struct http_field) { STR("fieldSelector"), ARENA_CONCAT(a, STR("metadata.name="), route->name) };
        if (q->n)
                memcpy(fields + 1, q->p, q->n * sizeof(*fields));
        *q = (struct api_query) { fields, q->n + 1 };
        route->name = STR("");
}

static void parse_segments(struct arena *a, struct str method, const struct segments *s, struct api_route *ret)
{
        size_t at = find_version(s, ret);
        bool is_watch_path;

        if (at == 0)
                return;
        is_watch_path = str_equal(s->p[at], STR("watch")) && s->n > at + 1 && verb_of(method, false) == API_LIST;
        parse_resource(s, at + is_watch_path, ret);
        ret->is_resource = true;
        ret->verb = verb_of(method, ret->name.n > 0);
        if (is_watch_path && ret->name.n && !ret->subresource.n)
                add_name_selector(a, ret);
        if (ret->name.n == 0 && verb_of(method, false) == API_LIST &&
            (is_watch_path || api_query_flag(&ret->query, STR("watch"))))
                ret->verb = API_WATCH;
}

int api_route_parse(struct arena *a, struct str method, struct str target, struct api_route *ret, struct err *err)
{
        struct api_route route = { .verb = API_OTHER, .is_head = str_equal(method, STR("HEAD")) };
        struct segments segments;
        struct str path;
        int r;

        str_split(&target, '?', &path);
        if (path.n == 0 || path.p[0] != '/' || !unescape(a, path, false, &route.path))
                return status_bad_request(err, "the target of the request is not a path");
        r = parse_query(a, target, &route.query, err);
        if (r < 0)
                return r;
        r = split_path(route.path, &segments, err);
        if (r < 0)
                return r;
        if (route.path.n > 1)
                str_cut_suffix(&route.path, STR("/"));
        parse_segments(a, method, &segments, &route);
        *ret = route;
        return 0;
}
