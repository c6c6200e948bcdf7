/* One request to the API server, as a handler sees it, and its answer.
 *
 * A handler runs on a worker thread and may block. Everything that it fills lives in the run's arena, or is counted. Requests for
 * resources have their own path (resource.h); this is for everything else: discovery, OpenAPI, health, metrics, reviews, tokens. */
#pragma once

#include "cluster.h"
#include "http.h"

/* The parameters behind the `?`, decoded, in the order of the text. */
struct api_query {
        struct http_field *p; /* names keep their case */
        size_t n;
};

/* The first value of that name, or a str with p == NULL. */
struct str api_query_get(const struct api_query *q, struct str name);

/* Anything but `false` and `0` is true, as in the API; absent is false. */
bool api_query_flag(const struct api_query *q, struct str name);

struct api_call {
        struct run run;          /* arena, deadline, cancel and the authenticated (or impersonated) user */
        struct cluster *cluster; /* checks what the run's user may do */
        const struct http_head *head;
        struct str path; /* decoded, without the query */
        struct api_query query;
        struct str body; /* whole and decompressed; "" without one */
};

struct api_reply {
        int status;                /* 0: 200 */
        struct str content_type;   /* "": application/json */
        struct http_fields fields; /* others: etag, cache-control, ... */
        struct bytes *body;        /* one reference, which the caller takes over; NULL: none */
};

/* Returns an error for everything that is answered with a Status object (status.h). */
typedef int api_handler(void *context, struct api_call *call, struct api_reply *ret, struct err *err);

/* Sets the body to the JSON text of v, which has no infinite numbers. */
void api_reply_value(struct api_reply *reply, const struct value *v);
