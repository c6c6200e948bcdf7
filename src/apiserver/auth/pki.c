#include "pki.h"

#include "base64.h"
#include "certificate.h"
#include "clock.h"
#include "jws.h"
#include "park.h"
#include "private-file.h"
#include "random.h"
#include "tls.h"
#include "vec.h"

#include <errno.h>
#include <stdio.h>

#define DAY_SECONDS       (24ll * 60 * 60)
#define AUTHORITY_SECONDS (3650 * DAY_SECONDS)
#define LEAF_SECONDS      (365 * DAY_SECONDS)

/* Certificates are valid from a little before they were made, for peers whose clock is behind. */
#define SKEW_SECONDS 300

/* A certificate is renewed when less than this part of its time is left. */
#define RENEW_PART 3

/* A certificate with its key. */
struct pair {
        struct private_key *key;
        struct buf certificate; /* PEM */
};

enum { AUTHORITY, SERVER, ADMIN, _PAIR_COUNT };

struct pki {
        char *directory;
        bool is_temporary;
        char **names; /* of the server's certificate */
        size_t n_names;
        struct private_key *token_key;
        struct tls_config *tls;
        struct mutex mutex; /* guards the certificates of the pairs */
        struct pair pairs[_PAIR_COUNT];
        VEC(char *) authorities; /* every text that pki_authority has returned or may return; the last is current */
};

static const struct {
        const char *name;
        struct str common_name;
        struct str organization;
        enum certificate_usage usage;
        int64_t seconds;
} kinds[_PAIR_COUNT] = {
        [AUTHORITY] = { "ca", STR_INIT("weft"), STR_INIT(""), CERTIFICATE_FOR_SIGNING, AUTHORITY_SECONDS },
        [SERVER] = { "server", STR_INIT("kube-apiserver"), STR_INIT(""), CERTIFICATE_FOR_SERVERS, LEAF_SECONDS },
        [ADMIN] = { "admin", STR_INIT("kubernetes-admin"), STR_INIT("system:masters"), CERTIFICATE_FOR_CLIENTS,
                    LEAF_SECONDS },
};

static const char *const always_names[] = {
        "localhost",
        "127.0.0.1",
        "::1",
        "kubernetes",
        "kubernetes.default",
        "kubernetes.default.svc",
        "kubernetes.default.svc.cluster.local",
};

static char *path_of(const struct pki *p, const char *name, const char *ending)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        buf_appendf(&b, "%s/%s.%s", p->directory, name, ending);
        return buf_take(&b);
}

/* --- Keys --- */

static int make_key(const char *path, struct private_key **ret, struct err *err)
{
        _cleanup_private_key_ struct private_key *key = NULL;
        _cleanup_buf_ struct buf text = BUF_INIT(0);
        int r = private_key_generate(PRIVATE_KEY_ECDSA_P256, &key, err);

        if (r < 0)
                return r;
        private_key_append(&text, key);
        r = private_file_write(path, buf_str(&text), err);
        if (r == 0)
                *ret = TAKE(key);
        return r;
}

static int open_key(const struct pki *p, const char *name, struct private_key **ret, struct err *err)
{
        _cleanup_free_ char *path = path_of(p, name, "key");
        _cleanup_buf_ struct buf text = BUF_INIT(0);
        _cleanup_err_ struct err missing = { 0 };
        int r = private_file_read(path, &text, &missing);

        if (r == ERR_NOT_FOUND)
                return make_key(path, ret, err);
        if (r < 0)
                return err_move(err, &missing);
        r = private_key_parse(buf_str(&text), ret, err);
        return r < 0 ? err_wrap(err, "cannot use the private key in %s", path) : 0;
}

static int open_token_key(struct pki *p, struct err *err)
{
        int r = open_key(p, "sa", &p->token_key, err);

        if (r == 0 && jws_algorithm(p->token_key).n == 0)
                return err_set(err, ERR_INVALID,
                               "cannot sign tokens with the key in %s/sa.key: it is neither P-256 nor RSA",
                               p->directory);
        return r;
}

/* --- Certificates --- */

static bool has_all_names(const struct pki *p, struct str certificate)
{
        for (size_t i = 0; i < ARRAY_SIZE(always_names); i++)
                if (!certificate_has_name(certificate, str_from(always_names[i])))
                        return false;
        for (size_t i = 0; i < p->n_names; i++)
                if (!certificate_has_name(certificate, str_from(p->names[i])))
                        return false;
        return true;
}

