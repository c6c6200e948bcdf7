/* Records of runs: per object, newest first, bounded, equal changes kept once. */
#include "values.h"

#include "run-records.h"

#include <stdio.h>

static struct object_key key_of(const char *name)
{
        return (struct object_key) { .gvk = { STR("example.org"), STR("v1"), STR("App") },
                                     .ns = STR("default"),
                                     .name = str_from(name) };
}

static void add(struct run_records *r, const char *name, const char *run, const char *change)
{
        struct object_key key = key_of(name);
        const struct value *changes[2] = { NULL, change ? parse(change) : NULL };
        struct run_record record = { parse(run), changes, 2 };

        run_records_add(r, &key, &record);
}

static size_t get(struct run_records *r, const char *name, size_t most, const struct run_record **ret)
{
        struct object_key key = key_of(name);
        const struct run_record *ignored;

        return run_records_get(r, &key, most, &arena, ret ? ret : &ignored);
}

TEST(the_newest_come_first)
{
        struct run_records *r = run_records_new(0, 0);
        const struct run_record *found;

        begin();
        ASSERT_INT(get(r, "a", 10, NULL), 0);
        add(r, "a", "{\"n\":1}", "[{\"op\":\"add\"}]");
        add(r, "b", "{\"n\":2}", NULL);
        add(r, "a", "{\"n\":3}", "[]");
        ASSERT_INT(get(r, "a", 10, &found), 2);
        check_value("newest", found[0].run, "{\"n\":3}");
        check_value("its changes", found[0].changes[1], "[]");
        check_value("before", found[1].run, "{\"n\":1}");
        check_value("its changes", found[1].changes[1], "[{\"op\":\"add\"}]");
        ASSERT_INT(found[1].n_changes, 2);
        ASSERT(!found[1].changes[0]);
        ASSERT_INT(get(r, "a", 1, &found), 1);
        check_value("newest", found[0].run, "{\"n\":3}");
        ASSERT_INT(get(r, "b", 10, &found), 1);
        ASSERT(!found[0].changes[1]);
        run_records_free(r);
        run_records_free(NULL);
        end();
}

TEST(the_version_of_a_kind_does_not_count)
{
        struct run_records *r = run_records_new(0, 0);
        struct object_key other = key_of("a");
        const struct run_record *found;

        begin();
        add(r, "a", "{}", NULL);
        other.gvk.version = STR("v2");
        ASSERT_INT(run_records_get(r, &other, 5, &arena, &found), 1);
        other.gvk.group = STR("example.com");
        ASSERT_INT(run_records_get(r, &other, 5, &arena, &found), 0);
        run_records_free(r);
        end();
}

/* A record that was read stays valid when the ring drops it. */
TEST(one_object_keeps_only_its_last)
{
        struct run_records *r = run_records_new(0, 3);
        const struct run_record *found;
        char text[32];

        begin();
        add(r, "other", "{}", NULL);
        add(r, "a", "{\"n\":\"first\"}", NULL);
        ASSERT_INT(get(r, "a", 10, &found), 1);
        for (int i = 0; i < 100; i++) {
                snprintf(text, sizeof(text), "{\"n\":%d}", i);
                add(r, "a", text, NULL);
        }
        check_value("read before", found[0].run, "{\"n\":\"first\"}");
        ASSERT_INT(get(r, "a", 10, &found), 3);
        check_value("newest", found[0].run, "{\"n\":99}");
        check_value("oldest", found[2].run, "{\"n\":97}");
        ASSERT_INT(get(r, "other", 10, NULL), 1);
        ASSERT_INT(run_records_stats(r).n_records, 4);
        ASSERT_INT(run_records_stats(r).n_added, 102);
        run_records_free(r);
        end();
}

TEST(equal_changes_take_their_bytes_once)
{
        struct run_records *r = run_records_new(1 << 20, 100);
        char change[4096];
        size_t one, eleven;

        begin();
        memset(change, 'x', sizeof(change));
        change[0] = change[sizeof(change) - 2] = '"';
        change[sizeof(change) - 1] = '\0';
        add(r, "a", "{}", change);
        one = run_records_stats(r).size_bytes;
        ASSERT(one > sizeof(change));
        for (int i = 0; i < 10; i++)
                add(r, "a", "{}", change);
        eleven = run_records_stats(r).size_bytes;
        ASSERT(eleven < one + 10 * 400);
        change[1] = 'y';
        add(r, "a", "{}", change);
        ASSERT(run_records_stats(r).size_bytes > eleven + sizeof(change));
        run_records_free(r);
        end();
}

/* The oldest of all objects go first, and an object without records takes nothing. */
TEST(all_records_together_are_bounded)
{
        struct run_records *r = run_records_new(20000, 0);
        char name[16];

        begin();
        for (int i = 0; i < 2000; i++) {
                snprintf(name, sizeof(name), "a%d", i);
                add(r, name, "{\"cause\":\"a change\"}", "[1,2,3]");
                add(r, name, "{\"cause\":\"a change\"}", "[1,2,3]");
                ASSERT(run_records_stats(r).size_bytes <= 20000);
                ASSERT_INT(get(r, name, 10, NULL), 2);
        }
        ASSERT_INT(get(r, "a0", 10, NULL), 0);
        ASSERT(run_records_stats(r).n_keys < 100);
        ASSERT(run_records_stats(r).n_keys * 2 >= run_records_stats(r).n_records);
        run_records_free(r);
        end();
}

TEST(changes_that_are_too_large_say_so)
{
        struct run_records *r = run_records_new(8000, 0);
        const struct run_record *found;
        char change[2000];

        begin();
        memset(change, 'x', sizeof(change));
        change[0] = change[sizeof(change) - 2] = '"';
        change[sizeof(change) - 1] = '\0';
        add(r, "a", "{\"n\":1}", change);
        ASSERT_INT(get(r, "a", 1, &found), 1);
        check_value("the run", found[0].run, "{\"n\":1}");
        check_value("its changes", found[0].changes[1], "\"changes of more than 1000 bytes are not kept\"");
        run_records_free(r);
        end();
}

/* --- Threads --- */

struct adder {
        struct run_records *records;
        const char *name;
};

static void add_and_read(void *arg)
{
        struct adder *w = arg;
        struct object_key key = key_of(w->name);

        for (int i = 0; i < 300; i++) {
                struct arena a;
                const struct value *changes[1];
                const struct run_record *found;
                struct run_record record = { NULL, changes, 1 };
                struct value n = value_of_int(i);

                arena_init(&a, "adder", 0);
                changes[0] = value_put(&a, value_of_items(&a, &n, 1));
                record.run = value_with(&a, &value_empty_object, STR("n"), &n);
                run_records_add(w->records, &key, &record);
                for (size_t j = run_records_get(w->records, &key, 4, &a, &found); j > 0; j--)
                        ASSERT(value_int(value_get(found[j - 1].run, STR("n")), -1) >= 0);
                arena_done(&a);
        }
}

TEST(any_thread)
{
        struct run_records *r = run_records_new(4000, 4);
        struct adder adders[4] = { { r, "a" }, { r, "a" }, { r, "b" }, { r, "c" } };
        struct thread *threads[4];

        for (size_t i = 0; i < 4; i++)
                ASSERT(thread_start("adder", add_and_read, &adders[i], &threads[i], NULL) == 0);
        for (size_t i = 0; i < 4; i++)
                thread_join(threads[i]);
        ASSERT_INT(run_records_stats(r).n_added, 1200);
        ASSERT(run_records_stats(r).size_bytes <= 4000);
        run_records_free(r);
}
