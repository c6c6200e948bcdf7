/* Settling: computes the value that results from writing JSON and reading it back as Kubernetes does, without making the text. */
#include "path.h"

#include "buf.h"
#include "number.h"
#include "utf8.h"

#include <math.h>

/* The functions below return 1 with the new value in *ret, 0 if the value does not change (*ret is not touched), or an error. */

static int settle(struct arena *a, const struct value *v, struct value *ret, struct err *err);

static struct str valid_text(struct arena *a, struct str s)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        size_t width;

        if (utf8_is_valid(s))
                return s;
        for (; s.n; s = str_skip(s, width)) {
                char bytes[4];

                buf_append(&b, bytes, utf8_encode(utf8_decode(s, &width), bytes));
        }
        return buf_to_arena(&b, a);
}

/* Doubles are printed with the shortest digits that read back equal, so beyond 2^53 the integer that is read back may differ
 * from the exact value of the double: 2^62 becomes 4611686018427388000. */
static int settle_double(double d, struct value *ret, struct err *err)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        int64_t i;

        if (!isfinite(d))
                return err_set(err, ERR_INVALID, "json: unsupported value: %s",
                               isnan(d) ? "NaN"
                               : d > 0  ? "+Inf"
                                        : "-Inf");
        if (d != trunc(d) || fabs(d) >= 0x1p64)
                return 0;
        if (fabs(d) <= 0x1p53) {
                *ret = value_of_int((int64_t)d);
                return 1;
        }
        number_append_json(&b, d);
        if (number_parse_int(buf_str(&b), &i, NULL) < 0)
                return 0;
        *ret = value_of_int(i);
        return 1;
}

static int settle_array(struct arena *a, const struct value *v, struct value *ret, struct err *err)
{
        struct value *items = NULL;

        for (uint32_t i = 0; i < v->n; i++) {
                struct value settled;
                int r = settle(a, &v->items[i], &settled, err);

                if (r < 0)
                        return r;
                if (r > 0 && !items) {
                        items = arena_alloc(a, v->n * sizeof(*items));
                        memcpy(items, v->items, v->n * sizeof(*items));
                }
                if (r > 0)
                        items[i] = settled;
        }
        if (items)
                *ret = (struct value) { .type = VALUE_ARRAY, .n = v->n, .items = items };
        return items != NULL;
}

static int compare_keys(const void *a, const void *b)
{
        const struct member *const *x = a, *const *y = b;
        int order = str_compare((*x)->key, (*y)->key);

        return order ? order : (*x > *y) - (*x < *y);
}

/* Makes an object of members with replaced keys. Some keys may now be equal: the last of those counts. */
static struct value join_equal_keys(struct arena *a, const struct member *members, size_t n)
{
        const struct member **sorted = ARENA_NEW_ARRAY(a, const struct member *, n);
        struct object_builder b;

        for (size_t i = 0; i < n; i++)
                sorted[i] = &members[i];
        qsort(sorted, n, sizeof(*sorted), compare_keys);
        object_builder_init(&b, a, n);
        for (size_t i = 0; i < n; i++)
                if (i + 1 == n || !str_equal(sorted[i]->key, sorted[i + 1]->key))
                        object_builder_add(&b, sorted[i]->key, sorted[i]->value);
        return object_builder_finish(&b);
}

/* Go writes maps in the order of their keys, so if keys become equal, the member with the greatest original key wins. */
static int settle_keys(struct arena *a, const struct value *v, struct value *ret, struct err *err)
{
        const struct value *sorted = value_sorted(a, v);
        struct member *members = ARENA_NEW_ARRAY(a, struct member, v->n);

        for (uint32_t i = 0; i < v->n; i++) {
                const struct member *m = value_member(sorted, i);
                int r;

                members[i] = (struct member) { .key = valid_text(a, m->key), .value = m->value };
                r = settle(a, &m->value, &members[i].value, err);
                if (r < 0)
                        return r;
        }
        *ret = join_equal_keys(a, members, v->n);
        return 1;
}

static int settle_object(struct arena *a, const struct value *v, struct value *ret, struct err *err)
{
        struct object_builder b = { 0 };
        bool has_changed = false;

        VALUE_FOREACH_MEMBER (m, v)
                if (!utf8_is_valid(m->key))
                        return settle_keys(a, v, ret, err);
        for (uint32_t i = 0; i < v->n; i++) {
                const struct member *m = &v->members[i];
                struct value settled = m->value;
                int r = settle(a, &m->value, &settled, err);

                if (r < 0)
                        return r;
                if (r > 0 && !has_changed) {
                        has_changed = true;
                        object_builder_init(&b, a, v->n);
                        for (uint32_t j = 0; j < i; j++)
                                object_builder_add(&b, v->members[j].key, v->members[j].value);
                }
                if (has_changed)
                        object_builder_add(&b, m->key, settled);
        }
        if (has_changed)
                *ret = object_builder_finish(&b);
        return has_changed;
}

static int settle(struct arena *a, const struct value *v, struct value *ret, struct err *err)
{
        switch (value_type(v)) {
        case VALUE_NULL:
        case VALUE_BOOL:
        case VALUE_INT:
                return 0;
        case VALUE_DOUBLE:
                return settle_double(v->number, ret, err);
        case VALUE_STRING:
                if (utf8_is_valid(value_str(v)))
                        return 0;
                *ret = value_of_str(valid_text(a, value_str(v)));
                return 1;
        case VALUE_ARRAY:
                return settle_array(a, v, ret, err);
        case VALUE_OBJECT:
                return settle_object(a, v, ret, err);
        }
        return 0;
}

int value_settle(struct arena *a, const struct value *v, const struct value **ret, struct err *err)
{
        struct value settled;
        int r = settle(a, v, &settled, err);

        if (r < 0)
                return r;
        *ret = r > 0 ? value_put(a, settled) : v;
        return 0;
}
