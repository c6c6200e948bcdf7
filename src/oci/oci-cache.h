/* Images on disk: what was pulled is not pulled again, and images that nobody holds go when the cache is full. Several processes may
 * share a directory.
 *
 * The directory, format 1:
 *
 *   version           `weft images 1`
 *   lock              taken with flock around every change of what is below it
 *   blobs/HEX         a blob, whole and checked. Read-only
 *   partial/HEX       a blob that is being downloaded, locked by the process that does; what is there is continued
 *   tags/HEX          what a reference meant when it was last resolved: its digest. HEX is the digest of the reference's text
 *   images/HEX/       an image that is unpacked, named by the digest of its manifest
 *     root/           its files
 *     manifest.json, config.json
 *     size            bytes of its files
 *     use             locked (shared) by each process that uses it; its time is that of the last use
 *     holders/NAME    references that outlive processes: one empty file each
 *   new-*             an image that is being unpacked; renamed to images/HEX when it is whole
 *
 * Everything appears whole or not at all: files are written beside and renamed. What a killed process leaves is removed by the next
 * collection. */
#pragma once

#include "oci-registry.h"

struct oci_cache; /* any thread */
struct oci_image; /* counted; any thread */

struct oci_cache_options {
        const char *directory;
        uint64_t max_bytes;       /* of blobs and images that nobody uses; 0: no limit */
        uint64_t max_image_bytes; /* of one image: its layers, and its files; 0: LIMIT_IMAGE_BYTES */
        bool keeps_owners;        /* see oci-unpack.h */
        uint32_t first_id;
};

/* Makes the directory if it is missing. */
int oci_cache_open(const struct oci_cache_options *options, struct oci_cache **ret, struct err *err);
void oci_cache_free(struct oci_cache *c); /* NULL is fine; images may outlive it */

static inline void oci_cache_freep(struct oci_cache **c)
{
        oci_cache_free(*c);
}

/* The descriptor of a blob's file, from the cache or pulled into it. The caller closes it. */
int oci_cache_blob(struct oci_cache *c, struct oci_client *client, const struct oci_reference *ref,
                   const struct oci_descriptor *blob, struct oci_wait wait, int *ret_fd, struct err *err);

/* Finds the digest of a tag when it was last resolved through this cache: 1 with the digest in the arena, or 0. For registries that
 * are down. */
int oci_cache_remembered(struct oci_cache *c, struct arena *a, const struct oci_reference *ref, struct str *ret_digest);
void oci_cache_remember(struct oci_cache *c, const struct oci_reference *ref, struct str digest);

/* The image for a platform, unpacked: from the cache, or pulled and unpacked into it. A reference with a digest whose image is there asks no
 * registry. client NULL: only what is there. The image stays until the last reference to it goes. What came collects what is too much. */
int oci_cache_image(struct oci_cache *c, struct oci_client *client, const struct oci_reference *ref,
                    const struct oci_platform *platform, struct oci_wait wait, struct oci_image **ret, struct err *err);

/* An image that is in memory: its manifest and configuration as JSON, its layers as the manifest lists them. It is unpacked into the cache
 * unless it is there. Digests are checked. */
struct oci_content {
        struct str manifest, config;
        const struct str *layers;
        size_t n_layers;
};
int oci_cache_import(struct oci_cache *c, const struct oci_content *content, struct oci_image **ret, struct err *err);

struct oci_image *oci_image_ref(struct oci_image *i);
void oci_image_unref(struct oci_image *i); /* NULL is fine */

static inline void oci_image_unrefp(struct oci_image **i)
{
        oci_image_unref(*i);
}

int oci_image_root(const struct oci_image *i);                        /* the directory of its files; borrowed */
const char *oci_image_path(const struct oci_image *i);                /* its path; borrowed */
const struct oci_config *oci_image_config(const struct oci_image *i); /* borrowed */
struct str oci_image_digest(const struct oci_image *i);               /* of its manifest */

/* A holder keeps an image across restarts, until it is released. The name has letters, digits, `-`, `_` and `.`. Holding what is held and
 * releasing what is not held are no errors. */
int oci_cache_hold(struct oci_cache *c, struct str manifest_digest, const char *holder, struct err *err);
int oci_cache_release(struct oci_cache *c, struct str manifest_digest, const char *holder, struct err *err);

/* Removes what nobody uses or holds, least recently used first, until the cache fits its limit; and what killed processes left.
 * *ret_bytes (may be NULL) is what is left. */
int oci_cache_collect(struct oci_cache *c, uint64_t *ret_bytes, struct err *err);
