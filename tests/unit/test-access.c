/* Rules, reasons, refusals and escalation. The texts are those of a real kube-apiserver 1.36; tests/interop/access asks it thousands of
 * generated questions more. */
#include "access-test.h"

#define USER(name)  "{'kind':'User','apiGroup':'rbac.authorization.k8s.io','name':'" name "'}"
#define GROUP(name) "{'kind':'Group','apiGroup':'rbac.authorization.k8s.io','name':'" name "'}"

/* --- Matching --- */

TEST(rules_match)
{
        static const struct {
                const char *rule, *question;
                bool is_allowed;
        } cases[] = {
                { "{'verbs':['get'],'apiGroups':[''],'resources':['pods']}", "get -/pods a x", true },
                { "{'verbs':['get'],'apiGroups':[''],'resources':['pods']}", "list -/pods a -", false },
                { "{'verbs':['get'],'apiGroups':[''],'resources':['pods']}", "get apps/pods a x", false },
                { "{'verbs':['get'],'apiGroups':[''],'resources':['pods']}", "get -/pods/log a x", false },
                { "{'verbs':['get'],'apiGroups':[''],'resources':['pods/log']}", "get -/pods/log a x", true },
                { "{'verbs':['get'],'apiGroups':[''],'resources':['pods/log']}", "get -/pods a x", false },
                { "{'verbs':['get'],'apiGroups':[''],'resources':['*/log']}", "get -/pods/log a x", true },
                { "{'verbs':['get'],'apiGroups':[''],'resources':['*/log']}", "get -/pods/status a x", false },
                { "{'verbs':['get'],'apiGroups':[''],'resources':['*/log']}", "get -/pods a x", false },
                { "{'verbs':['get'],'apiGroups':[''],'resources':['pods/*']}", "get -/pods/log a x", false },
                { "{'verbs':['get'],'apiGroups':[''],'resources':['*']}", "get -/pods/log a x", true },
                { "{'verbs':['*'],'apiGroups':['*'],'resources':['*']}", "frob x.y/z - -", true },
                { "{'verbs':['*'],'apiGroups':['*'],'resources':['*']}", "* */* - -", true },
                { "{'verbs':['get','list'],'apiGroups':['*'],'resources':['*']}", "* */* - -", false },
                { "{'verbs':['*'],'apiGroups':['a','b'],'resources':['*']}", "* */* - -", false },
                { "{'verbs':['get'],'apiGroups':[''],'resources':['pods'],'resourceNames':['x','y']}", "get -/pods a y",
                  true },
                { "{'verbs':['get'],'apiGroups':[''],'resources':['pods'],'resourceNames':['x']}", "get -/pods a y",
                  false },
                { "{'verbs':['list'],'apiGroups':[''],'resources':['pods'],'resourceNames':['x']}", "list -/pods a -",
                  false },
                { "{'verbs':['get'],'nonResourceURLs':['/healthz']}", "get /healthz", true },
                { "{'verbs':['get'],'nonResourceURLs':['/healthz']}", "get /healthz/", false },
                { "{'verbs':['get'],'nonResourceURLs':['/healthz/*']}", "get /healthz/etcd", true },
                { "{'verbs':['get'],'nonResourceURLs':['/healthz/*']}", "get /healthz", false },
                { "{'verbs':['get'],'nonResourceURLs':['/heal*']}", "get /healthz", true },
                { "{'verbs':['get'],'nonResourceURLs':['*']}", "get /x", true },
                { "{'verbs':['get'],'nonResourceURLs':['*']}", "get -/pods a x", false },
                { "{'verbs':['get'],'apiGroups':['*'],'resources':['*']}", "get /x", false },
        };
        _cleanup_access_ struct access_fixture f;

        access_fixture_init(&f);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                const struct value *role = role_of(&f, "", "r", arena_printf(&f.store.arena, "[%s]", cases[i].rule).p);
                const struct value *binding = binding_of(&f, "", "b", "ClusterRole/r", "[" USER("u") "]");

                make(&f, role);
                make(&f, binding);
                act_as(&f, "u", NULL, NULL);
                ASSERT_CASE(arena_printf(&f.store.arena, "%s: %s", cases[i].rule, cases[i].question).p,
                            may(&f, cases[i].question) == cases[i].is_allowed);
                remove_as_admin(&f, role);
                remove_as_admin(&f, binding);
                ASSERT(!may(&f, cases[i].question));
        }
}

/* --- Reasons --- */

static const char *const reads = "[{'verbs':['get'],'apiGroups':[''],'resources':['pods']}]";

