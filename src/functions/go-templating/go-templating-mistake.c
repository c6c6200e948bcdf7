/* Details about a mistake in a template, which people see besides the error's own text: the place in the text that they wrote, and
 * the value that did not fit. Values of secrets are not shown. */
#include "go-templating.h"

#include "base64.h"
#include "buf.h"
#include "functions.h"
#include "json.h"
#include "limits.h"
#include "vec.h"

/* A shown value is cut to this many bytes. */
#define SHOWN_BYTES    200u
#define COMPARED_BYTES 1024u /* of a long text with a secret; more than is shown */

/* Secrets shorter than this hide only values that are equal to them. */
#define SECRET_PART_BYTES 4

#define HIDDEN STR("(hidden)")

/* --- Places --- */

void templating_add_part(struct templating *t, struct str path, struct str file, size_t n)
{
        struct templating_part *part = ARENA_NEW(t->arena, struct templating_part);

        *part = (struct templating_part) { .path = path, .file = file, .n = n };
        *(t->last_part ? &t->last_part->next : &t->parts) = part;
        t->last_part = part;
}

/* The part that has the offset of the whole text. Parts are joined with a separator; an offset in one belongs to the part before. */
static const struct templating_part *part_at(const struct templating *t, size_t offset, size_t *ret_start)
{
        const struct templating_part *part = t->parts;
        size_t start = 0;

        while (part && part->next && offset >= start + part->n + TEMPLATING_SEPARATOR.n) {
                start += part->n + TEMPLATING_SEPARATOR.n;
                part = part->next;
        }
        *ret_start = start;
        return part;
}

static bool set_place(const struct templating *t, struct str text, size_t offset, struct fn_mistake *ret)
{
        size_t start;
        const struct templating_part *part = part_at(t, offset, &start);

        if (!part)
                return false;
        ret->path = part->path;
        ret->file = part->file;
        ret->text = str_first(str_skip(text, start), part->n);
        ret->offset = MIN(offset - start, part->n);
        return true;
}

/* --- Secrets --- */

struct secrets {
        struct arena *arena;
        VEC(struct str) texts;
};

static void add_secret(struct secrets *s, struct str text)
{
        if (text.n > 0)
                vec_push(&s->texts, text);
}

static void add_bytes(struct secrets *s, const struct fn_bytes_map *map)
{
        for (size_t i = 0; i < map->n; i++) {
                _cleanup_buf_ struct buf b = BUF_INIT(0);

                base64_encode(&b, map->p[i].bytes, BASE64_STD);
                add_secret(s, map->p[i].bytes);
                add_secret(s, buf_to_arena(&b, s->arena));
        }
}

static bool is_secret_object(const struct value *v)
{
        return str_equal(value_str(value_get(v, STR("kind"))), STR("Secret"));
}

static void add_object(struct secrets *s, struct fn_struct *object)
{
        const struct value *v = NULL;

        if (fn_struct_value(s->arena, object, &v, NULL) < 0 || !is_secret_object(v))
                return;
        VALUE_FOREACH_MEMBER (m, value_get(v, STR("data"))) {
                _cleanup_buf_ struct buf b = BUF_INIT(0);

                add_secret(s, value_str(&m->value));
                if (base64_decode_any(&b, value_str(&m->value), NULL) >= 0)
                        add_secret(s, buf_to_arena(&b, s->arena));
        }
        VALUE_FOREACH_MEMBER (m, value_get(v, STR("stringData")))
                add_secret(s, value_str(&m->value));
}

static void add_resources(struct secrets *s, const struct fn_resource *resources, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                struct fn_struct object = resources[i].object;

                add_bytes(s, &resources[i].connection);
                add_object(s, &object);
        }
}

static void add_map(struct secrets *s, const struct fn_resources_map *map)
{
        for (size_t i = 0; i < map->n; i++)
                add_resources(s, map->p[i].items, map->p[i].n_items);
}

static void add_state(struct secrets *s, const struct fn_state *state)
{
        if (state->has_composite)
                add_resources(s, &state->composite, 1);
        add_resources(s, state->resources, state->n_resources);
}

static void collect_secrets(struct secrets *s, const struct fn_request *req)
{
        add_state(s, &req->observed);
        add_state(s, &req->desired);
        add_map(s, &req->extra_resources);
        add_map(s, &req->required_resources);
        for (size_t i = 0; i < req->n_credentials; i++)
                add_bytes(s, &req->credentials[i].data);
}

static struct str front(struct str text)
{
        return str_first(text, MIN(text.n, COMPARED_BYTES));
}

/* True if the text is a secret, contains one or is a part of one. Only the front of a long text is shown, and compared. */
static bool tells_secret(const struct secrets *s, struct str text)
{
        for (size_t i = 0; i < s->texts.n; i++) {
                struct str secret = s->texts.p[i];

                if (str_equal(secret, text))
                        return true;
                if (secret.n >= SECRET_PART_BYTES && text.n >= SECRET_PART_BYTES &&
                    (str_find(str_first(text, MIN(text.n, 4 * COMPARED_BYTES)), front(secret)) >= 0 ||
                     str_find(secret, front(text)) >= 0))
                        return true;
        }
        return false;
}

/* --- Values --- */

static void append_string(const struct secrets *s, struct str text, struct buf *b)
{
        json_write_string(b, tells_secret(s, text) ? HIDDEN : front(text), 0);
}

