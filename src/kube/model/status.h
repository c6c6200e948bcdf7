/* Kubernetes Status errors on top of struct err: reason, message in the API's words, and details (group, kind, name, uid,
 * causes, retryAfterSeconds), which err carries as JSON text. */
#pragma once

#include "err.h"
#include "field-error.h"
#include "meta.h"

/* The subject of an error. In messages `R` is plural.group and `K` is Kind.group (without the dot in the core group). */
struct status_subject {
        struct str group;
        struct str kind;   /* Widget */
        struct str plural; /* widgets */
        struct str name;
};

/* Each fills err and returns its negative code; texts as in docs/spec/apiserver 2.2. */
int status_not_found(struct err *err, const struct status_subject *s);      /* `R "name" not found` */
int status_already_exists(struct err *err, const struct status_subject *s); /* `R "name" already exists` */
int status_conflict(struct err *err, const struct status_subject *s, const char *format, ...) _printf_(3, 4);
int status_modified(struct err *err, const struct status_subject *s); /* Conflict: the object has been modified ... */
int status_forbidden(struct err *err, const struct status_subject *s, const char *format, ...) _printf_(3, 4);
int status_invalid(struct err *err, const struct status_subject *s, const struct field_errors *errors);
int status_bad_request(struct err *err, const char *format, ...) _printf_(2, 3);
int status_internal(struct err *err, const char *format, ...) _printf_(2, 3); /* 500 without a reason or details */
int status_internal_error(struct err *err, const char *format, ...) _printf_(2, 3); /* with a reason and a cause */
int status_expired(struct err *err, const char *format, ...) _printf_(2, 3);
int status_unsupported_media_type(struct err *err, struct str accepted); /* lists the accepted types */
int status_method_not_allowed(struct err *err, const struct status_subject *s, struct str verb);

/* A refusal by an admission hook, as the API tells that of a webhook: `admission webhook "NAME" denied the request: TEXT`, 409, and
 * the text itself as the reason. The code is ERR_FORBIDDEN: no other writer was faster, so a retry at once is in vain. */
int status_denied(struct err *err, const char *webhook, struct str text);

/* Adds a cause to the details of an error made by one of the above. */
void status_add_cause(struct err *err, struct str reason, struct str message, struct str field);

/* The Status object of an error, as the API returns it; and the reverse, for a client of a remote API. */
struct value status_of_err(struct arena *a, const struct err *err);
int status_to_err(const struct value *status, struct err *err);

/* The beginning of a body, as errors about an unreadable one show it: as text if it looks like JSON, else in hexadecimal. */
struct str status_body_prefix(struct arena *a, struct str text);
