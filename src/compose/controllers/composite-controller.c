/* Composites: reconcile.h, run by the work queue. */
#include "clock.h"
#include "composite.h"
#include "inspector.h"
#include "run-record.h"
#include "started.h"
#include "xrd.h"

#define TIMEOUT_MS      120000
#define BACKOFF_MOST_MS 30000
#define COMPONENT       STR("defined/compositeresourcedefinition.apiextensions.crossplane.io")

/* The claim of a legacy composite, as an event's subject: what its reference says. */
static const struct value *claim_of(struct kind_run *r, const struct started *s, const struct value *composite)
{
        struct composite c = { composite, s->type.places };
        const struct value *ref = composite_field(&c, STR("claimRef"));
        struct object_key key = { .gvk = gvk_of(ref),
                                  .ns = value_str(value_get(ref, STR("namespace"))),
                                  .name = value_str(value_get(ref, STR("name"))) };
        const struct value *claim = NULL;

        if (!ref || cluster_get_value(manager_cluster(r->manager), r->run, &key, &claim, NULL) < 0)
                return NULL;
        return claim;
}

static void record_events(struct kind_run *r, const struct started *s, const struct reconcile_result *result)
{
        struct recorder_source source = { .component = COMPONENT, .controller = s->name };
        const struct value *claim = NULL;

        for (size_t i = 0; result->composite && i < result->n_events; i++) {
                const struct reconcile_event *e = &result->events[i];

                kind_run_record(r, result->composite, &source, e->is_warning, e->reason, e->message);
                if (!e->claim_message.n)
                        continue;
                claim = claim ? claim : claim_of(r, s, result->composite);
                if (claim)
                        kind_run_record(r, claim, &source, e->is_warning, e->reason, e->claim_message);
        }
}

static size_t count_composed(struct kind_run *r, const struct started *s, const struct value *composite)
{
        struct composite c = { composite, s->type.places };
        const struct resource_reference *refs;

        return composite ? composite_resource_refs(r->run->arena, &c, &refs) : 0;
}

/* The difference that the dry run of a rollout found at one step. */
struct step_difference {
        const struct step *step;
        const struct value *difference;
        const struct step_difference *next;
};

/* One run, as its steps' hooks see it. */
struct composite_run {
        struct kind_run *r;
        const struct started *s;
        struct inspected_step inspected;           /* the current step, for the inspector */
        const struct step_difference *comparisons; /* of dry runs */
};

static void on_function(void *arg, struct str function)
{
        struct kind_run *r = ((struct composite_run *)arg)->r;

        tracked_run_note(r->tracked, arena_printf(r->run->arena, "function/%.*s", STR_ARG(function)));
}

static bool enter_function(void *arg, struct str function)
{
        struct kind_run *r = ((struct composite_run *)arg)->r;

        return slots_enter(manager_slots(r->manager), function, tracked_run_controller(r->tracked),
                           tracked_run_key(r->tracked));
}

static void leave_function(void *arg, struct str function)
{
        struct kind_run *r = ((struct composite_run *)arg)->r;

        slots_leave(manager_slots(r->manager), function);
}

static void on_call(void *arg, const struct step_call *call)
{
        const struct started *s = ((struct composite_run *)arg)->s;

        function_meters_count(&s->plane->function_meters, call);
}

/* --- Rollouts of functions (rollout.h) --- */

static struct rollout_run rollout_run_of(const struct kind_run *r)
{
        return (struct rollout_run) {
                .api_version = gvk_api_version(r->run->arena, r->key.gvk),
                .kind = r->key.gvk.kind,
                .ns = r->key.ns,
                .name = r->key.name,
        };
}

/* A conflict or the end of the program says nothing about a function. */
static bool has_failed(const struct reconcile_result *result, int e, const struct err *err)
{
        return result->is_fatal || (e < 0 && e != ERR_CANCELED && err->reason != REASON_CONFLICT);
}

/* A pipeline may call a function in several steps. */
static void on_comparison(void *arg, const struct step *step, const struct value *difference)
{
        struct composite_run *c = arg;
        struct step_difference *one = ARENA_NEW(c->r->run->arena, struct step_difference);

        *one = (struct step_difference) { step, difference, c->comparisons };
        c->comparisons = one;
}

/* Keeps what the dry run of the function's rollout found in this run. */
static void keep_comparisons(const struct composite_run *c, const struct rollout_run *run)
{
        struct object_builder b;
        size_t n = 0;

        object_builder_init(&b, c->r->run->arena, 2);
        for (const struct step_difference *one = c->comparisons; one; one = one->next)
                if (str_equal(one->step->function, run->function)) {
                        object_builder_set(&b, one->step->name, *one->difference);
                        n++;
                }
        if (n > 0) {
                struct value all = object_builder_finish(&b);

                registry_compare(c->s->plane->options.steps.registry, run, &all);
        }
}

