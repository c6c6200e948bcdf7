/* Write a Composition Function in C.
 *
 *     #include <weft/fn.h>
 *
 *     static void run(struct weft_request *req, struct weft_response *rsp)
 *     {
 *             const struct weft_value *xr = weft_observed_composite(req);
 *             struct weft_value *bucket = weft_compose(rsp, "bucket", "s3.aws.m.upbound.io/v1beta1", "Bucket");
 *
 *             weft_set_string(bucket, "spec.forProvider.region", weft_get_string(xr, "spec.region"));
 *     }
 *
 *     int main(int argc, char **argv)
 *     {
 *             return weft_main(argc, argv, &(struct weft_function) { .name = "function-bucket", .run = run });
 *     }
 *
 * This is a complete function: it listens at :9443 with mutual TLS, and passes on all desired state that it did not touch.
 *
 * Errors. No call returns an error code that could be forgotten. When a field is missing or has another type, a path does not
 * parse, or a text is not valid YAML, the call adds a fatal result that names the path, and returns zero, "" or an empty value. The
 * function may simply continue, or ask weft_has_failed and return. A fatal result ends the whole pipeline run, and nothing is
 * changed. For optional fields, use the ..._or and weft_find forms.
 *
 * Memory. Everything belongs to the request and is freed when run returns; a function frees nothing. The SDK copies the texts that
 * it is given. All texts are UTF-8 and end in NUL.
 *
 * Threads. Many threads call run at once, each with its own request. A function must protect data that its calls share; it is
 * better to share nothing.
 *
 * Field paths read `spec.items[0].metadata.annotations[example.org/name]`; an empty path or NULL means the value itself. */
#ifndef WEFT_FN_H
#define WEFT_FN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define WEFT_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define WEFT_PRINTF(text, first)
#endif

struct weft_request;
struct weft_response;
struct weft_value;
struct weft_result;
struct weft_condition;

/* --- The function ------------------------------------------------------------------------------------------------------------ */

enum weft_flag_type {
        WEFT_FLAG_TEXT,
        WEFT_FLAG_BOOL,     /* --name, --name=true; also 1, yes, false, 0 and no */
        WEFT_FLAG_INT,      /* 64 bits; 0x10 is 16 */
        WEFT_FLAG_DURATION, /* 90s, 1h30m, 100ms */
};

/* A flag that the function declares. Its value comes from the command line, else from the environment, else it is the default:
 *
 *     static const struct weft_flag flags[] = {
 *             { .name = "region", .environment = "REGION", .value = "eu-west-1", .help = "Where buckets are made." },
 *             { .name = "ttl", .type = WEFT_FLAG_DURATION, .value = "60s", .help = "How long a response may be used." },
 *     };
 *
 * The names of the flags that every function has are not allowed. An invalid value or an invalid declaration ends the program
 * before it serves, with a line that names the flag. */
struct weft_flag {
        const char *name;         /* in lower case with dashes: `region` is --region */
        char letter;              /* `r` allows -r as well; 0: none */
        enum weft_flag_type type; /* text unless set */
        const char *value;        /* the default, as it would be written on the command line; NULL: "", false or 0 */
        const char *environment;  /* the variable that may set it; an empty value counts as unset; NULL: none */
        int64_t min, max;         /* bounds of an INT, inclusive; both 0: no bounds */
        const char *value_name;   /* shown by --help if there is no default, as in --region=NAME; may be NULL */
        const char *help;         /* one sentence for --help; may be NULL */
};

/* Describes a function. Fill it in once; it must not change while the function is served. */
struct weft_function {
        const char *name; /* begins with `function-` by convention; shown in logs */
        const char *help; /* one sentence for --help; may be NULL */
        /* The function itself: it reads the request and sets the desired state in the response. Many threads call it at once. It
         * should take at most a few seconds, because callers give up after that. */
        void (*run)(struct weft_request *req, struct weft_response *rsp);
        void *data;                    /* for the function's own use; see weft_data */
        const struct weft_flag *flags; /* flags that the function declares; may be NULL */
        size_t n_flags;
};

