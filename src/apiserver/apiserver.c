#include "apiserver.h"

#include "access.h"
#include "authenticator.h"
#include "body.h"
#include "buf.h"
#include "cgroup.h"
#include "clock.h"
#include "discovery.h"
#include "limits.h"
#include "number.h"
#include "options.h"
#include "pack.h"
#include "request.h"
#include "server.h"

#include <sys/sysinfo.h>

#define WRITERS 64 /* threads that may wait for an earlier write, or for a version */

/* A piece of a list: the usual one, the largest one, and how much more than that one object may add. Together less than what malloc maps
 * and unmaps each time. */
#define PIECE_BYTES      PACK_FROM_BYTES
#define MOST_PIECE_BYTES (512u << 10)
#define PIECE_MORE_BYTES (112u << 10)

/* --- Life of a request --- */

void request_free(struct api_request *q)
{
        struct apiserver *s = q->server;

        list_stream_free(q->list);
        watch_source_free(q->watch);
        packer_free(q->packer);
        bytes_unref(q->reply.body);
        buf_done(&q->text);
        buf_done(&q->body);
        if (q->use)
                users_leave(&s->users, q->use, q->use_of);
        atomic_fetch_sub(&s->metrics.open_requests, 1);
        budget_keep(&q->account, 0);
        err_done(&q->err);
        err_done(&q->promise.failure);
        cancel_unref(q->cancel);
        arena_done(&q->arena);
        arena_done(&q->heads);
        free(q);
}

static void hold(struct api_request *q)
{
        q->n_holds++;
}

static void free_if_done(struct api_request *q)
{
        if (!q->ex && q->n_holds == 0)
                request_free(q);
}

void request_release(struct api_request *q)
{
        q->n_holds--;
        free_if_done(q);
}

static void count(struct api_request *q, int status)
{
        metrics_count(&q->server->metrics, q->is_routed ? q->route.verb : API_OTHER, status,
                      clock_mono_ns() - q->began_ns);
}

/* --- Sending: loop thread. The exchange may be closed within each of these calls, so the caller holds the request. --- */

static void add_length(struct api_request *q, struct http_fields *fields, size_t n)
{
        http_fields_add(fields, &q->arena, STR("content-length"), arena_printf(&q->arena, "%zu", n));
}

static void add_encoding(struct api_request *q, struct http_fields *fields)
{
        if (!q->packer)
                return;
        http_fields_add(fields, &q->arena, STR("content-encoding"), STR("gzip"));
        http_fields_add(fields, &q->arena, STR("vary"), STR("accept-encoding"));
}

static void send_reply(struct api_request *q)
{
        struct http_fields fields = { 0 };
        int status = q->reply.status ? q->reply.status : 200;
        struct bytes *body = TAKE(q->reply.body);
        size_t n = body ? body->str.n : 0;
        bool is_all = n == 0 || q->route.is_head;

        q->has_answered = true;
        count(q, status);
        answer_fields(q, q->reply.content_type, &fields);
        add_encoding(q, &fields);
        if (status != 304)
                add_length(q, &fields, n);
        if (!is_all)
                exchange_hold(q->ex, &q->account);
        exchange_respond(q->ex, status, &fields, is_all);
        if (is_all) {
                bytes_unref(body);
                return;
        }
        exchange_send(q->ex, body);
        exchange_finish(q->ex, NULL);
}

/* Frees the body; from now on the account pays for the answer. */
static void drop_request(struct api_request *q)
{
        buf_done(&q->body);
        q->body.account = NULL;
        if (q->reply.body)
                budget_keep(&q->account, REQUEST_BYTES + q->reply.body->str.n);
}

/* Answers with q->err before a worker has seen the request. */
static void refuse(struct api_request *q)
{
        if (!q->ex || q->has_answered)
                return;
        hold(q);
        answer_error(q);
        drop_request(q);
        send_reply(q);
        request_release(q);
}

static void send_list_head(struct api_request *q)
{
        struct http_fields fields = { 0 };

        q->has_answered = true;
        count(q, 200);
        answer_fields(q, STR("application/json"), &fields);
        add_encoding(q, &fields);
        if (!q->has_more)
                add_length(q, &fields, q->text.n);
        exchange_respond(q->ex, 200, &fields, q->route.is_head);
}

static void ask_for_piece(struct api_request *q);

/* Each piece costs two hand-overs between threads, so pieces grow for a reader that has taken all before. While one is sent the next is
 * made, so the account has to pay for two. */
