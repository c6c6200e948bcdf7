#include "pack.h"

#include <zlib.h>

#define LEVEL      1 /* as upstream: time matters more than the last percents */
#define STEP_BYTES (32u << 10)

struct packer {
        z_stream z;
};

struct packer *packer_new(void)
{
        struct packer *p = xcalloc(1, sizeof(*p));
        int status = deflateInit2(&p->z, LEVEL, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);

        assert(status == Z_OK); /* it fails without memory alone */
        return p;
}

void packer_free(struct packer *p)
{
        if (!p)
                return;
        deflateEnd(&p->z);
        free(p);
}

void packer_add(struct packer *p, struct str text, bool is_last, struct buf *b)
{
        assert(text.n <= UINT32_MAX);
        p->z.next_in = (Bytef *)text.p;
        p->z.avail_in = (uInt)text.n;
        do {
                if (!buf_reserve(b, STEP_BYTES))
                        return;
                p->z.next_out = (Bytef *)b->p + b->n;
                p->z.avail_out = STEP_BYTES;
                deflate(&p->z, is_last ? Z_FINISH : Z_NO_FLUSH);
                b->n += STEP_BYTES - p->z.avail_out;
        } while (p->z.avail_out == 0);
}
