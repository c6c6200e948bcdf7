/* The internals of the image cache: oci-cache.c has files, tags and blobs, oci-cache-image.c images, oci-cache-collect.c what goes. */
#pragma once

#include "limits.h"
#include "oci-cache.h"

struct oci_cache {
        struct oci_cache_options options;
        char *path;
        int directory;
        int lock;
        struct mutex mutex; /* held while lock is */
};

/* The lock of all changes, between threads and processes. Nobody waits for a registry with it. */
void oci_cache_lock(struct oci_cache *c);
void oci_cache_unlock(struct oci_cache *c);

/* Replaces a file as a whole. */
int oci_cache_write(int directory, const char *name, struct str text, struct err *err);

/* The whole file in the arena; -1 if it cannot be read. */
int oci_cache_read(struct arena *a, int directory, const char *name, struct str *ret);

/* Whether the open file still has this name. The answer stays true for a caller that holds the file's lock: a download is moved or
 * removed only under that lock. */
bool oci_cache_is_at(struct oci_cache *c, const char *name, int fd);
