/* An HTTP connection, either version, either side, on a stream. Loop thread only. */
#pragma once

#include "http.h"
#include "stream.h"

struct http_connection;

struct http_connection_callbacks {
        /* Server: the head of a request is complete, in ex->request. The owner sets ex->callbacks and ex->owner now, or resets
         * the exchange. NULL on clients. */
        void (*on_request)(struct http_connection *c, struct exchange *ex);
        /* No further exchange can begin here: one side is draining, or the numbers are used up. Those under way go on. */
        void (*on_drain)(struct http_connection *c);
        /* Client: an exchange ended or the peer raised its limit, so http_connection_has_slot may say yes again. May be NULL. */
        void (*on_slot)(struct http_connection *c);
        /* Exactly once, last, after the on_closed of every exchange, never from within a call of the owner. The connection is
         * gone afterwards. */
        void (*on_closed)(struct http_connection *c, const struct err *err);
};

struct http_connection_options {
        bool is_server;
        uint32_t max_exchanges;  /* at a time, that the peer may have open */
        uint32_t max_head_bytes; /* of one head or trailers: names, values and 32 for each field */
        uint32_t window_bytes;   /* input per exchange that may wait to be consumed */
        int64_t head_ms;         /* 0: stall_ms; for a head, from its first byte to its last */
        int64_t stall_ms; /* closes one whose peer neither sends what it owes nor reads what it is sent for that long */
        int64_t idle_ms;  /* 0: no limit; drains one without exchanges after that long */
        int64_t keepalive_ms; /* 0: none; pings (HTTP/2) a peer that has been silent for that long while exchanges are open */
};

/* On an open stream, which it takes over. A client may begin requests at once. */
struct http_connection *h2_connection_new(struct stream *s, const struct http_connection_options *options,
                                          const struct http_connection_callbacks *callbacks, void *owner);
struct http_connection *h1_connection_new(struct stream *s, const struct http_connection_options *options,
                                          const struct http_connection_callbacks *callbacks, void *owner);

void *http_connection_owner(const struct http_connection *c);

/* Bytes that were read before it was known which version is spoken. */
void http_connection_input(struct http_connection *c, struct str data);

/* Client, when http_connection_has_slot: begins a request. has_body false ends our side at once. Everything is told by the
 * callbacks, also that the connection could not take it. The head is copied. */
struct exchange *http_connection_request(struct http_connection *c, const struct http_head *request, bool has_body,
                                         const struct exchange_callbacks *callbacks, void *owner);

/* Whether another request may begin now, and how many exchanges are open. */
bool http_connection_has_slot(const struct http_connection *c);
size_t http_connection_count(const struct http_connection *c);

/* Tells the peer to begin nothing new, lets what is open end, then closes. */
void http_connection_drain(struct http_connection *c);

/* Closes at once; open exchanges end with the error. */
void http_connection_close(struct http_connection *c, const struct err *err);