static void grow_pieces(struct api_request *q)
{
        size_t bytes = MIN(2 * MAX(q->piece_bytes, (size_t)PIECE_BYTES), (size_t)MOST_PIECE_BYTES);
        size_t taken = q->account.taken_bytes, wanted = REQUEST_BYTES + 2 * (bytes + PIECE_MORE_BYTES);

        if (wanted <= taken || budget_try(&q->account, wanted - taken))
                q->piece_bytes = bytes;
}

/* Sends a piece of a list. The next one is made when there is room for it. */
static void send_list_piece(struct api_request *q)
{
        bool keeps_up = q->has_answered && exchange_held_bytes(q->ex) == 0;

        if (!q->has_answered)
                send_list_head(q);
        if (q->route.is_head)
                return;
        if (!q->has_more)
                exchange_hold(q->ex, &q->account);
        exchange_send(q->ex, bytes_take(&q->text));
        if (!keeps_up)
                q->piece_bytes = 0;
        else if (q->has_more && !q->packer)
                grow_pieces(q);
        if (!q->has_more)
                exchange_finish(q->ex, NULL);
        else if (keeps_up || exchange_has_room(q->ex))
                ask_for_piece(q);
}

/* --- Handling: worker thread --- */

static bool accepts_gzip(const struct api_request *q)
{
        return accept_has_token(http_fields_get(&q->head.fields, STR("accept-encoding")), STR("gzip"));
}

/* Compresses q->text in place. */
static void pack_text(struct api_request *q)
{
        _cleanup_buf_ struct buf packed = BUF_INIT(0);

        packer_add(q->packer, buf_str(&q->text), !q->has_more, &packed);
        buf_done(&q->text);
        q->text = packed;
        packed = (struct buf) { 0 };
}

static bool is_packable(const struct api_request *q)
{
        return q->reply.body && q->reply.body->str.n >= PACK_FROM_BYTES && accepts_gzip(q) &&
               !http_fields_get(&q->reply.fields, STR("content-encoding")).p;
}

static void pack_reply(struct api_request *q)
{
        _cleanup_buf_ struct buf packed = BUF_INIT(0);

        q->packer = packer_new();
        packer_add(q->packer, q->reply.body->str, true, &packed);
        bytes_unref(q->reply.body);
        q->reply.body = bytes_take(&packed);
}

/* Gives memory back that a growing text has too much, because a slow reader makes it stay for long. Then counts it: the account pays
 * for one piece, and the last one is sent when the next is made. */
static int keep_text(struct api_request *q, struct err *err)
{
        size_t taken = q->account.taken_bytes, wanted;

        if (q->text.capacity > q->text.n + q->text.n / 4) {
                q->text.p = xrealloc(q->text.p, q->text.n + 1);
                q->text.capacity = q->text.n;
        }
        wanted = REQUEST_BYTES + q->text.capacity;
        if (wanted <= taken || budget_take(&q->account, wanted - taken))
                return 0;
        return err_set(err, ERR_LIMIT, "there is no memory for the list");
}

/* The next piece of a list. */
static void run_piece(struct job *j)
{
        struct api_request *q = CONTAINER_OF(j, struct api_request, job);
        size_t least = MAX(q->piece_bytes, (size_t)PIECE_BYTES);
        int r;

        buf_reserve(&q->text, least + PIECE_MORE_BYTES); /* growing would copy it again and again */
        r = list_stream_fill(q->list, &q->call.run, least, &q->text, &q->err);
        if (r < 0)
                return;
        q->has_more = r > 0;
        if (q->packer)
                pack_text(q);
        keep_text(q, &q->err);
}

/* A list that fails after its head was sent can only be broken off. */
static void on_piece(struct job *j)
{
        struct api_request *q = CONTAINER_OF(j, struct api_request, job);

        if (q->ex && q->err.code)
                exchange_reset(q->ex, HTTP_RESET_INTERNAL_ERROR);
        else if (q->ex)
                send_list_piece(q);
        request_release(q);
}

static void ask_for_piece(struct api_request *q)
{
        hold(q);
        q->job = (struct job) { .run = run_piece, .finish = on_piece };
        if (workers_submit(q->server->bulk, q->ex->loop, &q->job) == 0)
                return;
        exchange_reset(q->ex, HTTP_RESET_INTERNAL_ERROR);
        request_release(q);
}

