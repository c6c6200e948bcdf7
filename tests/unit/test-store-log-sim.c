/* The store on a log in simulation: every schedule is another order of writers, readers, watchers, the collector and the log, which is
 * slow, or fails, or ends in the middle of a batch.
 *
 * Every object that is read is in the log when it is read. A write that its caller was told to be done is in the log, a write that
 * was refused is not, and all other writes were said to be unknown. No version is used twice. WEFT_SCHEDULES is the number of
 * schedules; WEFT_SEED is the first of them. */
#include "memory-log.h"

#include "compact.h"
#include "log.h"

enum { WRITERS = 3, OPERATIONS = 7, MARKS = 256 };

enum fate {
        FATE_NONE,
        FATE_DONE,
        FATE_REFUSED,
        FATE_UNKNOWN,
};

/* One schedule. */
struct trial {
        struct memory_log log;
        struct store *store;
        struct cluster *cluster;
        struct cancel *stop; /* of readers and watchers */
        _Atomic unsigned n_marks;
        _Atomic uint8_t fates[MARKS]; /* of writes, each of which carries its number as spec.mark */
        bool has_deadlines;
};

/* Counts over all schedules: a simulation in which nothing goes wrong proves nothing. */
static struct {
        uint64_t n_done, n_unknown, n_failed, n_refused, n_waited, n_batched, n_reads, n_events, n_promised;
} seen;

/* One look at the store: what it shows lies between the version at the start and what is logged at the end. */
struct look {
        struct trial *trial;
        struct arena arena;
        struct run run;
        struct err err;
        uint64_t version; /* of the store when it began */
};

static void look_init(struct look *l, struct trial *t)
{
        *l = (struct look) { .trial = t };
        arena_init(&l->arena, "look", 0);
        l->run = (struct run) { .arena = &l->arena, .deadline = DEADLINE_NONE };
        l->version = store_version(t->store);
}

static void look_done(struct look *l)
{
        err_done(&l->err);
        arena_done(&l->arena);
}

static struct str log_key(struct arena *a, const struct object_key *key)
{
        return arena_printf(a, "%.*s/%.*s %.*s/%.*s", STR_ARG(key->gvk.group), STR_ARG(key->gvk.kind), STR_ARG(key->ns),
                            STR_ARG(key->name));
}

/* Whether the object could be seen at that version of it (0: not there), at some moment of the look. */
static bool could_see(struct look *l, const struct object_key *key, uint64_t version)
{
        struct memory_log *log = &l->trial->log;
        struct str text = log_key(&l->arena, key);
        bool could = false;

        mutex_lock(&log->mutex);
        for (uint64_t v = l->version; v <= log_last(log) && !could; v++)
                could = log_state(log, text, v) == version;
        mutex_unlock(&log->mutex);
        return could;
}

static bool could_be_there(struct look *l, const struct object_key *key)
{
        struct memory_log *log = &l->trial->log;
        struct str text = log_key(&l->arena, key);
        bool could = false;

        mutex_lock(&log->mutex);
        for (uint64_t v = l->version; v <= log_last(log) && !could; v++)
                could = log_state(log, text, v) != 0;
        mutex_unlock(&log->mutex);
        return could;
}

static bool is_widget(const struct object_key *key)
{
        return str_equal(key->gvk.kind, STR("Widget"));
}

static const struct value *decoded(struct arena *a, const struct kept_record *k)
{
        const struct value *v = NULL;

        CHECK(compact_decode(a, k->record.bytes, &v, NULL) == 0);
        return v;
}

/* The log has the object as it was shown. Other kinds than widgets may be shown in another form than they are kept in. */
static bool is_logged(struct look *l, const struct object_key *key, struct object *o)
{
        struct memory_log *log = &l->trial->log;
        const struct value *spec = value_get(object_value(o, &l->arena), STR("spec"));
        const struct kept_record *k;
        bool is;

        mutex_lock(&log->mutex);
        k = log_newest(log, log_key(&l->arena, key), object_version(o));
        is = k && k->record.version == object_version(o) && !k->record.is_removed &&
             (!is_widget(key) || value_equal(value_get(decoded(&l->arena, k), STR("spec")), spec));
        mutex_unlock(&log->mutex);
        return is;
}

