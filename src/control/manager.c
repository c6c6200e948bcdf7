#include "manager.h"

#include "buf.h"
#include "hub.h"
#include "limits.h"

struct manager {
        struct manager_options options;
        struct arena arena; /* the user */
        struct control *control;
        struct hub *hub;
        struct tracker *tracker;
        struct recorder *recorder;
        struct slots *slots;
};

struct kind_controller {
        struct manager *manager;
        struct arena arena; /* the options' texts */
        struct kind_controller_options options;
        struct controller *controller;
        struct hub_subscription *source;
};

/* --- Keys: `NAMESPACE/NAME`, or `NAME` --- */

static struct str key_text(struct buf *b, const struct object_key *key)
{
        if (key->ns.n) {
                buf_append_str(b, key->ns);
                buf_append_char(b, '/');
        }
        buf_append_str(b, key->name);
        return buf_str(b);
}

static struct object_key key_of_text(struct gvk gvk, struct str text)
{
        ptrdiff_t slash = str_find_char(text, '/');

        return slash < 0 ? (struct object_key) { .gvk = gvk, .name = text }
                         : (struct object_key) { .gvk = gvk,
                                                 .ns = str_first(text, (size_t)slash),
                                                 .name = str_skip(text, (size_t)slash + 1) };
}

static void on_source(void *arg, const struct hub_event *e)
{
        struct kind_controller *c = arg;
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        tracker_notice(c->manager->tracker, c->controller, key_text(&b, &e->key), e);
}

/* --- Runs --- */

/* Why the key runs again by itself. */
static const char *plan_of(int e, const struct control_answer *answer)
{
        if (answer->is_waiting)
                return "a function had no free place for the last run";
        if (e < 0)
                return "another try after an error";
        if (answer->requeues)
                return "another try after a conflict";
        return answer->after_ns > 0 ? "its time came: a TTL of a function or its poll interval" : NULL;
}

static int reconcile_key(void *context, struct run *run, struct str key, struct control_answer *answer, struct err *err)
{
        struct kind_controller *c = context;
        struct tracker *tracker = c->manager->tracker;
        struct kind_run r = {
                .manager = c->manager,
                .run = run,
                .key = key_of_text(c->options.gvk, key),
                .context = c->options.context,
                .answer = answer,
                .tracked = tracker_begin(tracker, c->controller, key, c->options.knows_writes),
        };
        int e;

        r.cluster = tracked_run_cluster(r.tracked);
        run->cause = arena_printf(run->arena, "%.*s: %.*s", STR_ARG(run->cause),
                                  STR_ARG(tracked_run_cause(r.tracked, run->arena)));
        e = c->options.reconcile(&r, err);
        tracked_run_plan(r.tracked, plan_of(e, answer));
        tracked_run_end(r.tracked, e == 0 && !answer->is_waiting && !answer->requeues);
        if (r.is_gone)
                tracker_forget(tracker, c->controller, key);
        return e;
}

int kind_controller_start(struct manager *m, const struct kind_controller_options *options,
                          struct kind_controller **ret, struct err *err)
{
        struct kind_controller *c = xcalloc(1, sizeof(*c));
        struct hub_subscriber subscriber = { .on_event = on_source, .arg = c };
        struct controller_options controller = {
                .name = options->name,
                .reconcile = reconcile_key,
                .context = c,
                .timeout_ms = options->timeout_ms,
                .backoff_most_ms = options->backoff_most_ms,
        };
        int r;

        c->manager = m;
        arena_init(&c->arena, "controller", 0);
        c->options = *options;
        c->options.name = arena_copy(&c->arena, options->name);
        c->options.gvk = gvk_copy(&c->arena, options->gvk);
        r = controller_start(m->control, &controller, &c->controller, err);
        if (r == 0 && options->watch_type)
                tracker_count_watches(m->tracker, c->controller, c->options.gvk, options->watch_type);
        if (r == 0)
                r = hub_subscribe(m->hub, c->options.gvk, true, &subscriber, &c->source, err);
        if (r < 0)
                kind_controller_stop(c);
        else
                *ret = c;
        return r;
}