TEST(reasons)
{
        _cleanup_access_ struct access_fixture f;

        access_fixture_init(&f);
        make(&f, role_of(&f, "", "reader", reads));
        make(&f, role_of(&f, "default", "local", reads));
        make(&f, binding_of(&f, "", "all", "ClusterRole/reader", "[" USER("u1") "," GROUP("g1") "]"));
        make(&f, binding_of(&f, "default", "some", "Role/local",
                            "[" USER("u2") ",{'kind':'ServiceAccount','name':'s'},"
                                           "{'kind':'ServiceAccount','name':'t','namespace':'other'}]"));
        act_as(&f, "u1", NULL, NULL);
        ASSERT_STR(answer(&f, "get -/pods default x"),
                   STR("yes: RBAC: allowed by ClusterRoleBinding \"all\" of ClusterRole \"reader\" to User \"u1\""));
        ASSERT_STR(answer(&f, "list -/pods default -"), STR("no"));
        act_as(&f, "u9", "g0", "g1");
        ASSERT_STR(answer(&f, "get -/pods - x"),
                   STR("yes: RBAC: allowed by ClusterRoleBinding \"all\" of ClusterRole \"reader\" to Group \"g1\""));
        act_as(&f, "u2", NULL, NULL);
        ASSERT_STR(answer(&f, "get -/pods default x"),
                   STR("yes: RBAC: allowed by RoleBinding \"some/default\" of Role \"local\" to User \"u2\""));
        ASSERT_STR(answer(&f, "get -/pods other x"), STR("no"));
        ASSERT_STR(answer(&f, "get -/pods - x"), STR("no"));
        act_as(&f, "system:serviceaccount:default:s", NULL, NULL);
        ASSERT_STR(answer(&f, "get -/pods default x"), STR("yes: RBAC: allowed by RoleBinding \"some/default\" of Role "
                                                           "\"local\" to ServiceAccount \"s/default\""));
        act_as(&f, "system:serviceaccount:other:t", NULL, NULL);
        ASSERT_STR(answer(&f, "get -/pods default x"), STR("yes: RBAC: allowed by RoleBinding \"some/default\" of Role "
                                                           "\"local\" to ServiceAccount \"t/other\""));
        act_as(&f, "x", "system:masters", NULL);
        ASSERT_STR(answer(&f, "get -/pods default x"), STR("yes"));
}

TEST(missing_roles_are_named)
{
        _cleanup_access_ struct access_fixture f;

        access_fixture_init(&f);
        make(&f, binding_of(&f, "", "b1", "ClusterRole/nope", "[" USER("u") "]"));
        act_as(&f, "u", NULL, NULL);
        ASSERT_STR(answer(&f, "get -/pods a x"),
                   STR("no: RBAC: clusterrole.rbac.authorization.k8s.io \"nope\" not found"));
        make(&f, binding_of(&f, "default", "b2", "Role/none", "[" USER("u") "," USER("u") "]"));
        ASSERT_STR(answer(&f, "get -/pods default x"),
                   STR("no: RBAC: [clusterrole.rbac.authorization.k8s.io \"nope\" not found, "
                       "role.rbac.authorization.k8s.io \"none\" not found]"));
        make(&f, role_of(&f, "", "nope", reads));
        ASSERT(may(&f, "get -/pods default x"));
}

TEST(a_role_that_changes_changes_the_answer)
{
        _cleanup_access_ struct access_fixture f;
        const struct value *role;

        access_fixture_init(&f);
        role = role_of(&f, "", "r", reads);
        make(&f, role);
        make(&f, binding_of(&f, "", "b", "ClusterRole/r", "[" USER("u") "]"));
        MUST(&f.store, merge(&f.store, object_key_of(role), JSON(&f.store, "{'rules':null}"), NULL));
        act_as(&f, "u", NULL, NULL);
        ASSERT(!may(&f, "get -/pods a x"));
}

/* The watches of the access fall behind and are opened again; roles that were deleted meanwhile are gone. */
TEST(a_watch_that_expired_is_opened_again)
{
        struct store_options options = { .accepts_any_kind = true, .history_events = 20 };
        struct access_fixture f = { 0 };

        fixture_init_with(&f.store, &options);
        f.store.run.user = test_master();
        MUST(&f.store, access_new(f.store.cluster, &f.access, &f.store.err));
        MUST(&f.store, access_cluster_new(f.store.cluster, f.access, &f.cluster, &f.store.err));
        make(&f, role_of(&f, "", "kept", reads));
        make(&f, role_of(&f, "", "gone", "[{'verbs':['list'],'apiGroups':[''],'resources':['pods']}]"));
        make(&f, binding_of(&f, "", "b1", "ClusterRole/kept", "[" USER("u") "]"));
        make(&f, binding_of(&f, "", "b2", "ClusterRole/gone", "[" USER("u") "]"));
        act_as(&f, "u", NULL, NULL);
        ASSERT(may(&f, "get -/pods a x") && may(&f, "list -/pods a -"));
        remove_as_admin(&f, role_of(&f, "", "gone", "[]"));
        for (int i = 0; i < 100; i++)
                make(&f, role_of(&f, "", arena_printf(&f.store.arena, "r%d", i).p, "[]"));
        ASSERT(may(&f, "get -/pods a x"));
        ASSERT_STR(answer(&f, "list -/pods a -"),
                   STR("no: RBAC: clusterrole.rbac.authorization.k8s.io \"gone\" not found"));
        access_fixture_done(&f);
}

/* --- Refusals --- */

static struct str refusal(struct access_fixture *f, const char *user, const char *question)
{
        struct access_request q = question_of(question);
        struct user u = { .name = str_from(user) };

        err_done(&f->store.err);
        f->store.err = (struct err) { 0 };
        ASSERT_INT(access_forbidden(&u, &q, &f->store.err), ERR_FORBIDDEN);
        ASSERT_INT(f->store.err.reason, REASON_FORBIDDEN);
        return str_from(err_message(&f->store.err));
}

