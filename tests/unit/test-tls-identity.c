/* The identity of a client in its certificate, as a server reads it: over both HTTP versions, for good, wrong and missing
 * certificates. */
#include "test.h"

#include "certs.h"
#include "raw.h"
#include "server.h"
#include "tls.h"

#include <openssl/ssl.h>

/* The answer to every request: who asks. */
static void on_body(struct exchange *ex, struct str data)
{
        exchange_consume(ex, data.n);
}

static void on_end(struct exchange *ex)
{
        const struct tls_identity *identity = ex->identity;
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        if (!identity)
                buf_append_literal(&b, "<nobody>");
        else if (!identity->is_verified)
                buf_appendf(&b, "<unknown%.*s>", STR_ARG(identity->common_name));
        else
                buf_appendf(&b, "<%.*s", STR_ARG(identity->common_name));
        for (size_t i = 0; identity && i < identity->n_organizations; i++)
                buf_appendf(&b, ",%.*s", STR_ARG(identity->organizations[i]));
        if (identity && identity->is_verified)
                buf_append_char(&b, '>');
        exchange_send(ex, bytes_take(&b));
        exchange_finish(ex, NULL);
}

static void on_closed(struct exchange *ex, const struct err *err)
{
        (void)ex, (void)err;
}

static const struct exchange_callbacks callbacks = { .on_body = on_body, .on_end = on_end, .on_closed = on_closed };

static void on_request(void *context, struct exchange *ex)
{
        (void)context;
        ex->callbacks = &callbacks;
        exchange_respond(ex, 200, NULL, false);
}

struct fixture {
        struct authority ours, theirs;
        char directory[64];
        struct tls_config *tls;
        struct http_server *server;
};

static void fixture_init(struct fixture *f)
{
        struct tls_options tls = { .is_server = true, .asks_client_certificate = true, .offers_http1 = true };
        struct http_server_options options = { .on_request = on_request };
        _cleanup_err_ struct err err = { 0 };

        strcpy(f->directory, "/tmp/weft-identity.XXXXXX");
        ASSERT(mkdtemp(f->directory));
        f->ours = authority_new("ours");
        f->theirs = authority_new("theirs");
        write_certificate(f->directory, "DNS:localhost", &f->ours, &f->ours, 3600);
        tls.directory = f->directory;
        ASSERT_INT(tls_config_new(&tls, &f->tls, &err), 0);
        options.tls = f->tls;
        ASSERT_INT(address_from_ip(STR("127.0.0.1"), 0, &options.address, &err), 0);
        ASSERT_INT(http_server_new(&options, &f->server, &err), 0);
}

static void fixture_done(struct fixture *f)
{
        static const char *const names[] = { "tls.crt", "tls.key", "ca.crt" };

        http_server_free(f->server);
        tls_config_unref(f->tls);
        authority_done(&f->ours);
        authority_done(&f->theirs);
        for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
                char path[128];

                snprintf(path, sizeof(path), "%s/%s", f->directory, names[i]);
                unlink(path);
        }
        rmdir(f->directory);
}

/* The subject is a list of `O=`, `CN=` texts; usage may be NULL. */
static void use_certificate(SSL *ssl, const struct authority *by, const char *const *subject, long valid_s,
                            const char *usage)
{
        EVP_PKEY *key = EVP_EC_gen("P-256");
        X509 *x = new_certificate(key, "x", by, valid_s);
        X509_NAME *name = X509_NAME_new();

        for (; *subject; subject++) {
                const char *value = strchr(*subject, '=') + 1;
                char type[8] = { 0 };

                memcpy(type, *subject, (size_t)(value - 1 - *subject));
                ASSERT(X509_NAME_add_entry_by_txt(name, type, MBSTRING_UTF8, (const unsigned char *)value, -1, -1, 0));
        }
        X509_set_subject_name(x, name);
        if (usage)
                add_extension(x, by->certificate, NID_ext_key_usage, usage);
        ASSERT(X509_sign(x, by->key, EVP_sha256()));
        ASSERT(SSL_use_certificate(ssl, x) == 1 && SSL_use_PrivateKey(ssl, key) == 1);
        X509_NAME_free(name);
        X509_free(x);
        EVP_PKEY_free(key);
}

