/* Results and conditions: the parts of a response for people. */
#include "sdk.h"

#include <stdarg.h>

#include "buf.h"
#include "limits.h"

enum { SEVERITY_FATAL = 1, SEVERITY_WARNING = 2, SEVERITY_NORMAL = 3 };
enum { RESULT_SEVERITY = 1, RESULT_MESSAGE = 2, RESULT_REASON = 3, RESULT_TARGET = 4 };
enum { CONDITION_TYPE = 1, CONDITION_STATUS = 2, CONDITION_REASON = 3, CONDITION_MESSAGE = 4, CONDITION_TARGET = 5 };

/* The initial size of encoding buffers; the allocator has blocks of this size ready. */
#define USUAL_BYTES 1000

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

#define ADD_RESULT(severity)                                               \
        ({                                                                 \
                va_list arguments;                                         \
                struct str message;                                        \
                                                                           \
                va_start(arguments, format);                               \
                message = sdk_format(rsp->call->arena, format, arguments); \
                va_end(arguments);                                         \
                add_result(rsp->call, severity, message);                  \
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
        message = sdk_format(call->arena, format, arguments);
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
        c->message = sdk_format(c->call->arena, format, arguments);
        va_end(arguments);
        return c;
}

struct weft_condition *weft_condition_target(struct weft_condition *c, enum weft_target target)
{
        c->target = (int)target;
        return c;
}

/* --- Finishing --- */

/* A number or text with its default value is not sent. Optional texts are sent even if empty; p NULL means absent. */
static void append_number(struct buf *b, uint32_t field, int number)
{
        if (number)
                proto_append_varint_field(b, field, (uint64_t)number);
}

static void append_text(struct buf *b, uint32_t field, struct str text)
{
        if (text.n)
                proto_append_bytes_field(b, field, text);
}

static void append_optional_text(struct buf *b, uint32_t field, struct str text)
{
        if (text.p)
                proto_append_bytes_field(b, field, text);
}

static void append_result(struct buf *all, struct buf *scratch, const struct weft_result *r)
{
        buf_clear(scratch);
        append_number(scratch, RESULT_SEVERITY, r->severity);
        append_text(scratch, RESULT_MESSAGE, r->message);
        append_optional_text(scratch, RESULT_REASON, r->reason);
        proto_append_varint_field(scratch, RESULT_TARGET, (uint64_t)r->target);
        proto_append_bytes_field(all, FN_RESPONSE_RESULTS, buf_str(scratch));
}

static void append_condition(struct buf *all, struct buf *scratch, const struct weft_condition *c)
{
        buf_clear(scratch);
        append_text(scratch, CONDITION_TYPE, c->type);
        append_number(scratch, CONDITION_STATUS, c->status);
        append_text(scratch, CONDITION_REASON, c->reason);
        append_optional_text(scratch, CONDITION_MESSAGE, c->message);
        proto_append_varint_field(scratch, CONDITION_TARGET, (uint64_t)c->target);
        proto_append_bytes_field(all, FN_RESPONSE_CONDITIONS, buf_str(scratch));
}

void sdk_finish_results(struct weft_response *rsp, struct fn_parts *ret)
{
        _cleanup_buf_ struct buf all = BUF_INIT(0), scratch = BUF_INIT(0);

        if (rsp->results || rsp->conditions) {
                buf_reserve(&all, USUAL_BYTES);
                buf_reserve(&scratch, USUAL_BYTES);
        }
        for (const struct weft_result *r = rsp->results; r; r = r->next)
                append_result(&all, &scratch, r);
        if (all.n)
                ret->part[FN_RESPONSE_RESULTS] = buf_to_arena(&all, rsp->call->arena);
        for (const struct weft_condition *c = rsp->conditions; c; c = c->next)
                append_condition(&all, &scratch, c);
        if (all.n)
                ret->part[FN_RESPONSE_CONDITIONS] = buf_to_arena(&all, rsp->call->arena);
}
