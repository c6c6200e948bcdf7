#include "status.h"

#include "ascii.h"
#include "buf.h"
#include "gotext.h"
#include "json.h"

#include <stdarg.h>

/* `plural.group` or `Kind.group`; without a dot in the core group. */
static void append_qualified(struct buf *b, struct str name, struct str group)
{
        buf_append_str(b, name);
        if (!str_is_empty(group)) {
                buf_append_char(b, '.');
                buf_append_str(b, group);
        }
}

static void append_resource(struct buf *b, const struct status_subject *s)
{
        append_qualified(b, s->plural, s->group);
        buf_append_char(b, ' ');
        go_append_quoted(b, s->name);
}

static void append_member(struct buf *b, const char *key, struct str v)
{
        if (str_is_empty(v))
                return;
        if (b->p[b->n - 1] != '{')
                buf_append_char(b, ',');
        buf_appendf(b, "\"%s\":", key);
        json_write_string(b, v, JSON_ESCAPE_HTML);
}

static void append_cause(struct buf *b, struct str reason, struct str message, struct str field)
{
        buf_append_char(b, '{');
        append_member(b, "reason", reason);
        append_member(b, "message", message);
        append_member(b, "field", field);
        buf_append_char(b, '}');
}

/* Writes the members of details before its causes; the object stays open. */
static void begin_details(struct buf *b, const struct status_subject *s, struct str name, struct str kind)
{
        buf_append_char(b, '{');
        append_member(b, "name", name);
        append_member(b, "group", s->group);
        append_member(b, "kind", kind);
}

/* Details contain the plural, although the API calls the field kind. */
static int fill(struct err *err, int code, enum reason reason, const struct status_subject *s, struct str name,
                const struct buf *message)
{
        _cleanup_buf_ struct buf details = BUF_INIT(0);
        int r = err_set(err, code, "%.*s", STR_ARG(buf_str(message)));

        err_set_reason(err, reason);
        begin_details(&details, s, name, s->plural);
        buf_append_char(&details, '}');
        err_set_details(err, buf_str(&details));
        return r;
}

int status_not_found(struct err *err, const struct status_subject *s)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        append_resource(&b, s);
        buf_append_literal(&b, " not found");
        return fill(err, ERR_NOT_FOUND, REASON_NOT_FOUND, s, s->name, &b);
}

int status_already_exists(struct err *err, const struct status_subject *s)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        append_resource(&b, s);
        buf_append_literal(&b, " already exists");
        return fill(err, ERR_EXISTS, REASON_ALREADY_EXISTS, s, s->name, &b);
}

int status_conflict(struct err *err, const struct status_subject *s, const char *format, ...)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        va_list arguments;

        buf_append_literal(&b, "Operation cannot be fulfilled on ");
        append_resource(&b, s);
        buf_append_literal(&b, ": ");
        va_start(arguments, format);
        buf_appendv(&b, format, arguments);
        va_end(arguments);
        return fill(err, ERR_CONFLICT, REASON_CONFLICT, s, s->name, &b);
}

int status_modified(struct err *err, const struct status_subject *s)
{
        return status_conflict(err, s,
                               "the object has been modified; please apply your changes to the latest version and try "
                               "again");
}

int status_forbidden(struct err *err, const struct status_subject *s, const char *format, ...)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        va_list arguments;

        if (!str_is_empty(s->name))
                append_resource(&b, s);
        else
                append_qualified(&b, s->plural, s->group);
        if (b.n > 0)
                buf_append_literal(&b, " is ");
        buf_append_literal(&b, "forbidden: ");
        va_start(arguments, format);
        buf_appendv(&b, format, arguments);
        va_end(arguments);
        return fill(err, ERR_FORBIDDEN, REASON_FORBIDDEN, s, s->name, &b);
}

static void append_causes(struct buf *b, const struct field_errors *e)
{
        if (b->p[b->n - 1] != '{')
                buf_append_char(b, ',');
        buf_append_literal(b, "\"causes\":[");
        for (size_t i = 0; i < e->n; i++) {
                if (i > 0)
                        buf_append_char(b, ',');
                append_cause(b, str_from(field_error_reason(e->p[i].type)), e->p[i].text, e->p[i].field);
        }
        buf_append_char(b, ']');
}

