#include "provider-account.h"

#include "buf.h"
#include "json.h"
#include "owner.h"

/* Rules for every provider besides those for its own kinds: keep Secrets and settings, tell events, elect a leader, see which kinds
 * there are. */
static const char extra_rules[] =
        "{\"apiGroups\":[\"\",\"coordination.k8s.io\"],"
        "\"resources\":[\"secrets\",\"configmaps\",\"events\",\"leases\"],\"verbs\":[\"*\"]},"
        "{\"apiGroups\":[\"apiextensions.k8s.io\"],\"resources\":[\"customresourcedefinitions\"],"
        "\"verbs\":[\"get\",\"list\",\"watch\"]}";

/* A kind that the package brings, taken from the name of its definition: PLURAL.GROUP. */
struct resource {
        struct str plural, group;
};

static int by_group(const void *a, const void *b)
{
        const struct resource *x = a, *y = b;
        int order = str_compare(x->group, y->group);

        return order ? order : str_compare(x->plural, y->plural);
}

bool provider_may_have_group(struct str group)
{
        static const struct str reserved[] = {
                STR_INIT("apiextensions.crossplane.io"),
                STR_INIT("ops.crossplane.io"),
                STR_INIT("pkg.crossplane.io"),
                STR_INIT("protection.crossplane.io"),
        };

        for (size_t i = 0; i < ARRAY_SIZE(reserved); i++)
                if (str_equal(group, reserved[i]))
                        return false;
        return str_find_char(group, '.') > 0 && !str_ends_with(group, STR(".k8s.io"));
}

static size_t find_resources(struct revision_run *v, struct resource **ret)
{
        const struct value *refs = value_find(v->revision, "status", "objectRefs");
        size_t n = 0;

        *ret = ARENA_NEW_ARRAY(v->arena, struct resource, value_count(refs) + 1);
        VALUE_FOREACH_ITEM (ref, refs) {
                struct str kind = gvk_of(ref).kind, name = value_str(value_get(ref, STR("name")));
                ptrdiff_t dot = str_find_char(name, '.');

                if (dot <= 0 || (!str_equal(kind, STR("ManagedResourceDefinition")) &&
                                 !str_equal(kind, STR("CustomResourceDefinition"))))
                        continue;
                (*ret)[n] = (struct resource) { str_first(name, (size_t)dot), str_skip(name, (size_t)dot + 1) };
                n += provider_may_have_group((*ret)[n].group);
        }
        qsort(*ret, n, sizeof(**ret), by_group);
        return n;
}

static bool begins_group(const struct resource *resources, size_t i)
{
        return i == 0 || !str_equal(resources[i].group, resources[i - 1].group);
}

/* A rule for each group: its objects and their status. */
static void append_rules(struct buf *b, const struct resource *resources, size_t n, const char *verbs)
{
        for (size_t i = 0; i < n; i++) {
                if (begins_group(resources, i))
                        buf_appendf(b, "%s{\"apiGroups\":[\"%.*s\"],\"verbs\":[%s],\"resources\":[", i ? "]}," : "",
                                    STR_ARG(resources[i].group), verbs);
                else
                        buf_append_char(b, ',');
                buf_appendf(b, "\"%.*s\",\"%.*s/status\"", STR_ARG(resources[i].plural), STR_ARG(resources[i].plural));
        }
        if (n)
                buf_append_literal(b, "]}");
}

static void append_finalizer_rules(struct buf *b, const struct resource *resources, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (begins_group(resources, i))
                        buf_appendf(
                                b,
                                ",{\"apiGroups\":[\"%.*s\"],\"verbs\":[\"update\"],\"resources\":[\"*/finalizers\"]}",
                                STR_ARG(resources[i].group));
        if (n)
                buf_append_char(b, ',');
}

/* A role of the revision; its rules follow. labels are the members of an object. */
static void append_role(struct revision_run *v, struct buf *b, const char *name, const char *labels)
{
        buf_appendf(b,
                    "{\"apiVersion\":\"rbac.authorization.k8s.io/v1\",\"kind\":\"ClusterRole\",\"metadata\":{\"name\":"
                    "\"crossplane:provider:%.*s:%s\",\"labels\":{%s}},\"rules\":[",
                    STR_ARG(meta_name(v->revision)), name, labels);
}

static void append_binding(struct revision_run *v, struct buf *b)
{
        struct str name = arena_printf(v->arena, "crossplane:provider:%.*s:system", STR_ARG(meta_name(v->revision)));

        buf_appendf(b,
                    "{\"apiVersion\":\"rbac.authorization.k8s.io/v1\",\"kind\":\"ClusterRoleBinding\",\"metadata\":{"
                    "\"name\":\"%.*s\"},\"roleRef\":{\"apiGroup\":\"rbac.authorization.k8s.io\",\"kind\":"
                    "\"ClusterRole\",\"name\":\"%.*s\"},\"subjects\":[{\"kind\":\"ServiceAccount\",\"name\":\"%.*s\","
                    "\"namespace\":\"crossplane-system\"}]}",
                    STR_ARG(name), STR_ARG(name), STR_ARG(meta_name(v->revision)));
}

