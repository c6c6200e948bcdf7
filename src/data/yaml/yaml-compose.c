#include "yaml-compose.h"

#include "limits.h"
#include "map.h"
#include "source.h"
#include "utf8.h"
#include "vec.h"
#include "yaml-dialect.h"
#include "yaml-scalar.h"

#include <yaml.h>

struct composer {
        struct arena *arena;
        struct yaml_dialect *dialect;
        struct str text; /* the dialect's edited text */
        struct str rest; /* the part that libyaml has not read yet */
        uint32_t max_depth;
        bool joins_leaves;
        yaml_parser_t parser;
        struct map anchors;            /* name to struct yaml_node: the latest node with that anchor */
        VEC(struct yaml_node *) stack; /* open collections, outermost first */
        struct yaml_node *root;
        uint32_t flow_level; /* flow collections on the stack */
        bool is_utf16;
        /* libyaml counts characters, our code counts bytes. These fields hold the position up to which characters have been
         * counted. */
        size_t index;
        size_t offset;
        size_t surplus; /* bytes of stand-ins up to there */
};

static bool has_many_directives(const struct composer *c)
{
        return c->parser.tag_directives.top - c->parser.tag_directives.start > LIMIT_YAML_TAG_DIRECTIVES;
}

/* Gives libyaml the next bytes of the text. Also checks the number of directives here, because this works for every encoding. */
static int give_text(void *context, unsigned char *bytes, size_t size, size_t *ret_read)
{
        struct composer *c = context;
        struct str next = str_first(c->rest, size);

        if (has_many_directives(c))
                return 0;
        if (next.n)
                memcpy(bytes, next.p, next.n);
        c->rest = str_skip(c->rest, next.n);
        *ret_read = next.n;
        return 1;
}

static void composer_done(struct composer *c)
{
        yaml_parser_delete(&c->parser);
        map_done(&c->anchors);
        vec_done(&c->stack);
}

/* The byte offset of a mark. Marks mostly move forward, so counting continues from the last position. */
static size_t offset_of(struct composer *c, size_t index)
{
        if (c->is_utf16)
                return 0;
        if (index < c->index || c->offset == 0) {
                c->index = c->surplus = 0;
                c->offset = str_starts_with(c->text, STR("\xEF\xBB\xBF")) ? 3 : 0;
        }
        while (c->index < index && c->offset < c->text.n) {
                struct str rest = str_skip(c->text, c->offset);
                size_t width;

                utf8_decode(rest, &width);
                if (width == 3)
                        c->surplus += yaml_dialect_surplus(c->dialect, rest);
                c->offset += width;
                c->index++;
        }
        return c->offset;
}

/* The same in the original text. */
static size_t original_offset_of(struct composer *c, size_t index)
{
        size_t offset = offset_of(c, index);

        return c->is_utf16 ? 0 : (size_t)((ptrdiff_t)(offset - c->surplus) - yaml_dialect_shift(c->dialect, offset));
}

/* The same for a byte offset, which need not be the start of a character. */
static size_t original_of_byte(const struct composer *c, size_t offset)
{
        size_t surplus = 0;

        for (size_t i = 0; i < offset && i < c->text.n; i++)
                surplus += yaml_dialect_surplus(c->dialect, str_skip(c->text, i));
        return (size_t)((ptrdiff_t)(offset - surplus) - yaml_dialect_shift(c->dialect, offset));
}

static struct position position_of(struct composer *c, yaml_mark_t mark)
{
        if (c->is_utf16)
                return (struct position) { .line = (uint32_t)mark.line + 1, .column = (uint32_t)mark.column + 1 };
        return source_position(c->dialect->original, original_offset_of(c, mark.index));
}

struct position yaml_node_position(struct str text, const struct yaml_node *n)
{
        struct position p = source_position(text, n->offset);

        if (n->offset == 0)
                p = (struct position) { .line = n->line + 1, .column = 1 };
        return p;
}

/* Result: the text has been edited and must be composed again. */
#define AGAIN 2

/* go-yaml names the line only where it is not the first; parser errors are counted from 0, scanner errors from 1. yaml.v3 names
 * the line where the construct with the problem begins. */
static size_t named_line(const yaml_parser_t *p, bool is_v3)
{
        if (is_v3 && p->context_mark.line != 0)
                return p->context_mark.line + (p->error == YAML_SCANNER_ERROR ? 1 : 0);
        if (p->problem_mark.line != 0)
                return p->problem_mark.line + (p->error == YAML_SCANNER_ERROR ? 1 : 0);
        return p->context_mark.line;
}

