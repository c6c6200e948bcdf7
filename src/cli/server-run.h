/* `weft server`: all parts of the embedded API in one process, and their life from start to drain. */
#pragma once

#include <signal.h>

#include "err.h"
#include "str.h"

struct apiserver_metrics;
struct apiserver_path;
struct value;
struct kind_strategy;

struct server_options {
        const char *data;       /* the data directory; "": everything is kept in memory */
        const char *listen;     /* HOST:PORT; "": 127.0.0.1, with the kept port */
        const char *kubeconfig; /* where to write it; "": in the data directory */
        const struct str *names;
        size_t n_names;             /* of the certificate, besides its own */
        const char *token_file;     /* "": none */
        const char *version;        /* of the API; "": the default */
        unsigned max_user_requests; /* at a time; 0: as apiserver.h says */
        unsigned max_user_watches;
        size_t max_memory_bytes;
        bool is_debug;
        bool protects_usages; /* objects in use cannot be deleted, see protection.h */
        /* The behaviour of kinds that come from CRDs, see store.h; NULL: none. */
        const struct kind_strategy *(*strategy_of)(const struct value *crd);
        const struct apiserver_path *paths; /* more paths of the API server */
        size_t n_paths;
        const struct apiserver_metrics *metrics; /* more metrics */
        size_t n_metrics;
};

struct access;
struct buf;
struct cluster;
struct protection;
struct server;

/* Serves until SIGTERM or SIGINT. Prints how to connect on standard output, and logs on standard error. */
int server_run(const struct server_options *options, struct err *err);

/* --- The same in parts, for commands that do more than serve --- */

/* Limits, memory and log of the process, and the signals that end it, which are blocked from now on. Before the first thread. */
void server_set_up_process(bool is_debug, sigset_t *ret_signals);

/* Opens everything and serves. The options must outlive the server. */
int server_open(const struct server_options *options, struct server **ret, struct err *err);

/* Ends watches, finishes open requests, and closes. NULL is fine. */
void server_close(struct server *s);

struct cluster *server_cluster(const struct server *s); /* checks nobody's rights */
struct access *server_access(const struct server *s);
struct protection *server_protection(const struct server *s); /* NULL without protects_usages */

/* On the heap; the caller frees it. */
char *server_url(const struct server *s);
char *server_kubeconfig(const struct server *s); /* an absolute path */

/* Appends a kubeconfig for a service account, with a certificate of its own (see pki.h). Any thread. */
int server_append_kubeconfig(struct server *s, struct buf *b, struct str ns, struct str service_account,
                             struct err *err);

/* Waits for one of the signals; returns its number. Certificates are renewed meanwhile. Then the signals have their usual effect. */
int server_wait(struct server *s, const sigset_t *signals);

/* The same, but returns 0 when the descriptor can be read; then the signals stay blocked. -1: no descriptor. */
int server_wait_for(struct server *s, const sigset_t *signals, int fd);
