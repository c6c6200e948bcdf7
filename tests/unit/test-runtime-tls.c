/* The keys of packages: how they are made and replaced, and that old and new ones understand each other meanwhile. */
#include "store-test.h"

#include <fcntl.h>

#include "certificate.h"
#include "oci-unpack.h"
#include "runtime-tls.h"
#include "tls.h"

#define NOW 1800000000

static const struct runtime_tls_leaf server_leaf = { .use = RUNTIME_TLS_SERVES,
                                                     .secret = STR_INIT("function-a-tls-server"),
                                                     .name = STR_INIT("function-a") };
static const struct runtime_tls_leaf client_leaf = { .use = RUNTIME_TLS_CALLS,
                                                     .secret = STR_INIT("crossplane-tls-client"),
                                                     .name = STR_INIT("crossplane.crossplane-system") };

/* A lifetime of 1000 s: leaves are replaced at 100, the authority at 200. */
static struct runtime_tls ensure(struct fixture *f, const struct runtime_tls_leaf *leaf, int64_t now_s,
                                 int64_t *ret_check_s)
{
        struct runtime_tls_options options = { .lifetime_s = 1000, .margin_s = 100, .now_s = now_s };
        struct runtime_tls tls;

        if (runtime_tls_ensure(f->cluster, &f->run, &options, leaf, &tls, ret_check_s, &f->err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&f->err));
        return tls;
}

static const struct value *secret(struct fixture *f, const char *name)
{
        struct object_key key = { { STR(""), STR("v1"), STR("Secret") }, STR("crossplane-system"), str_from(name) };
        const struct value *v;

        if (cluster_get_value(f->cluster, &f->run, &key, &v, &f->err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&f->err));
        return v;
}

static size_t count_certificates(struct str pem)
{
        size_t n = 0;
        ptrdiff_t at;

        while ((at = str_find(pem, STR("BEGIN CERTIFICATE"))) >= 0) {
                pem = str_skip(pem, (size_t)at + 1);
                n++;
        }
        return n;
}

TEST(bootstrap)
{
        _cleanup_fixture_ struct fixture f;
        struct runtime_tls first, again;
        struct certificate_facts facts;
        int64_t check_s;

        fixture_init(&f);
        first = ensure(&f, &server_leaf, NOW, &check_s);
        ASSERT_INT(check_s, 801); /* the authority is first */
        ASSERT(str_starts_with(first.key, STR("-----BEGIN RSA PRIVATE KEY-----")));
        ASSERT(certificate_inspect(first.cert, NULL, first.ca, &facts, &f.err) >= 0);
        ASSERT(facts.is_signed);
        ASSERT_INT(facts.not_after, NOW + 1000);
        ASSERT(certificate_has_name(first.cert, STR("function-a")));
        ASSERT(certificate_has_name(first.cert, STR("function-a.crossplane-system")));
        ASSERT(certificate_has_name(first.cert, STR("function-a.crossplane-system.svc")));
        ASSERT(certificate_has_name(first.ca, STR("crossplane-root-ca")));
        again = ensure(&f, &server_leaf, NOW + 1, &check_s);
        ASSERT_STR(again.cert, first.cert);
        ASSERT_STR(again.ca, first.ca);
        again = ensure(&f, &client_leaf, NOW + 1, &check_s);
        ASSERT_STR(again.ca, first.ca);
        ASSERT(certificate_has_name(again.cert, STR("crossplane.crossplane-system")));
        ASSERT(value_find(secret(&f, "crossplane-root-ca"), "data", "tls.key"));
        ASSERT(value_find(secret(&f, "crossplane-tls-client"), "data", "ca.crt"));
}

