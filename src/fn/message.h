/* Requests to functions and their responses, in one form for built-in functions and for functions behind a connection.
 *
 * Every part exists as values, as protobuf bytes, or as both. A part that arrived as bytes is decoded on first use, a part that was
 * made of values is encoded when it must be sent, and an unused part stays as it came. Bytes and values live in the arena of the
 * run, or are pinned to it.
 *
 * Numbers: a google.protobuf.Struct has only doubles, while objects of a cluster also have ints. A value here may contain both;
 * they mean the same. If the difference could show in a function's answer, the function first converts its input with
 * fn_value_numbers. */
#pragma once

#include "err.h"
#include "str-list.h"
#include "value.h"

struct buf;

struct object;

/* A google.protobuf.Struct. Absent when all are NULL. */
struct fn_struct {
        struct str encoded;
        const struct value *value;
        struct object *object; /* pinned to the arena; it keeps its encoding, which all senders share */
};

static inline bool fn_struct_is_present(const struct fn_struct *s)
{
        return s->encoded.p || s->value || s->object;
}

/* The value, decoded if needed; NULL when absent. The struct keeps the decoded value. */
int fn_struct_value(struct arena *a, struct fn_struct *s, const struct value **ret, struct err *err);

/* v with every int converted to a double, as on the wire; v itself when it has no ints. */
const struct value *fn_value_numbers(struct arena *a, const struct value *v);

enum fn_ready {
        FN_READY_UNSPECIFIED,
        FN_READY_TRUE,
        FN_READY_FALSE,
};

/* A map of names to bytes, sorted by key: connection details, credentials. */
struct fn_bytes {
        struct str key;
        struct str bytes;
};

struct fn_bytes_map {
        const struct fn_bytes *p;
        size_t n;
};

struct fn_resource {
        struct str name; /* set in a state; empty elsewhere */
        struct fn_struct object;
        struct fn_bytes_map connection;
        enum fn_ready ready;
        bool is_kept; /* keep the observed resource and ignore the object; set by native functions only, never sent */
};

/* Observed or desired state. A state that arrived as bytes is decoded by the first fn_state_open. */
struct fn_state {
        bool is_present;
        bool is_open;
        struct str encoded; /* the whole State message; p is NULL when it is not encoded */
        bool has_composite;
        struct fn_resource composite;
        const struct fn_resource *resources; /* by name */
        size_t n_resources;
};

int fn_state_open(struct arena *a, struct fn_state *s, struct err *err);

/* NULL when there is no such resource. The state must be open. */
const struct fn_resource *fn_state_find(const struct fn_state *s, struct str name);

/* Editing keeps the order and drops the encoded form. The state must be open; the resource is copied, name included. */
void fn_state_set(struct arena *a, struct fn_state *s, const struct fn_resource *resource);
void fn_state_remove(struct arena *a, struct fn_state *s, struct str name);

struct fn_resources { /* the answer to one requirement */
        struct str name;
        const struct fn_resource *items;
        size_t n_items;
};

struct fn_resources_map {
        const struct fn_resources *p; /* by name */
        size_t n;
};

struct fn_credentials {
        struct str name;
        struct fn_bytes_map data;
};

struct fn_schema {
        struct str name;
        struct fn_struct openapi; /* absent: there is none */
};

struct fn_request {
        struct str tag;
        uint32_t capabilities; /* bit n: capability n */
        struct fn_state observed;
        struct fn_state desired;
        struct fn_struct input;
        struct fn_struct context;
        struct fn_resources_map extra_resources;
        struct fn_resources_map required_resources;
        const struct fn_credentials *credentials; /* by name */
        size_t n_credentials;
        const struct fn_schema *schemas; /* by name */
        size_t n_schemas;
};

enum fn_severity {
        FN_SEVERITY_UNSPECIFIED,
        FN_SEVERITY_FATAL,
        FN_SEVERITY_WARNING,
        FN_SEVERITY_NORMAL,
};

enum fn_target {
        FN_TARGET_UNSPECIFIED,
        FN_TARGET_COMPOSITE,
        FN_TARGET_COMPOSITE_AND_CLAIM,
        FN_TARGET_ABSENT = -1, /* the field is absent */
};

