/* Writing: the request is turned into a new state by the pipeline without the mutex, and committed under it if nothing that the
 * pipeline looked at has changed; otherwise it is turned again. */
#include "store-state.h"

#include "limits.h"

#define MAX_ATTEMPTS 64

/* One attempt at a write. */
struct attempt {
        struct store *s;
        struct run *run;
        const struct write_request *req;
        bool is_own; /* a write of the store itself */
        struct served served;
        struct object_key key;
        struct str entry_key;
        struct object *live; /* counted; NULL when there is none */
        uint32_t live_serial;
        const struct value *live_value;
        struct object *namespace; /* counted; what a create found */
        struct write_outcome outcome;
        struct kind_change kind_change;

        /* What the commit puts in place; made before it. */
        struct facts before, after;
        struct entry *entry; /* a new one, in case there is none */
        struct event *event;
};

enum commit_result {
        COMMITTED,
        COMMIT_AGAIN, /* something has changed meanwhile */
        COMMIT_EXISTS,
};

static void attempt_done(struct attempt *t)
{
        object_unref(t->live);
        object_unref(t->namespace);
        kind_change_done(&t->kind_change);
        free(t->entry);
        if (t->event) {
                object_unref(t->event->before);
                object_unref(t->event->after);
                free(t->event);
        }
}

static bool is_creation(const struct attempt *t)
{
        return t->req->verb == WRITE_CREATE || !t->live;
}

/* --- What is there --- */

static int find_live(struct attempt *t, struct err *err)
{
        const struct write_request *req = t->req;
        _cleanup_err_ struct err inner = { 0 };
        bool is_namespaced;
        struct entry *e;
        int r;

        t->key = req->key;
        if (t->key.name.n == 0 && req->body)
                t->key.name = meta_name(req->body);
        if (t->key.namespace.n == 0 && req->verb == WRITE_CREATE && req->body)
                t->key.namespace = meta_namespace(req->body);
        r = kinds_lookup(t->s, t->run->arena, t->key.gvk, t->key.namespace.n ? SCOPE_NAMESPACE : SCOPE_CLUSTER,
                         &t->served, &inner);
        if (r < 0 && !(t->is_own && t->served.version))
                return err_move(err, &inner);
        is_namespaced = t->served.kind->is_namespaced;
        if (!is_namespaced)
                t->key.namespace = STR("");
        if (is_namespaced && t->key.namespace.n == 0)
                return status_bad_request(err, "an empty namespace may not be set %s",
                                          req->verb == WRITE_CREATE ? "during creation"
                                                                    : "when a resource name is provided");
        t->entry_key = make_key(t->run->arena, t->key.namespace, t->key.name);
        mutex_lock(&t->s->mutex);
        e = t->key.name.n ? tree_find(&t->served.table->objects, t->entry_key) : NULL;
        if (e && e->object) {
                t->live = object_ref(e->object);
                t->live_serial = e->serial;
        }
        mutex_unlock(&t->s->mutex);
        if (t->live)
                t->live_value = object_value(t->live, t->run->arena);
        return 0;
}

static int check_creation(struct attempt *t, struct err *err)
{
        const struct write_request *req = t->req;
        bool may_create = req->verb == WRITE_CREATE || req->verb == WRITE_APPLY ||
                          (req->verb == WRITE_UPDATE && t->served.kind->allows_create_on_update);
        struct status_subject subject = kind_subject(t->served.kind, t->key.name);

        if (!is_creation(t) || !may_create || req->subresource.n)
                return 0;
        if (t->served.is_terminating)
                return status_forbidden(err, &subject,
                                        "create not allowed while custom resource definition is terminating");
        return 0;
}

static int may_create(void *arg, struct err *err)
{
        struct attempt *t = arg;

        return t->namespace ? 0 : namespaces_check(t->s, t->run, &t->served, &t->key, &t->namespace, err);
}

static int already_exists(const struct attempt *t, const struct value *live, struct err *err)
{
        struct status_subject subject = kind_subject(t->served.kind, t->key.name);
        int r = status_already_exists(err, &subject);

        return live && meta_is_deleting(live) ? err_wrap(err, "object is being deleted") : r;
}

/* --- Preparing the commit --- */

static unsigned depth_below(const struct value *v, unsigned limit)
{
        unsigned deepest = 0;

        if (value_count(v) == 0 || limit == 0)
                return value_count(v) ? 1 : 0;
        VALUE_FOREACH_ITEM (item, v)
                deepest = MAX(deepest, depth_below(item, limit - 1));
        VALUE_FOREACH_MEMBER (m, v)
                deepest = MAX(deepest, depth_below(&m->value, limit - 1));
        return deepest + 1;
}

