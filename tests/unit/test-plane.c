/* The control plane on a store: definitions, Compositions, composites and claims, with the functions that are built in. */
#include "plane-test.h"

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
                          "    schema:\n"
                          "      openAPIV3Schema:\n"
                          "        type: object\n"
                          "        properties:\n"
                          "          spec: {type: object, properties: {color: {type: string}}}\n"
                          "          status: {type: object, properties: {color: {type: string}}}\n";

#define COMPOSITION(name, kind, extra)                                                                   \
        "apiVersion: apiextensions.crossplane.io/v1\n"                                                   \
        "kind: Composition\n"                                                                            \
        "metadata: {name: " name "}\n"                                                                   \
        "spec:\n"                                                                                        \
        "  compositeTypeRef: {apiVersion: example.org/v1, kind: " kind "}\n"                             \
        "  mode: Pipeline\n"                                                                             \
        "  pipeline:\n"                                                                                  \
        "  - step: make\n"                                                                               \
        "    functionRef: {name: function-patch-and-transform}\n"                                        \
        "    input:\n"                                                                                   \
        "      apiVersion: pt.fn.crossplane.io/v1beta1\n"                                                \
        "      kind: Resources\n"                                                                        \
        "      resources:\n"                                                                             \
        "      - name: config\n"                                                                         \
        "        base: {apiVersion: v1, kind: ConfigMap" extra "}\n"                                     \
        "        patches:\n"                                                                             \
        "        - {fromFieldPath: spec.color, toFieldPath: data.color}\n"                               \
        "        - {type: ToCompositeFieldPath, fromFieldPath: data.color, toFieldPath: status.color}\n" \
        "        readinessChecks: [{type: None}]\n"

static const char app[] =
        "apiVersion: example.org/v1\nkind: App\nmetadata: {name: web, namespace: default}\nspec: {color: red}\n";

static struct gvk app_gvk(void)
{
        return (struct gvk) { STR("example.org"), STR("v1"), STR("App") };
}

static const struct value *composed(struct world *w, const struct value *composite, struct gvk gvk)
{
        struct list_request req = { .gvk = gvk, .owner_uid = meta_uid(composite) };
        struct object_list list;

        MUST(&w->f, cluster_list(w->f.cluster, &w->f.run, &req, &list, &w->f.err));
        return list.n ? object_list_value(&list, 0, &w->f.arena) : NULL;
}

static struct object_key xrd_key(void)
{
        return key_of((struct gvk) { STR("apiextensions.crossplane.io"), STR("v1"),
                                     STR("CompositeResourceDefinition") },
                      "", "apps.example.org");
}

TEST(a_definition_a_composition_and_a_composite)
{
        const struct value *xr, *config;
        struct world w;
        uint64_t version;

        world_init(&w);
        apply(&w, xrd);
        apply(&w, COMPOSITION("apps", "App", ""));
        quiet(&w);
        ASSERT_TEXT(condition_text(&w, get(&w.f, xrd_key()), "Established"), "True/WatchingCompositeResource");
        apply(&w, app);
        quiet(&w);
        xr = get(&w.f, key_of(app_gvk(), "default", "web"));
        ASSERT_TEXT(condition_text(&w, xr, "Synced"), "True/ReconcileSuccess");
        ASSERT_TEXT(condition_text(&w, xr, "Ready"), "True/Available");
        ASSERT_STR(value_str(value_find(xr, "status", "color")), STR("red"));
        config = composed(&w, xr, config_map_gvk());
        ASSERT_STR(value_str(value_find(config, "data", "color")), STR("red"));

        /* A change by hand is undone; the status shows what was seen, before and after. Nothing else is written. */
        version = store_version(w.f.store);
        MUST(&w.f, merge(&w.f, object_key_of(config), JSON(&w.f, "{'data':{'color':'blue'}}"), NULL));
        quiet(&w);
        ASSERT_STR(value_str(value_find(composed(&w, xr, config_map_gvk()), "data", "color")), STR("red"));
        ASSERT_INT(store_version(w.f.store) - version, 1 + 1 + 2);

        /* A changed Composition changes what is composed. */
        apply(&w, COMPOSITION("apps", "App", ", data: {shape: round}"));
        quiet(&w);
        ASSERT_STR(value_str(value_find(composed(&w, xr, config_map_gvk()), "data", "shape")), STR("round"));

        /* After a start everything runs once and nothing is written. */
        version = store_version(w.f.store);
        plane_stop(&w);
        plane_start(&w);
        quiet(&w);
        ASSERT_TEXT(writes_since(&w, version), "");

        MUST(&w.f, delete_with(&w.f, key_of(app_gvk(), "default", "web"), PROPAGATE_UNSET));
        quiet(&w);
        ASSERT(!get(&w.f, key_of(app_gvk(), "default", "web")));
        ASSERT(!get(&w.f, object_key_of(config)));
        world_done(&w);
}

