/* The checks of the input before anything runs. The first problem is reported. The order of the checks is upstream's, with its
 * oddities: errors in patch sets do not name their place, of combining patches only the variables are checked, and the reference to
 * the secret is not checked at all. */
#include "pt-transform.h"

#include <stdio.h>

#include "buf.h"
#include "gotext.h"
#include "json.h"
#include "limits.h"

/* A position in the input, for errors: a chain on the stack, innermost first; NULL is the top. */
struct pt_place {
        const struct pt_place *outer;
        const char *name;
        size_t index; /* SIZE_MAX: none */
};

#define AT_NAME(outer, name)        (&(struct pt_place) { (outer), (name), SIZE_MAX })
#define AT_ITEM(outer, name, index) (&(struct pt_place) { (outer), (name), (index) })

static void append_place(struct buf *b, const struct pt_place *place)
{
        if (!place)
                return;
        append_place(b, place->outer);
        buf_appendf(b, "%s%s", b->n && place->name[0] != '[' ? "." : "", place->name);
        if (place->index != SIZE_MAX)
                buf_appendf(b, "[%zu]", place->index);
}

static int required(const struct pt_place *place, const char *member, const char *text, struct err *err)
{
        _cleanup_buf_ struct buf b = BUF_INIT(LIMIT_PATH_BYTES);

        append_place(&b, AT_NAME(place, member));
        return err_set(err, ERR_INVALID, "%s: Required value: %s", buf_cstring(&b), text);
}

static int invalid(const struct pt_place *place, const char *member, struct str quoted, const char *text,
                   struct err *err)
{
        _cleanup_buf_ struct buf b = BUF_INIT(LIMIT_PATH_BYTES);

        append_place(&b, AT_NAME(place, member));
        return err_set(err, ERR_INVALID, "%s: Invalid value: %.*s: %s", buf_cstring(&b), STR_ARG(quoted), text);
}

static int invalid_text(const struct pt_place *place, const char *member, struct str value, const char *text,
                        struct err *err)
{
        _cleanup_buf_ struct buf quoted = BUF_INIT(0);

        json_write_string(&quoted, value, JSON_GO);
        return invalid(place, member, buf_str(&quoted), text, err);
}

/* As invalid_text, for values that are plain strings in Go, which quotes them differently. */
static int invalid_string(const struct pt_place *place, const char *member, struct str value, const char *text,
                          struct err *err)
{
        _cleanup_buf_ struct buf quoted = BUF_INIT(0);

        go_append_quoted(&quoted, value);
        return invalid(place, member, buf_str(&quoted), text, err);
}

/* --- Transforms --- */

const char *const pt_math_names[PT_N_MATH_TYPES] = { "Multiply", "ClampMin", "ClampMax" };
const char *const pt_string_names[PT_N_STRING_TYPES] = { "Format", "Convert", "TrimPrefix", "TrimSuffix",
                                                         "Regexp", "Join",    "Replace" };
const char *const pt_convert_names[PT_N_CONVERT_TYPES] = { "string",  "int",    "int64", "bool",
                                                           "float64", "object", "array" };
const char *const pt_convert_format_names[PT_N_CONVERT_FORMATS] = { "none", "quantity", "json" };

int pt_math_check(const struct pt_place *place, const struct pt_math *math, enum pt_math_type *ret, struct err *err)
{
        static const struct {
                const char *member;
                size_t offset;
                const char *text;
        } needs[PT_N_MATH_TYPES] = {
                [PT_MULTIPLY] = { "multiply", offsetof(struct pt_math, multiply),
                                  "must specify a value if a multiply math transform is specified" },
                [PT_CLAMP_MIN] = { "clampMin", offsetof(struct pt_math, clamp_min),
                                   "must specify a value if a clamp min math transform is specified" },
                [PT_CLAMP_MAX] = { "clampMax", offsetof(struct pt_math, clamp_max),
                                   "must specify a value if a clamp max math transform is specified" },
        };
        int type = pt_find(math->type, pt_math_names, PT_N_MATH_TYPES);

        if (math->type.n == 0)
                return required(place, "type", "math transform type is required", err);
        if (type < 0)
                return invalid_text(place, "type", math->type, "unknown math transform type", err);
        if (!((const struct input_int *)((const char *)math + needs[type].offset))->is_set)
                return required(place, needs[type].member, needs[type].text, err);
        *ret = (enum pt_math_type)type;
        return 0;
}

