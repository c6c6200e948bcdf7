#include "budget.h"

#define SMALL_PART    8    /* 1/8 of the budget is reserved for small accounts */
#define LARGE_ACCOUNT 1024 /* an account beyond 1/1024 of the budget, and beyond LARGE_BYTES, is large */
#define LARGE_BYTES   (128u << 10)

void budget_init(struct budget *b, size_t max_bytes)
{
        b->max_bytes = max_bytes;
        atomic_init(&b->used_bytes, 0);
        atomic_init(&b->peak_bytes, 0);
}

size_t budget_most(const struct budget *b)
{
        return b->max_bytes - b->max_bytes / SMALL_PART;
}

bool budget_is_large(const struct budget *b, size_t bytes)
{
        return bytes > MAX(b->max_bytes / LARGE_ACCOUNT, (size_t)LARGE_BYTES);
}

size_t budget_used(struct budget *b)
{
        return atomic_load_explicit(&b->used_bytes, memory_order_relaxed);
}

bool budget_has_fallen(struct budget *b, size_t by_bytes)
{
        size_t peak = atomic_load_explicit(&b->peak_bytes, memory_order_relaxed), used = budget_used(b);

        return peak >= by_bytes && used <= peak - by_bytes;
}

void budget_reset_peak(struct budget *b)
{
        atomic_store_explicit(&b->peak_bytes, budget_used(b), memory_order_relaxed);
}

/* The peak decides when memory is given back to the system; a lost update only delays that. */
static void note_peak(struct budget *b, size_t used)
{
        if (used > atomic_load_explicit(&b->peak_bytes, memory_order_relaxed))
                atomic_store_explicit(&b->peak_bytes, used, memory_order_relaxed);
}

/* The most bytes that all accounts together may use once this account has taken `bytes` more. */
static size_t limit_of(const struct budget_account *a, size_t bytes)
{
        const struct budget *b = a->budget;

        if (a->is_waiting)
                return b->max_bytes - b->max_bytes / SMALL_PART / 2;
        return budget_is_large(b, a->taken_bytes + bytes) ? budget_most(b) : b->max_bytes;
}

bool budget_reserve(struct budget_account *a, size_t bytes)
{
        struct budget *b = a->budget;
        size_t used, limit, wanted;

        if (!b)
                return true;
        limit = limit_of(a, bytes);
        used = budget_used(b);
        do {
                if (!size_add(used, bytes, &wanted) || wanted > limit)
                        return false;
        } while (!atomic_compare_exchange_weak_explicit(&b->used_bytes, &used, wanted, memory_order_relaxed,
                                                        memory_order_relaxed));
        note_peak(b, wanted);
        a->taken_bytes += bytes;
        a->credit_bytes += bytes;
        return true;
}

bool budget_try(struct budget_account *a, size_t bytes)
{
        if (!a->budget)
                return true;
        if (bytes > a->credit_bytes && !budget_reserve(a, bytes - a->credit_bytes))
                return false;
        a->credit_bytes -= bytes;
        return true;
}

bool budget_take(struct budget_account *a, size_t bytes)
{
        if (LIKELY(budget_try(a, bytes)))
                return true;
        a->has_refused = true;
        return false;
}

bool budget_force(struct budget_account *a, size_t bytes)
{
        size_t more;

        if (budget_take(a, bytes))
                return true;
        more = bytes - a->credit_bytes;
        note_peak(a->budget, atomic_fetch_add_explicit(&a->budget->used_bytes, more, memory_order_relaxed) + more);
        a->taken_bytes += more;
        a->credit_bytes = 0;
        return false;
}

void budget_credit(struct budget_account *a, size_t bytes)
{
        if (!a->budget)
                return;
        assert(bytes <= a->taken_bytes - a->credit_bytes);
        a->credit_bytes += bytes;
}

void budget_keep(struct budget_account *a, size_t bytes)
{
        if (a->taken_bytes > bytes)
                atomic_fetch_sub_explicit(&a->budget->used_bytes, a->taken_bytes - bytes, memory_order_relaxed);
        a->taken_bytes = MIN(a->taken_bytes, bytes);
        a->credit_bytes = 0;
}

void budget_move(struct budget_account *to, struct budget_account *from)
{
        assert(to->taken_bytes == 0);
        *to = *from;
        from->taken_bytes = from->credit_bytes = 0;
}
