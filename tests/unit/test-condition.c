#include "kube-test.h"

#include "condition.h"

static struct condition condition(const char *type, enum condition_status status, const char *reason,
                                  const char *message, int64_t generation, int64_t seconds)
{
        return (struct condition) {
                .type = str_from(type),
                .status = status,
                .reason = str_from(reason),
                .message = str_from(message),
                .last_transition = { .seconds = seconds },
                .observed_generation = generation,
        };
}

/* As Crossplane's Condition.Equal answered: a generation of 0 is equal to every other. */
TEST(equality)
{
        struct condition a = condition("T", CONDITION_TRUE, "R", "m", 1, 1), b;
        static const struct {
                int64_t a, b;
                bool is_equal;
        } generations[] = { { 0, 0, true }, { 0, 1, true }, { 1, 0, true }, { 1, 1, true }, { 1, 2, false } };

        for (size_t i = 0; i < ARRAY_SIZE(generations); i++) {
                a.observed_generation = generations[i].a;
                b = condition("T", CONDITION_TRUE, "R", "m", generations[i].b, 2);
                ASSERT(condition_equal(&a, &b) == generations[i].is_equal);
        }
        b = condition("U", CONDITION_TRUE, "R", "m", 0, 1);
        ASSERT(!condition_equal(&a, &b));
        b = condition("T", CONDITION_FALSE, "R", "m", 0, 1);
        ASSERT(!condition_equal(&a, &b));
        b = condition("T", CONDITION_TRUE, "S", "m", 0, 1);
        ASSERT(!condition_equal(&a, &b));
        b = condition("T", CONDITION_TRUE, "R", "n", 0, 1);
        ASSERT(!condition_equal(&a, &b));
}

TEST(values)
{
        _cleanup_arena_ struct arena a;
        struct condition c = condition("T", CONDITION_TRUE, "R", "m", 7, 1), again;
        struct value v;

        arena_init(&a, "test", 0);
        v = condition_value(&a, &c);
        ASSERT_JSON(
                &a, &v,
                "{\"type\":\"T\",\"status\":\"True\",\"lastTransitionTime\":\"1970-01-01T00:00:01Z\",\"reason\":\"R\","
                "\"message\":\"m\",\"observedGeneration\":7}");
        again = condition_of(&v);
        ASSERT(condition_equal(&c, &again));
        ASSERT_INT(again.last_transition.seconds, 1);
        c = condition("U", CONDITION_FALSE, "", "", 0, 0);
        v = condition_value(&a, &c);
        ASSERT_JSON(&a, &v, "{\"type\":\"U\",\"status\":\"False\",\"lastTransitionTime\":null,\"reason\":\"\"}");
        ASSERT_INT(condition_of(&v).status, CONDITION_FALSE);
        ASSERT_TEXT(condition_status_name(CONDITION_UNKNOWN), "Unknown");
}

TEST(getting)
{
        _cleanup_arena_ struct arena a;
        const struct value *o;
        struct condition c;

        arena_init(&a, "test", 0);
        o = from_json(
                &a,
                "{\"status\":{\"conditions\":[{\"type\":\"A\",\"status\":\"True\",\"lastTransitionTime\":\"junk\"}]}}");
        ASSERT(condition_get(o, STR("A"), &c));
        ASSERT_INT(c.status, CONDITION_TRUE);
        ASSERT_INT(c.last_transition.seconds, 0);
        ASSERT(!condition_get(o, STR("B"), &c));
        ASSERT_INT(c.status, CONDITION_UNKNOWN);
        ASSERT_STR(c.type, STR("B"));
        ASSERT(!condition_get(from_json(&a, "{\"status\":[]}"), STR("B"), &c));
}

#define AT(n) "\"lastTransitionTime\":\"1970-01-01T00:00:0" #n "Z\""

TEST(setting)
{
        _cleanup_arena_ struct arena a;
        struct condition one = condition("T", CONDITION_TRUE, "R", "a", 1, 1),
                         same = condition("T", CONDITION_TRUE, "R", "a", 0, 2);
        struct condition newer = condition("T", CONDITION_TRUE, "R", "a", 2, 2),
                         other = condition("U", CONDITION_FALSE, "x", "", 0, 3);
        const struct value *o;

        arena_init(&a, "test", 0);
        o = conditions_set(&a, from_json(&a, "{\"spec\":1}"), &one, 1);
        ASSERT_JSON(&a, o,
                    "{\"spec\":1,\"status\":{\"conditions\":[{\"type\":\"T\",\"status\":\"True\"," AT(
                            1) ",\"reason\":\"R\",\"message\":\"a\",\"observedGeneration\":1}]}}");
        ASSERT(conditions_set(&a, o, &one, 1) == o);
        ASSERT(conditions_set(&a, o, &same, 1) == o);
        ASSERT(conditions_set(&a, o, NULL, 0) == o);
        o = conditions_set(&a, o, (struct condition[]) { other, newer }, 2);
        ASSERT_JSON(&a, value_find(o, "status", "conditions"),
                    "[{\"type\":\"T\",\"status\":\"True\"," AT(
                            2) ",\"reason\":\"R\",\"message\":\"a\",\"observedGeneration\":2},"
                               "{\"type\":\"U\",\"status\":\"False\"," AT(3) ",\"reason\":\"x\"}]");
}

/* The existing list may be odd. If it has a type twice, both are set; a status other than True, False or Unknown is never equal. */
TEST(setting_odd_lists)
{
        _cleanup_arena_ struct arena a;
        struct condition c = condition("T", CONDITION_UNKNOWN, "", "", 0, 1);
        const struct value *o;

        arena_init(&a, "test", 0);
        o = from_json(&a, "{\"status\":{\"conditions\":[{\"type\":\"T\",\"status\":\"Odd\"},{\"type\":\"T\",\"status\":"
                          "\"Unknown\"},7]}}");
        o = conditions_set(&a, o, &c, 1);
        ASSERT_JSON(&a, value_find(o, "status", "conditions"),
                    "[{\"type\":\"T\",\"status\":\"Unknown\"," AT(
                            1) ",\"reason\":\"\"},{\"type\":\"T\",\"status\":\"Unknown\"},7]");
        o = conditions_set(&a, from_json(&a, "{\"status\":7}"), &c, 1);
        ASSERT_JSON(&a, o, "{\"status\":7}");
        o = conditions_set(&a, from_json(&a, "{\"status\":null}"), &c, 1);
        ASSERT_INT(value_count(value_find(o, "status", "conditions")), 1);
        o = conditions_set(&a, from_json(&a, "{\"status\":{\"conditions\":7,\"x\":1}}"), &c, 1);
        ASSERT_INT(value_count(value_find(o, "status", "conditions")), 1);
        ASSERT_INT(value_int(value_find(o, "status", "x"), 0), 1);
}
