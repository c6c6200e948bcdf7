/* The input of patch-and-transform as tables, and the checks before anything runs. The first problem is reported. The order of the
 * checks is upstream's, with its oddities: errors in patch sets do not name their place, and of combining patches only the
 * variables are checked. */
#include "pt-transform.h"

#include "environment.h"
#include "gotext.h"

#define LIST(c_type, member, name, type)                             \
        {                                                            \
                name, INPUT_OBJECTS, offsetof(c_type, member), &type \
        }
#define OBJECT(c_type, member, name, type)                          \
        {                                                           \
                name, INPUT_OBJECT, offsetof(c_type, member), &type \
        }
#define FIELD(c_type, member, name, kind)            \
        {                                            \
                name, kind, offsetof(c_type, member) \
        }

/* --- Tables --- */

static const struct input_field math_fields[] = {
        FIELD(struct pt_math, type, "type", INPUT_STRING),
        FIELD(struct pt_math, multiply, "multiply", INPUT_INT),
        FIELD(struct pt_math, clamp_min, "clampMin", INPUT_INT),
        FIELD(struct pt_math, clamp_max, "clampMax", INPUT_INT),
};
static const struct input_type math_type = INPUT_TYPE(struct pt_math, math_fields);

static const struct input_field pattern_fields[] = {
        FIELD(struct pt_pattern, type, "type", INPUT_STRING),
        FIELD(struct pt_pattern, literal, "literal", INPUT_STRING),
        FIELD(struct pt_pattern, regexp.text, "regexp", INPUT_STRING),
        FIELD(struct pt_pattern, result, "result", INPUT_ANY),
};
static const struct input_type pattern_type = INPUT_TYPE(struct pt_pattern, pattern_fields);

static const struct input_field match_fields[] = {
        LIST(struct pt_match, patterns, "patterns", pattern_type),
        FIELD(struct pt_match, fallback_value, "fallbackValue", INPUT_ANY),
        FIELD(struct pt_match, fallback_to, "fallbackTo", INPUT_STRING),
};
static const struct input_type match_type = INPUT_TYPE(struct pt_match, match_fields);

static const struct input_field regexp_fields[] = {
        FIELD(struct pt_regexp, match.text, "match", INPUT_STRING),
        FIELD(struct pt_regexp, group, "group", INPUT_INT),
};
static const struct input_type regexp_type = INPUT_TYPE(struct pt_regexp, regexp_fields);

static const struct input_field join_fields[] = {
        FIELD(struct pt_join, separator, "separator", INPUT_STRING),
};
static const struct input_type join_type = INPUT_TYPE(struct pt_join, join_fields);

static const struct input_field replace_fields[] = {
        FIELD(struct pt_replace, search, "search", INPUT_STRING),
        FIELD(struct pt_replace, replace, "replace", INPUT_STRING),
};
static const struct input_type replace_type = INPUT_TYPE(struct pt_replace, replace_fields);

static const struct input_field string_fields[] = {
        FIELD(struct pt_string, type, "type", INPUT_STRING),
        FIELD(struct pt_string, format, "fmt", INPUT_STRING),
        FIELD(struct pt_string, convert, "convert", INPUT_STRING),
        FIELD(struct pt_string, trim, "trim", INPUT_STRING),
        OBJECT(struct pt_string, regexp, "regexp", regexp_type),
        OBJECT(struct pt_string, join, "join", join_type),
        OBJECT(struct pt_string, replace, "replace", replace_type),
};
static const struct input_type string_type = INPUT_TYPE(struct pt_string, string_fields);

static const struct input_field convert_fields[] = {
        FIELD(struct pt_convert, to_type, "toType", INPUT_STRING),
        FIELD(struct pt_convert, format, "format", INPUT_STRING),
};
static const struct input_type convert_type = INPUT_TYPE(struct pt_convert, convert_fields);

static const struct input_field transform_fields[] = {
        FIELD(struct pt_transform, type, "type", INPUT_STRING),
        FIELD(struct pt_transform, map, "map", INPUT_MAP),
        OBJECT(struct pt_transform, match, "match", match_type),
        OBJECT(struct pt_transform, math, "math", math_type),
        OBJECT(struct pt_transform, string, "string", string_type),
        OBJECT(struct pt_transform, convert, "convert", convert_type),
};
static const struct input_type transform_type = INPUT_TYPE(struct pt_transform, transform_fields);

static const struct input_field variable_fields[] = {
        FIELD(struct pt_variable, from.text, "fromFieldPath", INPUT_STRING),
};
static const struct input_type variable_type = INPUT_TYPE(struct pt_variable, variable_fields);

static const struct input_field combine_string_fields[] = {
        FIELD(struct pt_combine_string, format, "fmt", INPUT_STRING),
};
static const struct input_type combine_string_type = INPUT_TYPE(struct pt_combine_string, combine_string_fields);

