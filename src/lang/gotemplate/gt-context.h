/* The context of one execution of a template: memory, budgets, a deadline. Every function receives it.
 *
 * The time of day is clock_wall() and random bytes are random_system(), so that a simulation controls both; functions use no
 * other source. A function that uses either is not pure (gt-func.h). */
#pragma once

#include "err.h"
#include "gt-value.h"
#include "park.h"

struct gt_exec;
struct gt_template;

/* The place and the values of a failed execution, for a message to people: Go's error texts name types where people want values. */
struct gt_mistake {
        const struct gt_template *template_of; /* NULL: the execution has not failed */
        size_t at;                             /* offset of the failed node in the template's text */
        bool is_call;                          /* the values are the arguments of a failed call, not one wrong value */
        const struct gt_value *values;         /* in the context's arena */
        size_t n_values;
};

struct gt_context {
        struct arena *arena;      /* holds all values and texts that the execution makes; its budget limits them */
        struct deadline deadline; /* of the execution; checked every few steps */
        struct cancel *cancel;    /* or NULL */
        uint64_t steps_left;      /* gt_spend takes from it */
        size_t max_text_bytes; /* of the output and of every text that a function makes; 0: LIMIT_TEMPLATE_OUTPUT_BYTES */
        void *user;            /* for the functions that the engine's caller provides */

        struct gt_mistake mistake; /* the engine sets it when it fails; of nested executions the innermost counts */

        /* For the engine only. */
        struct err *err;      /* of the current function call: gt_fail fills it */
        struct gt_exec *exec; /* the current execution */
        uint64_t next_check;  /* value of steps_left at which deadline and arena are checked again */
};

/* Ends the call with an error: `error calling NAME: TEXT`, with the place in the template. Returns a negative code, for
 * `return gt_fail(c, "...")`. For both errors and panics of Go. */
int gt_fail(struct gt_context *c, const char *format, ...) _printf_(2, 3);

/* Counts n steps of work. A step is about one element, node or 64 bytes; code that loops as often as a template chooses calls
 * this before the work, so that no template exceeds its budget of time or memory. 0, or a negative code with the error set
 * (`template takes more than N steps`, `deadline exceeded`, the arena's memory limit): return it. */
int gt_spend_slow(struct gt_context *c, uint64_t n);

static inline int gt_spend(struct gt_context *c, uint64_t n)
{
        if (LIKELY(n < c->steps_left && c->steps_left - n > c->next_check)) {
                c->steps_left -= n;
                return 0;
        }
        return gt_spend_slow(c, n);
}

/* Copies the buffer's text into the context's arena as a string and empties the buffer. Fails as gt_fail does if the buffer has
 * exceeded its maximum. Buffers of functions begin as BUF_INIT(gt_max_text(c)). */
int gt_take_text(struct gt_context *c, struct buf *b, struct gt_value *ret);
size_t gt_max_text(const struct gt_context *c);
