#include "kube-test.h"

#include "status.h"

static const struct status_subject widget = { STR_INIT("ex.org"), STR_INIT("Widget"), STR_INIT("widgets"),
                                              STR_INIT("n") };
static const struct status_subject secret = { STR_INIT(""), STR_INIT("Secret"), STR_INIT("secrets"), STR_INIT("n") };

/* The Status of the error, as the real library writes it but for apiVersion and kind, which its encoder adds. */
static void check_status(struct err *err, const char *wanted)
{
        _cleanup_arena_ struct arena a;
        struct value status;

        arena_init(&a, "test", 0);
        status = status_of_err(&a, err);
        ASSERT_JSON(&a, value_without(&a, value_without(&a, &status, STR("kind")), STR("apiVersion")), wanted);
        ASSERT_STR(value_str(value_get(&status, STR("kind"))), STR("Status"));
        ASSERT_STR(value_str(value_get(&status, STR("apiVersion"))), STR("v1"));
        err_done(err);
}

#define DETAILS "\"details\":{\"name\":\"n\",\"group\":\"ex.org\",\"kind\":\"widgets\"}"

TEST(about_an_object)
{
        _cleanup_err_ struct err err = { 0 };
        struct status_subject nameless = widget;

        nameless.name = STR("");
        ASSERT_INT(status_not_found(&err, &widget), ERR_NOT_FOUND);
        check_status(&err, "{\"metadata\":{},\"status\":\"Failure\",\"message\":\"widgets.ex.org \\\"n\\\" not found\","
                           "\"reason\":\"NotFound\"," DETAILS ",\"code\":404}");
        ASSERT_INT(status_not_found(&err, &secret), ERR_NOT_FOUND);
        check_status(&err, "{\"metadata\":{},\"status\":\"Failure\",\"message\":\"secrets \\\"n\\\" not found\","
                           "\"reason\":\"NotFound\",\"details\":{\"name\":\"n\",\"kind\":\"secrets\"},\"code\":404}");
        ASSERT_INT(status_already_exists(&err, &widget), ERR_EXISTS);
        check_status(&err,
                     "{\"metadata\":{},\"status\":\"Failure\",\"message\":\"widgets.ex.org \\\"n\\\" already exists\","
                     "\"reason\":\"AlreadyExists\"," DETAILS ",\"code\":409}");
        ASSERT_INT(status_conflict(&err, &widget, "why %d", 1), ERR_CONFLICT);
        check_status(
                &err,
                "{\"metadata\":{},\"status\":\"Failure\",\"message\":\"Operation cannot be fulfilled on widgets.ex.org "
                "\\\"n\\\": why 1\",\"reason\":\"Conflict\"," DETAILS ",\"code\":409}");
        ASSERT_INT(status_modified(&err, &widget), ERR_CONFLICT);
        ASSERT_TEXT(err_message(&err),
                    "Operation cannot be fulfilled on widgets.ex.org \"n\": the object has been modified; "
                    "please apply your changes to the latest version and try again");
        ASSERT_INT(status_forbidden(&err, &widget, "why"), ERR_FORBIDDEN);
        check_status(
                &err,
                "{\"metadata\":{},\"status\":\"Failure\",\"message\":\"widgets.ex.org \\\"n\\\" is forbidden: why\","
                "\"reason\":\"Forbidden\"," DETAILS ",\"code\":403}");
        ASSERT_INT(status_forbidden(&err, &nameless, "why"), ERR_FORBIDDEN);
        check_status(&err,
                     "{\"metadata\":{},\"status\":\"Failure\",\"message\":\"widgets.ex.org is forbidden: why\","
                     "\"reason\":\"Forbidden\",\"details\":{\"group\":\"ex.org\",\"kind\":\"widgets\"},\"code\":403}");
        ASSERT_INT(status_forbidden(&err, &(struct status_subject) { 0 }, "why"), ERR_FORBIDDEN);
        check_status(&err,
                     "{\"metadata\":{},\"status\":\"Failure\",\"message\":\"forbidden: why\",\"reason\":\"Forbidden\","
                     "\"details\":{},\"code\":403}");
        ASSERT_INT(status_method_not_allowed(&err, &widget, STR("patch")), ERR_UNSUPPORTED);
        check_status(
                &err,
                "{\"metadata\":{},\"status\":\"Failure\",\"message\":\"patch is not supported on resources of kind "
                "\\\"widgets.ex.org\\\"\",\"reason\":\"MethodNotAllowed\",\"details\":{\"group\":\"ex.org\","
                "\"kind\":\"widgets\"},\"code\":405}");
}

