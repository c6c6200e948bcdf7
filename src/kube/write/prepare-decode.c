/* Decodes the body of a request to an object of the request's version. */
#include "draft.h"

#include "buf.h"
#include "builtin-typed.h"
#include "gotext.h"
#include "json.h"
#include "limits.h"
#include "managed.h"
#include "patch.h"
#include "strategic.h"

/* --- Options --- */

static struct status_subject options_subject(const struct draft *s)
{
        struct status_subject subject = { .group = STR("meta.k8s.io") };

        subject.kind = s->req->verb == WRITE_CREATE   ? STR("CreateOptions")
                       : s->req->verb == WRITE_UPDATE ? STR("UpdateOptions")
                                                      : STR("PatchOptions");
        return subject;
}

int draft_check_options(const struct draft *s, struct err *err)
{
        struct status_subject subject = options_subject(s);
        struct field_errors errors;

        if (s->req->verb == WRITE_DELETE)
                return 0;
        field_errors_init(&errors, s->arena);
        if (s->req->verb == WRITE_APPLY && s->req->manager.n == 0)
                field_error_add(&errors, FIELD_REQUIRED, STR("fieldManager"), NULL, "is required for apply patch");
        if (s->req->verb != WRITE_APPLY && s->req->force)
                field_error_add(&errors, FIELD_FORBIDDEN, STR("force"), NULL,
                                "may not be specified for non-apply patch");
        metadata_check_manager(&errors, STR("fieldManager"), s->req->manager);
        return errors.n ? status_invalid(err, &subject, &errors) : 0;
}

/* --- Fields --- */

static struct gvk request_gvk(const struct draft *s)
{
        return (struct gvk) { .group = s->p->kind->group, .version = s->p->version->name, .kind = s->p->kind->kind };
}

/* The value in an error about a patch: a strategic patch itself, as Go prints maps; of other patches the result, as JSON. */
static struct str show_patch(const struct draft *s, const struct value *patched)
{
        unsigned order = str_equal(s->req->subresource, STR("scale")) ? JSON_ESCAPE_HTML : JSON_GO;
        _cleanup_buf_ struct buf text = BUF_INIT(LIMIT_ERROR_BYTES);
        struct str json;

        if (s->req->verb == WRITE_STRATEGIC_PATCH) {
                go_append_value(&text, s->req->body);
                return buf_to_arena(&text, s->arena);
        }
        return json_to_str(s->arena, patched, order, &json, NULL) < 0 ? STR("") : json;
}

int draft_bad_patch(const struct draft *s, const struct value *patched, struct str text, struct err *err)
{
        struct status_subject nobody = { 0 };
        struct field_errors errors;
        struct value shown = value_of_str(show_patch(s, patched));

        field_errors_init(&errors, s->arena);
        field_error_add(&errors, FIELD_INVALID, STR("patch"), &shown, "%.*s", STR_ARG(text));
        return status_invalid(err, &nobody, &errors);
}

/* claimed is the type in the body. */
static int decode_failure_as(struct gvk claimed, struct str kind, struct err *err)
{
        err_wrap(err, "%.*s in version \"%.*s\" cannot be handled as a %.*s", STR_ARG(claimed.kind),
                 STR_ARG(claimed.version), STR_ARG(kind));
        err_set_reason(err, REASON_BAD_REQUEST);
        return ERR_INVALID;
}

/* Upstream reads some objects from maps instead of texts, and its reader of base64 names itself then. */
static const char *reader_of(struct str reason)
{
        return str_starts_with(reason, STR("illegal base64")) ? "error decoding from json: " : "";
}

/* The reason of the failure is already in err. */
static int decode_failure(const struct draft *s, struct gvk claimed, const struct value *patched, struct err *err)
{
        struct str reason = arena_copy(s->arena, str_from(err_message(err)));

        if (!patched)
                return decode_failure_as(claimed, s->p->kind->kind, err);
        if (s->req->verb == WRITE_STRATEGIC_PATCH)
                reason = arena_printf(s->arena, "%s%.*s", reader_of(reason), STR_ARG(reason));
        return draft_bad_patch(s, patched, reason, err);
}

