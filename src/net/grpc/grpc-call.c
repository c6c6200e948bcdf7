#include "grpc-channel.h"

#include "arena.h"
#include "buf.h"
#include "bytes.h"

#include <stdatomic.h>

#define REFUSED_RETRIES 5 /* of a stream that the server refused without processing it */

static void call_unref(struct grpc_call *call)
{
        if (atomic_fetch_sub_explicit(&call->references, 1, memory_order_acq_rel) != 1)
                return;
        bytes_unref(call->request);
        bytes_unref(call->response);
        grpc_reader_done(&call->reader);
        completion_done(&call->done);
        arena_done(&call->arena);
        free(call);
}

/* Stores the answer in the call and completes it; the loop does not use the call any more. */
static void complete(struct grpc_call *call, enum grpc_status status, struct str message)
{
        assert(!call->ex && !call->is_done);
        call->is_done = true;
        call->status = status;
        call->message = arena_copy(&call->arena, message);
        http_pool_leave(call->channel->pool, &call->turn); /* the channel may be freed afterwards */
        completion_complete(&call->done);
        call_unref(call);
}

/* The answer */

static void fail(struct grpc_call *call, enum grpc_status status, struct str message)
{
        call->status = status;
        call->message = message;
}

static void read_status(struct grpc_call *call, const struct http_fields *fields)
{
        struct str status = http_fields_get(fields, STR("grpc-status"));
        _cleanup_buf_ struct buf message = BUF_INIT(0);
        unsigned number = 0;

        for (size_t i = 0; i < status.n || i == 0; i++) {
                if (status.n == 0 || status.p[i] < '0' || status.p[i] > '9') {
                        fail(call, GRPC_UNKNOWN,
                             arena_printf(&call->arena, "transport: malformed grpc-status: \"%.*s\"", STR_ARG(status)));
                        return;
                }
                number = MIN(number * 10 + (unsigned)(status.p[i] - '0'), 1000u);
        }
        grpc_append_decoded_message(&message, http_fields_get(fields, STR("grpc-message")));
        fail(call, number < _GRPC_STATUS_COUNT ? (enum grpc_status)number : GRPC_UNKNOWN,
             arena_copy(&call->arena, buf_str(&message)));
}

static void copy_fields(struct grpc_call *call, const struct http_fields *from, struct http_fields *to)
{
        for (size_t i = 0; i < from->n; i++)
                http_fields_add(to, &call->arena, from->p[i].name, from->p[i].value);
}

/* Errors for a body that is not one message, worded as other gRPC clients word them. */
static void fail_message(struct grpc_call *call, const struct err *err)
{
        const char *flag = call->channel->options.limit_flag;
        struct str text = arena_copy(&call->arena, str_from(err_message(err)));

        if (err->code == ERR_NOT_FOUND)
                text = STR("cardinality violation: received no response message from non-server-streaming RPC");
        else if (err->code == ERR_EXISTS)
                text = STR("cardinality violation: expected <EOF> for non server-streaming RPCs, but received another "
                           "message");
        else if (err->code == ERR_LIMIT && flag)
                text = arena_printf(&call->arena, "%.*s; raise it with %s", STR_ARG(text), flag);
        fail(call, err->code == ERR_LIMIT ? GRPC_RESOURCE_EXHAUSTED : GRPC_INTERNAL, text);
}

static void take_message(struct grpc_call *call)
{
        struct str encoding = http_fields_get(&call->head, STR("grpc-encoding"));
        _cleanup_err_ struct err err = { 0 };

        if (grpc_reader_finish(&call->reader, encoding, &call->response, &err) < 0)
                fail_message(call, &err);
}

static bool is_grpc(const struct exchange *ex)
{
        return str_starts_with(http_fields_get(&ex->response.fields, STR("content-type")), STR("application/grpc"));
}

/* The answer is not gRPC: it comes from a proxy, or from a wrong server. */
static void fail_http(struct grpc_call *call, const struct exchange *ex)
{
        struct str type = http_fields_get(&ex->response.fields, STR("content-type"));
        _cleanup_buf_ struct buf text = BUF_INIT(0);

        buf_appendf(&text, "unexpected HTTP status code received from server: %d (%s)", ex->response.status,
                    http_reason(ex->response.status));
        if (!type.p)
                buf_append_literal(&text, "; malformed header: missing HTTP content-type");
        else if (!is_grpc(ex))
                buf_appendf(&text, "; transport: received unexpected content-type \"%.*s\"", STR_ARG(type));
        fail(call, grpc_status_of_http(ex->response.status), arena_copy(&call->arena, buf_str(&text)));
}

