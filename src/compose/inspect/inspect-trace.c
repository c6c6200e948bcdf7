/* Trees of objects: a claim and its composite, a composite and what it is made of, a package with its revisions. */
#include "inspect.h"

#include <stdlib.h>

#include "places.h"
#include "redact.h"
#include "vec.h"

#define PACKAGES    STR("pkg.crossplane.io")
#define REVISION_OF STR("pkg.crossplane.io/package")
#define DEEPEST     64 /* levels of a tree */

struct tracer {
        struct cluster *cluster;
        struct run *run;
        struct arena *arena;
        const struct inspect_trace_options *options;
        struct str_list shown;    /* packages that are in the tree already, by their source */
        const struct value *lock; /* NULL: not read yet, or there is none */
        bool has_read_lock;
};

/* A reference to a child. */
struct child {
        struct object_key key;
        struct str order; /* children are sorted by it */
};

struct children {
        VEC(struct child) all;
};

/* --- References --- */

static void add_child(struct tracer *t, struct children *c, struct str api_version, struct str kind, struct str ns,
                      struct str name)
{
        struct child child = { .key = { .ns = ns, .name = name },
                               .order = ARENA_CONCAT(t->arena, api_version, kind, name) };

        if (gvk_split_api_version(api_version, &child.key.gvk.group, &child.key.gvk.version, NULL) < 0)
                child.key.gvk.version = api_version;
        child.key.gvk.kind = kind;
        vec_push(&c->all, child);
}

static void add_reference(struct tracer *t, struct children *c, const struct value *ref, struct str otherwise)
{
        struct str ns = value_str(value_get(ref, STR("namespace")));

        if (value_is_object(ref))
                add_child(t, c, value_str(value_get(ref, STR("apiVersion"))), value_str(value_get(ref, STR("kind"))),
                          ns.n ? ns : otherwise, value_str(value_get(ref, STR("name"))));
}

static void add_secret(struct tracer *t, struct children *c, const struct value *object)
{
        const struct value *ref = value_find(object, "spec", "writeConnectionSecretToRef");
        struct str ns = value_str(value_get(ref, STR("namespace"))), name = value_str(value_get(ref, STR("name")));

        if (t->options->shows_secrets && name.n)
                add_child(t, c, STR("v1"), STR("Secret"), ns.n ? ns : meta_namespace(object), name);
}

/* Kinds whose references are not children. */
static bool is_leaf(struct gvk gvk)
{
        return (gvk.group.n == 0 && str_equal(gvk.kind, STR("Secret"))) || str_equal(gvk.kind, STR("Usage")) ||
               str_equal(gvk.kind, STR("ClusterUsage")) || str_equal(gvk.kind, STR("EnvironmentConfig"));
}

static int compare_children(const void *a, const void *b)
{
        return str_compare(((const struct child *)a)->order, ((const struct child *)b)->order);
}

static void find_children(struct tracer *t, const struct value *object, struct children *c)
{
        if (is_leaf(gvk_of(object)))
                return;
        if (meta_namespace(object).n)
                add_reference(t, c, places_find_field(places_of_claims, object, STR("resourceRef")), STR(""));
        VALUE_FOREACH_ITEM (ref, places_find_field(places_of_composites, object, STR("resourceRefs")))
                add_reference(t, c, ref, meta_namespace(object));
        add_secret(t, c, object);
        if (c->all.n)
                qsort(c->all.p, c->all.n, sizeof(*c->all.p), compare_children);
}

/* --- Packages --- */

static bool is_package(struct gvk gvk)
{
        return str_equal(gvk.group, PACKAGES) &&
               (str_equal(gvk.kind, STR("Function")) || str_equal(gvk.kind, STR("Provider")) ||
                str_equal(gvk.kind, STR("Configuration")));
}

struct revision {
        struct str created;
        struct object_key key;
};

static int compare_revisions(const void *a, const void *b)
{
        const struct revision *x = a, *y = b;
        int r = str_compare(x->created, y->created);

        return r ? r : str_compare(x->key.name, y->key.name);
}

