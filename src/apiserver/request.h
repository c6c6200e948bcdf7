/* One request on its way through the server; inside this layer only.
 *
 * Its head and body arrive on the loop of its connection; a worker authenticates it and handles it; the loop sends the answer. Lists
 * go back and forth: the loop asks a worker for the next piece when the last one is sent. Watches stay on the loop once what existed
 * at first is sent.
 *
 * The loop owns a request, except that the worker owns it from submit to finish of its job. Only the loop uses ex, and frees the
 * request when the exchange is closed and nothing holds it. */
#pragma once

#include "accept.h"
#include "apiserver.h"
#include "budget.h"
#include "call.h"
#include "list.h"
#include "loop.h"
#include "metrics.h"
#include "promises.h"
#include "route.h"
#include "str-list.h"
#include "users.h"
#include "watch.h"
#include "workers.h"

#define REQUEST_BYTES (8u << 10) /* memory of a request besides its body and answer */

struct discovery;
struct packer;
struct watch_stream;

struct apiserver {
        struct apiserver_options options;
        struct http_server *http;
        struct cluster *cluster;         /* what requests use: checks what users may do, if there is an access */
        struct cluster *checked_cluster; /* the same, if it is ours */
        struct discovery *discovery;
        struct workers *readers; /* jobs that never wait for long */
        struct workers *writers; /* jobs that write, or wait for a version that is yet to come */
        struct workers *bulk;    /* what follows the first piece of lists; objects that exist when a watch begins */
        struct workers *health;  /* one thread: whatever others do, the server says how it is */
        struct budget budget;
        struct users users;
        struct promises promises;
        struct metrics metrics;
        struct mutex mutex;           /* guards the two below */
        struct watch_stream *watches; /* all of them, so that a drain ends them */
        _Atomic bool is_draining;
};

struct api_request {
        struct apiserver *server;
        struct exchange *ex; /* NULL once it is closed */
        struct loop *loop;   /* of the exchange */
        struct job job;
        struct api_promise promise; /* of its write */
        struct budget_account account;
        struct arena arena; /* of the run */
        struct arena heads; /* the exchange's arena, if the exchange closes while a worker has the request */
        struct buf body;
        struct http_head head;
        const struct tls_identity *identity;
        struct api_call call;
        struct api_route route;
        struct str_list warnings;
        struct cancel *cancel;
        struct user_use *use;
        enum use use_of;
        int64_t began_ns;
        unsigned
                n_holds; /* reasons to keep the request after its exchange is closed: a worker, a function on the loop */
        bool has_answered; /* the head is sent */
        bool is_routed;    /* route is valid */
        bool is_health;    /* it must be served whatever else the server does */

        /* The answer, from the worker. */
        struct err err;
        int error_status; /* not 0: the HTTP status of err, instead of that of its reason */
        struct str expired_token;
        struct api_reply reply;
        struct list_options options; /* of lists and watches */
        struct list_stream *list;    /* not NULL: the answer is this, and its first piece is in text */
        struct packer *packer;       /* not NULL: the answer is compressed */
        struct watch_source *watch;  /* not NULL: the answer is this */
        struct buf text;
        size_t piece_bytes; /* the least size of the list's next piece; 0: of the usual one */
        bool has_more;      /* another piece of the list follows */
};

/* apiserver.c: frees a request whose exchange is closed and that no worker has. */
void request_free(struct api_request *q);

/* apiserver.c, loop thread: sends the answer of a finished job, unless the exchange is closed; lets go of the request. */
void request_answer(struct api_request *q);
void request_release(struct api_request *q);

/* resource.c: handles a request for a resource, on a worker. Sets reply, list or watch. */
int resource_handle(struct api_request *q, struct err *err);

/* answer.c: the head of an answer. Names and values live in the request's arena. */
void answer_fields(struct api_request *q, struct str content_type, struct http_fields *fields);

/* answer.c: turns q->err into the reply: a Status object. */
void answer_error(struct api_request *q);

/* stream.c: the loop's part of a watch, from its head on. Takes q->watch over; q is freed by on_closed as every request. */
void watch_stream_begin(struct api_request *q);
void watch_stream_end_all(struct apiserver *s);

/* health.c: paths of the server itself. They are served even if there is no memory or the user has too much open. */
bool health_is_path(struct str path);
int health_handle(struct api_request *q, struct err *err);
