#include "discovery-documents.h"

#include "base64.h"
#include "buf.h"
#include "digest.h"

/* The groups of kube-apiserver in the order of its discovery. kubectl takes the first group that has a short name or a resource. */
static const struct str group_order[] = {
        STR_INIT(""),
        STR_INIT("apiregistration.k8s.io"),
        STR_INIT("apps"),
        STR_INIT("events.k8s.io"),
        STR_INIT("authentication.k8s.io"),
        STR_INIT("authorization.k8s.io"),
        STR_INIT("autoscaling"),
        STR_INIT("batch"),
        STR_INIT("certificates.k8s.io"),
        STR_INIT("networking.k8s.io"),
        STR_INIT("policy"),
        STR_INIT("rbac.authorization.k8s.io"),
        STR_INIT("storage.k8s.io"),
        STR_INIT("admissionregistration.k8s.io"),
        STR_INIT("apiextensions.k8s.io"),
        STR_INIT("scheduling.k8s.io"),
        STR_INIT("coordination.k8s.io"),
        STR_INIT("node.k8s.io"),
        STR_INIT("discovery.k8s.io"),
        STR_INIT("resource.k8s.io"),
        STR_INIT("flowcontrol.apiserver.k8s.io"),
};

/* kube-apiserver lists the verbs of custom resources in an order of their own. */
static const enum kind_verb custom_verbs[] = {
        VERB_DELETE, VERB_DELETE_COLLECTION, VERB_GET, VERB_LIST, VERB_PATCH, VERB_CREATE, VERB_UPDATE, VERB_WATCH
};
static const enum kind_verb builtin_verbs[] = { VERB_CREATE, VERB_DELETE, VERB_DELETE_COLLECTION,
                                                VERB_GET,    VERB_LIST,   VERB_PATCH,
                                                VERB_UPDATE, VERB_WATCH };

#define TERMINATING_VERBS (VERB_DELETE | VERB_DELETE_COLLECTION | VERB_GET | VERB_LIST | VERB_WATCH)

/* --- Groups --- */

static size_t group_rank(struct str name)
{
        size_t i = 0;

        while (i < ARRAY_SIZE(group_order) && !str_equal(group_order[i], name))
                i++;
        return i;
}

static int compare_groups(const void *pa, const void *pb)
{
        const struct discovery_group *a = pa, *b = pb;
        size_t rank_a = group_rank(a->name), rank_b = group_rank(b->name);

        if (rank_a != rank_b)
                return rank_a < rank_b ? -1 : 1;
        return str_compare(a->name, b->name);
}

static int compare_versions(const void *a, const void *b)
{
        return kind_version_compare(*(const struct str *)b, *(const struct str *)a);
}

static bool has_version(const struct str *versions, size_t n, struct str version)
{
        for (size_t i = 0; i < n; i++)
                if (str_equal(versions[i], version))
                        return true;
        return false;
}

static void fill_versions(struct arena *a, struct discovery_group *g)
{
        size_t max = 0;
        struct str *versions;

        for (size_t i = 0; i < g->n_kinds; i++)
                max += g->kinds[i].kind->n_versions;
        versions = ARENA_NEW_ARRAY(a, struct str, max);
        for (size_t i = 0; i < g->n_kinds; i++) {
                const struct kind *k = g->kinds[i].kind;

                for (size_t j = 0; j < k->n_versions; j++)
                        if (k->versions[j].is_served && !has_version(versions, g->n_versions, k->versions[j].name))
                                versions[g->n_versions++] = k->versions[j].name;
        }
        qsort(versions, g->n_versions, sizeof(*versions), compare_versions);
        g->versions = versions;
}

size_t discovery_groups(struct arena *a, const struct kind_list *list, const struct discovery_group **ret)
{
        struct discovery_group *groups = ARENA_NEW_ARRAY(a, struct discovery_group, list->n);
        size_t n = 0;

        for (size_t i = 0; i < list->n; i++) {
                const struct listed_kind *k = &list->kinds[i];

                if (n == 0 || !str_equal(groups[n - 1].name, k->kind->group))
                        groups[n++] = (struct discovery_group) { .name = k->kind->group, .kinds = k };
                groups[n - 1].n_kinds++;
        }
        for (size_t i = 0; i < n; i++)
                fill_versions(a, &groups[i]);
        qsort(groups, n, sizeof(*groups), compare_groups);
        *ret = groups;
        return n;
}