/* The authority signs itself. */
static struct str authority_of(const struct pki *p, size_t which)
{
        return buf_str(&p->pairs[which == AUTHORITY ? which : AUTHORITY].certificate);
}

static bool is_good(const struct pki *p, size_t which)
{
        struct str certificate = buf_str(&p->pairs[which].certificate);
        struct certificate_facts facts;
        int64_t now = clock_wall().seconds;

        if (certificate.n == 0 ||
            certificate_inspect(certificate, p->pairs[which].key, authority_of(p, which), &facts, NULL) < 0)
                return false;
        if (which == AUTHORITY && !facts.is_signed)
                return true; /* another authority has signed it: only that one can renew it */
        if (!facts.is_of_key || !facts.is_signed || facts.not_before > now)
                return false;
        if (facts.not_after - now < (facts.not_after - facts.not_before) / RENEW_PART)
                return false;
        return which != SERVER || has_all_names(p, certificate);
}

struct names {
        VEC(struct str) dns;
        VEC(struct certificate_address) addresses;
};

static void add_name(struct names *names, const char *text)
{
        struct certificate_address address;

        if (certificate_address_parse(str_from(text), &address))
                vec_push(&names->addresses, address);
        else
                vec_push(&names->dns, str_from(text));
}

static void collect_names(const struct pki *p, struct names *names)
{
        for (size_t i = 0; i < ARRAY_SIZE(always_names); i++)
                add_name(names, always_names[i]);
        for (size_t i = 0; i < p->n_names; i++)
                add_name(names, p->names[i]);
}

static int issue(const struct pki *p, size_t which, struct buf *ret, struct err *err)
{
        const struct pair *authority = &p->pairs[AUTHORITY];
        struct certificate_signer signer = { .key = authority->key };
        struct names names = { 0 };
        int64_t now = clock_wall().seconds;
        struct certificate_request request = {
                .common_name = kinds[which].common_name,
                .organizations = &kinds[which].organization,
                .n_organizations = kinds[which].organization.n > 0,
                .usage = kinds[which].usage,
                .not_before = now - SKEW_SECONDS,
                .not_after = now + kinds[which].seconds,
                .is_authority = which == AUTHORITY,
        };
        int r;

        random_system(request.serial, sizeof(request.serial));
        request.serial[0] &= 0x7F; /* serial numbers are positive */
        if (which != AUTHORITY)
                signer.certificate = buf_str(&authority->certificate);
        if (which == SERVER)
                collect_names(p, &names);
        request.dns_names = names.dns.p;
        request.n_dns_names = names.dns.n;
        request.addresses = names.addresses.p;
        request.n_addresses = names.addresses.n;
        r = certificate_append(ret, &request, p->pairs[which].key, &signer, err);
        vec_done(&names.dns);
        vec_done(&names.addresses);
        return r;
}

static void keep_authority(struct pki *p)
{
        vec_push(&p->authorities, str_to_cstring(buf_str(&p->pairs[AUTHORITY].certificate)));
}

/* Makes the certificate anew if it has to be. */
static int refresh(struct pki *p, size_t which, struct err *err)
{
        _cleanup_free_ char *path = path_of(p, kinds[which].name, "crt");
        _cleanup_buf_ struct buf fresh = BUF_INIT(0);
        struct pair *pair = &p->pairs[which];
        int r;

        if (is_good(p, which))
                return 0;
        r = issue(p, which, &fresh, err);
        if (r == 0)
                r = private_file_write(path, buf_str(&fresh), err);
        if (r < 0)
                return err_wrap(err, "cannot renew the certificate %s", path);
        mutex_lock(&p->mutex);
        buf_clear(&pair->certificate);
        buf_append_str(&pair->certificate, buf_str(&fresh));
        if (which == AUTHORITY)
                keep_authority(p);
        mutex_unlock(&p->mutex);
        return 0;
}

/* Everything that was ever handed out depends on the authority: it is never replaced by another one. */
static int check_authority(const struct pki *p, const char *path, struct err *err)
{
        struct certificate_facts facts;
        int r = certificate_inspect(buf_str(&p->pairs[AUTHORITY].certificate), p->pairs[AUTHORITY].key, STR(""), &facts,
                                    err);

        if (r < 0)
                return err_wrap(err, "cannot use %s; without the file it is made again with the same key", path);
        if (!facts.is_of_key)
                return err_set(err, ERR_INVALID, "%s is not the certificate of the key in %s/ca.key", path,
                               p->directory);
        return 0;
}

