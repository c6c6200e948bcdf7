#include "test.h"

#include "arena.h"
#include "buf.h"
#include "err.h"
#include "limits.h"
#include "random.h"

#include <pthread.h>
#include <stdalign.h>

#if HAS_ASAN
#include <sanitizer/asan_interface.h>
#endif

/* The tests that look at blocks do so in the mode users have; what WEFT_ARENA_DEBUG asked for comes back afterwards. */
struct mode {
        bool was_debug;
};

static struct mode enter_mode(bool debug)
{
        struct arena a;
        struct mode m;

        arena_init(&a, "probe", 0);
        m.was_debug = a.has_own_pieces;
        arena_done(&a);
        arena_set_debug(debug);
        return m;
}

static void leave_mode(struct mode *m)
{
        arena_set_debug(m->was_debug);
}

#define IN_MODE(debug)        \
        _cleanup_(leave_mode) \
        struct mode _mode _unused_ = enter_mode(debug)

TEST(pieces_are_apart_and_aligned)
{
        enum { N = 3000 };
        _cleanup_arena_ struct arena a;
        struct random r;
        struct {
                unsigned char *p;
                size_t n;
        } pieces[N];

        arena_init(&a, "test", 0);
        random_seed(&r, 1);
        for (size_t i = 0; i < N; i++) {
                size_t align = (size_t)1 << random_below(&r, 8), n = random_below(&r, i % 50 ? 200 : 40000);

                pieces[i].p = arena_alloc_aligned(&a, n, align);
                pieces[i].n = n;
                ASSERT((uintptr_t)pieces[i].p % align == 0);
                if (n)
                        memset(pieces[i].p, (int)(i % 251), n);
        }
        for (size_t i = 0; i < N; i++)
                for (size_t k = 0; k < pieces[i].n; k++)
                        ASSERT_INT(pieces[i].p[k], i % 251);
}

TEST(any_type_fits_the_default_alignment)
{
        _cleanup_arena_ struct arena a;

        arena_init(&a, "test", 0);
        for (int i = 0; i < 100; i++) {
                arena_alloc_aligned(&a, 1, 1);
                ASSERT((uintptr_t)arena_alloc(&a, 24) % alignof(uint64_t) == 0);
        }
}

TEST(alignments_beyond_a_block)
{
        _cleanup_arena_ struct arena a;

        arena_init(&a, "test", 0);
        for (size_t align = 1; align <= 1 << 18; align *= 2) {
                char *p = arena_alloc_aligned(&a, 100, align);

                ASSERT((uintptr_t)p % align == 0);
                memset(p, 1, 100);
        }
}

TEST(zeroed_memory_is_zero_even_when_recycled)
{
        struct arena a;

        arena_init(&a, "test", 0);
        memset(arena_alloc(&a, 3000), 0xff, 3000);
        arena_reset(&a);
        {
                char *p = arena_zalloc(&a, 3000), *q = arena_alloc_array(&a, 100, 7);
                const struct err *e = ARENA_NEW(&a, struct err);
                const int *numbers = ARENA_NEW_ARRAY(&a, int, 50);

                for (size_t i = 0; i < 3000; i++)
                        ASSERT_INT(p[i], 0);
                for (size_t i = 0; i < 700; i++)
                        ASSERT_INT(q[i], 0);
                ASSERT(e->code == 0 && !e->message);
                ASSERT_INT(numbers[49], 0);
        }
        arena_done(&a);
}

TEST(copies_end_in_nul)
{
        _cleanup_arena_ struct arena a;
        struct str copy;

        arena_init(&a, "test", 0);
        copy = arena_copy(&a, str_make("abcdef", 3));
        ASSERT_STR(copy, STR("abc"));
        ASSERT_INT(copy.p[3], '\0');
        copy = arena_copy(&a, STR_NONE);
        ASSERT(copy.n == 0 && copy.p && copy.p[0] == '\0');
        ASSERT_TEXT(arena_cstring(&a, STR("x")), "x");
        copy = arena_printf(&a, "%s-%d-%.*s", "a", 7, STR_ARG(STR("tail")));
        ASSERT_STR(copy, STR("a-7-tail"));
        ASSERT_INT(copy.p[copy.n], '\0');
        copy = ARENA_CONCAT(&a, STR("a"), STR_NONE, STR("/"), STR("bcd"));
        ASSERT_STR(copy, STR("a/bcd"));
        ASSERT_INT(copy.p[copy.n], '\0');
        copy = arena_concat(&a, NULL, 0);
        ASSERT(copy.n == 0 && copy.p && copy.p[0] == '\0');
}

