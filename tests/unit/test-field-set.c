#include "buf.h"
#include "field-set.h"
#include "field-trie.h"
#include "json.h"
#include "limits.h"
#include "test.h"

static struct arena arena;

__attribute__((constructor)) static void begin(void)
{
        arena_init(&arena, "test", 0);
}

__attribute__((destructor)) static void end(void)
{
        arena_done(&arena);
}

static const struct value *parse(const char *text)
{
        const struct value *v = NULL;

        ASSERT_INT(json_parse(&arena, str_from(text), NULL, &v, NULL), 0);
        return v;
}

static const struct field_set *set_of(const char *text)
{
        const struct field_set *s = NULL;

        ASSERT_INT(field_set_decode(&arena, parse(text), &s, NULL), 0);
        return s;
}

static struct str text_of(const struct field_set *s)
{
        struct value v = field_set_encode(&arena, s);
        struct str text = STR_NONE;

        ASSERT_INT(json_to_str(&arena, &v, 0, &text, NULL), 0);
        return text;
}

static void add_line(void *arg, struct str path)
{
        struct buf *b = arg;

        if (b->n > 0)
                buf_append_char(b, '\n');
        buf_append_str(b, path);
}

static struct str paths_of(const struct field_set *s)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        field_set_each(s, add_line, &b);
        return buf_to_arena(&b, &arena);
}

