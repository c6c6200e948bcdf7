/* Questions while roles and bindings change, on real threads and in simulation: a write works for the writer's next question, and
 * a permission that nobody changes holds throughout, also while watches expire and are opened again.
 * WEFT_OPERATIONS says how many rounds each thread makes; WEFT_SCHEDULES how many schedules a simulation tries; WEFT_SEED where they
 * begin. */
#include "access-test.h"

#include "memory-log.h"
#include "sim.h"

#define MAX_THREADS 8

struct scene {
        struct store *store;
        struct cluster *cluster;
        struct access *access;
        size_t rounds;
};

struct actor {
        struct scene *scene;
        size_t number;
        size_t n_failures;
        char *failure; /* the first; heap */
};

static struct run run_of(struct arena *a, struct user user)
{
        return (struct run) { .arena = a, .deadline = DEADLINE_NONE, .user = user };
}

static void note(struct actor *t, const char *what, const char *more)
{
        if (t->n_failures++ == 0)
                t->failure = str_to_cstring(str_from(what));
        if (sim_is_running())
                sim_fail("%s: %s", what, more);
}

static const struct value *object(struct arena *a, const char *format, ...) _printf_(2, 3);
static const struct value *object(struct arena *a, const char *format, ...)
{
        const struct value *v = NULL;
        va_list arguments;
        struct str text;

        va_start(arguments, format);
        text = arena_vprintf(a, format, arguments);
        va_end(arguments);
        for (size_t i = 0; i < text.n; i++)
                if (text.p[i] == '\'')
                        ((char *)text.p)[i] = '"';
        if (json_parse(a, text, NULL, &v, NULL) < 0)
                abort();
        return v;
}

static void write_as_admin(struct actor *t, enum write_verb verb, struct arena *a, const struct value *body)
{
        struct run run = run_of(a, test_master());
        struct write_request req = { .verb = verb, .key = object_key_of(body), .body = body };
        struct write_result result = { 0 };
        _cleanup_err_ struct err err = { 0 };

        if (verb == WRITE_DELETE)
                req.body = NULL;
        if (cluster_write(t->scene->cluster, &run, &req, &result, &err) < 0)
                note(t, "a write failed", err_message(&err));
}

/* Asks whether user uN may get pods in namespace default. */
static void expect(struct actor *t, struct arena *a, size_t user, bool is_allowed)
{
        struct access_request q = { .verb = STR("get"), .plural = STR("pods"), .ns = STR("default") };
        struct run run = run_of(a, (struct user) { .name = arena_printf(a, "u%zu", user) });
        _cleanup_err_ struct err err = { 0 };
        bool answer = false;

        if (access_may(t->scene->access, &run, &q, &answer, NULL, &err) < 0)
                note(t, "a question failed", err_message(&err));
        else if (answer != is_allowed)
                note(t, is_allowed ? "a permission does not work" : "a permission works when it is gone", "");
}

#define BINDING(kind, more)                                                                                        \
        "{'apiVersion':'rbac.authorization.k8s.io/v1','kind':'" kind "','metadata':{'name':'b%zu'" more            \
        "},'roleRef':{'apiGroup':'rbac.authorization.k8s.io','kind':'ClusterRole','name':'reader'},'subjects':[{'" \
        "kind':"                                                                                                   \
        "'User','name':'u%zu'}]}"

/* Gives a user of its own a permission and takes it away, in turns by a binding everywhere and in one namespace. */
static void give_and_take(void *arg)
{
        struct actor *t = arg;

        for (size_t i = 0; i < t->scene->rounds; i++) {
                _cleanup_arena_ struct arena a;
                const struct value *b;

                arena_init(&a, "actor", 0);
                b = object(&a,
                           i % 2 ? BINDING("RoleBinding", ",'namespace':'default'") : BINDING("ClusterRoleBinding", ""),
                           t->number, t->number);
                write_as_admin(t, WRITE_CREATE, &a, b);
                expect(t, &a, t->number, true);
                expect(t, &a, 0, true);
                write_as_admin(t, WRITE_DELETE, &a, b);
                expect(t, &a, t->number, false);
        }
}

