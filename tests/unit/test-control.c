/* The pool, the hub and the tracker together: a small controller that sums up ConfigMaps, on a store. */
#include "weather.h"

#include "breaker.h"
#include "random.h"
#include "sim.h"
#include "slots.h"
#include "tracker.h"

#define SECOND 1000000000ll

/* For each Widget NAME it reads ConfigMap NAME-in and all ConfigMaps with the label pick=NAME, and applies NAME-out with the sum. */
struct summer {
        struct fixture f;
        struct weather weather; /* between the store and the hub */
        struct control *control;
        struct hub *hub;
        struct tracker *tracker;
        struct controller *controller;
        struct hub_subscription *source;
        _Atomic unsigned n_runs;
        unsigned n_counted; /* of them, by ASSERT_RUNS */
        _Atomic bool fails; /* the next runs fail after they have read */
        /* Called by the next run after it has read, once, with the cluster that notes its reads. */
        void (*meddle)(struct summer *s, struct cluster *c, struct run *run);
};

static int64_t amount(const struct value *config_map)
{
        struct str s = value_str(value_find(config_map, "data", "amount"));

        int64_t n = 0;

        for (size_t i = 0; i < s.n; i++)
                n = 10 * n + s.p[i] - '0';
        return n;
}

static int sum_inputs(struct cluster *c, struct run *run, struct str name, int64_t *ret, struct err *err)
{
        struct object_key key = { config_map_gvk(), STR("default"),
                                  arena_printf(run->arena, "%.*s-in", STR_ARG(name)) };
        struct label_selector labels;
        struct list_request req = { .gvk = config_map_gvk(), .ns = STR("default"), .labels = &labels };
        const struct value *v = NULL;
        struct object_list list;
        int r = cluster_get_value(c, run, &key, &v, err);

        if (r < 0 && r != ERR_NOT_FOUND)
                return r;
        *ret = amount(v);
        r = label_selector_parse(run->arena, arena_printf(run->arena, "pick=%.*s", STR_ARG(name)), &labels, err);
        if (r == 0)
                r = cluster_list(c, run, &req, &list, err);
        for (size_t i = 0; r == 0 && i < list.n; i++)
                *ret += amount(object_list_value(&list, i, run->arena));
        return r;
}

static int apply_text(struct cluster *c, struct run *run, struct str manager, struct str text, struct err *err)
{
        const struct value *body;
        struct write_result result;
        struct write_request req = { .verb = WRITE_APPLY, .manager = manager, .force = true };
        int r = json_parse(run->arena, text, NULL, &body, err);

        if (r < 0)
                return r;
        req.key = object_key_of(body);
        req.body = body;
        return cluster_write(c, run, &req, &result, err);
}

static int apply_sum(struct cluster *c, struct run *run, struct str name, int64_t sum, struct err *err)
{
        struct str text =
                arena_printf(run->arena,
                             "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"namespace\":\"default\","
                             "\"name\":\"%.*s-out\"},\"data\":{\"amount\":\"%lld\"}}",
                             STR_ARG(name), (long long)sum);

        return apply_text(c, run, STR("summer"), text, err);
}

static int sum_up(struct summer *s, struct cluster *c, struct run *run, struct str name, struct err *err)
{
        struct object_key key = { widget_gvk(), STR("default"), name };
        const struct value *widget_value;
        int64_t sum;
        int r = cluster_get_value(c, run, &key, &widget_value, err);

        if (r == 0)
                r = sum_inputs(c, run, name, &sum, err);
        if (r == 0 && s->meddle)
                TAKE(s->meddle)(s, c, run);
        if (r == 0 && s->fails)
                return err_set(err, ERR_FAILED, "told to fail");
        return r < 0 ? r : apply_sum(c, run, name, sum, err);
}

static int reconcile(void *context, struct run *run, struct str key, struct control_answer *ret _unused_,
                     struct err *err)
{
        struct summer *s = context;
        struct tracked_run *tracked = tracker_begin(s->tracker, s->controller, key, true);
        int r = sum_up(s, tracked_run_cluster(tracked), run, key, err);

