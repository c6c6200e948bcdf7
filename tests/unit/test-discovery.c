/* Discovery documents: against those of a real API server, their negotiation, and how long they are kept. */
#include "store-test.h"

#include "discovery-private.h"
#include "input.h"
#include "manifest.h"
#include "park.h"

#include <stdatomic.h>

#define GOLDEN    TEST_SOURCE_DIR "/tests/golden/discovery/"
#define V2        "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
#define V2BETA1   "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"
#define AGGREGATE V2 "," V2BETA1 ",application/json"

struct world {
        struct fixture f;
        struct discovery *discovery;
        struct api_reply reply;
};

static void world_init(struct world *w)
{
        struct store_options options = { 0 };

        *w = (struct world) { 0 };
        fixture_init_with(&w->f, &options);
        MUST(&w->f, discovery_new(w->f.cluster, &w->discovery, &w->f.err));
}

static void world_done(struct world *w)
{
        bytes_unref(w->reply.body);
        discovery_free(w->discovery);
        fixture_done(&w->f);
}

#define _cleanup_world_ _cleanup_(world_done)

static void apply_crds(struct world *w)
{
        struct object_key relics =
                key_of((struct gvk) { STR("apiextensions.k8s.io"), STR("v1"), STR("CustomResourceDefinition") }, "",
                       "relics.old.example.org");
        struct manifests m;

        manifests_init(&m, &w->f.arena);
        MUST(&w->f, manifests_load(&m, STR(GOLDEN "crds.yaml"), &w->f.err));
        for (size_t i = 0; i < m.n; i++)
                MUST(&w->f, create(&w->f, m.p[i].object));
        settle(&w->f);
        MUST(&w->f, create(&w->f, JSON(&w->f, "{'apiVersion':'old.example.org/v1','kind':'Relic','metadata':{'name':"
                                              "'a','finalizers':['example.org/keep']}}")));
        MUST(&w->f, delete_with(&w->f, relics, PROPAGATE_UNSET));
}

static int ask(struct world *w, const char *path, const char *accept, const char *tag)
{
        struct http_head head = { .method = STR("GET"), .authority = STR("localhost:6443"), .path = str_from(path) };
        struct api_call call = { .run = w->f.run, .cluster = w->f.cluster, .head = &head, .path = str_from(path) };

        if (accept)
                http_fields_add(&head.fields, &w->f.arena, STR("accept"), str_from(accept));
        if (tag)
                http_fields_add(&head.fields, &w->f.arena, STR("if-none-match"), str_from(tag));
        bytes_unref(w->reply.body);
        w->reply = (struct api_reply) { 0 };
        err_done(&w->f.err);
        w->f.err = (struct err) { 0 };
        return discovery_handle(w->discovery, &call, &w->reply, &w->f.err);
}

static const struct value *answer(struct world *w, const char *path, const char *accept)
{
        const struct value *v = NULL;

        MUST(&w->f, ask(w, path, accept, NULL));
        ASSERT(w->reply.body);
        MUST(&w->f, json_parse(&w->f.arena, w->reply.body->str, NULL, &v, &w->f.err));
        return v;
}

static const struct value *golden(struct world *w, const char *name)
{
        _cleanup_buf_ struct buf b = { 0 };
        const struct value *v = NULL;

        MUST(&w->f,
             input_read(arena_cstring(&w->f.arena, arena_printf(&w->f.arena, GOLDEN "%s", name)), &b, &w->f.err));
        MUST(&w->f, json_parse(&w->f.arena, buf_to_arena(&b, &w->f.arena), NULL, &v, &w->f.err));
        return v;
}

static struct str field(struct world *w, const char *name)
{
        return http_fields_get(&w->reply.fields, str_from(name));
}

