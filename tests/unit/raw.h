/* Raw sockets and handmade HTTP/2 frames: for peers that behave as no library does. */
#pragma once

#include "arena.h"
#include "address.h"
#include "buf.h"
#include "test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#define RAW_PREFACE STR("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")

enum {
        RAW_DATA = 0,
        RAW_HEADERS = 1,
        RAW_RST_STREAM = 3,
        RAW_SETTINGS = 4,
        RAW_PING = 6,
        RAW_GOAWAY = 7,
        RAW_WINDOW_UPDATE = 8,
        RAW_CONTINUATION = 9,
        RAW_END_STREAM = 1,
        RAW_ACK = 1,
        RAW_END_HEADERS = 4,
};

/* Binds a port of 127.0.0.1 that the system chooses. Connections are refused until the socket listens. */
static inline int raw_bind(struct address *ret)
{
        _cleanup_err_ struct err err = { 0 };
        socklen_t n = sizeof(ret->ip4);
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

        ASSERT(address_from_ip(STR("127.0.0.1"), 0, ret, &err) == 0);
        ASSERT(fd >= 0 && bind(fd, &ret->any, n) == 0);
        ASSERT(getsockname(fd, &ret->any, &n) == 0);
        return fd;
}

static inline int raw_listen(struct address *ret)
{
        int fd = raw_bind(ret);

        ASSERT(listen(fd, 64) == 0);
        return fd;
}

static inline bool raw_is_readable(int fd, int timeout_ms)
{
        struct pollfd p = { fd, POLLIN, 0 };

        return poll(&p, 1, timeout_ms) == 1;
}

static inline int raw_accept(int listening)
{
        int fd;

        ASSERT(raw_is_readable(listening, 20000));
        fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC);
        ASSERT(fd >= 0);
        return fd;
}

static inline int raw_dial(const struct address *a)
{
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

        ASSERT(fd >= 0 && connect(fd, &a->any, sizeof(a->ip4)) == 0);
        return fd;
}

static inline void raw_say(int fd, struct str text)
{
        while (text.n > 0) {
                ssize_t n = send(fd, text.p, text.n, MSG_NOSIGNAL);

                ASSERT(n > 0);
                text = str_skip(text, (size_t)n);
        }
}

/* Reads until the peer closes, or until `until` is in the text; returns everything read. */
static inline struct str raw_hear(int fd, const char *until, struct arena *a)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        char block[4096];

        for (;;) {
                ssize_t n;

                if (until && str_find(buf_str(&b), str_from(until)) >= 0)
                        break;
                ASSERT(raw_is_readable(fd, 20000));
                n = recv(fd, block, sizeof(block), 0);
                if (n <= 0)
                        break;
                buf_append(&b, block, (size_t)n);
        }
        return arena_copy(a, buf_str(&b));
}

/* Sends until the socket takes no more for patience_ms, or `most` bytes are sent; returns the number of bytes. */
static inline size_t raw_fill(int fd, const char *block, size_t n, size_t most, int patience_ms)
{
        size_t total = 0;

        while (total < most) {
                struct pollfd p = { fd, POLLOUT, 0 };
                ssize_t sent;

                if (poll(&p, 1, patience_ms) != 1)
                        break;
                sent = send(fd, block, MIN(n, most - total), MSG_NOSIGNAL | MSG_DONTWAIT);
                if (sent <= 0)
                        break;
                total += (size_t)sent;
        }
        return total;
}

/* Frames */

static inline void raw_frame(struct buf *b, int type, int flags, uint32_t id, struct str payload)
{
        unsigned char head[9] = { (unsigned char)(payload.n >> 16),
                                  (unsigned char)(payload.n >> 8),
                                  (unsigned char)payload.n,
                                  (unsigned char)type,
                                  (unsigned char)flags,
                                  (unsigned char)(id >> 24),
                                  (unsigned char)(id >> 16),
                                  (unsigned char)(id >> 8),
                                  (unsigned char)id };

        buf_append(b, head, sizeof(head));
        buf_append_str(b, payload);
}

static inline void raw_send_frame(int fd, int type, int flags, uint32_t id, struct str payload)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        raw_frame(&b, type, flags, id, payload);
        raw_say(fd, buf_str(&b));
}

