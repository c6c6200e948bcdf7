/* The format of a cached response: entries are kept in memory and, with a header, in files.
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
 * A file is 48 bytes and an entry. The digest detects damage by a crash or a disk; the key in the entry detects renamed files.
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

/* The latest possible deadline, in the year 2262. */
#define FN_CACHE_LAST_DEADLINE_NS (9223372035 * 1000000000ll)

struct fn_cache_entry {
        int64_t deadline_ns; /* wall clock, since 1970 */
        int64_t ttl_ns;
        struct str key;
        struct str response; /* encoded */
        const struct fn_watch *watched;
        size_t n_watched;
};

void fn_cache_entry_append(struct buf *b, const struct fn_cache_entry *entry);

/* All parts point into the bytes. Unknown fields are ignored. */
int fn_cache_entry_read(struct arena *a, struct str bytes, struct fn_cache_entry *ret, struct err *err);

/* True while the deadline has not passed. Setting the clock back to before the entry was made does not extend its life. */
bool fn_cache_entry_is_fresh(const struct fn_cache_entry *entry, int64_t now_ns);

/* Fills in the header of a file whose entry, n bytes, follows the header. */
void fn_cache_head_write(char *file, size_t n);

/* Finds the entry in a file, or returns an error that tells what is wrong with the file. */
int fn_cache_file_read(struct str file, struct str *ret_entry, struct err *err);
