#include "usage.h"

#include "buf.h"
#include "str-list.h"

struct gvk usage_gvk(enum usage_kind kind)
{
        static const struct gvk gvks[] = {
                [USAGE_NAMESPACED] = { STR_INIT("protection.crossplane.io"), STR_INIT("v1beta1"), STR_INIT("Usage") },
                [USAGE_CLUSTER] = { STR_INIT("protection.crossplane.io"), STR_INIT("v1beta1"),
                                    STR_INIT("ClusterUsage") },
                [USAGE_LEGACY] = { STR_INIT("apiextensions.crossplane.io"), STR_INIT("v1beta1"), STR_INIT("Usage") },
        };

        return gvks[kind];
}

enum usage_kind usage_kind_of(const struct value *usage)
{
        struct gvk gvk = gvk_of(usage);

        if (str_equal(gvk.group, usage_gvk(USAGE_LEGACY).group))
                return USAGE_LEGACY;
        return str_equal(gvk.kind, usage_gvk(USAGE_CLUSTER).kind) ? USAGE_CLUSTER : USAGE_NAMESPACED;
}

/* The namespace that the reference or its selector names, else that of the usage. */
static struct object_key key_of(const struct value *usage, const struct value *resource)
{
        struct str ns = value_str(value_find(resource, "resourceRef", "namespace"));

        if (ns.n == 0)
                ns = value_str(value_find(resource, "resourceSelector", "namespace"));
        return (struct object_key) {
                .gvk = gvk_of(resource),
                .ns = ns.n ? ns : meta_namespace(usage),
                .name = value_str(value_find(resource, "resourceRef", "name")),
        };
}

struct object_key usage_of(const struct value *usage)
{
        return key_of(usage, value_find(usage, "spec", "of"));
}

bool usage_by(const struct value *usage, struct object_key *ret)
{
        const struct value *by = value_find(usage, "spec", "by");

        *ret = key_of(usage, by);
        return value_is_object(by);
}

struct str usage_reason(const struct value *usage)
{
        return value_str(value_find(usage, "spec", "reason"));
}

struct str usage_details(struct arena *a, const struct value *usage)
{
        struct object_key of = usage_of(usage), by;
        struct str details = usage_reason(usage);

        if (details.n || !usage_by(usage, &by))
                return details;
        details = arena_printf(a, "%.*s/%.*s uses %.*s/%.*s", STR_ARG(by.gvk.kind), STR_ARG(by.name),
                               STR_ARG(of.gvk.kind), STR_ARG(of.name));
        if (value_str(value_find(usage, "spec", "of", "resourceRef", "namespace")).n)
                details = arena_printf(a, "%.*s in namespace %.*s", STR_ARG(details), STR_ARG(of.ns));
        return details;
}

struct str usage_no_match(struct arena *a, struct str field, struct str kind, const struct value *selector)
{
        const struct value *labels = value_get(selector, STR("matchLabels"));
        struct str_list pairs;

        str_list_init(&pairs, a);
        VALUE_FOREACH_MEMBER (m, labels)
                str_list_printf(&pairs, "\"%.*s\":\"%.*s\"", STR_ARG(m->key), STR_ARG(value_str(&m->value)));
        str_list_sort(&pairs);
        return arena_printf(a, "cannot resolve selector at \"%.*s\": no \"%.*s\" found matching labels: map[%.*s]%s",
                            STR_ARG(field), STR_ARG(kind), STR_ARG(str_list_join(&pairs, STR(" "))),
                            value_bool(value_get(selector, STR("matchControllerRef")), false)
                                    ? " and with same controller reference"
                                    : "");
}
