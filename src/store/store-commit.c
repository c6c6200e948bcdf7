#include "store-commit.h"

#include "store-log.h"

struct commit *commit_new(struct store *s, struct arena *a)
{
        struct commit *c;

        if (!s->writer) {
                c = ARENA_NEW(a, struct commit);
                c->arena = a;
        } else {
                c = xcalloc(1, sizeof(*c));
                arena_init(&c->own_arena, "commit", 0);
                c->arena = &c->own_arena;
                c->is_logged = true;
        }
        c->s = s;
        return c;
}

void commit_free(struct commit *c)
{
        if (!c)
                return;
        assert(c->state != COMMIT_DECIDED);
        if (c->event) {
                object_unref(c->event->before);
                object_unref(c->event->after);
                free(c->event);
        }
        object_unref(c->object);
        free(c->entry);
        kind_change_done(&c->kind_change);
        write_record_free(c->record);
        if (!c->is_logged)
                return;
        arena_done(&c->own_arena);
        free(c);
}

/* --- Decide --- */

static bool namespace_is_unchanged(const struct commit *c)
{
        const struct store_entry *e;

        if (!c->namespace_object)
                return true;
        e = tree_find(&c->s->namespaces->objects, c->names.ns);
        return e && e->object == c->namespace_object;
}

static enum commit_result check_unchanged(const struct commit *c, const struct store_entry *e)
{
        const struct object *there = e ? e->object : NULL;

        if (c->table->serial != c->serial || c->table->is_terminating != c->is_terminating)
                return COMMIT_AGAIN;
        if (!c->is_create)
                return there == c->live ? COMMIT_DONE : COMMIT_AGAIN;
        if (there)
                return c->is_for_new ? COMMIT_EXISTS : COMMIT_AGAIN;
        return namespace_is_unchanged(c) ? COMMIT_DONE : COMMIT_AGAIN;
}

static void set_version(struct commit *c, uint64_t version)
{
        c->version = version;
        object_set_version(c->object, version);
}

/* --- Without a log --- */

static enum commit_result commit_now(struct commit *c)
{
        struct store *s = c->s;
        struct event *gone = NULL;
        enum commit_result result;
        struct store_entry *e;

        mutex_lock(&s->mutex);
        e = tree_find(&c->table->objects, c->key);
        result = check_unchanged(c, e);
        if (result == COMMIT_DONE) {
                set_version(c, s->version + 1);
                commit_publish(c, e, &gone);
        }
        mutex_unlock(&s->mutex);
        watch_call_woken(s);
        history_free_events(gone);
        return result;
}

/* --- With a log --- */

struct str commit_object_id(struct arena *a, const struct table *t, struct str key)
{
        char *p = arena_alloc(a, sizeof(t) + key.n);

        memcpy(p, &t, sizeof(t));
        if (key.n)
                memcpy(p + sizeof(t), key.p, key.n);
        return str_make(p, sizeof(t) + key.n);
}

/* The unpublished commit that must finish before this one can be decided, or NULL. */
static struct commit *find_blocker(const struct commit *c)
{
        struct store *s = c->s;
        const struct writer *w = s->writer;
        struct commit *blocker = map_get(&w->objects, c->id);

        if (!blocker)
                blocker = c->table->changing;
        if (!blocker && c->kind_change.is_change)
                blocker =
                        c->kind_change.table->changing ? c->kind_change.table->changing : c->kind_change.table->writing;
        if (!blocker && c->is_create && c->names.ns.n)
                blocker = map_get(&w->objects, commit_object_id(c->arena, s->namespaces, c->names.ns));
        if (!blocker && c->table == s->namespaces)
                blocker = map_get(&w->creations, c->names.name);
        return blocker;
}

/* Under the mutex, which is unlocked while waiting. An error means that the caller's write has not happened: it was not decided
 * yet. */
static int await_blocker(struct store *s, struct waiters *list, struct run *run, struct err *err)
{
        struct waiter waiter;
        int r;

        waiters_append(list, &waiter);
        r = waiters_wait(list, &waiter, &s->mutex, "earlier write", "store", run->deadline, run->cancel);
        return wait_error(r, run->cancel, "waiting for an earlier write", err);
}

int commit_await_object(struct store *s, struct run *run, struct table *t, struct str key, struct err *err)
{
        struct str id;
        int r = 0;

        if (!s->writer || s->writer->objects.n == 0)
                return 0;
        id = commit_object_id(run->arena, t, key);
        for (struct commit *c; r == 0 && (c = map_get(&s->writer->objects, id));)
                r = await_blocker(s, &c->blocked, run, err);
        return r;
}

