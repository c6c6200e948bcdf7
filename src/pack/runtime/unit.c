#include "unit.h"

#include <stdio.h>

#include "clock.h"
#include "timetext.h"

#define MAX_BACKOFF_MS 60000
#define MAX_GAP_MS     4000  /* the longest pause of a program that has answered: calls wait for it, but not for long */
#define GOOD_MS        60000 /* a program that answered for so long begins with the first pause again */
#define LOOK_MS        50    /* between two looks at the connections of a program that drains */

static void start_slot(struct slot *s);
static void settle(struct unit *u);

static void tell_changed(struct unit *u)
{
        struct runtime *base = &u->runtime->base;

        if (base->on_change && !u->runtime->is_closing)
                base->on_change(base->context, str_from(u->revision));
}

static void set_state(struct slot *s, enum slot_state state)
{
        mutex_lock(&s->unit->runtime->mutex);
        s->state = state;
        mutex_unlock(&s->unit->runtime->mutex);
}

/* --- The end of a slot --- */

static void on_timer_closed(uv_handle_t *h)
{
        struct slot *s = h->data;
        struct process_runtime *r = s->unit->runtime;

        program_unref(s->program);
        free(s);
        if (--r->n_slots == 0 && r->is_closing)
                completion_complete(&r->closed);
}

static void free_slot(struct slot *s)
{
        struct slot **at = &s->unit->slots;

        assert(!s->process && !s->is_freed);
        mutex_lock(&s->unit->runtime->mutex);
        while (*at != s)
                at = &(*at)->next;
        *at = s->next;
        mutex_unlock(&s->unit->runtime->mutex);
        s->is_freed = true;
        uv_close((uv_handle_t *)&s->timer, on_timer_closed);
}

static void on_term_over(uv_timer_t *t)
{
        struct slot *s = t->data;

        if (s->process)
                process_kill(s->process);
}

static void end_slot(struct slot *s)
{
        set_state(s, SLOT_ENDING);
        process_terminate(s->process);
        uv_timer_start(&s->timer, on_term_over, (uint64_t)s->unit->runtime->options.term_ms, 0);
}

/* Looks whether the program still has connections. Two looks must see none: a socket may be on its way. */
static void on_look(uv_timer_t *t)
{
        struct slot *s = t->data;
        int64_t age_ns = clock_mono_ns() - s->drain_ns;
        bool is_quiet = gate_count(process_gate(s->process)) == 0;

        if ((is_quiet && s->was_quiet) || age_ns >= s->unit->runtime->options.drain_ms * NS_PER_MS) {
                end_slot(s);
                return;
        }
        s->was_quiet = is_quiet;
        uv_timer_start(t, on_look, LOOK_MS, 0);
}

/* The slot is no longer wanted. */
static void retire(struct slot *s)
{
        enum slot_state was = s->state;

        if (was == SLOT_DRAINING || was == SLOT_ENDING)
                return;
        if (was == SLOT_RESTING) {
                free_slot(s);
                return;
        }
        if (was == SLOT_STARTING || !s->program->answers_calls) {
                end_slot(s);
                return;
        }
        set_state(s, SLOT_DRAINING);
        s->drain_ns = clock_mono_ns();
        uv_timer_start(&s->timer, on_look, LOOK_MS, 0);
}

/* --- A run --- */

static void on_rested(uv_timer_t *t)
{
        start_slot(t->data);
}

/* The run is over, or has not begun: waits, longer each time. */
static void rest(struct slot *s, const char *why)
{
        struct process_runtime *r = s->unit->runtime;
        int64_t pause_ms = r->options.backoff_ms,
                max_ms = s->ready_ns && s->program->answers_calls ? MAX_GAP_MS : MAX_BACKOFF_MS;

        if (s->ready_ns && clock_mono_ns() - s->ready_ns >= GOOD_MS * NS_PER_MS)
                s->n_failures = 0;
        for (unsigned i = 0; i < s->n_failures && pause_ms < max_ms; i++)
                pause_ms *= 2;
        pause_ms = MIN(pause_ms, max_ms);
        s->n_failures++;
        s->ready_ns = 0;
        mutex_lock(&r->mutex);
        s->state = SLOT_RESTING;
        snprintf(s->message, sizeof(s->message), "%s; it is started again after %lld.%lld s", why,
                 (long long)(pause_ms / 1000), (long long)(pause_ms % 1000 / 100));
        mutex_unlock(&r->mutex);
        uv_timer_start(&s->timer, on_rested, (uint64_t)pause_ms, 0);
}

