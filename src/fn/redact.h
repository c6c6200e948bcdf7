/* Removes secret values from everything that people read: records, events, conditions, errors.
 *
 * Secret values are the values (not the keys) of connection details, of credentials, and of data and stringData of Secrets, also of
 * Secrets inside other objects. In objects they are replaced at their place; in texts that functions write, everywhere. Values
 * shorter than REDACT_MIN_BYTES are not searched in texts, because ordinary words could match them. */
#pragma once

#include "message.h"

#define REDACTED         "**REDACTED**"
#define REDACTED_CHANGED REDACTED " (changed)"
#define REDACT_MIN_BYTES 6

/* The object with the values of data and stringData replaced if it is a v1 Secret; the same for v1 Secrets inside it. */
const struct value *redact_object(struct arena *a, const struct value *object);

/* As redact_object, but values that differ from those in before are marked as changed. before may be NULL. */
const struct value *redact_object_over(struct arena *a, const struct value *object, const struct value *before);

/* True when the response has connection details or a Secret, or when its state cannot be read. */
bool redact_response_has_secrets(struct arena *a, const struct fn_response *rsp);

/* The secret values that one call has seen. One thread only; initialise it with redactor_init. */
struct redactor {
        struct arena *arena;
        struct str *secrets;
        size_t n;
        size_t capacity;
        bool is_sorted;
        bool has_any; /* there are secrets, perhaps only ones too short to search for */
};

void redactor_init(struct redactor *r, struct arena *a);

/* Adds secrets of credentials, state and input. Use redactor_add_resources for resources that the function asked for. */
void redactor_add_request(struct redactor *r, const struct fn_request *req);
void redactor_add_resources(struct redactor *r, const struct fn_resources *resources);
void redactor_add_state(struct redactor *r, const struct fn_state *state);

/* The text itself, or a copy in the arena without the secrets. */
struct str redact_text(struct redactor *r, struct str text);

/* The value with its strings redacted like texts. */
const struct value *redact_value(struct redactor *r, const struct value *v);

/* Redacts results and conditions in place; the caller must own them. */
void redact_response(struct redactor *r, struct fn_response *rsp);

/* Redacts the message of an error. */
void redact_error(struct redactor *r, struct err *err);