static int fail(struct composer *c, size_t line, const char *problem, struct position position, struct err *err)
{
        int r;

        if (line)
                r = err_set(err, ERR_INVALID, "yaml: line %zu: %s", line, problem);
        else
                r = err_set(err, ERR_INVALID, "yaml: %s", problem);
        if (err)
                err_set_position(err, position);
        return r;
}

static int fail_parser(struct composer *c, struct err *err)
{
        const yaml_parser_t *p = &c->parser;
        const char *problem = p->problem ? p->problem : "unknown problem parsing YAML content";

        if (p->error == YAML_MEMORY_ERROR)
                abort();
        if (p->error == YAML_READER_ERROR && has_many_directives(c))
                return err_set(err, ERR_LIMIT, "yaml: document has more than %d %%TAG directives",
                               LIMIT_YAML_TAG_DIRECTIVES);
        if (p->error == YAML_READER_ERROR)
                return fail(c, 0, problem,
                            source_position(c->dialect->original, original_of_byte(c, p->problem_offset)), err);
        if (p->error == YAML_SCANNER_ERROR && !c->is_utf16 &&
            yaml_dialect_fix_problem(c->dialect, problem, offset_of(c, p->problem_mark.index)))
                return AGAIN;
        return fail(c, named_line(p, c->dialect->is_v3), problem, position_of(c, p->problem_mark), err);
}

/* Lines, as libyaml counts them, between two offsets. */
static size_t count_lines(struct composer *c, size_t start, size_t end)
{
        size_t lines = 0, width;

        for (size_t i = start; i < end; i += width) {
                uint32_t rune = utf8_decode(str_skip(c->text, i), &width);
                bool is_pair = rune == '\r' && i + 1 < c->text.n && c->text.p[i + 1] == '\n';

                lines += rune == '\n' || (rune == '\r' && !is_pair) || rune == 0x85 || rune == 0x2028 || rune == 0x2029;
        }
        return lines;
}

static struct str copy_chars(struct composer *c, const yaml_char_t *s)
{
        return s ? yaml_dialect_restore(c->dialect, c->arena, str_from((const char *)s)) : STR_NONE;
}

/* In a flow collection, go-yaml ends a plain scalar at a question mark and then reports a missing comma. */
static int check_flow_scalar(struct composer *c, const yaml_event_t *e, size_t content, struct err *err)
{
        const struct yaml_node *parent = *vec_last(&c->stack);
        bool is_sequence = parent->type == YAML_NODE_SEQUENCE || str_find_char(STR("{&!"), c->text.p[parent->raw]) < 0;
        size_t end = offset_of(c, e->end_mark.index), line;
        ptrdiff_t at;

        if (content >= end)
                return 0;
        at = str_find_char(str_first(str_skip(c->text, content + 1), end - content - 1), '?');
        if (at < 0)
                return 0;
        line = e->start_mark.line + count_lines(c, offset_of(c, e->start_mark.index), content + 1 + (size_t)at);
        return fail(c, line, is_sequence ? "did not find expected ',' or ']'" : "did not find expected ',' or '}'",
                    position_of(c, e->start_mark), err);
}

static struct yaml_node start_node(struct composer *c, enum yaml_node_type type, const yaml_event_t *e)
{
        return (struct yaml_node) {
                .type = type,
                .line = (uint32_t)e->start_mark.line,
                .raw = offset_of(c, e->start_mark.index),
                .offset = original_offset_of(c, e->start_mark.index),
        };
}

static struct yaml_node *put_node(struct composer *c, const struct yaml_node *started)
{
        struct yaml_node *n = ARENA_NEW(c->arena, struct yaml_node);

        *n = *started;
        return n;
}

static struct yaml_node *new_node(struct composer *c, enum yaml_node_type type, const yaml_event_t *e)
{
        struct yaml_node n = start_node(c, type, e);

        return put_node(c, &n);
}

static void add_child(struct composer *c, struct yaml_node *n)
{
        struct yaml_node *parent = c->stack.n ? *vec_last(&c->stack) : NULL;

        if (!parent) {
                c->root = n;
                return;
        }
        if (parent->last)
                parent->last->next = n;
        else
                parent->first = n;
        parent->last = n;
        parent->n_children++;
}

/* The number of the first item of a sequence from which on leaves are joined, and the most leaves per node. */
#define FIRST_LEAF  64
#define LEAVES_MOST 256

static bool is_leaf(const struct yaml_scalar *s)
{
        return s->kind == YAML_KIND_NULL || s->kind == YAML_KIND_BOOL || s->kind == YAML_KIND_INT ||
               s->kind == YAML_KIND_UINT || s->kind == YAML_KIND_FLOAT;
}

