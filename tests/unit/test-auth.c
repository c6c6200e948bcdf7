/* Authentication, impersonation, token requests and reviews on a store. The answers are those of kube-apiserver 1.36.3. */
#include "test.h"

#include "authenticator.h"
#include "buf.h"
#include "clock.h"
#include "pki.h"
#include "private-file.h"
#include "service-token.h"
#include "status.h"
#include "store-test.h"
#include "tls.h"

#define ISSUER "https://localhost"

struct auth {
        struct fixture f;
        struct pki *pki;
        struct access *access;
        struct authenticator *authenticator;
        struct http_head head; /* of the next request */
        struct tls_identity identity;
        bool has_identity;
        struct api_call call;
};

static void auth_init(struct auth *x)
{
        char path[] = "/tmp/weft-tokens.XXXXXX";
        struct authenticator_options options = { .token_file = path, .issuer = ISSUER };
        struct pki_options pki = { 0 };
        int fd = mkstemp(path);

        ASSERT(fd >= 0);
        close(fd);
        *x = (struct auth) { 0 };
        fixture_init(&x->f);
        ASSERT_INT(private_file_write(path, STR("t-admin,admin,1,\"system:masters\"\nt-nobody,nobody,2\n"), NULL), 0);
        MUST(&x->f, pki_open(&pki, &x->pki, &x->f.err));
        MUST(&x->f, access_new(x->f.cluster, &x->access, &x->f.err));
        options.cluster = x->f.cluster;
        options.access = x->access;
        options.pki = x->pki;
        MUST(&x->f, authenticator_new(&options, &x->authenticator, &x->f.err));
        unlink(path);
}

static void auth_done(struct auth *x)
{
        authenticator_free(x->authenticator);
        access_free(x->access);
        pki_free(x->pki);
        fixture_done(&x->f);
}

/* Fields as `name: value` lines. */
static void set_fields(struct auth *x, const char *text)
{
        struct str rest = str_from(text), line, name;

        x->head = (struct http_head) { .method = STR("GET") };
        while (rest.n) {
                str_split(&rest, '\n', &line);
                ASSERT(str_split(&line, ':', &name));
                http_fields_add(&x->head.fields, &x->f.arena, name, str_trim(line));
        }
}

static int who(struct auth *x, struct user *ret)
{
        err_done(&x->f.err);
        x->f.err = (struct err) { 0 };
        return authenticator_user(x->authenticator, &x->f.run, &x->head, x->has_identity ? &x->identity : NULL, ret,
                                  &x->f.err);
}

/* `name/uid|group|group{key=value,value}`, or the error. */
static struct str show(struct auth *x, const char *fields)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct user u = { 0 };

        set_fields(x, fields);
        if (who(x, &u) < 0) {
                buf_appendf(&b, "%d %s", reason_http_status(x->f.err.reason), err_message(&x->f.err));
                return buf_to_arena(&b, &x->f.arena);
        }
        buf_appendf(&b, "%.*s/%.*s", STR_ARG(u.name), STR_ARG(u.uid));
        for (size_t i = 0; i < u.n_groups; i++)
                buf_appendf(&b, "|%.*s", STR_ARG(u.groups[i]));
        for (size_t i = 0; i < u.n_extra; i++) {
                buf_appendf(&b, "{%.*s=", STR_ARG(u.extra[i].key));
                for (size_t k = 0; k < u.extra[i].n_values; k++)
                        buf_appendf(&b, "%s%.*s", k ? "," : "", STR_ARG(u.extra[i].values[k]));
                buf_append_char(&b, '}');
        }
        return buf_to_arena(&b, &x->f.arena);
}

