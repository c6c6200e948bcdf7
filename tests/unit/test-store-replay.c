/* A store that is closed and opened again on its log is the same store. */
#include "log-test.h"

static struct gvk crd_gvk(void)
{
        return (struct gvk) { STR("apiextensions.k8s.io"), STR("v1"), STR("CustomResourceDefinition") };
}

static struct gvk secret_gvk(void)
{
        return (struct gvk) { STR(""), STR("v1"), STR("Secret") };
}

static struct gvk namespace_gvk(void)
{
        return (struct gvk) { STR(""), STR("v1"), STR("Namespace") };
}

static const struct value *widgets_crd(struct fixture *f, const char *default_size)
{
        return JSON(
                f,
                "{'apiVersion':'apiextensions.k8s.io/v1','kind':'CustomResourceDefinition','metadata':{'name':"
                "'widgets.example.org'},'spec':{'group':'example.org','scope':'Namespaced','names':{'plural':"
                "'widgets','kind':'Widget','shortNames':['wd']},'versions':[{'name':'v1','served':true,'storage':true,"
                "'schema':{'openAPIV3Schema':{'type':'object','properties':{'spec':{'type':'object','default':{},"
                "'properties':{'n':{'type':'integer'},'size':{'type':'string','default':'%s'}}}}}}},{'name':'v2','"
                "served':true,"
                "'storage':false,'schema':{'openAPIV3Schema':{'type':'object','x-kubernetes-preserve-unknown-fields':"
                "true}}}]}}",
                default_size);
}

static const struct value *config_map(struct fixture *f, const char *name, const char *more)
{
        return JSON(f, "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'%s','namespace':'default'%s%s}}",
                    name, *more ? "," : "", more);
}

static const struct value *secret(struct fixture *f, const char *name, const char *word)
{
        return JSON(f,
                    "{'apiVersion':'v1','kind':'Secret','metadata':{'name':'%s','namespace':'default'},'stringData':{"
                    "'word':'%s'}}",
                    name, word);
}

static void set_n(struct fixture *f, const char *name, int n)
{
        MUST(f, merge(f, key_of(widget_gvk(), "default", name), JSON(f, "{'spec':{'n':%d}}", n), NULL));
}

static void drop(struct fixture *f, struct gvk gvk, const char *name)
{
        MUST(f, delete_with(f, key_of(gvk, "default", name), PROPAGATE_BACKGROUND));
}

/* Everything that the log must bring back. */
static void write_all_sorts(struct fixture *f)
{
        MUST(f, create(f, widgets_crd(f, "small")));
        MUST(f, create(f, widget(f, "default", "a", "'labels':{'x':'1'}")));
        MUST(f, create(f, widget(f, "default", "b", "'finalizers':['example.org/wait']")));
        set_n(f, "a", 1);
        MUST(f, create(f, JSON(f, "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'team'}}")));
        MUST(f, create(f, widget(f, "team", "c", "")));
        MUST(f, create(f, config_map(f, "data", "")));
        drop(f, config_map_gvk(), "data");
        MUST(f, create(f, config_map(f, "data", "'labels':{'again':''}")));
        MUST(f, create(f, secret(f, "s", "first")));
        drop(f, widget_gvk(), "b"); /* it waits for its finalizer */
        set_n(f, "a", 2);
        settle(f);
}

TEST(objects_kinds_and_versions_come_back)
{
        static const size_t histories[] = { 0, 1, 5, 1000 };

        for (size_t i = 0; i < ARRAY_SIZE(histories); i++) {
                _cleanup_durable_ struct durable d;
                struct str before;

                durable_prepare(&d);
                d.options.accepts_any_kind = false;
                d.log_options.history_events = histories[i];
                durable_open(&d);
                write_all_sorts(&d.f);
                before = dump(&d.f);
                for (int again = 0; again < 3; again++) {
                        durable_reopen(&d);
                        settle(&d.f);
                        ASSERT_STR(dump(&d.f), before);
                }
                set_n(&d.f, "a", 3); /* it goes on */
                ASSERT(store_version(d.f.store) > 0);
                before = dump(&d.f);
                durable_reopen(&d);
                ASSERT_STR(dump(&d.f), before);
        }
}

