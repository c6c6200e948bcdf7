#include "plane-state.h"

#include "features.h"
#include "first-design.h"
#include "install.h"
#include "own-kinds.h"
#include "protection.h"

static int start_version(struct plane *p, const char *name, struct str version, struct str kind,
                         kind_reconcile *reconcile, struct kind_controller **ret, struct err *err)
{
        struct kind_controller_options options = {
                .name = str_from(name),
                .gvk = { CROSSPLANE_GROUP, version, kind },
                .reconcile = reconcile,
                .context = p,
                .knows_writes = true,
                .timeout_ms = 120000,
        };

        return kind_controller_start(p->options.manager, &options, ret, err);
}

static int start_usages(struct plane *p, struct err *err)
{
        static const char *const names[] = {
                [USAGE_NAMESPACED] = "usage/usage.protection.crossplane.io",
                [USAGE_CLUSTER] = "usage/clusterusage.protection.crossplane.io",
                [USAGE_LEGACY] = "usage/usage.apiextensions.crossplane.io",
        };
        int r = 0;

        for (enum usage_kind i = 0; r == 0 && i < _USAGE_COUNT; i++) {
                struct kind_controller_options options = {
                        .name = str_from(names[i]),
                        .gvk = usage_gvk(i),
                        .reconcile = usage_reconcile,
                        .context = p,
                        .knows_writes = true,
                };

                r = kind_controller_start(p->options.manager, &options, &p->usages[i], err);
        }
        return r;
}

static int start_own(struct plane *p, const char *name, struct str kind, kind_reconcile *reconcile,
                     struct kind_controller **ret, struct err *err)
{
        return start_version(p, name, STR("v1"), kind, reconcile, ret, err);
}

static int start_first_design(struct plane *p, struct err *err)
{
        static const struct {
                const char *name;
                struct str kind;
                kind_reconcile *reconcile;
        } controllers[] = {
                { "defined/applicationdefinition.apiextensions.crossplane.io", STR_INIT("ApplicationDefinition"),
                  application_definition_reconcile },
                { "defined/infrastructuredefinition.apiextensions.crossplane.io", STR_INIT("InfrastructureDefinition"),
                  infrastructure_definition_reconcile },
                { "offered/infrastructurepublication.apiextensions.crossplane.io",
                  STR_INIT("InfrastructurePublication"), publication_reconcile },
        };
        int r = 0;

        if (!feature_is_on(p->options.steps.features, FEATURE_FIRST_DESIGN_KINDS))
                return 0;
        for (size_t i = 0; r == 0 && i < ARRAY_SIZE(controllers); i++)
                r = start_version(p, controllers[i].name, STR("v1alpha1"), controllers[i].kind,
                                  controllers[i].reconcile, &p->first_design[i], err);
        return r;
}

static void open_meters(struct plane *p)
{
        static const struct meter_options started = { "engine_controllers_started_total",
                                                      "Total number of controllers started.",
                                                      METER_COUNTER,
                                                      { "controller" } };
        static const struct meter_options stopped = { "engine_controllers_stopped_total",
                                                      "Total number of controllers stopped.",
                                                      METER_COUNTER,
                                                      { "controller" } };

        function_meters_open(&p->function_meters, p->options.meters);
        p->started_controllers = meters_get(p->options.meters, &started);
        p->stopped_controllers = meters_get(p->options.meters, &stopped);
}

int plane_new(const struct plane_options *options, struct plane **ret, struct err *err)
{
        struct plane *p = xcalloc(1, sizeof(*p));
        int r;

        p->options = *options;
        open_meters(p);
        mutex_init(&p->mutex);
        if (!options->protection)
                p->own_protection = protection_new(manager_cluster(options->manager));
        p->protection = options->protection ? options->protection : p->own_protection;
        r = start_own(p, "revision/compositionrevision.apiextensions.crossplane.io", STR("CompositionRevision"),
                      revision_reconcile, &p->revisions, err);
        if (r == 0)
                r = start_own(p, "revisions/composition.apiextensions.crossplane.io", STR("Composition"),
                              composition_reconcile, &p->compositions, err);
        if (r == 0)
                r = start_own(p, "defined/compositeresourcedefinition.apiextensions.crossplane.io",
                              STR("CompositeResourceDefinition"), definition_reconcile, &p->definitions, err);
        if (r == 0)
                r = start_own(p, "offered/compositeresourcedefinition.apiextensions.crossplane.io",
                              STR("CompositeResourceDefinition"), offer_reconcile, &p->offers, err);
        if (r == 0)
                r = start_usages(p, err);
        if (r == 0)
                r = start_first_design(p, err);
        if (r < 0)
                plane_free(p);
        else
                *ret = p;
        return r;
}

void plane_free(struct plane *p)
{
        if (!p)
                return;
        for (size_t i = 0; i < ARRAY_SIZE(p->first_design); i++)
                kind_controller_stop(p->first_design[i]);
        kind_controller_stop(p->offers);
        kind_controller_stop(p->definitions);
        for (struct map_entry *e; (e = map_first(&p->started));)
                plane_stop_started(p, e->key);
        kind_controller_stop(p->compositions);
        kind_controller_stop(p->revisions);
        for (enum usage_kind i = 0; i < _USAGE_COUNT; i++)
                kind_controller_stop(p->usages[i]);
        protection_free(p->own_protection);
        map_done(&p->started);
        mutex_done(&p->mutex);
        free(p);
}

/* --- Crossplane's own kinds --- */

static bool is_of_first_design(const struct value *crd)
{
        struct gvk gvk = { value_str(value_find(crd, "spec", "group")), STR("v1alpha1"),
                           value_str(value_find(crd, "spec", "names", "kind")) };

        return first_design_kind(gvk) || first_design_is_publication(gvk);
}

int plane_install(struct cluster *cluster, struct run *run, struct features features, struct err *err)
{
        const struct value *crd;
        int r = 0;

        for (size_t i = 0; r == 0 && (crd = own_kind_crd(run->arena, i)); i++)
                if (!is_of_first_design(crd) || feature_is_on(features, FEATURE_FIRST_DESIGN_KINDS))
                        r = install_crd(cluster, run, crd, err);
        return r;
}