int pt_convert_check(const struct pt_place *place, const struct pt_convert *convert, enum pt_convert_type *ret,
                     enum pt_convert_format *ret_format, struct err *err)
{
        int format = convert->format.p ? pt_find(convert->format, pt_convert_format_names, PT_N_CONVERT_FORMATS)
                                       : PT_FORMAT_NONE;
        int type = pt_find(convert->to_type, pt_convert_names, PT_N_CONVERT_TYPES);

        if (format < 0)
                return invalid_text(place, "format", convert->format, "invalid format", err);
        if (type < 0)
                return invalid_text(place, "toType", convert->to_type, "invalid type", err);
        *ret = (enum pt_convert_type)type;
        *ret_format = (enum pt_convert_format)format;
        return 0;
}

static int check_expression(const struct run *run, const struct pt_place *place, const char *member,
                            struct pt_expression *e, struct err *err)
{
        _cleanup_err_ struct err problem = { 0 };
        int r = bounds_check(run, err);

        if (r < 0)
                return r;
        r = pt_compile(run->arena, e, &problem);
        if (r == ERR_LIMIT)
                return invalid_string(place, member, e->text, err_message(&problem), err);
        return r < 0 ? invalid_string(place, member, e->text, "invalid regexp", err) : 0;
}

static int check_pattern(const struct run *run, const struct pt_place *place, struct pt_pattern *p, struct err *err)
{
        if (p->type.n == 0 || str_equal(p->type, STR("literal"))) {
                if (!p->literal.p)
                        return required(place, "literal", "literal pattern type requires a literal", err);
                return 0;
        }
        if (!str_equal(p->type, STR("regexp")))
                return invalid_text(place, "type", p->type, "unknown pattern type", err);
        if (!p->regexp.text.p)
                return required(place, "regexp", "regexp pattern type requires a regexp", err);
        return check_expression(run, place, "regexp", &p->regexp, err);
}

static int check_match(const struct run *run, const struct pt_place *place, struct pt_match *match, struct err *err)
{
        struct pt_pattern *patterns = match->patterns.p;

        if (match->patterns.n == 0)
                return required(place, "patterns",
                                "at least one pattern must be specified if a match transform is specified", err);
        for (size_t i = 0; i < match->patterns.n; i++) {
                int r = check_pattern(run, AT_ITEM(place, "patterns", i), &patterns[i], err);

                if (r < 0)
                        return r;
        }
        return 0;
}

static int check_string_regexp(const struct run *run, const struct pt_place *place, struct pt_regexp *regexp,
                               struct err *err)
{
        if (!regexp)
                return required(place, "regexp", "regexp transform requires a regexp", err);
        place = AT_NAME(place, "regexp");
        if (regexp->match.text.n == 0)
                return required(place, "match", "regexp transform requires a match", err);
        return check_expression(run, place, "match", &regexp->match, err);
}

static int check_replace(const struct pt_place *place, const struct pt_replace *replace, struct err *err)
{
        if (!replace)
                return required(place, "replace", "replace transform requires a replace", err);
        if (replace->search.n == 0)
                return required(AT_NAME(place, "replace"), "search", "replace transform requires a search", err);
        return 0;
}

