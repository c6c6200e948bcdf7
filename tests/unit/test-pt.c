/* Patch and transform against what the real function answered (tests/golden/functions/patch-and-transform.jsonl, made by the interop driver), and
 * what is our own: integral numbers, what kills the real process, limits. */
#include "values.h"

#include "buf.h"
#include "functions.h"
#include "input.h"
#include "patch.h"
#include "proto-tables.h"
#include "park.h"
#include "pt.h"

static const struct json_read_options doubles = { .numbers_as_double = true };

static struct deadline deadline = { INT64_MAX };
static struct cancel *cancel;
static size_t budget_bytes;

/* The request, given as JSON, through the wire form and back as a response in the same notation. */
static const struct value *answer(const struct value *request)
{
        _cleanup_err_ struct err err = { 0 };
        _cleanup_buf_ struct buf b = BUF_INIT(0), reply = BUF_INIT(0);
        _cleanup_arena_ struct arena room;
        struct run run = { .arena = &room, .deadline = deadline, .cancel = cancel };
        struct fn_request req;
        struct fn_response rsp;
        const struct value *v;

        arena_init(&room, "call", budget_bytes);
        if (proto_encode(&b, &proto_fn_v1_RunFunctionRequest, request, NULL, &err) < 0 ||
            fn_request_decode(&room, buf_str(&b), &req, &err) < 0 ||
            function_patch_and_transform.run(&run, &req, &rsp, &err) < 0 ||
            fn_response_encode(&room, &rsp, &reply, &err) < 0 ||
            proto_decode(&arena, &proto_fn_v1_RunFunctionResponse, buf_to_arena(&reply, &arena), NULL, &v, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s: %s", text_of(request, JSON_SORT_KEYS), err_message(&err));
        return v;
}

/* Details of decoding are in words of our own. */
static const struct value *without_details(const struct value *response)
{
        const struct value *results = value_get(response, STR("results"));
        const struct value *message = value_get(value_item(results, 0), STR("message"));
        static const char end[] = "into *v1beta1.Resources: ";
        ptrdiff_t at = str_find(value_str(message), str_from(end));

        if (at < 0)
                return response;
        message = value_put(&arena, value_of_str(str_first(value_str(message), (size_t)at + strlen(end))));
        results = value_with_item(&arena, results, 0,
                                  value_with(&arena, value_item(results, 0), STR("message"), message));
        return value_with(&arena, response, STR("results"), results);
}

TEST(golden)
{
        _cleanup_buf_ struct buf text = BUF_INIT(0);
        const struct value *request = NULL, *response = NULL;
        struct str rest, line;
        size_t n = 0;

        begin();
        ASSERT(input_read(TEST_SOURCE_DIR "/tests/golden/functions/patch-and-transform.jsonl", &text, NULL) >= 0);
        rest = buf_str(&text);
        while (str_split(&rest, '\n', &line)) {
                const struct value *row, *wanted, *got;

                ASSERT(json_parse(&arena, line, &doubles, &row, NULL) >= 0);
                wanted = value_get(row, STR("response"));
                if (!request) {
                        request = value_get(row, STR("request"));
                        response = wanted;
                } else {
                        row = merge_patch_apply(&arena, request, value_get(row, STR("request")));
                        wanted = merge_patch_apply(&arena, response, wanted);
                }
                got = without_details(answer(n == 0 ? request : row));
                if (!value_equal_numeric(got, wanted))
                        test_fail(__FILE__, __LINE__, "row %zu: %s\n  is     %s\n  wanted %s", n + 1,
                                  text_of(n == 0 ? request : row, JSON_SORT_KEYS), text_of(got, JSON_SORT_KEYS),
                                  text_of(wanted, JSON_SORT_KEYS));
                n++;
        }
        ASSERT(n > 500);
        end();
}

/* --- Where we differ on purpose --- */

/* A request with one template, whose members are given, for an observed resource with status.n = 3. */
static const struct value *answer_template(const char *members)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        buf_appendf(
                &b,
                "{\"observed\":{\"composite\":{\"resource\":{\"kind\":\"X\",\"spec\":{\"n\":3,\"s\":\"text\",\"o\":{\"*"
                "\":1},"
                "\"crossplane\":{}}}},\"resources\":{\"one\":{\"resource\":{\"kind\":\"K\",\"status\":{\"n\":3}}}}},"
                "\"input\":{\"resources\":[{\"name\":\"one\",\"base\":{\"kind\":\"K\",\"o\":{\"*\":1}},%s}]}}",
                members);
        return answer(parse(buf_cstring(&b)));
}

static void check_message(const char *members, const char *wanted)
{
        const struct value *result = value_item(value_get(answer_template(members), STR("results")), 0);

        ASSERT_STR_CASE(members, value_str(value_get(result, STR("message"))), str_from(wanted));
}

static void check_composed(const char *members, struct str key, const char *wanted)
{
        const struct value *response = answer_template(members);
        const struct value *one = value_find(response, "desired", "resources", "one");

        ASSERT_CASE(members, value_count(value_get(response, STR("results"))) == 0);
        ASSERT_STR_CASE(members, value_str(value_get(value_get(one, STR("resource")), key)), str_from(wanted));
}

TEST(integral_numbers_are_ints_to_formats)
{
        begin();
        check_composed("\"patches\":[{\"fromFieldPath\":\"spec.n\",\"toFieldPath\":\"out\",\"transforms\":[{\"type\":"
                       "\"string\","
                       "\"string\":{\"type\":\"Format\",\"fmt\":\"%05d\"}}]}]",
                       STR("out"), "00003");
        check_composed(
                "\"patches\":[{\"type\":\"CombineFromComposite\",\"toFieldPath\":\"out\",\"combine\":{\"strategy\":"
                "\"string\",\"variables\":[{\"fromFieldPath\":\"spec.s\"},{\"fromFieldPath\":\"spec.n\"}],"
                "\"string\":{\"fmt\":\"%s-%d\"}}}]",
                STR("out"), "text-3");
        end();
}

TEST(integral_numbers_are_ints_to_readiness)
{
        static const struct {
                const char *wanted;
                const char *ready;
        } cases[] = { { "3", "READY_TRUE" }, { "4", "" } };

        begin();
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct str members = arena_printf(&arena,
                                                  "\"readinessChecks\":[{\"type\":\"MatchInteger\",\"fieldPath\":"
                                                  "\"status.n\",\"matchInteger\":%s}]",
                                                  cases[i].wanted);
                const struct value *response = answer_template(members.p);
                const struct value *one = value_find(response, "desired", "resources", "one");

                ASSERT(value_count(value_get(response, STR("results"))) == 0);
                ASSERT_STR_CASE(cases[i].wanted, value_str(value_get(one, STR("ready"))), str_from(cases[i].ready));
        }
        end();
}

