#include "test.h"

#include "arena.h"
#include "buf.h"
#include "err.h"
#include "limits.h"

#include <wchar.h>

TEST(appends_in_order)
{
        _cleanup_buf_ struct buf b;

        buf_init(&b, 0);
        ASSERT_INT(buf_str(&b).n, 0);
        buf_append_literal(&b, "one ");
        buf_append_str(&b, STR("two "));
        buf_append(&b, "three", 5);
        buf_append_char(&b, ' ');
        buf_append_repeat(&b, '-', 3);
        buf_append_repeat(&b, '+', 0);
        buf_append(&b, NULL, 0);
        buf_append_str(&b, STR_NONE);
        buf_appendf(&b, " %s %d %05.1f", "f", -3, 2.25);
        buf_appendf(&b, "%s", "");
        ASSERT_STR(buf_str(&b), STR("one two three --- f -3 002.2"));
        ASSERT_TEXT(buf_cstring(&b), "one two three --- f -3 002.2");
        ASSERT_INT(buf_check(&b, "text", NULL), 0);
}

TEST(integers)
{
        static const struct {
                int64_t number;
                const char *text;
        } cases[] = {
                { 0, "0" },
                { 9, "9" },
                { 10, "10" },
                { -1, "-1" },
                { -10, "-10" },
                { 1234567890123456789, "1234567890123456789" },
                { INT64_MAX, "9223372036854775807" },
                { INT64_MIN, "-9223372036854775808" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_buf_ struct buf b = BUF_INIT(0);

                buf_append_int(&b, cases[i].number);
                ASSERT_STR(buf_str(&b), str_from(cases[i].text));
        }
        {
                _cleanup_buf_ struct buf b = BUF_INIT(0);

                buf_append_uint(&b, UINT64_MAX);
                ASSERT_STR(buf_str(&b), STR("18446744073709551615"));
        }
}

TEST(the_maximum_is_exact_and_failure_is_sticky)
{
        for (size_t max = 1; max < 300; max++) {
                _cleanup_buf_ struct buf b = BUF_INIT(max);
                _cleanup_err_ struct err err = { 0 };
                char wanted[64];

                for (size_t i = 0; i < max; i++)
                        buf_append_char(&b, 'x');
                ASSERT(!b.has_failed);
                ASSERT_INT(buf_check(&b, "answer", &err), 0);
                ASSERT_INT(strlen(buf_cstring(&b)), max); /* the NUL is not counted */
                buf_append_char(&b, 'y');
                ASSERT(b.has_failed);
                ASSERT_INT(b.n, max);
                b.n = 0; /* room again, yet nothing goes in */
                buf_append_char(&b, 'z');
                buf_append_literal(&b, "z");
                buf_append_repeat(&b, 'z', 1);
                buf_append_int(&b, 1);
                buf_appendf(&b, "z");
                ASSERT(!buf_reserve(&b, 1));
                ASSERT_INT(b.n, 0);
                ASSERT_INT(buf_check(&b, "answer", &err), ERR_LIMIT);
                snprintf(wanted, sizeof(wanted), "answer is larger than the limit of %zu bytes", max);
                ASSERT_TEXT(err_message(&err), wanted);
                buf_clear(&b);
                ASSERT(!b.has_failed);
                buf_append_char(&b, 'a');
                ASSERT_STR(buf_str(&b), STR("a"));
        }
}

TEST(an_append_goes_in_whole_or_not_at_all)
{
        _cleanup_buf_ struct buf b = BUF_INIT(10);

        buf_append_literal(&b, "12345678");
        buf_append_literal(&b, "abc");
        ASSERT(b.has_failed);
        ASSERT_TEXT(buf_cstring(&b), "12345678");
        buf_clear(&b);
        buf_appendf(&b, "%s", "1234567890"); /* full to the last byte */
        ASSERT(!b.has_failed);
        ASSERT_STR(buf_str(&b), STR("1234567890"));
        buf_clear(&b);
        buf_appendf(&b, "%s", "12345678901");
        ASSERT(b.has_failed);
        ASSERT_INT(b.n, 0);
        buf_clear(&b);
        buf_append_repeat(&b, 'x', SIZE_MAX);
        ASSERT(b.has_failed && b.n == 0);
        buf_clear(&b);
        buf_append_literal(&b, "x");
        ASSERT(!buf_reserve(&b, SIZE_MAX)); /* the sum overflows */
        ASSERT(b.has_failed);
}

TEST(a_buffer_without_a_maximum_has_the_common_one)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        _cleanup_err_ struct err err = { 0 };

        ASSERT(!buf_reserve(&b, LIMIT_BUFFER_BYTES + 1));
        ASSERT_INT(buf_check(&b, "x", &err), ERR_LIMIT);
        ASSERT_TEXT(err_message(&err), "x is larger than the limit of 1073741824 bytes");
        ASSERT_INT(b.capacity, 0); /* refused before anything was taken */
}

/* vsnprintf refuses texts beyond INT_MAX and, which is quicker to show, wide characters that the C locale lacks. */
TEST(a_text_that_cannot_be_formatted_is_a_failure)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        buf_append_literal(&b, "x");
        buf_appendf(&b, "%lc", (wint_t)0x20ac);
        ASSERT(b.has_failed);
        ASSERT_STR(buf_str(&b), STR("x"));
}

TEST(reserve_gives_room_behind_the_end)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        buf_append_literal(&b, "abc");
        ASSERT(buf_reserve(&b, 10000));
        memset(b.p + b.n, 'x', 10000);
        b.n += 10000;
        ASSERT_INT(b.n, 10003);
        ASSERT(b.capacity >= b.n);
        ASSERT(str_starts_with(buf_str(&b), STR("abcx")));
}

TEST(growth_is_geometric)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        size_t moves = 0, capacity = 0;

        for (int i = 0; i < 200000; i++) {
                buf_append_char(&b, 'x');
                moves += b.capacity != capacity;
                capacity = b.capacity;
        }
        ASSERT(moves < 20);
        ASSERT(b.capacity < 500000);
}

TEST(moving_out)
{
        _cleanup_buf_ struct buf b = BUF_INIT(5);
        _cleanup_arena_ struct arena a;
        _cleanup_free_ char *taken = NULL, *nothing = NULL;
        struct str copy;

        arena_init(&a, "test", 0);
        buf_append_literal(&b, "abc");
        copy = buf_to_arena(&b, &a);
        ASSERT_STR(copy, STR("abc"));
        ASSERT_INT(copy.p[3], '\0');
        ASSERT_INT(b.n, 0);
        buf_append_literal(&b, "defgh");
        taken = buf_take(&b);
        ASSERT_TEXT(taken, "defgh");
        ASSERT(!b.p && b.n == 0 && b.capacity == 0);
        nothing = buf_take(&b);
        ASSERT_TEXT(nothing, "");
        ASSERT_TEXT(buf_cstring(&b), "");
        buf_append_literal(&b, "123456");
        ASSERT(b.has_failed); /* the maximum stays */
        buf_done(&b);
        buf_append_literal(&b, "12345");
        ASSERT_TEXT(buf_cstring(&b), "12345");
}
