#include "keeper.h"

#include "base64.h"
#include "buf.h"
#include "clock.h"
#include "jwt.h"
#include "log.h"
#include "pki.h"
#include "service-token.h"
#include "workqueue.h"

#define EVENT_TTL_MS    (60ll * 60 * 1000)
#define SWEEPS_PER_TTL  60  /* the time between two looks at all events is at least this part of their time */
#define EVENTS_PER_RUN  500 /* that one look deletes, so that other work has its turn */
#define SKEW_SECONDS    60  /* how far the clocks of clients may be ahead */
#define RETRY_FIRST_MS  100
#define RETRY_MOST_MS   60000
#define REOPEN_MS       1000        /* until a watch that could not begin is tried again */
#define EVENTS_PER_TURN 100         /* of one watch, before the others have their turn */
#define RUN_BYTES       (64u << 20) /* memory of one piece of work */

#define ACCOUNT_NAME    STR("default")
#define AUTHORITY_NAME  STR("kube-root-ca.crt")
#define TOKEN_TYPE      "kubernetes.io/service-account-token"
#define NAME_ANNOTATION STR("kubernetes.io/service-account.name")
#define UID_ANNOTATION  STR("kubernetes.io/service-account.uid")

enum { FOLLOW_NAMESPACES, FOLLOW_ACCOUNTS, FOLLOW_AUTHORITIES, FOLLOW_SECRETS, _FOLLOW_COUNT };

/* A watch of one kind. Watching thread only. */
struct follower {
        struct watch *watch;    /* NULL: it has to begin */
        struct deadline reopen; /* the earliest time for that */
};

struct keeper {
        struct cluster *cluster;
        struct pki *pki;
        int64_t event_ttl_ms;
        struct arena arena;         /* of the issuer's texts */
        struct token_issuer issuer; /* for Secrets */
        struct cancel *cancel;
        struct workqueue queue;  /* of keys: a letter, the namespace and the name, see struct task */
        struct thread *watching; /* threads */
        struct thread *working;
        struct follower followers[_FOLLOW_COUNT]; /* watching thread only */
        _Atomic bool is_woken;                    /* a watch may have an event */
        struct completion has_thread;             /* `watching` is set */
};

static struct run new_run(struct keeper *k, struct arena *a)
{
        static const struct str groups[] = { STR_INIT("system:masters") };

        return (struct run) { .arena = a,
                              .deadline = DEADLINE_NONE,
                              .cancel = k->cancel,
                              .user = { .name = STR("system:apiserver"), .groups = groups, .n_groups = 1 },
                              .cause = STR("housekeeping") };
}

/* --- Tasks --- */

enum task_type {
        TASK_NAMESPACE = 'n', /* complete a namespace */
        TASK_ACCOUNT = 'a',   /* an account is gone: look at the Secrets of its namespace */
        TASK_SECRET = 's',    /* fill a Secret, or delete it */
        TASK_EVENTS = 'e',    /* delete the events whose time is over; has no name */
};

/* Names and namespaces have no slash; the name is the rest. */
struct task {
        enum task_type type;
        struct str ns;
        struct str name;
};

static struct str key_of(struct arena *a, struct task t)
{
        char type[] = { (char)t.type, '/' };

        return ARENA_CONCAT(a, str_make(type, 2), t.ns, STR("/"), t.name);
}

static struct task task_of(struct str key)
{
        struct task t = { .type = (enum task_type)key.p[0] };
        struct str rest = str_skip(key, 2);

        str_split(&rest, '/', &t.ns);
        t.name = rest;
        return t;
}

static void add(struct keeper *k, struct arena *a, enum task_type type, struct str ns, struct str name)
{
        workqueue_add(&k->queue, key_of(a, (struct task) { type, ns, name }), NULL);
}

static struct object_key object_key(struct str kind, struct str ns, struct str name)
{
        return (struct object_key) { .gvk = { .version = STR("v1"), .kind = kind }, .ns = ns, .name = name };
}

static int write_object(struct keeper *k, struct run *run, enum write_verb verb, struct object_key key,
                        const struct value *body, struct err *err)
{
        struct write_request req = { .verb = verb, .key = key, .body = body, .manager = STR("weft") };
        struct write_result result;

        return cluster_write(k->cluster, run, &req, &result, err);
}