TEST(refusals)
{
        static const struct {
                const char *user, *question, *text, *details;
        } cases[] = {
                { "u3", "get -/configmaps n1 a",
                  "configmaps \"a\" is forbidden: User \"u3\" cannot get resource \"configmaps\" in API group \"\" in "
                  "the "
                  "namespace \"n1\"",
                  "{\"name\":\"a\",\"kind\":\"configmaps\"}" },
                { "u3", "list -/configmaps - n1",
                  "configmaps \"n1\" is forbidden: User \"u3\" cannot list resource \"configmaps\" in API group \"\" "
                  "at "
                  "the cluster scope",
                  "{\"name\":\"n1\",\"kind\":\"configmaps\"}" },
                { "u3", "deletecollection -/configmaps n1 -",
                  "configmaps is forbidden: User \"u3\" cannot deletecollection resource \"configmaps\" in API group "
                  "\"\" in the namespace \"n1\"",
                  "{\"kind\":\"configmaps\"}" },
                { "u3", "create -/serviceaccounts/token n1 default",
                  "serviceaccounts \"default\" is forbidden: User \"u3\" cannot create resource "
                  "\"serviceaccounts/token\" in API group \"\" in the namespace \"n1\"",
                  "{\"name\":\"default\",\"kind\":\"serviceaccounts\"}" },
                { "u4", "create coordination.k8s.io/leases n1 new",
                  "leases.coordination.k8s.io \"new\" is forbidden: User \"u4\" cannot create resource \"leases\" in "
                  "API "
                  "group \"coordination.k8s.io\" in the namespace \"n1\"",
                  "{\"name\":\"new\",\"group\":\"coordination.k8s.io\",\"kind\":\"leases\"}" },
                { "u3", "get /metrics", "forbidden: User \"u3\" cannot get path \"/metrics\"", "{}" },
                { "<u\"&>", "get /x", "forbidden: User \"&lt;u\\\"&amp;&gt;\" cannot get path \"/x\"", "{}" },
        };
        _cleanup_access_ struct access_fixture f;

        access_fixture_init(&f);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                ASSERT_STR_CASE(cases[i].question, refusal(&f, cases[i].user, cases[i].question),
                                str_from(cases[i].text));
                ASSERT_STR_CASE(cases[i].question, str_from(f.store.err.details), str_from(cases[i].details));
        }
}

TEST(rules_reviews)
{
        _cleanup_access_ struct access_fixture f;
        struct value rules;

        access_fixture_init(&f);
        make(&f, role_of(&f, "", "r",
                         "[{'verbs':['get'],'apiGroups':[''],'resources':['pods'],'resourceNames':['x']},"
                         "{'verbs':['get'],'nonResourceURLs':['/x']}]"));
        make(&f, role_of(&f, "default", "l", reads));
        make(&f, binding_of(&f, "", "b", "ClusterRole/r", "[" USER("u") "," GROUP("g") "]"));
        make(&f, binding_of(&f, "", "c", "ClusterRole/nope", "[" USER("u") "]"));
        make(&f, binding_of(&f, "default", "b", "Role/l", "[" USER("u") "]"));
        act_as(&f, "u", "g", NULL);
        MUST(&f.store, access_rules(f.access, &f.store.run, STR("default"), &rules, &f.store.err));
        ASSERT_STR(to_json(&f.store, &rules),
                   STR("{\"evaluationError\":\"clusterrole.rbac.authorization.k8s.io \\\"nope\\\" not found\","
                       "\"incomplete\":false,"
                       "\"nonResourceRules\":[{\"nonResourceURLs\":[\"/x\"],\"verbs\":[\"get\"]}],"
                       "\"resourceRules\":[{\"apiGroups\":[\"\"],\"resourceNames\":[\"x\"],\"resources\":[\"pods\"],"
                       "\"verbs\":[\"get\"]},{\"apiGroups\":[\"\"],\"resources\":[\"pods\"],\"verbs\":[\"get\"]}]}"));
}

/* --- The checking cluster --- */

struct call {
        const char *name;
        int (*run)(struct access_fixture *f);
        const char *permission; /* `VERB GROUP/RESOURCE NAME`: the only one that allows the call */
        const char *refused;    /* the error's text up to the user's name */
};

static int call_write(struct access_fixture *f, struct write_request req)
{
        struct write_result result = { 0 };

        return cluster_write(f->cluster, &f->store.run, &req, &result, &f->store.err);
}

static const struct value *config_map(struct access_fixture *f, const char *name)
{
        return JSON(&f->store, "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'%s','namespace':'default'}}",
                    name);
}

static int call_get(struct access_fixture *f)
{
        struct get_request req = { .key = key_of(config_map_gvk(), "default", "a") };
        struct object *o;

        return cluster_get(f->cluster, &f->store.run, &req, &o, &f->store.err);
}

static int call_get_status(struct access_fixture *f)
{
        struct get_request req = { .key = key_of(widget_gvk(), "default", "w"), .subresource = STR("status") };
        struct object *o;

        return cluster_get(f->cluster, &f->store.run, &req, &o, &f->store.err);
}

static int call_get_namespace(struct access_fixture *f)
{
        struct get_request req = { .key = { .gvk = { STR(""), STR("v1"), STR("Namespace") }, .name = STR("default") } };
        struct object *o;

        return cluster_get(f->cluster, &f->store.run, &req, &o, &f->store.err);
}

