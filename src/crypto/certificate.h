/* X.509 certificates with the contents that Go's x509.CreateCertificate writes for sprig, and those of a server's own authority. */
#pragma once

#include "key.h"

#define CERTIFICATE_SERIAL_BYTES 16

struct certificate_address {
        uint8_t bytes[16];
        size_t n; /* 4 or 16 */
};

enum certificate_usage {
        CERTIFICATE_FOR_ALL, /* the key may sign and encipher, for servers and clients: what sprig writes */
        CERTIFICATE_FOR_SERVERS,
        CERTIFICATE_FOR_CLIENTS,
        CERTIFICATE_FOR_SIGNING, /* an authority and nothing else */
};

/* The contents of a certificate. All texts are borrowed. */
struct certificate_request {
        struct str common_name;          /* UTF-8; "" for none */
        const struct str *organizations; /* the groups of a client, in Kubernetes */
        size_t n_organizations;
        enum certificate_usage usage;
        const struct str *dns_names;
        size_t n_dns_names;
        const struct certificate_address *addresses;
        size_t n_addresses;
        int64_t not_before, not_after; /* seconds since 1970 */
        bool is_authority;
        uint8_t serial[CERTIFICATE_SERIAL_BYTES];
};

struct certificate_signer {
        struct str certificate; /* PEM; "" for a self-signed certificate */
        const struct private_key *key;
};

/* Appends the certificate of the key as PEM. Error texts are those of sprig. */
int certificate_append(struct buf *b, const struct certificate_request *request, const struct private_key *key,
                       const struct certificate_signer *signer, struct err *err);

/* Puts the address of the text into *ret, or returns false if it is none. */
bool certificate_address_parse(struct str text, struct certificate_address *ret);

/* The facts of the certificate in the first PEM block of the text. */
struct certificate_facts {
        int64_t not_before, not_after; /* seconds since 1970 */
        bool is_of_key;                /* it is the certificate of the key that was given */
        bool is_signed;                /* by the authority that was given */
};

/* key and authority (PEM) may be NULL and "". */
int certificate_inspect(struct str pem, const struct private_key *key, struct str authority,
                        struct certificate_facts *ret, struct err *err);

/* Whether the alternative names of the certificate have the name, or the address in its text form. */
bool certificate_has_name(struct str pem, struct str name);

/* 0 if the first PEM block of the text is a certificate. Error without a block: `unable to decode certificate`. */
int certificate_check(struct str pem, const char *what, struct err *err);