        s->n_runs++;
        tracked_run_end(tracked, r == 0);
        if (r == ERR_NOT_FOUND) {
                tracker_forget(s->tracker, s->controller, key);
                return 0;
        }
        return r;
}

static void on_widget(void *arg, const struct hub_event *e)
{
        struct summer *s = arg;

        tracker_notice(s->tracker, s->controller, e->key.name, e);
}

static void summer_start(struct summer *s)
{
        struct control_options options = { .max_workers = 4, .user = { .name = STR("controller") } };
        struct controller_options controller = { .name = STR("summer"), .reconcile = reconcile, .context = s };
        struct hub_subscriber subscriber = { .on_event = on_widget, .arg = s };

        MUST(&s->f, control_new(&options, &s->control, &s->f.err));
        weather_init(&s->weather, s->f.store, 1, 0);
        MUST(&s->f, hub_new(&s->weather.cluster, &options.user, &s->hub, &s->f.err));
        MUST(&s->f, tracker_new(s->f.cluster, s->hub, NULL, &s->tracker, &s->f.err));
        MUST(&s->f, controller_start(s->control, &controller, &s->controller, &s->f.err));
        MUST(&s->f, hub_subscribe(s->hub, widget_gvk(), true, &subscriber, &s->source, &s->f.err));
}

static void summer_stop(struct summer *s)
{
        hub_unsubscribe(s->source);
        tracker_mute(s->tracker, s->controller);
        controller_stop(s->controller);
        tracker_forget_controller(s->tracker, s->controller);
        tracker_free(s->tracker);
        control_free(s->control);
        hub_free(s->hub);
        arena_done(&s->weather.arena);
}

static const char crd[] = "{'apiVersion':'apiextensions.k8s.io/"
                          "v1','kind':'CustomResourceDefinition','metadata':{'name':'widgets.example.org'},"
                          "'spec':{'group':'example.org','scope':'Namespaced','names':{'kind':'Widget','plural':'"
                          "widgets'},'versions':[{'name':"
                          "'v1','served':true,'storage':true,'schema':{'openAPIV3Schema':{'type':'object',"
                          "'x-kubernetes-preserve-unknown-fields':true}}}]}}";

static void summer_init(struct summer *s)
{
        struct store_options options = { 0 };

        *s = (struct summer) { 0 };
        fixture_init_with(&s->f, &options);
        MUST(&s->f, create(&s->f, JSON(&s->f, "%s", crd)));
        settle(&s->f);
        summer_start(s);
}

static void summer_done(struct summer *s)
{
        summer_stop(s);
        fixture_done(&s->f);
}

/* Until nothing happens any more. */
static void quiet(struct summer *s)
{
        for (unsigned before = s->n_runs + 1; before != s->n_runs;) {
                before = s->n_runs;
                hub_settle(s->hub);
                MUST(&s->f, control_settle(s->control, DEADLINE_NONE, NULL));
                hub_settle(s->hub);
                MUST(&s->f, control_settle(s->control, DEADLINE_NONE, NULL));
        }
}

static void put_amount(struct summer *s, const char *name, const char *labels, int amount_value)
{
        struct object_key key = key_of(config_map_gvk(), "default", name);

        if (get(&s->f, key))
                MUST(&s->f,
                     merge(&s->f, key,
                           JSON(&s->f, "{'data':{'amount':'%d'},'metadata':{'labels':{%s}}}", amount_value, labels),
                           NULL));
        else
                MUST(&s->f,
                     create(&s->f,
                            JSON(&s->f,
                                 "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'namespace':'default','name':'%s',"
                                 "'labels':{%s}},'data':{'amount':'%d'}}",
                                 name, labels, amount_value)));
}

static int64_t out(struct summer *s, const char *name)
{
        const struct value *v = get(&s->f, key_of(config_map_gvk(), "default", name));

        return v ? amount(v) : -1;
}