static struct yaml_leaves *new_leaves(struct composer *c, const struct yaml_node *at)
{
        struct yaml_node *n = put_node(c, at);

        n->type = YAML_NODE_LEAVES;
        n->leaves = ARENA_NEW(c->arena, struct yaml_leaves);
        n->leaves->items = ARENA_NEW_ARRAY(c->arena, struct yaml_scalar, LEAVES_MOST);
        add_child(c, n);
        return n->leaves;
}

/* Adds the plain scalar to the leaves of a long sequence. False if it must be a node. Numbers, booleans and nulls contain no
 * character that the dialect replaces. */
static bool add_leaf(struct composer *c, const struct yaml_node *at, struct str text)
{
        struct yaml_node *parent = c->stack.n ? *vec_last(&c->stack) : NULL;
        struct yaml_leaves *leaves;
        struct yaml_scalar s;

        if (!c->joins_leaves || !parent || parent->type != YAML_NODE_SEQUENCE || parent->n_children < FIRST_LEAF)
                return false;
        s = yaml_resolve_plain(text);
        if (!is_leaf(&s))
                return false;
        leaves = parent->last->type == YAML_NODE_LEAVES ? parent->last->leaves : NULL;
        if (!leaves || leaves->n == LEAVES_MOST)
                leaves = new_leaves(c, at);
        else
                parent->n_children++;
        leaves->items[leaves->n++] = s;
        return true;
}

static void set_anchor(struct composer *c, struct yaml_node *n, const yaml_char_t *name)
{
        if (name)
                map_set(&c->anchors, copy_chars(c, name), n);
}

/* libyaml drops the non-specific tag `!` and says that such a scalar is plain; for go-yaml such a scalar is a string, and <<
 * with it is a merge key even in quotes. */
static int compose_scalar(struct composer *c, const yaml_event_t *e, struct err *err)
{
        struct yaml_node n = start_node(c, YAML_NODE_SCALAR, e), *put;
        struct str tag = STR_NONE, value = str_make((const char *)e->data.scalar.value, e->data.scalar.length);

        n.tag = copy_chars(c, e->data.scalar.tag);
        if (!c->is_utf16) {
                struct str text = str_first(c->text, offset_of(c, e->end_mark.index));
                size_t content = yaml_skip_properties(text, n.raw, &tag);

                if (n.tag.n && yaml_dialect_fix_tag(c->dialect, n.raw))
                        return AGAIN;
                if (c->flow_level && e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
                    check_flow_scalar(c, e, content, err) < 0)
                        return ERR_INVALID;
        }
        n.is_plain = e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && e->data.scalar.plain_implicit && n.tag.n == 0 &&
                     tag.n == 0;
        if (n.is_plain && !e->data.scalar.anchor && add_leaf(c, &n, value))
                return 0;
        n.text = yaml_dialect_restore(c->dialect, c->arena, value);
        if (str_equal(tag, STR("!")) && str_equal(n.text, STR("<<")))
                n.tag = STR(YAML_TAG_PREFIX "merge");
        put = put_node(c, &n);
        set_anchor(c, put, e->data.scalar.anchor);
        add_child(c, put);
        return 0;
}

static int compose_alias(struct composer *c, const yaml_event_t *e, struct err *err)
{
        struct yaml_node *n = new_node(c, YAML_NODE_ALIAS, e);

        n->text = copy_chars(c, e->data.alias.anchor);
        n->target = map_get(&c->anchors, n->text);
        if (!n->target) {
                int r = err_set(err, ERR_INVALID, "yaml: unknown anchor '%.*s' referenced", STR_ARG(n->text));

                err_set_position(err, position_of(c, e->start_mark));
                return r;
        }
        add_child(c, n);
        return 0;
}

static int open_collection(struct composer *c, const yaml_event_t *e, enum yaml_node_type type,
                           const yaml_char_t *anchor, bool is_tagged, struct err *err)
{
        struct yaml_node *n;

        if (c->stack.n >= c->max_depth) {
                int r = err_set(err, ERR_LIMIT, "yaml: exceeded max depth of %u", c->max_depth);

                err_set_position(err, position_of(c, e->start_mark));
                return r;
        }
        n = new_node(c, type, e);
        if (is_tagged && !c->is_utf16 && yaml_dialect_fix_tag(c->dialect, n->raw))
                return AGAIN;
        n->is_flow = e->type == YAML_SEQUENCE_START_EVENT ? e->data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE
                                                          : e->data.mapping_start.style == YAML_FLOW_MAPPING_STYLE;
        c->flow_level += n->is_flow;
        set_anchor(c, n, anchor);
        add_child(c, n);
        vec_push(&c->stack, n);
        return 0;
}

