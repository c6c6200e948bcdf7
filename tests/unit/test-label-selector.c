#include "kube-test.h"

#include "buf.h"
#include "label-selector.h"

#define NAME_PART                                                                                             \
        "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an " \
        "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "  \
        "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
#define VALUE_PART                                                                                                   \
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must "    \
        "start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for " \
        "validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"

/* Texts and errors are what apimachinery's labels.Parse answered. */
TEST(texts)
{
        static const struct {
                const char *text, *canonical, *error;
        } cases[] = {
                { "", "", NULL },
                { "a", "a", NULL },
                { "!a", "!a", NULL },
                { "a=b", "a=b", NULL },
                { "a==b", "a==b", NULL },
                { "a!=b", "a!=b", NULL },
                { "a in (b,c)", "a in (b,c)", NULL },
                { "a notin (c,b,b)", "a notin (b,c)", NULL },
                { "a in ()", "a in ()", NULL },
                { "a in (,)", "a in ()", NULL },
                { "a in (b,,c)", "a in (,b,c)", NULL },
                { "a in (,b)", "a in (,b)", NULL },
                { "a in (b,)", "a in (,b)", NULL },
                { "a=", "a=", NULL },
                { "a==", "a==", NULL },
                { "a!=", "a!=", NULL },
                { "a>1", "a>1", NULL },
                { "a<-1", NULL, "unable to parse requirement: values[0][a]: Invalid value: \"-1\": " VALUE_PART },
                { "a>x", NULL,
                  "unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value "
                  "must be an integer" },
                { "a>", NULL,
                  "unable to parse requirement: values[0]: Invalid value: \"\": for 'Gt', 'Lt' operators, the value "
                  "must be an integer" },
                { "a> 1,b<2", "a>1,b<2", NULL },
                { "a gt 1", NULL, "unable to parse requirement: found 'gt', expected: in, notin, =, ==, !=, gt, lt" },
                { "a lt 1", NULL, "unable to parse requirement: found 'lt', expected: in, notin, =, ==, !=, gt, lt" },
                { "gt", "gt", NULL },
                { "in", "in", NULL },
                { "in in (in,notin)", "in in (in,notin)", NULL },
                { "notin=notin", "notin=notin", NULL },
                { "a b", NULL, "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt" },
                { "i=1=2", NULL, "found '=', expected: ',' or 'end of string'" },
                { "i,", NULL, "found '', expected: identifier after ','" },
                { ",i", NULL, "found ',', expected: !, identifier, or 'end of string'" },
                { "(", NULL, "found '(', expected: !, identifier, or 'end of string'" },
                { "a in b", NULL, "unable to parse requirement: found 'b' expected: '('" },
                { "a in (b", NULL, "unable to parse requirement: found '', expected: ',' or ')'" },
                { "a in (", NULL, "unable to parse requirement: found '', expected: ',', ')' or identifier" },
                { "a in", NULL, "unable to parse requirement: found '' expected: '('" },
                { "a notin", NULL, "unable to parse requirement: found '' expected: '('" },
                { "a,,b", NULL, "found ',', expected: identifier after ','" },
                { "a =b , c= d", "a=b,c=d", NULL },
                { "!", NULL, "unable to parse requirement: found '', expected: identifier" },
                { "!!a", NULL, "unable to parse requirement: found '!', expected: identifier" },
                { "!a=b", NULL, "found '=', expected: ',' or 'end of string'" },
                { "a!", NULL, "unable to parse requirement: found '!', expected: in, notin, =, ==, !=, gt, lt" },
                { "a=!b", NULL, "unable to parse requirement: found '!', expected: identifier" },
                { "a=b!", NULL, "found '!', expected: ',' or 'end of string'" },
                { "a=(", NULL, "unable to parse requirement: found '(', expected: identifier" },
                { "a=b)", NULL, "found ')', expected: ',' or 'end of string'" },
                { "a=b c", NULL, "found 'c', expected: ',' or 'end of string'" },
                { "-bad", NULL, "unable to parse requirement: <nil>: Invalid value: \"-bad\": " NAME_PART },
                { "a=-bad", NULL, "unable to parse requirement: values[0][a]: Invalid value: \"-bad\": " VALUE_PART },
                { "a in (-bad,x)", NULL,
                  "unable to parse requirement: values[0][a]: Invalid value: \"-bad\": " VALUE_PART },
                { "A.b/C_d=E.f", NULL,
                  "unable to parse requirement: <nil>: Invalid value: \"A.b/C_d\": prefix part a lowercase RFC 1123 "
                  "subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end "
                  "with an alphanumeric character (e.g. 'example.com', regex used for validation is "
                  "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')" },
                { "a===b", NULL, "unable to parse requirement: found '=', expected: identifier" },
                { "a=>b", NULL, "unable to parse requirement: found '>', expected: identifier" },
                { "a>=1", NULL, "unable to parse requirement: found '=', expected: identifier" },
                { "a<=1", NULL, "unable to parse requirement: found '=', expected: identifier" },
                { "a=<b", NULL, "unable to parse requirement: found '<', expected: identifier" },
                { "a\t=\nb", "a=b", NULL },
                { "é=b", NULL, "unable to parse requirement: <nil>: Invalid value: \"é\": " NAME_PART },
                { "a=é", NULL, "unable to parse requirement: values[0][a]: Invalid value: \"é\": " VALUE_PART },
                { "a in (b c)", NULL, "unable to parse requirement: found 'c', expected: ',' or ')'" },
                { "a in(b)", "a in (b)", NULL },
                { "a notin(b)", "a notin (b)", NULL },
                { "ain(b)", NULL, "unable to parse requirement: found '(', expected: in, notin, =, ==, !=, gt, lt" },
                { "x in (a),y", "x in (a),y", NULL },
                { "a in (b)c", NULL, "found 'c', expected: ',' or 'end of string'" },
                { "a in ((b))", NULL, "unable to parse requirement: found '(', expected: ',', ')' or identifier" },
                { "a=b,!c,d in (x),e>1", "a=b,!c,d in (x),e>1", NULL },
                { "z=1,a=2,m", "a=2,m,z=1", NULL },
                { "!a in (b)", NULL, "found 'in', expected: ',' or 'end of string'" },
                { "!in", "!in", NULL },
                { "!notin", "!notin", NULL },
                { "a,a", "a,a", NULL },
                { "a=1,a=2", "a=1,a=2", NULL },
                { "a =", "a=", NULL },
                { "a in (b)=c", NULL, "found '=', expected: ',' or 'end of string'" },
                { "a;b", NULL, "unable to parse requirement: <nil>: Invalid value: \"a;b\": " NAME_PART },
                { "a=b;c", NULL, "unable to parse requirement: values[0][a]: Invalid value: \"b;c\": " VALUE_PART },
                { "\"a\"=b", NULL, "unable to parse requirement: <nil>: Invalid value: \"\\\"a\\\"\": " NAME_PART },
                { "a='b'", NULL, "unable to parse requirement: values[0][a]: Invalid value: \"'b'\": " VALUE_PART },
                { "a=1,", NULL, "found '', expected: identifier after ','" },
                { "a= ,b", "a=,b", NULL },
                { "a>9223372036854775808", NULL,
                  "unable to parse requirement: values[0]: Invalid value: \"9223372036854775808\": for 'Gt', 'Lt' "
                  "operators, the value must be an integer" },
                { "a>+5", NULL, "unable to parse requirement: values[0][a]: Invalid value: \"+5\": " VALUE_PART },
                { "a>05", "a>05", NULL },
                { "a>0x10", NULL,
                  "unable to parse requirement: values[0]: Invalid value: \"0x10\": for 'Gt', 'Lt' operators, the "
                  "value must be an integer" },
                { "a>1_0", NULL,
                  "unable to parse requirement: values[0]: Invalid value: \"1_0\": for 'Gt', 'Lt' operators, the value "
                  "must be an integer" },
                { "a in (in)", "a in (in)", NULL },
                { "a=in", "a=in", NULL },
                { "a=notin", "a=notin", NULL },
                { "a= in", "a=in", NULL },
                { "in=x", "in=x", NULL },
                { "a==in,b", "a==in,b", NULL },
                { "a!b", NULL, "unable to parse requirement: found '!', expected: in, notin, =, ==, !=, gt, lt" },
                { "a!=", "a!=", NULL },
                { "a!==b", NULL, "unable to parse requirement: found '=', expected: identifier" },
                { "a ! =b", NULL, "unable to parse requirement: found '!', expected: in, notin, =, ==, !=, gt, lt" },
                { "a= =b", NULL, "unable to parse requirement: found '=', expected: identifier" },
                { "a=,b=", "a=,b=", NULL },
                { "a ,b", "a,b", NULL },
                { "(a)", NULL, "found '(', expected: !, identifier, or 'end of string'" },
                { "a)", NULL, "unable to parse requirement: found ')', expected: in, notin, =, ==, !=, gt, lt" },
                { ")", NULL, "found ')', expected: !, identifier, or 'end of string'" },
                { "a in )", NULL, "unable to parse requirement: found ')' expected: '('" },
                { "a in (a,(", NULL, "unable to parse requirement: found '(', expected: ',', or identifier" },
                { "a in (a!", NULL, "unable to parse requirement: found '!', expected: ',' or ')'" },
                { "a in (a=b)", NULL, "unable to parse requirement: found '=', expected: ',' or ')'" },
                { "a in (=)", NULL, "unable to parse requirement: found '=', expected: ',', ')' or identifier" },
                { "a in (!)", NULL, "unable to parse requirement: found '!', expected: ',', ')' or identifier" },
                { "a<1>2", NULL, "found '>', expected: ',' or 'end of string'" },
                { "a><", NULL, "unable to parse requirement: found '<', expected: identifier" },
                { "<a", NULL, "found '<', expected: !, identifier, or 'end of string'" },
                { ">a", NULL, "found '>', expected: !, identifier, or 'end of string'" },
                { "=a", NULL, "found '=', expected: !, identifier, or 'end of string'" },
                { "==a", NULL, "found '==', expected: !, identifier, or 'end of string'" },
                { "!=a", NULL, "found '!=', expected: !, identifier, or 'end of string'" },
                { "a,!", NULL, "unable to parse requirement: found '', expected: identifier" },
                { "a,=", NULL, "found '=', expected: identifier after ','" },
                { "a.", NULL, "unable to parse requirement: <nil>: Invalid value: \"a.\": " NAME_PART },
                { "a/b/c", NULL,
                  "unable to parse requirement: <nil>: Invalid value: \"a/b/c\": a valid label key must consist of "
                  "alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
                  "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
                  "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. "
                  "'example.com/MyName')" },
                { "/a", NULL,
                  "unable to parse requirement: <nil>: Invalid value: \"/a\": prefix part must be non-empty" },
                { "a/", NULL,
                  "unable to parse requirement: <nil>: Invalid value: \"a/\": name part must be "
                  "non-empty; " NAME_PART },
                { "a/=b", NULL,
                  "unable to parse requirement: <nil>: Invalid value: \"a/\": name part must be "
                  "non-empty; " NAME_PART },

        };
        _cleanup_arena_ struct arena a;

        arena_init(&a, "test", 0);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_err_ struct err err = { 0 };
                _cleanup_buf_ struct buf b = BUF_INIT(0);
                struct label_selector s = { 0 };
                int r = label_selector_parse(&a, str_from(cases[i].text), &s, &err);

                ASSERT_CASE(cases[i].text, r == (cases[i].error ? ERR_INVALID : 0));
                if (cases[i].error) {
                        ASSERT_STR_CASE(cases[i].text, str_from(err_message(&err)), str_from(cases[i].error));
                        ASSERT_CASE(cases[i].text, err.reason == REASON_BAD_REQUEST);
                        continue;
                }
                label_selector_append(&b, &s);
                ASSERT_STR_CASE(cases[i].text, buf_str(&b), str_from(cases[i].canonical));
        }
}