/* Adds texts about unknown fields in the operations of a JSON patch. */
static void add_operation_fields(const struct draft *s, struct str_list *texts)
{
        static const char *const known[] = { "op", "path", "from", "value" };
        const struct value *patch = s->req->verb == WRITE_JSON_PATCH ? s->req->body : NULL;

        for (size_t i = 0; i < value_count(patch); i++)
                VALUE_FOREACH_MEMBER (m, value_item(patch, i)) {
                        bool is_known = false;

                        for (size_t j = 0; j < ARRAY_SIZE(known); j++)
                                is_known |= str_equal(m->key, str_from(known[j]));
                        if (!is_known)
                                str_list_printf(texts, "json patch unknown field \"[%zu].%.*s\"", i, STR_ARG(m->key));
                }
}

/* Reports problems with a body's fields: an error under Strict, warnings under Warn. claimed is the type in the body; patched is
 * the result of a patch, or NULL. */
static int report_fields(const struct draft *s, const struct str_list *unknown, struct gvk claimed,
                         const struct value *patched, struct err *err)
{
        const struct write_request *req = s->req;
        bool is_json_patch = req->verb == WRITE_JSON_PATCH;
        struct str_list texts;

        str_list_init(&texts, s->arena);
        add_operation_fields(s, &texts);
        for (size_t i = 0; i < req->n_duplicate_fields; i++)
                str_list_printf(&texts, "%sduplicate field \"%.*s\"", is_json_patch ? "json patch " : "",
                                STR_ARG(req->duplicate_fields[i]));
        for (size_t i = 0; i < unknown->n; i++)
                str_list_printf(&texts, "unknown field \"%.*s\"", STR_ARG(unknown->p[i]));
        if (texts.n == 0 || req->field_validation == FIELDS_IGNORE)
                return 0;
        if (req->field_validation == FIELDS_WARN) {
                for (size_t i = 0; i < texts.n; i++)
                        str_list_add(s->run->warnings, texts.p[i]);
                return 0;
        }
        err_set(err, ERR_INVALID, "strict decoding error: %.*s", STR_ARG(str_list_join(&texts, STR(", "))));
        return patched ? decode_failure(s, claimed, patched, err) : decode_failure_as(claimed, claimed.kind, err);
}

/* --- Type --- */

static bool is_json_object(struct str text)
{
        return str_starts_with(str_trim(text), STR("{"));
}

/* The body as JSON, for errors: as it was sent, unless that was YAML or no text at all. */
static struct str body_json(const struct draft *s, const struct value *body)
{
        struct str text = STR("");

        if (is_json_object(s->req->body_text))
                return s->req->body_text;
        return json_to_str(s->arena, body, JSON_GO, &text, NULL) < 0 ? STR("") : text;
}

static struct str body_prefix(const struct draft *s, const struct value *body)
{
        return status_body_prefix(s->arena, s->req->body_text.n ? s->req->body_text : body_json(s, body));
}

static int check_has_kind(const struct draft *s, const struct value *body, struct err *err)
{
        struct gvk claimed = request_gvk(s);
        struct str text;

        if (value_str(value_get(body, STR("kind"))).n)
                return 0;
        text = body_json(s, body);
        if (s->req->field_validation == FIELDS_IGNORE) {
                if (gvk_of(body).version.n)
                        claimed.version = gvk_of(body).version;
                err_set(err, ERR_INVALID, "Object 'Kind' is missing in '%.*s'", STR_ARG(str_trim(text)));
                return decode_failure_as(claimed, s->p->kind->kind, err);
        }
        return status_bad_request(
                err,
                "the object provided is unrecognized (must be of type %.*s): Object 'Kind' is missing "
                "in '%.*s' (%.*s)",
                STR_ARG(s->p->kind->kind), STR_ARG(text), STR_ARG(body_prefix(s, body)));
}

/* The API's error for a body whose type cannot be read. */
static int refuse_unreadable(const struct draft *s, const struct value *body, struct str text, struct err *err)
{
        return status_bad_request(err, "the object provided is unrecognized (must be of type %.*s): %.*s (%.*s)",
                                  STR_ARG(s->p->kind->kind), STR_ARG(text), STR_ARG(body_prefix(s, body)));
}

