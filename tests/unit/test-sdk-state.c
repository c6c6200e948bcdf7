/* Desired state as bytes: what other encoders write, what a newer protocol adds and what nobody should send. */
#include "test.h"

#include "buf.h"
#include "json.h"
#include "log.h"
#include "sdk.h"

static struct arena arena;

/* Runs the function on a request whose desired state is the bytes; gives the response. */
static struct fn_parts run_on(void (*run)(struct weft_request *, struct weft_response *), struct str desired)
{
        struct weft_function function = { .name = "function-test", .run = run };
        struct fn_parts request = { .message = &proto_fn_v1_RunFunctionRequest }, response;
        _cleanup_err_ struct err err = { 0 };
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        bool is_fatal = true;
        struct flags flags;

        log_set_level(LOG_ERROR);
        request.part[FN_REQUEST_DESIRED] = desired;
        ASSERT_INT(flags_read(&flags, &function, (const char *const[]) { NULL }, NULL, &err), 0);
        sdk_run(&flags, &arena, &request, &b, &is_fatal);
        flags_done(&flags);
        ASSERT_INT(fn_parts_split(&arena, &proto_fn_v1_RunFunctionResponse, buf_to_arena(&b, &arena), &response, &err),
                   0);
        ASSERT(is_fatal == (response.part[FN_RESPONSE_RESULTS].p != NULL));
        return response;
}

static struct str first_result(const struct fn_parts *response)
{
        const struct value *results;

        ASSERT_INT(fn_parts_get(&arena, response, FN_RESPONSE_RESULTS, &results, NULL), 0);
        return value_str(value_find(value_item(results, 0), "message"));
}

static void run_compose(struct weft_request *req, struct weft_response *rsp)
{
        weft_compose(rsp, "a", "v1", "A");
}

static void run_status(struct weft_request *req, struct weft_response *rsp)
{
        weft_set_composite_ready(rsp, WEFT_READY_TRUE);
}

static void run_nothing(struct weft_request *req, struct weft_response *rsp)
{
}

/* By their numbers: State has composite 1 and resources 2 (key 1, value 2); Resource has resource 1, connection_details 2 (key 1, value
 * 2) and ready 3. */
TEST(what_is_not_touched_stays_as_it_came)
{
        static const struct {
                const char *what;
                struct str desired, wanted;
                void (*run)(struct weft_request *, struct weft_response *);
        } cases[] = {
                { "nothing is touched: not even nonsense", STR_INIT("\xff\xff"), STR_INIT("\xff\xff"), run_nothing },
                { "a field that is not known", STR_INIT("\x82\x7d\x01x"), STR_INIT("\n\x02\x18\x01\x82\x7d\x01x"),
                  run_status },
                { "a number where a message belongs", STR_INIT("\x08\x05"), STR_INIT("\n\x02\x18\x01\x08\x05"),
                  run_status },
                { "a composite in two pieces", STR_INIT("\n\x02\x18\x02\n\x07\x12\x05\n\x01k\x12\x00"),
                  STR_INIT("\n\t\x12\x05\n\x01k\x12\x00\x18\x01"), run_status },
                { "a resource in two pieces, beside the one that is composed",
                  STR_INIT("\x12\x0b\n\x01z\x12\x02\x18\x02\x12\x02\x18\x01"),
                  STR_INIT("\n\x02\x18\x01\x12\x09\n\x01z\x12\x04\x18\x02\x18\x01"), run_status },
                { "a resource without a name", STR_INIT("\x12\x02\x12\x00"),
                  STR_INIT("\n\x02\x18\x01\x12\x04\n\x00\x12\x00"), run_status },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct fn_parts response;

                arena_init(&arena, "test", 0);
                response = run_on(cases[i].run, cases[i].desired);
                ASSERT_STR_CASE(cases[i].what, response.part[FN_RESPONSE_DESIRED], cases[i].wanted);
                arena_done(&arena);
        }
}

TEST(state_that_does_not_decode_is_fatal)
{
        static const struct {
                const char *what;
                struct str desired;
                void (*run)(struct weft_request *, struct weft_response *);
        } cases[] = {
                { "the state", STR_INIT("\xff\xff"), run_compose },
                { "an entry", STR_INIT("\x12\x02\n\x05"), run_compose },
                { "the resource that is edited",
                  STR_INIT("\x12\x07\n\x01"
                           "a\x12\x02\n\x05"),
                  run_compose },
                { "the composite", STR_INIT("\n\x02\n\x05"), run_status },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct fn_parts response;

                arena_init(&arena, "test", 0);
                response = run_on(cases[i].run, cases[i].desired);
                ASSERT_CASE(cases[i].what,
                            str_starts_with(first_result(&response), STR("cannot read the desired state: ")));
                arena_done(&arena);
        }
}

static void run_removes_and_composes(struct weft_request *req, struct weft_response *rsp)
{
        weft_set_ready(rsp, "a", WEFT_READY_TRUE);
        weft_remove(rsp, "a");
        weft_compose(rsp, "a", "v1", "A");
}

TEST(composing_what_was_removed_begins_anew)
{
        const struct value *desired;
        struct fn_parts response;
        struct str text;

        arena_init(&arena, "test", 0);
        response = run_on(run_removes_and_composes, STR("\x12\x07\n\x01"
                                                        "a\x12\x02\x18\x02"));
        ASSERT_INT(fn_parts_get(&arena, &response, FN_RESPONSE_DESIRED, &desired, NULL), 0);
        ASSERT_INT(json_to_str(&arena, desired, JSON_SORT_KEYS, &text, NULL), 0);
        ASSERT_STR(text, STR("{\"resources\":{\"a\":{\"resource\":{\"apiVersion\":\"v1\",\"kind\":\"A\"}}}}"));
        arena_done(&arena);
}

static void run_makes_no_object(struct weft_request *req, struct weft_response *rsp)
{
        weft_set_int(weft_compose(rsp, "a", "v1", "A"), NULL, 5);
}

/* The response passes on the desired state of earlier steps; it does not count, because the run ends. */
TEST(a_resource_that_cannot_be_encoded_is_fatal)
{
        struct fn_parts response;

        arena_init(&arena, "test", 0);
        response = run_on(run_makes_no_object, STR(""));
        ASSERT_STR(first_result(&response),
                   STR("cannot encode the response: desired resource \"a\": cannot encode "
                       "apiextensions.fn.proto.v1.Resource: field resource: wanted an object, got a number"));
        ASSERT_STR(response.part[FN_RESPONSE_DESIRED], STR(""));
        arena_done(&arena);
}
