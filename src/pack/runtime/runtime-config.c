#include "runtime-config.h"

#include "arena.h"
#include "quantity.h"

#define CONTAINER    STR("package-runtime")
#define DEFAULT_PORT 9443
#define MAX_REPLICAS 16

struct reader {
        struct arena *arena;
        struct runtime_config *config;
        struct err *err;
};

/* A field that is used: its reader is called with its value and path. */
struct field {
        const char *name;
        int (*read)(struct reader *r, const struct value *v, struct str path);
};

/* Reads the fields of the table and notes all others as ignored. */
static int read_fields(struct reader *r, const struct value *v, struct str path, const struct field *fields, size_t n)
{
        VALUE_FOREACH_MEMBER (m, v) {
                struct str at = arena_printf(r->arena, "%.*s.%.*s", STR_ARG(path), STR_ARG(m->key));
                const struct field *found = NULL;

                for (size_t i = 0; i < n; i++)
                        if (str_equal(m->key, str_from(fields[i].name)))
                                found = &fields[i];
                if (!found)
                        str_list_add(&r->config->ignored, at);
                else if (found->read && found->read(r, &m->value, at) < 0)
                        return r->err->code;
        }
        return 0;
}

#define READ_FIELDS(r, v, path, table) read_fields((r), (v), (path), (table), ARRAY_SIZE(table))

static int read_strings(struct reader *r, const struct value *v, struct str path, struct str **ret, size_t *ret_n)
{
        size_t n = 0;

        *ret = ARENA_NEW_ARRAY(r->arena, struct str, v->n + 1);
        VALUE_FOREACH_ITEM (item, v) {
                if (!value_is_string(item))
                        return err_set(r->err, ERR_INVALID, "%.*s[%zu] is not a string", STR_ARG(path), n);
                (*ret)[n++] = arena_copy(r->arena, value_str(item));
        }
        *ret_n = n;
        return 0;
}

static int read_command(struct reader *r, const struct value *v, struct str path)
{
        r->config->has_command = value_is_array(v) && v->n > 0;
        return read_strings(r, v, path, &r->config->command, &r->config->n_command);
}

static int read_arguments(struct reader *r, const struct value *v, struct str path)
{
        r->config->has_arguments = value_is_array(v) && v->n > 0;
        return read_strings(r, v, path, &r->config->arguments, &r->config->n_arguments);
}

static int read_environment(struct reader *r, const struct value *v, struct str path)
{
        struct runtime_config *c = r->config;
        size_t i = 0;

        c->variables = ARENA_NEW_ARRAY(r->arena, struct runtime_variable, v->n + 1);
        VALUE_FOREACH_ITEM (item, v) {
                const struct value *from = value_find(item, "valueFrom");

                if (from)
                        str_list_printf(&c->ignored, "%.*s[%zu].valueFrom", STR_ARG(path), i);
                else
                        c->variables[c->n_variables++] = (struct runtime_variable) {
                                .name = arena_copy(r->arena, value_str(value_find(item, "name"))),
                                .value = arena_copy(r->arena, value_str(value_find(item, "value"))),
                        };
                i++;
        }
        return 0;
}

/* A number is a quantity as well: `cpu: 2`. */
static int read_quantity(struct reader *r, const struct value *v, struct str path, struct quantity *ret)
{
        struct str text = value_is_int(v) ? arena_printf(r->arena, "%lld", (long long)value_int(v, 0)) : value_str(v);

        if (quantity_parse(r->arena, text, ret, r->err) < 0)
                return err_wrap(r->err, "%.*s", STR_ARG(path));
        if (quantity_milli_value(ret) <= 0)
                return err_set(r->err, ERR_INVALID, "%.*s is not above 0", STR_ARG(path));
        return 0;
}

static int read_memory(struct reader *r, const struct value *v, struct str path)
{
        struct quantity q;

        if (read_quantity(r, v, path, &q) < 0)
                return r->err->code;
        r->config->memory_bytes = (uint64_t)quantity_value(&q);
        return 0;
}

static int read_cpu(struct reader *r, const struct value *v, struct str path)
{
        struct quantity q;

        if (read_quantity(r, v, path, &q) < 0)
                return r->err->code;
        r->config->cpu_millis = (uint64_t)quantity_milli_value(&q);
        return 0;
}