static int check_readable_type(const struct draft *s, const struct value *body, struct err *err)
{
        _cleanup_err_ struct err inner = { 0 };
        struct str group, version;

        VALUE_FOREACH_MEMBER (m, body) {
                if (!str_equal(m->key, STR("apiVersion")) && !str_equal(m->key, STR("kind")))
                        continue;
                if (!value_is_string(&m->value) && !value_is_null(&m->value))
                        return refuse_unreadable(
                                s, body,
                                arena_printf(s->arena,
                                             "couldn't get version/kind; json parse error: json: cannot unmarshal %s "
                                             "into Go struct field .%.*s of type string",
                                             go_json_type(&m->value), STR_ARG(m->key)),
                                err);
        }
        if (gvk_split_api_version(value_str(value_get(body, STR("apiVersion"))), &group, &version, &inner) < 0)
                return refuse_unreadable(s, body, arena_copy(s->arena, str_from(err_message(&inner))), err);
        return 0;
}

/* Reports unknown fields of a body in another version. If group and kind are those of the request, all fields of the unknown
 * version are unknown; for another kind only metadata is checked. */
static int report_unknown_version(const struct draft *s, const struct value *body, struct err *err)
{
        const struct value *api_version = value_get(body, STR("apiVersion")), *metadata;
        struct gvk claimed = gvk_of(body);
        struct str_list unknown;

        if (api_version && value_is_null(api_version)) {
                err_set(err, ERR_INVALID, ".apiVersion accessor error: <nil> is of the type <nil>, expected string");
                return decode_failure_as(claimed, s->p->kind->kind, err);
        }
        str_list_init(&unknown, s->arena);
        if (metadata_coerce(s->arena, value_get(body, STR("metadata")), &unknown, &metadata, err) < 0)
                return decode_failure_as(claimed, s->p->kind->kind, err);
        VALUE_FOREACH_MEMBER (m, body)
                if (str_equal(claimed.group, s->p->kind->group) && str_equal(claimed.kind, s->p->kind->kind) &&
                    !str_equal(m->key, STR("apiVersion")) && !str_equal(m->key, STR("kind")) &&
                    !str_equal(m->key, STR("metadata")))
                        str_list_add(&unknown, m->key);
        str_list_sort(&unknown);
        if (unknown.n && claimed.version.n == 0 && s->req->field_validation == FIELDS_STRICT)
                return status_bad_request(err, "Object 'apiVersion' is missing in 'object has no apiVersion field'");
        return report_fields(s, &unknown, claimed, NULL, err);
}

static int check_custom_type(const struct draft *s, const struct value *body, struct err *err)
{
        struct str wanted = gvk_api_version(s->arena, request_gvk(s));
        struct str given = value_str(value_get(body, STR("apiVersion")));
        int r = check_readable_type(s, body, err);

        if (r == 0)
                r = check_has_kind(s, body, err);
        if (r < 0 || str_equal(given, wanted))
                return r;
        r = report_unknown_version(s, body, err);
        if (r < 0)
                return r;
        return status_bad_request(err,
                                  "the API version in the data (%.*s) does not match the expected API version (%.*s)",
                                  STR_ARG(given), STR_ARG(wanted));
}

/* A body in another version of a built-in kind, or in one that there is not. */
static int refuse_version(const struct draft *s, struct str said, struct err *err)
{
        struct gvk wanted = request_gvk(s);
        struct str group = STR(""), version = STR(""), kind = wanted.kind;

        gvk_split_api_version(said, &group, &version, NULL);
        if (kind_version_in(s->p->kind, group, version))
                return status_bad_request(
                        err, "the API version in the data (%.*s) does not match the expected API version (%.*s)",
                        STR_ARG(said), STR_ARG(gvk_api_version(s->arena, wanted)));
        return status_bad_request(err, "%.*s in version \"%.*s\" cannot be handled as a %.*s: %.*s", STR_ARG(kind),
                                  STR_ARG(version), STR_ARG(kind), STR_ARG(gvk_unknown_text(s->arena, kind, said)));
}

