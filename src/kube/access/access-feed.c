/* The watches that keep the index up to date. Every question first takes the events that are there, so that a write works for the
 * question after it. Objects are decoded once, by the thread that takes their event. */
#include "access-state.h"

static const struct {
        struct gvk gvk;
        bool is_binding;
        bool is_namespaced;
} kinds[] = {
        [FEED_CLUSTER_ROLES] = { { STR_INIT(RBAC_GROUP), STR_INIT(RBAC_VERSION), STR_INIT("ClusterRole") } },
        [FEED_ROLES] = { { STR_INIT(RBAC_GROUP), STR_INIT(RBAC_VERSION), STR_INIT("Role") }, .is_namespaced = true },
        [FEED_CLUSTER_ROLE_BINDINGS] = { { STR_INIT(RBAC_GROUP), STR_INIT(RBAC_VERSION),
                                           STR_INIT("ClusterRoleBinding") },
                                         .is_binding = true },
        [FEED_ROLE_BINDINGS] = { { STR_INIT(RBAC_GROUP), STR_INIT(RBAC_VERSION), STR_INIT("RoleBinding") },
                                 .is_binding = true,
                                 .is_namespaced = true },
};

void feeds_init(struct feeds *f, struct cluster *cluster, struct index *index)
{
        *f = (struct feeds) { .cluster = cluster, .index = index };
        mutex_init(&f->mutex);
}

void feeds_done(struct feeds *f)
{
        for (size_t i = 0; i < _FEED_COUNT; i++)
                watch_freep(&f->feeds[i].watch);
        mutex_done(&f->mutex);
}

/* A run of the asker's deadline and cancel token with an arena of its own: events are not charged to the asker. */
static struct run own_run(const struct run *asker, struct arena *a)
{
        return (struct run) {
                .arena = a,
                .deadline = asker->deadline,
                .cancel = asker->cancel,
                .user = access_own_user("system:apiserver"),
                .cause = STR("access rules"),
        };
}

static void set_object(struct feeds *f, enum feed_kind kind, const struct value *object)
{
        uint64_t mark = f->feeds[kind].mark;

        if (kinds[kind].is_binding)
                index_set_binding(f->index, object, mark);
        else
                index_set_role(f->index, meta_namespace(object), meta_name(object),
                               rules_compile(value_get(object, STR("rules"))), mark);
}

static void remove_object(struct feeds *f, enum feed_kind kind, const struct value *object)
{
        if (kinds[kind].is_binding)
                index_remove_binding(f->index, meta_namespace(object), meta_name(object));
        else
                index_remove_role(f->index, meta_namespace(object), meta_name(object));
}

static void take_event(struct feeds *f, enum feed_kind kind, struct arena *a, const struct watch_event *e)
{
        switch (e->type) {
        case WATCH_ADDED:
        case WATCH_MODIFIED:
                set_object(f, kind, object_peek(e->object, a));
                break;
        case WATCH_DELETED:
                remove_object(f, kind, object_peek(e->object, a));
                break;
        case WATCH_BOOKMARK:
        case WATCH_ERROR:
                break;
        }
}

static void sweep(struct feeds *f, enum feed_kind kind)
{
        uint64_t mark = f->feeds[kind].mark;

        if (kinds[kind].is_binding)
                index_sweep_bindings(f->index, kinds[kind].is_namespaced, mark);
        else
                index_sweep_roles(f->index, kinds[kind].is_namespaced, mark);
}

static bool has_ended(int r)
{
        return r == ERR_EXPIRED || r == ERR_CLOSED;
}

/* --- Opening --- */

/* Takes the events of a new watch up to the bookmark behind the existing objects. */
static int take_initial(struct feeds *f, enum feed_kind kind, struct run *asker, struct err *err)
{
        for (;;) {
                _cleanup_arena_ struct arena a;
                struct watch_event event = { 0 };
                struct run run;
                int r;

                arena_init(&a, "access", 0);
                run = own_run(asker, &a);
                r = watch_next(f->feeds[kind].watch, &run, &event, err);
                if (r < 0)
                        return r;
                take_event(f, kind, &a, &event);
                if (event.ends_initial) {
                        sweep(f, kind);
                        return 0;
                }
        }
}

