#include "kube-test.h"

#include "convert.h"
#include "meta.h"

static int double_size(struct arena *a, const struct value *object, const struct value **ret, struct err *err)
{
        int64_t size = value_int(value_find(object, "spec", "size"), -1);
        const struct value *spec = value_get(object, STR("spec"));

        if (size < 0)
                return err_set(err, ERR_INVALID, "spec.size is missing");
        spec = value_with(a, spec, STR("size"), value_put(a, value_of_int(2 * size)));
        *ret = value_with(a, object, STR("spec"), spec);
        return 0;
}

static const struct convert_step steps[] = {
        { .operation = CONVERT_MOVE, .from = "spec.old.name", .to = "spec.name" },
        { .operation = CONVERT_COPY, .from = "spec.name", .to = "spec.made.deep.copy" },
        { .operation = CONVERT_DROP, .from = "spec.gone" },
        { .operation = CONVERT_SET, .to = "spec.mode", .literal = "{\"on\":true}" },
        { .operation = CONVERT_MOVE, .from = "spec.list[].a", .to = "spec.list[].b.c" },
        { .operation = CONVERT_SET, .to = "spec.list[].n", .literal = "1" },
        { .operation = CONVERT_DROP, .from = "spec.outer[].inner[].x" },
};
static const struct convert_step call_steps[] = { { .operation = CONVERT_CALL, .fn = double_size } };
static const struct convert_step broken_steps[] = { { .operation = CONVERT_SET, .to = "spec.x", .literal = "{" } };
static const struct conversion table[] = {
        { "v1", "v2", steps, ARRAY_SIZE(steps) },
        { "v1", "v3", call_steps, 1 },
        { "v1", "v4", broken_steps, 1 },
};

static const struct value *convert(struct arena *a, const char *spec, const char *to)
{
        const struct value *object, *ret;
        _cleanup_err_ struct err err = { 0 };

        object = value_with(a, from_json(a, "{\"apiVersion\":\"ex.org/v1\",\"kind\":\"K\"}"), STR("spec"),
                            from_json(a, spec));
        if (convert_object(a, table, ARRAY_SIZE(table), object, ARENA_CONCAT(a, STR("ex.org/"), str_from(to)), &ret,
                           &err) < 0)
                return value_put(a, value_of_str(arena_copy(a, str_from(err_message(&err)))));
        ASSERT_STR(gvk_of(ret).version, str_from(to));
        ASSERT_STR(gvk_of(ret).group, STR("ex.org"));
        return value_get(ret, STR("spec"));
}

TEST(tables)
{
        static const struct {
                const char *from, *to;
        } cases[] = {
                { "{}", "{\"mode\":{\"on\":true}}" },
                { "{\"mode\":null}", "{\"mode\":null}" },
                { "{\"old\":{\"name\":\"n\"},\"mode\":1}",
                  "{\"mode\":1,\"name\":\"n\",\"made\":{\"deep\":{\"copy\":\"n\"}}}" },
                { "{\"old\":{\"name\":\"n\",\"x\":1},\"mode\":1}",
                  "{\"old\":{\"x\":1},\"mode\":1,\"name\":\"n\",\"made\":{\"deep\":{\"copy\":\"n\"}}}" },
                { "{\"gone\":{\"a\":1},\"mode\":1}", "{\"mode\":1}" },
                { "{\"list\":[{\"a\":1},{\"a\":2,\"b\":{\"d\":3}},{\"n\":0},7],\"mode\":1}",
                  "{\"list\":[{\"b\":{\"c\":1},\"n\":1},{\"b\":{\"d\":3,\"c\":2},\"n\":1},{\"n\":0},7],\"mode\":1}" },
                { "{\"list\":{},\"mode\":1}", "{\"list\":{},\"mode\":1}" },
                { "{\"outer\":[{\"inner\":[{\"x\":1,\"y\":2},{\"x\":1}]},{}],\"mode\":1}",
                  "{\"outer\":[{\"inner\":[{\"y\":2},{}]},{}],\"mode\":1}" },
                { "{\"made\":7,\"name\":\"n\",\"mode\":1}",
                  "{\"made\":{\"deep\":{\"copy\":\"n\"}},\"name\":\"n\",\"mode\":1}" },
        };
        _cleanup_arena_ struct arena a;

        arena_init(&a, "test", 0);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
                ASSERT_JSON_CASE(cases[i].from, &a, convert(&a, cases[i].from, "v2"), cases[i].to);
}

TEST(calls_and_errors)
{
        _cleanup_arena_ struct arena a;

        arena_init(&a, "test", 0);
        ASSERT_JSON(&a, convert(&a, "{\"size\":2}", "v3"), "{\"size\":4}");
        ASSERT_STR(value_str(convert(&a, "{}", "v3")),
                   STR("cannot convert K from ex.org/v1 to ex.org/v3: spec.size is missing"));
        ASSERT_STR(
                value_str(convert(&a, "{}", "v4")),
                STR("cannot convert K from ex.org/v1 to ex.org/v4: literal for spec.x: unexpected end of JSON input"));
}

TEST(without_a_table)
{
        _cleanup_arena_ struct arena a;
        const struct value *object, *ret;

        arena_init(&a, "test", 0);
        ASSERT_JSON(&a, convert(&a, "{\"a\":1}", "v9"), "{\"a\":1}");
        object = from_json(&a, "{\"apiVersion\":\"v1\",\"kind\":\"K\"}");
        ASSERT_INT(convert_object(&a, NULL, 0, object, STR("v1"), &ret, NULL), 0);
        ASSERT(ret == object);
        ASSERT_INT(convert_object(&a, NULL, 0, object, STR("v2"), &ret, NULL), 0);
        ASSERT_JSON(&a, ret, "{\"apiVersion\":\"v2\",\"kind\":\"K\"}");
}

TEST(between_groups)
{
        static const struct convert_step to_new[] = { { .operation = CONVERT_MOVE, .from = "message", .to = "note" } };
        static const struct convert_step to_core[] = { { .operation = CONVERT_MOVE, .from = "note", .to = "message" } };
        static const struct conversion groups[] = { { "v1", "ex.org/v1", to_new, 1 },
                                                    { "ex.org/v1", "v1", to_core, 1 } };
        const struct value *object, *other, *back;
        _cleanup_arena_ struct arena a;

        arena_init(&a, "test", 0);
        object = from_json(&a, "{\"apiVersion\":\"v1\",\"kind\":\"K\",\"message\":\"m\"}");
        ASSERT_INT(convert_object(&a, groups, ARRAY_SIZE(groups), object, STR("ex.org/v1"), &other, NULL), 0);
        ASSERT_JSON(&a, other, "{\"apiVersion\":\"ex.org/v1\",\"kind\":\"K\",\"note\":\"m\"}");
        ASSERT_INT(convert_object(&a, groups, ARRAY_SIZE(groups), other, STR("v1"), &back, NULL), 0);
        ASSERT(value_equal(object, back));
}
