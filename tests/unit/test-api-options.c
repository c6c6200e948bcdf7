/* Options in the query. The error texts are those of docs/spec/apiserver 2.2, 2.11 and 3.2. */
#include "test.h"

#include "options.h"

static struct api_query parse(struct arena *a, const char *text)
{
        struct str target = ARENA_CONCAT(a, STR("/x?"), str_from(text));
        struct api_route r;

        ASSERT_INT(api_route_parse(a, STR("GET"), target, &r, NULL), 0);
        return r.query;
}

/* error: the message behind `... is invalid: `, or the whole one; NULL: fine. */
struct options_case {
        const char *query, *error;
};

static void check(const struct options_case *c, int r, const struct err *err)
{
        struct str message = str_from(err_message(err));
        ptrdiff_t at = str_find(message, STR(" is invalid: "));

        if (!c->error) {
                if (r < 0)
                        test_fail(__FILE__, __LINE__, "[%s] %s", c->query, err_message(err));
                return;
        }
        ASSERT_CASE(c->query, r < 0);
        ASSERT_STR_CASE(c->query, at < 0 ? message : str_skip(message, (size_t)at + 13), str_from(c->error));
}

TEST(lists)
{
        static const struct options_case cases[] = {
                { "", NULL },
                { "limit=5&continue=x&labelSelector=a%3Db&fieldSelector=metadata.name%3Dx", NULL },
                { "limit=-1", NULL },
                { "unknown=1", NULL },
                { "limit=x", "strconv.ParseInt: parsing \"x\": invalid syntax" },
                { "timeoutSeconds=y", "strconv.ParseInt: parsing \"y\": invalid syntax" },
                { "labelSelector=a+b",
                  "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt" },
                { "fieldSelector=foo", "invalid selector: 'foo'; can't understand 'foo'" },
                { "resourceVersionMatch=Foo&resourceVersion=1",
                  "resourceVersionMatch: Unsupported value: \"Foo\": supported values: \"Exact\", \"NotOlderThan\", "
                  "\"\"" },
                { "resourceVersionMatch=Foo",
                  "[resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is "
                  "provided, resourceVersionMatch: Unsupported value: \"Foo\": supported values: \"Exact\", "
                  "\"NotOlderThan\", \"\"]" },
                { "sendInitialEvents=true", "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_arena_ struct arena a;
                _cleanup_err_ struct err err = { 0 };
                struct list_options o;
                struct api_query q;

                arena_init(&a, "test", 0);
                q = parse(&a, cases[i].query);
                check(&cases[i], options_list(&a, &q, &o, &err), &err);
        }
}

TEST(limits)
{
        static const struct {
                const char *query;
                size_t limit;
        } cases[] = {
                { "limit=5", 5 },
                { "limit=5&resourceVersion=7", 5 },
                { "limit=5&resourceVersion=0", 0 },
                { "limit=5&resourceVersion=0&resourceVersionMatch=NotOlderThan", 0 },
                { "limit=5&resourceVersion=0&continue=x", 0 },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_arena_ struct arena a;
                struct list_options o;
                struct api_query q;

                arena_init(&a, "test", 0);
                q = parse(&a, cases[i].query);
                ASSERT_CASE(cases[i].query, options_list(&a, &q, &o, NULL) == 0);
                ASSERT_CASE(cases[i].query, o.list.limit == cases[i].limit);
        }
}

TEST(watches)
{
        static const struct options_case cases[] = {
                { "", NULL },
                { "limit=500&resourceVersion=0", NULL },
                { "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true", NULL },
                { "sendInitialEvents=true",
                  "resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to "
                  "NotOlderThan" },
                { "sendInitialEvents=true&resourceVersionMatch=Exact",
                  "[resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to "
                  "NotOlderThan, resourceVersionMatch: Unsupported value: \"Exact\": supported values: "
                  "\"NotOlderThan\"]" },
                { "resourceVersionMatch=NotOlderThan",
                  "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless "
                  "sendInitialEvents is provided" },
                { "resourceVersionMatch=abc",
                  "[resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless "
                  "sendInitialEvents is provided, resourceVersionMatch: Unsupported value: \"abc\": supported values: "
                  "\"NotOlderThan\"]" },
                { "continue=x",
                  "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_arena_ struct arena a;
                _cleanup_err_ struct err err = { 0 };
                struct list_options o;
                struct api_query q;

                arena_init(&a, "test", 0);
                q = parse(&a, cases[i].query);
                check(&cases[i], options_watch(&a, &q, &o, &err), &err);
        }
}

TEST(writes)
{
        static const struct options_case cases[] = {
                { "dryRun=All&dryRun=All&fieldValidation=Strict", NULL },
                { "dryRun=", "dryRun: Unsupported value: [\"\"]: supported values: \"All\"" },
                { "dryRun=X", "dryRun: Unsupported value: [\"X\"]: supported values: \"All\"" },
                { "fieldValidation=X",
                  "fieldValidation: Unsupported value: \"X\": supported values: \"\", \"Ignore\", \"Strict\", "
                  "\"Warn\"" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_arena_ struct arena a;
                _cleanup_err_ struct err err = { 0 };
                struct write_request req = { .verb = WRITE_CREATE };
                struct api_query q;

                arena_init(&a, "test", 0);
                q = parse(&a, cases[i].query);
                check(&cases[i], options_write(&a, &q, STR(""), &req, &err), &err);
        }
}

TEST(managers)
{
        static const struct {
                const char *query, *agent, *manager;
        } cases[] = {
                { "fieldManager=me", "kubectl/v1", "me" },
                { "", "kubectl/v1.36.3 (linux/amd64)", "kubectl" },
                { "", "My Agent (x)/1.0 foo", "My Agent (x)" },
                { "", "", "" },
                { "",
                  "a\x01\x7f"
                  "b/c",
                  "ab" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_arena_ struct arena a;
                struct write_request req = { .verb = WRITE_MERGE_PATCH };
                struct api_query q;

                arena_init(&a, "test", 0);
                q = parse(&a, cases[i].query);
                ASSERT_INT(options_write(&a, &q, str_from(cases[i].agent), &req, NULL), 0);
                ASSERT_STR_CASE(cases[i].agent, req.manager, str_from(cases[i].manager));
        }
}

TEST(deletes)
{
        static const struct options_case cases[] = {
                { "propagationPolicy=Foreground&gracePeriodSeconds=-1", NULL },
                { "orphanDependents=false", NULL },
                { "propagationPolicy=X",
                  "propagationPolicy: Unsupported value: \"X\": supported values: \"Foreground\", \"Background\", "
                  "\"Orphan\", \"nil\"" },
                { "propagationPolicy=Foreground&orphanDependents=true",
                  "propagationPolicy: Invalid value: \"Foreground\": orphanDependents and deletionPropagation cannot "
                  "be both set" },
                { "gracePeriodSeconds=x", "strconv.ParseInt: parsing \"x\": invalid syntax" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_arena_ struct arena a;
                _cleanup_err_ struct err err = { 0 };
                struct write_request req = { .verb = WRITE_DELETE };
                struct api_query q;
                bool is_explicit;

                arena_init(&a, "test", 0);
                q = parse(&a, cases[i].query);
                check(&cases[i], options_delete(&a, &q, NULL, &req, &is_explicit, &err), &err);
        }
}

TEST(timeouts)
{
        static const struct {
                const char *query;
                int64_t ms;
        } cases[] = { { "", 60000 },        { "timeout=32s", 32000 }, { "timeout=1h", 60000 }, { "timeout=-1s", 60000 },
                      { "timeout=1ns", 1 }, { "timeout=0", 60000 } };
        _cleanup_err_ struct err err = { 0 };
        _cleanup_arena_ struct arena a;
        struct api_query q;
        int64_t ms;

        arena_init(&a, "test", 0);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                q = parse(&a, cases[i].query);
                ASSERT_CASE(cases[i].query, options_timeout(&q, &ms, NULL) == 0 && ms == cases[i].ms);
        }
        q = parse(&a, "timeout=abc");
        ASSERT(options_timeout(&q, &ms, &err) < 0);
        ASSERT_TEXT(err_message(&err), "invalid timeout specified in the request URL - time: invalid duration \"abc\"");
}
