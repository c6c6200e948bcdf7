/* Usages on a store with all controllers: what they mark, what they refuse, and the order in which things go. The texts are those of
 * Crossplane 2.4.2 on a real API. */
#include "plane-test.h"

#include "random.h"
#include "sim.h"
#include "status.h"
#include "usage.h"

static struct object_key config_map(const char *ns, const char *name)
{
        return key_of(config_map_gvk(), ns, name);
}

static struct object_key usage_key(const char *name)
{
        return key_of(usage_gvk(USAGE_NAMESPACED), "default", name);
}

static void make_config_map(struct world *w, const char *ns, const char *name, const char *labels)
{
        MUST(&w->f, create(&w->f, JSON(&w->f,
                                       "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'%s','namespace':'%s',"
                                       "'labels':{%s}}}",
                                       name, ns, labels)));
}

/* A Usage of a ConfigMap in default; spec in JSON. */
static void make_usage(struct world *w, const char *name, const char *labels, const char *spec)
{
        MUST(&w->f, create(&w->f, JSON(&w->f,
                                       "{'apiVersion':'protection.crossplane.io/v1beta1','kind':'Usage',"
                                       "'metadata':{'name':'%s','namespace':'default','labels':{%s}},'spec':{%s}}",
                                       name, labels, spec)));
}

#define OF(name) "'of':{'apiVersion':'v1','kind':'ConfigMap','resourceRef':{'name':'" name "'}}"
#define BY(name) "'by':{'apiVersion':'v1','kind':'ConfigMap','resourceRef':{'name':'" name "'}}"

static bool is_marked(struct world *w, struct object_key key)
{
        return str_equal(meta_label(get(&w->f, key), USAGE_IN_USE), STR("true"));
}

static const char *attempt(struct world *w, struct object_key key)
{
        return arena_cstring(&w->f.arena, meta_annotation(get(&w->f, key), USAGE_DELETION_ATTEMPT));
}

static bool exists(struct world *w, struct object_key key)
{
        return get(&w->f, key) != NULL;
}

/* The Status that a client gets for a refused delete. */
static const char *refusal(struct world *w, struct object_key key, enum propagation propagation)
{
        struct value status;

        if (delete_with(&w->f, key, propagation) == 0)
                return "deleted";
        status = status_of_err(&w->f.arena, &w->f.err);
        return arena_cstring(&w->f.arena, to_json(&w->f, &status));
}

static const char *events_about(struct world *w, const char *name)
{
        struct list_request req = { .gvk = { STR(""), STR("v1"), STR("Event") } };
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct object_list list;

        MUST(&w->f, cluster_list(w->f.cluster, &w->f.run, &req, &list, &w->f.err));
        for (size_t i = 0; i < list.n; i++) {
                const struct value *e = object_list_value(&list, i, &w->f.arena);

                if (str_equal(value_str(value_find(e, "involvedObject", "name")), str_from(name)))
                        buf_appendf(&b, "%.*s %.*s: %.*s (%.*s)\n", STR_ARG(value_str(value_find(e, "type"))),
                                    STR_ARG(value_str(value_find(e, "reason"))),
                                    STR_ARG(value_str(value_find(e, "message"))),
                                    STR_ARG(value_str(value_find(e, "source", "component"))));
        }
        return arena_cstring(&w->f.arena, buf_to_arena(&b, &w->f.arena));
}

