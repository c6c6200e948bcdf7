#include "schema.h"

#include "buf.h"
#include "map.h"
#include "path.h"
#include "regex.h"
#include "schema-node.h"

#include <pthread.h>

/* Creating and freeing */

static struct schema_node any_node = { .flags = NODE_PRESERVES };
static struct schema any_schema = {
        .is_static = true, .n_nodes = 1, .size_bytes = sizeof(any_schema), .root = &any_node
};

struct schema *schema_any(void)
{
        return &any_schema;
}

struct schema *schema_ref(struct schema *s)
{
        if (!s->is_static)
                atomic_fetch_add_explicit(&s->references, 1, memory_order_relaxed);
        return s;
}

void schema_unref(struct schema *s)
{
        if (!s || s->is_static || atomic_fetch_sub_explicit(&s->references, 1, memory_order_acq_rel) != 1)
                return;
        for (size_t i = 0; i < s->n_patterns; i++)
                pattern_put(s->patterns[i]);
        arena_done(&s->values);
        free(s);
}

size_t schema_size_bytes(const struct schema *s)
{
        return s->size_bytes + s->values.used_bytes;
}

bool schema_has_rules(const struct schema *s)
{
        return s->has_rules;
}

/* Patterns */

static pthread_mutex_t patterns_lock = PTHREAD_MUTEX_INITIALIZER;
static struct map patterns; /* text -> struct pattern; under the lock, like the references */

struct pattern *pattern_get(struct str text)
{
        struct pattern *p;

        pthread_mutex_lock(&patterns_lock);
        p = map_get(&patterns, text);
        if (!p) {
                p = xcalloc(1, sizeof(*p));
                p->text = (struct str) { str_to_cstring(text), text.n };
                map_set(&patterns, p->text, p);
        }
        p->references++;
        pthread_mutex_unlock(&patterns_lock);
        return p;
}

void pattern_put(struct pattern *p)
{
        bool is_last;

        pthread_mutex_lock(&patterns_lock);
        is_last = --p->references == 0;
        if (is_last)
                map_remove(&patterns, p->text);
        if (patterns.n == 0)
                map_done(&patterns);
        pthread_mutex_unlock(&patterns_lock);
        if (!is_last)
                return;
        regex_free(atomic_load(&p->regex));
        free((char *)p->text.p);
        free(p);
}

bool pattern_matches(struct pattern *p, struct str text)
{
        struct regex *re = atomic_load_explicit(&p->regex, memory_order_acquire), *first = NULL;

        if (!re) {
                if (regex_compile(p->text, &re, NULL) < 0)
                        return true; /* schema_compile refuses patterns that do not compile */
                if (!atomic_compare_exchange_strong(&p->regex, &first, re)) {
                        regex_free(re);
                        re = first;
                }
        }
        return regex_matches(re, text);
}

/* The tree */

const struct schema_node *schema_root(const struct schema *s)
{
        return s->root;
}

enum schema_type schema_node_type(const struct schema_node *n)
{
        return (enum schema_type)n->type;
}

bool schema_node_is_nullable(const struct schema_node *n)
{
        return n->flags & NODE_NULLABLE;
}

bool schema_node_preserves_unknown(const struct schema_node *n)
{
        return n->flags & NODE_PRESERVES;
}

bool schema_node_is_embedded(const struct schema_node *n)
{
        return n->flags & NODE_EMBEDDED;
}

bool schema_node_has_embedded(const struct schema_node *n)
{
        return n->flags & NODE_EMBEDDED_BELOW;
}

bool schema_node_is_atomic_map(const struct schema_node *n)
{
        return n->flags & NODE_ATOMIC_MAP;
}

enum schema_list_type schema_node_list_type(const struct schema_node *n)
{
        return (enum schema_list_type)n->list_type;
}

size_t schema_node_list_keys(const struct schema_node *n, const struct str **ret)
{
        const union extra_content *keys = extra_get(node_extra(n), EXTRA_KEYS);

        *ret = keys ? keys->strings->p : NULL;
        return keys ? keys->strings->n : 0;
}

bool schema_node_patch_merges(const struct schema_node *n)
{
        return n->flags & NODE_PATCH_MERGES;
}

bool schema_node_patch_replaces(const struct schema_node *n)
{
        return n->flags & NODE_PATCH_REPLACES;
}

struct str schema_node_patch_key(const struct schema_node *n)
{
        const union extra_content *key = extra_get(node_extra(n), EXTRA_PATCH_KEY);

