/* Parsing, printing, reading and editing by field path.
 *
 *     path  = [ field ] { "." field | "[" inner "]" [ field ] }
 *     field = one or more bytes other than "." "[" "]"
 *     inner = one or more bytes other than "[" "]"
 *
 * A field is always a key. An inner text is an index if all of it is a decimal number of 32 bits, otherwise a key. All quotes
 * around a key, of either kind, are cut off. `*` is an ordinary key except in path_expand. */
#include "path.h"

#include "buf.h"
#include "gotext.h"
#include "limits.h"
#include "utf8.h"

/* Parsing */

/* Paths of up to this many segments that are used at once are parsed without an allocation. */
#define USUAL_SEGMENTS 8

struct parser {
        struct str text;
        size_t at;
        struct arena *arena;
        struct path_segment *segments;
        size_t n;
        size_t capacity;
};

static inline void add_segment(struct parser *p, struct path_segment segment)
{
        if (UNLIKELY(p->n == p->capacity)) {
                size_t grown = p->capacity ? p->capacity * 2 : USUAL_SEGMENTS;
                struct path_segment *segments = arena_alloc(p->arena, grown * sizeof(*segments));

                if (p->n)
                        memcpy(segments, p->segments, p->n * sizeof(*segments));
                p->segments = segments;
                p->capacity = grown;
        }
        p->segments[p->n++] = segment;
}

static inline bool is_quote(char c)
{
        return c == '\'' || c == '"';
}

static inline struct str cut_quotes(struct str s)
{
        while (s.n && is_quote(s.p[0]))
                s = str_skip(s, 1);
        while (s.n && is_quote(s.p[s.n - 1]))
                s.n--;
        return s;
}

static bool parse_index(struct str s, uint32_t *ret)
{
        uint64_t index = 0;

        for (size_t i = 0; i < s.n; i++) {
                if (s.p[i] < '0' || s.p[i] > '9')
                        return false;
                index = index * 10 + (uint64_t)(s.p[i] - '0');
                if (index > UINT32_MAX)
                        return false;
        }
        *ret = (uint32_t)index;
        return true;
}

static int unexpected(char c, size_t at, struct err *err)
{
        return err_set(err, ERR_INVALID, "unexpected '%c' at position %zu", c, at);
}

static inline bool is_structure(char c)
{
        static const bool table[256] = { ['.'] = true, ['['] = true, [']'] = true };

        return table[(uint8_t)c];
}

static void parse_field(struct parser *p)
{
        const char *start = p->text.p + p->at, *c = start, *end = p->text.p + p->text.n;

        while (c < end && !is_structure(*c))
                c++;
        p->at = (size_t)(c - p->text.p);
        add_segment(p, (struct path_segment) { .key = cut_quotes(str_make(start, (size_t)(c - start))) });
}

/* The dot must have a field after it and something before it. */
static int parse_dot(struct parser *p, struct err *err)
{
        size_t dot = p->at++;

        if (dot == 0 || p->at == p->text.n)
                return unexpected('.', dot, err);
        if (is_structure(p->text.p[p->at]))
                return unexpected(p->text.p[p->at], p->at, err);
        parse_field(p);
        return 0;
}

static int parse_bracket(struct parser *p, struct err *err)
{
        size_t open = p->at++, start = p->at;
        struct path_segment segment = { 0 };
        struct str inner;

        if (str_find_char(str_skip(p->text, start), ']') < 0)
                return err_set(err, ERR_INVALID, "unterminated '[' at position %zu", open);
        while (p->text.p[p->at] != '[' && p->text.p[p->at] != ']')
                p->at++;
        if (p->text.p[p->at] == '[' || p->at == start)
                return unexpected(p->text.p[p->at], p->at, err);
        inner = str_make(p->text.p + start, p->at - start);
        p->at++;
        segment.is_index = parse_index(inner, &segment.index);
        if (!segment.is_index)
                segment.key = cut_quotes(inner);
        add_segment(p, segment);
        return 0;
}

static int parse_next(struct parser *p, struct err *err)
{
        switch (p->text.p[p->at]) {
        case '.':
                return parse_dot(p, err);
        case '[':
                return parse_bracket(p, err);
        case ']':
                return unexpected(']', p->at, err);
        default:
                parse_field(p);
                return 0;
        }
}