TEST(what_kills_the_real_process_is_a_result)
{
        begin();
        check_message("\"readinessChecks\":[{\"type\":\"MatchCondition\"}]",
                      "cannot check readiness of composed resource \"one\": cannot run readiness check at index 0: "
                      "matchCondition: cannot be absent for type MatchCondition");
        check_message(
                "\"patches\":[{\"fromFieldPath\":\"spec.s\",\"transforms\":[{\"type\":\"string\",\"string\":{\"type\":"
                "\"Regexp\",\"regexp\":{\"match\":\"t\",\"group\":-1}}}]}]",
                "cannot render composed resource \"one\" \"FromCompositeFieldPath\" patch at index 0: transform at "
                "index "
                "0 returned error: string transform could not resolve: regexp \"t\" had no matches for group -1");
        check_message(
                "\"patches\":[{\"fromFieldPath\":\"spec.s\",\"toFieldPath\":\"o[*]\"}]",
                "cannot render composed resource \"one\" \"FromCompositeFieldPath\" patch at index 0: cannot expand "
                "wildcards for segments: \"o[*]\": \"o[*]\": cannot expand wildcards: \"o\": a field named \"*\" "
                "cannot be "
                "expanded");
        check_message("\"connectionDetails\":[{\"type\":\"FromValue\",\"name\":\"n\",\"value\":\"v\"}]}],"
                      "\"writeConnectionSecretToRef\":{\"patches\":[{\"type\":\"CombineFromComposite\",\"toFieldPath\":"
                      "\"name\"}"
                      "]},\"patchSets\":[{\"name\":\"p\"",
                      "cannot compose connection secret: cannot generate connection secret reference: cannot apply "
                      "connection "
                      "secret patches: cannot apply patch type CombineFromComposite at index 0: combine must be set "
                      "for patch "
                      "type CombineFromComposite");
        end();
}

