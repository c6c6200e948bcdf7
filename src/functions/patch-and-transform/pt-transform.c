/* Transforms: map, match, math and convert are here, string is in pt-string.c. Numbers are as in Go: doubles, except where a
 * transform made an int. */
#include "pt-transform.h"

#include "buf.h"
#include "gotext.h"
#include "json.h"
#include "number.h"
#include "quantity.h"
#include "regex.h"

const struct value pt_nil_object = { .type = VALUE_OBJECT };
const struct value pt_nil_array = { .type = VALUE_ARRAY };

/* Converts as amd64 does: toward zero; values that do not fit, and NaN, become the smallest int. */
static int64_t truncate_double(double d)
{
        return d >= -0x1p63 && d < 0x1p63 ? (int64_t)d : INT64_MIN;
}

static void free_regex(void *re)
{
        regex_free(re);
}

int pt_compile(struct arena *a, struct pt_expression *e, struct err *err)
{
        int r;

        if (e->compiled)
                return 0;
        r = regex_compile(e->text, &e->compiled, err);
        if (r >= 0)
                arena_pin(a, e->compiled, free_regex);
        return r;
}

int pt_find(struct str name, const char *const *names, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (str_equal(name, str_from(names[i])))
                        return (int)i;
        return -1;
}

/* --- map --- */

static int transform_map(struct transform *t, const struct value *in, const struct value **ret)
{
        struct str key = value_str(in), type = go_type_name(in);
        const struct value *v;

        if (!value_is_string(in))
                return err_set(t->err, ERR_INVALID, "type %.*s is not supported for map transform", STR_ARG(type));
        v = value_get(t->transform->map, key);
        if (!v)
                return err_set(t->err, ERR_INVALID, "key %.*s is not found in map", STR_ARG(key));
        if (value_is_null(v))
                return err_set(t->err, ERR_INVALID,
                               "value for key %.*s is not valid JSON: unexpected end of JSON input", STR_ARG(key));
        *ret = fn_value_numbers(t->arena, v);
        return 0;
}

/* --- match --- */

static int unsupported_input(struct transform *t, const struct value *in, const char *null_name)
{
        struct str type = value_is_null(in) ? str_from(null_name) : go_type_name(in);

        return err_set(t->err, ERR_INVALID, "unsupported input type '%.*s'", STR_ARG(type));
}

/* Returns 1 when it matches, 0 when it does not. */
static int match_literal(struct transform *t, const struct pt_pattern *p, const struct value *in)
{
        if (!p->literal.p)
                return err_set(t->err, ERR_INVALID, "literal is required by type literal");
        if (!value_is_string(in))
                return unsupported_input(t, in, "<nil>");
        return str_equal(value_str(in), p->literal);
}

static int match_regexp(struct transform *t, struct pt_pattern *p, const struct value *in)
{
        if (!p->regexp.text.p)
                return err_set(t->err, ERR_INVALID, "regexp is required by type regexp");
        if (pt_compile(t->arena, &p->regexp, t->err) < 0)
                return err_wrap(t->err, "cannot compile regexp");
        if (!value_is_string(in))
                return unsupported_input(t, in, "null");
        return regex_matches(p->regexp.compiled, value_str(in));
}

static int match_pattern(struct transform *t, struct pt_pattern *p, const struct value *in)
{
        if (str_equal(p->type, STR("literal")))
                return match_literal(t, p, in);
        if (str_equal(p->type, STR("regexp")))
                return match_regexp(t, p, in);
        return err_set(t->err, ERR_INVALID, "unsupported pattern type '%.*s'", STR_ARG(p->type));
}

static int transform_match(struct transform *t, const struct value *in, const struct value **ret)
{
        const struct pt_match *match = t->transform->match;
        struct pt_pattern *p = match->patterns.p;

        for (size_t i = 0; i < match->patterns.n; i++) {
                int r = match_pattern(t, &p[i], in);

                if (r < 0)
                        return err_wrap(t->err, "cannot match pattern at index %zu", i);
                if (r) {
                        *ret = p[i].result ? fn_value_numbers(t->arena, p[i].result) : &value_null;
                        return 0;
                }
        }
        if (str_equal(match->fallback_to, STR("Input"))) {
                if (match->fallback_value)
                        return err_set(t->err, ERR_INVALID,
                                       "cannot set both a fallback value and the fallback to input flag");
                *ret = in;
                return 0;
        }
        *ret = match->fallback_value ? fn_value_numbers(t->arena, match->fallback_value) : &value_null;
        return 0;
}

/* --- math --- */

static struct value multiply(const struct value *in, int64_t factor)
{
        if (value_is_int(in))
                return value_of_int((int64_t)((uint64_t)in->integer * (uint64_t)factor));
        return value_of_double(in->number * (double)factor);
}

