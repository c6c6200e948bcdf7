#include "breaker.h"

#include "arena.h"
#include "timetext.h"

#include <stdio.h>

#define COOLDOWN_NS  (300 * NS_PER_SECOND)
#define PROBE_NS     (30 * NS_PER_SECOND)
#define REFILL_PER_S 1

void breaker_done(struct breaker *b)
{
        free(b->sources);
        b->sources = NULL;
}

void breaker_reset(struct breaker *b)
{
        unsigned capacity = b->capacity;

        breaker_done(b);
        *b = (struct breaker) { .capacity = capacity };
}

static unsigned capacity_of(const struct breaker *b)
{
        return b->capacity ? b->capacity : BREAKER_CAPACITY;
}

void breaker_set_capacity(struct breaker *b, unsigned capacity)
{
        unsigned before = capacity_of(b);

        b->capacity = MAX(capacity, (unsigned)BREAKER_CAPACITY);
        if (b->filled_ns && b->capacity > before)
                b->tokens += b->capacity - before;
}

static void refill(struct breaker *b, int64_t now_ns)
{
        if (!b->filled_ns)
                b->tokens = capacity_of(b);
        else
                b->tokens += (double)(now_ns - b->filled_ns) / NS_PER_SECOND * REFILL_PER_S;
        b->tokens = MIN(b->tokens, (double)capacity_of(b));
        b->filled_ns = now_ns;
}

static void remember_source(struct breaker *b, struct str kind, struct str ns, struct str name)
{
        struct breaker_source *s;

        if (!b->sources)
                b->sources = xcalloc(BREAKER_SOURCES, sizeof(*b->sources));
        s = &b->sources[b->n_sources++ % BREAKER_SOURCES];
        snprintf(s->text, sizeof(s->text), "%.*s/%.*s (%.*s)", STR_ARG(kind), STR_ARG(name), STR_ARG(ns));
        s->hash = str_hash(str_from(s->text));
}

/* The most frequent of the last sources; the later one of equals. */
static struct breaker_source most_frequent(const struct breaker *b)
{
        unsigned n = MIN(b->n_sources, (unsigned)BREAKER_SOURCES), most = 0;
        struct breaker_source worst = { 0 };

        for (unsigned i = 0; i < n; i++) {
                const struct breaker_source *s = &b->sources[(b->n_sources - n + i) % BREAKER_SOURCES];
                unsigned count = 0;

                for (unsigned j = 0; j < n; j++)
                        count += b->sources[j].hash == s->hash;
                if (count >= most) {
                        most = count;
                        worst = *s;
                }
        }
        return worst;
}

static void close_if_cool(struct breaker *b, int64_t now_ns)
{
        if (b->opened_ns && now_ns >= breaker_closes_ns(b)) {
                b->opened_ns = 0;
                b->n_sources = 0;
        }
}

static void open_circuit(struct breaker *b, int64_t now_ns)
{
        b->opened_ns = b->allowed_ns = now_ns;
        b->worst = most_frequent(b);
}

enum breaker_verdict breaker_record(struct breaker *b, int64_t now_ns, struct str kind, struct str ns, struct str name)
{
        close_if_cool(b, now_ns);
        refill(b, now_ns);
        remember_source(b, kind, ns, name);
        if (!b->opened_ns) {
                if (b->tokens >= 1)
                        b->tokens--;
                else
                        open_circuit(b, now_ns);
                return BREAKER_PASSES;
        }
        if (now_ns > b->allowed_ns + PROBE_NS) {
                b->allowed_ns = now_ns;
                return BREAKER_PASSES;
        }
        return BREAKER_DROPS;
}

int64_t breaker_closes_ns(const struct breaker *b)
{
        return b->opened_ns + COOLDOWN_NS;
}

struct str breaker_open_source(struct breaker *b, int64_t now_ns, struct arena *a)
{
        close_if_cool(b, now_ns);
        return b->opened_ns ? arena_copy(a, str_from(b->worst.text)) : (struct str) { 0 };
}
