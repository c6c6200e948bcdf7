/* Roles and bindings, indexed by the users and groups that bindings name: an answer costs what the user's bindings are.
 *
 * A service account is the user `system:serviceaccount:NAMESPACE:NAME`, for subjects of both kinds. */
#include "access-state.h"

void index_init(struct index *ix)
{
        *ix = (struct index) { 0 };
        for (size_t i = 0; i < INDEX_STRIPES; i++)
                mutex_init(&ix->stripes[i].mutex);
}

/* --- Locking --- */

struct mutex *index_begin_read(struct index *ix)
{
        uint64_t hash = (uint64_t)(uintptr_t)thread_current() * 0x9e3779b97f4a7c15u;
        struct mutex *m = &ix->stripes[hash >> 60].mutex;

        static_assert(INDEX_STRIPES == 16, "the shift leaves four bits");
        mutex_lock(m);
        return m;
}

void index_end_read(struct mutex *lock)
{
        mutex_unlock(lock);
}

static void begin_change(struct index *ix)
{
        for (size_t i = 0; i < INDEX_STRIPES; i++)
                mutex_lock(&ix->stripes[i].mutex);
}

static void end_change(struct index *ix)
{
        for (size_t i = INDEX_STRIPES; i > 0; i--)
                mutex_unlock(&ix->stripes[i - 1].mutex);
}

/* --- Roles --- */

static struct role *find_role(struct index *ix, struct str key)
{
        struct role *r = map_get(&ix->roles, key);

        if (r)
                return r;
        r = xcalloc(1, sizeof(*r) + key.n);
        memcpy(r + 1, key.p, key.n);
        r->key = str_make((char *)(r + 1), key.n);
        map_add(&ix->roles, r->key, r);
        return r;
}

static void release_role(struct index *ix, struct role *r)
{
        if (!r || r->rules || r->n_bindings)
                return;
        map_remove(&ix->roles, r->key);
        free(r);
}

void index_set_role(struct index *ix, struct str ns, struct str name, struct rules *rules, uint64_t mark)
{
        _cleanup_arena_ struct arena a;
        struct rules *old;
        struct role *r;
        struct str key;

        arena_init(&a, "key", 0);
        key = ARENA_CONCAT(&a, ns, STR("/"), name);
        begin_change(ix);
        r = find_role(ix, key);
        old = r->rules;
        r->rules = rules;
        r->mark = mark;
        end_change(ix);
        rules_unref(old);
}

static void drop_rules(struct index *ix, struct role *r)
{
        rules_unref(r->rules);
        r->rules = NULL;
        release_role(ix, r);
}

void index_remove_role(struct index *ix, struct str ns, struct str name)
{
        _cleanup_arena_ struct arena a;
        struct role *r;
        struct str key;

        arena_init(&a, "key", 0);
        key = ARENA_CONCAT(&a, ns, STR("/"), name);
        begin_change(ix);
        r = map_get(&ix->roles, key);
        if (r)
                drop_rules(ix, r);
        end_change(ix);
}

static bool is_namespaced_key(struct str key)
{
        return key.n && key.p[0] != '/';
}

void index_sweep_roles(struct index *ix, bool is_namespaced, uint64_t mark)
{
        begin_change(ix);
        for (struct map_entry *e = map_first(&ix->roles), *next; e; e = next) {
                struct role *r = e->value;

                next = map_next(&ix->roles, e);
                if (r->rules && r->mark != mark && is_namespaced_key(r->key) == is_namespaced)
                        drop_rules(ix, r);
        }
        end_change(ix);
}

/* --- Holders: users and groups --- */

static struct holder *find_holder(struct map *holders, struct str name)
{
        struct holder *h = map_get(holders, name);

        if (h)
                return h;
        h = xcalloc(1, sizeof(*h) + name.n + 1);
        if (name.n)
                memcpy(h + 1, name.p, name.n);
        h->name = str_make((char *)(h + 1), name.n);
        map_add(holders, h->name, h);
        return h;
}

static void grants_free(struct grants *g)
{
        vec_done(&g->bindings);
        free(g->key);
        free(g);
}

static struct grants *find_grants(struct holder *h, struct str ns)
{
        struct grants *g;

        if (ns.n == 0)
                return &h->everywhere;
        g = map_get(&h->namespaces, ns);
        if (g)
                return g;
        g = xcalloc(1, sizeof(*g));
        g->key = str_to_cstring(ns);
        map_add(&h->namespaces, str_make(g->key, ns.n), g);
        return g;
}

static void holder_free(struct holder *h)
{
        for (const struct map_entry *e = map_first(&h->namespaces); e; e = map_next(&h->namespaces, e))
                grants_free(e->value);
        map_done(&h->namespaces);
        vec_done(&h->everywhere.bindings);
        free(h);
}

