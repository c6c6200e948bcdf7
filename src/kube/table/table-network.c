/* The cells of services, ingresses, endpoints and other kinds of the network. */
#include "table-cells.h"

#include "buf.h"

#define SHOWN 3 /* hosts or endpoints in a cell */

/* --- Services --- */

struct value table_service_cluster_ip(const struct table_source *s)
{
        const struct value *list = table_get(s->object, "spec.clusterIPs");
        struct str ip = value_str(list ? value_item(list, 0) : table_get(s->object, "spec.clusterIP"));

        return value_of_str(ip.n > 0 ? ip : STR("<none>"));
}

/* The addresses of status.loadBalancer, sorted, each once. */
static void add_ingresses(struct str_list *list, const struct value *object)
{
        size_t n = 0;

        VALUE_FOREACH_ITEM (i, table_get(object, "status.loadBalancer.ingress")) {
                struct str ip = value_str(value_get(i, STR("ip")));
                struct str text = ip.n > 0 ? ip : value_str(value_get(i, STR("hostname")));

                if (text.n > 0)
                        str_list_add(list, text);
        }
        str_list_sort(list);
        for (size_t i = 0; i < list->n; i++)
                if (n == 0 || !str_equal(list->p[n - 1], list->p[i]))
                        list->p[n++] = list->p[i];
        list->n = n;
}

struct value table_service_external_ip(const struct table_source *s)
{
        struct str type = table_text(s->object, "spec.type");
        bool is_balanced = str_equal(type, STR("LoadBalancer"));
        struct str_list list;

        if (str_equal(type, STR("ExternalName")))
                return value_of_str(table_text(s->object, "spec.externalName"));
        if (!is_balanced && !str_equal(type, STR("ClusterIP")) && !str_equal(type, STR("NodePort")))
                return value_of_literal("<unknown>");
        str_list_init(&list, s->arena);
        if (is_balanced)
                add_ingresses(&list, s->object);
        VALUE_FOREACH_ITEM (ip, table_get(s->object, "spec.externalIPs"))
                str_list_add(&list, value_str(ip));
        if (list.n == 0)
                return value_of_str(is_balanced ? STR("<pending>") : STR("<none>"));
        return value_of_str(str_list_join(&list, STR(",")));
}

struct value table_service_ports(const struct table_source *s)
{
        _cleanup_buf_ struct buf b = { 0 };

        VALUE_FOREACH_ITEM (p, table_get(s->object, "spec.ports")) {
                int64_t node_port = value_int(value_get(p, STR("nodePort")), 0);

                buf_appendf(&b, "%s%lld", b.n > 0 ? "," : "", (long long)value_int(value_get(p, STR("port")), 0));
                if (node_port > 0)
                        buf_appendf(&b, ":%lld", (long long)node_port);
                buf_appendf(&b, "/%.*s", STR_ARG(value_str(value_get(p, STR("protocol")))));
        }
        return b.n > 0 ? value_of_str(buf_to_arena(&b, s->arena)) : value_of_literal("<none>");
}

/* --- Ingresses --- */

struct value table_ingress_hosts(const struct table_source *s)
{
        const struct value *rules = table_get(s->object, "spec.rules");
        struct str hosts[SHOWN];
        size_t n = 0, seen = 0, count;

        VALUE_FOREACH_ITEM (r, rules) {
                struct str host = value_str(value_get(r, STR("host")));

                if (n == SHOWN)
                        break;
                seen++;
                if (host.n > 0)
                        hosts[n++] = host;
        }
        if (n == 0)
                return value_of_literal("*");
        count = seen < value_count(rules) ? value_count(rules) : n;
        return value_of_str(table_join_some(s->arena, hosts, n, SHOWN, count));
}

struct value table_ingress_address(const struct table_source *s)
{
        struct str_list list;

        str_list_init(&list, s->arena);
        add_ingresses(&list, s->object);
        return value_of_str(str_list_join(&list, STR(",")));
}