/* Time passes: the authority is replaced first, then leaves; everybody trusts everybody all the time. */
TEST(rotation)
{
        _cleanup_fixture_ struct fixture f;
        struct runtime_tls before, trusting, after;
        int64_t check_s;

        fixture_init(&f);
        before = ensure(&f, &server_leaf, NOW, &check_s);
        trusting = ensure(&f, &server_leaf, NOW + 801, &check_s);
        ASSERT_INT(count_certificates(trusting.ca), 2);
        ASSERT_STR(trusting.cert, before.cert); /* it trusts the new one as well, and is still good */
        after = ensure(&f, &server_leaf, NOW + 901, &check_s);
        ASSERT(!str_equal(after.cert, before.cert));
        ASSERT_STR(after.ca, trusting.ca);
        after = ensure(&f, &server_leaf, NOW + 1001, &check_s);
        ASSERT_INT(count_certificates(after.ca), 2); /* nobody needs the old one, and nothing needs to be written */
        after = ensure(&f, &server_leaf, NOW + 801 + 801, &check_s);
        ASSERT_INT(count_certificates(after.ca), 2); /* the next one and this one */
}

TEST(other_names)
{
        _cleanup_fixture_ struct fixture f;
        struct runtime_tls_leaf renamed = server_leaf;
        struct runtime_tls tls;
        int64_t check_s;

        fixture_init(&f);
        ensure(&f, &server_leaf, NOW, &check_s);
        renamed.name = STR("function-b");
        tls = ensure(&f, &renamed, NOW, &check_s);
        ASSERT(certificate_has_name(tls.cert, STR("function-b.crossplane-system")));
        ASSERT(!certificate_has_name(tls.cert, STR("function-a")));
}

static void delete_secret(struct fixture *f, const char *name)
{
        struct write_request req = {
                .verb = WRITE_DELETE,
                .key = { { STR(""), STR("v1"), STR("Secret") }, STR("crossplane-system"), str_from(name) }
        };
        struct write_result result;

        ASSERT_INT(cluster_write(f->cluster, &f->run, &req, &result, &f->err), 0);
}

static void create_secret(struct fixture *f, const char *json)
{
        struct write_request req = {
                .verb = WRITE_CREATE,
                .key = { { STR(""), STR("v1"), STR("Secret") }, STR("crossplane-system"), STR("") },
                .body = from_json(f, json)
        };
        struct write_result result;

        if (cluster_write(f->cluster, &f->run, &req, &result, &f->err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&f->err));
}

/* Our own leaves follow another authority; those of others stay, and half ones are refused. */
TEST(others)
{
        _cleanup_fixture_ struct fixture f;
        struct runtime_tls before, after;
        struct runtime_tls_options options = { .now_s = NOW };
        struct certificate_facts facts;
        int64_t check_s;

        fixture_init(&f);
        before = ensure(&f, &server_leaf, NOW, &check_s);
        delete_secret(&f, "crossplane-root-ca");
        after = ensure(&f, &server_leaf, NOW, &check_s);
        ASSERT(!str_equal(after.cert, before.cert));
        ASSERT(certificate_inspect(after.cert, NULL, after.ca, &facts, &f.err) >= 0 && facts.is_signed);
        delete_secret(&f, "function-a-tls-server");
        create_secret(
                &f, "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"function-a-tls-server\","
                    "\"namespace\":"
                    "\"crossplane-system\"},\"data\":{\"tls.crt\":\"YQ==\",\"tls.key\":\"Yg==\",\"ca.crt\":\"Yw==\"}}");
        after = ensure(&f, &server_leaf, NOW, &check_s);
        ASSERT_STR(after.cert, STR("a"));
        ASSERT_STR(after.ca, STR("c"));
        delete_secret(&f, "function-a-tls-server");
        create_secret(&f, "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"function-a-tls-server\","
                          "\"namespace\":"
                          "\"crossplane-system\"},\"data\":{\"tls.crt\":\"YQ==\"}}");
        ASSERT_INT(runtime_tls_ensure(f.cluster, &f.run, &options, &server_leaf, &after, NULL, &f.err), ERR_INVALID);
        ASSERT_TEXT(err_message(&f.err),
                    "Secret \"function-a-tls-server\" needs all of tls.crt, tls.key and ca.crt; complete it, "
                    "or delete it to get a new one");
}

/* --- Handshakes --- */

