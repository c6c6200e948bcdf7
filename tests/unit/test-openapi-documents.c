/* OpenAPI documents: against those of a real API server, read by our own client, and how they are named and kept. */
#include "store-test.h"

#include "discovery-private.h"
#include "input.h"
#include "limits.h"
#include "manifest.h"
#include "openapi-document.h"
#include "openapi.h"
#include "park.h"

#include <stdatomic.h>

#define GOLDEN TEST_SOURCE_DIR "/tests/golden/discovery/"

struct world {
        struct fixture f;
        struct discovery *discovery;
        struct api_reply reply;
};

static void world_init(struct world *w)
{
        struct store_options options = { 0 };
        struct manifests m;

        *w = (struct world) { 0 };
        fixture_init_with(&w->f, &options);
        MUST(&w->f, discovery_new(w->f.cluster, &w->discovery, &w->f.err));
        manifests_init(&m, &w->f.arena);
        MUST(&w->f, manifests_load(&m, STR(GOLDEN "crds.yaml"), &w->f.err));
        for (size_t i = 0; i < m.n; i++)
                MUST(&w->f, create(&w->f, m.p[i].object));
        settle(&w->f);
}

static void world_done(struct world *w)
{
        bytes_unref(w->reply.body);
        discovery_free(w->discovery);
        fixture_done(&w->f);
}

#define _cleanup_world_ _cleanup_(world_done)

/* A request; the query may be NULL, or has the parameter hash alone. */
static int ask(struct world *w, struct str path, struct str hash, const char *accept, struct str tag)
{
        struct http_head head = { .method = STR("GET"), .path = path };
        struct http_field parameter = { STR("hash"), hash };
        struct api_call call = { .run = w->f.run, .cluster = w->f.cluster, .head = &head, .path = path };

        if (hash.n > 0)
                call.query = (struct api_query) { &parameter, 1 };
        if (accept)
                http_fields_add(&head.fields, &w->f.arena, STR("accept"), str_from(accept));
        if (tag.n > 0)
                http_fields_add(&head.fields, &w->f.arena, STR("if-none-match"), tag);
        bytes_unref(w->reply.body);
        w->reply = (struct api_reply) { 0 };
        err_done(&w->f.err);
        w->f.err = (struct err) { 0 };
        return openapi_handle(w->discovery, &call, &w->reply, &w->f.err);
}

static struct str field(struct world *w, const char *name)
{
        return http_fields_get(&w->reply.fields, str_from(name));
}

static const struct value *answer(struct world *w, const char *path)
{
        const struct value *v = NULL;

        MUST(&w->f, ask(w, str_from(path), STR(""), NULL, STR("")));
        ASSERT(w->reply.body);
        MUST(&w->f, json_parse(&w->f.arena, w->reply.body->str, NULL, &v, &w->f.err));
        return v;
}

/* The hash of a group and version in the index. */
static struct str indexed_hash(struct world *w, const char *name)
{
        const struct value *paths = value_get(answer(w, "/openapi/v3"), STR("paths"));
        struct str url = value_str(value_find(value_get(paths, str_from(name)), "serverRelativeURL")), head;

        ASSERT(str_split(&url, '=', &head));
        ASSERT_STR(head, arena_printf(&w->f.arena, "/openapi/v3/%s?hash", name));
        return url;
}

static const struct value *golden(struct world *w)
{
        _cleanup_buf_ struct buf b = { 0 };
        const struct value *v = NULL;

        MUST(&w->f, input_read(GOLDEN "openapi-v1.json", &b, &w->f.err));
        MUST(&w->f, json_parse(&w->f.arena, buf_to_arena(&b, &w->f.arena), NULL, &v, &w->f.err));
        return v;
}

