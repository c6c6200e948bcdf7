#include "source.h"

#include "buf.h"
#include "json.h"
#include "limits.h"
#include "utf8.h"
#include "yaml-compose.h"
#include "yaml-scalar.h"
#include "yaml.h"

struct position source_position(struct str text, size_t offset)
{
        struct position p = { .line = 1, .column = 1, .offset = offset < text.n ? offset : text.n };
        size_t start = 0;

        for (size_t i = 0; i < p.offset; i++) {
                if (text.p[i] == '\n') {
                        p.line++;
                        start = i + 1;
                }
        }
        if (p.offset > start)
                p.column += (uint32_t)utf8_count(str_make(text.p + start, p.offset - start));
        return p;
}

/* JSON. The text has been parsed before, so the walk can rely on the grammar. */

struct walk {
        struct str text;
        size_t at;
};

static void skip_space(struct walk *w)
{
        while (w->at < w->text.n && str_find_char(STR(" \t\r\n"), w->text.p[w->at]) >= 0)
                w->at++;
}

/* Takes the character if it is next, white space before and after it included. */
static bool take_char(struct walk *w, char c)
{
        skip_space(w);
        if (w->at >= w->text.n || w->text.p[w->at] != c)
                return false;
        w->at++;
        skip_space(w);
        return true;
}

static struct str take_string(struct walk *w)
{
        size_t start = w->at++;

        while (w->at < w->text.n && w->text.p[w->at] != '"')
                w->at += w->text.p[w->at] == '\\' ? 2 : 1;
        w->at = MIN(w->at + 1, w->text.n);
        return str_make(w->text.p + start, w->at - start);
}

static void skip_value(struct walk *w)
{
        size_t depth = 0;

        skip_space(w);
        do {
                char c = w->text.p[w->at];

                if (c == '"') {
                        take_string(w);
                        continue;
                }
                depth += c == '{' || c == '[';
                depth -= c == '}' || c == ']';
                w->at++;
        } while (w->at < w->text.n && (depth || str_find_char(STR(",]} \t\r\n"), w->text.p[w->at]) < 0));
}

static bool is_key(struct arena *scratch, struct str quoted, struct str key)
{
        const struct json_read_options options = { .is_kubernetes = true };
        const struct value *v;

        return json_parse(scratch, quoted, &options, &v, NULL) >= 0 && str_equal(value_str(v), key);
}

/* Moves to the member's value. Of duplicates the last counts. */
static bool enter_member(struct arena *scratch, struct walk *w, struct str key)
{
        size_t found = 0;
        bool goes_on = take_char(w, '{');

        while (goes_on && w->at < w->text.n && w->text.p[w->at] == '"') {
                bool is_wanted = is_key(scratch, take_string(w), key);

                take_char(w, ':');
                if (is_wanted)
                        found = w->at;
                skip_value(w);
                goes_on = take_char(w, ',');
        }
        w->at = found;
        return found > 0;
}

static bool enter_item(struct walk *w, uint32_t index)
{
        bool goes_on = take_char(w, '[') && w->at < w->text.n && w->text.p[w->at] != ']';

        for (; goes_on && index > 0; index--) {
                skip_value(w);
                goes_on = take_char(w, ',');
        }
        return goes_on;
}

/* The offset of the value at the path, or of its nearest ancestor, in a text that starts with the JSON value. */
static size_t locate_in_json(struct arena *scratch, struct str text, const struct path *path)
{
        struct walk w = { .text = text };
        size_t at;

        skip_space(&w);
        at = w.at;
        for (size_t i = 0; i < path->n; i++) {
                const struct path_segment *s = &path->segments[i];

                if (!(s->is_index ? enter_item(&w, s->index) : enter_member(scratch, &w, s->key)))
                        break;
                at = w.at;
        }
        return at;
}

/* YAML */

/* Merges may lead to the same mappings many times; the search stops after a fixed number of members. */
struct search {
        struct arena *scratch;
        struct str key;
        uint32_t budget;
};

#define SEARCHED_MEMBERS 1000000

static struct yaml_node *find_member(struct search *s, struct yaml_node *mapping, uint32_t depth);

static struct yaml_node *find_merged(struct search *s, struct yaml_node *value, uint32_t depth)
{
        struct yaml_node *found = NULL;