TEST(budget_exceeded_names_the_limit)
{
        _cleanup_arena_ struct arena a;
        _cleanup_err_ struct err err = { 0 };

        arena_init(&a, "request", 100000);
        ASSERT_INT(arena_check(&a, &err), 0);
        for (int i = 0; i < 80; i++)
                arena_alloc(&a, 1000);
        ASSERT_INT(arena_check(&a, &err), 0);
        for (int i = 0; i < 40; i++)
                arena_alloc(&a, 1000);
        ASSERT_INT(arena_check(&a, NULL), ERR_LIMIT);
        ASSERT_INT(arena_check(&a, &err), ERR_LIMIT);
        ASSERT_TEXT(err_message(&err), "request memory limit of 100000 bytes exceeded");
        ASSERT_INT(err.reason, REASON_REQUEST_ENTITY_TOO_LARGE);
        ASSERT_INT(arena_check(&a, &err), ERR_LIMIT); /* it stays */
        arena_reset(&a);
        ASSERT_INT(arena_check(&a, &err), 0);
        ASSERT_INT(a.budget_bytes, 100000);
        ASSERT_TEXT(a.name, "request");
}

/* In both modes, for pieces of every size: never over the budget with less than the budget minus 4 KiB in use, always over
 * it with more than the budget. */
TEST(budget_is_exact_to_a_small_block)
{
        static const size_t budgets[] = { 20000, 70000, 300000, 1000000 };
        static const size_t sizes[] = { 1, 16, 100, 900, 1500, 3000, 10000, 15000 };

        for (int debug = 0; debug < 2; debug++) {
                IN_MODE(debug);
                for (size_t b = 0; b < ARRAY_SIZE(budgets); b++) {
                        for (size_t s = 0; s < ARRAY_SIZE(sizes); s++) {
                                _cleanup_arena_ struct arena a;
                                size_t asked = 0;

                                if (sizes[s] < 100 && b > 0)
                                        continue;
                                arena_init(&a, "x", budgets[b]);
                                while (!a.is_over_budget) {
                                        arena_alloc_aligned(&a, sizes[s], 1);
                                        asked += sizes[s];
                                        ASSERT(asked <= budgets[b] + sizes[s]);
                                }
                                ASSERT(a.used_bytes > budgets[b]);
                                if (!debug && !HAS_ASAN) /* headers and red zones count, too */
                                        ASSERT(asked + asked / 4 + 4096 + sizes[s] >= budgets[b]);
                        }
                }
        }
}

TEST(a_single_large_piece_is_over_budget)
{
        _cleanup_arena_ struct arena a;

        arena_init(&a, "x", 1 << 20);
        arena_alloc(&a, (1 << 20) - 1000);
        ASSERT_INT(arena_check(&a, NULL), 0);
        arena_alloc(&a, 2000);
        ASSERT_INT(arena_check(&a, NULL), ERR_LIMIT);
}

TEST(without_a_budget_there_is_no_limit)
{
        _cleanup_arena_ struct arena a;

        arena_init(&a, "x", 0);
        for (int i = 0; i < 300; i++)
                arena_alloc(&a, 10000);
        ASSERT_INT(arena_check(&a, NULL), 0);
        ASSERT(a.used_bytes >= 3000000);
}

TEST(blocks_are_recycled)
{
        IN_MODE(false);
        struct arena a;
        void *first, *large;

        arena_trim_cache();
        arena_init(&a, "test", 0);
        first = arena_alloc(&a, 10);
        for (int i = 0; i < 10; i++)
                large = arena_alloc(&a, 1000);
        arena_done(&a);
        arena_init(&a, "again", 0);
        ASSERT(arena_alloc(&a, 10) == first);
        for (int i = 0; i < 9; i++)
                arena_alloc(&a, 1000);
        ASSERT(arena_alloc(&a, 1000) == large);
        arena_done(&a);
        arena_trim_cache();
        arena_trim_cache();
}

