#include "secret.h"

#include <stdlib.h>

#include "base64.h"
#include "buf.h"

static int compare_bytes(const void *a, const void *b)
{
        return str_compare(((const struct fn_bytes *)a)->key, ((const struct fn_bytes *)b)->key);
}

int secret_data(struct arena *a, const struct value *secret, struct fn_bytes_map *ret, struct err *err)
{
        const struct value *data = value_get(secret, STR("data"));
        struct fn_bytes *p = ARENA_NEW_ARRAY(a, struct fn_bytes, value_count(data) + 1);
        size_t n = 0;
        int r;

        VALUE_FOREACH_MEMBER (m, data) {
                _cleanup_buf_ struct buf bytes = BUF_INIT(0);

                r = base64_decode(&bytes, value_str(&m->value), BASE64_STD, err);
                if (r < 0)
                        return err_wrap(err, "data[%.*s]", STR_ARG(m->key));
                p[n++] = (struct fn_bytes) { m->key, buf_to_arena(&bytes, a) };
        }
        qsort(p, n, sizeof(*p), compare_bytes);
        *ret = (struct fn_bytes_map) { .p = p, .n = n };
        return 0;
}

int secret_fetch(struct cluster *c, struct run *run, struct str ns, struct str name, struct fn_bytes_map *ret,
                 struct err *err)
{
        struct object_key key = { .gvk = { STR(""), STR("v1"), STR("Secret") }, .ns = ns, .name = name };
        const struct value *secret;
        int r = cluster_get_value(c, run, &key, &secret, err);

        return r < 0 ? r : secret_data(run->arena, secret, ret, err);
}
