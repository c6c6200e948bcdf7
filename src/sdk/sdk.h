/* Shared by the SDK's files. Each call of the function has one thread, one arena, one request and one response. */
#pragma once

#include <stdarg.h>

#include "arena.h"
#include "err.h"
#include "flags.h"
#include "fn-parts.h"
#include "map.h"
#include "path.h"
#include "weft/fn.h"

struct call;

struct weft_value {
        struct call *call;
        const struct value *v; /* NULL: missing. Changes when it is edited */
        /* The origin of the value; it is formatted only when an error needs it. */
        const struct weft_value *parent; /* NULL: `what` names the part of the request or response */
        const char *what;                /* static: `observed resource` */
        const char *name;                /* with a parent: a path; otherwise the part's name; may be NULL */
        size_t index;                    /* position of an item; SIZE_MAX: not an item */
};

struct weft_result {
        struct call *call;
        struct weft_result *next;
        int severity; /* as on the wire */
        int target;
        struct str message;
        struct str reason; /* p NULL: absent */
};

struct weft_condition {
        struct call *call;
        struct weft_condition *next;
        int status;
        int target;
        struct str type;
        struct str reason;
        struct str message; /* p NULL: absent */
};

/* One desired resource. It stays encoded until it is edited. */
struct entry {
        struct str name;
        struct str bytes;            /* the encoded Resource */
        const struct value *message; /* the decoded Resource; NULL until it is edited */
        struct weft_value *resource; /* the object in it; NULL until it is edited */
        bool is_removed;
};

struct weft_request {
        struct call *call;
        const struct fn_parts *parts;
        const struct value *decoded[FN_MAX_FIELD + 1];
        bool is_decoded[FN_MAX_FIELD + 1];
        const struct value *all_required; /* NULL until the keys are first read */
        struct str tag;                   /* p is NULL until the tag is first read */
};

struct weft_response {
        struct call *call;
        bool is_open;             /* the desired state was split into entries */
        bool has_desired;         /* there is a State, perhaps an empty one */
        struct entry *composite;  /* NULL: none */
        struct map entries;       /* name -> struct entry */
        struct str state_unknown; /* unknown fields of State */
        struct weft_value *status;
        struct map contexts; /* key -> struct weft_value being edited */
        struct weft_value *output;
        const struct value *requirements; /* NULL: none */
        struct weft_result *results, **last_result;
        struct weft_condition *conditions, **last_condition;
        int64_t ttl_ns;
        bool has_failed;
        unsigned n_failures; /* number of fatal results that the SDK added */
};

/* A parsed path. Text and segments are in the arena. */
struct known_path {
        const char *address; /* address of the function's text; NULL: unused */
        struct str text;
        struct path path;
};

#define N_KNOWN_PATHS 16

struct call {
        struct arena *arena;
        const struct weft_function *function;
        const struct flags *flags;
        struct weft_request request;
        struct weft_response response;
        struct known_path paths[N_KNOWN_PATHS]; /* a cache by address: functions use the same literals repeatedly */
};

/* Runs the function of the flags on a request and appends the encoded response. Errors become fatal results in it; *ret_is_fatal,
 * which may be NULL, tells whether there is one. */
void sdk_run(const struct flags *flags, struct arena *a, const struct fn_parts *request, struct buf *ret,
             bool *ret_is_fatal);

/* Creates a handle for a part of the request or response. what is static; name, which may be NULL, is copied. */
struct weft_value *sdk_value(struct call *call, const struct value *v, const char *what, const char *name);

/* The origin of the value as text, e.g. `observed resource "db"`. In the arena. */
struct str sdk_where(const struct weft_value *v);

/* Adds a fatal result. A repeated text is dropped, and so are all results beyond LIMIT_FUNCTION_FAILURES. */
void sdk_fail(struct call *call, const char *format, ...) _printf_(2, 3);

/* Copies the text to the arena; bytes that are not UTF-8 become U+FFFD. NULL gives "". */
struct str sdk_text(struct arena *a, const char *s);

/* As sdk_text, for a format and its arguments. */
struct str sdk_format(struct arena *a, const char *format, va_list arguments) _printf_(2, 0);

/* The request's field, decoded on first use; NULL when it is absent, or when decoding fails, which adds a fatal result. */
const struct value *sdk_part(struct weft_request *req, uint32_t number);

/* The request's tag, followed by a NUL; "" without one. The rest of meta is not decoded. */
struct str sdk_tag(struct weft_request *req);

/* Decodes base64, the form of bytes in proto.h. A NUL follows the bytes. */
const char *sdk_bytes(struct call *call, const struct value *v, size_t *ret_size);

/* sdk_finish encodes the whole response. It calls sdk_finish_results for results and conditions last, because encoding the other
 * parts may add results. */
void sdk_finish(struct weft_response *rsp, struct fn_parts *ret);
void sdk_finish_results(struct weft_response *rsp, struct fn_parts *ret);
void sdk_response_done(struct weft_response *rsp);
