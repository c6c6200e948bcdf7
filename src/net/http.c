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
