/* The services every gRPC server of ours has: health checks and reflection. */
#pragma once

#include "grpc-server.h"
#include "map.h"

/* Which services serve; any thread. */
struct grpc_health {
        struct mutex mutex;
        struct map services; /* name -> is it serving; names are heap copies */
};

void grpc_health_init(struct grpc_health *h); /* "" serves */
void grpc_health_done(struct grpc_health *h);
void grpc_health_set(struct grpc_health *h, struct str service, bool is_serving);
void grpc_health_set_all(struct grpc_health *h, bool is_serving);

/* grpc.health.v1.Health/Check, with the health as its context. */
enum grpc_status grpc_health_check(void *health, struct grpc_request *request, struct buf *ret_message,
                                   struct err *err);

/* Answers one ServerReflectionRequest: appends the ServerReflectionResponse. services are the full names to list. v1 and
 * v1alpha are the same on the wire. */
void grpc_reflect(struct str request, const struct str *services, size_t n_services, struct buf *ret);
