#include "tls.h"

#include "arena.h"
#include "buf.h"
#include "clock.h"
#include "log.h"
#include "park.h"
#include "timetext.h"

#include <arpa/inet.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdatomic.h>
#include <sys/stat.h>

/* Files are checked for changes when a connection begins, at most this often. */
#define CHECK_INTERVAL_NS (NS_PER_SECOND / 5)

/* A file's identity: when it differs, the file was replaced. */
struct stamp {
        dev_t device;
        ino_t inode;
        struct timespec changed;
        off_t size;
};

enum { FILE_CERTIFICATE, FILE_KEY, FILE_CA, _FILE_COUNT };

struct tls_config {
        _Atomic unsigned references;
        struct tls_options options;     /* immutable, its strings are in arena */
        const char *files[_FILE_COUNT]; /* NULL: none */
        struct arena arena;

        struct mutex mutex; /* guards all below */
        SSL_CTX *context;
        struct stamp stamps[_FILE_COUNT];
        int64_t checked_ns;
        unsigned generation;
};

/* The most specific error in the queue. An OpenSSL component that passes on an error only adds a general reason (`PEM lib`); the
 * first error is then the real one. */
static unsigned long telling_error(void)
{
        unsigned long last = ERR_peek_last_error();

        return ERR_GET_REASON(last) & ERR_RFLAG_COMMON ? ERR_peek_error() : last;
}

int tls_error(struct err *err, const char *format, ...)
{
        _cleanup_buf_ struct buf text = BUF_INIT(0);
        unsigned long code = telling_error();
        const char *reason = code ? ERR_reason_error_string(code) : NULL;
        va_list arguments;

        va_start(arguments, format);
        buf_appendv(&text, format, arguments);
        va_end(arguments);
        ERR_clear_error();
        return err_set(err, ERR_FAILED, "%s: %s", buf_cstring(&text), reason ? reason : "unknown TLS error");
}

static const char *keep(struct arena *a, const char *text)
{
        return text ? arena_cstring(a, str_from(text)) : NULL;
}

static void choose_files(struct tls_config *c)
{
        static const char *const names[_FILE_COUNT] = { "tls.crt", "tls.key", "ca.crt" };
        const char *given[_FILE_COUNT] = { c->options.certificate_file, c->options.key_file, c->options.ca_file };

        for (size_t i = 0; i < _FILE_COUNT; i++) {
                if (c->options.directory)
                        c->files[i] = arena_printf(&c->arena, "%s/%s", c->options.directory, names[i]).p;
                else
                        c->files[i] = keep(&c->arena, given[i]);
        }
}

static int read_stamps(struct tls_config *c, struct stamp stamps[_FILE_COUNT], struct err *err)
{
        for (size_t i = 0; i < _FILE_COUNT; i++) {
                struct stat st;

                stamps[i] = (struct stamp) { 0 };
                if (!c->files[i])
                        continue;
                if (stat(c->files[i], &st) < 0)
                        return err_set_errno(err, errno, "cannot read %s", c->files[i]);
                stamps[i].device = st.st_dev;
                stamps[i].inode = st.st_ino;
                stamps[i].changed = st.st_mtim;
                stamps[i].size = st.st_size;
        }
        return 0;
}

/* ALPN names, each after its length byte: HTTP/2 only, HTTP/2 and then HTTP/1.1, or HTTP/1.1 only. */
static const struct str protocols[] = { STR_INIT("\x02h2"), STR_INIT("\x02h2\x08http/1.1"), STR_INIT("\x08http/1.1") };

/* arg is one of the protocols above: a connection may outlive the tls_config it was made from. */
static int select_protocol(SSL *ssl, const unsigned char **out, unsigned char *out_n, const unsigned char *in,
                           unsigned in_n, void *arg)
{
        const struct str *ours = arg;
        unsigned char *chosen;

        if (SSL_select_next_proto(&chosen, out_n, (const unsigned char *)ours->p, (unsigned)ours->n, in, in_n) !=
            OPENSSL_NPN_NEGOTIATED)
                return SSL_TLSEXT_ERR_ALERT_FATAL;
        *out = chosen;
        return SSL_TLSEXT_ERR_OK;
}

static bool wants_client_certificate(const struct tls_options *o)
{
        return o->needs_client_certificate || o->asks_client_certificate;
}

/* Goes on whatever the certificate is; SSL_get_verify_result keeps the last error. */
static int accept_any_certificate(int is_ok, X509_STORE_CTX *context)
{
        (void)is_ok, (void)context;
        return 1;
}

static int server_mode(const struct tls_options *o)
{
        if (o->needs_client_certificate)
                return SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
        return o->asks_client_certificate ? SSL_VERIFY_PEER : SSL_VERIFY_NONE;
}