static void release_holder(struct map *holders, struct holder *h)
{
        if (h->namespaces.n || h->everywhere.bindings.n)
                return;
        map_remove(holders, h->name);
        holder_free(h);
}

static void add_grant(struct map *holders, struct str name, struct binding *b)
{
        struct grants *g = find_grants(find_holder(holders, name), b->ns);

        if (g->bindings.n == 0 || *vec_last(&g->bindings) != b) /* a binding may name a subject twice */
                vec_push(&g->bindings, b);
}

static void remove_grant(struct map *holders, struct str name, const struct binding *b)
{
        struct holder *h = map_get(holders, name);
        struct grants *g = h ? find_grants(h, b->ns) : NULL;

        if (!g)
                return;
        for (size_t i = g->bindings.n; i > 0; i--)
                if (g->bindings.p[i - 1] == b)
                        vec_remove(&g->bindings, i - 1);
        if (g->key && g->bindings.n == 0) {
                map_remove(&h->namespaces, b->ns);
                grants_free(g);
        }
        release_holder(holders, h);
}

/* --- Bindings --- */

static enum role_kind role_kind_of(struct str kind)
{
        if (str_equal(kind, STR("ClusterRole")))
                return ROLE_CLUSTER;
        return str_equal(kind, STR("Role")) ? ROLE_NAMESPACED : ROLE_UNSUPPORTED;
}

/* The namespace of a service account is that of the binding unless the subject names one; "" if neither does. */
static struct str account_namespace(const struct binding *b, const struct access_subject *s)
{
        return s->ns.n ? s->ns : b->ns;
}

/* The map of holders and the name that the subject stands for there; NULL for a subject that is nobody. */
static struct map *subject_holder(struct index *ix, struct arena *a, const struct binding *b,
                                  const struct access_subject *s, struct str *ret_name)
{
        *ret_name = s->name;
        if (str_equal(s->kind, STR("User")))
                return &ix->users;
        if (str_equal(s->kind, STR("Group")))
                return &ix->groups;
        if (!str_equal(s->kind, STR("ServiceAccount")) || account_namespace(b, s).n == 0)
                return NULL;
        *ret_name = ARENA_CONCAT(a, STR("system:serviceaccount:"), account_namespace(b, s), STR(":"), s->name);
        return &ix->users;
}

/* Adds the binding to the holders of all its subjects, or removes it there. */
static void link_subjects(struct index *ix, struct binding *b, bool is_new)
{
        _cleanup_arena_ struct arena a;

        arena_init(&a, "subjects", 0);
        for (size_t i = 0; i < b->n_subjects; i++) {
                struct str name;
                struct map *holders = subject_holder(ix, &a, b, &b->subjects[i], &name);

                if (holders && is_new)
                        add_grant(holders, name, b);
                else if (holders)
                        remove_grant(holders, name, b);
        }
}

static void unlink_binding(struct index *ix, struct binding *b)
{
        link_subjects(ix, b, false);
        map_remove(&ix->bindings, b->key);
        if (b->role) {
                b->role->n_bindings--;
                release_role(ix, b->role);
        }
        free(b);
}

static void link_role(struct index *ix, struct binding *b)
{
        _cleanup_arena_ struct arena a;
        enum role_kind kind = role_kind_of(b->role_kind);

        arena_init(&a, "key", 0);
        if (kind == ROLE_UNSUPPORTED)
                return;
        b->role = find_role(ix, ARENA_CONCAT(&a, kind == ROLE_CLUSTER ? STR("") : b->ns, STR("/"), b->role_name));
        b->role->n_bindings++;
}

static struct str put_text(char **at, struct str s)
{
        struct str copy = { *at, s.n };

        if (s.n)
                memcpy(*at, s.p, s.n);
        *at += s.n;
        return copy;
}

static struct binding *binding_new(const struct value *object)
{
        const struct value *subjects = value_get(object, STR("subjects")), *ref = value_get(object, STR("roleRef"));
        struct str ns = meta_namespace(object), name = meta_name(object);
        struct str role_kind = value_str(value_get(ref, STR("kind"))),
                   role_name = value_str(value_get(ref, STR("name")));
        size_t n = value_is_array(subjects) ? value_count(subjects) : 0, i = 0;
        size_t n_bytes = ns.n + 1 + name.n + role_kind.n + role_name.n;
        struct binding *b;
        char *at;

