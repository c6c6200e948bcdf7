/* The runtime that starts the programs of packages on this machine, each in namespaces of its own: users, mounts, processes, network.
 *
 * A program sees its image under a layer of memory that goes with it, /proc with its own processes, a small /dev, /tmp, and its keys in
 * /tls/server. It runs as user 2000 without capabilities, cannot get new ones, and some system calls are refused (sandbox.h). It
 * has no network but its own loopback: every function listens on 9443 without a clash, and connections come from a helper inside that
 * passes sockets out. Programs with the host's network are those of providers and those whose config says hostNetwork.
 *
 * Programs end when this process ends, however it ends. A program that ends by itself is started again after 1 s, then 2 s, ..., 1 min.
 *
 * Of a DeploymentRuntimeConfig it uses replicas, hostNetwork, and of the container package-runtime: command, args, env with values,
 * limits of memory and cpu, and the port named grpc. runtime_state.ignored names the other fields. */
#pragma once

#include "runtime.h"

struct process_runtime_options {
        /* A line that a program wrote, without its end. Called by one thread. NULL: `REVISION: LINE` on standard error. */
        void (*on_log)(void *context, struct str revision, struct str line);
        void *log_context;
        uint32_t first_id;        /* user 0 inside is this id outside, if this process may choose; 0: 1879048192 */
        struct str tls_namespace; /* namespace of endpoints and certificates; "": crossplane-system */
        int64_t drain_ms;   /* the longest time for calls that are in flight when a program is replaced; 0: 30 s */
        int64_t term_ms;    /* between SIGTERM and SIGKILL; 0: 10 s */
        int64_t backoff_ms; /* the first pause before a restart; 0: 1 s */
        bool is_insecure;   /* programs get --insecure and no keys, for renders and tests on one machine */
};

/* Does not check what this machine can do: a wish that it cannot keep is refused with what is missing. */
int process_runtime_new(const struct process_runtime_options *options, struct runtime **ret, struct err *err);

/* 0, or an error that says which part of the isolation this machine lacks, and the way out. */
int process_runtime_check(struct err *err);

/* The other side. The runtime starts the executable of this process with the arguments PROCESS_RUNTIME_ARGUMENTS; main must call this
 * function before anything else, in a process without threads. It returns the exit status. */
#define PROCESS_RUNTIME_ARGUMENTS "internal", "run-package"
int process_runtime_child(void);

/* True if these are the arguments. */
bool process_runtime_is_child(int argc, char **argv);
