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
 * That is a complete function: it listens at :9443 with mutual TLS, and passes on all desired state it did not touch.
 *
 * Errors. Nothing here returns an error that could be forgotten. A read of something that is missing or of another type, a path
 * that does not parse, a text that is no YAML: each adds a fatal result that names the path, and the call returns zero, "" or
 * an empty value, so that the function may simply go on or ask weft_has_failed and return. A fatal result ends the whole
 * pipeline run and nothing is changed. For what may be missing there are the ..._or and weft_find forms.
 *
 * Memory. Everything belongs to the request and is gone when run returns; there is nothing to free. Texts given to the SDK are
 * copied. All texts are UTF-8 and end in NUL.
 *
 * Threads. run is called by many threads at once, each with its own request. Anything the function shares between calls it
 * must protect itself; better to share nothing.
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
        WEFT_FLAG_INT,      /* of 64 bits; 0x10 is 16 */
        WEFT_FLAG_DURATION, /* 90s, 1h30m, 100ms */
};

/* A flag of the function's own. It is given on the command line, else in the environment, else it has its default:
 *
 *     static const struct weft_flag flags[] = {
 *             { .name = "region", .environment = "REGION", .value = "eu-west-1", .help = "Where buckets are made." },
 *             { .name = "ttl", .type = WEFT_FLAG_DURATION, .value = "60s", .help = "How long a response may be used." },
 *     };
 *
 * Its name may not be one that every function has. What a user sets wrong ends the program before it serves, with a line that
 * names the flag; so does a wrong declaration. */
struct weft_flag {
        const char *name;         /* in lower case with dashes: `region` is --region */
        char letter;              /* `r` allows -r as well; 0: none */
        enum weft_flag_type type; /* text unless set */
        const char *value;        /* the default, as it would be written on the command line; NULL: "", false or 0 */
        const char *environment;  /* the variable that may set it; an empty one counts as none; NULL: no variable */
        int64_t min, max;         /* of an INT, both included; both 0: no bounds */
        const char *value_name;   /* shown by --help where there is no default, as in --region=NAME; may be NULL */
        const char *help;         /* one sentence for --help; may be NULL */
};

/* What a function is. A caller fills it in once; it must stay as it is while the function is served. */
struct weft_function {
        const char *name; /* begins with `function-` by convention; shown in logs */
        const char *help; /* one sentence for --help; may be NULL */
        /* The function itself: reads the request, says in the response what it wants. Called by many threads at once. It should
         * take no longer than a few seconds, after which callers give up. */
        void (*run)(struct weft_request *req, struct weft_response *rsp);
        void *data;                    /* the function's own; see weft_data */
        const struct weft_flag *flags; /* the function's own; may be NULL */
        size_t n_flags;
};

/* Reads the flags, serves the function until SIGTERM or SIGINT, lets the calls under way finish, and returns the exit code: 0, 1 when
 * it cannot serve, 80 for a wrong command line. Errors are one line on standard error. Besides the function's own flags:
 *
 *   -d, --debug                        log debug messages, in a form for people
 *       --network=tcp                  tcp or unix
 *       --address=:9443                where to listen
 *       --tls-certs-dir=DIR            with tls.crt, tls.key and ca.crt, read anew when they change [$TLS_SERVER_CERTS_DIR]
 *       --insecure                     serve without TLS, also if a directory is given
 *       --max-recv-message-size=64     of one request, in MiB
 *       --metrics-address=             serve Prometheus metrics there; off by default */
int weft_main(int argc, char **argv, const struct weft_function *function);

/* What stands in the function's `data`. */
void *weft_data(const struct weft_request *req);

/* The value of a flag of the function's own, by its name without dashes. A flag that is not declared, or with another type, is a
 * fatal result. A duration comes in seconds, fit for weft_set_ttl. */
const char *weft_flag_text(const struct weft_request *req, const char *name);
bool weft_flag_bool(const struct weft_request *req, const char *name);
int64_t weft_flag_int(const struct weft_request *req, const char *name);
double weft_flag_seconds(const struct weft_request *req, const char *name);

/* A text made as printf makes it, which belongs to the request: for names, paths and values. Bytes that are not UTF-8 become
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

/* What kind of value it is. Numbers are one kind: on the wire all of them are doubles. */
enum weft_type weft_type(const struct weft_value *v);

/* Required: a missing field or another type adds a fatal result such as
 * `observed composite resource: spec.count: no such field`. A number with a fraction is no int. */
const char *weft_get_string(const struct weft_value *v, const char *path);
int64_t weft_get_int(const struct weft_value *v, const char *path);
double weft_get_double(const struct weft_value *v, const char *path);
bool weft_get_bool(const struct weft_value *v, const char *path);
const struct weft_value *weft_get(const struct weft_value *v, const char *path); /* of any type; never NULL */

