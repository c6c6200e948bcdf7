/* A channel lives on the shared client loop: its addresses, connections and waiting calls are touched by that thread only. A
 * caller posts its call there and waits for the completion; the call is counted, so that a caller that gives up can go
 * while the loop is still taking the call apart.
 *
 * Each address has one connection and is idle, connecting, ready or backing off. Calls go round the ready ones; without
 * any they wait in line, first come first served, until one is ready or their deadline passes. */
#include "grpc-client.h"

#include "arena.h"
#include "buf.h"
#include "bytes.h"
#include "clock.h"
#include "connection.h"
#include "limits.h"
#include "loop.h"
#include "random.h"
#include "stream.h"
#include "timetext.h"
#include "tls.h"
#include "vec.h"

#include <netdb.h>
#include <stdatomic.h>

#define REFUSED_RETRIES 5   /* of a stream that the server refused without looking at it */
#define RESOLVE_SOON_MS 500 /* between two resolutions after a loss */

enum scheme { SCHEME_DNS, SCHEME_FIXED };

enum subchannel_state {
        SUBCHANNEL_IDLE,
        SUBCHANNEL_CONNECTING,
        SUBCHANNEL_READY,
        SUBCHANNEL_BACKING_OFF,
};

struct subchannel {
        struct subchannel *next;
        struct grpc_channel *channel;
        struct address address;
        enum subchannel_state state;
        struct stream *stream;        /* while connecting */
        struct http_connection *http; /* from the TLS handshake on; ready with the peer's first settings */
        uv_timer_t timer;             /* backing off, or waiting for the settings */
        int64_t ready_ns;
        unsigned n_failures;               /* in a row */
        VEC(struct http_connection *) old; /* that drain: a GOAWAY came, calls on them go on */
        bool is_removed;                   /* no longer among the addresses; freed when nothing of it is left */
        bool is_timer_closed;
};

struct call {
        _Atomic unsigned references;  /* the caller's and the loop's */
        struct grpc_channel *channel; /* alive as long as the caller waits; the loop's calls keep it alive too */
        struct loop_task start;
        struct str method;
        struct bytes *request;
        struct http_fields metadata;
        struct arena arena;
        struct deadline deadline;
        bool fails_fast;
        struct completion done;

        /* The loop's, until the completion. */
        struct call *next, *prev; /* in the channel's line of waiting calls */
        bool is_waiting;
        struct exchange *ex;
        struct subchannel *subchannel;  /* that ex is on */
        const struct subchannel *avoid; /* where it has been lost before */
        struct grpc_reader reader;
        unsigned n_refused;
        bool was_retried;
        bool is_aborted;
        bool is_done;

        /* The answer. */
        enum grpc_status status;
        struct str message;
        struct bytes *response;
        struct http_fields head, trailers;
};

struct grpc_channel {
        _Atomic unsigned references;
        struct grpc_channel_options options;
        struct arena arena;
        struct str target;
        enum scheme scheme;
        const char *host;
        const char *port;
        struct str authority;
        const char *server_name;
        VEC(struct address) fixed; /* addresses that need no resolving */
        struct loop *loop;
        struct completion closed;

        /* Loop thread only. */
        struct subchannel *subchannels;
        size_t n_subchannels; /* not removed */
        struct call *first_waiting, *last_waiting;
        size_t n_calls;
        size_t next; /* round robin */
        uv_getaddrinfo_t resolving;
        uv_timer_t resolve_timer;
        int64_t resolved_ns; /* when the last resolution ended; 0: never */
        bool is_resolving;
        bool is_resolve_planned;
        bool is_closing;
        bool is_timer_closed;
        bool is_closed;        /* the closing thread was told; nothing may touch the channel any more */
        struct err last_error; /* why nothing is ready */
        struct random random;
};

static void pump_waiting(struct grpc_channel *c);
static void resolve(struct grpc_channel *c);
static void resolve_soon(struct grpc_channel *c);
static void finish_close(struct grpc_channel *c);
static void fail_hasty_calls(struct grpc_channel *c);

/* Calls */

static void call_unref(struct call *call)
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

static void leave_line(struct call *call)
{
        struct grpc_channel *c = call->channel;

        if (!call->is_waiting)
                return;
        call->is_waiting = false;
        if (call->prev)
                call->prev->next = call->next;
        else
                c->first_waiting = call->next;
        if (call->next)
                call->next->prev = call->prev;
        else
                c->last_waiting = call->prev;
        call->next = call->prev = NULL;
}

