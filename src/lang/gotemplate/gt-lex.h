/* The lexer: a template's text as tokens, one at a time. Delimiters, trim markers, comments and the errors of Go's lexer. */
#pragma once

#include "arena.h"
#include "str.h"

enum gt_token_type {
        GT_TOKEN_ERROR, /* text is the error text */
        GT_TOKEN_BOOL,
        GT_TOKEN_CHAR, /* a printable character with no other token type, such as a comma */
        GT_TOKEN_CHAR_CONSTANT,
        GT_TOKEN_COMPLEX,
        GT_TOKEN_ASSIGN,
        GT_TOKEN_DECLARE,
        GT_TOKEN_EOF,
        GT_TOKEN_FIELD,
        GT_TOKEN_IDENTIFIER,
        GT_TOKEN_LEFT_DELIM,
        GT_TOKEN_LEFT_PAREN,
        GT_TOKEN_NUMBER,
        GT_TOKEN_PIPE,
        GT_TOKEN_RAW_STRING,
        GT_TOKEN_RIGHT_DELIM,
        GT_TOKEN_RIGHT_PAREN,
        GT_TOKEN_SPACE,
        GT_TOKEN_STRING,
        GT_TOKEN_TEXT,
        GT_TOKEN_VARIABLE,
        GT_TOKEN_KEYWORD, /* not a token: all types after it are keywords */
        GT_TOKEN_BLOCK,
        GT_TOKEN_BREAK,
        GT_TOKEN_CONTINUE,
        GT_TOKEN_DOT,
        GT_TOKEN_DEFINE,
        GT_TOKEN_ELSE,
        GT_TOKEN_END,
        GT_TOKEN_IF,
        GT_TOKEN_NIL,
        GT_TOKEN_RANGE,
        GT_TOKEN_TEMPLATE,
        GT_TOKEN_WITH,
};

struct gt_token {
        enum gt_token_type type;
        uint32_t at;   /* offset of its first byte */
        uint32_t line; /* from 1 */
        struct str text;
};

struct gt_lexer {
        struct arena *arena; /* holds the error texts */
        struct str input;
        struct str left, right; /* delimiters */
        size_t at;
        size_t start; /* of the token being read */
        uint32_t line;
        uint32_t start_line;
        uint32_t paren_depth;
        bool is_at_end; /* the end of the input was read: gt_lex_back has no effect any more */
        bool is_in_action;
};

/* The text is at most LIMIT_TEMPLATE_BYTES long and outlives the lexer. Empty delimiters mean {{ and }}. */
void gt_lexer_init(struct gt_lexer *l, struct arena *a, struct str text, struct str left, struct str right);

/* The next token. The end follows after an error. */
struct gt_token gt_lex_next(struct gt_lexer *l);
