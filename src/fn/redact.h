/* Keeping secret values out of what people read: records, events, conditions, errors (DESIGN 6.8).
 *
 * Secret are the values of connection details, of credentials, and of data and stringData of Secrets, also of those inside of
 * other objects; their keys are not. In objects they are replaced where they stand; in texts that functions write, wherever they
 * occur. Values shorter than REDACT_MIN_BYTES are not looked for in texts: they could not be told from ordinary words. */
#pragma once

#include "message.h"

#define REDACTED         "**REDACTED**"
#define REDACTED_CHANGED REDACTED " (changed)"
#define REDACT_MIN_BYTES 6

/* The object, with the values of data and stringData replaced if it is a v1 Secret, and those of v1 Secrets in it. */
const struct value *redact_object(struct arena *a, const struct value *object);

/* The same; values that are others than before's say so, without saying what they are. before may be NULL. */
const struct value *redact_object_over(struct arena *a, const struct value *object, const struct value *before);

/* True when the response carries connection details or a Secret. A state that cannot be read is taken to. */
bool redact_response_has_secrets(struct arena *a, const struct fn_response *rsp);

/* The secret values that one call has seen. Home: one thread; begins with redactor_init. */
struct redactor {
        struct arena *arena;
        struct str *secrets;
        size_t n;
        size_t capacity;
        bool is_sorted;
        bool has_any; /* also of those that are too short to be looked for */
};

void redactor_init(struct redactor *r, struct arena *a);

/* Credentials, state and input; what the function asked for comes by redactor_add_resources. */
void redactor_add_request(struct redactor *r, const struct fn_request *req);
void redactor_add_resources(struct redactor *r, const struct fn_resources *resources);
void redactor_add_state(struct redactor *r, const struct fn_state *state);

/* The text, or a copy in the arena without the secrets in it. */
struct str redact_text(struct redactor *r, struct str text);

/* The value, with its strings redacted like texts. */
const struct value *redact_value(struct redactor *r, const struct value *v);

/* Results and conditions are redacted in place; they must be the caller's own. */
void redact_response(struct redactor *r, struct fn_response *rsp);

/* The message of an error. */
void redact_error(struct redactor *r, struct err *err);
