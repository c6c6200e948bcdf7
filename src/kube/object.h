/* One version of one object: counted, immutable, shared between threads.
 *
 * Its resident form is compact bytes; the decoded tree and the wire encodings are made when someone looks and kept under the
 * byte budget of a cache, which forgets what was not used for longest. Whoever borrows a value pins what it stands in to an
 * arena, so that forgetting never pulls it away. */
#pragma once

#include "bytes.h"
#include "meta.h"
#include "park.h"

struct object;
struct object_cache;

/* budget_bytes of decoded trees and encodings together. The cache outlives its objects' last use by reference. */
struct object_cache *object_cache_new(size_t budget_bytes);
struct object_cache *object_cache_ref(struct object_cache *c);
void object_cache_unref(struct object_cache *c);
size_t object_cache_used_bytes(struct object_cache *c);

/* Encodes the value; the result has one reference and depends on nothing of v. */
struct object *object_new(struct object_cache *c, uint64_t version, const struct value *v);

/* The same bytes as another version: what is gone carries the version of its end. */
struct object *object_with_version(const struct object *o, uint64_t version);

/* For whoever encodes first and learns the version later: before anybody else has seen the object. */
void object_set_version(struct object *o, uint64_t version);

struct object *object_ref(struct object *o);
void object_unref(struct object *o); /* NULL is fine */

uint64_t object_version(const struct object *o);
size_t object_size_bytes(const struct object *o); /* resident, caches aside */

/* The decoded object, alive until the arena is done. metadata.resourceVersion is the version, or what was encoded when that
 * is 0. */
const struct value *object_value(struct object *o, struct arena *a);

/* Keeps the object until the arena is done; returns it. */
struct object *object_pin(struct object *o, struct arena *a);

/* Its JSON text, and its encoding as a google.protobuf.Struct; counted, the caller unrefs. Its numbers are finite: every
 * decoder refuses others. */
struct bytes *object_json(struct object *o);
struct bytes *object_struct(struct object *o);

static inline void object_unrefp(struct object **o)
{
        object_unref(*o);
}

#define _cleanup_object_ _cleanup_(object_unrefp)
