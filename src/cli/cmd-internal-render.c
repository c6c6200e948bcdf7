#include "command.h"

#include "buf.h"
#include "functions.h"
#include "input.h"
#include "limits.h"
#include "proto-tables.h"
#include "render.h"

#include <stdio.h>

#define EXIT_FATAL 3 /* a function returned a fatal result; the response is written nevertheless */

static const struct setting settings_table[] = {
        { .name = "timeout",
          .type = SETTING_DURATION,
          .default_text = "2m",
          .min = 1,
          .max = INT64_MAX,
          .help = "How long the render may take." },
};

/* --- The request --- */

/* Reads the request. Its strings point into `bytes`, which must live as long as *ret. */
static int read_request(struct arena *a, struct buf *bytes, const struct value **ret, struct err *err)
{
        struct proto_options options = { .flags = PROTO_BORROW_BYTES, .max_bytes = LIMIT_DOCUMENT_BYTES };
        int r = input_read("-", bytes, err);

        if (r < 0)
                return err_wrap(err, "cannot read render request");
        r = proto_decode(a, &proto_render_RenderRequest, buf_str(bytes), &options, ret, err);
        return r < 0 ? err_wrap(err, "cannot unmarshal render request") : 0;
}

static int find_composite(const struct value *request, const struct value **ret, struct err *err)
{
        static const char *const others[] = { "operation", "cronOperation", "watchOperation" };

        *ret = value_get(request, STR("composite"));
        if (*ret)
                return 0;
        for (size_t i = 0; i < ARRAY_SIZE(others); i++)
                if (value_get(request, str_from(others[i])))
                        return err_set(err, ERR_UNSUPPORTED, "cannot render %s: only composite can be rendered",
                                       others[i]);
        return err_set(err, ERR_INVALID,
                       "render request must set exactly one of: composite, operation, cron_operation, watch_operation");
}

#define SCHEME_BUILTIN STR("builtin:")

/* A function runs in this process if its address is `builtin:NAME`, or if it has no address and the name of a built-in function. */
static int reach(struct str name, struct str address, struct function **ret, struct err *err)
{
        struct grpc_function_options options = { .target = address };
        bool is_builtin = str_starts_with(address, SCHEME_BUILTIN);
        const struct builtin_function *builtin = NULL;

        if (is_builtin)
                builtin = builtin_find(str_skip(address, SCHEME_BUILTIN.n));
        else if (address.n == 0)
                builtin = builtin_find(name);
        if (is_builtin && !builtin)
                return err_set(err, ERR_NOT_FOUND, "no such function is built in");
        if (!builtin)
                return function_grpc_new(name, STR(""), &options, ret, err);
        *ret = function_builtin(builtin);
        return 0;
}

/* With several functions of one name, the first one wins. */
static int connect(struct registry *registry, const struct value *functions, struct err *err)
{
        for (size_t i = value_count(functions); i-- > 0;) {
                const struct value *item = value_item(functions, i);
                struct str name = value_str(value_get(item, STR("name")));
                struct str address = value_str(value_get(item, STR("address")));
                struct function *f;

                if (reach(name, address, &f, err) < 0)
                        return err_wrap(err,
                                        "cannot render composite resource: cannot connect to functions: cannot "
                                        "connect to function \"%.*s\" at \"%.*s\"",
                                        STR_ARG(name), STR_ARG(address));
                registry_set(registry, name, f);
        }
        return 0;
}

/* --- The response --- */

static void add_list(struct object_builder *b, struct str key, const struct value *list)
{
        if (value_count(list))
                object_builder_add(b, key, *list);
}

static struct value events_value(struct arena *a, const struct render_output *out)
{
        struct array_builder list;

        array_builder_init(&list, a, out->n_events);
        for (size_t i = 0; i < out->n_events; i++) {
                const struct reconcile_event *e = &out->events[i];
                struct object_builder b;

                object_builder_init(&b, a, 3);
                object_builder_add(&b, STR("type"), value_of_str(e->is_warning ? STR("Warning") : STR("Normal")));
                object_builder_add(&b, STR("reason"), value_of_str(e->reason));
                object_builder_add(&b, STR("message"), value_of_str(e->message));
                array_builder_add(&list, object_builder_finish(&b));
        }
        return array_builder_finish(&list);
}

