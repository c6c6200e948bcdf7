/* An untrusted input of patch-and-transform: {"input": ..., "xr": ..., "observed": ..., "desired": ..., "environment": ...} as
 * JSON. The function returns for every input; equal requests get equal bytes; the response decodes. */
#include "fuzz.h"

#include "buf.h"
#include "functions.h"
#include "json.h"
#include "proto-tables.h"

#define ARENA_BYTES (64u << 20)

static struct fn_struct part(const struct value *v, struct str key)
{
        const struct value *found = value_get(v, key);

        return (struct fn_struct) { .value = value_is_object(found) ? found : NULL };
}

static struct fn_request request_of(struct arena *a, const struct value *v)
{
        struct fn_resource *resources = ARENA_NEW_ARRAY(a, struct fn_resource, 2);
        struct fn_request req = { .tag = STR("fuzz"),
                                  .input = part(v, STR("input")),
                                  .context = part(v, STR("context")) };

        resources[0] = (struct fn_resource) { .name = STR("one"), .object = part(v, STR("observed")) };
        resources[1] = (struct fn_resource) { .name = STR("one"), .object = part(v, STR("desired")) };
        req.observed = (struct fn_state) { .is_present = true, .is_open = true, .has_composite = true };
        req.observed.composite.object = part(v, STR("xr"));
        req.observed.resources = &resources[0];
        req.observed.n_resources = resources[0].object.value != NULL;
        req.desired = (struct fn_state) { .is_present = true, .is_open = true };
        req.desired.resources = &resources[1];
        req.desired.n_resources = resources[1].object.value != NULL;
        return req;
}

static void answer(struct arena *a, const struct value *v, struct buf *b)
{
        struct run run = { .arena = a, .deadline = DEADLINE_NONE };
        struct fn_request req = request_of(a, v);
        struct fn_response rsp;
        int r = function_patch_and_transform.run(&run, &req, &rsp, NULL);

        assert(r == 0);
        assert(rsp.ttl_ns == 60000000000ll && str_equal(rsp.tag, STR("fuzz")));
        r = fn_response_encode(a, &rsp, b, NULL);
        assert(r == 0 || a->is_over_budget);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static const struct json_read_options options = { .is_kubernetes = true, .numbers_as_double = true };
        _cleanup_buf_ struct buf first = BUF_INIT(0), second = BUF_INIT(0);
        _cleanup_arena_ struct arena a;
        const struct value *v, *response;
        int r;

        arena_init(&a, "fuzz", ARENA_BYTES);
        if (json_parse(&a, str_make((const char *)data, size), &options, &v, NULL) < 0)
                return 0;
        answer(&a, v, &first);
        answer(&a, v, &second);
        if (a.is_over_budget)
                return 0;
        assert(str_equal(buf_str(&first), buf_str(&second)));
        r = proto_decode(&a, &proto_fn_v1_RunFunctionResponse, buf_str(&first), NULL, &response, NULL);
        assert(r == 0 && value_get(response, STR("meta")));
        return 0;
}
