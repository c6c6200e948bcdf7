/* The whole control plane in simulated time: orders of threads, lost answers, conflicts, late reads, watches that end, functions that
 * fail and plain crashes, all from a seed. When the faults end, everything converges, nothing is left over, and then nothing is
 * written any more. */
#include "plane-sim.h"

#define DEFINITION(version, kind, plural, scope)                                \
        "apiVersion: apiextensions.crossplane.io/" version "\n"                 \
        "kind: CompositeResourceDefinition\n"                                   \
        "metadata: {name: " plural ".example.org}\n"                            \
        "spec:\n"                                                               \
        "  group: example.org\n"                                                \
        "  names: {kind: " kind ", plural: " plural "}\n" scope "  versions:\n" \
        "  - name: v1\n"                                                        \
        "    served: true\n"                                                    \
        "    referenceable: true\n"                                             \
        "    schema:\n"                                                         \
        "      openAPIV3Schema:\n"                                              \
        "        type: object\n"                                                \
        "        properties:\n"                                                 \
        "          spec: {type: object, properties: {color: {type: string}}}\n" \
        "          status: {type: object, properties: {color: {type: string}}}\n"

#define COMPOSITION(name, kind, in, more)                                                                \
        "apiVersion: apiextensions.crossplane.io/v1\n"                                                   \
        "kind: Composition\n"                                                                            \
        "metadata: {name: " name "}\n"                                                                   \
        "spec:\n"                                                                                        \
        "  compositeTypeRef: {apiVersion: example.org/v1, kind: " kind "}\n"                             \
        "  mode: Pipeline\n"                                                                             \
        "  pipeline:\n"                                                                                  \
        "  - step: mood\n"                                                                               \
        "    functionRef: {name: function-moody}\n"                                                      \
        "  - step: make\n"                                                                               \
        "    functionRef: {name: function-patch-and-transform}\n"                                        \
        "    input:\n"                                                                                   \
        "      apiVersion: pt.fn.crossplane.io/v1beta1\n"                                                \
        "      kind: Resources\n"                                                                        \
        "      resources:\n"                                                                             \
        "      - name: config\n"                                                                         \
        "        base: {apiVersion: v1, kind: ConfigMap" in "}\n"                                        \
        "        patches:\n"                                                                             \
        "        - {fromFieldPath: spec.color, toFieldPath: data.color}\n"                               \
        "        - {type: ToCompositeFieldPath, fromFieldPath: data.color, toFieldPath: status.color}\n" \
        "        readinessChecks: [{type: None}]\n" more

#define LEAF                                                       \
        "      - name: leaf\n"                                     \
        "        base: {apiVersion: example.org/v1, kind: Leaf}\n" \
        "        patches:\n"                                       \
        "        - {fromFieldPath: spec.color, toFieldPath: spec.color}\n"

static void world_init(struct world *w, uint64_t seed)
{
        world_begin(w, seed, (struct features) { 0 });
        apply(&w->f, DEFINITION("v2", "App", "apps", "  scope: Namespaced\n"));
        apply(&w->f, DEFINITION("v2", "Leaf", "leaves", "  scope: Namespaced\n"));
        apply(&w->f,
              DEFINITION("v1", "XDatabase", "xdatabases", "  claimNames: {kind: Database, plural: databases}\n"));
        apply(&w->f, COMPOSITION("apps", "App", "", LEAF));
        apply(&w->f, COMPOSITION("leaves", "Leaf", "", ""));
        apply(&w->f, COMPOSITION("databases", "XDatabase", ", metadata: {namespace: default}", ""));
        quiet(w);
}

/* --- People --- */

/* Changes or deletes something that was composed. */
static void meddle(struct fixture *f, struct random *random)
{
        struct object_list list;
        struct object_key key;

        list_of(f, random_below(random, 3) ? config_map_gvk() : kind_of("Leaf"), &list);
        if (list.n == 0)
                return;
        key = object_key_of(object_list_value(&list, random_below(random, list.n), &f->arena));
        if (random_below(random, 3) == 0)
                delete_with(f, key, PROPAGATE_UNSET);
        else if (str_equal(key.gvk.kind, STR("Leaf")))
                merge(f, key, JSON(f, "{'spec':{'color':'black'}}"), NULL);
        else
                merge(f, key, JSON(f, "{'data':{'color':'black'}}"), NULL);
}

static void change_at_random(void *arg)
{
        static const char *const colors[] = { "red", "green", "blue" };
        static const enum propagation ways[] = { PROPAGATE_UNSET, PROPAGATE_BACKGROUND, PROPAGATE_FOREGROUND };
        struct person *p = arg;
        struct fixture f = { .store = p->w->f.store, .cluster = p->w->f.cluster };
        struct random random;

        random_seed(&random, p->seed);
        arena_init(&f.arena, "person", 0);
        f.run = (struct run) { .arena = &f.arena, .deadline = DEADLINE_NONE, .user = { .name = STR("person") } };
        for (int i = 0; i < 8; i++) {
                const char *kind = random_below(&random, 2) ? "App" : "Database";
                const char *color = colors[random_below(&random, 3)];
                struct object_key key = key_of(kind_of(kind), "default", random_below(&random, 2) ? "a" : "b");

                switch (random_below(&random, 5)) {
                case 0:
                case 1:
                        create(&f, JSON(&f,
                                        "{'apiVersion':'example.org/v1','kind':'%s','metadata':{'namespace':'default',"
                                        "'name':'%.*s'},'spec':{'color':'%s'}}",
                                        kind, STR_ARG(key.name), color));
                        break;
                case 2:
                        merge(&f, key, JSON(&f, "{'spec':{'color':'%s'}}", color), NULL);
                        break;
                case 3:
                        delete_with(&f, key, ways[random_below(&random, 3)]);
                        break;
                default:
                        meddle(&f, &random);
                }
                thread_sleep(deadline_after_ms((int64_t)random_below(&random, 3000)), NULL);
        }
        err_done(&f.err);
        arena_done(&f.arena);
}

