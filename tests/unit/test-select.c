/* Which Composition and which revision a composite uses, and what it becomes before it is composed (docs/spec/engine 1.3-1.5): every rule, with
 * its events, conditions and words. */
#include "engine-test.h"

#define EITHER(legacy, modern) (scope == SCOPE_LEGACY ? (legacy) : (modern))

/* Crossplane's part of a spec, where the scope has it. */
static const char *machinery(const char *fields)
{
        return text(EITHER("%s", "{crossplane: %s}"), fields);
}

static void change(const char *fields)
{
        patch(&key, text("{spec: %s}", machinery(fields)));
}

static const struct value *composition(const char *name, const char *extra)
{
        return make_composition(name, 0, 1, extra);
}

static struct str selected(const char *field)
{
        struct composite xr = composite();

        return composite_ref(&xr, str_from(field));
}

static const char *name_of(const struct value *object)
{
        return arena_cstring(&arena, meta_name(object));
}

/* An error is also the last event and the condition. */
static void check_failure(const char *reason, const char *message)
{
        struct reconcile_result result = reconcile_error(message);
        const struct reconcile_event *last;

        ASSERT_CASE(message, result.n_events > 0);
        last = &result.events[result.n_events - 1];
        ASSERT_CASE(message, last->is_warning);
        ASSERT_STR(last->reason, str_from(reason));
        ASSERT_STR(last->message, str_from(message));
        ASSERT_STR(condition("Synced").message, str_from(message));
        ASSERT_STR(condition("Synced").reason, STR("ReconcileError"));
        ASSERT_INT(condition("Synced").status, CONDITION_FALSE);
        ASSERT_CASE(message, n_calls_of_functions == 0);
}

/* --- Compositions --- */

TEST(without_a_reference_any_composition_that_fits_is_taken)
{
        for (enum scope s = 0; s < _SCOPES; s++) {
                struct reconcile_result result;
                const struct value *revision;

                set_up(s, NULL);
                composition("a-other", "{spec: {compositeTypeRef: {kind: Other}}}");
                composition("b-other", "{spec: {compositeTypeRef: {apiVersion: example.org/v2}}}");
                revision = make_revision(composition("mine", NULL), 1, true);
                make_composite("web", "{}");
                result = reconcile_ok();
                ASSERT_TEXT(events_text(&result),
                            text("Normal SelectComposition: Successfully selected composition: mine\n"
                                 "Normal SelectComposition: Selected composition revision: %s\n",
                                 name_of(revision)));
                ASSERT_STR(selected("compositionRef"), STR("mine"));
                ASSERT_STR(selected("compositionRevisionRef"), meta_name(revision));
                tear_down();
        }
}

TEST(nothing_that_fits_is_an_error)
{
        for (enum scope s = 0; s < _SCOPES; s++) {
                set_up(s, NULL);
                composition("other", "{spec: {compositeTypeRef: {kind: Other}}}");
                make_composite("web", "{}");
                check_failure(
                        "SelectComposition",
                        "cannot select Composition: no compatible Compositions found: none has "
                        "spec.compositeTypeRef example.org/v1 App; Composition \"other\" is for example.org/v1 Other");
                tear_down();
        }
}

TEST(labels_select_a_composition)
{
        for (enum scope s = 0; s < _SCOPES; s++) {
                set_up(s, "{defaultCompositionRef: {name: fallback}}");
                make_revision(composition("fast", "{metadata: {labels: {speed: fast, size: big}}}"), 1, true);
                make_revision(composition("slow", "{metadata: {labels: {speed: slow, size: big}}}"), 1, true);
                make_composite("web", machinery("{compositionSelector: {matchLabels: {speed: slow, size: big}}}"));
                reconcile_ok();
                ASSERT_STR(selected("compositionRef"), STR("slow"));
                /* The selected Composition stays when the labels of the selector change later. */
                change("{compositionSelector: {matchLabels: {speed: fast}}}");
                reconcile_ok();
                ASSERT_STR(selected("compositionRef"), STR("slow"));
                make_composite("none", machinery("{compositionSelector: {matchLabels: {speed: none}}}"));
                n_calls_of_functions = 0;
                check_failure("SelectComposition",
                              "cannot select Composition: no compatible Compositions found: none has the labels "
                              "speed=none of the composite's compositionSelector");
                tear_down();
        }
}

