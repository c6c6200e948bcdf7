#include "crd-check.h"

#include "gotext.h"
#include "map.h"
#include "schema-formats.h"
#include "str-list.h"

static const struct value *field_of(const struct value *object, const char *key)
{
        return value_get(object, str_from(key));
}

/* --- Columns --- */

static bool is_one_of(struct str s, const char *const *words, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (str_equal(s, str_from(words[i])))
                        return true;
        return false;
}

static void check_column_path(struct field_errors *errors, struct str field, const struct value *path)
{
        if (str_is_empty(value_str(path)))
                field_error_add(errors, FIELD_REQUIRED, field, NULL, "%s", "");
        else if (path->bytes[0] != '.')
                field_error_add(errors, FIELD_INVALID, field, path, "must be a simple json path starting with .");
}

static void check_column(struct field_errors *errors, struct str at, const struct value *column)
{
        static const char *const types[] = { "boolean", "date", "integer", "number", "string" };
        static const char *const formats[] = { "byte",  "date",  "date-time", "double",
                                               "float", "int32", "int64",     "password" };
        static const char types_text[] = "must be one of boolean,date,integer,number,string";
        const struct value *type = field_of(column, "type"), *format = field_of(column, "format");
        struct arena *a = errors->arena;

        if (str_is_empty(value_str(field_of(column, "name"))))
                field_error_add(errors, FIELD_REQUIRED, arena_printf(a, "%.*s.name", STR_ARG(at)), NULL, "%s", "");
        if (str_is_empty(value_str(type)))
                field_error_add(errors, FIELD_REQUIRED, arena_printf(a, "%.*s.type", STR_ARG(at)), NULL, "%s",
                                types_text);
        else if (!is_one_of(value_str(type), types, ARRAY_SIZE(types)))
                field_error_add(errors, FIELD_INVALID, arena_printf(a, "%.*s.type", STR_ARG(at)), type, "%s",
                                types_text);
        if (!str_is_empty(value_str(format)) && !is_one_of(value_str(format), formats, ARRAY_SIZE(formats)))
                field_error_add(errors, FIELD_INVALID, arena_printf(a, "%.*s.format", STR_ARG(at)), format,
                                "must be one of byte,date,date-time,double,float,int32,int64,password");
        check_column_path(errors, arena_printf(a, "%.*s.JSONPath", STR_ARG(at)), field_of(column, "jsonPath"));
}

static void check_columns(struct field_errors *errors, struct str at, const struct value *version,
                          const struct value *schema _unused_)
{
        const struct value *columns = field_of(version, "additionalPrinterColumns");

        for (size_t i = 0; i < value_count(columns); i++)
                check_column(errors, arena_printf(errors->arena, "%.*s.additionalPrinterColumns[%zu]", STR_ARG(at), i),
                             value_item(columns, i));
}

/* --- Subresources --- */

static void check_scale_path(struct field_errors *errors, struct str at, const struct value *scale, const char *key,
                             bool may_be_spec, bool may_be_status, const char *text)
{
        const struct value *path = field_of(scale, key);
        struct str field = arena_printf(errors->arena, "%.*s.subresources.scale.%s", STR_ARG(at), key);

        if (path->bytes[0] != '.')
                field_error_add(errors, FIELD_INVALID, field, path, "must be a simple json path starting with .");
        else if (!(may_be_spec && str_starts_with(value_str(path), STR(".spec."))) &&
                 !(may_be_status && str_starts_with(value_str(path), STR(".status."))))
                field_error_add(errors, FIELD_INVALID, field, path, "%s", text);
}

static bool has_path(const struct value *scale, const char *key)
{
        return !str_is_empty(value_str(field_of(scale, key)));
}

static void require_scale_path(struct field_errors *errors, struct str at, const char *key)
{
        field_error_add(errors, FIELD_REQUIRED,
                        arena_printf(errors->arena, "%.*s.subresources.scale.%s", STR_ARG(at), key), NULL, "%s", "");
}

