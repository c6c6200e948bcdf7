#include "control.h"

#include "clock.h"
#include "limits.h"
#include "log.h"
#include "meter.h"
#include "timetext.h"
#include "vec.h"
#include "workqueue.h"

#define TIMEOUT_MS       60000
#define BACKOFF_FIRST_MS 1000
#define BACKOFF_MOST_MS  60000

/* Meters of all runs; each may be NULL. */
struct control_meters {
        struct meter *results, *errors, *seconds, *active, *limit, *retries;
        struct meter *depth, *adds, *waiting, *working; /* of the queues */
};

struct control {
        struct workqueue queue;
        struct control_meters meters;
        struct arena arena; /* holds the user */
        struct user user;
        struct cancel *cancel;
        unsigned max_workers;

        struct mutex mutex; /* guards the fields below */
        VEC(struct thread *) workers;
        unsigned n_workers; /* those that are being started too */
        bool is_closed;
};

/* Its runs hold a pointer; controller_stop waits for them. */
struct controller {
        struct control *control;
        struct workqueue_lane lane;
        struct controller_options options;
        struct cancel *cancel;
        _Atomic uint64_t n_runs, n_errors, n_requeues;
        _Atomic int64_t run_ns;
        char name[];
};

/* --- Meters (docs/spec/engine 4.5) --- */

static void open_meters(struct control_meters *m, struct meters *meters)
{
        static const struct meter_options results = { "controller_runtime_reconcile_total",
                                                      "Total number of reconciliations per controller",
                                                      METER_COUNTER,
                                                      { "controller", "result" } };
        static const struct meter_options errors = { "controller_runtime_reconcile_errors_total",
                                                     "Total number of reconciliation errors per controller",
                                                     METER_COUNTER,
                                                     { "controller" } };
        static const struct meter_options seconds = { "controller_runtime_reconcile_time_seconds",
                                                      "Length of time per reconciliation per controller",
                                                      METER_HISTOGRAM,
                                                      { "controller" } };
        static const struct meter_options active = { "controller_runtime_active_workers",
                                                     "Number of currently used workers per controller",
                                                     METER_GAUGE,
                                                     { "controller" } };
        static const struct meter_options limit = { "controller_runtime_max_concurrent_reconciles",
                                                    "Maximum number of concurrent reconciles per controller",
                                                    METER_GAUGE,
                                                    { "controller" } };
        static const struct meter_options retries = { "workqueue_retries_total",
                                                      "Total number of retries handled by workqueue",
                                                      METER_COUNTER,
                                                      { "controller", "name" } };

        *m = (struct control_meters) { meters_get(meters, &results), meters_get(meters, &errors),
                                       meters_get(meters, &seconds), meters_get(meters, &active),
                                       meters_get(meters, &limit),   meters_get(meters, &retries) };
}

static void open_queue_meters(struct control_meters *m, struct meters *meters)
{
        static const struct meter_options depth = {
                "workqueue_depth", "Current depth of workqueue", METER_GAUGE, { "controller", "name" }
        };
        static const struct meter_options adds = { "workqueue_adds_total",
                                                   "Total number of adds handled by workqueue",
                                                   METER_COUNTER,
                                                   { "controller", "name" } };
        static const struct meter_options waiting = {
                "workqueue_queue_duration_seconds",
                "How long in seconds an item stays in workqueue before being requested",
                METER_HISTOGRAM,
                { "controller", "name" }
        };
        static const struct meter_options working = { "workqueue_work_duration_seconds",
                                                      "How long in seconds processing an item from workqueue takes.",
                                                      METER_HISTOGRAM,
                                                      { "controller", "name" } };

        m->depth = meters_get(meters, &depth);
        m->adds = meters_get(meters, &adds);
        m->waiting = meters_get(meters, &waiting);
        m->working = meters_get(meters, &working);
}

/* All results of a controller are there from its start, as upstream has them: a rate needs a first value. */
static void begin_meters(struct controller *c)
{
        static const struct str results[] = { STR_INIT("success"), STR_INIT("error"), STR_INIT("requeue"),
                                              STR_INIT("requeue_after") };
        struct control_meters *m = &c->control->meters;
        struct str queue[2] = { c->options.name, c->options.name };

        for (size_t i = 0; i < ARRAY_SIZE(results); i++) {
                struct str labels[2] = { c->options.name, results[i] };

                meter_add(m->results, 0, labels);
        }
        meter_add(m->errors, 0, &c->options.name);
        meter_add(m->depth, 0, queue);
        meter_add(m->adds, 0, queue);
        meter_add(m->retries, 0, queue);
        meter_set(m->limit, c->control->max_workers, &c->options.name);
}

