/* Errors of a composition (docs/spec/engine 1.6, 2.1, 2.6-2.10): the texts of events and conditions, and the objects that stay
 * untouched. */
#include "engine-test.h"

#define DESIRED(key, object) "{desired: {resources: {" key ": {ready: READY_TRUE, resource: " object "}}}}"
#define BUCKET_OF(spec)      "{apiVersion: s3.example.org/v1, kind: Bucket, metadata: {namespace: default}, spec: " spec "}"

static const char *refusal; /* of every write of a composed resource by the engine; NULL: none */

static bool finds_references_invalid;

static int refuse_references(const struct admission *a, struct err *err)
{
        struct status_subject subject = kind_subject(a->kind, a->request->key.name);
        struct field_errors errors;

        field_errors_init(&errors, &arena);
        field_error_add(&errors, FIELD_REQUIRED, STR("spec.size"), NULL, "must be set");
        return status_invalid(err, &subject, &errors);
}

static int refuse(void *arg, struct run *r, struct admission *a, struct err *err)
{
        struct status_subject subject = kind_subject(a->kind, a->request->key.name);

        if (finds_references_invalid && str_equal(a->request->manager, STR("apiextensions.crossplane.io/composite")))
                return refuse_references(a, err);
        if (!refusal || !(str_equal(a->kind->kind, STR("Bucket")) || str_equal(a->kind->kind, STR("ConfigMap"))) ||
            str_equal(a->request->manager, STR("somebody")))
                return 0;
        return status_forbidden(err, &subject, "%s", refusal);
}

static void start(enum scope s, const char *answer)
{
        static const struct admission_hook hook = { .name = "refuse", .admit = refuse };

        refusal = NULL;
        finds_references_invalid = false;
        set_up(s, NULL);
        store_add_hook(store, &hook);
        answers[0] = answer;
        make_revision(make_composition("apps", 0, 1, NULL), 1, true);
        make_composite("web", "{}");
        run.user.name = STR("system:serviceaccount:crossplane-system:crossplane");
}

static const struct value *only(struct gvk gvk)
{
        struct object_list found = list(gvk, STR(""));

        return found.n == 1 ? object_list_value(&found, 0, &arena) : NULL;
}

/* The events behind those of selection. */
static const char *events_behind_selection(const struct reconcile_result *result)
{
        struct reconcile_result rest = *result;

        while (rest.n_events && str_equal(rest.events->reason, STR("SelectComposition"))) {
                rest.events++;
                rest.n_events--;
        }
        return events_text(&rest);
}

/* --- A function without a free slot --- */

static bool never_enter(void *arg _unused_, struct str function _unused_)
{
        return false;
}

/* The Composition stays selected, so no later run tells it: these events must not be lost. The first step runs again, and its
 * results are told then. */
TEST(a_run_that_gives_way_tells_what_it_selected)
{
        struct function *busy = function_builtin(&scripted);
        struct reconcile_result result;

        start(SCOPE_NAMESPACED, "{results: [{severity: SEVERITY_NORMAL, message: hello}]}");
        busy->wants_tag = true;
        registry_set(registry, STR("busy"), busy);
        make_revision(
                make_composition("others", 0, 1,
                                 "{spec: {pipeline: [{step: first, functionRef: {name: scripted}, input: {step: 0}}, "
                                 "{step: second, functionRef: {name: busy}, input: {step: 1}}]}}"),
                1, true);
        make_composite("db", "{crossplane: {compositionRef: {name: others}}}");
        options.hooks.enter = never_enter;
        result = reconcile_ok();
        ASSERT(result.gave_way);
        ASSERT_INT(result.n_events, 1);
        ASSERT(str_starts_with(str_from(events_text(&result)),
                               STR("Normal SelectComposition: Selected composition revision: others-")));
        tear_down();
}

/* --- The API does not take a resource --- */

