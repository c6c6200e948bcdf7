/* The internals of an HTTP/2 connection, on nghttp2: h2.c is the connection, h2-session.c has the library's callbacks,
 * h2-exchange.c has the exchanges and their output. Loop thread only. */
#pragma once

#include "connection-base.h"
#include "vec.h"

#include <nghttp2/nghttp2.h>

struct h2_piece {
        struct bytes *bytes;
        size_t offset;
};

struct h2_exchange {
        struct exchange ex;
        struct h2 *h2;
        struct h2_exchange *next, *prev;
        int32_t id;
        size_t head_bytes; /* of the head or trailers being received */
        VEC(struct h2_piece) pieces;
        size_t first_piece;
        size_t queued_bytes;
        size_t unconsumed;      /* bytes of the peer's body not yet consumed and not yet returned to the window */
        struct progress input;  /* of the peer in sending the request */
        struct progress output; /* of the peer in taking our queue; starts when the queue begins to fill */
        unsigned n_interim;
        struct http_fields our_trailers;
        bool has_head;     /* the peer's head is complete; more fields are trailers */
        bool is_reset;     /* by us: on_closed is the only callback that follows */
        bool has_told;     /* the owner knows the exchange: its callbacks are set */
        bool is_too_large; /* the head is longer than the limit: the answer is 431 */
        bool is_deferred;  /* the library waits for nghttp2_session_resume_data */
        bool has_finished; /* our side is complete once the queue is empty */
        bool has_trailers;
        bool has_responded;
        bool drops_body; /* our response may have none: the request was HEAD, or its status allows none */
        bool was_full;   /* on_room must be called when there is room */
};

/* The phases of a server's drain. */
enum drain {
        DRAIN_NONE,
        DRAIN_NOTICE, /* the peer was told to begin nothing; requests until the ping returns are served */
        DRAIN_FINAL,  /* the peer was told the last request */
};

struct h2 {
        struct http_connection connection;
        nghttp2_session *session;
        struct h2_exchange *exchanges;
        size_t n_exchanges;
        int64_t now_ns; /* the time of this turn of the loop, for frequent use */
        int64_t begun_ns;
        int64_t last_input_ns;
        int64_t ping_ns;   /* when the unanswered ping was sent; 0: none */
        int64_t notice_ns; /* when the drain began */
        enum drain drain;
        bool has_settings;         /* the peer's settings have arrived */
        bool has_input;            /* the peer has sent something */
        int invalid;               /* the library's error code for the last invalid frame; 0: none */
        int32_t last_id;           /* server: id of the newest request */
        int32_t gap_low, gap_high; /* ids that the newest request skipped: they can never be used */
};

static inline struct h2 *h2_from(const struct http_connection *c)
{
        return CONTAINER_OF(c, struct h2, connection);
}

/* Schedules the library's output to be sent at the end of the turn. */
void h2_wake(struct h2 *h2);

/* --- Exchanges --- */

struct h2_exchange *h2_exchange_add(struct h2 *h2);

/* Calls the owner's on_closed, if the owner knows the exchange, and frees it. */
void h2_exchange_remove(struct h2_exchange *x, const struct err *err);

/* Call it when the peer has sent its whole message. */
void h2_exchange_end_input(struct h2_exchange *x);

/* Refuses a head or trailers that are larger than allowed. */
void h2_exchange_refuse_head(struct h2_exchange *x);

/* Begins a request of ours. */
struct exchange *h2_request(struct http_connection *c, const struct http_head *request, bool has_body,
                            const struct exchange_callbacks *callbacks, void *owner);

/* Calls on_room for exchanges that waited for room and have room again. */
void h2_give_room(struct h2 *h2);

/* The library's callback that sends the data which h2-exchange.c announced. */
int h2_send_data(nghttp2_session *session, nghttp2_frame *frame, const uint8_t *head, size_t n,
                 nghttp2_data_source *source, void *h2);

/* --- The session --- */

void h2_session_new(struct h2 *h2);

/* The second step of a drain: requests that arrived until now are served, later ones are not. */
void h2_name_last_request(struct h2 *h2);
