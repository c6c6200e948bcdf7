/* Shared by the kinds that are questions: reviews and TokenRequest. For the files of this room. */
#pragma once

#include "authenticator.h"
#include "field-error.h"

enum review_field_type {
        REVIEW_TEXT,
        REVIEW_TEXTS,
        REVIEW_INT,
        REVIEW_OBJECT,
};

/* A field of an object; a table of them ends with a NULL name. */
struct review_field {
        const char *name;
        const char *path; /* in errors */
        enum review_field_type type;
};

/* 400 in the words of Go's decoder for the first field that has another type. Absent and null fields are fine. */
int review_check_types(const char *kind, const struct value *object, const struct review_field *fields,
                       struct err *err);
int review_wrong_type(const char *kind, const struct value *v, const char *field, const char *type, struct err *err);

/* 400 if the body says that it is something else; package is the Go package of the kind, which is in the text. */
int review_check_kind(struct arena *a, const struct value *body, struct str api_version, const char *kind,
                      const char *package, struct err *err);

/* 403 if the call's user may not. */
int review_check_access(struct api_call *call, const struct access_request *req, struct err *err);

/* Absent, null, or empty in Go's sense of omitempty. */
bool review_is_empty(const struct value *v);

/* The fields of the object that are not empty, in the order of the list, which ends with NULL. */
struct value review_pick(struct arena *a, const struct value *object, const char *const *fields);

struct value review_texts(struct arena *a, const struct str *texts, size_t n);
struct value review_now(struct arena *a); /* the time, as the API writes it */

/* spec may be NULL. */
const struct value *review_object(struct arena *a, struct str api_version, struct str kind, struct value metadata,
                                  const struct value *spec, struct value status);

/* --- One review --- */

struct review_kind;

/* A review that is being answered. */
struct review {
        struct authenticator *authenticator;
        struct run *run; /* of the user who asks */
        const struct review_kind *kind;
        struct str ns; /* of the path */
        const struct value *body;
        const struct value *spec;   /* of the body; never NULL */
        struct field_errors errors; /* of the spec */
};

/* A kind of review, and how it is answered. */
struct review_kind {
        struct str group;
        struct str plural;
        const char *kind;
        bool is_namespaced;
        int (*answer)(struct review *r, const struct value **ret, struct err *err);
};

/* The object that answers it; spec may be NULL. */
const struct value *review_answer(const struct review *r, struct value metadata, const struct value *spec,
                                  struct value status);

/* The texts of an array, in the arena. */
void review_read_texts(struct arena *a, const struct value *v, const struct str **ret, size_t *ret_n);
int review_check_texts(const char *kind, const struct value *v, const char *field, struct err *err);

/* SubjectAccessReview and LocalSubjectAccessReview, SelfSubjectAccessReview, SelfSubjectRulesReview. */
int review_subject_access(struct review *r, const struct value **ret, struct err *err);
int review_self_access(struct review *r, const struct value **ret, struct err *err);
int review_self_rules(struct review *r, const struct value **ret, struct err *err);
