#include "kube-test.h"

#include "name.h"
#include "random.h"

#define S                                                                                                          \
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must " \
        "start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "          \
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
#define L                                                                                                           \
        "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and " \
        "end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "          \
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
#define L1035                                                                                                          \
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic "        \
        "character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation " \
        "is '[a-z]([-a-z0-9]*[a-z0-9])?')"
#define Q                                                                                                     \
        "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an " \
        "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "  \
        "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
#define V                                                                                                            \
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must "    \
        "start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for " \
        "validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
#define C                                                                                                    \
        "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or " \
        "'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"
#define DOTS "must not contain dots"

enum check {
        SUBDOMAIN,
        LABEL,
        LABEL_1035,
        PATH,
        QUALIFIED,
        VALUE,
        KEY,
};

static size_t run(enum check check, struct arena *a, struct str name, bool as_prefix, struct str *texts)
{
        switch (check) {
        case SUBDOMAIN:
                return name_check_subdomain(a, name, as_prefix, texts);
        case LABEL:
                return name_check_label(a, name, as_prefix, texts);
        case LABEL_1035:
                return name_check_label_1035(a, name, as_prefix, texts);
        case PATH:
                return name_check_path_segment(a, name, as_prefix, texts);
        case QUALIFIED:
                return name_check_qualified(a, name, texts);
        case VALUE:
                return name_check_label_value(a, name, texts);
        case KEY:
                return name_check_config_key(a, name, texts);
        }
        return 0;
}

/* Texts are what apimachinery answered; `*` in a name stands for 254 times the letter a, `+` for 64 times. */
TEST(checks)
{
        static const struct {
                enum check check;
                bool as_prefix;
                const char *name, *first, *second;
        } cases[] = {
                { SUBDOMAIN, false, "a", NULL, NULL },
                { SUBDOMAIN, false, "a.b-c.1", NULL, NULL },
                { SUBDOMAIN, false, "", S, NULL },
                { SUBDOMAIN, false, "A", S, NULL },
                { SUBDOMAIN, false, "a..b", S, NULL },
                { SUBDOMAIN, false, "a-.b", S, NULL },
                { SUBDOMAIN, false, "a.", S, NULL },
                { SUBDOMAIN, false, "-a", S, NULL },
                { SUBDOMAIN, false, "é", S, NULL },
                { SUBDOMAIN, false, "*", "must be no more than 253 characters", NULL },
                { SUBDOMAIN, false, "*/", "must be no more than 253 characters", S },
                { SUBDOMAIN, false, "a-", S, NULL },
                { SUBDOMAIN, true, "a-", NULL, NULL },
                { SUBDOMAIN, true, "a--", NULL, NULL },
                { SUBDOMAIN, true, "-", S, NULL },
                { SUBDOMAIN, true, "", S, NULL },
                { LABEL, false, "a-1", NULL, NULL },
                { LABEL, false, "a.b", DOTS, NULL },
                { LABEL, false, "a..b", L, NULL },
                { LABEL, false, "", L, NULL },
                { LABEL, false, "+", "must be no more than 63 characters", NULL },
                { LABEL, false, "+_", "must be no more than 63 characters", L },
                { LABEL, true, "a-", NULL, NULL },
                { LABEL, true, "a.-", NULL, NULL },
                { LABEL_1035, false, "a1", NULL, NULL },
                { LABEL_1035, false, "1a", L1035, NULL },
                { LABEL_1035, false, "", L1035, NULL },
                { LABEL_1035, false, "a.b", L1035, NULL },
                { LABEL_1035, false, "+", "must be no more than 63 characters", NULL },
                { LABEL_1035, true, "a--", NULL, NULL },
                { PATH, false, "Any thing", NULL, NULL },
                { PATH, false, "", NULL, NULL },
                { PATH, false, ".", "may not be '.'", NULL },
                { PATH, false, "..", "may not be '..'", NULL },
                { PATH, true, "..", NULL, NULL },
                { PATH, false, "a/%", "may not contain '/'", "may not contain '%'" },
                { PATH, true, "a%b", "may not contain '%'", NULL },
                { QUALIFIED, false, "A_b.c-d", NULL, NULL },
                { QUALIFIED, false, "ex.org/a_b", NULL, NULL },
                { QUALIFIED, false, "", "name part must be non-empty", Q },
                { QUALIFIED, false, "x/", "name part must be non-empty", Q },
                { QUALIFIED, false, "/x", "prefix part must be non-empty", NULL },
                { QUALIFIED, false, "X/x", "prefix part " S, NULL },
                { QUALIFIED, false, "-a", Q, NULL },
                { QUALIFIED, false, "+", "name part must be no more than 63 bytes", NULL },
                { QUALIFIED, false, "*/x", "prefix part must be no more than 253 bytes", NULL },
                { QUALIFIED, false, "a/b/c",
                  "a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end "
                  "with an "
                  "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
                  "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. "
                  "'example.com/MyName')",
                  NULL },
                { VALUE, false, "", NULL, NULL },
                { VALUE, false, "My_v.1", NULL, NULL },
                { VALUE, false, "a b", V, NULL },
                { VALUE, false, "-", V, NULL },
                { VALUE, false, "+", "must be no more than 63 bytes", NULL },
                { VALUE, false, "+/", "must be no more than 63 bytes", V },
                { KEY, false, "tls.crt", NULL, NULL },
                { KEY, false, "", C, NULL },
                { KEY, false, "a b", C, NULL },
                { KEY, false, ".", "must not be '.'", NULL },
                { KEY, false, "..", "must not be '..'", NULL },
                { KEY, false, "..a", "must not start with '..'", NULL },
                { KEY, false, "*", "must be no more than 253 characters", NULL },
        };
        _cleanup_arena_ struct arena a;
        char letters[300], name[400];

        arena_init(&a, "test", 0);
        memset(letters, 'a', sizeof(letters));
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                const char *text = cases[i].name;
                struct str texts[4];
                size_t n, wanted = (cases[i].first != NULL) + (cases[i].second != NULL);

                snprintf(name, sizeof(name), "%.*s%s",
                         *text == '*'   ? 254
                         : *text == '+' ? 64
                                        : 0,
                         letters, *text == '*' || *text == '+' ? text + 1 : text);
                n = run(cases[i].check, &a, str_from(name), cases[i].as_prefix, texts);
                ASSERT_CASE(text, n == wanted);
                if (n > 0)
                        ASSERT_STR_CASE(text, texts[0], str_from(cases[i].first));
                if (n > 1)
                        ASSERT_STR_CASE(text, texts[1], str_from(cases[i].second));
        }
}

