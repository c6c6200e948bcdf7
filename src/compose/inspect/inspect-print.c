/* Trees as text, byte for byte as Crossplane's CLI prints them (docs/spec/packages 6.4). */
#include "inspect.h"

#include <stdio.h>
#include <stdlib.h>

#include "buf.h"
#include "condition.h"
#include "json.h"
#include "vec.h"
#include "yaml.h"

#define LONGEST_TEXT 64 /* of a message, unless it is wide */
#define LEAST_WIDTH  6
#define PADDING      3
#define MOST_CELLS   7

/* --- Cells --- */

struct row {
        struct str cells[MOST_CELLS];
};

struct table {
        struct arena *arena;
        size_t n_cells;
        bool is_wide;
        bool has_packages;
        VEC(struct row) rows;
};

static struct str cut(struct arena *a, struct str text, bool is_wide)
{
        if (is_wide || text.n <= LONGEST_TEXT)
                return text;
        return ARENA_CONCAT(a, STR("..."), str_skip(text, text.n - LONGEST_TEXT));
}

static struct str state_text(struct table *t, const struct condition *c)
{
        if (c->message.n == 0)
                return c->reason;
        return ARENA_CONCAT(t->arena, c->reason, STR(": "), cut(t->arena, c->message, t->is_wide));
}

static struct str status_cell(bool has, const struct condition *c)
{
        return has ? str_from(condition_status_name(c->status)) : STR("-");
}

/* The condition of an object that says most: the first that is not True and says something, else the second. */
static struct str status_text(struct table *t, const struct value *node, const struct condition *first,
                              const struct condition *second)
{
        struct str error = value_str(value_get(node, STR("message")));
        bool is_good = first->status == CONDITION_TRUE && second->status == CONDITION_TRUE;

        if (value_get(node, STR("error")))
                return ARENA_CONCAT(t->arena, STR("Error: "), cut(t->arena, error, t->is_wide || t->has_packages));
        if (meta_is_deleting(value_get(node, STR("object"))))
                return STR("Deleting");
        if (is_good)
                return second->reason;
        if (first->status != CONDITION_TRUE && (first->reason.n || first->message.n))
                return state_text(t, first);
        return state_text(t, second);
}

static struct str name_cell(struct arena *a, struct str indent, const struct value *object)
{
        struct str kind = value_str(value_get(object, STR("kind"))), ns = meta_namespace(object);

        if (ns.n)
                return ARENA_CONCAT(a, indent, kind, STR("/"), meta_name(object), STR(" ("), ns, STR(")"));
        return ARENA_CONCAT(a, indent, kind, STR("/"), meta_name(object));
}

static void resource_row(struct table *t, const struct value *node, struct str name)
{
        const struct value *object = value_get(node, STR("object"));
        struct condition synced, ready;
        bool has_synced = condition_get(object, STR("Synced"), &synced);
        bool has_ready = condition_get(object, STR("Ready"), &ready);
        struct row row = { 0 };
        size_t n = 0;

        row.cells[n++] = name;
        if (t->is_wide)
                row.cells[n++] = meta_annotation(object, STR("crossplane.io/composition-resource-name"));
        row.cells[n++] = status_cell(has_synced, &synced);
        row.cells[n++] = status_cell(has_ready, &ready);
        row.cells[n++] = status_text(t, node, &synced, &ready);
        vec_push(&t->rows, row);
}

/* --- Packages --- */

static bool is_revision(const struct value *object)
{
        return str_ends_with(value_str(value_get(object, STR("kind"))), STR("Revision"));
}

static bool is_package(const struct value *object)
{
        struct gvk gvk = gvk_of(object);

        return str_equal(gvk.group, STR("pkg.crossplane.io")) && !str_equal(gvk.kind, STR("Lock"));
}

static struct str package_of(const struct value *object)
{
        return value_str(value_find(object, "spec", is_revision(object) ? "image" : "package"));
}