static uint64_t last_logged(struct trial *t)
{
        uint64_t version;

        mutex_lock(&t->log.mutex);
        version = log_last(&t->log);
        mutex_unlock(&t->log.mutex);
        return version;
}

/* --- What is written --- */

static struct gvk gadget_gvk(void)
{
        return (struct gvk) { STR("example.org"), STR("v1"), STR("Gadget") };
}

static struct object_key namespace_key(void)
{
        return key_of((struct gvk) { STR(""), STR("v1"), STR("Namespace") }, "", "team");
}

static struct object_key crd_key(void)
{
        return key_of((struct gvk) { STR("apiextensions.k8s.io"), STR("v1"), STR("CustomResourceDefinition") }, "",
                      "gadgets.example.org");
}

static struct object_key some_key(struct look *l)
{
        uint64_t n = random_system_u64();

        return (struct object_key) { .gvk = n % 4 ? widget_gvk() : gadget_gvk(),
                                     .ns = n / 4 % 3 ? STR("default") : STR("team"),
                                     .name = arena_printf(&l->arena, "o%u", (unsigned)(n / 16 % 3)) };
}

static const struct value *quoted_json(struct arena *a, struct str text)
{
        char *p = arena_alloc(a, text.n + 1);
        const struct value *v = NULL;

        for (size_t i = 0; i < text.n; i++)
                p[i] = text.p[i] == '\'' ? '"' : text.p[i];
        CHECK(json_parse(a, str_make(p, text.n), NULL, &v, NULL) == 0);
        return v;
}

static unsigned new_mark(struct trial *t)
{
        unsigned mark = t->n_marks++;

        CHECK(mark < MARKS);
        return mark;
}

static const struct value *marked_object(struct look *l, const struct object_key *key, unsigned mark)
{
        return quoted_json(&l->arena,
                           arena_printf(&l->arena,
                                        "{'apiVersion':'example.org/v1','kind':'%.*s','metadata':{'name':'%.*s',"
                                        "'namespace':'%.*s'},'spec':{'mark':%u}}",
                                        STR_ARG(key->gvk.kind), STR_ARG(key->name), STR_ARG(key->ns), mark));
}

static const struct value *crd(struct look *l)
{
        return quoted_json(&l->arena,
                           STR("{'apiVersion':'apiextensions.k8s.io/v1','kind':'CustomResourceDefinition',"
                               "'metadata':{'name':'gadgets.example.org'},'spec':{'group':'example.org',"
                               "'scope':'Namespaced','names':{'plural':'gadgets','kind':'Gadget'},'versions':[{"
                               "'name':'v1','served':true,'storage':true,'schema':{'openAPIV3Schema':{'type':'object',"
                               "'x-kubernetes-preserve-unknown-fields':true}}}]}}"));
}

/* --- What callers are told --- */

static bool says(const struct err *err, const char *text)
{
        return str_find(str_from(err_message(err)), str_from(text)) >= 0;
}

/* Which of the three an error means for the write. */
static enum fate fate_of_error(const struct err *err)
{
        if (says(err, "the write may have happened")) {
                CHECK(err->reason == REASON_TIMEOUT && (err->code == ERR_TIMEOUT || err->code == ERR_CANCELED));
                seen.n_unknown++;
                return FATE_UNKNOWN;
        }
        if (says(err, "cannot log the write")) {
                CHECK(err->reason == REASON_INTERNAL_ERROR && says(err, "the disk is gone"));
                seen.n_failed++;
                return FATE_UNKNOWN;
        }
        if (says(err, "takes no more writes")) {
                CHECK(err->reason == REASON_SERVICE_UNAVAILABLE);
                seen.n_refused++;
        }
        seen.n_waited += says(err, "waiting for an earlier write");
        return FATE_REFUSED;
}

static void check_done(struct look *l, const struct object_key *key, const struct write_result *result)
{
        if (result->is_removed) {
                CHECK(could_see(l, key, 0));
        } else if (result->is_changed) {
                CHECK(is_logged(l, key, result->object));
        } else if (result->object && object_version(result->object)) {
                CHECK(could_see(l, key, object_version(result->object)));
        }
}

