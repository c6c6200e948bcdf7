/* Basics of template values: types, kinds, truth, and conversion from struct value. */
#include "gt-value.h"

#include "gt-context.h"
#include "gt-list.h"
#include "gt-map.h"

static const struct {
        struct str name;
        enum gt_kind kind;
} types[_GT_TYPES] = {
        [GT_NONE] = { STR_INIT("<nil>"), GT_KIND_INVALID },
        [GT_NIL] = { STR_INIT("<nil>"), GT_KIND_INVALID },
        [GT_BOOL] = { STR_INIT("bool"), GT_KIND_BOOL },
        [GT_INT] = { STR_INIT("int"), GT_KIND_INT },
        [GT_INT64] = { STR_INIT("int64"), GT_KIND_INT64 },
        [GT_UINT8] = { STR_INIT("uint8"), GT_KIND_UINT8 },
        [GT_UINT64] = { STR_INIT("uint64"), GT_KIND_UINT64 },
        [GT_FLOAT64] = { STR_INIT("float64"), GT_KIND_FLOAT64 },
        [GT_COMPLEX128] = { STR_INIT("complex128"), GT_KIND_COMPLEX128 },
        [GT_STRING] = { STR_INIT("string"), GT_KIND_STRING },
        [GT_BYTES] = { STR_INIT("[]uint8"), GT_KIND_SLICE },
        [GT_LIST] = { STR_INIT("[]interface {}"), GT_KIND_SLICE },
        [GT_STRINGS] = { STR_INIT("[]string"), GT_KIND_SLICE },
        [GT_INTS] = { STR_INIT("[]int"), GT_KIND_SLICE },
        [GT_LISTS] = { STR_INIT("[][]interface {}"), GT_KIND_SLICE },
        [GT_MAP] = { STR_INIT("map[string]interface {}"), GT_KIND_MAP },
        [GT_STRING_MAP] = { STR_INIT("map[string]string"), GT_KIND_MAP },
        [GT_BYTES_MAP] = { STR_INIT("map[string][]uint8"), GT_KIND_MAP },
        [GT_ANY_MAP] = { STR_INIT("map[interface {}]interface {}"), GT_KIND_MAP },
};

static const struct str kind_names[] = {
        [GT_KIND_INVALID] = STR_INIT("invalid"), [GT_KIND_BOOL] = STR_INIT("bool"),
        [GT_KIND_INT] = STR_INIT("int"),         [GT_KIND_INT64] = STR_INIT("int64"),
        [GT_KIND_UINT8] = STR_INIT("uint8"),     [GT_KIND_UINT64] = STR_INIT("uint64"),
        [GT_KIND_FLOAT64] = STR_INIT("float64"), [GT_KIND_COMPLEX128] = STR_INIT("complex128"),
        [GT_KIND_MAP] = STR_INIT("map"),         [GT_KIND_PTR] = STR_INIT("ptr"),
        [GT_KIND_SLICE] = STR_INIT("slice"),     [GT_KIND_STRING] = STR_INIT("string"),
        [GT_KIND_STRUCT] = STR_INIT("struct"),
};

enum gt_kind gt_kind(struct gt_value v)
{
        return v.type == GT_OBJECT ? v.object->class_of->kind : types[v.type].kind;
}

struct str gt_kind_name(enum gt_kind kind)
{
        return kind_names[kind];
}

struct str gt_type_name(struct gt_value v)
{
        return v.type == GT_OBJECT ? v.object->class_of->type_name : types[v.type].name;
}

struct gt_value gt_basic(struct gt_value v)
{
        if (v.type == GT_OBJECT && v.object->class_of->basic)
                return v.object->class_of->basic(v.object);
        return v;
}

struct str gt_str(struct gt_value v)
{
        v = gt_basic(v);
        return v.type == GT_STRING || v.type == GT_BYTES ? str_make(v.bytes, v.n) : STR("");
}

bool gt_truth(struct gt_context *c, struct gt_value v)
{
        v = gt_basic(v);
        switch ((enum gt_type)v.type) {
        case GT_NONE:
        case GT_NIL:
                return false;
        case GT_BOOL:
                return v.boolean;
        case GT_INT:
        case GT_INT64:
                return v.integer != 0;
        case GT_UINT8:
        case GT_UINT64:
                return v.natural != 0;
        case GT_FLOAT64:
                return v.number != 0;
        case GT_COMPLEX128:
                return v.parts[0] != 0 || v.parts[1] != 0;
        case GT_STRING:
        case GT_BYTES:
                return v.n > 0;
        case GT_LIST:
        case GT_STRINGS:
        case GT_INTS:
        case GT_LISTS:
                return gt_list_count(v) > 0;
        case GT_MAP:
        case GT_STRING_MAP:
        case GT_BYTES_MAP:
        case GT_ANY_MAP:
                return gt_map_count(v) > 0;
        case GT_OBJECT:
        case _GT_TYPES:
                return true;
        }
        return true;
}

struct gt_value gt_from_value(struct gt_context *c, const struct value *v)
{
        switch (value_type(v)) {
        case VALUE_NULL:
                return gt_nil();
        case VALUE_BOOL:
                return gt_bool(v->boolean);
        case VALUE_INT:
                return gt_int64(v->integer);
        case VALUE_DOUBLE:
                return gt_float64(v->number);
        case VALUE_STRING:
                return gt_string(value_str(v));
        case VALUE_ARRAY:
                return gt_list_wrap(c, v);
        case VALUE_OBJECT:
                return gt_map_wrap(c, v);
        }
        return gt_nil();
}
