/* The built-in functions: one file each, one entry in the table. */
#pragma once

#include "registry.h"
#include "settings.h"

/* Finds a function by the last element of its package's path (`function-auto-ready`), or by a short name from old examples; NULL if
 * there is none. */
const struct builtin_function *builtin_find(struct str name);

extern const struct builtin_function *const builtin_functions[];
extern const size_t builtin_n_functions;

extern const struct builtin_function function_auto_ready, function_dummy, function_environment_configs,
        function_extra_resources, function_go_templating, function_patch_and_transform, function_sequencer;

/* Functions that Compositions run without naming them: patch and transform as built into Crossplane 1.x, where a resource that
 * cannot be rendered is skipped and the others continue, and the selection of EnvironmentConfigs. */
extern const struct builtin_function function_native_patch_and_transform, function_native_environment_configs;

void functions_register_native(struct registry *r);

/* Whether the input of a step contains templates of function-go-templating whose output may differ each time, because they use the
 * time, random values or keys. False when this cannot be known from the input alone. */
bool functions_input_varies(const struct value *input);

struct fn_mistake;

/* Finds the place that a message of function-go-templating names in the inline templates of the input. For functions that ran in
 * another process: the results of built-in ones carry their mistake. False if the message names no such place. */
bool functions_find_mistake(struct arena *a, const struct value *input, struct str message, struct fn_mistake *ret);

/* The defaults that an operator sets for function-go-templating. The texts are borrowed. */
struct templating_defaults {
        const char *source; /* a directory or file of templates for inputs without a source; NULL: they are refused */
        struct setting_list options; /* for inputs without options */
        bool has_ttl;                /* false: responses have a TTL of one minute */
        int64_t ttl_ns;              /* of responses, unless the input or the composite says otherwise */
};

/* Must not be called while functions run. */
void functions_set_templating_defaults(const struct templating_defaults *defaults);

/* Sets the directory from which function-go-templating may read templates (source FileSystem). NULL, the default: none. The text is
 * borrowed. Must not be called while functions run. */
void functions_set_template_directory(const char *path);