/* Writes roles that nobody has, so that the watches of roles fall behind. */
static void make_noise(void *arg)
{
        struct actor *t = arg;

        for (size_t i = 0; i < t->scene->rounds; i++) {
                _cleanup_arena_ struct arena a;

                arena_init(&a, "actor", 0);
                for (size_t j = 0; j < 4; j++)
                        write_as_admin(t, WRITE_CREATE, &a,
                                       object(&a,
                                              "{'apiVersion':'rbac.authorization.k8s.io/v1','kind':'ClusterRole',"
                                              "'metadata':{'name':'r%zu-%zu'},'rules':[]}",
                                              i, j));
                expect(t, &a, 0, true);
        }
}

static void scene_init(struct scene *s, const struct store_options *options, size_t rounds)
{
        struct actor setup = { .scene = s };
        struct admission_hook hook;
        _cleanup_arena_ struct arena a;

        *s = (struct scene) { .rounds = rounds };
        arena_init(&a, "scene", 0);
        if (store_new(options, &s->store, NULL) < 0)
                abort();
        s->cluster = store_cluster(s->store);
        write_as_admin(&setup, WRITE_CREATE, &a,
                       object(&a,
                              "{'apiVersion':'rbac.authorization.k8s.io/v1','kind':'ClusterRole','metadata':{'name':"
                              "'reader'},'rules':[{'verbs':['get'],'apiGroups':[''],'resources':['pods']},"
                              "{'verbs':['patch'],'apiGroups':[''],'resources':['configmaps']}]}"));
        write_as_admin(&setup, WRITE_CREATE, &a, object(&a, BINDING("ClusterRoleBinding", ""), (size_t)0, (size_t)0));
        if (access_new(s->cluster, &s->access, NULL) < 0)
                abort();
        hook = access_hook(s->access);
        store_add_hook(s->store, &hook);
}

/* The first thread runs one function, the others the other. */
static void scene_play(struct scene *s, size_t n_threads, void (*first)(void *arg), void (*others)(void *arg))
{
        struct actor actors[MAX_THREADS] = { 0 };
        struct thread *threads[MAX_THREADS];

        assert(n_threads <= MAX_THREADS);
        for (size_t i = 0; i < n_threads; i++) {
                actors[i] = (struct actor) { .scene = s, .number = i };
                if (thread_start("actor", i == 0 ? first : others, &actors[i], &threads[i], NULL) < 0)
                        abort();
        }
        for (size_t i = 0; i < n_threads; i++)
                thread_join(threads[i]);
        access_free(s->access);
        store_free(s->store);
        for (size_t i = 0; i < n_threads; i++) {
                if (actors[i].n_failures)
                        test_fail(__FILE__, __LINE__, "actor %zu: %s (%zu failures)", i, actors[i].failure,
                                  actors[i].n_failures);
        }
}

/* --- An apply beside deletes --- */

static const char *const config_map =
        "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'x','namespace':'default'},"
        "'data':{'round':'%zu'}}";

/* A user who may patch and not create applies what another thread creates and deletes: the apply never creates. */
static void apply_as_user(void *arg)
{
        struct actor *t = arg;
        struct cluster *checked;

        if (access_cluster_new(t->scene->cluster, t->scene->access, &checked, NULL) < 0)
                abort();
        for (size_t i = 0; i < t->scene->rounds * 2; i++) {
                _cleanup_arena_ struct arena a;
                _cleanup_err_ struct err err = { 0 };
                struct run run;
                struct write_request req = { .verb = WRITE_APPLY, .manager = STR("m"), .force = true };
                struct write_result result = { 0 };
                int r;

                arena_init(&a, "actor", 0);
                run = run_of(&a, (struct user) { .name = STR("u0") });
                req.body = object(&a, config_map, i);
                req.key = object_key_of(req.body);
                r = cluster_write(checked, &run, &req, &result, &err);
                if (r == 0 && result.is_created)
                        note(t, "an apply created without the permission", "");
                if (r < 0 && r != ERR_FORBIDDEN && r != ERR_CONFLICT)
                        note(t, "an apply failed", err_message(&err));
        }
        cluster_free(checked);
}

