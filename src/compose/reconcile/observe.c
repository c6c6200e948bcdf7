/* Reads the existing composed resources (docs/spec/engine 2.1). */
#include "reconcile-state.h"

#include <stdlib.h>

#include "composed.h"
#include "owner.h"
#include "secret.h"

int reconcile_connection_of(struct reconcile *r, const struct value *object, const struct value *reference,
                            struct fn_bytes_map *ret, struct err *err)
{
        struct str ns = meta_namespace(object), name = value_str(value_get(reference, STR("name")));
        _cleanup_err_ struct err inner = { 0 };
        int e;

        *ret = (struct fn_bytes_map) { 0 };
        if (name.n == 0)
                return 0;
        if (ns.n == 0)
                ns = value_str(value_get(reference, STR("namespace")));
        e = secret_fetch(r->options->cluster, r->run, ns, name, ret, &inner);
        if (e >= 0 || e == ERR_NOT_FOUND)
                return 0;
        err_move(err, &inner);
        return err_wrap(err, "cannot get connection secret");
}

/* The reference of a composed resource, which may be a composite or a claim of any design. */
static const struct value *connection_reference(const struct value *object)
{
        struct str field = STR("writeConnectionSecretToRef");
        const struct places *places = places_find(places_of_composites, object, field);

        return places ? places_get(places, object, field) : NULL;
}

static bool is_foreign(const struct reconcile *r, const struct value *object)
{
        struct owner_reference controller;

        return owner_controller(object, &controller) && !str_equal(controller.uid, meta_uid(r->xr.object));
}

/* Fails if a resource that was not found may still exist: its kind or version is not served now. Treating it as deleted would lose
 * the reference to it. */
static int check_gone(struct reconcile *r, struct gvk gvk, struct err *err)
{
        const struct kind *kind;

        return r->options->policies->checks_kinds ? cluster_kind(r->options->cluster, r->run, gvk, &kind, err) : 0;
}

/* Returns 1 when *ret is filled, 0 when the resource is gone or has another controller. */
static int observe_one(struct reconcile *r, const struct resource_reference *ref, size_t place,
                       struct observed_resource *ret, struct err *err)
{
        struct get_request get = { .key = { .gvk = { .kind = ref->kind }, .ns = ref->ns, .name = ref->name } };
        _cleanup_err_ struct err inner = { 0 };
        int e = gvk_split_api_version(ref->api_version, &get.key.gvk.group, &get.key.gvk.version, &inner);

        if (r->is_namespaced)
                get.key.ns = meta_namespace(r->xr.object);
        if (e >= 0)
                e = cluster_get(r->options->cluster, r->run, &get, &ret->object, &inner);
        if (e == ERR_NOT_FOUND) {
                e = check_gone(r, get.key.gvk, err);
                return e < 0 ? err_wrap(err, "cannot get composed resource") : 0;
        }
        if (e < 0) {
                err_move(err, &inner);
                return err_wrap(err, "cannot get composed resource");
        }
        ret->value = object_value(ret->object, r->arena);
        if (is_foreign(r, ret->value))
                return 0;
        ret->key = composed_key(ret->value);
        if (ret->key.n == 0 && r->composition.is_anonymous)
                ret->key = composition_anonymous_key(r->arena, place);
        if (ret->key.n == 0)
                return err_set(err, ERR_INVALID,
                               "encountered composed resource without required "
                               "\"crossplane.io/composition-resource-name\" annotation");
        e = reconcile_connection_of(r, ret->value, connection_reference(ret->value), &ret->connection, err);
        return e < 0 ? e : 1;
}

/* Sorts by key, then by the order of the references. */
static int compare_observed(const void *a, const void *b)
{
        const struct observed_resource *x = a, *y = b;
        int order = str_compare(x->key, y->key);

        return order ? order : (x->place > y->place) - (x->place < y->place);
}

/* With several references for one key, the last one wins. */
static void sort_observed(struct reconcile *r)
{
        size_t n = 0;

        qsort(r->observed, r->n_observed, sizeof(*r->observed), compare_observed);
        for (size_t i = 0; i < r->n_observed; i++)
                if (i + 1 == r->n_observed || !str_equal(r->observed[i].key, r->observed[i + 1].key))
                        r->observed[n++] = r->observed[i];
        r->n_observed = n;
}

int reconcile_observe(struct reconcile *r, struct err *err)
{
        const struct resource_reference *refs;
        size_t n = composite_resource_refs(r->arena, &r->xr, &refs);

        r->observed = ARENA_NEW_ARRAY(r->arena, struct observed_resource, n + 1);
        for (size_t i = 0; i < n; i++) {
                struct observed_resource o = { .place = i };
                int e = refs[i].name.n ? observe_one(r, &refs[i], i, &o, err) : 0;

                if (e < 0)
                        return err_wrap(err, "cannot get existing composed resources");
                if (e > 0)
                        r->observed[r->n_observed++] = o;
        }
        sort_observed(r);
        return 0;
}
