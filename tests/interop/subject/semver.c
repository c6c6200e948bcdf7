#include "subject.h"

#include "buf.h"
#include "semver.h"

static const struct value *version_text(struct arena *a, const struct semver *v)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        semver_append(&b, v);
        buf_appendf(&b, " %llu %llu %llu [%.*s] [%.*s]", (unsigned long long)v->major, (unsigned long long)v->minor,
                    (unsigned long long)v->patch, STR_ARG(v->prerelease), STR_ARG(v->metadata));
        return value_put(a, value_of_str(buf_to_arena(&b, a)));
}

const struct value *run_semver(struct arena *a, const struct value *c)
{
        _cleanup_err_ struct err err = { 0 };
        const struct value *text = value_get(c, STR("constraint"));
        const struct semver_constraint *constraint = NULL;
        struct semver v;

        if (text && semver_constraint_parse_quoting(a, value_str(text), &constraint, &err) < 0)
                return result_error(a, &err);
        if (semver_parse(value_str(value_get(c, STR("version"))), &v, &err) < 0)
                return result_error(a, &err);
        return text ? value_put(a, value_of_bool(semver_constraint_check(constraint, &v))) : version_text(a, &v);
}