TEST(of_several_any_is_taken_and_kept)
{
        bool was_taken[2] = { false, false };

        set_up(SCOPE_CLUSTER, NULL);
        make_revision(composition("c0", NULL), 1, true);
        make_revision(composition("c1", NULL), 1, true);
        for (int i = 0; i < 64; i++) {
                make_composite(text("web%d", i), "{}");
                reconcile_ok();
                ASSERT(str_starts_with(selected("compositionRef"), STR("c")));
                was_taken[selected("compositionRef").p[1] - '0'] = true;
        }
        ASSERT(was_taken[0] && was_taken[1]);
        tear_down();
}

TEST(a_default_is_taken_in_memory_and_kept_with_the_revision)
{
        for (enum scope s = 0; s < _SCOPES; s++) {
                struct reconcile_result result;
                const struct value *revision;

                set_up(s, "{defaultCompositionRef: {name: fallback}}");
                revision = make_revision(composition("fallback", NULL), 1, true);
                make_composite("web", "{}");
                result = reconcile_ok();
                ASSERT_TEXT(events_text(&result),
                            text("Normal CompositionSelection: Default composition has been selected\n"
                                 "Normal SelectComposition: Successfully selected composition: fallback\n"
                                 "Normal SelectComposition: Selected composition revision: %s\n",
                                 name_of(revision)));
                ASSERT_STR(selected("compositionRef"), STR("fallback"));
                result = reconcile_ok();
                ASSERT_TEXT(events_text(&result), "");
                tear_down();
        }
}

TEST(a_default_counts_for_nobody_who_has_chosen)
{
        set_up(SCOPE_NAMESPACED, "{defaultCompositionRef: {name: fallback}}");
        make_revision(composition("fallback", NULL), 1, true);
        make_revision(composition("mine", NULL), 1, true);
        make_composite("web", machinery("{compositionRef: {name: mine}}"));
        reconcile_ok();
        ASSERT_STR(selected("compositionRef"), STR("mine"));
        tear_down();
}

/* With a revision that is fixed nothing writes the default down. */
TEST(a_default_with_a_fixed_revision_is_never_kept)
{
        struct reconcile_result result;
        const struct value *revision;

        set_up(SCOPE_LEGACY, "{defaultCompositionRef: {name: fallback}}");
        revision = make_revision(composition("fallback", NULL), 1, true);
        make_composite("web", text("{compositionUpdatePolicy: Manual, compositionRevisionRef: {name: %s}}",
                                   name_of(revision)));
        patch(&key, "{metadata: {labels: {crossplane.io/composite: web}}}");
        for (int i = 0; i < 2; i++) {
                result = reconcile_ok();
                ASSERT_TEXT(events_text(&result),
                            "Normal CompositionSelection: Default composition has been selected\n"
                            "Normal SelectComposition: Successfully selected composition: fallback\n");
                ASSERT_STR(selected("compositionRef"), STR(""));
        }
        tear_down();
}

TEST(an_enforced_composition_replaces_any_other)
{
        for (enum scope s = 0; s < _SCOPES; s++) {
                struct reconcile_result result;
                const struct value *revision;

                set_up(s, "{enforcedCompositionRef: {name: must}, defaultCompositionRef: {name: mine}}");
                revision = make_revision(composition("must", NULL), 1, true);
                make_revision(composition("mine", NULL), 1, true);
                make_composite("web", machinery("{compositionRef: {name: mine}}"));
                result = reconcile_ok();
                ASSERT_TEXT(events_text(&result),
                            text("Normal CompositionSelection: Enforced composition has been selected\n"
                                 "Normal SelectComposition: Successfully selected composition: must\n"
                                 "Normal SelectComposition: Selected composition revision: %s\n",
                                 name_of(revision)));
                ASSERT_STR(selected("compositionRef"), STR("must"));
                result = reconcile_ok();
                ASSERT_TEXT(events_text(&result), "");
                tear_down();
        }
}

