/* Conditions: an array of {type, status, reason, message, lastTransitionTime, observedGeneration} under status.conditions. Two
 * conditions are equal when everything but lastTransitionTime is; generations are compared only when both conditions have one, as
 * in Crossplane (docs/spec/engine 1.8, 1.9). */
#pragma once

#include "clock.h"
#include "meta.h"

enum condition_status {
        CONDITION_UNKNOWN,
        CONDITION_TRUE,
        CONDITION_FALSE,
};

struct condition {
        struct str type;
        enum condition_status status;
        struct str reason;
        struct str message;
        struct instant last_transition; /* 0: none given, null in the object */
        int64_t observed_generation;    /* 0: none */
};

const char *condition_status_name(enum condition_status status); /* "True", "False", "Unknown" */

/* Reads status.conditions. A missing condition is Unknown, with that type and no other fields, and the result is false. */
bool condition_get(const struct value *object, struct str type, struct condition *ret);
struct condition condition_of(const struct value *condition);
struct value condition_value(struct arena *a, const struct condition *c);

bool condition_equal(const struct condition *a, const struct condition *b);

/* Sets conditions by type. A condition that equals the existing one changes nothing, its time included. A different one replaces
 * the existing one in place; a new one is appended. Returns the object itself when nothing changes, or when its status is not an
 * object and so cannot hold conditions. */
const struct value *conditions_set(struct arena *a, const struct value *object, const struct condition *conditions,
                                   size_t n);