static struct field_selector name_selector(struct access_fixture *f, const char *text)
{
        struct field_selector s = { 0 };

        MUST(&f->store, field_selector_parse(&f->store.arena, str_from(text), &s, &f->store.err));
        return s;
}

static int list(struct access_fixture *f, const char *fields)
{
        struct field_selector selector = name_selector(f, fields);
        struct list_request req = { .gvk = config_map_gvk(), .ns = STR("default"), .fields = &selector };
        struct object_list l;

        return cluster_list(f->cluster, &f->store.run, &req, &l, &f->store.err);
}

static int call_list(struct access_fixture *f)
{
        return list(f, "");
}

static int call_list_one(struct access_fixture *f)
{
        return list(f, "metadata.name=a");
}

static int call_watch_one(struct access_fixture *f)
{
        struct field_selector selector = name_selector(f, "metadata.name=a");
        struct watch_request req = { .gvk = config_map_gvk(), .ns = STR("default"), .fields = &selector };
        _cleanup_(watch_freep)
        struct watch *w = NULL;

        return cluster_watch(f->cluster, &f->store.run, &req, &w, &f->store.err);
}

static int call_create(struct access_fixture *f)
{
        const struct value *body = config_map(f, "new");

        return call_write(f, (struct write_request) { .verb = WRITE_CREATE, .key = object_key_of(body), .body = body });
}

static int call_update(struct access_fixture *f)
{
        const struct value *body = config_map(f, "a");

        return call_write(f, (struct write_request) { .verb = WRITE_UPDATE, .key = object_key_of(body), .body = body });
}

static int call_patch(struct access_fixture *f)
{
        return call_write(f, (struct write_request) { .verb = WRITE_MERGE_PATCH,
                                                      .key = key_of(config_map_gvk(), "default", "a"),
                                                      .body = JSON(&f->store, "{'data':{'x':'y'}}") });
}

static int apply(struct access_fixture *f, const char *name)
{
        const struct value *body = config_map(f, name);

        return call_write(f,
                          (struct write_request) {
                                  .verb = WRITE_APPLY, .key = object_key_of(body), .body = body, .manager = STR("m") });
}

static int call_apply(struct access_fixture *f)
{
        return apply(f, "a");
}

static int call_patch_status(struct access_fixture *f)
{
        return call_write(f, (struct write_request) { .verb = WRITE_MERGE_PATCH,
                                                      .key = key_of(widget_gvk(), "default", "w"),
                                                      .subresource = STR("status"),
                                                      .body = JSON(&f->store, "{'status':{'x':'y'}}") });
}

static int call_delete_collection(struct access_fixture *f)
{
        struct field_selector selector = name_selector(f, "metadata.name=a");
        struct list_request req = { .gvk = config_map_gvk(), .ns = STR("default"), .fields = &selector };
        struct write_request deletion = { .verb = WRITE_DELETE };
        struct object_list l;

        return cluster_delete_collection(f->cluster, &f->store.run, &req, &deletion, &l, &f->store.err);
}

static int call_delete(struct access_fixture *f)
{
        return call_write(f, (struct write_request) { .verb = WRITE_DELETE,
                                                      .key = key_of(config_map_gvk(), "default", "a") });
}

/* The only permission that a user has in namespace default. */
static void permit(struct access_fixture *f, const char *user, const char *permission)
{
        struct str rest = str_from(permission), verb, resource, group;
        char *name = str_to_cstring(str_from(user));
        const char *rules;

        str_split(&rest, ' ', &verb);
        str_split(&rest, ' ', &resource);
        str_split(&resource, '/', &group);
        rules = arena_printf(&f->store.arena, "[{'verbs':['%.*s'],'apiGroups':['%.*s'],'resources':['%.*s']%s%.*s%s}]",
                             STR_ARG(verb), STR_ARG(str_equal(group, STR("-")) ? STR("") : group), STR_ARG(resource),
                             rest.n ? ",'resourceNames':['" : "", STR_ARG(rest), rest.n ? "']" : "")
                        .p;
        make(f, role_of(f, "default", user, rules));
        make(f, binding_of(f, "default", user, arena_printf(&f->store.arena, "Role/%s", user).p,
                           arena_printf(&f->store.arena, "[{'kind':'User','name':'%s'}]", user).p));
        free(name);
}

