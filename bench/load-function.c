/* Load for function servers, with our own client, because h2load cannot send a client certificate.
 *
 *   load-function frame REQUEST FILE     writes the request as one gRPC message, and prints the bytes of its observed composite
 *   load-function call TARGET REQUEST IN_FLIGHT CALLS PID [CERTS NAME]
 *                                        makes the calls and prints the processor time of process PID per call, in microseconds,
 *                                        and the bytes of a response
 *
 * Every call must return a response without fatal results and of the same size as the first. */
#include "buf.h"
#include "fn-client.h"
#include "fn-parts.h"
#include "park.h"
#include "proto.h"
#include "tls.h"
#include "yaml.h"

#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#define MAX_THREADS 1000

struct load {
        struct grpc_channel *channel;
        struct bytes *request;
        _Atomic long left;             /* calls still to begin */
        _Atomic size_t response_bytes; /* of the first response; 0: none yet */
        _Atomic bool has_failed;
};

static int read_file(const char *name, struct buf *ret, struct err *err)
{
        FILE *f = fopen(name, "re");
        char block[4096];
        size_t n;

        if (!f)
                return err_set(err, ERR_SYSTEM, "cannot open %s", name);
        while ((n = fread(block, 1, sizeof(block), f)) > 0)
                buf_append(ret, block, n);
        fclose(f);
        return 0;
}

static int read_request(struct arena *a, const char *name, const struct value **ret, struct buf *ret_message,
                        struct err *err)
{
        _cleanup_buf_ struct buf text = BUF_INIT(0);
        int r = read_file(name, &text, err);

        if (r == 0)
                r = yaml_parse(a, buf_to_arena(&text, a), NULL, ret, err);
        if (r == 0)
                r = proto_encode(ret_message, &proto_fn_v1_RunFunctionRequest, *ret, NULL, err);
        return r;
}

/* --- frame --- */

static int write_frame(const char *name, struct str message, struct err *err)
{
        uint8_t prefix[5] = { 0 };
        FILE *f = fopen(name, "we");
        bool is_written;

        if (!f)
                return err_set(err, ERR_SYSTEM, "cannot write %s", name);
        for (int i = 0; i < 4; i++)
                prefix[4 - i] = (uint8_t)(message.n >> (8 * i));
        is_written = fwrite(prefix, sizeof(prefix), 1, f) == 1 && fwrite(message.p, message.n, 1, f) == 1;
        if (fclose(f) != 0 || !is_written)
                return err_set(err, ERR_SYSTEM, "cannot write %s", name);
        return 0;
}

static int frame(struct arena *a, char **arguments, struct err *err)
{
        _cleanup_buf_ struct buf message = BUF_INIT(0), composite = BUF_INIT(0);
        const struct value *request;
        int r = read_request(a, arguments[0], &request, &message, err);

        if (r == 0)
                r = proto_encode_struct(&composite, value_find(request, "observed", "composite", "resource"), err);
        if (r == 0)
                r = write_frame(arguments[1], buf_str(&message), err);
        if (r == 0)
                printf("%zu\n", composite.n);
        return r;
}

/* --- call --- */

static bool is_fatal(struct arena *a, struct str response)
{
        const struct value *v;

        if (proto_decode(a, &proto_fn_v1_RunFunctionResponse, response, NULL, &v, NULL) < 0)
                return true;
        VALUE_FOREACH_ITEM (result, value_find(v, "results"))
                if (str_equal(value_str(value_find(result, "severity")), STR("SEVERITY_FATAL")))
                        return true;
        return false;
}

/* Checks the first response; the others must have the same size. Their bytes may differ, because each server has its own order of
 * maps. */
static bool is_right(struct load *l, struct arena *a, struct str response)
{
        size_t first = 0;

        if (response.n == 0 || (atomic_load(&l->response_bytes) == 0 && is_fatal(a, response)))
                return false;
        return atomic_compare_exchange_strong(&l->response_bytes, &first, response.n) || first == response.n;
}

