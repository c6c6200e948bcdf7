/* The rollout of a Function's new package (docs/spec/seeds 3.1): tells the registry which composites run on which revision, judges what
 * came of it, and stops what does harm.
 *
 * The registry has the plan before it has a revision of the Function, because putting one there sets it first: composites
 * that run right after a start find the old revision, or none, and never a new one that was rolled back. */
#include "packages-state.h"

#include "clock.h"
#include "rollout-judge.h"

#define LOOK_NS      500000000ll   /* between two looks at composites that have not run yet */
#define REMEMBER_NS  30000000000ll /* after a start: until then as many composites are expected as before */
#define COMPONENT    STR("rollout/function.pkg.crossplane.io")
#define PHASE(state) value_str(value_get((state), STR("phase")))

/* NULL removes it. */
static int save(struct kind_run *r, const struct value *function, const struct value *status, struct err *err)
{
        const struct value *wanted = package_with_status(r->run->arena, function, STR("rollout"), status);

        return package_save_status(r, function, wanted, err);
}

/* --- Plans --- */

static const struct value *rollout_status(const struct value *function)
{
        return value_find(function, "status", "rollout");
}

/* The revision of the new package; "": it does not exist yet. */
static struct str new_revision(const struct value *function)
{
        struct str current = value_str(value_find(function, "status", "currentRevision"));
        bool is_known = str_equal(value_str(value_find(function, "status", "currentIdentifier")),
                                  value_str(value_find(function, "spec", "package")));

        return is_known && !str_equal(current, value_str(value_find(function, "spec", "rollout", "from"))) ? current
                                                                                                           : STR("");
}

static int64_t number(const struct value *v, struct str key)
{
        return value_int(value_get(v, key), 0);
}

/* Whether the status is about the rollout that the spec asks for. */
static bool is_same_rollout(const struct value *status, const struct value *rollout)
{
        return str_equal(value_str(value_get(status, STR("fromRevision"))),
                         value_str(value_get(rollout, STR("from")))) &&
               str_equal(value_str(value_get(status, STR("to"))), value_str(value_get(rollout, STR("to")))) &&
               number(status, STR("attempt")) == number(rollout, STR("attempt"));
}

static struct rollout_plan plan_of(const struct value *function)
{
        const struct value *rollout = value_find(function, "spec", "rollout"), *status = rollout_status(function);
        struct rollout_plan plan = { .uid = meta_uid(function), .generation = meta_generation(function) };

        if (!rollout)
                return plan;
        plan.is_on = true;
        plan.from = value_str(value_get(rollout, STR("from")));
        plan.to = new_revision(function);
        plan.percent = number(rollout, STR("percent"));
        plan.attempt = number(rollout, STR("attempt"));
        plan.is_dry_run = value_bool(value_get(rollout, STR("dryRun")), false);
        plan.gives_credentials = value_bool(value_get(rollout, STR("withCredentials")), false);
        plan.is_stopped = str_equal(PHASE(status), STR("RolledBack")) && is_same_rollout(status, rollout);
        return plan;
}

static void set_plan(struct packages *p, struct kind_run *r, struct str function, const struct rollout_plan *plan)
{
        if (registry_set_rollout(p->options.registry, function, plan))
                tracker_tell(manager_tracker(r->manager),
                             arena_printf(r->run->arena, "function/%.*s", STR_ARG(function)));
}

int package_begin_rollout(struct packages *p, struct kind_run *r, struct str function, struct err *err)
{
        const struct value *v;
        struct rollout_plan plan;
        int e;

        if (!packages_have_selectors(p, &package_kinds[XPKG_FUNCTION]))
                return 0;
        e = packages_get(r, package_gvk(&package_kinds[XPKG_FUNCTION]), STR(""), function, &v, err);
        if (e < 0 || !value_find(v, "spec", "rollout"))
                return e;
        plan = plan_of(v);
        plan.is_first_look = true;
        set_plan(p, r, function, &plan);
        return 0;
}

/* Whether the registry has the current revision as the newest. A Function that went back to its old package has it when the old
 * revision got a new number; until then the newest one is the revision that it left. */