static int set_trust(struct tls_config *c, SSL_CTX *context, struct err *err)
{
        bool accepts_any = c->options.is_server && !c->options.needs_client_certificate;
        int mode = SSL_VERIFY_PEER;

        if (c->files[FILE_CA]) {
                if (SSL_CTX_load_verify_locations(context, c->files[FILE_CA], NULL) != 1)
                        return tls_error(err, "cannot use the certificate authorities in %s", c->files[FILE_CA]);
        }
        if (!c->options.is_server && (!c->files[FILE_CA] || c->options.adds_system_authorities) &&
            SSL_CTX_set_default_verify_paths(context) != 1)
                return tls_error(err, "cannot use the system's certificate authorities");
        if (c->options.is_server && wants_client_certificate(&c->options) && c->files[FILE_CA])
                SSL_CTX_set_client_CA_list(context, SSL_load_client_CA_file(c->files[FILE_CA]));
        /* Trust every certificate in the authority file, even one that is no root, as Go does. */
        X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(context), X509_V_FLAG_PARTIAL_CHAIN);
        if (c->options.is_server)
                mode = server_mode(&c->options);
        else if (c->options.trusts_anyone)
                mode = SSL_VERIFY_NONE;
        SSL_CTX_set_verify(context, mode, accepts_any ? accept_any_certificate : NULL);
        return 0;
}

static int set_identity(struct tls_config *c, SSL_CTX *context, struct err *err)
{
        int reason;

        if (!c->files[FILE_CERTIFICATE])
                return 0;
        if (SSL_CTX_use_certificate_chain_file(context, c->files[FILE_CERTIFICATE]) != 1)
                return tls_error(err, "cannot use the certificate in %s", c->files[FILE_CERTIFICATE]);
        if (SSL_CTX_use_PrivateKey_file(context, c->files[FILE_KEY], SSL_FILETYPE_PEM) == 1)
                return 0;
        reason = ERR_GET_REASON(ERR_peek_last_error());
        if (reason == X509_R_KEY_VALUES_MISMATCH || reason == X509_R_KEY_TYPE_MISMATCH)
                return tls_error(err, "the private key in %s does not belong to the certificate in %s",
                                 c->files[FILE_KEY], c->files[FILE_CERTIFICATE]);
        return tls_error(err, "cannot use the private key in %s", c->files[FILE_KEY]);
}

static int set_protocols(struct tls_config *c, SSL_CTX *context, struct err *err)
{
        const struct str *ours = &protocols[c->options.refuses_http2 ? 2 : c->options.offers_http1];

        if (SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) != 1)
                return tls_error(err, "cannot ask for TLS 1.2");
        /* Go's servers and browsers prefer the first one too: it is as good, and the second takes a third more time. */
        if (SSL_CTX_set_ciphersuites(context,
                                     "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256") != 1)
                return tls_error(err, "cannot choose ciphers");
        if (c->options.is_server)
                SSL_CTX_set_alpn_select_cb(context, select_protocol, (void *)ours);
        else if (SSL_CTX_set_alpn_protos(context, (const unsigned char *)ours->p, (unsigned)ours->n) != 0)
                return tls_error(err, "cannot offer protocols");
        return 0;
}

static int load(struct tls_config *c, SSL_CTX **ret, struct err *err)
{
        SSL_CTX *context = SSL_CTX_new(c->options.is_server ? TLS_server_method() : TLS_client_method());
        int r;

        if (!context)
                return tls_error(err, "cannot set up TLS");
        SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_NO_AUTO_CHAIN | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                          SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
        SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
        if (c->options.is_server) {
                /* Resumption would skip the check of the client's certificate against a rotated authority. */
                SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
                SSL_CTX_set_num_tickets(context, 0);
        }
        r = set_protocols(c, context, err);
        if (r >= 0)
                r = set_trust(c, context, err);
        if (r >= 0)
                r = set_identity(c, context, err);
        if (r < 0) {
                SSL_CTX_free(context);
                return r;
        }
        *ret = context;
        return 0;
}

int tls_config_new(const struct tls_options *options, struct tls_config **ret, struct err *err)
{
        struct tls_config *c = xcalloc(1, sizeof(*c));
        int r;

        atomic_init(&c->references, 1);
        arena_init(&c->arena, "TLS settings", 0);
        mutex_init(&c->mutex);
        c->options = *options;
        choose_files(c);
        c->options.directory = c->options.certificate_file = c->options.key_file = c->options.ca_file =
                NULL; /* owned by the caller */
        r = read_stamps(c, c->stamps, err);
        if (r >= 0)
                r = load(c, &c->context, err);
        if (r < 0) {
                tls_config_unref(c);
                return r;
        }
        c->checked_ns = clock_mono_ns();
        *ret = c;
        return 0;
}

struct tls_config *tls_config_ref(struct tls_config *c)
{
        atomic_fetch_add_explicit(&c->references, 1, memory_order_relaxed);
        return c;
}

void tls_config_unref(struct tls_config *c)
{
        if (!c || atomic_fetch_sub_explicit(&c->references, 1, memory_order_acq_rel) != 1)
                return;
        SSL_CTX_free(c->context);
        mutex_done(&c->mutex);
        arena_done(&c->arena);
        free(c);
}

