#include "grpc-health.h"

#include "buf.h"
#include "bytes.h"
#include "loop.h"
#include "proto.h"

/* HealthCheckResponse.ServingStatus */
enum serving { SERVING = 1, NOT_SERVING = 2, SERVICE_UNKNOWN = 3 };

/* One open Watch call. It lives on the loop of its exchange; the health posts it there when a state has changed. */
struct grpc_watcher {
        struct grpc_health *health;
        struct exchange *ex; /* NULL once the exchange is closed */
        struct loop *loop;
        struct loop_task changed;
        struct grpc_reader reader;
        struct str service; /* on the heap; p is NULL until the request is complete */
        enum serving told;  /* the last state that was sent; 0: none yet */
        bool is_over;       /* the answer is complete */

        /* Guarded by the health's mutex. */
        struct grpc_watcher *next, *prev;
        bool is_listed, is_posted;
};

void grpc_health_init(struct grpc_health *h)
{
        *h = (struct grpc_health) { 0 };
        mutex_init(&h->mutex);
        grpc_health_set(h, STR(""), true);
}

void grpc_health_done(struct grpc_health *h)
{
        for (struct map_entry *e = map_first(&h->services); e; e = map_next(&h->services, e))
                free((char *)e->key.p);
        map_done(&h->services);
        mutex_done(&h->mutex);
}

/* A map cannot hold NULL, so two distinct addresses stand for the two states. */
static char serving[1], not_serving[1];

/* With the mutex held. Wakes all watchers; each one checks whether its own service has changed. */
static void wake_watchers(struct grpc_health *h)
{
        for (struct grpc_watcher *w = h->watchers; w; w = w->next) {
                if (!w->is_posted)
                        loop_post(w->loop, &w->changed);
                w->is_posted = true;
        }
}

void grpc_health_set(struct grpc_health *h, struct str service, bool is_serving)
{
        mutex_lock(&h->mutex);
        if (!map_has(&h->services, service))
                service = str_make(str_to_cstring(service), service.n);
        map_set(&h->services, service, is_serving ? serving : not_serving);
        wake_watchers(h);
        mutex_unlock(&h->mutex);
}

void grpc_health_end(struct grpc_health *h)
{
        mutex_lock(&h->mutex);
        h->is_ending = true;
        for (struct map_entry *e = map_first(&h->services); e; e = map_next(&h->services, e))
                e->value = not_serving;
        wake_watchers(h);
        mutex_unlock(&h->mutex);
}

/* With the mutex held. */
static enum serving find_serving(const struct grpc_health *h, struct str service)
{
        const void *state = map_get(&h->services, service);

        return !state ? SERVICE_UNKNOWN : state == serving ? SERVING : NOT_SERVING;
}

/* HealthCheckRequest { string service = 1 } */
static int read_service(struct str message, struct str *ret, struct err *err)
{
        struct proto_raw_field field;
        int r;

        *ret = STR("");
        while ((r = proto_next_field(&message, &field, err)) > 0)
                if (field.number == 1 && field.wire == PROTO_WIRE_BYTES)
                        *ret = field.bytes;
        return r;
}

/* HealthCheckResponse { ServingStatus status = 1 } */
static void append_serving(struct buf *b, enum serving serving_now)
{
        proto_append_varint_field(b, 1, serving_now);
}

enum grpc_status grpc_health_check(void *health, struct grpc_request *request, struct buf *ret_message, struct err *err)
{
        struct grpc_health *h = health;
        enum serving state;
        struct str service;

        if (read_service(request->message, &service, err) < 0)
                return GRPC_INTERNAL;
        mutex_lock(&h->mutex);
        state = find_serving(h, service);
        mutex_unlock(&h->mutex);
        if (state == SERVICE_UNKNOWN) {
                err_set(err, ERR_NOT_FOUND, "unknown service");
                return GRPC_NOT_FOUND;
        }
        append_serving(ret_message, state);
        return GRPC_OK;
}

/* Watching */

static void unlist(struct grpc_watcher *w)
{
        if (!w->is_listed)
                return;
        w->is_listed = false;
        if (w->prev)
                w->prev->next = w->next;
        else
                w->health->watchers = w->next;
        if (w->next)
                w->next->prev = w->prev;
}

static void free_watcher(struct grpc_watcher *w)
{
        grpc_reader_done(&w->reader);
        free((char *)w->service.p);
        free(w);
}