/* Only this version of the object. A conflict or an object that is gone is no error: its new version is looked at later. */
static int delete_version(struct keeper *k, struct run *run, struct object_key key, struct str uid, struct str version,
                          struct err *err)
{
        struct write_request req = { .verb = WRITE_DELETE,
                                     .key = key,
                                     .propagation = PROPAGATE_BACKGROUND,
                                     .precondition_uid = uid,
                                     .precondition_version = version };
        struct write_result result;
        int r = cluster_write(k->cluster, run, &req, &result, err);

        return r == ERR_CONFLICT || r == ERR_NOT_FOUND ? 0 : r;
}

static int delete_object(struct keeper *k, struct run *run, struct object_key key, const struct value *object,
                         struct err *err)
{
        return delete_version(k, run, key, meta_uid(object), meta_resource_version(object), err);
}

/* --- Namespaces --- */

static struct value text_object(struct arena *a, struct str key, struct str text)
{
        struct object_builder b;

        object_builder_init(&b, a, 1);
        object_builder_add(&b, key, value_of_str(text));
        return object_builder_finish(&b);
}

static const struct value *new_object(struct arena *a, struct object_key key)
{
        struct object_builder b, metadata;

        object_builder_init(&metadata, a, 2);
        object_builder_add(&metadata, STR("name"), value_of_str(key.name));
        object_builder_add(&metadata, STR("namespace"), value_of_str(key.ns));
        object_builder_init(&b, a, 4);
        object_builder_add(&b, STR("apiVersion"), value_of_literal("v1"));
        object_builder_add(&b, STR("kind"), value_of_str(key.gvk.kind));
        object_builder_add(&b, STR("metadata"), object_builder_finish(&metadata));
        return value_put(a, object_builder_finish(&b));
}

static int ensure_account(struct keeper *k, struct run *run, struct str ns, struct err *err)
{
        struct object_key key = object_key(STR("ServiceAccount"), ns, ACCOUNT_NAME);
        const struct value *account;
        int r = cluster_get_value(k->cluster, run, &key, &account, err);

        if (r != ERR_NOT_FOUND)
                return r;
        return write_object(k, run, WRITE_CREATE, key, new_object(run->arena, key), err);
}

/* The ConfigMap as it should be; what else a user wrote into its metadata stays. */
static const struct value *with_authority(struct arena *a, const struct value *map, const struct value *data)
{
        static const struct str description = STR_INIT(
                "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints "
                "such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across "
                "distributions of Kubernetes clusters.");

        map = meta_with_annotation(a, map, STR("kubernetes.io/description"), description);
        return value_with(a, map, STR("data"), data);
}

static int ensure_authority(struct keeper *k, struct run *run, struct str ns, struct err *err)
{
        struct object_key key = object_key(STR("ConfigMap"), ns, AUTHORITY_NAME);
        struct value data = text_object(run->arena, STR("ca.crt"), pki_authority(k->pki));
        const struct value *map;
        int r = cluster_get_value(k->cluster, run, &key, &map, err);

        if (r == ERR_NOT_FOUND)
                return write_object(k, run, WRITE_CREATE, key,
                                    with_authority(run->arena, new_object(run->arena, key), &data), err);
        if (r < 0 || value_equal(value_get(map, STR("data")), &data))
                return r;
        return write_object(k, run, WRITE_UPDATE, key, with_authority(run->arena, map, &data), err);
}

/* 1 if the namespace is there and stays. */
static int is_staying(struct keeper *k, struct run *run, struct str name, struct err *err)
{
        struct object_key key = object_key(STR("Namespace"), STR(""), name);
        const struct value *ns;
        int r = cluster_get_value(k->cluster, run, &key, &ns, err);

        if (r == ERR_NOT_FOUND)
                return 0;
        return r < 0 ? r : !meta_is_deleting(ns);
}

static int complete_namespace(struct keeper *k, struct run *run, struct task t, struct err *err)
{
        int r = is_staying(k, run, t.ns, err);

        if (r <= 0)
                return r;
        r = ensure_account(k, run, t.ns, err);
        if (r == 0 || r == ERR_EXISTS)
                r = ensure_authority(k, run, t.ns, err);
        if (r != ERR_FORBIDDEN && r != ERR_NOT_FOUND)
                return r;
        return is_staying(k, run, t.ns, NULL) == 0 ? 0 : r; /* it was deleted meanwhile */
}

