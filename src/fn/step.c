#include "step.h"

#include "clock.h"
#include "buf.h"
#include "fetch.h"
#include "fn-cache.h"
#include "gotext.h"
#include "limits.h"

#include <stdatomic.h>

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

        if (c->options.extra_resources == EXTRA_RESOURCES_OFF)
                all &= ~(1u << CAPABILITY_REQUIRED_RESOURCES | 1u << CAPABILITY_REQUIRED_SCHEMAS);
        return all;
}

/* --- Answers before the first call --- */

/* Searches from the end, because answers mostly come in the order of names. */
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
                struct fn_selector selector = fetch_selector_of(a, item);
                struct fn_resources found;

                if ((r = fetch_check(s->c, s->step, &selector, err)) < 0 ||
                    (r = fetch_resources(s, &selector, &found, err)) < 0)
                        return err_wrap(err, "cannot fetch bootstrap required resources for requirement %s",
                                        go_quote(a, selector.name).p);
                answers_put(&s->given, &found);
                s->offered[s->n_offered++] = selector;
        }
        VALUE_FOREACH_ITEM (item, schemas) {
                struct fn_selector selector = fetch_selector_of(a, item);
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

        if (function_choice_is_given(&step->choice) &&
            !feature_is_on(c->options.features, FEATURE_FUNCTION_REVISION_SELECTORS))
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

/* Fetches the function's requirements and adds them to the answers that it had from the start. */
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

/* Explains a timeout: after upstream's words, it adds the function, the step, the time limit and the setting that raises it. */
static void explain_timeout(const struct step_state *s, int64_t allowed_ns, struct err *err)
{
        _cleanup_err_ struct err said = { 0 };
        _cleanup_buf_ struct buf time = BUF_INIT(0);

        if (!err || !s->c->options.timeout_setting)
                return;
        err_move(&said, err);
        duration_append(&time, allowed_ns);
        err_set(err, said.code, "%s: function \"%.*s\" of step \"%.*s\" did not answer within %.*s; %s allows more",
                err_message(&said), STR_ARG(s->step->function), STR_ARG(s->step->name), STR_ARG(buf_str(&time)),
                s->c->options.timeout_setting);
        err_set_reason(err, said.reason);
}

/* Sets the deadline of one call and returns the time limit that an error shows: the limit of a call, or of the run, or else the
 * remaining time, rounded to milliseconds. */
static int64_t allow(const struct step_state *s, struct deadline *deadline)
{
        int64_t timeout_ns = s->c->options.timeout_ns;
        struct deadline own = timeout_ns ? deadline_after_ns(timeout_ns) : DEADLINE_NONE;

        if (own.mono_ns < deadline->mono_ns) {
                *deadline = own;
                return timeout_ns;
        }
        if (s->c->options.run_timeout_ns || deadline_is_none(*deadline))
                return s->c->options.run_timeout_ns;
        return (deadline_remaining_ns(*deadline) + 500000) / 1000000 * 1000000;
}

/* Calls the function, and tells the hook of it. Without a hook nothing reads the clock: a built-in function may take less time. */
static int call_and_tell(struct step_state *s, struct run *run, struct fn_response *rsp, struct err *err)
{
        const struct step_hooks *hooks = &s->c->hooks;
        int64_t begin_ns = hooks->on_call ? clock_mono_ns() : 0;
        int r = s->function->ops->call(s->function, run, &s->req, rsp, err);

        if (hooks->on_call)
                hooks->on_call(hooks->arg, &(struct step_call) { s->step, s->function, r < 0 ? NULL : rsp, err,
                                                                 clock_mono_ns() - begin_ns });
        return r;
}

static int call(struct step_state *s, struct fn_response *rsp, struct err *err)
{
        struct run run = *s->c->run;
        int64_t allowed_ns = allow(s, &run.deadline);
        int r;

        *rsp = (struct fn_response) { .ttl_ns = FN_TTL_ABSENT };
        r = call_and_tell(s, &run, rsp, err);
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

/* --- Whether another call is needed --- */

static bool is_same_struct(struct arena *a, const struct fn_struct *x, const struct fn_struct *y)
{
        struct fn_struct first = *x, second = *y;
        const struct value *v, *w;

        if (fn_struct_value(a, &first, &v, NULL) < 0 || fn_struct_value(a, &second, &w, NULL) < 0)
                return false;
        return v == w || (v && w && value_equal(v, w));
}

static bool is_same_list(struct arena *a, const struct fn_resources *x, const struct fn_resources *y)
{
        if (!str_equal(x->name, y->name) || x->n_items != y->n_items)
                return false;
        for (size_t i = 0; i < x->n_items; i++)
                if (!is_same_struct(a, &x->items[i].object, &y->items[i].object))
                        return false;
        return true;
}

static bool is_same_map(struct arena *a, const struct fn_resources_map *x, const struct fn_resources_map *y)
{
        if (x->n != y->n)
                return false;
        for (size_t i = 0; i < x->n; i++)
                if (!is_same_list(a, &x->p[i], &y->p[i]))
                        return false;
        return true;
}

/* Whether two requests contain the same answers from the cluster. */
static bool has_same_answers(struct arena *a, const struct fn_request *x, const struct fn_request *y)
{
        if (x->n_schemas != y->n_schemas)
                return false;
        for (size_t i = 0; i < x->n_schemas; i++)
                if (!str_equal(x->schemas[i].name, y->schemas[i].name) ||
                    !is_same_struct(a, &x->schemas[i].openapi, &y->schemas[i].openapi))
                        return false;
        return is_same_map(a, &x->required_resources, &y->required_resources) &&
               is_same_map(a, &x->extra_resources, &y->extra_resources);
}

/* Returns 1 when the first response is final, because another call would give the function the same answers. */
static int resolve_next(struct step_state *s, int64_t i, const struct fn_response *rsp, struct err *err)
{
        struct fn_request sent = s->req;
        int r = resolve(s, &rsp->requirements, err);

        if (r < 0)
                return r;
        if (i == 0 && has_same_answers(step_arena(s), &sent, &s->req))
                return 1;
        s->req.context = rsp->context;
        return arena_check(step_arena(s), err);
}

int step_call_until_stable(struct step_state *s, struct fn_response *rsp, struct err *err)
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
                r = resolve_next(s, i, rsp, err);
                if (r != 0)
                        return MIN(r, 0);
        }
        return err_set(err, ERR_FAILED, "requirements didn't stabilize after the maximum number of iterations (%lld)",
                       (long long)(max_calls - 1));
}

