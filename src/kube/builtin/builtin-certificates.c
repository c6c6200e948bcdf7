/* CertificateSigningRequests as data (docs/spec/apiserver 6.4): who asks, who approved or denied it, and what a signer wrote. Nothing is signed
 * here. */
#include "builtin-strategies.h"

#include "buf.h"

#define STATUS_PATH "status.conditions"

/* --- Who asks --- */

static struct value strings(struct arena *a, const struct str *p, size_t n)
{
        struct array_builder b;

        array_builder_init(&b, a, n);
        for (size_t i = 0; i < n; i++)
                array_builder_add(&b, value_of_str(p[i]));
        return array_builder_finish(&b);
}

static struct value extra_of(struct arena *a, const struct user *user)
{
        struct object_builder b;

        object_builder_init(&b, a, user->n_extra);
        for (size_t i = 0; i < user->n_extra; i++)
                object_builder_set(&b, user->extra[i].key, strings(a, user->extra[i].values, user->extra[i].n_values));
        return object_builder_finish(&b);
}

/* The requester is who sent the request, whatever it says. */
static const struct value *note_requester(struct arena *a, const struct user *user, const struct value *object)
{
        const struct member fields[] = {
                { STR("username"), value_of_str(user->name) },
                { STR("uid"), value_of_str(user->uid) },
                { STR("groups"), strings(a, user->groups, user->n_groups) },
                { STR("extra"), extra_of(a, user) },
        };
        const struct value *spec = value_get(object, STR("spec"));

        if (!spec)
                spec = &value_empty_object;
        for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
                spec = fields[i].value.n ? value_with(a, spec, fields[i].key, &fields[i].value)
                                         : value_without(a, spec, fields[i].key);
        return value_with(a, object, STR("spec"), spec);
}

/* --- Conditions --- */

static const struct value *conditions_of(const struct value *object)
{
        return value_find(object, "status", "conditions");
}

static struct str type_of(const struct value *condition)
{
        return value_str(value_get(condition, STR("type")));
}

static const struct value *find_condition(const struct value *conditions, struct str type)
{
        VALUE_FOREACH_ITEM (c, conditions)
                if (str_equal(type_of(c), type))
                        return c;
        return NULL;
}

/* Conditions that a writer of one subresource leaves to the other one. */
static bool is_kept(struct str type, struct str subresource)
{
        bool is_decision = str_equal(type, STR("Approved")) || str_equal(type, STR("Denied"));

        return str_equal(subresource, STR("status")) ? is_decision : str_equal(type, STR("Failed"));
}

/* The conditions of the other subresource stay as they are. */
static const struct value *merged_conditions(struct arena *a, struct str subresource, const struct value *old,
                                             const struct value *conditions)
{
        struct array_builder b;

        array_builder_init(&b, a, value_count(conditions));
        VALUE_FOREACH_ITEM (c, conditions) {
                const struct value *before = find_condition(old, type_of(c));

                array_builder_add(&b, before && is_kept(type_of(c), subresource) ? *before : *c);
        }
        return value_put(a, array_builder_finish(&b));
}

static bool is_unset(const struct value *condition, struct str field)
{
        return str_is_empty(value_str(value_get(condition, field)));
}

static const struct value *with_times(struct arena *a, const struct value *condition, const struct value *old,
                                      const struct value *now)
{
        const struct value *before = find_condition(old, type_of(condition)), *since = now;

        if (before && !is_unset(before, STR("lastTransitionTime")) &&
            str_equal(value_str(value_get(before, STR("status"))), value_str(value_get(condition, STR("status")))))
                since = value_get(before, STR("lastTransitionTime"));
        if (is_unset(condition, STR("lastUpdateTime")))
                condition = value_with(a, condition, STR("lastUpdateTime"), now);
        if (is_unset(condition, STR("lastTransitionTime")))
                condition = value_with(a, condition, STR("lastTransitionTime"), since);
        return condition;
}

static const struct value *timed_conditions(struct arena *a, const struct value *old, const struct value *conditions)
{
        _cleanup_buf_ struct buf text = BUF_INIT(0);
        struct array_builder b;
        struct value now;

        time_append_rfc3339(&text, clock_wall(), 0);
        now = value_of_str(buf_to_arena(&text, a));
        array_builder_init(&b, a, value_count(conditions));
        VALUE_FOREACH_ITEM (c, conditions)
                array_builder_add(&b, *with_times(a, c, old, &now));
        return value_put(a, array_builder_finish(&b));
}

/* --- Writes --- */