TEST(a_used_object_is_marked_and_cannot_be_deleted)
{
        const struct value *usage, *owner;
        struct object_key used = config_map("default", "used");
        struct list_request list = { .gvk = config_map_gvk(), .ns = STR("default") };
        struct write_request deletion = { .verb = WRITE_DELETE };
        struct object_list deleted;
        uint64_t version;
        struct world w;

        world_init(&w);
        make_config_map(&w, "default", "used", "'app':'db'");
        make_config_map(&w, "default", "user", "");
        make_usage(&w, "u1", "",
                   BY("user") ",'of':{'apiVersion':'v1','kind':'ConfigMap','resourceSelector':"
                              "{'matchLabels':{'app':'db'}}}");
        make_usage(&w, "u2", "", OF("used") ",'reason':'because'");
        quiet(&w);
        usage = get(&w.f, usage_key("u1"));
        ASSERT_TEXT(condition_text(&w, usage, "Ready"), "True/Available");
        ASSERT_STR(value_str(value_find(usage, "spec", "of", "resourceRef", "name")), STR("used"));
        ASSERT(!value_find(usage, "spec", "of", "resourceRef", "namespace"));
        ASSERT_STR(meta_annotation(usage, USAGE_DETAILS), STR("ConfigMap/user uses ConfigMap/used"));
        ASSERT(meta_has_finalizer(usage, USAGE_FINALIZER));
        owner = value_item(value_get(meta(usage), STR("ownerReferences")), 0);
        ASSERT_STR(value_str(value_get(owner, STR("uid"))), meta_uid(get(&w.f, config_map("default", "user"))));
        ASSERT(!value_get(owner, STR("controller")) && !value_get(owner, STR("blockOwnerDeletion")));
        ASSERT_STR(meta_annotation(get(&w.f, usage_key("u2")), USAGE_DETAILS), STR("because"));
        ASSERT_TEXT(events_about(&w, "u1"), "Normal UsageConfigured: Usage configured successfully. "
                                            "(usage/usage.protection.crossplane.io)\n");
        ASSERT(is_marked(&w, used));

        /* A dry run is refused and changes nothing. */
        version = store_version(w.f.store);
        deletion.key = used;
        deletion.is_dry_run = true;
        ASSERT_INT(write_request(&w.f, deletion, NULL), ERR_FORBIDDEN);
        ASSERT_INT(store_version(w.f.store), version);
        ASSERT_TEXT(
                refusal(&w, used, PROPAGATE_UNSET),
                "{\"apiVersion\":\"v1\",\"code\":409,\"kind\":\"Status\",\"message\":\"admission webhook "
                "\\\"nousages.protection.crossplane.io\\\" denied the request: This resource is in-use by 2 usage(s), "
                "including the *v1beta1.Usage \\\"u1\\\" (in namespace \\\"default\\\") by resource "
                "ConfigMap/user.\",\"metadata\":{},\"reason\":\"This resource is in-use by 2 usage(s), including the "
                "*v1beta1.Usage \\\"u1\\\" (in namespace \\\"default\\\") by resource "
                "ConfigMap/user.\",\"status\":\"Failure\"}");
        ASSERT_TEXT(attempt(&w, used), "Background");
        refusal(&w, used, PROPAGATE_FOREGROUND);
        ASSERT_TEXT(attempt(&w, used), "Foreground");
        refusal(&w, used, PROPAGATE_ORPHAN);
        ASSERT_TEXT(attempt(&w, used), "Orphan");
        deletion.is_dry_run = false;
        ASSERT_INT(cluster_delete_collection(w.f.cluster, &w.f.run, &list, &deletion, &deleted, &w.f.err),
                   ERR_FORBIDDEN);
        ASSERT(exists(&w, used));

        /* The label goes with the last usage; the annotation stays. */
        MUST(&w.f, delete_with(&w.f, usage_key("u1"), PROPAGATE_UNSET));
        quiet(&w);
        ASSERT(!exists(&w, usage_key("u1")));
        ASSERT(is_marked(&w, used));
        refusal(&w, used, PROPAGATE_UNSET);
        ASSERT(str_find(
                       str_from(err_message(&w.f.err)),
                       STR("by 1 usage(s), including the *v1beta1.Usage \"u2\" (in namespace \"default\") with reason: "
                           "\"because\".")) > 0);
        MUST(&w.f, delete_with(&w.f, usage_key("u2"), PROPAGATE_UNSET));
        quiet(&w);
        ASSERT(!is_marked(&w, used));
        ASSERT_TEXT(attempt(&w, used), "Background");
        MUST(&w.f, delete_with(&w.f, used, PROPAGATE_UNSET));
        world_done(&w);
}

TEST(nothing_is_written_twice)
{
        uint64_t version;
        struct world w;

        world_init(&w);
        make_config_map(&w, "default", "used", "");
        make_config_map(&w, "default", "user", "");
        make_usage(&w, "u1", "", OF("used") "," BY("user"));
        quiet(&w);
        version = store_version(w.f.store);
        plane_stop(&w);
        plane_start(&w);
        quiet(&w);
        ASSERT_TEXT(writes_since(&w, version), "");

        /* A label that somebody removes comes back. */
        MUST(&w.f, merge(&w.f, config_map("default", "used"),
                         JSON(&w.f, "{'metadata':{'labels':{'crossplane.io/in-use':null}}}"), NULL));
        quiet(&w);
        ASSERT(is_marked(&w, config_map("default", "used")));
        world_done(&w);
}

