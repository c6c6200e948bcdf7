#include "hub.h"

#include "log.h"
#include "map.h"

#include <inttypes.h>

#define BATCH          256 /* events of one watch before the others have their turn */
#define RETRY_FIRST_MS 100
#define RETRY_MOST_MS  30000

struct hub_subscription {
        struct hub *hub;
        struct hub_kind *kind;
        struct hub_subscription *next; /* of the same kind */
        struct hub_subscriber subscriber;
        bool wants_initial;
};

/* The hub's thread only, but for is_woken and next_woken. */
struct hub_kind {
        struct hub *hub;
        struct arena arena; /* gvk and key */
        struct gvk gvk;
        struct str key;
        struct hub_subscription *subscriptions;
        struct watch *watch; /* NULL: it could not be begun; retry_at says when to try again */
        uint64_t version;    /* changes up to this one have been told; 0: none */
        bool is_missing;     /* not served */
        bool was_lost;       /* changes may have been missed: everything that exists is told again */
        bool is_initial;     /* the watch still tells what exists */
        bool is_beginning;   /* and has told nothing yet */
        struct deadline retry_at;
        int64_t retry_ms;

        bool is_woken; /* these two under the hub's mutex */
        struct hub_kind *next_woken;
};

enum request_type {
        REQUEST_SUBSCRIBE,
        REQUEST_UNSUBSCRIBE,
        REQUEST_SETTLE,
};

/* On the stack of the thread that waits for it. */
struct request {
        enum request_type type;
        struct gvk gvk;
        struct hub_subscription *subscription;
        struct completion is_done;
        struct err err;
        struct request *next;
};

struct hub {
        struct cluster *cluster;
        struct arena arena; /* the user */
        struct user user;
        struct cancel *cancel;
        struct thread *thread;

        struct map kinds;     /* by key; the hub's thread only, like the next two */
        struct arena scratch; /* of one event */
        bool has_new_kinds;   /* a CRD changed: kinds that were missing may be served now */

        struct mutex mutex; /* guards the fields below */
        struct waiters waiters;
        struct request *requests, *last_request;
        struct hub_kind *woken;
        bool is_closed;

        struct hub_subscription *crds;
        _Atomic uint64_t n_events;
};

static struct run hub_run(struct hub *h)
{
        return (struct run) { .arena = &h->scratch, .deadline = DEADLINE_NONE, .cancel = h->cancel, .user = h->user };
}

/* --- Waking the thread --- */

static void wake_kind(void *arg)
{
        struct hub_kind *k = arg;
        struct hub *h = k->hub;

        mutex_lock(&h->mutex);
        if (!k->is_woken) {
                k->is_woken = true;
                k->next_woken = h->woken;
                h->woken = k;
                waiters_grant(&h->waiters);
        }
        mutex_unlock(&h->mutex);
}

/* --- Telling --- */

static void tell(struct hub_subscription *s, const struct hub_event *e)
{
        if (s->subscriber.on_event)
                s->subscriber.on_event(s->subscriber.arg, e);
}

static void tell_synced(struct hub_subscription *s)
{
        if (s->subscriber.on_synced)
                s->subscriber.on_synced(s->subscriber.arg, s->kind->gvk);
}

static struct hub_event event_of(struct hub_kind *k, enum watch_event_type type, struct object *o, struct arena *a)
{
        const struct value *v = object_value(o, a);

        return (struct hub_event) {
                .type = type,
                .key = { .gvk = k->gvk, .ns = meta_namespace(v), .name = meta_name(v) },
                .version = object_version(o),
                .object = v,
        };
}

static bool hears_initial(const struct hub_kind *k, const struct hub_subscription *s)
{
        return s->wants_initial || k->was_lost;
}

static void tell_all(struct hub_kind *k, const struct hub_event *e)
{
        for (struct hub_subscription *s = k->subscriptions; s; s = s->next)
                if (!e->is_initial || hears_initial(k, s))
                        tell(s, e);
}

static void begin_initial(struct hub_kind *k)
{
        for (struct hub_subscription *s = k->subscriptions; k->is_beginning && s; s = s->next)
                if (hears_initial(k, s) && s->subscriber.on_begin)
                        s->subscriber.on_begin(s->subscriber.arg);
        k->is_beginning = false;
}

static void end_initial(struct hub_kind *k)
{
        for (struct hub_subscription *s = k->subscriptions; s; s = s->next)
                if (hears_initial(k, s))
                        tell_synced(s);
        k->is_initial = false;
        k->was_lost = false;
}

