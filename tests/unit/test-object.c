#include "test.h"

#include "buf.h"
#include "json.h"
#include "object.h"
#include "proto.h"

static const struct value *parse(struct arena *a, const char *text)
{
        const struct value *v = NULL;

        ASSERT_INT(json_parse(a, str_from(text), NULL, &v, NULL), 0);
        return v;
}

static struct object *make(struct object_cache *c, uint64_t version, const char *text)
{
        _cleanup_arena_ struct arena a;

        arena_init(&a, "test", 0);
        return object_new(c, version, parse(&a, text));
}

TEST(the_version_is_in_the_value)
{
        static const struct {
                uint64_t version;
                const char *text, *wanted;
        } cases[] = {
                { 7, "{\"metadata\":{\"name\":\"a\"}}", "{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"7\"}}" },
                { 18446744073709551615ull, "{\"metadata\":{\"resourceVersion\":\"1\",\"name\":\"a\"}}",
                  "{\"metadata\":{\"resourceVersion\":\"18446744073709551615\",\"name\":\"a\"}}" },
                { 0, "{\"metadata\":{\"name\":\"a\"}}", "{\"metadata\":{\"name\":\"a\"}}" },
        };
        struct object_cache *c = object_cache_new(1 << 20);

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct object *o = make(c, cases[i].version, cases[i].text);
                struct bytes *json = object_json(o);

                ASSERT(object_version(o) == cases[i].version);
                ASSERT_STR(json->str, str_from(cases[i].wanted));
                bytes_unref(json);
                object_unref(o);
        }
        object_cache_unref(c);
}

TEST(a_value_that_was_given_is_not_copied)
{
        struct object_cache *c = object_cache_new(0);
        _cleanup_arena_ struct arena a;
        const struct value *v;
        struct object *o;
        struct bytes *json;

        arena_init(&a, "test", 0);
        v = parse(&a, "{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"x\"}}");
        o = object_of_value(c, v);
        ASSERT(object_value(o, &a) == v);
        ASSERT_INT(object_version(o), 0);
        json = object_json(o);
        ASSERT_STR(json->str, STR("{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"x\"}}"));
        bytes_unref(json);
        object_unref(o);
        object_cache_unref(c);
}

TEST(values_outlive_object_and_cache)
{
        struct object_cache *c = object_cache_new(0);
        struct object *o = make(c, 3, "{\"metadata\":{\"name\":\"some name that stands in the bytes\"}}");
        _cleanup_arena_ struct arena a;
        const struct value *v;

        arena_init(&a, "test", 0);
        v = object_value(o, &a);
        object_unref(o);
        object_cache_unref(c);
        ASSERT_STR(value_str(value_find(v, "metadata", "name")), STR("some name that stands in the bytes"));
        ASSERT_STR(value_str(value_find(v, "metadata", "resourceVersion")), STR("3"));
}

TEST(forms_are_made_once)
{
        struct object_cache *c = object_cache_new(1 << 20);
        struct object *o = make(c, 3, "{\"metadata\":{\"name\":\"a\"}}");
        struct bytes *json = object_json(o), *wire = object_struct(o), *again;
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        _cleanup_arena_ struct arena a;

        arena_init(&a, "test", 0);
        ASSERT(object_value(o, &a) == object_value(o, &a));
        again = object_json(o);
        ASSERT(again == json);
        bytes_unref(again);
        again = object_struct(o);
        ASSERT(again == wire);
        bytes_unref(again);
        ASSERT_INT(proto_encode_struct(&b, object_value(o, &a), NULL), 0);
        ASSERT_STR(wire->str, buf_str(&b));
        bytes_unref(json);
        bytes_unref(wire);
        ASSERT(object_cache_used_bytes(c) > 0);
        object_unref(o);
        ASSERT(object_cache_used_bytes(c) > 0); /* the arena still has it */
        arena_reset(&a);
        ASSERT_INT(object_cache_used_bytes(c), 0);
        object_cache_unref(c);
}

