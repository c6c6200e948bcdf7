#include "render-cluster.h"

#include <stdlib.h>

#include "buf.h"
#include "gotext.h"
#include "map.h"
#include "owner.h"
#include "status.h"
#include "vec.h"

struct entry {
        struct gvk gvk;
        const struct value *value; /* NULL: deleted */
};

typedef VEC(const struct value *) value_vec;

struct render_cluster {
        struct cluster cluster;
        struct arena *arena;
        struct object_key composite;
        struct object_cache *cache;
        const struct render_cluster *below; /* searched after entries; NULL: none */
        struct map entries;                 /* by place_of */
        value_vec applied, deleted;
};

static struct str place_of(struct arena *a, const struct object_key *key)
{
        return ARENA_CONCAT(a, key->gvk.group, STR("/"), key->gvk.version, STR("/"), key->gvk.kind, STR("/"), key->ns,
                            STR("/"), key->name);
}

static struct entry *find(struct render_cluster *c, const struct object_key *key)
{
        struct str place = place_of(c->arena, key);
        struct entry *e = map_get(&c->entries, place);

        if (!e && c->below)
                e = map_get(&c->below->entries, place);
        return e && e->value ? e : NULL;
}

static void put(struct render_cluster *c, const struct object_key *key, const struct value *object)
{
        struct str place = place_of(c->arena, key);
        struct entry *e = map_get(&c->entries, place);

        if (!e) {
                e = ARENA_NEW(c->arena, struct entry);
                e->gvk = gvk_copy(c->arena, key->gvk);
                map_set(&c->entries, place, e);
        }
        e->value = object;
}

static int not_found(const struct object_key *key, struct err *err)
{
        _cleanup_buf_ struct buf name = BUF_INIT(0);

        go_append_quoted(&name, key->name);
        return err_set(err, ERR_NOT_FOUND, "%.*s%s%.*s %s not found", STR_ARG(key->gvk.kind),
                       key->gvk.group.n ? "." : "", STR_ARG(key->gvk.group), buf_cstring(&name));
}

/* Makes an object from the value, without encoding it. */
static struct object *object_of(struct render_cluster *c, struct run *run, const struct value *v)
{
        struct object *o = object_of_value(c->cache, v), *pinned = object_pin(o, run->arena);

        object_unref(o);
        return pinned;
}

static struct render_cluster *of(struct cluster *cluster)
{
        return CONTAINER_OF(cluster, struct render_cluster, cluster);
}

static struct status_subject subject_of(struct render_cluster *c, const struct object_key *key)
{
        return (struct status_subject) {
                .group = key->gvk.group,
                .kind = key->gvk.kind,
                .plural = kind_guess_plural(c->arena, key->gvk.kind),
                .name = key->name,
        };
}

static int refuse(const char *what, struct err *err)
{
        return err_set(err, ERR_UNSUPPORTED, "a render %s", what);
}

/* --- Reading --- */

/* Every object has only one version: its current state. */
static int check_version(struct str version, enum version_match match, struct err *err)
{
        if ((version.n && !str_equal(version, STR("0"))) || match == MATCH_EXACT)
                return refuse("has no older versions to read", err);
        return 0;
}

/* Only the subresource status exists; reading it returns the whole object. */
static int check_subresource(struct str subresource, struct err *err)
{
        if (subresource.n && !str_equal(subresource, STR("status")))
                return refuse("has no subresource but status", err);
        return 0;
}

static int get_object(struct cluster *cluster, struct run *run, const struct get_request *req, struct object **ret,
                      struct err *err)
{
        struct render_cluster *c = of(cluster);
        struct entry *e;
        int r;

        if ((r = check_version(req->resource_version, MATCH_UNSET, err)) < 0 ||
            (r = check_subresource(req->subresource, err)) < 0)
                return r;
        e = find(c, &req->key);
        if (!e)
                return not_found(&req->key, err);
        *ret = object_of(c, run, e->value);
        return 0;
}

static bool has_owner(struct arena *a, const struct value *object, struct str uid)
{
        const struct owner_reference *owners;
        size_t n = owner_references(a, object, &owners);

        for (size_t i = 0; i < n; i++)
                if (str_equal(owners[i].uid, uid))
                        return true;
        return false;
}

static bool is_listed(struct arena *a, const struct list_request *req, const struct entry *e)
{
        return e->value && gvk_equal(e->gvk, req->gvk) &&
               (req->ns.n == 0 || str_equal(meta_namespace(e->value), req->ns)) &&
               (!req->labels || label_selector_matches(req->labels, value_get(meta(e->value), STR("labels")))) &&
               (!req->fields || field_selector_matches(req->fields, e->value)) &&
               (req->owner_uid.n == 0 || has_owner(a, e->value, req->owner_uid));
}

static int compare_places(const void *a, const void *b)
{
        const struct value *const *x = a, *const *y = b;
        int order = str_compare(meta_namespace(*x), meta_namespace(*y));

        return order ? order : str_compare(meta_name(*x), meta_name(*y));
}

