/* The kinds that are there without a CRD, and what they do beyond CRUD (spec/apiserver 2.3, 2.5, 7.4). */
#include "kind-builtin.h"

#include "name.h"

#include <pthread.h>

/* --- Namespace --- */

static const struct value *with_kubernetes_finalizer(struct arena *a, const struct value *object)
{
        static const struct value kubernetes = { .type = VALUE_STRING, .n = 10, .bytes = "kubernetes" };
        const struct value *spec = value_get(object, STR("spec")), *list = value_get(spec, STR("finalizers"));

        VALUE_FOREACH_ITEM (f, list)
                if (str_equal(value_str(f), STR("kubernetes")))
                        return object;
        list = value_with_appended(a, value_is_array(list) ? list : &value_empty_array, &kubernetes);
        spec = value_with(a, value_is_object(spec) ? spec : &value_empty_object, STR("finalizers"), list);
        return value_with(a, object, STR("spec"), spec);
}

/* The member as the other object has it. */
static const struct value *restored(struct arena *a, const struct value *object, const struct value *from,
                                    struct str key)
{
        const struct value *v = value_get(from, key);

        return v ? value_with(a, object, key, v) : value_without(a, object, key);
}

static const struct value *prepare_namespace(struct arena *a, const struct write_request *req, const struct value *old,
                                             const struct value *object)
{
        static const struct member phase = { STR_INIT("phase"), { .type = VALUE_STRING, .n = 6, .bytes = "Active" } };

        object = meta_with_label(a, object, STR("kubernetes.io/metadata.name"), meta_name(object));
        if (!old) {
                struct value status = value_of_members(a, &phase, 1, true);

                object = with_kubernetes_finalizer(a, object);
                return value_with(a, object, STR("status"), value_put(a, status));
        }
        if (!str_equal(req->subresource, STR("finalize")))
                object = restored(a, object, old, STR("spec"));
        if (!str_equal(req->subresource, STR("status")))
                object = restored(a, object, old, STR("status"));
        return object;
}

static bool is_standard_finalizer(struct str name)
{
        return str_equal(name, STR("kubernetes")) || str_equal(name, STR("orphan")) ||
               str_equal(name, STR("foregroundDeletion"));
}

static void validate_namespace(struct arena *a, const struct write_request *req _unused_,
                               const struct value *old _unused_, const struct value *object,
                               struct field_errors *errors, struct str_list *warnings _unused_)
{
        VALUE_FOREACH_ITEM (finalizer, value_find(object, "spec", "finalizers")) {
                struct str name = value_str(finalizer), texts[4];
                size_t n = name_check_qualified(a, name, texts);

                for (size_t i = 0; i < n; i++)
                        field_error_add(errors, FIELD_INVALID, STR("spec.finalizers"), finalizer, "%.*s",
                                        STR_ARG(texts[i]));
                if (n == 0 && str_find_char(name, '/') < 0 && !is_standard_finalizer(name))
                        field_error_add(errors, FIELD_INVALID, STR("spec.finalizers"), finalizer,
                                        "name is neither a standard finalizer name nor is it fully qualified");
        }
}

static bool may_remove_namespace(const struct value *object)
{
        return value_count(value_find(object, "spec", "finalizers")) == 0;
}

static const struct kind_strategy namespace_strategy = {
        .prepare = prepare_namespace,
        .validate = validate_namespace,
        .may_remove = may_remove_namespace,
};

/* --- Event and Lease --- */

/* Fields that an Event has even when nobody gave them, as the API writes it. */
static const struct value *prepare_event(struct arena *a, const struct write_request *req _unused_,
                                         const struct value *old _unused_, const struct value *object)
{
        static const struct {
                struct str key;
                const struct value *value;
        } fields[] = {
                { STR_INIT("involvedObject"), &value_empty_object },
                { STR_INIT("source"), &value_empty_object },
                { STR_INIT("firstTimestamp"), &value_null },
                { STR_INIT("lastTimestamp"), &value_null },
                { STR_INIT("eventTime"), &value_null },
                { STR_INIT("reportingComponent"), &value_empty_string },
                { STR_INIT("reportingInstance"), &value_empty_string },
        };

        for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
                if (!value_get(object, fields[i].key))
                        object = value_with(a, object, fields[i].key, fields[i].value);
        return object;
}

static void validate_event(struct arena *a _unused_, const struct write_request *req _unused_,
                           const struct value *old _unused_, const struct value *object, struct field_errors *errors,
                           struct str_list *warnings _unused_)
{
        struct str own = meta_namespace(object);
        const struct value *other = value_find(object, "involvedObject", "namespace");

        /* Events about cluster-scoped objects are kept in default. */
        if (str_is_empty(value_str(other)) ? !str_equal(own, STR("default")) : !str_equal(value_str(other), own))
                field_error_add(errors, FIELD_INVALID, STR("involvedObject.namespace"),
                                other ? other : &value_empty_string, "does not match event.namespace");
}

static const struct kind_strategy event_strategy = { .prepare = prepare_event, .validate = validate_event };

static void validate_lease(struct arena *a _unused_, const struct write_request *req _unused_,
                           const struct value *old _unused_, const struct value *object, struct field_errors *errors,
                           struct str_list *warnings _unused_)
{
        const struct value *spec = value_get(object, STR("spec"));
        const struct value *duration = value_get(spec, STR("leaseDurationSeconds"));
        const struct value *transitions = value_get(spec, STR("leaseTransitions"));

