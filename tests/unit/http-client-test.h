/* An HTTP server of ours for tests of the client, in all forms: plain text or TLS, HTTP/1.1 or HTTP/2. What it does depends on the
 * path:
 *
 *   /echo       the request's body, as it comes
 *   /bytes/N    N bytes
 *   /status/N   status N without a body
 *   /hang       no answer
 *   /begin      a head and five bytes, then nothing
 *   /early      401 before the request's body is read
 *   /trailers   a body and a trailer
 *   /fields     the request's method, authority and fields */
#pragma once

#include "http-client.h"
#include "certs.h"
#include "raw.h"
#include "server.h"
#include "tls.h"

#include <stdatomic.h>

struct serving {
        struct exchange *ex;
        size_t left_bytes;
        bool is_over;
};

static _Atomic int n_requests, n_open, n_canceled;
static _Atomic size_t n_sent; /* bytes of /bytes/N */

static inline void send_bytes(struct exchange *ex)
{
        struct serving *s = ex->owner;
        char block[16 << 10];

        memset(block, 'x', sizeof(block));
        while (!s->is_over && exchange_has_room(ex)) {
                size_t n = MIN(s->left_bytes, sizeof(block));

                if (n > 0)
                        exchange_send(ex, bytes_copy(str_make(block, n)));
                s->left_bytes -= n;
                atomic_fetch_add(&n_sent, n);
                if (s->left_bytes == 0) {
                        s->is_over = true;
                        exchange_finish(ex, NULL);
                        return;
                }
        }
}

static inline void send_fields(struct exchange *ex)
{
        _cleanup_buf_ struct buf text = BUF_INIT(0);

        buf_appendf(&text, "%.*s %.*s\n", STR_ARG(ex->request.method), STR_ARG(ex->request.authority));
        for (size_t i = 0; i < ex->request.fields.n; i++)
                buf_appendf(&text, "%.*s: %.*s\n", STR_ARG(ex->request.fields.p[i].name),
                            STR_ARG(ex->request.fields.p[i].value));
        exchange_send(ex, bytes_take(&text));
        exchange_finish(ex, NULL);
}

static inline void on_served_body(struct exchange *ex, struct str data)
{
        struct serving *s = ex->owner;

        if (!s->is_over && str_equal(ex->request.path, STR("/echo")))
                exchange_send(ex, bytes_copy(data));
        exchange_consume(ex, data.n);
}

static inline void on_served_end(struct exchange *ex)
{
        struct serving *s = ex->owner;
        struct http_fields trailers = { 0 };

        if (s->is_over)
                return;
        if (str_equal(ex->request.path, STR("/echo"))) {
                s->is_over = true;
                exchange_finish(ex, NULL);
        } else if (str_equal(ex->request.path, STR("/trailers"))) {
                s->is_over = true;
                http_fields_add(&trailers, &ex->arena, STR("x-sum"), STR("42"));
                exchange_send(ex, bytes_copy(STR("body")));
                exchange_finish(ex, &trailers);
        } else if (str_equal(ex->request.path, STR("/fields"))) {
                s->is_over = true;
                send_fields(ex);
        } else if (str_starts_with(ex->request.path, STR("/bytes/"))) {
                send_bytes(ex);
        }
}

static inline void on_served_room(struct exchange *ex)
{
        if (str_starts_with(ex->request.path, STR("/bytes/")))
                send_bytes(ex);
}

static inline void on_served_closed(struct exchange *ex, const struct err *err)
{
        if (err)
                atomic_fetch_add(&n_canceled, 1);
        free(ex->owner);
        atomic_fetch_sub(&n_open, 1);
}

static const struct exchange_callbacks serving_callbacks = {
        .on_body = on_served_body, .on_end = on_served_end, .on_room = on_served_room, .on_closed = on_served_closed
};

static inline void on_served_request(void *context, struct exchange *ex)
{
        struct serving *s = calloc(1, sizeof(*s));
        struct str rest = ex->request.path;
        struct http_fields fields = { 0 };

        (void)context;
        atomic_fetch_add(&n_requests, 1);
        atomic_fetch_add(&n_open, 1);
        s->ex = ex;
        ex->owner = s;
        ex->callbacks = &serving_callbacks;
        if (str_cut_prefix(&rest, STR("/status/"))) {
                s->is_over = true;
                exchange_respond(ex, atoi(rest.p), NULL, true);
        } else if (str_cut_prefix(&rest, STR("/bytes/"))) {
                s->left_bytes = strtoul(rest.p, NULL, 10);
                exchange_respond(ex, 200, NULL, false);
        } else if (str_equal(rest, STR("/early"))) {
                s->is_over = true;
                exchange_respond(ex, 401, NULL, true);
        } else if (str_equal(rest, STR("/begin"))) {
                exchange_respond(ex, 200, NULL, false);
                exchange_send(ex, bytes_copy(STR("begin")));
        } else if (!str_equal(rest, STR("/hang"))) {
                http_fields_add(&fields, &ex->arena, STR("x-test"), STR("yes"));
                exchange_respond(ex, 200, &fields, false);
        }
}

