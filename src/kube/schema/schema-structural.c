/* The rules that a schema must satisfy before it is compiled, in the three stages of Kubernetes: keywords that no schema may
 * contain (check_openapi); rules of structural schemas, so that every value has one place in the schema (check_structural); and
 * defaults that are valid values of the schema (schema-defaults.c). A stage is skipped if errors of the previous one make it
 * meaningless. */
#include "schema-props.h"

#include "map.h"
#include "regex.h"

struct structural {
        struct str field;
        struct field_errors *errors;
};

static struct str path_of(struct structural *c, const struct props *p, const char *keyword)
{
        return props_path(c->errors->arena, c->field, p, keyword);
}

static void forbid(struct structural *c, const struct props *p, const char *keyword, const char *text)
{
        field_error_add(c->errors, FIELD_FORBIDDEN, path_of(c, p, keyword), NULL, "%s", text);
}

static void require(struct structural *c, const struct props *p, const char *keyword, const char *text)
{
        field_error_add(c->errors, FIELD_REQUIRED, path_of(c, p, keyword), NULL, "%s", text);
}

static void invalid(struct structural *c, const struct props *p, const char *keyword, struct value v, const char *text)
{
        field_error_add(c->errors, FIELD_INVALID, path_of(c, p, keyword), &v, "%s", text);
}

/* Reports a type that is missing or not the required one. */
static void wrong_type(struct structural *c, const struct props *p, const char *text)
{
        if (p->type.n == 0)
                require(c, p, "type", text);
        else
                invalid(c, p, "type", value_of_str(p->type), text);
}

static bool is_type(const struct props *p, struct str type)
{
        return str_equal(p->type, type);
}

/* --- Keywords that no schema may contain --- */

static void check_unsupported(struct structural *c, const struct props *p)
{
        if (p->has_ref)
                forbid(c, p, "$ref", "$ref is not supported");
        if (p->id.n > 0)
                forbid(c, p, "id", "id is not supported");
        if (value_count(p->definitions) > 0)
                forbid(c, p, "definitions", "definitions is not supported");
        if (value_count(p->dependencies) > 0)
                forbid(c, p, "dependencies", "dependencies is not supported");
        if (value_count(p->pattern_properties) > 0)
                forbid(c, p, "patternProperties", "patternProperties is not supported");
        if (p->has_additional_items)
                forbid(c, p, "additionalItems", "additionalItems is not supported");
        if (p->items_are_list)
                forbid(c, p, "items", "items must be a schema object and not an array");
        if (p->unique_items)
                forbid(c, p, "uniqueItems",
                       "uniqueItems cannot be set to true since the runtime complexity becomes quadratic");
        if (is_type(p, STR("null")))
                forbid(c, p, "type", "type cannot be set to null, use nullable as an alternative");
}

static void check_additional(struct structural *c, const struct props *p)
{
        if ((p->additional_kind == ADDITIONAL_FALSE || p->additional_kind == ADDITIONAL_SCHEMA) && p->properties.n > 0)
                forbid(c, p, "additionalProperties", "additionalProperties and properties are mutual exclusive");
}

static void check_map_type(struct structural *c, const struct props *p)
{
        static const struct str known[] = { STR_INIT("atomic"), STR_INIT("granular") };
        struct value v = value_of_str(p->map_type);

        if (!p->has_map_type)
                return;
        if (!is_type(p, STR("object")))
                wrong_type(c, p, "must be object if x-kubernetes-map-type is specified");
        if (!str_equal(p->map_type, known[0]) && !str_equal(p->map_type, known[1]))
                field_error_add_unsupported(c->errors, path_of(c, p, "x-kubernetes-map-type"), &v, known, 2);
}

static void check_list_key(struct structural *c, const struct props *items, const struct map *required, struct str key)
{
        const struct props *property = props_property(items, key);

        if (is_type(property, STR("object")) || is_type(property, STR("array")))
                invalid(c, property, "type", value_of_str(items->type), /* upstream shows this type */
                        "must be a scalar type if parent array's x-kubernetes-list-type is map");
        if (property->nullable)
                forbid(c, property, "nullable",
                       "this property is in x-kubernetes-list-map-keys, so it cannot be nullable");
        if (!property->dflt && !map_has(required, key))
                require(c, property, "default",
                        "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required "
                        "property");
}

