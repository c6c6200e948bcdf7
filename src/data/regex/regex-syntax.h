/* Go's syntax of regular expressions: checks a pattern and rewrites it for the engine.
 *
 * The engine reads nearly the same language, but with other error texts, an older Unicode and other limits. The parser therefore
 * reads a pattern by Go's rules, and its output uses only syntax that has the same meaning for both: flags are resolved, classes
 * are spelled out as ranges by Go's own tables, case folding too, and groups lose their names (which are kept here). */
#pragma once

#include "buf.h"
#include "err.h"
#include "vec.h"

struct regex_syntax {
        struct buf rewritten;
        VEC(struct str) names; /* of the capture groups, in order; "" without a name; in the pattern's own bytes */
        VEC(uint32_t)
        engine_groups; /* the engine's number of each group; the rewritten pattern may have extra groups */
        /* The engine steps by bytes and would find an empty match of \B inside a character. The rewritten pattern therefore
         * demands a character or the end of the text after the match; the match is then its first group. */
        bool has_not_word_boundary;
};

/* ERR_INVALID with Go's text, or ERR_LIMIT when the pattern is too large for us. *ret is filled only on success. */
int regex_syntax_parse(struct str pattern, struct regex_syntax *ret, struct err *err);
void regex_syntax_done(struct regex_syntax *s);
