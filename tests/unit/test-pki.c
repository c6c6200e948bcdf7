/* The server's own authority: what is written, what survives a restart, what is renewed and when. */
#include "test.h"

#include "arena.h"
#include "buf.h"
#include "certificate.h"
#include "clock.h"
#include "jws.h"
#include "pki.h"
#include "private-file.h"
#include "tls.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>

#define DAY_NS (24ll * 60 * 60 * NS_PER_SECOND)

static void path_in(const char *directory, const char *name, char path[256])
{
        snprintf(path, 256, "%s/%s", directory, name);
}

static struct str contents(const char *directory, const char *name, struct arena *a)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        char path[256];

        path_in(directory, name, path);
        ASSERT_CASE(path, private_file_read(path, &b, NULL) == 0);
        return buf_to_arena(&b, a);
}

static void remove_directory(const char *directory)
{
        DIR *d = opendir(directory);
        struct dirent *e;

        ASSERT(d);
        while ((e = readdir(d))) {
                char path[512];

                snprintf(path, sizeof(path), "%s/%s", directory, e->d_name);
                if (e->d_name[0] != '.')
                        ASSERT(unlink(path) == 0);
        }
        closedir(d);
        ASSERT(rmdir(directory) == 0);
}

static struct pki *open_pki(const char *directory, const struct str *names, size_t n)
{
        struct pki_options options = { .directory = directory, .names = names, .n_names = n };
        _cleanup_err_ struct err err = { 0 };
        struct pki *p = NULL;