TEST(an_invalid_resource_does_not_stop_the_others)
{
        struct reconcile_result result;

        start(SCOPE_NAMESPACED,
              "{desired: {resources: {bad: {ready: READY_TRUE, resource: " BUCKET_OF(
                      "{size: 101}") "}, good: {ready: "
                                     "READY_TRUE, resource: " BUCKET_OF("{size: 1}") "}, small: {resource: " BUCKET_OF(
                                             "{size: 102}") "}}}}");
        result = reconcile_ok();
        ASSERT(str_starts_with(
                str_from(events_behind_selection(&result)),
                STR("Warning ComposeResources: cannot apply composed resource \"bad\": Bucket.s3.example.org \"web-")));
        ASSERT(strstr(events_text(&result), "is invalid: spec.size: Invalid value: 101"));
        ASSERT(str_ends_with(str_from(events_text(&result)),
                             STR("Normal ComposeResources: Composed resource \"bad\" is not yet valid\n"
                                 "Normal ComposeResources: Composed resource \"small\" is not yet valid\n"
                                 "Normal ComposeResources: Composed resource \"small\" is not yet ready\n")));
        ASSERT_TEXT(conditions_text(get(&key)), "Synced=False/ReconcileError: Unsynced resources: bad, small\n"
                                                "Ready=False/Creating: Unready resources: small\n"
                                                "Responsive=True/WatchCircuitClosed: \n");
        ASSERT(!result.requeues);
        ASSERT(only(BUCKET));
        /* Both are tried again, and nothing comes of it. */
        reconcile_ok();
        ASSERT_INT(faulty.n_writes, 2);
        tear_down();
}

/* The texts of what is invalid change, so the condition does not have them. */
TEST(invalid_references_are_told_in_an_event_alone)
{
        struct reconcile_result result;

        start(SCOPE_NAMESPACED, DESIRED("b", BUCKET_OF("{}")));
        finds_references_invalid = true;
        result = reconcile_error("cannot compose resources: cannot update composed resource references: "
                                 "App.example.org \"web\" is invalid: "
                                 "spec.size: Required value: must be set");
        ASSERT_STR(result.events[result.n_events - 1].message,
                   STR("cannot compose resources: cannot update composed resource references: App.example.org \"web\" "
                       "is invalid: spec.size: "
                       "Required value: must be set"));
        ASSERT_STR(condition("Synced").message,
                   STR("cannot compose resources: some resources were invalid, check events"));
        ASSERT(!only(BUCKET));
        tear_down();
}

TEST(references_that_do_not_fit_their_type)
{
        struct reconcile_result result;
        _cleanup_err_ struct err err = { 0 };

        start(SCOPE_NAMESPACED,
              DESIRED("b", "{apiVersion: s3.example.org/v1, kind: Bucket, metadata: {namespace: default, uid: x}}"));
        /* A uid in a reference is nothing that the schema knows. */
        ASSERT(reconcile(&result, &err) < 0);
        ASSERT(strstr(err_message(&err), "cannot compose resources: cannot update composed resource references: "));
        ASSERT_INT(result.events[result.n_events - 1].is_warning, true);
        ASSERT_STR(result.events[result.n_events - 1].message, str_from(err_message(&err)));
        ASSERT(!only(BUCKET));
        tear_down();
}

#define REFUSED                                                                                                        \
        "cannot compose resources: cannot apply composed resource \"b\": buckets.s3.example.org \"%s\" is forbidden: " \
        "no"

