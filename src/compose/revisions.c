#include "revisions.h"

#include "clock.h"
#include "condition.h"
#include "first-design.h"
#include "revision.h"
#include "xrd.h"

#define GROUP   STR("apiextensions.crossplane.io")
#define MANAGER STR("crossplane")

static int one_event(struct run *run, bool is_warning, const char *reason, struct str message,
                     struct revisions_result *ret)
{
        struct reconcile_event *e = ARENA_NEW(run->arena, struct reconcile_event);

        *e = (struct reconcile_event) {
                .is_warning = is_warning,
                .reason = str_from(reason),
                .message = arena_copy(run->arena, message),
        };
        ret->events = e;
        ret->n_events = 1;
        return 0;
}

static bool is_conflict(const struct err *err)
{
        return err->reason == REASON_CONFLICT && err->details;
}

/* Reports the error in an event. A conflict is no error: another client wrote first, and the next run reads its change. */
static int fail(struct run *run, const char *reason, const char *what, struct err *inner, struct revisions_result *ret,
                struct err *err)
{
        if (is_conflict(inner)) {
                ret->requeues = true;
                return 0;
        }
        one_event(run, true, reason, str_from(err_message(inner)), ret);
        err_move(err, inner);
        return err_wrap(err, "%s", what);
}

static int get_own(struct run *run, struct cluster *c, const char *kind, struct str name, const struct value **ret,
                   struct err *err)
{
        struct object_key key = { .gvk = { GROUP, STR("v1"), str_from(kind) }, .name = name };
        int r;

        *ret = NULL;
        r = cluster_get_value(c, run, &key, ret, err);
        return r == ERR_NOT_FOUND ? 0 : r;
}

static int list_labelled(struct run *run, struct cluster *c, struct gvk gvk, struct str label, struct str value,
                         struct object_list *ret, struct err *err)
{
        struct label_requirement own = { .key = label, .op = SELECT_EQUALS, .values = &value, .n_values = 1 };
        struct label_selector labels = { .requirements = &own, .n = 1 };
        struct list_request list = { .gvk = gvk, .labels = label.n ? &labels : NULL };

        return cluster_list(c, run, &list, ret, err);
}

/* --- From Compositions to revisions --- */

static int write_step(struct run *run, struct cluster *c, const struct revision_step *step, struct err *err)
{
        struct write_request req = {
                .verb = step->action == REVISION_CREATE ? WRITE_CREATE : WRITE_UPDATE,
                .key = object_key_of(step->object),
                .body = step->object,
                .manager = MANAGER,
        };
        struct write_result result;

        return step->action == REVISION_KEEP ? 0 : cluster_write(c, run, &req, &result, err);
}

static int follow(struct run *run, struct cluster *c, const struct value *composition, struct revisions_result *ret,
                  struct err *err)
{
        _cleanup_err_ struct err inner = { 0 };
        struct gvk gvk = { GROUP, STR("v1"), STR("CompositionRevision") };
        struct revision_step *steps;
        struct object_list found;
        size_t n;

        if (list_labelled(run, c, gvk, STR("crossplane.io/composition-name"), meta_name(composition), &found, &inner) <
            0)
                return fail(run, "CreateRevision", "cannot list CompositionRevisions", &inner, ret, err);
        if (revision_plan(run->arena, composition, object_list_values(&found, run->arena), found.n, &steps, &n,
                          &inner) < 0)
                return fail(run, "UpdateRevision", "cannot plan CompositionRevisions", &inner, ret, err);
        for (size_t i = 0; i < n; i++) {
                bool creates = steps[i].action == REVISION_CREATE;

                if (write_step(run, c, &steps[i], &inner) < 0)
                        return creates ? fail(run, "CreateRevision", "cannot create CompositionRevision", &inner, ret,
                                              err)
                                       : fail(run, "UpdateRevision", "cannot update CompositionRevision", &inner, ret,
                                              err);
                if (creates)
                        one_event(run, false, "CreateRevision", STR("Created new revision"), ret);
        }
        return 0;
}

