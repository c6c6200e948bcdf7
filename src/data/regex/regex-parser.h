/* Internals of the parser of regex-syntax.h, shared by regex-syntax.c (groups and the main loop), regex-escape.c (backslashes
 * and classes), regex-repeat.c (operators and counts) and regex-outline.c (the outline of the pattern).
 *
 * The parser builds only the rewritten text, no syntax tree. An open group is a `struct level`. Of its contents only the outline
 * (struct part) is kept, because Go's limits on nesting, repetition and size depend on it. */
#pragma once

#include "regex-class.h"
#include "regex-syntax.h"

/* Go's limits. */
#define MAX_HEIGHT 1000     /* of the syntax tree */
#define MAX_SIZE   3355443u /* instructions: 128 MB of 40 bytes */

enum regex_flags {
        FLAG_FOLD = 1 << 0,
        FLAG_MULTILINE = 1 << 1,
        FLAG_DOT_NEWLINE = 1 << 2,
        FLAG_UNGREEDY = 1 << 3,
};

enum regex_shape {
        SHAPE_OTHER,
        SHAPE_EMPTY,
        SHAPE_LITERAL,
        SHAPE_CLASS, /* any one character of a set */
        SHAPE_CONCAT,
        SHAPE_ALTERNATE,
};

/* The outline of a piece of the pattern: properties of the node that Go would build for it. */
struct regex_part {
        enum regex_shape shape;
        bool is_folded;   /* literals only */
        uint16_t height;  /* of the tree */
        uint16_t repeats; /* largest product of nested counts */
        uint32_t size;    /* instructions; stops growing beyond MAX_SIZE */
        bool may_be_empty;
        char op; /* the operator of a repeated part: * + ? or, for other counts, {; otherwise 0 */
        bool is_lazy;
};

struct level {
        uint8_t outer_flags; /* restored after the group */
        bool is_capture;
        bool has_parts;
        bool has_last;
        bool last_is_repeated;
        bool has_alternatives;
        uint32_t start;      /* of the group in the rewritten text */
        uint32_t groups;     /* the engine's groups before it */
        uint32_t last_start; /* the same of the last part */
        uint32_t last_groups;
        struct regex_part parts; /* the sequence so far, without the last part, which an operator may still change */
        struct regex_part last;
        struct regex_part alternatives; /* the alternatives before the last | */
};

struct regex_parser {
        struct str whole;
        struct str rest;
        uint8_t flags;
        struct str last_repeat; /* from the operator that has just been read to the end; p == NULL otherwise */
        VEC(struct level) levels;
        struct runeset set;
        size_t n_runes;
        uint32_t n_groups; /* groups of the engine, see fit_last in regex-repeat.c */
        struct regex_syntax out;
        struct err *err;
};

/* regex-syntax.c */

/* Go's error text. */
int regex_fail(struct regex_parser *p, const char *code, struct str fragment);

/* Takes the first character off *s, which is not empty. */
int regex_next_rune(struct regex_parser *p, struct str *s, uint32_t *ret);
int regex_check_utf8(struct regex_parser *p, struct str s);

/* regex-escape.c: elements that begin with a backslash or a [, at the start of p->rest. */

int regex_parse_backslash(struct regex_parser *p);
int regex_parse_class(struct regex_parser *p);

/* regex-repeat.c */

/* An operator was read from the start of p->rest up to `rest`; max -1 means none. */
int regex_repeat(struct regex_parser *p, struct str rest, int min, int max);

/* A { at the start of p->rest: counts, or a literal brace. */
int regex_parse_brace(struct regex_parser *p);

/* regex-outline.c */

int regex_check_part(struct regex_parser *p, struct regex_part part);

/* A new part begins here: call before its text is written. */
void regex_push_part(struct regex_parser *p, struct regex_part part);
void regex_push_simple(struct regex_parser *p, enum regex_shape shape);

/* Ends the sequence at a | or at the end of the group, and adds it to the alternatives. */
int regex_end_sequence(struct regex_parser *p);

/* These push a part and write it. */
void regex_push_literal(struct regex_parser *p, uint32_t rune);

/* An assertion, which matches no characters, in the engine's syntax. */
void regex_push_assertion(struct regex_parser *p, const char *text);

/* Pushes the parser's set, which must be tidy, as a class. */
int regex_push_set(struct regex_parser *p);

/* Limits memory and time for patterns whose text is small but whose classes or rewritten text are large. */
int regex_check_effort(struct regex_parser *p);

/* The part of s before `rest`, where `rest` is the end of s. */
static inline struct str before(struct str s, struct str rest)
{
        return str_first(s, s.n - rest.n);
}

static inline bool starts_with_char(struct str s, char c)
{
        return s.n > 0 && s.p[0] == c;
}

static inline uint32_t size_capped(uint64_t size)
{
        return size > MAX_SIZE ? MAX_SIZE + 1 : (uint32_t)size;
}

static inline uint16_t height_above(uint16_t height)
{
        return height > MAX_HEIGHT ? height : (uint16_t)(height + 1);
}

static inline struct level *innermost(struct regex_parser *p)
{
        return vec_last(&p->levels);
}

static inline bool is_plain(uint32_t rune)
{
        return (rune >= '0' && rune <= '9') || (rune >= 'A' && rune <= 'Z') || (rune >= 'a' && rune <= 'z');
}

static inline void clear_set(struct regex_parser *p)
{
        vec_clear(&p->set.ranges);
}
