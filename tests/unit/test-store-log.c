/* The promises of a store about its log, one test each. The tests run in simulation, where a sleep lets all other threads come to rest. */
#include "memory-log.h"

#include "compact.h"
#include "limits.h"
#include "log.h"

/* One store on a log that can be held up. */
struct bench {
        struct memory_log log;
        struct store *store;
        struct cluster *cluster;
        struct arena arena;
        struct run run;
        struct err err;
};

static void bench_init(struct bench *b)
{
        struct store_options options = { .accepts_any_kind = true, .log = &b->log.log };

        *b = (struct bench) { 0 };
        memory_log_init(&b->log);
        arena_init(&b->arena, "bench", 0);
        b->run = (struct run) { .arena = &b->arena, .deadline = DEADLINE_NONE };
        CHECK(store_new(&options, &b->store, NULL) == 0);
        b->cluster = store_cluster(b->store);
}

static void bench_done(struct bench *b)
{
        store_free(b->store);
        memory_log_done(&b->log);
        err_done(&b->err);
        arena_done(&b->arena);
}

/* All others wait when simulated time passes. */
static void let_rest(void)
{
        thread_sleep(deadline_after_ms(1), NULL);
}

static void in_simulation(void (*fn)(void *))
{
        _cleanup_err_ struct err err = { 0 };

        log_set_level(_LOG_LEVEL_COUNT);
        if (sim_run(1, NULL, fn, NULL, NULL, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
}

#define SIMULATED_TEST(name)                  \
        static void name##_inside(void *arg); \
        TEST(name)                            \
        {                                     \
                in_simulation(name##_inside); \
        }                                     \
        static void name##_inside(void *arg)

/* A write in a thread of its own. */
struct call {
        struct bench *bench;
        enum write_verb verb;
        const char *name;
        const char *body;  /* of a patch, with single quotes */
        size_t size_bytes; /* that a creation has more */
        bool is_dry_run;
        const char *manager;
        struct deadline deadline; /* 0: none */
        struct cancel *cancel;
        struct thread *thread;
        struct arena arena;
        struct write_result result;
        struct err err;
        int r;
        _Atomic bool has_ended;
};

static const struct value *body_of(struct call *c)
{
        char text[128];

        if (c->verb == WRITE_DELETE)
                return NULL;
        if (c->verb == WRITE_CREATE) {
                char *filler = arena_alloc(&c->arena, c->size_bytes);

                memset(filler, 'x', c->size_bytes);
                return value_with(&c->arena, model_widget(&c->arena, c->name, ""), STR("data"),
                                  value_put(&c->arena, value_of_str(str_make(filler, c->size_bytes))));
        }
        CHECK(strlen(c->body) < sizeof(text));
        for (size_t i = 0; i <= strlen(c->body); i++)
                text[i] = c->body[i] == '\'' ? '"' : c->body[i];
        return model_json(&c->arena, text);
}

static void run_call(void *arg)
{
        struct call *c = arg;
        struct run run = { .arena = &c->arena,
                           .deadline = c->deadline.mono_ns ? c->deadline : DEADLINE_NONE,
                           .cancel = c->cancel };
        struct write_request req = { .verb = c->verb, .key = model_key(c->name), .is_dry_run = c->is_dry_run };

        req.manager = str_from(c->manager);
        arena_init(&c->arena, "call", 0);
        req.body = body_of(c);
        c->r = cluster_write(c->bench->cluster, &run, &req, &c->result, &c->err);
        c->has_ended = true;
}

static void start_call(struct call *c)
{
        CHECK(thread_start("caller", run_call, c, &c->thread, NULL) == 0);
}

static void finish_call(struct call *c)
{
        if (c->thread)
                thread_join(c->thread);
        arena_done(&c->arena);
        err_done(&c->err);
}

/* In this thread, to its end. */
static int call(struct bench *b, struct call c)
{
        c.bench = b;
        run_call(&c);
        finish_call(&c);
        return c.r;
}

static bool says(const struct err *err, const char *text)
{
        return str_find(str_from(err_message(err)), str_from(text)) >= 0;
}

/* The version of the widget, 0 when it is not there. */
static uint64_t version_of(struct bench *b, const char *name)
{
        struct get_request req = { .key = model_key(name) };
        struct object *o = NULL;
        int r = cluster_get(b->cluster, &b->run, &req, &o, NULL);

        CHECK(r == 0 || r == ERR_NOT_FOUND);
        return r == 0 ? object_version(o) : 0;
}

static size_t count_widgets(struct bench *b)
{
        struct list_request req = { .gvk = widget_gvk() };
        struct object_list l = { 0 };

        CHECK(cluster_list(b->cluster, &b->run, &req, &l, NULL) == 0);
        return l.n;
}

/* --- Who sees what --- */

SIMULATED_TEST(nobody_sees_a_commit_before_the_log_has_it)
{
        struct bench b;
        struct call c = { .bench = &b, .verb = WRITE_CREATE, .name = "a" };
        struct call again = { .bench = &b, .verb = WRITE_CREATE, .name = "a" };
        struct watch_request watch = { .gvk = widget_gvk(), .resource_version = STR("4") };
        struct run at_once;
        struct watch_event e;
        struct watch *w;

        bench_init(&b);
        CHECK(store_version(b.store) == 4);
        CHECK(cluster_watch(b.cluster, &b.run, &watch, &w, NULL) == 0);
        memory_log_hold(&b.log);
        start_call(&c);
        start_call(&again);
        let_rest();
        at_once = b.run;
        at_once.deadline = deadline_after_ms(0);
        CHECK(version_of(&b, "a") == 0 && count_widgets(&b) == 0 && store_version(b.store) == 4);
        CHECK(watch_next(w, &at_once, &e, NULL) == ERR_TIMEOUT);
        CHECK(!c.has_ended && !again.has_ended); /* that it exists is not known before */
        memory_log_release(&b.log);
        CHECK(watch_next(w, &b.run, &e, NULL) == 0 && e.version == 5);
        let_rest();
        CHECK(version_of(&b, "a") == 5 && (c.r == 0 ? again.r : c.r) == ERR_EXISTS && c.r + again.r == ERR_EXISTS);
        watch_free(w);
        finish_call(&c);
        finish_call(&again);
        bench_done(&b);
}

SIMULATED_TEST(answers_wait_for_what_they_depend_on)
{
        struct bench b;
        struct call remove = { .bench = &b, .verb = WRITE_DELETE, .name = "a" };
        struct call others[] = {
                { .bench = &b, .verb = WRITE_CREATE, .name = "a" },
                { .bench = &b, .verb = WRITE_MERGE_PATCH, .name = "a", .body = "{'spec':{'n':0}}" }, /* no change */
                { .bench = &b, .verb = WRITE_MERGE_PATCH, .name = "a", .body = "{'spec':{'n':1}}", .is_dry_run = true },
                { .bench = &b, .verb = WRITE_MERGE_PATCH, .name = "a", .body = "{'metadata':{'resourceVersion':'1'}}" },
        };
        int wanted[] = { 0, ERR_NOT_FOUND, ERR_NOT_FOUND, ERR_NOT_FOUND };

        for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
                bench_init(&b);
                CHECK(call(&b, (struct call) { .verb = WRITE_CREATE, .name = "a" }) == 0);
                memory_log_hold(&b.log);
                remove.thread = NULL;
                remove.has_ended = false;
                start_call(&remove);
                let_rest();
                start_call(&others[i]);
                let_rest();
                CHECK(!remove.has_ended && !others[i].has_ended);
                memory_log_release(&b.log);
                let_rest();
                CHECK(remove.r == 0 && others[i].r == wanted[i]);
                finish_call(&remove);
                finish_call(&others[i]);
                bench_done(&b);
        }
}

SIMULATED_TEST(what_changes_nothing_never_reaches_the_log)
{
        struct bench b;
        uint64_t version;

        bench_init(&b);
        CHECK(call(&b, (struct call) { .verb = WRITE_CREATE, .name = "a" }) == 0);
        memory_log_hold(&b.log); /* whoever reached it would wait for ever */
        version = store_version(b.store);
        CHECK(call(&b, (struct call) { .verb = WRITE_MERGE_PATCH, .name = "a", .body = "{'spec':{'n':0}}" }) == 0);
        CHECK(call(&b, (struct call) { .verb = WRITE_CREATE, .name = "b", .is_dry_run = true }) == 0);
        CHECK(call(&b, (struct call) { .verb = WRITE_DELETE, .name = "a", .is_dry_run = true }) == 0);
        CHECK(call(&b, (struct call) { .verb = WRITE_CREATE, .name = "a" }) == ERR_EXISTS);
        CHECK(call(&b, (struct call) { .verb = WRITE_DELETE, .name = "c" }) == ERR_NOT_FOUND);
        CHECK(store_version(b.store) == version && b.log.records.n == version);
        memory_log_release(&b.log);
        bench_done(&b);
}

/* --- Time --- */

SIMULATED_TEST(a_caller_whose_time_is_up_is_told_that_it_may_have_happened)
{
        struct bench b;
        struct call late = { .bench = &b, .verb = WRITE_CREATE, .name = "late", .deadline = deadline_after_ms(10) };
        struct call canceled = { .bench = &b, .verb = WRITE_CREATE, .name = "canceled", .cancel = cancel_new(NULL) };

        bench_init(&b);
        memory_log_hold(&b.log);
        start_call(&late);
        start_call(&canceled);
        let_rest();
        cancel_trigger(canceled.cancel, "stop it");
        thread_sleep(deadline_after_ms(20), NULL);
        CHECK(late.r == ERR_TIMEOUT && late.err.reason == REASON_TIMEOUT);
        CHECK(strcmp(err_message(&late.err), "the write may have happened, it was being logged: deadline exceeded") ==
              0);
        CHECK(canceled.r == ERR_CANCELED && canceled.err.reason == REASON_TIMEOUT);
        CHECK(strcmp(err_message(&canceled.err), "the write may have happened, it was being logged: stop it") == 0);
        CHECK(count_widgets(&b) == 0);
        memory_log_release(&b.log);
        let_rest();
        CHECK(version_of(&b, "late") && version_of(&b, "canceled")); /* they went on */
        finish_call(&late);
        finish_call(&canceled);
        cancel_unref(canceled.cancel);
        bench_done(&b);
}

SIMULATED_TEST(a_write_after_an_unknown_one_learns_its_outcome)
{
        struct bench b;
        struct call unknown = { .bench = &b, .verb = WRITE_CREATE, .name = "a", .deadline = deadline_after_ms(10) };
        struct call waits = { .bench = &b, .verb = WRITE_DELETE, .name = "a", .deadline = deadline_after_ms(30) };
        struct call remove = { .bench = &b, .verb = WRITE_DELETE, .name = "a" };

        bench_init(&b);
        memory_log_hold(&b.log);
        start_call(&unknown);
        thread_sleep(deadline_after_ms(20), NULL);
        CHECK(unknown.r == ERR_TIMEOUT);
        start_call(&waits);
        start_call(&remove);
        thread_sleep(deadline_after_ms(20), NULL);
        CHECK(waits.r == ERR_TIMEOUT && !remove.has_ended);
        CHECK(strcmp(err_message(&waits.err), "waiting for an earlier write: deadline exceeded") == 0);
        memory_log_release(&b.log);
        let_rest();
        CHECK(remove.r == 0 && remove.result.is_removed);
        finish_call(&unknown);
        finish_call(&waits);
        finish_call(&remove);
        bench_done(&b);
}

SIMULATED_TEST(a_write_whose_time_was_up_before_is_not_begun)
{
        struct bench b;
        struct call c = { .bench = &b, .verb = WRITE_CREATE, .name = "a", .deadline = deadline_after_ms(-1) };
        size_t n;

        bench_init(&b);
        n = b.log.records.n;
        run_call(&c);
        CHECK(c.r == ERR_TIMEOUT && says(&c.err, "the write was not begun"));
        let_rest();
        CHECK(b.log.records.n == n && version_of(&b, "a") == 0);
        finish_call(&c);
        bench_done(&b);
}

SIMULATED_TEST(closing_logs_what_was_decided)
{
        struct bench b;
        struct call unknown = { .bench = &b, .verb = WRITE_CREATE, .name = "a", .deadline = deadline_after_ms(10) };
        size_t n;

        bench_init(&b);
        n = b.log.records.n;
        b.log.most_ns = 50000000;
        run_call(&unknown);
        CHECK(unknown.r == ERR_TIMEOUT && b.log.records.n == n);
        finish_call(&unknown);
        store_free(TAKE(b.store));
        CHECK(b.log.records.n == n + 1);
        bench_done(&b);
}

/* --- Batches --- */

SIMULATED_TEST(what_was_decided_meanwhile_is_one_batch)
{
        struct bench b;
        struct call calls[20];
        char names[ARRAY_SIZE(calls)][8];
        size_t n_appends;

        bench_init(&b);
        n_appends = b.log.n_appends;
        memory_log_hold(&b.log);
        for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
                snprintf(names[i], sizeof(names[i]), "o%zu", i);
                calls[i] = (struct call) { .bench = &b, .verb = WRITE_CREATE, .name = names[i] };
                start_call(&calls[i]);
                if (i == 0)
                        memory_log_await_arrival(&b.log);
        }
        let_rest();
        memory_log_release(&b.log);
        for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
                finish_call(&calls[i]);
                CHECK(calls[i].r == 0);
        }
        CHECK(b.log.n_appends == n_appends + 2 && b.log.largest_batch == ARRAY_SIZE(calls) - 1);
        bench_done(&b);
}

