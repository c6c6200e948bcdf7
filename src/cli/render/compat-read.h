/* Reads files as Crossplane's CLI v2.2 does, with its error messages (docs/spec/packages 6.2). */
#pragma once

#include "manifest.h"

/* The Go type that Crossplane reads a document into; errors name it. */
struct compat_type {
        const char *what;    /* `cannot unmarshal WHAT`, `cannot parse WHAT` */
        const char *go_type; /* e.g. `v1.Function`; NULL: any object, which must have a kind */
};

/* The absolute path, without `.`, `..` and doubled slashes. */
struct str compat_path(struct arena *a, struct str path);

/* Sets the error `VERB PATH: REASON`, with Go's wording. */
int compat_set_errno(struct err *err, int errno_value, const char *verb, struct str path);

/* The first document of a file; an empty object when the document is empty. */
int compat_read_first(struct arena *a, struct str path, const struct compat_type *type, const struct value **ret,
                      struct err *err);

/* All documents of a file, or of the *.yaml and *.yml files in a directory. A document without content is an empty object. */
int compat_read_all(struct arena *a, struct str path, const struct compat_type *type, struct manifests *ret,
                    struct err *err);
