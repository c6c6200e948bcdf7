#include "utf8.h"

/* The valid range of the second byte depends on the first byte; later bytes are 0x80..0xBF. */
uint32_t utf8_decode_beyond_ascii(struct str s, size_t *ret_width)
{
        const unsigned char *p = (const unsigned char *)s.p;
        unsigned char low = 0x80, high = 0xBF;
        uint32_t rune;
        size_t width;

        *ret_width = 1;
        if (p[0] < 0xC2 || p[0] > 0xF4)
                return RUNE_ERROR;
        if (p[0] < 0xE0) {
                width = 2;
                rune = p[0] & 0x1Fu;
        } else if (p[0] < 0xF0) {
                width = 3;
                rune = p[0] & 0x0Fu;
                low = p[0] == 0xE0 ? 0xA0 : 0x80;
                high = p[0] == 0xED ? 0x9F : 0xBF;
        } else {
                width = 4;
                rune = p[0] & 0x07u;
                low = p[0] == 0xF0 ? 0x90 : 0x80;
                high = p[0] == 0xF4 ? 0x8F : 0xBF;
        }
        if (s.n < width || p[1] < low || p[1] > high)
                return RUNE_ERROR;
        for (size_t i = 1; i < width; i++) {
                if ((p[i] & 0xC0) != 0x80)
                        return RUNE_ERROR;
                rune = rune << 6 | (p[i] & 0x3Fu);
        }
        *ret_width = width;
        return rune;
}

size_t utf8_encode(uint32_t rune, char out[4])
{
        if (rune > RUNE_MAX || (rune >= 0xD800 && rune <= 0xDFFF))
                rune = RUNE_ERROR;
        if (rune < 0x80) {
                out[0] = (char)rune;
                return 1;
        }
        if (rune < 0x800) {
                out[0] = (char)(0xC0 | rune >> 6);
                out[1] = (char)(0x80 | (rune & 0x3F));
                return 2;
        }
        if (rune < 0x10000) {
                out[0] = (char)(0xE0 | rune >> 12);
                out[1] = (char)(0x80 | (rune >> 6 & 0x3F));
                out[2] = (char)(0x80 | (rune & 0x3F));
                return 3;
        }
        out[0] = (char)(0xF0 | rune >> 18);
        out[1] = (char)(0x80 | (rune >> 12 & 0x3F));
        out[2] = (char)(0x80 | (rune >> 6 & 0x3F));
        out[3] = (char)(0x80 | (rune & 0x3F));
        return 4;
}

/* Length of the run of ASCII bytes at the start, eight at a time. */
static size_t ascii_prefix(struct str s)
{
        size_t i = 0;

        for (; i + 8 <= s.n; i += 8) {
                uint64_t word;

                memcpy(&word, s.p + i, 8);
                if (word & 0x8080808080808080u)
                        break;
        }
        while (i < s.n && !(s.p[i] & 0x80))
                i++;
        return i;
}

size_t utf8_valid_prefix(struct str s)
{
        size_t i = 0;

        for (;;) {
                size_t width;

                i += ascii_prefix(str_skip(s, i));
                if (i >= s.n)
                        return s.n;
                if (utf8_decode(str_skip(s, i), &width) == RUNE_ERROR && width == 1)
                        return i;
                i += width;
        }
}

/* For short texts: eight bytes at a time; the last eight may overlap the ones before. */
static bool is_ascii(struct str s)
{
        uint64_t word, high = 0;

        if (s.n < 8) {
                for (size_t i = 0; i < s.n; i++)
                        high |= (uint8_t)s.p[i];
                return !(high & 0x80);
        }
        for (size_t i = 0; i + 8 <= s.n; i += 8) {
                memcpy(&word, s.p + i, 8);
                high |= word;
        }
        memcpy(&word, s.p + s.n - 8, 8);
        return !((high | word) & 0x8080808080808080u);
}

bool utf8_is_valid(struct str s)
{
        return (s.n <= 256 && is_ascii(s)) || utf8_valid_prefix(s) == s.n;
}

size_t utf8_count(struct str s)
{
        size_t count = 0;

        for (size_t i = 0, width; i < s.n; i += width, count++)
                utf8_decode(str_skip(s, i), &width);
        return count;
}