static int transform_math(struct transform *t, const struct value *in, const struct value **ret)
{
        const struct pt_math *math = t->transform->math;
        enum pt_math_type type;
        int64_t i, limit;
        int r = pt_math_check(NULL, math, &type, t->err);

        if (r < 0)
                return r;
        if (!value_is_number(in)) {
                struct str name = go_type_name(in);

                return err_set(t->err, ERR_INVALID, "input is required to be a number for math transformer, got %.*s",
                               STR_ARG(name));
        }
        *ret = in;
        if (type == PT_MULTIPLY) {
                *ret = value_put(t->arena, multiply(in, math->multiply.value));
                return 0;
        }
        i = value_is_int(in) ? in->integer : truncate_double(in->number);
        limit = type == PT_CLAMP_MIN ? math->clamp_min.value : math->clamp_max.value;
        if (type == PT_CLAMP_MIN ? i < limit : i > limit)
                *ret = value_put(t->arena, value_of_int(limit));
        return 0;
}

/* --- convert --- */

enum source { FROM_STRING, FROM_BOOL, FROM_INT64, FROM_FLOAT64, N_SOURCES };

static const char *const source_names[N_SOURCES] = { "string", "bool", "int64", "float64" };
static const char *const target_names[PT_N_CONVERT_TYPES] = { "string",  "int64",  "int64", "bool",
                                                              "float64", "object", "array" };

static int string_to_int(struct transform *t, const struct value *in, struct value *ret)
{
        int64_t i;
        int r = number_parse_int(value_str(in), &i, t->err);

        *ret = value_of_int(r < 0 ? 0 : i);
        return r;
}

static int string_to_bool(struct transform *t, const struct value *in, struct value *ret)
{
        bool b = false;
        int r = number_parse_bool(value_str(in), &b, t->err);

        *ret = value_of_bool(b);
        return r;
}

static int string_to_double(struct transform *t, const struct value *in, struct value *ret)
{
        double d = 0;
        int r = number_parse_double(value_str(in), &d, t->err);

        *ret = value_of_double(d);
        return r;
}

static int quantity_text_to_double(struct transform *t, const struct value *in, struct value *ret)
{
        double d = 0;
        int r = quantity_to_double(value_str(in), &d, t->err);

        *ret = value_of_double(d);
        return r;
}

static int bool_to_string(struct transform *t, const struct value *in, struct value *ret)
{
        *ret = in->boolean ? value_of_literal("true") : value_of_literal("false");
        return 0;
}

static int bool_to_int(struct transform *t, const struct value *in, struct value *ret)
{
        *ret = value_of_int(in->boolean);
        return 0;
}

static int bool_to_double(struct transform *t, const struct value *in, struct value *ret)
{
        *ret = value_of_double(in->boolean);
        return 0;
}

static int int_to_string(struct transform *t, const struct value *in, struct value *ret)
{
        *ret = value_of_str(arena_printf(t->arena, "%lld", (long long)in->integer));
        return 0;
}

static int int_to_bool(struct transform *t, const struct value *in, struct value *ret)
{
        *ret = value_of_bool(in->integer == 1);
        return 0;
}

static int int_to_double(struct transform *t, const struct value *in, struct value *ret)
{
        *ret = value_of_double((double)in->integer);
        return 0;
}

static int double_to_string(struct transform *t, const struct value *in, struct value *ret)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        number_append_go(&b, in->number, 'f', -1);
        *ret = value_of_str(buf_to_arena(&b, t->arena));
        return 0;
}

static int double_to_int(struct transform *t, const struct value *in, struct value *ret)
{
        *ret = value_of_int(truncate_double(in->number));
        return 0;
}

static int double_to_bool(struct transform *t, const struct value *in, struct value *ret)
{
        *ret = value_of_bool(in->number == 1.0);
        return 0;
}

typedef int (*conversion)(struct transform *t, const struct value *in, struct value *ret);

static const conversion conversions[N_SOURCES][PT_N_CONVERT_TYPES] = {
        [FROM_STRING] = { [PT_TO_INT] = string_to_int,
                          [PT_TO_INT64] = string_to_int,
                          [PT_TO_BOOL] = string_to_bool,
                          [PT_TO_FLOAT64] = string_to_double },
        [FROM_BOOL] = { [PT_TO_STRING] = bool_to_string,
                        [PT_TO_INT] = bool_to_int,
                        [PT_TO_INT64] = bool_to_int,
                        [PT_TO_FLOAT64] = bool_to_double },
        [FROM_INT64] = { [PT_TO_STRING] = int_to_string, [PT_TO_BOOL] = int_to_bool, [PT_TO_FLOAT64] = int_to_double },
        [FROM_FLOAT64] = { [PT_TO_STRING] = double_to_string,
                           [PT_TO_INT] = double_to_int,
                           [PT_TO_INT64] = double_to_int,
                           [PT_TO_BOOL] = double_to_bool },
};

