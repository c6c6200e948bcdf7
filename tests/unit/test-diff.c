#include "patch.h"
#include "values.h"

TEST(operations)
{
        static const struct {
                const char *from;
                const char *to;
                const char *patch;
        } table[] = {
                { "{\"a\":1}", "{\"a\":1}", "[]" },
                { "{\"a\":1,\"b\":2}", "{\"b\":2,\"a\":1}", "[]" },
                { "null", "null", "[]" },
                { "1", "1.0", "[{\"op\":\"replace\",\"path\":\"\",\"value\":1.0}]" },
                { "{}", "[]", "[{\"op\":\"replace\",\"path\":\"\",\"value\":[]}]" },
                /* One field of many. */
                { "{\"a\":{\"b\":[{\"c\":1,\"d\":2}],\"e\":3}}", "{\"a\":{\"b\":[{\"c\":1,\"d\":4}],\"e\":3}}",
                  "[{\"op\":\"replace\",\"path\":\"/a/b/0/d\",\"value\":4}]" },
                /* In the order of the keys, whatever the order of the members. */
                { "{\"d\":1,\"b\":1,\"a\":1}", "{\"e\":1,\"d\":2,\"c\":1,\"b\":1}",
                  "[{\"op\":\"remove\",\"path\":\"/a\"},{\"op\":\"add\",\"path\":\"/c\",\"value\":1},"
                  "{\"op\":\"replace\",\"path\":\"/d\",\"value\":2},{\"op\":\"add\",\"path\":\"/e\",\"value\":1}]" },
                { "{\"a\":null}", "{}", "[{\"op\":\"remove\",\"path\":\"/a\"}]" },
                { "{}", "{\"a\":null}", "[{\"op\":\"add\",\"path\":\"/a\",\"value\":null}]" },
                { "{\"\":1,\"a/b\":1,\"m~n\":1,\"~1\":1}", "{\"\":2,\"a/b\":2,\"m~n\":2,\"~1\":2}",
                  "[{\"op\":\"replace\",\"path\":\"/\",\"value\":2},{\"op\":\"replace\",\"path\":\"/"
                  "a~1b\",\"value\":2},"
                  "{\"op\":\"replace\",\"path\":\"/m~0n\",\"value\":2},"
                  "{\"op\":\"replace\",\"path\":\"/~01\",\"value\":2}]" },
                /* Arrays: appended, inserted, removed, changed. */
                { "[1,2]", "[1,2,3,4]",
                  "[{\"op\":\"add\",\"path\":\"/2\",\"value\":3},{\"op\":\"add\",\"path\":\"/3\",\"value\":4}]" },
                { "[1,2]", "[0,1,2]", "[{\"op\":\"add\",\"path\":\"/0\",\"value\":0}]" },
                { "[1,3]", "[1,2,3]", "[{\"op\":\"add\",\"path\":\"/1\",\"value\":2}]" },
                { "[1,2,3]", "[1,3]", "[{\"op\":\"remove\",\"path\":\"/1\"}]" },
                { "[1,2,3,4]", "[1]",
                  "[{\"op\":\"remove\",\"path\":\"/3\"},{\"op\":\"remove\",\"path\":\"/"
                  "2\"},{\"op\":\"remove\",\"path\":\"/1\"}]" },
                { "[1,1,1]", "[1,1]", "[{\"op\":\"remove\",\"path\":\"/2\"}]" },
                { "[1,2,3]", "[1,4,3]", "[{\"op\":\"replace\",\"path\":\"/1\",\"value\":4}]" },
                { "[{\"n\":1},{\"n\":2}]", "[{\"n\":0},{\"n\":1},{\"n\":2}]",
                  "[{\"op\":\"add\",\"path\":\"/0\",\"value\":{\"n\":0}}]" },
                { "[1,[2],3]", "[1,[2,5],4,3]",
                  "[{\"op\":\"add\",\"path\":\"/1/1\",\"value\":5},{\"op\":\"add\",\"path\":\"/2\",\"value\":4}]" },
        };

        begin();
        for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
                const struct value *from = parse(table[i].from), *to = parse(table[i].to), *result;
                const struct value *patch = value_diff(&arena, from, to, false);

                /* Compared as text too: the order of operations and their members is part of the form. */
                ASSERT_STR_CASE(table[i].to, str_from(text_of(patch, 0)), str_from(text_of(parse(table[i].patch), 0)));
                ASSERT_CASE(table[i].to, value_equal(patch, parse(table[i].patch)));
                ASSERT_CASE(table[i].to, json_patch_apply(&arena, from, patch, &result, NULL) >= 0);
                ASSERT_CASE(table[i].to, value_equal(result, to));
        }
        end();
}