/* Appends the value as JSON; stops after the bytes that are shown. */
static void append_json(const struct secrets *s, const struct value *v, struct buf *b)
{
        _cleanup_buf_ struct buf number = BUF_INIT(0);
        bool is_first = true;

        if (b->n > SHOWN_BYTES)
                return;
        if (value_is_object(v)) {
                buf_append_char(b, '{');
                VALUE_FOREACH_MEMBER (m, v) {
                        if (b->n > SHOWN_BYTES)
                                return;
                        buf_append_str(b, is_first ? STR("") : STR(","));
                        append_string(s, m->key, b);
                        buf_append_char(b, ':');
                        append_json(s, &m->value, b);
                        is_first = false;
                }
                buf_append_char(b, '}');
        } else if (value_is_array(v)) {
                buf_append_char(b, '[');
                VALUE_FOREACH_ITEM (item, v) {
                        if (b->n > SHOWN_BYTES)
                                return;
                        buf_append_str(b, is_first ? STR("") : STR(","));
                        append_json(s, item, b);
                        is_first = false;
                }
                buf_append_char(b, ']');
        } else if (value_is_string(v)) {
                append_string(s, value_str(v), b);
        } else {
                json_write(&number, v, 0, NULL);
                buf_append_str(b, value_is_number(v) && tells_secret(s, buf_str(&number)) ? HIDDEN : buf_str(&number));
        }
}

/* Appends the value, or its type where JSON has no form for it. */
static void append_value(struct gt_context *c, const struct secrets *s, struct gt_value v, struct buf *b)
{
        struct value plain;

        if (v.type == GT_NONE)
                buf_append_literal(b, "missing");
        else if (v.type == GT_BYTES || v.type == GT_BYTES_MAP)
                buf_append_str(b, HIDDEN);
        else if (gt_to_value(c, v, &plain, NULL) < 0)
                buf_appendf(b, "a %.*s", STR_ARG(gt_type_name(v)));
        else
                append_json(s, &plain, b);
}

/* Cuts a long value at the end of a character. */
static struct str shown(struct arena *a, struct str text)
{
        size_t n = SHOWN_BYTES;

        if (text.n <= n)
                return text;
        while (n > 0 && ((unsigned char)text.p[n] & 0xC0) == 0x80)
                n--;
        return ARENA_CONCAT(a, str_first(text, n), STR("..."));
}

static struct str describe(struct templating *t, struct gt_context *c)
{
        struct secrets s = { .arena = t->arena };
        const struct gt_mistake *m = &c->mistake;
        _cleanup_buf_ struct buf all = BUF_INIT(0);
        _cleanup_err_ struct err ignored = { 0 };

        c->err = &ignored;
        collect_secrets(&s, t->req);
        for (size_t i = 0; i < m->n_values; i++) {
                _cleanup_buf_ struct buf one = BUF_INIT(0);

                append_value(c, &s, m->values[i], &one);
                buf_appendf(&all, "%s%.*s", i ? ", " : "", STR_ARG(shown(t->arena, buf_str(&one))));
        }
        vec_done(&s.texts);
        return buf_to_arena(&all, t->arena);
}

void templating_note_mistake(struct templating *t, struct gt_context *c, struct str text, size_t offset)
{
        struct fn_mistake *m = ARENA_NEW(t->arena, struct fn_mistake);

        if (!set_place(t, text, offset, m))
                return;
        m->is_call = c && c->mistake.is_call;
        if (c && c->mistake.n_values > 0)
                m->value = describe(t, c);
        t->mistake = m;
}

/* --- From the words of a function that ran elsewhere --- */

static bool take_number(struct str *s, size_t *ret)
{
        size_t n = 0, i = 0;

        for (; i < s->n && s->p[i] >= '0' && s->p[i] <= '9' && n < 100000000; i++)
                n = n * 10 + (size_t)(s->p[i] - '0');
        *s = str_skip(*s, i);
        *ret = n;
        return i > 0;
}

/* The offset of the last place in the message: the message of an including template contains that of the included one. */
static bool find_offset(struct str message, struct str text, size_t *ret)
{
        static const struct str mark = STR_INIT("template: manifests:");
        bool is_found = false;

        for (ptrdiff_t at = str_find(message, mark); at >= 0; at = str_find(message, mark)) {
                size_t line, column = 0, start = 0;

                message = str_skip(message, (size_t)at + mark.n);
                if (!take_number(&message, &line))
                        continue;
                if (str_cut_prefix(&message, STR(":")))
                        take_number(&message, &column);
                for (; line > 1 && start < text.n; line--) {
                        ptrdiff_t end = str_find_char(str_skip(text, start), '\n');

                        start = end < 0 ? text.n : start + (size_t)end + 1;
                }
                *ret = MIN(start + column, text.n);
                is_found = true;
        }
        return is_found;
}

bool functions_find_mistake(struct arena *a, const struct value *input, struct str message, struct fn_mistake *ret)
{
        struct run run = { .arena = a, .deadline = DEADLINE_NONE };
        struct fn_request req = { .input = { .value = input } };
        struct templating t = { .run = &run, .arena = a, .req = &req };
        struct str text;
        size_t offset;

        *ret = (struct fn_mistake) { 0 };
        return value_is_object(input) && templating_read_input(&t, NULL) >= 0 &&
               str_equal(t.input.source, STR("Inline")) && templating_source(&t, &text, NULL) >= 0 &&
               find_offset(message, text, &offset) && set_place(&t, text, offset, ret);
}
