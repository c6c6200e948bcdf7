/* The cells of pods: what a pod's containers say about it, in one word. */
#include "table-cells.h"

struct pod_summary {
        int64_t n_ready;
        int64_t n_containers;
        int64_t n_restarts;
        struct instant last_restart;
        const struct value *last_restart_text; /* NULL: none */
        struct str reason;
};

/* --- Containers --- */

/* The state of that name, `waiting`, `running` or `terminated`, in the object under the key; NULL if it is in another one. */
static const struct value *state_of(const struct value *container, const char *key, const char *state)
{
        const struct value *v = value_find(container, key, state);

        return value_is_object(v) ? v : NULL;
}

/* Init containers that run as long as the pod does. */
static bool is_sidecar(const struct value *pod, struct str name)
{
        VALUE_FOREACH_ITEM (c, table_get(pod, "spec.initContainers"))
                if (str_equal(value_str(value_get(c, STR("name"))), name))
                        return str_equal(value_str(value_get(c, STR("restartPolicy"))), STR("Always"));
        return false;
}

static void count_restarts(struct pod_summary *p, const struct value *container)
{
        const struct value *ended = state_of(container, "lastState", "terminated");
        const struct value *text = value_get(ended, STR("finishedAt"));
        struct instant t;

        p->n_restarts += value_int(value_get(container, STR("restartCount")), 0);
        if (!value_is_string(text) || time_parse_rfc3339(value_str(text), &t, NULL) < 0)
                return;
        if (p->last_restart_text && (t.seconds < p->last_restart.seconds ||
                                     (t.seconds == p->last_restart.seconds && t.nanos <= p->last_restart.nanos)))
                return;
        p->last_restart = t;
        p->last_restart_text = text;
}

/* `Error`, `Signal:9` or `ExitCode:1`. */
static struct str ended_reason(struct arena *a, const struct value *terminated)
{
        struct str reason = value_str(value_get(terminated, STR("reason")));
        int64_t signal = value_int(value_get(terminated, STR("signal")), 0);

        if (reason.n > 0)
                return reason;
        if (signal != 0)
                return arena_printf(a, "Signal:%lld", (long long)signal);
        return arena_printf(a, "ExitCode:%lld", (long long)value_int(value_get(terminated, STR("exitCode")), 0));
}

/* --- Init containers --- */

/* The reason why an unfinished init container holds up the pod. Empty: the container is done, or runs beside the others. */
static struct str init_obstacle(struct arena *a, const struct value *pod, const struct value *container, size_t i,
                                struct pod_summary *p)
{
        const struct value *ended = state_of(container, "state", "terminated");
        struct str waiting = value_str(value_get(state_of(container, "state", "waiting"), STR("reason")));

        if (ended && value_int(value_get(ended, STR("exitCode")), 0) == 0)
                return STR("");
        if (is_sidecar(pod, value_str(value_get(container, STR("name")))) &&
            value_bool(value_get(container, STR("started")), false)) {
                p->n_ready += value_bool(value_get(container, STR("ready")), false);
                return STR("");
        }
        if (ended)
                return ARENA_CONCAT(a, STR("Init:"), ended_reason(a, ended));
        if (waiting.n > 0 && !str_equal(waiting, STR("PodInitializing")))
                return ARENA_CONCAT(a, STR("Init:"), waiting);
        return arena_printf(a, "Init:%zu/%zu", i, value_count(table_get(pod, "spec.initContainers")));
}

/* True if the pod waits for one of them. sidecars gets the restarts of those that run beside the others. */
static bool summarize_init(struct arena *a, const struct value *pod, struct pod_summary *p,
                           struct pod_summary *sidecars)
{
        size_t i = 0;

        VALUE_FOREACH_ITEM (c, table_get(pod, "status.initContainerStatuses")) {
                struct str obstacle;

                count_restarts(p, c);
                if (is_sidecar(pod, value_str(value_get(c, STR("name")))))
                        count_restarts(sidecars, c);
                obstacle = init_obstacle(a, pod, c, i++, p);
                if (obstacle.n > 0) {
                        p->reason = obstacle;
                        return true;
                }
        }
        return false;
}

/* --- The pod --- */

