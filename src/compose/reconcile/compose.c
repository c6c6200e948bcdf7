/* Applies the desired state to the cluster (docs/spec/engine 2.6, 2.9-2.12). The order makes a crash harmless: first deletes, then
 * references, then the objects that they refer to. */
#include "reconcile-state.h"

#include <stdlib.h>

#include "buf.h"
#include "composed.h"
#include "gotext.h"
#include "managers.h"
#include "owner.h"
#include "path.h"

static int compare_observed(const void *key, const void *resource)
{
        return str_compare(*(const struct str *)key, ((const struct observed_resource *)resource)->key);
}

static const struct observed_resource *find_observed(const struct reconcile *r, struct str key)
{
        return bsearch(&key, r->observed, r->n_observed, sizeof(*r->observed), compare_observed);
}

/* --- Desired resources --- */

/* Upstream's words, and behind them the way out. */
static void tell_kind_missing(struct err *err)
{
        _cleanup_err_ struct err why = { 0 };

        err_move(&why, err);
        err_set(err, why.code, "%s; install its CustomResourceDefinition, its provider, or the XRD that defines it",
                err_message(&why));
}

/* For a namespaced composite: the kind must be namespaced too. */
static int check_namespaced(struct reconcile *r, struct str key, const struct value *object, struct err *err)
{
        struct str kind_name = value_str(value_get(object, STR("kind")));
        const struct kind *kind;
        int e;

        if (kind_name.n == 0)
                e = err_set(err, ERR_INVALID, "Object 'Kind' is missing in 'unstructured object has no kind'");
        else
                e = cluster_kind(r->options->cluster, r->run, gvk_of(object), &kind, err);
        if (e < 0) {
                if (kind_name.n)
                        err_wrap(err, "failed to get restmapping");
                if (e == ERR_NOT_FOUND)
                        tell_kind_missing(err);
                return err_wrap(err, "cannot check if composed resource %s is namespaced (a %.*s named %.*s)",
                                go_quote(r->arena, key).p, STR_ARG(kind_name), STR_ARG(meta_name(object)));
        }
        if (!kind->is_namespaced)
                return err_set(err, ERR_INVALID,
                               "cannot apply cluster scoped composed resource %s (a %.*s named %.*s) for a namespaced "
                               "composite resource. An XRD with scope: Cluster may compose it",
                               go_quote(r->arena, key).p, STR_ARG(kind_name), STR_ARG(meta_name(object)));
        return 0;
}

/* For a cluster scoped composite: an object of a namespaced kind must set its namespace. The check comes before the reference is
 * written, because a reference without a namespace cannot be read. An unknown kind passes; the apply reports it. */
static int check_has_namespace(struct reconcile *r, struct str key, const struct value *object, struct err *err)
{
        struct gvk gvk = gvk_of(object);
        const struct kind *kind;

        if (meta_namespace(object).n || cluster_kind(r->options->cluster, r->run, gvk, &kind, NULL) < 0 ||
            !kind->is_namespaced)
                return 0;
        return err_set(err, ERR_INVALID,
                       "cannot apply composed resource %s: a %.*s is namespaced, and a cluster scoped composite "
                       "resource gives it no namespace: set metadata.namespace",
                       go_quote(r->arena, key).p, STR_ARG(gvk.kind));
}

/* Whether the kind has the composite's scope. Render has no kinds, and checks only the namespaces that are given. */
static int check_same_scope(struct reconcile *r, struct str key, const struct value *object, struct err *err)
{
        struct gvk gvk = gvk_of(object);
        const char *design = composite_places(&r->xr)->design;
        const struct kind *kind;

        if (!r->options->policies->checks_kinds)
                return 0;
        if (cluster_kind(r->options->cluster, r->run, gvk, &kind, err) < 0)
                return err_wrap(err, "cannot find out the scope of composed resource %s (a %.*s)",
                                go_quote(r->arena, key).p, STR_ARG(gvk.kind));
        if (kind->is_namespaced == r->is_namespaced)
                return 0;
        return err_set(err, ERR_INVALID,
                       "refusing to compose resource %s: a %.*s is %s, and an %s composes only %s resources; %s",
                       go_quote(r->arena, key).p, STR_ARG(gvk.kind),
                       kind->is_namespaced ? "namespaced" : "cluster scoped", design,
                       r->is_namespaced ? "namespaced" : "cluster scoped",
                       r->is_namespaced ? "define infrastructure that composes it, publish that, and require it here"
                                        : "compose it in an application");
}

