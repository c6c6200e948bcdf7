/* Options of requests in the query (docs/spec/apiserver 2.2, 2.6, 2.9 to 2.11, 3.2): read and checked, with the API's errors. */
#pragma once

#include "route.h"

/* The options that lists, watches and deletecollections share. Everything lives in the arena. */
struct list_options {
        struct label_selector labels;
        struct field_selector fields;
        struct list_request list; /* points at labels and fields; without its gvk and namespace */

        /* watch */
        struct watch_request watch; /* likewise */
        int64_t timeout_seconds;    /* -1: none given */
};

/* The struct must stay where it is while list and watch are used. */
int options_list(struct arena *a, const struct api_query *q, struct list_options *ret, struct err *err);
int options_watch(struct arena *a, const struct api_query *q, struct list_options *ret, struct err *err);

/* Sets manager, force, is_dry_run and field_validation; req->verb is set. */
int options_write(struct arena *a, const struct api_query *q, struct str user_agent, struct write_request *req,
                  struct err *err);

/* Sets is_dry_run, propagation and preconditions, from the body, or from the query if body is NULL. *ret_is_explicit: orphanDependents
 * is given and false, which changes the status of the answer. */
int options_delete(struct arena *a, const struct api_query *q, const struct value *body, struct write_request *req,
                   bool *ret_is_explicit, struct err *err);

/* `?timeout=`: how long a request that is not a watch may take. */
int options_timeout(const struct api_query *q, int64_t *ret_ms, struct err *err);

/* `?includeObject=` of tables. */
enum include_object {
        INCLUDE_METADATA,
        INCLUDE_NONE,
        INCLUDE_OBJECT,
};
int options_include(const struct api_query *q, enum include_object *ret, struct err *err);
