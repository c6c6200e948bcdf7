/* The first byte chooses a message type, the second the options, the rest is a message on the wire. An accepted message must come
 * back equal from its own encoding, and encoding it again must give the same bytes. Sorting its maps does not change its meaning,
 * and a sorted message is not sorted again. */
#include "fuzz.h"

#include "buf.h"
#include "proto-sort.h"
#include "proto-tables.h"
#include "test-proto-tables.h"

static const struct proto_message *const messages[] = {
        &test_proto_v1_AllTypes,
        &test_proto_v1_Few,
        &proto_google_Struct,
        &proto_google_Value,
        &proto_google_ListValue,
        &proto_google_Duration,
        &proto_google_Timestamp,
        &proto_fn_v1_RunFunctionRequest,
        &proto_fn_v1_RunFunctionResponse,
        &proto_fn_v1alpha1_RunFunctionRequest,
        &proto_cache_CachedResponse,
        &proto_render_RenderRequest,
        &proto_reflection_v1_ServerReflectionResponse,
};

#define ARENA_BYTES (256u << 20)

/* Walks the fields: each lies within the message, and together they cover all of it. */
static void walk(struct str message)
{
        struct proto_raw_field f;
        struct str rest = message;
        size_t total = 0;
        int r;

        while ((r = proto_next_field(&rest, &f, NULL)) > 0) {
                assert(f.whole.p == message.p + total && f.whole.n > 0);
                total += f.whole.n;
                assert(total + rest.n == message.n);
                assert(f.number > 0);
                if (f.bytes.n)
                        assert(f.bytes.p > f.whole.p && f.bytes.p + f.bytes.n <= f.whole.p + f.whole.n);
        }
        assert(r < 0 || total == message.n);
}

static void check(struct arena *a, const struct proto_message *m, const struct value *v,
                  const struct proto_options *options)
{
        _cleanup_buf_ struct buf first = BUF_INIT(0), second = BUF_INIT(0);
        const struct value *again;
        int r = proto_encode(&first, m, v, options, NULL);

        assert(r == 0);
        r = proto_decode(a, m, buf_str(&first), options, &again, NULL);
        assert(r == 0);
        assert(value_equal(v, again));
        r = proto_encode(&second, m, again, options, NULL);
        assert(r == 0);
        assert(str_equal(buf_str(&first), buf_str(&second)));
}

static void check_sorted(struct arena *a, const struct proto_message *m, struct str message, const struct value *v,
                         const struct proto_options *options)
{
        const struct value *same;
        struct str sorted, again;
        int r = proto_sort_maps(a, m, message, &sorted, NULL);

        assert(r == 0 && sorted.n == message.n);
        r = proto_decode(a, m, sorted, options, &same, NULL);
        assert(r == 0 && value_equal(v, same));
        r = proto_sort_maps(a, m, sorted, &again, NULL);
        assert(r == 0 && again.p == sorted.p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_arena_ struct arena a;
        _cleanup_err_ struct err err = { 0 };
        struct proto_options options = { 0 };
        const struct proto_message *m;
        const struct value *v = NULL;
        struct str message;

        arena_init(&a, "fuzz", ARENA_BYTES);
        if (size < 2)
                return 0;
        m = messages[data[0] % ARRAY_SIZE(messages)];
        options.flags = data[1] & (PROTO_KEEP_UNKNOWN | PROTO_EMIT_DEFAULTS | PROTO_BORROW_BYTES);
        options.max_depth = data[1] & 0x80 ? 10 : 0;
        message = str_make((const char *)data + 2, size - 2);
        walk(message);
        if (proto_decode(&a, m, message, &options, &v, &err) == 0) {
                check(&a, m, v, &options);
                check_sorted(&a, m, message, v, &options);
        } else {
                assert(!v && str_starts_with(str_from(err_message(&err)), STR("cannot decode ")));
        }
        return 0;
}
