/* ClusterRoles with an aggregationRule: a thread keeps their rules equal to the rules of all roles that their selectors match.
 *
 * The thread watches ClusterRoles. It takes all events that are there, then looks at all roles once. Its own writes are events, too:
 * when it is done, a last look finds nothing to write. */
#include "access-state.h"

#include "log.h"

#define RETRY_MS 1000
#define MANAGER  "clusterrole-aggregation-controller"

struct aggregation {
        struct cluster *cluster;
        struct cancel *cancel;
        struct thread *thread;
};

static const struct gvk cluster_role = { STR_INIT(RBAC_GROUP), STR_INIT(RBAC_VERSION), STR_INIT("ClusterRole") };

/* --- One role --- */

/* Rules without repetitions. */
struct gathered {
        struct array_builder rules;
        struct u64_map by_hash; /* the first rule of each hash, as its index + 1 */
};

static bool has_rule(const struct gathered *g, const struct value *rule, uint64_t hash)
{
        size_t first = (size_t)(uintptr_t)u64_map_get(&g->by_hash, hash);

        if (first == 0)
                return false;
        for (size_t i = first - 1; i < g->rules.n; i++)
                if (value_equal(&g->rules.items[i], rule))
                        return true;
        return false;
}

static void add_rules(struct gathered *g, const struct value *role)
{
        VALUE_FOREACH_ITEM (rule, value_get(role, STR("rules"))) {
                uint64_t hash = value_hash(rule);

                if (has_rule(g, rule, hash))
                        continue;
                array_builder_add(&g->rules, *rule);
                u64_map_add(&g->by_hash, hash, (void *)(uintptr_t)g->rules.n);
        }
}

/* roles are sorted by name. */
static int gather(struct arena *a, const struct value *const *roles, size_t n, const struct value *role,
                  struct gathered *g, struct err *err)
{
        VALUE_FOREACH_ITEM (item, value_find(role, "aggregationRule", "clusterRoleSelectors")) {
                struct label_selector selector;
                int r = label_selector_from_value(a, item, &selector, err);

                if (r < 0)
                        return r;
                for (size_t i = 0; i < n; i++)
                        if (roles[i] != role &&
                            label_selector_matches(&selector, value_get(meta(roles[i]), STR("labels"))))
                                add_rules(g, roles[i]);
        }
        return 0;
}

/* The uid keeps the apply from creating a role that was deleted meanwhile. */
static int apply_rules(struct cluster *c, struct run *run, const struct value *role, const struct value *rules,
                       struct err *err)
{
        struct arena *a = run->arena;
        struct write_request req = { .verb = WRITE_APPLY, .manager = STR(MANAGER), .force = true };
        struct write_result result = { 0 };
        struct object_builder m, b;
        const struct value *body;

        object_builder_init(&m, a, 2);
        object_builder_add(&m, STR("name"), value_of_str(meta_name(role)));
        object_builder_add(&m, STR("uid"), value_of_str(meta_uid(role)));
        object_builder_init(&b, a, 4);
        object_builder_add(&b, STR("apiVersion"), value_of_literal(RBAC_GROUP "/" RBAC_VERSION));
        object_builder_add(&b, STR("kind"), value_of_literal("ClusterRole"));
        object_builder_add(&b, STR("metadata"), object_builder_finish(&m));
        object_builder_add(&b, STR("rules"), *rules);
        body = value_put(a, object_builder_finish(&b));
        req.key = object_key_of(body);
        req.body = body;
        return cluster_write(c, run, &req, &result, err);
}

static bool is_same(const struct value *old, const struct value *rules)
{
        if (!value_is_array(old))
                return value_count(rules) == 0;
        return value_equal(old, rules);
}

static int aggregate(struct cluster *c, struct run *run, const struct value *const *roles, size_t n,
                     const struct value *role, struct err *err)
{
        struct gathered g = { 0 };
        struct value rules;
        int r;

        array_builder_init(&g.rules, run->arena, 16);
        r = gather(run->arena, roles, n, role, &g, err);
        u64_map_done(&g.by_hash);
        rules = array_builder_finish(&g.rules);
        if (r == 0 && !is_same(value_get(role, STR("rules")), &rules))
                r = apply_rules(c, run, role, &rules, err);
        return r < 0 ? err_wrap(err, "cannot aggregate the rules of ClusterRole %.*s", STR_ARG(meta_name(role))) : 0;
}