static const struct user administrator = {
        .name = STR_INIT("kubernetes-admin"),
        .groups = (const struct str[]) { STR_INIT("system:masters"), STR_INIT("system:authenticated") },
        .n_groups = 2,
};

/* Without TLS every peer is the administrator. A browser must not be one: it shows pages of strangers, which could send requests to
 * this port, under a name of their own that leads here. Nor does a client get more than it wants, which asks to be another user. */
static int check_plain_peer(const struct api_request *q, struct err *err)
{
        struct str host;
        uint16_t port;
        struct address address;

        if (http_fields_get(&q->head.fields, STR("origin")).p)
                return err_set(err, ERR_FORBIDDEN, "requests of web pages are refused on a port without TLS");
        for (size_t i = 0; i < q->head.fields.n; i++)
                if (str_starts_with(q->head.fields.p[i].name, STR("impersonate-")))
                        return err_set(err, ERR_FORBIDDEN, "impersonation is refused on a port without TLS");
        if (q->head.authority.n == 0 || address_split(q->head.authority, &host, &port, NULL) < 0 ||
            str_equal_ignore_case(host, STR("localhost")) || str_ends_with(host, STR(".localhost")) ||
            address_from_ip(host, 0, &address, NULL) == 0)
                return 0;
        return err_set(err, ERR_FORBIDDEN,
                       "the host \"%.*s\" is refused on a port without TLS: use localhost or an IP address",
                       STR_ARG(host));
}

static int authenticate(struct api_request *q, struct err *err)
{
        const struct apiserver_options *o = &q->server->options;

        if (!o->tls || !o->authenticator) {
                q->call.run.user = administrator;
                return check_plain_peer(q, err);
        }
        return authenticator_user(o->authenticator, &q->call.run, &q->head, q->identity, &q->call.run.user, err);
}

/* May the user read this path? Resources are checked by the cluster. */
static int authorize_path(struct api_request *q, struct err *err)
{
        struct access_request req = {
                .verb = kind_lower(&q->arena, q->head.method),
                .path = q->route.path,
        };
        struct status_subject nothing = { 0 };
        bool may;
        int r = cluster_may(q->call.cluster, &q->call.run, &req, &may, err);

        if (r < 0 || may)
                return r;
        return status_forbidden(err, &nothing, "User \"%.*s\" cannot %.*s path \"%.*s\"",
                                STR_ARG(q->call.run.user.name), STR_ARG(req.verb), STR_ARG(req.path));
}

static bool is_below(struct str path, struct str top)
{
        return str_starts_with(path, top) && (path.n == top.n || path.p[top.n] == '/');
}

static const struct apiserver_path *find_path(const struct api_request *q)
{
        const struct apiserver_options *o = &q->server->options;

        for (size_t i = 0; i < o->n_paths; i++)
                if (is_below(q->route.path, o->paths[i].path))
                        return &o->paths[i];
        return NULL;
}

static int refuse_method(struct err *err)
{
        int r = err_set(err, ERR_UNSUPPORTED, "the server does not allow this method on the requested resource");

        err_set_reason(err, REASON_METHOD_NOT_ALLOWED);
        err_set_details(err, STR("{}"));
        return r;
}

/* Paths that take any method. */
static int handle_path(struct api_request *q, struct err *err)
{
        struct apiserver *s = q->server;
        struct str path = q->route.path;

        if (s->options.authenticator &&
            (str_equal(path, STR("/.well-known/openid-configuration")) || str_equal(path, STR("/openid/v1/jwks"))))
                return issuer_handle(s->options.authenticator, &q->call, &q->reply, err);
        return health_handle(q, err);
}

static int handle_other(struct api_request *q, struct err *err)
{
        struct apiserver *s = q->server;
        struct str path = q->route.path;
        const struct apiserver_path *own = find_path(q);
        bool is_read = str_equal(q->head.method, STR("GET")) || q->route.is_head;
        int r;

        if (own)
                return is_read ? own->handle(own->context, &q->call, &q->reply, err) : refuse_method(err);
        r = authorize_path(q, err);
        if (r < 0)
                return r;
        if (!is_below(path, STR("/api")) && !is_below(path, STR("/apis")) && !is_below(path, STR("/openapi")) &&
            !str_equal(path, STR("/version")))
                return handle_path(q, err);
        if (!is_read)
                return refuse_method(err);
        if (str_equal(path, STR("/version")))
                return health_handle(q, err);
        if (is_below(path, STR("/api")) || is_below(path, STR("/apis")))
                return discovery_handle(s->discovery, &q->call, &q->reply, err);
        return openapi_handle(s->discovery, &q->call, &q->reply, err);
}