/* The first design: all composed resources have the scope of their composite, and its namespace. */
static int check_strict_scope(struct reconcile *r, struct str key, const struct value *object, struct err *err)
{
        struct str given = meta_namespace(object), own = meta_namespace(r->xr.object);

        if (given.n && !r->is_namespaced)
                return err_set(err, ERR_INVALID,
                               "refusing to compose resource %s in namespace %s: an %s composes only cluster scoped "
                               "resources; remove metadata.namespace",
                               go_quote(r->arena, key).p, go_quote(r->arena, given).p,
                               composite_places(&r->xr)->design);
        if (given.n && !str_equal(given, own))
                return err_set(err, ERR_INVALID,
                               "refusing to compose resource %s in namespace %s: an %s composes only resources in its "
                               "own namespace %s; remove metadata.namespace",
                               go_quote(r->arena, key).p, go_quote(r->arena, given).p, composite_places(&r->xr)->design,
                               go_quote(r->arena, own).p);
        return check_same_scope(r, key, object, err);
}

/* A namespaced composite composes namespaced resources, in its own namespace. */
static int check_scope(struct reconcile *r, struct str key, const struct value *object, struct err *err)
{
        struct str given = meta_namespace(object), own = meta_namespace(r->xr.object);

        if (composite_places(&r->xr)->is_strict_scope)
                return check_strict_scope(r, key, object, err);
        if (r->is_namespaced && given.n && !str_equal(given, own))
                reconcile_event(r, true, STR("NamespaceOverridden"),
                                "cannot create composed resource %s in namespace %s, using XR namespace %s instead",
                                go_quote(r->arena, key).p, go_quote(r->arena, given).p, go_quote(r->arena, own).p);
        if (given.n || !r->options->policies->checks_kinds)
                return 0;
        return r->is_namespaced ? check_namespaced(r, key, object, err) : check_has_namespace(r, key, object, err);
}

static int prepare_one(struct reconcile *r, const struct fn_resource *wanted, struct composed_resource *ret,
                       struct err *err)
{
        const struct observed_resource *observed = find_observed(r, wanted->name);
        struct composed_scope scope = { .composite = r->xr.object, .is_namespaced = r->is_namespaced };
        struct fn_struct given = wanted->object;
        const struct value *object;
        int e;

        *ret = (struct composed_resource) { .key = wanted->name, .is_ready = wanted->ready == FN_READY_TRUE };
        if (wanted->is_kept && observed) {
                ret->object = observed->value;
                ret->is_kept = ret->is_synced = true;
                return 0;
        }
        e = fn_struct_value(r->arena, &given, &object, err);
        if (e >= 0)
                e = value_settle(r->arena, object ? object : &value_empty_object, &object, err);
        if (e < 0)
                return e;
        if (!observed) {
                e = check_scope(r, wanted->name, object, err);
                if (e < 0)
                        return e;
        }
        return composed_prepare(r->arena, &scope, wanted->name, object, observed ? observed->value : NULL, &ret->object,
                                err);
}

static int prepare_all(struct reconcile *r, const struct fn_state *desired, struct err *err)
{
        r->composed = ARENA_NEW_ARRAY(r->arena, struct composed_resource, desired->n_resources + 1);
        for (size_t i = 0; i < desired->n_resources; i++) {
                int e = prepare_one(r, &desired->resources[i], &r->composed[i], err);

                if (e < 0)
                        return e;
                r->n_composed++;
        }
        return 0;
}

/* --- Resources that are no longer wanted --- */

static bool ignore_not_found(int e, struct err *err)
{
        if (e != ERR_NOT_FOUND)
                return false;
        if (err)
                err_done(err);
        return true;
}

static int delete_one(struct reconcile *r, const struct observed_resource *o, struct err *err)
{
        struct run run = *r->run;
        struct write_result result;
        struct write_request update = {
                .verb = WRITE_UPDATE,
                .key = object_key_of(o->value),
                .body = composed_without_labels(r->arena, o->value),
                .manager = MANAGER_CONTROLLER,
        };
        struct write_request removal = {
                .verb = WRITE_DELETE,
                .key = update.key,
                .precondition_uid = meta_uid(o->value),
                .propagation = PROPAGATE_FOREGROUND,
        };
        int e;

        run.cause = arena_printf(r->arena, "%.*s: CompositionRevision \"%.*s\" no longer desires resource \"%.*s\"",
                                 STR_ARG(r->run->cause), STR_ARG(meta_name(r->revision)), STR_ARG(o->key));
        e = cluster_write(r->options->cluster, &run, &update, &result, err);
        if (e < 0)
                return ignore_not_found(e, err) ? 0 : e;
        e = cluster_write(r->options->cluster, &run, &removal, &result, err);
        return ignore_not_found(e, err) ? 0 : e;
}

