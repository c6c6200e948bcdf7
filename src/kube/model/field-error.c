#include "field-error.h"

#include "buf.h"
#include "gotext.h"
#include "json.h"
#include "limits.h"
#include "map.h"

static const struct {
        const char *words;
        const char *reason;
        bool shows_value;
} types[] = {
        [FIELD_REQUIRED] = { "Required value", "FieldValueRequired", false },
        [FIELD_INVALID] = { "Invalid value", "FieldValueInvalid", true },
        [FIELD_TYPE_INVALID] = { "Invalid value", "FieldValueTypeInvalid", true },
        [FIELD_DUPLICATE] = { "Duplicate value", "FieldValueDuplicate", true },
        [FIELD_NOT_SUPPORTED] = { "Unsupported value", "FieldValueNotSupported", true },
        [FIELD_FORBIDDEN] = { "Forbidden", "FieldValueForbidden", false },
        [FIELD_TOO_LONG] = { "Too long", "FieldValueTooLong", false },
        [FIELD_TOO_MANY] = { "Too many", "FieldValueTooMany", true },
        [FIELD_NOT_FOUND] = { "Not found", "FieldValueNotFound", true },
        [FIELD_INTERNAL] = { "Internal error", "InternalError", false },
};

const char *field_error_reason(enum field_error_type type)
{
        return types[type].reason;
}

static struct field_error *add(struct field_errors *e, enum field_error_type type, struct str field)
{
        struct field_error *error;

        if (e->n == e->capacity) {
                size_t capacity = e->capacity ? 2 * e->capacity : 8;
                struct field_error *p = ARENA_NEW_ARRAY(e->arena, struct field_error, capacity);

                if (e->n > 0)
                        memcpy(p, e->p, e->n * sizeof(*p));
                e->p = p;
                e->capacity = capacity;
        }
        error = &e->p[e->n++];
        *error = (struct field_error) {
                .type = type,
                .field = str_is_empty(field) ? STR("<nil>") : arena_copy(e->arena, field),
        };
        return error;
}

/* Strings are quoted by Go's rules, lone numbers are written as Go's %v, everything else as JSON. */
static void append_value(struct buf *b, const struct value *v)
{
        if (!v)
                buf_append_literal(b, "null");
        else if (value_is_string(v))
                go_append_quoted(b, value_str(v));
        else if (value_is_double(v))
                go_append_value(b, v);
        else
                json_write(b, v, JSON_GO, NULL);
}

static void begin(struct buf *b, enum field_error_type type, const struct value *v)
{
        buf_append_str(b, str_from(types[type].words));
        if (types[type].shows_value) {
                buf_append_literal(b, ": ");
                append_value(b, v);
        }
}

void field_error_add(struct field_errors *e, enum field_error_type type, struct str field, const struct value *value,
                     const char *format, ...)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0), detail = BUF_INIT(0);
        va_list arguments;

        begin(&b, type, value);
        va_start(arguments, format);
        buf_appendv(&detail, format, arguments);
        va_end(arguments);
        if (detail.n > 0) {
                buf_append_literal(&b, ": ");
                buf_append_str(&b, buf_str(&detail));
        }
        add(e, type, field)->text = buf_to_arena(&b, e->arena);
}

void field_error_add_unsupported(struct field_errors *e, struct str field, const struct value *value,
                                 const struct str *supported, size_t n)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        begin(&b, FIELD_NOT_SUPPORTED, value);
        for (size_t i = 0; i < n; i++) {
                buf_append_str(&b, i == 0 ? STR(": supported values: ") : STR(", "));
                go_append_quoted(&b, supported[i]);
        }
        add(e, FIELD_NOT_SUPPORTED, field)->text = buf_to_arena(&b, e->arena);
}

void field_error_add_text(struct field_errors *e, enum field_error_type type, struct str field, struct str text)
{
        add(e, type, field)->text = arena_copy(e->arena, text);
}

/* A merge sort: it is stable without comparing positions. */
static void sort_errors(struct field_error *p, struct field_error *scratch, size_t n)
{
        size_t half = n / 2, i = 0, j = half, k = 0;

        if (n < 2)
                return;
        sort_errors(p, scratch, half);
        sort_errors(p + half, scratch, n - half);
        memcpy(scratch, p, n * sizeof(*p));
        while (i < half && j < n)
                p[k++] = str_compare(scratch[j].field, scratch[i].field) < 0 ? scratch[j++] : scratch[i++];
        while (i < half)
                p[k++] = scratch[i++];
        while (j < n)
                p[k++] = scratch[j++];
}

void field_errors_sort(struct field_errors *e)
{
        if (e->n > 1)
                sort_errors(e->p, ARENA_NEW_ARRAY(e->arena, struct field_error, e->n), e->n);
}

struct str field_below(struct field_errors *e, struct str field, const char *name)
{
        return arena_printf(e->arena, "%.*s.%s", STR_ARG(field), name);
}

struct str field_item(struct field_errors *e, struct str field, size_t i)
{
        return arena_printf(e->arena, "%.*s[%zu]", STR_ARG(field), i);
}

/* Stops at the maximum length of an error text, which cuts off the rest anyway. */
void field_errors_append(struct buf *b, const struct field_errors *e)
{
        _cleanup_map_ struct map seen = { 0 };
        size_t start = b->n;

        buf_append_char(b, '[');
        for (size_t i = 0; i < e->n && b->n <= LIMIT_ERROR_BYTES; i++) {
                struct str text = arena_printf(e->arena, "%.*s: %.*s", STR_ARG(e->p[i].field), STR_ARG(e->p[i].text));

                if (!map_add(&seen, text, e->p))
                        continue;
                if (seen.n > 1)
                        buf_append_literal(b, ", ");
                buf_append_str(b, text);
        }
        if (seen.n > 1) {
                buf_append_char(b, ']');
        } else {
                memmove(b->p + start, b->p + start + 1, b->n - start - 1);
                b->n--;
        }
}
