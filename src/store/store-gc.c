/* The collector: one thread that does what follows from commits. It deletes what lost its owners, keeps the promises of foreground
 * and orphan deletions (spec/apiserver 7.1), empties namespaces and CRDs that are being deleted, and settles names of CRDs.
 *
 * A commit puts tasks on a list; the thread takes them one by one and sleeps when there are none. Nothing is polled: what a task
 * waits for is itself a commit that brings the task back. Only a task that was refused or failed tries again by itself, later. */
#include "store-state.h"

#include "buf.h"

#include <stdio.h>

#define BATCH          256 /* dependents found in one turn at the mutex */
#define RETRY_FIRST_MS 100
#define RETRY_MOST_MS  60000
#define TASK_DEFERRED  1 /* what a task returns when it needs a kind that is not served */

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

static void add_object(struct store *s, char type, uint64_t head)
{
        char text[17];

        snprintf(text, sizeof(text), "%016llx", (unsigned long long)head);
        collector_add(s, type, str_from(text));
}

static void free_task(struct task *t)
{
        free(t->id);
        free(t);
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

        while (w->deferred) {
                struct task *t = w->deferred;

                w->deferred = t->next;
                resume_task(w, t);
        }
        wake(w);
}

static void delay_task(struct work *w, struct task *t)
{
        struct task **at = &w->delayed;
        int64_t ms = RETRY_FIRST_MS;

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
                resume_task(w, t);
        }
}

/* --- What commits mean --- */

