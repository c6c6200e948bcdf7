/* Warns about objects in a version that Crossplane does not serve any more. */
#include "render-errors.h"

static void warn_of_alias(const struct command *c, const struct manifest *m)
{
        struct gvk gvk = gvk_of(m->object), current = gvk_current(gvk);
        _cleanup_err_ struct err err = { 0 };

        if (gvk_equal(gvk, current))
                return;
        err_set(&err, ERR_INVALID, "%.*s is read as %.*s, the only version that Crossplane serves",
                STR_ARG(gvk.version), STR_ARG(current.version));
        manifest_error(m, STR("apiVersion"), &err);
        render_warn(c, &err);
}

void render_files_warn_of_aliases(const struct command *c, const struct manifests *m)
{
        for (size_t i = 0; i < m->n; i++)
                warn_of_alias(c, &m->p[i]);
}
