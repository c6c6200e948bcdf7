#include "openapi.h"

#include "json.h"
#include "kind-private.h"
#include "limits.h"
#include "openapi-schema.h"
#include "vec.h"

/* One resource as the paths describe it. */
struct resource {
        struct str plural;
        struct gvk gvk;
        bool is_namespaced;
        bool has_patch, has_strategic_patch;
        unsigned verbs;
        VEC(struct kind_subresource) subresources;
};

struct openapi {
        struct arena *arena;
        struct map resources; /* by plural */
        struct openapi_schemas schemas;
};

/* --- Paths --- */

/* The parts of a path after its group and version. */
struct place {
        struct str plural;
        struct str subresource;
        bool is_namespaced;
        bool is_item;
        bool is_watch;
};

/* Cuts off `/api/v1/` or `/apis/GROUP/VERSION/`. */
static bool cut_group_version(struct str *path)
{
        struct str part;
        size_t n_parts = 2;

        if (str_cut_prefix(path, STR("/api/")))
                n_parts = 1;
        else if (!str_cut_prefix(path, STR("/apis/")))
                return false;
        while (n_parts-- > 0)
                if (!str_split(path, '/', &part))
                        return false;
        return path->n > 0;
}

/* Parses [watch/][namespaces/{namespace}/]PLURAL[/{name}[/SUBRESOURCE]]; false for other paths, which are not of a resource. */
static bool parse_place(struct str path, struct place *ret)
{
        struct str name = STR("");

        *ret = (struct place) { 0 };
        if (!cut_group_version(&path))
                return false;
        ret->is_watch = str_cut_prefix(&path, STR("watch/"));
        ret->is_namespaced = str_cut_prefix(&path, STR("namespaces/{namespace}/"));
        ret->is_item = str_split(&path, '/', &ret->plural);
        if (ret->is_item)
                str_split(&path, '/', &name);
        ret->subresource = path;
        return ret->plural.n > 0 && ret->plural.p[0] != '{' && (!ret->is_item || str_equal(name, STR("{name}"))) &&
               str_find_char(ret->subresource, '/') < 0;
}

/* --- Operations --- */

static unsigned verb_of_action(struct str action)
{
        static const struct {
                struct str action;
                enum kind_verb verb;
        } verbs[] = {
                { STR_INIT("delete"), VERB_DELETE },   { STR_INIT("deletecollection"), VERB_DELETE_COLLECTION },
                { STR_INIT("get"), VERB_GET },         { STR_INIT("list"), VERB_LIST },
                { STR_INIT("patch"), VERB_PATCH },     { STR_INIT("post"), VERB_CREATE },
                { STR_INIT("put"), VERB_UPDATE },      { STR_INIT("watch"), VERB_WATCH },
                { STR_INIT("watchlist"), VERB_WATCH },
        };

        for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
                if (str_equal(action, verbs[i].action))
                        return verbs[i].verb;
        return 0;
}

/* The verb of an operation. A connection (exec, proxy) can be made with any method; discovery lists its methods like the verbs of a
 * resource. */
static unsigned verb_of(const struct member *operation)
{
        struct str action = value_str(value_get(&operation->value, STR("x-kubernetes-action")));

        return verb_of_action(str_equal(action, STR("connect")) ? operation->key : action);
}

static bool takes_watch(const struct value *operation)
{
        VALUE_FOREACH_ITEM (parameter, value_get(operation, STR("parameters")))
                if (str_equal(value_str(value_get(parameter, STR("name"))), STR("watch")))
                        return true;
        return false;
}

static struct gvk gvk_of_operation(struct arena *a, const struct value *operation)
{
        const struct value *v = value_get(operation, STR("x-kubernetes-group-version-kind"));
        struct gvk gvk = {
                .group = value_str(value_get(v, STR("group"))),
                .version = value_str(value_get(v, STR("version"))),
                .kind = value_str(value_get(v, STR("kind"))),
        };

        return gvk_copy(a, gvk);
}

/* --- Resources --- */

static struct resource *find_resource(struct openapi *d, struct str plural)
{
        struct resource *r = map_get(&d->resources, plural);

