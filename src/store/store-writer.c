/* The writer: one thread that appends decided commits to the log and publishes them. While the thread waits for the log, more
 * commits are decided; all of them, within limits, are the next batch.
 *
 * Callers that write all the time come again soon after their commit is published. If the thread took the first of them at once, the
 * others would have to wait for a whole append. So the thread waits until there are as many commits as in the last batch, but only
 * for a small part of the time that an append takes. */
#include "store-commit.h"

#include "clock.h"
#include "limits.h"
#include "log.h"
#include "store-log.h"

#define PATIENCE_SHARE  4       /* of the time of an append */
#define PATIENCE_NS     1000000 /* at most */
#define PUBLISH_AT_ONCE 64      /* commits in one turn at the mutex, so that readers never wait long */

/* --- Unpublished commits --- */

bool writer_has_room(const struct writer *w, const struct commit *c)
{
        return w->n == 0 || (w->n < LIMIT_COMMITS && c->size_bytes <= LIMIT_COMMIT_BYTES &&
                             w->n_bytes <= LIMIT_COMMIT_BYTES - c->size_bytes);
}

/* The newest creation replaces the earlier one. The map's key is borrowed from the commit, so the key is replaced too. */
static void put_creation(struct writer *w, struct commit *c)
{
        map_remove(&w->creations, c->names.ns);
        map_add(&w->creations, c->names.ns, c);
}

static bool is_creation_in_namespace(const struct commit *c)
{
        return c->is_create && c->names.ns.n;
}

void writer_add(struct writer *w, struct commit *c)
{
        c->state = COMMIT_DECIDED;
        c->next = NULL;
        *(w->first ? &w->last->next : &w->first) = c;
        w->last = c;
        w->version = c->version;
        w->n++;
        w->n_bytes += c->size_bytes;
        map_add(&w->objects, c->id, c);
        if (is_creation_in_namespace(c))
                put_creation(w, c);
        c->table->writing = c;
        if (c->kind_change.is_change)
                c->kind_change.table->changing = c;
        if (w->n >= w->wakes_at || w->n_bytes >= LIMIT_BATCH_BYTES)
                waiters_grant(&w->waiters);
}

static void grant_all(struct waiters *list)
{
        while (waiters_grant(list))
                ;
}

/* The commit is published or has failed. Its caller frees it once the mutex is unlocked; an abandoned commit is put on *done. */
static void resolve(struct writer *w, struct commit *c, enum commit_state state, struct commit **done)
{
        c->state = state;
        w->n--;
        w->n_bytes -= c->size_bytes;
        map_remove(&w->objects, c->id);
        if (is_creation_in_namespace(c) && map_get(&w->creations, c->names.ns) == c)
                map_remove(&w->creations, c->names.ns);
        if (c->table->writing == c)
                c->table->writing = NULL;
        if (c->kind_change.is_change)
                c->kind_change.table->changing = NULL;
        grant_all(&c->caller);
        grant_all(&c->blocked);
        grant_all(&w->room);
        if (c->is_abandoned) {
                c->next = *done;
                *done = c;
        }
}

/* Without the mutex. The failure of a log is set once, by this thread. */
static void settle(const struct writer *w, const struct commit *c)
{
        _cleanup_err_ struct err err = { 0 };

        if (c->state == COMMIT_FAILED)
                commit_tell_failure(w, &err);
        c->promise->settle(c->promise, err.code ? &err : NULL);
}

static struct commit *reverse(struct commit *newest)
{
        struct commit *oldest = NULL, *next;

        for (; newest; newest = next) {
                next = newest->next;
                newest->next = oldest;
                oldest = newest;
        }
        return oldest;
}

/* Frees the commits whose callers do not wait, after the callers were told what they were promised. */
static void free_commits(const struct writer *w, struct commit *newest)
{
        struct commit *oldest = reverse(newest);

        for (const struct commit *c = oldest; c; c = c->next)
                if (c->promise)
                        settle(w, c);
        for (struct commit *next; oldest; oldest = next) {
                next = oldest->next;
                commit_free(oldest);
        }
}

/* --- Batches --- */

/* Under the mutex: takes the next batch off the list. */
static struct commit *take_batch(struct writer *w, size_t *ret_n)
{
        struct commit *first = w->first, *last = first;
        size_t n = 1, n_bytes = first->size_bytes;

        for (const struct commit *c; (c = last->next) && n < LIMIT_BATCH_RECORDS; n++) {
                if (n_bytes + c->size_bytes > LIMIT_BATCH_BYTES)
                        break;
                n_bytes += c->size_bytes;
                last = last->next;
        }
        w->first = last->next;
        last->next = NULL;
        *ret_n = n;
        return first;
}

static struct store_record record_of(const struct commit *c)
{
        bool is_removed = c->event->is_removed;

