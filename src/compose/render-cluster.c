#include "render-cluster.h"

#include "buf.h"
#include "gotext.h"
#include "map.h"
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
        const struct render_cluster *below; /* has what is not in entries; NULL: nothing */
        struct map entries;                 /* by place */
        value_vec applied, deleted;
};

static struct str place_of(struct arena *a, const struct object_key *key)
{
        return ARENA_CONCAT(a, key->gvk.group, STR("/"), key->gvk.version, STR("/"), key->gvk.kind, STR("/"),
                            key->namespace, STR("/"), key->name);
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

static struct object *object_of(struct render_cluster *c, struct run *run, const struct value *v)
{
        struct object *o = object_new(c->cache, 0, v), *pinned = object_pin(o, run->arena);

        object_unref(o);
        return pinned;
}

static struct render_cluster *of(struct cluster *cluster)
{
        return CONTAINER_OF(cluster, struct render_cluster, cluster);
}

static int get_object(struct cluster *cluster, struct run *run, const struct get_request *req, struct object **ret,
                      struct err *err)
{
        struct render_cluster *c = of(cluster);
        struct entry *e = find(c, &req->key);

        if (!e)
                return not_found(&req->key, err);
        *ret = object_of(c, run, e->value);
        return 0;
}

static bool is_listed(const struct list_request *req, const struct entry *e)
{
        return e->value && gvk_equal(e->gvk, req->gvk) &&
               (req->namespace.n == 0 || str_equal(meta_namespace(e->value), req->namespace)) &&
               (!req->labels || label_selector_matches(req->labels, value_get(meta(e->value), STR("labels"))));
}

static int list_objects(struct cluster *cluster, struct run *run, const struct list_request *req,
                        struct object_list *ret, struct err *err)
{
        struct render_cluster *c = of(cluster);
        const struct map *below = c->below ? &c->below->entries : NULL;
        size_t most = c->entries.n + (below ? below->n : 0), n = 0;
        const struct value **values = ARENA_NEW_ARRAY(run->arena, const struct value *, most + 1);
        struct object **objects;

        for (struct map_entry *m = below ? map_first(below) : NULL; m; m = map_next(below, m))
                if (is_listed(req, m->value) && !map_has(&c->entries, m->key))
                        values[n++] = ((const struct entry *)m->value)->value;
        for (struct map_entry *m = map_first(&c->entries); m; m = map_next(&c->entries, m))
                if (is_listed(req, m->value))
                        values[n++] = ((const struct entry *)m->value)->value;
        objects = ARENA_NEW_ARRAY(run->arena, struct object *, n + 1);
        for (size_t i = 0; i < n; i++)
                objects[i] = object_of(c, run, values[i]);
        *ret = (struct object_list) { .objects = objects, .values = values, .n = n, .remaining = -1 };
        return 0;
}

static const struct value *with_status(struct arena *a, const struct value *object, const struct value *from)
{
        const struct value *status = value_get(from, STR("status"));

        return status ? value_with(a, object, STR("status"), status) : value_without(a, object, STR("status"));
}

static int delete_object(struct render_cluster *c, const struct write_request *req, struct write_result *ret,
                         struct err *err)
{
        struct entry *e = find(c, &req->key);

        if (!e)
                return not_found(&req->key, err);
        *ret = (struct write_result) { .value = e->value, .is_removed = true, .is_changed = true };
        vec_push(&c->deleted, e->value);
        put(c, &req->key, NULL);
        return 0;
}

static int write_object(struct cluster *cluster, struct run *run, const struct write_request *req,
                        struct write_result *ret, struct err *err)
{
        struct render_cluster *c = of(cluster);
        const struct value *object = req->body;
        struct entry *e = find(c, &req->key);

        switch (req->verb) {
        case WRITE_DELETE:
                return delete_object(c, req, ret, err);
        case WRITE_JSON_PATCH:
        case WRITE_MERGE_PATCH:
                return err_set(err, ERR_UNSUPPORTED, "a render patches nothing");
        case WRITE_UPDATE:
                if (!e)
                        return not_found(&req->key, err);
                break;
        case WRITE_CREATE:
        case WRITE_APPLY:
                break;
        }
        if (req->subresource.n) {
                if (!e)
                        return not_found(&req->key, err);
                object = with_status(c->arena, e->value, req->body);
        } else if (req->verb == WRITE_APPLY && !object_key_equal(&req->key, &c->composite)) {
                vec_push(&c->applied, object);
        }
        put(c, &req->key, object);
        *ret = (struct write_result) { .value = object, .is_created = !e, .is_changed = true };
        return 0;
}

static int delete_collection(struct cluster *cluster, struct run *run, const struct list_request *list,
                             const struct write_request *req, struct object_list *ret, struct err *err)
{
        return err_set(err, ERR_UNSUPPORTED, "a render deletes no collections");
}

static int watch_objects(struct cluster *cluster, struct run *run, const struct watch_request *req, struct watch **ret,
                         struct err *err)
{
        return err_set(err, ERR_UNSUPPORTED, "a render watches nothing");
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
        .list = list_objects,
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