static int prepare(struct api_request *q, struct err *err)
{
        bool is_watch = q->route.is_resource && q->route.verb == API_WATCH;
        int64_t timeout_ms;
        int r;

        q->use_of = is_watch ? USE_WATCH : USE_REQUEST;
        q->call.run.deadline = DEADLINE_NONE;
        r = authenticate(q, err);
        if (r == 0 && !q->is_health)
                r = users_enter(&q->server->users, q->call.run.user.name, q->use_of, &q->use, err);
        if (r == 0 && !is_watch) {
                r = options_timeout(&q->route.query, &timeout_ms, err);
                if (r == 0)
                        q->call.run.deadline = (struct deadline) { q->began_ns + timeout_ms * NS_PER_MS };
        }
        q->call.body = buf_str(&q->body);
        if (r == 0)
                r = body_decompress(&q->arena, http_fields_get(&q->head.fields, STR("content-encoding")), &q->call.body,
                                    err);
        if (r == 0 && deadline_has_passed(q->call.run.deadline))
                r = err_set(err, ERR_TIMEOUT,
                            "Timeout: request did not complete within requested timeout - context deadline exceeded");
        return r;
}

static int handle(struct api_request *q, struct err *err)
{
        int r = prepare(q, err);

        if (r == 0)
                r = q->route.is_resource ? resource_handle(q, err) : handle_other(q, err);
        return r;
}

static void drop_answer(struct api_request *q)
{
        list_stream_free(TAKE(q->list));
        watch_source_free(TAKE(q->watch));
        packer_free(TAKE(q->packer));
        buf_done(&q->text);
        q->has_more = false;
}

static void answer(struct api_request *q)
{
        int r = handle(q, &q->err);

        if (r == 0 && q->list && (q->has_more || q->text.n >= PACK_FROM_BYTES) && accepts_gzip(q)) {
                q->packer = packer_new();
                pack_text(q);
        }
        if (r == 0 && q->list)
                r = keep_text(q, &q->err);
        if (r < 0) {
                drop_answer(q);
                answer_error(q);
        }
}

static void run_end(struct job *j)
{
        struct api_request *q = CONTAINER_OF(j, struct api_request, job);

        if (!q->err.code && is_packable(q))
                pack_reply(q);
        drop_request(q);
}

static void run_request(struct job *j)
{
        struct api_request *q = CONTAINER_OF(j, struct api_request, job);

        answer(q);
        run_end(j);
        promise_keep(q);
}

void request_answer(struct api_request *q)
{
        if (q->ex && q->list)
                send_list_piece(q);
        else if (q->ex)
                send_reply(q);
}

static void on_handled(struct job *j)
{
        struct api_request *q = CONTAINER_OF(j, struct api_request, job);

        if (q->ex && q->watch && !q->route.is_head) {
                count(q, 200);
                q->has_answered = true;
                q->n_holds--; /* the stream frees the request */
                watch_stream_begin(q);
                return;
        }
        request_answer(q);
        request_release(q);
}

/* --- Receiving: loop thread --- */

/* Jobs that may wait: for the log, or for a version that is not there yet. They must not take threads from others. */
static bool may_wait(const struct api_request *q)
{
        struct str version = api_query_get(&q->route.query, STR("resourceVersion"));

        if (!q->route.is_resource)
                return false;
        switch (q->route.verb) {
        case API_GET:
        case API_LIST:
        case API_WATCH:
                return version.n && !str_equal(version, STR("0"));
        case API_CREATE:
                return !str_equal(q->route.gvr.group, STR("authorization.k8s.io")) &&
                       !str_equal(q->route.gvr.group, STR("authentication.k8s.io"));
        case API_UPDATE:
        case API_PATCH:
        case API_DELETE:
        case API_DELETE_COLLECTION:
                return true;
        case API_OTHER:
        case _API_VERB_COUNT:
                break;
        }
        return false;
}

static void submit(struct api_request *q, struct workers *pool)
{
        hold(q);
        if (workers_submit(pool, q->ex->loop, &q->job) == 0)
                return;
        err_set(&q->err, ERR_LIMIT, "the API server has more than %d requests waiting", LIMIT_API_WAITING);
        err_set_reason(&q->err, REASON_TOO_MANY_REQUESTS);
        refuse(q);
        request_release(q);
}

