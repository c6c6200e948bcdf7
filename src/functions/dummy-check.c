/* Checks a value as Go's protojson reads its text, to give the same errors: members in the order of the text, and positions in the
 * text. The check writes the text as it proceeds, so that the length of the written text is the position of the next token. */
#include "dummy.h"

#include "base64.h"
#include "buf.h"
#include "json.h"
#include "proto-tables.h"
#include "proto-time.h"
#include "utf8.h"

struct checker {
        struct arena *arena;
        struct buf text; /* the text before the current token */
        struct err *err;
};

static int check_message(struct checker *c, const struct proto_message *m, const struct value *v);

/* The first token of the value. */
static struct str token(struct checker *c, const struct value *v)
{
        struct str text = STR("");

        if (value_is_object(v))
                return STR("{");
        if (value_is_array(v))
                return STR("[");
        json_to_str(c->arena, v, JSON_RAW_SEPARATORS, &text, NULL);
        return text;
}

static size_t column(const struct checker *c)
{
        return utf8_count(buf_str(&c->text)) + 1;
}

static int fail_token(struct checker *c, const struct value *v)
{
        return err_set(c->err, ERR_INVALID, "syntax error (line 1:%zu): unexpected token %.*s", column(c),
                       STR_ARG(token(c, v)));
}

static int fail_value(struct checker *c, const char *type, const struct proto_field *f, const struct value *v)
{
        return err_set(c->err, ERR_INVALID, "(line 1:%zu): invalid value for %s field %.*s: %.*s", column(c), type,
                       STR_ARG(f->json_name), STR_ARG(token(c, v)));
}

/* --- Scalars --- */

static int check_bytes(struct checker *c, const struct proto_field *f, const struct value *v)
{
        _cleanup_buf_ struct buf bytes = BUF_INIT(0);

        if (!value_is_string(v) || base64_decode_any(&bytes, value_str(v), NULL) < 0)
                return fail_value(c, "bytes", f, v);
        return 0;
}

static int check_enum(struct checker *c, const struct proto_field *f, const struct value *v)
{
        double d = value_double(v, 0);

        if (value_is_number(v) && d >= INT32_MIN && d <= INT32_MAX && d == (double)(int32_t)d)
                return 0;
        for (size_t i = 0; value_is_string(v) && i < f->enumeration->n_values; i++)
                if (str_equal(f->enumeration->values[i].name, value_str(v)))
                        return 0;
        return fail_value(c, "enum", f, v);
}

static int check_duration(struct checker *c, const struct value *v)
{
        struct proto_time t;
        const char *problem;

        if (!value_is_string(v))
                return fail_token(c, v);
        problem = proto_time_parse(PROTO_KIND_DURATION, value_str(v), &t);
        if (!problem)
                return 0;
        if (str_ends_with(str_from(problem), STR("out of range")))
                return err_set(c->err, ERR_INVALID, "(line 1:%zu): google.protobuf.Duration value out of range: %.*s",
                               column(c), STR_ARG(token(c, v)));
        return err_set(c->err, ERR_INVALID, "(line 1:%zu): invalid google.protobuf.Duration value %.*s", column(c),
                       STR_ARG(token(c, v)));
}

/* Checks one value of a field and writes it when it is valid. A response has no numbers and bools of its own. */
static int check_one(struct checker *c, const struct proto_field *f, const struct value *v)
{
        int r = 0;

        if (f->type == PROTO_MESSAGE && f->message->kind == PROTO_KIND_PLAIN)
                return check_message(c, f->message, v);
        if (f->type == PROTO_MESSAGE && f->message->kind == PROTO_KIND_DURATION)
                r = check_duration(c, v);
        else if (f->type == PROTO_MESSAGE)
                r = value_is_object(v) ? 0 : fail_token(c, v);
        else if (f->type == PROTO_STRING)
                r = value_is_string(v) ? 0 : fail_value(c, "string", f, v);
        else if (f->type == PROTO_BYTES)
                r = check_bytes(c, f, v);
        else if (f->type == PROTO_ENUM)
                r = check_enum(c, f, v);
        return r < 0 ? r : json_write(&c->text, v, JSON_SORT_KEYS | JSON_RAW_SEPARATORS, c->err);
}

/* --- Containers --- */