TEST(documents_are_those_of_a_real_server)
{
        static const struct {
                const char *path, *file;
        } cases[] = {
                { "/apis/example.org", "group.json" },
                { "/apis/example.org/", "group.json" },
                { "/apis/example.org/v1", "resources-v1.json" },
                { "/apis/example.org/v1/", "resources-v1.json" },
                { "/apis/example.org/v1beta1", "resources-v1beta1.json" },
                { "/apis/example.org/v1alpha1", "resources-v1alpha1.json" },
                { "/apis/old.example.org/v1", "resources-terminating.json" },
        };
        _cleanup_world_ struct world w;

        world_init(&w);
        apply_crds(&w);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                ASSERT_STR_CASE(cases[i].path, to_json(&w.f, answer(&w, cases[i].path, NULL)),
                                to_json(&w.f, golden(&w, cases[i].file)));
                ASSERT_STR(w.reply.content_type, STR("application/json"));
                ASSERT(!field(&w, "etag").p);
        }
}

/* The items of an array whose name, found by the keys, is in the other array. */
static struct str shared(struct world *w, const struct value *array, const struct value *with, const char *outer,
                         const char *inner)
{
        struct array_builder b;

        array_builder_init(&b, &w->f.arena, value_count(array));
        VALUE_FOREACH_ITEM (item, array)
                VALUE_FOREACH_ITEM (other, with)
                        if (str_equal(value_str(value_find(item, outer, inner)),
                                      value_str(value_find(other, outer, inner))))
                                array_builder_add(&b, *item);
        return to_json(&w->f, value_put(&w->f.arena, array_builder_finish(&b)));
}

TEST(lists_of_groups_are_those_of_a_real_server)
{
        _cleanup_world_ struct world w;
        const struct value *wanted, *v;

        world_init(&w);
        apply_crds(&w);
        wanted = value_get(golden(&w, "groups.json"), STR("groups"));
        v = value_get(answer(&w, "/apis", NULL), STR("groups"));
        ASSERT_STR(shared(&w, v, wanted, "preferredVersion", "groupVersion"), to_json(&w.f, wanted));
        wanted = value_get(golden(&w, "aggregated.json"), STR("items"));
        v = answer(&w, "/apis", AGGREGATE);
        ASSERT_STR(value_str(value_get(v, STR("kind"))), STR("APIGroupDiscoveryList"));
        ASSERT_STR(value_str(value_get(v, STR("apiVersion"))), STR("apidiscovery.k8s.io/v2"));
        ASSERT_STR(shared(&w, value_get(v, STR("items")), wanted, "metadata", "name"), to_json(&w.f, wanted));
}

TEST(core_group)
{
        _cleanup_world_ struct world w;
        const struct value *v, *group;
        bool has_config_maps = false;

        world_init(&w);
        ASSERT_STR(to_json(&w.f, answer(&w, "/api", NULL)),
                   STR("{\"kind\":\"APIVersions\",\"serverAddressByClientCIDRs\":[{\"clientCIDR\":\"0.0.0.0/0\","
                       "\"serverAddress\":\"localhost:6443\"}],\"versions\":[\"v1\"]}"));
        v = answer(&w, "/api", AGGREGATE);
        ASSERT_INT(value_count(value_get(v, STR("items"))), 1);
        group = value_item(value_get(v, STR("items")), 0);
        ASSERT_STR(to_json(&w.f, value_get(group, STR("metadata"))), STR("{}"));
        ASSERT_STR(value_str(value_get(value_item(value_get(group, STR("versions")), 0), STR("version"))), STR("v1"));
        v = answer(&w, "/api/v1", NULL);
        ASSERT_STR(value_str(value_get(v, STR("groupVersion"))), STR("v1"));
        VALUE_FOREACH_ITEM (r, value_get(v, STR("resources")))
                if (str_equal(value_str(value_get(r, STR("name"))), STR("configmaps"))) {
                        has_config_maps = true;
                        ASSERT_STR(value_str(value_get(r, STR("storageVersionHash"))), STR("qFsyl6wFWjQ="));
                        ASSERT_STR(to_json(&w.f, value_get(r, STR("verbs"))),
                                   STR("[\"create\",\"delete\",\"deletecollection\",\"get\",\"list\",\"patch\","
                                       "\"update\",\"watch\"]"));
                }
        ASSERT(has_config_maps);
}