/* `registry/org/name` and `v1.0.0`; a reference by digest has no version. */
static void split_package(struct str package, struct str *ret_source, struct str *ret_version)
{
        ptrdiff_t slash = str_find_last_char(package, '/'), colon = str_find_last_char(package, ':');

        *ret_source = package;
        *ret_version = STR("");
        if (str_find_char(package, '@') >= 0 || colon <= slash)
                return;
        *ret_source = str_first(package, (size_t)colon);
        *ret_version = str_skip(package, (size_t)colon + 1);
}

static void package_row(struct table *t, const struct value *node, struct str name)
{
        const struct value *object = value_get(node, STR("object"));
        struct str state = value_str(value_find(object, "spec", "desiredState")), source, version;
        struct condition installed, healthy;
        bool has_installed = condition_get(object, STR("Installed"), &installed);
        bool has_healthy = condition_get(object, STR("Healthy"), &healthy);
        struct row row = { 0 };
        size_t n = 0;

        split_package(package_of(object), &source, &version);
        if (is_revision(object))
                installed.status = CONDITION_TRUE;
        row.cells[n++] = name;
        if (t->is_wide)
                row.cells[n++] = source;
        row.cells[n++] = version;
        row.cells[n++] = status_cell(has_installed && !is_revision(object), &installed);
        row.cells[n++] = status_cell(has_healthy, &healthy);
        row.cells[n++] = is_revision(object) && state.n ? state : STR("-");
        row.cells[n++] = status_text(t, node, &installed, &healthy);
        vec_push(&t->rows, row);
}

/* --- Tables --- */

static void add_rows(struct table *t, const struct value *node, struct str indent, struct str indent_children)
{
        const struct value *children = value_get(node, STR("children"));
        struct str name = name_cell(t->arena, indent, value_get(node, STR("object")));
        size_t n = value_count(children);

        if (t->has_packages)
                package_row(t, node, name);
        else
                resource_row(t, node, name);
        for (size_t i = 0; i < n; i++) {
                bool is_last = i + 1 == n;

                add_rows(t, value_item(children, i),
                         ARENA_CONCAT(t->arena, indent_children, is_last ? STR("└─ ") : STR("├─ ")),
                         ARENA_CONCAT(t->arena, indent_children, is_last ? STR("   ") : STR("│  ")));
        }
}

static size_t width_of(struct str s)
{
        size_t n = 0;

        for (size_t i = 0; i < s.n; i++)
                n += ((unsigned char)s.p[i] & 0xc0) != 0x80;
        return n;
}

/* The last column of packages is padded, too. */
static void write_rows(const struct table *t, struct buf *b)
{
        size_t widths[MOST_CELLS] = { 0 }, n_padded = t->n_cells - !t->has_packages;

        for (size_t i = 0; i < t->rows.n; i++)
                for (size_t j = 0; j < t->n_cells; j++)
                        widths[j] = MAX(widths[j], width_of(t->rows.p[i].cells[j]) + PADDING);
        for (size_t j = 0; j < t->n_cells; j++)
                widths[j] = MAX(widths[j], (size_t)LEAST_WIDTH);
        for (size_t i = 0; i < t->rows.n; i++) {
                for (size_t j = 0; j < t->n_cells; j++) {
                        struct str cell = t->rows.p[i].cells[j];

                        buf_append_str(b, cell);
                        if (j < n_padded)
                                buf_append_repeat(b, ' ', widths[j] - width_of(cell));
                }
                buf_append_char(b, '\n');
        }
}

static void add_header(struct table *t)
{
        static const struct str resources[] = { STR_INIT("NAME"), STR_INIT("RESOURCE"), STR_INIT("SYNCED"),
                                                STR_INIT("READY"), STR_INIT("STATUS") };
        static const struct str packages[] = { STR_INIT("NAME"),      STR_INIT("PACKAGE"), STR_INIT("VERSION"),
                                               STR_INIT("INSTALLED"), STR_INIT("HEALTHY"), STR_INIT("STATE"),
                                               STR_INIT("STATUS") };
        size_t n = t->has_packages ? ARRAY_SIZE(packages) : ARRAY_SIZE(resources);
        struct row row = { 0 };

        for (size_t i = 0; i < n; i++)
                if (t->is_wide || i != 1) /* the second column is for wide tables */
                        row.cells[t->n_cells++] = t->has_packages ? packages[i] : resources[i];
        vec_push(&t->rows, row);
}