/* Optional: a missing field, or null, gives `otherwise`; another type is still a fatal result. */
const char *weft_get_string_or(const struct weft_value *v, const char *path, const char *otherwise);
int64_t weft_get_int_or(const struct weft_value *v, const char *path, int64_t otherwise);
double weft_get_double_or(const struct weft_value *v, const char *path, double otherwise);
bool weft_get_bool_or(const struct weft_value *v, const char *path, bool otherwise);

/* The value at the path, WEFT_MISSING if there is none. Never NULL. */
const struct weft_value *weft_find(const struct weft_value *v, const char *path);
bool weft_exists(const struct weft_value *v, const char *path);

/* Items of an array or members of an object at the path; 0 when it is missing. Items and members by position, and a member's key;
 * a position beyond the end is a fatal result. */
size_t weft_count(const struct weft_value *v, const char *path);
const struct weft_value *weft_at(const struct weft_value *v, const char *path, size_t i);
const char *weft_key_at(const struct weft_value *v, const char *path, size_t i);

/* Refuses typing errors: a member of the object at the path whose key is not among the keys (which end in NULL) is a fatal result that
 * names it and the nearest key. Missing members are no error, nor is an object that is missing. apiVersion, kind and metadata are
 * always allowed in the value itself, so that it fits a step's input:
 *
 *     weft_check_keys(weft_input(req), NULL, (const char *const[]) { "region", "count", NULL }); */
void weft_check_keys(const struct weft_value *v, const char *path, const char *const *keys);

/* JSON text with sorted keys, for logs and tests; "" of a value that is missing. */
const char *weft_to_json(const struct weft_value *v);

/* Of a Kubernetes object, which may be missing: its whole condition of a type, WEFT_MISSING without one; the condition's status,
 * "Unknown" without one; whether its condition Ready is True; and the annotation crossplane.io/external-name, "" without one. */
const struct weft_value *weft_find_condition(const struct weft_value *object, const char *type);
const char *weft_condition_status(const struct weft_value *object, const char *type);
bool weft_is_ready(const struct weft_value *object);
const char *weft_external_name(const struct weft_value *object);

/* --- Values: writing ---------------------------------------------------------------------------------------------------------- */

/* Objects and arrays that are missing on the way are made; one of the wrong kind is a fatal result. Say only what the function has
 * an opinion on: a desired object is partial, and other fields keep what the API server or a controller gave them. */
void weft_set_string(struct weft_value *v, const char *path, const char *s);
void weft_set_int(struct weft_value *v, const char *path, int64_t i); /* travels as a double: exact up to 2^53 */
void weft_set_double(struct weft_value *v, const char *path, double d);
void weft_set_bool(struct weft_value *v, const char *path, bool b);
void weft_set(struct weft_value *v, const char *path,
              const struct weft_value *other);                                /* a missing one changes nothing */
void weft_set_yaml(struct weft_value *v, const char *path, const char *text); /* YAML or JSON */

/* Takes a field or an item out; one that is not there is no error. Of the value itself nothing but {} stays. */
void weft_delete(struct weft_value *v, const char *path);

/* Sets the annotation crossplane.io/external-name: what the resource is called outside, where the kind lets one choose. */
void weft_set_external_name(struct weft_value *object, const char *name);

/* --- The request --------------------------------------------------------------------------------------------------------------- */

/* What the caller calls the request; equal requests have equal tags. "" when it gave none. The response carries it by itself. */
const char *weft_tag(const struct weft_request *req);

/* What exists: the composite resource ({} when there is none, as in an Operation), and composed resources by their names in the pipeline,
 * or by position in order of names; a position beyond the end is a fatal result. A composed resource that was not created yet is
 * WEFT_MISSING. */
const struct weft_value *weft_observed_composite(struct weft_request *req);
const struct weft_value *weft_observed(struct weft_request *req, const char *name);
size_t weft_observed_count(struct weft_request *req);
const char *weft_observed_name(struct weft_request *req, size_t i);

/* What earlier steps of the pipeline want, in the same way. To change it, see weft_compose and weft_status. */
const struct weft_value *weft_desired_composite(struct weft_request *req);
const struct weft_value *weft_desired(struct weft_request *req, const char *name);
size_t weft_desired_count(struct weft_request *req);
const char *weft_desired_name(struct weft_request *req, size_t i);

enum weft_ready {
        WEFT_READY_UNSPECIFIED, /* counts as not ready */
        WEFT_READY_TRUE,
        WEFT_READY_FALSE,
};

/* What earlier steps said of a desired resource's readiness, or with name NULL of the composite's; UNSPECIFIED for one that is not
 * desired. */
enum weft_ready weft_desired_ready(struct weft_request *req, const char *name);

