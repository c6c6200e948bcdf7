#include "subject.h"

#include "xrd.h"

const struct value *run_xrd(struct arena *a, const struct value *c)
{
        const struct value *xrd = value_get(c, STR("xrd")), *crd;
        _cleanup_err_ struct err err = { 0 };
        int r;

        if (value_bool(value_get(c, STR("claim")), false))
                r = xrd_claim_crd(a, xrd, &crd, &err);
        else
                r = xrd_composite_crd(a, xrd, &crd, &err);
        return r < 0 ? result_error(a, &err) : crd;
}