/* A mistake in a text that a step's input has or names, for messages to people. */
struct fn_mistake {
        struct str path; /* of the text in the input, or of the member that names the text: `inline.templates[1]` */
        struct str
                file; /* the file with the text, relative to the directory of templates; "" when it is not in a file */
        struct str text;  /* the whole text */
        size_t offset;    /* of the mistake in the text; its length if it is at the end */
        struct str value; /* the value that did not fit, shortened; "" when there is none to show */
        bool is_call;     /* value is a list of arguments */
};

struct fn_result {
        enum fn_severity severity;
        struct str message;
        struct str reason; /* p NULL: absent */
        enum fn_target target;
        const struct fn_mistake *mistake; /* of a built-in function's fatal result; NULL: none. Never sent */
};

struct fn_condition {
        struct str type;
        int32_t status; /* as on the wire: 0 unspecified, 1 unknown, 2 true, 3 false */
        struct str reason;
        struct str message; /* p NULL: absent */
        enum fn_target target;
};

struct fn_label {
        struct str key;
        struct str value;
};

struct fn_selector {
        struct str name; /* of the requirement */
        struct str api_version;
        struct str kind;
        struct str ns;         /* p NULL: absent */
        struct str match_name; /* p NULL: match by labels, or no match given */
        bool has_labels;
        const struct fn_label *labels; /* by key */
        size_t n_labels;
};

struct fn_watch { /* Weft's extension: field 1000 of Requirements */
        struct str api_version;
        struct str kind;
        struct str ns;
        struct str name;
};

struct fn_requirements {
        bool is_present;
        const struct fn_selector *extra_resources; /* by name */
        size_t n_extra_resources;
        const struct fn_selector *resources;
        size_t n_resources;
        const struct fn_selector *schemas; /* api_version and kind only */
        size_t n_schemas;
        const struct fn_watch *watches;
        size_t n_watches;
};

bool fn_selector_equal(const struct fn_selector *a, const struct fn_selector *b);
bool fn_requirements_equal(const struct fn_requirements *a, const struct fn_requirements *b);

#define FN_TTL_ABSENT     INT64_MIN
#define FN_TTL_DEFAULT_NS (60 * 1000000000ll) /* of the SDKs */

struct fn_response {
        struct str tag;
        int64_t ttl_ns; /* may be negative */
        struct fn_state desired;
        struct fn_result *results;
        size_t n_results;
        struct fn_struct context;
        struct fn_requirements requirements;
        struct fn_condition *conditions;
        size_t n_conditions;
        struct fn_struct output;
        bool is_pure;              /* this request always gets this response; set by built-in functions, never sent */
        size_t wire_request_bytes; /* bytes that the call has sent and received; 0 for built-in functions */
        size_t wire_response_bytes;
};

/* Initialises a response as the SDKs do: it passes on desired state and context, copies the tag, and has a TTL of one minute. */
void fn_response_init(struct fn_response *rsp, const struct fn_request *req);

/* Adds a result with target composite. */
void fn_response_add_result(struct arena *a, struct fn_response *rsp, enum fn_severity severity, const char *format,
                            ...) _printf_(4, 5);
void fn_response_add_condition(struct arena *a, struct fn_response *rsp, const struct fn_condition *c);
void fn_response_require(struct arena *a, struct fn_response *rsp, const struct fn_selector *selector);

/* --- The wire --- */

/* Encodes in the deterministic order; parts that are already bytes are used unchanged. Other states and Structs of a request keep
 * their encoded form, in the arena, so that a request is encoded only once even if it is sent several times. */
int fn_request_encode(struct arena *a, struct fn_request *req, struct buf *b, struct err *err);
int fn_response_encode(struct arena *a, const struct fn_response *rsp, struct buf *b, struct err *err);

/* Parts stay bytes and point into the message, so the message must outlive the arena. */
int fn_request_decode(struct arena *a, struct str bytes, struct fn_request *ret, struct err *err);
int fn_response_decode(struct arena *a, struct str bytes, struct fn_response *ret, struct err *err);

/* The tag: SHA-256 of the deterministic encoding without meta. Like fn_request_encode, it keeps the encoded forms in the
 * request. */
int fn_request_make_tag(struct arena *a, struct fn_request *req, struct str *ret, struct err *err);