/* Tells one subscriber what exists; the watch goes on from an earlier version, so that nothing is missed in between. */
static int tell_existing(struct hub_subscription *s, struct err *err)
{
        struct hub *h = s->hub;
        struct run run = hub_run(h);
        struct list_request req = { .gvk = s->kind->gvk };
        struct list_cursor *cursor _cleanup_(list_cursor_freep)
        = NULL;
        struct object_list batch;
        int r = cluster_list_begin(h->cluster, &run, &req, &cursor, err);

        while (r >= 0 && (r = list_cursor_next(cursor, &run, &batch, err)) > 0) {
                for (size_t i = 0; i < batch.n; i++) {
                        struct hub_event e = event_of(s->kind, WATCH_ADDED, batch.objects[i], &h->scratch);

                        e.is_initial = true;
                        tell(s, &e);
                }
                arena_reset(&h->scratch);
        }
        if (r == 0)
                tell_synced(s);
        return r;
}

/* --- Watches --- */

static bool wants_initial(const struct hub_kind *k)
{
        for (const struct hub_subscription *s = k->subscriptions; s; s = s->next)
                if (s->wants_initial)
                        return true;
        return k->was_lost;
}

/* The version at which the API is now. */
static int find_version(struct hub_kind *k, struct run *run, struct str *ret, struct err *err)
{
        struct list_request req = { .gvk = k->gvk, .limit = 1 };
        struct object_list list;
        int r = cluster_list(k->hub->cluster, run, &req, &list, err);

        if (r == 0)
                *ret = list.resource_version;
        return r;
}

static int begin_watch(struct hub_kind *k, struct err *err)
{
        struct run run = hub_run(k->hub);
        struct watch_request req = { .gvk = k->gvk, .wants_bookmarks = true };
        int r = 0;

        if (k->version && !k->was_lost)
                req.resource_version = arena_printf(run.arena, "%" PRIu64, k->version);
        else if (wants_initial(k))
                req.sends_initial_events = true;
        else
                r = find_version(k, &run, &req.resource_version, err);
        /* A watch that ends before its first event is begun again where this one begins. */
        if (r == 0 && req.resource_version.n)
                k->version = resource_version_parse(req.resource_version);
        if (r == 0)
                r = cluster_watch(k->hub->cluster, &run, &req, &k->watch, err);
        k->is_initial = k->is_beginning = req.sends_initial_events;
        arena_reset(run.arena);
        return r;
}

/* Begins the watch, or notes when to try again. The error of a kind that is not served is no error. */
static void start_kind(struct hub_kind *k)
{
        _cleanup_err_ struct err err = { 0 };
        int r = begin_watch(k, &err);

        k->is_missing = r == ERR_NOT_FOUND;
        if (r == 0) {
                k->retry_ms = 0;
                k->retry_at = DEADLINE_NONE;
                wake_kind(k);
                return;
        }
        k->was_lost = true; /* objects may come and change before the watch begins */
        k->retry_ms = k->is_missing ? RETRY_MOST_MS
                                    : MIN(MAX(2 * k->retry_ms, (int64_t)RETRY_FIRST_MS), (int64_t)RETRY_MOST_MS);
        k->retry_at = deadline_after_ms(k->retry_ms);
        if (!k->is_missing)
                log_warn("cannot watch a kind; trying again", LOG_STR("kind", gvk_text(&k->hub->scratch, k->gvk)),
                         LOG_ERR("error", &err));
}

static void lose_watch(struct hub_kind *k, int r)
{
        watch_free(TAKE(k->watch));
        k->was_lost = k->was_lost || r != ERR_CLOSED || k->is_initial;
        start_kind(k);
}

static void take_event(struct hub_kind *k, const struct watch_event *e)
{
        k->version = MAX(k->version, e->version);
        begin_initial(k);
        if (e->type == WATCH_BOOKMARK) {
                if (e->ends_initial)
                        end_initial(k);
                return;
        }
        struct hub_event event = event_of(k, e->type, e->object, &k->hub->scratch);

        event.version = e->version;
        event.is_initial = k->is_initial;
        tell_all(k, &event);
        k->hub->n_events++;
}