static int parse_all(struct parser *p, struct path *ret, struct err *err)
{
        int r;

        if (p->text.n > LIMIT_PATH_BYTES)
                return err_set(err, ERR_LIMIT, "path is longer than the limit of %u bytes", LIMIT_PATH_BYTES);
        while (p->at < p->text.n) {
                r = parse_next(p, err);
                if (r < 0)
                        return r;
        }
        *ret = (struct path) { .segments = p->segments, .n = p->n };
        return 0;
}

int path_parse(struct arena *a, struct str text, struct path *ret, struct err *err)
{
        struct parser p = { .text = text, .arena = a };

        return parse_all(&p, ret, err);
}

/* As path_parse, with the error prefix of the public calls. The segments may be in `room`. */
static int parse(struct arena *a, struct str text, struct path_segment room[USUAL_SEGMENTS], struct path *ret,
                 struct err *err)
{
        struct parser p = { .text = text, .arena = a, .segments = room, .capacity = USUAL_SEGMENTS };
        int r = parse_all(&p, ret, err);

        if (r == ERR_INVALID && err) {
                struct str quoted = go_quote(a, text);

                err_wrap(err, "cannot parse path %.*s", STR_ARG(quoted));
        }
        return r;
}

/* Printing */

static void append_segment(struct buf *b, const struct path_segment *s, bool is_first)
{
        if (s->is_index) {
                buf_append_char(b, '[');
                buf_append_uint(b, s->index);
                buf_append_char(b, ']');
        } else if (str_equal(s->key, STR("*")) || str_find_char(s->key, '.') >= 0) {
                buf_append_char(b, '[');
                buf_append_str(b, s->key);
                buf_append_char(b, ']');
        } else {
                if (!is_first)
                        buf_append_char(b, '.');
                buf_append_str(b, s->key);
        }
}

void path_append(struct buf *b, const struct path *path)
{
        for (size_t i = 0; i < path->n; i++)
                append_segment(b, &path->segments[i], i == 0);
}

/* The first n segments as text, for messages. */
static struct str print(struct arena *a, const struct path_segment *segments, size_t n)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        path_append(&b, &(struct path) { .segments = segments, .n = n });
        return buf_to_arena(&b, a);
}

/* err_set(err, code, "PREFIX<text>") with the first n segments as prefix; the path is not printed if err is NULL. */
static int fail_at(struct arena *scratch, const struct path *path, size_t n, int code, const char *text,
                   struct err *err)
{
        struct str prefix;

        if (!err)
                return code;
        prefix = print(scratch, path->segments, n);
        return err_set(err, code, "%.*s%s", STR_ARG(prefix), text);
}

/* Reading */

/* The child of v that segment i of the path names. */
static int step(struct arena *scratch, const struct path *path, size_t i, const struct value *v,
                const struct value **ret, struct err *err)
{
        const struct path_segment *s = &path->segments[i];

        if (s->is_index) {
                if (!value_is_array(v))
                        return fail_at(scratch, path, i, ERR_INVALID, ": not an array", err);
                *ret = value_item(v, s->index);
                if (!*ret)
                        return fail_at(scratch, path, i + 1, ERR_NOT_FOUND, ": no such element", err);
                return 0;
        }
        if (value_is_null(v))
                return fail_at(scratch, path, i, ERR_NOT_FOUND, ": expected map, got nil", err);
        if (!value_is_object(v))
                return fail_at(scratch, path, i, ERR_INVALID, ": not an object", err);
        *ret = value_get(v, s->key);
        if (!*ret)
                return fail_at(scratch, path, i + 1, ERR_NOT_FOUND, ": no such field", err);
        return 0;
}

/* Walks along segments [from, to) of the path. v is the value at segments [0, from). */
static int walk(struct arena *scratch, const struct value *v, const struct path *path, size_t from, size_t to,
                const struct value **ret, struct err *err)
{
        for (size_t i = from; i < to; i++) {
                int r = step(scratch, path, i, v, &v, err);

                if (r < 0)
                        return r;
        }
        *ret = v;
        return 0;
}

