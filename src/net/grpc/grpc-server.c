/* The path of a call: its head and body arrive on the loop thread of its connection, which collects the message; a worker runs the
 * handler; the loop sends the answer. The loop owns a call, except that the worker owns it from submit to finish of its job. Only
 * the loop uses ex and is_with_worker; it frees the call when the exchange is closed and the worker has finished. */
#include "grpc-server.h"

#include "memory-line.h"
#include "arena.h"
#include "budget.h"
#include "buf.h"
#include "bytes.h"
#include "clock.h"
#include "grpc-health.h"
#include "grpc-reflection.h"
#include "limits.h"
#include "log.h"
#include "loop.h"
#include "map.h"
#include "vec.h"
#include "workers.h"

#include <stdatomic.h>
#include <sys/sysinfo.h>

#define PREFIX_BYTES     5
#define MAX_QUEUED_CALLS (64u << 10)

/* The memory of a call besides its messages: its head, the exchange and the struct call. */
#define CALL_BYTES (8u << 10)

/* Messages of the server's own services (health, reflection) are short. A reflection stream has a window of input and a queue of
 * answers. */
#define OWN_MESSAGE_BYTES (64u << 10)
#define REFLECTION_BYTES  (LIMIT_WINDOW_BYTES + (256u << 10))

struct grpc_server {
        struct grpc_server_options options;
        struct http_server *http;
        struct map methods; /* name -> const struct grpc_method * */
        struct workers *workers;
        struct grpc_health health;
        struct grpc_method health_check;
        VEC(struct str) services; /* full names, for reflection; point into the methods' names */
        struct budget budget;     /* for all calls together */
        struct memory_line memory_line;
};

struct call {
        struct grpc_server *server;
        struct exchange *ex;              /* NULL once it is closed */
        const struct grpc_method *method; /* NULL for reflection */
        struct grpc_reader reader;
        struct bytes *message;
        struct budget_account account;
        struct memory_ticket ticket;
        size_t held_bytes;  /* bytes of the body that are not yet consumed, so that the client must wait */
        struct arena arena; /* for the call itself; the handler has its own arena */
        struct arena heads; /* the exchange's arena, if the exchange closes before the handler returns */
        struct http_fields metadata;
        struct grpc_request request;
        struct cancel *cancel;
        struct buf reply; /* prefix and message; for reflection, input that waits for room */
        enum grpc_status status;
        struct err err;
        struct job job;
        int refusal; /* HTTP status for a request that is not gRPC, sent when the request ends; 0: none */
        bool is_with_worker;
        bool has_answered;
        bool has_ended;    /* the request is complete */
        bool is_admitted;  /* memory for the message and an answer of the same size is reserved */
        bool is_inflating; /* memory for the decompressed message is reserved */
};

/* Memory */

/* The text for RESOURCE_EXHAUSTED, with the setting that raises the limit. */
static struct str explain_memory(struct call *c, const char *what)
{
        const struct grpc_server_options *o = &c->server->options;
        const char *flag = o->max_memory_flag;

        return arena_printf(&c->arena, "%s: all calls together may use %zu MiB%s%s", what, o->max_memory_bytes >> 20,
                            flag ? "; raise it with " : "", flag ? flag : "");
}

/* Frees the request's memory; its head stays with the exchange. */
static void drop_request(struct call *c)
{
        grpc_reader_done(&c->reader);
        bytes_unref(c->message);
        c->message = NULL;
        budget_keep(&c->account, CALL_BYTES + c->reply.capacity);
}

static void free_call_if_done(struct call *c)
{
        if (c->ex || c->is_with_worker)
                return;
        drop_request(c);
        buf_done(&c->reply);
        budget_keep(&c->account, 0);
        err_done(&c->err);
        cancel_unref(c->cancel);
        arena_done(&c->arena);
        arena_done(&c->heads);
        free(c);
}

/* Answers */

static void add_status(struct http_fields *fields, struct arena *a, enum grpc_status status, struct str message)
{
        _cleanup_buf_ struct buf encoded = BUF_INIT(0);
        char digits[] = { (char)('0' + status / 10), (char)('0' + status % 10) };

        http_fields_add(fields, a, STR("grpc-status"), str_skip(str_make(digits, 2), status < 10));
        if (message.n == 0)
                return;
        grpc_append_message(&encoded, str_first(message, LIMIT_STATUS_MESSAGE_BYTES));
        http_fields_add(fields, a, STR("grpc-message"), buf_str(&encoded));
}

