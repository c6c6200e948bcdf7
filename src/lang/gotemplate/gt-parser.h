/* Shared by the files of the parser. The grammar, the lookahead and the order of checks are those of Go's parser, because they
 * affect the texts and lines of errors. */
#pragma once

#include "gt-lex.h"
#include "gt-node.h"
#include "map.h"
#include "vec.h"

/* Shared by all trees of one text. */
struct gt_parse {
        struct gt_template *result;
        const struct gt_parse_options *options;
        struct gt_lexer lexer;
        VEC(struct gt_tree *) trees;
        VEC(struct str) variables;                  /* names, by number */
        VEC(struct gt_template_node *) invocations; /* their templates are looked up at the end */
        struct err *err;
        int r;          /* 0, or the code of the error that ended parsing */
        unsigned depth; /* of nested controls */
};

/* One tree that is being parsed: the template itself, a define, a block. Each tree has its own lookahead. */
struct gt_parser {
        struct gt_parse *shared;
        struct gt_token tokens[3]; /* lookahead; [0] is the newest and gives the line of errors */
        unsigned n_ahead;
        VEC(uint32_t) variables; /* variables in scope, by number */
        uint32_t action_line;    /* of the delimiter that begins the action; 0 outside of actions */
        unsigned range_depth;
        unsigned paren_depth;
        uint32_t action_at; /* of the first word of the newest action */
};

/* Sets the error once and returns NULL: `template: NAME:LINE: TEXT`. */
void *gt_parse_fail(struct gt_parser *p, const char *format, ...) _printf_(2, 3);

/* As gt_parse_fail, about the token or action that begins at the offset. The error has its position, but keeps the line of the newest
 * token in its text, as Go's has. */
void *gt_parse_fail_at(struct gt_parser *p, uint32_t at, const char *format, ...) _printf_(3, 4);
void *gt_parse_unexpected(struct gt_parser *p, struct gt_token token, const char *context);

struct gt_token gt_parse_next(struct gt_parser *p);
struct gt_token gt_parse_peek(struct gt_parser *p);
struct gt_token gt_parse_next_non_space(struct gt_parser *p);
struct gt_token gt_parse_peek_non_space(struct gt_parser *p);
void gt_parse_back(struct gt_parser *p);
void gt_parse_back2(struct gt_parser *p, struct gt_token t1);
void gt_parse_back3(struct gt_parser *p, struct gt_token t2, struct gt_token t1);

static inline void *gt_new_node(struct gt_parser *p, size_t size_bytes, enum gt_node_type type, uint32_t at)
{
        struct gt_node *node = arena_zalloc(&p->shared->result->arena, size_bytes);

        node->type = (uint8_t)type;
        node->at = at;
        return node;
}
#define GT_NODE(p, struct_type, type, at) \
        ((struct struct_type *)gt_new_node((p), sizeof(struct struct_type), (type), (at)))

/* A pipeline up to the token `end`, which is consumed; NULL on an error. */
struct gt_pipe_node *gt_parse_pipeline(struct gt_parser *p, const char *context, enum gt_token_type end);

/* Declares the variable: it is in scope from here on. Returns its number. */
uint32_t gt_parse_declare(struct gt_parser *p, struct str name);

/* Parses a number as Go's newNumber does; NULL on an error. */
struct gt_number_node *gt_parse_number(struct gt_parser *p, struct gt_token token);

/* strconv.Unquote of "..." and `...`: false when the syntax is invalid. The text is in the arena or a part of `quoted`. */
bool gt_unquote(struct arena *a, struct str quoted, struct str *ret);

/* Appends an item to an array of pointers in the template's arena. */
void gt_parse_append(struct gt_parser *p, const void ***items, uint32_t *n, uint32_t *capacity, const void *item);

/* The function of that name, or NULL. */
const struct gt_func *gt_parse_function(struct gt_parser *p, struct str name, bool *ret_is_builtin);

/* Checks the functions that the commands of a finished pipeline call, and records if the template is no longer pure. */
void gt_parse_note_purity(struct gt_parser *p, const struct gt_pipe_node *pipe);