/* The step's input; an empty object when the step has none. Input is written by people: see weft_check_keys. */
const struct weft_value *weft_input(struct weft_request *req);

/* What an earlier step left under the key, e.g. WEFT_CONTEXT_ENVIRONMENT; WEFT_MISSING if none did. */
#define WEFT_CONTEXT_ENVIRONMENT "apiextensions.crossplane.io/environment"
const struct weft_value *weft_context(struct weft_request *req, const char *key);

/* Connection details: bytes, which need not be text; there is a NUL behind them that *ret_size does not count. NULL when there is no
 * such key. name NULL means the composite resource. ret_size may be NULL. Keys come in order; a position beyond the end is a
 * fatal result. */
const char *weft_observed_connection(struct weft_request *req, const char *name, const char *key, size_t *ret_size);
size_t weft_observed_connection_count(struct weft_request *req, const char *name);
const char *weft_observed_connection_key(struct weft_request *req, const char *name, size_t i);

/* The connection details that earlier steps want the composite resource to have, in the same way. */
const char *weft_desired_connection(struct weft_request *req, const char *key, size_t *ret_size);
size_t weft_desired_connection_count(struct weft_request *req);
const char *weft_desired_connection_key(struct weft_request *req, size_t i);

/* The bytes under a key of a credential that the step was given, as above, and its keys. A missing credential or key is a fatal
 * result; never NULL. */
bool weft_has_credential(struct weft_request *req, const char *name);
const char *weft_credential(struct weft_request *req, const char *name, const char *key, size_t *ret_size);
size_t weft_credential_count(struct weft_request *req, const char *name);
const char *weft_credential_key(struct weft_request *req, const char *name, size_t i);

/* Answers to weft_require_name and weft_require_labels of an earlier call, or to what the step requires up front. False from
 * weft_has_required means that nobody looked yet; a count of 0 that they looked and found nothing. A resource beyond the end is
 * WEFT_MISSING. An Operation finds the resource it watches under WEFT_WATCHED_RESOURCE. */
#define WEFT_WATCHED_RESOURCE "ops.crossplane.io/watched-resource"
bool weft_has_required(struct weft_request *req, const char *key);
size_t weft_required_count(struct weft_request *req, const char *key);
const struct weft_value *weft_required(struct weft_request *req, const char *key, size_t i);

/* The keys of all answers that there are, for functions that do not know beforehand what the step requires; a position beyond the
 * end is a fatal result. */
size_t weft_required_key_count(struct weft_request *req);
const char *weft_required_key(struct weft_request *req, size_t i);

/* The OpenAPI v3 schema asked for by weft_require_schema; WEFT_MISSING when there is no such kind or nobody looked, which
 * weft_has_required_schema tells apart: it is false when nobody looked. */
bool weft_has_required_schema(struct weft_request *req, const char *key);
const struct weft_value *weft_required_schema(struct weft_request *req, const char *key);

/* Whether the caller says that it can do something. One that does not have WEFT_CAPABILITY_CAPABILITIES says nothing at all: it is older
 * than saying so, and the rest cannot be told. */
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

/* The desired composed resource of that name, for editing: as earlier steps left it, or new. Names are the pipeline's; do not set
 * metadata.name: the engine names what it creates, and an external name is set with weft_set_external_name. Do not set status: it
 * is the resource's own. Compose every resource that should go on existing in every call: one that no step wants is deleted. */
struct weft_value *weft_compose(struct weft_response *rsp, const char *name, const char *api_version, const char *kind);

/* The same from a whole manifest in YAML or JSON, which replaces what earlier steps said. */
struct weft_value *weft_compose_yaml(struct weft_response *rsp, const char *name, const char *manifest);

/* Takes a resource of an earlier step out of the desired state: the engine deletes it. */
void weft_remove(struct weft_response *rsp, const char *name);

/* Says whether a composed resource is ready; it must be in the desired state. The composite resource is ready when all of them are,
 * unless weft_set_composite_ready decides. */
void weft_set_ready(struct weft_response *rsp, const char *name, enum weft_ready ready);
void weft_set_composite_ready(struct weft_response *rsp, enum weft_ready ready);

/* The composite resource's status, for editing: paths begin below `status`. It is all of the composite that a function may set. */
struct weft_value *weft_status(struct weft_response *rsp);

/* Sets a connection detail of the composite resource; those of earlier steps stay. */
void weft_set_connection(struct weft_response *rsp, const char *key, const void *data, size_t size);

/* What later steps find in the context under the key, for editing: as earlier steps left it, or missing until it is set. It may be any
 * value: weft_set_string(weft_context_edit(rsp, key), NULL, "text") is one. */
struct weft_value *weft_context_edit(struct weft_response *rsp, const char *key);

