#include "test.h"

#include "buf.h"
#include "features.h"

#define FLAGS(...) ((const char *const[]) { __VA_ARGS__ })

static const struct setting table[] = { FEATURE_SETTINGS };

TEST(nothing_said_means_the_defaults)
{
        struct features f = { 0 };

        for (enum feature i = 0; i < _FEATURE_COUNT; i++) {
                ASSERT_CASE(feature_table[i].name, feature_is_on(f, i) == feature_table[i].is_on_by_default);
                ASSERT_CASE(feature_table[i].name, feature_table[i].help != NULL);
        }
        f = features_with(f, FEATURE_REQUIREMENTS_CACHE, true);
        f = features_with(f, FEATURE_REQUIREMENTS_CACHE, true);
        ASSERT(feature_is_on(f, FEATURE_REQUIREMENTS_CACHE));
        ASSERT(!feature_is_on(f, FEATURE_FUNCTION_REVISION_SELECTORS));
        f = features_with(f, FEATURE_REQUIREMENTS_CACHE, false);
        ASSERT(!feature_is_on(f, FEATURE_REQUIREMENTS_CACHE));
}

/* Which of RequirementsCache and FunctionRevisionSelectors are on. */
static unsigned read_all(const char *flag, const char *second_flag, const char *variable)
{
        const char *const environment[] = { variable, NULL };
        _cleanup_err_ struct err err = { 0 };
        struct arguments arguments;
        struct settings settings;
        struct features f = { 0 };

        settings_init(&settings, table, ARRAY_SIZE(table));
        ASSERT(settings_read_flags(&settings,
                                   second_flag ? 2
                                   : flag      ? 1
                                               : 0,
                                   FLAGS(flag, second_flag), false, &arguments, &err) >= 0);
        ASSERT(settings_read_environment(&settings, environment, &err) >= 0);
        ASSERT(features_read(&settings, &f, &err) >= 0);
        settings_done(&settings);
        return (feature_is_on(f, FEATURE_REQUIREMENTS_CACHE) ? 1u : 0) |
               (feature_is_on(f, FEATURE_FUNCTION_REVISION_SELECTORS) ? 2u : 0);
}

TEST(flags_come_before_variables)
{
        static const struct {
                const char *flag, *second_flag, *variable;
                unsigned wanted;
        } cases[] = {
                { NULL, NULL, NULL, 0 },
                { "--feature-gates=RequirementsCache=true", NULL, NULL, 1 },
                { "--feature-gates=RequirementsCache=true,FunctionRevisionSelectors=true", NULL, NULL, 3 },
                { "--enable-function-revision-selectors", NULL, NULL, 2 },
                { "--enable-requirements-cache", "--feature-gates=FunctionRevisionSelectors=true", NULL, 3 },
                { NULL, NULL, "WEFT_FEATURE_GATES=RequirementsCache=true", 1 },
                { NULL, NULL, "WEFT_ENABLE_REQUIREMENTS_CACHE=true", 1 },
                { "--no-enable-requirements-cache", NULL, "WEFT_FEATURE_GATES=RequirementsCache=true", 0 },
                { "--feature-gates=RequirementsCache=false", NULL, "WEFT_ENABLE_REQUIREMENTS_CACHE=true", 0 },
                { "--feature-gates=FunctionRevisionSelectors=true", NULL, "WEFT_FEATURE_GATES=RequirementsCache=true",
                  3 },
                { "--feature-gates=RequirementsCache=false", "--enable-requirements-cache", NULL, 1 },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
                ASSERT_INT(read_all(cases[i].flag, cases[i].second_flag, cases[i].variable), cases[i].wanted);
}

TEST(an_unknown_gate_is_refused_with_the_flag)
{
        _cleanup_err_ struct err err = { 0 };
        struct arguments arguments;
        struct settings settings;

        settings_init(&settings, table, ARRAY_SIZE(table));
        ASSERT(settings_read_flags(&settings, 1, FLAGS("--feature-gates=RequirementCache=true"), false, &arguments,
                                   &err) < 0);
        ASSERT_TEXT(err_message(&err),
                    "--feature-gates: unknown feature gate RequirementCache; did you mean RequirementsCache?");
        settings_done(&settings);
}

TEST(the_list_has_every_feature)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        features_append_list(&b, features_with((struct features) { 0 }, FEATURE_REQUIREMENTS_CACHE, true));
        ASSERT(str_starts_with(buf_str(&b), STR("NAME                         STAGE  DEFAULT  NOW    DESCRIPTION\n")));
        ASSERT(str_find(buf_str(&b), STR("\nRequirementsCache            Alpha  false    true   ")) > 0);
        ASSERT(str_find(buf_str(&b), STR("\nFunctionRevisionSelectors    Alpha  false    false  ")) > 0);
}
