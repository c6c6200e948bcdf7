#include "render-varies.h"

#include "functions.h"
#include "render-errors.h"

/* The first step whose templates may vary, or -1. */
static ptrdiff_t varying_step(const struct manifest *composition)
{
        const struct value *pipeline = value_find(composition->object, "spec", "pipeline");

        for (size_t i = 0; i < value_count(pipeline); i++)
                if (functions_input_varies(value_get(value_item(pipeline, i), STR("input"))))
                        return (ptrdiff_t)i;
        return -1;
}

void render_warn_of_chance(struct run *run, const struct command *c, const struct manifest *composition,
                           const struct render_input *in, const struct render_output *out)
{
        ptrdiff_t step = varying_step(composition);
        _cleanup_err_ struct err err = { 0 };
        struct render_output again;

        if (step < 0 || render_composite(run, in, &again, NULL) < 0 ||
            (value_equal(out->composed, again.composed) && value_equal(out->composite, again.composite)))
                return;
        err_set(&err, ERR_INVALID,
                "its templates give another result each time they run, so that every reconcile changes what it "
                "composes; keep what "
                "was chosen first, from .observed");
        manifest_error(composition, arena_printf(run->arena, "spec.pipeline[%td].input", step), &err);
        render_warn(c, &err);
}