static bool knows_current(struct packages *p, struct kind_run *r, const struct value *function)
{
        const struct value *spec = value_get(function, STR("spec"));

        if (str_equal(value_str(value_get(spec, STR("revisionActivationPolicy"))), STR("Manual")))
                return true;
        return str_equal(value_str(value_find(function, "status", "currentIdentifier")),
                         value_str(value_get(spec, STR("package")))) &&
               str_equal(value_str(value_find(function, "status", "currentRevision")),
                         registry_newest(p->options.registry, r->run->arena, meta_name(function)));
}

/* spec.rollout is gone. The rollout's revisions serve until the registry knows the current one. */
static int end_rollout(struct packages *p, struct kind_run *r, const struct value *function, struct err *err)
{
        struct rollout_plan plan = plan_of(function);
        struct rollout_state state;

        if (registry_read_rollout(p->options.registry, r->run->arena, meta_name(function), &state) &&
            str_equal(state.plan.uid, plan.uid) && !knows_current(p, r, function)) {
                r->answer->after_ns = LOOK_NS;
                return 0;
        }
        set_plan(p, r, meta_name(function), &plan);
        if (!rollout_status(function) || save(r, function, NULL, err) == 0)
                return 0;
        return kind_run_retry_conflict(r, err, "cannot update the status of the rollout");
}

/* --- What is to be said --- */

struct rollout_job {
        struct kind_run *r;
        struct packages *pack;
        struct arena *arena;
        const struct value *function, *rollout, *before; /* before: the status as it was; NULL: none */
        struct rollout_limits limits;
        struct rollout_state state;
        uint64_t composites, pending;
        bool is_sampled;
        const char *phase;
        struct str reason, message;
        struct str event; /* the reason of an event when the status is written; "": none */
        bool is_warning;
};

static void say(struct rollout_job *j, const char *phase, struct str reason, struct str message)
{
        j->phase = phase;
        j->reason = reason;
        j->message = message;
}

/* How many composites call the function, and how many of them have not run since the share moved. */
static void count_composites(struct rollout_job *j)
{
        struct str topic = arena_printf(j->arena, "function/%.*s", STR_ARG(meta_name(j->function)));
        bool has_just_started = clock_mono_ns() - j->state.since_ns < REMEMBER_NS;
        int64_t known = is_same_rollout(j->before, j->rollout) ? number(j->before, STR("composites")) : 0;

        j->composites = tracker_count(manager_tracker(j->r->manager), topic);
        if (has_just_started)
                j->composites = MAX(j->composites, (uint64_t)known);
        j->pending = j->composites > j->state.n_current ? j->composites - j->state.n_current : 0;
}

/* Explains why a revision has no endpoint, in the words of its runtime. */
static struct str explain_silence(struct rollout_job *j, const char *which, const struct value *revision)
{
        struct condition health;
        struct str name = meta_name(revision);

        if (!condition_get(revision, STR("RuntimeHealthy"), &health) || health.message.n == 0)
                return arena_printf(j->arena, "the %s FunctionRevision \"%.*s\" does not answer yet", which,
                                    STR_ARG(name));
        return arena_printf(j->arena, "the %s FunctionRevision \"%.*s\" does not answer yet: %.*s", which,
                            STR_ARG(name), STR_ARG(health.message));
}

/* Why the revision cannot serve; "": it can. */
static int find_obstacle(struct rollout_job *j, const char *which, struct str name, struct str *ret, struct err *err)
{
        const struct value *v;
        int e = packages_get(j->r, package_revision_gvk(&package_kinds[XPKG_FUNCTION]), STR(""), name, &v, err);

        *ret = STR("");
        if (e < 0)
                return e;
        if (!v)
                *ret = arena_printf(j->arena, "the %s FunctionRevision \"%.*s\" does not exist", which, STR_ARG(name));
        else if (!package_revision_is_active(v))
                *ret = arena_printf(j->arena,
                                    "the %s FunctionRevision \"%.*s\" is not Active; with revisionActivationPolicy "
                                    "Manual, activate it by its spec.desiredState",
                                    which, STR_ARG(name));
        else if (value_str(value_find(v, "status", "endpoint")).n == 0)
                *ret = explain_silence(j, which, v);
        return 0;
}

