#include "sha1.h"

#include <endian.h>

/* FIPS 180-4, section 6.1. */
void sha1_init(struct sha1 *h)
{
        *h = (struct sha1) { .state = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0 } };
}

static uint32_t rotate(uint32_t x, int k)
{
        return x << k | x >> (32 - k);
}

static uint32_t choose(int t, uint32_t x, uint32_t y, uint32_t z)
{
        if (t < 20)
                return ((x & y) ^ (~x & z)) + 0x5a827999;
        if (t < 40)
                return (x ^ y ^ z) + 0x6ed9eba1;
        if (t < 60)
                return ((x & y) ^ (x & z) ^ (y & z)) + 0x8f1bbcdc;
        return (x ^ y ^ z) + 0xca62c1d6;
}

static void add_block(struct sha1 *h)
{
        uint32_t a = h->state[0], b = h->state[1], c = h->state[2], d = h->state[3], e = h->state[4], w[80];

        memcpy(w, h->block, sizeof(h->block));
        for (int t = 0; t < 16; t++)
                w[t] = be32toh(w[t]);
        for (int t = 16; t < 80; t++)
                w[t] = rotate(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1);
        for (int t = 0; t < 80; t++) {
                uint32_t next = rotate(a, 5) + choose(t, b, c, d) + e + w[t];

                e = d;
                d = c;
                c = rotate(b, 30);
                b = a;
                a = next;
        }
        h->state[0] += a;
        h->state[1] += b;
        h->state[2] += c;
        h->state[3] += d;
        h->state[4] += e;
}

void sha1_update(struct sha1 *h, struct str s)
{
        while (s.n > 0) {
                size_t at = h->n_bytes % sizeof(h->block), n = MIN(s.n, sizeof(h->block) - at);

                memcpy(h->block + at, s.p, n);
                h->n_bytes += n;
                s = str_skip(s, n);
                if (at + n == sizeof(h->block))
                        add_block(h);
        }
}

void sha1_finish(struct sha1 *h, uint8_t ret_digest[SHA1_BYTES])
{
        static const char padding[64] = { (char)0x80 };
        uint64_t n_bits = htobe64(h->n_bytes * 8);
        size_t at = h->n_bytes % sizeof(h->block);

        sha1_update(h, str_make(padding, (at < 56 ? 56 : 120) - at));
        sha1_update(h, str_make((const char *)&n_bits, sizeof(n_bits)));
        for (size_t i = 0; i < ARRAY_SIZE(h->state); i++) {
                uint32_t word = htobe32(h->state[i]);

                memcpy(ret_digest + i * sizeof(word), &word, sizeof(word));
        }
}
