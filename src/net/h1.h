/* The inside of an HTTP/1.1 connection: h1.c is the connection, h1-input.c reads what the peer sends, h1-output.c writes what we send.
 *
 * One exchange at a time. A server that is sent the next request early (pipelining) leaves it in its buffer until the answer
 * before it is out; a client begins the next one when the one before is over and the connection may be kept. Loop thread only. */
#pragma once

#include "buf.h"
#include "connection-base.h"
#include "h1-head.h"

/* What the input is read as. */
enum input {
        INPUT_HEAD,
        INPUT_BODY,        /* `left` bytes */
        INPUT_BODY_TO_END, /* until the peer closes: responses without a length */
        INPUT_CHUNK_SIZE,
        INPUT_CHUNK, /* `left` bytes and CRLF */
        INPUT_CHUNK_END,
        INPUT_TRAILERS,
        INPUT_NOTHING, /* the message is complete; what follows belongs to the next exchange */
};

struct h1_exchange {
        struct exchange ex;
        struct h1 *h1;
        struct h1_framing framing; /* of the peer's message */
        bool is_head;              /* HEAD: the response has no body whatever its head says */
        bool is_chunking;          /* our body goes out in chunks */
        bool has_body_left;        /* our head promised a body that may still be sent */
        bool has_responded;
        bool has_finished; /* our message is complete */
        bool was_full;
        bool has_no_body; /* the peer's message is its head alone */
        unsigned n_interim;
        uint64_t serial;
        size_t unconsumed; /* bytes of the peer's body */
};

struct h1 {
        struct http_connection connection;
        struct h1_exchange *current;
        enum input input;
        struct buf in;   /* what was read */
        size_t n_taken;  /* of it, understood */
        uint64_t serial; /* of the last exchange: an address may come back, a number does not */
        uint64_t left;
        struct progress progress; /* when the peer last did its part */
        int64_t head_since_ns;    /* when the head being read, or the wait for the first one, began; 0: none */
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

/* Tells the owner and frees it. */
void h1_exchange_end(struct h1_exchange *x, const struct err *err);

/* An exchange is over when both messages are; then the connection goes on to the next one, or closes. */
void h1_exchange_end_if_over(struct h1_exchange *x);

/* --- Output --- */

/* Begins a request of ours. */
struct exchange *h1_request(struct http_connection *c, const struct http_head *head, bool has_body,
                            const struct exchange_callbacks *callbacks, void *owner);

/* Answers what could not be read as a request, with 400, 431 or 501 as the error has it, and closes. */
void h1_refuse_head(struct h1 *h1, const struct err *err);

/* --- Input --- */

struct str h1_input_left(const struct h1 *h1);
void h1_input(struct http_connection *c, struct str data);

/* Understands what it can of the input. */
void h1_advance(struct h1 *h1);
