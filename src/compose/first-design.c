#include "first-design.h"

#include "owner.h"
#include "places.h"
#include "xrd.h"

#define GROUP       STR("apiextensions.crossplane.io")
#define SCHEMA_PATH "spec.crdSpecTemplate.validation.openAPIV3Schema"
#define MAX_SCHEMA  64 /* levels of a schema that are searched for types */

static const struct first_kind kinds[] = {
        { STR_INIT("ApplicationDefinition"), STR_INIT("Application"), STR_INIT("Namespaced"), STR_INIT("application"),
          false },
        { STR_INIT("InfrastructureDefinition"), STR_INIT("Infrastructure"), STR_INIT("Cluster"),
          STR_INIT("infrastructure"), true },
};

const struct first_kind *first_design_kind(struct gvk gvk)
{
        for (size_t i = 0; str_equal(gvk.group, GROUP) && i < ARRAY_SIZE(kinds); i++)
                if (str_equal(gvk.kind, kinds[i].kind))
                        return &kinds[i];
        return NULL;
}

bool first_design_is_publication(struct gvk gvk)
{
        return str_equal(gvk.group, GROUP) && str_equal(gvk.kind, STR("InfrastructurePublication"));
}

/* --- Schemas --- */

/* The spelling of the seed: `int` for `integer`, below any number of properties. */
struct respelling {
        struct arena *arena;
        struct str_list *warnings; /* NULL: none */
        unsigned depth;
};

static const struct value *respell(struct respelling *r, const struct value *schema, struct str path);

static const struct value *respell_each(struct respelling *r, const struct value *schema, const char *key,
                                        struct str path)
{
        const struct value *all = value_get(schema, str_from(key)), *done = all;

        if (!value_is_object(all))
                return schema;
        VALUE_FOREACH_MEMBER (m, all) {
                struct str at = arena_printf(r->arena, "%.*s.%s[%.*s]", STR_ARG(path), key, STR_ARG(m->key));
                const struct value *inner = respell(r, &m->value, at);

                if (inner != &m->value)
                        done = value_with(r->arena, done, m->key, inner);
        }
        return done == all ? schema : value_with(r->arena, schema, str_from(key), done);
}

static const struct value *respell_type(struct respelling *r, const struct value *schema, struct str path)
{
        static const struct value integer = { .type = VALUE_STRING, .n = 7, .bytes = "integer" };

        if (!str_equal(value_str(value_get(schema, STR("type"))), STR("int")))
                return schema;
        if (r->warnings)
                str_list_printf(r->warnings, "%.*s.type: \"int\" is read as \"integer\"", STR_ARG(path));
        return value_with(r->arena, schema, STR("type"), &integer);
}

static const struct value *respell(struct respelling *r, const struct value *schema, struct str path)
{
        static const char *const singles[] = { "items", "additionalProperties", "not" };

        if (!value_is_object(schema) || r->depth == MAX_SCHEMA)
                return schema;
        r->depth++;
        schema = respell_type(r, schema, path);
        schema = respell_each(r, schema, "properties", path);
        for (size_t i = 0; i < ARRAY_SIZE(singles); i++) {
                const struct value *inner = value_get(schema, str_from(singles[i]));
                struct str at = arena_printf(r->arena, "%.*s.%s", STR_ARG(path), singles[i]);
                const struct value *respelt = inner ? respell(r, inner, at) : NULL;

                if (respelt != inner)
                        schema = value_with(r->arena, schema, str_from(singles[i]), respelt);
        }
        r->depth--;
        return schema;
}

/* Whether the schema describes the whole object, not only its spec. */
static bool is_whole(const struct value *schema)
{
        return value_find(schema, "properties", "spec") != NULL;
}

static const struct value *openapi_of(const struct value *definition)
{
        return value_find(definition, "spec", "crdSpecTemplate", "validation", "openAPIV3Schema");
}

/* Without a schema everything is allowed, as in the CRDs of that time. */
static struct value any_spec(struct arena *a)
{
        struct object_builder b;

        object_builder_init(&b, a, 2);
        object_builder_add(&b, STR("type"), value_of_literal("object"));
        object_builder_add(&b, STR("x-kubernetes-preserve-unknown-fields"), value_true);
        return object_builder_finish(&b);
}