static struct value without_descriptions(struct arena *a, const struct value *v)
{
        if (value_is_object(v)) {
                struct object_builder b;

                object_builder_init(&b, a, value_count(v));
                VALUE_FOREACH_MEMBER (m, v)
                        if (!str_equal(m->key, STR("description")) || !value_is_string(&m->value))
                                object_builder_add(&b, m->key, without_descriptions(a, &m->value));
                return object_builder_finish(&b);
        }
        if (value_is_array(v)) {
                struct array_builder b;

                array_builder_init(&b, a, value_count(v));
                VALUE_FOREACH_ITEM (item, v)
                        array_builder_add(&b, without_descriptions(a, item));
                return array_builder_finish(&b);
        }
        return *v;
}

TEST(schemas_are_those_of_a_real_server)
{
        _cleanup_world_ struct world w;
        const struct value *schemas;

        world_init(&w);
        schemas = value_find(answer(&w, "/openapi/v3/apis/example.org/v1"), "components", "schemas");
        VALUE_FOREACH_MEMBER (m, value_get(golden(&w), STR("schemas"))) {
                struct value ours = without_descriptions(&w.f.arena, value_get(schemas, m->key));

                ASSERT_STR(to_json(&w.f, &ours), to_json(&w.f, &m->value));
        }
        ASSERT_STR(value_str(value_find(value_get(schemas, STR("org.example.v1.Widget")), "description")),
                   STR("A widget."));
}

TEST(operations_are_those_of_a_real_server)
{
        _cleanup_world_ struct world w;
        const struct value *paths, *wanted;
        size_t n = 0;

        world_init(&w);
        paths = value_get(answer(&w, "/openapi/v3/apis/example.org/v1"), STR("paths"));
        wanted = value_get(golden(&w), STR("operations"));
        ASSERT_INT(value_count(paths), value_count(wanted));
        VALUE_FOREACH_MEMBER (path, wanted)
                VALUE_FOREACH_MEMBER (o, &path->value) {
                        const struct value *ours = value_get(value_get(paths, path->key), o->key);
                        const char *name = arena_cstring(&w.f.arena, path->key);

                        ASSERT_STR_CASE(name, value_str(value_get(ours, STR("operationId"))),
                                        value_str(value_get(&o->value, STR("id"))));
                        ASSERT_STR_CASE(name, value_str(value_get(ours, STR("x-kubernetes-action"))),
                                        value_str(value_get(&o->value, STR("action"))));
                        ASSERT_STR_CASE(name, to_json(&w.f, value_get(ours, STR("x-kubernetes-group-version-kind"))),
                                        to_json(&w.f, value_get(&o->value, STR("kind"))));
                        n++;
                }
        ASSERT(n > 10);
}

/* The patches that the kind takes, and fieldValidation at the patch of the kind, which kubectl looks for before it applies. */
TEST(patches)
{
        static const struct {
                const char *document, *path, *types;
        } cases[] = {
                { "/openapi/v3/apis/example.org/v1", "/apis/example.org/v1/namespaces/{namespace}/widgets/{name}",
                  "application/apply-patch+yaml application/json-patch+json application/merge-patch+json" },
                { "/openapi/v3/api/v1", "/api/v1/namespaces/{namespace}/configmaps/{name}",
                  "application/apply-patch+yaml application/json-patch+json application/merge-patch+json "
                  "application/strategic-merge-patch+json" },
        };
        _cleanup_world_ struct world w;

        world_init(&w);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                const struct value *paths = value_get(answer(&w, cases[i].document), STR("paths"));
                const struct value *patch = value_get(value_get(paths, str_from(cases[i].path)), STR("patch"));
                struct str types = STR("");
                bool has_validation = false;

                VALUE_FOREACH_ITEM (p, value_get(patch, STR("parameters")))
                        has_validation |= str_equal(value_str(value_get(p, STR("name"))), STR("fieldValidation"));
                ASSERT_CASE(cases[i].path, has_validation);
                VALUE_FOREACH_MEMBER (m, value_find(patch, "requestBody", "content"))
                        types = ARENA_CONCAT(&w.f.arena, types, types.n ? STR(" ") : STR(""), m->key);
                ASSERT_STR_CASE(cases[i].path, types, str_from(cases[i].types));
        }
}

