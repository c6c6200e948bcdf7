/* Arenas: memory that is given out piece by piece and taken back at once.
 *
 * A run, a request and a parsed document each own one arena. arena_alloc never fails: without memory the process aborts.
 * An arena may have a byte budget; going over it sets a flag that stays until arena_reset, and whoever works on outside
 * input asks arena_check at every container, string or step and gives up with an error that names the limit. A single
 * piece is never larger than the input that asked for it, so the overshoot is bounded too. Memory is counted in blocks:
 * an arena may be found over its budget up to one small block (4 KiB) early.
 *
 * An arena has one home thread at a time. What lives in it may be read by other threads once it no longer changes. */
#pragma once

#include <stdarg.h>

#include "str.h"

struct err;
struct arena_block;
struct arena_pin;

struct arena {
        char *next; /* free space of the current block; NULL without one, as always in debug mode */
        char *end;
        struct arena_block *blocks; /* newest first */
        struct arena_pin *pins;
        const char *name;    /* names the limit in errors, e.g. "request"; static string */
        size_t used_bytes;   /* taken from the system, block headers included */
        size_t budget_bytes; /* 0: none */
        bool is_over_budget;
        bool is_debug; /* every piece is a malloc of its own */
};

/* In the caller's memory. name is a static string; budget_bytes 0 means no budget. */
void arena_init(struct arena *a, const char *name, size_t budget_bytes);

/* Releases the pins, newest first, then all memory. The arena may be initialised again. */
void arena_done(struct arena *a);

/* As arena_done followed by arena_init with the same name and budget. Its blocks are kept for reuse by the thread. */
void arena_reset(struct arena *a);

/* Aligned for any type; never NULL. Contents are undefined. */
void *arena_alloc_slow(struct arena *a, size_t size_bytes, size_t align) __attribute__((returns_nonnull));

static inline void *arena_alloc_aligned(struct arena *a, size_t size_bytes, size_t align)
{
#if !HAS_ASAN
        char *p = (char *)(((uintptr_t)a->next + align - 1) & ~(uintptr_t)(align - 1));

        if (LIKELY(p <= a->end && size_bytes <= (size_t)(a->end - p) && a->next)) {
                a->next = p + size_bytes;
                return p;
        }
#endif
        return arena_alloc_slow(a, size_bytes, align);
}

static inline void *arena_alloc(struct arena *a, size_t size_bytes)
{
        return arena_alloc_aligned(a, size_bytes, 8);
}

void *arena_zalloc(struct arena *a, size_t size_bytes);

#define ARENA_NEW(a, type)              ((type *)arena_zalloc((a), sizeof(type)))
#define ARENA_NEW_ARRAY(a, type, count) ((type *)arena_alloc_array((a), (count), sizeof(type)))

/* Zeroed. Aborts when count * size_bytes overflows: outside numbers are checked before they come here. */
void *arena_alloc_array(struct arena *a, size_t count, size_t size_bytes);

/* Gives back the end of the newest piece: the piece at p, once of old_bytes, keeps new_bytes. A no-op if p is not the
 * newest. */
void arena_shrink(struct arena *a, void *p, size_t old_bytes, size_t new_bytes);

/* Copies into the arena. The copies have a NUL behind their last byte. */
struct str arena_copy(struct arena *a, struct str s);
char *arena_cstring(struct arena *a, struct str s);
struct str arena_printf(struct arena *a, const char *format, ...) _printf_(2, 3);
struct str arena_vprintf(struct arena *a, const char *format, va_list arguments) _printf_(2, 0);

/* The texts one behind the other: ARENA_CONCAT(a, group, STR("/"), kind). */
struct str arena_concat(struct arena *a, const struct str *texts, size_t n);
#define ARENA_CONCAT(a, ...) \
        arena_concat((a), (struct str[]) { __VA_ARGS__ }, sizeof((struct str[]) { __VA_ARGS__ }) / sizeof(struct str))

/* Keeps a counted object alive until the arena is done or reset: takes over one reference, which unref releases. */
void arena_pin(struct arena *a, void *object, void (*unref)(void *object));

/* 0, or ERR_LIMIT with `NAME memory limit of N bytes exceeded` once the budget has been overrun. */
int arena_check(const struct arena *a, struct err *err);

/* Blocks of finished arenas are kept per thread for the next one; this gives the calling thread's back to the system. */
void arena_trim_cache(void);

/* Debug mode: every piece is a malloc of its own, so that memory checkers see each overrun and use after free. For all
 * arenas that are initialised or reset from now on. Also on from the start when WEFT_ARENA_DEBUG is set to 1. */
void arena_set_debug(bool on);

#define _cleanup_arena_ _cleanup_(arena_done)
