/* Values together with their types: the tree operations of server-side apply. Private to the apply code of this layer.
 *
 * The type of each value is found during the walk: from the nodes of a schema, from the fixed types of metadata, or from the value
 * itself where the schema has no type (deduced: scalars of any kind, atomic lists, granular maps). A map may be atomic or granular;
 * a list may be atomic, a set, or associative by keys. An atomic value is owned and compared as a whole.
 *
 * The walks below (P1 to P6 of docs/spec/apiserver 4.3) take values that typed_validate has accepted. They share unchanged parts,
 * and stop where both sides are the same piece of memory. */
#pragma once

#include "field-trie.h"
#include "schema.h"

enum type_kind {
        TYPE_NONE, /* no value is allowed here */
        TYPE_ROOT, /* schema node: an object with apiVersion, kind and metadata */
        TYPE_NODE, /* schema node */
        TYPE_FIXED,
        TYPE_DEDUCED,
        TYPE_UNTYPED_ATOMIC, /* below a deduced list */
};

struct fixed_type;

struct typed_type {
        uint8_t kind;   /* enum type_kind */
        bool preserves; /* unknown fields are allowed, by this type or one above it */
        union {
                const struct schema_node *node;
                const struct fixed_type *fixed;
        };
};

enum typed_form {
        FORM_SCALAR,
        FORM_LIST,
        FORM_MAP,
};

enum scalar {
        SCALAR_UNTYPED,
        SCALAR_STRING,
        SCALAR_NUMERIC,
        SCALAR_BOOLEAN,
};

/* A type resolved for one value. Null counts as a map if the type does not say otherwise. */
struct typed_shape {
        struct typed_type type;
        uint8_t form;   /* enum form */
        uint8_t scalar; /* enum scalar */
        bool is_atomic; /* lists and maps */
        bool is_free;   /* the type allows every form */
        uint32_t n_keys;
        const struct str *keys; /* of an associative list; none for a set */
};

struct typed_type type_of_schema(const struct schema *s);

/* v may be NULL. */
struct typed_shape type_shape(struct typed_type t, const struct value *v);

/* The type of a field of a map; TYPE_NONE when the field is not allowed. *ret_is_declared: the schema names the field. */
struct typed_type shape_field(const struct typed_shape *s, struct str name, bool *ret_is_declared);
struct typed_type shape_items(const struct typed_shape *s); /* the type of a list's items */

/* True when nothing is known about the content: the type is deduced, or is a map without named fields. */
bool shape_is_deduced(const struct typed_shape *s);

/* The path element of an item of an associative list. Fails with upstream's words for an item that cannot have one. */
int shape_element(struct arena *a, const struct typed_shape *s, const struct value *item, struct path_element *ret,
                  struct err *err);

/* The items of an associative list with their elements. sorted has the same items in the order of elements, stable. All in the
 * arena. An item that cannot have an element, which pruning may leave behind, has its index as element. */
struct list_item {
        struct path_element element;
        const struct value *value;
        uint32_t position;
        bool is_duplicate; /* other items have the same element */
};
struct list_items {
        struct list_item *p;
        const struct list_item **sorted;
        size_t n;
};
struct list_items shape_list_items(struct arena *a, const struct typed_shape *s, const struct value *list);

/* True when a and b are the same piece of memory, or identical scalars. */
bool typed_same(const struct value *a, const struct value *b);

/* Checks that the value fits its type. Errors are upstream's: `.spec.size: expected numeric (int or float), got string`; several
 * become `errors:` and one line each. */
int typed_validate(struct arena *a, struct typed_type t, const struct value *v, bool allow_duplicates, struct err *err);

/* P1: the set of the value's leaves, items of associative lists, and keys of maps that the schema does not name. */
const struct field_set *typed_to_set(struct arena *a, struct typed_type t, const struct value *v);

/* P2: the differences between two values. */
struct comparison {
        const struct field_set *removed;
        const struct field_set *modified;
        const struct field_set *added;
};
struct comparison typed_compare(struct arena *a, struct typed_type t, const struct value *old_value,
                                const struct value *new_value);

/* P3: config over live. Fails on duplicates in config. */
const struct value *typed_merge(struct arena *a, struct typed_type t, const struct value *live,
                                const struct value *config);

/* P4: the value without the members of the set; NULL when nothing is left. */
const struct value *typed_remove(struct arena *a, struct typed_type t, const struct value *v,
                                 const struct field_set *s);

/* P5: the set, plus every named field that has members below it. */
const struct field_set *typed_ensure_named(struct arena *a, struct typed_type t, const struct field_set *s);

/* P6: the set, in which members below a value that is atomic by now are replaced by that value. */
const struct field_set *typed_reconcile(struct arena *a, struct typed_type t, const struct value *v,
                                        const struct field_set *s);
