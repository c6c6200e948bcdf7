/* The codec of messages is held against the table-driven one, which is held against Go's: what it reads and writes again must be
 * the same bytes. */
#include "test.h"

#include "buf.h"
#include "json.h"
#include "message.h"
#include "proto-tables.h"

static const char *const requests[] = {
        "{}",
        "{\"meta\":{\"tag\":\"t\",\"capabilities\":[\"CAPABILITY_CAPABILITIES\",\"CAPABILITY_CREDENTIALS\"]}}",
        "{\"observed\":{},\"desired\":{},\"context\":{},\"input\":{\"a\":1}}",
        "{\"observed\":{\"composite\":{\"resource\":{\"kind\":\"X\",\"n\":1.5},\"connectionDetails\":{\"b\":\"AQI=\","
        "\"a\":\"\"},\"ready\":\"READY_FALSE\"},\"resources\":{\"b\":{\"resource\":{}},\"\":{},\"a\":{\"ready\":"
        "\"READY_TRUE\"}}}}",
        "{\"extraResources\":{\"x\":{\"items\":[{\"resource\":{\"kind\":\"A\"}},{}]},\"empty\":{}},"
        "\"requiredResources\":{\"r\":"
        "{\"items\":[{\"resource\":{\"kind\":\"B\"},\"connectionDetails\":{\"k\":\"AA==\"}}]}}}",
        "{\"credentials\":{\"c\":{\"credentialData\":{\"data\":{\"user\":\"eA==\",\"empty\":\"\"}}}},"
        "\"requiredSchemas\":{\"s\":"
        "{\"openapiV3\":{\"type\":\"object\"}},\"none\":{}}}",
};

static const char *const responses[] = {
        "{}",
        "{\"meta\":{\"tag\":\"t\",\"ttl\":\"60s\"}}",
        "{\"meta\":{\"ttl\":\"0s\"},\"desired\":{\"composite\":{},\"resources\":{\"a\":{\"resource\":{\"x\":[1,null,{}]"
        "}}}}}",
        "{\"meta\":{\"ttl\":\"1.5s\"},\"results\":[{\"severity\":\"SEVERITY_FATAL\",\"message\":\"m\"},{\"severity\":"
        "\"SEVERITY_NORMAL\",\"message\":\"\",\"reason\":\"\",\"target\":\"TARGET_UNSPECIFIED\"},{\"reason\":\"r\","
        "\"target\":"
        "\"TARGET_COMPOSITE_AND_CLAIM\"}]}",
        "{\"conditions\":[{\"type\":\"T\",\"status\":\"STATUS_CONDITION_TRUE\",\"reason\":\"R\",\"message\":\"M\","
        "\"target\":"
        "\"TARGET_COMPOSITE\"},{\"type\":\"U\"}],\"context\":{\"k\":{}},\"output\":{\"o\":true}}",
        "{\"requirements\":{}}",
        "{\"requirements\":{\"extraResources\":{\"e\":{\"apiVersion\":\"v1\",\"kind\":\"K\",\"matchName\":\"n\"}},"
        "\"resources\":{"
        "\"b\":{\"apiVersion\":\"v1\",\"kind\":\"K\",\"namespace\":\"\",\"matchLabels\":{\"labels\":{\"y\":\"1\",\"x\":"
        "\"\"}}},\"a\":"
        "{\"matchLabels\":{}},\"n\":{\"matchName\":\"\",\"namespace\":\"ns\"}},\"schemas\":{\"s\":{\"apiVersion\":"
        "\"v1\",\"kind\":"
        "\"S\"}},\"watchResources\":[{\"apiVersion\":\"v1\",\"kind\":\"K\",\"name\":\"n\",\"namespace\":\"m\"}]}}",
};

static struct str encode(struct arena *a, const struct proto_message *m, const char *json)
{
        _cleanup_err_ struct err err = { 0 };
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        const struct value *v;

        ASSERT(json_parse(a, str_from(json), NULL, &v, &err) >= 0);
        ASSERT(proto_encode(&b, m, v, NULL, &err) >= 0);
        return buf_to_arena(&b, a);
}

