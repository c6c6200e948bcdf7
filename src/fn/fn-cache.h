/* What functions have answered, for as long as their TTL says (spec/engine 4.4): in memory, and in files when there is a directory for
 * them. Any thread. Nothing that goes wrong here fails a call: it is a miss, or it is not kept, and counted.
 *
 * The key has the function's revision, so that an upgraded function is asked again. What is kept is bounded in bytes and entries, in
 * memory and on disk; what was used least recently goes first, and what has expired goes when it is met or within a minute. */
#pragma once

#include "message.h"

struct fn_cache;

struct fn_cache_options {
        size_t max_bytes; /* in memory; 0 here and below: what limits.h says */
        size_t max_entries;
        struct str directory; /* "": no files. Not one that Crossplane or another user writes to */
        size_t max_disk_bytes;
        size_t max_disk_entries;
        int64_t max_ttl_ns; /* longer ones are cut to it; 0: none are */
};

/* Errors are about the directory. */
int fn_cache_new(const struct fn_cache_options *options, struct fn_cache **ret, struct err *err);
void fn_cache_free(struct fn_cache *c);

struct fn_cache_key {
        struct str function;
        struct str revision;
        struct str tag;
        bool watches_all; /* what the answer means for watches depends on the step, too */
};

struct fn_cached {
        struct fn_response response;    /* its TTL is what is left of it */
        const struct fn_watch *watched; /* what the step watches because of it */
        size_t n_watched;
};

/* Whether it has a directory. */
bool fn_cache_has_files(const struct fn_cache *c);

/* True with an answer, which lives in the arena. */
bool fn_cache_get(struct fn_cache *c, struct arena *a, const struct fn_cache_key *key, struct fn_cached *ret);

/* Keeps a response that has a tag and a TTL above 0, and ignores others. has_secrets: it is not written to disk, whatever it contains
 * as far as can be told. Connection details and Secrets in it are seen here. The arena is for what is made on the way. */
void fn_cache_put(struct fn_cache *c, struct arena *a, const struct fn_cache_key *key, const struct fn_cached *answer,
                  bool has_secrets);

/* Drops what has expired, files too. fn_cache_put does so once a minute. */
void fn_cache_sweep(struct fn_cache *c);

struct fn_cache_stats {
        uint64_t hits, misses, errors, writes, deletes, bytes_written, bytes_deleted; /* spec/engine 4.5 */
        size_t n_entries, size_bytes;                                                 /* now, in memory */
        size_t n_files, disk_bytes;
};

struct fn_cache_stats fn_cache_stats(struct fn_cache *c);
