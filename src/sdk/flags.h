/* The flags of a function program: the standard ones of every function, then the declared ones. Texts and exit codes equal those of
 * functions in Go, so that functions in both languages are deployed in the same way. */
#pragma once

#include "err.h"
#include "weft/fn.h"

enum standard_flag {
        FLAG_HELP,
        FLAG_DEBUG,
        FLAG_NETWORK,
        FLAG_ADDRESS,
        FLAG_TLS_CERTS_DIR,
        FLAG_INSECURE,
        FLAG_MAX_RECV_MESSAGE_SIZE,
        FLAG_MAX_MEMORY,
        FLAG_METRICS_ADDRESS,
        N_STANDARD_FLAGS,
};

struct flag_value {
        const char *text; /* as given, or the default; never NULL */
        int64_t i;        /* value of an INT; nanoseconds of a DURATION */
        bool b;
        bool is_given; /* given on the command line */
};

/* Immutable once read. */
struct flags {
        const struct weft_function *function;
        size_t n; /* standard ones, then the function's */
        struct flag_value *values;
};

/* Reads the flags. Arguments (up to a NULL) override the environment (name=value, up to a NULL; NULL: none), which overrides the
 * defaults. All texts are borrowed. ERR_INVALID is an error in the command line; other codes are errors in the environment or in
 * the function's declarations. Call flags_done in any case. */
int flags_read(struct flags *f, const struct weft_function *function, const char *const *arguments,
               const char *const *environment, struct err *err);
void flags_done(struct flags *f);

/* The value of a declared flag of that type; NULL when there is none. */
const struct flag_value *flags_find(const struct flags *f, const char *name, enum weft_flag_type type);

/* Prints the text of --help. */
void flags_print_help(const struct flags *f, const char *program);
