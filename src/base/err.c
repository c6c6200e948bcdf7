#include "err.h"

#include "buf.h"
#include "limits.h"

#include <stdarg.h>
#include <stdio.h>

static const struct {
        const char *name;
        int http_status;
} reasons[_REASON_COUNT] = {
        [REASON_UNKNOWN] = { "", 500 },
        [REASON_UNAUTHORIZED] = { "Unauthorized", 401 },
        [REASON_FORBIDDEN] = { "Forbidden", 403 },
        [REASON_NOT_FOUND] = { "NotFound", 404 },
        [REASON_ALREADY_EXISTS] = { "AlreadyExists", 409 },
        [REASON_CONFLICT] = { "Conflict", 409 },
        [REASON_GONE] = { "Gone", 410 },
        [REASON_INVALID] = { "Invalid", 422 },
        [REASON_SERVER_TIMEOUT] = { "ServerTimeout", 500 },
        [REASON_TIMEOUT] = { "Timeout", 504 },
        [REASON_TOO_MANY_REQUESTS] = { "TooManyRequests", 429 },
        [REASON_BAD_REQUEST] = { "BadRequest", 400 },
        [REASON_METHOD_NOT_ALLOWED] = { "MethodNotAllowed", 405 },
        [REASON_NOT_ACCEPTABLE] = { "NotAcceptable", 406 },
        [REASON_REQUEST_ENTITY_TOO_LARGE] = { "RequestEntityTooLarge", 413 },
        [REASON_UNSUPPORTED_MEDIA_TYPE] = { "UnsupportedMediaType", 415 },
        [REASON_INTERNAL_ERROR] = { "InternalError", 500 },
        [REASON_EXPIRED] = { "Expired", 410 },
        [REASON_SERVICE_UNAVAILABLE] = { "ServiceUnavailable", 503 },
};

static enum reason reason_of_code(int code)
{
        switch ((enum err_code)code) {
        case ERR_INVALID:
                return REASON_INVALID;
        case ERR_NOT_FOUND:
                return REASON_NOT_FOUND;
        case ERR_EXISTS:
                return REASON_ALREADY_EXISTS;
        case ERR_CONFLICT:
                return REASON_CONFLICT;
        case ERR_LIMIT:
                return REASON_REQUEST_ENTITY_TOO_LARGE;
        case ERR_TIMEOUT:
                return REASON_TIMEOUT;
        case ERR_FORBIDDEN:
                return REASON_FORBIDDEN;
        case ERR_EXPIRED:
                return REASON_EXPIRED;
        case ERR_BUSY:
        case ERR_CANCELED:
        case ERR_CLOSED:
                return REASON_SERVICE_UNAVAILABLE;
        case ERR_SYSTEM:
        case ERR_UNSUPPORTED:
        case ERR_FAILED:
                return REASON_INTERNAL_ERROR;
        }
        return REASON_UNKNOWN;
}

void err_done(struct err *err)
{
        free(err->message);
        free(err->path);
        free(err->details);
        *err = (struct err) { 0 };
}

/* The code that this thread last set on a NULL err, for err_wrap. */
static __thread int code_without_err = ERR_FAILED;

/* Cuts a text of n bytes to the limit, at a character boundary. */
static void cut_text(char *text, size_t n)
{
        static const char mark[] = "...";
        size_t keep = LIMIT_ERROR_BYTES - (sizeof(mark) - 1);

        if (n <= LIMIT_ERROR_BYTES)
                return;
        while (keep > 0 && ((unsigned char)text[keep] & 0xC0) == 0x80)
                keep--;
        memcpy(text + keep, mark, sizeof(mark));
}

/* A heap text of at most LIMIT_ERROR_BYTES; inner, if any, is appended after `: `. */
static _printf_(1, 0) char *format_text(const char *format, va_list arguments, const char *inner)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        char *text;
        size_t n;

        buf_appendv(&b, format, arguments);
        if (b.has_failed) {
                buf_clear(&b);
                buf_append_literal(&b, "(text cannot be shown)");
        }
        if (inner) {
                buf_append_literal(&b, ": ");
                buf_append_str(&b, str_from(inner));
        }
        n = b.n;
        text = buf_take(&b);
        cut_text(text, n);
        return text;
}

int(err_set)(struct err *err, int code, const char *format, ...)
{
        va_list arguments;
        char *message;

        assert(code < 0);
        if (!err)
                return code_without_err = code;
        va_start(arguments, format);
        message = format_text(format, arguments, NULL); /* before err_done: an argument may be the old message */
        va_end(arguments);
        err_done(err);
        err->code = code;
        err->reason = reason_of_code(code);
        err->message = message;
        return code;
}

void err_set_reason(struct err *err, enum reason reason)
{
        if (err)
                err->reason = reason;
}

void err_set_position(struct err *err, struct position position)
{
        if (err)
                err->position = position;
}

void err_set_path(struct err *err, struct str path)
{
        if (!err)
                return;
        free(err->path);
        err->path = str_to_cstring(path);
}

void err_set_details(struct err *err, struct str json)
{
        if (!err)
                return;
        free(err->details);
        err->details = str_to_cstring(json);
}

int(err_set_errno)(struct err *err, int errno_value, const char *format, ...)
{
        va_list arguments;
        _cleanup_free_ char *text = NULL;
        char reason[128];

        if (!err)
                return code_without_err = ERR_SYSTEM;
        va_start(arguments, format);
        text = format_text(format, arguments, NULL);
        va_end(arguments);
        return err_set(err, ERR_SYSTEM, "%s: %s", text, strerror_r(errno_value, reason, sizeof(reason)));
}

int(err_wrap)(struct err *err, const char *format, ...)
{
        va_list arguments;
        char *message;

        if (!err)
                return code_without_err;
        assert(err->code < 0);
        va_start(arguments, format);
        message = format_text(format, arguments, err->message);
        va_end(arguments);
        free(err->message);
        err->message = message;
        return err->code;
}

int err_move(struct err *to, struct err *from)
{
        int code = from->code;

        if (!to) {
                err_done(from);
                if (code < 0)
                        code_without_err = code;
                return code;
        }
        if (to != from) {
                err_done(to);
                *to = *from;
                *from = (struct err) { 0 };
        }
        return code;
}

static char *copy_text(const char *text)
{
        return text ? str_to_cstring(str_from(text)) : NULL;
}

int err_copy(struct err *to, const struct err *from)
{
        struct err copy = *from;

        copy.message = copy_text(from->message);
        copy.path = copy_text(from->path);
        copy.details = copy_text(from->details);
        return err_move(to, &copy);
}

const char *err_message(const struct err *err)
{
        return err && err->message ? err->message : "no error";
}

const char *reason_name(enum reason reason)
{
        assert((unsigned)reason < _REASON_COUNT);
        return reasons[reason].name;
}

enum reason reason_from_name(struct str name)
{
        for (size_t i = 1; i < ARRAY_SIZE(reasons); i++)
                if (str_equal(name, str_from(reasons[i].name)))
                        return (enum reason)i;
        return REASON_UNKNOWN;
}

int reason_http_status(enum reason reason)
{
        assert((unsigned)reason < _REASON_COUNT);
        return reasons[reason].http_status;
}
