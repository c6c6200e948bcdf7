/* Namespaces: checks for creations in them, and their deletion (docs/spec/apiserver 7.4). */
#include "store-commit.h"

#include "buf.h"
#include "condition.h"
#include "write-group.h"

#define KUBERNETES STR("kubernetes")

static struct object_key namespace_key(struct str name)
{
        return (struct object_key) { .gvk = { STR(""), STR("v1"), STR("Namespace") }, .name = name };
}

/* --- Creation --- */

static int create_namespace(struct store *s, struct run *run, struct str name, struct str cause,
                            struct write_promise *promise, struct err *err)
{
        struct run own = *run;
        struct object_builder object, metadata;
        struct value body;
        struct write_request req = {
                .verb = WRITE_CREATE, .key = namespace_key(name), .manager = STR("kube-apiserver"), .promise = promise
        };

        object_builder_init(&metadata, run->arena, 1);
        object_builder_add(&metadata, STR("name"), value_of_str(name));
        object_builder_init(&object, run->arena, 3);
        object_builder_add(&object, STR("apiVersion"), value_of_literal("v1"));
        object_builder_add(&object, STR("kind"), value_of_literal("Namespace"));
        object_builder_add(&object, STR("metadata"), object_builder_finish(&metadata));
        body = object_builder_finish(&object);
        req.body = &body;
        own.user = (struct user) { .name = STR("system:apiserver") };
        own.cause = cause;
        own.warnings = NULL;
        return commit_own(s, &own, &req, err);
}

static bool has_namespace(struct store *s, struct str name)
{
        const struct store_entry *e;
        bool has;

        mutex_lock(&s->mutex);
        e = tree_find(&s->namespaces->objects, name);
        has = e && e->object;
        mutex_unlock(&s->mutex);
        return has;
}

int namespaces_bootstrap(struct store *s, struct err *err)
{
        static const struct str names[] = { STR_INIT("default"), STR_INIT("kube-system"), STR_INIT("kube-public"),
                                            STR_INIT("kube-node-lease") };
        _cleanup_arena_ struct arena a;
        struct run run = { .arena = &a, .deadline = DEADLINE_NONE };
        _cleanup_err_ struct err lost = { 0 };
        struct write_group group;
        int r = 0, waited;

        arena_init(&a, "bootstrap", 0);
        write_group_init(&group);
        for (size_t i = 0; i < ARRAY_SIZE(names) && r == 0; i++) {
                struct write_promise *promise;

                if (has_namespace(s, names[i]))
                        continue;
                promise = write_group_promise(&group, &a);
                r = create_namespace(s, &run, names[i], STR("bootstrap"), promise, err);
                write_group_add(&group, promise);
        }
        waited = write_group_wait(&group, &lost);
        return r == 0 && waited < 0 ? err_move(err, &lost) : r;
}

/* *ret is counted, and NULL when it is not there. */
static int find_namespace(struct store *s, struct run *run, struct str name, struct object **ret,
                          bool *ret_is_terminating, struct err *err)
{
        const struct store_entry *e;
        int r;

        *ret = NULL;
        mutex_lock(&s->mutex);
        r = commit_await_object(s, run, s->namespaces, name, err);
        e = r == 0 ? tree_find(&s->namespaces->objects, name) : NULL;
        if (e && e->object) {
                *ret = object_ref(e->object);
                *ret_is_terminating = e->marks & MARK_DELETING;
        }
        mutex_unlock(&s->mutex);
        return r;
}

static int refuse_terminating(struct arena *a, const struct kind *kind, const struct object_key *key, struct err *err)
{
        struct status_subject subject = kind_subject(kind, key->name);
        int r = status_forbidden(err, &subject,
                                 "unable to create new content in namespace %.*s because it is being terminated",
                                 STR_ARG(key->ns));

        status_add_cause(err, STR("NamespaceTerminating"),
                         arena_printf(a, "namespace %.*s is being terminated", STR_ARG(key->ns)),
                         STR("metadata.namespace"));
        return r;
}

int namespaces_check(struct store *s, struct run *run, const struct served *served, const struct object_key *key,
                     struct object **ret_namespace, struct err *err)
{
        struct status_subject missing = { .kind = STR("Namespace"), .plural = STR("namespaces"), .name = key->ns };
        _cleanup_err_ struct err inner = { 0 };
        bool is_terminating = false;
        struct object *o;
        int r;

