#include "test.h"

#include "arena.h"
#include "buf.h"
#include "semver.h"

/* The answers are those of Masterminds/semver v3.4.0. */
TEST(versions)
{
        static const struct {
                const char *text, *string, *error;
        } cases[] = {
                { "v1", "1.0.0", NULL },
                { "1.2", "1.2.0", NULL },
                { "1.2.3", "1.2.3", NULL },
                { "01.02", "1.2.0", NULL },
                { "1.2-rc1+b.1", "1.2.0-rc1+b.1", NULL },
                { "1-0-0", "1.0.0-0-0", NULL },
                { "1.2.3+01", "1.2.3+01", NULL },
                { "18446744073709551615", "18446744073709551615.0.0", NULL },
                { "", NULL, "invalid semantic version" },
                { "v", NULL, "invalid semantic version" },
                { "V1", NULL, "invalid semantic version" },
                { " 1", NULL, "invalid semantic version" },
                { "1.", NULL, "invalid semantic version" },
                { "1..2", NULL, "invalid semantic version" },
                { "1.2.3.4", NULL, "invalid semantic version" },
                { "1.2.x", NULL, "invalid semantic version" },
                { "1.2.3-", NULL, "invalid semantic version" },
                { "1.2.3-a..b", NULL, "invalid semantic version" },
                { "1.2.3-+a", NULL, "invalid semantic version" },
                { "1.2.3+", NULL, "invalid semantic version" },
                { "1.2.3+a+b", NULL, "invalid semantic version" },
                { "1.2.3-01", NULL, "version segment starts with 0" },
                { "1.2.3-rc.01", NULL, "version segment starts with 0" },
                { "1.99999999999999999999", NULL,
                  "error parsing version segment: strconv.ParseUint: parsing \"99999999999999999999\": value out of "
                  "range" },
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                _cleanup_err_ struct err err = { 0 };
                _cleanup_buf_ struct buf b = BUF_INIT(0);
                struct semver v;
                int r = semver_parse(str_from(cases[i].text), &v, &err);

                if (cases[i].error) {
                        ASSERT_CASE(cases[i].text, r < 0);
                        ASSERT_STR(str_from(err_message(&err)), str_from(cases[i].error));
                        continue;
                }
                ASSERT_CASE(cases[i].text, r == 0);
                semver_append(&b, &v);
                ASSERT_STR(buf_str(&b), str_from(cases[i].string));
        }
}

/* Each is before all that follow. */
TEST(order)
{
        static const char *const versions[] = {
                "0.9.9",   "1.0.0-0",    "1.0.0-2",   "1.0.0-10",  "1.0.0-99999999999999999999",
                "1.0.0-A", "1.0.0-a",    "1.0.0-a.1", "1.0.0-a.a", "1.0.0-ab",
                "1.0.0",   "1.0.1-rc.1", "1.0.1",     "1.1.0",     "2.0.0",
        };
        size_t n = sizeof(versions) / sizeof(versions[0]);

        for (size_t i = 0; i < n; i++)
                for (size_t j = 0; j < n; j++) {
                        struct semver a, b;
                        int order;

                        ASSERT_CASE(versions[i], semver_parse(str_from(versions[i]), &a, NULL) == 0);
                        ASSERT_CASE(versions[j], semver_parse(str_from(versions[j]), &b, NULL) == 0);
                        order = semver_compare(&a, &b);
                        ASSERT_CASE(versions[i], (order > 0) - (order < 0) == (i > j) - (i < j));
                }
}

TEST(metadata_does_not_count)
{
        struct semver a, b;

        ASSERT_INT(semver_parse(STR("1.2.3+a"), &a, NULL), 0);
        ASSERT_INT(semver_parse(STR("1.2.3+b"), &b, NULL), 0);
        ASSERT_INT(semver_compare(&a, &b), 0);
}

static const char *check(const char *constraint, const char *version)
{
        static char text[256];
        _cleanup_arena_ struct arena a;
        _cleanup_err_ struct err err = { 0 };
        const struct semver_constraint *c;
        struct semver v;

        arena_init(&a, "constraint", 0);
        if (semver_parse(str_from(version), &v, NULL) < 0)
                return "bad version";
        if (semver_constraint_parse(&a, str_from(constraint), &c, &err) == 0)
                return semver_constraint_check(c, &v) ? "yes" : "no";
        snprintf(text, sizeof(text), "%s", err_message(&err));
        return text;
}