static void join_line(struct call *call)
{
        struct grpc_channel *c = call->channel;

        call->is_waiting = true;
        call->prev = c->last_waiting;
        if (call->prev)
                call->prev->next = call;
        else
                c->first_waiting = call;
        c->last_waiting = call;
}

/* The loop is done with the call: the answer is in it. */
static void complete(struct call *call, enum grpc_status status, struct str message)
{
        struct grpc_channel *c = call->channel;

        assert(!call->ex && !call->is_done);
        leave_line(call);
        call->is_done = true;
        call->status = status;
        call->message = arena_copy(&call->arena, message);
        c->n_calls--;
        completion_complete(&call->done);
        call_unref(call);
        finish_close(c);
}

static void wait_in_line(struct call *call)
{
        struct grpc_channel *c = call->channel;

        join_line(call);
        pump_waiting(c);
        fail_hasty_calls(c);
}

/* The answer */

static void read_status(struct call *call, const struct http_fields *fields, enum grpc_status *ret,
                        struct str *ret_message)
{
        struct str status = http_fields_get(fields, STR("grpc-status"));
        struct str message = http_fields_get(fields, STR("grpc-message"));
        _cleanup_buf_ struct buf decoded = BUF_INIT(0);
        unsigned number = 0;

        for (size_t i = 0; i < status.n; i++) {
                if (status.p[i] < '0' || status.p[i] > '9' || number > _GRPC_STATUS_COUNT) {
                        number = GRPC_UNKNOWN;
                        break;
                }
                number = number * 10 + (unsigned)(status.p[i] - '0');
        }
        *ret = number < _GRPC_STATUS_COUNT ? (enum grpc_status)number : GRPC_UNKNOWN;
        grpc_append_decoded_message(&decoded, message);
        *ret_message = arena_copy(&call->arena, buf_str(&decoded));
}

static void copy_fields(struct call *call, const struct http_fields *from, struct http_fields *to)
{
        for (size_t i = 0; i < from->n; i++)
                http_fields_add(to, &call->arena, from->p[i].name, from->p[i].value);
}

static void take_message(struct call *call)
{
        struct str encoding = http_fields_get(&call->head, STR("grpc-encoding"));
        _cleanup_err_ struct err err = { 0 };
        int r;

        r = grpc_reader_finish(&call->reader, encoding, &call->response, &err);
        if (r >= 0)
                return;
        call->status = err.code == ERR_LIMIT ? GRPC_RESOURCE_EXHAUSTED : GRPC_INTERNAL;
        call->message = arena_printf(&call->arena, "grpc: %s", err_message(&err));
}

/* Turns what the exchange brought into the call's status. */
static void judge(struct call *call, struct exchange *ex)
{
        const struct http_fields *fields = &ex->trailers;

        copy_fields(call, &ex->response.fields, &call->head);
        copy_fields(call, &ex->trailers, &call->trailers);
        if (!http_fields_get(fields, STR("grpc-status")).p)
                fields = &ex->response.fields; /* Trailers-Only */
        if (http_fields_get(fields, STR("grpc-status")).p) {
                read_status(call, fields, &call->status, &call->message);
                if (call->status == GRPC_OK)
                        take_message(call);
        } else if (ex->response.status != 200) {
                call->status = grpc_status_of_http(ex->response.status);
                call->message = arena_printf(&call->arena, "unexpected HTTP status code received from server: %d",
                                             ex->response.status);
        } else {
                call->status = GRPC_INTERNAL;
                call->message = STR("server closed the stream without sending trailers");
        }
}

static void on_head(struct exchange *ex)
{
        (void)ex; /* it is read when all is there */
}

static void on_body(struct exchange *ex, struct str data)
{
        struct call *call = ex->owner;
        _cleanup_err_ struct err err = { 0 };

        exchange_consume(ex, data.n);
        if (call->is_aborted || ex->response.status != 200)
                return;
        if (grpc_reader_add(&call->reader, data, &err) >= 0)
                return;
        call->is_aborted = true;
        call->status = err.code == ERR_LIMIT ? GRPC_RESOURCE_EXHAUSTED : GRPC_INTERNAL;
        call->message = arena_printf(&call->arena, "grpc: %s", err_message(&err));
        exchange_reset(ex, HTTP_RESET_CANCEL);
}

static void on_end(struct exchange *ex)
{
        struct call *call = ex->owner;

        if (!call->is_aborted)
                judge(call, ex);
}

/* Whether a lost call may begin again. */
static bool may_retry(struct call *call, const struct exchange *ex)
{
        if (call->is_aborted || deadline_has_passed(call->deadline) || call->channel->is_closing)
                return false;
        if (ex->peer_reset == HTTP_RESET_REFUSED)
                return call->n_refused++ < REFUSED_RETRIES;
        if (ex->peer_reset != HTTP_RESET_NONE || ex->response.status != 0 || call->was_retried)
                return false;
        call->was_retried = true;
        return true;
}

