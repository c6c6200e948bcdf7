#include "xrd.h"

#include "json.h"
#include "owner.h"

#define MAX_NAME 63 /* names of composites become label values */

/* The fields that Crossplane adds to the schemas of composites and claims. */
#define NAME_REF "{\"type\":\"object\",\"required\":[\"name\"],\"properties\":{\"name\":{\"type\":\"string\"}}}"
#define LABEL_SELECTOR                                                                                              \
        "{\"type\":\"object\",\"required\":[\"matchLabels\"],\"properties\":{\"matchLabels\":{\"type\":\"object\"," \
        "\"additionalProperties\":{\"type\":\"string\"}}}}"
#define SHARED_PROPERTIES                                                                          \
        "\"compositionRef\":" NAME_REF ",\"compositionSelector\":" LABEL_SELECTOR                  \
        ",\"compositionRevisionRef\":" NAME_REF ",\"compositionRevisionSelector\":" LABEL_SELECTOR \
        ",\"compositionUpdatePolicy\":{\"type\":\"string\",\"enum\":[\"Automatic\",\"Manual\"]}"
#define RESOURCE_REFS(ns)                                                                                              \
        "\"resourceRefs\":{\"type\":\"array\",\"x-kubernetes-list-type\":\"atomic\",\"items\":{\"type\":\"object\","   \
        "\"required\":["                                                                                               \
        "\"apiVersion\",\"kind\"],\"properties\":{\"apiVersion\":{\"type\":\"string\"},\"kind\":{\"type\":\"string\"}" \
        ",\"name\":{"                                                                                                  \
        "\"type\":\"string\"}" ns "}}}"
#define WITH_NAMESPACE ",\"namespace\":{\"type\":\"string\"}"

static const char legacy_spec[] =
        "{" SHARED_PROPERTIES
        "," RESOURCE_REFS(WITH_NAMESPACE) ","
                                          "\"claimRef\":{\"type\":\"object\",\"required\":[\"apiVersion\",\"kind\","
                                          "\"namespace\",\"name\"],\"properties\":{\"apiVersion\":"
                                          "{\"type\":\"string\"},\"kind\":{\"type\":\"string\"},\"namespace\":{"
                                          "\"type\":\"string\"},\"name\":{\"type\":\"string\"}}},"
                                          "\"writeConnectionSecretToRef\":{\"type\":\"object\",\"required\":[\"name\","
                                          "\"namespace\"],\"properties\":{\"name\":{\"type\":"
                                          "\"string\"},\"namespace\":{\"type\":\"string\"}}}}";
static const char namespaced_spec[] = "{" SHARED_PROPERTIES "," RESOURCE_REFS("") "}";
static const char cluster_spec[] = "{" SHARED_PROPERTIES "," RESOURCE_REFS(WITH_NAMESPACE) "}";
static const char claim_spec[] =
        "{" SHARED_PROPERTIES ","
        "\"compositeDeletePolicy\":{\"type\":\"string\",\"enum\":[\"Background\",\"Foreground\"]},"
        "\"resourceRef\":{\"type\":\"object\",\"required\":[\"apiVersion\",\"kind\",\"name\"],\"properties\":{"
        "\"apiVersion\":{\"type\":"
        "\"string\"},\"kind\":{\"type\":\"string\"},\"name\":{\"type\":\"string\"}}},"
        "\"writeConnectionSecretToRef\":" NAME_REF "}";

#define COMPOSED_REFS                                                                                                \
        "\"composedRefs\":{\"type\":\"array\",\"x-kubernetes-list-type\":\"atomic\",\"items\":{\"type\":\"object\"," \
        "\"required\":[\"apiVersion\",\"kind\",\"name\"],\"properties\":{\"apiVersion\":{\"type\":\"string\"},"      \
        "\"kind\":{\"type\":\"string\"},\"name\":{\"type\":\"string\"}}}}"
