/* The events of a reconcile and the conditions of the composite (docs/spec/engine 1.6, 1.8, 1.9). */
#include "reconcile-state.h"

#include "clock.h"
#include "gotext.h"

/* --- Events --- */

static struct reconcile_event *add_event(struct reconcile *r)
{
        struct reconcile_event *all;

        if ((r->n_events & (r->n_events - 1)) == 0) {
                all = ARENA_NEW_ARRAY(r->arena, struct reconcile_event, r->n_events ? 2 * r->n_events : 1);
                if (r->n_events)
                        memcpy(all, r->events, r->n_events * sizeof(*all));
                r->events = all;
        }
        return &r->events[r->n_events++];
}

void reconcile_event(struct reconcile *r, bool is_warning, struct str reason, const char *format, ...)
{
        va_list arguments;

        va_start(arguments, format);
        *add_event(r) = (struct reconcile_event) {
                .is_warning = is_warning,
                .reason = arena_copy(r->arena, reason),
                .message = arena_vprintf(r->arena, format, arguments),
        };
        va_end(arguments);
}

void reconcile_tell_claim(struct reconcile *r, struct str message)
{
        if (composite_field(&r->xr, STR("claimRef")))
                r->events[r->n_events - 1].claim_message = arena_copy(r->arena, message);
}

/* Events of steps before an error are kept only after a fatal result, and come after the events about the error. */
struct events_mark events_rewind(struct reconcile *r)
{
        struct events_mark mark = { .n = r->n_events - r->n_events_before };

        mark.events = ARENA_NEW_ARRAY(r->arena, struct reconcile_event, mark.n + 1);
        if (mark.n)
                memcpy(mark.events, r->events + r->n_events_before, mark.n * sizeof(*mark.events));
        r->n_events = r->n_events_before;
        return mark;
}

void events_replay(struct reconcile *r, const struct events_mark *mark)
{
        for (size_t i = 0; i < mark->n; i++)
                *add_event(r) = mark->events[i];
}

/* --- Conditions --- */

static void set_condition(struct reconcile *r, const struct condition *c)
{
        struct condition marked = *c;

        marked.last_transition = clock_wall();
        r->xr.object = conditions_set(r->arena, r->xr.object, &marked, 1);
}

/* The engine's own conditions have observedGeneration. */
void tell_condition(struct reconcile *r, const char *type, enum condition_status status, const char *reason,
                    struct str message)
{
        struct condition c = {
                .type = str_from(type),
                .status = status,
                .reason = str_from(reason),
                .message = message,
                .observed_generation = meta_generation(r->xr.object),
        };

        set_condition(r, &c);
}

void tell_responsive(struct reconcile *r)
{
        struct str open = r->options->open_circuit;

        if (open.n)
                tell_condition(r, "Responsive", CONDITION_FALSE, "WatchCircuitOpen",
                               arena_printf(r->arena, "Too many watch events from %.*s. Allowing events periodically.",
                                            STR_ARG(open)));
        else
                tell_condition(r, "Responsive", CONDITION_TRUE, "WatchCircuitClosed", STR(""));
}

static enum condition_status status_of(int32_t wire)
{
        return wire == 2 ? CONDITION_TRUE : wire == 3 ? CONDITION_FALSE : CONDITION_UNKNOWN;
}

/* Adds the type to claimConditionTypes: claims copy the conditions whose types are listed there. */
static void show_claim(struct reconcile *r, struct str type)
{
        const struct value *status = value_get(r->xr.object, STR("status"));
        const struct value *types = value_get(status, STR("claimConditionTypes"));
        struct value text = value_of_str(type);

        VALUE_FOREACH_ITEM (item, types)
                if (str_equal(value_str(item), type))
                        return;
        types = value_with_appended(r->arena, value_is_array(types) ? types : &value_empty_array, &text);
        status = value_with(r->arena, value_is_object(status) ? status : &value_empty_object,
                            STR("claimConditionTypes"), types);
        r->xr.object = value_with(r->arena, r->xr.object, STR("status"), status);
}

/* If several steps return a condition of one type, the last one wins, so that the condition does not change back and forth in one
 * run. */
