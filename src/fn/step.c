#include "step.h"

#include "clock.h"
#include "fetch.h"
#include "limits.h"
#include "patch.h"

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

struct answers {
        struct fn_resources *resources;
        size_t n_resources;
        struct fn_schema *schemas;
        size_t n_schemas;
};

/* In the order of names; they come in that order, so the place is near the end. */
static void put_resources(struct answers *answers, const struct fn_resources *r)
{
        size_t at = 0;

        while (at < answers->n_resources && str_compare(answers->resources[at].name, r->name) < 0)
                at++;
        if (at == answers->n_resources || !str_equal(answers->resources[at].name, r->name)) {
                memmove(&answers->resources[at + 1], &answers->resources[at], (answers->n_resources - at) * sizeof(*r));
                answers->n_resources++;
        }
        answers->resources[at] = *r;
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

static int fetch_bootstrap(struct step_context *c, const struct step *step, struct answers *ret, struct err *err)
{
        const struct value *resources = value_get(step->requirements, STR("requiredResources"));
        const struct value *schemas = value_get(step->requirements, STR("requiredSchemas"));
        struct arena *a = c->run->arena;
        int r;

        ret->resources = ARENA_NEW_ARRAY(a, struct fn_resources, value_count(resources) + 1);
        ret->schemas = ARENA_NEW_ARRAY(a, struct fn_schema, value_count(schemas) + 1);
        VALUE_FOREACH_ITEM (item, resources) {
                struct fn_selector selector = selector_of(a, item);
                struct fn_resources found;

                if ((r = fetch_check(c, step, &selector, err)) < 0 ||
                    (r = fetch_resources(c, step, &selector, &found, err)) < 0)
                        return err_wrap(err, "cannot fetch bootstrap required resources for requirement \"%.*s\"",
                                        STR_ARG(selector.name));
                put_resources(ret, &found);
        }
        VALUE_FOREACH_ITEM (item, schemas) {
                struct fn_selector selector = selector_of(a, item);
                struct fn_schema found;

                if ((r = fetch_check(c, step, &selector, err)) < 0 ||
                    (r = fetch_schema(c, step, &selector, &found, err)) < 0)
                        return err_wrap(err, "cannot fetch bootstrap required schema for requirement \"%.*s\"",
                                        STR_ARG(selector.name));
                put_schema(ret, &found);
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

static int make_request(struct step_context *c, const struct step *step, const struct fn_state *desired,
                        const struct fn_struct *context, struct answers *bootstrap, struct fn_request *ret,
                        struct err *err)
{
        int r;

        *ret = (struct fn_request) {
                .capabilities = capabilities_of(c),
                .observed = *c->observed,
                .desired = *desired,
                .context = *context,
                .input = { .value = step->input },
        };
        if ((r = check_step(c, step, err)) < 0 || (r = fetch_input(c, step, &ret->input, err)) < 0 ||
            (r = fetch_credentials(c, step, ret, err)) < 0 || (r = fetch_bootstrap(c, step, bootstrap, err)) < 0)
                return r;
        set_answers(ret, bootstrap);
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

static struct answers copy_answers(struct arena *a, const struct answers *from, const struct fn_requirements *wanted)
{
        struct answers copy = { .n_resources = from->n_resources, .n_schemas = from->n_schemas };

        copy.resources = ARENA_NEW_ARRAY(a, struct fn_resources, from->n_resources + wanted->n_resources + 1);
        copy.schemas = ARENA_NEW_ARRAY(a, struct fn_schema, from->n_schemas + wanted->n_schemas + 1);
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

static int fetch_extra(struct step_context *c, const struct step *step, const struct fn_requirements *wanted,
                       struct fn_resources_map *ret, struct err *err)
{
        struct fn_resources *p = ARENA_NEW_ARRAY(c->run->arena, struct fn_resources, wanted->n_extra_resources + 1);
        int r;

        for (size_t i = 0; i < wanted->n_extra_resources; i++) {
                r = fetch_resources(c, step, &wanted->extra_resources[i], &p[i], err);
                if (r < 0)
                        return err_wrap(err, "fetching resources for %.*s", STR_ARG(wanted->extra_resources[i].name));
        }
        *ret = (struct fn_resources_map) { p, wanted->n_extra_resources };
        return 0;
}

/* Answers what the function asked for, over what it had from the start. */
static int resolve(struct step_context *c, const struct step *step, const struct fn_requirements *wanted,
                   const struct answers *bootstrap, struct fn_request *req, struct err *err)
{
        struct answers answers = copy_answers(c->run->arena, bootstrap, wanted);
        struct fn_resources_map extra;
        int r = check_all(c, step, wanted, err);

        if (r < 0)
                return r;
        for (size_t i = 0; i < wanted->n_resources; i++) {
                struct fn_resources found;

                r = fetch_resources(c, step, &wanted->resources[i], &found, err);
                if (r < 0)
                        return err_wrap(err, "fetching resources for %.*s", STR_ARG(wanted->resources[i].name));
                put_resources(&answers, &found);
        }
        r = fetch_extra(c, step, wanted, &extra, err);
        if (r < 0)
                return r;
        for (size_t i = 0; i < wanted->n_schemas; i++) {
                struct fn_schema found;

                r = fetch_schema(c, step, &wanted->schemas[i], &found, err);
                if (r < 0)
                        return err_wrap(err, "fetching schema for %.*s", STR_ARG(wanted->schemas[i].name));
                put_schema(&answers, &found);
        }
        req->extra_resources = extra;
        set_answers(req, &answers);
        return 0;
}

static int call(struct step_context *c, struct function *f, struct fn_request *req, struct fn_response *rsp,
                struct err *err)
{
        struct run run = *c->run;

        if (c->timeout_ns)
                run.deadline = deadline_earliest(run.deadline, deadline_after_ns(c->timeout_ns));
        *rsp = (struct fn_response) { .ttl_ns = FN_TTL_ABSENT };
        return f->ops->call(f, &run, req, rsp, err);
}

static int call_until_stable(struct step_context *c, const struct step *step, struct function *f,
                             const struct answers *bootstrap, struct fn_request *req, struct fn_response *rsp,
                             struct step_record *record, struct err *err)
{
        int64_t max_calls = step->max_iterations ? step->max_iterations : DEFAULT_CALLS;
        struct fn_requirements before = { 0 };
        int r;

        for (int64_t i = 0; max_calls < 0 || i < max_calls; i++) {
                r = call(c, f, req, rsp, err);
                record->calls++;
                if (r < 0)
                        return r;
                if (is_fatal(rsp) || fn_requirements_equal(&rsp->requirements, &before))
                        return 0;
                before = rsp->requirements;
                r = resolve(c, step, &rsp->requirements, bootstrap, req, err);
                if (r < 0)
                        return r;
                req->context = rsp->context;
                r = arena_check(c->run->arena, err);
                if (r < 0)
                        return r;
        }
        return err_set(err, ERR_FAILED, "requirements didn't stabilize after the maximum number of iterations (%lld)",
                       (long long)(max_calls - 1));
}

/* --- Records --- */

static void put_ready(struct object_builder *b, struct str name, enum fn_ready ready)
{
        if (ready != FN_READY_UNSPECIFIED)
                object_builder_set(b, name, value_of_str(ready == FN_READY_TRUE ? STR("True") : STR("False")));
}

/* A state as a value that a diff can be made of. Connection details are secrets and left out. */
static const struct value *state_value(struct arena *a, struct fn_state *s)
{
        struct object_builder b, resources, ready;
        const struct value *v;

        if (fn_state_open(a, s, NULL) < 0)
                return &value_empty_object;
        object_builder_init(&b, a, 4);
        object_builder_init(&resources, a, s->n_resources);
        object_builder_init(&ready, a, s->n_resources);
        if (s->has_composite && fn_struct_value(a, &s->composite.object, &v, NULL) >= 0 && v)
                object_builder_set(&b, STR("composite"), *v);
        if (s->has_composite)
                put_ready(&b, STR("compositeReady"), s->composite.ready);
        for (size_t i = 0; i < s->n_resources; i++) {
                struct fn_struct object = s->resources[i].object;

                if (fn_struct_value(a, &object, &v, NULL) >= 0 && v)
                        object_builder_set(&resources, s->resources[i].name, *v);
                put_ready(&ready, s->resources[i].name, s->resources[i].ready);
        }
        object_builder_set(&b, STR("resources"), object_builder_finish(&resources));
        object_builder_set(&b, STR("ready"), object_builder_finish(&ready));
        return value_put(a, object_builder_finish(&b));
}

static void finish_record(struct step_context *c, const struct fn_state *desired, struct fn_response *rsp,
                          struct step_record *record)
{
        struct fn_state before = *desired;

        record->results = rsp->results;
        record->n_results = rsp->n_results;
        if (c->wants_diff)
                record->desired_diff = value_diff(c->run->arena, state_value(c->run->arena, &before),
                                                  state_value(c->run->arena, &rsp->desired), true);
}

int step_run(struct step_context *c, const struct step *step, const struct fn_state *desired,
             const struct fn_struct *context, struct fn_response *ret, struct step_record *record, struct err *err)
{
        int64_t start = clock_mono_ns();
        struct answers bootstrap = { 0 };
        struct fn_request req;
        struct function *f;
        int r;

        *record = (struct step_record) { .step = step->name, .function = step->function };
        r = make_request(c, step, desired, context, &bootstrap, &req, err);
        if (r < 0)
                return r;
        r = registry_find(c->registry, step->function, &step->choice, &f, err);
        if (r >= 0) {
                if (f->wants_tag)
                        r = fn_request_make_tag(c->run->arena, &req, &req.tag, err);
                if (r >= 0)
                        r = call_until_stable(c, step, f, &bootstrap, &req, ret, record, err);
                function_unref(f);
        }
        record->duration_ns = clock_mono_ns() - start;
        if (r < 0)
                return err_wrap(err, "cannot run Composition pipeline step \"%.*s\"", STR_ARG(step->name));
        finish_record(c, desired, ret, record);
        return 0;
}
