#include "http-pool-base.h"

#include "buf.h"
#include "tls.h"

#define MAX_DIALED 16u /* connections of a pool with a dialer that spreads */

static bool has_resolver(const struct http_pool *p)
{
        return p->target->host && !p->options.dialer;
}

/* The line */

static void leave_line(struct http_pool *p, struct http_turn *t)
{
        if (!t->is_waiting)
                return;
        t->is_waiting = false;
        p->n_waiting--;
        if (t->prev)
                t->prev->next = t->next;
        else
                p->first_waiting = t->next;
        if (t->next)
                t->next->prev = t->prev;
        else
                p->last_waiting = t->prev;
        t->next = t->prev = NULL;
}

static void join_line(struct http_pool *p, struct http_turn *t)
{
        t->is_waiting = true;
        p->n_waiting++;
        t->prev = p->last_waiting;
        if (t->prev)
                t->prev->next = t;
        else
                p->first_waiting = t;
        p->last_waiting = t;
}

/* Whether every address has failed and waits. ret_since: the number of failures before the earliest of them. */
static bool is_unreachable(const struct http_pool *p, uint64_t *ret_since)
{
        uint64_t since = UINT64_MAX;

        if (!p->last_error.code || (has_resolver(p) && p->resolver.is_resolving) || p->is_closing)
                return false;
        for (const struct http_endpoint *e = p->endpoints; e; e = e->next) {
                if (e->is_removed)
                        continue;
                if (e->n_active > 0 || !e->is_backing_off)
                        return false;
                since = MIN(since, e->failed - 1);
        }
        *ret_since = since;
        return true;
}

/* Turns with fails_fast fail as soon as no connection or resolution is in progress. */
static void fail_hasty_turns(struct http_pool *p)
{
        uint64_t since;

        if (!is_unreachable(p, &since))
                return;
        for (struct http_turn *t = p->first_waiting, *next; t; t = next) {
                next = t->next;
                if (!t->fails_fast || (t->awaits_attempt && t->since > since))
                        continue;
                leave_line(p, t);
                t->on_failed(t, &p->last_error);
        }
}

/* Choosing a connection */

/* The next address in turn with a ready connection; the one to avoid is chosen only if there is no other. */
static struct http_link *choose_in_turn(struct http_pool *p, uint64_t avoid)
{
        struct http_link *best = NULL, *first = NULL;
        size_t position = 0, best_distance = SIZE_MAX, first_distance = SIZE_MAX, best_at = 0, first_at = 0;

        for (struct http_endpoint *e = p->endpoints; e; e = e->next, position++) {
                size_t distance = position >= p->next ? position - p->next : position + SIZE_MAX / 2 - p->next;
                struct http_link *l = e->is_removed ? NULL : endpoint_ready_link(e);

                if (!l)
                        continue;
                if (distance < first_distance) {
                        first_distance = distance;
                        first = l;
                        first_at = position;
                }
                if (e->serial != avoid && distance < best_distance) {
                        best_distance = distance;
                        best = l;
                        best_at = position;
                }
        }
        if (best || first)
                p->next = (best ? best_at : first_at) + 1;
        return best ? best : first;
}

/* The connection that was used last, so that unneeded ones become idle and close. */
static struct http_link *choose_recent(struct http_pool *p, uint64_t avoid)
{
        struct http_link *best = NULL;

        for (struct http_endpoint *e = p->endpoints; e; e = e->next) {
                struct http_link *l = e->is_removed ? NULL : endpoint_ready_link(e);

                if (!l)
                        continue;
                if (!best || (best->endpoint->serial == avoid) > (e->serial == avoid) ||
                    ((best->endpoint->serial == avoid) == (e->serial == avoid) && l->used > best->used))
                        best = l;
        }
        return best;
}

static void give_connections(struct http_pool *p)
{
        struct http_turn *t;

        while ((t = p->first_waiting)) {
                struct http_link *l = p->options.spreads ? choose_in_turn(p, t->avoid) : choose_recent(p, t->avoid);

                if (!l)
                        return;
                leave_line(p, t);
                t->place = l->endpoint->serial;
                t->is_reused = l->used > 0;
                t->is_h2 = !l->is_h1;
                l->used = ++p->n_begun;
                t->on_connection(t, l->http);
        }
}

/* Opening connections */

static void connect_everywhere(struct http_pool *p)
{
        for (struct http_endpoint *e = p->endpoints; e; e = e->next)
                if (!e->is_removed && !e->is_backing_off && e->n_active == 0)
                        endpoint_connect(e);
}

/* An address that has connections already is preferred, then the resolver's order. */
static struct http_endpoint *choose_endpoint(const struct http_pool *p)
{
        struct http_endpoint *best = NULL;

        for (struct http_endpoint *e = p->endpoints; e; e = e->next)
                if (!e->is_removed && !e->is_backing_off && (!best || (e->n_active > 0 && best->n_active == 0)))
                        best = e;
        return best;
}

