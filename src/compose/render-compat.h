/* One render as Crossplane's CLI did it up to v2.2, before it ran the real reconcile: the functions are called, and what they return is
 * given back with little done to it (spec/packages-sdk-cli 6.2). */
#pragma once

#include "registry.h"

struct compat_input {
        const struct value *composite;
        const struct value *composition;
        const struct value *observed; /* lists of objects; NULL: none */
        const struct value *required;
        const struct value *extra; /* functions find these too, but not the requirements of the Composition */
        const struct value *credentials;
        const struct value *schemas; /* OpenAPI v3 documents */
        const struct value *context; /* what the first step finds in the context; NULL: nothing */
        struct registry *registry;
};

struct compat_result {
        struct str step;
        enum fn_severity severity;
        struct str message;
};

struct compat_output {
        const struct value *composite;
        const struct value *composed; /* a list, by the names of the resources */
        const struct compat_result *results;
        size_t n_results;
        const struct value *context; /* its fields; NULL: the last step left none */
};

/* Errors are whole: `cannot render composite resource: ...`. Everything lives in the run's arena or in the input. */
int render_compat(struct run *run, const struct compat_input *in, struct compat_output *ret, struct err *err);