/* What an Operation records of this step, for editing: an object, empty at first. */
struct weft_value *weft_output(struct weft_response *rsp);

/* Tells the user. Results become events: report a transition when it happens, not the same state on every call, since a function is
 * called again and again. Fatal ends the run with an error and changes nothing: use it when nothing sensible can be desired. */
struct weft_result *weft_normal(struct weft_response *rsp, const char *format, ...) WEFT_PRINTF(2, 3);
struct weft_result *weft_warning(struct weft_response *rsp, const char *format, ...) WEFT_PRINTF(2, 3);
struct weft_result *weft_fatal(struct weft_response *rsp, const char *format, ...) WEFT_PRINTF(2, 3);

/* True once there is a fatal result, whoever added it. */
bool weft_has_failed(const struct weft_response *rsp);

enum weft_target {
        WEFT_COMPOSITE = 1,
        WEFT_COMPOSITE_AND_CLAIM = 2,
};

/* Refine a result: its reason, in CamelCase for programs; who is told (the composite alone unless said). */
struct weft_result *weft_result_reason(struct weft_result *result, const char *reason);
struct weft_result *weft_result_target(struct weft_result *result, enum weft_target target);

enum weft_status_value {
        WEFT_UNKNOWN = 1,
        WEFT_TRUE = 2,
        WEFT_FALSE = 3,
};

/* Sets a condition of the composite resource. Types of the engine (Ready, Synced, ...) are not the function's to set. The message, and
 * who is told besides the composite, are refinements. */
struct weft_condition *weft_condition(struct weft_response *rsp, const char *type, enum weft_status_value status,
                                      const char *reason);
struct weft_condition *weft_condition_message(struct weft_condition *c, const char *format, ...) WEFT_PRINTF(2, 3);
struct weft_condition *weft_condition_target(struct weft_condition *c, enum weft_target target);

/* Asks to be called again with resources: one by name, or all with the labels (keys and values by turns, then NULL; none at all
 * means every resource of the kind). Without a namespace (NULL): cluster scoped, or with labels in all namespaces. Ask for the
 * same in every call, also when the answer is already there: the engine goes on once the requirements no longer change. */
void weft_require_name(struct weft_response *rsp, const char *key, const char *api_version, const char *kind,
                       const char *namespace_, const char *name);
void weft_require_labels(struct weft_response *rsp, const char *key, const char *api_version, const char *kind,
                         const char *namespace_, const char *const *labels);

/* Asks to be called again with the OpenAPI v3 schema of a kind. */
void weft_require_schema(struct weft_response *rsp, const char *key, const char *api_version, const char *kind);

/* Runs the pipeline again when this resource changes. It must be one that was required in this run. Engines other than Weft
 * ignore it. namespace_ NULL: cluster scoped. */
void weft_watch_resource(struct weft_response *rsp, const char *api_version, const char *kind, const char *namespace_,
                         const char *name);

/* For how long the engine may use this response again for an equal request; 0: not at all. 60 seconds unless set. Less than 0 or more
 * than 1e9 seconds is a fatal result. */
void weft_set_ttl(struct weft_response *rsp, double seconds);

/* --- Logging ------------------------------------------------------------------------------------------------------------------- */

/* A line on standard error with the function's name and the request's tag: JSON, or with --debug a form for people. Debug lines are
 * written only with --debug. Never log credentials or connection details. */
void weft_log_debug(const struct weft_request *req, const char *format, ...) WEFT_PRINTF(2, 3);
void weft_log_info(const struct weft_request *req, const char *format, ...) WEFT_PRINTF(2, 3);

/* --- Testing ------------------------------------------------------------------------------------------------------------------- */

/* A request and the whole response it should give, as YAML or JSON in the names of the protocol:
 *
 *     { .name = "no count is fatal",
 *       .request = "observed: { composite: { resource: { spec: {} } } }",
 *       .response = "meta: { ttl: 60s }\n"
 *                   "results:\n"
 *                   "- { severity: SEVERITY_FATAL, target: TARGET_COMPOSITE, message: ... }\n" } */
struct weft_test {
        const char *name;
        const char *request;
        const char *response;
        const char *const *flags; /* of the function's own, as on the command line, up to a NULL; may be NULL */
};

/* Runs the cases without a server and prints TAP, with every difference as a line below a case that failed. Returns the exit code for
 * main: 0 when all passed. */
int weft_test(const struct weft_function *function, const struct weft_test *tests, size_t n_tests);

/* Runs one request, YAML or JSON, with all flags at their defaults, and gives the response as JSON with sorted keys; the caller frees it.
 * NULL, with a line on standard error, when the request cannot be read. */
char *weft_run_text(const struct weft_function *function, const char *request);

#ifdef __cplusplus
}
#endif

#endif
