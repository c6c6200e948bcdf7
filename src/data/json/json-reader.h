/* Internals of the JSON reader, shared by json-read.c (values, containers, texts), json-string.c (strings with escapes or
 * invalid bytes) and json-error.c (errors). */
#pragma once

#include "json.h"

#if defined(__SSE2__) && !defined(WEFT_PORTABLE)
#include <emmintrin.h>
#endif

#define JSON_STEP 16 /* bytes that scans and copies take at once */

/* An item of an array, or the key or the value of a member. */
union json_unit {
        struct str key;
        struct value value;
};

_Static_assert(sizeof(struct member) == 2 * sizeof(union json_unit), "a member is a key unit and a value unit");
_Static_assert(offsetof(struct member, value) == sizeof(union json_unit), "a member is a key unit and a value unit");

/* An open container, on the C stack of the function that reads it. */
struct frame {
        struct frame *parent;
        size_t base; /* its first unit */
        bool is_object;
};

struct json_reader {
        struct arena *arena;
        const char *start;
        const char *end;
        union json_unit *units; /* members and items of the open containers */
        union json_unit *initial_units;
        size_t n_units;
        size_t capacity;
        char *chunk; /* piece of the arena that holds string bytes */
        char *room;  /* its free space */
        char *room_end;
        size_t chunk_bytes; /* of the next chunk */
        struct str *keys;   /* recent keys, by hash */
        unsigned key_shift;
        struct frame *frame; /* the innermost open container */
        unsigned depth;
        unsigned max_depth;
        unsigned duplicates_told;
        bool is_between; /* for errors: the reader is after a value, not inside one */
        struct json_read_options options;
        struct str bad_number; /* the first number beyond double; a syntax error has precedence over it */
        char *bad_number_path; /* heap */
        struct err *err;
        int result;
};

/* json-error.c. Functions that return a pointer return NULL, which ends reading. */

const char *json_fail_at(struct json_reader *r, const char *at, int code, const char *message);

/* For a place where white space is allowed. At the end of the text the error is `unexpected end of JSON input`. */
const char *json_fail_between(struct json_reader *r, const char *at, const char *where);

/* For a place inside a token. At the end of the text the error names a space, as in Go. */
const char *json_fail_inside(struct json_reader *r, const char *at, const char *where);

/* Sets the error for a key that the innermost object has already. Always returns false. */
bool json_fail_duplicate(struct json_reader *r, const char *at, struct str key);
void json_tell_duplicate(struct json_reader *r, struct str key);

/* For numbers beyond double: the first call remembers the number where it is read, the second sets the error if the rest of the
 * text is valid. */
void json_note_bad_number(struct json_reader *r, struct str text);
void json_fail_bad_number(struct json_reader *r);

/* json-string.c */

/* Makes room for n string bytes plus JSON_STEP bytes. */
void json_add_chunk(struct json_reader *r, size_t n);

/* Copies bytes of the text into the arena, for use near the end of the chunk or the text, where copying in steps would go beyond
 * it. */
const char *json_keep_bytes(struct json_reader *r, const char *p, size_t n);

/* A string with escapes or bytes beyond ASCII that are not all valid; p is after its opening quote. */
const char *json_read_string(struct json_reader *r, const char *p, struct str *ret);

static inline uint64_t json_load8(const char *p)
{
        uint64_t word;

        memcpy(&word, p, sizeof(word));
        return word;
}

static inline bool json_is_plain(char c)
{
        return c != '"' && c != '\\' && (unsigned char)c >= 0x20;
}

/* The first byte at or after p that is a quote, a backslash or a control character, or the end. *has_high is set when a byte
 * before it is not ASCII. */
static inline const char *json_scan_plain(const char *p, const char *end, bool *has_high)
{
        unsigned char high = 0;

#if defined(__SSE2__) && !defined(WEFT_PORTABLE)
        const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\'), control = _mm_set1_epi8(0x1f);

        for (; end - p >= JSON_STEP; p += JSON_STEP) {
                __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
                __m128i special = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(v, quote), _mm_cmpeq_epi8(v, backslash)),
                                               _mm_cmpeq_epi8(_mm_min_epu8(v, control), v));
                unsigned stops = (unsigned)_mm_movemask_epi8(special), highs = (unsigned)_mm_movemask_epi8(v);

                if (stops) {
                        *has_high |= (highs & (stops - 1) & ~stops) != 0;
                        return p + __builtin_ctz(stops);
                }
                *has_high |= highs != 0;
        }
#else
        const uint64_t ones = 0x0101010101010101u, tops = 0x8080808080808080u;

        for (; end - p >= 8; p += 8) {
                uint64_t word = json_load8(p), quotes = word ^ ones * '"', backslashes = word ^ ones * '\\';

                if ((((quotes - ones) & ~quotes) | ((backslashes - ones) & ~backslashes) |
                     ((word - ones * 0x20) & ~word)) &
                    tops)
                        break;
                *has_high |= (word & tops) != 0;
        }
#endif
        for (; p < end && json_is_plain(*p); p++)
                high |= (unsigned char)*p;
        *has_high |= high >= 0x80;
        return p;
}
