/* The HTTP face of a cluster: what kubectl and client libraries talk to. Handlers use `struct cluster` alone. */
#pragma once

#include "address.h"
#include "call.h"

struct access;
struct apiserver;
struct authenticator;
struct tls_config;

/* One named check of /healthz, /livez and /readyz. */
struct apiserver_check {
        const char *name;
        int (*check)(void *arg, struct err *err);
        void *arg;
};

/* More lines for /metrics, in Prometheus' text form. */
struct apiserver_metrics {
        void (*append)(void *arg, struct buf *b);
        void *arg;
};

/* A path of the program around the server, and all paths below it; they are only read. The handler runs on a thread for short work. It
 * decides what the user may see: call->cluster checks the user's rights. */
struct apiserver_path {
        struct str path; /* `/weft/v1` */
        api_handler *handle;
        void *context;
};

struct apiserver_options {
        struct cluster *cluster; /* unwrapped */
        struct access *access;
        struct authenticator *authenticator;
        struct address address;
        struct tls_config *tls; /* NULL: plain text; every peer is then the administrator, so only on loopback */
        const struct apiserver_check *checks;
        size_t n_checks;
        const struct apiserver_metrics *metrics;
        size_t n_metrics;
        const struct apiserver_path *paths; /* outlive the server */
        size_t n_paths;
        const char *version;        /* gitVersion; NULL: v1.36.3+weft */
        unsigned max_user_requests; /* at a time per user; 0: 400. More are told 429 */
        unsigned max_user_watches;  /* at a time per user; 0: 2,000 */
        size_t max_memory_bytes;    /* of requests and answers together; 0: 192 MiB, less where the cgroup has less */
};

int apiserver_new(const struct apiserver_options *options, struct apiserver **ret, struct err *err);
struct address apiserver_address(const struct apiserver *s);

/* Stops accepting, ends watches cleanly, finishes what is open; then apiserver_free. */
void apiserver_drain(struct apiserver *s, struct deadline deadline);
void apiserver_free(struct apiserver *s); /* NULL is fine */