/* A tree is one root; a list has several. */
static size_t count_roots(const struct value *trace)
{
        return value_get(trace, STR("items")) ? value_count(value_get(trace, STR("items"))) : 1;
}

static const struct value *root_of(const struct value *trace, size_t i)
{
        const struct value *items = value_get(trace, STR("items"));

        return items ? value_item(items, i) : trace;
}

void inspect_print_table(struct buf *b, const struct value *trace, bool is_wide)
{
        _cleanup_arena_ struct arena a;
        struct table t = { .arena = &a, .is_wide = is_wide };

        arena_init(&a, "table", 0);
        t.has_packages = count_roots(trace) && is_package(value_get(root_of(trace, 0), STR("object")));
        add_header(&t);
        for (size_t i = 0; i < count_roots(trace); i++)
                add_rows(&t, root_of(trace, i), STR(""), STR(""));
        write_rows(&t, b);
        vec_done(&t.rows);
}

/* --- Graphs --- */

struct graph_node {
        const struct value *node;
        size_t number;      /* breadth first, from 0 */
        size_t first_child; /* the children have numbers from here on */
        char id[24];        /* the number as text; nodes are sorted by it */
};

struct graph {
        VEC(struct graph_node) nodes;
};

static void append_quoted(struct buf *b, struct str s)
{
        for (size_t i = 0; i < s.n; i++) {
                if (s.p[i] == '"' || s.p[i] == '\\')
                        buf_append_char(b, '\\');
                buf_append_char(b, s.p[i]);
        }
}

static void append_line(struct buf *b, const char *name, struct str v)
{
        buf_appendf(b, "%s: ", name);
        append_quoted(b, v);
        buf_append_literal(b, "\\n");
}

static struct str status_of(const struct value *object, const char *type)
{
        struct condition c;

        return condition_get(object, str_from(type), &c) ? str_from(condition_status_name(c.status)) : STR("");
}

static void append_label(struct buf *b, const struct value *object)
{
        _cleanup_buf_ struct buf name = BUF_INIT(0);

        if (!is_package(object))
                buf_appendf(&name, "%.*s/", STR_ARG(value_str(value_get(object, STR("kind")))));
        buf_append_str(&name, meta_name(object));
        append_line(b, "Name", buf_str(&name));
        append_line(b, "ApiVersion", value_str(value_get(object, STR("apiVersion"))));
        if (is_package(object)) {
                append_line(b, "Package", package_of(object));
                if (!is_revision(object) && value_get(object, STR("spec")))
                        append_line(b, "Installed", status_of(object, "Installed"));
                append_line(b, "Healthy", status_of(object, "Healthy"));
                if (!value_get(object, STR("spec")))
                        append_line(b, "Error", STR("spec: no such field"));
                return;
        }
        if (meta_namespace(object).n)
                append_line(b, "Namespace", meta_namespace(object));
        append_line(b, "Ready", status_of(object, "Ready"));
        append_line(b, "Synced", status_of(object, "Synced"));
}

static int compare_ids(const void *a, const void *b)
{
        return strcmp(((const struct graph_node *)a)->id, ((const struct graph_node *)b)->id);
}

static void add_node(struct graph *g, const struct value *node)
{
        struct graph_node n = { .node = node, .number = g->nodes.n };

        snprintf(n.id, sizeof(n.id), "%zu", n.number);
        vec_push(&g->nodes, n);
}