TEST(what_the_engine_may_not_do_is_named)
{
        static const struct {
                const char *denied;
                const char *says;
        } cases[] = {
                { "create update patch delete", "system:serviceaccount:crossplane-system:crossplane is not allowed to "
                                                "[create, update, patch, delete] resource "
                                                "buckets.s3.example.org/v1 in namespace default" },
                { "get list watch create update patch delete",
                  "system:serviceaccount:crossplane-system:crossplane is not allowed to [get, list, watch, create, "
                  "update, patch, "
                  "delete] resource buckets.s3.example.org/v1 in namespace default" },
                { NULL, NULL },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct reconcile_result result;
                const char *message;
                struct composite xr;
                const struct resource_reference *refs;

                start(SCOPE_NAMESPACED, DESIRED("b", BUCKET_OF("{}")));
                refusal = "no";
                faulty.denied_verbs = cases[i].denied;
                ASSERT(reconcile(&result, NULL) < 0);
                xr = composite();
                ASSERT_INT(composite_resource_refs(&arena, &xr, &refs), 1);
                message = text(REFUSED, arena_cstring(&arena, refs[0].name));
                if (cases[i].says) {
                        ASSERT_TEXT(events_behind_selection(&result),
                                    text("Warning ComposeResources: %s\nWarning RoleBasedAccessControl: %s\n", message,
                                         cases[i].says));
                        ASSERT_STR(condition("Synced").message, str_from(text("[%s, %s]", message, cases[i].says)));
                } else {
                        ASSERT_TEXT(events_behind_selection(&result), text("Warning ComposeResources: %s\n", message));
                        ASSERT_STR(condition("Synced").message, str_from(message));
                }
                /* Once it may, all is well. */
                refusal = faulty.denied_verbs = NULL;
                reconcile_ok();
                ASSERT(only(BUCKET));
                ASSERT_INT(condition("Synced").status, CONDITION_TRUE);
                tear_down();
        }
}

TEST(a_kind_of_the_core_group_has_no_group)
{
        struct reconcile_result result;

        start(SCOPE_CLUSTER,
              DESIRED("b", "{apiVersion: s3.example.org/v1, kind: Bucket, metadata: {name: b, namespace: other}}"));
        refusal = "no";
        faulty.denied_verbs = "delete";
        ASSERT(reconcile(&result, NULL) < 0);
        ASSERT(str_ends_with(condition("Synced").message,
                             STR("[delete] resource buckets.s3.example.org/v1 in namespace other]")));
        tear_down();
        start(SCOPE_CLUSTER, DESIRED("c", "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: other}}"));
        refusal = "no";
        faulty.denied_verbs = "create";
        ASSERT(reconcile(&result, NULL) < 0);
        ASSERT(str_ends_with(condition("Synced").message, STR("[create] resource configmaps/v1 in namespace other]")));
        tear_down();
}

TEST(an_access_review_that_fails_is_told_instead)
{
        struct reconcile_result result;
        size_t n;

        start(SCOPE_NAMESPACED, DESIRED("b", BUCKET_OF("{}")));
        refusal = "no";
        ASSERT(reconcile(&result, NULL) < 0);
        faulty_reset(&faulty, FAULT_NONE, 0);
        ASSERT(reconcile(&result, NULL) < 0);
        n = faulty.n_calls; /* the review is the last; its condition is there already */
        faulty_reset(&faulty, FAULT_BEFORE, n);
        ASSERT(reconcile(&result, NULL) < 0);
        ASSERT_STR(result.events[result.n_events - 1].reason, STR("RoleBasedAccessControl"));
        ASSERT_STR(result.events[result.n_events - 1].message, STR("injected"));
        tear_down();
}

TEST(a_kind_that_is_not_there)
{
        struct reconcile_result result;

        start(SCOPE_CLUSTER, DESIRED("b", BUCKET_OF("{}")));
        faulty.missing_kind = "Bucket";
        result = reconcile_error("cannot compose resources: cannot apply composed resource \"b\": the server could not "
                                 "find the requested resource");
        ASSERT_TEXT(events_behind_selection(&result),
                    "Warning ComposeResources: cannot compose resources: cannot apply composed resource \"b\": the "
                    "server could not find the "
                    "requested resource\n"
                    "Warning RoleBasedAccessControl: the server could not find the requested resource\n");
        ASSERT_STR(condition("Synced").message, STR("[cannot compose resources: cannot apply composed resource \"b\": "
                                                    "the server could not find the requested resource, "
                                                    "the server could not find the requested resource]"));
        tear_down();
}

TEST(what_is_not_served_is_not_forgotten)
{
        struct composite xr;

        start(SCOPE_NAMESPACED, DESIRED("b", BUCKET_OF("{}")));
        reconcile_ok();
        answers[0] = NULL;
        faulty.missing_kind = "Bucket";
        reconcile_error("cannot compose resources: cannot get existing composed resources: cannot get composed "
                        "resource: no matches for kind \"Bucket\" in version \"s3.example.org/v1\"");
        xr = composite();
        ASSERT_INT(value_count(composite_field(&xr, STR("resourceRefs"))), 1);
        faulty.missing_kind = NULL;
        reconcile_ok();
        xr = composite();
        ASSERT_INT(value_count(composite_field(&xr, STR("resourceRefs"))), 0);
        tear_down();
}

