/* JSON values one after the other: a schema, an object, and optionally the object that it replaces. */
#include "fuzz.h"

#include "json.h"
#include "schema.h"

/* Visits every node that can be reached; returns their number. */
static size_t walk(const struct schema_node *n)
{
        size_t count = 1;

        for (size_t i = 0; i < schema_node_property_count(n); i++) {
                struct str key;
                const struct schema_node *child = schema_node_property_at(n, i, &key);

                assert(schema_node_property(n, key) == child);
                count += walk(child);
        }
        if (schema_node_items(n))
                count += walk(schema_node_items(n));
        if (schema_node_additional(n))
                count += walk(schema_node_additional(n));
        return count;
}

static void check_object(struct arena *a, const struct schema *s, const struct value *v, const struct value *old)
{
        struct schema_admit_options options = { .drop_nulls = true };
        const struct value *before = value_copy(a, v), *admitted, *pruned;
        struct field_errors errors, again;
        struct str_list unknown;

        str_list_init(&unknown, a);
        options.unknown = &unknown;
        pruned = schema_prune(s, a, v, NULL);
        admitted = schema_admit(s, a, v, &options);
        assert(value_equal(before, v));
        assert((unknown.n > 0) == (pruned != v));
        assert(schema_prune(s, a, pruned, NULL) == pruned);
        assert(schema_prune(s, a, admitted, NULL) == admitted);
        /* Doing it again changes nothing, and returns the same pointer. */
        assert(schema_admit(s, a, admitted, &options) == admitted);
        assert(schema_default(s, a, admitted) == admitted && schema_drop_nulls(s, a, admitted) == admitted);
        field_errors_init(&errors, a);
        field_errors_init(&again, a);
        schema_validate(s, admitted, old, STR(""), &errors);
        schema_validate(s, admitted, old, STR(""), &again);
        assert(errors.n == again.n);
        schema_validate(s, admitted, old, STR("status"), &again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct str text = { (const char *)data, size };
        const struct value *openapi, *v, *old = NULL;
        _cleanup_arena_ struct arena a;
        struct field_errors errors;
        struct schema *s = NULL;
        size_t used;

        arena_init(&a, "fuzz", 0);
        field_errors_init(&errors, &a);
        if (json_parse_next(&a, text, NULL, &openapi, &used, NULL) < 0 || !value_is_object(openapi))
                return 0;
        text = str_skip(text, used);
        if (schema_compile(openapi, STR("schema"), &s, &errors) < 0) {
                assert(errors.n > 0 && !s);
                return 0;
        }
        assert(errors.n == 0 && walk(schema_root(s)) > 0 && schema_size_bytes(s) > 0);
        if (json_parse_next(&a, text, NULL, &v, &used, NULL) >= 0 && value_is_object(v)) {
                json_parse(&a, str_skip(text, used), NULL, &old, NULL);
                check_object(&a, s, v, value_is_object(old) ? old : NULL);
        }
        schema_unref(s);
        return 0;
}
