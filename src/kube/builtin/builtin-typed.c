/* Values against the types of the table, by the rules of Go's encoding/json: null is the zero value; a zero value is written unless
 * its field has omitempty, and structs are always written. */
#include "builtin-typed.h"

#include "base64.h"
#include "buf.h"
#include "gotext.h"
#include "gotime.h"
#include "json.h"
#include "quantity.h"
#include "timetext.h"

#include <inttypes.h>

struct typing {
        struct arena *arena;
        struct str_list *unknown; /* may be NULL */
        struct err *err;
        bool is_plain; /* what Go's types alone do: no defaults, and empty lists stay */
};

/* A position; it becomes text only for an error. */
struct place {
        const struct place *up;
        const struct builtin_type *type; /* the struct that the field is in */
        struct str name;                 /* of a field or the key of a map */
        struct str via;                  /* the inlined struct that the field is in, or "" */
        size_t index;
        enum { PLACE_FIELD, PLACE_KEY, PLACE_ITEM } what;
};

static int type_struct(struct typing *t, const struct builtin_type *type, const struct value *v, const struct place *up,
                       struct value *ret);

/* --- Texts --- */

/* `spec.ports[0].name` */
static void append_path(struct buf *b, const struct place *at)
{
        if (!at)
                return;
        append_path(b, at->up);
        if (at->what == PLACE_ITEM)
                buf_appendf(b, "[%zu]", at->index);
        else
                buf_appendf(b, "%s%.*s", b->n ? "." : "", STR_ARG(at->name));
}

/* `.spec.ports.name` */
static void append_go_path(struct buf *b, const struct place *at)
{
        if (!at)
                return;
        append_go_path(b, at->up);
        if (at->what == PLACE_FIELD)
                buf_appendf(b, "%s%.*s.%.*s", at->via.n ? "." : "", STR_ARG(at->via), STR_ARG(at->name));
}

static void append_base_name(struct buf *b, const struct builtin_field *f)
{
        static const char *const names[] = {
                [BASE_STRING] = "string",
                [BASE_BOOL] = "bool",
                [BASE_INT32] = "int32",
                [BASE_INT64] = "int64",
                [BASE_DOUBLE] = "float64",
                [BASE_BYTES] = "[]uint8",
                [BASE_TIME] = "string",
                [BASE_MICROTIME] = "string",
                [BASE_DURATION] = "string",
                [BASE_QUANTITY] = "resource.Quantity",
                [BASE_INT_OR_STRING] = "int32",
                [BASE_EXTRA] = "v1.ExtraValue",
                [BASE_RAW] = "runtime.RawExtension",
                [BASE_FIELDS] = "v1.FieldsV1",
                [BASE_JSON] = "v1.JSON",
                [BASE_SCHEMA_OR_ARRAY] = "v1.JSONSchemaPropsOrArray",
                [BASE_SCHEMA_OR_BOOL] = "v1.JSONSchemaPropsOrBool",
                [BASE_SCHEMA_OR_STRINGS] = "v1.JSONSchemaPropsOrStringArray",
        };

        if (f->base == BASE_STRUCT)
                buf_appendf(b, "%.*s.%.*s", STR_ARG(f->type->go_package), STR_ARG(f->type->short_name));
        else
                buf_append_str(b, str_from(names[f->base]));
}

/* Go's name of the field's type, or of the items of its list or map. */
static void append_type_name(struct buf *b, const struct builtin_field *f, bool is_item)
{
        struct str name;

        if (builtin_fact(f->facts, STR("go"), &name)) {
                if (!is_item) {
                        buf_append_str(b, name);
                        return;
                }
                if (str_starts_with(name, STR("[]")) || str_starts_with(name, STR("map["))) {
                        buf_append_str(b, str_skip(name, (size_t)str_find_char(name, ']') + 1));
                        return;
                }
        } else if (!is_item && f->shape == SHAPE_LIST) {
                buf_append_literal(b, "[]");
        } else if (!is_item && f->shape == SHAPE_MAP) {
                buf_append_literal(b, "map[string]");
        }
        append_base_name(b, f);
}

static const struct builtin_type *type_of_place(const struct place *at)
{
        while (at && at->what != PLACE_FIELD)
                at = at->up;
        return at ? at->type : NULL;
}