/* Its revisions by their age; those that cannot be listed are not shown. */
static void add_revisions(struct tracer *t, const struct value *package, struct children *c)
{
        struct gvk gvk = gvk_of(package);
        struct str name = meta_name(package);
        struct label_requirement of = { .key = REVISION_OF, .op = SELECT_EQUALS, .values = &name, .n_values = 1 };
        struct label_selector labels = { &of, 1 };
        struct list_request req = { .labels = &labels };
        struct object_list list;
        VEC(struct revision) all = { 0 };

        req.gvk = (struct gvk) { gvk.group, gvk.version, ARENA_CONCAT(t->arena, gvk.kind, STR("Revision")) };
        if (t->options->revisions == INSPECT_REVISIONS_NONE || cluster_list(t->cluster, t->run, &req, &list, NULL) < 0)
                return;
        for (size_t i = 0; i < list.n; i++) {
                const struct value *v = object_list_value(&list, i, t->arena);
                struct revision revision = { meta_str(v, STR("creationTimestamp")),
                                             { req.gvk, STR(""), meta_name(v) } };

                if (t->options->revisions == INSPECT_REVISIONS_ALL ||
                    str_equal(value_str(value_find(v, "spec", "desiredState")), STR("Active")))
                        vec_push(&all, revision);
        }
        if (all.n)
                qsort(all.p, all.n, sizeof(*all.p), compare_revisions);
        for (size_t i = 0; i < all.n; i++)
                vec_push(&c->all, (struct child) { .key = all.p[i].key });
        vec_done(&all);
}

static const struct value *read_lock(struct tracer *t)
{
        struct object_key key = { .gvk = { PACKAGES, STR("v1beta1"), STR("Lock") }, .name = STR("lock") };

        if (!t->has_read_lock && cluster_get_value(t->cluster, t->run, &key, &t->lock, NULL) < 0)
                t->lock = NULL;
        t->has_read_lock = true;
        return t->lock;
}

static bool show_once(struct tracer *t, struct str source)
{
        for (size_t i = 0; i < t->shown.n; i++)
                if (str_equal(t->shown.p[i], source))
                        return t->options->repeats_dependencies;
        str_list_add(&t->shown, source);
        return true;
}

/* `registry/org/name:tag` without its tag or digest. */
static struct str source_of(struct str package)
{
        ptrdiff_t at = str_find_char(package, '@'), slash, colon;

        if (at >= 0)
                package = str_first(package, (size_t)at);
        slash = str_find_last_char(package, '/');
        colon = str_find_last_char(package, ':');
        return colon > slash ? str_first(package, (size_t)colon) : package;
}

/* The name of the package with this source: that of an installed one, or the one that Crossplane would give it. */
static struct str package_name(struct tracer *t, struct gvk gvk, struct str source)
{
        struct list_request req = { .gvk = gvk };
        struct object_list list;
        struct str rest = source, registry;
        char *name;

        if (cluster_list(t->cluster, t->run, &req, &list, NULL) == 0)
                for (size_t i = 0; i < list.n; i++) {
                        const struct value *v = object_list_value(&list, i, t->arena);

                        if (str_equal(source_of(value_str(value_find(v, "spec", "package"))), source))
                                return meta_name(v);
                }
        if (str_find_char(rest, '/') >= 0)
                str_split(&rest, '/', &registry);
        name = arena_cstring(t->arena, rest);
        for (char *p = name; *p; p++)
                *p = *p == '/' || *p == '.' || *p == '_' ? '-' : *p;
        return str_from(name);
}

