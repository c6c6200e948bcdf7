#include "subject.h"

#include "composition.h"

/* A pipeline whose steps name the functions that Crossplane's conversion names. */
static struct value step_value(struct arena *a, const struct step *s)
{
        struct str function = s->function;
        struct object_builder b, ref;

        if (str_equal(function, NATIVE_PATCH_AND_TRANSFORM))
                function = STR("function-patch-and-transform");
        else if (str_equal(function, NATIVE_ENVIRONMENT_CONFIGS))
                function = STR("function-environment-configs");
        object_builder_init(&ref, a, 1);
        object_builder_add(&ref, STR("name"), value_of_str(function));
        object_builder_init(&b, a, 3);
        object_builder_add(&b, STR("step"), value_of_str(s->name));
        object_builder_add(&b, STR("functionRef"), object_builder_finish(&ref));
        if (s->input)
                object_builder_add(&b, STR("input"), *s->input);
        return object_builder_finish(&b);
}

const struct value *run_composition(struct arena *a, const struct value *c)
{
        _cleanup_err_ struct err err = { 0 };
        struct composition composition;
        struct array_builder steps;

        if (composition_read(a, c, &composition, &err) < 0)
                return result_error(a, &err);
        array_builder_init(&steps, a, composition.n_steps);
        for (size_t i = 0; i < composition.n_steps; i++)
                array_builder_add(&steps, step_value(a, &composition.steps[i]));
        return value_put(a, array_builder_finish(&steps));
}
