/* Text as Go prints it: strconv.Quote, type names, fmt.Sprintf over values. */
#pragma once

#include "err.h"
#include "value.h"

struct buf;

/* strconv.Quote, QuoteToASCII, QuoteRune (or QuoteRuneToASCII); go_can_backquote is strconv.CanBackquote: true if s can stand
 * between backquotes. */
void go_append_quoted(struct buf *b, struct str s);
void go_append_quoted_ascii(struct buf *b, struct str s);
void go_append_quoted_rune(struct buf *b, uint32_t rune, bool is_ascii_only);
bool go_can_backquote(struct str s);

/* strconv.UnquoteChar: reads the first character or escape of the text between quotes, and moves *s after it. is_multibyte: the rune
 * stands for its UTF-8, not for one byte. False if the syntax is invalid, or at an unescaped quote. */
bool go_unquote_rune(struct str *s, char quote, uint32_t *ret_rune, bool *ret_is_multibyte);

/* unicode.IsPrint as strconv knows it. */
bool go_is_printable(uint32_t rune);

/* unicode.IsLetter and unicode.IsDigit. */
bool go_is_letter(uint32_t rune);
bool go_is_digit(uint32_t rune);

/* unicode.ToUpper and unicode.ToLower: the simple mapping of one rune, independent of the locale. */
uint32_t go_to_upper(uint32_t rune);
uint32_t go_to_lower(uint32_t rune);
uint32_t go_to_title(uint32_t rune);

/* unicode.IsUpper, IsLower, IsTitle and IsSpace. */
bool go_is_upper(uint32_t rune);
bool go_is_lower(uint32_t rune);
bool go_is_title(uint32_t rune);
bool go_is_number(uint32_t rune);      /* of category N; digits are only a part of it */
bool go_is_punctuation(uint32_t rune); /* of category P; symbols are not included */
bool go_is_space(uint32_t rune);

/* strings.ToUpper or strings.ToLower: every rune of the text, mapped. */
void go_append_mapped(struct buf *b, struct str s, uint32_t (*map)(uint32_t rune));

/* A quoted copy in the arena, for use with %s in messages. */
struct str go_quote(struct arena *a, struct str s);

/* Go's name of the value's type: <nil>, bool, int64, float64, string, []interface {}, map[string]interface {}. A NULL
 * pointer is <nil>. */
struct str go_type_name(const struct value *v);

/* The name that encoding/json uses for the value in `cannot unmarshal X into ...`: null, bool, number, string, array, object. */
const char *go_json_type(const struct value *v);

enum go_format_flags {
        /* %d and the other integer verbs print a double as an int if it is integral and fits int64. */
        GO_FORMAT_INTEGRAL_DOUBLES = 1 << 0,
};

/* fmt.Sprintf(format, arguments...), byte for byte. Arguments may be NULL pointers (nil). Errors in the format appear in the
 * text, as in Go; the only failures are a result beyond the buffer's maximum and a value nested deeper than LIMIT_DEPTH, both
 * sticky in the buffer. %p of an array or object, which prints an address in Go, is a bad verb here. */
void go_sprintf(struct buf *b, struct str format, const struct value *const *arguments, size_t n_arguments,
                unsigned flags);

/* Sprintf("%v", v). */
void go_append_value(struct buf *b, const struct value *v);
