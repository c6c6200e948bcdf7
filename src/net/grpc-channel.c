#include "grpc-channel.h"

#include "buf.h"
#include "limits.h"
#include "tls.h"

#include <stdatomic.h>

/* The line */

void channel_leave_line(struct grpc_channel *c, struct grpc_call *call)
{
        if (!call->is_waiting)
                return;
        call->is_waiting = false;
        if (call->prev)
                call->prev->next = call->next;
        else
                c->first_waiting = call->next;
        if (call->next)
                call->next->prev = call->prev;
        else
                c->last_waiting = call->prev;
        call->next = call->prev = NULL;
}

static void join_line(struct grpc_channel *c, struct grpc_call *call)
{
        call->is_waiting = true;
        call->prev = c->last_waiting;
        if (call->prev)
                call->prev->next = call;
        else
                c->first_waiting = call;
        c->last_waiting = call;
}

/* Those that do not want to wait are told as soon as nothing is on its way any more. */
static void fail_hasty_calls(struct grpc_channel *c)
{
        if (!c->last_error.code || (c->target.host && c->resolver.is_resolving) || c->is_closing)
                return;
        for (const struct subchannel *sub = c->subchannels; sub; sub = sub->next)
                if (!sub->is_removed && sub->state != SUBCHANNEL_BACKING_OFF)
                        return;
        for (struct grpc_call *call = c->first_waiting, *next; call; call = next) {
                next = call->next;
                if (call->fails_fast)
                        grpc_call_complete(call, GRPC_UNAVAILABLE, str_from(err_message(&c->last_error)));
        }
}

/* The next ready address in turn, not the one to avoid unless there is no other. */
static struct subchannel *choose(struct grpc_channel *c, uint64_t avoid)
{
        struct subchannel *best = NULL, *first = NULL;
        size_t position = 0, best_distance = SIZE_MAX, first_distance = SIZE_MAX;

        for (struct subchannel *sub = c->subchannels; sub; sub = sub->next, position++) {
                size_t distance = position >= c->next ? position - c->next : position + SIZE_MAX / 2 - c->next;

                if (!subchannel_is_usable(sub))
                        continue;
                if (distance < first_distance) {
                        first_distance = distance;
                        first = sub;
                }
                if (sub->serial != avoid && distance < best_distance) {
                        best_distance = distance;
                        best = sub;
                }
        }
        best = best ? best : first;
        if (best) {
                position = 0;
                for (struct subchannel *sub = c->subchannels; sub != best; sub = sub->next)
                        position++;
                c->next = position + 1;
        }
        return best;
}

static void wake_idle(struct grpc_channel *c)
{
        for (struct subchannel *sub = c->subchannels; sub; sub = sub->next)
                if (!sub->is_removed && sub->state == SUBCHANNEL_IDLE)
                        subchannel_connect(sub);
}

void channel_pump(struct grpc_channel *c)
{
        struct grpc_call *call;

        if (c->is_closing)
                return;
        if (c->target.host && ((c->n_subchannels == 0 && !c->resolver.is_planned) ||
                               resolver_age_ms(&c->resolver) > c->options.resolve_ms))
                resolver_start(&c->resolver);
        if (c->first_waiting || c->n_calls > 0)
                wake_idle(c);
        while ((call = c->first_waiting)) {
                struct subchannel *sub = choose(c, call->avoid);

                if (!sub)
                        return;
                channel_leave_line(c, call);
                grpc_call_begin(call, sub);
        }
}

void channel_wait_in_line(struct grpc_channel *c, struct grpc_call *call)
{
        join_line(c, call);
        channel_pump(c);
        fail_hasty_calls(c);
}

void channel_lost(struct grpc_channel *c)
{
        if (c->target.host)
                resolver_start_soon(&c->resolver);
        channel_pump(c);
        fail_hasty_calls(c);
}

/* Addresses */

static bool has_subchannel(const struct grpc_channel *c, const struct address *a)
{
        for (const struct subchannel *sub = c->subchannels; sub; sub = sub->next)
                if (!sub->is_removed && address_equal(&sub->address, a))
                        return true;
        return false;
}

static void add_subchannel(struct grpc_channel *c, const struct address *a)
{
        struct subchannel **last = &c->subchannels;

        if (has_subchannel(c, a))
                return;
        while (*last)
                last = &(*last)->next;
        *last = subchannel_new(c, a);
        c->n_subchannels++;
}

static bool is_listed(const struct address *list, size_t n, const struct address *a)
{
        for (size_t i = 0; i < n; i++)
                if (address_equal(&list[i], a))
                        return true;
        return false;
}

static void take_addresses(struct grpc_channel *c, const struct address *list, size_t n)
{
        for (struct subchannel *sub = c->subchannels, *next; sub; sub = next) {
                next = sub->next;
                if (!sub->is_removed && !is_listed(list, n, &sub->address))
                        subchannel_remove(sub);
        }
        for (size_t i = 0; i < n; i++)
                add_subchannel(c, &list[i]);
}

static void on_addresses(struct resolver *r, const struct address *addresses, size_t n)
{
        struct grpc_channel *c = CONTAINER_OF(r, struct grpc_channel, resolver);

        take_addresses(c, addresses, n);
        channel_pump(c);
        fail_hasty_calls(c);
}

