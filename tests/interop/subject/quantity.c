#include "subject.h"

#include "buf.h"
#include "quantity.h"

#include <math.h>

static struct value text_of(struct arena *a, const struct quantity *q,
                            void (*append)(struct buf *b, const struct quantity *q))
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        append(&b, q);
        return value_of_str(buf_to_arena(&b, a));
}

static struct value bits_of(struct arena *a, double d)
{
        uint64_t bits;

        if (isnan(d))
                return value_of_literal("NaN");
        memcpy(&bits, &d, sizeof(bits));
        return value_of_str(arena_printf(a, "%016llx", (unsigned long long)bits));
}

static const struct value *describe(struct arena *a, struct str text, const struct quantity *q)
{
        static const struct str formats[] = {
                [QUANTITY_DECIMAL_SI] = STR_INIT("DecimalSI"),
                [QUANTITY_BINARY_SI] = STR_INIT("BinarySI"),
                [QUANTITY_DECIMAL_EXPONENT] = STR_INIT("DecimalExponent"),
        };
        struct object_builder b;
        double d;
        int r = quantity_to_double(text, &d, NULL);

        assert(r == 0);
        object_builder_init(&b, a, 6);
        object_builder_add(&b, STR("format"), value_of_str(formats[q->format]));
        object_builder_add(&b, STR("string"), text_of(a, q, quantity_append));
        object_builder_add(&b, STR("canonical"), text_of(a, q, quantity_append_canonical));
        object_builder_add(&b, STR("value"), value_of_int(quantity_value(q)));
        object_builder_add(&b, STR("milli"), value_of_int(quantity_milli_value(q)));
        object_builder_add(&b, STR("double"), bits_of(a, d));
        return value_put(a, object_builder_finish(&b));
}

const struct value *run_quantity(struct arena *a, const struct value *c)
{
        _cleanup_err_ struct err err = { 0 };
        struct str text = value_str(value_get(c, STR("a")));
        const struct value *other = value_get(c, STR("b"));
        struct quantity x, y;
        int order;

        if (quantity_parse(a, text, &x, &err) < 0)
                return result_error(a, &err);
        if (!other)
                return describe(a, text, &x);
        if (quantity_parse(a, value_str(other), &y, &err) < 0)
                return result_error(a, &err);
        order = quantity_compare(&x, &y);
        return value_put(a, value_of_int((order > 0) - (order < 0)));
}
