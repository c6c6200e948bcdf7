/* The kinds of provider-nop on a store. What they do is what provider-nop v0.5.0 does on a real API. */
#include "store-test.h"

#include "clock.h"
#include "condition.h"
#include "nop-conditions.h"
#include "nop.h"

struct world {
        struct fixture f;
        struct manager *manager;
        struct nop *nop;
};

static void world_init(struct world *w)
{
        struct store_options options = { .records_writes = true };
        struct manager_options manager = { .user = { .name = STR("provider-nop") }, .max_workers = 4 };

        *w = (struct world) { 0 };
        fixture_init_with(&w->f, &options);
        MUST(&w->f, nop_install(w->f.cluster, &w->f.run, &w->f.err));
        manager.cluster = w->f.cluster;
        MUST(&w->f, manager_new(&manager, &w->manager, &w->f.err));
        MUST(&w->f, nop_new(w->manager, &w->nop, &w->f.err));
}

static void world_done(struct world *w)
{
        nop_free(w->nop);
        manager_free(w->manager);
        fixture_done(&w->f);
}

static void quiet(struct world *w)
{
        for (uint64_t before = 0; before != store_version(w->f.store);) {
                before = store_version(w->f.store);
                MUST(&w->f, manager_settle(w->manager, DEADLINE_NONE, NULL));
                settle(&w->f);
        }
}

static struct object_key nop_key(const char *name)
{
        return key_of((struct gvk) { STR("nop.crossplane.io"), STR("v1alpha1"), STR("NopResource") }, "default", name);
}

static struct object_key secret_key(const char *name)
{
        return key_of((struct gvk) { STR(""), STR("v1"), STR("Secret") }, "default", name);
}

static void make(struct world *w, const char *name, const char *spec)
{
        MUST(&w->f, create(&w->f, JSON(&w->f,
                                       "{'apiVersion':'nop.crossplane.io/v1alpha1','kind':'NopResource','metadata':"
                                       "{'name':'%s','namespace':'default'},'spec':{%s}}",
                                       name, spec)));
}

/* `Type=Status/Reason` for each condition. */
static const char *conditions_text(struct arena *a, const struct condition *all, size_t n)
{
        struct str_list texts;

        str_list_init(&texts, a);
        for (size_t i = 0; i < n; i++)
                str_list_printf(&texts, "%.*s=%s/%.*s", STR_ARG(all[i].type), condition_status_name(all[i].status),
                                STR_ARG(all[i].reason));
        return arena_cstring(a, str_list_join(&texts, STR(" ")));
}

static const char *conditions(struct world *w, const char *name)
{
        const struct value *list = value_find(get(&w->f, nop_key(name)), "status", "conditions");
        struct condition *all = ARENA_NEW_ARRAY(&w->f.arena, struct condition, value_count(list) + 1);

        for (size_t i = 0; i < value_count(list); i++)
                all[i] = condition_of(value_item(list, i));
        return conditions_text(&w->f.arena, all, value_count(list));
}

#define AFTER(time, type, status, reason) \
        "{'time':'" time "','conditionType':'" type "','conditionStatus':'" status "','conditionReason':'" reason "'}"

TEST(which_conditions_are_due)
{
        static const struct {
                int64_t age_ms;
                const char *wanted;
                int64_t next_ms;
        } cases[] = {
                { 0, "", 2000 },
                { 1999, "", 1 },
                { 2000, "Ready=False/Slow", 3000 },
                { 5000, "Ready=True/Fine Green=True/", 3000 },
                { 8500, "Ready=False/Broken Green=True/", 2500 },
                { 11000, "Ready=True/First Green=True/", 0 },
        };
        _cleanup_fixture_ struct fixture f;
        const struct value *object;

        fixture_init(&f);
        object = JSON(
                &f, "{'metadata':{'creationTimestamp':'2026-01-01T00:00:00Z'},'spec':{'forProvider':{'conditionAfter':"
                    "[" AFTER("11s", "Ready", "True", "First") "," AFTER("11s", "Ready", "False", "Second") "," AFTER(
                            "2s", "Ready", "False",
                            "Slow") "," AFTER("5s", "Ready", "True",
                                              "Fine") "," AFTER("5s", "Green", "True",
                                                                "") "," AFTER("8s", "Ready", "False", "Broken") "]}}}");
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct instant now = { .seconds = 1767225600 + cases[i].age_ms / 1000,
                                       .nanos = (int32_t)(cases[i].age_ms % 1000 * 1000000) };
                struct nop_plan plan;

                MUST(&f, nop_plan(&f.arena, object, now, &plan, &f.err));
                ASSERT_TEXT(conditions_text(&f.arena, plan.conditions, plan.n), cases[i].wanted);
                ASSERT_INT(plan.next_ns / 1000000, cases[i].next_ms);
        }
}