/* Sets the call's status from the response that the exchange received. */
static void judge(struct grpc_call *call, struct exchange *ex)
{
        const struct http_fields *fields = &ex->trailers;

        copy_fields(call, &ex->response.fields, &call->head);
        copy_fields(call, &ex->trailers, &call->trailers);
        if (!http_fields_get(fields, STR("grpc-status")).p)
                fields = &ex->response.fields; /* Trailers-Only */
        if (http_fields_get(fields, STR("grpc-status")).p) {
                read_status(call, fields);
                if (call->status == GRPC_OK)
                        take_message(call);
        } else if (ex->response.status != 200 || !is_grpc(ex)) {
                fail_http(call, ex);
        } else {
                fail(call, GRPC_INTERNAL, STR("server closed the stream without sending trailers"));
        }
}

static void on_head(struct exchange *ex)
{
        (void)ex; /* the response is read when it is complete */
}

static void on_body(struct exchange *ex, struct str data)
{
        struct grpc_call *call = ex->owner;
        _cleanup_err_ struct err err = { 0 };

        exchange_consume(ex, data.n);
        if (call->is_aborted || ex->response.status != 200 || !is_grpc(ex))
                return;
        if (grpc_reader_add(&call->reader, data, &err) >= 0)
                return;
        call->is_aborted = true;
        fail_message(call, &err);
        exchange_reset(ex, HTTP_RESET_CANCEL);
}

static void on_end(struct exchange *ex)
{
        struct grpc_call *call = ex->owner;

        if (!call->is_aborted)
                judge(call, ex);
}

/* Whether a call that was lost may be retried. */
static bool may_retry(struct grpc_call *call, const struct exchange *ex)
{
        if (call->is_aborted || deadline_has_passed(call->deadline) || http_pool_is_closing(call->channel->pool))
                return false;
        if (ex->peer_reset == HTTP_RESET_REFUSED)
                return call->n_refused++ < REFUSED_RETRIES;
        if (ex->peer_reset != HTTP_RESET_NONE || ex->was_reset || ex->response.status != 0 || call->was_retried)
                return false;
        call->was_retried = true;
        return true;
}

/* Maps HTTP/2 reset codes as the gRPC specification does. */
static enum grpc_status status_of_reset(const struct exchange *ex)
{
        if (ex->peer_reset == HTTP_RESET_NONE && !ex->was_reset)
                return GRPC_UNAVAILABLE; /* the connection was lost */
        switch (ex->peer_reset) {
        case HTTP_RESET_REFUSED:
                return GRPC_UNAVAILABLE;
        case HTTP_RESET_CANCEL:
                return GRPC_CANCELLED;
        case HTTP_RESET_ENHANCE_YOUR_CALM:
        case HTTP_RESET_FLOW_CONTROL:
                return GRPC_RESOURCE_EXHAUSTED;
        case HTTP_RESET_INADEQUATE_SECURITY:
                return GRPC_PERMISSION_DENIED;
        case HTTP_RESET_NONE:
        case HTTP_RESET_PROTOCOL_ERROR:
        case HTTP_RESET_INTERNAL_ERROR:
        case HTTP_RESET_HTTP_1_1_REQUIRED:
                break;
        }
        return ex->peer_reset <= HTTP_RESET_HTTP_1_1_REQUIRED ? GRPC_INTERNAL : GRPC_UNKNOWN;
}

/* No answer came. After its deadline a call has exceeded it, whatever happened to the connection: the loop may be faster than the
 * waiting caller. */
static void complete_lost(struct grpc_call *call, enum grpc_status status, struct str why)
{
        if (deadline_has_passed(call->deadline))
                complete(call, GRPC_DEADLINE_EXCEEDED, STR("context deadline exceeded"));
        else
                complete(call, status, why);
}

