/* The elements of Go's time layouts. Private to the files of gotime. */
#pragma once

#include "str.h"

enum layout_element {
        LAYOUT_END, /* the layout has no further element */
        LAYOUT_LONG_MONTH,
        LAYOUT_MONTH,
        LAYOUT_NUMBER_MONTH,
        LAYOUT_ZERO_MONTH,
        LAYOUT_LONG_WEEKDAY,
        LAYOUT_WEEKDAY,
        LAYOUT_DAY,
        LAYOUT_BLANK_DAY,
        LAYOUT_ZERO_DAY,
        LAYOUT_BLANK_YEAR_DAY,
        LAYOUT_ZERO_YEAR_DAY,
        LAYOUT_HOUR,
        LAYOUT_HOUR_12,
        LAYOUT_ZERO_HOUR_12,
        LAYOUT_MINUTE,
        LAYOUT_ZERO_MINUTE,
        LAYOUT_SECOND,
        LAYOUT_ZERO_SECOND,
        LAYOUT_LONG_YEAR,
        LAYOUT_YEAR,
        LAYOUT_PM,
        LAYOUT_LOWER_PM,
        LAYOUT_ZONE,          /* MST */
        LAYOUT_OFFSET,        /* -0700 and similar; Z for UTC if the element begins with Z */
        LAYOUT_FRACTION,      /* .000: exactly as many digits */
        LAYOUT_FRACTION_TRIM, /* .999: as many digits at most */
};

struct layout_part {
        struct str prefix; /* the literal text before the element */
        enum layout_element element;
        struct str text; /* of the element */
};

/* Takes the next element and the text before it off the layout. With LAYOUT_END the prefix is the whole rest. */
struct layout_part layout_next(struct str *layout);
