/* JSONPath from its text, with the errors of client-go. */
#include "jsonpath-private.h"

#include "buf.h"
#include "gotext.h"
#include "limits.h"
#include "number.h"
#include "utf8.h"
#include "vec.h"

/* Paths inside of brackets are parsed again as paths of their own; the dialect cannot nest them more deeply than this. */
#define MAX_NESTING 16

struct parser {
        struct arena *arena;
        struct err *err;
        struct str rest; /* of the text */
        unsigned depth;
};

typedef VEC(struct jsonpath_list) list_vec;

static int parse_template(struct parser *p, list_vec *ret);

/* --- Characters --- */

/* Takes the next rune; false at the end of the text. */
static bool take_rune(struct parser *p, uint32_t *ret)
{
        size_t width;

        if (p->rest.n == 0)
                return false;
        *ret = utf8_decode(p->rest, &width);
        p->rest = str_skip(p->rest, width);
        return true;
}

static bool ends_name(char c)
{
        return c && strchr(" \t\r\n.,[]$@{}", c);
}

static bool is_word_rune(uint32_t rune)
{
        return rune == '_' || go_is_letter(rune) || go_is_digit(rune);
}

/* Takes the text up to the character, which stays; a line break or the end before it is false. */
static bool take_until(struct parser *p, char c, struct str *ret)
{
        for (size_t i = 0; i < p->rest.n && p->rest.p[i] != '\n'; i++)
                if (p->rest.p[i] == c) {
                        *ret = str_first(p->rest, i);
                        p->rest = str_skip(p->rest, i);
                        return true;
                }
        return false;
}

/* --- Nodes --- */

static struct jsonpath_node *append(struct parser *p, struct jsonpath_list *list, enum jsonpath_type type)
{
        struct jsonpath_node *node = ARENA_NEW(p->arena, struct jsonpath_node);

        node->type = type;
        *(list->last ? &list->last->next : &list->first) = node;
        list->last = node;
        return node;
}

static void append_text(struct parser *p, struct jsonpath_list *list, struct str text)
{
        append(p, list, JSONPATH_TEXT)->value = value_of_str(arena_copy(p->arena, text));
}

/* Parses the text as an action of its own. */
static int parse_nested(struct parser *p, struct str text, struct jsonpath_list *ret)
{
        struct parser nested = { .arena = p->arena, .err = p->err, .depth = p->depth + 1 };
        list_vec lists = { 0 };
        int r;

        if (nested.depth > MAX_NESTING)
                return err_set(p->err, ERR_LIMIT, "JSONPath is nested more than %d times", MAX_NESTING);
        nested.rest = ARENA_CONCAT(p->arena, STR("{"), text, STR("}"));
        r = parse_template(&nested, &lists);
        if (r >= 0)
                *ret = lists.p[0];
        vec_done(&lists);
        return r;
}

/* --- Names, numbers, texts --- */

static struct str without_backslashes(struct arena *a, struct str s)
{
        _cleanup_buf_ struct buf b = { 0 };

        for (size_t i = 0; i < s.n; i++)
                if (s.p[i] != '\\')
                        buf_append_char(&b, s.p[i]);
        return buf_to_arena(&b, a);
}

/* A name up to a character that ends names, unless there is a backslash before it. */
static void parse_field(struct parser *p, struct jsonpath_list *list)
{
        struct str start = p->rest, name;
        uint32_t rune;

        while (p->rest.n > 0 && !ends_name(p->rest.p[0]))
                if (take_rune(p, &rune) && rune == '\\')
                        take_rune(p, &rune);
        name = str_first(start, start.n - p->rest.n);
        if (str_equal(name, STR("*")))
                append(p, list, JSONPATH_WILDCARD);
        else
                append(p, list, JSONPATH_FIELD)->name = without_backslashes(p->arena, name);
}

static int parse_recursive(struct parser *p, struct jsonpath_list *list)
{
        size_t width;

        if (list->last && list->last->type == JSONPATH_RECURSIVE)
                return err_set(p->err, ERR_INVALID, "invalid multiple recursive descent");
        append(p, list, JSONPATH_RECURSIVE);
        if (p->rest.n > 0 && is_word_rune(utf8_decode(p->rest, &width)))
                parse_field(p, list);
        return 0;
}

