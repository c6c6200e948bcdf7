/* An untrusted RunFunctionRequest. Splitting it into parts and joining them again changes nothing. A function on the SDK that edits
 * one resource returns a response that decodes and has every other resource unchanged. */
#include "fuzz.h"

#include "buf.h"
#include "log.h"
#include "sdk.h"

#define ARENA_BYTES (256u << 20)

static void edit(struct weft_request *req, struct weft_response *rsp)
{
        const struct weft_value *xr = weft_observed_composite(req);
        struct weft_value *v = weft_compose(rsp, "fuzz", "v1", "Fuzz");

        weft_set_int(v, "spec.n", weft_get_int_or(xr, "spec.count", 1));
        weft_set(v, "spec.copy", weft_find(xr, "spec"));
        for (size_t i = 0; i < weft_observed_count(req); i++)
                weft_is_ready(weft_observed(req, weft_observed_name(req, i)));
        for (size_t i = 0; i < weft_required_key_count(req); i++)
                weft_required_count(req, weft_required_key(req, i));
        for (size_t i = 0; i < weft_observed_connection_count(req, NULL); i++)
                weft_observed_connection(req, NULL, weft_observed_connection_key(req, NULL, i), NULL);
        for (size_t i = 0; weft_has_credential(req, "a") && i < weft_credential_count(req, "a"); i++)
                weft_credential(req, "a", weft_credential_key(req, "a", i), NULL);
        weft_check_keys(xr, "spec", (const char *const[]) { "count", NULL });
        weft_set_string(weft_context_edit(rsp, "fuzz"), "x", "why");
}

static const struct value *decode(struct arena *a, const struct proto_message *m, struct str bytes)
{
        const struct value *v;

        return proto_decode(a, m, bytes, NULL, &v, NULL) == 0 ? v : NULL;
}

static struct str join(struct arena *a, const struct fn_parts *parts)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        fn_parts_append(&b, parts);
        return buf_to_arena(&b, a);
}

static void check_split(struct arena *a, struct str bytes, const struct fn_parts *parts)
{
        const struct value *before = decode(a, parts->message, bytes), *after;
        struct str joined = join(a, parts);
        struct fn_parts again;
        int r = fn_parts_split(a, parts->message, joined, &again, NULL);

        assert(r == 0);
        assert(str_equal(join(a, &again), joined));
        after = decode(a, parts->message, joined);
        assert(!before == !after);
        assert(!before || value_equal(before, after));
}

static const struct value *others(struct arena *a, const struct value *message)
{
        const struct value *v = value_find(message, "desired", "resources");

        return value_without(a, v ? v : &value_empty_object, STR("fuzz"));
}

static void check_run(struct arena *a, struct str bytes, const struct fn_parts *parts)
{
        static const struct weft_function function = { .name = "function-fuzz", .run = edit };
        static struct flag_value values[N_STANDARD_FLAGS];
        const struct flags flags = { .function = &function, .n = N_STANDARD_FLAGS, .values = values };
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        const struct value *request = decode(a, parts->message, bytes), *response;

        sdk_run(&flags, a, parts, &b, NULL);
        if (!request)
                return;
        response = decode(a, &proto_fn_v1_RunFunctionResponse, buf_str(&b));
        assert(response);
        assert(value_equal(others(a, request), others(a, response)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct str bytes = str_make((const char *)data, size);
        _cleanup_arena_ struct arena a;
        struct fn_parts parts;

        log_set_level(LOG_ERROR);
        arena_init(&a, "fuzz", ARENA_BYTES);
        if (fn_parts_split(&a, &proto_fn_v1_RunFunctionRequest, bytes, &parts, NULL) == 0) {
                check_split(&a, bytes, &parts);
                check_run(&a, bytes, &parts);
        }
        return 0;
}