TEST(made_up_kinds_come_back)
{
        for (size_t history = 0; history < 6; history++) {
                _cleanup_durable_ struct durable d;
                struct str before;

                durable_prepare(&d);
                d.log_options.history_events = history;
                durable_open(&d);
                MUST(&d.f, create(&d.f, widget(&d.f, "default", "a", "")));
                MUST(&d.f,
                     create(&d.f,
                            JSON(&d.f, "{'apiVersion':'example.org/v1','kind':'Global','metadata':{'name':'g'}}")));
                before = dump(&d.f);
                durable_reopen(&d);
                ASSERT_STR(dump(&d.f), before);
        }
}

TEST(versions_are_not_used_twice)
{
        _cleanup_durable_ struct durable d;
        uint64_t version;

        durable_init(&d);
        MUST(&d.f, create(&d.f, config_map(&d.f, "data", "")));
        drop(&d.f, config_map_gvk(), "data");
        version = store_version(d.f.store);
        durable_reopen(&d);
        ASSERT_INT(store_version(d.f.store), version);
        MUST(&d.f, create(&d.f, config_map(&d.f, "data", "")));
        ASSERT_INT(store_version(d.f.store), version + 1);
}

/* --- Watches --- */

/* From every version: what a watch shows after it was opened again is what it showed before, or 410 up to the floor. */
TEST(watches_resume_from_old_versions)
{
        static const struct {
                size_t history_events;
                uint64_t oldest; /* of those that can be resumed, counted from the end */
        } cases[] = { { 0, 1000 }, { 4, 4 }, { 1, 1 }, { 9, 9 } };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_durable_ struct durable d;
                struct str before[64], dropped;
                uint64_t version, floor;

                durable_prepare(&d);
                d.log_options.history_events = cases[i].history_events;
                durable_open(&d);
                MUST(&d.f, create(&d.f, widget(&d.f, "default", "a", "")));
                MUST(&d.f, create(&d.f, widget(&d.f, "default", "b", "")));
                set_n(&d.f, "a", 1);
                set_n(&d.f, "a", 2);
                drop(&d.f, widget_gvk(), "b");
                MUST(&d.f, create(&d.f, config_map(&d.f, "data", "")));
                MUST(&d.f, create(&d.f, widget(&d.f, "default", "b", "")));
                drop(&d.f, widget_gvk(), "a");
                set_n(&d.f, "b", 3);
                version = store_version(d.f.store);
                ASSERT(version < ARRAY_SIZE(before));
                for (uint64_t v = 1; v <= version; v++)
                        before[v] = dump_events(&d.f, widget_gvk(), v);
                durable_reopen(&d);
                ASSERT_INT(store_version(d.f.store), version);
                floor = version > cases[i].oldest ? version - cases[i].oldest : 0;
                dropped = STR("expired\n");
                for (uint64_t v = 1; v <= version; v++)
                        ASSERT_STR(dump_events(&d.f, widget_gvk(), v), v < floor ? dropped : before[v]);
                if (floor > 1) /* a kind that has no objects */
                        ASSERT_STR(dump_events(&d.f, (struct gvk) { STR("example.org"), STR("v1"), STR("Nothing") }, 1),
                                   dropped);
        }
}

TEST(lists_at_old_versions_come_back)
{
        _cleanup_durable_ struct durable d;
        struct list_request req = { .gvk = widget_gvk(), .limit = 1 };
        struct object_list l = { 0 }, rest = { 0 };

        durable_init(&d);
        MUST(&d.f, create(&d.f, widget(&d.f, "default", "a", "")));
        MUST(&d.f, create(&d.f, widget(&d.f, "default", "b", "")));
        MUST(&d.f, cluster_list(d.f.cluster, &d.f.run, &req, &l, &d.f.err));
        ASSERT(l.n == 1 && l.continue_token.n);
        set_n(&d.f, "b", 7);
        drop(&d.f, widget_gvk(), "a");
        durable_reopen(&d);
        req.continue_token = l.continue_token;
        MUST(&d.f, cluster_list(d.f.cluster, &d.f.run, &req, &rest, &d.f.err));
        ASSERT_INT(rest.n, 1);
        ASSERT(!value_find(object_list_value(&rest, 0, &d.f.arena), "spec", "n"));
}