static enum grpc_status status_of_reset(enum http_reset why)
{
        switch (why) {
        case HTTP_RESET_REFUSED:
                return GRPC_UNAVAILABLE;
        case HTTP_RESET_CANCEL:
                return GRPC_CANCELLED;
        case HTTP_RESET_ENHANCE_YOUR_CALM:
                return GRPC_RESOURCE_EXHAUSTED;
        case HTTP_RESET_NONE:
                return GRPC_UNAVAILABLE; /* the connection was lost */
        case HTTP_RESET_PROTOCOL_ERROR:
        case HTTP_RESET_INTERNAL_ERROR:
                break;
        }
        return GRPC_INTERNAL;
}

static void on_closed(struct exchange *ex, const struct err *err)
{
        struct call *call = ex->owner;

        call->ex = NULL;
        call->avoid = call->subchannel;
        call->subchannel = NULL;
        if (ex->has_peer_ended || call->is_aborted) {
                complete(call, call->status, call->message);
                return;
        }
        if (may_retry(call, ex)) {
                grpc_reader_done(&call->reader);
                grpc_reader_init(&call->reader, call->channel->options.max_receive_bytes);
                wait_in_line(call);
                return;
        }
        complete(call, status_of_reset(ex->peer_reset), err ? str_from(err_message(err)) : STR("the call ended early"));
}

static const struct exchange_callbacks call_callbacks = {
        .on_head = on_head,
        .on_body = on_body,
        .on_end = on_end,
        .on_closed = on_closed,
};

static void add_call_fields(struct call *call, struct http_fields *fields, struct arena *a)
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

static void begin_on(struct call *call, struct subchannel *sub)
{
        struct grpc_channel *c = call->channel;
        _cleanup_arena_ struct arena scratch;
        _cleanup_buf_ struct buf prefix = BUF_INIT(0);
        struct http_head head = {
                .method = STR("POST"),
                .scheme = c->options.tls ? STR("https") : STR("http"),
                .authority = c->authority,
                .path = call->method,
        };

        arena_init(&scratch, "call head", 0);
        add_call_fields(call, &head.fields, &scratch);
        call->subchannel = sub;
        call->ex = http_connection_request(sub->http, &head, true, &call_callbacks, call);
        grpc_append_prefix(&prefix, call->request->str.n);
        exchange_send(call->ex, bytes_take(&prefix));
        exchange_send(call->ex, bytes_ref(call->request));
        exchange_finish(call->ex, NULL);
}

struct abort {
        struct call *call;
        struct err why; /* why there is no connection, if that is what the call waited for */
};

static void abort_call(void *arg)
{
        struct abort *abort = arg;
        struct call *call = abort->call;

        if (call->is_done)
                return;
        call->is_aborted = true;
        if (call->ex) {
                exchange_reset(call->ex, HTTP_RESET_CANCEL);
                return;
        }
        if (call->channel->last_error.code)
                err_set(&abort->why, ERR_CLOSED, "%s", err_message(&call->channel->last_error));
        complete(call, GRPC_CANCELLED, STR("the caller gave up"));
}

static void on_start(struct loop_task *t)
{
        struct call *call = CONTAINER_OF(t, struct call, start);

        call->channel->n_calls++;
        wait_in_line(call);
}

/* Connections */

static void free_subchannel_if_done(struct subchannel *sub)
{
        struct grpc_channel *c = sub->channel;
        struct subchannel **at = &c->subchannels;

        if (!sub->is_removed || sub->stream || sub->http || sub->old.n > 0 || !sub->is_timer_closed)
                return;
        while (*at != sub)
                at = &(*at)->next;
        *at = sub->next;
        for (struct call *call = c->first_waiting; call; call = call->next)
                if (call->avoid == sub)
                        call->avoid = NULL;
        vec_done(&sub->old);
        free(sub);
        finish_close(c); /* last: the channel may be gone afterwards */
}

static void on_subchannel_timer_closed(uv_handle_t *t)
{
        struct subchannel *sub = t->data;

        sub->is_timer_closed = true;
        free_subchannel_if_done(sub);
}

static void connect_now(struct subchannel *sub);

static void on_backoff_over(uv_timer_t *t)
{
        struct subchannel *sub = t->data;

        sub->state = SUBCHANNEL_IDLE;
        if (sub->channel->first_waiting)
                connect_now(sub);
}

