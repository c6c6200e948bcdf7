/* The parts of value validation. Private to schema*.c.
 *
 * All functions here work in two modes. Without a list of errors they only tell whether the value is valid, stop at the first error
 * and allocate nothing, because almost all values are valid. With a list they find all errors and use the words of Kubernetes. */
#pragma once

#include "schema-node.h"

struct schema_check {
        struct field_errors *errors; /* NULL: only yes or no */
        struct str below;            /* the value's path in the object, "" for the object itself */
        bool below_is_path; /* the path continues after below: below[0]; otherwise, as in validation, below.[0] */
        /* A default is checked with the schema as it was written: int-or-string has no effect, and formats are checked for every
         * type. */
        bool is_default;
        bool only_coerces; /* only checks that embedded resources can be decoded as resources */
};

/* Validates v. old is the stored value that it replaces, or NULL. *matches grows by the number of schema parts that applied to the
 * value: if all alternatives fail, Kubernetes reports the one with the most. */
bool check_value(struct schema_check *c, const struct schema_node *n, const struct value *v, const struct value *old,
                 const struct schema_step *at, unsigned *matches);

/* Whether v equals the stored value. A value that the schema does not describe has no counterpart and counts as new. */
bool schema_value_is_unchanged(const struct schema_node *n, const struct value *v, const struct value *old);

/* The item of the stored list that an item replaces. Only lists of type map can tell; otherwise NULL. */
const struct value *schema_old_item(const struct schema_node *n, const struct value *old, const struct value *item);

/* Whether the errors so far are of the kinds after which rules cannot be evaluated. */
bool schema_errors_block_rules(const struct field_errors *errors);

/* Checks of a single value: its type, its number or text (with the format), its enumeration. */
bool check_type(struct schema_check *c, const struct schema_node *n, const struct value *v,
                const struct schema_step *at);
bool check_number(struct schema_check *c, const struct schema_node *n, const struct value *v,
                  const struct schema_step *at);
bool check_string(struct schema_check *c, const struct schema_node *n, struct str text, const struct schema_step *at);
bool check_enum(struct schema_check *c, const struct schema_node *n, const struct value *v,
                const struct schema_step *at);

/* The effective type and format of a node, and the format for strings; FORMAT_NONE if there is none. */
enum schema_type check_node_type(const struct schema_check *c, const struct schema_node *n);
unsigned check_node_format(const struct schema_check *c, const struct schema_node *n);
unsigned check_string_format(const struct schema_check *c, const struct schema_node *n);

/* Calls `check` for the members of an object whose schema has the flag (enum node_flags). */
bool check_members(struct schema_check *c, const struct schema_node *n, const struct value *v,
                   const struct schema_step *up, uint16_t flag,
                   bool (*check)(struct schema_check *c, const struct schema_node *n, const struct value *v,
                                 const struct schema_step *at));

/* Checks uniqueness in all lists of type set and map in v. */
bool check_lists(struct schema_check *c, const struct schema_node *n, const struct value *v,
                 const struct schema_step *at);

/* Checks apiVersion, kind and metadata of a resource. */
bool check_resource(struct schema_check *c, const struct value *v, const struct schema_step *at);

/* The same for all embedded resources in v. */
bool check_embedded(struct schema_check *c, const struct schema_node *n, const struct value *v,
                    const struct schema_step *at);

/* check_path: `spec.a[0].b`, in the arena of the errors. check_field: the same as a field, with `below` before it. */
struct str check_path(struct schema_check *c, const struct schema_step *at);
struct str check_field(struct schema_check *c, const struct schema_step *at);

/* Adds an error at the position. The caller writes the `P in body ...` part. Both check_fail functions return false. */
bool check_fail(struct schema_check *c, enum field_error_type type, const struct schema_step *at, const struct value *v,
                const char *format, ...) _printf_(5, 6);

/* Adds an error without a field: `<nil>: Invalid value: "": TEXT`. */
bool check_fail_nowhere(struct schema_check *c, const char *format, ...) _printf_(2, 3);

/* Drops errors from index `from` on that repeat earlier ones word for word: alternatives may report the same error twice. */
void schema_errors_drop_repeats(struct field_errors *errors, size_t from);
