/* The connections of a client to all addresses of one target, on the shared client loop.
 *
 * A request takes a turn: it waits in line, first come first served, until a connection can take it, and gets that connection. The
 * pool resolves the target's name, connects, backs off after failures, replaces connections that are lost or drain, and resolves
 * again. It knows nothing of requests and answers: whoever owns the turn begins its exchange on the connection (connection.h), and
 * decides whether a lost request takes another turn.
 *
 * Connections go to addresses in one of two ways. A pool that spreads keeps one connection to every address and uses them in turn.
 * Other pools open as many connections as the requests need, to the first address that accepts them. */
#pragma once

#include "connection.h"
#include "http-target.h"

struct dialer;
struct http_pool;
struct tls_config;

enum http_version {
        HTTP_VERSION_ANY, /* TLS: ALPN chooses, and HTTP/1.1 without ALPN; plain text: HTTP/1.1 */
        HTTP_VERSION_1,
        HTTP_VERSION_2, /* plain text: with prior knowledge */
};

/* All limits and times must be set, unless 0 has a meaning. */
struct http_pool_options {
        struct tls_config *tls; /* NULL: plain text; a reference is taken */
        struct dialer
                *dialer; /* makes the sockets; the target then only names the peer. NULL: none; a reference is taken */
        enum http_version version;
        bool spreads;
        unsigned max_h1_connections; /* connecting or ready at a time; ignored when it spreads */
        unsigned max_h2_connections;
        uint32_t max_head_bytes;
        uint32_t window_bytes;
        int64_t connect_ms; /* one attempt: TCP, TLS and the HTTP/2 settings */
        int64_t backoff_ms; /* the first pause, growing by 1.6 with 20 % jitter */
        int64_t max_backoff_ms;
        int64_t head_ms;      /* a head, from its first byte to its last; 0: stall_ms */
        int64_t stall_ms;     /* closes a connection whose peer does not read or answer pings for so long */
        int64_t keepalive_ms; /* HTTP/2 pings after so long without input while requests are open */
        int64_t idle_ms;      /* closes a connection without requests; 0: never */
        int64_t resolve_ms;   /* the shortest time between two resolutions while nothing was lost */
};

/* One request's place in the pool, embedded in the request. Loop thread only. */
struct http_turn {
        /* The connection has a slot for the request; the owner begins the exchange now. The turn is out of the line. */
        void (*on_connection)(struct http_turn *t, struct http_connection *c);
        /* Only with fails_fast: no address can be reached, and no attempt is in progress. The turn is out of the line; the owner
         * leaves the pool now or later. */
        void (*on_failed)(struct http_turn *t, const struct err *err);
        bool fails_fast;     /* false: the turn waits until the owner leaves */
        bool awaits_attempt; /* with fails_fast: fail only after every address was tried again, not by earlier failures */
        uint64_t place;      /* set before on_connection: number of the connection's address */
        bool is_reused;      /* set before on_connection: the connection has had requests before */
        bool is_h2;          /* set before on_connection */
        uint64_t avoid; /* the owner sets it to the place of a lost request, to get another address if there is one */
        struct http_turn *next, *prev; /* this and all below: http-pool.c only */
        bool is_waiting;
        uint64_t since;
};

/* Takes a reference on the shared client loop. The target and its strings must outlive the pool. Nothing is resolved or connected
 * before the first turn. Not on the loop thread. */
int http_pool_new(const struct http_target *target, const struct http_pool_options *options, struct http_pool **ret,
                  struct err *err);

/* Closes the connections, waits until every turn has left, and frees the pool. Not on the loop thread. NULL is fine. */
void http_pool_free(struct http_pool *p);

struct loop *http_pool_loop(const struct http_pool *p);

/* --- Loop thread only --- */

/* Every turn enters once, waits any number of times and leaves once. The pool may be freed after the last turn has left. Leaving
 * gives up a waiting turn; an exchange of the turn must have been closed before. */
void http_pool_enter(struct http_pool *p, struct http_turn *t);
void http_pool_wait(struct http_pool *p, struct http_turn *t);
void http_pool_leave(struct http_pool *p, struct http_turn *t);

bool http_pool_is_closing(const struct http_pool *p);

/* Sets err to the reason why a turn gets no connection, if it is known. */
void http_pool_explain(const struct http_pool *p, struct err *err);

struct http_pool_stats {
        size_t n_addresses;   /* resolved */
        size_t n_ready;       /* connections that take requests */
        size_t n_connections; /* all, with those that connect or drain */
        size_t n_turns;       /* open */
        uint64_t n_connected; /* connections that became ready, since the start */
};
struct http_pool_stats http_pool_stats(struct http_pool *p); /* any thread */
