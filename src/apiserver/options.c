#include "options.h"

#include "buf.h"
#include "limits.h"
#include "number.h"
#include "timetext.h"
#include "utf8.h"
#include "gotext.h"

#define TIMEOUT_MS 60000 /* of requests, without a shorter ?timeout= */

static int invalid_options(struct err *err, const char *kind, const struct field_errors *errors)
{
        struct status_subject subject = { .group = STR("meta.k8s.io"), .kind = str_from(kind) };

        return errors->n ? status_invalid(err, &subject, errors) : 0;
}

/* --- Lists --- */

static int read_number(const struct api_query *q, struct str name, int64_t *ret, struct err *err)
{
        struct str text = api_query_get(q, name);
        _cleanup_err_ struct err inner = { 0 };

        if (text.n == 0)
                return 0;
        if (number_parse_int(text, ret, &inner) < 0)
                return status_bad_request(err, "%s", err_message(&inner));
        return 0;
}

static int read_selectors(struct arena *a, const struct api_query *q, struct list_options *ret, struct err *err)
{
        int r = label_selector_parse(a, api_query_get(q, STR("labelSelector")), &ret->labels, err);

        return r < 0 ? r : field_selector_parse(a, api_query_get(q, STR("fieldSelector")), &ret->fields, err);
}

static enum version_match match_of(struct str text)
{
        if (str_equal(text, STR("Exact")))
                return MATCH_EXACT;
        return str_equal(text, STR("NotOlderThan")) ? MATCH_NOT_OLDER_THAN : MATCH_UNSET;
}

static void check_list(const struct api_query *q, struct field_errors *errors)
{
        static const struct str supported[] = { STR_INIT("Exact"), STR_INIT("NotOlderThan"), STR_INIT("") };
        struct str match = api_query_get(q, STR("resourceVersionMatch")), field = STR("resourceVersionMatch");
        struct value shown = value_of_str(match);

        if (match.n && match_of(match) == MATCH_UNSET) { /* the cluster checks those that it knows */
                if (api_query_get(q, STR("resourceVersion")).n == 0)
                        field_error_add(errors, FIELD_FORBIDDEN, field, NULL,
                                        "resourceVersionMatch is forbidden unless resourceVersion is provided");
                if (api_query_get(q, STR("continue")).n)
                        field_error_add(errors, FIELD_FORBIDDEN, field, NULL,
                                        "resourceVersionMatch is forbidden when continue is provided");
                field_error_add_unsupported(errors, field, &shown, supported, ARRAY_SIZE(supported));
        }
        if (api_query_get(q, STR("sendInitialEvents")).p)
                field_error_add(errors, FIELD_FORBIDDEN, STR("sendInitialEvents"), NULL,
                                "sendInitialEvents is forbidden for list");
}

/* Reads the options that lists and watches share. Numbers are checked before selectors, as in the API. */
static int read_common(struct arena *a, const struct api_query *q, int64_t *ret_limit, struct list_options *ret,
                       struct err *err)
{
        int r = read_number(q, STR("limit"), ret_limit, err);

        ret->timeout_seconds = -1;
        if (r == 0)
                r = read_number(q, STR("timeoutSeconds"), &ret->timeout_seconds, err);
        return r < 0 ? r : read_selectors(a, q, ret, err);
}

/* A list at any version comes from a cache upstream, which has no pages, not even with a token. */
static bool ignores_limit(const struct api_query *q)
{
        return str_equal(api_query_get(q, STR("resourceVersion")), STR("0"));
}

int options_list(struct arena *a, const struct api_query *q, struct list_options *ret, struct err *err)
{
        struct field_errors errors;
        int64_t limit = 0;
        int r = read_common(a, q, &limit, ret, err);

        if (r < 0)
                return r;
        field_errors_init(&errors, a);
        check_list(q, &errors);
        ret->list = (struct list_request) {
                .labels = &ret->labels,
                .fields = &ret->fields,
                .limit = limit > 0 && !ignores_limit(q) ? (size_t)limit : 0,
                .continue_token = api_query_get(q, STR("continue")),
                .resource_version = api_query_get(q, STR("resourceVersion")),
                .match = match_of(api_query_get(q, STR("resourceVersionMatch"))),
        };
        return invalid_options(err, "ListOptions", &errors);
}

/* --- Watches --- */