static void check_references(const struct value *schemas, const struct value *v)
{
        struct str name = value_str(value_get(v, STR("$ref")));

        if (name.n > 0) {
                ASSERT(str_cut_prefix(&name, STR(OPENAPI_REFERENCE)));
                if (!value_get(schemas, name))
                        test_fail(__FILE__, __LINE__, "%.*s is missing", STR_ARG(name));
        }
        VALUE_FOREACH_MEMBER (m, v)
                check_references(schemas, &m->value);
        VALUE_FOREACH_ITEM (item, v)
                check_references(schemas, item);
}

/* Every document is complete, and our own client reads from it the kinds that are served. */
TEST(all_documents)
{
        _cleanup_world_ struct world w;
        const struct value *paths;
        size_t n_kinds = 0, n_served = 0;
        struct kind_list kinds;

        world_init(&w);
        paths = value_get(answer(&w, "/openapi/v3"), STR("paths"));
        VALUE_FOREACH_MEMBER (m, paths) {
                _cleanup_openapi_kinds_ struct openapi_kinds read = { 0 };
                const struct value *document =
                        answer(&w, arena_cstring(&w.f.arena, ARENA_CONCAT(&w.f.arena, STR("/openapi/v3/"), m->key)));

                check_references(value_find(document, "components", "schemas"), document);
                MUST(&w.f, openapi_read(document, &read, &w.f.err));
                n_kinds += read.n;
        }
        MUST(&w.f, cluster_kinds(w.f.cluster, &w.f.run, &kinds, &w.f.err));
        for (size_t i = 0; i < kinds.n; i++)
                for (size_t j = 0; j < kinds.kinds[i].kind->n_versions; j++)
                        n_served += kinds.kinds[i].kind->versions[j].is_served;
        ASSERT_INT(n_kinds, n_served);
        ASSERT(document_cache_bytes(&w.discovery->openapi) <= LIMIT_OPENAPI_KEPT);
}

static const struct kind *find_kind(const struct openapi_kinds *kinds, const char *name)
{
        for (size_t i = 0; i < kinds->n; i++)
                if (str_equal(kinds->p[i]->kind, str_from(name)))
                        return kinds->p[i];
        test_fail(__FILE__, __LINE__, "no kind %s", name);
}

TEST(a_client_reads_a_document)
{
        _cleanup_openapi_kinds_ struct openapi_kinds read = { 0 };
        _cleanup_world_ struct world w;
        const struct kind *k;

        world_init(&w);
        MUST(&w.f, openapi_read(answer(&w, "/openapi/v3/apis/example.org/v1"), &read, &w.f.err));
        k = find_kind(&read, "Widget");
        ASSERT_STR(k->plural, STR("widgets"));
        ASSERT(k->is_namespaced);
        ASSERT_INT(k->versions[0].verbs & ~(unsigned)VERB_WATCH, VERBS_ALL & ~(unsigned)VERB_WATCH);
        ASSERT_INT(k->versions[0].n_subresources, 2);
        ASSERT_STR(k->versions[0].subresources[0].name, STR("scale"));
}