TEST(a_usage_goes_with_its_user)
{
        struct world w;

        world_init(&w);
        make_config_map(&w, "default", "used", "");
        make_config_map(&w, "default", "user", "");
        make_usage(&w, "u1", "", OF("used") "," BY("user"));
        make_usage(&w, "u2", "", OF("used") "," BY("user"));
        quiet(&w);
        MUST(&w.f, delete_with(&w.f, config_map("default", "user"), PROPAGATE_UNSET));
        quiet(&w);
        ASSERT(!exists(&w, usage_key("u1")) && !exists(&w, usage_key("u2")));
        ASSERT(exists(&w, config_map("default", "used")) && !is_marked(&w, config_map("default", "used")));
        world_done(&w);
}

TEST(a_refused_deletion_is_replayed)
{
        struct world w;

        world_init(&w);
        make_config_map(&w, "default", "used", "");
        make_config_map(&w, "default", "user", "");
        make_config_map(&w, "default", "quiet", "");
        make_usage(&w, "u1", "", OF("used") "," BY("user") ",'replayDeletion':true");
        make_usage(&w, "u2", "", OF("quiet") "," BY("user") ",'replayDeletion':true");
        quiet(&w);
        refusal(&w, config_map("default", "used"), PROPAGATE_FOREGROUND);
        MUST(&w.f, delete_with(&w.f, config_map("default", "user"), PROPAGATE_UNSET));
        quiet(&w);
        ASSERT(!exists(&w, config_map("default", "used")));
        ASSERT(exists(&w, config_map("default", "quiet"))); /* nobody tried to delete it */
        world_done(&w);
}

TEST(what_is_missing_is_told_and_waited_for)
{
        struct world w;

        world_init(&w);
        make_config_map(&w, "default", "used", "");
        make_usage(&w, "no-used", "", OF("nothere") ",'reason':'x'");
        make_usage(&w, "no-user", "", OF("used") "," BY("nothere"));
        make_usage(&w, "no-match", "",
                   "'reason':'x','of':{'apiVersion':'v1','kind':'ConfigMap','resourceSelector':{'matchLabels':"
                   "{'b':'c','a':'none'}}}");
        make_usage(&w, "no-controller", "",
                   "'reason':'x','of':{'apiVersion':'v1','kind':'ConfigMap','resourceSelector':"
                   "{'matchControllerRef':true}}");
        make_usage(
                &w, "no-kind", "",
                "'reason':'x','of':{'apiVersion':'none.example.org/v1','kind':'Nothing','resourceRef':{'name':'a'}}");
        quiet(&w);
        ASSERT_TEXT(events_about(&w, "no-used"), "Warning GetUsedResource: cannot get used: configmaps \"nothere\" not "
                                                 "found (usage/usage.protection.crossplane.io)\n");
        ASSERT_TEXT(events_about(&w, "no-user"),
                    "Warning GetUsingResource: cannot get using: configmaps \"nothere\" not "
                    "found (usage/usage.protection.crossplane.io)\n");
        ASSERT_TEXT(
                events_about(&w, "no-match"),
                "Warning ResolveSelectors: cannot resolve selectors: cannot resolve selector at "
                "\"spec.of.resourceSelector\": no \"ConfigMap\" found matching labels: map[\"a\":\"none\" \"b\":\"c\"] "
                "(usage/usage.protection.crossplane.io)\n");
        ASSERT_TEXT(
                events_about(&w, "no-controller"),
                "Warning ResolveSelectors: cannot resolve selectors: cannot resolve selector at "
                "\"spec.of.resourceSelector\": no \"ConfigMap\" found matching labels: map[] and with same controller "
                "reference (usage/usage.protection.crossplane.io)\n");
        ASSERT_TEXT(events_about(&w, "no-kind"),
                    "Warning GetUsedResource: cannot get used: no matches for kind \"Nothing\" in version "
                    "\"none.example.org/v1\" (usage/usage.protection.crossplane.io)\n");
        ASSERT(!value_find(get(&w.f, usage_key("no-used")), "status", "conditions"));
        ASSERT(!meta_has_finalizer(get(&w.f, usage_key("no-match")), USAGE_FINALIZER));
        ASSERT(is_marked(&w, config_map("default", "used"))); /* before its user is looked for */

        make_config_map(&w, "default", "nothere", "'a':'none','b':'c'");
        quiet(&w);
        ASSERT_TEXT(condition_text(&w, get(&w.f, usage_key("no-used")), "Ready"), "True/Available");
        ASSERT_TEXT(condition_text(&w, get(&w.f, usage_key("no-user")), "Ready"), "True/Available");
        ASSERT_TEXT(condition_text(&w, get(&w.f, usage_key("no-match")), "Ready"), "True/Available");
        MUST(&w.f, delete_with(&w.f, usage_key("no-kind"), PROPAGATE_UNSET));
        quiet(&w);
        ASSERT(!exists(&w, usage_key("no-kind")));
        world_done(&w);
}