const struct discovery_group *discovery_find_group(struct arena *a, const struct kind_list *list, struct str name)
{
        struct discovery_group *g = ARENA_NEW(a, struct discovery_group);

        for (size_t i = 0; i < list->n; i++) {
                if (!str_equal(list->kinds[i].kind->group, name))
                        continue;
                if (g->n_kinds++ == 0)
                        g->kinds = &list->kinds[i];
        }
        if (g->n_kinds == 0)
                return NULL;
        g->name = name;
        fill_versions(a, g);
        return g;
}

bool discovery_has_version(const struct discovery_group *g, struct str version)
{
        return has_version(g->versions, g->n_versions, version);
}

/* --- Parts that both forms have --- */

static struct value verb_list(struct arena *a, const enum kind_verb *order, unsigned verbs)
{
        struct array_builder b;

        array_builder_init(&b, a, ARRAY_SIZE(builtin_verbs));
        for (size_t i = 0; i < ARRAY_SIZE(builtin_verbs); i++)
                if (verbs & order[i])
                        array_builder_add(&b, value_of_str(kind_verb_name(order[i])));
        return array_builder_finish(&b);
}

static struct value kind_verbs(struct arena *a, const struct listed_kind *k, const struct kind_version *v)
{
        unsigned verbs = v->verbs & (k->is_terminating ? TERMINATING_VERBS : VERBS_ALL);

        return verb_list(a, k->kind->is_custom ? custom_verbs : builtin_verbs, verbs);
}

static void add_texts(struct object_builder *o, struct str key, const struct str *texts, size_t n)
{
        struct array_builder b;

        if (n == 0)
                return;
        array_builder_init(&b, o->arena, n);
        for (size_t i = 0; i < n; i++)
                array_builder_add(&b, value_of_str(texts[i]));
        object_builder_add(o, key, array_builder_finish(&b));
}

static void add_names(struct object_builder *o, const struct kind *k)
{
        add_texts(o, STR("shortNames"), k->short_names, k->n_short_names);
        add_texts(o, STR("categories"), k->categories, k->n_categories);
}

/* kube-apiserver lists the subresources of custom resources as status, scale; those of its own kinds by name. */
static const struct kind_subresource *subresource_at(const struct kind *k, const struct kind_version *v, size_t i)
{
        return &v->subresources[k->is_custom ? v->n_subresources - 1 - i : i];
}

/* True if objects of the subresource are of a kind of another group or version. */
static bool is_foreign(const struct kind *k, const struct kind_version *v, const struct kind_subresource *s)
{
        return !str_equal(s->gvk.group, k->group) || !str_equal(s->gvk.version, v->name);
}

static struct value object_of(struct arena *a, const struct member *members, size_t n)
{
        return value_of_members(a, members, n, false);
}
#define OBJECT(a, ...)                                          \
        object_of((a), (const struct member[]) { __VA_ARGS__ }, \
                  sizeof((struct member[]) { __VA_ARGS__ }) / sizeof(struct member))

/* --- Aggregated --- */

/* kube-apiserver leaves group and version of its own kinds empty where they are those of the list. */
static struct value response_kind(struct arena *a, bool is_short, struct gvk gvk)
{
        return OBJECT(a, { STR("group"), value_of_str(is_short ? STR("") : gvk.group) },
                      { STR("version"), value_of_str(is_short ? STR("") : gvk.version) },
                      { STR("kind"), value_of_str(gvk.kind) });
}

static void add_subresources(struct object_builder *o, const struct kind *k, const struct kind_version *v)
{
        struct arena *a = o->arena;
        struct array_builder b;

        if (v->n_subresources == 0)
                return;
        array_builder_init(&b, a, v->n_subresources);
        for (size_t i = 0; i < v->n_subresources; i++) {
                const struct kind_subresource *s = subresource_at(k, v, i);
                bool is_short = !k->is_custom && !is_foreign(k, v, s);

                array_builder_add(&b, OBJECT(a, { STR("subresource"), value_of_str(s->name) },
                                             { STR("responseKind"), response_kind(a, is_short, s->gvk) },
                                             { STR("verbs"), verb_list(a, builtin_verbs, s->verbs) }));
        }
        object_builder_add(o, STR("subresources"), array_builder_finish(&b));
}

static struct value aggregated_resource(struct arena *a, const struct listed_kind *listed, const struct kind_version *v)
{
        const struct kind *k = listed->kind;
        struct gvk gvk = { k->group, v->name, k->kind };
        struct object_builder o;

