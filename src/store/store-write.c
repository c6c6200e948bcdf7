/* Writing: the preparation computes a new state from the request without the mutex. The state is committed (store-commit.h) if nothing
 * that the preparation read has changed; otherwise the preparation runs again. */
#include "store-commit.h"

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
        struct object *ns; /* counted; the namespace's object that a create found */
        struct write_outcome outcome;
        struct commit *commit; /* NULL until there is something to commit */
};

static void attempt_done(struct attempt *t)
{
        object_unref(t->live);
        object_unref(t->ns);
        commit_free(t->commit);
}

static bool is_creation(const struct attempt *t)
{
        return t->req->verb == WRITE_CREATE || !t->live;
}

/* --- The current state --- */

/* Waits for an unpublished commit to the kind's CRD, which may create, change or remove the kind. */
static int await_kind(const struct attempt *t, struct err *err)
{
        struct store *s = t->s;
        struct table *table;
        int r = 0;

        if (!s->writer)
                return 0;
        mutex_lock(&s->mutex);
        table = kinds_find_table(s, t->key.gvk.group, t->key.gvk.kind);
        if (table)
                r = commit_await_kind(s, t->run, table, err);
        mutex_unlock(&s->mutex);
        return r;
}

/* Finds the current object. */
static int take_live(struct attempt *t, struct err *err)
{
        struct store *s = t->s;
        const struct store_entry *e;
        int r;

        mutex_lock(&s->mutex);
        r = commit_await_object(s, t->run, t->served.table, t->entry_key, err);
        e = r == 0 ? tree_find(&t->served.table->objects, t->entry_key) : NULL;
        if (e && e->object) {
                t->live = object_ref(e->object);
                t->live_serial = e->serial;
        }
        mutex_unlock(&s->mutex);
        if (t->live)
                t->live_value = object_value(t->live, t->run->arena);
        return r;
}