/* Reads the flags, serves the function until SIGTERM or SIGINT, lets open calls finish, and returns the exit code: 0, 1 when it
 * cannot serve, 80 for a wrong command line. Errors are one line on standard error. Besides the function's own flags:
 *
 *   -d, --debug                        log debug messages, in a form for people
 *       --network=tcp                  tcp or unix
 *       --address=:9443                where to listen
 *       --tls-certs-dir=DIR            with tls.crt, tls.key and ca.crt, read anew when they change [$TLS_SERVER_CERTS_DIR]
 *       --insecure                     serve without TLS, also if a directory is given
 *       --max-recv-message-size=64     limit of one request, in MiB
 *       --max-memory=MIB               for all calls together, with requests and unread replies; by default 192, or half of the
 *                                      container's memory if that is less. A call may use 7/8 of it; a call that does not fit waits
 *                                      a few seconds and is then refused with RESOURCE_EXHAUSTED
 *       --metrics-address=             serve Prometheus metrics there; off by default */
int weft_main(int argc, char **argv, const struct weft_function *function);

/* The `data` of the struct weft_function. */
void *weft_data(const struct weft_request *req);

/* The value of a flag that the function declares, by its name without dashes. A flag that is not declared, or has another type, is
 * a fatal result. Durations are in seconds, as weft_set_ttl takes them. */
const char *weft_flag_text(const struct weft_request *req, const char *name);
bool weft_flag_bool(const struct weft_request *req, const char *name);
int64_t weft_flag_int(const struct weft_request *req, const char *name);
double weft_flag_seconds(const struct weft_request *req, const char *name);

/* Formats a text like printf, for names, paths and values; the text belongs to the request. Bytes that are not UTF-8 become
 * U+FFFD. */
const char *weft_format(const struct weft_request *req, const char *format, ...) WEFT_PRINTF(2, 3);

/* --- Values: reading ---------------------------------------------------------------------------------------------------------- */

enum weft_type {
        WEFT_MISSING, /* there is no value */
        WEFT_NULL,
        WEFT_BOOL,
        WEFT_NUMBER,
        WEFT_STRING,
        WEFT_ARRAY,
        WEFT_OBJECT,
};

/* The type of the value. There is one type for numbers, because all numbers are doubles on the wire. */
enum weft_type weft_type(const struct weft_value *v);

/* Required: a missing field or a value of another type adds a fatal result such as `observed composite resource: spec.count: no
 * such field`. A number with a fraction is not an int. */
const char *weft_get_string(const struct weft_value *v, const char *path);
int64_t weft_get_int(const struct weft_value *v, const char *path);
double weft_get_double(const struct weft_value *v, const char *path);
bool weft_get_bool(const struct weft_value *v, const char *path);
const struct weft_value *weft_get(const struct weft_value *v, const char *path); /* of any type; never NULL */

/* Optional: a missing field, or null, gives `otherwise`; another type is still a fatal result. These are C functions, so the
 * argument `otherwise` is always evaluated: a weft_get_... in its place is fatal if its own field is missing. For a fallback to a
 * second field write
 *
 *     weft_exists(v, "spec.a") ? weft_get_string(v, "spec.a") : weft_get_string(v, "spec.b")
 *
 * or nest the optional forms: weft_get_string_or(v, "spec.a", weft_get_string_or(v, "spec.b", "")). */
const char *weft_get_string_or(const struct weft_value *v, const char *path, const char *otherwise);
int64_t weft_get_int_or(const struct weft_value *v, const char *path, int64_t otherwise);
double weft_get_double_or(const struct weft_value *v, const char *path, double otherwise);
bool weft_get_bool_or(const struct weft_value *v, const char *path, bool otherwise);

/* The value at the path, or WEFT_MISSING if there is none. Never NULL. */
const struct weft_value *weft_find(const struct weft_value *v, const char *path);
bool weft_exists(const struct weft_value *v, const char *path);

/* The number of items of an array or members of an object at the path (0 when it is missing), an item or member by its position,
 * and a member's key. A position beyond the end is a fatal result. */
size_t weft_count(const struct weft_value *v, const char *path);
const struct weft_value *weft_at(const struct weft_value *v, const char *path, size_t i);
const char *weft_key_at(const struct weft_value *v, const char *path, size_t i);

/* Detects typing errors: a member of the object at the path whose key is not in the list of keys (which ends in NULL) is a fatal
 * result that names it and the most similar key. Missing members and a missing object are no errors. apiVersion, kind and metadata
 * are always allowed in the value itself, so that a step's input can be checked:
 *
 *     weft_check_keys(weft_input(req), NULL, (const char *const[]) { "region", "count", NULL }); */
void weft_check_keys(const struct weft_value *v, const char *path, const char *const *keys);

/* JSON text with sorted keys, for logs and tests; "" if the value is missing. */
const char *weft_to_json(const struct weft_value *v);

/* For a Kubernetes object, which may be missing: the whole condition of a type, or WEFT_MISSING; the condition's status, or
 * "Unknown"; whether the condition Ready is True; and the annotation crossplane.io/external-name, or "". */
