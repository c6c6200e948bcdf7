/* Values as compact bytes: the form of a stored object that is not in use. The format is our own; compact.c describes it. */
#pragma once

#include "err.h"
#include "value.h"

struct buf;

/* Appends the version of the format and the value. */
void compact_encode(struct buf *b, const struct value *v);

/* Strings of the result point into bytes where possible, so the bytes must outlive the result. Bytes in another form than
 * compact_encode writes are refused, and so is an unknown version of the format. The decoder never reads past the bytes, and never
 * uses more memory than a value of this encoded size can take. */
int compact_decode(struct arena *a, struct str bytes, const struct value **ret, struct err *err);

/* The same, but of an object at its top only apiVersion, kind, and metadata without managedFields are in the result. The rest is checked
 * as well, so exactly the same bytes are refused; it takes a fraction of the time. */
int compact_decode_head(struct arena *a, struct str bytes, const struct value **ret, struct err *err);

/* Appends the JSON of the value of such bytes without decoding them, as json_write writes the decoded value. With a version other than 0,
 * metadata.resourceVersion is appended to the members of metadata. Returns false, with nothing appended, for bytes that need a decoder: if
 * they are broken, if there is no metadata for the version, or if metadata has one already. */
bool compact_append_json(struct buf *b, struct str bytes, uint64_t version);
