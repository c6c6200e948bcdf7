/* Our registry client and image cache as a program, for tests/interop/oci.
 *
 *   oci-client resolve REF       prints the digest
 *   oci-client tags REF          prints the tags
 *   oci-client unpack REF DIR    unpacks the image into the cache in DIR, with owners if we are root, and prints where it is
 *   oci-client copy FROM TO      copies an image or an index with all that it names
 *
 * Credentials are those of the user's configuration; SSL_CERT_FILE names authorities. */
#include "buf.h"
#include "oci-cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

struct context {
        struct arena arena;
        struct oci_credentials *credentials;
        struct oci_client *client;
        struct err err;
};

static struct oci_reference parse(struct context *c, const char *text)
{
        struct oci_reference ref;

        if (oci_reference_parse(&c->arena, str_from(text), OCI_NEEDS_REGISTRY, &ref, &c->err) < 0) {
                fprintf(stderr, "%s\n", err_message(&c->err));
                exit(1);
        }
        return ref;
}

static int copy_blob(struct context *c, const struct oci_reference *from, const struct oci_reference *to,
                     const struct oci_descriptor *blob)
{
        _cleanup_close_ int fd = memfd_create("blob", MFD_CLOEXEC);
        int r = oci_pull_blob(c->client, from, blob, fd, OCI_WAIT_NONE, &c->err);

        return r < 0 ? r : oci_push_blob(c->client, to, blob, STR(""), fd, OCI_WAIT_NONE, &c->err);
}

static int copy(struct context *c, const struct oci_reference *from, const struct oci_reference *to)
{
        struct oci_fetched fetched;
        int r = oci_pull_manifest(c->client, &c->arena, from, OCI_WAIT_NONE, &fetched, &c->err);

        for (size_t i = 0; r >= 0 && i < fetched.manifest.n_manifests; i++) {
                struct oci_reference child = *from, there = *to;

                child.digest = fetched.manifest.manifests[i].digest;
                there.tag = STR("");
                r = copy(c, &child, &there);
        }
        if (r >= 0 && !fetched.manifest.is_index)
                r = copy_blob(c, from, to, &fetched.manifest.config);
        for (size_t i = 0; r >= 0 && i < fetched.manifest.n_layers; i++)
                r = copy_blob(c, from, to, &fetched.manifest.layers[i]);
        return r < 0 ? r
                     : oci_push_manifest(c->client, to, fetched.manifest.media_type, fetched.json, OCI_WAIT_NONE,
                                         &c->err);
}

static int unpack(struct context *c, const struct oci_reference *ref, const char *directory)
{
        struct oci_cache_options options = { .directory = directory, .keeps_owners = geteuid() == 0 };
        struct oci_platform platform = oci_platform_here();
        struct oci_cache *cache = NULL;
        struct oci_image *image = NULL;
        int r = oci_cache_open(&options, &cache, &c->err);

        if (r >= 0)
                r = oci_cache_image(cache, c->client, ref, &platform, OCI_WAIT_NONE, &image, &c->err);
        if (r >= 0)
                printf("%s\n", oci_image_path(image));
        oci_image_unref(image);
        oci_cache_free(cache);
        return r;
}

static int resolve(struct context *c, const struct oci_reference *ref)
{
        struct oci_descriptor d;
        int r = oci_resolve(c->client, &c->arena, ref, OCI_WAIT_NONE, &d, &c->err);

        if (r >= 0)
                printf("%.*s\n", STR_ARG(d.digest));
        return r;
}

static int tags(struct context *c, const struct oci_reference *ref)
{
        struct oci_strings list = { 0 };
        int r = oci_list_tags(c->client, &c->arena, ref, OCI_WAIT_NONE, &list, &c->err);

        for (size_t i = 0; i < list.n; i++)
                printf("%.*s\n", STR_ARG(list.p[i]));
        return r;
}

static int run(struct context *c, int argc, char **argv)
{
        struct oci_reference ref = parse(c, argv[2]), to;

        if (strcmp(argv[1], "resolve") == 0)
                return resolve(c, &ref);
        if (strcmp(argv[1], "tags") == 0)
                return tags(c, &ref);
        if (strcmp(argv[1], "unpack") == 0 && argc == 4)
                return unpack(c, &ref, argv[3]);
        to = parse(c, argv[argc - 1]);
        return copy(c, &ref, &to);
}

int main(int argc, char **argv)
{
        struct context c = { .credentials = oci_credentials_new() };
        struct oci_client_options options = { .credentials = c.credentials };
        int r;

        if (argc < 3)
                return 2;
        arena_init(&c.arena, "client", 0);
        r = oci_credentials_add_default(c.credentials, &c.err);
        if (r >= 0)
                r = oci_client_new(&options, &c.client, &c.err);
        if (r >= 0)
                r = run(&c, argc, argv);
        if (r < 0)
                fprintf(stderr, "%s\n", err_message(&c.err));
        oci_client_unref(c.client);
        oci_credentials_free(c.credentials);
        arena_done(&c.arena);
        err_done(&c.err);
        return r < 0;
}
