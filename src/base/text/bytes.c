#include "bytes.h"

#include "buf.h"

#include <stdatomic.h>

struct bytes *bytes_copy(struct str s)
{
        struct bytes *b = xmalloc(sizeof(*b) + s.n);
        char *p = (char *)(b + 1);

        if (s.n)
                memcpy(p, s.p, s.n);
        *b = (struct bytes) { .str = { p, s.n } };
        atomic_init(&b->references, 1);
        return b;
}

struct bytes *bytes_take(struct buf *from)
{
        struct bytes *b = xmalloc(sizeof(*b));

        *b = (struct bytes) { .str = buf_str(from), .heap = from->p };
        atomic_init(&b->references, 1);
        from->p = NULL;
        from->n = from->capacity = 0;
        return b;
}

struct bytes *bytes_ref(struct bytes *b)
{
        atomic_fetch_add_explicit(&b->references, 1, memory_order_relaxed);
        return b;
}

void bytes_unref(struct bytes *b)
{
        if (!b || atomic_fetch_sub_explicit(&b->references, 1, memory_order_acq_rel) != 1)
                return;
        free(b->heap);
        free(b);
}

size_t bytes_share(const struct bytes *b)
{
        return b->str.n / atomic_load_explicit(&b->references, memory_order_relaxed);
}

void bytes_unpin(void *b)
{
        bytes_unref(b);
}
