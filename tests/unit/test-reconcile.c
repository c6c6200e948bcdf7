/* A composite from its definition to its composed resources, on the embedded store: the order of things (docs/spec/engine 1.2, 1.9, 12.1 and the
 * worked example 2.13). */
#include "engine-test.h"

#define SECOND_NS INT64_C(1000000000)

static const char *const bucket_answer =
        "{meta: {ttl: 60s}, desired: {composite: {resource: {status: {url: x}}}, resources: {bucket: {ready: "
        "READY_TRUE, resource: {apiVersion: "
        "s3.example.org/v1, kind: Bucket, metadata: {namespace: default}, spec: {size: 3}}}}}, results: [{severity: "
        "SEVERITY_NORMAL, message: "
        "hello}], conditions: [{type: Database, status: STATUS_CONDITION_TRUE, reason: Up}]}";

static void start(enum scope s, const char *answer)
{
        set_up(s, NULL);
        answers[0] = answer;
        make_revision(make_composition("apps", 0, 1, NULL), 1, true);
        make_composite("web", "{size: 3}");
}

static const struct value *bucket(void)
{
        struct object_list found = list(BUCKET, meta_uid(get(&key)));

        return found.n ? object_list_value(&found, 0, &arena) : NULL;
}

/* `VERB Kind/subresource manager` for every write of the engine that changed something since. */
static const char *writes_since(uint64_t version)
{
        static const char *const verbs[] = {
                [WRITE_CREATE] = "create",
                [WRITE_UPDATE] = "update",
                [WRITE_JSON_PATCH] = "patch",
                [WRITE_MERGE_PATCH] = "merge",
                [WRITE_STRATEGIC_PATCH] = "strategic",
                [WRITE_APPLY] = "apply",
                [WRITE_DELETE] = "delete",
        };
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        const struct store_write *writes;
        size_t n = store_writes(store, version, &arena, &writes);

        for (size_t i = 0; i < n; i++) {
                struct str manager = writes[i].manager;

                if (str_equal(manager, STR("kube-controller-manager")))
                        continue;
                if (str_starts_with(manager, STR("apiextensions.crossplane.io/composed/")))
                        manager = STR("composed");
                buf_appendf(&b, "%s %.*s%s%.*s %.*s\n", verbs[writes[i].verb], STR_ARG(writes[i].key.gvk.kind),
                            writes[i].subresource.n ? "/" : "", STR_ARG(writes[i].subresource), STR_ARG(manager));
        }
        return arena_cstring(&arena, buf_to_arena(&b, &arena));
}

/* --- Composing --- */

TEST(a_composite_gets_its_resources_and_says_so)
{
        for (enum scope s = 0; s < _SCOPES; s++) {
                struct owner_reference owner;
                struct reconcile_result result;
                const struct value *xr;
                struct composite c;

                start(s, bucket_answer);
                result = reconcile_ok();
                ASSERT_STR(result.events[result.n_events - 1].message, STR("Pipeline step \"s0\": hello"));
                ASSERT(!result.requeues);
                xr = get(&key);
                ASSERT(meta_has_finalizer(xr, STR("composite.apiextensions.crossplane.io")));
                ASSERT_STR(value_str(value_find(xr, "status", "url")), STR("x"));
                ASSERT_TEXT(
                        conditions_text(xr),
                        "Database=True/Up: \nSynced=True/ReconcileSuccess: \nReady=True/Available: \nResponsive=True/"
                        "WatchCircuitClosed: \n");
                ASSERT_INT(condition("Database").observed_generation, 0);
                ASSERT_INT(condition("Synced").observed_generation, meta_generation(xr));
                ASSERT_INT(condition("Ready").observed_generation, meta_generation(xr));
                ASSERT_INT(condition("Responsive").observed_generation, meta_generation(xr));
                ASSERT(owner_controller(bucket(), &owner));
                ASSERT_STR(owner.uid, meta_uid(xr));
                ASSERT(owner.blocks_owner_deletion);
                ASSERT_STR(composed_key(bucket()), STR("bucket"));
                ASSERT_STR(meta_str(bucket(), STR("generateName")), STR("web-"));
                c = composite();
                check_value("refs", composite_field(&c, STR("resourceRefs")),
                            text("[{\"apiVersion\":\"s3.example.org/v1\",\"kind\":\"Bucket\",\"name\":\"%.*s\"%s}]",
                                 STR_ARG(meta_name(bucket())),
                                 s == SCOPE_NAMESPACED ? "" : ",\"namespace\":\"default\""));
                tear_down();
        }
}

