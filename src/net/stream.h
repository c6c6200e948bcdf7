/* A connected byte stream: TCP or a Unix socket, plain or with TLS. It lives on one loop; loop thread only.
 *
 * Output is queued and sent at the end of the loop's turn. An owner with much output waits for on_flush and writes while
 * stream_has_room, so that the queue stays bounded even if the peer does not read. stream_pause leaves unwanted input in the
 * kernel. */
#pragma once

#include <stdlib.h> /* as in loop.h */
#include <netinet/in.h>

#include "address.h"
#include "bytes.h"
#include "err.h"
#include "loop.h"

struct arena;
struct dialer;
struct stream;
struct tls_config;
struct tls_identity;

struct stream_callbacks {
        /* The stream is connected and, with TLS, the peer is verified. */
        void (*on_open)(struct stream *s);
        /* The data is borrowed for the call. */
        void (*on_data)(struct stream *s, struct str data);
        /* The peer will send no more. */
        void (*on_end)(struct stream *s);
        /* The owner writes its output here, while stream_has_room. Called after stream_want_flush, and again when a full queue has
         * drained. May be NULL. */
        void (*on_flush)(struct stream *s);
        /* The kernel has taken more output: stream_sent_bytes has grown. Do not write here. May be NULL. */
        void (*on_sent)(struct stream *s);
        /* Called exactly once, as the last callback, and never from within a call of the owner. err is NULL when the owner closed
         * the stream. The stream is freed afterwards. */
        void (*on_closed)(struct stream *s, const struct err *err);
};

/* Begins to connect; the callbacks report success or failure. tls NULL means plain text; with TLS, server_name is verified.
 * Connecting and the handshake together take at most timeout_ms. */
struct stream *stream_connect(struct loop *l, const struct address *to, struct tls_config *tls, const char *server_name,
                              int64_t timeout_ms, const struct stream_callbacks *callbacks, void *owner);

/* The same to a peer that the dialer reaches; it dials in another thread. A reference is taken. A stream that is closed while it dials is
 * reported as closed after that. */
struct stream *stream_dial(struct loop *l, struct dialer *dialer, struct tls_config *tls, const char *server_name,
                           int64_t timeout_ms, const struct stream_callbacks *callbacks, void *owner);

/* Call it directly after stream_connect: the address is that of a proxy. The head is sent to the proxy first (`CONNECT host:port ...` up
 * to the empty line; copied), and everything else, TLS included, begins after its answer with status 200. */
void stream_tunnel(struct stream *s, struct str head);

/* Accepts the next connection of a listening handle. on_open follows; for plain streams it comes before this call returns. */
struct stream *stream_accept(struct loop *l, uv_stream_t *listening, struct tls_config *tls, int64_t timeout_ms,
                             const struct stream_callbacks *callbacks, void *owner);

/* Takes over a connected Unix socket, e.g. from socketpair; plain text. on_open comes before this call returns. */
struct stream *stream_from_fd(struct loop *l, int fd, int64_t timeout_ms, const struct stream_callbacks *callbacks,
                              void *owner);

void *stream_owner(const struct stream *s);
void stream_set_owner(struct stream *s, const struct stream_callbacks *callbacks, void *owner);
struct loop *stream_loop(const struct stream *s);

/* The protocol that ALPN chose: `h2`, `http/1.1`, or empty (plain text, or the peer has no ALPN). */
struct str stream_protocol(const struct stream *s);

/* The identity in the peer's certificate, in the arena; NULL if the peer sent none. The stream must be open. */
const struct tls_identity *stream_peer_identity(const struct stream *s, struct arena *a);

/* Append to the queue. stream_write copies. stream_write_bytes keeps a reference instead of a copy if the piece is large; under TLS
 * it is encrypted as the peer reads. Allowed from on_open on; ignored while the stream is closing. */
void stream_write(struct stream *s, struct str data);
void stream_write_bytes(struct stream *s, struct bytes *b, size_t offset, size_t n);

bool stream_has_room(const struct stream *s);
size_t stream_queued_bytes(const struct stream *s);
/* The memory of the queued output; of pieces that others hold, too, this queue's share. */
size_t stream_held_bytes(const struct stream *s);
uint64_t stream_sent_bytes(const struct stream *s); /* that the kernel has taken since the start */
void stream_want_flush(struct stream *s);

/* Stop and resume reading. */
void stream_pause(struct stream *s);
void stream_resume(struct stream *s);

/* Sends the queued output, then closes, after timeout_ms at the latest. An accepted stream first waits a moment for the peer to
 * close: closing with unread input would make the system discard output that the peer has not read yet. */
void stream_finish(struct stream *s, int64_t timeout_ms);

/* Closes at once. err (copied; may be NULL) is passed to on_closed. */
void stream_close(struct stream *s, const struct err *err);
