/* The server's own authority, keys and certificates in the data directory: made at the first start, kept, renewed in time.
 *
 *   ca.key, ca.crt          the authority (P-256), of 10 years
 *   server.key, server.crt  the server's certificate, of 1 year
 *   admin.key, admin.crt    the administrator's certificate, of 1 year
 *   sa.key                  signs the tokens of service accounts
 *
 * Every file is for its owner alone and is replaced as a whole. A certificate is made anew, with the same key, when less than a third
 * of its time is left, when it is not of its key or authority, or when it lacks a name. So a kubeconfig works as long as the
 * authority that it holds, and a crash between two files only makes a certificate anew. The authority itself is never replaced by
 * another one: a key that is missing or does not fit is an error. It may be one of the user's own, also one that another authority has
 * signed, which is not renewed here. */
#pragma once

#include "err.h"
#include "str.h"

struct buf;
struct pki;
struct private_key;
struct tls_config;

struct pki_options {
        const char *directory; /* made with 0700 if it is missing; NULL: a private temporary one, removed by pki_free */
        const struct str *names; /* names and addresses of the server's certificate besides localhost and loopback */
        size_t n_names;
};

int pki_open(const struct pki_options *options, struct pki **ret, struct err *err);
void pki_free(struct pki *p); /* NULL is fine */

/* PEM. The pieces belong to the pki; pki_renew may replace the authority's certificate, never its key. Any thread. */
struct str pki_authority(const struct pki *p);
struct tls_config *pki_server_tls(struct pki *p); /* borrowed; asks for client certificates, needs none */
const struct private_key *pki_token_key(const struct pki *p);

/* Makes certificates anew that end soon. Called now and then, by one thread. The server's TLS settings follow by themselves. */
int pki_renew(struct pki *p, struct err *err);

/* Writes a kubeconfig (0600) for the administrator (CN=kubernetes-admin, O=system:masters). url is that of the server. A file that
 * this function did not write is not replaced: it may have the credentials of other clusters. */
int pki_write_kubeconfig(struct pki *p, const char *path, struct str url, struct err *err);

/* Appends a kubeconfig for another user, with a key and a certificate of 1 year that are nowhere else. Any thread. */
int pki_append_kubeconfig(struct pki *p, struct buf *b, struct str url, struct str user, const struct str *groups,
                          size_t n_groups, struct err *err);