TEST(a_resource_gets_what_it_is_told)
{
        const struct value *v;
        uint64_t version;
        struct world w;

        world_init(&w);
        make(&w, "plain", "'forProvider':{}");
        make(&w, "ready",
             "'forProvider':{'conditionAfter':[" AFTER("0s", "Ready", "True", "") "," AFTER(
                     "0s", "Synced", "False", "") "],'connectionDetails':[{'name':'user','value':'u'}]},"
                                                  "'writeConnectionSecretToRef':{'name':'s','namespace':"
                                                  "'default'}");
        quiet(&w);
        ASSERT_TEXT(conditions(&w, "plain"), "Synced=True/ReconcileSuccess");
        ASSERT_TEXT(conditions(&w, "ready"), "Synced=True/ReconcileSuccess Ready=True/");
        v = get(&w.f, nop_key("ready"));
        ASSERT(meta_has_finalizer(v, STR("finalizer.managedresource.crossplane.io")));
        ASSERT_STR(meta_annotation(v, STR("crossplane.io/external-name")), STR("ready"));
        ASSERT(value_find(v, "status", "atProvider"));
        ASSERT_STR(value_str(value_find(v, "spec", "deletionPolicy")), STR("Delete"));
        v = get(&w.f, secret_key("s"));
        ASSERT_STR(value_str(value_find(v, "data", "user")), STR("dQ=="));
        ASSERT_STR(value_str(value_find(v, "type")), STR("connection.crossplane.io/v1alpha1"));

        /* Without a change nothing is written, also not after a start. */
        version = store_version(w.f.store);
        nop_free(w.nop);
        MUST(&w.f, nop_new(w.manager, &w.nop, &w.f.err));
        quiet(&w);
        ASSERT_INT(store_version(w.f.store), version);

        /* Details that are dropped stay; conditions that are no longer asked for, too. */
        MUST(&w.f,
             merge(&w.f, nop_key("ready"),
                   JSON(&w.f, "{'spec':{'forProvider':{'conditionAfter':null,'connectionDetails':[{'name':'password',"
                              "'value':'p'}]}}}"),
                   NULL));
        quiet(&w);
        v = get(&w.f, secret_key("s"));
        ASSERT_STR(value_str(value_find(v, "data", "user")), STR("dQ=="));
        ASSERT_STR(value_str(value_find(v, "data", "password")), STR("cA=="));
        ASSERT_TEXT(conditions(&w, "ready"), "Synced=True/ReconcileSuccess Ready=True/");

        MUST(&w.f, delete_with(&w.f, nop_key("ready"), PROPAGATE_UNSET));
        quiet(&w);
        ASSERT(!get(&w.f, nop_key("ready")));
        ASSERT(!get(&w.f, secret_key("s")));
        world_done(&w);
}

TEST(a_paused_resource_stays_as_it_is)
{
        struct world w;

        world_init(&w);
        make(&w, "a", "'forProvider':{}");
        quiet(&w);
        MUST(&w.f, merge(&w.f, nop_key("a"), JSON(&w.f, "{'metadata':{'annotations':{'crossplane.io/paused':'true'}}}"),
                         NULL));
        quiet(&w);
        ASSERT_TEXT(conditions(&w, "a"), "Synced=False/ReconcilePaused");
        MUST(&w.f, delete_with(&w.f, nop_key("a"), PROPAGATE_UNSET));
        quiet(&w);
        ASSERT(get(&w.f, nop_key("a")));
        MUST(&w.f,
             merge(&w.f, nop_key("a"), JSON(&w.f, "{'metadata':{'annotations':{'crossplane.io/paused':null}}}"), NULL));
        quiet(&w);
        ASSERT(!get(&w.f, nop_key("a")));
        world_done(&w);
}

TEST(mistakes_are_told)
{
        struct condition synced;
        struct world w;

        world_init(&w);
        make(&w, "time", "'forProvider':{'conditionAfter':[" AFTER("soon", "Ready", "True", "") "]}");
        MUST(&w.f,
             create(&w.f,
                    JSON(&w.f,
                         "{'apiVersion':'v1','kind':'Secret','metadata':{'name':'mine','namespace':'default'}}")));
        make(&w, "secret", "'forProvider':{},'writeConnectionSecretToRef':{'name':'mine','namespace':'default'}");
        make(&w, "nowhere", "'forProvider':{},'writeConnectionSecretToRef':{'name':'s','namespace':'nowhere'}");
        quiet(&w);
        ASSERT(condition_get(get(&w.f, nop_key("time")), STR("Synced"), &synced));
        ASSERT_STR(synced.message, STR("spec.forProvider.conditionAfter[0].time: time: invalid duration \"soon\""));
        ASSERT(condition_get(get(&w.f, nop_key("secret")), STR("Synced"), &synced));
        ASSERT_STR(synced.message, STR("cannot write connection details: the Secret \"mine\" in namespace \"default\" "
                                       "belongs to something else; "
                                       "name another one in spec.writeConnectionSecretToRef"));
        ASSERT(condition_get(get(&w.f, nop_key("nowhere")), STR("Synced"), &synced));
        ASSERT_STR(synced.message, STR("cannot write connection details: namespaces \"nowhere\" not found"));
        world_done(&w);
}

/* Conditions come with time, not with changes. */
TEST(a_resource_takes_its_time)
{
        struct deadline end = deadline_after_ms(60000);
        struct world w;

        world_init(&w);
        make(&w, "a",
             "'forProvider':{'conditionAfter':[" AFTER("0s", "Ready", "False", "Slow") "," AFTER("1500ms", "Ready",
                                                                                                 "True", "Fine") "]}");
        quiet(&w);
        while (strcmp(conditions(&w, "a"), "Synced=True/ReconcileSuccess Ready=True/Fine") != 0) {
                if (deadline_has_passed(end))
                        test_fail(__FILE__, __LINE__, "it has %s", conditions(&w, "a"));
                thread_sleep(deadline_after_ms(20), NULL);
        }
        world_done(&w);
}
