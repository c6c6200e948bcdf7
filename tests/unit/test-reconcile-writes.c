/* A reconcile writes nothing when nothing changed, and restores fields that somebody else changed. */
#include "engine-test.h"

static const char *const everything =
        "desired:\n"
        "  composite:\n"
        "    resource: {status: {url: x, ports: [{name: b, port: 2}, {name: a, port: 1}]}}\n"
        "    connectionDetails: {user: cm9vdA==, host: aG9zdA==}\n"
        "  resources:\n"
        "    bucket:\n"
        "      ready: READY_TRUE\n"
        "      resource:\n"
        "        apiVersion: s3.example.org/v1\n"
        "        kind: Bucket\n"
        "        metadata: {namespace: default, labels: {a: b}, annotations: {note: hello}}\n"
        "        spec: {size: 3, list: [1, 2.5, {a: null}], nothing: null, empty: {}}\n"
        "        status: {ignored: true}\n"
        "    other:\n"
        "      ready: READY_FALSE\n"
        "      resource: {apiVersion: s3.example.org/v2, kind: Bucket, metadata: {namespace: default}, spec: {size: "
        "5}}\n"
        "results:\n"
        "- {severity: SEVERITY_NORMAL, message: hello}\n"
        "- {severity: SEVERITY_WARNING, message: careful, reason: Care, target: TARGET_COMPOSITE_AND_CLAIM}\n"
        "conditions:\n"
        "- {type: Database, status: STATUS_CONDITION_FALSE, reason: Down, message: not yet}\n"
        "- {type: Network, status: STATUS_CONDITION_TRUE, reason: Up, target: TARGET_COMPOSITE_AND_CLAIM}\n"
        "- {type: Database, status: STATUS_CONDITION_TRUE, reason: Up}\n";

static const char *const only_resources = "desired: {resources: {bucket: {ready: READY_TRUE, resource: {apiVersion: "
                                          "s3.example.org/v1, kind: Bucket, metadata: "
                                          "{namespace: default}, spec: {size: 3}}}}}";

struct writes_case {
        const char *name;
        const char *answer;
        const char *composition; /* merged into it */
        const char *spec;        /* of the composite */
        bool only_legacy;
};

static const struct writes_case cases[] = {
        { "nothing", NULL, NULL, "{}", false },
        { "resources", only_resources, NULL, "{size: 3}", false },
        { "everything", everything, NULL, "{size: 3}", false },
        { "secret", everything, "{spec: {writeConnectionSecretsToNamespace: default}}", "{}", true },
        { "secret of its own", everything, NULL, "{writeConnectionSecretToRef: {name: s, namespace: default}}", true },
        { "claim", everything, NULL, "{claimRef: {apiVersion: example.org/v1, kind: A, namespace: default, name: c}}",
          true },
        { "composite is ready", "desired: {composite: {ready: READY_TRUE, resource: {status: {size: 2}}}}", NULL, "{}",
          false },
        { "composite is not ready", "desired: {composite: {ready: READY_FALSE}}", NULL, "{}", false },
        { "conditions in the status",
          "desired: {composite: {resource: {status: {conditions: [{type: Mine, status: 'True', reason: R, "
          "lastTransitionTime: "
          "'2024-01-01T00:00:00Z'}]}}}}",
          NULL, "{}", false },
        { "templates", NULL,
          "{spec: {mode: Resources, pipeline: null, resources: [{name: b, base: {apiVersion: s3.example.org/v1, kind: "
          "Bucket, metadata: "
          "{namespace: default}, spec: {size: 1}}, patches: [{fromFieldPath: spec.size, toFieldPath: spec.size}]}]}}",
          "{size: 4}", false },
        { "templates without names", NULL,
          "{spec: {mode: Resources, pipeline: null, resources: [{base: {apiVersion: s3.example.org/v1, kind: Bucket, "
          "metadata: "
          "{namespace: default}, spec: {size: 1}}}, {base: {apiVersion: s3.example.org/v1, kind: Bucket, metadata: "
          "{namespace: default}}}]}}",
          "{size: 4}", false },
        { "a whole composite",
          "desired: {composite: {resource: {spec: {size: 9}, metadata: {labels: {x: z}, annotations: {z: w}}, status: "
          "{url: "
          "u}}}}",
          NULL, "{}", false },
};