#define ASSERT_RUNS(s, n)                                    \
        do {                                                 \
                quiet(s);                                    \
                ASSERT_INT((s)->n_runs - (s)->n_counted, n); \
                (s)->n_counted = (s)->n_runs;                \
        } while (0)

TEST(a_change_runs_exactly_who_read_it)
{
        struct summer s;

        summer_init(&s);
        MUST(&s.f, create(&s.f, widget(&s.f, "default", "a", "")));
        MUST(&s.f, create(&s.f, widget(&s.f, "default", "b", "")));
        ASSERT_RUNS(&s, 2);
        ASSERT_INT(out(&s, "a-out"), 0);
        put_amount(&s, "a-in", "", 5); /* was not found before */
        ASSERT_RUNS(&s, 1);
        ASSERT_INT(out(&s, "a-out"), 5);
        put_amount(&s, "other", "", 5); /* nobody read it */
        ASSERT_RUNS(&s, 0);
        put_amount(&s, "x", "'pick':'b'", 7); /* enters a selection */
        ASSERT_RUNS(&s, 1);
        ASSERT_INT(out(&s, "b-out"), 7);
        put_amount(&s, "x", "'pick':'a'", 7); /* leaves one and enters another */
        ASSERT_RUNS(&s, 2);
        ASSERT_INT(out(&s, "b-out"), 0);
        ASSERT_INT(out(&s, "a-out"), 12);
        MUST(&s.f,
             merge(&s.f, key_of(config_map_gvk(), "default", "a-out"), JSON(&s.f, "{'data':{'amount':'99'}}"), NULL));
        ASSERT_RUNS(&s, 1); /* what it wrote was changed by hand */
        ASSERT_INT(out(&s, "a-out"), 12);
        MUST(&s.f, delete_with(&s.f, key_of(config_map_gvk(), "default", "a-in"), PROPAGATE_UNSET));
        ASSERT_RUNS(&s, 1);
        ASSERT_INT(out(&s, "a-out"), 7);
        summer_done(&s);
}

/* --- What others change in the middle of a run --- */