TEST(writes_come_in_their_order)
{
        uint64_t version;

        start(SCOPE_NAMESPACED, bucket_answer);
        version = store_version(store);
        reconcile_ok();
        ASSERT_TEXT(writes_since(version), "update App crossplane\n" /* finalizer, Composition, revision, label */
                                           "apply App apiextensions.crossplane.io/composite\n"
                                           "apply Bucket composed\n"
                                           "apply App/status apiextensions.crossplane.io/composite\n"
                                           "update App/status crossplane\n");
        for (size_t i = 0; i < faulty.n_writes; i++)
                ASSERT_STR(faulty.writes[i].cause, STR("reconcile of App default/web"));
        /* Out before the references are rewritten. */
        answers[0] = "{desired: {composite: {resource: {status: {url: x}}}}}";
        version = store_version(store);
        reconcile_ok();
        ASSERT_TEXT(writes_since(version), "update Bucket crossplane\n"
                                           "delete Bucket \n"
                                           "apply App apiextensions.crossplane.io/composite\n"
                                           "update App/status crossplane\n");
        tear_down();
}

TEST(the_cause_of_a_run_is_its_callers)
{
        start(SCOPE_CLUSTER, bucket_answer);
        run.cause = STR("because");
        reconcile_ok();
        ASSERT_STR(faulty.writes[0].cause, STR("because"));
        tear_down();
}

TEST(what_is_not_there_needs_nothing)
{
        start(SCOPE_CLUSTER, NULL);
        use_composite("nobody");
        reconcile_ok();
        ASSERT_INT(faulty.n_writes, 0);
        tear_down();
}

TEST(what_cannot_be_read_is_an_error)
{
        _cleanup_err_ struct err err = { 0 };
        struct reconcile_result result;

        start(SCOPE_CLUSTER, NULL);
        faulty_reset(&faulty, FAULT_BEFORE, 1);
        ASSERT(reconcile(&result, &err) < 0);
        ASSERT_TEXT(err_message(&err), "cannot get composite resource: injected");
        tear_down();
}

/* --- Ready --- */

#define UNREADY(key) key ": {resource: {apiVersion: s3.example.org/v1, kind: Bucket}}"
#define READY(key)   key ": {ready: READY_TRUE, resource: {apiVersion: s3.example.org/v1, kind: Bucket}}"
#define FALSE_(key)  key ": {ready: READY_FALSE, resource: {apiVersion: s3.example.org/v1, kind: Bucket}}"

TEST(readiness_is_that_of_the_resources_or_what_functions_say)
{
        static const struct {
                const char *answer;
                const char *wanted;
                bool requeues; /* when nobody watches */
        } cases[] = {
                { "{desired: {}}", "Ready=True/Available: \n", false },
                { "{desired: {resources: {" READY("a") "}}}", "Ready=True/Available: \n", false },
                { "{desired: {resources: {" READY("a") ", " UNREADY("b") "}}}",
                  "Ready=False/Creating: Unready resources: b\n", true },
                { "{desired: {resources: {" FALSE_("c") ", " UNREADY("b") "}}}",
                  "Ready=False/Creating: Unready resources: b, c\n", true },
                { "{desired: {resources: {" UNREADY("c") ", " UNREADY("b") ", " UNREADY("a") "}}}",
                  "Ready=False/Creating: Unready resources: a, b, and c\n", true },
                { "{desired: {resources: {" UNREADY("e") ", " UNREADY("d") ", " UNREADY("c") ", " UNREADY(
                          "b") ", " UNREADY("a") "}}}",
                  "Ready=False/Creating: Unready resources: a, b, c, and 2 more\n", true },
                { "{desired: {composite: {ready: READY_TRUE}, resources: {" UNREADY("b") "}}}",
                  "Ready=True/Available: \n", true },
                { "{desired: {composite: {ready: READY_FALSE}, resources: {" READY("b") "}}}",
                  "Ready=False/Creating: \n", false },
                { "{desired: {composite: {ready: READY_UNSPECIFIED}, resources: {" READY("b") "}}}",
                  "Ready=True/Available: \n", false },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct reconcile_result result;

                start(SCOPE_NAMESPACED, cases[i].answer);
                result = reconcile_ok();
                ASSERT_STR_CASE(cases[i].answer, str_from(conditions_text(get(&key))),
                                str_from(
                                        text("Synced=True/ReconcileSuccess: \n%sResponsive=True/WatchCircuitClosed: \n",
                                             cases[i].wanted)));
                ASSERT_CASE(cases[i].answer, !result.requeues);
                options.is_realtime = false;
                result = reconcile_ok();
                ASSERT_CASE(cases[i].answer, result.requeues == cases[i].requeues);
                tear_down();
        }
}