static struct str result_name(int r, const struct control_answer *answer)
{
        if (r < 0)
                return STR("error");
        if (answer->requeues || answer->is_waiting)
                return STR("requeue");
        return answer->after_ns > 0 ? STR("requeue_after") : STR("success");
}

static void count_run(struct controller *c, int r, const struct control_answer *answer, int64_t ns)
{
        struct control_meters *m = &c->control->meters;
        struct str labels[2] = { c->options.name, result_name(r, answer) }, queue[2] = { labels[0], labels[0] };

        meter_add(m->results, 1, labels);
        meter_observe(m->seconds, ns, labels);
        meter_observe(m->working, ns, queue);
        meter_add(m->active, -1, labels);
        if (r < 0)
                meter_add(m->errors, 1, labels);
        if (r < 0 || answer->requeues)
                meter_add(m->retries, 1, queue);
}

/* --- Runs --- */

static void tell_error(const struct controller *c, const struct work *w, const struct err *err)
{
        if (err->code != ERR_CONFLICT && !cancel_is_triggered(c->cancel))
                log_error("cannot reconcile", LOG_STR("controller", c->options.name), LOG_STR("key", w->key),
                          LOG_TEXT("error", err_message(err)), LOG_UINT("failures", w->failures + 1));
}

static void requeue(struct controller *c, const struct work *w, const struct control_answer *answer, int r)
{
        if (r == 0 && answer->is_waiting)
                return;
        if (r < 0 || answer->requeues) {
                c->n_requeues++;
                workqueue_lane_add_after_failure(&c->lane, w->key, NULL);
                return;
        }
        workqueue_lane_forget(&c->lane, w->key);
        if (answer->after_ns > 0)
                controller_enqueue_after(c, w->key, answer->after_ns);
}

static void reconcile(struct control *control, struct work *w)
{
        struct controller *c = CONTAINER_OF(w->lane, struct controller, lane);
        _cleanup_err_ struct err err = { 0 };
        struct control_answer answer = { 0 };
        int64_t begin_ns = clock_mono_ns();
        struct arena arena;
        struct run run = {
                .arena = &arena,
                .deadline = deadline_after_ms(c->options.timeout_ms),
                .cancel = c->cancel,
                .user = control->user,
        };
        int r;

        arena_init(&arena, "reconcile", c->options.budget_bytes);
        run.cause = arena_printf(&arena, "%.*s %.*s", STR_ARG(c->options.name), STR_ARG(w->key));
        meter_add(control->meters.active, 1, &c->options.name);
        r = c->options.reconcile(c->options.context, &run, w->key, &answer, &err);
        if (r < 0) {
                c->n_errors++;
                tell_error(c, w, &err);
        }
        requeue(c, w, &answer, r);
        arena_done(&arena);
        c->n_runs++;
        c->run_ns += clock_mono_ns() - begin_ns;
        count_run(c, r, &answer, clock_mono_ns() - begin_ns);
}

/* --- Workers --- */

static void work(void *arg);

/* Keeps one thread ready for the next key, up to the limit; at the limit, keys wait until a run ends. */
static int keep_one_ready(struct control *c, struct err *err)
{
        struct thread *t;
        bool is_wanted;
        int r;

        mutex_lock(&c->mutex);
        is_wanted = !c->is_closed && c->n_workers < c->max_workers &&
                    (c->n_workers == 0 || !workqueue_has_taker(&c->queue));
        c->n_workers += is_wanted;
        mutex_unlock(&c->mutex);
        if (!is_wanted)
                return 0;
        r = thread_start("reconcile", work, c, &t, err);
        mutex_lock(&c->mutex);
        if (r == 0)
                vec_push(&c->workers, t);
        else
                c->n_workers--;
        mutex_unlock(&c->mutex);
        return r;
}

static void work(void *arg)
{
        struct control *c = arg;
        struct work *w;

        while (workqueue_take(&c->queue, &w, DEADLINE_NONE, c->cancel) == 0) {
                _cleanup_err_ struct err err = { 0 };

                if (keep_one_ready(c, &err) < 0)
                        log_warn("cannot start a thread; keys wait for those that run", LOG_ERR("error", &err));
                reconcile(c, w);
                workqueue_finish(&c->queue, w);
                arena_trim_cache(); /* blocks that many threads keep for themselves add up */
        }
}

