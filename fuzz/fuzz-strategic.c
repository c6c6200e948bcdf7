/* Two JSON objects one after the other: a live one and a strategic merge patch. */
#include "fuzz.h"

#include "json.h"
#include "strategic.h"

static const char schema_text[] =
        "{\"type\":\"object\",\"properties\":{\"c\":{\"type\":\"array\",\"x-kubernetes-patch-merge-key\":\"n\","
        "\"x-kubernetes-patch-strategy\":\"merge\",\"items\":{\"type\":\"object\",\"properties\":{\"n\":{\"type\":"
        "\"string\"},\"s\":{\"type\":\"array\",\"x-kubernetes-patch-strategy\":\"merge\",\"items\":{\"type\":"
        "\"string\"}}"
        ",\"c\":{\"type\":\"array\",\"x-kubernetes-patch-merge-key\":\"n\",\"x-kubernetes-patch-strategy\":"
        "\"merge,retainKeys\",\"items\":{\"type\":\"object\"}}}}},"
        "\"s\":{\"type\":\"array\",\"x-kubernetes-patch-strategy\":\"merge\",\"items\":{\"type\":\"string\"}},"
        "\"l\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
        "\"r\":{\"type\":\"object\",\"x-kubernetes-patch-strategy\":\"replace\"},"
        "\"m\":{\"type\":\"object\",\"additionalProperties\":{\"type\":\"object\"}}}}";

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

/* A patch that contains only values becomes stable. The first merge takes added values unchanged; the second merges them with
 * themselves, where a list may lose duplicates. After that the patch changes nothing. */
static void check_rest(struct arena *a, const struct value *merged, const struct value *patch)
{
        const struct value *second, *third;

        if (strategic_merge(a, schema, merged, patch, &second, NULL) < 0 ||
            strategic_merge(a, schema, second, patch, &third, NULL) < 0)
                return;
        assert(value_equal(second, third));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct str text = { (const char *)data, size };
        const struct value *live, *patch, *merged = NULL;
        _cleanup_err_ struct err err = { 0 };
        _cleanup_arena_ struct arena a;
        size_t used;
        int r;

        if (!schema)
                compile();
        arena_init(&a, "fuzz", 0);
        if (json_parse_next(&a, text, NULL, &live, &used, NULL) < 0 || !value_is_object(live) ||
            json_parse(&a, str_skip(text, used), NULL, &patch, NULL) < 0 || !value_is_object(patch))
                return 0;
        r = strategic_merge(&a, schema, live, &value_empty_object, &merged, NULL);
        assert(r == 0 && value_equal(merged, live));
        r = strategic_merge(&a, schema, live, patch, &merged, &err);
        assert(r == err.code);
        if (r == 0)
                check_rest(&a, merged, patch);
        return 0;
}