/* A reference may be a list of one, which no structural schema can say beside an object: first_design_validate checks it. */
#define LOOSE_REF(text) "{\"description\":\"" text "\",\"x-kubernetes-preserve-unknown-fields\":true}"
#define SELECTION                                                                                                   \
        "\"compositionRef\":" LOOSE_REF(                                                                            \
                "The Composition: an object with a name, or a list of one such object.") ",\"compositionSelector\"" \
                                                                                         ":" LABEL_SELECTOR

/* The first design (docs/spec/seeds 5). */
static const char application_spec[] = "{" SELECTION "," COMPOSED_REFS "}";
static const char infrastructure_spec[] =
        "{" SELECTION "," COMPOSED_REFS ","
        "\"requirementRef\":{\"type\":\"object\",\"required\":[\"apiVersion\",\"kind\",\"namespace\",\"name\"],"
        "\"properties\":{\"apiVersion\":{\"type\":\"string\"},\"kind\":{\"type\":\"string\"},\"namespace\":{\"type\":"
        "\"string\"},\"name\":{\"type\":\"string\"}}},"
        "\"writeConnectionSecretToRef\":{\"type\":\"object\",\"required\":[\"name\",\"namespace\"],\"properties\":{"
        "\"name\":{\"type\":\"string\"},\"namespace\":{\"type\":\"string\"}}},"
        "\"reclaimPolicy\":{\"type\":\"string\",\"enum\":[\"Delete\",\"Retain\"]}}";
static const char requirement_spec[] =
        "{" SELECTION
        ",\"resourceRef\":" LOOSE_REF("The required resource: an object with apiVersion, kind and name, or a list of "
                                      "one such object.") ","
                                                          "\"writeConnectionSecretToRef\":" NAME_REF "}";

#define CONDITIONS                                                                                                    \
        "\"conditions\":{\"description\":\"Conditions of the "                                                        \
        "resource.\",\"type\":\"array\",\"x-kubernetes-list-type\":\"map\","                                          \
        "\"x-kubernetes-list-map-keys\":[\"type\"],\"items\":{\"type\":\"object\",\"required\":["                     \
        "\"lastTransitionTime\",\"reason\","                                                                          \
        "\"status\",\"type\"],\"properties\":{\"lastTransitionTime\":{\"type\":\"string\",\"format\":\"date-time\"}," \
        "\"message\":{"                                                                                               \
        "\"type\":\"string\"},\"reason\":{\"type\":\"string\"},\"status\":{\"type\":\"string\"},\"type\":{\"type\":"  \
        "\"string\"},"                                                                                                \
        "\"observedGeneration\":{\"type\":\"integer\",\"format\":\"int64\"}}}}"

/* Our own field: resources whose changes start a reconcile of the composite (docs/spec/seeds 2). Upstream's schemas do not have
 * it. */
#define WATCHED                                                                                                      \
        ",\"watchedResourceRefs\":{\"description\":\"Resources whose changes are looked at although they are not "   \
        "composed.\",\"type\":\"array\",\"x-kubernetes-list-type\":\"atomic\",\"items\":{\"type\":\"object\","       \
        "\"required\":["                                                                                             \
        "\"apiVersion\",\"kind\",\"name\"],\"properties\":{\"apiVersion\":{\"type\":\"string\"},\"kind\":{\"type\":" \
        "\"string\"},\"name\":{\"type\":\"string\"},\"namespace\":{\"type\":\"string\"}}}}"

#define LEGACY_STATUS                                                                                         \
        ",\"connectionDetails\":{\"type\":\"object\",\"properties\":{\"lastPublishedTime\":{\"type\":"        \
        "\"string\",\"format\":\"date-time\"}}},"                                                             \
        "\"claimConditionTypes\":{\"type\":\"array\",\"x-kubernetes-list-type\":\"set\",\"items\":{\"type\":" \
        "\"string\"}"                                                                                         \
        "}"

static const char modern_status[] = "{" CONDITIONS WATCHED "}";
static const char legacy_status[] = "{" CONDITIONS LEGACY_STATUS WATCHED "}";
static const char claim_status[] = "{" CONDITIONS LEGACY_STATUS "}";

