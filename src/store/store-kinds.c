/* The served kinds. A CRD takes effect in the commit that makes it Established, and ends in the commit that removes it. */
#include "store-commit.h"

#include "condition.h"
#include "crd-names.h"

#include <stdatomic.h>

/* --- Tables --- */

struct table *kinds_find_table(struct store *s, struct str group, struct str kind)
{
        _cleanup_arena_ struct arena a;

        arena_init(&a, "lookup", 0);
        return map_get(&s->tables, ARENA_CONCAT(&a, group, STR("/"), kind));
}

struct table *kinds_table(struct store *s, struct str group, struct str kind)
{
        struct table *t = kinds_find_table(s, group, kind);

        if (t)
                return t;
        t = xcalloc(1, sizeof(*t));
        t->name = xmalloc(group.n + kind.n + 2);
        memcpy(t->name, group.n ? group.p : "", group.n);
        t->name[group.n] = '/';
        memcpy(t->name + group.n + 1, kind.p ? kind.p : "", kind.n);
        t->name[group.n + 1 + kind.n] = 0;
        t->group = str_make(t->name, group.n);
        t->kind_name = str_make(t->name + group.n + 1, kind.n);
        t->home = t;
        t->objects.is_by_key = true;
        t->dropped_version = s->floor;
        map_add(&s->tables, str_from(t->name), t);
        return t;
}

void kinds_done(struct store *s)
{
        for (const struct map_entry *e = map_first(&s->tables); e; e = map_next(&s->tables, e)) {
                struct table *t = e->value;

                kind_unref(t->kind);
                free(t->name);
                free(t);
        }
        map_done(&s->tables);
        for (const struct map_entry *e = map_first(&s->plurals); e; e = map_next(&s->plurals, e))
                free(e->value);
        map_done(&s->plurals);
        for (const struct map_entry *e = map_first(&s->crd_names); e; e = map_next(&s->crd_names, e))
                accepted_free(e->value);
        map_done(&s->crd_names);
}

/* --- Lookup --- */

/* GROUP/PLURAL. */
static struct str plural_key(struct arena *a, struct str group, struct str plural)
{
        return ARENA_CONCAT(a, group, STR("/"), plural);
}

struct plural {
        struct table *table;
        char key[]; /* ends with a NUL */
};

/* Kinds without a CRD have guessed plurals, and two may guess the same one. The first kind keeps the plural until it is removed. */
static void index_plural(struct store *s, struct arena *a, struct table *t)
{
        struct str key = plural_key(a, t->kind->group, t->kind->plural);
        struct plural *p;

        if (map_has(&s->plurals, key))
                return;
        p = xcalloc(1, sizeof(*p) + key.n + 1);
        p->table = t;
        memcpy(p->key, key.p, key.n);
        map_add(&s->plurals, str_make(p->key, key.n), p);
}

/* Releases the plural of a table, and gives it to another table with the same plural. */
static void unindex_plural(struct store *s, struct arena *a, const struct table *t)
{
        struct str group = t->kind->group, plural = t->kind->plural, key = plural_key(a, group, plural);
        const struct plural *p = map_get(&s->plurals, key);

        if (!p || p->table != t)
                return;
        free(map_remove(&s->plurals, key));
        for (const struct map_entry *e = map_first(&s->tables); e; e = map_next(&s->tables, e)) {
                struct table *other = e->value;

                if (other != t && other->kind && str_equal(other->kind->group, group) &&
                    str_equal(other->kind->plural, plural))
                        index_plural(s, a, other);
        }
}

static void kinds_changed(struct store *s)
{
        atomic_fetch_add_explicit(&s->kinds_version, 1, memory_order_release);
}

/* Every change of a served kind goes through here. kind may be NULL. */
static void set_kind(struct store *s, struct table *t, struct kind *kind)
{
        _cleanup_arena_ struct arena a;

        arena_init(&a, "names", 0);
        if (t->kind)
                unindex_plural(s, &a, t);
        kind_unref(t->kind);
        t->kind = kind;
        t->serial++;
        if (kind)
                index_plural(s, &a, t);
        kinds_changed(s);
}

static void set_builtin(struct store *s, struct kind *kind)
{
        struct table *t = kinds_table(s, kind->group, kind->kind);

        set_kind(s, t, kind_ref(kind));
        t->home = kinds_table(s, kind_storage(kind)->group, kind->kind);
        t->is_builtin = true;
}

void kinds_init(struct store *s)
{
        for (struct kind *const *k = kind_builtins(); *k; k++)
                set_builtin(s, *k);
        s->namespaces = kinds_find_table(s, STR(""), STR("Namespace"));
        s->crds = kinds_find_table(s, STR("apiextensions.k8s.io"), STR("CustomResourceDefinition"));
}

