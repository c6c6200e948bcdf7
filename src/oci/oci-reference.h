/* References to images: `[registry/]repository[:tag][@digest]`, as Docker and Crossplane's tools read them.
 *
 * The first part is a registry if it has a dot or a colon or is `localhost`. Crossplane's packages always name their registry;
 * Docker's short names (`nginx`) mean Docker Hub, whose registry is index.docker.io and whose plain names are beneath library/. */
#pragma once

#include "err.h"
#include "str.h"

struct arena;
struct buf;

#define OCI_DOCKER_HUB "index.docker.io"

struct oci_reference {
        struct str registry;   /* `host` or `host:port`; docker.io is index.docker.io */
        struct str repository; /* `acme/function-a` */
        struct str tag;        /* "" if the reference has a digest and no tag; `latest` if it has neither */
        struct str digest;     /* `sha256:...`, or "" */
        struct str source;     /* the text before the tag and the digest, as the user wrote it */
};

enum oci_reference_flags {
        OCI_NEEDS_REGISTRY = 1 << 0, /* refuses short names, as Crossplane does for packages */
        OCI_NEEDS_TAG = 1 << 1,      /* refuses a reference with neither tag nor digest */
};

/* The texts are in the arena. ERR_INVALID names the part that is wrong. */
int oci_reference_parse(struct arena *a, struct str text, unsigned flags, struct oci_reference *ret, struct err *err);

/* `registry/repository[:tag][@digest]`. */
void oci_reference_append(struct buf *b, const struct oci_reference *r);
struct str oci_reference_text(struct arena *a, const struct oci_reference *r);

/* The version to ask a registry for: the digest, or else the tag. */
struct str oci_reference_version(const struct oci_reference *r);

/* Whether the registry is this machine: `localhost`, 127.0.0.0/8 or ::1, with or without a port. */
bool oci_registry_is_loopback(struct str registry);
