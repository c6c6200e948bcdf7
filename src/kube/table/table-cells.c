/* Cells of many kinds. */
#include "table-cells.h"

#include "buf.h"
#include "label-selector.h"
#include "quantity.h"

/* --- Pieces --- */

const struct value *table_get(const struct value *object, const char *path)
{
        return value_find_dotted(object, str_from(path));
}

struct str table_text(const struct value *object, const char *path)
{
        return value_str(table_get(object, path));
}

struct value table_printf(const struct table_source *s, const char *format, ...)
{
        va_list arguments;
        struct str text;

        va_start(arguments, format);
        text = arena_vprintf(s->arena, format, arguments);
        va_end(arguments);
        return value_of_str(text);
}

/* Whole seconds from t to now, cut off; as far as a duration of Go reaches. */
static int64_t seconds_since(struct instant now, struct instant t)
{
        const int64_t most = INT64_MAX / NS_PER_SECOND;
        int64_t seconds = now.seconds - t.seconds;

        if (seconds > 0 && now.nanos < t.nanos)
                seconds--;
        else if (seconds < 0 && now.nanos > t.nanos)
                seconds++;
        return seconds > most ? most : seconds < -most ? -most : seconds;
}

struct str table_since(const struct table_source *s, const struct value *time)
{
        struct str text = value_str(time);
        struct instant t;

        if (text.n == 0 || str_equal(text, STR("null")))
                return STR("<unknown>");
        if (time_parse_rfc3339(text, &t, NULL) < 0)
                return STR("<invalid>");
        return table_duration(s->arena, seconds_since(s->now, t));
}

struct str table_join(struct arena *a, const struct str *texts, size_t n, struct str separator)
{
        _cleanup_buf_ struct buf b = { 0 };

        for (size_t i = 0; i < n; i++) {
                if (i > 0)
                        buf_append_str(&b, separator);
                buf_append_str(&b, texts[i]);
        }
        return buf_to_arena(&b, a);
}

struct str table_join_some(struct arena *a, const struct str *texts, size_t n, size_t max, size_t count)
{
        struct str joined = table_join(a, texts, n < max ? n : max, STR(","));

        return count > max ? arena_printf(a, "%.*s + %zu more...", STR_ARG(joined), count - max) : joined;
}

struct str table_quantity(struct arena *a, const struct value *v)
{
        _cleanup_buf_ struct buf b = { 0 };
        struct quantity q;

        if (value_is_int(v))
                return arena_printf(a, "%lld", (long long)v->integer);
        if (!value_is_string(v))
                return STR("0");
        if (quantity_parse(a, value_str(v), &q, NULL) < 0)
                return value_str(v);
        quantity_append(&b, &q);
        return buf_to_arena(&b, a);
}

struct str table_condition(const struct value *object, struct str type)
{
        VALUE_FOREACH_ITEM (c, table_get(object, "status.conditions"))
                if (str_equal(value_str(value_get(c, STR("type"))), type))
                        return value_str(value_get(c, STR("status")));
        return STR("");
}

/* --- Cells --- */

static const struct value *source_value(const struct table_source *s)
{
        return value_find_dotted(s->object, s->path);
}

struct value table_name(const struct table_source *s)
{
        return value_of_str(meta_name(s->object));
}

struct value table_age(const struct table_source *s)
{
        return value_of_str(table_since(s, table_get(s->object, "metadata.creationTimestamp")));
}

struct value table_created_at(const struct table_source *s)
{
        return value_of_str(table_text(s->object, "metadata.creationTimestamp"));
}

struct value table_string(const struct table_source *s)
{
        const struct value *v = source_value(s);

        return value_is_string(v) ? *v : value_of_str(s->otherwise);
}

struct value table_filled(const struct table_source *s)
{
        struct str text = value_str(source_value(s));

        return value_of_str(text.n > 0 ? text : s->otherwise);
}

struct value table_integer(const struct table_source *s)
{
        return value_of_int(value_int(source_value(s), 0));
}

struct value table_boolean(const struct table_source *s)
{
        return value_of_bool(value_bool(source_value(s), str_equal(s->otherwise, STR("true"))));
}

struct value table_count(const struct table_source *s)
{
        return value_of_int((int64_t)value_count(source_value(s)));
}

struct value table_labels(const struct table_source *s)
{
        const struct value *labels = source_value(s);
        _cleanup_buf_ struct buf b = { 0 };

        if (value_count(labels) == 0)
                return value_of_literal("<none>");
        labels = value_sorted(s->arena, labels);
        VALUE_FOREACH_MEMBER (m, labels)
                buf_appendf(&b, "%s%.*s=%.*s", b.n > 0 ? "," : "", STR_ARG(m->key), STR_ARG(value_str(&m->value)));
        return value_of_str(buf_to_arena(&b, s->arena));
}

struct value table_selector(const struct table_source *s)
{
        _cleanup_buf_ struct buf b = { 0 };
        struct label_selector selector;

        if (label_selector_from_value(s->arena, source_value(s), &selector, NULL) < 0)
                return value_of_literal("<error>");
        label_selector_append(&b, &selector);
        return b.n > 0 ? value_of_str(buf_to_arena(&b, s->arena)) : value_of_literal("<none>");
}

static struct value join_of_containers(const struct table_source *s, struct str key)
{
        _cleanup_buf_ struct buf b = { 0 };
        size_t n = 0;

        VALUE_FOREACH_ITEM (c, value_get(source_value(s), STR("containers"))) {
                if (n++ > 0)
                        buf_append_char(&b, ',');
                buf_append_str(&b, value_str(value_get(c, key)));
        }
        return value_of_str(buf_to_arena(&b, s->arena));
}

struct value table_containers(const struct table_source *s)
{
        return join_of_containers(s, STR("name"));
}

struct value table_images(const struct table_source *s)
{
        return join_of_containers(s, STR("image"));
}

struct value table_list(const struct table_source *s)
{
        const struct value *list = source_value(s);
        struct str *texts = ARENA_NEW_ARRAY(s->arena, struct str, value_count(list)), joined;
        size_t n = 0;

        VALUE_FOREACH_ITEM (item, list)
                texts[n++] = value_str(item);
        joined = table_join(s->arena, texts, n, STR(","));
        return value_of_str(joined.n > 0 ? joined : s->otherwise);
}

struct value table_named_default(const struct table_source *s)
{
        struct str name = meta_name(s->object);

        if (str_equal(meta_annotation(s->object, s->path), STR("true")) ||
            str_equal(meta_annotation(s->object, s->otherwise), STR("true")))
                return table_printf(s, "%.*s (default)", STR_ARG(name));
        return value_of_str(name);
}