/* The server and a client for it. */
enum form { FORM_H1, FORM_H2, FORM_TLS_H1, FORM_TLS_H2, FORM_MUTUAL, _FORM_COUNT };

static const char *const form_names[] = { "HTTP/1.1", "HTTP/2", "TLS HTTP/1.1", "TLS HTTP/2", "mutual TLS" };

struct stage {
        enum form form;
        char directory[64];
        struct authority authority;
        struct tls_config *server_tls, *client_tls;
        struct http_server *server;
        struct http_client *client;
        char target[64];
};

static inline bool form_is_tls(enum form f)
{
        return f == FORM_TLS_H1 || f == FORM_TLS_H2 || f == FORM_MUTUAL;
}

static inline bool form_is_h2(enum form f)
{
        return f == FORM_H2 || f == FORM_TLS_H2 || f == FORM_MUTUAL;
}

static inline void stage_tls(struct stage *s)
{
        _cleanup_err_ struct err err = { 0 };
        struct tls_options server = { .is_server = true,
                                      .directory = s->directory,
                                      .needs_client_certificate = s->form == FORM_MUTUAL,
                                      .offers_http1 = true };
        char ca[128], crt[128], key[128];
        struct tls_options client = { .ca_file = ca, .offers_http1 = true, .refuses_http2 = s->form == FORM_TLS_H1 };

        snprintf(s->directory, sizeof(s->directory), "/tmp/test-http-client-XXXXXX");
        ASSERT(mkdtemp(s->directory));
        s->authority = authority_new("authority");
        write_certificate(s->directory, "IP:127.0.0.1,DNS:localhost", &s->authority, &s->authority, 3600);
        snprintf(ca, sizeof(ca), "%s/ca.crt", s->directory);
        snprintf(crt, sizeof(crt), "%s/tls.crt", s->directory);
        snprintf(key, sizeof(key), "%s/tls.key", s->directory);
        if (s->form == FORM_MUTUAL) {
                client.certificate_file = crt;
                client.key_file = key;
        }
        if (tls_config_new(&server, &s->server_tls, &err) < 0 || tls_config_new(&client, &s->client_tls, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
}

static inline void stage_init(struct stage *s, enum form form, struct http_server_options server,
                              struct http_client_options client)
{
        _cleanup_err_ struct err err = { 0 };
        _cleanup_buf_ struct buf text = BUF_INIT(0);
        struct address a;

        *s = (struct stage) { .form = form };
        atomic_store(&n_requests, 0);
        atomic_store(&n_canceled, 0);
        atomic_store(&n_sent, 0);
        if (form_is_tls(form))
                stage_tls(s);
        server.on_request = on_served_request;
        server.tls = s->server_tls;
        client.tls = s->client_tls;
        client.version = form == FORM_H2 ? HTTP_VERSION_2 : HTTP_VERSION_ANY;
        ASSERT(address_from_ip(STR("127.0.0.1"), 0, &server.address, &err) == 0);
        if (http_server_new(&server, &s->server, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
        a = http_server_address(s->server);
        address_append(&text, &a);
        snprintf(s->target, sizeof(s->target), "%s://%s", form_is_tls(form) ? "https" : "http", buf_cstring(&text));
        if (http_client_new(str_from(s->target), &client, &s->client, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
}

static inline void stage_done(struct stage *s)
{
        static const char *const files[] = { "ca.crt", "tls.crt", "tls.key" };
        char path[128];

        http_client_unref(s->client);
        http_server_free(s->server);
        ASSERT_INT(atomic_load(&n_open), 0);
        if (!form_is_tls(s->form))
                return;
        tls_config_unref(s->server_tls);
        tls_config_unref(s->client_tls);
        authority_done(&s->authority);
        for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
                snprintf(path, sizeof(path), "%s/%s", s->directory, files[i]);
                unlink(path);
        }
        rmdir(s->directory);
}

/* Opens a request that must get a response. */
static inline struct http_response *must_open(struct http_client *c, const struct http_request *q)
{
        _cleanup_err_ struct err err = { 0 };
        struct http_response *r;
        struct http_request with = *q;

        with.deadline = deadline_after_ms(20000);
        if (http_client_open(c, &with, &r, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
        return r;
}

/* Reads the rest and frees the response. */
static inline struct str must_read(struct http_response *r, struct arena *a)
{
        _cleanup_err_ struct err err = { 0 };
        _cleanup_bytes_ struct bytes *body = NULL;
        struct str copy;

        if (http_response_read_all(r, 64 << 20, deadline_after_ms(20000), NULL, &body, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
        copy = arena_copy(a, body->str);
        http_response_free(r);
        return copy;
}

/* Waits until a condition holds; it must read only atomic variables. */
#define WAIT_UNTIL(condition)                                      \
        do {                                                       \
                for (int _i = 0; _i < 20000 && !(condition); _i++) \
                        thread_sleep(deadline_after_ms(1), NULL);  \
                ASSERT(condition);                                 \
        } while (0)

static inline struct http_request get(const char *path)
{
        return (struct http_request) { .method = STR("GET"), .path = str_from(path) };
}