static struct object_key namespace_named(const char *name)
{
        return key_of((struct gvk) { STR(""), STR("v1"), STR("Namespace") }, "", name);
}

static void make_cluster_usage(struct world *w, const char *type, const char *name, const char *spec)
{
        MUST(&w->f, create(&w->f, JSON(&w->f, "{%s,'metadata':{'name':'%s'},'spec':{%s}}", type, name, spec)));
}

#define CLUSTER_USAGE "'apiVersion':'protection.crossplane.io/v1beta1','kind':'ClusterUsage'"
#define LEGACY_USAGE  "'apiVersion':'apiextensions.crossplane.io/v1beta1','kind':'Usage'"
#define OF_NS(name)   "'of':{'apiVersion':'v1','kind':'Namespace','resourceRef':{'name':'" name "'}}"
#define BY_NS(name)   "'by':{'apiVersion':'v1','kind':'Namespace','resourceRef':{'name':'" name "'}}"

TEST(usages_of_the_cluster)
{
        struct object_key one = namespace_named("one");
        struct world w;

        world_init(&w);
        MUST(&w.f, create(&w.f, JSON(&w.f, "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'one'}}")));
        MUST(&w.f, create(&w.f, JSON(&w.f, "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'two'}}")));
        make_cluster_usage(&w, LEGACY_USAGE, "legacy", OF_NS("one") "," BY_NS("two"));
        quiet(&w);
        refusal(&w, one, PROPAGATE_UNSET);
        ASSERT_TEXT(err_message(&w.f.err),
                    "admission webhook \"nousages.protection.crossplane.io\" denied the request: This resource is "
                    "in-use by 1 "
                    "usage(s), including the *v1beta1.Usage \"legacy\" by resource Namespace/two.");
        make_cluster_usage(&w, CLUSTER_USAGE, "cluster", OF_NS("one") "," BY_NS("two") ",'reason':'also'");
        make_usage(&w, "inside", "", OF_NS("one") ",'reason':'x'");
        quiet(&w);
        refusal(&w, one, PROPAGATE_UNSET);
        ASSERT_TEXT(err_message(&w.f.err),
                    "admission webhook \"nousages.protection.crossplane.io\" denied the request: This resource is "
                    "in-use by 3 "
                    "usage(s), including the *v1beta1.Usage \"inside\" (in namespace \"default\") with reason: \"x\".");
        MUST(&w.f, delete_with(&w.f, usage_key("inside"), PROPAGATE_UNSET));
        quiet(&w);
        refusal(&w, one, PROPAGATE_UNSET);
        ASSERT_TEXT(err_message(&w.f.err),
                    "admission webhook \"nousages.protection.crossplane.io\" denied the request: This resource is "
                    "in-use by 2 "
                    "usage(s), including the *v1beta1.ClusterUsage \"cluster\" by resource Namespace/two.");
        ASSERT_TEXT(events_about(&w, "legacy"), "Normal UsageConfigured: Usage configured successfully. "
                                                "(usage/usage.apiextensions.crossplane.io)\n");

        /* A kind with namespaces cannot be named without one. */
        make_cluster_usage(&w, CLUSTER_USAGE, "nowhere", OF("used") ",'reason':'x'");
        quiet(&w);
        ASSERT_TEXT(
                events_about(&w, "nowhere"),
                "Warning GetUsedResource: cannot get used: an empty namespace may not be set when a resource name is "
                "provided (usage/clusterusage.protection.crossplane.io)\n");
        MUST(&w.f, delete_with(&w.f, key_of(usage_gvk(USAGE_CLUSTER), "", "nowhere"), PROPAGATE_UNSET));

        MUST(&w.f, delete_with(&w.f, namespace_named("two"), PROPAGATE_UNSET));
        quiet(&w);
        ASSERT(!is_marked(&w, one));
        MUST(&w.f, delete_with(&w.f, one, PROPAGATE_UNSET));
        quiet(&w);
        ASSERT(!exists(&w, one));
        world_done(&w);
}

