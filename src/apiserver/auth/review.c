/* Reviews: questions in the form of objects that are created and never stored (docs/spec/apiserver 9.4). */
#include "authenticator-state.h"

#include "review.h"
#include "status.h"
#include "str-list.h"

#define AUTHENTICATION STR_INIT("authentication.k8s.io")
#define AUTHORIZATION  STR_INIT("authorization.k8s.io")

/* --- Who am I, whose is this token --- */

static struct value extra_value(struct arena *a, const struct user *u)
{
        struct object_builder b;
        struct value v;

        object_builder_init(&b, a, u->n_extra);
        for (size_t i = 0; i < u->n_extra; i++)
                object_builder_set(&b, u->extra[i].key, review_texts(a, u->extra[i].values, u->extra[i].n_values));
        v = object_builder_finish(&b);
        return *value_sorted(a, &v);
}

static struct value user_value(struct arena *a, const struct user *u)
{
        struct object_builder b;

        object_builder_init(&b, a, 4);
        if (u->name.n)
                object_builder_add(&b, STR("username"), value_of_str(u->name));
        if (u->uid.n)
                object_builder_add(&b, STR("uid"), value_of_str(u->uid));
        if (u->n_groups)
                object_builder_add(&b, STR("groups"), review_texts(a, u->groups, u->n_groups));
        if (u->n_extra)
                object_builder_add(&b, STR("extra"), extra_value(a, u));
        return object_builder_finish(&b);
}

static int answer_self(struct review *r, const struct value **ret, struct err *err)
{
        struct arena *a = r->run->arena;
        struct object_builder metadata, status;

        (void)err;
        object_builder_init(&metadata, a, 1);
        object_builder_add(&metadata, STR("creationTimestamp"), review_now(a));
        object_builder_init(&status, a, 1);
        object_builder_add(&status, STR("userInfo"), user_value(a, &r->run->user));
        *ret = review_answer(r, object_builder_finish(&metadata), NULL, object_builder_finish(&status));
        return 0;
}

static struct value token_status(struct arena *a, const struct user *u, const struct str_list *audiences,
                                 const char *error)
{
        struct object_builder b;

        object_builder_init(&b, a, 4);
        if (!error)
                object_builder_add(&b, STR("authenticated"), value_of_bool(true));
        object_builder_add(&b, STR("user"), user_value(a, u));
        if (!error)
                object_builder_add(&b, STR("audiences"), review_texts(a, audiences->p, audiences->n));
        else
                object_builder_add(&b, STR("error"), value_of_str(arena_copy(a, str_from(error))));
        return object_builder_finish(&b);
}

static int answer_token(struct review *r, const struct value **ret, struct err *err)
{
        static const struct review_field types[] = { { "token", "spec.token", REVIEW_TEXT },
                                                     { "audiences", "spec.audiences", REVIEW_TEXTS },
                                                     { 0 } };
        static const char *const fields[] = { "token", "audiences", NULL };
        static const char *const metadata[] = { "name", "generateName", "labels", "annotations", NULL };
        struct authenticator *authenticator = r->authenticator;
        struct arena *a = r->run->arena;
        struct str token = value_str(value_get(r->spec, STR("token")));
        const struct str *audiences = &authenticator->issuer.issuer;
        _cleanup_err_ struct err why = { 0 };
        struct user user = { 0 };
        struct str_list found;
        struct value spec, status;
        size_t n = 1;
        int result = review_check_types(r->kind->kind, r->spec, types, err);

        if (result < 0)
                return result;
        if (token.n == 0)
                return status_bad_request(err, "token is required for TokenReview in authentication");
        if (value_count(value_get(r->spec, STR("audiences"))) > 0)
                review_read_texts(a, value_get(r->spec, STR("audiences")), &audiences, &n);
        str_list_init(&found, a);
        result = authenticator_token(authenticator, r->run, token, audiences, n, &user, &found, &why);
        if (result < 0 && result != ERR_FORBIDDEN)
                return err_move(err, &why);
        if (result < 0)
                user = (struct user) { 0 };
        status = token_status(a, &user, &found, result < 0 ? err_message(&why) : NULL);
        spec = review_pick(a, r->spec, fields);
        *ret = review_answer(r, review_pick(a, value_get(r->body, STR("metadata")), metadata), &spec, status);
        return 0;
}

/* --- All of them --- */

static const struct review_kind kinds[] = {
        { AUTHENTICATION, STR_INIT("tokenreviews"), "TokenReview", false, answer_token },
        { AUTHENTICATION, STR_INIT("selfsubjectreviews"), "SelfSubjectReview", false, answer_self },
        { AUTHORIZATION, STR_INIT("subjectaccessreviews"), "SubjectAccessReview", false, review_subject_access },
        { AUTHORIZATION, STR_INIT("localsubjectaccessreviews"), "LocalSubjectAccessReview", true,
          review_subject_access },
        { AUTHORIZATION, STR_INIT("selfsubjectaccessreviews"), "SelfSubjectAccessReview", false, review_self_access },
        { AUTHORIZATION, STR_INIT("selfsubjectrulesreviews"), "SelfSubjectRulesReview", false, review_self_rules },
};

static const struct review_kind *find_kind(struct gvr gvr)
{
        for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
                if (str_equal(gvr.plural, kinds[i].plural) && str_equal(gvr.group, kinds[i].group) &&
                    str_equal(gvr.version, STR("v1")))
                        return &kinds[i];
        return NULL;
}

bool review_is_one(struct gvr gvr)
{
        return find_kind(gvr) != NULL;
}

int review_check_access(struct api_call *call, const struct access_request *req, struct err *err)
{
        bool may = false;
        int r = cluster_may(call->cluster, &call->run, req, &may, err);

        if (r < 0)
                return r;
        return may ? 0 : access_forbidden(&call->run.user, req, err);
}

static int check_place(const struct review *r, struct err *err)
{
        struct arena *a = r->run->arena;
        struct str given = meta_namespace(r->body);
        const char *package =
                str_equal(r->kind->group, STR("authentication.k8s.io")) ? "authentication" : "authorization";
        int result =
                review_check_kind(a, r->body, ARENA_CONCAT(a, r->kind->group, STR("/v1")), r->kind->kind, package, err);

        if (result < 0)
                return result;
        if (r->kind->is_namespaced && given.n && !str_equal(given, r->ns))
                return status_bad_request(
                        err, "the namespace of the provided object does not match the namespace sent on the request");
        return 0;
}

int review_create(struct authenticator *a, struct api_call *call, struct gvr gvr, struct str ns,
                  const struct value *body, const struct value **ret, struct err *err)
{
        const struct review_kind *kind = find_kind(gvr);
        struct access_request req = { .verb = STR("create"),
                                      .gvk = { .group = gvr.group, .version = gvr.version },
                                      .plural = gvr.plural,
                                      .ns = ns };
        struct review r = { .authenticator = a,
                            .run = &call->run,
                            .kind = kind,
                            .ns = ns,
                            .body = body,
                            .spec = value_get(body, STR("spec")) };
        int result;

        assert(kind);
        field_errors_init(&r.errors, call->run.arena);
        result = review_check_access(call, &req, err);
        if (result < 0)
                return result;
        if (!value_is_object(body))
                return status_bad_request(err, "the body of a %s is not an object", kind->kind);
        if (r.spec && !value_is_object(r.spec) && !value_is_null(r.spec))
                return review_wrong_type(kind->kind, r.spec, "spec", "object", err);
        if (!value_is_object(r.spec))
                r.spec = &value_empty_object;
        result = check_place(&r, err);
        return result < 0 ? result : kind->answer(&r, ret, err);
}
