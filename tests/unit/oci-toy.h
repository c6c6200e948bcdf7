/* A registry in the test's process, as honest or hostile as the first part of a repository's name says:
 *
 *   good/      as it should be
 *   basic/     asks for basic credentials (user:secret)
 *   bearer/    asks for a token of its own token server, /token, which wants user:secret
 *   elsewhere/ names the token server of another registry on a host that is not this machine, without TLS
 *   wrong/     flips a byte of everything it sends
 *   pieces/    loses the connection after 1000 bytes of a blob; continues with ranges
 *   stubborn/  the same, without ranges, until the fourth try
 *   whole/     refuses ranges
 *   endless/   blobs never end
 *   hangs/     sends a few bytes of a blob and then nothing
 *   trickles/  sends a byte of a blob now and then
 *   moved/     redirects blobs to the other registry
 *   round/     redirects to itself
 *   away/      redirects to a place that is not http
 *   busy/      answers 503 twice
 *   versions/  has tags that are versions
 *   long/      has a tag that is longer than tags may be
 *   pages/     has pages of tags without end
 *   silent/    does not say the digest and refuses HEAD */
#pragma once

#include "test.h"

#include "buf.h"
#include "loop.h"
#include "oci-digest.h"
#include "oci-registry.h"
#include "server.h"
#include "vec.h"

#include <stdatomic.h>

struct toy_thing {
        char *name; /* "repo:tag", "repo@digest" or a blob's digest */
        char *type;
        char *bytes;
        size_t n;
};

struct toy {
        struct http_server *server;
        char host[64];
        const char *other;  /* host of the registry that moved/ redirects to */
        struct mutex mutex; /* guards things and log */
        VEC(struct toy_thing) things;
        struct buf log; /* `METHOD path authorization` lines */
        _Atomic int n_requests, n_busy, n_cut, n_tokens;
};

struct toy_call {
        struct toy *toy;
        struct buf body;
        bool is_endless, has_timer;
        uv_timer_t timer;
};

static inline void toy_put(struct toy *t, struct str name, const char *type, struct str bytes)
{
        struct toy_thing thing = { str_to_cstring(name), str_to_cstring(str_from(type)), str_to_cstring(bytes),
                                   bytes.n };

        mutex_lock(&t->mutex);
        vec_push(&t->things, thing);
        mutex_unlock(&t->mutex);
}

static inline bool toy_get(struct toy *t, struct str name, struct toy_thing *ret)
{
        bool found = false;

        mutex_lock(&t->mutex);
        for (size_t i = t->things.n; i-- > 0 && !found;)
                if (str_equal(str_from(t->things.p[i].name), name)) {
                        *ret = t->things.p[i];
                        found = true;
                }
        mutex_unlock(&t->mutex);
        return found;
}

static inline void toy_respond(struct exchange *ex, int status, const struct http_fields *fields, struct str body)
{
        bool is_head = str_equal(ex->request.method, STR("HEAD"));

        exchange_respond(ex, status, fields, is_head || body.n == 0);
        if (is_head || body.n == 0)
                return;
        exchange_send(ex, bytes_copy(body));
        exchange_finish(ex, NULL);
}

static inline struct str toy_credentials(void)
{
        return STR("Basic dXNlcjpzZWNyZXQ="); /* user:secret */
}

/* Whether the request may go on; otherwise it was answered. */
static inline bool toy_admits(struct toy *t, struct exchange *ex, struct str repo)
{
        struct str given = http_fields_get(&ex->request.fields, STR("authorization"));
        struct http_fields fields = { 0 };
        struct str field;

        if (str_starts_with(repo, STR("basic/"))) {
                if (str_equal(given, toy_credentials()))
                        return true;
                field = STR("Basic realm=\"toy\"");
        } else if (str_starts_with(repo, STR("bearer/"))) {
                if (str_starts_with(given, STR("Bearer token-for-")) && str_find(given, repo) > 0)
                        return true;
                field = arena_printf(&ex->arena,
                                     "Bearer realm=\"http://%s/token\",service=\"toy\",scope=\"repository:all:*\"",
                                     t->host);
        } else if (str_starts_with(repo, STR("elsewhere/"))) {
                field = STR("Bearer realm=\"http://tokens.example.org/token\",service=\"toy\"");
        } else {
                return true;
        }
        http_fields_add(&fields, &ex->arena, STR("www-authenticate"), field);
        toy_respond(ex, 401, &fields, STR(""));
        return false;
}

