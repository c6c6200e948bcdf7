#include "yaml-gosyntax.h"

#include "buf.h"
#include "gotext.h"
#include "number.h"
#include "vec.h"
#include "yaml-compose.h"
#include "yaml-scalar.h"

#include <inttypes.h>
#include <math.h>

struct entry {
        struct yaml_scalar scalar;
        struct str text;
        const struct yaml_node *key;
        const struct yaml_node *value;
        size_t number; /* in order of the text */
};

struct entries {
        VEC(struct entry) list;
        struct arena *scratch;
};

#define MAX_ENTRIES YAML_GO_SYNTAX_BYTES /* each prints several bytes */

static void append_node(const struct yaml_go_syntax *g, struct buf *b, const struct yaml_node *n);

static void append_resolved(struct buf *b, const struct yaml_scalar *s, struct str text)
{
        switch (s->kind) {
        case YAML_KIND_NULL:
                buf_append_literal(b, "interface {}(nil)");
                return;
        case YAML_KIND_BOOL:
                buf_append_str(b, s->boolean ? STR("true") : STR("false"));
                return;
        case YAML_KIND_INT:
                buf_append_int(b, s->integer);
                return;
        case YAML_KIND_UINT:
                buf_appendf(b, "0x%" PRIx64, s->natural);
                return;
        case YAML_KIND_FLOAT:
                number_append_go(b, s->number, 'g', -1);
                return;
        case YAML_KIND_STRING:
        case YAML_KIND_TIMESTAMP:
        case YAML_KIND_MERGE:
        case YAML_KIND_BINARY:
                go_append_quoted(b, text);
                return;
        }
}

static void append_scalar(const struct yaml_go_syntax *g, struct buf *b, const struct yaml_node *n)
{
        struct yaml_scalar s = { 0 };
        struct str text = STR("");

        (void)yaml_node_resolve(g->scratch, n, &s, &text, NULL);
        append_resolved(b, &s, text);
}

/* NaN sorts before all other numbers. */
static int compare_numbers(double a, double b)
{
        if (isnan(a) || isnan(b))
                return (isnan(b) != 0) - (isnan(a) != 0);
        return (a > b) - (a < b);
}

/* Go prints the keys of a map in order: nil, then by type, then by value. */
static int compare_keys(const struct entry *a, const struct entry *b)
{
        static const int ranks[] = {
                [YAML_KIND_NULL] = 0,  [YAML_KIND_STRING] = 1, [YAML_KIND_TIMESTAMP] = 1,
                [YAML_KIND_MERGE] = 1, [YAML_KIND_BINARY] = 1, [YAML_KIND_INT] = 2,
                [YAML_KIND_UINT] = 3,  [YAML_KIND_FLOAT] = 4,  [YAML_KIND_BOOL] = 5,
        };
        int order = ranks[a->scalar.kind] - ranks[b->scalar.kind];

        if (order != 0)
                return order;
        switch (a->scalar.kind) {
        case YAML_KIND_NULL:
                return 0;
        case YAML_KIND_BOOL:
                return a->scalar.boolean - b->scalar.boolean;
        case YAML_KIND_INT:
                return (a->scalar.integer > b->scalar.integer) - (a->scalar.integer < b->scalar.integer);
        case YAML_KIND_UINT:
                return (a->scalar.natural > b->scalar.natural) - (a->scalar.natural < b->scalar.natural);
        case YAML_KIND_FLOAT:
                return compare_numbers(a->scalar.number, b->scalar.number);
        case YAML_KIND_STRING:
        case YAML_KIND_TIMESTAMP:
        case YAML_KIND_MERGE:
        case YAML_KIND_BINARY:
                break;
        }
        return str_compare(a->text, b->text);
}

static int compare_entries(const void *left, const void *right)
{
        const struct entry *a = left, *b = right;
        int order = compare_keys(a, b);

        return order ? order : (a->number > b->number) - (a->number < b->number);
}

static void collect(struct entries *e, const struct yaml_node *mapping);