static void count_rollouts(struct composite_run *c, const struct reconcile_result *result, bool is_failure,
                           uint64_t deletions)
{
        struct registry *registry = c->s->plane->options.steps.registry;
        struct rollout_run run = rollout_run_of(c->r);

        if (!feature_is_on(c->s->plane->options.steps.features, FEATURE_FUNCTION_REVISION_SELECTORS))
                return;
        if (!result->composite)
                registry_forget_composite(registry, &run);
        run.uid = meta_uid(result->composite);
        run.has_failed = is_failure;
        run.deletions = deletions;
        for (size_t i = 0; result->composite && i < result->n_records; i++) {
                const struct step_record *record = &result->records[i];

                run.function = record->function;
                run.revision = record->revision;
                run.is_no_evidence = record->is_chosen || record->was_cached;
                run.duration_ns = record->duration_ns;
                keep_comparisons(c, &run);
                if (registry_count_run(registry, &run) && (is_failure || deletions))
                        tracker_tell(manager_tracker(c->r->manager),
                                     arena_printf(c->r->run->arena, "rollout/%.*s", STR_ARG(run.function)));
        }
}

/* --- The inspector --- */

static void on_request(void *arg, const struct step *step, struct fn_request *request)
{
        struct composite_run *c = arg;
        struct inspected_step *i = &c->inspected;
        struct composite composite = { request->observed.composite.object.value, c->s->type.places };

        i->index = uuid_equal(i->trace, UUID_NIL) ? 0 : i->index + 1;
        if (i->index == 0)
                i->trace = uuid_v4();
        i->span = uuid_v4();
        i->time = clock_wall();
        i->name = step->name;
        i->function = step->function;
        i->composite = composite.object;
        i->composition = composite_ref(&composite, STR("compositionRef"));
        inspector_tell_request(c->s->plane->options.inspector, c->r->run, i, request);
}

static void on_response(void *arg, const struct step *step _unused_, const struct fn_response *response,
                        const struct err *err)
{
        struct composite_run *c = arg;

        inspector_tell_response(c->s->plane->options.inspector, c->r->run, &c->inspected, response, err);
}

static int reconcile_composite(struct kind_run *r, struct err *err)
{
        struct started *s = r->context;
        struct composite_run run = { .r = r, .s = s };
        struct reconcile_options options = {
                .cluster = r->cluster,
                .policies = &reconcile_policies_controller,
                .type = &s->type,
                .steps = s->plane->options.steps,
                .hooks = { .on_function = on_function,
                           .enter = enter_function,
                           .leave = leave_function,
                           .on_call = on_call,
                           .on_comparison = on_comparison,
                           .arg = &run },
                .is_realtime = true,
                .follows_reads = true,
                .min_poll_interval_ns = 1000000000,
                .open_circuit = tracked_run_open_circuit(r->tracked, r->run->arena),
        };
        struct run_records *records = s->plane->options.records;
        struct reconcile_result result = { 0 };
        struct run_notes notes;
        int e;

        if (s->plane->options.inspector) {
                options.hooks.on_request = on_request;
                options.hooks.on_response = on_response;
        }
        options.steps.wants_diff = records;
        run_notes_begin(&notes, r);
        e = composite_reconcile(r->run, &options, &r->key, &result, err);
        r->answer->is_waiting = result.gave_way;
        if (result.gave_way) {
                record_events(r, s, &result);
                return e;
        }
        function_meters_count_cache(&s->plane->function_meters, &result);
        count_rollouts(&run, &result, has_failed(&result, e, err), notes.n_deleted);
        if (records && result.composite)
                run_notes_end(&notes, records, &result, s->type.places, e < 0 ? err : &(struct err) { 0 });
        record_events(r, s, &result);
        tracked_run_expect(r->tracked, count_composed(r, s, result.composite));
        r->is_gone = e == 0 && !result.composite;
        r->answer->requeues = result.requeues;
        r->answer->after_ns = result.requeue_after_ns;
        return e;
}

int composite_controller_start(struct plane *p, const struct value *xrd, struct err *err)
{
        struct arena scratch;
        int r;

        arena_init(&scratch, "start", 0);
        r = started_start(p, xrd,
                          &(struct started_options) { .scratch = &scratch,
                                                      .prefix = "composite",
                                                      .watch_type = "CompositeResource",
                                                      .gvk = xrd_composite_gvk(xrd),
                                                      .reconcile = reconcile_composite,
                                                      .timeout_ms = TIMEOUT_MS,
                                                      .backoff_most_ms = BACKOFF_MOST_MS },
                          err);
        arena_done(&scratch);
        return r;
}
