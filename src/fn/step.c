#include "step.h"

#include "clock.h"
#include "buf.h"
#include "fetch.h"
#include "fn-cache.h"
#include "gotext.h"
#include "limits.h"

#define DEFAULT_CALLS 6 /* upstream's constant is 5, and counts from 0 */

enum {
        CAPABILITY_CAPABILITIES = 1,
        CAPABILITY_REQUIRED_RESOURCES,
        CAPABILITY_CREDENTIALS,
        CAPABILITY_CONDITIONS,
        CAPABILITY_REQUIRED_SCHEMAS,
};

static uint32_t capabilities_of(const struct step_context *c)
{
        uint32_t all = 1u << CAPABILITY_CAPABILITIES | 1u << CAPABILITY_REQUIRED_RESOURCES |
                       1u << CAPABILITY_CREDENTIALS | 1u << CAPABILITY_CONDITIONS | 1u << CAPABILITY_REQUIRED_SCHEMAS;

        if (c->policy == EXTRA_RESOURCES_OFF)
                all &= ~(1u << CAPABILITY_REQUIRED_RESOURCES | 1u << CAPABILITY_REQUIRED_SCHEMAS);
        return all;
}

/* --- What a step has from the start --- */

/* They mostly come in the order of names. */
void answers_put(struct answers *answers, const struct fn_resources *r)
{
        size_t at = answers->n_resources;

        while (at > 0 && str_compare(answers->resources[at - 1].name, r->name) > 0)
                at--;
        if (at > 0 && str_equal(answers->resources[at - 1].name, r->name)) {
                answers->resources[at - 1] = *r;
                return;
        }
        memmove(&answers->resources[at + 1], &answers->resources[at], (answers->n_resources - at) * sizeof(*r));
        answers->resources[at] = *r;
        answers->n_resources++;
}

static void put_schema(struct answers *answers, const struct fn_schema *s)
{
        size_t at = answers->n_schemas;

        while (at > 0 && str_compare(answers->schemas[at - 1].name, s->name) > 0)
                at--;
        if (at > 0 && str_equal(answers->schemas[at - 1].name, s->name)) {
                answers->schemas[at - 1] = *s;
                return;
        }
        memmove(&answers->schemas[at + 1], &answers->schemas[at], (answers->n_schemas - at) * sizeof(*s));
        answers->schemas[at] = *s;
        answers->n_schemas++;
}

static int fetch_bootstrap(struct step_state *s, struct err *err)
{
        const struct value *resources = value_get(s->step->requirements, STR("requiredResources"));
        const struct value *schemas = value_get(s->step->requirements, STR("requiredSchemas"));
        size_t n_resources = value_count(resources), n_schemas = value_count(schemas);
        struct arena *a = step_arena(s);
        int r;

        s->given.resources = ARENA_NEW_ARRAY(a, struct fn_resources, n_resources + 1);
        s->given.schemas = ARENA_NEW_ARRAY(a, struct fn_schema, n_schemas + 1);
        s->offered = ARENA_NEW_ARRAY(a, struct fn_selector, n_resources + 1);
        s->offered_schemas = ARENA_NEW_ARRAY(a, struct fn_selector, n_schemas + 1);
        VALUE_FOREACH_ITEM (item, resources) {
                struct fn_selector selector = selector_of(a, item);
                struct fn_resources found;

                if ((r = fetch_check(s->c, s->step, &selector, err)) < 0 ||
                    (r = fetch_resources(s, &selector, &found, err)) < 0)
                        return err_wrap(err, "cannot fetch bootstrap required resources for requirement %s",
                                        go_quote(a, selector.name).p);
                answers_put(&s->given, &found);
                s->offered[s->n_offered++] = selector;
        }
        VALUE_FOREACH_ITEM (item, schemas) {
                struct fn_selector selector = selector_of(a, item);
                struct fn_schema found;

                if ((r = fetch_check(s->c, s->step, &selector, err)) < 0 ||
                    (r = fetch_schema(s, &selector, &found, err)) < 0)
                        return err_wrap(err, "cannot fetch bootstrap required schema for requirement %s",
                                        go_quote(a, selector.name).p);
                put_schema(&s->given, &found);
                s->offered_schemas[s->n_offered_schemas++] = selector;
        }
        return 0;
}

