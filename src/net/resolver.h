/* Resolves a host name to addresses, and again after a loss or when enough time has passed. Embedded in its owner, on one loop;
 * loop thread only. */
#pragma once

#include "address.h"
#include "loop.h"

struct resolver;

struct resolver_callbacks {
        /* The addresses are borrowed for the call. */
        void (*on_addresses)(struct resolver *r, const struct address *addresses, size_t n);
        /* The resolution failed; the resolver tries again soon. */
        void (*on_error)(struct resolver *r, const struct err *err);
        /* The last callback, after resolver_close. */
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

/* host and port must outlive the resolver. */
void resolver_init(struct resolver *r, struct loop *l, const char *host, const char *port,
                   const struct resolver_callbacks *callbacks);

/* resolver_start resolves now, unless a resolution is running. resolver_start_soon resolves after a short delay, once for all
 * requests until then. */
void resolver_start(struct resolver *r);
void resolver_start_soon(struct resolver *r);

/* The time since the last resolution; INT64_MAX: there was none. */
int64_t resolver_age_ms(const struct resolver *r);

/* on_closed follows later, not from within this call. */
void resolver_close(struct resolver *r);