static void back_off(struct subchannel *sub)
{
        struct grpc_channel *c = sub->channel;
        double pause_ms = (double)c->options.backoff_ms;

        for (unsigned i = 0; i < sub->n_failures && pause_ms < (double)c->options.max_backoff_ms; i++)
                pause_ms *= 1.6;
        pause_ms = MIN(pause_ms, (double)c->options.max_backoff_ms);
        pause_ms *= 0.8 + 0.4 * random_double(&c->random);
        sub->n_failures++;
        sub->state = SUBCHANNEL_BACKING_OFF;
        if (!sub->is_removed)
                uv_timer_start(&sub->timer, on_backoff_over, (uint64_t)pause_ms, 0);
}

static void note_error(struct grpc_channel *c, const struct address *a, const struct err *err)
{
        _cleanup_buf_ struct buf where = BUF_INIT(0);

        address_append(&where, a);
        err_set(&c->last_error, ERR_FAILED, "connection error: %s: %s", buf_cstring(&where), err_message(err));
}

/* Those that do not want to wait are told as soon as nothing is on its way any more. */
static void fail_hasty_calls(struct grpc_channel *c)
{
        if (!c->last_error.code || c->is_resolving || c->is_closing)
                return;
        for (const struct subchannel *sub = c->subchannels; sub; sub = sub->next)
                if (!sub->is_removed && sub->state != SUBCHANNEL_BACKING_OFF)
                        return;
        for (struct call *call = c->first_waiting, *next; call; call = next) {
                next = call->next;
                if (call->fails_fast)
                        complete(call, GRPC_UNAVAILABLE, str_from(err_message(&c->last_error)));
        }
}

static void lost(struct subchannel *sub, const struct err *err)
{
        struct grpc_channel *c = sub->channel;

        if (err)
                note_error(c, &sub->address, err);
        if (c->is_closing || sub->is_removed) {
                free_subchannel_if_done(sub);
                return;
        }
        resolve_soon(c);
        pump_waiting(c);
        fail_hasty_calls(c);
}

/* A connection that worked is replaced at once; one that broke before it could, or soon after, is not tried again and again. */
static void rest_or_retry(struct subchannel *sub)
{
        int64_t enough_ns = sub->channel->options.backoff_ms * NS_PER_MS;

        if (sub->is_removed)
                return;
        uv_timer_stop(&sub->timer);
        if (sub->state != SUBCHANNEL_READY || clock_mono_ns() - sub->ready_ns < enough_ns) {
                back_off(sub);
                return;
        }
        sub->n_failures = 0;
        sub->state = SUBCHANNEL_IDLE;
}

static void on_connection_drain(struct http_connection *http)
{
        struct subchannel *sub = http_connection_owner(http);

        if (sub->http != http)
                return;
        /* It takes no more calls; what is on it ends by itself, and a new connection takes its place. */
        sub->http = NULL;
        vec_push(&sub->old, http);
        rest_or_retry(sub);
        if (!sub->channel->is_closing && !sub->is_removed) {
                resolve_soon(sub->channel);
                pump_waiting(sub->channel);
        }
}

static void on_connection_slot(struct http_connection *http)
{
        struct subchannel *sub = http_connection_owner(http);

        if (sub->http == http && sub->state == SUBCHANNEL_CONNECTING) {
                uv_timer_stop(&sub->timer);
                sub->state = SUBCHANNEL_READY;
                sub->ready_ns = clock_mono_ns();
                err_done(&sub->channel->last_error);
        }
        pump_waiting(sub->channel);
}

static void on_connection_closed(struct http_connection *http, const struct err *err)
{
        struct subchannel *sub = http_connection_owner(http);

        if (sub->http != http) {
                for (size_t i = 0; i < sub->old.n; i++) {
                        if (sub->old.p[i] == http) {
                                vec_remove(&sub->old, i);
                                break;
                        }
                }
                free_subchannel_if_done(sub);
                return;
        }
        sub->http = NULL;
        rest_or_retry(sub);
        lost(sub, err);
}

static const struct http_connection_callbacks connection_callbacks = {
        .on_drain = on_connection_drain,
        .on_slot = on_connection_slot,
        .on_closed = on_connection_closed,
};

static void on_no_settings(uv_timer_t *t)
{
        struct subchannel *sub = t->data;
        _cleanup_err_ struct err err = { 0 };

        err_set(&err, ERR_TIMEOUT, "no HTTP/2 settings within %lld ms", (long long)sub->channel->options.connect_ms);
        http_connection_close(sub->http, &err);
}