static void set_answers(struct fn_request *req, const struct answers *answers)
{
        req->required_resources = (struct fn_resources_map) { answers->resources, answers->n_resources };
        req->schemas = answers->schemas;
        req->n_schemas = answers->n_schemas;
}

static int check_step(const struct step_context *c, const struct step *step, struct err *err)
{
        static const char gate[] = "FunctionRevisionSelectors";

        if (function_choice_is_given(&step->choice) && !feature_is_on(c->features, FEATURE_FUNCTION_REVISION_SELECTORS))
                return err_set(err, ERR_FORBIDDEN,
                               "Composition pipeline step \"%.*s\" has a %s, which needs the feature gate %s "
                               "(--feature-gates=%s=true)",
                               STR_ARG(step->name),
                               step->choice.revision.n ? "functionRevisionRef" : "functionRevisionSelector", gate,
                               gate);
        if (step->input && step->input_ref)
                return err_set(err, ERR_INVALID,
                               "Composition pipeline step \"%.*s\" has both an input and an inputRef: give one of them",
                               STR_ARG(step->name));
        return 0;
}

static int make_request(struct step_state *s, const struct fn_state *desired, const struct fn_struct *context,
                        struct err *err)
{
        int r;

        s->req = (struct fn_request) {
                .capabilities = capabilities_of(s->c),
                .observed = *s->c->observed,
                .desired = *desired,
                .context = *context,
                .input = { .value = s->step->input },
        };
        if ((r = check_step(s->c, s->step, err)) < 0 || (r = fetch_input(s, &s->req.input, err)) < 0 ||
            (r = fetch_credentials(s, &s->req, err)) < 0 || (r = fetch_bootstrap(s, err)) < 0)
                return r;
        return 0;
}

/* --- The requirements loop --- */

static bool is_fatal(const struct fn_response *rsp)
{
        for (size_t i = 0; i < rsp->n_results; i++)
                if (rsp->results[i].severity == FN_SEVERITY_FATAL)
                        return true;
        return false;
}

struct answers answers_copy(struct arena *a, const struct answers *from, size_t n_resources, size_t n_schemas)
{
        struct answers copy = { .n_resources = from->n_resources, .n_schemas = from->n_schemas };

        copy.resources = ARENA_NEW_ARRAY(a, struct fn_resources, from->n_resources + n_resources + 1);
        copy.schemas = ARENA_NEW_ARRAY(a, struct fn_schema, from->n_schemas + n_schemas + 1);
        if (from->n_resources)
                memcpy(copy.resources, from->resources, from->n_resources * sizeof(*copy.resources));
        if (from->n_schemas)
                memcpy(copy.schemas, from->schemas, from->n_schemas * sizeof(*copy.schemas));
        return copy;
}

static int check_all(const struct step_context *c, const struct step *step, const struct fn_requirements *wanted,
                     struct err *err)
{
        const struct {
                const struct fn_selector *p;
                size_t n;
        } lists[] = {
                { wanted->resources, wanted->n_resources },
                { wanted->extra_resources, wanted->n_extra_resources },
                { wanted->schemas, wanted->n_schemas },
        };
        size_t n = wanted->n_resources + wanted->n_extra_resources + wanted->n_schemas;
        int r;

        if (n > LIMIT_REQUIREMENTS)
                return err_set(err, ERR_LIMIT, "function \"%.*s\" has %zu requirements, the limit is %d",
                               STR_ARG(step->function), n, LIMIT_REQUIREMENTS);
        for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
                for (size_t j = 0; j < lists[i].n; j++)
                        if ((r = fetch_check(c, step, &lists[i].p[j], err)) < 0)
                                return r;
        return 0;
}