/* The second of two runs between which nothing happens. */
TEST(a_second_run_writes_nothing)
{
        for (size_t s = 0; s < _SCOPES; s++) {
                set_up((enum scope)s, "{connectionSecretKeys: [user, host, port]}");
                for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                        const char *name = text("c%zu", i);
                        uint64_t version;

                        if (cases[i].only_legacy && s != SCOPE_LEGACY)
                                continue;
                        answers[0] = cases[i].answer;
                        make_revision(make_composition(name, 0, 1, cases[i].composition), 1, true);
                        make_composite(name, cases[i].spec);
                        patch(&key, s == SCOPE_LEGACY
                                            ? text("{spec: {compositionRef: {name: %s}}}", name)
                                            : text("{spec: {crossplane: {compositionRef: {name: %s}}}}", name));
                        reconcile_ok();
                        ASSERT_CASE(cases[i].name, faulty.n_writes > 0);
                        version = store_version(store);
                        for (int pass = 2; pass <= 4; pass++) {
                                reconcile_ok();
                                if (faulty.n_writes)
                                        test_fail(__FILE__, __LINE__,
                                                  "[%s, scope %zu] run %d writes %zu times, first %d %.*s/%.*s",
                                                  cases[i].name, s, pass, faulty.n_writes, faulty.writes[0].verb,
                                                  STR_ARG(faulty.writes[0].key.gvk.kind),
                                                  STR_ARG(faulty.writes[0].subresource));
                        }
                        ASSERT_INT(store_version(store), version);
                }
                tear_down();
        }
}

/* --- What somebody else changed --- */

static const struct value *composed(const char *name)
{
        struct gvk kinds[] = { BUCKET, TABLE };

        for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
                struct object_list found = list(kinds[k], meta_uid(get(&key)));

                for (size_t i = 0; i < found.n; i++)
                        if (str_equal(composed_key(object_list_value(&found, i, &arena)), str_from(name)))
                                return object_list_value(&found, i, &arena);
        }
        return NULL;
}

/* As if by `kubectl apply --server-side --force-conflicts`. */
static void take_over(const struct object_key *k, const char *subresource, const char *config)
{
        struct write_request req = {
                .verb = WRITE_APPLY,
                .key = *k,
                .subresource = str_from(subresource),
                .manager = STR("taker"),
                .force = true,
        };
        struct value name = value_of_str(k->name), ns = value_of_str(k->ns);
        struct write_result result;

        req.body = meta_with(&arena, yaml(config), STR("name"), &name);
        if (k->ns.n)
                req.body = meta_with(&arena, req.body, STR("namespace"), &ns);
        ASSERT(cluster_write(store_cluster(store), &run, &req, &result, NULL) >= 0);
}

static void start(enum scope s, const char *answer, const char *spec)
{
        set_up(s, NULL);
        answers[0] = answer;
        make_revision(make_composition("apps", 0, 1, NULL), 1, true);
        make_composite("web", spec);
        reconcile_ok();
}

/* Composes until nothing is written, and says how often something was. */
static size_t settle(void)
{
        for (size_t n = 0; n < 10; n++) {
                reconcile_ok();
                if (faulty.n_writes == 0)
                        return n;
        }
        test_fail(__FILE__, __LINE__, "it does not settle");
}

static bool is_like(const struct value *a, const struct value *b)
{
        static const char *const fields[] = { "labels", "annotations", "ownerReferences" };

        for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
                if (!value_equal(value_get(meta(a), str_from(fields[i])) ?: &value_null,
                                 value_get(meta(b), str_from(fields[i])) ?: &value_null))
                        return false;
        return value_equal(value_get(a, STR("spec")), value_get(b, STR("spec")));
}

TEST(a_composed_resource_is_put_right)
{
        static const struct {
                const char *name;
                const char *patch;
                bool is_repaired;
        } changes[] = {
                { "a value", "{spec: {size: 4}}", true },
                { "a field that is gone", "{spec: {size: null}}", true },
                { "an item", "{spec: {list: [1, 2.5]}}", true },
                { "a label", "{metadata: {labels: {a: null}}}", true },
                { "whose it is", "{metadata: {labels: {crossplane.io/composite: me}}}", true },
                { "the owner", "{metadata: {ownerReferences: null}}", true },
                { "an annotation", "{metadata: {annotations: {note: bye}}}", true },
                { "something of their own", "{spec: {theirs: 1}, metadata: {labels: {their: own}}}", false },
                { "a default", "{spec: {class: fast}}", false },
        };

        start(SCOPE_NAMESPACED, everything, "{}");
        for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
                const struct value *before = composed("bucket"), *after;
                struct object_key k = object_key_of(before);
                size_t n;

                patch(&k, changes[i].patch);
                n = settle();
                after = get(&k);
                ASSERT_CASE(changes[i].name, n == changes[i].is_repaired);
                ASSERT_CASE(changes[i].name, is_like(before, after) == changes[i].is_repaired);
        }
        tear_down();
}

