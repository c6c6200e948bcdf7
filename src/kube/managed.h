/* Managed fields and server-side apply (spec/apiserver 4.3): pure functions from objects to objects.
 *
 * Both calls take the live object as stored (with metadata.managedFields) and give back the object to store, with the new
 * managedFields in upstream's order. They neither default nor prune nor validate; the pipeline does, around them. */
#pragma once

#include "clock.h"
#include "err.h"
#include "meta.h"

struct schema;

/* What the kind's versions look like. Ownership of each manager is kept in the version it wrote in. */
struct managed_type {
        struct gvk gvk;              /* the version of this request */
        const struct schema *schema; /* of that version */
        bool has_status;             /* the status subresource is on */
        struct str hub_version;      /* the version the object is stored in */

        /* The object as another version, and that version's schema; ERR_NOT_FOUND when it is no longer served. NULL when
         * there is one version only. */
        int (*convert)(void *arg, struct arena *a, const struct value *object, struct str api_version,
                       const struct value **ret, const struct schema **ret_schema, struct err *err);
        void *convert_arg;
};

struct managed_request {
        const struct managed_type *type;
        struct str manager;     /* not empty */
        struct str subresource; /* "" or "status" or "scale" */
        struct instant now;
        bool force;
};

/* Apply: config is the applied object. live is NULL when there is none. Errors: conflicts are ERR_CONFLICT with one cause per
 * field; typed conversion errors have no reason (500); all texts as upstream. */
int managed_apply(struct arena *a, const struct managed_request *req, const struct value *live,
                  const struct value *config, const struct value **ret, struct err *err);

/* Whether live has the configuration already, value for value and field for field as the manager's own: then an apply would change
 * nothing. A quick look; false may also mean that it takes an apply to tell. */
bool managed_is_applied(struct arena *a, const struct managed_request *req, const struct value *live,
                        const struct value *config);

/* Update: what create, update and the other patches do to managedFields. live is NULL on create. updated is the object as
 * the client wants it, managedFields of the request included. */
int managed_update(struct arena *a, const struct managed_request *req, const struct value *live,
                   const struct value *updated, const struct value **ret, struct err *err);

/* If the two objects differ in nothing but times of managedFields entries (resourceVersion aside), the new one with the old
 * times; else the new one. */
const struct value *managed_revert_times(struct arena *a, const struct value *old, const struct value *new_object);

/* Whether the two objects differ in nothing but resourceVersion and the times and order of managedFields entries: neither in a value
 * nor in who manages it. */
bool managed_is_same(const struct value *a, const struct value *b);
