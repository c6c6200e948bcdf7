/* Parses a gRPC target: `dns:///host:port`, `ipv4:address:port,...`, `unix:path` and the like. */
#pragma once

#include "http-target.h"

/* Strings are in the arena. Nothing is resolved. The caller ends it with http_target_done, also after an error. */
int grpc_target_parse(struct str text, struct arena *a, struct http_target *ret, struct err *err);