/* Whether another connection is useful. An HTTP/1.1 connection takes one turn. An HTTP/2 connection, or one whose version is not
 * known yet, may take all turns, so one is opened at a time. */
static bool needs_connection(const struct http_pool *p)
{
        size_t n_active = 0, n_connecting = 0;

        for (const struct http_endpoint *e = p->endpoints; e; e = e->next) {
                n_active += e->n_active;
                for (const struct http_link *l = e->links; l; l = l->next)
                        n_connecting += l->state == LINK_CONNECTING;
        }
        if (p->is_h1)
                return p->n_waiting > n_connecting && n_active < p->options.max_h1_connections;
        return p->n_waiting > 0 && n_connecting == 0 && n_active < p->options.max_h2_connections;
}

static void connect_as_needed(struct http_pool *p)
{
        while (needs_connection(p)) {
                struct http_endpoint *e = choose_endpoint(p);

                if (!e)
                        return;
                endpoint_connect(e);
        }
}

void pool_pump(struct http_pool *p)
{
        if (p->is_closing)
                return;
        if (has_resolver(p) &&
            ((p->n_endpoints == 0 && !p->resolver.is_planned) || resolver_age_ms(&p->resolver) > p->options.resolve_ms))
                resolver_start(&p->resolver);
        give_connections(p);
        if (!p->options.spreads)
                connect_as_needed(p);
        else if (p->n_turns > 0)
                connect_everywhere(p);
}

void pool_lost(struct http_pool *p, bool has_failed)
{
        if (has_resolver(p) && (has_failed || p->options.spreads))
                resolver_start_soon(&p->resolver);
        pool_pump(p);
        fail_hasty_turns(p);
}

/* Turns */

void http_pool_enter(struct http_pool *p, struct http_turn *t)
{
        p->n_turns++;
        t->since = p->n_failures;
}

void http_pool_wait(struct http_pool *p, struct http_turn *t)
{
        join_line(p, t);
        pool_pump(p);
        fail_hasty_turns(p);
}

void http_pool_leave(struct http_pool *p, struct http_turn *t)
{
        leave_line(p, t);
        p->n_turns--;
        pool_finish_close(p);
}

bool http_pool_is_closing(const struct http_pool *p)
{
        return p->is_closing;
}

void pool_append_place(const struct http_pool *p, struct buf *b, const struct http_endpoint *e)
{
        if (p->options.dialer)
                buf_append_str(b, p->target->authority);
        else
                address_append(b, &e->address);
}

static const struct http_link *find_connecting(const struct http_pool *p)
{
        for (const struct http_endpoint *e = p->endpoints; e; e = e->next)
                for (const struct http_link *l = e->links; l; l = l->next)
                        if (l->state == LINK_CONNECTING)
                                return l;
        return NULL;
}

void http_pool_explain(const struct http_pool *p, struct err *err)
{
        const struct http_link *l = find_connecting(p);
        _cleanup_buf_ struct buf where = BUF_INIT(0);

        if (p->last_error.code) {
                err_set(err, ERR_CLOSED, "%s", err_message(&p->last_error));
                return;
        }
        if (!l)
                return;
        pool_append_place(p, &where, l->endpoint);
        err_set(err, ERR_TIMEOUT, "connection error: %s: %s", buf_cstring(&where),
                l->http ? "connected, but the peer has not answered as an HTTP/2 server does" : "no connection yet");
}

/* Addresses */

static bool has_endpoint(const struct http_pool *p, const struct address *a)
{
        for (const struct http_endpoint *e = p->endpoints; e; e = e->next)
                if (!e->is_removed && address_equal(&e->address, a))
                        return true;
        return false;
}

static void add_endpoint(struct http_pool *p, const struct address *a)
{
        struct http_endpoint **last = &p->endpoints;

        if (has_endpoint(p, a))
                return;
        while (*last)
                last = &(*last)->next;
        *last = endpoint_new(p, a);
        p->n_endpoints++;
}

static bool is_listed(const struct address *list, size_t n, const struct address *a)
{
        for (size_t i = 0; i < n; i++)
                if (address_equal(&list[i], a))
                        return true;
        return false;
}

static void take_addresses(struct http_pool *p, const struct address *list, size_t n)
{
        for (struct http_endpoint *e = p->endpoints, *next; e; e = next) {
                next = e->next;
                if (!e->is_removed && !is_listed(list, n, &e->address))
                        endpoint_remove(e);
        }
        for (size_t i = 0; i < n; i++)
                add_endpoint(p, &list[i]);
}

static void on_addresses(struct resolver *r, const struct address *addresses, size_t n)
{
        struct http_pool *p = CONTAINER_OF(r, struct http_pool, resolver);

        take_addresses(p, addresses, n);
        pool_pump(p);
        fail_hasty_turns(p);
}

