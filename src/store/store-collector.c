/* The collector: one thread that does the work that follows from commits. It deletes objects that lost their owners (store-gc.c),
 * empties namespaces and CRDs that are being deleted, and decides about names of CRDs.
 *
 * A commit adds tasks to a work queue; the thread takes them one by one and sleeps when there are none. It does not poll: a task
 * that waits for another commit is added again by that commit. Only a task that was refused or failed is tried again after a
 * delay. */
#include "store-commit.h"

#include "buf.h"
#include "log.h"
#include "workqueue.h"

#define RETRY_FIRST_MS 100
#define RETRY_MOST_MS  60000
#define MAX_CONFLICTS  100 /* conflicts in a row before a task waits as after any other failure */

struct collector {
        struct workqueue queue; /* of struct task */
        struct cancel *cancel;  /* wakes the thread from whatever it waits for */
        struct thread *thread;
        struct u64_map
                deferred; /* uids of objects that wait for another kind to be served; under the store's mutex, like the next */
        uint64_t n_kind_changes;
        struct u64_map gone; /* uids of removed owners that still have dependents; under the store's mutex */
};

/* --- Tasks --- */

static const char *const task_names[] = {
        [TASK_OBJECT] = "object",    [TASK_DEPENDENTS] = "dependents", [TASK_NAMESPACE] = "namespace",
        [TASK_CRD] = "CRD deletion", [TASK_CRD_NAMES] = "CRD names",
};

static bool is_about_uid(const struct store_task *t)
{
        return t->type == TASK_OBJECT || t->type == TASK_DEPENDENTS;
}

/* A copy of the task and its name in one allocation. */
static struct store_task *copy_task(const struct store_task *t)
{
        struct store_task *copy = xmalloc(sizeof(*copy) + t->name.n);
        char *name = (char *)(copy + 1);

        if (t->name.n)
                memcpy(name, t->name.p, t->name.n);
        *copy = (struct store_task) { .type = t->type, .uid = t->uid, .name = str_make(name, t->name.n) };
        return copy;
}

/* The key of a task: its type, and its uid or name. Two tasks with the same key are one task. */
static struct str task_key(struct buf *b, const struct store_task *t)
{
        buf_append_char(b, (char)t->type);
        if (is_about_uid(t))
                buf_append(b, (const char *)&t->uid, sizeof(t->uid));
        else
                buf_append_str(b, t->name);
        return buf_str(b);
}

void collector_add(struct store *s, struct store_task task)
{
        _cleanup_buf_ struct buf key = BUF_INIT(0);

        if (s->collector)
                workqueue_add(&s->collector->queue, task_key(&key, &task), copy_task(&task));
}

void collector_kinds_changed(struct store *s)
{
        struct collector *c = s->collector;

        if (!c)
                return;
        c->n_kind_changes++;
        for (struct map_entry *e; (e = map_first(&c->deferred.map));) {
                uint64_t uid = u64_map_key(e);

                u64_map_remove(&c->deferred, uid);
                collector_add(s, (struct store_task) { .type = TASK_OBJECT, .uid = uid });
        }
}

/* --- Tasks that follow from commits --- */

bool collector_owner_is_gone(struct store *s, uint64_t uid)
{
        return s->collector && u64_map_has(&s->collector->gone, uid);
}

/* Forgets removed owners that have no dependents any more. */
static void forget_gone(struct store *s, const struct facts *before)
{
        struct u64_map *gone = &s->collector->gone;

        for (size_t i = 0; gone->map.n && before && i < before->n_owners; i++)
                if (u64_map_has(gone, before->owners[i]) && !index_has(s, index_owner_of_uid(before->owners[i])))
                        u64_map_remove(gone, before->owners[i]);
}

static void notice_owners(struct store *s, const struct facts *f)
{
        for (size_t i = 0; s->n_foreground && f && i < f->n_owners; i++) {
                const struct store_entry *owner = index_find_uid(s, f->owners[i]);

                if (owner && owner->marks & MARK_FOREGROUND)
                        collector_add(s, (struct store_task) { .type = TASK_OBJECT, .uid = f->owners[i] });
        }
}

bool collector_owner_is_solid(struct store *s, const struct store_entry *e, uint64_t uid)
{
        const struct store_entry *owner = index_find_uid(s, uid);

        return owner && !(owner->marks & MARK_FOREGROUND) &&
               (owner->n_namespace == 0 || str_equal(entry_namespace(owner), entry_namespace(e)));
}

