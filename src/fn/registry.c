#include "registry.h"

#include "buf.h"
#include "gotext.h"
#include "limits.h"
#include "map.h"
#include "park.h"
#include "vec.h"

#include <stdatomic.h>

struct revision {
        struct arena arena; /* owns the revision's data except the function */
        struct function_revision is;
};

struct entry {
        struct str name;
        struct function *function; /* NULL: only revisions are known */
        VEC(struct revision *) revisions;
};

struct function_rollout {
        struct rollout *rollout;
        struct str function;
        char bytes[];
};

struct registry {
        struct mutex mutex;
        struct map entries;
        struct map rollouts; /* by function: struct function_rollout */
        const char *hint;
};

struct registry *registry_new(void)
{
        struct registry *r = xcalloc(1, sizeof(*r));

        mutex_init(&r->mutex);
        r->hint = "";
        return r;
}

static void revision_free(struct revision *v)
{
        if (!v)
                return;
        if (v->is.function)
                atomic_store(&v->is.function->is_replaced, true);
        function_unref(v->is.function);
        arena_done(&v->arena);
        free(v);
}

static void entry_free(struct entry *e)
{
        for (size_t i = 0; i < e->revisions.n; i++)
                revision_free(e->revisions.p[i]);
        vec_done(&e->revisions);
        function_unref(e->function);
        free((char *)e->name.p);
        free(e);
}

static void rollouts_free(struct registry *r)
{
        for (struct map_entry *e = map_first(&r->rollouts); e; e = map_next(&r->rollouts, e)) {
                struct function_rollout *f = e->value;

                rollout_free(f->rollout);
                free(f);
        }
        map_done(&r->rollouts);
}

void registry_free(struct registry *r)
{
        if (!r)
                return;
        rollouts_free(r);
        for (struct map_entry *e = map_first(&r->entries); e; e = map_next(&r->entries, e))
                entry_free(e->value);
        map_done(&r->entries);
        mutex_done(&r->mutex);
        free(r);
}

void registry_set_hint(struct registry *r, const char *hint)
{
        r->hint = hint;
}

/* --- Entries. The mutex is held. --- */

static struct entry *entry_of(struct registry *r, struct str name)
{
        struct entry *e = map_get(&r->entries, name);

        if (e)
                return e;
        e = xcalloc(1, sizeof(*e));
        e->name = str_make(str_to_cstring(name), name.n);
        map_set(&r->entries, e->name, e);
        return e;
}

static ptrdiff_t index_of(const struct entry *e, struct str revision)
{
        for (size_t i = 0; i < e->revisions.n; i++)
                if (str_equal(e->revisions.p[i]->is.name, revision))
                        return (ptrdiff_t)i;
        return -1;
}

/* The replaced function is released after unlocking, because it may be the last reference, and freeing a function must not hold the
 * lock. */

void registry_set(struct registry *r, struct str name, struct function *f)
{
        struct function *old;
        struct entry *e;

        mutex_lock(&r->mutex);
        e = entry_of(r, name);
        old = e->function;
        e->function = f;
        mutex_unlock(&r->mutex);
        function_unref(old);
}

static struct revision *copy_revision(const struct function_revision *from)
{
        struct revision *v = xcalloc(1, sizeof(*v));

        arena_init(&v->arena, "function revision", 0);
        v->is = *from;
        v->is.name = arena_copy(&v->arena, from->name);
        v->is.labels = from->labels ? value_copy(&v->arena, from->labels) : &value_empty_object;
        return v;
}

void registry_set_revision(struct registry *r, struct str function, const struct function_revision *revision)
{
        struct revision *v = copy_revision(revision), *old = NULL;
        struct entry *e;
        ptrdiff_t i;

        mutex_lock(&r->mutex);
        e = entry_of(r, function);
        i = index_of(e, revision->name);
        if (i >= 0) {
                old = e->revisions.p[i];
                e->revisions.p[i] = v;
        } else {
                vec_push(&e->revisions, v);
        }
        mutex_unlock(&r->mutex);
        revision_free(old);
}

