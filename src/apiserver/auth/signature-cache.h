/* Tokens whose signature was found good. Checking a signature takes a tenth of a millisecond, and a client sends the same token with
 * every request. A good signature stays good for as long as the key; whether the token still counts is asked each time. Any thread. */
#pragma once

#include "str.h"

struct signature_cache;

struct signature_cache *signature_cache_new(void);
void signature_cache_free(struct signature_cache *c); /* NULL is fine */

/* The whole token, signature included. A newer token may take the place of an older one. */
bool signature_cache_has(struct signature_cache *c, struct str token);
void signature_cache_add(struct signature_cache *c, struct str token);