/* Go's error for a value that does not fit: the innermost struct, then the fields from the root. */
static int mismatch(struct typing *t, const struct value *v, const struct place *at, const struct builtin_field *f,
                    bool is_item, bool shows_number)
{
        _cleanup_buf_ struct buf path = BUF_INIT(0), type = BUF_INIT(0), number = BUF_INIT(0);

        append_go_path(&path, at);
        append_type_name(&type, f, is_item);
        if (shows_number) {
                buf_append_char(&number, ' ');
                go_append_value(&number, v);
        }
        return err_set(t->err, ERR_INVALID, "json: cannot unmarshal %s%.*s into Go struct field %.*s%.*s of type %.*s",
                       go_json_type(v), STR_ARG(buf_str(&number)), STR_ARG(type_of_place(at)->short_name),
                       STR_ARG(buf_str(&path)), STR_ARG(buf_str(&type)));
}

static void add_unknown(struct typing *t, const struct place *at)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        if (!t->unknown)
                return;
        append_path(&b, at);
        str_list_add(t->unknown, arena_copy(t->arena, buf_str(&b)));
}

/* --- Scalars with a text form --- */

static struct value text_value(struct typing *t, struct buf *b)
{
        return value_of_str(buf_to_arena(b, t->arena));
}

static int type_bytes(struct typing *t, const struct value *v, struct value *ret)
{
        _cleanup_buf_ struct buf bytes = BUF_INIT(0), text = BUF_INIT(0);
        int r = base64_decode(&bytes, value_str(v), BASE64_STD, t->err);

        if (r < 0)
                return r;
        base64_encode(&text, buf_str(&bytes), BASE64_STD);
        *ret = str_equal(buf_str(&text), value_str(v)) ? *v : text_value(t, &text);
        return 0;
}

static int type_time(struct typing *t, const struct value *v, bool has_microseconds, struct value *ret)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct gotime micro = { 0 };
        struct instant time;
        int r;

        if (has_microseconds) {
                r = gotime_parse(STR("2006-01-02T15:04:05.000000Z07:00"), value_str(v), &micro, t->err);
                time = micro.at;
        } else {
                r = time_parse_rfc3339(value_str(v), &time, t->err);
        }
        if (r < 0)
                return r;
        time_append_rfc3339(&b, time, has_microseconds ? 6 : 0);
        *ret = str_equal(buf_str(&b), value_str(v)) ? *v : text_value(t, &b);
        return 0;
}

static int type_duration(struct typing *t, const struct value *v, struct value *ret)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        int64_t ns;
        int r = duration_parse(value_str(v), &ns, t->err);

        if (r < 0)
                return r;
        duration_append(&b, ns);
        *ret = text_value(t, &b);
        return 0;
}

/* Quantities of resources are rounded up to thousandths. */
static int round_to_milli(struct typing *t, struct quantity *q)
{
        if (q->is_large || q->exponent >= -3)
                return 0;
        return quantity_parse(t->arena, arena_printf(t->arena, "%" PRId64 "m", quantity_milli_value(q)), q, t->err);
}

static bool is_rounded(const struct builtin_field *f, const struct place *at)
{
        struct str type;

        return builtin_fact(f->facts, STR("go"), &type) && str_equal(type, STR("v1.ResourceList")) &&
               str_starts_with(type_of_place(at)->name, STR("core/"));
}

static int type_quantity(struct typing *t, const struct builtin_field *f, const struct value *v, const struct place *at,
                         struct value *ret)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct str text = value_str(v);
        struct quantity q;
        int r;

        if (!value_is_string(v)) {
                r = json_write(&b, v, 0, t->err);
                if (r < 0)
                        return r;
                text = arena_copy(t->arena, buf_str(&b));
                buf_clear(&b);
        }
        r = quantity_parse(t->arena, text, &q, t->err);
        if (r == 0 && is_rounded(f, at))
                r = round_to_milli(t, &q);
        if (r < 0)
                return r;
        quantity_append(&b, &q);
        *ret = value_is_string(v) && str_equal(buf_str(&b), text) ? *v : text_value(t, &b);
        return 0;
}

/* --- One value --- */