static int check_reserved(const struct first_kind *kind, const struct value *spec, bool whole, struct err *err)
{
        if (!value_get(value_get(spec, STR("properties")), kind->under))
                return 0;
        return err_set(err, ERR_INVALID,
                       SCHEMA_PATH "%s.properties[%.*s]: spec.%.*s is reserved for the fields of composition, which "
                                   "are added to the schema: rename the property",
                       whole ? ".properties[spec]" : "", STR_ARG(kind->under), STR_ARG(kind->under));
}

static int check_type(const struct value *spec, bool whole, struct err *err)
{
        const struct value *type = value_get(spec, STR("type"));

        if (!type || str_equal(value_str(type), STR("object")))
                return 0;
        return err_set(err, ERR_INVALID, SCHEMA_PATH "%s.type: spec is an object: write type: object",
                       whole ? ".properties[spec]" : "");
}

static int make_schema(struct arena *a, const struct first_kind *kind, const struct value *definition,
                       const struct value **ret, struct str_list *warnings, struct err *err)
{
        const struct value *given = openapi_of(definition);
        struct respelling respelling = { .arena = a, .warnings = warnings };
        struct value any = any_spec(a);
        struct object_builder whole, properties;
        const struct value *spec;
        int r;

        given = given ? respell(&respelling, given, STR(SCHEMA_PATH)) : &any;
        spec = is_whole(given) ? value_find(given, "properties", "spec") : given;
        if ((r = check_reserved(kind, spec, is_whole(given), err)) < 0 ||
            (r = check_type(spec, is_whole(given), err)) < 0)
                return r;
        if (is_whole(given)) {
                *ret = given;
                return 0;
        }
        object_builder_init(&properties, a, 1);
        object_builder_add(&properties, STR("spec"), *given);
        object_builder_init(&whole, a, 2);
        object_builder_add(&whole, STR("type"), value_of_literal("object"));
        object_builder_add(&whole, STR("properties"), object_builder_finish(&properties));
        *ret = value_put(a, object_builder_finish(&whole));
        return 0;
}

/* --- The XRD --- */

static const struct value *template_of(const struct value *definition)
{
        return value_find(definition, "spec", "crdSpecTemplate");
}

static struct str singular_of(struct arena *a, const struct value *names)
{
        struct str singular = value_str(value_get(names, STR("singular")));

        return singular.n ? singular : kind_lower(a, value_str(value_get(names, STR("kind"))));
}

static struct value requirement_names(struct arena *a, const struct value *names)
{
        struct str kind = value_str(value_get(names, STR("kind"))), singular = singular_of(a, names);
        struct object_builder b;

        object_builder_init(&b, a, 4);
        object_builder_add(&b, STR("kind"), value_of_str(ARENA_CONCAT(a, kind, STR("Requirement"))));
        object_builder_add(&b, STR("listKind"), value_of_str(ARENA_CONCAT(a, kind, STR("RequirementList"))));
        object_builder_add(&b, STR("plural"), value_of_str(ARENA_CONCAT(a, singular, STR("requirements"))));
        object_builder_add(&b, STR("singular"), value_of_str(ARENA_CONCAT(a, singular, STR("requirement"))));
        return object_builder_finish(&b);
}

struct str first_design_requirement_crd(struct arena *a, const struct value *definition)
{
        const struct value *tmpl = template_of(definition);

        return arena_printf(a, "%.*srequirements.%.*s", STR_ARG(singular_of(a, value_get(tmpl, STR("names")))),
                            STR_ARG(value_str(value_get(tmpl, STR("group")))));
}

static struct value versions_of(struct arena *a, const struct value *tmpl, const struct value *schema)
{
        struct object_builder version, validation;
        struct value v;

        object_builder_init(&validation, a, 1);
        object_builder_add(&validation, STR("openAPIV3Schema"), *schema);
        object_builder_init(&version, a, 4);
        object_builder_add(&version, STR("name"), value_of_str(value_str(value_get(tmpl, STR("version")))));
        object_builder_add(&version, STR("served"), value_true);
        object_builder_add(&version, STR("referenceable"), value_true);
        object_builder_add(&version, STR("schema"), object_builder_finish(&validation));
        v = object_builder_finish(&version);
        return value_of_items(a, &v, 1);
}

static void add_reference(struct arena *a, struct object_builder *b, struct str key, const struct value *from)
{
        struct value name = value_of_str(value_str(value_get(from, STR("name"))));

        if (value_is_object(from))
                object_builder_add(b, key, *value_with(a, &value_empty_object, STR("name"), &name));
}