static int check_string(const struct run *run, const struct pt_place *place, struct pt_string *s, struct err *err)
{
        int type = pt_find(s->type, pt_string_names, PT_N_STRING_TYPES);

        if (s->type.n == 0)
                return required(place, "type", "string transform type is required", err);
        if (type < 0)
                return invalid_text(place, "type", s->type, "unknown string transform type", err);
        switch ((enum pt_string_type)type) {
        case PT_FORMAT:
                return s->format.p ? 0 : required(place, "fmt", "format transform requires a format", err);
        case PT_CONVERT:
                return s->convert.p ? 0
                                    : required(place, "convert", "convert transform requires a conversion type", err);
        case PT_TRIM_PREFIX:
        case PT_TRIM_SUFFIX:
                return s->trim.p ? 0 : required(place, "trim", "trim transform requires a trim value", err);
        case PT_REGEXP:
                return check_string_regexp(run, place, s->regexp, err);
        case PT_JOIN:
                return s->join ? 0 : required(place, "join", "join transform requires a join", err);
        case PT_REPLACE:
                return check_replace(place, s->replace, err);
        case PT_N_STRING_TYPES:
                break;
        }
        return 0;
}

static int needs_configuration(const struct pt_place *place, const char *type, struct err *err)
{
        char text[64];

        snprintf(text, sizeof(text), "given transform type %s requires configuration", type);
        return required(place, type, text, err);
}

static int check_transform(const struct run *run, const struct pt_place *place, struct pt_transform *t, struct err *err)
{
        static const char *const types[] = { "math", "map", "match", "string", "convert" };
        enum pt_convert_format format;
        enum pt_convert_type to_type;
        enum pt_math_type math_type;

        switch (pt_find(t->type, types, ARRAY_SIZE(types))) {
        case 0:
                return t->math ? pt_math_check(AT_NAME(place, "math"), t->math, &math_type, err)
                               : needs_configuration(place, "math", err);
        case 1:
                if (!t->map)
                        return needs_configuration(place, "map", err);
                if (value_count(t->map) == 0)
                        return required(AT_NAME(place, "map"), "pairs",
                                        "at least one pair must be specified if a map transform is specified", err);
                return 0;
        case 2:
                return t->match ? check_match(run, AT_NAME(place, "match"), t->match, err)
                                : needs_configuration(place, "match", err);
        case 3:
                return t->string ? check_string(run, AT_NAME(place, "string"), t->string, err)
                                 : needs_configuration(place, "string", err);
        case 4:
                return t->convert ? pt_convert_check(AT_NAME(place, "convert"), t->convert, &to_type, &format, err)
                                  : needs_configuration(place, "convert", err);
        }
        return invalid_text(place, "type", t->type, "unknown transform type", err);
}

/* --- Patches --- */

/* The error for a member that the patch type requires. */
static int needs_member(const struct pt_place *place, const struct pt_patch *patch, const char *member, struct err *err)
{
        _cleanup_buf_ struct buf text = BUF_INIT(0);
        struct str type = pt_patch_type_name(patch);

        buf_appendf(&text, "%s must be set for patch type %.*s", member, STR_ARG(type));
        return required(place, member, buf_cstring(&text), err);
}

static int check_combine(const struct pt_place *place, const struct pt_combine *c, struct err *err)
{
        const struct pt_variable *variables = c->variables.p;

        if (c->strategy.n == 0)
                return required(place, "strategy", "a combine strategy must be provided", err);
        if (!str_equal(c->strategy, STR("string")))
                return invalid_text(place, "strategy", c->strategy, "unknown strategy type", err);
        if (!c->string)
                return required(place, "string", "string must be set for combine strategy string", err);
        if (c->variables.n == 0)
                return required(place, "variables", "at least one variable must be provided", err);
        for (size_t i = 0; i < c->variables.n; i++)
                if (variables[i].from.text.n == 0)
                        return required(AT_ITEM(place, "variables", i), "fromFieldPath",
                                        "fromFieldPath must be set for each combine variable", err);
        return 0;
}

