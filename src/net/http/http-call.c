#include "http-call.h"

#include "clock.h"

#include <stdatomic.h>

#define REFUSED_RETRIES 5 /* of a request that the server certainly did not process */

static struct http_call *call_ref(struct http_call *call)
{
        atomic_fetch_add_explicit(&call->references, 1, memory_order_relaxed);
        return call;
}

static void free_pieces(struct bytes *const *pieces, size_t n)
{
        for (size_t i = 0; i < n; i++)
                bytes_unref(pieces[i]);
}

void http_call_unref(struct http_call *call)
{
        if (atomic_fetch_sub_explicit(&call->references, 1, memory_order_acq_rel) != 1)
                return;
        free_pieces(call->out.p, call->out.n);
        free_pieces(call->in.p, call->in.n);
        free_pieces(call->taken.p, call->taken.n);
        vec_done(&call->out);
        vec_done(&call->in);
        vec_done(&call->taken);
        bytes_unref(call->body);
        err_done(&call->err);
        mutex_done(&call->mutex);
        arena_done(&call->arena);
        free(call);
}

/* With the mutex held. */
static void wake_caller(struct http_call *call)
{
        while (waiters_grant(&call->waiters))
                ;
}

static void fail(struct http_call *call, const struct err *err)
{
        mutex_lock(&call->mutex);
        err_set(&call->err, err ? err->code : ERR_CLOSED, "%s", err ? err_message(err) : "the exchange ended early");
        call->phase = CALL_FAILED;
        wake_caller(call);
        mutex_unlock(&call->mutex);
}

/* The loop does not use the call any more, nor its client. */
static void leave(struct http_call *call)
{
        assert(!call->ex && !call->is_over);
        call->is_over = true;
        http_pool_leave(call->client->pool, &call->turn);
        http_call_unref(call);
}

/* The request */

/* The next piece for the exchange, or NULL. *ret_is_last: nothing follows it. */
static struct bytes *next_piece(struct http_call *call, bool *ret_is_last)
{
        struct bytes *piece = NULL;

        mutex_lock(&call->mutex);
        *ret_is_last = false;
        if (call->may_send && call->body) {
                piece = bytes_ref(call->body);
                *ret_is_last = true;
        } else if (call->out.n > 0) {
                piece = call->out.p[0];
                vec_remove(&call->out, 0);
                call->out_bytes -= piece->str.n;
                call->has_sent = true;
        }
        if (!call->body && call->out.n == 0 && call->is_complete)
                *ret_is_last = true;
        call->is_sent = *ret_is_last;
        if (piece || *ret_is_last) {
                call->sent_ns = clock_mono_ns();
                wake_caller(call);
        }
        mutex_unlock(&call->mutex);
        return piece;
}

/* Sends as much of the body as there is room for; on_room continues. */
static void feed(struct http_call *call)
{
        bool is_last = false;

        call_ref(call); /* finishing the request may end the call */
        while (call->ex && !call->has_finished && exchange_has_room(call->ex)) {
                struct bytes *piece = next_piece(call, &is_last);

                if (piece)
                        exchange_send(call->ex, piece);
                else if (!is_last)
                        break;
                if (is_last) {
                        call->has_finished = true;
                        exchange_finish(call->ex, NULL);
                }
        }
        http_call_unref(call);
}

/* The response */

static void copy_fields(struct http_call *call, const struct http_fields *from, struct http_fields *to)
{
        for (size_t i = 0; i < from->n; i++)
                http_fields_add(to, &call->arena, from->p[i].name, from->p[i].value);
}

static void allow_body(struct http_call *call)
{
        mutex_lock(&call->mutex);
        call->may_send = true;
        wake_caller(call);
        mutex_unlock(&call->mutex);
        feed(call);
}

static void on_interim(struct exchange *ex)
{
        if (ex->response.status == 100)
                allow_body(ex->owner);
}

static void on_head(struct exchange *ex)
{
        struct http_call *call = ex->owner;

        mutex_lock(&call->mutex);
        call->response.status = ex->response.status;
        call->response.is_h2 = call->turn.is_h2;
        copy_fields(call, &ex->response.fields, &call->response.fields);
        call->phase = CALL_HEAD;
        wake_caller(call);
        mutex_unlock(&call->mutex);
        if (ex->response.status < 300 && call->expects_continue) /* an echo, for example, needs the body to continue */
                allow_body(call);
}

static void on_body(struct exchange *ex, struct str data)
{
        struct http_call *call = ex->owner;
        bool is_dropped;

        mutex_lock(&call->mutex);
        is_dropped = call->is_given_up;
        if (!is_dropped) {
                vec_push(&call->in, bytes_copy(data));
                wake_caller(call);
        }
        mutex_unlock(&call->mutex);
        if (is_dropped)
                exchange_consume(ex, data.n);
}

