#include "test.h"

#include "buf.h"
#include "compact.h"
#include "json.h"
#include "limits.h"

static const struct value *parse(struct arena *a, const char *text)
{
        const struct value *v = NULL;

        ASSERT_INT(json_parse(a, str_from(text), NULL, &v, NULL), 0);
        return v;
}

static struct str encoded(struct arena *a, const struct value *v)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        compact_encode(&b, v);
        ASSERT(!b.has_failed);
        return buf_to_arena(&b, a);
}

static struct str json(struct arena *a, const struct value *v)
{
        struct str s;

        ASSERT_INT(json_to_str(a, v, 0, &s, NULL), 0);
        return s;
}

/* The JSON that is written without decoding; `refused` if that is not possible. */
static struct str written(struct arena *a, struct str bytes, uint64_t version)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        char *exact = xmalloc(bytes.n); /* a read past the bytes is found */
        bool is_written;

        memcpy(exact, bytes.p, bytes.n);
        is_written = compact_append_json(&b, str_make(exact, bytes.n), version);
        free(exact);
        ASSERT(is_written || b.n == 0);
        return is_written ? buf_to_arena(&b, a) : STR("refused");
}

TEST(values_come_back_in_order)
{
        static const char *const texts[] = {
                "null",
                "true",
                "false",
                "0",
                "15",
                "16",
                "-1",
                "9223372036854775807",
                "-9223372036854775808",
                "0.5",
                "-1e300",
                "\"\"",
                "\"metadata\"",
                "\"f:metadata\"",
                "\"a string that is not in the dictionary\"",
                "\"0123456789012345678901234567890123456789012345678901234567890123456789\"",
                "[]",
                "{}",
                "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17]",
                "{\"z\":1,\"a\":2,\"m\":{\"q\":[{}]}}",
                "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\",\"managedFields\":[{"
                "\"fieldsV1\":{"
                "\"f:metadata\":{\".\":{},\"f:labels\":{\"f:zz\":{}}}}}]}}",
                "{\"q\":1,\"p\":1,\"o\":1,\"n\":1,\"m\":1,\"l\":1,\"k\":1,\"j\":1,\"i\":1,\"h\":1,\"g\":1,\"f\":1,"
                "\"e\":1,\"d\":1,"
                "\"c\":1,\"b\":1,\"a\":1}",
                ("{\"a key of more than sixty-three bytes, which needs a length of its own behind its first "
                 "byte\":\"\"}"),
        };
        _cleanup_arena_ struct arena a;

        arena_init(&a, "test", 0);
        for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
                const struct value *v = parse(&a, texts[i]), *w;
                struct str bytes = encoded(&a, v);

                ASSERT_INT(compact_decode(&a, bytes, &w, NULL), 0);
                ASSERT_CASE(texts[i], value_equal(v, w));
                ASSERT_STR_CASE(texts[i], json(&a, w), json(&a, v));
                ASSERT_STR_CASE(texts[i], written(&a, bytes, 0), json(&a, v));
        }
}

TEST(json_gets_the_version_without_decoding)
{
        static const struct {
                const char *given, *wanted;
        } cases[] = {
                { "{\"metadata\":{\"name\":\"a\"},\"x\":1}",
                  "{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"42\"},\"x\":1}" },
                { "{\"x\":{\"metadata\":{}},\"metadata\":{}}",
                  "{\"x\":{\"metadata\":{}},\"metadata\":{\"resourceVersion\":\"42\"}}" },
                { "{\"metadata\":{\"a\":1,\"b\":1,\"c\":1,\"d\":1,\"e\":1,\"f\":1,\"g\":1,\"h\":1,\"i\":1,\"j\":1,"
                  "\"k\":1,"
                  "\"l\":1,\"m\":1,\"n\":1,\"o\":1,\"p\":1}}",
                  "{\"metadata\":{\"a\":1,\"b\":1,\"c\":1,\"d\":1,\"e\":1,\"f\":1,\"g\":1,\"h\":1,\"i\":1,\"j\":1,"
                  "\"k\":1,"
                  "\"l\":1,\"m\":1,\"n\":1,\"o\":1,\"p\":1,\"resourceVersion\":\"42\"}}" },
                /* These need a decoder. */
                { "{\"metadata\":{\"resourceVersion\":\"7\"}}", "refused" },
                { "{\"metadata\":[]}", "refused" },
                { "{\"metadata\":\"\"}", "refused" },
                { "{}", "refused" },
                { "[]", "refused" },
        };
        _cleanup_arena_ struct arena a;

        arena_init(&a, "test", 0);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
                ASSERT_STR_CASE(cases[i].given, written(&a, encoded(&a, parse(&a, cases[i].given)), 42),
                                str_from(cases[i].wanted));
}

