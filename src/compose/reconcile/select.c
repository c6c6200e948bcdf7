/* Selects the Composition of a composite and a revision of it (docs/spec/engine 1.3-1.5). */
#include "reconcile-state.h"

#include "buf.h"
#include "features.h"
#include "gotext.h"
#include "owner.h"
#include "random.h"

#define GROUP                        STR("apiextensions.crossplane.io")
#define DEFAULT_CONNECTION_NAMESPACE STR("crossplane-system")

static struct str xrd_ref(const struct reconcile *r, const char *field)
{
        const struct value *spec = value_get(r->options->type->xrd, STR("spec"));

        return value_str(value_get(value_get(spec, str_from(field)), STR("name")));
}

/* matchLabels as a selector, with room for one more requirement. */
static void selector_of_labels(struct arena *a, const struct value *labels, struct label_selector *ret)
{
        struct label_requirement *p = ARENA_NEW_ARRAY(a, struct label_requirement, value_count(labels) + 2);
        size_t n = 0;

        VALUE_FOREACH_MEMBER (m, labels) {
                struct str *value = ARENA_NEW(a, struct str);

                *value = value_str(&m->value);
                p[n++] = (struct label_requirement) {
                        .key = m->key, .op = SELECT_EQUALS, .values = value, .n_values = 1
                };
        }
        *ret = (struct label_selector) { .requirements = p, .n = n };
}

static bool is_compatible(const struct reconcile *r, const struct value *composition)
{
        const struct value *type = value_find(composition, "spec", "compositeTypeRef");

        return str_equal(value_str(value_get(type, STR("apiVersion"))),
                         value_str(value_get(r->xr.object, STR("apiVersion")))) &&
               str_equal(value_str(value_get(type, STR("kind"))), value_str(value_get(r->xr.object, STR("kind"))));
}

/* `example.org/v1 Thing` */
static struct str type_text(struct reconcile *r, const struct value *type)
{
        return arena_printf(r->arena, "%.*s %.*s", STR_ARG(value_str(value_get(type, STR("apiVersion")))),
                            STR_ARG(value_str(value_get(type, STR("kind")))));
}

static struct str group_of(const struct value *type)
{
        struct str group = STR(""), version;

        (void)gvk_split_api_version(value_str(value_get(type, STR("apiVersion"))), &group, &version, NULL);
        return group;
}

/* Of the Compositions that were found, one of the composite's group, else the first. */
static const struct value *nearest(struct reconcile *r, const struct object_list *found)
{
        const struct value *first = NULL;

        for (size_t i = 0; i < found->n; i++) {
                const struct value *v = object_list_value(found, i, r->run->arena);

                if (str_equal(group_of(value_find(v, "spec", "compositeTypeRef")), group_of(r->xr.object)))
                        return v;
                first = first ? first : v;
        }
        return first;
}

/* Upstream's words, and behind them what was looked for and what there is. */
static int none_compatible(struct reconcile *r, const struct object_list *found, struct err *err)
{
        const struct value *labels = composite_selector(&r->xr, STR("compositionSelector")), *near = nearest(r, found);
        const char *type = composite_places(&r->xr)->is_strict_scope ? "spec.from" : "spec.compositeTypeRef";
        struct str wanted = type_text(r, r->xr.object);
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        VALUE_FOREACH_MEMBER (m, labels)
                buf_appendf(&b, "%s%.*s=%.*s", b.n ? "," : "", STR_ARG(m->key), STR_ARG(value_str(&m->value)));
        if (!near && b.n)
                return err_set(err, ERR_NOT_FOUND,
                               "no compatible Compositions found: none has the labels %.*s of the composite's "
                               "compositionSelector",
                               STR_ARG(buf_str(&b)));
        if (!near)
                return err_set(err, ERR_NOT_FOUND,
                               "no compatible Compositions found: there is none; make one with %s %.*s", type,
                               STR_ARG(wanted));
        return err_set(err, ERR_NOT_FOUND,
                       "no compatible Compositions found: none has %s %.*s; Composition %s is for %.*s", type,
                       STR_ARG(wanted), go_quote(r->arena, meta_name(near)).p,
                       STR_ARG(type_text(r, value_find(near, "spec", "compositeTypeRef"))));
}