/* Whether the new package is the image that the old revision runs. */
static bool has_same_image(const struct rollout_job *j)
{
        return str_equal(value_str(value_find(j->function, "status", "currentIdentifier")),
                         value_str(value_get(j->rollout, STR("to")))) &&
               str_equal(value_str(value_find(j->function, "status", "currentRevision")), j->state.plan.from);
}

/* Why there is no new revision. */
static struct str explain_absence(struct rollout_job *j)
{
        struct condition installed;
        struct str current = value_str(value_find(j->function, "status", "currentRevision"));

        if (has_same_image(j))
                return arena_printf(j->arena,
                                    "the package has the image that FunctionRevision \"%.*s\" runs already: there is "
                                    "nothing to roll out",
                                    STR_ARG(current));
        if (condition_get(j->function, STR("Installed"), &installed) && installed.status != CONDITION_TRUE)
                return arena_printf(j->arena, "the new package is not installed: %.*s", STR_ARG(installed.message));
        return STR("the new package is being installed");
}

/* 1: something is missing, and it is said. */
static int check_revisions(struct rollout_job *j, struct err *err)
{
        struct str why;
        int e = find_obstacle(j, "old", j->state.plan.from, &why, err);

        if (e == 0 && why.n == 0 && j->state.plan.to.n > 0)
                e = find_obstacle(j, "new", j->state.plan.to, &why, err);
        else if (e == 0 && why.n == 0)
                why = explain_absence(j);
        if (e < 0)
                return e;
        if (why.n == 0)
                return 0;
        say(j, "Waiting", has_same_image(j) ? STR("SameImage") : STR("RevisionNotReady"), why);
        return 1;
}

/* --- Decisions --- */

/* All composites go back to the old revision. The registry is told before the status is written: nothing more runs on the new one. */
static void stop(struct rollout_job *j, const struct rollout_verdict *verdict)
{
        struct rollout_plan plan = j->state.plan;

        plan.is_stopped = true;
        set_plan(j->pack, j->r, meta_name(j->function), &plan);
        say(j, "RolledBack", verdict->reason,
            arena_printf(j->arena, "%.*s. All composites run on FunctionRevision \"%.*s\" again",
                         STR_ARG(verdict->message), STR_ARG(plan.from)));
        j->event = STR("RolledBack");
        j->is_warning = true;
}

static void stay_stopped(struct rollout_job *j)
{
        say(j, "RolledBack", value_str(value_get(j->before, STR("reason"))),
            value_str(value_get(j->before, STR("message"))));
}

static void go_on(struct rollout_job *j)
{
        if (j->state.plan.percent < ROLLOUT_SHARES || !j->is_sampled) {
                say(j, "Progressing", STR("Sampling"), STR(""));
                if (j->is_sampled)
                        j->reason = STR("Sampled");
                return;
        }
        say(j, "Complete", STR("AllComposites"),
            STR("all composites run on the new revision; remove spec.rollout to let the old one go"));
        if (!str_equal(PHASE(j->before), STR("Complete")))
                j->event = STR("RolloutComplete");
}

static int decide(struct rollout_job *j, struct err *err)
{
        struct rollout_verdict verdict;
        int e;

        if (str_equal(PHASE(j->before), STR("RolledBack")) && is_same_rollout(j->before, j->rollout)) {
                stay_stopped(j);
                return 0;
        }
        verdict = rollout_judge(j->arena, &j->limits, j->state.counts, j->is_sampled);
        if (verdict.is_bad) {
                stop(j, &verdict);
                return 0;
        }
        e = check_revisions(j, err);
        if (e != 0)
                return MIN(e, 0);
        if (j->state.plan.is_dry_run)
                say(j, "DryRun", STR("Comparing"), STR("all composites run on the old revision; answers are compared"));
        else
                go_on(j);
        return 0;
}

/* --- The status --- */

static struct value counts_value(struct arena *a, const struct rollout_counts *c)
{
        struct member members[] = {
                { STR("deletions"), value_of_int((int64_t)c->deletions) },
                { STR("failed"), value_of_int((int64_t)c->failed) },
                { STR("latencyMilliseconds"),
                  value_of_double(c->runs ? (double)(c->duration_ns / 1000 / (int64_t)c->runs) / 1000 : 0) },
                { STR("runs"), value_of_int((int64_t)c->runs) },
        };

