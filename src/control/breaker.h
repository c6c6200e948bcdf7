/* A circuit breaker for one key: events that come too often run the key only now and then (docs/spec/engine 1.11).
 *
 * It is a bucket of tokens that refills by one each second. An event takes a token; without one the circuit opens. While it is open,
 * one event in 30 seconds passes. Five minutes after it opened it closes again. Functions of the time they are given; the owner
 * synchronises. */
#pragma once

#include "str.h"

struct arena;

#define BREAKER_CAPACITY 100
#define BREAKER_SOURCES  16

struct breaker_source {
        uint64_t hash;
        char text[120]; /* `KIND/NAME (NAMESPACE)`, cut if it is longer */
};

struct breaker {
        double tokens;
        unsigned capacity; /* 0: BREAKER_CAPACITY */
        int64_t filled_ns;
        int64_t opened_ns; /* 0: closed */
        int64_t allowed_ns;
        struct breaker_source worst;
        struct breaker_source *sources; /* the last ones, heap; NULL: none yet */
        unsigned n_sources;             /* recorded so far, also those that are overwritten */
};

void breaker_done(struct breaker *b);
void breaker_reset(struct breaker *b);

/* The number of events that may come at once. */
void breaker_set_capacity(struct breaker *b, unsigned capacity);

enum breaker_verdict {
        BREAKER_PASSES,
        BREAKER_DROPS, /* the owner runs the key at breaker_closes_ns */
};

enum breaker_verdict breaker_record(struct breaker *b, int64_t now_ns, struct str kind, struct str ns, struct str name);

/* The time when an open circuit closes. */
int64_t breaker_closes_ns(const struct breaker *b);

/* The source of most of the last events if the circuit is open, else "". It closes a circuit whose time is over. */
struct str breaker_open_source(struct breaker *b, int64_t now_ns, struct arena *a);
