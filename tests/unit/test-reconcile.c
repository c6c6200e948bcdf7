/* A composite from its definition to its composed resources, on the embedded store (spec/engine 1, 2 and the worked example 2.13). */
#include "values.h"

#include "composed.h"
#include "condition.h"
#include "functions.h"
#include "owner.h"
#include "reconcile.h"
#include "revision.h"
#include "store.h"
#include "xrd.h"

static struct store *store;
static struct registry *registry;
static struct run run;
static struct composite_type type;
static struct reconcile_options options;
static const struct object_key key = {
        .gvk = { STR_INIT("example.org"), STR_INIT("v1"), STR_INIT("App") },
        .namespace = STR_INIT("default"),
        .name = STR_INIT("web"),
};

static const struct value *put(const struct value *object)
{
        _cleanup_err_ struct err err = { 0 };
        struct write_request req = { .verb = WRITE_CREATE, .key = object_key_of(object), .body = object };
        struct write_result result;

        if (cluster_write(store_cluster(store), &run, &req, &result, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
        return result.value;
}

static void put_status(const struct value *object)
{
        struct write_request req = {
                .verb = WRITE_UPDATE,
                .key = object_key_of(object),
                .subresource = STR("status"),
                .body = object,
        };
        struct write_result result;

        ASSERT(cluster_write(store_cluster(store), &run, &req, &result, NULL) >= 0);
}

static const struct value *get(const struct object_key *k)
{
        const struct value *v = NULL;

        cluster_get_value(store_cluster(store), &run, k, &v, NULL);
        return v;
}

static void put_composition(const char *steps)
{
        static const char text[] =
                "{\"apiVersion\":\"apiextensions.crossplane.io/"
                "v1\",\"kind\":\"Composition\",\"metadata\":{\"name\":\"apps\"},\"spec\":{"
                "\"compositeTypeRef\":{\"apiVersion\":\"example.org/v1\",\"kind\":\"App\"},\"mode\":\"Pipeline\"}}";
        const struct value *composition = parse(text), *revision;
        struct condition valid = { .type = STR("ValidPipeline"), .status = CONDITION_TRUE };

        composition =
                put(value_with(&arena, composition, STR("spec"),
                               value_with(&arena, value_get(composition, STR("spec")), STR("pipeline"), parse(steps))));
        ASSERT(revision_make(&arena, composition, 1, &revision, NULL) >= 0);
        put_status(conditions_set(&arena, put(revision), &valid, 1));
}

static void set_up(const char *steps)
{
        static const char definition[] =
                "{\"apiVersion\":\"apiextensions.crossplane.io/"
                "v2\",\"kind\":\"CompositeResourceDefinition\",\"metadata\":{\"name\":"
                "\"apps.example.org\",\"uid\":\"x\"},\"spec\":{\"group\":\"example.org\",\"names\":{\"kind\":\"App\","
                "\"plural\":\"apps\"},"
                "\"scope\":\"Namespaced\",\"versions\":[{\"name\":\"v1\",\"served\":true,\"referenceable\":true,"
                "\"schema\":{"
                "\"openAPIV3Schema\":{\"type\":\"object\",\"properties\":{\"spec\":{\"type\":\"object\",\"properties\":"
                "{\"size\":{\"type\":"
                "\"integer\"}}},\"status\":{\"type\":\"object\",\"properties\":{\"url\":{\"type\":\"string\"}}}}}}}]}}";
        struct store_options store_options = {
                .accepts_any_kind = true,
                .creates_namespaces = true,
                .records_writes = true,
        };
        const struct value *crd, *xrd;

        begin();
        run = (struct run) { .arena = &arena, .deadline = DEADLINE_NONE, .cause = STR("test") };
        ASSERT(store_new(&store_options, &store, NULL) >= 0);
        registry = registry_new();
        registry_set(registry, STR("dummy"), function_builtin(&function_dummy));
        xrd = parse(definition);
        ASSERT(xrd_composite_crd(&arena, xrd, &crd, NULL) >= 0);
        put(meta_with(&arena, crd, STR("ownerReferences"), NULL));
        put(parse("{\"apiVersion\":\"apiextensions.k8s.io/"
                  "v1\",\"kind\":\"CustomResourceDefinition\",\"metadata\":{\"name\":"
                  "\"buckets.s3.example.org\"},\"spec\":{\"group\":\"s3.example.org\",\"scope\":\"Namespaced\","
                  "\"names\":{\"kind\":"
                  "\"Bucket\",\"plural\":\"buckets\"},\"versions\":[{\"name\":\"v1\",\"served\":true,\"storage\":true,"
                  "\"schema\":{"
                  "\"openAPIV3Schema\":{\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":true}}}]}}"));
        type = (struct composite_type) { .gvk = key.gvk, .xrd = xrd };
        options = (struct reconcile_options) {
                .cluster = store_cluster(store),
                .registry = registry,
                .type = &type,
                .is_realtime = true,
        };
        put_composition(steps);
        put(parse("{\"apiVersion\":\"example.org/"
                  "v1\",\"kind\":\"App\",\"metadata\":{\"name\":\"web\",\"namespace\":\"default\"},\"spec\":{"
                  "\"size\":3}}"));
}