/* Half of the callers take a promise instead of waiting in the store. */
static int write_somehow(struct look *l, struct write_request req, struct write_result *ret)
{
        struct kept_promise promise;
        int r;

        kept_promise_init(&promise);
        req.promise = random_system_u64() % 2 ? &promise.promise : NULL;
        r = cluster_write(l->trial->cluster, &l->run, &req, ret, &l->err);
        seen.n_promised += promise.promise.is_given;
        r = kept_promise_wait(&promise, r, &l->err);
        kept_promise_done(&promise);
        return r;
}

/* Writes, and checks the answer against the log. */
static int write_checked(struct look *l, const struct write_request *req, enum fate *ret_fate)
{
        struct write_result result = { 0 };
        int r;

        if (l->trial->has_deadlines && random_system_u64() % 3 == 0)
                l->run.deadline = deadline_after_ns((int64_t)(random_system_u64() % 4000000));
        r = write_somehow(l, *req, &result);
        CHECK(r == l->err.code);
        l->run.deadline = DEADLINE_NONE;
        if (r == 0 && !req->is_dry_run)
                check_done(l, &req->key, &result);
        if (r == ERR_EXISTS)
                CHECK(could_be_there(l, &req->key));
        if (r == ERR_NOT_FOUND && req->verb != WRITE_CREATE)
                CHECK(could_see(l, &req->key, 0));
        *ret_fate = r == 0 ? FATE_DONE : fate_of_error(&l->err);
        if (r == 0 && req->is_dry_run)
                *ret_fate = FATE_REFUSED;
        seen.n_done += *ret_fate == FATE_DONE;
        return r;
}

static void write_marked(struct look *l, enum write_verb verb)
{
        struct write_request req = { .verb = verb, .key = some_key(l) };
        unsigned mark = new_mark(l->trial);
        enum fate fate;

        req.is_dry_run = random_system_u64() % 8 == 0;
        req.body = verb == WRITE_CREATE ? marked_object(l, &req.key, mark)
                                        : quoted_json(&l->arena, arena_printf(&l->arena, "{'spec':{'mark':%u}}", mark));
        write_checked(l, &req, &fate);
        l->trial->fates[mark] = (uint8_t)fate;
}

static void write_unmarked(struct look *l, enum write_verb verb, struct object_key key, const struct value *body)
{
        struct write_request req = { .verb = verb, .key = key, .body = body };
        enum fate fate;

        write_checked(l, &req, &fate);
}

/* Changes nothing, so that it must not reach the log: all versions there are of others. */
static void write_nothing(struct look *l)
{
        write_unmarked(l, WRITE_MERGE_PATCH, some_key(l), quoted_json(&l->arena, STR("{'metadata':{'labels':null}}")));
}

static void write_one(struct look *l)
{
        switch (random_system_u64() % 12) {
        case 0:
        case 1:
        case 2:
                write_marked(l, WRITE_CREATE);
                break;
        case 3:
        case 4:
        case 5:
                write_marked(l, WRITE_MERGE_PATCH);
                break;
        case 6:
                write_nothing(l);
                break;
        case 7:
                write_unmarked(l, WRITE_CREATE, namespace_key(),
                               quoted_json(&l->arena,
                                           STR("{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'team'}}")));
                break;
        case 8:
                write_unmarked(l, WRITE_DELETE, namespace_key(), NULL);
                break;
        case 9:
                write_unmarked(l, WRITE_CREATE, crd_key(), crd(l));
                break;
        case 10:
                write_unmarked(l, WRITE_DELETE, crd_key(), NULL);
                break;
        default:
                write_unmarked(l, WRITE_DELETE, some_key(l), NULL);
                break;
        }
}

static void write_some(void *arg)
{
        for (int i = 0; i < OPERATIONS; i++) {
                struct look l;

                look_init(&l, arg);
                write_one(&l);
                look_done(&l);
        }
}

/* --- What readers see --- */

static void get_one(struct look *l)
{
        struct get_request req = { .key = some_key(l) };
        struct object *o = NULL;
        int r = cluster_get(l->trial->cluster, &l->run, &req, &o, &l->err);

        CHECK(r == 0 || r == ERR_NOT_FOUND);
        CHECK(could_see(l, &req.key, r == 0 ? object_version(o) : 0));
        CHECK(r < 0 || is_logged(l, &req.key, o));
}