/* Lists of a kind are as well known as the kind. */
static bool is_builtin(struct gvk gvk)
{
        str_cut_suffix(&gvk.kind, STR("List"));
        for (struct kind *const *k = kind_builtins(); *k; k++)
                if (str_equal((*k)->kind, gvk.kind) && kind_version_in(*k, gvk.group, gvk.version))
                        return true;
        return false;
}

/* A body of another kind. */
static int refuse_kind(const struct draft *s, struct gvk given, struct err *err)
{
        struct gvk wanted = request_gvk(s);
        struct str why;

        if (!given.version.n) {
                given.group = wanted.group;
                given.version = wanted.version;
        }
        why = is_builtin(given)
                      ? arena_printf(s->arena, "converting (%.*s.%.*s) to (%.*s.%.*s): unknown conversion",
                                     STR_ARG(given.version), STR_ARG(given.kind),
                                     STR_ARG(wanted.group.n ? wanted.group : STR("core")), STR_ARG(wanted.kind))
                      : gvk_unknown_text(s->arena, given.kind, gvk_api_version(s->arena, given));
        return status_bad_request(err, "%.*s in version \"%.*s\" cannot be handled as a %.*s: %.*s",
                                  STR_ARG(given.kind), STR_ARG(given.version), STR_ARG(wanted.kind), STR_ARG(why));
}

/* Bodies of built-in kinds may leave out apiVersion and kind. */
static int fill_builtin_type(const struct draft *s, const struct value **body, struct err *err)
{
        struct gvk wanted = request_gvk(s), given = gvk_of(*body);
        struct str api_version = gvk_api_version(s->arena, wanted);
        const struct value *said = value_get(*body, STR("apiVersion"));

        if (given.kind.n && !str_equal(given.kind, wanted.kind))
                return refuse_kind(s, given, err);
        if (said && !str_equal(value_str(said), api_version))
                return refuse_version(s, value_str(said), err);
        *body = value_with(s->arena, *body, STR("apiVersion"), value_put(s->arena, value_of_str(api_version)));
        *body = value_with(s->arena, *body, STR("kind"), value_put(s->arena, value_of_str(wanted.kind)));
        return 0;
}

/* --- Objects --- */

/* An object in another version than the stored one is what storage makes of it, before anybody owns its fields. */
static int pass_through_storage(struct draft *s, struct err *err)
{
        const struct kind_version *storage = draft_storage(s);
        const struct value *stored;
        int r;

        if (s->p->version == storage)
                return 0;
        r = prepare_convert(s->p->kind, storage, s->arena, s->object, &stored, err);
        return r < 0 ? r : prepare_convert(s->p->kind, s->p->version, s->arena, stored, &s->object, err);
}

/* The object of a body whose managedFields are `[]`, which resets them. Types drop empty lists. */
static const struct value *with_reset(const struct draft *s, const struct value *body)
{
        const struct value *managers = value_get(meta(body), STR("managedFields"));

        if (!value_is_array(managers) || managers->n > 0)
                return s->object;
        return meta_with(s->arena, s->object, STR("managedFields"), managers);
}

/* An object of a built-in kind: the whole body is held against its type. */
static int decode_builtin(struct draft *s, const struct value *body, const struct value *patched, struct err *err)
{
        struct str_list unknown;
        int r;

        str_list_init(&unknown, s->arena);
        r = builtin_type_object(s->arena, s->p->version->type, body, &unknown, &s->object, err);
        if (r < 0)
                return decode_failure(s, gvk_of(body), patched, err);
        s->object = draft_complete(s, with_reset(s, body));
        s->decoded = body;
        r = pass_through_storage(s, err);
        return r < 0 ? r : report_fields(s, &unknown, gvk_of(body), patched, err);
}

