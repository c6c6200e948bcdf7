/* An HTTP server: listens, speaks HTTP/2 and HTTP/1.1 (told apart by ALPN or, in plain text, by the first bytes), and hands
 * every request to one callback. */
#pragma once

#include "address.h"
#include "http.h"
#include "park.h"

struct http_server;
struct tls_config;

struct http_server_options {
        struct address address;   /* port 0: the system chooses */
        struct tls_config *tls;   /* NULL: plain text; a reference is taken */
        bool refuses_http1;       /* HTTP/2 only, as gRPC servers do */
        unsigned n_loops;         /* threads that own connections; 0: 1 */
        uint32_t max_connections; /* 0: LIMIT_CONNECTIONS; one more is closed as soon as it is accepted */
        uint32_t max_exchanges;   /* at a time per connection; 0: LIMIT_EXCHANGES */
        uint32_t max_head_bytes;  /* 0: LIMIT_HEAD_BYTES */
        uint32_t window_bytes;    /* 0: LIMIT_WINDOW_BYTES; body of one exchange that may wait to be consumed */
        int64_t handshake_ms;     /* 0: 10 s; for TLS, the HTTP/2 preface and each HTTP/1.1 head */
        int64_t stall_ms;         /* 0: 30 s; a peer that neither sends what it owes nor reads what it is sent */
        int64_t idle_ms;          /* 0: 5 min; without exchanges */
        int64_t keepalive_ms;     /* 0: 2 min; of silence while requests are open, then a ping (HTTP/2) */

        /* On the loop thread of the connection. Sets ex->callbacks and ex->owner, or resets the exchange. */
        void (*on_request)(void *context, struct exchange *ex);
        void *context;
};

/* Binds, listens and starts. Errors name the address. */
int http_server_new(const struct http_server_options *options, struct http_server **ret, struct err *err);

/* Where it listens: the real port when 0 was asked for. */
struct address http_server_address(const struct http_server *s);

/* Stops accepting, tells every peer to begin nothing new; requests under way, and those already on the wire, are served. Any
 * thread; returns at once. */
void http_server_drain(struct http_server *s);

/* Waits until the last connection is gone. */
int http_server_wait(struct http_server *s, struct deadline deadline, struct cancel *cancel);

/* Closes every connection at once; afterwards on_request is not called any more. */
void http_server_close(struct http_server *s);

/* The same, and frees it. NULL is fine. */
void http_server_free(struct http_server *s);

struct http_server_stats {
        size_t n_connections;
        size_t n_exchanges;
        uint64_t n_accepted;
        uint64_t n_refused; /* beyond max_connections */
};
struct http_server_stats http_server_stats(struct http_server *s);