#define COLUMN(name, type, path) "{\"name\":\"" name "\",\"type\":\"" type "\",\"jsonPath\":\"" path "\"}"
#define STATUS_COLUMNS                                                               \
        COLUMN("SYNCED", "string", ".status.conditions[?(@.type=='Synced')].status") \
        "," COLUMN("READY", "string", ".status.conditions[?(@.type=='Ready')].status")
#define AGE_COLUMN COLUMN("AGE", "date", ".metadata.creationTimestamp")
#define COMPOSITE_COLUMNS(path)                                                                                       \
        "[" STATUS_COLUMNS "," COLUMN(                                                                                \
                "COMPOSITION", "string",                                                                              \
                path                                                                                                  \
                ".compositionRef.name") ",{\"name\":\"COMPOSITIONREVISION\",\"type\":\"string\",\"jsonPath\":\"" path \
                                        ".compositionRevisionRef.name\","                                             \
                                        "\"priority\":1}," AGE_COLUMN "]"

static const char legacy_columns[] = COMPOSITE_COLUMNS(".spec");
static const char modern_columns[] = COMPOSITE_COLUMNS(".spec.crossplane");

#define COMPOSITION_COLUMN(path) COLUMN("COMPOSITION", "string", path ".compositionRef.name")
#define SECRET_COLUMN(path)      COLUMN("CONNECTION-SECRET", "string", path ".writeConnectionSecretToRef.name")

static const char application_columns[] =
        "[" STATUS_COLUMNS "," COMPOSITION_COLUMN(".spec.application") "," AGE_COLUMN "]";
static const char infrastructure_columns[] =
        "[" STATUS_COLUMNS
        "," COMPOSITION_COLUMN(".spec.infrastructure") "," SECRET_COLUMN(".spec.infrastructure") "," AGE_COLUMN "]";

static const char claim_columns[] =
        "[" STATUS_COLUMNS
        "," COLUMN("CONNECTION-SECRET", "string", ".spec.writeConnectionSecretToRef.name") "," AGE_COLUMN "]";

/* The input for one CRD. */
struct recipe {
        struct arena *arena;
        const struct value *xrd;
        const struct value *names;
        const char *category;
        bool is_namespaced;
        const struct places *places; /* where the engine's fields are */
        const char *spec;
        const char *status;
        const char *columns;
        const struct value *update_policy; /* default; NULL: none */
        const struct value *delete_policy;
};

static const struct value *constant(struct arena *a, const char *json)
{
        const struct value *v;
        int r = json_parse(a, str_from(json), NULL, &v, NULL);

        assert(r >= 0);
        return v;
}

enum xrd_scope xrd_scope(const struct value *xrd)
{
        struct str scope = value_str(value_find(xrd, "spec", "scope"));

        if (str_equal(scope, STR("Namespaced")))
                return XRD_NAMESPACED;
        if (str_equal(scope, STR("Cluster")))
                return XRD_CLUSTER;
        if (scope.n == 0)
                return str_equal(gvk_of(xrd).version, STR("v2")) ? XRD_NAMESPACED : XRD_LEGACY_CLUSTER;
        return str_equal(scope, STR("LegacyCluster")) ? XRD_LEGACY_CLUSTER : XRD_CLUSTER;
}

static struct str machinery_of(const struct value *xrd)
{
        return value_str(value_find(xrd, "spec", "machinery"));
}

const struct places *xrd_places(const struct value *xrd)
{
        struct str machinery = machinery_of(xrd);

        if (str_equal(machinery, STR("Application")))
                return &places_application;
        if (str_equal(machinery, STR("Infrastructure")))
                return &places_infrastructure;
        return xrd_scope(xrd) == XRD_LEGACY_CLUSTER ? &places_legacy : &places_modern;
}

const struct places *xrd_claim_places(const struct value *xrd)
{
        return str_equal(machinery_of(xrd), STR("Infrastructure")) ? &places_requirement : &places_claim;
}

