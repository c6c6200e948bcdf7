/* Paths that are not resources and belong to the server itself: its version, its health, its metrics (docs/spec/apiserver 1.4). */
#include "request.h"

#include "buf.h"
#include "number.h"

#define VERSION "v1.36.3+weft"

/* --- Version --- */

/* `36` of v1.36.3. */
static struct str minor_of(struct str version)
{
        struct str rest = version, part;

        str_split(&rest, '.', &part);
        str_split(&rest, '.', &part);
        return part;
}

/* As upstream: JSON or anything, but no other range of types. */
static bool accepts_json(struct str accept)
{
        struct str clause, type;

        if (str_trim(accept).n == 0)
                return true;
        while (accept.n > 0) {
                str_split(&accept, ',', &clause);
                str_split(&clause, ';', &type);
                type = str_trim(type);
                if (str_equal(type, STR("*/*")) || str_equal(type, STR("application/json")))
                        return true;
        }
        return false;
}

static int refuse_form(struct err *err)
{
        int r = err_set(err, ERR_UNSUPPORTED, "406: Not Acceptable\n\nAvailable representations: application/json");

        err_set_reason(err, REASON_NOT_ACCEPTABLE);
        err_set_details(err, STR("{}"));
        return r;
}

/* The version that the API emulates, and the oldest that it is compatible with. */
static void add_compatibility(struct object_builder *b, struct arena *a, struct str major, struct str minor)
{
        uint64_t number;

        object_builder_add(b, STR("emulationMajor"), value_of_str(major));
        object_builder_add(b, STR("emulationMinor"), value_of_str(minor));
        if (number_parse_uint(minor, &number, NULL) < 0 || number == 0)
                return;
        object_builder_add(b, STR("minCompatibilityMajor"), value_of_str(major));
        object_builder_add(b, STR("minCompatibilityMinor"),
                           value_of_str(arena_printf(a, "%llu", (unsigned long long)number - 1)));
}

static int handle_version(struct api_request *q, struct err *err)
{
        struct str version = str_from(q->server->options.version ? q->server->options.version : VERSION);
        struct str major, rest = str_skip(version, 1);
        struct object_builder b;
        struct value v;

        if (!accepts_json(http_fields_get(&q->head.fields, STR("accept"))))
                return refuse_form(err);
        str_split(&rest, '.', &major);
        object_builder_init(&b, &q->arena, 13);
        object_builder_add(&b, STR("major"), value_of_str(major));
        object_builder_add(&b, STR("minor"), value_of_str(minor_of(version)));
        add_compatibility(&b, &q->arena, major, minor_of(version));
        object_builder_add(&b, STR("gitVersion"), value_of_str(version));
        object_builder_add(&b, STR("gitCommit"), value_of_literal(""));
        object_builder_add(&b, STR("gitTreeState"), value_of_literal("clean"));
        object_builder_add(&b, STR("buildDate"), value_of_literal("1970-01-01T00:00:00Z"));
        object_builder_add(&b, STR("goVersion"), value_of_literal("none"));
        object_builder_add(&b, STR("compiler"), value_of_literal("cc"));
        object_builder_add(&b, STR("platform"), value_of_literal("linux/amd64"));
        v = object_builder_finish(&b);
        api_reply_value(&q->reply, &v);
        return 0;
}

/* --- Health --- */

static bool is_excluded(const struct api_request *q, struct str name)
{
        const struct api_query *query = &q->route.query;

        for (size_t i = 0; i < query->n; i++)
                if (str_equal(query->p[i].name, STR("exclude")) && str_equal(query->p[i].value, name))
                        return true;
        return false;
}

/* The server answers, so it is alive; a server that drains is not ready. */
static int check_ping(void *arg, struct err *err)
{
        return 0;
}

static int check_shutdown(void *arg, struct err *err)
{
        struct apiserver *s = arg;

        return atomic_load(&s->is_draining) ? err_set(err, ERR_CLOSED, "the server is shutting down") : 0;
}