TEST(credentials)
{
        static const struct str groups[] = { STR_INIT("dev"), STR_INIT("ops") };
        static const struct tls_identity alice = {
                .is_verified = true, .common_name = STR_INIT("alice"), .organizations = groups, .n_organizations = 2
        };
        static const struct tls_identity nameless = { .is_verified = true,
                                                      .organizations = groups,
                                                      .n_organizations = 2 };
        static const struct tls_identity unknown = { 0 };
        static const char alices[] = "alice/|dev|ops|system:authenticated{authentication.kubernetes.io/credential-id="
                                     "X509SHA256="
                                     "0000000000000000000000000000000000000000000000000000000000000000}";
        static const char anonymous[] = "system:anonymous/|system:unauthenticated";
        static const struct {
                const struct tls_identity *identity;
                const char *fields, *wanted;
        } cases[] = {
                { NULL, "", anonymous },
                { NULL, "authorization: Bearer t-admin", "admin/1|system:masters|system:authenticated" },
                { NULL, "authorization: bearer t-nobody x", "nobody/2|system:authenticated" },
                { NULL, "authorization: Bearer nonsense", "401 Unauthorized" },
                { NULL, "authorization: Bearer a.b.c", "401 Unauthorized" },
                { NULL, "authorization: Bearer", anonymous },
                { NULL, "authorization: Basic YTpi", anonymous },
                { &alice, "", alices },
                { &alice, "authorization: Bearer nonsense", alices },
                { &nameless, "", anonymous },
                { &unknown, "", "401 Unauthorized" },
                { &unknown, "authorization: Bearer t-nobody", "nobody/2|system:authenticated" },
                { &unknown, "authorization: Bearer nonsense", "401 Unauthorized" },
        };
        struct auth x;

        auth_init(&x);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                x.has_identity = cases[i].identity != NULL;
                if (x.has_identity)
                        x.identity = *cases[i].identity;
                ASSERT_STR_CASE(cases[i].fields, show(&x, cases[i].fields), str_from(cases[i].wanted));
        }
        auth_done(&x);
}

static void allow(struct auth *x, const char *user, const char *verb, const char *group, const char *resource)
{
        static unsigned n;
        struct fixture *f = &x->f;

        n++;
        MUST(f, create(f, JSON(f,
                               "{'apiVersion':'rbac.authorization.k8s.io/v1','kind':'ClusterRole','metadata':{'name':"
                               "'r%u'},'rules':[{'verbs':['%s'],'apiGroups':['%s'],'resources':['%s']}]}",
                               n, verb, group, resource)));
        MUST(f, create(f, JSON(f,
                               "{'apiVersion':'rbac.authorization.k8s.io/v1','kind':'ClusterRoleBinding','metadata':{"
                               "'name':'b%u'},'roleRef':{'apiGroup':'rbac.authorization.k8s.io','kind':'ClusterRole',"
                               "'name':'r%u'},'subjects':[{'apiGroup':'rbac.authorization.k8s.io','kind':'User',"
                               "'name':'%s'}]}",
                               n, n, user)));
}

#define AS_ADMIN  "authorization: Bearer t-admin\n"
#define AS_NOBODY "authorization: Bearer t-nobody\n"

