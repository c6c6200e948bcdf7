/* Draws composites and their composed resources as a table with branches, as `crossplane beta trace` does (docs/spec/packages
 * 6.4). */
#pragma once

#include "render.h"

struct buf;
struct render_tree;

struct render_tree *render_tree_new(struct arena *a);

/* Copies everything: the arguments need not outlive the call. `out` must have the records, which hold the readiness. claim may be
 * NULL. */
void render_tree_add(struct render_tree *t, const struct value *claim, const struct value *observed,
                     const struct render_output *out);

void render_tree_append(struct render_tree *t, struct buf *b);