static void tear_down(void)
{
        registry_free(registry);
        arena_done(&arena);
        store_free(store);
}

static struct reconcile_result reconcile_ok(void)
{
        _cleanup_err_ struct err err = { 0 };
        struct reconcile_result result;

        if (composite_reconcile(&run, &options, &key, &result, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
        ASSERT(!result.requeues);
        return result;
}

static struct condition condition(const char *name)
{
        struct condition c;

        condition_get(get(&key), str_from(name), &c);
        return c;
}

#define BUCKET                                                                                                         \
        "[{\"step\":\"s1\",\"functionRef\":{\"name\":\"dummy\"},\"input\":{\"response\":{\"desired\":{\"composite\":{" \
        "\"resource\":{"                                                                                               \
        "\"status\":{\"url\":\"x\"}}},\"resources\":{\"bucket\":{\"resource\":{\"apiVersion\":\"s3.example.org/"       \
        "v1\",\"kind\":\"Bucket\","                                                                                    \
        "\"spec\":{\"size\":3}},\"ready\":\"READY_TRUE\"}}},\"results\":[{\"severity\":\"SEVERITY_NORMAL\","           \
        "\"message\":\"hello\"}],"                                                                                     \
        "\"conditions\":[{\"type\":\"Database\",\"status\":\"STATUS_CONDITION_TRUE\",\"reason\":\"Up\"}]}}}]"

static const struct value *bucket(void)
{
        struct list_request list = {
                .gvk = { STR("s3.example.org"), STR("v1"), STR("Bucket") },
                .namespace = STR("default"),
        };
        struct object_list found;

        ASSERT(cluster_list(store_cluster(store), &run, &list, &found, NULL) >= 0);
        return found.n ? found.values[0] : NULL;
}

TEST(a_composite_gets_its_resources_and_says_so)
{
        struct owner_reference owner;
        struct reconcile_result result;
        const struct value *xr;

        set_up(BUCKET);
        result = reconcile_ok();
        ASSERT_STR(result.events[result.n_events - 1].message, STR("Pipeline step \"s1\": hello"));
        ASSERT(result.requeue_after_ns >= 54000000000 && result.requeue_after_ns <= 66000000000);
        xr = get(&key);
        ASSERT(meta_has_finalizer(xr, STR("composite.apiextensions.crossplane.io")));
        ASSERT_STR(value_str(value_find(xr, "status", "url")), STR("x"));
        ASSERT_INT(condition("Synced").status, CONDITION_TRUE);
        ASSERT_INT(condition("Ready").status, CONDITION_TRUE);
        ASSERT_INT(condition("Database").status, CONDITION_TRUE);
        ASSERT(owner_controller(bucket(), &owner));
        ASSERT_STR(owner.uid, meta_uid(xr));
        ASSERT_STR(composed_key(bucket()), STR("bucket"));
        check_value(
                "refs", value_find(xr, "spec", "crossplane", "resourceRefs"),
                arena_cstring(
                        &arena,
                        arena_printf(&arena,
                                     "[{\"apiVersion\":\"s3.example.org/v1\",\"kind\":\"Bucket\",\"name\":\"%.*s\"}]",
                                     STR_ARG(meta_name(bucket())))));
        tear_down();
}

TEST(references_are_written_before_what_they_refer_to)
{
        const struct store_write *writes;
        bool has_refs = false;
        size_t n;

        set_up(BUCKET);
        reconcile_ok();
        n = store_writes(store, 0, &arena, &writes);
        for (size_t i = 0; i < n; i++) {
                if (str_equal(writes[i].manager, STR("apiextensions.crossplane.io/composite")))
                        has_refs = true;
                ASSERT(!str_equal(writes[i].key.gvk.kind, STR("Bucket")) || has_refs);
        }
        ASSERT(has_refs);
        tear_down();
}

TEST(when_nothing_changes_nothing_is_written)
{
        uint64_t version = 0;

        set_up(BUCKET);
        for (int i = 0; i < 6; i++) {
                version = store_version(store);
                reconcile_ok();
        }
        ASSERT_INT(store_version(store), version);
        tear_down();
}

TEST(what_is_no_longer_wanted_goes_with_a_cause)
{
        const struct store_write *writes;
        bool is_said = false;
        size_t n;

        set_up(BUCKET);
        reconcile_ok();
        ASSERT(bucket());
        registry_set(registry, STR("nothing"), function_builtin(&function_dummy));
        {
                struct write_request patch = {
                        .verb = WRITE_MERGE_PATCH,
                        .key = { .gvk = { STR("apiextensions.crossplane.io"), STR("v1"), STR("CompositionRevision") } },
                        .body = parse("{\"spec\":{\"pipeline\":[{\"step\":\"s1\",\"functionRef\":{\"name\":\"nothing\"}"
                                      ",\"input\":{"
                                      "\"response\":{}}}]}}"),
                };
                struct list_request list = { .gvk = patch.key.gvk };
                struct object_list found;
                struct write_result result;

                ASSERT(cluster_list(store_cluster(store), &run, &list, &found, NULL) >= 0);
                patch.key.name = meta_name(found.values[0]);
                ASSERT(cluster_write(store_cluster(store), &run, &patch, &result, NULL) >= 0);
        }
        reconcile_ok();
        ASSERT(store_settle(store, &run, NULL) >= 0);
        ASSERT(!bucket());
        n = store_writes(store, 0, &arena, &writes);
        for (size_t i = 0; i < n; i++)
                if (writes[i].verb == WRITE_DELETE && str_equal(writes[i].key.gvk.kind, STR("Bucket")))
                        is_said = str_starts_with(writes[i].cause, STR("test: CompositionRevision \"apps-")) &&
                                  str_ends_with(writes[i].cause, STR("no longer desires resource \"bucket\""));
        ASSERT(is_said);
        ASSERT_INT(value_count(value_find(get(&key), "spec", "crossplane", "resourceRefs")), 0);
        tear_down();
}

TEST(a_fatal_result_changes_nothing_but_the_conditions)
{
        _cleanup_err_ struct err err = { 0 };
        struct reconcile_result result;

        set_up("[{\"step\":\"s1\",\"functionRef\":{\"name\":\"dummy\"},\"input\":{\"response\":{\"desired\":{"
               "\"resources\":{\"b\":{\"resource\":"
               "{\"apiVersion\":\"s3.example.org/"
               "v1\",\"kind\":\"Bucket\"}}}},\"results\":[{\"severity\":\"SEVERITY_WARNING\",\"message\":"
               "\"first\"},{\"severity\":\"SEVERITY_FATAL\",\"message\":\"boom\"}]}}}]");
        ASSERT(composite_reconcile(&run, &options, &key, &result, &err) < 0);
        ASSERT(result.is_fatal);
        ASSERT_TEXT(err_message(&err), "cannot compose resources: pipeline step \"s1\" returned a fatal result: boom");
        ASSERT(!bucket());
        ASSERT_STR(condition("Synced").message,
                   STR("cannot compose resources: pipeline step \"s1\" returned a fatal result: boom"));
        ASSERT_INT(result.n_events, 4);
        ASSERT_STR(result.events[0].message, STR("Successfully selected composition: apps"));
        ASSERT_STR(result.events[2].message, str_from(err_message(&err)));
        ASSERT_STR(result.events[3].message, STR("Pipeline step \"s1\": first"));
        tear_down();
}

TEST(resources_that_are_not_ready_are_named)
{
        set_up("[{\"step\":\"s1\",\"functionRef\":{\"name\":\"dummy\"},\"input\":{\"response\":{\"desired\":{"
               "\"resources\":{\"b\":{\"resource\":"
               "{\"apiVersion\":\"s3.example.org/"
               "v1\",\"kind\":\"Bucket\"}},\"a\":{\"resource\":{\"apiVersion\":\"s3.example.org/v1\",\"kind\":"
               "\"Bucket\"}}}}}}}]");
        reconcile_ok();
        ASSERT_INT(condition("Ready").status, CONDITION_FALSE);
        ASSERT_STR(condition("Ready").message, STR("Unready resources: a, b"));
        ASSERT_INT(condition("Synced").status, CONDITION_TRUE);
        tear_down();
}

static void annotate_paused(void)
{
        struct write_request patch = {
                .verb = WRITE_MERGE_PATCH,
                .key = key,
                .body = parse("{\"metadata\":{\"annotations\":{\"crossplane.io/paused\":\"true\"}}}"),
        };
        struct write_result result;

        ASSERT(cluster_write(store_cluster(store), &run, &patch, &result, NULL) >= 0);
}

TEST(a_paused_composite_is_left_alone)
{
        set_up(BUCKET);
        annotate_paused();
        reconcile_ok();
        ASSERT(!bucket());
        ASSERT_STR(condition("Synced").reason, STR("ReconcilePaused"));
        ASSERT(!meta_has_finalizer(get(&key), STR("composite.apiextensions.crossplane.io")));
        tear_down();
}

TEST(a_deleted_composite_lets_go)
{
        struct write_request removal = { .verb = WRITE_DELETE, .key = key };
        struct write_result result;

        set_up(BUCKET);
        reconcile_ok();
        ASSERT(cluster_write(store_cluster(store), &run, &removal, &result, NULL) >= 0);
        ASSERT(get(&key));
        reconcile_ok();
        ASSERT(!get(&key));
        ASSERT(store_settle(store, &run, NULL) >= 0);
        ASSERT(!bucket());
        tear_down();
}

TEST(nothing_to_choose_from_is_an_error)
{
        _cleanup_err_ struct err err = { 0 };
        struct reconcile_result result;
        struct write_request removal = {
                .verb = WRITE_DELETE,
                .key = { .gvk = { STR("apiextensions.crossplane.io"), STR("v1"), STR("Composition") },
                         .name = STR("apps") },
        };
        struct write_result removed;

        set_up(BUCKET);
        ASSERT(cluster_write(store_cluster(store), &run, &removal, &removed, NULL) >= 0);
        ASSERT(composite_reconcile(&run, &options, &key, &result, &err) < 0);
        ASSERT_TEXT(err_message(&err), "cannot select Composition: no compatible Compositions found");
        ASSERT_STR(condition("Synced").message, STR("cannot select Composition: no compatible Compositions found"));
        tear_down();
}
