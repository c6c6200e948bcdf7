/* The internals of a pool of connections: http-pool.c has the line of turns and the addresses, http-link.c an address and its
 * connections. Loop thread only. */
#pragma once

#include "dialer.h"
#include "http-pool.h"
#include "park.h"
#include "random.h"
#include "resolver.h"

enum link_state {
        LINK_CONNECTING, /* until TLS is done and, with HTTP/2, the peer's settings have arrived */
        LINK_READY,
        LINK_DRAINING, /* its requests continue, and it takes no more */
        LINK_CLOSED,   /* freed when its timer is closed */
};

/* One connection. */
struct http_link {
        struct http_link *next;
        struct http_endpoint *endpoint;
        enum link_state state;
        struct stream *stream;        /* while connecting */
        struct http_connection *http; /* after the TLS handshake */
        uv_timer_t timer;             /* runs while waiting for the settings */
        int64_t ready_ns;
        bool is_h1;
        uint64_t used;     /* number of the last turn that it took; 0: none */
        bool has_answered; /* at least one response was complete */
};

/* One address. */
struct http_endpoint {
        struct http_endpoint *next;
        struct http_pool *pool;
        uint64_t serial; /* number within the pool, from 1; never reused, unlike a memory address */
        struct address address;
        struct http_link *links;
        unsigned n_active;   /* connecting or ready */
        unsigned n_failures; /* consecutive */
        uint64_t failed;     /* the pool's n_failures at the last one */
        uv_timer_t timer;    /* runs while backing off */
        bool is_backing_off; /* no new connection is begun */
        bool is_removed; /* the target has this address no more; freed when its last connection and timer are closed */
        bool is_timer_closed;
};

struct http_pool {
        const struct http_target *target;
        struct http_pool_options options;
        struct loop *loop;
        struct completion closed;
        struct http_endpoint *endpoints;
        size_t n_endpoints; /* without the removed ones */
        uint64_t last_serial;
        struct http_turn *first_waiting, *last_waiting;
        size_t n_waiting;
        size_t n_turns;
        uint64_t n_begun;    /* turns that got a connection */
        uint64_t n_failures; /* of connections, all addresses */
        uint64_t n_connected;
        size_t next;              /* round robin */
        bool is_h1;               /* the version of the last connection, or of the next if it is known */
        struct resolver resolver; /* used when the target has a host */
        bool is_resolver_closed;
        struct dialer_user dialing; /* used when there is a dialer */
        bool is_closing;
        bool is_closed;        /* the closing thread was notified; the pool must not be used any more */
        struct err last_error; /* why no connection is ready */
        struct random random;
};

/* --- http-pool.c, for connections --- */

/* Gives connections to waiting turns, and starts connecting or resolving as needed. */
void pool_pump(struct http_pool *p);

/* A connection was lost, or takes no more requests: looks for others. has_failed: the name is resolved again soon. */
void pool_lost(struct http_pool *p, bool has_failed);

/* Notifies the closing thread once the loop holds nothing of the pool. Call it last: the pool may be freed afterwards. */
void pool_finish_close(struct http_pool *p);

/* Appends where the endpoint is, for errors. */
void pool_append_place(const struct http_pool *p, struct buf *b, const struct http_endpoint *e);

/* --- http-link.c --- */

struct http_endpoint *endpoint_new(struct http_pool *p, const struct address *a);

/* Begins a connection; the endpoint must not be backing off. */
void endpoint_connect(struct http_endpoint *e);

/* The most recently used connection that can take a request, or NULL. */
struct http_link *endpoint_ready_link(const struct http_endpoint *e);

/* Lets open requests end, or ends them when the pool is closing; then frees the endpoint. May be called again. */
void endpoint_remove(struct http_endpoint *e);