TEST(impersonation)
{
        static const struct {
                const char *fields, *wanted;
        } cases[] = {
                { AS_ADMIN "impersonate-user: bob", "bob/|system:authenticated" },
                { AS_ADMIN "impersonate-user: bob\nimpersonate-group: g1\nimpersonate-group: g2\nimpersonate-uid: u-1\n"
                           "impersonate-extra-scopes: a\nimpersonate-extra-scopes: b\n"
                           "impersonate-extra-example.com%2Fkey: c",
                  "bob/u-1|g1|g2|system:authenticated{scopes=a,b}{example.com/key=c}" },
                { AS_ADMIN "impersonate-user: system:serviceaccount:default:x",
                  "system:serviceaccount:default:x/|system:serviceaccounts|system:serviceaccounts:default|"
                  "system:authenticated" },
                { AS_ADMIN "impersonate-user: system:anonymous", "system:anonymous/|system:unauthenticated" },
                { AS_ADMIN "impersonate-user: bob\nimpersonate-group: system:authenticated",
                  "bob/|system:authenticated" },
                { AS_ADMIN "impersonate-user: bob\nimpersonate-group: system:unauthenticated",
                  "bob/|system:unauthenticated" },
                { AS_ADMIN "impersonate-user:", "admin/1|system:masters|system:authenticated" },
                { AS_ADMIN "impersonate-group: g1",
                  "400 requested &user.DefaultInfo{Name:\"\", UID:\"\", Groups:[]string{\"g1\"}, "
                  "Extra:map[string][]string(nil)} without impersonating a user name" },
                { AS_ADMIN "impersonate-uid: g1",
                  "400 requested &user.DefaultInfo{Name:\"\", UID:\"g1\", Groups:[]string(nil), "
                  "Extra:map[string][]string(nil)} without impersonating a user name" },
                { AS_ADMIN "impersonate-extra-a: g1",
                  "400 requested &user.DefaultInfo{Name:\"\", UID:\"\", Groups:[]string(nil), "
                  "Extra:map[string][]string{\"a\":[]string{\"g1\"}}} without impersonating a user name" },
                { AS_NOBODY "impersonate-user: bob", "bob/|system:authenticated" },
                { AS_NOBODY "impersonate-user: system:serviceaccount:default:x",
                  "403 serviceaccounts \"x\" is forbidden: User \"nobody\" cannot impersonate resource "
                  "\"serviceaccounts\" in API group \"\" in the namespace \"default\"" },
                { AS_NOBODY "impersonate-user: bob\nimpersonate-group: g1",
                  "403 groups \"g1\" is forbidden: User \"nobody\" cannot impersonate resource \"groups\" in API group "
                  "\"\" at the cluster scope" },
                { AS_NOBODY "impersonate-user: bob\nimpersonate-uid: u",
                  "403 uids.authentication.k8s.io \"u\" is forbidden: User \"nobody\" cannot impersonate resource "
                  "\"uids\" in API group \"authentication.k8s.io\" at the cluster scope" },
                { AS_NOBODY "impersonate-user: bob\nimpersonate-extra-foo: v",
                  "403 userextras.authentication.k8s.io \"v\" is forbidden: User \"nobody\" cannot impersonate "
                  "resource "
                  "\"userextras/foo\" in API group \"authentication.k8s.io\" at the cluster scope" },
                { AS_NOBODY "impersonate-user: bob\nimpersonate-extra-ok: v", "bob/|system:authenticated{ok=v}" },
                { "impersonate-user: bob",
                  "403 users \"bob\" is forbidden: User \"system:anonymous\" cannot impersonate resource \"users\" in "
                  "API group \"\" at the cluster scope" },
        };
        struct auth x;

        auth_init(&x);
        allow(&x, "nobody", "impersonate", "", "users");
        allow(&x, "nobody", "impersonate", "authentication.k8s.io", "userextras/ok");
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
                ASSERT_STR_CASE(cases[i].fields, show(&x, cases[i].fields), str_from(cases[i].wanted));
        auth_done(&x);
}

/* --- Tokens of service accounts --- */

static const struct value *create_object(struct auth *x, const char *kind, const char *name, const char *more)
{
        struct fixture *f = &x->f;
        struct write_result result;
        const struct value *body =
                JSON(f, "{'apiVersion':'v1','kind':'%s','metadata':{'name':'%s','namespace':'default'}%s}", kind, name,
                     more);

        MUST(f,
             write_request(f, (struct write_request) { .verb = WRITE_CREATE, .key = object_key_of(body), .body = body },
                           &result));
        return result.value;
}

static void delete_object(struct auth *x, const char *kind, const char *name)
{
        MUST(&x->f,
             delete_with(&x->f, key_of((struct gvk) { .version = STR("v1"), .kind = str_from(kind) }, "default", name),
                         PROPAGATE_BACKGROUND));
}

