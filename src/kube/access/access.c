#include "access-state.h"

#include "buf.h"
#include "gotext.h"

bool user_is_in_group(const struct user *user, struct str group)
{
        for (size_t i = 0; i < user->n_groups; i++)
                if (str_equal(user->groups[i], group))
                        return true;
        return false;
}

bool user_is_master(const struct user *user)
{
        return user_is_in_group(user, STR("system:masters"));
}

struct user access_own_user(const char *name)
{
        static const struct str groups[] = { STR_INIT("system:masters") };

        return (struct user) { .name = str_from(name), .groups = groups, .n_groups = ARRAY_SIZE(groups) };
}

/* --- Life --- */

int access_new(struct cluster *cluster, struct access **ret, struct err *err)
{
        struct access *a = xcalloc(1, sizeof(*a));
        struct run run = { .deadline = DEADLINE_NONE };
        int r;

        a->cluster = cluster;
        index_init(&a->index);
        feeds_init(&a->feeds, cluster, &a->index);
        r = feeds_refresh(&a->feeds, &run, err);
        if (r < 0) {
                access_free(a);
                return r;
        }
        *ret = a;
        return 0;
}

void access_free(struct access *a)
{
        if (!a)
                return;
        aggregation_free(a->aggregation);
        feeds_done(&a->feeds);
        index_done(&a->index);
        free(a);
}

/* --- Reasons --- */

static void append_subject(struct buf *b, struct arena *a, const struct binding *binding,
                           const struct access_subject *s)
{
        struct str name = s->name;

        if (str_equal(s->kind, STR("ServiceAccount")))
                name = ARENA_CONCAT(a, name, STR("/"), s->ns.n ? s->ns : binding->ns);
        buf_append_str(b, s->kind);
        buf_append_char(b, ' ');
        go_append_quoted(b, name);
}

/* `RBAC: allowed by RoleBinding "b/ns" of Role "r" to User "u"`. */
static struct str allowed_reason(struct arena *a, const struct binding *b, const struct user *user)
{
        _cleanup_buf_ struct buf text = BUF_INIT(0);
        bool is_namespaced = b->ns.n > 0;

        buf_appendf(&text, "RBAC: allowed by %s ", is_namespaced ? "RoleBinding" : "ClusterRoleBinding");
        go_append_quoted(&text, is_namespaced ? ARENA_CONCAT(a, b->name, STR("/"), b->ns) : b->name);
        buf_appendf(&text, " of %.*s ", STR_ARG(b->role_kind));
        go_append_quoted(&text, b->role_name);
        buf_append_literal(&text, " to ");
        append_subject(&text, a, b, binding_subject(b, user));
        return buf_to_arena(&text, a);
}

/* The error about a binding whose role does not exist. */
static struct str missing_role(struct arena *a, const struct binding *b, struct str missing_as)
{
        const char *called = str_equal(b->role_kind, STR("Role")) ? "role" : "clusterrole";

        if (!b->role)
                return ARENA_CONCAT(a, STR("unsupported role reference kind: "), go_quote(a, b->role_kind));
        return ARENA_CONCAT(a, missing_as.n ? missing_as : str_from(called), STR("." RBAC_GROUP " "),
                            go_quote(a, b->role_name), STR(" not found"));
}

static bool has_text(const struct str_list *list, struct str s)
{
        for (size_t i = 0; i < list->n; i++)
                if (str_equal(list->p[i], s))
                        return true;
        return false;
}

struct str access_join_errors(struct arena *a, const struct str_list *errors)
{
        struct str_list once;

        str_list_init(&once, a);
        for (size_t i = 0; i < errors->n; i++)
                if (!has_text(&once, errors->p[i]))
                        str_list_add(&once, errors->p[i]);
        if (once.n <= 1)
                return once.n ? once.p[0] : STR("");
        return ARENA_CONCAT(a, STR("["), str_list_join(&once, STR(", ")), STR("]"));
}

/* --- Questions --- */

struct question {
        const struct access_request *request;
        const struct binding *allowed_by;
        bool has_missing_role;
};

static bool ask_binding(void *arg, const struct binding *b)
{
        struct question *q = arg;
        const struct rules *rules = b->role ? b->role->rules : NULL;

        q->has_missing_role |= !rules;
        for (size_t i = 0; rules && i < rules->n; i++)
                if (rule_allows(&rules->p[i], q->request)) {
                        q->allowed_by = b;
                        return false;
                }
        return true;
}

struct missing_roles {
        struct str_list *errors;
        struct str missing_as;
};

static bool note_missing_role(void *arg, const struct binding *b)
{
        const struct missing_roles *m = arg;

        if (!b->role || !b->role->rules)
                str_list_add(m->errors, missing_role(m->errors->arena, b, m->missing_as));
        return true;
}

static struct str denied_reason(const struct index *ix, struct arena *a, const struct user *user, struct str ns)
{
        struct str_list errors;
        struct missing_roles m = { .errors = &errors };

