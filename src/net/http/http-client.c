#include "http-client.h"

#include "buf.h"
#include "clock.h"
#include "http-call.h"
#include "limits.h"
#include "timetext.h"
#include "tls.h"

#include <stdatomic.h>

/* The client */

static void set_defaults(struct http_client_options *o)
{
        o->max_h1_connections = o->max_h1_connections ? o->max_h1_connections : 16;
        o->max_h2_connections = o->max_h2_connections ? o->max_h2_connections : 2;
        o->max_head_bytes = o->max_head_bytes ? o->max_head_bytes : LIMIT_HEAD_BYTES;
        o->window_bytes = o->window_bytes ? o->window_bytes : LIMIT_WINDOW_BYTES;
        o->connect_ms = o->connect_ms ? o->connect_ms : 20000;
        o->stall_ms = o->stall_ms ? o->stall_ms : 30000;
        o->continue_ms = o->continue_ms ? o->continue_ms : 1000;
        o->idle_ms = o->idle_ms ? o->idle_ms : 90000;
        o->keepalive_ms = o->keepalive_ms ? o->keepalive_ms : 30000;
        o->backoff_ms = o->backoff_ms ? o->backoff_ms : 100;
        o->max_backoff_ms = o->max_backoff_ms ? o->max_backoff_ms : 2000;
        o->resolve_ms = o->resolve_ms ? o->resolve_ms : 30000;
}

static void free_client(struct http_client *c)
{
        http_pool_free(c->pool);
        tls_config_unref(c->options.tls);
        http_target_done(&c->target);
        arena_done(&c->arena);
        free(c);
}

/* Plain text needs no configuration; https without one gets the system's authorities. */
static int prepare_tls(struct http_client *c, struct err *err)
{
        struct tls_options options = { .offers_http1 = true };

        if (c->target.is_tls)
                return c->options.tls ? 0 : tls_config_new(&options, &c->options.tls, err);
        tls_config_unref(TAKE(c->options.tls));
        return 0;
}

static int new_pool(struct http_client *c, struct err *err)
{
        const struct http_client_options *o = &c->options;
        struct http_pool_options options = {
                .tls = o->tls,
                .version = o->version,
                .max_h1_connections = o->max_h1_connections,
                .max_h2_connections = o->max_h2_connections,
                .max_head_bytes = o->max_head_bytes,
                .window_bytes = o->window_bytes,
                .connect_ms = o->connect_ms,
                .backoff_ms = o->backoff_ms,
                .max_backoff_ms = o->max_backoff_ms,
                .stall_ms = o->stall_ms,
                .keepalive_ms = o->keepalive_ms,
                .idle_ms = o->idle_ms,
                .resolve_ms = o->resolve_ms,
        };

        return http_pool_new(&c->target, &options, &c->pool, err);
}

int http_client_new(struct str target, const struct http_client_options *options, struct http_client **ret,
                    struct err *err)
{
        struct http_client *c = xcalloc(1, sizeof(*c));
        int r;

        atomic_init(&c->references, 1);
        arena_init(&c->arena, "HTTP client", 0);
        if (options)
                c->options = *options;
        set_defaults(&c->options);
        if (c->options.tls)
                tls_config_ref(c->options.tls);
        r = http_target_parse(target, &c->arena, &c->target, err);
        if (r >= 0 && c->options.authority)
                r = http_target_set_authority(&c->target, str_from(c->options.authority), &c->arena, err);
        if (r >= 0 && c->options.proxy)
                r = http_target_set_proxy(&c->target, str_from(c->options.proxy), str_from(c->options.proxy_login),
                                          &c->arena, err);
        if (r >= 0)
                r = prepare_tls(c, err);
        if (r >= 0)
                r = new_pool(c, err);
        if (r < 0) {
                free_client(c);
                return r;
        }
        if (target.n > 0 && target.p[target.n - 1] == '/')
                target.n--;
        c->name = arena_copy(&c->arena, target);
        *ret = c;
        return 0;
}

struct http_client *http_client_ref(struct http_client *c)
{
        atomic_fetch_add_explicit(&c->references, 1, memory_order_relaxed);
        return c;
}

void http_client_unref(struct http_client *c)
{
        if (c && atomic_fetch_sub_explicit(&c->references, 1, memory_order_acq_rel) == 1)
                free_client(c);
}

struct str http_client_name(const struct http_client *c)
{
        return c->name;
}

struct http_pool_stats http_client_stats(struct http_client *c)
{
        return http_pool_stats(c->pool);
}

/* Requests */

