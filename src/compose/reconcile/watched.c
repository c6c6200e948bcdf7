/* Resources that are watched but not composed: status.watchedResourceRefs (docs/spec/seeds 2). */
#include "reconcile-state.h"

/* Collects the resources that all steps watch. Each resource that a step may not watch becomes a warning event. */
void reconcile_collect_watches(struct reconcile *r, const struct step_record *record)
{
        struct fn_watch *all = ARENA_NEW_ARRAY(r->arena, struct fn_watch, r->n_watched + record->n_watched + 1);

        for (size_t i = 0; i < record->n_refused; i++) {
                const struct fn_watch *w = &record->refused[i];

                reconcile_event(r, true, STR("ComposeResources"),
                                "Pipeline step \"%.*s\": cannot watch %.*s %.*s \"%.*s%s%.*s\", which the step did not "
                                "ask for in this run",
                                STR_ARG(record->step), STR_ARG(w->api_version), STR_ARG(w->kind), STR_ARG(w->ns),
                                w->ns.n ? "/" : "", STR_ARG(w->name));
        }
        if (record->n_watched == 0)
                return;
        if (r->n_watched)
                memcpy(all, r->watched, r->n_watched * sizeof(*all));
        memcpy(all + r->n_watched, record->watched, record->n_watched * sizeof(*all));
        r->n_watched = fn_watches_sort(all, r->n_watched + record->n_watched);
        r->watched = all;
}

static struct value watched_value(struct reconcile *r)
{
        struct array_builder list;

        array_builder_init(&list, r->arena, r->n_watched);
        for (size_t i = 0; i < r->n_watched; i++) {
                const struct fn_watch *w = &r->watched[i];
                struct object_builder b;

                object_builder_init(&b, r->arena, 4);
                object_builder_add(&b, STR("apiVersion"), value_of_str(w->api_version));
                object_builder_add(&b, STR("kind"), value_of_str(w->kind));
                object_builder_add(&b, STR("name"), value_of_str(w->name));
                if (w->ns.n)
                        object_builder_add(&b, STR("namespace"), value_of_str(w->ns));
                array_builder_add(&list, object_builder_finish(&b));
        }
        return array_builder_finish(&list);
}

/* The engine alone sets watchedResourceRefs: a function that returns the observed status cannot change it. */
const struct value *reconcile_with_watched(struct reconcile *r, const struct value *object)
{
        const struct value *status = value_get(object, STR("status"));
        struct value watched;

        if (r->n_watched == 0) {
                if (!value_get(status, STR("watchedResourceRefs")))
                        return object;
                status = value_without(r->arena, status, STR("watchedResourceRefs"));
        } else {
                watched = watched_value(r);
                status = value_with(r->arena, value_is_object(status) ? status : &value_empty_object,
                                    STR("watchedResourceRefs"), &watched);
        }
        return value_with(r->arena, object, STR("status"), status);
}
