#include "body.h"

#include "buf.h"
#include "builtin.h"
#include "gotext.h"
#include "json.h"
#include "limits.h"
#include "yaml.h"

#include <zlib.h>

/* --- Content types --- */

enum media {
        MEDIA_JSON,
        MEDIA_YAML,
        MEDIA_PROTOBUF,
        MEDIA_UNKNOWN,
};

/* Without parameters. */
static struct str media_type(struct str content_type)
{
        struct str type;

        str_split(&content_type, ';', &type);
        return str_trim(type);
}

static enum media media_of(struct str content_type)
{
        struct str type = media_type(content_type);

        if (type.n == 0 || str_equal_ignore_case(type, STR("application/json")))
                return MEDIA_JSON;
        if (str_equal_ignore_case(type, STR("application/yaml")))
                return MEDIA_YAML;
        if (str_equal_ignore_case(type, STR("application/vnd.kubernetes.protobuf")))
                return MEDIA_PROTOBUF;
        return MEDIA_UNKNOWN;
}

static int unknown_media(struct err *err)
{
        return status_unsupported_media_type(
                err, STR("application/json, application/yaml, application/vnd.kubernetes.protobuf"));
}

int body_patch_verb(struct str content_type, const struct kind *kind, enum write_verb *ret, struct err *err)
{
        static const struct {
                struct str type;
                enum write_verb verb;
        } types[] = {
                { STR_INIT("application/json-patch+json"), WRITE_JSON_PATCH },
                { STR_INIT("application/merge-patch+json"), WRITE_MERGE_PATCH },
                { STR_INIT("application/apply-patch+yaml"), WRITE_APPLY },
                { STR_INIT("application/strategic-merge-patch+json"), WRITE_STRATEGIC_PATCH },
        };
        struct str type = media_type(content_type);
        int r;

        for (size_t i = 0; i < ARRAY_SIZE(types); i++)
                if (str_equal(type, types[i].type) && !(kind->is_custom && types[i].verb == WRITE_STRATEGIC_PATCH)) {
                        *ret = types[i].verb;
                        return 0;
                }
        if (kind->is_custom)
                return status_unsupported_media_type(err,
                                                     STR("application/json-patch+json, application/merge-patch+json, "
                                                         "application/apply-patch+yaml"));
        r = err_set(err, ERR_INVALID, "415: Unsupported Media Type");
        err_set_reason(err, REASON_UNSUPPORTED_MEDIA_TYPE);
        err_set_details(err, STR("{}"));
        return r;
}

/* --- Compression --- */

int body_too_large(struct err *err)
{
        return err_set(err, ERR_LIMIT, "Request entity too large: limit is %u", LIMIT_API_BODY_BYTES);
}

static int inflate_body(struct str packed, struct buf *b, struct err *err)
{
        z_stream z = { .next_in = (Bytef *)packed.p, .avail_in = (uInt)packed.n };
        int status;

        if (inflateInit2(&z, 15 + 16) != Z_OK)
                return err_set(err, ERR_FAILED, "zlib does not start");
        do {
                if (b->n >= LIMIT_API_BODY_BYTES || !buf_reserve(b, 64u << 10)) {
                        inflateEnd(&z);
                        return body_too_large(err);
                }
                z.next_out = (Bytef *)b->p + b->n;
                z.avail_out = 64u << 10;
                status = inflate(&z, Z_NO_FLUSH);
                b->n += (64u << 10) - z.avail_out;
        } while (status == Z_OK);
        inflateEnd(&z);
        if (status != Z_STREAM_END)
                return status_bad_request(err, "gzip: invalid data in the body of the request");
        return b->n > LIMIT_API_BODY_BYTES ? body_too_large(err) : 0;
}

int body_decompress(struct arena *a, struct str encoding, struct str *body, struct err *err)
{
        _cleanup_buf_ struct buf b = BUF_INIT(LIMIT_API_BODY_BYTES + (128u << 10));
        int r;

        if (encoding.n == 0 || str_equal_ignore_case(encoding, STR("identity")))
                return 0;
        if (!str_equal_ignore_case(encoding, STR("gzip"))) {
                r = err_set(err, ERR_INVALID, "the content encoding \"%.*s\" is not supported: send gzip or none",
                            STR_ARG(encoding));
                err_set_reason(err, REASON_UNSUPPORTED_MEDIA_TYPE);
                return r;
        }
        r = inflate_body(*body, &b, err);
        if (r == 0)
                *body = buf_to_arena(&b, a);
        return r;
}

/* --- JSON --- */

static void on_duplicate(void *context, struct str object_path, struct str key)
{
        struct str_list *list = context;

        str_list_printf(list, "%.*s%s%.*s", STR_ARG(object_path), object_path.n ? "." : "", STR_ARG(key));
}

