#include "subject.h"

#include "buf.h"
#include "field-selector.h"
#include "label-selector.h"

static const struct value *describe(struct arena *a, struct buf *text, size_t n, bool matches, const struct str *name)
{
        struct object_builder b;

        object_builder_init(&b, a, 4);
        object_builder_add(&b, STR("text"), value_of_str(buf_to_arena(text, a)));
        object_builder_add(&b, STR("n"), value_of_int((int64_t)n));
        object_builder_add(&b, STR("matches"), value_of_bool(matches));
        if (name)
                object_builder_add(&b, STR("name"), value_of_str(*name));
        return value_put(a, object_builder_finish(&b));
}

/* The set's keys are paths. */
static const struct value *object_of(struct arena *a, const struct value *set)
{
        const struct value *object = &value_empty_object;

        VALUE_FOREACH_MEMBER (m, set) {
                struct str rest = m->key, head;

                if (!str_split(&rest, '.', &head))
                        continue;
                object = value_with(a, object, head, value_with(a, &value_empty_object, rest, &m->value));
        }
        return object;
}

static const struct value *run_field(struct arena *a, struct str text, const struct value *set)
{
        _cleanup_err_ struct err err = { 0 };
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct field_selector s;
        struct str name;

        if (field_selector_parse(a, text, &s, &err) < 0)
                return result_error(a, &err);
        field_selector_append(&b, &s);
        name = field_selector_name(&s);
        return describe(a, &b, s.n, field_selector_matches(&s, object_of(a, set)), &name);
}

const struct value *run_selector(struct arena *a, const struct value *c)
{
        _cleanup_err_ struct err err = { 0 };
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        const struct value *field = value_get(c, STR("field")), *label = value_get(c, STR("label"));
        const struct value *set = value_get(c, STR("set"));
        struct label_selector s;
        int r;

        if (field)
                return run_field(a, value_str(field), set);
        r = label ? label_selector_parse(a, value_str(label), &s, &err)
                  : label_selector_from_value(a, value_get(c, STR("object")), &s, &err);
        if (r < 0)
                return result_error(a, &err);
        label_selector_append(&b, &s);
        return describe(a, &b, s.n, label_selector_matches(&s, set), NULL);
}
