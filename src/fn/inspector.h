/* The pipeline inspector (docs/spec/engine 4.6): tells a program behind a Unix socket each request to a function and each response,
 * without values of secrets. A call of it takes at most 100 ms; one that fails is counted and logged, and fails nothing. Any thread. */
#pragma once

#include "function.h"
#include "timetext.h"
#include "uuid.h"

struct inspector;
struct meters;

/* socket is a path, or `unix://PATH`. meters outlives the inspector; NULL: nothing is counted. */
int inspector_new(struct str socket, struct meters *meters, struct inspector **ret, struct err *err);
void inspector_free(struct inspector *i); /* NULL is fine */

/* The description of a step, which goes with each request and response of a run. */
struct inspected_step {
        struct instant time; /* of the request; its response has the same */
        struct uuid trace;   /* of the run */
        struct uuid span;    /* of the call */
        int index;           /* of the step, from 0 */
        struct str name;
        struct str function;
        struct str composition;
        const struct value *composite;
};

/* They block for at most 100 ms each. The request keeps its encoded parts. */
void inspector_tell_request(struct inspector *i, struct run *run, const struct inspected_step *step,
                            struct fn_request *req);
/* rsp NULL: the call failed with err. */
void inspector_tell_response(struct inspector *i, struct run *run, const struct inspected_step *step,
                             const struct fn_response *rsp, const struct err *err);
