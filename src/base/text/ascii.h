/* ASCII characters, independent of the locale. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define ASCII_HEX_LOWER "0123456789abcdef"
#define ASCII_HEX_UPPER "0123456789ABCDEF"

static inline bool ascii_is_digit(char c)
{
        return c >= '0' && c <= '9';
}

static inline bool ascii_is_letter(char c)
{
        return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

/* The value of a hexadecimal digit in either case; -1 if c is not one. */
static inline int ascii_hex_digit(char c)
{
        if (ascii_is_digit(c))
                return c - '0';
        c |= 0x20;
        return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}