static struct value spec_of(struct arena *a, const struct first_kind *kind, const struct value *definition,
                            const struct value *publication, const struct value *schema)
{
        const struct value *given = value_get(definition, STR("spec")), *tmpl = template_of(definition);
        const struct value *names = value_get(tmpl, STR("names")), *keys = value_get(given, STR("connectionDetails"));
        const struct value *account = value_get(given, STR("serviceAccountRef"));
        struct object_builder b;

        object_builder_init(&b, a, 14);
        object_builder_add(&b, STR("group"), value_of_str(value_str(value_get(tmpl, STR("group")))));
        object_builder_add(&b, STR("names"), names ? *names : value_empty_object);
        object_builder_add(&b, STR("scope"), value_of_str(kind->scope));
        object_builder_add(&b, STR("machinery"), value_of_str(kind->machinery));
        object_builder_add(&b, STR("versions"), versions_of(a, tmpl, schema));
        /* The defaults of the API, so that an XRD that is as it should be is not written again. */
        object_builder_add(&b, STR("defaultCompositionUpdatePolicy"), value_of_literal("Automatic"));
        object_builder_add(&b, STR("defaultCompositeDeletePolicy"), value_of_literal("Background"));
        add_reference(a, &b, STR("defaultCompositionRef"), value_get(given, STR("defaultComposition")));
        add_reference(a, &b, STR("enforcedCompositionRef"), value_get(given, STR("forceComposition")));
        if (value_is_object(account))
                object_builder_add(&b, STR("serviceAccountRef"), *account);
        if (kind->can_be_published && value_count(keys))
                object_builder_add(&b, STR("connectionSecretKeys"), *keys);
        if (kind->can_be_published && publication)
                object_builder_add(&b, STR("claimNames"), requirement_names(a, names));
        return object_builder_finish(&b);
}

static struct value metadata_of(struct arena *a, const struct first_kind *kind, const struct value *definition)
{
        struct owner_reference owner = owner_reference_to(a, definition, true, true);
        struct value from = value_of_str(kind->kind), reference = owner_reference_value(a, &owner);
        struct object_builder b;

        object_builder_init(&b, a, 3);
        object_builder_add(&b, STR("name"), value_of_str(meta_name(definition)));
        object_builder_add(&b, STR("labels"), *value_with(a, &value_empty_object, FIRST_DESIGN_LABEL, &from));
        if (meta_uid(definition).n)
                object_builder_add(&b, STR("ownerReferences"), value_of_items(a, &reference, 1));
        return object_builder_finish(&b);
}

int first_design_xrd(struct arena *a, const struct value *definition, const struct value *publication,
                     const struct value **ret, struct str_list *warnings, struct err *err)
{
        const struct first_kind *kind = first_design_kind(gvk_of(definition));
        const struct value *schema;
        struct object_builder b;
        int r = make_schema(a, kind, definition, &schema, warnings, err);

        if (r < 0)
                return r;
        object_builder_init(&b, a, 4);
        object_builder_add(&b, STR("apiVersion"), value_of_literal("apiextensions.crossplane.io/v2"));
        object_builder_add(&b, STR("kind"), value_of_literal("CompositeResourceDefinition"));
        object_builder_add(&b, STR("metadata"), metadata_of(a, kind, definition));
        object_builder_add(&b, STR("spec"), spec_of(a, kind, definition, publication, schema));
        *ret = value_put(a, object_builder_finish(&b));
        return 0;
}

/* --- Checks --- */

/* A path in the generated CRD as a path in the definition. The API says spec.validation for the schema of a single version. */
static struct str path_in_definition(struct arena *a, struct str path, bool whole)
{
        static const struct str schemas[] = { STR_INIT("spec.validation.openAPIV3Schema"),
                                              STR_INIT("spec.versions[0].schema.openAPIV3Schema") };

        for (size_t i = 0; i < ARRAY_SIZE(schemas); i++) {
                if (!str_cut_prefix(&path, schemas[i]))
                        continue;
                if (!whole)
                        str_cut_prefix(&path, STR(".properties[spec]"));
                return arena_printf(a, SCHEMA_PATH "%.*s", STR_ARG(path));
        }
        if (str_equal(path, STR("spec.versions[0].name")))
                return STR("spec.crdSpecTemplate.version");
        if (str_cut_prefix(&path, STR("spec.")))
                return arena_printf(a, "spec.crdSpecTemplate.%.*s", STR_ARG(path));
        return path;
}

