/* Validation of single values. The library that Kubernetes uses converts between Go's types on the way, and its results and texts
 * depend on that. This is why some checks here look odd. */
#include "schema-check.h"

#include "buf.h"
#include "gotext.h"
#include "json.h"
#include "number.h"
#include "schema-formats.h"
#include "utf8.h"

#include <float.h>
#include <math.h>

#define P(c, at) STR_ARG((c)->errors ? check_path((c), (at)) : STR(""))

/* Types */

/* Whether the library takes a float for an integer: it is in the exact range of doubles, and nearly integral. */
static bool is_json_integer(double d)
{
        const double most = 9007199254740991.0, epsilon = 1e-9;
        double rounded;

        if (!(d >= -most && d <= most))
                return false;
        rounded = round(d);
        if (d == rounded)
                return true;
        if (rounded == 0)
                return false;
        return fabs(d - rounded) / (fabs(d) + fabs(rounded)) < epsilon;
}

enum schema_type check_node_type(const struct schema_check *c, const struct schema_node *n)
{
        if (LIKELY(!c->is_default))
                return (enum schema_type)n->type;
        return (enum schema_type)n->declared_type;
}

unsigned check_node_format(const struct schema_check *c, const struct schema_node *n)
{
        const union extra_content *use = extra_get(node_extra(n), EXTRA_FORMAT);
        unsigned format = use ? (unsigned)use->format->format : FORMAT_NONE;

        if (!use)
                return FORMAT_NONE;
        if (c->is_default)
                return format == FORMAT_NONE ? FORMAT_UNKNOWN : format;
        switch ((enum schema_type)n->type) {
        case SCHEMA_INTEGER:
                return format == FORMAT_INT32 || format == FORMAT_INT64 ? format : FORMAT_NONE;
        case SCHEMA_NUMBER:
                return format == FORMAT_FLOAT || format == FORMAT_DOUBLE ? format : FORMAT_NONE;
        case SCHEMA_STRING:
        case SCHEMA_INT_OR_STRING:
        case SCHEMA_UNTYPED:
                return format >= FORMAT_STRINGS ? format : FORMAT_NONE;
        case SCHEMA_OBJECT:
        case SCHEMA_ARRAY:
        case SCHEMA_BOOLEAN:
                return FORMAT_NONE;
        }
        return FORMAT_NONE;
}

unsigned check_string_format(const struct schema_check *c, const struct schema_node *n)
{
        unsigned format = n->extra ? check_node_format(c, n) : FORMAT_NONE;

        return format >= FORMAT_STRINGS ? format : FORMAT_NONE;
}

static bool type_has(enum schema_type type, const struct value *v)
{
        switch ((enum value_type)v->type) {
        case VALUE_NULL:
                return false;
        case VALUE_BOOL:
                return type == SCHEMA_BOOLEAN;
        case VALUE_INT:
                return type == SCHEMA_INTEGER || type == SCHEMA_INT_OR_STRING || type == SCHEMA_NUMBER;
        case VALUE_DOUBLE:
                return type == SCHEMA_NUMBER ||
                       ((type == SCHEMA_INTEGER || type == SCHEMA_INT_OR_STRING) && is_json_integer(v->number));
        case VALUE_STRING:
                return type == SCHEMA_STRING || type == SCHEMA_INT_OR_STRING;
        case VALUE_ARRAY:
                return type == SCHEMA_ARRAY;
        case VALUE_OBJECT:
                return type == SCHEMA_OBJECT;
        }
        return false;
}

static bool fail_type(struct schema_check *c, const struct schema_step *at, const char *wanted, const char *got)
{
        struct value shown = value_of_str(str_from(got));

        return check_fail(c, FIELD_TYPE_INVALID, at, &shown, "%.*s in body must be of type %s: \"%s\"", P(c, at),
                          wanted, got);
}

