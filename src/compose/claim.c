#include "claim.h"

#include "buf.h"
#include "clock.h"
#include "composite.h"
#include "gotext.h"
#include "name.h"
#include "xrd.h"

#define LABEL_NAME      STR("crossplane.io/claim-name")
#define LABEL_NAMESPACE STR("crossplane.io/claim-namespace")
#define EXTERNAL_NAME   STR("crossplane.io/external-name")

bool claim_is_offered(const struct value *xrd, const struct value *object)
{
        struct gvk offered, gvk = gvk_of(object);

        return xrd_claim_gvk(xrd, &offered) && str_equal(offered.group, gvk.group) && str_equal(offered.kind, gvk.kind);
}

struct str claim_stable_name(struct arena *a, const struct value *claim)
{
        struct gvk gvk = gvk_of(claim);
        struct str identity = ARENA_CONCAT(a, gvk.group, STR("/"), gvk.kind, STR("/"), meta_namespace(claim), STR("/"),
                                           meta_name(claim));

        return name_deterministic(a, meta_name(claim), STR(""), identity);
}

struct str claim_composite_name(const struct value *xrd, const struct value *claim)
{
        return value_str(value_get(places_get(xrd_claim_places(xrd), claim, STR("resourceRef")), STR("name")));
}

const struct value *claim_release(struct arena *a, const struct value *xrd, const struct value *composite)
{
        const struct value *labels = value_get(meta(composite), STR("labels"));

        composite = places_with(a, xrd_places(xrd), composite, STR("claimRef"), NULL);
        if (!value_is_object(labels))
                return composite;
        labels = value_without(a, value_without(a, labels, LABEL_NAME), LABEL_NAMESPACE);
        return meta_with(a, composite, STR("labels"), labels);
}

/* --- From the claim to the composite --- */

static int check_offered(struct arena *a, const struct claim_request *in, struct err *err)
{
        struct gvk offered, gvk = gvk_of(in->claim);
        const char *name = go_quote(a, meta_name(in->xrd)).p;

        if (!xrd_claim_gvk(in->xrd, &offered))
                return err_set(err, ERR_INVALID, "CompositeResourceDefinition %s offers no %ss", name,
                               xrd_claim_places(in->xrd)->design);
        if (!claim_is_offered(in->xrd, in->claim))
                return err_set(err, ERR_INVALID,
                               "CompositeResourceDefinition %s offers %ss of kind %.*s.%.*s, not %.*s.%.*s", name,
                               xrd_claim_places(in->xrd)->design, STR_ARG(offered.kind), STR_ARG(offered.group),
                               STR_ARG(gvk.kind), STR_ARG(gvk.group));
        return 0;
}

/* The claimRef of a composite. Its apiVersion is the version in which Crossplane reads claims. */
static struct value reference_to_claim(struct arena *a, const struct claim_request *in)
{
        struct object_builder b;
        struct gvk gvk;

        xrd_claim_gvk(in->xrd, &gvk);
        object_builder_init(&b, a, 4);
        object_builder_add(&b, STR("apiVersion"), value_of_str(gvk_api_version(a, gvk)));
        object_builder_add(&b, STR("kind"), value_of_str(gvk.kind));
        object_builder_add(&b, STR("name"), value_of_str(meta_name(in->claim)));
        object_builder_add(&b, STR("namespace"), value_of_str(meta_namespace(in->claim)));
        return object_builder_finish(&b);
}

/* Fails if the composite refers to another claim. A composite without a reference is adopted. */
static int check_unbound(struct arena *a, const struct claim_request *in, struct err *err)
{
        const struct value *there = places_get(xrd_places(in->xrd), in->composite, STR("claimRef"));
        const char *claim = xrd_claim_places(in->xrd)->design;
        struct value own = reference_to_claim(a, in);

        if (!there || value_equal(there, &own))
                return 0;
        return err_set(err, ERR_CONFLICT,
                       "refusing to operate on composite resource %s that is not bound to this %s: bound to %s %s",
                       go_quote(a, meta_name(in->composite)).p, claim, claim,
                       go_quote(a, value_str(value_get(there, STR("name")))).p);
}

/* Keys of Kubernetes itself are not copied to the composite. The part of a key before the slash names its owner. */
static bool is_reserved(struct str key)
{
        struct str rest = key, owner = key;

        str_split(&rest, '/', &owner);
        return str_ends_with(owner, STR("kubernetes.io")) || str_ends_with(owner, STR("k8s.io"));
}

static struct value without_reserved(struct arena *a, const struct value *map)
{
        struct object_builder b;

        object_builder_init(&b, a, value_count(map) + 2);
        VALUE_FOREACH_MEMBER (m, map)
                if (!is_reserved(m->key))
                        object_builder_add(&b, m->key, m->value);
        return object_builder_finish(&b);
}

