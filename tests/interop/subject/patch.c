#include "subject.h"

#include "patch.h"

const struct value *run_patch(struct arena *a, const struct value *c)
{
        struct str op = value_str(value_get(c, STR("op")));
        const struct value *doc = value_get(c, STR("doc")), *patch = value_get(c, STR("patch")), *result;

        if (str_equal(op, STR("merge")))
                result = merge_patch_apply(a, doc, patch);
        else if (str_equal(op, STR("create")))
                result = merge_patch_create(a, doc, patch);
        else if (json_patch_apply(a, doc, patch, &result, NULL) < 0)
                return value_with(a, &value_empty_object, STR("failed"), &value_true);
        return value_with(a, &value_empty_object, STR("value"), typed(a, result));
}