/* Patches can nest a deep value into a deep object. */
static int check_depth(const struct value *object, struct err *err)
{
        int r;

        if (depth_below(object, LIMIT_DEPTH) < LIMIT_DEPTH)
                return 0;
        r = err_set(err, ERR_LIMIT, "the object is nested deeper than the limit of %d levels", LIMIT_DEPTH);
        err_set_reason(err, REASON_REQUEST_ENTITY_TOO_LARGE);
        return r;
}

static struct entry *new_entry(const struct attempt *t, struct str key)
{
        struct entry *e = xcalloc(1, sizeof(*e) + key.n);

        e->table = t->served.table;
        e->n_namespace = (uint32_t)t->key.namespace.n;
        e->n_key = (uint32_t)key.n;
        memcpy(e->key, key.p, key.n);
        return e;
}

/* Everything that takes time or memory is done here, before the mutex is taken. */
static int prepare(struct attempt *t, struct err *err)
{
        bool is_removal = t->outcome.effect == EFFECT_REMOVE;
        struct arena *a = t->run->arena;
        int r = is_removal ? 0 : check_depth(t->outcome.object, err);

        if (r < 0)
                return r;
        if (t->served.table == t->s->crds) {
                r = kinds_prepare(t->s, t->live_value, is_removal ? NULL : t->outcome.object, &t->kind_change, err);
                if (r < 0)
                        return r;
        }
        if (t->outcome.is_create) {
                t->key.name = meta_name(t->outcome.object);
                t->entry_key = make_key(a, t->key.namespace, t->key.name);
                t->entry = new_entry(t, t->entry_key);
        } else {
                facts_of(a, t->served.table, t->live_value, &t->before);
        }
        t->event = xcalloc(1, sizeof(*t->event));
        t->event->is_removed = is_removal;
        if (is_removal) {
                t->event->after = object_with_version(t->live, 0);
        } else {
                facts_of(a, t->served.table, t->outcome.object, &t->after);
                t->event->after = object_new(t->s->cache, 0, t->outcome.object);
        }
        return 0;
}

/* --- The commit --- */

static void set_marks(struct store *s, struct entry *e, unsigned marks)
{
        s->n_foreground += ((marks & MARK_FOREGROUND) != 0) - ((e->marks & MARK_FOREGROUND) != 0);
        if (e->table == s->namespaces)
                s->n_terminating_namespaces += ((marks & MARK_DELETING) != 0) - ((e->marks & MARK_DELETING) != 0);
        e->marks = (uint8_t)marks;
}

static size_t entry_bytes(const struct entry *e)
{
        return sizeof(*e) + e->n_key;
}

/* Puts the new object (NULL: none) in the entry's place. */
static void replace_object(struct store *s, struct entry *e, struct object *o)
{
        struct table *t = e->table;

        if (e->object) {
                s->object_bytes -= object_size_bytes(e->object) + entry_bytes(e);
                s->n_objects--;
                t->n_objects--;
        }
        if (o) {
                s->object_bytes += object_size_bytes(o) + entry_bytes(e);
                s->n_objects++;
                t->n_objects++;
        }
        e->object = o;
}

static void record(struct store *s, const struct attempt *t, const struct event *e)
{
        struct write_record *r;

        if (!s->options.records_writes)
                return;
        r = xcalloc(1, sizeof(*r));
        arena_init(&r->arena, "write record", 1);
        r->write = (struct store_write) {
                .version = e->version,
                .verb = t->req->verb,
                .key = object_key_copy(&r->arena, &t->key),
                .subresource = arena_copy(&r->arena, t->req->subresource),
                .manager = arena_copy(&r->arena, t->req->manager),
                .user = arena_copy(&r->arena, t->run->user.name),
                .cause = arena_copy(&r->arena, t->run->cause),
                .before = e->before ? object_ref(e->before) : NULL,
                .after = e->is_removed ? NULL : object_ref(e->after),
        };
        vec_push(&s->writes, r);
}

static bool namespace_is_unchanged(const struct attempt *t)
{
        const struct entry *e;

        if (!t->namespace)
                return true;
        e = tree_find(&t->s->namespaces->objects, t->key.namespace);
        return e && e->object == t->namespace;
}

static enum commit_result check_unchanged(const struct attempt *t, const struct entry *e)
{
        const struct object *there = e ? e->object : NULL;

        if (t->served.table->kind != t->served.kind || t->served.table->is_terminating != t->served.is_terminating)
                return COMMIT_AGAIN;
        if (t->outcome.is_create) {
                if (there)
                        return t->req->verb == WRITE_CREATE ? COMMIT_EXISTS : COMMIT_AGAIN;
                return namespace_is_unchanged(t) ? COMMITTED : COMMIT_AGAIN;
        }
        return there == t->live ? COMMITTED : COMMIT_AGAIN;
}

static void wake_version_waiters(struct store *s)
{
        while (waiters_grant(&s->version_waiters))
                ;
}

