#include "store-test.h"

#include "sim.h"

static struct watch *begin(struct fixture *f, struct watch_request req)
{
        struct watch *w = NULL;

        if (req.gvk.kind.n == 0)
                req.gvk = widget_gvk();
        MUST(f, cluster_watch(f->cluster, &f->run, &req, &w, &f->err));
        return w;
}

/* The next event that is there already; ERR_TIMEOUT when there is none. */
static int next(struct fixture *f, struct watch *w, struct watch_event *ret)
{
        struct run run = f->run;

        run.deadline = deadline_after_ms(-1);
        err_done(&f->err);
        f->err = (struct err) { 0 };
        return watch_next(w, &run, ret, &f->err);
}

static const char *const type_names[] = { "ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR" };

/* TYPE NAME@VERSION, of everything that is there, joined by commas. */
static struct str drain(struct fixture *f, struct watch *w)
{
        struct str all = STR("");
        struct watch_event e;

        while (next(f, w, &e) == 0) {
                struct str name = e.object ? meta_name(object_value(e.object, &f->arena)) : STR("");

                if (e.object)
                        ASSERT_INT(e.version, object_version(e.object));
                all = arena_printf(&f->arena, "%.*s%s%s %.*s@%llu%s", STR_ARG(all), all.n ? "," : "",
                                   type_names[e.type], STR_ARG(name), (unsigned long long)e.version,
                                   e.ends_initial ? "!" : "");
        }
        return all;
}

#define ASSERT_EVENTS(f, w, text) ASSERT_STR(drain((f), (w)), STR(text))

static void change(struct fixture *f, const char *name, const char *patch)
{
        MUST(f, merge(f, key_of(widget_gvk(), "default", name), JSON(f, "%s", patch), NULL));
}

static void make(struct fixture *f, const char *name, const char *more)
{
        MUST(f, create(f, widget(f, "default", name, more)));
}

static void drop(struct fixture *f, const char *name)
{
        MUST(f, delete_with(f, key_of(widget_gvk(), "default", name), PROPAGATE_UNSET));
}

TEST(changes_come_once_and_in_order)
{
        _cleanup_fixture_ struct fixture f;
        struct watch *all, *later;

        fixture_init(&f); /* versions 1 to 4 */
        make(&f, "b", "");
        make(&f, "a", "");
        all = begin(&f, (struct watch_request) { 0 });
        later = begin(&f, (struct watch_request) { .resource_version = STR("5") });
        ASSERT_EVENTS(&f, all, "ADDED a@6,ADDED b@5");
        ASSERT_EVENTS(&f, later, "ADDED a@6");
        ASSERT_INT(f.err.code, ERR_TIMEOUT);
        change(&f, "a", "{'spec':1}");
        change(&f, "a", "{'spec':1}");
        drop(&f, "b");
        make(&f, "b", "");
        ASSERT_EVENTS(&f, all, "MODIFIED a@7,DELETED b@8,ADDED b@9");
        ASSERT_EVENTS(&f, later, "MODIFIED a@7,DELETED b@8,ADDED b@9");
        watch_free(all);
        watch_free(later);
}

TEST(initial_events_end_with_a_bookmark)
{
        _cleanup_fixture_ struct fixture f;
        struct watch *w, *quiet, *empty;

        fixture_init(&f);
        make(&f, "a", "");
        w = begin(&f, (struct watch_request) { .sends_initial_events = true, .wants_bookmarks = true });
        quiet = begin(&f, (struct watch_request) { .sends_initial_events = true, .resource_version = STR("2") });
        empty = begin(&f, (struct watch_request) {
                                  .sends_initial_events = true, .wants_bookmarks = true, .ns = STR("kube-system") });
        make(&f, "b", "");
        ASSERT_EVENTS(&f, w, "ADDED a@5,BOOKMARK @5!,ADDED b@6");
        ASSERT_EVENTS(&f, quiet, "ADDED a@5,ADDED b@6");
        ASSERT_EVENTS(&f, empty, "BOOKMARK @5!");
        watch_free(w);
        watch_free(quiet);
        watch_free(empty);
}

