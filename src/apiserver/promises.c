#include "promises.h"

#include "pack.h"
#include "request.h"

/* How often the thread looks for late requests while any request waits. */
#define LOOK_MS 1000

/* --- The list of requests that wait; under the mutex --- */

static void add_waiting(struct promises *p, struct api_request *q)
{
        q->promise.is_waiting = true;
        q->promise.prev = p->last;
        *(p->last ? &p->last->promise.next : &p->first) = q;
        p->last = q;
}

static void remove_waiting(struct promises *p, struct api_request *q)
{
        struct api_promise *a = &q->promise;

        *(a->prev ? &a->prev->promise.next : &p->first) = a->next;
        *(a->next ? &a->next->promise.prev : &p->last) = a->prev;
        a->is_waiting = false;
}

/* Makes the error the answer, in place of the one that is ready and may be compressed. */
static void replace_answer(struct api_request *q)
{
        packer_free(TAKE(q->packer));
        answer_error(q);
}

/* --- Late requests --- */

static void on_task(struct loop_task *t)
{
        struct api_promise *a = CONTAINER_OF(t, struct api_promise, task);

        request_release(CONTAINER_OF(a, struct api_request, promise));
}

/* On the loop: sends the answer of a late request. The request goes on until its promise is settled. */
static void on_late(struct job *j)
{
        struct api_request *q = CONTAINER_OF(j, struct api_request, job);
        struct promises *p = &q->server->promises;
        bool is_settled;

        request_answer(q);
        mutex_lock(&p->mutex);
        q->promise.is_told = true;
        is_settled = q->promise.is_settled;
        mutex_unlock(&p->mutex);
        if (is_settled)
                request_release(q);
}

/* Under the mutex. */
static void answer_late(struct promises *p, struct api_request *q)
{
        remove_waiting(p, q);
        q->promise.is_late = true;
        p->n_late++;
        wait_error(ERR_TIMEOUT, NULL, "the write may have happened, it was being logged", &q->err);
        err_set_reason(&q->err, REASON_TIMEOUT);
        replace_answer(q);
        q->job.finish = on_late;
        job_finish(&q->job);
}

/* Under the mutex, which is unlocked meanwhile. */
static void sleep_until(struct promises *p, struct deadline deadline)
{
        struct waiter waiter;

        waiters_append(&p->sleeper, &waiter);
        waiters_wait(&p->sleeper, &waiter, &p->mutex, "late writes", "promises", deadline, NULL);
}

static void look_for_late(void *arg)
{
        struct promises *p = arg;

        mutex_lock(&p->mutex);
        while (!p->is_closed) {
                p->is_asleep = !p->first;
                sleep_until(p, p->first ? deadline_after_ms(LOOK_MS) : DEADLINE_NONE);
                for (struct api_request *q = p->first, *next; q; q = next) {
                        next = q->promise.next;
                        if (deadline_has_passed(q->call.run.deadline))
                                answer_late(p, q);
                }
        }
        mutex_unlock(&p->mutex);
}

/* Under the mutex. False if there can be no thread. */
static bool has_thread(struct promises *p)
{
        return p->thread || thread_start("api-late", look_for_late, p, &p->thread, NULL) == 0;
}

/* --- Settling --- */

/* The write may be lost. */
static void answer_failure(struct api_request *q)
{
        err_move(&q->err, &q->promise.failure);
        replace_answer(q);
}

static void settle(struct write_promise *w, const struct err *err)
{
        struct api_promise *a = CONTAINER_OF(w, struct api_promise, write);
        struct api_request *q = CONTAINER_OF(a, struct api_request, promise);
        struct promises *p = &q->server->promises;
        bool was_waiting;

        mutex_lock(&p->mutex);
        was_waiting = a->is_waiting;
        a->is_settled = true;
        if (err && !a->is_late)
                err_copy(&a->failure, err);
        if (was_waiting)
                remove_waiting(p, q);
        if (a->is_late && --p->n_late == 0)
                waiters_grant(&p->last_late);
        if (a->is_told) /* the loop may free the request at once */
                loop_post(q->loop, &a->task);
        mutex_unlock(&p->mutex);
        if (!was_waiting) /* a worker or the loop has the request, and sees that its promise is settled */
                return;
        if (a->failure.code)
                answer_failure(q);
        job_finish(&q->job);
}

/* --- Beginning and end --- */

struct write_promise *promise_make(struct api_request *q)
{
        q->promise.write.settle = settle;
        q->promise.task.run = on_task;
        return &q->promise.write;
}

void promise_keep(struct api_request *q)
{
        struct promises *p = &q->server->promises;
        bool is_kept;

        if (!q->promise.write.is_given)
                return;
        mutex_lock(&p->mutex);
        is_kept = !q->promise.is_settled;
        if (is_kept) {
                job_keep(&q->job);
                add_waiting(p, q);
                if (has_thread(p) && p->is_asleep) {
                        p->is_asleep = false;
                        waiters_grant(&p->sleeper);
                }
        }
        mutex_unlock(&p->mutex);
        if (!is_kept && q->promise.failure.code)
                answer_failure(q);
}

void promises_init(struct promises *p)
{
        mutex_init(&p->mutex);
}

void promises_done(struct promises *p)
{
        struct waiter waiter;

        mutex_lock(&p->mutex);
        p->is_closed = true;
        waiters_grant(&p->sleeper);
        if (p->n_late) {
                waiters_append(&p->last_late, &waiter);
                waiters_wait(&p->last_late, &waiter, &p->mutex, "late writes", "promises", DEADLINE_NONE, NULL);
        }
        mutex_unlock(&p->mutex);
        if (p->thread)
                thread_join(p->thread);
        mutex_done(&p->mutex);
}
