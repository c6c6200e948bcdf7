#include "test.h"

#include "vec.h"

#include <fcntl.h>

TEST(push_pop_last_clear)
{
        VEC(int) v = { 0 };

        for (int i = 0; i < 1000; i++) {
                vec_push(&v, i * 3);
                ASSERT_INT(*vec_last(&v), i * 3);
                ASSERT_INT(v.n, i + 1);
                ASSERT(v.capacity >= v.n);
        }
        for (int i = 0; i < 1000; i++)
                ASSERT_INT(v.p[i], i * 3);
        ASSERT_INT(vec_pop(&v), 2997);
        ASSERT_INT(v.n, 999);
        vec_clear(&v);
        ASSERT_INT(v.n, 0);
        ASSERT(v.capacity >= 1000);
        vec_done(&v);
        ASSERT(!v.p && v.n == 0 && v.capacity == 0);
        vec_done(&v);
}

TEST(growth_is_geometric)
{
        VEC(char) v = { 0 };
        size_t moves = 0, capacity = 0;

        for (int i = 0; i < 100000; i++) {
                vec_push(&v, 'x');
                moves += v.capacity != capacity;
                capacity = v.capacity;
        }
        ASSERT(moves < 40);
        ASSERT(v.capacity < 160000);
        vec_done(&v);
}

TEST(pushing_an_element_of_itself)
{
        VEC(int) v = { 0 };

        vec_push(&v, 7);
        for (int i = 0; i < 100; i++)
                vec_push(&v, v.p[0]);
        for (size_t i = 0; i < v.n; i++)
                ASSERT_INT(v.p[i], 7);
        vec_done(&v);
}

TEST(structs_and_reserve)
{
        struct pair {
                int a, b;
        };
        VEC(struct pair) v = { 0 };
        struct pair *before;
        int asked = 0;

        vec_reserve(&v, (asked++, 100u));
        ASSERT_INT(asked, 1); /* the count is evaluated once */
        ASSERT(v.capacity >= 100);
        before = v.p;
        for (int i = 0; i < 100; i++)
                vec_push(&v, (struct pair) { .a = i, .b = -i });
        ASSERT(v.p == before);
        ASSERT_INT(v.p[99].b, -99);
        vec_done(&v);
}

TEST(remove_keeps_the_order)
{
        VEC(int) v = { 0 };

        for (int i = 0; i < 5; i++)
                vec_push(&v, i);
        vec_remove(&v, 0);
        vec_remove(&v, 3);
        vec_remove(&v, 1);
        ASSERT_INT(v.n, 2);
        ASSERT_INT(v.p[0], 1);
        ASSERT_INT(v.p[1], 3);
        vec_done(&v);
}

static void reserve_more_than_there_is(void)
{
        VEC(uint64_t) v = { 0 };

        vec_push(&v, 1);
        vec_reserve(&v, SIZE_MAX);
}

static void reserve_more_bytes_than_there_are(void)
{
        VEC(uint64_t) v = { 0 };

        vec_reserve(&v, SIZE_MAX / 8 + 1);
}

static void pop_from_nothing(void)
{
        VEC(int) v = { 0 };

        vec_pop(&v);
}

static void multiply_beyond_memory(void)
{
        volatile size_t count = SIZE_MAX / 2;

        free(xcalloc(count, 4));
}

TEST(impossible_sizes_end_the_process)
{
        ASSERT_ABORTS(reserve_more_than_there_is);
        ASSERT_ABORTS(reserve_more_bytes_than_there_are);
        ASSERT_ABORTS(multiply_beyond_memory);
        ASSERT_ABORTS(pop_from_nothing);
}

TEST(checked_arithmetic)
{
        size_t n = 42;

        ASSERT(size_add(1, 2, &n) && n == 3);
        ASSERT(!size_add(SIZE_MAX, 1, &n) && n == 3);
        ASSERT(size_mul(1 << 20, 1 << 20, &n) && n == (size_t)1 << 40);
        ASSERT(!size_mul(SIZE_MAX / 2, 3, &n) && n == (size_t)1 << 40);
}

static int closed = -1;

static void remember_close(int *fd)
{
        closed = *fd;
}

TEST(taking_leaves_nothing_behind)
{
        int n = 0;
        int *p = &n, *q = TAKE(p), fd = 5, moved;

        ASSERT(!p && q == &n);
        moved = TAKE_FD(fd);
        ASSERT(moved == 5 && fd == -1);
        {
                _cleanup_(remember_close)
                int scoped = 9;

                ASSERT_INT(closed, -1);
                (void)scoped;
        }
        ASSERT_INT(closed, 9);
        ASSERT_INT(MIN(3, 4), 3);
        ASSERT_INT(MAX(3, 4), 4);
}

TEST(files_are_closed_at_the_end_of_their_scope)
{
        int ends[2];

        ASSERT_INT(pipe(ends), 0);
        {
                _cleanup_close_ int fd = ends[0], none _unused_ = -1;

                ASSERT(fcntl(fd, F_GETFD) >= 0);
        }
        ASSERT(fcntl(ends[0], F_GETFD) < 0);
        close(ends[1]);
}

TEST(memory_of_no_bytes_is_memory)
{
        void *a = xmalloc(0), *b = xcalloc(0, 8);

        ASSERT(a && b && a != b);
        a = xrealloc(a, 0);
        ASSERT(a);
        free(a);
        free(b);
}
