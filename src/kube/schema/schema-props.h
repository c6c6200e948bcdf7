/* A schema as it was written, with its keywords in fields. The structural rules are checked on it, and it is compiled. Private to
 * schema*.c. */
#pragma once

#include "field-error.h"
#include "value.h"

enum props_step {
        STEP_ROOT,
        STEP_PROPERTY,
        STEP_ITEMS,
        STEP_ADDITIONAL,
        STEP_ALL_OF,
        STEP_ANY_OF,
        STEP_ONE_OF,
        STEP_NOT
};

enum additional { ADDITIONAL_NONE, ADDITIONAL_FALSE, ADDITIONAL_TRUE, ADDITIONAL_SCHEMA };

enum props_number { PROPS_MINIMUM, PROPS_MAXIMUM, PROPS_MULTIPLE_OF, _PROPS_NUMBERS };
enum props_size {
        PROPS_MIN_LENGTH,
        PROPS_MAX_LENGTH,
        PROPS_MIN_ITEMS,
        PROPS_MAX_ITEMS,
        PROPS_MIN_PROPERTIES,
        PROPS_MAX_PROPERTIES,
        _PROPS_SIZES,
};

struct props_list {
        struct props **p;
        size_t n;
};

struct props {
        const struct props *up;
        enum props_step step;
        struct str key; /* of a property */
        size_t index;   /* in allOf, anyOf, oneOf */

        struct str id, schema_uri, ref, type, format, title, description, pattern;
        struct str list_type, map_type, patch_key, patch_strategy;
        const struct value *dflt, *enumeration, *rules, *list_keys, *required;
        const struct value *pattern_properties, *dependencies, *definitions;
        const struct value *numbers[_PROPS_NUMBERS];
        const struct value *sizes[_PROPS_SIZES];
        bool exclusive_minimum, exclusive_maximum, unique_items, nullable, embedded, int_or_string;
        bool items_are_list, has_additional_items, has_list_type, has_map_type, has_ref, has_example, has_docs;
        const struct value *preserve; /* a bool, or NULL */
        enum additional additional_kind;
        struct props *items, *additional, *not_;
        struct props_list properties; /* in key order */
        struct props_list all_of, any_of, one_of;
};

/* Reads the schema object. A keyword whose value has the wrong type is an error at its path and is then ignored; unknown keywords
 * are ignored. The result lives in the arena and points into v. */
struct props *props_read(struct arena *a, const struct value *v, struct str field, struct field_errors *errors);

/* The path of a schema below `field`: `.properties[spec].items`; with the keyword appended unless that is empty. */
struct str props_path(struct arena *a, struct str field, const struct props *p, const char *keyword);

/* The declared property of the key, or NULL. */
struct props *props_property(const struct props *p, struct str key);

/* Checks the rules of structural schemas (schema-structural.c). False when the schema breaks them so badly that its defaults cannot
 * be checked. */
bool structural_check(const struct props *root, struct str field, struct field_errors *errors);

/* Checks that the defaults of a compiled schema are valid values of it (schema-defaults.c). */
struct schema;
void defaults_check(const struct schema *s, const struct props *root, struct str field, struct field_errors *errors);
