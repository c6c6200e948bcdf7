#include "functions.h"

const struct builtin_function *const builtin_functions[] = {
        &function_auto_ready,      &function_dummy,         &function_environment_configs,
        &function_extra_resources, &function_go_templating, &function_patch_and_transform,
        &function_sequencer,
};
const size_t builtin_n_functions = ARRAY_SIZE(builtin_functions);

/* Short names from old examples (docs/spec/seeds 1). */
static const struct {
        const char *alias;
        const char *name;
} aliases[] = {
        { "go-templates", "function-go-templating" },
        { "patch-and-transform", "function-patch-and-transform" },
};

static struct str canonical(struct str name)
{
        for (size_t i = 0; i < ARRAY_SIZE(aliases); i++)
                if (str_equal(name, str_from(aliases[i].alias)))
                        return str_from(aliases[i].name);
        return name;
}

const struct builtin_function *builtin_find(struct str name)
{
        name = canonical(name);
        for (size_t i = 0; i < builtin_n_functions; i++)
                if (str_equal(name, str_from(builtin_functions[i]->name)))
                        return builtin_functions[i];
        return NULL;
}

void functions_register_native(struct registry *r)
{
        registry_set(r, NATIVE_PATCH_AND_TRANSFORM, function_builtin(&function_native_patch_and_transform));
        registry_set(r, NATIVE_ENVIRONMENT_CONFIGS, function_builtin(&function_native_environment_configs));
}