static void on_ready(struct process *p)
{
        struct slot *s = process_owner(p);

        if (s->state != SLOT_STARTING)
                return;
        s->ready_ns = clock_mono_ns();
        set_state(s, SLOT_READY);
        settle(s->unit);
        tell_changed(s->unit);
}

static void on_line(struct process *p, struct str line)
{
        struct slot *s = process_owner(p);
        const struct process_runtime_options *o = &s->unit->runtime->options;

        if (o->on_log)
                o->on_log(o->log_context, str_from(s->unit->revision), line);
        else
                fprintf(stderr, "%s: %.*s\n", s->unit->revision, STR_ARG(line));
}

static void on_ended(struct process *p, const char *why)
{
        struct slot *s = process_owner(p);
        struct unit *u = s->unit;
        bool is_wanted = s->state == SLOT_STARTING || s->state == SLOT_READY;

        mutex_lock(&u->runtime->mutex);
        s->process = NULL;
        mutex_unlock(&u->runtime->mutex);
        uv_timer_stop(&s->timer);
        if (is_wanted && !u->runtime->is_closing)
                rest(s, why);
        else
                free_slot(s);
        if (u->runtime->is_closing)
                return;
        settle(u);
        tell_changed(u);
}

static const struct process_callbacks callbacks = { .on_ready = on_ready, .on_line = on_line, .on_ended = on_ended };

static void start_slot(struct slot *s)
{
        struct process_runtime *r = s->unit->runtime;
        _cleanup_err_ struct err err = { 0 };
        struct process *p = NULL;
        char name[64];

        snprintf(name, sizeof(name), "%d-%llu", (int)getpid(), (unsigned long long)++r->n_started);
        if (process_start(r->loop, s->program, str_from(name), &callbacks, s, &p, &err) < 0) {
                rest(s, err_message(&err));
                tell_changed(s->unit);
                return;
        }
        mutex_lock(&r->mutex);
        s->process = p;
        s->state = SLOT_STARTING;
        mutex_unlock(&r->mutex);
}

static void add_slot(struct unit *u, struct program *program)
{
        struct slot *s = xcalloc(1, sizeof(*s));

        s->unit = u;
        s->program = program_ref(program);
        s->state = SLOT_RESTING;
        uv_timer_init(loop_uv(u->runtime->loop), &s->timer);
        s->timer.data = s;
        u->runtime->n_slots++;
        mutex_lock(&u->runtime->mutex);
        s->next = u->slots;
        u->slots = s;
        mutex_unlock(&u->runtime->mutex);
        start_slot(s);
}

/* --- Making the wish true --- */

static bool is_wanted_slot(const struct slot *s)
{
        return s->state == SLOT_STARTING || s->state == SLOT_READY || s->state == SLOT_RESTING;
}

/* Retires slots of other programs, or the last ones of this program beyond n. Returns whether there was one. */
static bool retire_others(struct unit *u, const struct program *program, unsigned n)
{
        unsigned n_kept = 0;
        bool found = false;

        for (struct slot *s = u->slots, *next; s; s = next) {
                next = s->next;
                if (!is_wanted_slot(s))
                        continue;
                if (s->program == program && n_kept < n) {
                        n_kept++;
                        continue;
                }
                retire(s);
                found = true;
        }
        return found;
}

static void update_dialer(struct unit *u, bool has_changed)
{
        unsigned n_ready = 0;

        for (struct slot *s = u->slots; s; s = s->next)
                n_ready += s->state == SLOT_READY;
        if (n_ready > 0 && n_ready != u->width) {
                u->width = n_ready;
                dialer_set_width(u->dialer, n_ready);
                has_changed = true;
        }
        if (has_changed)
                dialer_renew(u->dialer);
}

