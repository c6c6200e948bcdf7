/* Starts the functions of packages for the time of a command: gets the package from a registry or a file, runs it in the process runtime
 * with --insecure, and leads calls to it. */
#pragma once

#include "runtime.h"
#include "settings.h"

struct package_runner; /* any thread */

enum package_pull { PULL_MISSING, PULL_ALWAYS, PULL_NEVER };

/* The setting --pull, whose value is an enum package_pull. */
extern const char *const package_pulls[];

struct package_runner_options {
        struct str cache_directory; /* "": that of the user */
        bool skips_verification;    /* of the registry's certificate */
        bool shows_logs;            /* on standard error, with the function's name */
};

/* Does nothing yet but remember. */
struct package_runner *package_runner_new(const struct package_runner_options *options);
void package_runner_free(struct package_runner *p); /* ends the programs; NULL is fine */

static inline void package_runner_freep(struct package_runner **p)
{
        package_runner_free(*p);
}

struct package_to_run {
        struct str name;    /* of the function; each has its own */
        struct str package; /* a reference, or the path of a .xpkg file */
        enum package_pull pull;
        const struct str *environment; /* NAME=VALUE */
        size_t n_environment;
        struct deadline deadline; /* until it must answer */
};

/* Returns when the function answers. *ret_dialer is counted; its calls go to the function. *ret_target is what to give along with it,
 * in the arena. */
int package_runner_start(struct package_runner *p, struct arena *a, const struct package_to_run *what,
                         struct dialer **ret_dialer, struct str *ret_target, struct err *err);