TEST(old_values)
{
        const struct value *from, *to, *patch, *result;

        begin();
        from = parse("{\"a\":1,\"b\":[1,{\"x\":2}],\"c\":3}");
        to = parse("{\"a\":2,\"b\":[1],\"d\":4,\"c\":3}");
        patch = value_diff(&arena, from, to, true);
        ASSERT_TEXT(text_of(patch, 0), "[{\"op\":\"replace\",\"path\":\"/a\",\"value\":2,\"old\":1},"
                                       "{\"op\":\"remove\",\"path\":\"/b/1\",\"old\":{\"x\":2}},"
                                       "{\"op\":\"add\",\"path\":\"/d\",\"value\":4}]");
        ASSERT(json_patch_apply(&arena, from, patch, &result, NULL) >= 0);
        ASSERT(value_equal(result, to));
        end();
}

/* Random values, and random changes of them. */

static uint64_t state;

static uint32_t draw(uint32_t n)
{
        state = state * 6364136223846793005u + 1442695040888963407u;
        return (uint32_t)(state >> 33) % n;
}

static struct str random_key(void)
{
        static const char *const keys[] = { "a", "b", "c", "d", "", "~", "/", "~1", "0", "-", "\xc3\xa9" };

        return str_from(keys[draw(ARRAY_SIZE(keys))]);
}

static struct value random_scalar(void)
{
        switch (draw(6)) {
        case 0:
                return value_of_null();
        case 1:
                return value_of_bool(draw(2));
        case 2:
                return value_of_int(draw(3));
        case 3:
                return value_of_double(draw(3));
        case 4:
                return value_of_double(0.5);
        default:
                return value_of_str(random_key());
        }
}

static struct value random_value(int depth)
{
        struct object_builder object;
        struct array_builder array;
        uint32_t kind = draw(4);

        if (depth == 0 || kind == 0)
                return random_scalar();
        if (kind == 1) {
                array_builder_init(&array, &arena, 0);
                for (uint32_t n = draw(5); n; n--)
                        array_builder_add(&array, random_value(depth - 1));
                return array_builder_finish(&array);
        }
        object_builder_init(&object, &arena, 0);
        for (uint32_t n = draw(5); n; n--)
                object_builder_set(&object, random_key(), random_value(depth - 1));
        return object_builder_finish(&object);
}

static struct value changed(const struct value *v, int depth)
{
        struct object_builder object;
        struct array_builder array;

        if (depth == 0 || draw(8) == 0 || value_type(v) < VALUE_ARRAY)
                return random_value(2);
        array_builder_init(&array, &arena, 0);
        VALUE_FOREACH_ITEM (item, v) {
                if (draw(6) == 0)
                        array_builder_add(&array, random_value(1));
                if (draw(6))
                        array_builder_add(&array, draw(3) ? *item : changed(item, depth - 1));
        }
        if (value_is_array(v))
                return array_builder_finish(&array);
        object_builder_init(&object, &arena, 0);
        VALUE_FOREACH_MEMBER (m, v)
                if (draw(6))
                        object_builder_set(&object, m->key, draw(3) ? m->value : changed(&m->value, depth - 1));
        if (draw(3) == 0)
                object_builder_set(&object, random_key(), random_value(1));
        return object_builder_finish(&object);
}

static bool has_null_member(const struct value *v)
{
        VALUE_FOREACH_MEMBER (m, v)
                if (value_is_null(&m->value) || has_null_member(&m->value))
                        return true;
        return false;
}

/* Patches made from two values lead from one to the other, through the text as well. */
TEST(patches_lead_from_one_to_the_other)
{
        size_t n_changes = 0, n_merges = 0;

        for (state = 1; state < 8000; state++) {
                uint64_t seed = state;
                const struct value *patch, *result;
                struct value from, to;

                begin();
                from = random_value(4);
                to = draw(2) ? changed(&from, 4) : random_value(4);
                patch = value_diff(&arena, &from, &to, seed % 2);
                n_changes += value_count(patch);
                ASSERT((value_count(patch) == 0) == value_equal(&from, &to));
                ASSERT(json_patch_apply(&arena, &from, patch, &result, NULL) >= 0);
                ASSERT(value_equal(result, &to));
                if (!has_null_member(&to)) {
                        patch = merge_patch_create(&arena, &from, &to);
                        ASSERT(value_equal(merge_patch_apply(&arena, &from, patch), &to));
                        n_merges++;
                }
                end();
                state = seed;
        }
        ASSERT(n_changes > 8000 && n_merges > 4000);
}