/* Types the metadata, prunes the rest, drops nulls and fills in defaults. */
static int decode_fields(struct draft *s, const struct value *body, const struct value *patched, struct err *err)
{
        const struct value *metadata, *given = value_get(body, STR("metadata"));
        struct schema_admit_options options = { .drop_nulls = true };
        struct str_list unknown;
        int r;

        if (s->p->version->type)
                return decode_builtin(s, body, patched, err);
        str_list_init(&unknown, s->arena);
        r = metadata_coerce(s->arena, given, &unknown, &metadata, err);
        if (r < 0)
                return decode_failure(s, gvk_of(body), patched, err);
        options.unknown = &unknown;
        if (str_equal(value_str(value_get(body, STR("kind"))), s->p->kind->kind)) { /* another kind is refused later */
                body = draft_complete(s, schema_admit(kind_schema(s->p->version), s->arena, body, &options));
                r = metadata_coerce_embedded(s->arena, kind_schema(s->p->version), body, &unknown, &body, err);
                if (r < 0)
                        return decode_failure(s, gvk_of(body), patched, err);
        }
        r = report_fields(s, &unknown, gvk_of(body), patched, err);
        if (r < 0)
                return r;
        s->object = metadata == given ? body : value_with(s->arena, body, STR("metadata"), metadata);
        return 0;
}

int draft_decode(struct draft *s, const struct value *body, struct err *err)
{
        int r;

        if (!value_is_object(body))
                return status_bad_request(err, "the object provided is unrecognized (must be of type %.*s)",
                                          STR_ARG(s->p->kind->kind));
        r = s->p->kind->is_custom ? check_custom_type(s, body, err) : fill_builtin_type(s, &body, err);
        if (r < 0)
                return r;
        r = decode_fields(s, body, NULL, err);
        return r < 0 ? r : draft_check_identity(s, err);
}

/* --- Patches --- */

/* Checks the types in the operations, with the errors of upstream's decoder. */
static int check_operations(const struct draft *s, const struct value *patch, struct err *err)
{
        static const char *const texts[] = { "op", "path", "from" };

        VALUE_FOREACH_ITEM (op, patch) {
                if (!value_is_object(op) && !value_is_null(op))
                        return status_bad_request(err,
                                                  "error decoding patch: json: cannot unmarshal %s into Go value of "
                                                  "type handlers.jsonPatchOp",
                                                  go_json_type(op));
                for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
                        const struct value *v = value_get(op, str_from(texts[i]));

                        if (v && !value_is_string(v) && !value_is_null(v))
                                return status_bad_request(err,
                                                          "error decoding patch: json: cannot unmarshal %s into Go "
                                                          "struct field jsonPatchOp.%s of type string",
                                                          go_json_type(v), texts[i]);
                }
        }
        return 0;
}

static int apply_json_patch(struct draft *s, const struct value *document, const struct value **ret, struct err *err)
{
        const struct value *patch = s->req->body;
        int r;

        if (!value_is_array(patch) && !value_is_null(patch))
                return status_bad_request(
                        err,
                        "error decoding patch: json: cannot unmarshal %s into Go value of type []handlers.jsonPatchOp",
                        go_json_type(patch));
        r = check_operations(s, patch, err);
        if (r < 0)
                return r;
        if (value_count(patch) > LIMIT_PATCH_OPERATIONS) {
                r = err_set(err, ERR_LIMIT,
                            "Request entity too large: The allowed maximum operations in a JSON patch is %d, got %zu",
                            LIMIT_PATCH_OPERATIONS, value_count(patch));
                return r;
        }
        r = json_patch_apply(s->arena, document, patch, ret, err);
        if (r < 0 || value_is_null(*ret)) {
                r = err_set(err, ERR_INVALID, "the server rejected our request due to an error in our request");
                err_set_details(err, STR("{}"));
        }
        return r;
}

static int apply_merge_patch(struct draft *s, const struct value *document, const struct value **ret, struct err *err)
{
        const struct value *patch = s->req->body;

        if (value_is_null(patch))
                return status_bad_request(err, "Invalid JSON Patch");
        if (!value_is_object(patch))
                return status_bad_request(
                        err,
                        "error decoding patch: json: cannot unmarshal %s into Go value of type map[string]interface {}",
                        go_json_type(patch));
        *ret = merge_patch_apply(s->arena, document, patch);
        return 0;
}

static int apply_strategic_patch(struct draft *s, const struct value *document, const struct value **ret,
                                 struct err *err)
{
        const struct value *patch = s->req->body;

        if (value_is_null(patch)) {
                *ret = document;
                return 0;
        }
        if (!value_is_object(patch))
                return status_bad_request(err,
                                          "json: cannot unmarshal %s into Go value of type map[string]interface {}",
                                          go_json_type(patch));
        return strategic_merge(s->arena, kind_schema(s->p->version), document, patch, ret, err);
}