int path_get_segments(struct arena *scratch, const struct value *root, const struct path *path,
                      const struct value **ret, struct err *err)
{
        if (path->n == 0) {
                *ret = &value_null;
                return 0;
        }
        return walk(scratch, root, path, 0, path->n, ret, err);
}

int path_get(struct arena *scratch, const struct value *root, struct str path, const struct value **ret,
             struct err *err)
{
        struct path_segment room[USUAL_SEGMENTS];
        struct path parsed;
        int r = parse(scratch, path, room, &parsed, err);

        if (r < 0)
                return r;
        return path_get_segments(scratch, root, &parsed, ret, err);
}

/* The typed getters name the path as it was given. */
static int wrong_type(struct str path, const char *text, struct err *err)
{
        return err_set(err, ERR_INVALID, "%.*s: %s", STR_ARG(path), text);
}

static int get_typed(struct arena *scratch, const struct value *root, struct str path, enum value_type type,
                     const char *text, const struct value **ret, struct err *err)
{
        const struct value *v;
        int r = path_get(scratch, root, path, &v, err);

        if (r < 0)
                return r;
        if (!value_is(v, type))
                return wrong_type(path, text, err);
        *ret = v;
        return 0;
}

int path_get_string(struct arena *scratch, const struct value *root, struct str path, struct str *ret, struct err *err)
{
        const struct value *v;
        int r = get_typed(scratch, root, path, VALUE_STRING, "not a string", &v, err);

        if (r < 0)
                return r;
        *ret = value_str(v);
        return 0;
}

int path_get_bool(struct arena *scratch, const struct value *root, struct str path, bool *ret, struct err *err)
{
        const struct value *v;
        int r = get_typed(scratch, root, path, VALUE_BOOL, "not a bool", &v, err);

        if (r < 0)
                return r;
        *ret = v->boolean;
        return 0;
}

int path_get_int(struct arena *scratch, const struct value *root, struct str path, int64_t *ret, struct err *err)
{
        const struct value *v;
        int r = get_typed(scratch, root, path, VALUE_INT, "not a (int64) number", &v, err);

        if (r < 0)
                return r;
        *ret = v->integer;
        return 0;
}

int path_get_number(struct arena *scratch, const struct value *root, struct str path, double *ret, struct err *err)
{
        const struct value *v;
        int r = path_get(scratch, root, path, &v, err);

        if (r < 0)
                return r;
        if (!value_is_number(v))
                return wrong_type(path, "not a number", err);
        *ret = value_double(v, 0);
        return 0;
}

int path_get_array(struct arena *scratch, const struct value *root, struct str path, const struct value **ret,
                   struct err *err)
{
        return get_typed(scratch, root, path, VALUE_ARRAY, "not an array", ret, err);
}

int path_get_object(struct arena *scratch, const struct value *root, struct str path, const struct value **ret,
                    struct err *err)
{
        return get_typed(scratch, root, path, VALUE_OBJECT, "not an object", ret, err);
}

int path_get_string_array(struct arena *scratch, const struct value *root, struct str path, const struct value **ret,
                          struct err *err)
{
        const struct value *v;
        int r = path_get_array(scratch, root, path, &v, err);

        if (r < 0)
                return r;
        VALUE_FOREACH_ITEM (item, v)
                if (!value_is_string(item))
                        return wrong_type(path, "not an array of strings", err);
        *ret = v;
        return 0;
}

int path_get_string_object(struct arena *scratch, const struct value *root, struct str path, const struct value **ret,
                           struct err *err)
{
        const struct value *v;
        int r = path_get_object(scratch, root, path, &v, err);

        if (r < 0)
                return r;
        VALUE_FOREACH_MEMBER (m, v)
                if (!value_is_string(&m->value))
                        return wrong_type(path, "not an object with string field values", err);
        *ret = v;
        return 0;
}

/* Wildcards */

struct expansion {
        struct arena *arena;
        struct path_segment *segments; /* the path; wildcards before the current one are replaced */
        size_t n;
        struct array_builder results;
        size_t result_bytes;
        struct err *err;
};

