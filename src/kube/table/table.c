#include "table.h"

#include "buf.h"
#include "gotext.h"
#include "json.h"
#include "jsonpath.h"
#include "table-cells.h"

#include <stdatomic.h>

/* A path may find many values, and only the first one is shown. */
#define MAX_FOUND 100000

struct table {
        _Atomic unsigned references;
        struct arena arena;
        struct table_column *columns;
        size_t n_columns;
        struct jsonpath **paths;            /* of a CRD, for all columns but the first */
        const struct table_kind_spec *spec; /* of a built-in kind */
};

#define NAME_DESCRIPTION \
        "The name of the object: unique among the objects of its kind, or among those in its namespace."

/* --- Life --- */

struct table *table_ref(struct table *t)
{
        atomic_fetch_add_explicit(&t->references, 1, memory_order_relaxed);
        return t;
}

void table_unref(struct table *t)
{
        if (!t || atomic_fetch_sub_explicit(&t->references, 1, memory_order_acq_rel) != 1)
                return;
        arena_done(&t->arena);
        free(t);
}

static struct str copy_text(struct arena *a, const struct value *column, struct str key)
{
        return arena_copy(a, value_str(value_get(column, key)));
}

/* Adds a column of a CRD; false if its path cannot be read. */
static bool add_crd_column(struct table *t, const struct value *column)
{
        struct arena *a = &t->arena;
        struct str path = copy_text(a, column, STR("jsonPath"));
        struct table_column *c = &t->columns[t->n_columns];

        if (jsonpath_compile(a, ARENA_CONCAT(a, STR("{"), path, STR("}")), &t->paths[t->n_columns], NULL) < 0)
                return false;
        *c = (struct table_column) {
                .name = copy_text(a, column, STR("name")),
                .type = copy_text(a, column, STR("type")),
                .format = copy_text(a, column, STR("format")),
                .description = copy_text(a, column, STR("description")),
                .priority = (int)value_int(value_get(column, STR("priority")), 0),
        };
        if (c->description.n == 0)
                c->description = ARENA_CONCAT(a, STR("Custom resource definition column (in JSONPath format): "), path);
        t->n_columns++;
        return true;
}

static void add_default_column(struct table *t)
{
        t->columns[t->n_columns] = (struct table_column) {
                .name = STR("Age"),
                .type = STR("date"),
                .description = STR("The time since the object was created."),
        };
        if (jsonpath_compile(&t->arena, STR("{.metadata.creationTimestamp}"), &t->paths[t->n_columns], NULL) >= 0)
                t->n_columns++;
}

static void fill_from_crd(struct table *t, const struct value *columns)
{
        size_t n = value_count(columns);

        t->columns = ARENA_NEW_ARRAY(&t->arena, struct table_column, n + 2);
        t->paths = ARENA_NEW_ARRAY(&t->arena, struct jsonpath *, n + 2);
        t->columns[t->n_columns++] = (struct table_column) {
                .name = STR("Name"),
                .type = STR("string"),
                .format = STR("name"),
                .description = STR(NAME_DESCRIPTION),
        };
        if (n == 0)
                add_default_column(t);
        for (size_t i = 0; i < n; i++)
                if (!add_crd_column(t, value_item(columns, i)))
                        break;
}

static void fill_from_spec(struct table *t)
{
        const struct table_kind_spec *spec = t->spec;

        t->columns = ARENA_NEW_ARRAY(&t->arena, struct table_column, spec->n_cells);
        t->n_columns = spec->n_cells;
        for (size_t i = 0; i < spec->n_cells; i++) {
                const struct table_cell_spec *c = &spec->cells[i];
                bool is_name = str_equal(c->name, STR("Name"));
                bool is_other_name = str_equal(c->name, STR("Attacher"));

                t->columns[i] = (struct table_column) {
                        .name = c->name,
                        .type = c->type.n > 0 ? c->type : STR("string"),
                        .format = is_name || is_other_name ? STR("name") : STR(""),
                        .description = is_name ? STR(NAME_DESCRIPTION) : STR(""),
                        .priority = c->priority,
                };
        }
}

int table_new(const struct kind *k, const struct kind_version *v, struct table **ret, struct err *err _unused_)
{
        struct table *t = xcalloc(1, sizeof(*t));

        t->references = 1;
        arena_init_pieces(&t->arena, "table", 0);
        if (k->is_custom) {
                fill_from_crd(t, value_get(k->crd_columns, v->name));
        } else {
                t->spec = table_kind_spec(k->group, k->kind);
                fill_from_spec(t);
        }
        *ret = t;
        return 0;
}

const struct table_column *table_columns(const struct table *t, size_t *ret_n)
{
        *ret_n = t->n_columns;
        return t->columns;
}

/* --- Ages --- */

/* A number with its unit, and a smaller one behind it unless that is 0. */
static struct str two_units(struct arena *a, int64_t large, const char *large_unit, int64_t small,
                            const char *small_unit)
{
        if (small == 0)
                return arena_printf(a, "%lld%s", (long long)large, large_unit);
        return arena_printf(a, "%lld%s%lld%s", (long long)large, large_unit, (long long)small, small_unit);
}

struct str table_duration(struct arena *a, int64_t seconds)
{
        int64_t minutes = seconds / 60, hours = minutes / 60, days = hours / 24, years = days / 365;

