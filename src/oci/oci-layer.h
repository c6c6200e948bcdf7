/* The content of a layer: a tar, plain or compressed with gzip or zstd. Which one is told by the first bytes, because media types are
 * often wrong. What comes out is bounded in bytes and in its ratio to what went in, and its digest (the layer's diff ID) is known at
 * the end. */
#pragma once

#include "oci-tar.h"

struct arena;
struct oci_layer;

struct oci_layer_options {
        oci_read_fn *read; /* the layer as the registry has it */
        void *context;
        uint64_t max_bytes; /* of the content; 0: LIMIT_IMAGE_BYTES */
};

struct oci_layer *oci_layer_new(const struct oci_layer_options *options);
void oci_layer_free(struct oci_layer *l); /* NULL is fine */

static inline void oci_layer_freep(struct oci_layer **l)
{
        oci_layer_free(*l);
}

/* The content; an oci_read_fn whose context is the layer. */
int64_t oci_layer_read(void *layer, void *p, size_t n, struct err *err);

/* Reads the rest of the layer and checks the content's digest against the diff ID of the image's configuration. diff_id "" skips that
 * check. */
int oci_layer_finish(struct oci_layer *l, struct str diff_id, struct err *err);

/* The content's digest; after oci_layer_finish. In the arena. */
struct str oci_layer_diff_id(struct oci_layer *l, struct arena *a);

uint64_t oci_layer_bytes(const struct oci_layer *l); /* of content so far */

/* An oci_read_fn for files: the context is an int *, the descriptor. */
int64_t oci_read_fd(void *fd, void *p, size_t n, struct err *err);

/* An oci_read_fn for memory: the context is a struct str *, which loses what was read. */
int64_t oci_read_str(void *str, void *p, size_t n, struct err *err);

/* Appends the bytes as one gzip member without name and time. */
void oci_gzip(struct buf *b, struct str bytes);