/* Checks the type of a patched object: it must be an object with a kind and an apiVersion. */
static int check_patched_type(const struct draft *s, const struct value *patched, struct err *err)
{
        struct str text = STR("");

        if (!value_is_object(patched))
                return draft_bad_patch(
                        s, patched,
                        arena_printf(s->arena,
                                     "couldn't get version/kind; json parse error: json: cannot unmarshal %s into Go "
                                     "value of type struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; "
                                     "Kind string \"json:\\\"kind,omitempty\\\"\" }",
                                     go_json_type(patched)),
                        err);
        if (value_str(value_get(patched, STR("kind"))).n == 0) {
                if (json_to_str(s->arena, patched, JSON_GO, &text, NULL) < 0)
                        text = STR("");
                return draft_bad_patch(
                        s, patched, arena_printf(s->arena, "Object 'Kind' is missing in '%.*s'", STR_ARG(text)), err);
        }
        if (value_str(value_get(patched, STR("apiVersion"))).n == 0)
                return status_internal_error(err, "Object 'apiVersion' is missing in 'object has no apiVersion field'");
        return 0;
}

int draft_patch_document(struct draft *s, const struct value *document, const struct value **ret, struct err *err)
{
        if (s->req->verb == WRITE_STRATEGIC_PATCH)
                return apply_strategic_patch(s, document, ret, err);
        return s->req->verb == WRITE_JSON_PATCH ? apply_json_patch(s, document, ret, err)
                                                : apply_merge_patch(s, document, ret, err);
}

int draft_patch(struct draft *s, struct err *err)
{
        const struct value *patched;
        int r = draft_patch_document(s, s->current, &patched, err);

        if (r < 0)
                return r;
        r = check_patched_type(s, patched, err);
        if (r < 0)
                return r;
        r = decode_fields(s, patched, patched, err);
        return r < 0 ? r : draft_check_identity(s, err);
}

/* --- Apply --- */

static int check_configuration(const struct draft *s, const struct value *config, struct err *err)
{
        struct gvk wanted = request_gvk(s), given = gvk_of(config);

        if (!gvk_equal(wanted, given))
                return status_bad_request(err, "invalid object type: %.*s", STR_ARG(gvk_text(s->arena, given)));
        if (value_get(meta(config), STR("managedFields")) &&
            !value_is_null(value_get(meta(config), STR("managedFields"))))
                return status_bad_request(err, "metadata.managedFields must be nil");
        return 0;
}

/* An apply that creates an object must not name a uid. */
static int check_new_uid(const struct draft *s, const struct value *config, struct err *err)
{
        struct status_subject subject = draft_subject(s);
        struct str uid = meta_uid(config);

        if (s->current || uid.n == 0)
                return 0;
        return status_conflict(err, &subject,
                               "uid mismatch: the provided object specified uid %.*s, and no existing object was found",
                               STR_ARG(uid));
}

/* Values that only the API sets may have any type in a configuration: bad ones are replaced by the current values. */
static void forget_bad_system_fields(struct draft *s)
{
        static const char *const names[] = { "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds",
                                             "generation" };
        const struct value *metadata;

        for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
                struct str name = str_from(names[i]);
                const struct value *v = value_get(meta(s->object), name);

                if (!v)
                        continue;
                v = value_with(s->arena, &value_empty_object, name, v);
                if (metadata_coerce(s->arena, v, NULL, &metadata, NULL) < 0)
                        s->object = meta_with(s->arena, s->object, name, value_get(meta(s->current), name));
        }
}

/* Values with a decoder of their own are read apart from their struct here, so that errors do not name the field. */
static struct str without_field(struct arena *a, struct str reason)
{
        static const struct str into = STR_INIT(" into Go struct field "), of = STR_INIT(" of type ");
        ssize_t begin = str_find(reason, into), end = begin < 0 ? -1 : str_find(str_skip(reason, (size_t)begin), of);

        if (end < 0)
                return reason;
        return arena_printf(a, "%.*s into Go value%.*s", (int)begin, reason.p,
                            STR_ARG(str_skip(reason, (size_t)(begin + end))));
}

