/* Runs one call of the function, from the request's parts to the response's bytes, and writes its log. */
#include "sdk.h"

#include <stdarg.h>

#include "buf.h"
#include "log.h"

static void call_init(struct call *c, const struct flags *flags, struct arena *a, const struct fn_parts *request)
{
        *c = (struct call) { .arena = a, .function = flags->function, .flags = flags };
        c->request = (struct weft_request) { .call = c, .parts = request };
        c->response = (struct weft_response) { .call = c, .ttl_ns = 60 * INT64_C(1000000000) };
        c->response.last_result = &c->response.results;
        c->response.last_condition = &c->response.conditions;
}

void sdk_run(const struct flags *flags, struct arena *a, const struct fn_parts *request, struct buf *ret,
             bool *ret_is_fatal)
{
        struct fn_parts response;
        struct call c;

        call_init(&c, flags, a, request);
        sdk_tag(&c.request);
        weft_log_debug(&c.request, "running function");
        if (!c.response.has_failed)
                flags->function->run(&c.request, &c.response);
        sdk_finish(&c.response, &response);
        fn_parts_append(ret, &response);
        for (const struct weft_result *fatal = c.response.results; fatal; fatal = fatal->next) {
                if (fatal->severity == 1)
                        weft_log_info(&c.request, "fatal result: %.*s", STR_ARG(fatal->message));
        }
        if (ret_is_fatal)
                *ret_is_fatal = c.response.has_failed;
        sdk_response_done(&c.response);
}

static _printf_(3, 0) void write_log(enum log_level level, const struct weft_request *req, const char *format,
                                     va_list arguments)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        const char *name = req->call->function->name;
        const struct log_field fields[] = { LOG_TEXT("function", name), LOG_STR("tag", req->tag) };

        buf_appendv(&b, format, arguments);
        log_write(level, (struct log_site) { format, 0 }, buf_cstring(&b), fields, ARRAY_SIZE(fields));
}

void weft_log_debug(const struct weft_request *req, const char *format, ...)
{
        va_list arguments;

        if (!log_is_on(LOG_DEBUG))
                return;
        va_start(arguments, format);
        write_log(LOG_DEBUG, req, format, arguments);
        va_end(arguments);
}

void weft_log_info(const struct weft_request *req, const char *format, ...)
{
        va_list arguments;

        if (!log_is_on(LOG_INFO))
                return;
        va_start(arguments, format);
        write_log(LOG_INFO, req, format, arguments);
        va_end(arguments);
}
