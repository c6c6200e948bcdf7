/* Answers under gzip, piece by piece. */
#pragma once

#include "buf.h"

#define PACK_FROM_BYTES (128u << 10) /* shorter answers are sent as they are, as the API does */

struct packer;

struct packer *packer_new(void);
void packer_free(struct packer *p); /* NULL is fine */

/* Appends the compressed form of the text. With is_last nothing may follow. */
void packer_add(struct packer *p, struct str text, bool is_last, struct buf *b);

static inline void packer_freep(struct packer **p)
{
        packer_free(*p);
}
