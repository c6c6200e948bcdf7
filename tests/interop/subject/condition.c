#include "subject.h"

#include "condition.h"

static struct condition read_condition(const struct value *v)
{
        struct str status = value_str(value_get(v, STR("status")));

        return (struct condition) {
                .type = value_str(value_get(v, STR("type"))),
                .status = str_equal(status, STR("True"))    ? CONDITION_TRUE
                          : str_equal(status, STR("False")) ? CONDITION_FALSE
                                                            : CONDITION_UNKNOWN,
                .reason = value_str(value_get(v, STR("reason"))),
                .message = value_str(value_get(v, STR("message"))),
                .last_transition.seconds = value_int(value_get(v, STR("seconds")), 0),
                .observed_generation = value_int(value_get(v, STR("generation")), 0),
        };
}

static const struct value *set_all(struct arena *a, const struct value *object, const struct value *set,
                                   struct array_builder *equal)
{
        struct condition *conditions = ARENA_NEW_ARRAY(a, struct condition, value_count(set)), there;
        size_t n = 0;

        VALUE_FOREACH_ITEM (item, set) {
                struct condition *c = &conditions[n++];

                *c = read_condition(item);
                condition_get(object, c->type, &there);
                array_builder_add(equal, value_of_bool(condition_equal(c, &conditions[0])));
                array_builder_add(equal, value_of_bool(condition_equal(c, &there)));
        }
        return conditions_set(a, object, conditions, n);
}

const struct value *run_condition(struct arena *a, const struct value *c)
{
        const struct value *object = &value_empty_object, *list;
        struct condition got;
        struct array_builder equal;
        struct object_builder b;

        array_builder_init(&equal, a, 8);
        VALUE_FOREACH_ITEM (set, value_get(c, STR("sets")))
                object = set_all(a, object, set, &equal);
        condition_get(object, value_str(value_get(c, STR("get"))), &got);
        list = value_find(object, "status", "conditions");
        object_builder_init(&b, a, 3);
        object_builder_add(&b, STR("conditions"), list ? *list : value_empty_array);
        object_builder_add(&b, STR("get"), condition_value(a, &got));
        object_builder_add(&b, STR("equal"), array_builder_finish(&equal));
        return value_put(a, object_builder_finish(&b));
}