static bool has_repeats(const struct value *list)
{
        _cleanup_map_ struct map seen = { 0 };

        VALUE_FOREACH_ITEM (item, list)
                if (!map_add(&seen, value_str(item), (void *)item))
                        return true;
        return false;
}

static void check_list_keys(struct structural *c, const struct props *p)
{
        _cleanup_map_ struct map required = { 0 };

        VALUE_FOREACH_ITEM (name, p->items->required)
                map_add(&required, value_str(name), c);
        VALUE_FOREACH_ITEM (key, p->list_keys) {
                if (props_property(p->items, value_str(key)))
                        check_list_key(c, p->items, &required, value_str(key));
                else if (is_type(p->items, STR("object")))
                        invalid(c, p, "x-kubernetes-list-map-keys", *p->list_keys,
                                "entries must all be names of item properties");
        }
        if (has_repeats(p->list_keys))
                invalid(c, p, "x-kubernetes-list-map-keys", *p->list_keys, "must not contain duplicate entries");
}

static void check_list_map(struct structural *c, const struct props *p)
{
        if (!p->items)
                require(c, p, "items", "must have a schema if x-kubernetes-list-type is map");
        else if (!is_type(p->items, STR("object")))
                invalid(c, p->items, "type", value_of_str(p->items->type),
                        "must be object if parent array's x-kubernetes-list-type is map");
        if (p->items && p->items->nullable)
                forbid(c, p->items, "nullable", "cannot be nullable when x-kubernetes-list-type is map");
        if (value_count(p->list_keys) == 0)
                require(c, p, "x-kubernetes-list-map-keys", "must not be empty if x-kubernetes-list-type is map");
        else if (p->items)
                check_list_keys(c, p);
}

static void check_list_set(struct structural *c, const struct props *p)
{
        const struct props *items = p->items;

        if (!items)
                return;
        if (items->nullable)
                forbid(c, items, "nullable", "cannot be nullable when x-kubernetes-list-type is set");
        if (is_type(items, STR("object")) && !str_equal(items->map_type, STR("atomic")))
                invalid(c, items, "x-kubernetes-map-type", value_of_null(),
                        "must be atomic as item of a list with x-kubernetes-list-type=set");
        if (is_type(items, STR("array")) && items->has_list_type && !str_equal(items->list_type, STR("atomic")))
                invalid(c, items, "x-kubernetes-list-type", value_of_str(items->list_type),
                        "must be atomic as item of a list with x-kubernetes-list-type=set");
}

static void check_list_type(struct structural *c, const struct props *p)
{
        static const struct str known[] = { STR_INIT("atomic"), STR_INIT("set"), STR_INIT("map") };
        struct value v = value_of_str(p->list_type);

        if (value_count(p->list_keys) > 0 && !str_equal(p->list_type, known[2])) {
                if (p->has_list_type)
                        invalid(c, p, "x-kubernetes-list-type", v,
                                "must be map if x-kubernetes-list-map-keys is non-empty");
                else
                        require(c, p, "x-kubernetes-list-type",
                                "must be map if x-kubernetes-list-map-keys is non-empty");
        }
        if (!p->has_list_type)
                return;
        if (!is_type(p, STR("array")))
                wrong_type(c, p, "must be array if x-kubernetes-list-type is specified");
        if (str_equal(p->list_type, known[2]))
                check_list_map(c, p);
        else if (str_equal(p->list_type, known[1]))
                check_list_set(c, p);
        else if (!str_equal(p->list_type, known[0]))
                field_error_add_unsupported(c->errors, path_of(c, p, "x-kubernetes-list-type"), &v, known, 3);
}

static void check_pattern(struct structural *c, const struct props *p)
{
        _cleanup_err_ struct err err = { 0 };
        _cleanup_(regex_freep)
        struct regex *re = NULL;
        struct value v = value_of_str(p->pattern);

        if (p->pattern.n > 0 && regex_compile(p->pattern, &re, &err) < 0)
                field_error_add(c->errors, FIELD_INVALID, path_of(c, p, "pattern"), &v,
                                "must be a valid regular expression, but isn't: %s", err_message(&err));
}

static void check_known_type(struct structural *c, const struct props *p)
{
        static const struct str known[] = { STR_INIT("array"),  STR_INIT("boolean"), STR_INIT("integer"),
                                            STR_INIT("number"), STR_INIT("object"),  STR_INIT("string") };
        struct value v = value_of_str(p->type);

        if (p->type.n == 0)
                return;
        for (size_t i = 0; i < ARRAY_SIZE(known); i++)
                if (str_equal(known[i], p->type))
                        return;
        field_error_add_unsupported(c->errors, path_of(c, p, "type"), &v, known, ARRAY_SIZE(known));
}

