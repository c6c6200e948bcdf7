/* Composites and what they are composed of as a table with branches, as `crossplane beta trace` draws it (spec/packages-sdk-cli 6.4). */
#pragma once

#include "render.h"

struct buf;
struct render_tree;

struct render_tree *render_tree_new(struct arena *a);

/* Nothing of it needs to live on. The records must have been asked for: readiness is in them. */
void render_tree_add(struct render_tree *t, const struct value *observed, const struct render_output *out);

void render_tree_append(struct render_tree *t, struct buf *b);
