#include "grpc-target.h"

#include "arena.h"

#define DEFAULT_PORT 443

static int take_host(struct grpc_target *t, struct str target, struct str text, struct arena *a, struct err *err)
{
        struct str host;
        uint16_t port;
        int r;

        r = address_split(text, &host, &port, err);
        if (r < 0)
                return r;
        if (host.n == 0)
                return err_set(err, ERR_INVALID, "missing host in target %.*s", STR_ARG(target));
        t->host = arena_cstring(a, host);
        t->port = arena_printf(a, "%u", port ? port : DEFAULT_PORT).p;
        t->authority = arena_copy(a, text);
        t->server_name = t->host;
        return 0;
}

static int take_unix(struct grpc_target *t, struct str name, bool is_abstract, struct err *err)
{
        struct address address;
        int r;

        t->authority = STR("localhost");
        t->server_name = "localhost";
        /* unix:///@name is another way to write an abstract name. */
        if (!is_abstract && (str_starts_with(name, STR("@")) || str_starts_with(name, STR("/@")))) {
                is_abstract = true;
                name = str_skip(name, name.p[0] == '/' ? 2 : 1);
        }
        r = address_from_unix(name, is_abstract, &address, err);
        if (r >= 0)
                vec_push(&t->addresses, address);
        return r;
}

/* `ipv4:127.0.0.1:50051,127.0.0.2:50051` and the same with ipv6. */
static int take_list(struct grpc_target *t, struct str list, struct arena *a, struct err *err)
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

int grpc_target_parse(struct str text, struct arena *a, struct grpc_target *ret, struct err *err)
{
        struct str rest = text;

        *ret = (struct grpc_target) { 0 };
        if (str_cut_prefix(&rest, STR("unix-abstract:")))
                return take_unix(ret, rest, true, err);
        if (str_cut_prefix(&rest, STR("unix://")) || str_cut_prefix(&rest, STR("unix:")))
                return take_unix(ret, rest, false, err);
        if (str_cut_prefix(&rest, STR("ipv4:")) || str_cut_prefix(&rest, STR("ipv6:")))
                return take_list(ret, rest, a, err);
        if (str_cut_prefix(&rest, STR("passthrough:///")) || str_cut_prefix(&rest, STR("dns:///")) ||
            str_cut_prefix(&rest, STR("dns:")) || str_cut_prefix(&rest, STR("passthrough:")))
                return take_host(ret, text, rest, a, err);
        if (str_find(rest, STR("://")) >= 0)
                return err_set(
                        err, ERR_INVALID,
                        "unknown scheme in target %.*s; known are dns, ipv4, ipv6, unix, unix-abstract and passthrough",
                        STR_ARG(text));
        return take_host(ret, text, rest, a, err);
}

void grpc_target_done(struct grpc_target *t)
{
        vec_done(&t->addresses);
}

int grpc_target_set_authority(struct grpc_target *t, struct str authority, struct arena *a, struct err *err)
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
