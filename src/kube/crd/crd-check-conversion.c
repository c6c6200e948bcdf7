#include "crd-check.h"

#include "base64.h"
#include "buf.h"
#include "webhook-check.h"

#define CONVERSION "spec.conversion"
#define CLIENT     CONVERSION ".webhookClientConfig"
#define REVIEWS    CONVERSION ".conversionReviewVersions"

static const struct value *field_of(const struct value *object, const char *key)
{
        return value_get(object, str_from(key));
}

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

static void check_webhook(struct field_errors *errors, const struct value *webhook, const struct value *old_spec)
{
        const struct value *client = field_of(webhook, "clientConfig");

        check_bundle(errors, client, old_spec);
        if (value_is_object(client))
                webhook_check_client(errors, STR(CLIENT), client);
        else
                field_error_add(errors, FIELD_REQUIRED, STR(CLIENT), NULL, "required when strategy is set to Webhook");
        webhook_check_versions(errors, STR(REVIEWS), field_of(webhook, "conversionReviewVersions"), "");
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
