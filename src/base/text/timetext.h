/* Times and durations as text: RFC 3339 as Kubernetes writes it, durations as Go writes them. */
#pragma once

#include "err.h"
#include "str.h"

struct buf;

#define NS_PER_SECOND 1000000000ll
#define NS_PER_MS     1000000ll

/* A point in time: seconds since 1970 UTC and 0..999999999 nanoseconds. */
struct instant {
        int64_t seconds;
        int32_t nanos;
};

/* The Gregorian calendar, extended to all years: days since 1970-01-01. Months and days count from 1. */
int64_t date_to_days(int64_t year, int month, int day);
int64_t date_from_days(int64_t days, int *ret_month, int *ret_day); /* the year */
bool date_is_leap_year(int64_t year);
int date_days_in_month(int64_t year, int month);

/* As Go's time package quotes: bytes that are not printable ASCII one by one as \xNN. */
void time_append_quoted(struct buf *b, struct str s);

/* Appends the number, which is not negative, with leading zeros. */
void time_append_padded(struct buf *b, int64_t number, int width);

/* Appends 2006-01-02T15:04:05Z, with exactly `digits` fractional digits (0, 3, 6 or 9). */
void time_append_rfc3339(struct buf *b, struct instant t, int digits);

/* As protobuf JSON: 0, 3, 6 or 9 digits, as few as are exact. */
void time_append_shortest(struct buf *b, struct instant t);

/* RFC 3339 with any fraction and offset, as Go's time.Parse(time.RFC3339, s) takes it; its error texts
 * (`parsing time "zz" as "2006-01-02T15:04:05Z07:00": cannot parse "zz" as "2006"`). */
int time_parse_rfc3339(struct str s, struct instant *ret, struct err *err);

/* time.ParseDuration: `1h30m`, `-1.5s`, `300ms`; nanoseconds. Errors: `time: invalid duration "x"`,
 * `time: missing unit in duration "3"`, `time: unknown unit "x" in duration "3x"`. */
int duration_parse(struct str s, int64_t *ret_ns, struct err *err);

/* time.Duration.String(): `1h30m0s`, `1.5s`, `0s`. */
void duration_append(struct buf *b, int64_t ns);
