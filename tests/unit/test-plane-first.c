/* The first design in simulated time (plane-sim.h): applications, infrastructure two deep, requirements that are bound to resources of their
 * own or to one that exists, publications that are withdrawn and definitions that are deleted and made again. */
#include "plane-sim.h"

#include "owner.h"

/* --- The world --- */

#define DISKS                                     \
        "apiVersion: apiextensions.k8s.io/v1\n"   \
        "kind: CustomResourceDefinition\n"        \
        "metadata: {name: disks.primitive.org}\n" \
        "spec:\n"                                 \
        "  group: primitive.org\n"                \
        "  scope: Cluster\n"                      \
        "  names: {kind: Disk, plural: disks}\n"  \
        "  versions:\n"                           \
        "  - name: v1\n"                          \
        "    served: true\n"                      \
        "    storage: true\n"                     \
        "    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}\n"

#define DEFINITION(of, kind, plural, more)                   \
        "apiVersion: apiextensions.crossplane.io/v1alpha1\n" \
        "kind: " of "Definition\n"                           \
        "metadata: {name: " plural ".example.org}\n"         \
        "spec:\n" more "  crdSpecTemplate:\n"                \
        "    group: example.org\n"                           \
        "    version: v1\n"                                  \
        "    names: {kind: " kind ", plural: " plural "}\n"  \
        "    validation: {openAPIV3Schema: {type: object, properties: {color: {type: string}}}}\n"

#define PUBLICATION                                          \
        "apiVersion: apiextensions.crossplane.io/v1alpha1\n" \
        "kind: InfrastructurePublication\n"                  \
        "metadata: {name: stores.example.org}\n"             \
        "spec: {infrastructureDefinitionReference: {name: stores.example.org}}\n"

#define COMPOSITION(name, kind, to)                              \
        "apiVersion: apiextensions.crossplane.io/v1alpha1\n"     \
        "kind: Composition\n"                                    \
        "metadata: {name: " name "}\n"                           \
        "spec:\n"                                                \
        "  from: {apiVersion: example.org/v1, kind: " kind "}\n" \
        "  to:\n" to

#define COLORED(kind, of, more)                            \
        "  - base: {apiVersion: " of ", kind: " kind "}\n" \
        "    patches:\n"                                   \
        "    - {fromFieldPath: spec.color, toFieldPath: spec.color}\n" more

#define NAMES_SECRET                                                               \
        "    - fromFieldPath: metadata.name\n"                                     \
        "      toFieldPath: spec.infrastructure.writeConnectionSecretToRef.name\n" \
        "      transforms: [{type: string, string: {fmt: '%s-secret'}}]\n"

#define SHOWS_COLOR                             \
        "    readinessChecks: [{type: None}]\n" \
        "    connectionDetails: [{name: color, type: FromFieldPath, fromFieldPath: spec.color}]\n"

static const char *const definitions[] = {
        DEFINITION("Application", "Shop", "shops", ""),
        DEFINITION("Infrastructure", "Store", "stores", "  connectionDetails: [color]\n"),
        DEFINITION("Infrastructure", "Volume", "volumes", ""),
        PUBLICATION,
};

static void define(struct fixture *f)
{
        for (size_t i = 0; i < ARRAY_SIZE(definitions); i++)
                apply(f, definitions[i]);
}

static void world_init(struct world *w, uint64_t seed)
{
        world_begin(w, seed, features_with((struct features) { 0 }, FEATURE_FIRST_DESIGN_KINDS, true));
        create(&w->f, JSON(&w->f, "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'crossplane-system'}}"));
        apply(&w->f, DISKS);
        define(&w->f);
        apply(&w->f, COMPOSITION("shops", "Shop", COLORED("StoreRequirement", "example.org/v1", NAMES_SECRET)));
        apply(&w->f,
              COMPOSITION("stores", "Store",
                          COLORED("Disk", "primitive.org/v1", SHOWS_COLOR) COLORED("Volume", "example.org/v1", "")));
        apply(&w->f, COMPOSITION("volumes", "Volume",
                                 COLORED("Disk", "primitive.org/v1", "    readinessChecks: [{type: None}]\n")));
        quiet(w);
}

/* --- People --- */

