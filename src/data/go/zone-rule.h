/* The rule for times after the last change that a zone's file lists, in the format of POSIX's TZ variable:
 * `CET-1CEST,M3.5.0,M10.5.0/3`. */
#pragma once

#include "str.h"

struct zone_day {
        char type; /* M: month, week, weekday; J: day from 1 without leap days; 0: day from 0 */
        int month, week, day;
        int32_t seconds; /* since the start of that day, in local time; may be negative or beyond the day */
};

struct zone_rule {
        struct str standard, daylight; /* abbreviations; daylight is "" when there is none */
        int32_t standard_offset, daylight_offset;
        struct zone_day start, end; /* of daylight time */
};

/* The texts in *ret point into the text. False if the text is not a rule. */
bool zone_rule_parse(struct str text, struct zone_rule *ret);
void zone_rule_at(const struct zone_rule *r, int64_t seconds, int32_t *ret_offset_seconds,
                  struct str *ret_abbreviation);