/* A usage may protect an object of another namespace for its user. */
TEST(across_namespaces)
{
        struct object_key used = config_map("one", "used");
        struct world w;

        world_init(&w);
        MUST(&w.f, create(&w.f, JSON(&w.f, "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'one'}}")));
        make_config_map(&w, "one", "used", "'x':'y'");
        make_config_map(&w, "default", "used", "'x':'y'");
        make_config_map(&w, "default", "user", "");
        make_usage(&w, "u1", "",
                   BY("user") ",'of':{'apiVersion':'v1','kind':'ConfigMap','resourceSelector':{'namespace':'one',"
                              "'matchLabels':{'x':'y'}}}");
        quiet(&w);
        ASSERT(is_marked(&w, used) && !is_marked(&w, config_map("default", "used")));
        ASSERT_STR(meta_annotation(get(&w.f, usage_key("u1")), USAGE_DETAILS),
                   STR("ConfigMap/user uses ConfigMap/used in namespace one"));
        ASSERT_INT(delete_with(&w.f, used, PROPAGATE_UNSET), ERR_FORBIDDEN);
        MUST(&w.f, delete_with(&w.f, config_map("default", "used"), PROPAGATE_UNSET));
        world_done(&w);
}

/* Deletes of the collector are tried again with a growing delay: waits for a state, not for a time. */
static void until_gone(struct world *w, struct object_key key)
{
        struct deadline end = deadline_after_ms(60000);

        for (quiet(w); exists(w, key); quiet(w)) {
                if (deadline_has_passed(end))
                        test_fail(__FILE__, __LINE__, "%.*s is still there", STR_ARG(key.name));
                thread_sleep(deadline_after_ms(10), NULL);
        }
}

TEST(a_namespace_goes_in_order)
{
        const struct value *ns;
        struct condition failure;
        struct world w;

        world_init(&w);
        MUST(&w.f, create(&w.f, JSON(&w.f, "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'one'}}")));
        make_config_map(&w, "one", "used", "");
        make_config_map(&w, "default", "user", "");
        make_usage(&w, "u1", "",
                   BY("user") ",'of':{'apiVersion':'v1','kind':'ConfigMap','resourceRef':{'name':'used','namespace':'"
                              "one'}}");
        quiet(&w);
        MUST(&w.f, delete_with(&w.f, namespace_named("one"), PROPAGATE_UNSET));
        quiet(&w);
        ASSERT(exists(&w, config_map("one", "used")));
        ns = get(&w.f, namespace_named("one"));
        ASSERT(condition_get(ns, STR("NamespaceDeletionContentFailure"), &failure));
        ASSERT(str_find(failure.message, STR("This resource is in-use by 1 usage(s)")) > 0);
        MUST(&w.f, delete_with(&w.f, config_map("default", "user"), PROPAGATE_UNSET));
        until_gone(&w, namespace_named("one"));
        world_done(&w);
}

static const char xrd[] = "apiVersion: apiextensions.crossplane.io/v2\n"
                          "kind: CompositeResourceDefinition\n"
                          "metadata: {name: apps.example.org}\n"
                          "spec:\n"
                          "  group: example.org\n"
                          "  scope: Namespaced\n"
                          "  names: {kind: App, plural: apps}\n"
                          "  versions:\n"
                          "  - name: v1\n"
                          "    served: true\n"
                          "    referenceable: true\n"
                          "    schema: {openAPIV3Schema: {type: object}}\n";

/* Three resources in a sequence; Usages make them go in the opposite order. */
static const char composition[] = "apiVersion: apiextensions.crossplane.io/v1\n"
                                  "kind: Composition\n"
                                  "metadata: {name: apps}\n"
                                  "spec:\n"
                                  "  compositeTypeRef: {apiVersion: example.org/v1, kind: App}\n"
                                  "  mode: Pipeline\n"
                                  "  pipeline:\n"
                                  "  - step: make\n"
                                  "    functionRef: {name: function-patch-and-transform}\n"
                                  "    input:\n"
                                  "      apiVersion: pt.fn.crossplane.io/v1beta1\n"
                                  "      kind: Resources\n"
                                  "      resources:\n"
                                  "      - name: a\n"
                                  "        base: {apiVersion: v1, kind: ConfigMap, metadata: {labels: {part: a}}}\n"
                                  "        readinessChecks: [{type: None}]\n"
                                  "      - name: b\n"
                                  "        base: {apiVersion: v1, kind: ConfigMap, metadata: {labels: {part: b}}}\n"
                                  "        readinessChecks: [{type: None}]\n"
                                  "      - name: c\n"
                                  "        base: {apiVersion: v1, kind: ConfigMap, metadata: {labels: {part: c}}}\n"
                                  "        readinessChecks: [{type: None}]\n"
                                  "  - step: order\n"
                                  "    functionRef: {name: function-sequencer}\n"
                                  "    input:\n"
                                  "      apiVersion: sequencer.fn.crossplane.io/v1beta1\n"
                                  "      kind: Input\n"
                                  "      enableDeletionSequencing: true\n"
                                  "      rules: [{sequence: [a, b, c]}]\n";