/* A new composite also gets generateName: the prefix of its name. */
static const struct value *with_name(struct arena *a, const struct claim_request *in, const struct value *object)
{
        struct str name = claim_composite_name(in->xrd, in->claim);
        struct str prefix = ARENA_CONCAT(a, meta_name(in->claim), STR("-"));

        if (name.n)
                return meta_with_str(a, object, STR("name"), name);
        object = meta_with_str(a, object, STR("generateName"), prefix);
        return meta_with_str(a, object, STR("name"), in->name.n ? in->name : name_generate(a, prefix));
}

static const struct value *with_metadata(struct arena *a, const struct claim_request *in, const struct value *object)
{
        const struct value *given = meta(in->claim);
        struct value annotations = without_reserved(a, value_get(given, STR("annotations")));
        struct value labels = without_reserved(a, value_get(given, STR("labels")));
        struct str external = meta_annotation(in->composite, EXTERNAL_NAME);

        object = with_name(a, in, object);
        if (value_count(&annotations))
                object = meta_with(a, object, STR("annotations"), value_put(a, annotations));
        if (external.n)
                object = meta_with_annotation(a, object, EXTERNAL_NAME, external);
        object = meta_with(a, object, STR("labels"), value_put(a, labels));
        object = meta_with_label(a, object, LABEL_NAME, meta_name(in->claim));
        return meta_with_label(a, object, LABEL_NAMESPACE, meta_namespace(in->claim));
}

static bool is_enforced(const struct value *xrd)
{
        return value_find(xrd, "spec", "enforcedCompositionRef");
}

/* Fields that are not copied from the claim to the composite. Some have a meaning only in claims. Others are set by the engine in
 * the composite, or belong to its owner; a claim whose schema allows unknown fields must not set them. */
static bool is_own_field(const struct claim_request *in, struct str field)
{
        static const char *const fields[] = { "compositeDeletePolicy", "resourceRef",  "writeConnectionSecretToRef",
                                              "resourceRefs",          "claimRef",     "composedRefs",
                                              "requirementRef",        "reclaimPolicy" };
        struct composite xr = { in->composite, xrd_places(in->xrd) };
        bool is_legacy = xr.places == &places_legacy;

        /* The last three are names of the first design; to a legacy claim they are the user's own. */
        for (size_t i = 0; i < ARRAY_SIZE(fields) - (is_legacy ? 3 : 0); i++)
                if (str_equal(field, str_from(fields[i])))
                        return true;
        if (str_equal(field, STR("compositionRef")))
                return is_enforced(in->xrd);
        return str_equal(field, STR("compositionRevisionRef")) &&
               !str_equal(composite_update_policy(&xr), STR("Manual"));
}

/* The engine's fields of the composite, as the claim gives them. */
static struct value machinery_of(struct arena *a, const struct claim_request *in, const struct value *given)
{
        struct object_builder b;

        object_builder_init(&b, a, value_count(given) + 1);
        VALUE_FOREACH_MEMBER (m, given)
                if (!is_own_field(in, m->key))
                        object_builder_add(&b, m->key, m->value);
        object_builder_add(&b, places_at(xrd_places(in->xrd), STR("claimRef")), reference_to_claim(a, in));
        return object_builder_finish(&b);
}

static struct value spec_of(struct arena *a, const struct claim_request *in, const struct value *given)
{
        const struct places *places = xrd_places(in->xrd), *of_claim = xrd_claim_places(in->xrd);
        struct value machinery;

        if (places->under.n == 0)
                return machinery_of(a, in, given);
        machinery = machinery_of(a, in, places_machinery(of_claim, in->claim));
        return *value_with(a, given, places->under, &machinery);
}

static const struct value *make_composite(struct arena *a, const struct claim_request *in, const struct value *spec)
{
        struct gvk gvk = xrd_composite_gvk(in->xrd);
        const struct value *object;
        struct object_builder b;

        object_builder_init(&b, a, 4);
        object_builder_add(&b, STR("apiVersion"), value_of_str(gvk_api_version(a, gvk)));
        object_builder_add(&b, STR("kind"), value_of_str(gvk.kind));
        object_builder_add(&b, STR("metadata"), value_empty_object);
        object_builder_add(&b, STR("spec"), spec_of(a, in, spec));
        object = value_put(a, object_builder_finish(&b));
        return with_metadata(a, in, object);
}

/* --- From the composite to the claim --- */

static struct value reference_to_composite(struct arena *a, const struct value *composite)
{
        struct object_builder b;

        object_builder_init(&b, a, 3);
        object_builder_add(&b, STR("apiVersion"), *value_get(composite, STR("apiVersion")));
        object_builder_add(&b, STR("kind"), *value_get(composite, STR("kind")));
        object_builder_add(&b, STR("name"), value_of_str(meta_name(composite)));
        return object_builder_finish(&b);
}

static struct composite with_field_of(struct arena *a, const struct composite *claim, const struct composite *xr,
                                      struct str field)
{
        const struct value *v = composite_field(xr, field);

