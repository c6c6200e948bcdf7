/* The flags of a function program: those that every function has, then those that it declares. Texts and exit codes are those of
 * functions in Go, so that whoever deploys one need not know what it is written in. */
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
        FLAG_METRICS_ADDRESS,
        N_STANDARD_FLAGS,
};

struct flag_value {
        const char *text; /* as given, or the default; never NULL */
        int64_t i;        /* INT; of a DURATION the nanoseconds */
        bool b;
        bool is_given; /* on the command line */
};

/* Immutable once read. */
struct flags {
        const struct weft_function *function;
        size_t n; /* standard ones, then the function's */
        struct flag_value *values;
};

/* Reads arguments, which end in NULL, over the environment (name=value up to a NULL; NULL: none) over the defaults. Texts are
 * borrowed from all of them. ERR_INVALID is the fault of the command line, anything else that of the environment or the function's
 * declarations. flags_done in any case. */
int flags_read(struct flags *f, const struct weft_function *function, const char *const *arguments,
               const char *const *environment, struct err *err);
void flags_done(struct flags *f);

/* The value of a flag that the function declares with that type; NULL when there is none. */
const struct flag_value *flags_find(const struct flags *f, const char *name, enum weft_flag_type type);

/* Prints what --help says. */
void flags_print_help(const struct flags *f, const char *program);
