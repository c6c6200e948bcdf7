/* A memory budget that many tasks share. Each task has an account: it takes bytes before it uses them and gives them back
 * afterwards.
 *
 * One eighth of a budget is reserved for small accounts, so that a few large tasks that hold memory for a long time cannot block
 * all small tasks. An account that holds more than 1/1024 of the budget, and more than 128 KiB, is large. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "macro.h"

/* Any thread. */
struct budget {
        size_t max_bytes;
        _Atomic size_t used_bytes;
        _Atomic size_t peak_bytes; /* the most that was used since budget_reset_peak */
};

/* The account of one task; one thread at a time. A zeroed account counts nothing. */
struct budget_account {
        struct budget *budget;
        size_t taken_bytes;  /* all bytes that the account holds, credit included */
        size_t credit_bytes; /* reserved and not yet used: takes use it up first */
        bool has_refused;    /* a take did not fit */
        bool is_waiting; /* waits for its reservation: until then, though large, it may use half of the small accounts' part */
};

void budget_init(struct budget *b, size_t max_bytes);

/* The most that one account can ever hold. */
size_t budget_most(const struct budget *b);

bool budget_is_large(const struct budget *b, size_t bytes);
size_t budget_used(struct budget *b);

/* True if the use has fallen by at least by_bytes since the peak. */
bool budget_has_fallen(struct budget *b, size_t by_bytes);
void budget_reset_peak(struct budget *b);

/* Adds to the credit; if the bytes do not fit, changes nothing and returns false. */
bool budget_reserve(struct budget_account *a, size_t bytes);

/* Takes from the credit, then from the budget; false if the bytes do not fit. On failure budget_take also sets has_refused. */
bool budget_try(struct budget_account *a, size_t bytes);
bool budget_take(struct budget_account *a, size_t bytes);

/* Takes the bytes even if they do not fit, for memory that is in use already; false if they did not fit. */
bool budget_force(struct budget_account *a, size_t bytes);

/* The account no longer uses these taken bytes, but they stay reserved for it as credit. */
void budget_credit(struct budget_account *a, size_t bytes);

/* Gives everything beyond these bytes back to the budget. */
void budget_keep(struct budget_account *a, size_t bytes);

/* Moves all bytes of *from to *to, which must hold none. */
void budget_move(struct budget_account *to, struct budget_account *from);