static int expand(struct expansion *e, const struct value *v, size_t from);

static bool is_wildcard(const struct path_segment *s)
{
        return !s->is_index && str_equal(s->key, STR("*"));
}

static struct str quote_first(const struct expansion *e, size_t n)
{
        return go_quote(e->arena, print(e->arena, e->segments, n));
}

static int add_result(struct expansion *e)
{
        struct str text = print(e->arena, e->segments, e->n);

        e->result_bytes += text.n;
        if (e->result_bytes > LIMIT_PATH_EXPANSION_BYTES)
                return err_set(e->err, ERR_LIMIT, "expanded paths are larger than the limit of %llu bytes",
                               LIMIT_PATH_EXPANSION_BYTES);
        array_builder_add(&e->results, value_of_str(text));
        return arena_check(e->arena, e->err);
}

/* Continues below the wildcard at segment i, which has just been replaced; v is the value that contains it. */
static int expand_branch(struct expansion *e, const struct value *v, size_t i)
{
        int r;

        if (is_wildcard(&e->segments[i])) {
                struct str quoted = quote_first(e, i);

                /* crossplane-runtime takes the key for another wildcard and loops forever. */
                r = err_set(e->err, ERR_INVALID, "%.*s: a field named \"*\" cannot be expanded", STR_ARG(quoted));
        } else {
                r = expand(e, v, i);
        }
        if (r < 0 && e->err) {
                struct str quoted = quote_first(e, e->n);

                err_wrap(e->err, "%.*s: cannot expand wildcards", STR_ARG(quoted));
        }
        return r;
}

static int expand_wildcard(struct expansion *e, const struct value *v, size_t i)
{
        struct path_segment wildcard = e->segments[i];
        int r = 0;

        if (value_is_array(v)) {
                for (uint32_t item = 0; r >= 0 && item < v->n; item++) {
                        e->segments[i] = (struct path_segment) { .is_index = true, .index = item };
                        r = expand_branch(e, v, i);
                }
        } else if (value_is_object(v)) {
                const struct value *sorted = value_sorted(e->arena, v);

                for (uint32_t m = 0; r >= 0 && m < sorted->n; m++) {
                        /* The key is treated like a field of a path, so quotes are cut off and a quoted key is not found. */
                        e->segments[i] = (struct path_segment) { .key = cut_quotes(sorted->members[m].key) };
                        r = expand_branch(e, v, i);
                }
        } else {
                struct str quoted = quote_first(e, i);

                if (value_is_null(v))
                        r = err_set(e->err, ERR_NOT_FOUND, "wildcard field %.*s is not found in the path",
                                    STR_ARG(quoted));
                else
                        r = err_set(e->err, ERR_INVALID, "%.*s: unexpected wildcard usage", STR_ARG(quoted));
        }
        e->segments[i] = wildcard;
        return r;
}

/* Adds all paths below v, the value at segments [0, from). Fields that do not exist add nothing. */
static int expand(struct expansion *e, const struct value *v, size_t from)
{
        struct path path = { .segments = e->segments, .n = e->n };
        const struct value *found;
        size_t to = from;
        int r;

        while (to < e->n && !is_wildcard(&e->segments[to]))
                to++;
        r = walk(e->arena, v, &path, from, to, &found, NULL);
        if (r == ERR_NOT_FOUND)
                return 0;
        if (r < 0)
                return walk(e->arena, v, &path, from, to, &found, e->err); /* walk again to get the error text */
        return to == e->n ? add_result(e) : expand_wildcard(e, found, to);
}

int path_expand(struct arena *a, const struct value *root, struct str path, const struct value **ret, struct err *err)
{
        struct expansion e = { .arena = a, .err = err };
        struct path_segment room[USUAL_SEGMENTS];
        struct path parsed;
        int r = parse(a, path, room, &parsed, err);

        if (r < 0)
                return r;
        e.n = parsed.n;
        e.segments = ARENA_NEW_ARRAY(a, struct path_segment, parsed.n);
        if (parsed.n)
                memcpy(e.segments, parsed.segments, parsed.n * sizeof(*e.segments));
        array_builder_init(&e.results, a, 0);
        r = expand(&e, root, 0);
        if (r < 0) {
                struct str quoted = quote_first(&e, e.n);

                if (err)
                        err_wrap(err, "cannot expand wildcards for segments: %.*s", STR_ARG(quoted));
                return r;
        }
        *ret = value_put(a, array_builder_finish(&e.results));
        return 0;
}