static struct str referenceable_version(const struct value *xrd)
{
        struct str version = STR("");

        VALUE_FOREACH_ITEM (v, value_find(xrd, "spec", "versions"))
                if (value_bool(value_get(v, STR("referenceable")), false))
                        version = value_str(value_get(v, STR("name")));
        return version;
}

struct gvk xrd_composite_gvk(const struct value *xrd)
{
        return (struct gvk) {
                .group = value_str(value_find(xrd, "spec", "group")),
                .version = referenceable_version(xrd),
                .kind = value_str(value_find(xrd, "spec", "names", "kind")),
        };
}

bool xrd_claim_gvk(const struct value *xrd, struct gvk *ret)
{
        const struct value *names = value_find(xrd, "spec", "claimNames");

        if (!value_is_object(names))
                return false;
        *ret = xrd_composite_gvk(xrd);
        ret->kind = value_str(value_get(names, STR("kind")));
        return true;
}

/* --- Schemas --- */

/* Copies the members with these names, if `from` has them. */
static void copy_members(struct object_builder *b, const struct value *from, const char *const *names)
{
        for (; *names; names++) {
                const struct value *v = value_get(from, str_from(*names));

                if (v && !value_is_null(v))
                        object_builder_set(b, str_from(*names), *v);
        }
}

static const struct value *overlay(struct arena *a, const struct value *base, const struct value *over)
{
        VALUE_FOREACH_MEMBER (m, over)
                base = value_with(a, base, m->key, &m->value);
        return base;
}

static const struct value *injected_spec(const struct recipe *r)
{
        const struct value *properties = constant(r->arena, r->spec);
        const struct value *policy = value_get(properties, STR("compositionUpdatePolicy"));
        const struct value *deletion = value_get(properties, STR("compositeDeletePolicy"));

        if (r->update_policy && policy)
                properties = value_with(r->arena, properties, STR("compositionUpdatePolicy"),
                                        value_with(r->arena, policy, STR("default"), r->update_policy));
        if (r->delete_policy && deletion)
                properties = value_with(r->arena, properties, STR("compositeDeletePolicy"),
                                        value_with(r->arena, deletion, STR("default"), r->delete_policy));
        return properties;
}

static const struct value *with_machinery(const struct recipe *r, const struct value *properties)
{
        struct object_builder machinery;

        if (r->places->under.n == 0)
                return overlay(r->arena, properties, injected_spec(r));
        object_builder_init(&machinery, r->arena, 3);
        object_builder_add(&machinery, STR("type"), value_of_literal("object"));
        object_builder_add(&machinery, STR("description"),
                           value_of_str(arena_printf(r->arena, "Configures how Crossplane will reconcile this %s",
                                                     r->places->design)));
        object_builder_add(&machinery, STR("properties"), *injected_spec(r));
        return value_with(r->arena, properties, r->places->under,
                          value_put(r->arena, object_builder_finish(&machinery)));
}

static struct value spec_schema(const struct recipe *r, const struct value *given)
{
        static const char *const kept[] = {
                "required", "x-kubernetes-preserve-unknown-fields", "x-kubernetes-validations", "oneOf", "description",
                NULL
        };
        const struct value *properties = value_get(given, STR("properties"));
        struct object_builder b;

        object_builder_init(&b, r->arena, 8);
        object_builder_add(&b, STR("type"), value_of_literal("object"));
        copy_members(&b, given, kept);
        object_builder_set(&b, STR("properties"),
                           *with_machinery(r, value_is_object(properties) ? properties : &value_empty_object));
        return object_builder_finish(&b);
}

static struct value status_schema(const struct recipe *r, const struct value *given)
{
        static const char *const kept[] = { "required", "x-kubernetes-validations", "description", "oneOf", NULL };
        const struct value *properties = value_get(given, STR("properties"));
        struct object_builder b;