/* A NUL byte ends what it follows, and everything where a token begins. */
TEST(nul_bytes)
{
        _cleanup_arena_ struct arena a;
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct label_selector s;

        arena_init(&a, "test", 0);
        ASSERT_INT(label_selector_parse(&a, STR("a\0=b,c \0,d"), &s, NULL), 0);
        label_selector_append(&b, &s);
        ASSERT_STR(buf_str(&b), STR("a=b,c"));
}

TEST(matching)
{
        static const struct {
                const char *selector, *labels;
                bool matches;
        } cases[] = {
                { "", "{}", true },
                { "a", "{\"a\":\"\"}", true },
                { "a", "{\"b\":\"\"}", false },
                { "!a", "{}", true },
                { "!a", "{\"a\":\"x\"}", false },
                { "a=b", "{\"a\":\"b\"}", true },
                { "a==b", "{\"a\":\"c\"}", false },
                { "a!=b", "{}", true },
                { "a!=b", "{\"a\":\"b\"}", false },
                { "a in (x,y,z)", "{\"a\":\"y\"}", true },
                { "a in (x,y,z)", "{\"a\":\"w\"}", false },
                { "a in (x,y)", "{}", false },
                { "a notin (x,y)", "{}", true },
                { "a notin (x,y)", "{\"a\":\"x\"}", false },
                { "a notin (x,y)", "{\"a\":\"z\"}", true },
                { "a>5", "{\"a\":\"6\"}", true },
                { "a>5", "{\"a\":\"5\"}", false },
                { "a<5", "{\"a\":\"-6\"}", true },
                { "a<5", "{\"a\":\"x\"}", false },
                { "a>5", "{}", false },
                { "a=", "{\"a\":\"\"}", true },
                { "a=b,c", "{\"a\":\"b\"}", false },
                { "a=b,c", "{\"a\":\"b\",\"c\":\"d\"}", true },
                { "a", "null", false },
                { "a", "{\"a\":1}", false },
        };
        _cleanup_arena_ struct arena a;

        arena_init(&a, "test", 0);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct label_selector s;

                ASSERT_INT(label_selector_parse(&a, str_from(cases[i].selector), &s, NULL), 0);
                ASSERT_CASE(cases[i].selector,
                            label_selector_matches(&s, from_json(&a, cases[i].labels)) == cases[i].matches);
        }
}