static int check_authority_key(const struct pki *p, const char *certificate, struct err *err)
{
        _cleanup_free_ char *key = path_of(p, kinds[AUTHORITY].name, "key");

        if (access(certificate, F_OK) < 0 || access(key, F_OK) == 0)
                return 0;
        return err_set(err, ERR_INVALID,
                       "there is %s but no %s: put the key back; or remove %s to begin with another authority, "
                       "for which no kubeconfig from before is good",
                       certificate, key, p->directory);
}

static int open_pair(struct pki *p, size_t which, struct err *err)
{
        _cleanup_free_ char *path = path_of(p, kinds[which].name, "crt");
        _cleanup_err_ struct err missing = { 0 };
        int r = which == AUTHORITY ? check_authority_key(p, path, err) : 0;

        if (r == 0)
                r = open_key(p, kinds[which].name, &p->pairs[which].key, err);
        if (r < 0)
                return r;
        r = private_file_read(path, &p->pairs[which].certificate, &missing);
        if (r < 0 && r != ERR_NOT_FOUND)
                return err_move(err, &missing);
        if (which == AUTHORITY && r == 0) {
                r = check_authority(p, path, err);
                if (r < 0)
                        return r;
                keep_authority(p);
        }
        return refresh(p, which, err);
}

int pki_renew(struct pki *p, struct err *err)
{
        for (size_t i = 0; i < _PAIR_COUNT; i++) {
                int r = refresh(p, i, err);

                if (r < 0)
                        return r;
        }
        return 0;
}

/* --- The whole --- */

static int open_tls(struct pki *p, struct err *err)
{
        _cleanup_free_ char *certificate = path_of(p, kinds[SERVER].name, "crt");
        _cleanup_free_ char *key = path_of(p, kinds[SERVER].name, "key");
        _cleanup_free_ char *authority = path_of(p, kinds[AUTHORITY].name, "crt");
        struct tls_options options = {
                .is_server = true,
                .certificate_file = certificate,
                .key_file = key,
                .ca_file = authority,
                .asks_client_certificate = true,
                .offers_http1 = true,
        };

        return tls_config_new(&options, &p->tls, err);
}

static int open_directory(struct pki *p, const char *directory, struct err *err)
{
        const char *temporary = getenv("TMPDIR");
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        if (directory) {
                p->directory = str_to_cstring(str_from(directory));
                return private_directory_make(directory, err);
        }
        buf_appendf(&b, "%s/weft-pki.XXXXXX", temporary && *temporary ? temporary : "/tmp");
        p->directory = buf_take(&b);
        if (!mkdtemp(p->directory))
                return err_set_errno(err, errno, "cannot make the temporary directory %s", p->directory);
        p->is_temporary = true;
        return 0;
}

static void keep_names(struct pki *p, const struct pki_options *options)
{
        p->names = xcalloc(MAX(options->n_names, (size_t)1), sizeof(*p->names));
        for (size_t i = 0; i < options->n_names; i++)
                p->names[p->n_names++] = str_to_cstring(options->names[i]);
}

int pki_open(const struct pki_options *options, struct pki **ret, struct err *err)
{
        struct pki *p = xcalloc(1, sizeof(*p));
        int r;

        mutex_init(&p->mutex);
        keep_names(p, options);
        r = open_directory(p, options->directory, err);
        for (size_t i = 0; r == 0 && i < _PAIR_COUNT; i++)
                r = open_pair(p, i, err);
        if (r == 0)
                r = open_token_key(p, err);
        if (r == 0)
                r = open_tls(p, err);
        if (r < 0) {
                pki_free(p);
                return r;
        }
        *ret = p;
        return 0;
}

static void remove_files(struct pki *p)
{
        _cleanup_free_ char *token_key = path_of(p, "sa", "key");

        for (size_t i = 0; i < _PAIR_COUNT; i++) {
                _cleanup_free_ char *certificate = path_of(p, kinds[i].name, "crt");
                _cleanup_free_ char *key = path_of(p, kinds[i].name, "key");

                (void)unlink(certificate);
                (void)unlink(key);
        }
        (void)unlink(token_key);
        (void)rmdir(p->directory);
}

void pki_free(struct pki *p)
{
        if (!p)
                return;
        tls_config_unref(p->tls);
        if (p->is_temporary)
                remove_files(p);
        for (size_t i = 0; i < _PAIR_COUNT; i++) {
                private_key_free(p->pairs[i].key);
                buf_done(&p->pairs[i].certificate);
        }
        private_key_free(p->token_key);
        for (size_t i = 0; i < p->n_names; i++)
                free(p->names[i]);
        free(p->names);
        for (size_t i = 0; i < p->authorities.n; i++)
                free(p->authorities.p[i]);
        vec_done(&p->authorities);
        mutex_done(&p->mutex);
        free(p->directory);
        free(p);
}