SIMULATED_TEST(a_batch_is_bounded_in_bytes)
{
        struct bench b;
        struct call calls[5];
        static const char *const names[ARRAY_SIZE(calls)] = { "a", "b", "c", "d", "e" };
        size_t n_appends;

        bench_init(&b);
        n_appends = b.log.n_appends;
        memory_log_hold(&b.log);
        for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
                calls[i] = (struct call) { .bench = &b, .verb = WRITE_CREATE, .name = names[i] };
                calls[i].size_bytes = i ? LIMIT_BATCH_BYTES * 3 / 8 : 2 * LIMIT_BATCH_BYTES;
                start_call(&calls[i]);
                if (i == 0)
                        memory_log_await_arrival(&b.log);
        }
        let_rest();
        memory_log_release(&b.log);
        for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
                finish_call(&calls[i]);
                CHECK(calls[i].r == 0);
        }
        CHECK(b.log.n_appends == n_appends + 3 && b.log.largest_batch == 2);
        bench_done(&b);
}

static int delay_slow(void *arg, struct run *run, struct admission *admission, struct err *err)
{
        return str_equal(admission->request->manager, STR("slow")) ? thread_sleep(deadline_after_ms(2), NULL) : 0;
}

/* Many more than MAX_ATTEMPTS. */
static void write_often(void *arg)
{
        char body[32];

        for (int i = 1; i <= 200; i++) {
                snprintf(body, sizeof(body), "{'spec':{'n':%d}}", i);
                CHECK(call(arg, (struct call) { .verb = WRITE_MERGE_PATCH, .name = "a", .body = body }) == 0);
        }
}