static int check_combine_patch(const struct pt_place *place, const struct pt_patch *patch, struct err *err)
{
        if (!patch->combine)
                return needs_member(place, patch, "combine", err);
        if ((patch->to.text.p ? patch->to.text : patch->from.text).n == 0)
                return needs_member(place, patch, "toFieldPath", err);
        return check_combine(AT_NAME(place, "combine"), patch->combine, err);
}

static int check_policy(const struct pt_place *place, const struct pt_policy *policy, struct err *err)
{
        place = AT_NAME(place, "policy");
        if (policy->to.p && !pt_merge_policy(policy->to))
                return invalid_text(place, "toFieldPathPolicy", policy->to, "unknown toFieldPathPolicy", err);
        if (policy->from.p && !str_equal(policy->from, STR("Required")) && !str_equal(policy->from, STR("Optional")))
                return invalid_text(place, "fromFieldPathPolicy", policy->from, "unknown fromFieldPathPolicy", err);
        return 0;
}

/* Checks a reference to a patch set, which only patches of a resource may be. */
static int check_set_patch(const struct pt_place *place, const struct pt_patch *patch, bool may_be_set, struct err *err)
{
        if (!str_equal(patch->type, STR("PatchSet")))
                return invalid_text(place, "type", patch->type, "unknown patch type", err);
        if (!may_be_set)
                return invalid_text(place, "type", patch->type,
                                    "patch type *v1beta1.PatchSetPatch does not support patch of type PatchSet", err);
        return patch->set_name.n ? 0 : needs_member(place, patch, "patchSetName", err);
}

static int check_patch(const struct run *run, const struct pt_place *place, const struct pt_patch *patch,
                       bool may_be_set, struct err *err)
{
        const struct pt_patch_type *type = pt_patch_type(patch);
        struct pt_transform *transforms = patch->transforms.p;
        int r = 0;

        if (!type)
                r = check_set_patch(place, patch, may_be_set, err);
        else if (type->is_combine)
                return check_combine_patch(place, patch, err);
        else if (patch->from.text.n == 0)
                r = needs_member(place, patch, "fromFieldPath", err);
        for (size_t i = 0; r >= 0 && i < patch->transforms.n; i++)
                r = check_transform(run, AT_ITEM(place, "transforms", i), &transforms[i], err);
        if (r >= 0 && patch->policy)
                r = check_policy(place, patch->policy, err);
        return r;
}

static int check_patches(const struct run *run, const struct pt_place *place, const struct input_list *list,
                         bool may_be_set, struct err *err)
{
        const struct pt_patch *patches = list->p;
        int r = 0;

        for (size_t i = 0; r >= 0 && i < list->n; i++)
                r = check_patch(run, AT_ITEM(place, "patches", i), &patches[i], may_be_set, err);
        return r;
}

static bool is_environment_patch(const struct pt_patch *patch)
{
        static const char *const types[] = { "FromCompositeFieldPath",   "ToCompositeFieldPath",
                                             "CombineFromComposite",     "CombineToComposite",
                                             "FromEnvironmentFieldPath", "ToEnvironmentFieldPath" };

        return pt_find(pt_patch_type_name(patch), types, ARRAY_SIZE(types)) >= 0;
}

static int check_environment(const struct run *run, const struct pt_environment *environment, struct err *err)
{
        struct pt_place here = { .name = "environment", .index = SIZE_MAX };
        const struct pt_patch *patches = environment->patches.p;
        int r = 0;

        for (size_t i = 0; r >= 0 && i < environment->patches.n; i++) {
                struct pt_place item = { .outer = &here, .name = "patches", .index = i };

                if (is_environment_patch(&patches[i]))
                        r = check_patch(run, &item, &patches[i], false, err);
                else
                        r = invalid_text(&item, "[type]", patches[i].type, "invalid environment patch type", err);
        }
        return r;
}

