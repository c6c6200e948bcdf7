#include "schema-formats.h"

#include "ascii.h"

/* Takes a number in the base off *s. False if there are no digits, or if the number exceeds the maximum. */
static bool take_number(struct str *s, int base, unsigned max, size_t max_digits)
{
        unsigned n = 0;
        size_t i = 0;

        for (; i < s->n; i++) {
                int digit = ascii_hex_digit(s->p[i]);

                if (digit < 0 || digit >= base)
                        break;
                n = n * (unsigned)base + (unsigned)digit;
                if (n > max || i >= max_digits)
                        return false;
        }
        if (i == 0)
                return false;
        *s = str_skip(*s, i);
        return true;
}

static bool is_dotted(struct str text, bool leading_zeros)
{
        for (int i = 0; i < 4; i++) {
                if (i > 0 && !str_cut_prefix(&text, STR(".")))
                        return false;
                if (!leading_zeros && text.n > 1 && text.p[0] == '0' && ascii_hex_digit(text.p[1]) >= 0)
                        return false;
                if (!take_number(&text, 10, 255, SIZE_MAX))
                        return false;
        }
        return text.n == 0;
}

/* Groups of hex digits. `::` stands for one or more groups of 0, and an IPv4 address for the last two. */
static bool is_plain_ipv6(struct str s)
{
        bool has_gap = str_cut_prefix(&s, STR("::"));
        int n = 0;

        if (has_gap && s.n == 0)
                return true;
        while (n < 8) {
                struct str before = s;

                if (!take_number(&s, 16, 0xffff, 4) && !(s.n > 0 && s.p[0] != ':'))
                        return false;
                if (s.n > 0 && s.p[0] == '.')
                        return (has_gap ? n < 7 : n == 6) && is_dotted(before, false);
                if (s.p == before.p)
                        return false;
                n++;
                if (s.n == 0)
                        break;
                if (!str_cut_prefix(&s, STR(":")) || s.n == 0)
                        return false;
                if (str_cut_prefix(&s, STR(":"))) {
                        if (has_gap)
                                return false;
                        has_gap = true;
                        if (s.n == 0)
                                break;
                }
        }
        return s.n == 0 && (has_gap ? n < 8 : n == 8);
}

/* Leading zeros are allowed, as always in Kubernetes. An IPv6 address with an IPv4 part in dots is accepted too. */
bool format_is_ipv4(struct str text)
{
        return is_dotted(text, true) || (str_find_char(text, '.') >= 0 && is_plain_ipv6(text));
}

bool format_is_ipv6(struct str text)
{
        return is_plain_ipv6(text);
}

bool format_is_cidr(struct str text)
{
        struct str address;
        unsigned max;

        if (!str_split(&text, '/', &address))
                return false;
        if (str_find_char(address, ':') >= 0)
                max = is_plain_ipv6(address) ? 128 : 0;
        else
                max = is_dotted(address, true) ? 32 : 0;
        return max && take_number(&text, 10, max, SIZE_MAX) && text.n == 0;
}

static bool is_groups(struct str s, char separator, size_t digits)
{
        size_t groups = (s.n + 1) / (digits + 1);

        if ((s.n + 1) % (digits + 1) != 0)
                return false;
        for (size_t i = 0; i < s.n; i++)
                if (i % (digits + 1) == digits ? s.p[i] != separator : ascii_hex_digit(s.p[i]) < 0)
                        return false;
        return groups * digits == 12 || groups * digits == 16 || groups * digits == 40;
}

/* 6, 8 or 20 bytes, in pairs of digits with : or - between them, in fours with dots, or all in a row. */
bool format_is_mac(struct str text)
{
        return is_groups(text, ':', 12) || is_groups(text, ':', 16) || is_groups(text, ':', 40) ||
               is_groups(text, ':', 2) || is_groups(text, '-', 2) || is_groups(text, '.', 4);
}