static int parse_number(struct parser *p, struct jsonpath_list *list)
{
        struct str start = p->rest, text;
        size_t width;
        int64_t i;
        double d;

        if (p->rest.p[0] == '+' || p->rest.p[0] == '-')
                p->rest = str_skip(p->rest, 1);
        while (p->rest.n > 0) {
                uint32_t rune = utf8_decode(p->rest, &width);

                if (rune != '.' && !go_is_digit(rune))
                        break;
                p->rest = str_skip(p->rest, width);
        }
        text = str_first(start, start.n - p->rest.n);
        if (number_parse_int(text, &i, NULL) >= 0)
                append(p, list, JSONPATH_LITERAL)->value = value_of_int(i);
        else if (number_parse_double(text, &d, NULL) >= 0)
                append(p, list, JSONPATH_LITERAL)->value = value_of_double(d);
        else
                return err_set(p->err, ERR_INVALID, "cannot parse number %.*s", STR_ARG(text));
        return 0;
}

static int parse_word(struct parser *p, struct jsonpath_list *list)
{
        struct str start = p->rest, word;

        while (p->rest.n > 0 && !ends_name(p->rest.p[0]))
                p->rest = str_skip(p->rest, 1);
        word = str_first(start, start.n - p->rest.n);
        if (str_equal(word, STR("true")) || str_equal(word, STR("false")))
                append(p, list, JSONPATH_LITERAL)->value = value_of_bool(word.p[0] == 't');
        else if (str_equal(word, STR("range")))
                return err_set(p->err, ERR_UNSUPPORTED, "range is not supported in a JSONPath of one value");
        else
                append(p, list, JSONPATH_WORD)->name = arena_copy(p->arena, word);
        return 0;
}

static bool unquote(struct parser *p, struct str s, char quote, struct str *ret)
{
        _cleanup_buf_ struct buf b = { 0 };

        while (s.n > 0) {
                bool is_multibyte;
                uint32_t rune;
                char bytes[4];

                if (!go_unquote_rune(&s, quote, &rune, &is_multibyte))
                        return false;
                if (rune < 0x80 || !is_multibyte)
                        buf_append_char(&b, (char)rune);
                else
                        buf_append(&b, bytes, utf8_encode(rune, bytes));
        }
        *ret = buf_to_arena(&b, p->arena);
        return true;
}

/* A text in quotes; p->rest begins with the quote. */
static int parse_quoted(struct parser *p, struct jsonpath_list *list)
{
        struct str start = p->rest, inner, text;
        char quote = start.p[0];
        size_t end = 1;

        while (end < start.n && start.p[end] != '\n' && (start.p[end] != quote || start.p[end - 1] == '\\'))
                end++;
        if (end >= start.n || start.p[end] == '\n')
                return err_set(p->err, ERR_INVALID, "unterminated quoted string");
        p->rest = str_skip(start, end + 1);
        inner = str_make(start.p + 1, end - 1);
        /* A text without escapes is taken as it is, invalid UTF-8 included. */
        if (str_find_char(inner, '\\') < 0 && str_find_char(inner, quote) < 0)
                text = inner;
        else if (!unquote(p, inner, quote, &text))
                return err_set(p->err, ERR_INVALID, "unquote string %.*s error invalid syntax",
                               STR_ARG(str_first(start, end + 1)));
        append_text(p, list, text);
        return 0;
}

/* --- Brackets --- */

/* One part of a slice, at the start of *s: an optional minus, then digits, which may be missing. */
static struct str take_bound(struct str *s)
{
        struct str all = *s;

        str_cut_prefix(s, STR("-"));
        while (s->n > 0 && s->p[0] >= '0' && s->p[0] <= '9')
                *s = str_skip(*s, 1);
        return str_first(all, all.n - s->n);
}

static int set_bound(struct parser *p, struct jsonpath_bound *bound, struct str text)
{
        if (text.n == 0)
                return 0;
        bound->is_known = true;
        if (number_parse_int(text, &bound->value, NULL) < 0)
                return err_set(p->err, ERR_INVALID, "array index %.*s is not a number", STR_ARG(text));
        return 0;
}