static int compare_key(const void *key, const void *resource)
{
        return str_compare(*(const struct str *)key, ((const struct composed_resource *)resource)->key);
}

static bool is_desired(const struct reconcile *r, struct str key)
{
        return bsearch(&key, r->composed, r->n_composed, sizeof(*r->composed), compare_key);
}

static int collect_garbage(struct reconcile *r, struct err *err)
{
        for (size_t i = 0; i < r->n_observed; i++) {
                const struct observed_resource *o = &r->observed[i];
                struct owner_reference controller;
                int e;

                if (is_desired(r, o->key) || !owner_controller(o->value, &controller))
                        continue;
                if (str_equal(controller.uid, meta_uid(r->xr.object)))
                        e = delete_one(r, o, err);
                else
                        e = err_set(err, ERR_CONFLICT,
                                    "refusing to delete composed resource %s that is controlled by %.*s %s",
                                    go_quote(r->arena, o->key).p, STR_ARG(controller.kind),
                                    go_quote(r->arena, controller.name).p);
                if (e < 0)
                        return err_wrap(err, "cannot garbage collect composed resources that are no longer desired");
        }
        return 0;
}

/* --- References --- */

static struct value minimal(struct reconcile *r)
{
        struct object_builder b, metadata;

        object_builder_init(&metadata, r->arena, 3);
        object_builder_add(&metadata, STR("name"), value_of_str(meta_name(r->xr.object)));
        if (meta_namespace(r->xr.object).n)
                object_builder_add(&metadata, STR("namespace"), value_of_str(meta_namespace(r->xr.object)));
        object_builder_init(&b, r->arena, 4);
        object_builder_add(&b, STR("apiVersion"), *value_get(r->xr.object, STR("apiVersion")));
        object_builder_add(&b, STR("kind"), *value_get(r->xr.object, STR("kind")));
        object_builder_add(&b, STR("metadata"), object_builder_finish(&metadata));
        return object_builder_finish(&b);
}

static int persist_references(struct reconcile *r, struct err *err)
{
        struct resource_reference *refs = ARENA_NEW_ARRAY(r->arena, struct resource_reference, r->n_composed + 1);
        struct composite wanted = { .places = r->xr.places };
        const struct value *answer;
        struct value list;

        for (size_t i = 0; i < r->n_composed; i++) {
                const struct value *object = r->composed[i].object;

                refs[i] = (struct resource_reference) {
                        .api_version = value_str(value_get(object, STR("apiVersion"))),
                        .kind = value_str(value_get(object, STR("kind"))),
                        .ns = meta_namespace(object),
                        .name = meta_name(object),
                        .uid = meta_uid(object),
                };
        }
        list = composite_refs_value(r->arena, refs, r->n_composed, r->is_namespaced);
        wanted.object = value_put(r->arena, minimal(r));
        wanted = composite_with(r->arena, &wanted, STR("resourceRefs"), value_put(r->arena, list));
        if (reconcile_apply(r, wanted.object, MANAGER_COMPOSITE, r->live, &answer, err) < 0)
                return err_wrap(err, "cannot update composed resource references");
        if (r->options->policies->adopts_references)
                reconcile_adopt(r, answer);
        else
                r->xr = composite_with(r->arena, &r->xr, STR("resourceRefs"), value_put(r->arena, list));
        return 0;
}

/* --- Applying --- */

/* The managers of an object from before server-side apply are reset (2.12). */
static int upgrade_managers(struct reconcile *r, struct observed_resource *o, struct err *err)
{
        struct write_request req = { .verb = WRITE_JSON_PATCH,
                                     .key = object_key_of(o->value),
                                     .manager = MANAGER_CONTROLLER };
        struct write_result result;
        int e;

        req.body = managers_upgrade(r->arena, o->value, STR("apiextensions.crossplane.io/composed"), true);
        if (!req.body)
                return 0;
        e = cluster_write(r->options->cluster, r->run, &req, &result, err);
        if (e >= 0)
                o->value = result.value;
        return ignore_not_found(e, err) ? 0 : e;
}