static struct value zero_of(struct arena *a, const struct builtin_field *f)
{
        switch ((enum builtin_base)f->base) {
        case BASE_STRING:
                return value_empty_string;
        case BASE_BOOL:
                return value_of_bool(false);
        case BASE_INT32:
        case BASE_INT64:
        case BASE_DOUBLE:
        case BASE_INT_OR_STRING:
                return value_of_int(0);
        case BASE_QUANTITY:
                return value_of_literal("0");
        case BASE_DURATION:
                return value_of_literal("0s");
        case BASE_STRUCT:
                return builtin_zero(a, f->type);
        case BASE_SCHEMA_OR_BOOL:
                return value_of_bool(false);
        case BASE_BYTES:
        case BASE_TIME:
        case BASE_MICROTIME:
        case BASE_RAW:
        case BASE_FIELDS:
        case BASE_JSON:
        case BASE_EXTRA:
        case BASE_SCHEMA_OR_ARRAY:
        case BASE_SCHEMA_OR_STRINGS:
                return value_of_null();
        }
        return value_of_null();
}

static int type_integer(struct typing *t, const struct builtin_field *f, const struct value *v, const struct place *at,
                        bool is_item, struct value *ret)
{
        if (!value_is_number(v))
                return mismatch(t, v, at, f, is_item, false);
        if (!value_is_int(v) || (f->base != BASE_INT64 && v->integer != (int32_t)v->integer))
                return mismatch(t, v, at, f, is_item, true);
        *ret = *v;
        return 0;
}

static int type_strings(struct typing *t, const struct value *v, const struct place *at, struct value *ret)
{
        static const struct builtin_field text = { .base = BASE_STRING };
        const struct value *result = v;

        for (size_t i = 0; i < value_count(v); i++) {
                if (value_is_null(value_item(v, i)))
                        result = value_with_item(t->arena, result, i, &value_empty_string);
                else if (!value_is_string(value_item(v, i)))
                        return mismatch(t, value_item(v, i), at, &text, true, false);
        }
        *ret = *result;
        return 0;
}

/* The unions of JSON schemas: a schema, or what `other` accepts. */
static int type_schema_or(struct typing *t, const struct builtin_field *f, const struct value *v,
                          const struct place *at, struct value *ret)
{
        const struct builtin_type *schema = builtin_type_named(STR("apiextensions/v1.JSONSchemaProps"));
        struct array_builder b;

        *ret = *v;
        if (value_is_object(v))
                return type_struct(t, schema, v, at, ret);
        if (f->base == BASE_SCHEMA_OR_BOOL)
                return value_is_bool(v) ? 0 : err_set(t->err, ERR_INVALID, "boolean or JSON schema expected");
        if (!value_is_array(v))
                return mismatch(t, v, at, f, false, false);
        if (f->base == BASE_SCHEMA_OR_STRINGS)
                return type_strings(t, v, at, ret);
        array_builder_init(&b, t->arena, value_count(v));
        for (size_t i = 0; i < value_count(v); i++) {
                struct place item = { .up = at, .index = i, .what = PLACE_ITEM };
                struct value typed;
                int r = type_struct(t, schema, value_item(v, i), &item, &typed);

                if (r < 0)
                        return r;
                array_builder_add(&b, typed);
        }
        *ret = array_builder_finish(&b);
        return 0;
}

/* A value that is not null. is_item: it is in the field's list or map. */
static int type_base(struct typing *t, const struct builtin_field *f, const struct value *v, const struct place *at,
                     bool is_item, struct value *ret)
{
        *ret = *v;
        switch ((enum builtin_base)f->base) {
        case BASE_STRING:
                return value_is_string(v) ? 0 : mismatch(t, v, at, f, is_item, false);
        case BASE_BOOL:
                return value_is_bool(v) ? 0 : mismatch(t, v, at, f, is_item, false);
        case BASE_INT32:
        case BASE_INT64:
                return type_integer(t, f, v, at, is_item, ret);
        case BASE_DOUBLE:
                return value_is_number(v) ? 0 : mismatch(t, v, at, f, is_item, false);
        case BASE_INT_OR_STRING:
                return value_is_string(v) ? 0 : type_integer(t, f, v, at, is_item, ret);
        case BASE_BYTES:
                return value_is_string(v) ? type_bytes(t, v, ret) : mismatch(t, v, at, f, is_item, false);
        case BASE_TIME:
        case BASE_MICROTIME:
                if (!value_is_string(v))
                        return mismatch(t, v, at, f, is_item, false);
                return type_time(t, v, f->base == BASE_MICROTIME, ret);
        case BASE_DURATION:
                return value_is_string(v) ? type_duration(t, v, ret) : mismatch(t, v, at, f, is_item, false);
        case BASE_QUANTITY:
                return type_quantity(t, f, v, at, ret);
        case BASE_RAW:
        case BASE_FIELDS:
        case BASE_JSON:
                return 0;
        case BASE_EXTRA:
                return value_is_array(v) ? type_strings(t, v, at, ret) : mismatch(t, v, at, f, is_item, false);
        case BASE_SCHEMA_OR_ARRAY:
        case BASE_SCHEMA_OR_BOOL:
        case BASE_SCHEMA_OR_STRINGS:
                return type_schema_or(t, f, v, at, ret);
        case BASE_STRUCT:
                return value_is_object(v) ? type_struct(t, f->type, v, at, ret) : mismatch(t, v, at, f, is_item, false);
        }
        return 0;
}

