/* The representation of field sets, for code that walks values, types and sets together. Private to the apply code of this
 * layer. */
#pragma once

#include "field-set.h"

struct buf;

/* One step of a path. The bytes, members and values are borrowed, and live as long as the set. */
struct path_element {
        uint8_t type; /* enum path_element_type */
        uint32_t n;   /* bytes of the name; fields of the key */
        union {
                const char *name;
                const struct member *key;  /* sorted by name; duplicate names are kept */
                const struct value *value; /* objects in it are sorted by key, at every depth */
                int64_t index;
        };
};

struct field_node {
        struct path_element element;
        const struct field_set *below; /* NULL: nothing */
        bool is_member;
};

/* Never empty: the empty set is NULL. Nodes are sorted by their elements. Each node is a member or has something below it. */
struct field_set {
        uint32_t n;
        struct field_node nodes[];
};

static inline struct path_element path_element_field(struct str name)
{
        assert(name.n <= UINT32_MAX);
        return (struct path_element) { .type = ELEMENT_FIELD, .n = (uint32_t)name.n, .name = name.p };
}

static inline struct str path_element_name(const struct path_element *e)
{
        return (struct str) { e->name, e->n };
}

/* Makes the element of a set's item; the item is borrowed unless it has to be sorted. */
struct path_element path_element_of_value(struct arena *a, const struct value *item);

/* The total order of Kubernetes: fields, keys, values, indexes; numbers of both types compare by value. */
int path_element_compare(const struct path_element *a, const struct path_element *b);

/* Appends `.name`, `[name="a"]`, `[="a"]` or `[3]`. */
void path_element_append(struct buf *b, const struct path_element *e);

/* The node of an element, or NULL. field_set_find_field finds a field by its name. */
const struct field_node *field_set_find(const struct field_set *s, const struct path_element *e);
const struct field_node *field_set_find_field(const struct field_set *s, struct str name);

/* A stack that collects nodes while a level is walked. Levels are stacked on each other, so that one block of memory serves a whole
 * walk. It begins as { 0 } and ends with field_stack_done. */
struct field_stack {
        struct field_node *p;
        size_t n;
        size_t capacity;
};

void field_stack_done(struct field_stack *s);
void field_stack_grow(struct field_stack *s);

/* Pushes a node. A node that is neither a member nor has anything below it is skipped. */
static inline void field_stack_push(struct field_stack *s, struct path_element e, bool is_member,
                                    const struct field_set *below)
{
        if (!is_member && !below)
                return;
        if (UNLIKELY(s->n == s->capacity))
                field_stack_grow(s);
        s->p[s->n++] = (struct field_node) { .element = e, .below = below, .is_member = is_member };
}

/* Makes a set of the nodes pushed since the stack held `mark` nodes. They may be in any order; equal elements are united. */
const struct field_set *field_stack_take(struct field_stack *s, struct arena *a, size_t mark);

#define _cleanup_field_stack_ _cleanup_(field_stack_done)
