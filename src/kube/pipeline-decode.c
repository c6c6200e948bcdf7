/* From what a client sent to an object of the request's version. */
#include "pipeline-steps.h"

#include "buf.h"
#include "gotext.h"
#include "json.h"
#include "limits.h"
#include "managed.h"
#include "patch.h"
#include "utf8.h"

/* --- Options --- */

static struct status_subject options_subject(const struct step *s)
{
        struct status_subject subject = { .group = STR("meta.k8s.io") };

        subject.kind = s->req->verb == WRITE_CREATE   ? STR("CreateOptions")
                       : s->req->verb == WRITE_UPDATE ? STR("UpdateOptions")
                                                      : STR("PatchOptions");
        return subject;
}

static void check_manager(struct field_errors *errors, struct str manager)
{
        struct value shown = value_of_str(manager);

        if (manager.n > LIMIT_MANAGER_BYTES)
                field_error_add(errors, FIELD_TOO_LONG, STR("fieldManager"), NULL, "may not be more than %d bytes",
                                LIMIT_MANAGER_BYTES);
        for (size_t i = 0, n; i < manager.n; i += n) {
                uint32_t rune = utf8_decode(str_skip(manager, i), &n);

                if (!go_is_printable(rune))
                        field_error_add(errors, FIELD_INVALID, STR("fieldManager"), &shown,
                                        "invalid character U+%04X (at position %zu)", rune, i);
        }
}

int step_check_options(const struct step *s, struct err *err)
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
        check_manager(&errors, s->req->manager);
        return errors.n ? status_invalid(err, &subject, &errors) : 0;
}

/* --- Type --- */

/* The start of a body, as the API shows what it could not make sense of. */
static struct str body_prefix(struct arena *a, struct str text)
{
        return text.n > 30 ? arena_printf(a, "%.*s ...", STR_ARG(str_first(text, 30))) : text;
}

static int check_has_kind(const struct step *s, const struct value *body, struct err *err)
{
        struct str text = STR("");

        if (value_str(value_get(body, STR("kind"))).n)
                return 0;
        if (json_to_str(s->arena, body, JSON_GO, &text, NULL) < 0)
                text = STR("");
        return status_bad_request(
                err,
                "the object provided is unrecognized (must be of type %.*s): Object 'Kind' is missing "
                "in '%.*s' (%.*s)",
                STR_ARG(s->p->kind->kind), STR_ARG(text), STR_ARG(body_prefix(s->arena, text)));
}

static struct gvk request_gvk(const struct step *s)
{
        return (struct gvk) { .group = s->p->kind->group, .version = s->p->version->name, .kind = s->p->kind->kind };
}

static int check_custom_type(const struct step *s, const struct value *body, struct err *err)
{
        struct str wanted = gvk_api_version(s->arena, request_gvk(s));
        struct str given = value_str(value_get(body, STR("apiVersion")));
        int r = check_has_kind(s, body, err);

        if (r < 0)
                return r;
        if (!str_equal(given, wanted))
                return status_bad_request(
                        err, "the API version in the data (%.*s) does not match the expected API version (%.*s)",
                        STR_ARG(given), STR_ARG(wanted));
        return 0;
}

/* Built-in kinds may leave out their type. */
static int fill_builtin_type(const struct step *s, const struct value **body, struct err *err)
{
        struct gvk wanted = request_gvk(s), given = gvk_of(*body);
        struct str api_version = gvk_api_version(s->arena, wanted);

        if (given.kind.n && !str_equal(given.kind, wanted.kind))
                return status_bad_request(
                        err,
                        "%.*s in version \"%.*s\" cannot be handled as a %.*s: converting (%.*s.%.*s) to "
                        "(%.*s.%.*s): unknown conversion",
                        STR_ARG(given.kind), STR_ARG(given.version), STR_ARG(wanted.kind), STR_ARG(given.version),
                        STR_ARG(given.kind), STR_ARG(wanted.group.n ? wanted.group : STR("core")),
                        STR_ARG(wanted.kind));
        if (value_get(*body, STR("apiVersion")) &&
            !str_equal(value_str(value_get(*body, STR("apiVersion"))), api_version))
                return status_bad_request(err,
                                          "%.*s in version \"%.*s\" cannot be handled as a %.*s: no kind \"%.*s\" is "
                                          "registered for version \"%.*s\"",
                                          STR_ARG(wanted.kind), STR_ARG(given.version), STR_ARG(wanted.kind),
                                          STR_ARG(wanted.kind),
                                          STR_ARG(value_str(value_get(*body, STR("apiVersion")))));
        *body = value_with(s->arena, *body, STR("apiVersion"), value_put(s->arena, value_of_str(api_version)));
        *body = value_with(s->arena, *body, STR("kind"), value_put(s->arena, value_of_str(wanted.kind)));
        return 0;
}

