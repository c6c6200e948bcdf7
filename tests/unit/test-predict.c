/* The prediction about a write comes true, in any sequence of writes by several managers, in several versions, on a store. */
#include "values.h"

#include "clock.h"
#include "managed.h"
#include "predict.h"
#include "random.h"
#include "store.h"
#include "yaml.h"

static struct store *store;
static struct run run;
static struct sim_clock test_clock;

static const char crd[] = "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: "
                          "widgets.example.org}, spec: {group: "
                          "example.org, scope: Cluster, names: {kind: Widget, plural: widgets}, versions: [{name: v1, "
                          "served: true, storage: true, "
                          "subresources: {status: {}}, schema: {openAPIV3Schema: {type: object, properties: {spec: "
                          "{type: object, properties: {size: {type: "
                          "integer, minimum: 0}, color: {type: string, default: red}, any: "
                          "{x-kubernetes-preserve-unknown-fields: true}, set: {type: array, "
                          "x-kubernetes-list-type: set, items: {type: string}}, map: {type: array, "
                          "x-kubernetes-list-type: map, x-kubernetes-list-map-keys: "
                          "[name], items: {type: object, required: [name], properties: {name: {type: string}, n: "
                          "{type: integer}}}}}}, status: {type: object, "
                          "properties: {phase: {type: string}}}}}}}, {name: v2, served: true, storage: false, "
                          "subresources: {status: {}}, schema: "
                          "{openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]}}";

static const struct value *from_yaml(const char *text)
{
        const struct value *v = NULL;

        ASSERT(yaml_parse(&arena, str_from(text), NULL, &v, NULL) >= 0);
        return v;
}

static void set_up(void)
{
        struct store_options options = { 0 };
        struct write_request req = { .verb = WRITE_CREATE };
        struct write_result result;

        begin();
        sim_clock_init(&test_clock, (struct instant) { .seconds = 1900000000 });
        clock_use(&test_clock);
        run = (struct run) { .arena = &arena, .deadline = DEADLINE_NONE };
        ASSERT(store_new(&options, &store, NULL) >= 0);
        req.body = from_yaml(crd);
        req.key = object_key_of(req.body);
        ASSERT(cluster_write(store_cluster(store), &run, &req, &result, NULL) >= 0);
}

static void tear_down(void)
{
        arena_done(&arena);
        store_free(store);
        clock_use(NULL);
}

static const char *const bodies[] = {
        "{}",
        "{spec: {size: 1}}",
        "{spec: {size: 1.0}}",
        "{spec: {size: 2, color: red}}",
        "{spec: {color: blue}}",
        "{spec: {color: null}}",
        "{spec: {any: {a: 1, b: [1, 2], c: null}}}",
        "{spec: {any: {a: 1, b: [2, 1]}}}",
        "{spec: {any: null}}",
        "{spec: {set: [a, b]}}",
        "{spec: {set: [b, a]}}",
        "{spec: {map: [{name: a, n: 1}, {name: b}]}}",
        "{spec: {map: [{name: b}, {name: a, n: 1}]}}",
        "{spec: {size: 1}, status: {phase: x}}",
        "{status: {phase: x}}",
        "{status: {phase: z}}",
        "{spec: {size: -1}}",
        "{spec: {unknown: 1}}",
        "{metadata: {labels: {a: b}}}",
        "{metadata: {labels: {}, annotations: {}}}",
        "{metadata: {annotations: {c: d}, finalizers: [example.org/x]}, spec: {size: 1}}",
        "{metadata: {generateName: w-, uid: none}}",
};

static const struct value *get(const char *version)
{
        struct object_key key = { .gvk = { STR("example.org"), str_from(version), STR("Widget") }, .name = STR("w") };
        const struct value *v = NULL;

        cluster_get_value(store_cluster(store), &run, &key, &v, NULL);
        return v;
}

