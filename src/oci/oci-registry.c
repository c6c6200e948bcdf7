#include "oci-request.h"

#include "address.h"
#include "buf.h"
#include "tls.h"

#include <openssl/crypto.h>

#define MAX_ORIGINS 64

static struct str environment(struct arena *a, const char *upper, const char *lower)
{
        const char *value = getenv(lower);

        if (!value || !*value)
                value = getenv(upper);
        return arena_copy(a, str_from(value));
}

static void copy_options(struct oci_client *c, const struct oci_client_options *o)
{
        struct str *plain = ARENA_NEW_ARRAY(&c->arena, struct str, o->n_plain_registries);
        struct oci_mirror *mirrors = ARENA_NEW_ARRAY(&c->arena, struct oci_mirror, o->n_mirrors);

        c->options = *o;
        for (size_t i = 0; i < o->n_plain_registries; i++)
                plain[i] = arena_copy(&c->arena, o->plain_registries[i]);
        for (size_t i = 0; i < o->n_mirrors; i++) {
                mirrors[i].registry = arena_copy(&c->arena, o->mirrors[i].registry);
                mirrors[i].mirror = arena_copy(&c->arena, o->mirrors[i].mirror);
        }
        c->options.plain_registries = plain;
        c->options.mirrors = mirrors;
        c->options.stall_ms = o->stall_ms ? o->stall_ms : 30000;
        c->options.slow_ms = o->slow_ms ? o->slow_ms : 30000;
        c->options.retry_ms = o->retry_ms ? o->retry_ms : 200;
        if (o->ignores_environment)
                return;
        /* HTTP_PROXY can be set by a request's header in CGI programs, so only the lower-case name counts for it. */
        c->http_proxy = arena_copy(&c->arena, str_from(getenv("http_proxy")));
        c->https_proxy = environment(&c->arena, "HTTPS_PROXY", "https_proxy");
        c->no_proxy = environment(&c->arena, "NO_PROXY", "no_proxy");
}

int oci_client_new(const struct oci_client_options *options, struct oci_client **ret, struct err *err)
{
        struct oci_client_options none = { 0 };
        struct tls_options tls = { .offers_http1 = true, .adds_system_authorities = true };
        _cleanup_(oci_client_unrefp)
        struct oci_client *c = xcalloc(1, sizeof(*c));
        int r;

        atomic_init(&c->references, 1);
        arena_init(&c->arena, "registry client", 0);
        mutex_init(&c->mutex);
        copy_options(c, options ? options : &none);
        tls.ca_file = c->options.ca_file;
        tls.trusts_anyone = c->options.skips_verification;
        r = tls_config_new(&tls, &c->tls, err);
        if (r < 0)
                return r;
        *ret = TAKE(c);
        return 0;
}

struct oci_client *oci_client_ref(struct oci_client *c)
{
        atomic_fetch_add(&c->references, 1);
        return c;
}

void oci_client_unref(struct oci_client *c)
{
        if (!c || atomic_fetch_sub(&c->references, 1) > 1)
                return;
        for (size_t i = 0; i < c->origins.n; i++) {
                http_client_unref(c->origins.p[i].http);
                free(c->origins.p[i].name);
        }
        for (size_t i = 0; i < c->grants.n; i++) {
                free(c->grants.p[i].registry);
                free(c->grants.p[i].scope);
                OPENSSL_cleanse(c->grants.p[i].authorization, strlen(c->grants.p[i].authorization));
                free(c->grants.p[i].authorization);
        }
        for (size_t i = 0; i < c->schemes.n; i++)
                free(c->schemes.p[i].registry);
        vec_done(&c->origins);
        vec_done(&c->grants);
        vec_done(&c->schemes);
        tls_config_unref(c->tls);
        mutex_done(&c->mutex);
        arena_done(&c->arena);
        free(c);
}

/* Proxies */

static bool is_in_network(struct str pattern, struct str name)
{
        struct address network, address;
        struct str ip;
        unsigned bits = 0;
        const uint8_t *a, *b;

        if (!str_split(&pattern, '/', &ip) || pattern.n == 0 || pattern.n > 3)
                return false;
        for (size_t i = 0; i < pattern.n; i++)
                bits = bits * 10 + (unsigned)(pattern.p[i] - '0');
        if (address_from_ip(ip, 0, &network, NULL) < 0 || address_from_ip(name, 0, &address, NULL) < 0 ||
            network.any.sa_family != address.any.sa_family)
                return false;
        a = network.any.sa_family == AF_INET ? (const uint8_t *)&network.ip4.sin_addr
                                             : (const uint8_t *)&network.ip6.sin6_addr;
        b = network.any.sa_family == AF_INET ? (const uint8_t *)&address.ip4.sin_addr
                                             : (const uint8_t *)&address.ip6.sin6_addr;
        if (bits > (network.any.sa_family == AF_INET ? 32u : 128u))
                return false;
        return memcmp(a, b, bits / 8) == 0 && (bits % 8 == 0 || ((a[bits / 8] ^ b[bits / 8]) >> (8 - bits % 8)) == 0);
}