/* Editing */

/* The array with item i set to v, grown with nulls if it was shorter. array may be NULL: then the result is a new array. */
static const struct value *array_with(struct arena *a, const struct value *array, uint32_t i, const struct value *v)
{
        size_t n = value_count(array) > i ? value_count(array) : i + 1u;
        struct value *items = ARENA_NEW_ARRAY(a, struct value, n);

        static_assert(VALUE_NULL == 0, "zeroed items are nulls");
        if (value_count(array))
                memcpy(items, array->items, array->n * sizeof(*items));
        items[i] = *v;
        return value_put(a, (struct value) { .type = VALUE_ARRAY, .n = (uint32_t)n, .items = items });
}

/* The path as far as an error shows it. */
static struct str print_start(struct arena *a, const struct path *path)
{
        const size_t shown = 100;
        struct str text = print(a, path->segments, path->n);

        if (text.n <= shown)
                return text;
        return arena_printf(a, "%.*s...", (int)utf8_valid_prefix(str_first(text, shown)), text.p);
}

/* Counts the nulls and copies that setting the segment in v makes. All edits in one arena, which serves one call, share one
 * allowance: a short path can create many large arrays, and edits copy the containers along the path. */
static int charge(struct arena *a, const struct path *path, const struct path_segment *s, const struct value *v,
                  struct err *err)
{
        size_t n = value_count(v);

        if (s->is_index) {
                a->filled_items += s->index > n ? s->index - n : 0;
                a->edited_bytes += MAX(n, s->index + (size_t)1) * sizeof(struct value);
        } else {
                a->edited_bytes += (n + 1) * sizeof(struct member);
        }
        if (LIKELY(a->filled_items <= LIMIT_PATH_FILL && a->edited_bytes <= LIMIT_PATH_EDIT_BYTES))
                return 0;
        if (!err)
                return ERR_LIMIT;
        if (a->filled_items > LIMIT_PATH_FILL)
                return err_set(err, ERR_LIMIT,
                               "%.*s: field paths would fill arrays with more than the limit of %u nulls",
                               STR_ARG(print_start(a, path)), LIMIT_PATH_FILL);
        return err_set(err, ERR_LIMIT, "%.*s: edits by field paths would copy more than the limit of %llu bytes",
                       STR_ARG(print_start(a, path)), LIMIT_PATH_EDIT_BYTES);
}

/* Sets the value at segments [i, n) below v; v is NULL if there is no value yet. */
static int set_below(struct arena *a, const struct path *path, size_t i, const struct value *v,
                     const struct value *updated, const struct value **ret, struct err *err)
{
        const struct path_segment *s;
        const struct value *child;
        int r;

        if (i == path->n) {
                *ret = updated;
                return 0;
        }
        s = &path->segments[i];
        if (s->is_index) {
                if (v && !value_is_array(v))
                        return fail_at(a, path, i, ERR_INVALID, " is not an array", err);
                child = value_item(v, s->index);
                if (value_is_null(child))
                        child = NULL; /* unlike a null field, a null element is replaced by a container */
        } else {
                if (v && !value_is_object(v))
                        return fail_at(a, path, i, ERR_INVALID, " is not an object", err);
                child = value_get(v, s->key);
        }
        r = set_below(a, path, i + 1, child, updated, &child, err);
        if (r >= 0)
                r = charge(a, path, s, v, err);
        if (r < 0)
                return r;
        *ret = s->is_index ? array_with(a, v, s->index, child)
                           : value_with(a, v ? v : &value_empty_object, s->key, child);
        return 0;
}

size_t value_depth(const struct value *v)
{
        size_t depth = 0;

        if (value_type(v) < VALUE_ARRAY)
                return 0;
        VALUE_FOREACH_ITEM (item, v)
                depth = MAX(depth, value_depth(item));
        VALUE_FOREACH_MEMBER (m, v)
                depth = MAX(depth, value_depth(&m->value));
        return depth + 1;
}