static int find_live(struct attempt *t, struct err *err)
{
        const struct write_request *req = t->req;
        _cleanup_err_ struct err inner = { 0 };
        int r;

        t->key = req->key;
        if (t->key.name.n == 0 && req->body)
                t->key.name = meta_name(req->body);
        if (t->key.ns.n == 0 && req->verb == WRITE_CREATE && req->body)
                t->key.ns = meta_namespace(req->body);
        r = await_kind(t, err);
        if (r < 0)
                return r;
        r = kinds_lookup(t->s, t->run->arena, t->key.gvk, t->key.ns.n ? SCOPE_NAMESPACE : SCOPE_CLUSTER, &t->served,
                         &inner);
        if (r < 0 && !(t->is_own && t->served.version))
                return err_move(err, &inner);
        if (!t->served.kind->is_namespaced)
                t->key.ns = STR("");
        else if (t->key.ns.n == 0)
                return status_bad_request(err, "an empty namespace may not be set %s",
                                          req->verb == WRITE_CREATE ? "during creation"
                                                                    : "when a resource name is provided");
        t->entry_key = store_make_key(t->run->arena, t->key.ns, t->key.name);
        return t->key.name.n ? take_live(t, err) : 0;
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

        return t->ns ? 0 : namespaces_check(t->s, t->run, &t->served, &t->key, &t->ns, err);
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

/* Checks the depth: a patch can nest a deep value in a deep object, and the sum may be too deep. */
static int check_depth(const struct value *object, struct err *err)
{
        int r;

        if (depth_below(object, LIMIT_DEPTH) < LIMIT_DEPTH)
                return 0;
        r = err_set(err, ERR_LIMIT, "the object is nested deeper than the limit of %d levels", LIMIT_DEPTH);
        err_set_reason(err, REASON_REQUEST_ENTITY_TOO_LARGE);
        return r;
}

struct store_entry *store_entry_new(struct table *t, struct str ns, struct str key)
{
        struct store_entry *e = xcalloc(1, sizeof(*e) + key.n);

        e->table = t;
        e->n_namespace = (uint32_t)ns.n;
        e->n_key = (uint32_t)key.n;
        memcpy(e->key, key.p, key.n);
        return e;
}

static void prepare_entry(struct attempt *t)
{
        struct commit *c = t->commit;

        if (c->is_create) {
                t->key.name = meta_name(t->outcome.object);
                t->entry_key = store_make_key(t->run->arena, t->key.ns, t->key.name);
                c->entry = store_entry_new(t->served.table, t->key.ns, t->entry_key);
        } else {
                store_facts_of(c->arena, c->table, t->live_value, &c->before);
                c->previous = object_version(t->live);
        }
        c->names = t->key;
        c->key = t->entry_key;
        if (c->is_logged) { /* the commit may outlive the caller */
                c->names = object_key_copy(c->arena, &t->key);
                c->key = arena_copy(c->arena, t->entry_key);
        }
}

static void prepare_event(struct attempt *t)
{
        struct commit *c = t->commit;

        c->event = xcalloc(1, sizeof(*c->event));
        c->event->is_removed = t->outcome.effect == EFFECT_REMOVE;
        if (c->event->is_removed) {
                c->object = object_with_version(t->live, 0);
        } else {
                store_facts_of(c->arena, c->table, t->outcome.object, &c->after);
                c->object = object_new(t->s->cache, 0, t->outcome.object);
        }
        c->event->after = object_ref(c->object);
        c->size_bytes = sizeof(*c) + object_size_bytes(c->object) + c->key.n;
        if (t->s->options.records_writes)
                c->record = write_record_new(t->req, t->run, &t->key);
}

/* Does everything that takes time or memory here, before the mutex is taken. */
static int prepare(struct attempt *t, struct err *err)
{
        bool is_removal = t->outcome.effect == EFFECT_REMOVE;
        struct commit *c = t->commit = commit_new(t->s, t->run->arena);
        int r = is_removal ? 0 : check_depth(t->outcome.object, err);

        if (r == 0 && t->served.table == t->s->crds)
                r = kinds_prepare(t->s, t->live_value, is_removal ? NULL : t->outcome.object, &c->kind_change, err);
        if (r < 0)
                return r;
        c->table = t->served.table;
        c->serial = t->served.serial;
        c->is_terminating = t->served.is_terminating;
        c->live = t->live;
        c->namespace_object = t->ns;
        c->is_create = t->outcome.is_create;
        c->is_for_new = t->req->verb == WRITE_CREATE;
        prepare_entry(t);
        prepare_event(t);
        return 0;
}

/* --- The answer --- */

static const struct value *with_version(struct arena *a, const struct value *v, uint64_t version)
{
        return meta_with_str(a, v, STR("resourceVersion"), arena_printf(a, "%llu", (unsigned long long)version));
}

/* The object for the answer's value; the stored object when it is the same. */
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
                                       .is_changed = true,
                                       .replaced_version =
                                               t->live && !t->outcome.is_create ? object_version(t->live) : 0 };
        if (is_removed) {
                /* An update that removed the last finalizer answers with the updated object and its old version. */
                ret->value = t->outcome.answer;
                if (t->req->verb == WRITE_DELETE && after)
                        ret->value = with_version(a, ret->value, object_version(after));
                else if (t->req->verb != WRITE_DELETE)
                        ret->object = answer_object(t, NULL, object_version(t->live));
                return;
        }
        ret->value = with_version(a, t->outcome.answer, object_version(after));
        ret->object = answer_object(t, t->outcome.answer == t->outcome.object ? after : NULL, object_version(after));
}

/* The answer when nothing was written: the current object, or for a dry run the object that would be stored. */
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

/* The deletion of namespaces and CRDs has stages of its own. */
static bool has_stages(const struct attempt *t)
{
        return t->served.table == t->s->namespaces || t->served.table == t->s->crds;
}

/* Namespaces and CRDs have no grace period, not even one of 0. */
static void drop_grace(struct attempt *t)
{
        struct write_outcome *o = &t->outcome;

        o->object = meta_with(t->run->arena, o->object, STR("deletionGracePeriodSeconds"), NULL);
        o->answer = meta_with(t->run->arena, o->answer, STR("deletionGracePeriodSeconds"), NULL);
}

/* The live object. When a delete of a namespace or CRD begins, its status also says that it is being deleted; the same write stores
 * both. */
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

static int run_preparation(struct attempt *t, struct err *err)
{
        struct write_request req = *t->req;
        struct preparation p = {
                .kind = t->served.kind,
                .version = t->served.version,
                .hooks = t->s->hooks.p,
                .n_hooks = t->s->hooks.n,
                .now = clock_wall(),
                .may_create = may_create,
                .may_create_arg = t,
        };
        int r;

        req.key.ns = t->key.ns;
        r = prepare_write(&p, t->run, &req, deleted_state(t), &t->outcome, err);
        if (r == 0 && req.verb == WRITE_DELETE && t->outcome.effect == EFFECT_STORE && has_stages(t))
                drop_grace(t);
        return r;
}

/* A caller may be promised a write that needs nothing more once it is published; a CRD gets its names. */
static struct write_promise *promise_of(const struct attempt *t)
{
        return t->served.table == t->s->crds ? NULL : t->req->promise;
}