static bool name_matches(struct str pattern, struct str name)
{
        struct str domain = pattern;

        if (str_cut_prefix(&domain, STR("*")) || pattern.p[0] == '.') /* subdomains alone */
                return name.n > domain.n && domain.n > 0 &&
                       str_equal_ignore_case(str_skip(name, name.n - domain.n), domain);
        if (str_equal_ignore_case(pattern, name))
                return true;
        return name.n > pattern.n && name.p[name.n - pattern.n - 1] == '.' &&
               str_equal_ignore_case(str_skip(name, name.n - pattern.n), pattern);
}

/* The rules of Go's httpproxy, which the ecosystem's tools have: names with their subdomains, `.name` for subdomains alone, addresses,
 * networks, each perhaps with a port; `*` for everything. This machine is never reached through a proxy. */
bool oci_no_proxy(struct str no_proxy, struct str host)
{
        struct str name, rest = no_proxy;
        uint16_t port;

        if (oci_registry_is_loopback(host) || address_split(host, &name, &port, NULL) < 0)
                return true;
        while (rest.n > 0) {
                struct str item, pattern;
                uint16_t wanted = 0;

                str_split(&rest, ',', &item);
                item = str_trim(item);
                if (item.n == 0)
                        continue;
                if (str_equal(item, STR("*")) || is_in_network(item, name))
                        return true;
                if (address_split(item, &pattern, &wanted, NULL) < 0) {
                        pattern = item; /* a bare IPv6 address */
                        wanted = 0;
                }
                if (pattern.n > 0 && (wanted == 0 || wanted == port) && name_matches(pattern, name))
                        return true;
        }
        return false;
}

/* Origins */

static struct str proxy_for(const struct oci_client *c, const struct oci_url *url)
{
        struct str proxy = url->is_https ? c->https_proxy : c->http_proxy;
        struct str host = url->host;

        return proxy.n == 0 || oci_no_proxy(c->no_proxy, host) ? STR("") : proxy;
}

/* A proxy is `http://host:port` or `host:port`, perhaps with `user:password@`. */
static int parse_proxy(struct arena *a, struct str text, struct oci_url *ret, struct str *ret_login, struct err *err)
{
        struct str rest = text;
        ptrdiff_t at;
        int r;

        str_cut_prefix(&rest, STR("http://"));
        at = str_find_last_char(rest, '@');
        *ret_login = at > 0 ? str_first(rest, (size_t)at) : STR("");
        if (at >= 0)
                rest = str_skip(rest, (size_t)at + 1);
        r = str_find(rest, STR("://")) >= 0 ? err_set(err, ERR_UNSUPPORTED, "only http proxies are supported")
                                            : oci_url_parse(a, ARENA_CONCAT(a, STR("http://"), rest), NULL, ret, err);
        return r < 0 ? err_wrap(err, "the proxy of the environment") : 0;
}

static int new_origin(struct oci_client *c, struct arena *a, const struct oci_url *url, struct str proxy,
                      struct http_client **ret, struct err *err)
{
        struct http_client_options o = {
                .tls = c->tls,
                .head_ms = c->options.stall_ms * 4,
                .stall_ms = c->options.stall_ms,
                .read_stall_ms = c->options.stall_ms,
                .connect_ms = c->options.stall_ms,
        };
        struct oci_url at;
        struct str login;
        int r;

        if (proxy.n == 0)
                return http_client_new(url->origin, &o, ret, err);
        r = parse_proxy(a, proxy, &at, &login, err);
        if (r < 0)
                return r;
        if (url->is_https) {
                o.proxy = at.host.p;
                o.proxy_login = arena_cstring(a, login);
                return http_client_new(url->origin, &o, ret, err);
        }
        o.authority = arena_cstring(a, url->host);
        return http_client_new(at.origin, &o, ret, err);
}

/* With the mutex. */
static struct http_client *find_origin(struct oci_client *c, struct str name)
{
        for (size_t i = 0; i < c->origins.n; i++)
                if (str_equal(str_from(c->origins.p[i].name), name))
                        return http_client_ref(c->origins.p[i].http);
        return NULL;
}

/* Keeps the client for later requests; the oldest goes when there are too many. */
static void keep_origin(struct oci_client *c, struct str name, struct http_client *http)
{
        struct oci_origin oldest = { 0 };

        mutex_lock(&c->mutex);
        if (c->origins.n == MAX_ORIGINS) {
                oldest = c->origins.p[0];
                vec_remove(&c->origins, 0);
        }
        vec_push(&c->origins, (struct oci_origin) { str_to_cstring(name), http_client_ref(http) });
        mutex_unlock(&c->mutex);
        http_client_unref(oldest.http);
        free(oldest.name);
}

int oci_client_origin(struct oci_client *c, struct arena *a, const struct oci_url *url, struct http_client **ret,
                      struct str *ret_path, struct err *err)
{
        struct str proxy = proxy_for(c, url), name = ARENA_CONCAT(a, url->origin, STR(" "), proxy);
        struct http_client *http;
        int r = 0;

        *ret_path = proxy.n > 0 && !url->is_https ? ARENA_CONCAT(a, url->origin, url->path) : url->path;
        mutex_lock(&c->mutex);
        http = find_origin(c, name);
        mutex_unlock(&c->mutex);
        if (!http) {
                r = new_origin(c, a, url, proxy, &http, err);
                if (r < 0)
                        return r;
                keep_origin(c, name, http);
        }
        *ret = http;
        return 0;
}