static void apply(struct attempt *t, struct entry *e, struct event **gone)
{
        struct store *s = t->s;
        struct event *event = TAKE(t->event);
        const struct facts *before = e->object ? &t->before : NULL, *after = event->is_removed ? NULL : &t->after;

        event->version = ++s->version;
        event->entry = e;
        object_set_version(event->after, event->version);
        event->before = e->object; /* the entry's reference moves here */
        event->before_serial = e->serial;
        if (!event->is_removed)
                e->serial = e->table->serial;
        event->serial = e->serial;
        replace_object(s, e, event->is_removed ? NULL : object_ref(event->after));
        index_update(s, e, before, after);
        set_marks(s, e, after ? after->marks : 0);
        record(s, t, event);
        if (t->kind_change.is_change)
                kinds_change(s, &t->kind_change);
        history_append(s, event, gone);
        watch_notify(s, e->table, event);
        collector_notice(s, e, before, after);
        wake_version_waiters(s);
}

static enum commit_result commit(struct attempt *t, struct object **ret_after)
{
        struct store *s = t->s;
        struct table *table = t->served.table;
        struct event *gone = NULL;
        struct entry *e;
        enum commit_result result;

        mutex_lock(&s->mutex);
        e = tree_find(&table->objects, t->entry_key);
        result = check_unchanged(t, e);
        if (result == COMMITTED) {
                if (!e) {
                        e = TAKE(t->entry);
                        tree_insert(&table->objects, (struct tree_item) { .entry = e });
                }
                *ret_after = object_ref(t->event->after);
                apply(t, e, &gone);
        }
        mutex_unlock(&s->mutex);
        history_free_events(gone);
        return result;
}

/* --- The answer --- */

static const struct value *with_version(struct arena *a, const struct value *v, uint64_t version)
{
        return meta_with_str(a, v, STR("resourceVersion"), arena_printf(a, "%llu", (unsigned long long)version));
}

/* The object that stands for a value: the stored one where they are the same. */
static struct object *answer_object(const struct attempt *t, struct object *stored, uint64_t version)
{
        struct object *made;

        if (stored && t->served.version == kind_storage(t->served.kind) && t->req->subresource.n == 0)
                return object_pin(stored, t->run->arena);
        made = object_new(t->s->cache, version, t->outcome.answer);
        object_pin(made, t->run->arena);
        object_unref(made);
        return made;
}

static void answer_committed(const struct attempt *t, struct object *after, struct write_result *ret)
{
        struct arena *a = t->run->arena;
        bool is_removed = t->outcome.effect == EFFECT_REMOVE;

        *ret = (struct write_result) { .is_created = t->outcome.is_create,
                                       .is_removed = is_removed,
                                       .is_changed = true };
        if (is_removed) {
                /* An update that took the last finalizer answers as it was asked, with the old version. */
                ret->value = t->outcome.answer;
                if (t->req->verb != WRITE_DELETE)
                        ret->object = answer_object(t, NULL, object_version(t->live));
                return;
        }
        ret->value = with_version(a, t->outcome.answer, object_version(after));
        ret->object = answer_object(t, t->outcome.answer == t->outcome.object ? after : NULL, object_version(after));
}

/* Nothing was written: what is there, or what would be. */
static void answer_unchanged(const struct attempt *t, struct write_result *ret)
{
        bool is_removed = t->outcome.effect == EFFECT_REMOVE;
        uint64_t version = t->live && !t->outcome.is_create ? object_version(t->live) : 0;

        *ret = (struct write_result) { .is_created = t->outcome.is_create, .is_removed = is_removed };
        ret->value = version ? with_version(t->run->arena, t->outcome.answer, version) : t->outcome.answer;
        if (!(is_removed && t->req->verb == WRITE_DELETE))
                ret->object = answer_object(t, NULL, version);
}

/* --- One write --- */

/* Namespaces and CRDs go in stages of their own. */
static bool has_stages(const struct attempt *t)
{
        return t->served.table == t->s->namespaces || t->served.table == t->s->crds;
}

/* They have no grace period, not even one of 0. */
static void drop_grace(struct attempt *t)
{
        struct write_outcome *o = &t->outcome;

        o->object = meta_with(t->run->arena, o->object, STR("deletionGracePeriodSeconds"), NULL);
        o->answer = meta_with(t->run->arena, o->answer, STR("deletionGracePeriodSeconds"), NULL);
}

/* They say in their status that they are being deleted, in the same write. */
static const struct value *deleted_state(const struct attempt *t)
{
        if (t->req->verb != WRITE_DELETE || !t->live || meta_is_deleting(t->live_value))
                return t->live_value;
        if (t->served.table == t->s->namespaces)
                return namespaces_begin_deletion(t->run->arena, t->live_value);
        if (t->served.table == t->s->crds)
                return kinds_begin_deletion(t->run->arena, t->live_value);
        return t->live_value;
}