/* --- All roles --- */

static struct run run_of(const struct aggregation *g, struct arena *a, struct deadline deadline)
{
        return (struct run) {
                .arena = a,
                .deadline = deadline,
                .cancel = g->cancel,
                .user = access_own_user("system:serviceaccount:kube-system:" MANAGER),
                .cause = STR("aggregation of ClusterRoles"),
        };
}

/* Logs a failure, unless the thread is to stop. */
static void tell(const struct aggregation *g, const char *what, const struct err *err)
{
        if (!cancel_is_triggered(g->cancel))
                log_warn(what, LOG_TEXT("error", err_message(err)));
}

/* True if everything is as it should be; failures are logged. */
static bool aggregate_all(struct aggregation *g)
{
        _cleanup_arena_ struct arena a;
        _cleanup_err_ struct err err = { 0 };
        struct list_request req = { .gvk = cluster_role };
        const struct value *const *roles;
        struct object_list list;
        struct run run;
        bool is_done = true;

        arena_init(&a, "aggregation", 0);
        run = run_of(g, &a, DEADLINE_NONE);
        if (cluster_list(g->cluster, &run, &req, &list, &err) < 0) {
                tell(g, "cannot list ClusterRoles", &err);
                return false;
        }
        roles = object_list_values(&list, &a);
        for (size_t i = 0; i < list.n; i++) {
                if (!value_is_object(value_get(roles[i], STR("aggregationRule"))) ||
                    aggregate(g->cluster, &run, roles, list.n, roles[i], &err) == 0)
                        continue;
                is_done = false;
                tell(g, "a ClusterRole is not aggregated", &err);
        }
        return is_done;
}

/* --- The thread --- */

/* Waits for an event, or until the deadline, then takes all events that are there. 0, or why the watch is over. */
static int await_events(struct aggregation *g, struct watch *w, struct deadline deadline, struct err *err)
{
        struct watch_wakeup nobody = { 0 };
        int r;

        for (bool is_first = true;; is_first = false) {
                _cleanup_arena_ struct arena a;
                struct watch_event event = { 0 };
                struct run run;

                arena_init(&a, "aggregation", 0);
                run = run_of(g, &a, deadline);
                r = is_first ? watch_next(w, &run, &event, err) : watch_try_next(w, &run, nobody, &event, err);
                if (is_first && r == ERR_TIMEOUT)
                        return 0;
                if (r < 0 || (r == 0 && !is_first))
                        return r;
        }
}

static int watch_roles(struct aggregation *g, struct watch **ret, struct err *err)
{
        struct watch_request req = { .gvk = cluster_role };
        _cleanup_arena_ struct arena a;
        struct run run;

        arena_init(&a, "aggregation", 0);
        run = run_of(g, &a, DEADLINE_NONE);
        return cluster_watch(g->cluster, &run, &req, ret, err);
}

static void follow(struct aggregation *g)
{
        _cleanup_(watch_freep)
        struct watch *w = NULL;
        _cleanup_err_ struct err err = { 0 };
        int r = watch_roles(g, &w, &err);

        while (r == 0) {
                bool is_done = aggregate_all(g);

                r = await_events(g, w, is_done ? DEADLINE_NONE : deadline_after_ms(RETRY_MS), &err);
        }
        if (r == ERR_EXPIRED || r == ERR_CLOSED)
                return;
        tell(g, "the watch of ClusterRoles has failed", &err);
        (void)thread_sleep(deadline_after_ms(RETRY_MS), g->cancel);
}

static void run_thread(void *arg)
{
        struct aggregation *g = arg;

        while (!cancel_is_triggered(g->cancel))
                follow(g);
}

int access_start_aggregation(struct access *a, struct err *err)
{
        struct aggregation *g = xcalloc(1, sizeof(*g));
        int r;

        assert(!a->aggregation);
        g->cluster = a->cluster;
        g->cancel = cancel_new(NULL);
        r = thread_start("aggregation", run_thread, g, &g->thread, err);
        if (r < 0) {
                cancel_unref(g->cancel);
                free(g);
                return r;
        }
        a->aggregation = g;
        return 0;
}

void aggregation_free(struct aggregation *g)
{
        if (!g)
                return;
        cancel_trigger(g->cancel, "the access is freed");
        thread_join(g->thread);
        cancel_unref(g->cancel);
        free(g);
}