        str_list_init(&errors, a);
        index_visit(ix, user, ns, note_missing_role, &m);
        return ARENA_CONCAT(a, STR("RBAC: "), access_join_errors(a, &errors));
}

int access_may(struct access *a, struct run *run, const struct access_request *req, bool *ret, struct str *ret_reason,
               struct err *err)
{
        struct question q = { .request = req };
        struct str reason = STR("");
        struct mutex *lock;
        int r;

        if (!user_is_master(&run->user)) {
                r = feeds_refresh(&a->feeds, run, err);
                if (r < 0)
                        return r;
                lock = index_begin_read(&a->index);
                index_visit(&a->index, &run->user, req->ns, ask_binding, &q);
                if (ret_reason && q.allowed_by)
                        reason = allowed_reason(run->arena, q.allowed_by, &run->user);
                else if (ret_reason && q.has_missing_role)
                        reason = denied_reason(&a->index, run->arena, &run->user, req->ns);
                index_end_read(lock);
        }
        *ret = q.allowed_by || user_is_master(&run->user);
        if (ret_reason)
                *ret_reason = reason;
        return 0;
}

int access_check(struct access *a, struct run *run, const struct access_request *req, struct err *err)
{
        struct str reason = STR("");
        bool is_allowed;
        int r = access_may(a, run, req, &is_allowed, NULL, err);

        if (r < 0 || is_allowed)
                return r;
        r = access_may(a, run, req, &is_allowed, &reason, err);
        if (r < 0 || is_allowed)
                return r;
        return access_forbidden_because(&run->user, req, reason, err);
}

/* --- Rules --- */

struct collection {
        rules_vec *rules;
        struct map seen; /* bindings, by key */
};

static bool collect_binding(void *arg, const struct binding *b)
{
        struct collection *c = arg;

        if (map_add(&c->seen, b->key, (void *)b) && b->role && b->role->rules)
                vec_push(c->rules, rules_ref(b->role->rules));
        return true;
}

int access_held_rules(struct access *a, struct run *run, struct str ns, struct str missing_as, rules_vec *ret,
                      struct str_list *errors, struct err *err)
{
        struct collection c = { .rules = ret };
        struct missing_roles m = { .errors = errors, .missing_as = missing_as };
        struct mutex *lock;
        int r = feeds_refresh(&a->feeds, run, err);

        if (r < 0)
                return r;
        lock = index_begin_read(&a->index);
        index_visit(&a->index, &run->user, ns, collect_binding, &c);
        index_visit(&a->index, &run->user, ns, note_missing_role, &m);
        map_done(&c.seen);
        index_end_read(lock);
        return 0;
}

void rules_vec_done(rules_vec *v)
{
        for (size_t i = 0; i < v->n; i++)
                rules_unref(v->p[i]);
        vec_done(v);
}

int access_role_rules(struct access *a, struct run *run, struct str ns, struct str name, struct rules **ret,
                      struct err *err)
{
        struct str key = ARENA_CONCAT(run->arena, ns, STR("/"), name);
        const struct role *role;
        struct mutex *lock;
        int r = feeds_refresh(&a->feeds, run, err);

        if (r < 0)
                return r;
        lock = index_begin_read(&a->index);
        role = map_get(&a->index.roles, key);
        r = role && role->rules;
        if (r)
                *ret = rules_ref(role->rules);
        index_end_read(lock);
        return r;
}

static void add_rules(const rules_vec *all, struct array_builder *resources, struct array_builder *paths)
{
        for (size_t i = 0; i < all->n; i++)
                for (size_t j = 0; j < all->p[i]->n; j++) {
                        const struct access_rule *rule = &all->p[i]->p[j];

                        if (rule->resources.n)
                                array_builder_add(resources, rule_resource_value(resources->arena, rule));
                        if (rule->urls.n)
                                array_builder_add(paths, rule_path_value(paths->arena, rule));
                }
}

int access_rules(struct access *a, struct run *run, struct str ns, struct value *ret, struct err *err)
{
        rules_vec rules = { 0 };
        struct str_list errors;
        struct array_builder resources, paths;
        struct object_builder b;
        int r;

        str_list_init(&errors, run->arena);
        r = access_held_rules(a, run, ns, STR(""), &rules, &errors, err);
        if (r < 0)
                return r;
        array_builder_init(&resources, run->arena, 16);
        array_builder_init(&paths, run->arena, 4);
        add_rules(&rules, &resources, &paths);
        rules_vec_done(&rules);
        object_builder_init(&b, run->arena, 4);
        object_builder_add(&b, STR("resourceRules"), array_builder_finish(&resources));
        object_builder_add(&b, STR("nonResourceRules"), array_builder_finish(&paths));
        object_builder_add(&b, STR("incomplete"), value_of_bool(false));
        if (errors.n)
                object_builder_add(&b, STR("evaluationError"), value_of_str(access_join_errors(run->arena, &errors)));
        *ret = object_builder_finish(&b);
        return 0;
}
