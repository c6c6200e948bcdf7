/* The table of the built-in kinds, read from builtin.txt, which the build puts into the program as text. It is read once, when it is
 * first needed; all texts point into it. Private to builtin*.c. */
#pragma once

#include "kind.h"
#include "schema.h"

#include <stdatomic.h>

/* Fields of a type in JSON, so that a set of them is a word. */
#define BUILTIN_MAX_FIELDS 64

/* The type of a field, or of each item of its list or map. */
enum builtin_base {
        BASE_STRING,
        BASE_BOOL,
        BASE_INT32,
        BASE_INT64,
        BASE_DOUBLE,
        BASE_BYTES,     /* base64 in JSON */
        BASE_TIME,      /* seconds, RFC 3339 */
        BASE_MICROTIME, /* the same with microseconds */
        BASE_DURATION,  /* Go's text: 1m30s */
        BASE_QUANTITY,
        BASE_INT_OR_STRING,
        BASE_RAW,    /* any object: RawExtension */
        BASE_FIELDS, /* FieldsV1 */
        BASE_JSON,   /* any value */
        BASE_EXTRA,  /* a list of strings that is a message of its own in protobuf */
        BASE_SCHEMA_OR_ARRAY,
        BASE_SCHEMA_OR_BOOL,
        BASE_SCHEMA_OR_STRINGS,
        BASE_STRUCT,
};

enum builtin_shape {
        SHAPE_VALUE,
        SHAPE_POINTER,
        SHAPE_LIST,
        SHAPE_MAP, /* from strings */
};

struct builtin_field {
        struct str name;  /* in JSON; empty: the fields of the struct are fields of the outer one */
        uint32_t number;  /* in protobuf; 0: none */
        uint8_t base;     /* enum builtin_base */
        uint8_t shape;    /* enum builtin_shape */
        bool omits_empty; /* a zero value is left out of JSON */
        bool omits_zero;  /* the same for structs and times */
        struct str facts; /* the rest of the line */
        const struct builtin_type *type;
};

/* The value that a field gets if it has none. "" in a pointer is a value. */
struct builtin_default {
        struct str name;
        const struct value *value;
        bool is_pointer;
};

typedef const struct value *builtin_complete_fn(struct arena *a, const struct value *v);

struct builtin_type {
        struct str name;           /* `core/v1.PodSpec` */
        struct str short_name;     /* `PodSpec` */
        struct str package_prefix; /* `io.k8s.api.core.v1.` */
        struct str go_package;     /* `v1` */
        struct str facts;
        bool is_object; /* has apiVersion and kind */
        const struct builtin_field *fields;
        size_t n_fields;
        const struct builtin_field **flat; /* the fields in JSON: those of inlined structs are among them */
        struct str *via;                   /* of each of these: the name of the inlined struct that it is in, or "" */
        size_t n_flat;
        const struct builtin_default *defaults;
        size_t n_defaults;
        builtin_complete_fn *complete;   /* defaults that depend on other fields; may be NULL */
        _Atomic(struct schema *) schema; /* of builtin_type_schema */
};

/* One version of a kind, or a message that is no resource: then plural is empty. */
struct builtin_kind {
        struct gvk gvk;
        struct str plural;
        struct str singular;
        bool is_namespaced;
        struct str short_names; /* lists: joined by commas */
        struct str categories;
        struct str verbs;
        const struct builtin_type *type;
        struct str component; /* `io.k8s.api.core.v1.Pod` */
        const struct builtin_line *subresources;
        size_t n_subresources;
};

/* A subresource: `status`, the kind of its objects, its verbs. */
struct builtin_line {
        struct str name;
        struct gvk gvk;
        struct str verbs;
};

struct builtin_table {
        struct builtin_type *types; /* those of builtin.txt by name, then those of packaged.txt by name */
        size_t n_types;
        size_t n_own_types;         /* of builtin.txt */
        struct builtin_kind *kinds; /* resources first, in order of their group versions; then messages */
        size_t n_kinds;
};

const struct builtin_table *builtin_table(void);

/* Gives a type its defaults; called while the table is made. */
void builtin_set_defaults(struct arena *a, struct builtin_type *t);

const struct builtin_type *builtin_type_named(struct str name); /* `core/v1.Pod`; NULL if unknown */

/* The value of `word=...` in the facts; false without. A word alone has the value "". */
bool builtin_fact(struct str facts, struct str word, struct str *ret);

const struct builtin_field *builtin_field_of(const struct builtin_type *t,
                                             struct str name); /* in JSON; NULL if unknown */
const struct builtin_kind *builtin_kind_of(struct gvk gvk);    /* NULL if unknown */

/* The next item of a list joined by commas; false at its end. `-` is the empty list. */
bool builtin_next_item(struct str *list, struct str *ret);

/* The schema of an object of the type, compiled when it is first asked for. It lives forever. */
struct schema *builtin_type_schema(const struct builtin_type *t);
