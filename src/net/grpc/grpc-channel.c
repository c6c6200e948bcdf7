#include "grpc-channel.h"

#include "grpc-target.h"
#include "limits.h"
#include "tls.h"

#include <stdatomic.h>

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
        http_pool_free(c->pool);
        tls_config_unref(c->options.tls);
        http_target_done(&c->target);
        arena_done(&c->arena);
        free(c);
}

static int new_pool(struct grpc_channel *c, struct err *err)
{
        const struct grpc_channel_options *o = &c->options;
        struct http_pool_options options = {
                .tls = o->tls,
                .dialer = o->dialer,
                .version = HTTP_VERSION_2,
                .spreads = true,
                .max_head_bytes = LIMIT_HEAD_BYTES,
                .window_bytes = LIMIT_WINDOW_BYTES,
                .connect_ms = o->connect_ms,
                .backoff_ms = o->backoff_ms,
                .max_backoff_ms = o->max_backoff_ms,
                .stall_ms = o->keepalive_ms,
                .keepalive_ms = o->keepalive_ms,
                .resolve_ms = o->resolve_ms,
        };

        return http_pool_new(&c->target, &options, &c->pool, err);
}

int grpc_channel_new(struct str target, const struct grpc_channel_options *options, struct grpc_channel **ret,
                     struct err *err)
{
        struct grpc_channel *c = xcalloc(1, sizeof(*c));
        int r;

        atomic_init(&c->references, 1);
        arena_init(&c->arena, "gRPC channel", 0);
        if (options)
                c->options = *options;
        set_defaults(&c->options);
        if (c->options.tls)
                tls_config_ref(c->options.tls);
        r = grpc_target_parse(target, &c->arena, &c->target, err);
        if (r >= 0 && c->options.authority)
                r = http_target_set_authority(&c->target, str_from(c->options.authority), &c->arena, err);
        if (r >= 0)
                r = new_pool(c, err);
        if (r < 0) {
                free_channel(c);
                return r;
        }
        *ret = c;
        return 0;
}

struct grpc_channel *grpc_channel_ref(struct grpc_channel *c)
{
        atomic_fetch_add_explicit(&c->references, 1, memory_order_relaxed);
        return c;
}

void grpc_channel_unref(struct grpc_channel *c)
{
        if (c && atomic_fetch_sub_explicit(&c->references, 1, memory_order_acq_rel) == 1)
                free_channel(c);
}

struct grpc_channel_stats grpc_channel_stats(struct grpc_channel *c)
{
        struct http_pool_stats s = http_pool_stats(c->pool);

        return (struct grpc_channel_stats) { .n_addresses = s.n_addresses, .n_ready = s.n_ready, .n_calls = s.n_turns };
}