/* Calls f for every schema directly below p. */
static void each_child(struct structural *c, const struct props *p,
                       void (*f)(struct structural *c, const struct props *p))
{
        const struct props_list *const lists[] = { &p->properties, &p->all_of, &p->any_of, &p->one_of };

        for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
                for (size_t k = 0; k < lists[i]->n; k++)
                        f(c, lists[i]->p[k]);
        if (p->items)
                f(c, p->items);
        if (p->additional)
                f(c, p->additional);
        if (p->not_)
                f(c, p->not_);
}

static void forbid_defaults(struct structural *c, const struct props *p, const char *text)
{
        if (!p)
                return;
        if (p->dflt)
                forbid(c, p, "default", text);
        for (size_t i = 0; i < p->properties.n; i++)
                forbid_defaults(c, p->properties.p[i], text);
        forbid_defaults(c, p->items, text);
        forbid_defaults(c, p->additional, text);
}

static void check_top_level_defaults(struct structural *c, const struct props *root)
{
        forbid_defaults(c, props_property(root, STR("metadata")), "must not be set in top-level metadata");
        forbid_defaults(c, props_property(root, STR("apiVersion")), "must not be set in top-level apiVersion");
        forbid_defaults(c, props_property(root, STR("kind")), "must not be set in top-level kind");
}

/* Whether the schema is in apiVersion, kind or metadata of the object or of an embedded resource. */
static bool is_in_metadata(const struct props *p)
{
        for (; p->up; p = p->up)
                if (p->step == STEP_PROPERTY && (p->up->step == STEP_ROOT || p->up->embedded) &&
                    (str_equal(p->key, STR("metadata")) || str_equal(p->key, STR("kind")) ||
                     str_equal(p->key, STR("apiVersion"))))
                        return true;
        return false;
}

static void check_openapi(struct structural *c, const struct props *p)
{
        check_unsupported(c, p);
        check_additional(c, p);
        check_map_type(c, p);
        check_list_type(c, p);
        check_known_type(c, p);
        if (p->step == STEP_ROOT)
                check_top_level_defaults(c, p);
        if (p->step == STEP_ROOT && p->nullable)
                forbid(c, p, "nullable", "nullable cannot be true at the root");
        if (p->embedded && is_in_metadata(p))
                forbid(c, p, "x-kubernetes-embedded-resource", "must not be used inside of resource meta");
        if (p->preserve && !p->preserve->boolean)
                invalid(c, p, "x-kubernetes-preserve-unknown-fields", value_of_bool(false),
                        "must be true or undefined");
        each_child(c, p, check_openapi);
}

/* Whether the schema can be read as a structural schema at all. */
static bool is_readable(const struct props *p)
{
        const struct props_list *const lists[] = { &p->properties, &p->all_of, &p->any_of, &p->one_of };

        if (p->ref.n || p->id.n || p->schema_uri.n || value_count(p->definitions) || value_count(p->dependencies) ||
            value_count(p->pattern_properties) || p->has_additional_items || p->items_are_list ||
            (p->preserve && !p->preserve->boolean))
                return false;
        for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
                for (size_t k = 0; k < lists[i]->n; k++)
                        if (!is_readable(lists[i]->p[k]))
                                return false;
        return (!p->items || is_readable(p->items)) && (!p->additional || is_readable(p->additional)) &&
               (!p->not_ || is_readable(p->not_));
}

/* --- Rules of structural schemas --- */

/* Recognises `anyOf: [{type: integer}, {type: string}]`, alone or as the first part of an allOf. */
static bool is_only_type(const struct props *p, struct str type)
{
        struct props plain = {
                .up = p->up, .step = p->step, .index = p->index, .type = p->type, .has_ref = p->has_ref
        };

        if (p->additional_kind == ADDITIONAL_FALSE)
                plain.additional_kind = ADDITIONAL_FALSE;
        return is_type(p, type) && memcmp(&plain, p, sizeof(plain)) == 0;
}

static bool is_int_or_string_group(const struct props_list *any_of)
{
        return any_of->n == 2 && is_only_type(any_of->p[0], STR("integer")) &&
               is_only_type(any_of->p[1], STR("string"));
}