static void prepare_call(struct auth *x)
{
        err_done(&x->f.err);
        x->f.err = (struct err) { 0 };
        x->call = (struct api_call) { .run = x->f.run, .cluster = x->f.cluster, .head = &x->head };
}

/* The answer, or the error as a Status. */
static const struct value *request_token(struct auth *x, const char *account, const char *spec)
{
        const struct value *answer, *body = JSON(&x->f, "{'spec':{%s}}", spec);
        struct value *status;

        prepare_call(x);
        if (token_request_create(x->authenticator, &x->call, STR("default"), str_from(account), body, &answer,
                                 &x->f.err) == 0)
                return answer;
        status = arena_alloc(&x->f.arena, sizeof(*status));
        *status = status_of_err(&x->f.arena, &x->f.err);
        return status;
}

static struct str token_of(const struct value *answer)
{
        return value_str(value_find(answer, "status", "token"));
}

static struct str show_token(struct auth *x, struct str token)
{
        return show(x, arena_printf(&x->f.arena, "authorization: Bearer %.*s", STR_ARG(token)).p);
}

static struct str wanted_robot(struct auth *x, const struct value *account, struct str shown)
{
        ptrdiff_t at = str_find(shown, STR("JTI="));

        if (at < 0)
                return STR("a user with a credential id");
        return arena_printf(&x->f.arena,
                            "system:serviceaccount:default:robot/%.*s|system:serviceaccounts|"
                            "system:serviceaccounts:default|system:authenticated"
                            "{authentication.kubernetes.io/credential-id=%.*s",
                            STR_ARG(meta_uid(account)), STR_ARG(str_skip(shown, (size_t)at)));
}

TEST(token_requests)
{
        static const struct {
                const char *account, *spec, *message;
        } errors[] = {
                { "robot", "'expirationSeconds':100",
                  "TokenRequest.authentication.k8s.io \"\" is invalid: spec.expirationSeconds: Invalid value: 100: may "
                  "not specify a duration less than 10 minutes" },
                { "robot", "'expirationSeconds':0",
                  "TokenRequest.authentication.k8s.io \"\" is invalid: spec.expirationSeconds: Invalid value: 0: may "
                  "not specify a duration less than 10 minutes" },
                { "robot", "'expirationSeconds':4294967297",
                  "TokenRequest.authentication.k8s.io \"\" is invalid: spec.expirationSeconds: Invalid value: "
                  "4294967297: may not specify a duration larger than 2^32 seconds" },
                { "robot", "'boundObjectRef':{'kind':'Secret','apiVersion':'v1','name':'nope'}",
                  "secrets \"nope\" not found" },
                { "robot", "'boundObjectRef':{'kind':'Secret','apiVersion':'v1','name':'s1','uid':'zzz'}",
                  "Operation cannot be fulfilled on Secret \"s1\": the UID in the bound object reference (zzz) does "
                  "not "
                  "match the UID in record. The object might have been deleted and then recreated" },
                { "robot", "'boundObjectRef':{'kind':'ConfigMap','apiVersion':'v1','name':'s1'}",
                  "cannot bind token to object of type /v1, Kind=ConfigMap" },
                { "robot", "'boundObjectRef':{'kind':'Pod','apiVersion':'v1','name':'p1'}",
                  "cannot bind token for serviceaccount \"robot\" to pod running with different serviceaccount name." },
                { "none", "", "serviceaccounts \"none\" not found" },
        };
        const struct value *answer, *account;
        struct auth x;
        struct str shown;

        auth_init(&x);
        account = create_object(&x, "ServiceAccount", "robot", "");
        create_object(&x, "Secret", "s1", "");
        create_object(&x, "Pod", "p1",
                      ",'spec':{'serviceAccountName':'other','containers':[{'name':'a','image':'b'}]}");
        answer = request_token(&x, "robot", "");
        ASSERT_STR(value_str(value_get(answer, STR("kind"))), STR("TokenRequest"));
        ASSERT_STR(value_str(value_find(answer, "metadata", "name")), STR("robot"));
        ASSERT_STR(value_str(value_find(answer, "metadata", "uid")), meta_uid(account));
        ASSERT_STR(to_json(&x.f, value_get(answer, STR("spec"))),
                   STR("{\"audiences\":[\"" ISSUER "\"],\"boundObjectRef\":null,\"expirationSeconds\":3600}"));
        shown = show_token(&x, token_of(answer));
        ASSERT_STR(shown, wanted_robot(&x, account, shown));
        answer = request_token(&x, "robot", "'audiences':['x','y'],'expirationSeconds':700");
        ASSERT_STR(to_json(&x.f, value_get(answer, STR("spec"))),
                   STR("{\"audiences\":[\"x\",\"y\"],\"boundObjectRef\":null,\"expirationSeconds\":700}"));
        ASSERT_STR(show_token(&x, token_of(answer)), STR("401 Unauthorized"));
        for (size_t i = 0; i < ARRAY_SIZE(errors); i++)
                ASSERT_STR_CASE(
                        errors[i].spec,
                        value_str(value_get(request_token(&x, errors[i].account, errors[i].spec), STR("message"))),
                        str_from(errors[i].message));
        auth_done(&x);
}

