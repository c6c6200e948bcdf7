#include "yaml-scalar.h"

#include "gotext.h"
#include "utf8.h"

struct rune_range {
        uint32_t first, last;
};

#include "yaml-order-tables.h"

static bool is_in(const struct rune_range *ranges, size_t n, uint32_t rune)
{
        size_t low = 0, high = n;

        while (low < high) {
                size_t middle = (low + high) / 2;

                if (rune < ranges[middle].first)
                        high = middle;
                else if (rune > ranges[middle].last)
                        low = middle + 1;
                else
                        return true;
        }
        return false;
}

bool go_is_letter(uint32_t rune)
{
        if (rune < 0x80)
                return (rune | 0x20) >= 'a' && (rune | 0x20) <= 'z';
        return is_in(letters, ARRAY_SIZE(letters), rune);
}

bool go_is_digit(uint32_t rune)
{
        if (rune < 0x80)
                return rune >= '0' && rune <= '9';
        return is_in(digits, ARRAY_SIZE(digits), rune);
}

/* The rest of a key that is being compared. */
struct cursor {
        struct str rest;
};

/* The next rune without taking it, or -1 at the end. */
static int64_t peek(const struct cursor *c, size_t *ret_width)
{
        *ret_width = 0;
        return c->rest.n ? (int64_t)utf8_decode(c->rest, ret_width) : -1;
}

static void take(struct cursor *c, size_t width)
{
        c->rest = str_skip(c->rest, width);
}

/* Reads the run of digits at the cursor as go-yaml does: the number wraps around in 64 bits. Returns how many digits there were. */
static size_t read_number(struct cursor *c, uint64_t *number)
{
        size_t n = 0, width;

        for (int64_t rune = peek(c, &width); rune >= 0 && go_is_digit((uint32_t)rune); rune = peek(c, &width)) {
                *number = *number * 10 + (uint64_t)(rune - '0');
                take(c, width);
                n++;
        }
        return n;
}

/* Called at the first difference, if neither side is a letter: runs of digits compare as numbers. Zeros count only after another
 * digit; the number then begins with a 1 in place of that digit. */
static int compare_numbers(struct cursor a, struct cursor b, bool follows_nonzero_digit, int64_t ra, int64_t rb)
{
        bool has_zero = ra == '0' || rb == '0';
        uint64_t na = has_zero && follows_nonzero_digit ? 1 : 0, nb = na;
        size_t la = read_number(&a, &na), lb = read_number(&b, &nb);

        if (na != nb)
                return (int64_t)na < (int64_t)nb ? -1 : 1;
        if (la != lb)
                return la < lb ? -1 : 1;
        return ra < rb ? -1 : 1;
}

/* Letters sort after everything else; in yaml.v3 they sort before everything else after a digit. */
static int compare(struct str left, struct str right, bool is_v3)
{
        struct cursor a = { left }, b = { right };
        bool follows_nonzero_digit = false, follows_digit = false;

        for (;;) {
                size_t wa, wb;
                int64_t ra = peek(&a, &wa), rb = peek(&b, &wb);
                bool la, lb;

                if (ra < 0 || rb < 0)
                        return (ra >= 0) - (rb >= 0);
                if (ra == rb) {
                        follows_digit = go_is_digit((uint32_t)ra);
                        follows_nonzero_digit = follows_digit && (follows_nonzero_digit || ra != '0');
                        take(&a, wa);
                        take(&b, wb);
                        continue;
                }
                la = go_is_letter((uint32_t)ra);
                lb = go_is_letter((uint32_t)rb);
                if (la && lb)
                        return ra < rb ? -1 : 1;
                if (la || lb)
                        return (is_v3 && follows_digit ? la : lb) ? -1 : 1;
                return compare_numbers(a, b, follows_nonzero_digit, ra, rb);
        }
}

int yaml_compare_keys(struct str left, struct str right)
{
        return compare(left, right, false);
}

int yaml_compare_keys_v3(struct str left, struct str right)
{
        return compare(left, right, true);
}
