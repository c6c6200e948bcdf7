#include "kube-test.h"

#include "buf.h"
#include "field-selector.h"

/* Texts and errors are what apimachinery's fields.ParseSelector answered. */
TEST(texts)
{
        static const struct {
                const char *text, *canonical, *error;
        } cases[] = {
                { "", "", NULL },
                { "a=b", "a=b", NULL },
                { "a==b", "a=b", NULL },
                { "a!=b", "a!=b", NULL },
                { "foo", NULL, "invalid selector: 'foo'; can't understand 'foo'" },
                { "a=b,", "a=b", NULL },
                { "a=b,,c=d", "a=b,c=d", NULL },
                { "=", "", NULL },
                { "a=", "a=", NULL },
                { "=b", "=b", NULL },
                { "a\\=b=c", NULL, "invalid field selector: unescaped character in value: 61" },
                { "a=b\\,c", "a=b\\,c", NULL },
                { "a=b\\x", NULL, "invalid field selector: invalid escape sequence: \\x" },
                { "a=b\\", NULL, "invalid field selector: invalid escape sequence: \\" },
                { "a\\\\=b", "a\\\\=b", NULL },
                { "a=b=c", NULL, "invalid field selector: unescaped character in value: 61" },
                { "a!==b", NULL, "invalid field selector: unescaped character in value: 61" },
                { "a!b", NULL, "invalid selector: 'a!b'; can't understand 'a!b'" },
                { "a=!b", "a=!b", NULL },
                { " a = b ", " a = b ", NULL },
                { "a=b, c=d", " c=d,a=b", NULL },
                { "a==b==c", NULL, "invalid field selector: unescaped character in value: 61" },
                { "!=", "", NULL },
                { "==", "", NULL },
                { "!a=b", "!a=b", NULL },
                { "a=b\\=", "a=b\\=", NULL },
                { "a\\x=b", "a\\x=b", NULL },
                { "a!=b,c==d", "a!=b,c=d", NULL },
                { "a=\\\\", "a=\\\\", NULL },
                { ",", "", NULL },
                { "a,b=c", NULL, "invalid selector: 'a,b=c'; can't understand 'a'" },
                { "a=b\\\\,c=d", "a=b\\\\,c=d", NULL },
                { "a\\,b=c,d=e", "a\\,b=c,d=e", NULL },
                { "a=é", "a=é", NULL },
        };
        _cleanup_arena_ struct arena a;

        arena_init(&a, "test", 0);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_err_ struct err err = { 0 };
                _cleanup_buf_ struct buf b = BUF_INIT(0);
                struct field_selector s = { 0 };
                int r = field_selector_parse(&a, str_from(cases[i].text), &s, &err);

                ASSERT_CASE(cases[i].text, r == (cases[i].error ? ERR_INVALID : 0));
                if (cases[i].error) {
                        ASSERT_STR_CASE(cases[i].text, str_from(err_message(&err)), str_from(cases[i].error));
                        ASSERT_CASE(cases[i].text, err.reason == REASON_BAD_REQUEST);
                        continue;
                }
                field_selector_append(&b, &s);
                ASSERT_STR_CASE(cases[i].text, buf_str(&b), str_from(cases[i].canonical));
        }
}

static struct field_selector parse(struct arena *a, const char *text)
{
        struct field_selector s;

        ASSERT_INT(field_selector_parse(a, str_from(text), &s, NULL), 0);
        return s;
}

TEST(what_kinds_allow)
{
        static const struct str allowed[] = { STR_INIT("spec.color") };
        static const struct {
                const char *text;
                const struct str *allowed;
                size_t n_allowed;
                const char *error;
        } cases[] = {
                { "", NULL, 0, NULL },
                { "metadata.name=a,metadata.namespace!=b", NULL, 0, NULL },
                { "metadata.name=a,spec.color=red", allowed, 1, NULL },
                { "spec.size=1", allowed, 1, "field label not supported: spec.size" },
                { "spec.color=1", allowed, 0, "field label not supported: spec.color" },
                { "data.x=1", NULL, 0,
                  "\"data.x\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"" },
        };
        _cleanup_arena_ struct arena a;

        arena_init(&a, "test", 0);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_err_ struct err err = { 0 };
                struct field_selector s = parse(&a, cases[i].text);
                int r = field_selector_check(&s, cases[i].allowed, cases[i].n_allowed, &err);

                ASSERT_CASE(cases[i].text, r == (cases[i].error ? ERR_INVALID : 0));
                if (cases[i].error)
                        ASSERT_STR_CASE(cases[i].text, str_from(err_message(&err)), str_from(cases[i].error));
        }
}

TEST(matching)
{
        static const char widget[] =
                "{\"kind\":\"Widget\",\"metadata\":{\"name\":\"n\"},\"spec\":{\"color\":\"red\",\"size\":-7,"
                "\"on\":true,\"off\":false,\"list\":[1]},\"source\":{\"component\":\"c\"}}";
        static const char event[] =
                "{\"kind\":\"Event\",\"source\":{\"component\":\"c\"},\"reportingComponent\":\"r\"}";
        static const char reported[] = "{\"kind\":\"Event\",\"source\":{},\"reportingComponent\":\"r\"}";
        static const struct {
                const char *selector, *object;
                bool matches;
        } cases[] = {
                { "", widget, true },
                { "metadata.name=n", widget, true },
                { "metadata.name!=n", widget, false },
                { "metadata.namespace=", widget, true },
                { "spec.color=red,spec.size=-7,spec.on=true,spec.off=false", widget, true },
                { "spec.color=red,spec.size=8", widget, false },
                { "spec.color.deep=", widget, true },
                { "spec.list=", widget, true },
                { "source=c", widget, false },
                { "source=c", event, true },
                { "reportingComponent=r", event, true },
                { "source=r", reported, true },
        };
        _cleanup_arena_ struct arena a;

        arena_init(&a, "test", 0);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct field_selector s = parse(&a, cases[i].selector);

                ASSERT_CASE(cases[i].selector,
                            field_selector_matches(&s, from_json(&a, cases[i].object)) == cases[i].matches);
        }
}

TEST(asking_for_a_name)
{
        _cleanup_arena_ struct arena a;
        struct field_selector s;

        arena_init(&a, "test", 0);
        s = parse(&a, "a=b,metadata.name==n");
        ASSERT_STR(field_selector_name(&s), STR("n"));
        s = parse(&a, "metadata.name!=n");
        ASSERT_STR(field_selector_name(&s), STR(""));
}