TEST(every_call_is_checked)
{
        static const struct call calls[] = {
                { "get", call_get, "get -/configmaps a", "configmaps \"a\" is forbidden: User " },
                { "get status", call_get_status, "get example.org/widgets/status w",
                  "widgets.example.org \"w\" is forbidden: User " },
                { "get namespace", call_get_namespace, "get -/namespaces default",
                  "namespaces \"default\" is forbidden: User " },
                { "list", call_list, "list -/configmaps", "configmaps is forbidden: User " },
                { "list one", call_list_one, "list -/configmaps a", "configmaps \"a\" is forbidden: User " },
                { "watch one", call_watch_one, "watch -/configmaps a", "configmaps \"a\" is forbidden: User " },
                { "create", call_create, "create -/configmaps", "configmaps is forbidden: User " },
                { "update", call_update, "update -/configmaps a", "configmaps \"a\" is forbidden: User " },
                { "patch", call_patch, "patch -/configmaps a", "configmaps \"a\" is forbidden: User " },
                { "apply", call_apply, "patch -/configmaps a", "configmaps \"a\" is forbidden: User " },
                { "patch status", call_patch_status, "patch example.org/widgets/status w",
                  "widgets.example.org \"w\" is forbidden: User " },
                { "deletecollection", call_delete_collection, "deletecollection -/configmaps",
                  "configmaps is forbidden: User " },
                { "delete", call_delete, "delete -/configmaps a", "configmaps \"a\" is forbidden: User " },
        };
        _cleanup_access_ struct access_fixture f;

        access_fixture_init(&f);
        make(&f, widget(&f.store, "default", "w", ""));
        make(&f, config_map(&f, "a"));
        for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
                permit(&f, arena_printf(&f.store.arena, "u%zu", i).p, calls[i].permission);
        for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
                /* Every other user is refused, unless the permission is the same. */
                for (size_t j = 0; j < ARRAY_SIZE(calls); j++) {
                        if (strcmp(calls[j].permission, calls[i].permission) == 0)
                                continue;
                        if (calls[i].run == call_list_one && calls[j].run == call_list)
                                continue; /* all names */
                        act_as(&f, arena_printf(&f.store.arena, "u%zu", j).p, NULL, NULL);
                        ASSERT_CASE(calls[i].name, calls[i].run(&f) == ERR_FORBIDDEN);
                        ASSERT_STR_CASE(calls[i].name,
                                        str_first(str_from(err_message(&f.store.err)), strlen(calls[i].refused)),
                                        str_from(calls[i].refused));
                }
                act_as(&f, arena_printf(&f.store.arena, "u%zu", i).p, NULL, NULL);
                err_done(&f.store.err);
                f.store.err = (struct err) { 0 };
                if (calls[i].run == call_delete)
                        make(&f, config_map(&f, "a")); /* the delete of the collection removed it */
                ASSERT_STR_CASE(calls[i].name, calls[i].run(&f) < 0 ? str_from(err_message(&f.store.err)) : STR(""),
                                STR(""));
        }
}

static void check_creating_apply(struct access_fixture *f)
{
        make(f, config_map(f, "a"));
        permit(f, "u", "patch -/configmaps");
        act_as(f, "u", NULL, NULL);
        MUST(&f->store, apply(f, "a"));
        ASSERT_INT(apply(f, "new"), ERR_FORBIDDEN);
        ASSERT_TEXT(
                err_message(&f->store.err),
                "configmaps \"new\" is forbidden: User \"u\" cannot create resource \"configmaps\" in API group \"\" "
                "in the namespace \"default\"");
        permit(f, "u-again", "create -/configmaps");
        make(f, binding_of(f, "default", "more", "Role/u-again", "[" USER("u") "]"));
        MUST(&f->store, apply(f, "new"));
}

TEST(an_apply_that_creates_needs_create)
{
        _cleanup_access_ struct access_fixture f;

        access_fixture_init(&f);
        check_creating_apply(&f);
}

TEST(an_apply_that_creates_needs_create_without_the_hook)
{
        struct access_fixture f = { 0 };

        fixture_init(&f.store);
        f.store.run.user = test_master();
        MUST(&f.store, access_new(f.store.cluster, &f.access, &f.store.err));
        MUST(&f.store, access_cluster_new(f.store.cluster, f.access, &f.cluster, &f.store.err));
        check_creating_apply(&f);
        access_fixture_done(&f);
}

TEST(the_catalogue_is_open)
{
        _cleanup_access_ struct access_fixture f;
        const struct kind *kind;
        struct kind_list kinds;
        struct access_request q = question_of("get -/pods a x");
        bool is_allowed = true;

        access_fixture_init(&f);
        act_as(&f, "u", NULL, NULL);
        MUST(&f.store, cluster_kind(f.cluster, &f.store.run, config_map_gvk(), &kind, &f.store.err));
        MUST(&f.store, cluster_resource(f.cluster, &f.store.run, (struct gvr) { STR(""), STR("v1"), STR("configmaps") },
                                        &kind, &f.store.err));
        MUST(&f.store, cluster_kinds(f.cluster, &f.store.run, &kinds, &f.store.err));
        ASSERT(kinds.n > 0);
        ASSERT_INT(cluster_kinds_version(f.cluster), cluster_kinds_version(f.store.cluster));
        MUST(&f.store, cluster_may(f.cluster, &f.store.run, &q, &is_allowed, &f.store.err));
        ASSERT(!is_allowed);
}

/* --- Escalation --- */

static struct str try_create(struct access_fixture *f, const struct value *object)
{
        int r = create(&f->store, object);

        return r < 0 ? arena_copy(&f->store.arena, str_from(err_message(&f->store.err))) : STR("");
}

