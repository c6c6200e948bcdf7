/* The parts of an access: the index of roles and bindings, and the watches that feed it. */
#pragma once

#include "access.h"
#include "access-rule.h"
#include "map.h"
#include "vec.h"

#define RBAC_GROUP   "rbac.authorization.k8s.io"
#define RBAC_VERSION "v1"

enum role_kind {
        ROLE_CLUSTER,
        ROLE_NAMESPACED,
        ROLE_UNSUPPORTED,
};

/* A role by its name: the target of bindings, whether it exists or not. Bindings may come before their role. */
struct role {
        struct rules *rules; /* NULL: there is no such role */
        size_t n_bindings;   /* that refer to it */
        uint64_t mark;       /* see struct feed */
        struct str key;      /* NAMESPACE/NAME; a ClusterRole has an empty namespace */
};

struct access_subject {
        struct str kind; /* User, Group, ServiceAccount */
        struct str ns;
        struct str name;
};

/* One allocation; immutable but for the mark. */
struct binding {
        struct str key; /* NAMESPACE/NAME; a ClusterRoleBinding has an empty namespace */
        struct str ns;
        struct str name;
        struct str role_kind;
        struct str role_name;
        struct role *role; /* NULL: role_kind is not one of a role */
        uint64_t mark;
        size_t n_subjects;
        struct access_subject subjects[];
};

/* The bindings that name one user or group, everywhere or in one namespace. */
struct grants {
        VEC(struct binding *) bindings;
        char *key; /* the namespace; NULL: everywhere */
};

struct holder {
        struct grants everywhere;
        struct map namespaces; /* of struct grants */
        struct str name;
};

/* Reading takes one of the mutexes, chosen by the thread; changing takes all of them. So readers do not wait for each other. */
#define INDEX_STRIPES 16
struct index {
        struct {
                struct mutex mutex;
                char _gap[64]; /* mutexes of different readers are in different cache lines */
        } stripes[INDEX_STRIPES];

        /* Guarded by the stripes. */
        struct map roles;    /* of struct role, by key */
        struct map bindings; /* of struct binding, by key */
        struct map users;    /* of struct holder, by name; service accounts under their user's name */
        struct map groups;
};

void index_init(struct index *ix);
void index_done(struct index *ix);

/* rules is taken over. */
void index_set_role(struct index *ix, struct str ns, struct str name, struct rules *rules, uint64_t mark);
void index_remove_role(struct index *ix, struct str ns, struct str name);
/* object is a RoleBinding or ClusterRoleBinding. */
void index_set_binding(struct index *ix, const struct value *object, uint64_t mark);
void index_remove_binding(struct index *ix, struct str ns, struct str name);

/* Removes roles (bindings) whose mark is not the given one: those that a new list no longer has. */
void index_sweep_roles(struct index *ix, bool is_namespaced, uint64_t mark);
void index_sweep_bindings(struct index *ix, bool is_namespaced, uint64_t mark);

/* Between the two, roles and bindings may be read. The lock is for a few lines that do not park. */
struct mutex *index_begin_read(struct index *ix);
void index_end_read(struct mutex *lock);

/* Calls visit with every binding that names the user: ClusterRoleBindings, and RoleBindings of the namespace unless it is empty. A
 * binding that names the user in several ways is visited as often. False, from visit and as a result: stopped. */
typedef bool index_visitor(void *arg, const struct binding *b);
bool index_visit(const struct index *ix, const struct user *user, struct str ns, index_visitor *visit, void *arg);

/* The first subject of the binding that is the user. */
const struct access_subject *binding_subject(const struct binding *b, const struct user *user);

/* --- Watches --- */

enum feed_kind {
        FEED_CLUSTER_ROLES,
        FEED_ROLES,
        FEED_CLUSTER_ROLE_BINDINGS,
        FEED_ROLE_BINDINGS,
        _FEED_COUNT,
};

/* The watch of one kind. When it has ended, a new one lists all objects again; each gets the new mark, and objects with an older mark
 * are gone. */
struct access_feed {
        struct watch *watch; /* NULL: to be opened */
        uint64_t mark;
};

struct feeds {
        struct cluster *cluster;
        struct index *index;

        struct mutex mutex;
        struct waiters waiters; /* threads that wait for the end of is_opening */
        bool is_opening;        /* one thread opens watches, without the mutex; the others wait */
        struct access_feed feeds[_FEED_COUNT];
};

void feeds_init(struct feeds *f, struct cluster *cluster, struct index *index);
void feeds_done(struct feeds *f);

/* Brings the index up to date with all commits that this thread may know of. */
int feeds_refresh(struct feeds *f, struct run *run, struct err *err);

/* --- The access --- */

struct aggregation;

struct access {
        struct cluster *cluster;
        struct index index;
        struct feeds feeds;
        bool is_hooked; /* the cluster calls our hook; set before the first write */
        struct aggregation *aggregation;
};

void aggregation_free(struct aggregation *g); /* NULL is fine */

bool user_is_in_group(const struct user *user, struct str group);

/* True for members of system:masters, who may do everything. */
bool user_is_master(const struct user *user);

/* The process itself as a writer. */
struct user access_own_user(const char *name);

/* All rules of the user in a namespace. Each binding counts once. Missing roles are added to `errors` as the API's errors, which call a
 * missing role by `clusterrole` and `role`, or by the given plural. */
typedef VEC(struct rules *) rules_vec;
int access_held_rules(struct access *a, struct run *run, struct str ns, struct str missing_as, rules_vec *ret,
                      struct str_list *errors, struct err *err);
void rules_vec_done(rules_vec *v);

/* The rules of a role: 1 with *ret counted, 0 when there is no such role. */
int access_role_rules(struct access *a, struct run *run, struct str ns, struct str name, struct rules **ret,
                      struct err *err);

/* Several errors as one text: `a`, or `[a, b]` without repetitions. */
struct str access_join_errors(struct arena *a, const struct str_list *errors);

/* Until the matching end, writes of this thread in this run that turn out to create an object by another verb than create are checked
 * for create by the hook. */
struct creation_check {
        struct access *access;
        struct run *run;
        struct creation_check *outer;
};
void creation_check_begin(struct creation_check *c, struct access *a, struct run *run);
void creation_check_end(struct creation_check *c);