static int fetch_extra(struct step_state *s, const struct fn_requirements *wanted, struct fn_resources_map *ret,
                       struct err *err)
{
        struct fn_resources *p = ARENA_NEW_ARRAY(step_arena(s), struct fn_resources, wanted->n_extra_resources + 1);
        int r;

        for (size_t i = 0; i < wanted->n_extra_resources; i++) {
                r = fetch_resources(s, &wanted->extra_resources[i], &p[i], err);
                if (r < 0)
                        return err_wrap(err, "fetching resources for %.*s", STR_ARG(wanted->extra_resources[i].name));
        }
        *ret = (struct fn_resources_map) { p, wanted->n_extra_resources };
        return 0;
}

/* Answers what the function asked for, over what it had from the start. */
static int resolve(struct step_state *s, const struct fn_requirements *wanted, struct err *err)
{
        struct answers answers = answers_copy(step_arena(s), &s->given, wanted->n_resources, wanted->n_schemas);
        struct fn_resources_map extra;
        int r = check_all(s->c, s->step, wanted, err);

        if (r < 0)
                return r;
        for (size_t i = 0; i < wanted->n_resources; i++) {
                struct fn_resources found;

                r = fetch_resources(s, &wanted->resources[i], &found, err);
                if (r < 0)
                        return err_wrap(err, "fetching resources for %.*s", STR_ARG(wanted->resources[i].name));
                answers_put(&answers, &found);
        }
        r = fetch_extra(s, wanted, &extra, err);
        if (r < 0)
                return r;
        for (size_t i = 0; i < wanted->n_schemas; i++) {
                struct fn_schema found;

                r = fetch_schema(s, &wanted->schemas[i], &found, err);
                if (r < 0)
                        return err_wrap(err, "fetching schema for %.*s", STR_ARG(wanted->schemas[i].name));
                put_schema(&answers, &found);
        }
        s->req.extra_resources = extra;
        set_answers(&s->req, &answers);
        return 0;
}

/* A call that ran out of time says so in upstream's words; what was given how much, and what gives more, stands behind them. */
static void explain_timeout(const struct step_state *s, int64_t allowed_ns, struct err *err)
{
        _cleanup_err_ struct err said = { 0 };
        _cleanup_buf_ struct buf time = BUF_INIT(0);

        if (!err || !s->c->timeout_setting)
                return;
        err_move(&said, err);
        duration_append(&time, allowed_ns);
        err_set(err, said.code, "%s: function \"%.*s\" of step \"%.*s\" did not answer within %.*s; %s allows more",
                err_message(&said), STR_ARG(s->step->function), STR_ARG(s->step->name), STR_ARG(buf_str(&time)),
                s->c->timeout_setting);
        err_set_reason(err, said.reason);
}

/* How long one call may take, as an error says it: what is set for it, or for the run, or else what is left, to the millisecond. */
static int64_t allow(const struct step_state *s, struct deadline *deadline)
{
        struct deadline own = deadline_after_ns(s->c->timeout_ns);

        if (s->c->timeout_ns && own.mono_ns < deadline->mono_ns) {
                *deadline = own;
                return s->c->timeout_ns;
        }
        if (s->c->run_timeout_ns || deadline_is_none(*deadline))
                return s->c->run_timeout_ns;
        return (deadline_remaining_ns(*deadline) + 500000) / 1000000 * 1000000;
}

static int call(struct step_state *s, struct fn_response *rsp, struct err *err)
{
        struct run run = *s->c->run;
        int64_t allowed_ns = allow(s, &run.deadline);
        int r;

        *rsp = (struct fn_response) { .ttl_ns = FN_TTL_ABSENT };
        r = s->function->ops->call(s->function, &run, &s->req, rsp, err);
        s->record->calls++;
        s->record->request_bytes += rsp->wire_request_bytes;
        s->record->response_bytes += rsp->wire_response_bytes;
        if (r >= 0)
                return 0;
        step_redact_error(s, err);
        if (r == ERR_TIMEOUT && deadline_has_passed(run.deadline))
                explain_timeout(s, allowed_ns, err);
        return r;
}

