/* The shared part of HTTP/1.1 and HTTP/2 connections: closing, draining and timeouts. For h1.c and h2.c; loop thread only. */
#pragma once

#include "connection.h"
#include "vec.h"

/* The operations of one HTTP version. Once the connection is closing, only the last two are called. */
struct http_connection_ops {
        void (*input)(struct http_connection *c, struct str data);
        void (*end)(struct http_connection *c); /* the peer has closed its sending half */
        void (*flush)(struct http_connection *c);
        void (*tick)(struct http_connection *c, int64_t now_ns); /* detects a stalled peer */
        struct exchange *(*request)(struct http_connection *c, const struct http_head *request, bool has_body,
                                    const struct exchange_callbacks *callbacks, void *owner);
        bool (*has_slot)(const struct http_connection *c); /* not called while closing or draining */
        size_t (*count)(const struct http_connection *c);
        void (*drain)(struct http_connection *c);       /* may be called again */
        void (*say_goodbye)(struct http_connection *c); /* writes it to the stream; NULL: there is none */
        void (*end_exchanges)(struct http_connection *c, const struct err *err);
        void (*free)(struct http_connection *c); /* frees the whole struct */
};

/* The time when a peer last made progress in sending or reading a body. A trickle of bytes counts as progress only when enough have
 * come. */
struct progress {
        int64_t last_ns;
        size_t n_bytes; /* moved since last_ns */
};

/* Counts n bytes that were moved. waiting_bytes is how much is still to move, as far as known: the more there is, the faster the
 * peer must be. */
void progress_add(struct progress *p, size_t n, size_t waiting_bytes, int64_t now_ns);

/* Memory of exchanges that have ended while their output is still in the stream's queue. */
struct debt {
        uint64_t end; /* the memory is given back when the stream has sent this many bytes */
        struct budget_account account;
};

struct http_connection {
        const struct http_connection_ops *ops;
        const struct http_connection_callbacks *callbacks;
        struct http_connection_options options;
        void *owner;
        struct stream *stream;
        uv_timer_t timer;
        struct err err;         /* why the connection ends; no error: it ended regularly */
        struct progress output; /* when the peer last made progress in reading, or nothing was queued */
        uint64_t last_sent;
        VEC(struct debt) debts; /* oldest first */
        size_t first_debt;
        int64_t idle_since_ns;
        int64_t last_tick_ns;
        unsigned n_pending; /* handles (stream, timer) that are still to be closed */
        bool is_draining;
        bool is_finishing; /* nothing more is written; queued output is still sent */
        bool is_closing;
        bool was_late; /* the last tick came late and was skipped */
};

/* Starts on an open stream. A head_ms of 0 in the options becomes stall_ms. */
void connection_init(struct http_connection *c, const struct http_connection_ops *ops, struct stream *s,
                     const struct http_connection_options *options, const struct http_connection_callbacks *callbacks,
                     void *owner);

/* Accepts no more exchanges and calls the owner's on_drain, once. */
void connection_set_draining(struct http_connection *c);

/* Sends the queued output, then closes. */
void connection_finish(struct http_connection *c);

/* Closes at once with an error of our own. */
void connection_fail(struct http_connection *c, int code, const char *format, ...) _printf_(3, 4);

/* Tells the connection's owner (on_ended) that an exchange has ended, after the exchange's own owner was told. */
void connection_tell_ended(struct http_connection *c, bool has_answered);

/* For an exchange that is over: gives back its memory as soon as all output that is queued now has been sent. */
void connection_settle(struct http_connection *c, struct exchange *ex);