static int apply_one(struct reconcile *r, struct composed_resource *c, struct str manager, struct err *err)
{
        const struct observed_resource *observed = find_observed(r, c->key);
        _cleanup_err_ struct err inner = { 0 };
        int e = reconcile_apply(r, c->object, manager, observed ? observed->value : NULL, &c->object, &inner);

        c->is_synced = e >= 0;
        if (e >= 0)
                return 0;
        err_wrap(&inner, "cannot apply composed resource %s", go_quote(r->arena, c->key).p);
        if (inner.reason != REASON_INVALID) {
                r->refused = c->object;
                return err_move(err, &inner);
        }
        reconcile_event(r, true, STR("ComposeResources"), "%s", err_message(&inner));
        return 0;
}

static int apply_all(struct reconcile *r, struct err *err)
{
        struct str manager = composite_composed_manager(r->arena, r->xr.object);
        int e;

        for (size_t i = 0; i < r->n_observed; i++) {
                e = r->options->policies->upgrades_managers ? upgrade_managers(r, &r->observed[i], err) : 0;
                if (e < 0)
                        return e;
        }
        for (size_t i = 0; i < r->n_composed; i++) {
                e = r->composed[i].is_kept ? 0 : apply_one(r, &r->composed[i], manager, err);
                if (e < 0)
                        return e;
        }
        return 0;
}

/* --- Status --- */

/* Whether the status has conditions of types that the composite does not have. Conditions that the composite already has do not
 * count: functions cannot change them in the status. */
static bool brings_conditions(const struct reconcile *r, const struct value *status)
{
        struct condition there;

        VALUE_FOREACH_ITEM (item, value_get(status, STR("conditions")))
                if (!condition_get(r->xr.object, condition_of(item).type, &there))
                        return true;
        return false;
}

/* The composite that the functions want, as an object that can be applied: the engine sets its identity. */
static int wanted_composite(struct reconcile *r, struct fn_state *desired, const struct value **ret,
                            bool *ret_brings_conditions, struct err *err)
{
        const struct value *conditions = value_find(r->xr.object, "status", "conditions");
        const struct value *object = NULL, *status;
        int e = 0;

        if (desired->has_composite)
                e = fn_struct_value(r->arena, &desired->composite.object, &object, err);
        if (e >= 0)
                e = value_settle(r->arena, object ? object : &value_empty_object, &object, err);
        if (e < 0)
                return e;
        object = value_with(r->arena, object, STR("apiVersion"), value_get(r->xr.object, STR("apiVersion")));
        object = value_with(r->arena, object, STR("kind"), value_get(r->xr.object, STR("kind")));
        object = meta_with(r->arena, object, STR("name"), value_get(meta(r->xr.object), STR("name")));
        object = meta_with(r->arena, object, STR("namespace"), value_get(meta(r->xr.object), STR("namespace")));
        object = meta_with(r->arena, object, STR("uid"), value_get(meta(r->xr.object), STR("uid")));
        object = reconcile_with_watched(r, object);
        status = value_get(object, STR("status"));
        *ret_brings_conditions = brings_conditions(r, status);
        if (value_count(conditions) == 0) {
                *ret = object;
                return 0;
        }
        VALUE_FOREACH_ITEM (item, conditions) {
                struct condition c = condition_of(item);

                object = conditions_set(r->arena, object, &c, 1);
        }
        *ret = composite_write_out_conditions(r->arena, object);
        return 0;
}

static int apply_status(struct reconcile *r, struct fn_state *desired, struct err *err)
{
        const struct value *wanted;
        bool is_new;
        int e = wanted_composite(r, desired, &wanted, &is_new, err);

        if (e >= 0)
                e = reconcile_apply_status(r, wanted, is_new, err);
        return e < 0 ? err_wrap(err, "cannot apply composite resource status") : 0;
}

int compose(struct reconcile *r, struct err *err)
{
        struct fn_state desired;
        int e;

        if ((e = composition_read(r->arena, r->revision, &r->composition, err)) < 0 ||
            (e = reconcile_observe(r, err)) < 0 || (e = reconcile_run_pipeline(r, &desired, err)) < 0)
                return e;
        if ((e = fn_state_open(r->arena, &desired, err)) < 0 || (e = prepare_all(r, &desired, err)) < 0 ||
            (e = reconcile_resolve_selectors(r, err)) < 0)
                return e;
        if ((e = collect_garbage(r, err)) < 0 || (e = persist_references(r, err)) < 0 || (e = apply_all(r, err)) < 0)
                return e;
        r->connection = desired.composite.connection;
        r->ready = desired.has_composite ? desired.composite.ready : FN_READY_UNSPECIFIED;
        e = apply_status(r, &desired, err);
        return e < 0 ? e : reconcile_patch_composite(r, &desired, err);
}