static const struct value *with_or_without(struct arena *a, const struct value *object, struct str key,
                                           const struct value *v)
{
        return v ? value_with(a, object, key, v) : value_without(a, object, key);
}

/* The request never changes. The approval is about conditions alone, the status about everything but the decision. */
static const struct value *prepare_signing_request(struct arena *a, const struct write_request *req,
                                                   const struct value *old, const struct value *object)
{
        const struct value *status = value_get(object, STR("status")), *conditions = conditions_of(object);

        if (!old)
                return object;
        object = with_or_without(a, object, STR("spec"), value_get(old, STR("spec")));
        if (req->subresource.n == 0)
                return object;
        conditions = merged_conditions(a, req->subresource, conditions_of(old), conditions);
        if (str_equal(req->subresource, STR("approval")))
                status = with_or_without(a, status ? status : &value_empty_object, STR("certificate"),
                                         value_find(old, "status", "certificate"));
        if (value_count(conditions))
                conditions = timed_conditions(a, conditions_of(old), conditions);
        status = with_or_without(a, status ? status : &value_empty_object, STR("conditions"),
                                 value_count(conditions) ? conditions : NULL);
        return value_with(a, object, STR("status"), status);
}

static struct str condition_path(struct arena *a, size_t i, const char *field)
{
        return arena_printf(a, STATUS_PATH "[%zu].%s", i, field);
}

static bool is_known(struct str type)
{
        return str_equal(type, STR("Approved")) || str_equal(type, STR("Denied")) || str_equal(type, STR("Failed"));
}

static void check_condition(struct field_errors *errors, const struct value *c, size_t i)
{
        static const struct str only_true[] = { STR_INIT("True") };
        const struct value *status = value_get(c, STR("status"));

        if (type_of(c).n == 0)
                field_error_add(errors, FIELD_REQUIRED, condition_path(errors->arena, i, "type"), NULL, "%s", "");
        if (str_is_empty(value_str(status)))
                field_error_add(errors, FIELD_REQUIRED, condition_path(errors->arena, i, "status"), NULL, "%s", "");
        else if (is_known(type_of(c)) && !str_equal(value_str(status), only_true[0]))
                field_error_add_unsupported(errors, condition_path(errors->arena, i, "status"), status, only_true, 1);
}

static void check_conditions(struct field_errors *errors, const struct value *conditions)
{
        bool is_approved = find_condition(conditions, STR("Approved"));
        bool is_denied = find_condition(conditions, STR("Denied")), is_decided = false;

        for (size_t i = 0; i < value_count(conditions); i++) {
                const struct value *c = value_item(conditions, i), *type = value_get(c, STR("type"));
                bool is_decision = str_equal(type_of(c), STR("Approved")) || str_equal(type_of(c), STR("Denied"));

                check_condition(errors, c, i);
                if (find_condition(conditions, type_of(c)) != c)
                        field_error_add(errors, FIELD_DUPLICATE, condition_path(errors->arena, i, "type"), type, "%s",
                                        "");
                if (is_decision && is_decided && is_approved && is_denied)
                        field_error_add(errors, FIELD_INVALID, STR(STATUS_PATH), type,
                                        "Approved and Denied conditions are mutually exclusive");
                is_decided |= is_decision;
        }
}

static void check_changes(struct field_errors *errors, struct str subresource, const struct value *old,
                          const struct value *conditions)
{
        VALUE_FOREACH_ITEM (c, conditions)
                if (is_kept(type_of(c), subresource) && !find_condition(old, type_of(c)))
                        field_error_add(errors, FIELD_FORBIDDEN, STR(STATUS_PATH), NULL,
                                        "updates may not add a condition of type \"%.*s\"", STR_ARG(type_of(c)));
        VALUE_FOREACH_ITEM (c, old)
                if (is_known(type_of(c)) && !find_condition(conditions, type_of(c)))
                        field_error_add(errors, FIELD_FORBIDDEN, STR(STATUS_PATH), NULL,
                                        "updates may not remove a condition of type \"%.*s\"", STR_ARG(type_of(c)));
}

static void validate_signing_request(struct arena *a _unused_, const struct write_request *req, const struct value *old,
                                     const struct value *object, struct field_errors *errors,
                                     struct str_list *warnings _unused_)
{
        if (!old)
                return;
        check_conditions(errors, conditions_of(object));
        if (req->subresource.n)
                check_changes(errors, req->subresource, conditions_of(old), conditions_of(object));
}

const struct kind_strategy signing_request_strategy = {
        .note_user = note_requester,
        .prepare = prepare_signing_request,
        .validate = validate_signing_request,
};