TEST(a_definition_goes_with_its_composites)
{
        struct world w;

        world_init(&w);
        apply(&w, xrd);
        apply(&w, COMPOSITION("apps", "App", ""));
        quiet(&w);
        apply(&w, app);
        quiet(&w);
        MUST(&w.f, delete_with(&w.f, xrd_key(), PROPAGATE_UNSET));
        quiet(&w);
        ASSERT(!get(&w.f, xrd_key()));
        ASSERT(!get(&w.f,
                    key_of((struct gvk) { STR("apiextensions.k8s.io"), STR("v1"), STR("CustomResourceDefinition") }, "",
                           "apps.example.org")));
        world_done(&w);
}

/* The next list of Apps finds that the kind is gone, as if its CRD had been removed in that moment. */
static const struct cluster_ops *real_ops;
static _Atomic bool is_kind_gone, was_asked;

static int list_while_it_goes(struct cluster *c, struct run *run, const struct list_request *req,
                              struct list_cursor **ret, struct err *err)
{
        if (!str_equal(req->gvk.kind, STR("App")) || !atomic_exchange(&is_kind_gone, false))
                return real_ops->list_begin(c, run, req, ret, err);
        atomic_store(&was_asked, true);
        return err_set(err, ERR_NOT_FOUND, "no matches for kind \"App\" in version \"example.org/v1\"");
}

static bool has_warning(struct world *w)
{
        struct list_request req = { .gvk = { STR(""), STR("v1"), STR("Event") } };
        struct object_list list;

        MUST(&w->f, cluster_list(w->f.cluster, &w->f.run, &req, &list, &w->f.err));
        for (size_t i = 0; i < list.n; i++)
                if (str_equal(value_str(value_get(object_list_value(&list, i, &w->f.arena), STR("type"))),
                              STR("Warning")))
                        return true;
        return false;
}

TEST(a_definition_goes_although_its_kind_is_gone_already)
{
        struct cluster_ops ops;
        struct world w;

        world_init(&w);
        plane_stop(&w);
        real_ops = w.f.cluster->ops;
        ops = *real_ops;
        ops.list_begin = list_while_it_goes;
        w.f.cluster->ops = &ops;
        plane_start(&w);
        apply(&w, xrd);
        quiet(&w);
        atomic_store(&is_kind_gone, true);
        MUST(&w.f, delete_with(&w.f, xrd_key(), PROPAGATE_UNSET));
        quiet(&w);
        ASSERT(atomic_load(&was_asked) && !get(&w.f, xrd_key()));
        ASSERT(!has_warning(&w));
        plane_stop(&w);
        w.f.cluster->ops = real_ops;
        plane_start(&w);
        world_done(&w);
}

static const char legacy_xrd[] = "apiVersion: apiextensions.crossplane.io/v1\n"
                                 "kind: CompositeResourceDefinition\n"
                                 "metadata: {name: xdatabases.example.org}\n"
                                 "spec:\n"
                                 "  group: example.org\n"
                                 "  names: {kind: XDatabase, plural: xdatabases}\n"
                                 "  claimNames: {kind: Database, plural: databases}\n"
                                 "  versions:\n"
                                 "  - name: v1\n"
                                 "    served: true\n"
                                 "    referenceable: true\n"
                                 "    schema:\n"
                                 "      openAPIV3Schema:\n"
                                 "        type: object\n"
                                 "        properties:\n"
                                 "          spec: {type: object, properties: {color: {type: string}}}\n"
                                 "          status: {type: object, properties: {color: {type: string}}}\n";