/* Whenever the slow one is ready to commit, another write to the object is being logged. */
SIMULATED_TEST(waiting_for_the_log_is_no_failed_attempt)
{
        struct admission_hook hook = { .name = "delay", .admit = delay_slow };
        struct thread *often;
        struct bench b;
        uint64_t version;

        bench_init(&b);
        store_add_hook(b.store, &hook);
        CHECK(call(&b, (struct call) { .verb = WRITE_CREATE, .name = "a" }) == 0);
        version = store_version(b.store);
        b.log.least_ns = 5000000;
        CHECK(thread_start("often", write_often, &b, &often, NULL) == 0);
        CHECK(call(&b, (struct call) { .verb = WRITE_MERGE_PATCH,
                                       .name = "a",
                                       .body = "{'spec':{'slow':true}}",
                                       .manager = "slow" }) == 0);
        thread_join(often);
        CHECK(store_version(b.store) == version + 201);
        bench_done(&b);
}

/* Writes whose callers have all gone pile up behind a log that does not answer. */
SIMULATED_TEST(batches_and_what_waits_are_bounded)
{
        struct bench b;
        char name[16];

        bench_init(&b);
        memory_log_hold(&b.log);
        for (size_t i = 0; i < LIMIT_COMMITS; i++) {
                snprintf(name, sizeof(name), "o%zu", i);
                CHECK(call(&b,
                           (struct call) { .verb = WRITE_CREATE, .name = name, .deadline = deadline_after_ns(10) }) ==
                      ERR_TIMEOUT);
        }
        CHECK(call(&b, (struct call) { .verb = WRITE_CREATE, .name = "x", .deadline = deadline_after_ms(1) }) ==
              ERR_TIMEOUT);
        memory_log_release(&b.log);
        CHECK(call(&b, (struct call) { .verb = WRITE_CREATE, .name = "y" }) == 0);
        CHECK(version_of(&b, "x") == 0 && count_widgets(&b) == LIMIT_COMMITS + 1);
        CHECK(b.log.largest_batch == LIMIT_BATCH_RECORDS);
        bench_done(&b);
}