/* --- Fields --- */

static int decode_failure(const struct step *s, struct err *err)
{
        err_wrap(err, "%.*s in version \"%.*s\" cannot be handled as a %.*s", STR_ARG(s->p->kind->kind),
                 STR_ARG(s->p->version->name), STR_ARG(s->p->kind->kind));
        err_set_reason(err, REASON_BAD_REQUEST);
        return ERR_INVALID;
}

/* Says what is wrong with a body's fields: an error under Strict, warnings under Warn. is_patch frames the error as the
 * API frames a bad patch result. */
static int report_fields(const struct step *s, const struct str_list *unknown, const struct value *patched,
                         struct err *err)
{
        const struct write_request *req = s->req;
        struct str_list texts;

        str_list_init(&texts, s->arena);
        for (size_t i = 0; i < req->n_duplicate_fields; i++)
                str_list_printf(&texts, "duplicate field \"%.*s\"", STR_ARG(req->duplicate_fields[i]));
        for (size_t i = 0; i < unknown->n; i++)
                str_list_printf(&texts, "unknown field \"%.*s\"", STR_ARG(unknown->p[i]));
        if (texts.n == 0 || req->field_validation == FIELDS_IGNORE)
                return 0;
        if (req->field_validation == FIELDS_WARN) {
                for (size_t i = 0; i < texts.n; i++)
                        str_list_add(s->run->warnings, texts.p[i]);
                return 0;
        }
        if (patched) {
                struct status_subject nobody = { 0 };
                struct field_errors errors;
                struct value shown;
                struct str text = STR("");

                if (json_to_str(s->arena, patched, JSON_GO, &text, NULL) < 0)
                        text = STR("");
                shown = value_of_str(text);
                field_errors_init(&errors, s->arena);
                field_error_add(&errors, FIELD_INVALID, STR("patch"), &shown, "strict decoding error: %.*s",
                                STR_ARG(str_list_join(&texts, STR(", "))));
                return status_invalid(err, &nobody, &errors);
        }
        err_set(err, ERR_INVALID, "strict decoding error: %.*s", STR_ARG(str_list_join(&texts, STR(", "))));
        return decode_failure(s, err);
}

/* Metadata typed, the rest pruned, nulls dropped, defaults filled in. */
static int decode_fields(struct step *s, const struct value *body, bool drop_nulls, const struct value *patched,
                         struct err *err)
{
        const struct value *metadata, *given = value_get(body, STR("metadata"));
        struct schema_admit_options options = { .drop_nulls = drop_nulls };
        struct str_list unknown;
        int r;

        str_list_init(&unknown, s->arena);
        r = metadata_coerce(s->arena, given, &unknown, &metadata, err);
        if (r < 0)
                return decode_failure(s, err);
        options.unknown = &unknown;
        body = schema_admit(s->p->version->schema, s->arena, body, &options);
        r = report_fields(s, &unknown, patched, err);
        if (r < 0)
                return r;
        s->object = metadata == given ? body : value_with(s->arena, body, STR("metadata"), metadata);
        return 0;
}

int step_decode(struct step *s, const struct value *body, struct err *err)
{
        int r;

        if (!value_is_object(body))
                return status_bad_request(err, "the object provided is unrecognized (must be of type %.*s)",
                                          STR_ARG(s->p->kind->kind));
        r = s->p->kind->is_custom ? check_custom_type(s, body, err) : fill_builtin_type(s, &body, err);
        if (r < 0)
                return r;
        r = decode_fields(s, body, true, NULL, err);
        return r < 0 ? r : step_check_identity(s, err);
}

/* --- Patches --- */

static const char *go_json_type(const struct value *v)
{
        switch (value_type(v)) {
        case VALUE_BOOL:
                return "bool";
        case VALUE_INT:
        case VALUE_DOUBLE:
                return "number";
        case VALUE_STRING:
                return "string";
        case VALUE_ARRAY:
                return "array";
        case VALUE_OBJECT:
                return "object";
        case VALUE_NULL:
                break;
        }
        return "null";
}

static int apply_json_patch(struct step *s, const struct value **ret, struct err *err)
{
        const struct value *patch = s->req->body;
        int r;

        if (!value_is_array(patch) && !value_is_null(patch))
                return status_bad_request(
                        err,
                        "error decoding patch: json: cannot unmarshal %s into Go value of type []handlers.jsonPatchOp",
                        go_json_type(patch));
        if (value_count(patch) > LIMIT_PATCH_OPERATIONS) {
                r = err_set(err, ERR_LIMIT,
                            "Request entity too large: The allowed maximum operations in a JSON patch is %d, got %zu",
                            LIMIT_PATCH_OPERATIONS, value_count(patch));
                return r;
        }
        r = json_patch_apply(s->arena, s->current, patch, ret, err);
        if (r < 0) {
                r = err_set(err, ERR_INVALID, "the server rejected our request due to an error in our request");
                err_set_details(err, STR("{}"));
        }
        return r;
}