/* Selects one of the matching Compositions at random. */
static int select_by_labels(struct reconcile *r, struct err *err)
{
        struct label_selector labels;
        struct list_request list = { .gvk = { GROUP, STR("v1"), STR("Composition") }, .labels = &labels };
        struct object_list found;
        struct str *names;
        size_t n = 0;
        int e;

        selector_of_labels(r->arena, composite_selector(&r->xr, STR("compositionSelector")), &labels);
        e = cluster_list(r->options->cluster, r->own_run, &list, &found, err);
        if (e < 0)
                return err_wrap(err, "cannot list Compositions");
        names = ARENA_NEW_ARRAY(r->arena, struct str, found.n + 1);
        for (size_t i = 0; i < found.n; i++) {
                const struct value *v = object_list_value(&found, i, r->run->arena);

                if (is_compatible(r, v))
                        names[n++] = meta_name(v);
        }
        if (n == 0)
                return none_compatible(r, &found, err);
        r->xr = composite_with_ref(r->arena, &r->xr, STR("compositionRef"), names[random_system_u64() % n]);
        return reconcile_put(r, STR(""), err);
}

static int choose_composition(struct reconcile *r, struct err *err)
{
        struct str before = composite_ref(&r->xr, STR("compositionRef")), now;
        struct str enforced = xrd_ref(r, "enforcedCompositionRef"), fallback = xrd_ref(r, "defaultCompositionRef");
        int e = 0;

        if (enforced.n && !str_equal(enforced, before)) {
                r->xr = composite_with_ref(r->arena, &r->xr, STR("compositionRef"), enforced);
                reconcile_event(r, false, STR("CompositionSelection"), "Enforced composition has been selected");
                e = reconcile_put(r, STR(""), err);
        } else if (before.n == 0 && fallback.n && !composite_selector(&r->xr, STR("compositionSelector"))) {
                r->xr = composite_with_ref(r->arena, &r->xr, STR("compositionRef"), fallback);
                reconcile_event(r, false, STR("CompositionSelection"), "Default composition has been selected");
        } else if (before.n == 0) {
                e = select_by_labels(r, err);
        }
        if (e < 0)
                return e;
        now = composite_ref(&r->xr, STR("compositionRef"));
        if (!str_equal(before, now))
                reconcile_event(r, false, STR("SelectComposition"), "Successfully selected composition: %.*s",
                                STR_ARG(now));
        return 0;
}

/* Whether the default selector counts depends on the update policy, and the API adds the policy's default when the composite is
 * written. */
static int select_default_selector(struct reconcile *r, struct err *err)
{
        const struct value *selector = value_find(r->options->type->xrd, "spec", "defaultCompositionRevisionSelector");

        if (!value_is_object(selector) || !composite_has(&r->xr, STR("compositionRevisionSelector")) ||
            composite_ref(&r->xr, STR("compositionRevisionRef")).n ||
            composite_selector(&r->xr, STR("compositionRevisionSelector")))
                return 0;
        if (reconcile_put_deferred(r, err) < 0)
                return err_wrap(err, "cannot update composite resource");
        r->xr = composite_with(r->arena, &r->xr, STR("compositionRevisionSelector"), selector);
        reconcile_event(r, false, STR("CompositionSelection"), "Default revision selector has been selected");
        return 0;
}

/* The not-found error names the kind, as Crossplane's cache does, and the way out. */
static int get_one(struct reconcile *r, struct str kind, struct str name, const struct value **ret, struct err *err)
{
        struct object_key key = { .gvk = { GROUP, STR("v1"), kind }, .name = name };
        int e = cluster_get_value(r->options->cluster, r->run, &key, ret, err);

        if (e == ERR_NOT_FOUND)
                err_set(err, ERR_NOT_FOUND, "%.*s.%.*s \"%.*s\" not found; make it, or name another one", STR_ARG(kind),
                        STR_ARG(GROUP), STR_ARG(name));
        return e < 0 ? err_wrap(err, "cannot get %.*s", STR_ARG(kind)) : 0;
}

static int64_t number_of(const struct value *revision)
{
        return value_int(value_find(revision, "spec", "revision"), 0);
}

/* The labels of the composite's revision selector, or NULL. They apply to automatic updates; with the gate FunctionRevisionSelectors
 * also to manual ones, when the composite has no revision yet, or one without these labels (docs/spec/seeds 3). */
