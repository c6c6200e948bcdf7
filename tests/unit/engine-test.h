/* Shared by the tests of the engine: a store with an XRD, kinds to compose, Compositions whose functions return answers that the
 * test sets, and composites. They are reconciled through a cluster that counts calls and injects faults (faulty-cluster.h). */
#pragma once

#include <stdarg.h>

#include "faulty-cluster.h"
#include "values.h"

#include "buf.h"
#include "clock.h"
#include "composed.h"
#include "composite.h"
#include "condition.h"
#include "functions.h"
#include "owner.h"
#include "reconcile.h"
#include "revision.h"
#include "store.h"
#include "xrd.h"
#include "yaml.h"

enum scope {
        SCOPE_NAMESPACED,
        SCOPE_CLUSTER,
        SCOPE_LEGACY,
        _SCOPES,
};

#define MAX_STEPS 4

static struct store *store;
static struct faulty_cluster faulty;
static struct registry *registry;
static struct run run;
static struct composite_type type;
static struct reconcile_options options;
static struct object_key key; /* of the composite to reconcile */
static enum scope scope;
static struct sim_clock test_clock; /* advances by more than a second for every run */

/* The answers of the steps, as YAML of a RunFunctionResponse; NULL: the step returns the desired state it was given. */
static const char *answers[MAX_STEPS];
static int failing_step = -1; /* the call of this step fails */
static int fatal_step = -1;   /* this step adds a fatal result */
static size_t n_calls_of_functions;
static size_t n_seen_details; /* connection details in the last request */

static inline const char *text(const char *format, ...) __attribute__((format(printf, 1, 2)));
static inline const char *text(const char *format, ...)
{
        char *p;
        va_list ap;
        struct str s;

        va_start(ap, format);
        ASSERT(vasprintf(&p, format, ap) >= 0);
        va_end(ap);
        s = arena_copy(&arena, str_from(p));
        free(p);
        return arena_cstring(&arena, s);
}

