/* A function that is called over gRPC. */
#include "registry.h"

#include "buf.h"
#include "bytes.h"
#include "fn-client.h"
#include "tls.h"

#include <stdatomic.h>

struct remote {
        struct function function;
        struct grpc_channel *channel;
        struct semaphore in_flight;
        bool is_limited;
        bool names_itself;
        int64_t patience_ms;
        char *name;
        char *revision;
};

static void remote_free(struct function *f)
{
        struct remote *r = CONTAINER_OF(f, struct remote, function);

        grpc_channel_unref(r->channel);
        if (r->is_limited)
                semaphore_done(&r->in_flight);
        free(r->name);
        free(r->revision);
        free(r);
}

#define RETRY_MS       200  /* between two tries to reach a function */
#define MAX_BACKOFF_MS 2000 /* between two connections, for functions that are not waited for without end */

/* Waits before another try to reach the function. False: the run or the patience is over, or the registry has another function. */
static bool may_try_again(struct remote *f, struct run *run, const struct grpc_reply *reply, struct deadline patience)
{
        return reply->status == GRPC_UNAVAILABLE && !atomic_load(&f->function.is_replaced) &&
               !deadline_has_passed(patience) && !deadline_has_passed(run->deadline) &&
               thread_sleep(deadline_after_ns(RETRY_MS * INT64_C(1000000)), run->cancel) != ERR_CANCELED;
}

/* A call of a function that is not waited for without end: a function that is gone is reported soon, one that restarts is not. */
static int call_with_patience(struct remote *f, struct run *run, struct bytes *request,
                              struct grpc_call_options *options, struct grpc_reply *reply, struct err *err)
{
        struct deadline patience = deadline_after_ns(f->patience_ms * INT64_C(1000000));
        int r;

        options->fails_fast = true;
        for (;;) {
                r = fn_call(f->channel, request, options, run->arena, reply, err);
                if (r >= 0 || !may_try_again(f, run, reply, patience))
                        return r;
                err_done(err);
        }
}

static int call_once(struct remote *f, struct run *run, struct fn_request *req, struct fn_response *rsp,
                     struct err *err)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        _cleanup_bytes_ struct bytes *request = NULL;
        struct grpc_call_options options = { .deadline = run->deadline, .cancel = run->cancel };
        struct grpc_reply reply;
        int r = fn_request_encode(run->arena, req, &b, err);

        if (r < 0)
                return r;
        request = bytes_take(&b);
        r = f->patience_ms ? call_with_patience(f, run, request, &options, &reply, err)
                           : fn_call(f->channel, request, &options, run->arena, &reply, err);
        if (r < 0)
                return r;
        arena_pin(run->arena, reply.response, bytes_unpin);
        r = fn_response_decode(run->arena, reply.response->str, rsp, err);
        rsp->wire_request_bytes = request->str.n;
        rsp->wire_response_bytes = reply.response->str.n;
        return r;
}

static int remote_call(struct function *function, struct run *run, struct fn_request *req, struct fn_response *rsp,
                       struct err *err)
{
        struct remote *f = CONTAINER_OF(function, struct remote, function);
        int r = 0;

        if (f->is_limited)
                r = wait_error(semaphore_acquire(&f->in_flight, run->deadline, run->cancel), run->cancel,
                               "waiting for a free call", err);
        if (r >= 0) {
                r = call_once(f, run, req, rsp, err);
                if (f->is_limited)
                        semaphore_release(&f->in_flight);
        }
        return r < 0 && f->names_itself ? err_wrap(err, "cannot run Function \"%s\"", f->name) : r;
}

static const struct function_ops remote_ops = { .call = remote_call, .free = remote_free };

static int open_channel(const struct grpc_function_options *options, struct grpc_channel **ret, struct err *err)
{
        _cleanup_free_ char *directory = str_to_cstring(options->tls_certs_dir);
        _cleanup_free_ char *server_name = str_to_cstring(options->server_name);
        struct grpc_channel_options channel = { .dialer = options->dialer,
                                                .authority = options->server_name.n ? server_name : NULL,
                                                .max_backoff_ms = options->patience_ms ? MAX_BACKOFF_MS : 0 };
        int r = 0;

        if (options->tls_certs_dir.n)
                r = tls_config_new(&(struct tls_options) { .directory = directory }, &channel.tls, err);
        if (r >= 0)
                r = grpc_channel_new(options->target, &channel, ret, err);
        tls_config_unref(channel.tls);
        return r;
}

int function_grpc_new(struct str name, struct str revision, const struct grpc_function_options *options,
                      struct function **ret, struct err *err)
{
        struct grpc_channel *channel;
        struct remote *f;
        int r = open_channel(options, &channel, err);

        if (r < 0)
                return err_wrap(err, "cannot get gRPC client connection for Function \"%.*s\"", STR_ARG(name));
        f = xcalloc(1, sizeof(*f));
        f->channel = channel;
        f->names_itself = options->names_itself;
        f->patience_ms = options->patience_ms;
        f->name = str_to_cstring(name);
        f->revision = str_to_cstring(revision);
        f->is_limited = options->max_in_flight > 0;
        if (f->is_limited)
                semaphore_init(&f->in_flight, "function calls", options->max_in_flight);
        f->function.ops = &remote_ops;
        f->function.wants_tag = true;
        atomic_init(&f->function.references, 1);
        f->function.name = str_from(f->name);
        f->function.revision = str_from(f->revision);
        *ret = &f->function;
        return 0;
}
