#include "json-reader.h"

#include "ascii.h"
#include "limits.h"
#include "utf8.h"

#define MAX_CHUNK_BYTES 32768u

void json_add_chunk(struct json_reader *r, size_t n)
{
        size_t size = MAX(n + JSON_STEP, r->chunk_bytes);

        r->chunk = r->room = arena_alloc_aligned(r->arena, size, 1);
        r->room_end = r->room + size;
        r->chunk_bytes = MIN(r->chunk_bytes * 2, MAX_CHUNK_BYTES);
}

/* A string too long for the rest of the chunk gets its own piece of the arena, unless it is short enough for a new chunk. */
const char *json_keep_bytes(struct json_reader *r, const char *p, size_t n)
{
        char *copy;

        if (n > r->chunk_bytes / 4) {
                copy = arena_alloc_aligned(r->arena, n, 1);
        } else {
                if ((size_t)(r->room_end - r->room) < n)
                        json_add_chunk(r, n);
                copy = r->room;
                r->room += n;
        }
        memcpy(copy, p, n);
        return copy;
}

/* The four digits of \uXXXX at p, or -1 after an error. */
static int32_t read_unit(struct json_reader *r, const char *p)
{
        int32_t unit = 0;

        for (int i = 0; i < 4; i++, p++) {
                int digit = p < r->end ? ascii_hex_digit(*p) : -1;

                if (digit < 0) {
                        json_fail_inside(r, p, "in \\u hexadecimal character escape");
                        return -1;
                }
                unit = unit << 4 | digit;
        }
        return unit;
}

/* The low half of a surrogate pair if p is at one; otherwise 0. */
static uint32_t peek_low_surrogate(const struct json_reader *r, const char *p)
{
        uint32_t unit = 0;

        if (r->end - p < 6 || p[0] != '\\' || p[1] != 'u')
                return 0;
        for (int i = 2; i < 6; i++) {
                if (ascii_hex_digit(p[i]) < 0)
                        return 0;
                unit = unit << 4 | (uint32_t)ascii_hex_digit(p[i]);
        }
        return unit >= 0xDC00 && unit < 0xE000 ? unit : 0;
}

/* \uXXXX; p is after the u. */
static const char *read_unicode_escape(struct json_reader *r, const char *p, char **out)
{
        int32_t unit = read_unit(r, p);
        uint32_t rune, low;

        if (unit < 0)
                return NULL;
        rune = (uint32_t)unit;
        p += 4;
        if (rune >= 0xD800 && rune < 0xE000) {
                low = rune < 0xDC00 ? peek_low_surrogate(r, p) : 0;
                if (low) {
                        rune = 0x10000 + ((rune - 0xD800) << 10) + (low - 0xDC00);
                        p += 6;
                } else if (r->options.is_kubernetes) {
                        rune = RUNE_ERROR;
                } else {
                        return json_fail_at(r, p - 6, ERR_INVALID,
                                            "unpaired surrogate in \\u hexadecimal character escape");
                }
        }
        *out += utf8_encode(rune, *out);
        return p;
}

/* An escape; p is at its backslash. */
static const char *read_escape(struct json_reader *r, const char *p, char **out)
{
        static const char meaning[256] = {
                ['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',
                ['f'] = '\f', ['n'] = '\n',  ['r'] = '\r', ['t'] = '\t',
        };

        p++;
        if (p < r->end && *p == 'u')
                return read_unicode_escape(r, p + 1, out);
        if (p >= r->end || !meaning[(unsigned char)*p])
                return json_fail_inside(r, p, "in string escape code");
        *(*out)++ = meaning[(unsigned char)*p];
        return p + 1;
}

/* A run of bytes that are not all ASCII, from p to end. */
static bool append_checked(struct json_reader *r, const char *p, const char *end, char **out)
{
        while (p < end) {
                struct str rest = str_make(p, (size_t)(end - p));
                size_t valid = utf8_valid_prefix(rest);

                memcpy(*out, p, valid);
                *out += valid;
                p += valid;
                if (p == end)
                        break;
                if (!r->options.is_kubernetes) {
                        json_fail_at(r, p, ERR_INVALID, "invalid UTF-8 in string literal");
                        return false;
                }
                *out += utf8_encode(RUNE_ERROR, *out);
                p++;
        }
        return true;
}

/* The closing quote of the string that p is in, or the end of the text. */
static const char *find_quote(const char *p, const char *end, bool *has_high)
{
        for (;;) {
                p = json_scan_plain(p, end, has_high);
                if (p >= end || *p == '"')
                        return p;
                p += *p == '\\' && end - p > 1 ? 2 : 1;
        }
}

/* Copies n bytes; out has room for n + JSON_STEP bytes. */
static inline void copy_run(const struct json_reader *r, char *out, const char *p, size_t n)
{
        if (n > 64 || (size_t)(r->end - p) < n + JSON_STEP) {
                memcpy(out, p, n);
                return;
        }
        for (size_t i = 0; i < n; i += JSON_STEP)
                memcpy(out + i, p + i, JSON_STEP);
}

const char *json_read_string(struct json_reader *r, const char *p, struct str *ret)
{
        bool has_bad = false;
        size_t n = (size_t)(find_quote(p, r->end, &has_bad) - p);
        size_t most = has_bad && r->options.is_kubernetes ? 3 * n : n; /* a bad byte becomes the three of U+FFFD */
        char *copy, *out;

        if (most > LIMIT_STRING_BYTES)
                return json_fail_at(r, p, ERR_LIMIT, "string is larger than the limit of 2147483648 bytes");
        if ((size_t)(r->room_end - r->room) < most + JSON_STEP)
                json_add_chunk(r, most);
        copy = out = r->room;
        for (;;) {
                bool has_high = false;
                const char *stop = json_scan_plain(p, r->end, &has_high);

                if (has_high) {
                        if (!append_checked(r, p, stop, &out))
                                return NULL;
                } else {
                        copy_run(r, out, p, (size_t)(stop - p));
                        out += stop - p;
                }
                p = stop;
                if (p < r->end && *p == '"')
                        break;
                if (p >= r->end || *p != '\\')
                        return json_fail_between(r, p, "in string literal");
                p = read_escape(r, p, &out);
                if (!p)
                        return NULL;
        }
        r->room = out;
        *ret = str_make(copy, (size_t)(out - copy));
        return p + 1;
}
