/* Resources inside resources have metadata of the same type. */
#include "metadata.h"

#include "buf.h"

struct walk {
        struct arena *arena;
        bool drops_bad; /* drops bad metadata instead of refusing it */
        struct str_list *unknown;
        struct err *err;
};

/* A position; it becomes text only for an error. */
struct place {
        const struct place *up;
        struct str key;
        size_t index;
        bool is_item;
};

static void append_path(struct buf *b, const struct place *at)
{
        if (!at)
                return;
        append_path(b, at->up);
        if (at->is_item) {
                buf_appendf(b, "[%zu]", at->index);
                return;
        }
        if (b->n)
                buf_append_char(b, '.');
        buf_append_str(b, at->key);
}

static struct str path_of(struct walk *w, const struct place *at)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        append_path(&b, at);
        return buf_to_arena(&b, w->arena);
}

/* Sets the error in Kubernetes' frame: with path and value. */
static int frame(struct walk *w, const struct place *at, const struct value *v, const char *text)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct field_errors errors;

        field_errors_init(&errors, w->arena);
        field_error_add(&errors, FIELD_INVALID, path_of(w, at), v, "%s", text);
        field_errors_append(&b, &errors);
        return err_set(w->err, ERR_INVALID, "%.*s", STR_ARG(buf_str(&b)));
}

static int coerce_type(struct walk *w, const struct value **v, struct str key, const struct place *up)
{
        struct place at = { .up = up, .key = key };
        const struct value *member = value_get(*v, key);

        if (!member || value_is_string(member))
                return 0;
        if (!w->drops_bad)
                return frame(w, &at, member, "must be a string");
        *v = value_without(w->arena, *v, key);
        return 0;
}

static int coerce_metadata(struct walk *w, const struct value **v, const struct place *up)
{
        struct place at = { .up = up, .key = STR("metadata") };
        const struct value *given = value_get(*v, STR("metadata")), *metadata;
        _cleanup_err_ struct err err = { 0 };

        if (!given)
                return 0;
        if (w->drops_bad)
                metadata = metadata_coerce_fitting(w->arena, given);
        else if (metadata_coerce_at(w->arena, given, path_of(w, &at), w->unknown, &metadata, &err) < 0)
                return frame(w, &at, given, err_message(&err));
        if (metadata != given)
                *v = value_with(w->arena, *v, STR("metadata"), metadata);
        return 0;
}

static int coerce_resource(struct walk *w, const struct value *v, const struct place *at, const struct value **ret)
{
        int r = coerce_type(w, &v, STR("apiVersion"), at);

        if (r == 0)
                r = coerce_type(w, &v, STR("kind"), at);
        if (r == 0)
                r = coerce_metadata(w, &v, at);
        *ret = v;
        return r;
}

static int walk_value(struct walk *w, const struct schema_node *n, const struct value *v, const struct place *at,
                      const struct value **ret);

static int walk_members(struct walk *w, const struct schema_node *n, const struct value *v, const struct place *up,
                        const struct value **ret)
{
        const struct value *result = v, *member;

        VALUE_FOREACH_MEMBER (m, v) {
                const struct schema_node *child = schema_node_property(n, m->key) ?: schema_node_additional(n);
                struct place at = { .up = up, .key = m->key };
                int r = walk_value(w, child, &m->value, &at, &member);

                if (r < 0)
                        return r;
                if (member != &m->value)
                        result = value_with(w->arena, result, m->key, member);
        }
        *ret = result;
        return 0;
}

static int walk_items(struct walk *w, const struct schema_node *n, const struct value *v, const struct place *up,
                      const struct value **ret)
{
        const struct value *result = v, *item;

        for (size_t i = 0; i < value_count(v); i++) {
                struct place at = { .up = up, .index = i, .is_item = true };
                int r = walk_value(w, schema_node_items(n), value_item(v, i), &at, &item);

                if (r < 0)
                        return r;
                if (item != value_item(v, i))
                        result = value_with_item(w->arena, result, i, item);
        }
        *ret = result;
        return 0;
}

static int walk_value(struct walk *w, const struct schema_node *n, const struct value *v, const struct place *at,
                      const struct value **ret)
{
        int r;

        *ret = v;
        if (!n || !schema_node_has_embedded(n))
                return 0;
        if (value_is_array(v))
                return walk_items(w, n, v, at, ret);
        if (!value_is_object(v))
                return 0;
        if (at && schema_node_is_embedded(n)) {
                r = coerce_resource(w, v, at, &v);
                if (r < 0)
                        return r;
        }
        return walk_members(w, n, v, at, ret);
}

int metadata_coerce_embedded(struct arena *a, const struct schema *schema, const struct value *object,
                             struct str_list *unknown, const struct value **ret, struct err *err)
{
        struct walk w = { .arena = a, .unknown = unknown, .err = err };

        return walk_value(&w, schema_root(schema), object, NULL, ret);
}

const struct value *metadata_coerce_default(struct arena *a, const struct schema_node *n, const struct value *dflt,
                                            bool is_resource)
{
        struct walk w = { .arena = a, .drops_bad = true };
        struct place top = { 0 };

        if (is_resource && !schema_node_is_embedded(n) && value_is_object(dflt))
                coerce_resource(&w, dflt, &top, &dflt);
        walk_value(&w, n, dflt, &top, &dflt);
        return dflt;
}