int status_invalid(struct err *err, const struct status_subject *s, const struct field_errors *errors)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0), details = BUF_INIT(0);
        int r;

        append_qualified(&b, s->kind, s->group);
        buf_append_char(&b, ' ');
        go_append_quoted(&b, s->name);
        buf_append_literal(&b, " is invalid");
        if (errors->n > 0) {
                buf_append_literal(&b, ": ");
                field_errors_append(&b, errors);
        }
        r = err_set(err, ERR_INVALID, "%.*s", STR_ARG(buf_str(&b)));
        begin_details(&details, s, s->name, s->kind);
        if (errors->n > 0)
                append_causes(&details, errors);
        buf_append_char(&details, '}');
        err_set_details(err, buf_str(&details));
        return r;
}

/* Sets a formatted text; for errors without details. */
#define FILL_TEXT(err, code, reason_value, format)                     \
        do {                                                           \
                _cleanup_buf_ struct buf _b = BUF_INIT(0);             \
                va_list _arguments;                                    \
                va_start(_arguments, format);                          \
                buf_appendv(&_b, format, _arguments);                  \
                va_end(_arguments);                                    \
                err_set((err), (code), "%.*s", STR_ARG(buf_str(&_b))); \
                err_set_reason((err), (reason_value));                 \
        } while (0)

int status_bad_request(struct err *err, const char *format, ...)
{
        FILL_TEXT(err, ERR_INVALID, REASON_BAD_REQUEST, format);
        return ERR_INVALID;
}

int status_internal(struct err *err, const char *format, ...)
{
        FILL_TEXT(err, ERR_FAILED, REASON_UNKNOWN, format);
        return ERR_FAILED;
}

int status_internal_error(struct err *err, const char *format, ...)
{
        _cleanup_free_ char *text = NULL;

        FILL_TEXT(err, ERR_FAILED, REASON_INTERNAL_ERROR, format);
        if (!err)
                return ERR_FAILED;
        text = str_to_cstring(str_from(err_message(err)));
        err_set_details(err, STR(""));
        status_add_cause(err, STR(""), str_from(text), STR(""));
        return err_wrap(err, "Internal error occurred");
}

int status_expired(struct err *err, const char *format, ...)
{
        FILL_TEXT(err, ERR_EXPIRED, REASON_EXPIRED, format);
        return ERR_EXPIRED;
}

int status_unsupported_media_type(struct err *err, struct str accepted)
{
        int r = err_set(err, ERR_INVALID,
                        "the body of the request was in an unknown format - accepted media types include: %.*s",
                        STR_ARG(accepted));

        err_set_reason(err, REASON_UNSUPPORTED_MEDIA_TYPE);
        return r;
}

int status_method_not_allowed(struct err *err, const struct status_subject *s, struct str verb)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        buf_append_str(&b, verb);
        buf_append_literal(&b, " is not supported on resources of kind \"");
        append_qualified(&b, s->plural, s->group);
        buf_append_char(&b, '"');
        return fill(err, ERR_UNSUPPORTED, REASON_METHOD_NOT_ALLOWED, s, STR(""), &b);
}

#define WEBHOOK STR("admission webhook \"")
#define DENIED  STR("\" denied the request: ")

int status_denied(struct err *err, const char *webhook, struct str text)
{
        int r = err_set(err, ERR_FORBIDDEN, "%.*s%s%.*s%.*s", STR_ARG(WEBHOOK), webhook, STR_ARG(DENIED),
                        STR_ARG(text));

        err_set_reason(err, REASON_CONFLICT);
        return r;
}

/* The reason as the API says it. That of a webhook's refusal is the webhook's text. */
static struct str reason_text(const struct err *err)
{
        struct str message = str_from(err_message(err));
        ptrdiff_t i = str_find(message, DENIED);

        if (err->code == ERR_FORBIDDEN && str_starts_with(message, WEBHOOK) && i >= 0)
                return str_skip(message, (size_t)i + DENIED.n);
        return str_from(reason_name(err->reason));
}

void status_add_cause(struct err *err, struct str reason, struct str message, struct str field)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct str old = err ? str_from(err->details) : STR("");

        if (!err)
                return;
        if (str_ends_with(old, STR("]}")) && str_find(old, STR("\"causes\":[")) >= 0) {
                buf_append(&b, old.p, old.n - 2);
                buf_append_char(&b, ',');
        } else {
                buf_append_str(&b, old.n >= 2 ? str_first(old, old.n - 1) : STR("{"));
                if (b.p[b.n - 1] != '{')
                        buf_append_char(&b, ',');
                buf_append_literal(&b, "\"causes\":[");
        }
        append_cause(&b, reason, message, field);
        buf_append_literal(&b, "]}");
        err_set_details(err, buf_str(&b));
}

