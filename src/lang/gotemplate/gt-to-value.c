/* Converts template values to struct value, as encoding/json would write them. */
#include "base64.h"
#include "buf.h"
#include "gt-context.h"
#include "gt-print.h"
#include "limits.h"

struct converter {
        struct gt_context *context;
        struct err *err;
        unsigned depth;
};

static int convert(struct converter *x, struct gt_value v, struct value *ret);

static int convert_list(struct converter *x, struct gt_value list, struct value *ret)
{
        struct array_builder items;
        struct value item;
        int r;

        if (!list.list) {
                *ret = value_of_null();
                return 0;
        }
        array_builder_init(&items, x->context->arena, gt_list_count(list));
        for (size_t i = 0; i < gt_list_count(list); i++) {
                r = convert(x, gt_list_at(x->context, list, i), &item);
                if (r < 0)
                        return r;
                array_builder_add(&items, item);
        }
        *ret = array_builder_finish(&items);
        return 0;
}

static int convert_map(struct converter *x, struct gt_value map, struct value *ret)
{
        const struct gt_member *members;
        struct object_builder object;
        struct value v;
        size_t n;
        int r;

        if (map.type == GT_ANY_MAP)
                return err_set(x->err, ERR_INVALID, "json: unsupported type: map[interface {}]interface {}");
        if (!map.map) {
                *ret = value_of_null();
                return 0;
        }
        members = gt_map_members(x->context, map, &n);
        object_builder_init(&object, x->context->arena, n);
        for (size_t i = 0; i < n; i++) {
                r = convert(x, members[i].value, &v);
                if (r < 0)
                        return r;
                object_builder_add(&object, gt_str(members[i].key), v);
        }
        *ret = object_builder_finish(&object);
        return 0;
}

static int convert_container(struct converter *x, struct gt_value v, struct value *ret)
{
        int r;

        if (x->depth >= LIMIT_DEPTH)
                return err_set(x->err, ERR_LIMIT, "value is nested too deeply");
        r = arena_check(x->context->arena, x->err);
        if (r < 0)
                return r;
        x->depth++;
        r = gt_is_list(v) ? convert_list(x, v, ret) : convert_map(x, v, ret);
        x->depth--;
        return r;
}

static struct value convert_bytes(struct converter *x, struct gt_value v)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        if (!v.bytes)
                return value_of_null();
        base64_encode(&b, gt_str(v), BASE64_STD);
        return value_of_str(buf_to_arena(&b, x->context->arena));
}

static int convert_object(struct converter *x, struct gt_value v, struct value *ret)
{
        const struct gt_class *class_of = v.object->class_of;

        if (class_of->to_json)
                return class_of->to_json(x->context, v.object, ret, x->err);
        if (class_of->basic)
                return convert(x, class_of->basic(v.object), ret);
        *ret = value_empty_object;
        return 0;
}

static int convert(struct converter *x, struct gt_value v, struct value *ret)
{
        switch ((enum gt_type)v.type) {
        case GT_NONE:
        case GT_NIL:
        case _GT_TYPES:
                *ret = value_of_null();
                return 0;
        case GT_BOOL:
                *ret = value_of_bool(v.boolean);
                return 0;
        case GT_INT:
        case GT_INT64:
                *ret = value_of_int(v.integer);
                return 0;
        case GT_UINT8:
        case GT_UINT64:
                *ret = v.natural <= INT64_MAX ? value_of_int((int64_t)v.natural) : value_of_double((double)v.natural);
                return 0;
        case GT_FLOAT64:
                *ret = value_of_double(v.number);
                return 0;
        case GT_COMPLEX128:
                return err_set(x->err, ERR_INVALID, "json: unsupported type: complex128");
        case GT_STRING:
                *ret = value_of_str(gt_str(v));
                return 0;
        case GT_BYTES:
                *ret = convert_bytes(x, v);
                return 0;
        case GT_OBJECT:
                return convert_object(x, v, ret);
        case GT_LIST:
        case GT_STRINGS:
        case GT_INTS:
        case GT_LISTS:
        case GT_MAP:
        case GT_STRING_MAP:
        case GT_BYTES_MAP:
        case GT_ANY_MAP:
                return convert_container(x, v, ret);
        }
        return 0;
}

int gt_to_value(struct gt_context *c, struct gt_value v, struct value *ret, struct err *err)
{
        struct converter x = { .context = c, .err = err };

        return convert(&x, v, ret);
}