/* A reader that waits for a version sees no more than others. */
static void get_next(struct look *l)
{
        struct get_request req = { .key = some_key(l) };
        struct object *o = NULL;
        int r;

        req.resource_version = arena_printf(&l->arena, "%llu", (unsigned long long)l->version + 1);
        l->run.deadline = deadline_after_ms(2);
        l->run.cancel = l->trial->stop;
        r = cluster_get(l->trial->cluster, &l->run, &req, &o, &l->err);
        if (r == 0 || r == ERR_NOT_FOUND)
                CHECK(r == ERR_NOT_FOUND || is_logged(l, &req.key, o));
        else
                CHECK(r == ERR_TIMEOUT || r == ERR_CANCELED);
        CHECK(r < 0 || last_logged(l->trial) > l->version);
}

/* Under the log's mutex: how many objects of the kind there are at the version. */
static size_t count_at(const struct memory_log *log, struct str table, uint64_t version)
{
        size_t n = 0;

        for (size_t i = 0; i < log->records.n && log->records.p[i]->record.version <= version; i++) {
                const struct kept_record *k = log->records.p[i];

                n += str_equal(k->table, table) && log_state(log, k->key, version) == k->record.version;
        }
        return n;
}

/* A list is exactly what the log gives at its version. */
static void list_all(struct look *l)
{
        struct list_request req = { .gvk = widget_gvk() };
        struct memory_log *log = &l->trial->log;
        struct object_list list = { 0 };
        uint64_t version;

        CHECK(cluster_list(l->trial->cluster, &l->run, &req, &list, &l->err) == 0);
        version = strtoull(arena_cstring(&l->arena, list.resource_version), NULL, 10);
        mutex_lock(&log->mutex);
        CHECK(version >= l->version && version <= log_last(log));
        CHECK(list.n == count_at(log, STR("example.org/Widget"), version));
        for (size_t i = 0; i < list.n; i++) {
                struct object_key key = object_key_of(object_list_value(&list, i, &l->arena));

                CHECK(log_state(log, log_key(&l->arena, &key), version) == object_version(list.objects[i]));
        }
        mutex_unlock(&log->mutex);
}

static void read_writes(struct look *l)
{
        const struct store_write *writes;
        size_t n = store_writes(l->trial->store, 0, &l->arena, &writes);

        CHECK(n == 0 || writes[n - 1].version <= last_logged(l->trial));
}

static void read_some(void *arg)
{
        struct trial *t = arg;

        while (!cancel_is_triggered(t->stop)) {
                struct look l;

                look_init(&l, t);
                CHECK(l.version <= last_logged(t));
                switch (random_system_u64() % 4) {
                case 0:
                        get_one(&l);
                        break;
                case 1:
                        get_next(&l);
                        break;
                case 2:
                        read_writes(&l);
                        break;
                default:
                        list_all(&l);
                        break;
                }
                seen.n_reads++;
                look_done(&l);
                thread_sleep(deadline_after_ns((int64_t)(random_system_u64() % 1000000)), t->stop);
        }
}

/* An event is a record that the log has. */
static void check_event(struct look *l, const struct watch_event *e)
{
        struct memory_log *log = &l->trial->log;
        struct object_key key;
        const struct kept_record *k;

        if (e->type == WATCH_BOOKMARK) {
                CHECK(e->version <= last_logged(l->trial));
                return;
        }
        key = object_key_of(object_value(e->object, &l->arena));
        mutex_lock(&log->mutex);
        k = log_newest(log, log_key(&l->arena, &key), e->version);
        CHECK(k && k->record.version == e->version && k->record.is_removed == (e->type == WATCH_DELETED));
        if (k->record.is_removed)
                k = log_newest(log, k->key, k->record.previous);
        CHECK(str_equal(k->record.bytes, object_bytes(e->object)));
        CHECK(e->type != WATCH_ADDED || k->record.previous == 0 || e->version <= l->version);
        mutex_unlock(&log->mutex);
        seen.n_events++;
}

