#include "subject.h"

#include "buf.h"
#include "path.h"

#include <math.h>

const struct value *typed(struct arena *a, const struct value *v)
{
        struct object_builder object;
        struct array_builder array;
        struct str text = value_str(v);
        uint64_t bits;
        char *prefixed;

        switch (value_type(v)) {
        case VALUE_STRING:
                prefixed = arena_alloc(a, text.n + 1);
                prefixed[0] = 's';
                memcpy(prefixed + 1, text.p, text.n);
                return value_put(a, value_of_str(str_make(prefixed, text.n + 1)));
        case VALUE_DOUBLE:
                memcpy(&bits, &v->number, sizeof(bits));
                return value_put(a, value_of_str(arena_printf(a, "f%016llx", (unsigned long long)bits)));
        case VALUE_ARRAY:
                array_builder_init(&array, a, v->n);
                VALUE_FOREACH_ITEM (item, v)
                        array_builder_add(&array, *typed(a, item));
                return value_put(a, array_builder_finish(&array));
        case VALUE_OBJECT:
                object_builder_init(&object, a, v->n);
                VALUE_FOREACH_MEMBER (m, v)
                        object_builder_add(&object, m->key, *typed(a, &m->value));
                return value_put(a, object_builder_finish(&object));
        case VALUE_NULL:
        case VALUE_BOOL:
        case VALUE_INT:
                break;
        }
        return v;
}

static const struct value *result_one(struct arena *a, struct str key, const struct value *v)
{
        return value_with(a, &value_empty_object, key, v);
}

static int hex_digit(char c)
{
        return c >= 'a' ? c - 'a' + 10 : c - '0';
}

static struct str path_of_case(struct arena *a, const struct value *c)
{
        const struct value *hex = value_get(c, STR("hex"));
        char *out;

        if (!hex)
                return value_str(value_get(c, STR("path")));
        out = arena_alloc(a, hex->n / 2);
        for (uint32_t i = 0; i < hex->n / 2; i++)
                out[i] = (char)(hex_digit(hex->bytes[2 * i]) * 16 + hex_digit(hex->bytes[2 * i + 1]));
        return str_make(out, hex->n / 2);
}

static const struct value *special_value(struct arena *a, struct str name)
{
        struct array_builder array;
        struct object_builder object;

        if (str_equal(name, STR("nan")))
                return value_put(a, value_of_double(NAN));
        if (str_equal(name, STR("text")))
                return value_put(a, value_of_literal("a\xff\xc3"
                                                     "b\xed\xa0\x80"));
        array_builder_init(&array, a, 1);
        object_builder_init(&object, a, 3);
        if (str_equal(name, STR("inf"))) {
                array_builder_add(&array, value_of_double(INFINITY));
                return value_put(a, array_builder_finish(&array));
        }
        if (str_equal(name, STR("-inf"))) {
                object_builder_add(&object, STR("x"), value_of_double(-INFINITY));
                return value_put(a, object_builder_finish(&object));
        }
        array_builder_add(&array, value_of_literal("\xff"));
        object_builder_add(&object, STR("b"), array_builder_finish(&array));
        object_builder_add(&object, STR("\xff"), value_of_double(2));
        object_builder_add(&object, STR("\xfe"), value_of_int(1));
        return value_put(a, object_builder_finish(&object));
}

static int run_parse(struct arena *a, struct str text, const struct value **ret, struct err *err)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct array_builder segments;
        struct path path;
        int r = path_parse(a, text, &path, err);

        if (r < 0)
                return r;
        array_builder_init(&segments, a, path.n);
        for (size_t i = 0; i < path.n; i++)
                array_builder_add(&segments, path.segments[i].is_index ? value_of_int(path.segments[i].index)
                                                                       : value_of_str(path.segments[i].key));
        path_append(&b, &path);
        *ret = result_one(a, STR("segments"), value_put(a, array_builder_finish(&segments)));
        *ret = value_with(a, *ret, STR("print"), value_put(a, value_of_str(buf_to_arena(&b, a))));
        return 0;
}

static int run_get(struct arena *a, struct str op, const struct value *doc, struct str path, const struct value **ret,
                   struct err *err)
{
        struct str text;
        int64_t integer;
        bool boolean;
        int r;

        if (str_equal(op, STR("get")))
                return path_get(a, doc, path, ret, err);
        if (str_equal(op, STR("strings")))
                return path_get_string_array(a, doc, path, ret, err);
        if (str_equal(op, STR("stringObject")))
                return path_get_string_object(a, doc, path, ret, err);
        if (str_equal(op, STR("string"))) {
                r = path_get_string(a, doc, path, &text, err);
                *ret = r < 0 ? NULL : value_put(a, value_of_str(text));
        } else if (str_equal(op, STR("bool"))) {
                r = path_get_bool(a, doc, path, &boolean, err);
                *ret = r < 0 ? NULL : value_put(a, value_of_bool(boolean));
        } else {
                assert(str_equal(op, STR("int")));
                r = path_get_int(a, doc, path, &integer, err);
                *ret = r < 0 ? NULL : value_put(a, value_of_int(integer));
        }
        return r;
}

static int run_edit(struct arena *a, const struct value *c, struct str path, const struct value **ret, struct err *err)
{
        const struct value *doc = value_get(c, STR("doc")), *v = value_get(c, STR("value"));
        const struct value *special = value_get(c, STR("special")), *given = value_get(c, STR("options"));
        struct merge_options options = {
                .keeps_map_values = str_find(value_str(given), STR("keep")) >= 0,
                .appends_slices = str_find(value_str(given), STR("append")) >= 0,
        };
        struct str op = value_str(value_get(c, STR("op")));

        if (special)
                v = special_value(a, value_str(special));
        if (str_equal(op, STR("set")))
                return path_set(a, doc, path, v, ret, err);
        if (str_equal(op, STR("merge")))
                return path_merge(a, doc, path, v, given ? &options : NULL, ret, err);
        return path_delete(a, doc, path, ret, err);
}

const struct value *run_path(struct arena *a, const struct value *c)
{
        _cleanup_err_ struct err err = { 0 };
        struct str op = value_str(value_get(c, STR("op"))), path = path_of_case(a, c);
        const struct value *doc = value_get(c, STR("doc")), *result;
        int r;

        if (str_equal(op, STR("parse"))) {
                r = run_parse(a, path, &result, &err);
        } else if (str_equal(op, STR("expand"))) {
                r = path_expand(a, doc, path, &result, &err);
                result = r < 0 ? NULL : result_one(a, STR("paths"), result);
        } else if (str_equal(op, STR("set")) || str_equal(op, STR("merge")) || str_equal(op, STR("delete"))) {
                r = run_edit(a, c, path, &result, &err);
                result = r < 0 ? NULL : result_one(a, STR("doc"), typed(a, result));
        } else {
                r = run_get(a, op, doc, path, &result, &err);
                result = r < 0 ? NULL : result_one(a, STR("value"), typed(a, result));
        }
        if (r < 0)
                return value_with(a, result_error(a, &err), STR("notFound"),
                                  r == ERR_NOT_FOUND ? &value_true : &value_false);
        return result;
}
