/* Two JSON values one after the other, used as the fieldsV1 of two managers. */
#include "fuzz.h"

#include "field-trie.h"
#include "json.h"

/* Checks the invariants that every walk relies on: sorted, no duplicates, no empty nodes. */
static void check_trie(const struct field_set *s)
{
        if (!s)
                return;
        assert(s->n > 0);
        for (size_t i = 0; i < s->n; i++) {
                assert(s->nodes[i].is_member || s->nodes[i].below);
                assert(i == 0 || path_element_compare(&s->nodes[i - 1].element, &s->nodes[i].element) < 0);
                check_trie(s->nodes[i].below);
        }
}

static void check_round_trip(struct arena *a, const struct field_set *s)
{
        struct value encoded = field_set_encode(a, s);
        const struct field_set *again = NULL;
        int r = field_set_decode(a, &encoded, &again, NULL);

        assert(r >= 0 && field_set_equal(s, again));
}

static void count_path(void *arg, struct str path)
{
        ++*(size_t *)arg;
}

static void check_set(struct arena *a, const struct field_set *s)
{
        size_t n = 0;

        check_trie(s);
        check_round_trip(a, s);
        field_set_each(s, count_path, &n);
        assert(n == field_set_count(s));
        assert(field_set_is_empty(s) == (n == 0));
}

static void check_operations(struct arena *a, const struct field_set *x, const struct field_set *y)
{
        const struct field_set *sum = field_set_union(a, x, y), *common = field_set_intersection(a, x, y);
        const struct field_set *left = field_set_difference(a, x, y), *less = field_set_recursive_difference(a, x, y);

        check_set(a, sum);
        check_set(a, common);
        check_set(a, left);
        check_set(a, less);
        assert(field_set_equal(sum, field_set_union(a, y, x)));
        assert(field_set_equal(common, field_set_intersection(a, y, x)));
        assert(field_set_equal(field_set_union(a, left, common), x));
        assert(!field_set_intersection(a, left, y));
        assert(!field_set_difference(a, less, left));
        assert(field_set_count(sum) + field_set_count(common) == field_set_count(x) + field_set_count(y));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct str text = { (const char *)data, size };
        const struct field_set *x = NULL, *y = NULL;
        const struct value *first, *second;
        _cleanup_arena_ struct arena a;
        size_t used;

        arena_init(&a, "fuzz", 0);
        if (json_parse_next(&a, text, NULL, &first, &used, NULL) < 0 || field_set_decode(&a, first, &x, NULL) < 0)
                return 0;
        check_set(&a, x);
        if (json_parse(&a, str_skip(text, used), NULL, &second, NULL) < 0 || field_set_decode(&a, second, &y, NULL) < 0)
                return 0;
        check_operations(&a, x, y);
        check_operations(&a, y, x);
        return 0;
}