int revisions_reconcile(struct run *run, struct cluster *c, struct str name, struct revisions_result *ret,
                        struct err *err)
{
        struct run with_cause = *run;
        const struct value *composition;

        *ret = (struct revisions_result) { 0 };
        if (get_own(run, c, "Composition", name, &composition, err) < 0)
                return err_wrap(err, "cannot get Composition");
        if (!composition || meta_is_deleting(composition))
                return 0;
        if (run->cause.n == 0)
                with_cause.cause = arena_printf(run->arena, "revisions of Composition %.*s", STR_ARG(name));
        return follow(&with_cause, c, composition, ret, err);
}

/* --- Whether the pipeline can run --- */

/* Whether the capability is "composition". Only letters, in any case, and digits are compared. */
static bool is_composition(struct str s)
{
        static const char word[] = "composition";
        size_t n = 0;

        for (size_t i = 0; i < s.n; i++) {
                char ch = s.p[i];

                if (ch >= 'A' && ch <= 'Z')
                        ch = (char)(ch - 'A' + 'a');
                if (!(ch >= 'a' && ch <= 'z') && !(ch >= '0' && ch <= '9'))
                        continue;
                if (n == sizeof(word) - 1 || word[n++] != ch)
                        return false;
        }
        return n == sizeof(word) - 1;
}

static bool can_compose(const struct value *function_revision)
{
        VALUE_FOREACH_ITEM (capability, value_find(function_revision, "status", "capabilities"))
                if (is_composition(value_str(capability)))
                        return true;
        return false;
}

static bool is_used(const struct value *revision, struct str function)
{
        VALUE_FOREACH_ITEM (step, value_find(revision, "spec", "pipeline"))
                if (str_equal(value_str(value_find(step, "functionRef", "name")), function))
                        return true;
        return false;
}

/* Whether an older revision serves in place of this one, whose package is not installed yet. */
static bool is_served_by_another(struct run *run, const struct object_list *revisions, const struct value *revision)
{
        struct str label = STR("pkg.crossplane.io/package");
        struct condition health;

        if (condition_get(revision, STR("RevisionHealthy"), &health) && health.status == CONDITION_TRUE)
                return false;
        for (size_t i = 0; i < revisions->n; i++) {
                const struct value *other = object_list_value(revisions, i, run->arena);

                if (!str_equal(meta_name(other), meta_name(revision)) && can_compose(other) &&
                    str_equal(meta_label(other, label), meta_label(revision, label)))
                        return true;
        }
        return false;
}

/* A message if a function of the pipeline cannot compose; "" if all can. Functions that are not installed are not checked: the call
 * of such a function reports it. */
static int find_problem(struct run *run, struct cluster *c, const struct value *revision, struct str *ret,
                        struct err *err)
{
        struct gvk gvk = { STR("pkg.crossplane.io"), STR("v1"), STR("FunctionRevision") };
        struct object_list found = { 0 };
        int r = list_labelled(run, c, gvk, STR(""), STR(""), &found, err);

        *ret = STR("");
        if (r < 0 && r != ERR_NOT_FOUND)
                return r;
        for (size_t i = 0; i < found.n; i++) {
                const struct value *v = object_list_value(&found, i, run->arena);
                struct str function = meta_label(v, STR("pkg.crossplane.io/package"));

                if (!str_equal(value_str(value_find(v, "spec", "desiredState")), STR("Active")) ||
                    !is_used(revision, function) || can_compose(v) || is_served_by_another(run, &found, v))
                        continue;
                *ret = arena_printf(run->arena,
                                    "function \"%.*s\" (active revision \"%.*s\") is missing required capabilities: "
                                    "composition",
                                    STR_ARG(function), STR_ARG(meta_name(v)));
                break;
        }
        return 0;
}

/* The definition of the kind that the revision composes; NULL if there is none yet. The kind is followed, so that a definition that
 * comes later runs this again. */
