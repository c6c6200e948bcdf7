/* The internals of a client's request: http-call.c is the loop's side, http-client.c the caller's.
 *
 * Both sides share a call under its mutex. The caller posts one task that does all work it left: begin, send, consume, give up. The
 * loop wakes the caller after every change. Calls are reference counted, so that a caller may return while the loop still ends the
 * exchange. */
#pragma once

#include "http-client.h"

struct http_client {
        _Atomic unsigned references;
        struct arena arena;
        struct http_target target;
        struct http_client_options options;
        struct str name;
        struct http_pool *pool;
};

enum call_phase {
        CALL_IN_LINE, /* for a connection */
        CALL_OPEN,    /* its exchange has begun */
        CALL_HEAD,    /* the response's head is there */
        CALL_ENDED,   /* the whole response is there */
        CALL_FAILED,  /* err tells why */
};

struct http_call {
        _Atomic unsigned references;  /* the caller's, the loop's, and one while work is posted */
        struct http_client *client;   /* alive until the caller and the turn are done */
        struct arena arena;           /* heads and trailers */
        struct http_head request;     /* immutable */
        struct bytes *body;           /* immutable; NULL: none, or a producer's */
        bool has_body, is_idempotent; /* immutable */
        bool expects_continue;        /* immutable */
        struct loop_task work;

        /* Loop thread only. */
        struct http_turn turn;
        struct exchange *ex;
        unsigned n_refused;
        bool was_retried;
        bool has_started;  /* it is in the pool */
        bool is_over;      /* it has left the pool */
        bool has_sent;     /* a piece of the producer is used up: the request cannot be sent again */
        bool has_finished; /* the exchange has the whole request */

        /* The caller only. */
        http_produce *produce; /* NULL: nothing is left to send */
        void *producer;
        bool has_length;     /* of the producer's body */
        uint64_t left_bytes; /* that the producer owes, with has_length */
        VEC(struct bytes *) taken;
        size_t n_taken_read;  /* pieces of taken that were read */
        size_t n_taken_bytes; /* of taken: they are consumed when the next ones are needed */

        struct mutex mutex; /* guards everything below */
        struct waiters waiters;
        enum call_phase phase;
        bool is_posted;
        bool is_given_up;
        bool may_send; /* the producer's pieces are wanted: without expects_continue from the start of the exchange */
        bool is_complete; /* the caller has queued its last piece */
        bool is_sent;     /* the whole request is with the exchange */
        VEC(struct bytes *) out;
        size_t out_bytes;
        size_t consumed_bytes; /* to be told to the exchange */
        VEC(struct bytes *) in;
        int64_t sent_ns; /* when the exchange last took a part of the request */
        struct err err;
        struct http_response response; /* written by the loop before CALL_HEAD; trailers before CALL_ENDED */
};

void http_call_unref(struct http_call *call);

/* With the mutex held: lets the loop do the work that the caller has left. */
void http_call_post(struct http_call *call);

/* The loop task: begins the call at first, then sends, consumes or gives up. */
void http_call_work(struct loop_task *t);

/* Gives up the call, if it is not over. ret_why: why it had no connection. Any thread but the loop's; the mutex is not held. */
void http_call_give_up(struct http_call *call, struct err *ret_why);
