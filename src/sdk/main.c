/* The main function of a function program: flags, and the server. */
#include <stdio.h>

#include "sdk.h"

#include "flags.h"
#include "serve.h"

#define EXIT_BAD_FLAGS 80

static const char *text_of(const struct flags *flags, enum standard_flag flag)
{
        return flags->values[flag].text;
}

static enum grpc_status run(void *context, struct grpc_request *call, const struct fn_parts *request, struct buf *ret,
                            bool *ret_is_fatal, struct err *err)
{
        const struct flags *flags = context;

        sdk_run(flags, call->arena, request, ret, ret_is_fatal);
        return GRPC_OK;
}

static const char *program_name(const char *path)
{
        const char *slash = path ? strrchr(path, '/') : NULL;

        return slash ? slash + 1 : path ? path : "function";
}

static int fail(const char *program, const struct err *err, int status)
{
        fprintf(stderr, "%s: error: %s\n", program, err_message(err));
        return status;
}

static int run_program(struct flags *flags, const char *name)
{
        _cleanup_err_ struct err err = { 0 };
        struct serve_options options = {
                .name = flags->function->name,
                .network = text_of(flags, FLAG_NETWORK),
                .address = text_of(flags, FLAG_ADDRESS),
                .certs_directory = text_of(flags, FLAG_TLS_CERTS_DIR),
                .metrics_address = text_of(flags, FLAG_METRICS_ADDRESS),
                .max_receive_bytes = (size_t)flags->values[FLAG_MAX_RECV_MESSAGE_SIZE].i << 20,
                .max_memory_bytes = (size_t)flags->values[FLAG_MAX_MEMORY].i << 20,
                .is_insecure = flags->values[FLAG_INSECURE].b,
                .is_debug = flags->values[FLAG_DEBUG].b,
                .run = run,
                .context = flags,
        };

        return serve_function(&options, &err) < 0 ? fail(name, &err, 1) : 0;
}

int weft_main(int argc, char **argv, const struct weft_function *function)
{
        static const char *const none[] = { NULL };
        const char *const *arguments = argc > 0 ? (const char *const *)argv + 1 : none;
        const char *name = program_name(argc > 0 ? argv[0] : NULL);
        _cleanup_err_ struct err err = { 0 };
        struct flags flags = { 0 };
        int r, status = 0;

        r = flags_read(&flags, function, arguments, (const char *const *)environ, &err);
        if (r < 0)
                status = fail(name, &err, r == ERR_INVALID ? EXIT_BAD_FLAGS : 1);
        else if (flags.values[FLAG_HELP].b)
                flags_print_help(&flags, name);
        else
                status = run_program(&flags, name);
        flags_done(&flags);
        return status;
}