/* The type error names the format instead of the type where there is one: a number is reported as not being a date. */
static bool fail_format_type(struct schema_check *c, const struct schema_node *n, const struct value *v,
                             const struct schema_step *at)
{
        const char *got = v->type == VALUE_INT ? "int64" : v->type == VALUE_DOUBLE ? "float64" : "";
        struct str format = schema_node_format(n);
        struct value shown = value_of_str(str_from(got));

        return check_fail(c, FIELD_TYPE_INVALID, at, &shown, "%.*s in body must be of type %.*s: \"%s\"", P(c, at),
                          STR_ARG(format), got);
}

bool check_type(struct schema_check *c, const struct schema_node *n, const struct value *v,
                const struct schema_step *at)
{
        static const char *const wanted[] = {
                [SCHEMA_UNTYPED] = "",        [SCHEMA_OBJECT] = "object",
                [SCHEMA_ARRAY] = "array",     [SCHEMA_STRING] = "string",
                [SCHEMA_INTEGER] = "integer", [SCHEMA_NUMBER] = "number",
                [SCHEMA_BOOLEAN] = "boolean", [SCHEMA_INT_OR_STRING] = "integer,string",
        };
        static const char *const got[] = {
                [VALUE_NULL] = "null",     [VALUE_BOOL] = "boolean",  [VALUE_INT] = "integer",
                [VALUE_DOUBLE] = "number", [VALUE_STRING] = "string", [VALUE_ARRAY] = "array",
                [VALUE_OBJECT] = "object",
        };
        enum schema_type type = check_node_type(c, n);
        unsigned format;

        if (type_has(type, v))
                return true;
        if (v->type == VALUE_NULL) {
                if (type == SCHEMA_UNTYPED || n->flags & NODE_NULLABLE)
                        return true;
                return fail_type(c, at, wanted[type], got[VALUE_NULL]);
        }
        format = n->extra ? check_node_format(c, n) : FORMAT_NONE;
        if (format != FORMAT_NONE) {
                bool is_text = v->type == VALUE_STRING || v->type == VALUE_ARRAY;

                if (format == FORMAT_INT64 && v->type == VALUE_INT)
                        return fail_type(c, at, wanted[type], got[VALUE_INT]);
                if (!is_text)
                        return fail_format_type(c, n, v, at);
                if (type != SCHEMA_INTEGER && type != SCHEMA_NUMBER && type != SCHEMA_INT_OR_STRING)
                        return true;
        }
        return type == SCHEMA_UNTYPED ? true : fail_type(c, at, wanted[type], got[v->type]);
}

/* Numbers */

/* Checks that a number is in the range of the schema's type, with the library's errors. */
static bool check_range(struct schema_check *c, const struct schema_node *n, const struct value *v, const char *what,
                        const struct schema_step *at)
{
        enum schema_type type = check_node_type(c, n);
        unsigned format = n->extra ? check_node_format(c, n) : FORMAT_NONE;
        bool is_double = value_is_double(v), fits = true;
        double d = value_double(v, 0);

        if (type == SCHEMA_INTEGER && format != FORMAT_INT32 && format != FORMAT_INT64)
                format = FORMAT_NONE;
        if (type == SCHEMA_NUMBER)
                fits = format != FORMAT_FLOAT || fabs(d) <= FLT_MAX;
        else if (type == SCHEMA_INTEGER && is_double)
                fits = d == trunc(d) && d >= -0x1p63 && d < 0x1p63;
        if (type == SCHEMA_INTEGER && format == FORMAT_INT32)
                fits = fits && d >= INT32_MIN && d <= INT32_MAX;
        if (fits)
                return true;
        if (format == FORMAT_NONE)
                return check_fail_nowhere(c, "%s value must be of type integer (default format) in %.*s", what,
                                          P(c, at));
        return check_fail_nowhere(c, "%s value must be of type %s with format %.*s in %.*s", what,
                                  type == SCHEMA_NUMBER ? "number" : "integer", STR_ARG(schema_node_format(n)),
                                  P(c, at));
}

/* The bound truncated to an int, for comparison with ints; INT64_MIN if it is out of range. */
static int64_t cut(double bound)
{
        return bound >= -0x1p63 && bound < 0x1p63 ? (int64_t)bound : INT64_MIN;
}