/* Reading one object from memory takes less time than waking a worker for it. */
static bool is_short(const struct api_request *q)
{
        return q->route.is_resource && q->route.verb == API_GET && q->route.subresource.n == 0 && !may_wait(q);
}

/* Handles a short request on the loop. A worker compresses the answer if it is large. */
static void run_here(struct api_request *q)
{
        answer(q);
        if (!q->err.code && is_packable(q)) {
                q->job.run = run_end;
                submit(q, q->server->readers);
                return;
        }
        hold(q);
        run_end(&q->job);
        on_handled(&q->job);
}

static void on_body(struct exchange *ex, struct str data)
{
        struct api_request *q = ex->owner;

        hold(q);
        if (!q->has_answered)
                buf_append_str(&q->body, data);
        if (!q->has_answered && q->body.has_failed) {
                if (!q->account.has_refused)
                        body_too_large(&q->err);
                refuse(q);
        }
        if (q->ex)
                exchange_consume(ex, data.n);
        request_release(q);
}

static void on_end(struct exchange *ex)
{
        struct api_request *q = ex->owner;
        struct apiserver *s = q->server;

        if (q->has_answered)
                return;
        if (is_short(q))
                run_here(q);
        else
                submit(q, q->is_health ? s->health : may_wait(q) ? s->writers : s->readers);
}

/* Room for the next piece of a list. A list that is with a worker has its piece under way. */
static void on_room(struct exchange *ex)
{
        struct api_request *q = ex->owner;

        if (q->list && q->has_answered && q->has_more && q->n_holds == 0)
                ask_for_piece(q);
}

static void on_closed(struct exchange *ex, const struct err *err)
{
        struct api_request *q = ex->owner;

        (void)err;
        q->ex = NULL;
        cancel_trigger(q->cancel, "the client has gone");
        if (q->n_holds) /* the handler may still read the head */
                exchange_take_arena(ex, &q->heads);
        free_if_done(q);
}

static const struct exchange_callbacks callbacks = {
        .on_body = on_body,
        .on_end = on_end,
        .on_room = on_room,
        .on_closed = on_closed,
};

static struct api_request *request_new(struct apiserver *s, struct exchange *ex)
{
        struct api_request *q = xcalloc(1, sizeof(*q));

        q->server = s;
        q->ex = ex;
        q->loop = ex->loop;
        q->identity = ex->identity;
        q->head = ex->request;
        q->began_ns = clock_mono_ns();
        q->job = (struct job) { .run = run_request, .finish = on_handled };
        q->account.budget = &s->budget;
        q->cancel = cancel_new(NULL);
        arena_init(&q->arena, "request", 0);
        buf_init(&q->body, LIMIT_API_BODY_BYTES);
        q->body.account = &q->account;
        str_list_init(&q->warnings, &q->arena);
        q->call = (struct api_call) {
                .run = { .arena = &q->arena, .deadline = DEADLINE_NONE, .cancel = q->cancel, .warnings = &q->warnings },
                .cluster = s->cluster,
                .head = &q->head,
        };
        atomic_fetch_add(&s->metrics.open_requests, 1);
        return q;
}

/* A body that announces its length too large is refused before it is sent. */
static bool announces_too_much(const struct api_request *q)
{
        uint64_t n;

        return number_parse_uint(http_fields_get(&q->head.fields, STR("content-length")), &n, NULL) == 0 &&
               n > LIMIT_API_BODY_BYTES;
}

static void on_request(void *context, struct exchange *ex)
{
        struct api_request *q = request_new(context, ex);
        int r;

        ex->owner = q;
        ex->callbacks = &callbacks;
        r = api_route_parse(&q->arena, q->head.method, q->head.path, &q->route, &q->err);
        q->is_health = r == 0 && health_is_path(q->route.path);
        if (!q->is_health)
                arena_set_account(&q->arena, &q->account);
        if (!budget_force(&q->account, REQUEST_BYTES) && !q->is_health) {
                q->account.has_refused = true;
                r = ERR_LIMIT;
        }
        if (r == 0 && announces_too_much(q))
                r = body_too_large(&q->err);
        if (r < 0) {
                refuse(q);
                return;
        }
        q->is_routed = true;
        q->call.path = q->route.path;
        q->call.query = q->route.query;
}

/* --- The server --- */