static int type_item(struct typing *t, const struct builtin_field *f, const struct value *v, const struct place *at,
                     struct value *ret)
{
        if (!value_is_null(v))
                return type_base(t, f, v, at, true, ret);
        if (f->base == BASE_STRUCT)
                return type_struct(t, f->type, &value_empty_object, at, ret);
        *ret = zero_of(t->arena, f);
        return 0;
}

/* --- Lists and maps --- */

static int type_list(struct typing *t, const struct builtin_field *f, const struct value *v, const struct place *at,
                     struct value *ret)
{
        struct array_builder b;

        if (!value_is_array(v))
                return mismatch(t, v, at, f, false, false);
        array_builder_init(&b, t->arena, value_count(v));
        for (size_t i = 0; i < value_count(v); i++) {
                struct place item = { .up = at, .index = i, .what = PLACE_ITEM };
                struct value typed;
                int r = type_item(t, f, value_item(v, i), &item, &typed);

                if (r < 0)
                        return r;
                array_builder_add(&b, typed);
        }
        *ret = array_builder_finish(&b);
        return 0;
}

static int type_map(struct typing *t, const struct builtin_field *f, const struct value *v, const struct place *at,
                    struct value *ret)
{
        struct object_builder b;

        if (!value_is_object(v))
                return mismatch(t, v, at, f, false, false);
        object_builder_init(&b, t->arena, value_count(v));
        VALUE_FOREACH_MEMBER (m, v) {
                struct place key = { .up = at, .name = m->key, .what = PLACE_KEY };
                struct value typed;
                int r = type_item(t, f, &m->value, &key, &typed);

                if (r < 0)
                        return r;
                object_builder_add(&b, m->key, typed);
        }
        *ret = object_builder_finish(&b);
        return 0;
}

/* --- Structs --- */

static bool is_zero(const struct builtin_field *f, const struct value *v)
{
        switch (value_type(v)) {
        case VALUE_NULL:
                return true;
        case VALUE_BOOL:
                return !v->boolean;
        case VALUE_INT:
                return v->integer == 0;
        case VALUE_DOUBLE:
                return v->number == 0;
        case VALUE_STRING:
                return v->n == 0;
        case VALUE_ARRAY:
                return v->n == 0;
        case VALUE_OBJECT:
                return v->n == 0 && f->shape == SHAPE_MAP;
        }
        return false;
}

bool builtin_is_omitted(const struct builtin_field *f, const struct value *v)
{
        if (value_is_null(v) && (f->omits_zero || (f->omits_empty && f->shape != SHAPE_VALUE)))
                return true;
        if (f->shape == SHAPE_POINTER || !f->omits_empty)
                return false;
        if (f->shape == SHAPE_LIST || f->shape == SHAPE_MAP)
                return value_count(v) == 0;
        return f->base <= BASE_BYTES && is_zero(f, v);
}

bool builtin_field_zero(struct arena *a, const struct builtin_field *f, struct value *ret)
{
        *ret = f->shape == SHAPE_VALUE ? zero_of(a, f) : value_of_null();
        return !builtin_is_omitted(f, ret);
}

struct value builtin_zero(struct arena *a, const struct builtin_type *t)
{
        struct object_builder b;

        object_builder_init(&b, a, 4);
        for (size_t i = 0; i < t->n_flat; i++) {
                struct value v;

                if (builtin_field_zero(a, t->flat[i], &v))
                        object_builder_add(&b, t->flat[i]->name, v);
        }
        return object_builder_finish(&b);
}