/* Tells up to max events; true if there may be more. */
static bool drain(struct hub_kind *k, size_t max)
{
        struct run run = hub_run(k->hub);
        struct watch_wakeup wakeup = { wake_kind, k };

        for (size_t i = 0; i < max && k->watch; i++) {
                _cleanup_err_ struct err err = { 0 };
                struct watch_event e;
                int r = watch_try_next(k->watch, &run, wakeup, &e, &err);

                if (r == 1)
                        take_event(k, &e);
                arena_reset(&k->hub->scratch);
                if (r == 0)
                        return false;
                if (r < 0) {
                        lose_watch(k, r);
                        break;
                }
        }
        return k->watch != NULL;
}

/* --- Kinds --- */

static void free_kind(struct hub_kind *k)
{
        struct hub *h = k->hub;

        if (k->watch)
                watch_free(TAKE(k->watch)); /* the wakeup is not called from now on */
        mutex_lock(&h->mutex);
        for (struct hub_kind **p = &h->woken; *p; p = &(*p)->next_woken)
                if (*p == k) {
                        *p = k->next_woken;
                        break;
                }
        mutex_unlock(&h->mutex);
        map_remove(&h->kinds, k->key);
        arena_done(&k->arena);
        free(k);
}

static struct hub_kind *find_kind(struct hub *h, struct gvk gvk)
{
        struct str key = gvk_text(&h->scratch, gvk);
        struct hub_kind *k = map_get(&h->kinds, key);

        if (k)
                return k;
        k = xcalloc(1, sizeof(*k));
        k->hub = h;
        k->retry_at = DEADLINE_NONE;
        arena_init(&k->arena, "watched kind", 0);
        k->gvk = gvk_copy(&k->arena, gvk);
        k->key = arena_copy(&k->arena, key);
        map_add(&h->kinds, k->key, k);
        return k;
}

static void add_subscription(struct request *q)
{
        struct hub_subscription *s = q->subscription;
        struct hub_kind *k = find_kind(s->hub, q->gvk);

        s->kind = k;
        s->next = k->subscriptions;
        k->subscriptions = s;
        if (!k->watch && !k->is_missing)
                start_kind(k);
        else if (k->watch && s->wants_initial && !k->is_initial)
                tell_existing(s, &q->err);
}

static void remove_subscription(struct hub_subscription *s)
{
        struct hub_kind *k = s->kind;

        for (struct hub_subscription **p = &k->subscriptions; *p; p = &(*p)->next)
                if (*p == s) {
                        *p = s->next;
                        break;
                }
        if (!k->subscriptions)
                free_kind(k);
}

/* A subscriber that has an error is not one. */
static void handle(struct hub *h, struct request *q)
{
        switch (q->type) {
        case REQUEST_SUBSCRIBE:
                add_subscription(q);
                if (q->err.code)
                        remove_subscription(q->subscription);
                break;
        case REQUEST_UNSUBSCRIBE:
                remove_subscription(q->subscription);
                break;
        case REQUEST_SETTLE:
                for (struct map_entry *e = map_first(&h->kinds); e; e = map_next(&h->kinds, e))
                        while (drain(e->value, BATCH))
                                ;
                break;
        }
        arena_reset(&h->scratch);
        completion_complete(&q->is_done);
}

/* --- The thread --- */

static struct deadline next_retry(struct hub *h)
{
        struct deadline d = DEADLINE_NONE;

        for (struct map_entry *e = map_first(&h->kinds); e; e = map_next(&h->kinds, e)) {
                struct hub_kind *k = e->value;

                if (!k->watch)
                        d = deadline_earliest(d, k->retry_at);
        }
        return d;
}

static void retry_kinds(struct hub *h)
{
        bool has_new_kinds = h->has_new_kinds;

        h->has_new_kinds = false;
        for (struct map_entry *e = map_first(&h->kinds); e; e = map_next(&h->kinds, e)) {
                struct hub_kind *k = e->value;

                if (!k->watch && (deadline_has_passed(k->retry_at) || (k->is_missing && has_new_kinds)))
                        start_kind(k);
        }
        arena_reset(&h->scratch);
}

static struct hub_kind *take_woken(struct hub *h)
{
        struct hub_kind *k;

        mutex_lock(&h->mutex);
        k = h->woken;
        if (k) {
                h->woken = k->next_woken;
                k->is_woken = false;
        }
        mutex_unlock(&h->mutex);
        return k;
}

static struct request *take_request(struct hub *h)
{
        struct request *q;

        mutex_lock(&h->mutex);
        q = h->requests;
        if (q)
                h->requests = q->next;
        mutex_unlock(&h->mutex);
        return q;
}