static void on_end(struct exchange *ex)
{
        struct http_call *call = ex->owner;

        mutex_lock(&call->mutex);
        copy_fields(call, &ex->trailers, &call->response.trailers);
        call->phase = CALL_ENDED;
        wake_caller(call);
        mutex_unlock(&call->mutex);
        if (!call->has_finished) /* the server does not need the rest of the request */
                exchange_reset(ex, HTTP_RESET_CANCEL);
}

static void on_room(struct exchange *ex)
{
        feed(ex->owner);
}

/* Whether the connection was lost: neither side broke a rule, and the server did not reset the exchange. */
static bool was_lost(const struct exchange *ex, const struct err *err)
{
        return ex->peer_reset == HTTP_RESET_NONE && !ex->was_reset && err &&
               (err->code == ERR_CLOSED || err->code == ERR_SYSTEM);
}

static bool may_retry(struct http_call *call, const struct exchange *ex, const struct err *err)
{
        bool is_given_up;

        mutex_lock(&call->mutex);
        is_given_up = call->is_given_up;
        mutex_unlock(&call->mutex);
        if (is_given_up || call->has_sent || ex->response.status != 0 || http_pool_is_closing(call->client->pool))
                return false;
        if (!ex->was_processed)
                return call->n_refused++ < REFUSED_RETRIES;
        if (!call->is_idempotent || !call->turn.is_reused || call->was_retried || !was_lost(ex, err))
                return false;
        call->was_retried = true;
        return true;
}

static void try_again(struct http_call *call)
{
        call->has_finished = !call->has_body;
        mutex_lock(&call->mutex);
        call->phase = CALL_IN_LINE;
        call->may_send = false;
        call->is_sent = !call->has_body;
        mutex_unlock(&call->mutex);
        call->turn.avoid = call->turn.place;
        http_pool_wait(call->client->pool, &call->turn);
}

static void on_closed(struct exchange *ex, const struct err *err)
{
        struct http_call *call = ex->owner;

        call->ex = NULL;
        if (!ex->has_peer_ended && may_retry(call, ex, err)) {
                try_again(call);
                return;
        }
        if (!ex->has_peer_ended)
                fail(call, err);
        leave(call);
}

static const struct exchange_callbacks call_callbacks = {
        .on_head = on_head,
        .on_interim = on_interim,
        .on_body = on_body,
        .on_end = on_end,
        .on_room = on_room,
        .on_closed = on_closed,
};

static void on_connection(struct http_turn *t, struct http_connection *http)
{
        struct http_call *call = CONTAINER_OF(t, struct http_call, turn);

        mutex_lock(&call->mutex);
        call->phase = CALL_OPEN;
        call->may_send = !call->expects_continue;
        call->sent_ns = clock_mono_ns();
        wake_caller(call);
        mutex_unlock(&call->mutex);
        call->ex = http_connection_request(http, &call->request, call->has_body, &call_callbacks, call);
        feed(call);
}

static void on_failed(struct http_turn *t, const struct err *err)
{
        struct http_call *call = CONTAINER_OF(t, struct http_call, turn);

        fail(call, err);
        leave(call);
}

/* The caller's wishes */

static void begin(struct http_call *call)
{
        call->has_started = true;
        call->has_finished = !call->has_body;
        call->turn.on_connection = on_connection;
        call->turn.on_failed = on_failed;
        http_pool_enter(call->client->pool, &call->turn);
        call_ref(call); /* until it leaves the pool */
        http_pool_wait(call->client->pool, &call->turn);
}

static void give_up(struct http_call *call)
{
        if (call->is_over)
                return;
        if (call->ex)
                exchange_reset(call->ex, HTTP_RESET_CANCEL); /* on_closed follows */
        else
                leave(call);
}

void http_call_work(struct loop_task *t)
{
        struct http_call *call = CONTAINER_OF(t, struct http_call, work);
        size_t consumed;
        bool is_given_up;

        mutex_lock(&call->mutex);
        call->is_posted = false;
        consumed = call->consumed_bytes;
        call->consumed_bytes = 0;
        is_given_up = call->is_given_up;
        mutex_unlock(&call->mutex);
        if (!call->has_started)
                begin(call);
        if (call->ex && consumed > 0)
                exchange_consume(call->ex, consumed);
        if (is_given_up)
                give_up(call);
        else
                feed(call);
        http_call_unref(call);
}

void http_call_post(struct http_call *call)
{
        if (call->is_posted)
                return;
        call->is_posted = true;
        loop_post(http_pool_loop(call->client->pool), &call_ref(call)->work);
}

struct abort {
        struct http_call *call;
        struct err *why;
};

static void abort_call(void *arg)
{
        struct abort *abort = arg;
        struct http_call *call = abort->call;

        mutex_lock(&call->mutex);
        call->is_given_up = true;
        mutex_unlock(&call->mutex);
        if (!call->is_over && !call->ex)
                http_pool_explain(call->client->pool, abort->why);
        give_up(call);
}

void http_call_give_up(struct http_call *call, struct err *ret_why)
{
        struct abort abort = { call, ret_why };

        loop_call(http_pool_loop(call->client->pool), abort_call, &abort);
}