bool registry_remove_revision(struct registry *r, struct str function, struct str revision)
{
        struct revision *old = NULL;
        struct entry *e, *empty = NULL;
        ptrdiff_t i;

        mutex_lock(&r->mutex);
        e = map_get(&r->entries, function);
        i = e ? index_of(e, revision) : -1;
        if (i >= 0) {
                old = e->revisions.p[i];
                vec_remove(&e->revisions, (size_t)i);
                if (e->revisions.n == 0 && !e->function)
                        empty = map_remove(&r->entries, e->name);
        }
        mutex_unlock(&r->mutex);
        if (empty)
                entry_free(empty);
        revision_free(old);
        return i >= 0;
}

/* --- Choosing a revision. The mutex is held. --- */

static bool labels_match(const struct value *labels, const struct value *wanted)
{
        VALUE_FOREACH_MEMBER (m, wanted) {
                const struct value *v = value_get(labels, m->key);

                if (!v || !str_equal(value_str(v), value_str(&m->value)))
                        return false;
        }
        return true;
}

static bool fits(const struct revision *v, const struct function_choice *choice)
{
        return choice->revision.n ? str_equal(v->is.name, choice->revision)
                                  : labels_match(v->is.labels, choice->match_labels);
}

/* Revisions with equal numbers are compared by name, so that the result does not depend on their order of arrival. */
static bool is_better(const struct revision *v, const struct revision *than)
{
        if (!than || (v->is.function != NULL) != (than->is.function != NULL))
                return !than || v->is.function;
        if (v->is.number != than->is.number)
                return v->is.number > than->is.number;
        return str_compare(v->is.name, than->is.name) > 0;
}

static const struct revision *choose(const struct entry *e, const struct function_choice *choice, size_t *ret_n_fit)
{
        const struct revision *best = NULL;

        *ret_n_fit = 0;
        for (size_t i = 0; i < e->revisions.n; i++) {
                const struct revision *v = e->revisions.p[i];

                if (!fits(v, choice))
                        continue;
                ++*ret_n_fit;
                if (v->is.is_active && is_better(v, best))
                        best = v;
        }
        return best;
}

/* --- Rollouts. The mutex is held. --- */

static struct rollout *rollout_of(const struct registry *r, struct str function)
{
        const struct function_rollout *f = map_get(&r->rollouts, function);

        return f ? f->rollout : NULL;
}

/* The plan of the rollout that decides for a step; NULL: there is none, or the step chooses itself. */
static const struct rollout_plan *deciding_plan(const struct registry *r, struct str function,
                                                const struct function_choice *choice)
{
        const struct rollout *rollout = function_choice_is_given(choice) ? NULL : rollout_of(r, function);

        return rollout && rollout_plan(rollout)->is_on ? rollout_plan(rollout) : NULL;
}

/* NULL: there is no such revision, or it cannot be called. */
static const struct revision *serving(const struct entry *e, struct str name)
{
        ptrdiff_t i = index_of(e, name);
        const struct revision *v = i >= 0 ? e->revisions.p[i] : NULL;

        return v && v->is.is_active && v->is.function ? v : NULL;
}

static const struct revision *choose_by_plan(const struct entry *e, const struct rollout_plan *plan, struct str uid)
{
        const struct revision *to =
                rollout_side_of(plan, uid) == ROLLOUT_TO && plan->to.n > 0 ? serving(e, plan->to) : NULL;

        return to ? to : serving(e, plan->from);
}

/* --- Explaining why no revision was found --- */

static const struct entry *owner_of(const struct registry *r, struct str revision)
{
        for (struct map_entry *e = map_first(&r->entries); e; e = map_next(&r->entries, e))
                if (index_of(e->value, revision) >= 0)
                        return e->value;
        return NULL;
}

struct str registry_owner(struct registry *r, struct arena *a, struct str revision)
{
        const struct entry *e;
        struct str name = { 0 };

        mutex_lock(&r->mutex);
        e = owner_of(r, revision);
        if (e)
                name = arena_copy(a, e->name);
        mutex_unlock(&r->mutex);
        return name;
}

