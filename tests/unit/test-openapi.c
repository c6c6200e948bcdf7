/* Kinds from OpenAPI documents. fuzz/corpus/openapi/core is what kube-apiserver publishes of a few kinds, without its texts. */
#include "kube-test.h"

#include "buf.h"
#include "input.h"
#include "openapi.h"
#include "predict.h"

static void read_document(const char *name, struct buf *ret)
{
        _cleanup_arena_ struct arena a;

        arena_init(&a, "test", 0);
        ASSERT(input_read(arena_cstring(&a, arena_printf(&a, "%s/fuzz/corpus/openapi/%s", TEST_SOURCE_DIR, name)), ret,
                          NULL) >= 0);
}

static struct openapi_kinds read_corpus(const char *name)
{
        _cleanup_buf_ struct buf text = BUF_INIT(0);
        _cleanup_err_ struct err err = { 0 };
        struct openapi_kinds kinds = { 0 };

        read_document(name, &text);
        if (openapi_parse(buf_str(&text), &kinds, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s: %s", name, err_message(&err));
        return kinds;
}

static const struct kind *find(const struct openapi_kinds *kinds, const char *plural)
{
        for (size_t i = 0; i < kinds->n; i++)
                if (str_equal(kinds->p[i]->plural, str_from(plural)))
                        return kinds->p[i];
        test_fail(__FILE__, __LINE__, "no %s", plural);
        return NULL;
}

TEST(paths_tell_names_scopes_verbs_and_subresources)
{
        _cleanup_openapi_kinds_ struct openapi_kinds kinds = read_corpus("core");
        const struct kind *k;

        ASSERT_INT(kinds.n, 3);
        k = find(&kinds, "configmaps");
        ASSERT_STR(k->kind, STR("ConfigMap"));
        ASSERT_STR(k->group, STR(""));
        ASSERT_STR(k->singular, STR("configmap"));
        ASSERT_STR(k->list_kind, STR("ConfigMapList"));
        ASSERT(k->is_namespaced && !k->is_custom);
        ASSERT_STR(k->versions[0].name, STR("v1"));
        ASSERT_INT(k->versions[0].verbs, VERBS_ALL);
        ASSERT_INT(k->versions[0].n_subresources, 0);
        k = find(&kinds, "componentstatuses");
        ASSERT(!k->is_namespaced);
        ASSERT_INT(k->versions[0].verbs, VERB_GET | VERB_LIST);
        k = find(&kinds, "services");
        ASSERT(k->versions[0].has_status);
        ASSERT_INT(k->versions[0].n_subresources, 2);
        ASSERT_STR(k->versions[0].subresources[0].name, STR("proxy"));
        ASSERT_INT(k->versions[0].subresources[0].verbs,
                   VERB_CREATE | VERB_DELETE | VERB_GET | VERB_PATCH | VERB_UPDATE);
        ASSERT_STR(k->versions[0].subresources[1].name, STR("status"));
        ASSERT_STR(k->versions[0].subresources[1].gvk.kind, STR("Service"));
        ASSERT_INT(k->versions[0].subresources[1].verbs, VERB_GET | VERB_PATCH | VERB_UPDATE);
}

TEST(schemas_tell_types_keys_and_defaults)
{
        _cleanup_openapi_kinds_ struct openapi_kinds kinds = read_corpus("core");
        const struct schema_node *root, *ports, *item;
        const struct str *keys;

        root = schema_root(find(&kinds, "services")->versions[0].schema);
        ASSERT(!schema_node_property(root, STR("metadata")));
        ports = schema_node_property(schema_node_property(root, STR("spec")), STR("ports"));
        ASSERT_INT(schema_node_type(ports), SCHEMA_ARRAY);
        ASSERT_INT(schema_node_list_type(ports), SCHEMA_LIST_MAP);
        ASSERT_INT(schema_node_list_keys(ports, &keys), 2);
        ASSERT_STR(keys[0], STR("port"));
        ASSERT_STR(keys[1], STR("protocol"));
        ASSERT(schema_node_patch_merges(ports));
        ASSERT_STR(schema_node_patch_key(ports), STR("port"));
        item = schema_node_items(ports);
        ASSERT_STR(value_str(schema_node_default(schema_node_property(item, STR("protocol")))), STR("TCP"));
        ASSERT_INT(schema_node_type(schema_node_property(item, STR("targetPort"))), SCHEMA_INT_OR_STRING);
        root = schema_root(find(&kinds, "configmaps")->versions[0].schema);
        ASSERT_INT(schema_node_type(schema_node_additional(schema_node_property(root, STR("data")))), SCHEMA_STRING);
}

/* A CRD's schema has schemas in it: the first one is known, those below it are free. */
TEST(schemas_that_refer_to_themselves_are_free_there)
{
        _cleanup_openapi_kinds_ struct openapi_kinds kinds = read_corpus("crds");
        const struct schema_node *n = schema_root(find(&kinds, "customresourcedefinitions")->versions[0].schema);
        static const char *const path[] = { "spec", "versions", "", "schema", "openAPIV3Schema" };

        for (size_t i = 0; i < ARRAY_SIZE(path); i++) {
                n = *path[i] ? schema_node_property(n, str_from(path[i])) : schema_node_items(n);
                ASSERT(n);
        }
        ASSERT_INT(schema_node_type(schema_node_property(n, STR("pattern"))), SCHEMA_STRING);
        n = schema_node_additional(schema_node_property(n, STR("properties")));
        ASSERT(schema_node_preserves_unknown(n));
        ASSERT_INT(schema_node_property_count(n), 0);
}

TEST(kinds_that_take_no_strategic_patch_are_custom)
{
        _cleanup_openapi_kinds_ struct openapi_kinds kinds = read_corpus("self");

        ASSERT_INT(kinds.n, 1);
        ASSERT(kinds.p[0]->is_custom && kinds.p[0]->is_namespaced);
}

TEST(bad_documents_are_refused)
{
        static const struct {
                const char *name, *text;
                int code;
        } bad[] = {
                { "doubling",
                  "kind X: a schema of the OpenAPI document is deeper than 1000 levels or has more than 100000 nodes "
                  "with its references in place",
                  ERR_LIMIT },
                { "missing", "kind A: the OpenAPI document has no schema \"#/components/schemas/b\"", ERR_INVALID },
        };

        for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
                _cleanup_buf_ struct buf text = BUF_INIT(0);
                _cleanup_err_ struct err err = { 0 };
                struct openapi_kinds kinds;

                read_document(bad[i].name, &text);
                ASSERT_INT(openapi_parse(buf_str(&text), &kinds, &err), bad[i].code);
                ASSERT_TEXT(err_message(&err), bad[i].text);
        }
}

/* --- Predictions --- */

/* A cluster that only knows kinds: what a remote one is to a prediction. */
struct known_kinds {
        struct cluster cluster;
        struct openapi_kinds kinds;
};

static int find_kind(struct cluster *c, struct run *run, struct gvk gvk, struct kind **ret, struct err *err)
{
        struct known_kinds *known = CONTAINER_OF(c, struct known_kinds, cluster);

        for (size_t i = 0; i < known->kinds.n; i++)
                if (str_equal(known->kinds.p[i]->kind, gvk.kind)) {
                        *ret = kind_ref(known->kinds.p[i]);
                        return 0;
                }
        return err_set(err, ERR_NOT_FOUND, "not there");
}

/* As kube-apiserver completes what the first case applies. */
static const char live_service[] =
        "{\"apiVersion\":\"v1\",\"kind\":\"Service\",\"metadata\":{\"creationTimestamp\":\"2026-01-01T00:00:00Z\","
        "\"managedFields\":[{\"apiVersion\":\"v1\",\"fieldsType\":\"FieldsV1\",\"fieldsV1\":{\"f:spec\":{\"f:ports\":"
        "{\"k:{\\\"port\\\":80,\\\"protocol\\\":\\\"TCP\\\"}\":{\".\":{},\"f:port\":{},\"f:targetPort\":{}}},"
        "\"f:selector\":{}}},\"manager\":\"me\",\"operation\":\"Apply\",\"time\":\"2026-01-01T00:00:00Z\"}],\"name\":"
        "\"s\",\"namespace\":\"default\",\"resourceVersion\":\"9\",\"uid\":\"u\"},\"spec\":{\"clusterIP\":\"10.0.0.9\","
        "\"clusterIPs\":[\"10.0.0.9\"],\"internalTrafficPolicy\":\"Cluster\",\"ipFamilies\":[\"IPv4\"],"
        "\"ipFamilyPolicy\":\"SingleStack\",\"ports\":[{\"port\":80,\"protocol\":\"TCP\",\"targetPort\":8080}],"
        "\"selector\":{\"a\":\"b\"},\"sessionAffinity\":\"None\",\"type\":\"ClusterIP\"},\"status\":{\"loadBalancer\":"
        "{}}}";

TEST(writes_to_such_kinds_are_predicted)
{
        static const struct cluster_ops ops = { .kind = find_kind };
        static const struct {
                const char *spec;
                bool is_noop;
        } cases[] = {
                { "{\"ports\":[{\"port\":80,\"targetPort\":8080}],\"selector\":{\"a\":\"b\"}}", true },
                { "{\"ports\":[{\"port\":80,\"targetPort\":8081}],\"selector\":{\"a\":\"b\"}}", false },
                { "{\"ports\":[{\"port\":80,\"targetPort\":8080}],\"selector\":{\"a\":\"c\"}}", false },
                { "{\"ports\":[{\"port\":80,\"targetPort\":8080,\"protocol\":\"TCP\"}],\"selector\":{\"a\":\"b\"}}",
                  false }, /* one more field is the manager's */
                { "{\"ports\":[{\"port\":80,\"targetPort\":8080},{\"port\":81}],\"selector\":{\"a\":\"b\"}}", false },
                { "{\"ports\":[{\"port\":80,\"targetPort\":8080}]}", false },
        };
        struct known_kinds known = { .cluster = { .ops = &ops }, .kinds = read_corpus("core") };
        _cleanup_arena_ struct arena a;
        struct run run = { .arena = &a, .deadline = DEADLINE_NONE };

        arena_init(&a, "test", 0);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct write_request req = { .verb = WRITE_APPLY, .manager = STR("me") };
                const struct value *live = from_json(&a, live_service);

                req.body = from_json(&a, "{\"apiVersion\":\"v1\",\"kind\":\"Service\",\"metadata\":{\"name\":\"s\","
                                         "\"namespace\":\"default\"}}");
                req.body = value_with(&a, req.body, STR("spec"), from_json(&a, cases[i].spec));
                req.key = object_key_of(req.body);
                ASSERT_CASE(cases[i].spec, predict_is_noop(&known.cluster, &run, &req, live) == cases[i].is_noop);
        }
        arena_reset(&a);
        openapi_kinds_done(&known.kinds);
}
