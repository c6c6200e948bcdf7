#include "fn-input.h"

#include "buf.h"
#include "limits.h"
#include "path.h"
#include "timetext.h"

/* The current position, for errors: a chain on the stack. */
struct place {
        const struct place *outer;
        struct str key; /* p is NULL for an item */
        size_t index;
};

struct input {
        struct arena *arena;
        struct err *err;
        struct input_object object; /* read only to check it */
};

static void append_place(struct buf *b, const struct place *place)
{
        if (!place)
                return;
        append_place(b, place->outer);
        if (place->key.p)
                buf_appendf(b, "%s%.*s", b->n ? "." : "", STR_ARG(place->key));
        else
                buf_appendf(b, "[%zu]", place->index);
}

static int fail(struct input *in, const struct place *place, const char *problem)
{
        _cleanup_buf_ struct buf b = BUF_INIT(LIMIT_PATH_BYTES);

        append_place(&b, place);
        return err_set(in->err, ERR_INVALID, "%.*s: %s", STR_ARG(buf_str(&b)), problem);
}

static int read_object(struct input *in, const struct place *place, const struct input_type *type,
                       const struct value *v, bool is_top, void *ret);

static int read_list(struct input *in, const struct place *place, const struct input_field *f, const struct value *v,
                     struct input_list *ret)
{
        size_t size_bytes = f->kind == INPUT_STRINGS ? sizeof(struct str) : f->type->size_bytes;
        int r;

        if (!value_is_array(v))
                return fail(in, place, "must be a list");
        *ret = (struct input_list) { .n = value_count(v), .is_set = true };
        ret->p = arena_alloc_array(in->arena, ret->n ? ret->n : 1, size_bytes);
        for (size_t i = 0; i < ret->n; i++) {
                struct place here = { .outer = place, .index = i };
                const struct value *item = value_item(v, i);
                void *element = (char *)ret->p + i * size_bytes;

                if (f->kind == INPUT_STRINGS) {
                        if (!value_is_string(item) && !value_is_null(item))
                                return fail(in, &here, "must be a string");
                        *(struct str *)element = value_str(item);
                        continue;
                }
                r = value_is_null(item) ? 0 : read_object(in, &here, f->type, item, false, element);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* Upstream reads the digits of the number's JSON text; large doubles are written with fewer digits than they have. */
static int read_integer(struct input *in, const struct place *place, const struct input_field *f, const struct value *v,
                        struct input_int *ret)
{
        if (!value_is_number(v) || value_settle(in->arena, v, &v, NULL) < 0 || !value_is_int(v))
                return fail(in, place, "must be an integer");
        if (f->kind == INPUT_UINT && v->integer < 0)
                return fail(in, place, "must not be negative");
        *ret = (struct input_int) { .is_set = true, .value = v->integer };
        return 0;
}

static int read_map(struct input *in, const struct place *place, const struct input_field *f, const struct value *v,
                    const struct value **ret)
{
        if (!value_is_object(v))
                return fail(in, place, "must be an object");
        VALUE_FOREACH_MEMBER (m, v) {
                struct place here = { .outer = place, .key = m->key.p ? m->key : STR("") };

                if (f->kind == INPUT_TEXTS && !value_is_string(&m->value) && !value_is_null(&m->value))
                        return fail(in, &here, "must be a string");
        }
        *ret = v;
        return 0;
}

static int read_field(struct input *in, const struct place *place, const struct input_field *f, const struct value *v,
                      void *ret)
{
        if (value_is_null(v))
                return 0;
        switch (f->kind) {
        case INPUT_STRING:
                if (!value_is_string(v))
                        return fail(in, place, "must be a string");
                *(struct str *)ret = value_str(v);
                return 0;
        case INPUT_TIME:
                if (!value_is_string(v) || time_parse_rfc3339(value_str(v), &(struct instant) { 0 }, NULL) < 0)
                        return fail(in, place, "must be a time");
                *(struct str *)ret = value_str(v);
                return 0;
        case INPUT_BOOL:
                if (!value_is_bool(v))
                        return fail(in, place, "must be true or false");
                *(struct input_bool *)ret = (struct input_bool) { .is_set = true, .value = value_bool(v, false) };
                return 0;
        case INPUT_INT:
        case INPUT_UINT:
                return read_integer(in, place, f, v, ret);
        case INPUT_MAP:
        case INPUT_TEXTS:
                return read_map(in, place, f, v, ret);
        case INPUT_ANY:
                *(const struct value **)ret = v;
                return 0;
        case INPUT_OBJECT:
                *(void **)ret = arena_zalloc(in->arena, f->type->size_bytes);
                return read_object(in, place, f->type, v, false, *(void **)ret);
        case INPUT_OBJECTS:
        case INPUT_STRINGS:
                return read_list(in, place, f, v, ret);
        }
        return 0;
}

static const struct input_field *find(const struct input_type *type, struct str key)
{
        for (size_t i = 0; i < type->n_fields; i++)
                if (str_equal(key, str_from(type->fields[i].name)))
                        return &type->fields[i];
        return NULL;
}

static int read_object(struct input *in, const struct place *place, const struct input_type *type,
                       const struct value *v, bool is_top, void *ret)
{
        int r;

        if (!value_is_object(v))
                return fail(in, place, "must be an object");
        VALUE_FOREACH_MEMBER (m, v) {
                struct place here = { .outer = place, .key = m->key.p ? m->key : STR("") };
                const struct input_field *f = find(type, m->key);
                void *into = ret;

                if (!f && is_top) {
                        f = find(&input_object_type, m->key);
                        into = &in->object;
                }
                if (!f)
                        return fail(in, &here, "unknown field");
                r = read_field(in, &here, f, &m->value, (char *)into + f->offset);
                if (r < 0)
                        return r;
        }
        return 0;
}

int fn_input_read(struct arena *a, struct fn_request *req, const struct input_type *type, const char *go_type,
                  void *ret, struct err *err)
{
        struct input in = { .arena = a, .err = err };
        const struct value *v;
        int r = fn_struct_value(a, &req->input, &v, err);

        if (r >= 0 && v)
                r = read_object(&in, NULL, type, v, true, ret);
        if (r < 0)
                return err_wrap(
                        err,
                        "cannot get function input *v1beta1.%s from *v1.RunFunctionRequest: cannot unmarshal JSON "
                        "from *structpb.Struct into *v1beta1.%s",
                        go_type, go_type);
        return 0;
}