TEST(a_claim_is_bound_and_unbound)
{
        struct gvk gvk = { STR("example.org"), STR("v1"), STR("Database") },
                   composite_gvk = { STR("example.org"), STR("v1"), STR("XDatabase") };
        struct object_key key = key_of(gvk, "default", "db");
        const struct value *claim;
        struct object_key composite;
        struct world w;

        world_init(&w);
        apply(&w, legacy_xrd);
        apply(&w, COMPOSITION("databases", "XDatabase", ", metadata: {namespace: default}"));
        quiet(&w);
        apply(&w, "apiVersion: example.org/v1\nkind: Database\nmetadata: {name: db, namespace: default}\nspec: {color: "
                  "red}\n");
        quiet(&w);
        claim = get(&w.f, key);
        ASSERT_TEXT(condition_text(&w, claim, "Synced"), "True/ReconcileSuccess");
        ASSERT_TEXT(condition_text(&w, claim, "Ready"), "True/Available");
        ASSERT_STR(value_str(value_find(claim, "status", "color")), STR("red"));
        composite = (struct object_key) { .gvk = composite_gvk,
                                          .name = value_str(value_find(claim, "spec", "resourceRef", "name")) };
        ASSERT(get(&w.f, composite));
        apply(&w, "apiVersion: example.org/v1\nkind: Database\nmetadata: {name: db, namespace: default}\nspec: {color: "
                  "blue}\n");
        quiet(&w);
        ASSERT_STR(value_str(value_find(get(&w.f, key), "status", "color")), STR("blue"));
        MUST(&w.f, delete_with(&w.f, key, PROPAGATE_UNSET));
        quiet(&w);
        ASSERT(!get(&w.f, key));
        ASSERT(!get(&w.f, composite));
        world_done(&w);
}

/* Objects may exist before their definition and their Composition. */
TEST(any_order_will_do)
{
        struct world w;

        world_init(&w);
        apply(&w, COMPOSITION("apps", "App", ""));
        apply(&w, xrd);
        quiet(&w);
        MUST(&w.f,
             delete_with(&w.f,
                         key_of((struct gvk) { STR("apiextensions.crossplane.io"), STR("v1"), STR("Composition") }, "",
                                "apps"),
                         PROPAGATE_UNSET));
        quiet(&w);
        apply(&w, app);
        quiet(&w);
        ASSERT_TEXT(condition_text(&w, get(&w.f, key_of(app_gvk(), "default", "web")), "Synced"),
                    "False/ReconcileError");
        apply(&w, COMPOSITION("apps", "App", ""));
        quiet(&w);
        ASSERT_TEXT(condition_text(&w, get(&w.f, key_of(app_gvk(), "default", "web")), "Ready"), "True/Available");
        world_done(&w);
}

static void apply_color(struct world *w, const char *color, const char *limit)
{
        apply(w, arena_cstring(&w->f.arena,
                               arena_printf(&w->f.arena, COMPOSITION("apps", "App", ", data: {shape: %s}") "%s", color,
                                            limit)));
        quiet(w);
}

/* The shapes of all revisions, oldest first. */
static const char *revisions(struct world *w)
{
        struct list_request req = { .gvk = { STR("apiextensions.crossplane.io"), STR("v1"),
                                             STR("CompositionRevision") } };
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct object_list list;

        MUST(&w->f, cluster_list(w->f.cluster, &w->f.run, &req, &list, &w->f.err));
        for (int64_t number = 1; number < 20; number++)
                for (size_t i = 0; i < list.n; i++) {
                        const struct value *v = object_list_value(&list, i, &w->f.arena);
                        const struct value *step = value_item(value_find(v, "spec", "pipeline"), 0);
                        const struct value *resource = value_item(value_find(step, "input", "resources"), 0);

                        if (value_int(value_find(v, "spec", "revision"), 0) == number)
                                buf_appendf(&b, "%s%.*s", b.n ? " " : "",
                                            STR_ARG(value_str(value_find(resource, "base", "data", "shape"))));
                }
        return arena_cstring(&w->f.arena, buf_to_arena(&b, &w->f.arena));
}

