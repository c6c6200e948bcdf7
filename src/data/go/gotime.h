/* Go's time.Time for templates: a point in time with the zone that it is shown in. Layouts such as `2006-01-02 15:04 MST` format
 * and parse it. The local zone is UTC, as in the containers of functions. */
#pragma once

#include "err.h"
#include "timetext.h"

struct arena;
struct buf;

struct gotime {
        struct instant at;
        int32_t offset_seconds; /* of the zone, east of UTC */
        struct str zone;        /* its abbreviation; "" if it has none. Lives as long as its source */
};

struct gotime_fields {
        int64_t year;
        int month, day; /* from 1 */
        int hour, minute, second;
        int weekday;  /* Sunday is 0 */
        int year_day; /* from 1 */
};

/* 0001-01-01 00:00:00 UTC. */
struct gotime gotime_zero(void);

/* The point in time shown in UTC. */
struct gotime gotime_utc(struct instant at);

/* The same in the zone of the tz database (`Europe/Berlin`, `UTC`, `Local`, ""); false when there is none of that name. */
bool gotime_in(struct instant at, struct str zone, struct gotime *ret);

void gotime_fields(const struct gotime *t, struct gotime_fields *ret);

struct str gotime_month_name(int month);     /* from 1 */
struct str gotime_weekday_name(int weekday); /* from 0 */

/* Time.Format. */
void gotime_append(struct buf *b, const struct gotime *t, struct str layout);

/* Time.String: `2006-01-02 15:04:05.999999999 -0700 MST`. */
void gotime_append_string(struct buf *b, const struct gotime *t);

/* time.ParseInLocation with the local zone, and its error texts. The zone's abbreviation is borrowed from the text. */
int gotime_parse(struct str layout, struct str text, struct gotime *ret, struct err *err);

/* Time.Add, and the duration from b to a in nanoseconds; both saturate at the limits of int64. */
struct instant instant_add(struct instant t, int64_t ns);
int64_t instant_since(struct instant a, struct instant b);
