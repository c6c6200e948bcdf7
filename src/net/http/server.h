/* An HTTP server for HTTP/2 and HTTP/1.1 (chosen by ALPN or, in plain text, by the first bytes); it hands every request to one
 * callback. */
#pragma once

#include "address.h"
#include "http.h"
#include "park.h"

struct budget;
struct http_server;
struct tls_config;

struct http_server_options {
        struct address address; /* port 0: the system chooses */
        struct tls_config *tls; /* NULL: plain text; a reference is taken */
        bool refuses_http1;     /* HTTP/2 only, as gRPC servers do */
        unsigned n_loops;       /* threads that own connections; 0: 1 */
        uint32_t
                max_connections; /* 0: LIMIT_CONNECTIONS, or less if the limit of descriptors is lower. A new connection beyond it
                                  * replaces the longest idle one; when all are busy, the new one is closed at once. At most half of
                                  * them may be connections that have not finished a request yet */
        uint32_t max_exchanges;  /* at a time per connection; 0: LIMIT_EXCHANGES */
        uint32_t max_head_bytes; /* 0: LIMIT_HEAD_BYTES */
        uint32_t window_bytes;   /* 0: LIMIT_WINDOW_BYTES; how much body of one exchange may wait to be consumed */
        int64_t handshake_ms;    /* 0: 10 s; limit for TLS, for the HTTP/2 preface and for each HTTP/1.1 head */
        int64_t stall_ms;        /* 0: 30 s; limit for a peer that does not send or read as it should */
        int64_t idle_ms;         /* 0: 5 min; limit for a connection without exchanges */
        int64_t keepalive_ms;    /* 0: 2 min; pings (HTTP/2) after so long a silence while requests are open */

        struct budget *budget; /* for the memory of requests; may be NULL; much free memory returns to the system */

        /* Called on the loop thread of the connection. It sets ex->callbacks and ex->owner, or resets the exchange. */
        void (*on_request)(void *context, struct exchange *ex);
        void *context;
};

/* Binds, listens and starts. Errors name the address. */
int http_server_new(const struct http_server_options *options, struct http_server **ret, struct err *err);

/* The address where the server listens, with the real port if 0 was given. */
struct address http_server_address(const struct http_server *s);

/* Stops accepting and tells every peer to begin nothing new. Open requests, and requests that the peer has already sent, are
 * served. Any thread; returns at once. */
void http_server_drain(struct http_server *s);

/* Waits until the last connection is gone. */
int http_server_wait(struct http_server *s, struct deadline deadline, struct cancel *cancel);

/* Closes every connection at once; on_request is not called afterwards. */
void http_server_close(struct http_server *s);

/* Closes the server and frees it. NULL is fine. */
void http_server_free(struct http_server *s);

struct http_server_stats {
        size_t n_connections;
        size_t n_exchanges;
        uint64_t n_accepted;
        uint64_t n_refused; /* refused because of max_connections */
        uint64_t n_yielded; /* closed to make place for new ones */
};
struct http_server_stats http_server_stats(struct http_server *s);
