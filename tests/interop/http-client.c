/* Our HTTP client against net/http (tests/interop/peers/http), in TAP.
 *
 *   http-client DIRECTORY PLAIN_URL TLS_URL TLS_HTTP1_URL MUTUAL_URL      the directory has ca.crt, tls.crt and tls.key */
#include "buf.h"
#include "http-client.h"
#include "tls.h"

#include <stdio.h>
#include <string.h>

static int number, n_failed;
static const char *form; /* of the connections that are tested now */

static void report(const char *what, bool is_ok, const char *detail)
{
        printf("%s %d - %s: %s\n", is_ok ? "ok" : "not ok", ++number, form, what);
        if (!is_ok)
                printf("# %s\n", detail);
        n_failed += !is_ok;
}

struct got {
        int result;
        int status;
        char body[4096];
        size_t n_body;
        char field[64], trailer[64];
        struct err err;
};

static struct deadline soon(void)
{
        return deadline_after_ms(20000);
}

static void read_response(struct got *g, struct http_response *r)
{
        struct str piece;

        g->status = r->status;
        snprintf(g->field, sizeof(g->field), "%.*s", STR_ARG(http_fields_get(&r->fields, STR("location"))));
        while ((g->result = http_response_read(r, soon(), NULL, &piece, &g->err)) > 0) {
                if (g->n_body + piece.n < sizeof(g->body))
                        memcpy(g->body + g->n_body, piece.p, piece.n);
                g->n_body += piece.n;
        }
        if (g->result == 0)
                snprintf(g->trailer, sizeof(g->trailer), "%.*s", STR_ARG(http_fields_get(&r->trailers, STR("x-sum"))));
}

static struct got ask(struct http_client *c, struct http_request q)
{
        struct got g = { 0 };
        struct http_response *r = NULL;

        q.method = q.method.n ? q.method : STR("GET");
        q.deadline = soon();
        g.result = http_client_open(c, &q, &r, &g.err);
        if (g.result >= 0)
                read_response(&g, r);
        http_response_free(r);
        return g;
}

static void wants(const char *what, struct got g, int status, const char *body)
{
        char detail[2048];

        snprintf(detail, sizeof(detail), "status %d, %zu bytes \"%.200s\", error %s", g.status, g.n_body, g.body,
                 err_message(&g.err));
        report(what, g.result == 0 && g.status == status && (!body || strcmp(g.body, body) == 0), detail);
        err_done(&g.err);
}

static void wants_error(const char *what, struct got g, const char *text)
{
        report(what, g.result < 0 && strstr(err_message(&g.err), text), err_message(&g.err));
        err_done(&g.err);
}

struct source {
        size_t left_bytes;
};

static int produce(void *context, struct bytes **ret, struct err *err)
{
        struct source *s = context;
        size_t n = MIN(s->left_bytes, (size_t)30000);
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        (void)err;
        if (n == 0)
                return 0;
        buf_append_repeat(&b, 'x', n);
        s->left_bytes -= n;
        *ret = bytes_take(&b);
        return 1;
}

static void check_bodies(struct http_client *c)
{
        struct source source = { 5000000 };
        struct http_request q = {
                .method = STR("PUT"), .path = STR("/count"), .produce = produce, .producer = &source
        };
        struct got g;

        wants("a body of unknown length", ask(c, q), 200, "5000000 <nil>");
        source.left_bytes = 5000000;
        q.body_bytes = 5000000;
        wants("a body of known length", ask(c, q), 200, "5000000 <nil>");
        source.left_bytes = 5000000;
        q.expects_continue = true;
        wants("100-continue", ask(c, q), 200, "5000000 <nil>");
        source.left_bytes = 5000000;
        q.path = STR("/refuse");
        g = ask(c, q);
        report("100-continue is refused, and no body is sent", g.status == 403 && source.left_bytes == 5000000,
               err_message(&g.err));
        err_done(&g.err);
        q.expects_continue = false;
        wants("an answer before the body", ask(c, q), 403, "");
        source.left_bytes = 2000000;
        q = (struct http_request) {
                .method = STR("POST"), .path = STR("/echo"), .produce = produce, .producer = &source
        };
        g = ask(c, q);
        report("streaming both ways", g.result == 0 && g.n_body == 2000000, err_message(&g.err));
        err_done(&g.err);
        q = (struct http_request) { .method = STR("POST"), .path = STR("/echo"), .body = bytes_copy(STR("hello")) };
        wants("a body from memory", ask(c, q), 200, "hello");
        bytes_unref(q.body);
}