static int check_list(struct checker *c, const struct proto_field *f, const struct value *v)
{
        bool is_first = true;

        if (!value_is_array(v))
                return fail_token(c, v);
        buf_append_char(&c->text, '[');
        VALUE_FOREACH_ITEM (item, v) {
                int r;

                if (!is_first)
                        buf_append_char(&c->text, ',');
                is_first = false;
                r = check_one(c, f, item);
                if (r < 0)
                        return r;
        }
        buf_append_char(&c->text, ']');
        return 0;
}

static void write_key(struct checker *c, struct str key)
{
        json_write_string(&c->text, key, JSON_RAW_SEPARATORS);
        buf_append_char(&c->text, ':');
}

static int check_map(struct checker *c, const struct proto_field *f, const struct value *v)
{
        const struct proto_field *value_field = proto_field_by_number(f->message, 2);
        bool is_first = true;

        if (!value_is_object(v))
                return fail_token(c, v);
        buf_append_char(&c->text, '{');
        v = value_sorted(c->arena, v);
        VALUE_FOREACH_MEMBER (m, v) {
                int r;

                if (!is_first)
                        buf_append_char(&c->text, ',');
                is_first = false;
                write_key(c, m->key);
                r = check_one(c, value_field, &m->value);
                if (r < 0)
                        return r;
        }
        buf_append_char(&c->text, '}');
        return 0;
}

/* --- Messages --- */

/* The fields that were read in one message. */
struct met {
        const struct proto_message *message;
        const struct value *object;
        uint32_t numbers; /* bit n: field n */
        bool has_oneof;
};

/* The upstream function uses a protocol version with only one member of requirements: resources. */
static const struct proto_field *find_field(const struct proto_message *m, struct str key)
{
        if (m == &proto_fn_v1_Requirements && !str_equal(key, STR("resources")))
                return NULL;
        return proto_field_by_name(m, key);
}

static int fail_member(struct checker *c, const char *problem, struct str key)
{
        size_t at = column(c);

        buf_clear(&c->text);
        json_write_string(&c->text, key, JSON_RAW_SEPARATORS);
        return err_set(c->err, ERR_INVALID, "(line 1:%zu): %s %.*s", at, problem, STR_ARG(buf_str(&c->text)));
}

static int check_member(struct checker *c, struct met *met, const struct member *m)
{
        const struct proto_field *f = find_field(met->message, m->key);
        uint32_t bit = f && f->number < 32 ? 1u << f->number : 0;

        if (!f)
                return fail_member(c, "unknown field", m->key);
        if (met->numbers & bit)
                return fail_member(c, "duplicate field", m->key);
        met->numbers |= bit;
        if (value_is_null(&m->value)) {
                write_key(c, m->key);
                return json_write(&c->text, &m->value, 0, c->err);
        }
        if (f->oneof >= 0 && met->has_oneof)
                return err_set(c->err, ERR_INVALID,
                               "(line 1:%zu): error parsing \"%.*s\", oneof %.*s.match is already set", column(c),
                               STR_ARG(m->key), STR_ARG(met->message->name));
        met->has_oneof |= f->oneof >= 0;
        write_key(c, m->key);
        if (f->is_repeated && f->message && f->message->kind == PROTO_KIND_MAP_ENTRY)
                return check_map(c, f, &m->value);
        return f->is_repeated ? check_list(c, f, &m->value) : check_one(c, f, &m->value);
}

static int check_message(struct checker *c, const struct proto_message *m, const struct value *v)
{
        struct met met = { .message = m, .object = v };
        bool is_first = true;

        if (!value_is_object(v))
                return fail_token(c, v);
        buf_append_char(&c->text, '{');
        v = value_sorted(c->arena, v);
        VALUE_FOREACH_MEMBER (member, v) {
                int r;

                if (!is_first)
                        buf_append_char(&c->text, ',');
                is_first = false;
                r = check_member(c, &met, member);
                if (r < 0)
                        return r;
        }
        buf_append_char(&c->text, '}');
        return 0;
}

int dummy_check(struct arena *a, const struct value *response, struct err *err)
{
        struct checker c = { .arena = a, .text = BUF_INIT(0), .err = err };
        int r = check_message(&c, &proto_fn_v1_RunFunctionResponse, response);

        buf_done(&c.text);
        return r;
}