/* --- Secrets with tokens --- */

static bool is_token_secret(const struct value *secret)
{
        return str_equal(value_str(value_get(secret, STR("type"))), STR(TOKEN_TYPE));
}

static int check_account(struct keeper *k, struct run *run, struct task t, struct err *err)
{
        struct list_request req = { .gvk = { .version = STR("v1"), .kind = STR("Secret") }, .ns = t.ns };
        struct object_list list;
        int r = cluster_list(k->cluster, run, &req, &list, err);

        for (size_t i = 0; r == 0 && i < list.n; i++) {
                const struct value *secret = object_list_value(&list, i, run->arena);

                if (is_token_secret(secret) && str_equal(meta_annotation(secret, NAME_ANNOTATION), t.name))
                        add(k, run->arena, TASK_SECRET, t.ns, meta_name(secret));
        }
        return r;
}

static struct value base64_value(struct arena *a, struct str bytes)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        base64_encode(&b, bytes, BASE64_STD);
        return value_of_str(buf_to_arena(&b, a));
}

/* The data that the Secret should have: a token that it has already stays. */
static int wanted_data(struct keeper *k, struct run *run, const struct value *secret, const struct value *account,
                       const struct value **ret, struct err *err)
{
        const struct value *data = value_get(secret, STR("data"));
        struct arena *a = run->arena;
        struct value authority = base64_value(a, pki_authority(k->pki));
        struct value ns = base64_value(a, meta_namespace(secret)), v;
        struct str token;
        int r;

        if (!value_is_object(data))
                data = &value_empty_object;
        data = value_with(a, data, STR("ca.crt"), &authority);
        data = value_with(a, data, STR("namespace"), &ns);
        if (value_str(value_get(data, STR("token"))).n == 0) {
                r = service_token_make_legacy(&k->issuer, a, meta_namespace(secret), meta_name(secret),
                                              meta_name(account), meta_uid(account), &token, err);
                if (r < 0)
                        return r;
                v = base64_value(a, token);
                data = value_with(a, data, STR("token"), &v);
        }
        *ret = data;
        return 0;
}

static int fill_secret(struct keeper *k, struct run *run, struct object_key key, const struct value *secret,
                       const struct value *account, struct err *err)
{
        const struct value *data, *filled;
        int r = wanted_data(k, run, secret, account, &data, err);

        if (r < 0)
                return r;
        filled = value_with(run->arena, secret, STR("data"), data);
        filled = meta_with_annotation(run->arena, filled, UID_ANNOTATION, meta_uid(account));
        if (value_equal(filled, secret))
                return 0;
        return write_object(k, run, WRITE_UPDATE, key, filled, err);
}

static int keep_secret(struct keeper *k, struct run *run, struct task t, struct err *err)
{
        struct object_key key = object_key(STR("Secret"), t.ns, t.name), account_key;
        const struct value *secret, *account;
        struct str uid;
        int r = cluster_get_value(k->cluster, run, &key, &secret, err);

        if (r == ERR_NOT_FOUND)
                return 0;
        if (r < 0 || meta_is_deleting(secret) || !is_token_secret(secret))
                return r;
        account_key = object_key(STR("ServiceAccount"), t.ns, meta_annotation(secret, NAME_ANNOTATION));
        uid = meta_annotation(secret, UID_ANNOTATION);
        r = cluster_get_value(k->cluster, run, &account_key, &account, err);
        if (r == ERR_NOT_FOUND || (r == 0 && uid.n && !str_equal(uid, meta_uid(account))))
                return delete_object(k, run, key, secret, err);
        return r < 0 ? r : fill_secret(k, run, key, secret, account, err);
}

/* --- Events --- */

static int64_t time_of(const struct value *v)
{
        struct instant t;

        if (!value_is_string(v) || time_parse_rfc3339(value_str(v), &t, NULL) < 0)
                return INT64_MIN;
        return t.seconds;
}