/* One ConfigMap, by this name. */
#define SIMPLE(name)                                                    \
        "apiVersion: apiextensions.crossplane.io/v1\n"                  \
        "kind: Composition\n"                                           \
        "metadata: {name: apps}\n"                                      \
        "spec:\n"                                                       \
        "  compositeTypeRef: {apiVersion: example.org/v1, kind: App}\n" \
        "  mode: Pipeline\n"                                            \
        "  pipeline:\n"                                                 \
        "  - step: make\n"                                              \
        "    functionRef: {name: function-patch-and-transform}\n"       \
        "    input:\n"                                                  \
        "      apiVersion: pt.fn.crossplane.io/v1beta1\n"               \
        "      kind: Resources\n"                                       \
        "      resources:\n"                                            \
        "      - name: " name "\n"                                      \
        "        base: {apiVersion: v1, kind: ConfigMap}\n"             \
        "        readinessChecks: [{type: None}]\n"

/* `a b c` for composed resources in the order in which they went, after a version. */
static const char *removed_since(struct world *w, uint64_t version)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        const struct store_write *writes;
        size_t n = store_writes(w->f.store, version, &w->f.arena, &writes);

        for (size_t i = 0; i < n; i++)
                if (!writes[i].after && str_equal(writes[i].key.gvk.kind, STR("ConfigMap")))
                        buf_appendf(&b, "%s%.*s", b.n ? " " : "",
                                    STR_ARG(meta_label(object_value(writes[i].before, &w->f.arena), STR("part"))));
        return arena_cstring(&w->f.arena, buf_to_arena(&b, &w->f.arena));
}

static struct object_key app_key(const char *name)
{
        return key_of((struct gvk) { STR("example.org"), STR("v1"), STR("App") }, "default", name);
}

static void make_apps(struct world *w, size_t n)
{
        apply(w, xrd);
        apply(w, composition);
        quiet(w);
        for (size_t i = 0; i < n; i++)
                MUST(&w->f,
                     create(&w->f, JSON(&w->f,
                                        "{'apiVersion':'example.org/v1','kind':'App','metadata':{'name':'app-%zu',"
                                        "'namespace':'default'},'spec':{}}",
                                        i)));
        quiet(w);
}

static size_t count(struct world *w, struct gvk gvk)
{
        struct list_request req = { .gvk = gvk, .ns = STR("default") };
        struct object_list list;

        MUST(&w->f, cluster_list(w->f.cluster, &w->f.run, &req, &list, &w->f.err));
        return list.n;
}

static void until_none(struct world *w)
{
        struct deadline end = deadline_after_ms(60000);

        for (quiet(w); count(w, config_map_gvk()) + count(w, usage_gvk(USAGE_NAMESPACED)); quiet(w)) {
                if (deadline_has_passed(end))
                        test_fail(__FILE__, __LINE__, "something is still there");
                thread_sleep(deadline_after_ms(10), NULL);
        }
}

static void deletes_in_order(enum propagation propagation)
{
        uint64_t version;
        struct world w;

        world_init(&w);
        make_apps(&w, 1);
        ASSERT_INT(count(&w, config_map_gvk()), 3);
        ASSERT_INT(count(&w, usage_gvk(USAGE_NAMESPACED)), 2);
        version = store_version(w.f.store);
        MUST(&w.f, delete_with(&w.f, app_key("app-0"), propagation));
        until_none(&w);
        ASSERT_TEXT(removed_since(&w, version), "c b a");
        ASSERT(!exists(&w, app_key("app-0")));
        world_done(&w);
}

TEST(a_sequence_goes_in_order_in_the_background)
{
        deletes_in_order(PROPAGATE_BACKGROUND);
}

TEST(a_sequence_goes_in_order_in_the_foreground)
{
        deletes_in_order(PROPAGATE_FOREGROUND);
}

TEST(sequences_go_in_order_all_at_once)
{
        struct list_request list = { .gvk = app_key("").gvk, .ns = STR("default") };
        struct write_request deletion = { .verb = WRITE_DELETE };
        struct object_list deleted;
        size_t n_removed[3] = { 0 };
        const char *order;
        uint64_t version;
        struct world w;

        world_init(&w);
        make_apps(&w, 5);
        version = store_version(w.f.store);
        MUST(&w.f, cluster_delete_collection(w.f.cluster, &w.f.run, &list, &deletion, &deleted, &w.f.err));
        until_none(&w);
        order = removed_since(&w, version);
        ASSERT_INT(strlen(order), 15 * 2 - 1);
        for (const char *p = order; *p; p++)
                if (*p != ' ') {
                        size_t part = (size_t)(*p - 'a');

                        n_removed[part]++;
                        ASSERT(part == 2 || n_removed[part] <= n_removed[part + 1]);
                }
        world_done(&w);
}

