/* The internals of an HTTP/1.1 connection: h1.c is the connection, h1-input.c reads the peer's messages, h1-output.c writes ours.
 *
 * A connection has one exchange at a time. When the next request arrives early (pipelining), a server leaves it in its buffer until
 * the previous answer is written. A client begins the next exchange when the previous one is over and the connection may be kept.
 * Loop thread only. */
#pragma once

#include "buf.h"
#include "connection-base.h"
#include "h1-head.h"

/* The part of the message that comes next in the input. */
enum h1_input {
        INPUT_HEAD,
        INPUT_BODY,        /* `left` bytes */
        INPUT_BODY_TO_END, /* until the peer closes: responses without a length */
        INPUT_CHUNK_SIZE,
        INPUT_CHUNK, /* `left` bytes and CRLF */
        INPUT_CHUNK_END,
        INPUT_TRAILERS,
        INPUT_NOTHING, /* the message is complete; further input belongs to the next exchange */
};

struct h1_exchange {
        struct exchange ex;
        struct h1 *h1;
        struct h1_framing framing; /* of the peer's message */
        bool is_head;              /* a HEAD request: the response has no body, even if its head has a length */
        bool is_chunking;          /* our body goes out in chunks */
        bool has_body_left;        /* our head promised a body that may still be sent */
        bool has_responded;
        bool has_finished; /* our message is complete */
        bool was_full;
        bool has_no_body; /* the peer's message has a head only */
        unsigned n_interim;
        uint64_t serial;
        size_t unconsumed; /* bytes of the peer's body */
};

struct h1 {
        struct http_connection connection;
        struct h1_exchange *current;
        enum h1_input input;
        struct buf in;   /* input that was read */
        size_t n_taken;  /* bytes of `in` that were processed */
        uint64_t serial; /* of the last exchange; never reused, unlike a memory address */
        uint64_t left;
        struct progress progress; /* of the peer in sending a body */
        int64_t head_since_ns;    /* start of the current head, or of the wait for the first one; 0: none */
        bool keeps_alive;
        bool is_advancing;
        bool has_peer_closed;
        bool is_waiting_for_room; /* to take the next request */
};

static inline struct h1 *h1_from(const struct http_connection *c)
{
        return CONTAINER_OF(c, struct h1, connection);
}

/* --- Exchanges --- */

struct h1_exchange *h1_exchange_new(struct h1 *h1);

/* Calls the owner's on_closed and frees the exchange. */
void h1_exchange_end(struct h1_exchange *x, const struct err *err);

/* Ends the exchange if both messages are complete; then the connection waits for the next exchange, or closes. */
void h1_exchange_end_if_over(struct h1_exchange *x);

/* --- Output --- */

/* Begins a request of ours. */
struct exchange *h1_request(struct http_connection *c, const struct http_head *head, bool has_body,
                            const struct exchange_callbacks *callbacks, void *owner);

/* Answers input that is no valid request with 400, 431 or 501, depending on the error, and closes. */
void h1_refuse_head(struct h1 *h1, const struct err *err);

/* --- Input --- */

struct str h1_input_left(const struct h1 *h1);
void h1_input(struct http_connection *c, struct str data);

/* Processes as much of the input as possible. */
void h1_advance(struct h1 *h1);