/* --- The response cache (docs/spec/engine 4.1, 4.4) --- */

static struct fn_cache *cache_of(const struct step_state *s)
{
        return feature_is_on(s->c->options.features, FEATURE_FUNCTION_RESPONSE_CACHE) ? s->c->options.cache : NULL;
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
        r = step_call_until_stable(s, rsp, err);
        if (r < 0)
                return r;
        step_redact(s, rsp); /* before the response is kept anywhere */
        if (!is_fatal(rsp))
                step_remember(s, rsp);
        step_note_watches(s, rsp, NULL, 0);
        if (cache) {
                cached = (struct fn_cached) { *rsp, s->record->watched, s->record->n_watched };
                fn_cache_put(cache, step_arena(s), &key, &cached, fn_cache_has_files(cache) && step_saw_secrets(s));
        }
        return 0;
}

/* --- The whole step --- */

static int enter_function(struct step_state *s, struct err *err)
{
        const struct step_hooks *hooks = &s->c->hooks;

        if (!s->function->wants_tag || !hooks->enter || hooks->enter(hooks->arg, s->step->function))
                return 0;
        return err_set(err, ERR_BUSY, "too many calls of function \"%.*s\" are open", STR_ARG(s->step->function));
}

static void leave_function(struct step_state *s)
{
        const struct step_hooks *hooks = &s->c->hooks;

        if (s->function->wants_tag && hooks->leave)
                hooks->leave(hooks->arg, s->step->function);
}

static int call_function(struct step_state *s, struct fn_response *rsp, struct err *err)
{
        int r = 0;

        s->record->revision = arena_copy(step_arena(s), s->function->revision);
        s->record->is_pure = s->function->is_pure;
        step_recall(s);
        set_answers(&s->req, &s->given);
        if (s->function->wants_tag) {
                r = fn_request_make_tag(step_arena(s), &s->req, &s->req.tag, err);
                s->c->observed->encoded = s->req.observed.encoded; /* for the following steps */
        }
        if (r >= 0)
                r = enter_function(s, err);
        if (r < 0)
                return r;
        if (s->c->hooks.on_request)
                s->c->hooks.on_request(s->c->hooks.arg, s->step, &s->req);
        s->first = s->req;
        r = call_or_recall(s, rsp, err);
        if (s->candidate)
                step_compare(s, r < 0 ? NULL : rsp, err);
        if (r >= 0)
                s->record->is_pure = s->function->is_pure || rsp->is_pure;
        leave_function(s);
        if (s->c->hooks.on_response)
                s->c->hooks.on_response(s->c->hooks.arg, s->step, r < 0 ? NULL : rsp, err);
        return r;
}

/* Finds the function, and in the dry run of a rollout the one that it is compared with. */
static int find_function(struct step_state *s, struct err *err)
{
        struct registry *registry = s->c->options.registry;
        struct function_choice choice = s->step->choice;
        int r;

        s->record->is_chosen = function_choice_is_given(&choice);
        choice.uid = meta_uid(s->c->observed->composite.object.value);
        r = registry_find(registry, s->step->function, &choice, &s->function, err);
        if (r >= 0 && s->c->hooks.on_comparison)
                s->candidate = registry_find_candidate(registry, s->step->function, &choice, &s->gives_credentials);
        return r;
}

/* 1: the call was lost because the function has been replaced meanwhile. */
static int try_function(struct step_state *s, struct fn_response *rsp, struct err *err)
{
        int r = find_function(s, err);

        if (r < 0)
                return r;
        r = call_function(s, rsp, err);
        if (r == ERR_CLOSED && atomic_load(&s->function->is_replaced) && !deadline_has_passed(s->c->run->deadline)) {
                err_done(err);
                r = 1;
        }
        function_unref(TAKE(s->candidate));
        function_unref(s->function);
        return r;
}

static int run_function(struct step_state *s, struct fn_response *rsp, struct err *err)
{
        const struct step_hooks *hooks = &s->c->hooks;
        int r;

        if (hooks->on_function)
                hooks->on_function(hooks->arg, s->step->function);
        do
                r = try_function(s, rsp, err);
        while (r > 0);
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
