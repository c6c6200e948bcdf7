/* Randomness, from random_system. */
#include "sprig.h"

#include "base64.h"
#include "random.h"
#include "utf8.h"
#include "uuid.h"

static uint64_t below(uint64_t bound)
{
        uint64_t limit = UINT64_MAX - UINT64_MAX % bound, number;

        do
                number = random_system_u64();
        while (number >= limit);
        return number % bound;
}

/* `count` random characters of the alphabet; none for a negative count. */
static int random_text(struct gt_context *c, int64_t count, struct str alphabet, struct gt_value *ret)
{
        _cleanup_buf_ struct buf b = BUF_INIT(gt_max_text(c));
        int r = 0;

        /* One step for each: the kernel takes its time, and the deadline counts on the way. */
        for (; count > 0 && r == 0 && !b.has_failed; count--) {
                buf_append_char(&b, alphabet.p[below(alphabet.n)]);
                r = gt_spend(c, 1);
        }
        return r < 0 ? r : gt_take_text(c, &b, ret);
}

#define DIGITS  "0123456789"
#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

SPRIG(rand_alpha)
{
        return random_text(c, arguments[0].integer, STR(LETTERS), ret);
}

SPRIG(rand_numeric)
{
        return random_text(c, arguments[0].integer, STR(DIGITS), ret);
}

SPRIG(rand_alpha_num)
{
        return random_text(c, arguments[0].integer, STR(DIGITS LETTERS), ret);
}

/* Printable characters of ASCII, the blank included. */
SPRIG(rand_ascii)
{
        char alphabet[0x7F - 0x20];

        for (size_t i = 0; i < sizeof(alphabet); i++)
                alphabet[i] = (char)(0x20 + i);
        return random_text(c, arguments[0].integer, str_make(alphabet, sizeof(alphabet)), ret);
}

SPRIG(rand_bytes)
{
        _cleanup_buf_ struct buf b = BUF_INIT(gt_max_text(c));
        int64_t count = arguments[0].integer;
        uint8_t *bytes;
        int r;

        if (count < 0)
                return gt_fail(c, "runtime error: makeslice: len out of range");
        r = gt_spend(c, (uint64_t)count / 16);
        if (r < 0)
                return r;
        bytes = arena_alloc(c->arena, (size_t)count + 1);
        random_system(bytes, (size_t)count);
        base64_encode(&b, str_make((char *)bytes, (size_t)count), BASE64_STD);
        return gt_take_text(c, &b, ret);
}

SPRIG(rand_int)
{
        int64_t least = arguments[0].integer, bound = arguments[1].integer;

        if (bound <= least)
                return gt_fail(c, "invalid argument to Intn");
        *ret = gt_int((int64_t)((uint64_t)least + below((uint64_t)bound - (uint64_t)least)));
        return 0;
}

/* The runes of the text in random order. */
SPRIG(shuffle)
{
        _cleanup_buf_ struct buf b = BUF_INIT(gt_max_text(c));
        struct str s = gt_str(arguments[0]);
        size_t n_runes = 0, width;
        uint32_t *runes = arena_alloc(c->arena, s.n * sizeof(*runes) + 1);

        for (; s.n > 0; s = str_skip(s, width))
                runes[n_runes++] = utf8_decode(s, &width);
        for (size_t i = n_runes; i > 1; i--) {
                size_t j = below(i);
                uint32_t rune = runes[i - 1];

                runes[i - 1] = runes[j];
                runes[j] = rune;
        }
        for (size_t i = 0; i < n_runes; i++) {
                char bytes[4];

                buf_append(&b, bytes, utf8_encode(runes[i], bytes));
        }
        return gt_take_text(c, &b, ret);
}

SPRIG(uuidv4)
{
        _cleanup_buf_ struct buf b = BUF_INIT(gt_max_text(c));

        uuid_append(&b, uuid_v4());
        return gt_take_text(c, &b, ret);
}