        if (depth > LIMIT_DEPTH)
                return NULL;
        value = (struct yaml_node *)yaml_behind_alias(value);
        if (value->type == YAML_NODE_MAPPING)
                return find_member(s, value, depth + 1);
        for (struct yaml_node *n = value->first; n && !found && value->type == YAML_NODE_SEQUENCE; n = n->next)
                found = find_member(s, (struct yaml_node *)yaml_behind_alias(n), depth + 1);
        return found;
}

static bool is_node_key(struct arena *scratch, const struct yaml_node *n, struct str key)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct yaml_scalar s;
        struct str text;

        n = yaml_behind_alias(n);
        return n->type == YAML_NODE_SCALAR && yaml_node_resolve(scratch, n, &s, &text, NULL) >= 0 &&
               yaml_append_key(&b, &s, text) && str_equal(buf_str(&b), key);
}

/* The value of the member; if there are several, merged ones included, the last counts. */
static struct yaml_node *find_member(struct search *s, struct yaml_node *mapping, uint32_t depth)
{
        struct yaml_node *found = NULL;

        if (mapping->type != YAML_NODE_MAPPING)
                return NULL;
        for (struct yaml_node *k = mapping->first; k && s->budget; k = k->next->next) {
                s->budget--;
                if (yaml_node_is_merge(k)) {
                        struct yaml_node *merged = find_merged(s, k->next, depth);

                        found = merged ? merged : found;
                } else if (is_node_key(s->scratch, k, s->key)) {
                        found = k->next;
                }
        }
        return found;
}

static struct yaml_node *find_item(struct yaml_node *sequence, uint32_t index)
{
        struct yaml_node *n = sequence->type == YAML_NODE_SEQUENCE ? sequence->first : NULL;

        while (n && index-- > 0)
                n = n->next;
        return n;
}

static struct yaml_node *find_key(struct arena *scratch, struct yaml_node *mapping, struct str key)
{
        struct search s = { .scratch = scratch, .key = key, .budget = SEARCHED_MEMBERS };

        return find_member(&s, mapping, 0);
}

static size_t locate_in_yaml(struct arena *scratch, struct yaml_node *root, const struct path *path)
{
        struct yaml_node *at = root;

        for (size_t i = 0; i < path->n; i++) {
                const struct path_segment *s = &path->segments[i];
                struct yaml_node *n = (struct yaml_node *)yaml_behind_alias(at);

                n = s->is_index ? find_item(n, s->index) : find_key(scratch, n, s->key);
                if (!n)
                        break;
                at = n;
        }
        return at->offset;
}

static bool is_null_document(struct arena *scratch, const struct yaml_node *root)
{
        struct yaml_scalar s = { .kind = YAML_KIND_STRING };
        struct str text;

        if (root && root->type == YAML_NODE_SCALAR)
                (void)yaml_node_resolve(scratch, root, &s, &text, NULL);
        return !root || s.kind == YAML_KIND_NULL;
}

/* Streams */

static int fail_missing(const struct source_file *s, struct err *err)
{
        return err_set(err, ERR_NOT_FOUND, "%.*s has fewer documents", STR_ARG(s->name));
}

/* `key:` or `key: value`, with a key of letters. */
static bool begins_with_key(struct str line)
{
        size_t n = 0;

        while (n < line.n && (line.p[n] | 0x20) >= 'a' && (line.p[n] | 0x20) <= 'z')
                n++;
        return n > 0 && n < line.n && line.p[n] == ':' && (n + 1 == line.n || line.p[n + 1] == ' ');
}

/* True if the first line with content shows that the document is not null; false if the document must be parsed to know. */
static bool is_plainly_something(struct str text)
{
        struct str line;

        while (str_split(&text, '\n', &line) || line.n > 0) {
                line = str_trim(line);
                if (line.n > 0 && line.p[0] != '#')
                        return begins_with_key(line);
        }
        return false;
}

static int locate_yaml_document(struct arena *scratch, const struct source_file *s, size_t start, size_t document,
                                const struct path *path, struct position *ret, struct err *err)
{
        struct yaml_document d;
        struct yaml_stream stream;
        int r;

        yaml_stream_init(&stream, str_skip(s->text, start));
        while ((r = yaml_stream_next(&stream, &d, err)) > 0) {
                struct yaml_node *root = NULL;

                if (document > 0 && is_plainly_something(d.text)) {
                        document--;
                        continue;
                }
                r = yaml_compose(scratch, yaml_with_newline(scratch, d.text), LIMIT_DEPTH, false, &root, err);
                if (r < 0)
                        return r;
                if (is_null_document(scratch, root) || document-- > 0)
                        continue;
                *ret = source_position(s->text, start + d.offset + locate_in_yaml(scratch, root, path));
                return 0;
        }
        return r < 0 ? r : fail_missing(s, err);
}

