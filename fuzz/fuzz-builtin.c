/* A request body for a built-in kind. In Kubernetes' protobuf form: what is decoded has the fields of its type alone, and decoding it again
 * gives the same. In JSON, after a byte that chooses the kind: what has been typed is typed already. */
#include "fuzz.h"

#include "builtin-typed.h"
#include "builtin.h"
#include "json.h"

#define ARENA_BYTES (256u << 20)

static void check(struct arena *a, const struct value *v)
{
        const struct builtin_kind *kind = builtin_kind_of(gvk_of(v));
        const struct value *typed;
        struct str_list unknown;

        assert(value_is_string(value_get(v, STR("apiVersion"))) && value_is_string(value_get(v, STR("kind"))));
        if (!kind)
                return; /* DeleteOptions of another group */
        str_list_init(&unknown, a);
        if (builtin_type_object(a, kind->type, v, &unknown, &typed, NULL) == 0)
                assert(unknown.n == 0);
}

static void check_json(struct arena *a, uint8_t choice, struct str text)
{
        const struct builtin_table *table = builtin_table();
        const struct builtin_type *type = table->kinds[choice % table->n_kinds].type;
        _cleanup_err_ struct err err = { 0 };
        const struct value *v, *typed = NULL, *again = NULL;
        struct str_list unknown;

        if (json_parse(a, text, NULL, &v, NULL) < 0 || !value_is_object(v))
                return;
        str_list_init(&unknown, a);
        if (builtin_type_object(a, type, v, &unknown, &typed, &err) < 0) {
                assert(!typed && err_message(&err)[0]);
                return;
        }
        str_list_init(&unknown, a);
        if (builtin_type_object(a, type, typed, &unknown, &again, NULL) == 0)
                assert(unknown.n == 0 && value_equal(typed, again));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_arena_ struct arena a;
        _cleanup_err_ struct err err = { 0 };
        struct str bytes = str_make((const char *)data, size);
        const struct value *v = NULL, *again = NULL;

        arena_init(&a, "fuzz", ARENA_BYTES);
        if (size > 0 && !builtin_is_protobuf(bytes)) {
                check_json(&a, data[0], str_skip(bytes, 1));
                return 0;
        }
        if (builtin_decode(&a, bytes, &v, &err) < 0) {
                assert(!v && err_message(&err)[0]);
                return 0;
        }
        assert(builtin_is_protobuf(bytes));
        if (builtin_decode(&a, bytes, &again, NULL) < 0)
                assert(arena_check(&a, NULL) < 0);
        else
                assert(value_equal(v, again));
        check(&a, v);
        return 0;
}
