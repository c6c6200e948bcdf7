/* The collector: one thread that does what follows from commits. It deletes what lost its owners (store-gc.c), empties namespaces and
 * CRDs that are being deleted, and settles names of CRDs.
 *
 * A commit puts tasks on a list; the thread takes them one by one and sleeps when there are none. Nothing is polled: what a task
 * waits for is itself a commit that brings the task back. Only a task that was refused or failed tries again by itself, later. */
#include "store-state.h"

#include "buf.h"

#include <stdio.h>

#define RETRY_FIRST_MS 100
#define RETRY_MOST_MS  60000

/* --- Tasks --- */

static void push_task(struct work *w, struct task *t)
{
        t->next = NULL;
        *(w->first ? &w->last->next : &w->first) = t;
        w->last = t;
}

static void wake(struct work *w)
{
        waiters_grant(&w->waiters);
}

void collector_add(struct store *s, char type, struct str about)
{
        struct work *w = &s->work;
        struct task *t;

        if (s->options.without_gc)
                return;
        t = xcalloc(1, sizeof(*t));
        t->id = xmalloc(about.n + 2);
        t->id[0] = type;
        memcpy(t->id + 1, about.p, about.n);
        t->id[about.n + 1] = 0;
        if (!map_add(&w->ids, str_from(t->id), t)) {
                free(t->id);
                free(t);
                return;
        }
        push_task(w, t);
        wake(w);
}

void collector_add_object(struct store *s, char type, uint64_t head)
{
        char text[17];

        snprintf(text, sizeof(text), "%016llx", (unsigned long long)head);
        collector_add(s, type, str_from(text));
}

static void free_task(struct task *t)
{
        if (!t)
                return;
        free(t->id);
        free(t);
}

/* What is gone waits for no kind. */
static void forget_object(struct work *w, uint64_t head)
{
        char id[18];

        if (w->deferred.n == 0)
                return;
        snprintf(id, sizeof(id), "o%016llx", (unsigned long long)head);
        free_task(map_remove(&w->deferred, str_from(id)));
}

/* A task that comes back from a list it was put aside on; it may have been asked for again meanwhile. */
static void resume_task(struct work *w, struct task *t)
{
        if (map_add(&w->ids, str_from(t->id), t))
                push_task(w, t);
        else
                free_task(t);
}

void collector_kinds_changed(struct store *s)
{
        struct work *w = &s->work;

        for (struct map_entry *e; (e = map_first(&w->deferred));)
                resume_task(w, map_remove(&w->deferred, e->key));
        wake(w);
}

static uint64_t head_of(const char *id)
{
        return strtoull(id + 1, NULL, 16);
}

/* The object may have gone while it was looked at. */
static void defer_task(struct store *s, struct task *t)
{
        if (!index_has(s, head_of(t->id)) || !map_add(&s->work.deferred, str_from(t->id), t))
                free_task(t);
}

static void delay_task(struct work *w, struct task *t)
{
        struct task **at = &w->delayed;
        int64_t ms = RETRY_FIRST_MS;

        if (!map_add(&w->delayed_ids, str_from(t->id), t)) {
                free_task(t);
                return;
        }
        for (unsigned i = 0; i < t->failures && ms < RETRY_MOST_MS; i++)
                ms *= 2;
        t->failures++;
        t->not_before_ns = deadline_after_ms(MIN(ms, RETRY_MOST_MS)).mono_ns;
        while (*at && (*at)->not_before_ns <= t->not_before_ns)
                at = &(*at)->next;
        t->next = *at;
        *at = t;
}

static void resume_delayed(struct work *w)
{
        while (w->delayed && deadline_has_passed((struct deadline) { w->delayed->not_before_ns })) {
                struct task *t = w->delayed;

                w->delayed = t->next;
                map_remove(&w->delayed_ids, str_from(t->id));
                resume_task(w, t);
        }
}

/* --- What commits mean --- */

static void notice_owners(struct store *s, const struct facts *f)
{
        for (size_t i = 0; s->n_foreground && f && i < f->n_owners; i++) {
                const struct entry *owner = index_find_uid(s, f->owners[i]);

                if (owner && owner->marks & MARK_FOREGROUND)
                        collector_add_object(s, 'o', f->owners[i]);
        }
}

static bool owner_is_solid(struct store *s, const struct entry *e, uint64_t uid)
{
        const struct entry *owner = index_find_uid(s, uid);

        return owner && !(owner->marks & MARK_FOREGROUND) &&
               (owner->n_namespace == 0 || str_equal(entry_namespace(owner), entry_namespace(e)));
}

static void notice_stored(struct store *s, struct entry *e, const struct facts *after)
{
        bool is_doubtful = (after->marks & (MARK_FOREGROUND | MARK_ORPHAN)) != 0;

        for (size_t i = 0; i < after->n_owners && !is_doubtful; i++)
                is_doubtful = !owner_is_solid(s, e, after->owners[i]);
        if (is_doubtful && after->uid)
                collector_add_object(s, 'o', after->uid);
        if (!(after->marks & MARK_DELETING))
                return;
        if (e->table == s->namespaces)
                collector_add(s, 'n', entry_name(e));
        if (e->table == s->crds)
                collector_add(s, 'c', entry_name(e));
}

