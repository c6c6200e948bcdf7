#include "composed.h"

#include "buf.h"
#include "gotext.h"
#include "name.h"
#include "owner.h"

#define LABEL_COMPOSITE       STR("crossplane.io/composite")
#define LABEL_CLAIM_NAME      STR("crossplane.io/claim-name")
#define LABEL_CLAIM_NAMESPACE STR("crossplane.io/claim-namespace")
#define ANNOTATION_KEY        STR("crossplane.io/composition-resource-name")

struct str composed_key(const struct value *object)
{
        return meta_annotation(object, ANNOTATION_KEY);
}

const struct value *composed_without_labels(struct arena *a, const struct value *object)
{
        const struct value *labels = value_get(meta(object), STR("labels"));

        if (!value_is_object(labels))
                return object;
        labels = value_without(a, labels, LABEL_COMPOSITE);
        labels = value_without(a, labels, LABEL_CLAIM_NAME);
        return meta_with(a, object, STR("labels"), value_without(a, labels, LABEL_CLAIM_NAMESPACE));
}

/* An existing object keeps its names: a function cannot rename it. */
static const struct value *keep_names(struct arena *a, const struct value *object, const struct value *observed)
{
        static const char *const fields[] = { "namespace", "name", "generateName" };

        for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
                struct str v = meta_str(observed, str_from(fields[i]));
                struct value text = value_of_str(v);

                object = meta_with(a, object, str_from(fields[i]), v.n ? value_put(a, text) : NULL);
        }
        return object;
}

/* Drops a map of labels or annotations that has a value which is not a string. */
static const struct value *with_texts(struct arena *a, const struct value *object, struct str field)
{
        const struct value *map = value_get(meta(object), field);

        VALUE_FOREACH_MEMBER (m, map)
                if (!value_is_string(&m->value))
                        return meta_with(a, object, field, NULL);
        return object;
}

static const struct value *with_labels(struct arena *a, const struct value *object, const struct value *composite,
                                       struct str root)
{
        struct str name = meta_label(composite, LABEL_CLAIM_NAME);
        struct str ns = meta_label(composite, LABEL_CLAIM_NAMESPACE);

        object = meta_with_label(a, object, LABEL_COMPOSITE, root);
        if (name.n && ns.n) {
                object = meta_with_label(a, object, LABEL_CLAIM_NAME, name);
                object = meta_with_label(a, object, LABEL_CLAIM_NAMESPACE, ns);
        }
        return object;
}

struct str composed_root(const struct value *composite)
{
        return meta_label(composite, LABEL_COMPOSITE);
}

int composed_describe(struct arena *a, const struct composed_scope *scope, struct str key, struct str root,
                      const struct value *wanted, const struct value *observed, const struct value **ret,
                      struct err *err)
{
        const struct value *object = observed ? keep_names(a, wanted, observed) : wanted;
        struct owner_reference owner = owner_reference_to(a, scope->composite, true, true);

        if (meta_name(object).n == 0 && meta_str(object, STR("generateName")).n == 0)
                object = meta_with_str(a, object, STR("generateName"), arena_printf(a, "%.*s-", STR_ARG(root)));
        if (scope->is_namespaced)
                object = meta_with_str(a, object, STR("namespace"), meta_namespace(scope->composite));
        object = with_texts(a, with_texts(a, object, STR("labels")), STR("annotations"));
        object = meta_with_annotation(a, object, ANNOTATION_KEY, key);
        object = with_labels(a, object, scope->composite, root);
        return owner_with_reference(a, object, &owner, ret, err);
}

static int with_metadata(struct arena *a, const struct composed_scope *scope, struct str key,
                         const struct value *wanted, const struct value *observed, const struct value **ret,
                         struct err *err)
{
        struct str root = composed_root(scope->composite);

        if (root.n == 0)
                return err_set(err, ERR_INVALID,
                               "cannot find top-level composite resource name label \"crossplane.io/composite\" in "
                               "composite resource metadata");
        if (composed_describe(a, scope, key, root, wanted, observed, ret, err) < 0)
                return err_wrap(err, "cannot set controller reference");
        return 0;
}

/* Names of RBAC kinds may have colons; the check skips them. */
static bool has_valid_name(struct arena *a, const struct value *object)
{
        static const char *const kinds[] = { "Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding" };
        struct gvk gvk = gvk_of(object);
        struct str name = meta_name(object), texts[4];
        _cleanup_buf_ struct buf checked = BUF_INIT(0);
        bool allows_colons = false;

        for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
                allows_colons |= str_equal(gvk.kind, str_from(kinds[i]));
        allows_colons = allows_colons && str_equal(gvk.group, STR("rbac.authorization.k8s.io"));
        for (size_t i = 0; i < name.n; i++)
                if (name.p[i] != ':' || !allows_colons)
                        buf_append_char(&checked, name.p[i]);
        return name_check_subdomain(a, buf_str(&checked), false, texts) == 0;
}

int composed_prepare(struct arena *a, const struct composed_scope *scope, struct str key, const struct value *wanted,
                     const struct value *observed, const struct value **ret, struct err *err)
{
        const struct value *object;
        int r = with_metadata(a, scope, key, wanted, observed, &object, err);

        if (r < 0)
                return err_wrap(err, "cannot render metadata for composed resource %s", go_quote(a, key).p);
        if (meta_name(object).n == 0) {
                struct str prefix = meta_str(object, STR("generateName"));

                object = meta_with_str(a, object, STR("name"),
                                       key.n ? name_deterministic(a, prefix, meta_uid(scope->composite), key)
                                             : name_generate(a, prefix));
        }
        if (!has_valid_name(a, object))
                return err_set(err, ERR_INVALID,
                               "cannot apply composed resource %s because it has an invalid name %s. Must be a "
                               "valid RFC 1123 subdomain name.",
                               go_quote(a, key).p, go_quote(a, meta_name(object)).p);
        *ret = object;
        return 0;
}
