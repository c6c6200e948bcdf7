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
 * what the call needs for itself and for error texts. What is found belongs to root. The empty path finds null. */
int path_get(struct arena *scratch, const struct value *root, struct str path, const struct value **ret,
             struct err *err);
int path_get_string(struct arena *scratch, const struct value *root, struct str path, struct str *ret, struct err *err);
int path_get_bool(struct arena *scratch, const struct value *root, struct str path, bool *ret, struct err *err);
int path_get_int(struct arena *scratch, const struct value *root, struct str path, int64_t *ret,
                 struct err *err); /* a double never counts as an int, not even 3.0 */
int path_get_number(struct arena *scratch, const struct value *root, struct str path, double *ret, struct err *err);
int path_get_string_array(struct arena *scratch, const struct value *root, struct str path, const struct value **ret,
                          struct err *err);
int path_get_string_object(struct arena *scratch, const struct value *root, struct str path, const struct value **ret,
                           struct err *err);
int path_get_array(struct arena *scratch, const struct value *root, struct str path, const struct value **ret,
                   struct err *err);
int path_get_object(struct arena *scratch, const struct value *root, struct str path, const struct value **ret,
                    struct err *err);

/* Edits return a new root in the arena that shares what did not change. root is an object.
 *
 * Setting settles the value first (value_settle), makes the containers that are missing on the way and grows arrays with
 * nulls. A container of the wrong kind stays and is an error. An index above LIMIT_PATH_INDEX is one too, and a result
 * nested deeper than LIMIT_DEPTH is ERR_LIMIT. Deleting what is not there changes nothing: *ret is root. The empty path
 * sets and deletes nothing. */
int path_set(struct arena *a, const struct value *root, struct str path, const struct value *v,
             const struct value **ret, struct err *err);
int path_delete(struct arena *a, const struct value *root, struct str path, const struct value **ret, struct err *err);

/* The concrete paths behind wildcards (`[*]` or `.*`), as an array of strings in normalised form. Only paths that exist are
 * in it: branches that lack the rest of the path are left out. Objects are expanded in bytewise key order. A key that holds
 * brackets or is empty gives a text that leads elsewhere when parsed again; an object with a key `*` cannot be expanded. */
int path_expand(struct arena *a, const struct value *root, struct str path, const struct value **ret, struct err *err);

struct merge_options {
        bool keeps_map_values; /* values that are there already and not empty stay */
        bool appends_slices;   /* arrays are appended to instead of replaced */
};

/* Merges v into what stands at the path, under the options; NULL means plain set. Nothing there counts as null. */
int path_merge(struct arena *a, const struct value *root, struct str path, const struct value *v,
               const struct merge_options *options, const struct value **ret, struct err *err);

/* The merge of source into destination, without a path. A null on either side gives source. Two objects merge member by
 * member, arrays are appended or replaced, everything else is replaced, unless the destination keeps its values. */
int merge_values(struct arena *a, const struct value *destination, const struct value *source,
                 const struct merge_options *options, const struct value **ret, struct err *err);

/* The same walks over parsed segments, for callers that keep paths parsed. */
int path_get_segments(struct arena *scratch, const struct value *root, const struct path *path,
                      const struct value **ret, struct err *err);
int path_set_segments(struct arena *a, const struct value *root, const struct path *path, const struct value *v,
                      const struct value **ret, struct err *err);
int path_merge_segments(struct arena *a, const struct value *root, const struct path *path, const struct value *v,
                        const struct merge_options *options, const struct value **ret, struct err *err);
int path_delete_segments(struct arena *a, const struct value *root, const struct path *path, const struct value **ret,
                         struct err *err);

/* Levels of arrays and objects in v; 0 for a scalar. */
size_t value_depth(const struct value *v);

/* What v is after it was written as JSON and read back the way Kubernetes does it: integral doubles are ints where their
 * shortest decimal digits fit int64 (-0 is 0), invalid UTF-8 is U+FFFD. NaN and infinities are errors with Go's text,
 * `json: unsupported value: NaN`. *ret shares what did not change and is v itself when nothing did. */
int value_settle(struct arena *a, const struct value *v, const struct value **ret, struct err *err);
