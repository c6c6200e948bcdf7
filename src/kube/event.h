/* Kubernetes Events (core/v1): what controllers tell people. */
#pragma once

#include "clock.h"
#include "meta.h"

enum event_type {
        EVENT_NORMAL,
        EVENT_WARNING,
};

/* The Event object for something that happened to regarding, as client-go's recorder makes it: name `NAME.HEX` with the
 * nanoseconds of now (a UUID for names that would not be valid), namespace that of the object or `default`, count 1, both
 * timestamps now. Strings are borrowed. */
struct value event_make(struct arena *a, const struct value *regarding, enum event_type type, struct str reason,
                        struct str message, struct str component, struct instant now);
