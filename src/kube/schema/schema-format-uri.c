/* Accepts the same texts as url.ParseRequestURI. */
#include "schema-formats.h"

#include "ascii.h"

enum part { PART_PATH, PART_USER, PART_HOST, PART_ZONE };

static bool is_one_of(char c, const char *set)
{
        return c && strchr(set, c);
}

/* Characters that a host may contain unescaped. */
static bool is_host_char(char c)
{
        return (unsigned char)c >= 0x80 || ascii_is_letter(c) || ascii_is_digit(c) ||
               is_one_of(c, "-_.~!$&'()*+,;=:[]<>\"");
}

/* Checks %xx: in hosts only bytes above ASCII and % may be escaped, in zones also a space and the characters of a host. */
static bool is_escape(struct str s, enum part part)
{
        int high, low;

        if (s.n < 3)
                return false;
        high = ascii_hex_digit(s.p[1]);
        low = ascii_hex_digit(s.p[2]);
        if (high < 0 || low < 0)
                return false;
        if (part == PART_HOST)
                return high >= 8 || (high == 2 && low == 5);
        if (part == PART_ZONE)
                return (high == 2 && low == 5) || (high == 2 && low == 0) || high >= 8 ||
                       is_host_char((char)(high * 16 + low));
        return true;
}

static bool can_unescape(struct str s, enum part part)
{
        for (size_t i = 0; i < s.n; i++) {
                if (s.p[i] == '%') {
                        if (!is_escape(str_skip(s, i), part))
                                return false;
                        i += 2;
                } else if (part >= PART_HOST && !is_host_char(s.p[i])) {
                        return false;
                }
        }
        return true;
}

static bool is_optional_port(struct str s)
{
        if (s.n > 0 && s.p[0] != ':')
                return false;
        for (size_t i = 1; i < s.n; i++)
                if (!ascii_is_digit(s.p[i]))
                        return false;
        return true;
}

static bool is_bracketed(struct str host)
{
        ptrdiff_t end = str_find_last_char(host, ']'), zone;
        struct str inside;

        if (end < 0 || !is_optional_port(str_skip(host, (size_t)end + 1)))
                return false;
        inside = str_make(host.p + 1, (size_t)end - 1);
        zone = str_find(inside, STR("%25"));
        if (zone >= 0) {
                if (!can_unescape(str_skip(inside, (size_t)zone), PART_ZONE))
                        return false;
                inside = str_first(inside, (size_t)zone);
        }
        return can_unescape(inside, PART_HOST) && format_is_ipv6(inside);
}

static bool is_host(struct str host)
{
        ptrdiff_t colon = str_find_last_char(host, ':');

        if (host.n > 0 && host.p[0] == '[')
                return is_bracketed(host);
        if (colon >= 0 && !is_optional_port(str_skip(host, (size_t)colon)))
                return false;
        if (str_find_char(str_first(host, colon < 0 ? host.n : (size_t)colon), ':') >= 0)
                return false;
        return can_unescape(host, PART_HOST);
}

static bool is_user(struct str user)
{
        for (size_t i = 0; i < user.n; i++)
                if (!ascii_is_letter(user.p[i]) && !ascii_is_digit(user.p[i]) &&
                    !is_one_of(user.p[i], "-._:~!$&'()*+,;=%@"))
                        return false;
        return can_unescape(user, PART_USER);
}

static bool is_authority(struct str s)
{
        ptrdiff_t at = str_find_last_char(s, '@');

        if (at < 0)
                return is_host(s);
        return is_host(str_skip(s, (size_t)at + 1)) && is_user(str_first(s, (size_t)at));
}

/* The length of the scheme; 0 if there is none, -1 for a colon without a scheme before it. */
static ptrdiff_t scheme_bytes(struct str s)
{
        for (size_t i = 0; i < s.n; i++) {
                if (ascii_is_letter(s.p[i]))
                        continue;
                if (ascii_is_digit(s.p[i]) || is_one_of(s.p[i], "+-.")) {
                        if (i == 0)
                                return 0;
                        continue;
                }
                if (s.p[i] == ':')
                        return i == 0 ? -1 : (ptrdiff_t)i;
                return 0;
        }
        return 0;
}

bool format_is_uri(struct str text)
{
        struct str rest = text, authority, path;
        ptrdiff_t scheme = scheme_bytes(text);

        for (size_t i = 0; i < text.n; i++)
                if ((unsigned char)text.p[i] < 0x20 || text.p[i] == 0x7f)
                        return false;
        if (text.n == 0 || scheme < 0)
                return false;
        if (str_equal(text, STR("*")))
                return true;
        if (scheme > 0)
                rest = str_skip(text, (size_t)scheme + 1);
        str_split(&rest, '?', &path);
        if (path.n == 0 || path.p[0] != '/')
                return scheme > 0;
        if (scheme > 0 && str_starts_with(path, STR("//"))) {
                ptrdiff_t slash = str_find_char(str_skip(path, 2), '/');

                authority = slash < 0 ? str_skip(path, 2) : str_make(path.p + 2, (size_t)slash);
                path = str_skip(path, 2 + authority.n);
                if (!is_authority(authority))
                        return false;
        }
        return can_unescape(path, PART_PATH);
}