static void on_resolver_error(struct resolver *r, const struct err *err)
{
        struct grpc_channel *c = CONTAINER_OF(r, struct grpc_channel, resolver);

        if (c->n_subchannels == 0 || !c->last_error.code)
                err_set(&c->last_error, err->code, "%s", err_message(err));
        fail_hasty_calls(c);
}

static void on_resolver_closed(struct resolver *r)
{
        struct grpc_channel *c = CONTAINER_OF(r, struct grpc_channel, resolver);

        c->is_resolver_closed = true;
        channel_finish_close(c);
}

static const struct resolver_callbacks resolver_callbacks = {
        .on_addresses = on_addresses,
        .on_error = on_resolver_error,
        .on_closed = on_resolver_closed,
};

/* Life */

static void set_defaults(struct grpc_channel_options *o)
{
        o->max_receive_bytes = o->max_receive_bytes ? o->max_receive_bytes : LIMIT_MESSAGE_BYTES;
        o->max_send_bytes = o->max_send_bytes ? o->max_send_bytes : LIMIT_MESSAGE_BYTES;
        o->connect_ms = o->connect_ms ? o->connect_ms : 20000;
        o->backoff_ms = o->backoff_ms ? o->backoff_ms : 1000;
        o->max_backoff_ms = o->max_backoff_ms ? o->max_backoff_ms : 120000;
        o->keepalive_ms = o->keepalive_ms ? o->keepalive_ms : 30000;
        o->resolve_ms = o->resolve_ms ? o->resolve_ms : 30000;
}

static void free_channel(struct grpc_channel *c)
{
        tls_config_unref(c->options.tls);
        grpc_target_done(&c->target);
        completion_done(&c->closed);
        err_done(&c->last_error);
        loop_shared_unref(c->loop);
        arena_done(&c->arena);
        free(c);
}

static void start_channel(void *arg)
{
        struct grpc_channel *c = arg;

        if (c->target.host)
                resolver_init(&c->resolver, c->loop, c->target.host, c->target.port, &resolver_callbacks);
        else
                take_addresses(c, c->target.addresses.p, c->target.addresses.n);
}

int grpc_channel_new(struct str target, const struct grpc_channel_options *options, struct grpc_channel **ret,
                     struct err *err)
{
        struct grpc_channel *c = xcalloc(1, sizeof(*c));
        int r;

        atomic_init(&c->references, 1);
        arena_init(&c->arena, "gRPC channel", 0);
        completion_init(&c->closed, "gRPC channel");
        if (options)
                c->options = *options;
        set_defaults(&c->options);
        if (c->options.tls)
                tls_config_ref(c->options.tls);
        random_seed(&c->random, random_system_u64());
        r = grpc_target_parse(target, &c->arena, &c->target, err);
        if (r >= 0 && c->options.authority)
                r = grpc_target_set_authority(&c->target, str_from(c->options.authority), &c->arena, err);
        if (r >= 0)
                r = loop_shared_ref(&c->loop, err);
        if (r < 0) {
                free_channel(c);
                return r;
        }
        loop_call(c->loop, start_channel, c);
        *ret = c;
        return 0;
}

struct grpc_channel *grpc_channel_ref(struct grpc_channel *c)
{
        atomic_fetch_add_explicit(&c->references, 1, memory_order_relaxed);
        return c;
}

static void begin_close(void *arg)
{
        struct grpc_channel *c = arg;

        c->is_closing = true;
        if (c->target.host)
                resolver_close(&c->resolver);
        else
                c->is_resolver_closed = true;
        for (struct subchannel *sub = c->subchannels, *next; sub; sub = next) {
                next = sub->next;
                if (!sub->is_removed)
                        subchannel_remove(sub);
        }
        channel_finish_close(c);
}

void channel_finish_close(struct grpc_channel *c)
{
        if (!c->is_closed && c->is_closing && c->is_resolver_closed && !c->subchannels && c->n_calls == 0) {
                c->is_closed = true;
                completion_complete(&c->closed);
        }
}

void grpc_channel_unref(struct grpc_channel *c)
{
        if (!c || atomic_fetch_sub_explicit(&c->references, 1, memory_order_acq_rel) != 1)
                return;
        loop_call(c->loop, begin_close, c);
        completion_wait(&c->closed, DEADLINE_NONE, NULL);
        free_channel(c);
}

struct stats_call {
        struct grpc_channel *channel;
        struct grpc_channel_stats stats;
};

static void collect_stats(void *arg)
{
        struct stats_call *s = arg;

        s->stats.n_addresses = s->channel->n_subchannels;
        s->stats.n_calls = s->channel->n_calls;
        for (const struct subchannel *sub = s->channel->subchannels; sub; sub = sub->next)
                s->stats.n_ready += !sub->is_removed && sub->state == SUBCHANNEL_READY;
}

struct grpc_channel_stats grpc_channel_stats(struct grpc_channel *c)
{
        struct stats_call s = { .channel = c };

        loop_call(c->loop, collect_stats, &s);
        return s.stats;
}