/* The head of every answer; the common one is a static table. */
static const struct http_fields *head_fields(struct call *c)
{
        static struct http_field type = { STR_INIT("content-type"), STR_INIT("application/grpc") };
        static const struct http_fields usual = { &type, 1, 1 };
        const struct http_fields *metadata = &c->request.reply_metadata;
        struct http_fields *fields;

        if (metadata->n == 0)
                return &usual;
        fields = ARENA_NEW(&c->arena, struct http_fields);
        http_fields_add(fields, &c->arena, type.name, type.value);
        for (size_t i = 0; i < metadata->n; i++)
                http_fields_add(fields, &c->arena, metadata->p[i].name, metadata->p[i].value);
        return fields;
}

/* Trailers-Only: the status is in the head, and no body follows. */
static void answer_status(struct call *c, enum grpc_status status, struct str message)
{
        struct http_fields fields = { 0 };
        const struct http_fields *head;

        if (!c->ex || c->has_answered)
                return;
        c->has_answered = true;
        head = head_fields(c);
        for (size_t i = 0; i < head->n; i++)
                http_fields_add(&fields, &c->arena, head->p[i].name, head->p[i].value);
        add_status(&fields, &c->arena, status, message);
        exchange_respond(c->ex, 200, &fields, true);
}

static void answer_http(struct call *c, int status)
{
        if (!c->ex || c->has_answered)
                return;
        c->has_answered = true;
        exchange_respond(c->ex, status, NULL, false);
        exchange_send(c->ex, bytes_copy(STR("this server speaks gRPC alone\n")));
        exchange_finish(c->ex, NULL);
}

static void begin_answer(struct call *c)
{
        c->has_answered = true;
        exchange_respond(c->ex, 200, head_fields(c), false);
}

static void end_answer(struct call *c)
{
        static struct http_field status = { STR_INIT("grpc-status"), STR_INIT("0") };
        static const struct http_fields trailers = { &status, 1, 1 };

        exchange_finish(c->ex, &trailers);
}

static void on_answered(struct job *j)
{
        struct call *c = CONTAINER_OF(j, struct call, job);

        c->is_with_worker = false;
        if (c->ex)
                exchange_hold(c->ex, &c->account);
        if (c->ex && c->status != GRPC_OK) {
                answer_status(c, c->status, str_from(err_message(&c->err)));
        } else if (c->ex) {
                begin_answer(c);
                exchange_send(c->ex, bytes_take(&c->reply));
                end_answer(c);
        }
        free_call_if_done(c);
}

/* Workers */

static void set_prefix(struct buf *reply)
{
        size_t n = reply->n - PREFIX_BYTES;

        reply->p[0] = 0;
        for (int i = 0; i < 4; i++)
                reply->p[4 - i] = (char)(n >> (8 * i));
}

/* The status for a message that could not be read; for a limit, the text names the setting that raises it. */
static enum grpc_status explain_message(struct call *c, struct err *err)
{
        const char *flag = c->server->options.max_receive_flag;
        struct str text = arena_copy(&c->arena, str_from(err_message(err)));

        if (err->code == ERR_UNSUPPORTED)
                return GRPC_UNIMPLEMENTED;
        if (err->code != ERR_LIMIT)
                return GRPC_INTERNAL;
        err_set(err, ERR_LIMIT, "%.*s%s%s", STR_ARG(text), flag ? "; raise it with " : "", flag ? flag : "");
        return GRPC_RESOURCE_EXHAUSTED;
}

/* The status becomes RESOURCE_EXHAUSTED when the call was refused memory, whatever its other result is. */
static enum grpc_status check_memory(struct call *c, enum grpc_status status)
{
        if (!c->account.has_refused)
                return status;
        err_set(&c->err, ERR_LIMIT, "%.*s", STR_ARG(explain_memory(c, "there is not enough memory for the call")));
        return GRPC_RESOURCE_EXHAUSTED;
}

/* Decompresses on the worker, because it would block the loop. */
static enum grpc_status read_message(struct call *c)
{
        if (grpc_reader_finish(&c->reader, http_fields_get(c->request.metadata, STR("grpc-encoding")), &c->message,
                               &c->err) < 0)
                return explain_message(c, &c->err);
        c->request.message = c->message->str;
        return GRPC_OK;
}

