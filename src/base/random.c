#include "random.h"

#include <endian.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/random.h>

static uint64_t rotate(uint64_t x, int k)
{
        return x << k | x >> (64 - k);
}

/* splitmix64 spreads the seed, xoshiro256** gives the sequence. */
void random_seed(struct random *r, uint64_t seed)
{
        for (size_t i = 0; i < ARRAY_SIZE(r->state); i++) {
                uint64_t z = seed += 0x9e3779b97f4a7c15u;

                z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
                z = (z ^ z >> 27) * 0x94d049bb133111ebu;
                r->state[i] = z ^ z >> 31;
        }
}

uint64_t random_u64(struct random *r)
{
        uint64_t *s = r->state, result = rotate(s[1] * 5, 7) * 9, t = s[1] << 17;

        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = rotate(s[3], 45);
        return result;
}

uint64_t random_below(struct random *r, uint64_t bound)
{
        uint64_t skip;

        assert(bound > 0);
        skip = -bound %
               bound; /* 2^64 mod bound: values below it are skipped, because they would make the result non-uniform */
        for (;;) {
                uint64_t x = random_u64(r);

                if (x >= skip)
                        return x % bound;
        }
}

double random_double(struct random *r)
{
        return (double)(random_u64(r) >> 11) * 0x1p-53;
}

static struct random *_Atomic simulated; /* changed and drawn from under the lock */
static pthread_mutex_t simulated_lock = PTHREAD_MUTEX_INITIALIZER;
static __thread struct random *simulated_here;

struct random *random_use_here(struct random *r)
{
        struct random *before = simulated_here;

        simulated_here = r;
        return before;
}

static void fill(struct random *r, char *p, size_t n)
{
        while (n > 0) {
                uint64_t x = random_u64(r);
                size_t some = MIN(n, sizeof(x));

                x = htole64(x);
                memcpy(p, &x, some);
                p += some;
                n -= some;
        }
}

struct random *random_use_seeded(struct random *r)
{
        struct random *before;

        pthread_mutex_lock(&simulated_lock);
        before = atomic_exchange(&simulated, r);
        pthread_mutex_unlock(&simulated_lock);
        return before;
}

/* False if the process uses the kernel's randomness. */
static bool fill_simulated(void *p, size_t n)
{
        struct random *r;

        if (LIKELY(!atomic_load_explicit(&simulated, memory_order_relaxed)))
                return false;
        pthread_mutex_lock(&simulated_lock);
        r = atomic_load(&simulated);
        if (r)
                fill(r, p, n);
        pthread_mutex_unlock(&simulated_lock);
        return r;
}

void random_system(void *p, size_t n)
{
        if (UNLIKELY(simulated_here))
                fill(simulated_here, p, n);
        else if (!fill_simulated(p, n))
                random_kernel(p, n);
}

/* Most ids are made one after another by the same thread, and a call of the kernel costs more than the bytes. */
static void fill_from_block(void *p, size_t n)
{
        static __thread struct {
                char bytes[16 * RANDOM_ID_BYTES];
                size_t left;
        } block;

        assert(n <= RANDOM_ID_BYTES);
        if (block.left < n) {
                random_kernel(block.bytes, sizeof(block.bytes));
                block.left = sizeof(block.bytes);
        }
        block.left -= n;
        memcpy(p, block.bytes + block.left, n);
}

void random_id(void *p, size_t n)
{
        if (UNLIKELY(simulated_here))
                fill(simulated_here, p, n);
        else if (!fill_simulated(p, n))
                fill_from_block(p, n);
}

uint64_t random_id_u64(void)
{
        uint64_t x;

        random_id(&x, sizeof(x));
        return le64toh(x);
}

void random_kernel(void *p, size_t n)
{
        for (size_t done = 0; done < n;) {
                ssize_t got = getrandom((char *)p + done, n - done, 0);

                assert(got > 0 || errno == EINTR);
                if (got > 0)
                        done += (size_t)got;
        }
}

uint64_t random_system_u64(void)
{
        uint64_t x;

        random_system(&x, sizeof(x));
        return le64toh(x);
}