        if (r)
                return r;
        r = ARENA_NEW(d->arena, struct resource);
        r->plural = arena_copy(d->arena, plural);
        map_set(&d->resources, r->plural, r);
        return r;
}

static void note_operation(struct openapi *d, struct resource *r, const struct member *operation)
{
        unsigned verb = verb_of(operation);

        r->verbs |= verb;
        if (verb == VERB_LIST && takes_watch(&operation->value))
                r->verbs |= VERB_WATCH;
        if (verb == VERB_PATCH) {
                r->has_patch = true;
                r->has_strategic_patch = value_get(value_find(&operation->value, "requestBody", "content"),
                                                   STR("application/strategic-merge-patch+json")) != NULL;
        }
        if (verb && r->gvk.kind.n == 0)
                r->gvk = gvk_of_operation(d->arena, &operation->value);
}

static void note_subresource(struct openapi *d, struct resource *r, struct str name, const struct value *operations)
{
        struct kind_subresource s = { .name = arena_copy(d->arena, name) };

        VALUE_FOREACH_MEMBER (m, operations) {
                unsigned verb = verb_of(m);

                s.verbs |= verb;
                if (verb && s.gvk.kind.n == 0)
                        s.gvk = gvk_of_operation(d->arena, &m->value);
        }
        if (s.verbs)
                vec_push(&r->subresources, s);
}

/* A list over all namespaces has the path that a cluster-scoped kind would have, so only a path with a namespace shows that the
 * kind is namespaced. */
static void note_path(struct openapi *d, struct str path, const struct value *operations)
{
        struct place place;
        struct resource *r;

        if (!parse_place(path, &place))
                return;
        r = find_resource(d, place.plural);
        r->is_namespaced |= place.is_namespaced;
        if (place.subresource.n) {
                note_subresource(d, r, place.subresource, operations);
                return;
        }
        VALUE_FOREACH_MEMBER (m, operations)
                note_operation(d, r, m);
}

static void openapi_init(struct openapi *d, struct arena *a, const struct value *document)
{
        *d = (struct openapi) { .arena = a };
        openapi_schemas_init(&d->schemas, a, document);
        VALUE_FOREACH_MEMBER (m, value_get(document, STR("paths")))
                note_path(d, m->key, &m->value);
}

static void openapi_done(struct openapi *d)
{
        for (struct map_entry *e = map_first(&d->resources); e; e = map_next(&d->resources, e)) {
                struct resource *r = e->value;

                vec_done(&r->subresources);
        }
        map_done(&d->resources);
        openapi_schemas_done(&d->schemas);
}

/* --- Kinds --- */

static int compare_subresources(const void *a, const void *b)
{
        return str_compare(((const struct kind_subresource *)a)->name, ((const struct kind_subresource *)b)->name);
}

static void fill_subresources(struct kind *k, struct kind_version *version, struct resource *r)
{
        struct kind_subresource *list = ARENA_NEW_ARRAY(&k->arena, struct kind_subresource, r->subresources.n + 1);

        if (r->subresources.n)
                qsort(r->subresources.p, r->subresources.n, sizeof(*list), compare_subresources);
        for (size_t i = 0; i < r->subresources.n; i++) {
                const struct kind_subresource *s = &r->subresources.p[i];

                list[i] = (struct kind_subresource) {
                        .name = arena_copy(&k->arena, s->name),
                        .gvk = gvk_copy(&k->arena, s->gvk),
                        .verbs = s->verbs,
                };
                version->has_status |= str_equal(s->name, STR("status"));
        }
        version->subresources = list;
        version->n_subresources = r->subresources.n;
}

/* The strategy of a kind that is also built into this program; a document cannot express it. */
static const struct kind_strategy *known_strategy(struct gvk gvk)
{
        for (struct kind *const *k = kind_builtins(); *k; k++)
                if (str_equal((*k)->group, gvk.group) && str_equal((*k)->kind, gvk.kind))
                        return (*k)->strategy;
        return NULL;
}

