#include "metrics.h"

#include "buf.h"

#define LABELS                                                                                          \
        "grpc_method=\"RunFunction\",grpc_service=\"apiextensions.fn.proto.v1.FunctionRunnerService\"," \
        "grpc_type=\"unary\""

void metrics_append(struct buf *b, const struct metrics *m)
{
        uint64_t n_all = 0;

        buf_append_literal(b, "# HELP grpc_server_started_total Total number of RPCs started on the server.\n"
                              "# TYPE grpc_server_started_total counter\n");
        buf_appendf(b, "grpc_server_started_total{" LABELS "} %llu\n", (unsigned long long)m->n_started);
        buf_append_literal(b,
                           "# HELP grpc_server_handled_total Total number of RPCs completed on the server, regardless "
                           "of success or failure.\n"
                           "# TYPE grpc_server_handled_total counter\n");
        for (int i = 0; i < _GRPC_STATUS_COUNT; i++) {
                uint64_t n = m->n_handled[i];

                n_all += n;
                if (n > 0 || i == GRPC_OK)
                        buf_appendf(b, "grpc_server_handled_total{grpc_code=\"%s\"," LABELS "} %llu\n",
                                    grpc_status_name((enum grpc_status)i), (unsigned long long)n);
        }
        buf_append_literal(b, "# HELP grpc_server_handling_seconds Time spent on RPCs by the server.\n"
                              "# TYPE grpc_server_handling_seconds summary\n");
        buf_appendf(b, "grpc_server_handling_seconds_sum{" LABELS "} %.9f\n", (double)m->handling_ns / 1e9);
        buf_appendf(b, "grpc_server_handling_seconds_count{" LABELS "} %llu\n", (unsigned long long)n_all);
}

static void on_body(struct exchange *ex, struct str data)
{
        exchange_consume(ex, data.n);
}

static void on_end(struct exchange *ex)
{
        _cleanup_buf_ struct buf body = BUF_INIT(0);
        struct http_fields fields = { 0 };

        metrics_append(&body, ex->owner);
        http_fields_add(&fields, &ex->arena, STR("content-type"), STR("text/plain; version=0.0.4; charset=utf-8"));
        http_fields_add(&fields, &ex->arena, STR("content-length"), arena_printf(&ex->arena, "%zu", body.n));
        exchange_respond(ex, 200, &fields, false);
        exchange_send(ex, bytes_take(&body));
        exchange_finish(ex, NULL);
}

static void on_closed(struct exchange *ex, const struct err *err)
{
}

static const struct exchange_callbacks callbacks = { .on_body = on_body, .on_end = on_end, .on_closed = on_closed };

static void on_request(void *context, struct exchange *ex)
{
        ex->callbacks = &callbacks;
        ex->owner = context;
}

int metrics_serve(const struct metrics *m, const struct address *address, struct http_server **ret, struct err *err)
{
        struct http_server_options options = {
                .address = *address,
                .on_request = on_request,
                .context = (void *)m,
                .max_connections = 32,
        };

        return http_server_new(&options, ret, err);
}