TEST(generated_names)
{
        _cleanup_arena_ struct arena a;
        char letters[64];
        struct str name, other;

        arena_init(&a, "test", 0);
        memset(letters, 'p', sizeof(letters));
        name = name_generate(&a, STR("widget-"));
        other = name_generate(&a, STR("widget-"));
        ASSERT_INT(name.n, 12);
        ASSERT(str_starts_with(name, STR("widget-")));
        for (size_t i = 7; i < 12; i++)
                ASSERT(strchr("bcdfghjklmnpqrstvwxz2456789", name.p[i]));
        ASSERT(!str_equal(name, other)); /* once in 14 million */
        name = name_generate(&a, str_make(letters, 64));
        ASSERT_INT(name.n, 63);
        ASSERT(str_starts_with(name, str_make(letters, 58)));
        ASSERT_INT(name_generate(&a, STR_NONE).n, 5);
}

#define UID "75e4a668-035f-4ce8-8c45-f4d3ac850155"

TEST(deterministic_names)
{
        static const struct {
                const char *prefix, *uid, *resource, *name;
        } cases[] = {
                { "cool-resource-", UID, "database", "cool-resource-38ce86992a27" },
                { "cool-resource", UID, "database", "cool-resource-38ce86992a27" },
                { "", UID, "database", "38ce86992a27" },
                { "very-long-parent-name-very-long-parent-name-very-long-parent-name-", UID, "database",
                  "very-long-parent-name-very-long-parent-name-very-l-38ce86992a27" },
                { "parent-", "uid-123", "database", "parent-5f968d238736" },
                /* 49 letters and -x: the cut leaves two dashes. */
                { "sssssssssssssssssssssssssssssssssssssssssssssssss-x", UID, "database",
                  "sssssssssssssssssssssssssssssssssssssssssssssssss--38ce86992a27" },
                /* 50 letters: the dash that is added still fits. */
                { "ssssssssssssssssssssssssssssssssssssssssssssssssss", UID, "database",
                  "ssssssssssssssssssssssssssssssssssssssssssssssssss-38ce86992a27" },
        };
        _cleanup_arena_ struct arena a;

        arena_init(&a, "test", 0);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
                ASSERT_STR(name_deterministic(&a, str_from(cases[i].prefix), str_from(cases[i].uid),
                                              str_from(cases[i].resource)),
                           str_from(cases[i].name));
}
