/* The preparation of writes: processes a request between its decoding and its commit, in the order of docs/spec/apiserver 2.8. All verbs
 * and all writers use it.
 *
 * It is a function: it computes the state to store from the kind, the stored object and the request. It reads no store and takes no
 * lock, so it can run again when another writer was faster. */
#pragma once

#include "clock.h"
#include "cluster.h"

/* The object about to be stored, for hooks that may change or refuse it. */
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

/* The behaviour of a kind beyond the rules for all kinds; see kind.h. Each function may be NULL. */
struct kind_strategy {
        /* Called after the schema's defaults are filled in, for defaults that depend on other fields of the object. */
        const struct value *(*complete)(struct arena *a, const struct value *object);
        /* Called before prepare on create: writes into the object who creates it. */
        const struct value *(*note_user)(struct arena *a, const struct user *user, const struct value *object);
        /* Called when the object has its metadata, before validation: brings the object into its stored form. */
        const struct value *(*prepare)(struct arena *a, const struct write_request *req, const struct value *old,
                                       const struct value *object);
        void (*validate)(struct arena *a, const struct write_request *req, const struct value *old,
                         const struct value *object, struct field_errors *errors, struct str_list *warnings);
        bool (*may_remove)(const struct value *object); /* false: a delete leaves it in place (namespaces) */
        const struct conversion *conversions;           /* between its versions; NULL: only apiVersion changes */
        size_t n_conversions;
};

/* Gives a new kind its strategy, which may be NULL. */
static inline void kind_use_strategy(struct kind *k, const struct kind_strategy *strategy)
{
        k->strategy = strategy;
        if (strategy && strategy->conversions) {
                k->conversions = strategy->conversions;
                k->n_conversions = strategy->n_conversions;
        }
}

struct preparation {
        const struct kind *kind;
        const struct kind_version *version; /* of the request */
        const struct kind_version *storage; /* of live and of the object to store; NULL: the kind's storage version */
        const struct admission_hook *hooks;
        size_t n_hooks;
        struct instant now;
        /* Called when a new object has been decoded: may it be created in its namespace? NULL: yes. */
        int (*may_create)(void *arg, struct err *err);
        void *may_create_arg;
};

enum write_effect {
        EFFECT_NONE,   /* nothing changes: the answer is the current object */
        EFFECT_STORE,  /* object is the new state */
        EFFECT_REMOVE, /* the object is removed; `object` is its last state */
};

struct write_outcome {
        enum write_effect effect;
        bool is_create;
        const struct value *object; /* to store, in the storage version, without a resourceVersion */
        const struct value *answer; /* for the client, in the request's version; the store sets resourceVersion */
};

/* live is the object as stored (storage version, resourceVersion set), or NULL. */
int prepare_write(const struct preparation *p, struct run *run, const struct write_request *req,
                  const struct value *live, struct write_outcome *ret, struct err *err);

/* Adds the warning for a request in a deprecated version. */
void prepare_warn_deprecated(const struct kind_version *version, struct run *run);

/* Converts a stored object to the form that a reader of the version gets: converted, pruned, defaulted. */
int prepare_read(const struct kind *kind, const struct kind_version *version, struct arena *a,
                 const struct value *stored, const struct value **ret, struct err *err);

/* The object's scale subresource: an autoscaling/v1 Scale made from the paths that the version names. */
int scale_of(struct arena *a, const struct kind_version *v, const struct value *object, struct value *ret,
             struct err *err);