static const char *revision_of(struct world *w, const char *name)
{
        return arena_cstring(&w->f.arena, value_str(value_find(get(&w->f, key_of(app_gvk(), "default", name)), "spec",
                                                               "crossplane", "compositionRevisionRef", "name")));
}

TEST(old_revisions_that_nobody_uses_are_collected)
{
        struct world w;
        uint64_t version;

        world_init(&w);
        apply(&w, xrd);
        apply_color(&w, "a", "");
        apply(&w, app);
        quiet(&w);
        MUST(&w.f, merge(&w.f, key_of(app_gvk(), "default", "web"),
                         JSON(&w.f, "{'spec':{'crossplane':{'compositionUpdatePolicy':'Manual'}}}"), NULL));
        quiet(&w);
        apply_color(&w, "b", "");
        apply_color(&w, "c", "");
        apply_color(&w, "d", "");
        ASSERT_TEXT(revisions(&w), "a b c d"); /* absent keeps all */
        apply_color(&w, "d", "  revisionHistoryLimit: 0\n");
        ASSERT_TEXT(revisions(&w), "a b c d"); /* the limit makes no revision of its own */
        apply_color(&w, "d", "  revisionHistoryLimit: 1\n");
        ASSERT_TEXT(revisions(&w), "a c d"); /* a is in use by an XR that does not follow */
        apply_color(&w, "e", "  revisionHistoryLimit: 1\n");
        ASSERT_TEXT(revisions(&w), "a d e");

        /* When its last user moves on, a revision goes. */
        version = store_version(w.f.store);
        MUST(&w.f, merge(&w.f, key_of(app_gvk(), "default", "web"),
                         JSON(&w.f, "{'spec':{'crossplane':{'compositionUpdatePolicy':'Automatic'}}}"), NULL));
        quiet(&w);
        ASSERT_TEXT(revisions(&w), "d e");
        ASSERT(str_starts_with(str_from(revision_of(&w, "web")), STR("apps-")));
        ASSERT(version < store_version(w.f.store));
        world_done(&w);
}

static void apply_databases(struct world *w, const char *shape)
{
        apply(w, arena_cstring(&w->f.arena, arena_printf(&w->f.arena,
                                                         COMPOSITION("databases", "XDatabase",
                                                                     ", metadata: {namespace: default}, data: {shape: "
                                                                     "%s}") "  revisionHistoryLimit: 1\n",
                                                         shape)));
        quiet(w);
}

/* A claim that is paused is not bound, so that no composite names the revision that it chose. */
TEST(a_revision_that_an_unbound_claim_chose_is_kept)
{
        struct gvk gvk = { STR("example.org"), STR("v1"), STR("Database") };
        struct list_request req = { .gvk = { STR("apiextensions.crossplane.io"), STR("v1"),
                                             STR("CompositionRevision") } };
        struct object_list list;
        struct world w;

        world_init(&w);
        apply(&w, legacy_xrd);
        apply_databases(&w, "a");
        MUST(&w.f, cluster_list(w.f.cluster, &w.f.run, &req, &list, &w.f.err));
        ASSERT_INT(list.n, 1);
        MUST(&w.f, create(&w.f, JSON(&w.f,
                                     "{'apiVersion':'example.org/v1','kind':'Database','metadata':{'namespace':"
                                     "'default','name':'db','annotations':{'crossplane.io/paused':'true'}},'spec':{"
                                     "'compositionUpdatePolicy':'Manual','compositionRevisionRef':{'name':'%s'}}}",
                                     arena_cstring(&w.f.arena, meta_name(object_list_value(&list, 0, &w.f.arena))))));
        apply_databases(&w, "b");
        apply_databases(&w, "c");
        apply_databases(&w, "d");
        ASSERT_TEXT(revisions(&w), "a c d");
        MUST(&w.f, delete_with(&w.f, key_of(gvk, "default", "db"), PROPAGATE_UNSET));
        quiet(&w);
        ASSERT_TEXT(revisions(&w), "c d");
        world_done(&w);
}