        if (pki_open(&options, &p, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
        return p;
}

static void make_directory(char directory[64])
{
        strcpy(directory, "/tmp/weft-pki-test.XXXXXX");
        ASSERT(mkdtemp(directory));
        ASSERT(rmdir(directory) == 0);
}

TEST(first_start)
{
        static const char *const files[] = { "ca.crt",    "ca.key",    "server.crt", "server.key",
                                             "admin.crt", "admin.key", "sa.key" };
        static const char *const names[] = { "localhost", "127.0.0.1", "::1", "kubernetes.default.svc" };
        _cleanup_arena_ struct arena a;
        struct certificate_facts facts;
        char directory[64], path[256];
        struct stat st;
        struct pki *p;

        arena_init(&a, "test", 0);
        make_directory(directory);
        p = open_pki(directory, NULL, 0);
        ASSERT(stat(directory, &st) == 0 && (st.st_mode & 0777) == 0700);
        for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
                path_in(directory, files[i], path);
                ASSERT_CASE(path, stat(path, &st) == 0 && (st.st_mode & 0777) == 0600);
        }
        for (size_t i = 0; i < ARRAY_SIZE(names); i++)
                ASSERT_CASE(names[i], certificate_has_name(contents(directory, "server.crt", &a), str_from(names[i])));
        ASSERT(!certificate_has_name(contents(directory, "server.crt", &a), STR("example.org")));
        ASSERT_INT(certificate_inspect(contents(directory, "admin.crt", &a), NULL, pki_authority(p), &facts, NULL), 0);
        ASSERT(facts.is_signed);
        ASSERT(pki_server_tls(p));
        ASSERT_STR(jws_algorithm(pki_token_key(p)), STR("ES256"));
        pki_free(p);
        remove_directory(directory);
}

TEST(a_restart_keeps_everything)
{
        static const char *const files[] = { "ca.crt",    "ca.key",    "server.crt", "server.key",
                                             "admin.crt", "admin.key", "sa.key" };
        struct str before[ARRAY_SIZE(files)];
        _cleanup_arena_ struct arena a;
        char directory[64];

        arena_init(&a, "test", 0);
        make_directory(directory);
        pki_free(open_pki(directory, NULL, 0));
        for (size_t i = 0; i < ARRAY_SIZE(files); i++)
                before[i] = contents(directory, files[i], &a);
        pki_free(open_pki(directory, NULL, 0));
        for (size_t i = 0; i < ARRAY_SIZE(files); i++)
                ASSERT_STR_CASE(files[i], contents(directory, files[i], &a), before[i]);
        remove_directory(directory);
}

TEST(another_name_renews_the_server_alone)
{
        static const struct str names[] = { STR_INIT("weft.example.org"), STR_INIT("192.0.2.7") };
        struct str authority, admin, server, key;
        _cleanup_arena_ struct arena a;
        char directory[64];

        arena_init(&a, "test", 0);
        make_directory(directory);
        pki_free(open_pki(directory, NULL, 0));
        authority = contents(directory, "ca.crt", &a);
        admin = contents(directory, "admin.crt", &a);
        key = contents(directory, "server.key", &a);
        pki_free(open_pki(directory, names, ARRAY_SIZE(names)));
        server = contents(directory, "server.crt", &a);
        ASSERT(certificate_has_name(server, names[0]) && certificate_has_name(server, names[1]));
        ASSERT_STR(contents(directory, "ca.crt", &a), authority);
        ASSERT_STR(contents(directory, "admin.crt", &a), admin);
        ASSERT_STR(contents(directory, "server.key", &a), key);
        remove_directory(directory);
}

/* A year of 365 days: nothing happens for 8 months; then both leaves are renewed, and the authority stays. */
TEST(renewal)
{
        struct sim_clock clock;
        struct str server, admin, authority;
        struct certificate_facts facts;
        _cleanup_arena_ struct arena a;
        char directory[64];
        struct pki *p;

        arena_init(&a, "test", 0);
        make_directory(directory);
        sim_clock_init(&clock, clock_wall());
        clock_use(&clock);
        p = open_pki(directory, NULL, 0);
        server = contents(directory, "server.crt", &a);
        admin = contents(directory, "admin.crt", &a);
        authority = arena_copy(&a, pki_authority(p));
        sim_clock_advance(&clock, 240 * DAY_NS);
        ASSERT_INT(pki_renew(p, NULL), 0);
        ASSERT_STR(contents(directory, "server.crt", &a), server);
        sim_clock_advance(&clock, 5 * DAY_NS);
        ASSERT_INT(pki_renew(p, NULL), 0);
        ASSERT(!str_equal(contents(directory, "server.crt", &a), server));
        ASSERT(!str_equal(contents(directory, "admin.crt", &a), admin));
        ASSERT_STR(pki_authority(p), authority);
        ASSERT_INT(certificate_inspect(contents(directory, "server.crt", &a), NULL, authority, &facts, NULL), 0);
        ASSERT(facts.is_signed);
        ASSERT_INT(facts.not_after, clock_wall().seconds + 365 * 24 * 60 * 60);
        pki_free(p);
        clock_use(NULL);
        remove_directory(directory);
}

/* After more than six years the authority's certificate is made anew, with the same key: what it signed before still counts. */
TEST(renewal_of_the_authority)
{
        struct sim_clock clock;
        struct str server, authority;
        struct certificate_facts facts;
        _cleanup_arena_ struct arena a;
        char directory[64];
        struct pki *p;

        arena_init(&a, "test", 0);
        make_directory(directory);
        sim_clock_init(&clock, clock_wall());
        clock_use(&clock);
        p = open_pki(directory, NULL, 0);
        server = contents(directory, "server.crt", &a);
        authority = pki_authority(p);
        sim_clock_advance(&clock, 2500 * DAY_NS);
        ASSERT_INT(pki_renew(p, NULL), 0);
        ASSERT(!str_equal(pki_authority(p), authority));
        ASSERT_INT(certificate_inspect(server, NULL, pki_authority(p), &facts, NULL), 0);
        ASSERT(facts.is_signed);
        ASSERT_INT(certificate_inspect(contents(directory, "server.crt", &a), NULL, authority, &facts, NULL), 0);
        ASSERT(facts.is_signed);
        pki_free(p);
        clock_use(NULL);
        remove_directory(directory);
}

/* A crash after any file leaves a directory that the next start completes. */
TEST(lost_files)
{
        static const char *const files[] = { "ca.crt", "server.crt", "server.key", "admin.crt", "admin.key" };
        char directory[64], path[256];
        _cleanup_arena_ struct arena a;
        struct str key;

        arena_init(&a, "test", 0);
        make_directory(directory);
        pki_free(open_pki(directory, NULL, 0));
        key = contents(directory, "ca.key", &a);
        for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
                struct certificate_facts facts;
                struct pki *p;

                path_in(directory, files[i], path);
                ASSERT(unlink(path) == 0);
                p = open_pki(directory, NULL, 0);
                ASSERT_STR_CASE(files[i], contents(directory, "ca.key", &a), key);
                ASSERT_INT(certificate_inspect(contents(directory, "admin.crt", &a), NULL, pki_authority(p), &facts,
                                               NULL),
                           0);
                ASSERT_CASE(files[i], facts.is_signed);
                pki_free(p);
        }
        remove_directory(directory);
}