static bool is_own_field(struct str name)
{
        static const char *const own[] = { "host",       "connection",       "content-length", "transfer-encoding",
                                           "keep-alive", "proxy-connection", "upgrade",        "expect" };

        for (size_t i = 0; i < ARRAY_SIZE(own); i++)
                if (str_equal(name, str_from(own[i])))
                        return true;
        return false;
}

static bool is_lower(struct str s)
{
        for (size_t i = 0; i < s.n; i++)
                if (s.p[i] >= 'A' && s.p[i] <= 'Z')
                        return false;
        return true;
}

/* No control characters; in a path no blanks either. */
static bool is_clean(struct str s, char first_allowed)
{
        for (size_t i = 0; i < s.n; i++)
                if (((unsigned char)s.p[i] < (unsigned char)first_allowed && s.p[i] != '\t') || s.p[i] == 0x7f)
                        return false;
        return first_allowed == ' ' || memchr(s.p ? s.p : "", '\t', s.n) == NULL;
}

static int check_request(const struct http_request *q, struct err *err)
{
        if (!http_is_token(q->method))
                return err_set(err, ERR_INVALID, "invalid method");
        if (q->path.n == 0 || (q->path.p[0] != '/' && !str_equal(q->path, STR("*"))) || !is_clean(q->path, '!'))
                return err_set(err, ERR_INVALID, "invalid path: it must begin with / and have no blanks");
        for (size_t i = 0; q->fields && i < q->fields->n; i++) {
                struct str name = q->fields->p[i].name;

                if (!http_is_token(name) || !is_lower(name) || !is_clean(q->fields->p[i].value, ' '))
                        return err_set(err, ERR_INVALID,
                                       "invalid header %.*s: names are in lower case, values have no "
                                       "control characters",
                                       STR_ARG(name));
                if (is_own_field(name))
                        return err_set(err, ERR_INVALID, "the client sets the header %.*s itself", STR_ARG(name));
        }
        assert(!q->body || !q->produce);
        return 0;
}

static bool is_one_of(struct str s, const char *const *list, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (str_equal(s, str_from(list[i])))
                        return true;
        return false;
}

static void add_fields(struct http_call *call, const struct http_request *q)
{
        static const char *const with_body[] = { "POST", "PUT", "PATCH" };
        struct http_fields *fields = &call->request.fields;
        struct arena *a = &call->arena;

        for (size_t i = 0; q->fields && i < q->fields->n; i++)
                http_fields_add(fields, a, q->fields->p[i].name, q->fields->p[i].value);
        if (!http_fields_get(fields, STR("user-agent")).p)
                http_fields_add(fields, a, STR("user-agent"), STR("weft"));
        if (q->body)
                http_fields_add(fields, a, STR("content-length"), arena_printf(a, "%zu", q->body->str.n));
        else if (q->produce && q->body_bytes > 0)
                http_fields_add(fields, a, STR("content-length"), arena_printf(a, "%lld", (long long)q->body_bytes));
        else if (!q->produce && is_one_of(q->method, with_body, ARRAY_SIZE(with_body)))
                http_fields_add(fields, a, STR("content-length"), STR("0"));
        if (call->expects_continue)
                http_fields_add(fields, a, STR("expect"), STR("100-continue"));
}

static struct http_call *new_call(struct http_client *c, const struct http_request *q)
{
        static const char *const safe[] = { "GET", "HEAD", "OPTIONS", "TRACE" };
        struct http_call *call = xcalloc(1, sizeof(*call));

        atomic_init(&call->references, 1);
        call->client = http_client_ref(c);
        call->work.run = http_call_work;
        mutex_init(&call->mutex);
        arena_init(&call->arena, "HTTP request", 0);
        call->has_body = q->produce || (q->body && q->body->str.n > 0);
        call->body = call->has_body && q->body ? bytes_ref(q->body) : NULL;
        call->is_sent = !call->has_body;
        call->expects_continue = q->expects_continue && call->has_body;
        call->is_idempotent = q->is_idempotent || is_one_of(q->method, safe, ARRAY_SIZE(safe));
        call->produce = q->produce;
        call->producer = q->producer;
        call->has_length = q->body_bytes > 0;
        call->left_bytes = (uint64_t)MAX(q->body_bytes, (int64_t)0);
        call->turn.fails_fast = !q->waits_for_server;
        call->turn.awaits_attempt = true;
        call->request = (struct http_head) {
                .method = arena_copy(&call->arena, q->method),
                .scheme = c->target.is_tls ? STR("https") : STR("http"),
                .authority = c->target.authority,
                .path = arena_copy(&call->arena, q->path),
        };
        add_fields(call, q);
        return call;
}