static int apply_merge_patch(struct step *s, const struct value **ret, struct err *err)
{
        const struct value *patch = s->req->body;

        if (value_is_null(patch))
                return status_bad_request(err, "Invalid JSON Patch");
        if (!value_is_object(patch))
                return status_bad_request(
                        err,
                        "error decoding patch: json: cannot unmarshal %s into Go value of type map[string]interface {}",
                        go_json_type(patch));
        *ret = merge_patch_apply(s->arena, s->current, patch);
        return 0;
}

/* What a patch may not do to the object's type. */
static int check_patched_type(const struct step *s, const struct value *patched, struct err *err)
{
        struct str wanted = gvk_api_version(s->arena, request_gvk(s)), text = STR("");
        struct status_subject nobody = { 0 }, subject = step_subject(s);
        struct field_errors errors;
        struct value shown;

        field_errors_init(&errors, s->arena);
        if (!value_is_object(patched) || value_str(value_get(patched, STR("kind"))).n == 0) {
                if (json_to_str(s->arena, patched, JSON_GO, &text, NULL) < 0)
                        text = STR("");
                shown = value_of_str(text);
                field_error_add(&errors, FIELD_INVALID, STR("patch"), &shown, "Object 'Kind' is missing in '%.*s'",
                                STR_ARG(text));
                return status_invalid(err, &nobody, &errors);
        }
        if (!str_equal(value_str(value_get(patched, STR("apiVersion"))), wanted)) {
                shown = value_of_str(value_str(value_get(patched, STR("apiVersion"))));
                field_error_add(&errors, FIELD_INVALID, STR("apiVersion"), &shown, "must be %.*s", STR_ARG(wanted));
                return status_invalid(err, &subject, &errors);
        }
        return 0;
}

int step_patch(struct step *s, struct err *err)
{
        const struct value *patched;
        int r;

        r = s->req->verb == WRITE_JSON_PATCH ? apply_json_patch(s, &patched, err) : apply_merge_patch(s, &patched, err);
        if (r < 0)
                return r;
        r = check_patched_type(s, patched, err);
        if (r < 0)
                return r;
        r = decode_fields(s, patched, true, patched, err);
        return r < 0 ? r : step_check_identity(s, err);
}

/* --- Apply --- */

static int check_configuration(const struct step *s, const struct value *config, struct err *err)
{
        struct gvk wanted = request_gvk(s), given = gvk_of(config);

        if (!gvk_equal(wanted, given))
                return status_bad_request(err, "invalid object type: %.*s", STR_ARG(gvk_text(s->arena, given)));
        if (value_get(meta(config), STR("managedFields")))
                return status_bad_request(err, "metadata.managedFields must be nil");
        return 0;
}

/* An apply that creates cannot say whose successor the object is. */
static int check_new_uid(const struct step *s, const struct value *config, struct err *err)
{
        struct status_subject subject = step_subject(s);
        struct str uid = meta_uid(config);

        if (s->current || uid.n == 0)
                return 0;
        return status_conflict(err, &subject,
                               "uid mismatch: the provided object specified uid %.*s, and no existing object was found",
                               STR_ARG(uid));
}

int step_apply(struct step *s, struct err *err)
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
        s->object = config;
        r = step_check_identity(s, err);
        if (r < 0)
                return r;
        config = s->object;
        r = check_new_uid(s, config, err);
        if (r < 0)
                return r;
        if (!s->current && s->req->subresource.n)
                return 0; /* not found, says the caller */
        r = managed_apply(s->arena, &managed, s->current, config, &s->object, err);
        if (r < 0)
                return r;
        return decode_fields(s, s->object, false, NULL, err);
}

/* --- Identity --- */

static int check_namespace(struct step *s, struct err *err)
{
        struct str wanted = s->p->kind->is_namespaced ? s->req->key.namespace : STR("");
        struct str given = meta_namespace(s->object);

        if (given.n && s->p->kind->is_namespaced && !str_equal(given, wanted))
                return status_bad_request(
                        err, "the namespace of the provided object does not match the namespace sent on the request");
        if (!str_equal(given, wanted))
                s->object = meta_with(s->arena, s->object, STR("namespace"),
                                      wanted.n ? value_put(s->arena, value_of_str(wanted)) : NULL);
        return 0;
}

int step_check_identity(struct step *s, struct err *err)
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
