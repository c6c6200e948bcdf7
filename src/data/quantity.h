/* Kubernetes quantities: `100m`, `1.5Gi`, `12e6`. Values are exact decimals, as in apimachinery's resource.Quantity.
 *
 * Like that library a quantity has one of two forms, and a few results tell them apart: a small one is an int64 times a power
 * of ten; what does not fit, or is finer than a billionth, is large and was rounded away from zero to nine decimals. */
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
        bool is_capped;     /* large ones: was beyond int64, with a binary suffix */
        int64_t exponent;   /* the value is number or digits times 10^exponent */
        int64_t number;     /* small ones */
        struct str digits;  /* large ones: decimal, most significant first, no zeros at either end; empty for 0 */
        struct str as_read; /* small ones: the text, where String() gives that instead of the canonical form */
};

/* The three error texts of apimachinery. A decimal exponent beyond LIMIT_QUANTITY_EXPONENT is a bad suffix. */
int quantity_parse(struct arena *a, struct str text, struct quantity *ret, struct err *err);

/* As Quantity.String(): the canonical form, or the text as it was read where that looked canonical enough (`+1`, `01k`). */
void quantity_append(struct buf *b, const struct quantity *q);

/* The canonical form in any case. It has no suffix for powers beyond `E`, as in apimachinery: then it does not read back. */
void quantity_append_canonical(struct buf *b, const struct quantity *q);

/* By mathematical value: negative, 0 or positive. */
int quantity_compare(const struct quantity *a, const struct quantity *b);

/* AsApproximateFloat64: computed in doubles, so not always the nearest one; infinite or NaN for huge exponents. */
double quantity_double(const struct quantity *q);

/* The same for a text. */
int quantity_to_double(struct str text, double *ret, struct err *err);

/* Value() and MilliValue(): rounded up, away from zero; out of range, and for large negative ones, whatever apimachinery's
 * int64 arithmetic wraps around to. */
int64_t quantity_value(const struct quantity *q);
int64_t quantity_milli_value(const struct quantity *q);