static void create_and_delete(void *arg)
{
        struct actor *t = arg;

        for (size_t i = 0; i < t->scene->rounds; i++) {
                _cleanup_arena_ struct arena a;

                arena_init(&a, "actor", 0);
                write_as_admin(t, WRITE_CREATE, &a, object(&a, config_map, i));
                write_as_admin(t, WRITE_DELETE, &a, object(&a, config_map, i));
        }
}

static uint64_t number_from(const char *name, uint64_t otherwise)
{
        const char *text = getenv(name);

        return text && *text ? strtoull(text, NULL, 10) : otherwise;
}

static void play(struct store_options options)
{
        struct scene s;

        scene_init(&s, &options, number_from("WEFT_OPERATIONS", 200));
        scene_play(&s, MAX_THREADS, make_noise, give_and_take);
}

TEST(questions_beside_changes)
{
        play((struct store_options) { .accepts_any_kind = true });
}

TEST(questions_beside_changes_with_little_history)
{
        play((struct store_options) { .accepts_any_kind = true, .history_events = 4, .cache_bytes = 4096 });
}

static void schedule(void *arg)
{
        struct scene s;

        scene_init(&s, arg, 3);
        scene_play(&s, 4, make_noise, give_and_take);
}

static void explore(struct store_options options, void (*play_one)(void *arg))
{
        _cleanup_err_ struct err err = { 0 };
        struct sim_report report;
        uint64_t n = number_from("WEFT_SCHEDULES", 100);

        if (sim_explore(number_from("WEFT_SEED", 1), n, NULL, play_one, &options, &report, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
        printf("# %llu schedules, the last one of %llu steps\n", (unsigned long long)n,
               (unsigned long long)report.steps);
}

TEST(schedules)
{
        explore((struct store_options) { .accepts_any_kind = true }, schedule);
}

TEST(schedules_with_little_history)
{
        explore((struct store_options) { .accepts_any_kind = true, .history_events = 2, .cache_bytes = 1 }, schedule);
}

TEST(an_apply_beside_deletes_never_creates)
{
        struct store_options options = { .accepts_any_kind = true };
        struct scene s;

        scene_init(&s, &options, number_from("WEFT_OPERATIONS", 200));
        scene_play(&s, 4, create_and_delete, apply_as_user);
}

static void schedule_applies(void *arg)
{
        struct scene s;

        scene_init(&s, arg, 3);
        scene_play(&s, 3, create_and_delete, apply_as_user);
}

TEST(schedules_of_applies)
{
        explore((struct store_options) { .accepts_any_kind = true }, schedule_applies);
}

/* The default roles of a first start share the log's transactions, which cost a sync each. */
TEST(default_roles_are_logged_together)
{
        static struct memory_log log;
        struct store_options options = { .log = &log.log };
        _cleanup_arena_ struct arena a;
        struct run run = run_of(&a, test_master());
        _cleanup_err_ struct err err = { 0 };
        struct store *store;
        size_t before;

        arena_init(&a, "test", 0);
        memory_log_init(&log);
        log.least_ns = 20 * NS_PER_MS;
        ASSERT(store_new(&options, &store, &err) == 0);
        before = log.n_appends;
        if (access_bootstrap(store_cluster(store), &run, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
        ASSERT(log.records.n > 130);
        ASSERT((log.n_appends - before) * 4 < log.records.n);
        store_free(store);
        memory_log_done(&log);
}