static void on_resolver_error(struct resolver *r, const struct err *err)
{
        struct http_pool *p = CONTAINER_OF(r, struct http_pool, resolver);

        if (p->n_endpoints == 0 || !p->last_error.code)
                err_copy(&p->last_error, err);
        fail_hasty_turns(p);
}

static void on_resolver_closed(struct resolver *r)
{
        struct http_pool *p = CONTAINER_OF(r, struct http_pool, resolver);

        p->is_resolver_closed = true;
        pool_finish_close(p);
}

static const struct resolver_callbacks resolver_callbacks = {
        .on_addresses = on_addresses,
        .on_error = on_resolver_error,
        .on_closed = on_resolver_closed,
};

/* Creating and closing */

static void free_pool(struct http_pool *p)
{
        tls_config_unref(p->options.tls);
        dialer_unref(p->options.dialer);
        completion_done(&p->closed);
        err_done(&p->last_error);
        loop_shared_unref(p->loop);
        free(p);
}

/* A pool with a dialer has one address for each connection, which nobody connects to. */
static void take_dialed_addresses(struct http_pool *p)
{
        struct address list[MAX_DIALED];
        size_t n = MIN(MAX(dialer_width(p->options.dialer), 1u), MAX_DIALED);

        for (size_t i = 0; i < n; i++)
                list[i] = (struct address) { .unix_name = { 'd', (char)('0' + i) }, .n_unix_name = 2 };
        take_addresses(p, list, n);
}

/* The connections so far finish their requests; new ones replace them. */
static void on_renewed(struct dialer_user *u)
{
        struct http_pool *p = CONTAINER_OF(u, struct http_pool, dialing);

        if (p->is_closing) {
                pool_finish_close(p);
                return;
        }
        take_addresses(p, NULL, 0);
        take_dialed_addresses(p);
        pool_pump(p);
}

static void start_pool(void *arg)
{
        struct http_pool *p = arg;

        if (p->options.dialer) {
                dialer_add_user(p->options.dialer, &p->dialing, p->loop, on_renewed);
                take_dialed_addresses(p);
        } else if (p->target->host)
                resolver_init(&p->resolver, p->loop, p->target->host, p->target->port, &resolver_callbacks);
        else
                take_addresses(p, p->target->addresses.p, p->target->addresses.n);
}

int http_pool_new(const struct http_target *target, const struct http_pool_options *options, struct http_pool **ret,
                  struct err *err)
{
        struct http_pool *p = xcalloc(1, sizeof(*p));
        int r;

        p->target = target;
        p->options = *options;
        p->is_h1 = options->version == HTTP_VERSION_1 || (options->version == HTTP_VERSION_ANY && !options->tls);
        if (p->options.tls)
                tls_config_ref(p->options.tls);
        if (p->options.dialer)
                dialer_ref(p->options.dialer);
        completion_init(&p->closed, "HTTP connections");
        random_seed(&p->random, random_system_u64());
        r = loop_shared_ref(&p->loop, err);
        if (r < 0) {
                free_pool(p);
                return r;
        }
        loop_call(p->loop, start_pool, p);
        *ret = p;
        return 0;
}

struct loop *http_pool_loop(const struct http_pool *p)
{
        return p->loop;
}

static void begin_close(void *arg)
{
        struct http_pool *p = arg;

        p->is_closing = true;
        if (has_resolver(p))
                resolver_close(&p->resolver);
        else
                p->is_resolver_closed = true;
        for (struct http_endpoint *e = p->endpoints, *next; e; e = next) {
                next = e->next;
                endpoint_remove(e);
        }
        pool_finish_close(p);
}

void pool_finish_close(struct http_pool *p)
{
        if (!p->is_closed && p->is_closing && p->is_resolver_closed && !p->endpoints && p->n_turns == 0 &&
            (!p->options.dialer || dialer_remove_user(&p->dialing))) {
                p->is_closed = true;
                completion_complete(&p->closed);
        }
}

void http_pool_free(struct http_pool *p)
{
        if (!p)
                return;
        loop_call(p->loop, begin_close, p);
        completion_wait(&p->closed, DEADLINE_NONE, NULL);
        free_pool(p);
}

struct stats_call {
        const struct http_pool *pool;
        struct http_pool_stats stats;
};

static void collect_stats(void *arg)
{
        struct stats_call *s = arg;

        s->stats.n_addresses = s->pool->n_endpoints;
        s->stats.n_turns = s->pool->n_turns;
        s->stats.n_connected = s->pool->n_connected;
        for (const struct http_endpoint *e = s->pool->endpoints; e; e = e->next)
                for (const struct http_link *l = e->links; l; l = l->next) {
                        s->stats.n_connections += l->state != LINK_CLOSED;
                        s->stats.n_ready += !e->is_removed && l->state == LINK_READY;
                }
}

struct http_pool_stats http_pool_stats(struct http_pool *p)
{
        struct stats_call s = { .pool = p };

        loop_call(p->loop, collect_stats, &s);
        return s.stats;
}