/* False when the hub is closed. */
static bool wait_for_work(struct hub *h)
{
        struct deadline until = next_retry(h);
        bool is_closed;
        int r = 0;

        mutex_lock(&h->mutex);
        while (r == 0 && !h->is_closed && !h->woken && !h->requests && !h->has_new_kinds) {
                struct waiter w;

                waiters_append(&h->waiters, &w);
                r = waiters_wait(&h->waiters, &w, &h->mutex, "hub", NULL, until, NULL);
        }
        is_closed = h->is_closed;
        mutex_unlock(&h->mutex);
        return !is_closed;
}

static void hub_thread(void *arg)
{
        struct hub *h = arg;

        while (wait_for_work(h)) {
                struct request *q;
                struct hub_kind *k;

                while ((q = take_request(h)))
                        handle(h, q);
                k = take_woken(h);
                if (k && drain(k, BATCH))
                        wake_kind(k);
                retry_kinds(h);
        }
}

/* --- Requests --- */

static void submit(struct hub *h, struct request *q)
{
        completion_init(&q->is_done, "hub");
        mutex_lock(&h->mutex);
        *(h->requests ? &h->last_request->next : &h->requests) = q;
        h->last_request = q;
        waiters_grant(&h->waiters);
        mutex_unlock(&h->mutex);
        completion_wait(&q->is_done, DEADLINE_NONE,
                        NULL); /* the thread answers each request, whatever it waits for ends by its cancel */
        completion_done(&q->is_done);
}

int hub_subscribe(struct hub *h, struct gvk gvk, bool initial, const struct hub_subscriber *subscriber,
                  struct hub_subscription **ret, struct err *err)
{
        struct hub_subscription *s = xcalloc(1, sizeof(*s));
        struct request q = { .type = REQUEST_SUBSCRIBE, .gvk = gvk, .subscription = s };
        int r;

        *s = (struct hub_subscription) { .hub = h, .subscriber = *subscriber, .wants_initial = initial };
        submit(h, &q);
        r = q.err.code;
        if (r < 0) {
                err_move(err, &q.err);
                free(s);
                return r;
        }
        *ret = s;
        return 0;
}

void hub_unsubscribe(struct hub_subscription *s)
{
        struct request q = { .type = REQUEST_UNSUBSCRIBE, .subscription = s };

        if (!s)
                return;
        submit(s->hub, &q);
        free(s);
}

void hub_settle(struct hub *h)
{
        struct request q = { .type = REQUEST_SETTLE };

        submit(h, &q);
}

uint64_t hub_events(const struct hub *h)
{
        return h->n_events;
}

/* --- Life --- */

static void on_crd(void *arg, const struct hub_event *e _unused_)
{
        struct hub *h = arg;

        h->has_new_kinds = true;
}

int hub_new(struct cluster *cluster, const struct user *user, struct hub **ret, struct err *err)
{
        static const struct gvk crds = { STR_INIT("apiextensions.k8s.io"), STR_INIT("v1"),
                                         STR_INIT("CustomResourceDefinition") };
        struct hub *h = xcalloc(1, sizeof(*h));
        struct hub_subscriber subscriber = { .on_event = on_crd, .arg = h };
        int r;

        h->cluster = cluster;
        h->cancel = cancel_new(NULL);
        arena_init(&h->arena, "hub", 0);
        arena_init(&h->scratch, "hub event", 0);
        h->user = user_copy(&h->arena, user);
        mutex_init(&h->mutex);
        r = thread_start("hub", hub_thread, h, &h->thread, err);
        if (r == 0)
                r = hub_subscribe(h, crds, false, &subscriber, &h->crds, err);
        if (r < 0)
                hub_free(h);
        else
                *ret = h;
        return r;
}

void hub_free(struct hub *h)
{
        if (!h)
                return;
        cancel_trigger(h->cancel, "shutting down");
        if (h->thread) {
                hub_unsubscribe(h->crds);
                mutex_lock(&h->mutex);
                h->is_closed = true;
                waiters_grant(&h->waiters);
                mutex_unlock(&h->mutex);
                thread_join(h->thread);
        }
        assert(h->kinds.n == 0);
        map_done(&h->kinds);
        mutex_done(&h->mutex);
        arena_done(&h->scratch);
        arena_done(&h->arena);
        cancel_unref(h->cancel);
        free(h);
}
