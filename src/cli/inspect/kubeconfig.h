/* Reads a kubeconfig: where an API is, whom to trust, and who asks. */
#pragma once

#include "arena.h"
#include "err.h"

struct kubeconfig {
        struct str server; /* `https://host:port[/path]` */
        struct str ns;     /* of the context; "": none */
        /* Texts in PEM, from files or from the kubeconfig itself; "": none. */
        struct str authority;
        struct str certificate;
        struct str key;
        struct str token;
        struct str tls_server_name;
        bool trusts_anyone; /* insecure-skip-tls-verify */
};

/* context "": the current one. All texts live in the arena. Files are relative to the kubeconfig's directory. */
int kubeconfig_read(struct arena *a, const char *path, struct str context, struct kubeconfig *ret, struct err *err);