        if (!served->kind->is_namespaced)
                return 0;
        r = find_namespace(s, run, key->ns, &o, &is_terminating, err);
        if (r < 0)
                return r;
        if (!o && s->options.creates_namespaces) {
                r = create_namespace(s, run, key->ns, STR("something is created in it"), NULL, &inner);
                if (r < 0 && r != ERR_EXISTS && err_move(err, &inner) < 0)
                        return err_wrap(err, "cannot create namespace %.*s", STR_ARG(key->ns));
                r = find_namespace(s, run, key->ns, &o, &is_terminating, err);
                if (r < 0)
                        return r;
        }
        if (!o)
                return status_not_found(err, &missing);
        *ret_namespace = o;
        return is_terminating ? refuse_terminating(run->arena, served->kind, key, err) : 0;
}

/* --- Deletion --- */

int namespaces_check_delete(const struct write_request *req, const struct kind *kind, struct err *err)
{
        static const struct str immortal[] = { STR_INIT("default"), STR_INIT("kube-system"), STR_INIT("kube-public") };
        struct status_subject subject = kind_subject(kind, req->key.name);

        if (req->verb != WRITE_DELETE || kind->group.n || !str_equal(kind->kind, STR("Namespace")))
                return 0;
        for (size_t i = 0; i < ARRAY_SIZE(immortal); i++)
                if (str_equal(req->key.name, immortal[i]))
                        return status_forbidden(err, &subject, "this namespace may not be deleted");
        return 0;
}

const struct value *namespaces_begin_deletion(struct arena *a, const struct value *ns)
{
        const struct value *status = value_get(ns, STR("status"));

        status = value_with(a, value_is_object(status) ? status : &value_empty_object, STR("phase"),
                            value_put(a, value_of_literal("Terminating")));
        return value_with(a, ns, STR("status"), status);
}

/* The remaining content of a namespace, by kind and by finalizer. */
struct leftovers {
        struct arena *arena;
        size_t n;
        struct str_list kinds;      /* `widgets.example.org has 2 resource instances` */
        struct str_list finalizers; /* one per object that has it */
        struct str failure;         /* why one of them could not be deleted; "": all could */
};

static void note_leftovers(struct leftovers *l, const struct table *t, const struct listing *objects)
{
        if (objects->n == 0)
                return;
        l->n += objects->n;
        str_list_printf(&l->kinds, "%.*s.%.*s has %zu resource instances", STR_ARG(t->kind->plural), STR_ARG(t->group),
                        objects->n);
        for (size_t i = 0; i < objects->n; i++) {
                const struct value *v = object_value(objects->p[i].object, l->arena);

                VALUE_FOREACH_ITEM (f, value_get(meta(v), STR("finalizers")))
                        str_list_add(&l->finalizers, value_str(f));
        }
}

/* `a in 2 resource instances, b in 1 resource instances` */
static struct str finalizers_text(struct leftovers *l)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        str_list_sort(&l->finalizers);
        for (size_t i = 0, n; i < l->finalizers.n; i += n) {
                for (n = 1; i + n < l->finalizers.n && str_equal(l->finalizers.p[i], l->finalizers.p[i + n]);)
                        n++;
                buf_appendf(&b, "%s%.*s in %zu resource instances", i ? ", " : "", STR_ARG(l->finalizers.p[i]), n);
        }
        return buf_to_arena(&b, l->arena);
}

static struct str kinds_text(struct leftovers *l)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        str_list_sort(&l->kinds);
        for (size_t i = 0; i < l->kinds.n; i++)
                buf_appendf(&b, "%s%.*s", i ? ", " : "", STR_ARG(l->kinds.p[i]));
        return buf_to_arena(&b, l->arena);
}

static struct condition condition(const char *type, bool is_true, const char *reason, struct str message)
{
        return (struct condition) { .type = str_from(type),
                                    .status = is_true ? CONDITION_TRUE : CONDITION_FALSE,
                                    .reason = str_from(reason),
                                    .message = message,
                                    .last_transition = clock_wall() };
}

static const struct value *with_conditions(struct leftovers *l, const struct value *ns)
{
        struct arena *a = l->arena;
        struct condition conditions[] = {
                condition("NamespaceDeletionDiscoveryFailure", false, "ResourcesDiscovered",
                          STR("All resources successfully discovered")),
                condition("NamespaceDeletionGroupVersionParsingFailure", false, "ParsedGroupVersions",
                          STR("All legacy kube types successfully parsed")),
                condition("NamespaceDeletionContentFailure", false, "ContentDeleted",
                          STR("All content successfully deleted, may be waiting on finalization")),
                condition("NamespaceContentRemaining", false, "ContentRemoved",
                          STR("All content successfully removed")),
                condition("NamespaceFinalizersRemaining", false, "ContentHasNoFinalizers",
                          STR("All content-preserving finalizers finished")),
        };

        if (l->failure.n)
                conditions[2] = condition("NamespaceDeletionContentFailure", true, "ContentDeletionFailed",
                                          arena_printf(a, "Failed to delete all resource types, %zu remaining: %.*s",
                                                       l->kinds.n, STR_ARG(l->failure)));
        if (l->kinds.n)
                conditions[3] =
                        condition("NamespaceContentRemaining", true, "SomeResourcesRemain",
                                  arena_printf(a, "Some resources are remaining: %.*s", STR_ARG(kinds_text(l))));
        if (l->finalizers.n)
                conditions[4] =
                        condition("NamespaceFinalizersRemaining", true, "SomeFinalizersRemain",
                                  arena_printf(a, "Some content in the namespace has finalizers remaining: %.*s",
                                               STR_ARG(finalizers_text(l))));
        return conditions_set(a, ns, conditions, ARRAY_SIZE(conditions));
}