static const char *bound_text(struct schema_check *c, double bound, bool is_int)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct value v = is_int ? value_of_int(cut(bound)) : value_of_double(bound);

        if (!c->errors)
                return "";
        go_append_value(&b, &v);
        return arena_cstring(c->errors->arena, buf_str(&b));
}

static bool check_bound(struct schema_check *c, const struct schema_node *n, const struct value *v, double bound,
                        bool is_maximum, const struct schema_step *at)
{
        bool is_exclusive = n->flags & (is_maximum ? NODE_EXCLUSIVE_MAXIMUM : NODE_EXCLUSIVE_MINIMUM);
        struct value bound_value = value_of_double(bound);
        bool fits = check_range(c, n, &bound_value, is_maximum ? "Maximum boundary" : "Minimum boundary", at);
        bool as_int = value_is_int(v) && fits;
        double d = value_double(v, 0);
        int order = as_int ? (v->integer > cut(bound)) - (v->integer < cut(bound)) : (d > bound) - (d < bound);
        struct value shown = as_int ? *v : value_of_double(d);

        if (is_maximum)
                order = -order;
        if (is_exclusive ? order > 0 : order >= 0)
                return fits;
        return check_fail(c, FIELD_INVALID, at, &shown, "%.*s in body should be %s than%s %s", P(c, at),
                          is_maximum ? "less" : "greater", is_exclusive ? "" : " or equal to",
                          bound_text(c, as_int ? (double)cut(bound) : bound, as_int));
}

static bool is_multiple(const struct value *v, double factor, bool as_int)
{
        double d = value_double(v, 0);

        if (as_int)
                return v->integer % cut(factor) == 0;
        return is_json_integer(factor < 1 ? 1 / factor * d : d / factor);
}

static bool check_multiple(struct schema_check *c, const struct schema_node *n, const struct value *v, double factor,
                           const struct schema_step *at)
{
        struct value factor_value = value_of_double(factor);
        bool fits = check_range(c, n, &factor_value, "MultipleOf", at);
        bool as_int = value_is_int(v) && fits;
        struct value shown = as_int ? *v : value_of_double(value_double(v, 0));

        if (as_int)
                factor_value = value_of_int(cut(factor));
        if (as_int ? factor_value.integer <= 0 : factor <= 0)
                return check_fail(c, FIELD_INVALID, at, &factor_value,
                                  "factor MultipleOf declared for %.*s must be positive: %s", P(c, at),
                                  bound_text(c, factor, as_int));
        if (is_multiple(v, factor, as_int))
                return fits;
        return check_fail(c, FIELD_INVALID, at, &shown, "%.*s in body should be a multiple of %s", P(c, at),
                          bound_text(c, factor, as_int));
}

bool check_number(struct schema_check *c, const struct schema_node *n, const struct value *v,
                  const struct schema_step *at)
{
        const struct extra *x = node_extra(n);
        const union extra_content *w;
        bool ok = true;

        if (check_node_type(c, n) == SCHEMA_INTEGER || check_node_type(c, n) == SCHEMA_NUMBER)
                ok &= check_range(c, n, v, "Checked", at);
        if (!x)
                return ok;
        w = extra_get(x, EXTRA_MULTIPLE_OF);
        if (w)
                ok &= check_multiple(c, n, v, w->number, at);
        w = extra_get(x, EXTRA_MINIMUM);
        if (w)
                ok &= check_bound(c, n, v, w->number, false, at);
        w = extra_get(x, EXTRA_MAXIMUM);
        if (w)
                ok &= check_bound(c, n, v, w->number, true, at);
        return ok;
}

/* Texts */