static bool is_in_group(const struct props *p)
{
        for (; p; p = p->up)
                if (p->step >= STEP_ALL_OF)
                        return true;
        return false;
}

static bool may_have_type(const struct props *p)
{
        const struct props *up = p->up;

        if (p->step != STEP_ANY_OF || !is_int_or_string_group(&up->any_of))
                return false;
        if (!is_in_group(up))
                return true;
        return up->step == STEP_ALL_OF && up->index == 0 && !is_in_group(up->up);
}

static void check_groups(struct structural *c, const struct props *p);

static void check_group_member(struct structural *c, const struct props *p)
{
        static const char *const empty = "must be empty to be structural";
        static const char *const undefined = "must be undefined to be structural";
        static const char *const no = "must be false to be structural";

        if (p->type.n > 0 && !may_have_type(p))
                forbid(c, p, "type", empty);
        if (p->title.n > 0)
                forbid(c, p, "title", empty);
        if (p->description.n > 0)
                forbid(c, p, "description", empty);
        if (p->dflt)
                forbid(c, p, "default", undefined);
        if (p->additional_kind >= ADDITIONAL_TRUE)
                forbid(c, p, "additionalProperties", undefined);
        if (p->has_list_type)
                forbid(c, p, "x-kubernetes-list-type", undefined);
        if (p->has_map_type)
                forbid(c, p, "x-kubernetes-map-type", undefined);
        if (value_count(p->list_keys) > 0)
                forbid(c, p, "x-kubernetes-list-map-keys", empty);
        if (value_count(p->rules) > 0)
                forbid(c, p, "x-kubernetes-validations", empty);
        if (p->nullable)
                forbid(c, p, "nullable", no);
        if (value_bool(p->preserve, false))
                forbid(c, p, "x-kubernetes-preserve-unknown-fields", no);
        if (p->embedded)
                forbid(c, p, "x-kubernetes-embedded-resource", no);
        if (p->int_or_string)
                forbid(c, p, "x-kubernetes-int-or-string", no);
        if (props_property(p, STR("metadata")))
                forbid(c, props_property(p, STR("metadata")), "", "must not be specified in a nested context");
        check_pattern(c, p);
        check_groups(c, p);
        for (size_t i = 0; i < p->properties.n; i++)
                check_group_member(c, p->properties.p[i]);
        if (p->items)
                check_group_member(c, p->items);
}

static void check_groups(struct structural *c, const struct props *p)
{
        const struct props_list *const lists[] = { &p->all_of, &p->any_of, &p->one_of };

        for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
                for (size_t k = 0; k < lists[i]->n; k++)
                        check_group_member(c, lists[i]->p[k]);
        if (p->not_)
                check_group_member(c, p->not_);
}

static void check_has_type(struct structural *c, const struct props *p)
{
        if (p->step == STEP_ROOT) {
                if (p->type.n == 0 && !p->int_or_string && !p->embedded && !value_bool(p->preserve, false))
                        require(c, p, "type", "must not be empty at the root");
                else if (p->type.n > 0 && !is_type(p, STR("object")))
                        invalid(c, p, "type", value_of_str(p->type), "must be object at the root");
        } else if (p->type.n == 0 && !p->int_or_string && !p->embedded && !value_bool(p->preserve, false)) {
                require(c, p, "type",
                        p->step == STEP_ITEMS ? "must not be empty for specified array items"
                                              : "must not be empty for specified object fields");
        }
        if (is_type(p, STR("array")) && !p->items)
                require(c, p, "items", "must be specified");
}

static void check_int_or_string(struct structural *c, const struct props *p)
{
        static const char *const text = "must be false if x-kubernetes-int-or-string is true";

        if (!p->int_or_string)
                return;
        if (value_bool(p->preserve, false))
                invalid(c, p, "x-kubernetes-preserve-unknown-fields", value_of_bool(true), text);
        if (p->embedded)
                invalid(c, p, "x-kubernetes-embedded-resource", value_of_bool(true), text);
}

static void check_embedded(struct structural *c, const struct props *p)
{
        if (!p->embedded)
                return;
        if (!is_type(p, STR("object")))
                wrong_type(c, p, "must be object if x-kubernetes-embedded-resource is true");
        if (p->properties.n == 0 && !value_bool(p->preserve, false))
                require(c, p, "properties",
                        "must not be empty if x-kubernetes-embedded-resource is true without "
                        "x-kubernetes-preserve-unknown-fields");
        if (p->additional_kind != ADDITIONAL_NONE)
                forbid(c, p, "additionalProperties", "must not be used if x-kubernetes-embedded-resource is set");
}