static const struct value *complete(const char *body, const char *version, const struct value *live, bool is_update)
{
        const struct value *v = from_yaml(body);
        struct value name = value_of_literal("w");
        struct value api_version = value_of_str(arena_printf(&arena, "example.org/%s", version));
        struct value kind = value_of_literal("Widget");

        v = value_with(&arena, v, STR("apiVersion"), &api_version);
        v = value_with(&arena, v, STR("kind"), &kind);
        v = meta_with(&arena, v, STR("name"), &name);
        return is_update ? meta_with(&arena, v, STR("resourceVersion"), value_get(meta(live), STR("resourceVersion")))
                         : v;
}

static const char *pick(struct random *r, const char *const *from, size_t n)
{
        return from[random_below(r, n)];
}

#define PICK(r, ...)                                                 \
        ({                                                           \
                static const char *const _texts[] = { __VA_ARGS__ }; \
                pick((r), _texts, ARRAY_SIZE(_texts));               \
        })

static struct write_request any_write(struct random *r, const struct value **ret_live)
{
        const char *version = PICK(r, "v1", "v1", "v2");
        struct write_request req = {
                .key = { .gvk = { STR("example.org"), str_from(version), STR("Widget") }, .name = STR("w") },
                .subresource = str_from(PICK(r, "", "", "status")),
                .manager = str_from(PICK(r, "one", "two")),
        };
        const char *body = pick(r, bodies, ARRAY_SIZE(bodies));

        *ret_live = get(version);
        switch (random_below(r, 4)) {
        case 0:
                req.verb = WRITE_UPDATE;
                break;
        case 1:
                req.verb = WRITE_MERGE_PATCH;
                req.body = from_yaml(body);
                return req;
        default:
                req.verb = WRITE_APPLY;
                req.force = random_below(r, 2);
        }
        req.body = complete(body, version, *ret_live, req.verb == WRITE_UPDATE);
        return req;
}

/* A write that would change something is not left out, and a write that changes nothing is not sent. */
static void check_write(struct random *r, size_t counts[3])
{
        const struct value *live;
        struct write_request req = any_write(r, &live);
        bool is_noop = live && predict_is_noop(store_cluster(store), &run, &req, live);
        struct write_result result;

        sim_clock_advance(&test_clock, (int64_t)random_below(r, 2) * 1000000000);
        if (cluster_write(store_cluster(store), &run, &req, &result, NULL) < 0) {
                ASSERT(!is_noop);
                counts[0]++;
        } else if (!result.is_changed) {
                ASSERT(is_noop);
                counts[1]++;
        } else {
                /* Times and order of managers may change: that is left out too. */
                ASSERT(is_noop == (live && managed_is_same(live, result.value)));
                counts[2]++;
        }
}

TEST(predictions_come_true)
{
        size_t counts[3] = { 0 };

        for (uint64_t seed = 1; seed <= 4; seed++) {
                struct random r;

                random_seed(&r, seed);
                set_up();
                for (int i = 0; i < 150; i++)
                        check_write(&r, counts);
                tear_down();
        }
        /* Errors, no-ops and changes have all been seen. */
        ASSERT(counts[0] > 20 && counts[1] > 20 && counts[2] > 20);
}

TEST(what_nobody_knows_is_no_noop)
{
        struct write_request req = {
                .verb = WRITE_APPLY,
                .key = { .gvk = { STR("example.org"), STR("v1"), STR("Nothing") }, .name = STR("w") },
                .manager = STR("me"),
        };

        set_up();
        req.body = from_yaml("{apiVersion: example.org/v1, kind: Nothing, metadata: {name: w}}");
        ASSERT(!predict_is_noop(store_cluster(store), &run, &req, req.body));
        tear_down();
}