static void end_watch(struct grpc_watcher *w, enum grpc_status status, const char *message)
{
        struct http_fields fields = { 0 };
        struct arena *a = &w->ex->arena;
        _cleanup_buf_ struct buf encoded = BUF_INIT(0);

        w->is_over = true;
        grpc_append_message(&encoded, str_from(message));
        if (!w->service.p)
                http_fields_add(&fields, a, STR("content-type"), STR("application/grpc"));
        http_fields_add(&fields, a, STR("grpc-status"), arena_printf(a, "%d", (int)status));
        http_fields_add(&fields, a, STR("grpc-message"), buf_str(&encoded));
        if (w->service.p)
                exchange_finish(w->ex, &fields);
        else
                exchange_respond(w->ex, 200, &fields, true);
}

/* Sends the current state, unless it was sent before. Without room it returns; on_room calls it again. */
static void tell(struct grpc_watcher *w)
{
        struct grpc_health *h = w->health;
        _cleanup_buf_ struct buf message = BUF_INIT(0), reply = BUF_INIT(0);
        enum serving state;
        bool is_ending;

        if (w->is_over || !exchange_has_room(w->ex))
                return;
        mutex_lock(&h->mutex);
        state = find_serving(h, w->service);
        is_ending = h->is_ending;
        mutex_unlock(&h->mutex);
        if (state != w->told) {
                w->told = state;
                append_serving(&message, state);
                grpc_append_prefix(&reply, message.n);
                buf_append_str(&reply, buf_str(&message));
                exchange_send(w->ex, bytes_take(&reply));
        }
        if (is_ending)
                end_watch(w, GRPC_UNAVAILABLE, "the server is shutting down");
}

static void on_changed(struct loop_task *t)
{
        struct grpc_watcher *w = CONTAINER_OF(t, struct grpc_watcher, changed);

        mutex_lock(&w->health->mutex);
        w->is_posted = false;
        mutex_unlock(&w->health->mutex);
        if (w->ex)
                tell(w);
        else
                free_watcher(w);
}

static void on_watch_body(struct exchange *ex, struct str data)
{
        struct grpc_watcher *w = ex->owner;
        _cleanup_err_ struct err err = { 0 };

        exchange_consume(ex, data.n);
        if (!w->is_over && grpc_reader_add(&w->reader, data, &err) < 0)
                end_watch(w, err.code == ERR_LIMIT ? GRPC_RESOURCE_EXHAUSTED : GRPC_INTERNAL, err_message(&err));
}

/* List the watcher first, then send the state: a change in between is then reported by a task. */
static void begin_watch(struct grpc_watcher *w, struct str service)
{
        struct grpc_health *h = w->health;
        struct http_fields fields = { 0 };

        w->service = str_make(str_to_cstring(service), service.n);
        mutex_lock(&h->mutex);
        w->is_listed = true;
        w->next = h->watchers;
        if (w->next)
                w->next->prev = w;
        h->watchers = w;
        mutex_unlock(&h->mutex);
        http_fields_add(&fields, &w->ex->arena, STR("content-type"), STR("application/grpc"));
        exchange_respond(w->ex, 200, &fields, false);
        tell(w);
}

static void on_watch_end(struct exchange *ex)
{
        struct grpc_watcher *w = ex->owner;
        _cleanup_err_ struct err err = { 0 };
        _cleanup_bytes_ struct bytes *message = NULL;
        struct str service;

        if (w->is_over)
                return;
        if (grpc_reader_finish(&w->reader, http_fields_get(&ex->request.fields, STR("grpc-encoding")), &message, &err) <
                    0 ||
            read_service(message->str, &service, &err) < 0)
                end_watch(w, GRPC_INTERNAL, err_message(&err));
        else
                begin_watch(w, service);
}

static void on_watch_room(struct exchange *ex)
{
        tell(ex->owner);
}

static void on_watch_closed(struct exchange *ex, const struct err *err)
{
        struct grpc_watcher *w = ex->owner;
        bool is_posted;

        (void)err;
        w->ex = NULL;
        mutex_lock(&w->health->mutex);
        unlist(w);
        is_posted = w->is_posted;
        mutex_unlock(&w->health->mutex);
        if (!is_posted)
                free_watcher(w);
}

static const struct exchange_callbacks watch_callbacks = {
        .on_body = on_watch_body,
        .on_end = on_watch_end,
        .on_room = on_watch_room,
        .on_closed = on_watch_closed,
};

void grpc_health_watch(struct grpc_health *h, struct exchange *ex, size_t max_receive_bytes)
{
        struct grpc_watcher *w = xcalloc(1, sizeof(*w));

        w->health = h;
        w->ex = ex;
        w->loop = ex->loop;
        w->changed.run = on_changed;
        grpc_reader_init(&w->reader, max_receive_bytes);
        ex->owner = w;
        ex->callbacks = &watch_callbacks;
}
