/* Which function a name and a choice of revision mean (docs/spec/seeds 3, docs/spec/engine 4.2). */
#include "values.h"

#include "park.h"
#include "registry.h"

static int run_nothing(struct run *run, struct fn_request *req, struct fn_response *rsp, struct err *err)
{
        return 0;
}

static const struct builtin_function table[] = {
        { .name = "zero", .run = run_nothing },  { .name = "one", .run = run_nothing },
        { .name = "two", .run = run_nothing },   { .name = "three", .run = run_nothing },
        { .name = "other", .run = run_nothing },
};

static struct registry *registry;

static void set(const char *function, const char *name, int64_t number, const char *labels, bool is_active,
                const struct builtin_function *f)
{
        struct function_revision revision = {
                .name = str_from(name),
                .number = number,
                .labels = labels ? parse(labels) : NULL,
                .is_active = is_active,
                .function = f ? function_builtin(f) : NULL,
        };

        registry_set_revision(registry, str_from(function), &revision);
}

/* The name of the function that it is, or the error. */
static const char *find(const char *function, const char *revision, const char *labels)
{
        _cleanup_err_ struct err err = { 0 };
        struct function_choice choice = { str_from(revision), labels ? parse(labels) : NULL };
        struct function *f;
        const char *text;

        if (registry_find(registry, str_from(function), &choice, &f, &err) < 0) {
                ASSERT_INT(err.code, ERR_NOT_FOUND);
                return arena_cstring(&arena, str_from(err_message(&err)));
        }
        text = arena_cstring(&arena, f->name);
        function_unref(f);
        return text;
}

static void set_up(void)
{
        begin();
        registry = registry_new();
        registry_set_hint(registry, " (hint)");
}

static void tear_down(void)
{
        registry_free(registry);
        end();
}

TEST(a_name_alone_is_the_function_that_was_set)
{
        struct function *f;

        set_up();
        ASSERT_TEXT(find("f", "", NULL), "unknown function \"f\" (hint)");
        registry_set(registry, STR("f"), function_builtin(&table[0]));
        ASSERT_TEXT(find("f", "", NULL), "zero");
        registry_set(registry, STR("f"), function_builtin(&table[1]));
        ASSERT_TEXT(find("f", "", NULL), "one");
        ASSERT(registry_find(registry, STR("f"), NULL, &f, NULL) >= 0);
        function_unref(f);
        tear_down();
}

#define NONE_OF(f)                                                                                          \
        "cannot get gRPC client connection for Function \"" f "\": cannot find an active FunctionRevision " \
        "(a FunctionRevision with spec.desiredState: Active)"

TEST(revisions_are_chosen)
{
        static const struct {
                const char *function;
                const char *revision;
                const char *labels;
                const char *wanted;
        } cases[] = {
                { "f", "", NULL, "two" }, /* the highest-numbered active one */
                { "f", "f-1", NULL, "one" },
                { "f", "f-2", NULL, "two" },
                { "f", "f-3", NULL, NONE_OF("f") " named \"f-3\": it is inactive" },
                { "f", "f-9", NULL,
                  NONE_OF("f") " named \"f-9\": the Function has no such revision; it has \"f-2\", \"f-1\", \"f-3\"" },
                { "f", "g-1", NULL, NONE_OF("f") " named \"g-1\": it belongs to Function \"g\"" },
                { "f", "", "{\"channel\":\"stable\"}", "one" },
                { "f", "", "{\"channel\":\"alpha\"}", "two" },
                { "f", "", "{\"all\":\"yes\"}", "two" },
                { "f", "", "{\"all\":\"yes\",\"channel\":\"stable\"}", "one" },
                { "f", "", "{}", "two" },
                { "f", "f-1", "{\"channel\":\"alpha\"}", "one" }, /* the reference wins */
                { "f", "", "{\"channel\":\"beta\"}",
                  NONE_OF("f") " with labels channel=beta: of the Function's 3 revisions 1 has them, and it is "
                               "inactive" },
                { "f", "", "{\"channel\":\"x\",\"all\":\"yes\"}",
                  NONE_OF("f") " with labels channel=x,all=yes: none of the Function's 3 revisions has them" },
                { "g", "", NULL, NONE_OF("g") },
                { "g", "", "{\"a\":\"b\"}",
                  NONE_OF("g") " with labels a=b: of the Function's 2 revisions 2 have them, and all are inactive" },
                { "plain", "", NULL, "zero" },
                { "plain", "p-1", NULL, NONE_OF("plain") " named \"p-1\": the Function has no such revision" },
                { "plain", "", "{\"a\":\"b\"}",
                  NONE_OF("plain") " with labels a=b: none of the Function's 0 revisions has them" },
                { "new", "", NULL,
                  "cannot get gRPC client connection for Function \"new\": cannot determine gRPC target: active "
                  "FunctionRevision \"n-1\" has an empty status.endpoint" },
                { "missing", "f-1", NULL, "unknown function \"missing\" (hint)" },
        };

        set_up();
        set("f", "f-2", 2, "{\"channel\":\"alpha\",\"all\":\"yes\"}", true, &table[2]);
        set("f", "f-1", 1, "{\"channel\":\"stable\",\"all\":\"yes\"}", true, &table[1]);
        set("f", "f-3", 3, "{\"channel\":\"beta\",\"all\":\"yes\"}", false, &table[3]);
        set("g", "g-1", 1, "{\"a\":\"b\"}", false, &table[4]);
        set("g", "g-2", 2, "{\"a\":\"b\"}", false, NULL);
        set("new", "n-1", 1, NULL, true, NULL);
        registry_set(registry, STR("plain"), function_builtin(&table[0]));
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
                ASSERT_STR_CASE(cases[i].function,
                                str_from(find(cases[i].function, cases[i].revision, cases[i].labels)),
                                str_from(cases[i].wanted));
        tear_down();
}

