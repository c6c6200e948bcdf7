/* Where a client connects to, and by which name it knows the peer. Connecting uses host or addresses; authority and server_name are
 * what the peer is told and what TLS verifies. The two may differ, so that a proxy can stand in between. */
#pragma once

#include "address.h"
#include "vec.h"

struct http_target {
        bool is_tls;                   /* the scheme is https */
        const char *host;              /* a name to resolve; NULL: addresses holds all of them */
        const char *port;              /* of host */
        VEC(struct address) addresses; /* numeric or Unix ones, which need no resolving */
        struct str authority;          /* sent as Host or :authority unless the user sets another */
        const char *server_name;       /* the name that TLS verifies */
        struct str tunnel;             /* the head that asks a proxy at host or addresses to connect; "": no proxy */
};

/* Parses `https://host:port`, `http://host` or `unix:/path` (plain text, the authority is localhost). A path other than `/` and
 * user names are refused. Strings are in the arena. Nothing is resolved. The caller ends it with http_target_done, also after an
 * error. */
int http_target_parse(struct str url, struct arena *a, struct http_target *ret, struct err *err);
void http_target_done(struct http_target *t);

/* The target is reached through the proxy at `host:port` (HTTP's CONNECT). login is `user:password` or "". */
int http_target_set_proxy(struct http_target *t, struct str proxy, struct str login, struct arena *a, struct err *err);

/* Sets host, port, authority and server_name from `host:port`; `whole` is the target for the error. */
int http_target_set_host(struct http_target *t, struct str whole, struct str text, uint16_t default_port,
                         struct arena *a, struct err *err);

/* Sets the one address and the authority from the name of a Unix socket. */
int http_target_set_unix(struct http_target *t, struct str name, bool is_abstract, struct err *err);

/* Replaces the target's authority with the user's, and server_name with its host. */
int http_target_set_authority(struct http_target *t, struct str authority, struct arena *a, struct err *err);
