/* Proxies: which requests they get, and what goes through them. */
#include "certs.h"
#include "raw.h"
#include "server.h"
#include "tls.h"

#include "oci-request.h"

#include <poll.h>

TEST(no_proxy)
{
        static const struct {
                const char *list, *host;
                bool is_direct;
        } cases[] = {
                { "", "example.org", false },
                { "*", "example.org", true },
                { "example.org", "example.org", true },
                { "example.org", "a.example.org:5000", true },
                { "example.org", "badexample.org", false },
                { ".example.org", "example.org", false },
                { ".example.org", "a.example.org", true },
                { "*.example.org", "a.example.org", true },
                { "example.org:5000", "example.org:5000", true },
                { "example.org:5000", "example.org:5001", false },
                { "other, 10.0.0.0/8 ,x", "10.1.2.3:443", true },
                { "10.0.0.0/8", "11.1.2.3", false },
                { "10.0.0.0/12", "10.15.0.1", true },
                { "10.0.0.0/12", "10.16.0.1", false },
                { "10.0.0.1", "10.0.0.1:80", true },
                { "fd00::/8", "[fd12::1]:443", true },
                { "", "localhost:5000", true },
                { "", "127.0.0.1", true },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
                ASSERT_CASE(cases[i].host,
                            oci_no_proxy(str_from(cases[i].list), str_from(cases[i].host)) == cases[i].is_direct);
}

/* A proxy that connects everybody to one address, whatever they ask for. */
struct proxy {
        int listener;
        uint16_t port, to_port;
        const char *answer; /* instead of connecting; NULL: connects */
        struct thread *thread;
        char head[1024]; /* of the last request */
        _Atomic bool ends;
};

static void relay(struct proxy *p, int one, int two)
{
        struct pollfd both[2] = { { .fd = one, .events = POLLIN }, { .fd = two, .events = POLLIN } };

        while (!atomic_load(&p->ends)) {
                if (poll(both, 2, 50) <= 0)
                        continue;
                for (int i = 0; i < 2; i++) {
                        char block[16 << 10];
                        ssize_t n;

                        if (!both[i].revents)
                                continue;
                        n = read(both[i].fd, block, sizeof(block));
                        if (n <= 0 || write(both[1 - i].fd, block, (size_t)n) != n)
                                return;
                }
        }
}

static void serve(struct proxy *p, int client)
{
        struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(p->to_port) };
        _cleanup_close_ int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        size_t n = 0;

        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        while (n < sizeof(p->head) - 1) {
                ssize_t r = read(client, p->head + n, 1);

                if (r <= 0)
                        return;
                p->head[++n] = 0;
                if (n >= 4 && memcmp(p->head + n - 4, "\r\n\r\n", 4) == 0)
                        break;
        }
        if (p->answer) {
                if (write(client, p->answer, strlen(p->answer)) < 0)
                        return;
                return;
        }
        if (connect(server, (struct sockaddr *)&to, sizeof(to)) < 0 ||
            write(client, "HTTP/1.1 200 Connection established\r\nx: y\r\n\r\n", 45) < 0)
                return;
        relay(p, client, server);
}

static void run_proxy(void *arg)
{
        struct proxy *p = arg;

        while (!atomic_load(&p->ends)) {
                struct pollfd l = { .fd = p->listener, .events = POLLIN };
                int client;

                if (poll(&l, 1, 50) <= 0)
                        continue;
                client = accept4(p->listener, NULL, NULL, SOCK_CLOEXEC);
                if (client < 0)
                        continue;
                serve(p, client);
                close(client);
        }
}

static void proxy_init(struct proxy *p, uint16_t to_port, const char *answer)
{
        struct sockaddr_in at = { .sin_family = AF_INET };
        socklen_t n = sizeof(at);

        *p = (struct proxy) { .to_port = to_port, .answer = answer };
        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        p->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        ASSERT(bind(p->listener, (struct sockaddr *)&at, sizeof(at)) == 0 && listen(p->listener, 8) == 0);
        ASSERT(getsockname(p->listener, (struct sockaddr *)&at, &n) == 0);
        p->port = ntohs(at.sin_port);
        ASSERT(thread_start("proxy", run_proxy, p, &p->thread, NULL) == 0);
}

