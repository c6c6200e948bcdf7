/* The client of a function. */
#pragma once

#include "grpc-client.h"

#define FN_METHOD_V1      STR("/apiextensions.fn.proto.v1.FunctionRunnerService/RunFunction")
#define FN_METHOD_V1BETA1 STR("/apiextensions.fn.proto.v1beta1.FunctionRunnerService/RunFunction")

/* Sends an encoded RunFunctionRequest to v1 of the service. If v1 is UNIMPLEMENTED, sends the same bytes to v1beta1, whose messages
 * are equal. The version is not remembered, because a newer function may replace the old one behind the same channel. Everything
 * else is as in grpc_call. */
int fn_call(struct grpc_channel *c, struct bytes *request, const struct grpc_call_options *options, struct arena *a,
            struct grpc_reply *ret, struct err *err);
