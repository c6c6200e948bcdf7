/* One version of one object: counted, immutable, shared between threads.
 *
 * Its resident form is compact bytes. The decoded tree and the wire encodings are made on demand and kept within the byte budget of
 * a cache, which evicts the least recently used ones. A borrower of a value pins the value's memory to an arena, so that eviction
 * never frees it too early. */
#pragma once

#include "bytes.h"
#include "meta.h"
#include "park.h"

struct buf;
struct object;
struct object_cache;

/* budget_bytes limits decoded trees and encodings together. Objects hold references to the cache, so it lives as long as they
 * do. */
struct object_cache *object_cache_new(size_t budget_bytes);
struct object_cache *object_cache_ref(struct object_cache *c);
void object_cache_unref(struct object_cache *c);
size_t object_cache_used_bytes(struct object_cache *c);

/* From the next form that is made on. Any thread. */
void object_cache_set_budget(struct object_cache *c, size_t budget_bytes);

/* Encodes the value. The result has one reference and keeps nothing of v. */
struct object *object_new(struct object_cache *c, uint64_t version, const struct value *v);

/* An object from bytes that compact_decode accepts. */
struct object *object_of_bytes(struct object_cache *c, uint64_t version, struct str bytes);

/* An object of version 0 with this value, which is not encoded. v must live as long as the object and everything that borrows from
 * it. */
struct object *object_of_value(struct object_cache *c, const struct value *v);

/* The same bytes with another version: a removed object has the version of its removal. */
struct object *object_with_version(const struct object *o, uint64_t version);

/* Sets the version of an object that was encoded before its version was known. Only before other threads have seen the object. */
void object_set_version(struct object *o, uint64_t version);

struct object *object_ref(struct object *o);
void object_unref(struct object *o); /* NULL is fine */

uint64_t object_version(const struct object *o);
size_t object_size_bytes(const struct object *o); /* resident, caches aside */
struct str
object_bytes(const struct object *o); /* the compact bytes, without the version; they live as long as the object */

/* Fetches memory of the object into the processor's cache, for a caller that goes through many: its head before it is referenced,
 * its bytes before they are read. */
void object_prefetch(const struct object *o);
void object_prefetch_bytes(const struct object *o);

/* The decoded object; it lives until the arena is done. metadata.resourceVersion is the version, or the encoded one if the version
 * is 0. Object and tree count in the arena's budget, even if they are shared. */
const struct value *object_value(struct object *o, struct arena *a);

/* The same for a single use, as in a long list: an existing tree is used, otherwise one is made in the arena; the cache does not
 * change. It lives until the arena is done or the caller releases the object. */
const struct value *object_peek(struct object *o, struct arena *a);

/* Keeps the object until the arena is done; returns it. It counts in the arena's budget. */
struct object *object_pin(struct object *o, struct arena *a);

/* A variant is another object that was made from this one and is kept beside its tree and encodings, so that many readers share it.
 * The caller chooses the key. object_variant returns it counted, or NULL when there is none. object_add_variant keeps `made` unless
 * the key has a variant by then, and returns the kept one, counted. */
struct object *object_variant(struct object *o, uint64_t key);
struct object *object_add_variant(struct object *o, uint64_t key, struct object *made);

/* Its JSON text, and its encoding as a google.protobuf.Struct; counted, the caller unrefs. All numbers are finite, because every
 * decoder refuses others. */
struct bytes *object_json(struct object *o);
struct bytes *object_struct(struct object *o);

/* Appends the text of object_json for a single use, as in a long list: existing bytes are used, otherwise the text is made in
 * place; the cache does not change. scratch is emptied. */
void object_append_json(struct object *o, struct arena *scratch, struct buf *b);

static inline void object_unrefp(struct object **o)
{
        object_unref(*o);
}

#define _cleanup_object_ _cleanup_(object_unrefp)
