/* Parses the method and the target of a request into a route (docs/spec/apiserver 0.2): a resource of the API, or another path.
 * A function of its input: it knows neither which kinds there are nor who asks. */
#pragma once

#include "call.h"

enum api_verb {
        API_GET,
        API_LIST,
        API_WATCH,
        API_CREATE,
        API_UPDATE,
        API_PATCH,
        API_DELETE,
        API_DELETE_COLLECTION,
        API_OTHER, /* a method that the API does not have */
        _API_VERB_COUNT,
};

/* `get`, ... as discovery and access control name it; "" for API_OTHER. */
struct str api_verb_name(enum api_verb verb);

struct api_route {
        struct str path; /* decoded, without the query; never with empty, `.` or `..` segments */
        struct api_query query;
        bool is_head; /* HEAD: answered as GET, without a body */

        /* Of resources; all empty otherwise. */
        bool is_resource;
        enum api_verb verb;
        struct gvr gvr;
        struct str ns;
        struct str name;
        struct str subresource;
        struct str rest; /* behind the subresource, for proxies */
};

/* A group of kinds that come with the API, by its name. Upstream answers unknown paths in them with a Status, others in plain text. */
bool api_group_is_builtin(struct str group);

/* ERR_NOT_FOUND for a path that no handler has, in one of these two forms (answer.c). */
int api_no_such_path(struct str group, struct err *err);

/* Everything lives in the arena or borrows from the arguments. ERR_INVALID with REASON_BAD_REQUEST for a target that is no path or
 * has broken escapes; ERR_NOT_FOUND for a path with empty, `.` or `..` segments, which no path of the API has; ERR_LIMIT for too many
 * parameters. */
int api_route_parse(struct arena *a, struct str method, struct str target, struct api_route *ret, struct err *err);
