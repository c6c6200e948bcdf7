/* Finds the addresses behind a name, and again when something was lost or enough time has passed. Embedded in its owner, on one loop;
 * loop thread only. */
#pragma once

#include "address.h"
#include "loop.h"

struct resolver;

struct resolver_callbacks {
        /* The addresses, borrowed for the call. */
        void (*on_addresses)(struct resolver *r, const struct address *addresses, size_t n);
        /* Nothing was found out; it will be tried again soon. */
        void (*on_error)(struct resolver *r, const struct err *err);
        /* Last, after resolver_close. */
        void (*on_closed)(struct resolver *r);
};

struct resolver {
        const struct resolver_callbacks *callbacks;
        struct loop *loop;
        const char *host, *port;
        uv_getaddrinfo_t request;
        uv_timer_t timer;
        int64_t resolved_ns; /* when the last resolution began or ended; 0: never */
        bool is_resolving;
        bool is_planned;
        bool is_closing;
        bool is_timer_closed;
        bool is_closed;
};

/* host and port outlive it. */
void resolver_init(struct resolver *r, struct loop *l, const char *host, const char *port,
                   const struct resolver_callbacks *callbacks);

/* Resolves now, unless it is doing so; soon: in a moment, once for all who ask until then. */
void resolver_start(struct resolver *r);
void resolver_start_soon(struct resolver *r);

/* How long ago the last one was; INT64_MAX: never. */
int64_t resolver_age_ms(const struct resolver *r);

/* on_closed follows, not from within the call. */
void resolver_close(struct resolver *r);