static inline void toy_token(struct toy *t, struct exchange *ex)
{
        struct str given = http_fields_get(&ex->request.fields, STR("authorization")), path = ex->request.path;
        ptrdiff_t at = str_find(path, STR("scope=repository:"));

        atomic_fetch_add(&t->n_tokens, 1);
        if (at < 0 || !str_equal(given, toy_credentials())) {
                toy_respond(ex, 401, NULL, STR(""));
                return;
        }
        toy_respond(ex, 200, NULL,
                    arena_printf(&ex->arena, "{\"token\":\"token-for-%.*s\",\"expires_in\":300}",
                                 STR_ARG(str_skip(path, (size_t)at + 17))));
}

static inline void toy_send_more(struct exchange *ex)
{
        struct toy_call *call = ex->owner;
        char block[16 << 10];

        memset(block, 'x', sizeof(block));
        while (call->is_endless && exchange_has_room(ex))
                exchange_send(ex, bytes_copy(str_make(block, sizeof(block))));
}

static inline void toy_tick(uv_timer_t *timer)
{
        struct exchange *ex = timer->data;

        exchange_send(ex, bytes_copy(STR("x")));
}

static inline void toy_cut(uv_timer_t *timer)
{
        uv_timer_stop(timer);
        exchange_reset(timer->data, HTTP_RESET_INTERNAL_ERROR);
}

static inline void toy_start_timer(struct exchange *ex, uv_timer_cb run, uint64_t ms)
{
        struct toy_call *call = ex->owner;

        call->has_timer = true;
        uv_timer_init(loop_uv(ex->loop), &call->timer);
        call->timer.data = ex;
        uv_timer_start(&call->timer, run, ms, ms);
}

/* The first byte that the request asks for. */
static inline size_t toy_range(struct exchange *ex)
{
        struct str range = http_fields_get(&ex->request.fields, STR("range"));

        return range.p && str_cut_prefix(&range, STR("bytes=")) ? strtoul(range.p, NULL, 10) : 0;
}

static inline void toy_blob(struct toy *t, struct exchange *ex, struct str repo, struct str digest)
{
        struct toy_call *call = ex->owner;
        struct http_fields fields = { 0 };
        struct toy_thing thing;
        size_t from = toy_range(ex);
        struct str bytes;

        if (!toy_get(t, digest, &thing)) {
                toy_respond(ex, 404, NULL,
                            STR("{\"errors\":[{\"code\":\"BLOB_UNKNOWN\",\"message\":\"no such blob\"}]}"));
                return;
        }
        bytes = str_make(thing.bytes, thing.n);
        if (str_starts_with(repo, STR("moved/")) || str_starts_with(repo, STR("round/")) ||
            str_starts_with(repo, STR("away/"))) {
                http_fields_add(&fields, &ex->arena, STR("location"),
                                repo.p[0] == 'm'   ? arena_printf(&ex->arena, "http://%s/v2/good/x/blobs/%.*s?sig=1",
                                                                  t->other, STR_ARG(digest))
                                : repo.p[0] == 'r' ? ex->request.path
                                                   : STR("file:///etc/passwd"));
                toy_respond(ex, 307, &fields, STR(""));
        } else if (str_starts_with(repo, STR("pieces/")) || str_starts_with(repo, STR("stubborn/"))) {
                bool has_ranges = repo.p[0] == 'p', is_cut = has_ranges || atomic_fetch_add(&t->n_cut, 1) < 3;

                from = has_ranges ? MIN(from, bytes.n) : 0;
                if (from > 0)
                        http_fields_add(&fields, &ex->arena, STR("content-range"),
                                        arena_printf(&ex->arena, "bytes %zu-%zu/%zu", from, bytes.n - 1, bytes.n));
                http_fields_add(&fields, &ex->arena, STR("content-length"),
                                arena_printf(&ex->arena, "%zu", bytes.n - from));
                exchange_respond(ex, from > 0 ? 206 : 200, &fields, false);
                bytes = str_skip(bytes, from);
                if (is_cut && bytes.n > 1000) {
                        exchange_send(ex, bytes_copy(str_first(bytes, 1000)));
                        toy_start_timer(ex, toy_cut, 20);
                } else {
                        exchange_send(ex, bytes_copy(bytes));
                        exchange_finish(ex, NULL);
                }
        } else if (str_starts_with(repo, STR("whole/")) && from > 0) {
                toy_respond(ex, 416, NULL, STR(""));
        } else if (str_starts_with(repo, STR("endless/"))) {
                exchange_respond(ex, 200, NULL, false);
                call->is_endless = true;
                toy_send_more(ex);
        } else if (str_starts_with(repo, STR("hangs/"))) {
                exchange_respond(ex, 200, NULL, false);
                exchange_send(ex, bytes_copy(str_first(bytes, 5)));
        } else if (str_starts_with(repo, STR("trickles/"))) {
                exchange_respond(ex, 200, NULL, false);
                toy_start_timer(ex, toy_tick, 5);
        } else if (str_starts_with(repo, STR("wrong/"))) {
                struct str copy = arena_copy(&ex->arena, bytes);

                ((char *)(uintptr_t)copy.p)[copy.n / 2] ^= 1;
                toy_respond(ex, 200, NULL, copy);
        } else {
                toy_respond(ex, 200, NULL, bytes);
        }
}

