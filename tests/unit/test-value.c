#include "test.h"

#include "buf.h"
#include "value.h"

#include <math.h>
#include <pthread.h>

/* "k<i>", in the arena. */
static struct str key_of(struct arena *a, size_t i)
{
        return arena_printf(a, "k%zu", i);
}

/* An object of n members k0, k1, ... with their numbers, starting at `first` and going round. */
static struct value make_object(struct arena *a, size_t n, size_t first)
{
        struct object_builder b;

        object_builder_init(&b, a, n);
        for (size_t i = 0; i < n; i++)
                object_builder_add(&b, key_of(a, (i + first) % n), value_of_int((int64_t)((i + first) % n)));
        return object_builder_finish(&b);
}

static struct value make_array(struct arena *a, int64_t n)
{
        struct array_builder b;

        array_builder_init(&b, a, 0);
        for (int64_t i = 0; i < n; i++)
                array_builder_add(&b, value_of_int(i));
        return array_builder_finish(&b);
}

TEST(questions_about_nothing)
{
        ASSERT(!value_is_null(NULL) && !value_is_object(NULL) && !value_is_number(NULL));
        ASSERT_STR(value_str(NULL), STR(""));
        ASSERT_INT(value_count(NULL), 0);
        ASSERT_INT(value_int(NULL, 7), 7);
        ASSERT(value_double(NULL, 1.5) == 1.5);
        ASSERT(value_bool(NULL, true));
        ASSERT(!value_item(NULL, 0) && !value_get(NULL, STR("a")) && !value_find(NULL, "a", "b"));
}

TEST(scalars)
{
        static const struct {
                struct value v;
                int64_t as_int;
                double as_double;
        } cases[] = {
                { { .type = VALUE_INT, .integer = 5 }, 5, 5 },
                { { .type = VALUE_INT, .integer = INT64_MIN }, INT64_MIN, -0x1p63 },
                { { .type = VALUE_DOUBLE, .number = 5 }, 5, 5 },
                { { .type = VALUE_DOUBLE, .number = -0x1p63 }, INT64_MIN, -0x1p63 },
                { { .type = VALUE_DOUBLE, .number = 0x1p63 }, -1, 0x1p63 },
                { { .type = VALUE_DOUBLE, .number = 1.5 }, -1, 1.5 },
                { { .type = VALUE_DOUBLE, .number = INFINITY }, -1, INFINITY },
                { { .type = VALUE_BOOL, .boolean = true }, -1, -1 },
                { { .type = VALUE_STRING, .bytes = "5", .n = 1 }, -1, -1 },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                ASSERT_INT(value_int(&cases[i].v, -1), cases[i].as_int);
                ASSERT(value_double(&cases[i].v, -1) == cases[i].as_double);
        }
        ASSERT_INT(value_int(&(struct value) { .type = VALUE_DOUBLE, .number = NAN }, -1), -1);
        ASSERT(value_bool(&value_true, false) && !value_bool(&value_false, true) && value_bool(&value_null, true));
        ASSERT_STR(value_str(&value_true), STR(""));
        ASSERT(value_of_str(STR_NONE).bytes != NULL);
        ASSERT_INT(value_count(&value_true), 0);
}

/* Small objects are scanned, sorted ones bisected, the others probed: every way must find the same. */
TEST(lookup_in_every_kind_of_object)
{
        static const size_t counts[] = { 0, 1, 2, 11, 12, 13, 14, 31, 32, 33, 64, 1000, 5000 };

        for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
                size_t n = counts[i];
                _cleanup_arena_ struct arena a;
                struct value unsorted;
                const struct value *sorted;

                arena_init(&a, "test", 0);
                unsorted = make_object(&a, n, n / 2);
                sorted = value_sorted(&a, &unsorted);
                ASSERT_INT(value_count(&unsorted), n);
                ASSERT_INT(value_count(sorted), n);
                for (size_t k = 0; k < n; k++) {
                        ASSERT_INT(value_int(value_get(&unsorted, key_of(&a, k)), -1), k);
                        ASSERT_INT(value_int(value_get(sorted, key_of(&a, k)), -1), k);
                        ASSERT(k == 0 ||
                               str_compare(value_member(sorted, k - 1)->key, value_member(sorted, k)->key) < 0);
                }
                ASSERT(!value_get(&unsorted, STR("")) && !value_get(&unsorted, STR("k")) &&
                       !value_get(sorted, STR("l")));
                ASSERT(!value_get(&unsorted, key_of(&a, n)) && !value_get(sorted, key_of(&a, n)));
                ASSERT(value_sorted(&a, sorted) == sorted);
                ASSERT(value_equal(&unsorted, sorted) && value_equal(sorted, &unsorted));
        }
}

