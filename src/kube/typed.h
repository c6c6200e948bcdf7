/* Values and their types together: what server-side apply does to trees. Private to the apply code of this layer.
 *
 * A type is found while a value is walked, from the nodes of a schema, from the fixed types of metadata, or from the value
 * itself where the schema says nothing (deduced: scalars of any kind, atomic lists, granular maps). A map may be atomic or
 * granular; a list may be atomic, a set, or associative by keys. What is atomic is owned and compared as a whole.
 *
 * The walks below (P1 to P6 of spec/apiserver 4.3) take values that typed_validate has let pass. They share what they do not
 * change, and stop where both sides are the same piece of memory. */
#pragma once

#include "field-trie.h"
#include "schema.h"

enum type_kind {
        TYPE_NONE, /* nothing may stand here */
        TYPE_ROOT, /* schema node: an object with apiVersion, kind and metadata */
        TYPE_NODE, /* schema node */
        TYPE_FIXED,
        TYPE_DEDUCED,
        TYPE_UNTYPED_ATOMIC, /* below a deduced list */
};

struct fixed_type;

struct type {
        uint8_t kind;   /* enum type_kind */
        bool preserves; /* unknown fields are allowed, here or further up */
        union {
                const struct schema_node *node;
                const struct fixed_type *fixed;
        };
};

enum form {
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

/* A type, settled for one value: null, where the type says nothing, is a map. */
struct shape {
        struct type type;
        uint8_t form;   /* enum form */
        uint8_t scalar; /* enum scalar */
        bool is_atomic; /* lists and maps */
        bool is_free;   /* the type allows every form */
        uint32_t n_keys;
        const struct str *keys; /* of an associative list; none for a set */
};

struct type type_of_schema(const struct schema *s);

/* v may be NULL. */
struct shape type_shape(struct type t, const struct value *v);

/* The type of a field of a map; ret_is_declared: it has a name of its own in the schema. TYPE_NONE when it may not be there. */
struct type shape_field(const struct shape *s, struct str name, bool *ret_is_declared);
struct type shape_items(const struct shape *s); /* of a list */

/* Nothing is known of what is in it: the type is deduced, or a map of whose fields none is named. */
bool shape_is_deduced(const struct shape *s);

/* The path element of an item of an associative list. Fails with upstream's words on items that cannot have one. */
int shape_element(struct arena *a, const struct shape *s, const struct value *item, struct path_element *ret,
                  struct err *err);

/* The items of an associative list with their elements. sorted is the same in the order of elements, stable. All in the
 * arena. An item that can have no element, which pruning may leave behind, has its index. */
struct list_item {
        struct path_element element;
        const struct value *value;
        uint32_t position;
        bool is_duplicate; /* there are others with the same element */
};
struct list_items {
        struct list_item *p;
        const struct list_item **sorted;
        size_t n;
};
struct list_items shape_list_items(struct arena *a, const struct shape *s, const struct value *list);

/* True when a and b are one piece of memory, or scalars that are exactly the same. */
bool typed_same(const struct value *a, const struct value *b);

/* Does the value fit its type? Errors are upstream's: `.spec.size: expected numeric (int or float), got string`, several as
 * `errors:` and a line each. */
int typed_validate(struct arena *a, struct type t, const struct value *v, bool allow_duplicates, struct err *err);

/* P1: the leaves of the value, the items of associative lists and the keys of maps that the schema does not name. */
const struct field_set *typed_to_set(struct arena *a, struct type t, const struct value *v);

/* P2: what is different between two values. */
struct comparison {
        const struct field_set *removed;
        const struct field_set *modified;
        const struct field_set *added;
};
struct comparison typed_compare(struct arena *a, struct type t, const struct value *old_value,
                                const struct value *new_value);

/* P3: config over live. Fails on duplicates in config. */
const struct value *typed_merge(struct arena *a, struct type t, const struct value *live, const struct value *config);

/* P4: the value without the members of the set; NULL when nothing is left. */
const struct value *typed_remove(struct arena *a, struct type t, const struct value *v, const struct field_set *s);

/* P5: the set with every named field that it has something below. */
const struct field_set *typed_ensure_named(struct arena *a, struct type t, const struct field_set *s);

/* P6: the set with what stands below things that are atomic by now replaced by them. */
const struct field_set *typed_reconcile(struct arena *a, struct type t, const struct value *v,
                                        const struct field_set *s);
