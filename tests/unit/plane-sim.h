/* A control plane in bad weather, for simulations: it crashes and is started again while people change things. */
#pragma once

#include "weather.h"

#include "condition.h"
#include "features.h"
#include "functions.h"
#include "log.h"
#include "own-kinds.h"
#include "plane.h"
#include "sim.h"
#include "yaml.h"

#include <stdlib.h>

/* --- The world --- */

struct world {
        struct fixture f;
        struct weather weather[4]; /* one for each life of the control plane */
        size_t n_lives;
        uint64_t seed;
        struct features features;
        struct registry *registry;
        struct manager *manager;
        struct plane *plane;
};

static struct weather *current; /* of the function below */

/* A function that fails now and then, in both ways in which one can. */
static int run_moody(struct run *run, struct fn_request *req, struct fn_response *rsp, struct err *err)
{
        fn_response_init(rsp, req);
        if (strikes(current))
                return err_set(err, ERR_CLOSED, "rpc error: code = Unavailable desc = in a bad mood");
        if (strikes(current))
                fn_response_add_result(run->arena, rsp, FN_SEVERITY_FATAL, "in a bad mood");
        return 0;
}

static const struct builtin_function moody = { .name = "function-moody", .run = run_moody };

static void plane_start(struct world *w, unsigned faults)
{
        struct manager_options manager = {
                .user = { .name = STR("system:serviceaccount:crossplane-system:crossplane") },
                .max_workers = 4,
        };
        struct plane_options options = { .steps = { .registry = w->registry, .features = w->features } };

        current = &w->weather[w->n_lives++];
        weather_init(current, w->f.store, 16 * w->seed + w->n_lives, 0);
        manager.cluster = &current->cluster;
        MUST(&w->f, manager_new(&manager, &w->manager, &w->f.err));
        options.manager = w->manager;
        MUST(&w->f, plane_new(&options, &w->plane, &w->f.err));
        current->faults = faults;
}

static void plane_crash(struct world *w)
{
        current->is_dead = true;
        plane_free(w->plane);
        manager_free(w->manager);
        arena_done(&current->arena);
}

static void quiet(struct world *w)
{
        for (uint64_t before = 0; before != store_version(w->f.store);) {
                before = store_version(w->f.store);
                MUST(&w->f, manager_settle(w->manager, DEADLINE_NONE, NULL));
                settle(&w->f);
        }
}

static void apply(struct fixture *f, const char *text)
{
        const struct value *body = NULL;

        if (yaml_parse(&f->arena, str_from(text), NULL, &body, &f->err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&f->err));
        MUST(f, write_request(f,
                              (struct write_request) { .verb = WRITE_APPLY,
                                                       .key = object_key_of(body),
                                                       .body = body,
                                                       .manager = STR("tester"),
                                                       .force = true },
                              NULL));
}

/* A world with Crossplane's kinds and a plane, and nothing else. */
static void world_begin(struct world *w, uint64_t seed, struct features features)
{
        struct store_options options = { .strategy_of = own_kind_strategy };

        *w = (struct world) { .seed = seed, .features = features };
        fixture_init_with(&w->f, &options);
        MUST(&w->f, plane_install(w->f.cluster, &w->f.run, features, &w->f.err));
        w->registry = registry_new();
        functions_register_native(w->registry);
        for (size_t i = 0; i < builtin_n_functions; i++)
                registry_set(w->registry, str_from(builtin_functions[i]->name), function_builtin(builtin_functions[i]));
        registry_set(w->registry, STR("function-moody"), function_builtin(&moody));
        plane_start(w, 0);
}

static void world_done(struct world *w)
{
        plane_free(w->plane);
        manager_free(w->manager);
        arena_done(&current->arena);
        registry_free(w->registry);
        fixture_done(&w->f);
}

/* --- People, who change things --- */

static struct gvk kind_of(const char *kind)
{
        return (struct gvk) { STR("example.org"), STR("v1"), str_from(kind) };
}

struct person {
        struct world *w;
        uint64_t seed;
        struct thread *thread;
};

static void list_of(struct fixture *f, struct gvk gvk, struct object_list *ret)
{
        struct list_request req = { .gvk = gvk };

        MUST(f, cluster_list(f->cluster, &f->run, &req, ret, &f->err));
}