TEST(order_of_insertion_is_kept)
{
        _cleanup_arena_ struct arena a;
        struct value v;
        size_t i = 0;

        arena_init(&a, "test", 0);
        v = make_object(&a, 20, 7);
        VALUE_FOREACH_MEMBER (m, &v) {
                ASSERT_INT(m->value.integer, (i + 7) % 20);
                i++;
        }
        ASSERT_INT(i, 20);
        VALUE_FOREACH_MEMBER (m, &value_null)
                ASSERT(m == NULL);
        VALUE_FOREACH_ITEM (item, &value_null)
                ASSERT(item == NULL);
}

TEST(find)
{
        _cleanup_arena_ struct arena a;
        struct value inner, outer;

        arena_init(&a, "test", 0);
        inner = value_of_members(&a, &(struct member) { STR("name"), value_of_literal("x") }, 1, true);
        outer = value_of_members(&a, &(struct member) { STR("metadata"), inner }, 1, false);
        ASSERT_STR(value_str(value_find(&outer, "metadata", "name")), STR("x"));
        ASSERT(!value_find(&outer, "metadata", "name", "more") && !value_find(&outer, "spec", "name"));
}

TEST(with_replaces_and_shares)
{
        static const size_t counts[] = { 3, 12, 13, 200 };

        for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
                _cleanup_arena_ struct arena a;
                struct value array, v;
                const struct value *object, *changed, *grown;

                arena_init(&a, "test", 0);
                array = make_array(&a, 5);
                v = make_object(&a, counts[i], 1);
                object = value_with(&a, &v, STR("k1"), &array);
                changed = value_with(&a, object, STR("k0"), &value_true);
                ASSERT_INT(value_int(value_get(object, STR("k0")), -1), 0);
                ASSERT(value_bool(value_get(changed, STR("k0")), false));
                ASSERT(value_get(changed, STR("k1"))->items == array.items);
                ASSERT(value_member(changed, 0)->key.p == value_member(object, 0)->key.p);
                ASSERT_STR(value_member(changed, counts[i] - 1)->key, STR("k0"));
                grown = value_with(&a, changed, STR("a new key"), &value_null);
                ASSERT_INT(value_count(grown), counts[i] + 1);
                ASSERT_STR(value_member(grown, counts[i])->key, STR("a new key"));
                for (size_t k = 2; k < counts[i]; k++)
                        ASSERT_INT(value_int(value_get(grown, key_of(&a, k)), -1), k);
                ASSERT(!value_get(changed, STR("a new key")));
        }
}

/* Appending in order keeps an object sorted, so that it is its own sorted form. */
TEST(with_knows_order)
{
        _cleanup_arena_ struct arena a;
        const struct value *v = &value_empty_object;

        arena_init(&a, "test", 0);
        v = value_with(&a, v, STR("a"), &value_true);
        v = value_with(&a, v, STR("c"), &value_true);
        ASSERT(value_sorted(&a, v) == v);
        v = value_with(&a, v, STR("b"), &value_true);
        ASSERT(value_sorted(&a, v) != v);
        ASSERT_STR(value_member(value_sorted(&a, v), 1)->key, STR("b"));
        v = value_with(&a, value_without(&a, v, STR("b")), STR("d"), &value_true);
        ASSERT_STR(value_member(v, 2)->key, STR("d"));
}

