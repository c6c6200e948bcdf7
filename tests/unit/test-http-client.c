/* The client against our server, in all forms: requests, bodies that stream, pools, deadlines, cancelling. */
#include "http-client-test.h"

#include "clock.h"
#include "timetext.h"

#define FOR_EACH_FORM(f) for (enum form f = 0; f < _FORM_COUNT; f++)

static void check_requests(enum form form)
{
        const char *what = form_names[form];
        _cleanup_arena_ struct arena a;
        struct http_request q;
        struct http_fields fields = { 0 };
        struct http_response *r;
        struct str text;
        struct stage s;

        arena_init(&a, "test", 0);
        stage_init(&s, form, (struct http_server_options) { 0 }, (struct http_client_options) { 0 });
        ASSERT_STR(http_client_name(s.client), str_from(s.target));
        q = get("/status/404");
        r = must_open(s.client, &q);
        ASSERT_CASE(what, r->status == 404 && r->is_h2 == form_is_h2(form));
        ASSERT_STR_CASE(what, must_read(r, &a), STR(""));

        http_fields_add(&fields, &a, STR("authorization"), STR("Bearer abc"));
        q = (struct http_request) { .method = STR("PUT"), .path = STR("/fields"), .fields = &fields };
        r = must_open(s.client, &q);
        ASSERT_STR_CASE(what, http_fields_get(&r->fields, STR("x-test")), STR("yes"));
        text = must_read(r, &a);
        ASSERT_CASE(what, str_starts_with(text, STR("PUT 127.0.0.1:")));
        ASSERT_CASE(what, str_find(text, STR("\nauthorization: Bearer abc\n")) > 0);
        ASSERT_CASE(what, str_find(text, STR("\ncontent-length: 0\n")) > 0);
        ASSERT_CASE(what, str_find(text, STR("\nuser-agent: weft\n")) > 0);

        ASSERT_CASE(what, http_client_stats(s.client).n_connected == 1); /* one connection served both */

        q = (struct http_request) { .method = STR("POST"), .path = STR("/echo"), .body = bytes_copy(STR("hello")) };
        ASSERT_STR_CASE(what, must_read(must_open(s.client, &q), &a), STR("hello"));
        q.expects_continue = true;
        ASSERT_STR_CASE(what, must_read(must_open(s.client, &q), &a), STR("hello"));
        bytes_unref(q.body);

        q = get("/trailers");
        r = must_open(s.client, &q);
        ASSERT_INT(http_response_read(r, DEADLINE_NONE, NULL, &text, NULL), 1);
        ASSERT_STR_CASE(what, text, STR("body"));
        ASSERT_INT(http_response_read(r, DEADLINE_NONE, NULL, &text, NULL), 0);
        ASSERT_INT(http_response_read(r, DEADLINE_NONE, NULL, &text, NULL), 0);
        ASSERT_STR_CASE(what, http_fields_get(&r->trailers, STR("x-sum")), STR("42"));
        http_response_free(r);

        q = (struct http_request) { .method = STR("HEAD"), .path = STR("/bytes/100000") };
        ASSERT_STR_CASE(what, must_read(must_open(s.client, &q), &a), STR(""));
        stage_done(&s);
}

TEST(requests)
{
        FOR_EACH_FORM(f)
        check_requests(f);
}

/* Bodies */

struct source {
        size_t left_bytes, piece_bytes;
        int n_calls;
        bool fails, is_endless;
};

static int produce_piece(void *context, struct bytes **ret, struct err *err)
{
        struct source *s = context;
        size_t n = MIN(s->left_bytes, s->piece_bytes);
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        s->n_calls++;
        if (s->fails && s->n_calls == 3)
                return err_set(err, ERR_FAILED, "the disk is gone");
        if (n == 0)
                return 0;
        buf_append_repeat(&b, 'p', n);
        s->left_bytes -= s->is_endless ? 0 : n;
        *ret = bytes_take(&b);
        return 1;
}