static bool is_loopback(const struct address *a)
{
        if (a->n_unix_name)
                return true;
        if (a->any.sa_family == AF_INET)
                return ntohl(a->ip4.sin_addr.s_addr) >> 24 == 127;
        return a->any.sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&a->ip6.sin6_addr);
}

static int check_options(const struct apiserver_options *o, struct err *err)
{
        if (!o->tls && !is_loopback(&o->address))
                return err_set(err, ERR_INVALID,
                               "without TLS every peer is the administrator: listen on a loopback address, or use TLS");
        if (o->tls && !o->authenticator)
                return err_set(err, ERR_INVALID, "a server with TLS needs an authenticator");
        return 0;
}

static void set_defaults(struct apiserver_options *o)
{
        if (o->max_user_requests == 0)
                o->max_user_requests = LIMIT_API_USER_REQUESTS;
        if (o->max_user_watches == 0)
                o->max_user_watches = LIMIT_API_USER_WATCHES;
        if (o->max_memory_bytes == 0)
                o->max_memory_bytes = (size_t)MIN(cgroup_memory_limit("") / 2, (uint64_t)LIMIT_API_BYTES);
}

/* How many threads own connections. On few processors a second one only takes turns with the workers and the log, and both wake more
 * often for less. */
static unsigned count_loops(void)
{
        return get_nprocs() < 4 ? 1 : 2;
}

static int start_http(struct apiserver *s, struct err *err)
{
        struct http_server_options options = {
                .address = s->options.address,
                .tls = s->options.tls,
                .n_loops = count_loops(),
                .max_exchanges = LIMIT_API_EXCHANGES,
                .budget = &s->budget,
                .on_request = on_request,
                .context = s,
        };

        return http_server_new(&options, &s->http, err);
}

static int set_up(struct apiserver *s, struct err *err)
{
        struct apiserver_options *o = &s->options;
        unsigned n_processors = (unsigned)get_nprocs();
        int r = 0;

        s->cluster = o->cluster;
        if (o->access) {
                r = access_cluster_new(o->cluster, o->access, &s->checked_cluster, err);
                s->cluster = s->checked_cluster;
        }
        if (r == 0)
                r = discovery_new(o->cluster, &s->discovery, err);
        if (r == 0)
                r = workers_new("api-read", MAX(2u * n_processors, 4u), LIMIT_API_WAITING, &s->readers, err);
        if (r == 0)
                r = workers_new("api-bulk", MAX(n_processors, 2u), LIMIT_API_WAITING, &s->bulk, err);
        if (r == 0)
                r = workers_new("api-health", 1, LIMIT_API_WAITING, &s->health, err);
        if (r == 0)
                r = workers_new("api-write", WRITERS, LIMIT_API_WAITING, &s->writers, err);
        return r < 0 ? r : start_http(s, err);
}

int apiserver_new(const struct apiserver_options *options, struct apiserver **ret, struct err *err)
{
        struct apiserver *s;
        int r = check_options(options, err);

        if (r < 0)
                return r;
        s = xcalloc(1, sizeof(*s));
        s->options = *options;
        set_defaults(&s->options);
        mutex_init(&s->mutex);
        budget_init(&s->budget, s->options.max_memory_bytes);
        promises_init(&s->promises);
        users_init(&s->users, s->options.max_user_requests, s->options.max_user_watches);
        r = set_up(s, err);
        if (r < 0) {
                apiserver_free(s);
                return r;
        }
        *ret = s;
        return 0;
}

struct address apiserver_address(const struct apiserver *s)
{
        return http_server_address(s->http);
}

void apiserver_drain(struct apiserver *s, struct deadline deadline)
{
        http_server_drain(s->http);
        watch_stream_end_all(s);
        http_server_wait(s->http, deadline, NULL);
}

/* Closes the connections first, so that no request comes in. Then the workers finish their jobs, while the loops that take the
 * answers still run. */
void apiserver_free(struct apiserver *s)
{
        if (!s)
                return;
        if (s->http)
                http_server_close(s->http);
        workers_free(s->readers);
        workers_free(s->writers);
        workers_free(s->bulk);
        workers_free(s->health);
        promises_done(&s->promises);
        http_server_free(s->http);
        discovery_free(s->discovery);
        if (s->checked_cluster)
                cluster_free(s->checked_cluster);
        users_done(&s->users);
        mutex_done(&s->mutex);
        free(s);
}
