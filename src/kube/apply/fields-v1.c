/* fieldsV1: the wire form of field sets.
 *
 *      {"f:spec": {"f:size": {}, "f:list": {"k:{\"name\":\"a\"}": {".": {}, "f:image": {}}, "v:1": {}, "i:3": {}}}}
 *
 * A node without content is a member; a node with content is a member only if it also has ".". The value of "." is ignored.
 * The texts after k: and v: are JSON. Text after the JSON value is ignored, as upstream does. */
#include "field-trie.h"

#include "buf.h"
#include "json.h"
#include "limits.h"
#include "number.h"

struct decoder {
        struct arena *arena;
        struct field_stack stack;
        struct err *err;
};

/* --- Reading --- */

static int refuse_type(struct decoder *d, const struct value *v, const char *callback)
{
        _cleanup_buf_ struct buf text = BUF_INIT(0);

        if (json_write(&text, v, 0, NULL) < 0 || text.n == 0)
                buf_append_char(&text, ' ');
        return err_set(d->err, ERR_INVALID, "%s: expect { or n, but found %c", callback, text.p[0]);
}

static int compare_key_fields(const void *a, const void *b)
{
        const struct member *x = a, *y = b;

        return str_compare(x->key, y->key);
}

static int decode_key(struct decoder *d, struct str text, struct path_element *ret)
{
        const struct value *v;
        struct member *fields;
        size_t used;
        int r;

        r = json_parse_next(d->arena, text, NULL, &v, &used, d->err);
        if (r < 0)
                return r;
        if (!value_is_object(v) && !value_is_null(v))
                return refuse_type(d, v, "ReadObjectCB");
        fields = ARENA_NEW_ARRAY(d->arena, struct member, value_count(v));
        for (size_t i = 0; i < value_count(v); i++)
                fields[i] = (struct member) { v->members[i].key,
                                              *path_element_of_value(d->arena, &v->members[i].value).value };
        if (value_count(v) > 1)
                qsort(fields, value_count(v), sizeof(*fields), compare_key_fields);
        *ret = (struct path_element) { .type = ELEMENT_KEY, .n = (uint32_t)value_count(v), .key = fields };
        return 0;
}

static int decode_value(struct decoder *d, struct str text, struct path_element *ret)
{
        const struct value *v;
        size_t used;
        int r;

        r = json_parse_next(d->arena, text, NULL, &v, &used, d->err);
        if (r >= 0)
                *ret = path_element_of_value(d->arena, v);
        return r;
}

static int decode_index(struct decoder *d, struct str text, struct path_element *ret)
{
        const char *why = "invalid syntax";
        int64_t index;
        int r;

        r = number_parse_int(text, &index, NULL);
        if (r < 0) {
                if (r == ERR_LIMIT)
                        why = "value out of range";
                return err_set(d->err, ERR_INVALID, "strconv.Atoi: parsing \"%.*s\": %s", STR_ARG(text), why);
        }
        *ret = (struct path_element) { .type = ELEMENT_INDEX, .index = index };
        return 0;
}

/* 1 with the element, 0 for an unknown prefix, or an error. */
static int decode_element(struct decoder *d, struct str key, struct path_element *ret)
{
        int r;

        if (key.n < 2)
                r = err_set(d->err, ERR_INVALID, "key must be 2 characters long:");
        else if (key.p[1] != ':')
                r = err_set(d->err, ERR_INVALID, "missing colon: %.*s", STR_ARG(key));
        else
                switch (key.p[0]) {
                case 'f':
                        *ret = path_element_field(str_skip(key, 2));
                        return 1;
                case 'k':
                        r = decode_key(d, str_skip(key, 2), ret);
                        break;
                case 'v':
                        r = decode_value(d, str_skip(key, 2), ret);
                        break;
                case 'i':
                        r = decode_index(d, str_skip(key, 2), ret);
                        break;
                default:
                        return 0;
                }
        if (r < 0)
                return err_wrap(d->err, "parsing key as path element");
        return 1;
}