static void on_closed(struct exchange *ex, const struct err *err)
{
        struct grpc_call *call = ex->owner;

        call->ex = NULL;
        call->turn.avoid = call->turn.place;
        if (ex->has_peer_ended || call->is_aborted) {
                complete(call, call->status, call->message);
                return;
        }
        if (may_retry(call, ex)) {
                grpc_reader_done(&call->reader);
                grpc_reader_init(&call->reader, call->channel->options.max_receive_bytes);
                http_pool_wait(call->channel->pool, &call->turn);
                return;
        }
        complete_lost(call, status_of_reset(ex), err ? str_from(err_message(err)) : STR("the call ended early"));
}

static const struct exchange_callbacks call_callbacks = {
        .on_head = on_head,
        .on_body = on_body,
        .on_end = on_end,
        .on_closed = on_closed,
};

static void add_call_fields(struct grpc_call *call, struct http_fields *fields, struct arena *a)
{
        _cleanup_buf_ struct buf timeout = BUF_INIT(0);

        http_fields_add(fields, a, STR("content-type"), STR("application/grpc"));
        http_fields_add(fields, a, STR("te"), STR("trailers"));
        http_fields_add(fields, a, STR("user-agent"), STR("grpc-c-weft"));
        http_fields_add(fields, a, STR("grpc-accept-encoding"), STR("gzip"));
        if (!deadline_is_none(call->deadline)) {
                grpc_append_timeout(&timeout, deadline_remaining_ns(call->deadline));
                http_fields_add(fields, a, STR("grpc-timeout"), buf_str(&timeout));
        }
        for (size_t i = 0; i < call->metadata.n; i++)
                http_fields_add(fields, a, call->metadata.p[i].name, call->metadata.p[i].value);
}

static void on_connection(struct http_turn *t, struct http_connection *http)
{
        struct grpc_call *call = CONTAINER_OF(t, struct grpc_call, turn);
        struct grpc_channel *c = call->channel;
        _cleanup_arena_ struct arena scratch;
        _cleanup_buf_ struct buf prefix = BUF_INIT(0);
        struct http_head head = {
                .method = STR("POST"),
                .scheme = c->options.tls ? STR("https") : STR("http"),
                .authority = c->target.authority,
                .path = call->method,
        };

        arena_init(&scratch, "call head", 0);
        add_call_fields(call, &head.fields, &scratch);
        call->ex = http_connection_request(http, &head, true, &call_callbacks, call);
        grpc_append_prefix(&prefix, call->request->str.n);
        exchange_send(call->ex, bytes_take(&prefix));
        exchange_send(call->ex, bytes_ref(call->request));
        exchange_finish(call->ex, NULL);
}

static void on_failed(struct http_turn *t, const struct err *err)
{
        complete_lost(CONTAINER_OF(t, struct grpc_call, turn), GRPC_UNAVAILABLE, str_from(err_message(err)));
}

/* The caller's side */

struct abort {
        struct grpc_call *call;
        struct err why; /* why there is no connection, if the call waited for one */
};

static void abort_call(void *arg)
{
        struct abort *abort = arg;
        struct grpc_call *call = abort->call;

        if (call->is_done)
                return;
        call->is_aborted = true;
        if (call->ex) {
                exchange_reset(call->ex, HTTP_RESET_CANCEL);
                return;
        }
        http_pool_explain(call->channel->pool, &abort->why);
        complete(call, GRPC_CANCELLED, STR("the caller gave up"));
}

static void on_start(struct loop_task *t)
{
        struct grpc_call *call = CONTAINER_OF(t, struct grpc_call, start);

        http_pool_enter(call->channel->pool, &call->turn);
        http_pool_wait(call->channel->pool, &call->turn);
}

static struct grpc_call *new_call(struct grpc_channel *c, struct str method, struct bytes *request,
                                  const struct grpc_call_options *options)
{
        struct grpc_call *call = xcalloc(1, sizeof(*call));

        atomic_init(&call->references, 2);
        call->channel = c;
        call->start.run = on_start;
        arena_init(&call->arena, "call", 0);
        grpc_reader_init(&call->reader, c->options.max_receive_bytes);
        completion_init(&call->done, "gRPC call");
        call->method = arena_copy(&call->arena, method);
        call->request = bytes_ref(request);
        call->deadline = options->deadline;
        call->turn = (struct http_turn) { .on_connection = on_connection,
                                          .on_failed = on_failed,
                                          .fails_fast = options->fails_fast };
        for (size_t i = 0; options->metadata && i < options->metadata->n; i++)
                http_fields_add(&call->metadata, &call->arena, options->metadata->p[i].name,
                                options->metadata->p[i].value);
        return call;
}

