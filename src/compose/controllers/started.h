/* A controller of composites or of claims, and the definition that it was started with. Private to this room. */
#pragma once

#include "plane-state.h"

struct started {
        struct plane *plane;
        struct arena arena; /* name and definition */
        struct str name;    /* `composite/NAME`, `claim/NAME` */
        const struct value *xrd;
        struct composite_type type;
        struct kind_controller *controller;
};

struct started_options {
        struct arena *scratch;
        const char *prefix;
        const char *watch_type;    /* of its own kind, in metrics */
        struct gvk gvk;            /* of the objects to reconcile */
        kind_reconcile *reconcile; /* its context is the struct started */
        bool knows_writes;
        int64_t timeout_ms;
        int64_t backoff_most_ms;
};

/* Starts a controller with this definition, unless one runs already; one with an older definition is stopped first. */
int started_start(struct plane *p, const struct value *xrd, const struct started_options *options, struct err *err);
void started_free(struct started *s); /* NULL is fine */