static enum grpc_status run_handler(struct call *c)
{
        struct http_fields *metadata = &c->request.reply_metadata, given;
        enum grpc_status status;
        struct arena arena;

        arena_init(&arena, "call", 0);
        arena_set_account(&arena, &c->account);
        c->request.arena = &arena;
        status = c->method->handle(c->method->context, &c->request, &c->reply, &c->err);
        given = *metadata;
        *metadata = (struct http_fields) { 0 };
        for (size_t i = 0; i < given.n; i++)
                http_fields_add(metadata, &c->arena, given.p[i].name, given.p[i].value);
        arena_done(&arena);
        return status;
}

static enum grpc_status handle(struct call *c)
{
        enum grpc_status status;

        if (deadline_has_passed(c->request.deadline)) {
                err_set(&c->err, ERR_TIMEOUT, "context deadline exceeded");
                return GRPC_DEADLINE_EXCEEDED;
        }
        if (cancel_is_triggered(c->cancel)) {
                err_set(&c->err, ERR_CANCELED, "context canceled");
                return GRPC_CANCELLED;
        }
        status = read_message(c);
        if (status != GRPC_OK)
                return status;
        buf_append_repeat(&c->reply, 0, PREFIX_BYTES);
        status = run_handler(c);
        if (status == GRPC_OK && buf_check(&c->reply, "the response", &c->err) < 0)
                return GRPC_RESOURCE_EXHAUSTED;
        if (status == GRPC_OK)
                set_prefix(&c->reply);
        return status;
}

static void run_call(struct job *j)
{
        struct call *c = CONTAINER_OF(j, struct call, job);

        c->status = check_memory(c, handle(c));
        if (c->status != GRPC_OK)
                buf_done(&c->reply);
        c->reply.account = NULL; /* from now on the exchange's account is charged for it */
        drop_request(c);
}

/* Requests */

static void enqueue(struct call *c)
{
        c->is_with_worker = true;
        if (workers_submit(c->server->workers, c->ex->loop, &c->job) < 0) {
                c->is_with_worker = false;
                answer_status(c, GRPC_UNAVAILABLE, STR("the server is busy or shutting down"));
        }
}

static void refuse_message(struct call *c, struct err *err)
{
        enum grpc_status status = explain_message(c, err);

        if (c->account.has_refused)
                answer_status(c, GRPC_RESOURCE_EXHAUSTED,
                              explain_memory(c, "there is not enough memory for the request"));
        else
                answer_status(c, status, arena_copy(&c->arena, str_from(err_message(err))));
        drop_request(c);
}

/* Memory (memory-line.h): once for the message as it is sent, and again for its decompressed form. */

static void refuse_for_memory(struct call *c, const char *what)
{
        answer_status(c, GRPC_RESOURCE_EXHAUSTED, explain_memory(c, what));
        drop_request(c);
}

static void proceed(struct call *c);

static void ask_for_memory(struct call *c, size_t need_bytes, bool *ret_has)
{
        switch (memory_line_ask(&c->server->memory_line, c->ex->loop, &c->ticket, need_bytes)) {
        case MEMORY_GRANTED:
                *ret_has = true;
                break;
        case MEMORY_WAITS:
                break;
        case MEMORY_NEVER:
                refuse_for_memory(c, "the call needs more memory than one call may have");
                break;
        }
}

/* Reserves the whole buffer for the message, and lets the client continue sending. */
static void be_admitted(struct call *c)
{
        size_t held = c->held_bytes;

        c->is_admitted = true;
        c->held_bytes = 0;
        buf_reserve(&c->reader.body, c->reader.wanted - c->reader.body.n);
        if (held > 0)
                exchange_consume(c->ex, held);
}

static void on_admitted(struct memory_ticket *t)
{
        struct call *c = CONTAINER_OF(t, struct call, ticket);

        if (c->is_admitted)
                c->is_inflating = true;
        else
                be_admitted(c);
        if (c->has_ended)
                proceed(c);
}

static void on_not_admitted(struct memory_ticket *t)
{
        struct call *c = CONTAINER_OF(t, struct call, ticket);

        if (deadline_has_passed(c->request.deadline))
                answer_status(c, GRPC_DEADLINE_EXCEEDED, STR("context deadline exceeded"));
        refuse_for_memory(c, "no memory became free for the call in time");
}

