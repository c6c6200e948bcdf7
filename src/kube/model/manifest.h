/* Manifests: files of Kubernetes objects, YAML or JSON, one or many documents. Every error names the file, the line and the
 * object: `xr.yaml:3:5: XBucket "a": spec.size: Invalid value: ...`. */
#pragma once

#include "meta.h"
#include "source.h"

struct manifest {
        const struct value *object;
        const struct source_file *source; /* NULL: errors name no place */
        size_t document;                  /* the number of the document in its source, for source_locate */
        struct str prefix;                /* its path in the document: "", or `items[2]` in a List */
};

struct manifests {
        struct arena *arena;
        struct manifest *p;
        size_t n;
        size_t capacity;
};

static inline void manifests_init(struct manifests *m, struct arena *a)
{
        *m = (struct manifests) { .arena = a };
}

/* Reads a file, standard input (`-`), or every *.yaml, *.yml and *.json file of a directory (sorted, without subdirectories). Lists
 * (kind List) are split into their items. Each document must be an object with apiVersion and kind; empty ones are skipped. */
int manifests_load(struct manifests *m, struct str path, struct err *err);

/* Adds a manifest that was loaded elsewhere. Everything that it borrows must live as long as m. */
void manifests_add(struct manifests *m, struct manifest manifest);

/* Adds manifests from text. Errors use name as the file name. Both are copied. */
int manifests_add_text(struct manifests *m, struct str name, struct str text, struct err *err);

/* Puts file, line, object and path before an error about the value at path (`spec.a[0].b`, or empty for the object itself), and
 * position and path into err. A message that already begins with the path does not repeat it. If the path is not in the file, the
 * position is that of its nearest ancestor. Returns the code of err. */
int manifest_error(const struct manifest *m, struct str path, struct err *err);

/* The same with a more exact position from the caller, inside of the text at the path. The manifest has a source. */
int manifest_error_at(const struct manifest *m, struct str path, struct position position, struct err *err);