static int parse_slice(struct parser *p, struct jsonpath_list *list, struct str text)
{
        struct jsonpath_bound *bounds;
        struct str rest = text, parts[3] = { take_bound(&rest) };
        size_t n = 1;
        int r = 0;

        while (n < 3 && str_cut_prefix(&rest, STR(":")))
                parts[n++] = take_bound(&rest);
        if (rest.n > 0)
                return err_set(p->err, ERR_INVALID, "invalid array index %.*s", STR_ARG(text));
        bounds = append(p, list, JSONPATH_SLICE)->bounds;
        for (size_t i = 0; i < n && r >= 0; i++)
                r = set_bound(p, &bounds[i], parts[i]);
        if (n == 1)
                bounds[1] = (struct jsonpath_bound) {
                        .is_known = true,
                        .is_derived = true,
                        .value = (int64_t)((uint64_t)bounds[0].value + 1),
                };
        return r;
}

static struct str trim_blanks(struct str s)
{
        while (str_cut_prefix(&s, STR(" ")) || str_cut_suffix(&s, STR(" ")))
                continue;
        return s;
}

static int parse_union(struct parser *p, struct jsonpath_list *list, struct str text)
{
        struct jsonpath_node *node = append(p, list, JSONPATH_UNION);
        struct str part;
        bool has_more;

        for (size_t i = 0; i < text.n; i++)
                node->n_parts += text.p[i] == ',';
        node->parts = ARENA_NEW_ARRAY(p->arena, struct jsonpath_list, node->n_parts + 1);
        node->n_parts = 0;
        do {
                int r;

                has_more = str_split(&text, ',', &part);
                part = ARENA_CONCAT(p->arena, STR("["), trim_blanks(part), STR("]"));
                r = parse_nested(p, part, &node->parts[node->n_parts++]);
                if (r < 0)
                        return r;
        } while (has_more);
        return 0;
}

/* `['key']`: the key is parsed as a field, and may turn out to be a longer path. */
static int parse_key(struct parser *p, struct jsonpath_list *list, struct str key)
{
        struct jsonpath_list nested;
        int r = parse_nested(p, ARENA_CONCAT(p->arena, STR("."), key), &nested);

        if (r < 0)
                return r;
        *(list->last ? &list->last->next : &list->first) = nested.first;
        list->last = nested.last;
        return 0;
}

/* Behind the `[`. */
static int parse_brackets(struct parser *p, struct jsonpath_list *list)
{
        struct str text;

        if (!take_until(p, ']', &text))
                return err_set(p->err, ERR_INVALID, "unterminated array");
        p->rest = str_skip(p->rest, 1);
        if (str_equal(text, STR("*")))
                text = STR(":");
        if (str_find_char(text, ',') >= 0)
                return parse_union(p, list, text);
        if (text.n >= 2 && text.p[0] == '\'' && str_find_char(str_skip(text, 1), '\'') == (ptrdiff_t)text.n - 2)
                return parse_key(p, list, str_make(text.p + 1, text.n - 2));
        return parse_slice(p, list, text);
}

/* The length of a filter's text up to its closing parenthesis: the first one, or the first one behind a text in quotes. -1 without
 * one. Only one text in quotes is recognised. */
static ptrdiff_t find_filter_end(struct str s)
{
        char quote = 0;
        bool is_closed = false;

        for (size_t i = 0; i < s.n && s.p[i] != '\n'; i++) {
                char c = s.p[i];

                if (c == ')' && (!quote || is_closed))
                        return (ptrdiff_t)i;
                if (c != '"' && c != '\'')
                        continue;
                if (!quote)
                        quote = c;
                else if (c == quote && s.p[i - 1] != '\\')
                        is_closed = true;
        }
        return -1;
}

static bool is_operator(char c)
{
        return c == '!' || c == '<' || c == '>' || c == '=';
}

/* Splits `left op right`, all three not empty. */
static bool split_comparison(struct str text, struct str *ret_left, struct str *ret_operator, struct str *ret_right)
{
        size_t from = 0, to;

        while (from < text.n && !is_operator(text.p[from]))
                from++;
        for (to = from; to < text.n && is_operator(text.p[to]); to++)
                continue;
        if (to == text.n) /* the right side is at least one character */
                to--;
        if (text.n == 0 || from == 0 || to <= from)
                return false;
        *ret_left = str_first(text, from);
        *ret_operator = str_make(text.p + from, to - from);
        *ret_right = str_skip(text, to);
        return true;
}