/* A kind that can be published must not have a name that its requirements will have. */
static void check_requirement_names(struct arena *a, const struct first_kind *kind, const struct value *definition,
                                    struct field_errors *errors)
{
        static const char *const fields[] = { "plural", "listKind" };
        const struct value *names = value_get(template_of(definition), STR("names"));
        struct value of_requirements = requirement_names(a, names);

        for (size_t i = 0; kind->can_be_published && i < ARRAY_SIZE(fields); i++) {
                const struct value *given = value_get(names, str_from(fields[i]));

                if (given && value_equal(given, value_get(&of_requirements, str_from(fields[i]))))
                        field_error_add(
                                errors, FIELD_INVALID, arena_printf(a, "spec.crdSpecTemplate.names.%s", fields[i]),
                                given, "requirements of this kind have this name when it is published: choose another");
        }
}

static void check_crd(struct arena *a, const struct value *definition, const struct value *crd,
                      struct field_errors *errors)
{
        struct field_errors found;
        struct str_list ignored;

        field_errors_init(&found, a);
        str_list_init(&ignored, a);
        crd_check(a, crd_default(a, crd), NULL, &found, &ignored);
        for (size_t i = 0; i < found.n; i++) {
                if (str_starts_with(found.p[i].field, STR("status."))) /* the store sets it */
                        continue;
                field_error_add_text(errors, found.p[i].type,
                                     path_in_definition(a, found.p[i].field, is_whole(openapi_of(definition))),
                                     found.p[i].text);
        }
}

void first_design_check(struct arena *a, const struct value *definition, struct field_errors *errors,
                        struct str_list *warnings)
{
        _cleanup_err_ struct err err = { 0 };
        const struct value *xrd, *crd;

        if (!first_design_kind(gvk_of(definition)) || !value_is_object(template_of(definition)))
                return;
        if (first_design_xrd(a, definition, NULL, &xrd, warnings, &err) < 0) {
                struct str text = arena_copy(a, str_from(err_message(&err))), path;

                str_split(&text, ':', &path);
                str_cut_prefix(&text, STR(" "));
                field_error_add_text(errors, FIELD_FORBIDDEN, path, ARENA_CONCAT(a, STR("Forbidden: "), text));
                return;
        }
        check_requirement_names(a, first_design_kind(gvk_of(definition)), definition, errors);
        if (xrd_composite_crd(a, xrd, &crd, &err) < 0)
                field_error_add_text(errors, FIELD_INVALID, STR("spec.crdSpecTemplate"),
                                     arena_copy(a, str_from(err_message(&err))));
        else
                check_crd(a, definition, crd, errors);
}

/* --- Compositions --- */

static const struct convert_step to_modern[] = {
        { .operation = CONVERT_MOVE, .from = "spec.from", .to = "spec.compositeTypeRef" },
        { .operation = CONVERT_MOVE, .from = "spec.to", .to = "spec.resources" },
};
static const struct convert_step to_first[] = {
        { .operation = CONVERT_MOVE, .from = "spec.compositeTypeRef", .to = "spec.from" },
        { .operation = CONVERT_MOVE, .from = "spec.resources", .to = "spec.to" },
};

const struct conversion first_design_conversions[4] = {
        { "v1alpha1", "v1", to_modern, ARRAY_SIZE(to_modern) },
        { "v1alpha1", "v2alpha1", to_modern, ARRAY_SIZE(to_modern) },
        { "v1", "v1alpha1", to_first, ARRAY_SIZE(to_first) },
        { "v2alpha1", "v1alpha1", to_first, ARRAY_SIZE(to_first) },
};

const struct value *first_design_composition(struct arena *a, const struct value *composition)
{
        struct value version = value_of_literal("apiextensions.crossplane.io/v1alpha1");
        const struct value *spec = value_get(composition, STR("spec"));

        if (!value_get(spec, STR("from")) && !value_get(spec, STR("to")))
                return composition;
        composition = value_with(a, composition, STR("apiVersion"), &version);
        /* A table of moves cannot fail. */
        convert_object(a, first_design_conversions, ARRAY_SIZE(first_design_conversions), composition,
                       STR("apiextensions.crossplane.io/v1"), &composition, NULL);
        return composition;
}

