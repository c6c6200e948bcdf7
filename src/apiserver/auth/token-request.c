/* POST serviceaccounts/NAME/token: a token of the account, for a while (docs/spec/apiserver 9.2). */
#include "authenticator-state.h"

#include "buf.h"
#include "clock.h"
#include "review.h"
#include "status.h"

#define MIN_SECONDS     600
#define MAX_SECONDS     (1ll << 32)
#define DEFAULT_SECONDS 3600
#define KIND            "TokenRequest"
#define API_VERSION     "authentication.k8s.io/v1"

struct request {
        struct authenticator *authenticator;
        struct run *run;
        const struct value *body;
        const struct value *spec;    /* of the body; never NULL */
        const struct value *account; /* the ServiceAccount */
        struct token_contents contents;
};

static int invalid(struct str name, struct field_errors *errors, struct err *err)
{
        struct status_subject subject = { .group = STR("authentication.k8s.io"), .kind = STR(KIND), .name = name };

        return status_invalid(err, &subject, errors);
}

static int check_types(const struct value *body, const struct value *spec, struct err *err)
{
        static const struct review_field fields[] = { { "audiences", "spec.audiences", REVIEW_TEXTS },
                                                      { "expirationSeconds", "spec.expirationSeconds", REVIEW_INT },
                                                      { "boundObjectRef", "spec.boundObjectRef", REVIEW_OBJECT },
                                                      { 0 } };
        static const struct review_field reference[] = { { "kind", "spec.boundObjectRef.kind", REVIEW_TEXT },
                                                         { "apiVersion", "spec.boundObjectRef.apiVersion",
                                                           REVIEW_TEXT },
                                                         { "name", "spec.boundObjectRef.name", REVIEW_TEXT },
                                                         { "uid", "spec.boundObjectRef.uid", REVIEW_TEXT },
                                                         { 0 } };
        const struct value *given = value_get(body, STR("spec"));
        int r;

        if (given && !value_is_null(given) && !value_is_object(given))
                return review_wrong_type(KIND, given, "spec", "object", err);
        r = review_check_types(KIND, spec, fields, err);
        return r < 0 ? r : review_check_types(KIND, value_get(spec, STR("boundObjectRef")), reference, err);
}

static int check_place(const struct request *q, struct str ns, struct str name, struct err *err)
{
        struct str given = meta_namespace(q->body);
        struct str given_name = meta_name(q->body);
        struct field_errors errors;

        if (given.n && !str_equal(given, ns))
                return status_bad_request(
                        err, "the namespace of the provided object does not match the namespace sent on the request");
        if (given_name.n == 0 || str_equal(given_name, name))
                return 0;
        field_errors_init(&errors, q->run->arena);
        field_error_add(&errors, FIELD_INVALID, STR("metadata.name"),
                        value_put(q->run->arena, value_of_str(given_name)),
                        "must match the service account name if specified");
        return invalid(name, &errors, err);
}

static int read_duration(const struct request *q, int64_t *ret, struct err *err)
{
        const struct value *given = value_get(q->spec, STR("expirationSeconds"));
        int64_t seconds = value_int(given, DEFAULT_SECONDS);
        struct field_errors errors;

        *ret = seconds;
        if (seconds >= MIN_SECONDS && seconds <= MAX_SECONDS)
                return 0;
        field_errors_init(&errors, q->run->arena);
        field_error_add(&errors, FIELD_INVALID, STR("spec.expirationSeconds"), given,
                        seconds < MIN_SECONDS ? "may not specify a duration less than 10 minutes"
                                              : "may not specify a duration larger than 2^32 seconds");
        return invalid(STR(""), &errors, err);
}

static int get_object(const struct request *q, struct str kind, struct str ns, struct str name,
                      const struct value **ret, struct err *err)
{
        struct object_key key = { .gvk = { .version = STR("v1"), .kind = kind }, .ns = ns, .name = name };

        return cluster_get_value(q->authenticator->cluster, q->run, &key, ret, err);
}

static int check_pod(const struct request *q, const struct value *pod, struct err *err)
{
        struct str account = value_str(value_find(pod, "spec", "serviceAccountName"));

        if (str_equal(account, q->contents.account_name))
                return 0;
        return status_bad_request(
                err, "cannot bind token for serviceaccount \"%.*s\" to pod running with different serviceaccount name.",
                STR_ARG(q->contents.account_name));
}

/* Finds the object that the token is to be bound to. */
static int bind(struct request *q, struct err *err)
{
        const struct value *reference = value_get(q->spec, STR("boundObjectRef")), *object;
        struct str kind = value_str(value_get(reference, STR("kind")));
        struct str name = value_str(value_get(reference, STR("name")));
        struct str uid = value_str(value_get(reference, STR("uid")));
        bool is_node = str_equal(kind, STR("Node"));
        struct gvk gvk = gvk_of(reference);
        int r;

        if (!value_is_object(reference))
                return 0;
        if (gvk.group.n || (!is_node && !str_equal(kind, STR("Secret")) && !str_equal(kind, STR("Pod"))))
                return status_bad_request(err, "cannot bind token to object of type %.*s",
                                          STR_ARG(gvk_text(q->run->arena, gvk)));
        r = get_object(q, kind, is_node ? STR("") : q->contents.ns, name, &object, err);
        if (r == 0 && str_equal(kind, STR("Pod")))
                r = check_pod(q, object, err);
        if (r < 0)
                return r;
        if (uid.n && !str_equal(uid, meta_uid(object))) {
                struct status_subject subject = { .kind = kind, .plural = kind, .name = name };

                return status_conflict(err, &subject,
                                       "the UID in the bound object reference (%.*s) does not match the UID in record. "
                                       "The object might have been deleted and then recreated",
                                       STR_ARG(uid));
        }
        q->contents.binding = (struct token_binding) { .kind = kind, .name = name, .uid = meta_uid(object) };
        return 0;
}