static bool call_once(struct load *l, struct arena *a)
{
        struct grpc_call_options options = { .deadline = deadline_after_ms(60000) };
        _cleanup_err_ struct err err = { 0 };
        struct grpc_reply reply;
        bool ok;

        if (fn_call(l->channel, l->request, &options, a, &reply, &err) < 0) {
                fprintf(stderr, "load-function: %s\n", err_message(&err));
                return false;
        }
        ok = is_right(l, a, reply.response->str);
        if (!ok)
                fprintf(stderr, "load-function: a response is wrong: %zu bytes\n", reply.response->str.n);
        bytes_unref(reply.response);
        return ok;
}

static void work(void *arg)
{
        struct load *l = arg;
        struct arena a;

        arena_init(&a, "call", 0);
        while (!atomic_load(&l->has_failed) && atomic_fetch_sub(&l->left, 1) > 0) {
                if (!call_once(l, &a))
                        atomic_store(&l->has_failed, true);
                arena_reset(&a);
        }
        arena_done(&a);
}

static int run_load(struct load *l, unsigned in_flight, struct err *err)
{
        struct thread *threads[MAX_THREADS];
        unsigned n = 0;
        int r = 0;

        for (; n < in_flight && r >= 0; n += r >= 0)
                r = thread_start("load", work, l, &threads[n], err);
        while (n > 0)
                thread_join(threads[--n]);
        if (r >= 0 && atomic_load(&l->has_failed))
                r = err_set(err, ERR_FAILED, "a call failed");
        return r;
}

static int open_channel(const char *target, const char *directory, const char *name, struct grpc_channel **ret,
                        struct err *err)
{
        struct grpc_channel_options options = { .authority = name };
        int r = directory ? tls_config_new(&(struct tls_options) { .directory = directory }, &options.tls, err) : 0;

        if (r == 0)
                r = grpc_channel_new(str_from(target), &options, ret, err);
        tls_config_unref(options.tls);
        return r;
}

static int processor_time_us(pid_t pid, double *ret, struct err *err)
{
        struct timespec t;
        clockid_t clock;

        if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &t) < 0)
                return err_set(err, ERR_SYSTEM, "there is no process %d", (int)pid);
        *ret = (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
        return 0;
}

static int measure(struct load *l, unsigned in_flight, long calls, pid_t pid, struct err *err)
{
        double before, after;
        int r = call_once(l, &(struct arena) { .name = "call" }) ? 0
                                                                 : err_set(err, ERR_FAILED, "the first call failed");

        if (r == 0)
                r = processor_time_us(pid, &before, err);
        atomic_store(&l->left, calls);
        if (r == 0)
                r = run_load(l, in_flight, err);
        if (r == 0)
                r = processor_time_us(pid, &after, err);
        if (r == 0)
                printf("%.3f %zu\n", (after - before) / (double)calls, atomic_load(&l->response_bytes));
        return r;
}

static int call(struct arena *a, char **arguments, int n, struct err *err)
{
        _cleanup_buf_ struct buf message = BUF_INIT(0);
        long in_flight = atol(arguments[2]), calls = atol(arguments[3]);
        const struct value *request;
        struct load load = { 0 };
        int r;

        if (in_flight < 1 || in_flight > MAX_THREADS || calls < 1)
                return err_set(err, ERR_INVALID, "from 1 to %d calls in flight, and at least one call", MAX_THREADS);
        r = read_request(a, arguments[1], &request, &message, err);
        if (r == 0)
                r = open_channel(arguments[0], n > 5 ? arguments[5] : NULL, n > 6 ? arguments[6] : NULL, &load.channel,
                                 err);
        if (r < 0)
                return r;
        load.request = bytes_take(&message);
        r = measure(&load, (unsigned)in_flight, calls, (pid_t)atol(arguments[4]), err);
        bytes_unref(load.request);
        grpc_channel_unref(load.channel);
        return r;
}

int main(int argc, char **argv)
{
        _cleanup_arena_ struct arena a;
        _cleanup_err_ struct err err = { 0 };
        int r;

        arena_init(&a, "request", 0);
        if (argc == 4 && strcmp(argv[1], "frame") == 0)
                r = frame(&a, argv + 2, &err);
        else if ((argc == 7 || argc == 9) && strcmp(argv[1], "call") == 0)
                r = call(&a, argv + 2, argc - 2, &err);
        else
                r = err_set(&err, ERR_INVALID, "usage: load-function frame|call ...");
        if (r < 0)
                fprintf(stderr, "load-function: %s\n", err_message(&err));
        return r < 0;
}