TEST(roles_cannot_give_more_than_their_writer_has)
{
        _cleanup_access_ struct access_fixture f;

        access_fixture_init(&f);
        make(&f, role_of(&f, "", "r1", "[{'verbs':['get','patch'],'apiGroups':[''],'resources':['configmaps']}]"));
        make(&f, binding_of(&f, "", "b1", "ClusterRole/r1", "[" USER("u1") "]"));
        act_as(&f, "u1", "system:authenticated", NULL);
        ASSERT_STR(try_create(&f,
                              role_of(&f, "", "ok", "[{'verbs':['get'],'apiGroups':[''],'resources':['configmaps']}]")),
                   STR(""));
        ASSERT_STR(
                try_create(&f, role_of(&f, "", "e1",
                                       "[{'verbs':['get','delete'],'apiGroups':['','apps'],'resources':['pods/"
                                       "log','configmaps'],"
                                       "'resourceNames':['a','b']},{'verbs':['get'],'nonResourceURLs':['/x','/y*']}]")),
                STR("clusterroles.rbac.authorization.k8s.io \"e1\" is forbidden: user \"u1\" "
                    "(groups=[\"system:authenticated\"]) is attempting to grant RBAC permissions not currently held:\n"
                    "{APIGroups:[\"\"], Resources:[\"configmaps\"], ResourceNames:[\"a\"], Verbs:[\"delete\"]}\n"
                    "{APIGroups:[\"\"], Resources:[\"configmaps\"], ResourceNames:[\"b\"], Verbs:[\"delete\"]}\n"
                    "{APIGroups:[\"\"], Resources:[\"pods/log\"], ResourceNames:[\"a\"], Verbs:[\"get\" \"delete\"]}\n"
                    "{APIGroups:[\"\"], Resources:[\"pods/log\"], ResourceNames:[\"b\"], Verbs:[\"get\" \"delete\"]}\n"
                    "{APIGroups:[\"apps\"], Resources:[\"configmaps\"], ResourceNames:[\"a\"], Verbs:[\"get\" "
                    "\"delete\"]}\n"
                    "{APIGroups:[\"apps\"], Resources:[\"configmaps\"], ResourceNames:[\"b\"], Verbs:[\"get\" "
                    "\"delete\"]}\n"
                    "{APIGroups:[\"apps\"], Resources:[\"pods/log\"], ResourceNames:[\"a\"], Verbs:[\"get\" "
                    "\"delete\"]}\n"
                    "{APIGroups:[\"apps\"], Resources:[\"pods/log\"], ResourceNames:[\"b\"], Verbs:[\"get\" "
                    "\"delete\"]}\n"
                    "{NonResourceURLs:[\"/x\"], Verbs:[\"get\"]}\n{NonResourceURLs:[\"/y*\"], Verbs:[\"get\"]}"));
        ASSERT_STR(
                try_create(&f, role_of(&f, "", "e1",
                                       "[{'verbs':['*','watch'],'nonResourceURLs':['*']},"
                                       "{'verbs':['watch'],'nonResourceURLs':['/healthz','*']},"
                                       "{'verbs':['watch','watch'],'apiGroups':[''],'resources':['pods']}]")),
                STR("clusterroles.rbac.authorization.k8s.io \"e1\" is forbidden: user \"u1\" "
                    "(groups=[\"system:authenticated\"]) is attempting to grant RBAC permissions not currently held:\n"
                    "{APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"watch\" \"watch\"]}\n"
                    "{NonResourceURLs:[\"*\"], Verbs:[\"*\"]}\n{NonResourceURLs:[\"*\"], Verbs:[\"watch\"]}\n"
                    "{NonResourceURLs:[\"/healthz\"], Verbs:[\"watch\"]}"));
        make(&f, binding_of(&f, "", "bm", "ClusterRole/nope", "[" USER("u1") "]"));
        ASSERT_STR(
                try_create(&f, role_of(&f, "default", "e2", "[{'verbs':['*'],'apiGroups':['*'],'resources':['*']}]")),
                STR("roles.rbac.authorization.k8s.io \"e2\" is forbidden: user \"u1\" "
                    "(groups=[\"system:authenticated\"]) is "
                    "attempting to grant RBAC permissions not currently held:\n{APIGroups:[\"*\"], Resources:[\"*\"], "
                    "Verbs:[\"*\"]}; resolution errors: [roles.rbac.authorization.k8s.io \"nope\" not found]"));
        ASSERT_STR(
                try_create(&f, JSON(&f.store, "{'apiVersion':'rbac.authorization.k8s.io/v1','kind':'ClusterRole',"
                                              "'metadata':{'name':'e2'},'aggregationRule':{'clusterRoleSelectors':["
                                              "{'matchLabels':{'a':'b'}}]}}")),
                STR("clusterroles.rbac.authorization.k8s.io \"e2\" is forbidden: must have cluster-admin privileges to "
                    "use the aggregationRule"));
}