static void check_subresources(struct field_errors *errors, struct str at, const struct value *version,
                               const struct value *schema _unused_)
{
        const struct value *scale = value_find(version, "subresources", "scale");

        if (!value_is_object(scale))
                return;
        if (has_path(scale, "specReplicasPath"))
                check_scale_path(errors, at, scale, "specReplicasPath", true, false,
                                 "should be a json path under .spec");
        else
                require_scale_path(errors, at, "specReplicasPath");
        if (has_path(scale, "statusReplicasPath"))
                check_scale_path(errors, at, scale, "statusReplicasPath", false, true,
                                 "should be a json path under .status");
        else
                require_scale_path(errors, at, "statusReplicasPath");
        if (has_path(scale, "labelSelectorPath"))
                check_scale_path(errors, at, scale, "labelSelectorPath", true, true,
                                 "should be a json path under either .spec or .status");
}

/* --- Selectable fields --- */

static struct str next_token(struct str *rest)
{
        struct str token = *rest;
        size_t n = 0;

        while (n < rest->n && !strchr(".[]", rest->p[n]))
                n++;
        if (n == 0 && rest->n > 0)
                n = 1;
        token.n = n;
        *rest = str_skip(*rest, n);
        return token;
}

/* Follows the path through the schema. Returns an error text, or NULL and the schema at the end of the path. */
static const char *resolve(struct arena *a, struct str path, const struct value *schema, const struct value **ret)
{
        while (path.n > 0) {
                struct str token = next_token(&path), name;
                const struct value *property, *additional;

                if (str_equal(token, STR("[")))
                        return "array notation is not allowed";
                if (!str_equal(token, STR(".")))
                        return arena_printf(a, "expected [ or . but got: %.*s", STR_ARG(token)).p;
                if (path.n == 0)
                        return "unexpected end of JSON path";
                name = next_token(&path);
                property = value_get(field_of(schema, "properties"), name);
                additional = field_of(schema, "additionalProperties");
                schema = property ? property : additional;
                if (!value_is_object(schema))
                        return "does not refer to a valid field";
        }
        *ret = schema;
        return NULL;
}

static bool is_in_metadata(struct str path)
{
        return str_equal(path, STR(".metadata")) || str_starts_with(path, STR(".metadata."));
}

static void check_selectable(struct field_errors *errors, struct str field, const struct value *path,
                             const struct value *schema, struct map *seen)
{
        const struct value *found = NULL;
        const char *wrong;
        struct str type;

        if (str_is_empty(value_str(path))) {
                field_error_add(errors, FIELD_REQUIRED, field, NULL, "%s", "");
                return;
        }
        wrong = resolve(errors->arena, value_str(path), schema, &found);
        type = value_str(field_of(found, "type"));
        if (wrong) {
                field_error_add(errors, FIELD_INVALID, field, path, "is an invalid path: %s", wrong);
                return;
        }
        if (is_in_metadata(value_str(path)))
                field_error_add(errors, FIELD_INVALID, field, path, "must not point to fields in metadata");
        if (!str_equal(type, STR("string")) && !str_equal(type, STR("boolean")) && !str_equal(type, STR("integer")))
                field_error_add(errors, FIELD_INVALID, field, path,
                                "must point to a field of type string, boolean or integer. Enum string fields and "
                                "strings with formats are allowed.");
        if (!map_add(seen, value_str(path), seen))
                field_error_add(errors, FIELD_DUPLICATE, field, path, "%s", "");
}