TEST(an_enforced_composition_that_does_not_fit_is_refused_later)
{
        set_up(SCOPE_NAMESPACED, "{enforcedCompositionRef: {name: must}}");
        make_revision(composition("must", "{spec: {compositeTypeRef: {kind: Other}}}"), 1, true);
        make_composite("web", "{}");
        check_failure("ComposeResources",
                      "cannot configure composite resource: referenced composition is not compatible "
                      "with this composite resource: it is for example.org/v1 Other, not for example.org/v1 App");
        ASSERT_STR(selected("compositionRef"), STR("must"));
        tear_down();
}

/* --- Revisions --- */

TEST(a_composition_that_is_not_there)
{
        set_up(SCOPE_NAMESPACED, NULL);
        make_composite("web", machinery("{compositionRef: {name: gone}}"));
        check_failure("ComposeResources",
                      "cannot fetch Composition: cannot get Composition: "
                      "Composition.apiextensions.crossplane.io \"gone\" not found; make it, or name another one");
        tear_down();
}

TEST(a_composition_without_revisions)
{
        const struct value *mine;

        set_up(SCOPE_NAMESPACED, NULL);
        mine = composition("mine", NULL);
        make_composite("web", machinery("{compositionRef: {name: mine}}"));
        check_failure("ComposeResources", "cannot fetch Composition: no compatible CompositionRevisions found");
        /* One that carries its name but belongs to another. */
        mine = meta_with_str(&arena, mine, STR("uid"), meta_uid(composition("boss", NULL)));
        make_revision(mine, 7, true);
        check_failure("ComposeResources", "cannot fetch Composition: no compatible CompositionRevisions found");
        tear_down();
}

static const struct value *revisions[4];

/* Three revisions of `mine`, the second with the greatest number. */
static void make_revisions(void)
{
        static const int64_t numbers[] = { 1, 10, 9 };
        struct object_key k = own_kind("Composition", "mine");

        composition("mine", NULL);
        for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
                revisions[i] =
                        make_revision(patch(&k, text("{metadata: {labels: {channel: c%zu}}}", i)), numbers[i], true);
}

static void check_revision(size_t i)
{
        ASSERT_STR(selected("compositionRevisionRef"), meta_name(revisions[i]));
}

TEST(the_greatest_number_is_the_newest)
{
        for (enum scope s = 0; s < _SCOPES; s++) {
                set_up(s, NULL);
                make_revisions();
                make_composite("web", machinery("{compositionRef: {name: mine}}"));
                reconcile_ok();
                check_revision(1);
                tear_down();
        }
}

TEST(automatic_composites_follow_and_manual_ones_do_not)
{
        struct object_key k = own_kind("Composition", "mine");

        for (enum scope s = 0; s < _SCOPES; s++) {
                struct reconcile_result result;

                set_up(s, NULL);
                make_revisions();
                make_composite("manual", machinery("{compositionRef: {name: mine}, compositionUpdatePolicy: Manual}"));
                reconcile_ok();
                check_revision(1);
                make_composite("auto", machinery("{compositionRef: {name: mine}, compositionUpdatePolicy: Automatic}"));
                reconcile_ok();
                check_revision(1);
                revisions[3] = make_revision(patch(&k, "{metadata: {labels: {channel: new}}}"), 11, true);
                result = reconcile_ok();
                ASSERT_TEXT(events_text(&result), text("Normal SelectComposition: Selected composition revision: %s\n",
                                                       name_of(revisions[3])));
                check_revision(3);
                use_composite("manual");
                result = reconcile_ok();
                ASSERT_TEXT(events_text(&result), "");
                check_revision(1);
                /* Not even when it is told to use another Composition, until the revision is given up. */
                make_revision(composition("other", NULL), 1, true);
                change("{compositionRef: {name: other}}");
                reconcile_ok();
                check_revision(1);
                change("{compositionRevisionRef: null}");
                reconcile_ok();
                ASSERT(str_starts_with(selected("compositionRevisionRef"), STR("other-")));
                tear_down();
        }
}

