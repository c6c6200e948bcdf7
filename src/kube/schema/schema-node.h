/* The memory layout of a compiled schema. Private to schema*.c.
 *
 * A schema is one block: the header, then the nodes (32 bytes each), the entries of their properties (12 bytes each), the extras,
 * and last the bytes of the names. Nodes refer to other parts of the block by the distance in bytes from themselves, 0 for none, so
 * that four bytes are enough and a walk needs only a node. Equal nodes, property lists and extras of a schema are stored once: in
 * generated schemas most leaves are a bare `type: string`, and forProvider, initProvider and atProvider repeat each other.
 *
 * Keywords that few nodes have are in the node's extra: a set of bits, followed by one word for each set bit, in order. */
#pragma once

#include "schema.h"

#include <stdatomic.h>

struct regex;

enum node_flags {
        NODE_NULLABLE = 1 << 0,
        NODE_PRESERVES = 1 << 1,
        NODE_EMBEDDED = 1 << 2,
        NODE_ATOMIC_MAP = 1 << 3,
        NODE_EXCLUSIVE_MINIMUM = 1 << 4,
        NODE_EXCLUSIVE_MAXIMUM = 1 << 5,
        NODE_ADDITIONAL_FALSE = 1 << 6, /* and `additional` is 0 */
        NODE_ADDITIONAL_TRUE = 1 << 7,  /* and `additional` is the empty node */
        NODE_DEFAULTS_BELOW = 1 << 8,   /* a property, item or additional property has a default, at any depth */
        NODE_LIST_RULES_BELOW = 1 << 9, /* a list of type set or map here or below */
        NODE_EMBEDDED_BELOW = 1 << 10,  /* an embedded resource here or below */
        NODE_ATOMIC_LIST = 1 << 11,     /* the list type was given explicitly */
        NODE_CHECKS = 1 << 12,      /* has keywords that validate values of any type: allOf, anyOf, oneOf, not, enum */
        NODE_RULES_BELOW = 1 << 13, /* x-kubernetes-validations here or below */
        NODE_PATCH_MERGES = 1 << 14,
        NODE_PATCH_REPLACES = 1 << 15,
};

struct schema_node {
        uint8_t type;              /* enum schema_type */
        uint8_t list_type : 4;     /* enum schema_list_type */
        uint8_t declared_type : 4; /* the type given beside int-or-string, if any */
        uint16_t flags;
        uint32_t n_properties;
        uint32_t n_required; /* of the declared properties */
        uint32_t n_defaults; /* likewise */
        int32_t properties;
        int32_t items;
        int32_t additional;
        int32_t extra;
};

#define ENTRY_REQUIRED 1
#define ENTRY_DEFAULT  2

/* A property; those of a node are in key order. */
struct schema_entry {
        int32_t name;
        uint32_t name_bytes : 24;
        uint32_t flags : 8;
        int32_t node;
};

#define ENTRY_NAME_MAX ((1u << 24) - 1)

enum extra_word {
        EXTRA_DEFAULT,   /* value */
        EXTRA_ENUM,      /* value, an array */
        EXTRA_RULES,     /* value, an array */
        EXTRA_FORMAT,    /* format_use */
        EXTRA_PATTERN,   /* pattern */
        EXTRA_KEYS,      /* str_set: x-kubernetes-list-map-keys */
        EXTRA_PATCH_KEY, /* str_set of one: x-kubernetes-patch-merge-key */
        EXTRA_REQUIRED,  /* str_set: required, but no declared properties */
        EXTRA_ALL_OF,    /* node_set */
        EXTRA_ANY_OF,
        EXTRA_ONE_OF,
        EXTRA_NOT,
        EXTRA_MINIMUM, /* number */
        EXTRA_MAXIMUM,
        EXTRA_MULTIPLE_OF,
        EXTRA_MIN_LENGTH, /* integer */
        EXTRA_MAX_LENGTH,
        EXTRA_MIN_ITEMS,
        EXTRA_MAX_ITEMS,
        EXTRA_MIN_PROPERTIES,
        EXTRA_MAX_PROPERTIES,
        _EXTRA_COUNT,
};

union extra_content {
        double number;
        int64_t integer;
        uint64_t id; /* while compiling: the number of the pointer's target */
        const struct value *value;
        const struct format_use *format;
        struct pattern *pattern;
        const struct str_set *strings;
        const struct node_set *nodes;
};

struct extra {
        uint64_t has; /* bits by enum extra_word */
        union extra_content words[];
};

struct format_use {
        struct str name;
        uint64_t format; /* enum format, FORMAT_NONE if not known */
};

struct str_set {
        uint64_t n;
        struct str p[];
};

struct node_set {
        uint64_t n;
        const struct schema_node *p[];
};

/* Regular expressions are compiled on first use and shared by all schemas with the same text. */
struct pattern {
        struct str text; /* also its key in the table */
        size_t references;
        _Atomic(struct regex *) regex;
};

/* Takes a reference; the text is copied. The caller has checked that it compiles. */
struct pattern *pattern_get(struct str text);
void pattern_put(struct pattern *p);
bool pattern_matches(struct pattern *p, struct str text);

struct schema {
        _Atomic unsigned references;
        bool has_rules;
        bool is_static;
        uint32_t n_nodes;
        size_t size_bytes; /* of the block */
        const struct schema_node *root;
        struct pattern **patterns;
        size_t n_patterns;
        struct arena values; /* defaults, enums, rules */
};

static inline const struct schema_node *node_at(const void *from, int32_t distance)
{
        return distance ? (const struct schema_node *)((const char *)from + distance) : NULL;
}

static inline const struct schema_entry *node_entries(const struct schema_node *n)
{
        return (const struct schema_entry *)((const char *)n + n->properties);
}

static inline struct str entry_name(const struct schema_entry *e)
{
        return (struct str) { (const char *)e + e->name, e->name_bytes };
}

static inline const struct extra *node_extra(const struct schema_node *n)
{
        return n->extra ? (const struct extra *)((const char *)n + n->extra) : NULL;
}

/* The word of a keyword, or NULL if the node does not have it. */
static inline const union extra_content *extra_get(const struct extra *x, enum extra_word word)
{
        uint64_t bit = 1ull << word;

        if (!x || !(x->has & bit))
                return NULL;
        return &x->words[__builtin_popcountll(x->has & (bit - 1))];
}

/* The entry of a key, or NULL. The search begins at *cursor, which is set to the position after the found entry, so that a walk
 * through the members of a sorted object costs one comparison per member. */
const struct schema_entry *node_find_entry(const struct schema_node *n, struct str key, uint32_t *cursor);

/* How a key is written: a.key, [key], or .key even at the beginning of a path. */
enum step_style { STYLE_PLAIN, STYLE_BRACKETS, STYLE_DOT };

/* A position in a value, linked through the stack; it becomes text only when there is an error to report. */
struct schema_step {
        const struct schema_step *up; /* NULL at the root, whose other fields are unused */
        struct str key;               /* p is NULL for items */
        size_t index;
        enum step_style style;
};

/* `spec.a[0].b`. */
void step_append(struct buf *b, const struct schema_step *s);

/* Whether pruning would leave the value as it is. */
bool node_keeps(const struct schema_node *n, struct arena *a, const struct value *v, bool is_resource);
