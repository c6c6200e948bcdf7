/* TLS 1.2 and 1.3 on OpenSSL. A tls_config stands for certificates on disk; each new connection uses what the files hold at that
 * moment, so that certificates can be rotated while connections that exist go on with what they began with. */
#pragma once

#include <openssl/ssl.h>

#include "err.h"

struct tls_config; /* counted; any thread */

struct tls_options {
        bool is_server;
        const char *directory; /* with tls.crt, tls.key and ca.crt, as Kubernetes mounts a TLS secret */
        /* Instead of a directory, files by name; ca_file NULL means the system's authorities. */
        const char *certificate_file;
        const char *key_file;
        const char *ca_file;
        bool needs_client_certificate; /* server: refuse peers without one signed by the authority */
        bool trusts_anyone;            /* client: do not verify the server; for tests and --insecure flags only */
        bool offers_http1;             /* ALPN: h2 and http/1.1 instead of h2 alone */
};

/* Reads and checks the files at once: a missing or wrong one is an error that names it. */
int tls_config_new(const struct tls_options *options, struct tls_config **ret, struct err *err);
struct tls_config *tls_config_ref(struct tls_config *c);
void tls_config_unref(struct tls_config *c); /* NULL is fine */

/* A connection's TLS state over memory BIOs, with the newest certificates. server_name is what a client asks for and verifies
 * (NULL on servers). If the files have changed and cannot be read, the ones before stay in use and the error is logged. */
int tls_new_connection(struct tls_config *c, const char *server_name, SSL **ret, struct err *err);

/* How often the files have been read anew. */
unsigned tls_config_generation(struct tls_config *c);

/* Fills err from OpenSSL's error queue: `TEXT: reason`, and empties the queue. */
int tls_error(struct err *err, const char *format, ...) _printf_(2, 3);