static void add_dependencies(struct tracer *t, const struct value *package, struct children *c)
{
        struct str source = source_of(value_str(value_find(package, "spec", "package")));

        if (t->options->hides_dependencies)
                return;
        show_once(t, source);
        VALUE_FOREACH_ITEM (locked, value_get(read_lock(t), STR("packages"))) {
                if (!str_equal(value_str(value_get(locked, STR("source"))), source))
                        continue;
                VALUE_FOREACH_ITEM (d, value_get(locked, STR("dependencies"))) {
                        struct str of = value_str(value_get(d, STR("package"))), kind;
                        struct gvk gvk;

                        kind = value_str(value_get(d, STR("kind")));
                        gvk = (struct gvk) { PACKAGES, STR("v1"),
                                             kind.n ? kind : value_str(value_get(d, STR("type"))) };
                        if (show_once(t, of))
                                vec_push(&c->all, (struct child) { .key = { gvk, STR(""), package_name(t, gvk, of) } });
                }
        }
}

/* --- Nodes --- */

/* An error as Go's types write it, which is what Crossplane's CLI prints. */
static struct value error_value(struct tracer *t, const struct object_key *key, const struct err *err)
{
        struct object_builder b, kind;
        struct value version = value_of_str(key->gvk.version);

        object_builder_init(&b, t->arena, 2);
        if (err->details) {
                object_builder_add(&b, STR("ErrStatus"), status_of_err(t->arena, err));
        } else if (key->name.n && err->code == ERR_NOT_FOUND) {
                object_builder_init(&kind, t->arena, 2);
                object_builder_add(&kind, STR("Group"), value_of_str(key->gvk.group));
                object_builder_add(&kind, STR("Kind"), value_of_str(key->gvk.kind));
                object_builder_add(&b, STR("GroupKind"), object_builder_finish(&kind));
                object_builder_add(&b, STR("SearchedVersions"), value_of_items(t->arena, &version, 1));
        }
        return object_builder_finish(&b);
}

/* An object that could not be read: what its reference says. */
static const struct value *stand_in(struct tracer *t, const struct object_key *key)
{
        struct object_builder b, metadata;

        object_builder_init(&metadata, t->arena, 2);
        if (key->name.n)
                object_builder_add(&metadata, STR("name"), value_of_str(key->name));
        if (key->ns.n)
                object_builder_add(&metadata, STR("namespace"), value_of_str(key->ns));
        object_builder_init(&b, t->arena, 3);
        object_builder_add(&b, STR("apiVersion"), value_of_str(gvk_api_version(t->arena, key->gvk)));
        object_builder_add(&b, STR("kind"), value_of_str(key->gvk.kind));
        if (metadata.n)
                object_builder_add(&b, STR("metadata"), object_builder_finish(&metadata));
        return value_put(t->arena, object_builder_finish(&b));
}

static int get_child(struct tracer *t, struct object_key key, const struct value **ret, struct err *err)
{
        const struct kind *kind;
        int r;

        if (key.name.n == 0)
                return err_set(err, ERR_INVALID, "resource name may not be empty");
        r = cluster_kind(t->cluster, t->run, key.gvk, &kind, err);
        if (r < 0)
                return r;
        if (!kind->is_namespaced)
                key.ns = STR("");
        return cluster_get_value(t->cluster, t->run, &key, ret, err);
}

/* The object without the values of Secrets. kubectl keeps them in an annotation, too. */
static const struct value *without_secrets(struct tracer *t, const struct value *object)
{
        static const struct str applied = STR_INIT("kubectl.kubernetes.io/last-applied-configuration");
        const struct value *shown = redact_object(t->arena, object);

        if (shown != object && meta_has_annotation(object, applied))
                shown = meta_with_annotation(t->arena, shown, applied, STR(REDACTED));
        return shown;
}

/* An object and its ancestors. */
struct lineage {
        const struct lineage *parent;
        struct str uid;
        unsigned depth;
};

static struct value node_of(struct tracer *t, const struct value *object, const struct lineage *parent);

static struct value error_node(struct tracer *t, const struct object_key *key, const struct err *err)
{
        struct object_builder b;

        object_builder_init(&b, t->arena, 3);
        object_builder_add(&b, STR("object"), *stand_in(t, key));
        object_builder_add(&b, STR("error"), error_value(t, key, err));
        object_builder_add(&b, STR("message"), value_of_str(arena_copy(t->arena, str_from(err_message(err)))));
        return object_builder_finish(&b);
}

