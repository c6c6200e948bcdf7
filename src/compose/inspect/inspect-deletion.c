/* Finds the finalizers, usages and dependents that hold a deletion up. */
#include "inspect-private.h"

#include "owner.h"

#define MOST_DEPENDENTS 100 /* are named */

static struct value reference_to(struct arena *a, const struct value *object, struct str why)
{
        struct object_builder b;

        object_builder_init(&b, a, 5);
        inspect_put(&b, STR("apiVersion"), value_str(value_get(object, STR("apiVersion"))));
        inspect_put(&b, STR("kind"), value_str(value_get(object, STR("kind"))));
        inspect_put(&b, STR("namespace"), meta_namespace(object));
        inspect_put(&b, STR("name"), meta_name(object));
        inspect_put(&b, STR("why"), why);
        return object_builder_finish(&b);
}

/* --- Finalizers --- */

static const struct {
        struct str name;
        struct str meaning;
} known[] = {
        { STR_INIT("composite.apiextensions.crossplane.io"),
          STR_INIT("the controller of composites removes it in its next run") },
        { STR_INIT("finalizer.apiextensions.crossplane.io"),
          STR_INIT("the controller of claims removes it when the composite is deleted, or gone with "
                   "compositeDeletePolicy: Foreground") },
        { STR_INIT("foregroundDeletion"), STR_INIT("the API removes it when the dependents that block it are gone") },
        { STR_INIT("orphan"), STR_INIT("the API removes it when the dependents are released") },
        { STR_INIT("usage.apiextensions.crossplane.io"),
          STR_INIT("the controller of usages removes it when what is in use may go") },
        { STR_INIT("defined.apiextensions.crossplane.io"),
          STR_INIT("the controller of definitions removes it when all composites are gone") },
        { STR_INIT("offered.apiextensions.crossplane.io"),
          STR_INIT("the controller of definitions removes it when all claims are gone") },
        { STR_INIT("customresourcecleanup.apiextensions.k8s.io"),
          STR_INIT("the API removes it when all objects of the kind are gone") },
};

static struct str meaning_of(struct str finalizer)
{
        for (size_t i = 0; i < ARRAY_SIZE(known); i++)
                if (str_equal(known[i].name, finalizer))
                        return known[i].meaning;
        return STR("whoever set it must remove it");
}

/* The manager of the finalizer, as managedFields have it. */
static struct str set_by(struct arena *a, const struct value *object, struct str finalizer)
{
        struct str key = arena_printf(a, "v:\"%.*s\"", STR_ARG(finalizer));

        VALUE_FOREACH_ITEM (entry, value_get(meta(object), STR("managedFields")))
                if (value_get(value_find(entry, "fieldsV1", "f:metadata", "f:finalizers"), key))
                        return value_str(value_get(entry, STR("manager")));
        return STR("");
}

static void put_finalizers(struct object_builder *b, struct arena *a, const struct value *object)
{
        struct array_builder all;

        array_builder_init(&all, a, 2);
        VALUE_FOREACH_ITEM (item, value_get(meta(object), STR("finalizers"))) {
                struct object_builder f;

                object_builder_init(&f, a, 3);
                inspect_put(&f, STR("name"), value_str(item));
                inspect_put(&f, STR("meaning"), meaning_of(value_str(item)));
                inspect_put(&f, STR("setBy"), set_by(a, object, value_str(item)));
                array_builder_add(&all, object_builder_finish(&f));
        }
        if (all.n)
                object_builder_add(b, STR("finalizers"), array_builder_finish(&all));
}

/* --- Usages --- */

static const struct gvk usage_kinds[] = {
        { STR_INIT("protection.crossplane.io"), STR_INIT("v1beta1"), STR_INIT("Usage") },
        { STR_INIT("protection.crossplane.io"), STR_INIT("v1beta1"), STR_INIT("ClusterUsage") },
        { STR_INIT("apiextensions.crossplane.io"), STR_INIT("v1beta1"), STR_INIT("Usage") },
};

static bool is_of(const struct value *usage, const struct value *object)
{
        const struct value *of = value_find(usage, "spec", "of"), *ref = value_get(of, STR("resourceRef"));
        struct gvk gvk = gvk_of(of), own = gvk_of(object);
        struct str ns = value_str(value_get(ref, STR("namespace")));

        if (ns.n == 0)
                ns = meta_namespace(usage);
        return str_equal(gvk.group, own.group) && str_equal(gvk.kind, own.kind) &&
               str_equal(value_str(value_get(ref, STR("name"))), meta_name(object)) &&
               (ns.n == 0 || meta_namespace(object).n == 0 || str_equal(ns, meta_namespace(object)));
}

