#include "cluster.h"

#include "vec.h"

static const struct str *copy_strs(struct arena *a, const struct str *p, size_t n)
{
        struct str *copy = arena_alloc_array(a, n, sizeof(*copy));

        for (size_t i = 0; i < n; i++)
                copy[i] = arena_copy(a, p[i]);
        return copy;
}

struct user user_copy(struct arena *a, const struct user *u)
{
        struct user_extra *extra = arena_alloc_array(a, u->n_extra, sizeof(*extra));

        for (size_t i = 0; i < u->n_extra; i++)
                extra[i] = (struct user_extra) {
                        .key = arena_copy(a, u->extra[i].key),
                        .values = copy_strs(a, u->extra[i].values, u->extra[i].n_values),
                        .n_values = u->extra[i].n_values,
                };
        return (struct user) {
                .name = arena_copy(a, u->name),
                .uid = arena_copy(a, u->uid),
                .groups = copy_strs(a, u->groups, u->n_groups),
                .n_groups = u->n_groups,
                .extra = extra,
                .n_extra = u->n_extra,
        };
}

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

/* --- Lists --- */

int cluster_list_begin(struct cluster *c, struct run *run, const struct list_request *req, struct list_cursor **ret,
                       struct err *err)
{
        return c->ops->list_begin(c, run, req, ret, err);
}

int list_cursor_next(struct list_cursor *c, struct run *run, struct object_list *ret, struct err *err)
{
        *ret = (struct object_list) { .remaining = -1 };
        return c->ops->next(c, run, ret, err);
}

void list_cursor_free(struct list_cursor *c)
{
        c->ops->free(c);
}

typedef VEC(struct object *) object_vec;

static int collect_batches(struct list_cursor *cursor, struct run *run, object_vec *objects, struct object_list *last,
                           struct err *err)
{
        int r;

        for (;;) {
                r = list_cursor_next(cursor, run, last, err);
                if (r <= 0)
                        return r;
                r = arena_check(run->arena, err);
                if (r < 0)
                        return r;
                for (size_t i = 0; i < last->n; i++)
                        vec_push(objects, last->objects[i]);
        }
}

int cluster_list(struct cluster *c, struct run *run, const struct list_request *req, struct object_list *ret,
                 struct err *err)
{
        _cleanup_(list_cursor_freep)
        struct list_cursor *cursor = NULL;
        object_vec objects = { 0 };
        struct object_list last = { 0 };
        struct object **all;
        int r = cluster_list_begin(c, run, req, &cursor, err);

        if (r == 0)
                r = collect_batches(cursor, run, &objects, &last, err);
        if (r == 0) {
                all = ARENA_NEW_ARRAY(run->arena, struct object *, objects.n + 1);
                if (objects.n)
                        memcpy(all, objects.p, objects.n * sizeof(*all));
                last.objects = all;
                last.n = objects.n;
                *ret = last;
        } else if (r == ERR_EXPIRED) {
                ret->continue_token = last.continue_token;
        }
        vec_done(&objects);
        return r;
}

const struct value *const *object_list_values(const struct object_list *l, struct arena *a)
{
        const struct value **values = ARENA_NEW_ARRAY(a, const struct value *, l->n + 1);

        for (size_t i = 0; i < l->n; i++)
                values[i] = object_list_value(l, i, a);
        return values;
}

/* --- The rest --- */

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

int cluster_kind(struct cluster *c, struct run *run, struct gvk gvk, const struct kind **ret, struct err *err)
{
        struct kind *k;
        int r = c->ops->kind(c, run, gvk, &k, err);

        if (r < 0)
                return r;
        arena_pin(run->arena, k, kind_unpin);
        *ret = k;
        return 0;
}

int cluster_resource(struct cluster *c, struct run *run, struct gvr gvr, const struct kind **ret, struct err *err)
{
        struct kind *k;
        int r = c->ops->resource ? c->ops->resource(c, run, gvr, &k, err) : cluster_no_such_resource(gvr, err);

        if (r < 0)
                return r;
        arena_pin(run->arena, k, kind_unpin);
        *ret = k;
        return 0;
}

int cluster_kinds(struct cluster *c, struct run *run, struct kind_list *ret, struct err *err)
{
        *ret = (struct kind_list) { 0 };
        return c->ops->kinds ? c->ops->kinds(c, run, ret, err) : 0;
}

uint64_t cluster_kinds_version(struct cluster *c)
{
        return c->ops->kinds_version ? c->ops->kinds_version(c) : 0;
}

int cluster_no_such_resource(struct gvr gvr, struct err *err)
{
        return err_set(err, ERR_NOT_FOUND, "no matches for %.*s/%.*s, Resource=%.*s", STR_ARG(gvr.group),
                       STR_ARG(gvr.version), STR_ARG(gvr.plural));
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

/* --- Watches --- */

void watch_init(struct watch *w, const struct watch_ops *ops, const char *name)
{
        *w = (struct watch) { .ops = ops, .name = name };
        mutex_init(&w->mutex);
}

void watch_done(struct watch *w)
{
        mutex_done(&w->mutex);
}

int watch_try_next(struct watch *w, struct run *run, struct watch_wakeup wakeup, struct watch_event *ret,
                   struct err *err)
{
        return w->ops->try_next(w, run, wakeup, ret, err);
}

struct deadline watch_next_bookmark(const struct watch *w)
{
        return w->ops->next_bookmark(w);
}

static void wake(void *arg)
{
        struct watch *w = arg;

        mutex_lock(&w->mutex);
        w->is_woken = true;
        waiters_grant(&w->waiters);
        mutex_unlock(&w->mutex);
}

/* Call it before the wakeup is armed. A late call for an earlier arming only makes the next wait shorter. */
static void forget_wakeup(struct watch *w)
{
        mutex_lock(&w->mutex);
        w->is_woken = false;
        mutex_unlock(&w->mutex);
}

static int await_wakeup(struct watch *w, struct deadline deadline, struct cancel *cancel)
{
        struct waiter waiter;
        int r = 0;

        mutex_lock(&w->mutex);
        while (!w->is_woken && r == 0) {
                waiters_append(&w->waiters, &waiter);
                r = waiters_wait(&w->waiters, &waiter, &w->mutex, "watch", w->name, deadline, cancel);
        }
        mutex_unlock(&w->mutex);
        return r;
}

int watch_next(struct watch *w, struct run *run, struct watch_event *ret, struct err *err)
{
        for (;;) {
                struct deadline bookmark;
                int r;

                forget_wakeup(w);
                r = watch_try_next(w, run, (struct watch_wakeup) { .call = wake, .arg = w }, ret, err);
                if (r != 0)
                        return MIN(r, 0);
                bookmark = watch_next_bookmark(w);
                r = await_wakeup(w, deadline_earliest(run->deadline, bookmark), run->cancel);
                if (r == ERR_TIMEOUT && deadline_has_passed(bookmark))
                        r = 0;
                if (r < 0)
                        return wait_error(r, run->cancel, "watch", err);
        }
}

void watch_free(struct watch *w)
{
        w->ops->free(w);
}

void cluster_free(struct cluster *c)
{
        c->ops->free(c);
}