TEST(without)
{
        static const size_t counts[] = { 1, 2, 13, 14, 100 };

        for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
                _cleanup_arena_ struct arena a;
                struct value v;
                const struct value *less;

                arena_init(&a, "test", 0);
                v = make_object(&a, counts[i], counts[i] / 2);
                ASSERT(value_without(&a, &v, STR("absent")) == &v);
                less = value_without(&a, &v, STR("k0"));
                ASSERT_INT(value_count(less), counts[i] - 1);
                ASSERT(!value_get(less, STR("k0")) && value_get(&v, STR("k0")));
                for (size_t k = 1; k < counts[i]; k++)
                        ASSERT_INT(value_int(value_get(less, key_of(&a, k)), -1), k);
        }
}

TEST(array_edits)
{
        _cleanup_arena_ struct arena a;
        struct value v, child;
        const struct value *edited;

        arena_init(&a, "test", 0);
        child = make_object(&a, 2, 0);
        v = make_array(&a, 4);
        edited = value_with_item(&a, &v, 2, &child);
        ASSERT(value_item(edited, 2)->members == child.members);
        ASSERT_INT(value_item(edited, 3)->integer, 3);
        ASSERT_INT(value_item(&v, 2)->integer, 2);
        edited = value_without_item(&a, edited, 0);
        ASSERT_INT(value_count(edited), 3);
        ASSERT(value_item(edited, 1)->members == child.members);
        edited = value_with_inserted(&a, edited, 0, &value_true);
        edited = value_with_inserted(&a, edited, 4, &value_false);
        edited = value_with_appended(&a, edited, &value_null);
        ASSERT_INT(value_count(edited), 6);
        ASSERT(value_item(edited, 0)->boolean && value_is_bool(value_item(edited, 4)));
        ASSERT(value_is_null(value_item(edited, 5)) && !value_item(edited, 6));
        ASSERT_INT(value_item(edited, 1)->integer, 1);
        edited = value_with_appended(&a, &value_empty_array, &value_true);
        ASSERT_INT(value_count(edited), 1);
        ASSERT_INT(value_count(value_without_item(&a, edited, 0)), 0);
}

TEST(equality)
{
        _cleanup_arena_ struct arena a;
        struct value one = value_of_int(1), one_double = value_of_double(1), nan = value_of_double(NAN);
        struct value zero = value_of_double(0), minus_zero = value_of_double(-0.0), text = value_of_literal("1");
        struct value big = value_of_int(INT64_MAX), big_double = value_of_double(0x1p63), half = value_of_double(1.5);
        struct value nans, other_nans;

        arena_init(&a, "test", 0);
        ASSERT(value_equal(&one, &one) && !value_equal(&one, &one_double) && value_equal_numeric(&one, &one_double));
        ASSERT(value_equal_numeric(&one_double, &one) && !value_equal_numeric(&one, &half));
        ASSERT(!value_equal_numeric(&big, &big_double) && !value_equal_numeric(&one, &nan));
        ASSERT(!value_equal_numeric(&one, &text) && !value_equal(&one, &text));
        ASSERT(value_equal(&zero, &minus_zero) && !value_equal(&nan, &nan));
        ASSERT(value_equal(&value_null, &value_null) && !value_equal(&value_true, &value_false));
        ASSERT(!value_equal(&value_empty_array, &value_empty_object));
        ASSERT(value_equal(&value_empty_string, &(struct value) { .type = VALUE_STRING }));
        nans = value_of_items(&a, &nan, 1);
        other_nans = value_of_items(&a, &nan, 1);
        ASSERT(value_equal(&nans, &nans) && !value_equal(&nans, &other_nans));
        nans = value_of_members(&a, &(struct member) { STR("n"), nan }, 1, true);
        other_nans = value_of_members(&a, &(struct member) { STR("n"), nan }, 1, true);
        ASSERT(value_equal(&nans, &nans) && !value_equal(&nans, &other_nans));
}

