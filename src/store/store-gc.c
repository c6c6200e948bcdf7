/* Garbage collection (docs/spec/apiserver 7.1): deletes objects that lost their owners, and completes foreground and orphan
 * deletions. Each function does what is possible now; the commits that it waits for queue its task again. */
#include "store-state.h"

#define BATCH 256 /* dependents found in one turn at the mutex */

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

void collector_delete_next(struct store *s, struct run *run, const struct value *object, int *r, struct err *err)
{
        _cleanup_err_ struct err one = { 0 };

        if (collector_delete(s, run, object, PROPAGATE_BACKGROUND, &one) < 0 && *r == 0)
                *r = err_move(err, &one);
}

/* Writes the given object, if the stored one has not changed since it was read. */
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
        OWNER_WAITING, /* in foreground deletion: the owner waits for its dependents */
        OWNER_UNKNOWN, /* its kind is not served, or cannot own this object */
};

/* Under the mutex. */
static enum owner_state look_up_owner(struct store *s, struct arena *a, const struct owner_reference *o, struct str ns)
{
        const struct table *t;
        struct store_entry *e;
        struct str group, version;

        if (gvk_split_api_version(o->api_version, &group, &version, NULL) < 0)
                return OWNER_UNKNOWN;
        t = kinds_find_table(s, group, o->kind);
        if (!t || !t->kind || !kind_version(t->kind, version))
                return collector_owner_is_gone(s, index_uid(o->uid)) ? OWNER_ABSENT : OWNER_UNKNOWN;
        if (t->kind->is_namespaced && ns.n == 0)
                return OWNER_UNKNOWN;
        e = tree_find(&t->home->objects, store_make_key(a, t->kind->is_namespaced ? ns : STR(""), o->name));
        if (!e || !e->object || !index_is_uid_of(s, index_uid(o->uid), e))
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
                next.entry = (struct store_entry *)((uintptr_t)item.entry + 1); /* the position after this item */
        }
        listing_sort(ret);
}

/* Whether one of the object's own dependents is in foreground deletion. If so, waiting for dependents could become a cycle. */
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

/* Deletes the object unless one of its owners still exists and is not waiting for its dependents. */
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

/* A foreground deletion: deletes the dependents that block it first. */
static int collect_foreground(struct store *s, struct run *run, const struct value *owner, struct err *err)
{
        struct str uid = meta_uid(owner);
        struct listing dependents;
        bool is_blocked = false;
        int r = 0;

        find_dependents(s, run->arena, index_uid(uid), &dependents);
        for (size_t i = 0; i < dependents.n; i++) {
                const struct value *v = object_value(dependents.p[i].object, run->arena);
                _cleanup_err_ struct err one = { 0 };
                int e;

                if (!blocks(run->arena, v, uid))
                        continue;
                is_blocked = true;
                e = meta_is_deleting(v) ? 0 : collect_owned(s, run, v, &one);
                if (r >= 0 && e != 0) /* a refused dependent may wait for the deletion of another one */
                        r = e < 0 ? err_move(err, &one) : e;
        }
        listing_done(&dependents);
        if (r < 0 || is_blocked)
                return r; /* their removal queues this task again */
        return update(s, run, meta_without_finalizer(run->arena, owner, STR("foregroundDeletion")), err);
}

/* An orphaning deletion: removes the owner from its dependents first. */
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

int collect_object(struct store *s, struct run *run, uint64_t uid, struct err *err)
{
        const struct value *v = NULL;
        const struct store_entry *e;
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

/* The owner is gone: examines each dependent on its own. */
int collect_dependents(struct store *s, struct run *run, uint64_t uid)
{
        struct listing dependents;

        find_dependents(s, run->arena, uid, &dependents);
        for (size_t i = 0; i < dependents.n; i++) {
                const struct value *v = object_value(dependents.p[i].object, run->arena);

                collector_add(s, (struct store_task) { .type = TASK_OBJECT, .uid = index_uid(meta_uid(v)) });
        }
        listing_done(&dependents);
        return 0;
}
