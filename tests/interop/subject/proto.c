#include "subject.h"

#include "base64.h"
#include "buf.h"
#include "proto-tables.h"
#include "test-proto-tables.h"

/* Our own fields, which the oracle's generated messages lack. */
#define FIRST_OWN_NUMBER 1000

static const struct proto_message *find_message(struct str name)
{
        const struct proto_message *m = proto_message_by_name(name);

        for (size_t i = 0; !m && i < test_proto_n_messages; i++)
                if (str_equal(test_proto_messages[i]->name, name))
                        m = test_proto_messages[i];
        assert(m);
        return m;
}

static struct value base64_of(struct arena *a, struct buf *b)
{
        _cleanup_buf_ struct buf text = BUF_INIT(0);

        base64_encode(&text, buf_str(b), BASE64_STD);
        return value_of_str(buf_to_arena(&text, a));
}

static struct value encode(struct arena *a, const struct proto_message *m, const struct value *v, unsigned flags)
{
        struct proto_options options = { .flags = flags };
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        _cleanup_err_ struct err err = { 0 };

        if (proto_encode(&b, m, v, &options, &err) < 0)
                return value_of_literal("refused");
        return base64_of(a, &b);
}

static struct value keep(struct arena *a, const struct proto_message *m, struct str bytes)
{
        struct proto_options options = { .flags = PROTO_KEEP_UNKNOWN };
        const struct value *v;

        if (proto_decode(a, m, bytes, &options, &v, NULL) < 0)
                return value_of_literal("refused");
        return encode(a, m, v, PROTO_KEEP_UNKNOWN);
}

static struct value decode(struct arena *a, const struct proto_message *m, struct str bytes)
{
        _cleanup_err_ struct err err = { 0 };
        struct member members[2];
        const struct value *v;

        if (proto_decode(a, m, bytes, NULL, &v, &err) < 0)
                return value_of_literal("refused");
        members[0] = (struct member) { STR("bytes"), encode(a, m, v, 0) };
        members[1] = (struct member) { STR("json"), *v };
        return value_of_members(a, members, 2, true);
}

static struct value encode_text(struct arena *a, const struct proto_message *m, struct str text)
{
        const struct value *v;

        if (json_parse(a, text, NULL, &v, NULL) < 0)
                return value_of_literal("refused");
        return encode(a, m, v, 0);
}

static struct value run_item(struct arena *a, const struct proto_message *m, const struct value *item)
{
        const struct value *text = value_get(item, STR("json"));
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct object_builder result;
        struct str bytes;
        int r = base64_decode(&b, value_str(value_get(item, STR("bytes"))), BASE64_STD, NULL);

        assert(r == 0);
        bytes = arena_copy(a, buf_str(&b));
        if (value_bool(value_get(item, STR("keep")), false))
                return keep(a, m, bytes);
        object_builder_init(&result, a, 2);
        object_builder_add(&result, STR("decoded"), decode(a, m, bytes));
        if (text)
                object_builder_add(&result, STR("encoded"), encode_text(a, m, value_str(text)));
        return object_builder_finish(&result);
}

static struct value describe(struct arena *a, const struct proto_message *m);

static struct value describe_field(struct arena *a, const struct proto_field *f)
{
        struct object_builder b;

        object_builder_init(&b, a, 12);
        object_builder_add(&b, STR("number"), value_of_int(f->number));
        object_builder_add(&b, STR("name"), value_of_str(f->name));
        object_builder_add(&b, STR("json"), value_of_str(f->json_name));
        object_builder_add(&b, STR("type"), value_of_int(f->type));
        object_builder_add(&b, STR("repeated"), value_of_bool(f->is_repeated));
        object_builder_add(&b, STR("packed"), value_of_bool(f->is_packed));
        object_builder_add(&b, STR("presence"), value_of_bool(f->has_presence));
        object_builder_add(&b, STR("oneof"), f->oneof < 0 ? value_of_literal("") : value_of_int(f->oneof));
        if (f->message && f->message->kind == PROTO_KIND_MAP_ENTRY)
                object_builder_add(&b, STR("map"), describe(a, f->message));
        else if (f->message)
                object_builder_add(&b, STR("message"), value_of_str(f->message->name));
        if (f->enumeration) {
                struct array_builder values;

                array_builder_init(&values, a, f->enumeration->n_values);
                for (size_t i = 0; i < f->enumeration->n_values; i++) {
                        const struct proto_enum_value *v = &f->enumeration->values[i];

                        array_builder_add(&values,
                                          value_of_str(arena_printf(a, "%.*s=%d", STR_ARG(v->name), v->number)));
                }
                object_builder_add(&b, STR("enum"), array_builder_finish(&values));
        }
        return object_builder_finish(&b);
}

static struct value describe(struct arena *a, const struct proto_message *m)
{
        struct array_builder fields;

        array_builder_init(&fields, a, m->n_fields);
        for (size_t i = 0; i < m->n_fields; i++)
                if (m->fields[i].number < FIRST_OWN_NUMBER)
                        array_builder_add(&fields, describe_field(a, &m->fields[i]));
        return array_builder_finish(&fields);
}

const struct value *run_proto(struct arena *a, const struct value *c)
{
        const struct proto_message *m = find_message(value_str(value_get(c, STR("type"))));
        struct array_builder results;

        if (value_bool(value_get(c, STR("describe")), false))
                return value_put(a, describe(a, m));
        array_builder_init(&results, a, 0);
        VALUE_FOREACH_ITEM (item, value_get(c, STR("items")))
                array_builder_add(&results, run_item(a, m, item));
        return value_put(a, array_builder_finish(&results));
}