static void proxy_done(struct proxy *p)
{
        atomic_store(&p->ends, true);
        thread_join(p->thread);
        close(p->listener);
}

static void on_hello_end(struct exchange *ex)
{
        exchange_respond(ex, 200, NULL, false);
        exchange_send(ex, bytes_copy(ex->request.authority));
        exchange_finish(ex, NULL);
}

static void on_hello_body(struct exchange *ex, struct str data)
{
        exchange_consume(ex, data.n);
}

static void on_hello_closed(struct exchange *ex, const struct err *err)
{
        (void)ex, (void)err;
}

static const struct exchange_callbacks hello = { .on_body = on_hello_body,
                                                 .on_end = on_hello_end,
                                                 .on_closed = on_hello_closed };

static void on_hello(void *context, struct exchange *ex)
{
        (void)context;
        ex->callbacks = &hello;
}

static int get_through(struct proxy *p, struct tls_config *tls, const char *login, struct str *ret, struct arena *a,
                       struct err *err)
{
        char at[64];
        struct http_client_options o = { .tls = tls, .proxy = at, .proxy_login = login };
        struct http_request q = { .method = STR("GET"), .path = STR("/"), .deadline = deadline_after_ms(20000) };
        _cleanup_(http_client_unrefp)
        struct http_client *c = NULL;
        _cleanup_(http_response_freep)
        struct http_response *response = NULL;
        _cleanup_bytes_ struct bytes *body = NULL;
        int r;

        snprintf(at, sizeof(at), "127.0.0.1:%u", p->port);
        r = http_client_new(STR("https://registry.example.org"), &o, &c, err);
        if (r >= 0)
                r = http_client_open(c, &q, &response, err);
        if (r >= 0)
                r = http_response_read_all(response, 1000, DEADLINE_NONE, NULL, &body, err);
        if (r >= 0)
                *ret = arena_copy(a, body->str);
        return r;
}

TEST(tunnels)
{
        char directory[] = "/tmp/test-oci-proxy-XXXXXX", ca[128];
        struct authority authority = authority_new("authority");
        struct tls_options server_options = { .is_server = true, .directory = directory, .offers_http1 = true };
        struct tls_options client_options = { .ca_file = ca, .offers_http1 = true };
        struct http_server_options options = { .on_request = on_hello };
        struct tls_config *server_tls, *client_tls;
        _cleanup_err_ struct err err = { 0 };
        struct http_server *server;
        struct address address;
        struct proxy good, bad;
        _cleanup_arena_ struct arena a;
        struct str text;

        arena_init(&a, "test", 0);
        ASSERT(mkdtemp(directory));
        snprintf(ca, sizeof(ca), "%s/ca.crt", directory);
        write_certificate(directory, "DNS:registry.example.org", &authority, &authority, 3600);
        ASSERT(tls_config_new(&server_options, &server_tls, &err) == 0 &&
               tls_config_new(&client_options, &client_tls, &err) == 0);
        options.tls = server_tls;
        ASSERT(address_from_ip(STR("127.0.0.1"), 0, &options.address, NULL) == 0);
        ASSERT(http_server_new(&options, &server, &err) == 0);
        address = http_server_address(server);
        proxy_init(&good, ntohs(address.ip4.sin_port), NULL);
        proxy_init(&bad, 0, "HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");

        if (get_through(&good, client_tls, "user:pass", &text, &a, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
        ASSERT_STR(text, STR("registry.example.org"));
        ASSERT(str_starts_with(str_from(good.head),
                               STR("CONNECT registry.example.org:443 HTTP/1.1\r\nHost: registry.example.org:443\r\n"
                                   "Proxy-Authorization: Basic dXNlcjpwYXNz\r\n\r\n")));
        ASSERT(get_through(&bad, client_tls, NULL, &text, &a, &err) < 0);
        ASSERT_CASE(err_message(&err), strstr(err_message(&err), "the proxy refuses to connect: HTTP/1.1 407"));

        proxy_done(&good);
        proxy_done(&bad);
        http_server_free(server);
        tls_config_unref(server_tls);
        tls_config_unref(client_tls);
        authority_done(&authority);
        snprintf(ca, sizeof(ca), "rm -r %s", directory);
        ASSERT(system(ca) == 0);
}