        object_builder_init(&o, a, 8);
        object_builder_add(&o, STR("resource"), value_of_str(k->plural));
        object_builder_add(&o, STR("responseKind"), response_kind(a, !k->is_custom, gvk));
        object_builder_add(&o, STR("scope"), value_of_str(k->is_namespaced ? STR("Namespaced") : STR("Cluster")));
        object_builder_add(&o, STR("singularResource"), value_of_str(k->singular));
        object_builder_add(&o, STR("verbs"), kind_verbs(a, listed, v));
        add_names(&o, k);
        add_subresources(&o, k, v);
        return object_builder_finish(&o);
}

static struct value aggregated_version(struct arena *a, const struct discovery_group *g, struct str version)
{
        struct array_builder resources;

        array_builder_init(&resources, a, g->n_kinds);
        for (size_t i = 0; i < g->n_kinds; i++) {
                const struct kind_version *v = kind_served_version(g->kinds[i].kind, version);

                if (v)
                        array_builder_add(&resources, aggregated_resource(a, &g->kinds[i], v));
        }
        return OBJECT(a, { STR("version"), value_of_str(version) },
                      { STR("resources"), array_builder_finish(&resources) },
                      { STR("freshness"), value_of_literal("Current") });
}

static struct value aggregated_group(struct arena *a, const struct discovery_group *g)
{
        struct value name = value_empty_object;
        struct array_builder versions;

        if (g->name.n > 0)
                name = OBJECT(a, { STR("name"), value_of_str(g->name) });
        array_builder_init(&versions, a, g->n_versions);
        for (size_t i = 0; i < g->n_versions; i++)
                array_builder_add(&versions, aggregated_version(a, g, g->versions[i]));
        return OBJECT(a, { STR("metadata"), name }, { STR("versions"), array_builder_finish(&versions) });
}

struct value discovery_aggregated(struct arena *a, const struct kind_list *list, bool is_core, struct str version)
{
        const struct discovery_group *groups;
        size_t n = discovery_groups(a, list, &groups);
        struct array_builder items;

        array_builder_init(&items, a, n);
        for (size_t i = 0; i < n; i++)
                if (is_core == (groups[i].name.n == 0))
                        array_builder_add(&items, aggregated_group(a, &groups[i]));
        return OBJECT(a, { STR("kind"), value_of_literal("APIGroupDiscoveryList") },
                      { STR("apiVersion"),
                        value_of_str(arena_printf(a, "apidiscovery.k8s.io/%.*s", STR_ARG(version))) },
                      { STR("metadata"), value_empty_object }, { STR("items"), array_builder_finish(&items) });
}

/* --- Legacy --- */

static struct value group_version(struct arena *a, struct str group, struct str version)
{
        return OBJECT(
                a, { STR("groupVersion"), value_of_str(gvk_api_version(a, (struct gvk) { group, version, STR("") })) },
                { STR("version"), value_of_str(version) });
}

static void add_group(struct object_builder *o, const struct discovery_group *g)
{
        struct array_builder versions;

        array_builder_init(&versions, o->arena, g->n_versions);
        for (size_t i = 0; i < g->n_versions; i++)
                array_builder_add(&versions, group_version(o->arena, g->name, g->versions[i]));
        object_builder_add(o, STR("name"), value_of_str(g->name));
        object_builder_add(o, STR("versions"), array_builder_finish(&versions));
        object_builder_add(o, STR("preferredVersion"), group_version(o->arena, g->name, g->versions[0]));
}

static void begin_document(struct object_builder *o, struct arena *a, struct str kind)
{
        object_builder_init(o, a, 6);
        object_builder_add(o, STR("kind"), value_of_str(kind));
        object_builder_add(o, STR("apiVersion"), value_of_literal("v1"));
}

struct value discovery_group_list(struct arena *a, const struct kind_list *list)
{
        const struct discovery_group *groups;
        size_t n = discovery_groups(a, list, &groups);
        struct array_builder items;
        struct object_builder o;

        array_builder_init(&items, a, n);
        for (size_t i = 0; i < n; i++) {
                if (groups[i].name.n == 0)
                        continue;
                object_builder_init(&o, a, 3);
                add_group(&o, &groups[i]);
                array_builder_add(&items, object_builder_finish(&o));
        }
        begin_document(&o, a, STR("APIGroupList"));
        object_builder_add(&o, STR("groups"), array_builder_finish(&items));
        return object_builder_finish(&o);
}

