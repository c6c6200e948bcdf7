/* Managed fields and server-side apply (docs/spec/apiserver 4.3): pure functions from objects to objects.
 *
 * managed_apply and managed_update take the live object as stored (with metadata.managedFields) and return the object to store,
 * with the new managedFields in upstream's order. They do not default, prune or validate; the preparation does that before and
 * after. */
#pragma once

#include "clock.h"
#include "err.h"
#include "meta.h"

struct schema;

/* The versions of the kind. The set of each manager is kept in the version that the manager wrote. */
struct managed_type {
        struct gvk gvk;              /* the version of this request */
        const struct schema *schema; /* of that version */
        bool has_status;             /* the status subresource is enabled */
        bool status_writes_metadata; /* as in struct kind */
        bool spec_is_fixed;          /* as in struct kind */
        struct str hub_version;      /* the version the object is stored in */
        const struct value
                *empty; /* what a new object is compared with; NULL: an object with apiVersion and kind alone */

        /* Converts the object to another version, and returns that version's schema; ERR_NOT_FOUND when the version is no longer
         * served. NULL when there is only one version. */
        int (*convert)(void *arg, struct arena *a, const struct value *object, struct str api_version,
                       const struct value **ret, const struct schema **ret_schema, struct err *err);
        void *convert_arg;
};

/* Whether the subresource is (a part of) the status. */
static inline bool managed_is_status(struct str subresource)
{
        return str_equal(subresource, STR("status")) || str_equal(subresource, STR("approval"));
}

struct managed_request {
        const struct managed_type *type;
        struct str manager;     /* not empty */
        struct str subresource; /* "", "status", "approval" or "scale" */
        struct instant now;
        bool force;
};

/* Apply: config is the applied object. live is NULL when there is none. Errors: conflicts are ERR_CONFLICT with one cause per
 * field; typed conversion errors have no reason (500); all texts as upstream. */
int managed_apply(struct arena *a, const struct managed_request *req, const struct value *live,
                  const struct value *config, const struct value **ret, struct err *err);

/* Whether live already has all values of the configuration, and the manager owns exactly its fields: then an apply changes nothing.
 * This check is fast; false may also mean that only an apply can tell. */
bool managed_is_applied(struct arena *a, const struct managed_request *req, const struct value *live,
                        const struct value *config);

/* Update: the effect of create, update and the other patches on managedFields. live is NULL on create. updated is the object that
 * the client wants, including the request's managedFields. */
int managed_update(struct arena *a, const struct managed_request *req, const struct value *live,
                   const struct value *updated, const struct value **ret, struct err *err);

/* If the two objects differ only in times of managedFields entries (resourceVersion aside), returns the new one with the old times;
 * otherwise the new one. */
const struct value *managed_revert_times(struct arena *a, const struct value *old, const struct value *new_object);

/* Whether the two objects differ only in resourceVersion and in the times and order of managedFields entries: their values and
 * their managers are the same. */
bool managed_is_same(const struct value *a, const struct value *b);