/* Called when the length of the message is known: reserves memory for the message and an answer of the same size. */
static void admit(struct call *c)
{
        size_t wanted = c->reader.wanted;
        bool has_memory = false;

        ask_for_memory(c, c->reader.is_compressed ? wanted : 2 * wanted, &has_memory);
        if (has_memory)
                be_admitted(c);
}

/* Called when the message is complete: passes it to the handler as soon as there is memory for its decompressed form. The
 * compressed bytes are freed before the answer is made. */
static void proceed(struct call *c)
{
        size_t plain, packed = c->reader.body.n;

        if (c->reader.is_complete && c->reader.is_compressed && !c->is_inflating) {
                plain = grpc_reader_plain_bytes(&c->reader);
                ask_for_memory(c, plain + (plain > packed ? plain - packed : 0), &c->is_inflating);
                if (!c->is_inflating)
                        return;
        }
        enqueue(c);
}

static bool is_waiting(const struct call *c)
{
        return c->ticket.line != NULL;
}

/* Bytes that arrive before their memory is reserved are kept but not consumed, so that at most one window of them arrives. */
static void on_body(struct exchange *ex, struct str data)
{
        struct call *c = ex->owner;
        _cleanup_err_ struct err err = { 0 };
        size_t n = data.n;
        int r = 0;

        if (!c->has_answered && !c->refusal) {
                r = grpc_reader_take_prefix(&c->reader, &data, &err);
                if (r == 0 && !c->is_admitted && !is_waiting(c) && c->reader.n_prefix == PREFIX_BYTES)
                        admit(c);
                if (r == 0 && !c->has_answered)
                        r = grpc_reader_add(&c->reader, data, &err);
        }
        if (r < 0)
                refuse_message(c, &err);
        if (is_waiting(c) && !c->has_answered)
                c->held_bytes += n;
        else
                exchange_consume(ex, n);
}

static void on_end(struct exchange *ex)
{
        struct call *c = ex->owner;

        c->has_ended = true;
        if (c->refusal)
                answer_http(c, c->refusal);
        else if (!c->has_answered && !is_waiting(c))
                proceed(c);
}

static void on_closed(struct exchange *ex, const struct err *err)
{
        struct call *c = ex->owner;

        c->ex = NULL;
        (void)err;
        memory_line_leave(&c->ticket);
        if (!c->has_answered)
                cancel_trigger(c->cancel, "context canceled");
        if (c->is_with_worker) /* the handler may still read the head */
                exchange_take_arena(ex, &c->heads);
        free_call_if_done(c);
}

static const struct exchange_callbacks unary_callbacks = {
        .on_body = on_body,
        .on_end = on_end,
        .on_closed = on_closed,
};

/* Reflection is the only method with streams: each message of the client is answered when it is complete. */

static void answer_reflection(struct call *c)
{
        struct grpc_server *s = c->server;
        _cleanup_buf_ struct buf reply = BUF_INIT(0);

        buf_append_repeat(&reply, 0, PREFIX_BYTES);
        grpc_reflect(buf_str(&c->reader.body), s->services.p, s->services.n, &reply);
        set_prefix(&reply);
        grpc_reader_done(&c->reader);
        grpc_reader_init(&c->reader, OWN_MESSAGE_BYTES);
        if (!c->has_answered)
                begin_answer(c);
        exchange_send(c->ex, bytes_take(&reply));
}

/* Answers the input while there is room for answers; the rest waits unconsumed, so that the client stops sending. */
static void reflect(struct call *c)
{
        _cleanup_err_ struct err err = { 0 };
        struct str rest = buf_str(&c->reply);
        size_t taken;

        while (rest.n > 0 && exchange_has_room(c->ex)) {
                if (grpc_reader_take(&c->reader, &rest, &err) < 0) {
                        exchange_reset(c->ex, HTTP_RESET_INTERNAL_ERROR);
                        return;
                }
                if (c->reader.is_complete)
                        answer_reflection(c);
        }
        taken = c->reply.n - rest.n;
        if (taken > 0) {
                memmove(c->reply.p, rest.p, rest.n);
                c->reply.n = rest.n;
                exchange_consume(c->ex, taken);
        }
        if (!c->has_ended || c->reply.n > 0)
                return;
        if (!c->has_answered)
                begin_answer(c);
        end_answer(c);
}

static void on_reflection_body(struct exchange *ex, struct str data)
{
        struct call *c = ex->owner;

        buf_append_str(&c->reply, data);
        reflect(c);
}