TEST(escalate_and_bind_permit_it)
{
        _cleanup_access_ struct access_fixture f;
        const struct value *all, *bind;

        access_fixture_init(&f);
        make(&f, role_of(&f, "", "esc",
                         "[{'verbs':['escalate'],'apiGroups':['rbac.authorization.k8s.io'],'resources':['roles']},"
                         "{'verbs':['bind'],'apiGroups':['rbac.authorization.k8s.io'],'resources':['clusterroles'],"
                         "'resourceNames':['good']}]"));
        make(&f, role_of(&f, "", "good", reads));
        make(&f, role_of(&f, "", "bad", reads));
        make(&f, binding_of(&f, "", "b", "ClusterRole/esc", "[" USER("u") "]"));
        act_as(&f, "u", NULL, NULL);
        all = role_of(&f, "default", "all", "[{'verbs':['*'],'apiGroups':['*'],'resources':['*']}]");
        ASSERT_STR(try_create(&f, all), STR(""));
        bind = binding_of(&f, "default", "x", "ClusterRole/good", "[" USER("u") "]");
        ASSERT_STR(try_create(&f, bind), STR(""));
        ASSERT_STR(try_create(&f, binding_of(&f, "default", "e2", "ClusterRole/nope", "[]")),
                   STR("rolebindings.rbac.authorization.k8s.io \"nope\" not found"));
        /* The user has what `bad` gives in namespace default, by way of `good`, but nowhere else. */
        ASSERT_STR(try_create(&f, binding_of(&f, "default", "y", "ClusterRole/bad", "[" USER("u") "]")), STR(""));
        ASSERT_STR(try_create(&f, binding_of(&f, "", "y", "ClusterRole/bad", "[" USER("u") "]")),
                   STR("clusterrolebindings.rbac.authorization.k8s.io \"y\" is forbidden: user \"u\" (groups=[]) is "
                       "attempting "
                       "to grant RBAC permissions not currently held:\n{APIGroups:[\"\"], Resources:[\"pods\"], "
                       "Verbs:[\"get\"]}"));
        /* Finalizers and owners may change. */
        act_as(&f, "other", NULL, NULL);
        MUST(&f.store,
             merge(&f.store, object_key_of(all), JSON(&f.store, "{'metadata':{'finalizers':['a/b']}}"), NULL));
        ASSERT_INT(merge(&f.store, object_key_of(all), JSON(&f.store, "{'metadata':{'labels':{'a':'b'}}}"), NULL),
                   ERR_FORBIDDEN);
}

TEST(rules_with_too_many_combinations_are_refused)
{
        _cleanup_access_ struct access_fixture f;
        struct str_list words;
        struct str list;

        access_fixture_init(&f);
        str_list_init(&words, &f.store.arena);
        for (int i = 0; i < 1000; i++)
                str_list_printf(&words, "'w%d'", i);
        list = str_list_join(&words, STR(","));
        act_as(&f, "u", NULL, NULL);
        ASSERT_STR(
                try_create(&f, role_of(&f, "", "big",
                                       arena_printf(&f.store.arena,
                                                    "[{'verbs':[%.*s],'apiGroups':[%.*s],'resources':[%.*s]}]",
                                                    STR_ARG(list), STR_ARG(list), STR_ARG(list))
                                               .p)),
                STR("clusterroles.rbac.authorization.k8s.io \"big\" is forbidden: "
                    "the rules have 1000000000 combinations of verb, group, resource and name, more than the limit of "
                    "100000; write fewer in one role"));
}

/* --- Defaults --- */

static size_t count(struct access_fixture *f, const char *kind)
{
        struct list_request req = { .gvk = { STR("rbac.authorization.k8s.io"), STR("v1"), str_from(kind) } };
        struct object_list l;

        MUST(&f->store, cluster_list(f->store.cluster, &f->store.run, &req, &l, &f->store.err));
        return l.n;
}

static const struct value *cluster_role(struct access_fixture *f, const char *name)
{
        return get(&f->store,
                   (struct object_key) { .gvk = { STR("rbac.authorization.k8s.io"), STR("v1"), STR("ClusterRole") },
                                         .name = str_from(name) });
}

TEST(default_roles)
{
        _cleanup_access_ struct access_fixture f;
        uint64_t version;

        access_fixture_init(&f);
        act_as(&f, "u", "system:authenticated", NULL);
        MUST(&f.store, access_bootstrap(f.store.cluster, &f.store.run, &f.store.err));
        ASSERT_INT(count(&f, "ClusterRole"), 69);
        ASSERT_INT(count(&f, "ClusterRoleBinding"), 50);
        ASSERT_INT(count(&f, "Role"), 7);
        ASSERT_INT(count(&f, "RoleBinding"), 7);
        ASSERT(may(&f, "create authorization.k8s.io/selfsubjectaccessreviews - -"));
        ASSERT(may(&f, "get /api/v1"));
        ASSERT(!may(&f, "get -/pods default x"));
        act_as(&f, "system:anonymous", "system:unauthenticated", NULL);
        ASSERT(may(&f, "get /version"));
        ASSERT(!may(&f, "get /api/v1"));
        version = store_version(f.store.store);
        MUST(&f.store, access_bootstrap(f.store.cluster, &f.store.run, &f.store.err));
        ASSERT_INT(store_version(f.store.store), version);
}

