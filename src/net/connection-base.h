/* What the connections of both HTTP versions share: how they close, drain and run out of time. For h1.c and h2.c; loop thread only. */
#pragma once

#include "connection.h"

/* What a version does. None of it is called once the connection is closing, but for the last two. */
struct http_connection_ops {
        void (*input)(struct http_connection *c, struct str data);
        void (*end)(struct http_connection *c); /* the peer sends no more */
        void (*flush)(struct http_connection *c);
        void (*tick)(struct http_connection *c, int64_t now_ns); /* looks for a peer that does not do its part */
        struct exchange *(*request)(struct http_connection *c, const struct http_head *request, bool has_body,
                                    const struct exchange_callbacks *callbacks, void *owner);
        bool (*has_slot)(const struct http_connection *c); /* asked while it is neither closing nor draining */
        size_t (*count)(const struct http_connection *c);
        void (*drain)(struct http_connection *c); /* may be asked again */
        void (*end_exchanges)(struct http_connection *c, const struct err *err);
        void (*free)(struct http_connection *c); /* the whole of it */
};

struct http_connection {
        const struct http_connection_ops *ops;
        const struct http_connection_callbacks *callbacks;
        struct http_connection_options options;
        void *owner;
        struct stream *stream;
        uv_timer_t timer;
        struct err err;         /* why it ends; none: in peace */
        int64_t last_output_ns; /* when something last went out, or nothing had to */
        uint64_t last_sent;
        int64_t idle_since_ns;
        int64_t last_tick_ns;
        unsigned n_pending; /* stream and timer that are still to be closed */
        bool is_draining;
        bool is_finishing; /* all is said; what is queued still goes out */
        bool is_closing;
        bool was_late; /* the last tick was, and did nothing */
};

/* Begins on an open stream. options->head_ms is filled in. */
void connection_init(struct http_connection *c, const struct http_connection_ops *ops, struct stream *s,
                     const struct http_connection_options *options, const struct http_connection_callbacks *callbacks,
                     void *owner);

/* Takes no more exchanges; the owner is told once. */
void connection_set_draining(struct http_connection *c);

/* Sends what is queued, then closes. */
void connection_finish(struct http_connection *c);

/* Closes at once with an error of our own. */
void connection_fail(struct http_connection *c, int code, const char *format, ...) _printf_(3, 4);

/* When a peer last did its part in sending a body. Bytes that trickle count for nothing until there are enough of them. */
struct progress {
        int64_t last_ns;
        size_t n_bytes; /* since then */
};

void progress_add(struct progress *p, size_t n, int64_t now_ns);
