/* CRDs take effect at once, with the conditions that clients wait for. */
#include "store-test.h"

#include "sim.h"
#include "store-state.h"

static struct gvk crd_gvk(void)
{
        return (struct gvk) { STR("apiextensions.k8s.io"), STR("v1"), STR("CustomResourceDefinition") };
}

static struct object_key crd_key(const char *name)
{
        return key_of(crd_gvk(), "", name);
}

static const struct value *crd_named(struct fixture *f, const char *plural, const char *kind, const char *more)
{
        return JSON(f,
                    "{'apiVersion':'apiextensions.k8s.io/"
                    "v1','kind':'CustomResourceDefinition','metadata':{'name':'%s.example.org'"
                    "},'spec':{'group':'example.org','scope':'Namespaced','names':{'plural':'%s','kind':'%s'%s},'"
                    "versions':[{"
                    "'name':'v1','served':true,'storage':true,'schema':{'openAPIV3Schema':{'type':'object','properties'"
                    ":{'spec':{"
                    "'type':'object','properties':{'size':{'type':'integer','default':1}}}}}}}]}}",
                    plural, plural, kind, more);
}

static const struct value *widgets_crd(struct fixture *f)
{
        return crd_named(f, "widgets", "Widget", "");
}

static void strict_fixture(struct fixture *f)
{
        struct store_options options = { .records_writes = true };

        fixture_init_with(f, &options);
}

/* `Type=Status/Reason`, joined by blanks. */
static struct str conditions(struct fixture *f, const struct value *crd)
{
        struct str all = STR("");

        VALUE_FOREACH_ITEM (c, value_find(crd, "status", "conditions"))
                all = arena_printf(&f->arena, "%.*s%s%.*s=%.*s/%.*s", STR_ARG(all), all.n ? " " : "",
                                   STR_ARG(value_str(value_get(c, STR("type")))),
                                   STR_ARG(value_str(value_get(c, STR("status")))),
                                   STR_ARG(value_str(value_get(c, STR("reason")))));
        return all;
}

static struct str message_of(const struct value *crd, const char *type)
{
        VALUE_FOREACH_ITEM (c, value_find(crd, "status", "conditions"))
                if (str_equal(value_str(value_get(c, STR("type"))), str_from(type)))
                        return value_str(value_get(c, STR("message")));
        return STR("");
}

TEST(a_crd_is_established_in_steps_that_can_be_watched)
{
        _cleanup_fixture_ struct fixture f;
        struct watch_request req = { .gvk = crd_gvk(), .resource_version = STR("4") };
        struct write_request write = { .verb = WRITE_CREATE, .key = crd_key("widgets.example.org") };
        static const char *const wanted[] = {
                "",
                "NamesAccepted=True/NoConflicts Established=False/Installing",
                "NamesAccepted=True/NoConflicts Established=True/InitialNamesAccepted",
        };
        struct write_result result;
        struct watch_event e;
        struct watch *w;
        const struct value *v = NULL;

        strict_fixture(&f);
        write.body = widgets_crd(&f);
        MUST(&f, cluster_watch(f.cluster, &f.run, &req, &w, &f.err));
        MUST(&f, write_request(&f, write, &result));
        ASSERT_STR(meta_resource_version(result.value), STR("5"));
        ASSERT(value_is_null(value_find(result.value, "status", "conditions")));
        ASSERT_STR(to_json(&f, value_find(result.value, "status", "acceptedNames")),
                   STR("{\"kind\":\"\",\"plural\":\"\"}"));
        for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
                MUST(&f, watch_next(w, &f.run, &e, &f.err));
                v = object_value(e.object, &f.arena);
                ASSERT_INT(e.type, i == 0 ? WATCH_ADDED : WATCH_MODIFIED);
                ASSERT_INT(e.version, 5 + i);
                ASSERT_STR_CASE(wanted[i], conditions(&f, v), str_from(wanted[i]));
        }
        ASSERT_STR(message_of(v, "NamesAccepted"), STR("no conflicts found"));
        ASSERT_STR(message_of(v, "Established"), STR("the initial names have been accepted"));
        ASSERT_STR(to_json(&f, value_get(v, STR("status"))->n ? value_find(v, "status", "acceptedNames") : NULL),
                   STR("{\"kind\":\"Widget\",\"listKind\":\"WidgetList\",\"plural\":\"widgets\",\"singular\":"
                       "\"widget\"}"));
        ASSERT_STR(to_json(&f, value_find(v, "status", "storedVersions")), STR("[\"v1\"]"));
        ASSERT_INT(meta_generation(v), 1);
        watch_free(w);
        /* In the same moment the kind is served, schema and all. */
        MUST(&f, create(&f, widget(&f, "default", "a", "")));
        v = get(&f, key_of(widget_gvk(), "default", "a"));
        ASSERT_STR(meta_resource_version(v), STR("8"));
}