        return value_of_members(a, members, ARRAY_SIZE(members), true);
}

static const struct value *status_value(struct rollout_job *j)
{
        bool serves_new = strcmp(j->phase, "Progressing") == 0 || strcmp(j->phase, "Complete") == 0;
        struct object_builder b;

        object_builder_init(&b, j->arena, 16);
        object_builder_add(&b, STR("attempt"), value_of_int(j->state.plan.attempt));
        object_builder_add(&b, STR("composites"), value_of_int((int64_t)j->composites));
        object_builder_add(&b, STR("fromCounts"), counts_value(j->arena, &j->state.counts[ROLLOUT_FROM]));
        object_builder_add(&b, STR("fromRevision"), value_of_str(j->state.plan.from));
        object_builder_add(&b, STR("isSampled"), value_of_bool(j->is_sampled));
        object_builder_add(&b, STR("message"), value_of_str(j->message));
        object_builder_add(&b, STR("observedGeneration"), value_of_int(meta_generation(j->function)));
        object_builder_add(&b, STR("pending"), value_of_int((int64_t)j->pending));
        object_builder_add(&b, STR("percent"), value_of_int(serves_new ? j->state.plan.percent : 0));
        object_builder_add(&b, STR("phase"), value_of_str(str_from(j->phase)));
        object_builder_add(&b, STR("reason"), value_of_str(j->reason));
        object_builder_add(&b, STR("to"), *value_get(j->rollout, STR("to")));
        object_builder_add(&b, STR("toCounts"), counts_value(j->arena, &j->state.counts[ROLLOUT_TO]));
        object_builder_add(&b, STR("toRevision"), value_of_str(j->state.plan.to));
        return value_put(j->arena, object_builder_finish(&b));
}

/* Counts that stopped a rollout are not written over by those of later runs. */
static bool is_settled(const struct rollout_job *j)
{
        return str_equal(PHASE(j->before), STR("RolledBack")) && strcmp(j->phase, "RolledBack") == 0 &&
               number(j->before, STR("observedGeneration")) == meta_generation(j->function);
}

/* A conflict runs the Function again, which judges anew: the event is told with the status that counts. */
static int tell(struct rollout_job *j, struct err *err)
{
        int e = save(j->r, j->function, status_value(j), err);

        if (e < 0)
                return kind_run_retry_conflict(j->r, err, "cannot update the status of the rollout");
        if (j->event.n)
                kind_run_record(j->r, j->function, &(struct recorder_source) { .component = COMPONENT }, j->is_warning,
                                j->event, j->message);
        return 0;
}

static int reconcile(struct rollout_job *j, struct err *err)
{
        int e;

        tracked_run_note(j->r->tracked, arena_printf(j->arena, "rollout/%.*s", STR_ARG(meta_name(j->function))));
        if (!registry_read_rollout(j->pack->options.registry, j->arena, meta_name(j->function), &j->state))
                return 0;
        j->limits = rollout_limits_of(j->rollout);
        count_composites(j);
        j->is_sampled = rollout_is_sampled(&j->limits, &j->state.counts[ROLLOUT_TO], j->pending);
        e = decide(j, err);
        if (e < 0)
                return err_wrap(err, "cannot roll out Function");
        if (j->pending > 0 && strcmp(j->phase, "RolledBack") != 0)
                j->r->answer->after_ns = LOOK_NS;
        return is_settled(j) ? 0 : tell(j, err);
}

int package_rollout_reconcile(struct kind_run *r, struct err *err)
{
        struct package_controllers *c = r->context;
        struct rollout_job j = { .r = r, .pack = c->pack, .arena = r->run->arena };
        struct rollout_plan plan;
        int e = kind_run_get(r, &j.function, err);

        if (e < 0)
                return err_wrap(err, "cannot get Function");
        if (!j.function || meta_is_deleting(j.function))
                return 0;
        j.rollout = value_find(j.function, "spec", "rollout");
        j.before = rollout_status(j.function);
        if (!j.rollout)
                return end_rollout(c->pack, r, j.function, err);
        plan = plan_of(j.function);
        set_plan(c->pack, r, meta_name(j.function), &plan);
        return reconcile(&j, err);
}