/* A token ends with its time, with its account, and with the object that it is bound to. */
TEST(tokens_end)
{
        struct str plain, bound, shown;
        const struct value *account;
        struct sim_clock clock;
        struct auth x;

        auth_init(&x);
        account = create_object(&x, "ServiceAccount", "robot", "");
        create_object(&x, "Secret", "s1", "");
        plain = token_of(request_token(&x, "robot", "'expirationSeconds':600"));
        bound = token_of(
                request_token(&x, "robot", "'boundObjectRef':{'kind':'Secret','apiVersion':'v1','name':'s1'}"));
        shown = show_token(&x, bound);
        ASSERT_STR(shown, wanted_robot(&x, account, shown));
        sim_clock_init(&clock, clock_wall());
        clock_use_here(&clock);
        sim_clock_step_wall(&clock, 655 * NS_PER_SECOND); /* a minute of grace */
        shown = show_token(&x, plain);
        ASSERT_STR(shown, wanted_robot(&x, account, shown));
        sim_clock_step_wall(&clock, 10 * NS_PER_SECOND);
        ASSERT_STR(show_token(&x, plain), STR("401 Unauthorized"));
        shown = show_token(&x, bound);
        ASSERT_STR(shown, wanted_robot(&x, account, shown));
        sim_clock_step_wall(&clock, -900 * NS_PER_SECOND); /* not valid yet */
        ASSERT_STR(show_token(&x, plain), STR("401 Unauthorized"));
        clock_use_here(NULL);
        delete_object(&x, "Secret", "s1");
        ASSERT_STR(show_token(&x, bound), STR("401 Unauthorized"));
        create_object(&x, "Secret", "s1", ""); /* another one of that name */
        ASSERT_STR(show_token(&x, bound), STR("401 Unauthorized"));
        shown = show_token(&x, plain);
        ASSERT_STR(shown, wanted_robot(&x, account, shown));
        delete_object(&x, "ServiceAccount", "robot");
        ASSERT_STR(show_token(&x, plain), STR("401 Unauthorized"));
        create_object(&x, "ServiceAccount", "robot", "");
        ASSERT_STR(show_token(&x, plain), STR("401 Unauthorized"));
        auth_done(&x);
}

/* Another server's key. */
TEST(tokens_of_others)
{
        struct auth x, y;
        struct str token;

        auth_init(&x);
        auth_init(&y);
        create_object(&x, "ServiceAccount", "robot", "");
        create_object(&y, "ServiceAccount", "robot", "");
        token = arena_copy(&x.f.arena, token_of(request_token(&y, "robot", "")));
        ASSERT_STR(show_token(&x, token), STR("401 Unauthorized"));
        auth_done(&y);
        auth_done(&x);
}

