/* Role-based access control (docs/spec/apiserver 9.5): decides what each user may do.
 *
 * The rules are objects of the cluster itself: Roles, ClusterRoles and their bindings. An access keeps them compiled and reads
 * their changes by watches before it answers, so that a binding works for the request after the one that made it. system:masters may
 * do everything. */
#pragma once

#include "cluster.h"
#include "prepare.h"

struct access;

/* The cluster that holds the rules, unwrapped. It must outlive the access. */
int access_new(struct cluster *cluster, struct access **ret, struct err *err);
void access_free(struct access *a); /* NULL is fine */

/* May the run's user do it? The reason says which binding allows it, or which bound roles do not exist, as the API's reviews do; it may
 * be empty, and lives in the run's arena. ret_reason may be NULL, which is faster. */
int access_may(struct access *a, struct run *run, const struct access_request *req, bool *ret, struct str *ret_reason,
               struct err *err);

/* The same for a caller that gives up: 0, or the error of access_forbidden with the reason. */
int access_check(struct access *a, struct run *run, const struct access_request *req, struct err *err);

/* The error for a user who may not (403), in the API's words. The reason is that of access_may: which bound roles do not exist. */
int access_forbidden(const struct user *user, const struct access_request *req, struct err *err);
int access_forbidden_because(const struct user *user, const struct access_request *req, struct str reason,
                             struct err *err);

/* All rules of the run's user in a namespace, as the status of a SelfSubjectRulesReview has them: resourceRules, nonResourceRules,
 * incomplete and, if bound roles do not exist, evaluationError. */
int access_rules(struct access *a, struct run *run, struct str ns, struct value *ret, struct err *err);

/* Refuses writes of roles and bindings that would give what the writer does not have: a validating hook for the store, judging the
 * run's user. Writers that may give everything, as controllers of this process do, are in system:masters. Call it before the first
 * write. The access must outlive the last write of a user; the store's own deletes, and its changes of owners and finalizers, do not
 * need it, so it is freed before the store. */
struct admission_hook access_hook(struct access *a);

/* Makes the default roles and bindings, and adds to existing ones what they lack, as the API server does at its start: the process
 * writes, not the run's user. Roles and bindings with the annotation rbac.authorization.kubernetes.io/autoupdate: "false" are left
 * alone. */
int access_bootstrap(struct cluster *cluster, struct run *run, struct err *err);

/* Keeps the rules of ClusterRoles with an aggregationRule: a thread that watches. Stopped by access_free. */
int access_start_aggregation(struct access *a, struct err *err);

/* A cluster that checks the run's user before each call, and passes it on to `inner`. Neither is owned; cluster_free frees the wrapper.
 * Its `may` answers for the run's user. Watches and lists with a selector metadata.name=x are checked for that name. An apply or update
 * that would create needs `create` too: access_hook checks this when the write is made, and without the hook the wrapper looks before
 * the write whether the object exists. */
int access_cluster_new(struct cluster *inner, struct access *a, struct cluster **ret, struct err *err);
