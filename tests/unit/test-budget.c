/* A budget that many accounts share, and the buffers and arenas that draw on it. */
#include "test.h"

#include "arena.h"
#include "budget.h"
#include "buf.h"
#include "err.h"

#define MAX_BYTES (1u << 20)
#define MOST      (MAX_BYTES / 8 * 7)

TEST(large_accounts_leave_a_part_to_small_ones)
{
        struct budget b;
        struct budget_account large = { .budget = &b }, small = { .budget = &b };

        budget_init(&b, MAX_BYTES);
        ASSERT_INT(budget_most(&b), MOST);
        ASSERT(!budget_take(&large, MOST + 1));
        ASSERT(large.has_refused);
        ASSERT_INT(budget_used(&b), 0);
        ASSERT(budget_take(&large, MOST));
        ASSERT(!budget_take(&large, 1));
        ASSERT(budget_take(&small, MAX_BYTES / 8));
        ASSERT(!budget_take(&small, 1)); /* large from here on */
        budget_keep(&large, 100);
        ASSERT_INT(budget_used(&b), 100 + MAX_BYTES / 8);
        budget_keep(&large, 0);
        budget_keep(&small, 0);
        ASSERT_INT(budget_used(&b), 0);
}

TEST(credit_is_used_up_first)
{
        struct budget b;
        struct budget_account a = { .budget = &b }, other = { 0 };

        budget_init(&b, MAX_BYTES);
        ASSERT(budget_reserve(&a, 1000));
        ASSERT_INT(budget_used(&b), 1000);
        ASSERT(budget_take(&a, 600));
        ASSERT(budget_take(&a, 500));
        ASSERT_INT(budget_used(&b), 1100);
        budget_credit(&a, 1100);
        ASSERT(budget_take(&a, 1100));
        ASSERT_INT(budget_used(&b), 1100);
        budget_move(&other, &a);
        budget_keep(&a, 0);
        ASSERT_INT(budget_used(&b), 1100);
        budget_keep(&other, 0);
        ASSERT_INT(budget_used(&b), 0);
}

TEST(without_a_budget_nothing_is_counted)
{
        struct budget_account a = { 0 };

        ASSERT(budget_reserve(&a, SIZE_MAX));
        ASSERT(budget_take(&a, SIZE_MAX));
        ASSERT(budget_force(&a, SIZE_MAX));
        budget_keep(&a, 0);
}

TEST(memory_in_use_is_counted_in_any_case)
{
        struct budget b;
        struct budget_account a = { .budget = &b };

        budget_init(&b, MAX_BYTES);
        ASSERT(!budget_force(&a, 2 * MAX_BYTES));
        ASSERT_INT(budget_used(&b), 2 * MAX_BYTES);
        budget_keep(&a, 0);
        ASSERT_INT(budget_used(&b), 0);
        ASSERT(budget_has_fallen(&b, MAX_BYTES));
        budget_reset_peak(&b);
        ASSERT(!budget_has_fallen(&b, 1));
}

TEST(buffers_are_paid_for)
{
        struct budget b;
        struct budget_account a = { .budget = &b };
        struct buf buf = BUF_INIT(0);

        budget_init(&b, MAX_BYTES);
        buf.account = &a;
        buf_append_repeat(&buf, 'x', MAX_BYTES / 2);
        ASSERT_INT(budget_used(&b), MAX_BYTES / 2);
        buf_append_repeat(&buf, 'x', MAX_BYTES / 4); /* twice as much would not fit, but this does */
        ASSERT(!buf.has_failed && !a.has_refused);
        ASSERT_INT(budget_used(&b), MAX_BYTES / 4 * 3);
        buf_append_repeat(&buf, 'x', MAX_BYTES / 4);
        ASSERT(buf.has_failed && a.has_refused);
        ASSERT_INT(buf.n, MAX_BYTES / 4 * 3);
        buf_done(&buf);
        ASSERT_INT(a.credit_bytes, MAX_BYTES / 4 * 3);
        budget_keep(&a, 0);
}

TEST(arenas_are_paid_for)
{
        _cleanup_err_ struct err err = { 0 };
        struct budget b;
        struct budget_account a = { .budget = &b };
        struct arena arena;

        budget_init(&b, MAX_BYTES);
        arena_init(&arena, "call", 0);
        arena_set_account(&arena, &a);
        arena_alloc(&arena, 100000);
        ASSERT(budget_used(&b) >= 100000);
        ASSERT_INT(arena_check(&arena, &err), 0);
        arena_alloc(&arena, MAX_BYTES);
        ASSERT(budget_used(&b) >= 100000 + MAX_BYTES); /* it is in use, so it counts */
        ASSERT_INT(arena_check(&arena, &err), ERR_LIMIT);
        arena_done(&arena);
        budget_keep(&a, 0);
        ASSERT_INT(budget_used(&b), 0);
}