static int find_definition(struct run *run, struct cluster *c, const struct value *revision, const struct value **ret,
                           struct err *err)
{
        struct gvk gvk = gvk_of(value_find(revision, "spec", "compositeTypeRef"));
        const struct kind *kind;
        int r = cluster_kind(c, run, gvk, &kind, err);

        *ret = NULL;
        if (r == 0)
                r = get_own(run, c, "CompositeResourceDefinition",
                            arena_printf(run->arena, "%.*s.%.*s", STR_ARG(kind->plural), STR_ARG(kind->group)), ret,
                            err);
        if (r == ERR_NOT_FOUND)
                r = 0;
        if (r == 0)
                err_done(err);
        return r;
}

/* A message if the revision does not keep the connection contract of its kind (docs/spec/seeds 5); "" if it does, or if its kind has
 * none. */
static int find_breach(struct run *run, struct cluster *c, const struct value *revision, struct str *ret,
                       struct err *err)
{
        const struct value *xrd;
        int r = find_definition(run, c, revision, &xrd, err);

        *ret = STR("");
        if (r == 0 && xrd && xrd_places(xrd)->has_exact_keys)
                *ret = first_design_contract(run->arena, value_find(xrd, "spec", "connectionSecretKeys"), revision);
        return r;
}

/* 1 if they were written, 0 if they are so already. */
static int write_conditions(struct run *run, struct cluster *c, const struct value *revision, struct str problem,
                            const char *reason, struct err *err)
{
        struct condition conditions[] = {
                { .type = STR("Synced"), .status = CONDITION_TRUE, .reason = STR("ReconcileSuccess") },
                { .type = STR("ValidPipeline"),
                  .status = problem.n ? CONDITION_FALSE : CONDITION_TRUE,
                  .reason = problem.n ? str_from(reason) : STR("ValidPipeline"),
                  .message = problem },
        };
        struct write_request req = {
                .verb = WRITE_UPDATE,
                .key = object_key_of(revision),
                .subresource = STR("status"),
                .manager = MANAGER,
        };
        struct write_result result;
        int r;

        for (size_t i = 0; i < ARRAY_SIZE(conditions); i++) {
                conditions[i].last_transition = clock_wall();
                conditions[i].observed_generation = meta_generation(revision);
        }
        req.body = conditions_set(run->arena, revision, conditions, ARRAY_SIZE(conditions));
        if (req.body == revision)
                return 0;
        r = cluster_write(c, run, &req, &result, err);
        return r < 0 ? r : 1;
}

int revision_validate(struct run *run, struct cluster *c, struct str name, struct revisions_result *ret,
                      struct err *err)
{
        _cleanup_err_ struct err inner = { 0 };
        struct run with_cause = *run;
        const struct value *revision;
        const char *reason = "MissingCapabilities";
        struct str problem;
        int r;

        *ret = (struct revisions_result) { 0 };
        if (get_own(run, c, "CompositionRevision", name, &revision, err) < 0)
                return err_wrap(err, "cannot get CompositionRevision");
        if (!revision || meta_is_deleting(revision))
                return 0;
        if (run->cause.n == 0)
                with_cause.cause = arena_printf(run->arena, "validation of CompositionRevision %.*s", STR_ARG(name));
        if (find_problem(&with_cause, c, revision, &problem, &inner) < 0)
                return fail(run, "CheckCapabilities", "cannot list FunctionRevisions", &inner, ret, err);
        err_done(&inner);
        if (problem.n == 0) {
                reason = "BrokenContract";
                if (find_breach(&with_cause, c, revision, &problem, &inner) < 0)
                        return fail(run, "CheckContract", "cannot get the definition of the composite resource", &inner,
                                    ret, err);
        }
        r = write_conditions(&with_cause, c, revision, problem, reason, &inner);
        if (r < 0)
                return fail(run, "CheckCapabilities", "cannot update CompositionRevision status", &inner, ret, err);
        if (r == 0)
                return 0; /* what has been said once is not said again */
        return one_event(run, problem.n > 0, "CheckCapabilities",
                         problem.n ? problem : STR("All functions have required composition capability"), ret);
}
