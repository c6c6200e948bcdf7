#include "oci-request.h"

#include "buf.h"
#include "bytes.h"
#include "clock.h"
#include "json.h"
#include "timetext.h"

#include <errno.h>

#define MAX_REDIRECTS     10
#define MAX_TRIES         4
#define MAX_RETRY_AFTER_S 30
#define MAX_ERROR_BYTES   (64u << 10)
#define MAX_PAUSE_MS      10000
#define MIN_BYTES_PER_S   1024
#define PIECE_BYTES       (64u << 10)

/* Schemes */

static bool is_listed_plain(const struct oci_client *c, struct str registry)
{
        for (size_t i = 0; i < c->options.n_plain_registries; i++)
                if (str_equal(c->options.plain_registries[i], registry))
                        return true;
        return false;
}

/* 1: plain, 0: TLS, -1: not tried yet. */
static int known_scheme(struct oci_client *c, struct str registry)
{
        int found = -1;

        mutex_lock(&c->mutex);
        for (size_t i = 0; i < c->schemes.n; i++)
                if (str_equal(str_from(c->schemes.p[i].registry), registry))
                        found = c->schemes.p[i].is_plain;
        mutex_unlock(&c->mutex);
        return found;
}

/* A registry on this machine may or may not speak TLS: it is asked once, without TLS and credentials. A TLS server answers with 400 or
 * closes the connection. Elsewhere nothing is ever sent without TLS. */
static bool is_plain_loopback(struct oci_client *c, struct arena *a, struct str registry, struct oci_wait wait)
{
        struct http_request q = { .method = STR("GET"), .cancel = wait.cancel };
        _cleanup_(http_response_freep)
        struct http_response *response = NULL;
        _cleanup_(http_client_unrefp)
        struct http_client *http = NULL;
        _cleanup_err_ struct err err = { 0 };
        int known = known_scheme(c, registry);
        struct oci_url url;
        bool is_plain;

        if (known >= 0)
                return known;
        if (oci_url_parse(a, arena_printf(a, "http://%.*s/v2/", STR_ARG(registry)), NULL, &url, &err) < 0 ||
            oci_client_origin(c, a, &url, &http, &q.path, &err) < 0)
                return false;
        q.deadline = deadline_earliest(wait.deadline, deadline_after_ms(c->options.stall_ms));
        is_plain = http_client_open(http, &q, &response, &err) >= 0 && response->status != 400;
        if (!is_plain && strstr(err_message(&err), "connection refused"))
                return true; /* nobody is there: ask again next time; the error names the plain address */
        mutex_lock(&c->mutex);
        vec_push(&c->schemes, (struct oci_scheme) { str_to_cstring(registry), is_plain });
        mutex_unlock(&c->mutex);
        return is_plain;
}

static int first_url(struct oci_client *c, struct arena *a, const struct oci_ask *ask, struct oci_wait wait,
                     struct oci_url *ret, struct err *err)
{
        bool is_plain;

        if (ask->url) {
                *ret = *ask->url;
                return 0;
        }
        is_plain = is_listed_plain(c, ask->registry) ||
                   (oci_registry_is_loopback(ask->registry) && is_plain_loopback(c, a, ask->registry, wait));
        return oci_url_parse(a, ARENA_CONCAT(a, is_plain ? STR("http://") : STR("https://"), ask->registry, ask->path),
                             NULL, ret, err);
}

/* Redirects */

static bool is_redirect(const struct oci_ask *ask, int status)
{
        bool reads = str_equal(ask->method, STR("GET")) || str_equal(ask->method, STR("HEAD"));

        return reads && (status == 301 || status == 302 || status == 303 || status == 307 || status == 308);
}

static int check_target(const struct oci_ask *ask, const struct oci_url *from, const struct oci_url *to,
                        struct err *err)
{
        if (!oci_host_is_here(ask->registry) && oci_host_is_here(to->host))
                return err_set(err, ERR_FORBIDDEN, "the registry redirects to this machine: %.*s", STR_ARG(to->origin));
        if (from->is_https && !to->is_https)
                return err_set(err, ERR_FORBIDDEN, "the registry redirects to a place without TLS: %.*s",
                               STR_ARG(to->origin));
        return 0;
}

