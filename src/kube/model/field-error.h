/* Errors of validation: Kubernetes' field errors, collected in an arena. */
#pragma once

#include "arena.h"
#include "value.h"

struct buf;

enum field_error_type {
        FIELD_REQUIRED,      /* `Required value` */
        FIELD_INVALID,       /* `Invalid value: V: detail` */
        FIELD_TYPE_INVALID,  /* the same text, another reason */
        FIELD_DUPLICATE,     /* `Duplicate value: V` */
        FIELD_NOT_SUPPORTED, /* `Unsupported value: V: supported values: ...` */
        FIELD_FORBIDDEN,     /* `Forbidden: detail` */
        FIELD_TOO_LONG,      /* `Too long: detail` */
        FIELD_TOO_MANY,      /* `Too many: detail` */
        FIELD_NOT_FOUND,     /* `Not found: V` */
        FIELD_INTERNAL,      /* `Internal error: detail` */
};

struct field_error {
        enum field_error_type type;
        struct str field; /* `spec.a[0].b`; `<nil>` for none */
        struct str text;  /* the text after `field: ` */
};

struct field_errors {
        struct arena *arena;
        struct field_error *p;
        size_t n;
        size_t capacity;
};

static inline void field_errors_init(struct field_errors *e, struct arena *a)
{
        *e = (struct field_errors) { .arena = a };
}

/* field is copied; an empty field is shown as `<nil>`. value is written after the words of the type in the form of Go's library:
 * strings quoted by Go's rules, a lone double as %v, everything else as JSON, NULL as null. The detail follows after `: ` unless it
 * is empty. Required, Forbidden, TooLong and Internal never show the value; for TooMany the value is the count. */
void field_error_add(struct field_errors *e, enum field_error_type type, struct str field, const struct value *value,
                     const char *format, ...) _printf_(5, 6);

/* `Unsupported value: "x": supported values: "a", "b"`: this function quotes the alternatives and keeps their order. */
void field_error_add_unsupported(struct field_errors *e, struct str field, const struct value *value,
                                 const struct str *supported, size_t n);

/* The path of a member, or of an item, of what stands at a path: `a.name`, `a[0]`. */
struct str field_below(struct field_errors *e, struct str field, const char *name);
struct str field_item(struct field_errors *e, struct str field, size_t i);

/* Adds an error whose whole text is given by the caller. */
void field_error_add_text(struct field_errors *e, enum field_error_type type, struct str field, struct str text);

/* The reason in the causes of a Status: FieldValueRequired, ... */
const char *field_error_reason(enum field_error_type type);

/* Sorts by path, stable, because upstream's order between siblings is random. */
void field_errors_sort(struct field_errors *e);

/* Appends the errors in the form of Go's aggregate: `field: text`, or `[field: text, field: text]` for several. Equal errors appear
 * once. Appends nothing when there are none. */
void field_errors_append(struct buf *b, const struct field_errors *e);