TEST(unknown_paths)
{
        static const char *const paths[] = { "/",
                                             "/apiss",
                                             "/api/v2",
                                             "/api/v1/pods",
                                             "/apis/nope",
                                             "/apis/example.org/v2", /* is not served */
                                             "/apis/example.org/v1/widgets",
                                             "/apis//v1" };
        _cleanup_world_ struct world w;

        world_init(&w);
        apply_crds(&w);
        for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
                ASSERT_CASE(paths[i], ask(&w, paths[i], NULL, NULL) == ERR_NOT_FOUND);
                ASSERT_CASE(paths[i], ask(&w, paths[i], AGGREGATE, NULL) == ERR_NOT_FOUND);
        }
        ASSERT_STR(
                to_json(&w.f, value_put(&w.f.arena, status_of_err(&w.f.arena, &w.f.err))),
                STR("{\"apiVersion\":\"v1\",\"code\":404,\"details\":{},\"kind\":\"Status\",\"message\":\"the server "
                    "could not find the requested resource\",\"metadata\":{},\"reason\":\"NotFound\",\"status\":"
                    "\"Failure\"}"));
}

TEST(negotiation)
{
        static const struct {
                const char *path, *accept, *type; /* type NULL: 406 */
        } cases[] = {
                { "/apis", NULL, "application/json" },
                { "/apis", "", "application/json" },
                { "/apis", "*/*", "application/json" },
                { "/apis", "application/yaml", "application/yaml" },
                { "/apis", "application/yaml;q=0.5, application/json;q=0.4", "application/yaml" },
                { "/apis", "application/json;q=0.4, application/yaml;q=0.5", "application/yaml" },
                { "/apis", "text/html", NULL },
                { "/apis", "application/json;q=0", NULL },
                { "/apis", AGGREGATE, V2 },
                { "/api", AGGREGATE, V2 },
                { "/api/v1", AGGREGATE, "application/json" },
                { "/api/v1", V2, NULL },
                { "/apis", "application/json;as=APIGroupDiscoveryList;v=v2;g=apidiscovery.k8s.io", V2 },
                { "/apis", "application/json; g=apidiscovery.k8s.io; v=v2; as=APIGroupDiscoveryList", V2 },
                { "/apis", V2 ";profile=nopeer", V2 },
                { "/apis", "application/json," V2, V2 },
                { "/apis", V2BETA1 "," V2, V2 },
                { "/apis", V2BETA1 ",application/json", V2BETA1 },
                { "/apis", "application/json;g=apidiscovery.k8s.io;v=v3;as=APIGroupDiscoveryList", NULL },
                { "/apis", "application/json;g=apidiscovery.k8s.io;v=v2", NULL },
                { "/apis", "application/json;as=Table;v=v1;g=meta.k8s.io,application/json", "application/json" },
                { "/apis", "application/yaml;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
                  "application/yaml;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList" },
        };
        _cleanup_world_ struct world w;

        world_init(&w);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                int r = ask(&w, cases[i].path, cases[i].accept, NULL);

                if (cases[i].type) {
                        ASSERT_CASE(cases[i].accept, r == 0);
                        ASSERT_STR_CASE(cases[i].accept, w.reply.content_type, str_from(cases[i].type));
                } else {
                        ASSERT_CASE(cases[i].accept, r < 0);
                        ASSERT_INT(reason_http_status(w.f.err.reason), 406);
                }
        }
        ASSERT_STR(value_str(value_get(answer(&w, "/apis", V2BETA1), STR("apiVersion"))),
                   STR("apidiscovery.k8s.io/v2beta1"));
}

TEST(entity_tags)
{
        _cleanup_world_ struct world w;
        const char *tag;

        world_init(&w);
        answer(&w, "/apis", AGGREGATE);
        ASSERT_STR(field(&w, "vary"), STR("Accept"));
        ASSERT_STR(field(&w, "cache-control"), STR("public"));
        ASSERT_INT(field(&w, "etag").n, 130);
        ASSERT_STR(field(&w, "etag"), document_tag(&w.f.arena, w.reply.body->str));
        tag = arena_cstring(&w.f.arena, field(&w, "etag"));
        MUST(&w.f, ask(&w, "/apis", AGGREGATE, tag));
        ASSERT_INT(w.reply.status, 304);
        ASSERT(!w.reply.body);
        ASSERT_STR(field(&w, "etag"), str_from(tag));
        MUST(&w.f,
             ask(&w, "/apis", AGGREGATE, arena_cstring(&w.f.arena, arena_printf(&w.f.arena, "\"x\", W/%s", tag))));
        ASSERT_INT(w.reply.status, 304);
        apply_crds(&w);
        MUST(&w.f, ask(&w, "/apis", AGGREGATE, tag));
        ASSERT_INT(w.reply.status, 0);
        ASSERT(w.reply.body && !str_equal(field(&w, "etag"), str_from(tag)));
}

