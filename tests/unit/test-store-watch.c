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
        empty = begin(&f, (struct watch_request) { .sends_initial_events = true,
                                                   .wants_bookmarks = true,
                                                   .namespace = STR("kube-system") });
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
        by_namespace = begin(&f, (struct watch_request) { .namespace = STR("kube-system") });
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
        /* What is there when it begins does not count: it was kept for that. */
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
                        req.namespace = STR("kube-system");
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
        two = begin(&f, (struct watch_request) { .namespace = STR("default") });
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
