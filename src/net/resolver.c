#include "resolver.h"

#include "clock.h"
#include "timetext.h"
#include "vec.h"

#include <netdb.h>

#define SOON_MS 500 /* the delay of a resolution after a loss */

static void finish_close(struct resolver *r)
{
        if (r->is_closed || !r->is_closing || !r->is_timer_closed || r->is_resolving)
                return;
        r->is_closed = true;
        r->callbacks->on_closed(r);
}

static void fail(struct resolver *r, int status)
{
        _cleanup_err_ struct err err = { 0 };

        net_error(&err, status, "name resolver error: cannot resolve %s", r->host);
        resolver_start_soon(r);
        r->callbacks->on_error(r, &err);
}

static void tell(struct resolver *r, const struct addrinfo *list)
{
        VEC(struct address) found = { 0 };

        for (; list; list = list->ai_next) {
                struct address a = { 0 };

                if (list->ai_family != AF_INET && list->ai_family != AF_INET6)
                        continue;
                memcpy(&a.ip6, list->ai_addr, MIN((size_t)list->ai_addrlen, sizeof(a.ip6)));
                vec_push(&found, a);
        }
        if (found.n == 0)
                fail(r, UV_EAI_NODATA);
        else
                r->callbacks->on_addresses(r, found.p, found.n);
        vec_done(&found);
}

static void on_resolved(uv_getaddrinfo_t *request, int status, struct addrinfo *list)
{
        struct resolver *r = CONTAINER_OF(request, struct resolver, request);

        r->is_resolving = false;
        r->resolved_ns = clock_mono_ns();
        if (r->is_closing)
                finish_close(r);
        else if (status < 0)
                fail(r, status);
        else
                tell(r, list);
        uv_freeaddrinfo(list);
}

void resolver_start(struct resolver *r)
{
        struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_family = AF_UNSPEC };
        int status;

        if (r->is_resolving || r->is_closing)
                return;
        r->resolved_ns = clock_mono_ns();
        status = uv_getaddrinfo(loop_uv(r->loop), &r->request, on_resolved, r->host, r->port, &hints);
        if (status < 0)
                fail(r, status);
        else
                r->is_resolving = true;
}

static void on_timer(uv_timer_t *t)
{
        struct resolver *r = CONTAINER_OF(t, struct resolver, timer);

        r->is_planned = false;
        resolver_start(r);
}

void resolver_start_soon(struct resolver *r)
{
        if (r->is_planned || r->is_closing)
                return;
        r->is_planned = true;
        uv_timer_start(&r->timer, on_timer, SOON_MS, 0);
}

int64_t resolver_age_ms(const struct resolver *r)
{
        return r->resolved_ns ? (clock_mono_ns() - r->resolved_ns) / NS_PER_MS : INT64_MAX;
}

void resolver_init(struct resolver *r, struct loop *l, const char *host, const char *port,
                   const struct resolver_callbacks *callbacks)
{
        *r = (struct resolver) { .callbacks = callbacks, .loop = l, .host = host, .port = port };
        uv_timer_init(loop_uv(l), &r->timer);
}

static void on_timer_closed(uv_handle_t *t)
{
        struct resolver *r = CONTAINER_OF(t, struct resolver, timer);

        r->is_timer_closed = true;
        finish_close(r);
}

void resolver_close(struct resolver *r)
{
        r->is_closing = true;
        if (r->is_resolving)
                uv_cancel((uv_req_t *)&r->request);
        uv_close((uv_handle_t *)&r->timer, on_timer_closed);
}