TEST(a_dry_run_establishes_nothing)
{
        _cleanup_fixture_ struct fixture f;
        struct write_request write = { .verb = WRITE_CREATE,
                                       .key = crd_key("widgets.example.org"),
                                       .is_dry_run = true };

        strict_fixture(&f);
        write.body = widgets_crd(&f);
        MUST(&f, write_request(&f, write, NULL));
        ASSERT_INT(create(&f, widget(&f, "default", "a", "")), ERR_NOT_FOUND);
}

TEST(names_belong_to_one_crd_of_a_group)
{
        static const struct {
                const char *plural, *kind, *more, *reason, *message, *accepted;
        } cases[] = {
                { "gizmos", "Gizmo", ",'singular':'widget'", "SingularConflict", "\"widget\" is already in use",
                  "{\"kind\":\"Gizmo\",\"listKind\":\"GizmoList\",\"plural\":\"gizmos\"}" },
                { "gizmos", "Gizmo", ",'shortNames':['a','wd']", "ShortNamesConflict", "\"wd\" is already in use",
                  "{\"kind\":\"Gizmo\",\"listKind\":\"GizmoList\",\"plural\":\"gizmos\",\"singular\":\"gizmo\"}" },
                { "gizmos", "Widget", ",'singular':'gizmo','listKind':'GizmoList'", "KindConflict",
                  "\"Widget\" is already in use",
                  "{\"kind\":\"\",\"listKind\":\"GizmoList\",\"plural\":\"gizmos\",\"singular\":\"gizmo\"}" },
                { "gizmos", "Gizmo", ",'listKind':'WidgetList'", "ListKindConflict", "\"WidgetList\" is already in use",
                  "{\"kind\":\"Gizmo\",\"plural\":\"gizmos\",\"singular\":\"gizmo\"}" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_fixture_ struct fixture f;
                struct object_key key = crd_key("gizmos.example.org");
                const struct value *v;

                strict_fixture(&f);
                MUST(&f, create(&f, crd_named(&f, "widgets", "Widget", ",'shortNames':['wd']")));
                MUST(&f, create(&f, crd_named(&f, cases[i].plural, cases[i].kind, cases[i].more)));
                v = get(&f, key);
                ASSERT_STR_CASE(cases[i].reason, conditions(&f, v),
                                arena_printf(&f.arena, "NamesAccepted=False/%s Established=False/NotAccepted",
                                             cases[i].reason));
                ASSERT_STR_CASE(cases[i].reason, message_of(v, "NamesAccepted"), str_from(cases[i].message));
                ASSERT_STR(message_of(v, "Established"), STR("not all names are accepted"));
                ASSERT_STR_CASE(cases[i].reason, to_json(&f, value_find(v, "status", "acceptedNames")),
                                str_from(cases[i].accepted));
                /* Once the names are free, they are taken. */
                MUST(&f, delete_with(&f, crd_key("widgets.example.org"), PROPAGATE_UNSET));
                settle(&f);
                ASSERT(!get(&f, crd_key("widgets.example.org")));
                ASSERT_STR_CASE(cases[i].reason, conditions(&f, get(&f, key)),
                                STR("NamesAccepted=True/NoConflicts Established=True/InitialNamesAccepted"));
                MUST(&f,
                     create(&f, JSON(&f,
                                     "{'apiVersion':'example.org/v1','kind':'%s','metadata':{'name':'a','namespace':"
                                     "'default'}}",
                                     cases[i].kind)));
        }
}

TEST(a_deleted_crd_takes_its_instances_along)
{
        _cleanup_fixture_ struct fixture f;
        struct object_key key = crd_key("widgets.example.org");
        struct watch_request req = { .gvk = widget_gvk() };
        struct write_result result;
        struct watch_event e;
        struct watch *w;

        strict_fixture(&f);
        MUST(&f, create(&f, widgets_crd(&f)));
        MUST(&f, create(&f, widget(&f, "default", "a", "")));
        MUST(&f, create(&f, widget(&f, "default", "held", "'finalizers':['a.b/c']")));
        MUST(&f, cluster_watch(f.cluster, &f.run, &req, &w, &f.err));
        MUST(&f, write_request(&f, (struct write_request) { .verb = WRITE_DELETE, .key = key }, &result));
        ASSERT(!result.is_removed && meta_is_deleting(result.value));
        ASSERT(meta_has_finalizer(result.value, STR("customresourcecleanup.apiextensions.k8s.io")));
        ASSERT_INT(meta_generation(result.value), 1);
        ASSERT_STR(conditions(&f, result.value),
                   STR("NamesAccepted=True/NoConflicts Established=True/InitialNamesAccepted "
                       "Terminating=True/InstanceDeletionPending"));
        settle(&f);
        ASSERT_STR(conditions(&f, get(&f, key)),
                   STR("NamesAccepted=True/NoConflicts Established=True/InitialNamesAccepted "
                       "Terminating=True/InstanceDeletionInProgress"));
        ASSERT(!get(&f, key_of(widget_gvk(), "default", "a")));
        ASSERT_INT(create(&f, widget(&f, "default", "b", "")), ERR_FORBIDDEN);
        ASSERT_TEXT(err_message(&f.err),
                    "widgets.example.org \"b\" is forbidden: create not allowed while custom resource "
                    "definition is terminating");
        MUST(&f,
             merge(&f, key_of(widget_gvk(), "default", "held"), JSON(&f, "{'metadata':{'finalizers':null}}"), NULL));
        settle(&f);
        ASSERT(!get(&f, key));
        for (int i = 0, deleted = 0; deleted < 2; i++) {
                MUST(&f, watch_next(w, &f.run, &e, &f.err));
                deleted += e.type == WATCH_DELETED;
        }
        ASSERT_INT(watch_next(w, &f.run, &e, &f.err), ERR_CLOSED);
        watch_free(w);
        ASSERT_INT(cluster_watch(f.cluster, &f.run, &req, &w, &f.err), ERR_NOT_FOUND);
        ASSERT_INT(create(&f, widget(&f, "default", "c", "")), ERR_NOT_FOUND);
        MUST(&f, create(&f, widgets_crd(&f)));
        MUST(&f, create(&f, widget(&f, "default", "c", "")));
}

/* The kind of the owner goes before the collector looks at the dependent; the owner is known to be gone all the same. */
TEST(a_deleted_crd_takes_what_its_instances_own_along)
{
        _cleanup_fixture_ struct fixture f;
        struct object_key child =
                key_of((struct gvk) { STR("example.org"), STR("v1"), STR("Gizmo") }, "default", "child");
        const struct value *owner;

        strict_fixture(&f);
        MUST(&f, create(&f, widgets_crd(&f)));
        MUST(&f, create(&f, crd_named(&f, "gizmos", "Gizmo", "")));
        MUST(&f, create(&f, widget(&f, "default", "owner", "")));
        owner = get(&f, key_of(widget_gvk(), "default", "owner"));
        MUST(&f, create(&f, JSON(&f,
                                 "{'apiVersion':'example.org/"
                                 "v1','kind':'Gizmo','metadata':{'name':'child','namespace':'default',"
                                 "'ownerReferences':[{'apiVersion':'example.org/"
                                 "v1','kind':'Widget','name':'owner','uid':'%.*s'}]}}",
                                 STR_ARG(meta_uid(owner)))));
        settle(&f);
        ASSERT(get(&f, child));
        MUST(&f, delete_with(&f, crd_key("widgets.example.org"), PROPAGATE_UNSET));
        settle(&f);
        ASSERT(!get(&f, crd_key("widgets.example.org")));
        ASSERT(!get(&f, child));
        ASSERT(collector_count_waiting(f.store) == 0);
}

static const struct value *with_version(struct fixture *f, const struct value *crd, const char *versions)
{
        const struct value *spec = value_get(crd, STR("spec"));

        return value_with(&f->arena, crd, STR("spec"),
                          value_with(&f->arena, spec, STR("versions"), JSON(f, "%s", versions)));
}

#define SCHEMA(text)                                                                                                   \
        "'schema':{'openAPIV3Schema':{'type':'object','properties':{'spec':{'type':'object','properties':{" text "}}}" \
        "}}"

TEST(a_changed_crd_ends_watches_and_shows_at_once)
{
        _cleanup_fixture_ struct fixture f;
        struct object_key crd = crd_key("widgets.example.org"), key = key_of(widget_gvk(), "default", "a");
        struct write_request req = { .verb = WRITE_UPDATE, .key = crd };
        struct watch_request watch = { .gvk = widget_gvk() };
        struct watch_event e;
        struct watch *w;
        const struct value *v;

        strict_fixture(&f);
        MUST(&f, create(&f, widgets_crd(&f)));
        MUST(&f,
             create(&f,
                    JSON(&f,
                         "{'apiVersion':'example.org/v1','kind':'Widget','metadata':{'name':'a','namespace':'default'},"
                         "'spec':{'size':3}}")));
        MUST(&f, cluster_watch(f.cluster, &f.run, &watch, &w, &f.err));
        /* A status write of the CRD changes nothing for its kind. */
        MUST(&f, merge(&f, crd, JSON(&f, "{'metadata':{'labels':{'x':'y'}}}"), NULL));
        req.body =
                with_version(&f, get(&f, crd),
                             "[{'name':'v1','served':true,'storage':false," SCHEMA(
                                     "'size':{'type':'integer'}") "},"
                                                                  "{'name':'v2','served':true,'storage':true," SCHEMA(
                                                                          "'size':{'type':'integer'},'color':{'type':'"
                                                                          "string','default':'red'}") "}]");
        MUST(&f, write_request(&f, req, NULL));
        MUST(&f, watch_next(w, &f.run, &e, &f.err));
        ASSERT_INT(e.type, WATCH_ADDED);
        ASSERT_INT(watch_next(w, &f.run, &e, &f.err), ERR_CLOSED);
        watch_free(w);
        ASSERT_STR(to_json(&f, value_find(get(&f, crd), "status", "storedVersions")), STR("[\"v1\",\"v2\"]"));
        /* An object that was stored before is read with the new schema, and its resourceVersion stays. */
        key.gvk.version = STR("v2");
        v = get(&f, key);
        ASSERT_STR(value_str(value_get(v, STR("apiVersion"))), STR("example.org/v2"));
        ASSERT_STR(value_str(value_find(v, "spec", "color")), STR("red"));
        ASSERT_STR(meta_resource_version(v), STR("8"));
        key.gvk.version = STR("v1");
        v = get(&f, key);
        ASSERT_STR(value_str(value_get(v, STR("apiVersion"))), STR("example.org/v1"));
        ASSERT(!value_find(v, "spec", "color"));
        /* A version that is not served is not there. */
        req.body =
                with_version(&f, get(&f, crd),
                             "[{'name':'v1','served':false,'storage':false," SCHEMA(
                                     "'size':{'type':'integer'}") "},"
                                                                  "{'name':'v2','served':true,'storage':true," SCHEMA(
                                                                          "'size':{'type':'integer'}") "}]");
        MUST(&f, write_request(&f, req, NULL));
        ASSERT(!get(&f, key));
        ASSERT_TEXT(err_message(&f.err), "no matches for kind \"Widget\" in version \"example.org/v1\"");
}

TEST(watches_and_lists_come_in_the_version_asked_for)
{
        _cleanup_fixture_ struct fixture f;
        struct watch_request watch = { .gvk = { STR("example.org"), STR("v2"), STR("Widget") } };
        struct list_request list = { .gvk = watch.gvk };
        struct write_request req = { .verb = WRITE_CREATE };
        struct write_result result;
        struct object_list l;
        struct watch_event e;
        struct watch *w;

        strict_fixture(&f);
        MUST(&f,
             create(&f,
                    with_version(
                            &f, widgets_crd(&f),
                            "[{'name':'v1','served':true,'storage':true," SCHEMA(
                                    "'size':{'type':'integer'}") "},"
                                                                 "{'name':'v2','served':true,'storage':false," SCHEMA(
                                                                         "'size':{'type':'integer'}") "}]")));
        MUST(&f, cluster_watch(f.cluster, &f.run, &watch, &w, &f.err));
        MUST(&f, create(&f, widget(&f, "default", "a", "")));
        req.key = key_of(watch.gvk, "default", "b");
        req.body =
                JSON(&f,
                     "{'apiVersion':'example.org/v2','kind':'Widget','metadata':{'name':'b','namespace':'default'}}");
        MUST(&f, write_request(&f, req, &result));
        ASSERT_STR(value_str(value_get(result.value, STR("apiVersion"))), STR("example.org/v2"));
        ASSERT_STR(value_str(value_get(object_value(result.object, &f.arena), STR("apiVersion"))),
                   STR("example.org/v2"));
        for (int i = 0; i < 2; i++) {
                MUST(&f, watch_next(w, &f.run, &e, &f.err));
                ASSERT_STR(value_str(value_get(object_value(e.object, &f.arena), STR("apiVersion"))),
                           STR("example.org/v2"));
                ASSERT_INT(e.version, 8 + i);
        }
        MUST(&f, cluster_list(f.cluster, &f.run, &list, &l, &f.err));
        ASSERT_INT(l.n, 2);
        ASSERT_STR(value_str(value_get(object_list_value(&l, 1, &f.arena), STR("apiVersion"))), STR("example.org/v2"));
        watch_free(w);
}

TEST(a_crd_describes_what_was_there_without_one)
{
        _cleanup_fixture_ struct fixture f;
        struct watch_request watch = { .gvk = widget_gvk() };
        struct watch_event e;
        struct watch *w;

        fixture_init(&f);
        MUST(&f, cluster_watch(f.cluster, &f.run, &watch, &w, &f.err));
        MUST(&f,
             create(&f,
                    JSON(&f,
                         "{'apiVersion':'example.org/v1','kind':'Widget','metadata':{'name':'a','namespace':'default'},"
                         "'spec':{'odd':1}}")));
        MUST(&f, watch_next(w, &f.run, &e, &f.err));
        MUST(&f, create(&f, widgets_crd(&f)));
        ASSERT_INT(watch_next(w, &f.run, &e, &f.err), ERR_CLOSED);
        watch_free(w);
        ASSERT_STR(to_json(&f, value_get(get(&f, key_of(widget_gvk(), "default", "a")), STR("spec"))),
                   STR("{\"size\":1}"));
}

TEST(instances_of_an_owner_kind_that_comes_late)
{
        _cleanup_fixture_ struct fixture f;

        strict_fixture(&f);
        MUST(&f,
             create(&f, JSON(&f, "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'a','namespace':'default',"
                                 "'ownerReferences':[{'apiVersion':'example.org/"
                                 "v1','kind':'Widget','name':'w','uid':'x'}]}}")));
        settle(&f);
        ASSERT(get(&f, key_of(config_map_gvk(), "default", "a")));
        MUST(&f, create(&f, widgets_crd(&f)));
        settle(&f);
        ASSERT(!get(&f, key_of(config_map_gvk(), "default", "a")));
}

TEST(what_is_stored_in_a_version_that_is_not_served_can_be_collected)
{
        _cleanup_fixture_ struct fixture f;
        struct object_key crd = crd_key("widgets.example.org"), key = key_of(widget_gvk(), "default", "a");
        struct write_request req = { .verb = WRITE_UPDATE, .key = crd };
        struct str uid;

        strict_fixture(&f);
        MUST(&f, create(&f, widgets_crd(&f)));
        MUST(&f, create(&f, widget(&f, "default", "owner", "")));
        uid = meta_uid(get(&f, key_of(widget_gvk(), "default", "owner")));
        MUST(&f,
             create(&f,
                    widget(&f, "default", "a",
                           quoted(&f,
                                  "'ownerReferences':[{'apiVersion':'example.org/v1','kind':'Widget','name':'owner',"
                                  "'uid':'%.*s'}]",
                                  STR_ARG(uid)))));
        req.body =
                with_version(&f, get(&f, crd),
                             "[{'name':'v1','served':false,'storage':true," SCHEMA(
                                     "'size':{'type':'integer'}") "},"
                                                                  "{'name':'v2','served':true,'storage':false," SCHEMA(
                                                                          "'size':{'type':'integer'}") "}]");
        MUST(&f, write_request(&f, req, NULL));
        key.gvk.version = STR("v2");
        ASSERT(get(&f, key));
        MUST(&f, delete_with(&f, key_of(key.gvk, "default", "owner"), PROPAGATE_BACKGROUND));
        settle(&f);
        ASSERT(!get(&f, key));
}

struct creator {
        struct fixture *f;
        const struct value *crd;
        int result;
};

static void create_crd(void *arg)
{
        struct creator *c = arg;
        struct arena a;
        struct run run = { .arena = &a, .deadline = DEADLINE_NONE };
        struct write_request req = { .verb = WRITE_CREATE, .key = object_key_of(c->crd), .body = c->crd };
        struct write_result result;

        arena_init(&a, "creator", 0);
        c->result = cluster_write(c->f->cluster, &run, &req, &result, NULL);
        arena_done(&a);
}

/* Two CRDs want one kind at the same time: in every order one of them gets it. */
static void race_for_names(void *arg)
{
        static const char *const plurals[] = { "ones", "twos" };
        struct creator creators[2];
        struct thread *threads[2];
        struct fixture f;
        size_t n_established = 0;

        strict_fixture(&f);
        for (int i = 0; i < 2; i++) {
                creators[i] = (struct creator) { .f = &f, .crd = crd_named(&f, plurals[i], "Thing", "") };
                ASSERT_INT(thread_start("creator", create_crd, &creators[i], &threads[i], NULL), 0);
        }
        for (int i = 0; i < 2; i++) {
                thread_join(threads[i]);
                SIM_ASSERT(creators[i].result == 0);
        }
        for (int i = 0; i < 2; i++) {
                const struct value *v = get(&f, crd_key(quoted(&f, "%s.example.org", plurals[i])));

                n_established += str_find(conditions(&f, v), STR("Established=True")) >= 0;
        }
        SIM_ASSERT(n_established == 1);
        fixture_done(&f);
}

TEST(a_race_for_names_has_one_winner)
{
        _cleanup_err_ struct err err = { 0 };

        if (sim_explore(1, 40, NULL, race_for_names, NULL, NULL, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
}

/* --- Refusals --- */

struct gate {
        _Atomic bool is_closed;
        _Atomic int n_refused;
};

static int refuse_status(void *arg, struct run *run, struct admission *admission, struct err *err)
{
        struct gate *gate = arg;

        if (!gate->is_closed || !str_equal(admission->request->subresource, STR("status")))
                return 0;
        gate->n_refused++;
        return err_set(err, ERR_FORBIDDEN, "the gate is closed");
}

/* The store tries again after a while, and does not run in circles meanwhile. */
TEST(names_that_could_not_be_written_are_tried_again)
{
        _cleanup_fixture_ struct fixture f;
        struct gate gate = { .is_closed = true };
        struct admission_hook hook = { .name = "gate", .admit = refuse_status, .arg = &gate };
        struct watch_request watch = { .gvk = crd_gvk(), .sends_initial_events = true };
        struct watch_event e = { 0 };
        struct watch *w;

        strict_fixture(&f);
        store_add_hook(f.store, &hook);
        ASSERT_INT(create(&f, widgets_crd(&f)), ERR_FORBIDDEN);
        f.run.deadline = deadline_after_ms(20000);
        settle(&f);
        ASSERT(gate.n_refused >= 2 && gate.n_refused < 20);
        gate.is_closed = false;
        MUST(&f, cluster_watch(f.cluster, &f.run, &watch, &w, &f.err));
        while (!e.object || !str_starts_with(conditions(&f, object_value(e.object, &f.arena)),
                                             STR("NamesAccepted=True/NoConflicts Established=True")))
                MUST(&f, watch_next(w, &f.run, &e, &f.err));
        watch_free(w);
}

/* --- The catalogue --- */

static struct kind_list kinds(struct fixture *f)
{
        struct kind_list list;

        MUST(f, cluster_kinds(f->cluster, &f->run, &list, &f->err));
        ASSERT_INT(list.version, cluster_kinds_version(f->cluster));
        return list;
}

/* Some built-in kinds, and all others. */
static bool is_shown(const struct kind *k)
{
        return str_equal(k->group, STR("apiextensions.k8s.io")) || str_equal(k->group, STR("batch")) ||
               str_equal(k->group, STR("coordination.k8s.io")) || str_equal(k->group, STR("example.org"));
}

/* `plural.group`, joined by blanks; with a `-` behind those that are terminating. */
static struct str kind_names(struct fixture *f)
{
        struct kind_list list = kinds(f);
        struct str all = STR("");

        for (size_t i = 0; i < list.n; i++)
                if (is_shown(list.kinds[i].kind))
                        all = arena_printf(&f->arena, "%.*s%s%.*s.%.*s%s", STR_ARG(all), all.n ? " " : "",
                                           STR_ARG(list.kinds[i].kind->plural), STR_ARG(list.kinds[i].kind->group),
                                           list.kinds[i].is_terminating ? "-" : "");
        return all;
}

static int find_resource(struct fixture *f, const char *group, const char *version, const char *plural,
                         const struct kind **ret)
{
        struct gvr gvr = { str_from(group), str_from(version), str_from(plural) };

        err_done(&f->err);
        f->err = (struct err) { 0 };
        return cluster_resource(f->cluster, &f->run, gvr, ret, &f->err);
}

#define CORE_KINDS "customresourcedefinitions.apiextensions.k8s.io cronjobs.batch jobs.batch "

TEST(kinds_are_listed_and_found_by_plural)
{
        _cleanup_fixture_ struct fixture f;
        const struct kind *kind;

        strict_fixture(&f);
        ASSERT_STR(kind_names(&f), STR(CORE_KINDS "leases.coordination.k8s.io"));
        ASSERT_INT(find_resource(&f, "example.org", "v1", "widgets", &kind), ERR_NOT_FOUND);
        ASSERT_TEXT(err_message(&f.err), "no matches for example.org/v1, Resource=widgets");
        MUST(&f, create(&f, widgets_crd(&f)));
        ASSERT_STR(kind_names(&f), STR(CORE_KINDS "leases.coordination.k8s.io widgets.example.org"));
        MUST(&f, find_resource(&f, "example.org", "v1", "widgets", &kind));
        ASSERT_STR(kind->kind, STR("Widget"));
        ASSERT_INT(find_resource(&f, "example.org", "v2", "widgets", &kind), ERR_NOT_FOUND);
        ASSERT_INT(find_resource(&f, "", "v1", "widgets", &kind), ERR_NOT_FOUND);
        MUST(&f, find_resource(&f, "", "v1", "configmaps", &kind));
        ASSERT_STR(kind->kind, STR("ConfigMap"));
}

TEST(the_version_of_the_catalogue_changes_with_it)
{
        _cleanup_fixture_ struct fixture f;
        const struct kind *kind;
        uint64_t version;

        strict_fixture(&f);
        version = cluster_kinds_version(f.cluster);
        MUST(&f, create(&f, widgets_crd(&f)));
        ASSERT(cluster_kinds_version(f.cluster) > version);
        version = cluster_kinds_version(f.cluster);
        /* Neither objects nor labels of a CRD are part of it. */
        MUST(&f, create(&f, widget(&f, "default", "a", "'finalizers':['example.org/x']")));
        MUST(&f, merge(&f, crd_key("widgets.example.org"), JSON(&f, "{'metadata':{'labels':{'a':'b'}}}"), NULL));
        ASSERT_INT(cluster_kinds_version(f.cluster), version);
        MUST(&f, merge(&f, crd_key("widgets.example.org"), JSON(&f, "{'spec':{'names':{'shortNames':['w']}}}"), NULL));
        ASSERT(cluster_kinds_version(f.cluster) > version);
        version = cluster_kinds_version(f.cluster);
        MUST(&f, delete_with(&f, crd_key("widgets.example.org"), PROPAGATE_UNSET));
        MUST(&f, store_settle(f.store, &f.run, &f.err));
        ASSERT_STR(kind_names(&f), STR(CORE_KINDS "leases.coordination.k8s.io widgets.example.org-"));
        ASSERT(cluster_kinds_version(f.cluster) > version);
        version = cluster_kinds_version(f.cluster);
        MUST(&f, merge(&f, key_of(widget_gvk(), "default", "a"), JSON(&f, "{'metadata':{'finalizers':null}}"), NULL));
        MUST(&f, store_settle(f.store, &f.run, &f.err));
        ASSERT_STR(kind_names(&f), STR(CORE_KINDS "leases.coordination.k8s.io"));
        ASSERT(cluster_kinds_version(f.cluster) > version);
        ASSERT_INT(find_resource(&f, "example.org", "v1", "widgets", &kind), ERR_NOT_FOUND);
}

/* Kinds nobody described: `Boxs` and `Boxse` are both guessed to be `boxses`. */
TEST(a_plural_that_two_kinds_want_goes_to_the_next_when_the_first_goes)
{
        _cleanup_fixture_ struct fixture f;
        const struct kind *kind;

        fixture_init(&f);
        MUST(&f, create(&f, JSON(&f, "{'apiVersion':'e.org/v1','kind':'Boxs','metadata':{'name':'a'}}")));
        MUST(&f, create(&f, JSON(&f, "{'apiVersion':'e.org/v1','kind':'Boxse','metadata':{'name':'a'}}")));
        MUST(&f, find_resource(&f, "e.org", "v1", "boxses", &kind));
        ASSERT_STR(kind->kind, STR("Boxs"));
        MUST(&f,
             create(&f, JSON(&f, "{'apiVersion':'apiextensions.k8s.io/v1','kind':'CustomResourceDefinition','metadata':"
                                 "{'name':'boxes.e.org'},'spec':{'group':'e.org','scope':'Cluster','names':{'plural':"
                                 "'boxes','kind':'Boxs'},'versions':[{'name':'v1','served':true,'storage':true,"
                                 "'schema':{'openAPIV3Schema':{'type':'object'}}}]}}")));
        MUST(&f, find_resource(&f, "e.org", "v1", "boxes", &kind));
        ASSERT_STR(kind->kind, STR("Boxs"));
        MUST(&f, find_resource(&f, "e.org", "v1", "boxses", &kind));
        ASSERT_STR(kind->kind, STR("Boxse"));
}

TEST(discovery_knows_verbs_and_subresources)
{
        _cleanup_fixture_ struct fixture f;
        const struct kind *kind;
        const struct kind_version *v;

        fixture_init(&f);
        MUST(&f, find_resource(&f, "", "v1", "namespaces", &kind));
        v = kind_served_version(kind, STR("v1"));
        ASSERT_INT(v->verbs, VERBS_ALL & ~VERB_DELETE_COLLECTION);
        ASSERT_INT(v->n_subresources, 2);
        ASSERT_STR(v->subresources[0].name, STR("finalize"));
        ASSERT_INT(v->subresources[0].verbs, VERB_UPDATE);
        ASSERT_STR(v->subresources[1].name, STR("status"));
        ASSERT_STR(v->subresources[1].gvk.kind, STR("Namespace"));
        ASSERT_STR(kind_verb_name(VERB_DELETE_COLLECTION), STR("deletecollection"));
        ASSERT_STR(kind_verb_name(VERB_WATCH), STR("watch"));
}
