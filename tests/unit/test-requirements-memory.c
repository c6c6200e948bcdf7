/* The memory of what steps asked for, between runs: bounded, by composite and step, and by revision. */
#include "values.h"

#include "park.h"
#include "requirements-memory.h"

static const struct fn_label label = { STR_INIT("l"), STR_INIT("1") };
static const struct fn_selector selectors[] = {
        { .name = STR_INIT("a"), .api_version = STR_INIT("v1"), .kind = STR_INIT("A"), .match_name = STR_INIT("n") },
        { .name = STR_INIT("b"),
          .api_version = STR_INIT("v1"),
          .kind = STR_INIT("B"),
          .ns = STR_INIT("ns"),
          .has_labels = true,
          .labels = &label,
          .n_labels = 1 },
        { .name = STR_INIT("c"), .api_version = STR_INIT("v1"), .kind = STR_INIT("C"), .ns = STR_INIT("") },
};

static struct remembered_step step_of(const char *uid, const char *step, const char *revision)
{
        return (struct remembered_step) { str_from(uid), str_from(step), STR("f"), str_from(revision) };
}

static struct fn_requirements asked(size_t from, size_t n)
{
        return (struct fn_requirements) { .is_present = true, .resources = &selectors[from], .n_resources = n };
}

static void set(struct requirements_memory *m, const char *uid, const char *step, const struct fn_requirements *r)
{
        struct remembered_step s = step_of(uid, step, "f-1");

        requirements_memory_set(m, &s, r);
}

static size_t get(struct requirements_memory *m, const char *uid, const char *step, const char *revision,
                  const struct fn_selector **ret)
{
        struct remembered_step s = step_of(uid, step, revision);
        const struct fn_selector *ignored;

        return requirements_memory_get(m, &arena, &s, ret ? ret : &ignored);
}

TEST(what_was_asked_for_is_there_whole)
{
        struct requirements_memory *m = requirements_memory_new(0, 0);
        struct fn_requirements all = asked(0, 3);
        const struct fn_selector *found;

        begin();
        ASSERT_INT(get(m, "u", "s", "f-1", NULL), 0);
        set(m, "u", "s", &all);
        ASSERT_INT(get(m, "u", "s", "f-1", &found), 3);
        for (size_t i = 0; i < 3; i++)
                ASSERT(fn_selector_equal(&found[i], &selectors[i]));
        ASSERT_INT(get(m, "u", "t", "f-1", NULL), 0);
        ASSERT_INT(get(m, "v", "s", "f-1", NULL), 0);
        ASSERT_INT(get(m, "u", "s", "f-2", NULL), 0);
        requirements_memory_free(m);
        end();
}

TEST(both_fields_are_one)
{
        struct requirements_memory *m = requirements_memory_new(0, 0);
        struct fn_selector old[2] = { selectors[0], selectors[1] };
        struct fn_requirements both = asked(1, 2);
        const struct fn_selector *found;

        begin();
        old[1].kind = STR("Old");
        both.extra_resources = old;
        both.n_extra_resources = 2;
        both.schemas = selectors;
        both.n_schemas = 1;
        set(m, "u", "s", &both);
        ASSERT_INT(get(m, "u", "s", "f-1", &found), 3);
        for (size_t i = 0; i < 3; i++)
                ASSERT(fn_selector_equal(&found[i], &selectors[i]));
        requirements_memory_free(m);
        end();
}

TEST(steps_are_replaced_and_forgotten)
{
        struct requirements_memory *m = requirements_memory_new(0, 0);
        struct fn_requirements one = asked(0, 1), two = asked(1, 2), none = { .is_present = true };
        struct remembered_step other = step_of("u", "s", "f-2");
        size_t size_bytes;

        begin();
        set(m, "u", "s", &one);
        set(m, "u", "t", &one);
        size_bytes = requirements_memory_size(m).size_bytes;
        ASSERT(size_bytes > 0 && size_bytes < 1000);
        requirements_memory_set(m, &other, &two); /* the step's function has a new revision */
        ASSERT_INT(get(m, "u", "s", "f-1", NULL), 0);
        ASSERT_INT(get(m, "u", "s", "f-2", NULL), 2);
        set(m, "u", "s", &one);
        ASSERT_INT(requirements_memory_size(m).size_bytes, size_bytes);
        set(m, "u", "s", &none);
        ASSERT_INT(get(m, "u", "s", "f-1", NULL), 0);
        ASSERT_INT(get(m, "u", "t", "f-1", NULL), 1);
        set(m, "u", "t", &none);
        ASSERT_INT(requirements_memory_size(m).n_composites, 0);
        ASSERT_INT(requirements_memory_size(m).size_bytes, 0);
        set(m, "u", "t", &none);
        set(m, "u", "s", &one);
        requirements_memory_forget(m, STR("u"));
        requirements_memory_forget(m, STR("v"));
        ASSERT_INT(get(m, "u", "s", "f-1", NULL), 0);
        ASSERT_INT(requirements_memory_size(m).size_bytes, 0);
        requirements_memory_free(m);
        requirements_memory_free(NULL);
        end();
}

TEST(composites_that_ran_least_recently_are_forgotten_first)
{
        struct requirements_memory *m = requirements_memory_new(0, 2);
        struct fn_requirements one = asked(0, 1);
        char uid[16];

        begin();
        set(m, "u1", "s", &one);
        set(m, "u2", "s", &one);
        ASSERT_INT(get(m, "u1", "s", "f-1", NULL), 1);
        set(m, "u3", "s", &one);
        ASSERT_INT(get(m, "u2", "s", "f-1", NULL), 0);
        ASSERT_INT(get(m, "u1", "s", "f-1", NULL), 1);
        requirements_memory_free(m);
        m = requirements_memory_new(2000, 0);
        for (int i = 0; i < 1000; i++) {
                snprintf(uid, sizeof(uid), "u%d", i);
                set(m, uid, "s", &one);
                ASSERT(requirements_memory_size(m).size_bytes <= 2000);
        }
        ASSERT_INT(get(m, "u999", "s", "f-1", NULL), 1);
        requirements_memory_free(m);
        end();
}

static struct requirements_memory *shared;

static void use(void *arg)
{
        struct fn_requirements one = asked(0, 1), two = asked(1, 2);
        struct arena a;

        arena_init(&a, "thread", 0);
        for (int i = 0; i < 500; i++) {
                char uid[] = { 'u', (char)('0' + (i * 7 + (int)(size_t)arg) % 5), '\0' };
                struct remembered_step s = step_of(uid, i % 2 ? "s" : "t", "f-1");
                const struct fn_selector *found;
                size_t n = requirements_memory_get(shared, &a, &s, &found);

                ASSERT(n <= 2);
                requirements_memory_set(shared, &s, i % 3 ? &one : &two);
                if (i % 11 == 0)
                        requirements_memory_forget(shared, s.uid);
                arena_reset(&a);
        }
        arena_done(&a);
}

TEST(threads_share_it)
{
        struct thread *threads[4];

        shared = requirements_memory_new(0, 3);
        for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
                ASSERT(thread_start("user", use, (void *)i, &threads[i], NULL) >= 0);
        for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
                thread_join(threads[i]);
        ASSERT(requirements_memory_size(shared).n_composites <= 3);
        requirements_memory_free(shared);
}