static int run_pipeline(struct attempt *t, struct err *err)
{
        struct write_request req = *t->req;
        struct pipeline p = {
                .kind = t->served.kind,
                .version = t->served.version,
                .hooks = t->s->hooks.p,
                .n_hooks = t->s->hooks.n,
                .now = clock_wall(),
                .may_create = may_create,
                .may_create_arg = t,
        };
        int r;

        req.key.namespace = t->key.namespace;
        r = pipeline_run(&p, t->run, &req, deleted_state(t), &t->outcome, err);
        if (r == 0 && req.verb == WRITE_DELETE && t->outcome.effect == EFFECT_STORE && has_stages(t))
                drop_grace(t);
        return r;
}

/* 0 when done, 1 to try again. */
static int try_write(struct attempt *t, struct write_result *ret, struct err *err)
{
        _cleanup_object_ struct object *after = NULL;
        bool may_generate = t->req->verb == WRITE_CREATE && t->key.name.n == 0;
        int r = find_live(t, err);

        if (r < 0)
                return r;
        may_generate = t->req->verb == WRITE_CREATE && t->key.name.n == 0;
        r = namespaces_check_delete(t->req, t->served.kind, err);
        if (r < 0)
                return r;
        r = check_creation(t, err);
        if (r < 0)
                return r;
        r = run_pipeline(t, err);
        if (r < 0)
                return r;
        if (t->outcome.effect == EFFECT_NONE || t->req->is_dry_run) {
                if (t->outcome.is_create && t->live)
                        return already_exists(t, t->live_value, err);
                answer_unchanged(t, ret);
                return 0;
        }
        r = prepare(t, err);
        if (r < 0)
                return r;
        switch (commit(t, &after)) {
        case COMMITTED:
                answer_committed(t, after, ret);
                return 0;
        case COMMIT_EXISTS:
                return may_generate ? 1 : already_exists(t, t->live_value, err);
        case COMMIT_AGAIN:
                return 1;
        }
        return 0;
}

static int too_contended(const struct attempt *t, struct err *err)
{
        struct status_subject subject = kind_subject(t->served.kind, t->key.name);

        if (t->outcome.is_create)
                return status_already_exists(err, &subject);
        return status_modified(err, &subject);
}

/* Tries until nobody interferes. *ret_crd is the name of a CRD that was written. */
static int write_object(struct store *s, struct run *run, const struct write_request *req, bool is_own,
                        struct write_result *ret, struct str *ret_crd, struct err *err)
{
        size_t n_warnings = run->warnings ? run->warnings->n : 0;
        int r = cancel_check(run->cancel, err);

        *ret_crd = STR("");
        for (unsigned attempts = 1; r == 0; attempts++) {
                struct attempt t = { .s = s, .run = run, .req = req, .is_own = is_own };

                if (run->warnings)
                        run->warnings->n = n_warnings; /* those of an attempt that failed come again */
                r = try_write(&t, ret, err);
                if (r == 1)
                        r = attempts == MAX_ATTEMPTS ? too_contended(&t, err) : 0;
                else if (r == 0)
                        r = 1;
                if (r == 1 && ret->is_changed && req->verb != WRITE_DELETE && t.served.table == s->crds)
                        *ret_crd = t.key.name;
                attempt_done(&t);
        }
        return MIN(r, 0);
}

int commit_write(struct cluster *c, struct run *run, const struct write_request *req, struct write_result *ret,
                 struct err *err)
{
        struct store *s = store_of(c);
        struct str crd;
        int r = write_object(s, run, req, false, ret, &crd, err);

        return r == 0 && crd.n ? kinds_establish(s, run, crd, err) : r;
}

int commit_own(struct store *s, struct run *run, const struct write_request *req, struct err *err)
{
        struct write_result result;
        struct str crd;

        return write_object(s, run, req, true, &result, &crd, err);
}

/* --- Many at once --- */

int commit_delete_collection(struct cluster *c, struct run *run, const struct list_request *list,
                             const struct write_request *req, struct object_list *ret, struct err *err)
{
        int r = read_list(c, run, list, ret, err);

        for (size_t i = 0; r == 0 && i < ret->n; i++) {
                _cleanup_err_ struct err one = { 0 };
                struct write_request delete = *req;
                struct write_result result;

                delete.verb = WRITE_DELETE;
                delete.key = (struct object_key) { .gvk = list->gvk,
                                                   .namespace = meta_namespace(ret->values[i]),
                                                   .name = meta_name(ret->values[i]) };
                r = commit_write(c, run, &delete, &result, &one);
                if (r == ERR_NOT_FOUND)
                        r = 0;
                else if (r < 0)
                        r = err_move(err, &one);
        }
        return r;
}
