/* Functions that templates call: tables of names, signatures and callbacks.
 *
 * The engine checks the number and the types of arguments against the signature, as Go's reflection does, and makes the error
 * texts; a callback can rely on its signature. A signature has one letter for each parameter:
 *
 *   s string      i int        l int64      f float64    b bool
 *   u uint32 (a literal alone; arrives as GT_UINT64)
 *   a interface {} (a nil and no value arrive as GT_NIL, everything else unboxed)
 *   r reflect.Value (arrives as it is: boxed, GT_NIL or GT_NONE)
 *   m map[string]interface {} (may be nil)      L []interface {} (may be nil)
 *   T time.Time   D time.Duration (a literal arrives as GT_INT64: gt_basic)   V *semver.Version   C the certificate of genCA
 *   *  behind the last letter: any number of these, none included
 *
 * `printf` is "sa*", `trunc` is "is", `now` is "". */
#pragma once

#include "gt-context.h"

enum gt_func_flags {
        /* The result depends on more than the arguments: the time, randomness. A template that names such a function is not
         * pure. */
        GT_IMPURE = 1 << 0,
        /* Impure unless the call gets a time: date and similar functions take any other value for now. The parser counts a call
         * as pure if its last argument or its piped value is the result of a function that returns a time. */
        GT_IMPURE_WITHOUT_TIME = 1 << 1,
        GT_RETURNS_TIME = 1 << 2,
        GT_SHORT_CIRCUIT = 1 << 3, /* and, or: the engine evaluates their arguments one by one */
};

struct gt_func {
        const char *name;
        const char *signature;
        /* 0 and *ret, or a negative code from gt_fail or gt_spend. arguments are n values, checked and converted. */
        int (*call)(struct gt_context *c, const struct gt_value *arguments, size_t n, struct gt_value *ret);
        /* The static type of the result: 'a' for interface {} (the engine boxes it: GT_NONE and GT_NIL are nil), 'r' for
         * reflect.Value (used as it is), 0 for a concrete type. */
        char returns;
        unsigned flags;
};

/* Sorted by name, bytewise, because lookups use bisection. */
struct gt_func_table {
        const struct gt_func *functions;
        size_t n;
};

/* Converts a value to the type of the letter. True: *ret is the value for the callback. False if Go's AssignableTo is false. */
bool gt_assign(struct gt_value v, char letter, struct gt_value *ret);

/* The Go type of a letter: "string", "map[string]interface {}". */
struct str gt_letter_type(char letter);

/* The predefined functions of text/template (the engine itself evaluates `and` and `or`). */
extern const struct gt_func_table gt_builtin_functions;

/* Sprig 3.3.0 without env and expandenv. */
extern const struct gt_func_table gt_sprig_functions;