static struct value response_value(struct arena *a, const struct render_output *out)
{
        struct value events = events_value(a, out);
        struct object_builder b, composite;

        object_builder_init(&composite, a, 6);
        if (out->composite)
                object_builder_add(&composite, STR("compositeResource"), *out->composite);
        add_list(&composite, STR("composedResources"), out->composed);
        add_list(&composite, STR("deletedResources"), out->deleted);
        add_list(&composite, STR("events"), &events);
        add_list(&composite, STR("requiredResources"), out->required_resources);
        add_list(&composite, STR("requiredSchemas"), out->required_schemas);
        object_builder_init(&b, a, 2);
        object_builder_add(&b, STR("meta"), value_empty_object);
        object_builder_add(&b, STR("composite"), object_builder_finish(&composite));
        return object_builder_finish(&b);
}

static int write_response(struct arena *a, const struct render_output *out, struct err *err)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct value response = response_value(a, out);
        int r = proto_encode(&b, &proto_render_RenderResponse, &response, NULL, err);

        if (r < 0)
                return err_wrap(err, "cannot marshal render response");
        fwrite(b.p, 1, b.n, stdout);
        return 0;
}

static int render(struct run *run, struct registry *registry, struct buf *bytes, struct render_output *ret,
                  struct err *err)
{
        const struct value *request, *input;
        struct render_input in;
        int r;

        if ((r = read_request(run->arena, bytes, &request, err)) < 0 ||
            (r = find_composite(request, &input, err)) < 0 ||
            (r = connect(registry, value_get(input, STR("functions")), err)) < 0)
                return r;
        in = (struct render_input) {
                .composite = value_get(input, STR("compositeResource")),
                .composition = value_get(input, STR("composition")),
                .xrd = value_get(input, STR("compositeResourceDefinition")),
                .observed = value_get(input, STR("observedResources")),
                .required = value_get(input, STR("requiredResources")),
                .credentials = value_get(input, STR("credentials")),
                .schemas = value_get(input, STR("requiredSchemas")),
                .steps.registry = registry,
        };
        return render_composite(run, &in, ret, err);
}

static int run(const struct command *c, const struct settings *settings, struct arguments arguments)
{
        _cleanup_buf_ struct buf bytes = BUF_INIT(0);
        _cleanup_arena_ struct arena a;
        _cleanup_err_ struct err err = { 0 };
        struct run run = {
                .arena = &a,
                .deadline = deadline_after_ns(settings_int(settings, "timeout")),
                .cause = STR("render"),
        };
        struct registry *registry;
        struct render_output out = { 0 };
        int r;

        arena_init(&a, "render", 0);
        if (arguments.n) {
                err_set(&err, ERR_INVALID, "it takes no arguments: the request comes on standard input");
                return command_print_usage_error(c, &err);
        }
        registry = registry_new();
        functions_register_native(registry);
        registry_set_hint(registry, " - is it listed in the render input?");
        r = render(&run, registry, &bytes, &out, &err);
        if (r < 0)
                command_print_error(c, &err);
        if ((r >= 0 || out.is_fatal) && write_response(&a, &out, &err) < 0) {
                command_print_error(c, &err);
                out.is_fatal = false;
                r = ERR_FAILED;
        }
        registry_free(registry);
        return r >= 0 ? EXIT_OK : out.is_fatal ? EXIT_FATAL : EXIT_ERROR;
}

const struct command command_internal_render = {
        .name = "internal render",
        .summary = "Reconcile a composite resource once, from a message to a message",
        .arguments = "",
        .help = "Reads a crossplane.render.v1alpha1.RenderRequest on standard input, as `crossplane internal render` "
                "does,\n"
                "runs one reconcile of the composite resource in it and writes the RenderResponse to standard output.\n"
                "Functions are called in plain text at the addresses in the request; one with the address "
                "builtin:NAME,\n"
                "or without an address and with the name of a built-in function, runs in this process. The exit status "
                "is\n"
                "3 when a function's result is fatal, with a response that says what there was until then, and 1 "
                "without\n"
                "a response. Operations are not rendered.\n",
        .settings = settings_table,
        .n_settings = ARRAY_SIZE(settings_table),
        .run = run,
};
