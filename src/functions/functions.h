/* The built-in functions: one file each, one entry in the table. */
#pragma once

#include "registry.h"

/* By the last element of a package's path (`function-auto-ready`), or one of the short names of old examples; NULL. */
const struct builtin_function *builtin_find(struct str name);

extern const struct builtin_function *const builtin_functions[];
extern const size_t builtin_n_functions;

extern const struct builtin_function function_auto_ready, function_dummy, function_environment_configs,
        function_extra_resources, function_patch_and_transform, function_sequencer;

/* What Compositions run without naming a function: patch and transform as Crossplane 1.x had it built in, where a resource that cannot be
 * rendered is skipped and the others go on, and the selection of EnvironmentConfigs. */
extern const struct builtin_function function_native_patch_and_transform, function_native_environment_configs;

void functions_register_native(struct registry *r);
