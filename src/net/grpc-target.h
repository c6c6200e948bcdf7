/* What a gRPC target names: `dns:///host:port`, `ipv4:address:port,...`, `unix:path` and the like, taken apart. */
#pragma once

#include "address.h"
#include "vec.h"

struct grpc_target {
        const char *host;              /* to be resolved; NULL: addresses has them all */
        const char *port;              /* of host */
        VEC(struct address) addresses; /* that need no resolving */
        struct str authority;          /* what :authority says unless the user says otherwise */
        const char *server_name;       /* what TLS verifies */
};

/* Strings are in the arena. Nothing is resolved. The caller ends it with grpc_target_done, also after an error. */
int grpc_target_parse(struct str text, struct arena *a, struct grpc_target *ret, struct err *err);
void grpc_target_done(struct grpc_target *t);

/* Makes the user's authority the target's, and its host the name that TLS verifies. */
int grpc_target_set_authority(struct grpc_target *t, struct str authority, struct arena *a, struct err *err);
