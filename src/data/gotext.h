/* Text as Go prints it: strconv.Quote, type names, fmt.Sprintf over values. */
#pragma once

#include "err.h"
#include "value.h"

struct buf;

/* strconv.Quote, QuoteToASCII, QuoteRune (or QuoteRuneToASCII); and whether `...` can hold s (strconv.CanBackquote). */
void go_append_quoted(struct buf *b, struct str s);
void go_append_quoted_ascii(struct buf *b, struct str s);
void go_append_quoted_rune(struct buf *b, uint32_t rune, bool is_ascii_only);
bool go_can_backquote(struct str s);

/* unicode.IsPrint as strconv knows it. */
bool go_is_printable(uint32_t rune);

/* unicode.ToUpper and unicode.ToLower: the simple mapping of one rune, whatever the locale. */
uint32_t go_to_upper(uint32_t rune);
uint32_t go_to_lower(uint32_t rune);

/* A quoted copy in the arena, for use with %s in messages. */
struct str go_quote(struct arena *a, struct str s);

/* Go's name of the value's type: <nil>, bool, int64, float64, string, []interface {}, map[string]interface {}. A NULL
 * pointer is <nil>. */
struct str go_type_name(const struct value *v);

/* What encoding/json calls the value in `cannot unmarshal X into ...`: null, bool, number, string, array, object. */
const char *go_json_type(const struct value *v);

enum go_format_flags {
        /* %d, and the other integer verbs, take a double that is integral and fits int64 as an int. */
        GO_FORMAT_INTEGRAL_DOUBLES = 1 << 0,
};

/* fmt.Sprintf(format, arguments...), byte for byte. Arguments may be NULL pointers (nil). Errors in the format are text, as
 * in Go; the only failures are a result beyond the buffer's maximum and a value nested deeper than LIMIT_DEPTH, both sticky in
 * the buffer. %p of an array or object, an address in Go, is answered as a bad verb. */
void go_sprintf(struct buf *b, struct str format, const struct value *const *arguments, size_t n_arguments,
                unsigned flags);

/* Sprintf("%v", v). */
void go_append_value(struct buf *b, const struct value *v);