int commit_await_kind(struct store *s, struct run *run, struct table *t, struct err *err)
{
        int r = 0;

        while (r == 0 && t->changing)
                r = await_blocker(s, &t->changing->blocked, run, err);
        return r;
}

int commit_await_writes(struct store *s, struct run *run, struct table *t, struct err *err)
{
        return t->writing ? await_blocker(s, &t->writing->blocked, run, err) : 0;
}

static int refuse_stopped(const struct writer *w, struct err *err)
{
        int r = err_set(err, ERR_FAILED, "the store takes no more writes, its log has failed: %s",
                        err_message(&w->failure));

        err_set_reason(err, REASON_SERVICE_UNAVAILABLE);
        return r;
}

int store_health(struct store *s, struct err *err)
{
        const struct store_log *log = s->options.log;
        int r = commit_check_open(s, err);

        return r == 0 && log && log->ops->health ? log->ops->health(s->options.log, err) : r;
}

int commit_check_open(struct store *s, struct err *err)
{
        int r = 0;

        if (!s->writer)
                return 0;
        mutex_lock(&s->mutex);
        if (s->writer->failure.code)
                r = refuse_stopped(s->writer, err);
        mutex_unlock(&s->mutex);
        return r;
}

int commit_tell_failure(const struct writer *w, struct err *err)
{
        int r = err_set(err, ERR_FAILED,
                        "cannot log the write, which may or may not be there when the store is opened again: %s",
                        err_message(&w->failure));

        err_set_reason(err, REASON_INTERNAL_ERROR);
        return r;
}

static int tell_unknown(int r, const struct run *run, struct err *err)
{
        wait_error(r, run->cancel, "the write may have happened, it was being logged", err);
        err_set_reason(err, REASON_TIMEOUT);
        return r;
}

/* Under the mutex. Waits until the decided commit is published or has failed. */
static int await_published(struct commit **c, struct run *run, struct err *err)
{
        struct commit *mine = *c;
        struct store *s = mine->s;
        struct waiter waiter;
        int r;

        waiters_append(&mine->caller, &waiter);
        r = waiters_wait(&mine->caller, &waiter, &s->mutex, "log", "store", run->deadline, run->cancel);
        if (r < 0) {
                mine->is_abandoned = true;
                *c = NULL;
                return tell_unknown(r, run, err);
        }
        return mine->state == COMMIT_FAILED ? commit_tell_failure(s->writer, err) : 0;
}

/* Under the mutex. From now on the store owns the decided commit. */
static void give_promise(struct commit **c, struct write_promise *promise)
{
        struct commit *mine = TAKE(*c);

        promise->is_given = true;
        mine->promise = promise;
        mine->is_abandoned = true;
}

/* Under the mutex. COMMIT_DONE means that the commit is decided. */
static int decide(struct commit *c, struct run *run, struct err *err)
{
        struct store *s = c->s;
        struct writer *w = s->writer;
        struct commit *blocker = find_blocker(c);
        int r;

        if (w->failure.code)
                return refuse_stopped(w, err);
        if (blocker) {
                r = await_blocker(s, &blocker->blocked, run, err);
                return r < 0 ? r : COMMIT_WAITED;
        }
        r = check_unchanged(c, tree_find(&c->table->objects, c->key));
        if (r != COMMIT_DONE)
                return r;
        if (!writer_has_room(w, c)) {
                r = await_blocker(s, &w->room, run, err);
                return r < 0 ? r : COMMIT_WAITED;
        }
        set_version(c, w->version + 1);
        writer_add(w, c);
        return COMMIT_DONE;
}

static int commit_through_log(struct commit **c, struct run *run, struct write_promise *promise, struct err *err)
{
        struct store *s = (*c)->s;
        int r;

        if (deadline_has_passed(run->deadline)) /* the caller would not wait for the result */
                return wait_error(ERR_TIMEOUT, run->cancel, "the write was not begun", err);
        (*c)->id = commit_object_id((*c)->arena, (*c)->table, (*c)->key);
        mutex_lock(&s->mutex);
        r = decide(*c, run, err);
        if (r == COMMIT_DONE && promise)
                give_promise(c, promise);
        else if (r == COMMIT_DONE)
                r = await_published(c, run, err);
        mutex_unlock(&s->mutex);
        return r;
}

int commit_run(struct commit **c, struct run *run, struct write_promise *promise, struct err *err)
{
        return (*c)->is_logged ? commit_through_log(c, run, promise, err) : (int)commit_now(*c);
}