/* --- A resource that cannot be the composite's --- */

TEST(desired_resources_that_cannot_be)
{
        static const struct {
                enum scope scope;
                const char *object;
                const char *message;
        } cases[] = {
                { SCOPE_NAMESPACED, "{apiVersion: nobody.example.org/v1, kind: Missing}",
                  "cannot check if composed resource \"r\" is namespaced (a Missing named ): failed to get "
                  "restmapping: no matches for kind "
                  "\"Missing\" in version \"nobody.example.org/v1\"; install its CustomResourceDefinition, its "
                  "provider, "
                  "or the XRD that defines it" },
                { SCOPE_NAMESPACED, "{apiVersion: nobody.example.org/v1, kind: Missing, metadata: {name: x}}",
                  "cannot check if composed resource \"r\" is namespaced (a Missing named x): failed to get "
                  "restmapping: no matches for kind "
                  "\"Missing\" in version \"nobody.example.org/v1\"; install its CustomResourceDefinition, its "
                  "provider, "
                  "or the XRD that defines it" },
                { SCOPE_NAMESPACED, "{}",
                  "cannot check if composed resource \"r\" is namespaced (a  named ): Object 'Kind' is missing in "
                  "'unstructured object has no "
                  "kind'" },
                { SCOPE_NAMESPACED, "{apiVersion: db.example.org/v1, kind: Table}",
                  "cannot apply cluster scoped composed resource \"r\" (a Table named ) for a namespaced composite "
                  "resource. An XRD with scope: Cluster may compose it" },
                { SCOPE_NAMESPACED, "{apiVersion: s3.example.org/v1, kind: Bucket, metadata: {name: UP}}",
                  "cannot apply composed resource \"r\" because it has an invalid name \"UP\". Must be a valid RFC "
                  "1123 subdomain name." },
                { SCOPE_NAMESPACED,
                  "{apiVersion: s3.example.org/v1, kind: Bucket, metadata: {name: x, ownerReferences: [{apiVersion: "
                  "v1, kind: Boss, name: b, "
                  "uid: u, controller: true}]}}",
                  "cannot render metadata for composed resource \"r\": cannot set controller reference: x is already "
                  "controlled by Boss b (UID "
                  "u)" },
                { SCOPE_CLUSTER, "{apiVersion: s3.example.org/v1, kind: Bucket, metadata: {name: x}}",
                  "cannot apply composed resource \"r\": a Bucket is namespaced, and a cluster scoped composite "
                  "resource gives it no "
                  "namespace: set metadata.namespace" },
                { SCOPE_LEGACY, "{apiVersion: s3.example.org/v1, kind: Bucket}",
                  "cannot apply composed resource \"r\": a Bucket is namespaced, and a cluster scoped composite "
                  "resource gives it no "
                  "namespace: set metadata.namespace" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct composite xr;
                const char *message;

                start(cases[i].scope, NULL);
                answers[0] = text(DESIRED("r", "%s"), cases[i].object);
                faulty.missing_kind = "Missing";
                message = text("cannot compose resources: %s", cases[i].message);
                reconcile_error(message);
                ASSERT_STR(condition("Synced").message, str_from(message));
                xr = composite();
                ASSERT_CASE(cases[i].message, !composite_field(&xr, STR("resourceRefs")));
                answers[0] = NULL;
                reconcile_ok();
                tear_down();
        }
}

TEST(a_resource_goes_into_the_namespace_of_its_composite)
{
        struct reconcile_result result;

        start(SCOPE_NAMESPACED,
              DESIRED("b", "{apiVersion: s3.example.org/v1, kind: Bucket, metadata: {namespace: other}}"));
        result = reconcile_ok();
        ASSERT_TEXT(events_behind_selection(&result),
                    "Warning NamespaceOverridden: cannot create composed resource \"b\" in namespace "
                    "\"other\", using XR namespace \"default\" instead\n");
        ASSERT_STR(meta_namespace(only(BUCKET)), STR("default"));
        result = reconcile_ok();
        ASSERT_TEXT(events_text(&result), "");
        ASSERT_INT(faulty.n_writes, 0);
        tear_down();
}

TEST(cluster_scoped_composites_compose_anywhere)
{
        for (enum scope s = SCOPE_CLUSTER; s < _SCOPES; s++) {
                struct composite xr;

                start(s, "{desired: {resources: {t: {resource: {apiVersion: db.example.org/v1, kind: Table}}, b: "
                         "{resource: {apiVersion: "
                         "s3.example.org/v1, kind: Bucket, metadata: {name: there, namespace: other}}}}}}");
                reconcile_ok();
                ASSERT_STR(meta_namespace(only(BUCKET)), STR("other"));
                xr = composite();
                check_value("references", composite_field(&xr, STR("resourceRefs")),
                            text("[{\"apiVersion\":\"db.example.org/"
                                 "v1\",\"kind\":\"Table\",\"name\":\"%.*s\"},{\"apiVersion\":\"s3.example.org/"
                                 "v1\",\"kind\":\"Bucket\",\"name\":\"there\",\"namespace\":\"other\"}]",
                                 STR_ARG(meta_name(only(TABLE)))));
                reconcile_ok();
                ASSERT_INT(faulty.n_writes, 0);
                tear_down();
        }
}

/* --- What belongs to somebody else --- */

/* A Bucket that the composite refers to, controlled by another composite or by nobody. */
static struct object_key plant(const char *annotation, bool is_controlled)
{
        const struct value *boss =
                create(yaml("{apiVersion: v1, kind: ConfigMap, metadata: {name: boss, namespace: default}}"));
        struct owner_reference owner = owner_reference_to(&arena, boss, true, true);
        const struct value *object;
        struct composite xr = composite();

        object = yaml(text(
                "{apiVersion: s3.example.org/v1, kind: Bucket, metadata: {name: theirs, namespace: default, labels: "
                "{crossplane.io/composite: web}, annotations: {%s: theirs}}, spec: {size: 8}}",
                annotation));
        if (is_controlled)
                ASSERT(owner_with_reference(&arena, object, &owner, &object, NULL) >= 0);
        create(object);
        update(composite_with(&arena, &xr, STR("resourceRefs"),
                              yaml("[{apiVersion: s3.example.org/v1, kind: Bucket, name: theirs}]"))
                       .object,
               "");
        return object_key_of(object);
}

TEST(what_another_controls_is_neither_deleted_nor_observed)
{
        const struct value *before;
        struct object_key k;

        start(SCOPE_NAMESPACED, DESIRED("b", BUCKET_OF("{}")));
        k = plant("crossplane.io/composition-resource-name", true);
        before = get(&k);
        reconcile_ok();
        ASSERT(value_equal(before, get(&k)));
        ASSERT_INT(list(BUCKET, meta_uid(get(&key))).n, 1);
        tear_down();
}

TEST(what_another_controls_is_not_taken)
{
        struct reconcile_result result;
        const struct value *before;
        struct object_key k;

        start(SCOPE_NAMESPACED,
              DESIRED("theirs",
                      "{apiVersion: s3.example.org/v1, kind: Bucket, metadata: {name: theirs}, spec: {size: 1}}"));
        k = plant("crossplane.io/composition-resource-name", true);
        before = get(&k);
        result = reconcile_ok();
        ASSERT(strstr(events_text(&result), "Warning ComposeResources: cannot apply composed resource \"theirs\": "));
        ASSERT(strstr(
                events_text(&result),
                "Only one reference can have Controller set to true. Found \"true\" in references for ConfigMap/boss "
                "and App/web"));
        ASSERT_STR(condition("Synced").message, STR("Unsynced resources: theirs"));
        ASSERT(value_equal(before, get(&k)));
        tear_down();
}

TEST(what_nobody_controls_is_left_alone_and_forgotten)
{
        const struct value *before;
        struct composite xr;
        struct object_key k;

        start(SCOPE_NAMESPACED, NULL);
        k = plant("crossplane.io/composition-resource-name", false);
        before = get(&k);
        reconcile_ok();
        ASSERT(value_equal(value_get(before, STR("spec")), value_get(get(&k), STR("spec"))));
        ASSERT(!meta_is_deleting(get(&k)));
        ASSERT(meta_has_label(get(&k), STR("crossplane.io/composite")));
        xr = composite();
        ASSERT_INT(value_count(composite_field(&xr, STR("resourceRefs"))), 0);
        tear_down();
}

TEST(what_nobody_controls_is_adopted_when_it_is_desired)
{
        struct owner_reference owner;
        struct object_key k;

        start(SCOPE_NAMESPACED, DESIRED("theirs", "{apiVersion: s3.example.org/v1, kind: Bucket, spec: {size: 1}}"));
        k = plant("crossplane.io/composition-resource-name", false);
        reconcile_ok();
        ASSERT(owner_controller(get(&k), &owner));
        ASSERT_STR(owner.uid, meta_uid(get(&key)));
        ASSERT_INT(value_int(value_find(get(&k), "spec", "size"), 0), 1);
        ASSERT_INT(list(BUCKET, meta_uid(get(&key))).n, 1);
        tear_down();
}

TEST(a_resource_without_its_key_stops_everything)
{
        start(SCOPE_NAMESPACED, NULL);
        plant("some/other", false);
        reconcile_error("cannot compose resources: cannot get existing composed resources: encountered composed "
                        "resource without required "
                        "\"crossplane.io/composition-resource-name\" annotation");
        ASSERT_INT(n_calls_of_functions, 0);
        tear_down();
}

TEST(of_two_with_one_key_the_last_reference_counts)
{
        struct composite xr;

        start(SCOPE_NAMESPACED, DESIRED("b", BUCKET_OF("{size: 9}")));
        for (int i = 0; i < 3; i++)
                create(yaml(text("{apiVersion: s3.example.org/v1, kind: Bucket, metadata: {name: b%d, namespace: "
                                 "default, annotations: "
                                 "{crossplane.io/composition-resource-name: b}}}",
                                 i)));
        xr = composite();
        update(composite_with(&arena, &xr, STR("resourceRefs"),
                              yaml("[{apiVersion: s3.example.org/v1, kind: Bucket, name: b0}, {apiVersion: "
                                   "s3.example.org/v1, kind: Bucket, name: "
                                   "b2}, {apiVersion: s3.example.org/v1, kind: Bucket, name: b1}]"))
                       .object,
               "");
        reconcile_ok();
        xr = composite();
        check_value("references", composite_field(&xr, STR("resourceRefs")),
                    "[{\"apiVersion\":\"s3.example.org/v1\",\"kind\":\"Bucket\",\"name\":\"b1\"}]");
        tear_down();
}

/* --- What is no longer desired --- */

TEST(a_delete_says_why_and_spares_what_changed)
{
        struct object_key k;

        start(SCOPE_LEGACY, DESIRED("b", BUCKET_OF("{}")));
        reconcile_ok();
        k = object_key_of(only(BUCKET));
        answers[0] = NULL;
        /* It cannot be deleted: its reference stays. */
        refusal = "it is in use";
        reconcile_error(
                text("cannot compose resources: cannot garbage collect composed resources that are no longer desired: "
                     "buckets.s3.example.org \"%.*s\" is forbidden: it is in use",
                     STR_ARG(k.name)));
        {
                struct composite xr = composite();

                ASSERT_INT(value_count(composite_field(&xr, STR("resourceRefs"))), 1);
        }
        refusal = NULL;
        reconcile_ok();
        ASSERT_INT(faulty.writes[0].verb, WRITE_UPDATE);
        ASSERT_INT(faulty.writes[1].verb, WRITE_DELETE);
        ASSERT(object_key_equal(&faulty.writes[1].key, &k));
        for (int i = 0; i < 2; i++)
                ASSERT_STR(
                        faulty.writes[i].cause,
                        str_from(text(
                                "reconcile of App web: CompositionRevision \"%.*s\" no longer desires resource \"b\"",
                                STR_ARG(composite_ref(&(struct composite) { get(&key), &places_legacy },
                                                      STR("compositionRevisionRef"))))));
        ASSERT(store_settle(store, &run, NULL) >= 0);
        ASSERT(!get(&k));
        tear_down();
}

static void remove_first(const struct write_request *req)
{
        if (str_equal(req->key.gvk.kind, STR("Bucket")) && get(&req->key))
                remove_object(&req->key);
}

TEST(what_is_gone_already_needs_no_delete)
{
        struct composite xr;

        start(SCOPE_NAMESPACED, DESIRED("b", BUCKET_OF("{}")));
        reconcile_ok();
        answers[0] = NULL;
        faulty.before_write = remove_first;
        reconcile_ok();
        ASSERT_INT(faulty.writes[0].verb, WRITE_UPDATE);
        xr = composite();
        ASSERT_INT(value_count(composite_field(&xr, STR("resourceRefs"))), 0);
        ASSERT_INT(condition("Synced").status, CONDITION_TRUE);
        tear_down();
}

/* --- Functions --- */

TEST(a_fatal_result_writes_the_status_alone)
{
        struct reconcile_result result;

        start(SCOPE_LEGACY, "{desired: {resources: {b: {resource: " BUCKET_OF(
                                    "{}") "}}}, conditions: [{type: Database, status: "
                                          "STATUS_CONDITION_TRUE, reason: Up}, {type: Queue, status: "
                                          "STATUS_CONDITION_TRUE, reason: Up}]}");
        reconcile_ok();
        answers[0] =
                "{results: [{severity: SEVERITY_WARNING, message: first}, {severity: SEVERITY_UNSPECIFIED, message: "
                "what}, {severity: "
                "SEVERITY_FATAL, message: boom, reason: Mine, target: TARGET_COMPOSITE_AND_CLAIM}, {severity: "
                "SEVERITY_NORMAL, message: "
                "lost}], conditions: [{type: Database, status: STATUS_CONDITION_FALSE, reason: Down, message: oh}]}";
        result = reconcile_error("cannot compose resources: pipeline step \"s0\" returned a fatal result: boom");
        ASSERT(result.is_fatal);
        ASSERT_TEXT(events_text(&result), "Warning ComposeResources: cannot compose resources: pipeline step \"s0\" "
                                          "returned a fatal result: boom\n"
                                          "Warning ComposeResources: Pipeline step \"s0\": first\n"
                                          "Warning ComposeResources: Pipeline step \"s0\" returned a result of unknown "
                                          "severity (assuming warning): what\n");
        ASSERT_TEXT(conditions_text(get(&key)), "Database=False/Down: oh\n"
                                                "Queue=Unknown/FatalError: A fatal error occurred before the status of "
                                                "this condition could be determined.\n"
                                                "Synced=False/ReconcileError: cannot compose resources: pipeline step "
                                                "\"s0\" returned a fatal result: boom\n"
                                                "Ready=False/Creating: Unready resources: b\n"
                                                "Responsive=True/WatchCircuitClosed: \n");
        ASSERT_INT(faulty.n_writes, 1);
        ASSERT_STR(faulty.writes[0].subresource, STR("status"));
        ASSERT(only(BUCKET));
        tear_down();
}

TEST(other_errors_lose_what_functions_said)
{
        struct reconcile_result result;
        struct condition before, after;

        start(SCOPE_NAMESPACED,
              "{results: [{severity: SEVERITY_NORMAL, message: hello}], conditions: [{type: Database, status: "
              "STATUS_CONDITION_TRUE, reason: Up}]}");
        reconcile_ok();
        before = condition("Database");
        refusal = "no";
        answers[0] = "{desired: {resources: {b: {resource: " BUCKET_OF(
                "{}") "}}}, results: [{severity: SEVERITY_NORMAL, message: hello}], "
                      "conditions: [{type: Database, status: STATUS_CONDITION_TRUE, reason: Up}, {type: New, status: "
                      "STATUS_CONDITION_TRUE, "
                      "reason: Up}]}";
        ASSERT(reconcile(&result, NULL) < 0);
        ASSERT_INT(result.n_events, 1);
        after = condition("Database");
        ASSERT_INT(after.status, CONDITION_UNKNOWN);
        ASSERT_INT(after.last_transition.seconds, before.last_transition.seconds);
        ASSERT_INT(after.observed_generation, meta_generation(get(&key)));
        ASSERT_INT(condition("New").reason.n, 0);
        tear_down();
}

TEST(what_is_for_the_claim_too)
{
        static const char answer[] = "{results: [{severity: SEVERITY_NORMAL, message: hello, target: "
                                     "TARGET_COMPOSITE_AND_CLAIM}, {severity: SEVERITY_WARNING, "
                                     "message: mind, reason: Care, target: TARGET_COMPOSITE_AND_CLAIM}, {severity: "
                                     "SEVERITY_NORMAL, message: alone, target: "
                                     "TARGET_COMPOSITE}, {severity: SEVERITY_UNSPECIFIED, message: what, target: "
                                     "TARGET_COMPOSITE_AND_CLAIM}], conditions: [{type: "
                                     "Database, status: STATUS_CONDITION_TRUE, reason: Up, target: "
                                     "TARGET_COMPOSITE_AND_CLAIM}, {type: Ready, status: "
                                     "STATUS_CONDITION_FALSE, reason: Ha, target: TARGET_COMPOSITE_AND_CLAIM}, {type: "
                                     "Own, status: STATUS_CONDITION_UNKNOWN, reason: "
                                     "Up}]}";
        struct reconcile_result result;
        struct condition c;

        start(SCOPE_LEGACY, answer);
        patch(&key, "{spec: {claimRef: {apiVersion: example.org/v1, kind: A, namespace: default, name: c}}}");
        for (int i = 0; i < 2; i++) {
                result = reconcile_ok();
                ASSERT_TEXT(events_behind_selection(&result),
                            "Normal ComposeResources: Pipeline step \"s0\": hello -> hello\n"
                            "Warning Care: Pipeline step \"s0\": mind -> mind\n"
                            "Normal ComposeResources: Pipeline step \"s0\": alone\n"
                            "Warning ComposeResources: Pipeline step \"s0\" returned a result of unknown severity "
                            "(assuming warning): what\n");
                check_value("types", value_find(get(&key), "status", "claimConditionTypes"), "[\"Database\"]");
        }
        c = condition("Database");
        ASSERT_INT(c.observed_generation, 0);
        ASSERT_STR(condition("Ready").reason, STR("Available"));
        /* Types stay, also of conditions that are no longer returned. */
        answers[0] = "{conditions: [{type: More, status: STATUS_CONDITION_TRUE, reason: Up, target: "
                     "TARGET_COMPOSITE_AND_CLAIM}]}";
        reconcile_ok();
        check_value("types", value_find(get(&key), "status", "claimConditionTypes"), "[\"Database\",\"More\"]");
        tear_down();
        start(SCOPE_LEGACY, answer); /* nobody has claimed it */
        result = reconcile_ok();
        ASSERT(!strstr(events_text(&result), "->"));
        ASSERT_INT(value_count(value_find(get(&key), "status", "claimConditionTypes")), 1);
        tear_down();
        start(SCOPE_CLUSTER, answer);
        result = reconcile_ok();
        ASSERT(!strstr(events_text(&result), "->"));
        ASSERT(!value_find(get(&key), "status", "claimConditionTypes"));
        tear_down();
}

TEST(a_status_that_does_not_fit_is_told)
{
        start(SCOPE_NAMESPACED, "{desired: {composite: {resource: {status: {nobody: knows}}}}}");
        for (int i = 0; i < 2; i++)
                reconcile_error(
                        "cannot compose resources: cannot apply composite resource status: failed to create typed "
                        "patch object "
                        "(default/web; example.org/v1, Kind=App): .status.nobody: field not declared in schema");
        ASSERT(str_ends_with(condition("Synced").message, STR(".status.nobody: field not declared in schema")));
        tear_down();
}
