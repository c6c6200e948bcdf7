#include "http.h"

void http_fields_add(struct http_fields *f, struct arena *a, struct str name, struct str value)
{
        if (f->n == f->capacity) {
                size_t grown = f->capacity ? f->capacity * 2 : 8;
                struct http_field *p = arena_alloc(a, grown * sizeof(*p));

                if (f->n)
                        memcpy(p, f->p, f->n * sizeof(*p));
                f->p = p;
                f->capacity = grown;
        }
        f->p[f->n++] = (struct http_field) { arena_copy(a, name), arena_copy(a, value) };
}

struct str http_fields_get(const struct http_fields *f, struct str name)
{
        for (size_t i = 0; i < f->n; i++)
                if (str_equal(f->p[i].name, name))
                        return f->p[i].value;
        return STR_NONE;
}

static bool is_token_char(char c)
{
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               (c && strchr("!#$%&'*+-.^_`|~", c));
}

bool http_is_token(struct str s)
{
        for (size_t i = 0; i < s.n; i++)
                if (!is_token_char(s.p[i]))
                        return false;
        return s.n > 0;
}

const char *http_reason(int status)
{
        static const struct {
                int status;
                const char *reason;
        } names[] = {
                { 100, "Continue" },
                { 101, "Switching Protocols" },
                { 200, "OK" },
                { 201, "Created" },
                { 202, "Accepted" },
                { 204, "No Content" },
                { 206, "Partial Content" },
                { 301, "Moved Permanently" },
                { 302, "Found" },
                { 303, "See Other" },
                { 304, "Not Modified" },
                { 307, "Temporary Redirect" },
                { 308, "Permanent Redirect" },
                { 400, "Bad Request" },
                { 401, "Unauthorized" },
                { 402, "Payment Required" },
                { 403, "Forbidden" },
                { 404, "Not Found" },
                { 405, "Method Not Allowed" },
                { 406, "Not Acceptable" },
                { 408, "Request Timeout" },
                { 409, "Conflict" },
                { 410, "Gone" },
                { 411, "Length Required" },
                { 412, "Precondition Failed" },
                { 413, "Request Entity Too Large" },
                { 414, "Request URI Too Long" },
                { 415, "Unsupported Media Type" },
                { 416, "Requested Range Not Satisfiable" },
                { 417, "Expectation Failed" },
                { 418, "I'm a teapot" },
                { 421, "Misdirected Request" },
                { 422, "Unprocessable Entity" },
                { 426, "Upgrade Required" },
                { 428, "Precondition Required" },
                { 429, "Too Many Requests" },
                { 431, "Request Header Fields Too Large" },
                { 500, "Internal Server Error" },
                { 501, "Not Implemented" },
                { 502, "Bad Gateway" },
                { 503, "Service Unavailable" },
                { 504, "Gateway Timeout" },
                { 505, "HTTP Version Not Supported" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(names); i++)
                if (names[i].status == status)
                        return names[i].reason;
        return "";
}

void exchange_respond(struct exchange *ex, int status, const struct http_fields *fields, bool is_all)
{
        ex->ops->respond(ex, status, fields, is_all);
}

void exchange_send(struct exchange *ex, struct bytes *b)
{
        ex->ops->send(ex, b);
}

void exchange_finish(struct exchange *ex, const struct http_fields *trailers)
{
        ex->ops->finish(ex, trailers);
}

void exchange_reset(struct exchange *ex, enum http_reset why)
{
        ex->ops->reset(ex, why);
}

void exchange_consume(struct exchange *ex, size_t n)
{
        ex->ops->consume(ex, n);
}

bool exchange_has_room(const struct exchange *ex)
{
        return ex->ops->has_room(ex);
}

size_t exchange_held_bytes(const struct exchange *ex)
{
        return ex->ops->held_bytes(ex);
}

void exchange_hold(struct exchange *ex, struct budget_account *account)
{
        budget_move(&ex->account, account);
}

void exchange_take_arena(struct exchange *ex, struct arena *ret)
{
        *ret = ex->arena;
        arena_init(&ex->arena, ret->name, 0);
}