static struct str reason_of(struct arena *a, const struct value *usage)
{
        const struct value *by = value_find(usage, "spec", "by");
        struct str reason = value_str(value_find(usage, "spec", "reason"));

        if (reason.n)
                return reason;
        return arena_printf(a, "it is used by %.*s %.*s", STR_ARG(value_str(value_get(by, STR("kind")))),
                            STR_ARG(value_str(value_find(by, "resourceRef", "name"))));
}

static void put_usages(struct object_builder *b, struct cluster *c, struct run *run, const struct value *object)
{
        struct array_builder all;

        if (!str_equal(meta_label(object, STR("crossplane.io/in-use")), STR("true")))
                return;
        array_builder_init(&all, run->arena, 2);
        for (size_t i = 0; i < ARRAY_SIZE(usage_kinds); i++) {
                struct list_request req = { .gvk = usage_kinds[i] };
                struct object_list list;

                if (cluster_list(c, run, &req, &list, NULL) < 0)
                        continue;
                for (size_t j = 0; j < list.n; j++) {
                        const struct value *usage = object_list_value(&list, j, run->arena);

                        if (is_of(usage, object))
                                array_builder_add(&all, reference_to(run->arena, usage, reason_of(run->arena, usage)));
                }
        }
        if (all.n)
                object_builder_add(b, STR("usages"), array_builder_finish(&all));
}

/* --- Dependents --- */

static bool blocks(struct arena *a, const struct value *dependent, struct str uid)
{
        const struct owner_reference *owners;
        size_t n = owner_references(a, dependent, &owners);

        for (size_t i = 0; i < n; i++)
                if (str_equal(owners[i].uid, uid))
                        return owners[i].blocks_owner_deletion;
        return false;
}

/* Objects of the kind that the object owns and that block its deletion in the foreground. */
static void add_dependents(struct array_builder *all, struct cluster *c, struct run *run, const struct kind *kind,
                           const struct value *object)
{
        struct list_request req = { .gvk = { kind->group, kind_storage(kind)->name, kind->kind },
                                    .owner_uid = meta_uid(object) };
        struct object_list list;

        if (cluster_list(c, run, &req, &list, NULL) < 0)
                return;
        for (size_t i = 0; i < list.n && all->n < MOST_DEPENDENTS; i++) {
                const struct value *v = object_list_value(&list, i, run->arena);
                const struct value *held = value_item(value_get(meta(v), STR("finalizers")), 0);
                struct str why = STR("");

                if (!blocks(run->arena, v, meta_uid(object)))
                        continue;
                if (held)
                        why = arena_printf(run->arena, "it has the finalizer %.*s", STR_ARG(value_str(held)));
                array_builder_add(all, reference_to(run->arena, v, why));
        }
}

static void put_dependents(struct object_builder *b, struct cluster *c, struct run *run, const struct value *object)
{
        struct array_builder all;
        struct kind_list kinds;

        if (!meta_has_finalizer(object, STR("foregroundDeletion")) || cluster_kinds(c, run, &kinds, NULL) < 0)
                return;
        array_builder_init(&all, run->arena, 4);
        for (size_t i = 0; i < kinds.n && all.n < MOST_DEPENDENTS; i++)
                if (kind_storage(kinds.kinds[i].kind)->is_served && kinds.kinds[i].kind->refusal.n == 0)
                        add_dependents(&all, c, run, kinds.kinds[i].kind, object);
        if (all.n)
                object_builder_add(b, STR("dependents"), array_builder_finish(&all));
}

/* A claim that is deleted in the foreground waits for its composite. */
static void put_composite(struct object_builder *b, struct cluster *c, struct run *run, const struct value *object)
{
        struct object_key key = inspect_composite_key(object);
        const struct value *composite;

        if (!str_equal(value_str(value_find(object, "spec", "compositeDeletePolicy")), STR("Foreground")) ||
            str_equal(key.name, meta_name(object)) || cluster_get_value(c, run, &key, &composite, NULL) < 0)
                return;
        object_builder_add(b, STR("composite"), reference_to(run->arena, composite, STR("")));
}

bool inspect_deletion(struct cluster *c, struct run *run, const struct value *object, struct value *ret)
{
        struct str since = meta_str(object, STR("deletionTimestamp"));
        struct object_builder b;

        object_builder_init(&b, run->arena, 5);
        inspect_put(&b, STR("since"), since);
        if (since.n) {
                put_finalizers(&b, run->arena, object);
                put_dependents(&b, c, run, object);
                put_composite(&b, c, run, object);
        }
        put_usages(&b, c, run, object);
        *ret = object_builder_finish(&b);
        return value_count(ret) > 0;
}
