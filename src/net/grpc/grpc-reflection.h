/* grpc.reflection for the messages that this program knows. */
#pragma once

#include "grpc.h"

/* Answers one ServerReflectionRequest: appends the ServerReflectionResponse. services are the full names to list. v1 and
 * v1alpha are the same on the wire. */
void grpc_reflect(struct str request, const struct str *services, size_t n_services, struct buf *ret);