const struct weft_value *weft_find_condition(const struct weft_value *object, const char *type);
const char *weft_condition_status(const struct weft_value *object, const char *type);
bool weft_is_ready(const struct weft_value *object);
const char *weft_external_name(const struct weft_value *object);

/* --- Values: writing ---------------------------------------------------------------------------------------------------------- */

/* Missing objects and arrays on the path are created; a value of the wrong type on the path is a fatal result. Set only the fields
 * that the function has an opinion on: a desired object is partial, and other fields keep the values that the API server or a
 * controller gave them. */
void weft_set_string(struct weft_value *v, const char *path, const char *s);
void weft_set_int(struct weft_value *v, const char *path, int64_t i); /* sent as a double: exact up to 2^53 */
void weft_set_double(struct weft_value *v, const char *path, double d);
void weft_set_bool(struct weft_value *v, const char *path, bool b);
void weft_set(struct weft_value *v, const char *path,
              const struct weft_value *other);                                /* a missing value changes nothing */
void weft_set_yaml(struct weft_value *v, const char *path, const char *text); /* YAML or JSON */

/* Deletes a field or an item; a missing one is no error. Deleting the value itself leaves {}. */
void weft_delete(struct weft_value *v, const char *path);

/* Sets the annotation crossplane.io/external-name: the name of the external resource, if its kind allows to choose one. */
void weft_set_external_name(struct weft_value *object, const char *name);

/* --- The request --------------------------------------------------------------------------------------------------------------- */

/* The tag that the caller gave the request, or ""; equal requests have equal tags. The SDK copies it to the response. */
const char *weft_tag(const struct weft_request *req);

/* Observed state: the composite resource ({} when there is none, as in an Operation), and composed resources by their names in the
 * pipeline. weft_observed_name gives the names by position, in sorted order; a position beyond the end is a fatal result. A
 * composed resource that was not created yet is WEFT_MISSING. */
const struct weft_value *weft_observed_composite(struct weft_request *req);
const struct weft_value *weft_observed(struct weft_request *req, const char *name);
size_t weft_observed_count(struct weft_request *req);
const char *weft_observed_name(struct weft_request *req, size_t i);

/* The desired state from earlier steps of the pipeline, in the same form. To change it, see weft_compose and weft_status. */
const struct weft_value *weft_desired_composite(struct weft_request *req);
const struct weft_value *weft_desired(struct weft_request *req, const char *name);
size_t weft_desired_count(struct weft_request *req);
const char *weft_desired_name(struct weft_request *req, size_t i);

enum weft_ready {
        WEFT_READY_UNSPECIFIED, /* counts as not ready */
        WEFT_READY_TRUE,
        WEFT_READY_FALSE,
};

/* The readiness that earlier steps set for a desired resource, or for the composite if name is NULL; UNSPECIFIED for a resource
 * that is not desired. */
enum weft_ready weft_desired_ready(struct weft_request *req, const char *name);

/* The step's input; an empty object when the step has none. People write inputs: check them with weft_check_keys. */
const struct weft_value *weft_input(struct weft_request *req);

/* The context value that an earlier step set under the key, e.g. WEFT_CONTEXT_ENVIRONMENT; WEFT_MISSING if there is none. */
#define WEFT_CONTEXT_ENVIRONMENT "apiextensions.crossplane.io/environment"
const struct weft_value *weft_context(struct weft_request *req, const char *key);

/* Connection details of an observed resource, or of the composite resource if name is NULL. The values are bytes, not always text;
 * a NUL follows them, which *ret_size does not count. NULL when there is no such key. ret_size may be NULL. Keys are sorted; a
 * position beyond the end is a fatal result. */
const char *weft_observed_connection(struct weft_request *req, const char *name, const char *key, size_t *ret_size);
size_t weft_observed_connection_count(struct weft_request *req, const char *name);
const char *weft_observed_connection_key(struct weft_request *req, const char *name, size_t i);

/* The connection details that earlier steps want the composite resource to have, in the same form. */
const char *weft_desired_connection(struct weft_request *req, const char *key, size_t *ret_size);
size_t weft_desired_connection_count(struct weft_request *req);
const char *weft_desired_connection_key(struct weft_request *req, size_t i);

/* The bytes under a key of a credential of the step, in the same form, and the credential's keys. A missing credential or key is a
 * fatal result; never NULL. */