/* Commits the outcome of the preparation. The commit may be gone when it returns, so the object is counted before. */
static int try_commit(struct attempt *t, bool may_generate, struct write_result *ret, struct err *err)
{
        _cleanup_object_ struct object *after = NULL;
        int r = prepare(t, err);

        if (r == 0) {
                after = object_ref(t->commit->object);
                r = commit_run(&t->commit, t->run, promise_of(t), err);
        }
        if (r == COMMIT_EXISTS)
                return may_generate ? COMMIT_AGAIN : already_exists(t, t->live_value, err);
        if (r == COMMIT_DONE)
                answer_committed(t, after, ret);
        return r;
}

/* COMMIT_DONE with the answer; COMMIT_AGAIN or COMMIT_WAITED to try again. */
static int try_write(struct attempt *t, struct write_result *ret, struct err *err)
{
        bool may_generate;
        int r = find_live(t, err);

        if (r < 0)
                return r;
        may_generate = t->req->verb == WRITE_CREATE && t->key.name.n == 0;
        r = namespaces_check_delete(t->req, t->served.kind, err);
        if (r == 0)
                r = check_creation(t, err);
        if (r == 0)
                r = run_preparation(t, err);
        if (r < 0)
                return r;
        if (t->outcome.effect != EFFECT_NONE && !t->req->is_dry_run)
                return try_commit(t, may_generate, ret, err);
        if (t->outcome.is_create && t->live)
                return already_exists(t, t->live_value, err);
        answer_unchanged(t, ret);
        return COMMIT_DONE;
}

static int too_contended(const struct attempt *t, struct err *err)
{
        struct status_subject subject = kind_subject(t->served.kind, t->key.name);

        if (t->outcome.is_create)
                return status_already_exists(err, &subject);
        return status_modified(err, &subject);
}

static void note_crd(const struct attempt *t, const struct write_result *result, struct str *ret_crd)
{
        if (result->is_changed && t->req->verb != WRITE_DELETE && t->served.table == t->s->crds)
                *ret_crd = t->key.name;
}

/* Tries until no other writer interferes, at most MAX_ATTEMPTS times. Waiting for a write that is being logged does not count as a
 * try. *ret_crd is the name of the CRD if one was written, else "". */
static int write_object(struct store *s, struct run *run, const struct write_request *req, bool is_own,
                        struct write_result *ret, struct str *ret_crd, struct err *err)
{
        size_t n_warnings = run->warnings ? run->warnings->n : 0;
        int r = cancel_check(run->cancel, err);

        *ret_crd = STR("");
        if (r == 0 && !req->is_dry_run)
                r = commit_check_open(s, err);
        if (r < 0)
                return r;
        for (unsigned attempts = 1;; attempts += r == COMMIT_AGAIN) {
                struct attempt t = { .s = s, .run = run, .req = req, .is_own = is_own };

                if (run->warnings)
                        run->warnings->n = n_warnings; /* the next attempt adds the same warnings again */
                r = try_write(&t, ret, err);
                if (r == COMMIT_AGAIN && attempts == MAX_ATTEMPTS)
                        r = too_contended(&t, err);
                if (r == COMMIT_DONE)
                        note_crd(&t, ret, ret_crd);
                attempt_done(&t);
                if (r <= 0)
                        return r;
        }
}

int commit_write(struct cluster *c, struct run *run, const struct write_request *req, struct write_result *ret,
                 struct err *err)
{
        struct store *s = store_of(c);
        struct str crd;
        int r = write_object(s, run, req, false, ret, &crd, err);

        if (r < 0 || crd.n == 0)
                return r;
        r = kinds_establish(s, run, crd, err);
        if (r < 0)
                collector_add(s, (struct store_task) { .type = TASK_CRD_NAMES, .name = crd });
        return r;
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
        int r = cluster_list(c, run, list, ret, err);

        for (size_t i = 0; r == 0 && i < ret->n; i++) {
                _cleanup_err_ struct err one = { 0 };
                struct write_request deletion = *req;
                const struct value *object = object_list_value(ret, i, run->arena);
                struct write_result result;

                deletion.verb = WRITE_DELETE;
                deletion.key = (struct object_key) { .gvk = list->gvk,
                                                     .ns = meta_namespace(object),
                                                     .name = meta_name(object) };
                r = commit_write(c, run, &deletion, &result, &one);
                if (r == ERR_NOT_FOUND)
                        r = 0;
                else if (r < 0)
                        r = err_move(err, &one);
        }
        return r;
}