/* The query is left out of messages, because it may hold a signature. */
static int wrap_error(const struct http_client *c, struct str method, struct str path, struct err *err)
{
        ptrdiff_t query = str_find_char(path, '?');

        if (query >= 0)
                path.n = (size_t)query;
        return err_wrap(err, "%.*s %.*s%.*s", STR_ARG(method), STR_ARG(c->name), STR_ARG(path));
}

/* Waiting, with the mutex held */

static const char *step_name(const struct http_call *call)
{
        if (call->response.status != 0)
                return "reading the response";
        if (call->phase == CALL_IN_LINE)
                return "waiting for a connection";
        return call->is_sent ? "waiting for the response" : "sending the request";
}

/* A step with its own limit of time. */
struct limit {
        struct deadline deadline;
        int64_t ms;
};

static struct limit limit_from(int64_t since_ns, int64_t ms)
{
        if (ms <= 0)
                return (struct limit) { DEADLINE_NONE, 0 };
        return (struct limit) { { since_ns + ms * NS_PER_MS }, ms };
}

static struct limit step_limit(const struct http_call *call, int64_t begun_ns)
{
        const struct http_client_options *o = &call->client->options;

        if (call->phase == CALL_HEAD)
                return limit_from(begun_ns, o->read_stall_ms);
        if (call->phase != CALL_OPEN)
                return (struct limit) { DEADLINE_NONE, 0 };
        if (call->is_sent)
                return limit_from(call->sent_ns, o->head_ms);
        return limit_from(call->sent_ns, call->may_send ? o->stall_ms : o->continue_ms);
}

static bool wants_piece(const struct http_call *call)
{
        return call->produce && call->may_send && call->out_bytes < LIMIT_STREAM_QUEUE_BYTES &&
               (call->phase == CALL_OPEN || (call->phase == CALL_HEAD && call->response.status < 300));
}

/* Takes the next piece from the producer, without the mutex. */
static int produce(struct http_call *call, struct err *err)
{
        struct bytes *piece = NULL;
        int r;

        mutex_unlock(&call->mutex);
        r = call->produce(call->producer, &piece, err);
        mutex_lock(&call->mutex);
        if (r < 0)
                return err_wrap(err, "producing the request's body");
        if (r == 0)
                call->produce = NULL;
        if (call->has_length && (piece ? piece->str.n > call->left_bytes : call->left_bytes > 0)) {
                bytes_unref(piece);
                return err_set(err, ERR_INVALID, "the producer's body is not as long as announced");
        }
        if (piece) {
                vec_push(&call->out, piece);
                call->out_bytes += piece->str.n;
                call->left_bytes -= call->has_length ? piece->str.n : 0;
        }
        call->is_complete = r == 0;
        http_call_post(call);
        return 0;
}

/* Waits for a change. ERR_TIMEOUT with err set when the step took too long. */
static int wait_change(struct http_call *call, int64_t begun_ns, struct deadline deadline, struct cancel *cancel,
                       struct err *err)
{
        struct limit limit = step_limit(call, begun_ns);
        const char *step = step_name(call);
        struct waiter w = { 0 };
        int r;

        waiters_append(&call->waiters, &w);
        r = waiters_wait(&call->waiters, &w, &call->mutex, "HTTP", step, deadline_earliest(deadline, limit.deadline),
                         cancel);
        if (r != ERR_TIMEOUT || deadline_has_passed(deadline))
                return wait_error(r, cancel, step, err);
        if (call->phase == CALL_OPEN && !call->is_sent && !call->may_send) {
                call->may_send = true; /* no 100 Continue: the body is sent all the same */
                http_call_post(call);
                return 0;
        }
        return err_set(err, ERR_TIMEOUT, "%s: nothing happened within %lld ms", step, (long long)limit.ms);
}

/* Whether the response's head, or input of its body, is there. */
static bool is_there(const struct http_call *call, bool wants_body)
{
        return wants_body ? call->in.n > 0 || call->phase == CALL_ENDED : call->response.status != 0;
}

/* Waits until the response's head, or input of its body, is there. Sends the request's body meanwhile. With the mutex held. */
static int await(struct http_call *call, bool wants_body, struct deadline deadline, struct cancel *cancel,
                 struct err *err)
{
        int64_t begun_ns = clock_mono_ns();