/* The merged object of a built-in kind has a value that its type cannot hold; the reason is already in err. The namespace is that of the
 * configuration, which may have none. */
static int merged_failure(const struct draft *s, struct err *err)
{
        struct str reason = without_field(s->arena, arena_copy(s->arena, str_from(err_message(err))));
        struct str type = gvk_text(s->arena, request_gvk(s));

        return status_internal(err,
                               "failed to convert new object (%.*s/%.*s; %.*s) to proper version: unable to convert "
                               "unstructured object to %.*s: %s%.*s",
                               STR_ARG(meta_namespace(s->req->body)), STR_ARG(meta_name(s->object)), STR_ARG(type),
                               STR_ARG(type), reader_of(reason), STR_ARG(reason));
}

/* Types and defaults the merged object. It is not pruned before it is stored: a field that only a schema without properties allowed
 * counts as a change. */
static int type_applied(struct draft *s, struct err *err)
{
        const struct value *metadata, *given, *typed;
        int r;

        if (!s->p->version->type)
                forget_bad_system_fields(s);
        given = value_get(s->object, STR("metadata"));
        r = metadata_coerce(s->arena, given, NULL, &metadata, err);
        if (r < 0)
                return s->p->version->type ? merged_failure(s, err) : decode_failure(s, request_gvk(s), NULL, err);
        if (metadata != given)
                s->object = value_with(s->arena, s->object, STR("metadata"), metadata);
        if (s->p->version->type) {
                r = builtin_type_object(s->arena, s->p->version->type, s->object, NULL, &s->object, err);
                if (r < 0)
                        return merged_failure(s, err);
                s->object = draft_complete(s, s->object);
                return 0;
        }
        s->object = draft_default(s, s->object);
        /* Errors in embedded metadata are ignored here; validation reports them. */
        if (metadata_coerce_embedded(s->arena, kind_schema(s->p->version), s->object, NULL, &typed, NULL) == 0)
                s->object = typed;
        return 0;
}

int draft_apply(struct draft *s, struct err *err)
{
        const struct value *config = s->req->body;
        struct managed_scope scope;
        struct managed_request managed = {
                .type = &scope.type,
                .manager = s->req->manager,
                .subresource = s->req->subresource,
                .now = s->p->now,
                .force = s->req->force,
        };
        int r;

        managed_scope_init(&scope, s);
        r = check_configuration(s, config, err);
        if (r < 0)
                return r;
        if (!s->current && s->req->subresource.n)
                return 0; /* the caller reports NotFound */
        r = managed_apply(s->arena, &managed, s->current, config, &s->object, err);
        if (r == 0)
                r = check_new_uid(s, config, err);
        if (r < 0)
                return r;
        r = type_applied(s, err);
        return r < 0 ? r : draft_check_identity(s, err);
}

/* --- Identity --- */

static int check_namespace(struct draft *s, struct err *err)
{
        struct str wanted = s->p->kind->is_namespaced ? s->req->key.ns : STR("");
        struct str given = meta_namespace(s->object);

        if (given.n && s->p->kind->is_namespaced && !str_equal(given, wanted))
                return status_bad_request(
                        err, "the namespace of the provided object does not match the namespace sent on the request");
        if (!str_equal(given, wanted))
                s->object = meta_with(s->arena, s->object, STR("namespace"),
                                      wanted.n ? value_put(s->arena, value_of_str(wanted)) : NULL);
        return 0;
}

int draft_check_identity(struct draft *s, struct err *err)
{
        struct str name = meta_name(s->object), wanted = s->req->key.name;
        int r = check_namespace(s, err);

        if (r < 0 || wanted.n == 0)
                return r;
        if (name.n == 0 && s->req->verb == WRITE_CREATE) {
                s->object = meta_with_str(s->arena, s->object, STR("name"), wanted);
                return 0;
        }
        if (name.n == 0)
                return status_bad_request(
                        err, "the name of the object (%.*s based on URL) was undeterminable: name must be provided",
                        STR_ARG(wanted));
        if (!str_equal(name, wanted))
                return status_bad_request(err,
                                          "the name of the object (%.*s) does not match the name on the URL (%.*s)",
                                          STR_ARG(name), STR_ARG(wanted));
        return 0;
}
