#include "test.h"

#include "buf.h"
#include "json.h"
#include "limits.h"
#include "proto-sort.h"
#include "proto-tables.h"

static struct arena arena;

__attribute__((constructor)) static void start(void)
{
        arena_init(&arena, "test", 0);
}

__attribute__((destructor)) static void end(void)
{
        arena_done(&arena);
        arena_trim_cache();
}

static const struct value *from_json(const char *text)
{
        _cleanup_err_ struct err err = { 0 };
        const struct value *v = NULL;

        if (json_parse(&arena, str_from(text), NULL, &v, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s: %s", text, err_message(&err));
        return v;
}

static struct str encode(const struct proto_message *m, const char *text)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        _cleanup_err_ struct err err = { 0 };

        if (proto_encode(&b, m, from_json(text), NULL, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s: %s", text, err_message(&err));
        return buf_to_arena(&b, &arena);
}

/* --- Encodings with every map backwards --- */

static void append_backwards(struct buf *b, const struct value *object);

static void append_value(struct buf *b, const struct value *v)
{
        _cleanup_buf_ struct buf inner = BUF_INIT(0);

        if (value_is_object(v)) {
                append_backwards(&inner, v);
                proto_append_bytes_field(b, 5, buf_str(&inner));
        } else if (value_is_array(v)) {
                VALUE_FOREACH_ITEM (item, v) {
                        _cleanup_buf_ struct buf one = BUF_INIT(0);

                        append_value(&one, item);
                        proto_append_bytes_field(&inner, 1, buf_str(&one));
                }
                proto_append_bytes_field(b, 6, buf_str(&inner));
        } else {
                proto_append_bytes_field(b, 3, value_str(v));
        }
}

static void append_backwards(struct buf *b, const struct value *object)
{
        for (size_t i = value_count(object); i-- > 0;) {
                _cleanup_buf_ struct buf v = BUF_INIT(0);

                append_value(&v, &object->members[i].value);
                proto_append_map_entry(b, 1, object->members[i].key, buf_str(&v));
        }
}

static struct str sorted(const struct proto_message *m, struct str bytes)
{
        _cleanup_err_ struct err err = { 0 };
        struct str got = STR_NONE;

        if (proto_sort_maps(&arena, m, bytes, &got, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
        return got;
}

TEST(what_is_in_order_stays_where_it_is)
{
        static const char *const texts[] = {
                "{}",
                "{\"resources\":{\"a\":{},\"b\":{\"ready\":\"READY_TRUE\"}}}",
                ("{\"composite\":{\"resource\":{\"a\":[1,{\"x\":null,\"y\":true}]},"
                 "\"connectionDetails\":{\"k\":\"dg==\"}}}"),
        };

        for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
                struct str bytes = encode(&proto_fn_v1_State, texts[i]), got = sorted(&proto_fn_v1_State, bytes);

                ASSERT_CASE(texts[i], got.p == bytes.p && got.n == bytes.n);
        }
}

TEST(equal_structs_become_equal_bytes)
{
        static const char *const texts[] = {
                "{\"a\":\"1\",\"b\":\"2\"}",
                "{\"a\":\"\",\"aa\":\"long enough to differ in "
                "length\",\"b\":{\"c\":\"\",\"d\":{\"e\":\"f\",\"g\":\"h\"}}}",
                "{\"l\":[{\"x\":\"1\",\"y\":\"2\"},[\"t\",{\"p\":{\"q\":\"\",\"r\":\"\"},\"s\":\"\"}]],\"m\":[],\"n\":{"
                "}}",
                "{\"\":\"empty\",\"\\u00e9\":\"beyond ASCII\",\"\\uffff\":\"last\"}",
        };

        for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
                _cleanup_buf_ struct buf b = BUF_INIT(0);
                struct str got;

                append_backwards(&b, from_json(texts[i]));
                got = sorted(&proto_google_Struct, buf_str(&b));
                ASSERT_CASE(texts[i], str_equal(got, encode(&proto_google_Struct, texts[i])));
                ASSERT_CASE(texts[i], got.p != b.p);
        }
}

TEST(maps_of_messages_and_of_bytes_are_sorted_inside_and_out)
{
        static const char wanted[] = "{\"composite\":{\"connectionDetails\":{\"k\":\"dg==\",\"l\":\"dg==\"}},"
                                     "\"resources\":{\"a\":{\"resource\":{\"x\":\"1\",\"y\":\"2\"}},\"b\":{}}}";
        _cleanup_buf_ struct buf state = BUF_INIT(0), composite = BUF_INIT(0), resource = BUF_INIT(0),
                                 object = BUF_INIT(0);

        proto_append_map_entry(&composite, 2, STR("l"), STR("v"));
        proto_append_map_entry(&composite, 2, STR("k"), STR("v"));
        append_backwards(&object, from_json("{\"x\":\"1\",\"y\":\"2\"}"));
        proto_append_bytes_field(&resource, 1, buf_str(&object));
        proto_append_bytes_field(&state, 1, buf_str(&composite));
        proto_append_map_entry(&state, 2, STR("b"), STR(""));
        proto_append_map_entry(&state, 2, STR("a"), buf_str(&resource));
        ASSERT_STR(sorted(&proto_fn_v1_State, buf_str(&state)), encode(&proto_fn_v1_State, wanted));
}

/* Maps in pieces, with something between them, stay in pieces, and of equal keys the last stays the last. */
TEST(other_orders_stay)
{
        _cleanup_buf_ struct buf given = BUF_INIT(0), wanted = BUF_INIT(0);

        proto_append_map_entry(&given, 2, STR("b"), STR("\x18\x01"));
        proto_append_map_entry(&given, 2, STR("a"), STR("\x18\x02"));
        proto_append_map_entry(&given, 2, STR("a"), STR("\x18\x01"));
        proto_append_bytes_field(&given, 9, STR("unknown"));
        proto_append_map_entry(&given, 2, STR("d"), STR(""));
        proto_append_map_entry(&given, 2, STR("c"), STR(""));

        proto_append_map_entry(&wanted, 2, STR("a"), STR("\x18\x02"));
        proto_append_map_entry(&wanted, 2, STR("a"), STR("\x18\x01"));
        proto_append_map_entry(&wanted, 2, STR("b"), STR("\x18\x01"));
        proto_append_bytes_field(&wanted, 9, STR("unknown"));
        proto_append_map_entry(&wanted, 2, STR("c"), STR(""));
        proto_append_map_entry(&wanted, 2, STR("d"), STR(""));
        ASSERT_STR(sorted(&proto_fn_v1_State, buf_str(&given)), buf_str(&wanted));
}

TEST(malformed_bytes_are_refused)
{
        static const struct {
                const char *p;
                size_t n;
        } cases[] = {
                { "\xff", 1 },                 /* half a tag */
                { "\x0a\x05x", 3 },            /* less than promised */
                { "\x12\x02\x0a\x05", 4 },     /* inside an entry */
                { "\x12\x03\x12\x01\xff", 5 }, /* inside its value */
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_err_ struct err err = { 0 };
                struct str got;

                ASSERT(proto_sort_maps(&arena, &proto_fn_v1_State, str_make(cases[i].p, cases[i].n), &got, &err) < 0);
                ASSERT(str_starts_with(str_from(err_message(&err)),
                                       STR("cannot decode apiextensions.fn.proto.v1.State: ")));
        }
}

static struct str nested(int depth)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        for (int i = 1; i < depth; i++) {
                _cleanup_buf_ struct buf outer = BUF_INIT(0), v = BUF_INIT(0);

                proto_append_bytes_field(&v, 5, buf_str(&b));
                proto_append_map_entry(&outer, 1, STR("k"), buf_str(&v));
                buf_clear(&b);
                buf_append_str(&b, buf_str(&outer));
        }
        return buf_to_arena(&b, &arena);
}

TEST(depth_is_limited)
{
        _cleanup_err_ struct err err = { 0 };
        struct str got;

        sorted(&proto_google_Struct, nested(LIMIT_DEPTH));
        ASSERT_INT(proto_sort_maps(&arena, &proto_google_Struct, nested(3 * LIMIT_DEPTH), &got, &err), ERR_LIMIT);
        ASSERT(strstr(err_message(&err), "nested deeper than the limit of 1000 levels"));
}