/* Go's name for the type of a JSON value that begins with c. */
static const char *json_kind(char c)
{
        switch (c) {
        case '{':
                return "object";
        case '[':
                return "array";
        case '"':
                return "string";
        case 't':
        case 'f':
                return "bool";
        default:
                return "number";
        }
}

/* A text of another type is only checked for its syntax, so numbers in it that do not fit a double are ignored. */
static int json_to_container(struct transform *t, enum pt_convert_type to, struct str text, const struct value **ret)
{
        static const struct json_read_options options = { .is_kubernetes = true, .numbers_as_double = true };
        struct str trimmed = str_trim(text);
        char first = trimmed.n ? trimmed.p[0] : 0;
        bool is_wanted = first == (to == PT_TO_OBJECT ? '{' : '[');
        const struct value *v = NULL;
        int r = json_parse(t->arena, text, &options, &v, t->err);

        if (r < 0 &&
            (is_wanted || !str_starts_with(str_from(err_message(t->err)), STR("json: cannot unmarshal number"))))
                return r;
        if (value_is_null(v))
                *ret = to == PT_TO_OBJECT ? &pt_nil_object : &pt_nil_array;
        else if (is_wanted)
                *ret = v;
        else
                return err_set(t->err, ERR_INVALID, "json: cannot unmarshal %s into Go value of type %s",
                               json_kind(first), to == PT_TO_OBJECT ? "map[string]interface {}" : "[]interface {}");
        return 0;
}

static int run_conversion(struct transform *t, conversion f, const struct value *in, const struct value **ret)
{
        struct value out = value_of_null();
        int r = f(t, in, &out);

        *ret = value_put(t->arena, out);
        return r;
}

static int transform_convert(struct transform *t, const struct value *in, const struct value **ret)
{
        struct str type = go_type_name(in);
        int from = pt_find(type, source_names, N_SOURCES), r;
        enum pt_convert_type to;
        enum pt_convert_format format;

        r = pt_convert_check(NULL, t->transform->convert, &to, &format, t->err);
        if (r < 0)
                return r;
        if (from < 0)
                return err_set(t->err, ERR_INVALID, "invalid input type %.*s", STR_ARG(type));
        if (strcmp(source_names[from], target_names[to]) == 0) {
                *ret = in;
                return 0;
        }
        if (format == PT_FORMAT_NONE && conversions[from][to])
                return run_conversion(t, conversions[from][to], in, ret);
        if (format == PT_FORMAT_QUANTITY && from == FROM_STRING && to == PT_TO_FLOAT64)
                return run_conversion(t, quantity_text_to_double, in, ret);
        if (format == PT_FORMAT_JSON && from == FROM_STRING && (to == PT_TO_OBJECT || to == PT_TO_ARRAY))
                return json_to_container(t, to, value_str(in), ret);
        return err_set(t->err, ERR_INVALID, "conversion from %s to %s is not supported with format %s",
                       source_names[from], target_names[to], pt_convert_format_names[format]);
}

/* --- All of them --- */

static const struct {
        const char *name;
        size_t configuration; /* offset of the pointer that must be set */
        int (*run)(struct transform *t, const struct value *in, const struct value **ret);
} kinds[] = {
        { "map", offsetof(struct pt_transform, map), transform_map },
        { "match", offsetof(struct pt_transform, match), transform_match },
        { "math", offsetof(struct pt_transform, math), transform_math },
        { "string", offsetof(struct pt_transform, string), pt_transform_string },
        { "convert", offsetof(struct pt_transform, convert), transform_convert },
};

static int transform_one(struct transform *t, const struct value *in, const struct value **ret)
{
        struct str type = t->transform->type;

        for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
                if (!str_equal(type, str_from(kinds[i].name)))
                        continue;
                if (!*(const void *const *)((const char *)t->transform + kinds[i].configuration))
                        return err_set(t->err, ERR_INVALID, "given transform type %s requires configuration",
                                       kinds[i].name);
                if (kinds[i].run(t, in, ret) < 0) {
                        err_wrap(t->err, "%s transform could not resolve", kinds[i].name);
                        return ERR_INVALID;
                }
                return 0;
        }
        return err_set(t->err, ERR_INVALID, "transform type %.*s is not supported", STR_ARG(type));
}

int pt_transform(const struct run *run, const struct input_list *transforms, const struct value *in,
                 const struct value **ret, struct err *err)
{
        const struct pt_transform *list = transforms->p;

        for (size_t i = 0; i < transforms->n; i++) {
                struct transform t = { .arena = run->arena, .transform = &list[i], .err = err };

                if (bounds_check(run, err) < 0 || transform_one(&t, in, &in) < 0) {
                        err_wrap(err, "transform at index %zu returned error", i);
                        return ERR_INVALID;
                }
        }
        *ret = in == &pt_nil_object || in == &pt_nil_array ? &value_null : in;
        return arena_check(run->arena, err);
}
