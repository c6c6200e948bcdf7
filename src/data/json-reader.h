/* The insides of the JSON reader, shared by json-read.c (values, containers, texts), json-string.c (strings that need work) and
 * json-error.c (what is said when reading ends early). */
#pragma once

#include "json.h"

#if defined(__SSE2__) && !defined(WEFT_PORTABLE)
#include <emmintrin.h>
#endif

#define JSON_STEP 16 /* bytes that scans and copies take at once */

/* Half a member, or an item. */
union unit {
        struct str key;
        struct value value;
};

_Static_assert(sizeof(struct member) == 2 * sizeof(union unit), "a member is a key unit and a value unit");
_Static_assert(offsetof(struct member, value) == sizeof(union unit), "a member is a key unit and a value unit");

/* An open container, on the C stack of the function that reads it. */
struct frame {
        struct frame *parent;
        size_t base; /* its first unit */
        bool is_object;
};

struct reader {
        struct arena *arena;
        const char *start;
        const char *end;
        union unit *units; /* members and items of the open containers */
        union unit *initial_units;
        size_t n_units;
        size_t capacity;
        char *chunk; /* piece of the arena for string bytes */
        char *room;  /* its free space */
        char *room_end;
        size_t chunk_bytes; /* of the next chunk */
        struct str *keys;   /* recent keys, by hash */
        unsigned key_shift;
        struct frame *frame; /* the innermost open container */
        unsigned depth;
        unsigned max_depth;
        unsigned duplicates_told;
        bool is_between; /* for errors: behind a value, not in one */
        struct json_read_options options;
        struct str bad_number; /* the first number beyond double; syntax errors go before it */
        char *bad_number_path; /* heap */
        struct err *err;
        int result;
};

/* json-error.c. Those that return a pointer return NULL, the end of reading. */

const char *json_fail_at(struct reader *r, const char *at, int code, const char *message);

/* Where white space may stand, so that the end of the text is just an end. */
const char *json_fail_between(struct reader *r, const char *at, const char *where);

/* Inside a token. Go meets the end of the text there as a space. */
const char *json_fail_inside(struct reader *r, const char *at, const char *where);

/* Always false, for a key that the innermost object has already. */
bool json_fail_duplicate(struct reader *r, const char *at, struct str key);
void json_tell_duplicate(struct reader *r, struct str key);

/* A number beyond double, where it is read and when all else is well. */
void json_note_bad_number(struct reader *r, struct str text);
void json_fail_bad_number(struct reader *r);

/* json-string.c */

/* Room for n string bytes and a step behind them. */
void json_add_chunk(struct reader *r, size_t n);

/* Copies bytes of the text into the arena, when the chunk or the text is too near its end for copying in steps. */
const char *json_keep_bytes(struct reader *r, const char *p, size_t n);

/* A string with escapes or bytes beyond ASCII that are not all valid; p is behind its opening quote. */
const char *json_read_string(struct reader *r, const char *p, struct str *ret);

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

/* The first byte at or behind p that is a quote, a backslash or a control character, or the end. *has_high is set when a
 * byte before it is not ASCII. */
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
