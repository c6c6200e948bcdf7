/* The flags of a function program. */
#pragma once

#include "err.h"
#include "weft/fn.h"

struct flags {
        bool is_debug;
        bool is_insecure;
        bool wants_help;
        const char *network;
        const char *address;
        const char *tls_certs_dir;   /* "": none */
        const char *metrics_address; /* "": none */
        int64_t max_receive_mib;
};

/* Reads argv over the defaults and the environment. Texts are borrowed from argv. */
int flags_read(struct flags *f, int argc, char **argv, struct err *err);

/* Prints what --help says. */
void flags_print_help(const struct weft_function *function, const char *program);