        return v ? composite_with(a, claim, field, v) : *claim;
}

static const struct value *make_claim(struct arena *a, const struct claim_request *in, const struct value *composite)
{
        struct value reference = reference_to_composite(a, composite);
        struct composite claim = { in->claim, xrd_claim_places(in->xrd) }, xr = { in->composite, xrd_places(in->xrd) };
        struct str external = meta_annotation(in->composite, EXTERNAL_NAME);

        claim = composite_with(a, &claim, STR("resourceRef"), value_put(a, reference));
        if (external.n)
                claim.object = meta_with_annotation(a, claim.object, EXTERNAL_NAME, external);
        if (!composite_field(&claim, STR("compositionRef")) || is_enforced(in->xrd))
                claim = with_field_of(a, &claim, &xr, STR("compositionRef"));
        if (!composite_field(&claim, STR("compositionRevisionSelector")))
                claim = with_field_of(a, &claim, &xr, STR("compositionRevisionSelector"));
        if (str_equal(composite_update_policy(&xr), STR("Automatic")))
                claim = with_field_of(a, &claim, &xr, STR("compositionRevisionRef"));
        return claim.object;
}

int claim_bind(struct arena *a, const struct claim_request *in, struct claim_bound *ret, struct err *err)
{
        const struct value *spec = value_get(in->claim, STR("spec"));
        const char *design = xrd_claim_places(in->xrd)->design;
        int e;

        if ((e = check_offered(a, in, err)) < 0 || (e = check_unbound(a, in, err)) < 0)
                return e;
        if (!value_is_object(spec))
                return err_set(err, ERR_INVALID,
                               "cannot bind and sync %s with composite resource: %s spec was not an object", design,
                               design);
        ret->composite = make_composite(a, in, spec);
        ret->claim = make_claim(a, in, ret->composite);
        return 0;
}

/* --- The status --- */

static const struct value *status_of(struct arena *a, const struct value *claim, const struct value *given)
{
        static const char *const own[] = { "conditions", "connectionDetails" };
        const struct value *there = value_get(claim, STR("status"));
        const struct value *status = value_without(a, given, STR("claimConditionTypes"));

        for (size_t i = 0; i < ARRAY_SIZE(own); i++) {
                const struct value *kept = value_get(there, str_from(own[i]));

                status = kept ? value_with(a, status, str_from(own[i]), kept)
                              : value_without(a, status, str_from(own[i]));
        }
        return status;
}

static struct str waiting_message(struct arena *a, const struct value *xrd, const struct value *composite)
{
        if (xrd_claim_places(xrd) != &places_requirement)
                return STR("Claim is waiting for composite resource to become Ready");
        return arena_printf(a, "Requirement is waiting for %.*s \"%.*s\" to become Ready",
                            STR_ARG(gvk_of(composite).kind), STR_ARG(meta_name(composite)));
}

static struct condition ready_condition(struct arena *a, const struct value *xrd, const struct value *composite)
{
        struct condition ready;

        condition_get(composite, STR("Ready"), &ready);
        if (ready.status == CONDITION_TRUE)
                return (struct condition) { .type = STR("Ready"),
                                            .status = CONDITION_TRUE,
                                            .reason = STR("Available") };
        return (struct condition) {
                .type = STR("Ready"),
                .status = CONDITION_FALSE,
                .reason = STR("Waiting"),
                .message = waiting_message(a, xrd, composite),
        };
}

static const struct value *with_condition(struct arena *a, const struct value *claim, struct condition c)
{
        c.observed_generation = meta_generation(claim);
        return conditions_set(a, claim, &c, 1);
}

static const struct value *with_conditions(struct arena *a, const struct value *xrd, const struct value *claim,
                                           const struct value *composite)
{
        struct condition ready = ready_condition(a, xrd, composite);
        struct condition synced = {
                .type = STR("Synced"),
                .status = CONDITION_TRUE,
                .reason = STR("ReconcileSuccess"),
                .last_transition = clock_wall(),
        };

        ready.last_transition = synced.last_transition;
        claim = with_condition(a, claim, synced);
        VALUE_FOREACH_ITEM (type, value_find(composite, "status", "claimConditionTypes")) {
                struct condition c;

                condition_get(composite, value_str(type), &c);
                claim = with_condition(a, claim, c);
        }
        return with_condition(a, claim, ready);
}

int claim_report(struct arena *a, const struct value *xrd, const struct value *claim, const struct value *composite,
                 const struct value **ret, struct err *err)
{
        const struct value *status = value_get(composite, STR("status"));

        if (status && !value_is_object(status))
                return err_set(err, ERR_INVALID,
                               "cannot bind and sync %s with composite resource: composite resource status was not "
                               "an object",
                               xrd_claim_places(xrd)->design);
        if (status)
                claim = value_with(a, claim, STR("status"), status_of(a, claim, status));
        *ret = with_conditions(a, xrd, claim, composite);
        return 0;
}
