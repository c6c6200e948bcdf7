/* What the SDK's files share. One call is one thread, one arena, one request and one response. */
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
        const struct value *v; /* NULL: missing. Changes as it is edited */
        /* Where it is from, put into words only when an error needs them. */
        const struct weft_value *parent; /* NULL: a part of the request or response, which `what` says */
        const char *what;                /* static: `observed resource` */
        const char *name;                /* below a parent, a path; else the part's name; may be NULL */
        size_t index;                    /* of an item; SIZE_MAX: none */
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

/* One desired resource. It stays encoded until someone edits it. */
struct entry {
        struct str name;
        struct str bytes;            /* the encoded Resource */
        const struct value *message; /* decoded; NULL until it is edited */
        struct weft_value *resource; /* the object being edited; NULL until then */
        bool is_removed;
};

struct weft_request {
        struct call *call;
        const struct fn_parts *parts;
        const struct value *decoded[FN_MAX_FIELD + 1];
        bool is_decoded[FN_MAX_FIELD + 1];
        const struct value *all_required; /* NULL until somebody asks for the keys */
        struct str tag;                   /* p NULL until somebody asks */
};

struct weft_response {
        struct call *call;
        bool is_open;             /* the desired state was split into entries */
        bool has_desired;         /* there is a State, if an empty one */
        struct entry *composite;  /* NULL: none */
        struct map entries;       /* name -> struct entry */
        struct str state_unknown; /* fields of State that we do not know */
        struct weft_value *status;
        struct map contexts; /* key -> struct weft_value being edited */
        struct weft_value *output;
        const struct value *requirements; /* NULL: none */
        struct weft_result *results, **last_result;
        struct weft_condition *conditions, **last_condition;
        int64_t ttl_ns;
        bool has_failed;
        unsigned n_failures; /* fatal results that the SDK added */
};

/* A path that was parsed. Text and segments are in the arena. */
struct known_path {
        const char *address; /* of the function's own text; NULL: none yet */
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
        struct known_path paths[N_KNOWN_PATHS]; /* functions use the same literals again and again; by address */
};

/* Runs the flags' function on a request and appends the encoded response, in which what goes wrong is a fatal result; *ret_is_fatal,
 * which may be NULL, says whether there is one. */
void sdk_run(const struct flags *flags, struct arena *a, const struct fn_parts *request, struct buf *ret,
             bool *ret_is_fatal);

/* A handle of a part of the request or response. what is static; name, which may be NULL, is copied. */
struct weft_value *sdk_value(struct call *call, const struct value *v, const char *what, const char *name);

/* The same text for people: `observed resource "db"`. In the arena. */
struct str sdk_where(const struct weft_value *v);

/* Adds a fatal result once: the same text again is dropped, and so is everything beyond LIMIT_FUNCTION_FAILURES. */
void sdk_fail(struct call *call, const char *format, ...) _printf_(2, 3);

/* The text in the arena, with anything that is not UTF-8 replaced by U+FFFD. NULL gives "". */
struct str sdk_text(struct arena *a, const char *s);

/* The same for a text that is still to be formatted. */
struct str sdk_format(struct arena *a, const char *format, va_list arguments) _printf_(2, 0);

/* The request's field, decoded once; NULL when absent or when it does not decode, which is a fatal result. */
const struct value *sdk_part(struct weft_request *req, uint32_t number);

/* The request's tag, with a NUL behind it; "" without one. Found without decoding the rest of meta. */
struct str sdk_tag(struct weft_request *req);

/* Decodes base64 as proto.h has bytes. A NUL follows them. */
const char *sdk_bytes(struct call *call, const struct value *v, size_t *ret_size);

/* Finishes the response's desired state, context and the rest; results and conditions, which come last, on their own. */
void sdk_finish(struct weft_response *rsp, struct fn_parts *ret);
void sdk_finish_results(struct weft_response *rsp, struct fn_parts *ret);
void sdk_response_done(struct weft_response *rsp);
