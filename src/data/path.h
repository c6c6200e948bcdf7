/* Field paths, as crossplane-runtime's fieldpath package understands them: `spec.items[0].metadata.annotations[a.b/c]`.
 * Error texts are its texts. NotFound errors have the code ERR_NOT_FOUND, kept through wrapping; all others ERR_INVALID. */
#pragma once

#include "err.h"
#include "value.h"

struct buf;

struct path_segment {
        struct str key; /* unless is_index */
        uint32_t index;
        bool is_index;
};

struct path {
        const struct path_segment *segments;
        size_t n;
};

/* Keys point into text or are copies in the arena. Error: `unexpected '.' at position N` and so on, unwrapped. */
int path_parse(struct arena *a, struct str text, struct path *ret, struct err *err);

/* The normalised form: `a[*].b[3]`. */
void path_append(struct buf *b, const struct path *path);

/* The calls below take the path as text; a text that does not parse gives `cannot parse path "...": ...`. scratch holds
 * what the call needs for itself and for error texts. */
int path_get(struct arena *scratch, const struct value *root, struct str path, const struct value **ret,
             struct err *err);
int path_get_string(struct arena *scratch, const struct value *root, struct str path, struct str *ret, struct err *err);
int path_get_bool(struct arena *scratch, const struct value *root, struct str path, bool *ret, struct err *err);
int path_get_int(struct arena *scratch, const struct value *root, struct str path, int64_t *ret, struct err *err);
int path_get_string_array(struct arena *scratch, const struct value *root, struct str path, const struct value **ret,
                          struct err *err);
int path_get_string_object(struct arena *scratch, const struct value *root, struct str path, const struct value **ret,
                           struct err *err);

/* Edits return a new root in the arena that shares what did not change. root is an object. */
int path_set(struct arena *a, const struct value *root, struct str path, const struct value *v,
             const struct value **ret, struct err *err);
int path_delete(struct arena *a, const struct value *root, struct str path, const struct value **ret, struct err *err);

/* The concrete paths behind wildcards, as an array of strings. Objects are expanded in bytewise key order. */
int path_expand(struct arena *a, const struct value *root, struct str path, const struct value **ret, struct err *err);

struct merge_options {
        bool keeps_map_values; /* values that are there already and not empty stay */
        bool appends_slices;   /* arrays are appended to instead of replaced */
};

/* MergeValue: options NULL means plain set. */
int path_merge(struct arena *a, const struct value *root, struct str path, const struct value *v,
               const struct merge_options *options, const struct value **ret, struct err *err);

/* The merge of two values under the options (spec/functions 1.6), without a path. */
int merge_values(struct arena *a, const struct value *destination, const struct value *source,
                 const struct merge_options *options, const struct value **ret, struct err *err);

/* The same walks over parsed segments, for callers that keep paths parsed. */
int path_get_segments(struct arena *scratch, const struct value *root, const struct path *path,
                      const struct value **ret, struct err *err);
int path_set_segments(struct arena *a, const struct value *root, const struct path *path, const struct value *v,
                      const struct value **ret, struct err *err);
