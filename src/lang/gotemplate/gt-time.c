/* time.Time, time.Duration, time.Month, time.Weekday and *time.Location with the methods that a template can call, which are
 * those with one result. */
#include "gt-time.h"

#include "buf.h"
#include "gotext.h"
#include "gt-print.h"

#include <inttypes.h>
#include <math.h>

#define METHOD(name) \
        static int name(struct gt_context *c, const struct gt_value *arguments, size_t n, struct gt_value *ret)

static int return_bool(bool b, struct gt_value *ret)
{
        *ret = gt_bool(b);
        return 0;
}

/* --- Named integers: Duration, Month, Weekday --- */

struct named {
        struct gt_object object;
        int64_t number;
};

static int64_t number_of(struct gt_value v)
{
        return v.type == GT_OBJECT ? ((const struct named *)v.object)->number : v.integer;
}

static struct gt_value basic_number(const struct gt_object *o)
{
        return gt_int64(((const struct named *)o)->number);
}

static struct gt_value basic_int(const struct gt_object *o)
{
        return gt_int(((const struct named *)o)->number);
}

static bool named_equal(const struct gt_object *a, const struct gt_object *b)
{
        return ((const struct named *)a)->number == ((const struct named *)b)->number;
}

static struct gt_value make_named(struct gt_context *c, const struct gt_class *class_of, int64_t number)
{
        struct named *n = ARENA_NEW(c->arena, struct named);

        n->object.class_of = class_of;
        n->number = number;
        return gt_object(&n->object);
}

/* Returns the text that the class prints. */
METHOD(method_string)
{
        _cleanup_buf_ struct buf b = BUF_INIT(gt_max_text(c));

        gt_append_text(c, &b, arguments[0]);
        return gt_take_text(c, &b, ret);
}

/* --- Durations --- */

static void print_duration(struct gt_context *c, const struct gt_object *o, struct buf *b)
{
        duration_append(b, ((const struct named *)o)->number);
}

/* Whole units plus the rest, as Go computes it. */
static int return_units(struct gt_value v, int64_t unit_ns, struct gt_value *ret)
{
        int64_t ns = number_of(v);

        *ret = gt_float64((double)(ns / unit_ns) + (double)(ns % unit_ns) / (double)unit_ns);
        return 0;
}

METHOD(duration_hours)
{
        return return_units(arguments[0], 3600 * NS_PER_SECOND, ret);
}

METHOD(duration_minutes)
{
        return return_units(arguments[0], 60 * NS_PER_SECOND, ret);
}

METHOD(duration_seconds)
{
        return return_units(arguments[0], NS_PER_SECOND, ret);
}

static int return_whole(struct gt_value v, int64_t unit_ns, struct gt_value *ret)
{
        *ret = gt_int64(number_of(v) / unit_ns);
        return 0;
}

METHOD(duration_milliseconds)
{
        return return_whole(arguments[0], NS_PER_MS, ret);
}

METHOD(duration_microseconds)
{
        return return_whole(arguments[0], 1000, ret);
}

METHOD(duration_nanoseconds)
{
        return return_whole(arguments[0], 1, ret);
}

METHOD(duration_abs)
{
        int64_t ns = number_of(arguments[0]);

        *ret = gt_make_duration(c, ns >= 0 ? ns : ns == INT64_MIN ? INT64_MAX : -ns);
        return 0;
}

METHOD(duration_truncate)
{
        int64_t ns = number_of(arguments[0]), unit = number_of(arguments[1]);

        *ret = gt_make_duration(c, unit <= 0 ? ns : ns - ns % unit);
        return 0;
}

/* Rounds half away from zero, within the range of int64. */
METHOD(duration_round)
{
        int64_t ns = number_of(arguments[0]), unit = number_of(arguments[1]), rest, rounded;

        *ret = arguments[0];
        if (unit <= 0)
                return 0;
        rest = ns % unit;
        rounded = ns - rest;
        if ((uint64_t)llabs(rest) * 2 >= (uint64_t)unit &&
            __builtin_add_overflow(rounded, ns < 0 ? -unit : unit, &rounded))
                rounded = ns < 0 ? INT64_MIN : INT64_MAX;
        *ret = gt_make_duration(c, rounded);
        return 0;
}