/* --- Templates --- */

static int check_detail(const struct pt_place *place, const struct pt_detail *d, struct err *err)
{
        static const char *const types[] = { "FromValue", "FromConnectionSecretKey", "FromFieldPath" };
        int type = pt_find(d->type, types, ARRAY_SIZE(types));

        if (d->type.n == 0)
                return required(place, "type", "connection detail type is required", err);
        if (type < 0)
                return invalid_string(place, "type", d->type, "unknown connection detail type", err);
        if (d->name.n == 0)
                return required(place, "name", "name is required", err);
        if (type == 0 && !d->value.p)
                return required(place, "value", "value connection detail requires a value", err);
        if (type == 1 && !d->secret_key.p)
                return required(place, "fromConnectionSecretKey",
                                "from connection secret key connection detail requires a key", err);
        if (type == 2 && !d->from.text.p)
                return required(place, "fromFieldPath", "from field path connection detail requires a field path", err);
        return 0;
}

static int check_match_condition(const struct pt_place *place, const struct pt_match_condition *m, struct err *err)
{
        if (!m)
                return 0;
        if (m->type.n == 0)
                return required(place, "type", "cannot be empty for type MatchCondition", err);
        if (m->status.n == 0)
                return required(place, "status", "cannot be empty for type MatchCondition", err);
        return 0;
}

static int check_check(const struct pt_place *place, const struct pt_check *c, struct err *err)
{
        switch (pt_find(c->type, pt_check_names, PT_N_CHECK_TYPES)) {
        case PT_NONE:
                return 0;
        case PT_MATCH_CONDITION:
                return check_match_condition(AT_NAME(place, "matchCondition"), c->match_condition, err);
        case PT_MATCH_STRING:
                if (!c->match_string.p)
                        return required(place, "matchString", "cannot be nil for type MatchString", err);
                break;
        case PT_MATCH_INTEGER:
                if (!c->match_integer.is_set)
                        return required(place, "matchInteger", "cannot be nil for type MatchInteger", err);
                break;
        case -1:
                return invalid_string(place, "type", c->type, "unknown readiness check type", err);
        }
        return c->path.text.p ? 0 : required(place, "fieldPath", "cannot be empty", err);
}

static int check_template(const struct run *run, const struct pt_place *place, const struct pt_template *t,
                          struct err *err)
{
        const struct pt_detail *details = t->details.p;
        const struct pt_check *checks = t->checks.p;
        int r;

        if (t->name.n == 0)
                return required(place, "name", "name is required", err);
        r = check_patches(run, place, &t->patches, true, err);
        for (size_t i = 0; r >= 0 && i < t->details.n; i++)
                r = check_detail(AT_ITEM(place, "connectionDetails", i), &details[i], err);
        for (size_t i = 0; r >= 0 && i < t->checks.n; i++)
                r = check_check(AT_ITEM(place, "readinessChecks", i), &checks[i], err);
        return r;
}

int pt_validate(const struct run *run, const struct pt_input *input, struct err *err)
{
        const struct pt_patch_set *sets = input->patch_sets.p;
        const struct pt_template *templates = input->templates.p;
        int r = 0;

        for (size_t i = 0; r >= 0 && i < input->patch_sets.n; i++) {
                if (sets[i].name.n == 0)
                        return required(NULL, "name", "name is required", err);
                r = check_patches(run, NULL, &sets[i].patches, false, err);
        }
        if (r < 0)
                return r;
        if (input->templates.n == 0 && (!input->environment || input->environment->patches.n == 0))
                return required(NULL, "resources", "resources or environment patches are required", err);
        for (size_t i = 0; r >= 0 && i < input->templates.n; i++)
                r = check_template(run, AT_ITEM(NULL, "resources", i), &templates[i], err);
        if (r >= 0 && input->environment)
                r = check_environment(run, input->environment, err);
        return r;
}