struct str pki_authority(const struct pki *p)
{
        struct mutex *mutex = (struct mutex *)&p->mutex;
        struct str authority;

        mutex_lock(mutex);
        authority = str_from(*vec_last(&p->authorities));
        mutex_unlock(mutex);
        return authority;
}

struct tls_config *pki_server_tls(struct pki *p)
{
        return p->tls;
}

const struct private_key *pki_token_key(const struct pki *p)
{
        return p->token_key;
}

static void append_data(struct buf *b, const char *key, struct str text)
{
        buf_appendf(b, "    %s: ", key);
        base64_encode(b, text, BASE64_STD);
        buf_append_char(b, '\n');
}

#define KUBECONFIG_MARK "# Written by weft at each start; changes are lost.\n"

static int check_kubeconfig(const char *path, struct err *err)
{
        _cleanup_buf_ struct buf old = BUF_INIT(0);
        _cleanup_err_ struct err missing = { 0 };
        int r = private_file_read(path, &old, &missing);

        if (r == ERR_NOT_FOUND || (r == 0 && (old.n == 0 || str_starts_with(buf_str(&old), STR(KUBECONFIG_MARK)))))
                return 0;
        if (r < 0)
                return err_move(err, &missing);
        return err_set(err, ERR_EXISTS, "%s was not written by weft and is not replaced: choose another file", path);
}

/* Appends everything up to the credentials of the user, which the caller appends. */
static void append_head(struct pki *p, struct buf *b, struct str url, struct str user)
{
        buf_appendf(b,
                    "apiVersion: v1\nkind: Config\ncurrent-context: weft\nclusters:\n- name: weft\n  cluster:\n"
                    "    server: %.*s\n",
                    STR_ARG(url));
        append_data(b, "certificate-authority-data", pki_authority(p));
        buf_appendf(b,
                    "contexts:\n- name: weft\n  context:\n    cluster: weft\n    user: %.*s\n"
                    "users:\n- name: %.*s\n  user:\n",
                    STR_ARG(user), STR_ARG(user));
}

int pki_write_kubeconfig(struct pki *p, const char *path, struct str url, struct err *err)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0), key = BUF_INIT(0);
        int r = check_kubeconfig(path, err);

        if (r < 0)
                return r;
        private_key_append(&key, p->pairs[ADMIN].key);
        buf_append_literal(&b, KUBECONFIG_MARK);
        append_head(p, &b, url, kinds[ADMIN].common_name);
        mutex_lock(&p->mutex);
        append_data(&b, "client-certificate-data", buf_str(&p->pairs[ADMIN].certificate));
        mutex_unlock(&p->mutex);
        append_data(&b, "client-key-data", buf_str(&key));
        return private_file_write(path, buf_str(&b), err);
}

static int issue_to(struct pki *p, const struct private_key *key, struct str user, const struct str *groups,
                    size_t n_groups, struct buf *ret, struct err *err)
{
        struct certificate_signer signer = { .certificate = pki_authority(p), .key = p->pairs[AUTHORITY].key };
        int64_t now = clock_wall().seconds;
        struct certificate_request request = {
                .common_name = user,
                .organizations = groups,
                .n_organizations = n_groups,
                .usage = CERTIFICATE_FOR_CLIENTS,
                .not_before = now - SKEW_SECONDS,
                .not_after = now + LEAF_SECONDS,
        };

        random_system(request.serial, sizeof(request.serial));
        request.serial[0] &= 0x7F; /* serial numbers are positive */
        return certificate_append(ret, &request, key, &signer, err);
}

int pki_append_kubeconfig(struct pki *p, struct buf *b, struct str url, struct str user, const struct str *groups,
                          size_t n_groups, struct err *err)
{
        _cleanup_private_key_ struct private_key *key = NULL;
        _cleanup_buf_ struct buf certificate = BUF_INIT(0), text = BUF_INIT(0);
        int r = private_key_generate(PRIVATE_KEY_ECDSA_P256, &key, err);

        if (r == 0)
                r = issue_to(p, key, user, groups, n_groups, &certificate, err);
        if (r < 0)
                return err_wrap(err, "cannot make a certificate for %.*s", STR_ARG(user));
        private_key_append(&text, key);
        append_head(p, b, url, user);
        append_data(b, "client-certificate-data", buf_str(&certificate));
        append_data(b, "client-key-data", buf_str(&text));
        return 0;
}
