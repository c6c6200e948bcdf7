/* A client for registries (OCI distribution): pulls and pushes manifests and blobs. Blocking calls for any thread; a client keeps
 * connections and tokens for all registries that it talks to.
 *
 * Content is used only after its digest was checked. Credentials go to the registry that they are for and to the token server that
 * it names, over TLS, and nowhere else: redirects to another host get none. TLS is left out for registries on this machine that do
 * not speak it, and for those that the options name. Requests go through proxies as the environment says. Failures that may pass
 * (no connection, 429, 5xx) are tried again, and blobs continue where they stopped. */
#pragma once

#include "oci-credentials.h"
#include "oci-manifest.h"
#include "oci-reference.h"
#include "oci-tar.h"

struct bytes;
struct oci_client; /* counted; any thread */

/* Pulls from a registry ask its mirrors first, in order. */
struct oci_mirror {
        struct str registry;
        struct str mirror; /* `host[:port]` */
};

struct oci_client_options {
        const struct oci_credentials *credentials; /* borrowed; NULL: none */
        const char *ca_file;                       /* authorities besides the system's; NULL: none */
        bool skips_verification;                   /* of TLS certificates */
        const struct str *plain_registries;        /* reached without TLS; copied */
        size_t n_plain_registries;
        const struct oci_mirror *mirrors; /* copied */
        size_t n_mirrors;
        bool ignores_environment; /* no proxies from HTTP_PROXY, HTTPS_PROXY and NO_PROXY */
        int64_t stall_ms;         /* 30 s; the longest pause of a registry */
        int64_t slow_ms;          /* 30 s; in each such time a body must bring 1 KiB per second */
        int64_t retry_ms;         /* 200 ms; the first pause before a request is tried again; it doubles */
};

int oci_client_new(const struct oci_client_options *options, struct oci_client **ret, struct err *err);
struct oci_client *oci_client_ref(struct oci_client *c);
void oci_client_unref(struct oci_client *c); /* NULL is fine */

static inline void oci_client_unrefp(struct oci_client **c)
{
        oci_client_unref(*c);
}

/* How long a call may take. */
struct oci_wait {
        struct deadline deadline;
        struct cancel *cancel; /* may be NULL */
};

#define OCI_WAIT_NONE ((struct oci_wait) { DEADLINE_NONE, NULL })

/* --- Pull --- */

/* The digest and size of what the reference means: its own digest, or that of the tag. Texts are in the arena. */
int oci_resolve(struct oci_client *c, struct arena *a, const struct oci_reference *ref, struct oci_wait wait,
                struct oci_descriptor *ret, struct err *err);

struct oci_fetched {
        struct str digest;
        struct str json; /* as the registry has it */
        struct oci_manifest manifest;
};

/* The manifest or index that the reference means. */
int oci_pull_manifest(struct oci_client *c, struct arena *a, const struct oci_reference *ref, struct oci_wait wait,
                      struct oci_fetched *ret, struct err *err);

/* The manifest for the platform: that of the reference or, if it is an index, the one that the index has for it. *ret_top is the digest
 * of what the reference means; it may be NULL. */
int oci_pull_platform(struct oci_client *c, struct arena *a, const struct oci_reference *ref,
                      const struct oci_platform *platform, struct oci_wait wait, struct oci_fetched *ret,
                      struct str *ret_top, struct err *err);

/* Writes the blob to the file, which may hold its first part already: that is kept and the rest is asked for. After a failure the file
 * holds what came, or is empty if that was wrong. */
int oci_pull_blob(struct oci_client *c, const struct oci_reference *ref, const struct oci_descriptor *blob, int fd,
                  struct oci_wait wait, struct err *err);

/* Calls the function with the blob as it comes; it reads as much of it as it likes. What the function found counts only if this call succeeds: the
 * digest is checked at the end. With mirrors it may be called more than once, each time from the start. */
typedef int oci_consume_fn(void *context, oci_read_fn *read, void *blob, struct err *err);
int oci_pull_stream(struct oci_client *c, const struct oci_reference *ref, const struct oci_descriptor *blob,
                    oci_consume_fn *consume, void *context, struct oci_wait wait, struct err *err);

/* The blob in memory, in the arena; ERR_LIMIT if it is larger than max_bytes. */
int oci_pull_bytes(struct oci_client *c, struct arena *a, const struct oci_reference *ref,
                   const struct oci_descriptor *blob, size_t max_bytes, struct oci_wait wait, struct str *ret,
                   struct err *err);

/* The index of what refers to the manifest with the digest in ref's repository, such as signatures; it may be empty. */
int oci_pull_referrers(struct oci_client *c, struct arena *a, const struct oci_reference *ref, struct str digest,
                       struct oci_wait wait, struct oci_manifest *ret, struct err *err);

/* All tags of the repository, in the registry's order, in the arena. */
int oci_list_tags(struct oci_client *c, struct arena *a, const struct oci_reference *ref, struct oci_wait wait,
                  struct oci_strings *ret, struct err *err);

/* --- Push --- */

/* Puts the blob into the repository unless it is there. The bytes are in memory or in a file from its start (fd >= 0). */
int oci_push_blob(struct oci_client *c, const struct oci_reference *ref, const struct oci_descriptor *blob,
                  struct str bytes, int fd, struct oci_wait wait, struct err *err);

/* Puts the manifest or index under the reference's tag or, if it has none, under its digest. What it names must be there. */
int oci_push_manifest(struct oci_client *c, const struct oci_reference *ref, struct str media_type, struct str json,
                      struct oci_wait wait, struct err *err);
