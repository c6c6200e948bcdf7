/* The syntax of regular expressions as Go has it, checked and rewritten for the engine.
 *
 * The engine reads nearly the same language, but with other error texts, an older Unicode and other limits. So a pattern is
 * read here by Go's rules, and what comes out uses only what both understand in the same way: flags are resolved, classes
 * are spelled out as ranges by Go's own tables, case folding too, and groups lose their names (which are kept here). */
#pragma once

#include "buf.h"
#include "err.h"
#include "vec.h"

struct regex_syntax {
        struct buf rewritten;
        VEC(struct str) names; /* of the capture groups, in order; "" without a name; in the pattern's own bytes */
        VEC(uint32_t)
        engine_groups; /* the engine's number of each group: it may have groups that the pattern has not */
        /* The engine steps by bytes and would find an empty match of \B inside a character, so it is made to look for a
         * character or the end behind the pattern. The match of the pattern is its first group then. */
        bool has_not_word_boundary;
};

/* ERR_INVALID with Go's text, or ERR_LIMIT when the pattern is too large for us. *ret is filled only on success. */
int regex_syntax_parse(struct str pattern, struct regex_syntax *ret, struct err *err);
void regex_syntax_done(struct regex_syntax *s);
