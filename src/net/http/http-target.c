#include "http-target.h"

#include "arena.h"
#include "base64.h"
#include "buf.h"

#define HTTP_PORT  80
#define HTTPS_PORT 443

int http_target_set_host(struct http_target *t, struct str whole, struct str text, uint16_t default_port,
                         struct arena *a, struct err *err)
{
        struct str host;
        uint16_t port;
        int r;

        r = address_split(text, &host, &port, err);
        if (r < 0)
                return r;
        if (host.n == 0)
                return err_set(err, ERR_INVALID, "missing host in target %.*s", STR_ARG(whole));
        t->host = arena_cstring(a, host);
        t->port = arena_printf(a, "%u", port ? port : default_port).p;
        t->authority = arena_copy(a, text);
        t->server_name = t->host;
        return 0;
}

int http_target_set_unix(struct http_target *t, struct str name, bool is_abstract, struct err *err)
{
        struct address address;
        int r;

        t->authority = STR("localhost");
        t->server_name = "localhost";
        r = address_from_unix(name, is_abstract, &address, err);
        if (r >= 0)
                vec_push(&t->addresses, address);
        return r;
}

int http_target_set_authority(struct http_target *t, struct str authority, struct arena *a, struct err *err)
{
        struct str host;
        uint16_t port;
        int r;

        r = address_split(authority, &host, &port, err);
        if (r < 0)
                return r;
        t->authority = arena_copy(a, authority);
        t->server_name = arena_cstring(a, host);
        return 0;
}

int http_target_set_proxy(struct http_target *t, struct str proxy, struct str login, struct arena *a, struct err *err)
{
        _cleanup_buf_ struct buf head = BUF_INIT(0);
        struct http_target at = { 0 };
        bool is_ip6 = t->host && strchr(t->host, ':');
        int r;

        if (!t->host)
                return err_set(err, ERR_INVALID, "a Unix socket cannot be reached through a proxy");
        r = http_target_set_host(&at, proxy, proxy, HTTP_PORT, a, err);
        if (r < 0)
                return err_wrap(err, "invalid proxy");
        buf_appendf(&head, "CONNECT %s%s%s:%s HTTP/1.1\r\nHost: %s%s%s:%s\r\n", is_ip6 ? "[" : "", t->host,
                    is_ip6 ? "]" : "", t->port, is_ip6 ? "[" : "", t->host, is_ip6 ? "]" : "", t->port);
        if (login.n > 0) {
                buf_append_literal(&head, "Proxy-Authorization: Basic ");
                base64_encode(&head, login, BASE64_STD);
                buf_append_literal(&head, "\r\n");
        }
        buf_append_literal(&head, "\r\n");
        t->tunnel = buf_to_arena(&head, a);
        t->host = at.host;
        t->port = at.port;
        return 0;
}

static bool is_authority(struct str s)
{
        for (size_t i = 0; i < s.n; i++)
                if ((unsigned char)s.p[i] <= ' ' || s.p[i] == 0x7f || strchr("/?#@\\", s.p[i]))
                        return false;
        return true;
}

int http_target_parse(struct str url, struct arena *a, struct http_target *ret, struct err *err)
{
        struct str rest = url;
        int r;

        *ret = (struct http_target) { 0 };
        if (str_cut_prefix(&rest, STR("unix://")) || str_cut_prefix(&rest, STR("unix:")))
                return http_target_set_unix(ret, rest, false, err);
        if (str_cut_prefix(&rest, STR("https://")))
                ret->is_tls = true;
        else if (!str_cut_prefix(&rest, STR("http://")))
                return err_set(err, ERR_INVALID, "unknown scheme in %.*s; known are http, https and unix",
                               STR_ARG(url));
        if (rest.n > 0 && rest.p[rest.n - 1] == '/')
                rest.n--;
        if (!is_authority(rest))
                return err_set(err, ERR_INVALID, "%.*s must be scheme://host:port, without user, path or query",
                               STR_ARG(url));
        r = http_target_set_host(ret, url, rest, ret->is_tls ? HTTPS_PORT : HTTP_PORT, a, err);
        if (r < 0)
                return err_wrap(err, "invalid target %.*s", STR_ARG(url));
        return 0;
}

void http_target_done(struct http_target *t)
{
        vec_done(&t->addresses);
}