/* A copy of the schemaless kind with one more version. */
static struct kind *with_another_version(const struct kind *old, struct gvk gvk)
{
        struct kind *k = kind_schemaless(gvk, old->is_namespaced);
        struct kind_version *versions = ARENA_NEW_ARRAY(&k->arena, struct kind_version, old->n_versions + 1);

        for (size_t i = 0; i < old->n_versions; i++) {
                versions[i] = old->versions[i];
                versions[i].group = k->group;
                versions[i].name = arena_copy(&k->arena, old->versions[i].name);
                schema_ref(versions[i].schema);
        }
        versions[old->n_versions] = k->versions[0];
        versions[old->n_versions].is_storage = false;
        k->versions = versions;
        k->n_versions = old->n_versions + 1;
        k->storage = old->storage;
        return k;
}

/* Makes up a kind, or a version of a schemaless kind, that has no CRD. */
static void make_schemaless(struct store *s, struct table *t, struct gvk gvk, enum scope scope)
{
        if (!s->options.accepts_any_kind || scope == SCOPE_UNKNOWN || gvk.kind.n == 0 || gvk.version.n == 0)
                return;
        if (!t->kind) {
                set_kind(s, t, kind_schemaless(gvk, scope == SCOPE_NAMESPACE));
                t->is_schemaless = true;
                collector_kinds_changed(s);
        } else if (t->is_schemaless && !kind_version(t->kind, gvk.version)) {
                set_kind(s, t, with_another_version(t->kind, gvk));
        }
}

void kinds_make_up(struct store *s, struct table *t, struct gvk gvk, bool is_namespaced)
{
        make_schemaless(s, t, gvk, is_namespaced ? SCOPE_NAMESPACE : SCOPE_CLUSTER);
}

int kinds_lookup(struct store *s, struct arena *a, struct gvk gvk, enum scope scope, struct served *ret,
                 struct err *err)
{
        struct table *t;

        *ret = (struct served) { 0 };
        mutex_lock(&s->mutex);
        t = s->options.accepts_any_kind ? kinds_table(s, gvk.group, gvk.kind)
                                        : kinds_find_table(s, gvk.group, gvk.kind);
        if (t) {
                make_schemaless(s, t, gvk, scope);
                *ret = (struct served) {
                        .table = t->home,
                        .serial = t->home->serial,
                        .is_terminating = t->is_terminating,
                };
                if (t->kind) {
                        ret->kind = kind_ref(t->kind);
                        ret->version = kind_version(t->kind, gvk.version);
                }
        }
        mutex_unlock(&s->mutex);
        if (ret->kind)
                arena_pin(a, ret->kind, kind_unpin);
        if (ret->version && ret->version->is_served)
                return 0;
        if (t && s->options.accepts_any_kind && scope == SCOPE_UNKNOWN && (!ret->kind || t->is_schemaless)) {
                ret->kind = NULL; /* the kind has no objects yet */
                return 0;
        }
        return err_set(err, ERR_NOT_FOUND, "no matches for kind \"%.*s\" in version \"%.*s\"", STR_ARG(gvk.kind),
                       STR_ARG(gvk_api_version(a, gvk)));
}

int kinds_ops_kind(struct cluster *c, struct run *run, struct gvk gvk, struct kind **ret, struct err *err)
{
        struct served served;
        int r = kinds_lookup(store_of(c), run->arena, gvk, SCOPE_UNKNOWN, &served, err);

        if (r < 0)
                return r;
        if (!served.kind)
                return err_set(err, ERR_NOT_FOUND, "no matches for kind \"%.*s\" in version \"%.*s\"",
                               STR_ARG(gvk.kind), STR_ARG(gvk_api_version(run->arena, gvk)));
        *ret = kind_ref(served.kind);
        return 0;
}

int kinds_ops_resource(struct cluster *c, struct run *run _unused_, struct gvr gvr, struct kind **ret, struct err *err)
{
        struct store *s = store_of(c);
        _cleanup_arena_ struct arena a;
        struct kind *found = NULL;
        struct plural *p;

        arena_init(&a, "lookup", 0);
        mutex_lock(&s->mutex);
        p = map_get(&s->plurals, plural_key(&a, gvr.group, gvr.plural));
        if (p && kind_served_version(p->table->kind, gvr.version))
                found = kind_ref(p->table->kind);
        mutex_unlock(&s->mutex);
        if (!found)
                return cluster_no_such_resource(gvr, err);
        *ret = found;
        return 0;
}

static int compare_listed(const void *a, const void *b)
{
        return kind_compare(((const struct listed_kind *)a)->kind, ((const struct listed_kind *)b)->kind);
}

