#include "grpc-target.h"

#include "arena.h"

#define DEFAULT_PORT 443

static int take_unix(struct http_target *t, struct str name, bool is_abstract, struct err *err)
{
        /* unix:///@name also means an abstract name. */
        if (!is_abstract && (str_starts_with(name, STR("@")) || str_starts_with(name, STR("/@")))) {
                is_abstract = true;
                name = str_skip(name, name.p[0] == '/' ? 2 : 1);
        }
        return http_target_set_unix(t, name, is_abstract, err);
}

/* `ipv4:127.0.0.1:50051,127.0.0.2:50051` and the same with ipv6. */
static int take_list(struct http_target *t, struct str list, struct arena *a, struct err *err)
{
        bool is_more = true;

        while (is_more) {
                struct str item, host;
                struct address address;
                uint16_t port;
                int r;

                is_more = str_split(&list, ',', &item);
                r = address_split(item, &host, &port, err);
                if (r >= 0)
                        r = address_from_ip(host, port ? port : DEFAULT_PORT, &address, err);
                if (r < 0)
                        return r;
                if (!t->server_name) {
                        t->authority = arena_copy(a, item);
                        t->server_name = arena_cstring(a, host);
                }
                vec_push(&t->addresses, address);
        }
        return 0;
}

int grpc_target_parse(struct str text, struct arena *a, struct http_target *ret, struct err *err)
{
        struct str rest = text;

        *ret = (struct http_target) { 0 };
        if (str_cut_prefix(&rest, STR("unix-abstract:")))
                return take_unix(ret, rest, true, err);
        if (str_cut_prefix(&rest, STR("unix://")) || str_cut_prefix(&rest, STR("unix:")))
                return take_unix(ret, rest, false, err);
        if (str_cut_prefix(&rest, STR("ipv4:")) || str_cut_prefix(&rest, STR("ipv6:")))
                return take_list(ret, rest, a, err);
        if (str_cut_prefix(&rest, STR("passthrough:///")) || str_cut_prefix(&rest, STR("dns:///")) ||
            str_cut_prefix(&rest, STR("dns:")) || str_cut_prefix(&rest, STR("passthrough:")))
                return http_target_set_host(ret, text, rest, DEFAULT_PORT, a, err);
        if (str_find(rest, STR("://")) >= 0)
                return err_set(
                        err, ERR_INVALID,
                        "unknown scheme in target %.*s; known are dns, ipv4, ipv6, unix, unix-abstract and passthrough",
                        STR_ARG(text));
        return http_target_set_host(ret, text, rest, DEFAULT_PORT, a, err);
}
