/* Results and conditions: what a response tells people. */
#include "sdk.h"

#include <stdarg.h>

#include "buf.h"
#include "limits.h"

enum { SEVERITY_FATAL = 1, SEVERITY_WARNING = 2, SEVERITY_NORMAL = 3 };

/* --- Results --- */

static struct weft_result *add_result(struct call *call, int severity, struct str message)
{
        struct weft_result *result = ARENA_NEW(call->arena, struct weft_result);

        *result = (struct weft_result) {
                .call = call, .severity = severity, .target = WEFT_COMPOSITE, .message = message
        };
        *call->response.last_result = result;
        call->response.last_result = &result->next;
        call->response.has_failed |= severity == SEVERITY_FATAL;
        return result;
}

static _printf_(2, 0) struct str format_text(struct arena *a, const char *format, va_list arguments)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        buf_appendv(&b, format, arguments);
        return sdk_text(a, buf_cstring(&b));
}

#define ADD_RESULT(severity)                                                \
        ({                                                                  \
                va_list arguments;                                          \
                struct str message;                                         \
                                                                            \
                va_start(arguments, format);                                \
                message = format_text(rsp->call->arena, format, arguments); \
                va_end(arguments);                                          \
                add_result(rsp->call, severity, message);                   \
        })

struct weft_result *weft_normal(struct weft_response *rsp, const char *format, ...)
{
        return ADD_RESULT(SEVERITY_NORMAL);
}

struct weft_result *weft_warning(struct weft_response *rsp, const char *format, ...)
{
        return ADD_RESULT(SEVERITY_WARNING);
}

struct weft_result *weft_fatal(struct weft_response *rsp, const char *format, ...)
{
        return ADD_RESULT(SEVERITY_FATAL);
}

void sdk_fail(struct call *call, const char *format, ...)
{
        va_list arguments;
        struct str message;

        if (call->response.n_failures >= LIMIT_FUNCTION_FAILURES)
                return;
        va_start(arguments, format);
        message = format_text(call->arena, format, arguments);
        va_end(arguments);
        for (const struct weft_result *r = call->response.results; r; r = r->next) {
                if (r->severity == SEVERITY_FATAL && str_equal(r->message, message))
                        return;
        }
        call->response.n_failures++;
        add_result(call, SEVERITY_FATAL, message);
}

bool weft_has_failed(const struct weft_response *rsp)
{
        return rsp->has_failed;
}

struct weft_result *weft_result_reason(struct weft_result *result, const char *reason)
{
        result->reason = sdk_text(result->call->arena, reason);
        return result;
}

struct weft_result *weft_result_target(struct weft_result *result, enum weft_target target)
{
        result->target = (int)target;
        return result;
}

/* --- Conditions --- */

struct weft_condition *weft_condition(struct weft_response *rsp, const char *type, enum weft_status_value status,
                                      const char *reason)
{
        struct weft_condition *c = ARENA_NEW(rsp->call->arena, struct weft_condition);

        *c = (struct weft_condition) {
                .call = rsp->call,
                .status = (int)status,
                .target = WEFT_COMPOSITE,
                .type = sdk_text(rsp->call->arena, type),
                .reason = sdk_text(rsp->call->arena, reason),
        };
        *rsp->last_condition = c;
        rsp->last_condition = &c->next;
        return c;
}

struct weft_condition *weft_condition_message(struct weft_condition *c, const char *format, ...)
{
        va_list arguments;

        va_start(arguments, format);
        c->message = format_text(c->call->arena, format, arguments);
        va_end(arguments);
        return c;
}

struct weft_condition *weft_condition_target(struct weft_condition *c, enum weft_target target)
{
        c->target = (int)target;
        return c;
}

/* --- Finishing --- */

static const struct value *result_value(struct arena *a, const struct weft_result *r)
{
        struct object_builder b;

        object_builder_init(&b, a, 4);
        object_builder_add(&b, STR("severity"), value_of_int(r->severity));
        object_builder_add(&b, STR("message"), value_of_str(r->message));
        if (r->reason.p)
                object_builder_add(&b, STR("reason"), value_of_str(r->reason));
        object_builder_add(&b, STR("target"), value_of_int(r->target));
        return value_put(a, object_builder_finish(&b));
}

static const struct value *condition_value(struct arena *a, const struct weft_condition *c)
{
        struct object_builder b;

        object_builder_init(&b, a, 5);
        object_builder_add(&b, STR("type"), value_of_str(c->type));
        object_builder_add(&b, STR("status"), value_of_int(c->status));
        object_builder_add(&b, STR("reason"), value_of_str(c->reason));
        if (c->message.p)
                object_builder_add(&b, STR("message"), value_of_str(c->message));
        object_builder_add(&b, STR("target"), value_of_int(c->target));
        return value_put(a, object_builder_finish(&b));
}

int sdk_finish_results(struct weft_response *rsp, struct fn_parts *ret, struct err *err)
{
        struct arena *a = rsp->call->arena;
        struct array_builder b;
        int r;

        array_builder_init(&b, a, 4);
        for (const struct weft_result *result = rsp->results; result; result = result->next)
                array_builder_add(&b, *result_value(a, result));
        r = fn_parts_set(a, ret, FN_RESPONSE_RESULTS, b.n ? value_put(a, array_builder_finish(&b)) : NULL, err);
        if (r < 0)
                return r;
        array_builder_init(&b, a, 4);
        for (const struct weft_condition *c = rsp->conditions; c; c = c->next)
                array_builder_add(&b, *condition_value(a, c));
        return fn_parts_set(a, ret, FN_RESPONSE_CONDITIONS, b.n ? value_put(a, array_builder_finish(&b)) : NULL, err);
}
