/* HTTP types for both versions and both sides: heads, and exchanges of one request and one response.
 *
 * An exchange lives on the loop of its connection; loop thread only. Both directions stream: callbacks deliver input, and output is
 * queued. Both directions have backpressure: input that is not consumed stops the peer, and output beyond the connection's room
 * waits for on_room. */
#pragma once

#include "arena.h"
#include "budget.h"
#include "bytes.h"
#include "err.h"

struct exchange;
struct loop;

struct http_field {
        struct str name; /* lower case */
        struct str value;
};

struct http_fields {
        struct http_field *p;
        size_t n;
        size_t capacity;
};

/* Name and value are copied into the arena. */
void http_fields_add(struct http_fields *f, struct arena *a, struct str name, struct str value);

/* The first value of that name (lower case), or a str with p == NULL. */
struct str http_fields_get(const struct http_fields *f, struct str name);

/* A request or a response up to its body. */
struct http_head {
        struct str method; /* requests */
        struct str scheme;
        struct str authority;
        struct str path;
        int status; /* responses */
        struct http_fields fields;
};

/* Whether the text is a token (RFC 9110), as methods and the names of fields are. */
bool http_is_token(struct str s);

/* `Not Found` for 404; empty for unknown codes. */
const char *http_reason(int status);

/* HTTP/2's codes for ending a stream early; HTTP/1.1 closes the connection for all of them. */
enum http_reset {
        HTTP_RESET_NONE = 0,
        HTTP_RESET_PROTOCOL_ERROR = 1,
        HTTP_RESET_INTERNAL_ERROR = 2,
        HTTP_RESET_FLOW_CONTROL = 3,
        HTTP_RESET_REFUSED = 7, /* the request was not processed: a retry is safe */
        HTTP_RESET_CANCEL = 8,
        HTTP_RESET_ENHANCE_YOUR_CALM = 11,
        HTTP_RESET_INADEQUATE_SECURITY = 12,
        HTTP_RESET_HTTP_1_1_REQUIRED = 13,
};

struct exchange_callbacks {
        /* Client: the response's head is in ex->response. NULL on servers. */
        void (*on_head)(struct exchange *ex);
        /* Client: an interim response (1xx) is in ex->response, for the time of the call. May be NULL. */
        void (*on_interim)(struct exchange *ex);
        /* A piece of the body, borrowed for the call. Its bytes count against the peer's window until exchange_consume. */
        void (*on_body)(struct exchange *ex, struct str data);
        /* The peer has sent its whole message; ex->trailers holds the trailers. */
        void (*on_end)(struct exchange *ex);
        /* There is room again after exchange_has_room was false. May be NULL. */
        void (*on_room)(struct exchange *ex);
        /* Called exactly once, as the last callback. err is NULL when both messages were complete. The exchange is freed
         * afterwards. */
        void (*on_closed)(struct exchange *ex, const struct err *err);
};

struct exchange_ops;
struct tls_identity;

struct exchange {
        const struct exchange_ops *ops; /* of the protocol */
        const struct exchange_callbacks *callbacks;
        void *owner;
        struct loop *loop;                   /* the loop that owns it */
        struct arena arena;                  /* heads and trailers; freed with the exchange */
        struct budget_account account;       /* memory that is held for its output: see exchange_hold */
        const struct tls_identity *identity; /* server: the peer's certificate, in arena; NULL without one */
        struct http_head request;
        struct http_head response;
        struct http_fields trailers; /* the peer's */
        enum http_reset peer_reset;  /* why the peer ended it early */
        bool was_reset;              /* the peer reset this exchange, not the whole connection */
        bool has_peer_ended;         /* on_end was called */
        bool was_processed;          /* client: the peer may have acted on the request; false means a retry is safe */
        bool needs_peer; /* server, set by the owner before exchange_respond: the answer goes on for as long as the peer is there, so
                          * a peer that has closed its sending half is gone. Otherwise it may still read */
};

/* Server: sends the response's head; is_all means that nothing follows it. A client's request is sent when the exchange is
 * created. */
void exchange_respond(struct exchange *ex, int status, const struct http_fields *fields, bool is_all);

/* Queues a piece of our body; the reference is taken over. */
void exchange_send(struct exchange *ex, struct bytes *b);

/* Our message is complete; trailers may be NULL. */
void exchange_finish(struct exchange *ex, const struct http_fields *trailers);

/* Ends the exchange early in both directions; on_closed follows. */
void exchange_reset(struct exchange *ex, enum http_reset why);

/* Tells that the owner has processed n bytes of the peer's body; the peer may send as many more. */
void exchange_consume(struct exchange *ex, size_t n);

/* False when the queue is full; continue sending after on_room. */
bool exchange_has_room(const struct exchange *ex);

/* The memory of the body that is queued; of pieces that others hold, too, this queue's share. It grows when others let go of theirs. */
size_t exchange_held_bytes(const struct exchange *ex);

/* Moves the account's memory to the exchange. It is given back when the exchange is over and the kernel has taken all of its
 * output, or when the connection ends. At most once per exchange. */
void exchange_hold(struct exchange *ex, struct budget_account *account);

/* Call it in on_closed: moves the exchange's arena to *ret, for an owner that still needs the heads. */
void exchange_take_arena(struct exchange *ex, struct arena *ret);

/* How a protocol implements the calls above. */
struct exchange_ops {
        void (*respond)(struct exchange *ex, int status, const struct http_fields *fields, bool is_all);
        void (*send)(struct exchange *ex, struct bytes *b);
        void (*finish)(struct exchange *ex, const struct http_fields *trailers);
        void (*reset)(struct exchange *ex, enum http_reset why);
        void (*consume)(struct exchange *ex, size_t n);
        bool (*has_room)(const struct exchange *ex);
        size_t (*held_bytes)(const struct exchange *ex);
};