/* --- Resources of defined kinds --- */

const struct value *first_design_complete(struct arena *a, const struct value *object)
{
        object = places_with_single_refs(a, &places_application, object);
        object = places_with_single_refs(a, &places_infrastructure, object);
        return places_with_single_refs(a, &places_requirement, object);
}

static void check_reference(struct arena *a, const struct places *p, const struct value *object, struct str field,
                            struct field_errors *errors)
{
        const struct value *reference = places_get(p, object, field);

        if (!reference || value_str(value_get(reference, STR("name"))).n)
                return;
        field_error_add(errors, FIELD_INVALID, places_path(a, p, field), reference,
                        "must be an object with a name, or a list of one such object");
}

void first_design_validate(struct arena *a, const struct write_request *req _unused_, const struct value *old _unused_,
                           const struct value *object, struct field_errors *errors, struct str_list *warnings _unused_)
{
        check_reference(a, &places_application, object, STR("compositionRef"), errors);
        check_reference(a, &places_requirement, object, STR("compositionRef"), errors);
        check_reference(a, &places_requirement, object, STR("resourceRef"), errors);
}

bool first_design_is_defined(const struct value *crd)
{
        struct owner_reference owner;

        return meta_label(crd, FIRST_DESIGN_LABEL).n > 0 && owner_controller(crd, &owner) &&
               str_equal(owner.kind, STR("CompositeResourceDefinition"));
}

/* --- The connection contract --- */

static struct str name_of_detail(const struct value *detail)
{
        struct str name = value_str(value_get(detail, STR("name")));

        return name.n ? name : value_str(value_get(detail, STR("fromConnectionSecretKey")));
}

static void find_detail(struct arena *a, const struct value *resources, struct str key, struct str_list *ret)
{
        str_list_init(ret, a);
        for (size_t i = 0; i < value_count(resources); i++) {
                const struct value *details = value_get(value_item(resources, i), STR("connectionDetails"));

                for (size_t j = 0; j < value_count(details); j++)
                        if (str_equal(name_of_detail(value_item(details, j)), key))
                                str_list_printf(ret, "to[%zu].connectionDetails[%zu]", i, j);
        }
}

static bool has_key(const struct value *keys, struct str key)
{
        VALUE_FOREACH_ITEM (k, keys)
                if (str_equal(value_str(k), key))
                        return true;
        return false;
}

static void check_key(struct arena *a, const struct value *resources, struct str key, struct str_list *problems)
{
        struct str_list at;

        find_detail(a, resources, key, &at);
        if (at.n == 0)
                str_list_printf(problems,
                                "connection detail \"%.*s\" is missing: expose it in one of to[].connectionDetails",
                                STR_ARG(key));
        else if (at.n > 1)
                str_list_printf(problems, "connection detail \"%.*s\" is exposed %zu times, at %.*s: expose it once",
                                STR_ARG(key), at.n, STR_ARG(str_list_join(&at, STR(" and "))));
}

static void check_foreign(const struct value *resources, const struct value *keys, struct str_list *problems)
{
        for (size_t i = 0; i < value_count(resources); i++) {
                const struct value *details = value_get(value_item(resources, i), STR("connectionDetails"));

                for (size_t j = 0; j < value_count(details); j++) {
                        struct str name = name_of_detail(value_item(details, j));

                        if (!has_key(keys, name))
                                str_list_printf(problems,
                                                "connection detail \"%.*s\" at to[%zu].connectionDetails[%zu] is not "
                                                "one of the definition: remove it, or add it to the definition's "
                                                "connectionDetails",
                                                STR_ARG(name), i, j);
                }
        }
}

struct str first_design_contract(struct arena *a, const struct value *keys, const struct value *composition)
{
        const struct value *spec = value_get(composition, STR("spec")), *resources = value_get(spec, STR("resources"));
        struct str_list problems;

        if (!value_is_array(resources) || str_equal(value_str(value_get(spec, STR("mode"))), STR("Pipeline")))
                return STR("");
        str_list_init(&problems, a);
        VALUE_FOREACH_ITEM (key, keys)
                check_key(a, resources, value_str(key), &problems);
        check_foreign(resources, keys, &problems);
        return str_list_join(&problems, STR("; "));
}