/* --- The first design --- */

static const char infrastructure[] =
        "apiVersion: apiextensions.crossplane.io/v1alpha1\n"
        "kind: InfrastructureDefinition\n"
        "metadata: {name: buckets.example.org}\n"
        "spec:\n"
        "  connectionDetails: [name]\n"
        "  crdSpecTemplate: {group: example.org, version: v1, names: {kind: Bucket, plural: buckets}}\n";
static const char publication[] = "apiVersion: apiextensions.crossplane.io/v1alpha1\n"
                                  "kind: InfrastructurePublication\n"
                                  "metadata: {name: buckets.example.org}\n"
                                  "spec: {infrastructureDefinitionReference: {name: buckets.example.org}}\n";
static const char buckets[] = "apiVersion: apiextensions.crossplane.io/v1alpha1\n"
                              "kind: Composition\n"
                              "metadata: {name: buckets}\n"
                              "spec:\n"
                              "  from: {apiVersion: example.org/v1, kind: Bucket}\n"
                              "  to:\n"
                              "  - base: {apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole}\n"
                              "    readinessChecks: [{type: None}]\n"
                              "    connectionDetails: [{name: name, type: FromFieldPath, fromFieldPath: kind}]\n";
static const char requirement[] =
        "apiVersion: example.org/v1\n"
        "kind: BucketRequirement\n"
        "metadata: {name: pictures, namespace: default}\n"
        "spec: {infrastructure: {compositionRef: [{name: buckets}], writeConnectionSecretToRef: {name: pictures}}}\n";

static struct object_key definition_key(const char *kind)
{
        return key_of((struct gvk) { STR("apiextensions.crossplane.io"), STR("v1alpha1"), str_from(kind) }, "",
                      "buckets.example.org");
}

static struct object_key requirement_key(void)
{
        return key_of((struct gvk) { STR("example.org"), STR("v1"), STR("BucketRequirement") }, "default", "pictures");
}

static struct object_key secret_key(void)
{
        return key_of((struct gvk) { STR(""), STR("v1"), STR("Secret") }, "default", "pictures");
}

static size_t count(struct world *w, struct gvk gvk)
{
        struct list_request req = { .gvk = gvk };
        struct object_list list = { 0 };

        return cluster_list(w->f.cluster, &w->f.run, &req, &list, NULL) < 0 ? 0 : list.n;
}

/* Waits until it is so. Keys whose run has failed come back after a while, which quiet does not wait for. */
#define AWAIT(w, condition)                                                         \
        do {                                                                        \
                struct deadline _end = deadline_after_ns(60 * 1000000000ll);        \
                while (!(condition) && !deadline_has_passed(_end)) {                \
                        nanosleep(&(struct timespec) { .tv_nsec = 5000000 }, NULL); \
                        quiet(w);                                                   \
                }                                                                   \
                ASSERT(condition);                                                  \
        } while (0)

static bool is_offered(struct world *w)
{
        const struct value *p = get(&w->f, definition_key("InfrastructurePublication"));

        return str_equal(str_from(condition_text(w, p, "Offered")), STR("True/WatchingRequirement"));
}

static bool is_required(struct world *w)
{
        const struct value *r = get(&w->f, requirement_key());

        return r && str_equal(str_from(condition_text(w, r, "Ready")), STR("True/Available"));
}

/* The required resources exist, each once. */
static void check_required(struct world *w)
{
        const struct value *r, *secret;
        struct gvk bucket = { STR("example.org"), STR("v1"), STR("Bucket") };
        struct gvk role = { STR("rbac.authorization.k8s.io"), STR("v1"), STR("ClusterRole") };

        AWAIT(w, is_required(w) && get(&w->f, secret_key()));
        r = get(&w->f, requirement_key());
        secret = get(&w->f, secret_key());
        ASSERT_TEXT(condition_text(w, r, "Synced"), "True/ReconcileSuccess");
        ASSERT_INT(count(w, bucket), 1);
        ASSERT_INT(count(w, role), 1);
        ASSERT_STR(value_str(value_find(secret, "data", "name")), STR("Q2x1c3RlclJvbGU="));
        ASSERT_INT(value_count(value_get(secret, STR("data"))), 1);
}

