/* The inside of an HTTP/2 connection, on nghttp2: h2.c is the connection, h2-session.c what the library tells us, h2-exchange.c its
 * exchanges and their output. Loop thread only. */
#pragma once

#include "connection-base.h"
#include "vec.h"

#include <nghttp2/nghttp2.h>

struct piece {
        struct bytes *bytes;
        size_t offset;
};

struct h2_exchange {
        struct exchange ex;
        struct h2 *h2;
        struct h2_exchange *next, *prev;
        int32_t id;
        size_t head_bytes; /* of the head or trailers being received */
        VEC(struct piece) pieces;
        size_t first_piece;
        size_t queued_bytes;
        size_t unconsumed;      /* bytes of the peer's body that the owner has, and the connection's window lacks */
        struct progress input;  /* when the peer last did its part of the request */
        int64_t last_output_ns; /* when the queue last shrank, or began to fill */
        unsigned n_interim;
        struct http_fields our_trailers;
        bool has_head;     /* the peer's head is complete; more fields are trailers */
        bool is_reset;     /* by us: the owner hears nothing more but on_closed */
        bool has_told;     /* the owner knows the exchange: its callbacks are set */
        bool is_too_large; /* the head passed the limit: it is answered with 431 */
        bool is_deferred;  /* the library waits for nghttp2_session_resume_data */
        bool has_finished; /* our side is complete once the queue is empty */
        bool has_trailers;
        bool has_responded;
        bool was_full; /* on_room is owed */
};

/* How far a server is with saying goodbye. */
enum drain {
        DRAIN_NONE,
        DRAIN_NOTICE, /* told not to begin anything; what was under way until the ping comes back is served */
        DRAIN_FINAL,  /* told which request is the last */
};

struct h2 {
        struct http_connection connection;
        nghttp2_session *session;
        struct h2_exchange *exchanges;
        size_t n_exchanges;
        int64_t now_ns; /* of the turn; for what happens often */
        int64_t begun_ns;
        int64_t last_input_ns;
        int64_t ping_ns;   /* when the ping went out that has not come back; 0: none */
        int64_t notice_ns; /* when the drain began */
        enum drain drain;
        bool has_settings;         /* the peer's */
        int invalid;               /* the library's word for the last frame that broke the rules; 0: none */
        int32_t last_id;           /* server: of the newest request */
        int32_t gap_low, gap_high; /* ids that the newest request skipped: they can never be used */
};

static inline struct h2 *h2_from(const struct http_connection *c)
{
        return CONTAINER_OF(c, struct h2, connection);
}

/* Has the library's output sent at the end of the turn. */
void h2_wake(struct h2 *h2);

/* --- Exchanges --- */

struct h2_exchange *h2_exchange_add(struct h2 *h2);

/* Tells the owner, if it knows of the exchange, and frees it. */
void h2_exchange_remove(struct h2_exchange *x, const struct err *err);

/* The peer has sent all of its message. */
void h2_exchange_end_input(struct h2_exchange *x);

/* The head or the trailers are larger than allowed. */
void h2_exchange_refuse_head(struct h2_exchange *x);

/* Begins a request of ours. */
struct exchange *h2_request(struct http_connection *c, const struct http_head *request, bool has_body,
                            const struct exchange_callbacks *callbacks, void *owner);

/* Tells those that wait for room, where there is room again. */
void h2_give_room(struct h2 *h2);

/* The library's callback for the data that h2_exchange has announced to it. */
int h2_send_data(nghttp2_session *session, nghttp2_frame *frame, const uint8_t *head, size_t n,
                 nghttp2_data_source *source, void *h2);

/* --- The session --- */

void h2_session_new(struct h2 *h2);

/* A drain's second step: whatever came in until now is served, nothing after it. */
void h2_name_last_request(struct h2 *h2);
