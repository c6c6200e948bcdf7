/* A gRPC client: a channel to all addresses of a target, shared by many callers on many threads. */
#pragma once

#include "grpc.h"

struct dialer;
struct grpc_channel; /* counted; any thread */
struct tls_config;

struct grpc_channel_options {
        struct tls_config *tls; /* NULL: plain text; a reference is taken */
        struct dialer
                *dialer; /* makes the sockets, whatever the target's address is; NULL: none; a reference is taken */
        const char *authority;    /* NULL: the target's host; verified by TLS and sent as :authority */
        size_t max_receive_bytes; /* 0: LIMIT_MESSAGE_BYTES */
        size_t max_send_bytes;    /* 0: LIMIT_MESSAGE_BYTES */
        const char *limit_flag; /* the flag that raises both limits, for the error; may be NULL; outlives the channel */
        int64_t connect_ms;     /* 0: 20 s; one attempt, TLS included */
        int64_t backoff_ms;     /* 0: 1 s; the first pause, growing by 1.6 with 20 % jitter */
        int64_t max_backoff_ms; /* 0: 120 s */
        int64_t keepalive_ms;   /* 0: 30 s; pings after so long without input while calls are open */
        int64_t resolve_ms;     /* 0: 30 s; the shortest time between two resolutions while nothing was lost */
};

/* Targets: `dns:///host:port`, `host:port`, `ipv4:address:port,...`, `ipv6:[address]:port,...`, `unix:path`, `unix:///path`,
 * `unix-abstract:name`, `passthrough:///address`. Resolving and connecting start with the first call. */
int grpc_channel_new(struct str target, const struct grpc_channel_options *options, struct grpc_channel **ret,
                     struct err *err);
struct grpc_channel *grpc_channel_ref(struct grpc_channel *c);

/* The last reference closes the connections and waits for their threads. NULL is fine. */
void grpc_channel_unref(struct grpc_channel *c);

struct grpc_call_options {
        struct deadline deadline;
        struct cancel *cancel;
        bool fails_fast; /* false: the call waits until a connection is ready or the deadline passes */
        const struct http_fields *metadata; /* sent with the request; names in lower case */
};

struct grpc_reply {
        enum grpc_status status;
        struct str message;          /* grpc-message, decoded; in the arena */
        struct bytes *response;      /* the message; the caller unrefs it; NULL unless status is GRPC_OK */
        struct http_fields metadata; /* fields of the response's head, and of its trailers below; in the arena */
        struct http_fields trailers;
};

/* Calls /package.Service/Method. The request is borrowed. Returns 0 with GRPC_OK, or a negative code: then err reads `rpc error:
 * code = NAME desc = MESSAGE` and ret->status has the status. Refused streams are retried. A call whose connection was lost before
 * its response began is retried once on another address. */
int grpc_call(struct grpc_channel *c, struct str method, struct bytes *request, const struct grpc_call_options *options,
              struct arena *a, struct grpc_reply *ret, struct err *err);

struct grpc_channel_stats {
        size_t n_addresses; /* resolved */
        size_t n_ready;     /* connections that take calls */
        size_t n_calls;     /* open */
};
struct grpc_channel_stats grpc_channel_stats(struct grpc_channel *c);