TEST(a_fixed_revision_that_is_not_there)
{
        set_up(SCOPE_LEGACY, NULL);
        make_revisions();
        make_composite("web", "{compositionRef: {name: mine}, compositionUpdatePolicy: Manual, compositionRevisionRef: "
                              "{name: gone}}");
        check_failure(
                "ComposeResources",
                "cannot fetch Composition: cannot get CompositionRevision: "
                "CompositionRevision.apiextensions.crossplane.io \"gone\" not found; make it, or name another one");
        tear_down();
}

TEST(labels_select_a_revision_where_updates_are_automatic)
{
        for (enum scope s = 0; s < _SCOPES; s++) {
                set_up(s, NULL);
                make_revisions();
                make_composite("web", machinery("{compositionRef: {name: mine}, compositionUpdatePolicy: Automatic, "
                                                "compositionRevisionSelector: {matchLabels: {channel: c0}}}"));
                reconcile_ok();
                check_revision(0);
                change("{compositionRevisionSelector: {matchLabels: {channel: c2}}}");
                reconcile_ok();
                check_revision(2);
                change("{compositionUpdatePolicy: Manual, compositionRevisionSelector: {matchLabels: {channel: c0}}}");
                reconcile_ok();
                check_revision(2);
                /* The first choice of a manual one looks at no labels. */
                change("{compositionRevisionRef: null}");
                reconcile_ok();
                check_revision(1);
                change("{compositionUpdatePolicy: Automatic, compositionRevisionSelector: {matchLabels: {channel: "
                       "none}}}");
                n_calls_of_functions = 0;
                check_failure("ComposeResources", "cannot fetch Composition: no compatible CompositionRevisions found");
                tear_down();
        }
}

TEST(labels_select_a_revision_once_with_the_gate)
{
        for (enum scope s = 0; s < _SCOPES; s++) {
                set_up(s, NULL);
                make_revisions();
                options.steps.features =
                        features_with((struct features) { 0 }, FEATURE_FUNCTION_REVISION_SELECTORS, true);
                make_composite("web", machinery("{compositionRef: {name: mine}, compositionUpdatePolicy: Manual, "
                                                "compositionRevisionSelector: {matchLabels: {channel: c0}}}"));
                reconcile_ok();
                check_revision(0);
                change("{compositionRevisionSelector: {matchLabels: {channel: c2}}}");
                reconcile_ok();
                check_revision(2);
                /* Without labels that its revision lacks it stays where it is. */
                change("{compositionRevisionSelector: null}");
                reconcile_ok();
                check_revision(2);
                change("{compositionRevisionSelector: {matchLabels: {channel: none}}}");
                n_calls_of_functions = 0;
                check_failure("ComposeResources", "cannot fetch Composition: no compatible CompositionRevisions found");
                tear_down();
        }
}

TEST(a_default_revision_selector)
{
        for (enum scope s = 0; s < _SCOPES; s++) {
                struct reconcile_result result;

                set_up(s, "{defaultCompositionRevisionSelector: {matchLabels: {channel: c0}}}");
                make_revisions();
                make_composite("web", machinery("{compositionRef: {name: mine}, compositionUpdatePolicy: Automatic}"));
                result = reconcile_ok();
                ASSERT_TEXT(events_text(&result),
                            text("Normal CompositionSelection: Default revision selector has been selected\n"
                                 "Normal SelectComposition: Selected composition revision: %s\n",
                                 name_of(revisions[0])));
                check_revision(0);
                result = reconcile_ok();
                ASSERT_TEXT(events_text(&result), "");
                make_composite("own", machinery("{compositionRef: {name: mine}, compositionUpdatePolicy: Automatic, "
                                                "compositionRevisionSelector: {matchLabels: {channel: c2}}}"));
                reconcile_ok();
                check_revision(2);
                tear_down();
        }
}

/* The policy of a modern composite that says nothing of Crossplane comes into being with the first write, and labels count from then
 * on. */
