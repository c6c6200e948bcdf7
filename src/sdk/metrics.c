#include "metrics.h"

#include "buf.h"

#define LABELS                                                                                          \
        "grpc_method=\"RunFunction\",grpc_service=\"apiextensions.fn.proto.v1.FunctionRunnerService\"," \
        "grpc_type=\"unary\""

/* The bounds of Prometheus' client libraries, and finer ones below them, because most calls take less than a millisecond. */
static const struct {
        int64_t ns;
        const char *text;
} bounds[METRICS_N_BOUNDS] = {
        { 250000, "0.00025" }, { 500000, "0.0005" },  { 1000000, "0.001" }, { 5000000, "0.005" },  { 10000000, "0.01" },
        { 25000000, "0.025" }, { 50000000, "0.05" },  { 100000000, "0.1" }, { 250000000, "0.25" }, { 500000000, "0.5" },
        { 1000000000, "1" },   { 2500000000, "2.5" }, { 5000000000, "5" },  { 10000000000, "10" },
};

void metrics_start(struct metrics *m)
{
        m->n_started++;
}

void metrics_finish(struct metrics *m, enum grpc_status status, bool is_fatal, int64_t duration_ns)
{
        size_t i = 0;

        while (i < METRICS_N_BOUNDS && duration_ns > bounds[i].ns)
                i++;
        m->n_within[i]++;
        m->handling_ns += (uint64_t)duration_ns;
        m->n_fatal += is_fatal;
        m->n_handled[status]++;
}

static void append_head(struct buf *b, const char *name, const char *type, const char *help)
{
        buf_appendf(b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void append_durations(struct buf *b, const struct metrics *m)
{
        unsigned long long n = 0;

        append_head(b, "grpc_server_handling_seconds", "histogram",
                    "Histogram of response latency (seconds) of gRPC that had been application-level handled by the "
                    "server.");
        for (size_t i = 0; i <= METRICS_N_BOUNDS; i++) {
                n += m->n_within[i];
                buf_appendf(b, "grpc_server_handling_seconds_bucket{" LABELS ",le=\"%s\"} %llu\n",
                            i < METRICS_N_BOUNDS ? bounds[i].text : "+Inf", n);
        }
        buf_appendf(b, "grpc_server_handling_seconds_sum{" LABELS "} %.9f\n", (double)m->handling_ns / 1e9);
        buf_appendf(b, "grpc_server_handling_seconds_count{" LABELS "} %llu\n", n);
}

void metrics_append(struct buf *b, const struct metrics *m)
{
        append_head(b, "grpc_server_started_total", "counter", "Total number of RPCs started on the server.");
        buf_appendf(b, "grpc_server_started_total{" LABELS "} %llu\n", (unsigned long long)m->n_started);
        append_head(b, "grpc_server_handled_total", "counter",
                    "Total number of RPCs completed on the server, regardless of success or failure.");
        /* Include statuses that never occurred: a rate needs a number from before the first occurrence. */
        for (int i = 0; i < _GRPC_STATUS_COUNT; i++) {
                buf_appendf(b, "grpc_server_handled_total{grpc_code=\"%s\"," LABELS "} %llu\n",
                            grpc_status_name((enum grpc_status)i), (unsigned long long)m->n_handled[i]);
        }
        append_durations(b, m);
        append_head(b, "weft_function_fatal_total", "counter", "Calls whose response had a fatal result.");
        buf_appendf(b, "weft_function_fatal_total %llu\n", (unsigned long long)m->n_fatal);
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
