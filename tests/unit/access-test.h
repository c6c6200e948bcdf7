/* Shared by the tests of access rules: a store with an access, roles and bindings, questions as texts. */
#pragma once

#include "store-test.h"

#include "access.h"

struct access_fixture {
        struct fixture store;
        struct access *access;
        struct cluster *cluster; /* checks the run's user */
};

static inline struct user test_master(void)
{
        static const struct str groups[] = { STR_INIT("system:masters") };

        return (struct user) { .name = STR("admin"), .groups = groups, .n_groups = 1 };
}

static inline void access_fixture_init(struct access_fixture *f)
{
        struct fixture *s = &f->store;
        struct admission_hook hook;

        fixture_init(s);
        s->run.user = test_master();
        MUST(s, access_new(s->cluster, &f->access, &s->err));
        hook = access_hook(f->access);
        store_add_hook(s->store, &hook);
        MUST(s, access_cluster_new(s->cluster, f->access, &f->cluster, &s->err));
}

static inline void access_fixture_done(struct access_fixture *f)
{
        cluster_free(f->cluster);
        access_free(f->access);
        fixture_done(&f->store);
}

#define _cleanup_access_ _cleanup_(access_fixture_done)

/* From here on the run's user is this one, in no group but those given (up to two; NULL: none). */
static inline void act_as(struct access_fixture *f, const char *name, const char *group, const char *other_group)
{
        struct str *groups = ARENA_NEW_ARRAY(&f->store.arena, struct str, 2);
        size_t n = 0;

        if (group)
                groups[n++] = str_from(group);
        if (other_group)
                groups[n++] = str_from(other_group);
        f->store.run.user = (struct user) { .name = str_from(name), .groups = groups, .n_groups = n };
}

/* A role; namespace "" makes a ClusterRole. rules is JSON with single quotes. */
static inline const struct value *role_of(struct access_fixture *f, const char *ns, const char *name, const char *rules)
{
        return JSON(
                &f->store,
                "{'apiVersion':'rbac.authorization.k8s.io/v1','kind':'%s','metadata':{'name':'%s'%s%s%s},'rules':%s}",
                *ns ? "Role" : "ClusterRole", name, *ns ? ",'namespace':'" : "", ns, *ns ? "'" : "", rules);
}

/* role is KIND/NAME. */
static inline const struct value *binding_of(struct access_fixture *f, const char *ns, const char *name,
                                             const char *role, const char *subjects)
{
        const char *slash = strchr(role, '/');

        return JSON(&f->store,
                    "{'apiVersion':'rbac.authorization.k8s.io/v1','kind':'%s','metadata':{'name':'%s'%s%s%s},"
                    "'roleRef':{'apiGroup':'rbac.authorization.k8s.io','kind':'%.*s','name':'%s'},'subjects':%s}",
                    *ns ? "RoleBinding" : "ClusterRoleBinding", name, *ns ? ",'namespace':'" : "", ns, *ns ? "'" : "",
                    (int)(slash - role), role, slash + 1, subjects);
}

/* Writes as the administrator, whoever the run's user is. */
static inline void make(struct access_fixture *f, const struct value *object)
{
        struct user user = f->store.run.user;

        f->store.run.user = test_master();
        MUST(&f->store, create(&f->store, object));
        f->store.run.user = user;
}

static inline void remove_as_admin(struct access_fixture *f, const struct value *object)
{
        struct user user = f->store.run.user;

        f->store.run.user = test_master();
        MUST(&f->store, delete_with(&f->store, object_key_of(object), PROPAGATE_UNSET));
        f->store.run.user = user;
}

/* `VERB GROUP/PLURAL[/SUB] NAMESPACE NAME` with `-` for empty parts, or `VERB /PATH`. */
static inline struct access_request question_of(const char *text)
{
        struct access_request q = { 0 };
        struct str rest = str_from(text), resource, group;

        str_split(&rest, ' ', &q.verb);
        if (str_starts_with(rest, STR("/"))) {
                q.path = rest;
                return q;
        }
        str_split(&rest, ' ', &resource);
        str_split(&resource, '/', &group);
        str_split(&resource, '/', &q.plural);
        q.subresource = resource;
        str_split(&rest, ' ', &q.ns);
        q.name = rest;
        q.gvk.group = str_equal(group, STR("-")) ? STR("") : group;
        if (str_equal(q.ns, STR("-")))
                q.ns = STR("");
        if (str_equal(q.name, STR("-")))
                q.name = STR("");
        return q;
}

/* The answer with its reason: `yes: REASON`, `no: REASON`, `yes`, `no`. */
static inline struct str answer(struct access_fixture *f, const char *question)
{
        struct access_request q = question_of(question);
        bool is_allowed = false;
        struct str reason;

        MUST(&f->store, access_may(f->access, &f->store.run, &q, &is_allowed, &reason, &f->store.err));
        if (reason.n == 0)
                return is_allowed ? STR("yes") : STR("no");
        return ARENA_CONCAT(&f->store.arena, is_allowed ? STR("yes: ") : STR("no: "), reason);
}

static inline bool may(struct access_fixture *f, const char *question)
{
        struct access_request q = question_of(question);
        bool is_allowed = false;

        MUST(&f->store, access_may(f->access, &f->store.run, &q, &is_allowed, NULL, &f->store.err));
        return is_allowed;
}
