/* A connected byte stream: TCP or a Unix socket, plain or under TLS. Lives on one loop; loop thread only.
 *
 * Output is queued and goes out at the end of the loop's turn. Who has much to send waits for on_flush and writes while
 * stream_has_room; so the queue stays bounded whatever the peer does. Input that nobody wants yet stays in the kernel
 * (stream_pause). */
#pragma once

#include <netinet/in.h>
#include <openssl/x509.h>

#include "address.h"
#include "bytes.h"
#include "err.h"
#include "loop.h"

struct stream;
struct tls_config;

struct stream_callbacks {
        /* Connected and, under TLS, verified. */
        void (*on_open)(struct stream *s);
        /* The data is borrowed for the call. */
        void (*on_data)(struct stream *s, struct str data);
        /* The peer will send no more. */
        void (*on_end)(struct stream *s);
        /* Now is the time to write what is to be written, while stream_has_room. Follows stream_want_flush, and comes again by
         * itself when a full queue has drained. May be NULL. */
        void (*on_flush)(struct stream *s);
        /* Exactly once, last, never from within a call of the owner. err is NULL when the owner closed it; the stream is gone
         * afterwards. */
        void (*on_closed)(struct stream *s, const struct err *err);
};

/* Begins to connect; the callbacks tell the rest, failures included. tls NULL means plain; server_name is verified under TLS.
 * Connecting and shaking hands together take at most timeout_ms. */
struct stream *stream_connect(struct loop *l, const struct address *to, struct tls_config *tls, const char *server_name,
                              int64_t timeout_ms, const struct stream_callbacks *callbacks, void *owner);

/* Takes the next connection that a listening handle announced. on_open follows, for plain ones before the call returns. */
struct stream *stream_accept(struct loop *l, uv_stream_t *listening, struct tls_config *tls, int64_t timeout_ms,
                             const struct stream_callbacks *callbacks, void *owner);

/* Takes over a connected Unix socket, as socketpair makes them; plain. on_open follows before the call returns. */
struct stream *stream_from_fd(struct loop *l, int fd, int64_t timeout_ms, const struct stream_callbacks *callbacks,
                              void *owner);

void *stream_owner(const struct stream *s);
void stream_set_owner(struct stream *s, const struct stream_callbacks *callbacks, void *owner);
struct loop *stream_loop(const struct stream *s);

/* What ALPN chose: `h2`, `http/1.1`, or empty (plain, or the peer knows no ALPN). */
struct str stream_protocol(const struct stream *s);

/* The subject of the peer's verified certificate, or NULL. Borrowed for the life of the stream. */
X509 *stream_peer_certificate(const struct stream *s);

/* Appends to the queue. The first copies, the second keeps a reference and copies nothing if the stream is plain and the
 * piece is large. Allowed from on_open until closed; ignored once it is closing. */
void stream_write(struct stream *s, struct str data);
void stream_write_bytes(struct stream *s, struct bytes *b, size_t offset, size_t n);

bool stream_has_room(const struct stream *s);
size_t stream_queued_bytes(const struct stream *s);
uint64_t stream_sent_bytes(const struct stream *s); /* that the kernel has taken, ever */
void stream_want_flush(struct stream *s);

/* Stops and goes on reading. */
void stream_pause(struct stream *s);
void stream_resume(struct stream *s);

/* Sends what is queued, then closes; at the latest after timeout_ms. An accepted stream first waits a moment for the peer to close:
 * closing with unread input would make the system throw away what the peer has not read yet. */
void stream_finish(struct stream *s, int64_t timeout_ms);

/* Closes at once. err (copied; may be NULL) is what on_closed gets. */
void stream_close(struct stream *s, const struct err *err);