static int call_until_stable(struct step_state *s, struct fn_response *rsp, struct err *err)
{
        int64_t max_calls = s->step->max_iterations ? s->step->max_iterations : DEFAULT_CALLS;
        struct fn_requirements before = { 0 };
        int r;

        for (int64_t i = 0; max_calls < 0 || i < max_calls; i++) {
                r = call(s, rsp, err);
                if (r < 0)
                        return r;
                if (is_fatal(rsp) || fn_requirements_equal(&rsp->requirements, &before) ||
                    (i == 0 && step_has_all(s, &rsp->requirements)))
                        return 0;
                before = rsp->requirements;
                r = resolve(s, &rsp->requirements, err);
                if (r < 0)
                        return r;
                s->req.context = rsp->context;
                r = arena_check(step_arena(s), err);
                if (r < 0)
                        return r;
        }
        return err_set(err, ERR_FAILED, "requirements didn't stabilize after the maximum number of iterations (%lld)",
                       (long long)(max_calls - 1));
}

/* --- The cache before it (spec/engine 4.1, 4.4) --- */

static struct fn_cache *cache_of(const struct step_state *s)
{
        return feature_is_on(s->c->features, FEATURE_FUNCTION_RESPONSE_CACHE) ? s->c->cache : NULL;
}

static struct fn_cache_key key_of(const struct step_state *s)
{
        return (struct fn_cache_key) { s->step->function, s->function->revision, s->req.tag,
                                       s->step->watches_extra_resources };
}

static int call_or_recall(struct step_state *s, struct fn_response *rsp, struct err *err)
{
        struct fn_cache_key key = key_of(s);
        struct fn_cache *cache = cache_of(s);
        struct fn_cached cached;
        int r;

        s->record->was_cached = cache && fn_cache_get(cache, step_arena(s), &key, &cached);
        if (s->record->was_cached) {
                *rsp = cached.response;
                step_note_watches(s, rsp, cached.watched, cached.n_watched);
                return 0;
        }
        r = call_until_stable(s, rsp, err);
        if (r < 0)
                return r;
        step_redact(s, rsp); /* before it is kept anywhere */
        if (!is_fatal(rsp))
                step_remember(s, rsp);
        step_note_watches(s, rsp, NULL, 0);
        if (cache) {
                cached = (struct fn_cached) { *rsp, s->record->watched, s->record->n_watched };
                fn_cache_put(cache, step_arena(s), &key, &cached, fn_cache_has_files(cache) && step_saw_secrets(s));
        }
        return 0;
}

/* --- All of it --- */

static int run_function(struct step_state *s, struct fn_response *rsp, struct err *err)
{
        int r = registry_find(s->c->registry, s->step->function, &s->step->choice, &s->function, err);

        if (r < 0)
                return r;
        s->record->revision = arena_copy(step_arena(s), s->function->revision);
        step_recall(s);
        set_answers(&s->req, &s->given);
        if (s->function->wants_tag) {
                r = fn_request_make_tag(step_arena(s), &s->req, &s->req.tag, err);
                s->c->observed->encoded = s->req.observed.encoded; /* for the steps behind this one */
        }
        if (r >= 0)
                r = call_or_recall(s, rsp, err);
        function_unref(s->function);
        return r;
}

int step_run(struct step_context *c, const struct step *step, const struct fn_state *desired,
             const struct fn_struct *context, struct fn_response *ret, struct step_record *record, struct err *err)
{
        struct step_state s = { .c = c, .step = step, .record = record };
        int64_t start = clock_mono_ns();
        int r;

        *record = (struct step_record) { .step = step->name, .function = step->function };
        r = make_request(&s, desired, context, err);
        if (r >= 0) {
                r = run_function(&s, ret, err);
                if (r < 0)
                        err_wrap(err, "cannot run Composition pipeline step %s", go_quote(c->run->arena, step->name).p);
        }
        step_note_dependencies(&s);
        record->duration_ns = clock_mono_ns() - start;
        if (r >= 0)
                step_finish(&s, desired, ret);
        return r;
}
