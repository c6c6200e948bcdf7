/* Shared by the two files of the lexer: reading runes, and the tokens inside of actions. */
#pragma once

#include "gt-lex.h"

#define GT_RUNE_EOF (-1)

/* Reads the next rune, puts it back, or looks at it without reading. At the end of the input nothing is put back. */
int32_t gt_lex_rune(struct gt_lexer *l);
void gt_lex_back(struct gt_lexer *l);
int32_t gt_lex_peek(struct gt_lexer *l);

static inline bool gt_is_space(int32_t rune)
{
        return rune == ' ' || rune == '\t' || rune == '\r' || rune == '\n';
}

bool gt_is_alphanumeric(int32_t rune);

struct gt_token gt_lex_token(struct gt_lexer *l, enum gt_token_type type);
struct gt_token gt_lex_error(struct gt_lexer *l, struct str text);
struct gt_token gt_lex_error_rune(struct gt_lexer *l, struct str text, int32_t rune); /* the rune as %#U */

struct gt_token gt_lex_number(struct gt_lexer *l);
struct gt_token gt_lex_identifier(struct gt_lexer *l);
struct gt_token gt_lex_field(struct gt_lexer *l, enum gt_token_type type); /* called after the dot or dollar */
struct gt_token gt_lex_quoted(struct gt_lexer *l, int32_t quote);          /* called after the quote */