        object_builder_init(&b, r->arena, 8);
        object_builder_add(&b, STR("type"), value_of_literal("object"));
        copy_members(&b, given, kept);
        properties = overlay(r->arena, value_is_object(properties) ? properties : &value_empty_object,
                             constant(r->arena, r->status));
        object_builder_set(&b, STR("properties"), *properties);
        return object_builder_finish(&b);
}

static struct value typed(struct arena *a, const char *type)
{
        struct object_builder b;

        object_builder_init(&b, a, 1);
        object_builder_add(&b, STR("type"), value_of_str(str_from(type)));
        return object_builder_finish(&b);
}

static struct value metadata_schema(const struct recipe *r, const struct value *given)
{
        int64_t max =
                value_int(value_find(given, "properties", "metadata", "properties", "name", "maxLength"), MAX_NAME);
        struct value name = typed(r->arena, "string"), metadata = typed(r->arena, "object");
        struct value length = value_of_int(MIN(max, MAX_NAME));
        struct object_builder b;

        name = *value_with(r->arena, &name, STR("maxLength"), &length);
        object_builder_init(&b, r->arena, 1);
        object_builder_add(&b, STR("name"), name);
        return *value_with(r->arena, &metadata, STR("properties"), value_put(r->arena, object_builder_finish(&b)));
}

static struct value root_schema(const struct recipe *r, const struct value *given)
{
        static const char *const kept[] = { "description", "x-kubernetes-validations", NULL };
        const struct value *properties = value_get(given, STR("properties"));
        struct object_builder b, p;

        object_builder_init(&p, r->arena, 5);
        object_builder_add(&p, STR("apiVersion"), typed(r->arena, "string"));
        object_builder_add(&p, STR("kind"), typed(r->arena, "string"));
        object_builder_add(&p, STR("metadata"), metadata_schema(r, given));
        object_builder_add(&p, STR("spec"), spec_schema(r, value_get(properties, STR("spec"))));
        object_builder_add(&p, STR("status"), status_schema(r, value_get(properties, STR("status"))));
        object_builder_init(&b, r->arena, 6);
        object_builder_add(&b, STR("type"), value_of_literal("object"));
        object_builder_add(&b, STR("required"), *constant(r->arena, "[\"spec\"]"));
        copy_members(&b, given, kept);
        object_builder_add(&b, STR("properties"), object_builder_finish(&p));
        return object_builder_finish(&b);
}

/* --- Versions --- */

static struct value columns_of(const struct recipe *r, const struct value *version)
{
        struct array_builder b;

        array_builder_init(&b, r->arena, 8);
        VALUE_FOREACH_ITEM (column, value_get(version, STR("additionalPrinterColumns")))
                array_builder_add(&b, *column);
        VALUE_FOREACH_ITEM (column, constant(r->arena, r->columns))
                array_builder_add(&b, *column);
        return array_builder_finish(&b);
}

static struct value subresources_of(const struct recipe *r, const struct value *version)
{
        const struct value *scale = value_find(version, "subresources", "scale");
        struct object_builder b;

        object_builder_init(&b, r->arena, 2);
        object_builder_add(&b, STR("status"), value_empty_object);
        if (value_is_object(scale))
                object_builder_add(&b, STR("scale"), *scale);
        return object_builder_finish(&b);
}

static int make_version(const struct recipe *r, const struct value *version, struct value *ret, struct err *err)
{
        static const char *const kept[] = { "deprecationWarning", NULL };
        const struct value *schema = value_find(version, "schema", "openAPIV3Schema");
        struct value openapi = value_of_null();
        struct object_builder b, validation;

        if (!value_is_object(value_get(version, STR("schema"))))
                return err_set(err, ERR_INVALID, "custom resource validation cannot be nil");
        openapi = root_schema(r, schema);
        object_builder_init(&validation, r->arena, 1);
        object_builder_add(&validation, STR("openAPIV3Schema"), openapi);
        object_builder_init(&b, r->arena, 8);
        object_builder_add(&b, STR("name"), value_of_str(value_str(value_get(version, STR("name")))));
        object_builder_add(&b, STR("served"), value_of_bool(value_bool(value_get(version, STR("served")), false)));
        object_builder_add(&b, STR("storage"),
                           value_of_bool(value_bool(value_get(version, STR("referenceable")), false)));
        if (value_bool(value_get(version, STR("deprecated")), false))
                object_builder_add(&b, STR("deprecated"), value_true);
        copy_members(&b, version, kept);
        object_builder_add(&b, STR("schema"), object_builder_finish(&validation));
        object_builder_add(&b, STR("additionalPrinterColumns"), columns_of(r, version));
        object_builder_add(&b, STR("subresources"), subresources_of(r, version));
        *ret = object_builder_finish(&b);
        return 0;
}

