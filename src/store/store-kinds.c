/* Which kinds are served. A CRD takes effect in the commit that makes it Established, and stops in the one that removes it. */
#include "store-state.h"

#include "condition.h"
#include "crd-names.h"

/* --- Tables --- */

struct table *kinds_find_table(struct store *s, struct str group, struct str kind)
{
        _cleanup_arena_ struct arena a;

        arena_init(&a, "lookup", 0);
        return map_get(&s->tables, arena_printf(&a, "%.*s/%.*s", STR_ARG(group), STR_ARG(kind)));
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
        t->objects.is_by_key = true;
        map_add(&s->tables, str_from(t->name), t);
        return t;
}

void kinds_init(struct store *s)
{
        for (struct kind *const *k = kind_builtins(); *k; k++)
                kinds_table(s, (*k)->group, (*k)->kind)->kind = kind_ref(*k);
        s->namespaces = kinds_find_table(s, STR(""), STR("Namespace"));
        s->crds = kinds_find_table(s, STR("apiextensions.k8s.io"), STR("CustomResourceDefinition"));
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
        for (const struct map_entry *e = map_first(&s->crd_names); e; e = map_next(&s->crd_names, e))
                accepted_free(e->value);
        map_done(&s->crd_names);
}

/* --- Lookup --- */

static void set_kind(struct table *t, struct kind *kind)
{
        kind_unref(t->kind);
        t->kind = kind;
        t->serial++;
}

/* The schemaless kind with one more version, kept as it was otherwise. */
static struct kind *with_another_version(const struct kind *old, struct gvk gvk)
{
        struct kind *k = kind_schemaless(gvk, old->is_namespaced);
        struct kind_version *versions = ARENA_NEW_ARRAY(&k->arena, struct kind_version, old->n_versions + 1);

        for (size_t i = 0; i < old->n_versions; i++) {
                versions[i] = old->versions[i];
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

/* Makes up what nobody has described. */
static void make_schemaless(struct store *s, struct table *t, struct gvk gvk, enum scope scope)
{
        if (!s->options.accepts_any_kind || scope == SCOPE_UNKNOWN || gvk.kind.n == 0 || gvk.version.n == 0)
                return;
        if (!t->kind) {
                set_kind(t, kind_schemaless(gvk, scope == SCOPE_NAMESPACE));
                t->is_schemaless = true;
                collector_kinds_changed(s);
        } else if (t->is_schemaless && !kind_version(t->kind, gvk.version)) {
                set_kind(t, with_another_version(t->kind, gvk));
        }
}

static void unref_kind(void *k)
{
        kind_unref(k);
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
                *ret = (struct served) { .table = t, .serial = t->serial, .is_terminating = t->is_terminating };
                if (t->kind) {
                        ret->kind = kind_ref(t->kind);
                        ret->version = kind_version(t->kind, gvk.version);
                }
        }
        mutex_unlock(&s->mutex);
        if (ret->kind)
                arena_pin(a, ret->kind, unref_kind);
        if (ret->version && ret->version->is_served)
                return 0;
        if (t && s->options.accepts_any_kind && scope == SCOPE_UNKNOWN && (!ret->kind || t->is_schemaless)) {
                ret->kind = NULL; /* nothing of it is there yet */
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
                ret->kind->strategy = s->options.strategy_of(ret->kind->group, ret->kind->kind);
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

/* Others of the group that wait for names may have them now. */
static void release_names(struct store *s, const struct accepted *gone)
{
        for (const struct map_entry *e = map_first(&s->crd_names); e; e = map_next(&s->crd_names, e)) {
                const struct accepted *other = e->value;

                if (str_equal(other->group, gone->group) && !other->is_complete)
                        collector_add(s, 'e', other->crd);
        }
}

void kinds_change(struct store *s, struct kind_change *change)
{
        struct table *t = change->table;
        struct accepted *old = map_remove(&s->crd_names, str_from(change->crd));

        if (change->accepted) {
                struct accepted *accepted = TAKE(change->accepted);

                map_add(&s->crd_names, accepted->crd, accepted);
        } else if (old) {
                release_names(s, old);
        }
        accepted_free(old);
        if (change->replaces_kind) {
                set_kind(t, TAKE(change->kind));
                t->is_schemaless = false;
                watch_close_all(s, t);
                collector_kinds_changed(s);
        }
        if (change->replaces_kind || change->is_terminating)
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

/* One step further; 1 when there is nothing left to do. */
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
        wanted = crd_with_names(run->arena, crd, &s->crd_names, clock_wall());
        mutex_unlock(&s->mutex);
        if (wanted == crd)
                return 1;
        r = write_status(s, run, wanted, &inner);
        if (r == ERR_CONFLICT || r == ERR_NOT_FOUND)
                return 0; /* somebody wrote to it: look again */
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
        if (r < 0) {
                mutex_lock(&s->mutex);
                collector_add(s, 'e', crd_name);
                mutex_unlock(&s->mutex);
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
                for (size_t i = 0; i < instances.n && r == 0; i++)
                        r = collector_delete(s, run, object_value(instances.p[i].object, run->arena),
                                             PROPAGATE_BACKGROUND, err);
                listing_done(&instances);
                if (r < 0 || t->n_objects > 0)
                        return r; /* the removal of the last one brings us back */
                r = cluster_get_value(&s->cluster, run, &key, &crd, err);
                if (r < 0)
                        return r;
        }
        return drop_finalizer(s, run, crd, err);
}
