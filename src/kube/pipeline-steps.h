/* The parts of the write pipeline. Private to pipeline*.c. */
#pragma once

#include "managed.h"
#include "metadata.h"
#include "pipeline.h"

/* One write on its way. */
struct step {
        const struct pipeline *p;
        struct run *run;
        struct arena *arena; /* the run's */
        const struct write_request *req;
        const struct value *live;    /* as stored; NULL when there is none */
        const struct value *current; /* live as a reader of the request's version gets it */
        const struct value *object;  /* what will be */
        bool is_create;
};

static inline bool step_is_status(const struct step *s)
{
        return str_equal(s->req->subresource, STR("status"));
}

struct status_subject step_subject(const struct step *s);

/* Options that are wrong whatever the object is: 422 on CreateOptions, UpdateOptions or PatchOptions. */
int step_check_options(const struct step *s, struct err *err);

/* A body that is an object, into the form of the request's version: type checked, metadata typed, pruned, defaulted, with
 * what is unknown reported as the request's field validation says. */
int step_decode(struct step *s, const struct value *body, struct err *err);

/* The document with the request's patch. */
int step_patch_document(struct step *s, const struct value *document, const struct value **ret, struct err *err);

/* ` "" is invalid: patch: Invalid value: "RESULT": TEXT`: how the API says that a patch made something of it that cannot be. */
int step_bad_patch(const struct step *s, const struct value *patched, struct str text, struct err *err);

/* current with the request's patch, decoded. */
int step_patch(struct step *s, struct err *err);

/* The object after server-side apply. */
int step_apply(struct step *s, struct err *err);

/* Name and namespace of the object against those of the request; fills in the namespace, and the name of what is created. */
int step_check_identity(struct step *s, struct err *err);

/* The answer of managed.h to who writes what. */
struct managed_scope {
        struct managed_type type;
        const struct kind *kind;
};
void managed_scope_init(struct managed_scope *m, const struct step *s);

int step_create(struct step *s, struct write_outcome *ret, struct err *err);
int step_update(struct step *s, struct write_outcome *ret, struct err *err);
int step_delete(struct step *s, struct write_outcome *ret, struct err *err);

/* The object with the replicas of the Scale that the request asks for. */
int step_scale(struct step *s, struct err *err);

/* What the paths of the scale must find in every object of the version. */
void scale_validate(struct arena *a, const struct kind_version *v, const struct value *object,
                    struct field_errors *errors);

/* Whether anybody manages the replicas: only then does the API note who changes them through the scale. */
bool scale_is_managed(const struct step *s);

/* The object without replicas if they are 0: a Scale does not show them, so nobody comes to manage them by setting it. */
const struct value *scale_without_zero(const struct step *s);

/* The object with the defaults of the schema and those of the kind. */
const struct value *step_default(const struct step *s, const struct value *object);
const struct value *step_complete(const struct step *s, const struct value *object); /* those of the kind alone */

/* Runs the hooks of one sort. */
int step_admit(struct step *s, bool is_mutating, struct err *err);

/* The object in the form that is stored: storage version, no resourceVersion. */
int step_to_storage(const struct step *s, const struct value *object, const struct value **ret, struct err *err);