static void on_reflection_room(struct exchange *ex)
{
        reflect(ex->owner);
}

static void on_reflection_end(struct exchange *ex)
{
        struct call *c = ex->owner;

        c->has_ended = true;
        reflect(c);
}

static const struct exchange_callbacks reflection_callbacks = {
        .on_body = on_reflection_body,
        .on_end = on_reflection_end,
        .on_room = on_reflection_room,
        .on_closed = on_closed,
};

static void begin_reflection(struct call *c)
{
        if (!budget_take(&c->account, REFLECTION_BYTES)) {
                refuse_for_memory(c, "there are too many streams");
                return;
        }
        c->ex->callbacks = &reflection_callbacks;
        c->reply.account = NULL; /* the reply is already charged */
        grpc_reader_init(&c->reader, OWN_MESSAGE_BYTES);
}

static bool is_reflection(const struct grpc_server *s, struct str method)
{
        return s->options.has_reflection &&
               (str_equal(method, STR("/grpc.reflection.v1.ServerReflection/ServerReflectionInfo")) ||
                str_equal(method, STR("/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo")));
}

/* `unknown service x` or `unknown method y for service x`, as other gRPC servers word it. */
static struct str unknown_method(struct grpc_server *s, struct arena *a, struct str path)
{
        struct str service = str_skip(path, 1), method;
        ptrdiff_t slash = str_find_last_char(service, '/');

        if (path.n == 0 || path.p[0] != '/' || slash < 0)
                return arena_printf(a, "malformed method name: \"%.*s\"", STR_ARG(path));
        method = str_skip(service, (size_t)slash + 1);
        service = str_first(service, (size_t)slash);
        for (const struct map_entry *e = map_first(&s->methods); e; e = map_next(&s->methods, e))
                if (str_starts_with(str_skip(e->key, 1), service) && e->key.n > service.n + 1 &&
                    e->key.p[service.n + 1] == '/')
                        return arena_printf(a, "unknown method %.*s for service %.*s", STR_ARG(method),
                                            STR_ARG(service));
        return arena_printf(a, "unknown service %.*s", STR_ARG(service));
}

static struct call *new_call(struct grpc_server *s, struct exchange *ex)
{
        struct call *c = xcalloc(1, sizeof(*c));

        c->server = s;
        c->ex = ex;
        c->job = (struct job) { .run = run_call, .finish = on_answered };
        arena_init(&c->arena, "call", 0);
        c->account.budget = &s->budget;
        c->ticket = (struct memory_ticket) {
                .account = &c->account,
                .deadline = DEADLINE_NONE,
                .on_admitted = on_admitted,
                .on_refused = on_not_admitted,
        };
        grpc_reader_init(&c->reader, s->options.max_receive_bytes);
        grpc_reader_set_account(&c->reader, &c->account);
        buf_init(&c->reply, 0);
        c->reply.account = &c->account;
        c->cancel = cancel_new(NULL);
        c->metadata = ex->request.fields;
        c->request = (struct grpc_request) {
                .method = ex->request.path,
                .metadata = &c->metadata,
                .deadline = DEADLINE_NONE,
                .cancel = c->cancel,
        };
        return c;
}

static bool check_head(struct call *c)
{
        const struct http_head *head = &c->ex->request;
        struct str timeout = http_fields_get(&head->fields, STR("grpc-timeout"));
        _cleanup_err_ struct err err = { 0 };
        int64_t ns;

        if (!str_equal(head->method, STR("POST"))) {
                c->refusal = 405;
                return false;
        }
        if (!str_starts_with(http_fields_get(&head->fields, STR("content-type")), STR("application/grpc"))) {
                c->refusal = 415;
                return false;
        }
        if (timeout.p) {
                if (grpc_parse_timeout(timeout, &ns, &err) < 0) {
                        answer_status(c, GRPC_INTERNAL, arena_copy(&c->arena, str_from(err_message(&err))));
                        return false;
                }
                c->request.deadline = c->ticket.deadline = deadline_after_ns(ns);
        }
        return true;
}