/* Transforms of combining patches are not checked before they run. The texts are the real function's. */
TEST(a_conversion_is_checked_before_what_it_converts)
{
        static const struct {
                const char *convert;
                const char *wanted;
        } cases[] = {
                { "{\"toType\":\"int32\"}", "toType: Invalid value: \"int32\": invalid type" },
                { "{\"toType\":\"string\",\"format\":\"<yaml>\"}",
                  "format: Invalid value: \"\\u003cyaml\\u003e\": invalid format" },
                { "{\"toType\":\"string\"}", "invalid input type []interface {}" },
        };

        begin();
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct str members = arena_printf(
                        &arena,
                        "\"patches\":[{\"type\":\"CombineFromComposite\",\"toFieldPath\":\"x\",\"combine\":{"
                        "\"strategy\":"
                        "\"string\",\"variables\":[{\"fromFieldPath\":\"spec.s\"}],\"string\":{\"fmt\":\"%%s\"}},"
                        "\"transforms\":[{\"type\":\"match\",\"match\":{\"fallbackValue\":[]}},{\"type\":\"convert\","
                        "\"convert\":%s}]}]",
                        cases[i].convert);
                struct str wanted =
                        arena_printf(&arena,
                                     "cannot render composed resource \"one\" \"CombineFromComposite\" patch at "
                                     "index 0: transform at index 1 returned error: convert transform could "
                                     "not resolve: %s",
                                     cases[i].wanted);

                check_message(members.p, wanted.p);
        }
        end();
}

static void check_mentions(const char *members, const char *part)
{
        const struct value *result = value_item(value_get(answer_template(members), STR("results")), 0);

        ASSERT_CASE(members, str_find(value_str(value_get(result, STR("message"))), str_from(part)) >= 0);
}

static void check_limit(const char *members)
{
        check_mentions(members, "is larger than the limit of 16777216 bytes");
}

TEST(large_texts_name_the_limit)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        begin();
        buf_append_literal(
                &b, "\"patches\":[{\"fromFieldPath\":\"spec.s\",\"transforms\":[{\"type\":\"string\",\"string\":{"
                    "\"type\":\"Format\",\"fmt\":\"%1000s\"}},{\"type\":\"string\",\"string\":{\"type\":"
                    "\"Replace\",\"replace\":{\"search\":\" \",\"replace\":\"");
        buf_append_repeat(&b, 'x', 17000);
        buf_append_literal(&b, "\"}}}]}]");
        check_limit(buf_cstring(&b));
        buf_clear(&b);
        buf_append_literal(&b, "\"patches\":[{\"type\":\"CombineFromComposite\",\"toFieldPath\":\"x\",\"combine\":{"
                               "\"strategy\":\"string\",\"variables\":[{\"fromFieldPath\":\"spec.s\"}],\"string\":{"
                               "\"fmt\":\"");
        for (int i = 0; i < 17; i++)
                buf_append_literal(&b, "%1000000[1]s");
        buf_append_literal(&b, "\"}}}]");
        check_limit(buf_cstring(&b));
        end();
}

TEST(a_run_that_is_over_ends)
{
        begin();
        deadline = deadline_after_ms(-1);
        check_message("\"patches\":[]", "the deadline of the call has passed");
        deadline = DEADLINE_NONE;
        cancel = cancel_new(NULL);
        cancel_trigger(cancel, "enough");
        check_message("\"patches\":[]", "enough");
        cancel_unref(cancel);
        cancel = NULL;
        end();
}

/* A small input that asks for a hundred million patches. */
TEST(the_deadline_ends_a_template)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct deadline forever = deadline;

        begin();
        buf_append_literal(&b, "\"patches\":[");
        for (int i = 0; i < 10000; i++)
                buf_appendf(&b, "%s{\"type\":\"PatchSet\",\"patchSetName\":\"s\"}", i ? "," : "");
        buf_append_literal(&b, "]}],\"patchSets\":[{\"name\":\"s\",\"patches\":[");
        for (int i = 0; i < 10000; i++)
                buf_appendf(&b, "%s{\"fromFieldPath\":\"none\"}", i ? "," : "");
        buf_append_literal(&b, "]");
        deadline = deadline_after_ms(500);
        check_message(buf_cstring(&b), "the deadline of the call has passed");
        deadline = forever;
        end();
}

