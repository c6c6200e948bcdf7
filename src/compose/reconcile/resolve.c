/* References that are chosen by selectors (docs/spec/seeds 5), behind the gate ResolveSelectors.
 *
 * A composed resource may have a field <x>Selector beside an unset <x>Ref and <x>. Providers resolve their own selectors; here the
 * engine sets <x>Ref for kinds that no provider resolves. Candidates are the composite's own composed resources and, without
 * matchControllerRef, the other objects of the same kind in scope. The kind is the selector's own `kind`, or the stem of the field's
 * name without a trailing Name, Id, Arn or Link. Names of kinds are compared without case. If no candidate's kind has that name, own
 * composed resources count whose kind ends with it: serverNameSelector finds a MySQLServer. */
#include "reconcile-state.h"

#include "features.h"
#include "str-list.h"

#define MAX_DEPTH 64

/* One walk through one composed resource. */
struct resolution {
        struct reconcile *r;
        struct composed_resource *composed;
        struct str_list waiting; /* selectors without a candidate */
        unsigned depth;
};

/* One selector. */
struct reference_selector {
        struct str kind;
        const struct value *labels; /* NULL: any */
        bool is_own;                /* only resources of the same composite */
};

/* --- Names --- */

static char lower(char c)
{
        return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool ends_with_kind(struct str kind, struct str name)
{
        if (name.n == 0 || name.n > kind.n)
                return false;
        for (size_t i = 0; i < name.n; i++)
                if (lower(kind.p[kind.n - name.n + i]) != lower(name.p[i]))
                        return false;
        return true;
}

static bool is_kind(struct str kind, struct str name)
{
        return kind.n == name.n && ends_with_kind(kind, name);
}

static struct str kind_of_stem(struct str stem)
{
        static const struct str endings[] = { STR_INIT("Name"), STR_INIT("Id"), STR_INIT("Arn"), STR_INIT("Link") };

        for (size_t i = 0; i < ARRAY_SIZE(endings); i++) {
                struct str rest = stem;

                if (str_cut_suffix(&rest, endings[i]) && rest.n)
                        return rest;
        }
        return stem;
}

/* --- Selectors --- */

static bool is_true(const struct value *selector, const char *field)
{
        return value_bool(value_get(selector, str_from(field)), false);
}

/* False if the member is no selector of a reference. The engine's own selectors are not. */
static bool read_selector(const struct member *m, struct str *ret_stem, struct reference_selector *ret)
{
        static const struct str own[] = { STR_INIT("composition"), STR_INIT("compositionRevision"), STR_INIT("class") };
        struct str kind = value_str(value_get(&m->value, STR("kind")));

        *ret_stem = m->key;
        if (!value_is_object(&m->value) || !str_cut_suffix(ret_stem, STR("Selector")) || ret_stem->n == 0)
                return false;
        for (size_t i = 0; i < ARRAY_SIZE(own); i++)
                if (str_equal(*ret_stem, own[i]))
                        return false;
        *ret = (struct reference_selector) {
                .kind = kind.n ? kind : kind_of_stem(*ret_stem),
                .labels = value_get(&m->value, STR("matchLabels")),
                .is_own = is_true(&m->value, "matchControllerRef") || is_true(&m->value, "matchComposite"),
        };
        return ret->is_own || value_is_object(ret->labels);
}

static bool has_labels(const struct value *object, const struct value *labels)
{
        VALUE_FOREACH_MEMBER (m, labels)
                if (!str_equal(meta_label(object, m->key), value_str(&m->value)) || !meta_has_label(object, m->key))
                        return false;
        return true;
}

/* --- Candidates --- */

static void consider(const struct value *object, const struct reference_selector *s, struct str *best)
{
        struct str name = meta_name(object);

        if (name.n && has_labels(object, s->labels) && (best->n == 0 || str_compare(name, *best) < 0))
                *best = name;
}

static struct str find_composed(const struct resolution *w, const struct reference_selector *s,
                                bool (*matches)(struct str kind, struct str name))
{
        struct str best = STR("");

        for (size_t i = 0; i < w->r->n_composed; i++) {
                const struct value *object = w->r->composed[i].object;

                if (&w->r->composed[i] != w->composed && matches(gvk_of(object).kind, s->kind))
                        consider(object, s, &best);
        }
        return best;
}

/* The kind of that name; one in the group of the resource that selects is preferred. */
static const struct kind *find_kind(const struct kind_list *list, struct str group, struct str name)
{
        const struct kind *found = NULL;

        for (size_t i = 0; i < list->n; i++) {
                const struct kind *k = list->kinds[i].kind;

                if (is_kind(k->kind, name) && k->is_custom && (!found || str_equal(k->group, group)))
                        found = k;
        }
        return found;
}

static int find_any(const struct resolution *w, const struct reference_selector *s, struct str *best, struct err *err)
{
        struct list_request req = { 0 };
        struct object_list objects;
        struct kind_list kinds;
        const struct kind *kind;
        int e;

        if (!w->r->options->policies->checks_kinds)
                return 0;
        e = cluster_kinds(w->r->options->cluster, w->r->run, &kinds, err);
        if (e < 0)
                return e;
        kind = find_kind(&kinds, gvk_of(w->composed->object).group, s->kind);
        if (!kind)
                return 0;
        req.gvk = (struct gvk) { kind->group, kind_storage(kind)->name, kind->kind };
        req.ns = kind->is_namespaced ? meta_namespace(w->composed->object) : STR("");
        e = cluster_list(w->r->options->cluster, w->r->run, &req, &objects, err);
        for (size_t i = 0; e >= 0 && i < objects.n; i++)
                consider(object_list_value(&objects, i, w->r->arena), s, best);
        return e;
}

static int find_candidate(const struct resolution *w, const struct reference_selector *s, struct str *ret,
                          struct err *err)
{
        int e = 0;

        *ret = find_composed(w, s, is_kind);
        if (!s->is_own)
                e = find_any(w, s, ret, err);
        if (e >= 0 && ret->n == 0)
                *ret = find_composed(w, s, ends_with_kind);
        return e;
}

/* --- The walk --- */

static bool is_set(const struct value *object, struct str key)
{
        const struct value *v = value_get(object, key);

        return v && !value_is_null(v);
}

static int resolve_one(struct resolution *w, const struct value **object, const struct value *observed,
                       const struct member *m, struct str path, struct err *err)
{
        struct arena *a = w->r->arena;
        struct reference_selector selector;
        struct str stem, reference, name;
        struct value text;
        int e;

        if (!read_selector(m, &stem, &selector))
                return 0;
        reference = ARENA_CONCAT(a, stem, STR("Ref"));
        if (is_set(*object, reference) || is_set(*object, stem))
                return 0;
        if (is_set(observed, reference)) { /* set before, by anyone: it stays */
                *object = value_with(a, *object, reference, value_get(observed, reference));
                return 0;
        }
        e = find_candidate(w, &selector, &name, err);
        if (e < 0)
                return err_wrap(err, "cannot resolve %.*s.%.*s", STR_ARG(path), STR_ARG(m->key));
        if (name.n == 0) {
                str_list_printf(&w->waiting, "%.*s.%.*s selects no %.*s", STR_ARG(path), STR_ARG(m->key),
                                STR_ARG(selector.kind));
                return 0;
        }
        text = value_of_str(name);
        *object = value_with(a, *object, reference, value_with(a, &value_empty_object, STR("name"), &text));
        return 0;
}

static int walk(struct resolution *w, const struct value **v, const struct value *observed, struct str path,
                struct err *err);

static int walk_object(struct resolution *w, const struct value **v, const struct value *observed, struct str path,
                       struct err *err)
{
        const struct value *given = *v;

        VALUE_FOREACH_MEMBER (m, given) {
                const struct value *inner = &m->value;
                int e = walk(w, &inner, value_get(observed, m->key), ARENA_CONCAT(w->r->arena, path, STR("."), m->key),
                             err);

                if (e < 0)
                        return e;
                if (inner != &m->value)
                        *v = value_with(w->r->arena, *v, m->key, inner);
                e = resolve_one(w, v, observed, m, path, err);
                if (e < 0)
                        return e;
        }
        return 0;
}

static int walk_array(struct resolution *w, const struct value **v, const struct value *observed, struct str path,
                      struct err *err)
{
        const struct value *given = *v;

        for (size_t i = 0; i < value_count(given); i++) {
                const struct value *inner = value_item(given, i);
                int e = walk(w, &inner,
                             value_is_array(observed) && i < value_count(observed) ? value_item(observed, i) : NULL,
                             arena_printf(w->r->arena, "%.*s[%zu]", STR_ARG(path), i), err);

                if (e < 0)
                        return e;
                if (inner != value_item(given, i))
                        *v = value_with_item(w->r->arena, *v, i, inner);
        }
        return 0;
}

static int walk(struct resolution *w, const struct value **v, const struct value *observed, struct str path,
                struct err *err)
{
        int e = 0;

        if (w->depth == MAX_DEPTH)
                return 0;
        w->depth++;
        if (value_is_object(*v))
                e = walk_object(w, v, observed, path, err);
        else if (value_is_array(*v))
                e = walk_array(w, v, observed, path, err);
        w->depth--;
        return e;
}

/* Kinds of Kubernetes have selectors of another meaning. */
static bool is_of_kubernetes(struct str group)
{
        return str_find_char(group, '.') < 0 || str_ends_with(group, STR(".k8s.io"));
}

static const struct value *observed_value(const struct reconcile *r, struct str key)
{
        for (size_t i = 0; i < r->n_observed; i++)
                if (str_equal(r->observed[i].key, key))
                        return r->observed[i].value;
        return NULL;
}

static int resolve_resource(struct reconcile *r, struct composed_resource *c, struct err *err)
{
        struct resolution w = { .r = r, .composed = c };
        const struct value *spec = value_get(c->object, STR("spec")), *resolved = spec;
        int e;

        if (c->is_kept || !value_is_object(spec) || is_of_kubernetes(gvk_of(c->object).group))
                return 0;
        str_list_init(&w.waiting, r->arena);
        e = walk(&w, &resolved, value_get(observed_value(r, c->key), STR("spec")), STR("spec"), err);
        if (e >= 0 && resolved != spec)
                c->object = value_with(r->arena, c->object, STR("spec"), resolved);
        if (e >= 0 && w.waiting.n)
                c->waits_for = str_list_join(&w.waiting, STR(", "));
        return e;
}

/* Says in a condition and an event what references wait for. A composite that never waited has no such condition. */
static void tell_waiting(struct reconcile *r)
{
        struct str_list waiting;
        struct condition before;

        str_list_init(&waiting, r->arena);
        for (size_t i = 0; i < r->n_composed; i++)
                if (r->composed[i].waits_for.n)
                        str_list_printf(&waiting, "resource \"%.*s\": %.*s", STR_ARG(r->composed[i].key),
                                        STR_ARG(r->composed[i].waits_for));
        if (waiting.n) {
                struct str text = str_list_join(&waiting, STR("; "));

                reconcile_event(r, false, STR("ResolveReferences"), "Waiting: %.*s", STR_ARG(text));
                tell_condition(r, "ReferencesResolved", CONDITION_FALSE, "Waiting", text);
        } else if (condition_get(r->xr.object, STR("ReferencesResolved"), &before)) {
                tell_condition(r, "ReferencesResolved", CONDITION_TRUE, "Resolved", STR(""));
        }
}

int reconcile_resolve_selectors(struct reconcile *r, struct err *err)
{
        if (!feature_is_on(r->options->steps.features, FEATURE_RESOLVE_SELECTORS))
                return 0;
        for (size_t i = 0; i < r->n_composed; i++) {
                int e = resolve_resource(r, &r->composed[i], err);

                if (e < 0)
                        return err_wrap(err, "composed resource \"%.*s\"", STR_ARG(r->composed[i].key));
        }
        tell_waiting(r);
        return 0;
}