static void append_edges(const struct graph_node *from, struct buf *b)
{
        for (size_t i = 0; i < value_count(value_get(from->node, STR("children"))); i++)
                buf_appendf(b, "\tn%zu--n%zu;\n", from->number + 1, from->first_child + i + 1);
}

void inspect_print_dot(struct buf *b, const struct value *trace)
{
        struct graph g = { 0 };
        struct graph_node *sorted;

        for (size_t i = 0; i < count_roots(trace); i++)
                add_node(&g, root_of(trace, i));
        for (size_t i = 0; i < g.nodes.n; i++) {
                g.nodes.p[i].first_child = g.nodes.n;
                VALUE_FOREACH_ITEM (child, value_get(g.nodes.p[i].node, STR("children")))
                        add_node(&g, child);
        }
        sorted = xcalloc(g.nodes.n + 1, sizeof(*sorted));
        if (g.nodes.n) {
                memcpy(sorted, g.nodes.p, g.nodes.n * sizeof(*sorted));
                qsort(sorted, g.nodes.n, sizeof(*sorted), compare_ids);
        }
        buf_append_literal(b, "graph  {\n\t\n");
        for (size_t i = 0; i < g.nodes.n; i++) {
                buf_appendf(b, "\tn%zu[label=\"", sorted[i].number + 1);
                append_label(b, value_get(sorted[i].node, STR("object")));
                buf_append_literal(b, "\",penwidth=\"2\"];\n");
        }
        for (size_t i = 0; i < g.nodes.n; i++)
                append_edges(&sorted[i], b);
        buf_append_literal(b, "\t\n}\n");
        free(sorted);
        vec_done(&g.nodes);
}

/* --- JSON and YAML --- */

/* The object with all keys in order, as a Go map is written. */
static const struct value *sorted(struct arena *a, const struct value *object)
{
        const struct value *again = object;
        struct str text;

        if (json_to_str(a, object, JSON_SORT_KEYS, &text, NULL) == 0)
                json_parse(a, text, NULL, &again, NULL);
        return again;
}

/* The node without what is ours, in the order of the CLI's struct. */
static struct value plain_node(struct arena *a, const struct value *node)
{
        const struct value *error = value_get(node, STR("error")), *children = value_get(node, STR("children"));
        struct object_builder b;
        struct array_builder all;

        object_builder_init(&b, a, 3);
        object_builder_add(&b, STR("object"), *sorted(a, value_get(node, STR("object"))));
        if (error)
                object_builder_add(&b, STR("error"), *error);
        array_builder_init(&all, a, value_count(children));
        VALUE_FOREACH_ITEM (child, children)
                array_builder_add(&all, plain_node(a, child));
        if (all.n)
                object_builder_add(&b, STR("children"), array_builder_finish(&all));
        return object_builder_finish(&b);
}

static const struct value *plain_trace(struct arena *a, const struct value *trace)
{
        struct object_builder b;
        struct array_builder all;

        if (!value_get(trace, STR("items")))
                return value_put(a, plain_node(a, trace));
        array_builder_init(&all, a, count_roots(trace));
        for (size_t i = 0; i < count_roots(trace); i++)
                array_builder_add(&all, plain_node(a, root_of(trace, i)));
        object_builder_init(&b, a, 1);
        object_builder_add(&b, STR("items"), array_builder_finish(&all));
        return value_put(a, object_builder_finish(&b));
}

int inspect_print_json(struct buf *b, const struct value *trace, struct err *err)
{
        _cleanup_arena_ struct arena a;
        int r;

        arena_init(&a, "JSON", 0);
        r = json_write(b, plain_trace(&a, trace), JSON_PRETTY | JSON_ESCAPE_HTML, err);
        buf_append_char(b, '\n');
        return r;
}

int inspect_print_yaml(struct buf *b, const struct value *trace, struct err *err)
{
        _cleanup_arena_ struct arena a;
        int r;

        arena_init(&a, "YAML", 0);
        r = yaml_write(b, plain_trace(&a, trace), 0, err);
        buf_append_char(b, '\n');
        return r;
}
