/* Small things that every file needs: cleanup attributes, ownership transfer, sizes, attributes. */
#pragma once

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef NDEBUG
#error "assert guards invariants in release builds too; do not define NDEBUG"
#endif

/* 1 if the build has AddressSanitizer, with gcc and with clang. */
#if defined(__SANITIZE_ADDRESS__)
#define HAS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_ASAN 1
#endif
#endif
#ifndef HAS_ASAN
#define HAS_ASAN 0
#endif

#define _cleanup_(f)          __attribute__((cleanup(f)))
#define _printf_(text, first) __attribute__((format(printf, text, first)))
#define _must_check_          __attribute__((warn_unused_result))
#define _unused_              __attribute__((unused))
#define _noinline_            __attribute__((noinline))

#define LIKELY(x)   __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

#define ARRAY_SIZE(a)                       (sizeof(a) / sizeof((a)[0]))
#define CONTAINER_OF(pointer, type, member) ((type *)((char *)(pointer)-offsetof(type, member)))

/* Some system headers define MIN and MAX that evaluate an argument twice. */
#undef MIN
#undef MAX
#define MIN(a, b)                                  \
        ({                                         \
                __typeof__(a) _min_a = (a);        \
                __typeof__(b) _min_b = (b);        \
                _min_a < _min_b ? _min_a : _min_b; \
        })
#define MAX(a, b)                                  \
        ({                                         \
                __typeof__(a) _max_a = (a);        \
                __typeof__(b) _max_b = (b);        \
                _max_a > _max_b ? _max_a : _max_b; \
        })

/* Moves a pointer out of a variable: the variable becomes NULL and its cleanup has nothing left to do. */
#define TAKE(variable)                                          \
        ({                                                      \
                __typeof__(variable) *_take_from = &(variable); \
                __typeof__(variable) _taken = *_take_from;      \
                *_take_from = NULL;                             \
                _taken;                                         \
        })

/* Moves a file descriptor out of a variable. */
#define TAKE_FD(variable)                    \
        ({                                   \
                int *_take_fd = &(variable); \
                int _taken_fd = *_take_fd;   \
                *_take_fd = -1;              \
                _taken_fd;                   \
        })

static inline void cleanup_freep(void *p)
{
        free(*(void **)p);
}

static inline void cleanup_closep(int *fd)
{
        if (*fd >= 0)
                close(*fd);
}

#define _cleanup_free_  _cleanup_(cleanup_freep)
#define _cleanup_close_ _cleanup_(cleanup_closep)

/* Arithmetic on sizes from outside: returns false and leaves *ret untouched if the result overflows. */
static inline _must_check_ int size_add(size_t a, size_t b, size_t *ret)
{
        size_t sum;

        if (__builtin_add_overflow(a, b, &sum))
                return 0;
        *ret = sum;
        return 1;
}

static inline _must_check_ int size_mul(size_t a, size_t b, size_t *ret)
{
        size_t product;

        if (__builtin_mul_overflow(a, b, &product))
                return 0;
        *ret = product;
        return 1;
}

/* Gives free memory of the heap back to the system. Takes a while when the heap is large. Any thread. */
void memory_trim(void);

/* malloc and friends that abort when there is no memory: nothing in this program recovers from that. */
void *xmalloc(size_t size_bytes) __attribute__((malloc, returns_nonnull, alloc_size(1)));
void *xcalloc(size_t count, size_t size_bytes) __attribute__((malloc, returns_nonnull, alloc_size(1, 2)));
void *xrealloc(void *p, size_t size_bytes) __attribute__((returns_nonnull, alloc_size(2)));
