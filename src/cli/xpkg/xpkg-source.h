/* The files that a package is built from. */
#pragma once

#include "xpkg.h"

struct buf;
struct xpkg_image;

struct xpkg_source {
        const char *root;         /* the directory of the package */
        const char *examples;     /* the directory of examples; it may be absent */
        const struct str *ignore; /* globs, relative to the root */
        size_t n_ignore;
};

/* Reads all YAML files below the root, in lexical order, but for those below the examples and those that are ignored. */
int xpkg_source_read(const struct xpkg_source *s, struct arena *a, struct xpkg *ret, struct err *err);

/* Appends the examples as they go into a package; nothing if there are none. */
int xpkg_source_examples(const struct xpkg_source *s, struct buf *b, struct err *err);

/* The one `.xpkg` file of the working directory. */
int xpkg_find_file(struct arena *a, struct str *ret, struct err *err);

/* Writes a `.xpkg` file at once: a reader never sees a part of it. */
int xpkg_write_file(struct arena *a, struct str path, struct xpkg_image *image, struct err *err);

/* The same with a function that writes it. */
typedef int xpkg_write_fn(void *context, int fd, struct err *err);
int xpkg_write_with(struct arena *a, struct str path, xpkg_write_fn *write, void *context, struct err *err);
