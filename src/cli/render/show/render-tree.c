#include "render-tree.h"

#include "buf.h"
#include "condition.h"
#include "map.h"
#include "render-changes.h"
#include "render-text.h"
#include "utf8.h"
#include "vec.h"

#define ANNOTATION_RESOURCE STR("crossplane.io/composition-resource-name")
#define MAX_MESSAGE_BYTES   64 /* of a composed resource; the composite's message is not cut */
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
        if (meta_name(object).n)
                render_append_name(&b, object);
        else
                buf_append_str(&b, gvk_of(object).kind);
        return buf_to_arena(&b, a);
}

static struct str condition_cell(struct arena *a, const struct value *object, struct str type)
{
        struct condition c;

        return condition_get(object, type, &c) ? str_from(condition_status_name(c.status)) : STR("-");
}

static struct str reason_of(struct arena *a, const struct condition *c, size_t max_bytes)
{
        struct str message = c->message;

        if (message.n == 0)
                return arena_copy(a, c->reason);
        if (message.n > max_bytes)
                message = arena_printf(a, "...%.*s", STR_ARG(str_skip(message, message.n - max_bytes)));
        return arena_printf(a, "%.*s: %.*s", STR_ARG(c->reason), STR_ARG(message));
}

static struct str status_cell(struct arena *a, const struct value *object, size_t max_bytes)
{
        struct condition synced, ready;
        bool has_synced = condition_get(object, STR("Synced"), &synced);
        bool has_ready = condition_get(object, STR("Ready"), &ready);

        if (meta_is_deleting(object))
                return STR("Deleting");
        if (has_synced && synced.status != CONDITION_TRUE)
                return reason_of(a, &synced, max_bytes);
        if (has_ready && ready.status == CONDITION_TRUE)
                return arena_copy(a, ready.reason);
        return has_ready ? reason_of(a, &ready, max_bytes) : STR("");
}

/* --- The steps' records --- */

/* The information of the records about a resource. */
struct told {
        struct str resource;
        struct str ready;                 /* "True", "False", or empty: no step sets it */
        const struct value *object;       /* the object before a step removed it; NULL while it is desired */
        const struct step_record *record; /* the step that removed it */
};

struct story {
        struct arena *arena;
        struct map resources;                   /* struct told, by name */
        const struct step_record *not_ready_by; /* the step that last set the composite not ready; NULL: none */
};

static struct told *told_of(struct story *s, struct str resource)
{
        struct told *told = map_get(&s->resources, resource);

        if (told)
                return told;
        told = ARENA_NEW(s->arena, struct told);
        told->resource = resource;
        map_set(&s->resources, resource, told);
        return told;
}

static void read_change(struct story *s, const struct step_record *record, const struct render_change *c)
{
        struct told *told;

        if (c->is_composite) {
                if (c->is_readiness)
                        s->not_ready_by = str_equal(value_str(c->value), STR("False")) ? record : NULL;
                return;
        }
        told = told_of(s, c->resource);
        if (c->is_readiness) {
                told->ready = value_str(c->value);
        } else if (c->pointer.n == 0) {
                told->object = c->op == CHANGE_REMOVE ? c->old : NULL;
                told->record = c->op == CHANGE_REMOVE ? record : NULL;
        }
}

static void read_story(struct story *s, const struct render_output *out)
{
        for (size_t i = 0; i < out->n_records; i++) {
                const struct render_change *changes;
                size_t n = render_changes(s->arena, &out->records[i], &changes);

                for (size_t j = 0; j < n; j++)
                        read_change(s, &out->records[i], &changes[j]);
        }
}

/* --- Rows --- */

static const struct value *find_observed(const struct value *observed, struct str resource)
{
        VALUE_FOREACH_ITEM (item, observed)
                if (str_equal(meta_annotation(item, ANNOTATION_RESOURCE), resource))
                        return item;
        return NULL;
}