TEST(selections_have_edges)
{
        _cleanup_fixture_ struct fixture f;
        struct label_selector labels;
        struct field_selector fields;
        struct watch *by_label, *by_name, *by_namespace;

        fixture_init(&f);
        ASSERT_INT(label_selector_parse(&f.arena, STR("color=red"), &labels, NULL), 0);
        ASSERT_INT(field_selector_parse(&f.arena, STR("metadata.name=a"), &fields, NULL), 0);
        by_label = begin(&f, (struct watch_request) { .labels = &labels });
        by_name = begin(&f, (struct watch_request) { .fields = &fields });
        by_namespace = begin(&f, (struct watch_request) { .ns = STR("kube-system") });
        make(&f, "a", "'labels':{'color':'blue'}");
        make(&f, "b", "'labels':{'color':'red'}");
        change(&f, "a", "{'metadata':{'labels':{'color':'red'}}}");
        change(&f, "a", "{'spec':1}");
        change(&f, "a", "{'metadata':{'labels':{'color':'green'}},'spec':2}");
        change(&f, "a", "{'spec':3}");
        drop(&f, "a");
        drop(&f, "b");
        ASSERT_EVENTS(&f, by_label, "ADDED b@6,ADDED a@7,MODIFIED a@8,DELETED a@9,DELETED b@12");
        ASSERT_EVENTS(&f, by_name, "ADDED a@5,MODIFIED a@7,MODIFIED a@8,MODIFIED a@9,MODIFIED a@10,DELETED a@11");
        MUST(&f, create(&f, widget(&f, "kube-system", "z", "")));
        ASSERT_EVENTS(&f, by_namespace, "ADDED z@13");
        ASSERT_EVENTS(&f, by_label, "");
        watch_free(by_label);
        watch_free(by_name);
        watch_free(by_namespace);
}

TEST(what_left_is_shown_as_it_was)
{
        _cleanup_fixture_ struct fixture f;
        struct label_selector labels;
        struct watch *w;
        struct watch_event e;
        const struct value *v;

        fixture_init(&f);
        ASSERT_INT(label_selector_parse(&f.arena, STR("on"), &labels, NULL), 0);
        make(&f, "a", "'labels':{'on':''}");
        change(&f, "a", "{'spec':'before'}");
        w = begin(&f, (struct watch_request) { .labels = &labels, .resource_version = STR("6") });
        change(&f, "a", "{'metadata':{'labels':null},'spec':'after'}");
        ASSERT_INT(next(&f, w, &e), 0);
        v = object_value(e.object, &f.arena);
        ASSERT_INT(e.type, WATCH_DELETED);
        ASSERT_STR(value_str(value_get(v, STR("spec"))), STR("before"));
        ASSERT_STR(meta_resource_version(v), STR("7"));
        watch_free(w);

        make(&f, "b", "'finalizers':['a.b/c']");
        MUST(&f, delete_with(&f, key_of(widget_gvk(), "default", "b"), PROPAGATE_UNSET));
        w = begin(&f, (struct watch_request) { .resource_version = STR("9") });
        change(&f, "b", "{'metadata':{'finalizers':null},'spec':'never stored'}");
        ASSERT_INT(next(&f, w, &e), 0);
        v = object_value(e.object, &f.arena);
        ASSERT_INT(e.type, WATCH_DELETED);
        ASSERT(meta_has_finalizer(v, STR("a.b/c")) && !value_get(v, STR("spec")));
        ASSERT_STR(meta_resource_version(v), STR("10"));
        watch_free(w);
}

TEST(what_is_no_longer_kept_is_expired)
{
        struct store_options options = { .accepts_any_kind = true, .history_events = 3 };
        _cleanup_fixture_ struct fixture f;
        struct watch *old, *slow, *good, *quiet;
        struct watch_event e;

        fixture_init_with(&f, &options);
        quiet = begin(&f, (struct watch_request) { .gvk = config_map_gvk(), .resource_version = STR("4") });
        slow = begin(&f, (struct watch_request) { .resource_version = STR("4") });
        make(&f, "a", "");
        make(&f, "b", "");
        make(&f, "c", "");
        make(&f, "d", "");
        old = begin(&f, (struct watch_request) { .resource_version = STR("4") });
        good = begin(&f, (struct watch_request) { .resource_version = STR("5") });
        ASSERT_INT(next(&f, old, &e), ERR_EXPIRED);
        ASSERT_TEXT(err_message(&f.err), "too old resource version: 4 (6)");
        ASSERT_INT(f.err.reason, REASON_EXPIRED);
        ASSERT_INT(next(&f, slow, &e), ERR_EXPIRED);
        ASSERT_EVENTS(&f, good, "ADDED b@6,ADDED c@7,ADDED d@8");
        ASSERT_EVENTS(&f, quiet, ""); /* nothing of its kind was lost */
        watch_free(old);
        watch_free(slow);
        watch_free(good);
        watch_free(quiet);
}