static void on_stream_open(struct stream *s)
{
        struct subchannel *sub = stream_owner(s);
        struct grpc_channel *c = sub->channel;
        struct http_connection_options options = {
                .max_exchanges = 0,
                .max_head_bytes = LIMIT_HEAD_BYTES,
                .window_bytes = LIMIT_WINDOW_BYTES,
                .stall_ms = c->options.keepalive_ms,
                .keepalive_ms = c->options.keepalive_ms,
        };

        sub->stream = NULL;
        sub->http = h2_connection_new(s, &options, &connection_callbacks, sub);
        uv_timer_start(&sub->timer, on_no_settings, (uint64_t)c->options.connect_ms, 0);
}

static void on_stream_data(struct stream *s, struct str data)
{
        (void)s, (void)data; /* the connection takes over before anything can come */
}

static void on_stream_end(struct stream *s)
{
        stream_close(s, NULL);
}

static void on_stream_closed(struct stream *s, const struct err *err)
{
        struct subchannel *sub = stream_owner(s);

        sub->stream = NULL;
        back_off(sub);
        lost(sub, err);
}

static const struct stream_callbacks stream_callbacks = {
        .on_open = on_stream_open,
        .on_data = on_stream_data,
        .on_end = on_stream_end,
        .on_closed = on_stream_closed,
};

static void connect_now(struct subchannel *sub)
{
        struct grpc_channel *c = sub->channel;

        assert(sub->state == SUBCHANNEL_IDLE && !sub->stream && !sub->http);
        sub->state = SUBCHANNEL_CONNECTING;
        sub->stream = stream_connect(c->loop, &sub->address, c->options.tls, c->server_name, c->options.connect_ms,
                                     &stream_callbacks, sub);
}

/* Choosing */

static bool is_usable(const struct subchannel *sub)
{
        return !sub->is_removed && sub->state == SUBCHANNEL_READY && http_connection_has_slot(sub->http);
}

/* The next ready address in turn, not the one to avoid unless there is no other. */
static struct subchannel *choose(struct grpc_channel *c, const struct subchannel *avoid)
{
        struct subchannel *best = NULL, *first = NULL;
        size_t position = 0, best_distance = SIZE_MAX, first_distance = SIZE_MAX;

        for (struct subchannel *sub = c->subchannels; sub; sub = sub->next, position++) {
                size_t distance = position >= c->next ? position - c->next : position + SIZE_MAX / 2 - c->next;

                if (!is_usable(sub))
                        continue;
                if (distance < first_distance) {
                        first_distance = distance;
                        first = sub;
                }
                if (sub != avoid && distance < best_distance) {
                        best_distance = distance;
                        best = sub;
                }
        }
        best = best ? best : first;
        if (best) {
                position = 0;
                for (struct subchannel *sub = c->subchannels; sub != best; sub = sub->next)
                        position++;
                c->next = position + 1;
        }
        return best;
}

static void wake_idle(struct grpc_channel *c)
{
        for (struct subchannel *sub = c->subchannels; sub; sub = sub->next)
                if (!sub->is_removed && sub->state == SUBCHANNEL_IDLE)
                        connect_now(sub);
}

/* Gives waiting calls to connections that take them; sees to it that some will. */
static void pump_waiting(struct grpc_channel *c)
{
        struct call *call;

        if (c->is_closing)
                return;
        if ((c->n_subchannels == 0 && !c->is_resolve_planned) ||
            clock_mono_ns() - c->resolved_ns > c->options.resolve_ms * NS_PER_MS)
                resolve(c);
        if (c->first_waiting || c->n_calls > 0)
                wake_idle(c);
        while ((call = c->first_waiting)) {
                struct subchannel *sub = choose(c, call->avoid);

                if (!sub)
                        return;
                leave_line(call);
                begin_on(call, sub);
        }
}

/* Names */

static bool has_subchannel(const struct grpc_channel *c, const struct address *a)
{
        for (const struct subchannel *sub = c->subchannels; sub; sub = sub->next)
                if (!sub->is_removed && address_equal(&sub->address, a))
                        return true;
        return false;
}

static void add_subchannel(struct grpc_channel *c, const struct address *a)
{
        struct subchannel *sub, **last = &c->subchannels;

        if (has_subchannel(c, a))
                return;
        sub = xcalloc(1, sizeof(*sub));
        sub->channel = c;
        sub->address = *a;
        uv_timer_init(loop_uv(c->loop), &sub->timer);
        sub->timer.data = sub;
        while (*last)
                last = &(*last)->next;
        *last = sub;
        c->n_subchannels++;
}