bool weft_has_credential(struct weft_request *req, const char *name);
const char *weft_credential(struct weft_request *req, const char *name, const char *key, size_t *ret_size);
size_t weft_credential_count(struct weft_request *req, const char *name);
const char *weft_credential_key(struct weft_request *req, const char *name, size_t i);

/* Answers to weft_require_name and weft_require_labels of an earlier call, or to the requirements in the step itself.
 * weft_has_required is false when the engine has not looked yet; a count of 0 means that it looked and found nothing. A resource
 * beyond the end is WEFT_MISSING. An Operation finds the resource it watches under WEFT_WATCHED_RESOURCE. */
#define WEFT_WATCHED_RESOURCE "ops.crossplane.io/watched-resource"
bool weft_has_required(struct weft_request *req, const char *key);
size_t weft_required_count(struct weft_request *req, const char *key);
const struct weft_value *weft_required(struct weft_request *req, const char *key, size_t i);

/* The keys of all answers, for functions that do not know beforehand which requirements the step has; a position beyond the end is
 * a fatal result. */
size_t weft_required_key_count(struct weft_request *req);
const char *weft_required_key(struct weft_request *req, size_t i);

/* The OpenAPI v3 schema that weft_require_schema asked for. WEFT_MISSING when there is no such kind or the engine has not looked
 * yet; weft_has_required_schema is false only in the second case. */
bool weft_has_required_schema(struct weft_request *req, const char *key);
const struct weft_value *weft_required_schema(struct weft_request *req, const char *key);

/* Whether the caller announces a capability. A caller without WEFT_CAPABILITY_CAPABILITIES is too old to announce any, so its other
 * capabilities are unknown. */
enum weft_capability {
        WEFT_CAPABILITY_CAPABILITIES = 1,
        WEFT_CAPABILITY_REQUIRED_RESOURCES = 2,
        WEFT_CAPABILITY_CREDENTIALS = 3,
        WEFT_CAPABILITY_CONDITIONS = 4,
        WEFT_CAPABILITY_REQUIRED_SCHEMAS = 5,
};
bool weft_has_capability(struct weft_request *req, enum weft_capability capability);

/* --- The response --------------------------------------------------------------------------------------------------------------- */

/* The response begins with the request's desired state and context, its tag, and a TTL of 60 seconds. */

/* The desired composed resource of that name, for editing: as earlier steps left it, or new. Names are those of the pipeline. Do
 * not set metadata.name: the engine names the objects it creates, and weft_set_external_name sets an external name. Do not set
 * status: it belongs to the resource. In every call, compose every resource that must continue to exist: the engine deletes a
 * resource that no step desires. */
struct weft_value *weft_compose(struct weft_response *rsp, const char *name, const char *api_version, const char *kind);

/* As weft_compose, from a whole manifest in YAML or JSON, which replaces the resource of earlier steps. */
struct weft_value *weft_compose_yaml(struct weft_response *rsp, const char *name, const char *manifest);

/* Removes a resource of an earlier step from the desired state: the engine deletes it. */
void weft_remove(struct weft_response *rsp, const char *name);

/* Sets whether a composed resource is ready; it must be in the desired state. The composite resource is ready when all of them are,
 * unless weft_set_composite_ready sets its readiness. */
void weft_set_ready(struct weft_response *rsp, const char *name, enum weft_ready ready);
void weft_set_composite_ready(struct weft_response *rsp, enum weft_ready ready);

/* The composite resource's status, for editing: paths begin below `status`. A function may set no other part of the composite. */
struct weft_value *weft_status(struct weft_response *rsp);

/* Sets a connection detail of the composite resource; the details of earlier steps stay. */
void weft_set_connection(struct weft_response *rsp, const char *key, const void *data, size_t size);

/* The context value under the key for later steps, for editing: as earlier steps left it, or missing until it is set. It may be of
 * any type, e.g. weft_set_string(weft_context_edit(rsp, key), NULL, "text"). */
struct weft_value *weft_context_edit(struct weft_response *rsp, const char *key);

/* The output of this step that an Operation records, for editing: an object, empty at first. */
struct weft_value *weft_output(struct weft_response *rsp);

/* Adds a result for the user. Results become events, and a function is called again and again: report a transition when it happens,
 * not the same state on every call. A fatal result ends the run with an error and changes nothing: use it when the function can
 * desire nothing useful. */
struct weft_result *weft_normal(struct weft_response *rsp, const char *format, ...) WEFT_PRINTF(2, 3);
struct weft_result *weft_warning(struct weft_response *rsp, const char *format, ...) WEFT_PRINTF(2, 3);
struct weft_result *weft_fatal(struct weft_response *rsp, const char *format, ...) WEFT_PRINTF(2, 3);