TEST(bad_files_are_named)
{
        char directory[64], path[256], wanted[512];
        _cleanup_err_ struct err err = { 0 };
        struct pki_options options = { .directory = directory };
        struct pki *p = NULL;

        make_directory(directory);
        pki_free(open_pki(directory, NULL, 0));
        path_in(directory, "ca.key", path);
        ASSERT_INT(private_file_write(path, STR("nonsense"), NULL), 0);
        ASSERT(pki_open(&options, &p, &err) < 0);
        snprintf(wanted, sizeof(wanted), "cannot use the private key in %s: no PEM data in input", path);
        ASSERT_TEXT(err_message(&err), wanted);
        remove_directory(directory);
        options.directory = "/proc/nowhere/pki";
        ASSERT(pki_open(&options, &p, &err) < 0);
        ASSERT_TEXT(err_message(&err), "cannot make the directory /proc/nowhere: No such file or directory");
}

static struct str opening_error(const char *directory, struct arena *a)
{
        struct pki_options options = { .directory = directory };
        _cleanup_err_ struct err err = { 0 };
        struct pki *p = NULL;

        ASSERT(pki_open(&options, &p, &err) < 0);
        return arena_copy(a, str_from(err_message(&err)));
}

/* No change of the authority's files makes another authority. */
TEST(the_authority_is_not_replaced)
{
        char directory[64], other[64], path[256];
        _cleanup_arena_ struct arena a;
        struct str key, certificate;

        arena_init(&a, "test", 0);
        make_directory(directory);
        make_directory(other);
        pki_free(open_pki(directory, NULL, 0));
        pki_free(open_pki(other, NULL, 0));
        key = contents(directory, "ca.key", &a);
        certificate = contents(directory, "ca.crt", &a);
        path_in(directory, "ca.key", path);
        ASSERT(unlink(path) == 0);
        ASSERT(str_find(opening_error(directory, &a), STR("ca.key: put the key back; or remove ")) >= 0);
        ASSERT_INT(private_file_write(path, contents(other, "ca.key", &a), NULL), 0);
        ASSERT(str_find(opening_error(directory, &a), STR("ca.crt is not the certificate of the key in ")) >= 0);
        ASSERT_INT(private_file_write(path, key, NULL), 0);
        path_in(directory, "ca.crt", path);
        ASSERT_INT(private_file_write(path, STR("junk"), NULL), 0);
        ASSERT(str_find(opening_error(directory, &a), STR("without the file it is made again with the same key")) >= 0);
        ASSERT_INT(private_file_write(path, certificate, NULL), 0);
        pki_free(open_pki(directory, NULL, 0));
        ASSERT_STR(contents(directory, "ca.crt", &a), certificate);
        remove_directory(directory);
        remove_directory(other);
}

