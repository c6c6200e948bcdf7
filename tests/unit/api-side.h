/* An API server on a store in memory, and a small client of HTTP/1.1 on a raw socket. */
#pragma once

#include "apiserver.h"
#include "raw.h"
#include "store-test.h"

struct api {
        struct fixture fixture;
        struct apiserver *server;
        struct address address;
};

static inline void api_init_with(struct api *api, const struct store_options *store,
                                 const struct apiserver_options *more)
{
        struct apiserver_options options = more ? *more : (struct apiserver_options) { 0 };
        _cleanup_err_ struct err err = { 0 };

        fixture_init_with(&api->fixture, store);
        options.cluster = api->fixture.cluster;
        ASSERT_INT(address_from_ip(STR("127.0.0.1"), 0, &options.address, &err), 0);
        if (apiserver_new(&options, &api->server, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
        api->address = apiserver_address(api->server);
}

static inline void api_init(struct api *api)
{
        struct store_options options = { 0 };

        api_init_with(api, &options, NULL);
}

static inline void api_done(struct api *api)
{
        apiserver_free(api->server);
        fixture_done(&api->fixture);
}

#define _cleanup_api_ _cleanup_(api_done)

/* --- Connections --- */

struct client {
        int fd;
        struct buf in;
        size_t at; /* bytes of `in` that were taken */
};

struct reply {
        int status;
        struct str head;
        struct str body;
};

static inline void client_init(struct client *c, const struct api *api)
{
        *c = (struct client) { .fd = raw_dial(&api->address) };
        buf_init(&c->in, 0);
}

static inline void client_done(struct client *c)
{
        close(c->fd);
        buf_done(&c->in);
}

#define _cleanup_client_ _cleanup_(client_done)

/* Reads more; false at the end of the stream. */
static inline bool client_more(struct client *c)
{
        char block[16 << 10];
        ssize_t n;

        ASSERT(raw_is_readable(c->fd, 20000));
        n = recv(c->fd, block, sizeof(block), 0);
        if (n <= 0)
                return false;
        if (c->at > 0) {
                memmove(c->in.p, c->in.p + c->at, c->in.n - c->at);
                c->in.n -= c->at;
                c->at = 0;
        }
        buf_append(&c->in, block, (size_t)n);
        return true;
}

static inline struct str client_left(const struct client *c)
{
        return str_skip(buf_str(&c->in), c->at);
}

/* Up to and including the text; STR_NONE at the end of the stream. Borrowed until more is read. */
static inline struct str client_until(struct client *c, struct str text)
{
        ptrdiff_t at;

        while ((at = str_find(client_left(c), text)) < 0)
                if (!client_more(c))
                        return STR_NONE;
        c->at += (size_t)at + text.n;
        return str_make(c->in.p + c->at - (size_t)at - text.n, (size_t)at + text.n);
}

static inline void client_take(struct client *c, size_t n, struct buf *b)
{
        while (n > 0) {
                struct str left = str_first(client_left(c), n);

                if (left.n == 0) {
                        ASSERT(client_more(c));
                        continue;
                }
                buf_append_str(b, left);
                c->at += left.n;
                n -= left.n;
        }
}

/* One chunk of a chunked body; false after the last one. */
static inline bool client_chunk(struct client *c, struct buf *b)
{
        struct str line = client_until(c, STR("\r\n"));
        size_t n;

        if (!line.p)
                return false;
        n = strtoul(line.p, NULL, 16);
        client_take(c, n, b);
        ASSERT(client_until(c, STR("\r\n")).p);
        return n > 0;
}

static inline struct str head_value(struct str head, const char *name)
{
        struct str line;

        while (head.n > 0) {
                str_split(&head, '\n', &line);
                if (str_starts_with(line, str_from(name)) && line.n > strlen(name) && line.p[strlen(name)] == ':')
                        return str_trim(str_skip(line, strlen(name) + 1));
        }
        return STR_NONE;
}

/* The head of an answer; the body follows. */
static inline struct reply client_head(struct client *c, struct arena *a)
{
        struct str head = client_until(c, STR("\r\n\r\n"));

        ASSERT(head.p);
        return (struct reply) { .status = atoi(head.p + 9), .head = arena_copy(a, head) };
}

static inline struct reply client_reply(struct client *c, struct arena *a, bool is_head)
{
        struct reply r = client_head(c, a);
        struct str length = head_value(r.head, "content-length");
        _cleanup_buf_ struct buf body = BUF_INIT(0);

        if (is_head || r.status == 304)
                return r;
        if (length.p)
                client_take(c, (size_t)atoi(length.p), &body);
        else
                while (client_chunk(c, &body))
                        ;
        r.body = buf_to_arena(&body, a);
        return r;
}

/* Sends a request. fields: lines of the head, each with its line end. */
static inline void client_send(struct client *c, const char *method, const char *target, const char *fields,
                               struct str body)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        buf_appendf(&b, "%s %s HTTP/1.1\r\nhost: localhost\r\n%s", method, target, fields);
        if (body.p)
                buf_appendf(&b, "content-length: %zu\r\n", body.n);
        buf_append_literal(&b, "\r\n");
        buf_append_str(&b, body);
        raw_say(c->fd, buf_str(&b));
}

#define JSON_TYPE "content-type: application/json\r\n"

/* A request with its answer. Single quotes in the body stand for double quotes. */
static inline struct reply ask(struct client *c, struct arena *a, const char *method, const char *target,
                               const char *fields, const char *body)
{
        struct str text = body ? arena_copy(a, str_from(body)) : STR_NONE;

        for (size_t i = 0; i < text.n; i++)
                if (text.p[i] == '\'')
                        ((char *)text.p)[i] = '"';
        client_send(c, method, target, fields, text);
        return client_reply(c, a, strcmp(method, "HEAD") == 0);
}

static inline bool reply_has(struct reply r, const char *text)
{
        return str_find(r.body, str_from(text)) >= 0;
}

#define ASSERT_REPLY(given, wanted_status, text)                                                                  \
        do {                                                                                                      \
                struct reply _r = (given);                                                                        \
                if (_r.status != (wanted_status) || !reply_has(_r, (text)))                                       \
                        test_fail(__FILE__, __LINE__, "wanted %d with %s, got %d: %.*s", (wanted_status), (text), \
                                  _r.status, STR_ARG(str_first(_r.body, 600)));                                   \
        } while (0)

/* The next line of a watch, which is chunked. Borrowed from `lines`. */
struct watch_lines {
        struct client *client;
        struct buf text;
        size_t at;
};

static inline struct str watch_line(struct watch_lines *w)
{
        for (;;) {
                struct str rest = str_skip(buf_str(&w->text), w->at), line;

                if (str_find_char(rest, '\n') >= 0) {
                        str_split(&rest, '\n', &line);
                        w->at += line.n + 1;
                        return line;
                }
                if (!client_chunk(w->client, &w->text))
                        return STR_NONE;
        }
}

static inline void watch_open(struct watch_lines *w, struct client *c, struct arena *a, const char *target)
{
        struct reply r;

        *w = (struct watch_lines) { .client = c };
        client_send(c, "GET", target, "", STR_NONE);
        r = client_head(c, a);
        ASSERT_INT(r.status, 200);
        ASSERT_STR(head_value(r.head, "content-type"), STR("application/json"));
}

#define ASSERT_LINE(line, ...)                                                                              \
        do {                                                                                                \
                struct str _line = (line);                                                                  \
                static const char *const _texts[] = { __VA_ARGS__ };                                        \
                for (size_t _i = 0; _i < ARRAY_SIZE(_texts); _i++)                                          \
                        if (str_find(_line, str_from(_texts[_i])) < 0)                                      \
                                test_fail(__FILE__, __LINE__, "no %s in %.*s", _texts[_i], STR_ARG(_line)); \
        } while (0)