struct value discovery_one_group(struct arena *a, const struct discovery_group *g)
{
        struct object_builder o;

        begin_document(&o, a, STR("APIGroup"));
        add_group(&o, g);
        return object_builder_finish(&o);
}

/* A text that changes with the storage version of a kind: 8 bytes of a digest. */
static struct str storage_version_hash(struct arena *a, const struct kind *k)
{
        const struct kind_version *storage = kind_storage(k);
        struct str text =
                arena_printf(a, "%.*s/%.*s/%.*s", STR_ARG(storage->group), STR_ARG(storage->name), STR_ARG(k->kind));
        _cleanup_buf_ struct buf b = { 0 };
        uint8_t digest[SHA256_BYTES];

        sha256(text, digest);
        base64_encode(&b, str_make((const char *)digest, 8), BASE64_STD);
        return buf_to_arena(&b, a);
}

static struct value legacy_resource(struct arena *a, const struct listed_kind *listed, const struct kind_version *v)
{
        const struct kind *k = listed->kind;
        struct object_builder o;

        object_builder_init(&o, a, 8);
        object_builder_add(&o, STR("name"), value_of_str(k->plural));
        object_builder_add(&o, STR("singularName"), value_of_str(k->singular));
        object_builder_add(&o, STR("namespaced"), value_of_bool(k->is_namespaced));
        object_builder_add(&o, STR("kind"), value_of_str(k->kind));
        object_builder_add(&o, STR("verbs"), kind_verbs(a, listed, v));
        add_names(&o, k);
        if ((v->verbs & VERB_CREATE) && (v->verbs & VERB_GET)) /* others are not stored */
                object_builder_add(&o, STR("storageVersionHash"), value_of_str(storage_version_hash(a, k)));
        return object_builder_finish(&o);
}

static struct value legacy_subresource(struct arena *a, const struct kind *k, const struct kind_version *v,
                                       const struct kind_subresource *s)
{
        struct object_builder o;

        object_builder_init(&o, a, 7);
        object_builder_add(&o, STR("name"),
                           value_of_str(arena_printf(a, "%.*s/%.*s", STR_ARG(k->plural), STR_ARG(s->name))));
        object_builder_add(&o, STR("singularName"), value_empty_string);
        object_builder_add(&o, STR("namespaced"), value_of_bool(k->is_namespaced));
        if (is_foreign(k, v, s)) {
                object_builder_add(&o, STR("group"), value_of_str(s->gvk.group));
                object_builder_add(&o, STR("version"), value_of_str(s->gvk.version));
        }
        object_builder_add(&o, STR("kind"), value_of_str(s->gvk.kind));
        object_builder_add(&o, STR("verbs"), verb_list(a, builtin_verbs, s->verbs));
        return object_builder_finish(&o);
}

struct value discovery_resource_list(struct arena *a, const struct discovery_group *g, struct str version)
{
        struct gvk gvk = { g->name, version, STR("") };
        struct array_builder resources;
        struct object_builder o;

        array_builder_init(&resources, a, g->n_kinds);
        for (size_t i = 0; i < g->n_kinds; i++) {
                const struct kind *k = g->kinds[i].kind;
                const struct kind_version *v = kind_served_version(k, version);

                if (!v)
                        continue;
                array_builder_add(&resources, legacy_resource(a, &g->kinds[i], v));
                for (size_t j = 0; j < v->n_subresources; j++)
                        array_builder_add(&resources, legacy_subresource(a, k, v, subresource_at(k, v, j)));
        }
        begin_document(&o, a, STR("APIResourceList"));
        object_builder_add(&o, STR("groupVersion"), value_of_str(gvk_api_version(a, gvk)));
        object_builder_add(&o, STR("resources"), array_builder_finish(&resources));
        return object_builder_finish(&o);
}

struct value discovery_versions(struct arena *a, struct str address)
{
        struct value v1 = value_of_literal("v1");
        struct value server = OBJECT(a, { STR("clientCIDR"), value_of_literal("0.0.0.0/0") },
                                     { STR("serverAddress"), value_of_str(address) });

        return OBJECT(a, { STR("kind"), value_of_literal("APIVersions") },
                      { STR("versions"), value_of_items(a, &v1, 1) },
                      { STR("serverAddressByClientCIDRs"), value_of_items(a, &server, 1) });
}
