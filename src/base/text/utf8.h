/* UTF-8 as Go reads it: a byte that is not part of a valid encoding counts as one U+FFFD of width 1. Surrogates, overlong forms
 * and code points beyond U+10FFFF are invalid. */
#pragma once

#include "str.h"

#define RUNE_ERROR 0xFFFDu
#define RUNE_MAX   0x10FFFFu

/* Decodes the first rune of s, which must not be empty. *ret_width is its length in bytes; RUNE_ERROR with width 1 means an
 * invalid byte (a real U+FFFD has width 3). */
uint32_t utf8_decode_beyond_ascii(struct str s, size_t *ret_width);
static inline uint32_t utf8_decode(struct str s, size_t *ret_width)
{
        assert(s.n > 0);
        *ret_width = 1;
        return (unsigned char)s.p[0] < 0x80 ? (unsigned char)s.p[0] : utf8_decode_beyond_ascii(s, ret_width);
}

/* Writes 1 to 4 bytes and returns how many; an invalid rune is written as U+FFFD. */
size_t utf8_encode(uint32_t rune, char out[4]);

/* True if all of s is valid. */
bool utf8_is_valid(struct str s);

/* Offset of the first invalid byte, or s.n. */
size_t utf8_valid_prefix(struct str s);

/* Number of runes, invalid bytes counting as one each. */
size_t utf8_count(struct str s);