static const struct value *revision_labels(const struct reconcile *r)
{
        struct str policy = composite_update_policy(&r->xr);
        bool applies = str_equal(policy, STR("Automatic")) ||
                       (str_equal(policy, STR("Manual")) &&
                        feature_is_on(r->options->steps.features, FEATURE_FUNCTION_REVISION_SELECTORS));

        return applies ? composite_selector(&r->xr, STR("compositionRevisionSelector")) : NULL;
}

static bool has_selected_labels(const struct reconcile *r, const struct value *revision)
{
        struct label_selector labels;

        selector_of_labels(r->arena, revision_labels(r), &labels);
        return label_selector_matches(&labels, value_get(meta(revision), STR("labels")));
}

/* Finds the newest revision of the Composition. */
static int find_newest(struct reconcile *r, const struct value *composition, const struct value **ret, struct err *err)
{
        struct label_selector labels;
        struct list_request list = { .gvk = { GROUP, STR("v1"), STR("CompositionRevision") }, .labels = &labels };
        struct str name = meta_name(composition);
        struct label_requirement *own;
        struct object_list found;
        int e;

        selector_of_labels(r->arena, revision_labels(r), &labels);
        own = (struct label_requirement *)&labels.requirements[labels.n++];
        *own = (struct label_requirement) {
                .key = STR("crossplane.io/composition-name"), .op = SELECT_EQUALS, .values = &name, .n_values = 1
        };
        e = cluster_list(r->options->cluster, r->own_run, &list, &found, err);
        if (e < 0)
                return err_wrap(err, "cannot list CompositionRevisions");
        *ret = NULL;
        for (size_t i = 0; i < found.n; i++) {
                const struct value *v = object_list_value(&found, i, r->run->arena);
                struct owner_reference controller;

                if (owner_controller(v, &controller) && str_equal(controller.uid, meta_uid(composition)) &&
                    (!*ret || number_of(v) > number_of(*ret)))
                        *ret = v;
        }
        return *ret ? 0 : err_set(err, ERR_NOT_FOUND, "no compatible CompositionRevisions found");
}

/* Designs without references to revisions use the newest one. The choice of the Composition is written here. */
static int keep_composition(struct reconcile *r, struct err *err)
{
        struct composite live = { r->live, r->xr.places };

        if (str_equal(composite_ref(&live, STR("compositionRef")), composite_ref(&r->xr, STR("compositionRef"))))
                return 0;
        return reconcile_put(r, STR(""), err) < 0 ? err_wrap(err, "cannot update composite resource") : 0;
}

static int choose_revision(struct reconcile *r, struct err *err)
{
        struct str ref = composite_ref(&r->xr, STR("compositionRevisionRef"));
        const struct value *composition;
        int e;

        if (ref.n && str_equal(composite_update_policy(&r->xr), STR("Manual"))) {
                e = get_one(r, STR("CompositionRevision"), ref, &r->revision, err);
                if (e < 0 || has_selected_labels(r, r->revision))
                        return e;
        }
        e = get_one(r, STR("Composition"), composite_ref(&r->xr, STR("compositionRef")), &composition, err);
        if (e >= 0)
                e = find_newest(r, composition, &r->revision, err);
        if (e >= 0 && !composite_has(&r->xr, STR("compositionRevisionRef")))
                return keep_composition(r, err);
        if (e < 0 || str_equal(ref, meta_name(r->revision)))
                return e;
        r->xr = composite_with_ref(r->arena, &r->xr, STR("compositionRevisionRef"), meta_name(r->revision));
        e = reconcile_put(r, STR(""), err);
        if (e < 0)
                return err_wrap(err, "cannot update composite resource");
        reconcile_event(r, false, STR("SelectComposition"), "Selected composition revision: %.*s",
                        STR_ARG(meta_name(r->revision)));
        return 0;
}

/* Uses the caller's revision. Sets the composite's reference to its Composition in memory; the next write of the composite stores
 * it. */
