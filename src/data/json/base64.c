#include "base64.h"

#include "buf.h"

static const char std_digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static const char url_digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/* The value of each ASCII digit, -1 for the rest; the last two digits of both alphabets are included. */
static const int8_t values[128] = {
        -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, /* 00 */
        -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, /* 10 */
        -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 62, -1, 62, -1, 63, /* 20: + - / */
        52, 53, 54, 55, 56, 57, 58, 59, 60, 61, -1, -1, -1, -1, -1, -1, /* 30: 0-9 */
        -1, 0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, /* 40: A-O */
        15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, -1, -1, -1, -1, 63, /* 50: P-Z _ */
        -1, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, /* 60: a-o */
        41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, -1, -1, -1, -1, -1, /* 70: p-z */
};

static bool is_url(enum base64_alphabet alphabet)
{
        return alphabet == BASE64_URL || alphabet == BASE64_RAW_URL;
}

static bool is_padded(enum base64_alphabet alphabet)
{
        return alphabet == BASE64_STD || alphabet == BASE64_URL;
}

static size_t encoded_bytes(size_t n, enum base64_alphabet alphabet)
{
        if (n % 3 == 0)
                return n / 3 * 4;
        return n / 3 * 4 + (is_padded(alphabet) ? 4 : n % 3 + 1);
}

void base64_encode(struct buf *b, struct str bytes, enum base64_alphabet alphabet)
{
        const char *digits = is_url(alphabet) ? url_digits : std_digits;
        const unsigned char *p = (const unsigned char *)bytes.p;
        size_t groups = bytes.n / 3, rest = bytes.n % 3;
        char *out;

        if (bytes.n == 0 || !buf_reserve(b, encoded_bytes(bytes.n, alphabet)))
                return;
        out = b->p + b->n;
        for (; groups > 0; groups--, p += 3) {
                *out++ = digits[p[0] >> 2];
                *out++ = digits[(p[0] & 3) << 4 | p[1] >> 4];
                *out++ = digits[(p[1] & 15) << 2 | p[2] >> 6];
                *out++ = digits[p[2] & 63];
        }
        if (rest > 0) {
                unsigned second = rest == 2 ? p[1] : 0;

                *out++ = digits[p[0] >> 2];
                *out++ = digits[(p[0] & 3) << 4 | second >> 4];
                if (rest == 2)
                        *out++ = digits[(second & 15) << 2];
                for (size_t i = rest; is_padded(alphabet) && i < 3; i++)
                        *out++ = '=';
        }
        b->n = (size_t)(out - b->p);
}

struct decoder {
        struct str text;
        size_t at;
        enum base64_alphabet alphabet;
        bool is_at_end; /* padding, or the end of the text, was read */
};

static int digit_value(enum base64_alphabet alphabet, char c)
{
        int value = (unsigned char)c < 128 ? values[(unsigned char)c] : -1;

        if (value >= 62 && (c == '-' || c == '_') != is_url(alphabet))
                return -1;
        return value;
}

static int corrupt(size_t offset, struct err *err)
{
        return err_set(err, ERR_INVALID, "illegal base64 data at input byte %zu", offset);
}

static void skip_line_ends(struct decoder *d)
{
        while (d->at < d->text.n && (d->text.p[d->at] == '\r' || d->text.p[d->at] == '\n'))
                d->at++;
}

/* d->at is after the first padding character, which followed n digits. */
static int check_padding(struct decoder *d, size_t n, struct err *err)
{
        d->is_at_end = true;
        if (n < 2)
                return corrupt(d->at - 1, err);
        if (n == 2) {
                skip_line_ends(d);
                if (d->at == d->text.n)
                        return corrupt(d->text.n, err);
                if (d->text.p[d->at] != '=')
                        return corrupt(d->at - 1, err);
                d->at++;
        }
        return 0;
}

/* Reads the digits of one group, with their bits in *ret_bits (the first digit highest, as if there were four). Returns the
 * number of digits, or an error. */
static int read_group(struct decoder *d, uint32_t *ret_bits, struct err *err)
{
        size_t n = 0;
        uint32_t bits = 0;

        while (n < 4) {
                int value;
                char c;

                skip_line_ends(d);
                if (d->at == d->text.n) {
                        d->is_at_end = true;
                        if (n == 1 || (n > 0 && is_padded(d->alphabet)))
                                return corrupt(d->text.n - n, err);
                        break;
                }
                c = d->text.p[d->at++];
                if (c == '=' && is_padded(d->alphabet)) {
                        int r = check_padding(d, n, err);

                        if (r < 0)
                                return r;
                        break;
                }
                value = digit_value(d->alphabet, c);
                if (value < 0)
                        return corrupt(d->at - 1, err);
                bits |= (uint32_t)value << (18 - 6 * n++);
        }
        *ret_bits = bits;
        return (int)n;
}

/* Fast path for most of a text: groups of four digits with nothing between them. */
static void decode_plain_groups(struct decoder *d, struct buf *b)
{
        for (; d->text.n - d->at >= 4; d->at += 4) {
                const char *p = d->text.p + d->at;
                int v[4];

                for (size_t i = 0; i < 4; i++)
                        v[i] = digit_value(d->alphabet, p[i]);
                if ((v[0] | v[1] | v[2] | v[3]) < 0 || !buf_reserve(b, 3))
                        return;
                b->p[b->n++] = (char)(v[0] << 2 | v[1] >> 4);
                b->p[b->n++] = (char)(v[1] << 4 | v[2] >> 2);
                b->p[b->n++] = (char)(v[2] << 6 | v[3]);
        }
}

int base64_decode(struct buf *b, struct str text, enum base64_alphabet alphabet, struct err *err)
{
        struct decoder d = { .text = text, .alphabet = alphabet };

        while (!d.is_at_end) {
                uint32_t bits;
                int n;

                decode_plain_groups(&d, b);
                n = read_group(&d, &bits, err);
                if (n < 0)
                        return n;
                if (n > 0) {
                        char bytes[3] = { (char)(bits >> 16), (char)(bits >> 8), (char)bits };

                        buf_append(b, bytes, (size_t)n - 1);
                }
        }
        skip_line_ends(&d);
        if (d.at < text.n)
                return corrupt(d.at, err);
        return buf_check(b, "decoded base64", err);
}

int base64_decode_any(struct buf *b, struct str text, struct err *err)
{
        bool is_url_text = str_find_char(text, '-') >= 0 || str_find_char(text, '_') >= 0;

        if (text.n % 4 == 0)
                return base64_decode(b, text, is_url_text ? BASE64_URL : BASE64_STD, err);
        return base64_decode(b, text, is_url_text ? BASE64_RAW_URL : BASE64_RAW_STD, err);
}
