/* Validation of values, the parts. Private to schema*.c.
 *
 * Everything here runs in two ways. Without a list of errors it only answers whether the value is valid, stops at the first
 * thing that is wrong and allocates nothing: almost all values are valid. With one, it finds everything, and says it in the
 * words of Kubernetes. */
#pragma once

#include "schema-node.h"

struct check {
        struct field_errors *errors; /* NULL: only yes or no */
        struct str below;            /* where the value stands in the object, "" for the object itself */
        bool below_is_path; /* what follows it goes on with it: below[0]; otherwise, as validation has it, below.[0] */
        /* A default is checked with the schema as it was written: int-or-string says nothing, and formats count
         * whatever the type. */
        bool is_default;
        bool only_coerces; /* of embedded resources: only whether they can be read as such */
};

/* Validates v. old is the stored value that it replaces, or NULL. *matches grows by how much of the schema applied to the
 * value: of several alternatives that fail, Kubernetes tells of the one with the most. */
bool check_value(struct check *c, const struct schema_node *n, const struct value *v, const struct value *old,
                 const struct step *at, unsigned *matches);

/* Whether v is what was stored. What the schema does not know has no counterpart and counts as new. */
bool value_is_unchanged(const struct schema_node *n, const struct value *v, const struct value *old);

/* The item of the stored list that an item replaces: only lists of type map tell. NULL without one. */
const struct value *old_item(const struct schema_node *n, const struct value *old, const struct value *item);

/* Whether the errors so far are of the kinds after which rules cannot be evaluated. */
bool errors_block_rules(const struct field_errors *errors);

/* The value alone: its type, its format, its number or text, its enumeration. */
bool check_type(struct check *c, const struct schema_node *n, const struct value *v, const struct step *at);
bool check_number(struct check *c, const struct schema_node *n, const struct value *v, const struct step *at);
bool check_string(struct check *c, const struct schema_node *n, struct str text, const struct step *at);
bool check_enum(struct check *c, const struct schema_node *n, const struct value *v, const struct step *at);

/* The type and the format that count, and the format for strings, FORMAT_NONE if there is none. */
enum schema_type check_node_type(const struct check *c, const struct schema_node *n);
unsigned check_node_format(const struct check *c, const struct schema_node *n);
unsigned check_string_format(const struct check *c, const struct schema_node *n);

/* Uniqueness in lists of type set and map, in all of v. */
bool check_lists(struct check *c, const struct schema_node *n, const struct value *v, const struct step *at);

/* apiVersion, kind and metadata of a resource. */
bool check_resource(struct check *c, const struct value *v, const struct step *at);

/* The same of embedded resources, in all of v. */
bool check_embedded(struct check *c, const struct schema_node *n, const struct value *v, const struct step *at);

/* `spec.a[0].b` in the arena of the errors; and as a field, with what it is below. */
struct str check_path(struct check *c, const struct step *at);
struct str check_field(struct check *c, const struct step *at);

/* An error at the place: `P in body ...` is up to the caller. All return false. */
bool check_fail(struct check *c, enum field_error_type type, const struct step *at, const struct value *v,
                const char *format, ...) _printf_(5, 6);

/* An error that belongs to no field: `<nil>: Invalid value: "": TEXT`. */
bool check_fail_nowhere(struct check *c, const char *format, ...) _printf_(2, 3);

/* Drops errors from number `from` on that were there before in the same words: alternatives may find a thing twice. */
void errors_drop_repeats(struct field_errors *errors, size_t from);
