/* Sequences of writes on the store, which the real API server has been through as well. */
#include "subject.h"

#include "clock.h"
#include "own-kinds.h"
#include "scenario-step.h"
#include "store.h"

#include <stdio.h>
#include <stdlib.h>

static struct store *the_store;
static struct sim_clock the_clock;

static int add(struct run *run, const struct value *object, struct err *err)
{
        struct write_request req = {
                .verb = WRITE_CREATE, .key = { .gvk = gvk_of(object) }, .body = object, .manager = STR("setup")
        };
        struct write_result result;

        return cluster_write(store_cluster(the_store), run, &req, &result, err);
}

/* The store of all sequences, without controllers: there are none beside the API server either. */
static void set_up(struct arena *a, const struct value *objects, bool with_own_kinds)
{
        _cleanup_err_ struct err err = { 0 };
        struct store_options options = { .without_gc = true, .strategy_of = with_own_kinds ? own_kind_strategy : NULL };
        const struct value *crd;
        struct run run = { .arena = a, .deadline = DEADLINE_NONE, .user = { .name = STR("admin") } };

        sim_clock_init(&the_clock, (struct instant) { .seconds = 1900000000 });
        clock_use(&the_clock);
        if (store_new(&options, &the_store, &err) < 0)
                goto fail;
        for (size_t i = 0; with_own_kinds && (crd = own_kind_crd(a, i)); i++)
                if (add(&run, crd, &err) < 0)
                        goto fail;
        VALUE_FOREACH_ITEM (object, objects)
                if (add(&run, object, &err) < 0)
                        goto fail;
        return;
fail:
        fprintf(stderr, "subject: %s\n", err_message(&err));
        exit(1);
}

struct phases {
        struct arena *arena;
        struct array_builder list;
};

static void tick(void *arg)
{
        struct phases *phases = arg;

        sim_clock_advance(&the_clock, INT64_C(10000000000));
        array_builder_add(&phases->list, value_of_int(clock_wall().seconds));
}

static const struct value *run_sequence(struct arena *a, const struct value *c, bool with_own_kinds)
{
        const struct value *setup = value_get(c, STR("setup")), *result = &value_empty_object;
        struct phases phases = { .arena = a };
        struct array_builder results;
        struct sequence s;

        if (setup) {
                set_up(a, setup, with_own_kinds);
                return value_with(a, result, STR("setup"), value_put(a, value_of_int((int64_t)value_count(setup))));
        }
        array_builder_init(&phases.list, a, 4);
        tick(&phases);
        sequence_init(&s, a, store_cluster(the_store));
        s.tick = tick;
        s.tick_arg = &phases;
        array_builder_init(&results, a, 8);
        VALUE_FOREACH_ITEM (step, value_get(c, STR("steps")))
                array_builder_add(&results, *sequence_do(&s, step));
        sequence_done(&s);
        result = value_with(a, result, STR("steps"), value_put(a, array_builder_finish(&results)));
        return value_with(a, result, STR("phases"), value_put(a, array_builder_finish(&phases.list)));
}

const struct value *run_cluster(struct arena *a, const struct value *c)
{
        return run_sequence(a, c, false);
}

const struct value *run_own_kinds(struct arena *a, const struct value *c)
{
        return run_sequence(a, c, true);
}

/* The CRDs that have to be installed for the own kinds: a List. */
const struct value *run_own_kind_crds(struct arena *a, const struct value *c _unused_)
{
        struct object_builder list;
        struct array_builder items;
        const struct value *crd;

        array_builder_init(&items, a, 16);
        for (size_t i = 0; (crd = own_kind_crd(a, i)); i++)
                array_builder_add(&items, *crd);
        object_builder_init(&list, a, 3);
        object_builder_add(&list, STR("apiVersion"), value_of_literal("v1"));
        object_builder_add(&list, STR("kind"), value_of_literal("List"));
        object_builder_add(&list, STR("items"), array_builder_finish(&items));
        return value_put(a, object_builder_finish(&list));
}