TEST(a_slow_watcher_is_cut_off)
{
        struct store_options options = { .accepts_any_kind = true, .watch_bytes = 2000 };
        _cleanup_fixture_ struct fixture f;
        struct watch *slow, *quick, *resumed;
        struct watch_event e;

        fixture_init_with(&f, &options);
        slow = begin(&f, (struct watch_request) { .resource_version = STR("4") });
        quick = begin(&f, (struct watch_request) { .resource_version = STR("4") });
        for (int i = 0; i < 40; i++) {
                make(&f, quoted(&f, "a%d", i), "");
                ASSERT_INT(next(&f, quick, &e), 0);
        }
        ASSERT_INT(next(&f, slow, &e), ERR_EXPIRED);
        ASSERT_INT(next(&f, slow, &e), ERR_EXPIRED);
        /* Events that exist when the watch begins do not count against its limit: the history keeps them for new watches. */
        resumed = begin(&f, (struct watch_request) { .resource_version = STR("4") });
        for (int i = 0; i < 40; i++)
                ASSERT_INT(next(&f, resumed, &e), 0);
        watch_free(slow);
        watch_free(quick);
        watch_free(resumed);
}

TEST(a_version_of_the_future_is_waited_for)
{
        _cleanup_fixture_ struct fixture f;
        struct watch *w;

        fixture_init(&f);
        w = begin(&f, (struct watch_request) { .resource_version = STR("6") });
        make(&f, "a", "");
        make(&f, "b", "");
        ASSERT_EVENTS(&f, w, "");
        make(&f, "c", "");
        ASSERT_EVENTS(&f, w, "ADDED c@7");
        watch_free(w);
}

TEST(bad_requests_are_refused)
{
        struct store_options options = { 0 };
        _cleanup_fixture_ struct fixture f;
        struct watch *w;
        struct watch_request req = { .gvk = config_map_gvk(), .resource_version = STR("abc") };
        struct field_selector fields;

        fixture_init_with(&f, &options);
        ASSERT_INT(cluster_watch(f.cluster, &f.run, &req, &w, &f.err), ERR_INVALID);
        ASSERT_TEXT(err_message(&f.err),
                    "resourceVersion: Invalid value: \"abc\": strconv.ParseUint: parsing \"abc\": invalid syntax");
        ASSERT_INT(f.err.reason, REASON_UNKNOWN);
        req.resource_version = STR("");
        req.gvk.kind = STR("Nothing");
        ASSERT_INT(cluster_watch(f.cluster, &f.run, &req, &w, &f.err), ERR_NOT_FOUND);
        ASSERT_TEXT(err_message(&f.err), "no matches for kind \"Nothing\" in version \"v1\"");
        req.gvk = config_map_gvk();
        ASSERT_INT(field_selector_parse(&f.arena, STR("data.x=1"), &fields, NULL), 0);
        req.fields = &fields;
        ASSERT(cluster_watch(f.cluster, &f.run, &req, &w, &f.err) < 0);
}

/* In simulated time: an idle watch sends a bookmark a minute, with a version beyond its own kind's. */
static void bookmarks(void *arg)
{
        struct fixture f;
        struct watch *w;
        struct watch_event e;
        struct run run;

        fixture_init(&f);
        make(&f, "a", "");
        w = begin(&f, (struct watch_request) { .wants_bookmarks = true, .resource_version = STR("5") });
        MUST(&f,
             create(&f,
                    JSON(&f, "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'a','namespace':'default'}}")));
        for (int i = 0; i < 3; i++) {
                int64_t start = clock_mono_ns();

                ASSERT_INT(watch_next(w, &f.run, &e, &f.err), 0);
                ASSERT_INT(e.type, WATCH_BOOKMARK);
                ASSERT_INT(e.version, 6);
                ASSERT(!e.object && !e.ends_initial);
                ASSERT_INT((clock_mono_ns() - start) / NS_PER_MS, 60000);
        }
        run = f.run;
        run.deadline = deadline_after_ms(1000);
        ASSERT_INT(watch_next(w, &run, &e, &f.err), ERR_TIMEOUT);
        watch_free(w);
        fixture_done(&f);
}

