#include "list-token.h"

#include "base64.h"
#include "buf.h"
#include "json.h"
#include "status.h"

struct str list_token_make(struct arena *a, int64_t version, struct str start)
{
        _cleanup_buf_ struct buf key = BUF_INIT(0), json = BUF_INIT(0), token = BUF_INIT(0);

        buf_append_char(&key, '/');
        buf_append_str(&key, start);
        buf_appendf(&json, "{\"v\":\"meta.k8s.io/v1\",\"rv\":%lld,\"start\":", (long long)version);
        json_write_string(&json, buf_str(&key), 0);
        buf_append_char(&json, '}');
        base64_encode(&token, buf_str(&json), BASE64_RAW_URL);
        return buf_to_arena(&token, a);
}

static int refuse(struct err *err, const char *why)
{
        return status_bad_request(err, "invalid continue token: continue key is not valid: %s", why);
}

int list_token_parse(struct arena *a, struct str token, int64_t *ret_version, struct str *ret_start, struct err *err)
{
        _cleanup_err_ struct err inner = { 0 };
        _cleanup_buf_ struct buf json = BUF_INIT(0);
        const struct value *v, *version;
        struct str format, start;

        if (base64_decode(&json, token, BASE64_RAW_URL, &inner) < 0 ||
            json_parse(a, buf_str(&json), NULL, &v, &inner) < 0)
                return refuse(err, err_message(&inner));
        format = value_str(value_get(v, STR("v")));
        if (!str_equal(format, STR("meta.k8s.io/v1")))
                return refuse(err,
                              arena_cstring(a, arena_printf(a, "server does not recognize this encoded version %.*s",
                                                            STR_ARG(format))));
        version = value_get(v, STR("rv"));
        if (value_int(version, 0) == 0)
                return refuse(err, "incorrect encoded start resourceVersion (version meta.k8s.io/v1)");
        start = value_str(value_get(v, STR("start")));
        if (start.n == 0)
                return refuse(err, "encoded start key empty (version meta.k8s.io/v1)");
        str_cut_prefix(&start, STR("/"));
        *ret_version = value_int(version, 0);
        *ret_start = arena_copy(a, start);
        return 0;
}
