/* Field paths, with the rules of crossplane-runtime's fieldpath package: `spec.items[0].metadata.annotations[a.b/c]`. Error
 * texts are those of that package. NotFound errors have the code ERR_NOT_FOUND, kept through wrapping; all others ERR_INVALID. */
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
 * temporary data and error texts. The value that is found belongs to root. The empty path finds null. */
int path_get(struct arena *scratch, const struct value *root, struct str path, const struct value **ret,
             struct err *err);
int path_get_string(struct arena *scratch, const struct value *root, struct str path, struct str *ret, struct err *err);
int path_get_bool(struct arena *scratch, const struct value *root, struct str path, bool *ret, struct err *err);
int path_get_int(struct arena *scratch, const struct value *root, struct str path, int64_t *ret,
                 struct err *err); /* a double is never an int, not even 3.0 */
int path_get_number(struct arena *scratch, const struct value *root, struct str path, double *ret, struct err *err);
int path_get_string_array(struct arena *scratch, const struct value *root, struct str path, const struct value **ret,
                          struct err *err);
int path_get_string_object(struct arena *scratch, const struct value *root, struct str path, const struct value **ret,
                           struct err *err);
int path_get_array(struct arena *scratch, const struct value *root, struct str path, const struct value **ret,
                   struct err *err);
int path_get_object(struct arena *scratch, const struct value *root, struct str path, const struct value **ret,
                    struct err *err);

/* Edits return a new root in the arena that shares all unchanged values with the old one. root is an object.
 *
 * Setting first settles the value (value_settle), creates missing containers along the path and fills arrays with nulls. A
 * container of the wrong kind along the path is an error, and so is an index above LIMIT_PATH_INDEX. A result nested deeper than
 * LIMIT_DEPTH is ERR_LIMIT. All edits in one arena share one allowance: LIMIT_PATH_FILL nulls that fill arrays and
 * LIMIT_PATH_EDIT_BYTES of copies; an edit that goes over it is ERR_LIMIT. Deleting an absent field changes nothing: *ret is
 * root. The empty path sets and deletes nothing. */
int path_set(struct arena *a, const struct value *root, struct str path, const struct value *v,
             const struct value **ret, struct err *err);
int path_delete(struct arena *a, const struct value *root, struct str path, const struct value **ret, struct err *err);

/* The concrete paths that match the wildcards (`[*]` or `.*`), as an array of strings in normalised form. Only paths that exist
 * are listed: branches that lack the rest of the path are left out. Objects are expanded in bytewise key order. A key that holds
 * brackets or is empty gives a text that names another path when parsed again; an object with a key `*` cannot be expanded. */
int path_expand(struct arena *a, const struct value *root, struct str path, const struct value **ret, struct err *err);

struct merge_options {
        bool keeps_map_values; /* existing values that are not empty stay */
        bool appends_slices;   /* arrays are appended to instead of replaced */
};

/* Merges v into the value at the path, with the options; NULL options mean path_set. An absent value counts as null. */
int path_merge(struct arena *a, const struct value *root, struct str path, const struct value *v,
               const struct merge_options *options, const struct value **ret, struct err *err);

/* The merge of source into destination, without a path. A null on either side gives source. Two objects merge member by
 * member, arrays are appended or replaced, everything else is replaced, unless the destination keeps its values. */
int merge_values(struct arena *a, const struct value *destination, const struct value *source,
                 const struct merge_options *options, const struct value **ret, struct err *err);

/* The same functions for parsed paths, for callers that keep paths parsed. */
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

/* The value that results when v is written as JSON and read back as Kubernetes does it: integral doubles are ints where their
 * shortest decimal digits fit int64 (-0 is 0), invalid UTF-8 is U+FFFD. NaN and infinities are errors with Go's text,
 * `json: unsupported value: NaN`. *ret shares unchanged values with v, and is v itself if nothing changed. */
int value_settle(struct arena *a, const struct value *v, const struct value **ret, struct err *err);
