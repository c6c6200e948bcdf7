/* An object of one of Crossplane's own kinds and optionally the object that it replaces, as JSON. */
#include "fuzz.h"

#include "json.h"
#include "own-kinds.h"

static size_t judge(struct arena *a, const struct value *object, const struct value *old)
{
        struct field_errors errors;
        int r;

        field_errors_init(&errors, a);
        r = own_kind_check(a, object, old, &errors);
        assert((r < 0) == (errors.n > 0));
        for (size_t i = 0; i < errors.n; i++) {
                const struct str *fields;

                assert(errors.p[i].field.n > 0 && errors.p[i].text.n > 0);
                own_kind_fields(a, gvk_of(object), errors.p[i].field, &fields);
        }
        return errors.n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct str text = { (const char *)data, size };
        const struct value *v, *old = NULL, *before, *whole;
        _cleanup_arena_ struct arena a;
        size_t used;

        arena_init(&a, "fuzz", 0);
        if (json_parse_next(&a, text, NULL, &v, &used, NULL) < 0)
                return 0;
        json_parse(&a, str_skip(text, used), NULL, &old, NULL);
        before = value_copy(&a, v);
        whole = own_kind_default(&a, v);
        assert(value_equal(own_kind_default(&a, whole), whole));
        /* A valid object stays valid with its defaults, and may replace itself. */
        if (judge(&a, v, NULL) == 0) {
                assert(judge(&a, whole, NULL) == 0);
                assert(judge(&a, whole, whole) == 0);
        }
        judge(&a, v, old);
        assert(value_equal(before, v));
        return 0;
}