TEST(a_modern_composite_without_a_policy_takes_the_newest_once)
{
        set_up(SCOPE_NAMESPACED,
               "{defaultCompositionRef: {name: mine}, defaultCompositionRevisionSelector: {matchLabels: "
               "{channel: c0}}}");
        make_revisions();
        make_composite("web", "{}");
        reconcile_ok();
        check_revision(1);
        reconcile_ok();
        check_revision(0);
        tear_down();
}

TEST(a_legacy_composite_always_has_a_policy)
{
        set_up(SCOPE_LEGACY,
               "{defaultCompositionRef: {name: mine}, defaultCompositionRevisionSelector: {matchLabels: {channel: "
               "c0}}}");
        make_revisions();
        make_composite("web", "{}");
        reconcile_ok();
        check_revision(0);
        tear_down();
}

/* --- Only a pipeline that can run is run --- */

TEST(a_revision_must_be_valid)
{
        struct condition bad = { .type = STR("ValidPipeline"),
                                 .status = CONDITION_FALSE,
                                 .reason = STR("MissingCapabilities"),
                                 .message = STR("function \"f\" is old") };
        const struct value *revision, *made;

        set_up(SCOPE_CLUSTER, NULL);
        made = composition("mine", NULL);
        ASSERT(revision_make(&arena, made, 1, &revision, NULL) >= 0);
        revision = create(revision);
        make_composite("web", "{}");
        check_failure(
                "ComposeResources",
                text("selected CompositionRevision %s does not have a valid function pipeline: pipeline status unknown",
                     name_of(revision)));
        revision = update(conditions_set(&arena, revision, &bad, 1), "status");
        check_failure(
                "ComposeResources",
                text("selected CompositionRevision %s does not have a valid function pipeline: function \"f\" is old",
                     name_of(revision)));
        bad.status = CONDITION_TRUE;
        update(conditions_set(&arena, revision, &bad, 1), "status");
        reconcile_ok();
        ASSERT_INT(condition("Synced").status, CONDITION_TRUE);
        tear_down();
}

/* --- Before it is composed --- */

TEST(the_root_of_a_tree_is_named_in_a_label)
{
        set_up(SCOPE_NAMESPACED, NULL);
        make_revision(composition("mine", NULL), 1, true);
        answers[0] = "{desired: {resources: {b: {resource: {apiVersion: s3.example.org/v1, kind: Bucket}}}}}";
        make_composite("web", "{}");
        reconcile_ok();
        ASSERT_STR(meta_label(get(&key), STR("crossplane.io/composite")), STR("web"));
        make_composite("child", "{}");
        patch(&key, "{metadata: {labels: {crossplane.io/composite: root, crossplane.io/claim-name: c, "
                    "crossplane.io/claim-namespace: ns}}}");
        reconcile_ok();
        {
                struct object_list found = list(BUCKET, meta_uid(get(&key)));

                ASSERT_INT(found.n, 1);
                ASSERT(str_starts_with(meta_name(object_list_value(&found, 0, &arena)), STR("root-")));
                check_value("labels", value_get(meta(object_list_value(&found, 0, &arena)), STR("labels")),
                            "{\"crossplane.io/composite\":\"root\",\"crossplane.io/claim-name\":\"c\",\"crossplane.io/"
                            "claim-namespace\":\"ns\"}");
        }
        tear_down();
}

TEST(a_legacy_composite_is_told_where_its_secret_goes)
{
        const struct value *reference;

        set_up(SCOPE_LEGACY, NULL);
        make_revision(composition("mine", "{spec: {writeConnectionSecretsToNamespace: secrets}}"), 1, true);
        make_composite("web", "{}");
        reconcile_ok();
        reference = value_find(get(&key), "spec", "writeConnectionSecretToRef");
        ASSERT_STR(value_str(value_get(reference, STR("name"))), meta_uid(get(&key)));
        ASSERT_STR(value_str(value_get(reference, STR("namespace"))), STR("secrets"));
        make_composite("own", "{writeConnectionSecretToRef: {name: a, namespace: b}}");
        reconcile_ok();
        ASSERT_STR(value_str(value_find(get(&key), "spec", "writeConnectionSecretToRef", "name")), STR("a"));
        tear_down();
        set_up(SCOPE_CLUSTER, NULL);
        make_revision(composition("mine", "{spec: {writeConnectionSecretsToNamespace: secrets}}"), 1, true);
        make_composite("web", "{}");
        reconcile_ok();
        ASSERT(!value_find(get(&key), "spec", "writeConnectionSecretToRef"));
        ASSERT_INT(list(SECRET, meta_uid(get(&key))).n, 0);
        tear_down();
}