/* With the mutex held: loads changed files. Half-written files fail to load and are tried again at the next check. */
static void refresh(struct tls_config *c)
{
        _cleanup_err_ struct err err = { 0 };
        struct stamp stamps[_FILE_COUNT];
        SSL_CTX *context;
        int64_t now_ns = clock_mono_ns();

        if (now_ns - c->checked_ns < CHECK_INTERVAL_NS)
                return;
        c->checked_ns = now_ns;
        if (read_stamps(c, stamps, &err) >= 0) {
                if (memcmp(stamps, c->stamps, sizeof(stamps)) == 0)
                        return;
                if (load(c, &context, &err) >= 0) {
                        SSL_CTX_free(c->context);
                        c->context = context;
                        memcpy(c->stamps, stamps, sizeof(stamps));
                        c->generation++;
                        return;
                }
        }
        log_warn("cannot take up changed certificates, going on with the ones before",
                 LOG_TEXT("file", c->files[FILE_CERTIFICATE] ? c->files[FILE_CERTIFICATE] : c->files[FILE_CA]),
                 LOG_ERR("error", &err));
}

static int set_server_name(SSL *ssl, const char *name, struct err *err)
{
        unsigned char address[16];

        /* RFC 6066: a server name must not be an address; addresses are verified as addresses. */
        if (inet_pton(AF_INET, name, address) == 1 || inet_pton(AF_INET6, name, address) == 1) {
                if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name) != 1)
                        return tls_error(err, "cannot verify the address %s", name);
                return 0;
        }
        SSL_set_hostflags(ssl, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT); /* only the alternative names count */
        if (SSL_set_tlsext_host_name(ssl, name) != 1 || SSL_set1_host(ssl, name) != 1)
                return tls_error(err, "cannot ask for server %s", name);
        return 0;
}

int tls_new_connection(struct tls_config *c, const char *server_name, SSL **ret, struct err *err)
{
        SSL *ssl;
        int r;

        mutex_lock(&c->mutex);
        refresh(c);
        ssl = SSL_new(c->context);
        mutex_unlock(&c->mutex);
        if (!ssl)
                return tls_error(err, "cannot begin TLS");
        if (c->options.is_server) {
                SSL_set_accept_state(ssl);
        } else {
                SSL_set_connect_state(ssl);
                r = server_name ? set_server_name(ssl, server_name, err) : 0;
                if (r < 0) {
                        SSL_free(ssl);
                        return r;
                }
        }
        *ret = ssl;
        return 0;
}

/* The texts of all entries of that type in the subject, in order. */
static size_t subject_texts(const X509_NAME *subject, int nid, struct arena *a, struct str **ret)
{
        int n = X509_NAME_entry_count(subject);
        struct str *texts = ARENA_NEW_ARRAY(a, struct str, (size_t)n);
        size_t found = 0;

        for (int i = 0; i < n; i++) {
                const X509_NAME_ENTRY *entry = X509_NAME_get_entry(subject, i);
                unsigned char *utf8 = NULL;
                int length;

                if (OBJ_obj2nid(X509_NAME_ENTRY_get_object(entry)) != nid)
                        continue;
                length = ASN1_STRING_to_UTF8(&utf8, X509_NAME_ENTRY_get_data(entry));
                if (length < 0)
                        continue; /* it is no text */
                texts[found++] = arena_copy(a, str_make((const char *)utf8, (size_t)length));
                OPENSSL_free(utf8);
        }
        ERR_clear_error();
        *ret = texts;
        return found;
}

const struct tls_identity *tls_peer_identity(SSL *ssl, struct arena *a)
{
        const X509 *x = SSL_get0_peer_certificate(ssl);
        struct tls_identity *identity;
        struct str *texts;
        unsigned n;

        if (!x)
                return NULL;
        identity = ARENA_NEW(a, struct tls_identity);
        if (X509_digest(x, EVP_sha256(), identity->fingerprint, &n) != 1)
                return NULL;
        assert(n == TLS_FINGERPRINT_BYTES);
        identity->is_verified = SSL_get_verify_result(ssl) == X509_V_OK;
        if (!identity->is_verified)
                return identity;
        n = (unsigned)subject_texts(X509_get_subject_name(x), NID_commonName, a, &texts);
        if (n)
                identity->common_name = texts[n - 1];
        identity->n_organizations = subject_texts(X509_get_subject_name(x), NID_organizationName, a, &texts);
        identity->organizations = texts;
        return identity;
}

const struct tls_identity *tls_identity_copy(const struct tls_identity *identity, struct arena *a)
{
        struct tls_identity *copy = ARENA_NEW(a, struct tls_identity);
        struct str *organizations = ARENA_NEW_ARRAY(a, struct str, identity->n_organizations);

        *copy = *identity;
        copy->common_name = arena_copy(a, identity->common_name);
        copy->organizations = organizations;
        for (size_t i = 0; i < identity->n_organizations; i++)
                organizations[i] = arena_copy(a, identity->organizations[i]);
        return copy;
}

unsigned tls_config_generation(struct tls_config *c)
{
        unsigned generation;

        mutex_lock(&c->mutex);
        generation = c->generation;
        mutex_unlock(&c->mutex);
        return generation;
}