TEST(names_of_documents)
{
        _cleanup_world_ struct world w;
        struct str hash, tag;

        world_init(&w);
        hash = indexed_hash(&w, "apis/example.org/v1");
        ASSERT_INT(hash.n, 128);
        tag = arena_printf(&w.f.arena, "\"%.*s\"", STR_ARG(hash));
        ASSERT_INT(ask(&w, STR("/openapi/v3/apis/example.org/v1"), hash, "application/json", STR("")), 0);
        ASSERT_INT(w.reply.status, 0);
        ASSERT(w.reply.body);
        ASSERT_STR(field(&w, "etag"), tag);
        ASSERT_STR(field(&w, "cache-control"), STR("public, immutable"));
        ASSERT_STR(field(&w, "vary"), STR("Accept"));
        ASSERT(str_ends_with(field(&w, "expires"), STR(" GMT")));
        ASSERT_INT(ask(&w, STR("/openapi/v3/apis/example.org/v1"), hash, NULL, tag), 0);
        ASSERT_INT(w.reply.status, 304);
        ASSERT(!w.reply.body);
        ASSERT_INT(ask(&w, STR("/openapi/v3/apis/example.org/v1"), STR("AB"), NULL, STR("")), 0);
        ASSERT_INT(w.reply.status, 301);
        ASSERT_STR(field(&w, "location"),
                   arena_printf(&w.f.arena, "/openapi/v3/apis/example.org/v1?hash=%.*s", STR_ARG(hash)));
        ASSERT_INT(ask(&w, STR("/openapi/v3/apis/example.org/v1"), STR(""), NULL, STR("")), 0);
        ASSERT_STR(field(&w, "cache-control"), STR("no-cache, private"));
        answer(&w, "/openapi/v3");
        tag = field(&w, "etag");
        ASSERT_INT(ask(&w, STR("/openapi/v3"), STR(""), NULL, tag), 0);
        ASSERT_INT(w.reply.status, 304);
}

TEST(requests_that_are_refused)
{
        static const char *const paths[] = { "/openapi/v2",
                                             "/openapi/v3x",
                                             "/openapi/v3/api/v2",
                                             "/openapi/v3/apis",
                                             "/openapi/v3/apis/example.org",
                                             "/openapi/v3/apis/example.org/v2",
                                             "/openapi/v3/apis/nope/v1",
                                             "/openapi/v3/apis//v1",
                                             "/openapi/v3/apis/example.org/v1/widgets" };
        _cleanup_world_ struct world w;

        world_init(&w);
        for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
                ASSERT_CASE(paths[i], ask(&w, str_from(paths[i]), STR(""), NULL, STR("")) == ERR_NOT_FOUND);
        ASSERT(ask(&w, STR("/openapi/v3"), STR(""), "text/html", STR("")) < 0);
        ASSERT_INT(reason_http_status(w.f.err.reason), 406);
        ASSERT(ask(&w, STR("/openapi/v3/api/v1"), STR(""), "application/com.github.proto-openapi.spec.v3@v1.0+protobuf",
                   STR("")) < 0);
        ASSERT_INT(reason_http_status(w.f.err.reason), 406);
        ASSERT_INT(ask(&w, STR("/openapi/v3/api/v1"), STR(""),
                       "application/com.github.proto-openapi.spec.v3@v1.0+protobuf, application/json", STR("")),
                   0);
}

static struct object_key crd_key(const char *name)
{
        return key_of((struct gvk) { STR("apiextensions.k8s.io"), STR("v1"), STR("CustomResourceDefinition") }, "",
                      name);
}

TEST(hashes_follow_their_crds)
{
        _cleanup_world_ struct world w;
        struct str gadgets, widgets, changed;

        world_init(&w);
        gadgets = arena_copy(&w.f.arena, indexed_hash(&w, "apis/example.org/v1beta1"));
        widgets = arena_copy(&w.f.arena, indexed_hash(&w, "apis/example.org/v1"));
        MUST(&w.f,
             merge(&w.f, crd_key("widgets.example.org"), JSON(&w.f, "{'spec':{'names':{'shortNames':['x']}}}"), NULL));
        settle(&w.f);
        changed = indexed_hash(&w, "apis/example.org/v1");
        ASSERT(!str_equal(widgets, changed));
        ASSERT_STR(indexed_hash(&w, "apis/example.org/v1beta1"), gadgets);
        ASSERT_INT(ask(&w, STR("/openapi/v3/apis/example.org/v1"), widgets, NULL, STR("")), 0);
        ASSERT_INT(w.reply.status, 301);
        ASSERT_INT(ask(&w, STR("/openapi/v3/apis/example.org/v1"), changed, NULL, STR("")), 0);
        ASSERT_INT(w.reply.status, 0);
}

