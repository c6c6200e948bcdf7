/* One cached response as bytes: what the response cache keeps in memory and, in a frame of its own, in files.
 *
 * An entry is a protobuf message whose first two fields are those of upstream's cache files:
 *
 *      1     deadline  google.protobuf.Timestamp; until then the response may be used
 *      2     response  RunFunctionResponse, as it came
 *      1000  key       what it is the answer to: function, revision and tag, with NUL between them (and behind them, if the
 *                      step watches all that it asks for)
 *      1001  ttl       varint, nanoseconds from when it was made to the deadline
 *      1002  watched   ResourceRef, repeated: what the step watches because of it
 *
 * A file is 48 bytes and an entry. The digest finds what a crash or a disk has done to the file; the key inside finds files that were
 * moved.
 *
 *      0     8 bytes   `weftfnc` and a line feed
 *      8     4 bytes   version of the format, little-endian: 1
 *      12    4 bytes   0
 *      16    32 bytes  SHA-256 of the entry
 *      48              the entry
 */
#pragma once

#include "message.h"

#define FN_CACHE_HEAD_BYTES 48

/* The last one that an entry can have, in the year 2262. */
#define FN_CACHE_LAST_DEADLINE_NS (9223372035 * 1000000000ll)

struct fn_cache_entry {
        int64_t deadline_ns; /* of the wall clock, since 1970 */
        int64_t ttl_ns;
        struct str key;
        struct str response; /* encoded */
        const struct fn_watch *watched;
        size_t n_watched;
};

void fn_cache_entry_append(struct buf *b, const struct fn_cache_entry *entry);

/* Everything points into the bytes. Fields that are not known are left alone. */
int fn_cache_entry_read(struct arena *a, struct str bytes, struct fn_cache_entry *ret, struct err *err);

/* True while the deadline has not passed. A clock that was set back to before the entry was made does not prolong its life. */
bool fn_cache_entry_is_fresh(const struct fn_cache_entry *entry, int64_t now_ns);

/* Fills the head of a file whose entry, n bytes, stands behind it. */
void fn_cache_head_write(char *file, size_t n);

/* The entry in a file, or an error that says what is wrong with it. */
int fn_cache_file_read(struct str file, struct str *ret_entry, struct err *err);