static void notice_stored(struct store *s, struct store_entry *e, const struct facts *after)
{
        bool is_doubtful = (after->marks & (MARK_FOREGROUND | MARK_ORPHAN)) != 0;

        for (size_t i = 0; i < after->n_owners && !is_doubtful; i++)
                is_doubtful = !collector_owner_is_solid(s, e, after->owners[i]);
        if (is_doubtful && after->uid)
                collector_add(s, (struct store_task) { .type = TASK_OBJECT, .uid = after->uid });
        if (!(after->marks & MARK_DELETING))
                return;
        if (e->table == s->namespaces)
                collector_add(s, (struct store_task) { .type = TASK_NAMESPACE, .name = entry_name(e) });
        if (e->table == s->crds)
                collector_add(s, (struct store_task) { .type = TASK_CRD, .name = entry_name(e) });
}

/* Called when the last instance of a kind is removed whose CRD is being deleted: the CRD can go now. */
static void notice_last(struct store *s, const struct kind *kind)
{
        _cleanup_buf_ struct buf crd = BUF_INIT(0);

        buf_appendf(&crd, "%.*s.%.*s", STR_ARG(kind->plural), STR_ARG(kind->group));
        collector_add(s, (struct store_task) { .type = TASK_CRD, .name = buf_str(&crd) });
}

static void notice_removed(struct store *s, struct store_entry *e, const struct facts *before)
{
        const struct table *t = e->table;

        if (before->uid) {
                u64_map_remove(&s->collector->deferred, before->uid); /* a removed object no longer waits for a kind */
                if (index_has(s, index_owner_of_uid(before->uid))) {
                        u64_map_set(&s->collector->gone, before->uid,
                                    s); /* its kind may be gone before its dependents */
                        collector_add(s, (struct store_task) { .type = TASK_DEPENDENTS, .uid = before->uid });
                }
        }
        if (s->n_terminating_namespaces && e->n_namespace) {
                const struct store_entry *ns = tree_find(&s->namespaces->objects, entry_namespace(e));

                if (ns && ns->marks & MARK_DELETING)
                        collector_add(s, (struct store_task) { .type = TASK_NAMESPACE, .name = entry_namespace(e) });
        }
        if (t->is_terminating && t->kind && t->n_objects == 0)
                notice_last(s, t->kind);
}

void collector_notice(struct store *s, struct store_entry *e, const struct facts *before, const struct facts *after)
{
        if (!s->collector)
                return;
        notice_owners(s, before);
        forget_gone(s, before);
        if (after)
                notice_stored(s, e, after);
        else
                notice_removed(s, e, before);
}

/* --- The thread --- */

static int run_task(struct store *s, struct run *run, const struct store_task *t, struct err *err)
{
        run->user = (struct user) { .name = STR("system:serviceaccount:kube-system:generic-garbage-collector") };
        run->cause = STR("garbage collection");
        switch (t->type) {
        case TASK_OBJECT:
                return collect_object(s, run, t->uid, err);
        case TASK_DEPENDENTS:
                return collect_dependents(s, run, t->uid);
        case TASK_NAMESPACE:
                run->user.name = STR("system:serviceaccount:kube-system:namespace-controller");
                run->cause = STR("deletion of a namespace");
                return namespaces_collect(s, run, t->name, err);
        case TASK_CRD:
                run->user.name = STR("system:apiserver");
                run->cause = STR("deletion of a CustomResourceDefinition");
                return kinds_collect(s, run, t->name, err);
        case TASK_CRD_NAMES:
                return kinds_establish(s, run, t->name, err);
        }
        return 0;
}

static int perform(struct store *s, const struct store_task *t, struct err *err)
{
        _cleanup_arena_ struct arena a;
        struct run run = { .arena = &a, .deadline = DEADLINE_NONE, .cancel = s->collector->cancel };
        int r;

        arena_init(&a, "collector", 0);
        r = run_task(s, &run, t, err);
        return r == ERR_NOT_FOUND ? 0 : r;
}

/* The kind and name of the task's object, as far as they are known. */
static struct str describe(struct store *s, struct arena *a, const struct store_task *t)
{
        const struct store_entry *e;
        struct str text;

        if (!is_about_uid(t))
                return t->name;
        mutex_lock(&s->mutex);
        e = index_find_uid(s, t->uid);
        text = e ? arena_printf(a, "%s %.*s", e->table->name, STR_ARG(entry_key(e))) : STR("an object that is gone");
        mutex_unlock(&s->mutex);
        return text;
}