static size_t collect(struct render_cluster *c, struct run *run, const struct list_request *req,
                      const struct value **values)
{
        const struct map *below = c->below ? &c->below->entries : NULL;
        size_t n = 0;

        for (struct map_entry *m = below ? map_first(below) : NULL; m; m = map_next(below, m))
                if (is_listed(run->arena, req, m->value) && !map_has(&c->entries, m->key))
                        values[n++] = ((const struct entry *)m->value)->value;
        for (struct map_entry *m = map_first(&c->entries); m; m = map_next(&c->entries, m))
                if (is_listed(run->arena, req, m->value))
                        values[n++] = ((const struct entry *)m->value)->value;
        qsort(values, n, sizeof(*values), compare_places);
        return n;
}

/* Lists are always whole: no render reads a list in parts. Field selectors may use only the paths that every kind allows. */
static int check_list(const struct list_request *req, struct err *err)
{
        static const struct str none;
        int r;

        if (req->limit || req->continue_token.n)
                return refuse("lists no parts", err);
        if (req->fields && (r = field_selector_check(req->fields, &none, 0, err)) < 0)
                return r;
        return check_version(req->resource_version, req->match, err);
}

/* A list. The values are chosen when the list begins; objects are made in batches. */
struct render_list {
        struct list_cursor cursor;
        struct render_cluster *cluster;
        const struct value **values; /* heap */
        size_t n, at;
};

#define LIST_BATCH 64

static int next_batch(struct list_cursor *cursor, struct run *run, struct object_list *ret, struct err *err)
{
        struct render_list *l = CONTAINER_OF(cursor, struct render_list, cursor);
        size_t n = MIN(l->n - l->at, (size_t)LIST_BATCH);
        struct object **objects = ARENA_NEW_ARRAY(run->arena, struct object *, n + 1);

        for (size_t i = 0; i < n; i++)
                objects[i] = object_of(l->cluster, run, l->values[l->at++]);
        *ret = (struct object_list) { .objects = objects, .n = n, .remaining = -1 };
        return n > 0;
}

static void free_list(struct list_cursor *cursor)
{
        struct render_list *l = CONTAINER_OF(cursor, struct render_list, cursor);

        free(l->values);
        free(l);
}

static int list_objects(struct cluster *cluster, struct run *run, const struct list_request *req,
                        struct list_cursor **ret, struct err *err)
{
        static const struct list_cursor_ops cursor_ops = { .next = next_batch, .free = free_list };
        struct render_cluster *c = of(cluster);
        struct render_list *l;
        int r = check_list(req, err);

        if (r < 0)
                return r;
        l = xcalloc(1, sizeof(*l));
        l->cursor.ops = &cursor_ops;
        l->cluster = c;
        l->values = xmalloc((c->entries.n + (c->below ? c->below->entries.n : 0) + 1) * sizeof(*l->values));
        l->n = collect(c, run, req, l->values);
        *ret = &l->cursor;
        return 0;
}

/* --- Writing --- */

static const struct value *with_status(struct arena *a, const struct value *object, const struct value *from)
{
        const struct value *status = value_get(from, STR("status"));

        return status ? value_with(a, object, STR("status"), status) : value_without(a, object, STR("status"));
}

static int fail_precondition(struct render_cluster *c, const struct write_request *req, const char *what,
                             struct str wanted, struct str there, struct err *err)
{
        struct status_subject subject = subject_of(c, &req->key);

        return status_conflict(err, &subject, "Precondition failed: %s in precondition: %.*s, %s in object meta: %.*s",
                               what, STR_ARG(wanted), what, STR_ARG(there));
}

static int check_preconditions(struct render_cluster *c, const struct write_request *req, const struct value *there,
                               struct err *err)
{
        struct str uid = meta_uid(there), version = meta_resource_version(there);

        if (req->precondition_uid.n && !str_equal(req->precondition_uid, uid))
                return fail_precondition(c, req, "UID", req->precondition_uid, uid, err);
        if (req->precondition_version.n && !str_equal(req->precondition_version, version))
                return fail_precondition(c, req, "ResourceVersion", req->precondition_version, version, err);
        return 0;
}

/* Removes the object at once, even with finalizers. Its dependents stay, with any propagation policy. */
static int delete_object(struct render_cluster *c, const struct write_request *req, const struct entry *e,
                         struct write_result *ret, struct err *err)
{
        int r;

        if (req->subresource.n)
                return refuse("deletes no subresource", err);
        if (!e)
                return not_found(&req->key, err);
        r = check_preconditions(c, req, e->value, err);
        if (r < 0)
                return r;
        *ret = (struct write_result) { .value = e->value, .is_removed = true, .is_changed = !req->is_dry_run };
        if (req->is_dry_run)
                return 0;
        vec_push(&c->deleted, e->value);
        put(c, &req->key, NULL);
        return 0;
}

/* Whether the body was made from another version than the stored one. A body without a resourceVersion replaces any version. */
static bool is_outdated(const struct value *body, const struct value *there)
{
        struct str version = meta_resource_version(body), now = meta_resource_version(there);

        return version.n && now.n && !str_equal(version, now);
}