/* --- Reviews --- */

static const struct value *review(struct auth *x, const char *group, const char *plural, const char *body)
{
        struct gvr gvr = { str_from(group), STR("v1"), str_from(plural) };
        const struct value *answer;
        struct value *status;
        struct user user = { 0 };
        struct str ns = str_equal(gvr.plural, STR("localsubjectaccessreviews")) ? STR("default") : STR("");

        ASSERT(review_is_one(gvr));
        ASSERT_INT(who(x, &user), 0);
        prepare_call(x);
        x->call.run.user = user;
        if (review_create(x->authenticator, &x->call, gvr, ns, JSON(&x->f, "%s", body), &answer, &x->f.err) == 0)
                return answer;
        status = arena_alloc(&x->f.arena, sizeof(*status));
        *status = status_of_err(&x->f.arena, &x->f.err);
        return status;
}

TEST(reviews_of_access)
{
        static const struct {
                const char *plural, *fields, *body, *wanted; /* part of the answer */
        } cases[] = {
                { "subjectaccessreviews", AS_ADMIN,
                  "{'spec':{'user':'x','groups':['system:masters'],'resourceAttributes':{'verb':'get','resource':"
                  "'pods','namespace':'default'}}}",
                  "{\"apiVersion\":\"authorization.k8s.io/"
                  "v1\",\"kind\":\"SubjectAccessReview\",\"metadata\":{},\"spec\":"
                  "{\"groups\":[\"system:masters\"],\"resourceAttributes\":{\"namespace\":\"default\",\"resource\":"
                  "\"pods\",\"verb\":\"get\"},\"user\":\"x\"},\"status\":{\"allowed\":true}}" },
                { "subjectaccessreviews", AS_ADMIN,
                  "{'spec':{'user':'nobody','resourceAttributes':{'verb':'get','resource':'pods'}}}",
                  "\"status\":{\"allowed\":false}}" },
                { "subjectaccessreviews", AS_ADMIN,
                  "{'spec':{'user':'nobody','resourceAttributes':{'verb':'impersonate','resource':'users','name':'z'}}"
                  "}",
                  "\"status\":{\"allowed\":true,\"reason\":\"RBAC: allowed by ClusterRoleBinding" },
                { "subjectaccessreviews", AS_ADMIN,
                  "{'spec':{'user':'nobody','resourceAttributes':{'verb':'get','resource':'pods'},"
                  "'nonResourceAttributes':{'verb':'get','path':'/healthz'}}}",
                  "\"message\":\".authorization.k8s.io \\\"\\\" is invalid: spec.nonResourceAttributes: Invalid value: "
                  "{\\\"Path\\\":\\\"/healthz\\\",\\\"Verb\\\":\\\"get\\\"}: cannot be specified in combination with "
                  "resourceAttributes\"" },
                { "subjectaccessreviews", AS_ADMIN, "{'spec':{'user':'nobody'}}",
                  "\"message\":\".authorization.k8s.io \\\"\\\" is invalid: spec.resourceAttributes: Invalid value: "
                  "null: exactly one of nonResourceAttributes or resourceAttributes must be specified\"" },
                { "subjectaccessreviews", AS_ADMIN, "{'spec':{'resourceAttributes':{'verb':'get','resource':'pods'}}}",
                  "\"message\":\".authorization.k8s.io \\\"\\\" is invalid: spec.user: Invalid value: \\\"\\\": at "
                  "least "
                  "one of user or group must be specified\"" },
                { "subjectaccessreviews", AS_ADMIN, "{}",
                  "\"message\":\".authorization.k8s.io \\\"\\\" is invalid: [spec.resourceAttributes: Invalid value: "
                  "null: exactly one of nonResourceAttributes or resourceAttributes must be specified, spec.user: "
                  "Invalid value: \\\"\\\": at least one of user or group must be specified]\"" },
                { "subjectaccessreviews", AS_ADMIN, "{'spec':{'user':7}}", "\"reason\":\"BadRequest\"" },
                { "localsubjectaccessreviews", AS_ADMIN,
                  "{'spec':{'user':'nobody','resourceAttributes':{'namespace':'default','verb':'get','resource':'pods'}"
                  "}"
                  "}",
                  "\"metadata\":{\"namespace\":\"default\"}" },
                { "localsubjectaccessreviews", AS_ADMIN,
                  "{'spec':{'user':'nobody','resourceAttributes':{'namespace':'kube-system','verb':'get','resource':"
                  "'pods'}}}",
                  "spec.resourceAttributes.namespace: Invalid value: \\\"kube-system\\\": must match "
                  "metadata.namespace\"" },
                { "localsubjectaccessreviews", AS_ADMIN,
                  "{'metadata':{'namespace':'kube-system'},'spec':{'user':'nobody','resourceAttributes':{'verb':'get'}}"
                  "}",
                  "\"message\":\"the namespace of the provided object does not match the namespace sent on the "
                  "request\"" },
                { "localsubjectaccessreviews", AS_ADMIN,
                  "{'spec':{'user':'nobody','nonResourceAttributes':{'path':'/x','verb':'get'}}}",
                  "spec.nonResourceAttributes: Invalid value: {\\\"Path\\\":\\\"/x\\\",\\\"Verb\\\":\\\"get\\\"}: "
                  "disallowed on this kind of request\"" },
                { "selfsubjectaccessreviews", AS_ADMIN,
                  "{'spec':{'resourceAttributes':{'verb':'*','resource':'*','group':'*'}}}",
                  "\"status\":{\"allowed\":true}}" },
                { "selfsubjectaccessreviews", AS_NOBODY,
                  "{'spec':{'resourceAttributes':{'verb':'get','resource':'pods'}}}",
                  "\"spec\":{\"resourceAttributes\":{\"resource\":\"pods\",\"verb\":\"get\"}},\"status\":{\"allowed\":"
                  "false}}" },
                { "selfsubjectrulesreviews", AS_NOBODY, "{'spec':{}}", "\"message\":\"no namespace on request\"" },
                { "selfsubjectrulesreviews", AS_NOBODY, "{'spec':{'namespace':'default'}}",
                  "\"metadata\":{},\"spec\":{},\"status\":{\"incomplete\":false,\"nonResourceRules\":[" },
                { "selfsubjectaccessreviews", AS_ADMIN, "{'apiVersion':'v1','kind':'Pod'}",
                  "\"message\":\"Pod in version \\\"v1\\\" cannot be handled as a SelfSubjectAccessReview: converting "
                  "(v1.Pod) to (authorization.SelfSubjectAccessReview): unknown conversion\"" },
        };
        struct auth x;

        auth_init(&x);
        allow(&x, "nobody", "impersonate", "", "users");
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct str answer;

                set_fields(&x, cases[i].fields);
                answer = to_json(&x.f, review(&x, "authorization.k8s.io", cases[i].plural, cases[i].body));
                if (str_find(answer, str_from(cases[i].wanted)) < 0)
                        test_fail(__FILE__, __LINE__, "case %zu: %.*s", i, STR_ARG(answer));
        }
        auth_done(&x);
}