/* Returns 1 when the document is complete. */
static int compose_event(struct composer *c, const yaml_event_t *e, struct err *err)
{
        switch (e->type) {
        case YAML_STREAM_START_EVENT:
                c->is_utf16 = e->data.stream_start.encoding == YAML_UTF16LE_ENCODING ||
                              e->data.stream_start.encoding == YAML_UTF16BE_ENCODING;
                return 0;
        case YAML_ALIAS_EVENT:
                return compose_alias(c, e, err);
        case YAML_SCALAR_EVENT:
                return compose_scalar(c, e, err);
        case YAML_SEQUENCE_START_EVENT:
                return open_collection(c, e, YAML_NODE_SEQUENCE, e->data.sequence_start.anchor,
                                       e->data.sequence_start.tag, err);
        case YAML_MAPPING_START_EVENT:
                return open_collection(c, e, YAML_NODE_MAPPING, e->data.mapping_start.anchor, e->data.mapping_start.tag,
                                       err);
        case YAML_SEQUENCE_END_EVENT:
        case YAML_MAPPING_END_EVENT:
                c->flow_level -= vec_pop(&c->stack)->is_flow;
                return 0;
        case YAML_DOCUMENT_START_EVENT:
                return 0;
        case YAML_DOCUMENT_END_EVENT:
        case YAML_STREAM_END_EVENT:
        case YAML_NO_EVENT:
                return 1;
        }
        return 1;
}

static int compose_document(struct composer *c, struct err *err)
{
        for (;;) {
                yaml_event_t e;
                int r;

                if (!yaml_parser_parse(&c->parser, &e))
                        return fail_parser(c, err);
                r = compose_event(c, &e, err);
                yaml_event_delete(&e);
                if (r >= 0 && arena_check(c->arena, err) < 0)
                        return ERR_LIMIT;
                if (r != 0)
                        return r;
        }
}

static int compose_once(struct arena *a, struct yaml_dialect *d, uint32_t max_depth, bool joins_leaves,
                        struct yaml_node **ret, struct err *err)
{
        _cleanup_(composer_done)
        struct composer c = { .arena = a, .dialect = d, .max_depth = max_depth, .joins_leaves = joins_leaves };
        int r;

        c.text = c.rest = yaml_dialect_text(d);
        if (!yaml_parser_initialize(&c.parser))
                abort();
        yaml_parser_set_input(&c.parser, give_text, &c);
        r = compose_document(&c, err);
        if (r >= 0)
                *ret = c.root;
        return r;
}

static void free_arena(void *arena)
{
        arena_done(arena);
        free(arena);
}

/* Repeats compose_once until the text needs no more edits. Memory of all passes but the last is freed. */
static int compose_again(struct arena *a, struct yaml_dialect *d, uint32_t max_depth, bool joins_leaves,
                         struct yaml_node **ret, struct err *err)
{
        struct arena *own = xmalloc(sizeof(*own));
        int r;

        arena_init(own, a->name, a->budget_bytes);
        arena_pin(a, own, free_arena);
        do {
                arena_reset(own);
                r = compose_once(own, d, max_depth, joins_leaves, ret, err);
        } while (r == AGAIN);
        return r;
}

static int compose(struct arena *a, struct str text, uint32_t max_depth, bool joins_leaves, bool is_v3,
                   struct yaml_node **ret, struct err *err)
{
        _cleanup_(yaml_dialect_done)
        struct yaml_dialect d;
        int r;

        yaml_dialect_init(&d, text);
        d.is_v3 = is_v3;
        r = compose_once(a, &d, max_depth, joins_leaves, ret, err);
        if (r == AGAIN)
                r = compose_again(a, &d, max_depth, joins_leaves, ret, err);
        return r < 0 ? r : 0;
}

int yaml_compose(struct arena *a, struct str text, uint32_t max_depth, bool joins_leaves, struct yaml_node **ret,
                 struct err *err)
{
        return compose(a, text, max_depth, joins_leaves, false, ret, err);
}

int yaml_compose_v3(struct arena *a, struct str text, uint32_t max_depth, struct yaml_node **ret, struct err *err)
{
        return compose(a, text, max_depth, false, true, ret, err);
}

struct str yaml_with_newline(struct arena *a, struct str text)
{
        char *copy;

        if (str_ends_with(text, STR("\n")))
                return text;
        copy = arena_cstring(a, text);
        copy[text.n] = '\n';
        return str_make(copy, text.n + 1);
}
