/* Bytes into one side of an HTTP connection, over a socket pair on a loop that lives as long as the fuzzer. A server echoes, a client
 * asks as often as it may, so that answers, windows and resets are played through; each run ends with the connection gone and
 * nothing open. */
#pragma once

#include "fuzz.h"

#include "buf.h"
#include "connection.h"
#include "loop.h"
#include "park.h"

#include <sys/socket.h>
#include <unistd.h>

#define MAX_REQUESTS 8 /* of a client in one run */

static struct loop *loop;
static int n_open;

struct run {
        struct str before; /* what the peer says first, of itself */
        struct str input;
        size_t piece; /* how much of the input comes at a time; 0: all */
        bool is_h2, is_client;
        int n_requests;
        struct http_connection *http;
        struct completion done;
};

static void on_body(struct exchange *ex, struct str data)
{
        exchange_send(ex, bytes_copy(data));
        exchange_consume(ex, data.n);
}

static void on_end(struct exchange *ex)
{
        struct http_fields trailers = { 0 };

        http_fields_add(&trailers, &ex->arena, STR("grpc-status"), STR("0"));
        exchange_finish(ex, &trailers);
}

static void on_exchange_closed(struct exchange *ex, const struct err *err)
{
        (void)ex, (void)err;
        n_open--;
}

static const struct exchange_callbacks echo_callbacks = { .on_body = on_body,
                                                          .on_end = on_end,
                                                          .on_closed = on_exchange_closed };

static void on_request(struct http_connection *c, struct exchange *ex)
{
        (void)c;
        n_open++;
        ex->callbacks = &echo_callbacks;
        exchange_respond(ex, 200, NULL, false);
}

/* A client's exchange. */

static void on_answer_head(struct exchange *ex)
{
        assert(ex->response.status >= 200 && ex->response.status <= 999);
}

static void on_answer_interim(struct exchange *ex)
{
        assert(ex->response.status >= 100 && ex->response.status < 200);
}

static void on_answer_body(struct exchange *ex, struct str data)
{
        exchange_consume(ex, data.n);
}

static void on_answer_end(struct exchange *ex)
{
        assert(ex->response.status != 0);
}

static const struct exchange_callbacks answer_callbacks = { .on_head = on_answer_head,
                                                            .on_interim = on_answer_interim,
                                                            .on_body = on_answer_body,
                                                            .on_end = on_answer_end,
                                                            .on_closed = on_exchange_closed };

static void ask(struct http_connection *c)
{
        struct run *run = http_connection_owner(c);
        bool is_head = run->n_requests % 2;
        struct http_head head = { .method = is_head ? STR("HEAD") : STR("POST"),
                                  .scheme = STR("http"),
                                  .authority = STR("a"),
                                  .path = STR("/") };
        struct exchange *ex;

        if (!run->is_client || run->n_requests++ >= MAX_REQUESTS || !http_connection_has_slot(c))
                return;
        n_open++;
        ex = http_connection_request(c, &head, !is_head, &answer_callbacks, run);
        if (is_head)
                return;
        exchange_send(ex, bytes_copy(STR("hello")));
        exchange_finish(ex, NULL);
}

static void on_drain(struct http_connection *c)
{
        (void)c;
}

static void on_closed(struct http_connection *c, const struct err *err)
{
        struct run *run = http_connection_owner(c);

        (void)err;
        assert(n_open == 0);
        completion_complete(&run->done);
}

static const struct http_connection_callbacks callbacks = {
        .on_request = on_request, .on_drain = on_drain, .on_slot = ask, .on_closed = on_closed
};

static void on_stream_open(struct stream *s)
{
        struct run *run = stream_owner(s);
        struct http_connection_options options = { .is_server = !run->is_client,
                                                   .max_exchanges = 16,
                                                   .max_head_bytes = 4096,
                                                   .window_bytes = 65535,
                                                   .stall_ms = 5000 };
        struct str rest = run->input;

        run->http = run->is_h2 ? h2_connection_new(s, &options, &callbacks, run)
                               : h1_connection_new(s, &options, &callbacks, run);
        ask(run->http);
        http_connection_input(run->http, run->before);
        while (rest.n > 0) {
                size_t n = run->piece ? MIN(run->piece, rest.n) : rest.n;

                http_connection_input(run->http, str_first(rest, n));
                rest = str_skip(rest, n);
        }
}

static void on_stream_data(struct stream *s, struct str data)
{
        (void)s, (void)data;
}

static void on_stream_end(struct stream *s)
{
        stream_close(s, NULL);
}

static void on_stream_closed(struct stream *s, const struct err *err)
{
        struct run *run = stream_owner(s);

        (void)err;
        completion_complete(&run->done);
}

static const struct stream_callbacks stream_callbacks = {
        .on_open = on_stream_open, .on_data = on_stream_data, .on_end = on_stream_end, .on_closed = on_stream_closed
};

static void start(void *arg)
{
        struct run *run = arg;
        int pair[2];

        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) < 0)
                abort();
        shutdown(pair[1], SHUT_WR); /* the connection ends when it has taken the input and written its answers */
        stream_from_fd(loop, pair[0], 5000, &stream_callbacks, run);
        close(pair[1]);
}

static void play(struct run *run)
{
        if (!loop && loop_new("fuzz", &loop, NULL) < 0)
                abort();
        completion_init(&run->done, "fuzz");
        loop_call(loop, start, run);
        completion_wait(&run->done, DEADLINE_NONE, NULL);
        completion_done(&run->done);
}
