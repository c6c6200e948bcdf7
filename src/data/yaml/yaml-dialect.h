/* Differences between libyaml and go-yaml for the same text. The text is edited until libyaml reads it as go-yaml reads the
 * original:
 *
 *   libyaml refuses                        go-yaml                        edit
 *   {a:}         found unexpected ':'      the key `a:`                   : by a stand-in character, put back in the scalar
 *   "\'"         unknown escape            an apostrophe                  \' by \x27
 *   !!a[b  !,a   tag URI, white space      , [ and ] are part of the tag  by %2C, %5B and %5D
 *   libyaml takes                          go-yaml
 *   [!!a, b]     an empty scalar, then b   one scalar, tagged `!!a,`      as above
 *   %YAML 1.2                              incompatible                   %YAML 1.3
 *   %YAML 100.1                            too long a number              by more digits than libyaml takes
 *   U+FEFF at the start of a later line    part of the text               by a stand-in character
 *   "\/"         a slash                   unknown escape                 the / behind any \ by a stand-in character
 *   [a?b]        the scalar `a?b`          an error at the question mark  none: yaml-compose.c looks for it
 */
#pragma once

#include "buf.h"
#include "vec.h"

struct arena;

struct yaml_edit {
        size_t offset; /* end of the edit in the edited text */
        ptrdiff_t delta;
};

struct yaml_dialect {
        struct str original;
        struct buf edited;           /* in use once it is not empty */
        VEC(struct yaml_edit) edits; /* edits that change the offsets after them */
        bool is_v3;                  /* errors name the lines that yaml.v3 names */
        unsigned n_edits;            /* number of edits that made another pass necessary */
        /* Stand-ins: characters of three bytes that the original text does not contain; "" while unused. */
        char colon[4];
        char slash[4];
        char mark[4];
};

void yaml_dialect_init(struct yaml_dialect *d, struct str text);
void yaml_dialect_done(struct yaml_dialect *d);

/* The text for libyaml; changes with each edit. */
struct str yaml_dialect_text(const struct yaml_dialect *d);

/* The number of bytes by which the stand-in at the start of s is longer than the original character; 0 if s begins with no
 * stand-in. */
size_t yaml_dialect_surplus(const struct yaml_dialect *d, struct str s);

/* Bytes that edits other than stand-ins have added before the offset. */
ptrdiff_t yaml_dialect_shift(const struct yaml_dialect *d, size_t offset);

/* Turns a scalar or name of the edited text back into the original, in the arena. */
struct str yaml_dialect_restore(const struct yaml_dialect *d, struct arena *a, struct str s);

/* Called after libyaml failed with the problem at the offset: edits the text if go-yaml would not have failed. True if the text
 * was edited and must be read again. */
bool yaml_dialect_fix_problem(struct yaml_dialect *d, const char *problem, size_t offset);

/* The same for a node with a tag, whose properties start at the offset. */
bool yaml_dialect_fix_tag(struct yaml_dialect *d, size_t offset);

/* The offset after the properties (anchor and tag) and comments that precede a node's content. *ret_tag is the first tag there. */
size_t yaml_skip_properties(struct str text, size_t offset, struct str *ret_tag);