static struct gvk disk_gvk(void)
{
        return (struct gvk) { STR("primitive.org"), STR("v1"), STR("Disk") };
}

static const struct color {
        const char *name, *base64;
} colors[] = { { "red", "cmVk" }, { "green", "Z3JlZW4=" }, { "blue", "Ymx1ZQ==" } };

static const enum propagation ways[] = { PROPAGATE_UNSET, PROPAGATE_BACKGROUND, PROPAGATE_FOREGROUND };

static struct gvk own_kind(const char *version, const char *kind)
{
        return (struct gvk) { STR("apiextensions.crossplane.io"), str_from(version), str_from(kind) };
}

/* Requirements c and d may both want the Store `shared`. */
static void create_something(struct fixture *f, struct random *random)
{
        const char *color = colors[random_below(random, ARRAY_SIZE(colors))].name;
        bool is_first = random_below(random, 2);

        switch (random_below(random, 3)) {
        case 0:
                create(f, JSON(f,
                               "{'apiVersion':'example.org/v1','kind':'Shop','metadata':{'namespace':'default','name':"
                               "'%s'},'spec':{'color':'%s'}}",
                               is_first ? "a" : "b", color));
                break;
        case 1:
                create(f, JSON(f,
                               "{'apiVersion':'example.org/v1','kind':'StoreRequirement','metadata':{'namespace':"
                               "'default','name':'%s'},'spec':{'color':'%s','infrastructure':{%s"
                               "'writeConnectionSecretToRef':{'name':'%s-secret'}}}}",
                               is_first ? "c" : "d", color,
                               random_below(random, 3) ? "'resourceRef':[{'apiVersion':'example.org/v1','kind':"
                                                         "'Store','name':'shared'}],"
                                                       : "",
                               is_first ? "c" : "d"));
                break;
        default:
                create(f, JSON(f,
                               "{'apiVersion':'example.org/v1','kind':'Store','metadata':{'name':'shared'},'spec':{"
                               "'color':'%s','infrastructure':{'reclaimPolicy':'%s','writeConnectionSecretToRef':{"
                               "'namespace':'default','name':'shared-secret'}}}}",
                               color, is_first ? "Retain" : "Delete"));
        }
}

/* One of the objects that people make, or one that was made for them. */
static bool pick(struct fixture *f, struct random *random, struct object_key *ret)
{
        static const char *const kinds[] = { "Shop", "StoreRequirement", "Store", "Volume" };
        size_t i = random_below(random, ARRAY_SIZE(kinds) + 1);
        struct list_request req = { .gvk = i < ARRAY_SIZE(kinds) ? kind_of(kinds[i]) : disk_gvk() };
        struct object_list list;

        if (cluster_list(f->cluster, &f->run, &req, &list, &f->err) < 0 || list.n == 0) {
                err_done(&f->err);
                return false;
        }
        *ret = object_key_of(object_list_value(&list, random_below(random, list.n), &f->arena));
        return true;
}

static void try_apply(struct fixture *f, const char *text)
{
        const struct value *body = NULL;

        MUST(f, yaml_parse(&f->arena, str_from(text), NULL, &body, &f->err));
        write_request(f,
                      (struct write_request) { .verb = WRITE_APPLY,
                                               .key = object_key_of(body),
                                               .body = body,
                                               .manager = STR("tester"),
                                               .force = true },
                      NULL);
        err_done(&f->err);
}

/* Takes back an offer or a definition, makes one again, or edits what was made of it. */
static void redefine(struct fixture *f, struct random *random)
{
        struct gvk xrd = own_kind("v2", "CompositeResourceDefinition");

        switch (random_below(random, 8)) {
        case 0:
                delete_with(f, key_of(own_kind("v1alpha1", "InfrastructurePublication"), "", "stores.example.org"),
                            ways[random_below(random, 3)]);
                break;
        case 1:
                delete_with(f, key_of(own_kind("v1alpha1", "InfrastructureDefinition"), "", "stores.example.org"),
                            ways[random_below(random, 3)]);
                break;
        case 2:
                delete_with(f, key_of(own_kind("v1alpha1", "ApplicationDefinition"), "", "shops.example.org"),
                            ways[random_below(random, 3)]);
                break;
        case 3:
        case 4:
                merge(f, key_of(xrd, "", "stores.example.org"),
                      JSON(f, "{'metadata':{'labels':{'weft.dev/from':'me'}},'spec':{'connectionSecretKeys':['x']}}"),
                      NULL);
                break;
        default:
                try_apply(f, definitions[random_below(random, ARRAY_SIZE(definitions))]);
        }
}

