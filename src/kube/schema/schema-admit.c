/* Pruning, dropping of nulls and defaulting, in one walk over value and schema. Unchanged parts are shared; an object is copied
 * only when its first difference is found. */
#include "schema.h"

#include "buf.h"
#include "metadata.h"
#include "schema-node.h"

enum admit_work {
        ADMIT_PRUNE = 1 << 0,
        ADMIT_DROP_NULLS = 1 << 1,
        ADMIT_DEFAULT = 1 << 2,
};

struct admit {
        struct arena *arena;
        unsigned work;
        struct str_list *unknown;
};

/* The result for one member or item. */
enum outcome { SAME, CHANGED, DROPPED };

static enum outcome admit_value(struct admit *w, const struct schema_node *n, const struct value *v, bool is_resource,
                                const struct schema_step *at, struct value *ret);

static void report_unknown(struct admit *w, const struct schema_step *up, struct str key)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct schema_step at = { up, { key.n ? key.p : "", key.n }, 0 };

        if (!w->unknown)
                return;
        step_append(&b, &at);
        str_list_add(w->unknown, buf_to_arena(&b, w->unknown->arena));
}

/* A default, with the defaults inside it filled in. Fields that the schema or metadata do not allow are removed, because not all
 * defaults are checked for them. */
static struct value default_of(struct admit *w, const struct schema_node *n, const struct value *dflt)
{
        const struct value *copy = value_copy(w->arena, dflt);
        struct admit inside = { .arena = w->arena, .work = ADMIT_DEFAULT | ADMIT_PRUNE };
        struct schema_step root = { 0 };
        struct value filled;

        if (n->flags & NODE_EMBEDDED_BELOW)
                copy = metadata_coerce_default(w->arena, n, copy, false);
        return admit_value(&inside, n, copy, n->flags & NODE_EMBEDDED, &root, &filled) == CHANGED ? filled : *copy;
}

/* A value with the schema n: a property, an additional property or an item. */
static enum outcome admit_child(struct admit *w, const struct schema_node *n, const struct value *v, bool may_drop,
                                const struct schema_step *at, struct value *ret)
{
        const struct value *dflt;

        if (v->type < VALUE_ARRAY) {
                if (v->type != VALUE_NULL || !n || n->flags & NODE_NULLABLE)
                        return SAME;
                dflt = schema_node_default(n);
                if (!dflt)
                        return may_drop && w->work & ADMIT_DROP_NULLS ? DROPPED : SAME;
                if (!(w->work & ADMIT_DEFAULT))
                        return SAME;
                *ret = default_of(w, n, dflt);
                return CHANGED;
        }
        return admit_value(w, n, v, n && n->flags & NODE_EMBEDDED, at, ret);
}

static bool is_type_meta(struct str key)
{
        return str_equal(key, STR("metadata")) || str_equal(key, STR("kind")) || str_equal(key, STR("apiVersion"));
}

struct object_walk {
        struct admit *admit;
        const struct schema_node *node; /* NULL: the schema declares nothing here */
        const struct value *object;
        const struct schema_step *at;
        bool is_resource;
        bool has_changed; /* from then on kept members go into the builder */
        uint32_t cursor;
        uint32_t n_defaults; /* existing properties that have a default */
        struct object_builder builder;
};

static void start_copy(struct object_walk *o, uint32_t n_before)
{
        if (o->has_changed)
                return;
        o->has_changed = true;
        object_builder_init(&o->builder, o->admit->arena, o->object->n);
        for (uint32_t i = 0; i < n_before; i++)
                object_builder_add(&o->builder, o->object->members[i].key, o->object->members[i].value);
}

static enum outcome admit_member(struct object_walk *o, const struct member *m, struct value *ret)
{
        struct schema_step at = { o->at, { m->key.n ? m->key.p : "", m->key.n }, 0 };
        const struct schema_node *n = o->node, *child = NULL;
        const struct schema_entry *e = NULL;

        if (n && n->n_properties > 0)
                e = node_find_entry(n, m->key, &o->cursor);
        if (e && e->flags & ENTRY_DEFAULT)
                o->n_defaults++;
        if (o->is_resource && is_type_meta(m->key))
                return SAME;
        if (e)
                child = node_at(e, e->node);
        else if (n && n->additional)
                child = node_at(n, n->additional);
        if (child)
                return admit_child(o->admit, child, &m->value, e || !(n->flags & NODE_ADDITIONAL_TRUE), &at, ret);
        if (n && n->flags & NODE_PRESERVES)
                return SAME;
        if (n && n->flags & NODE_ADDITIONAL_FALSE)
                return admit_child(o->admit, NULL, &m->value, false, &at, ret);
        if (!(o->admit->work & ADMIT_PRUNE))
                return SAME;
        report_unknown(o->admit, o->at, m->key);
        return DROPPED;
}

static bool is_sorted(const struct value *object)
{
        for (uint32_t i = 1; i < object->n; i++)
                if (str_compare(object->members[i - 1].key, object->members[i].key) >= 0)
                        return false;
        return true;
}

static void add_default(struct object_walk *o, struct object_builder *b, const struct schema_entry *e)
{
        const struct schema_node *n = node_at(e, e->node);

        object_builder_add(b, arena_copy(o->admit->arena, entry_name(e)),
                           default_of(o->admit, n, schema_node_default(n)));
}

