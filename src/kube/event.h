/* Kubernetes Events (core/v1): what controllers tell people. Equal events are counted instead of repeated, and a source that
 * says too much is cut short, as client-go's recorder does. */
#pragma once

#include "clock.h"
#include "meta.h"

enum event_type {
        EVENT_NORMAL,
        EVENT_WARNING,
};

/* The Event object for something that happened to regarding, as client-go's recorder makes it: name `NAME.HEX`, namespace that
 * of the object or `default`, count 1, both timestamps now. */
struct value event_make(struct arena *a, const struct value *regarding, enum event_type type, struct str reason,
                        struct str message, struct str component, struct instant now);