int kinds_ops_list(struct cluster *c, struct run *run, struct kind_list *ret, struct err *err _unused_)
{
        struct store *s = store_of(c);
        struct listed_kind *kinds;
        size_t n = 0;

        mutex_lock(&s->mutex);
        kinds = ARENA_NEW_ARRAY(run->arena, struct listed_kind, s->tables.n);
        for (const struct map_entry *e = map_first(&s->tables); e; e = map_next(&s->tables, e)) {
                struct table *t = e->value;

                if (!t->kind || !kind_is_served(t->kind))
                        continue;
                arena_pin(run->arena, kind_ref(t->kind), kind_unpin);
                kinds[n++] = (struct listed_kind) { t->kind, t->is_terminating };
        }
        *ret = (struct kind_list) { .kinds = kinds, .n = n, .version = kinds_ops_version(c) };
        mutex_unlock(&s->mutex);
        qsort(kinds, n, sizeof(*kinds), compare_listed);
        return 0;
}

uint64_t kinds_ops_version(struct cluster *c)
{
        return atomic_load_explicit(&store_of(c)->kinds_version, memory_order_acquire);
}

/* --- Commits to CRDs --- */

static bool is_established(const struct value *crd)
{
        struct condition c;

        return crd && condition_get(crd, STR("Established"), &c) && c.status == CONDITION_TRUE;
}

static bool describes_the_same(const struct value *before, const struct value *after)
{
        const struct value *old_names, *names;

        if (!is_established(before) || !value_equal(value_get(before, STR("spec")), value_get(after, STR("spec"))))
                return false;
        old_names = value_find(before, "status", "acceptedNames");
        names = value_find(after, "status", "acceptedNames");
        return old_names == names || (old_names && names && value_equal(old_names, names));
}

int kinds_prepare(struct store *s, const struct value *before, const struct value *after, struct kind_change *ret,
                  struct err *err)
{
        const struct value *spec = value_get(after ? after : before, STR("spec"));
        struct str kind = value_str(value_find(spec, "names", "kind"));
        int r;

        *ret = (struct kind_change) { .is_change = true };
        ret->crd = str_to_cstring(meta_name(after ? after : before));
        mutex_lock(&s->mutex);
        ret->table = kinds_table(s, value_str(value_get(spec, STR("group"))), kind);
        mutex_unlock(&s->mutex);
        ret->accepted = after ? accepted_of(after) : NULL;
        if (!after) {
                ret->replaces_kind = is_established(before);
                return 0;
        }
        ret->is_terminating = is_established(after) && meta_is_deleting(after);
        if (!is_established(after) || describes_the_same(before, after))
                return 0;
        r = kind_from_crd(after, &ret->kind, err);
        if (r < 0)
                return r;
        if (s->options.strategy_of)
                kind_use_strategy(ret->kind, s->options.strategy_of(after));
        ret->replaces_kind = true;
        return 0;
}

void kind_change_done(struct kind_change *change)
{
        kind_unref(change->kind);
        accepted_free(change->accepted);
        free(change->crd);
        *change = (struct kind_change) { 0 };
}

/* Queues the other CRDs of the group that wait for names: the released names may be theirs now. */
static void release_names(struct store *s, const struct crd_accepted *gone)
{
        for (const struct map_entry *e = map_first(&s->crd_names); e; e = map_next(&s->crd_names, e)) {
                const struct crd_accepted *other = e->value;

                if (str_equal(other->group, gone->group) && !other->is_complete)
                        collector_add(s, (struct store_task) { .type = TASK_CRD_NAMES, .name = other->crd });
        }
}

void kinds_change(struct store *s, struct kind_change *change)
{
        struct table *t = change->table;
        struct crd_accepted *old = map_remove(&s->crd_names, str_from(change->crd));

        if (change->accepted) {
                struct crd_accepted *accepted = TAKE(change->accepted);

                map_add(&s->crd_names, accepted->crd, accepted);
        } else if (old) {
                release_names(s, old);
        }
        accepted_free(old);
        if (change->replaces_kind) {
                set_kind(s, t, TAKE(change->kind));
                t->is_schemaless = false;
                watch_close_all(s, t);
                collector_kinds_changed(s);
        }
        if (!change->replaces_kind && !change->is_terminating)
                return;
        if (t->is_terminating != change->is_terminating)
                kinds_changed(s);
        t->is_terminating = change->is_terminating;
}

/* --- Names and conditions --- */

static int write_status(struct store *s, struct run *run, const struct value *crd, struct err *err)
{
        struct run own = *run;
        struct write_request req = {
                .verb = WRITE_UPDATE,
                .key = object_key_of(crd),
                .subresource = STR("status"),
                .body = crd,
                .manager = STR("kube-apiserver"),
        };

        own.user = (struct user) { .name = STR("system:apiserver") };
        own.cause = STR("names of a CustomResourceDefinition");
        own.warnings = NULL;
        return commit_own(s, &own, &req, err);
}

