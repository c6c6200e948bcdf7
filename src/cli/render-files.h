/* What a render is made of, from files: checked, so that what is wrong is said with its file and line. */
#pragma once

#include "manifest.h"
#include "registry.h"

struct render_files {
        struct manifest composite;
        struct manifest composition;
        struct manifests functions; /* none when no file had any */
        const struct value *xrd;    /* NULL without */
        const struct value *composite_with_defaults;
};

/* The files in any order: what is in them says which is which. A composite or a Composition is the first document of its file; a file or
 * directory of Functions may have many. */
int render_files_load(struct arena *a, const char *const *paths, size_t n, struct render_files *ret, struct err *err);

/* Fills in what the definition's schema says is the default. */
int render_files_load_xrd(struct arena *a, struct str path, struct render_files *files, struct err *err);

/* The objects of all these files, as a list. `what` names them in errors: `cannot load WHAT from ...`. */
int render_files_load_list(struct arena *a, const struct str *paths, size_t n, const char *what,
                           const struct value **ret, struct err *err);

/* The OpenAPI v3 documents in all *.json of the directory and those below it. */
int render_files_load_schemas(struct arena *a, struct str directory, const struct value **ret, struct err *err);

/* Finds out how to run each Function: at the address of its annotation, or as one that is built in. Without a file of functions those of
 * the pipeline are built in by their names. */
int render_files_register(const struct render_files *files, struct registry *registry, struct err *err);
