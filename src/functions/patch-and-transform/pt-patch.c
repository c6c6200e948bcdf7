/* One patch: get a value or combine several, transform it, and merge it into another object. Errors have upstream's texts; policies
 * depend on whether an error is NotFound. */
#include "pt.h"

#include "buf.h"
#include "gotext.h"
#include "json.h"
#include "limits.h"

static const struct pt_patch_type patch_types[] = {
        { "FromCompositeFieldPath", PT_COMPOSITE, PT_COMPOSED, false },
        { "FromEnvironmentFieldPath", PT_ENVIRONMENT, PT_COMPOSED, false },
        { "ToCompositeFieldPath", PT_COMPOSED, PT_COMPOSITE, false },
        { "ToEnvironmentFieldPath", PT_COMPOSED, PT_ENVIRONMENT, false },
        { "CombineFromComposite", PT_COMPOSITE, PT_COMPOSED, true },
        { "CombineFromEnvironment", PT_ENVIRONMENT, PT_COMPOSED, true },
        { "CombineToComposite", PT_COMPOSED, PT_COMPOSITE, true },
        { "CombineToEnvironment", PT_COMPOSED, PT_ENVIRONMENT, true },
};

struct str pt_patch_type_name(const struct pt_patch *patch)
{
        return patch->type.n ? patch->type : str_from(patch_types[0].name);
}

const struct pt_patch_type *pt_patch_type(const struct pt_patch *patch)
{
        struct str name = pt_patch_type_name(patch);

        for (size_t i = 0; i < ARRAY_SIZE(patch_types); i++)
                if (str_equal(name, str_from(patch_types[i].name)))
                        return &patch_types[i];
        return NULL;
}

/* --- Policies --- */

bool pt_patch_is_required(const struct pt_patch *patch)
{
        return patch->policy && str_equal(patch->policy->from, STR("Required"));
}

bool pt_patch_is_optional(const struct pt_patch *patch)
{
        return !patch->policy || !patch->policy->from.p || str_equal(patch->policy->from, STR("Optional"));
}

static const struct pt_merge_policy merge_policies[] = {
        { "Replace", false, { 0 } },
        { "MergeObjects", true, { .keeps_map_values = true } },
        { "MergeObjectsAppendArrays", true, { .keeps_map_values = true, .appends_slices = true } },
        { "ForceMergeObjects", true, { 0 } },
        { "ForceMergeObjectsAppendArrays", true, { .appends_slices = true } },
        { "MergeObject", true, { .keeps_map_values = true } },
        { "AppendArray", true, { .appends_slices = true } },
};

const struct pt_merge_policy *pt_merge_policy(struct str name)
{
        for (size_t i = 0; i < ARRAY_SIZE(merge_policies); i++)
                if (str_equal(name, str_from(merge_policies[i].name)))
                        return &merge_policies[i];
        return NULL;
}

/* *ret is NULL for plain replacement. */
static int merge_options(const struct pt_patch *patch, const struct merge_options **ret, struct err *err)
{
        struct str name = patch->policy ? patch->policy->to : STR_NONE;
        const struct pt_merge_policy *policy = name.p ? pt_merge_policy(name) : &merge_policies[0];

        if (!policy)
                return err_set(err, ERR_INVALID, "invalid patch policy %.*s", STR_ARG(name));
        *ret = policy->merges ? &policy->options : NULL;
        return 0;
}

/* --- Paths --- */

int pt_path_parse(struct arena *a, struct pt_path *path, struct err *err)
{
        struct str quoted;

        if (path->is_parsed)
                return 0;
        if (path_parse(a, path->text, &path->path, err) < 0) {
                quoted = go_quote(a, path->text);
                return err_wrap(err, "cannot parse path %.*s", STR_ARG(quoted));
        }
        path->is_parsed = true;
        return 0;
}

int pt_get(struct arena *a, const struct pt_object *object, struct pt_path *path, const struct value **ret,
           struct err *err)
{
        const struct value *v;
        int r = pt_path_parse(a, path, err);

        if (r >= 0)
                r = path_get_segments(a, object->root, &path->path, &v, err);
        if (r < 0)
                return r;
        *ret = object->is_settled ? v : fn_value_numbers(a, v);
        return 0;
}

/* --- Writing --- */

bool pt_has_kind(const struct value *object)
{
        return value_str(value_get(object, STR("kind"))).n > 0;
}

/* Ends an edit as upstream does: the object is written as JSON and read again by the rules of Kubernetes. If that fails, the edit
 * stays, which is visible when the error is ignored. */
static int reread(struct arena *a, struct pt_object *object, const struct value *root, struct err *err)
{
        struct str text;
        int r;

        object->root = root;
        if (!pt_has_kind(root)) {
                r = json_to_str(a, root, JSON_GO, &text, err);
                return r < 0 ? r : err_set(err, ERR_INVALID, "Object 'Kind' is missing in '%.*s'", STR_ARG(text));
        }
        if (!object->is_settled) {
                r = value_settle(a, root, &object->root, err);
                if (r < 0)
                        return r;
        }
        object->is_settled = true;
        return arena_check(a, err);
}