static int locate_json_document(struct arena *scratch, const struct source_file *s, size_t document,
                                const struct path *path, struct position *ret, struct err *err)
{
        const struct json_read_options options = { .is_kubernetes = true };
        size_t offset = 0;

        for (;;) {
                struct str rest = str_skip(s->text, offset);
                const struct value *v;
                size_t consumed;
                int r = json_parse_next(scratch, rest, &options, &v, &consumed, NULL);

                if (r == ERR_NOT_FOUND)
                        return fail_missing(s, err);
                if (r < 0)
                        return locate_yaml_document(scratch, s, s->text.n - yaml_stream_rest(rest).n, document, path,
                                                    ret, err);
                if (!value_is_null(v) && document-- == 0) {
                        *ret = source_position(s->text, offset + locate_in_json(scratch, rest, path));
                        return 0;
                }
                offset += consumed;
        }
}

int source_locate(const struct source_file *s, size_t document, const struct path *path, struct position *ret,
                  struct err *err)
{
        _cleanup_arena_ struct arena scratch;

        arena_init(&scratch, "source", 0);
        if (yaml_stream_is_json(s->text))
                return locate_json_document(&scratch, s, document, path, ret, err);
        return locate_yaml_document(&scratch, s, 0, document, path, ret, err);
}

/* Errors for people */

#define SHOWN_COLUMNS 100 /* shown of a longer line */
#define ELLIPSIS      "..."

static struct str line_of(struct str text, uint32_t number)
{
        struct str line = STR("");

        while (number-- > 0 && (text.n || number == 0))
                if (!str_split(&text, '\n', &line) && number > 0)
                        return STR("");
        str_cut_suffix(&line, STR("\r"));
        return line;
}

/* One column for each character: tabs and other control characters become spaces. */
static void append_visible(struct buf *b, struct str s)
{
        for (size_t i = 0, width; i < s.n; i += width) {
                uint32_t c = utf8_decode(str_skip(s, i), &width);

                if (c < 0x20 || (c >= 0x7F && c < 0xA0))
                        buf_append_char(b, ' ');
                else if (c == RUNE_ERROR && width == 1)
                        buf_append_literal(b, "\xEF\xBF\xBD");
                else
                        buf_append_str(b, str_first(str_skip(s, i), width));
        }
}

static struct str skip_columns(struct str s, size_t columns)
{
        size_t at = 0, width;

        for (; columns > 0 && at < s.n; columns--) {
                utf8_decode(str_skip(s, at), &width);
                at += width;
        }
        return str_skip(s, at);
}

static void append_line(struct buf *b, struct str line, size_t column)
{
        size_t columns = utf8_count(line), first = 0;
        struct str shown;

        column = MIN(column, columns + 1);
        if (columns > SHOWN_COLUMNS && column > SHOWN_COLUMNS / 2)
                first = MIN(column - SHOWN_COLUMNS / 2, columns - SHOWN_COLUMNS);
        shown = skip_columns(line, first);
        shown = str_first(shown, shown.n - skip_columns(shown, SHOWN_COLUMNS).n);
        if (first)
                buf_append_literal(b, ELLIPSIS);
        append_visible(b, shown);
        if (first + SHOWN_COLUMNS < columns)
                buf_append_literal(b, ELLIPSIS);
        buf_append_char(b, '\n');
        buf_append_repeat(b, ' ', (first ? strlen(ELLIPSIS) : 0) + column - first - 1);
        buf_append_literal(b, "^\n");
}

void source_append_error(struct buf *b, const struct source_file *s, const struct err *err)
{
        struct position p = err->position;

        if (p.line == 0) {
                buf_appendf(b, "%.*s: %s\n", STR_ARG(s->name), err_message(err));
                return;
        }
        buf_appendf(b, "%.*s:%u:%u: %s\n", STR_ARG(s->name), p.line, p.column, err_message(err));
        append_line(b, line_of(s->text, p.line), MAX(p.column, 1u));
}