void kind_controller_stop(struct kind_controller *c)
{
        if (!c)
                return;
        hub_unsubscribe(c->source);
        tracker_mute(c->manager->tracker, c->controller);
        slots_forget(c->manager->slots, c->controller);
        controller_stop(c->controller);
        tracker_forget_controller(c->manager->tracker, c->controller);
        arena_done(&c->arena);
        free(c);
}

/* --- What runs use --- */

int kind_run_get(struct kind_run *r, const struct value **ret, struct err *err)
{
        int e;

        *ret = NULL;
        e = cluster_get_value(r->cluster, r->run, &r->key, ret, err);
        r->is_gone = e == ERR_NOT_FOUND;
        if (!r->is_gone)
                return e;
        err_done(err);
        return 0;
}

int kind_run_update(struct kind_run *r, const struct value *object, struct str subresource, const struct value **ret,
                    struct err *err)
{
        struct write_request req = { .verb = WRITE_UPDATE,
                                     .key = object_key_of(object),
                                     .subresource = subresource,
                                     .body = object,
                                     .manager = CROSSPLANE_MANAGER };
        struct write_result result;
        int e = cluster_write(r->cluster, r->run, &req, &result, err);

        if (e == 0)
                *ret = result.value;
        return e;
}

void kind_run_event(struct kind_run *r, const struct value *regarding, const struct recorder_source *source,
                    bool is_warning, const char *reason, const char *format, ...)
{
        struct str message;
        va_list arguments;

        va_start(arguments, format);
        message = arena_vprintf(r->run->arena, format, arguments);
        va_end(arguments);
        kind_run_record(r, regarding, source, is_warning, str_from(reason), message);
}

void kind_run_record(struct kind_run *r, const struct value *regarding, const struct recorder_source *source,
                     bool is_warning, struct str reason, struct str message)
{
        recorder_add(r->manager->recorder, r->run, regarding, source, is_warning, reason, message);
}

int kind_run_retry_conflict(struct kind_run *r, struct err *err, const char *what)
{
        if (err->reason != REASON_CONFLICT)
                return err_wrap(err, "%s", what);
        err_done(err);
        r->answer->requeues = true;
        return 0;
}

/* --- Life --- */

int manager_new(const struct manager_options *options, struct manager **ret, struct err *err)
{
        struct manager *m = xcalloc(1, sizeof(*m));
        struct control_options control = { .max_workers = options->max_workers,
                                           .user = options->user,
                                           .meters = options->meters };
        int r;

        m->options = *options;
        arena_init(&m->arena, "manager", 0);
        m->options.user = user_copy(&m->arena, &options->user);
        m->recorder = recorder_new(options->cluster);
        m->slots = slots_new(options->max_calls ? options->max_calls : LIMIT_CONTROL_CALLS);
        r = control_new(&control, &m->control, err);
        if (r == 0)
                r = hub_new(options->cluster, &m->options.user, &m->hub, err);
        if (r == 0)
                r = tracker_new(options->cluster, m->hub, options->meters, &m->tracker, err);
        if (r < 0)
                manager_free(m);
        else
                *ret = m;
        return r;
}

void manager_free(struct manager *m)
{
        if (!m)
                return;
        tracker_free(m->tracker);
        hub_free(m->hub);
        control_free(m->control);
        recorder_free(m->recorder);
        slots_free(m->slots);
        arena_done(&m->arena);
        free(m);
}

struct cluster *manager_cluster(const struct manager *m)
{
        return m->options.cluster;
}

struct slots *manager_slots(const struct manager *m)
{
        return m->slots;
}

const struct user *manager_user(const struct manager *m)
{
        return &m->options.user;
}

struct tracker *manager_tracker(const struct manager *m)
{
        return m->tracker;
}

int manager_settle(struct manager *m, struct deadline deadline, struct cancel *cancel)
{
        struct manager_stats before, after = manager_stats(m);
        int r;

        do {
                before = after;
                hub_settle(m->hub);
                r = control_settle(m->control, deadline, cancel);
                hub_settle(m->hub);
                after = manager_stats(m);
        } while (r == 0 && (after.n_events != before.n_events || after.queue.n_ready || after.queue.n_running));
        return r;
}

struct manager_stats manager_stats(struct manager *m)
{
        struct tracker_stats t = tracker_stats(m->tracker);

        return (struct manager_stats) { hub_events(m->hub), t.n_keys, t.n_notes, control_counts(m->control) };
}