TEST(what_another_manager_took_is_taken_back)
{
        struct object_key k;

        start(SCOPE_NAMESPACED, everything, "{}");
        k = object_key_of(composed("bucket"));
        take_over(&k, "", "{apiVersion: s3.example.org/v1, kind: Bucket, metadata: {}, spec: {size: 50}}");
        ASSERT_INT(settle(), 1);
        ASSERT_INT(value_int(value_find(get(&k), "spec", "size"), 0), 3);
        /* Back at our value it is theirs alone. */
        take_over(&k, "", "{apiVersion: s3.example.org/v1, kind: Bucket, metadata: {}, spec: {size: 50}}");
        take_over(&k, "", "{apiVersion: s3.example.org/v1, kind: Bucket, metadata: {}, spec: {size: 3}}");
        ASSERT_INT(settle(), 1);
        /* The same value from two is nothing to write. */
        take_over(&k, "", "{apiVersion: s3.example.org/v1, kind: Bucket, metadata: {}, spec: {size: 3}}");
        ASSERT_INT(settle(), 0);
        take_over(&key, "status", "{apiVersion: example.org/v1, kind: App, metadata: {}, status: {url: theirs}}");
        ASSERT_INT(settle(), 1);
        ASSERT_STR(value_str(value_find(get(&key), "status", "url")), STR("x"));
        tear_down();
}

TEST(what_is_no_longer_wanted_of_a_resource_goes)
{
        struct object_key k;

        start(SCOPE_CLUSTER, everything, "{}");
        k = object_key_of(composed("bucket"));
        answers[0] = only_resources;
        ASSERT_INT(settle(), 1);
        ASSERT(!value_find(get(&k), "spec", "list"));
        ASSERT(!meta_has_label(get(&k), STR("a")));
        ASSERT(!value_find(get(&key), "status", "url"));
        ASSERT(!value_find(get(&key), "status", "ports"));
        ASSERT_INT(store_settle(store, &run, NULL), 0); /* a foreground deletion is the collector's to finish */
        ASSERT(!composed("other"));
        ASSERT_INT(condition("Database").status, CONDITION_TRUE); /* nobody says otherwise */
        ASSERT_INT(condition("Ready").status, CONDITION_TRUE);
        tear_down();
}

TEST(the_composite_is_put_right)
{
        static const struct {
                const char *name;
                const char *patch;
                const char *subresource;
        } changes[] = {
                { "references", "{spec: {crossplane: {resourceRefs: []}}}", "" },
                { "more references", "{spec: {crossplane: {resourceRefs: [{apiVersion: v1, kind: Secret, name: x}]}}}",
                  "" },
                { "finalizer", "{metadata: {finalizers: null}}", "" },
                { "label", "{metadata: {labels: null}}", "" },
                { "status", "{status: {url: z}}", "status" },
                { "no status", "{status: {url: null, ports: null}}", "status" },
                { "order of a list", "{status: {ports: [{name: a, port: 1}, {name: b, port: 2}]}}", "status" },
                { "conditions", "{status: {conditions: null}}", "status" },
                { "a condition",
                  "{status: {conditions: [{type: Ready, status: 'True', reason: Ha, lastTransitionTime: "
                  "'2024-01-01T00:00:00Z'}]}}",
                  "status" },
        };
        const struct value *before, *after;

        start(SCOPE_NAMESPACED, everything, "{}");
        before = get(&key);
        for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
                write_object(WRITE_MERGE_PATCH, &key, changes[i].subresource, yaml(changes[i].patch));
                ASSERT_CASE(changes[i].name, settle() == 1);
                after = get(&key);
                ASSERT_CASE(changes[i].name,
                            value_equal(value_get(before, STR("spec")), value_get(after, STR("spec"))));
                ASSERT_CASE(changes[i].name,
                            value_equal(value_find(before, "status", "url"), value_find(after, "status", "url")));
                ASSERT_CASE(changes[i].name,
                            value_equal(value_find(before, "status", "ports"), value_find(after, "status", "ports")));
                ASSERT_CASE(changes[i].name,
                            value_equal(value_get(meta(before), STR("labels")), value_get(meta(after), STR("labels"))));
                ASSERT_CASE(changes[i].name, value_equal(value_get(meta(before), STR("finalizers")),
                                                         value_get(meta(after), STR("finalizers"))));
                ASSERT_CASE(changes[i].name, value_count(value_find(after, "status", "conditions")) == 5);
                ASSERT_CASE(changes[i].name, condition("Ready").status == CONDITION_FALSE);
        }
        tear_down();
}