static bool check_length(struct schema_check *c, const struct extra *x, struct str text, const struct schema_step *at,
                         bool *ret_ok)
{
        const union extra_content *low = extra_get(x, EXTRA_MIN_LENGTH), *high = extra_get(x, EXTRA_MAX_LENGTH);
        struct value shown = value_of_str(text);
        int64_t count;

        *ret_ok = true;
        if (!low && !high)
                return true;
        count = (int64_t)utf8_count(text);
        if (high && count > high->integer) {
                if (high->integer < 0)
                        *ret_ok = check_fail(c, FIELD_TOO_LONG, at, NULL, "value is too long");
                else
                        *ret_ok = check_fail(c, FIELD_TOO_LONG, at, NULL, "may not be more than %lld byte%s",
                                             (long long)high->integer, high->integer == 1 ? "" : "s");
        } else if (low && count < low->integer) {
                *ret_ok = check_fail(c, FIELD_INVALID, at, &shown, "%.*s in body should be at least %lld chars long",
                                     P(c, at), (long long)low->integer);
        }
        return *ret_ok;
}

static bool check_pattern(struct schema_check *c, const struct extra *x, struct str text, const struct schema_step *at)
{
        const union extra_content *w = extra_get(x, EXTRA_PATTERN);
        struct value shown = value_of_str(text);

        if (!w || pattern_matches(w->pattern, text))
                return true;
        return check_fail(c, FIELD_INVALID, at, &shown, "%.*s in body should match '%.*s'", P(c, at),
                          STR_ARG(w->pattern->text));
}

static bool check_format(struct schema_check *c, const struct schema_node *n, struct str text,
                         const struct schema_step *at)
{
        unsigned format = check_string_format(c, n);
        struct value shown = value_of_str(text);

        if (format == FORMAT_NONE || format_matches((enum format)format, text))
                return true;
        return check_fail(c, FIELD_TYPE_INVALID, at, &shown, "%.*s in body must be of type %.*s: %.*s", P(c, at),
                          STR_ARG(schema_node_format(n)),
                          STR_ARG(c->errors ? go_quote(c->errors->arena, text) : STR("")));
}

bool check_string(struct schema_check *c, const struct schema_node *n, struct str text, const struct schema_step *at)
{
        const struct extra *x = node_extra(n);
        bool ok;

        if (check_length(c, x, text, at, &ok))
                ok = check_pattern(c, x, text, at);
        return check_format(c, n, text, at) & ok;
}

/* Enumerations */

/* Whether the text is the character with this number. Go's conversion of an int to a string gives that character, so it matches a
 * text alternative. */
static bool is_rune(struct str text, int64_t number)
{
        uint32_t rune = number < 0 || number > RUNE_MAX || (number >= 0xD800 && number <= 0xDFFF) ? RUNE_ERROR
                                                                                                  : (uint32_t)number;
        char bytes[4];
        size_t n = utf8_encode(rune, bytes);

        return str_equal(text, str_make(bytes, n));
}

static bool is_alternative(const struct value *v, const struct value *alternative)
{
        if (alternative->type == VALUE_NULL)
                return false;
        if (v->type == VALUE_INT && alternative->type == VALUE_DOUBLE)
                return (double)v->integer == alternative->number;
        if (v->type == VALUE_DOUBLE && alternative->type == VALUE_INT)
                return cut(v->number) == alternative->integer;
        if (v->type == VALUE_INT && alternative->type == VALUE_STRING)
                return is_rune(value_str(alternative), v->integer);
        return value_equal(v, alternative);
}

static struct str alternative_text(struct arena *a, const struct value *v)
{
        struct str text = value_str(v);

        if (!value_is_string(v) && json_to_str(a, v, JSON_GO, &text, NULL) < 0)
                return STR("");
        return text;
}

bool check_enum(struct schema_check *c, const struct schema_node *n, const struct value *v,
                const struct schema_step *at)
{
        const union extra_content *w = extra_get(node_extra(n), EXTRA_ENUM);
        struct str *supported;
        uint32_t count;

        if (!w)
                return true;
        VALUE_FOREACH_ITEM (alternative, w->value)
                if (is_alternative(v, alternative))
                        return true;
        if (!c->errors)
                return false;
        count = w->value->n;
        supported = ARENA_NEW_ARRAY(c->errors->arena, struct str, count);
        for (uint32_t i = 0; i < count; i++)
                supported[i] = alternative_text(c->errors->arena, &w->value->items[i]);
        field_error_add_unsupported(c->errors, check_field(c, at), v, supported, count);
        return false;
}