        if (seconds < -1)
                return STR("<invalid>");
        if (seconds < 120)
                return two_units(a, MAX(seconds, 0), "s", 0, "");
        if (minutes < 10)
                return two_units(a, minutes, "m", seconds % 60, "s");
        if (minutes < 3 * 60)
                return two_units(a, minutes, "m", 0, "");
        if (hours < 8)
                return two_units(a, hours, "h", minutes % 60, "m");
        if (hours < 48)
                return two_units(a, hours, "h", 0, "");
        if (hours < 24 * 8)
                return two_units(a, days, "d", hours % 24, "h");
        if (years < 2)
                return two_units(a, days, "d", 0, "");
        if (years < 8)
                return two_units(a, years, "y", days % 365, "d");
        return two_units(a, years, "y", 0, "");
}

/* --- Cells of a CRD --- */

static struct value date_cell(struct arena *a, const struct value *v, struct instant now)
{
        struct table_source s = { .arena = a, .now = now };

        return value_is_string(v) ? value_of_str(table_since(&s, v)) : value_null;
}

static struct value integer_cell(const struct value *v)
{
        if (value_is_int(v))
                return *v;
        if (!value_is_double(v))
                return value_null;
        /* Cut off as Go does it on amd64, where a number that does not fit becomes the smallest one. */
        return value_of_int(v->number >= -0x1p63 && v->number < 0x1p63 ? (int64_t)v->number : INT64_MIN);
}

static struct value text_cell(struct arena *a, const struct value *v)
{
        _cleanup_buf_ struct buf b = { 0 };

        if (value_is_string(v))
                return *v;
        if (value_is_null(v))
                return value_of_literal("<no value>");
        if (value_is_object(v) || value_is_array(v)) {
                if (json_write(&b, v, JSON_GO, NULL) < 0)
                        return value_null;
        } else {
                go_append_value(&b, v);
        }
        return value_of_str(buf_to_arena(&b, a));
}

static struct value crd_cell(struct arena *a, struct str type, const struct value *v, struct instant now)
{
        if (str_equal(type, STR("string")))
                return text_cell(a, v);
        if (str_equal(type, STR("integer")))
                return integer_cell(v);
        if (str_equal(type, STR("number")))
                return value_is_number(v) ? value_of_double(value_double(v, 0)) : value_null;
        if (str_equal(type, STR("boolean")))
                return value_is_bool(v) ? *v : value_null;
        return str_equal(type, STR("date")) ? date_cell(a, v, now) : value_null;
}

static struct value crd_column_cell(const struct table *t, size_t i, struct arena *a, const struct value *object,
                                    struct instant now)
{
        const struct value *const *found;
        size_t n;

        if (i == 0)
                return value_of_str(meta_name(object));
        if (jsonpath_find(t->paths[i], a, object, MAX_FOUND, &found, &n, NULL) < 0 || n == 0)
                return value_null;
        return crd_cell(a, t->columns[i].type, found[0], now);
}

/* --- Rows --- */

static struct value builtin_cell(const struct table *t, size_t i, struct arena *a, const struct value *object,
                                 struct instant now)
{
        const struct table_cell_spec *c = &t->spec->cells[i];
        struct table_source s = {
                .arena = a,
                .object = object,
                .now = now,
                .path = c->path,
                .otherwise = c->otherwise,
        };

        return c->cell(&s);
}

struct value table_cells(const struct table *t, struct arena *a, const struct value *object, struct instant now)
{
        struct array_builder cells;

        array_builder_init(&cells, a, t->n_columns);
        for (size_t i = 0; i < t->n_columns; i++)
                array_builder_add(&cells,
                                  t->spec ? builtin_cell(t, i, a, object, now) : crd_column_cell(t, i, a, object, now));
        return array_builder_finish(&cells);
}

struct value table_definitions(const struct table *t, struct arena *a)
{
        struct array_builder list;

        array_builder_init(&list, a, t->n_columns);
        for (size_t i = 0; i < t->n_columns; i++) {
                const struct table_column *c = &t->columns[i];
                struct member members[] = {
                        { STR("name"), value_of_str(c->name) },
                        { STR("type"), value_of_str(c->type) },
                        { STR("format"), value_of_str(c->format) },
                        { STR("description"), value_of_str(c->description) },
                        { STR("priority"), value_of_int(c->priority) },
                };

                array_builder_add(&list, value_of_members(a, members, ARRAY_SIZE(members), false));
        }
        return array_builder_finish(&list);
}

struct value table_row(const struct table *t, struct arena *a, const struct value *object, const struct value *shown,
                       struct instant now)
{
        struct object_builder row;

        object_builder_init(&row, a, 3);
        object_builder_add(&row, STR("cells"), table_cells(t, a, object, now));
        if (t->spec && t->spec->conditions) {
                struct value conditions = t->spec->conditions(a, object);

                if (value_count(&conditions) > 0)
                        object_builder_add(&row, STR("conditions"), conditions);
        }
        object_builder_add(&row, STR("object"), shown ? *shown : value_null);
        return object_builder_finish(&row);
}

struct value table_metadata_only(struct arena *a, const struct value *object)
{
        const struct value *metadata = value_get(object, STR("metadata"));
        struct member members[] = {
                { STR("kind"), value_of_literal("PartialObjectMetadata") },
                { STR("apiVersion"), value_of_literal("meta.k8s.io/v1") },
                { STR("metadata"), metadata ? *metadata : value_empty_object },
        };

        return value_of_members(a, members, ARRAY_SIZE(members), false);
}