/* --- Runs that fail write nothing twice either --- */

TEST(a_paused_composite_is_written_once)
{
        start(SCOPE_LEGACY, everything, "{}");
        patch(&key, "{metadata: {annotations: {crossplane.io/paused: 'true'}}}");
        reconcile_ok();
        ASSERT_INT(faulty.n_writes, 1);
        reconcile_ok();
        ASSERT_INT(faulty.n_writes, 0);
        tear_down();
}

TEST(the_same_error_is_written_once)
{
        start(SCOPE_LEGACY, everything, "{}");
        /* The schema does not know lastHandledReconcileAt, the status field that the request sets. */
        patch(&key, "{metadata: {annotations: {crossplane.io/reconcile-requested-at: now}}}");
        failing_step = 0;
        for (int i = 0; i < 2; i++) {
                reconcile_error("cannot compose resources: cannot run Composition pipeline step \"s0\": rpc error: "
                                "code = Unknown desc = "
                                "gone");
                ASSERT_INT(faulty.n_writes, i == 0);
        }
        tear_down();
}

TEST(a_request_to_reconcile_is_heard_and_writes_nothing)
{
        struct reconcile_result result;

        start(SCOPE_NAMESPACED, only_resources, "{}");
        patch(&key, "{metadata: {annotations: {crossplane.io/reconcile-requested-at: now}}}");
        for (int i = 0; i < 2; i++) {
                result = reconcile_ok();
                ASSERT_STR(result.events[0].reason, STR("ReconcileRequestHandled"));
                ASSERT_STR(result.events[0].message, STR("Handling reconcile request"));
                ASSERT_INT(faulty.n_writes, 0);
        }
        tear_down();
}

TEST(keys_that_are_left_in_the_secret_are_no_reason_to_write)
{
        start(SCOPE_LEGACY, everything, "{writeConnectionSecretToRef: {name: s, namespace: default}}");
        answers[0] = "desired: {composite: {connectionDetails: {user: cm9vdA==}}}";
        ASSERT_INT(settle(), 1); /* the resources go, and what the status had */
        reconcile_ok();
        ASSERT_INT(faulty.n_writes, 0);
        tear_down();
}

/* --- Resources of the Composition itself --- */

TEST(resources_patch_any_field_of_the_composite_once)
{
        for (size_t s = 0; s < _SCOPES; s++) {
                set_up((enum scope)s, NULL);
                functions_register_native(registry);
                make_revision(make_composition("apps", 0, 0,
                                               "{spec: {mode: Resources, pipeline: null, resources: [{name: bucket, "
                                               "base: {apiVersion: s3.example.org/v1, kind: Bucket, metadata: "
                                               "{namespace: default}, spec: {size: 7}}, patches: [{type: "
                                               "ToCompositeFieldPath, fromFieldPath: spec.size}, {type: "
                                               "ToCompositeFieldPath, fromFieldPath: spec.class, toFieldPath: "
                                               "'metadata.annotations[class]'}, {type: ToCompositeFieldPath, "
                                               "fromFieldPath: spec.class, toFieldPath: status.url}]}]}}"),
                              1, true);
                make_composite("web", "{size: 3}");
                reconcile_ok(); /* makes the bucket */
                ASSERT_INT(value_int(value_find(get(&key), "spec", "size"), 0), 3);
                reconcile_ok();
                ASSERT_INT(value_int(value_find(get(&key), "spec", "size"), 0), 7);
                ASSERT_STR(meta_annotation(get(&key), STR("class")), STR("standard"));
                ASSERT_STR(value_str(value_find(get(&key), "status", "url")), STR("standard"));
                ASSERT(condition("Synced").status == CONDITION_TRUE);
                ASSERT(condition("Responsive").status == CONDITION_TRUE);
                settle();
                reconcile_ok();
                ASSERT_INT(faulty.n_writes, 0);
                tear_down();
        }
}