static int parse_json(struct arena *a, struct str text, struct str_list *duplicates, const struct value **ret,
                      struct err *err)
{
        struct json_read_options options = {
                .is_kubernetes = true,
                .borrows_text = true,
                .on_duplicate = on_duplicate,
                .context = duplicates,
        };

        return json_parse(a, text, &options, ret, err);
}

/* A number beyond double is found when the fields are decoded; everything else before the kind is known. */
static int bad_object(struct arena *a, const struct kind *kind, struct str version, struct str text, struct err *err)
{
        struct str go_error = arena_copy(a, str_from(err_message(err)));

        if (str_starts_with(go_error, STR("json: cannot unmarshal number")))
                return status_bad_request(err, "%.*s in version \"%.*s\" cannot be handled as a %.*s: %.*s",
                                          STR_ARG(kind->kind), STR_ARG(version), STR_ARG(kind->kind),
                                          STR_ARG(go_error));
        return status_bad_request(err,
                                  "the object provided is unrecognized (must be of type %.*s): couldn't get "
                                  "version/kind; json parse error: %.*s (%.*s)",
                                  STR_ARG(kind->kind), STR_ARG(go_error), STR_ARG(status_body_prefix(a, text)));
}

#define TYPE_STRUCT                                                                                      \
        "struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind," \
        "omitempty\\\"\" }"

/* A body that is not an object has no kind. null is the empty object to kinds that come with the API. */
static int check_is_object(struct arena *a, const struct kind *kind, struct str text, const struct value **body,
                           struct err *err)
{
        if (value_is_object(*body))
                return 0;
        if (value_is_null(*body) && !kind->is_custom) {
                *body = &value_empty_object;
                return 0;
        }
        if (value_is_null(*body))
                return status_bad_request(err,
                                          "the object provided is unrecognized (must be of type %.*s): Object 'Kind' "
                                          "is missing in '%s' (%.*s)",
                                          STR_ARG(kind->kind), text.n ? "null" : "",
                                          STR_ARG(status_body_prefix(a, text)));
        return status_bad_request(
                err,
                "the object provided is unrecognized (must be of type %.*s): couldn't get "
                "version/kind; json parse error: json: cannot unmarshal %s into Go value of type " TYPE_STRUCT
                " (%.*s)",
                STR_ARG(kind->kind), go_json_type(*body), STR_ARG(status_body_prefix(a, text)));
}

/* --- YAML --- */

/* Duplicate keys of a YAML text are reported with their lines, not with their paths. */
static void warn_of_duplicates(struct run *run, const struct err *strict)
{
        struct str lines = arena_copy(run->arena, str_from(err_message(strict))), line;

        while (lines.n > 0) {
                str_split(&lines, '\n', &line);
                line = str_trim(line);
                if (str_starts_with(line, STR("line ")))
                        str_list_add(run->warnings, line);
        }
}

/* On success *strict has the text about duplicate keys, if there are any. */
static int parse_yaml(struct run *run, struct str text, enum field_validation validation, const struct value **ret,
                      struct err *strict, struct err *err)
{
        struct yaml_read_options options = { .is_strict = true };
        int r;

        if (validation != FIELDS_IGNORE && yaml_parse(run->arena, text, &options, ret, strict) == 0)
                return 0;
        options.is_strict = false;
        r = yaml_parse(run->arena, text, &options, ret, err);
        if (r == 0 && validation == FIELDS_WARN)
                warn_of_duplicates(run, strict);
        return r;
}

static int parse_yaml_object(struct run *run, struct str text, const struct kind *kind, struct write_request *req,
                             struct err *err)
{
        _cleanup_err_ struct err strict = { 0 };
        int r = parse_yaml(run, text, req->field_validation, &req->body, &strict, err);

        if (r == ERR_LIMIT)
                return r;
        if (r < 0) {
                struct str inner = arena_copy(run->arena, str_from(err_message(err)));

                return status_bad_request(err,
                                          "the object provided is unrecognized (must be of type %.*s): %.*s (%.*s)",
                                          STR_ARG(kind->kind), STR_ARG(inner),
                                          STR_ARG(status_body_prefix(run->arena, text)));
        }
        if (strict.code && req->field_validation == FIELDS_STRICT)
                return status_bad_request(err,
                                          "%.*s in version \"%.*s\" cannot be handled as a %.*s: strict decoding "
                                          "error: %s",
                                          STR_ARG(kind->kind), STR_ARG(req->key.gvk.version), STR_ARG(kind->kind),
                                          err_message(&strict));
        return 0;
}