TEST(the_format_is_as_described)
{
        static const struct {
                const char *json;
                struct str bytes;
        } cases[] = {
                { "null", STR_INIT("\x02\x00") },
                { "7", STR_INIT("\x02\x37") },
                { "-2", STR_INIT("\x02\x03\x03") },
                { "300", STR_INIT("\x02\x03\xd8\x04") },
                { "[true,false]", STR_INIT("\x02\x12\x02\x01") },
                { "{\"kind\":\"ab\"}", STR_INIT("\x02\x21\x41\x42"
                                                "ab") },
                { "{\"f:kind\":{}}", STR_INIT("\x02\x21\xa1\x20") },
                { "{\"x\":\"metadata\"}", STR_INIT("\x02\x21\x01x\x82") },
                { "{\"involvedObject\":\"Normal\"}", STR_INIT("\x02\x21\x9e\xe9") },
                { "{\"f:firstTimestamp\":{}}", STR_INIT("\x02\x21\xff\x20") },
                { "{\"lastTimestamp\":0}", STR_INIT("\x02\x21\x3f\x00\x30") },
                { "{\"f:lastTimestamp\":0}", STR_INIT("\x02\x21\x3f\x1f\x30") },
                { "{\"Namespace\":\"Namespace\"}", STR_INIT("\x02\x21\x3f\x18\xf8") },
                { "1.5", STR_INIT("\x02\x04\0\0\0\0\0\0\xf8\x3f") },
        };
        _cleanup_arena_ struct arena a;

        arena_init(&a, "test", 0);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
                ASSERT_STR_CASE(cases[i].json, encoded(&a, parse(&a, cases[i].json)), cases[i].bytes);
}

/* Words that were added later are spelled out there. */
TEST(bytes_of_the_first_version_are_read)
{
        static const struct str bytes = STR_INIT("\x01\x22\x41\x45"
                                                 "Event"
                                                 "\x0e"
                                                 "involvedObject"
                                                 "\x21\x01"
                                                 "x\x82");
        static const char json[] = "{\"kind\":\"Event\",\"involvedObject\":{\"x\":\"metadata\"}}";
        _cleanup_arena_ struct arena a;
        const struct value *v;

        arena_init(&a, "test", 0);
        ASSERT_INT(compact_decode(&a, bytes, &v, NULL), 0);
        ASSERT_STR(written(&a, bytes, 0), str_from(json));
        ASSERT_STR(encoded(&a, v), encoded(&a, parse(&a, json)));
}