/* Logs the error: the task has no caller that could report it. That an object in use cannot be deleted yet is nothing to warn of. */
static void log_failure(struct store *s, const struct store_task *t, unsigned failures, const struct err *err)
{
        _cleanup_arena_ struct arena a;

        arena_init(&a, "collector", 0);
        if (err->code == ERR_FORBIDDEN)
                log_info("a deletion is refused; it is tried again", LOG_TEXT("task", task_names[t->type]),
                         LOG_STR("object", describe(s, &a, t)), LOG_UINT("failures", failures), LOG_ERR("error", err));
        else
                log_warn("the store could not do what follows from a write; it tries again",
                         LOG_TEXT("task", task_names[t->type]), LOG_STR("object", describe(s, &a, t)),
                         LOG_UINT("failures", failures), LOG_ERR("error", err));
}

/* Defers the task until another kind is served. A kind change while the task ran queues it again at once; a removed object needs no
 * task. */
static void defer_task(struct store *s, const struct store_task *t, uint64_t n_kind_changes)
{
        mutex_lock(&s->mutex);
        if (s->collector->n_kind_changes != n_kind_changes)
                collector_add(s, *t);
        else if (index_has(s, t->uid))
                u64_map_set(&s->collector->deferred, t->uid, s);
        mutex_unlock(&s->mutex);
}

static uint64_t count_kind_changes(struct store *s)
{
        uint64_t n;

        mutex_lock(&s->mutex);
        n = s->collector->n_kind_changes;
        mutex_unlock(&s->mutex);
        return n;
}

/* True when another try cannot succeed: the store is closed, or its log has failed, which was logged. */
static bool is_in_vain(struct store *s)
{
        return cancel_is_triggered(s->collector->cancel) || commit_check_open(s, NULL) < 0;
}

static void do_work(struct store *s, const struct work *w)
{
        struct workqueue *q = &s->collector->queue;
        _cleanup_err_ struct err err = { 0 };
        const struct store_task *t = w->payload;
        uint64_t n_kind_changes = count_kind_changes(s);
        int r = perform(s, t, &err);

        if (r >= 0) {
                workqueue_forget(q, w->key);
                if (r == TASK_DEFERRED)
                        defer_task(s, t, n_kind_changes);
        } else if (is_in_vain(s)) {
                workqueue_forget(q, w->key);
        } else if (r == ERR_CONFLICT && w->failures < MAX_CONFLICTS) {
                log_debug("a write changed what the collector was at", LOG_ERR("error", &err));
                workqueue_add_failed(q, w->key, NULL);
        } else {
                log_failure(s, t, workqueue_add_after_failure(q, w->key, NULL), &err);
        }
}

static void collect(void *arg)
{
        struct store *s = arg;
        struct workqueue *q = &s->collector->queue;
        struct work *w;

        while (workqueue_take(q, &w, DEADLINE_NONE, NULL) == 0) {
                do_work(s, w);
                workqueue_finish(q, w);
        }
}

void collector_new(struct store *s)
{
        static const struct workqueue_options options = {
                .name = "collector",
                .backoff_first_ms = RETRY_FIRST_MS,
                .backoff_most_ms = RETRY_MOST_MS,
                .free_payload = free,
        };
        struct collector *c = xcalloc(1, sizeof(*c));

        workqueue_init(&c->queue, &options);
        c->cancel = cancel_new(NULL);
        s->collector = c;
}

int collector_start(struct store *s, struct err *err)
{
        return thread_start("collector", collect, s, &s->collector->thread, err);
}

void collector_stop(struct store *s)
{
        struct collector *c = s->collector;

        if (!c)
                return;
        workqueue_close(&c->queue);
        cancel_trigger(c->cancel, "the store is closed");
        if (c->thread)
                thread_join(TAKE(c->thread));
}

void collector_free(struct store *s)
{
        struct collector *c = TAKE(s->collector);

        if (!c)
                return;
        workqueue_done(&c->queue);
        u64_map_done(&c->deferred);
        u64_map_done(&c->gone);
        cancel_unref(c->cancel);
        free(c);
}

int collector_settle(struct store *s, struct run *run, struct err *err)
{
        int r = workqueue_settle(&s->collector->queue, run->deadline, run->cancel);

        return wait_error(r, run->cancel, "waiting for the collector", err);
}

size_t collector_count_waiting(struct store *s)
{
        size_t n = workqueue_counts(&s->collector->queue).n_delayed;

        mutex_lock(&s->mutex);
        n += s->collector->deferred.map.n;
        mutex_unlock(&s->mutex);
        return n;
}
