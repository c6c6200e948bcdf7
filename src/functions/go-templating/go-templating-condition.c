/* The condition that getResourceCondition returns: a struct whose texts have their own Go types. */
#include "go-templating.h"

#include "buf.h"
#include "gt-time.h"

struct text_object {
        struct gt_object object;
        struct str text;
};

static const struct text_object *text_of(const struct gt_object *o)
{
        return CONTAINER_OF(o, const struct text_object, object);
}

static struct gt_value text_basic(const struct gt_object *o)
{
        return gt_string(text_of(o)->text);
}

static bool text_equal(const struct gt_object *a, const struct gt_object *b)
{
        return str_equal(text_of(a)->text, text_of(b)->text);
}

#define TEXT_CLASS(name)                                                                                       \
        {                                                                                                      \
                .type_name = STR_INIT(name), .kind = GT_KIND_STRING, .basic = text_basic, .equal = text_equal, \
                .is_comparable = true                                                                          \
        }

static const struct gt_class type_class = TEXT_CLASS("v2.ConditionType");
static const struct gt_class status_class = TEXT_CLASS("v1.ConditionStatus");
static const struct gt_class reason_class = TEXT_CLASS("v2.ConditionReason");

struct condition_object {
        struct gt_object object;
        struct str type, status, reason, message;
        struct instant at; /* time of the last transition */
        bool has_time;
        int64_t generation;
};

static const struct condition_object *self(const struct gt_object *o)
{
        return CONTAINER_OF(o, const struct condition_object, object);
}

static struct gt_value text(struct gt_context *c, const struct gt_class *class_of, struct str s)
{
        struct text_object *o = ARENA_NEW(c->arena, struct text_object);

        o->object.class_of = class_of;
        o->text = s;
        return gt_object(&o->object);
}

/* Without a time, it is year 1, like Go's zero time. */
static struct gotime time_of(const struct condition_object *o)
{
        return o->has_time ? gotime_utc(o->at) : gotime_zero();
}

static bool condition_field(struct gt_context *c, const struct gt_object *o, struct str name, struct gt_value *ret)
{
        const struct condition_object *s = self(o);

        if (str_equal(name, STR("Type")))
                *ret = text(c, &type_class, s->type);
        else if (str_equal(name, STR("Status")))
                *ret = text(c, &status_class, s->status);
        else if (str_equal(name, STR("Reason")))
                *ret = text(c, &reason_class, s->reason);
        else if (str_equal(name, STR("Message")))
                *ret = gt_string(s->message);
        else if (str_equal(name, STR("LastTransitionTime")))
                *ret = gt_make_time(c, time_of(s));
        else if (str_equal(name, STR("ObservedGeneration")))
                *ret = gt_int64(s->generation);
        else
                return false;
        return true;
}

static void condition_print(struct gt_context *c, const struct gt_object *o, struct buf *b)
{
        const struct condition_object *s = self(o);
        struct gotime t = time_of(s);

        buf_appendf(b, "{%.*s %.*s ", STR_ARG(s->type), STR_ARG(s->status));
        gotime_append_string(b, &t);
        buf_appendf(b, " %.*s %.*s %lld}", STR_ARG(s->reason), STR_ARG(s->message), (long long)s->generation);
}

static struct value time_text(struct gt_context *c, const struct condition_object *s)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct gotime t = time_of(s);

        gotime_append(&b, &t, GT_RFC3339);
        return value_of_str(buf_to_arena(&b, c->arena));
}

static int condition_to_json(struct gt_context *c, const struct gt_object *o, struct value *ret, struct err *err)
{
        const struct condition_object *s = self(o);
        struct object_builder b;

        object_builder_init(&b, c->arena, 6);
        object_builder_add(&b, STR("type"), value_of_str(s->type));
        object_builder_add(&b, STR("status"), value_of_str(s->status));
        object_builder_add(&b, STR("lastTransitionTime"), s->has_time ? time_text(c, s) : value_of_null());
        object_builder_add(&b, STR("reason"), value_of_str(s->reason));
        if (s->message.n > 0)
                object_builder_add(&b, STR("message"), value_of_str(s->message));
        if (s->generation != 0)
                object_builder_add(&b, STR("observedGeneration"), value_of_int(s->generation));
        *ret = object_builder_finish(&b);
        return 0;
}

