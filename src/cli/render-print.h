/* What a render prints. */
#pragma once

#include "render.h"

struct buf;

enum render_format {
        RENDER_YAML, /* documents, each behind a line `---` */
        RENDER_JSON, /* documents, each on a line of its own */
        RENDER_TREE, /* see render-tree.h */
};

struct render_print_options {
        enum render_format format;
        bool full_composite; /* with all that its file has */
        bool results;
        bool context;
};

/* Appends one render to b. given is the composite as it went in. */
int render_print(struct arena *a, struct buf *b, const struct render_print_options *options, const struct value *given,
                 const struct render_output *out, struct err *err);

/* Members of objects are merged; everything else is what `over` says. */
const struct value *render_merge(struct arena *a, const struct value *base, const struct value *over);

/* The composite with a time in its conditions that is always the same, so that output can be compared. */
const struct value *render_with_fixed_times(struct arena *a, const struct value *composite);
