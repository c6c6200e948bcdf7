/* The compiled form of a JSONPath: lists of nodes. */
#pragma once

#include "jsonpath.h"

enum jsonpath_type {
        JSONPATH_FIELD,
        JSONPATH_WILDCARD,
        JSONPATH_RECURSIVE,
        JSONPATH_SLICE,
        JSONPATH_FILTER,
        JSONPATH_UNION,
        JSONPATH_TEXT,    /* one value, whatever the input is */
        JSONPATH_LITERAL, /* a number or bool for each value of the input */
        JSONPATH_WORD,    /* a keyword of templates: an error when it is evaluated */
};

struct jsonpath_list {
        struct jsonpath_node *first, *last;
};

struct jsonpath_bound {
        bool is_known;
        bool is_derived; /* the end of `[i]`, which is i + 1 */
        int64_t value;
};

struct jsonpath_node {
        struct jsonpath_node *next;
        enum jsonpath_type type;
        struct str name;    /* FIELD, WORD; FILTER: the operator, "" for one that asks whether anything is found */
        struct value value; /* TEXT, LITERAL */
        struct jsonpath_bound bounds[3]; /* SLICE: from, to, step */
        struct jsonpath_list *parts;     /* UNION; FILTER: left and right side */
        size_t n_parts;
};

struct jsonpath {
        struct jsonpath_list *actions;
        size_t n_actions;
};