TEST(texts_alone)
{
        _cleanup_err_ struct err err = { 0 };

        ASSERT_INT(status_bad_request(&err, "bad %s", "thing"), ERR_INVALID);
        check_status(&err, "{\"metadata\":{},\"status\":\"Failure\",\"message\":\"bad "
                           "thing\",\"reason\":\"BadRequest\",\"code\":400}");
        ASSERT_INT(status_internal(&err, "boo"), ERR_FAILED);
        check_status(&err, "{\"metadata\":{},\"status\":\"Failure\",\"message\":\"boo\",\"code\":500}");
        ASSERT_INT(status_expired(&err, "old"), ERR_EXPIRED);
        check_status(
                &err,
                "{\"metadata\":{},\"status\":\"Failure\",\"message\":\"old\",\"reason\":\"Expired\",\"code\":410}");
        ASSERT_INT(status_bad_request(NULL, "x"), ERR_INVALID);
}

TEST(invalid)
{
        _cleanup_arena_ struct arena a;
        _cleanup_err_ struct err err = { 0 };
        struct value x = value_of_literal("x");
        struct field_errors e;

        arena_init(&a, "test", 0);
        field_errors_init(&e, &a);
        ASSERT_INT(status_invalid(&err, &widget, &e), ERR_INVALID);
        check_status(
                &err,
                "{\"metadata\":{},\"status\":\"Failure\",\"message\":\"Widget.ex.org \\\"n\\\" is invalid\",\"reason\":"
                "\"Invalid\",\"details\":{\"name\":\"n\",\"group\":\"ex.org\",\"kind\":\"Widget\"},\"code\":422}");
        field_error_add(&e, FIELD_REQUIRED, STR("spec.a"), NULL, "%s", "");
        field_error_add(&e, FIELD_INVALID, STR("spec.a"), &x, "det");
        field_error_add(&e, FIELD_INVALID, STR("spec.a"), &x, "det");
        ASSERT_INT(status_invalid(&err, &widget, &e), ERR_INVALID);
        check_status(&err, "{\"metadata\":{},\"status\":\"Failure\",\"message\":\"Widget.ex.org \\\"n\\\" is invalid: "
                           "[spec.a: Required "
                           "value, spec.a: Invalid value: \\\"x\\\": "
                           "det]\",\"reason\":\"Invalid\",\"details\":{\"name\":\"n\",\"group\":"
                           "\"ex.org\",\"kind\":\"Widget\",\"causes\":[{\"reason\":\"FieldValueRequired\",\"message\":"
                           "\"Required value\","
                           "\"field\":\"spec.a\"},{\"reason\":\"FieldValueInvalid\",\"message\":\"Invalid value: "
                           "\\\"x\\\": det\",\"field\":"
                           "\"spec.a\"},{\"reason\":\"FieldValueInvalid\",\"message\":\"Invalid value: \\\"x\\\": "
                           "det\",\"field\":\"spec.a\"}]},"
                           "\"code\":422}");
        field_errors_init(&e, &a);
        field_error_add(&e, FIELD_INVALID, STR(""), &x, "d");
        ASSERT_INT(status_invalid(&err, &(struct status_subject) { 0 }, &e), ERR_INVALID);
        check_status(
                &err,
                "{\"metadata\":{},\"status\":\"Failure\",\"message\":\" \\\"\\\" is invalid: <nil>: Invalid value: "
                "\\\"x\\\": "
                "d\",\"reason\":\"Invalid\",\"details\":{\"causes\":[{\"reason\":\"FieldValueInvalid\",\"message\":"
                "\"Invalid value: \\\"x\\\": d\",\"field\":\"<nil>\"}]},\"code\":422}");
}

/* A hostile object: more errors than an error's text holds. All of them are causes, the text is cut. */
TEST(many_errors)
{
        _cleanup_arena_ struct arena a;
        _cleanup_err_ struct err err = { 0 };
        struct value status;
        struct field_errors e;

        arena_init(&a, "test", 0);
        field_errors_init(&e, &a);
        for (int i = 0; i < 20000; i++)
                field_error_add(&e, FIELD_REQUIRED, arena_printf(&a, "f%d", i % 10000), NULL, "%s", "");
        ASSERT_INT(status_invalid(&err, &widget, &e), ERR_INVALID);
        ASSERT(str_ends_with(str_from(err_message(&err)), STR("...")));
        status = status_of_err(&a, &err);
        ASSERT_INT(value_count(value_find(&status, "details", "causes")), 20000);
}

