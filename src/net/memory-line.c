#include "memory-line.h"

#include "clock.h"
#include "timetext.h"

#include <stdatomic.h>

#define TICK_MS 5

/* The line of one loop; loop thread only, except `next` and `loop`, which do not change once published. */
struct memory_queue {
        struct memory_queue *next;
        struct memory_line *owner;
        struct loop *loop;
        uv_timer_t timer;
        struct memory_ticket *first, *last;
        struct memory_ticket *cursor; /* the next ticket to check, during a tick */
        size_t n_large;
};

void memory_line_init(struct memory_line *a, struct budget *budget, int64_t wait_ms)
{
        a->budget = budget;
        a->wait_ms = wait_ms;
        atomic_init(&a->lines, NULL);
}

/* The line */

static void join(struct memory_queue *line, struct memory_ticket *t)
{
        t->line = line;
        t->next = NULL;
        t->prev = line->last;
        *(line->last ? &line->last->next : &line->first) = t;
        line->last = t;
        line->n_large += t->is_large;
        t->account->is_waiting = true;
}

void memory_line_leave(struct memory_ticket *t)
{
        struct memory_queue *line = t->line;

        if (!line)
                return;
        if (line->cursor == t)
                line->cursor = t->next;
        *(t->prev ? &t->prev->next : &line->first) = t->next;
        *(t->next ? &t->next->prev : &line->last) = t->prev;
        line->n_large -= t->is_large;
        t->account->is_waiting = false;
        t->line = NULL;
}

static bool reserve(struct memory_ticket *t)
{
        bool has_it;

        t->account->is_waiting = false;
        has_it = budget_reserve(t->account, t->need_bytes);
        t->account->is_waiting = !has_it;
        return has_it;
}

static bool is_out_of_time(const struct memory_queue *line, const struct memory_ticket *t, int64_t now_ns)
{
        return now_ns - t->since_ns > line->owner->wait_ms * NS_PER_MS || deadline_has_passed(t->deadline);
}

/* A large ticket that does not fit holds back the large tickets behind it. Callbacks may change the line; memory_line_leave moves the
 * cursor. */
static void on_tick(uv_timer_t *timer)
{
        struct memory_queue *line = timer->data;
        int64_t now_ns = clock_mono_ns();
        struct memory_ticket *t;
        bool holds_large = false;

        line->cursor = line->first;
        while ((t = line->cursor)) {
                line->cursor = t->next;
                if (is_out_of_time(line, t, now_ns)) {
                        memory_line_leave(t);
                        t->on_refused(t);
                } else if (!(t->is_large && holds_large) && reserve(t)) {
                        memory_line_leave(t);
                        t->on_admitted(t);
                } else {
                        holds_large = holds_large || t->is_large;
                }
        }
        if (!line->first)
                uv_timer_stop(timer);
}

/* Lines */

static struct memory_queue *add_line(struct memory_line *a, struct loop *l)
{
        struct memory_queue *line = xcalloc(1, sizeof(*line));

        line->owner = a;
        line->loop = l;
        uv_timer_init(loop_uv(l), &line->timer);
        line->timer.data = line;
        line->next = atomic_load_explicit(&a->lines, memory_order_relaxed);
        while (!atomic_compare_exchange_weak(&a->lines, &line->next, line))
                ;
        return line;
}

static struct memory_queue *line_of(struct memory_line *a, struct loop *l)
{
        struct memory_queue *line = atomic_load_explicit(&a->lines, memory_order_acquire);

        while (line && line->loop != l)
                line = line->next;
        return line ? line : add_line(a, l);
}

enum memory_answer memory_line_ask(struct memory_line *a, struct loop *l, struct memory_ticket *t, size_t need_bytes)
{
        struct memory_queue *line;

        t->need_bytes = need_bytes;
        t->is_large = budget_is_large(a->budget, t->account->taken_bytes + need_bytes);
        if (need_bytes > budget_most(a->budget) || t->account->taken_bytes > budget_most(a->budget) - need_bytes)
                return MEMORY_NEVER;
        line = line_of(a, l);
        if (!(line->n_large > 0 && t->is_large) && budget_reserve(t->account, need_bytes))
                return MEMORY_GRANTED;
        t->since_ns = clock_mono_ns();
        join(line, t);
        if (!uv_is_active((uv_handle_t *)&line->timer))
                uv_timer_start(&line->timer, on_tick, TICK_MS, TICK_MS);
        return MEMORY_WAITS;
}

static void free_line(uv_handle_t *timer)
{
        free(timer->data);
}

static void end_line(void *arg)
{
        struct memory_queue *line = arg;

        assert(!line->first);
        uv_close((uv_handle_t *)&line->timer, free_line);
}

void memory_line_done(struct memory_line *a)
{
        for (struct memory_queue *line = atomic_load(&a->lines), *next; line; line = next) {
                next = line->next;
                loop_call(line->loop, end_line, line);
        }
        atomic_store(&a->lines, NULL);
}
