/* Dates and durations. A value that is neither a time nor a number of seconds means now. */
#include "sprig.h"

#include "clock.h"
#include "gt-time.h"

#define HTML_DATE STR("2006-01-02")

static struct instant instant_of(struct gt_value v)
{
        if (gt_is_time(v))
                return gt_time_of(v)->at;
        if (v.type == GT_INT || v.type == GT_INT64)
                return (struct instant) { .seconds = v.integer };
        return clock_wall();
}

SPRIG(now)
{
        *ret = gt_make_time(c, gotime_utc(clock_wall()));
        return 0;
}

/* An unknown zone is UTC. */
static int format_in_zone(struct gt_context *c, struct str layout, struct gt_value v, struct str zone,
                          struct gt_value *ret)
{
        _cleanup_buf_ struct buf b = BUF_INIT(gt_max_text(c));
        struct gotime t;

        gotime_in(instant_of(v), zone, &t);
        gotime_append(&b, &t, layout);
        return gt_take_text(c, &b, ret);
}

SPRIG(date)
{
        return format_in_zone(c, gt_str(arguments[0]), arguments[1], STR("UTC"), ret);
}

SPRIG(date_in_zone)
{
        return format_in_zone(c, gt_str(arguments[0]), arguments[1], gt_str(arguments[2]), ret);
}

SPRIG(html_date)
{
        return format_in_zone(c, HTML_DATE, arguments[0], STR("UTC"), ret);
}

SPRIG(html_date_in_zone)
{
        return format_in_zone(c, HTML_DATE, arguments[0], gt_str(arguments[1]), ret);
}

SPRIG(must_to_date)
{
        _cleanup_err_ struct err err = { 0 };
        struct gotime t;

        if (gotime_parse(gt_str(arguments[0]), gt_str(arguments[1]), &t, &err) < 0)
                return gt_fail(c, "%s", err_message(&err));
        *ret = gt_make_time(c, t);
        return 0;
}

SPRIG(to_date)
{
        struct gotime t;

        if (gotime_parse(gt_str(arguments[0]), gt_str(arguments[1]), &t, NULL) < 0)
                t = gotime_zero();
        *ret = gt_make_time(c, t);
        return 0;
}

static int modify(struct gt_context *c, const struct gt_value *arguments, struct gt_value *ret, struct err *err)
{
        struct gotime t = *gt_time_of(arguments[1]);
        int64_t ns;
        int r = duration_parse(gt_str(arguments[0]), &ns, err);

        if (r < 0)
                return r;
        t.at = instant_add(t.at, ns);
        *ret = gt_make_time(c, t);
        return 0;
}

SPRIG(date_modify)
{
        if (modify(c, arguments, ret, NULL) < 0)
                *ret = arguments[1];
        return 0;
}

SPRIG(must_date_modify)
{
        _cleanup_err_ struct err err = { 0 };

        return modify(c, arguments, ret, &err) < 0 ? gt_fail(c, "%s", err_message(&err)) : 0;
}

SPRIG(unix_epoch)
{
        return sprig_return_text(arena_printf(c->arena, "%lld", (long long)gt_time_of(arguments[0])->at.seconds), ret);
}

static int return_duration(struct gt_context *c, int64_t ns, struct gt_value *ret)
{
        _cleanup_buf_ struct buf b = BUF_INIT(gt_max_text(c));

        duration_append(&b, ns);
        return gt_take_text(c, &b, ret);
}

/* Whole seconds since the time. */
SPRIG(ago)
{
        int64_t ns = instant_since(clock_wall(), instant_of(arguments[0]));
        int64_t rest = ns % NS_PER_SECOND;

        ns -= rest;
        if (rest >= NS_PER_SECOND / 2 && ns <= INT64_MAX - NS_PER_SECOND)
                ns += NS_PER_SECOND;
        return return_duration(c, ns, ret);
}

/* Accepts a text of decimal seconds, or an int64, but not an int. A text out of range counts as the nearest number. */
SPRIG(duration)
{
        int64_t seconds = 0;

        if (arguments[0].type == GT_STRING)
                seconds = sprig_parse_decimal(gt_str(arguments[0]));
        else if (arguments[0].type == GT_INT64)
                seconds = arguments[0].integer;
        return return_duration(c, (int64_t)((uint64_t)seconds * (uint64_t)NS_PER_SECOND), ret);
}

static int64_t duration_of(struct gt_value v)
{
        int64_t ns = 0;

        if (v.type == GT_STRING)
                return duration_parse(gt_str(v), &ns, NULL) < 0 ? 0 : ns;
        if (v.type == GT_INT64)
                return v.integer;
        return gt_is_time(v) ? instant_since(clock_wall(), gt_time_of(v)->at) : 0;
}

/* The duration in the largest unit that is smaller than it. */
SPRIG(duration_round)
{
        static const struct {
                const char *name;
                uint64_t seconds;
        } units[] = {
                { "y", 365ull * 86400 },
                { "mo", 30ull * 86400 },
                { "d", 86400 },
                { "h", 3600 },
                { "m", 60 },
                { "s", 1 },
        };
        int64_t signed_ns = duration_of(arguments[0]);
        uint64_t ns = signed_ns < 0 ? -(uint64_t)signed_ns : (uint64_t)signed_ns;

        for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
                uint64_t unit_ns = units[i].seconds * (uint64_t)NS_PER_SECOND;

                if (ns > unit_ns)
                        return sprig_return_text(arena_printf(c->arena, "%llu%s", (unsigned long long)(ns / unit_ns),
                                                              units[i].name),
                                                 ret);
        }
        return sprig_return_text(STR("0s"), ret);
}
