/* Checks of the fields that all webhooks have: whom to call, and in which versions. Definitions have webhooks for conversion, webhook
 * configurations have them for admission. */
#pragma once

#include "field-error.h"

/* Checks a clientConfig: a URL or a Service. Go's net/url refuses more URLs than this; such a URL shows when the webhook is called. */
void webhook_check_client(struct field_errors *errors, struct str field, const struct value *client);

/* Checks the versions of reviews that a webhook understands. An absent or empty list is none_text's error. */
void webhook_check_versions(struct field_errors *errors, struct str field, const struct value *list,
                            const char *none_text);
