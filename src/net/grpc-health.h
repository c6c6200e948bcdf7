/* grpc.health.v1: which services serve, for those who ask and those who watch. */
#pragma once

#include "grpc-server.h"
#include "map.h"

struct grpc_watcher;

/* Any thread. */
struct grpc_health {
        struct mutex mutex;
        struct map services; /* name -> is it serving; names are heap copies */
        struct grpc_watcher *watchers;
        bool is_ending;
};

void grpc_health_init(struct grpc_health *h); /* "" serves */
void grpc_health_done(struct grpc_health *h); /* nobody watches any more */
void grpc_health_set(struct grpc_health *h, struct str service, bool is_serving);

/* Nothing serves any more. Watchers are told so, and that this was the last they hear. */
void grpc_health_end(struct grpc_health *h);

/* grpc.health.v1.Health/Check, with the health as its context. */
enum grpc_status grpc_health_check(void *health, struct grpc_request *request, struct buf *ret_message,
                                   struct err *err);

/* grpc.health.v1.Health/Watch: takes over an exchange whose head has come, on its loop. */
void grpc_health_watch(struct grpc_health *h, struct exchange *ex, size_t max_receive_bytes);
