/* Which Composition and which revision of it a composite uses (spec/engine 1.3-1.5). */
#include "reconcile-state.h"

#include "owner.h"
#include "random.h"

#define GROUP STR("apiextensions.crossplane.io")

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
                        .key = m->key, .operator= SELECT_EQUALS, .values = value, .n_values = 1
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

/* Any of those that fit. */
static int select_by_labels(struct reconcile *r, struct err *err)
{
        struct label_selector labels;
        struct list_request list = { .gvk = { GROUP, STR("v1"), STR("Composition") }, .labels = &labels };
        struct object_list found;
        struct str *names;
        size_t n = 0;
        int e;

        selector_of_labels(r->arena, composite_selector(&r->xr, STR("compositionSelector")), &labels);
        e = cluster_list(r->options->cluster, r->run, &list, &found, err);
        if (e < 0)
                return err_wrap(err, "cannot list Compositions");
        names = ARENA_NEW_ARRAY(r->arena, struct str, found.n + 1);
        for (size_t i = 0; i < found.n; i++)
                if (is_compatible(r, found.values[i]))
                        names[n++] = meta_name(found.values[i]);
        if (n == 0)
                return err_set(err, ERR_NOT_FOUND, "no compatible Compositions found");
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

static void select_default_selector(struct reconcile *r)
{
        const struct value *selector = value_find(r->options->type->xrd, "spec", "defaultCompositionRevisionSelector");

        if (!value_is_object(selector) || composite_ref(&r->xr, STR("compositionRevisionRef")).n ||
            composite_selector(&r->xr, STR("compositionRevisionSelector")))
                return;
        r->xr = composite_with(r->arena, &r->xr, STR("compositionRevisionSelector"), selector);
        reconcile_event(r, false, STR("CompositionSelection"), "Default revision selector has been selected");
}

/* One that is not there is called what Crossplane's cache calls it: by its kind. */
static int get_one(struct reconcile *r, struct str kind, struct str name, const struct value **ret, struct err *err)
{
        struct object_key key = { .gvk = { GROUP, STR("v1"), kind }, .name = name };
        int e = cluster_get_value(r->options->cluster, r->run, &key, ret, err);

        if (e == ERR_NOT_FOUND)
                err_set(err, ERR_NOT_FOUND, "%.*s.%.*s \"%.*s\" not found", STR_ARG(kind), STR_ARG(GROUP),
                        STR_ARG(name));
        return e < 0 ? err_wrap(err, "cannot get %.*s", STR_ARG(kind)) : 0;
}

static int64_t number_of(const struct value *revision)
{
        return value_int(value_find(revision, "spec", "revision"), 0);
}

/* The newest of the Composition's revisions; labels count only where updates are automatic. */
static int find_newest(struct reconcile *r, const struct value *composition, const struct value **ret, struct err *err)
{
        bool is_automatic = str_equal(composite_update_policy(&r->xr), STR("Automatic"));
        struct label_selector labels;
        struct list_request list = { .gvk = { GROUP, STR("v1"), STR("CompositionRevision") }, .labels = &labels };
        struct str name = meta_name(composition);
        struct label_requirement *own;
        struct object_list found;
        int e;

        selector_of_labels(r->arena,
                           is_automatic ? composite_selector(&r->xr, STR("compositionRevisionSelector")) : NULL,
                           &labels);
        own = (struct label_requirement *)&labels.requirements[labels.n++];
        *own = (struct label_requirement) {
                .key = STR("crossplane.io/composition-name"), .operator= SELECT_EQUALS, .values = &name, .n_values = 1
        };
        e = cluster_list(r->options->cluster, r->run, &list, &found, err);
        if (e < 0)
                return err_wrap(err, "cannot list CompositionRevisions");
        *ret = NULL;
        for (size_t i = 0; i < found.n; i++) {
                struct owner_reference controller;

                if (owner_controller(found.values[i], &controller) &&
                    str_equal(controller.uid, meta_uid(composition)) &&
                    (!*ret || number_of(found.values[i]) > number_of(*ret)))
                        *ret = found.values[i];
        }
        return *ret ? 0 : err_set(err, ERR_NOT_FOUND, "no compatible CompositionRevisions found");
}

static int choose_revision(struct reconcile *r, struct err *err)
{
        struct str ref = composite_ref(&r->xr, STR("compositionRevisionRef"));
        const struct value *composition;
        int e;

        if (ref.n && str_equal(composite_update_policy(&r->xr), STR("Manual")))
                return get_one(r, STR("CompositionRevision"), ref, &r->revision, err);
        e = get_one(r, STR("Composition"), composite_ref(&r->xr, STR("compositionRef")), &composition, err);
        if (e >= 0)
                e = find_newest(r, composition, &r->revision, err);
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

/* The Composition of the revision that the caller gave; in memory, until something else is written. */
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

int select_composition(struct reconcile *r, struct err *err)
{
        if (r->options->revision)
                select_given(r);
        else if (choose_composition(r, err) < 0)
                return err_wrap(err, "cannot select Composition");
        return 0;
}

int fetch_revision(struct reconcile *r, struct err *err)
{
        if (r->options->revision)
                return 0;
        select_default_selector(r);
        if (choose_revision(r, err) < 0)
                return err_wrap(err, "cannot fetch Composition");
        return 0;
}

static int set_connection_ref(struct reconcile *r, struct err *err)
{
        struct str namespace = value_str(value_find(r->revision, "spec", "writeConnectionSecretsToNamespace"));
        struct object_builder b;

        if (!r->xr.is_legacy || namespace.n == 0 || composite_field(&r->xr, STR("writeConnectionSecretToRef")))
                return 0;
        object_builder_init(&b, r->arena, 2);
        object_builder_add(&b, STR("name"), value_of_str(meta_uid(r->xr.object)));
        object_builder_add(&b, STR("namespace"), value_of_str(namespace));
        r->xr = composite_with(r->arena, &r->xr, STR("writeConnectionSecretToRef"),
                               value_put(r->arena, object_builder_finish(&b)));
        return reconcile_put(r, STR(""), err);
}

int configure(struct reconcile *r, struct err *err)
{
        int e = 0;

        if (meta_label(r->xr.object, STR("crossplane.io/composite")).n == 0) {
                r->xr.object = meta_with_label(r->arena, r->xr.object, STR("crossplane.io/composite"),
                                               meta_name(r->xr.object));
                e = reconcile_put(r, STR(""), err);
        }
        if (e >= 0 && !is_compatible(r, r->revision))
                e = err_set(err, ERR_INVALID, "referenced composition is not compatible with this composite resource");
        if (e >= 0)
                e = set_connection_ref(r, err);
        return e < 0 ? err_wrap(err, "cannot configure composite resource") : 0;
}
