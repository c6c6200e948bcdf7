/* The hook that refuses writes of roles and bindings by which a user would give more than the user has. */
#include "access-state.h"

#include "buf.h"
#include "gotext.h"

/* --- Creation by other verbs than create --- */

static _Thread_local struct creation_check *current_check;

void creation_check_begin(struct creation_check *c, struct access *a, struct run *run)
{
        *c = (struct creation_check) { .access = a, .run = run, .outer = current_check };
        current_check = c;
}

void creation_check_end(struct creation_check *c)
{
        assert(current_check == c);
        current_check = c->outer;
}

static int check_creation(struct access *a, struct run *run, const struct admission *admission, struct err *err)
{
        const struct creation_check *c = current_check;
        const struct write_request *req = admission->request;
        struct access_request question = {
                .verb = STR("create"),
                .gvk = req->key.gvk,
                .plural = admission->kind->plural,
                .ns = admission->kind->is_namespaced ? req->key.ns : STR(""),
                .name = req->key.name,
        };

        if (!c || c->access != a || c->run != run || !admission->is_create || req->verb == WRITE_CREATE)
                return 0;
        if (admission->kind->group.n == 0 && str_equal(admission->kind->kind, STR("Namespace")))
                question.ns = req->key.name;
        return access_check(a, run, &question, err);
}

/* --- Roles --- */

struct writer {
        struct access *access;
        struct run *run;
        const struct admission *admission;
        struct str ns;
        struct str name; /* of the object */
};

static int forbidden(const struct writer *w, struct str text, struct err *err)
{
        struct status_subject subject = kind_subject(w->admission->kind, w->name);

        return status_forbidden(err, &subject, "%.*s", STR_ARG(text));
}

static struct str escalation_text(const struct writer *w, const struct str_list *missing, const struct str_list *errors)
{
        const struct user *user = &w->run->user;
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct arena *a = w->run->arena;

        buf_append_literal(&b, "user ");
        go_append_quoted(&b, user->name);
        buf_append_literal(&b, " (groups=[");
        for (size_t i = 0; i < user->n_groups; i++) {
                if (i)
                        buf_append_char(&b, ' ');
                go_append_quoted(&b, user->groups[i]);
        }
        buf_append_literal(&b, "]) is attempting to grant RBAC permissions not currently held:\n");
        buf_append_str(&b, str_list_join(missing, STR("\n")));
        if (errors->n)
                buf_appendf(&b, "; resolution errors: [%.*s]", STR_ARG(access_join_errors(a, errors)));
        return buf_to_arena(&b, a);
}

/* 1 if the writer has all of the rules, else 0 with the text of the error. */
static int holds(const struct writer *w, const struct rules *rules, struct str *ret_text, struct err *err)
{
        struct str_list missing, errors;
        rules_vec held = { 0 };
        int r;

        str_list_init(&missing, w->run->arena);
        str_list_init(&errors, w->run->arena);
        r = access_held_rules(w->access, w->run, w->ns, w->admission->kind->plural, &held, &errors, err);
        if (r == 0)
                r = rules_describe_missing((struct held_rules) { held.p, held.n }, rules, &missing, err);
        rules_vec_done(&held);
        if (r < 0)
                return r;
        if (missing.n)
                *ret_text = escalation_text(w, &missing, &errors);
        return missing.n == 0;
}

static int check_rules(const struct writer *w, const struct rules *rules, struct err *err)
{
        _cleanup_err_ struct err own = { 0 };
        struct str text;
        int r = holds(w, rules, &text, &own);

        if (r == ERR_LIMIT)
                return forbidden(w, str_from(err_message(&own)), err);
        if (r < 0)
                return err_move(err, &own);
        return r == 0 ? forbidden(w, text, err) : 0;
}

static bool has_aggregation(const struct value *role)
{
        return value_count(value_find(role, "aggregationRule", "clusterRoleSelectors")) > 0;
}

/* An aggregated role can gather everything. */
static int check_aggregation(const struct writer *w, struct err *err)
{
        static const struct str all[] = { STR_INIT("*") };
        _cleanup_(rules_unrefp)
        struct rules *everything = xcalloc(1, sizeof(*everything) + 2 * sizeof(struct access_rule));
        struct str text;
        int r;

        everything->references = 1;
        everything->n = 2;
        everything->p[0] = (struct access_rule) { .verbs = { all, 1 }, .groups = { all, 1 }, .resources = { all, 1 } };
        everything->p[1] = (struct access_rule) { .verbs = { all, 1 }, .urls = { all, 1 } };
        r = holds(w, everything, &text, err);
        if (r == 0)
                return forbidden(w, STR("must have cluster-admin privileges to use the aggregationRule"), err);
        return MIN(r, 0);
}

