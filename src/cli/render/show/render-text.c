#include "render-text.h"

#include "buf.h"
#include "json.h"
#include "path.h"
#include "utf8.h"
#include "vec.h"
#include "yaml.h"

#define MAX_TEXT_BYTES 100 /* of a value on one line, and of a string in a block */

void render_append_name(struct buf *b, const struct value *object)
{
        struct str ns = meta_namespace(object);

        buf_appendf(b, "%.*s/%.*s", STR_ARG(gvk_of(object).kind), STR_ARG(meta_name(object)));
        if (ns.n)
                buf_appendf(b, " (%.*s)", STR_ARG(ns));
}

/* --- Values --- */

/* The part of the text that is shown. */
static struct str cut(struct str text)
{
        struct str head = str_first(text, MAX_TEXT_BYTES);

        return text.n <= MAX_TEXT_BYTES ? text : str_first(head, utf8_valid_prefix(head));
}

static void append_cut(struct buf *b, struct str text)
{
        buf_append_str(b, cut(text));
        if (text.n > MAX_TEXT_BYTES)
                buf_appendf(b, "... (%zu bytes)", text.n);
}

/* Appends the string as YAML writes it if that fits on one line, otherwise as JSON. */
static void append_text(struct buf *b, const struct value *v)
{
        _cleanup_buf_ struct buf yaml = BUF_INIT(0);
        struct str text;

        if (v->n <= MAX_TEXT_BYTES && yaml_write(&yaml, v, 0, NULL) >= 0) {
                text = buf_str(&yaml);
                str_cut_suffix(&text, STR("\n"));
                if (str_find_char(text, '\n') < 0) {
                        buf_append_str(b, text);
                        return;
                }
        }
        json_write_string(b, cut(value_str(v)), 0);
        if (v->n > MAX_TEXT_BYTES)
                buf_appendf(b, "... (%u bytes)", v->n);
}

void render_append_value(struct arena *a, struct buf *b, const struct value *v)
{
        _cleanup_buf_ struct buf json = BUF_INIT(0);

        if (!v) {
                buf_append_literal(b, "nothing");
        } else if (value_is_string(v)) {
                append_text(b, v);
        } else {
                json_write(&json, v, JSON_SORT_KEYS, NULL);
                append_cut(b, buf_str(&json));
        }
}

static struct value shortened(struct arena *a, const struct value *v)
{
        _cleanup_buf_ struct buf text = BUF_INIT(0);
        struct object_builder object;
        struct array_builder array;

        switch (value_type(v)) {
        case VALUE_NULL:
        case VALUE_BOOL:
        case VALUE_INT:
        case VALUE_DOUBLE:
                return *v;
        case VALUE_STRING:
                if (v->n <= MAX_TEXT_BYTES)
                        return *v;
                append_cut(&text, value_str(v));
                return value_of_str(buf_to_arena(&text, a));
        case VALUE_ARRAY:
                array_builder_init(&array, a, v->n);
                VALUE_FOREACH_ITEM (item, v)
                        array_builder_add(&array, shortened(a, item));
                return array_builder_finish(&array);
        case VALUE_OBJECT:
                break;
        }
        object_builder_init(&object, a, v->n);
        VALUE_FOREACH_MEMBER (m, v)
                object_builder_add(&object, m->key, shortened(a, &m->value));
        return object_builder_finish(&object);
}

int render_append_block(struct arena *a, struct buf *b, const struct value *v, size_t indent, struct err *err)
{
        _cleanup_buf_ struct buf yaml = BUF_INIT(0);
        struct str rest, line;
        int r = yaml_write(&yaml, value_put(a, shortened(a, v)), 0, err);

        if (r < 0)
                return r;
        rest = buf_str(&yaml);
        while (str_split(&rest, '\n', &line)) {
                buf_append_repeat(b, ' ', indent);
                buf_append_str(b, line);
                buf_append_char(b, '\n');
        }
        return 0;
}

/* --- Pointers --- */

bool render_pointer_next(struct arena *a, struct str *pointer, struct str *ret)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        size_t i = 1;

        if (pointer->n == 0)
                return false;
        for (; i < pointer->n && pointer->p[i] != '/'; i++) {
                char c = pointer->p[i];

                if (c == '~' && i + 1 < pointer->n)
                        c = pointer->p[++i] == '1' ? '/' : '~';
                buf_append_char(&b, c);
        }
        *pointer = str_skip(*pointer, i);
        *ret = buf_to_arena(&b, a);
        return true;
}

static bool is_index(struct str s, uint32_t *ret)
{
        uint64_t number = 0;

        if (s.n == 0 || s.n > 9)
                return false;
        for (size_t i = 0; i < s.n; i++) {
                if (s.p[i] < '0' || s.p[i] > '9')
                        return false;
                number = 10 * number + (uint64_t)(s.p[i] - '0');
        }
        *ret = (uint32_t)number;
        return true;
}

void render_append_pointer(struct arena *a, struct buf *b, struct str pointer)
{
        VEC(struct path_segment) segments = { 0 };
        struct str key;

        while (render_pointer_next(a, &pointer, &key)) {
                struct path_segment segment = { .key = key };

                segment.is_index = is_index(key, &segment.index);
                vec_push(&segments, segment);
        }
        path_append(b, &(struct path) { segments.p, segments.n });
        vec_done(&segments);
}
