/* The program of a revision, ready to be started any number of times. Counted, immutable. */
#pragma once

#include "process-runtime.h"
#include "runtime-config.h"

struct program {
        _Atomic unsigned references;
        struct oci_image *image;
        int spec_fd; /* the text of launch_encode, in memory */
        uint16_t port;
        bool answers_calls;  /* false: it is ready as soon as it runs */
        bool shares_network; /* with this machine, and so its ports */
        uint64_t memory_bytes, cpu_millis;
        char *digest; /* of everything that makes a difference, for comparisons */
};

int program_make(const struct process_runtime_options *options, const struct runtime_wish *wish,
                 const struct runtime_config *config, struct program **ret, struct err *err);
struct program *program_ref(struct program *p);
void program_unref(struct program *p); /* NULL is fine */

static inline void program_unrefp(struct program **p)
{
        program_unref(*p);
}