TEST(expressions_are_bounded)
{
        struct deadline forever = deadline;

        begin();
        deadline = deadline_after_ms(-1);
        check_message("\"patches\":[{\"fromFieldPath\":\"spec.s\",\"transforms\":[{\"type\":\"match\",\"match\":{"
                      "\"patterns\":[{\"type\":\"regexp\",\"regexp\":\".\"}]}}]}]",
                      "invalid Function input: the deadline of the call has passed");
        deadline = forever;
        check_mentions("\"patches\":[{\"fromFieldPath\":\"spec.s\",\"transforms\":[{\"type\":\"match\",\"match\":{"
                       "\"patterns\":[{\"type\":\"regexp\",\"regexp\":\"(\\\\pL{200}|x){4}\"}]}}]}]",
                       "regexp: Invalid value: \"(\\\\pL{200}|x){4}\": regular expression ");
        end();
}

/* Each of the transforms stays below its own limit. */
TEST(the_memory_of_transforms_is_bounded)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        begin();
        budget_bytes = 16 << 20;
        buf_append_literal(&b, "\"patches\":[{\"fromFieldPath\":\"spec.s\",\"transforms\":[{\"type\":\"string\","
                               "\"string\":{\"type\":\"Format\",\"fmt\":\"%1000000s\"}}");
        for (int i = 0; i < 100; i++)
                buf_append_literal(&b, ",{\"type\":\"string\",\"string\":{\"type\":\"TrimPrefix\",\"trim\":\" \"}}");
        buf_append_literal(&b, "]}]");
        check_mentions(buf_cstring(&b), "returned error: call memory limit of 16777216 bytes exceeded");
        budget_bytes = 0;
        end();
}

TEST(memory_is_bounded)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        begin();
        budget_bytes = 1 << 20;
        buf_append_literal(&b, "\"patches\":[");
        for (int i = 0; i < 200; i++)
                buf_appendf(&b, "%s{\"fromFieldPath\":\"spec.s\",\"toFieldPath\":\"list[1000]\"}", i ? "," : "");
        buf_append_literal(&b, "]");
        check_mentions(buf_cstring(&b), "cannot patch to object: call memory limit of 1048576 bytes exceeded");
        budget_bytes = 0;
        end();
}

/* --- The engine on its own, as a Composition's own resources use it --- */

static void check_append(bool is_settled, const char *wanted)
{
        _cleanup_err_ struct err err = { 0 };
        struct run run = { .arena = &arena, .deadline = DEADLINE_NONE };
        struct pt_policy policy = { .to = STR("AppendArray") };
        struct pt_patch patch = { .from.text = STR("spec.list"), .policy = &policy };
        struct pt_object from = { .root = parse("{\"spec\":{\"list\":[1,2]}}") };
        struct pt_object to = { .root = parse("{\"kind\":\"K\",\"spec\":{\"list\":[1]}}"), .is_settled = is_settled };

        ASSERT(pt_apply(&run, &patch, &from, &to, &err) >= 0);
        ASSERT(to.is_settled);
        check_value("spec.list", value_find(to.root, "spec", "list"), wanted);
}

/* As upstream has it: the numbers of an object off the wire are doubles until the first patch into it. */
TEST(ints_count_as_doubles_until_an_object_is_settled)
{
        begin();
        check_append(true, "[1,2]");
        check_append(false, "[1,1,2]");
        end();
}

TEST(an_error_that_is_ignored_leaves_the_edit)
{
        _cleanup_err_ struct err err = { 0 };
        struct run run = { .arena = &arena, .deadline = DEADLINE_NONE };
        struct pt_patch patch = { .from.text = STR("nothing"), .to.text = STR("kind") };
        struct pt_object from = { .root = NULL }, to;

        begin();
        from.root = parse("{\"nothing\":null}");
        to = (struct pt_object) { .root = parse("{\"kind\":\"K\"}") };
        check_error("kind", pt_apply(&run, &patch, &from, &to, &err), &err, ERR_INVALID,
                    "cannot patch to object: Object 'Kind' is missing in '{\"kind\":null}'");
        check_value("kind", to.root, "{\"kind\":null}");
        end();
}