static void apply_first_design(struct world *w)
{
        apply(w, "apiVersion: v1\nkind: Namespace\nmetadata: {name: crossplane-system}\n");
        apply(w, publication);
        apply(w, buckets);
        apply(w, infrastructure);
}

TEST(a_requirement_of_published_infrastructure)
{
        struct world w;
        uint64_t version;

        world_init(&w);
        apply_first_design(&w);
        AWAIT(&w, is_offered(&w));
        apply(&w, requirement);
        check_required(&w);
        quiet(&w);

        version = store_version(w.f.store);
        plane_stop(&w);
        plane_start(&w);
        quiet(&w);
        ASSERT_TEXT(writes_since(&w, version), "");

        MUST(&w.f, delete_with(&w.f, definition_key("InfrastructureDefinition"), PROPAGATE_UNSET));
        AWAIT(&w, !get(&w.f, definition_key("InfrastructureDefinition")));
        AWAIT(&w, count(&w, (struct gvk) { STR("rbac.authorization.k8s.io"), STR("v1"), STR("ClusterRole") }) == 0);
        ASSERT_TEXT(condition_text(&w, get(&w.f, definition_key("InfrastructurePublication")), "Offered"),
                    "False/NoDefinition");
        world_done(&w);
}

/* Writes of the controllers that still work; all later ones are refused, as if the process had ended. */
static _Atomic long writes_left;

static int refuse_late_writes(void *arg _unused_, struct run *run, struct admission *admission _unused_,
                              struct err *err)
{
        if (!str_starts_with(run->user.name, STR("system:serviceaccount:")))
                return 0;
        return atomic_fetch_sub(&writes_left, 1) > 0 ? 0 : err_set(err, ERR_FAILED, "the process has ended");
}

/* The plane runs until its writes are used up, ends, and starts again. */
static void crash_and_restart(struct world *w, long n)
{
        atomic_store(&writes_left, n);
        plane_start(w);
        MUST(&w->f, manager_settle(w->manager, DEADLINE_NONE, NULL));
        plane_stop(w);
        atomic_store(&writes_left, 1000000);
        plane_start(w);
        quiet(w);
}

static void crash_once(long n)
{
        struct admission_hook hook = { .name = "crash", .admit = refuse_late_writes };
        struct gvk crd = { STR("apiextensions.k8s.io"), STR("v1"), STR("CustomResourceDefinition") };
        struct world w;

        atomic_store(&writes_left, 1000000);
        world_init_with(&w, &hook);
        apply_first_design(&w);
        plane_stop(&w);
        crash_and_restart(&w, n);
        AWAIT(&w, is_offered(&w));
        apply(&w, requirement);
        plane_stop(&w);
        crash_and_restart(&w, n);
        check_required(&w);
        if (n % 2) { /* what was offered may be withdrawn first */
                MUST(&w.f, delete_with(&w.f, definition_key("InfrastructurePublication"), PROPAGATE_UNSET));
                plane_stop(&w);
                crash_and_restart(&w, n);
                AWAIT(&w, !get(&w.f, definition_key("InfrastructurePublication")));
                ASSERT(!get(&w.f, key_of(crd, "", "bucketrequirements.example.org")));
        }
        MUST(&w.f, delete_with(&w.f, definition_key("InfrastructureDefinition"), PROPAGATE_UNSET));
        plane_stop(&w);
        crash_and_restart(&w, n);
        AWAIT(&w, !get(&w.f, definition_key("InfrastructureDefinition")));
        ASSERT(!get(&w.f, key_of(crd, "", "buckets.example.org")));
        ASSERT(!get(&w.f, key_of(crd, "", "bucketrequirements.example.org")));
        world_done(&w);
}

TEST(the_first_design_survives_a_crash_at_any_write)
{
        for (long n = 0; n < 16; n++)
                crash_once(n);
}
