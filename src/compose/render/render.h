/* One render: computes the result of a reconcile of a composite from the given input alone (docs/spec/engine 12). */
#pragma once

#include "reconcile.h"

struct render_cluster;

struct render_input {
        const struct value *composite;
        const struct value *composition;
        const struct value *revision; /* of the Composition, from render_prepare; NULL: this render makes it */
        const struct value *xrd;      /* says whether the composite is legacy; NULL: it is modern */
        const struct value *observed; /* lists of objects; NULL: none */
        const struct value *required;
        const struct value *credentials;
        const struct render_cluster *shared; /* from render_share; NULL: made from required and credentials */
        const struct value *schemas;         /* OpenAPI v3 documents */
        const struct value *context;         /* the context for the first step; NULL: empty */
        struct step_options steps;
};

struct render_output {
        const struct value *composite;
        const struct value *composed; /* lists of objects */
        const struct value *deleted;
        const struct reconcile_event *events;
        size_t n_events;
        const struct value *required_resources; /* lists of selectors, one for each fetch */
        const struct value *required_schemas;
        const struct value *context; /* the context that the last step returned; NULL: none */
        const struct step_record *records;
        size_t n_records;
        bool is_fatal; /* a function returned a fatal result: the call fails, but the other fields are filled */
};

/* Makes the revision of a Composition, which all renders of that Composition can share. */
int render_prepare(struct arena *a, const struct value *composition, const struct value **ret_revision,
                   struct err *err);

/* Makes a cluster of required resources and credentials, which several renders can share. */
int render_share(struct arena *a, const struct value *required, const struct value *credentials,
                 const struct render_cluster **ret, struct err *err);

/* The composite with a resourceVersion, and with a uid if it has none. The uid is derived from kind, namespace and name, so it is
 * always the same. */
const struct value *render_with_identity(struct arena *a, const struct value *composite);

/* Error messages are complete: `cannot render composite resource: ...`. *ret is filled without an error or when is_fatal is set;
 * the records are always filled, and after an error the last record is that of the failed step. Everything lives in the run's arena
 * or in the input. */
int render_composite(struct run *run, const struct render_input *in, struct render_output *ret, struct err *err);

/* The composite as an API would have it after that render: the given composite, with the Composition reference, the resource
 * references and the status of the output. The caller passes it to claim_report. */
const struct value *render_composite_after(struct arena *a, const struct render_input *in,
                                           const struct render_output *out);