/* --- The CRD --- */

static struct value names_of(const struct recipe *r)
{
        const struct value *categories = value_get(r->names, STR("categories"));
        struct value category = value_of_str(str_from(r->category));

        categories =
                value_with_appended(r->arena, value_is_array(categories) ? categories : &value_empty_array, &category);
        return *value_with(r->arena, r->names, STR("categories"), categories);
}

static struct value metadata_of(const struct recipe *r, struct str name)
{
        const struct value *labels = value_get(meta(r->xrd), STR("labels"));
        const struct value *given = value_find(r->xrd, "spec", "metadata");
        const struct value *annotations = value_get(given, STR("annotations"));
        struct owner_reference owner = owner_reference_to(r->arena, r->xrd, true, true);
        struct array_builder owners;
        struct object_builder b;

        labels = overlay(r->arena, value_is_object(labels) ? labels : &value_empty_object,
                         value_get(given, STR("labels")));
        owner.api_version = STR("apiextensions.crossplane.io/v1");
        array_builder_init(&owners, r->arena, 1);
        array_builder_add(&owners, owner_reference_value(r->arena, &owner));
        object_builder_init(&b, r->arena, 4);
        object_builder_add(&b, STR("name"), value_of_str(name));
        if (value_count(labels))
                object_builder_add(&b, STR("labels"), *labels);
        if (value_count(annotations))
                object_builder_add(&b, STR("annotations"), *annotations);
        object_builder_add(&b, STR("ownerReferences"), array_builder_finish(&owners));
        return object_builder_finish(&b);
}

static int make_crd(const struct recipe *r, struct str name, const struct value **ret, struct err *err)
{
        const struct value *conversion = value_find(r->xrd, "spec", "conversion");
        struct object_builder b, spec;
        struct array_builder versions;
        struct value version;
        int e;

        array_builder_init(&versions, r->arena, 2);
        VALUE_FOREACH_ITEM (v, value_find(r->xrd, "spec", "versions")) {
                e = make_version(r, v, &version, err);
                if (e < 0)
                        return e;
                array_builder_add(&versions, version);
        }
        object_builder_init(&spec, r->arena, 5);
        object_builder_add(&spec, STR("group"), value_of_str(value_str(value_find(r->xrd, "spec", "group"))));
        object_builder_add(&spec, STR("names"), names_of(r));
        object_builder_add(&spec, STR("scope"),
                           r->is_namespaced ? value_of_literal("Namespaced") : value_of_literal("Cluster"));
        if (value_is_object(conversion))
                object_builder_add(&spec, STR("conversion"), *conversion);
        object_builder_add(&spec, STR("versions"), array_builder_finish(&versions));
        object_builder_init(&b, r->arena, 4);
        object_builder_add(&b, STR("apiVersion"), value_of_literal("apiextensions.k8s.io/v1"));
        object_builder_add(&b, STR("kind"), value_of_literal("CustomResourceDefinition"));
        object_builder_add(&b, STR("metadata"), metadata_of(r, name));
        object_builder_add(&b, STR("spec"), object_builder_finish(&spec));
        *ret = value_put(r->arena, object_builder_finish(&b));
        return 0;
}

static const struct value *policy_of(const struct value *xrd, struct str key)
{
        const struct value *policy = value_get(value_get(xrd, STR("spec")), key);

        return value_is_string(policy) ? policy : NULL;
}