TEST(the_cache_of_blocks_is_bounded)
{
        IN_MODE(false);
        struct arena a;

        arena_trim_cache();
        for (int round = 0; round < 2; round++) {
                arena_init(&a, "test", 0);
                for (int i = 0; i < 4 * LIMIT_ARENA_CACHE_BLOCKS * 64; i++)
                        arena_alloc(&a, 1000);
                ASSERT(a.used_bytes >= 4 * LIMIT_ARENA_CACHE_BLOCKS * 64 * 1000);
                arena_done(&a); /* what is beyond the bound goes back to the system: the leak checker would tell */
        }
        arena_trim_cache();
}

TEST(small_requests_cost_little)
{
        IN_MODE(false);
        _cleanup_arena_ struct arena a;

        arena_init(&a, "test", 0);
        ASSERT_INT(a.used_bytes, 0);
        arena_alloc(&a, 100);
        ASSERT(a.used_bytes <= 4096);
}

/* A piece too large for what is left must not strand a block that is nearly empty. */
TEST(large_pieces_leave_the_block_in_use)
{
        IN_MODE(false);
        _cleanup_arena_ struct arena a;
        char *end, *before;

        arena_init(&a, "test", 0);
        arena_alloc(&a, 100);
        for (int i = 0; i < 70; i++)
                arena_alloc(&a, 1000);
        end = a.end;
        before = a.next;
        arena_alloc(&a, 20000);
        arena_alloc(&a, 1000000);
        ASSERT(a.end == end && a.next == before);
}

TEST(shrink_gives_back_the_end_of_the_newest)
{
        IN_MODE(false);
        _cleanup_arena_ struct arena a;
        char *p, *q;

        arena_init(&a, "test", 0);
        p = arena_alloc(&a, 512);
        arena_shrink(&a, p, 512, 8);
        q = arena_alloc(&a, 8);
        ASSERT(q > p && q < p + 512);
        arena_shrink(&a, p, 512, 4); /* no longer the newest: nothing happens */
        ASSERT((char *)arena_alloc(&a, 8) > q);
        memset(p, 1, 8);
        memset(q, 2, 8);
        ASSERT_INT(p[7], 1);
}

TEST(shrinking_a_piece_with_its_own_block)
{
        for (int debug = 0; debug < 2; debug++) {
                IN_MODE(debug);
                _cleanup_arena_ struct arena a;
                char *p;

                arena_init(&a, "test", 0);
                p = arena_alloc(&a, 100000);
                arena_shrink(&a, p, 100000, 10);
                memset(p, 1, 10);
                memset(arena_alloc(&a, 100), 2, 100);
                ASSERT_INT(p[9], 1);
        }
}

struct counted {
        int references;
        char id;
        struct buf *log;
};

static void counted_unref(void *object)
{
        struct counted *c = object;

        c->references--;
        buf_append_char(c->log, c->id);
}

TEST(pins_are_released_newest_first)
{
        _cleanup_buf_ struct buf log = BUF_INIT(0);
        struct counted objects[] = { { 2, 'a', &log }, { 1, 'b', &log }, { 1, 'c', &log } };
        struct arena a;

        arena_init(&a, "test", 0);
        arena_pin(&a, &objects[0], counted_unref);
        arena_alloc(&a, 100000);
        arena_pin(&a, &objects[1], counted_unref);
        arena_pin(&a, &objects[0], counted_unref);
        arena_pin(&a, &objects[2], counted_unref);
        ASSERT_STR(buf_str(&log), STR(""));
        arena_reset(&a);
        ASSERT_STR(buf_str(&log), STR("caba"));
        for (size_t i = 0; i < ARRAY_SIZE(objects); i++)
                ASSERT_INT(objects[i].references, 0);
        arena_reset(&a);
        arena_pin(&a, &objects[1], counted_unref);
        arena_done(&a);
        ASSERT_STR(buf_str(&log), STR("cabab"));
        arena_done(&a);
}

/* The text that an unref reads. It must still be there: the arena frees its memory after the pins. */
static struct str last_words;