static void change_something(struct fixture *f, struct random *random)
{
        const char *color = colors[random_below(random, ARRAY_SIZE(colors))].name;
        struct object_key key;

        switch (random_below(random, 6)) {
        case 0:
        case 1:
        case 2:
                create_something(f, random);
                break;
        case 3:
                if (pick(f, random, &key))
                        merge(f, key, JSON(f, "{'spec':{'color':'%s'}}", color), NULL);
                break;
        case 4:
                if (pick(f, random, &key))
                        delete_with(f, key, ways[random_below(random, 3)]);
                break;
        default:
                redefine(f, random);
        }
}

static void change_at_random(void *arg)
{
        struct person *p = arg;
        struct fixture f = { .store = p->w->f.store, .cluster = p->w->f.cluster };
        struct random random;

        random_seed(&random, p->seed);
        arena_init(&f.arena, "person", 0);
        f.run = (struct run) { .arena = &f.arena, .deadline = DEADLINE_NONE, .user = { .name = STR("person") } };
        for (int i = 0; i < 12; i++) {
                change_something(&f, &random);
                err_done(&f.err);
                thread_sleep(deadline_after_ms((int64_t)random_below(&random, 3000)), NULL);
        }
        arena_done(&f.arena);
}

/* Definitions that are being deleted go with all their objects; then they are made again. */
static void mend(struct world *w)
{
        thread_sleep(deadline_after_ms(20 * 60 * 1000), NULL);
        quiet(w);
        define(&w->f);
}

/* --- The end --- */

static struct str color_of(const struct value *v)
{
        return value_str(value_find(v, "spec", "color"));
}

static struct str name_at(const struct value *object, const char *field)
{
        return value_str(value_find(object, "spec", "infrastructure", field, "name"));
}

static void check_colored(struct world *w, const struct value *owner, struct gvk gvk)
{
        const struct value *composed = only_composed(w, owner, gvk);

        if (!str_equal(color_of(composed), color_of(owner)))
                sim_fail("%.*s %.*s is not %.*s", STR_ARG(gvk.kind), STR_ARG(meta_name(composed)),
                         STR_ARG(color_of(owner)));
}

static void check_secret(struct world *w, const struct value *owner, struct str ns, struct str name)
{
        struct object_key key = { .gvk = { STR(""), STR("v1"), STR("Secret") }, .ns = ns, .name = name };
        const struct value *secret = get(&w->f, key), *data = value_get(secret, STR("data"));
        struct owner_reference controller;

        if (!secret)
                sim_fail("Secret %.*s of %.*s is not there", STR_ARG(name), STR_ARG(meta_name(owner)));
        SIM_ASSERT(owner_controller(secret, &controller) && str_equal(controller.uid, meta_uid(owner)));
        SIM_ASSERT(value_count(data) == 1);
        for (size_t i = 0; i < ARRAY_SIZE(colors); i++)
                if (str_equal(color_of(owner), str_from(colors[i].name)) &&
                    !str_equal(value_str(value_get(data, STR("color"))), str_from(colors[i].base64)))
                        sim_fail("Secret %.*s does not have %s", STR_ARG(name), colors[i].name);
}

static void check_composite(const struct value *v, const char *machinery, size_t n_composed)
{
        check_condition(v, "Synced");
        check_condition(v, "Ready");
        SIM_ASSERT(meta_has_finalizer(v, STR("composite.apiextensions.crossplane.io")));
        check_refs(value_find(v, "spec", machinery, "composedRefs"), n_composed, v);
}

static void check_shop(struct world *w, const struct value *v)
{
        check_composite(v, "application", 1);
        check_colored(w, v, kind_of("StoreRequirement"));
}

static void check_volume(struct world *w, const struct value *v)
{
        check_composite(v, "infrastructure", 1);
        check_colored(w, v, disk_gvk());
}

