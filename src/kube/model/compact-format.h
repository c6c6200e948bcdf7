/* The tags and the dictionary of the compact format, for its files alone. compact.c describes the format. */
#pragma once

#include "str.h"

enum {
        FIRST_FORMAT_VERSION = 0x01,
        FORMAT_VERSION = 0x02,

        TAG_NULL = 0x00,
        TAG_FALSE = 0x01,
        TAG_TRUE = 0x02,
        TAG_INT = 0x03,
        TAG_DOUBLE = 0x04,
        TAG_STRING = 0x05,
        TAG_ARRAY = 0x06,
        TAG_OBJECT = 0x07,
        TAG_SHORT_ARRAY = 0x10,
        TAG_SHORT_OBJECT = 0x20,
        TAG_SHORT_INT = 0x30,
        TAG_SHORT_STRING = 0x40,
        TAG_WORD = 0x80,

        KEY_LONG = 0x3f,
        KEY_WORD = 0x40,
        KEY_FIELD_WORD = 0xa0,

        NEAR_WORDS = 96, /* their keys are one byte; those of the others are KEY_LONG and a number below it */
        FAR_WORDS = 31,
        MAX_WORDS = NEAR_WORDS + FAR_WORDS,
        SHORT_COUNT = 16,
        SHORT_STRING = 64,
};

/* Each text begins with `f:`; the word is the rest. */
extern const struct str compact_words[];
extern const size_t compact_n_words;

/* The number after KEY_LONG: KEY_LONG or more is the number of bytes that follow, less says which word this is. */
static inline bool compact_far_key(uint64_t n, struct str *ret)
{
        size_t i = NEAR_WORDS + (size_t)n % FAR_WORDS;

        if (n >= 2 * FAR_WORDS || i >= compact_n_words)
                return false;
        *ret = n >= FAR_WORDS ? compact_words[i] : str_skip(compact_words[i], 2);
        return true;
}