static void on_request(void *context, struct exchange *ex)
{
        struct grpc_server *s = context;
        struct call *c = new_call(s, ex);

        ex->owner = c;
        ex->callbacks = &unary_callbacks;
        if (!check_head(c))
                return;
        if (!budget_force(&c->account, CALL_BYTES)) {
                refuse_for_memory(c, "there are too many calls");
                return;
        }
        if (is_reflection(s, c->request.method)) {
                begin_reflection(c);
                return;
        }
        if (str_equal(c->request.method, STR("/grpc.health.v1.Health/Watch"))) {
                exchange_hold(ex, &c->account);
                c->ex = NULL;
                free_call_if_done(c);
                grpc_health_watch(&s->health, ex, OWN_MESSAGE_BYTES);
                return;
        }
        c->method = map_get(&s->methods, c->request.method);
        if (!c->method)
                answer_status(c, GRPC_UNIMPLEMENTED, unknown_method(s, &c->arena, c->request.method));
}

/* The server */

/* The service of /package.Service/Method. */
static void add_service(struct grpc_server *s, struct str method)
{
        struct str service = str_skip(method, 1);
        ptrdiff_t slash = str_find_last_char(service, '/');

        assert(slash > 0);
        service = str_first(service, (size_t)slash);
        for (size_t i = 0; i < s->services.n; i++)
                if (str_equal(s->services.p[i], service))
                        return;
        vec_push(&s->services, service);
}

static void add_method(struct grpc_server *s, const struct grpc_method *m)
{
        map_set(&s->methods, str_from(m->name), (void *)m);
        add_service(s, str_from(m->name));
}

static void add_methods(struct grpc_server *s)
{
        for (size_t i = 0; i < s->options.n_methods; i++)
                add_method(s, &s->options.methods[i]);
        s->health_check = (struct grpc_method) { "/grpc.health.v1.Health/Check", grpc_health_check, &s->health };
        add_method(s, &s->health_check);
        if (s->options.has_reflection) {
                add_service(s, STR("/grpc.reflection.v1.ServerReflection/"));
                add_service(s, STR("/grpc.reflection.v1alpha.ServerReflection/"));
        }
}

static void set_defaults(struct grpc_server_options *o)
{
        if (o->n_workers == 0)
                o->n_workers = MAX(2u * (unsigned)get_nprocs(), 4u);
        if (o->max_receive_bytes == 0)
                o->max_receive_bytes = LIMIT_MESSAGE_BYTES;
        if (o->max_memory_bytes == 0)
                o->max_memory_bytes = MAX(4 * o->max_receive_bytes, (size_t)256 << 20);
        if (o->wait_ms == 0)
                o->wait_ms = 5000;
        o->http.refuses_http1 = true;
}

int grpc_server_new(const struct grpc_server_options *options, struct grpc_server **ret, struct err *err)
{
        struct grpc_server *s = xcalloc(1, sizeof(*s));
        int r;

        s->options = *options;
        set_defaults(&s->options);
        s->options.http.on_request = on_request;
        s->options.http.context = s;
        budget_init(&s->budget, s->options.max_memory_bytes);
        memory_line_init(&s->memory_line, &s->budget, s->options.wait_ms);
        s->options.http.budget = &s->budget;
        grpc_health_init(&s->health);
        add_methods(s);
        r = workers_new("grpc", s->options.n_workers, MAX_QUEUED_CALLS, &s->workers, err);
        if (r >= 0)
                r = http_server_new(&s->options.http, &s->http, err);
        if (r < 0) {
                grpc_server_free(s);
                return r;
        }
        *ret = s;
        return 0;
}

struct address grpc_server_address(const struct grpc_server *s)
{
        return http_server_address(s->http);
}

void grpc_server_set_serving(struct grpc_server *s, struct str service, bool is_serving)
{
        grpc_health_set(&s->health, service, is_serving);
}

void grpc_server_drain(struct grpc_server *s)
{
        grpc_health_end(&s->health);
        http_server_drain(s->http);
}

int grpc_server_wait(struct grpc_server *s, struct deadline deadline, struct cancel *cancel)
{
        return http_server_wait(s->http, deadline, cancel);
}

/* Closes the connections first, so that no call comes in. Then the workers finish their jobs, while the loops that take the answers
 * still run. */
void grpc_server_free(struct grpc_server *s)
{
        if (!s)
                return;
        if (s->http)
                http_server_close(s->http);
        workers_free(s->workers);
        memory_line_done(&s->memory_line);
        http_server_free(s->http);
        map_done(&s->methods);
        vec_done(&s->services);
        grpc_health_done(&s->health);
        free(s);
}
