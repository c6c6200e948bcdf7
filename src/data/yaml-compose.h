/* The first document of a YAML text as a tree of nodes, before anything is decided about what scalars mean. For the reader,
 * which decodes it, and for finding positions in a text again. */
#pragma once

#include "arena.h"
#include "err.h"

enum yaml_node_type {
        YAML_NODE_SCALAR,
        YAML_NODE_SEQUENCE,
        YAML_NODE_MAPPING, /* children are key, value, key, value, ... */
        YAML_NODE_ALIAS,
};

struct yaml_node {
        uint8_t type;             /* enum yaml_node_type */
        bool is_open;             /* yaml-read.c only: being decoded right now */
        bool is_flow;             /* a collection in brackets or braces */
        bool is_plain;            /* a scalar that resolves by its looks: neither quoted nor tagged */
        uint32_t line;            /* from 0, as libyaml counts: NEL, LS and PS end lines too */
        uint32_t n_children;      /* keys and values each count */
        size_t offset;            /* in bytes; 0 throughout in UTF-16 texts */
        size_t raw;               /* the same in the text that libyaml was given (yaml-dialect.h) */
        struct str tag;           /* in its long form; empty without one */
        struct str text;          /* of a scalar; the name of an alias */
        struct yaml_node *target; /* of an alias: what its anchor stood for when it was met */
        struct yaml_node *first;  /* child */
        struct yaml_node *last;
        struct yaml_node *next;       /* sibling */
        struct yaml_decoded *decoded; /* yaml-read.c only */
};

/* *ret is NULL for a text without a document. Everything lives in the arena. Errors are worded and numbered as go-yaml does
 * it and carry the position. */
int yaml_compose(struct arena *a, struct str text, uint32_t max_depth, struct yaml_node **ret, struct err *err);

/* The text of a document of a stream, its last line ended as upstream ends it: that shows in the line numbers of errors. */
struct str yaml_with_newline(struct arena *a, struct str text);

/* Line and column of a node, for errors. */
struct position yaml_node_position(struct str text, const struct yaml_node *n);

/* The node itself, or what the alias stands for. */
static inline const struct yaml_node *yaml_behind_alias(const struct yaml_node *n)
{
        return n->type == YAML_NODE_ALIAS ? n->target : n;
}