/* The answers are those of Masterminds/semver v3.4.0. */
TEST(constraints)
{
        static const struct {
                const char *constraint, *version, *answer;
        } cases[] = {
                { "1.2.3", "1.2.3", "yes" },
                { "=1.2.3+c", "1.2.3+b", "yes" },
                { "1.2", "1.2.9", "yes" },
                { "2.x", "2.9.9", "yes" },
                { "2", "3.0.0", "no" },
                { "x.1", "7.0.0", "yes" },
                { "*", "1.0.0-a", "no" },
                { "!=4.1", "4.1.7", "no" },
                { "!=4.1", "4.2.0", "yes" },
                { "!=*", "0.0.0", "no" },
                { "!=1.2-a", "1.2.5-a", "no" },
                { "!=1.2-a", "1.2.0", "yes" },
                { ">11", "11.9.9", "no" },
                { ">11", "12.0.0", "yes" },
                { ">11.1", "11.2.0", "yes" },
                { "<=11", "11.9.9", "yes" },
                { "<=11.1", "11.2.0", "no" },
                { "<11", "11.0.0", "no" },
                { "<*", "0.0.0", "no" },
                { "=>1.2", "1.2.0", "yes" },
                { "=<1.2", "1.2.9", "yes" },
                { "~1.2.3", "1.2.9", "yes" },
                { "~1.2.3", "1.3.0", "no" },
                { "~>1", "1.9.0", "yes" },
                { "~0.0.0", "3.2.1", "yes" },
                { "^1.2.3", "1.9.9", "yes" },
                { "^1.2.3", "2.0.0", "no" },
                { "^0.2.3", "0.3.0", "no" },
                { "^0.0.3", "0.0.4", "no" },
                { "^0.0", "0.0.4", "yes" },
                { "^0", "0.9.0", "yes" },
                { "^*", "0.0.1", "no" },
                { "1.2 - 2.3.4", "2.3.4", "yes" },
                { "1 - 2", "2.4.0", "yes" },
                { "1.2-2.3.4", "1.2.3", "yes" },
                { ">=1.0.0-0", "1.2.0-a", "yes" },
                { ">=1.2.3-0 <2.0.0", "2.0.0-alpha", "yes" },
                { ">=1.2.3", "1.3.0-a", "no" },
                { "~1.2.3-alpha", "1.3.0-a", "no" },
                { ">=1, <2 || >=3", "3.1.0", "yes" },
                { ">=1 , <2||>=3", "2.1.0", "no" },
                { ">= v1.2", "1.2.0", "yes" },
                { "", "1.0.0", "improper constraint: " },
                { "1 ||", "1.0.0", "improper constraint: " },
                { "==1", "1.0.0", "improper constraint: ==1" },
                { "> =1", "1.0.0", "improper constraint: > =1" },
                { "1,,2", "1.0.0", "improper constraint: 1,,2" },
                { "1,", "1.0.0", "improper constraint: 1," },
                { "V1", "1.0.0", "improper constraint: V1" },
                { "1 - 2 - 3", "1.0.0", "improper constraint: >= 1, <= 2 - 3" },
                { "1 - 2.3+", "1.0.0", "improper constraint: >= 1, <= 2.3 +" },
                { "1|2", "1.0.0", "constraint parser error" },
                { "xx", "1.0.0", "constraint parser error" },
                { "1.2.3-01", "1.0.0", "constraint parser error" },
                { "99999999999999999999", "1.0.0", "constraint parser error" },
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                const char *answer = check(cases[i].constraint, cases[i].version);

                if (strcmp(answer, cases[i].answer) != 0)
                        test_fail(__FILE__, __LINE__, "%s takes %s: %s, wanted %s", cases[i].constraint,
                                  cases[i].version, answer, cases[i].answer);
        }
}

/* v3.5.0 quotes; v3.4.0 does not. */
TEST(the_texts_of_the_newer_library)
{
        static const struct {
                const char *constraint, *error;
        } cases[] = {
                { "", "improper constraint: \"\"" },
                { ">=a", "improper constraint: \">=a\"" },
                { "1 - 2.3+", "improper constraint: \">= 1, <= 2.3 +\"" },
                { "a\"\n", "improper constraint: \"a\\\"\\n\"" },
                { "1|2", "constraint parser error" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_arena_ struct arena a;
                _cleanup_err_ struct err err = { 0 };
                const struct semver_constraint *c;

                arena_init(&a, "constraint", 0);
                ASSERT_INT(semver_constraint_parse_quoting(&a, str_from(cases[i].constraint), &c, &err), ERR_INVALID);
                ASSERT_STR(str_from(err_message(&err)), str_from(cases[i].error));
        }
}

TEST(a_constraint_is_bounded)
{
        _cleanup_arena_ struct arena a;
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        _cleanup_err_ struct err err = { 0 };
        const struct semver_constraint *c;

        arena_init(&a, "constraint", 0);
        buf_append_repeat(&b, '1', 16385);
        ASSERT_INT(semver_constraint_parse(&a, buf_str(&b), &c, &err), ERR_LIMIT);
        ASSERT_STR(str_from(err_message(&err)), STR("a version constraint has at most 16384 bytes"));
}