static void check_watch(const struct api_query *q, struct field_errors *errors)
{
        static const struct str supported[] = { STR_INIT("NotOlderThan") };
        struct str match = api_query_get(q, STR("resourceVersionMatch")), field = STR("resourceVersionMatch");
        bool has_initial = api_query_get(q, STR("sendInitialEvents")).p != NULL;
        struct value shown = value_of_str(match);

        if (has_initial && match_of(match) != MATCH_NOT_OLDER_THAN)
                field_error_add(errors, FIELD_FORBIDDEN, field, NULL,
                                "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
        if (!has_initial && match.n)
                field_error_add(errors, FIELD_FORBIDDEN, field, NULL,
                                "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
        if (match.n && match_of(match) != MATCH_NOT_OLDER_THAN)
                field_error_add_unsupported(errors, field, &shown, supported, ARRAY_SIZE(supported));
        if (api_query_get(q, STR("continue")).n)
                field_error_add(errors, FIELD_FORBIDDEN, field, NULL,
                                "resourceVersionMatch is forbidden when continue is provided");
}

int options_watch(struct arena *a, const struct api_query *q, struct list_options *ret, struct err *err)
{
        struct str version = api_query_get(q, STR("resourceVersion"));
        struct field_errors errors;
        int64_t limit = 0; /* checked, but a watch has none */
        int r = read_common(a, q, &limit, ret, err);

        if (r < 0)
                return r;
        field_errors_init(&errors, a);
        check_watch(q, &errors);
        ret->watch = (struct watch_request) {
                .labels = &ret->labels,
                .fields = &ret->fields,
                .resource_version = version.p ? version : STR(""),
                .sends_initial_events = api_query_flag(q, STR("sendInitialEvents")),
                .wants_bookmarks = api_query_flag(q, STR("allowWatchBookmarks")),
                .timeout_ms = ret->timeout_seconds > 0 && ret->timeout_seconds < INT64_MAX / 1000
                                      ? ret->timeout_seconds * 1000
                                      : 0,
        };
        return invalid_options(err, "ListOptions", &errors);
}

/* --- Writes --- */

/* Every value must be All; the error shows all of them. */
static void check_dry_run(struct arena *a, const struct api_query *q, struct field_errors *errors, bool *ret)
{
        static const struct str supported[] = { STR_INIT("All") };
        struct array_builder values;
        bool is_wrong = false;

        *ret = false;
        array_builder_init(&values, a, 1);
        for (size_t i = 0; i < q->n; i++) {
                if (!str_equal(q->p[i].name, STR("dryRun")))
                        continue;
                *ret = true;
                is_wrong |= !str_equal(q->p[i].value, STR("All"));
                array_builder_add(&values, value_of_str(q->p[i].value));
        }
        if (is_wrong) {
                struct value shown = array_builder_finish(&values);

                field_error_add_unsupported(errors, STR("dryRun"), &shown, supported, ARRAY_SIZE(supported));
        }
}

static void check_field_validation(const struct api_query *q, struct field_errors *errors, enum field_validation *ret)
{
        static const struct str supported[] = { STR_INIT(""), STR_INIT("Ignore"), STR_INIT("Strict"),
                                                STR_INIT("Warn") };
        struct str text = api_query_get(q, STR("fieldValidation"));
        struct value shown = value_of_str(text);

        *ret = FIELDS_WARN;
        if (str_equal(text, STR("Strict")))
                *ret = FIELDS_STRICT;
        else if (str_equal(text, STR("Ignore")))
                *ret = FIELDS_IGNORE;
        else if (text.n && !str_equal(text, STR("Warn")))
                field_error_add_unsupported(errors, STR("fieldValidation"), &shown, supported, ARRAY_SIZE(supported));
}

/* The User-Agent up to its first slash, what is printable of it, cut to the length of a manager's name. */
static struct str manager_of_agent(struct arena *a, struct str agent)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct str name;

        str_split(&agent, '/', &name);
        for (size_t i = 0, n; i < name.n; i += n) {
                uint32_t rune = utf8_decode(str_skip(name, i), &n);

                if (go_is_printable(rune) && b.n + n <= LIMIT_MANAGER_BYTES)
                        buf_append(&b, name.p + i, n);
        }
        return buf_to_arena(&b, a);
}

static const char *options_kind(enum write_verb verb)
{
        return verb == WRITE_CREATE ? "CreateOptions" : verb == WRITE_UPDATE ? "UpdateOptions" : "PatchOptions";
}

int options_write(struct arena *a, const struct api_query *q, struct str user_agent, struct write_request *req,
                  struct err *err)
{
        struct field_errors errors;
        bool is_patch = req->verb != WRITE_CREATE && req->verb != WRITE_UPDATE && req->verb != WRITE_APPLY;

        field_errors_init(&errors, a);
        check_dry_run(a, q, &errors, &req->is_dry_run);
        check_field_validation(q, &errors, &req->field_validation);
        req->manager = api_query_get(q, STR("fieldManager"));
        if (req->manager.n == 0 && req->verb != WRITE_APPLY)
                req->manager = manager_of_agent(a, user_agent);
        if (req->verb == WRITE_APPLY && req->manager.n == 0)
                field_error_add(&errors, FIELD_REQUIRED, STR("fieldManager"), NULL, "is required for apply patch");
        if (req->verb == WRITE_APPLY)
                req->force = api_query_flag(q, STR("force"));
        else if (is_patch)
                req->force = api_query_get(q, STR("force")).p != NULL; /* an error, which the pipeline reports */
        return invalid_options(err, options_kind(req->verb), &errors);
}

/* --- Deletes --- */

static void read_propagation(struct str text, struct field_errors *errors, enum propagation *ret)
{
        static const struct str supported[] = { STR_INIT("Foreground"), STR_INIT("Background"), STR_INIT("Orphan"),
                                                STR_INIT("nil") };
        struct value shown = value_of_str(text);

        if (str_equal(text, STR("Background")))
                *ret = PROPAGATE_BACKGROUND;
        else if (str_equal(text, STR("Foreground")))
                *ret = PROPAGATE_FOREGROUND;
        else if (str_equal(text, STR("Orphan")))
                *ret = PROPAGATE_ORPHAN;
        else
                field_error_add_unsupported(errors, STR("propagationPolicy"), &shown, supported, ARRAY_SIZE(supported));
}

/* The old orphanDependents and the policy exclude each other. */
static void read_orphan(bool is_set, bool orphans, bool has_policy, struct str policy, struct field_errors *errors,
                        struct write_request *req, bool *ret_is_explicit)
{
        struct value shown = value_of_str(policy);

        if (!is_set)
                return;
        if (has_policy)
                field_error_add(errors, FIELD_INVALID, STR("propagationPolicy"), &shown,
                                "orphanDependents and deletionPropagation cannot be both set");
        else
                req->propagation = orphans ? PROPAGATE_ORPHAN : PROPAGATE_BACKGROUND;
        *ret_is_explicit = !orphans;
}

static int delete_from_query(struct arena *a, const struct api_query *q, struct write_request *req,
                             bool *ret_is_explicit, struct err *err)
{
        struct str policy = api_query_get(q, STR("propagationPolicy"));
        struct field_errors errors;
        int64_t grace;
        int r = read_number(q, STR("gracePeriodSeconds"), &grace, err);

        if (r < 0)
                return r;
        field_errors_init(&errors, a);
        check_dry_run(a, q, &errors, &req->is_dry_run);
        if (policy.p)
                read_propagation(policy, &errors, &req->propagation);
        read_orphan(api_query_get(q, STR("orphanDependents")).p, api_query_flag(q, STR("orphanDependents")),
                    policy.p != NULL, policy, &errors, req, ret_is_explicit);
        return invalid_options(err, "DeleteOptions", &errors);
}

static void dry_run_from_body(const struct value *list, struct field_errors *errors, struct write_request *req)
{
        static const struct str supported[] = { STR_INIT("All") };

        req->is_dry_run = value_count(list) > 0;
        VALUE_FOREACH_ITEM (item, list)
                if (!str_equal(value_str(item), STR("All"))) {
                        field_error_add_unsupported(errors, STR("dryRun"), list, supported, ARRAY_SIZE(supported));
                        return;
                }
}

static bool is_list_of_strings(const struct value *v)
{
        VALUE_FOREACH_ITEM (item, v)
                if (!value_is_string(item))
                        return false;
        return value_is_array(v);
}

/* The type of a field in the words of Go's decoder; null is any of them. */
static int check_delete_field(const struct value *v, bool is_right, const char *field, const char *type,
                              struct err *err)
{
        if (!v || value_is_null(v) || is_right)
                return 0;
        return status_bad_request(err, "json: cannot unmarshal %s into Go struct field %s of type %s", go_json_type(v),
                                  field, type);
}

static int check_delete_types(const struct value *body, struct err *err)
{
        const struct value *grace = value_get(body, STR("gracePeriodSeconds"));
        const struct value *dry_run = value_get(body, STR("dryRun"));
        const struct value *orphans = value_get(body, STR("orphanDependents"));
        const struct value *policy = value_get(body, STR("propagationPolicy"));
        const struct value *conditions = value_get(body, STR("preconditions"));
        const struct value *uid = value_get(conditions, STR("uid"));
        const struct value *version = value_get(conditions, STR("resourceVersion"));
        int r = check_delete_field(grace, value_is_int(grace), "DeleteOptions.gracePeriodSeconds", "int64", err);

        if (r == 0)
                r = check_delete_field(dry_run, is_list_of_strings(dry_run), "DeleteOptions.dryRun", "[]string", err);
        if (r == 0)
                r = check_delete_field(orphans, value_is_bool(orphans), "DeleteOptions.orphanDependents", "bool", err);
        if (r == 0)
                r = check_delete_field(policy, value_is_string(policy), "DeleteOptions.propagationPolicy",
                                       "v1.DeletionPropagation", err);
        if (r == 0)
                r = check_delete_field(conditions, value_is_object(conditions), "DeleteOptions.preconditions",
                                       "v1.Preconditions", err);
        if (r == 0)
                r = check_delete_field(uid, value_is_string(uid), "Preconditions.preconditions.uid", "types.UID", err);
        return r < 0 ? r
                     : check_delete_field(version, value_is_string(version),
                                          "Preconditions.preconditions.resourceVersion", "string", err);
}

static int delete_from_body(struct arena *a, const struct value *body, struct write_request *req, bool *ret_is_explicit,
                            struct err *err)
{
        const struct value *policy = value_get(body, STR("propagationPolicy"));
        const struct value *orphans = value_get(body, STR("orphanDependents"));
        const struct value *preconditions = value_get(body, STR("preconditions"));
        struct str kind = value_str(value_get(body, STR("kind")));
        struct field_errors errors;
        int r;

        if (!value_is_object(body))
                return status_bad_request(err,
                                          "couldn't get version/kind; json parse error: json: cannot unmarshal %s into "
                                          "Go value of type struct { APIVersion string "
                                          "\"json:\\\"apiVersion,omitempty\\\"\"; Kind string "
                                          "\"json:\\\"kind,omitempty\\\"\" }",
                                          go_json_type(body));
        if (kind.n && !str_equal(kind, STR("DeleteOptions")))
                return status_bad_request(
                        err, "%.*s", STR_ARG(gvk_unknown_text(a, kind, value_str(value_get(body, STR("apiVersion"))))));
        r = check_delete_types(body, err);
        if (r < 0)
                return r;
        field_errors_init(&errors, a);
        dry_run_from_body(value_get(body, STR("dryRun")), &errors, req);
        if (value_is_string(policy))
                read_propagation(value_str(policy), &errors, &req->propagation);
        read_orphan(value_is_bool(orphans), value_bool(orphans, false), value_is_string(policy), value_str(policy),
                    &errors, req, ret_is_explicit);
        req->precondition_uid = value_str(value_get(preconditions, STR("uid")));
        req->precondition_version = value_str(value_get(preconditions, STR("resourceVersion")));
        return invalid_options(err, "DeleteOptions", &errors);
}

int options_delete(struct arena *a, const struct api_query *q, const struct value *body, struct write_request *req,
                   bool *ret_is_explicit, struct err *err)
{
        *ret_is_explicit = false;
        if (body)
                return delete_from_body(a, body, req, ret_is_explicit, err);
        return delete_from_query(a, q, req, ret_is_explicit, err);
}

/* --- Others --- */

int options_timeout(const struct api_query *q, int64_t *ret_ms, struct err *err)
{
        struct str text = api_query_get(q, STR("timeout"));
        _cleanup_err_ struct err inner = { 0 };
        int64_t ns;

        *ret_ms = TIMEOUT_MS;
        if (text.n == 0)
                return 0;
        if (duration_parse(text, &ns, &inner) < 0)
                return status_bad_request(err, "invalid timeout specified in the request URL - %s",
                                          err_message(&inner));
        if (ns > 0 && ns / NS_PER_MS < TIMEOUT_MS)
                *ret_ms = MAX(ns / NS_PER_MS, (int64_t)1);
        return 0;
}

int options_include(const struct api_query *q, enum include_object *ret, struct err *err)
{
        struct str text = api_query_get(q, STR("includeObject"));

        if (text.n == 0 || str_equal(text, STR("Metadata")))
                *ret = INCLUDE_METADATA;
        else if (str_equal(text, STR("None")))
                *ret = INCLUDE_NONE;
        else if (str_equal(text, STR("Object")))
                *ret = INCLUDE_OBJECT;
        else
                return status_bad_request(err,
                                          "Unable to convert to Table as requested: includeObject: Invalid value: "
                                          "\"%.*s\": must be 'Metadata', 'Object', 'None', or empty",
                                          STR_ARG(text));
        return 0;
}