/* The bytes of replaced Secrets are not kept, so their watches begin after the last replacement. Others do not suffer. */
TEST(watches_of_secrets_begin_after_the_last_replacement)
{
        for (size_t history = 0; history < 12; history++) {
                _cleanup_durable_ struct durable d;
                uint64_t replaced, version;
                struct str state, events;

                durable_prepare(&d);
                d.log_options.history_events = history;
                durable_open(&d);
                MUST(&d.f, create(&d.f, secret(&d.f, "a", "one")));
                MUST(&d.f, create(&d.f, secret(&d.f, "b", "two")));
                MUST(&d.f, create(&d.f, widget(&d.f, "default", "w", "")));
                MUST(&d.f, merge(&d.f, key_of(secret_gvk(), "default", "a"),
                                 JSON(&d.f, "{'stringData':{'word':'three'}}"), NULL));
                drop(&d.f, secret_gvk(), "b");
                replaced = store_version(d.f.store);
                MUST(&d.f, create(&d.f, secret(&d.f, "b", "four")));
                set_n(&d.f, "w", 1);
                version = store_version(d.f.store);
                state = dump(&d.f);
                events = dump_events(&d.f, secret_gvk(), replaced);
                durable_reopen(&d);
                ASSERT_STR(dump(&d.f), state);
                for (uint64_t v = 1; v < replaced; v++)
                        ASSERT_STR(dump_events(&d.f, secret_gvk(), v), STR("expired\n"));
                if (history == 0 || history > 2)
                        ASSERT_STR(dump_events(&d.f, secret_gvk(), replaced), events);
                if (history == 0 || history > 5)
                        ASSERT(str_find(dump_events(&d.f, widget_gvk(), version - 5), STR("ADDED")) >= 0);
                drop(&d.f, secret_gvk(), "a");
                durable_reopen(&d);
                ASSERT(!get(&d.f, key_of(secret_gvk(), "default", "a")));
                ASSERT(get(&d.f, key_of(secret_gvk(), "default", "b")));
        }
}

/* --- Work that follows from commits --- */

/* The log has everything up to the first commits of a change; the store was killed before it did the rest. */
static void open_without_collector(struct durable *d)
{
        durable_prepare(d);
        d->options.without_gc = true;
        durable_open(d);
}

static void open_with_collector(struct durable *d)
{
        d->options.without_gc = false;
        durable_reopen(d);
        settle(&d->f);
}

static const char *owned_by(struct fixture *f, const char *owner, const char *more)
{
        const struct value *v = get(f, key_of(config_map_gvk(), "default", owner));

        return arena_cstring(
                &f->arena,
                arena_printf(&f->arena,
                             "'ownerReferences':[{'apiVersion':'v1','kind':'ConfigMap','name':'%s','uid':'%.*s'%s}]",
                             owner, STR_ARG(meta_uid(v)), more));
}

TEST(dependents_of_missing_owners_are_collected)
{
        for (size_t history = 0; history < 3; history++) {
                _cleanup_durable_ struct durable d;

                open_without_collector(&d);
                d.log_options.history_events = history;
                durable_reopen(&d);
                MUST(&d.f, create(&d.f, config_map(&d.f, "owner", "")));
                MUST(&d.f, create(&d.f, config_map(&d.f, "child", owned_by(&d.f, "owner", ""))));
                MUST(&d.f, create(&d.f, config_map(&d.f, "grandchild", owned_by(&d.f, "child", ""))));
                drop(&d.f, config_map_gvk(), "owner");
                MUST(&d.f, create(&d.f, config_map(&d.f, "other", "")));
                MUST(&d.f, create(&d.f, config_map(&d.f, "kept", owned_by(&d.f, "other", ""))));
                open_with_collector(&d);
                ASSERT(!get(&d.f, key_of(config_map_gvk(), "default", "child")));
                ASSERT(!get(&d.f, key_of(config_map_gvk(), "default", "grandchild")));
                ASSERT(get(&d.f, key_of(config_map_gvk(), "default", "kept")));
        }
}