static int open_feed(struct feeds *f, enum feed_kind kind, struct run *asker, struct err *err)
{
        struct watch_request req = { .gvk = kinds[kind].gvk, .sends_initial_events = true, .wants_bookmarks = true };
        _cleanup_arena_ struct arena a;
        struct run run;
        int r;

        arena_init(&a, "access", 0);
        run = own_run(asker, &a);
        f->feeds[kind].mark++;
        r = cluster_watch(f->cluster, &run, &req, &f->feeds[kind].watch, err);
        if (r == 0)
                r = take_initial(f, kind, asker, err);
        if (r < 0) {
                watch_freep(&f->feeds[kind].watch);
                f->feeds[kind].watch = NULL;
        }
        return r;
}

/* Without the mutex, by one thread at a time. */
static int open_feeds(struct feeds *f, struct run *asker, struct err *err)
{
        for (enum feed_kind i = 0; i < _FEED_COUNT; i++) {
                int r = 0;

                while (!f->feeds[i].watch) {
                        r = open_feed(f, i, asker, err);
                        if (r < 0 && !has_ended(r))
                                return err_wrap(err, "cannot read the access rules (%.*s)", STR_ARG(kinds[i].gvk.kind));
                }
        }
        return 0;
}

/* --- Refreshing --- */

/* Under the mutex: 1 when the watch has ended. The run's arena is emptied after each event. */
static int take_all(struct feeds *f, enum feed_kind kind, struct run *run, struct err *err)
{
        struct watch_wakeup nobody = { 0 };
        struct access_feed *feed = &f->feeds[kind];

        if (!feed->watch)
                return 1;
        for (;;) {
                struct watch_event event = { 0 };
                int r = watch_try_next(feed->watch, run, nobody, &event, err);

                if (r == 0)
                        return 0;
                if (has_ended(r)) {
                        watch_free(feed->watch);
                        feed->watch = NULL;
                        return 1;
                }
                if (r < 0)
                        return r;
                take_event(f, kind, run->arena, &event);
                arena_reset(run->arena);
        }
}

static int take_events(struct feeds *f, struct run *asker, struct err *err)
{
        _cleanup_arena_ struct arena a;
        struct run run;
        int has_lost = 0;

        arena_init(&a, "access", 0);
        run = own_run(asker, &a);
        for (enum feed_kind i = 0; i < _FEED_COUNT; i++) {
                int r = take_all(f, i, &run, err);

                if (r < 0)
                        return r;
                has_lost |= r;
        }
        return has_lost;
}

/* Called and returns with the mutex held. */
static int await_opening(struct feeds *f, struct run *asker)
{
        int r = 0;

        while (f->is_opening && r == 0) {
                struct waiter w = { 0 };

                waiters_append(&f->waiters, &w);
                r = waiters_wait(&f->waiters, &w, &f->mutex, "access rules", NULL, asker->deadline, asker->cancel);
        }
        return r;
}

/* The same. */
static int open_lost(struct feeds *f, struct run *asker, struct err *err)
{
        int r;

        f->is_opening = true;
        mutex_unlock(&f->mutex);
        r = open_feeds(f, asker, err);
        mutex_lock(&f->mutex);
        f->is_opening = false;
        while (waiters_grant(&f->waiters))
                ;
        return r;
}

int feeds_refresh(struct feeds *f, struct run *run, struct err *err)
{
        int r;

        mutex_lock(&f->mutex);
        r = await_opening(f, run);
        if (r < 0) {
                mutex_unlock(&f->mutex);
                return wait_error(r, run->cancel, "access rules", err);
        }
        r = take_events(f, run, err);
        if (r > 0)
                r = open_lost(f, run, err);
        mutex_unlock(&f->mutex);
        return r;
}