static int check_request(const struct write_request *req, struct err *err)
{
        if (req->n_duplicate_fields && req->field_validation != FIELDS_IGNORE)
                return refuse("takes no body with duplicate fields", err);
        if (req->verb == WRITE_JSON_PATCH || req->verb == WRITE_MERGE_PATCH || req->verb == WRITE_STRATEGIC_PATCH)
                return refuse("patches nothing", err);
        if (req->verb == WRITE_CREATE && req->subresource.n)
                return refuse("creates no subresource", err);
        return check_subresource(req->subresource, err);
}

static int check_there(struct render_cluster *c, const struct write_request *req, const struct value *there,
                       struct err *err)
{
        struct status_subject subject = subject_of(c, &req->key);

        if (req->verb == WRITE_CREATE)
                return status_already_exists(err, &subject);
        return is_outdated(req->body, there) ? status_modified(err, &subject) : 0;
}

static void take(struct render_cluster *c, const struct write_request *req, const struct value *object)
{
        if (req->verb == WRITE_APPLY && req->subresource.n == 0 && !object_key_equal(&req->key, &c->composite))
                vec_push(&c->applied, object);
        put(c, &req->key, object);
}

static int write_named(struct render_cluster *c, struct run *run, const struct write_request *req,
                       struct write_result *ret, struct err *err)
{
        const struct entry *e = find(c, &req->key);
        const struct value *object = req->body;
        int r;

        if (req->verb == WRITE_DELETE)
                return delete_object(c, req, e, ret, err);
        if ((r = check_request(req, err)) < 0 || (e && (r = check_there(c, req, e->value, err)) < 0))
                return r;
        if (!e && (req->verb == WRITE_UPDATE || req->subresource.n))
                return not_found(&req->key, err);
        if (req->subresource.n)
                object = with_status(c->arena, e->value, req->body);
        *ret = (struct write_result) {
                .object = object_of(c, run, object),
                .value = object,
                .is_created = !e,
                .is_changed = !req->is_dry_run,
        };
        if (!req->is_dry_run)
                take(c, req, object);
        return 0;
}

/* A create without a name in its key takes the name from the body. */
static int write_object(struct cluster *cluster, struct run *run, const struct write_request *req,
                        struct write_result *ret, struct err *err)
{
        struct render_cluster *c = of(cluster);
        struct write_request named = *req;

        if (req->verb == WRITE_CREATE && req->key.name.n == 0)
                named.key.name = meta_name(req->body);
        if (req->verb == WRITE_CREATE && named.key.name.n == 0)
                return refuse("makes no names", err);
        return write_named(c, run, &named, ret, err);
}

static int delete_collection(struct cluster *cluster, struct run *run, const struct list_request *list,
                             const struct write_request *req, struct object_list *ret, struct err *err)
{
        return refuse("deletes no collections", err);
}

static int watch_objects(struct cluster *cluster, struct run *run, const struct watch_request *req, struct watch **ret,
                         struct err *err)
{
        return refuse("watches nothing", err);
}

static int find_kind(struct cluster *cluster, struct run *run, struct gvk gvk, struct kind **ret, struct err *err)
{
        *ret = kind_schemaless(gvk, true);
        return 0;
}

static void unref(void *p)
{
        struct render_cluster *c = p;

        object_cache_unref(c->cache);
        map_done(&c->entries);
        vec_done(&c->applied);
        vec_done(&c->deleted);
}

static void free_nothing(struct cluster *cluster)
{
}

static const struct cluster_ops ops = {
        .get = get_object,
        .list_begin = list_objects,
        .watch = watch_objects,
        .write = write_object,
        .delete_collection = delete_collection,
        .kind = find_kind,
        .free = free_nothing,
};

struct render_cluster *render_cluster_new(struct arena *a, const struct object_key *composite,
                                          const struct render_cluster *below)
{
        struct render_cluster *c = ARENA_NEW(a, struct render_cluster);

        *c = (struct render_cluster) {
                .cluster = { .ops = &ops },
                .arena = a,
                .composite = object_key_copy(a, composite),
                .below = below,
                .cache = object_cache_new(0),
        };
        arena_pin(a, c, unref);
        return c;
}

struct cluster *render_cluster(struct render_cluster *c)
{
        return &c->cluster;
}

void render_cluster_add(struct render_cluster *c, const struct value *object)
{
        struct object_key key = object_key_of(object);
        struct gvk current = gvk_current(key.gvk);

        if (!gvk_equal(key.gvk, current)) {
                struct value api_version = value_of_str(gvk_api_version(c->arena, current));

                object = value_with(c->arena, object, STR("apiVersion"), &api_version);
                key.gvk = current;
        }
        put(c, &key, object);
}

const struct value *render_cluster_composite(struct render_cluster *c)
{
        struct entry *e = find(c, &c->composite);

        return e ? e->value : NULL;
}

size_t render_cluster_applied(const struct render_cluster *c, const struct value *const **ret)
{
        *ret = c->applied.p;
        return c->applied.n;
}

size_t render_cluster_deleted(const struct render_cluster *c, const struct value *const **ret)
{
        *ret = c->deleted.p;
        return c->deleted.n;
}