/* The part of the composite that the API refuses in the test below. */
static const char *refused_part;

static bool brings_refused_part(const struct write_request *req)
{
        const struct value *spec = value_get(req->body, STR("spec"));

        if (!object_key_equal(&req->key, &key) || req->subresource.n)
                return false;
        if (strcmp(refused_part, "finalizer") == 0)
                return meta_has_finalizer(req->body, STR("composite.apiextensions.crossplane.io"));
        if (strcmp(refused_part, "label") == 0)
                return meta_label(req->body, STR("crossplane.io/composite")).n > 0;
        return value_get(spec, str_from(refused_part)) != NULL;
}

/* The first run writes all that precedes the composition in one update. What the API refuses of it is reported as an error of its step, and
 * the parts before it are kept. */
TEST(updates_that_fail_are_errors_of_their_step)
{
        static const struct {
                const char *part;
                const char *reason;
                const char *message;
        } failures[] = {
                { "finalizer", "InitializeCompositeResource", "cannot add finalizer to composite resource: injected" },
                { "compositionRef", "SelectComposition", "cannot select Composition: injected" },
                { "compositionRevisionRef", "ComposeResources",
                  "cannot fetch Composition: cannot update composite resource: injected" },
                { "label", "ComposeResources", "cannot configure composite resource: injected" },
                { "writeConnectionSecretToRef", "ComposeResources", "cannot configure composite resource: injected" },
        };

        set_up(SCOPE_LEGACY, NULL);
        make_revision(composition("mine", "{spec: {writeConnectionSecretsToNamespace: secrets}}"), 1, true);
        for (size_t i = 0; i < ARRAY_SIZE(failures); i++) {
                _cleanup_err_ struct err err = { 0 };
                struct reconcile_result result;
                const struct value *kept;

                make_composite(text("web%zu", i), "{}");
                faulty_reset(&faulty, FAULT_NONE, 0);
                refused_part = failures[i].part;
                faulty.refuses = brings_refused_part;
                ASSERT(reconcile(&result, &err) < 0);
                faulty.refuses = NULL;
                ASSERT_TEXT(err_message(&err), failures[i].message);
                ASSERT_STR(result.events[result.n_events - 1].reason, str_from(failures[i].reason));
                kept = get(&key);
                ASSERT(meta_has_finalizer(kept, STR("composite.apiextensions.crossplane.io")) == (i > 0));
                ASSERT((value_find(kept, "spec", "compositionRef") != NULL) == (i > 1));
                ASSERT((value_find(kept, "spec", "compositionRevisionRef") != NULL) == (i > 2));
                ASSERT((meta_label(kept, STR("crossplane.io/composite")).n > 0) == (i > 3));
                reconcile_ok();
                ASSERT(value_find(get(&key), "spec", "writeConnectionSecretToRef"));
        }
        tear_down();
}

TEST(a_conflict_of_the_first_update_asks_for_another_run)
{
        _cleanup_err_ struct err err = { 0 };
        struct reconcile_result result;

        set_up(SCOPE_LEGACY, NULL);
        make_revision(composition("mine", NULL), 1, true);
        make_composite("web", "{}");
        faulty_reset(&faulty, FAULT_CONFLICT, 1);
        ASSERT(reconcile(&result, &err) >= 0);
        ASSERT(result.requeues);
        ASSERT_INT(faulty.n_writes, 1);
        ASSERT_INT(result.n_events, 0);
        ASSERT_INT(value_count(value_find(get(&key), "status", "conditions")), 0);
        tear_down();
}