/* Only `shared` may be without a requirement: the others were made for one. */
static void check_store(struct world *w, const struct value *v)
{
        const struct value *to = value_find(v, "spec", "infrastructure", "writeConnectionSecretToRef"), *requirement;

        check_composite(v, "infrastructure", 2);
        check_colored(w, v, disk_gvk());
        check_colored(w, v, kind_of("Volume"));
        if (to)
                check_secret(w, v, value_str(value_get(to, STR("namespace"))), value_str(value_get(to, STR("name"))));
        if (!name_at(v, "requirementRef").n) {
                SIM_ASSERT(str_equal(meta_name(v), STR("shared")));
                return;
        }
        requirement = get(&w->f, (struct object_key) { .gvk = kind_of("StoreRequirement"),
                                                       .ns = STR("default"),
                                                       .name = name_at(v, "requirementRef") });
        if (!requirement || !str_equal(name_at(requirement, "resourceRef"), meta_name(v)))
                sim_fail("Store %.*s is bound to %.*s, which is not bound to it", STR_ARG(meta_name(v)),
                         STR_ARG(name_at(v, "requirementRef")));
}

/* A requirement has its Store, or says that another has it. */
static void check_requirement(struct world *w, const struct value *v)
{
        const struct value *store =
                get(&w->f, (struct object_key) { .gvk = kind_of("Store"), .name = name_at(v, "resourceRef") });
        struct condition synced;

        if (!store)
                sim_fail("requirement %.*s is bound to nothing", STR_ARG(meta_name(v)));
        if (!str_equal(name_at(store, "requirementRef"), meta_name(v))) {
                condition_get(v, STR("Synced"), &synced);
                SIM_ASSERT(synced.status == CONDITION_FALSE);
                SIM_ASSERT(name_at(store, "requirementRef").n > 0);
                return;
        }
        check_condition(v, "Synced");
        check_condition(v, "Ready");
        SIM_ASSERT(meta_has_finalizer(v, STR("finalizer.apiextensions.crossplane.io")));
        SIM_ASSERT(str_equal(color_of(v), color_of(store)));
        check_secret(w, v, STR("default"), name_at(v, "writeConnectionSecretToRef"));
}

static size_t check_all(struct world *w, struct gvk gvk, void (*check)(struct world *w, const struct value *v))
{
        struct object_list list;

        list_of(&w->f, gvk, &list);
        for (size_t i = 0; check && i < list.n; i++)
                check(w, object_list_value(&list, i, &w->f.arena));
        return list.n;
}

static void check_definitions(struct world *w)
{
        static const char *const names[] = { "shops", "stores", "volumes" };

        for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
                struct str name = arena_printf(&w->f.arena, "%s.example.org", names[i]);
                const struct value *definition =
                        get(&w->f,
                            key_of(own_kind("v1alpha1", i ? "InfrastructureDefinition" : "ApplicationDefinition"), "",
                                   name.p));
                const struct value *xrd = get(&w->f, key_of(own_kind("v2", "CompositeResourceDefinition"), "", name.p));

                SIM_ASSERT(definition && xrd);
                check_condition(definition, "Established");
                SIM_ASSERT(!str_equal(meta_label(xrd, STR("weft.dev/from")), STR("me")));
        }
        check_condition(get(&w->f, key_of(own_kind("v1alpha1", "InfrastructurePublication"), "", "stores.example.org")),
                        "Offered");
}

static void check_end(struct world *w)
{
        size_t n_stores, n_volumes, n_disks;

        check_definitions(w);
        check_all(w, kind_of("Shop"), check_shop);
        check_all(w, kind_of("StoreRequirement"), check_requirement);
        n_stores = check_all(w, kind_of("Store"), check_store);
        n_volumes = check_all(w, kind_of("Volume"), check_volume);
        n_disks = check_all(w, disk_gvk(), NULL);
        if (n_volumes != n_stores || n_disks != 2 * n_stores)
                sim_fail("%zu Volumes and %zu Disks for %zu Stores", n_volumes, n_disks, n_stores);
}

static void simulate(void *arg)
{
        static const struct story story = {
                .init = world_init, .change = change_at_random, .mend = mend, .check = check_end
        };

        play(&story, ++*(uint64_t *)arg);
}

TEST(schedules)
{
        explore(simulate, 15);
}
