/* A store's log in memory, for tests. It can be slow, be held, or fail and keep a part of the failed batch. It checks that no
 * invalid batch is appended. */
#pragma once

#include "store-model.h"

#include "store-log.h"
#include "vec.h"

enum log_failure {
        LOG_KEEPS_NOTHING, /* of the failed batch */
        LOG_KEEPS_SOME,    /* the first half */
        LOG_KEEPS_ALL,
};

struct kept_record {
        struct arena arena;
        struct store_record record;
        struct str table; /* GROUP/KIND */
        struct str key;   /* GROUP/KIND NAMESPACE/NAME */
};

struct memory_log {
        struct store_log log;

        /* Set before the store is made. */
        int64_t least_ns; /* an append takes at least this long */
        int64_t most_ns;  /* and up to twice this longer */
        size_t fails_at;  /* the number of the append that fails; 0: never */
        enum log_failure failure;
        uint64_t floor; /* of a replay */

        struct mutex mutex; /* guards the rest */
        VEC(struct kept_record *) records;
        size_t n_appends;
        size_t largest_batch;
        bool has_failed;
        bool is_held; /* appends wait */
        struct waiters held;
        struct waiters arrivals; /* threads that wait until an append is held */
        bool has_arrived;
};

/* --- Kept records --- */

static inline struct kept_record *keep(const struct store_record *r)
{
        struct kept_record *k = xcalloc(1, sizeof(*k));
        struct arena *a = &k->arena;

        arena_init(a, "record", 1);
        k->record = *r;
        k->record.group = arena_copy(a, r->group);
        k->record.kind = arena_copy(a, r->kind);
        k->record.namespace_name = arena_copy(a, r->namespace_name);
        k->record.name = arena_copy(a, r->name);
        k->record.bytes = arena_copy(a, r->bytes);
        k->table = arena_printf(a, "%.*s/%.*s", STR_ARG(r->group), STR_ARG(r->kind));
        k->key = arena_printf(a, "%.*s %.*s/%.*s", STR_ARG(k->table), STR_ARG(r->namespace_name), STR_ARG(r->name));
        return k;
}

/* Under the mutex: the newest record of the key up to the version, or NULL. */
static inline const struct kept_record *log_newest(const struct memory_log *l, struct str key, uint64_t version)
{
        for (size_t i = l->records.n; i-- > 0;)
                if (l->records.p[i]->record.version <= version && str_equal(l->records.p[i]->key, key))
                        return l->records.p[i];
        return NULL;
}

/* Under the mutex: the version of the object at a version, 0 when it did not exist. */
static inline uint64_t log_state(const struct memory_log *l, struct str key, uint64_t version)
{
        const struct kept_record *k = log_newest(l, key, version);

        return k && !k->record.is_removed ? k->record.version : 0;
}

static inline uint64_t log_last(const struct memory_log *l)
{
        return l->records.n ? (*vec_last(&l->records))->record.version : 0;
}

/* --- Invariants of a batch --- */

static inline bool is_of(const struct kept_record *k, const char *table)
{
        return str_equal(k->table, str_from(table));
}

#define CRDS_TABLE "apiextensions.k8s.io/CustomResourceDefinition"

/* Whether crd is the CRD of the object. Widgets and gadgets are the kinds of the tests; a CRD's name begins with the plural. */
static inline bool is_crd_of(const struct kept_record *crd, const struct kept_record *object)
{
        return is_of(crd, CRDS_TABLE) &&
               ((is_of(object, "example.org/Widget") && str_starts_with(crd->record.name, STR("widgets."))) ||
                (is_of(object, "example.org/Gadget") && str_starts_with(crd->record.name, STR("gadgets."))));
}

static inline bool is_created_in(const struct kept_record *home, const struct kept_record *object)
{
        return is_of(home, "/Namespace") && object->record.previous == 0 &&
               str_equal(object->record.namespace_name, home->record.name);
}

static inline bool may_share(const struct kept_record *a, const struct kept_record *b)
{
        return !str_equal(a->key, b->key) && !is_crd_of(a, b) && !is_crd_of(b, a) && !is_created_in(a, b) &&
               !is_created_in(b, a);
}

/* Versions have no gaps, and every record names the version that it replaces. */
static inline void check_record(const struct memory_log *l, const struct kept_record *k)
{
        const struct store_record *r = &k->record;

        CHECK(r->version == log_last(l) + 1);
        CHECK(r->previous == log_state(l, k->key, r->version));
        CHECK(r->is_removed ? r->previous && r->bytes.n == 0 : r->bytes.n > 0);
}

/* --- The log --- */

static inline void await_release(struct memory_log *l)
{
        while (l->is_held) {
                struct waiter w;

                l->has_arrived = true;
                while (waiters_grant(&l->arrivals))
                        ;
                waiters_append(&l->held, &w);
                waiters_wait(&l->held, &w, &l->mutex, "held", "log", DEADLINE_NONE, NULL);
        }
}

