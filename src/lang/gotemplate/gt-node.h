/* A parsed template: trees of nodes in the template's arena. Immutable once parsed. */
#pragma once

#include "gt-func.h"

enum gt_node_type {
        GT_NODE_TEXT,
        GT_NODE_LIST,
        GT_NODE_ACTION,
        GT_NODE_IF,
        GT_NODE_WITH,
        GT_NODE_RANGE,
        GT_NODE_TEMPLATE,
        GT_NODE_BREAK,
        GT_NODE_CONTINUE,
        GT_NODE_PIPE,
        GT_NODE_COMMAND,
        GT_NODE_BOOL,
        GT_NODE_NUMBER,
        GT_NODE_STRING,
        GT_NODE_DOT,
        GT_NODE_NIL,
        GT_NODE_FIELD,
        GT_NODE_VARIABLE,
        GT_NODE_CHAIN,
        GT_NODE_IDENTIFIER,
        GT_NODE_END,  /* of the parser: {{end}} */
        GT_NODE_ELSE, /* of the parser: {{else}} */
};

struct gt_node {
        uint8_t type;
        uint32_t at; /* offset in the text */
};

struct gt_text_node {
        struct gt_node node;
        struct str text;
};

struct gt_list_node {
        struct gt_node node;
        const struct gt_node **nodes;
        uint32_t n;
        uint32_t capacity;
};

/* .a.b has the names a, b; $x.a the names $x, a; a chain has the names after its operand. */
struct gt_names_node {
        struct gt_node node;
        uint32_t variable; /* of a variable: the number of its name in the template */
        uint32_t n;
        const struct str *names;
        const struct gt_node *operand; /* of a chain */
};

struct gt_command_node {
        struct gt_node node;
        const struct gt_node **arguments; /* the first is the function, field, ... itself */
        uint32_t n;
        uint32_t capacity;
};

struct gt_pipe_node {
        struct gt_node node;
        uint32_t n;
        uint32_t capacity;
        const struct gt_command_node **commands;
        const struct gt_names_node *declared[2];
        uint8_t n_declared;
        bool is_assignment;
};

struct gt_action_node {
        struct gt_node node;
        const struct gt_pipe_node *pipe;
};

struct gt_branch_node {
        struct gt_node node;
        const struct gt_pipe_node *pipe;
        const struct gt_list_node *list;
        const struct gt_list_node *otherwise; /* or NULL */
};

struct gt_tree;

struct gt_template_node {
        struct gt_node node;
        struct str name;
        const struct gt_pipe_node *pipe; /* or NULL */
        const struct gt_tree *tree;      /* the template with that name; NULL if there is none */
};

struct gt_bool_node {
        struct gt_node node;
        bool is_true;
};

struct gt_number_node {
        struct gt_node node;
        bool is_int, is_uint, is_float, is_complex;
        int64_t integer;
        uint64_t natural;
        double number;
        double parts[2]; /* of a complex number */
        struct str text;
};

struct gt_string_node {
        struct gt_node node;
        struct str quoted;
        struct str text;
};

struct gt_identifier_node {
        struct gt_node node;
        struct str name;
        const struct gt_func *function;
        bool is_builtin; /* predefined by text/template, not a function of a table that hides it */
};

/* One named template of the set. */
struct gt_tree {
        struct str name;
        const struct gt_list_node *root;
};

struct gt_template {
        _Atomic unsigned references;
        struct arena arena;
        struct str name; /* of the set, in errors */
        struct str text;
        struct gt_tree **trees;
        size_t n_trees;
        uint32_t n_variables; /* names of variables */
        bool is_pure;
};

/* The tree of that name, or NULL. */
const struct gt_tree *gt_template_tree(const struct gt_template *t, struct str name);

/* Appends the node as text, as Go prints nodes: `.a.b | printf "%d"`. */
void gt_append_node(struct buf *b, const struct gt_node *node);

/* True if a tree prints only white space. */
bool gt_list_is_empty(const struct gt_list_node *list);
