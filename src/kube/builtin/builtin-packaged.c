#include "builtin.h"

#include "builtin-typed.h"

static const struct {
        const char *group, *version, *kind, *type;
} packaged[] = {
        { "meta.pkg.crossplane.io", "v1", "Function", "crossplane-meta/v1.Function" },
        { "meta.pkg.crossplane.io", "v1", "Provider", "crossplane-meta/v1.Provider" },
        { "meta.pkg.crossplane.io", "v1", "Configuration", "crossplane-meta/v1.Configuration" },
        { "meta.pkg.crossplane.io", "v1beta1", "Function", "crossplane-meta/v1beta1.Function" },
        { "meta.pkg.crossplane.io", "v1alpha1", "Provider", "crossplane-meta/v1alpha1.Provider" },
        { "meta.pkg.crossplane.io", "v1alpha1", "Configuration", "crossplane-meta/v1alpha1.Configuration" },
        { "apiextensions.crossplane.io", "v1", "CompositeResourceDefinition",
          "crossplane-apiextensions/v1.CompositeResourceDefinition" },
        { "apiextensions.crossplane.io", "v2", "CompositeResourceDefinition",
          "crossplane-apiextensions/v2.CompositeResourceDefinition" },
        { "apiextensions.crossplane.io", "v1", "Composition", "crossplane-apiextensions/v1.Composition" },
        { "apiextensions.crossplane.io", "v1alpha1", "ManagedResourceDefinition",
          "crossplane-apiextensions/v1alpha1.ManagedResourceDefinition" },
        { "apiextensions.crossplane.io", "v1alpha1", "ManagedResourceActivationPolicy",
          "crossplane-apiextensions/v1alpha1.ManagedResourceActivationPolicy" },
        { "ops.crossplane.io", "v1alpha1", "Operation", "crossplane-ops/v1alpha1.Operation" },
        { "ops.crossplane.io", "v1alpha1", "CronOperation", "crossplane-ops/v1alpha1.CronOperation" },
        { "ops.crossplane.io", "v1alpha1", "WatchOperation", "crossplane-ops/v1alpha1.WatchOperation" },
        { "apiextensions.k8s.io", "v1", "CustomResourceDefinition", "apiextensions/v1.CustomResourceDefinition" },
        { "admissionregistration.k8s.io", "v1", "ValidatingWebhookConfiguration",
          "admissionregistration/v1.ValidatingWebhookConfiguration" },
        { "admissionregistration.k8s.io", "v1", "MutatingWebhookConfiguration",
          "admissionregistration/v1.MutatingWebhookConfiguration" },
};

static const struct builtin_type *find(struct gvk gvk)
{
        for (size_t i = 0; i < ARRAY_SIZE(packaged); i++)
                if (str_equal(gvk.kind, str_from(packaged[i].kind)) &&
                    str_equal(gvk.group, str_from(packaged[i].group)) &&
                    str_equal(gvk.version, str_from(packaged[i].version)))
                        return builtin_type_named(str_from(packaged[i].type));
        return NULL;
}

bool builtin_is_packaged(struct gvk gvk)
{
        return find(gvk) != NULL;
}

int builtin_packaged(struct arena *a, struct gvk gvk, const struct value *object, const struct value **ret,
                     struct err *err)
{
        const struct builtin_type *t = find(gvk);

        if (!t)
                return err_set(err, ERR_NOT_FOUND, "no object of a package has the kind %.*s", STR_ARG(gvk.kind));
        return builtin_type_plain(a, t, object, ret, err);
}
