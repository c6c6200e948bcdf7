/* An HTTP connection on a stream: HTTP/1.1 or HTTP/2, client or server. Loop thread only. */
#pragma once

#include "http.h"
#include "stream.h"

struct http_connection;

struct http_connection_callbacks {
        /* Server: the head of a request is complete, in ex->request. The owner sets ex->callbacks and ex->owner now, or resets
         * the exchange. NULL on clients. */
        void (*on_request)(struct http_connection *c, struct exchange *ex);
        /* No further exchange can begin on this connection: one side is draining, or the stream numbers are used up. Open exchanges
         * continue. */
        void (*on_drain)(struct http_connection *c);
        /* Client: an exchange ended or the peer raised its limit, so http_connection_has_slot may be true again. May be NULL. */
        void (*on_slot)(struct http_connection *c);
        /* An exchange has ended; has_answered tells whether the whole answer was sent or received. May be NULL. */
        void (*on_ended)(struct http_connection *c, bool has_answered);
        /* Called exactly once, after the on_closed of every exchange, and never from within a call of the owner. The connection is
         * freed afterwards. */
        void (*on_closed)(struct http_connection *c, const struct err *err);
};

struct http_connection_options {
        bool is_server;
        uint32_t max_exchanges;  /* how many exchanges the peer may have open at a time */
        uint32_t max_head_bytes; /* of one head or trailers: names, values and 32 for each field */
        uint32_t window_bytes;   /* how much input of one exchange may wait to be consumed */
        int64_t head_ms;         /* 0: stall_ms; limit for a head, from its first byte to its last */
        int64_t stall_ms;     /* closes the connection when the peer neither sends nor reads as it should for so long */
        int64_t idle_ms;      /* 0: no limit; drains a connection that had no exchanges for so long */
        int64_t keepalive_ms; /* 0: none; pings (HTTP/2) a peer that was silent for so long while exchanges are open */
};

/* Creates a connection on an open stream, and takes over the stream. A client may begin requests at once. */
struct http_connection *h2_connection_new(struct stream *s, const struct http_connection_options *options,
                                          const struct http_connection_callbacks *callbacks, void *owner);
struct http_connection *h1_connection_new(struct stream *s, const struct http_connection_options *options,
                                          const struct http_connection_callbacks *callbacks, void *owner);

void *http_connection_owner(const struct http_connection *c);

/* Feeds bytes that were read before the HTTP version was known. */
void http_connection_input(struct http_connection *c, struct str data);

/* Client: begins a request; http_connection_has_slot must be true. has_body false ends our side at once. The callbacks report
 * everything, also that the connection could not take the request. The head is copied. */
struct exchange *http_connection_request(struct http_connection *c, const struct http_head *request, bool has_body,
                                         const struct exchange_callbacks *callbacks, void *owner);

/* Whether another request may begin now; the number of open exchanges. */
bool http_connection_has_slot(const struct http_connection *c);
size_t http_connection_count(const struct http_connection *c);

/* Tells the peer to begin no new exchanges, lets open ones end, then closes. */
void http_connection_drain(struct http_connection *c);

/* Sends a goodbye and closes, to free the connection's place for another. No exchange may be open. */
void http_connection_give_way(struct http_connection *c);

/* Closes at once; open exchanges end with the error. */
void http_connection_close(struct http_connection *c, const struct err *err);
