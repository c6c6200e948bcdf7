#include "managed-definitions.h"

#include "ascii.h"
#include "owner.h"

#include <stdlib.h>

#define DEFINITION_GROUP STR("apiextensions.crossplane.io")

static struct gvk definition_gvk(void)
{
        return (struct gvk) { DEFINITION_GROUP, STR("v1alpha1"), STR("ManagedResourceDefinition") };
}

static struct gvk crd_gvk(void)
{
        return (struct gvk) { STR("apiextensions.k8s.io"), STR("v1"), STR("CustomResourceDefinition") };
}

/* --- From packages --- */

static bool next_letter(struct str *s, char *ret)
{
        while (s->n > 0) {
                char c = s->p[0];

                *s = str_skip(*s, 1);
                if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
                        *ret = c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A') : c;
                        return true;
                }
        }
        return false;
}

static bool is_like(struct str a, struct str b)
{
        char x = 0, y = 0;

        for (;;) {
                bool more = next_letter(&a, &x);

                if (more != next_letter(&b, &y) || (more && x != y))
                        return false;
                if (!more)
                        return true;
        }
}

bool package_has_capability(const struct xpkg *package, struct str capability)
{
        for (size_t i = 0; i < package->n_capabilities; i++)
                if (is_like(package->capabilities[i], capability))
                        return true;
        return false;
}

/* All kinds of a provider are managed resources but those that configure it. */
static bool is_managed(const struct value *crd)
{
        static const struct str others[] = { STR_INIT("ProviderConfig"), STR_INIT("ClusterProviderConfig"),
                                             STR_INIT("ProviderConfigUsage"), STR_INIT("ClusterProviderConfigUsage") };
        struct str kind = value_str(value_find(crd, "spec", "names", "kind"));

        for (size_t i = 0; i < ARRAY_SIZE(others); i++)
                if (str_equal(kind, others[i]))
                        return false;
        return true;
}

const struct value *managed_definition_of_crd(struct arena *a, const struct xpkg *package, const struct value *object)
{
        const struct value *spec = value_get(object, STR("spec"));
        struct value version = value_of_literal("apiextensions.crossplane.io/v1alpha1");
        struct value kind = value_of_literal("ManagedResourceDefinition");
        struct value state = package_has_capability(package, STR("safe-start")) ? value_of_literal("Inactive")
                                                                                : value_of_literal("Active");

        if (!str_equal(gvk_of(object).kind, STR("CustomResourceDefinition")) || !is_managed(object))
                return object;
        object = value_with(a, object, STR("apiVersion"), &version);
        object = value_with(a, object, STR("kind"), &kind);
        return value_with(a, object, STR("spec"), value_with(a, spec, STR("state"), &state));
}

const struct value *managed_definition_keep_state(struct arena *a, const struct value *existing,
                                                  const struct value *desired)
{
        const struct value *state = value_find(existing, "spec", "state");

        if (!str_equal(gvk_of(existing).kind, STR("ManagedResourceDefinition")) ||
            !str_equal(value_str(state), STR("Active")))
                return desired;
        return value_with(a, desired, STR("spec"), value_with(a, value_get(desired, STR("spec")), STR("state"), state));
}

/* --- Definitions --- */

/* The CRD belongs to the definition, and is controlled by what controls the definition: the revision of the provider. */
static struct value owners_of_crd(struct arena *a, const struct value *definition)
{
        struct owner_reference owner = owner_reference_to(a, definition, false, false), controller;
        struct value references[2] = { owner_reference_value(a, &owner) };
        size_t n = 1;

        if (owner_controller(definition, &controller)) {
                controller.blocks_owner_deletion = true;
                references[n++] = owner_reference_value(a, &controller);
        }
        return value_of_items(a, references, n);
}