static void expect_token_review(struct auth *x, struct str token, const char *audiences, const char *wanted)
{
        struct str answer =
                to_json(&x->f,
                        review(x, "authentication.k8s.io", "tokenreviews",
                               arena_printf(&x->f.arena, "{'spec':{'token':'%.*s'%s}}", STR_ARG(token), audiences).p));

        if (str_find(answer, str_from(wanted)) < 0)
                test_fail(__FILE__, __LINE__, "%s: %.*s", wanted, STR_ARG(answer));
}

TEST(reviews_of_tokens)
{
        struct str api, other;
        struct auth x;

        auth_init(&x);
        create_object(&x, "ServiceAccount", "robot", "");
        api = token_of(request_token(&x, "robot", ""));
        other = token_of(request_token(&x, "robot", "'audiences':['x']"));
        set_fields(&x, AS_ADMIN);
        expect_token_review(&x, STR("t-admin"), "",
                            "\"status\":{\"audiences\":[\"" ISSUER "\"],\"authenticated\":true,\"user\":{\"groups\":["
                            "\"system:masters\",\"system:authenticated\"],\"uid\":\"1\",\"username\":\"admin\"}}}");
        expect_token_review(&x, STR("t-admin"), ",'audiences':['x']",
                            "\"status\":{\"error\":\"invalid bearer token\",\"user\":{}}}");
        expect_token_review(&x, STR("nonsense"), "", "\"status\":{\"error\":\"invalid bearer token\",\"user\":{}}}");
        expect_token_review(&x, STR(""), "", "\"message\":\"token is required for TokenReview in authentication\"");
        expect_token_review(&x, api, "", "\"status\":{\"audiences\":[\"" ISSUER "\"],\"authenticated\":true,");
        expect_token_review(&x, api, ",'audiences':['x']",
                            "\"status\":{\"error\":\"[invalid bearer token, token audiences [\\\"" ISSUER
                            "\\\"] is invalid for the target audiences [\\\"x\\\"]]\",\"user\":{}}}");
        expect_token_review(&x, other, ",'audiences':['x','y']",
                            "\"status\":{\"audiences\":[\"x\"],\"authenticated\":true,");
        expect_token_review(&x, str_first(api, api.n - 2), "",
                            "\"error\":\"[invalid bearer token, go-jose/go-jose: error in cryptographic primitive]\"");
        auth_done(&x);
}

