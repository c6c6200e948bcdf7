#include "call.h"

#include "buf.h"
#include "json.h"

struct str api_query_get(const struct api_query *q, struct str name)
{
        for (size_t i = 0; i < q->n; i++)
                if (str_equal(q->p[i].name, name))
                        return q->p[i].value;
        return (struct str) { 0 };
}

bool api_query_flag(const struct api_query *q, struct str name)
{
        struct str v = api_query_get(q, name);

        return v.p && !str_equal(v, STR("false")) && !str_equal(v, STR("0"));
}

void api_reply_value(struct api_reply *reply, const struct value *v)
{
        _cleanup_buf_ struct buf b = { 0 };
        _cleanup_err_ struct err err = { 0 };

        json_write(&b, v, JSON_ESCAPE_HTML, &err);
        buf_append_char(&b, '\n');
        reply->body = bytes_take(&b);
}
