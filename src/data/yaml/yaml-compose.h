/* The first document of a YAML text as a tree of nodes, before scalars are resolved. The reader decodes the tree; source_locate
 * uses it to find positions. */
#pragma once

#include "arena.h"
#include "err.h"

enum yaml_node_type {
        YAML_NODE_SCALAR,
        YAML_NODE_SEQUENCE,
        YAML_NODE_MAPPING, /* children are key, value, key, value, ... */
        YAML_NODE_ALIAS,
        YAML_NODE_LEAVES, /* only in long sequences with joins_leaves: items that are numbers, booleans or nulls */
};

struct yaml_scalar;

/* Items of a sequence without their own nodes, so that a long list of numbers needs little memory. */
struct yaml_leaves {
        uint32_t n;
        struct yaml_scalar *items;
};

struct yaml_node {
        uint8_t type;        /* enum yaml_node_type */
        bool is_open;        /* yaml-read.c only: being decoded right now */
        bool is_flow;        /* a collection in brackets or braces */
        bool is_plain;       /* a scalar whose text decides its type: neither quoted nor tagged */
        uint32_t line;       /* from 0, as libyaml counts: NEL, LS and PS end lines too */
        uint32_t n_children; /* keys, values and leaves each count */
        size_t offset;       /* in bytes; always 0 in UTF-16 texts */
        size_t raw;          /* the offset in the edited text that libyaml reads (yaml-dialect.h) */
        struct str tag;      /* in its long form; empty without one */
        struct str text;     /* of a scalar; the name of an alias */
        union {
                struct yaml_node *target;   /* of an alias: the node that its anchor named at that point of the text */
                struct yaml_leaves *leaves; /* of YAML_NODE_LEAVES */
        };
        struct yaml_node *first; /* child */
        struct yaml_node *last;
        struct yaml_node *next;       /* sibling */
        struct yaml_decoded *decoded; /* yaml-read.c only */
};

/* *ret is NULL for a text without a document. Everything lives in the arena. Errors are worded and numbered as go-yaml does
 * it and carry the position. joins_leaves allows YAML_NODE_LEAVES, whose items have no positions. */
int yaml_compose(struct arena *a, struct str text, uint32_t max_depth, bool joins_leaves, struct yaml_node **ret,
                 struct err *err);

/* As yaml_compose, but errors name the lines that yaml.v3 names. */
int yaml_compose_v3(struct arena *a, struct str text, uint32_t max_depth, struct yaml_node **ret, struct err *err);

/* The text of one document of a stream, with its last line ended as upstream ends it, so that errors have the same line numbers. */
struct str yaml_with_newline(struct arena *a, struct str text);

/* Line and column of a node, for errors. */
struct position yaml_node_position(struct str text, const struct yaml_node *n);

/* The node itself, or the target if it is an alias. */
static inline const struct yaml_node *yaml_behind_alias(const struct yaml_node *n)
{
        return n->type == YAML_NODE_ALIAS ? n->target : n;
}