static void select_given(struct reconcile *r)
{
        struct owner_reference composition = { 0 };

        r->revision = r->options->revision;
        owner_controller(r->revision, &composition);
        if (composite_field(&r->xr, STR("compositionRef")) &&
            str_equal(composition.name, composite_ref(&r->xr, STR("compositionRef"))))
                return;
        r->xr = composite_with_ref(r->arena, &r->xr, STR("compositionRef"), composition.name);
        reconcile_event(r, false, STR("SelectComposition"), "Successfully selected composition: %.*s",
                        STR_ARG(composition.name));
}

int reconcile_select(struct reconcile *r, struct err *err)
{
        if (!r->options->policies->selects_revision)
                select_given(r);
        else if (choose_composition(r, err) < 0)
                return err_wrap(err, "cannot select Composition");
        return 0;
}

int reconcile_fetch_revision(struct reconcile *r, struct err *err)
{
        if (!r->options->policies->selects_revision)
                return 0;
        if (select_default_selector(r, err) < 0 || choose_revision(r, err) < 0)
                return err_wrap(err, "cannot fetch Composition");
        return 0;
}

/* The namespace of connection secrets that no one chose. A requirement cannot choose it, so there is a default for those who
 * have one. */
static struct str connection_namespace(const struct reconcile *r)
{
        struct str ns = value_str(value_find(r->revision, "spec", "writeConnectionSecretsToNamespace"));

        if (ns.n == 0 && composite_places(&r->xr)->has_exact_keys && composite_field(&r->xr, STR("claimRef")) &&
            value_count(value_find(r->options->type->xrd, "spec", "connectionSecretKeys")))
                return DEFAULT_CONNECTION_NAMESPACE;
        return ns;
}

/* The examples of the first design give the uid alone to the Secret of a composed resource. */
static struct str connection_name(const struct reconcile *r)
{
        struct str uid = meta_uid(r->xr.object);

        return composite_places(&r->xr)->has_exact_keys ? ARENA_CONCAT(r->arena, uid, STR("-connection")) : uid;
}

static int set_connection_ref(struct reconcile *r, struct err *err)
{
        struct str ns = connection_namespace(r);
        struct object_builder b;

        if (!composite_places(&r->xr)->has_connection || ns.n == 0 ||
            composite_field(&r->xr, STR("writeConnectionSecretToRef")))
                return 0;
        object_builder_init(&b, r->arena, 2);
        object_builder_add(&b, STR("name"), value_of_str(connection_name(r)));
        object_builder_add(&b, STR("namespace"), value_of_str(ns));
        r->xr = composite_with(r->arena, &r->xr, STR("writeConnectionSecretToRef"),
                               value_put(r->arena, object_builder_finish(&b)));
        return reconcile_put(r, STR(""), err);
}

static int not_compatible(struct reconcile *r, struct err *err)
{
        const struct value *type = value_find(r->revision, "spec", "compositeTypeRef");

        if (!r->options->policies->selects_revision)
                return err_set(err, ERR_INVALID,
                               "referenced composition is not compatible with this composite resource");
        return err_set(err, ERR_INVALID,
                       "referenced composition is not compatible with this composite resource: it is for %.*s, not for "
                       "%.*s",
                       STR_ARG(type_text(r, type)), STR_ARG(type_text(r, r->xr.object)));
}

/* A Composition may say what happens to infrastructure whose requirement is deleted. */
static int set_reclaim_policy(struct reconcile *r, struct err *err)
{
        const struct value *policy = value_find(r->revision, "spec", "reclaimPolicy");

        if (!policy || !composite_has(&r->xr, STR("reclaimPolicy")) || composite_field(&r->xr, STR("reclaimPolicy")))
                return 0;
        r->xr = composite_with(r->arena, &r->xr, STR("reclaimPolicy"), policy);
        return reconcile_put(r, STR(""), err);
}

int reconcile_configure(struct reconcile *r, struct err *err)
{
        int e = 0;

        if (meta_label(r->xr.object, STR("crossplane.io/composite")).n == 0) {
                r->xr.object = meta_with_label(r->arena, r->xr.object, STR("crossplane.io/composite"),
                                               meta_name(r->xr.object));
                e = reconcile_put(r, STR(""), err);
        }
        if (e >= 0 && !is_compatible(r, r->revision))
                e = not_compatible(r, err);
        if (e >= 0)
                e = set_connection_ref(r, err);
        if (e >= 0)
                e = set_reclaim_policy(r, err);
        return e < 0 ? err_wrap(err, "cannot configure composite resource") : 0;
}
