#include "signature-cache.h"

#include "digest.h"
#include "park.h"

#define PLACES 2048 /* a power of two */

struct signature_cache {
        struct mutex mutex;
        uint8_t digests[PLACES][SHA256_BYTES]; /* of tokens, each in the place that its first bytes say */
};

struct signature_cache *signature_cache_new(void)
{
        struct signature_cache *c = xcalloc(1, sizeof(*c));

        mutex_init(&c->mutex);
        return c;
}

void signature_cache_free(struct signature_cache *c)
{
        if (!c)
                return;
        mutex_done(&c->mutex);
        free(c);
}

static size_t place_of(const uint8_t digest[SHA256_BYTES])
{
        return ((size_t)digest[0] << 8 | digest[1]) % PLACES;
}

bool signature_cache_has(struct signature_cache *c, struct str token)
{
        uint8_t digest[SHA256_BYTES];
        bool has;

        sha256(token, digest);
        mutex_lock(&c->mutex);
        has = memcmp(c->digests[place_of(digest)], digest, SHA256_BYTES) == 0;
        mutex_unlock(&c->mutex);
        return has;
}

void signature_cache_add(struct signature_cache *c, struct str token)
{
        uint8_t digest[SHA256_BYTES];

        sha256(token, digest);
        mutex_lock(&c->mutex);
        memcpy(c->digests[place_of(digest)], digest, SHA256_BYTES);
        mutex_unlock(&c->mutex);
}
