/* Numbers as text, the way Go's strconv and encoding/json print and parse them. Nothing here depends on the locale. */
#pragma once

#include "err.h"
#include "str.h"

struct buf;

/* As encoding/json: shortest digits that read back equal, plain notation unless |d| < 1e-6 or >= 1e21, then e-notation with a
 * bare exponent (1e-7, 1e+21). -0 gives `-0`. d must be finite. */
void number_append_json(struct buf *b, double d);

/* As strconv.FormatFloat(d, format, precision, 64): format one of e E f g G b x X, precision -1 for shortest. Takes NaN and
 * infinities (`NaN`, `+Inf`, `-Inf`). */
void number_append_go(struct buf *b, double d, char format, int precision);

/* strconv.ParseFloat(s, 64): ERR_INVALID with `strconv.ParseFloat: parsing "x": invalid syntax` or ERR_LIMIT with
 * `... value out of range` (then *ret is the infinity). */
int number_parse_double(struct str s, double *ret, struct err *err);

/* strconv.ParseInt(s, 10, 64), with the same two errors. */
int number_parse_int(struct str s, int64_t *ret, struct err *err);

/* strconv.ParseUint(s, 10, 64). */
int number_parse_uint(struct str s, uint64_t *ret, struct err *err);

/* strconv.ParseBool. */
int number_parse_bool(struct str s, bool *ret, struct err *err);

/* Converts a decimal number in JSON's grammar (already checked) that is not an int64: correctly rounded, ±HUGE_VAL on overflow. */
double number_from_decimal(struct str digits);
