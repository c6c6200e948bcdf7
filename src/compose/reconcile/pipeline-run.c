/* Runs the steps of a revision's pipeline (docs/spec/engine 2.2, 2.3, 2.8). */
#include "reconcile-state.h"

#include "gotext.h"

/* The observed state, which is the same for all steps. */
static int observed_state(struct reconcile *r, struct fn_state *ret, struct err *err)
{
        struct fn_resource *resources = ARENA_NEW_ARRAY(r->arena, struct fn_resource, r->n_observed + 1);
        int e;

        *ret = (struct fn_state) { .is_present = true, .is_open = true, .has_composite = true };
        ret->composite.object.value = r->xr.object;
        if (composite_places(&r->xr)->has_connection) {
                e = reconcile_connection_of(r, r->xr.object, composite_field(&r->xr, STR("writeConnectionSecretToRef")),
                                            &ret->composite.connection, err);
                if (e < 0)
                        return e;
        }
        for (size_t i = 0; i < r->n_observed; i++)
                resources[i] = (struct fn_resource) {
                        .name = r->observed[i].key,
                        .object = { .object = r->observed[i].object, .value = r->observed[i].value },
                        .connection = r->observed[i].connection,
                };
        ret->resources = resources;
        ret->n_resources = r->n_observed;
        return 0;
}

static void collect_conditions(struct reconcile *r, const struct fn_response *rsp)
{
        struct fn_condition *all =
                ARENA_NEW_ARRAY(r->arena, struct fn_condition, r->n_conditions + rsp->n_conditions + 1);

        if (r->n_conditions)
                memcpy(all, r->conditions, r->n_conditions * sizeof(*all));
        if (rsp->n_conditions)
                memcpy(all + r->n_conditions, rsp->conditions, rsp->n_conditions * sizeof(*all));
        r->conditions = all;
        r->n_conditions += rsp->n_conditions;
}

/* Turns the results of a response into events. Stops at a fatal result, which is an error. */
static int collect_results(struct reconcile *r, const struct step *step, const struct fn_response *rsp, struct err *err)
{
        const char *name = rsp->n_results ? go_quote(r->arena, step->name).p : NULL;

        for (size_t i = 0; i < rsp->n_results; i++) {
                const struct fn_result *result = &rsp->results[i];
                struct str reason = result->reason.n ? result->reason : STR("ComposeResources");

                switch (result->severity) {
                case FN_SEVERITY_FATAL:
                        r->is_fatal = true;
                        return err_set(err, ERR_FAILED, "pipeline step %s returned a fatal result: %.*s", name,
                                       STR_ARG(result->message));
                case FN_SEVERITY_NORMAL:
                case FN_SEVERITY_WARNING:
                        reconcile_event(r, result->severity == FN_SEVERITY_WARNING, reason, "Pipeline step %s: %.*s",
                                        name, STR_ARG(result->message));
                        if (result->target == FN_TARGET_COMPOSITE_AND_CLAIM)
                                reconcile_tell_claim(r, result->message);
                        break;
                case FN_SEVERITY_UNSPECIFIED:
                        reconcile_event(
                                r, true, reason,
                                "Pipeline step %s returned a result of unknown severity (assuming warning): %.*s", name,
                                STR_ARG(result->message));
                        break;
                }
        }
        return 0;
}

/* A pure function answers the same until something that was read changes, and that is followed: its default TTL says nothing. */
static void note_ttl(struct reconcile *r, const struct step_record *record, int64_t ttl_ns)
{
        if (record->is_pure && ttl_ns == FN_TTL_DEFAULT_NS && r->options->follows_reads)
                return;
        if (ttl_ns > 0 && (r->ttl_ns == 0 || ttl_ns < r->ttl_ns))
                r->ttl_ns = ttl_ns;
}

static int check_functions(const struct reconcile *r, struct err *err)
{
        const struct value *first = value_item(r->composition.functions, 0);

        if (!first)
                return 0;
        return err_set(
                err, ERR_UNSUPPORTED,
                "Composition \"%.*s\": function \"%.*s\" of spec.functions is a container, and containers cannot be "
                "run yet: move it to a step of spec.pipeline",
                STR_ARG(composition_name(r->revision)), STR_ARG(value_str(value_get(first, STR("name")))));
}

int reconcile_run_pipeline(struct reconcile *r, struct fn_state *ret_desired, struct err *err)
{
        struct fn_state observed, desired = { .is_present = true, .is_open = true };
        struct fn_struct context = { .value = r->options->context ?: &value_empty_object };
        struct step_context c = {
                .run = r->run,
                .cluster = r->options->cluster,
                .options = r->options->steps,
                .hooks = r->options->hooks,
                .observed = &observed,
        };
        int e = check_functions(r, err);

        if (e >= 0)
                e = observed_state(r, &observed, err);
        if (e < 0)
                return e;
        for (size_t i = 0; i < r->composition.warnings.n; i++)
                reconcile_event(r, true, STR("ComposeResources"), "%.*s", STR_ARG(r->composition.warnings.p[i]));
        r->records = ARENA_NEW_ARRAY(r->arena, struct step_record, r->composition.n_steps + 1);
        for (size_t i = 0; i < r->composition.n_steps; i++) {
                const struct step *step = &r->composition.steps[i];
                struct fn_response rsp;

                e = step_run(&c, step, &desired, &context, &rsp, &r->records[r->n_records++], err);
                if (e < 0)
                        return e;
                desired = rsp.desired;
                context = rsp.context;
                note_ttl(r, &r->records[i], rsp.ttl_ns);
                reconcile_collect_watches(r, &r->records[i]);
                collect_conditions(r, &rsp);
                e = collect_results(r, step, &rsp, err);
                if (e < 0)
                        return e;
        }
        *ret_desired = desired;
        r->context = context;
        return 0;
}
