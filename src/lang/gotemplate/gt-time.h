/* Times and durations in templates: objects of time.Time and time.Duration with Go's methods. */
#pragma once

#include "gotime.h"
#include "gt-func.h"

struct gt_time {
        struct gt_object object;
        struct gotime time;
};

/* Both objects are in the context's arena. The zone's abbreviation is borrowed. */
struct gt_value gt_make_time(struct gt_context *c, struct gotime t);
struct gt_value gt_make_duration(struct gt_context *c, int64_t ns);

bool gt_is_time(struct gt_value v);

/* v must be of type time.Time. */
static inline const struct gotime *gt_time_of(struct gt_value v)
{
        return &((const struct gt_time *)v.object)->time;
}

/* RFC 3339 with as many fractional digits as are needed, as MarshalJSON and yaml.v3 write it. */
#define GT_RFC3339 STR("2006-01-02T15:04:05.999999999Z07:00")