/* --- Failure --- */

/* --- Promised writes --- */

static int write_promised(struct bench *b, enum write_verb verb, const char *name, struct kept_promise *k,
                          struct write_result *ret)
{
        struct write_request req = { .verb = verb, .key = model_key(name), .promise = &k->promise };

        if (verb == WRITE_CREATE)
                req.body = model_widget(&b->arena, name, "");
        kept_promise_init(k);
        return cluster_write(b->cluster, &b->run, &req, ret, &b->err);
}

SIMULATED_TEST(a_promised_write_is_seen_when_its_promise_is_settled)
{
        struct write_result created, removed;
        struct kept_promise creation, removal;
        struct bench b;

        bench_init(&b);
        memory_log_hold(&b.log);
        CHECK(write_promised(&b, WRITE_CREATE, "a", &creation, &created) == 0 && creation.promise.is_given);
        let_rest();
        CHECK(created.is_created && object_version(created.object) == 5);
        CHECK(version_of(&b, "a") == 0 && !completion_is_done(&creation.settled));
        memory_log_release(&b.log);
        CHECK(kept_promise_wait(&creation, 0, NULL) == 0 && version_of(&b, "a") == 5);
        CHECK(write_promised(&b, WRITE_DELETE, "a", &removal, &removed) == 0 && removed.is_removed);
        CHECK(kept_promise_wait(&removal, 0, NULL) == 0 && version_of(&b, "a") == 0);
        kept_promise_done(&creation);
        kept_promise_done(&removal);
        bench_done(&b);
}