static int may_escalate(const struct writer *w, bool *ret, struct err *err)
{
        const struct write_request *req = w->admission->request;
        struct access_request question = {
                .verb = STR("escalate"),
                .gvk = req->key.gvk,
                .plural = w->admission->kind->plural,
                .ns = w->ns,
                .name = req->verb == WRITE_CREATE ? STR("") : req->key.name,
        };

        return access_may(w->access, w->run, &question, ret, NULL, err);
}

static int check_role(const struct writer *w, struct err *err)
{
        const struct value *object = w->admission->object;
        _cleanup_(rules_unrefp)
        struct rules *rules = rules_compile(value_get(object, STR("rules")));
        bool is_allowed;
        int r = may_escalate(w, &is_allowed, err);

        if (r < 0 || is_allowed)
                return r;
        r = check_rules(w, rules, err);
        if (r == 0 && (has_aggregation(object) || has_aggregation(w->admission->old)))
                r = check_aggregation(w, err);
        return r;
}

/* --- Bindings --- */

static int may_bind(const struct writer *w, const struct value *ref, bool is_cluster_role, bool *ret, struct err *err)
{
        struct access_request question = {
                .verb = STR("bind"),
                .gvk.group = value_str(value_get(ref, STR("apiGroup"))),
                .plural = is_cluster_role ? STR("clusterroles") : STR("roles"),
                .ns = w->ns,
                .name = value_str(value_get(ref, STR("name"))),
        };

        return access_may(w->access, w->run, &question, ret, NULL, err);
}

/* The API reports a missing role as a missing binding of the role's name. */
static int no_such_role(const struct writer *w, struct str name, struct err *err)
{
        struct status_subject subject = kind_subject(w->admission->kind, name);

        return status_not_found(err, &subject);
}

static int check_binding(const struct writer *w, struct err *err)
{
        const struct value *ref = value_get(w->admission->object, STR("roleRef"));
        struct str kind = value_str(value_get(ref, STR("kind"))), name = value_str(value_get(ref, STR("name")));
        bool is_cluster_role = str_equal(kind, STR("ClusterRole")), is_allowed;
        _cleanup_(rules_unrefp)
        struct rules *rules = NULL;
        int r;

        if (!is_cluster_role && !str_equal(kind, STR("Role")))
                return status_internal(err, "unsupported role reference kind: %.*s",
                                       STR_ARG(go_quote(w->run->arena, kind)));
        r = may_bind(w, ref, is_cluster_role, &is_allowed, err);
        if (r < 0 || is_allowed)
                return r;
        r = access_role_rules(w->access, w->run, is_cluster_role ? STR("") : w->ns, name, &rules, err);
        if (r == 0)
                return no_such_role(w, name, err);
        return r < 0 ? r : check_rules(w, rules, err);
}

/* --- The hook --- */

static const struct value *without_gc_fields(struct arena *a, const struct value *object)
{
        static const char *const fields[] = { "ownerReferences", "finalizers", "managedFields", "resourceVersion" };

        for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
                object = meta_with(a, object, str_from(fields[i]), NULL);
        return object;
}

/* A change of owners and finalizers alone gives nobody anything. */
static bool changes_gc_fields_only(struct arena *a, const struct admission *admission)
{
        return admission->old &&
               value_equal(without_gc_fields(a, admission->old), without_gc_fields(a, admission->object));
}

static int check_write(const struct writer *w, struct err *err)
{
        struct str kind = w->admission->kind->kind;

        if (str_equal(kind, STR("Role")) || str_equal(kind, STR("ClusterRole")))
                return check_role(w, err);
        if (str_equal(kind, STR("RoleBinding")) || str_equal(kind, STR("ClusterRoleBinding")))
                return check_binding(w, err);
        return 0;
}

static int check_escalation(struct access *a, struct run *run, const struct admission *admission, struct err *err)
{
        struct writer w = { .access = a, .run = run, .admission = admission };

        if (!str_equal(admission->kind->group, STR(RBAC_GROUP)) || !admission->object || user_is_master(&run->user) ||
            changes_gc_fields_only(run->arena, admission))
                return 0;
        w.ns = admission->kind->is_namespaced ? admission->request->key.ns : STR("");
        w.name = meta_name(admission->object);
        return check_write(&w, err);
}

static int admit(void *arg, struct run *run, struct admission *admission, struct err *err)
{
        int r = check_escalation(arg, run, admission, err);

        return r < 0 ? r : check_creation(arg, run, admission, err);
}

struct admission_hook access_hook(struct access *a)
{
        a->is_hooked = true;
        return (struct admission_hook) { .name = "access", .admit = admit, .arg = a };
}