/* As if somebody had looked at everything: no bytes are left to copy. */
static void look_at_struct(struct arena *a, struct fn_struct *s)
{
        _cleanup_err_ struct err err = { 0 };
        const struct value *v;

        ASSERT(fn_struct_value(a, s, &v, &err) >= 0);
        ASSERT(!v == !s->encoded.p);
        s->encoded = STR_NONE;
}

static void look_at_state(struct arena *a, struct fn_state *s)
{
        _cleanup_err_ struct err err = { 0 };

        ASSERT(fn_state_open(a, s, &err) >= 0);
        look_at_struct(a, &s->composite.object);
        for (size_t i = 0; i < s->n_resources; i++)
                look_at_struct(a, (struct fn_struct *)&s->resources[i].object);
        s->encoded = STR_NONE;
}

static void check_request(const char *json, bool looks)
{
        _cleanup_err_ struct err err = { 0 };
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        _cleanup_arena_ struct arena a;
        struct fn_request req;
        struct str bytes;

        arena_init(&a, "test", 0);
        bytes = encode(&a, &proto_fn_v1_RunFunctionRequest, json);
        ASSERT(fn_request_decode(&a, bytes, &req, &err) >= 0);
        if (looks) {
                look_at_state(&a, &req.observed);
                look_at_state(&a, &req.desired);
                look_at_struct(&a, &req.input);
                look_at_struct(&a, &req.context);
        }
        ASSERT(fn_request_encode(&a, &req, &b, &err) >= 0);
        ASSERT_STR(buf_str(&b), bytes);
}

static void check_response(const char *json, bool looks)
{
        _cleanup_err_ struct err err = { 0 };
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        _cleanup_arena_ struct arena a;
        struct fn_response rsp;
        struct str bytes;

        arena_init(&a, "test", 0);
        bytes = encode(&a, &proto_fn_v1_RunFunctionResponse, json);
        ASSERT(fn_response_decode(&a, bytes, &rsp, &err) >= 0);
        if (looks) {
                look_at_state(&a, &rsp.desired);
                look_at_struct(&a, &rsp.context);
                look_at_struct(&a, &rsp.output);
        }
        ASSERT(fn_response_encode(&a, &rsp, &b, &err) >= 0);
        ASSERT_STR(buf_str(&b), bytes);
}

TEST(what_is_read_is_written_as_it_was)
{
        for (size_t i = 0; i < ARRAY_SIZE(requests); i++) {
                check_request(requests[i], false);
                check_request(requests[i], true);
        }
        for (size_t i = 0; i < ARRAY_SIZE(responses); i++) {
                check_response(responses[i], false);
                check_response(responses[i], true);
        }
}

TEST(maps_in_any_order_are_sorted_and_the_last_of_equal_keys_counts)
{
        /* desired.resources: b, a, b again (with ready true). */
        static const char wire[] = "\x1a\x13\x12\x03\x0a\x01"
                                   "b\x12\x03\x0a\x01"
                                   "a\x12\x07\x0a\x01"
                                   "b\x12\x02\x18\x01";
        _cleanup_err_ struct err err = { 0 };
        _cleanup_arena_ struct arena a;
        struct fn_request req;

        arena_init(&a, "test", 0);
        ASSERT(fn_request_decode(&a, str_make(wire, sizeof(wire) - 1), &req, &err) >= 0);
        ASSERT(fn_state_open(&a, &req.desired, &err) >= 0);
        ASSERT_INT(req.desired.n_resources, 2);
        ASSERT_STR(req.desired.resources[0].name, STR("a"));
        ASSERT_STR(req.desired.resources[1].name, STR("b"));
        ASSERT_INT(req.desired.resources[1].ready, FN_READY_TRUE);
}

