/* One render as Crossplane's CLI did it up to v2.2, before it ran the real reconcile: it calls the functions and returns their
 * output almost unchanged (docs/spec/packages 6.2). */
#pragma once

#include "registry.h"

struct compat_input {
        const struct value *composite;
        const struct value *composition;
        const struct value *observed; /* lists of objects; NULL: none */
        const struct value *required;
        const struct value *extra; /* searched for requests of functions, not for requirements of the Composition */
        const struct value *credentials;
        const struct value *schemas; /* OpenAPI v3 documents */
        const struct value *context; /* the context for the first step; NULL: empty */
        struct registry *registry;
};

struct compat_result {
        struct str step;
        enum fn_severity severity;
        struct str message;
};

struct compat_output {
        const struct value *composite;
        const struct value *composed; /* a list, sorted by resource name */
        const struct compat_result *results;
        size_t n_results;
        const struct value *context; /* its fields; NULL: the last step returned none */
};

/* Error messages are complete: `cannot render composite resource: ...`. Everything lives in the run's arena or in the input. */
int render_compat(struct run *run, const struct compat_input *in, struct compat_output *ret, struct err *err);
