/* A gRPC server with a few methods, channels to it, and certificates for both. */
#pragma once

#include "arena.h"
#include "buf.h"
#include "bytes.h"
#include "certs.h"
#include "grpc-client.h"
#include "grpc-server.h"
#include "tls.h"

#include <unistd.h>

/* Counted by the handlers, in all servers of the process. */
static _Atomic int n_hanging, n_canceled;

static inline enum grpc_status echo(void *context, struct grpc_request *request, struct buf *ret, struct err *err)
{
        struct str trace = http_fields_get(request->metadata, STR("traceparent"));

        (void)context;
        if (trace.p)
                http_fields_add(&request->reply_metadata, request->arena, STR("x-trace"), trace);
        if (str_equal(request->message, STR("fail"))) {
                err_set(err, ERR_NOT_FOUND, "no such thing: %s", "100% ü");
                return GRPC_NOT_FOUND;
        }
        buf_append_str(ret, request->message);
        return GRPC_OK;
}

static inline enum grpc_status hang(void *context, struct grpc_request *request, struct buf *ret, struct err *err)
{
        int r;

        (void)context, (void)ret;
        ASSERT(!deadline_is_none(request->deadline));
        atomic_fetch_add(&n_hanging, 1);
        r = thread_sleep(deadline_after_ms(60000), request->cancel);
        if (r == ERR_CANCELED)
                atomic_fetch_add(&n_canceled, 1);
        wait_error(r, request->cancel, "hang", err);
        return GRPC_CANCELLED;
}

static inline enum grpc_status slow(void *context, struct grpc_request *request, struct buf *ret, struct err *err)
{
        (void)context, (void)err;
        thread_sleep(deadline_after_ms(2), request->cancel);
        buf_append_str(ret, request->message);
        return GRPC_OK;
}

/* Triggers the client's own cancel token, whose address (with a reference) is the message; then waits like hang. */
static inline enum grpc_status cancel_me(void *context, struct grpc_request *request, struct buf *ret, struct err *err)
{
        struct cancel *cancel;

        ASSERT(request->message.n == sizeof(cancel));
        memcpy(&cancel, request->message.p, sizeof(cancel));
        cancel_trigger(cancel, "enough");
        cancel_unref(cancel);
        return hang(context, request, ret, err);
}

/* Returns as many bytes as the number in the request. */
static inline enum grpc_status give(void *context, struct grpc_request *request, struct buf *ret, struct err *err)
{
        size_t n = 0;

        (void)context, (void)err;
        for (size_t i = 0; i < request->message.n; i++)
                n = n * 10 + (size_t)(request->message.p[i] - '0');
        buf_append_repeat(ret, 'x', n);
        return GRPC_OK;
}

static const struct grpc_method methods[] = {
        { "/test.Test/Echo", echo, NULL }, { "/test.Test/Hang", hang, NULL },
        { "/test.Test/Slow", slow, NULL }, { "/test.Test/CancelMe", cancel_me, NULL },
        { "/test.Test/Give", give, NULL },
};

struct server {
        struct grpc_server *s;
        char target[64];
};

static inline struct server start_server(struct tls_config *tls)
{
        struct grpc_server_options options = {
                .http.tls = tls,
                .methods = methods,
                .n_methods = ARRAY_SIZE(methods),
                .n_workers = 8,
                .has_reflection = true,
                .max_receive_bytes = 40u << 20,
                .max_receive_flag = "--max-recv-message-size",
        };
        struct server s = { 0 };
        _cleanup_err_ struct err err = { 0 };
        _cleanup_buf_ struct buf text = BUF_INIT(0);
        struct address address;

        ASSERT(address_from_ip(STR("127.0.0.1"), 0, &options.http.address, &err) == 0);
        if (grpc_server_new(&options, &s.s, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
        address = grpc_server_address(s.s);
        address_append(&text, &address);
        snprintf(s.target, sizeof(s.target), "%s", buf_cstring(&text));
        return s;
}

static inline struct grpc_channel *open_channel(const char *target, const struct grpc_channel_options *options)
{
        _cleanup_err_ struct err err = { 0 };
        struct grpc_channel *c;

        if (grpc_channel_new(str_from(target), options, &c, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
        return c;
}

static inline int call(struct grpc_channel *c, const char *method, struct str message, int64_t timeout_ms,
                       struct arena *a, struct grpc_reply *ret, struct err *err)
{
        struct grpc_call_options options = { .deadline = deadline_after_ms(timeout_ms) };
        _cleanup_bytes_ struct bytes *request = bytes_copy(message);

        return grpc_call(c, str_from(method), request, &options, a, ret, err);
}

/* TLS */

static inline struct tls_config *config(const char *directory, bool is_server)
{
        struct tls_options options = { .is_server = is_server,
                                       .directory = directory,
                                       .needs_client_certificate = is_server };
        _cleanup_err_ struct err err = { 0 };
        struct tls_config *c;

        if (tls_config_new(&options, &c, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
        return c;
}

struct world {
        char directory[32];
        char server[64], client[64];
        struct authority ours, theirs;
};

static inline void world_init(struct world *w)
{
        snprintf(w->directory, sizeof(w->directory), "/tmp/weft-tls-XXXXXX");
        ASSERT(mkdtemp(w->directory));
        snprintf(w->server, sizeof(w->server), "%s/server", w->directory);
        snprintf(w->client, sizeof(w->client), "%s/client", w->directory);
        w->ours = authority_new("ours");
        w->theirs = authority_new("theirs");
        write_certificate(w->server, "IP:127.0.0.1,DNS:fn.example", &w->ours, &w->ours, 3600);
        write_certificate(w->client, "DNS:client", &w->ours, &w->ours, 3600);
}

static inline void world_done(struct world *w)
{
        char command[64];

        snprintf(command, sizeof(command), "rm -rf %s", w->directory);
        ASSERT(system(command) == 0);
        authority_done(&w->ours);
        authority_done(&w->theirs);
}