static int follow(struct arena *a, const struct oci_ask *ask, const struct http_response *r, struct oci_url *url,
                  struct err *err)
{
        struct str location = http_fields_get(&r->fields, STR("location"));
        struct oci_url to;
        int result;

        if (!location.p || location.n == 0)
                return err_set(err, ERR_INVALID, "status %d without a location", r->status);
        result = oci_url_parse(a, location, url, &to, err);
        if (result >= 0)
                result = check_target(ask, url, &to, err);
        if (result < 0)
                return err_wrap(err, "redirect");
        *url = to;
        return 0;
}

/* Sending */

struct reader {
        int fd;
        int64_t offset;
};

static int produce(void *context, struct bytes **ret, struct err *err)
{
        struct reader *f = context;
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        ssize_t n;

        if (!buf_reserve(&b, PIECE_BYTES))
                return buf_check(&b, "a piece", err);
        do
                n = pread(f->fd, b.p, PIECE_BYTES, f->offset);
        while (n < 0 && errno == EINTR);
        if (n < 0)
                return err_set_errno(err, errno, "cannot read the blob");
        if (n == 0)
                return 0;
        b.n = (size_t)n;
        f->offset += n;
        *ret = bytes_take(&b);
        return 1;
}

/* Whether credentials for the registry may go to the URL: to the registry's own host alone. */
static bool is_own(const struct oci_ask *ask, const struct oci_url *url, const struct oci_url *first)
{
        return str_equal(url->host, first->host) && url->is_https == first->is_https;
}

static int send_once(struct oci_client *c, struct arena *a, const struct oci_ask *ask, const struct oci_url *url,
                     struct str authorization, struct oci_wait wait, struct http_response **ret, struct err *err)
{
        _cleanup_(http_client_unrefp)
        struct http_client *http = NULL;
        struct http_fields fields = { 0 };
        struct reader *reader;
        struct http_request q = {
                .method = ask->method, .fields = &fields, .deadline = wait.deadline, .cancel = wait.cancel
        };
        int r = oci_client_origin(c, a, url, &http, &q.path, err);

        if (r < 0)
                return r;
        for (size_t i = 0; ask->fields && i < ask->fields->n; i++)
                http_fields_add(&fields, a, ask->fields->p[i].name, ask->fields->p[i].value);
        if (authorization.n > 0)
                http_fields_add(&fields, a, STR("authorization"), authorization);
        q.body = ask->body;
        q.is_idempotent = str_equal(ask->method, STR("PUT"));
        if (ask->body_fd < 0 || ask->body_bytes == 0)
                return http_client_open(http, &q, ret, err);
        reader = ARENA_NEW(a, struct reader); /* a server may answer before it has read everything */
        reader->fd = ask->body_fd;
        q.produce = produce;
        q.producer = reader;
        q.body_bytes = ask->body_bytes;
        q.expects_continue = true;
        return http_client_open(http, &q, ret, err);
}

/* Retries */

static bool may_pass(int status)
{
        return status == 429 || status == 500 || status == 502 || status == 503 || status == 504;
}

static int64_t pause_ms(const struct oci_client *c, const struct http_response *r, unsigned attempt)
{
        int64_t ms = MIN(c->options.retry_ms << MIN(attempt, 10u), (int64_t)MAX_PAUSE_MS), seconds = 0;
        struct str after = r ? http_fields_get(&r->fields, STR("retry-after")) : STR_NONE;

        if (after.n == 0 || after.n > 4)
                return ms;
        for (size_t i = 0; i < after.n; i++) {
                if (after.p[i] < '0' || after.p[i] > '9')
                        return ms;
                seconds = seconds * 10 + (after.p[i] - '0');
        }
        return MAX(ms, MIN(seconds, (int64_t)MAX_RETRY_AFTER_S) * 1000);
}

