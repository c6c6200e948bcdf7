/* A cache of function responses, each kept for its TTL (docs/spec/engine 4.4): in memory, and in files if a directory is given. Any
 * thread. A failure of the cache never fails a call: it counts as a miss, or the response is not kept, and errors are counted.
 *
 * The key contains the function's revision, so that an upgraded function is called again. Bytes and entries are limited, in memory
 * and on disk: the least recently used entry is removed first. Expired entries are removed when they are found or within a
 * minute. */
#pragma once

#include "message.h"

struct fn_cache;

struct fn_cache_options {
        size_t max_bytes; /* in memory; 0 here and below: the limit in limits.h */
        size_t max_entries;
        struct str directory; /* "": no files. Must not be written to by Crossplane or another user */
        size_t max_disk_bytes;
        size_t max_disk_entries;
        int64_t max_ttl_ns; /* longer TTLs are cut to it; 0: no limit */
};

/* Fails only if the directory cannot be used. */
int fn_cache_new(const struct fn_cache_options *options, struct fn_cache **ret, struct err *err);
void fn_cache_free(struct fn_cache *c);

struct fn_cache_key {
        struct str function;
        struct str revision;
        struct str tag;
        bool watches_all; /* part of the key: it changes which watches the answer causes */
};

struct fn_cached {
        struct fn_response response;    /* its TTL is the remaining time */
        const struct fn_watch *watched; /* what the step watches because of the response */
        size_t n_watched;
};

/* Whether the cache has a directory. */
bool fn_cache_has_files(const struct fn_cache *c);

/* True if there is an answer; it lives in the arena. */
bool fn_cache_get(struct fn_cache *c, struct arena *a, const struct fn_cache_key *key, struct fn_cached *ret);

/* Keeps a response that has a tag and a TTL above 0; ignores others. A response with connection details or Secrets is not written
 * to disk. has_secrets: it is not written either, because the function saw secrets and may have put them anywhere. The arena is for
 * temporary data. */
void fn_cache_put(struct fn_cache *c, struct arena *a, const struct fn_cache_key *key, const struct fn_cached *answer,
                  bool has_secrets);

/* Drops expired entries and files. fn_cache_put calls it once a minute. */
void fn_cache_sweep(struct fn_cache *c);

struct fn_cache_stats {
        uint64_t hits, misses, errors, writes, deletes, bytes_written, bytes_deleted; /* docs/spec/engine 4.5 */
        size_t n_entries, size_bytes;                                                 /* current, in memory */
        size_t n_files, disk_bytes;
};

struct fn_cache_stats fn_cache_stats(struct fn_cache *c);
