/* Versions. */
#include "sprig.h"

#include "sprig-version.h"

#define METHOD(name) \
        static int name(struct gt_context *c, const struct gt_value *arguments, size_t n, struct gt_value *ret)

static int return_int64(uint64_t number, struct gt_value *ret)
{
        *ret = gt_uint64(number);
        return 0;
}

METHOD(version_major)
{
        return return_int64(sprig_version_of(arguments[0])->major, ret);
}

METHOD(version_minor)
{
        return return_int64(sprig_version_of(arguments[0])->minor, ret);
}

METHOD(version_patch)
{
        return return_int64(sprig_version_of(arguments[0])->patch, ret);
}

METHOD(version_prerelease)
{
        return sprig_return_text(sprig_version_of(arguments[0])->prerelease, ret);
}

METHOD(version_metadata)
{
        return sprig_return_text(sprig_version_of(arguments[0])->metadata, ret);
}

METHOD(version_original)
{
        return sprig_return_text(sprig_version_of(arguments[0])->original, ret);
}

static void print_version(struct gt_context *c, const struct gt_object *o, struct buf *b)
{
        semver_append(b, &((const struct sprig_version *)o)->version);
}

METHOD(version_string)
{
        _cleanup_buf_ struct buf b = BUF_INIT(gt_max_text(c));

        print_version(c, arguments[0].object, &b);
        return gt_take_text(c, &b, ret);
}

static int compare(const struct gt_value *arguments)
{
        return semver_compare(sprig_version_of(arguments[0]), sprig_version_of(arguments[1]));
}

METHOD(version_compare)
{
        int order = compare(arguments);

        *ret = gt_int((order > 0) - (order < 0));
        return 0;
}

METHOD(version_equal)
{
        return sprig_return_bool(compare(arguments) == 0, ret);
}

METHOD(version_less)
{
        return sprig_return_bool(compare(arguments) < 0, ret);
}

METHOD(version_less_equal)
{
        return sprig_return_bool(compare(arguments) <= 0, ret);
}

METHOD(version_greater)
{
        return sprig_return_bool(compare(arguments) > 0, ret);
}

METHOD(version_greater_equal)
{
        return sprig_return_bool(compare(arguments) >= 0, ret);
}

/* --- The next version --- */

METHOD(version_inc_major)
{
        *ret = sprig_make_version(c, (struct semver) { .major = sprig_version_of(arguments[0])->major + 1 });
        return 0;
}

METHOD(version_inc_minor)
{
        const struct semver *v = sprig_version_of(arguments[0]);

        *ret = sprig_make_version(c, (struct semver) { .major = v->major, .minor = v->minor + 1 });
        return 0;
}

/* A prerelease becomes its release. */
METHOD(version_inc_patch)
{
        const struct semver *v = sprig_version_of(arguments[0]);

        *ret = sprig_make_version(c, (struct semver) { .major = v->major,
                                                       .minor = v->minor,
                                                       .patch = v->patch + (v->prerelease.n == 0) });
        return 0;
}

static int version_to_json(struct gt_context *c, const struct gt_object *o, struct value *ret, struct err *err)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        print_version(c, o, &b);
        *ret = value_of_str(arena_copy(c->arena, buf_str(&b)));
        return 0;
}

static const struct gt_func version_methods[] = {
        { "Compare", "V", version_compare, 0, 0 },          { "Equal", "V", version_equal, 0, 0 },
        { "GreaterThan", "V", version_greater, 0, 0 },      { "GreaterThanEqual", "V", version_greater_equal, 0, 0 },
        { "IncMajor", "", version_inc_major, 0, 0 },        { "IncMinor", "", version_inc_minor, 0, 0 },
        { "IncPatch", "", version_inc_patch, 0, 0 },        { "LessThan", "V", version_less, 0, 0 },
        { "LessThanEqual", "V", version_less_equal, 0, 0 }, { "Major", "", version_major, 0, 0 },
        { "Metadata", "", version_metadata, 0, 0 },         { "Minor", "", version_minor, 0, 0 },
        { "Original", "", version_original, 0, 0 },         { "Patch", "", version_patch, 0, 0 },
        { "Prerelease", "", version_prerelease, 0, 0 },     { "String", "", version_string, 0, 0 },
};

static const struct gt_class version_class = {
        .type_name = STR_INIT("*semver.Version"),
        .kind = GT_KIND_PTR,
        .methods = version_methods,
        .n_methods = ARRAY_SIZE(version_methods),
        .print = print_version,
        .to_json = version_to_json,
        .is_comparable = true,
};

struct gt_value sprig_make_version(struct gt_context *c, struct semver v)
{
        struct sprig_version *s = ARENA_NEW(c->arena, struct sprig_version);

        s->object.class_of = &version_class;
        s->version = v;
        return gt_object(&s->object);
}

/* --- Functions --- */

SPRIG(semver)
{
        _cleanup_err_ struct err err = { 0 };
        struct semver v;

        if (semver_parse(gt_str(arguments[0]), &v, &err) < 0)
                return gt_fail(c, "%s", err_message(&err));
        *ret = sprig_make_version(c, v);
        return 0;
}

SPRIG(semver_compare)
{
        _cleanup_err_ struct err err = { 0 };
        const struct semver_constraint *constraint;
        struct semver v;

        if (semver_constraint_parse(c->arena, gt_str(arguments[0]), &constraint, &err) < 0 ||
            semver_parse(gt_str(arguments[1]), &v, &err) < 0)
                return gt_fail(c, "%s", err_message(&err));
        return sprig_return_bool(semver_constraint_check(constraint, &v), ret);
}
