#include "address.h"

#include "buf.h"

#include <arpa/inet.h>

int address_split(struct str text, struct str *ret_host, uint16_t *ret_port, struct err *err)
{
        struct str host = text, port = STR_NONE;
        uint32_t number = 0;
        ptrdiff_t end;

        if (text.n && text.p[0] == '[') {
                end = str_find_char(text, ']');
                if (end < 0)
                        return err_set(err, ERR_INVALID, "missing ] in address %.*s", STR_ARG(text));
                host = str_first(str_skip(text, 1), (size_t)end - 1);
                port = str_skip(text, (size_t)end + 1);
                if (port.n && !str_cut_prefix(&port, STR(":")))
                        return err_set(err, ERR_INVALID, "unexpected text after ] in address %.*s", STR_ARG(text));
        } else if ((end = str_find_last_char(text, ':')) >= 0) {
                host = str_first(text, (size_t)end);
                port = str_skip(text, (size_t)end + 1);
                if (str_find_char(host, ':') >= 0)
                        return err_set(err, ERR_INVALID, "too many colons in address %.*s", STR_ARG(text));
        }
        for (size_t i = 0; i < port.n; i++) {
                if (port.p[i] < '0' || port.p[i] > '9' || number > 65535)
                        return err_set(err, ERR_INVALID, "bad port in address %.*s", STR_ARG(text));
                number = number * 10 + (uint32_t)(port.p[i] - '0');
        }
        if (number > 65535)
                return err_set(err, ERR_INVALID, "bad port in address %.*s", STR_ARG(text));
        *ret_host = host;
        *ret_port = (uint16_t)number;
        return 0;
}

int address_from_ip(struct str ip, uint16_t port, struct address *ret, struct err *err)
{
        struct address a = { 0 };
        char text[INET6_ADDRSTRLEN];

        if (str_cut_prefix(&ip, STR("[")))
                str_cut_suffix(&ip, STR("]"));
        if (ip.n < sizeof(text) && !(ip.n > 0 && memchr(ip.p, 0, ip.n))) {
                memcpy(text, ip.p, ip.n);
                text[ip.n] = '\0';
                if (inet_pton(AF_INET, text, &a.ip4.sin_addr) == 1) {
                        a.ip4.sin_family = AF_INET;
                        a.ip4.sin_port = htons(port);
                        *ret = a;
                        return 0;
                }
                if (inet_pton(AF_INET6, text, &a.ip6.sin6_addr) == 1) {
                        a.ip6.sin6_family = AF_INET6;
                        a.ip6.sin6_port = htons(port);
                        *ret = a;
                        return 0;
                }
        }
        return err_set(err, ERR_INVALID, "%.*s is not an IP address", STR_ARG(ip));
}

int address_from_unix(struct str name, bool is_abstract, struct address *ret, struct err *err)
{
        struct address a = { 0 };

        if (name.n == 0 || name.n + is_abstract > sizeof(a.unix_name))
                return err_set(err, ERR_INVALID, "the name of a Unix socket has 1 to %zu bytes, not %zu",
                               sizeof(a.unix_name) - is_abstract, name.n);
        memcpy(a.unix_name + is_abstract, name.p, name.n);
        a.n_unix_name = (uint8_t)(name.n + is_abstract);
        *ret = a;
        return 0;
}

void address_append(struct buf *b, const struct address *a)
{
        char text[INET6_ADDRSTRLEN];

        if (a->n_unix_name > 0) {
                if (a->unix_name[0])
                        buf_appendf(b, "unix:%.*s", a->n_unix_name, a->unix_name);
                else
                        buf_appendf(b, "unix-abstract:%.*s", a->n_unix_name - 1, a->unix_name + 1);
        } else if (a->any.sa_family == AF_INET) {
                buf_appendf(b, "%s:%u", inet_ntop(AF_INET, &a->ip4.sin_addr, text, sizeof(text)),
                            ntohs(a->ip4.sin_port));
        } else {
                buf_appendf(b, "[%s]:%u", inet_ntop(AF_INET6, &a->ip6.sin6_addr, text, sizeof(text)),
                            ntohs(a->ip6.sin6_port));
        }
}

bool address_equal(const struct address *a, const struct address *b)
{
        if (a->n_unix_name || b->n_unix_name)
                return a->n_unix_name == b->n_unix_name && memcmp(a->unix_name, b->unix_name, a->n_unix_name) == 0;
        if (a->any.sa_family != b->any.sa_family)
                return false;
        if (a->any.sa_family == AF_INET)
                return a->ip4.sin_port == b->ip4.sin_port && a->ip4.sin_addr.s_addr == b->ip4.sin_addr.s_addr;
        return a->ip6.sin6_port == b->ip6.sin6_port &&
               memcmp(&a->ip6.sin6_addr, &b->ip6.sin6_addr, sizeof(a->ip6.sin6_addr)) == 0;
}
