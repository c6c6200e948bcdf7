/* Two JSON values one after the other: a stored object, managedFields included, and a change to it. The change is used as a JSON
 * Patch (an array), as a merge patch, and as a configuration to apply. */
#include "fuzz.h"

#include "json.h"
#include "managed-fields.h"
#include "managed.h"
#include "meta.h"
#include "patch.h"
#include "schema.h"

static const char schema_text[] =
        "{\"type\":\"object\",\"properties\":{\"spec\":{\"type\":\"object\",\"properties\":{"
        "\"s\":{\"type\":\"string\"},\"i\":{\"type\":\"integer\"},\"b\":{\"type\":\"boolean\"},"
        "\"ios\":{\"x-kubernetes-int-or-string\":true},\"any\":{\"x-kubernetes-preserve-unknown-fields\":true},"
        "\"m\":{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"}},"
        "\"am\":{\"type\":\"object\",\"x-kubernetes-map-type\":\"atomic\",\"additionalProperties\":{\"type\":"
        "\"string\"}},"
        "\"al\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
        "\"set\":{\"type\":\"array\",\"x-kubernetes-list-type\":\"set\",\"items\":{\"type\":\"string\"}},"
        "\"lm\":{\"type\":\"array\",\"x-kubernetes-list-type\":\"map\",\"x-kubernetes-list-map-keys\":[\"n\",\"p\"],"
        "\"items\":{\"type\":\"object\",\"required\":[\"n\"],\"properties\":{\"n\":{\"type\":\"string\"},\"p\":{"
        "\"type\":"
        "\"integer\",\"default\":1},\"v\":{\"type\":\"string\"},\"set\":{\"type\":\"array\",\"x-kubernetes-list-type\":"
        "\"set\",\"items\":{\"type\":\"string\"}}}}},"
        "\"free\":{\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":true,\"properties\":{\"k\":{\"type\":"
        "\"object\",\"properties\":{\"x\":{\"type\":\"string\"}}}}}}},"
        "\"status\":{\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":true}}}";

static struct schema *schema;

static void compile(void)
{
        _cleanup_arena_ struct arena a;
        struct field_errors errors;
        const struct value *v;
        int r;

        arena_init(&a, "schema", 0);
        field_errors_init(&errors, &a);
        r = json_parse(&a, str_from(schema_text), NULL, &v, NULL);
        assert(r >= 0);
        r = schema_compile(v, STR("schema"), &schema, &errors);
        assert(r >= 0);
}

static const struct value *typed(struct arena *a, const struct value *object)
{
        object = value_with(a, object, STR("apiVersion"), value_put(a, value_of_literal("example.org/v1")));
        return value_with(a, object, STR("kind"), value_put(a, value_of_literal("Widget")));
}

static const struct value *unmanaged(struct arena *a, const struct value *object)
{
        return meta_with(a, object, STR("managedFields"), NULL);
}

/* A stored object can be read again, and storing it again gives the same object. */
static void check_stored(struct arena *a, const struct value *object)
{
        struct managers managers;
        int r = managed_fields_decode(a, object, false, &managers, NULL);

        assert(r >= 0);
        assert(value_equal(managed_fields_store(object, &managers), object));
}

/* The live object has the form in which we store objects, but its managers may be any nonsense. */
static const struct value *stored(struct arena *a, const struct value *object)
{
        struct managers managers;

        if (managed_fields_decode(a, object, false, &managers, NULL) < 0)
                return object;
        return managed_fields_store(object, &managers);
}

static struct managed_request request(const struct managed_type *type, struct str manager, int64_t second)
{
        return (struct managed_request) {
                .type = type, .manager = manager, .now = { .seconds = second }, .force = true
        };
}

static void check_update(struct arena *a, const struct managed_type *type, const struct value *live,
                         const struct value *wanted)
{
        struct managed_request req = request(type, STR("u"), 1000);
        const struct value *result, *again;
        int r;

        r = managed_update(a, &req, live, typed(a, wanted), &result, NULL);
        assert(r >= 0);
        check_stored(a, result);

        /* The same write once more changes nothing. */
        req.now.seconds++;
        r = managed_update(a, &req, result, result, &again, NULL);
        assert(r >= 0);
        assert(value_equal(unmanaged(a, again), unmanaged(a, result)));
}

/* Whether `after` differs from `before` only where `before` has null and `after` an empty map or list. */
static bool is_same_but_emptied(const struct value *before, const struct value *after)
{
        if (value_is_null(before))
                return value_is_null(after) ||
                       ((value_is_object(after) || value_is_array(after)) && value_count(after) == 0);
        if (!value_is_object(before) && !value_is_array(before))
                return value_equal_numeric(before, after);
        if (before->type != after->type || value_count(before) != value_count(after))
                return false;
        if (value_is_array(before)) {
                for (size_t i = 0; i < value_count(before); i++)
                        if (!is_same_but_emptied(value_item(before, i), value_item(after, i)))
                                return false;
                return true;
        }
        VALUE_FOREACH_MEMBER (m, before) {
                const struct value *other = value_get(after, m->key);

                if (!other || !is_same_but_emptied(&m->value, other))
                        return false;
        }
        return true;
}

static void check_apply(struct arena *a, const struct managed_type *type, const struct value *live,
                        const struct value *config)
{
        struct managed_request req = request(type, STR("a"), 2000);
        _cleanup_err_ struct err err = { 0 };
        const struct value *result, *again;
        int r;

        config = meta_with(a, typed(a, config), STR("managedFields"), NULL);
        r = managed_apply(a, &req, live, config, &result, &err);
        assert(r == err.code);
        if (r < 0)
                return;
        check_stored(a, result);

        /* Applying the same configuration again is no write, at any time. There is one exception: an apply may remove the last item
         * of a map or list that is empty in the configuration. This leaves null, as it does upstream; the second apply fills in the
         * empty map or list, and the third is no write. */
        req.now.seconds++;
        r = managed_apply(a, &req, result, config, &again, NULL);
        assert(r >= 0);
        if (value_equal_numeric(again, result))
                return;
        assert(is_same_but_emptied(unmanaged(a, result), unmanaged(a, again)));
        req.now.seconds++;
        r = managed_apply(a, &req, again, config, &result, NULL);
        assert(r >= 0);
        assert(value_equal_numeric(result, again));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct managed_type type = { .gvk = { STR("example.org"), STR("v1"), STR("Widget") },
                                     .has_status = size % 2,
                                     .hub_version = STR("v1") };
        struct str text = { (const char *)data, size };
        const struct value *live, *change, *patched;
        _cleanup_arena_ struct arena a;
        size_t used;

        if (!schema)
                compile();
        type.schema = schema;
        arena_init(&a, "fuzz", 0);
        if (json_parse_next(&a, text, NULL, &live, &used, NULL) < 0 || !value_is_object(live) ||
            json_parse(&a, str_skip(text, used), NULL, &change, NULL) < 0)
                return 0;
        live = stored(&a, typed(&a, live));
        if (json_patch_apply(&a, live, change, &patched, NULL) >= 0 && value_is_object(patched))
                check_update(&a, &type, live, patched);
        if (!value_is_object(change))
                return 0;
        check_update(&a, &type, live, merge_patch_apply(&a, live, change));
        check_update(&a, &type, NULL, change);
        check_apply(&a, &type, live, change);
        check_apply(&a, &type, NULL, change);
        return 0;
}
