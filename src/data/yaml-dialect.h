/* Where libyaml and go-yaml take the same text differently. A text is edited until libyaml sees in it what go-yaml sees:
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
        size_t offset; /* behind the edit, in the edited text */
        ptrdiff_t delta;
};

struct yaml_dialect {
        struct str original;
        struct buf edited;           /* in use once it is not empty */
        VEC(struct yaml_edit) edits; /* those that move what follows */
        unsigned n_edits;            /* all that made another pass necessary */
        /* Stand-ins: three bytes each, which the original does not have; "" while unused. */
        char colon[4];
        char slash[4];
        char mark[4];
};

void yaml_dialect_init(struct yaml_dialect *d, struct str text);
void yaml_dialect_done(struct yaml_dialect *d);

/* The text for libyaml; changes with each edit. */
struct str yaml_dialect_text(const struct yaml_dialect *d);

/* Bytes that the stand-in at the start of s has more than what it stands for; 0 if there is none. */
size_t yaml_dialect_surplus(const struct yaml_dialect *d, struct str s);

/* Bytes that edits other than stand-ins have added before the offset. */
ptrdiff_t yaml_dialect_shift(const struct yaml_dialect *d, size_t offset);

/* A scalar or name from that text as it would be in the original, in the arena. */
struct str yaml_dialect_restore(const struct yaml_dialect *d, struct arena *a, struct str s);

/* After libyaml failed with the problem at the offset: edits the text if go-yaml would have gone on. True if the text was
 * edited and should be read once more. */
bool yaml_dialect_fix_problem(struct yaml_dialect *d, const char *problem, size_t offset);

/* The same for a node with a tag, whose properties start at the offset. */
bool yaml_dialect_fix_tag(struct yaml_dialect *d, size_t offset);

/* Offset behind the properties (anchor and tag) and comments in front of a node's content. *ret_tag is the first tag there. */
size_t yaml_skip_properties(struct str text, size_t offset, struct str *ret_tag);