static bool is_final(const struct oci_wait *wait, int code)
{
        return code == ERR_CANCELED || code == ERR_FORBIDDEN || code == ERR_INVALID || code == ERR_LIMIT ||
               deadline_has_passed(wait->deadline);
}

/* Sends until there is an answer that counts. A request that was perhaps processed is sent again only if that does no harm. */
static int send_until(struct oci_client *c, struct arena *a, const struct oci_ask *ask, const struct oci_url *url,
                      struct str authorization, struct oci_wait wait, struct http_response **ret, struct err *err)
{
        bool is_safe = !str_equal(ask->method, STR("POST")) && !str_equal(ask->method, STR("PATCH"));

        for (unsigned attempt = 0;; attempt++) {
                _cleanup_(http_response_freep)
                struct http_response *response = NULL;
                int r = send_once(c, a, ask, url, authorization, wait, &response, err);
                bool is_last = attempt + 1 == MAX_TRIES || (r < 0 && (!is_safe || is_final(&wait, r)));

                if (is_last || (r >= 0 && !may_pass(response->status))) {
                        *ret = r < 0 ? NULL : TAKE(response);
                        return r;
                }
                if (thread_sleep(deadline_earliest(wait.deadline, deadline_after_ms(pause_ms(c, response, attempt))),
                                 wait.cancel) < 0)
                        return r < 0 ? r : cancel_check(wait.cancel, err);
                if (deadline_has_passed(wait.deadline)) {
                        *ret = r < 0 ? NULL : TAKE(response);
                        return r;
                }
        }
}

/* For errors; the query may hold a signature. */
static struct str path_of(const struct oci_ask *ask)
{
        struct str path = ask->url ? ask->url->path : ask->path;
        ptrdiff_t query = str_find_char(path, '?');

        return query < 0 ? path : str_first(path, (size_t)query);
}

int oci_open(struct oci_client *c, struct arena *a, const struct oci_ask *ask, struct oci_wait wait,
             struct http_response **ret, struct oci_url *ret_url, struct err *err)
{
        struct oci_url first, url;
        bool has_authorized = false;
        int r = first_url(c, a, ask, wait, &first, err);

        if (r < 0)
                return r;
        if (ask->url) { /* credentials are for the registry, wherever it sends us */
                struct oci_ask own = *ask;

                own.url = NULL;
                own.path = STR("/");
                r = first_url(c, a, &own, wait, &first, err);
                if (r >= 0)
                        r = check_target(ask, &first, ask->url, err);
                if (r < 0)
                        return r;
        }
        url = ask->url ? *ask->url : first;
        for (unsigned n_redirects = 0;;) {
                _cleanup_(http_response_freep)
                struct http_response *response = NULL;
                bool own = is_own(ask, &url, &first);

                r = send_until(c, a, ask, &url, own ? oci_authorization(c, a, ask) : STR(""), wait, &response, err);
                if (r < 0)
                        return r;
                if (response->status == 401 && own && !has_authorized) {
                        has_authorized = true;
                        r = oci_authorize(c, a, ask, &url, response, wait, err);
                        if (r < 0)
                                return err_wrap(err, "%.*s %.*s%.*s", STR_ARG(ask->method), STR_ARG(ask->registry),
                                                STR_ARG(path_of(ask)));
                        continue;
                }
                if (!is_redirect(ask, response->status)) {
                        if (ret_url)
                                *ret_url = url;
                        *ret = TAKE(response);
                        return 0;
                }
                if (n_redirects++ == MAX_REDIRECTS)
                        r = err_set(err, ERR_LIMIT, "more than %d redirects", MAX_REDIRECTS);
                else
                        r = follow(a, ask, response, &url, err);
                if (r < 0)
                        return err_wrap(err, "%.*s %.*s%.*s", STR_ARG(ask->method), STR_ARG(ask->registry),
                                        STR_ARG(path_of(ask)));
        }
}

/* Bodies */

void oci_speed_begin(struct oci_speed *s)
{
        *s = (struct oci_speed) { .start_ns = clock_mono_ns() };
}

