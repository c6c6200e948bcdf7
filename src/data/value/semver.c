#include "semver.h"

#include "buf.h"

#include <inttypes.h>

static bool is_digit(char c)
{
        return c >= '0' && c <= '9';
}

static bool is_identifier(char c)
{
        return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
}

static bool is_number(struct str s)
{
        for (size_t i = 0; i < s.n; i++)
                if (!is_digit(s.p[i]))
                        return false;
        return s.n > 0;
}

static int invalid(struct err *err)
{
        return err_set(err, ERR_INVALID, "invalid semantic version");
}

/* --- Reading --- */

static struct str take_digits(struct str *s)
{
        struct str digits = *s;
        size_t n = 0;

        while (n < s->n && is_digit(s->p[n]))
                n++;
        *s = str_skip(*s, n);
        return str_first(digits, n);
}

/* Identifiers with dots between them, none of them empty. */
static bool take_identifiers(struct str *s, struct str *ret)
{
        struct str whole = *s;
        size_t n = 0;
        bool is_open = true; /* an identifier must follow */

        for (; n < s->n; n++) {
                if (s->p[n] == '.' && !is_open)
                        is_open = true;
                else if (is_identifier(s->p[n]))
                        is_open = false;
                else
                        break;
        }
        *ret = str_first(whole, n);
        *s = str_skip(*s, n);
        return !is_open;
}

static int parse_number(struct str digits, uint64_t *ret, struct err *err)
{
        uint64_t number = 0;

        for (size_t i = 0; i < digits.n; i++)
                if (__builtin_mul_overflow(number, 10, &number) ||
                    __builtin_add_overflow(number, (uint64_t)(digits.p[i] - '0'), &number))
                        return err_set(err, ERR_INVALID,
                                       "error parsing version segment: strconv.ParseUint: parsing \"%.*s\": value out "
                                       "of range",
                                       STR_ARG(digits));
        *ret = number;
        return 0;
}

/* Numbers of a prerelease must not have leading zeros; otherwise two texts would mean the same version. */
static int check_prerelease(struct str prerelease, struct err *err)
{
        struct str rest = prerelease, part;

        while (rest.n > 0) {
                str_split(&rest, '.', &part);
                if (part.n > 1 && part.p[0] == '0' && is_number(part))
                        return err_set(err, ERR_INVALID, "version segment starts with 0");
        }
        return 0;
}

int semver_parse(struct str text, struct semver *ret, struct err *err)
{
        struct semver v = { .original = text };
        struct str rest = text, digits[3] = { 0 };
        uint64_t *const numbers[] = { &v.major, &v.minor, &v.patch };
        size_t n = 0;

        str_cut_prefix(&rest, STR("v"));
        do {
                digits[n] = take_digits(&rest);
                if (digits[n++].n == 0)
                        return invalid(err);
        } while (n < 3 && str_cut_prefix(&rest, STR(".")));
        if (str_cut_prefix(&rest, STR("-")) && !take_identifiers(&rest, &v.prerelease))
                return invalid(err);
        if (str_cut_prefix(&rest, STR("+")) && !take_identifiers(&rest, &v.metadata))
                return invalid(err);
        if (rest.n > 0)
                return invalid(err);
        for (size_t i = 0; i < n; i++) {
                int r = parse_number(digits[i], numbers[i], err);

                if (r < 0)
                        return r;
        }
        *ret = v;
        return check_prerelease(v.prerelease, err);
}

void semver_append(struct buf *b, const struct semver *v)
{
        buf_appendf(b, "%" PRIu64 ".%" PRIu64 ".%" PRIu64, v->major, v->minor, v->patch);
        if (v->prerelease.n)
                buf_appendf(b, "-%.*s", STR_ARG(v->prerelease));
        if (v->metadata.n)
                buf_appendf(b, "+%.*s", STR_ARG(v->metadata));
}

/* --- Order --- */

static int compare_numbers(uint64_t a, uint64_t b)
{
        return (a > b) - (a < b);
}

/* Compares numbers of any length without leading zeros. */
static int compare_digits(struct str a, struct str b)
{
        return a.n != b.n ? compare_numbers(a.n, b.n) : str_compare(a, b);
}

static int compare_identifiers(struct str a, struct str b)
{
        bool a_is_number = is_number(a), b_is_number = is_number(b);

        if (a_is_number && b_is_number)
                return compare_digits(a, b);
        if (a_is_number != b_is_number)
                return a_is_number ? -1 : 1;
        return str_compare(a, b);
}

static int compare_prereleases(struct str a, struct str b)
{
        struct str x, y;

        if (a.n == 0 || b.n == 0)
                return (a.n == 0) - (b.n == 0);
        while (a.n > 0 && b.n > 0) {
                int order;

                str_split(&a, '.', &x);
                str_split(&b, '.', &y);
                order = compare_identifiers(x, y);
                if (order != 0)
                        return order;
        }
        return (a.n > 0) - (b.n > 0);
}

int semver_compare(const struct semver *a, const struct semver *b)
{
        int order = compare_numbers(a->major, b->major);

        if (order == 0)
                order = compare_numbers(a->minor, b->minor);
        if (order == 0)
                order = compare_numbers(a->patch, b->patch);
        return order ? order : compare_prereleases(a->prerelease, b->prerelease);
}