static void check_resource_type(struct structural *c, const struct props *p, struct str key, struct str type,
                                const char *text)
{
        const struct props *property = props_property(p, key);

        if (property && !is_type(property, type))
                invalid(c, property, "type", value_of_str(property->type), text);
}

/* The metadata of the root may only restrict name and generateName. */
static bool is_name_only(const struct props *metadata)
{
        struct props plain = *metadata;
        struct props none = { 0 };

        for (size_t i = 0; i < metadata->properties.n; i++) {
                struct str key = metadata->properties.p[i]->key;

                if (!str_equal(key, STR("name")) && !str_equal(key, STR("generateName")))
                        return false;
        }
        plain.up = NULL;
        plain.step = STEP_ROOT;
        plain.key = none.key;
        plain.type = none.type;
        plain.properties = none.properties;
        plain.dflt = NULL;
        plain.has_ref = false;
        return memcmp(&plain, &none, sizeof(none)) == 0;
}

static void check_resource(struct structural *c, const struct props *p)
{
        const struct props *metadata = props_property(p, STR("metadata"));

        if (p->step != STEP_ROOT && !p->embedded)
                return;
        check_resource_type(c, p, STR("apiVersion"), STR("string"), "must be string");
        check_resource_type(c, p, STR("kind"), STR("string"), "must be string");
        check_resource_type(c, p, STR("metadata"), STR("object"), "must be object");
        if (metadata && p->step == STEP_ROOT && !is_name_only(metadata))
                forbid(c, metadata, "",
                       "must not specify anything other than name and generateName, but metadata is implicitly "
                       "specified");
}

static void check_node(struct structural *c, const struct props *p)
{
        if (p->step == STEP_ROOT && p->additional_kind != ADDITIONAL_NONE)
                forbid(c, p, "additionalProperties", "must not be used at the root");
        check_has_type(c, p);
        check_pattern(c, p);
        check_int_or_string(c, p);
        check_embedded(c, p);
        check_resource(c, p);
        check_groups(c, p);
        for (size_t i = 0; i < p->properties.n; i++)
                check_node(c, p->properties.p[i]);
        if (p->items)
                check_node(c, p->items);
        if (p->additional)
                check_node(c, p->additional);
}

/* Fields in a group of the root must also be declared outside of the group. */
static void check_complete(struct structural *c, const struct props *inside, const struct props *outside);

static void check_complete_groups(struct structural *c, const struct props *p, const struct props *outside)
{
        const struct props_list *const lists[] = { &p->all_of, &p->any_of, &p->one_of };

        for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
                for (size_t k = 0; k < lists[i]->n; k++)
                        check_complete(c, lists[i]->p[k], outside);
        if (p->not_)
                check_complete(c, p->not_, outside);
}

static void check_declared(struct structural *c, const struct props *inside, const struct props *declared,
                           const struct props *outside)
{
        struct props missing = { .up = outside, .step = inside->step, .key = inside->key };
        struct str path;

        if (declared) {
                check_complete(c, inside, declared);
                return;
        }
        path = path_of(c, inside, "");
        field_error_add(c->errors, FIELD_REQUIRED, path_of(c, &missing, ""), NULL, "because it is defined in %.*s",
                        STR_ARG(path));
}

static void check_complete(struct structural *c, const struct props *inside, const struct props *outside)
{
        for (size_t i = 0; i < inside->properties.n; i++)
                check_declared(c, inside->properties.p[i], props_property(outside, inside->properties.p[i]->key),
                               outside);
        if (inside->items)
                check_declared(c, inside->items, outside->items, outside);
        check_complete_groups(c, inside, outside);
}

bool structural_check(const struct props *root, struct str field, struct field_errors *errors)
{
        struct structural c = { .field = field, .errors = errors };
        struct value nothing = value_empty_string;
        size_t before = errors->n;

        check_openapi(&c, root);
        if (!is_readable(root)) {
                if (errors->n == before)
                        field_error_add(errors, FIELD_INVALID, field, &nothing,
                                        "OpenAPIV3Schema 'schema' is not supported");
                return false;
        }
        before = errors->n;
        check_node(&c, root);
        check_complete_groups(&c, root, root);
        return errors->n == before;
}