static inline size_t count_kept(const struct memory_log *l, size_t n)
{
        switch (l->failure) {
        case LOG_KEEPS_NOTHING:
                return 0;
        case LOG_KEEPS_SOME:
                return n / 2;
        case LOG_KEEPS_ALL:
                return n;
        }
        return 0;
}

static inline void drop_last(struct memory_log *l)
{
        struct kept_record *k = vec_pop(&l->records);

        arena_done(&k->arena);
        free(k);
}

/* Checks the whole batch and keeps the first n_kept records. */
static inline void keep_batch(struct memory_log *l, const struct store_record *records, size_t n, size_t n_kept)
{
        for (size_t i = 0; i < n; i++) {
                struct kept_record *k = keep(&records[i]);

                check_record(l, k);
                for (size_t j = 0; j < i; j++)
                        CHECK(may_share(l->records.p[l->records.n - 1 - j], k));
                vec_push(&l->records, k);
        }
        for (size_t i = n_kept; i < n; i++)
                drop_last(l);
}

static inline void take_time(const struct memory_log *l, int64_t ns)
{
        if (l->most_ns)
                ns += (int64_t)(random_system_u64() % (uint64_t)l->most_ns);
        if (ns)
                thread_sleep(deadline_after_ns(ns), NULL);
}

static inline int memory_log_append(struct store_log *log, const struct store_record *records, size_t n,
                                    struct err *err)
{
        struct memory_log *l = CONTAINER_OF(log, struct memory_log, log);
        bool fails;

        take_time(l, l->least_ns);
        mutex_lock(&l->mutex);
        CHECK(n > 0 && !l->has_failed);
        await_release(l);
        fails = ++l->n_appends == l->fails_at;
        l->largest_batch = MAX(l->largest_batch, n);
        keep_batch(l, records, n, fails ? count_kept(l, n) : n);
        l->has_failed = fails;
        mutex_unlock(&l->mutex);
        take_time(l, 0);
        return fails ? err_set(err, ERR_SYSTEM, "the disk is gone") : 0;
}

/* Gives the records as if the history began after the version `floor` of the log. */
static inline int memory_log_replay(struct store_log *log, const struct store_replay *to, struct err *err)
{
        struct memory_log *l = CONTAINER_OF(log, struct memory_log, log);
        int r = to->begin(to->arg, l->floor, log_last(l), err);

        for (size_t i = 0; i < l->records.n && r == 0; i++) {
                struct kept_record *k = l->records.p[i];
                struct store_record record = k->record;

                record.is_state = record.version <= l->floor;
                if (!record.is_state || log_state(l, k->key, l->floor) == record.version)
                        r = to->record(to->arg, &record, err);
        }
        return r;
}

static inline void memory_log_init(struct memory_log *l)
{
        static const struct store_log_ops ops = { .append = memory_log_append, .replay = memory_log_replay };

        *l = (struct memory_log) { .log.ops = &ops };
        mutex_init(&l->mutex);
}

static inline void memory_log_done(struct memory_log *l)
{
        while (l->records.n)
                drop_last(l);
        vec_done(&l->records);
        mutex_done(&l->mutex);
}

static inline void memory_log_hold(struct memory_log *l)
{
        mutex_lock(&l->mutex);
        l->is_held = true;
        l->has_arrived = false;
        mutex_unlock(&l->mutex);
}

static inline void memory_log_release(struct memory_log *l)
{
        mutex_lock(&l->mutex);
        l->is_held = false;
        while (waiters_grant(&l->held))
                ;
        mutex_unlock(&l->mutex);
}

/* Waits until an append is held. */
static inline void memory_log_await_arrival(struct memory_log *l)
{
        mutex_lock(&l->mutex);
        while (!l->has_arrived) {
                struct waiter w;

                waiters_append(&l->arrivals, &w);
                waiters_wait(&l->arrivals, &w, &l->mutex, "arrival", "log", DEADLINE_NONE, NULL);
        }
        mutex_unlock(&l->mutex);
}

/* --- Promised writes --- */

/* A promise whose caller waits for it, as a server does without a thread. */
struct kept_promise {
        struct write_promise promise;
        struct completion settled;
        struct err err;
};

static inline void settle_kept_promise(struct write_promise *p, const struct err *err)
{
        struct kept_promise *k = CONTAINER_OF(p, struct kept_promise, promise);

        CHECK(!completion_is_done(&k->settled));
        if (err)
                err_copy(&k->err, err);
        completion_complete(&k->settled);
}

static inline void kept_promise_init(struct kept_promise *k)
{
        *k = (struct kept_promise) { .promise.settle = settle_kept_promise };
        completion_init(&k->settled, "promise");
}

static inline void kept_promise_done(struct kept_promise *k)
{
        completion_done(&k->settled);
        err_done(&k->err);
}

/* Called when a write has returned: waits until it is done, if it was only promised. */
static inline int kept_promise_wait(struct kept_promise *k, int r, struct err *err)
{
        if (r < 0 || !k->promise.is_given)
                return r;
        CHECK(completion_wait(&k->settled, DEADLINE_NONE, NULL) == 0);
        return k->err.code ? err_move(err, &k->err) : 0;
}
