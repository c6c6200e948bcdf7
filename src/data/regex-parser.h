/* The insides of the parser of regex-syntax.h, shared by regex-syntax.c (groups and the way through a pattern), regex-escape.c
 * (backslashes and classes), regex-repeat.c (operators and counts) and regex-outline.c (what is kept of what was read).
 *
 * Nothing is built but the rewritten text: an open group is a `struct level`, and of what stands in it only the outline
 * (struct part) is kept, which is what Go's limits on nesting, repetition and size look at. */
#pragma once

#include "regex-class.h"
#include "regex-syntax.h"

/* Go's limits. */
#define MAX_HEIGHT 1000     /* of the syntax tree */
#define MAX_SIZE   3355443u /* instructions: 128 MB of 40 bytes */

enum flags {
        FLAG_FOLD = 1 << 0,
        FLAG_MULTILINE = 1 << 1,
        FLAG_DOT_NEWLINE = 1 << 2,
        FLAG_UNGREEDY = 1 << 3,
};

enum shape {
        SHAPE_OTHER,
        SHAPE_EMPTY,
        SHAPE_LITERAL,
        SHAPE_CLASS, /* any one character of a set */
        SHAPE_CONCAT,
        SHAPE_ALTERNATE,
};

/* The outline of a piece of the pattern: what the node would be like that Go makes of it. */
struct part {
        enum shape shape;
        bool is_folded;   /* literals only */
        uint16_t height;  /* of the tree */
        uint16_t repeats; /* largest product of nested counts */
        uint32_t size;    /* instructions; stops growing beyond MAX_SIZE */
        bool may_be_empty;
        char op; /* the part is another one under * + ? or, for other counts, {; otherwise 0 */
        bool is_lazy;
};

struct level {
        uint8_t outer_flags; /* in force again behind the group */
        bool is_capture;
        bool has_parts;
        bool has_last;
        bool last_is_repeated;
        bool has_alternatives;
        uint32_t start;      /* of the group in the rewritten text */
        uint32_t groups;     /* the engine's groups before it */
        uint32_t last_start; /* the same of the last part */
        uint32_t last_groups;
        struct part parts; /* the sequence so far, without the last part, which an operator may still change */
        struct part last;
        struct part alternatives; /* what stood before the last | */
};

struct parser {
        struct str whole;
        struct str rest;
        uint8_t flags;
        struct str last_repeat; /* from the operator that has just been read to the end; p == NULL otherwise */
        VEC(struct level) levels;
        struct runeset set;
        size_t n_runes;
        uint32_t n_groups; /* of the engine, see fit_last in regex-repeat.c */
        struct regex_syntax out;
        struct err *err;
};

/* regex-syntax.c */

/* Go's error text. */
int regex_fail(struct parser *p, const char *code, struct str fragment);

/* Takes the first character off *s, which is not empty. */
int regex_next_rune(struct parser *p, struct str *s, uint32_t *ret);
int regex_check_utf8(struct parser *p, struct str s);

/* regex-escape.c: what begins with a backslash or a [, at the start of the rest. */

int regex_parse_backslash(struct parser *p);
int regex_parse_class(struct parser *p);

/* regex-repeat.c */

/* An operator was read from the start of p->rest up to `rest`; max -1 means none. */
int regex_repeat(struct parser *p, struct str rest, int min, int max);

/* A { at the start of the rest: counts, or itself. */
int regex_parse_brace(struct parser *p);

/* regex-outline.c */

int regex_check_part(struct parser *p, struct part part);

/* A new part begins here: call before its text is written. */
void regex_push_part(struct parser *p, struct part part);
void regex_push_simple(struct parser *p, enum shape shape);

/* Ends the sequence at a | or the end of the group: it joins the alternatives. */
int regex_end_sequence(struct parser *p);

/* These push a part and write it. */
void regex_push_literal(struct parser *p, uint32_t rune);

/* An operator that takes no argument of its own, as the engine writes it. */
void regex_push_assertion(struct parser *p, const char *text);

/* The parser's set, which is tidy, as a class of its own. */
int regex_push_set(struct parser *p);

/* What bounds memory and time for patterns that are small as text but not otherwise. */
int regex_check_effort(struct parser *p);

/* The part of s before rest, which is its end. */
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

static inline struct level *innermost(struct parser *p)
{
        return vec_last(&p->levels);
}

static inline bool is_plain(uint32_t rune)
{
        return (rune >= '0' && rune <= '9') || (rune >= 'A' && rune <= 'Z') || (rune >= 'a' && rune <= 'z');
}

static inline void clear_set(struct parser *p)
{
        vec_clear(&p->set.ranges);
}