#define EXPRESSION(members) "{\"matchExpressions\":[{" members "}]}"

/* As metav1.LabelSelectorAsSelector answered. */
TEST(objects)
{
        static const struct {
                const char *selector, *canonical, *error;
        } cases[] = {
                { "{}", "", NULL },
                { "{\"matchLabels\":null,\"matchExpressions\":null}", "", NULL },
                { "{\"matchLabels\":{\"b\":\"x\",\"a\":\"y\"}}", "a=y,b=x", NULL },
                { "{\"matchLabels\":{\"-b\":\"x\"}}", NULL, "key: Invalid value: \"-b\": " NAME_PART },
                { "{\"matchLabels\":{\"b\":\"-x\"}}", NULL, "values[0][b]: Invalid value: \"-x\": " VALUE_PART },
                { EXPRESSION("\"key\":\"a\",\"operator\":\"In\",\"values\":[\"b\",\"a\",\"b\"]"), "a in (a,b,b)",
                  NULL },
                { EXPRESSION("\"key\":\"a\",\"operator\":\"In\""), NULL,
                  "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty" },
                { EXPRESSION("\"key\":\"a\",\"operator\":\"Exists\",\"values\":[\"b\"]"), NULL,
                  "values: Invalid value: [\"b\"]: values set must be empty for exists and does not exist" },
                { EXPRESSION("\"key\":\"a\",\"operator\":\"DoesNotExist\""), "!a", NULL },
                { EXPRESSION("\"key\":\"a\",\"operator\":\"Foo\""), NULL,
                  "\"Foo\" is not a valid label selector operator" },
                { EXPRESSION("\"key\":\"-a\",\"operator\":\"NotIn\",\"values\":[\"-1\",\"-2\"]"), NULL,
                  "[key: Invalid value: \"-a\": " NAME_PART ", values[0][-a]: Invalid value: \"-1\": " VALUE_PART
                  ", values[1][-a]: Invalid value: \"-2\": " VALUE_PART "]" },
                { "{\"matchLabels\":{\"z\":\"1\"},\"matchExpressions\":[{\"key\":\"b\",\"operator\":\"Exists\"},"
                  "{\"key\":\"a\",\"operator\":\"Exists\"}]}",
                  "a,b,z=1", NULL },
                /* Ours alone: the real one never sees these, its decoder refuses them. */
                { "[]", NULL, "a label selector must be an object" },
                { "{\"matchLabels\":[]}", NULL, "matchLabels: must be an object" },
                { "{\"matchLabels\":{\"a\":1}}", NULL, "matchLabels[a]: must be a string" },
                { "{\"matchExpressions\":{}}", NULL, "matchExpressions: must be an array" },
                { EXPRESSION("\"key\":\"a\",\"operator\":\"In\",\"values\":[1]"), NULL,
                  "matchExpressions: values of key \"a\" must be strings" },
        };
        _cleanup_arena_ struct arena a;

        arena_init(&a, "test", 0);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_err_ struct err err = { 0 };
                _cleanup_buf_ struct buf b = BUF_INIT(0);
                struct label_selector s = { 0 };
                int r = label_selector_from_value(&a, from_json(&a, cases[i].selector), &s, &err);

                ASSERT_CASE(cases[i].selector, r == (cases[i].error ? ERR_INVALID : 0));
                if (cases[i].error)
                        ASSERT_STR_CASE(cases[i].selector, str_from(err_message(&err)), str_from(cases[i].error));
                label_selector_append(&b, &s);
                if (!cases[i].error)
                        ASSERT_STR_CASE(cases[i].selector, buf_str(&b), str_from(cases[i].canonical));
        }
}

