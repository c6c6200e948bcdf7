#include "test.h"

#include "buf.h"
#include "map.h"
#include "random.h"

static void *as_value(uintptr_t n)
{
        return (void *)n;
}

/* Keys 0..n-1 as text that lives until the test ends. */
struct keys {
        char (*text)[24];
        struct str *keys;
};

static struct keys make_keys(const char *format, size_t n)
{
        struct keys k = { xmalloc(n * sizeof(*k.text)), xmalloc(n * sizeof(*k.keys)) };

        for (size_t i = 0; i < n; i++) {
                snprintf(k.text[i], sizeof(k.text[i]), "%s%zu", format, i);
                k.keys[i] = str_from(k.text[i]);
        }
        return k;
}

static void keys_done(struct keys *k)
{
        free(k->text);
        free(k->keys);
}

static void assert_keys(const struct map *m, const char *wanted)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        for (const struct map_entry *e = map_first(m); e; e = map_next(m, e)) {
                buf_append_str(&b, e->key);
                buf_append_char(&b, ' ');
        }
        ASSERT_STR(buf_str(&b), str_from(wanted));
}

TEST(an_empty_map_has_nothing)
{
        struct map m = { 0 };

        ASSERT(!map_get(&m, STR("a")));
        ASSERT(!map_has(&m, STR("a")));
        ASSERT(!map_remove(&m, STR("a")));
        ASSERT(!map_first(&m));
        map_clear(&m);
        map_done(&m);
}

TEST(set_add_get_remove)
{
        _cleanup_map_ struct map m = { 0 };
        char same[] = "a";

        ASSERT(!map_set(&m, STR("a"), as_value(1)));
        ASSERT(map_set(&m, str_from(same), as_value(2)) == as_value(1));
        ASSERT(map_first(&m)->key.p != same); /* the old key stays */
        ASSERT(!map_add(&m, STR("a"), as_value(3)));
        ASSERT(map_get(&m, STR("a")) == as_value(2));
        ASSERT(map_add(&m, STR("b"), as_value(4)));
        ASSERT_INT(m.n, 2);
        ASSERT(map_remove(&m, STR("a")) == as_value(2));
        ASSERT(!map_remove(&m, STR("a")));
        ASSERT(!map_has(&m, STR("a")));
        ASSERT(map_get(&m, STR("b")) == as_value(4));
        ASSERT_INT(m.n, 1);
}

TEST(a_null_value_is_present)
{
        _cleanup_map_ struct map m = { 0 };

        ASSERT(map_add(&m, STR("a"), NULL));
        ASSERT(map_has(&m, STR("a")));
        ASSERT(!map_get(&m, STR("a")));
        ASSERT(!map_add(&m, STR("a"), as_value(1)));
}

TEST(keys_are_bytes)
{
        _cleanup_map_ struct map m = { 0 };

        ASSERT(map_add(&m, STR(""), as_value(1)));
        ASSERT(!map_add(&m, STR_NONE, as_value(2)));
        ASSERT(map_get(&m, STR_NONE) == as_value(1));
        ASSERT(map_add(&m, str_make("\0", 1), as_value(3)));
        ASSERT(map_add(&m, str_make("\0\0", 2), as_value(4)));
        ASSERT(map_add(&m, str_make("a\0b", 3), as_value(5)));
        ASSERT(map_add(&m, str_make("a\0c", 3), as_value(6)));
        ASSERT(map_get(&m, str_make("\0", 1)) == as_value(3));
        ASSERT(map_get(&m, str_make("a\0b", 3)) == as_value(5));
        ASSERT(map_remove(&m, STR("")) == as_value(1));
        ASSERT(map_add(&m, STR_NONE, as_value(7)));
        ASSERT(map_has(&m, STR("")));
        ASSERT_INT(m.n, 5);
}

TEST(iteration_is_in_order_of_insertion)
{
        _cleanup_map_ struct map m = { 0 };

        for (const char *p = "zyxabc"; *p; p++)
                map_set(&m, str_make(p, 1), as_value(1));
        map_set(&m, STR("x"), as_value(2)); /* keeps its place */
        assert_keys(&m, "z y x a b c ");
        map_remove(&m, STR("z"));
        map_remove(&m, STR("a"));
        map_remove(&m, STR("c"));
        assert_keys(&m, "y x b ");
        map_set(&m, STR("z"), as_value(3));
        assert_keys(&m, "y x b z ");
        map_clear(&m);
        assert_keys(&m, "");
        ASSERT(!map_has(&m, STR("y")));
        map_set(&m, STR("q"), as_value(4));
        assert_keys(&m, "q ");
}