/* The body of the request comes back while it is still being produced. */
static void check_streaming(enum form form)
{
        struct source source = { .left_bytes = 3 << 20, .piece_bytes = 10000 };
        struct http_request q = { .method = STR("POST"), .path = STR("/echo"), .produce = produce_piece };
        struct http_response *r;
        struct stage s;

        stage_init(&s, form, (struct http_server_options) { 0 }, (struct http_client_options) { 0 });
        for (int with_length = 0; with_length < 2; with_length++) {
                struct source now = source;
                size_t n = 0;
                struct str piece;
                int result;

                q.producer = &now;
                q.body_bytes = with_length ? (int64_t)source.left_bytes : 0;
                q.expects_continue = with_length;
                r = must_open(s.client, &q);
                while ((result = http_response_read(r, deadline_after_ms(20000), NULL, &piece, NULL)) > 0)
                        n += piece.n;
                ASSERT_CASE(form_names[form], result == 0 && n == source.left_bytes);
                http_response_free(r);
        }
        stage_done(&s);
}

TEST(streaming_both_ways)
{
        FOR_EACH_FORM(f)
        check_streaming(f);
}

TEST(producers_that_go_wrong)
{
        static const struct {
                const char *what;
                size_t bytes, announced;
                bool fails;
                const char *error;
        } cases[] = {
                { "fails", 100000, 0, true, "producing the request's body: the disk is gone" },
                { "too short", 5000, 6000, false, "not as long as announced" },
                { "too long", 5000, 4000, false, "not as long as announced" },
        };

        for (enum form f = FORM_H1; f <= FORM_H2; f++) {
                _cleanup_arena_ struct arena a;
                struct http_request ask = get("/status/204");
                struct stage s;

                arena_init(&a, "test", 0);
                stage_init(&s, f, (struct http_server_options) { 0 }, (struct http_client_options) { 0 });
                for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                        struct source source = { .left_bytes = cases[i].bytes,
                                                 .piece_bytes = 1000,
                                                 .fails = cases[i].fails };
                        struct http_request q = { .method = STR("POST"),
                                                  .path = STR("/hang"),
                                                  .produce = produce_piece };
                        _cleanup_err_ struct err err = { 0 };
                        struct http_response *r = NULL;

                        q.producer = &source;
                        q.body_bytes = (int64_t)cases[i].announced;
                        ASSERT_CASE(cases[i].what, http_client_open(s.client, &q, &r, &err) < 0);
                        if (!strstr(err_message(&err), cases[i].error))
                                test_fail(__FILE__, __LINE__, "[%s] %s", cases[i].what, err_message(&err));
                        ASSERT_STR(must_read(must_open(s.client, &ask), &a), STR("")); /* the client goes on */
                }
                stage_done(&s);
        }
}

/* The server refuses before it has read the body: the producer is asked no more. */
TEST(an_answer_before_the_body_is_sent)
{
        FOR_EACH_FORM(f)
        {
                _cleanup_arena_ struct arena a;
                struct source source = { .left_bytes = 1, .piece_bytes = 1, .is_endless = true };
                struct http_request q = {
                        .method = STR("POST"), .path = STR("/early"), .produce = produce_piece, .producer = &source
                };
                struct http_response *r;
                struct stage s;
                int n_calls;

                arena_init(&a, "test", 0);
                source.left_bytes = source.piece_bytes = 1000;
                stage_init(&s, f, (struct http_server_options) { 0 }, (struct http_client_options) { 0 });
                r = must_open(s.client, &q);
                ASSERT_CASE(form_names[f], r->status == 401);
                n_calls = source.n_calls;
                ASSERT_STR(must_read(r, &a), STR(""));
                ASSERT_INT(source.n_calls, n_calls);
                /* With Expect, the producer is not asked at all. */
                source.n_calls = 0;
                q.expects_continue = true;
                r = must_open(s.client, &q);
                ASSERT_CASE(form_names[f], r->status == 401);
                ASSERT_STR(must_read(r, &a), STR(""));
                ASSERT_INT(source.n_calls, 0);
                stage_done(&s);
        }
}

