/* Files as Crossplane's CLI v2.2 reads them, with its words (spec/packages-sdk-cli 6.2). */
#pragma once

#include "manifest.h"

/* What a document is read into there: errors name it. */
struct compat_type {
        const char *what;    /* `cannot unmarshal WHAT`, `cannot parse WHAT` */
        const char *go_type; /* e.g. `v1.Function`; NULL: any object, which must have a kind */
};

/* The path from the root, without `.`, `..` and doubled slashes. */
struct str compat_path(struct arena *a, struct str path);

/* `VERB PATH: REASON`, as Go says it. */
int compat_set_errno(struct err *err, int errno_value, const char *verb, struct str path);

/* The first document of a file: an empty object when there is nothing in it. */
int compat_read_first(struct arena *a, struct str path, const struct compat_type *type, const struct value **ret,
                      struct err *err);

/* All documents of a file, or of the *.yaml and *.yml in a directory. One without content is an empty object. */
int compat_read_all(struct arena *a, struct str path, const struct compat_type *type, struct manifests *ret,
                    struct err *err);
