/* Arenas: memory that is allocated piece by piece and freed all at once.
 *
 * A run, a request and a parsed document each own one arena. arena_alloc never fails: without memory the process aborts. An
 * arena may have a byte budget. Going over the budget sets a flag that stays until arena_reset. Code that works on outside input
 * calls arena_check at every container, string or step and stops with an error that names the limit. A single piece is never
 * larger than the input that asked for it, so the overshoot is bounded too. Memory is counted in blocks, so an arena may count
 * as over its budget up to one small block (4 KiB) early.
 *
 * An arena has one home thread at a time. Other threads may read the contents once they no longer change. */
#pragma once

#include <stdarg.h>

#include "str.h"

struct err;
struct arena_block;
struct arena_pin;
struct budget_account;

struct arena {
        char *next; /* free space of the current block; NULL without one, and always NULL with has_own_pieces */
        char *end;
        struct arena_block *blocks; /* newest first */
        struct arena_pin *pins;
        const char *name;               /* names the limit in errors, e.g. "request"; static string */
        size_t used_bytes;              /* taken from the system, block headers included */
        size_t pinned_bytes;            /* size of the objects that pins keep alive, see arena_charge */
        size_t budget_bytes;            /* 0: none */
        struct budget_account *account; /* pays for the blocks; NULL: no account */
        size_t edited_bytes; /* bytes copied by edits of values in the arena; the editing code adds to it and limits it */
        size_t filled_items; /* nulls with which edits filled arrays; counted and limited likewise */
        bool is_over_budget;
        bool has_own_pieces; /* every piece is a separate malloc */
};

/* The struct is in the caller's memory. name is a static string; budget_bytes 0 means no budget. */
void arena_init(struct arena *a, const char *name, size_t budget_bytes);

/* For an arena that holds a few small pieces and lives long: each piece is a separate malloc, so that the arena needs no block. */
void arena_init_pieces(struct arena *a, const char *name, size_t budget_bytes);

/* From now on the account pays for every block; a block that it cannot pay for puts the arena over its budget. The arena gives
 * nothing back to the account: the owner of both does that. */
void arena_set_account(struct arena *a, struct budget_account *account);

/* Call this before allocating a piece that is larger than the input that asks for it. If so many more bytes do not fit, returns
 * false and the arena counts as over its budget. The account keeps granted bytes as credit for the next pieces. */
bool arena_reserve(struct arena *a, size_t bytes);

/* Releases the pins, newest first, then all memory. The arena may be initialised again. */
void arena_done(struct arena *a);

/* As arena_done followed by arena_init with the same name and budget. The thread keeps the blocks for reuse. */
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

/* Zeroed. Aborts if count * size_bytes overflows: the caller checks numbers from outside first. */
void *arena_alloc_array(struct arena *a, size_t count, size_t size_bytes);

/* Gives back the end of the newest piece: the piece at p, once of old_bytes, keeps new_bytes. A no-op if p is not the
 * newest. */
void arena_shrink(struct arena *a, void *p, size_t old_bytes, size_t new_bytes);

/* Copies into the arena. The copies have a NUL after their last byte. */
struct str arena_copy(struct arena *a, struct str s);
char *arena_cstring(struct arena *a, struct str s);
struct str arena_printf(struct arena *a, const char *format, ...) _printf_(2, 3);
struct str arena_vprintf(struct arena *a, const char *format, va_list arguments) _printf_(2, 0);

/* Concatenates the texts: ARENA_CONCAT(a, group, STR("/"), kind). */
struct str arena_concat(struct arena *a, const struct str *texts, size_t n);
#define ARENA_CONCAT(a, ...) \
        arena_concat((a), (struct str[]) { __VA_ARGS__ }, sizeof((struct str[]) { __VA_ARGS__ }) / sizeof(struct str))

/* Keeps a counted object alive until the arena is done or reset: takes over one reference, which unref releases. */
void arena_pin(struct arena *a, void *object, void (*unref)(void *object));

/* True if one of the newest few pins holds this object, so that it need not be pinned again. False does not mean that it is not
 * pinned. */
bool arena_has_pinned(const struct arena *a, const void *object);

/* Adds the size of a pinned object to the budget's use, for as long as the pin exists. */
void arena_charge(struct arena *a, size_t size_bytes);

/* 0, or ERR_LIMIT with `NAME memory limit of N bytes exceeded` once the budget has been overrun. */
int arena_check(const struct arena *a, struct err *err);

/* Each thread keeps the blocks of finished arenas for reuse. This function frees the blocks that the calling thread keeps. */
void arena_trim_cache(void);

/* Debug mode: every piece is a separate malloc, so that memory checkers see each overrun and use after free. Applies to all
 * arenas that are initialised or reset from now on. WEFT_ARENA_DEBUG=1 turns it on from the start. */
void arena_set_debug(bool on);

#define _cleanup_arena_ _cleanup_(arena_done)