static int read_limits(struct reader *r, const struct value *v, struct str path)
{
        static const struct field fields[] = { { "memory", read_memory }, { "cpu", read_cpu } };
        size_t n_ignored = r->config->ignored.n;

        if (READ_FIELDS(r, v, path, fields) < 0)
                return r->err->code;
        if (r->config->ignored.n > n_ignored) /* a limit is kept or refused */
                return err_set(r->err, ERR_UNSUPPORTED,
                               "%.*s: this runtime can limit memory and cpu only; remove the limit",
                               STR_ARG(r->config->ignored.p[n_ignored]));
        return 0;
}

static int read_resources(struct reader *r, const struct value *v, struct str path)
{
        static const struct field fields[] = { { "limits", read_limits } };

        return READ_FIELDS(r, v, path, fields);
}

static int read_ports(struct reader *r, const struct value *v, struct str path)
{
        size_t i = 0;

        VALUE_FOREACH_ITEM (item, v) {
                int64_t port = value_int(value_find(item, "containerPort"), 0);

                if (!str_equal(value_str(value_find(item, "name")), STR("grpc")))
                        str_list_printf(&r->config->ignored, "%.*s[%zu]", STR_ARG(path), i);
                else if (port < 1 || port > 65535)
                        return err_set(r->err, ERR_INVALID, "%.*s[%zu].containerPort is not a port", STR_ARG(path), i);
                else
                        r->config->port = (uint16_t)port;
                i++;
        }
        return 0;
}

static int read_containers(struct reader *r, const struct value *v, struct str path)
{
        static const struct field fields[] = {
                { "name", NULL },
                { "command", read_command },
                { "args", read_arguments },
                { "env", read_environment },
                { "resources", read_resources },
                { "ports", read_ports },
        };
        size_t i = 0;

        VALUE_FOREACH_ITEM (item, v) {
                struct str at = arena_printf(r->arena, "%.*s[%zu]", STR_ARG(path), i++);

                if (!str_equal(value_str(value_find(item, "name")), CONTAINER))
                        str_list_add(&r->config->ignored, at);
                else if (READ_FIELDS(r, item, at, fields) < 0)
                        return r->err->code;
        }
        return 0;
}

static int read_host_network(struct reader *r, const struct value *v, struct str path)
{
        (void)path;
        r->config->shares_network = value_bool(v, false);
        return 0;
}

static int read_pod(struct reader *r, const struct value *v, struct str path)
{
        static const struct field fields[] = { { "containers", read_containers },
                                               { "hostNetwork", read_host_network } };

        return READ_FIELDS(r, v, path, fields);
}

static int read_template(struct reader *r, const struct value *v, struct str path)
{
        static const struct field fields[] = { { "spec", read_pod } };

        return READ_FIELDS(r, v, path, fields);
}

static int read_replicas(struct reader *r, const struct value *v, struct str path)
{
        r->config->replicas = value_int(v, 1);
        if (r->config->replicas < 0 || r->config->replicas > MAX_REPLICAS)
                return err_set(r->err, ERR_INVALID, "%.*s: this runtime starts 0 to %d replicas", STR_ARG(path),
                               MAX_REPLICAS);
        return 0;
}

static int read_deployment(struct reader *r, const struct value *v, struct str path)
{
        /* The selector selects nothing but pods: the API makes people write it. */
        static const struct field fields[] = { { "replicas", read_replicas },
                                               { "template", read_template },
                                               { "selector", NULL } };

        return READ_FIELDS(r, v, path, fields);
}

static int read_deployment_template(struct reader *r, const struct value *v, struct str path)
{
        static const struct field fields[] = { { "spec", read_deployment } };

        return READ_FIELDS(r, v, path, fields);
}

int runtime_config_read(struct arena *a, const struct value *spec, struct runtime_config *ret, struct err *err)
{
        static const struct field fields[] = { { "deploymentTemplate", read_deployment_template } };
        struct reader r = { .arena = a, .config = ret, .err = err };

        *ret = (struct runtime_config) { .replicas = 1, .port = DEFAULT_PORT };
        str_list_init(&ret->ignored, a);
        if (!spec)
                return 0;
        if (READ_FIELDS(&r, spec, STR("spec"), fields) < 0)
                return err->code;
        str_list_sort(&ret->ignored);
        return 0;
}