TEST(who_am_i)
{
        struct str answer;
        struct auth x;

        auth_init(&x);
        set_fields(&x, AS_ADMIN "impersonate-user: bob\nimpersonate-extra-k: v");
        answer = to_json(&x.f, review(&x, "authentication.k8s.io", "selfsubjectreviews", "{}"));
        ASSERT(str_find(answer, STR("\"status\":{\"userInfo\":{\"extra\":{\"k\":[\"v\"]},\"groups\":["
                                    "\"system:authenticated\"],\"username\":\"bob\"}}}")) >= 0);
        auth_done(&x);
}

TEST(issuer_documents)
{
        struct api_reply reply = { 0 };
        struct auth x;

        auth_init(&x);
        prepare_call(&x);
        set_fields(&x, "");
        x.head.authority = STR("127.0.0.1:6443");
        x.call.path = STR("/.well-known/openid-configuration");
        ASSERT_INT(issuer_handle(x.authenticator, &x.call, &reply, &x.f.err), 0);
        ASSERT_STR(reply.body->str,
                   STR("{\"issuer\":\"https://localhost\",\"jwks_uri\":\"https://127.0.0.1:6443/openid/v1/jwks\","
                       "\"response_types_supported\":[\"id_token\"],\"subject_types_supported\":[\"public\"],"
                       "\"id_token_signing_alg_values_supported\":[\"ES256\"]}"));
        bytes_unref(reply.body);
        x.call.path = STR("/openid/v1/jwks");
        ASSERT_INT(issuer_handle(x.authenticator, &x.call, &reply, &x.f.err), 0);
        ASSERT_STR(reply.content_type, STR("application/jwk-set+json"));
        ASSERT(str_starts_with(reply.body->str, STR("{\"keys\":[{\"use\":\"sig\",\"kty\":\"EC\",\"kid\":\"")));
        bytes_unref(reply.body);
        x.head.method = STR("POST");
        ASSERT(issuer_handle(x.authenticator, &x.call, &reply, &x.f.err) < 0);
        ASSERT_INT(x.f.err.reason, REASON_METHOD_NOT_ALLOWED);
        auth_done(&x);
}