static void change_beside(struct summer *s, struct run *run, const char *name, const char *rest)
{
        struct str text = arena_printf(run->arena,
                                       "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"namespace\":"
                                       "\"default\",\"name\":\"%s\"%s}",
                                       name, rest);
        _cleanup_err_ struct err err = { 0 };

        if (apply_text(s->f.cluster, run, STR("somebody"), text, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
}

static void read_config_map(struct cluster *c, struct run *run, const char *name)
{
        struct object_key key = key_of(config_map_gvk(), "default", name);
        const struct value *v;

        ASSERT_INT(cluster_get_value(c, run, &key, &v, NULL), 0);
}

static void change_what_was_read(struct summer *s, struct cluster *c, struct run *run)
{
        change_beside(s, run, "a-in", "},\"data\":{\"amount\":\"9\"}");
        read_config_map(c, run, "a-in");
}

static void add_to_the_selection(struct summer *s, struct cluster *c, struct run *run)
{
        int64_t sum;

        change_beside(s, run, "x", ",\"labels\":{\"pick\":\"a\"}},\"data\":{\"amount\":\"3\"}");
        ASSERT_INT(sum_inputs(c, run, STR("a"), &sum, NULL), 0);
}

static void change_what_is_written_next(struct summer *s, struct cluster *c, struct run *run)
{
        read_config_map(c, run, "a-out");
        change_beside(s, run, "a-out", "},\"data\":{\"note\":\"changed\"}");
}

/* The sum was made of what the run read first. */
TEST(a_change_between_two_reads_of_a_run_runs_it_again)
{
        struct summer s;

        summer_init(&s);
        s.meddle = change_what_was_read;
        MUST(&s.f, create(&s.f, widget(&s.f, "default", "a", ""))); /* the first read finds nothing */
        ASSERT_RUNS(&s, 2);
        ASSERT_INT(out(&s, "a-out"), 9);
        s.meddle = change_what_was_read;
        put_amount(&s, "a-in", "", 8);
        ASSERT_RUNS(&s, 2);
        ASSERT_INT(out(&s, "a-out"), 9);
        s.meddle = add_to_the_selection;
        put_amount(&s, "a-in", "", 10);
        ASSERT_RUNS(&s, 2);
        ASSERT_INT(out(&s, "a-out"), 13);
        summer_done(&s);
}

/* An apply names no version: it may write over a change that the run has not seen. */
TEST(a_change_between_a_read_and_an_apply_runs_it_again)
{
        struct summer s;

        summer_init(&s);
        MUST(&s.f, create(&s.f, widget(&s.f, "default", "a", "")));
        ASSERT_RUNS(&s, 1);
        s.meddle = change_what_is_written_next;
        put_amount(&s, "a-in", "", 5);
        ASSERT_RUNS(&s, 2);
        ASSERT_INT(out(&s, "a-out"), 5);
        summer_done(&s);
}

TEST(a_deletion_that_no_watch_told_is_found)
{
        struct summer s;

        summer_init(&s);
        put_amount(&s, "a-in", "", 5);
        MUST(&s.f, create(&s.f, widget(&s.f, "default", "a", "")));
        ASSERT_RUNS(&s, 1);
        put_amount(&s, "a-in", "", 6);
        ASSERT_RUNS(&s, 1);
        s.weather.ends_with = ERR_EXPIRED;
        s.weather.ending = "ConfigMap";
        MUST(&s.f, delete_with(&s.f, key_of(config_map_gvk(), "default", "a-in"), PROPAGATE_UNSET));
        quiet(&s);
        ASSERT_INT(out(&s, "a-out"), 0);
        summer_done(&s);
}

static void count_event(void *arg, const struct hub_event *e _unused_)
{
        ++*(_Atomic unsigned *)arg;
}

/* A watch that is closed before its first event goes on where it began. */
TEST(a_watch_that_told_nothing_loses_nothing)
{
        struct user user = { .name = STR("controller") };
        _Atomic unsigned n = 0;
        struct hub_subscriber subscriber = { .on_event = count_event, .arg = &n };
        struct summer s = { 0 };

        fixture_init_with(&s.f, &(struct store_options) { 0 });
        weather_init(&s.weather, s.f.store, 1, 0);
        MUST(&s.f, hub_new(&s.weather.cluster, &user, &s.hub, &s.f.err));
        MUST(&s.f, hub_subscribe(s.hub, config_map_gvk(), false, &subscriber, &s.source, &s.f.err));
        s.weather.ends_with = ERR_CLOSED;
        s.weather.ending = "ConfigMap";
        put_amount(&s, "a", "", 5);
        hub_settle(s.hub);
        ASSERT_INT(n, 1);
        hub_unsubscribe(s.source);
        hub_free(s.hub);
        arena_done(&s.weather.arena);
        fixture_done(&s.f);
}

TEST(who_is_gone_is_forgotten)
{
        struct summer s;

        summer_init(&s);
        MUST(&s.f, create(&s.f, widget(&s.f, "default", "a", "")));
        ASSERT_RUNS(&s, 1);
        ASSERT_INT(tracker_stats(s.tracker).n_keys, 1);
        MUST(&s.f, delete_with(&s.f, key_of(widget_gvk(), "default", "a"), PROPAGATE_UNSET));
        ASSERT_RUNS(&s, 1);
        ASSERT_INT(tracker_stats(s.tracker).n_keys, 0);
        ASSERT_INT(tracker_stats(s.tracker).n_notes, 0);
        put_amount(&s, "a-in", "", 5);
        ASSERT_RUNS(&s, 0);
        summer_done(&s);
}

TEST(after_a_start_each_key_runs_once_and_writes_nothing)
{
        struct summer s;
        uint64_t version;

        summer_init(&s);
        for (int i = 0; i < 20; i++)
                MUST(&s.f, create(&s.f, widget(&s.f, "default", quoted(&s.f, "w%d", i), "")));
        quiet(&s);
        version = store_version(s.f.store);
        summer_stop(&s);
        s.n_runs = s.n_counted = 0;
        summer_start(&s);
        ASSERT_RUNS(&s, 20);
        ASSERT_INT(store_version(s.f.store), version);
        summer_done(&s);
}

/* A failed run keeps the notes of the one before it and adds its own. */
TEST(a_failed_run_only_adds)
{
        struct summer s;

        summer_init(&s);
        MUST(&s.f, create(&s.f, widget(&s.f, "default", "a", "")));
        ASSERT_RUNS(&s, 1);
        s.fails = true;
        put_amount(&s, "a-in", "", 5);
        ASSERT_RUNS(&s, 1);
        ASSERT_INT(controller_stats(s.controller).n_errors, 1);
        s.fails = false;
        MUST(&s.f,
             merge(&s.f, key_of(config_map_gvk(), "default", "a-out"), JSON(&s.f, "{'data':{'amount':'99'}}"), NULL));
        ASSERT_RUNS(&s, 1);
        ASSERT_INT(out(&s, "a-out"), 5);
        summer_done(&s);
}

TEST(a_kind_that_comes_later_is_followed)
{
        struct summer s = { 0 };
        struct store_options options = { 0 };

        fixture_init_with(&s.f, &options);
        summer_start(&s); /* there are no Widgets yet */
        MUST(&s.f, create(&s.f, JSON(&s.f, "%s", crd)));
        settle(&s.f);
        MUST(&s.f, create(&s.f, widget(&s.f, "default", "a", "")));
        while (!s.n_runs)
                thread_sleep(deadline_after_ms(1), NULL);
        quiet(&s);
        ASSERT_INT(out(&s, "a-out"), 0);
        summer_done(&s);
}

/* --- Places for calls --- */

struct caller {
        struct slots *slots;
        struct controller *controller;
        struct semaphore answers; /* the function answers as often as this is released */
        _Atomic unsigned n_answered;
};

/* Calls a function that answers when the test says so. */
static int call_function(void *context, struct run *run, struct str key, struct control_answer *ret,
                         struct err *err _unused_)
{
        struct caller *c = context;

        if (!slots_enter(c->slots, STR("slow"), c->controller, key)) {
                ret->is_waiting = true;
                return 0;
        }
        semaphore_acquire(&c->answers, run->deadline, run->cancel);
        c->n_answered++;
        slots_leave(c->slots, STR("slow"));
        return 0;
}

/* Ten keys and one place: the others wait in line without holding a thread, and all have their turn. */
TEST(a_slow_function_holds_no_more_threads_than_places)
{
        struct control_options options = { .max_workers = 4, .user = { .name = STR("controller") } };
        struct caller c = { .slots = slots_new(1) };
        struct controller_options controller = { .name = STR("caller"), .reconcile = call_function, .context = &c };
        struct control *control;

        semaphore_init(&c.answers, "answers", 0);
        ASSERT_INT(control_new(&options, &control, NULL), 0);
        ASSERT_INT(controller_start(control, &controller, &c.controller, NULL), 0);
        for (char key = 'a'; key < 'k'; key++)
                controller_enqueue(c.controller, str_make(&key, 1));
        for (struct control_counts n = control_counts(control); n.n_ready > 0 || n.n_running != 1;
             n = control_counts(control))
                thread_sleep(deadline_after_ms(1), NULL);
        for (int i = 0; i < 10; i++)
                semaphore_release(&c.answers);
        while (c.n_answered < 10)
                thread_sleep(deadline_after_ms(1), NULL);
        ASSERT_INT(control_settle(control, DEADLINE_NONE, NULL), 0);
        slots_forget(c.slots, c.controller);
        controller_stop(c.controller);
        control_free(control);
        slots_free(c.slots);
        semaphore_done(&c.answers);
}

/* --- Simulation --- */

/* Writers change everything in any order; in the end the sums are right. */
struct writer {
        struct summer *s;
        struct thread *thread;
        uint64_t seed;
};

static void write_at_random(void *arg)
{
        static const char *const names[] = { "a", "b" };
        struct writer *w = arg;
        struct fixture f = { .store = w->s->f.store, .cluster = w->s->f.cluster };
        struct summer own = { .f = f };
        struct random random;

        random_seed(&random, w->seed);
        arena_init(&own.f.arena, "writer", 0);
        own.f.run =
                (struct run) { .arena = &own.f.arena, .deadline = DEADLINE_NONE, .user = { .name = STR("writer") } };
        for (int i = 0; i < 6; i++) {
                const char *name = names[random_below(&random, 2)];
                const char *thing = quoted(&own.f, "%s-%d", w->seed % 2 ? "in" : "x", (int)random_below(&random, 2));

                switch (random_below(&random, 4)) {
                case 0:
                        create(&own.f, widget(&own.f, "default", name, ""));
                        break;
                case 1:
                        delete_with(&own.f, key_of(config_map_gvk(), "default", thing), PROPAGATE_UNSET);
                        break;
                case 2:
                        merge(&own.f, key_of(config_map_gvk(), "default", thing),
                              JSON(&own.f, "{'metadata':{'labels':{'pick':'%s'}}}", name), NULL);
                        break;
                default:
                        create(&own.f,
                               JSON(&own.f,
                                    "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'namespace':'default','name':"
                                    "'%s','labels':{'pick':'%s'}},'data':{'amount':'%d'}}",
                                    thing, name, 1 + (int)random_below(&random, 9)));
                }
        }
        err_done(&own.f.err);
        arena_done(&own.f.arena);
}

static void check_sum(struct summer *s, const char *name)
{
        struct object_key key = key_of(widget_gvk(), "default", name);
        int64_t sum;

        if (!get(&s->f, key))
                return;
        MUST(&s->f, sum_inputs(s->f.cluster, &s->f.run, str_from(name), &sum, &s->f.err));
        SIM_ASSERT(out(s, quoted(&s->f, "%s-out", name)) == sum);
}

static void simulate(void *arg)
{
        uint64_t seed = *(uint64_t *)arg + 1;
        struct writer writers[3];
        struct summer s;

        *(uint64_t *)arg = seed;
        summer_init(&s);
        for (size_t i = 0; i < ARRAY_SIZE(writers); i++) {
                writers[i] = (struct writer) { .s = &s, .seed = 3 * seed + i };
                MUST(&s.f, thread_start("writer", write_at_random, &writers[i], &writers[i].thread, &s.f.err));
        }
        for (size_t i = 0; i < ARRAY_SIZE(writers); i++)
                thread_join(writers[i].thread);
        quiet(&s);
        thread_sleep(deadline_after_ms(5 * 60 * 1000), NULL); /* what failed by a conflict is tried again */
        quiet(&s);
        check_sum(&s, "a");
        check_sum(&s, "b");
        summer_done(&s);
}

TEST(schedules)
{
        const char *count = getenv("WEFT_SCHEDULES");
        _cleanup_err_ struct err err = { 0 };
        struct sim_report report;
        uint64_t n = 0;

        if (sim_explore(1, count ? strtoull(count, NULL, 10) : 150, NULL, simulate, &n, &report, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
}

/* A controller that has stopped may still have notes; what changes then concerns nobody. */
TEST(events_after_a_controller_has_stopped)
{
        struct summer s;

        summer_init(&s);
        MUST(&s.f, create(&s.f, widget(&s.f, "default", "a", "")));
        put_amount(&s, "x-0", "'pick':'a'", 1);
        quiet(&s);
        hub_unsubscribe(s.source);
        tracker_mute(s.tracker, s.controller);
        controller_stop(s.controller);
        put_amount(&s, "x-0", "'pick':'a'", 2);
        hub_settle(s.hub);
        tracker_forget_controller(s.tracker, s.controller);
        tracker_free(s.tracker);
        control_free(s.control);
        hub_free(s.hub);
        fixture_done(&s.f);
}

/* --- The breaker --- */

static enum breaker_verdict record(struct breaker *b, int64_t ns)
{
        return breaker_record(b, ns, STR("Noisy"), STR("default"), STR("n"));
}

TEST(too_many_events_open_the_circuit)
{
        struct breaker b = { 0 };
        int64_t now = 1000 * SECOND;
        struct arena a;

        arena_init(&a, "test", 0);
        for (int i = 0; i < 100; i++)
                ASSERT_INT(record(&b, now), BREAKER_PASSES);
        ASSERT_STR(breaker_open_source(&b, now, &a), STR(""));
        ASSERT_INT(record(&b, now), BREAKER_PASSES); /* opens, and passes still */
        ASSERT_STR(breaker_open_source(&b, now, &a), STR("Noisy/n (default)"));
        ASSERT_INT(record(&b, now), BREAKER_DROPS);
        ASSERT_INT(record(&b, now + 30 * SECOND), BREAKER_DROPS);
        ASSERT_INT(record(&b, now + 31 * SECOND), BREAKER_PASSES);
        ASSERT_INT(record(&b, now + 32 * SECOND), BREAKER_DROPS);
        ASSERT_INT(breaker_closes_ns(&b), now + 300 * SECOND);
        ASSERT_INT(record(&b, now + 300 * SECOND), BREAKER_PASSES);
        ASSERT_STR(breaker_open_source(&b, now + 300 * SECOND, &a), STR(""));
        breaker_done(&b);
        arena_done(&a);
}

TEST(a_composite_of_many_may_have_more_events)
{
        struct breaker b = { 0 };

        breaker_set_capacity(&b, 10);
        ASSERT_INT(record(&b, SECOND), BREAKER_PASSES);
        breaker_set_capacity(&b, 200);
        for (int i = 0; i < 199; i++)
                ASSERT_INT(record(&b, SECOND), BREAKER_PASSES);
        ASSERT_INT(record(&b, SECOND), BREAKER_PASSES);
        ASSERT_INT(record(&b, SECOND), BREAKER_DROPS);
        breaker_reset(&b);
        ASSERT_INT(record(&b, SECOND), BREAKER_PASSES);
        breaker_done(&b);
}

/* An event that an open circuit drops runs the key when the circuit closes, also if another event has run it in between. */
static void drop_events(void *arg _unused_)
{
        struct object_key in = key_of(config_map_gvk(), "default", "a-in");
        struct summer s;

        summer_init(&s);
        MUST(&s.f, create(&s.f, widget(&s.f, "default", "a", "")));
        for (int i = 0; i < 110; i++) {
                put_amount(&s, "a-in", "", i);
                quiet(&s);
        }
        MUST(&s.f, merge(&s.f, in, JSON(&s.f, "{'metadata':{'finalizers':['example.org/stay']}}"), NULL));
        MUST(&s.f, delete_with(&s.f, in, PROPAGATE_UNSET));
        quiet(&s);
        SIM_ASSERT(out(&s, "a-out") == 109);
        put_amount(&s, "x", "'pick':'a'", 1000);
        quiet(&s);
        SIM_ASSERT(out(&s, "a-out") == 109);
        thread_sleep(deadline_after_ms(301 * 1000), NULL);
        quiet(&s);
        SIM_ASSERT(out(&s, "a-out") == 1109);
        summer_done(&s);
}

TEST(events_that_a_circuit_drops_are_not_lost)
{
        _cleanup_err_ struct err err = { 0 };
        struct sim_report report;

        if (sim_explore(1, 3, NULL, drop_events, NULL, &report, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
}
