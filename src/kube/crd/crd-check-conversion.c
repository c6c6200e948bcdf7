#include "crd-check.h"

#include "base64.h"
#include "buf.h"
#include "map.h"
#include "name.h"

#define CONVERSION "spec.conversion"
#define CLIENT     CONVERSION ".webhookClientConfig"
#define REVIEWS    CONVERSION ".conversionReviewVersions"
#define URL_FORMAT "; desired format: https://host[/path]"

static const struct value *field_of(const struct value *object, const char *key)
{
        return value_get(object, str_from(key));
}

static void add_invalid(struct field_errors *errors, const char *field, struct str value, const char *text)
{
        struct value shown = value_of_str(value);

        field_error_add(errors, FIELD_INVALID, str_from(field), &shown, "%s", text);
}

/* --- The URL of a webhook --- */

struct url {
        struct str scheme, user, host, query, fragment;
};

static bool is_scheme(struct str s)
{
        for (size_t i = 0; i < s.n; i++) {
                char c = s.p[i];
                bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');

                if (!is_letter && (i == 0 || !((c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.')))
                        return false;
        }
        return s.n > 0;
}

/* Splits a URL into the parts that the rules check. Other errors of Go's net/url than a missing scheme show up when the webhook is
 * called. */
static bool split_url(struct str text, struct url *ret)
{
        struct str rest = text, authority, head;

        *ret = (struct url) { 0 };
        if (rest.n > 0 && rest.p[0] == ':')
                return false;
        if (str_split(&rest, '#', &head))
                ret->fragment = rest;
        rest = head;
        if (str_split(&rest, '?', &head))
                ret->query = rest;
        rest = head;
        if (str_split(&rest, ':', &ret->scheme) && !is_scheme(ret->scheme)) {
                ret->scheme = STR("");
                rest = head;
        }
        if (str_is_empty(rest)) {
                rest = ret->scheme;
                ret->scheme = STR("");
        }
        if (!str_cut_prefix(&rest, STR("//")))
                return true;
        str_split(&rest, '/', &authority);
        ret->host = authority;
        for (size_t i = authority.n; i > 0; i--) {
                if (authority.p[i - 1] == '@') {
                        ret->user = str_first(authority, i - 1);
                        ret->host = str_skip(authority, i);
                        break;
                }
        }
        return true;
}

static void check_url(struct field_errors *errors, struct str text)
{
        struct url url;

        if (!split_url(text, &url)) {
                field_error_add(errors, FIELD_REQUIRED, STR(CLIENT ".url"), NULL,
                                "url must be a valid URL: parse \"%.*s\": missing protocol scheme" URL_FORMAT,
                                STR_ARG(text));
                return;
        }
        if (!str_equal(url.scheme, STR("https")))
                add_invalid(errors, CLIENT ".url", url.scheme, "'https' is the only allowed URL scheme" URL_FORMAT);
        if (str_is_empty(url.host))
                add_invalid(errors, CLIENT ".url", url.host, "host must be specified" URL_FORMAT);
        if (!str_is_empty(url.user))
                add_invalid(errors, CLIENT ".url", url.user, "user information is not permitted in the URL");
        if (!str_is_empty(url.fragment))
                add_invalid(errors, CLIENT ".url", url.fragment, "fragments are not permitted in the URL");
        if (!str_is_empty(url.query))
                add_invalid(errors, CLIENT ".url", url.query, "query parameters are not permitted in the URL");
}

/* --- The service of a webhook --- */

static void check_segments(struct field_errors *errors, struct str path)
{
        struct str rest, segment, texts[4];
        struct value shown = value_of_str(path);
        bool goes_on;

        rest = str_skip(path, 1); /* the first character is not checked */
        for (size_t i = 0;; i++) {
                goes_on = str_split(&rest, '/', &segment);
                if (str_is_empty(segment) && !goes_on && i > 0)
                        return; /* one slash at the end is allowed */
                if (str_is_empty(segment))
                        field_error_add(errors, FIELD_INVALID, STR(CLIENT ".service.path"), &shown,
                                        "segment[%zu] may not be empty", i);
                else if (name_check_subdomain(errors->arena, segment, false, texts) > 0)
                        field_error_add(errors, FIELD_INVALID, STR(CLIENT ".service.path"), &shown,
                                        "segment[%zu]: %.*s", i, STR_ARG(texts[0]));
                if (!goes_on)
                        return;
        }
}

static void check_path(struct field_errors *errors, struct str path)
{
        if (str_is_empty(path) || str_equal(path, STR("/")))
                return;
        if (path.p[0] != '/')
                add_invalid(errors, CLIENT ".service.path", path, "must start with a '/'");
        check_segments(errors, path);
}

static void check_service(struct field_errors *errors, const struct value *service)
{
        const struct value *port = field_of(service, "port");

        if (str_is_empty(value_str(field_of(service, "name"))))
                field_error_add(errors, FIELD_REQUIRED, STR(CLIENT ".service.name"), NULL, "%s", "");
        if (str_is_empty(value_str(field_of(service, "namespace"))))
                field_error_add(errors, FIELD_REQUIRED, STR(CLIENT ".service.namespace"), NULL, "%s", "");
        if (value_is_int(port) && (port->integer < 1 || port->integer > 65535))
                field_error_add(errors, FIELD_INVALID, STR(CLIENT ".service.port"), port,
                                "port is not valid: must be between 1 and 65535, inclusive");
        check_path(errors, value_str(field_of(service, "path")));
}

/* --- All of it --- */

/* Checks only the form. Bad certificates in the bundle show up when the webhook is called. */
static bool is_bad_bundle(const struct value *client)
{
        _cleanup_buf_ struct buf bytes = BUF_INIT(0);
        struct str bundle = value_str(field_of(client, "caBundle"));

        if (str_is_empty(bundle))
                return false;
        base64_decode(&bytes, bundle, BASE64_STD, NULL);
        return str_find(buf_str(&bytes), STR("-----BEGIN ")) < 0;
}

/* A CRD may be created with a bad bundle and keep it. Once the CRD is established, a good bundle must not become bad. */
static void check_bundle(struct field_errors *errors, const struct value *client, const struct value *old_spec)
{
        if (old_spec && is_bad_bundle(client) &&
            !is_bad_bundle(value_find(old_spec, "conversion", "webhook", "clientConfig")))
                field_error_add(errors, FIELD_INVALID, STR(CLIENT ".caBundle"), field_of(client, "caBundle"),
                                "unable to load root certificates: unable to parse bytes as PEM block");
}

static void check_client(struct field_errors *errors, const struct value *client)
{
        const struct value *url = field_of(client, "url"), *service = field_of(client, "service");

        if (value_is_string(url) == value_is_object(service))
                field_error_add(errors, FIELD_REQUIRED, STR(CLIENT), NULL, "exactly one of url or service is required");
        else if (value_is_string(url))
                check_url(errors, value_str(url));
        else
                check_service(errors, service);
}

static void check_review_versions(struct field_errors *errors, const struct value *list)
{
        _cleanup_map_ struct map seen = { 0 };
        size_t n = value_count(list);

        if (n == 0) {
                field_error_add(errors, FIELD_REQUIRED, STR(REVIEWS), NULL, "%s", "");
                return;
        }
        for (size_t i = 0; i < n; i++) {
                const struct value *v = value_item(list, i);
                struct str field = arena_printf(errors->arena, REVIEWS "[%zu]", i), texts[4];
                size_t n_texts = name_check_label_1035(errors->arena, value_str(v), false, texts);

                bool is_new = map_add(&seen, value_str(v), &seen);

                if (!is_new)
                        field_error_add(errors, FIELD_INVALID, field, v, "duplicate version");
                for (size_t j = 0; is_new && j < n_texts; j++)
                        field_error_add(errors, FIELD_INVALID, field, v, "%.*s", STR_ARG(texts[j]));
        }
        if (!map_has(&seen, STR("v1")) && !map_has(&seen, STR("v1beta1")))
                field_error_add(errors, FIELD_INVALID, STR(REVIEWS), list, "must include at least one of v1, v1beta1");
}

static void check_webhook(struct field_errors *errors, const struct value *webhook, const struct value *old_spec)
{
        const struct value *client = field_of(webhook, "clientConfig");

        check_bundle(errors, client, old_spec);
        if (value_is_object(client))
                check_client(errors, client);
        else
                field_error_add(errors, FIELD_REQUIRED, STR(CLIENT), NULL, "required when strategy is set to Webhook");
        check_review_versions(errors, field_of(webhook, "conversionReviewVersions"));
}

void crd_check_conversion(struct field_errors *errors, const struct value *spec, const struct value *old_spec)
{
        static const struct str strategies[] = { STR_INIT("None"), STR_INIT("Webhook") };
        const struct value *conversion = field_of(spec, "conversion"), *strategy = field_of(conversion, "strategy");
        const struct value *webhook = field_of(conversion, "webhook");

        if (!value_is_object(conversion))
                return;
        if (value_bool(field_of(spec, "preserveUnknownFields"), false) && !str_equal(value_str(strategy), STR("None")))
                field_error_add(errors, FIELD_INVALID, STR(CONVERSION ".strategy"),
                                strategy ? strategy : &value_empty_string,
                                "must be None if spec.preserveUnknownFields is true");
        if (str_equal(value_str(strategy), STR("Webhook"))) {
                check_webhook(errors, webhook, old_spec);
                return;
        }
        if (str_is_empty(value_str(strategy)))
                field_error_add(errors, FIELD_REQUIRED, STR(CONVERSION ".strategy"), NULL, "%s", "");
        else if (!str_equal(value_str(strategy), STR("None")))
                field_error_add_unsupported(errors, STR(CONVERSION ".strategy"), strategy, strategies,
                                            ARRAY_SIZE(strategies));
        if (value_is_object(field_of(webhook, "clientConfig")))
                field_error_add(errors, FIELD_FORBIDDEN, STR(CLIENT), NULL,
                                "should not be set when strategy is not set to Webhook");
        if (value_count(field_of(webhook, "conversionReviewVersions")) > 0)
                field_error_add(errors, FIELD_FORBIDDEN, STR(REVIEWS), NULL,
                                "should not be set when strategy is not set to Webhook");
}