static const struct gt_func duration_methods[] = {
        { "Abs", "", duration_abs, 0, 0 },
        { "Hours", "", duration_hours, 0, 0 },
        { "Microseconds", "", duration_microseconds, 0, 0 },
        { "Milliseconds", "", duration_milliseconds, 0, 0 },
        { "Minutes", "", duration_minutes, 0, 0 },
        { "Nanoseconds", "", duration_nanoseconds, 0, 0 },
        { "Round", "D", duration_round, 0, 0 },
        { "Seconds", "", duration_seconds, 0, 0 },
        { "String", "", method_string, 0, 0 },
        { "Truncate", "D", duration_truncate, 0, 0 },
};

static const struct gt_class duration_class = {
        .type_name = STR_INIT("time.Duration"),
        .kind = GT_KIND_INT64,
        .methods = duration_methods,
        .n_methods = ARRAY_SIZE(duration_methods),
        .print = print_duration,
        .basic = basic_number,
        .equal = named_equal,
        .is_comparable = true,
};

struct gt_value gt_make_duration(struct gt_context *c, int64_t ns)
{
        return make_named(c, &duration_class, ns);
}

/* --- Months and weekdays --- */

static const struct gt_func name_methods[] = { { "String", "", method_string, 0, 0 } };

static void print_month(struct gt_context *c, const struct gt_object *o, struct buf *b)
{
        buf_append_str(b, gotime_month_name((int)((const struct named *)o)->number));
}

static void print_weekday(struct gt_context *c, const struct gt_object *o, struct buf *b)
{
        buf_append_str(b, gotime_weekday_name((int)((const struct named *)o)->number));
}

static const struct gt_class month_class = {
        .type_name = STR_INIT("time.Month"),
        .kind = GT_KIND_INT,
        .methods = name_methods,
        .n_methods = ARRAY_SIZE(name_methods),
        .print = print_month,
        .basic = basic_int,
        .equal = named_equal,
        .is_comparable = true,
};

static const struct gt_class weekday_class = {
        .type_name = STR_INIT("time.Weekday"),
        .kind = GT_KIND_INT,
        .methods = name_methods,
        .n_methods = ARRAY_SIZE(name_methods),
        .print = print_weekday,
        .basic = basic_int,
        .equal = named_equal,
        .is_comparable = true,
};

/* --- Locations --- */

struct location {
        struct gt_object object;
        struct str name;
};

static void print_location(struct gt_context *c, const struct gt_object *o, struct buf *b)
{
        buf_append_str(b, ((const struct location *)o)->name);
}

static const struct gt_class location_class = {
        .type_name = STR_INIT("*time.Location"),
        .kind = GT_KIND_PTR,
        .methods = name_methods,
        .n_methods = ARRAY_SIZE(name_methods),
        .print = print_location,
        .is_comparable = true,
};

/* --- Times --- */

static int return_int(int64_t i, struct gt_value *ret)
{
        *ret = gt_int(i);
        return 0;
}

static struct gotime_fields fields_of(struct gt_value v)
{
        struct gotime_fields f;

        gotime_fields(gt_time_of(v), &f);
        return f;
}

METHOD(time_year)
{
        return return_int(fields_of(arguments[0]).year, ret);
}

METHOD(time_month)
{
        *ret = make_named(c, &month_class, fields_of(arguments[0]).month);
        return 0;
}

METHOD(time_day)
{
        return return_int(fields_of(arguments[0]).day, ret);
}

METHOD(time_weekday)
{
        *ret = make_named(c, &weekday_class, fields_of(arguments[0]).weekday);
        return 0;
}

METHOD(time_year_day)
{
        return return_int(fields_of(arguments[0]).year_day, ret);
}

METHOD(time_hour)
{
        return return_int(fields_of(arguments[0]).hour, ret);
}

METHOD(time_minute)
{
        return return_int(fields_of(arguments[0]).minute, ret);
}

METHOD(time_second)
{
        return return_int(fields_of(arguments[0]).second, ret);
}

METHOD(time_nanosecond)
{
        return return_int(gt_time_of(arguments[0])->at.nanos, ret);
}

/* Since 1970 in units of so many nanoseconds; wraps around as Go's arithmetic does. */
static int return_unix(struct gt_value v, int64_t unit_ns, struct gt_value *ret)
{
        struct instant at = gt_time_of(v)->at;

        *ret = gt_int64(
                (int64_t)((uint64_t)at.seconds * (uint64_t)(NS_PER_SECOND / unit_ns) + (uint64_t)(at.nanos / unit_ns)));
        return 0;
}

METHOD(time_unix)
{
        return return_unix(arguments[0], NS_PER_SECOND, ret);
}

METHOD(time_unix_milli)
{
        return return_unix(arguments[0], NS_PER_MS, ret);
}

