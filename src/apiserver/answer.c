/* Heads of answers, and errors as answers (docs/spec/apiserver 0.1, 2.2, 2.9). */
#include "request.h"

#include "ascii.h"
#include "buf.h"
#include "json.h"
#include "limits.h"
#include "uuid.h"
#include "yaml.h"

/* A quoted string of a Warning header: control characters cannot be in one. */
static struct str warning_value(struct arena *a, struct str text)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        buf_append_literal(&b, "299 - \"");
        for (size_t i = 0; i < text.n; i++) {
                unsigned char c = (unsigned char)text.p[i];

                if (c == '"' || c == '\\')
                        buf_append_char(&b, '\\');
                buf_append_char(&b, c < 0x20 || c == 0x7f ? ' ' : (char)c);
        }
        buf_append_char(&b, '"');
        return buf_to_arena(&b, a);
}

static bool has_text(const struct str_list *list, size_t n, struct str text)
{
        for (size_t i = 0; i < n; i++)
                if (str_equal(list->p[i], text))
                        return true;
        return false;
}

/* Each text once; when they are too long together, the rest is left out, as upstream does. */
static void add_warnings(struct api_request *q, struct http_fields *fields)
{
        size_t n_bytes = 0;

        for (size_t i = 0; i < q->warnings.n; i++) {
                struct str text = q->warnings.p[i];

                if (has_text(&q->warnings, i, text))
                        continue;
                n_bytes += text.n;
                if (n_bytes > LIMIT_API_WARNINGS_BYTES)
                        break;
                http_fields_add(fields, &q->arena, STR("warning"), warning_value(&q->arena, text));
        }
}

void answer_fields(struct api_request *q, struct str content_type, struct http_fields *fields)
{
        struct arena *a = &q->arena;
        _cleanup_buf_ struct buf id = BUF_INIT(0);

        uuid_append(&id, uuid_v4());
        http_fields_add(fields, a, STR("audit-id"), buf_str(&id));
        if (!http_fields_get(&q->reply.fields, STR("cache-control")).p)
                http_fields_add(fields, a, STR("cache-control"), STR("no-cache, private"));
        http_fields_add(fields, a, STR("content-type"), content_type.n ? content_type : STR("application/json"));
        for (size_t i = 0; i < q->reply.fields.n; i++)
                http_fields_add(fields, a, q->reply.fields.p[i].name, q->reply.fields.p[i].value);
        add_warnings(q, fields);
}

/* --- Errors --- */

/* A path that no handler has is answered in plain text, as Go's servers do. */
static bool is_plain_not_found(const struct err *err)
{
        return err->code == ERR_NOT_FOUND && !err->details &&
               str_equal(str_from(err->message), STR("404 page not found"));
}

static void answer_text(struct api_request *q, int status, struct str text)
{
        q->reply.status = status;
        q->reply.content_type = STR("text/plain; charset=utf-8");
        http_fields_add(&q->reply.fields, &q->arena, STR("x-content-type-options"), STR("nosniff"));
        q->reply.body = bytes_copy(text);
}

static struct value with_token(struct arena *a, struct value status, struct str token)
{
        struct value text = value_of_str(token);
        const struct value *metadata = value_with(a, &value_empty_object, STR("continue"), &text);

        return *value_with(a, &status, STR("metadata"), metadata);
}

static int64_t retry_after(const struct value *status, int code)
{
        int64_t seconds = value_int(value_find(status, "details", "retryAfterSeconds"), 0);

        return seconds > 0 ? seconds : code == 429 || code == 503 ? 1 : 0;
}

/* The memory of the request was refused: it may be tried again when others have finished. */
static void explain_memory(struct api_request *q)
{
        if (!q->account.has_refused)
                return;
        err_set(&q->err, ERR_LIMIT,
                "the API server has no memory for the request: all requests together may use %zu MiB",
                q->server->budget.max_bytes >> 20);
        err_set_reason(&q->err, REASON_TOO_MANY_REQUESTS);
}

/* Not by a rule of a kind, as for a namespace that may not be deleted. */
static bool is_refused_by_access(const struct err *err)
{
        return err->reason == REASON_FORBIDDEN && str_find(str_from(err->message), STR("forbidden: User \"")) >= 0;
}

static bool wants_yaml(const struct api_request *q)
{
        struct acceptable allowed = { .forms = FORM_SET(ANSWER_OBJECT) };
        struct accepted accepted;

        return accept_negotiate(http_fields_get(&q->head.fields, STR("accept")), &allowed, &accepted, NULL) == 0 &&
               accepted.is_yaml;
}

static bool answer_yaml(struct api_request *q, const struct value *status)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        if (yaml_write(&b, status, 0, NULL) < 0)
                return false;
        q->reply.content_type = STR("application/yaml");
        q->reply.body = bytes_take(&b);
        return true;
}

void answer_error(struct api_request *q)
{
        struct arena *a = &q->arena;
        struct value status, code;
        int64_t seconds;

        bytes_unref(q->reply.body);
        q->reply = (struct api_reply) { 0 };
        explain_memory(q);
        if (is_plain_not_found(&q->err)) {
                answer_text(q, 404, STR("404 page not found\n"));
                return;
        }
        status = status_of_err(a, &q->err);
        if (q->expired_token.n)
                status = with_token(a, status, q->expired_token);
        if (q->error_status) {
                code = value_of_int(q->error_status);
                status = *value_with(a, value_without(a, &status, STR("reason")), STR("code"), &code);
        }
        q->reply.status = (int)value_int(value_get(&status, STR("code")), 500);
        seconds = retry_after(&status, q->reply.status);
        if (seconds > 0)
                http_fields_add(&q->reply.fields, a, STR("retry-after"), arena_printf(a, "%lld", (long long)seconds));
        if (is_refused_by_access(&q->err))
                http_fields_add(&q->reply.fields, a, STR("x-content-type-options"), STR("nosniff"));
        if (!wants_yaml(q) || !answer_yaml(q, &status))
                api_reply_value(&q->reply, &status);
}
