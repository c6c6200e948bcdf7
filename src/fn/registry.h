/* Which function a name means. A registry is filled by whoever knows (render from its files, the control plane from
 * FunctionRevisions) and read by pipelines of any thread. */
#pragma once

#include "function.h"

struct registry;

struct registry *registry_new(void);
void registry_free(struct registry *r);

/* Takes over one reference. Replaces what the name meant before. */
void registry_set(struct registry *r, struct str name, struct function *f);

/* What errors about unknown names say behind `unknown function "F"`, e.g. ` - is it listed in the render input?`. Static. */
void registry_set_hint(struct registry *r, const char *hint);

/* Counted; ERR_NOT_FOUND: `unknown function "F"HINT`. The revision narrows it down where several are active; "" takes the default. */
int registry_find(struct registry *r, struct str name, struct str revision, struct function **ret, struct err *err);

/* --- Functions over gRPC --- */

struct grpc_function_options {
        struct str target;        /* dns:///host:port, unix:path, ... */
        struct str tls_certs_dir; /* tls.crt, tls.key, ca.crt; empty: plain text */
        struct str server_name;
        size_t max_in_flight; /* 0: no limit */
        bool names_itself;    /* errors begin with `cannot run Function "F": ` */
};

int function_grpc_new(struct str name, struct str revision, const struct grpc_function_options *options,
                      struct function **ret, struct err *err);
