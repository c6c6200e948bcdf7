#include "cluster.h"

int cluster_get(struct cluster *c, struct run *run, const struct get_request *req, struct object **ret, struct err *err)
{
        return c->ops->get(c, run, req, ret, err);
}

int cluster_get_value(struct cluster *c, struct run *run, const struct object_key *key, const struct value **ret,
                      struct err *err)
{
        struct get_request req = { .key = *key };
        struct object *o;
        int r = cluster_get(c, run, &req, &o, err);

        if (r == 0)
                *ret = object_value(o, run->arena);
        return r;
}

int cluster_list(struct cluster *c, struct run *run, const struct list_request *req, struct object_list *ret,
                 struct err *err)
{
        return c->ops->list(c, run, req, ret, err);
}

int cluster_write(struct cluster *c, struct run *run, const struct write_request *req, struct write_result *ret,
                  struct err *err)
{
        return c->ops->write(c, run, req, ret, err);
}

int cluster_delete_collection(struct cluster *c, struct run *run, const struct list_request *list,
                              const struct write_request *req, struct object_list *ret, struct err *err)
{
        return c->ops->delete_collection(c, run, list, req, ret, err);
}

static void unref_kind(void *k)
{
        kind_unref(k);
}

int cluster_kind(struct cluster *c, struct run *run, struct gvk gvk, const struct kind **ret, struct err *err)
{
        struct kind *k;
        int r = c->ops->kind(c, run, gvk, &k, err);

        if (r < 0)
                return r;
        arena_pin(run->arena, k, unref_kind);
        *ret = k;
        return 0;
}

int cluster_may(struct cluster *c, struct run *run, const struct access_request *req, bool *ret, struct err *err)
{
        *ret = true;
        return c->ops->may ? c->ops->may(c, run, req, ret, err) : 0;
}

int cluster_watch(struct cluster *c, struct run *run, const struct watch_request *req, struct watch **ret,
                  struct err *err)
{
        return c->ops->watch(c, run, req, ret, err);
}

int watch_next(struct watch *w, struct run *run, struct watch_event *ret, struct err *err)
{
        return w->ops->next(w, run, ret, err);
}

void watch_free(struct watch *w)
{
        w->ops->free(w);
}

void cluster_free(struct cluster *c)
{
        c->ops->free(c);
}