static void remove_subchannel(struct subchannel *sub)
{
        sub->is_removed = true;
        sub->channel->n_subchannels--;
        uv_close((uv_handle_t *)&sub->timer, on_subchannel_timer_closed);
        if (sub->stream)
                stream_close(sub->stream, NULL);
        if (sub->http && !sub->channel->is_closing) {
                http_connection_drain(sub->http);
                return;
        }
        /* Nobody waits for anything any more. */
        if (sub->http)
                http_connection_close(sub->http, NULL);
        for (size_t i = 0; i < sub->old.n; i++)
                http_connection_close(sub->old.p[i], NULL);
}

static bool is_listed(const struct addrinfo *list, const struct address *a)
{
        for (; list; list = list->ai_next) {
                struct address listed = { 0 };

                memcpy(&listed.ip6, list->ai_addr, MIN((size_t)list->ai_addrlen, sizeof(listed.ip6)));
                if (address_equal(&listed, a))
                        return true;
        }
        return false;
}

static void take_addresses(struct grpc_channel *c, const struct addrinfo *list)
{
        for (struct subchannel *sub = c->subchannels, *next; sub; sub = next) {
                next = sub->next;
                if (!sub->is_removed && !is_listed(list, &sub->address))
                        remove_subchannel(sub);
        }
        for (const struct addrinfo *i = list; i; i = i->ai_next) {
                struct address a = { 0 };

                if (i->ai_family != AF_INET && i->ai_family != AF_INET6)
                        continue;
                memcpy(&a.ip6, i->ai_addr, MIN((size_t)i->ai_addrlen, sizeof(a.ip6)));
                add_subchannel(c, &a);
        }
}

static void on_resolved(uv_getaddrinfo_t *request, int status, struct addrinfo *list)
{
        struct grpc_channel *c = request->data;

        c->is_resolving = false;
        c->resolved_ns = clock_mono_ns();
        if (status == UV_ECANCELED || c->is_closing) {
                uv_freeaddrinfo(list);
                finish_close(c);
                return;
        }
        if (status < 0) {
                net_error(&c->last_error, status, "name resolver error: cannot resolve %s", c->host);
                fail_hasty_calls(c);
                resolve_soon(c);
                return;
        }
        take_addresses(c, list);
        uv_freeaddrinfo(list);
        pump_waiting(c);
}

static void resolve(struct grpc_channel *c)
{
        struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_family = AF_UNSPEC };
        int r;

        if (c->is_resolving || c->is_closing)
                return;
        c->resolved_ns = clock_mono_ns();
        if (c->scheme == SCHEME_FIXED) {
                for (size_t i = 0; i < c->fixed.n; i++)
                        add_subchannel(c, &c->fixed.p[i]);
                return;
        }
        c->resolving.data = c;
        r = uv_getaddrinfo(loop_uv(c->loop), &c->resolving, on_resolved, c->host, c->port, &hints);
        if (r < 0)
                net_error(&c->last_error, r, "name resolver error: cannot resolve %s", c->host);
        else
                c->is_resolving = true;
}

static void on_resolve_timer(uv_timer_t *t)
{
        struct grpc_channel *c = t->data;

        c->is_resolve_planned = false;
        resolve(c);
        pump_waiting(c);
}

static void resolve_soon(struct grpc_channel *c)
{
        if (c->is_resolve_planned || c->is_closing || c->scheme == SCHEME_FIXED)
                return;
        c->is_resolve_planned = true;
        uv_timer_start(&c->resolve_timer, on_resolve_timer, RESOLVE_SOON_MS, 0);
}

/* Targets */

static int take_host(struct grpc_channel *c, struct str text, struct err *err)
{
        struct str host;
        uint16_t port;
        int r;

        r = address_split(text, &host, &port, err);
        if (r < 0)
                return r;
        if (host.n == 0)
                return err_set(err, ERR_INVALID, "missing host in target %.*s", STR_ARG(c->target));
        c->scheme = SCHEME_DNS;
        c->host = arena_cstring(&c->arena, host);
        c->port = arena_printf(&c->arena, "%u", port ? port : 443).p;
        c->authority = arena_copy(&c->arena, text);
        c->server_name = c->host;
        return 0;
}

static int take_unix(struct grpc_channel *c, struct str name, bool is_abstract, struct err *err)
{
        struct address address;
        int r;

        c->scheme = SCHEME_FIXED;
        c->authority = STR("localhost");
        c->server_name = "localhost";
        /* unix:///@name is another way to write an abstract name. */
        if (!is_abstract && (str_starts_with(name, STR("@")) || str_starts_with(name, STR("/@")))) {
                is_abstract = true;
                name = str_skip(name, name.p[0] == '/' ? 2 : 1);
        }
        r = address_from_unix(name, is_abstract, &address, err);
        if (r >= 0)
                vec_push(&c->fixed, address);
        return r;
}