static void check_selectables(struct field_errors *errors, struct str at, const struct value *version,
                              const struct value *schema)
{
        const struct value *fields = field_of(version, "selectableFields");
        _cleanup_map_ struct map seen = { 0 };
        bool is_hoisted = str_equal(at, STR("spec"));

        /* Upstream requires the schema in the same place as the fields; if only one of the two was hoisted, it is missing there. */
        if (value_count(fields) > 0 && !schema) {
                field_error_add(errors, FIELD_INVALID,
                                arena_printf(errors->arena, "%.*s.selectableFields", STR_ARG(at)), &value_empty_string,
                                "%s",
                                is_hoisted ? "may only be set when validations.schema is included"
                                           : "may only be set when `version.schema.openAPIV3Schema` is not included");
                return;
        }
        for (size_t i = 0; i < value_count(fields); i++) {
                const struct value *path = field_of(value_item(fields, i), "jsonPath");
                struct str field = arena_printf(errors->arena, "%.*s.selectableFields[%zu].jsonPath", STR_ARG(at), i);

                check_selectable(errors, field, path, schema, &seen);
        }
}

/* --- Schemas --- */

static const struct value *schema_of(const struct value *version)
{
        const struct value *v = value_find(version, "schema", "openAPIV3Schema");

        return value_is_object(v) ? v : NULL;
}

/* Unknown formats are not checked. Adds one warning for each. */
static void warn_of_formats(const struct value *schema, struct map *seen, struct str_list *warnings)
{
        struct str format = value_str(field_of(schema, "format"));

        if (!str_is_empty(format) && format_find(format) == FORMAT_NONE && map_add(seen, format, seen))
                str_list_printf(warnings, "unrecognized format %.*s", STR_ARG(go_quote(warnings->arena, format)));
        VALUE_FOREACH_MEMBER (m, field_of(schema, "properties"))
                warn_of_formats(&m->value, seen, warnings);
        if (value_is_object(field_of(schema, "items")))
                warn_of_formats(field_of(schema, "items"), seen, warnings);
        if (value_is_object(field_of(schema, "additionalProperties")))
                warn_of_formats(field_of(schema, "additionalProperties"), seen, warnings);
}

static void check_schema(struct field_errors *errors, struct str field, const struct value *openapi,
                         struct str_list *warnings)
{
        _cleanup_map_ struct map seen = { 0 };
        struct schema *schema = NULL;

        if (warnings)
                warn_of_formats(openapi, &seen, warnings);

        if (schema_compile(openapi, field, &schema, errors) < 0)
                return;
        if (schema_has_rules(schema))
                str_list_printf(warnings,
                                "%.*s: x-kubernetes-validations are kept, but not enforced: there is no CEL yet",
                                STR_ARG(field));
        schema_unref(schema);
}

static bool has_status(const struct value *version)
{
        return value_is_object(value_find(version, "subresources", "status"));
}

static bool has_status_anywhere(const struct value *versions)
{
        VALUE_FOREACH_ITEM (version, versions)
                if (has_status(version))
                        return true;
        return false;
}

static void check_root(struct field_errors *errors, struct str field, const struct value *openapi, bool status)
{
        const struct value *type = field_of(openapi, "type");

        if (status && !str_is_empty(value_str(type)) && !str_equal(value_str(type), STR("object")))
                field_error_add(errors, FIELD_INVALID, arena_printf(errors->arena, "%.*s.type", STR_ARG(field)), type,
                                "only \"object\" is allowed as the type at the root of the schema if the status "
                                "subresource is enabled");
}

static void check_schemas(struct field_errors *errors, const struct value *versions, bool is_hoisted,
                          struct str_list *warnings)
{
        for (size_t i = 0; i < value_count(versions); i++) {
                const struct value *schema = schema_of(value_item(versions, i));
                struct str field = arena_printf(errors->arena, "spec.versions[%zu].schema.openAPIV3Schema", i);

                if (!schema)
                        field_error_add(errors, FIELD_REQUIRED, field, NULL, "%s", "");
                if (!schema || (is_hoisted && i > 0))
                        continue;
                if (is_hoisted)
                        field = STR("spec.validation.openAPIV3Schema");
                check_schema(errors, field, schema, warnings);
                check_root(errors, field, schema,
                           is_hoisted ? has_status_anywhere(versions) : has_status(value_item(versions, i)));
        }
}

/* --- All of it --- */

static bool is_zero(const struct value *v)
{
        return !v || value_is_null(v) || (value_is_bool(v) && !v->boolean) || (value_is_string(v) && v->n == 0) ||
               (value_is_int(v) && v->integer == 0);
}