TEST(equality_of_trees)
{
        _cleanup_arena_ struct arena a;
        struct value v, w, items;
        const struct value *x;

        arena_init(&a, "test", 0);
        v = make_object(&a, 30, 3);
        w = make_object(&a, 30, 17);
        ASSERT(value_equal(&v, &w) && value_equal_numeric(&v, &w));
        x = value_with(&a, &w, STR("k4"), &value_null);
        ASSERT(!value_equal(&v, x));
        x = value_with(&a, value_without(&a, &w, STR("k4")), STR("k99"), value_get(&w, STR("k4")));
        ASSERT(!value_equal(&v, x) && !value_equal(x, &v));
        ASSERT(!value_equal(&v, value_without(&a, &w, STR("k4"))));
        items = make_array(&a, 3);
        w = make_array(&a, 3);
        ASSERT(value_equal(&items, &w) && !value_equal(&items, value_with_item(&a, &w, 1, &value_null)));
        ASSERT(!value_equal(&items, value_with_appended(&a, &w, &value_null)));
}

/* Equal values hash alike whatever their order; the ways in which they can differ all show. */
TEST(hash)
{
        _cleanup_arena_ struct arena a;
        struct value v, w, numbers[2], variants[12];
        size_t n = 0;

        arena_init(&a, "test", 0);
        v = make_object(&a, 30, 3);
        w = make_object(&a, 30, 17);
        ASSERT(value_hash(&v) == value_hash(&w) && value_hash(&v) == value_hash(value_sorted(&a, &v)));
        numbers[0] = value_of_double(0.0);
        numbers[1] = value_of_double(-0.0);
        ASSERT(value_hash(&numbers[0]) == value_hash(&numbers[1]));

        variants[n++] = value_null;
        variants[n++] = value_true;
        variants[n++] = value_false;
        variants[n++] = value_of_int(0);
        variants[n++] = value_of_int(1);
        variants[n++] = value_of_double(1);
        variants[n++] = value_empty_string;
        variants[n++] = value_of_literal("1");
        variants[n++] = value_empty_array;
        variants[n++] = value_empty_object;
        variants[n++] = v;
        variants[n++] = *value_with(&a, &v, STR("k1"), &value_null);
        ASSERT_INT(n, ARRAY_SIZE(variants));
        for (size_t i = 0; i < n; i++)
                for (size_t k = 0; k < i; k++)
                        ASSERT(value_hash(&variants[i]) != value_hash(&variants[k]));
        v = make_array(&a, 2);
        w = *value_with_inserted(&a, value_without_item(&a, &v, 0), 1, value_item(&v, 0));
        ASSERT(value_hash(&v) != value_hash(&w));
}

/* Bytes, items, members and index all move: nothing of the source may be needed once its arena is gone. */
TEST(copies_are_independent)
{
        _cleanup_arena_ struct arena a, b;
        const struct value *copy, *again;
        struct value object, list, empty;
        struct str keys;

        arena_init(&a, "source", 0);
        arena_init(&b, "copy", 0);
        object = make_object(&a, 40, 11);
        object = *value_with(&a, &object, STR("text"), value_put(&a, value_of_str(arena_copy(&a, STR("some text")))));
        list = make_array(&a, 3);
        empty = *value_without_item(&a, value_with_appended(&a, &value_empty_array, &value_null), 0);
        object = *value_with(&a, &object, STR("list"), &list);
        object = *value_with(&a, &object, STR("empty"), &empty);
        object = *value_with(&a, &object, STR("none"), &value_empty_object);
        copy = value_copy(&b, &object);
        again = value_copy(&b, &object);
        ASSERT(value_equal(copy, &object));
        ASSERT_INT(value_size_bytes(copy), value_size_bytes(&object));
        keys = value_member(copy, 0)->key;
        ASSERT(keys.p != value_member(&object, 0)->key.p);
        arena_done(&a);
        ASSERT(value_equal(copy, again));
        ASSERT_STR(value_str(value_get(copy, STR("text"))), STR("some text"));
        ASSERT_INT(value_int(value_get(copy, STR("k39")), -1), 39);
        ASSERT_INT(value_count(value_get(copy, STR("empty"))), 0);
}

