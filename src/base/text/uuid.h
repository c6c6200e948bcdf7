/* UUIDs: random (version 4) or made from a name (version 5), and their text form. */
#pragma once

#include "str.h"

struct buf;
struct err;

struct uuid {
        uint8_t bytes[16];
};

#define UUID_NIL        ((struct uuid) { { 0 } })
#define UUID_TEXT_BYTES 36

/* A random UUID. Not for secrets, like random_id. In a simulation it is derived from the seed. */
struct uuid uuid_v4(void);

/* The same name in the same namespace gives the same UUID, everywhere and always. */
struct uuid uuid_v5(struct uuid space, struct str name);

bool uuid_equal(struct uuid a, struct uuid b);

/* Appends the canonical form, in lower case: 6ba7b810-9dad-11d1-80b4-00c04fd430c8. */
void uuid_append(struct buf *b, struct uuid u);

/* Reads the canonical form in either case and nothing else. Errors: `invalid UUID length: N`, `invalid UUID format`. */
int uuid_parse(struct str s, struct uuid *ret, struct err *err);
