/* Tasks on loops wait in line until a budget has the memory that they need.
 *
 * Small tasks overtake large ones, because a part of the budget is reserved for them. Each loop has its own line, and admits large
 * tasks in the order in which they came, so that no task starves. A line checks the budget every few milliseconds while a task
 * waits in it, because any thread may give memory back. */
#pragma once

#include "budget.h"
#include "loop.h"
#include "park.h"

struct memory_queue;

struct memory_line {
        struct budget *budget;
        int64_t wait_ms; /* the longest time that a task waits in line */
        _Atomic(struct memory_queue *) lines;
};

/* Embedded in the task; its loop only. */
struct memory_ticket {
        struct budget_account *account;
        struct deadline deadline; /* of the task */
        /* The line calls one of these later, never from within memory_line_ask: the memory is reserved, or did not become free in
         * time. */
        void (*on_admitted)(struct memory_ticket *t);
        void (*on_refused)(struct memory_ticket *t);
        struct memory_queue *line; /* NULL unless the ticket waits; this and all below: memory-line.c only */
        struct memory_ticket *next, *prev;
        size_t need_bytes;
        int64_t since_ns;
        bool is_large;
};

enum memory_answer {
        MEMORY_GRANTED, /* the memory is reserved as credit of the account */
        MEMORY_WAITS,   /* a callback follows */
        MEMORY_NEVER,   /* the task needs more than one account may have */
};

void memory_line_init(struct memory_line *a, struct budget *budget, int64_t wait_ms);

/* Must not be called on a loop thread. No ticket may be waiting, and the loops must still run. */
void memory_line_done(struct memory_line *a);

enum memory_answer memory_line_ask(struct memory_line *a, struct loop *l, struct memory_ticket *t, size_t need_bytes);

/* Takes the ticket out of its line; does nothing when it waits in none. */
void memory_line_leave(struct memory_ticket *t);