static void summarize_containers(struct arena *a, const struct value *pod, struct pod_summary *p)
{
        const struct value *list = table_get(pod, "status.containerStatuses");
        struct str failure = STR("");
        bool has_running = false;

        for (size_t i = value_count(list); i-- > 0;) {
                const struct value *c = value_item(list, i), *ended = state_of(c, "state", "terminated");
                struct str waiting = value_str(value_get(state_of(c, "state", "waiting"), STR("reason")));

                count_restarts(p, c);
                if (waiting.n > 0) {
                        p->reason = waiting;
                } else if (ended) {
                        p->reason = ended_reason(a, ended);
                        if (value_int(value_get(ended, STR("exitCode")), 0) != 0)
                                failure = p->reason;
                } else if (value_bool(value_get(c, STR("ready")), false) && state_of(c, "state", "running")) {
                        has_running = true;
                        p->n_ready++;
                }
        }
        if (!str_equal(p->reason, STR("Completed")))
                return;
        if (has_running && str_equal(table_condition(pod, STR("Ready")), STR("True")))
                p->reason = STR("Running");
        else if (failure.n > 0)
                p->reason = failure;
        else if (has_running)
                p->reason = STR("NotReady");
}

static bool is_gated(const struct value *pod)
{
        VALUE_FOREACH_ITEM (c, table_get(pod, "status.conditions"))
                if (str_equal(value_str(value_get(c, STR("type"))), STR("PodScheduled")) &&
                    str_equal(value_str(value_get(c, STR("reason"))), STR("SchedulingGated")))
                        return true;
        return false;
}

static struct str deletion_reason(const struct value *pod, struct str reason)
{
        struct str phase = table_text(pod, "status.phase");

        if (!meta_is_deleting(pod))
                return reason;
        if (str_equal(table_text(pod, "status.reason"), STR("NodeLost")))
                return STR("Unknown");
        return str_equal(phase, STR("Succeeded")) || str_equal(phase, STR("Failed")) ? reason : STR("Terminating");
}

static struct pod_summary summarize(const struct table_source *s)
{
        struct pod_summary p = { 0 }, sidecars = { 0 };
        const struct value *pod = s->object;

        p.reason = table_text(pod, "status.reason");
        if (p.reason.n == 0)
                p.reason = table_text(pod, "status.phase");
        if (is_gated(pod))
                p.reason = STR("SchedulingGated");
        p.n_containers = (int64_t)value_count(table_get(pod, "spec.containers"));
        VALUE_FOREACH_ITEM (c, table_get(pod, "spec.initContainers"))
                p.n_containers += is_sidecar(pod, value_str(value_get(c, STR("name"))));
        if (!summarize_init(s->arena, pod, &p, &sidecars) ||
            str_equal(table_condition(pod, STR("Initialized")), STR("True"))) {
                p.n_restarts = sidecars.n_restarts;
                p.last_restart = sidecars.last_restart;
                p.last_restart_text = sidecars.last_restart_text;
                summarize_containers(s->arena, pod, &p);
        }
        p.reason = deletion_reason(pod, p.reason);
        return p;
}

/* --- Cells --- */

struct value table_pod_ready(const struct table_source *s)
{
        struct pod_summary p = summarize(s);

        return table_printf(s, "%lld/%lld", (long long)p.n_ready, (long long)p.n_containers);
}

struct value table_pod_status(const struct table_source *s)
{
        return value_of_str(summarize(s).reason);
}

struct value table_pod_restarts(const struct table_source *s)
{
        struct pod_summary p = summarize(s);

        if (p.n_restarts != 0 && p.last_restart_text)
                return table_printf(s, "%lld (%.*s ago)", (long long)p.n_restarts,
                                    STR_ARG(table_since(s, p.last_restart_text)));
        return table_printf(s, "%lld", (long long)p.n_restarts);
}

struct value table_pod_ip(const struct table_source *s)
{
        const struct value *first = value_item(table_get(s->object, "status.podIPs"), 0);
        struct str ip = value_str(value_get(first, STR("ip")));

        return value_of_str(ip.n > 0 ? ip : STR("<none>"));
}

struct value table_pod_gates(const struct table_source *s)
{
        const struct value *gates = table_get(s->object, "spec.readinessGates");
        int n_true = 0;

        if (value_count(gates) == 0)
                return value_of_literal("<none>");
        VALUE_FOREACH_ITEM (g, gates)
                n_true += str_equal(table_condition(s->object, value_str(value_get(g, STR("conditionType")))),
                                    STR("True"));
        return table_printf(s, "%d/%zu", n_true, value_count(gates));
}

struct value table_pod_conditions(struct arena *a, const struct value *object)
{
        struct str phase = table_text(object, "status.phase");
        bool has_succeeded = str_equal(phase, STR("Succeeded"));
        struct member members[] = {
                { STR("type"), value_of_literal("Completed") },
                { STR("status"), value_of_literal("True") },
                { STR("reason"), value_of_str(phase) },
                { STR("message"),
                  value_of_str(has_succeeded ? STR("The pod has completed successfully.") : STR("The pod failed.")) },
        };
        struct value condition;

        if (!has_succeeded && !str_equal(phase, STR("Failed")))
                return value_empty_array;
        condition = value_of_members(a, members, ARRAY_SIZE(members), false);
        return value_of_items(a, &condition, 1);
}
