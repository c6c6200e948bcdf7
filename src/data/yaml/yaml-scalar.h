/* The meaning of YAML scalars under go-yaml's rules (YAML 1.1 with deviations). The reader uses it to turn scalars into values;
 * the writer uses it to quote strings that would have another meaning without quotes. */
#pragma once

#include "err.h"
#include "str.h"

struct arena;
struct buf;
struct yaml_node;

enum yaml_kind {
        YAML_KIND_NULL,
        YAML_KIND_BOOL,
        YAML_KIND_INT,
        YAML_KIND_UINT, /* beyond int64 */
        YAML_KIND_FLOAT,
        YAML_KIND_STRING,
        YAML_KIND_TIMESTAMP, /* read as a string, but a string that looks like one is quoted */
        YAML_KIND_MERGE,     /* << */
        YAML_KIND_BINARY,    /* only by tag: text is still base64 */
};

struct yaml_scalar {
        enum yaml_kind kind;
        union {
                bool boolean;
                int64_t integer;
                uint64_t natural;
                double number;
        };
};

#define YAML_TAG_PREFIX "tag:yaml.org,2002:"

/* A plain scalar without a tag. */
struct yaml_scalar yaml_resolve_plain(struct str text);

/* A scalar with an explicit tag in its long form. Unknown tags make strings. Fails with
 * "yaml: cannot decode !!str `x` as a !!int". */
int yaml_resolve_tagged(struct str tag, struct str text, struct yaml_scalar *ret, struct err *err);

/* A scalar node, tagged or not. *ret_text is its text; if the tag is !!binary, the decoded base64 (in the arena). */
int yaml_node_resolve(struct arena *a, const struct yaml_node *n, struct yaml_scalar *ret, struct str *ret_text,
                      struct err *err);

/* True if a mapping key is the merge key: a plain <<, or any tagged !!merge. */
bool yaml_node_is_merge(const struct yaml_node *key);

/* True for a base-60 number such as 1:30. Older readers take it for a number, so such strings are written with quotes. */
bool yaml_is_base60(struct str text);

/* The string that a scalar becomes as a mapping key; floats have the digits of single precision, as upstream prints them. False
 * for null and for integers beyond int64: they cannot be keys. */
bool yaml_append_key(struct buf *b, const struct yaml_scalar *s, struct str text);

/* The order in which go-yaml writes keys: numbers inside them count as numbers (a2 before a10). Negative, 0 or positive. */
int yaml_compare_keys(struct str left, struct str right);
int yaml_compare_keys_v3(struct str left, struct str right); /* the order of yaml.v3 */