struct value table_ingress_ports(const struct table_source *s)
{
        return value_of_str(value_count(table_get(s->object, "spec.tls")) > 0 ? STR("80, 443") : STR("80"));
}

struct value table_ingress_parameters(const struct table_source *s)
{
        const struct value *p = table_get(s->object, "spec.parameters"), *group = value_get(p, STR("apiGroup"));

        if (!value_is_object(p))
                return value_of_literal("<none>");
        return table_printf(s, "%.*s%s%.*s/%.*s", STR_ARG(table_text(p, "kind")), group ? "." : "",
                            STR_ARG(value_str(group)), STR_ARG(table_text(p, "name")));
}

struct value table_ip_parent(const struct table_source *s)
{
        const struct value *p = table_get(s->object, "spec.parentRef");
        struct str group = table_text(p, "group"), name_space = table_text(p, "namespace");

        if (!value_is_object(p))
                return value_of_literal("<none>");
        return table_printf(s, "%.*s%s%.*s%s%.*s/%.*s", STR_ARG(table_text(p, "resource")), group.n > 0 ? "." : "",
                            STR_ARG(group), name_space.n > 0 ? "/" : "", STR_ARG(name_space),
                            STR_ARG(table_text(p, "name")));
}

/* --- Endpoints --- */

/* The first few texts, and how many there are. */
struct some {
        struct str texts[SHOWN];
        size_t n;
        size_t count;
};

static void add_some(struct some *some, struct str text)
{
        if (some->n < SHOWN)
                some->texts[some->n++] = text;
        some->count++;
}

static struct str host_and_port(struct arena *a, struct str host, int64_t port)
{
        const char *format = str_find_char(host, ':') >= 0 ? "[" : "";

        return arena_printf(a, "%s%.*s%s:%lld", format, STR_ARG(host), *format ? "]" : "", (long long)port);
}

static void add_subset(struct arena *a, struct some *some, const struct value *subset)
{
        const struct value *ports = value_get(subset, STR("ports")), *addresses = value_get(subset, STR("addresses"));
        size_t n_ports = value_count(ports);

        for (size_t i = 0; i < MAX(n_ports, (size_t)1); i++)
                VALUE_FOREACH_ITEM (address, addresses) {
                        struct str ip = value_str(value_get(address, STR("ip")));
                        int64_t port = value_int(value_get(value_item(ports, i), STR("port")), 0);

                        add_some(some, n_ports > 0 ? host_and_port(a, ip, port) : ip);
                }
}

struct value table_endpoints(const struct table_source *s)
{
        const struct value *subsets = table_get(s->object, "subsets");
        struct some some = { 0 };

        if (value_count(subsets) == 0)
                return value_of_literal("<none>");
        VALUE_FOREACH_ITEM (subset, subsets)
                add_subset(s->arena, &some, subset);
        return value_of_str(table_join_some(s->arena, some.texts, some.n, SHOWN, some.count));
}

static struct value some_or_unset(const struct table_source *s, const struct some *some)
{
        struct str text = table_join_some(s->arena, some->texts, some->n, SHOWN, some->count);

        return value_of_str(text.n > 0 ? text : STR("<unset>"));
}

struct value table_slice_ports(const struct table_source *s)
{
        struct some some = { 0 };

        VALUE_FOREACH_ITEM (p, table_get(s->object, "ports")) {
                const struct value *port = value_get(p, STR("port")), *name = value_get(p, STR("name"));

                if (value_is_number(port))
                        add_some(&some, arena_printf(s->arena, "%lld", (long long)value_int(port, 0)));
                else
                        add_some(&some, value_is_string(name) ? value_str(name) : STR("*"));
        }
        return some_or_unset(s, &some);
}

struct value table_slice_addresses(const struct table_source *s)
{
        struct some some = { 0 };

        VALUE_FOREACH_ITEM (endpoint, table_get(s->object, "endpoints"))
                VALUE_FOREACH_ITEM (address, value_get(endpoint, STR("addresses")))
                        add_some(&some, value_str(address));
        return some_or_unset(s, &some);
}