static void watch_some(void *arg)
{
        struct trial *t = arg;
        struct watch_request req = { .gvk = widget_gvk(), .sends_initial_events = true, .wants_bookmarks = true };
        struct watch *w;
        struct look begin;
        int r = 0;

        look_init(&begin, t);
        CHECK(cluster_watch(t->cluster, &begin.run, &req, &w, NULL) == 0);
        while (r == 0) {
                struct watch_event e;
                struct look l;

                look_init(&l, t);
                l.run.cancel = t->stop;
                r = watch_next(w, &l.run, &e, NULL);
                CHECK(r == 0 || r == ERR_CANCELED);
                if (r == 0)
                        check_event(&l, &e);
                look_done(&l);
        }
        watch_free(w);
        look_done(&begin);
}

/* --- A schedule --- */

/* Widgets are a kind from the first of them on. */
static void write_first(struct trial *t)
{
        struct object_key key = key_of(widget_gvk(), "default", "first");
        struct write_request req = { .verb = WRITE_CREATE, .key = key };
        struct write_result result;
        struct look l;

        look_init(&l, t);
        req.body = marked_object(&l, &key, MARKS);
        CHECK(cluster_write(t->cluster, &l.run, &req, &result, NULL) == 0);
        look_done(&l);
}

static void trial_init(struct trial *t, const struct memory_log *like)
{
        struct store_options options = { .accepts_any_kind = true, .records_writes = true, .log = &t->log.log };

        *t = (struct trial) { .stop = cancel_new(NULL), .has_deadlines = like->most_ns > 0 };
        memory_log_init(&t->log);
        t->log.most_ns = like->most_ns;
        CHECK(store_new(&options, &t->store, NULL) == 0);
        t->cluster = store_cluster(t->store);
        write_first(t);
        mutex_lock(&t->log.mutex);
        if (like->fails_at)
                t->log.fails_at = t->log.n_appends + 1 + random_system_u64() % like->fails_at;
        t->log.failure = (enum log_failure)(random_system_u64() % 3);
        mutex_unlock(&t->log.mutex);
}

/* Behind all others, those whose callers have gone included. */
static int write_last(struct look *l)
{
        struct object_key key = key_of(widget_gvk(), "default", "last");
        struct write_request req = { .verb = WRITE_CREATE, .key = key, .body = marked_object(l, &key, MARKS) };
        struct write_result result;

        return cluster_write(l->trial->cluster, &l->run, &req, &result, &l->err);
}

/* The store is exactly what the log gives at the store's version, and without a failure that is all of it. Reads go on after one. */
static void check_end(struct trial *t)
{
        struct look l;
        int r;

        look_init(&l, t);
        r = write_last(&l);
        CHECK(store_settle(t->store, &l.run, NULL) == 0);
        list_all(&l);
        if (r == 0 && !t->log.has_failed)
                CHECK(store_version(t->store) == last_logged(t));
        if (t->log.has_failed) {
                CHECK(write_last(&l) == ERR_FAILED && says(&l.err, "takes no more writes"));
                CHECK(store_version(t->store) <= last_logged(t));
        }
        look_done(&l);
}

static bool has_mark(struct arena *a, const struct kept_record *k, unsigned mark)
{
        return !k->record.is_removed && value_int(value_find(decoded(a, k), "spec", "mark"), -1) == (int64_t)mark;
}

/* After the end: what was done is in the log, what was refused is not. */
static void check_marks(struct trial *t)
{
        for (unsigned mark = 0; mark < t->n_marks; mark++) {
                bool is_found = false;
                struct arena a;

                arena_init(&a, "marks", 0);
                for (size_t i = 0; i < t->log.records.n && !is_found; i++)
                        is_found = has_mark(&a, t->log.records.p[i], mark);
                arena_done(&a);
                CHECK(t->fates[mark] != FATE_NONE);
                CHECK(t->fates[mark] == FATE_UNKNOWN || is_found == (t->fates[mark] == FATE_DONE));
        }
}

/* Whether a watch from the version is told that it is too old. */
static bool watch_expires(struct trial *t, struct look *l, uint64_t version)
{
        struct watch_request req = { .gvk = widget_gvk() };
        struct run run = l->run;
        struct watch_event e;
        struct watch *w;
        int r;

        req.resource_version = arena_printf(&l->arena, "%llu", (unsigned long long)version);
        run.deadline = deadline_after_ms(-1);
        CHECK(cluster_watch(t->cluster, &l->run, &req, &w, NULL) == 0);
        do {
                r = watch_next(w, &run, &e, NULL);
        } while (r == 0);
        watch_free(w);
        CHECK(r == ERR_EXPIRED || r == ERR_TIMEOUT);
        return r == ERR_EXPIRED;
}

