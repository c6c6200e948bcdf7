/* One request to a registry, with everything around it: which scheme and proxy, tokens, redirects, retries. For the files of the
 * registry client alone. */
#pragma once

#include "http-client.h"
#include "oci-registry.h"
#include "oci-url.h"
#include "vec.h"

/* A connection pool for one origin through one proxy. */
struct oci_origin {
        char *name;
        struct http_client *http;
};

/* An authorization that we send with requests. A registry gave it to us. */
struct oci_grant {
        char *registry, *scope;
        char *authorization; /* the field's value; wiped when it goes */
        int64_t expires_ns;
};

struct oci_scheme {
        char *registry;
        bool is_plain;
};

struct oci_client {
        _Atomic unsigned references;
        struct arena arena; /* of options */
        struct oci_client_options options;
        struct tls_config *tls;
        struct str http_proxy, https_proxy, no_proxy;

        struct mutex mutex; /* guards all below */
        VEC(struct oci_origin) origins;
        VEC(struct oci_grant) grants;
        VEC(struct oci_scheme) schemes; /* of registries on this machine, once tried */
};

/* The connections to a URL's origin; *ret_path is what to ask there. The caller unrefs *ret. */
int oci_client_origin(struct oci_client *c, struct arena *a, const struct oci_url *url, struct http_client **ret,
                      struct str *ret_path, struct err *err);

/* Whether requests to the host go to it directly although there is a proxy. host is `name` or `name:port`. */
bool oci_no_proxy(struct str no_proxy, struct str host);

struct oci_ask {
        struct str registry;
        struct str repository;
        bool pushes;
        struct str method;
        struct str path;           /* `/v2/...`; or, with url, ignored */
        const struct oci_url *url; /* a place that the registry named: of an upload, of a next page */
        const struct http_fields *fields;
        struct bytes *body;
        int body_fd; /* -1: none */
        int64_t body_bytes;
};

/* Opens the request and returns the response whatever its status is, after redirects. *ret_url (may be NULL) is where it came from;
 * in the arena. */
int oci_open(struct oci_client *c, struct arena *a, const struct oci_ask *ask, struct oci_wait wait,
             struct http_response **ret, struct oci_url *ret_url, struct err *err);

/* The same for a document of one of these media types; a status other than 200 is an error. */
int oci_open_document(struct oci_client *c, struct arena *a, const struct oci_ask *ask, struct str media_types,
                      struct oci_wait wait, struct http_response **ret, struct err *err);

/* The request for `/v2/REPOSITORY/WHAT/VERSION`; its texts are in the arena or the reference's. */
struct oci_ask oci_ask_for(struct arena *a, const struct oci_reference *ref, const char *method, const char *what,
                           struct str version);

/* Calls the function for every registry that may have it: mirrors, then the one that the reference names. */
typedef int oci_pull_fn(struct oci_client *c, struct arena *a, const struct oci_reference *ref, struct oci_wait wait,
                        void *context, struct err *err);
int oci_pull_from(struct oci_client *c, struct arena *a, const struct oci_reference *ref, struct oci_wait wait,
                  oci_pull_fn *from, void *context, struct err *err);

/* How fast a body comes: ERR_LIMIT if it is less than 1 KiB per second in a time of options.slow_ms. */
struct oci_speed {
        int64_t start_ns, n_bytes;
};
void oci_speed_begin(struct oci_speed *s);
int oci_speed_check(const struct oci_client *c, struct oci_speed *s, size_t n_new, struct err *err);

/* The whole body; ERR_LIMIT if it has more than max_bytes or comes too slowly. The caller unrefs *ret. */
int oci_read_body(const struct oci_client *c, const struct oci_ask *ask, struct http_response *r, size_t max_bytes,
                  struct oci_wait wait, struct bytes **ret, struct err *err);

/* The error for a response with an unexpected status: method, URL, status and the registry's own words. Reads the body. */
int oci_status_error(const struct oci_ask *ask, struct http_response *r, struct oci_wait wait, struct err *err);

/* Gets a token or basic credentials for the challenges of a 401; the grant is kept. */
int oci_authorize(struct oci_client *c, struct arena *a, const struct oci_ask *ask, const struct oci_url *at,
                  const struct http_response *r, struct oci_wait wait, struct err *err);

/* The value for the Authorization field, in the arena; "" if there is none. */
struct str oci_authorization(struct oci_client *c, struct arena *a, const struct oci_ask *ask);
