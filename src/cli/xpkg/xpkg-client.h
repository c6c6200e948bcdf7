/* The registry client of the xpkg commands: the user's credentials, and what flags say about TLS. And the command that pushes, of packages and
 * functions alike. */
#pragma once

#include "command.h"
#include "oci-registry.h"

struct value;
struct xpkg_image;

/* The client and its credentials, which must outlive it. */
struct xpkg_client {
        struct oci_credentials *credentials;
        struct oci_client *client;
};

/* Reads $CA_BUNDLE_PATH for further authorities, as Crossplane does. */
int xpkg_client_init(struct xpkg_client *c, bool skips_verification, struct err *err);
void xpkg_client_done(struct xpkg_client *c);

/* A push as the command line asks for it. Everything is in the arena. */
struct xpkg_pushed {
        struct xpkg_image *images;
        size_t n;
        const struct value *annotations; /* may be NULL */
};

/* Finds what is to be pushed, after the reference was found good. */
typedef int xpkg_find_fn(const struct settings *settings, struct arena *a, struct xpkg_pushed *ret, struct err *err);

/* Runs a command that pushes to its argument, and has the setting insecure-skip-tls-verify. */
int xpkg_run_push(const struct command *c, const struct settings *settings, struct arguments arguments,
                  xpkg_find_fn *find);
