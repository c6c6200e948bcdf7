/* Measures the cost of a step that does nothing (function-dummy with an empty response): in this process, and over gRPC on a Unix
 * socket, in renders of the same composite resource. Compares pipelines of many such steps with a pipeline without them. Measures
 * processor time of the whole process, engine and function, so that other work on the machine does not count. */
#include "bench.h"
#include "fn-server.h"
#include "functions.h"
#include "limits.h"
#include "render.h"
#include "yaml.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define N_STEPS 50
#define SECONDS 3

static const char xr_text[] =
        "{apiVersion: e.org/v1, kind: X, metadata: {name: x, namespace: default}, spec: {size: 3}}";

static const char composition_text[] =
        "spec:\n"
        "  compositeTypeRef: {apiVersion: e.org/v1, kind: X}\n"
        "  mode: Pipeline\n"
        "  pipeline:\n"
        "  - step: resources\n"
        "    functionRef: {name: resources}\n"
        "    input:\n"
        "      apiVersion: dummy.fn.crossplane.io/v1beta1\n"
        "      kind: Response\n"
        "      response:\n"
        "        desired:\n"
        "          resources:\n"
        "            a: {resource: {apiVersion: e.org/v1, kind: Thing, spec: {one: text, two: [1, 2, 3]}}}\n"
        "            b: {resource: {apiVersion: e.org/v1, kind: Thing, spec: {one: text, two: [1, 2, 3]}}}\n"
        "            c: {resource: {apiVersion: e.org/v1, kind: Thing, spec: {one: text, two: [1, 2, 3]}}}\n";

static const char step_text[] =
        "  - step: nothing-%d\n"
        "    functionRef: {name: %s}\n"
        "    input: {apiVersion: dummy.fn.crossplane.io/v1beta1, kind: Response, response: {}}\n";

/* One pipeline: N_STEPS steps of the function, or none. */
struct pipeline {
        const struct value *xr;
        const struct value *composition;
        struct registry *registry;
};

static _Noreturn void die(const struct err *err)
{
        fprintf(stderr, "bench-steps: %s\n", err_message(err));
        exit(1);
}

static const struct value *parse(struct arena *a, struct str text)
{
        _cleanup_err_ struct err err = { 0 };
        const struct value *v;

        if (yaml_parse(a, text, NULL, &v, &err) < 0)
                die(&err);
        return v;
}

static struct pipeline pipeline_of(struct arena *a, struct registry *registry, const char *function)
{
        _cleanup_buf_ struct buf text = BUF_INIT(0);

        buf_append_str(&text, str_from(composition_text));
        for (int i = 0; i < N_STEPS && function; i++)
                buf_appendf(&text, step_text, i, function);
        return (struct pipeline) {
                .xr = parse(a, str_from(xr_text)),
                .composition = parse(a, buf_to_arena(&text, a)),
                .registry = registry,
        };
}

static void render(void *context)
{
        const struct pipeline *p = context;
        _cleanup_arena_ struct arena a;
        _cleanup_err_ struct err err = { 0 };
        struct run run = { .arena = &a, .deadline = deadline_after_ns(60 * 1000000000ll), .cause = STR("render") };
        struct render_input in = { .composite = p->xr, .composition = p->composition, .steps.registry = p->registry };
        struct render_output out;

        arena_init(&a, "render", 0);
        if (render_composite(&run, &in, &out, &err) < 0)
                die(&err);
        assert(value_count(out.composed) == 3);
}

/* --- The function over gRPC --- */

static enum grpc_status serve(void *context, struct grpc_request *call, const struct fn_parts *parts, struct buf *ret,
                              struct err *err)
{
        struct run run = { .arena = call->arena, .deadline = call->deadline, .cancel = call->cancel };
        struct fn_request req;
        struct fn_response rsp;

        if (fn_request_decode(call->arena, call->message, &req, err) < 0 ||
            function_dummy.run(&run, &req, &rsp, err) < 0 || fn_response_encode(call->arena, &rsp, ret, err) < 0)
                return GRPC_INTERNAL;
        return GRPC_OK;
}

static struct function *start(struct grpc_server **ret, struct err *err)
{
        static const struct fn_handler handler = { .run = serve };
        static struct grpc_method methods[FN_N_METHODS];
        struct grpc_server_options options = { .methods = methods, .n_methods = FN_N_METHODS };
        struct grpc_function_options client = { 0 };
        struct function *f = NULL;
        char name[64], target[96];

        snprintf(name, sizeof(name), "weft-bench-steps-%ld", (long)getpid());
        snprintf(target, sizeof(target), "unix-abstract:%s", name);
        client.target = str_from(target);
        fn_server_methods(&handler, methods);
        if (address_from_unix(str_from(name), true, &options.http.address, err) < 0 ||
            grpc_server_new(&options, ret, err) < 0 || function_grpc_new(STR("remote"), STR(""), &client, &f, err) < 0)
                die(err);
        return f;
}

int main(void)
{
        _cleanup_arena_ struct arena a;
        _cleanup_err_ struct err err = { 0 };
        struct registry *registry = registry_new();
        struct grpc_server *server;
        struct pipeline none, built_in, remote;
        double us[3];
        int is_met;

        arena_init(&a, "pipelines", 0);
        registry_set(registry, STR("resources"), function_builtin(&function_dummy));
        registry_set(registry, STR("built-in"), function_builtin(&function_dummy));
        registry_set(registry, STR("remote"), start(&server, &err));
        none = pipeline_of(&a, registry, NULL);
        built_in = pipeline_of(&a, registry, "built-in");
        remote = pipeline_of(&a, registry, "remote");
        bench_compare_process((const struct contender[]) { { "none", render, &none },
                                                           { "built in", render, &built_in },
                                                           { "gRPC", render, &remote } },
                              3, SECONDS, us);
        for (size_t i = 0; i < 3; i++)
                us[i] /= 1000;
        is_met = bench_report("a step that does nothing", "us built in", (us[1] - us[0]) / N_STEPS, "us over gRPC",
                              (us[2] - us[0]) / N_STEPS, 10);
        registry_free(registry);
        grpc_server_free(server);
        return !is_met;
}