TEST(a_revision_without_an_endpoint_does_not_end_what_serves)
{
        set_up();
        set("f", "f-1", 1, NULL, true, &table[1]);
        set("f", "f-2", 2, NULL, true, NULL);
        ASSERT_TEXT(find("f", "", NULL), "one");
        set("f", "f-2", 2, NULL, true, &table[2]); /* the same one again, with an endpoint */
        ASSERT_TEXT(find("f", "", NULL), "two");
        set("f", "f-3", 2, NULL, true, &table[3]); /* equal numbers: by name */
        ASSERT_TEXT(find("f", "", NULL), "three");
        tear_down();
}

TEST(revisions_come_and_go)
{
        set_up();
        set("f", "f-1", 1, NULL, true, &table[1]);
        set("f", "f-2", 2, NULL, true, &table[2]);
        ASSERT(!registry_remove_revision(registry, STR("f"), STR("f-3")));
        ASSERT(!registry_remove_revision(registry, STR("g"), STR("f-1")));
        ASSERT(registry_remove_revision(registry, STR("f"), STR("f-2")));
        ASSERT_TEXT(find("f", "", NULL), "one");
        ASSERT(registry_remove_revision(registry, STR("f"), STR("f-1")));
        ASSERT_TEXT(find("f", "", NULL), "unknown function \"f\" (hint)");
        registry_set(registry, STR("f"), function_builtin(&table[0]));
        set("f", "f-1", 1, NULL, false, &table[1]);
        ASSERT_TEXT(find("f", "", NULL), NONE_OF("f")); /* what has revisions is what they say */
        ASSERT(registry_remove_revision(registry, STR("f"), STR("f-1")));
        ASSERT_TEXT(find("f", "", NULL), "zero");
        tear_down();
}

/* --- Threads --- */

static void use(void *arg)
{
        size_t own = (size_t)arg;
        char name[] = { 'f', '-', (char)('0' + own), '\0' };

        for (int64_t i = 0; i < 200; i++) {
                struct function_revision revision = {
                        .name = str_from(name),
                        .number = i,
                        .is_active = true,
                        .function = function_builtin(&table[own]),
                };
                struct function_choice choice = { .revision = str_from(name) };
                struct function *f;

                registry_set_revision(registry, STR("f"), &revision);
                ASSERT(registry_find(registry, STR("f"), &choice, &f, NULL) >= 0);
                ASSERT_STR(f->name, str_from(table[own].name));
                function_unref(f);
                ASSERT(registry_find(registry, STR("f"), NULL, &f, NULL) >= 0);
                if (i % 3 == 0)
                        ASSERT(registry_remove_revision(registry, STR("f"), str_from(name)));
                function_unref(f); /* it outlives its revision */
        }
}

TEST(threads_share_it)
{
        struct thread *threads[4];

        set_up();
        for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
                ASSERT(thread_start("user", use, (void *)i, &threads[i], NULL) >= 0);
        for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
                thread_join(threads[i]);
        tear_down();
}