/* A resource that a pipeline no longer wants is deleted, unless it is in use: then the composite tells why it is still there. */
TEST(a_composed_resource_in_use_stays)
{
        struct object_key key;
        struct list_request req = { .gvk = config_map_gvk(), .ns = STR("default") };
        struct object_list list;
        struct condition synced;
        struct world w;

        world_init(&w);
        apply(&w, xrd);
        apply(&w, SIMPLE("b"));
        quiet(&w);
        MUST(&w.f, create(&w.f, JSON(&w.f, "{'apiVersion':'example.org/v1','kind':'App','metadata':{'name':'app',"
                                           "'namespace':'default'},'spec':{}}")));
        quiet(&w);
        MUST(&w.f, cluster_list(w.f.cluster, &w.f.run, &req, &list, &w.f.err));
        ASSERT_INT(list.n, 1);
        key = object_key_of(object_list_value(&list, 0, &w.f.arena));
        MUST(&w.f,
             create(&w.f, JSON(&w.f,
                               "{'apiVersion':'protection.crossplane.io/v1beta1','kind':'Usage','metadata':{'name':"
                               "'keep','namespace':'default'},'spec':{'reason':'mine','of':{'apiVersion':'v1','kind':"
                               "'ConfigMap','resourceRef':{'name':'%.*s'}}}}",
                               STR_ARG(key.name))));
        quiet(&w);
        apply(&w, SIMPLE("other"));
        quiet(&w);
        ASSERT(exists(&w, key));
        ASSERT(condition_get(get(&w.f, app_key("app")), STR("Synced"), &synced));
        ASSERT_INT(synced.status, CONDITION_FALSE);
        ASSERT(str_find(synced.message, STR("Usage \"keep\" (in namespace \"default\") with reason: \"mine\".")) > 0);
        MUST(&w.f, delete_with(&w.f, usage_key("keep"), PROPAGATE_UNSET));
        until_gone(&w, key);
        world_done(&w);
}

/* The index survives a changed CRD, and a deleted one ends its usages. */
TEST(the_kind_of_usages_changes_and_goes)
{
        struct object_key used = config_map("default", "used"),
                          crd = key_of((struct gvk) { STR("apiextensions.k8s.io"), STR("v1"),
                                                      STR("CustomResourceDefinition") },
                                       "", "usages.protection.crossplane.io");
        struct world w;

        world_init(&w);
        make_config_map(&w, "default", "used", "");
        make_usage(&w, "u1", "", OF("used") ",'reason':'x'");
        quiet(&w);
        ASSERT_INT(delete_with(&w.f, used, PROPAGATE_UNSET), ERR_FORBIDDEN);
        MUST(&w.f, merge(&w.f, crd, JSON(&w.f, "{'spec':{'names':{'shortNames':['use']}}}"), NULL));
        quiet(&w);
        ASSERT_INT(delete_with(&w.f, used, PROPAGATE_UNSET), ERR_FORBIDDEN);
        MUST(&w.f, delete_with(&w.f, crd, PROPAGATE_UNSET));
        until_gone(&w, crd);
        ASSERT(exists(&w, used) && !is_marked(&w, used));

        /* A label alone protects nothing. */
        MUST(&w.f, merge(&w.f, used, JSON(&w.f, "{'metadata':{'labels':{'crossplane.io/in-use':'true'}}}"), NULL));
        MUST(&w.f, delete_with(&w.f, used, PROPAGATE_UNSET));
        world_done(&w);
}

/* --- Schedules --- */

/* A client of its own: deletes usages, the user and the used object, and makes usages, in any order. */
struct client {
        struct world *w;
        struct thread *thread;
        uint64_t seed;
};