static bool is_same(const struct value *a, const struct value *b);

static bool has_same_members(const struct value *a, const struct value *b)
{
        VALUE_FOREACH_MEMBER (m, a)
                if (!is_same(&m->value, value_get(b, m->key)))
                        return false;
        VALUE_FOREACH_MEMBER (m, b)
                if (!value_get(a, m->key) && !is_zero(&m->value))
                        return false;
        return true;
}

/* Compares like upstream, which compares decoded structs: a missing field has its zero value. */
static bool is_same(const struct value *a, const struct value *b)
{
        if (a == b || (is_zero(a) && is_zero(b)))
                return true;
        if (value_is_object(a) && value_is_object(b))
                return has_same_members(a, b);
        if (!value_is_array(a) || !value_is_array(b))
                return a && b && value_equal(a, b);
        if (value_count(a) != value_count(b))
                return false;
        for (size_t i = 0; i < value_count(a); i++)
                if (!is_same(value_item(a, i), value_item(b, i)))
                        return false;
        return true;
}

static bool is_same_everywhere(const struct value *versions, const char *key)
{
        const struct value *first = field_of(value_item(versions, 0), key);

        for (size_t i = 1; i < value_count(versions); i++)
                if (!is_same(first, field_of(value_item(versions, i), key)))
                        return false;
        return true;
}

void crd_check_versions(struct field_errors *errors, const struct value *versions, struct str_list *warnings)
{
        static const struct {
                const char *key;
                void (*check)(struct field_errors *errors, struct str at, const struct value *version,
                              const struct value *schema);
        } parts[] = {
                { "additionalPrinterColumns", check_columns },
                { "subresources", check_subresources },
                { "selectableFields", check_selectables },
        };
        bool has_one_schema = is_same_everywhere(versions, "schema");

        check_schemas(errors, versions, has_one_schema, warnings);
        for (size_t p = 0; p < ARRAY_SIZE(parts) && value_count(versions) > 0; p++) {
                const struct value *first = value_item(versions, 0);

                if (is_same_everywhere(versions, parts[p].key)) {
                        parts[p].check(errors, STR("spec"), first, has_one_schema ? schema_of(first) : NULL);
                        continue;
                }
                for (size_t i = 0; i < value_count(versions); i++) {
                        const struct value *v = value_item(versions, i);

                        parts[p].check(errors, arena_printf(errors->arena, "spec.versions[%zu]", i), v,
                                       has_one_schema ? NULL : schema_of(v));
                }
        }
}

/* --- Defaults --- */

static bool has_default(const struct value *schema);

/* schemas is an array or an object of schemas. */
static bool has_default_among(const struct value *schemas)
{
        VALUE_FOREACH_ITEM (s, schemas)
                if (has_default(s))
                        return true;
        VALUE_FOREACH_MEMBER (m, schemas)
                if (has_default(&m->value))
                        return true;
        return false;
}

static bool has_default(const struct value *schema)
{
        static const char *const one[] = { "items", "additionalProperties", "additionalItems", "not" };
        static const char *const many[] = {
                "properties", "patternProperties", "definitions", "dependencies", "allOf", "anyOf", "oneOf"
        };
        const struct value *dflt = field_of(schema, "default"), *items = field_of(schema, "items");

        if (!value_is_object(schema))
                return false;
        if ((dflt && !value_is_null(dflt)) || (value_is_array(items) && has_default_among(items)))
                return true;
        for (size_t i = 0; i < ARRAY_SIZE(one); i++)
                if (has_default(field_of(schema, one[i])))
                        return true;
        for (size_t i = 0; i < ARRAY_SIZE(many); i++)
                if (has_default_among(field_of(schema, many[i])))
                        return true;
        return false;
}

bool crd_has_defaults(const struct value *versions)
{
        VALUE_FOREACH_ITEM (v, versions)
                if (has_default(schema_of(v)))
                        return true;
        return false;
}