        return key ? key->strings->p[0] : STR("");
}

struct str schema_node_format(const struct schema_node *n)
{
        const union extra_content *format = extra_get(node_extra(n), EXTRA_FORMAT);

        return format ? format->format->name : STR("");
}

/* A few entries are scanned from the cursor on; after that the rest is searched by bisection. */
#define SCAN_ENTRIES 4

static const struct schema_entry *bisect_entries(const struct schema_entry *entries, uint32_t low, uint32_t high,
                                                 struct str key)
{
        while (low < high) {
                uint32_t middle = low + (high - low) / 2;
                int order = str_compare(entry_name(&entries[middle]), key);

                if (order == 0)
                        return &entries[middle];
                if (order < 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        return NULL;
}

const struct schema_entry *node_find_entry(const struct schema_node *n, struct str key, uint32_t *cursor)
{
        const struct schema_entry *entries = node_entries(n), *found;
        uint32_t i = *cursor, end = MIN(n->n_properties, *cursor + SCAN_ENTRIES);

        for (; i < end; i++) {
                int order = str_compare(entry_name(&entries[i]), key);

                if (order == 0) {
                        *cursor = i + 1;
                        return &entries[i];
                }
                if (order > 0)
                        break;
        }
        /* Every entry in [*cursor, i) is smaller. If the object's members are not sorted, the key can also be before the cursor. */
        found = i < end ? bisect_entries(entries, 0, *cursor, key) : bisect_entries(entries, i, n->n_properties, key);
        if (!found && i == end)
                found = bisect_entries(entries, 0, *cursor, key);
        if (found)
                *cursor = (uint32_t)(found - entries) + 1;
        return found;
}

const struct schema_node *schema_node_property(const struct schema_node *n, struct str key)
{
        const struct schema_entry *e = bisect_entries(node_entries(n), 0, n->n_properties, key);

        return e ? node_at(e, e->node) : NULL;
}

size_t schema_node_property_count(const struct schema_node *n)
{
        return n->n_properties;
}

const struct schema_node *schema_node_property_at(const struct schema_node *n, size_t i, struct str *ret_key)
{
        const struct schema_entry *e = node_entries(n) + i;

        assert(i < n->n_properties);
        *ret_key = entry_name(e);
        return node_at(e, e->node);
}

const struct schema_node *schema_node_additional(const struct schema_node *n)
{
        return node_at(n, n->additional);
}

const struct schema_node *schema_node_items(const struct schema_node *n)
{
        return node_at(n, n->items);
}

static const struct schema_node *node_below(const struct schema_node *n, const struct path_segment *segment)
{
        const struct schema_node *below;

        if (segment->is_index)
                return schema_node_items(n);
        below = schema_node_property(n, segment->key);
        return below ? below : schema_node_additional(n);
}

size_t schema_properties_at(const struct schema *s, struct arena *a, struct str path, const struct str **ret)
{
        const struct schema_node *n = schema_root(s);
        struct path parsed = { 0 };
        struct str *names;

        if (path.n > 0 && path_parse(a, path, &parsed, NULL) < 0)
                return 0;
        for (size_t i = 0; n && i < parsed.n; i++)
                n = node_below(n, &parsed.segments[i]);
        if (!n || n->n_properties == 0)
                return 0;
        names = ARENA_NEW_ARRAY(a, struct str, n->n_properties);
        for (size_t i = 0; i < n->n_properties; i++)
                schema_node_property_at(n, i, &names[i]);
        *ret = names;
        return n->n_properties;
}

const struct value *schema_node_default(const struct schema_node *n)
{
        const union extra_content *dflt = extra_get(node_extra(n), EXTRA_DEFAULT);

        return dflt ? dflt->value : NULL;
}

const struct value *schema_node_rules(const struct schema_node *n)
{
        const union extra_content *rules = extra_get(node_extra(n), EXTRA_RULES);

        return rules ? rules->value : NULL;
}

/* Paths */

void step_append(struct buf *b, const struct schema_step *s)
{
        if (!s->up)
                return;
        step_append(b, s->up);
        if (!s->key.p)
                buf_appendf(b, "[%zu]", s->index);
        else if (s->style == STYLE_BRACKETS)
                buf_appendf(b, "[%.*s]", STR_ARG(s->key));
        else if (b->n == 0 && s->style == STYLE_PLAIN)
                buf_append_str(b, s->key);
        else
                buf_appendf(b, ".%.*s", STR_ARG(s->key));
}