        return (struct store_record) {
                .version = c->version,
                .previous = c->previous,
                .group = c->table->group,
                .kind = c->table->kind_name,
                .namespace_name = c->names.ns,
                .name = c->names.name,
                .is_removed = is_removed,
                .bytes = is_removed ? STR("") : object_bytes(c->object),
        };
}

static int append(struct store *s, const struct commit *batch, size_t n, struct err *err)
{
        struct store_log *log = s->options.log;
        _cleanup_free_ struct store_record *records = xmalloc(n * sizeof(*records));

        for (size_t i = 0; i < n; i++, batch = batch->next)
                records[i] = record_of(batch);
        return log->ops->append(log, records, n, err);
}

/* Under the mutex: publishes some commits of the batch. Returns the rest. */
static struct commit *publish_some(struct writer *w, struct commit *c, struct event **gone, struct commit **done)
{
        for (size_t i = 0; c && i < PUBLISH_AT_ONCE; i++) {
                struct commit *next = c->next;

                commit_publish(c, tree_find(&c->table->objects, c->key), gone);
                resolve(w, c, COMMIT_PUBLISHED, done);
                c = next;
        }
        return c;
}

static void publish_batch(struct store *s, struct commit *batch)
{
        while (batch) {
                struct commit *done = NULL;
                struct event *gone = NULL;

                mutex_lock(&s->mutex);
                batch = publish_some(s->writer, batch, &gone, &done);
                mutex_unlock(&s->mutex);
                watch_call_woken(s);
                history_free_events(gone);
                free_commits(s->writer, done);
        }
}

/* Under the mutex. */
static void fail_commits(struct writer *w, struct commit *c, struct commit **done)
{
        while (c) {
                struct commit *next = c->next;

                resolve(w, c, COMMIT_FAILED, done);
                c = next;
        }
}

/* The log has failed: fails the batch and all commits after it, because it is unknown which of them the log has. */
static void stop_writes(struct store *s, struct commit *batch, struct err *err)
{
        struct writer *w = s->writer;
        struct commit *done = NULL;

        log_error("the store takes no more writes, its log has failed", LOG_ERR("error", err));
        mutex_lock(&s->mutex);
        err_move(&w->failure, err);
        fail_commits(w, batch, &done);
        fail_commits(w, TAKE(w->first), &done);
        mutex_unlock(&s->mutex);
        free_commits(w, done);
}

/* --- The thread --- */

static void log_batch(struct store *s, struct commit *batch, size_t n)
{
        _cleanup_err_ struct err err = { 0 };
        int64_t begin = clock_mono_ns();
        int r = append(s, batch, n, &err);

        s->writer->patience_ns = MIN((clock_mono_ns() - begin) / PATIENCE_SHARE, PATIENCE_NS);
        if (r == 0) {
                publish_batch(s, batch);
                return;
        }
        if (err.code == 0)
                err_set(&err, r, "the log gave no reason");
        stop_writes(s, batch, &err);
}

/* Under the mutex: waits until there are n commits, or the deadline has passed. */
static void await_commits(struct store *s, size_t n, struct deadline deadline)
{
        struct writer *w = s->writer;
        int r = 0;

        w->wakes_at = n;
        while (w->n < n && w->n_bytes < LIMIT_BATCH_BYTES && !w->is_closed && r == 0) {
                struct waiter waiter;

                waiters_append(&w->waiters, &waiter);
                r = waiters_wait(&w->waiters, &waiter, &s->mutex, "decisions", "writer", deadline, NULL);
        }
}

/* Waits for decisions; NULL once the store is closed and nothing is left. */
static struct commit *await_batch(struct store *s, size_t *ret_n)
{
        struct writer *w = s->writer;
        struct commit *batch = NULL;

        mutex_lock(&s->mutex);
        await_commits(s, 1, DEADLINE_NONE);
        if (w->n < w->n_last)
                await_commits(s, w->n_last, deadline_after_ns(w->patience_ns));
        if (w->first) {
                batch = take_batch(w, ret_n);
                w->n_last = *ret_n;
        }
        mutex_unlock(&s->mutex);
        return batch;
}

static void write_batches(void *arg)
{
        struct store *s = arg;
        struct commit *batch;
        size_t n;

        while ((batch = await_batch(s, &n)))
                log_batch(s, batch, n);
}

int writer_start(struct store *s, struct err *err)
{
        s->writer = xcalloc(1, sizeof(*s->writer));
        s->writer->version = s->version;
        return thread_start("store-writer", write_batches, s, &s->writer->thread, err);
}

void writer_stop(struct store *s)
{
        struct writer *w = s->writer;

        if (!w)
                return;
        mutex_lock(&s->mutex);
        w->is_closed = true;
        waiters_grant(&w->waiters);
        mutex_unlock(&s->mutex);
        if (w->thread)
                thread_join(w->thread);
        assert(w->n == 0);
        map_done(&w->objects);
        map_done(&w->creations);
        err_done(&w->failure);
        free(w);
        s->writer = NULL;
}