static const struct value *crd_of(struct arena *a, const struct value *definition)
{
        const struct value *spec = value_get(definition, STR("spec"));
        struct object_builder metadata, b;

        spec = value_without(a, spec, STR("state"));
        spec = value_without(a, spec, STR("connectionDetails"));
        object_builder_init(&metadata, a, 2);
        object_builder_add(&metadata, STR("name"), value_of_str(meta_name(definition)));
        object_builder_add(&metadata, STR("ownerReferences"), owners_of_crd(a, definition));
        object_builder_init(&b, a, 4);
        object_builder_add(&b, STR("apiVersion"), value_of_literal("apiextensions.k8s.io/v1"));
        object_builder_add(&b, STR("kind"), value_of_literal("CustomResourceDefinition"));
        object_builder_add(&b, STR("metadata"), object_builder_finish(&metadata));
        object_builder_add(&b, STR("spec"), *spec);
        return value_put(a, object_builder_finish(&b));
}

/* A CRD that an older revision of the provider installed itself is taken over; one of somebody else is not. */
static int refuse_foreign(const struct value *crd, const struct value *definition, struct err *err)
{
        struct owner_reference controller;

        if (crd && owner_controller(crd, &controller) && !str_equal(controller.kind, STR("ProviderRevision")) &&
            !str_equal(controller.uid, meta_uid(definition)))
                return err_set(err, ERR_INVALID, "%.*s is already controlled by %.*s %.*s (UID %.*s)",
                               STR_ARG(meta_name(crd)), STR_ARG(controller.kind), STR_ARG(controller.name),
                               STR_ARG(controller.uid));
        return 0;
}

/* Applies the CRD; *ret is what there is of it. */
static int apply_crd(struct kind_run *r, const struct value *definition, const struct value **ret, struct err *err)
{
        struct arena *a = r->run->arena;
        struct write_request req = { .verb = WRITE_APPLY,
                                     .manager = STR("apiextensions.crossplane.io/managed"),
                                     .body = crd_of(a, definition),
                                     .force = true };
        struct write_result result;
        const struct value *existing;
        int e = packages_get(r, crd_gvk(), STR(""), meta_name(definition), &existing, err);

        if (e == 0)
                e = refuse_foreign(existing, definition, err);
        req.key = object_key_of(req.body);
        if (e == 0)
                e = cluster_write(r->cluster, r->run, &req, &result, err);
        if (e == 0)
                *ret = result.value;
        return e < 0 ? err_wrap(err, "cannot apply CustomResourceDefinition") : 0;
}

static struct condition established(enum condition_status status, const char *reason, struct str message)
{
        return (struct condition) {
                .type = STR("Established"), .status = status, .reason = str_from(reason), .message = message
        };
}

static bool is_active(const struct value *definition)
{
        return str_equal(value_str(value_find(definition, "spec", "state")), STR("Active"));
}

static struct condition establish(struct kind_run *r, const struct value *definition, struct err *err)
{
        const struct value *crd = NULL;
        struct condition c;

        if (!is_active(definition))
                return established(CONDITION_FALSE, "InactiveManagedResource", STR(""));
        if (apply_crd(r, definition, &crd, err) < 0)
                return established(CONDITION_FALSE, "BlockedManagedResource",
                                   STR("unable to apply CustomResourceDefinition, see events"));
        if (!condition_get(crd, STR("Established"), &c) || c.status != CONDITION_TRUE)
                return established(CONDITION_FALSE, "PendingManagedResource", STR(""));
        return established(CONDITION_TRUE, "EstablishedManagedResource", STR(""));
}