/* `ipv4:127.0.0.1:50051,127.0.0.2:50051` and the same with ipv6. */
static int take_list(struct grpc_channel *c, struct str list, struct err *err)
{
        bool is_more = true;

        c->scheme = SCHEME_FIXED;
        while (is_more) {
                struct str item, host;
                struct address address;
                uint16_t port;
                int r;

                is_more = str_split(&list, ',', &item);
                r = address_split(item, &host, &port, err);
                if (r >= 0)
                        r = address_from_ip(host, port ? port : 443, &address, err);
                if (r < 0)
                        return r;
                if (!c->server_name) {
                        c->authority = arena_copy(&c->arena, item);
                        c->server_name = arena_cstring(&c->arena, host);
                }
                vec_push(&c->fixed, address);
        }
        return 0;
}

static int take_target(struct grpc_channel *c, struct err *err)
{
        struct str rest = c->target;

        if (str_cut_prefix(&rest, STR("unix-abstract:")))
                return take_unix(c, rest, true, err);
        if (str_cut_prefix(&rest, STR("unix://")) || str_cut_prefix(&rest, STR("unix:")))
                return take_unix(c, rest, false, err);
        if (str_cut_prefix(&rest, STR("ipv4:")) || str_cut_prefix(&rest, STR("ipv6:")))
                return take_list(c, rest, err);
        if (str_cut_prefix(&rest, STR("passthrough:///")) || str_cut_prefix(&rest, STR("dns:///")) ||
            str_cut_prefix(&rest, STR("dns:")) || str_cut_prefix(&rest, STR("passthrough:")))
                return take_host(c, rest, err);
        if (str_find(rest, STR("://")) >= 0)
                return err_set(
                        err, ERR_INVALID,
                        "unknown scheme in target %.*s; known are dns, ipv4, ipv6, unix, unix-abstract and passthrough",
                        STR_ARG(c->target));
        return take_host(c, rest, err);
}

static void set_defaults(struct grpc_channel_options *o)
{
        o->max_receive_bytes = o->max_receive_bytes ? o->max_receive_bytes : LIMIT_MESSAGE_BYTES;
        o->max_send_bytes = o->max_send_bytes ? o->max_send_bytes : LIMIT_MESSAGE_BYTES;
        o->connect_ms = o->connect_ms ? o->connect_ms : 20000;
        o->backoff_ms = o->backoff_ms ? o->backoff_ms : 1000;
        o->max_backoff_ms = o->max_backoff_ms ? o->max_backoff_ms : 120000;
        o->keepalive_ms = o->keepalive_ms ? o->keepalive_ms : 30000;
        o->resolve_ms = o->resolve_ms ? o->resolve_ms : 30000;
}

/* Life */

static void start_channel(void *arg)
{
        struct grpc_channel *c = arg;

        uv_timer_init(loop_uv(c->loop), &c->resolve_timer);
        c->resolve_timer.data = c;
}

static void free_channel(struct grpc_channel *c)
{
        tls_config_unref(c->options.tls);
        vec_done(&c->fixed);
        completion_done(&c->closed);
        err_done(&c->last_error);
        loop_shared_unref(c->loop);
        arena_done(&c->arena);
        free(c);
}

/* The host of the authority that the user gave. */
static int take_server_name(struct grpc_channel *c, struct err *err)
{
        struct str host;
        uint16_t port;
        int r;

        r = address_split(c->authority, &host, &port, err);
        if (r >= 0)
                c->server_name = arena_cstring(&c->arena, host);
        return r;
}

int grpc_channel_new(struct str target, const struct grpc_channel_options *options, struct grpc_channel **ret,
                     struct err *err)
{
        struct grpc_channel *c = xcalloc(1, sizeof(*c));
        int r;

        atomic_init(&c->references, 1);
        arena_init(&c->arena, "gRPC channel", 0);
        completion_init(&c->closed, "gRPC channel");
        if (options)
                c->options = *options;
        set_defaults(&c->options);
        if (c->options.tls)
                tls_config_ref(c->options.tls);
        random_seed(&c->random, random_system_u64());
        c->target = arena_copy(&c->arena, target);
        r = take_target(c, err);
        if (r >= 0 && c->options.authority) {
                c->authority = arena_copy(&c->arena, str_from(c->options.authority));
                r = take_server_name(c, err);
        }
        if (r >= 0)
                r = loop_shared_ref(&c->loop, err);
        if (r < 0) {
                free_channel(c);
                return r;
        }
        loop_call(c->loop, start_channel, c);
        *ret = c;
        return 0;
}

