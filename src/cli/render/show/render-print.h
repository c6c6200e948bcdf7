/* Prints the output of a render. */
#pragma once

#include "render.h"

struct buf;

enum render_format {
        RENDER_YAML, /* documents, each after a line `---` */
        RENDER_JSON, /* documents, each on its own line */
        RENDER_TREE, /* see render-tree.h */
};

struct render_print_options {
        enum render_format format;
        bool full_composite; /* with all fields of its file */
        bool results;
        bool context;
};

/* Appends one render to b. given is the composite before the render; claim is the composite's claim if it is to be printed, or
 * NULL. */
int render_print(struct arena *a, struct buf *b, const struct render_print_options *options, const struct value *claim,
                 const struct value *given, const struct render_output *out, struct err *err);

/* Merges `over` into `base`: members of objects are merged; for any other value `over` wins. */
const struct value *render_merge(struct arena *a, const struct value *base, const struct value *over);

/* The composite with a fixed time in its conditions, so that outputs can be compared. */
const struct value *render_with_fixed_times(struct arena *a, const struct value *composite);