static void fill_names(struct kind *k, const struct resource *r)
{
        k->group = arena_copy(&k->arena, r->gvk.group);
        k->kind = arena_copy(&k->arena, r->gvk.kind);
        k->list_kind = arena_printf(&k->arena, "%.*sList", STR_ARG(r->gvk.kind));
        k->plural = arena_copy(&k->arena, r->plural);
        k->singular = kind_lower(&k->arena, r->gvk.kind);
}

/* Kinds that come with the API have different rules for names, so the loosest one is assumed. Custom kinds have three types of
 * patch, the others also the strategic one. */
static int make_kind(struct openapi *d, struct resource *r, struct kind **ret, struct err *err)
{
        struct kind *k = kind_new();
        struct kind_version *version = ARENA_NEW(&k->arena, struct kind_version);
        int e;

        fill_names(k, r);
        *version = (struct kind_version) {
                .group = k->group,
                .name = arena_copy(&k->arena, r->gvk.version),
                .is_served = true,
                .is_storage = true,
                .verbs = r->verbs,
        };
        fill_subresources(k, version, r);
        k->is_namespaced = r->is_namespaced;
        k->is_custom = r->has_patch && !r->has_strategic_patch;
        k->allows_unconditional_update = !k->is_custom;
        k->has_generation = true;
        k->name_rule = k->is_custom ? NAME_SUBDOMAIN : NAME_PATH_SEGMENT;
        k->strategy = known_strategy(r->gvk);
        k->versions = version;
        k->n_versions = 1;
        if (k->is_custom)
                version->selectable_fields = ARENA_NEW(&k->arena, struct str);
        e = openapi_compile(&d->schemas, r->gvk, &version->schema, err);
        if (e < 0) {
                kind_unref(k);
                return err_wrap(err, "kind %.*s", STR_ARG(r->gvk.kind));
        }
        *ret = k;
        return 0;
}

static int compare_kinds(const void *a, const void *b)
{
        return kind_compare(*(struct kind *const *)a, *(struct kind *const *)b);
}

static int make_kinds(struct openapi *d, struct openapi_kinds *ret, struct err *err)
{
        _cleanup_openapi_kinds_ struct openapi_kinds kinds = { .p = xcalloc(d->resources.n + 1, sizeof(*kinds.p)) };

        for (struct map_entry *e = map_first(&d->resources); e; e = map_next(&d->resources, e)) {
                struct resource *resource = e->value;
                int r;

                if (resource->gvk.kind.n == 0 || resource->verbs == 0)
                        continue;
                r = make_kind(d, resource, &kinds.p[kinds.n], err);
                if (r < 0)
                        return r;
                kinds.n++;
        }
        qsort(kinds.p, kinds.n, sizeof(*kinds.p), compare_kinds);
        *ret = kinds;
        kinds = (struct openapi_kinds) { 0 };
        return 0;
}

int openapi_read(const struct value *document, struct openapi_kinds *ret, struct err *err)
{
        _cleanup_arena_ struct arena a;
        struct openapi d;
        int r;

        arena_init(&a, "OpenAPI document", 4 * LIMIT_OPENAPI_BYTES);
        openapi_init(&d, &a, document);
        r = make_kinds(&d, ret, err);
        openapi_done(&d);
        return r;
}

int openapi_parse(struct str text, struct openapi_kinds *ret, struct err *err)
{
        _cleanup_arena_ struct arena a;
        const struct value *document;
        int r;

        if (text.n > LIMIT_OPENAPI_BYTES)
                return err_set(err, ERR_LIMIT, "the OpenAPI document is longer than the limit of %llu bytes",
                               (unsigned long long)LIMIT_OPENAPI_BYTES);
        arena_init(&a, "OpenAPI document", 0);
        r = json_parse(&a, text, NULL, &document, err);
        return r < 0 ? err_wrap(err, "OpenAPI document") : openapi_read(document, ret, err);
}

void openapi_kinds_done(struct openapi_kinds *kinds)
{
        for (size_t i = 0; i < kinds->n; i++)
                kind_unref(kinds->p[i]);
        free(kinds->p);
        *kinds = (struct openapi_kinds) { 0 };
}
