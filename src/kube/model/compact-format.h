/* The tags and the dictionary of the compact format, for its files alone. compact.c describes the format. */
#pragma once

#include "str.h"

enum {
        FORMAT_VERSION = 0x01,

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

        MAX_WORDS = 96,
        SHORT_COUNT = 16,
        SHORT_STRING = 64,
};

/* Each text begins with `f:`; the word is the rest. */
extern const struct str compact_words[];
extern const size_t compact_n_words;
