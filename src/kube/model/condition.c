#include "condition.h"

#include "buf.h"

const char *condition_status_name(enum condition_status status)
{
        switch (status) {
        case CONDITION_TRUE:
                return "True";
        case CONDITION_FALSE:
                return "False";
        case CONDITION_UNKNOWN:
                break;
        }
        return "Unknown";
}

static enum condition_status status_of(struct str name)
{
        if (str_equal(name, STR("True")))
                return CONDITION_TRUE;
        return str_equal(name, STR("False")) ? CONDITION_FALSE : CONDITION_UNKNOWN;
}

struct condition condition_of(const struct value *condition)
{
        struct condition c = {
                .type = value_str(value_get(condition, STR("type"))),
                .status = status_of(value_str(value_get(condition, STR("status")))),
                .reason = value_str(value_get(condition, STR("reason"))),
                .message = value_str(value_get(condition, STR("message"))),
                .observed_generation = value_int(value_get(condition, STR("observedGeneration")), 0),
        };

        time_parse_rfc3339(value_str(value_get(condition, STR("lastTransitionTime"))), &c.last_transition, NULL);
        return c;
}

static const struct value *list_of(const struct value *object)
{
        return value_find(object, "status", "conditions");
}

bool condition_get(const struct value *object, struct str type, struct condition *ret)
{
        VALUE_FOREACH_ITEM (item, list_of(object)) {
                if (str_equal(value_str(value_get(item, STR("type"))), type)) {
                        *ret = condition_of(item);
                        return true;
                }
        }
        *ret = (struct condition) { .type = type };
        return false;
}

static struct value time_value(struct arena *a, struct instant t)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        if (t.seconds == 0 && t.nanos == 0)
                return value_of_null();
        time_append_rfc3339(&b, t, 0);
        return value_of_str(buf_to_arena(&b, a));
}

struct value condition_value(struct arena *a, const struct condition *c)
{
        struct object_builder b;

        object_builder_init(&b, a, 6);
        object_builder_add(&b, STR("lastTransitionTime"), time_value(a, c->last_transition));
        if (!str_is_empty(c->message))
                object_builder_add(&b, STR("message"), value_of_str(c->message));
        if (c->observed_generation != 0)
                object_builder_add(&b, STR("observedGeneration"), value_of_int(c->observed_generation));
        object_builder_add(&b, STR("reason"), value_of_str(c->reason));
        object_builder_add(&b, STR("status"), value_of_str(str_from(condition_status_name(c->status))));
        object_builder_add(&b, STR("type"), value_of_str(c->type));
        return object_builder_finish(&b);
}

bool condition_equal(const struct condition *a, const struct condition *b)
{
        if (a->observed_generation != 0 && b->observed_generation != 0 &&
            a->observed_generation != b->observed_generation)
                return false;
        return a->status == b->status && str_equal(a->type, b->type) && str_equal(a->reason, b->reason) &&
               str_equal(a->message, b->message);
}

/* Whether the stored condition equals c. A stored status that is none of the three equals no condition. */
static bool is_same(const struct value *there, const struct condition *c)
{
        struct condition old = condition_of(there);

        return str_equal(value_str(value_get(there, STR("status"))), str_from(condition_status_name(old.status))) &&
               condition_equal(&old, c);
}

static const struct value *set_one(struct arena *a, const struct value *list, const struct condition *c)
{
        bool is_there = false;

        for (size_t i = 0; i < value_count(list); i++) {
                const struct value *there = value_item(list, i);

                if (!str_equal(value_str(value_get(there, STR("type"))), c->type))
                        continue;
                is_there = true;
                if (!is_same(there, c))
                        list = value_with_item(a, list, i, value_put(a, condition_value(a, c)));
        }
        return is_there ? list : value_with_appended(a, list, value_put(a, condition_value(a, c)));
}

const struct value *conditions_set(struct arena *a, const struct value *object, const struct condition *conditions,
                                   size_t n)
{
        const struct value *status = value_get(object, STR("status")), *old = list_of(object);
        const struct value *list = value_is_array(old) ? old : &value_empty_array, *before = list;

        if (status && !value_is_object(status) && !value_is_null(status))
                return object;
        for (size_t i = 0; i < n; i++)
                list = set_one(a, list, &conditions[i]);
        if (list == before)
                return object;
        status = value_with(a, value_is_object(status) ? status : &value_empty_object, STR("conditions"), list);
        return value_with(a, object, STR("status"), status);
}
