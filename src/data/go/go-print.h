/* Shared by go-format.c and go-print.c: prints one operand with the flags of its verb. */
#pragma once

#include "buf.h"
#include "value.h"

struct go_printer {
        struct buf *out;
        struct buf scratch;   /* text whose length must be known before it is written */
        unsigned options;     /* enum go_format_flags */
        struct str type_name; /* of the operand, if it differs from go_type_name; for error texts */

        /* Of the current verb. */
        bool has_plus, has_minus, has_sharp, has_space, has_zero;
        bool is_go_syntax; /* %#v */
        bool has_width, has_precision;
        size_t width, precision;
};

/* Prints the operand with the verb, or the error text if the verb does not fit. */
void go_print_argument(struct go_printer *p, const struct value *v, uint32_t verb);

/* `type=value`, as in error texts; `<nil>` for null. */
void go_print_with_type(struct go_printer *p, const struct value *v);

/* Prints a value that is neither null, array nor object. p->type_name is its type in error texts. */
void go_print_scalar(struct go_printer *p, const struct value *v, uint32_t verb);

/* An integer above INT64_MAX, or one of an unsigned type. */
void go_print_unsigned(struct go_printer *p, uint64_t u, uint32_t verb);

/* Prints text, padded to the width. */
void go_print_padded(struct go_printer *p, struct str s);
void go_print_truncated(struct go_printer *p, struct str s); /* padded, and cut by the precision */

/* Callbacks for operands that are not struct value. */
struct go_operands {
        size_t n;
        const void *context;
        bool (*take_int)(const void *context, size_t i, int64_t *ret); /* for `*`; false if the operand is not an int */
        void (*print)(struct go_printer *p, const void *context, size_t i, uint32_t verb);
        void (*print_with_type)(struct go_printer *p, const void *context, size_t i); /* `type=value` */
};

/* fmt.Sprintf on operands of any kind. */
void go_format(struct buf *b, struct str format, const struct go_operands *operands, unsigned flags);

void go_append_rune(struct buf *b, uint32_t rune);
