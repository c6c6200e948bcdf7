/* Weather: a cluster on which anything may fail. */
#pragma once

#include "store-test.h"

#include "late-reads.h"
#include "random.h"

#include <stdlib.h>

struct weather {
        struct cluster cluster;
        struct cluster *inner;
        struct arena arena; /* of the writes that late reads show */
        struct random random;
        struct late_reads late;
        unsigned faults;              /* one call of so many fails; 0: none */
        bool is_dead;                 /* the process that used it has crashed */
        _Atomic(const char *) ending; /* a kind whose watch ends at its next event; NULL: none */
        int ends_with;                /* ERR_EXPIRED or ERR_CLOSED */
};

static struct weather *weather_of(struct cluster *c)
{
        return CONTAINER_OF(c, struct weather, cluster);
}

static bool strikes(struct weather *w)
{
        return w->faults && random_below(&w->random, w->faults) == 0;
}

static int lost(struct err *err)
{
        return err_set(err, ERR_CLOSED, "the connection is lost");
}

static int weather_get(struct cluster *c, struct run *run, const struct get_request *req, struct object **ret,
                       struct err *err)
{
        struct weather *w = weather_of(c);

        if (w->is_dead || strikes(w))
                return lost(err);
        return w->faults ? late_get(&w->late, w->inner, run, req, ret, err) : cluster_get(w->inner, run, req, ret, err);
}

static int weather_list_begin(struct cluster *c, struct run *run, const struct list_request *req,
                              struct list_cursor **ret, struct err *err)
{
        struct weather *w = weather_of(c);

        if (w->is_dead || strikes(w))
                return lost(err);
        return w->faults ? late_list_begin(&w->late, w->inner, run, req, ret, err)
                         : cluster_list_begin(w->inner, run, req, ret, err);
}

/* A write fails before it happens, by a conflict, or afterwards: then only the answer is lost. */
static int weather_write(struct cluster *c, struct run *run, const struct write_request *req, struct write_result *ret,
                         struct err *err)
{
        struct weather *w = weather_of(c);
        struct status_subject subject = { .group = req->key.gvk.group,
                                          .plural = req->key.gvk.kind,
                                          .name = req->key.name };
        int r;

        if (w->is_dead || strikes(w))
                return lost(err);
        if (req->verb == WRITE_UPDATE && strikes(w))
                return status_modified(err, &subject);
        r = cluster_write(w->inner, run, req, ret, err);
        if (r < 0)
                return r;
        late_note(&w->late, &w->arena, req, ret);
        return w->is_dead || strikes(w) ? lost(err) : r;
}

static int weather_delete_collection(struct cluster *c, struct run *run, const struct list_request *list,
                                     const struct write_request *req, struct object_list *ret, struct err *err)
{
        struct weather *w = weather_of(c);

        return w->is_dead || strikes(w) ? lost(err) : cluster_delete_collection(w->inner, run, list, req, ret, err);
}

static int weather_kind(struct cluster *c, struct run *run, struct gvk gvk, struct kind **ret, struct err *err)
{
        struct weather *w = weather_of(c);

        return w->is_dead || strikes(w) ? lost(err) : w->inner->ops->kind(w->inner, run, gvk, ret, err);
}

static int weather_resource(struct cluster *c, struct run *run, struct gvr gvr, struct kind **ret, struct err *err)
{
        struct weather *w = weather_of(c);

        return w->is_dead || strikes(w) ? lost(err) : w->inner->ops->resource(w->inner, run, gvr, ret, err);
}

static int weather_kinds(struct cluster *c, struct run *run, struct kind_list *ret, struct err *err)
{
        struct weather *w = weather_of(c);

        return w->is_dead || strikes(w) ? lost(err) : cluster_kinds(w->inner, run, ret, err);
}

static uint64_t weather_kinds_version(struct cluster *c)
{
        return cluster_kinds_version(weather_of(c)->inner);
}

static int weather_may(struct cluster *c, struct run *run, const struct access_request *req, bool *ret, struct err *err)
{
        return cluster_may(weather_of(c)->inner, run, req, ret, err);
}

/* Watches end at random. What a watch has shown, reads show too. */

struct weather_watch {
        struct watch watch;
        struct watch *inner;
        struct weather *weather;
        char kind[64];
};

static struct weather_watch *weather_watch_of(struct watch *watch)
{
        return CONTAINER_OF(watch, struct weather_watch, watch);
}

static int weather_try_next(struct watch *watch, struct run *run, struct watch_wakeup wakeup, struct watch_event *ret,
                            struct err *err)
{
        struct weather_watch *x = weather_watch_of(watch);
        const char *ending = x->weather->ending;
        int r;

        if (ending && str_equal(str_from(ending), str_from(x->kind))) {
                x->weather->ending = NULL;
                return err_set(err, x->weather->ends_with, "the watch has ended");
        }
        if (strikes(x->weather))
                return err_set(err, random_below(&x->weather->random, 2) ? ERR_EXPIRED : ERR_CLOSED,
                               "the watch has ended");
        r = watch_try_next(x->inner, run, wakeup, ret, err);
        if (r > 0)
                x->weather->late.version = MAX(x->weather->late.version, ret->version);
        return r;
}

static struct deadline weather_next_bookmark(const struct watch *watch)
{
        return watch_next_bookmark(CONTAINER_OF(watch, struct weather_watch, watch)->inner);
}

static void weather_watch_free(struct watch *watch)
{
        struct weather_watch *x = weather_watch_of(watch);

        watch_free(x->inner);
        watch_done(&x->watch);
        free(x);
}

static int weather_watch(struct cluster *c, struct run *run, const struct watch_request *req, struct watch **ret,
                         struct err *err)
{
        static const struct watch_ops ops = { .try_next = weather_try_next,
                                              .next_bookmark = weather_next_bookmark,
                                              .free = weather_watch_free };
        struct weather *w = weather_of(c);
        struct weather_watch *x;
        struct watch *inner;
        int r;

        if (w->is_dead || strikes(w))
                return lost(err);
        r = cluster_watch(w->inner, run, req, &inner, err);
        if (r < 0)
                return r;
        x = xcalloc(1, sizeof(*x));
        watch_init(&x->watch, &ops, "a watch in bad weather");
        x->inner = inner;
        x->weather = w;
        snprintf(x->kind, sizeof(x->kind), "%.*s", STR_ARG(req->gvk.kind));
        *ret = &x->watch;
        return r;
}

static void weather_free(struct cluster *c)
{
        (void)c;
}

static void weather_init(struct weather *w, struct store *store, uint64_t seed, unsigned faults)
{
        static const struct cluster_ops ops = {
                .get = weather_get,
                .list_begin = weather_list_begin,
                .watch = weather_watch,
                .write = weather_write,
                .delete_collection = weather_delete_collection,
                .kind = weather_kind,
                .resource = weather_resource,
                .kinds = weather_kinds,
                .kinds_version = weather_kinds_version,
                .may = weather_may,
                .free = weather_free,
        };

        *w = (struct weather) { .cluster.ops = &ops, .inner = store_cluster(store), .faults = faults };
        arena_init(&w->arena, "weather", 0);
        random_seed(&w->random, seed);
        late_begin(&w->late, store, store_version(store), seed + 1);
}
