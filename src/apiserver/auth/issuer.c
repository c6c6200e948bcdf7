/* Discovery of the issuer of service-account tokens: with these two documents others can check the tokens. */
#include "authenticator-state.h"

#include "base64.h"
#include "buf.h"
#include "json.h"
#include "jws.h"
#include "review.h"
#include "status.h"

#define CONFIGURATION STR("/.well-known/openid-configuration")
#define KEYS          STR("/openid/v1/jwks")

static struct value base64_text(struct arena *a, const struct buf *bytes)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        base64_encode(&b, buf_str(bytes), BASE64_RAW_URL);
        return value_of_str(buf_to_arena(&b, a));
}

static struct value key_value(const struct authenticator *x, struct arena *a)
{
        _cleanup_buf_ struct buf first = BUF_INIT(0), second = BUF_INIT(0);
        struct str algorithm = jws_algorithm(x->issuer.key);
        bool is_ec = str_equal(algorithm, STR("ES256"));
        struct object_builder b;

        jws_public_numbers(x->issuer.key, &first, &second);
        object_builder_init(&b, a, 7);
        object_builder_add(&b, STR("use"), value_of_literal("sig"));
        object_builder_add(&b, STR("kty"), is_ec ? value_of_literal("EC") : value_of_literal("RSA"));
        object_builder_add(&b, STR("kid"), value_of_str(x->issuer.key_id));
        if (is_ec)
                object_builder_add(&b, STR("crv"), value_of_literal("P-256"));
        object_builder_add(&b, STR("alg"), value_of_str(algorithm));
        object_builder_add(&b, is_ec ? STR("x") : STR("n"), base64_text(a, &first));
        object_builder_add(&b, is_ec ? STR("y") : STR("e"), base64_text(a, &second));
        return object_builder_finish(&b);
}

static struct value keys_document(const struct authenticator *x, struct arena *a)
{
        const struct value key = key_value(x, a);
        struct object_builder b;

        object_builder_init(&b, a, 1);
        object_builder_add(&b, STR("keys"), value_of_items(a, &key, 1));
        return object_builder_finish(&b);
}

/* The keys are where this document was found. */
static struct str keys_url(const struct authenticator *x, const struct api_call *call)
{
        struct arena *a = call->run.arena;
        struct str host = call->head->authority;

        if (host.n == 0)
                host = http_fields_get(&call->head->fields, STR("host"));
        if (host.n == 0)
                return ARENA_CONCAT(a, x->issuer.issuer, KEYS);
        return ARENA_CONCAT(a, STR("https://"), host, KEYS);
}

static struct value configuration_document(const struct authenticator *x, const struct api_call *call)
{
        static const struct str responses = STR_INIT("id_token"), subjects = STR_INIT("public");
        const struct str algorithm = jws_algorithm(x->issuer.key);
        struct arena *a = call->run.arena;
        struct object_builder b;

        object_builder_init(&b, a, 5);
        object_builder_add(&b, STR("issuer"), value_of_str(x->issuer.issuer));
        object_builder_add(&b, STR("jwks_uri"), value_of_str(keys_url(x, call)));
        object_builder_add(&b, STR("response_types_supported"), review_texts(a, &responses, 1));
        object_builder_add(&b, STR("subject_types_supported"), review_texts(a, &subjects, 1));
        object_builder_add(&b, STR("id_token_signing_alg_values_supported"), review_texts(a, &algorithm, 1));
        return object_builder_finish(&b);
}

static int set_body(struct api_reply *reply, const struct value *v, struct err *err)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        int r = json_write(&b, v, JSON_ESCAPE_HTML, err);

        if (r == 0)
                reply->body = bytes_take(&b);
        return r;
}

static int wrong_method(struct err *err)
{
        int r = err_set(err, ERR_UNSUPPORTED, "the server does not allow this method on the requested resource");

        err_set_reason(err, REASON_METHOD_NOT_ALLOWED);
        err_set_details(err, STR("{}"));
        return r;
}

int issuer_handle(void *context, struct api_call *call, struct api_reply *ret, struct err *err)
{
        const struct authenticator *x = context;
        struct value document;
        int r;

        if (!str_equal(call->head->method, STR("GET")) && !str_equal(call->head->method, STR("HEAD")))
                return wrong_method(err);
        if (str_equal(call->path, CONFIGURATION)) {
                document = configuration_document(x, call);
        } else if (str_equal(call->path, KEYS)) {
                document = keys_document(x, call->run.arena);
                ret->content_type = STR("application/jwk-set+json");
        } else {
                return err_set(err, ERR_NOT_FOUND, "the server could not find the requested resource");
        }
        r = set_body(ret, &document, err);
        if (r == 0)
                http_fields_add(&ret->fields, call->run.arena, STR("cache-control"), STR("public, max-age=3600"));
        return r;
}