/* A CRD that changes without its kind: the index still has the old hash, which leads to a document in at most one step. */
TEST(a_crd_changes_without_its_kind)
{
        _cleanup_world_ struct world w;
        struct str hash, url, head;

        world_init(&w);
        hash = arena_copy(&w.f.arena, indexed_hash(&w, "apis/example.org/v1"));
        MUST(&w.f, merge(&w.f, crd_key("widgets.example.org"), JSON(&w.f, "{'metadata':{'labels':{'a':'b'}}}"), NULL));
        ASSERT_INT(ask(&w, STR("/openapi/v3/apis/example.org/v1"), hash, NULL, STR("")), 0);
        if (w.reply.status == 301) {
                url = arena_copy(&w.f.arena, field(&w, "location"));
                ASSERT(str_split(&url, '=', &head));
                ASSERT_INT(ask(&w, STR("/openapi/v3/apis/example.org/v1"), url, NULL, STR("")), 0);
        }
        ASSERT_INT(w.reply.status, 0);
        ASSERT(w.reply.body);
}

/* --- Limits --- */

TEST(the_cache_is_bounded)
{
        _cleanup_arena_ struct arena a;
        struct document_cache c;
        struct kept_document d, kept;

        arena_init(&a, "test", 0);
        document_cache_init(&c, 10000);
        d = (struct kept_document) { .body = bytes_copy(arena_printf(&a, "%3000d", 1)), .tag = STR("\"t\"") };
        for (int i = 0; i < 10; i++) {
                document_cache_put(&c, 7, arena_printf(&a, "%d", i), &d);
                ASSERT(document_cache_bytes(&c) <= 10000);
        }
        ASSERT(document_cache_get(&c, 7, STR("9"), &a, &kept));
        ASSERT(kept.body == d.body);
        ASSERT_STR(kept.tag, STR("\"t\""));
        ASSERT(!document_cache_get(&c, 7, STR("0"), &a, &kept));
        ASSERT(!document_cache_get(&c, 8, STR("9"), &a, &kept));
        document_cache_put(&c, 8, STR("x"), &d);
        ASSERT(!document_cache_get(&c, 7, STR("9"), &a, &kept));
        bytes_unref(d.body);
        d.body = bytes_copy(arena_printf(&a, "%30000d", 1));
        document_cache_put(&c, 8, STR("large"), &d);
        ASSERT(!document_cache_get(&c, 8, STR("large"), &a, &kept));
        bytes_unref(d.body);
        document_cache_done(&c);
}

/* --- Threads --- */

struct readers {
        struct world *world;
        _Atomic bool is_over;
        _Atomic unsigned answers;
};

static void read_documents(void *arg)
{
        static const char *const paths[] = { "/openapi/v3", "/openapi/v3/apis/example.org/v1", "/openapi/v3/api/v1" };
        struct readers *all = arg;

        for (unsigned i = 0; !all->is_over || i < 4; i++) {
                _cleanup_arena_ struct arena a;
                _cleanup_err_ struct err err = { 0 };
                struct http_head head = { .method = STR("GET") };
                struct api_call call = { .head = &head, .path = str_from(paths[i % 3]) };
                struct api_reply reply;

                arena_init(&a, "call", 0);
                call.run = (struct run) { .arena = &a, .deadline = DEADLINE_NONE };
                ASSERT_INT(openapi_handle(all->world->discovery, &call, &reply, &err), 0);
                ASSERT(reply.body && reply.body->str.n > 0);
                bytes_unref(reply.body);
                all->answers++;
        }
}

TEST(readers_while_crds_change)
{
        _cleanup_world_ struct world w;
        struct readers readers;
        struct thread *threads[3];

        world_init(&w);
        readers = (struct readers) { .world = &w };
        for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
                MUST(&w.f, thread_start("reader", read_documents, &readers, &threads[i], &w.f.err));
        for (int i = 0; i < 6; i++)
                MUST(&w.f, merge(&w.f, crd_key("widgets.example.org"),
                                 JSON(&w.f, "{'spec':{'names':{'shortNames':['x%d']}}}", i), NULL));
        readers.is_over = true;
        for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
                thread_join(threads[i]);
        ASSERT(readers.answers >= 12);
}