TEST(order_survives_growth_and_compaction)
{
        enum { N = 3000 };
        _cleanup_map_ struct map m = { 0 };
        struct keys k = make_keys("key-", N);
        size_t i = 0;

        for (i = 0; i < N; i++)
                ASSERT(map_add(&m, k.keys[i], &k.keys[i]));
        for (i = 0; i < N; i++)
                if (i % 7)
                        ASSERT(map_remove(&m, k.keys[i]) == &k.keys[i]);
        for (i = 0; i < N; i++)
                if (i % 7)
                        ASSERT(map_add(&m, k.keys[i], &k.keys[i]));
        ASSERT_INT(m.n, N);
        i = 0;
        for (const struct map_entry *e = map_first(&m); e; e = map_next(&m, e), i++) {
                size_t wanted = i < (N + 6) / 7 ? i * 7 : (i - (N + 6) / 7) / 6 * 7 + (i - (N + 6) / 7) % 6 + 1;

                ASSERT(e->value == &k.keys[wanted]);
                ASSERT(map_get(&m, e->key) == e->value);
        }
        ASSERT_INT(i, N);
        keys_done(&k);
}

TEST(removing_while_iterating)
{
        enum { N = 100 };
        struct keys k = make_keys("", N);

        for (size_t step = 1; step <= 4; step++) {
                _cleanup_map_ struct map m = { 0 };
                size_t seen = 0;

                for (size_t i = 0; i < N; i++)
                        map_add(&m, k.keys[i], &k.keys[i]);
                for (const struct map_entry *e = map_first(&m); e; e = map_next(&m, e), seen++) {
                        ASSERT(e->value == &k.keys[seen]);
                        if (seen % step == 0)
                                ASSERT(map_remove(&m, e->key));
                }
                ASSERT_INT(seen, N);
                ASSERT_INT(m.n, N - (N + step - 1) / step);
                seen = 0;
                for (const struct map_entry *e = map_first(&m); e; e = map_next(&m, e))
                        seen++;
                ASSERT_INT(seen, m.n);
        }
        keys_done(&k);
}

/* Against a plain array, over random operations on few keys, so that chains, holes and wrap-around all occur. */
TEST(behaves_as_a_list_searched_from_the_start)
{
        enum { KEYS = 60, STEPS = 60000 };
        _cleanup_map_ struct map m = { 0 };
        struct keys k = make_keys("some-longer-prefix-", KEYS);
        uintptr_t order[KEYS], values[KEYS] = { 0 };
        struct random r;
        size_t n = 0;

        random_seed(&r, 42);
        for (uintptr_t step = 1; step <= STEPS; step++) {
                size_t i = random_below(&r, KEYS), at = 0;
                bool is_filling = step / 2000 % 2 == 0;

                if (random_below(&r, 10) < (is_filling ? 7 : 3)) {
                        ASSERT(map_set(&m, k.keys[i], as_value(step)) == as_value(values[i]));
                        if (!values[i])
                                order[n++] = i;
                        values[i] = step;
                } else {
                        ASSERT(map_remove(&m, k.keys[i]) == as_value(values[i]));
                        while (at < n && order[at] != i)
                                at++;
                        if (at < n)
                                memmove(&order[at], &order[at + 1], (--n - at) * sizeof(*order));
                        values[i] = 0;
                }
                ASSERT_INT(m.n, n);
                if (step % 16)
                        continue;
                at = 0;
                for (const struct map_entry *e = map_first(&m); e; e = map_next(&m, e), at++)
                        ASSERT(at < n && e->value == as_value(values[order[at]]));
                ASSERT_INT(at, n);
                for (i = 0; i < KEYS; i++)
                        ASSERT(map_get(&m, k.keys[i]) == as_value(values[i]));
        }
        keys_done(&k);
}

/* A queue of a steady length must not grow, and neither must what a map leaves behind after a flood. */
TEST(memory_follows_the_live_entries)
{
        enum { N = 20000 };
        _cleanup_map_ struct map m = { 0 };
        struct keys k = make_keys("q", N);
        struct map_entry *e;

        for (size_t i = 0; i < N; i++) {
                map_add(&m, k.keys[i], &k.keys[i]);
                if (i >= 10) {
                        e = map_first(&m);
                        ASSERT(e->value == &k.keys[i - 10]);
                        map_remove(&m, e->key);
                }
        }
        ASSERT_INT(m.n, 10);
        ASSERT(m.n_slots <= 32);
        map_clear(&m);
        for (size_t i = 0; i < N; i++)
                map_add(&m, k.keys[i], &k.keys[i]);
        ASSERT(m.n_slots >= N);
        for (size_t i = 1; i < N - 1; i++)
                map_remove(&m, k.keys[i]);
        map_add(&m, STR("new"), &m);
        ASSERT(m.n_slots <= 8);
        assert_keys(&m, "q0 q19999 new ");
        keys_done(&k);
}

