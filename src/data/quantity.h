/* Kubernetes quantities: `100m`, `1.5Gi`, `12e6`. Values are exact decimals, as in apimachinery's resource.Quantity. */
#pragma once

#include "err.h"
#include "str.h"

struct arena;
struct buf;

enum quantity_format {
        QUANTITY_DECIMAL_SI,
        QUANTITY_BINARY_SI,
        QUANTITY_DECIMAL_EXPONENT,
};

/* Opaque to callers but kept by value: a sign, decimal digits (most significant first, in the arena or inline), exponent. */
struct quantity {
        enum quantity_format format;
        bool is_negative;
        struct str digits; /* no leading or trailing zeros; empty for 0 */
        int32_t exponent;  /* value = digits * 10^exponent */
};

/* The three error texts of apimachinery (spec/functions Appendix B); values are rounded and capped as it does. */
int quantity_parse(struct arena *a, struct str text, struct quantity *ret, struct err *err);

/* Canonical form, as Quantity.String(). */
void quantity_append(struct buf *b, const struct quantity *q);

int quantity_compare(const struct quantity *a, const struct quantity *b);

/* AsApproximateFloat64 of the parsed text, with the rounding of spec/functions 2.5. */
int quantity_to_double(struct str text, double *ret, struct err *err);

/* Value() and MilliValue(): rounded up away from zero, saturated at the ends of int64. */
int64_t quantity_value(const struct quantity *q);
int64_t quantity_milli_value(const struct quantity *q);
