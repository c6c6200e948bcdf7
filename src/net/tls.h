/* TLS 1.2 and 1.3 on OpenSSL. A tls_config stands for certificate files on disk. Each new connection uses the current files, so
 * that certificates can be rotated; existing connections keep their old certificates. */
#pragma once

#include <openssl/ssl.h>

#include "err.h"
#include "str.h"

struct arena;
struct tls_config; /* counted; any thread */

#define TLS_FINGERPRINT_BYTES 32

/* The identity of a client, read from its certificate. */
struct tls_identity {
        bool is_verified; /* false: the authority did not sign it, it has expired, ...; all names are empty then */
        struct str common_name; /* the last one of the subject; "" without one */
        const struct str *organizations;
        size_t n_organizations;
        uint8_t fingerprint[TLS_FINGERPRINT_BYTES]; /* SHA-256 of the certificate */
};

struct tls_options {
        bool is_server;
        const char *directory; /* with tls.crt, tls.key and ca.crt, as Kubernetes mounts a TLS secret */
        /* Instead of a directory, files by name; ca_file NULL means the system's authorities. */
        const char *certificate_file;
        const char *key_file;
        const char *ca_file;
        bool adds_system_authorities;  /* client: ca_file holds further authorities, besides the system's */
        bool needs_client_certificate; /* server: refuse peers without one signed by the authority */
        bool asks_client_certificate; /* server: ask for one, but accept every peer; tls_identity tells what was sent */
        bool trusts_anyone;           /* client: do not verify the server; for tests and --insecure flags only */
        bool offers_http1;            /* ALPN: h2 and http/1.1 instead of h2 alone */
        bool refuses_http2;           /* ALPN: http/1.1 alone */
};

/* Reads and checks the files at once; the error names a missing or invalid file. */
int tls_config_new(const struct tls_options *options, struct tls_config **ret, struct err *err);
struct tls_config *tls_config_ref(struct tls_config *c);
void tls_config_unref(struct tls_config *c); /* NULL is fine */

/* The TLS state of a connection with the newest certificates; the caller sets its BIOs. A client asks for server_name and verifies it (NULL
 * on servers). If the files have changed and cannot be read, the previous certificates stay in use and the error is logged. */
int tls_new_connection(struct tls_config *c, const char *server_name, SSL **ret, struct err *err);

/* The identity in the certificate that the peer sent, in the arena; NULL if it sent none. After the handshake. */
const struct tls_identity *tls_peer_identity(SSL *ssl, struct arena *a);

const struct tls_identity *tls_identity_copy(const struct tls_identity *identity, struct arena *a);

/* The number of times that the files have been reloaded. */
unsigned tls_config_generation(struct tls_config *c);

/* Fills err from OpenSSL's error queue: `TEXT: reason`, and empties the queue. */
int tls_error(struct err *err, const char *format, ...) _printf_(2, 3);
