#include "xpkg-client.h"

#include "xpkg-image.h"

#include <stdio.h>

int xpkg_client_init(struct xpkg_client *c, bool skips_verification, struct err *err)
{
        struct oci_client_options options = { .skips_verification = skips_verification };
        const char *ca = getenv("CA_BUNDLE_PATH");
        int r;

        *c = (struct xpkg_client) { .credentials = oci_credentials_new() };
        options.credentials = c->credentials;
        options.ca_file = ca && *ca ? ca : NULL;
        r = oci_credentials_add_default(c->credentials, err);
        return r < 0 ? r : oci_client_new(&options, &c->client, err);
}

void xpkg_client_done(struct xpkg_client *c)
{
        oci_client_unref(c->client);
        oci_credentials_free(c->credentials);
}

static int push(const struct settings *settings, struct arena *a, const char *name, xpkg_find_fn *find, struct err *err)
{
        _cleanup_(xpkg_client_done)
        struct xpkg_client client = { 0 };
        struct xpkg_pushed pushed = { 0 };
        struct oci_reference ref;
        struct str digest;
        int r = oci_reference_parse(a, str_from(name), OCI_NEEDS_REGISTRY | OCI_NEEDS_TAG, &ref, err);

        if (r >= 0 && ref.digest.n > 0)
                r = err_set(err, ERR_INVALID, "reference \"%s\": a package is pushed to a tag, not to a digest", name);
        if (r >= 0)
                r = find(settings, a, &pushed, err);
        if (r >= 0)
                r = xpkg_client_init(&client, settings_bool(settings, "insecure-skip-tls-verify"), err);
        if (r >= 0)
                r = xpkg_push(client.client, a, &ref, pushed.images, pushed.n, pushed.annotations, OCI_WAIT_NONE,
                              &digest, err);
        if (r >= 0)
                printf("%s@%.*s\n", name, STR_ARG(digest));
        return r;
}

int xpkg_run_push(const struct command *c, const struct settings *settings, struct arguments arguments,
                  xpkg_find_fn *find)
{
        _cleanup_arena_ struct arena a;
        _cleanup_err_ struct err err = { 0 };

        arena_init(&a, "package", 0);
        if (arguments.n != 1) {
                err_set(&err, ERR_INVALID, "give one reference to push to: registry/repository:tag");
                return command_print_usage_error(c, &err);
        }
        if (push(settings, &a, arguments.p[0], find, &err) >= 0)
                return EXIT_OK;
        command_print_error(c, &err);
        return EXIT_ERROR;
}