        if (value_is_int(duration) && duration->integer <= 0)
                field_error_add(errors, FIELD_INVALID, STR("spec.leaseDurationSeconds"), duration,
                                "must be greater than 0");
        if (value_is_int(transitions) && transitions->integer < 0)
                field_error_add(errors, FIELD_INVALID, STR("spec.leaseTransitions"), transitions,
                                "must be greater than or equal to 0");
}

static const struct kind_strategy lease_strategy = { .validate = validate_lease };

/* --- The table --- */

#define LIST(...)                                  \
        .p = (const struct str[]) { __VA_ARGS__ }, \
        .n = sizeof((const struct str[]) { __VA_ARGS__ }) / sizeof(struct str)

struct list {
        const struct str *p; /* NULL: none */
        size_t n;
};

static const struct description {
        const char *group, *version, *kind, *plural;
        struct list short_names, categories, selectable_fields;
        bool is_cluster_scoped, has_status, has_generation, allows_create_on_update, allows_unconditional_update;
        enum name_rule name_rule;
        const struct kind_strategy *strategy;
} descriptions[] = {
        {
                .version = "v1",
                .kind = "Namespace",
                .plural = "namespaces",
                .short_names = { LIST(STR_INIT("ns")) },
                .selectable_fields = { LIST(STR_INIT("status.phase")) },
                .is_cluster_scoped = true,
                .has_status = true,
                .allows_unconditional_update = true,
                .name_rule = NAME_LABEL,
                .strategy = &namespace_strategy,
        },
        {
                .group = "apiextensions.k8s.io",
                .version = "v1",
                .kind = "CustomResourceDefinition",
                .plural = "customresourcedefinitions",
                .short_names = { LIST(STR_INIT("crd"), STR_INIT("crds")) },
                .categories = { LIST(STR_INIT("api-extensions")) },
                .is_cluster_scoped = true,
                .has_status = true,
                .has_generation = true,
                .strategy = &crd_strategy,
        },
        {
                .version = "v1",
                .kind = "Secret",
                .plural = "secrets",
                .selectable_fields = { LIST(STR_INIT("type")) },
                .allows_unconditional_update = true,
                .strategy = &secret_strategy,
        },
        {
                .version = "v1",
                .kind = "ConfigMap",
                .plural = "configmaps",
                .short_names = { LIST(STR_INIT("cm")) },
                .allows_unconditional_update = true,
                .strategy = &config_map_strategy,
        },
        {
                .version = "v1",
                .kind = "ServiceAccount",
                .plural = "serviceaccounts",
                .short_names = { LIST(STR_INIT("sa")) },
                .allows_unconditional_update = true,
        },
        {
                .version = "v1",
                .kind = "Event",
                .plural = "events",
                .short_names = { LIST(STR_INIT("ev")) },
                .selectable_fields = { LIST(STR_INIT("involvedObject.kind"), STR_INIT("involvedObject.namespace"),
                                            STR_INIT("involvedObject.name"), STR_INIT("involvedObject.uid"),
                                            STR_INIT("involvedObject.apiVersion"),
                                            STR_INIT("involvedObject.resourceVersion"),
                                            STR_INIT("involvedObject.fieldPath"), STR_INIT("reason"),
                                            STR_INIT("reportingComponent"), STR_INIT("source"), STR_INIT("type")) },
                .allows_create_on_update = true,
                .allows_unconditional_update = true,
                .name_rule = NAME_PATH_SEGMENT,
                .strategy = &event_strategy,
        },
        {
                .group = "coordination.k8s.io",
                .version = "v1",
                .kind = "Lease",
                .plural = "leases",
                .allows_create_on_update = true,
                .strategy = &lease_strategy,
        },
};

static struct kind kinds[ARRAY_SIZE(descriptions)];
static struct kind *table[ARRAY_SIZE(descriptions) + 1];

static void fill_kind(struct kind *k, const struct description *d)
{
        static struct kind_version versions[ARRAY_SIZE(descriptions)];
        struct kind_version *version = &versions[d - descriptions];

        *version = (struct kind_version) {
                .name = str_from(d->version),
                .schema = schema_any(),
                .is_served = true,
                .is_storage = true,
                .has_status = d->has_status,
                .selectable_fields = d->selectable_fields.p,
                .n_selectable_fields = d->selectable_fields.n,
        };
        k->references = 1;
        arena_init(&k->arena, "kind", 0);
        k->group = str_from(d->group ? d->group : "");
        k->kind = str_from(d->kind);
        k->list_kind = arena_printf(&k->arena, "%sList", d->kind);
        k->plural = str_from(d->plural);
        k->singular = str_first(k->plural, k->plural.n - 1);
        k->short_names = d->short_names.p;
        k->n_short_names = d->short_names.n;
        k->categories = d->categories.p;
        k->n_categories = d->categories.n;
        k->is_namespaced = !d->is_cluster_scoped;
        k->allows_create_on_update = d->allows_create_on_update;
        k->allows_unconditional_update = d->allows_unconditional_update;
        k->has_generation = d->has_generation;
        k->name_rule = d->name_rule;
        k->versions = version;
        k->n_versions = 1;
        k->strategy = d->strategy;
}

static void fill_table(void)
{
        for (size_t i = 0; i < ARRAY_SIZE(descriptions); i++) {
                fill_kind(&kinds[i], &descriptions[i]);
                table[i] = &kinds[i];
        }
}

struct kind *const *kind_builtins(void)
{
        static pthread_once_t once = PTHREAD_ONCE_INIT;

        pthread_once(&once, fill_table);
        return table;
}
