/* Documents that were made once and are kept for the next readers, under a limit of bytes: the least recently used go first.
 * Any thread. */
#pragma once

#include "bytes.h"
#include "lru.h"
#include "park.h"

struct arena;

/* A document as it is sent, with its entity tag. */
struct kept_document {
        struct bytes *body; /* pinned to the reader's arena */
        struct str tag;     /* with its quotes; in the reader's arena */
};

struct document_cache {
        struct mutex mutex;
        struct lru lru;
        uint64_t version; /* all kept documents are of this version */
};

void document_cache_init(struct document_cache *c, size_t max_bytes);
void document_cache_done(struct document_cache *c);

/* False if there is none of this version. */
bool document_cache_get(struct document_cache *c, uint64_t version, struct str key, struct arena *a,
                        struct kept_document *ret);

/* Keeps the document, and drops those of another version. A document larger than the limit is not kept. */
void document_cache_put(struct document_cache *c, uint64_t version, struct str key, const struct kept_document *d);

/* Bytes of all documents that are kept. */
size_t document_cache_bytes(struct document_cache *c);

/* The entity tag of a document: its SHA-512 in upper-case hexadecimal, quoted. */
struct str document_tag(struct arena *a, struct str body);
