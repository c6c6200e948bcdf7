#include "registry.h"

#include "buf.h"
#include "gotext.h"
#include "limits.h"
#include "map.h"
#include "park.h"
#include "vec.h"

struct revision {
        struct arena arena; /* owns what is of the revision but the function */
        struct function_revision is;
};

struct entry {
        struct str name;
        struct function *function; /* NULL: only its revisions are known */
        VEC(struct revision *) revisions;
};

struct registry {
        struct mutex mutex;
        struct map entries;
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

void registry_free(struct registry *r)
{
        if (!r)
                return;
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

/* --- What is known. The mutex is held. --- */

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

/* What is replaced may be the last reference to a function, whose end is none of the lock's business: it is let go of afterwards. */

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

/* --- Which one is meant. The mutex is held. --- */

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

/* Names settle what numbers leave open, so that the answer does not depend on who came first. */
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

/* --- Why there is none --- */

static const struct entry *owner_of(const struct registry *r, struct str revision)
{
        for (struct map_entry *e = map_first(&r->entries); e; e = map_next(&r->entries, e))
                if (index_of(e->value, revision) >= 0)
                        return e->value;
        return NULL;
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

static int find(const struct registry *r, const struct entry *e, const struct function_choice *choice,
                struct function **ret, struct err *err)
{
        const struct revision *v;
        size_t n_fit;

        if (e->revisions.n == 0 && !function_choice_is_given(choice)) {
                *ret = function_ref(e->function);
                return 0;
        }
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