static void settle(struct unit *u)
{
        unsigned n = 0, n_ready = 0, n_wanted;
        struct program *program;
        bool has_retired = false;

        if (u->runtime->is_closing)
                return;
        mutex_lock(&u->runtime->mutex);
        program = u->program ? program_ref(u->program) : NULL;
        n_wanted = program ? u->n_replicas : 0;
        mutex_unlock(&u->runtime->mutex);
        for (struct slot *s = u->slots; s; s = s->next)
                if (s->program == program && is_wanted_slot(s)) {
                        n++;
                        n_ready += s->state == SLOT_READY;
                }
        for (; n < n_wanted; n++)
                add_slot(u, program);
        if (n_ready >= n_wanted)
                has_retired = retire_others(u, program, n_wanted);
        update_dialer(u, has_retired);
        program_unref(program);
}

static void on_task(struct loop_task *t)
{
        struct unit *u = CONTAINER_OF(t, struct unit, task);

        mutex_lock(&u->runtime->mutex);
        u->is_posted = false;
        mutex_unlock(&u->runtime->mutex);
        settle(u);
        tell_changed(u);
}

void unit_settle_soon(struct unit *u)
{
        if (u->is_posted)
                return;
        u->is_posted = true;
        loop_post(u->runtime->loop, &u->task);
}

/* --- Units --- */

static int dial(void *context, int *ret_fd, struct err *err)
{
        const struct unit *u = context;

        return runtime_dial(&u->runtime->base, str_from(u->revision), ret_fd, err);
}

static const struct dialer_ops dialer_ops = { .dial = dial };

struct unit *unit_get(struct process_runtime *r, struct str revision)
{
        struct unit *u = map_get(&r->units, revision);

        if (u)
                return u;
        u = xcalloc(1, sizeof(*u));
        u->runtime = r;
        u->revision = str_to_cstring(revision);
        u->dialer = dialer_new(&dialer_ops, u);
        u->task.run = on_task;
        u->width = 1;
        map_set(&r->units, str_from(u->revision), u);
        return u;
}

struct program_gate *unit_choose_gate(struct unit *u)
{
        struct slot *chosen = NULL;
        unsigned n_ready = 0, at = 0;

        for (struct slot *s = u->slots; s; s = s->next)
                n_ready += s->state == SLOT_READY && s->process;
        if (n_ready == 0)
                return NULL;
        at = u->n_dialed++ % n_ready;
        for (struct slot *s = u->slots; s; s = s->next)
                if (s->state == SLOT_READY && s->process && at-- == 0)
                        chosen = s;
        return gate_ref(process_gate(chosen->process));
}

void unit_describe(const struct unit *u, struct arena *a, struct runtime_state *ret)
{
        const struct slot *resting = NULL;
        bool is_ready = false;

        for (const struct slot *s = u->slots; s; s = s->next) {
                is_ready |= s->state == SLOT_READY;
                if (s->state == SLOT_RESTING && s->program == u->program)
                        resting = s;
        }
        ret->message = STR("");
        if (resting && resting->message[0])
                ret->message = arena_copy(a, str_from(resting->message));
        if (is_ready) {
                ret->phase = RUNTIME_READY;
        } else if (ret->message.n) {
                ret->phase = RUNTIME_FAILED;
        } else {
                ret->phase = RUNTIME_STARTING;
                ret->message = !u->program          ? STR("it is not wanted")
                               : u->n_replicas == 0 ? STR("no program runs: replicas is 0 in the runtime config")
                                                    : STR("the program does not answer yet");
        }
}

void unit_free(struct unit *u)
{
        assert(!u->slots);
        program_unref(u->program);
        dialer_unref(u->dialer);
        free(u->revision);
        free(u);
}

void unit_kill(struct unit *u)
{
        for (struct slot *s = u->slots, *next; s; s = next) {
                next = s->next;
                uv_timer_stop(&s->timer);
                if (s->process)
                        process_kill(s->process);
                else
                        free_slot(s);
        }
}