/* Milliseconds until the event's time is over: since it was last seen, as far as it says so itself. Times that lie further in the
 * future than clocks may differ do not count. */
static int64_t remaining_ms(const struct keeper *k, const struct value *event)
{
        const struct value *times[] = { value_find(event, "metadata", "creationTimestamp"),
                                        value_get(event, STR("lastTimestamp")), value_get(event, STR("eventTime")),
                                        value_find(event, "series", "lastObservedTime"),
                                        value_get(event, STR("deprecatedLastTimestamp")) };
        int64_t now = clock_wall().seconds, seen = INT64_MIN;

        for (size_t i = 0; i < ARRAY_SIZE(times); i++)
                if (time_of(times[i]) <= now + SKEW_SECONDS)
                        seen = MAX(seen, MIN(time_of(times[i]), now));
        if (seen == INT64_MIN)
                return 0;
        seen = MAX(seen, now - k->event_ttl_ms / 1000 - 1); /* older ones are over as well */
        return k->event_ttl_ms - (now - seen) * 1000;
}

struct expired_event {
        struct str ns, name, uid, version;
};

struct sweep {
        struct expired_event *expired; /* room for EVENTS_PER_RUN */
        size_t n;
        int64_t next_ms; /* until the time of the next event is over */
};

static void look_at_event(struct keeper *k, struct arena *a, struct sweep *s, const struct value *event)
{
        int64_t left_ms = remaining_ms(k, event);

        if (meta_is_deleting(event))
                return;
        if (left_ms > 0) {
                s->next_ms = MIN(s->next_ms, left_ms);
                return;
        }
        s->expired[s->n++] = (struct expired_event) {
                .ns = arena_copy(a, meta_namespace(event)),
                .name = arena_copy(a, meta_name(event)),
                .uid = arena_copy(a, meta_uid(event)),
                .version = arena_copy(a, meta_resource_version(event)),
        };
}

/* Looks at all events, or at as many as give enough to delete. */
static int find_expired(struct keeper *k, struct run *run, struct sweep *s, struct err *err)
{
        struct list_request req = { .gvk = { .version = STR("v1"), .kind = STR("Event") } };
        struct list_cursor *cursor _cleanup_(list_cursor_freep)
        = NULL;
        int r = cluster_list_begin(k->cluster, run, &req, &cursor, err);

        while (r >= 0 && s->n < EVENTS_PER_RUN) {
                _cleanup_arena_ struct arena scratch;
                struct object_list batch;
                struct run page;

                arena_init(&scratch, "housekeeping", RUN_BYTES);
                page = new_run(k, &scratch);
                r = list_cursor_next(cursor, &page, &batch, err);
                if (r <= 0)
                        return r;
                for (size_t i = 0; i < batch.n && s->n < EVENTS_PER_RUN; i++)
                        look_at_event(k, run->arena, s, object_peek(batch.objects[i], &scratch));
        }
        return r < 0 ? r : 0;
}

static int delete_expired(struct keeper *k, const struct expired_event *e, struct err *err)
{
        _cleanup_arena_ struct arena scratch;
        struct run run;

        arena_init(&scratch, "housekeeping", RUN_BYTES);
        run = new_run(k, &scratch);
        return delete_version(k, &run, object_key(STR("Event"), e->ns, e->name), e->uid, e->version, err);
}

/* An event that is made or seen again meanwhile lasts its whole time from then on, so nothing is missed until the next look. */
static int sweep_events(struct keeper *k, struct run *run, struct task t, struct err *err)
{
        struct sweep s = { .expired = ARENA_NEW_ARRAY(run->arena, struct expired_event, EVENTS_PER_RUN),
                           .next_ms = k->event_ttl_ms };
        int r = find_expired(k, run, &s, err);

        for (size_t i = 0; i < s.n && r >= 0; i++)
                r = delete_expired(k, &s.expired[i], err);
        if (r < 0)
                return r;
        workqueue_add_after(&k->queue, key_of(run->arena, t), NULL,
                            s.n == EVENTS_PER_RUN ? 0 : MAX(s.next_ms, k->event_ttl_ms / SWEEPS_PER_TTL));
        return 0;
}

/* --- The working thread --- */