TEST(resources_that_are_not_ready_are_told_in_events)
{
        struct reconcile_result result;

        start(SCOPE_NAMESPACED, "{desired: {resources: {" UNREADY("b") ", " READY("a") ", " UNREADY("''") "}}}");
        result = reconcile_ok();
        ASSERT(str_ends_with(str_from(events_text(&result)),
                             STR("Normal ComposeResources: Composed resource \"0\" is not yet ready\n"
                                 "Normal ComposeResources: Composed resource \"b\" is not yet ready\n")));
        ASSERT_STR(condition("Ready").message, STR("Unready resources: 0, b"));
        tear_down();
}

TEST(a_circuit_that_is_open_is_told)
{
        start(SCOPE_CLUSTER, NULL);
        options.open_circuit = STR("Bucket/b (default)");
        reconcile_ok();
        ASSERT_INT(condition("Responsive").status, CONDITION_FALSE);
        ASSERT_STR(condition("Responsive").reason, STR("WatchCircuitOpen"));
        ASSERT_STR(condition("Responsive").message,
                   STR("Too many watch events from Bucket/b (default). Allowing events periodically."));
        reconcile_ok();
        ASSERT_INT(faulty.n_writes, 0);
        options.open_circuit = STR("");
        reconcile_ok();
        ASSERT_INT(faulty.n_writes, 1);
        ASSERT_STR(condition("Responsive").reason, STR("WatchCircuitClosed"));
        tear_down();
}

/* --- When to come again --- */

TEST(a_composite_is_looked_at_again_in_time)
{
        static const struct {
                const char *name;
                bool is_realtime;
                int64_t poll_s;
                const char *annotation;
                const char *answer;
                int64_t wanted_ms; /* give or take a tenth */
        } cases[] = {
                { "nothing", true, 60, NULL, "{meta: {ttl: 0s}}", 0 },
                { "ttl", true, 60, NULL, "{meta: {ttl: 30s}}", 30000 },
                { "ttl before annotation", true, 60, "10s", "{meta: {ttl: 30s}}", 30000 },
                { "annotation", true, 60, "10s", "{meta: {ttl: 0s}}", 10000 },
                { "annotation below the least", true, 60, "100ms", "{meta: {ttl: 0s}}", 1000 },
                { "annotation that is none", true, 60, "often", "{meta: {ttl: 0s}}", 0 },
                { "negative annotation", true, 60, "-1s", "{meta: {ttl: 0s}}", 0 },
                { "poll", false, 60, NULL, "{meta: {ttl: 0s}}", 60000 },
                { "no ttl where there is a poll", false, 60, NULL, "{meta: {ttl: 30s}}", 60000 },
                { "annotation instead of the poll", false, 60, "1h30m", "{meta: {ttl: 30s}}", 5400000 },
                { "annotation that is none and the poll", false, 60, "0", "{meta: {ttl: 30s}}", 60000 },
                { "no poll", false, 0, NULL, "{meta: {ttl: 30s}}", 0 },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                int64_t least = INT64_MAX, most = 0;

                start(SCOPE_CLUSTER, cases[i].answer);
                options.is_realtime = cases[i].is_realtime;
                options.poll_interval_ns = cases[i].poll_s * SECOND_NS;
                options.min_poll_interval_ns = SECOND_NS;
                if (cases[i].annotation)
                        patch(&key, text("{metadata: {annotations: {crossplane.io/poll-interval: '%s'}}}",
                                         cases[i].annotation));
                for (int n = 0; n < 20; n++) {
                        struct reconcile_result result = reconcile_ok();
                        int64_t wanted = cases[i].wanted_ms * 1000000;

                        ASSERT_CASE(cases[i].name, !result.requeues);
                        ASSERT_CASE(cases[i].name, result.requeue_after_ns >= wanted - wanted / 10);
                        ASSERT_CASE(cases[i].name, result.requeue_after_ns <= wanted + wanted / 10);
                        least = MIN(least, result.requeue_after_ns);
                        most = MAX(most, result.requeue_after_ns);
                }
                ASSERT_CASE(cases[i].name, least < most || cases[i].wanted_ms == 0);
                tear_down();
        }
}

