/* What a Composition, or a revision of one, means to the engine: whatever its shape (spec/seeds 1), a list of steps. Functions over
 * values; nothing is read from anywhere. */
#pragma once

#include "step.h"

enum composition_mode {
        COMPOSITION_PIPELINE,
        COMPOSITION_RESOURCES, /* templates of its own: patch and transform without a function to name */
};

struct composition {
        enum composition_mode mode;
        struct step *steps; /* those that stand for fields of the Composition come first */
        size_t n_steps;
        bool is_anonymous;             /* its resources have no names: those composed before are known by their order */
        const struct value *functions; /* container functions, in mode Resources; NULL without */
        struct str_list warnings;
};

/* What it is in errors and warnings: a revision goes by the name of its Composition. */
struct str composition_name(const struct value *composition);

/* The key of the resource at this place of a Composition that names none; also of the reference to it. */
struct str composition_anonymous_key(struct arena *a, size_t place);

/* Explicit, or by the fields that are given. An error names the way out; whoever asked says of which Composition. */
int composition_mode(const struct value *composition, enum composition_mode *ret, struct err *err);

/* The steps borrow from the Composition and live in the arena. */
int composition_read(struct arena *a, const struct value *composition, struct composition *ret, struct err *err);
