/* An OpenAPI document: the kinds that are read from it can be used. */
#include "fuzz.h"

#include "json.h"
#include "openapi.h"
#include "strategic.h"

static void check_kind(const struct kind *k)
{
        const struct kind_version *v = kind_storage(k);
        static const struct schema_admit_options options = { .drop_nulls = true };
        _cleanup_arena_ struct arena a;
        const struct value *object, *admitted, *again;
        struct field_errors errors;
        int r;

        assert(k->n_versions == 1 && k->kind.n > 0 && k->plural.n > 0 && v->verbs != 0);
        for (size_t i = 1; i < v->n_subresources; i++)
                assert(str_compare(v->subresources[i - 1].name, v->subresources[i].name) <= 0);
        arena_init(&a, "fuzz", 0);
        r = json_parse(&a, STR("{\"spec\":{\"ports\":[{\"port\":1}],\"a\":null,\"x\":{}},\"data\":{\"a\":\"b\"}}"),
                       NULL, &object, NULL);
        assert(r >= 0);
        admitted = schema_admit(v->schema, &a, object, &options);
        again = schema_admit(v->schema, &a, admitted, &options);
        assert(value_equal(admitted, again));
        field_errors_init(&errors, &a);
        schema_validate(v->schema, admitted, NULL, STR(""), &errors);
        strategic_merge(&a, v->schema, admitted, object, &again, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_openapi_kinds_ struct openapi_kinds kinds = { 0 };
        _cleanup_err_ struct err err = { 0 };
        int r = openapi_parse(str_make((const char *)data, size), &kinds, &err);

        assert(r == err.code);
        for (size_t i = 0; i < kinds.n; i++)
                check_kind(kinds.p[i]);
        return 0;
}
