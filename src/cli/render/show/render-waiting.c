/* Each call has a watchdog thread that sleeps until the call returns. If a second passes first, the thread calls the target's gRPC
 * health check, which every gRPC server answers in some way, and prints the result. */
#include "render-waiting.h"

#include "grpc-client.h"
#include "park.h"

#include <stdio.h>

#define PATIENCE_MS 1000
#define PROBE_MS    500

struct waiting {
        struct function function;
        const struct command *command;
        struct function *inner;
        char *target;
        atomic_bool has_said; /* one message is enough for all calls */
};

struct watchdog {
        struct waiting *waiting;
        struct cancel *is_answered;
};

/* Only the reason: the message already has the name of the function and the address. */
static struct str reason_of(struct str message)
{
        static const struct str before[] = { STR_INIT("cannot connect: "), STR_INIT("desc = ") };

        for (size_t i = 0; i < ARRAY_SIZE(before); i++) {
                ptrdiff_t at = str_find(message, before[i]);

                if (at >= 0)
                        return str_skip(message, (size_t)at + before[i].n);
        }
        return message;
}

static void probe(const struct waiting *w, struct cancel *cancel, struct err *err)
{
        struct grpc_call_options options = { .deadline = deadline_after_ms(PROBE_MS),
                                             .cancel = cancel,
                                             .fails_fast = true };
        _cleanup_bytes_ struct bytes *request = bytes_copy(STR(""));
        struct grpc_channel *channel;
        struct grpc_reply reply = { 0 };
        _cleanup_arena_ struct arena a;

        arena_init(&a, "probe", 0);
        if (grpc_channel_new(str_from(w->target), NULL, &channel, err) < 0)
                return;
        grpc_call(channel, STR("/grpc.health.v1.Health/Check"), request, &options, &a, &reply, err);
        bytes_unref(reply.response);
        grpc_channel_unref(channel);
        if (reply.status != GRPC_UNAVAILABLE)
                err_set(err, ERR_TIMEOUT, "connected, but no answer yet");
}

static void watch(void *arg)
{
        struct watchdog *d = arg;
        struct waiting *w = d->waiting;
        _cleanup_err_ struct err err = { 0 };

        if (thread_sleep(deadline_after_ms(PATIENCE_MS), d->is_answered) < 0)
                return;
        probe(w, d->is_answered, &err);
        if (!cancel_is_triggered(d->is_answered) && !atomic_exchange(&w->has_said, true))
                fprintf(stderr, "weft %s: waiting for %.*s at %s: %.*s\n", w->command->name, STR_ARG(w->function.name),
                        w->target, STR_ARG(reason_of(str_from(err_message(&err)))));
}

static int call(struct function *f, struct run *run, struct fn_request *req, struct fn_response *rsp, struct err *err)
{
        struct waiting *w = CONTAINER_OF(f, struct waiting, function);
        _cleanup_cancel_ struct cancel *is_answered = cancel_new(NULL);
        struct watchdog dog = { w, is_answered };
        struct thread *t = NULL;
        int r;

        /* If the thread cannot start, the call still works, only without a message. */
        if (!atomic_load(&w->has_said))
                thread_start("waiting", watch, &dog, &t, NULL);
        r = w->inner->ops->call(w->inner, run, req, rsp, err);
        cancel_trigger(is_answered, "answered");
        if (t)
                thread_join(t);
        return r;
}

static void waiting_free(struct function *f)
{
        struct waiting *w = CONTAINER_OF(f, struct waiting, function);

        function_unref(w->inner);
        free(w->target);
        free(w);
}

static const struct function_ops ops = { .call = call, .free = waiting_free };

struct function *render_waiting_new(const struct command *c, struct function *inner, struct str target)
{
        struct waiting *w = xcalloc(1, sizeof(*w));

        w->function = *inner;
        w->function.ops = &ops;
        atomic_init(&w->function.references, 1);
        w->command = c;
        w->inner = inner;
        w->target = str_to_cstring(target);
        return &w->function;
}