TEST(size)
{
        _cleanup_arena_ struct arena a;
        struct value v;

        arena_init(&a, "test", 0);
        ASSERT_INT(value_size_bytes(&value_null), 16);
        v = value_of_literal("abc");
        ASSERT_INT(value_size_bytes(&v), 19);
        v = make_array(&a, 3);
        ASSERT_INT(value_size_bytes(&v), 64);
        v = value_of_members(&a, &(struct member) { STR("key"), value_null }, 1, true);
        ASSERT_INT(value_size_bytes(&v), 16 + 16 + 3 + 16);
        v = make_object(&a, 13, 5); /* unsorted: 13 members need an index of 32 slots */
        ASSERT_INT(value_size_bytes(&v), 16 + 10 * 34 + 3 * 35 + 32 * 4);
}

TEST(builder_set_replaces_in_place)
{
        _cleanup_arena_ struct arena a;
        struct object_builder b;
        struct value v;

        arena_init(&a, "test", 0);
        object_builder_init(&b, &a, 0);
        for (size_t round = 0; round < 3; round++)
                for (size_t i = 0; i < 3000; i++)
                        object_builder_set(&b, key_of(&a, i), value_of_int((int64_t)(i + round)));
        object_builder_add(&b, STR("added"), value_true);
        object_builder_set(&b, STR("added"), value_false);
        v = object_builder_finish(&b);
        ASSERT_INT(value_count(&v), 3001);
        for (size_t i = 0; i < 3000; i++) {
                ASSERT_STR(value_member(&v, i)->key, key_of(&a, i));
                ASSERT_INT(value_int(value_get(&v, key_of(&a, i)), -1), i + 2);
        }
        ASSERT(!value_bool(value_get(&v, STR("added")), true));
}

TEST(empty_builders)
{
        _cleanup_arena_ struct arena a;
        struct object_builder o;
        struct array_builder l;
        struct value v;

        arena_init(&a, "test", 0);
        object_builder_init(&o, &a, 3);
        v = object_builder_finish(&o);
        ASSERT(value_is_object(&v) && value_count(&v) == 0);
        array_builder_init(&l, &a, 3);
        v = array_builder_finish(&l);
        ASSERT(value_is_array(&v) && value_count(&v) == 0);
        v = value_of_items(&a, NULL, 0);
        ASSERT(value_is_array(&v));
        v = value_of_members(&a, NULL, 0, true);
        ASSERT(value_is_object(&v));
}

/* Documents */

static struct document *make_document(void)
{
        struct document *d = document_new("document", 0);
        struct value v = make_object(&d->arena, 20, 0);

        d->root = value_put(&d->arena, v);
        return d;
}

static void *use_document(void *context)
{
        struct document *d = context; /* with a reference of its own */

        for (int i = 0; i < 200; i++) {
                _cleanup_arena_ struct arena a;
                const struct value *root;

                arena_init(&a, "thread", 0);
                root = document_borrow(d, &a);
                if (value_int(value_get(root, STR("k7")), -1) != 7)
                        return context;
                document_unref(document_ref(d));
        }
        document_unref(d);
        return NULL;
}

TEST(documents_are_counted_across_threads)
{
        struct document *d = make_document();
        pthread_t threads[4];

        for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
                ASSERT(pthread_create(&threads[i], NULL, use_document, document_ref(d)) == 0);
        document_unref(d); /* the last thread frees it */
        for (size_t i = 0; i < ARRAY_SIZE(threads); i++) {
                void *failed;

                ASSERT(pthread_join(threads[i], &failed) == 0);
                ASSERT(!failed);
        }
}

TEST(borrowed_documents_live_as_long_as_the_borrower)
{
        _cleanup_arena_ struct arena a;
        struct document *d = make_document();
        const struct value *root;

        arena_init(&a, "borrower", 0);
        root = document_borrow(d, &a);
        document_unref(d);
        document_unref(NULL);
        ASSERT_INT(value_int(value_get(root, STR("k19")), -1), 19);
}
