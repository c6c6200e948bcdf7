#include "fn-client.h"

int fn_call(struct grpc_channel *c, struct bytes *request, const struct grpc_call_options *options, struct arena *a,
            struct grpc_reply *ret, struct err *err)
{
        int r = grpc_call(c, FN_METHOD_V1, request, options, a, ret, err);

        if (r < 0 && ret->status == GRPC_UNIMPLEMENTED) {
                if (err)
                        err_done(err);
                r = grpc_call(c, FN_METHOD_V1BETA1, request, options, a, ret, err);
        }
        return r;
}