static void act_at_random(void *arg)
{
        static const char *const names[] = { "u1", "u2", "u3" };
        struct client *c = arg;
        struct world own = { .f = { .store = c->w->f.store, .cluster = c->w->f.cluster } };
        struct random random;

        random_seed(&random, c->seed);
        arena_init(&own.f.arena, "client", 0);
        own.f.run =
                (struct run) { .arena = &own.f.arena, .deadline = DEADLINE_NONE, .user = { .name = STR("client") } };
        for (int i = 0; i < 8; i++) {
                const char *name = names[random_below(&random, ARRAY_SIZE(names))];

                /* Often the controllers have nothing left to do before the next act, and often they are in the middle. */
                thread_sleep(deadline_after_ms((int64_t)random_below(&random, 2)), NULL);
                switch (random_below(&random, 5)) {
                case 0:
                        create(&own.f,
                               JSON(&own.f,
                                    "{'apiVersion':'protection.crossplane.io/v1beta1','kind':'Usage','metadata':"
                                    "{'name':'%s','namespace':'default'},'spec':{'replayDeletion':%s,%s}}",
                                    name, i % 2 ? "true" : "false", OF("used") "," BY("user")));
                        break;
                case 1:
                        delete_with(&own.f, config_map("default", "user"), PROPAGATE_UNSET);
                        create(&own.f, JSON(&own.f, "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'user',"
                                                    "'namespace':'default'}}"));
                        break;
                case 2:
                        delete_with(&own.f, config_map("default", "used"), PROPAGATE_UNSET);
                        break;
                case 3:
                        create(&own.f, JSON(&own.f, "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'used',"
                                                    "'namespace':'default'}}"));
                        break;
                default:
                        delete_with(&own.f, usage_key(name), PROPAGATE_UNSET);
                }
        }
        err_done(&own.f.err);
        arena_done(&own.f.arena);
}

static bool is_ready_and_stays(const struct value *usage)
{
        struct condition ready;

        return !meta_is_deleting(usage) && condition_get(usage, STR("Ready"), &ready) && ready.status == CONDITION_TRUE;
}

/* How many usages were ready, and not being deleted, when write i happened. */
static size_t count_ready_at(struct world *w, const struct store_write *writes, size_t i)
{
        static const char *const names[] = { "u1", "u2", "u3" };
        size_t n = 0;

        for (size_t k = 0; k < ARRAY_SIZE(names); k++) {
                const struct store_write *last = NULL;

                for (size_t j = 0; j < i; j++)
                        if (str_equal(writes[j].key.gvk.kind, STR("Usage")) &&
                            str_equal(writes[j].key.name, str_from(names[k])))
                                last = &writes[j];
                n += last && last->after && is_ready_and_stays(object_value(last->after, &w->f.arena));
        }
        return n;
}

/* An object that had the label is not removed while a usage of it is ready and stays. */
static void check_removals(struct world *w)
{
        const struct store_write *writes;
        size_t n = store_writes(w->f.store, 0, &w->f.arena, &writes);
        bool is_labelled = false;

        for (size_t i = 0; i < n; i++) {
                if (!str_equal(writes[i].key.name, STR("used")))
                        continue;
                if (writes[i].after)
                        is_labelled = meta_has_label(object_value(writes[i].after, &w->f.arena), USAGE_IN_USE);
                else
                        SIM_ASSERT(!is_labelled || count_ready_at(w, writes, i) == 0);
        }
}

static void simulate(void *arg)
{
        uint64_t seed = *(uint64_t *)arg + 1;
        struct client clients[2];
        struct world w;
        size_t n;

        *(uint64_t *)arg = seed;
        world_init(&w);
        make_config_map(&w, "default", "used", "");
        make_config_map(&w, "default", "user", "");
        make_usage(&w, "u1", "", OF("used") "," BY("user"));
        for (size_t i = 0; i < ARRAY_SIZE(clients); i++) {
                clients[i] = (struct client) { .w = &w, .seed = 2 * seed + i };
                MUST(&w.f, thread_start("client", act_at_random, &clients[i], &clients[i].thread, &w.f.err));
        }
        for (size_t i = 0; i < ARRAY_SIZE(clients); i++)
                thread_join(clients[i].thread);
        quiet(&w);
        thread_sleep(deadline_after_ms(5 * 60 * 1000), NULL); /* what failed by a conflict is tried again */
        quiet(&w);
        n = count(&w, usage_gvk(USAGE_NAMESPACED));
        if (exists(&w, config_map("default", "used")))
                SIM_ASSERT(is_marked(&w, config_map("default", "used")) == (n > 0));
        check_removals(&w);
        world_done(&w);
}

TEST(schedules)
{
        const char *count_text = getenv("WEFT_SCHEDULES");
        _cleanup_err_ struct err err = { 0 };
        struct sim_report report;
        uint64_t n = 0;

        if (sim_explore(1, count_text ? strtoull(count_text, NULL, 10) : 30, NULL, simulate, &n, &report, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
}