static int write_namespace(struct store *s, struct run *run, struct str subresource, const struct value *body,
                           struct err *err)
{
        struct write_request req = {
                .verb = WRITE_UPDATE,
                .key = namespace_key(meta_name(body)),
                .subresource = subresource,
                .body = body,
                .manager = STR("kube-controller-manager"),
        };

        return commit_own(s, run, &req, err);
}

static const struct value *without_kubernetes(struct arena *a, const struct value *ns)
{
        const struct value *spec = value_get(ns, STR("spec")), *list = value_get(spec, STR("finalizers"));
        struct array_builder kept;
        struct value v;

        array_builder_init(&kept, a, value_count(list));
        VALUE_FOREACH_ITEM (f, list)
                if (!str_equal(value_str(f), KUBERNETES))
                        array_builder_add(&kept, *f);
        v = array_builder_finish(&kept);
        spec = value_count(&v) ? value_with(a, spec, STR("finalizers"), value_put(a, v))
                               : value_without(a, spec, STR("finalizers"));
        return value_with(a, ns, STR("spec"), spec);
}

static bool has_kubernetes(const struct value *ns)
{
        VALUE_FOREACH_ITEM (f, value_find(ns, "spec", "finalizers"))
                if (str_equal(value_str(f), KUBERNETES))
                        return true;
        return false;
}

/* The tables of namespaced kinds; they live as long as the store. */
static size_t namespaced_tables(struct store *s, struct arena *a, struct table ***ret)
{
        struct table **tables;
        size_t n = 0;

        mutex_lock(&s->mutex);
        tables = ARENA_NEW_ARRAY(a, struct table *, s->tables.n);
        for (const struct map_entry *e = map_first(&s->tables); e; e = map_next(&s->tables, e)) {
                struct table *t = e->value;

                if (t->kind && t->kind->is_namespaced && t->n_objects)
                        tables[n++] = t;
        }
        mutex_unlock(&s->mutex);
        *ret = tables;
        return n;
}

/* Deletes the content of the namespace, then collects the objects that still exist. An object that cannot be deleted now does not
 * keep the others: it may wait for one of them. The first error is returned at the end. */
static int delete_content(struct store *s, struct run *run, struct str name, struct leftovers *left, struct err *err)
{
        struct table **tables;
        size_t n = namespaced_tables(s, run->arena, &tables);
        int r = 0;

        for (size_t i = 0; i < n; i++) {
                struct listing objects;

                listing_collect(s, tables[i], run->arena, name, &objects);
                for (size_t j = 0; j < objects.n; j++)
                        collector_delete_next(s, run, object_value(objects.p[j].object, run->arena), &r, err);
                listing_done(&objects);
                listing_collect(s, tables[i], run->arena, name, &objects);
                note_leftovers(left, tables[i], &objects);
                listing_done(&objects);
        }
        return r;
}

int namespaces_collect(struct store *s, struct run *run, struct str name, struct err *err)
{
        struct leftovers left = { .arena = run->arena };
        struct object_key key = namespace_key(name);
        const struct value *ns, *wanted;
        int r = cluster_get_value(&s->cluster, run, &key, &ns, err), refused;

        if (r < 0)
                return r;
        if (!meta_is_deleting(ns) || !has_kubernetes(ns))
                return 0;
        str_list_init(&left.kinds, run->arena);
        str_list_init(&left.finalizers, run->arena);
        refused = delete_content(s, run, name, &left, err);
        if (refused < 0)
                left.failure = arena_copy(run->arena, str_from(err_message(err)));
        wanted = with_conditions(&left, ns);
        if (wanted != ns && !value_equal(wanted, ns)) {
                _cleanup_err_ struct err inner = { 0 };

                r = write_namespace(s, run, STR("status"), wanted, &inner);
                if (r < 0)
                        return err_move(err, &inner);
                r = cluster_get_value(&s->cluster, run, &key, &ns, err);
                if (r < 0)
                        return r;
        }
        if (refused < 0 || left.n)
                return refused; /* the removal of the remaining objects queues this task again */
        return write_namespace(s, run, STR("finalize"), without_kubernetes(run->arena, ns), err);
}
