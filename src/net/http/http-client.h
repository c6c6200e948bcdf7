/* An HTTP client for one target, HTTP/1.1 and HTTP/2, shared by many threads. Calls block in park: deadline and cancel token end
 * them at any point.
 *
 * A request is opened; its response's head comes back; the body is read in pieces or whole. Bodies stream both ways with
 * back-pressure: a response that is not read stops the server, and a producer is asked only when there is room. Redirects,
 * credentials and retries of answers are the caller's.
 *
 *     r = http_client_open(c, &(struct http_request) { .method = STR("GET"), .path = STR("/v2/"), .deadline = d }, &response, err);
 *     while (r >= 0 && (r = http_response_read(response, d, NULL, &piece, err)) > 0)
 *             ...
 *     http_response_free(response);
 *
 * Code on the client loop uses the pool of connections below the client directly (http-pool.h), as gRPC does. */
#pragma once

#include "http-pool.h"
#include "park.h"

struct http_client; /* counted; any thread */

/* 0 in a limit or time means the value in its comment. */
struct http_client_options {
        /* For https. NULL: the system's authorities, no client certificate. A reference is taken. Its offers_http1 and
         * refuses_http2 decide what ALPN offers; they must agree with version. */
        struct tls_config *tls;
        const char
                *authority; /* NULL: the target's host and port; sent to the server, and its host is verified by TLS */
        const char *proxy;  /* `host:port` of a proxy that the target is reached through (CONNECT); NULL: none */
        const char *proxy_login; /* `user:password` for it; NULL or "": none */
        enum http_version version;
        unsigned max_h1_connections; /* 16; further requests wait in line */
        unsigned max_h2_connections; /* 2; a second one is opened when the first one's streams are all used */
        uint32_t max_head_bytes;     /* LIMIT_HEAD_BYTES */
        uint32_t window_bytes;       /* LIMIT_WINDOW_BYTES; of each body, read but not yet taken by the caller */
        int64_t connect_ms;          /* 20 s; one attempt, TLS included */
        int64_t head_ms;             /* no limit; from the end of the request to the head of its response */
        int64_t stall_ms;       /* 30 s; the longest pause while a producer's body is sent, or while a head comes */
        int64_t read_stall_ms;  /* no limit; the longest pause while a body is read */
        int64_t continue_ms;    /* 1 s; how long a body waits for 100 Continue before it is sent all the same */
        int64_t idle_ms;        /* 90 s; closes a connection that has no requests */
        int64_t keepalive_ms;   /* 30 s; HTTP/2 pings after so long without input while requests are open */
        int64_t backoff_ms;     /* 100 ms; the first pause after an address failed */
        int64_t max_backoff_ms; /* 2 s */
        int64_t resolve_ms;     /* 30 s */
};

/* The target is `https://host:port`, `http://host:port` or `unix:/path`. Resolving and connecting start with the first request. */
int http_client_new(struct str target, const struct http_client_options *options, struct http_client **ret,
                    struct err *err);
struct http_client *http_client_ref(struct http_client *c);

/* The last reference closes the connections; an open response holds a reference. Not on the loop thread. NULL is fine. */
void http_client_unref(struct http_client *c);

static inline void http_client_unrefp(struct http_client **c)
{
        http_client_unref(*c);
}

/* `https://host:port`, for messages. Borrowed. */
struct str http_client_name(const struct http_client *c);

/* Produces the next piece of a request's body, on the caller's thread, within http_client_open or http_response_read. Returns 1 with
 * a piece (the client takes over the reference), 0 at the end, or a negative code, which ends the request. */
typedef int http_produce(void *context, struct bytes **ret_piece, struct err *err);

struct http_request {
        struct str method;
        struct str path;                  /* with the query */
        const struct http_fields *fields; /* may be NULL; names in lower case; not host, content-length and the like */

        /* The body: bytes, a producer, or none. */
        struct bytes *body; /* borrowed */
        http_produce *produce;
        void *producer;
        int64_t body_bytes;    /* of a producer's body; 0: unknown */
        bool expects_continue; /* the server is asked before the body is sent; see continue_ms */

        bool is_idempotent;       /* sending it twice does no harm; assumed of GET, HEAD, OPTIONS and TRACE */
        bool waits_for_server;    /* do not fail while no address can be reached; wait until the deadline */
        struct deadline deadline; /* of http_client_open; { 0 } means no deadline */
        struct cancel *cancel;    /* of http_client_open */
};

struct http_response {
        int status;
        bool is_h2;
        struct http_fields fields;
        struct http_fields trailers; /* valid once http_response_read has returned 0 */
};

/* Sends the request and waits for the head of the response, whatever its status. Everything is copied or used up when it returns,
 * but for a producer: a server may answer first, and then the rest is sent while the response is read. A status from 300 on ends the
 * sending. Errors begin with method and URL and name the step.
 *
 * A request that the server certainly did not process is sent again on another connection, as long as none of its body was taken
 * from a producer. An idempotent one is also sent again, once, when a connection with earlier requests is lost before the head of
 * the response: such a connection may have been closed by the server at the same time.
 *
 * *ret belongs to the caller, who frees it with http_response_free. */
int http_client_open(struct http_client *c, const struct http_request *q, struct http_response **ret, struct err *err);

/* The next piece of the body: 1 with a piece, borrowed until the next call; 0 at the end; or a negative code. One thread at a time. A
 * wait that runs out of time or is canceled loses nothing: the next call continues. */
int http_response_read(struct http_response *r, struct deadline deadline, struct cancel *cancel, struct str *ret,
                       struct err *err);

/* The rest of the body; ERR_LIMIT if it has more than max_bytes. The caller unrefs *ret. */
int http_response_read_all(struct http_response *r, size_t max_bytes, struct deadline deadline, struct cancel *cancel,
                           struct bytes **ret, struct err *err);

/* Gives up the response if it was not read to its end: HTTP/2 resets the stream, HTTP/1.1 closes the connection. NULL is fine. */
void http_response_free(struct http_response *r);

static inline void http_response_freep(struct http_response **r)
{
        http_response_free(*r);
}

struct http_pool_stats http_client_stats(struct http_client *c);
