#include "oci-url.h"

#include "address.h"
#include "arena.h"
#include "buf.h"

#include <netdb.h>
#include <netinet/in.h>

#define MAX_URL_BYTES (16u << 10)

static struct str lower(struct arena *a, struct str s)
{
        char *copy = arena_cstring(a, s);

        for (size_t i = 0; i < s.n; i++)
                copy[i] = copy[i] >= 'A' && copy[i] <= 'Z' ? (char)(copy[i] + 32) : copy[i];
        return str_make(copy, s.n);
}

static int bad_url(struct err *err, struct str text, const char *why)
{
        ptrdiff_t query = str_find_char(text, '?'); /* it may hold a signature */

        text = str_first(query < 0 ? text : str_first(text, (size_t)query), 256);
        return err_set(err, ERR_INVALID, "URL \"%.*s\": %s", STR_ARG(text), why);
}

static bool is_host_char(char c)
{
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c && strchr("-._:[]", c));
}

static int set_host(struct arena *a, struct str text, struct str host, struct oci_url *u, struct err *err)
{
        struct str name;
        uint16_t port;

        if (str_find_char(host, '@') >= 0)
                return bad_url(err, text, "it must not have a user name");
        for (size_t i = 0; i < host.n; i++)
                if (!is_host_char(host.p[i]))
                        return bad_url(err, text, "its host has a character that hosts do not have");
        if (host.n == 0 || address_split(host, &name, &port, NULL) < 0 || name.n == 0)
                return bad_url(err, text, "it has no valid host");
        if (!str_cut_suffix(&host, u->is_https ? STR(":443") : STR(":80")))
                str_cut_suffix(&host, STR(":"));
        u->host = lower(a, host);
        u->origin = ARENA_CONCAT(a, u->is_https ? STR("https://") : STR("http://"), u->host);
        return 0;
}

static int set_path(struct arena *a, struct str text, struct str path, struct oci_url *u, struct err *err)
{
        ptrdiff_t hash = str_find_char(path, '#');

        if (hash >= 0)
                path = str_first(path, (size_t)hash);
        for (size_t i = 0; i < path.n; i++)
                if ((unsigned char)path.p[i] <= ' ' || (unsigned char)path.p[i] >= 0x7f)
                        return bad_url(err, text, "it has a character that must be escaped");
        if (path.n == 0 || path.p[0] != '/')
                path = ARENA_CONCAT(a, STR("/"), path);
        u->path = path;
        return 0;
}

static struct str without_query(struct str path)
{
        ptrdiff_t query = str_find_char(path, '?');

        return query < 0 ? path : str_first(path, (size_t)query);
}

static struct str join_path(struct arena *a, struct str base, struct str text)
{
        base = without_query(base);
        if (text.n == 0 || text.p[0] == '?')
                return ARENA_CONCAT(a, base, text);
        return ARENA_CONCAT(a, str_first(base, (size_t)str_find_last_char(base, '/') + 1), text);
}

static int set_relative(struct arena *a, struct str text, const struct oci_url *base, struct oci_url *ret,
                        struct err *err)
{
        struct str path = text.n > 0 && text.p[0] == '/' ? text : join_path(a, base->path, text);
        struct oci_url u = *base;
        int r = set_path(a, text, path, &u, err);

        if (r >= 0)
                *ret = u;
        return r;
}

int oci_url_parse(struct arena *a, struct str text, const struct oci_url *base, struct oci_url *ret, struct err *err)
{
        struct str rest = text;
        struct oci_url u = { 0 };
        size_t n_host = 0;
        int r;

        if (text.n > MAX_URL_BYTES)
                return err_set(err, ERR_LIMIT, "a URL has more than %u bytes", MAX_URL_BYTES);
        text = rest = arena_copy(a, text);
        if (str_cut_prefix(&rest, STR("https://")))
                u.is_https = true;
        else if (base && str_cut_prefix(&rest, STR("//")))
                u.is_https = base->is_https;
        else if (base && !str_starts_with(text, STR("http://"))) {
                if (str_find(without_query(text), STR("://")) >= 0)
                        return bad_url(err, text, "it must be http or https");
                return set_relative(a, text, base, ret, err);
        } else if (!str_cut_prefix(&rest, STR("http://")))
                return bad_url(err, text, "it must be http or https");
        while (n_host < rest.n && !strchr("/?#", rest.p[n_host]))
                n_host++;
        r = set_host(a, text, str_first(rest, n_host), &u, err);
        if (r >= 0)
                r = set_path(a, text, str_skip(rest, n_host), &u, err);
        if (r < 0)
                return r;
        *ret = u;
        return 0;
}

/* 127.0.0.0/8, and 0.0.0.0/8, which connects to this machine too. */
static bool is_ip4_here(uint32_t address)
{
        return address >> 24 == 127 || address >> 24 == 0;
}

static bool is_ip6_here(const struct in6_addr *a)
{
        static const struct in6_addr any = IN6ADDR_ANY_INIT;
        uint32_t last;

        memcpy(&last, &a->s6_addr[12], sizeof(last));
        if (IN6_IS_ADDR_V4MAPPED(a) || IN6_IS_ADDR_V4COMPAT(a))
                return is_ip4_here(ntohl(last));
        return IN6_IS_ADDR_LOOPBACK(a) || memcmp(a, &any, sizeof(any)) == 0;
}

bool oci_host_is_here(struct str host)
{
        static const struct addrinfo numbers = { .ai_flags = AI_NUMERICHOST };
        struct addrinfo *found = NULL;
        _cleanup_free_ char *text = NULL;
        struct str name;
        uint16_t port;
        bool is_here;

        if (address_split(host, &name, &port, NULL) < 0)
                return false;
        while (str_cut_suffix(&name, STR(".")))
                ;
        if (str_equal_ignore_case(name, STR("localhost")) ||
            (name.n > 10 && str_equal_ignore_case(str_skip(name, name.n - 10), STR(".localhost"))))
                return true;
        if (str_cut_prefix(&name, STR("[")))
                str_cut_suffix(&name, STR("]"));
        text = str_to_cstring(name);
        if (getaddrinfo(text, NULL, &numbers, &found) != 0)
                return false; /* a name */
        is_here = found->ai_family == AF_INET
                          ? is_ip4_here(ntohl(((struct sockaddr_in *)(void *)found->ai_addr)->sin_addr.s_addr))
                          : is_ip6_here(&((struct sockaddr_in6 *)(void *)found->ai_addr)->sin6_addr);
        freeaddrinfo(found);
        return is_here;
}

void oci_url_escape(struct buf *b, struct str s)
{
        static const char digits[] = "0123456789ABCDEF";

        for (size_t i = 0; i < s.n; i++) {
                unsigned char c = (unsigned char)s.p[i];
                bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                                (c != 0 && strchr("-._~:/,", c));

                if (is_plain) {
                        buf_append_char(b, (char)c);
                } else {
                        buf_append_char(b, '%');
                        buf_append_char(b, digits[c >> 4]);
                        buf_append_char(b, digits[c & 15]);
                }
        }
}
