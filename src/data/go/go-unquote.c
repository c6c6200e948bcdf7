/* strconv.UnquoteChar. */
#include "gotext.h"

#include "ascii.h"
#include "utf8.h"

static bool take_hex(struct str *s, size_t n_digits, uint32_t *ret)
{
        uint32_t u = 0;

        if (s->n < n_digits)
                return false;
        for (size_t i = 0; i < n_digits; i++) {
                int digit = ascii_hex_digit(s->p[i]);

                if (digit < 0)
                        return false;
                u = u << 4 | (uint32_t)digit;
        }
        *s = str_skip(*s, n_digits);
        *ret = u;
        return true;
}

static bool take_octal(struct str *s, char first, uint32_t *ret)
{
        uint32_t u = (uint32_t)(first - '0');

        if (s->n < 2)
                return false;
        for (size_t i = 0; i < 2; i++) {
                if (s->p[i] < '0' || s->p[i] > '7')
                        return false;
                u = u << 3 | (uint32_t)(s->p[i] - '0');
        }
        *s = str_skip(*s, 2);
        *ret = u;
        return u <= 255;
}

static bool take_code_point(struct str *s, size_t n_digits, uint32_t *ret)
{
        return take_hex(s, n_digits, ret) && *ret <= RUNE_MAX && (*ret < 0xD800 || *ret > 0xDFFF);
}

static bool take_escape(struct str *s, char quote, uint32_t *ret, bool *ret_is_multibyte)
{
        static const char letters[] = "abfnrtv", values[] = "\a\b\f\n\r\t\v";
        const char *letter;
        char c;

        if (s->n == 0)
                return false;
        c = s->p[0];
        *s = str_skip(*s, 1);
        letter = c ? strchr(letters, c) : NULL;
        if (letter) {
                *ret = (unsigned char)values[letter - letters];
                return true;
        }
        if (c == 'x')
                return take_hex(s, 2, ret);
        if (c == 'u' || c == 'U') {
                *ret_is_multibyte = true;
                return take_code_point(s, c == 'u' ? 4 : 8, ret);
        }
        if (c >= '0' && c <= '7')
                return take_octal(s, c, ret);
        *ret = (unsigned char)c;
        return c == '\\' || c == quote;
}

bool go_unquote_rune(struct str *s, char quote, uint32_t *ret_rune, bool *ret_is_multibyte)
{
        size_t width = 1;

        *ret_is_multibyte = false;
        if (s->n == 0 || s->p[0] == quote)
                return false;
        if (s->p[0] == '\\') {
                *s = str_skip(*s, 1);
                return take_escape(s, quote, ret_rune, ret_is_multibyte);
        }
        *ret_rune = (unsigned char)s->p[0];
        if (*ret_rune >= 0x80) {
                *ret_rune = utf8_decode(*s, &width);
                *ret_is_multibyte = true;
        }
        *s = str_skip(*s, width);
        return true;
}