static struct value child_node(struct tracer *t, const struct object_key *key, const struct lineage *parent)
{
        _cleanup_err_ struct err err = { 0 };
        const struct value *object;

        if (get_child(t, *key, &object, &err) < 0)
                return error_node(t, key, &err);
        for (const struct lineage *l = parent; l; l = l->parent)
                if (str_equal(l->uid, meta_uid(object)) || l->depth == DEEPEST) {
                        err_set(&err, ERR_INVALID, "it is one of its own parents, or more than %d levels deep",
                                DEEPEST);
                        return error_node(t, key, &err);
                }
        return node_of(t, object, parent);
}

static struct value node_of(struct tracer *t, const struct value *object, const struct lineage *parent)
{
        struct lineage here = { parent, meta_uid(object), parent ? parent->depth + 1 : 1 };
        struct children c = { 0 };
        struct array_builder children;
        struct object_builder b;

        if (is_package(gvk_of(object))) {
                add_revisions(t, object, &c);
                add_dependencies(t, object, &c);
        } else {
                find_children(t, object, &c);
        }
        object_builder_init(&b, t->arena, 2);
        object_builder_add(&b, STR("object"), *without_secrets(t, object));
        array_builder_init(&children, t->arena, c.all.n);
        for (size_t i = 0; i < c.all.n && arena_check(t->arena, NULL) == 0; i++)
                array_builder_add(&children, child_node(t, &c.all.p[i].key, &here));
        if (children.n)
                object_builder_add(&b, STR("children"), array_builder_finish(&children));
        vec_done(&c.all);
        return object_builder_finish(&b);
}

/* --- Roots --- */

static int trace_all(struct tracer *t, struct gvk gvk, struct str ns, struct value *ret, struct err *err)
{
        struct list_request req = { .gvk = gvk, .ns = ns };
        struct object_list list;
        struct object_builder b;
        struct array_builder items;
        int r = cluster_list(t->cluster, t->run, &req, &list, err);

        if (r < 0)
                return err_wrap(err, "cannot list objects of kind %.*s", STR_ARG(gvk.kind));
        array_builder_init(&items, t->arena, list.n);
        for (size_t i = 0; i < list.n && arena_check(t->arena, NULL) == 0; i++) {
                str_list_init(&t->shown, t->arena);
                array_builder_add(&items, node_of(t, object_list_value(&list, i, t->arena), NULL));
        }
        object_builder_init(&b, t->arena, 1);
        object_builder_add(&b, STR("items"), array_builder_finish(&items));
        *ret = object_builder_finish(&b);
        return 0;
}

static int trace_one(struct tracer *t, const struct object_key *key, struct value *ret, struct err *err)
{
        const struct value *object;
        int r = cluster_get_value(t->cluster, t->run, key, &object, err);

        if (r < 0)
                return err_wrap(err,
                                "cannot get requested resource: kind=%.*s name=%.*s namespace=%.*s (verify context, "
                                "namespace, and that the resource exists)",
                                STR_ARG(key->gvk.kind), STR_ARG(key->name), STR_ARG(key->ns));
        *ret = node_of(t, object, NULL);
        return 0;
}

int inspect_trace(struct cluster *c, struct run *run, const struct inspect_target *target,
                  const struct inspect_trace_options *options, const struct value **ret, struct err *err)
{
        struct tracer t = { .cluster = c, .run = run, .arena = run->arena, .options = options };
        const struct kind *kind;
        struct object_key key = { .name = target->name };
        struct value tree;
        int r = inspect_kind(c, run, target->type, &key.gvk, &kind, err);

        if (r < 0)
                return err_wrap(err, "cannot get mapping for resource");
        if (kind->is_namespaced)
                key.ns = target->ns;
        str_list_init(&t.shown, run->arena);
        r = key.name.n ? trace_one(&t, &key, &tree, err) : trace_all(&t, key.gvk, key.ns, &tree, err);
        if (r == 0)
                r = arena_check(run->arena, err);
        if (r == 0)
                *ret = value_put(run->arena, tree);
        return r;
}