static int check_segments(const struct path *path, const struct value *v, struct err *err)
{
        for (size_t i = 0; i < path->n; i++)
                if (path->segments[i].is_index && path->segments[i].index > LIMIT_PATH_INDEX)
                        return err_set(err, ERR_INVALID, "index %u is greater than max allowed index %u",
                                       path->segments[i].index, LIMIT_PATH_INDEX);
        if (path->n > LIMIT_DEPTH || path->n + value_depth(v) > LIMIT_DEPTH)
                return err_set(err, ERR_LIMIT, "value would be nested deeper than the limit of %u levels", LIMIT_DEPTH);
        return 0;
}

int path_set_segments(struct arena *a, const struct value *root, const struct path *path, const struct value *v,
                      const struct value **ret, struct err *err)
{
        int r = value_settle(a, v, &v, err);

        if (r < 0) {
                err_wrap(err, "cannot marshal value to JSON");
                return r;
        }
        if (path->n == 0) {
                *ret = root;
                return 0;
        }
        r = check_segments(path, v, err);
        if (r < 0)
                return r;
        return set_below(a, path, 0, root, v, ret, err);
}

int path_set(struct arena *a, const struct value *root, struct str path, const struct value *v,
             const struct value **ret, struct err *err)
{
        struct path_segment room[USUAL_SEGMENTS];
        struct path parsed;
        int r = parse(a, path, room, &parsed, err);

        if (r < 0)
                return r;
        return path_set_segments(a, root, &parsed, v, ret, err);
}

int path_merge(struct arena *a, const struct value *root, struct str path, const struct value *v,
               const struct merge_options *options, const struct value **ret, struct err *err)
{
        struct path_segment room[USUAL_SEGMENTS];
        struct path parsed;
        int r = parse(a, path, room, &parsed, err);

        if (r < 0)
                return r;
        return path_merge_segments(a, root, &parsed, v, options, ret, err);
}

static int cannot_delete(struct arena *scratch, const struct path *path, const char *text, struct err *err)
{
        struct str printed;

        if (!err)
                return ERR_INVALID;
        printed = print(scratch, path->segments, path->n);
        return err_set(err, ERR_INVALID, "cannot delete %.*s: %s", STR_ARG(printed), text);
}

/* Deletes the value at segments [i, n) below v; *ret is v itself if there is no such value. */
static int delete_below(struct arena *a, const struct path *path, size_t i, const struct value *v,
                        const struct value **ret, struct err *err)
{
        const struct path_segment *s = &path->segments[i];
        bool is_last = i + 1 == path->n;
        const struct value *child, *edited;
        int r;

        if (!value_is(v, s->is_index ? VALUE_ARRAY : VALUE_OBJECT)) {
                if (is_last)
                        return cannot_delete(a, path, s->is_index ? "not an array" : "not an object", err);
                return fail_at(a, path, i, ERR_INVALID, s->is_index ? " is not an array" : " is not an object", err);
        }
        *ret = v;
        child = s->is_index ? value_item(v, s->index) : value_get(v, s->key);
        if (!child)
                return 0;
        if (is_last) {
                *ret = s->is_index ? value_without_item(a, v, s->index) : value_without(a, v, s->key);
                return 0;
        }
        r = delete_below(a, path, i + 1, child, &edited, err);
        if (r < 0)
                return r;
        if (edited != child)
                *ret = s->is_index ? value_with_item(a, v, s->index, edited) : value_with(a, v, s->key, edited);
        return 0;
}

int path_delete(struct arena *a, const struct value *root, struct str path, const struct value **ret, struct err *err)
{
        struct path_segment room[USUAL_SEGMENTS];
        struct path parsed;
        int r = parse(a, path, room, &parsed, err);

        if (r < 0)
                return r;
        return path_delete_segments(a, root, &parsed, ret, err);
}

int path_delete_segments(struct arena *a, const struct value *root, const struct path *path, const struct value **ret,
                         struct err *err)
{
        if (path->n == 0) {
                *ret = root;
                return 0;
        }
        return delete_below(a, path, 0, root, ret, err);
}