/* A response that is not read stops the server; reading it on lets the server continue. */
TEST(back_pressure)
{
        FOR_EACH_FORM(f)
        {
                size_t size = 40 << 20, sent, n = 0;
                struct http_request q = get("/bytes/41943040");
                struct http_response *r;
                struct str piece;
                struct stage s;
                int result;

                stage_init(&s, f, (struct http_server_options) { 0 }, (struct http_client_options) { 0 });
                r = must_open(s.client, &q);
                do {
                        sent = atomic_load(&n_sent);
                        thread_sleep(deadline_after_ms(100), NULL);
                } while (sent != atomic_load(&n_sent));
                ASSERT_CASE(form_names[f], sent < 16 << 20); /* the windows, and the buffers of the kernel */
                while ((result = http_response_read(r, deadline_after_ms(20000), NULL, &piece, NULL)) > 0)
                        n += piece.n;
                ASSERT_CASE(form_names[f], result == 0 && n == size);
                http_response_free(r);
                stage_done(&s);
        }
}

TEST(a_body_larger_than_the_limit)
{
        FOR_EACH_FORM(f)
        {
                _cleanup_err_ struct err err = { 0 };
                struct http_request q = get("/bytes/100001");
                _cleanup_bytes_ struct bytes *body = NULL;
                struct http_response *r;
                struct stage s;

                stage_init(&s, f, (struct http_server_options) { 0 }, (struct http_client_options) { 0 });
                r = must_open(s.client, &q);
                ASSERT_INT(http_response_read_all(r, 100000, DEADLINE_NONE, NULL, &body, &err), ERR_LIMIT);
                ASSERT(strstr(err_message(&err), "larger than the limit of 100000 bytes"));
                http_response_free(r);
                r = must_open(s.client, &q);
                ASSERT_INT(http_response_read_all(r, 100001, DEADLINE_NONE, NULL, &body, &err), 0);
                ASSERT_INT(body->str.n, 100001);
                http_response_free(r);
                stage_done(&s);
        }
}

/* Errors */

TEST(invalid_requests)
{
        static const struct {
                const char *method, *path, *name, *value, *error;
        } cases[] = {
                { "GET /", "/", "a", "b", "invalid method" },
                { "", "/", "a", "b", "invalid method" },
                { "GET", "x", "a", "b", "invalid path" },
                { "GET", "", "a", "b", "invalid path" },
                { "GET", "/a b", "a", "b", "invalid path" },
                { "GET", "/a\r\nb", "a", "b", "invalid path" },
                { "GET", "/a\tb", "a", "b", "invalid path" },
                { "GET", "/", "A", "b", "invalid header A" },
                { "GET", "/", "", "b", "invalid header" },
                { "GET", "/", "a", "b\r\nc", "invalid header a" },
                { "GET", "/", "host", "b", "the client sets the header host itself" },
                { "GET", "/", "transfer-encoding", "chunked", "the client sets the header transfer-encoding itself" },
        };
        struct stage s;

        stage_init(&s, FORM_H1, (struct http_server_options) { 0 }, (struct http_client_options) { 0 });
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct http_field field = { str_from(cases[i].name), str_from(cases[i].value) };
                struct http_fields fields = { &field, 1, 1 };
                struct http_request q = { .method = str_from(cases[i].method),
                                          .path = str_from(cases[i].path),
                                          .fields = &fields };
                _cleanup_err_ struct err err = { 0 };
                struct http_response *r;

                ASSERT_CASE(cases[i].error, http_client_open(s.client, &q, &r, &err) == ERR_INVALID);
                ASSERT_CASE(err_message(&err), strstr(err_message(&err), cases[i].error) != NULL);
        }
        ASSERT_INT(atomic_load(&n_requests), 0);
        stage_done(&s);
}