/* Behind the `[?(`. */
static int parse_filter(struct parser *p, struct jsonpath_list *list)
{
        ptrdiff_t end = find_filter_end(p->rest);
        struct jsonpath_node *node;
        struct str text, left, right;
        int r;

        if (end < 0)
                return err_set(p->err, ERR_INVALID, "unterminated filter");
        text = str_first(p->rest, (size_t)end);
        p->rest = str_skip(p->rest, (size_t)end + 1);
        if (!str_cut_prefix(&p->rest, STR("]")))
                return err_set(p->err, ERR_INVALID, "unclosed array expect ]");
        node = append(p, list, JSONPATH_FILTER);
        node->parts = ARENA_NEW_ARRAY(p->arena, struct jsonpath_list, 2);
        if (!split_comparison(text, &left, &node->name, &right))
                return parse_nested(p, text, &node->parts[0]);
        node->name = arena_copy(p->arena, node->name);
        r = parse_nested(p, left, &node->parts[0]);
        return r < 0 ? r : parse_nested(p, right, &node->parts[1]);
}

/* --- Actions --- */

/* `U+007B '{'`, as Go's %#U. */
static int fail_at_rune(struct parser *p, uint32_t rune)
{
        char bytes[4];
        int n = (int)utf8_encode(rune, bytes);

        if (!go_is_printable(rune))
                return err_set(p->err, ERR_INVALID, "unrecognized character in action: U+%04X", rune);
        return err_set(p->err, ERR_INVALID, "unrecognized character in action: U+%04X '%.*s'", rune, n, bytes);
}

/* One step of an action; p->rest is not empty. */
static int parse_step(struct parser *p, struct jsonpath_list *list)
{
        size_t width;
        uint32_t rune = utf8_decode(p->rest, &width);

        if (str_cut_prefix(&p->rest, STR("[?(")))
                return parse_filter(p, list);
        if (str_cut_prefix(&p->rest, STR("..")))
                return parse_recursive(p, list);
        if (rune == '"' || rune == '\'')
                return parse_quoted(p, list);
        if (rune == '+' || rune == '-' || go_is_digit(rune))
                return parse_number(p, list);
        if (is_word_rune(rune))
                return parse_word(p, list);
        p->rest = str_skip(p->rest, width);
        if (rune == '[')
                return parse_brackets(p, list);
        if (rune == '.')
                parse_field(p, list);
        else if (rune != ' ' && rune != '@' && rune != '$')
                return fail_at_rune(p, rune);
        return 0;
}

/* Behind the `{`, up to and with the `}`. */
static int parse_action(struct parser *p, struct jsonpath_list *list)
{
        while (!str_cut_prefix(&p->rest, STR("}"))) {
                int r;

                if (p->rest.n == 0 || p->rest.p[0] == '\r' || p->rest.p[0] == '\n')
                        return err_set(p->err, ERR_INVALID, "unclosed action");
                r = parse_step(p, list);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* Texts and actions; a text is an action that gives itself. */
static int parse_template(struct parser *p, list_vec *ret)
{
        while (p->rest.n > 0) {
                ptrdiff_t brace = str_find_char(p->rest, '{');
                size_t n = brace < 0 ? p->rest.n : (size_t)brace;
                struct jsonpath_list list = { 0 };
                int r = 0;

                if (n > 0) {
                        append_text(p, &list, str_first(p->rest, n));
                        p->rest = str_skip(p->rest, n);
                } else {
                        p->rest = str_skip(p->rest, 1);
                        r = parse_action(p, &list);
                }
                if (r < 0)
                        return r;
                vec_push(ret, list);
        }
        return 0;
}

int jsonpath_compile(struct arena *a, struct str text, struct jsonpath **ret, struct err *err)
{
        struct parser p = { .arena = a, .err = err };
        struct jsonpath *path = ARENA_NEW(a, struct jsonpath);
        list_vec lists = { 0 };
        int r;

        if (text.n > LIMIT_JSONPATH_BYTES)
                return err_set(err, ERR_LIMIT, "JSONPath is longer than %u bytes", LIMIT_JSONPATH_BYTES);
        p.rest = text.n > 0 && text.p[0] == '{' ? text : ARENA_CONCAT(a, STR("{"), text, STR("}"));
        r = parse_template(&p, &lists);
        if (r >= 0) {
                path->n_actions = lists.n;
                path->actions = ARENA_NEW_ARRAY(a, struct jsonpath_list, lists.n);
                memcpy(path->actions, lists.p, lists.n * sizeof(*lists.p));
                *ret = path;
        }
        vec_done(&lists);
        return r;
}
