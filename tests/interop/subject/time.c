#include "subject.h"

#include "buf.h"
#include "timetext.h"

static int hex_digit(char c)
{
        return c <= '9' ? c - '0' : c - 'a' + 10;
}

/* The case's text: as it is, or as hex where it is not UTF-8. */
static struct str text_of(struct arena *a, const struct value *c)
{
        struct str hex = value_str(value_get(c, STR("hex")));
        char *bytes;

        if (hex.n == 0)
                return value_str(value_get(c, STR("text")));
        bytes = arena_alloc(a, hex.n / 2);
        for (size_t i = 0; i < hex.n / 2; i++)
                bytes[i] = (char)(hex_digit(hex.p[2 * i]) << 4 | hex_digit(hex.p[2 * i + 1]));
        return str_make(bytes, hex.n / 2);
}

static int64_t int_of(const struct value *c, struct str key)
{
        return value_int(value_get(c, key), 0);
}

static const struct value *object(struct arena *a, const struct member *members, size_t n)
{
        return value_put(a, value_of_members(a, members, n, true));
}

static const struct value *parse_time(struct arena *a, const struct value *c)
{
        _cleanup_err_ struct err err = { 0 };
        struct instant t;

        if (time_parse_rfc3339(text_of(a, c), &t, &err) < 0)
                return result_error(a, &err);
        return object(a,
                      (struct member[]) {
                              { STR("nanos"), value_of_int(t.nanos) },
                              { STR("seconds"), value_of_int(t.seconds) },
                      },
                      2);
}

static const struct value *format_time(struct arena *a, const struct value *c)
{
        struct instant t = { int_of(c, STR("seconds")), (int32_t)int_of(c, STR("nanos")) };
        int digits = (int)int_of(c, STR("digits"));
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        if (digits < 0)
                time_append_shortest(&b, t);
        else
                time_append_rfc3339(&b, t, digits);
        return object(a, &(struct member) { STR("text"), value_of_str(buf_to_arena(&b, a)) }, 1);
}

static const struct value *parse_duration(struct arena *a, const struct value *c)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        _cleanup_err_ struct err err = { 0 };
        int64_t ns;

        if (duration_parse(text_of(a, c), &ns, &err) < 0)
                return result_error(a, &err);
        duration_append(&b, ns);
        return object(a,
                      (struct member[]) {
                              { STR("ns"), value_of_int(ns) },
                              { STR("text"), value_of_str(buf_to_arena(&b, a)) },
                      },
                      2);
}

static const struct value *format_duration(struct arena *a, const struct value *c)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        duration_append(&b, int_of(c, STR("nanos")));
        return object(a, &(struct member) { STR("text"), value_of_str(buf_to_arena(&b, a)) }, 1);
}

const struct value *run_time(struct arena *a, const struct value *c)
{
        struct str op = value_str(value_get(c, STR("op")));

        if (str_equal(op, STR("parse-time")))
                return parse_time(a, c);
        if (str_equal(op, STR("format-time")))
                return format_time(a, c);
        if (str_equal(op, STR("parse-duration")))
                return parse_duration(a, c);
        return format_duration(a, c);
}
