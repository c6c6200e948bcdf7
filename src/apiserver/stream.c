/* The loop's part of a watch.
 *
 * First the events of what exists already are made by a worker, piece by piece, because they may be many. From then on they are made
 * on the loop: a wakeup of the watch posts its task, and the task sends what there is, a bounded number of events in a turn. Between
 * two turns a watch has no thread and no queue of its own; what it has not read yet waits in the history of the store, which cuts it
 * off when that becomes too much. A reader that does not read at all is closed by its connection. */
#include "request.h"

#include "buf.h"
#include "bytes.h"
#include "clock.h"
#include "http.h"
#include "limits.h"
#include "random.h"

#define PIECE_BYTES   (64u << 10)
#define TURN_EVENTS   64   /* that one turn of the loop makes */
#define JOB_EVENTS    512  /* that one job makes */
#define TIMEOUT_LEAST 1800 /* seconds, without timeoutSeconds: up to twice as many */

struct watch_stream {
        struct api_request *request;
        struct watch_source *source;
        struct loop *loop;
        struct watch_stream *next, *prev; /* in the server's list, under its mutex */
        struct loop_task task;
        _Atomic bool is_posted; /* the task is posted and has not begun to run */

        /* Loop thread only, except that a job has run, piece and state. */
        struct job job;
        struct run run;
        struct watch_piece piece;
        enum watch_state state;
        struct deadline end;
        uv_timer_t timer;
        struct deadline timer_at; /* when it fires */
        bool is_with_worker;
        bool is_live; /* events are made on the loop */
        bool is_over; /* the answer is complete, or the exchange is closed */
        bool is_timer_gone;
        size_t paid_bytes;   /* by the request's account while the queue of its output is not full */
        struct exchange *ex; /* NULL once it is closed */
};

static void pump(struct watch_stream *w);

/* --- Life --- */

static void enlist(struct watch_stream *w)
{
        struct apiserver *s = w->request->server;

        mutex_lock(&s->mutex);
        w->next = s->watches;
        if (w->next)
                w->next->prev = w;
        s->watches = w;
        mutex_unlock(&s->mutex);
}

static void unlist(struct watch_stream *w)
{
        struct apiserver *s = w->request->server;

        mutex_lock(&s->mutex);
        *(w->prev ? &w->prev->next : &s->watches) = w->next;
        if (w->next)
                w->next->prev = w->prev;
        mutex_unlock(&s->mutex);
}

static void post(void *arg)
{
        struct watch_stream *w = arg;

        if (!atomic_exchange(&w->is_posted, true))
                loop_post(w->loop, &w->task);
}

static void piece_done(struct watch_piece *p)
{
        buf_done(&p->text);
        bytes_unref(p->shared);
        *p = (struct watch_piece) { 0 };
}

/* Frees the stream and the request when nothing can refer to them any more. */
static void free_if_done(struct watch_stream *w)
{
        struct api_request *q = w->request;

        if (w->ex || w->is_with_worker || !w->is_timer_gone || atomic_load(&w->is_posted))
                return;
        atomic_fetch_sub(&q->server->metrics.open_watches, 1);
        piece_done(&w->piece);
        free(w);
        request_free(q);
}

static void on_timer_closed(uv_handle_t *h)
{
        struct watch_stream *w = h->data;

        w->is_timer_gone = true;
        free_if_done(w);
}

/* Ends the source: after that no wakeup posts the task. */
static void drop_source(struct watch_stream *w)
{
        unlist(w);
        watch_source_free(w->source);
        w->source = NULL;
        uv_close((uv_handle_t *)&w->timer, on_timer_closed);
}

/* --- Sending --- */

static void finish(struct watch_stream *w)
{
        if (w->is_over)
                return;
        w->is_over = true;
        exchange_finish(w->ex, NULL);
}

static void send_piece(struct watch_stream *w)
{
        struct watch_piece *p = &w->piece;

        if (p->text.n)
                exchange_send(w->ex, bytes_take(&p->text));
        if (p->shared) {
                exchange_send(w->ex, TAKE(p->shared));
                exchange_send(w->ex, bytes_copy(STR("}\n")));
        }
}

/* Called with the result of a fill: sends it and ends the answer if the watch is over. */
static void deliver(struct watch_stream *w)
{
        if (w->is_over || !w->ex)
                return;
        send_piece(w);
        if (w->state != WATCH_HAS_ENDED)
                return;
        if (watch_source_was_cut_off(w->source))
                atomic_fetch_add(&w->request->server->metrics.watches_cut_off, 1);
        finish(w);
}

static void on_timer(uv_timer_t *t)
{
        struct watch_stream *w = t->data;

        if (w->is_over)
                return;
        if (deadline_has_passed(w->end))
                finish(w);
        else
                pump(w);
}

/* For the end of the watch, and for its next bookmark if there is room for one. A timer that fires before that is left as it is: it is set
 * again then. */
static void set_timer(struct watch_stream *w, bool for_bookmark)
{
        struct deadline next = w->end;

        if (for_bookmark)
                next = deadline_earliest(next, watch_source_next_bookmark(w->source));
        if (deadline_is_none(next))
                return;
        if (uv_is_active((uv_handle_t *)&w->timer) && w->timer_at.mono_ns <= next.mono_ns)
                return;
        uv_update_time(loop_uv(w->loop));
        w->timer_at = next;
        uv_timer_start(&w->timer, on_timer, (uint64_t)deadline_remaining_ms(next) + 1, 0);
}

/* --- Filling --- */

static void fill(struct watch_stream *w, size_t max_events)
{
        struct watch_wakeup wakeup = { .call = post, .arg = w };

        w->state = watch_source_fill(w->source, &w->run, wakeup, max_events, PIECE_BYTES, &w->piece);
}

