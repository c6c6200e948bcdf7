/* URLs that registries send: realms of token servers, redirects, places of uploads, links to further pages. */
#pragma once

#include "err.h"
#include "str.h"

struct arena;
struct buf;

/* A URL, split for http_client_new and http_request. */
struct oci_url {
        bool is_https;
        struct str origin; /* `https://host:port`, without a default port's number */
        struct str host;   /* `host` or `host:port` */
        struct str path;   /* begins with `/`; with the query, without a fragment */
};

/* http and https alone; user names in URLs are refused. base may be NULL; with one, the text may be a relative reference that begins
 * with `/`, `//host`, `?` or a name. */
int oci_url_parse(struct arena *a, struct str text, const struct oci_url *base, struct oci_url *ret, struct err *err);

/* Whether the host (`name` or `name:port`) leads to this machine, however it is written: `127.1`, `0`, `[::ffff:127.0.0.1]`, `a.localhost.`. */
bool oci_host_is_here(struct str host);

/* Appends the text with everything escaped that a query must not have as it is. */
void oci_url_escape(struct buf *b, struct str text);