/* HPACK: a literal field without indexing. Name and value are shorter than 127 bytes. */
static inline void raw_field(struct buf *b, const char *name, const char *value)
{
        ASSERT(strlen(name) < 127 && strlen(value) < 127);
        buf_append_char(b, 0);
        buf_append_char(b, (char)strlen(name));
        buf_append_str(b, str_from(name));
        buf_append_char(b, (char)strlen(value));
        buf_append_str(b, str_from(value));
}

/* Sends HEADERS with these fields: names and values in turn, ends with NULL. */
static inline void raw_send_headers(int fd, uint32_t id, int flags, const char *const *pairs)
{
        _cleanup_buf_ struct buf block = BUF_INIT(0);

        for (; *pairs; pairs += 2)
                raw_field(&block, pairs[0], pairs[1]);
        raw_send_frame(fd, RAW_HEADERS, RAW_END_HEADERS | flags, id, buf_str(&block));
}

#define RAW_FIELDS(...) ((const char *const[]) { __VA_ARGS__, NULL })

static inline struct str raw_u32(char into[4], uint32_t n)
{
        n = htonl(n);
        memcpy(into, &n, 4);
        return str_make(into, 4);
}

struct raw_frame {
        uint8_t type, flags;
        uint32_t id;
        struct str payload; /* valid until the next frame is read */
};

/* The reading side of an HTTP/2 peer. */
struct raw_peer {
        int fd;
        struct buf in;
        size_t n_taken;
        bool is_server; /* the other side begins with the preface */
        bool had_preface;
        unsigned n_pings; /* read so far */
};

static inline void raw_peer_init(struct raw_peer *p, int fd, bool is_server)
{
        *p = (struct raw_peer) { .fd = fd, .is_server = is_server };
        buf_init(&p->in, 0);
}

static inline void raw_peer_done(struct raw_peer *p)
{
        buf_done(&p->in);
        close(p->fd);
}

/* Reads until n bytes are buffered; false at the end of the stream. */
static inline bool raw_need(struct raw_peer *p, size_t n)
{
        char block[16 << 10];

        while (p->in.n - p->n_taken < n) {
                ssize_t got;

                ASSERT(raw_is_readable(p->fd, 20000));
                got = recv(p->fd, block, sizeof(block), 0);
                if (got <= 0)
                        return false;
                if (p->n_taken > 0) {
                        memmove(p->in.p, p->in.p + p->n_taken, p->in.n - p->n_taken);
                        p->in.n -= p->n_taken;
                        p->n_taken = 0;
                }
                buf_append(&p->in, block, (size_t)got);
        }
        return true;
}

static inline bool raw_next(struct raw_peer *p, struct raw_frame *ret)
{
        const unsigned char *h;
        size_t n;

        if (p->is_server && !p->had_preface) {
                if (!raw_need(p, RAW_PREFACE.n))
                        return false;
                ASSERT_STR(str_first(str_skip(buf_str(&p->in), p->n_taken), RAW_PREFACE.n), RAW_PREFACE);
                p->n_taken += RAW_PREFACE.n;
                p->had_preface = true;
        }
        if (!raw_need(p, 9))
                return false;
        h = (const unsigned char *)p->in.p + p->n_taken;
        n = (size_t)h[0] << 16 | (size_t)h[1] << 8 | h[2];
        if (!raw_need(p, 9 + n))
                return false;
        h = (const unsigned char *)p->in.p + p->n_taken;
        *ret = (struct raw_frame) {
                .type = h[3],
                .flags = h[4],
                .id = ((uint32_t)h[5] << 24 | (uint32_t)h[6] << 16 | (uint32_t)h[7] << 8 | h[8]) & 0x7fffffff,
                .payload = str_make((const char *)h + 9, n),
        };
        p->n_taken += 9 + n;
        p->n_pings += ret->type == RAW_PING && !(ret->flags & RAW_ACK);
        return true;
}

/* Whether there is something to read within timeout_ms. */
static inline bool raw_has_more(const struct raw_peer *p, int timeout_ms)
{
        return p->in.n > p->n_taken || raw_is_readable(p->fd, timeout_ms);
}

/* Skips to the next frame of the type; false at the end of the stream. */
static inline bool raw_find(struct raw_peer *p, int type, struct raw_frame *ret)
{
        while (raw_next(p, ret))
                if (ret->type == type)
                        return true;
        return false;
}
