/* grpc.health.v1: reports which services are serving, to Check and Watch calls. */
#pragma once

#include "grpc-server.h"
#include "map.h"

struct grpc_watcher;

/* Any thread. */
struct grpc_health {
        struct mutex mutex;
        struct map services; /* name -> whether it is serving; names are heap copies */
        struct grpc_watcher *watchers;
        bool is_ending;
};

void grpc_health_init(struct grpc_health *h); /* the service "" starts as serving */
void grpc_health_done(struct grpc_health *h); /* all watchers must be gone */
void grpc_health_set(struct grpc_health *h, struct str service, bool is_serving);

/* Sets all services to not serving. Watchers get this last state and their streams end. */
void grpc_health_end(struct grpc_health *h);

/* grpc.health.v1.Health/Check, with the health as its context. */
enum grpc_status grpc_health_check(void *health, struct grpc_request *request, struct buf *ret_message,
                                   struct err *err);

/* grpc.health.v1.Health/Watch: takes over an exchange whose head has arrived, on its loop. */
void grpc_health_watch(struct grpc_health *h, struct exchange *ex, size_t max_receive_bytes);
