/* Compositions and their revisions: revisions.h, run by the work queue. */
#include "plane-state.h"
#include "revision-history.h"
#include "revisions.h"

static void record_events(struct kind_run *r, const struct value *regarding, struct str component,
                          const struct revisions_result *result)
{
        struct recorder_source source = { .component = component };

        for (size_t i = 0; i < result->n_events; i++)
                kind_run_record(r, regarding, &source, result->events[i].is_warning, result->events[i].reason,
                                result->events[i].message);
}

static int run_revisions(struct kind_run *r, struct str component,
                         int (*reconcile)(struct run *run, struct cluster *c, struct str name,
                                          struct revisions_result *ret, struct err *err),
                         struct err *err)
{
        struct revisions_result result = { 0 };
        const struct value *object;
        int e = kind_run_get(r, &object, err);

        if (e < 0 || !object)
                return e;
        e = reconcile(r->run, r->cluster, r->key.name, &result, err);
        record_events(r, object, component, &result);
        r->answer->requeues = result.requeues;
        return e;
}

static int collect_revisions(struct kind_run *r, struct str component, struct err *err)
{
        struct cluster *all = manager_cluster(r->manager);
        struct revisions_result result = { 0 };
        const struct value *composition;
        int e = revision_history_collect(r->run, all, r->cluster, r->key.name, &result, err);

        if (result.n_events && cluster_get_value(all, r->run, &r->key, &composition, NULL) == 0)
                record_events(r, composition, component, &result);
        return e;
}

int composition_reconcile(struct kind_run *r, struct err *err)
{
        struct str component = STR("revisions/composition.apiextensions.crossplane.io");
        int e = run_revisions(r, component, revisions_reconcile, err);

        if (e < 0 || r->is_gone || r->answer->requeues)
                return e;
        return collect_revisions(r, component, err);
}

int revision_reconcile(struct kind_run *r, struct err *err)
{
        return run_revisions(r, STR("revision/compositionrevision.apiextensions.crossplane.io"), revision_validate,
                             err);
}