static inline void toy_manifest(struct toy *t, struct exchange *ex, struct str repo, struct str version)
{
        const char *separator = str_starts_with(version, STR("sha256:")) ? "@" : ":";
        struct http_fields fields = { 0 };
        struct toy_thing thing;
        struct str bytes;

        if (str_starts_with(repo, STR("silent/")) && str_equal(ex->request.method, STR("HEAD"))) {
                toy_respond(ex, 405, NULL, STR(""));
                return;
        }
        if (!toy_get(t, arena_printf(&ex->arena, "%.*s%s%.*s", STR_ARG(repo), separator, STR_ARG(version)), &thing)) {
                toy_respond(ex, 404, NULL,
                            STR("{\"errors\":[{\"code\":\"MANIFEST_UNKNOWN\",\"message\":\"manifest unknown\"}]}"));
                return;
        }
        bytes = str_make(thing.bytes, thing.n);
        http_fields_add(&fields, &ex->arena, STR("content-type"), str_from(thing.type));
        if (!str_starts_with(repo, STR("silent/")))
                http_fields_add(&fields, &ex->arena, STR("docker-content-digest"), oci_digest_of(&ex->arena, bytes));
        if (str_starts_with(repo, STR("wrong/"))) {
                bytes = arena_copy(&ex->arena, bytes);
                ((char *)(uintptr_t)bytes.p)[bytes.n - 2] ^= 1;
        }
        if (str_equal(ex->request.method, STR("HEAD")))
                http_fields_add(&fields, &ex->arena, STR("content-length"), arena_printf(&ex->arena, "%zu", bytes.n));
        toy_respond(ex, 200, &fields, bytes);
}

static inline void toy_write(struct toy *t, struct exchange *ex, struct str repo, struct str what, struct str rest)
{
        struct toy_call *call = ex->owner;
        struct http_fields fields = { 0 };
        ptrdiff_t at = str_find(rest, STR("digest="));
        struct str body = buf_str(&call->body), digest = oci_digest_of(&ex->arena, body);

        if (str_equal(what, STR("blobs")) && str_equal(ex->request.method, STR("POST"))) {
                http_fields_add(&fields, &ex->arena, STR("location"),
                                arena_printf(&ex->arena, "/v2/%.*s/blobs/uploads/1?state=a", STR_ARG(repo)));
                toy_respond(ex, 202, &fields, STR(""));
        } else if (str_equal(what, STR("blobs"))) {
                if (at < 0 || !str_equal(str_skip(rest, (size_t)at + 7), digest)) {
                        toy_respond(ex, 400, NULL, STR("{\"errors\":[{\"code\":\"DIGEST_INVALID\"}]}"));
                        return;
                }
                toy_put(t, digest, "", body);
                toy_respond(ex, 201, NULL, STR(""));
        } else {
                struct str type = http_fields_get(&ex->request.fields, STR("content-type"));

                if (!str_starts_with(rest, STR("sha256:")))
                        toy_put(t, arena_printf(&ex->arena, "%.*s:%.*s", STR_ARG(repo), STR_ARG(rest)),
                                arena_cstring(&ex->arena, type), body);
                toy_put(t, arena_printf(&ex->arena, "%.*s@%.*s", STR_ARG(repo), STR_ARG(digest)),
                        arena_cstring(&ex->arena, type), body);
                toy_respond(ex, 201, NULL, STR(""));
        }
}

static inline void toy_tags(struct toy *t, struct exchange *ex, struct str repo)
{
        bool is_second = str_find(ex->request.path, STR("last=b")) > 0;
        struct http_fields fields = { 0 };

        if (str_starts_with(repo, STR("versions/"))) {
                toy_respond(ex, 200, NULL, STR("{\"tags\":[\"v1.10.0\",\"latest\",\"v1.9.0\",\"v2\"]}"));
                return;
        }
        if (str_starts_with(repo, STR("long/"))) {
                toy_respond(ex, 200, NULL, arena_printf(&ex->arena, "{\"tags\":[\"a\",\"%0200d\"]}", 1));
                return;
        }
        if (!is_second || str_starts_with(repo, STR("pages/")))
                http_fields_add(&fields, &ex->arena, STR("link"),
                                arena_printf(&ex->arena, "</v2/%.*s/tags/list?last=b>; rel=\"next\"", STR_ARG(repo)));
        toy_respond(ex, 200, &fields, is_second ? STR("{\"tags\":[\"c\"]}") : STR("{\"tags\":[\"a\",\"b\"]}"));
}

