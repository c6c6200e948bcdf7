#include "establish.h"

#include "base64.h"
#include "buf.h"
#include "managed-definitions.h"
#include "owner.h"

#include <stdlib.h>

#define WEBHOOK_PORT 9443

/* One object on its way. */
struct item {
        const struct value *desired;  /* as the package has it, with the revision's additions */
        const struct value *existing; /* NULL: none */
        const struct value *done;     /* as it is at the end */
};

/* --- Which objects --- */

static bool is_kind(struct gvk gvk, const char *group, const char *kind)
{
        return str_equal(gvk.group, str_from(group)) && str_equal(gvk.kind, str_from(kind));
}

/* Kinds that a package of a kind installs. Input CRDs of functions are installed too, so that objects of these kinds can exist. */
static bool is_installed(enum xpkg_kind kind, struct gvk gvk)
{
        static const struct {
                enum xpkg_kind kind;
                const char *group, *object;
        } table[] = {
                { XPKG_PROVIDER, "apiextensions.k8s.io", "CustomResourceDefinition" },
                { XPKG_PROVIDER, "apiextensions.crossplane.io", "ManagedResourceDefinition" },
                { XPKG_PROVIDER, "admissionregistration.k8s.io", "ValidatingWebhookConfiguration" },
                { XPKG_PROVIDER, "admissionregistration.k8s.io", "MutatingWebhookConfiguration" },
                { XPKG_CONFIGURATION, "apiextensions.crossplane.io", "CompositeResourceDefinition" },
                { XPKG_CONFIGURATION, "apiextensions.crossplane.io", "Composition" },
                { XPKG_CONFIGURATION, "apiextensions.crossplane.io", "ManagedResourceActivationPolicy" },
                { XPKG_CONFIGURATION, "ops.crossplane.io", "Operation" },
                { XPKG_CONFIGURATION, "ops.crossplane.io", "CronOperation" },
                { XPKG_CONFIGURATION, "ops.crossplane.io", "WatchOperation" },
                { XPKG_FUNCTION, "apiextensions.k8s.io", "CustomResourceDefinition" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(table); i++)
                if (table[i].kind == kind && is_kind(gvk, table[i].group, table[i].object))
                        return true;
        return false;
}

/* --- Webhooks --- */

static const struct value *service_config(const struct establish *e, const struct value *config)
{
        struct arena *a = e->r->run->arena;
        const struct value *service = value_get(config, STR("service"));
        struct value port = value_of_int(WEBHOOK_PORT), ns = value_of_str(PACKAGE_NAMESPACE);
        struct value name = value_of_str(meta_label(e->revision, PACKAGE_LABEL));
        _cleanup_buf_ struct buf ca = BUF_INIT(0);

        base64_encode(&ca, e->webhook_ca, BASE64_STD);
        service = value_is_object(service) ? service : &value_empty_object;
        service = value_with(a, service, STR("name"), &name);
        service = value_with(a, service, STR("namespace"), &ns);
        service = value_with(a, service, STR("port"), &port);
        config = value_with(a, value_is_object(config) ? config : &value_empty_object, STR("service"), service);
        return value_with(a, config, STR("caBundle"), value_put(a, value_of_str(buf_to_arena(&ca, a))));
}

static const struct value *with_webhooks(const struct establish *e, const struct value *object)
{
        struct arena *a = e->r->run->arena;
        const struct value *hooks = value_get(object, STR("webhooks"));
        _cleanup_buf_ struct buf kind = BUF_INIT(0);
        struct str name = arena_printf(a, "crossplane-%.*s-%.*s", STR_ARG(e->kind->package),
                                       STR_ARG(meta_label(e->revision, PACKAGE_LABEL)));

        for (size_t i = 0; i < value_count(hooks); i++) {
                const struct value *hook = value_item(hooks, i);

                hooks = value_with_item(a, hooks, i,
                                        value_with(a, hook, STR("clientConfig"),
                                                   service_config(e, value_get(hook, STR("clientConfig")))));
        }
        for (size_t i = 0; i < name.n; i++)
                buf_append_char(&kind, name.p[i] >= 'A' && name.p[i] <= 'Z' ? (char)(name.p[i] + 32) : name.p[i]);
        object = meta_with_str(a, object, STR("name"), buf_to_arena(&kind, a));
        return hooks ? value_with(a, object, STR("webhooks"), hooks) : object;
}

static const struct value *with_conversion(const struct establish *e, const struct value *object)
{
        struct arena *a = e->r->run->arena;
        const struct value *spec = value_get(object, STR("spec")), *conversion = value_get(spec, STR("conversion")),
                           *webhook = value_get(conversion, STR("webhook"));

        if (!str_equal(value_str(value_get(conversion, STR("strategy"))), STR("Webhook")))
                return object;
        webhook = value_is_object(webhook) ? webhook : &value_empty_object;
        webhook =
                value_with(a, webhook, STR("clientConfig"), service_config(e, value_get(webhook, STR("clientConfig"))));
        conversion = value_with(a, conversion, STR("webhook"), webhook);
        return value_with(a, object, STR("spec"), value_with(a, spec, STR("conversion"), conversion));
}

/* --- What is wanted --- */

static const struct value *with_common(const struct establish *e, const struct value *object)
{
        struct arena *a = e->r->run->arena;

        VALUE_FOREACH_MEMBER (m, value_find(e->revision, "spec", "commonLabels")) {
                object = meta_with_label(a, object, m->key, value_str(&m->value));
        }
        VALUE_FOREACH_MEMBER (m, value_find(e->revision, "spec", "commonAnnotations")) {
                object = meta_with_annotation(a, object, m->key, value_str(&m->value));
        }
        return object;
}

static const struct value *prepare(const struct establish *e, const struct value *object)
{
        struct gvk gvk = gvk_of(object);

        if (str_equal(gvk.group, STR("admissionregistration.k8s.io")))
                object = with_webhooks(e, object);
        else if (is_kind(gvk, "apiextensions.k8s.io", "CustomResourceDefinition"))
                object = with_conversion(e, object);
        if (e->kind->kind == XPKG_PROVIDER)
                object = managed_definition_of_crd(e->r->run->arena, e->content, object);
        object = value_without(e->r->run->arena, object, STR("status"));
        return with_common(e, object);
}

static bool is_current(const struct establish *e)
{
        return str_equal(value_str(value_find(e->package, "status", "currentRevision")), meta_name(e->revision));
}

/* Another revision of the same package may still be the controller: an inactive one is about to give it up, and of several active ones
 * the current one is to have it. */
static bool is_own_controller(const struct establish *e, const struct value *object)
{
        struct owner_reference controller;
        const struct value *revision;
        _cleanup_err_ struct err ignored = { 0 };

        if (!owner_controller(object, &controller) || !str_equal(controller.kind, e->kind->revision) ||
            str_equal(controller.uid, meta_uid(e->revision)))
                return false;
        if (packages_get(e->r, package_revision_gvk(e->kind), STR(""), controller.name, &revision, &ignored) < 0)
                return false;
        return !revision || (str_equal(meta_label(revision, PACKAGE_LABEL), meta_label(e->revision, PACKAGE_LABEL)) &&
                             (!package_revision_is_active(revision) || is_current(e)));
}

static const struct value *without_controller(struct arena *a, const struct value *object)
{
        const struct value *list = value_get(meta(object), STR("ownerReferences"));

        for (size_t i = 0; i < value_count(list); i++)
                if (value_bool(value_get(value_item(list, i), STR("controller")), false))
                        list = value_with_item(a, list, i,
                                               value_with(a, value_item(list, i), STR("controller"), &value_false));
        return list ? meta_with(a, object, STR("ownerReferences"), list) : object;
}

/* Sets one reference; false values are written, as upstream does. */
static const struct value *with_owner(struct arena *a, const struct value *object, const struct value *owner,
                                      bool is_controller)
{
        const struct value *list = value_get(meta(object), STR("ownerReferences"));
        struct member members[] = {
                { STR("apiVersion"), *value_get(owner, STR("apiVersion")) },
                { STR("blockOwnerDeletion"), value_true },
                { STR("controller"), value_of_bool(is_controller) },
                { STR("kind"), *value_get(owner, STR("kind")) },
                { STR("name"), value_of_str(meta_name(owner)) },
                { STR("uid"), value_of_str(meta_uid(owner)) },
        };
        struct value ref = value_of_members(a, members, ARRAY_SIZE(members), true);

        list = value_is_array(list) ? list : &value_empty_array;
        for (size_t i = 0; i < value_count(list); i++)
                if (str_equal(value_str(value_get(value_item(list, i), STR("uid"))), meta_uid(owner)))
                        return meta_with(a, object, STR("ownerReferences"), value_with_item(a, list, i, &ref));
        return meta_with(a, object, STR("ownerReferences"), value_with_appended(a, list, &ref));
}

/* A revision that does not control the object stands in it as one owner among others. What it was before stays. */
static int with_plain_owner(struct arena *a, const struct value *object, const struct value *owner,
                            const struct value **ret, struct err *err)
{
        struct owner_reference reference = owner_reference_to(a, owner, false, false);

        VALUE_FOREACH_ITEM (item, value_get(meta(object), STR("ownerReferences"))) {
                if (!str_equal(value_str(value_get(item, STR("uid"))), meta_uid(owner)))
                        continue;
                *ret = object;
                return 0;
        }
        return owner_with_reference(a, object, &reference, ret, err);
}

static int with_owners(const struct establish *e, const struct value *object, const struct value **ret, struct err *err)
{
        struct arena *a = e->r->run->arena;
        struct owner_reference controller;

        if (e->controls && is_own_controller(e, object))
                object = without_controller(a, object);
        if (e->controls && owner_controller(object, &controller) && !str_equal(controller.uid, meta_uid(e->revision)))
                return err_set(err, ERR_INVALID, "%.*s is already controlled by %.*s %.*s (UID %.*s)",
                               STR_ARG(meta_name(object)), STR_ARG(controller.kind), STR_ARG(controller.name),
                               STR_ARG(controller.uid));
        if (e->controls)
                object = with_owner(a, object, e->revision, true);
        else if (with_plain_owner(a, object, e->revision, &object, err) < 0)
                return err->code;
        if (e->package)
                object = with_owner(a, object, e->package, false);
        *ret = object;
        return 0;
}

/* Whether the object says all that the package says. It may say more: the API fills in defaults. */
static bool covers(const struct value *object, const struct value *desired)
{
        if (!object || value_type(object) != value_type(desired))
                return false;
        if (value_is_array(desired)) {
                bool is_covered = value_count(object) == value_count(desired);

                for (size_t i = 0; is_covered && i < value_count(desired); i++)
                        is_covered = covers(value_item(object, i), value_item(desired, i));
                return is_covered;
        }
        if (!value_is_object(desired))
                return value_equal_numeric(object, desired);
        VALUE_FOREACH_MEMBER (m, desired) {
                if (!value_is_null(&m->value) && !covers(value_get(object, m->key), &m->value))
                        return false;
        }
        return true;
}

static bool has_equal_map(const struct value *a, const struct value *b, struct str key)
{
        const struct value *x = value_get(meta(a), key), *y = value_get(meta(b), key);

        return value_count(x) == value_count(y) && (value_count(x) == 0 || value_equal(x, y));
}

/* True if the object differs from the package in its owners at most. */
static bool is_as_desired(struct arena *a, const struct value *existing, const struct value *desired)
{
        return has_equal_map(existing, desired, STR("labels")) &&
               has_equal_map(existing, desired, STR("annotations")) &&
               covers(existing, value_without(a, desired, STR("metadata")));
}

/* The stored version of XRDs fills in this field, v2 does not: an update without it would make a new generation each time. */
static const struct value *with_stored_default(struct arena *a, const struct value *existing,
                                               const struct value *desired)
{
        struct str key = STR("defaultCompositeDeletePolicy");
        const struct value *spec = value_get(desired, STR("spec")),
                           *policy = value_get(value_get(existing, STR("spec")), key);

        if (!is_kind(gvk_of(desired), "apiextensions.crossplane.io", "CompositeResourceDefinition") || !policy ||
            value_get(spec, key))
                return desired;
        return value_with(a, desired, STR("spec"), value_with(a, spec, key, policy));
}

/* The existing object with everything that the package says; only status, owners and finalizers stay. */
static const struct value *overlay(struct arena *a, const struct value *existing, const struct value *desired)
{
        const struct value *result = existing;

        VALUE_FOREACH_MEMBER (m, existing) {
                if (!value_get(desired, m->key) && !str_equal(m->key, STR("status")))
                        result = value_without(a, result, m->key);
        }
        VALUE_FOREACH_MEMBER (m, desired) {
                if (!str_equal(m->key, STR("metadata")))
                        result = value_with(a, result, m->key, &m->value);
        }
        result = meta_with(a, result, STR("labels"), value_get(meta(desired), STR("labels")));
        return meta_with(a, result, STR("annotations"), value_get(meta(desired), STR("annotations")));
}

/* --- Writing --- */

static int write_item(const struct establish *e, struct item *item, bool is_dry_run, struct err *err)
{
        struct arena *a = e->r->run->arena;
        const struct value *wanted = item->desired;
        int r;

        item->done = item->existing ? item->existing : item->desired;
        if (!item->existing && !e->controls)
                return 0;
        if (item->existing) {
                wanted = with_stored_default(a, item->existing,
                                             managed_definition_keep_state(a, item->existing, item->desired));
                wanted = e->controls && !is_as_desired(a, item->existing, wanted) ? overlay(a, item->existing, wanted)
                                                                                  : item->existing;
        }
        r = with_owners(e, wanted, &wanted, err);
        if (r < 0)
                return r;
        if (item->existing && value_equal(wanted, item->existing))
                return 0;
        return packages_write(e->r, item->existing ? WRITE_UPDATE : WRITE_CREATE, wanted, STR(""), is_dry_run,
                              &item->done, err);
}

static int find_item(const struct establish *e, struct item *item, struct err *err)
{
        struct object_key key = object_key_of(item->desired);

        return packages_get(e->r, key.gvk, key.ns, key.name, &item->existing, err);
}

static struct str ref_text(struct arena *a, const struct value *ref)
{
        struct gvk gvk = gvk_of(ref);

        return arena_printf(a, "%.*s/%.*s", STR_ARG(gvk_text(a, gvk)), STR_ARG(value_str(value_get(ref, STR("name")))));
}

struct sorted_ref {
        struct str text;
        struct value ref;
};

static int compare_refs(const void *x, const void *y)
{
        return str_compare(((const struct sorted_ref *)y)->text, ((const struct sorted_ref *)x)->text);
}

static const struct value *refs_of(struct arena *a, const struct item *items, size_t n)
{
        struct sorted_ref *refs = ARENA_NEW_ARRAY(a, struct sorted_ref, n + 1);
        struct array_builder b;
        size_t n_refs = 0;

        for (size_t i = 0; i < n; i++) {
                const struct value *o = items[i].done;
                struct member members[] = {
                        { STR("apiVersion"), o ? *value_get(o, STR("apiVersion")) : value_null },
                        { STR("kind"), o ? *value_get(o, STR("kind")) : value_null },
                        { STR("name"), value_of_str(meta_name(o)) },
                        { STR("uid"), value_of_str(meta_uid(o)) },
                };

                if (!o)
                        continue;
                refs[n_refs].ref = value_of_members(a, members, ARRAY_SIZE(members) - (meta_uid(o).n == 0), true);
                refs[n_refs].text = ref_text(a, &refs[n_refs].ref);
                n_refs++;
        }
        qsort(refs, n_refs, sizeof(*refs), compare_refs);
        array_builder_init(&b, a, n_refs);
        for (size_t i = 0; i < n_refs; i++)
                array_builder_add(&b, refs[i].ref);
        return n_refs ? value_put(a, array_builder_finish(&b)) : NULL;
}

int package_establish(const struct establish *e, const struct value **ret, struct err *err)
{
        struct arena *a = e->r->run->arena;
        struct item *items = ARENA_NEW_ARRAY(a, struct item, e->content->n_objects + 1);
        size_t n = 0;
        int r = 0;

        for (size_t i = 0; r == 0 && i < e->content->n_objects; i++) {
                if (!is_installed(e->kind->kind, gvk_of(e->content->objects[i])))
                        continue;
                items[n] = (struct item) { .desired = prepare(e, e->content->objects[i]) };
                r = find_item(e, &items[n++], err);
        }
        for (size_t i = 0; r == 0 && i < n; i++)
                r = write_item(e, &items[i], true, err);
        for (size_t i = 0; r == 0 && i < n; i++)
                r = write_item(e, &items[i], false, err);
        if (r == 0)
                *ret = refs_of(a, items, n);
        return r;
}

/* --- Release --- */

static int release_one(struct kind_run *r, const struct value *revision, const struct value *ref, struct err *err)
{
        struct arena *a = r->run->arena;
        const struct value *object, *wanted;
        int e = packages_get(r, gvk_of(ref), STR(""), value_str(value_get(ref, STR("name"))), &object, err);

        if (e < 0 || !object)
                return e;
        wanted = with_owner(a, object, revision, false);
        if (!value_equal(wanted, object))
                e = packages_write(r, WRITE_UPDATE, wanted, STR(""), false, &wanted, err);
        return e;
}

int package_release(struct kind_run *r, const struct value *revision, struct err *err)
{
        int e = 0;

        VALUE_FOREACH_ITEM (ref, value_find(revision, "status", "objectRefs")) {
                e = e < 0 ? e : release_one(r, revision, ref, err);
        }
        return e;
}