/* --- The end --- */

static void check_composite(struct world *w, const struct value *v)
{
        struct str color = value_str(value_find(v, "spec", "color"));
        const struct value *config = only_composed(w, v, config_map_gvk());
        bool is_app = str_equal(value_str(value_get(v, STR("kind"))), STR("App"));
        const struct value *refs = value_find(v, "spec", "crossplane", "resourceRefs");

        check_condition(v, "Synced");
        check_condition(v, "Ready");
        SIM_ASSERT(meta_has_finalizer(v, STR("composite.apiextensions.crossplane.io")));
        SIM_ASSERT(str_equal(value_str(value_find(config, "data", "color")), color));
        SIM_ASSERT(str_equal(value_str(value_find(v, "status", "color")), color));
        check_refs(refs ? refs : value_find(v, "spec", "resourceRefs"), is_app ? 2 : 1, v);
        if (is_app)
                SIM_ASSERT(
                        str_equal(value_str(value_find(only_composed(w, v, kind_of("Leaf")), "spec", "color")), color));
}

static void check_claim(struct world *w, const struct value *claim)
{
        struct object_key key = { .gvk = kind_of("XDatabase"),
                                  .name = value_str(value_find(claim, "spec", "resourceRef", "name")) };
        const struct value *xr = get(&w->f, key);

        if (!xr)
                sim_fail("claim %.*s is bound to nothing", STR_ARG(meta_name(claim)));
        check_condition(claim, "Synced");
        check_condition(claim, "Ready");
        SIM_ASSERT(str_equal(value_str(value_find(xr, "spec", "claimRef", "name")), meta_name(claim)));
        SIM_ASSERT(
                str_equal(value_str(value_find(xr, "spec", "color")), value_str(value_find(claim, "spec", "color"))));
}

/* Returns the number of objects. */
static size_t check_all(struct world *w, const char *kind, void (*check)(struct world *w, const struct value *v))
{
        struct object_list list;

        list_of(&w->f, kind_of(kind), &list);
        for (size_t i = 0; i < list.n; i++)
                check(w, object_list_value(&list, i, &w->f.arena));
        return list.n;
}

static void check_end(struct world *w)
{
        size_t n_apps = check_all(w, "App", check_composite), n_claims = check_all(w, "Database", check_claim);
        size_t n_composed;
        struct object_list maps;

        SIM_ASSERT(check_all(w, "Leaf", check_composite) == n_apps);
        SIM_ASSERT(check_all(w, "XDatabase", check_composite) == n_claims);
        list_of(&w->f, config_map_gvk(), &maps);
        n_composed = 2 * n_apps + n_claims;
        if (maps.n != n_composed)
                sim_fail("%zu ConfigMaps for %zu Apps and %zu claims", maps.n, n_apps, n_claims);
}

/* --- The simulation --- */

static void simulate(void *arg)
{
        static const struct story story = { .init = world_init, .change = change_at_random, .check = check_end };

        play(&story, ++*(uint64_t *)arg);
}

/* A definition that is deleted takes its claims and composites with it, in whatever order its controllers run. */
static void undefine(void *arg)
{
        struct gvk crd = { STR("apiextensions.k8s.io"), STR("v1"), STR("CustomResourceDefinition") };
        struct gvk xrd = { STR("apiextensions.crossplane.io"), STR("v1"), STR("CompositeResourceDefinition") };
        static const char *const names[] = { "a", "b" };
        struct world w;

        world_init(&w, ++*(uint64_t *)arg);
        for (size_t i = 0; i < ARRAY_SIZE(names); i++)
                MUST(&w.f, create(&w.f, JSON(&w.f,
                                             "{'apiVersion':'example.org/v1','kind':'Database','metadata':{'namespace':"
                                             "'default','name':'%s'},'spec':{'color':'red'}}",
                                             names[i])));
        quiet(&w);
        MUST(&w.f, delete_with(&w.f, key_of(xrd, "", "xdatabases.example.org"), PROPAGATE_UNSET));
        quiet(&w);
        thread_sleep(deadline_after_ms(20 * 60 * 1000), NULL);
        quiet(&w);
        SIM_ASSERT(!get(&w.f, key_of(crd, "", "databases.example.org")));
        SIM_ASSERT(!get(&w.f, key_of(crd, "", "xdatabases.example.org")));
        SIM_ASSERT(!get(&w.f, key_of(xrd, "", "xdatabases.example.org")));
        world_done(&w);
}

TEST(definitions_go)
{
        _cleanup_err_ struct err err = { 0 };
        struct sim_options options = { .max_steps = 20 * 1000 * 1000 };
        struct sim_report report;
        uint64_t n = 0;

        log_set_level(_LOG_LEVEL_COUNT);
        if (sim_explore(1, 40, &options, undefine, &n, &report, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
}

TEST(schedules)
{
        explore(simulate, 20);
}