/* Runs a check and appends its line; the reason of a failure is for the log of the server alone, as upstream withholds it. */
static bool run_check(const struct api_request *q, const struct apiserver_check *check, struct buf *lines)
{
        _cleanup_err_ struct err err = { 0 };

        if (is_excluded(q, str_from(check->name))) {
                buf_appendf(lines, "[+]%s excluded: ok\n", check->name);
                return true;
        }
        if (check->check(check->arg, &err) == 0) {
                buf_appendf(lines, "[+]%s ok\n", check->name);
                return true;
        }
        buf_appendf(lines, "[-]%s failed: %s\n", check->name, err_message(&err));
        return false;
}

static void answer_plain(struct api_request *q, int status, bool is_one, struct buf *text)
{
        q->reply.status = status;
        q->reply.content_type = STR("text/plain; charset=utf-8");
        if (!is_one)
                http_fields_add(&q->reply.fields, &q->arena, STR("x-content-type-options"), STR("nosniff"));
        q->reply.body = bytes_take(text);
}

/* endpoint: `healthz`; only: the name behind the slash, or "" for all checks. */
static int run_checks(struct api_request *q, struct str endpoint, struct str only, struct err *err)
{
        const struct apiserver_options *o = &q->server->options;
        struct apiserver_check own[] = {
                { "ping", check_ping, NULL },
                { "shutdown", check_shutdown, q->server },
        };
        size_t n_own = str_equal(endpoint, STR("readyz")) ? 2 : 1, n_run = 0;
        _cleanup_buf_ struct buf lines = BUF_INIT(0), ok = BUF_INIT(0);
        bool is_healthy = true;

        for (size_t i = 0; i < n_own + o->n_checks; i++) {
                const struct apiserver_check *check = i < n_own ? &own[i] : &o->checks[i - n_own];

                if (only.n && !str_equal(str_from(check->name), only))
                        continue;
                is_healthy &= run_check(q, check, &lines);
                n_run++;
        }
        if (n_run == 0)
                return err_set(err, ERR_NOT_FOUND, "404 page not found");
        buf_appendf(&lines, "%.*s check %s\n", STR_ARG(endpoint), is_healthy ? "passed" : "failed");
        buf_append_literal(&ok, "ok");
        if (!is_healthy)
                answer_plain(q, 500, only.n > 0, &lines);
        else
                answer_plain(q, 200, only.n > 0, api_query_get(&q->route.query, STR("verbose")).p ? &lines : &ok);
        return 0;
}

/* --- Metrics --- */

static int handle_metrics(struct api_request *q)
{
        const struct apiserver_options *o = &q->server->options;
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        metrics_write(&q->server->metrics, &b);
        for (size_t i = 0; i < o->n_metrics; i++)
                o->metrics[i].append(o->metrics[i].arg, &b);
        q->reply.content_type = STR("text/plain; version=0.0.4; charset=utf-8");
        q->reply.body = bytes_take(&b);
        return 0;
}

static struct str first_segment(struct str path, struct str *ret_rest)
{
        struct str first;

        *ret_rest = str_skip(path, 1);
        str_split(ret_rest, '/', &first);
        return first;
}

static bool has_checks(struct str first)
{
        return str_equal(first, STR("healthz")) || str_equal(first, STR("livez")) || str_equal(first, STR("readyz"));
}

bool health_is_path(struct str path)
{
        struct str rest, first = first_segment(path, &rest);

        return has_checks(first) ||
               (rest.n == 0 && (str_equal(first, STR("version")) || str_equal(first, STR("metrics"))));
}

int health_handle(struct api_request *q, struct err *err)
{
        struct str rest, first = first_segment(q->route.path, &rest);

        if (!health_is_path(q->route.path))
                return err_set(err, ERR_NOT_FOUND, "404 page not found");
        if (has_checks(first))
                return run_checks(q, first, rest, err);
        return str_equal(first, STR("version")) ? handle_version(q, err) : handle_metrics(q);
}