static const struct input_field combine_fields[] = {
        LIST(struct pt_combine, variables, "variables", variable_type),
        FIELD(struct pt_combine, strategy, "strategy", INPUT_STRING),
        OBJECT(struct pt_combine, string, "string", combine_string_type),
};
static const struct input_type combine_type = INPUT_TYPE(struct pt_combine, combine_fields);

static const struct input_field policy_fields[] = {
        FIELD(struct pt_policy, from, "fromFieldPath", INPUT_STRING),
        FIELD(struct pt_policy, to, "toFieldPath", INPUT_STRING),
};
static const struct input_type policy_type = INPUT_TYPE(struct pt_policy, policy_fields);

/* Only patches of resources have patchSetName, which is the last field. */
static const struct input_field patch_fields[] = {
        FIELD(struct pt_patch, type, "type", INPUT_STRING),
        FIELD(struct pt_patch, from.text, "fromFieldPath", INPUT_STRING),
        FIELD(struct pt_patch, to.text, "toFieldPath", INPUT_STRING),
        OBJECT(struct pt_patch, combine, "combine", combine_type),
        LIST(struct pt_patch, transforms, "transforms", transform_type),
        OBJECT(struct pt_patch, policy, "policy", policy_type),
        FIELD(struct pt_patch, set_name, "patchSetName", INPUT_STRING),
};
static const struct input_type patch_type = { sizeof(struct pt_patch), patch_fields, ARRAY_SIZE(patch_fields) - 1 };
static const struct input_type composed_patch_type = INPUT_TYPE(struct pt_patch, patch_fields);

static const struct input_field detail_fields[] = {
        FIELD(struct pt_detail, name, "name", INPUT_STRING),
        FIELD(struct pt_detail, type, "type", INPUT_STRING),
        FIELD(struct pt_detail, secret_key, "fromConnectionSecretKey", INPUT_STRING),
        FIELD(struct pt_detail, from.text, "fromFieldPath", INPUT_STRING),
        FIELD(struct pt_detail, value, "value", INPUT_STRING),
};
static const struct input_type detail_type = INPUT_TYPE(struct pt_detail, detail_fields);

static const struct input_field match_condition_fields[] = {
        FIELD(struct pt_match_condition, type, "type", INPUT_STRING),
        FIELD(struct pt_match_condition, status, "status", INPUT_STRING),
};
static const struct input_type match_condition_type = INPUT_TYPE(struct pt_match_condition, match_condition_fields);

static const struct input_field check_fields[] = {
        FIELD(struct pt_check, type, "type", INPUT_STRING),
        FIELD(struct pt_check, path.text, "fieldPath", INPUT_STRING),
        FIELD(struct pt_check, match_string, "matchString", INPUT_STRING),
        FIELD(struct pt_check, match_integer, "matchInteger", INPUT_INT),
        OBJECT(struct pt_check, match_condition, "matchCondition", match_condition_type),
};
static const struct input_type check_type = INPUT_TYPE(struct pt_check, check_fields);

static const struct input_field template_fields[] = {
        FIELD(struct pt_template, name, "name", INPUT_STRING),
        FIELD(struct pt_template, base, "base", INPUT_ANY),
        LIST(struct pt_template, patches, "patches", composed_patch_type),
        LIST(struct pt_template, details, "connectionDetails", detail_type),
        LIST(struct pt_template, checks, "readinessChecks", check_type),
};
static const struct input_type template_type = INPUT_TYPE(struct pt_template, template_fields);

static const struct input_field patch_set_fields[] = {
        FIELD(struct pt_patch_set, name, "name", INPUT_STRING),
        LIST(struct pt_patch_set, patches, "patches", patch_type),
};
static const struct input_type patch_set_type = INPUT_TYPE(struct pt_patch_set, patch_set_fields);

static const struct input_field environment_fields[] = {
        LIST(struct pt_environment, patches, "patches", patch_type),
        LIST(struct pt_environment, sources, "environmentConfigs", environment_source_type),
};
static const struct input_type environment_type = INPUT_TYPE(struct pt_environment, environment_fields);

static const struct input_field secret_ref_fields[] = {
        FIELD(struct pt_secret_ref, name, "name", INPUT_STRING),
        FIELD(struct pt_secret_ref, ns, "namespace", INPUT_STRING),
        LIST(struct pt_secret_ref, patches, "patches", patch_type),
};
static const struct input_type secret_ref_type = INPUT_TYPE(struct pt_secret_ref, secret_ref_fields);

static const struct input_field input_fields[] = {
        LIST(struct pt_input, patch_sets, "patchSets", patch_set_type),
        OBJECT(struct pt_input, environment, "environment", environment_type),
        LIST(struct pt_input, templates, "resources", template_type),
        OBJECT(struct pt_input, secret_ref, "writeConnectionSecretToRef", secret_ref_type),
};
const struct input_type pt_input_type = INPUT_TYPE(struct pt_input, input_fields);