static int merge_at(struct arena *a, const struct pt_object *object, const struct value *root, const struct path *path,
                    const struct value *v, const struct merge_options *options, const struct value **ret,
                    struct err *err)
{
        /* Appending arrays compares elements, so the numbers of both sides must have the same form. */
        if (options && options->appends_slices && !object->is_settled)
                root = fn_value_numbers(a, root);
        return path_merge_segments(a, root, path, v, options, ret, err);
}

static int patch_to(struct arena *a, struct pt_object *to, struct pt_path *path, const struct value *v,
                    const struct merge_options *options, struct err *err)
{
        const struct value *root;
        int r = pt_path_parse(a, path, err);

        if (r >= 0)
                r = merge_at(a, to, to->root, &path->path, v, options, &root, err);
        if (r >= 0)
                r = reread(a, to, root, err);
        return r < 0 ? err_wrap(err, "cannot patch to object") : 0;
}

/* Patches every existing place that the wildcards match. */
static int patch_to_all(struct arena *a, struct pt_object *to, struct str path, const struct value *v,
                        const struct merge_options *options, struct err *err)
{
        const struct value *places, *root = to->root;
        int r = path_expand(a, root, path, &places, err);

        if (r < 0)
                return r;
        if (value_count(places) == 0)
                return err_set(err, ERR_INVALID, "cannot expand ToFieldPath %.*s", STR_ARG(path));
        VALUE_FOREACH_ITEM (place, places) {
                struct pt_path one = { .text = value_str(place) };

                r = pt_path_parse(a, &one, err);
                if (r >= 0)
                        r = merge_at(a, to, root, &one.path, v, options, &root, err);
                if (r >= 0)
                        r = arena_check(a, err);
                if (r < 0) {
                        to->root = root;
                        return r;
                }
        }
        return reread(a, to, root, err);
}

/* --- The two shapes of patches --- */

static struct pt_path *target_path(struct pt_patch *patch)
{
        return patch->to.text.p ? &patch->to : &patch->from;
}

static int apply_field(const struct run *run, struct pt_patch *patch, const struct pt_object *from,
                       struct pt_object *to, struct err *err)
{
        struct arena *a = run->arena;
        struct pt_path *path = target_path(patch);
        const struct merge_options *options;
        const struct value *v;
        int r = pt_get(a, from, &patch->from, &v, err);

        if (r >= 0)
                r = pt_transform(run, &patch->transforms, v, &v, err);
        if (r < 0)
                return r;
        r = value_settle(a, v, &v, err);
        if (r < 0)
                return err_wrap(err, "cannot marshal value to JSON");
        r = merge_options(patch, &options, err);
        if (r < 0)
                return r;
        if (str_find(path->text, STR("[*]")) >= 0)
                return patch_to_all(a, to, path->text, v, options, err);
        return patch_to(a, to, path, v, options, err);
}

static int combine(struct arena *a, const struct pt_combine *combine, const struct pt_object *from,
                   const struct value **ret, struct err *err)
{
        _cleanup_buf_ struct buf b = BUF_INIT(LIMIT_TRANSFORM_BYTES);
        struct pt_variable *variables = combine->variables.p;
        const struct value **values = ARENA_NEW_ARRAY(a, const struct value *, combine->variables.n + 1);
        int r;

        for (size_t i = 0; i < combine->variables.n; i++) {
                r = pt_get(a, from, &variables[i].from, &values[i], err);
                if (r < 0)
                        return r;
        }
        if (!str_equal(combine->strategy, STR("string")))
                return err_set(err, ERR_INVALID, "combine strategy %.*s is not supported", STR_ARG(combine->strategy));
        if (!combine->string)
                return err_set(err, ERR_INVALID, "given combine strategy string requires configuration");
        go_sprintf(&b, combine->string->format, values, combine->variables.n, GO_FORMAT_INTEGRAL_DOUBLES);
        r = buf_check(&b, "the combined string", err);
        if (r < 0)
                return r;
        *ret = value_put(a, value_of_str(buf_to_arena(&b, a)));
        return 0;
}

static int apply_combine(const struct run *run, struct pt_patch *patch, const struct pt_object *from,
                         struct pt_object *to, struct err *err)
{
        struct arena *a = run->arena;
        const struct merge_options *options;
        const struct value *v;
        int r;

        if (!patch->combine)
                return err_set(err, ERR_INVALID, "combine must be set for patch type %.*s", STR_ARG(patch->type));
        r = combine(a, patch->combine, from, &v, err);
        if (r >= 0)
                r = pt_transform(run, &patch->transforms, v, &v, err);
        if (r >= 0)
                r = merge_options(patch, &options, err);
        if (r < 0)
                return r;
        return patch_to(a, to, target_path(patch), v, options, err);
}

int pt_apply(const struct run *run, struct pt_patch *patch, const struct pt_object *from, struct pt_object *to,
             struct err *err)
{
        return pt_patch_type(patch)->is_combine ? apply_combine(run, patch, from, to, err)
                                                : apply_field(run, patch, from, to, err);
}