/* `/v2/REPO/REPO/what/rest`: toy repositories have two parts. */
static inline void toy_answer(struct exchange *ex)
{
        struct toy_call *call = ex->owner;
        struct toy *t = call->toy;
        struct str rest = ex->request.path, one, two, repo, what;

        if (str_starts_with(rest, STR("/token"))) {
                toy_token(t, ex);
                return;
        }
        if (!str_cut_prefix(&rest, STR("/v2/")) || !str_split(&rest, '/', &one) || !str_split(&rest, '/', &two)) {
                toy_respond(ex, 200, NULL, STR("{}"));
                return;
        }
        repo = str_make(one.p, one.n + 1 + two.n);
        str_split(&rest, '/', &what);
        if (str_starts_with(repo, STR("busy/")) && atomic_fetch_add(&t->n_busy, 1) < 2) {
                toy_respond(ex, 503, NULL, STR(""));
                return;
        }
        if (!toy_admits(t, ex, repo))
                return;
        if (!str_equal(ex->request.method, STR("GET")) && !str_equal(ex->request.method, STR("HEAD")))
                toy_write(t, ex, repo, what, rest);
        else if (str_equal(what, STR("tags")))
                toy_tags(t, ex, repo);
        else if (str_equal(what, STR("manifests")))
                toy_manifest(t, ex, repo, rest);
        else {
                struct str digest;

                str_split(&rest, '?', &digest);
                toy_blob(t, ex, repo, digest);
        }
}

static inline void toy_on_body(struct exchange *ex, struct str data)
{
        struct toy_call *call = ex->owner;

        buf_append_str(&call->body, data);
        exchange_consume(ex, data.n);
}

static inline void toy_timer_closed(uv_handle_t *h)
{
        struct toy_call *call = CONTAINER_OF(h, struct toy_call, timer);

        buf_done(&call->body);
        free(call);
}

static inline void toy_on_closed(struct exchange *ex, const struct err *err)
{
        struct toy_call *call = ex->owner;

        (void)err;
        if (call->has_timer)
                uv_close((uv_handle_t *)&call->timer, toy_timer_closed);
        else
                toy_timer_closed((uv_handle_t *)&call->timer);
}

static const struct exchange_callbacks toy_callbacks = {
        .on_body = toy_on_body, .on_end = toy_answer, .on_room = toy_send_more, .on_closed = toy_on_closed
};

static inline void toy_on_request(void *context, struct exchange *ex)
{
        struct toy *t = context;
        struct toy_call *call = xcalloc(1, sizeof(*call));

        call->toy = t;
        buf_init(&call->body, 0);
        ex->owner = call;
        ex->callbacks = &toy_callbacks;
        atomic_fetch_add(&t->n_requests, 1);
        mutex_lock(&t->mutex);
        buf_appendf(&t->log, "%.*s %.*s %.*s\n", STR_ARG(ex->request.method), STR_ARG(ex->request.path),
                    STR_ARG(http_fields_get(&ex->request.fields, STR("authorization"))));
        mutex_unlock(&t->mutex);
}

static inline bool toy_has_logged(struct toy *t, const char *text)
{
        bool has;

        mutex_lock(&t->mutex);
        has = strstr(buf_cstring(&t->log), text) != NULL;
        mutex_unlock(&t->mutex);
        return has;
}

static inline void toy_init(struct toy *t)
{
        struct http_server_options options = { .on_request = toy_on_request, .context = t };
        _cleanup_err_ struct err err = { 0 };
        _cleanup_buf_ struct buf text = BUF_INIT(0);
        struct address address;

        *t = (struct toy) { 0 };
        mutex_init(&t->mutex);
        buf_init(&t->log, 0);
        ASSERT(address_from_ip(STR("127.0.0.1"), 0, &options.address, NULL) == 0);
        if (http_server_new(&options, &t->server, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
        address = http_server_address(t->server);
        address_append(&text, &address);
        snprintf(t->host, sizeof(t->host), "%s", buf_cstring(&text));
}

static inline void toy_done(struct toy *t)
{
        http_server_free(t->server);
        for (size_t i = 0; i < t->things.n; i++) {
                free(t->things.p[i].name);
                free(t->things.p[i].type);
                free(t->things.p[i].bytes);
        }
        vec_done(&t->things);
        buf_done(&t->log);
        mutex_done(&t->mutex);
}

static inline struct oci_reference toy_ref(struct toy *t, struct arena *a, const char *name)
{
        struct oci_reference ref;

        ASSERT_CASE(name, oci_reference_parse(a, arena_printf(a, "%s/%s", t->host, name), 0, &ref, NULL) == 0);
        return ref;
}