/* The schemas and columns that a CRD gets for each table of places. */
static const struct ingredients {
        const struct places *places;
        const char *spec, *status, *columns;
        const char *cluster_spec; /* for cluster scoped kinds; NULL: spec */
} ingredients[] = {
        { &places_legacy, legacy_spec, legacy_status, legacy_columns, NULL },
        { &places_modern, namespaced_spec, modern_status, modern_columns, cluster_spec },
        { &places_application, application_spec, modern_status, application_columns, NULL },
        { &places_infrastructure, infrastructure_spec, legacy_status, infrastructure_columns, NULL },
        { &places_claim, claim_spec, claim_status, claim_columns, NULL },
        { &places_requirement, requirement_spec, claim_status, infrastructure_columns, NULL },
};

static const struct ingredients *ingredients_for(const struct places *places)
{
        size_t i = 0;

        while (ingredients[i].places != places)
                i++;
        return &ingredients[i];
}

int xrd_composite_crd(struct arena *a, const struct value *xrd, const struct value **ret, struct err *err)
{
        const struct ingredients *with = ingredients_for(xrd_places(xrd));
        enum xrd_scope scope = xrd_scope(xrd);
        struct recipe r = {
                .arena = a,
                .xrd = xrd,
                .names = value_find(xrd, "spec", "names") ?: &value_empty_object,
                .category = "composite",
                .is_namespaced = scope == XRD_NAMESPACED,
                .places = with->places,
                .spec = scope == XRD_CLUSTER && with->cluster_spec ? with->cluster_spec : with->spec,
                .status = with->status,
                .columns = with->columns,
                .update_policy = policy_of(xrd, STR("defaultCompositionUpdatePolicy")),
        };
        int e = make_crd(&r, meta_name(xrd), ret, err);

        return e < 0 ? err_wrap(err, "cannot generate CRD for \"Composite Resource\" \"%.*s\"", STR_ARG(meta_name(xrd)))
                     : 0;
}

/* A claim's names must differ from those of its composite. */
static int check_claim_names(const struct value *claim, const struct value *composite, struct err *err)
{
        static const char *const names[] = { "kind", "plural", "singular", "listKind" };

        if (!value_is_object(claim))
                return err_set(err, ERR_INVALID, "missing names");
        for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
                struct str name = value_str(value_get(claim, str_from(names[i])));

                if (name.n && str_equal(name, value_str(value_get(composite, str_from(names[i])))))
                        return err_set(err, ERR_INVALID, "\"%.*s\" conflicts with composite resource name",
                                       STR_ARG(name));
        }
        return 0;
}

int xrd_claim_crd(struct arena *a, const struct value *xrd, const struct value **ret, struct err *err)
{
        const struct value *names = value_find(xrd, "spec", "claimNames");
        const struct ingredients *with = ingredients_for(xrd_claim_places(xrd));
        struct recipe r = {
                .arena = a,
                .xrd = xrd,
                .names = names,
                .category = "claim",
                .is_namespaced = true,
                .places = with->places,
                .spec = with->spec,
                .status = with->status,
                .columns = with->columns,
                .delete_policy = policy_of(xrd, STR("defaultCompositeDeletePolicy")),
        };
        struct str name;
        int e = check_claim_names(names, value_find(xrd, "spec", "names"), err);

        if (e < 0)
                return err_wrap(err, "invalid resource %s names", with->places->design);
        name = arena_printf(a, "%.*s.%.*s", STR_ARG(value_str(value_get(names, STR("plural")))),
                            STR_ARG(value_str(value_find(xrd, "spec", "group"))));
        e = make_crd(&r, name, ret, err);
        return e < 0 ? err_wrap(err, "cannot generate CRD for \"%s\" \"%.*s\"",
                                with->places == &places_requirement ? "Requirement" : "Composite Resource Claim",
                                STR_ARG(meta_name(xrd)))
                     : 0;
}
