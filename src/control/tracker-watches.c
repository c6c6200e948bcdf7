/* Counts the kinds that the runs of a controller depend on (docs/spec/engine 4.5). There is one watch of a kind for all controllers;
 * what is counted is that a controller begins or ceases to need it. */
#include "tracker-state.h"

#include "meter.h"

void tracker_open_watch_meters(struct tracker *t, struct meters *meters)
{
        static const struct meter_options started = { "engine_watches_started_total",
                                                      "Total number of watches started.",
                                                      METER_COUNTER,
                                                      { "controller", "type" } };
        static const struct meter_options stopped = { "engine_watches_stopped_total",
                                                      "Total number of watches stopped.",
                                                      METER_COUNTER,
                                                      { "controller", "type" } };

        t->watches_started = meters_get(meters, &started);
        t->watches_stopped = meters_get(meters, &stopped);
}

static void count(struct meter *m, const struct tracked_controller *tc, struct str type)
{
        struct str labels[2] = { str_from(tc->name), type };

        meter_add(m, 1, labels);
}

static struct str type_of(const struct tracked_kind *k)
{
        return str_equal(k->key, STR("apiextensions.crossplane.io/v1, Kind=CompositionRevision"))
                       ? STR("CompositionRevision")
                       : STR("Dependency");
}

/* Whether notes of this kind count for the controller. It watches its own kind anyway. */
static bool counts(const struct tracked_controller *tc, const struct tracked_kind *k)
{
        return tc->own_kind && k && !str_equal(k->key, str_from(tc->own_kind));
}

void tracker_begin_watch(struct tracker *t, const struct note *n)
{
        struct tracked_controller *tc = n->subject->owner;
        uint64_t key = (uint64_t)(uintptr_t)n->kind;
        uintptr_t before;

        if (!counts(tc, n->kind))
                return;
        before = (uintptr_t)u64_map_get(&tc->watches, key);
        u64_map_set(&tc->watches, key, (void *)(before + 1));
        if (before == 0)
                count(t->watches_started, tc, type_of(n->kind));
}

void tracker_end_watch(struct tracker *t, const struct note *n)
{
        struct tracked_controller *tc = n->subject->owner;
        uint64_t key = (uint64_t)(uintptr_t)n->kind;
        uintptr_t before;

        if (!counts(tc, n->kind))
                return;
        before = (uintptr_t)u64_map_get(&tc->watches, key);
        assert(before > 0);
        if (before > 1) {
                u64_map_set(&tc->watches, key, (void *)(before - 1));
                return;
        }
        u64_map_remove(&tc->watches, key);
        count(t->watches_stopped, tc, type_of(n->kind));
}

void tracker_count_watches(struct tracker *t, struct controller *c, struct gvk own, const char *own_type)
{
        struct tracked_controller *tc;
        struct arena scratch;

        arena_init(&scratch, "kind", 0);
        mutex_lock(&t->mutex);
        tc = tracker_need_controller(t, c);
        assert(tc->subjects.n == 0);
        tc->own_kind = str_to_cstring(gvk_text(&scratch, own));
        tc->own_type = own_type;
        tc->name = str_to_cstring(controller_name(c));
        count(t->watches_started, tc, str_from(own_type));
        mutex_unlock(&t->mutex);
        arena_done(&scratch);
}

void tracker_end_watches(struct tracker *t, struct tracked_controller *tc)
{
        if (tc->own_kind)
                count(t->watches_stopped, tc, str_from(tc->own_type));
        u64_map_done(&tc->watches);
        free(tc->own_kind);
        free(tc->name);
}