TEST(foreign_bytes_are_refused)
{
        static const struct {
                struct str bytes;
                const char *why;
        } cases[] = {
                { STR_INIT(""), "it ends early" },
                { STR_INIT("\x01"), "it ends early" },
                { STR_INIT("\x00\x00"), "its format has version 0, known are versions 1 to 2" },
                { STR_INIT("\x03\x00"), "its format has version 3, known are versions 1 to 2" },
                { STR_INIT("\x20"), "its format has version 32, known are versions 1 to 2" },
                { STR_INIT("\xff"), "its format has version 255, known are versions 1 to 2" },
                { STR_INIT("\x01\x08"), "a byte stands for nothing" },
                { STR_INIT("\x01\x0f"), "a byte stands for nothing" },
                { STR_INIT("\x01\xfe"), "a word is not in the dictionary" },
                { STR_INIT("\x01\xff"), "a word is not in the dictionary" },
                { STR_INIT("\x02\x21\x3f\x1e\x00"), "a word is not in the dictionary" },
                { STR_INIT("\x02\x21\x3f\x3d\x00"), "a word is not in the dictionary" },
                { STR_INIT("\x02\x21\x3f\x3e\x00"), "a word is not in the dictionary" },
                { STR_INIT("\x01\x03"), "it ends early" },
                { STR_INIT("\x01\x03\x80"), "it ends early" },
                { STR_INIT("\x01\x03\x80\x00"), "a number is too long" },
                { STR_INIT("\x01\x03\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"), "a number is too long" },
                { STR_INIT("\x01\x03\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), "a number is too long" },
                { STR_INIT("\x01\x04\x01\x02"), "a string ends early" },
                { STR_INIT("\x01\x05\x10"), "a count is larger than what follows" },
                { STR_INIT("\x01\x43"
                           "ab"),
                  "a string ends early" },
                { STR_INIT("\x01\x06\xff\xff\xff\xff\x0f"), "a count is larger than what follows" },
                { STR_INIT("\x01\x07\x02\x01"), "a count is larger than what follows" },
                { STR_INIT("\x01\x05"), "it ends early" },
                { STR_INIT("\x01\x12\x02"), "it ends early" },
                { STR_INIT("\x01\x21"), "it ends early" },
                { STR_INIT("\x01\x21\x02x"), "a string ends early" },
                { STR_INIT("\x01\x21\x3f"), "it ends early" },
                { STR_INIT("\x01\x21\x3f\x3fx"), "a string ends early" },
                { STR_INIT("\x02\x21\x3f\x05"), "it ends early" },
                { STR_INIT("\x01\x21\x01x"), "it ends early" },
                { STR_INIT("\x01\x22\x01x\x00\x01x\x00"), "a key is there twice" },
                { STR_INIT("\x01\x00\x00"), "something follows it" },
        };
        _cleanup_arena_ struct arena a;

        arena_init(&a, "test", 0);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_err_ struct err err = { 0 };
                const struct value *v = NULL;
                struct str copy = cases[i].bytes;
                char *exact = malloc(copy.n ? copy.n : 1);

                memcpy(exact, copy.p, copy.n);
                ASSERT_CASE(cases[i].why, compact_decode(&a, str_make(exact, copy.n), &v, &err) == ERR_INVALID);
                ASSERT_STR_CASE(cases[i].why,
                                str_skip(str_from(err_message(&err)), strlen("cannot decode compact value: ")),
                                str_from(cases[i].why));
                ASSERT(!v);
                ASSERT_CASE(cases[i].why, compact_decode_head(&a, str_make(exact, copy.n), &v, NULL) == ERR_INVALID);
                free(exact);
        }
}

TEST(a_head_is_the_metadata)
{
        static const struct {
                const char *object, *head;
        } cases[] = {
                { "{\"apiVersion\":\"v1\",\"kind\":\"K\",\"metadata\":{\"uid\":\"u\",\"name\":\"n\",\"labels\":{\"b\":"
                  "\"1\",\"a\":"
                  "\"2\"},\"managedFields\":[{\"manager\":\"m\",\"a\":[1,{}]}]},\"spec\":{\"b\":[1,{\"y\":1,\"x\":2}],"
                  "\"a\":{}}}",
                  "{\"apiVersion\":\"v1\",\"kind\":\"K\",\"metadata\":{\"uid\":\"u\",\"name\":\"n\",\"labels\":{\"b\":"
                  "\"1\",\"a\":"
                  "\"2\"}}}" },
                { "{\"spec\":{\"managedFields\":1},\"metadata\":{\"annotations\":{\"managedFields\":\"x\"}}}",
                  "{\"metadata\":{\"annotations\":{\"managedFields\":\"x\"}}}" },
                { "{}", "{}" },
                { "7", "7" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_arena_ struct arena a;
                _cleanup_buf_ struct buf b = BUF_INIT(0);
                const struct value *whole, *wanted, *head;

                arena_init(&a, "test", 0);
                ASSERT_INT(json_parse(&a, str_from(cases[i].object), NULL, &whole, NULL), 0);
                ASSERT_INT(json_parse(&a, str_from(cases[i].head), NULL, &wanted, NULL), 0);
                compact_encode(&b, whole);
                ASSERT_INT(compact_decode_head(&a, buf_str(&b), &head, NULL), 0);
                ASSERT_CASE(cases[i].object, value_equal(head, wanted));
        }
}

/* Keys that are there twice in a part that a head does not have: few of them, and many. */
TEST(equal_keys_are_refused_in_what_a_head_leaves_out)
{
        _cleanup_arena_ struct arena a;
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        const struct value *v;

        arena_init(&a, "test", 0);
        ASSERT_INT(compact_decode_head(&a, STR("\x01\x21\x01s\x22\x01x\x00\x01x\x00"), &v, NULL), ERR_INVALID);
        ASSERT_INT(compact_decode_head(&a, STR("\x01\x21\x01s\x22\x01x\x00\x01w\x00"), &v, NULL), 0);
        for (int n = 19; n <= 20; n++) {
                buf_clear(&b);
                buf_append_literal(&b, "\x01\x21\x01s\x07\x14");
                for (int i = 0; i < 20; i++) {
                        buf_append_char(&b, 1);
                        buf_append_char(&b, (char)('z' - i % n));
                        buf_append_char(&b, 0);
                }
                ASSERT_INT(compact_decode_head(&a, buf_str(&b), &v, NULL), n == 19 ? ERR_INVALID : 0);
        }
}

TEST(many_equal_keys_are_refused)
{
        _cleanup_arena_ struct arena a;
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        const struct value *v;

        arena_init(&a, "test", 0);
        buf_append_literal(&b, "\x01\x07\x14");
        for (int i = 0; i < 20; i++) {
                buf_append_char(&b, 1);
                buf_append_char(&b, (char)('z' - i % 19));
                buf_append_char(&b, 0);
        }
        ASSERT_INT(compact_decode(&a, buf_str(&b), &v, NULL), ERR_INVALID);
}

TEST(depth_is_bounded)
{
        _cleanup_arena_ struct arena a;
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        const struct value *v;

        arena_init(&a, "test", 0);
        buf_append_char(&b, 1);
        buf_append_repeat(&b, '\x11', LIMIT_DEPTH - 1);
        buf_append_char(&b, '\x10');
        ASSERT_INT(compact_decode(&a, buf_str(&b), &v, NULL), 0);
        buf_clear(&b);
        buf_append_char(&b, 1);
        buf_append_repeat(&b, '\x11', LIMIT_DEPTH);
        buf_append_char(&b, '\x10');
        ASSERT_INT(compact_decode(&a, buf_str(&b), &v, NULL), ERR_INVALID);
        buf_clear(&b);
        buf_append_char(&b, 1);
        for (int i = 0; i < LIMIT_DEPTH; i++)
                buf_append_literal(&b, "\x21\x01x");
        buf_append_literal(&b, "\x20");
        ASSERT_INT(compact_decode(&a, buf_str(&b), &v, NULL), ERR_INVALID);
}

TEST(usual_objects_are_smaller_than_their_json)
{
        _cleanup_arena_ struct arena a;
        const struct value *v;

        arena_init(&a, "test", 0);
        v = parse(
                &a,
                "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\",\"namespace\":\"default\","
                "\"uid\":\"0d7c6f0e-6f4a-4b0e-9d0a-3a9e5b6b7c11\",\"creationTimestamp\":\"2024-05-01T09:59:12Z\","
                "\"labels\":{\"a\":\"b\"}},\"data\":{\"key\":\"value\"}}");
        ASSERT(encoded(&a, v).n * 2 < json(&a, v).n * 1 + 60);
}
