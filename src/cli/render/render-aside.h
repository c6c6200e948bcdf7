/* Objects and files in directories that a render does not use: counted, and reported in one line. */
#pragma once

#include "command.h"
#include "manifest.h"

enum aside_reason {
        ASIDE_KIND,     /* an object of a kind that is not rendered */
        ASIDE_OBSERVED, /* an object in a file of composed resources */
        ASIDE_TEST,     /* an object in a directory of tests */
        ASIDE_COPY,     /* a Composition or definition that another file has already */
        ASIDE_CHART,    /* a file of a Helm chart */
        ASIDE_NO_OBJECTS,
        _ASIDE_COUNT,
};

struct aside_kind {
        struct str kind;
        size_t n;
};

struct render_aside {
        struct arena *arena;
        size_t counts[_ASIDE_COUNT];
        struct aside_kind *kinds; /* of ASIDE_KIND, in the order in which they were found */
        size_t n_kinds, capacity;
};

void render_aside_init(struct render_aside *aside, struct arena *a);
void render_aside_add(struct render_aside *aside, enum aside_reason reason, size_t n);

/* Counts an object for ASIDE_KIND. */
void render_aside_add_object(struct render_aside *aside, const struct value *object);

/* Prints the counts on standard error; prints nothing when all are zero. */
void render_aside_print(const struct render_aside *aside, const struct command *c);