static void set_audiences(struct request *q)
{
        const struct value *given = value_get(q->spec, STR("audiences"));
        struct str *audiences = ARENA_NEW_ARRAY(q->run->arena, struct str, value_count(given) + 1);

        VALUE_FOREACH_ITEM (item, given)
                audiences[q->contents.n_audiences++] = value_str(item);
        if (q->contents.n_audiences == 0)
                audiences[q->contents.n_audiences++] = q->authenticator->issuer.issuer;
        q->contents.audiences = audiences;
}

static struct value metadata_of(const struct request *q)
{
        struct object_builder b;

        object_builder_init(&b, q->run->arena, 4);
        object_builder_add(&b, STR("name"), value_of_str(q->contents.account_name));
        object_builder_add(&b, STR("namespace"), value_of_str(q->contents.ns));
        object_builder_add(&b, STR("uid"), value_of_str(q->contents.account_uid));
        object_builder_add(&b, STR("creationTimestamp"), review_now(q->run->arena));
        return object_builder_finish(&b);
}

static struct value spec_of(const struct request *q)
{
        static const char *const fields[] = { "kind", "apiVersion", "name", "uid", NULL };
        const struct value *reference = value_get(q->spec, STR("boundObjectRef"));
        struct arena *a = q->run->arena;
        struct object_builder b;

        object_builder_init(&b, a, 3);
        object_builder_add(&b, STR("audiences"), review_texts(a, q->contents.audiences, q->contents.n_audiences));
        object_builder_add(&b, STR("expirationSeconds"), value_of_int(q->contents.expires - q->contents.issued));
        object_builder_add(&b, STR("boundObjectRef"),
                           value_is_object(reference) ? review_pick(a, reference, fields) : value_of_null());
        return object_builder_finish(&b);
}

static struct value status_of(const struct request *q, struct str token)
{
        _cleanup_buf_ struct buf time = BUF_INIT(0);
        struct arena *a = q->run->arena;
        struct object_builder b;

        time_append_rfc3339(&time, (struct instant) { .seconds = q->contents.expires }, 0);
        object_builder_init(&b, a, 2);
        object_builder_add(&b, STR("token"), value_of_str(token));
        object_builder_add(&b, STR("expirationTimestamp"), value_of_str(buf_to_arena(&time, a)));
        return object_builder_finish(&b);
}

/* Reads and checks everything that the token will say. */
static int fill(struct request *q, struct str ns, struct str name, struct err *err)
{
        int64_t seconds = 0;
        int r = check_types(q->body, q->spec, err);

        if (r == 0)
                r = review_check_kind(q->run->arena, q->body, STR(API_VERSION), KIND, "authentication", err);
        if (r == 0)
                r = check_place(q, ns, name, err);
        if (r == 0)
                r = read_duration(q, &seconds, err);
        if (r == 0)
                r = get_object(q, STR("ServiceAccount"), ns, name, &q->account, err);
        if (r < 0)
                return r;
        q->contents = (struct token_contents) {
                .ns = ns, .account_name = name, .account_uid = meta_uid(q->account), .issued = clock_wall().seconds
        };
        q->contents.expires = q->contents.issued + seconds;
        set_audiences(q);
        return bind(q, err);
}

int token_request_create(struct authenticator *a, struct api_call *call, struct str ns, struct str name,
                         const struct value *body, const struct value **ret, struct err *err)
{
        struct access_request req = { .verb = STR("create"),
                                      .gvk = { .version = STR("v1") },
                                      .plural = STR("serviceaccounts"),
                                      .subresource = STR("token"),
                                      .ns = ns,
                                      .name = name };
        struct request q = { .authenticator = a, .run = &call->run, .body = body };
        struct value spec;
        struct str token;
        int r = review_check_access(call, &req, err);

        if (r < 0)
                return r;
        if (!value_is_object(body))
                return status_bad_request(err, "the body of a " KIND " is not an object");
        q.spec = value_get(body, STR("spec"));
        if (!value_is_object(q.spec))
                q.spec = &value_empty_object;
        r = fill(&q, ns, name, err);
        if (r == 0)
                r = service_token_make(&a->issuer, call->run.arena, &q.contents, &token, err);
        if (r < 0)
                return r;
        spec = spec_of(&q);
        *ret = review_object(call->run.arena, STR(API_VERSION), STR(KIND), metadata_of(&q), &spec,
                             status_of(&q, token));
        return 0;
}