        while (!is_there(call, wants_body)) {
                int r;

                if (call->phase == CALL_FAILED)
                        return err_set(err, call->err.code, "%s%s", wants_body ? "reading the response: " : "",
                                       err_message(&call->err));
                r = wants_piece(call) ? produce(call, err) : wait_change(call, begun_ns, deadline, cancel, err);
                if (r < 0)
                        return r;
        }
        return 0;
}

static void drop_call(struct http_call *call)
{
        struct http_client *c = call->client;

        http_call_unref(call);
        http_client_unref(c);
}

/* Ends a call without a response. The reason why it had no connection is added to the error. */
static void give_up(struct http_call *call, struct err *err)
{
        _cleanup_err_ struct err why = { 0 };

        http_call_give_up(call, &why);
        if (why.code && err) {
                int code = err->code;
                _cleanup_buf_ struct buf text = BUF_INIT(0);

                buf_appendf(&text, "%s: %s", err_message(err), err_message(&why));
                err_set(err, code, "%s", buf_cstring(&text));
        }
}

int http_client_open(struct http_client *c, const struct http_request *q, struct http_response **ret, struct err *err)
{
        struct deadline deadline = q->deadline.mono_ns ? q->deadline : DEADLINE_NONE;
        _cleanup_err_ struct err own = { 0 };
        struct http_call *call;
        int r;

        err = err ? err : &own;
        r = check_request(q, err);
        if (r >= 0)
                r = cancel_check(q->cancel, err);
        if (r < 0)
                return wrap_error(c, q->method, q->path, err);
        call = new_call(c, q);
        mutex_lock(&call->mutex);
        http_call_post(call);
        r = await(call, false, deadline, q->cancel, err);
        mutex_unlock(&call->mutex);
        if (r >= 0) {
                *ret = &call->response;
                return 0;
        }
        give_up(call, err);
        drop_call(call);
        return wrap_error(c, q->method, q->path, err);
}

/* Responses */

static struct http_call *call_of(struct http_response *r)
{
        return CONTAINER_OF(r, struct http_call, response);
}

/* Gives the room of the pieces that were read back to the server. With the mutex held. */
static void consume_taken(struct http_call *call)
{
        for (size_t i = 0; i < call->taken.n; i++)
                bytes_unref(call->taken.p[i]);
        vec_clear(&call->taken);
        call->n_taken_read = 0;
        if (call->n_taken_bytes == 0)
                return;
        call->consumed_bytes += call->n_taken_bytes;
        call->n_taken_bytes = 0;
        if (call->phase == CALL_HEAD)
                http_call_post(call);
}

/* Takes over all input that has come. With the mutex held. */
static void take_input(struct http_call *call)
{
        for (size_t i = 0; i < call->in.n; i++) {
                call->n_taken_bytes += call->in.p[i]->str.n;
                vec_push(&call->taken, call->in.p[i]);
        }
        vec_clear(&call->in);
}

int http_response_read(struct http_response *r, struct deadline deadline, struct cancel *cancel, struct str *ret,
                       struct err *err)
{
        struct http_call *call = call_of(r);
        int result = 0;

        if (call->n_taken_read == call->taken.n) {
                mutex_lock(&call->mutex);
                consume_taken(call);
                result = await(call, true, deadline, cancel, err);
                if (result >= 0)
                        take_input(call);
                mutex_unlock(&call->mutex);
        }
        if (result < 0)
                return wrap_error(call->client, call->request.method, call->request.path, err);
        if (call->n_taken_read == call->taken.n)
                return 0;
        *ret = call->taken.p[call->n_taken_read++]->str;
        return 1;
}

int http_response_read_all(struct http_response *r, size_t max_bytes, struct deadline deadline, struct cancel *cancel,
                           struct bytes **ret, struct err *err)
{
        struct http_call *call = call_of(r);
        _cleanup_buf_ struct buf whole = BUF_INIT(max_bytes);
        struct str piece;
        int result;

        while ((result = http_response_read(r, deadline, cancel, &piece, err)) > 0) {
                if (piece.n > max_bytes - whole.n) {
                        err_set(err, ERR_LIMIT, "the response's body is larger than the limit of %zu bytes", max_bytes);
                        return wrap_error(call->client, call->request.method, call->request.path, err);
                }
                buf_append_str(&whole, piece);
        }
        if (result >= 0)
                *ret = bytes_take(&whole);
        return result;
}

void http_response_free(struct http_response *r)
{
        struct http_call *call;

        if (!r)
                return;
        call = call_of(r);
        mutex_lock(&call->mutex);
        call->is_given_up = true;
        if (call->phase < CALL_ENDED)
                http_call_post(call);
        mutex_unlock(&call->mutex);
        drop_call(call);
}