int oci_speed_check(const struct oci_client *c, struct oci_speed *s, size_t n_new, struct err *err)
{
        int64_t now = clock_mono_ns(), window_ns = c->options.slow_ms * NS_PER_MS;

        s->n_bytes += (int64_t)n_new;
        if (now - s->start_ns < window_ns)
                return 0;
        if (s->n_bytes < window_ns / NS_PER_MS * MIN_BYTES_PER_S / 1000)
                return err_set(err, ERR_LIMIT, "the registry sends less than %d bytes per second", MIN_BYTES_PER_S);
        *s = (struct oci_speed) { .start_ns = now };
        return 0;
}

int oci_read_body(const struct oci_client *c, const struct oci_ask *ask, struct http_response *r, size_t max_bytes,
                  struct oci_wait wait, struct bytes **ret, struct err *err)
{
        _cleanup_buf_ struct buf whole = BUF_INIT(max_bytes);
        struct oci_speed speed;
        struct str piece;
        int result;

        oci_speed_begin(&speed);
        while ((result = http_response_read(r, wait.deadline, wait.cancel, &piece, err)) > 0) {
                if (piece.n > max_bytes - whole.n)
                        result = err_set(err, ERR_LIMIT, "the response's body is larger than the limit of %zu bytes",
                                         max_bytes);
                else
                        result = oci_speed_check(c, &speed, piece.n, err);
                if (result < 0)
                        return err_wrap(err, "%.*s %.*s%.*s", STR_ARG(ask->method), STR_ARG(ask->registry),
                                        STR_ARG(path_of(ask)));
                buf_append_str(&whole, piece);
        }
        if (result >= 0)
                *ret = bytes_take(&whole);
        return result;
}

/* Errors */

/* The registry's own words: `{"errors": [{"code": ..., "message": ...}]}`. */
static struct str words(struct arena *a, struct str body)
{
        const struct value *root, *first;
        struct str code, message;

        if (json_parse(a, body, NULL, &root, NULL) < 0)
                return STR("");
        first = value_item(value_get(root, STR("errors")), 0);
        code = str_first(value_str(value_get(first, STR("code"))), 128);
        message = str_first(value_str(value_get(first, STR("message"))), 512);
        if (code.n == 0 && message.n == 0)
                return STR("");
        return ARENA_CONCAT(a, STR(": "), code, code.n > 0 && message.n > 0 ? STR(": ") : STR(""), message);
}

static int code_of(int status)
{
        if (status == 401 || status == 403)
                return ERR_FORBIDDEN;
        return status == 404 ? ERR_NOT_FOUND : ERR_FAILED;
}

int oci_status_error(const struct oci_ask *ask, struct http_response *r, struct oci_wait wait, struct err *err)
{
        _cleanup_bytes_ struct bytes *body = NULL;
        _cleanup_arena_ struct arena a;
        struct str text = STR("");

        arena_init(&a, "error", 0);
        if (http_response_read_all(r, MAX_ERROR_BYTES, deadline_earliest(wait.deadline, deadline_after_ms(10000)),
                                   wait.cancel, &body, NULL) >= 0)
                text = words(&a, body->str);
        return err_set(err, code_of(r->status), "%.*s %.*s%.*s: status %d %s%.*s%s", STR_ARG(ask->method),
                       STR_ARG(ask->registry), STR_ARG(path_of(ask)), r->status, http_reason(r->status), STR_ARG(text),
                       r->status == 401 ? "; the registry refuses the credentials, or there are none for it" : "");
}

int oci_open_document(struct oci_client *c, struct arena *a, const struct oci_ask *plain, struct str media_types,
                      struct oci_wait wait, struct http_response **ret, struct err *err)
{
        _cleanup_(http_response_freep)
        struct http_response *response = NULL;
        struct http_fields fields = { 0 };
        struct oci_ask ask = *plain;
        int r;

        http_fields_add(&fields, a, STR("accept"), media_types);
        ask.fields = &fields;
        r = oci_open(c, a, &ask, wait, &response, NULL, err);
        if (r < 0)
                return r;
        if (response->status != 200)
                return oci_status_error(&ask, response, wait, err);
        *ret = TAKE(response);
        return 0;
}