static int parse_applied_yaml(struct run *run, struct str text, enum field_validation validation,
                              const struct value **ret, struct err *err)
{
        _cleanup_err_ struct err strict = { 0 };
        int r = parse_yaml(run, text, validation, ret, &strict, err);

        if (r == ERR_LIMIT)
                return r;
        if (r < 0) {
                err_wrap(err, "error decoding YAML: error converting YAML to JSON");
                err_set_reason(err, REASON_BAD_REQUEST);
                return r;
        }
        if (strict.code && validation == FIELDS_STRICT)
                return status_bad_request(err, "error strict decoding YAML: error converting YAML to JSON: %s",
                                          err_message(&strict));
        if (!value_is_object(*ret) && !value_is_null(*ret))
                return status_bad_request(err,
                                          "error decoding YAML: error unmarshaling JSON: while decoding JSON: json: "
                                          "cannot unmarshal %s into Go value of type map[string]interface {}",
                                          go_json_type(*ret));
        return 0;
}

/* An applied configuration is JSON or YAML. Known clients send JSON, which is read faster; a text that JSON's rules refuse, or that
 * has duplicate keys, is read as YAML. */
static int parse_applied(struct run *run, struct str text, enum field_validation validation, const struct value **ret,
                         struct err *err)
{
        struct json_read_options options = { .is_kubernetes = true,
                                             .borrows_text = true,
                                             .duplicates = JSON_DUPLICATES_REFUSE };

        if (yaml_stream_is_json(text) && json_parse(run->arena, text, &options, ret, NULL) == 0)
                return 0;
        return parse_applied_yaml(run, text, validation, ret, err);
}

/* --- Bodies --- */

static int decode_object(struct run *run, struct str content_type, struct str text, const struct kind *kind,
                         struct str_list *duplicates, struct write_request *req, struct err *err)
{
        enum media media = media_of(content_type);
        int r;

        if (media == MEDIA_JSON || media == MEDIA_YAML)
                req->body_text = text;
        switch (media) {
        case MEDIA_JSON:
                r = parse_json(run->arena, text, duplicates, &req->body, err);
                if (r < 0)
                        return r == ERR_LIMIT ? r : bad_object(run->arena, kind, req->key.gvk.version, text, err);
                return check_is_object(run->arena, kind, text, &req->body, err);
        case MEDIA_YAML:
                r = parse_yaml_object(run, text, kind, req, err);
                return r < 0 ? r : check_is_object(run->arena, kind, text, &req->body, err);
        case MEDIA_PROTOBUF:
                if (kind->is_custom)
                        return status_unsupported_media_type(err, STR("application/json, application/yaml"));
                r = builtin_decode(run->arena, text, &req->body, err);
                if (r == ERR_INVALID || r == ERR_NOT_FOUND)
                        err_set_reason(err, REASON_BAD_REQUEST);
                return r;
        case MEDIA_UNKNOWN:
                break;
        }
        return unknown_media(err);
}

static int decode_patch(struct run *run, struct str text, struct str_list *duplicates, struct write_request *req,
                        struct err *err)
{
        int r;

        if (req->verb == WRITE_APPLY)
                return parse_applied(run, text, req->field_validation, &req->body, err);
        r = parse_json(run->arena, text, duplicates, &req->body, err);
        if (r == 0 || r == ERR_LIMIT)
                return r;
        if (req->verb != WRITE_STRATEGIC_PATCH)
                err_wrap(err, "error decoding patch");
        err_set_reason(err, REASON_BAD_REQUEST);
        return r;
}

int body_decode(struct run *run, struct str content_type, struct str text, const struct kind *kind,
                struct write_request *req, struct err *err)
{
        struct str_list duplicates;
        int r;

        str_list_init(&duplicates, run->arena);
        if (req->verb == WRITE_CREATE || req->verb == WRITE_UPDATE)
                r = decode_object(run, content_type, text, kind, &duplicates, req, err);
        else
                r = decode_patch(run, text, &duplicates, req, err);
        if (r == 0)
                r = arena_check(run->arena, err);
        req->duplicate_fields = duplicates.p;
        req->n_duplicate_fields = duplicates.n;
        return r;
}

int body_decode_other(struct arena *a, struct str content_type, struct str text, const struct value **ret,
                      struct err *err)
{
        int r = 0;

        *ret = NULL;
        if (text.n == 0)
                return 0;
        switch (media_of(content_type)) {
        case MEDIA_JSON:
                r = parse_json(a, text, NULL, ret, err);
                if (r < 0 && r != ERR_LIMIT)
                        err_wrap(err, "couldn't get version/kind; json parse error");
                break;
        case MEDIA_YAML:
                r = yaml_parse(a, text, NULL, ret, err);
                break;
        case MEDIA_PROTOBUF:
                r = builtin_decode(a, text, ret, err);
                break;
        case MEDIA_UNKNOWN:
                return unknown_media(err);
        }
        if (r == ERR_INVALID || r == ERR_NOT_FOUND)
                err_set_reason(err, REASON_BAD_REQUEST);
        return r;
}