/* A store that is opened on what the log kept, with some of its history, is what the log says, and goes on from there. */
static void check_opened_again(struct trial *t)
{
        struct store_options options = { .accepts_any_kind = true, .log = &t->log.log };
        uint64_t last = log_last(&t->log);
        struct look l;

        t->log.has_failed = false;
        t->log.fails_at = 0;
        t->log.floor = random_system_u64() % (last + 1);
        CHECK(store_new(&options, &t->store, NULL) == 0);
        t->cluster = store_cluster(t->store);
        look_init(&l, t);
        CHECK(l.version >= last);
        CHECK(store_settle(t->store, &l.run, NULL) == 0);
        list_all(&l);
        for (int i = 0; i < 5; i++)
                get_one(&l);
        CHECK(watch_expires(t, &l, t->log.floor) == false);
        CHECK(t->log.floor == 0 || watch_expires(t, &l, t->log.floor - 1) == (t->log.floor > 1));
        look_done(&l);
        store_free(t->store);
        CHECK(log_last(&t->log) >= last);
}

static void schedule(void *arg)
{
        void (*const roles[])(void *) = { write_some, write_some, write_some, read_some, watch_some };
        struct thread *threads[ARRAY_SIZE(roles)];
        struct trial t;

        trial_init(&t, arg);
        for (size_t i = 0; i < ARRAY_SIZE(roles); i++)
                CHECK(thread_start(i < WRITERS ? "writer" : "reader", roles[i], &t, &threads[i], NULL) == 0);
        for (size_t i = 0; i < WRITERS; i++)
                thread_join(threads[i]);
        check_end(&t);
        cancel_trigger(t.stop, "the end");
        for (size_t i = WRITERS; i < ARRAY_SIZE(roles); i++)
                thread_join(threads[i]);
        store_free(t.store);
        check_marks(&t);
        check_opened_again(&t);
        seen.n_batched += t.log.largest_batch > 1;
        memory_log_done(&t.log);
        cancel_unref(t.stop);
}

static uint64_t number_from(const char *name, uint64_t otherwise)
{
        const char *text = getenv(name);

        return text && *text ? strtoull(text, NULL, 10) : otherwise;
}

static void explore(struct memory_log like, uint64_t share)
{
        _cleanup_err_ struct err err = { 0 };
        struct sim_options options = { .step_ns = 1000 };
        struct sim_report report;
        uint64_t n = (number_from("WEFT_SCHEDULES", 600) + share - 1) / share;

        memset(&seen, 0, sizeof(seen));
        log_set_level(_LOG_LEVEL_COUNT);
        if (sim_explore(number_from("WEFT_SEED", 1), n, &options, schedule, &like, &report, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
        printf("# %llu schedules, the last one of %llu steps: %llu writes done, %llu unknown, %llu failed, %llu "
               "refused, "
               "%llu out of time before; %llu reads, %llu events; %llu schedules with batches\n",
               (unsigned long long)n, (unsigned long long)report.steps, (unsigned long long)seen.n_done,
               (unsigned long long)seen.n_unknown, (unsigned long long)seen.n_failed,
               (unsigned long long)seen.n_refused, (unsigned long long)seen.n_waited, (unsigned long long)seen.n_reads,
               (unsigned long long)seen.n_events, (unsigned long long)seen.n_batched);
        ASSERT(seen.n_done > 0 && seen.n_reads > 0 && seen.n_events > 0);
}

TEST(a_log_that_answers_at_once)
{
        explore((struct memory_log) { 0 }, 3);
}

TEST(a_slow_log)
{
        explore((struct memory_log) { .most_ns = 2000000 }, 3);
        ASSERT(seen.n_unknown > 0 && seen.n_waited > 0 && seen.n_batched > 0 && seen.n_promised > 0);
}

TEST(a_log_that_fails)
{
        explore((struct memory_log) { .most_ns = 500000, .fails_at = 20 }, 3);
        ASSERT(seen.n_failed > 0 && seen.n_refused > 0);
}