static void append_names(struct buf *b, const struct entry *e)
{
        buf_append_literal(b, "the Function has no such revision");
        for (size_t i = 0; i < e->revisions.n; i++)
                buf_appendf(b, "%s\"%.*s\"", i ? ", " : "; it has ", STR_ARG(e->revisions.p[i]->is.name));
}

static void explain_name(struct buf *b, const struct registry *r, const struct entry *e, struct str revision,
                         size_t n_fit)
{
        const struct entry *owner = owner_of(r, revision);

        buf_appendf(b, " named \"%.*s\": ", STR_ARG(revision));
        if (n_fit)
                buf_append_literal(b, "it is inactive");
        else if (owner)
                buf_appendf(b, "it belongs to Function \"%.*s\"", STR_ARG(owner->name));
        else
                append_names(b, e);
}

static void explain_labels(struct buf *b, const struct entry *e, const struct value *labels, size_t n_fit)
{
        const char *separator = " with labels ";

        VALUE_FOREACH_MEMBER (m, labels) {
                buf_appendf(b, "%s%.*s=%.*s", separator, STR_ARG(m->key), STR_ARG(value_str(&m->value)));
                separator = ",";
        }
        if (n_fit)
                buf_appendf(b, ": of the Function's %zu revisions %zu %s them, and %s", e->revisions.n, n_fit,
                            n_fit == 1 ? "has" : "have", n_fit == 1 ? "it is inactive" : "all are inactive");
        else
                buf_appendf(b, ": none of the Function's %zu revisions has them", e->revisions.n);
}

static int refuse(const struct registry *r, const struct entry *e, const struct function_choice *choice, size_t n_fit,
                  struct err *err)
{
        _cleanup_buf_ struct buf b = BUF_INIT(LIMIT_ERROR_BYTES);

        if (choice->revision.n)
                explain_name(&b, r, e, choice->revision, n_fit);
        else if (choice->match_labels)
                explain_labels(&b, e, choice->match_labels, n_fit);
        return err_set(err, ERR_NOT_FOUND,
                       "cannot get gRPC client connection for Function \"%.*s\": cannot find an active "
                       "FunctionRevision (a FunctionRevision with spec.desiredState: Active)%.*s",
                       STR_ARG(e->name), STR_ARG(buf_str(&b)));
}

static int find_by_plan(const struct entry *e, const struct rollout_plan *plan, struct str uid, struct function **ret,
                        struct err *err)
{
        const struct revision *v = choose_by_plan(e, plan, uid);

        if (!v)
                return err_set(err, ERR_NOT_FOUND,
                               "cannot get gRPC client connection for Function \"%.*s\": its spec.rollout keeps "
                               "FunctionRevision \"%.*s\" for this composite, and that revision is %s",
                               STR_ARG(e->name), STR_ARG(plan->from),
                               index_of(e, plan->from) < 0 ? "not there" : "not active, or has no status.endpoint");
        *ret = function_ref(v->is.function);
        return 0;
}

static int find(const struct registry *r, const struct entry *e, const struct function_choice *choice,
                struct function **ret, struct err *err)
{
        const struct rollout_plan *plan = deciding_plan(r, e->name, choice);
        const struct revision *v;
        size_t n_fit;

        if (e->revisions.n == 0 && !function_choice_is_given(choice)) {
                *ret = function_ref(e->function);
                return 0;
        }
        if (plan)
                return find_by_plan(e, plan, choice->uid, ret, err);
        v = choose(e, choice, &n_fit);
        if (!v)
                return refuse(r, e, choice, n_fit, err);
        if (!v->is.function)
                return err_set(err, ERR_NOT_FOUND,
                               "cannot get gRPC client connection for Function \"%.*s\": cannot determine gRPC target: "
                               "active FunctionRevision \"%.*s\" has an empty status.endpoint",
                               STR_ARG(e->name), STR_ARG(v->is.name));
        *ret = function_ref(v->is.function);
        return 0;
}

static int unknown(const struct registry *r, struct str name, struct err *err)
{
        _cleanup_buf_ struct buf quoted = BUF_INIT(0);

        go_append_quoted(&quoted, name);
        return err_set(err, ERR_NOT_FOUND, "unknown function %s%s", buf_cstring(&quoted), r->hint);
}

