/* Kubernetes quantities: `100m`, `1.5Gi`, `12e6`. Values are exact decimals, as in apimachinery's resource.Quantity.
 *
 * As in that library a quantity has one of two forms, and a few results depend on the form. A small quantity is an int64 times a
 * power of ten. A number that does not fit, or that is finer than a billionth, is a large quantity, rounded away from zero to
 * nine decimals. */
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

/* Opaque to callers but kept by value; it lives as long as the arena it was parsed into. */
struct quantity {
        enum quantity_format format;
        bool is_large;
        bool is_negative;   /* large ones */
        bool is_capped;     /* large ones: the number had a binary suffix and was beyond int64 */
        int64_t exponent;   /* the value is number or digits times 10^exponent */
        int64_t number;     /* small ones */
        struct str digits;  /* large ones: decimal, most significant first, no zeros at either end; empty for 0 */
        struct str as_read; /* small ones: the text, if String() returns it instead of the canonical form */
};

/* The three error texts of apimachinery. A decimal exponent beyond LIMIT_QUANTITY_EXPONENT is a bad suffix. */
int quantity_parse(struct arena *a, struct str text, struct quantity *ret, struct err *err);

/* As Quantity.String(): the canonical form, or the text as it was read, if apimachinery takes it for canonical (`+1`, `01k`). */
void quantity_append(struct buf *b, const struct quantity *q);

/* Always the canonical form. As in apimachinery there is no suffix for powers beyond `E`, so the text of such a quantity cannot
 * be parsed again. */
void quantity_append_canonical(struct buf *b, const struct quantity *q);

/* By mathematical value: negative, 0 or positive. */
int quantity_compare(const struct quantity *a, const struct quantity *b);

/* AsApproximateFloat64: computed in doubles, so not always the nearest one; infinite or NaN for huge exponents. */
double quantity_double(const struct quantity *q);

/* The same for a text. */
int quantity_to_double(struct str text, double *ret, struct err *err);

/* Value() and MilliValue(): rounded away from zero. Results out of range, and those of large negative quantities, are the
 * wrapped-around results of apimachinery's int64 arithmetic. */
int64_t quantity_value(const struct quantity *q);
int64_t quantity_milli_value(const struct quantity *q);
