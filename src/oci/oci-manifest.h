/* The documents of an image: manifests, indexes of manifests for several platforms, and image configurations. OCI's media types and
 * Docker's are treated alike. All texts are in the arena of the call; the readers trust nothing: numbers, digests and counts are
 * checked here, so that later code can rely on them. */
#pragma once

#include "err.h"
#include "value.h"

#define OCI_MEDIA_MANIFEST    "application/vnd.oci.image.manifest.v1+json"
#define OCI_MEDIA_INDEX       "application/vnd.oci.image.index.v1+json"
#define OCI_MEDIA_CONFIG      "application/vnd.oci.image.config.v1+json"
#define OCI_MEDIA_LAYER_GZIP  "application/vnd.oci.image.layer.v1.tar+gzip"
#define DOCKER_MEDIA_MANIFEST "application/vnd.docker.distribution.manifest.v2+json"
#define DOCKER_MEDIA_INDEX    "application/vnd.docker.distribution.manifest.list.v2+json"
#define DOCKER_MEDIA_CONFIG   "application/vnd.docker.container.image.v1+json"
#define DOCKER_MEDIA_LAYER    "application/vnd.docker.image.rootfs.diff.tar.gzip"

/* Empty texts mean that the part is not said. */
struct oci_platform {
        struct str os, architecture, variant, os_version;
};

struct oci_descriptor {
        struct str media_type;
        struct str digest; /* valid, see oci-digest.h */
        int64_t size_bytes;
        const struct value *annotations; /* an object of strings, or NULL */
        struct str artifact_type;
        bool has_platform;
        struct oci_platform platform;
};

struct oci_manifest {
        bool is_index;
        struct str media_type;
        const struct value *annotations; /* an object of strings, or NULL */
        struct oci_descriptor config;    /* of a manifest */
        const struct oci_descriptor *layers;
        size_t n_layers;
        const struct oci_descriptor *manifests; /* of an index */
        size_t n_manifests;
};

/* Reads a manifest or an index. media_type is what the registry called it, or "". A document that calls itself something else, or
 * that could be read as both, is refused: its digest would stand for two different things. */
int oci_manifest_parse(struct arena *a, struct str json, struct str media_type, struct oci_manifest *ret,
                       struct err *err);

/* The annotation's value, or "". */
struct str oci_annotation(const struct value *annotations, const char *key);

/* The platform of this program. */
struct oci_platform oci_platform_here(void);

/* The child of an index for a platform. A child without a platform counts as linux/amd64, as Crossplane reads it. A child with the
 * wanted variant is preferred to one without. The error lists the platforms that there are. */
int oci_index_choose(const struct oci_manifest *index, const struct oci_platform *platform,
                     const struct oci_descriptor **ret, struct err *err);

/* `linux/arm64/v8`. */
struct str oci_platform_text(struct arena *a, const struct oci_platform *p);

struct oci_strings {
        const struct str *p;
        size_t n;
};

/* An image's configuration: how its program is started, and the digests of its layers when they are unpacked. */
struct oci_config {
        const struct value *root; /* the whole document */
        struct oci_platform platform;
        struct oci_strings entrypoint, command, environment;
        struct str working_directory, user;
        const struct value *labels;  /* an object of strings, or NULL */
        struct oci_strings diff_ids; /* valid digests */
};

int oci_config_parse(struct arena *a, struct str json, struct oci_config *ret, struct err *err);
