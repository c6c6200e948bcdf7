/* Where the programs of packages run (docs/spec/packages 3). One interface; `process-runtime.h` has the one that starts them on this
 * machine. A runtime knows revisions by their names. It never blocks for a program to start: it says what is so now, and tells by a
 * callback when that changes. */
#pragma once

#include "oci-cache.h"
#include "cluster.h"
#include "xpkg.h"

struct dialer;
struct runtime;
struct runtime_ops;

/* The keys that both ends of a connection need, as PEM. */
struct runtime_tls {
        struct str cert, key, ca;
};

/* The program that a revision wants to run. Borrowed during the call. */
struct runtime_wish {
        struct str revision; /* name; also REVISION_NAME */
        struct str uid;      /* REVISION_UID */
        struct str package;  /* name of the Function or Provider; also FUNCTION_NAME or PROVIDER_NAME */
        struct str service;  /* what its endpoint and its certificate name; "": the package */
        enum xpkg_kind kind;
        struct oci_image *image;    /* unpacked; the runtime takes a reference of its own */
        const struct value *config; /* spec of the DeploymentRuntimeConfig, or NULL */
        struct runtime_tls server;  /* what the program serves with */
        struct runtime_tls client;  /* of a provider; empty for functions */
        struct str kubeconfig;      /* text, for providers; "": none */
};

enum runtime_phase {
        RUNTIME_STARTING, /* it does not answer yet */
        RUNTIME_READY,    /* it answers */
        RUNTIME_FAILED,   /* it ended and waits to be started again, or cannot be started; see the message */
};

/* Texts live in the arena of the call. */
struct runtime_state {
        enum runtime_phase phase;
        struct str endpoint; /* what status.endpoint says, and what runtime_dialer's connections lead to */
        struct str message;  /* why it is not ready, and the way out */
        struct str ignored;  /* fields of the config that this runtime does not use, a list for people; "": none */
};

struct runtime_ops {
        int (*ensure)(struct runtime *r, struct arena *a, const struct runtime_wish *wish, struct runtime_state *ret,
                      struct err *err);
        void (*stop)(struct runtime *r, struct str revision);
        int (*dial)(struct runtime *r, struct str revision, int *ret_fd, struct err *err);
        struct dialer *(*dialer)(struct runtime *r, struct str revision);
        void (*free)(struct runtime *r);
};

struct runtime {
        const struct runtime_ops *ops;
        /* Called by any thread, without locks, when the state of a revision has changed. Set before the first wish. */
        void (*on_change)(void *context, struct str revision);
        void *context;
};

/* Makes the wish true: starts the program, replaces it if the wish has changed, or leaves it. An error means that the wish itself is
 * refused (a limit that this machine cannot keep): it names the field and the way out. */
static inline int runtime_ensure(struct runtime *r, struct arena *a, const struct runtime_wish *wish,
                                 struct runtime_state *ret, struct err *err)
{
        return r->ops->ensure(r, a, wish, ret, err);
}

/* Ends the program of a revision, after the calls that are in flight. No such revision is fine. */
static inline void runtime_stop(struct runtime *r, struct str revision)
{
        r->ops->stop(r, revision);
}

/* A connected stream socket to the program, which the caller owns. Blocks for a connect at most; any thread. */
static inline int runtime_dial(struct runtime *r, struct str revision, int *ret_fd, struct err *err)
{
        return r->ops->dial(r, revision, ret_fd, err);
}

/* The dialer that grpc_function_options take to call the program. It calls runtime_dial, and is told when a program is replaced or
 * stops, so that connections finish their calls and move. Counted; the caller unrefs it. It may be asked for before the first wish;
 * channels that use it must have gone before the runtime is freed. */
static inline struct dialer *runtime_dialer(struct runtime *r, struct str revision)
{
        return r->ops->dialer(r, revision);
}

/* Ends all programs. NULL is fine. */
static inline void runtime_free(struct runtime *r)
{
        if (r)
                r->ops->free(r);
}