/* An empty list or map that is always written is null: the API's storage does not keep the difference. */
static void forget_empty(const struct builtin_field *f, struct value *v)
{
        if ((f->shape == SHAPE_LIST || f->shape == SHAPE_MAP) && value_count(v) == 0)
                *v = value_of_null();
}

static int type_field(struct typing *t, const struct builtin_field *f, const struct value *v, const struct place *at,
                      struct value *ret)
{
        int r = f->shape == SHAPE_LIST  ? type_list(t, f, v, at, ret)
                : f->shape == SHAPE_MAP ? type_map(t, f, v, at, ret)
                                        : type_base(t, f, v, at, false, ret);

        if (r == 0 && !t->is_plain)
                forget_empty(f, ret);
        return r;
}

static bool is_type_field(const struct builtin_type *type, struct str key)
{
        return type->is_object && (str_equal(key, STR("apiVersion")) || str_equal(key, STR("kind")));
}

static ssize_t find_flat(const struct builtin_type *type, struct str name)
{
        for (size_t i = 0; i < type->n_flat; i++)
                if (str_equal(type->flat[i]->name, name))
                        return (ssize_t)i;
        return -1;
}

/* Types the members that the value has; their fields are marked in *seen. */
static int type_members(struct typing *t, const struct builtin_type *type, const struct value *v,
                        const struct place *up, struct object_builder *b, uint64_t *seen)
{
        VALUE_FOREACH_MEMBER (m, v) {
                struct place at = { .up = up, .type = type, .name = m->key };
                ssize_t i = find_flat(type, m->key);
                struct value typed;
                int r;

                if (i >= 0)
                        at.via = type->via[i];
                if (is_type_field(type, m->key)) {
                        object_builder_add(b, m->key, m->value);
                        continue;
                }
                if (i < 0) {
                        add_unknown(t, &at);
                        continue;
                }
                if (value_is_null(&m->value))
                        continue;
                r = type_field(t, type->flat[i], &m->value, &at, &typed);
                if (r < 0)
                        return r;
                *seen |= 1ull << i;
                if (!builtin_is_omitted(type->flat[i], &typed))
                        object_builder_add(b, m->key, typed);
        }
        return 0;
}

static int type_struct(struct typing *t, const struct builtin_type *type, const struct value *v, const struct place *up,
                       struct value *ret)
{
        struct object_builder b;
        uint64_t seen = 0;
        struct value typed;
        int r = arena_check(t->arena, t->err);

        if (r < 0)
                return r;
        object_builder_init(&b, t->arena, value_count(v) + 2);
        r = type_members(t, type, v, up, &b, &seen);
        if (r < 0)
                return r;
        for (size_t i = 0; i < type->n_flat; i++) {
                const struct builtin_field *f = type->flat[i];

                if (seen & 1ull << i)
                        continue;
                if (f->shape == SHAPE_VALUE && f->base == BASE_STRUCT) {
                        r = type_struct(t, f->type, &value_empty_object, up, &typed);
                        if (r < 0)
                                return r;
                        object_builder_add(&b, f->name, typed);
                } else if (builtin_field_zero(t->arena, f, &typed)) {
                        object_builder_add(&b, f->name, typed);
                }
        }
        *ret = object_builder_finish(&b);
        if (!t->is_plain)
                *ret = *builtin_default_struct(t->arena, type, ret);
        return 0;
}

static int type_root(struct typing *t, const struct builtin_type *type, const struct value *object,
                     const struct value **ret)
{
        struct value typed;
        int r = type_struct(t, type, object, NULL, &typed);

        if (r < 0)
                return r;
        *ret = value_equal(&typed, object) ? object : value_put(t->arena, typed);
        return 0;
}

int builtin_type_object(struct arena *a, const struct builtin_type *type, const struct value *object,
                        struct str_list *unknown, const struct value **ret, struct err *err)
{
        struct typing t = { .arena = a, .unknown = unknown, .err = err };

        return type_root(&t, type, object, ret);
}

int builtin_type_plain(struct arena *a, const struct builtin_type *type, const struct value *object,
                       const struct value **ret, struct err *err)
{
        struct typing t = { .arena = a, .err = err, .is_plain = true };

        return type_root(&t, type, object, ret);
}
