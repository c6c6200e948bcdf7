/* The parts of the preparation of writes. Private to prepare*.c. */
#pragma once

#include "managed.h"
#include "metadata.h"
#include "prepare.h"

/* The state of one write in the preparation. */
struct draft {
        const struct preparation *p;
        struct run *run;
        struct arena *arena; /* the run's */
        const struct write_request *req;
        const struct value *live;    /* the stored object; NULL when there is none */
        const struct value *current; /* live as a reader of the request's version sees it */
        const struct value *object;  /* the new state */
        const struct value *decoded; /* what the new state of a built-in kind was decoded from; NULL before that */
        bool is_create;
};

/* Whether the request writes the status. The approval of a CertificateSigningRequest is a part of it. */
static inline bool draft_is_status(const struct draft *s)
{
        return managed_is_status(s->req->subresource);
}

static inline const struct kind_version *draft_storage(const struct draft *s)
{
        return s->p->storage ? s->p->storage : kind_storage(s->p->kind);
}

struct status_subject draft_subject(const struct draft *s);

/* Checks the options that do not depend on the object. Errors are 422 on CreateOptions, UpdateOptions or PatchOptions. */
int draft_check_options(const struct draft *s, struct err *err);

/* Converts a body that is an object to the form of the request's version: types checked, metadata typed, pruned and defaulted.
 * Unknown fields are reported as the request's field validation says. */
int draft_decode(struct draft *s, const struct value *body, struct err *err);

/* Applies the request's patch to the document. */
int draft_patch_document(struct draft *s, const struct value *document, const struct value **ret, struct err *err);

/* ` "" is invalid: patch: Invalid value: "RESULT": TEXT`: the API's error when the result of a patch is not valid. */
int draft_bad_patch(const struct draft *s, const struct value *patched, struct str text, struct err *err);

/* Applies the request's patch to current and decodes the result. */
int draft_patch(struct draft *s, struct err *err);

/* Sets the object to the result of server-side apply. */
int draft_apply(struct draft *s, struct err *err);

/* Checks name and namespace of the object against those of the request. Fills in the namespace, and the name of a created
 * object. */
int draft_check_identity(struct draft *s, struct err *err);

/* The type for the calls of managed.h, with the kind for its conversions. */
struct managed_scope {
        struct managed_type type;
        const struct kind *kind;
};
void managed_scope_init(struct managed_scope *m, const struct draft *s);

int draft_create(struct draft *s, struct write_outcome *ret, struct err *err);
int draft_update(struct draft *s, struct write_outcome *ret, struct err *err);
int draft_delete(struct draft *s, struct write_outcome *ret, struct err *err);

/* Sets the object to current with the replicas of the request's Scale. */
int draft_scale(struct draft *s, struct err *err);

/* Checks the fields that the scale's paths need in every object of the version. */
void scale_validate(struct arena *a, const struct kind_version *v, const struct value *object,
                    struct field_errors *errors);

/* Whether the replicas have a manager. Only then does the API record the manager of a change through the scale. */
bool scale_is_managed(const struct draft *s);

/* The object without replicas if they are 0. A Scale does not show 0, so setting 0 makes no one the manager of the field. */
const struct value *scale_without_zero(const struct draft *s);

/* Types an object of a built-in kind again, which fills in what the API always has; any other object as it is. */
const struct value *draft_retype(const struct draft *s, const struct value *object);

/* The object of a built-in kind without any field set. */
const struct value *draft_zero(const struct draft *s);

/* The object with the defaults of the schema and those of the kind. */
const struct value *draft_default(const struct draft *s, const struct value *object);
const struct value *draft_complete(const struct draft *s,
                                   const struct value *object); /* only the defaults of the kind */

/* Runs all mutating or all validating hooks. */
int draft_admit(struct draft *s, bool is_mutating, struct err *err);

/* The object in a version of the kind. */
int prepare_convert(const struct kind *kind, const struct kind_version *version, struct arena *a,
                    const struct value *object, const struct value **ret, struct err *err);

/* Converts the object to its stored form: storage version, no resourceVersion. */
int draft_to_storage(const struct draft *s, const struct value *object, const struct value **ret, struct err *err);
