/* What go-format.c and go-print.c share: one operand, printed under the flags of its verb. */
#pragma once

#include "buf.h"
#include "value.h"

struct go_printer {
        struct buf *out;
        struct buf scratch; /* text whose length must be known before it is written */
        unsigned options;   /* enum go_format_flags */

        /* Of the verb at hand. */
        bool has_plus, has_minus, has_sharp, has_space, has_zero;
        bool is_go_syntax; /* %#v */
        bool has_width, has_precision;
        size_t width, precision;
};

/* The operand under the verb, or the complaint that the verb does not fit. */
void go_print_argument(struct go_printer *p, const struct value *v, uint32_t verb);

/* `type=value`, as complaints have it; `<nil>` for null. */
void go_print_with_type(struct go_printer *p, const struct value *v);

void go_append_rune(struct buf *b, uint32_t rune);
