#include "str.h"

#include "random.h"

#include <endian.h>
#include <pthread.h>
#include <stdatomic.h>

bool str_starts_with(struct str s, struct str prefix)
{
        return s.n >= prefix.n && (prefix.n == 0 || memcmp(s.p, prefix.p, prefix.n) == 0);
}

bool str_ends_with(struct str s, struct str suffix)
{
        return s.n >= suffix.n && (suffix.n == 0 || memcmp(s.p + s.n - suffix.n, suffix.p, suffix.n) == 0);
}

static char lower(char c)
{
        return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool str_equal_ignore_case(struct str a, struct str b)
{
        if (a.n != b.n)
                return false;
        for (size_t i = 0; i < a.n; i++)
                if (lower(a.p[i]) != lower(b.p[i]))
                        return false;
        return true;
}

ptrdiff_t str_find(struct str s, struct str needle)
{
        const char *hit;

        if (needle.n == 0)
                return 0;
        if (needle.n > s.n)
                return -1;
        hit = memmem(s.p, s.n, needle.p, needle.n);
        return hit ? hit - s.p : -1;
}

ptrdiff_t str_find_char(struct str s, char c)
{
        const char *hit = s.n ? memchr(s.p, c, s.n) : NULL;

        return hit ? hit - s.p : -1;
}

ptrdiff_t str_find_last_char(struct str s, char c)
{
        const char *hit = s.n ? memrchr(s.p, c, s.n) : NULL;

        return hit ? hit - s.p : -1;
}

static bool is_space(char c)
{
        return c == ' ' || (c >= '\t' && c <= '\r');
}

struct str str_trim(struct str s)
{
        while (s.n > 0 && is_space(s.p[0])) {
                s.p++;
                s.n--;
        }
        while (s.n > 0 && is_space(s.p[s.n - 1]))
                s.n--;
        return s;
}

bool str_cut_prefix(struct str *s, struct str prefix)
{
        if (!str_starts_with(*s, prefix))
                return false;
        *s = str_skip(*s, prefix.n);
        return true;
}

bool str_cut_suffix(struct str *s, struct str suffix)
{
        if (!str_ends_with(*s, suffix))
                return false;
        s->n -= suffix.n;
        return true;
}

bool str_split(struct str *s, char c, struct str *ret_head)
{
        ptrdiff_t at = str_find_char(*s, c);

        if (at < 0) {
                *ret_head = *s;
                *s = str_skip(*s, s->n);
                return false;
        }
        *ret_head = str_first(*s, (size_t)at);
        *s = str_skip(*s, (size_t)at + 1);
        return true;
}

static uint64_t fold(uint64_t a, uint64_t b)
{
        __uint128_t product = (__uint128_t)a * b;

        return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Up to eight bytes as a little-endian number, so that hashes are the same on every machine. */
static uint64_t load(const char *p, size_t n)
{
        uint64_t x = 0;

        memcpy(&x, p, n);
        return le64toh(x);
}

/* Multiply and fold, sixteen bytes at a time. Each factor is masked with a different number derived from the seed, so that an
 * attacker who knows the constants can neither make a factor zero nor swap the two. A test checks the quality. */
uint64_t str_hash_seeded(struct str s, uint64_t seed)
{
        const uint64_t k1 = 0x9e3779b97f4a7c15u, k2 = 0xd1b54a32d192ed03u;
        uint64_t mask = fold(seed ^ k2, k1 + seed * 2) ^ k2;
        uint64_t h = fold(seed ^ k1, s.n ^ mask);
        const char *p = s.p;
        size_t n = s.n;

        for (; n > 16; p += 16, n -= 16)
                h = fold(load(p, 8) ^ h, load(p + 8, 8) ^ mask);
        if (n > 8)
                h = fold(load(p, 8) ^ h, load(p + 8, n - 8) ^ mask);
        else if (n > 0)
                h = fold(load(p, n) ^ h, mask);
        return fold(h ^ k1, mask ^ k2);
}

static _Atomic uint64_t process_seed; /* 0: not chosen yet */
static pthread_once_t process_seed_once = PTHREAD_ONCE_INIT;

static void choose_process_seed(void)
{
        uint64_t seed;

        random_kernel(&seed, sizeof(seed));
        atomic_store_explicit(&process_seed, seed | 1, memory_order_relaxed);
}

uint64_t str_hash(struct str s)
{
        uint64_t seed = atomic_load_explicit(&process_seed, memory_order_relaxed);

        if (UNLIKELY(seed == 0)) {
                pthread_once(&process_seed_once, choose_process_seed);
                seed = atomic_load_explicit(&process_seed, memory_order_relaxed);
        }
        return str_hash_seeded(s, seed);
}

char *str_to_cstring(struct str s)
{
        char *c = xmalloc(s.n + 1);

        if (s.n)
                memcpy(c, s.p, s.n);
        c[s.n] = '\0';
        return c;
}