static int rpc_error(struct grpc_reply *ret, enum grpc_status status, struct str message, struct arena *a,
                     struct err *err)
{
        static const int codes[_GRPC_STATUS_COUNT] = {
                [GRPC_CANCELLED] = ERR_CANCELED,        [GRPC_INVALID_ARGUMENT] = ERR_INVALID,
                [GRPC_DEADLINE_EXCEEDED] = ERR_TIMEOUT, [GRPC_NOT_FOUND] = ERR_NOT_FOUND,
                [GRPC_ALREADY_EXISTS] = ERR_EXISTS,     [GRPC_PERMISSION_DENIED] = ERR_FORBIDDEN,
                [GRPC_RESOURCE_EXHAUSTED] = ERR_LIMIT,  [GRPC_ABORTED] = ERR_CONFLICT,
                [GRPC_UNIMPLEMENTED] = ERR_UNSUPPORTED, [GRPC_UNAVAILABLE] = ERR_CLOSED,
        };

        ret->status = status;
        ret->message = arena_copy(a, message);
        return err_set(err, codes[status] ? codes[status] : ERR_FAILED, "rpc error: code = %s desc = %.*s",
                       grpc_status_name(status), STR_ARG(message));
}

/* The result for a call whose caller's deadline has passed or whose caller cancelled it. */
static int own_error(int why, const struct err *detail, struct grpc_reply *ret, struct arena *a, struct err *err)
{
        struct str text = why == ERR_TIMEOUT ? STR("context deadline exceeded") : STR("context canceled");

        if (detail && detail->code)
                text = arena_printf(a, "%.*s: %s", STR_ARG(text), err_message(detail));
        return rpc_error(ret, why == ERR_TIMEOUT ? GRPC_DEADLINE_EXCEEDED : GRPC_CANCELLED, text, a, err);
}

/* Gives up the call; the loop releases the exchange later. */
static int give_up(struct grpc_call *call, int why, struct grpc_reply *ret, struct arena *a, struct err *err)
{
        struct abort abort = { .call = call };
        int r;

        loop_call(http_pool_loop(call->channel->pool), abort_call, &abort);
        r = own_error(why, &abort.why, ret, a, err);
        err_done(&abort.why);
        return r;
}

static void copy_answer(const struct http_fields *from, struct http_fields *to, struct arena *a)
{
        for (size_t i = 0; i < from->n; i++)
                http_fields_add(to, a, from->p[i].name, from->p[i].value);
}

int grpc_call(struct grpc_channel *c, struct str method, struct bytes *request, const struct grpc_call_options *options,
              struct arena *a, struct grpc_reply *ret, struct err *err)
{
        struct grpc_call *call;
        int r;

        *ret = (struct grpc_reply) { 0 };
        if (request->str.n > c->options.max_send_bytes)
                return rpc_error(ret, GRPC_RESOURCE_EXHAUSTED,
                                 arena_printf(a, "trying to send message larger than max (%zu vs. %zu)%s%s",
                                              request->str.n, c->options.max_send_bytes,
                                              c->options.limit_flag ? "; raise it with " : "",
                                              c->options.limit_flag ? c->options.limit_flag : ""),
                                 a, err);
        if (cancel_is_triggered(options->cancel))
                return own_error(ERR_CANCELED, NULL, ret, a, err);
        if (deadline_has_passed(options->deadline))
                return own_error(ERR_TIMEOUT, NULL, ret, a, err);
        call = new_call(c, method, request, options);
        loop_post(http_pool_loop(c->pool), &call->start);
        r = completion_wait(&call->done, options->deadline, options->cancel);
        if (r < 0) {
                r = give_up(call, r, ret, a, err);
                call_unref(call);
                return r;
        }
        copy_answer(&call->head, &ret->metadata, a);
        copy_answer(&call->trailers, &ret->trailers, a);
        if (call->status == GRPC_OK) {
                ret->status = GRPC_OK;
                ret->response = TAKE(call->response);
        } else {
                r = rpc_error(ret, call->status, call->message, a, err);
        }
        call_unref(call);
        return r;
}
