/* A growing byte buffer with a maximum and sticky failure: the caller appends without checks and checks once at the end. The
 * buffer owns its bytes until buf_done or buf_take. */
#pragma once

#include <stdarg.h>

#include "str.h"

struct arena;
struct budget_account;
struct err;

struct buf {
        char *p;
        size_t n;
        size_t capacity; /* never above the maximum; there is one more byte, for a NUL */
        size_t max_bytes;
        struct budget_account
                *account; /* pays for the memory; NULL: no account. It must live as long as the buffer grows */
        bool has_failed; /* more than max_bytes, or more than the account can pay for; appends do nothing from then on */
};

/* max_bytes 0 means LIMIT_BUFFER_BYTES. */
#define BUF_INIT(max)              \
        {                          \
                .max_bytes = (max) \
        }
void buf_init(struct buf *b, size_t max_bytes);
void buf_done(struct buf *b);

/* Empties the buffer and clears a failure; keeps the memory. */
void buf_clear(struct buf *b);

/* Makes room for n more bytes at b->p + b->n; false when that would pass the maximum (the failure is sticky). */
bool buf_reserve_slow(struct buf *b, size_t n);

static inline bool buf_reserve(struct buf *b, size_t n)
{
        if (LIKELY(n <= b->capacity - b->n && !b->has_failed))
                return true;
        return buf_reserve_slow(b, n);
}

static inline void buf_append(struct buf *b, const void *p, size_t n)
{
        if (n > 0 && buf_reserve(b, n)) {
                memcpy(b->p + b->n, p, n);
                b->n += n;
        }
}

static inline void buf_append_str(struct buf *b, struct str s)
{
        buf_append(b, s.p, s.n);
}

static inline void buf_append_char(struct buf *b, char c)
{
        if (buf_reserve(b, 1))
                b->p[b->n++] = c;
}

#define buf_append_literal(b, literal) buf_append((b), "" literal, sizeof(literal) - 1)

void buf_append_repeat(struct buf *b, char c, size_t count);
void buf_append_int(struct buf *b, int64_t i);
void buf_append_uint(struct buf *b, uint64_t u);
void buf_appendf(struct buf *b, const char *format, ...) _printf_(2, 3);
void buf_appendv(struct buf *b, const char *format, va_list arguments) _printf_(2, 0);

/* The contents, borrowed until the next append. */
static inline struct str buf_str(const struct buf *b)
{
        return (struct str) { b->p, b->n };
}

/* NUL-terminated view, borrowed until the next append; after a failure, the contents before it. */
const char *buf_cstring(struct buf *b);

/* 0, or ERR_LIMIT with `WHAT is larger than the limit of N bytes`. */
int buf_check(const struct buf *b, const char *what, struct err *err);

/* Copies the contents into the arena (with a NUL after them) and empties the buffer. */
struct str buf_to_arena(struct buf *b, struct arena *a);

/* Moves out the heap bytes, NUL-terminated; the caller frees them. Empties the buffer and clears a failure. */
char *buf_take(struct buf *b);

#define _cleanup_buf_ _cleanup_(buf_done)