TEST(malformed_bytes_are_errors)
{
        static const struct {
                struct str wire;
                const char *error;
        } cases[] = {
                { STR_INIT("\x0a\x02\x0a\x05"), "cannot decode RunFunctionRequest" },
                { STR_INIT("\x0a\x03\x0a\x01\xff"),
                  "cannot decode RunFunctionRequest: field meta.tag: string field contains invalid UTF-8" },
                { STR_INIT("\x0a\x03\x12\x01\x80"),
                  "cannot decode RunFunctionRequest: field meta.capabilities: malformed number" },
                { STR_INIT("\x32\x03\x0a\x01\xff"),
                  "cannot decode RunFunctionRequest: field key: string field contains invalid UTF-8" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_err_ struct err err = { 0 };
                _cleanup_arena_ struct arena a;
                struct fn_request req;

                arena_init(&a, "test", 0);
                ASSERT(fn_request_decode(&a, cases[i].wire, &req, &err) < 0);
                ASSERT(str_starts_with(str_from(err_message(&err)), str_from(cases[i].error)));
        }
}

TEST(states_can_be_edited)
{
        _cleanup_arena_ struct arena a;
        struct fn_state s = { .is_open = true };

        arena_init(&a, "test", 0);
        for (const char *p = "cabbage"; *p; p++)
                fn_state_set(&a, &s,
                             &(struct fn_resource) { .name = arena_copy(&a, str_make(p, 1)), .ready = *p == 'g' });
        ASSERT_INT(s.n_resources, 5);
        for (size_t i = 1; i < s.n_resources; i++)
                ASSERT(str_compare(s.resources[i - 1].name, s.resources[i].name) < 0);
        fn_state_remove(&a, &s, STR("b"));
        fn_state_remove(&a, &s, STR("z"));
        ASSERT_INT(s.n_resources, 4);
        ASSERT(!fn_state_find(&s, STR("b")));
        ASSERT_INT(fn_state_find(&s, STR("g"))->ready, FN_READY_TRUE);
}

TEST(ints_become_doubles)
{
        _cleanup_err_ struct err err = { 0 };
        _cleanup_arena_ struct arena a;
        const struct value *v, *numbers;

        arena_init(&a, "test", 0);
        ASSERT(json_parse(&a, STR("{\"a\":[1,{\"b\":2}],\"s\":\"x\"}"), NULL, &v, &err) >= 0);
        numbers = fn_value_numbers(&a, v);
        ASSERT(value_is_double(value_item(value_get(numbers, STR("a")), 0)));
        ASSERT(value_equal_numeric(v, numbers));
        ASSERT(fn_value_numbers(&a, numbers) == numbers);
        ASSERT(!fn_value_numbers(&a, NULL));
}

TEST(a_response_begins_with_what_the_request_had)
{
        _cleanup_arena_ struct arena a;
        struct fn_request req = { .tag = STR("t"), .desired = { .is_present = true, .encoded = STR("x") } };
        struct fn_response rsp;

        arena_init(&a, "test", 0);
        fn_response_init(&rsp, &req);
        ASSERT_STR(rsp.tag, STR("t"));
        ASSERT_INT(rsp.ttl_ns, 60000000000);
        ASSERT_STR(rsp.desired.encoded, STR("x"));
        for (int i = 0; i < 5; i++)
                fn_response_add_result(&a, &rsp, FN_SEVERITY_WARNING, "warning %d", i);
        ASSERT_INT(rsp.n_results, 5);
        ASSERT_STR(rsp.results[4].message, STR("warning 4"));
        ASSERT_INT(rsp.results[0].target, FN_TARGET_COMPOSITE);
}

TEST(requirements_are_kept_by_name)
{
        static const char *const names[] = { "b", "a", "c", "b" };
        _cleanup_arena_ struct arena a;
        struct fn_response rsp = { 0 };
        struct fn_requirements before;

        arena_init(&a, "test", 0);
        for (size_t i = 0; i < ARRAY_SIZE(names); i++)
                fn_response_require(&a, &rsp,
                                    &(struct fn_selector) { .name = str_from(names[i]),
                                                            .kind = arena_printf(&a, "K%zu", i),
                                                            .match_name = STR("n") });
        ASSERT_INT(rsp.requirements.n_resources, 3);
        ASSERT_STR(rsp.requirements.resources[1].kind, STR("K3"));
        before = rsp.requirements;
        ASSERT(fn_requirements_equal(&before, &rsp.requirements));
        fn_response_require(&a, &rsp,
                            &(struct fn_selector) { .name = STR("b"), .kind = STR("K3"), .match_name = STR("m") });
        ASSERT(!fn_requirements_equal(&before, &rsp.requirements));
}
