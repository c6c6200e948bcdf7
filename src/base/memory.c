#include "macro.h"
#include "vec.h"

#include <malloc.h>
#include <stdio.h>

static _Noreturn void die_of_memory(size_t size_bytes)
{
        fprintf(stderr, "weft: out of memory (asked for %zu bytes)\n", size_bytes);
        abort();
}

void *xmalloc(size_t size_bytes)
{
        void *p = malloc(size_bytes ? size_bytes : 1);

        if (!p)
                die_of_memory(size_bytes);
        return p;
}

void *xcalloc(size_t count, size_t size_bytes)
{
        void *p = calloc(count ? count : 1, size_bytes ? size_bytes : 1);
        size_t total;

        if (!p)
                die_of_memory(size_mul(count, size_bytes, &total) ? total : SIZE_MAX);
        return p;
}

void *xrealloc(void *p, size_t size_bytes)
{
        void *moved = realloc(p, size_bytes ? size_bytes : 1);

        if (!moved)
                die_of_memory(size_bytes);
        return moved;
}

void memory_trim(void)
{
#ifdef __GLIBC__
        malloc_trim(0);
#endif
}

void *vec_grow(void *p, size_t n, size_t *capacity, size_t count, size_t size_bytes)
{
        size_t grown = *capacity < 8 ? 8 : *capacity + *capacity / 2;
        size_t wanted, bytes;

        if (!size_add(n, count, &wanted) || !size_mul(MAX(grown, wanted), size_bytes, &bytes))
                die_of_memory(SIZE_MAX);
        *capacity = MAX(grown, wanted);
        return xrealloc(p, bytes);
}