TEST(adding_causes)
{
        _cleanup_err_ struct err err = { 0 };

        status_forbidden(&err, &widget, "because");
        status_add_cause(&err, STR("R"), STR("m\"1"), STR("f"));
        status_add_cause(&err, STR(""), STR("m2"), STR(""));
        check_status(&err,
                     "{\"metadata\":{},\"status\":\"Failure\",\"message\":\"widgets.ex.org \\\"n\\\" is forbidden: "
                     "because\","
                     "\"reason\":\"Forbidden\",\"details\":{\"name\":\"n\",\"group\":\"ex.org\",\"kind\":\"widgets\","
                     "\"causes\":["
                     "{\"reason\":\"R\",\"message\":\"m\\\"1\",\"field\":\"f\"},{\"message\":\"m2\"}]},\"code\":403}");
        status_bad_request(&err, "x");
        status_add_cause(&err, STR("R"), STR("m"), STR("f"));
        check_status(&err, "{\"metadata\":{},\"status\":\"Failure\",\"message\":\"x\",\"reason\":\"BadRequest\","
                           "\"details\":{\"causes\":"
                           "[{\"reason\":\"R\",\"message\":\"m\",\"field\":\"f\"}]},\"code\":400}");
        status_add_cause(NULL, STR("R"), STR("m"), STR("f"));
}

TEST(and_back)
{
        static const struct {
                const char *status;
                int code;
                enum reason reason;
                const char *message;
        } cases[] = {
                { "{\"reason\":\"NotFound\",\"message\":\"m\",\"code\":404}", ERR_NOT_FOUND, REASON_NOT_FOUND, "m" },
                { "{\"reason\":\"AlreadyExists\",\"message\":\"m\"}", ERR_EXISTS, REASON_ALREADY_EXISTS, "m" },
                { "{\"reason\":\"Conflict\",\"message\":\"m\"}", ERR_CONFLICT, REASON_CONFLICT, "m" },
                { "{\"reason\":\"Gone\",\"message\":\"m\"}", ERR_EXPIRED, REASON_GONE, "m" },
                { "{\"reason\":\"Expired\",\"message\":\"m\"}", ERR_EXPIRED, REASON_EXPIRED, "m" },
                { "{\"reason\":\"Invalid\",\"message\":\"m\"}", ERR_INVALID, REASON_INVALID, "m" },
                { "{\"reason\":\"Unauthorized\",\"message\":\"m\"}", ERR_FORBIDDEN, REASON_UNAUTHORIZED, "m" },
                { "{\"reason\":\"Timeout\",\"message\":\"m\"}", ERR_TIMEOUT, REASON_TIMEOUT, "m" },
                { "{\"reason\":\"TooManyRequests\",\"message\":\"m\"}", ERR_LIMIT, REASON_TOO_MANY_REQUESTS, "m" },
                { "{\"reason\":\"MethodNotAllowed\",\"message\":\"m\"}", ERR_UNSUPPORTED, REASON_METHOD_NOT_ALLOWED,
                  "m" },
                { "{\"reason\":\"ServiceUnavailable\",\"message\":\"m\"}", ERR_CLOSED, REASON_SERVICE_UNAVAILABLE,
                  "m" },
                { "{\"reason\":\"InternalError\",\"message\":\"m\"}", ERR_FAILED, REASON_INTERNAL_ERROR, "m" },
                { "{\"message\":\"m\",\"code\":500}", ERR_FAILED, REASON_UNKNOWN, "m" },
                { "{\"reason\":\"Odd\",\"message\":\"m\",\"code\":404}", ERR_NOT_FOUND, REASON_NOT_FOUND, "m" },
                { "{\"message\":\"m\",\"code\":409}", ERR_CONFLICT, REASON_CONFLICT, "m" },
                { "{\"message\":\"m\",\"code\":410}", ERR_EXPIRED, REASON_EXPIRED, "m" },
                { "{\"code\":503}", ERR_CLOSED, REASON_SERVICE_UNAVAILABLE,
                  "the API answered with status 503 and no message" },
                { "7", ERR_FAILED, REASON_UNKNOWN, "the API answered with status 0 and no message" },
        };
        _cleanup_arena_ struct arena a;

        arena_init(&a, "test", 0);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_err_ struct err err = { 0 };

                ASSERT_CASE(cases[i].status, status_to_err(from_json(&a, cases[i].status), &err) == cases[i].code);
                ASSERT_CASE(cases[i].status, err.reason == cases[i].reason);
                ASSERT_STR_CASE(cases[i].status, str_from(err_message(&err)), str_from(cases[i].message));
        }
}

TEST(there_and_back)
{
        _cleanup_arena_ struct arena a;
        _cleanup_err_ struct err err = { 0 }, again = { 0 };
        struct value status;

        arena_init(&a, "test", 0);
        status_not_found(&err, &widget);
        status = status_of_err(&a, &err);
        ASSERT_INT(status_to_err(&status, &again), ERR_NOT_FOUND);
        ASSERT_TEXT(again.message, err.message);
        ASSERT_TEXT(again.details, err.details);
}