TEST(nothing_and_everything)
{
        _cleanup_arena_ struct arena a;
        struct label_selector s;

        arena_init(&a, "test", 0);
        ASSERT_INT(label_selector_from_value(&a, NULL, &s, NULL), 0);
        ASSERT(!label_selector_matches(&s, &value_empty_object));
        ASSERT_INT(label_selector_from_value(&a, &value_null, &s, NULL), 0);
        ASSERT(!label_selector_matches(&s, NULL));
        ASSERT_INT(label_selector_from_value(&a, &value_empty_object, &s, NULL), 0);
        ASSERT(label_selector_matches(&s, NULL));
}

/* The errors are those of kube-apiserver. */
TEST(selectors_of_objects)
{
        static const struct {
                const char *selector, *want;
        } cases[] = {
                { EXPRESSION("\"key\":\"a\",\"operator\":\"Exists\",\"values\":[\"b b\"]"),
                  "[s.matchExpressions[0].values: Forbidden: may not be specified when `operator` is 'Exists' or "
                  "'DoesNotExist', s.matchExpressions[0].values[0]: Invalid value: \"b b\": " VALUE_PART "]" },
                { EXPRESSION("\"operator\":\"In\""),
                  "[s.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or "
                  "'NotIn', "
                  "s.matchExpressions[0].key: Invalid value: \"\": name part must be non-empty, "
                  "s.matchExpressions[0].key: Invalid value: \"\": " NAME_PART "]" },
                { EXPRESSION("\"key\":\"e\",\"operator\":\"\",\"values\":[\"x x\"]"),
                  "[s.matchExpressions[0].operator: Invalid value: \"\": not a valid selector operator, "
                  "s.matchExpressions[0].values[0]: Invalid value: \"x x\": " VALUE_PART "]" },
                { "{\"matchLabels\":{\"a\":\"b\",\"c d\":\"e f\"}}",
                  "[s.matchLabels: Invalid value: \"c d\": " NAME_PART
                  ", s.matchLabels: Invalid value: \"e f\": " VALUE_PART "]" },
                { EXPRESSION("\"key\":\"a\",\"operator\":\"NotIn\",\"values\":[\"b\"]"), "" },
        };
        _cleanup_arena_ struct arena a;

        arena_init(&a, "test", 0);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_buf_ struct buf b = BUF_INIT(0);
                struct field_errors errors;

                field_errors_init(&errors, &a);
                label_selector_check(&errors, STR("s"), from_json(&a, cases[i].selector));
                field_errors_append(&b, &errors);
                ASSERT_STR_CASE(cases[i].selector, buf_str(&b), str_from(cases[i].want));
        }
}

TEST(budgets)
{
        _cleanup_arena_ struct arena a;
        _cleanup_err_ struct err err = { 0 };
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct label_selector s;

        arena_init(&a, "request", 16384);
        for (int i = 0; i < 5000; i++)
                buf_appendf(&b, "%sk%d=v", i > 0 ? "," : "", i);
        ASSERT_INT(label_selector_parse(&a, buf_str(&b), &s, &err), ERR_LIMIT);
        ASSERT_TEXT(err_message(&err), "request memory limit of 16384 bytes exceeded");
}