TEST(default_roles_get_back_what_they_lack)
{
        _cleanup_access_ struct access_fixture f;
        const struct value *role;

        access_fixture_init(&f);
        /* basic-user lacks a rule and has one more; the binding of discovery is to another role; monitoring is protected. */
        make(&f, role_of(&f, "", "system:basic-user",
                         "[{'verbs':['create'],'apiGroups':['authorization.k8s.io'],'resources':['"
                         "selfsubjectaccessreviews']},"
                         "{'verbs':['get'],'apiGroups':['x'],'resources':['y']}]"));
        make(&f, binding_of(&f, "", "system:discovery", "ClusterRole/other", "[" USER("x") "]"));
        make(&f, JSON(&f.store,
                      "{'apiVersion':'rbac.authorization.k8s.io/v1','kind':'ClusterRole','metadata':{'name':"
                      "'system:monitoring','annotations':{'rbac.authorization.kubernetes.io/autoupdate':'false'}}}"));
        MUST(&f.store, access_bootstrap(f.store.cluster, &f.store.run, &f.store.err));
        role = cluster_role(&f, "system:basic-user");
        ASSERT_STR(to_json(&f.store, value_get(role, STR("rules"))),
                   STR("[{\"apiGroups\":[\"authorization.k8s.io\"],\"resources\":[\"selfsubjectaccessreviews\"],"
                       "\"verbs\":["
                       "\"create\"]},{\"apiGroups\":[\"x\"],\"resources\":[\"y\"],\"verbs\":[\"get\"]},{\"apiGroups\":["
                       "\"authorization.k8s.io\"],\"resources\":[\"selfsubjectrulesreviews\"],\"verbs\":[\"create\"]},{"
                       "\"apiGroups\":[\"authentication.k8s.io\"],\"resources\":[\"selfsubjectreviews\"],\"verbs\":["
                       "\"create\"]}]"));
        ASSERT_STR(meta_label(role, STR("kubernetes.io/bootstrapping")), STR("rbac-defaults"));
        ASSERT(value_count(value_get(cluster_role(&f, "system:monitoring"), STR("rules"))) == 0);
        act_as(&f, "u", "system:authenticated", NULL);
        ASSERT(may(&f, "get /api/v1"));
}

/* --- Aggregation --- */

/* Waits until the role has as many rules. */
static void await_rules(struct access_fixture *f, const char *name, size_t n)
{
        struct watch_request req = { .gvk = { STR("rbac.authorization.k8s.io"), STR("v1"), STR("ClusterRole") } };
        _cleanup_(watch_freep)
        struct watch *w = NULL;

        MUST(&f->store, cluster_watch(f->store.cluster, &f->store.run, &req, &w, &f->store.err));
        for (;;) {
                const struct value *role = cluster_role(f, name);
                struct watch_event e;

                if (role && value_count(value_get(role, STR("rules"))) == n)
                        return;
                MUST(&f->store, watch_next(w, &f->store.run, &e, &f->store.err));
        }
}

TEST(aggregated_roles_have_the_rules_of_others)
{
        _cleanup_access_ struct access_fixture f;
        const struct value *part;

        access_fixture_init(&f);
        MUST(&f.store, access_start_aggregation(f.access, &f.store.err));
        make(&f, JSON(&f.store,
                      "{'apiVersion':'rbac.authorization.k8s.io/v1','kind':'ClusterRole','metadata':{'name':'sum'},"
                      "'aggregationRule':{'clusterRoleSelectors':[{'matchLabels':{'to':'sum'}},"
                      "{'matchExpressions':[{'key':'also','operator':'Exists'}]}]}}"));
        make(&f, binding_of(&f, "", "b", "ClusterRole/sum", "[" USER("u") "]"));
        part = JSON(&f.store,
                    "{'apiVersion':'rbac.authorization.k8s.io/v1','kind':'ClusterRole','metadata':{'name':'p1',"
                    "'labels':{'to':'sum'}},'rules':%s}",
                    reads);
        make(&f, part);
        await_rules(&f, "sum", 1);
        make(&f,
             JSON(&f.store, "{'apiVersion':'rbac.authorization.k8s.io/v1','kind':'ClusterRole','metadata':{'name':'p0',"
                            "'labels':{'also':'x'}},'rules':[{'verbs':['list'],'apiGroups':[''],'resources':['pods']},"
                            "{'verbs':['get'],'apiGroups':[''],'resources':['pods']}]}"));
        await_rules(&f, "sum", 2);
        act_as(&f, "u", NULL, NULL);
        ASSERT(may(&f, "get -/pods a x") && may(&f, "list -/pods a -"));
        remove_as_admin(&f, part);
        remove_as_admin(&f, cluster_role(&f, "p0"));
        await_rules(&f, "sum", 0);
        ASSERT(!may(&f, "get -/pods a x"));
}

TEST(default_roles_are_aggregated)
{
        _cleanup_access_ struct access_fixture f;

        access_fixture_init(&f);
        MUST(&f.store, access_start_aggregation(f.access, &f.store.err));
        MUST(&f.store, access_bootstrap(f.store.cluster, &f.store.run, &f.store.err));
        await_rules(&f, "view", value_count(value_get(cluster_role(&f, "system:aggregate-to-view"), STR("rules"))));
        make(&f, binding_of(&f, "default", "b", "ClusterRole/admin", "[" USER("u") "]"));
        await_rules(&f, "admin",
                    value_count(value_get(cluster_role(&f, "system:aggregate-to-view"), STR("rules"))) +
                            value_count(value_get(cluster_role(&f, "system:aggregate-to-edit"), STR("rules"))) +
                            value_count(value_get(cluster_role(&f, "system:aggregate-to-admin"), STR("rules"))));
        act_as(&f, "u", NULL, NULL);
        ASSERT(may(&f, "delete -/pods default x") && may(&f, "create rbac.authorization.k8s.io/roles default -"));
        ASSERT(!may(&f, "delete -/nodes - x") && !may(&f, "delete -/pods kube-system x"));
}