        VALUE_FOREACH_ITEM (s, subjects)
                n_bytes += value_str(value_get(s, STR("kind"))).n + value_str(value_get(s, STR("namespace"))).n +
                           value_str(value_get(s, STR("name"))).n;
        b = xcalloc(1, sizeof(*b) + n * sizeof(b->subjects[0]) + n_bytes);
        at = (char *)&b->subjects[n];
        b->ns = put_text(&at, ns);
        *at++ = '/';
        b->name = put_text(&at, name);
        b->key = str_make(b->ns.p, b->ns.n + 1 + b->name.n);
        b->role_kind = put_text(&at, role_kind);
        b->role_name = put_text(&at, role_name);
        b->n_subjects = n;
        VALUE_FOREACH_ITEM (s, subjects)
                b->subjects[i++] = (struct access_subject) {
                        .kind = put_text(&at, value_str(value_get(s, STR("kind")))),
                        .ns = put_text(&at, value_str(value_get(s, STR("namespace")))),
                        .name = put_text(&at, value_str(value_get(s, STR("name")))),
                };
        return b;
}

void index_set_binding(struct index *ix, const struct value *object, uint64_t mark)
{
        struct binding *b = binding_new(object), *old;

        b->mark = mark;
        begin_change(ix);
        old = map_get(&ix->bindings, b->key);
        if (old)
                unlink_binding(ix, old);
        link_role(ix, b);
        link_subjects(ix, b, true);
        map_add(&ix->bindings, b->key, b);
        end_change(ix);
}

void index_remove_binding(struct index *ix, struct str ns, struct str name)
{
        _cleanup_arena_ struct arena a;
        struct binding *b;
        struct str key;

        arena_init(&a, "key", 0);
        key = ARENA_CONCAT(&a, ns, STR("/"), name);
        begin_change(ix);
        b = map_get(&ix->bindings, key);
        if (b)
                unlink_binding(ix, b);
        end_change(ix);
}

void index_sweep_bindings(struct index *ix, bool is_namespaced, uint64_t mark)
{
        begin_change(ix);
        for (struct map_entry *e = map_first(&ix->bindings), *next; e; e = next) {
                struct binding *b = e->value;

                next = map_next(&ix->bindings, e);
                if (b->mark != mark && is_namespaced_key(b->key) == is_namespaced)
                        unlink_binding(ix, b);
        }
        end_change(ix);
}

void index_done(struct index *ix)
{
        struct map_entry *e;

        while ((e = map_first(&ix->bindings)))
                unlink_binding(ix, e->value);
        while ((e = map_first(&ix->roles)))
                drop_rules(ix, e->value);
        map_done(&ix->bindings);
        map_done(&ix->roles);
        map_done(&ix->users);
        map_done(&ix->groups);
        for (size_t i = 0; i < INDEX_STRIPES; i++)
                mutex_done(&ix->stripes[i].mutex);
}

/* --- Lookup --- */

static bool visit_grants(const struct holder *h, struct str ns, index_visitor *visit, void *arg)
{
        const struct grants *g = NULL;

        if (h)
                g = ns.n ? map_get(&h->namespaces, ns) : &h->everywhere;
        for (size_t i = 0; g && i < g->bindings.n; i++)
                if (!visit(arg, g->bindings.p[i]))
                        return false;
        return true;
}

static bool visit_scope(const struct index *ix, const struct user *user, struct str ns, index_visitor *visit, void *arg)
{
        if (!visit_grants(map_get(&ix->users, user->name), ns, visit, arg))
                return false;
        for (size_t i = 0; i < user->n_groups; i++)
                if (!visit_grants(map_get(&ix->groups, user->groups[i]), ns, visit, arg))
                        return false;
        return true;
}

bool index_visit(const struct index *ix, const struct user *user, struct str ns, index_visitor *visit, void *arg)
{
        return visit_scope(ix, user, STR(""), visit, arg) && (ns.n == 0 || visit_scope(ix, user, ns, visit, arg));
}

/* name is `system:serviceaccount:NAMESPACE:ACCOUNT`. */
static bool is_account(struct str name, struct str ns, struct str account)
{
        return str_cut_prefix(&name, STR("system:serviceaccount:")) && str_cut_prefix(&name, ns) &&
               str_cut_prefix(&name, STR(":")) && str_equal(name, account);
}

static bool subject_is(const struct binding *b, const struct access_subject *s, const struct user *user)
{
        if (str_equal(s->kind, STR("User")))
                return str_equal(s->name, user->name);
        if (str_equal(s->kind, STR("Group")))
                return user_is_in_group(user, s->name);
        return str_equal(s->kind, STR("ServiceAccount")) && account_namespace(b, s).n &&
               is_account(user->name, account_namespace(b, s), s->name);
}

const struct access_subject *binding_subject(const struct binding *b, const struct user *user)
{
        for (size_t i = 0; i < b->n_subjects; i++)
                if (subject_is(b, &b->subjects[i], user))
                        return &b->subjects[i];
        return NULL;
}