/* Encoded forms and paths as fieldpath.Set gives them; keys of the encoded form in bytewise order. */
static const struct {
        const char *fields;
        const char *encoded;
        const char *paths;
        size_t count;
} codec[] = {
        { "{}", "{}", "", 0 },
        { "null", "{}", "", 0 },
        { "{\".\":{}}", "{}", "", 0 },
        { "{\"f:a\":{}}", "{\"f:a\":{}}", ".a", 1 },
        { "{\"f:a\":null}", "{\"f:a\":{}}", ".a", 1 },
        { "{\"f:a\":{\".\":{}}}", "{\"f:a\":{}}", ".a", 1 },
        { "{\"f:a\":{\".\":{\"f:b\":{}}}}", "{\"f:a\":{}}", ".a", 1 },
        { "{\"f:a\":{\".\":1}}", "{\"f:a\":{}}", ".a", 1 },
        { "{\"f:a\":{\".\":{},\"f:b\":{}}}", "{\"f:a\":{\".\":{},\"f:b\":{}}}", ".a\n.a.b", 2 },
        { "{\"x:a\":{},\"f:b\":{}}", "{\"f:b\":{}}", ".b", 1 },
        { "{\"x:a\":1}", "{}", "", 0 },
        { "{\"f:a\":{\"x:q\":{}}}", "{\"f:a\":{}}", ".a", 1 },
        { "{\"k:{}\":{}}", "{\"k:{}\":{}}", "[]", 1 },
        { "{\"k:null\":{}}", "{\"k:{}\":{}}", "[]", 1 },
        { "{\"k:{\\\"b\\\":1,\\\"a\\\":\\\"x\\\"}\":{}}", "{\"k:{\\\"a\\\":\\\"x\\\",\\\"b\\\":1}\":{}}",
          "[a=\"x\",b=1]", 1 },
        { "{\"v:1.0\":{},\"v:1\":{}}", "{\"v:1\":{}}", "[=1]", 1 },
        { "{\"v:1e3\":{}}", "{\"v:1000\":{}}", "[=1000]", 1 },
        { "{\"v:1e-7\":{}}", "{\"v:1e-07\":{}}", "[=1e-07]", 1 },
        { "{\"v:12345678.5\":{}}", "{\"v:12345678.5\":{}}", "[=1.23456785e+07]", 1 },
        { "{\"v:1000000000000000000000\":{}}", "{\"v:1e+21\":{}}", "[=1e+21]", 1 },
        { "{\"v:{\\\"b\\\":{\\\"c\\\":null},\\\"a\\\":1}\":{}}", "{\"v:{\\\"a\\\":1,\\\"b\\\":{\\\"c\\\":null}}\":{}}",
          "[=a=1b=c=null]", 1 },
        { "{\"v:[1,2]\":{},\"v:[1]\":{},\"v:[0,5]\":{},\"v:{\\\"b\\\":1}\":{},\"v:{\\\"a\\\":2}\":{}}",
          "{\"v:[0,5]\":{},\"v:[1,2]\":{},\"v:[1]\":{},\"v:{\\\"a\\\":2}\":{},\"v:{\\\"b\\\":1}\":{}}",
          "[=[0,5]]\n[=[1]]\n[=[1,2]]\n[=a=2]\n[=b=1]", 5 },
        { "{\"v:1.5\":{},\"v:true\":{},\"v:false\":{},\"v:null\":{},\"v:[1]\":{},\"v:2\":{},\"v:\\\"a\\\"\":{},"
          "\"k:{\\\"x\\\":2}\":{},\"i:3\":{},\"i:-1\":{},\"f:z\":{},\"f:\":{}}",
          "{\"f:\":{},\"f:z\":{},\"i:-1\":{},\"i:3\":{},\"k:{\\\"x\\\":2}\":{},\"v:\\\"a\\\"\":{},\"v:1.5\":{},"
          "\"v:2\":{},\"v:[1]\":{},\"v:false\":{},\"v:null\":{},\"v:true\":{}}",
          ".\n.z\n[x=2]\n[=1.5]\n[=2]\n[=\"a\"]\n[=false]\n[=true]\n[=[1]]\n[=null]\n[-1]\n[3]", 12 },
        { "{\"v:1 2\":{},\"k: {\\\"a\\\":1}x\":{},\"i:03\":{},\"i:+4\":{}}",
          "{\"i:3\":{},\"i:4\":{},\"k:{\\\"a\\\":1}\":{},\"v:1\":{}}", "[a=1]\n[=1]\n[3]\n[4]", 4 },
        { "{\"v:\\\"<a>\\\\u2028\\\"\":{}}", "{\"v:\\\"\\\\u003ca\\\\u003e\\\\u2028\\\"\":{}}", "[=\"<a>\\u2028\"]",
          1 },
        /* First the members of a level, then what stands below its nodes. */
        { "{\"f:b\":{},\"f:a\":{\"f:c\":{\"f:d\":{}},\"f:b\":{}}}",
          "{\"f:a\":{\"f:b\":{},\"f:c\":{\"f:d\":{}}},\"f:b\":{}}", ".b\n.a.b\n.a.c.d", 3 },
        { "{\"k:{\\\"a\\\":1,\\\"b\\\":2}\":{},\"k:{\\\"a\\\":1}\":{},\"k:{\\\"a\\\":\\\"1\\\"}\":{},\"k:{\\\"b\\\":0}"
          "\":{}}",
          "{\"k:{\\\"a\\\":\\\"1\\\"}\":{},\"k:{\\\"a\\\":1,\\\"b\\\":2}\":{},\"k:{\\\"a\\\":1}\":{},\"k:{\\\"b\\\":0}"
          "\":{}}",
          "[a=1]\n[a=1,b=2]\n[a=\"1\"]\n[b=0]", 4 },
};

TEST(codec)
{
        for (size_t i = 0; i < ARRAY_SIZE(codec); i++) {
                const struct field_set *s = set_of(codec[i].fields);

                ASSERT_STR_CASE(codec[i].fields, text_of(s), str_from(codec[i].encoded));
                ASSERT_STR_CASE(codec[i].fields, paths_of(s), str_from(codec[i].paths));
                ASSERT_CASE(codec[i].fields, field_set_count(s) == codec[i].count);
                ASSERT_CASE(codec[i].fields, field_set_is_empty(s) == (codec[i].count == 0));
                ASSERT_CASE(codec[i].fields, field_set_equal(s, set_of(codec[i].encoded)));
        }
}

