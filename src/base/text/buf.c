#include "buf.h"

#include "arena.h"
#include "budget.h"
#include "err.h"
#include "limits.h"

#include <stdio.h>

static size_t limit_of(const struct buf *b)
{
        return b->max_bytes ? MIN(b->max_bytes, SIZE_MAX - 1) : LIMIT_BUFFER_BYTES;
}

void buf_init(struct buf *b, size_t max_bytes)
{
        *b = (struct buf)BUF_INIT(max_bytes);
}

void buf_done(struct buf *b)
{
        free(b->p);
        if (b->account)
                budget_credit(b->account, b->capacity);
        b->p = NULL;
        b->n = b->capacity = 0;
        b->has_failed = false;
}

void buf_clear(struct buf *b)
{
        b->n = 0;
        b->has_failed = false;
}

/* Returns the new capacity: `grown`, or `wanted` if the account cannot pay for more; 0 if it cannot pay for `wanted`. */
static size_t pay(struct buf *b, size_t grown, size_t wanted)
{
        if (!b->account || budget_try(b->account, grown - b->capacity))
                return grown;
        return budget_take(b->account, wanted - b->capacity) ? wanted : 0;
}

bool buf_reserve_slow(struct buf *b, size_t n)
{
        size_t max = limit_of(b), wanted, grown;

        if (b->has_failed || !size_add(b->n, n, &wanted) || wanted > max) {
                b->has_failed = true;
                return false;
        }
        if (wanted <= b->capacity)
                return true;
        grown = b->capacity < 64 ? 63 : b->capacity * 2 + 1; /* with the NUL, powers of two */
        grown = pay(b, MIN(MAX(grown, wanted), max), wanted);
        if (grown == 0) {
                b->has_failed = true;
                return false;
        }
        b->p = xrealloc(b->p, grown + 1);
        b->capacity = grown;
        return true;
}

void buf_append_repeat(struct buf *b, char c, size_t count)
{
        if (count == 0 || !buf_reserve(b, count))
                return;
        memset(b->p + b->n, c, count);
        b->n += count;
}

void buf_append_uint(struct buf *b, uint64_t u)
{
        char digits[20];
        size_t n = sizeof(digits);

        do {
                digits[--n] = (char)('0' + u % 10);
                u /= 10;
        } while (u > 0);
        buf_append(b, digits + n, sizeof(digits) - n);
}

void buf_append_int(struct buf *b, int64_t i)
{
        if (i < 0) {
                buf_append_char(b, '-');
                buf_append_uint(b, -(uint64_t)i);
        } else {
                buf_append_uint(b, (uint64_t)i);
        }
}

/* Nearly all texts are short: formatting them once, to be copied, is cheaper than formatting them twice. */
void buf_appendv(struct buf *b, const char *format, va_list arguments)
{
        char text[256];
        va_list again;
        int n;

        if (b->has_failed)
                return;
        va_copy(again, arguments);
        n = vsnprintf(text, sizeof(text), format, again);
        va_end(again);
        /* n is negative if the text is longer than INT_MAX or cannot be formatted. */
        if (n < 0 || !buf_reserve(b, (size_t)n)) {
                b->has_failed = true;
                return;
        }
        if ((size_t)n < sizeof(text))
                buf_append(b, text, (size_t)n);
        else
                b->n += (size_t)vsnprintf(b->p + b->n, (size_t)n + 1, format, arguments);
}

void buf_appendf(struct buf *b, const char *format, ...)
{
        va_list arguments;

        va_start(arguments, format);
        buf_appendv(b, format, arguments);
        va_end(arguments);
}

const char *buf_cstring(struct buf *b)
{
        if (!b->p)
                b->p = xmalloc(1);
        b->p[b->n] = '\0';
        return b->p;
}

int buf_check(const struct buf *b, const char *what, struct err *err)
{
        if (LIKELY(!b->has_failed))
                return 0;
        return err_set(err, ERR_LIMIT, "%s is larger than the limit of %zu bytes", what, limit_of(b));
}

struct str buf_to_arena(struct buf *b, struct arena *a)
{
        struct str copy = arena_copy(a, buf_str(b));

        buf_clear(b);
        return copy;
}

char *buf_take(struct buf *b)
{
        char *p;

        buf_cstring(b);
        p = TAKE(b->p);
        b->n = b->capacity = 0;
        b->has_failed = false;
        return p;
}