static inline const struct value *yaml(const char *text)
{
        _cleanup_err_ struct err err = { 0 };
        const struct value *v = NULL;

        if (yaml_parse(&arena, str_from(text), NULL, &v, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s: %s", text, err_message(&err));
        return v;
}

/* --- The cluster --- */

static inline const struct value *write_object(enum write_verb verb, const struct object_key *k,
                                               const char *subresource, const struct value *body)
{
        _cleanup_err_ struct err err = { 0 };
        struct write_request req = {
                .verb = verb,
                .key = *k,
                .subresource = str_from(subresource),
                .body = body,
                .manager = STR("somebody"),
        };
        struct write_result result;

        if (cluster_write(store_cluster(store), &run, &req, &result, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
        return result.value;
}

static inline const struct value *create(const struct value *object)
{
        struct object_key k = object_key_of(object);

        return write_object(WRITE_CREATE, &k, "", object);
}

static inline const struct value *update(const struct value *object, const char *subresource)
{
        struct object_key k = object_key_of(object);

        return write_object(WRITE_UPDATE, &k, subresource, object);
}

static inline const struct value *patch(const struct object_key *k, const char *merge_patch)
{
        return write_object(WRITE_MERGE_PATCH, k, "", yaml(merge_patch));
}

static inline void remove_object(const struct object_key *k)
{
        write_object(WRITE_DELETE, k, "", NULL);
}

static inline const struct value *get(const struct object_key *k)
{
        const struct value *v = NULL;

        cluster_get_value(store_cluster(store), &run, k, &v, NULL);
        return v;
}

static inline struct object_list list(struct gvk gvk, struct str owner_uid)
{
        struct list_request req = { .gvk = gvk, .owner_uid = owner_uid };
        struct object_list found;

        ASSERT(cluster_list(store_cluster(store), &run, &req, &found, NULL) >= 0);
        return found;
}

static inline struct object_key own_kind(const char *kind, const char *name)
{
        return (struct object_key) {
                .gvk = { STR("apiextensions.crossplane.io"), STR("v1"), str_from(kind) },
                .name = str_from(name),
        };
}

#define BUCKET ((struct gvk) { STR("s3.example.org"), STR("v1"), STR("Bucket") })
#define TABLE  ((struct gvk) { STR("db.example.org"), STR("v1"), STR("Table") })
#define SECRET ((struct gvk) { STR(""), STR("v1"), STR("Secret") })

/* --- Functions --- */

static inline int run_scripted(struct run *r, struct fn_request *req, struct fn_response *rsp, struct err *err)
{
        const struct value *input;
        int64_t step;

        ASSERT(fn_struct_value(r->arena, &req->input, &input, NULL) >= 0);
        step = value_int(value_get(input, STR("step")), 0);
        if (!input || step < 0 || step >= MAX_STEPS)
                test_fail(__FILE__, __LINE__, "a step without a number");
        n_calls_of_functions++;
        ASSERT(fn_state_open(r->arena, &req->observed, NULL) >= 0);
        n_seen_details = req->observed.composite.connection.n;
        for (size_t i = 0; i < req->observed.n_resources; i++)
                n_seen_details += req->observed.resources[i].connection.n;
        if (step == failing_step)
                return err_set(err, ERR_FAILED, "gone");
        if (answers[step]) {
                const struct value *v = NULL;
                bool has_no_ttl;

                ASSERT(yaml_parse(r->arena, str_from(answers[step]), NULL, &v, NULL) >= 0);
                has_no_ttl = str_equal(value_str(value_find(v, "meta", "ttl")), STR("0s"));
                v = value_with(r->arena, &value_empty_object, STR("response"), v);
                req->input = (struct fn_struct) { .value = v };
                ASSERT(function_dummy.run(r, req, rsp, err) >= 0);
                if (has_no_ttl) /* function-dummy merges the answer, and merging a zero changes nothing */
                        rsp->ttl_ns = 0;
        } else {
                fn_response_init(rsp, req);
        }
        if (step == fatal_step)
                fn_response_add_result(r->arena, rsp, FN_SEVERITY_FATAL, "it is broken");
        return 0;
}

static const struct builtin_function scripted = { .name = "scripted", .run = run_scripted };

/* --- Compositions --- */

/* Creates a Composition with the steps first, first + 1, ...; extra is merged into it. */
static inline const struct value *make_composition(const char *name, int first, int n_steps, const char *extra)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        buf_appendf(
                &b,
                "{apiVersion: apiextensions.crossplane.io/v1, kind: Composition, metadata: {name: %s}, spec: {mode: "
                "Pipeline, compositeTypeRef: {apiVersion: example.org/v1, kind: App}, pipeline: [",
                name);
        for (int i = 0; i < n_steps; i++)
                buf_appendf(&b, "%s{step: s%d, functionRef: {name: scripted}, input: {step: %d}}", i ? ", " : "",
                            first + i, first + i);
        buf_appendf(&b, "]}}");
        create(yaml(arena_cstring(&arena, buf_to_arena(&b, &arena))));
        {
                struct object_key k = own_kind("Composition", name);

                return patch(&k, extra ? extra : "{}");
        }
}

static inline const struct value *make_revision(const struct value *composition, int64_t number, bool is_valid)
{
        struct condition valid = {
                .type = STR("ValidPipeline"),
                .status = is_valid ? CONDITION_TRUE : CONDITION_FALSE,
                .reason = STR("ValidPipeline"),
        };
        const struct value *revision;

        ASSERT(revision_make(&arena, composition, number, &revision, NULL) >= 0);
        return update(conditions_set(&arena, create(revision), &valid, 1), "status");
}

/* --- Composites --- */

static inline void use_composite(const char *name)
{
        key = (struct object_key) {
                .gvk = { STR("example.org"), STR("v1"), STR("App") },
                .ns = scope == SCOPE_NAMESPACED ? STR("default") : STR(""),
                .name = arena_copy(&arena, str_from(name)),
        };
}

static inline struct composite make_composite(const char *name, const char *spec)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        use_composite(name);
        buf_appendf(&b, "{apiVersion: example.org/v1, kind: App, metadata: {name: %s%s}, spec: %s}", name,
                    scope == SCOPE_NAMESPACED ? ", namespace: default" : "", spec);
        return (struct composite) { create(yaml(arena_cstring(&arena, buf_to_arena(&b, &arena)))), type.places };
}

static inline struct composite composite(void)
{
        return (struct composite) { get(&key), type.places };
}

static inline struct condition condition(const char *name)
{
        struct condition c;

        condition_get(get(&key), str_from(name), &c);
        return c;
}

/* --- Set-up --- */

static inline void set_up(enum scope s, const char *definition_patch)
{
        static const char *const scopes[] = { "Namespaced", "Cluster", "LegacyCluster" };
        static const char definition[] = "apiVersion: apiextensions.crossplane.io/v1\n"
                                         "kind: CompositeResourceDefinition\n"
                                         "metadata: {name: apps.example.org, uid: x}\n"
                                         "spec:\n"
                                         "  group: example.org\n"
                                         "  names: {kind: App, plural: apps}\n"
                                         "  defaultCompositionUpdatePolicy: Automatic\n"
                                         "  versions:\n"
                                         "  - name: v1\n"
                                         "    served: true\n"
                                         "    referenceable: true\n"
                                         "    schema:\n"
                                         "      openAPIV3Schema:\n"
                                         "        type: object\n"
                                         "        properties:\n"
                                         "          spec: {type: object, properties: {size: {type: integer}}}\n"
                                         "          status:\n"
                                         "            type: object\n"
                                         "            properties:\n"
                                         "              url: {type: string}\n"
                                         "              size: {type: integer, default: 1}\n"
                                         "              ports:\n"
                                         "                type: array\n"
                                         "                x-kubernetes-list-type: map\n"
                                         "                x-kubernetes-list-map-keys: [name]\n"
                                         "                items: {type: object, required: [name], properties: {name: "
                                         "{type: string}, port: {type: "
                                         "integer}}}\n";
        static const char bucket[] =
                "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: "
                "buckets.s3.example.org}, spec: {group: s3.example.org, scope: Namespaced, names: {kind: Bucket, "
                "plural: "
                "buckets}, versions: [{name: v1, served: true, storage: true, subresources: {status: {}}, schema: "
                "{openAPIV3Schema: {type: object, properties: {spec: {type: object, "
                "x-kubernetes-preserve-unknown-fields: true, properties: {class: {type: string, default: standard}, "
                "size: "
                "{type: integer, maximum: 100}}}, status: {type: object, x-kubernetes-preserve-unknown-fields: "
                "true}}}}}, "
                "{name: v2, served: true, storage: false, subresources: {status: {}}, schema: "
                "{openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]}}";
        static const char table[] =
                "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: "
                "tables.db.example.org}, spec: {group: db.example.org, scope: Cluster, names: {kind: Table, plural: "
                "tables}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, "
                "x-kubernetes-preserve-unknown-fields: true}}}]}}";
        struct store_options store_options = {
                .accepts_any_kind = true,
                .creates_namespaces = true,
                .records_writes = true,
        };
        const struct value *crd, *xrd;
        struct value text = value_of_str(str_from(scopes[s]));

        begin();
        sim_clock_init(&test_clock, (struct instant) { .seconds = 1900000000 });
        clock_use(&test_clock);
        scope = s;
        memset(answers, 0, sizeof(answers));
        failing_step = fatal_step = -1;
        n_calls_of_functions = 0;
        run = (struct run) { .arena = &arena, .deadline = DEADLINE_NONE };
        ASSERT(store_new(&store_options, &store, NULL) >= 0);
        faulty_init(&faulty, store_cluster(store), &arena);
        registry = registry_new();
        registry_set(registry, STR("scripted"), function_builtin(&scripted));
        functions_register_native(registry);
        xrd = yaml(definition);
        xrd = value_with(&arena, xrd, STR("spec"),
                         value_with(&arena, value_get(xrd, STR("spec")), STR("scope"), &text));
        if (definition_patch) {
                const struct value *spec = value_get(xrd, STR("spec"));

                VALUE_FOREACH_MEMBER (m, yaml(definition_patch))
                        spec = value_with(&arena, spec, m->key, &m->value);
                xrd = value_with(&arena, xrd, STR("spec"), spec);
        }
        ASSERT(xrd_composite_crd(&arena, xrd, &crd, NULL) >= 0);
        create(meta_with(&arena, crd, STR("ownerReferences"), NULL));
        create(yaml(bucket));
        create(yaml(table));
        type = (struct composite_type) {
                .gvk = { STR("example.org"), STR("v1"), STR("App") },
                .places = s == SCOPE_LEGACY ? &places_legacy : &places_modern,
                .xrd = xrd,
        };
        options = (struct reconcile_options) {
                .cluster = &faulty.cluster,
                .policies = &reconcile_policies_controller,
                .steps.registry = registry,
                .type = &type,
                .is_realtime = true,
        };
}

static inline void tear_down(void)
{
        registry_free(registry);
        arena_done(&arena);
        store_free(store);
        clock_use(NULL);
}

/* --- Reconciling --- */

/* With WEFT_LATE_READS=1 a run sees only the objects from before its start and its own writes: the cluster promises no more. */
static inline int reconcile(struct reconcile_result *ret, struct err *err)
{
        const char *late = getenv("WEFT_LATE_READS");
        int r;

        if (late && *late && !faulty.late.store)
                late_begin(&faulty.late, store, store_version(store), 0);
        sim_clock_advance(&test_clock, 1100000000);
        r = composite_reconcile(&run, &options, &key, ret, err);
        if (late && *late && !faulty.late.catches_up)
                faulty.late = (struct late_reads) { 0 };
        return r;
}

static inline struct reconcile_result reconcile_ok(void)
{
        _cleanup_err_ struct err err = { 0 };
        struct reconcile_result result;

        faulty_reset(&faulty, FAULT_NONE, 0);
        if (reconcile(&result, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
        return result;
}

static inline struct reconcile_result reconcile_error(const char *message)
{
        _cleanup_err_ struct err err = { 0 };
        struct reconcile_result result;

        faulty_reset(&faulty, FAULT_NONE, 0);
        ASSERT_CASE(message, reconcile(&result, &err) < 0);
        ASSERT_TEXT(err_message(&err), message);
        return result;
}

/* The events as lines `Normal Reason: message`; an event for the claim too has the claim's message after ` -> `. */
static inline const char *events_text(const struct reconcile_result *result)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        for (size_t i = 0; i < result->n_events; i++) {
                const struct reconcile_event *e = &result->events[i];

                buf_appendf(&b, "%s %.*s: %.*s", e->is_warning ? "Warning" : "Normal", STR_ARG(e->reason),
                            STR_ARG(e->message));
                if (e->claim_message.n)
                        buf_appendf(&b, " -> %.*s", STR_ARG(e->claim_message));
                buf_append_char(&b, '\n');
        }
        return arena_cstring(&arena, buf_to_arena(&b, &arena));
}

/* The conditions as lines `Type=Status/Reason: message`, in order. */
static inline const char *conditions_text(const struct value *object)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        VALUE_FOREACH_ITEM (item, value_find(object, "status", "conditions")) {
                struct condition c = condition_of(item);

                buf_appendf(&b, "%.*s=%s/%.*s: %.*s\n", STR_ARG(c.type), condition_status_name(c.status),
                            STR_ARG(c.reason), STR_ARG(c.message));
        }
        return arena_cstring(&arena, buf_to_arena(&b, &arena));
}