static void notice_owners(struct store *s, const struct facts *f)
{
        for (size_t i = 0; s->n_foreground && f && i < f->n_owners; i++) {
                const struct entry *owner = index_find_uid(s, f->owners[i]);

                if (owner && owner->marks & MARK_FOREGROUND)
                        add_object(s, 'o', f->owners[i]);
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
                add_object(s, 'o', after->uid);
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

        if (before->uid && index_has(s, index_owner_of_uid(before->uid)))
                add_object(s, 'd', before->uid);
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

/* --- Writes --- */

int collector_delete(struct store *s, struct run *run, const struct value *object, enum propagation propagation,
                     struct err *err)
{
        struct write_request req = {
                .verb = WRITE_DELETE,
                .key = object_key_of(object),
                .precondition_uid = meta_uid(object),
                .propagation = propagation,
        };
        int r;

        if (meta_is_deleting(object) && propagation == PROPAGATE_BACKGROUND)
                return 0;
        r = commit_own(s, run, &req, err);
        return r == ERR_NOT_FOUND ? 0 : r;
}

/* Writes the object as it is given, if it is still as it was read. */
static int update(struct store *s, struct run *run, const struct value *object, struct err *err)
{
        struct write_request req = {
                .verb = WRITE_UPDATE,
                .key = object_key_of(object),
                .body = object,
                .manager = STR("kube-controller-manager"),
        };
        int r = commit_own(s, run, &req, err);

        return r == ERR_NOT_FOUND ? 0 : r;
}

/* --- Owners --- */

enum owner_state {
        OWNER_SOLID,
        OWNER_ABSENT,
        OWNER_WAITING, /* in foreground deletion: it waits for its dependents */
        OWNER_UNKNOWN, /* its kind is not served, or cannot own this object */
};

/* Under the mutex. */
static enum owner_state look_up_owner(struct store *s, struct arena *a, const struct owner_reference *o,
                                      struct str namespace)
{
        const struct table *t;
        const struct entry *e;
        struct str group, version;

        if (gvk_split_api_version(o->api_version, &group, &version, NULL) < 0)
                return OWNER_UNKNOWN;
        t = kinds_find_table(s, group, o->kind);
        if (!t || !t->kind || !kind_version(t->kind, version) || (t->kind->is_namespaced && namespace.n == 0))
                return OWNER_UNKNOWN;
        e = tree_find(&t->objects, make_key(a, t->kind->is_namespaced ? namespace : STR(""), o->name));
        if (!e || !e->object || index_find_uid(s, index_uid(o->uid)) != e)
                return OWNER_ABSENT;
        return e->marks & MARK_FOREGROUND ? OWNER_WAITING : OWNER_SOLID;
}

struct owners {
        const struct owner_reference *references;
        enum owner_state *states;
        size_t n;
        size_t count[4]; /* by state */
};

static void look_up_owners(struct store *s, struct arena *a, const struct value *object, struct owners *ret)
{
        *ret = (struct owners) { 0 };
        ret->n = owner_references(a, object, &ret->references);
        ret->states = ARENA_NEW_ARRAY(a, enum owner_state, ret->n);
        mutex_lock(&s->mutex);
        for (size_t i = 0; i < ret->n; i++) {
                ret->states[i] = look_up_owner(s, a, &ret->references[i], meta_namespace(object));
                ret->count[ret->states[i]]++;
        }
        mutex_unlock(&s->mutex);
}

/* The objects that name the uid as their owner. */
static void find_dependents(struct store *s, struct arena *a, uint64_t uid, struct listing *ret)
{
        struct tree_item next = { .head = index_owner_of_uid(uid) }, item = next;
        bool is_done = false;

        *ret = (struct listing) { 0 };
        while (!is_done) {
                struct tree_cursor c;
                size_t i = 0;

                mutex_lock(&s->mutex);
                c = tree_seek(&s->index, next);
                for (; i < BATCH && tree_next(&c, &item) && item.head == next.head; i++)
                        listing_add(ret, a, item.entry, item.entry->object, item.entry->serial);
                mutex_unlock(&s->mutex);
                is_done = i < BATCH;
                next.entry = (struct entry *)((uintptr_t)item.entry + 1); /* whatever comes behind it */
        }
        listing_sort(ret);
}

/* Whether one of the object's own dependents waits for dependents: then waiting for it could go in circles. */
static bool has_waiting_dependent(struct store *s, uint64_t uid, bool *ret_has_dependents)
{
        struct tree_item head = { .head = index_owner_of_uid(uid) }, item;
        struct tree_cursor c;
        bool is_waiting = false;

        *ret_has_dependents = false;
        mutex_lock(&s->mutex);
        c = tree_seek(&s->index, head);
        while (tree_next(&c, &item) && item.head == head.head && !is_waiting) {
                *ret_has_dependents = true;
                is_waiting = item.entry->marks & MARK_FOREGROUND;
        }
        mutex_unlock(&s->mutex);
        return is_waiting;
}

static const struct value *without_states(struct arena *a, const struct value *object, const struct owners *owners)
{
        for (size_t i = 0; i < owners->n; i++)
                if (owners->states[i] == OWNER_ABSENT || owners->states[i] == OWNER_WAITING)
                        object = owner_without_reference(a, object, owners->references[i].uid);
        return object;
}

static const struct value *without_blocking(struct arena *a, const struct value *object)
{
        const struct value *list = value_get(meta(object), STR("ownerReferences"));

        for (size_t i = 0; i < value_count(list); i++) {
                const struct value *item = value_item(list, i);

                if (value_bool(value_get(item, STR("blockOwnerDeletion")), false))
                        list = value_with_item(a, list, i,
                                               value_with(a, item, STR("blockOwnerDeletion"), &value_false));
        }
        return meta_with(a, object, STR("ownerReferences"), list);
}

static enum propagation propagation_of(const struct value *object)
{
        if (meta_has_finalizer(object, STR("orphan")))
                return PROPAGATE_ORPHAN;
        if (meta_has_finalizer(object, STR("foregroundDeletion")))
                return PROPAGATE_FOREGROUND;
        return PROPAGATE_BACKGROUND;
}

/* Deletes the object unless somebody still owns it. */
static int collect_owned(struct store *s, struct run *run, const struct value *object, struct err *err)
{
        uint64_t uid = index_uid(meta_uid(object));
        bool has_dependents, is_circular;
        struct owners owners;

        look_up_owners(s, run->arena, object, &owners);
        if (owners.n == 0)
                return 0;
        if (owners.count[OWNER_UNKNOWN])
                return TASK_DEFERRED;
        if (owners.count[OWNER_SOLID]) {
                const struct value *kept = without_states(run->arena, object, &owners);

                return kept == object ? 0 : update(s, run, kept, err);
        }
        is_circular = has_waiting_dependent(s, uid, &has_dependents);
        if (owners.count[OWNER_WAITING] == 0 || !has_dependents)
                return collector_delete(s, run, object, propagation_of(object), err);
        if (is_circular) {
                const struct value *unblocked = without_blocking(run->arena, object);
                int r = unblocked == object ? 0 : update(s, run, unblocked, err);

                if (r < 0)
                        return r;
        }
        return collector_delete(s, run, object, PROPAGATE_FOREGROUND, err);
}

static bool blocks(struct arena *a, const struct value *dependent, struct str uid)
{
        const struct owner_reference *owners;
        size_t n = owner_references(a, dependent, &owners);

        for (size_t i = 0; i < n; i++)
                if (str_equal(owners[i].uid, uid) && owners[i].blocks_owner_deletion)
                        return true;
        return false;
}

/* A foreground deletion: dependents that block it go first. */
static int collect_foreground(struct store *s, struct run *run, const struct value *owner, struct err *err)
{
        struct str uid = meta_uid(owner);
        struct listing dependents;
        bool is_blocked = false;
        int r = 0;

        find_dependents(s, run->arena, index_uid(uid), &dependents);
        for (size_t i = 0; i < dependents.n && r >= 0; i++) {
                const struct value *v = object_value(dependents.p[i].object, run->arena);

                if (!blocks(run->arena, v, uid))
                        continue;
                is_blocked = true;
                if (!meta_is_deleting(v))
                        r = collect_owned(s, run, v, err);
        }
        listing_done(&dependents);
        if (r < 0 || is_blocked)
                return r; /* their removal brings us back */
        return update(s, run, meta_without_finalizer(run->arena, owner, STR("foregroundDeletion")), err);
}

/* An orphaning deletion: dependents forget their owner first. */
static int collect_orphan(struct store *s, struct run *run, const struct value *owner, struct err *err)
{
        struct str uid = meta_uid(owner);
        struct listing dependents;
        int r = 0;

        find_dependents(s, run->arena, index_uid(uid), &dependents);
        for (size_t i = 0; i < dependents.n && r == 0; i++)
                r = update(s, run,
                           owner_without_reference(run->arena, object_value(dependents.p[i].object, run->arena), uid),
                           err);
        listing_done(&dependents);
        if (r < 0)
                return r;
        return update(s, run, meta_without_finalizer(run->arena, owner, STR("orphan")), err);
}

static int collect_object(struct store *s, struct run *run, uint64_t uid, struct err *err)
{
        const struct value *v = NULL;
        const struct entry *e;
        unsigned marks = 0;

        mutex_lock(&s->mutex);
        e = index_find_uid(s, uid);
        if (e && e->object) {
                struct object *o = object_pin(e->object, run->arena);

                marks = e->marks;
                mutex_unlock(&s->mutex);
                v = object_value(o, run->arena);
        } else {
                mutex_unlock(&s->mutex);
        }
        if (!v)
                return 0;
        if (marks & MARK_FOREGROUND)
                return collect_foreground(s, run, v, err);
        if (marks & MARK_ORPHAN)
                return collect_orphan(s, run, v, err);
        return marks & MARK_DELETING ? 0 : collect_owned(s, run, v, err);
}

/* The owner is gone: each dependent is looked at on its own. */
static int collect_dependents(struct store *s, struct run *run, uint64_t uid)
{
        struct listing dependents;
        uint64_t *uids;

        find_dependents(s, run->arena, uid, &dependents);
        uids = ARENA_NEW_ARRAY(run->arena, uint64_t, dependents.n);
        for (size_t i = 0; i < dependents.n; i++)
                uids[i] = index_uid(meta_uid(object_value(dependents.p[i].object, run->arena)));
        mutex_lock(&s->mutex);
        for (size_t i = 0; i < dependents.n; i++)
                add_object(s, 'o', uids[i]);
        mutex_unlock(&s->mutex);
        listing_done(&dependents);
        return 0;
}

/* --- The thread --- */

static int run_task(struct store *s, struct run *run, const char *id, struct err *err)
{
        struct str about = str_from(id + 1);
        uint64_t head = id[0] == 'o' || id[0] == 'd' ? strtoull(id + 1, NULL, 16) : 0;

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
static void finish_task(struct work *w, struct task *t, int r)
{
        if (r == 0 || w->is_closed) {
                free_task(t);
        } else if (r == TASK_DEFERRED) {
                t->next = w->deferred;
                w->deferred = t;
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
                finish_task(w, t, r);
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
        free_tasks(w->deferred);
        map_done(&w->ids);
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