struct grpc_channel *grpc_channel_ref(struct grpc_channel *c)
{
        atomic_fetch_add_explicit(&c->references, 1, memory_order_relaxed);
        return c;
}

static void on_resolve_timer_closed(uv_handle_t *t)
{
        struct grpc_channel *c = t->data;

        c->is_timer_closed = true;
        finish_close(c);
}

static void begin_close(void *arg)
{
        struct grpc_channel *c = arg;

        c->is_closing = true;
        if (c->is_resolving)
                uv_cancel((uv_req_t *)&c->resolving);
        uv_close((uv_handle_t *)&c->resolve_timer, on_resolve_timer_closed);
        for (struct subchannel *sub = c->subchannels, *next; sub; sub = next) {
                next = sub->next;
                if (!sub->is_removed)
                        remove_subchannel(sub);
        }
}

/* Tells the closing thread when the loop holds nothing of the channel any more. */
static void finish_close(struct grpc_channel *c)
{
        if (!c->is_closed && c->is_closing && c->is_timer_closed && !c->is_resolving && !c->subchannels &&
            c->n_calls == 0) {
                c->is_closed = true;
                completion_complete(&c->closed);
        }
}

void grpc_channel_unref(struct grpc_channel *c)
{
        if (!c || atomic_fetch_sub_explicit(&c->references, 1, memory_order_acq_rel) != 1)
                return;
        loop_call(c->loop, begin_close, c);
        completion_wait(&c->closed, DEADLINE_NONE, NULL);
        free_channel(c);
}

/* The caller's side */

static struct call *new_call(struct grpc_channel *c, struct str method, struct bytes *request,
                             const struct grpc_call_options *options)
{
        struct call *call = xcalloc(1, sizeof(*call));

        atomic_init(&call->references, 2);
        call->channel = c;
        call->start.run = on_start;
        arena_init(&call->arena, "call", 0);
        grpc_reader_init(&call->reader, c->options.max_receive_bytes);
        completion_init(&call->done, "gRPC call");
        call->method = arena_copy(&call->arena, method);
        call->request = bytes_ref(request);
        call->deadline = options->deadline;
        call->fails_fast = options->fails_fast;
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

/* Gives the call up; the loop lets go of its exchange in its own time. */
static int give_up(struct call *call, int why, struct grpc_reply *ret, struct arena *a, struct err *err)
{
        struct abort abort = { .call = call };
        struct str text = why == ERR_TIMEOUT ? STR("context deadline exceeded") : STR("context canceled");

        loop_call(call->channel->loop, abort_call, &abort);
        if (abort.why.code)
                text = arena_printf(a, "%.*s: %s", STR_ARG(text), err_message(&abort.why));
        err_done(&abort.why);
        return rpc_error(ret, why == ERR_TIMEOUT ? GRPC_DEADLINE_EXCEEDED : GRPC_CANCELLED, text, a, err);
}

static void copy_answer(const struct http_fields *from, struct http_fields *to, struct arena *a)
{
        for (size_t i = 0; i < from->n; i++)
                http_fields_add(to, a, from->p[i].name, from->p[i].value);
}

int grpc_call(struct grpc_channel *c, struct str method, struct bytes *request, const struct grpc_call_options *options,
              struct arena *a, struct grpc_reply *ret, struct err *err)
{
        struct call *call;
        int r;

        *ret = (struct grpc_reply) { 0 };
        if (request->str.n > c->options.max_send_bytes)
                return rpc_error(ret, GRPC_RESOURCE_EXHAUSTED,
                                 arena_printf(a, "trying to send message larger than max (%zu vs. %zu)", request->str.n,
                                              c->options.max_send_bytes),
                                 a, err);
        call = new_call(c, method, request, options);
        loop_post(c->loop, &call->start);
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

struct stats_call {
        struct grpc_channel *channel;
        struct grpc_channel_stats stats;
};

static void collect_stats(void *arg)
{
        struct stats_call *s = arg;

        s->stats.n_addresses = s->channel->n_subchannels;
        s->stats.n_calls = s->channel->n_calls;
        for (const struct subchannel *sub = s->channel->subchannels; sub; sub = sub->next)
                s->stats.n_ready += !sub->is_removed && sub->state == SUBCHANNEL_READY;
}

struct grpc_channel_stats grpc_channel_stats(struct grpc_channel *c)
{
        struct stats_call s = { .channel = c };

        loop_call(c->loop, collect_stats, &s);
        return s.stats;
}