/* Taking the first entry again and again must not walk over the gaps that it leaves: this would take minutes. */
TEST(draining_from_the_front_is_linear)
{
        enum { N = 200000 };
        _cleanup_map_ struct map m = { 0 };
        struct keys k = make_keys("q", N);
        size_t i = 0;

        for (i = 0; i < N; i++)
                map_add(&m, k.keys[i], &k.keys[i]);
        i = 0;
        for (struct map_entry *e; (e = map_first(&m)); i++)
                ASSERT(map_remove(&m, e->key) == &k.keys[i]);
        ASSERT_INT(i, N);
        ASSERT_INT(m.n, 0);
        ASSERT_INT(m.n_entries, 0);
        keys_done(&k);
}

/* The longest run of used slots bounds what one search costs. */
static size_t longest_run(const struct map *m)
{
        size_t longest = 0, run = 0;

        for (size_t i = 0; i < 2 * m->n_slots; i++) {
                run = m->slots[i % m->n_slots] ? run + 1 : 0;
                longest = MAX(longest, run);
        }
        return longest;
}

/* Keys that would collide under a hash whose constants the sender knows: equal but for one half of a sixteen byte block,
 * the other half cancelling the multiplier; halves swapped; long runs of zeros. */
TEST(hostile_keys_do_not_pile_up)
{
        enum { N = 4096 };
        static const uint64_t constants[] = { 0x9e3779b97f4a7c15u, 0xd1b54a32d192ed03u, 0, UINT64_MAX };

        for (size_t c = 0; c < ARRAY_SIZE(constants); c++) {
                for (int half = 0; half < 2; half++) {
                        _cleanup_map_ struct map m = { 0 };
                        _cleanup_free_ uint64_t(*keys)[2] = xmalloc(N * sizeof(*keys));

                        for (uint64_t i = 0; i < N; i++) {
                                keys[i][half] = constants[c];
                                keys[i][!half] = i << 32;
                                ASSERT(map_add(&m, str_make((const char *)keys[i], 16), as_value(i + 1)));
                        }
                        for (uint64_t i = 0; i < N; i++)
                                ASSERT(map_get(&m, str_make((const char *)keys[i], 16)) == as_value(i + 1));
                        ASSERT(longest_run(&m) < 200);
                }
        }
}

TEST(keys_of_zeros_of_every_length)
{
        enum { N = 2000 };
        _cleanup_map_ struct map m = { 0 };
        _cleanup_free_ char *zeros = xcalloc(1, N);

        for (size_t i = 0; i < N; i++)
                ASSERT(map_add(&m, str_make(zeros, i), as_value(i + 1)));
        for (size_t i = 0; i < N; i++)
                ASSERT(map_get(&m, str_make(zeros, i)) == as_value(i + 1));
        ASSERT(longest_run(&m) < 200);
}

TEST(numbers_as_keys)
{
        enum { N = 5000 };
        static const uint64_t edges[] = { 0, 1, UINT32_MAX, (uint64_t)UINT32_MAX + 1, INT64_MAX, UINT64_MAX };
        _cleanup_u64_map_ struct u64_map m = { 0 };
        const struct map_entry *e;
        uint64_t i = 0;

        ASSERT(!u64_map_get(&m, 0));
        for (i = 0; i < ARRAY_SIZE(edges); i++)
                ASSERT(u64_map_add(&m, edges[i], as_value(i + 1)));
        for (e = map_first(&m.map), i = 0; e; e = map_next(&m.map, e), i++)
                ASSERT(u64_map_key(e) == edges[i] && e->value == as_value(i + 1));
        ASSERT_INT(i, ARRAY_SIZE(edges));
        for (i = 0; i < ARRAY_SIZE(edges); i++) {
                ASSERT(!u64_map_add(&m, edges[i], as_value(9)));
                ASSERT(u64_map_set(&m, edges[i], as_value(i + 10)) == as_value(i + 1));
                ASSERT(u64_map_remove(&m, edges[i]) == as_value(i + 10));
                ASSERT(!u64_map_remove(&m, edges[i]));
                ASSERT(!u64_map_has(&m, edges[i]));
        }
        for (i = 0; i < N; i++)
                ASSERT(!u64_map_set(&m, i << 40, as_value(i + 1)));
        for (i = 0; i < N; i++)
                ASSERT(u64_map_has(&m, i << 40) && u64_map_get(&m, i << 40) == as_value(i + 1));
        ASSERT(longest_run(&m.map) < 200);
}