static void notice_removed(struct store *s, struct entry *e, const struct facts *before)
{
        const struct table *t = e->table;

        if (before->uid)
                forget_object(&s->work, before->uid);
        if (before->uid && index_has(s, index_owner_of_uid(before->uid)))
                collector_add_object(s, 'd', before->uid);
        if (s->n_terminating_namespaces && e->n_namespace) {
                const struct entry *namespace = tree_find(&s->namespaces->objects, entry_namespace(e));

                if (namespace && namespace->marks & MARK_DELETING)
                        collector_add(s, 'n', entry_namespace(e));
        }
        if (t->is_terminating && t->kind && t->n_objects == 0) {
                _cleanup_buf_ struct buf crd = BUF_INIT(0);

                buf_appendf(&crd, "%.*s.%.*s", STR_ARG(t->kind->plural), STR_ARG(t->kind->group));
                collector_add(s, 'c', buf_str(&crd));
        }
}

void collector_notice(struct store *s, struct entry *e, const struct facts *before, const struct facts *after)
{
        if (s->options.without_gc)
                return;
        notice_owners(s, before);
        if (after)
                notice_stored(s, e, after);
        else
                notice_removed(s, e, before);
}

/* --- The thread --- */

static int run_task(struct store *s, struct run *run, const char *id, struct err *err)
{
        struct str about = str_from(id + 1);
        uint64_t head = id[0] == 'o' || id[0] == 'd' ? head_of(id) : 0;

        run->user = (struct user) { .name = STR("system:serviceaccount:kube-system:generic-garbage-collector") };
        run->cause = STR("garbage collection");
        switch (id[0]) {
        case 'o':
                return collect_object(s, run, head, err);
        case 'd':
                return collect_dependents(s, run, head);
        case 'n':
                run->user.name = STR("system:serviceaccount:kube-system:namespace-controller");
                run->cause = STR("deletion of a namespace");
                return namespaces_collect(s, run, about, err);
        case 'c':
                run->user.name = STR("system:apiserver");
                run->cause = STR("deletion of a CustomResourceDefinition");
                return kinds_collect(s, run, about, err);
        default:
                return kinds_establish(s, run, about, err);
        }
}

/* Without the mutex. */
static int perform(struct store *s, const char *id)
{
        _cleanup_arena_ struct arena a;
        struct run run = { .arena = &a, .deadline = DEADLINE_NONE };
        int r;

        arena_init(&a, "collector", 0);
        r = run_task(s, &run, id, NULL);
        return r == ERR_NOT_FOUND ? 0 : r;
}

/* Under the mutex: what becomes of a task that was tried. */
static void finish_task(struct store *s, struct task *t, int r)
{
        struct work *w = &s->work;

        if (r == 0 || w->is_closed) {
                free_task(t);
        } else if (r == TASK_DEFERRED) {
                defer_task(s, t);
        } else if (r == ERR_CONFLICT && t->failures < 100) {
                t->failures++;
                resume_task(w, t);
        } else {
                delay_task(w, t);
        }
}

static void wait_for_tasks(struct store *s)
{
        struct work *w = &s->work;
        struct deadline deadline = { w->delayed ? w->delayed->not_before_ns : INT64_MAX };
        struct waiter waiter;

        while (waiters_grant(&w->settlers))
                ;
        waiters_append(&w->waiters, &waiter);
        waiters_wait(&w->waiters, &waiter, &s->mutex, "tasks", "collector", deadline, NULL);
}

static void collect(void *arg)
{
        struct store *s = arg;
        struct work *w = &s->work;

        mutex_lock(&s->mutex);
        while (!w->is_closed) {
                struct task *t;
                int r;

                resume_delayed(w);
                t = w->first;
                if (!t) {
                        wait_for_tasks(s);
                        continue;
                }
                w->first = t->next;
                map_remove(&w->ids, str_from(t->id));
                w->is_busy = true;
                mutex_unlock(&s->mutex);
                r = perform(s, t->id);
                mutex_lock(&s->mutex);
                w->is_busy = false;
                finish_task(s, t, r);
        }
        mutex_unlock(&s->mutex);
}

int collector_start(struct store *s, struct err *err)
{
        return thread_start("collector", collect, s, &s->work.thread, err);
}

static void free_tasks(struct task *t)
{
        while (t) {
                struct task *next = t->next;

                free_task(t);
                t = next;
        }
}

void collector_stop(struct store *s)
{
        struct work *w = &s->work;

        if (w->thread) {
                mutex_lock(&s->mutex);
                w->is_closed = true;
                wake(w);
                mutex_unlock(&s->mutex);
                thread_join(w->thread);
        }
        free_tasks(w->first);
        free_tasks(w->delayed);
        for (struct map_entry *e = map_first(&w->deferred); e; e = map_next(&w->deferred, e))
                free_task(e->value);
        map_done(&w->ids);
        map_done(&w->delayed_ids);
        map_done(&w->deferred);
}

int collector_settle(struct store *s, struct run *run, struct err *err)
{
        struct work *w = &s->work;
        int r = 0;

        mutex_lock(&s->mutex);
        while (r == 0 && (w->first || w->is_busy)) {
                struct waiter waiter;

                waiters_append(&w->settlers, &waiter);
                r = waiters_wait(&w->settlers, &waiter, &s->mutex, "settle", "collector", run->deadline, run->cancel);
        }
        mutex_unlock(&s->mutex);
        return wait_error(r, run->cancel, "waiting for the collector", err);
}