SIMULATED_TEST(a_write_that_is_not_logged_is_not_promised)
{
        struct write_result result;
        struct kept_promise k;
        struct bench b;

        bench_init(&b);
        CHECK(write_promised(&b, WRITE_DELETE, "none", &k, &result) == ERR_NOT_FOUND && !k.promise.is_given);
        kept_promise_done(&k);
        bench_done(&b);
}

SIMULATED_TEST(promises_are_settled_when_the_log_fails)
{
        struct kept_promise first, second;
        struct write_result result;
        struct bench b;

        bench_init(&b);
        memory_log_hold(&b.log);
        CHECK(write_promised(&b, WRITE_CREATE, "first", &first, &result) == 0 && first.promise.is_given);
        let_rest(); /* the second one is not in the batch of the first */
        CHECK(write_promised(&b, WRITE_CREATE, "second", &second, &result) == 0 && second.promise.is_given);
        b.log.fails_at = b.log.n_appends + 1;
        memory_log_release(&b.log);
        CHECK(kept_promise_wait(&first, 0, &b.err) == ERR_FAILED && says(&b.err, "cannot log the write"));
        CHECK(kept_promise_wait(&second, 0, &b.err) == ERR_FAILED && b.err.reason == REASON_INTERNAL_ERROR);
        CHECK(count_widgets(&b) == 0);
        kept_promise_done(&first);
        kept_promise_done(&second);
        bench_done(&b);
}

SIMULATED_TEST(writes_stop_when_the_log_fails)
{
        struct bench b;
        struct call lost = { .bench = &b, .verb = WRITE_CREATE, .name = "lost" };
        struct call later = { .bench = &b, .verb = WRITE_MERGE_PATCH, .name = "a", .body = "{'spec':{'n':7}}" };
        uint64_t version;

        bench_init(&b);
        CHECK(call(&b, (struct call) { .verb = WRITE_CREATE, .name = "a" }) == 0);
        version = store_version(b.store);
        b.log.fails_at = b.log.n_appends + 1;
        run_call(&lost);
        CHECK(lost.r == ERR_FAILED && lost.err.reason == REASON_INTERNAL_ERROR);
        CHECK(strcmp(err_message(&lost.err), "cannot log the write, which may or may not be there when the store is "
                                             "opened again: the disk is gone") == 0);
        run_call(&later);
        CHECK(later.r == ERR_FAILED && later.err.reason == REASON_SERVICE_UNAVAILABLE);
        CHECK(strcmp(err_message(&later.err), "the store takes no more writes, its log has failed: the disk is gone") ==
              0);
        CHECK(version_of(&b, "a") == 5 && version_of(&b, "lost") == 0 && store_version(b.store) == version);
        CHECK(call(&b, (struct call) { .verb = WRITE_CREATE, .name = "b", .is_dry_run = true }) == 0);
        CHECK(store_settle(b.store, &b.run, NULL) == 0);
        finish_call(&lost);
        finish_call(&later);
        bench_done(&b);
}