static void move(SSL *from, SSL *to)
{
        char *p;
        long n = BIO_get_mem_data(SSL_get_wbio(from), &p);

        if (n > 0)
                BIO_write(SSL_get_rbio(to), p, (int)n);
        (void)BIO_reset(SSL_get_wbio(from));
}

static bool shake_hands(struct fixture *f, const char *directory, const struct runtime_tls *server,
                        const struct runtime_tls *client)
{
        char server_directory[128], client_directory[128];
        struct tls_config *s = NULL, *c = NULL;
        SSL *a, *b;
        bool is_good;

        snprintf(server_directory, sizeof(server_directory), "%s/server", directory);
        snprintf(client_directory, sizeof(client_directory), "%s/client", directory);
        if (runtime_tls_write(server_directory, server, &f->err) < 0 ||
            runtime_tls_write(client_directory, client, &f->err) < 0 ||
            tls_config_new(&(struct tls_options) { .is_server = true,
                                                   .directory = server_directory,
                                                   .needs_client_certificate = true },
                           &s, &f->err) < 0 ||
            tls_config_new(&(struct tls_options) { .directory = client_directory }, &c, &f->err) < 0 ||
            tls_new_connection(s, NULL, &a, &f->err) < 0 ||
            tls_new_connection(c, "function-a.crossplane-system", &b, &f->err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&f->err));
        SSL_set_bio(a, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
        SSL_set_bio(b, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
        for (int i = 0; i < 10; i++) {
                SSL_do_handshake(b);
                move(b, a);
                SSL_do_handshake(a);
                move(a, b);
        }
        is_good = SSL_is_init_finished(a) && SSL_is_init_finished(b);
        SSL_free(a);
        SSL_free(b);
        tls_config_unref(s);
        tls_config_unref(c);
        return is_good;
}

/* Leaves with true times, as handshakes look at the clock: the authority is about to end in the eyes of the second. */
TEST(handshakes)
{
        _cleanup_fixture_ struct fixture f;
        char directory[] = "/tmp/weft-tls-XXXXXX";
        int64_t now_s = time(NULL), check_s;
        struct runtime_tls_options first = { .lifetime_s = 10000, .margin_s = 100, .now_s = now_s };
        struct runtime_tls_options second = { .lifetime_s = 20000, .margin_s = 5100, .now_s = now_s };
        struct runtime_tls old_server, old_client, server, client;

        fixture_init(&f);
        ASSERT(mkdtemp(directory));
        ASSERT(runtime_tls_ensure(f.cluster, &f.run, &first, &server_leaf, &old_server, &check_s, &f.err) >= 0);
        ASSERT(runtime_tls_ensure(f.cluster, &f.run, &first, &client_leaf, &old_client, &check_s, &f.err) >= 0);
        ASSERT(shake_hands(&f, directory, &old_server, &old_client));
        ASSERT(runtime_tls_ensure(f.cluster, &f.run, &second, &client_leaf, &client, &check_s, &f.err) >= 0);
        ASSERT_INT(count_certificates(client.ca), 2);
        ASSERT_STR(client.cert, old_client.cert);
        ASSERT(shake_hands(&f, directory, &old_server, &client)); /* the program has not been replaced */
        delete_secret(&f, "function-a-tls-server");
        ASSERT(runtime_tls_ensure(f.cluster, &f.run, &second, &server_leaf, &server, &check_s, &f.err) >= 0);
        ASSERT(shake_hands(&f, directory, &server, &client)); /* by the new authority, and a client of the old one */
        delete_secret(&f, "crossplane-tls-client");
        ASSERT(runtime_tls_ensure(f.cluster, &f.run, &second, &client_leaf, &client, &check_s, &f.err) >= 0);
        ASSERT(shake_hands(&f, directory, &server, &client));
        ASSERT(!shake_hands(&f, directory, &old_server,
                            &client)); /* which is why leaves are replaced later than the authority */
        ASSERT(oci_remove_tree(AT_FDCWD, directory, NULL) == 0);
}