static void run_job(struct job *j)
{
        fill(CONTAINER_OF(j, struct watch_stream, job), JOB_EVENTS);
}

static void on_job_done(struct job *j)
{
        struct watch_stream *w = CONTAINER_OF(j, struct watch_stream, job);

        w->is_with_worker = false;
        if (!w->ex) {
                drop_source(w);
                free_if_done(w);
                return;
        }
        w->is_live |= w->state == WATCH_WAITS;
        deliver(w);
        pump(w);
}

/* Ends the answer in the middle: the client watches again. */
static void break_off(struct watch_stream *w, enum http_reset why)
{
        w->is_over = true;
        exchange_reset(w->ex, why);
}

/* Makes the account hold so many bytes. */
static bool pay(struct budget_account *account, size_t bytes)
{
        if (account->taken_bytes < bytes)
                return budget_try(account, bytes - account->taken_bytes);
        budget_keep(account, bytes);
        return true;
}

/* The output of a reader that is slow waits in a full queue, which the budget of all requests pays for. Readers that are too slow while
 * there is no memory are cut off. Called for each change that the reader does not get yet, so the account follows what the queue holds. */
static void wait_for_room(struct watch_stream *w)
{
        struct api_request *q = w->request;

        set_timer(w, false);
        if (pay(&q->account, w->paid_bytes + exchange_held_bytes(w->ex)))
                return;
        atomic_fetch_add(&q->server->metrics.watches_cut_off, 1);
        break_off(w, HTTP_RESET_ENHANCE_YOUR_CALM);
}

/* Makes and sends what there is, as far as there is room. Called by wakeups, timers and new room. */
static void pump(struct watch_stream *w)
{
        if (w->is_over || !w->ex || w->is_with_worker)
                return;
        if (atomic_load_explicit(&w->request->server->is_draining, memory_order_relaxed)) {
                finish(w);
                return;
        }
        if (!exchange_has_room(w->ex)) {
                wait_for_room(w);
                return;
        }
        budget_keep(&w->request->account, w->paid_bytes);
        if (!w->is_live) {
                w->is_with_worker = workers_submit(w->request->server->bulk, w->loop, &w->job) == 0;
                if (!w->is_with_worker)
                        break_off(w, HTTP_RESET_REFUSED);
                return;
        }
        fill(w, TURN_EVENTS);
        deliver(w);
        if (w->is_over)
                return;
        if (w->state == WATCH_HAS_MORE)
                post(w); /* others on this loop have their turn first */
        set_timer(w, true);
}

static void on_task(struct loop_task *t)
{
        struct watch_stream *w = CONTAINER_OF(t, struct watch_stream, task);

        atomic_store(&w->is_posted, false);
        if (w->ex)
                pump(w);
        else
                free_if_done(w);
}

/* --- The exchange --- */

static void on_body(struct exchange *ex, struct str data)
{
        exchange_consume(ex, data.n);
}

static void on_end(struct exchange *ex)
{
        (void)ex;
}

static void on_room(struct exchange *ex)
{
        pump(ex->owner);
}

static void on_closed(struct exchange *ex, const struct err *err)
{
        struct watch_stream *w = ex->owner;

        if (err && err->code == ERR_TIMEOUT && !w->is_over) /* it did not read */
                atomic_fetch_add(&w->request->server->metrics.watches_cut_off, 1);
        w->ex = NULL;
        w->request->ex = NULL;
        w->is_over = true;
        cancel_trigger(w->request->cancel, "the client has gone");
        if (w->is_with_worker) {
                exchange_take_arena(ex, &w->request->heads);
                return;
        }
        drop_source(w);
        free_if_done(w);
}

static const struct exchange_callbacks callbacks = {
        .on_body = on_body,
        .on_end = on_end,
        .on_room = on_room,
        .on_closed = on_closed,
};

static struct deadline end_of(const struct api_request *q)
{
        struct random random;
        int64_t seconds = q->options.timeout_seconds;

        if (seconds <= 0) {
                random_seed(&random, random_system_u64());
                seconds = TIMEOUT_LEAST + (int64_t)random_below(&random, TIMEOUT_LEAST);
        }
        return seconds > INT64_MAX / 1000 ? DEADLINE_NONE : deadline_after_ms(1000 * seconds);
}

void watch_stream_begin(struct api_request *q)
{
        struct watch_stream *w = xcalloc(1, sizeof(*w));
        struct http_fields fields = { 0 };

        w->request = q;
        w->source = TAKE(q->watch);
        w->ex = q->ex;
        w->loop = q->ex->loop;
        w->task.run = on_task;
        w->job = (struct job) { .run = run_job, .finish = on_job_done };
        w->run = q->call.run;
        w->run.deadline = DEADLINE_NONE;
        w->end = end_of(q);
        w->paid_bytes = q->account.taken_bytes;
        uv_timer_init(loop_uv(w->loop), &w->timer);
        w->timer.data = w;
        q->ex->owner = w;
        q->ex->callbacks = &callbacks;
        q->ex->needs_peer = true;
        atomic_fetch_add(&q->server->metrics.open_watches, 1);
        enlist(w);
        answer_fields(q, STR("application/json"), &fields);
        exchange_respond(q->ex, 200, &fields, false);
        set_timer(w, false);
        pump(w);
}

void watch_stream_end_all(struct apiserver *s)
{
        mutex_lock(&s->mutex);
        s->is_draining = true;
        for (struct watch_stream *w = s->watches; w; w = w->next)
                post(w);
        mutex_unlock(&s->mutex);
}