static void read_arena_text(void *object)
{
        last_words = *(struct str *)object;
        ASSERT_STR(last_words, STR("still here"));
}

TEST(pinned_objects_may_look_at_the_arena_while_they_go)
{
        _cleanup_arena_ struct arena a;
        struct str text;

        arena_init(&a, "test", 0);
        text = arena_copy(&a, STR("still here"));
        arena_pin(&a, &text, read_arena_text);
        arena_reset(&a);
        ASSERT_INT(last_words.n, 10);
}

TEST(debug_mode_is_chosen_when_an_arena_begins)
{
        IN_MODE(false);
        struct arena a;

        arena_init(&a, "test", 0);
        ASSERT(!a.has_own_pieces);
        arena_alloc(&a, 10);
        arena_set_debug(true);
        arena_alloc(&a, 10);
        ASSERT(!a.has_own_pieces && a.next);
        arena_reset(&a);
        ASSERT(a.has_own_pieces);
        arena_alloc(&a, 10);
        ASSERT(!a.next);
        arena_set_debug(false);
        arena_alloc(&a, 10);
        ASSERT(!a.next);
        arena_done(&a);
}

TEST(debug_mode_gives_each_piece_its_own_memory)
{
        IN_MODE(true);
        _cleanup_arena_ struct arena a;
        size_t before;

        arena_init(&a, "test", 0);
        for (size_t n = 0; n < 200; n++) {
                before = a.used_bytes;
                memset(arena_alloc_aligned(&a, n, (size_t)1 << n % 7), 1, n);
                ASSERT(a.used_bytes >= before + n + 16);
        }
        ASSERT(!a.next);
}

static void *use_arenas(void *p)
{
        for (int i = 0; i < 200; i++) {
                struct arena a;

                arena_init(&a, "thread", 0);
                for (int k = 0; k < 50; k++)
                        memset(arena_alloc(&a, 1000), k, 1000);
                arena_done(&a);
        }
        return NULL;
}

#define HANDED 40

static void *end_arenas(void *arenas)
{
        for (size_t i = 0; i < HANDED; i++)
                arena_done((struct arena *)arenas + i);
        return NULL;
}

/* Under AddressSanitizer malloc would not give the address of a freed block again so soon. */
TEST(blocks_come_back_from_the_thread_that_ended_their_arenas)
{
        IN_MODE(false);
        struct arena arenas[HANDED], a;
        void *handed[HANDED], *p;
        pthread_t thread;
        bool is_known = false;

        for (size_t i = 0; i < HANDED; i++) {
                arena_init(&arenas[i], "handed", 0);
                handed[i] = arena_alloc(&arenas[i], 10);
        }
        arena_trim_cache();
        ASSERT_INT(pthread_create(&thread, NULL, end_arenas, arenas), 0);
        ASSERT_INT(pthread_join(thread, NULL), 0);
        arena_init(&a, "test", 0);
        p = arena_alloc(&a, 10);
        for (size_t i = 0; i < HANDED; i++)
                is_known |= handed[i] == p;
        ASSERT(is_known);
        arena_done(&a);
}

TEST(threads_have_their_own_cache_and_leave_nothing_behind)
{
        pthread_t threads[4];

        for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
                ASSERT_INT(pthread_create(&threads[i], NULL, use_arenas, NULL), 0);
        for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
                ASSERT_INT(pthread_join(threads[i], NULL), 0);
}

static void alloc_too_many(void)
{
        struct arena a;

        arena_init(&a, "test", 0);
        arena_alloc_array(&a, SIZE_MAX / 4, 8);
}

static void alloc_all(void)
{
        struct arena a;

        arena_init(&a, "test", 0);
        arena_alloc(&a, SIZE_MAX - 3);
}

static void shrink_to_more(void)
{
        struct arena a;

        arena_init(&a, "test", 0);
        arena_shrink(&a, arena_alloc(&a, 8), 8, 9);
}

TEST(impossible_sizes_end_the_process)
{
        ASSERT_ABORTS(alloc_too_many);
        ASSERT_ABORTS(alloc_all);
        ASSERT_ABORTS(shrink_to_more);
}