/* The fields in the order of the Go struct, with the names that yaml.v3 derives from them. */
static struct gt_value condition_to_yaml(struct gt_context *c, const struct gt_object *o)
{
        const struct condition_object *s = self(o);
        struct value at = time_text(c, s);
        struct gt_value map = gt_list_new(c, GT_ANY_MAP, 12);
        const struct gt_member members[] = {
                { gt_string(STR("type")), gt_string(s->type) },
                { gt_string(STR("status")), gt_string(s->status) },
                { gt_string(STR("lasttransitiontime")), gt_string(value_str(&at)) },
                { gt_string(STR("reason")), gt_string(s->reason) },
                { gt_string(STR("message")), gt_string(s->message) },
                { gt_string(STR("observedgeneration")), gt_int64(s->generation) },
        };

        for (size_t i = 0; i < ARRAY_SIZE(members); i++) {
                gt_list_put(map, 2 * i, members[i].key);
                gt_list_put(map, 2 * i + 1, members[i].value);
        }
        return map;
}

static const struct gt_class condition_class = {
        .type_name = STR_INIT("v2.Condition"),
        .kind = GT_KIND_STRUCT,
        .field = condition_field,
        .print = condition_print,
        .to_json = condition_to_json,
        .to_yaml = condition_to_yaml,
};

/* --- Looking it up --- */

static struct gt_value get(struct gt_context *c, struct gt_value map, struct str key)
{
        struct gt_value v = gt_none();

        if (gt_is_map(map))
                gt_map_get(c, map, key, &v);
        return v;
}

static bool is_text(struct gt_value v)
{
        return gt_is_nil(v) || v.type == GT_STRING;
}

/* False when the value does not fit Go's type of conditions. */
static bool read_condition(struct gt_context *c, struct gt_value v, struct condition_object *o)
{
        struct gt_value at = get(c, v, STR("lastTransitionTime")), generation = get(c, v, STR("observedGeneration"));

        if (!gt_is_nil(v) && !gt_is_map(v))
                return false;
        if (!is_text(get(c, v, STR("type"))) || !is_text(get(c, v, STR("status"))) ||
            !is_text(get(c, v, STR("reason"))) || !is_text(get(c, v, STR("message"))) || !is_text(at) ||
            !(gt_is_nil(generation) || gt_is_integer(generation)))
                return false;
        o->type = gt_str(get(c, v, STR("type")));
        o->status = gt_str(get(c, v, STR("status")));
        o->reason = gt_str(get(c, v, STR("reason")));
        o->message = gt_str(get(c, v, STR("message")));
        o->generation = gt_is_nil(generation) ? 0 : generation.integer;
        o->has_time = at.type == GT_STRING;
        return !o->has_time || time_parse_rfc3339(gt_str(at), &o->at, NULL) == 0;
}

/* The first condition of the type; false when the status has none, or cannot be decoded. */
static bool find_condition(struct gt_context *c, struct gt_value status, struct str type, struct condition_object *ret)
{
        struct gt_value conditions = get(c, status, STR("conditions"));
        bool is_found = false;

        if (conditions.type != GT_LIST)
                return false;
        for (size_t i = 0; i < gt_list_count(conditions); i++) {
                struct condition_object one = { 0 };

                if (!read_condition(c, gt_list_at(c, conditions, i), &one))
                        return false;
                if (!is_found && str_equal(one.type, type)) {
                        *ret = one;
                        is_found = true;
                }
        }
        return is_found;
}

struct gt_value templating_condition(struct gt_context *c, struct str type, struct gt_value resource)
{
        struct condition_object *o = ARENA_NEW(c->arena, struct condition_object);
        struct gt_value status = get(c, get(c, resource, STR("resource")), STR("status"));

        if (gt_is_nil(status))
                status = get(c, resource, STR("status"));
        if (!find_condition(c, status, type, o))
                *o = (struct condition_object) { .type = type, .status = STR("Unknown") };
        o->object.class_of = &condition_class;
        return gt_object(&o->object);
}
