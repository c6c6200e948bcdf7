/* The write pipeline: what happens to a request between the moment it is decoded and the moment it is committed, in the order
 * of spec/apiserver 2.8. One path for every verb and every writer.
 *
 * It is a function: from the kind, the object as stored and the request to what is to be stored. It reads no store and takes no
 * lock, so it may be run again when somebody else was faster. */
#pragma once

#include "clock.h"
#include "cluster.h"

/* What is about to be stored, for those who may change or refuse it. */
struct admission {
        const struct write_request *request;
        const struct kind *kind;
        const struct value *old;    /* NULL on create */
        const struct value *object; /* NULL on delete; a mutating hook may replace it */
        bool is_create;             /* also for an apply that creates */
};

/* Hooks run in order, all mutating ones before all validating ones. A validating hook that replaces the object is ignored. */
struct admission_hook {
        const char *name;
        bool is_mutating;
        int (*admit)(void *arg, struct run *run, struct admission *admission, struct err *err);
        void *arg;
};

/* What a kind does beyond the rules for all kinds; see kind.h. Each may be NULL. */
struct kind_strategy {
        /* Called where the schema's defaults have been filled in, for those that depend on the rest of the object. */
        const struct value *(*complete)(struct arena *a, const struct value *object);
        /* Called once the object has its metadata, before validation: brings it into the form that is stored. */
        const struct value *(*prepare)(struct arena *a, const struct write_request *req, const struct value *old,
                                       const struct value *object);
        void (*validate)(struct arena *a, const struct write_request *req, const struct value *old,
                         const struct value *object, struct field_errors *errors, struct str_list *warnings);
        bool (*may_remove)(const struct value *object); /* false: a delete leaves it in place (namespaces) */
};

struct pipeline {
        const struct kind *kind;
        const struct kind_version *version; /* of the request */
        const struct admission_hook *hooks;
        size_t n_hooks;
        struct instant now;
        /* Asked when something new has been decoded: may it be created where it wants to be? NULL: it may. */
        int (*may_create)(void *arg, struct err *err);
        void *may_create_arg;
};

enum write_effect {
        EFFECT_NONE,   /* nothing changes: answer with what is there */
        EFFECT_STORE,  /* object is the new state */
        EFFECT_REMOVE, /* the object goes; stored is its last state */
};

struct write_outcome {
        enum write_effect effect;
        bool is_create;
        const struct value *object; /* to store, in the storage version, without a resourceVersion */
        const struct value
                *answer; /* for the client, in the request's version; resourceVersion is the store's to set */
};

/* live is the object as stored (storage version, resourceVersion set), or NULL. */
int pipeline_run(const struct pipeline *p, struct run *run, const struct write_request *req, const struct value *live,
                 struct write_outcome *ret, struct err *err);

/* What a request for a deprecated version is told. */
void pipeline_warn_deprecated(const struct kind_version *version, struct run *run);

/* An object as stored -> as a reader of the version gets it: converted, pruned, defaulted. */
int pipeline_read(const struct kind *kind, const struct kind_version *version, struct arena *a,
                  const struct value *stored, const struct value **ret, struct err *err);

/* The object's scale subresource: an autoscaling/v1 Scale in front of the paths that the version names. */
int scale_of(struct arena *a, const struct kind_version *v, const struct value *object, struct value *ret,
             struct err *err);