/* --- What must hold in the end --- */

static void check_condition(const struct value *object, const char *type)
{
        struct condition c;

        condition_get(object, str_from(type), &c);
        if (c.status != CONDITION_TRUE)
                sim_fail("%.*s %.*s: %s is not true: %.*s: %.*s", STR_ARG(value_str(value_get(object, STR("kind")))),
                         STR_ARG(meta_name(object)), type, STR_ARG(c.reason), STR_ARG(c.message));
}

static const struct value *only_composed(struct world *w, const struct value *owner, struct gvk gvk)
{
        struct list_request req = { .gvk = gvk, .owner_uid = meta_uid(owner) };
        struct object_list list;

        MUST(&w->f, cluster_list(w->f.cluster, &w->f.run, &req, &list, &w->f.err));
        if (list.n != 1)
                sim_fail("%.*s has composed %zu %.*s", STR_ARG(meta_name(owner)), list.n, STR_ARG(gvk.kind));
        return object_list_value(&list, 0, &w->f.arena);
}

static void check_refs(const struct value *refs, size_t n, const struct value *composite)
{
        if (value_count(refs) != n)
                sim_fail("%.*s refers to %zu resources, not to %zu", STR_ARG(meta_name(composite)), value_count(refs),
                         n);
}

/* --- The simulation --- */

struct story {
        void (*init)(struct world *w, uint64_t seed);
        void (*change)(void *person);  /* what each of two people does */
        void (*mend)(struct world *w); /* puts back what the check needs, when all have gone; NULL: nothing */
        void (*check)(struct world *w);
};

/* People change things while calls fail and the plane crashes. In good weather everything converges, and then nothing is written. */
static void play(const struct story *story, uint64_t seed)
{
        struct person people[2];
        struct random random;
        struct world w;
        uint64_t version;

        random_seed(&random, seed);
        story->init(&w, seed);
        current->faults = 20 + (unsigned)random_below(&random, 60);
        for (size_t i = 0; i < ARRAY_SIZE(people); i++) {
                people[i] = (struct person) { .w = &w, .seed = 2 * seed + i };
                MUST(&w.f, thread_start("person", story->change, &people[i], &people[i].thread, &w.f.err));
        }
        while (w.n_lives < ARRAY_SIZE(w.weather) && random_below(&random, 3) != 0) {
                unsigned faults = current->faults;

                thread_sleep(deadline_after_ms((int64_t)random_below(&random, 6000)), NULL);
                plane_crash(&w);
                plane_start(&w, faults);
        }
        for (size_t i = 0; i < ARRAY_SIZE(people); i++)
                thread_join(people[i].thread);

        /* Good weather: what failed is tried again within minutes. */
        current->faults = 0;
        if (story->mend)
                story->mend(&w);
        thread_sleep(deadline_after_ms(20 * 60 * 1000), NULL);
        quiet(&w);
        story->check(&w);
        version = store_version(w.f.store);
        thread_sleep(deadline_after_ms(60 * 60 * 1000), NULL);
        quiet(&w);
        if (store_version(w.f.store) != version)
                sim_fail("%llu writes at rest", (unsigned long long)(store_version(w.f.store) - version));
        world_done(&w);
}

/* Runs the simulation with WEFT_SCHEDULES seeds from WEFT_SEED on. */
static void explore(void (*simulate)(void *seed), uint64_t usual_count)
{
        const char *count = getenv("WEFT_SCHEDULES"), *first = getenv("WEFT_SEED");
        struct sim_options options = { .max_steps = 20 * 1000 * 1000 };
        uint64_t usual =
                getenv("WEFT_ARENA_DEBUG") ? 1000001 : 1; /* the two runs of a suite look at different schedules */
        uint64_t seed = first ? strtoull(first, NULL, 10) : usual, n = seed - 1;
        _cleanup_err_ struct err err = { 0 };
        struct sim_report report;

        log_set_level(_LOG_LEVEL_COUNT); /* thousands of failures, all of them wanted */
        if (sim_explore(seed, count ? strtoull(count, NULL, 10) : usual_count, &options, simulate, &n, &report, &err) <
            0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
}