static struct object_key crd_key(struct str name)
{
        return (struct object_key) { .gvk = { STR("apiextensions.k8s.io"), STR("v1"), STR("CustomResourceDefinition") },
                                     .name = name };
}

/* Takes one step; 1 when there is nothing left to do. */
static int establish_step(struct store *s, struct run *run, struct str crd_name, struct err *err)
{
        struct object_key key = crd_key(crd_name);
        _cleanup_err_ struct err inner = { 0 };
        const struct value *crd, *wanted;
        int r = cluster_get_value(&s->cluster, run, &key, &crd, &inner);

        if (r == ERR_NOT_FOUND || (r == 0 && meta_is_deleting(crd)))
                return 1;
        if (r < 0)
                return err_move(err, &inner);
        mutex_lock(&s->mutex);
        r = commit_await_writes(s, run, s->crds, err); /* an unpublished write may take a name */
        wanted = crd_with_names(run->arena, crd, &s->crd_names, clock_wall());
        mutex_unlock(&s->mutex);
        if (r < 0)
                return r;
        if (wanted == crd)
                return 1;
        r = write_status(s, run, wanted, &inner);
        if (r == ERR_CONFLICT || r == ERR_NOT_FOUND)
                return 0; /* another writer changed the CRD: read it again */
        return r < 0 ? err_move(err, &inner) : 0;
}

int kinds_establish(struct store *s, struct run *run, struct str crd_name, struct err *err)
{
        int r = semaphore_acquire(&s->naming, run->deadline, run->cancel);

        if (r == 0) {
                while (r == 0)
                        r = establish_step(s, run, crd_name, err);
                semaphore_release(&s->naming);
                r = MIN(r, 0);
        } else {
                wait_error(r, run->cancel, "waiting to decide about names", err);
        }
        return r;
}

/* --- Deletion --- */

#define CLEANUP STR("customresourcecleanup.apiextensions.k8s.io")

const struct value *kinds_begin_deletion(struct arena *a, const struct value *crd)
{
        struct condition c = {
                .type = STR("Terminating"),
                .status = CONDITION_TRUE,
                .reason = STR("InstanceDeletionPending"),
                .message = STR("CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon"),
                .last_transition = clock_wall(),
        };

        return conditions_set(a, meta_with_finalizer(a, crd, CLEANUP), &c, 1);
}

static int set_in_progress(struct store *s, struct run *run, const struct value *crd, struct err *err)
{
        struct condition c = {
                .type = STR("Terminating"),
                .status = CONDITION_TRUE,
                .reason = STR("InstanceDeletionInProgress"),
                .message = STR("CustomResource deletion is in progress"),
                .last_transition = clock_wall(),
        }, there;

        if (condition_get(crd, c.type, &there) && str_equal(there.reason, c.reason))
                return 0;
        return write_status(s, run, conditions_set(run->arena, crd, &c, 1), err);
}

static int drop_finalizer(struct store *s, struct run *run, const struct value *crd, struct err *err)
{
        struct write_request req = {
                .verb = WRITE_UPDATE,
                .key = object_key_of(crd),
                .body = meta_without_finalizer(run->arena, crd, CLEANUP),
                .manager = STR("kube-apiserver"),
        };

        return commit_own(s, run, &req, err);
}

static size_t count_objects(struct store *s, const struct table *t)
{
        size_t n;

        mutex_lock(&s->mutex);
        n = t->n_objects;
        mutex_unlock(&s->mutex);
        return n;
}

int kinds_collect(struct store *s, struct run *run, struct str crd_name, struct err *err)
{
        struct object_key key = crd_key(crd_name);
        const struct value *crd;
        struct listing instances;
        struct table *t;
        int r = cluster_get_value(&s->cluster, run, &key, &crd, err);

        if (r < 0)
                return r;
        if (!meta_is_deleting(crd) || !meta_has_finalizer(crd, CLEANUP))
                return 0;
        if (is_established(crd)) {
                r = set_in_progress(s, run, crd, err);
                if (r < 0)
                        return r;
                mutex_lock(&s->mutex);
                t = kinds_table(s, value_str(value_find(crd, "spec", "group")),
                                value_str(value_find(crd, "spec", "names", "kind")));
                mutex_unlock(&s->mutex);
                listing_collect(s, t, run->arena, STR(""), &instances);
                for (size_t i = 0; i < instances.n; i++)
                        collector_delete_next(s, run, object_value(instances.p[i].object, run->arena), &r, err);
                listing_done(&instances);
                if (r < 0 || count_objects(s, t) > 0)
                        return r; /* the removal of the last instance queues this task again */
                r = cluster_get_value(&s->cluster, run, &key, &crd, err);
                if (r < 0)
                        return r;
        }
        return drop_finalizer(s, run, crd, err);
}