METHOD(time_unix_micro)
{
        return return_unix(arguments[0], 1000, ret);
}

METHOD(time_unix_nano)
{
        return return_unix(arguments[0], 1, ret);
}

METHOD(time_format)
{
        _cleanup_buf_ struct buf b = BUF_INIT(gt_max_text(c));

        gotime_append(&b, gt_time_of(arguments[0]), gt_str(arguments[1]));
        return gt_take_text(c, &b, ret);
}

METHOD(time_is_zero)
{
        struct instant zero = gotime_zero().at, at = gt_time_of(arguments[0])->at;

        return return_bool(at.seconds == zero.seconds && at.nanos == 0, ret);
}

METHOD(time_is_dst)
{
        return return_bool(false, ret); /* times in templates are only in UTC or at fixed offsets */
}

static int compare(struct gt_value a, struct gt_value b)
{
        struct instant x = gt_time_of(a)->at, y = gt_time_of(b)->at;

        if (x.seconds != y.seconds)
                return x.seconds < y.seconds ? -1 : 1;
        return (x.nanos > y.nanos) - (x.nanos < y.nanos);
}

METHOD(time_compare)
{
        return return_int(compare(arguments[0], arguments[1]), ret);
}

METHOD(time_equal)
{
        return return_bool(compare(arguments[0], arguments[1]) == 0, ret);
}

METHOD(time_before)
{
        return return_bool(compare(arguments[0], arguments[1]) < 0, ret);
}

METHOD(time_after)
{
        return return_bool(compare(arguments[0], arguments[1]) > 0, ret);
}

METHOD(time_sub)
{
        *ret = gt_make_duration(c, instant_since(gt_time_of(arguments[0])->at, gt_time_of(arguments[1])->at));
        return 0;
}

METHOD(time_add)
{
        struct gotime t = *gt_time_of(arguments[0]);

        t.at = instant_add(t.at, number_of(arguments[1]));
        *ret = gt_make_time(c, t);
        return 0;
}

/* Adds years, months and days; a value beyond its range carries into the next unit. */
METHOD(time_add_date)
{
        struct gotime t = *gt_time_of(arguments[0]);
        struct gotime_fields f = fields_of(arguments[0]);
        int64_t months = f.month - 1 + arguments[2].integer % 1000000, year = f.year + arguments[1].integer % 1000000;
        int64_t days;

        year += months / 12 - (months % 12 < 0);
        months = (months % 12 + 12) % 12;
        days = date_to_days(year, (int)months + 1, 1) + f.day - 1 + arguments[3].integer % 1000000000;
        t.at.seconds = days * 86400 + (f.hour * 60 + f.minute) * 60 + f.second - t.offset_seconds;
        *ret = gt_make_time(c, t);
        return 0;
}

/* The remainder since the zero time, as Go computes it for rounding. */
static int64_t rest_of(struct instant at, int64_t unit)
{
        struct instant zero = gotime_zero().at;
        __int128 ns = ((__int128)at.seconds - zero.seconds) * NS_PER_SECOND + at.nanos;
        __int128 rest = ns % unit;

        return (int64_t)(rest < 0 ? rest + unit : rest);
}

METHOD(time_truncate)
{
        struct gotime t = *gt_time_of(arguments[0]);
        int64_t unit = number_of(arguments[1]);

        if (unit > 0)
                t.at = instant_add(t.at, -rest_of(t.at, unit));
        *ret = gt_make_time(c, t);
        return 0;
}

METHOD(time_round)
{
        struct gotime t = *gt_time_of(arguments[0]);
        int64_t unit = number_of(arguments[1]);

        if (unit > 0) {
                int64_t rest = rest_of(t.at, unit);

                t.at = instant_add(t.at, rest < unit - rest ? -rest : unit - rest);
        }
        *ret = gt_make_time(c, t);
        return 0;
}

METHOD(time_utc)
{
        *ret = gt_make_time(c, gotime_utc(gt_time_of(arguments[0])->at));
        return 0;
}

METHOD(time_location)
{
        struct location *l = ARENA_NEW(c->arena, struct location);

        l->object.class_of = &location_class;
        l->name = gt_time_of(arguments[0])->zone;
        *ret = gt_object(&l->object);
        return 0;
}

static void print_time(struct gt_context *c, const struct gt_object *o, struct buf *b)
{
        gotime_append_string(b, &((const struct gt_time *)o)->time);
}