/* Adds the defaults of missing properties: at their place in the order of keys, or at the end if the keys are not in order. */
static struct value with_defaults(struct object_walk *o, const struct value *v)
{
        const struct schema_entry *e = node_entries(o->node), *end = e + o->node->n_properties;
        bool in_order = is_sorted(v);
        struct object_builder b;
        uint32_t i = 0;

        object_builder_init(&b, o->admit->arena, v->n + (size_t)o->node->n_defaults - o->n_defaults);
        for (; e < end; e++) {
                if (!(e->flags & ENTRY_DEFAULT) || value_get(v, entry_name(e)))
                        continue;
                for (; i < v->n && (!in_order || str_compare(v->members[i].key, entry_name(e)) < 0); i++)
                        object_builder_add(&b, v->members[i].key, v->members[i].value);
                add_default(o, &b, e);
        }
        for (; i < v->n; i++)
                object_builder_add(&b, v->members[i].key, v->members[i].value);
        return object_builder_finish(&b);
}

static enum outcome admit_object(struct admit *w, const struct schema_node *n, const struct value *v, bool is_resource,
                                 const struct schema_step *at, struct value *ret)
{
        struct object_walk o = { .admit = w, .node = n, .object = v, .at = at, .is_resource = is_resource };

        for (uint32_t i = 0; i < v->n; i++) {
                struct value changed;
                enum outcome outcome = admit_member(&o, &v->members[i], &changed);

                if (outcome != SAME)
                        start_copy(&o, i);
                if (o.has_changed && outcome != DROPPED)
                        object_builder_add(&o.builder, v->members[i].key,
                                           outcome == CHANGED ? changed : v->members[i].value);
        }
        *ret = o.has_changed ? object_builder_finish(&o.builder) : *v;
        if (w->work & ADMIT_DEFAULT && n && o.n_defaults < n->n_defaults) {
                *ret = with_defaults(&o, ret);
                return CHANGED;
        }
        return o.has_changed ? CHANGED : SAME;
}

static enum outcome admit_array(struct admit *w, const struct schema_node *n, const struct value *v,
                                const struct schema_step *at, struct value *ret)
{
        const struct schema_node *items = n ? node_at(n, n->items) : NULL;
        struct value *copy = NULL;

        if (!items && n && n->flags & NODE_PRESERVES)
                return SAME;
        for (uint32_t i = 0; i < v->n; i++) {
                struct schema_step item_at = { .up = at, .index = i };
                struct value changed;

                if (admit_child(w, items, &v->items[i], false, &item_at, &changed) != CHANGED)
                        continue;
                if (!copy) {
                        copy = arena_alloc(w->arena, v->n * sizeof(*copy));
                        memcpy(copy, v->items, v->n * sizeof(*copy));
                }
                copy[i] = changed;
        }
        if (!copy)
                return SAME;
        *ret = *v;
        ret->items = copy;
        return CHANGED;
}

static enum outcome admit_value(struct admit *w, const struct schema_node *n, const struct value *v, bool is_resource,
                                const struct schema_step *at, struct value *ret)
{
        /* Outside the schema, and where nothing is declared and everything is kept, only pruning has work to do. */
        if (!(w->work & ADMIT_PRUNE) && !n)
                return SAME;
        if (w->work == ADMIT_DEFAULT && !(n->flags & NODE_DEFAULTS_BELOW))
                return SAME;
        if (value_is_object(v))
                return admit_object(w, n, v, is_resource, at, ret);
        if (value_is_array(v))
                return admit_array(w, n, v, at, ret);
        return SAME;
}

static const struct value *admit(const struct schema *s, struct arena *a, const struct value *v, unsigned work,
                                 struct str_list *unknown)
{
        struct admit w = { .arena = a, .work = work, .unknown = unknown };
        struct schema_step root = { 0 };
        size_t before = unknown ? unknown->n : 0;
        struct value changed;

        if (admit_value(&w, s->root, v, true, &root, &changed) == SAME)
                return v;
        if (unknown && unknown->n > before) {
                struct str_list added = { unknown->arena, unknown->p + before, unknown->n - before, 0 };

                str_list_sort(&added);
        }
        return value_put(a, changed);
}

bool node_keeps(const struct schema_node *n, struct arena *a, const struct value *v, bool is_resource)
{
        struct admit w = { .arena = a, .work = ADMIT_PRUNE };
        struct schema_step root = { 0 };
        struct value changed;

        return admit_value(&w, n, v, is_resource, &root, &changed) == SAME;
}

const struct value *schema_admit(const struct schema *s, struct arena *a, const struct value *v,
                                 const struct schema_admit_options *options)
{
        unsigned work = ADMIT_PRUNE | ADMIT_DEFAULT | (options->drop_nulls ? ADMIT_DROP_NULLS : 0);

        return admit(s, a, v, work, options->unknown);
}

const struct value *schema_prune(const struct schema *s, struct arena *a, const struct value *v,
                                 struct str_list *unknown)
{
        return admit(s, a, v, ADMIT_PRUNE, unknown);
}

const struct value *schema_default(const struct schema *s, struct arena *a, const struct value *v)
{
        return admit(s, a, v, ADMIT_DEFAULT, NULL);
}

const struct value *schema_drop_nulls(const struct schema *s, struct arena *a, const struct value *v)
{
        return admit(s, a, v, ADMIT_DROP_NULLS, NULL);
}