/* True once there is a fatal result, from the function or from the SDK. */
bool weft_has_failed(const struct weft_response *rsp);

enum weft_target {
        WEFT_COMPOSITE = 1,
        WEFT_COMPOSITE_AND_CLAIM = 2,
};

/* Refine a result: its reason, in CamelCase for programs; its target, i.e. who is told (by default only the composite). */
struct weft_result *weft_result_reason(struct weft_result *result, const char *reason);
struct weft_result *weft_result_target(struct weft_result *result, enum weft_target target);

enum weft_status_value {
        WEFT_UNKNOWN = 1,
        WEFT_TRUE = 2,
        WEFT_FALSE = 3,
};

/* Sets a condition of the composite resource. The engine's own types (Ready, Synced, ...) must not be set. Refinements set the
 * message, and who is told besides the composite. */
struct weft_condition *weft_condition(struct weft_response *rsp, const char *type, enum weft_status_value status,
                                      const char *reason);
struct weft_condition *weft_condition_message(struct weft_condition *c, const char *format, ...) WEFT_PRINTF(2, 3);
struct weft_condition *weft_condition_target(struct weft_condition *c, enum weft_target target);

/* Asks to be called again with resources: one by name, or all with the labels (alternating keys and values, then NULL; no labels
 * mean every resource of the kind). namespace_ NULL means cluster scoped or, with labels, all namespaces. Ask for the same in every
 * call, even when the answer is already there: the engine continues once the requirements no longer change. */
void weft_require_name(struct weft_response *rsp, const char *key, const char *api_version, const char *kind,
                       const char *namespace_, const char *name);
void weft_require_labels(struct weft_response *rsp, const char *key, const char *api_version, const char *kind,
                         const char *namespace_, const char *const *labels);

/* Asks to be called again with the OpenAPI v3 schema of a kind. */
void weft_require_schema(struct weft_response *rsp, const char *key, const char *api_version, const char *kind);

/* Runs the pipeline again when this resource changes. The resource must have been required in this run. Engines other than Weft
 * ignore it. namespace_ NULL: cluster scoped. */
void weft_watch_resource(struct weft_response *rsp, const char *api_version, const char *kind, const char *namespace_,
                         const char *name);

/* How long the engine may reuse this response for an equal request; 0: never. The default is 60 seconds. Less than 0 or more than
 * 1e9 seconds is a fatal result. */
void weft_set_ttl(struct weft_response *rsp, double seconds);

/* --- Logging ------------------------------------------------------------------------------------------------------------------- */

/* Writes a line to standard error with the function's name and the request's tag: JSON, or readable text with --debug. Debug lines
 * are written only with --debug. Never log credentials or connection details. */
void weft_log_debug(const struct weft_request *req, const char *format, ...) WEFT_PRINTF(2, 3);
void weft_log_info(const struct weft_request *req, const char *format, ...) WEFT_PRINTF(2, 3);

/* --- Testing ------------------------------------------------------------------------------------------------------------------- */

/* A request and its expected response, as YAML or JSON with the names of the protocol:
 *
 *     { .name = "no count is fatal",
 *       .request = "observed: { composite: { resource: { spec: {} } } }",
 *       .response = "meta: { ttl: 60s }\n"
 *                   "results:\n"
 *                   "- { severity: SEVERITY_FATAL, target: TARGET_COMPOSITE, message: ... }\n" }
 *
 * `response` is the whole response. `contains` is a part of it: the response may have other fields at every level, but its lists
 * must have the same number of items. A case has one of the two, or both:
 *
 *     { .name = "the region is the composite's",
 *       .request = "observed: { composite: { resource: { spec: { region: mars } } } }",
 *       .contains = "desired: { resources: { bucket: { resource: { spec: { forProvider: { region: mars } } } } } }" } */
struct weft_test {
        const char *name;
        const char *request;
        const char *response;
        const char *const *flags; /* declared flags as on the command line, up to a NULL; may be NULL */
        const char *contains;
};

/* Runs the cases without a server and prints TAP, with one line per difference below a failed case. Returns the exit code for main:
 * 0 when all passed. */
int weft_test(const struct weft_function *function, const struct weft_test *tests, size_t n_tests);

/* Runs one request, YAML or JSON, with all flags at their defaults, and returns the response as JSON with sorted keys; the caller
 * frees it. Returns NULL, with a line on standard error, when the request cannot be read. */
char *weft_run_text(const struct weft_function *function, const char *request);

#ifdef __cplusplus
}
#endif

#endif