struct client {
        const char *name;
        const char *subject[4]; /* none: no certificate */
        const char *usage;
        long valid_s;
        bool is_theirs;
        const char *wanted;
};

/* Everything that the server sends until it has told who asks, twice, on one connection. */
static void ask_twice(SSL *ssl, bool is_h2, struct buf *b)
{
        static const char h1[] = "GET / HTTP/1.1\r\nhost: a\r\n\r\n";
        char h2[] = "\0\0\x06\1\5\0\0\0\1\x82\x86\x84\x41\x01\x61";

        if (is_h2)
                ASSERT(SSL_write(ssl, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0", 33) == 33);
        for (int i = 0; i < 2; i++) {
                h2[8] = (char)(2 * i + 1);
                if (is_h2)
                        ASSERT(SSL_write(ssl, h2, sizeof(h2) - 1) > 0);
                else
                        ASSERT(SSL_write(ssl, h1, sizeof(h1) - 1) > 0);
                buf_clear(b);
                while (str_find(buf_str(b), STR(">")) < 0) {
                        char block[4096];
                        int n = SSL_read(ssl, block, sizeof(block));

                        ASSERT(n > 0);
                        buf_append(b, block, (size_t)n);
                }
        }
}

static void meet(struct fixture *f, const struct client *c, bool is_h2)
{
        SSL_CTX *context = SSL_CTX_new(TLS_client_method());
        const char *protocol = is_h2 ? "\x02h2" : "\x08http/1.1";
        struct address address = http_server_address(f->server);
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        int fd = raw_dial(&address);
        SSL *ssl = SSL_new(context);

        if (c->subject[0])
                use_certificate(ssl, c->is_theirs ? &f->theirs : &f->ours, c->subject, c->valid_s, c->usage);
        SSL_set_alpn_protos(ssl, (const unsigned char *)protocol, (unsigned)strlen(protocol));
        SSL_set_fd(ssl, fd);
        ASSERT_CASE(c->name, SSL_connect(ssl) == 1);
        ask_twice(ssl, is_h2, &b);
        ASSERT_CASE(c->name, str_find(buf_str(&b), str_from(c->wanted)) >= 0);
        SSL_free(ssl);
        SSL_CTX_free(context);
        close(fd);
}

TEST(identities)
{
        static const struct client clients[] = {
                { .name = "no certificate", .wanted = "<nobody>" },
                { .name = "groups",
                  .subject = { "O=dev", "O=ops", "CN=alice" },
                  .usage = "clientAuth",
                  .valid_s = 60,
                  .wanted = "<alice,dev,ops>" },
                { .name = "no usage", .subject = { "CN=bob" }, .valid_s = 60, .wanted = "<bob>" },
                { .name = "two names", .subject = { "CN=a", "CN=b" }, .valid_s = 60, .wanted = "<b>" },
                { .name = "no name", .subject = { "O=dev" }, .valid_s = 60, .wanted = "<,dev>" },
                { .name = "another authority",
                  .subject = { "CN=mallory" },
                  .valid_s = 60,
                  .is_theirs = true,
                  .wanted = "<unknown>" },
                { .name = "expired", .subject = { "CN=alice" }, .valid_s = -60, .wanted = "<unknown>" },
                { .name = "for servers",
                  .subject = { "CN=alice" },
                  .usage = "serverAuth",
                  .valid_s = 60,
                  .wanted = "<unknown>" },
        };
        struct fixture f;

        fixture_init(&f);
        for (size_t i = 0; i < ARRAY_SIZE(clients); i++) {
                meet(&f, &clients[i], false);
                meet(&f, &clients[i], true);
        }
        fixture_done(&f);
}