TEST(a_time_may_be_as_long_as_there_is)
{
        static const struct {
                const char *annotation, *answer;
        } cases[] = { { NULL, "{meta: {ttl: 315576000000s}}" }, { "2562047h47m16s", "{meta: {ttl: 0s}}" } };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                start(SCOPE_CLUSTER, cases[i].answer);
                options.is_realtime = true;
                if (cases[i].annotation)
                        patch(&key, text("{metadata: {annotations: {crossplane.io/poll-interval: '%s'}}}",
                                         cases[i].annotation));
                for (int n = 0; n < 20; n++)
                        ASSERT(reconcile_ok().requeue_after_ns >= INT64_MAX / 10 * 8);
                tear_down();
        }
}

TEST(the_shortest_of_several_ttls_counts)
{
        struct reconcile_result result;

        set_up(SCOPE_CLUSTER, NULL);
        answers[0] = "{meta: {ttl: 30s}}";
        answers[1] = "{meta: {ttl: 10s}}";
        answers[2] = "{meta: {ttl: 0s}}";
        make_revision(make_composition("apps", 0, 3, NULL), 1, true);
        make_composite("web", "{}");
        result = reconcile_ok();
        ASSERT(result.requeue_after_ns >= 9 * SECOND_NS && result.requeue_after_ns <= 11 * SECOND_NS);
        tear_down();
}

/* --- Pause --- */

#define PAUSED "Normal ReconciliationPaused: Reconciliation is paused via the pause annotation\n"

static void annotate(const char *paused)
{
        patch(&key, text("{metadata: {annotations: {crossplane.io/paused: %s}}}", paused));
}

TEST(a_paused_composite_is_left_alone)
{
        struct reconcile_result result;

        start(SCOPE_NAMESPACED, bucket_answer);
        annotate("'true'");
        patch(&key, "{metadata: {annotations: {crossplane.io/reconcile-requested-at: now}}}");
        result = reconcile_ok();
        ASSERT_TEXT(events_text(&result), PAUSED);
        ASSERT(!result.requeues && result.requeue_after_ns == 0);
        ASSERT(!bucket());
        ASSERT_INT(n_calls_of_functions, 0);
        ASSERT_TEXT(conditions_text(get(&key)),
                    "Responsive=True/WatchCircuitClosed: \nSynced=False/ReconcilePaused: Reconciliation (including "
                    "deletion) is paused via the pause annotation\n");
        ASSERT(!meta_has_finalizer(get(&key), STR("composite.apiextensions.crossplane.io")));
        annotate("'TRUE'");
        reconcile_ok();
        ASSERT(bucket());
        ASSERT_STR(condition("Synced").reason, STR("ReconcileSuccess"));
        /* A pause leaves the other conditions as they were. */
        annotate("'true'");
        reconcile_ok();
        ASSERT_INT(condition("Ready").status, CONDITION_TRUE);
        ASSERT_INT(condition("Database").status, CONDITION_TRUE);
        tear_down();
}

