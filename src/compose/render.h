/* One render: what a reconcile of a composite would do, from what is given alone (spec/engine 12). */
#pragma once

#include "reconcile.h"

struct render_cluster;

struct render_input {
        const struct value *composite;
        const struct value *composition;
        const struct value *revision; /* of the Composition, from render_prepare; NULL: it is made for this render */
        const struct value *xrd;      /* says whether the composite is legacy; NULL: it is modern */
        const struct value *observed; /* lists of objects; NULL: none */
        const struct value *required;
        const struct value *credentials;
        const struct render_cluster *shared; /* required and credentials, from render_share; NULL: those above */
        const struct value *schemas;         /* OpenAPI v3 documents */
        const struct value *context;         /* what the first step finds in the context; NULL: nothing */
        struct registry *registry;
        bool wants_records; /* with what each step changed */
        struct features features;
        const char *timeout_setting; /* see struct step_context; NULL: errors of calls without time are upstream's */
        int64_t timeout_ns;          /* of the render, for such errors */
};

struct render_output {
        const struct value *composite;
        const struct value *composed; /* lists of objects */
        const struct value *deleted;
        const struct reconcile_event *events;
        size_t n_events;
        const struct value *required_resources; /* lists of selectors, one for each fetch */
        const struct value *required_schemas;
        const struct value *context;
        const struct step_record *records;
        size_t n_records;
        bool is_fatal; /* a function's result was: the call fails, and the rest is there nevertheless */
};

/* The revision of a Composition, for all renders with it. */
int render_prepare(struct arena *a, const struct value *composition, const struct value **ret_revision,
                   struct err *err);

/* Required resources and credentials, for all renders that find them. */
int render_share(struct arena *a, const struct value *required, const struct value *credentials,
                 const struct render_cluster **ret, struct err *err);

/* A composite that was never created gets the identity that its name gives it, always the same. */
const struct value *render_with_identity(struct arena *a, const struct value *composite);

/* Errors are whole: `cannot render composite resource: ...`. *ret is filled when is_fatal is set, or without an error; the
 * records always, the last of them that of the step that failed. Everything lives
 * in the run's arena or in the input. */
int render_composite(struct run *run, const struct render_input *in, struct render_output *ret, struct err *err);
