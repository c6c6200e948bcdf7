/* Namespaces, Leases and ServiceAccounts (docs/spec/apiserver 2.3, 2.5, 7.4). */
#include "builtin-strategies.h"

#include "name.h"

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

/* The object with the member as `from` has it; without the member if `from` has none. */
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

const struct kind_strategy namespace_strategy = {
        .prepare = prepare_namespace,
        .validate = validate_namespace,
        .may_remove = may_remove_namespace,
};

/* --- Lease --- */

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

const struct kind_strategy lease_strategy = { .validate = validate_lease };

/* --- ServiceAccount --- */

/* References to secrets have names alone: the account's namespace is theirs. */
static const struct value *prepare_service_account(struct arena *a, const struct write_request *req _unused_,
                                                   const struct value *old _unused_, const struct value *object)
{
        const struct value *secrets = value_get(object, STR("secrets"));
        struct array_builder list;

        if (!value_is_array(secrets))
                return object;
        array_builder_init(&list, a, value_count(secrets));
        VALUE_FOREACH_ITEM (s, secrets) {
                struct member name = { STR_INIT("name"), value_of_str(value_str(value_get(s, STR("name")))) };

                array_builder_add(&list, name.value.n ? value_of_members(a, &name, 1, true) : value_empty_object);
        }
        return value_with(a, object, STR("secrets"), value_put(a, array_builder_finish(&list)));
}

const struct kind_strategy service_account_strategy = { .prepare = prepare_service_account };