/* Time.GoString. */
static void print_time_go(struct gt_context *c, const struct gt_object *o, struct buf *b)
{
        const struct gotime *t = &((const struct gt_time *)o)->time;
        struct gotime_fields f;

        gotime_fields(t, &f);
        buf_appendf(b, "time.Date(%" PRId64 ", time.%.*s, %d, %d, %d, %d, %u, ", f.year,
                    STR_ARG(gotime_month_name(f.month)), f.day, f.hour, f.minute, f.second, (unsigned)t->at.nanos);
        if (t->offset_seconds == 0)
                buf_append_literal(b, "time.UTC)");
        else
                buf_appendf(b, "time.Location(%.*s))", STR_ARG(go_quote(c->arena, t->zone)));
}

/* == compares the zone too, as Go's structs do. */
static bool times_equal(const struct gt_object *a, const struct gt_object *b)
{
        const struct gotime *x = &((const struct gt_time *)a)->time, *y = &((const struct gt_time *)b)->time;

        return x->at.seconds == y->at.seconds && x->at.nanos == y->at.nanos && x->offset_seconds == y->offset_seconds &&
               str_equal(x->zone, y->zone);
}

static int time_to_json(struct gt_context *c, const struct gt_object *o, struct value *ret, struct err *err)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        const struct gotime *t = &((const struct gt_time *)o)->time;
        struct gotime_fields f;

        gotime_fields(t, &f);
        if (f.year < 0 || f.year > 9999)
                return err_set(
                        err, ERR_INVALID,
                        "json: error calling MarshalJSON for type time.Time: Time.MarshalJSON: year outside of range "
                        "[0,9999]");
        gotime_append(&b, t, GT_RFC3339);
        *ret = value_of_str(arena_copy(c->arena, buf_str(&b)));
        return 0;
}

static struct gt_value time_to_yaml(struct gt_context *c, const struct gt_object *o)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        gotime_append(&b, &((const struct gt_time *)o)->time, GT_RFC3339);
        return gt_string(buf_to_arena(&b, c->arena));
}

static const struct gt_func time_methods[] = {
        { "Add", "D", time_add, 0, GT_RETURNS_TIME },
        { "AddDate", "iii", time_add_date, 0, GT_RETURNS_TIME },
        { "After", "T", time_after, 0, 0 },
        { "Before", "T", time_before, 0, 0 },
        { "Compare", "T", time_compare, 0, 0 },
        { "Day", "", time_day, 0, 0 },
        { "Equal", "T", time_equal, 0, 0 },
        { "Format", "s", time_format, 0, 0 },
        { "Hour", "", time_hour, 0, 0 },
        { "IsDST", "", time_is_dst, 0, 0 },
        { "IsZero", "", time_is_zero, 0, 0 },
        { "Local", "", time_utc, 0, GT_RETURNS_TIME },
        { "Location", "", time_location, 0, 0 },
        { "Minute", "", time_minute, 0, 0 },
        { "Month", "", time_month, 0, 0 },
        { "Nanosecond", "", time_nanosecond, 0, 0 },
        { "Round", "D", time_round, 0, GT_RETURNS_TIME },
        { "Second", "", time_second, 0, 0 },
        { "String", "", method_string, 0, 0 },
        { "Sub", "T", time_sub, 0, 0 },
        { "Truncate", "D", time_truncate, 0, GT_RETURNS_TIME },
        { "UTC", "", time_utc, 0, GT_RETURNS_TIME },
        { "Unix", "", time_unix, 0, 0 },
        { "UnixMicro", "", time_unix_micro, 0, 0 },
        { "UnixMilli", "", time_unix_milli, 0, 0 },
        { "UnixNano", "", time_unix_nano, 0, 0 },
        { "Weekday", "", time_weekday, 0, 0 },
        { "Year", "", time_year, 0, 0 },
        { "YearDay", "", time_year_day, 0, 0 },
};

static const struct gt_class time_class = {
        .type_name = STR_INIT("time.Time"),
        .kind = GT_KIND_STRUCT,
        .methods = time_methods,
        .n_methods = ARRAY_SIZE(time_methods),
        .print = print_time,
        .print_go = print_time_go,
        .equal = times_equal,
        .to_json = time_to_json,
        .to_yaml = time_to_yaml,
        .is_comparable = true,
};

struct gt_value gt_make_time(struct gt_context *c, struct gotime t)
{
        struct gt_time *s = ARENA_NEW(c->arena, struct gt_time);

        s->object.class_of = &time_class;
        s->time = t;
        return gt_object(&s->object);
}

bool gt_is_time(struct gt_value v)
{
        return v.type == GT_OBJECT && v.object->class_of == &time_class;
}