static const struct {
        const char *fields;
        const char *message;
} refused[] = {
        { "1", "ReadMapCB: expect { or n, but found 1" },
        { "[]", "ReadMapCB: expect { or n, but found [" },
        { "{\"f:a\":\"s\"}", "ReadMapCB: expect { or n, but found \"" },
        { "{\"f:a\":true}", "ReadMapCB: expect { or n, but found t" },
        { "{\"q\":{}}", "parsing key as path element: key must be 2 characters long:" },
        { "{\"ff:a\":{}}", "parsing key as path element: missing colon: ff:a" },
        { "{\"k:1\":{}}", "parsing key as path element: ReadObjectCB: expect { or n, but found 1" },
        { "{\"k:[1]\":{}}", "parsing key as path element: ReadObjectCB: expect { or n, but found [" },
        { "{\"i:x\":{}}", "parsing key as path element: strconv.Atoi: parsing \"x\": invalid syntax" },
        { "{\"i:99999999999999999999\":{}}",
          "parsing key as path element: strconv.Atoi: parsing \"99999999999999999999\": value out of range" },
};

TEST(refused)
{
        for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
                _cleanup_err_ struct err err = { 0 };
                const struct field_set *s = NULL;

                ASSERT_CASE(refused[i].fields,
                            field_set_decode(&arena, parse(refused[i].fields), &s, &err) == ERR_INVALID);
                ASSERT_STR_CASE(refused[i].fields, str_from(err_message(&err)), str_from(refused[i].message));
                ASSERT(!s);
        }
        ASSERT(field_set_decode(&arena, parse("{\"v:tru\":{}}"), &(const struct field_set *) { NULL }, NULL) < 0);
        ASSERT(field_set_decode(&arena, parse("{\"k:{\":{}}"), &(const struct field_set *) { NULL }, NULL) < 0);
}

static const struct {
        const char *x, *y;
        const char *sum, *common, *difference, *recursive;
} operations[] = {
        { "{}", "{}", "{}", "{}", "{}", "{}" },
        { "{\"f:a\":{}}", "{}", "{\"f:a\":{}}", "{}", "{\"f:a\":{}}", "{\"f:a\":{}}" },
        { "{}", "{\"f:a\":{}}", "{\"f:a\":{}}", "{}", "{}", "{}" },
        { "{\"f:a\":{}}", "{\"f:a\":{}}", "{\"f:a\":{}}", "{\"f:a\":{}}", "{}", "{}" },
        { "{\"f:a\":{},\"f:c\":{}}", "{\"f:b\":{},\"f:c\":{},\"f:d\":{}}",
          "{\"f:a\":{},\"f:b\":{},\"f:c\":{},\"f:d\":{}}", "{\"f:c\":{}}", "{\"f:a\":{}}", "{\"f:a\":{}}" },
        /* A member and what is below it are different things, but not to the recursive difference. */
        { "{\"f:a\":{\".\":{},\"f:b\":{},\"f:c\":{}}}", "{\"f:a\":{}}", "{\"f:a\":{\".\":{},\"f:b\":{},\"f:c\":{}}}",
          "{\"f:a\":{}}", "{\"f:a\":{\"f:b\":{},\"f:c\":{}}}", "{}" },
        { "{\"f:a\":{}}", "{\"f:a\":{\"f:b\":{}}}", "{\"f:a\":{\".\":{},\"f:b\":{}}}", "{}", "{\"f:a\":{}}",
          "{\"f:a\":{}}" },
        { "{\"f:a\":{\"f:b\":{\".\":{},\"f:c\":{}},\"f:x\":{}}}", "{\"f:a\":{\"f:b\":{},\"f:y\":{}}}",
          "{\"f:a\":{\"f:b\":{\".\":{},\"f:c\":{}},\"f:x\":{},\"f:y\":{}}}", "{\"f:a\":{\"f:b\":{}}}",
          "{\"f:a\":{\"f:b\":{\"f:c\":{}},\"f:x\":{}}}", "{\"f:a\":{\"f:x\":{}}}" },
};

