#include "subject.h"

#include "claim.h"

static const struct value *report(struct arena *a, const struct value *c)
{
        _cleanup_err_ struct err err = { 0 };
        const struct value *claim;
        int r = claim_report(a, value_get(c, STR("xrd")), value_get(c, STR("claim")), value_get(c, STR("reconciled")),
                             &claim, &err);

        return r < 0 ? result_error(a, &err) : value_with(a, &value_empty_object, STR("claim"), claim);
}

/* {xrd, claim, composite, name} gives what is applied and the claim; with `reconciled` the claim that reports it. */
const struct value *run_claim(struct arena *a, const struct value *c)
{
        struct claim_request in = {
                .xrd = value_get(c, STR("xrd")),
                .claim = value_get(c, STR("claim")),
                .composite = value_get(c, STR("composite")),
                .name = value_str(value_get(c, STR("name"))),
        };
        _cleanup_err_ struct err err = { 0 };
        const struct value *ret = &value_empty_object;
        struct claim_bound bound;

        if (value_get(c, STR("reconciled")))
                return report(a, c);
        if (claim_bind(a, &in, &bound, &err) < 0)
                return result_error(a, &err);
        ret = value_with(a, ret, STR("composite"), bound.composite);
        return value_with(a, ret, STR("claim"), bound.claim);
}