static const struct fn_condition *last_word(const struct reconcile *r, size_t i)
{
        for (size_t j = r->n_conditions; j-- > i;)
                if (str_equal(r->conditions[j].type, r->conditions[i].type))
                        return &r->conditions[j];
        return &r->conditions[i];
}

void tell_function_conditions(struct reconcile *r)
{
        for (size_t i = 0; i < r->n_conditions; i++) {
                const struct fn_condition *c = last_word(r, i);
                struct condition condition = {
                        .type = c->type,
                        .status = status_of(c->status),
                        .reason = c->reason,
                        .message = c->message,
                };

                if (condition_is_system(c->type))
                        continue;
                set_condition(r, &condition);
                if (composite_has(&r->xr, STR("claimRef")) && r->conditions[i].target == FN_TARGET_COMPOSITE_AND_CLAIM)
                        show_claim(r, c->type);
        }
}

static bool was_returned(const struct reconcile *r, struct str type)
{
        for (size_t i = 0; i < r->n_conditions; i++)
                if (str_equal(r->conditions[i].type, type))
                        return true;
        return false;
}

/* Conditions that a function set earlier but did not return now become Unknown; lastTransitionTime is kept. */
void tell_unknown(struct reconcile *r)
{
        const struct value *conditions = value_find(r->xr.object, "status", "conditions");

        VALUE_FOREACH_ITEM (item, conditions) {
                struct condition c = condition_of(item);

                if (condition_is_system(c.type) || was_returned(r, c.type))
                        continue;
                c.status = CONDITION_UNKNOWN;
                c.reason = STR("FatalError");
                c.message = STR("A fatal error occurred before the status of this condition could be determined.");
                c.observed_generation = meta_generation(r->xr.object);
                r->xr.object = conditions_set(r->arena, r->xr.object, &c, 1);
        }
}

/* --- At the end --- */

void tell_of_resources(struct reconcile *r)
{
        for (size_t i = 0; i < r->n_composed; i++) {
                const struct composed_resource *c = &r->composed[i];
                struct str id = c->key.n ? c->key : arena_printf(r->arena, "%zu", i);
                const char *name;

                if (c->is_synced && c->is_ready)
                        continue;
                name = go_quote(r->arena, id).p;
                if (!c->is_synced)
                        reconcile_event(r, false, STR("ComposeResources"), "Composed resource %s is not yet valid",
                                        name);
                if (!c->is_ready)
                        reconcile_event(r, false, STR("ComposeResources"), "Composed resource %s is not yet ready",
                                        name);
        }
}

static struct str names_where(struct reconcile *r, bool wants_unsynced)
{
        struct str *names = ARENA_NEW_ARRAY(r->arena, struct str, r->n_composed + 1);
        size_t n = 0;

        for (size_t i = 0; i < r->n_composed; i++) {
                const struct composed_resource *c = &r->composed[i];

                if (wants_unsynced ? !c->is_synced : !c->is_ready)
                        names[n++] = c->key.n ? c->key : arena_printf(r->arena, "%zu", i);
        }
        return n ? composite_name_list(r->arena, names, n) : STR("");
}

void tell_synced(struct reconcile *r)
{
        struct str names = names_where(r, true);

        if (names.n)
                tell_condition(r, "Synced", CONDITION_FALSE, "ReconcileError",
                               arena_printf(r->arena, "Unsynced resources: %.*s", STR_ARG(names)));
        else
                tell_condition(r, "Synced", CONDITION_TRUE, "ReconcileSuccess", STR(""));
}

void tell_ready(struct reconcile *r)
{
        struct str names = names_where(r, false), missing = publish_missing_keys(r);

        if (missing.n && (names.n == 0 || r->ready == FN_READY_TRUE))
                tell_condition(r, "Ready", CONDITION_FALSE, "Creating",
                               arena_printf(r->arena, "Waiting for connection details: %.*s", STR_ARG(missing)));
        else if (r->ready == FN_READY_FALSE)
                tell_condition(r, "Ready", CONDITION_FALSE, "Creating", STR(""));
        else if (r->ready == FN_READY_TRUE || names.n == 0)
                tell_condition(r, "Ready", CONDITION_TRUE, "Available", STR(""));
        else
                tell_condition(r, "Ready", CONDITION_FALSE, "Creating",
                               arena_printf(r->arena, "Unready resources: %.*s", STR_ARG(names)));
}