static void append_account(struct revision_run *v, struct buf *b)
{
        buf_appendf(b,
                    "{\"apiVersion\":\"v1\",\"kind\":\"ServiceAccount\",\"metadata\":{\"name\":\"%.*s\",\"namespace\":"
                    "\"crossplane-system\"}}",
                    STR_ARG(meta_name(v->revision)));
}

/* Makes the object of the text, or gives it the labels and other members that the text has. It belongs to the revision. */
static int keep_true(struct revision_run *v, struct str text, struct err *err)
{
        struct owner_reference owner = owner_reference_to(v->arena, v->revision, true, true);
        const struct value *wanted, *object, *changed;
        int e = json_parse(v->arena, text, NULL, &wanted, err);

        if (e < 0)
                return e;
        e = packages_get(v->r, gvk_of(wanted), meta_namespace(wanted), meta_name(wanted), &object, err);
        if (e == 0)
                e = owner_with_reference(v->arena, object ? object : wanted, &owner, &changed, err);
        if (e < 0 || !object)
                return e < 0 ? e : packages_write(v->r, WRITE_CREATE, changed, STR(""), false, &object, err);
        VALUE_FOREACH_MEMBER (m, wanted)
                if (!str_equal(m->key, STR("metadata")))
                        changed = value_with(v->arena, changed, m->key, &m->value);
        VALUE_FOREACH_MEMBER (m, value_get(meta(wanted), STR("labels")))
                changed = meta_with_label(v->arena, changed, m->key, value_str(&m->value));
        if (value_equal(changed, object))
                return 0;
        return packages_write(v->r, WRITE_UPDATE, changed, STR(""), false, &object, err);
}

/* Keeps the roles that aggregation gives to people who may edit or view everything. */
static int keep_shared_roles(struct revision_run *v, const struct resource *resources, size_t n, struct err *err)
{
        _cleanup_buf_ struct buf edit = BUF_INIT(0), view = BUF_INIT(0);
        int e;

        append_role(v, &edit, "aggregate-to-edit",
                    "\"rbac.crossplane.io/aggregate-to-admin\":\"true\","
                    "\"rbac.crossplane.io/aggregate-to-crossplane\":\"true\","
                    "\"rbac.crossplane.io/aggregate-to-edit\":\"true\"");
        append_rules(&edit, resources, n, "\"*\"");
        append_role(v, &view, "aggregate-to-view", "\"rbac.crossplane.io/aggregate-to-view\":\"true\"");
        append_rules(&view, resources, n, "\"get\",\"list\",\"watch\"");
        buf_append_literal(&edit, "]}");
        buf_append_literal(&view, "]}");
        e = keep_true(v, buf_str(&edit), err);
        return e < 0 ? e : keep_true(v, buf_str(&view), err);
}

static int keep_own_role(struct revision_run *v, const struct resource *resources, size_t n, struct err *err)
{
        struct str label =
                arena_printf(v->arena, "\"rbac.crossplane.io/system\":\"%.*s\"", STR_ARG(meta_name(v->revision)));
        _cleanup_buf_ struct buf role = BUF_INIT(0), binding = BUF_INIT(0);
        int e;

        append_role(v, &role, "system", arena_cstring(v->arena, label));
        append_rules(&role, resources, n, "\"get\",\"list\",\"watch\",\"update\",\"patch\",\"create\"");
        append_finalizer_rules(&role, resources, n);
        buf_appendf(&role, "%s]}", extra_rules);
        append_binding(v, &binding);
        e = keep_true(v, buf_str(&role), err);
        return e < 0 ? e : keep_true(v, buf_str(&binding), err);
}

int provider_account_ensure(struct revision_run *v, struct str *ret_kubeconfig, struct err *err)
{
        struct packages_options *o = &v->pack->options;
        _cleanup_buf_ struct buf account = BUF_INIT(0);
        struct resource *resources;
        size_t n = find_resources(v, &resources);
        int e;

        append_account(v, &account);
        e = keep_true(v, buf_str(&account), err);
        if (e == 0)
                e = keep_shared_roles(v, resources, n, err);
        if (e == 0)
                e = keep_own_role(v, resources, n, err);
        if (e < 0)
                return err_wrap(err, "cannot give the provider its rights");
        *ret_kubeconfig = STR("");
        if (o->make_kubeconfig)
                e = o->make_kubeconfig(o->kubeconfig_context, v->arena, meta_name(v->revision), ret_kubeconfig, err);
        return e;
}
