#include "subject.h"

#include "buf.h"
#include "number.h"

#include <math.h>

static struct str from_hex(struct arena *a, struct str hex)
{
        char *bytes = arena_alloc_aligned(a, hex.n / 2 + 1, 1);

        for (size_t i = 0; i < hex.n / 2; i++) {
                char two[3] = { hex.p[2 * i], hex.p[2 * i + 1], '\0' };

                bytes[i] = (char)strtoul(two, NULL, 16);
        }
        return str_make(bytes, hex.n / 2);
}

static double double_of_bits(struct str hex)
{
        char text[17] = { 0 };
        uint64_t bits;
        double d;

        if (str_equal(hex, STR("nan")))
                return NAN;
        memcpy(text, hex.p, MIN(hex.n, 16u));
        bits = strtoull(text, NULL, 16);
        memcpy(&d, &bits, sizeof(d));
        return d;
}

static struct value bits_of_double(struct arena *a, double d)
{
        uint64_t bits;

        if (isnan(d))
                return value_of_literal("nan");
        memcpy(&bits, &d, sizeof(bits));
        return value_of_str(arena_printf(a, "%016llx", (unsigned long long)bits));
}

static struct value format(struct arena *a, const struct value *c, bool is_json)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        double d = double_of_bits(value_str(value_find(c, "bits")));

        if (is_json)
                number_append_json(&b, d);
        else
                number_append_go(&b, d, value_str(value_find(c, "format")).p[0],
                                 (int)value_int(value_find(c, "precision"), 0));
        return value_of_str(buf_to_arena(&b, a));
}

static int parse(struct arena *a, struct str op, struct str s, struct value *ret, struct err *err)
{
        double d;
        int64_t i;
        uint64_t u;
        bool b;
        int r;

        if (str_equal(op, STR("float"))) {
                r = number_parse_double(s, &d, err);
                if (r == 0 || r == ERR_LIMIT)
                        *ret = bits_of_double(a, d);
        } else if (str_equal(op, STR("int"))) {
                r = number_parse_int(s, &i, err);
                if (r == 0)
                        *ret = value_of_str(arena_printf(a, "%lld", (long long)i));
        } else if (str_equal(op, STR("uint"))) {
                r = number_parse_uint(s, &u, err);
                if (r == 0)
                        *ret = value_of_str(arena_printf(a, "%llu", (unsigned long long)u));
        } else {
                r = number_parse_bool(s, &b, err);
                if (r == 0)
                        *ret = value_of_bool(b);
        }
        return r;
}

const struct value *run_number(struct arena *a, const struct value *c)
{
        _cleanup_err_ struct err err = { 0 };
        struct str op = value_str(value_find(c, "op"));
        struct object_builder result;
        struct value v = value_null;

        object_builder_init(&result, a, 2);
        if (str_equal(op, STR("format")) || str_equal(op, STR("json"))) {
                object_builder_add(&result, STR("text"), format(a, c, str_equal(op, STR("json"))));
        } else {
                if (parse(a, op, from_hex(a, value_str(value_find(c, "text"))), &v, &err) < 0)
                        object_builder_add(&result, STR("error"),
                                           value_of_str(arena_copy(a, str_from(err_message(&err)))));
                if (!value_is_null(&v))
                        object_builder_add(&result, STR("value"), v);
        }
        return value_put(a, object_builder_finish(&result));
}
