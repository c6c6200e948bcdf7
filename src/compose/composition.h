/* Reads a Composition, or a revision of one, of any shape (docs/spec/seeds 1) into a list of steps. Functions over values; nothing
 * is read from a cluster. */
#pragma once

#include "step.h"

enum composition_mode {
        COMPOSITION_PIPELINE,
        COMPOSITION_RESOURCES, /* has its own templates: patch and transform, without naming a function */
};

struct composition {
        enum composition_mode mode;
        struct step *steps; /* steps that are made from fields of the Composition come first */
        size_t n_steps;
        bool is_anonymous; /* its resources have no names: existing composed resources are matched by their order */
        const struct value *functions; /* container functions, in mode Resources; NULL without */
        struct str_list warnings;
};

/* The name for errors and warnings; a revision has the name of its Composition. */
struct str composition_name(const struct value *composition);

/* The key of the resource at this place in a Composition without resource names, and of the reference at the same place. */
struct str composition_anonymous_key(struct arena *a, size_t place);

/* The mode in spec.mode, or the one that the given fields imply. An error says how to fix it; the caller adds the name of the
 * Composition. */
int composition_mode(const struct value *composition, enum composition_mode *ret, struct err *err);

/* The steps borrow from the Composition and live in the arena. */
int composition_read(struct arena *a, const struct value *composition, struct composition *ret, struct err *err);