static int decode(struct decoder *d, const struct value *fields, unsigned depth, bool *ret_is_member,
                  const struct field_set **ret)
{
        size_t mark = d->stack.n;
        int r;

        if (!value_is_object(fields) && !value_is_null(fields))
                return refuse_type(d, fields, "ReadMapCB");
        if (depth > LIMIT_DEPTH)
                return err_set(d->err, ERR_LIMIT, "fieldsV1 is nested deeper than %d levels", LIMIT_DEPTH);
        VALUE_FOREACH_MEMBER (m, fields) {
                const struct field_set *below = NULL;
                struct path_element e;
                bool is_member;

                if (m->key.n == 1 && m->key.p[0] == '.') {
                        *ret_is_member = true;
                        continue;
                }
                r = decode_element(d, m->key, &e);
                if (r < 0)
                        return r;
                if (r == 0)
                        continue;
                is_member = false;
                if (value_count(&m->value) > 0 || !value_is_object(&m->value)) {
                        r = decode(d, &m->value, depth + 1, &is_member, &below);
                        if (r < 0)
                                return r;
                }
                field_stack_push(&d->stack, e, is_member || !below, below);
        }
        *ret = field_stack_take(&d->stack, d->arena, mark);
        return 0;
}

int field_set_decode(struct arena *a, const struct value *fields, const struct field_set **ret, struct err *err)
{
        struct decoder d = { .arena = a, .err = err };
        const struct field_set *set = NULL;
        bool is_member;
        int r;

        r = decode(&d, fields, 1, &is_member, &set);
        if (r >= 0)
                r = arena_check(a, err);
        field_stack_done(&d.stack);
        if (r < 0)
                return r;
        *ret = set;
        return 0;
}

/* --- Writing --- */

/* Writes JSON like upstream's library: exponents have at least two digits. */
static void append_json(struct buf *b, const struct value *v)
{
        double size;

        switch (value_type(v)) {
        case VALUE_DOUBLE:
                size = v->number < 0 ? -v->number : v->number;
                number_append_go(b, v->number, size != 0 && (size < 1e-6 || size >= 1e21) ? 'e' : 'f', -1);
                break;
        case VALUE_ARRAY:
                buf_append_char(b, '[');
                for (size_t i = 0; i < v->n; i++) {
                        if (i > 0)
                                buf_append_char(b, ',');
                        append_json(b, &v->items[i]);
                }
                buf_append_char(b, ']');
                break;
        case VALUE_OBJECT:
                buf_append_char(b, '{');
                for (size_t i = 0; i < v->n; i++) {
                        if (i > 0)
                                buf_append_char(b, ',');
                        json_write_string(b, v->members[i].key, JSON_GO);
                        buf_append_char(b, ':');
                        append_json(b, &v->members[i].value);
                }
                buf_append_char(b, '}');
                break;
        case VALUE_STRING:
                json_write_string(b, value_str(v), JSON_GO);
                break;
        case VALUE_NULL:
        case VALUE_BOOL:
        case VALUE_INT:
                (void)json_write(b, v, 0, NULL);
                break;
        }
}

static struct str element_key(struct arena *a, struct buf *scratch, const struct path_element *e)
{
        struct value key;
        char *p;

        buf_clear(scratch);
        switch ((enum path_element_type)e->type) {
        case ELEMENT_FIELD:
                p = arena_alloc_aligned(a, e->n + 2, 1);
                p[0] = 'f';
                p[1] = ':';
                if (e->n > 0)
                        memcpy(p + 2, e->name, e->n);
                return str_make(p, e->n + 2);
        case ELEMENT_KEY:
                buf_append_literal(scratch, "k:");
                key = (struct value) { .type = VALUE_OBJECT, .n = e->n, .members = e->key };
                append_json(scratch, &key);
                break;
        case ELEMENT_VALUE:
                buf_append_literal(scratch, "v:");
                append_json(scratch, e->value);
                break;
        case ELEMENT_INDEX:
                buf_append_literal(scratch, "i:");
                buf_append_int(scratch, e->index);
                break;
        }
        return arena_copy(a, buf_str(scratch));
}

static struct value encode(struct arena *a, struct buf *scratch, const struct field_set *s, bool is_member)
{
        struct object_builder b;
        struct value v;

        if (!s)
                return value_empty_object;
        object_builder_init(&b, a, s->n + is_member);
        if (is_member)
                object_builder_add(&b, STR("."), value_empty_object);
        for (size_t i = 0; i < s->n; i++) {
                const struct field_node *node = &s->nodes[i];
                struct str key = element_key(a, scratch, &node->element);

                object_builder_add(&b, key, encode(a, scratch, node->below, node->is_member));
        }
        v = object_builder_finish(&b);
        return *value_sorted(a, &v);
}

struct value field_set_encode(struct arena *a, const struct field_set *s)
{
        _cleanup_buf_ struct buf scratch = BUF_INIT(0);

        return encode(a, &scratch, s, false);
}