static void collect_merge(struct entries *e, const struct yaml_node *value)
{
        VEC(const struct yaml_node *) mappings = { 0 };

        if (value->type != YAML_NODE_SEQUENCE) {
                collect(e, yaml_behind_alias(value));
                return;
        }
        for (const struct yaml_node *n = value->first; n; n = n->next)
                vec_push(&mappings, n);
        while (mappings.n)
                collect(e, yaml_behind_alias(vec_pop(&mappings)));
        vec_done(&mappings);
}

static void collect(struct entries *e, const struct yaml_node *mapping)
{
        for (const struct yaml_node *key = mapping->first; key; key = key->next->next) {
                struct entry entry = { .key = yaml_behind_alias(key), .value = key->next, .number = e->list.n };

                if (e->list.n >= MAX_ENTRIES)
                        return;
                if (yaml_node_is_merge(key)) {
                        collect_merge(e, key->next);
                        continue;
                }
                (void)yaml_node_resolve(e->scratch, entry.key, &entry.scalar, &entry.text, NULL);
                vec_push(&e->list, entry);
        }
}

/* True if both are the same key of the map; NaN never equals NaN. */
static bool is_same_key(const struct entry *a, const struct entry *b)
{
        return compare_keys(a, b) == 0 && !(a->scalar.kind == YAML_KIND_FLOAT && isnan(a->scalar.number));
}

static void append_mapping(const struct yaml_go_syntax *g, struct buf *b, const struct yaml_node *n)
{
        struct entries e = { .scratch = g->scratch };
        const char *comma = "";

        collect(&e, n);
        if (e.list.n)
                qsort(e.list.p, e.list.n, sizeof(*e.list.p), compare_entries);
        buf_append_literal(b, "map[interface {}]interface {}{");
        for (size_t i = 0; i < e.list.n && !b->has_failed; i++) {
                size_t other = g->keeps_first ? i - 1 : i + 1;

                if (other < e.list.n && is_same_key(&e.list.p[i], &e.list.p[other]))
                        continue;
                buf_append_str(b, str_from(comma));
                append_scalar(g, b, e.list.p[i].key);
                buf_append_char(b, ':');
                append_node(g, b, e.list.p[i].value);
                comma = ", ";
        }
        buf_append_char(b, '}');
        vec_done(&e.list);
}

static void append_sequence(const struct yaml_go_syntax *g, struct buf *b, const struct yaml_node *n)
{
        buf_append_literal(b, "[]interface {}{");
        for (const struct yaml_node *child = n->first; child && !b->has_failed; child = child->next) {
                append_node(g, b, child);
                if (child->next)
                        buf_append_literal(b, ", ");
        }
        buf_append_char(b, '}');
}

static void append_leaves(struct buf *b, const struct yaml_leaves *leaves)
{
        for (uint32_t i = 0; i < leaves->n && !b->has_failed; i++) {
                append_resolved(b, &leaves->items[i], STR(""));
                if (i + 1 < leaves->n)
                        buf_append_literal(b, ", ");
        }
}

static void append_node(const struct yaml_go_syntax *g, struct buf *b, const struct yaml_node *n)
{
        n = yaml_behind_alias(n);
        if (n->type == YAML_NODE_MAPPING)
                append_mapping(g, b, n);
        else if (n->type == YAML_NODE_SEQUENCE)
                append_sequence(g, b, n);
        else if (n->type == YAML_NODE_LEAVES)
                append_leaves(b, n->leaves);
        else
                append_scalar(g, b, n);
}

void yaml_append_go_syntax(const struct yaml_go_syntax *g, struct buf *b, const struct yaml_node *n)
{
        struct yaml_scalar s = { .kind = YAML_KIND_STRING };
        struct str text;

        n = yaml_behind_alias(n);
        if (n->type == YAML_NODE_SCALAR)
                (void)yaml_node_resolve(g->scratch, n, &s, &text, NULL);
        if (!g->is_in_interface && s.kind == YAML_KIND_NULL)
                buf_append_literal(b, "<nil>");
        else
                append_node(g, b, n);
}
