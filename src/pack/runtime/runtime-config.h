/* The fields of a DeploymentRuntimeConfig that this runtime uses (docs/spec/packages 3.5). */
#pragma once

#include "err.h"
#include "str-list.h"
#include "value.h"

struct runtime_variable {
        struct str name, value;
};

struct runtime_config {
        int64_t replicas;
        bool shares_network; /* hostNetwork */
        struct str *command; /* "has" below; both replace what the image says */
        size_t n_command;
        struct str *arguments;
        size_t n_arguments;
        bool has_command, has_arguments;
        struct runtime_variable *variables;
        size_t n_variables;
        uint64_t memory_bytes; /* limits; 0: none */
        uint64_t cpu_millis;
        uint16_t port;
        struct str_list ignored; /* paths of the fields that are not used, sorted */
};

/* spec NULL: the defaults. Everything lives in the arena. An error names the field. */
int runtime_config_read(struct arena *a, const struct value *spec, struct runtime_config *ret, struct err *err);