static int work_on(struct keeper *k, struct run *run, struct task t, struct err *err)
{
        switch (t.type) {
        case TASK_NAMESPACE:
                return complete_namespace(k, run, t, err);
        case TASK_ACCOUNT:
                return check_account(k, run, t, err);
        case TASK_SECRET:
                return keep_secret(k, run, t, err);
        case TASK_EVENTS:
                return sweep_events(k, run, t, err);
        }
        return 0;
}

static void work(void *arg)
{
        struct keeper *k = arg;
        struct work *w;

        while (workqueue_take(&k->queue, &w, DEADLINE_NONE, k->cancel) == 0) {
                _cleanup_err_ struct err err = { 0 };
                _cleanup_arena_ struct arena a;
                struct run run;

                arena_init(&a, "housekeeping", RUN_BYTES);
                run = new_run(k, &a);
                if (work_on(k, &run, task_of(w->key), &err) >= 0) {
                        workqueue_forget(&k->queue, w->key);
                } else {
                        if (!cancel_is_triggered(k->cancel) && err.code != ERR_CONFLICT)
                                log_warn("housekeeping failed and is tried again", LOG_STR("key", w->key),
                                         LOG_ERR("error", &err));
                        workqueue_add_after_failure(&k->queue, w->key, NULL);
                }
                workqueue_finish(&k->queue, w);
        }
}

/* --- The watching thread --- */

static const struct {
        struct str kind;
        struct str fields; /* selector */
} kinds[_FOLLOW_COUNT] = {
        [FOLLOW_NAMESPACES] = { STR_INIT("Namespace"), STR_INIT("") },
        [FOLLOW_ACCOUNTS] = { STR_INIT("ServiceAccount"), STR_INIT("") },
        [FOLLOW_AUTHORITIES] = { STR_INIT("ConfigMap"), STR_INIT("metadata.name=kube-root-ca.crt") },
        [FOLLOW_SECRETS] = { STR_INIT("Secret"), STR_INIT("type=" TOKEN_TYPE) },
};

static void see_account(struct keeper *k, struct arena *a, const struct watch_event *e, struct str ns, struct str name)
{
        if (e->type != WATCH_DELETED)
                return;
        add(k, a, TASK_ACCOUNT, ns, name);
        if (str_equal(name, ACCOUNT_NAME))
                add(k, a, TASK_NAMESPACE, ns, STR(""));
}

static void see(struct keeper *k, size_t which, struct arena *a, const struct watch_event *e)
{
        const struct value *object = object_peek(e->object, a);
        struct str ns = meta_namespace(object), name = meta_name(object);

        switch (which) {
        case FOLLOW_NAMESPACES:
                if (e->type == WATCH_ADDED)
                        add(k, a, TASK_NAMESPACE, name, STR(""));
                break;
        case FOLLOW_ACCOUNTS:
                see_account(k, a, e, ns, name);
                break;
        case FOLLOW_AUTHORITIES:
                if (e->type != WATCH_ADDED)
                        add(k, a, TASK_NAMESPACE, ns, STR(""));
                break;
        case FOLLOW_SECRETS:
                if (e->type != WATCH_DELETED)
                        add(k, a, TASK_SECRET, ns, name);
                break;
        }
}

static void wake(void *arg)
{
        struct keeper *k = arg;

        atomic_store(&k->is_woken, true);
        unpark(k->watching);
}

static void begin(struct keeper *k, size_t which)
{
        struct follower *f = &k->followers[which];
        _cleanup_err_ struct err err = { 0 };
        _cleanup_arena_ struct arena a;
        struct field_selector fields;
        struct watch_request req = { .gvk = { .version = STR("v1"), .kind = kinds[which].kind } };
        struct run run;
        int r = 0;

        arena_init(&a, "housekeeping", RUN_BYTES);
        run = new_run(k, &a);
        if (kinds[which].fields.n) {
                r = field_selector_parse(&a, kinds[which].fields, &fields, &err);
                req.fields = &fields;
        }
        if (r >= 0)
                r = cluster_watch(k->cluster, &run, &req, &f->watch, &err);
        if (r >= 0)
                return;
        f->watch = NULL;
        f->reopen = deadline_after_ms(REOPEN_MS);
        if (!cancel_is_triggered(k->cancel))
                log_warn("housekeeping cannot watch and tries again", LOG_STR("kind", kinds[which].kind),
                         LOG_ERR("error", &err));
}