int managed_definition_reconcile(struct kind_run *r, struct err *err)
{
        static const struct recorder_source source = { .component = STR_INIT("mrd/managedresourcedefinition") };
        const struct value *definition, *wanted;
        _cleanup_err_ struct err failure = { 0 };
        int e = kind_run_get(r, &definition, err);

        if (e < 0)
                return err_wrap(err, "cannot get ManagedResourceDefinition");
        if (!definition || meta_is_deleting(definition))
                return 0;
        wanted = definition;
        e = package_check_pause(r, source.component, &wanted, err);
        if (e != 0)
                return e < 0 ? kind_run_retry_conflict(r, err, "cannot update status of ManagedResourceDefinition") : 0;
        wanted = package_with_condition(r->run->arena, wanted, establish(r, definition, &failure));
        if (failure.code)
                kind_run_event(r, definition, &source, true, "ApplyCustomResourceDefinition", "%s",
                               err_message(&failure));
        else if (!value_equal(wanted, definition) && is_active(definition))
                kind_run_event(r, definition, &source, false, "ApplyCustomResourceDefinition",
                               "Successfully applied CustomResourceDefinition");
        e = package_save_status(r, definition, wanted, err);
        if (e < 0)
                return kind_run_retry_conflict(r, err, "cannot update status of ManagedResourceDefinition");
        return failure.code ? err_move(err, &failure) : 0;
}

/* --- Activation policies --- */

/* `*` is everything; `*.example.org` everything that ends so. */
static bool matches(struct str pattern, struct str name)
{
        return str_cut_prefix(&pattern, STR("*")) ? str_ends_with(name, pattern) : str_equal(pattern, name);
}

static bool is_activated(const struct value *policy, struct str name)
{
        VALUE_FOREACH_ITEM (pattern, value_find(policy, "spec", "activate")) {
                if (matches(value_str(pattern), name))
                        return true;
        }
        return false;
}

static int activate(struct kind_run *r, const struct value *policy, const struct value *definition, struct err *err)
{
        struct arena *a = r->run->arena;
        struct value active = value_of_literal("Active");
        const struct value *spec = value_get(definition, STR("spec"));

        int e;

        if (is_active(definition) || meta_is_deleting(definition))
                return 0;
        spec = value_with(a, spec, STR("state"), &active);
        e = packages_write(r, WRITE_UPDATE, value_with(a, definition, STR("spec"), spec), STR(""), false, &definition,
                           err);
        if (e == 0)
                kind_run_event(r, policy,
                               &(struct recorder_source) { .component = STR("mrap/managedresourceactivationpolicy") },
                               false, "ActivateManagedResourceDefinition",
                               "Successfully activated ManagedResourceDefinition");
        return e;
}

int activation_policy_reconcile(struct kind_run *r, struct err *err)
{
        struct arena *a = r->run->arena;
        struct list_request req = { .gvk = definition_gvk() };
        const struct value *policy, *wanted;
        struct array_builder activated;
        struct object_list list;
        int e = kind_run_get(r, &policy, err);

        if (e < 0)
                return err_wrap(err, "cannot get ManagedResourceActivationPolicy");
        if (!policy || meta_is_deleting(policy))
                return 0;
        e = cluster_list(r->cluster, r->run, &req, &list, err);
        if (e < 0)
                return err_wrap(err, "cannot list ManagedResourceDefinitions");
        array_builder_init(&activated, a, list.n);
        for (size_t i = 0; e == 0 && i < list.n; i++) {
                const struct value *definition = object_list_value(&list, i, a);

                if (!is_activated(policy, meta_name(definition)))
                        continue;
                array_builder_add(&activated, value_of_str(meta_name(definition)));
                e = activate(r, policy, definition, err);
        }
        if (e < 0)
                return kind_run_retry_conflict(r, err, "cannot activate ManagedResourceDefinition");
        wanted = package_with_status(a, policy, STR("activated"),
                                     activated.n ? value_put(a, array_builder_finish(&activated)) : NULL);
        wanted = package_with_condition(
                a, wanted,
                (struct condition) { .type = STR("Healthy"), .status = CONDITION_TRUE, .reason = STR("Running") });
        e = package_save_status(r, policy, wanted, err);
        return e < 0 ? kind_run_retry_conflict(r, err, "cannot update status of ManagedResourceActivationPolicy") : 0;
}
