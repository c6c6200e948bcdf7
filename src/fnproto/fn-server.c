#include "fn-server.h"

static enum grpc_status handle(void *context, struct grpc_request *call, struct buf *ret, struct err *err)
{
        const struct fn_handler *handler = context;
        struct fn_parts parts;

        if (fn_parts_split(call->arena, &proto_fn_v1_RunFunctionRequest, call->message, &parts, err) < 0) {
                err_wrap(err, "grpc: error unmarshalling request");
                return GRPC_INTERNAL;
        }
        return handler->run(handler->context, call, &parts, ret, err);
}

void fn_server_methods(const struct fn_handler *handler, struct grpc_method ret_methods[FN_N_METHODS])
{
        ret_methods[0] = (struct grpc_method) {
                .name = "/apiextensions.fn.proto.v1.FunctionRunnerService/RunFunction",
                .handle = handle,
                .context = (void *)handler,
        };
        ret_methods[1] = (struct grpc_method) {
                .name = "/apiextensions.fn.proto.v1beta1.FunctionRunnerService/RunFunction",
                .handle = handle,
                .context = (void *)handler,
        };
}
