#include "subject.h"

#include "xrd.h"

static const struct value *without(struct arena *a, const struct value *v, const char *const *path)
{
        struct str key = str_from(*path);
        const struct value *inner = value_get(v, key);

        if (!inner)
                return v;
        return path[1] ? value_with(a, v, key, without(a, inner, path + 1)) : value_without(a, v, key);
}

/* status.watchedResourceRefs is ours (docs/compatibility.md): no schema of upstream has it. */
static const struct value *without_ours(struct arena *a, const struct value *crd)
{
        static const char *const path[] = { "schema",     "openAPIV3Schema",     "properties", "status",
                                            "properties", "watchedResourceRefs", NULL };
        const struct value *spec = value_get(crd, STR("spec")), *versions = value_get(spec, STR("versions"));

        for (size_t i = 0; i < value_count(versions); i++)
                versions = value_with_item(a, versions, i, without(a, value_item(versions, i), path));
        return versions ? value_with(a, crd, STR("spec"), value_with(a, spec, STR("versions"), versions)) : crd;
}

const struct value *run_xrd(struct arena *a, const struct value *c)
{
        const struct value *xrd = value_get(c, STR("xrd")), *crd;
        _cleanup_err_ struct err err = { 0 };
        int r;

        if (value_bool(value_get(c, STR("claim")), false))
                r = xrd_claim_crd(a, xrd, &crd, &err);
        else
                r = xrd_composite_crd(a, xrd, &crd, &err);
        return r < 0 ? result_error(a, &err) : without_ours(a, crd);
}