TEST(invalid_targets)
{
        static const char *const cases[] = { "",          "host",           "ftp://host",         "http://",
                                             "http:///x", "https://host/x", "https://user@host",  "https://host?q",
                                             "unix:",     "http://a b",     "https://host:99999", "http://[::1" };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_err_ struct err err = { 0 };
                struct http_client *c;

                ASSERT_CASE(cases[i], http_client_new(str_from(cases[i]), NULL, &c, &err) < 0);
                ASSERT_CASE(cases[i], err.code == ERR_INVALID);
        }
}

/* An error names the request, the address and the reason. */
TEST(servers_that_cannot_be_reached)
{
        _cleanup_err_ struct err err = { 0 };
        _cleanup_buf_ struct buf target = BUF_INIT(0), wanted = BUF_INIT(0);
        struct http_client_options options = { .backoff_ms = 10 };
        struct http_request q = get("/x?secret=1");
        struct http_response *r;
        struct http_client *c;
        struct address a;
        int fd = raw_bind(&a); /* bound, but it does not listen */

        buf_append_literal(&target, "http://");
        address_append(&target, &a);
        ASSERT_INT(http_client_new(buf_str(&target), &options, &c, &err), 0);
        buf_appendf(&wanted, "GET %s/x: connection error: ", buf_cstring(&target));
        address_append(&wanted, &a);
        buf_append_literal(&wanted, ": ");
        for (int i = 0; i < 3; i++) { /* every request tries again */
                ASSERT(http_client_open(c, &q, &r, &err) < 0);
                ASSERT_STR(str_first(str_from(err_message(&err)), wanted.n), buf_str(&wanted));
                ASSERT(strstr(err_message(&err), "connection refused"));
        }
        q.waits_for_server = true;
        q.deadline = deadline_after_ms(100);
        ASSERT_INT(http_client_open(c, &q, &r, &err), ERR_TIMEOUT);
        ASSERT(strstr(err_message(&err), "waiting for a connection: deadline exceeded: connection error: "));
        http_client_unref(c);
        close(fd);
}

TEST(a_certificate_that_is_not_trusted)
{
        struct http_request q = get("/status/200");
        _cleanup_err_ struct err err = { 0 };
        struct http_client *c;
        struct http_response *r;
        struct stage s;

        stage_init(&s, FORM_TLS_H2, (struct http_server_options) { 0 }, (struct http_client_options) { 0 });
        ASSERT_INT(http_client_new(str_from(s.target), NULL, &c, &err), 0); /* the system's authorities */
        ASSERT(http_client_open(c, &q, &r, &err) < 0);
        ASSERT_CASE(err_message(&err), strstr(err_message(&err), "certificate"));
        http_client_unref(c);
        stage_done(&s);
}

/* A server that wants a certificate refuses a client without one. */
TEST(no_client_certificate)
{
        struct http_request q = get("/status/200");
        _cleanup_err_ struct err err = { 0 };
        struct http_client_options options = { 0 };
        struct tls_options anonymous = { .offers_http1 = true };
        char ca[128];
        struct http_client *c;
        struct http_response *r;
        struct stage s;

        stage_init(&s, FORM_MUTUAL, (struct http_server_options) { 0 }, (struct http_client_options) { 0 });
        snprintf(ca, sizeof(ca), "%s/ca.crt", s.directory);
        anonymous.ca_file = ca;
        ASSERT_INT(tls_config_new(&anonymous, &options.tls, &err), 0);
        ASSERT_INT(http_client_new(str_from(s.target), &options, &c, &err), 0);
        ASSERT(http_client_open(c, &q, &r, &err) < 0);
        ASSERT_CASE(err_message(&err), strstr(err_message(&err), "certificate required"));
        http_client_unref(c);
        tls_config_unref(options.tls);
        stage_done(&s);
}