/* An authority of the user's own, with an RSA key, that another authority has signed: it signs the leaves, and stays as it is. */
TEST(an_authority_of_the_user)
{
        _cleanup_private_key_ struct private_key *root_key = NULL, *own_key = NULL;
        _cleanup_buf_ struct buf root = BUF_INIT(0), own = BUF_INIT(0), pem = BUF_INIT(0);
        struct certificate_request request = { .common_name = STR("root"),
                                               .usage = CERTIFICATE_FOR_SIGNING,
                                               .is_authority = true,
                                               .not_before = clock_wall().seconds - 60,
                                               .not_after = clock_wall().seconds + 60 };
        struct certificate_signer signer = { 0 };
        struct certificate_facts facts;
        _cleanup_arena_ struct arena a;
        char directory[64], path[256];
        struct pki *p;

        arena_init(&a, "test", 0);
        make_directory(directory);
        ASSERT_INT(private_directory_make(directory, NULL), 0);
        ASSERT_INT(private_key_generate(PRIVATE_KEY_ECDSA_P256, &root_key, NULL), 0);
        ASSERT_INT(private_key_generate(PRIVATE_KEY_RSA_2048, &own_key, NULL), 0);
        signer.key = root_key;
        ASSERT_INT(certificate_append(&root, &request, root_key, &signer, NULL), 0);
        signer.certificate = buf_str(&root);
        request.common_name = STR("ours");
        ASSERT_INT(certificate_append(&own, &request, own_key, &signer, NULL), 0);
        private_key_append(&pem, own_key);
        path_in(directory, "ca.key", path);
        ASSERT_INT(private_file_write(path, buf_str(&pem), NULL), 0);
        path_in(directory, "ca.crt", path);
        ASSERT_INT(private_file_write(path, buf_str(&own), NULL), 0);
        p = open_pki(directory, NULL, 0);
        ASSERT_STR(pki_authority(p), buf_str(&own));
        ASSERT_INT(certificate_inspect(contents(directory, "server.crt", &a), NULL, buf_str(&own), &facts, NULL), 0);
        ASSERT(facts.is_signed);
        ASSERT_INT(pki_renew(p, NULL), 0);
        ASSERT_STR(contents(directory, "ca.crt", &a), buf_str(&own));
        pki_free(p);
        remove_directory(directory);
}

TEST(without_a_directory)
{
        struct pki *p = open_pki(NULL, NULL, 0);
        _cleanup_err_ struct err err = { 0 };
        char path[] = "/tmp/weft-kubeconfig.XXXXXX";
        _cleanup_arena_ struct arena a;
        struct stat st;
        struct str text;
        int fd = mkstemp(path);

        ASSERT(fd >= 0);
        close(fd);
        arena_init(&a, "test", 0);
        ASSERT_INT(pki_write_kubeconfig(p, path, STR("https://127.0.0.1:6443"), NULL), 0);
        ASSERT(stat(path, &st) == 0 && (st.st_mode & 0777) == 0600);
        text = contents("", path + 1, &a);
        ASSERT(str_find(text, STR("\n    server: https://127.0.0.1:6443\n")) >= 0);
        ASSERT(str_find(text, STR("\n    client-key-data: LS0tLS1CRUdJTi")) >= 0);
        ASSERT_INT(pki_write_kubeconfig(p, path, STR("https://127.0.0.1:6443"), NULL), 0); /* its own is replaced */
        ASSERT_INT(private_file_write(path, STR("apiVersion: v1\nkind: Config\n"), NULL), 0);
        ASSERT_INT(pki_write_kubeconfig(p, path, STR("https://127.0.0.1:6443"), &err), ERR_EXISTS);
        ASSERT(str_ends_with(str_from(err_message(&err)),
                             STR(" was not written by weft and is not replaced: choose another file")));
        unlink(path);
        pki_free(p);
}
