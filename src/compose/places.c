#include "places.h"

#define SAME(name)                             \
        {                                      \
                STR_INIT(name), STR_INIT(name) \
        }
#define NAMED(name, at)                      \
        {                                    \
                STR_INIT(name), STR_INIT(at) \
        }

#define SELECTION SAME("compositionRef"), SAME("compositionSelector")
#define REVISIONS SAME("compositionRevisionRef"), SAME("compositionRevisionSelector"), SAME("compositionUpdatePolicy")

const struct places places_modern = {
        .design = "composite resource",
        .under = STR_INIT("crossplane"),
        .fields = { SELECTION, REVISIONS, SAME("resourceRefs") },
};

const struct places places_legacy = {
        .design = "composite resource",
        .under = STR_INIT(""),
        .fields = { SELECTION, REVISIONS, SAME("resourceRefs"), SAME("claimRef"), SAME("writeConnectionSecretToRef") },
        .has_connection = true,
};

const struct places places_application = {
        .design = "application",
        .under = STR_INIT("application"),
        .fields = { SELECTION, NAMED("resourceRefs", "composedRefs") },
        .is_strict_scope = true,
};

const struct places places_infrastructure = {
        .design = "infrastructure resource",
        .under = STR_INIT("infrastructure"),
        .fields = { SELECTION, NAMED("resourceRefs", "composedRefs"), NAMED("claimRef", "requirementRef"),
                    SAME("writeConnectionSecretToRef"), SAME("reclaimPolicy") },
        .has_connection = true,
        .has_exact_keys = true,
        .is_strict_scope = true,
};

const struct places places_claim = {
        .design = "claim",
        .under = STR_INIT(""),
        .fields = { SELECTION, REVISIONS, SAME("resourceRef"), SAME("compositeDeletePolicy"),
                    SAME("writeConnectionSecretToRef") },
};

const struct places places_requirement = {
        .design = "requirement",
        .under = STR_INIT("infrastructure"),
        .fields = { SELECTION, SAME("resourceRef"), SAME("writeConnectionSecretToRef") },
};

/* Modern composites come first: a field of the user may have the name of a legacy one. */
const struct places *const places_of_composites[] = { &places_modern, &places_application, &places_infrastructure,
                                                      &places_legacy, NULL };
const struct places *const places_of_claims[] = { &places_requirement, &places_claim, NULL };

struct str places_at(const struct places *p, struct str field)
{
        for (size_t i = 0; i < ARRAY_SIZE(p->fields) && p->fields[i].field.n; i++)
                if (str_equal(p->fields[i].field, field))
                        return p->fields[i].at;
        return STR("");
}

struct str places_path(struct arena *a, const struct places *p, struct str field)
{
        struct str at = places_at(p, field);

        return arena_printf(a, "spec%s%.*s.%.*s", p->under.n ? "." : "", STR_ARG(p->under), STR_ARG(at));
}

const struct value *places_machinery(const struct places *p, const struct value *object)
{
        const struct value *spec = value_get(object, STR("spec"));

        return p->under.n ? value_get(spec, p->under) : spec;
}

const struct value *places_get(const struct places *p, const struct value *object, struct str field)
{
        struct str at = places_at(p, field);

        return at.n ? value_get(places_machinery(p, object), at) : NULL;
}

static const struct value *object_or_empty(const struct value *v)
{
        return value_is_object(v) ? v : &value_empty_object;
}

const struct value *places_with(struct arena *a, const struct places *p, const struct value *object, struct str field,
                                const struct value *v)
{
        const struct value *spec = object_or_empty(value_get(object, STR("spec")));
        const struct value *fields = object_or_empty(places_machinery(p, object));
        struct str at = places_at(p, field);

        if (at.n == 0)
                return object;
        fields = v ? value_with(a, fields, at, v) : value_without(a, fields, at);
        spec = p->under.n ? value_with(a, spec, p->under, fields) : fields;
        return value_with(a, object, STR("spec"), spec);
}

const struct places *places_find(const struct places *const *tables, const struct value *object, struct str field)
{
        for (; *tables; tables++)
                if (places_get(*tables, object, field))
                        return *tables;
        return NULL;
}

const struct value *places_find_field(const struct places *const *tables, const struct value *object, struct str field)
{
        const struct places *p = places_find(tables, object, field);

        return p ? places_get(p, object, field) : NULL;
}

const struct value *places_with_single_refs(struct arena *a, const struct places *p, const struct value *object)
{
        static const struct str references[] = { STR_INIT("compositionRef"), STR_INIT("resourceRef") };

        for (size_t i = 0; i < ARRAY_SIZE(references); i++) {
                const struct value *list = places_get(p, object, references[i]);

                if (value_is_array(list) && value_count(list) == 1 && value_is_object(value_item(list, 0)))
                        object = places_with(a, p, object, references[i], value_item(list, 0));
        }
        return object;
}
