/* Kubernetes Events (core/v1): messages of controllers to people. */
#pragma once

#include "clock.h"
#include "meta.h"

enum event_type {
        EVENT_NORMAL,
        EVENT_WARNING,
};

/* The Event object about `regarding`, in the form of client-go's recorder: name `NAME.HEX` with the nanoseconds of now (a UUID if
 * that name is not valid), namespace of the object or `default`, count 1, both timestamps now. Strings are borrowed. */
struct value event_make(struct arena *a, const struct value *regarding, enum event_type type, struct str reason,
                        struct str message, struct str component, struct instant now);
