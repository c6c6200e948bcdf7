#include "fuzz.h"

#include "arena.h"
#include "buf.h"
#include "limits.h"
#include "quantity.h"

#include <math.h>

/* Whether the canonical form must read back equal: not if there is no suffix for the power or the power exceeds the limit. */
static bool reads_back(const struct quantity *q)
{
        int64_t exponent = q->exponent;

        if (!q->is_large)
                for (int64_t i = q->number; i != 0 && i % 10 == 0; i /= 10)
                        exponent++;
        return exponent <= (q->format == QUANTITY_DECIMAL_EXPONENT ? LIMIT_QUANTITY_EXPONENT : 20);
}

static void check_text(struct arena *a, const struct quantity *q,
                       void (*append)(struct buf *b, const struct quantity *q))
{
        _cleanup_buf_ struct buf text = BUF_INIT(0), again = BUF_INIT(0);
        struct quantity copy;
        int r;

        append(&text, q);
        r = quantity_parse(a, buf_str(&text), &copy, NULL);
        assert(r == 0);
        assert(quantity_compare(q, &copy) == 0);
        if (q->format == copy.format) {
                append(&again, &copy);
                assert(str_equal(buf_str(&text), buf_str(&again)));
        }
}

/* Doubles that clearly differ have the same order as their quantities. */
static void check_order(const struct quantity *x, const struct quantity *y)
{
        double a = quantity_double(x), b = quantity_double(y);
        int order = quantity_compare(x, y);

        assert(quantity_compare(x, x) == 0);
        assert((order > 0) == (quantity_compare(y, x) < 0));
        assert((order < 0) == (quantity_compare(y, x) > 0));
        if (isfinite(a) && isfinite(b) && fabs(a - b) > 1e-12 * (fabs(a) + fabs(b)))
                assert((order < 0) == (a < b));
}

/* Two quantities, with a line feed between them. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_arena_ struct arena a;
        struct str rest = str_make((const char *)data, size), text;
        struct quantity x, y;

        arena_init(&a, "fuzz", 0);
        str_split(&rest, '\n', &text);
        if (quantity_parse(&a, text, &x, NULL) < 0)
                return 0;
        quantity_value(&x);
        quantity_milli_value(&x);
        if (reads_back(&x)) {
                check_text(&a, &x, quantity_append);
                check_text(&a, &x, quantity_append_canonical);
        }
        if (quantity_parse(&a, rest, &y, NULL) == 0)
                check_order(&x, &y);
        return 0;
}