int registry_find(struct registry *r, struct str name, const struct function_choice *choice, struct function **ret,
                  struct err *err)
{
        static const struct function_choice none;
        const struct entry *e;
        int code;

        mutex_lock(&r->mutex);
        e = map_get(&r->entries, name);
        code = e ? find(r, e, choice ? choice : &none, ret, err) : unknown(r, name, err);
        mutex_unlock(&r->mutex);
        return code;
}

/* --- Rollouts --- */

static struct rollout *need_rollout(struct registry *r, struct str function)
{
        struct function_rollout *f = xcalloc(1, sizeof(*f) + function.n);

        memcpy(f->bytes, function.p, function.n);
        f->function = str_make(f->bytes, function.n);
        f->rollout = rollout_new();
        map_add(&r->rollouts, f->function, f);
        return f->rollout;
}

bool registry_set_rollout(struct registry *r, struct str function, const struct rollout_plan *plan)
{
        struct rollout *rollout;
        bool has_moved = false;

        mutex_lock(&r->mutex);
        rollout = rollout_of(r, function);
        if (!rollout && plan->is_on)
                rollout = need_rollout(r, function);
        if (rollout)
                has_moved = rollout_set(rollout, plan);
        mutex_unlock(&r->mutex);
        return has_moved;
}

bool registry_count_run(struct registry *r, const struct rollout_run *run)
{
        struct rollout *rollout;
        bool is_counted;

        mutex_lock(&r->mutex);
        rollout = rollout_of(r, run->function);
        is_counted = rollout && rollout_count(rollout, run);
        mutex_unlock(&r->mutex);
        return is_counted;
}

void registry_compare(struct registry *r, const struct rollout_run *of, const struct value *difference)
{
        struct rollout *rollout;

        mutex_lock(&r->mutex);
        rollout = rollout_of(r, of->function);
        if (rollout)
                rollout_compare(rollout, of, difference);
        mutex_unlock(&r->mutex);
}

void registry_forget_composite(struct registry *r, const struct rollout_run *of)
{
        mutex_lock(&r->mutex);
        for (struct map_entry *e = map_first(&r->rollouts); e; e = map_next(&r->rollouts, e))
                rollout_forget(((struct function_rollout *)e->value)->rollout, of);
        mutex_unlock(&r->mutex);
}

bool registry_read_rollout(struct registry *r, struct arena *a, struct str function, struct rollout_state *ret)
{
        const struct rollout *rollout;
        bool is_on;

        mutex_lock(&r->mutex);
        rollout = rollout_of(r, function);
        is_on = rollout && rollout_plan(rollout)->is_on;
        if (is_on)
                rollout_read(rollout, a, ret);
        mutex_unlock(&r->mutex);
        return is_on;
}

struct str registry_newest(struct registry *r, struct arena *a, struct str function)
{
        static const struct function_choice none;
        const struct revision *v = NULL;
        const struct entry *e;
        struct str name = { 0 };
        size_t n_fit;

        mutex_lock(&r->mutex);
        e = map_get(&r->entries, function);
        if (e)
                v = choose(e, &none, &n_fit);
        if (v)
                name = arena_copy(a, v->is.name);
        mutex_unlock(&r->mutex);
        return name;
}

struct function *registry_find_candidate(struct registry *r, struct str name, const struct function_choice *choice,
                                         bool *ret_gives_credentials)
{
        const struct rollout_plan *plan;
        const struct revision *v = NULL;
        struct function *found = NULL;
        const struct entry *e;

        mutex_lock(&r->mutex);
        e = map_get(&r->entries, name);
        plan = e ? deciding_plan(r, name, choice) : NULL;
        if (plan && plan->is_dry_run && plan->to.n > 0)
                v = serving(e, plan->to);
        if (v) {
                found = function_ref(v->is.function);
                *ret_gives_credentials = plan->gives_credentials;
        }
        mutex_unlock(&r->mutex);
        return found;
}