#if HAS_ASAN
static bool is_poisoned(const void *p)
{
        return __asan_address_is_poisoned(p);
}

TEST(everything_but_the_pieces_is_poisoned)
{
        static const size_t sizes[] = { 1, 7, 8, 24, 100, 1000, 3000, 20000 };

        for (int debug = 0; debug < 2; debug++) {
                IN_MODE(debug);
                for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
                        _cleanup_arena_ struct arena a;
                        char *p, *q;

                        arena_init(&a, "test", 0);
                        p = arena_alloc(&a, sizes[i]);
                        q = arena_alloc(&a, sizes[i]);
                        ASSERT(!__asan_region_is_poisoned(p, sizes[i]));
                        ASSERT(!__asan_region_is_poisoned(q, sizes[i]));
                        ASSERT(is_poisoned(p + sizes[i]));
                        ASSERT(is_poisoned(q + sizes[i]));
                        ASSERT(is_poisoned(p - 1));
                        ASSERT(is_poisoned(q - 1));
                }
        }
}

TEST(use_after_reset_is_seen)
{
        for (int debug = 0; debug < 2; debug++) {
                IN_MODE(debug);
                struct arena a;
                char *p, *large;

                arena_init(&a, "test", 0);
                p = arena_alloc(&a, 100);
                large = arena_alloc(&a, 50000);
                arena_reset(&a);
                ASSERT(is_poisoned(p) && is_poisoned(p + 99));
                ASSERT(is_poisoned(large) && is_poisoned(large + 49999));
                p = arena_alloc(&a, 100);
                arena_done(&a);
                ASSERT(is_poisoned(p));
        }
}

TEST(what_was_shrunk_away_is_poisoned)
{
        IN_MODE(false);
        _cleanup_arena_ struct arena a;
        char *p;

        arena_init(&a, "test", 0);
        p = arena_alloc(&a, 100);
        arena_shrink(&a, p, 100, 10);
        ASSERT(!is_poisoned(p + 9));
        ASSERT(is_poisoned(p + 10));
        ASSERT(is_poisoned(p + 99));
}

static volatile char sink;

static void read_after_reset(void)
{
        struct arena a;
        char *p;

        arena_init(&a, "test", 0);
        p = arena_copy(&a, STR("text")).p ? arena_cstring(&a, STR("text")) : NULL;
        arena_reset(&a);
        sink = p[0];
}

static void write_past_a_piece(void)
{
        struct arena a;
        volatile char *p;

        arena_init(&a, "test", 0);
        p = arena_alloc(&a, 24);
        p[24] = 1;
}

TEST(misuse_ends_the_process_in_both_modes)
{
        for (int debug = 0; debug < 2; debug++) {
                IN_MODE(debug);
                ASSERT_ABORTS(read_after_reset);
                ASSERT_ABORTS(write_past_a_piece);
        }
}
#endif

TEST(what_pins_keep_alive_counts_in_the_budget)
{
        _cleanup_buf_ struct buf log = BUF_INIT(0);
        _cleanup_err_ struct err err = { 0 };
        struct counted object = { 1, 'a', &log }, other = { 1, 'b', &log };
        struct arena a;

        arena_init(&a, "pins", 32 << 10);
        arena_pin(&a, &object, counted_unref);
        arena_charge(&a, 20 << 10);
        ASSERT(arena_has_pinned(&a, &object) && !arena_has_pinned(&a, &other));
        ASSERT_INT(arena_check(&a, NULL), 0);
        arena_charge(&a, 20 << 10);
        ASSERT_INT(arena_check(&a, &err), ERR_LIMIT);
        arena_reset(&a);
        ASSERT(!arena_has_pinned(&a, &object));
        ASSERT_INT(a.pinned_bytes, 0);
        ASSERT_INT(arena_check(&a, NULL), 0);
        arena_done(&a);
}

TEST(pieces_of_their_own_take_little)
{
        struct arena a;

        arena_init_pieces(&a, "pieces", 0);
        ASSERT_STR(arena_copy(&a, STR("some text")), STR("some text"));
        ASSERT(a.used_bytes < 100);
        arena_done(&a);
        ASSERT_INT(a.used_bytes, 0);
}