TEST(the_cache_keeps_to_its_budget_and_forgets_the_oldest)
{
        struct object_cache *c = object_cache_new(64 << 10);
        struct object *objects[100];
        const struct value *first;
        _cleanup_arena_ struct arena a;

        for (size_t i = 0; i < ARRAY_SIZE(objects); i++)
                objects[i] = make(c, i + 1, "{\"metadata\":{\"name\":\"a\"},\"spec\":{\"a\":[1,2,3]}}");
        arena_init(&a, "test", 0);
        first = object_value(objects[0], &a);
        for (size_t i = 1; i < ARRAY_SIZE(objects); i++) {
                _cleanup_arena_ struct arena short_lived;

                arena_init(&short_lived, "test", 0);
                object_value(objects[i], &short_lived);
                ASSERT(object_value(objects[0], &short_lived) == first); /* used all the time: never forgotten */
                ASSERT(object_cache_used_bytes(c) <= 64 << 10);
        }
        for (size_t i = 1; i < ARRAY_SIZE(objects); i++) {
                bytes_unref(object_json(objects[i]));
                bytes_unref(object_struct(objects[i])); /* makes a tree, which is kept too */
        }
        ASSERT(object_cache_used_bytes(c) <= 64 << 10);
        ASSERT(object_value(objects[0], &a) != first); /* forgotten, and still alive */
        ASSERT_STR(value_str(value_find(first, "metadata", "name")), STR("a"));
        for (size_t i = 0; i < ARRAY_SIZE(objects); i++)
                object_unref(objects[i]);
        arena_done(&a);
        arena_init(&a, "test", 0);
        ASSERT_INT(object_cache_used_bytes(c), 0);
        object_cache_unref(c);
}

TEST(copies_have_their_own_version)
{
        struct object_cache *c = object_cache_new(1 << 20);
        struct object *o = make(c, 0, "{\"metadata\":{\"name\":\"a\"}}"), *gone;
        _cleanup_arena_ struct arena a;

        arena_init(&a, "test", 0);
        object_set_version(o, 4);
        gone = object_with_version(o, 9);
        ASSERT_STR(value_str(value_find(object_value(o, &a), "metadata", "resourceVersion")), STR("4"));
        ASSERT_STR(value_str(value_find(object_value(gone, &a), "metadata", "resourceVersion")), STR("9"));
        ASSERT_INT(object_size_bytes(o), object_size_bytes(gone));
        object_unref(o);
        object_unref(gone);
        object_unref(NULL);
        object_cache_unref(c);
        object_cache_unref(NULL);
}

static const char *const some_text = "{\"metadata\":{\"name\":\"a\"},\"spec\":{\"a\":[1,2,3]}}";

TEST(what_is_pinned_counts_in_the_budget)
{
        struct object_cache *c = object_cache_new(1 << 20);
        struct object *o = make(c, 1, some_text);
        _cleanup_err_ struct err err = { 0 };
        struct arena a;

        arena_init(&a, "run", 64 << 10);
        for (size_t i = 0; i < 1000; i++) /* the same one again costs nothing */
                object_value(o, &a);
        ASSERT_INT(arena_check(&a, NULL), 0);
        ASSERT(a.pinned_bytes > object_size_bytes(o));
        for (size_t i = 0; i < 100; i++) {
                struct object *other = make(c, 1, some_text);

                object_value(other, &a);
                object_unref(other);
        }
        ASSERT_INT(arena_check(&a, &err), ERR_LIMIT);
        ASSERT_TEXT(err_message(&err), "run memory limit of 65536 bytes exceeded");
        arena_reset(&a);
        object_pin(o, &a);
        ASSERT_INT(a.pinned_bytes, object_size_bytes(o));
        ASSERT_INT(arena_check(&a, NULL), 0);
        arena_done(&a);
        object_unref(o);
        object_cache_unref(c);
}