TEST(documents_are_kept_until_the_kinds_change)
{
        _cleanup_world_ struct world w;
        const struct bytes *first;

        world_init(&w);
        MUST(&w.f, ask(&w, "/apis", NULL, NULL));
        first = w.reply.body;
        MUST(&w.f, ask(&w, "/apis/apiextensions.k8s.io/v1", NULL, NULL));
        MUST(&w.f, ask(&w, "/apis", NULL, NULL));
        ASSERT(w.reply.body == first);
        ASSERT(document_cache_bytes(&w.discovery->documents) > 0);
        apply_crds(&w);
        MUST(&w.f, ask(&w, "/apis", NULL, NULL));
        ASSERT(str_find(w.reply.body->str, STR("old.example.org")) > 0);
        ASSERT(document_cache_bytes(&w.discovery->documents) < w.reply.body->str.n + 1000);
}

/* --- Threads --- */

struct readers {
        struct discovery *discovery;
        struct cluster *cluster;
        _Atomic bool is_over;
        _Atomic unsigned answers;
};

static void read_documents(void *arg)
{
        static const char *const paths[] = { "/apis", "/api", "/apis/example.org", "/apis/example.org/v1" };
        struct readers *all = arg;

        for (unsigned i = 0; !all->is_over || i < 8; i++) {
                _cleanup_arena_ struct arena a;
                _cleanup_err_ struct err err = { 0 };
                struct str path = str_from(paths[i % 4]);
                struct http_head head = { .method = STR("GET"), .path = path };
                struct api_call call = { .head = &head, .path = path, .cluster = all->cluster };
                struct api_reply reply;

                arena_init(&a, "call", 0);
                call.run = (struct run) { .arena = &a, .deadline = DEADLINE_NONE };
                http_fields_add(&head.fields, &a, STR("accept"), i % 3 ? STR(AGGREGATE) : STR("application/json"));
                if (discovery_handle(all->discovery, &call, &reply, &err) == 0) {
                        ASSERT(reply.body->str.n > 0);
                        bytes_unref(reply.body);
                        all->answers++;
                } else {
                        ASSERT_INT(err.code, ERR_NOT_FOUND); /* before the CRD is there */
                }
        }
}

TEST(readers_while_kinds_change)
{
        _cleanup_world_ struct world w;
        struct readers readers;
        struct thread *threads[4];

        world_init(&w);
        readers = (struct readers) { .discovery = w.discovery, .cluster = w.f.cluster };
        for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
                MUST(&w.f, thread_start("reader", read_documents, &readers, &threads[i], &w.f.err));
        for (int i = 0; i < 8; i++)
                MUST(&w.f,
                     create(&w.f, JSON(&w.f,
                                       "{'apiVersion':'apiextensions.k8s.io/v1','kind':'CustomResourceDefinition',"
                                       "'metadata':{'name':'widget%ds.example.org'},'spec':{'group':'example.org',"
                                       "'scope':'Cluster','names':{'plural':'widget%ds','kind':'Widget%d'},"
                                       "'versions':[{'name':'v1','served':true,'storage':true,'schema':"
                                       "{'openAPIV3Schema':{'type':'object'}}}]}}",
                                       i, i, i)));
        readers.is_over = true;
        for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
                thread_join(threads[i]);
        ASSERT(readers.answers > 0);
        ASSERT(str_find(to_json(&w.f, answer(&w, "/apis/example.org/v1", NULL)), STR("widget7s")) > 0);
}