/* Takes what there is, up to a number. False if there may be more. */
static bool follow(struct keeper *k, size_t which)
{
        struct follower *f = &k->followers[which];

        if (!f->watch && deadline_has_passed(f->reopen))
                begin(k, which);
        for (size_t i = 0; f->watch && i < EVENTS_PER_TURN; i++) {
                _cleanup_err_ struct err err = { 0 };
                _cleanup_arena_ struct arena a;
                struct watch_event event;
                struct run run;
                int r;

                arena_init(&a, "housekeeping", RUN_BYTES);
                run = new_run(k, &a);
                r = watch_try_next(f->watch, &run, (struct watch_wakeup) { .call = wake, .arg = k }, &event, &err);
                if (r == 0)
                        return true;
                if (r > 0 && event.object) {
                        see(k, which, &a, &event);
                } else if (r < 0) { /* expired or closed: all objects again */
                        watch_free(TAKE(f->watch));
                        f->reopen = deadline_after_ms(r == ERR_EXPIRED || r == ERR_CLOSED ? 0 : REOPEN_MS);
                        return false;
                }
        }
        return !f->watch;
}

static struct deadline earliest_reopen(const struct keeper *k)
{
        struct deadline d = DEADLINE_NONE;

        for (size_t i = 0; i < _FOLLOW_COUNT; i++)
                if (!k->followers[i].watch)
                        d = deadline_earliest(d, k->followers[i].reopen);
        return d;
}

static void watch_all(void *arg)
{
        struct keeper *k = arg;

        if (completion_wait(&k->has_thread, DEADLINE_NONE, k->cancel) < 0)
                return;
        while (!cancel_is_triggered(k->cancel)) {
                bool is_done = true;

                atomic_store(&k->is_woken, false);
                for (size_t i = 0; i < _FOLLOW_COUNT; i++)
                        is_done = follow(k, i) && is_done;
                while (is_done && !atomic_load(&k->is_woken) &&
                       park("housekeeping", "watches", earliest_reopen(k), k->cancel) == 0)
                        ;
        }
        for (size_t i = 0; i < _FOLLOW_COUNT; i++)
                if (k->followers[i].watch)
                        watch_free(TAKE(k->followers[i].watch));
}

/* --- The whole --- */

static int start_threads(struct keeper *k, struct err *err)
{
        int r = thread_start("keeper-watch", watch_all, k, &k->watching, err);

        if (r == 0) {
                completion_complete(&k->has_thread);
                r = thread_start("keeper-work", work, k, &k->working, err);
        }
        return r;
}

int keeper_start(const struct keeper_options *options, struct keeper **ret, struct err *err)
{
        struct keeper *k = xcalloc(1, sizeof(*k));
        int r;

        k->cluster = options->cluster;
        k->pki = options->pki;
        k->event_ttl_ms = options->event_ttl_ms ? options->event_ttl_ms : EVENT_TTL_MS;
        k->cancel = cancel_new(NULL);
        arena_init(&k->arena, "housekeeping", 0);
        k->issuer.key = pki_token_key(k->pki);
        k->issuer.key_id = jwt_key_id(&k->arena, k->issuer.key);
        completion_init(&k->has_thread, "keeper");
        workqueue_init(&k->queue, &(struct workqueue_options) { .name = "housekeeping",
                                                                .backoff_first_ms = RETRY_FIRST_MS,
                                                                .backoff_most_ms = RETRY_MOST_MS });
        add(k, &k->arena, TASK_EVENTS, STR(""), STR(""));
        r = start_threads(k, err);
        if (r < 0) {
                keeper_free(k);
                return r;
        }
        *ret = k;
        return 0;
}

void keeper_free(struct keeper *k)
{
        if (!k)
                return;
        cancel_trigger(k->cancel, "the server stops");
        workqueue_close(&k->queue);
        if (k->watching)
                thread_join(k->watching);
        if (k->working)
                thread_join(k->working);
        workqueue_done(&k->queue);
        completion_done(&k->has_thread);
        cancel_unref(k->cancel);
        arena_done(&k->arena);
        free(k);
}
