/* Growing arrays of any type, on the heap. VEC(struct thing) things = { 0 }; vec_push(&things, t); ... vec_done(&things);
 * Elements move when the array grows: keep indices, not pointers. */
#pragma once

#include <string.h>

#include "macro.h"

#define VEC(type)                \
        struct {                 \
                type *p;         \
                size_t n;        \
                size_t capacity; \
        }

/* Makes room for count elements after the first n; aborts if the size in bytes overflows. */
void *vec_grow(void *p, size_t n, size_t *capacity, size_t count, size_t size_bytes);

static inline void *vec_make_room(void *p, size_t n, size_t *capacity, size_t count, size_t size_bytes)
{
        return LIKELY(count <= *capacity - n) ? p : vec_grow(p, n, capacity, count, size_bytes);
}

/* Makes room for count more elements. */
#define vec_reserve(v, count) ((void)((v)->p = vec_make_room((v)->p, (v)->n, &(v)->capacity, (count), sizeof(*(v)->p))))

#define vec_push(v, ...) (vec_reserve((v), 1), (v)->p[(v)->n++] = (__VA_ARGS__), (void)0)
#define vec_pop(v)       (assert((v)->n > 0), (v)->p[--(v)->n])
#define vec_last(v)      (assert((v)->n > 0), &(v)->p[(v)->n - 1])
#define vec_clear(v)     ((void)((v)->n = 0))

/* Removes element i; the elements after it move one place forward. */
#define vec_remove(v, i)                                                                    \
        do {                                                                                \
                size_t _i = (i);                                                            \
                assert(_i < (v)->n);                                                        \
                memmove(&(v)->p[_i], &(v)->p[_i + 1], ((v)->n - _i - 1) * sizeof(*(v)->p)); \
                (v)->n--;                                                                   \
        } while (0)

#define vec_done(v)                         \
        do {                                \
                free((v)->p);               \
                (v)->p = NULL;              \
                (v)->n = (v)->capacity = 0; \
        } while (0)