TEST(a_peek_leaves_the_cache_alone)
{
        struct object_cache *c = object_cache_new(1 << 20);
        struct object *o = make(c, 4, some_text);
        _cleanup_arena_ struct arena a, scratch;
        const struct value *kept;

        arena_init(&a, "test", 0);
        arena_init(&scratch, "test", 0);
        ASSERT_STR(value_str(value_find(object_peek(o, &scratch), "metadata", "resourceVersion")), STR("4"));
        ASSERT_INT(object_cache_used_bytes(c), 0);
        kept = object_value(o, &a);
        ASSERT(object_peek(o, &scratch) == kept);
        object_unref(o);
        arena_reset(&scratch);
        arena_reset(&a);
        object_cache_unref(c);
}

TEST(text_for_one_use_leaves_the_cache_alone)
{
        struct object_cache *c = object_cache_new(1 << 20);
        struct object *o = make(c, 4, some_text);
        _cleanup_buf_ struct buf b = BUF_INIT(0), again = BUF_INIT(0);
        _cleanup_arena_ struct arena scratch;
        struct bytes *json;
        size_t used;

        arena_init(&scratch, "test", 0);
        object_append_json(o, &scratch, &b);
        ASSERT_INT(object_cache_used_bytes(c), 0);
        json = object_json(o);
        ASSERT_STR(buf_str(&b), json->str);
        used = object_cache_used_bytes(c);
        object_append_json(o, &scratch, &again);
        ASSERT_STR(buf_str(&again), json->str);
        ASSERT_INT(object_cache_used_bytes(c), used);
        bytes_unref(json);
        object_unref(o);
        object_cache_unref(c);
}

TEST(variants_are_shared_and_forgotten)
{
        struct object_cache *c = object_cache_new(1 << 10);
        struct object *o = make(c, 1, some_text), *one = make(c, 1, some_text), *two = make(c, 1, some_text), *found;
        _cleanup_arena_ struct arena a;

        arena_init(&a, "test", 0);
        ASSERT(!object_variant(o, 1));
        found = object_add_variant(o, 1, one);
        ASSERT(found == one);
        object_unref(found);
        found = object_add_variant(o, 1, two); /* too late */
        ASSERT(found == one);
        object_unref(found);
        ASSERT(!object_variant(o, 2));
        found = object_add_variant(o, 2, two);
        ASSERT(found == two);
        object_unref(found);
        found = object_variant(o, 1);
        ASSERT(found == one);
        object_unref(found);
        object_value(one, &a);
        object_value(two, &a); /* both together are more than the budget, even without blocks of arenas */
        ASSERT(!object_variant(o, 1));
        arena_reset(&a);
        object_unref(one);
        object_unref(two);
        object_unref(o);
        ASSERT_INT(object_cache_used_bytes(c), 0);
        object_cache_unref(c);
}

struct shared {
        struct object *objects[16];
        int rounds;
};

static void look(void *arg)
{
        const struct shared *s = arg;

        for (int i = 0; i < s->rounds; i++) {
                struct object *o = object_ref(s->objects[(size_t)i % ARRAY_SIZE(s->objects)]);
                struct bytes *json = object_json(o);
                struct arena a;

                arena_init(&a, "test", 0);
                ASSERT_STR(value_str(value_find(object_value(o, &a), "metadata", "name")), STR("a"));
                ASSERT(json->str.n > 0);
                bytes_unref(json);
                object_unref(o);
                arena_done(&a);
        }
}

TEST(threads_share_objects)
{
        struct object_cache *c = object_cache_new(32 << 10);
        struct shared s = { .rounds = 2000 };
        struct thread *threads[4];

        for (size_t i = 0; i < ARRAY_SIZE(s.objects); i++)
                s.objects[i] = make(c, i + 1, "{\"metadata\":{\"name\":\"a\"}}");
        for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
                ASSERT_INT(thread_start("look", look, &s, &threads[i], NULL), 0);
        for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
                thread_join(threads[i]);
        for (size_t i = 0; i < ARRAY_SIZE(s.objects); i++)
                object_unref(s.objects[i]);
        ASSERT_INT(object_cache_used_bytes(c), 0);
        object_cache_unref(c);
}