TEST(a_pause_holds_deletion_up)
{
        start(SCOPE_LEGACY, bucket_answer);
        reconcile_ok();
        annotate("'true'");
        remove_object(&key);
        reconcile_ok();
        ASSERT_STR(condition("Synced").reason, STR("ReconcilePaused"));
        ASSERT_INT(condition("Ready").status, CONDITION_TRUE);
        ASSERT(meta_has_finalizer(get(&key), STR("composite.apiextensions.crossplane.io")));
        annotate("null");
        reconcile_ok();
        ASSERT(!get(&key));
        tear_down();
}

TEST(a_pause_that_cannot_be_told)
{
        _cleanup_err_ struct err err = { 0 };
        struct reconcile_result result;

        start(SCOPE_LEGACY, NULL);
        annotate("'true'");
        faulty_reset(&faulty, FAULT_AFTER, 1);
        ASSERT(reconcile(&result, &err) < 0);
        ASSERT_TEXT(err_message(&err), "cannot update composite resource status: injected");
        make_composite("other", "{}");
        annotate("'true'");
        faulty_reset(&faulty, FAULT_CONFLICT, 1);
        ASSERT(reconcile(&result, NULL) >= 0);
        ASSERT(result.requeues);
        tear_down();
}

/* --- Deletion --- */

TEST(a_deleted_composite_lets_go)
{
        struct reconcile_result result;
        struct object_key k;

        start(SCOPE_NAMESPACED, bucket_answer);
        reconcile_ok();
        k = object_key_of(bucket());
        remove_object(&key);
        ASSERT(get(&key));
        n_calls_of_functions = 0;
        result = reconcile_ok();
        ASSERT_TEXT(events_text(&result), "");
        ASSERT_INT(n_calls_of_functions, 0);
        ASSERT_INT(faulty.n_writes, 1); /* the finalizer; what is gone has no status */
        ASSERT(!get(&key));
        ASSERT(store_settle(store, &run, NULL) >= 0);
        ASSERT(!get(&k));
        tear_down();
}

TEST(what_others_hold_says_that_it_is_being_deleted)
{
        start(SCOPE_NAMESPACED, bucket_answer);
        patch(&key, "{metadata: {finalizers: [example.org/wait]}}");
        reconcile_ok();
        remove_object(&key);
        reconcile_ok();
        ASSERT(!meta_has_finalizer(get(&key), STR("composite.apiextensions.crossplane.io")));
        ASSERT_INT(condition("Ready").status, CONDITION_TRUE); /* the answer to the write of the finalizer has it so */
        reconcile_ok();
        ASSERT_INT(condition("Ready").status, CONDITION_FALSE);
        ASSERT_STR(condition("Ready").reason, STR("Deleting"));
        ASSERT_INT(condition("Synced").status, CONDITION_TRUE);
        reconcile_ok();
        ASSERT_INT(faulty.n_writes, 0);
        tear_down();
}

TEST(a_finalizer_that_stays_is_told)
{
        _cleanup_err_ struct err err = { 0 };
        struct reconcile_result result;

        start(SCOPE_NAMESPACED, NULL);
        reconcile_ok();
        remove_object(&key);
        faulty_reset(&faulty, FAULT_BEFORE, 2);
        ASSERT(reconcile(&result, &err) < 0);
        ASSERT_TEXT(events_text(&result),
                    "Warning DeleteCompositeResource: cannot remove finalizer from composite resource: injected\n");
        ASSERT_STR(condition("Synced").message, STR("cannot remove finalizer from composite resource: injected"));
        ASSERT_STR(condition("Ready").reason, STR("Deleting"));
        reconcile_ok();
        ASSERT(!get(&key));
        tear_down();
}

/* --- The end --- */

TEST(a_status_that_cannot_be_written)
{
        _cleanup_err_ struct err err = { 0 };
        struct reconcile_result result;
        size_t n;

        start(SCOPE_NAMESPACED, bucket_answer);
        reconcile_ok();
        n = faulty.n_writes;
        make_composite("other", "{}");
        faulty_reset(&faulty, FAULT_AFTER, n);
        ASSERT(reconcile(&result, &err) < 0);
        ASSERT_TEXT(err_message(&err), "cannot update composite resource status: injected");
        make_composite("third", "{}");
        faulty_reset(&faulty, FAULT_CONFLICT, n);
        ASSERT(reconcile(&result, NULL) >= 0);
        ASSERT(result.requeues);
        tear_down();
}
