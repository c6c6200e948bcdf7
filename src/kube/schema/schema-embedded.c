/* Embedded resources: objects inside objects that have apiVersion, kind and metadata of their own. */
#include "schema-check.h"

#include "buf.h"
#include "meta.h"
#include "metadata.h"
#include "name.h"

/* Errors of the metadata checks have paths `metadata...`; moves them below the resource. Errors about the name are dropped: it may
 * be anything. */
static bool move_errors(struct schema_check *c, const struct field_errors *found, const struct schema_step *at)
{
        bool ok = true;

        for (size_t i = 0; i < found->n; i++) {
                const struct field_error *e = &found->p[i];

                if (str_equal(e->field, STR("metadata.name")) || str_equal(e->field, STR("metadata.generateName")))
                        continue;
                ok = false;
                if (!c->errors)
                        break;
                field_error_add_text(c->errors, e->type,
                                     arena_printf(c->errors->arena, "%.*s.%.*s", STR_ARG(check_field(c, at)),
                                                  STR_ARG(e->field)),
                                     e->text);
        }
        return ok;
}

static bool check_metadata(struct schema_check *c, const struct value *resource, const struct schema_step *up)
{
        struct kind any = { .is_custom = true, .is_namespaced = meta_namespace(resource).n > 0 };
        const struct value *metadata = value_get(resource, STR("metadata")), *typed;
        struct schema_step at = { .up = up, .key = STR("metadata") };
        _cleanup_arena_ struct arena a;
        _cleanup_err_ struct err err = { 0 };
        struct field_errors found;
        struct str_list unknown, warnings;

        arena_init(&a, "metadata", 0);
        if (!metadata)
                return true;
        field_errors_init(&found, &a);
        str_list_init(&unknown, &a);
        str_list_init(&warnings, &a);
        if (metadata_coerce(&a, metadata, &unknown, &typed, &err) < 0)
                return check_fail(c, FIELD_INVALID, &at, metadata, "%s", err_message(&err));
        if (c->only_coerces)
                return true;
        resource = value_with(&a, resource, STR("metadata"), typed);
        metadata_validate(&a, &any, resource, NULL, &found, &warnings);
        if (meta_generation(resource) < 0)
                field_error_add(&found, FIELD_INVALID, STR("metadata.generation"), value_get(typed, STR("generation")),
                                "must be greater than or equal to 0");
        return move_errors(c, &found, up);
}

static bool check_api_version(struct schema_check *c, const struct value *v, const struct schema_step *at)
{
        _cleanup_err_ struct err err = { 0 };
        struct str group, version;

        if (gvk_split_api_version(value_str(v), &group, &version, &err) < 0)
                return check_fail(c, FIELD_INVALID, at, v, "%s", err_message(&err));
        return true;
}

static bool check_kind(struct schema_check *c, const struct value *v, const struct schema_step *at)
{
        _cleanup_arena_ struct arena a;
        struct str texts[4], lower;
        char *copy;
        size_t n;

        arena_init(&a, "kind", 0);
        copy = arena_cstring(&a, value_str(v));
        for (char *p = copy; p < copy + v->n; p++)
                *p += *p >= 'A' && *p <= 'Z' ? 'a' - 'A' : 0;
        lower = (struct str) { copy, v->n };
        n = name_check_label_1035(&a, lower, false, texts);
        for (size_t i = 0; i < n; i++)
                check_fail(c, FIELD_INVALID, at, v, "may have mixed case, but should otherwise match: %.*s",
                           STR_ARG(texts[i]));
        return n == 0;
}

static bool
check_type_meta(struct schema_check *c, const struct value *resource, struct str key, const struct schema_step *up,
                bool (*check_text)(struct schema_check *c, const struct value *v, const struct schema_step *at))
{
        const struct value *v = value_get(resource, key);
        struct schema_step at = { .up = up, .key = key };

        if (c->only_coerces && (!v || value_is_string(v)))
                return true;
        if (!v)
                return check_fail(c, FIELD_REQUIRED, &at, NULL, "%s", "");
        if (!value_is_string(v))
                return check_fail(c, FIELD_INVALID, &at, v, "must be a string");
        if (v->n == 0)
                return check_fail(c, FIELD_INVALID, &at, v, "must not be empty");
        return check_text(c, v, &at);
}

bool check_resource(struct schema_check *c, const struct value *v, const struct schema_step *at)
{
        bool ok = check_type_meta(c, v, STR("kind"), at, check_kind);

        ok &= check_type_meta(c, v, STR("apiVersion"), at, check_api_version);
        return check_metadata(c, v, at) & ok;
}

bool check_embedded(struct schema_check *c, const struct schema_node *n, const struct value *v,
                    const struct schema_step *at)
{
        const struct schema_node *items = schema_node_items(n);
        bool ok = true;

        if (!(n->flags & NODE_EMBEDDED_BELOW))
                return true;
        if (value_is_object(v)) {
                if (n->flags & NODE_EMBEDDED)
                        ok = check_resource(c, v, at);
                return check_members(c, n, v, at, NODE_EMBEDDED_BELOW, check_embedded) & ok;
        }
        for (uint32_t i = 0; items && i < value_count(v); i++) {
                struct schema_step item_at = { .up = at, .index = i };

                ok &= check_embedded(c, items, &v->items[i], &item_at);
        }
        return ok;
}