TEST(idle_watches_send_bookmarks)
{
        _cleanup_err_ struct err err = { 0 };

        if (sim_run(1, NULL, bookmarks, NULL, NULL, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
}

struct waiting {
        struct fixture *f;
        struct watch *watch;
        struct cancel *cancel;
        int result;
        struct watch_event event;
        struct arena arena;
};

static void wait_for_one(void *arg)
{
        struct waiting *w = arg;
        struct run run = { .arena = &w->arena, .deadline = DEADLINE_NONE, .cancel = w->cancel };

        arena_init(&w->arena, "test", 0);
        w->result = watch_next(w->watch, &run, &w->event, NULL);
}

TEST(waiting_ends_with_an_event_or_by_cancellation)
{
        _cleanup_fixture_ struct fixture f;
        struct label_selector labels;
        struct waiting waiting[3];
        struct thread *threads[3];

        fixture_init(&f);
        ASSERT_INT(label_selector_parse(&f.arena, STR("on"), &labels, NULL), 0);
        for (int i = 0; i < 3; i++) {
                struct watch_request req = { .gvk = widget_gvk(), .resource_version = STR("4") };

                if (i == 1)
                        req.ns = STR("kube-system");
                if (i == 2)
                        req.labels = &labels;
                waiting[i] = (struct waiting) { .f = &f, .watch = begin(&f, req), .cancel = cancel_new(NULL) };
                ASSERT_INT(thread_start("waiting", wait_for_one, &waiting[i], &threads[i], NULL), 0);
        }
        make(&f, "a", "");
        make(&f, "b", "'labels':{'on':''}");
        MUST(&f, create(&f, widget(&f, "kube-public", "c", "")));
        thread_join(threads[0]);
        ASSERT_INT(waiting[0].result, 0);
        ASSERT_INT(waiting[0].event.version, 5);
        thread_join(threads[2]);
        ASSERT_INT(waiting[2].event.version, 6);
        cancel_trigger(waiting[1].cancel, "enough");
        thread_join(threads[1]);
        ASSERT_INT(waiting[1].result, ERR_CANCELED);
        for (int i = 0; i < 3; i++) {
                arena_done(&waiting[i].arena);
                watch_free(waiting[i].watch);
                cancel_unref(waiting[i].cancel);
        }
}

TEST(watchers_share_the_bytes_of_an_event)
{
        _cleanup_fixture_ struct fixture f;
        struct watch *one, *two;
        struct watch_event a, b;
        struct bytes *x, *y;

        fixture_init(&f);
        one = begin(&f, (struct watch_request) { 0 });
        two = begin(&f, (struct watch_request) { .ns = STR("default") });
        make(&f, "a", "");
        ASSERT_INT(next(&f, one, &a), 0);
        ASSERT_INT(next(&f, two, &b), 0);
        x = object_json(a.object);
        y = object_json(b.object);
        ASSERT(x == y);
        bytes_unref(x);
        bytes_unref(y);
        watch_free(one);
        watch_free(two);
}

/* --- Wakeups --- */

struct told {
        _Atomic int n;
};

static void tell(void *arg)
{
        struct told *t = arg;

        t->n++;
}

/* An event that is there, or the wakeup is armed. */
static int try_next(struct fixture *f, struct watch *w, struct told *told, struct watch_event *ret)
{
        err_done(&f->err);
        f->err = (struct err) { 0 };
        return watch_try_next(w, &f->run, (struct watch_wakeup) { .call = tell, .arg = told }, ret, &f->err);
}

TEST(a_wakeup_comes_once_for_each_arming)
{
        _cleanup_fixture_ struct fixture f;
        struct told told = { 0 };
        struct watch_event e;
        struct watch *w;

        fixture_init(&f);
        w = begin(&f, (struct watch_request) { .resource_version = STR("4") });
        make(&f, "a", "");
        ASSERT_INT(told.n, 0); /* nobody asked yet */
        ASSERT_INT(try_next(&f, w, &told, &e), 1);
        ASSERT_INT(try_next(&f, w, &told, &e), 0);
        ASSERT_INT(told.n, 0);
        make(&f, "b", "");
        make(&f, "c", "");
        ASSERT_INT(told.n, 1);
        ASSERT_INT(try_next(&f, w, &told, &e), 1);
        ASSERT_INT(e.version, 6);
        make(&f, "d", "");
        ASSERT_INT(told.n, 1); /* not armed: there was an event */
        ASSERT_INT(try_next(&f, w, &told, &e), 1);
        ASSERT_INT(try_next(&f, w, &told, &e), 1);
        ASSERT_INT(e.version, 8);
        ASSERT_INT(try_next(&f, w, &told, &e), 0);
        ASSERT_INT(try_next(&f, w, &told, &e), 0); /* armed again in place of the first */
        make(&f, "e", "");
        ASSERT_INT(told.n, 2);
        ASSERT_INT(try_next(&f, w, &told, &e), 1);
        ASSERT_INT(try_next(&f, w, &told, &e), 0);
        watch_free(w);
        make(&f, "f", "");
        ASSERT_INT(told.n, 2);
}

/* Without anybody to tell, a look is only a look. */
TEST(a_look_arms_nothing)
{
        _cleanup_fixture_ struct fixture f;
        struct watch_event e;
        struct watch *w;

        fixture_init(&f);
        w = begin(&f, (struct watch_request) { .resource_version = STR("4") });
        ASSERT_INT(watch_try_next(w, &f.run, (struct watch_wakeup) { 0 }, &e, &f.err), 0);
        make(&f, "a", "");
        ASSERT_INT(watch_try_next(w, &f.run, (struct watch_wakeup) { 0 }, &e, &f.err), 1);
        watch_free(w);
}

static const struct {
        const char *ns, *name;
        bool is_cluster_scoped;
        const char *told; /* by default/a, default/b, kube-public/a, and the cluster-scoped a and b */
} watchers[] = {
        { "", "", false, "11100" },
        { "default", "", false, "11000" },
        { "default", "a", false, "10000" },
        { "", "a", false, "10100" },
        { "kube-public", "a", false, "00100" },
        { "kube-public", "b", false, "00000" },
        { "", "", true, "00011" },
        { "", "a", true, "00010" },
};

static void make_globe(struct fixture *f, const char *name)
{
        MUST(f, create(f, JSON(f, "{'apiVersion':'example.org/v1','kind':'Globe','metadata':{'name':'%s'}}", name)));
}

static void begin_all(struct fixture *f, struct watch *watches[ARRAY_SIZE(watchers)],
                      struct told told[ARRAY_SIZE(watchers)])
{
        for (size_t i = 0; i < ARRAY_SIZE(watchers); i++) {
                struct watch_request req = { .gvk = widget_gvk(), .ns = str_from(watchers[i].ns) };
                struct field_selector fields;
                struct watch_event e;

                if (watchers[i].is_cluster_scoped)
                        req.gvk.kind = STR("Globe");
                if (*watchers[i].name) {
                        ASSERT_INT(field_selector_parse(&f->arena,
                                                        arena_printf(&f->arena, "metadata.name=%s", watchers[i].name),
                                                        &fields, NULL),
                                   0);
                        req.fields = &fields;
                }
                watches[i] = begin(f, req);
                while (try_next(f, watches[i], &told[i], &e) > 0)
                        ;
                ASSERT_INT(f->err.code, 0);
        }
}

static void check_told(struct fixture *f, struct watch *watches[ARRAY_SIZE(watchers)],
                       struct told told[ARRAY_SIZE(watchers)], size_t at)
{
        for (size_t i = 0; i < ARRAY_SIZE(watchers); i++) {
                int wanted = watchers[i].told[at] == '1';
                struct watch_event e;

                ASSERT_INT(told[i].n, wanted);
                told[i].n = 0;
                for (; wanted; wanted--)
                        ASSERT_INT(try_next(f, watches[i], &told[i], &e), 1);
                ASSERT_INT(try_next(f, watches[i], &told[i], &e), 0);
        }
}

TEST(only_those_who_care_are_told)
{
        /* Kinds that nobody has met when the watches begin, and kinds that are there. */
        for (int is_known = 0; is_known < 2; is_known++) {
                _cleanup_fixture_ struct fixture f;
                struct told told[ARRAY_SIZE(watchers)] = { 0 };
                struct watch *watches[ARRAY_SIZE(watchers)];

                fixture_init(&f);
                if (is_known) {
                        make(&f, "z", "");
                        make_globe(&f, "z");
                }
                begin_all(&f, watches, told);
                make(&f, "a", "");
                check_told(&f, watches, told, 0);
                make(&f, "b", "");
                check_told(&f, watches, told, 1);
                MUST(&f, create(&f, widget(&f, "kube-public", "a", "")));
                check_told(&f, watches, told, 2);
                make_globe(&f, "a");
                check_told(&f, watches, told, 3);
                make_globe(&f, "b");
                check_told(&f, watches, told, 4);
                for (size_t i = 0; i < ARRAY_SIZE(watchers); i++)
                        watch_free(watches[i]);
        }
}

/* A watch loses no event that it selects, however many other events have happened and been forgotten. */
TEST(a_quiet_watch_does_not_fall_behind)
{
        struct store_options options = { .accepts_any_kind = true, .history_events = 5, .watch_bytes = 2000 };
        _cleanup_fixture_ struct fixture f;
        struct told told = { 0 };
        struct watch_event e;
        struct watch *quiet, *asked;

        fixture_init_with(&f, &options);
        quiet = begin(&f, (struct watch_request) { .ns = STR("kube-public") });
        asked = begin(&f, (struct watch_request) { .ns = STR("kube-public") });
        ASSERT_INT(try_next(&f, quiet, &told, &e), 0);
        ASSERT_INT(try_next(&f, asked, &told, &e), 0);
        for (int i = 0; i < 50; i++)
                make(&f, quoted(&f, "a%d", i), "");
        ASSERT_INT(told.n, 0);
        ASSERT_INT(try_next(&f, asked, &told, &e), 0);
        MUST(&f, create(&f, widget(&f, "kube-public", "x", "")));
        ASSERT_INT(told.n, 2);
        make(&f, "later", "");
        ASSERT_INT(try_next(&f, quiet, &told, &e), 1);
        ASSERT_INT(e.version, 55);
        ASSERT_INT(try_next(&f, asked, &told, &e), 1);
        ASSERT_INT(e.version, 55);
        watch_free(quiet);
        watch_free(asked);
}

/* In simulated time: the owner keeps the timer. */
static void timed_bookmarks(void *arg)
{
        struct told told = { 0 };
        struct watch_event e;
        struct watch *w, *without;
        struct fixture f;

        fixture_init(&f);
        w = begin(&f, (struct watch_request) { .wants_bookmarks = true, .resource_version = STR("4") });
        without = begin(&f, (struct watch_request) { .resource_version = STR("4") });
        SIM_ASSERT(deadline_is_none(watch_next_bookmark(without)));
        for (int i = 0; i < 3; i++) {
                SIM_ASSERT(try_next(&f, w, &told, &e) == 0);
                SIM_ASSERT(deadline_remaining_ns(watch_next_bookmark(w)) == 60000 * NS_PER_MS);
                SIM_ASSERT(thread_sleep(watch_next_bookmark(w), NULL) == 0);
                SIM_ASSERT(try_next(&f, w, &told, &e) == 1);
                SIM_ASSERT(e.type == WATCH_BOOKMARK && e.version == 4);
        }
        watch_free(w);
        /* The last one is two seconds before the end that the owner has told. */
        w = begin(&f, (struct watch_request) {
                              .wants_bookmarks = true, .resource_version = STR("4"), .timeout_ms = 65000 });
        for (int i = 0; i < 3; i++) {
                static const int64_t pauses_ms[] = { 60000, 3000, 60000 };

                SIM_ASSERT(deadline_remaining_ns(watch_next_bookmark(w)) == pauses_ms[i] * NS_PER_MS);
                SIM_ASSERT(thread_sleep(watch_next_bookmark(w), NULL) == 0);
                SIM_ASSERT(try_next(&f, w, &told, &e) == 1 && e.type == WATCH_BOOKMARK);
        }
        SIM_ASSERT(told.n == 0);
        watch_free(w);
        watch_free(without);
        fixture_done(&f);
}

TEST(the_owner_keeps_the_timer_of_bookmarks)
{
        _cleanup_err_ struct err err = { 0 };

        if (sim_run(1, NULL, timed_bookmarks, NULL, NULL, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
}

/* --- Initial lists --- */

TEST(a_long_initial_list_shows_one_version)
{
        _cleanup_fixture_ struct fixture f;
        struct watch_event e;
        struct watch *w;

        fixture_init(&f);
        for (int i = 0; i < 300; i++)
                make(&f, quoted(&f, "w%03d", i), "");
        w = begin(&f, (struct watch_request) { .sends_initial_events = true, .wants_bookmarks = true });
        for (int i = 0; i < 300; i++) {
                ASSERT_INT(next(&f, w, &e), 0);
                ASSERT_INT(e.type, WATCH_ADDED);
                ASSERT_INT(e.version, 5 + i);
                if (i == 10) {
                        change(&f, "w000", "{'spec':1}");
                        change(&f, "w299", "{'spec':1}");
                        drop(&f, "w298");
                        make(&f, "w297x", "");
                }
        }
        ASSERT_EVENTS(&f, w, "BOOKMARK @304!,MODIFIED w000@305,MODIFIED w299@306,DELETED w298@307,ADDED w297x@308");
        watch_free(w);
}

TEST(an_initial_list_that_is_read_too_slowly_expires)
{
        struct store_options options = { .accepts_any_kind = true, .history_events = 5, .watch_bytes = 20000 };
        _cleanup_fixture_ struct fixture f;
        struct store_stats stats;
        struct watch_event e;
        struct watch *w;
        int r;

        fixture_init_with(&f, &options);
        for (int i = 0; i < 300; i++)
                make(&f, quoted(&f, "w%03d", i), "");
        w = begin(&f, (struct watch_request) { 0 });
        ASSERT_INT(next(&f, w, &e), 0);
        for (int i = 0; i < 200; i++)
                change(&f, "w299", quoted(&f, "{'spec':%d}", i));
        store_stats(f.store, &stats);
        ASSERT(stats.history_bytes < 20000 + 5 * 2000);
        while ((r = next(&f, w, &e)) == 0)
                ASSERT(e.type == WATCH_ADDED && e.version < 300);
        ASSERT_INT(r, ERR_EXPIRED);
        ASSERT(str_starts_with(str_from(err_message(&f.err)), STR("too old resource version: 304 (")));
        watch_free(w);
}

/* --- Other versions --- */

static const char two_versions[] =
        "{'apiVersion':'apiextensions.k8s.io/"
        "v1','kind':'CustomResourceDefinition','metadata':{'name':'gears.example.org'"
        "},'spec':{'group':'example.org','scope':'Namespaced','names':{'plural':'gears','kind':'Gear'},'versions':["
        "{'name':'v1','served':true,'storage':true,'schema':{'openAPIV3Schema':{'type':'object'}}},"
        "{'name':'v2','served':true,'storage':false,'schema':{'openAPIV3Schema':{'type':'object'}}}]}}";

TEST(objects_in_another_version_are_made_once)
{
        _cleanup_fixture_ struct fixture f;
        struct gvk v1 = { STR("example.org"), STR("v1"), STR("Gear") }, v2 = { v1.group, STR("v2"), v1.kind };
        struct object_key key = key_of(v1, "default", "a");
        struct label_selector on;
        struct watch *watches[3];
        struct watch_event events[3];

        fixture_init(&f);
        MUST(&f, create(&f, from_json(&f, quoted(&f, "%s", two_versions))));
        ASSERT_INT(label_selector_parse(&f.arena, STR("on"), &on, NULL), 0);
        for (int i = 0; i < 3; i++) {
                watches[i] = begin(&f, (struct watch_request) { .gvk = i ? v2 : v1, .labels = &on });
                ASSERT_INT(next(&f, watches[i], &events[i]), ERR_TIMEOUT);
        }
        MUST(&f, create(&f, JSON(&f, "{'apiVersion':'example.org/v1','kind':'Gear','metadata':{'name':'a','namespace':"
                                     "'default','labels':{'on':''}}}")));
        for (int i = 0; i < 3; i++)
                ASSERT_INT(next(&f, watches[i], &events[i]), 0);
        ASSERT(events[0].object != events[1].object);
        ASSERT(events[1].object == events[2].object);
        ASSERT_STR(value_str(value_get(object_value(events[1].object, &f.arena), STR("apiVersion"))),
                   STR("example.org/v2"));
        MUST(&f, merge(&f, key, JSON(&f, "{'metadata':{'labels':null}}"), NULL));
        for (int i = 0; i < 3; i++) {
                ASSERT_INT(next(&f, watches[i], &events[i]), 0);
                ASSERT_INT(events[i].type, WATCH_DELETED);
                ASSERT_INT(events[i].version, object_version(events[i].object));
                ASSERT_STR(value_str(value_get(object_value(events[i].object, &f.arena), STR("apiVersion"))),
                           i ? STR("example.org/v2") : STR("example.org/v1"));
                ASSERT(meta_has_label(object_value(events[i].object, &f.arena), STR("on")));
        }
        ASSERT(events[1].object == events[2].object);
        for (int i = 0; i < 3; i++)
                watch_free(watches[i]);
}

TEST(those_who_wait_are_told_that_their_kind_has_changed)
{
        _cleanup_fixture_ struct fixture f;
        struct gvk v1 = { STR("example.org"), STR("v1"), STR("Gear") };
        struct told told = { 0 };
        struct watch_event e;
        struct watch *w;

        fixture_init(&f);
        w = begin(&f, (struct watch_request) { .gvk = v1 });
        ASSERT_INT(try_next(&f, w, &told, &e), 0);
        MUST(&f, create(&f, from_json(&f, quoted(&f, "%s", two_versions))));
        ASSERT_INT(told.n, 1);
        ASSERT_INT(try_next(&f, w, &told, &e), ERR_CLOSED);
        watch_free(w);
}

/* --- Wakeups and threads --- */

/* A watch with an owner that is told, asks, and at some time lets go of it. */
struct owner {
        struct fixture *f;
        struct semaphore wakeups;
        _Atomic int n_calls;
        int n_armings;
        _Atomic bool has_watch;
        uint64_t seed;
};

static void tell_owner(void *arg)
{
        struct owner *o = arg;

        sim_point("wakeup");
        if (!o->has_watch) {
                if (sim_is_running())
                        sim_fail("called after the watch was freed");
                abort();
        }
        o->n_calls++;
        semaphore_release(&o->wakeups);
        sim_point("wakeup");
}

/* Takes what is there; 0 when the wakeup is armed, or the number of the last event. */
static uint64_t take_all(struct owner *o, struct watch *w)
{
        struct watch_wakeup wakeup = { .call = tell_owner, .arg = o };
        struct watch_event e = { 0 };
        uint64_t last = 0;
        struct arena a;
        struct run run = { .arena = &a, .deadline = DEADLINE_NONE };
        int r;

        arena_init(&a, "owner", 0);
        while ((r = watch_try_next(w, &run, wakeup, &e, NULL)) > 0)
                last = e.version;
        o->n_armings += r == 0;
        arena_done(&a);
        if (r < 0)
                abort();
        return last;
}

/* Owns one watch after the other, each for as many wakeups as the seed says, until the last object was seen. */
static void own_watches(void *arg)
{
        struct owner *o = arg;
        struct watch_request req = { .gvk = widget_gvk() };
        struct run run = { .arena = NULL, .deadline = DEADLINE_NONE };
        uint64_t last = 0, random = o->seed;

        while (last < 10) {
                struct watch *w;
                struct arena a;

                arena_init(&a, "owner", 0);
                run.arena = &a;
                if (cluster_watch(o->f->cluster, &run, &req, &w, NULL) < 0)
                        abort();
                o->has_watch = true;
                random = random * 6364136223846793005ull + 1442695040888963407ull;
                for (uint64_t n = random >> 33 & 3; last < 10; n--) {
                        uint64_t seen = take_all(o, w);

                        last = MAX(last, seen);
                        if (n == 0 || last >= 10)
                                break;
                        if (semaphore_acquire(&o->wakeups, DEADLINE_NONE, NULL) < 0)
                                abort();
                }
                watch_free(w);
                o->has_watch = false;
                arena_done(&a);
        }
}

static void write_six(void *arg)
{
        struct owner *o = arg;

        for (int i = 0; i < 6; i++) {
                struct arena a;
                struct run run = { .arena = &a, .deadline = DEADLINE_NONE };
                struct write_request req = { .verb = WRITE_CREATE };
                struct write_result result;
                char text[160];

                arena_init(&a, "writer", 0);
                snprintf(text, sizeof(text),
                         "{\"apiVersion\":\"example.org/v1\",\"kind\":\"Widget\",\"metadata\":{\"name\":\"w%d\","
                         "\"namespace\":\"default\"}}",
                         i);
                if (json_parse(&a, str_from(text), NULL, &req.body, NULL) < 0)
                        abort();
                req.key = object_key_of(req.body);
                if (cluster_write(o->f->cluster, &run, &req, &result, NULL) < 0)
                        abort();
                arena_done(&a);
        }
}

static void own_and_write(void *arg)
{
        uint64_t *seed = arg;
        struct owner owners[2];
        struct thread *threads[3];
        struct fixture f;

        fixture_init(&f);
        for (size_t i = 0; i < 2; i++) {
                owners[i] = (struct owner) { .f = &f, .seed = ++*seed };
                semaphore_init(&owners[i].wakeups, "wakeups", 0);
                if (thread_start("owner", own_watches, &owners[i], &threads[i], NULL) < 0)
                        abort();
        }
        if (thread_start("writer", write_six, &owners[0], &threads[2], NULL) < 0)
                abort();
        for (size_t i = 0; i < 3; i++)
                thread_join(threads[i]);
        for (size_t i = 0; i < 2; i++) {
                if (owners[i].n_calls > owners[i].n_armings)
                        abort();
                semaphore_done(&owners[i].wakeups);
        }
        fixture_done(&f);
}

/* In every order: no wakeup is lost, which would be a deadlock, none comes more often than it was armed, and none after the end. */
TEST(wakeups_meet_commits_and_frees)
{
        _cleanup_err_ struct err err = { 0 };
        uint64_t seed = 0;

        if (sim_explore(1, 500, NULL, own_and_write, &seed, NULL, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
}

/* The same on real threads, for ThreadSanitizer. */
TEST(wakeups_meet_commits_and_frees_on_threads)
{
        uint64_t seed = 0;

        for (int i = 0; i < 50; i++)
                own_and_write(&seed);
}