TEST(foreground_and_orphan_deletions_go_on)
{
        for (size_t history = 0; history < 3; history++) {
                _cleanup_durable_ struct durable d;

                open_without_collector(&d);
                d.log_options.history_events = history;
                durable_reopen(&d);
                MUST(&d.f, create(&d.f, config_map(&d.f, "front", "")));
                MUST(&d.f,
                     create(&d.f, config_map(&d.f, "first", owned_by(&d.f, "front", ",'blockOwnerDeletion':true"))));
                MUST(&d.f, create(&d.f, config_map(&d.f, "parent", "")));
                MUST(&d.f, create(&d.f, config_map(&d.f, "orphan", owned_by(&d.f, "parent", ""))));
                MUST(&d.f, delete_with(&d.f, key_of(config_map_gvk(), "default", "front"), PROPAGATE_FOREGROUND));
                MUST(&d.f, delete_with(&d.f, key_of(config_map_gvk(), "default", "parent"), PROPAGATE_ORPHAN));
                ASSERT(get(&d.f, key_of(config_map_gvk(), "default", "front")));
                open_with_collector(&d);
                ASSERT(!get(&d.f, key_of(config_map_gvk(), "default", "front")));
                ASSERT(!get(&d.f, key_of(config_map_gvk(), "default", "first")));
                ASSERT(!get(&d.f, key_of(config_map_gvk(), "default", "parent")));
                ASSERT(get(&d.f, key_of(config_map_gvk(), "default", "orphan")));
        }
}

TEST(terminating_namespaces_and_crds_go_on)
{
        for (size_t history = 0; history < 3; history++) {
                _cleanup_durable_ struct durable d;

                open_without_collector(&d);
                d.log_options.history_events = history;
                durable_reopen(&d);
                MUST(&d.f, create(&d.f, widgets_crd(&d.f, "small")));
                MUST(&d.f,
                     create(&d.f, JSON(&d.f, "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'team'}}")));
                MUST(&d.f, create(&d.f, widget(&d.f, "team", "a", "")));
                MUST(&d.f, create(&d.f, widget(&d.f, "default", "b", "")));
                MUST(&d.f, delete_with(&d.f, key_of(namespace_gvk(), "", "team"), PROPAGATE_BACKGROUND));
                MUST(&d.f, delete_with(&d.f, key_of(crd_gvk(), "", "widgets.example.org"), PROPAGATE_BACKGROUND));
                ASSERT(get(&d.f, key_of(namespace_gvk(), "", "team")));
                open_with_collector(&d);
                ASSERT(!get(&d.f, key_of(namespace_gvk(), "", "team")));
                ASSERT(!get(&d.f, key_of(crd_gvk(), "", "widgets.example.org")));
        }
}

/* --- CRDs that change --- */

TEST(objects_that_are_older_than_their_crd_are_converted)
{
        for (size_t history = 0; history < 3; history++) {
                _cleanup_durable_ struct durable d;
                const struct value *v;
                struct str before;

                durable_prepare(&d);
                d.options.accepts_any_kind = false;
                d.log_options.history_events = history;
                durable_open(&d);
                MUST(&d.f, create(&d.f, widgets_crd(&d.f, "small")));
                MUST(&d.f, create(&d.f, widget(&d.f, "default", "a", "")));
                MUST(&d.f,
                     merge(&d.f, key_of(crd_gvk(), "", "widgets.example.org"),
                           JSON(&d.f,
                                "{'spec':{'versions':[{'name':'v1','served':true,'storage':true,'schema':{"
                                "'openAPIV3Schema':{'type':'object','properties':{'spec':{'type':'object',"
                                "'default':{},'properties':{'n':{'type':'integer'},'color':{'type':'string','default':"
                                "'red'}}}}}}}]}}"),
                           NULL));
                MUST(&d.f, create(&d.f, widget(&d.f, "default", "b", "")));
                before = dump(&d.f);
                durable_reopen(&d);
                ASSERT_STR(dump(&d.f), before);
                v = get(&d.f, key_of(widget_gvk(), "default", "a"));
                ASSERT_STR(value_str(value_find(v, "spec", "color")), STR("red"));
        }
}