static void check_answers(struct http_client *c)
{
        struct got g;

        wants("HEAD", ask(c, (struct http_request) { .method = STR("HEAD"), .path = STR("/bytes?n=100&length=1") }),
              200, "");
        wants("chunks", ask(c, (struct http_request) { .path = STR("/pieces") }), 200, "01234");
        wants("interim responses", ask(c, (struct http_request) { .path = STR("/hints") }), 200, "hinted");
        wants("connection: close", ask(c, (struct http_request) { .path = STR("/close") }), 200, "closed");
        wants("nothing is there", ask(c, (struct http_request) { .path = STR("/nothing") }), 404, NULL);
        g = ask(c, (struct http_request) { .path = STR("/trailers") });
        report("trailers", g.result == 0 && strcmp(g.trailer, "42") == 0, g.trailer);
        g = ask(c, (struct http_request) { .path = STR("/redirect") });
        report("redirects are the caller's", g.status == 302 && strcmp(g.field, "/proto") == 0, g.field);
        g = ask(c, (struct http_request) { .path = STR("/bytes?n=50000000") });
        report("50 MB", g.result == 0 && g.n_body == 50000000, err_message(&g.err));
        g = ask(c, (struct http_request) { .path = STR("/bytes?n=50000000&length=1") });
        report("50 MB with a length", g.result == 0 && g.n_body == 50000000, err_message(&g.err));
        wants_error("a body that is too short", ask(c, (struct http_request) { .path = STR("/short") }),
                    "reading the response");
        wants_error("a handler that breaks off", ask(c, (struct http_request) { .path = STR("/abort") }),
                    "reading the response");
}

/* One event after the other, then the watch is given up, and the client goes on. */
static void check_watch(struct http_client *c)
{
        struct http_request q = { .method = STR("GET"), .path = STR("/watch"), .deadline = soon() };
        _cleanup_err_ struct err err = { 0 };
        struct http_response *r;
        struct str piece;
        int result = http_client_open(c, &q, &r, &err);

        for (int i = 0; i < 20 && result >= 0; i++)
                result = http_response_read(r, soon(), NULL, &piece, &err);
        report("a watch", result > 0, err_message(&err));
        if (result >= 0)
                http_response_free(r);
        q = (struct http_request) { .method = STR("GET"), .path = STR("/hang"), .deadline = deadline_after_ms(50) };
        report("a deadline", http_client_open(c, &q, &r, &err) == ERR_TIMEOUT, err_message(&err));
        wants("afterwards", ask(c, (struct http_request) { .path = STR("/pieces") }), 200, "01234");
}

/* Requests one after the other use one connection: the server sees one port. */
static void check_keeping(struct http_client *c, const char *version)
{
        struct got one = ask(c, (struct http_request) { .path = STR("/proto") }),
                   two = ask(c, (struct http_request) { .path = STR("/proto") });

        report("the version", strncmp(one.body, version, strlen(version)) == 0, one.body);
        report("a connection is kept", one.result == 0 && strcmp(one.body, two.body) == 0, two.body);
}

static void check(const char *name, const char *url, const char *version, struct http_client_options options)
{
        _cleanup_err_ struct err err = { 0 };
        struct http_client *c;

        form = name;
        if (http_client_new(str_from(url), &options, &c, &err) < 0) {
                report("a client", false, err_message(&err));
                return;
        }
        check_keeping(c, version);
        check_bodies(c);
        check_answers(c);
        check_watch(c);
        if (str_find(str_from(name), STR("certificate")) >= 0)
                wants("who we are", ask(c, (struct http_request) { .path = STR("/who") }), 200, "someone");
        http_client_unref(c);
}

static struct tls_config *new_tls(const char *directory, bool has_certificate)
{
        _cleanup_err_ struct err err = { 0 };
        char ca[512], crt[512], key[512];
        struct tls_options options = { .ca_file = ca, .offers_http1 = true };
        struct tls_config *tls;

        snprintf(ca, sizeof(ca), "%s/ca.crt", directory);
        snprintf(crt, sizeof(crt), "%s/tls.crt", directory);
        snprintf(key, sizeof(key), "%s/tls.key", directory);
        if (has_certificate) {
                options.certificate_file = crt;
                options.key_file = key;
        }
        if (tls_config_new(&options, &tls, &err) < 0) {
                fprintf(stderr, "%s\n", err_message(&err));
                exit(1);
        }
        return tls;
}

int main(int argc, char **argv)
{
        struct tls_config *anonymous, *known;

        if (argc != 6)
                return 2;
        anonymous = new_tls(argv[1], false);
        known = new_tls(argv[1], true);
        check("HTTP/1.1", argv[2], "HTTP/1.1", (struct http_client_options) { 0 });
        check("HTTP/2 with prior knowledge", argv[2], "HTTP/2.0",
              (struct http_client_options) { .version = HTTP_VERSION_2 });
        check("TLS, HTTP/2", argv[3], "HTTP/2.0", (struct http_client_options) { .tls = anonymous });
        check("TLS, HTTP/1.1", argv[4], "HTTP/1.1", (struct http_client_options) { .tls = anonymous });
        check("TLS with a certificate", argv[5], "HTTP/2.0", (struct http_client_options) { .tls = known });
        tls_config_unref(anonymous);
        tls_config_unref(known);
        printf("1..%d\n", number);
        return n_failed != 0;
}