SIMULATED_TEST(a_store_on_a_log_that_fails_at_once_is_not_made)
{
        _cleanup_err_ struct err err = { 0 };
        struct store_options options = { .accepts_any_kind = true };
        struct store *s = NULL;
        struct memory_log log;

        memory_log_init(&log);
        log.fails_at = 2;
        options.log = &log.log;
        CHECK(store_new(&options, &s, &err) == ERR_FAILED && !s && says(&err, "the disk is gone"));
        CHECK(log.records.n < 4); /* the namespaces that each store has */
        memory_log_done(&log);
}

/* All that was decided, in the batch and behind it, is told. */
SIMULATED_TEST(everybody_is_told_of_a_failure)
{
        struct bench b;
        struct call calls[10];
        char names[ARRAY_SIZE(calls)][8];

        bench_init(&b);
        memory_log_hold(&b.log);
        for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
                snprintf(names[i], sizeof(names[i]), "o%zu", i / 2); /* half of them wait for the other half */
                calls[i] = (struct call) { .bench = &b, .verb = WRITE_CREATE, .name = names[i] };
                start_call(&calls[i]);
        }
        let_rest();
        b.log.fails_at = b.log.n_appends + 1;
        memory_log_release(&b.log);
        for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
                thread_join(TAKE(calls[i].thread));
                CHECK(calls[i].r == ERR_FAILED && says(&calls[i].err, "the disk is gone"));
                finish_call(&calls[i]);
        }
        CHECK(count_widgets(&b) == 0);
        bench_done(&b);
}

/* --- Records --- */

static void check_kept(struct bench *b, size_t i, const char *key, uint64_t previous, bool is_removed)
{
        const struct kept_record *k = b->log.records.p[i];

        CHECK(str_equal(k->key, str_from(key)) && k->record.version == i + 1);
        CHECK(k->record.previous == previous && k->record.is_removed == is_removed);
}

SIMULATED_TEST(records_have_what_a_store_is_made_of)
{
        struct bench b;
        const struct value *v, *kept;
        struct object_key key = model_key("a");

        bench_init(&b);
        check_kept(&b, 0, "/Namespace /default", 0, false);
        check_kept(&b, 3, "/Namespace /kube-node-lease", 0, false);
        CHECK(call(&b, (struct call) { .verb = WRITE_CREATE, .name = "a" }) == 0);
        CHECK(call(&b, (struct call) { .verb = WRITE_MERGE_PATCH, .name = "a", .body = "{'spec':{'n':7}}" }) == 0);
        CHECK(cluster_get_value(b.cluster, &b.run, &key, &v, NULL) == 0);
        CHECK(call(&b, (struct call) { .verb = WRITE_DELETE, .name = "a" }) == 0);
        CHECK(call(&b, (struct call) { .verb = WRITE_CREATE, .name = "a" }) == 0);
        CHECK(b.log.records.n == 8);
        check_kept(&b, 4, "example.org/Widget default/a", 0, false);
        check_kept(&b, 5, "example.org/Widget default/a", 5, false);
        check_kept(&b, 6, "example.org/Widget default/a", 6, true);
        check_kept(&b, 7, "example.org/Widget default/a", 0, false);
        CHECK(compact_decode(&b.arena, b.log.records.p[5]->record.bytes, &kept, NULL) == 0);
        CHECK(value_equal(meta_with(&b.arena, v, STR("resourceVersion"), NULL),
                          meta_with(&b.arena, kept, STR("resourceVersion"), NULL)));
        bench_done(&b);
}