TEST(operations)
{
        for (size_t i = 0; i < ARRAY_SIZE(operations); i++) {
                const struct field_set *x = set_of(operations[i].x), *y = set_of(operations[i].y);
                const char *name = operations[i].x;

                ASSERT_STR_CASE(name, text_of(field_set_union(&arena, x, y)), str_from(operations[i].sum));
                ASSERT_STR_CASE(name, text_of(field_set_union(&arena, y, x)), str_from(operations[i].sum));
                ASSERT_STR_CASE(name, text_of(field_set_intersection(&arena, x, y)), str_from(operations[i].common));
                ASSERT_STR_CASE(name, text_of(field_set_intersection(&arena, y, x)), str_from(operations[i].common));
                ASSERT_STR_CASE(name, text_of(field_set_difference(&arena, x, y)), str_from(operations[i].difference));
                ASSERT_STR_CASE(name, text_of(field_set_recursive_difference(&arena, x, y)),
                                str_from(operations[i].recursive));
        }
}

TEST(results_share_what_did_not_change)
{
        const struct field_set *x = set_of("{\"f:a\":{\"f:b\":{},\"f:c\":{}},\"f:d\":{}}");

        ASSERT(field_set_union(&arena, x, x) == x);
        ASSERT(field_set_union(&arena, x, set_of("{\"f:a\":{\"f:b\":{}}}")) == x);
        ASSERT(field_set_union(&arena, set_of("{\"f:a\":{\"f:b\":{}}}"), x) == x);
        ASSERT(field_set_difference(&arena, x, set_of("{\"f:q\":{}}")) == x);
        ASSERT(field_set_difference(&arena, x, x) == NULL);
        ASSERT(field_set_intersection(&arena, x, set_of("{\"f:a\":{\"f:b\":{},\"f:c\":{}},\"f:d\":{},\"f:z\":{}}")) ==
               x);
        ASSERT(field_set_union(&arena, x, set_of("{\"f:d\":{\"f:q\":{}}}"))->nodes[0].below == x->nodes[0].below);
}

TEST(equality)
{
        ASSERT(!field_set_equal(set_of("{\"f:a\":{}}"), set_of("{\"f:b\":{}}")));
        ASSERT(!field_set_equal(set_of("{\"f:a\":{}}"), set_of("{\"f:a\":{\"f:b\":{}}}")));
        ASSERT(!field_set_equal(set_of("{\"f:a\":{}}"), set_of("{\"f:a\":{},\"f:b\":{}}")));
        ASSERT(!field_set_equal(set_of("{\"f:a\":{}}"), NULL));
        ASSERT(field_set_equal(set_of("{\"v:1\":{}}"), set_of("{\"v:1.0\":{}}")));
}

TEST(lookup)
{
        const struct field_set *s = set_of("{\"f:a\":{},\"f:b\":{\"v:2\":{}},\"k:{\\\"n\\\":1}\":{}}");
        const struct value *two = value_put(&arena, value_of_int(2));
        struct path_element e = path_element_of_value(&arena, two);

        ASSERT(field_set_find_field(s, STR("a"))->is_member);
        ASSERT(!field_set_find_field(s, STR("b"))->is_member);
        ASSERT(!field_set_find_field(s, STR("c")));
        ASSERT(field_set_find(field_set_find_field(s, STR("b"))->below, &e));
        ASSERT(!field_set_find(s, &e));
        ASSERT(!field_set_find(NULL, &e));
}

TEST(depth_is_bounded)
{
        struct value v = value_empty_object;

        for (int i = 0; i < LIMIT_DEPTH + 10; i++) {
                struct member m = { STR("f:a"), v };

                v = value_of_members(&arena, &m, 1, true);
        }
        ASSERT_INT(field_set_decode(&arena, &v, &(const struct field_set *) { NULL }, NULL), ERR_LIMIT);
}
