/* The inside of a gRPC client: channel, subchannels and calls. grpc-client.h is what others see.
 *
 * A channel lives on the shared client loop: its addresses, connections and waiting calls are touched by that thread only. A
 * caller posts its call there and waits for the completion; the call is counted, so that a caller that gives up can go
 * while the loop is still taking the call apart.
 *
 * Each address has one connection, its subchannel, that is idle, connecting, ready or backing off. Calls go round the ready
 * ones; without any they wait in line, first come first served, until one is ready or their deadline passes. */
#pragma once

#include "connection.h"
#include "grpc-client.h"
#include "grpc-target.h"
#include "random.h"
#include "resolver.h"

struct grpc_call;

enum subchannel_state {
        SUBCHANNEL_IDLE,
        SUBCHANNEL_CONNECTING,
        SUBCHANNEL_READY,
        SUBCHANNEL_BACKING_OFF,
};

/* Loop thread only. */
struct subchannel {
        struct subchannel *next;
        struct grpc_channel *channel;
        uint64_t
                serial; /* among the subchannels of the channel, from 1: an address in memory may come back, a number does not */
        struct address address;
        enum subchannel_state state;
        struct stream *stream;        /* while connecting */
        struct http_connection *http; /* from the TLS handshake on; ready with the peer's first settings */
        uv_timer_t timer;             /* backing off, or waiting for the settings */
        int64_t ready_ns;
        unsigned n_failures;               /* in a row */
        VEC(struct http_connection *) old; /* that drain: a GOAWAY came, calls on them go on */
        bool is_removed;                   /* no longer among the addresses; freed when nothing of it is left */
        bool is_timer_closed;
};

struct grpc_channel {
        _Atomic unsigned references;
        struct grpc_channel_options options;
        struct arena arena;
        struct grpc_target target;
        struct loop *loop;
        struct completion closed;

        /* Loop thread only. */
        struct subchannel *subchannels;
        size_t n_subchannels; /* not removed */
        uint64_t last_serial;
        struct grpc_call *first_waiting, *last_waiting;
        size_t n_calls;
        size_t next;              /* round robin */
        struct resolver resolver; /* of a target with a host */
        bool is_resolver_closed;
        bool is_closing;
        bool is_closed;        /* the closing thread was told; nothing may touch the channel any more */
        struct err last_error; /* why nothing is ready */
        struct random random;
};

/* --- Of the channel, for its calls and subchannels --- */

/* Puts the call into the line and gives it to a connection as soon as one takes it. */
void channel_wait_in_line(struct grpc_channel *c, struct grpc_call *call);
void channel_leave_line(struct grpc_channel *c, struct grpc_call *call);

/* Gives waiting calls to connections that take them; sees to it that some will. */
void channel_pump(struct grpc_channel *c);

/* A connection is gone, or takes no more: looks for others. */
void channel_lost(struct grpc_channel *c);

/* Tells the closing thread when the loop holds nothing of the channel any more: last, the channel may be gone afterwards. */
void channel_finish_close(struct grpc_channel *c);

/* --- Of a subchannel --- */

struct subchannel *subchannel_new(struct grpc_channel *c, const struct address *a);
void subchannel_connect(struct subchannel *sub); /* an idle one */
bool subchannel_is_usable(const struct subchannel *sub);

/* Lets what is open on it end, or ends it if the channel is closing; then it is freed. */
void subchannel_remove(struct subchannel *sub);

/* --- Of a call --- */

struct grpc_call {
        _Atomic unsigned references;  /* the caller's and the loop's */
        struct grpc_channel *channel; /* alive as long as the caller waits; the loop's calls keep it alive too */
        struct loop_task start;
        struct str method;
        struct bytes *request;
        struct http_fields metadata;
        struct arena arena;
        struct deadline deadline;
        bool fails_fast;
        struct completion done;

        /* The loop's, until the completion. */
        struct grpc_call *next, *prev; /* in the channel's line of waiting calls */
        bool is_waiting;
        struct exchange *ex;
        uint64_t place; /* serial of the subchannel that ex is on */
        uint64_t avoid; /* of the one where it has been lost before; 0: none */
        struct grpc_reader reader;
        unsigned n_refused;
        bool was_retried;
        bool is_aborted;
        bool is_done;

        /* The answer. */
        enum grpc_status status;
        struct str message;
        struct bytes *response;
        struct http_fields head, trailers;
};

void grpc_call_begin(struct grpc_call *call, struct subchannel *sub);

/* The loop is done with the call: the answer is in it. */
void grpc_call_complete(struct grpc_call *call, enum grpc_status status, struct str message);
