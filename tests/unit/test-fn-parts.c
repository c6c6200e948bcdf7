#include "test.h"

#include "arena.h"
#include "buf.h"
#include "fn-parts.h"
#include "json.h"

static const struct value *parse(struct arena *a, const char *json)
{
        _cleanup_err_ struct err err = { 0 };
        const struct value *v;

        if (json_parse(a, str_from(json), NULL, &v, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s: %s", json, err_message(&err));
        return v;
}

static struct str encode(struct arena *a, const struct proto_message *m, const char *json)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        _cleanup_err_ struct err err = { 0 };

        if (proto_encode(&b, m, parse(a, json), NULL, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s: %s", json, err_message(&err));
        return buf_to_arena(&b, a);
}

static struct fn_parts split(struct arena *a, const struct proto_message *m, struct str bytes)
{
        _cleanup_err_ struct err err = { 0 };
        struct fn_parts parts;

        if (fn_parts_split(a, m, bytes, &parts, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
        return parts;
}

static struct str join(struct arena *a, const struct fn_parts *parts)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        fn_parts_append(&b, parts);
        return buf_to_arena(&b, a);
}

static struct str as_json(struct arena *a, const struct value *v)
{
        _cleanup_err_ struct err err = { 0 };
        struct str s;

        if (!v)
                return STR("absent");
        ASSERT(json_to_str(a, v, JSON_SORT_KEYS, &s, &err) == 0);
        return s;
}

static struct str get(struct arena *a, const struct fn_parts *parts, uint32_t number)
{
        _cleanup_err_ struct err err = { 0 };
        const struct value *v;

        if (fn_parts_get(a, parts, number, &v, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
        return as_json(a, v);
}

static const char request_json[] =
        "{\"meta\":{\"tag\":\"t\"},\"observed\":{\"composite\":{\"resource\":{\"kind\":\"X\"}}},\"desired\":{},"
        "\"input\":{\"a\":1},\"context\":{},\"credentials\":{\"c\":{\"credentialData\":{\"data\":{\"k\":\"eA==\"}}},"
        "\"d\":{}},\"requiredResources\":{\"r\":{}}}";

TEST(split_and_append_is_the_identity)
{
        _cleanup_arena_ struct arena a;

        arena_init(&a, "test", 0);
        struct str bytes = encode(&a, &proto_fn_v1_RunFunctionRequest, request_json);
        struct fn_parts parts = split(&a, &proto_fn_v1_RunFunctionRequest, bytes);

        ASSERT_STR(join(&a, &parts), bytes);
        ASSERT_STR(get(&a, &parts, FN_REQUEST_META), STR("{\"tag\":\"t\"}"));
        ASSERT_STR(get(&a, &parts, FN_REQUEST_OBSERVED), STR("{\"composite\":{\"resource\":{\"kind\":\"X\"}}}"));
        ASSERT_STR(get(&a, &parts, FN_REQUEST_INPUT), STR("{\"a\":1}"));
        ASSERT_STR(get(&a, &parts, FN_REQUEST_CREDENTIALS),
                   STR("{\"c\":{\"credentialData\":{\"data\":{\"k\":\"eA==\"}}},\"d\":{}}"));
        ASSERT_STR(get(&a, &parts, FN_REQUEST_REQUIRED_RESOURCES), STR("{\"r\":{}}"));
}

TEST(absent_and_empty_differ)
{
        _cleanup_arena_ struct arena a;

        arena_init(&a, "test", 0);
        struct fn_parts parts = split(&a, &proto_fn_v1_RunFunctionRequest,
                                      encode(&a, &proto_fn_v1_RunFunctionRequest, "{\"desired\":{},\"context\":{}}"));

        ASSERT(parts.part[FN_REQUEST_DESIRED].p && parts.part[FN_REQUEST_DESIRED].n == 0);
        ASSERT(!parts.part[FN_REQUEST_INPUT].p);
        ASSERT_STR(get(&a, &parts, FN_REQUEST_CONTEXT), STR("{}"));
        ASSERT_STR(get(&a, &parts, FN_REQUEST_INPUT), STR("absent"));
        ASSERT_STR(get(&a, &parts, FN_REQUEST_CREDENTIALS), STR("absent"));
}

/* Protobuf says that the fields of a message may come in any order and several times, and that single messages then merge. */
TEST(scattered_fields_are_gathered)
{
        _cleanup_arena_ struct arena a;
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        arena_init(&a, "test", 0);
        buf_append_str(&b, encode(&a, &proto_fn_v1_RunFunctionRequest, "{\"credentials\":{\"a\":{}}}"));
        buf_append_str(&b, encode(&a, &proto_fn_v1_RunFunctionRequest, "{\"input\":{\"x\":true}}"));
        buf_append_str(&b, encode(&a, &proto_fn_v1_RunFunctionRequest, "{\"credentials\":{\"b\":{}}}"));
        buf_append_str(&b, encode(&a, &proto_fn_v1_RunFunctionRequest, "{\"input\":{\"y\":false}}"));
        buf_append_str(&b, encode(&a, &proto_fn_v1_RunFunctionRequest, "{\"credentials\":{\"c\":{}}}"));
        struct fn_parts parts = split(&a, &proto_fn_v1_RunFunctionRequest, buf_str(&b));

        ASSERT_STR(get(&a, &parts, FN_REQUEST_CREDENTIALS), STR("{\"a\":{},\"b\":{},\"c\":{}}"));
        ASSERT_STR(get(&a, &parts, FN_REQUEST_INPUT), STR("{\"x\":true,\"y\":false}"));
}

TEST(unknown_fields_travel_on)
{
        _cleanup_arena_ struct arena a;
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        arena_init(&a, "test", 0);
        proto_append_varint_field(&b, 2000, 7);
        proto_append_varint_field(&b, FN_RESPONSE_CONTEXT, 7); /* not the wire type of field 4 */
        proto_append_bytes_field(&b, FN_RESPONSE_DESIRED, STR(""));
        struct fn_parts parts = split(&a, &proto_fn_v1_RunFunctionResponse, buf_str(&b));
        struct str out = join(&a, &parts);

        ASSERT(!parts.part[FN_RESPONSE_CONTEXT].p);
        ASSERT_INT(out.n, b.n);
        ASSERT_STR(str_skip(out, 2), str_first(buf_str(&b), b.n - 2));
}

/* The engine's hot path: the response's desired state and context go into the next request as bytes. */
TEST(desired_state_travels_undecoded)
{
        _cleanup_arena_ struct arena a;

        arena_init(&a, "test", 0);
        struct fn_parts request =
                split(&a, &proto_fn_v1_RunFunctionRequest, encode(&a, &proto_fn_v1_RunFunctionRequest, request_json));
        struct fn_parts response =
                split(&a, &proto_fn_v1_RunFunctionResponse,
                      encode(&a, &proto_fn_v1_RunFunctionResponse,
                             "{\"desired\":{\"resources\":{\"b\":{\"ready\":\"READY_TRUE\"}}},\"context\":{\"k\":1},"
                             "\"results\":[{\"severity\":\"SEVERITY_NORMAL\",\"message\":\"m\"}]}"));

        request.part[FN_REQUEST_DESIRED] = response.part[FN_RESPONSE_DESIRED];
        request.part[FN_REQUEST_CONTEXT] = response.part[FN_RESPONSE_CONTEXT];
        struct fn_parts next = split(&a, &proto_fn_v1_RunFunctionRequest, join(&a, &request));

        ASSERT_STR(get(&a, &next, FN_REQUEST_DESIRED), STR("{\"resources\":{\"b\":{\"ready\":\"READY_TRUE\"}}}"));
        ASSERT_STR(get(&a, &next, FN_REQUEST_CONTEXT), STR("{\"k\":1}"));
        ASSERT_STR(get(&a, &response, FN_RESPONSE_RESULTS),
                   STR("[{\"message\":\"m\",\"severity\":\"SEVERITY_NORMAL\"}]"));
}

TEST(set_encodes_one_field)
{
        _cleanup_arena_ struct arena a;
        _cleanup_err_ struct err err = { 0 };
        struct fn_parts parts = { .message = &proto_fn_v1_RunFunctionRequest };

        arena_init(&a, "test", 0);
        ASSERT_INT(fn_parts_set(&a, &parts, FN_REQUEST_INPUT, parse(&a, "{\"n\":3}"), &err), 0);
        ASSERT_INT(fn_parts_set(&a, &parts, FN_REQUEST_REQUIRED_SCHEMAS, parse(&a, "{\"s\":{}}"), &err), 0);
        ASSERT_STR(join(&a, &parts),
                   encode(&a, &proto_fn_v1_RunFunctionRequest, "{\"input\":{\"n\":3},\"requiredSchemas\":{\"s\":{}}}"));
        ASSERT_INT(fn_parts_set(&a, &parts, FN_REQUEST_INPUT, NULL, &err), 0);
        ASSERT(!parts.part[FN_REQUEST_INPUT].p);
        ASSERT(fn_parts_set(&a, &parts, FN_REQUEST_META, parse(&a, "{\"tag\":1}"), &err) < 0);
        ASSERT(fn_parts_set(&a, &parts, FN_REQUEST_CREDENTIALS, parse(&a, "{\"c\":{\"x\":1}}"), &err) < 0);
}

/* The digest is that of the bytes proto.MarshalOptions{Deterministic: true} gives: here, of an empty message and of
 * 1a 00 (an empty desired) by hand. */
TEST(tag_is_a_digest_without_meta)
{
        _cleanup_arena_ struct arena a;
        _cleanup_err_ struct err err = { 0 };
        struct fn_parts parts = { .message = &proto_fn_v1_RunFunctionRequest };
        struct str tag;

        arena_init(&a, "test", 0);
        parts.part[FN_REQUEST_META] = STR("\x0a\x01x");
        ASSERT_INT(fn_request_tag(&a, &parts, &tag, &err), 0);
        ASSERT_STR(tag, STR("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"));
        parts.part[FN_REQUEST_DESIRED] = STR("");
        ASSERT_INT(fn_request_tag(&a, &parts, &tag, &err), 0);
        ASSERT_STR(tag, STR("fdbb66f97af044e4b88b0bb0a4789f8f014f98b53f5fe11102bd19f45d53c45b"));
}

TEST(tag_ignores_the_order_of_maps)
{
        _cleanup_arena_ struct arena a;
        _cleanup_err_ struct err err = { 0 };
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct fn_parts parts = { .message = &proto_fn_v1_RunFunctionRequest }, swapped;
        struct str x, y;

        arena_init(&a, "test", 0);
        parts.part[FN_REQUEST_DESIRED] =
                encode(&a, &proto_fn_v1_State, "{\"resources\":{\"a\":{},\"b\":{\"ready\":\"READY_TRUE\"}}}");
        swapped = parts;
        buf_append_str(&b, encode(&a, &proto_fn_v1_State, "{\"resources\":{\"b\":{\"ready\":\"READY_TRUE\"}}}"));
        buf_append_str(&b, encode(&a, &proto_fn_v1_State, "{\"resources\":{\"a\":{}}}"));
        swapped.part[FN_REQUEST_DESIRED] = buf_str(&b);
        ASSERT_INT(fn_request_tag(&a, &parts, &x, &err), 0);
        ASSERT_INT(fn_request_tag(&a, &swapped, &y, &err), 0);
        ASSERT_STR(x, y);
        swapped.part[FN_REQUEST_CONTEXT] = STR("\xff");
        ASSERT(fn_request_tag(&a, &swapped, &y, &err) < 0);
}

TEST(malformed_bytes_are_refused)
{
        _cleanup_arena_ struct arena a;
        _cleanup_err_ struct err err = { 0 };
        struct fn_parts parts;

        arena_init(&a, "test", 0);
        ASSERT(fn_parts_split(&a, &proto_fn_v1_RunFunctionRequest, STR("\x0a\x05x"), &parts, &err) < 0);
        ASSERT(str_starts_with(str_from(err_message(&err)),
                               STR("cannot decode apiextensions.fn.proto.v1.RunFunctionRequest: ")));
        /* field 3 twice, each half of a field: 0a 02 | 0a 00 */
        ASSERT(fn_parts_split(&a, &proto_fn_v1_RunFunctionRequest, STR("\x1a\x02\x0a\x02\x1a\x02\x0a\x00"), &parts,
                              &err) < 0);
        ASSERT(fn_parts_split(&a, &proto_fn_v1_RunFunctionRequest, STR("\x1a\x02\x0a\x00\x1a\x02\x0a\x02"), &parts,
                              &err) < 0);
}