static void add_composed(struct render_tree *t, const struct value *object, const struct value *observed,
                         struct story *story, const char *branch)
{
        struct str resource = meta_annotation(object, ANNOTATION_RESOURCE);
        const struct value *there = find_observed(observed, resource);
        bool is_ready = str_equal(told_of(story, resource)->ready, STR("True"));
        struct row row = { {
                [COLUMN_NAME] = name_cell(t->arena, branch, object),
                [COLUMN_RESOURCE] = arena_copy(t->arena, resource),
                [COLUMN_SYNCED] = condition_cell(t->arena, there, STR("Synced")),
                [COLUMN_READY] = is_ready ? STR("True") : STR("False"),
                [COLUMN_STATUS] =
                        there || is_ready ? status_cell(t->arena, there, MAX_MESSAGE_BYTES) : STR("not created yet"),
        } };

        vec_push(&t->rows, row);
}

/* The result message of the step that mentions the resource, as function-sequencer writes one; empty if there is none. */
static struct str words_about(const struct told *told)
{
        for (size_t i = 0; i < told->record->n_results; i++)
                if (str_find(told->record->results[i].message, told->resource) >= 0)
                        return told->record->results[i].message;
        return STR("");
}

static void add_held_back(struct render_tree *t, const struct told *told, const char *branch)
{
        struct str words = words_about(told);
        struct row row = { {
                [COLUMN_NAME] = name_cell(t->arena, branch, told->object),
                [COLUMN_RESOURCE] = arena_copy(t->arena, told->resource),
                [COLUMN_SYNCED] = STR("-"),
                [COLUMN_READY] = STR("-"),
                [COLUMN_STATUS] =
                        arena_printf(t->arena, "held back by step \"%.*s\" (%.*s)%s%.*s", STR_ARG(told->record->step),
                                     STR_ARG(told->record->function), words.n ? ": " : "", STR_ARG(words)),
        } };

        vec_push(&t->rows, row);
}

static size_t count_held_back(const struct story *s)
{
        size_t n = 0;

        for (struct map_entry *e = map_first(&s->resources); e; e = map_next(&s->resources, e))
                n += ((const struct told *)e->value)->object != NULL;
        return n;
}

/* If the composite is not ready and its condition has no message, a step set it not ready: names this step. */
static struct str root_status(struct arena *a, const struct value *composite, const struct story *s)
{
        struct condition ready;
        struct str status = status_cell(a, composite, SIZE_MAX);

        if (!s->not_ready_by || !condition_get(composite, STR("Ready"), &ready) || ready.status == CONDITION_TRUE ||
            ready.message.n)
                return status;
        return arena_printf(a, "%.*s: step \"%.*s\" (%.*s) says that it is not ready", STR_ARG(status),
                            STR_ARG(s->not_ready_by->step), STR_ARG(s->not_ready_by->function));
}

static void add_root(struct render_tree *t, const struct value *object, struct str status)
{
        struct row row = { {
                [COLUMN_NAME] = name_cell(t->arena, "", object),
                [COLUMN_SYNCED] = condition_cell(t->arena, object, STR("Synced")),
                [COLUMN_READY] = condition_cell(t->arena, object, STR("Ready")),
                [COLUMN_STATUS] = status,
        } };

        vec_push(&t->rows, row);
}

static void add_rows(struct render_tree *t, const struct value *observed, const struct render_output *out,
                     struct story *story)
{
        size_t n = value_count(out->composed), n_all = n + count_held_back(story);

        add_root(t, out->composite, root_status(t->arena, out->composite, story));
        for (size_t i = 0; i < n; i++)
                add_composed(t, value_item(out->composed, i), observed, story, i + 1 == n_all ? "└─ " : "├─ ");
        for (struct map_entry *e = map_first(&story->resources); e; e = map_next(&story->resources, e))
                if (((const struct told *)e->value)->object)
                        add_held_back(t, e->value, ++n == n_all ? "└─ " : "├─ ");
}

void render_tree_add(struct render_tree *t, const struct value *claim, const struct value *observed,
                     const struct render_output *out)
{
        _cleanup_arena_ struct arena a;
        struct story story = { .arena = &a };

        arena_init(&a, "tree", 0);
        if (claim)
                add_root(t, claim, status_cell(t->arena, claim, SIZE_MAX));
        read_story(&story, out);
        add_rows(t, observed, out, &story);
        map_done(&story.resources);
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
