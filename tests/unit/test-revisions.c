/* CompositionRevisions on a cluster (docs/spec/engine 7): made, renumbered, adopted, and judged. */
#include "engine-test.h"

#include "revisions.h"

#define REVISION ((struct gvk) { STR("apiextensions.crossplane.io"), STR("v1"), STR("CompositionRevision") })

static struct object_key mine;

static void begin_case(void)
{
        set_up(SCOPE_NAMESPACED, NULL);
        mine = own_kind("Composition", "mine");
        make_composition("mine", 0, 1, "{metadata: {annotations: {note: hello}}}");
}

/* `Normal Reason: message` of the one event there may be. */
static const char *event_text(const struct revisions_result *result)
{
        struct reconcile_result all = { .events = result->events, .n_events = result->n_events };

        return events_text(&all);
}

static const char *follow(void)
{
        _cleanup_err_ struct err err = { 0 };
        struct revisions_result result;

        faulty_reset(&faulty, FAULT_NONE, 0);
        if (revisions_reconcile(&run, &faulty.cluster, mine.name, &result, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
        ASSERT(!result.requeues);
        return event_text(&result);
}

static const struct value *newest(void)
{
        struct object_list found = list(REVISION, STR(""));
        const struct value *best = NULL;

        for (size_t i = 0; i < found.n; i++)
                if (!best || value_int(value_find(object_list_value(&found, i, &arena), "spec", "revision"), 0) >
                                     value_int(value_find(best, "spec", "revision"), 0))
                        best = object_list_value(&found, i, &arena);
        return best;
}

static int64_t number(void)
{
        return value_int(value_find(newest(), "spec", "revision"), 0);
}

TEST(a_composition_gets_a_revision_once)
{
        struct owner_reference controller;
        const struct value *revision;
        struct str hash;

        begin_case();
        ASSERT_TEXT(follow(), "Normal CreateRevision: Created new revision\n");
        ASSERT_STR(faulty.writes[0].cause, STR("revisions of Composition mine"));
        revision = newest();
        ASSERT_INT(number(), 1);
        ASSERT(revision_hash(&arena, get(&mine), &hash, NULL) >= 0);
        ASSERT_STR(meta_name(revision), arena_printf(&arena, "mine-%.7s", hash.p));
        ASSERT_STR(meta_label(revision, STR("crossplane.io/composition-name")), STR("mine"));
        ASSERT_STR(meta_label(revision, STR("crossplane.io/composition-hash")), str_first(hash, 63));
        ASSERT_STR(meta_annotation(revision, STR("note")), STR("hello"));
        ASSERT(owner_controller(revision, &controller));
        ASSERT_STR(controller.uid, meta_uid(get(&mine)));
        ASSERT_TEXT(follow(), "");
        ASSERT_INT(faulty.n_writes, 0);
        tear_down();
}

TEST(going_back_renumbers_what_was)
{
        struct str first;

        begin_case();
        follow();
        first = meta_name(newest());
        patch(&mine, "{metadata: {annotations: {note: bye}}}");
        ASSERT_TEXT(follow(), "Normal CreateRevision: Created new revision\n");
        ASSERT_INT(number(), 2);
        ASSERT(!str_equal(meta_name(newest()), first));
        patch(&mine, "{metadata: {annotations: {note: hello}}}");
        ASSERT_TEXT(follow(), "");
        ASSERT_INT(faulty.n_writes, 1);
        ASSERT_INT(number(), 3);
        ASSERT_STR(meta_name(newest()), first);
        ASSERT_INT(list(REVISION, STR("")).n, 2);
        ASSERT_TEXT(follow(), "");
        ASSERT_INT(faulty.n_writes, 0);
        tear_down();
}

TEST(labels_make_a_revision_too)
{
        begin_case();
        follow();
        patch(&mine, "{metadata: {labels: {channel: new}}}");
        ASSERT_TEXT(follow(), "Normal CreateRevision: Created new revision\n");
        ASSERT_STR(meta_label(newest(), STR("channel")), STR("new"));
        ASSERT_INT(list(REVISION, STR("")).n, 2);
        tear_down();
}

TEST(what_nobody_controls_is_adopted)
{
        struct object_key k;

        begin_case();
        follow();
        k = object_key_of(newest());
        patch(&k, "{metadata: {ownerReferences: null}}");
        ASSERT_TEXT(follow(), "");
        ASSERT_INT(list(REVISION, meta_uid(get(&mine))).n, 1);
        ASSERT_INT(number(), 1);
        tear_down();
}

TEST(what_another_controls_is_an_error)
{
        _cleanup_err_ struct err err = { 0 };
        struct revisions_result result;
        struct object_key k;

        begin_case();
        follow();
        k = object_key_of(newest());
        patch(&k, "{metadata: {ownerReferences: [{apiVersion: v1, kind: Boss, name: b, uid: u, controller: true}]}}");
        ASSERT(revisions_reconcile(&run, &faulty.cluster, mine.name, &result, &err) < 0);
        ASSERT_TEXT(event_text(&result),
                    text("Warning UpdateRevision: %.*s is already controlled by Boss b (UID u)\n", STR_ARG(k.name)));
        tear_down();
}

/* A Composition whose labels hide its revisions finds the name taken, for ever. */
TEST(a_name_that_is_taken_is_an_error)
{
        _cleanup_err_ struct err err = { 0 };
        struct revisions_result result;

        begin_case();
        patch(&mine, "{metadata: {labels: {crossplane.io/composition-name: other}}}");
        ASSERT_TEXT(follow(), "Normal CreateRevision: Created new revision\n");
        ASSERT(revisions_reconcile(&run, &faulty.cluster, mine.name, &result, &err) < 0);
        ASSERT_TEXT(event_text(&result),
                    text("Warning CreateRevision: compositionrevisions.apiextensions.crossplane.io \"%.*s\" "
                         "already exists\n",
                         STR_ARG(meta_name(newest()))));
        tear_down();
}

TEST(what_is_gone_or_going_has_no_new_revisions)
{
        begin_case();
        patch(&mine, "{metadata: {finalizers: [example.org/wait]}}");
        remove_object(&mine);
        ASSERT_TEXT(follow(), "");
        mine.name = STR("nobody");
        ASSERT_TEXT(follow(), "");
        ASSERT_INT(list(REVISION, STR("")).n, 0);
        tear_down();
}

TEST(failures_of_the_cluster)
{
        static const struct {
                enum fault_mode mode;
                size_t at;
                const char *message; /* NULL: it is tried again */
        } failures[] = {
                { FAULT_BEFORE, 1, "cannot get Composition: injected" },
                { FAULT_BEFORE, 2, "cannot list CompositionRevisions: injected" },
                { FAULT_BEFORE, 3, "cannot create CompositionRevision: injected" },
                { FAULT_CONFLICT, 1, NULL },
        };

        begin_case();
        for (size_t i = 0; i < ARRAY_SIZE(failures); i++) {
                _cleanup_err_ struct err err = { 0 };
                struct revisions_result result;
                int r;

                faulty_reset(&faulty, failures[i].mode, failures[i].at);
                r = revisions_reconcile(&run, &faulty.cluster, mine.name, &result, &err);
                ASSERT_INT(result.requeues, !failures[i].message);
                if (failures[i].message)
                        ASSERT_TEXT(err_message(&err), failures[i].message);
                else
                        ASSERT(r >= 0);
        }
        tear_down();
}

/* --- Validation --- */

static const char *judge(void)
{
        _cleanup_err_ struct err err = { 0 };
        struct revisions_result result;

        faulty_reset(&faulty, FAULT_NONE, 0);
        if (revision_validate(&run, &faulty.cluster, meta_name(newest()), &result, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
        return event_text(&result);
}

static void install(const char *name, const char *function, const char *state, const char *capabilities)
{
        const struct value *v;

        v = create(yaml(text("{apiVersion: pkg.crossplane.io/v1, kind: FunctionRevision, metadata: {name: %s, labels: "
                             "{pkg.crossplane.io/package: %s}}, spec: {desiredState: %s}}",
                             name, function, state)));
        v = value_with(&arena, v, STR("status"), yaml(text("{capabilities: %s}", capabilities)));
        update(v, "status");
}

#define VALID   "Synced=True/ReconcileSuccess: \nValidPipeline=True/ValidPipeline: \n"
#define MISSING "function \"scripted\" (active revision \"f1\") is missing required capabilities: composition"
#define INVALID "Synced=True/ReconcileSuccess: \nValidPipeline=False/MissingCapabilities: " MISSING "\n"
#define GOOD    "Normal CheckCapabilities: All functions have required composition capability\n"

TEST(functions_must_be_able_to_compose)
{
        static const struct {
                const char *name;
                const char *function;
                const char *state;
                const char *capabilities;
                bool is_valid;
        } cases[] = {
                { "can", "scripted", "Active", "[composition]", true },
                { "can more", "scripted", "Active", "[operation, composition]", true },
                { "spelled otherwise", "scripted", "Active", "['Compo-Sition']", true },
                { "cannot", "scripted", "Active", "[operation]", false },
                { "says nothing", "scripted", "Active", "[]", false },
                { "says more", "scripted", "Active", "[compositions]", false },
                { "says less", "scripted", "Active", "[compo]", false },
                { "is not active", "scripted", "Inactive", "[]", true },
                { "is not used", "another", "Active", "[]", true },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                begin_case();
                follow();
                install("f1", cases[i].function, cases[i].state, cases[i].capabilities);
                ASSERT_STR_CASE(cases[i].name, str_from(judge()),
                                str_from(cases[i].is_valid ? GOOD : "Warning CheckCapabilities: " MISSING "\n"));
                ASSERT_STR_CASE(cases[i].name, str_from(conditions_text(newest())),
                                str_from(cases[i].is_valid ? VALID : INVALID));
                ASSERT_INT(faulty.n_writes, 1);
                /* Told each time, written once. */
                judge();
                ASSERT_INT(faulty.n_writes, 0);
                tear_down();
        }
}

TEST(a_function_that_is_not_installed_passes)
{
        struct condition c;

        begin_case();
        follow();
        ASSERT_TEXT(judge(), GOOD);
        ASSERT_TEXT(conditions_text(newest()), VALID);
        ASSERT(condition_get(newest(), STR("ValidPipeline"), &c));
        ASSERT_INT(c.observed_generation, meta_generation(newest()));
        tear_down();
}

TEST(validation_fails_with_the_cluster)
{
        static const struct {
                enum fault_mode mode;
                size_t at;
                const char *message; /* NULL: it is tried again */
        } failures[] = {
                { FAULT_BEFORE, 1, "cannot get CompositionRevision: injected" },
                { FAULT_BEFORE, 2, "cannot list FunctionRevisions: injected" },
                { FAULT_BEFORE, 3, "cannot get the definition of the composite resource: injected" },
                { FAULT_BEFORE, 4, "cannot get the definition of the composite resource: injected" },
                { FAULT_BEFORE, 5, "cannot update CompositionRevision status: injected" },
                { FAULT_CONFLICT, 1, NULL },
        };
        struct revisions_result result;

        begin_case();
        follow();
        for (size_t i = 0; i < ARRAY_SIZE(failures); i++) {
                _cleanup_err_ struct err err = { 0 };
                int r;

                faulty_reset(&faulty, failures[i].mode, failures[i].at);
                r = revision_validate(&run, &faulty.cluster, meta_name(newest()), &result, &err);
                ASSERT_INT(result.requeues, !failures[i].message);
                if (failures[i].message)
                        ASSERT_TEXT(err_message(&err), failures[i].message);
                else
                        ASSERT(r >= 0);
        }
        faulty_reset(&faulty, FAULT_NONE, 0);
        ASSERT(revision_validate(&run, &faulty.cluster, STR("nobody"), &result, NULL) >= 0);
        tear_down();
}

/* From the Composition to composed resources, by these alone. */
TEST(a_composite_waits_for_its_revision)
{
        begin_case();
        make_composite("web", "{}");
        reconcile_error("cannot fetch Composition: no compatible CompositionRevisions found");
        follow();
        reconcile_error(text("selected CompositionRevision %.*s does not have a valid function pipeline: "
                             "pipeline status unknown",
                             STR_ARG(meta_name(newest()))));
        judge();
        reconcile_ok();
        ASSERT_INT(condition("Ready").status, CONDITION_TRUE);
        tear_down();
}