struct value status_of_err(struct arena *a, const struct err *err)
{
        struct str reason = reason_text(err);
        const struct value *details;
        struct object_builder b;

        object_builder_init(&b, a, 8);
        object_builder_add(&b, STR("kind"), value_of_literal("Status"));
        object_builder_add(&b, STR("apiVersion"), value_of_literal("v1"));
        object_builder_add(&b, STR("metadata"), value_empty_object);
        object_builder_add(&b, STR("status"), value_of_literal("Failure"));
        object_builder_add(&b, STR("message"), value_of_str(arena_copy(a, str_from(err_message(err)))));
        if (reason.n)
                object_builder_add(&b, STR("reason"), value_of_str(arena_copy(a, reason)));
        if (err->details && json_parse(a, str_from(err->details), NULL, &details, NULL) == 0)
                object_builder_add(&b, STR("details"), *details);
        object_builder_add(&b, STR("code"), value_of_int(reason_http_status(err->reason)));
        return object_builder_finish(&b);
}

static int code_of_reason(enum reason reason)
{
        switch (reason) {
        case REASON_NOT_FOUND:
                return ERR_NOT_FOUND;
        case REASON_ALREADY_EXISTS:
                return ERR_EXISTS;
        case REASON_CONFLICT:
                return ERR_CONFLICT;
        case REASON_GONE:
        case REASON_EXPIRED:
                return ERR_EXPIRED;
        case REASON_INVALID:
        case REASON_BAD_REQUEST:
        case REASON_UNSUPPORTED_MEDIA_TYPE:
                return ERR_INVALID;
        case REASON_FORBIDDEN:
        case REASON_UNAUTHORIZED:
                return ERR_FORBIDDEN;
        case REASON_TIMEOUT:
        case REASON_SERVER_TIMEOUT:
                return ERR_TIMEOUT;
        case REASON_TOO_MANY_REQUESTS:
        case REASON_REQUEST_ENTITY_TOO_LARGE:
                return ERR_LIMIT;
        case REASON_METHOD_NOT_ALLOWED:
        case REASON_NOT_ACCEPTABLE:
                return ERR_UNSUPPORTED;
        case REASON_SERVICE_UNAVAILABLE:
                return ERR_CLOSED;
        case REASON_UNKNOWN:
        case REASON_INTERNAL_ERROR:
        case _REASON_COUNT:
                break;
        }
        return ERR_FAILED;
}

/* The reason for a Status with an unknown reason: derived from its code. */
static enum reason reason_of_http(int64_t code)
{
        for (enum reason r = REASON_UNKNOWN + 1; r < _REASON_COUNT; r++)
                if (reason_http_status(r) == code && code != 500 && code != 409 && code != 410)
                        return r;
        return code == 409 ? REASON_CONFLICT : code == 410 ? REASON_EXPIRED : REASON_UNKNOWN;
}

int status_to_err(const struct value *status, struct err *err)
{
        const struct value *details = value_get(status, STR("details"));
        struct str message = value_str(value_get(status, STR("message")));
        enum reason reason = reason_from_name(value_str(value_get(status, STR("reason"))));
        int64_t code = value_int(value_get(status, STR("code")), 0);
        int r;

        if (reason == REASON_UNKNOWN)
                reason = reason_of_http(code);
        r = code_of_reason(reason);
        if (str_is_empty(message))
                err_set(err, r, "the API answered with status %lld and no message", (long long)code);
        else
                err_set(err, r, "%.*s", STR_ARG(message));
        err_set_reason(err, reason);
        if (value_is_object(details)) {
                _cleanup_buf_ struct buf b = BUF_INIT(0);

                if (json_write(&b, details, 0, NULL) == 0)
                        err_set_details(err, buf_str(&b));
        }
        return r;
}

struct str status_body_prefix(struct arena *a, struct str text)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct str head = str_first(text, 30);

        if (text.n == 0)
                return STR("<empty>");
        if (text.p[0] == '{') {
                buf_append_str(&b, head);
        } else {
                for (size_t i = 0; i < head.n; i++) {
                        buf_append_char(&b, ASCII_HEX_LOWER[(unsigned char)head.p[i] >> 4]);
                        buf_append_char(&b, ASCII_HEX_LOWER[(unsigned char)head.p[i] & 15]);
                }
        }
        if (text.n > 30)
                buf_append_literal(&b, " ...");
        return buf_to_arena(&b, a);
}