int control_new(const struct control_options *options, struct control **ret, struct err *err)
{
        static const struct workqueue_options queue = { .name = "control" };
        struct control *c = xcalloc(1, sizeof(*c));
        int r;

        c->max_workers = options->max_workers ? options->max_workers : LIMIT_CONTROL_WORKERS;
        open_meters(&c->meters, options->meters);
        open_queue_meters(&c->meters, options->meters);
        arena_init(&c->arena, "control", 0);
        c->user = user_copy(&c->arena, &options->user);
        c->cancel = cancel_new(NULL);
        mutex_init(&c->mutex);
        workqueue_init(&c->queue, &queue);
        r = keep_one_ready(c, err);
        if (r < 0)
                control_free(c);
        else
                *ret = c;
        return r;
}

/* A thread may still start another one, and adds it to the list before it ends itself. */
static void join_workers(struct control *c)
{
        for (;;) {
                struct thread *t = NULL;

                mutex_lock(&c->mutex);
                if (c->workers.n)
                        t = vec_pop(&c->workers);
                mutex_unlock(&c->mutex);
                if (!t)
                        break;
                thread_join(t);
        }
}

void control_free(struct control *c)
{
        if (!c)
                return;
        mutex_lock(&c->mutex);
        c->is_closed = true;
        mutex_unlock(&c->mutex);
        cancel_trigger(c->cancel, "shutting down");
        workqueue_close(&c->queue);
        join_workers(c);
        vec_done(&c->workers);
        workqueue_done(&c->queue);
        mutex_done(&c->mutex);
        cancel_unref(c->cancel);
        arena_done(&c->arena);
        free(c);
}

int control_settle(struct control *c, struct deadline deadline, struct cancel *cancel)
{
        return workqueue_settle(&c->queue, deadline, cancel);
}

struct control_counts control_counts(struct control *c)
{
        struct workqueue_counts q = workqueue_counts(&c->queue);
        struct control_counts counts = { q.n_ready, q.n_running, q.n_delayed, 0 };

        mutex_lock(&c->mutex);
        counts.n_workers = c->n_workers;
        mutex_unlock(&c->mutex);
        return counts;
}

/* --- Controllers --- */

int controller_start(struct control *control, const struct controller_options *options, struct controller **ret,
                     struct err *err _unused_)
{
        struct controller *c = xcalloc(1, sizeof(*c) + options->name.n);
        struct workqueue_options lane = { .backoff_first_ms = BACKOFF_FIRST_MS, .backoff_most_ms = BACKOFF_MOST_MS };

        memcpy(c->name, options->name.p, options->name.n);
        c->control = control;
        c->options = *options;
        c->options.name.p = c->name;
        if (!options->timeout_ms)
                c->options.timeout_ms = TIMEOUT_MS;
        if (!options->budget_bytes)
                c->options.budget_bytes = LIMIT_RUN_BYTES;
        if (options->backoff_first_ms)
                lane.backoff_first_ms = options->backoff_first_ms;
        if (options->backoff_most_ms)
                lane.backoff_most_ms = options->backoff_most_ms;
        lane.meters = (struct workqueue_meters) { .adds = control->meters.adds,
                                                  .depth = control->meters.depth,
                                                  .waiting = control->meters.waiting,
                                                  .labels = { c->options.name, c->options.name } };
        c->cancel = cancel_new(control->cancel);
        workqueue_lane_init(&c->lane, &control->queue, &lane);
        begin_meters(c);
        *ret = c;
        return 0;
}

void controller_stop(struct controller *c)
{
        if (!c)
                return;
        cancel_trigger(c->cancel, "the controller %.*s stops", STR_ARG(c->options.name));
        workqueue_lane_done(&c->lane);
        cancel_unref(c->cancel);
        free(c);
}

struct str controller_name(const struct controller *c)
{
        return c->options.name;
}

void controller_enqueue(struct controller *c, struct str key)
{
        workqueue_lane_add(&c->lane, key, NULL);
}

void controller_enqueue_after(struct controller *c, struct str key, int64_t delay_ns)
{
        workqueue_lane_add_after(&c->lane, key, NULL, (delay_ns + NS_PER_MS - 1) / NS_PER_MS);
}

struct controller_stats controller_stats(struct controller *c)
{
        return (struct controller_stats) { c->n_runs, c->n_errors, c->n_requeues, c->run_ns };
}