TEST(changes_that_need_no_prediction)
{
        static const struct {
                enum write_verb verb;
                const char *subresource, *body, *live;
                bool is_change;
        } cases[] = {
                { WRITE_APPLY, "", "{spec: {a: {b: blue}}}", "{spec: {a: {b: red}}}", true },
                { WRITE_APPLY, "", "{data: {n: 1}}", "{data: {n: 2}}", true },
                { WRITE_APPLY, "", "{spec: {a: blue}}", "{spec: {a: blue, b: red}}", false },
                /* Unknown fields are pruned. */
                { WRITE_APPLY, "", "{spec: {a: blue}}", "{spec: {}}", false },
                { WRITE_APPLY, "", "{spec: {a: blue}}", "{}", false },
                /* Other types and texts may be the same to the API. */
                { WRITE_APPLY, "", "{spec: {a: 1}}", "{spec: {a: 1.0}}", false },
                { WRITE_APPLY, "", "{spec: {a: 1000m}}", "{spec: {a: '1'}}", false },
                { WRITE_APPLY, "", "{spec: {a: blue}}", "{spec: {a: ''}}", false },
                { WRITE_APPLY, "", "{spec: {a: null}}", "{spec: {a: red}}", false },
                /* Lists are merged by applies. */
                { WRITE_APPLY, "", "{spec: {a: [{b: blue}]}}", "{spec: {a: [{b: red}]}}", false },
                { WRITE_UPDATE, "", "{spec: {a: [{b: blue}]}}", "{spec: {a: [{b: red}]}}", true },
                { WRITE_UPDATE, "", "{spec: {a: [x, y]}}", "{spec: {a: [x]}}", false },
                /* Each verb and subresource has its part. */
                { WRITE_APPLY, "", "{status: {a: blue}}", "{status: {a: red}}", false },
                { WRITE_APPLY, "", "{metadata: {labels: {a: b}}}", "{metadata: {labels: {a: c}}}", false },
                { WRITE_APPLY, "status", "{status: {a: blue}}", "{status: {a: red}}", true },
                { WRITE_APPLY, "status", "{spec: {a: blue}}", "{spec: {a: red}}", false },
                { WRITE_UPDATE, "scale", "{spec: {replicas: 1}}", "{spec: {replicas: 2}}", false },
                { WRITE_JSON_PATCH, "", "{spec: {a: blue}}", "{spec: {a: red}}", false },
        };

        begin();
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct write_request req = {
                        .verb = cases[i].verb,
                        .subresource = str_from(cases[i].subresource),
                        .body = from_yaml(cases[i].body),
                };

                ASSERT_CASE(cases[i].body, predict_is_change(&req, from_yaml(cases[i].live)) == cases[i].is_change);
        }
        end();
}

TEST(objects_that_differ_in_times_and_order_of_managers_are_the_same)
{
        static const struct {
                const char *a;
                const char *b;
                bool is_same;
        } cases[] = {
                { "{metadata: {name: a, resourceVersion: '1'}}", "{metadata: {name: a, resourceVersion: '2'}}", true },
                { "{metadata: {name: a}}", "{metadata: {name: b}}", false },
                { "{metadata: {name: a}, spec: {}}", "{metadata: {name: a}}", false },
                { "{metadata: {managedFields: [{manager: m, time: t}]}}",
                  "{metadata: {managedFields: [{manager: m, time: u}]}}", true },
                { "{metadata: {managedFields: [{manager: m, time: t}]}}", "{metadata: {managedFields: [{manager: m}]}}",
                  true },
                { "{metadata: {managedFields: [{manager: m}]}}", "{metadata: {managedFields: [{manager: o}]}}", false },
                { "{metadata: {managedFields: [{manager: m}]}}", "{metadata: {}}", false },
                { "{metadata: {managedFields: [{manager: m}, {manager: o}]}}",
                  "{metadata: {managedFields: [{manager: o, time: t}, {manager: m}]}}", true },
                { "{metadata: {managedFields: [{manager: m, fieldsV1: {a: {}}}]}}",
                  "{metadata: {managedFields: [{manager: m, fieldsV1: {}}]}}", false },
        };

        begin();
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                ASSERT_CASE(cases[i].a,
                            managed_is_same(from_yaml(cases[i].a), from_yaml(cases[i].b)) == cases[i].is_same);
                ASSERT_CASE(cases[i].a,
                            managed_is_same(from_yaml(cases[i].b), from_yaml(cases[i].a)) == cases[i].is_same);
        }
        end();
}
