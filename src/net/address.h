/* Socket addresses: IP addresses with a port, and Unix sockets. */
#pragma once

#include <netinet/in.h>

#include "err.h"
#include "str.h"

struct arena;
struct buf;

struct address {
        union {
                struct sockaddr any;
                struct sockaddr_in ip4;
                struct sockaddr_in6 ip6;
        };
        char unix_name[107]; /* of a Unix socket; an abstract name starts with a 0 byte */
        uint8_t n_unix_name; /* 0: this is an IP address */
};

/* Make an address from a numeric IP address (brackets around IPv6 are allowed) and a port, or from a Unix socket's path or abstract
 * name. */
int address_from_ip(struct str ip, uint16_t port, struct address *ret, struct err *err);
int address_from_unix(struct str name, bool is_abstract, struct address *ret, struct err *err);

/* Appends the address as text: `127.0.0.1:80`, `[::1]:80`, `unix:/path`, `unix-abstract:name`. */
void address_append(struct buf *b, const struct address *a);

bool address_equal(const struct address *a, const struct address *b);

/* Splits `host:port`, `[v6]:port`, `host`, `[v6]`; the port is 0 when absent. The host may be empty (`:9443`). */
int address_split(struct str text, struct str *ret_host, uint16_t *ret_port, struct err *err);
