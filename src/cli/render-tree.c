#include "render-tree.h"

#include "buf.h"
#include "condition.h"
#include "map.h"
#include "render-changes.h"
#include "render-text.h"
#include "utf8.h"
#include "vec.h"

#define ANNOTATION_RESOURCE STR("crossplane.io/composition-resource-name")
#define MAX_MESSAGE_BYTES   64
#define MIN_CELL            6
#define PADDING             3

enum column {
        COLUMN_NAME,
        COLUMN_RESOURCE,
        COLUMN_SYNCED,
        COLUMN_READY,
        COLUMN_STATUS,
        _COLUMN_COUNT,
};

struct row {
        struct str cells[_COLUMN_COUNT];
};

struct render_tree {
        struct arena *arena;
        VEC(struct row) rows;
};

static void unref(void *p)
{
        struct render_tree *t = p;

        vec_done(&t->rows);
}

struct render_tree *render_tree_new(struct arena *a)
{
        struct render_tree *t = ARENA_NEW(a, struct render_tree);
        struct row head = { { STR("NAME"), STR("RESOURCE"), STR("SYNCED"), STR("READY"), STR("STATUS") } };

        t->arena = a;
        arena_pin(a, t, unref);
        vec_push(&t->rows, head);
        return t;
}

/* --- Cells --- */

static struct str name_cell(struct arena *a, const char *branch, const struct value *object)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        buf_append_str(&b, str_from(branch));
        render_append_name(&b, object);
        return buf_to_arena(&b, a);
}

static struct str condition_cell(struct arena *a, const struct value *object, struct str type)
{
        struct condition c;

        return condition_get(object, type, &c) ? str_from(condition_status_name(c.status)) : STR("-");
}

static struct str reason_of(struct arena *a, const struct condition *c)
{
        struct str message = c->message;

        if (message.n == 0)
                return arena_copy(a, c->reason);
        if (message.n > MAX_MESSAGE_BYTES)
                message = arena_printf(a, "...%.*s", STR_ARG(str_skip(message, message.n - MAX_MESSAGE_BYTES)));
        return arena_printf(a, "%.*s: %.*s", STR_ARG(c->reason), STR_ARG(message));
}

static struct str status_cell(struct arena *a, const struct value *object)
{
        struct condition synced, ready;
        bool has_synced = condition_get(object, STR("Synced"), &synced);
        bool has_ready = condition_get(object, STR("Ready"), &ready);

        if (meta_is_deleting(object))
                return STR("Deleting");
        if (has_synced && synced.status != CONDITION_TRUE)
                return reason_of(a, &synced);
        if (has_ready && ready.status == CONDITION_TRUE)
                return arena_copy(a, ready.reason);
        return has_ready ? reason_of(a, &ready) : STR("");
}

/* --- Rows --- */

/* What the last step that spoke of a resource's readiness said, by name. */
static void read_readiness(struct arena *a, const struct render_output *out, struct map *ready)
{
        for (size_t i = 0; i < out->n_records; i++) {
                const struct render_change *changes;
                size_t n = render_changes(a, &out->records[i], &changes);

                for (size_t j = 0; j < n; j++)
                        if (changes[j].is_readiness && !changes[j].is_composite)
                                map_set(ready, changes[j].resource, (void *)changes[j].value);
        }
}

static const struct value *find_observed(const struct value *observed, struct str resource)
{
        VALUE_FOREACH_ITEM (item, observed)
                if (str_equal(meta_annotation(item, ANNOTATION_RESOURCE), resource))
                        return item;
        return NULL;
}

static void add_composed(struct render_tree *t, const struct value *object, const struct value *observed,
                         const struct map *ready, const char *branch)
{
        struct str resource = meta_annotation(object, ANNOTATION_RESOURCE);
        const struct value *there = find_observed(observed, resource), *is_ready = map_get(ready, resource);
        struct row row = { {
                [COLUMN_NAME] = name_cell(t->arena, branch, object),
                [COLUMN_RESOURCE] = arena_copy(t->arena, resource),
                [COLUMN_SYNCED] = condition_cell(t->arena, there, STR("Synced")),
                [COLUMN_READY] = str_equal(value_str(is_ready), STR("True")) ? STR("True") : STR("False"),
                [COLUMN_STATUS] = status_cell(t->arena, there),
        } };

        vec_push(&t->rows, row);
}

void render_tree_add(struct render_tree *t, const struct value *observed, const struct render_output *out)
{
        _cleanup_arena_ struct arena a;
        _cleanup_map_ struct map ready = { 0 };
        size_t n = value_count(out->composed);
        struct row root = { {
                [COLUMN_NAME] = name_cell(t->arena, "", out->composite),
                [COLUMN_SYNCED] = condition_cell(t->arena, out->composite, STR("Synced")),
                [COLUMN_READY] = condition_cell(t->arena, out->composite, STR("Ready")),
                [COLUMN_STATUS] = status_cell(t->arena, out->composite),
        } };

        arena_init(&a, "tree", 0);
        read_readiness(&a, out, &ready);
        vec_push(&t->rows, root);
        for (size_t i = 0; i < n; i++)
                add_composed(t, value_item(out->composed, i), observed, &ready, i + 1 == n ? "└─ " : "├─ ");
}

/* --- The table --- */

void render_tree_append(struct render_tree *t, struct buf *b)
{
        size_t widths[_COLUMN_COUNT];

        for (size_t c = 0; c < _COLUMN_COUNT; c++)
                widths[c] = MIN_CELL;
        for (size_t i = 0; i < t->rows.n; i++)
                for (size_t c = 0; c < _COLUMN_COUNT; c++)
                        widths[c] = MAX(widths[c], utf8_count(t->rows.p[i].cells[c]) + PADDING);
        for (size_t i = 0; i < t->rows.n; i++) {
                for (size_t c = 0; c < _COLUMN_COUNT; c++) {
                        struct str cell = t->rows.p[i].cells[c];

                        buf_append_str(b, cell);
                        if (c + 1 < _COLUMN_COUNT)
                                buf_append_repeat(b, ' ', widths[c] - utf8_count(cell));
                }
                buf_append_char(b, '\n');
        }
}
