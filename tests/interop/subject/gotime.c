#include "subject.h"

#include "buf.h"
#include "gotime.h"

static const struct value *parsed(struct arena *a, struct str layout, struct str text)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        _cleanup_err_ struct err err = { 0 };
        struct gotime t;

        if (gotime_parse(layout, text, &t, &err) < 0)
                return result_error(a, &err);
        gotime_append_string(&b, &t);
        buf_appendf(&b, " %lld", (long long)t.at.seconds);
        return value_put(a, value_of_str(buf_to_arena(&b, a)));
}

static const struct value *formatted(struct arena *a, const struct gotime *t, struct str layout)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct gotime_fields fields;

        gotime_fields(t, &fields);
        gotime_append(&b, t, layout);
        buf_append_char(&b, '|');
        gotime_append_string(&b, t);
        buf_appendf(&b, "|%d", fields.year_day);
        return value_put(a, value_of_str(buf_to_arena(&b, a)));
}

const struct value *run_gotime(struct arena *a, const struct value *c)
{
        struct str layout = value_str(value_get(c, STR("layout")));
        const struct value *text = value_get(c, STR("text")), *zone = value_get(c, STR("zone"));
        struct instant at = { value_int(value_get(c, STR("seconds")), 0),
                              (int32_t)value_int(value_get(c, STR("nanos")), 0) };
        _cleanup_err_ struct err err = { 0 };
        struct gotime t;

        if (text)
                return parsed(a, layout, value_str(text));
        if (gotime_in(at, zone ? value_str(zone) : STR(""), &t))
                return formatted(a, &t, layout);
        err_set(&err, ERR_NOT_FOUND, "no such zone");
        return result_error(a, &err);
}
