/* The first byte chooses between request and response, the rest is the message. A message that can be read is examined in every
 * part and written; the written message must read back and be written the same. */
#include "fuzz.h"

#include "buf.h"
#include "message.h"

static void look_at_struct(struct arena *a, struct fn_struct *s)
{
        const struct value *v;

        /* A part that cannot be decoded stays encoded. */
        if (fn_struct_value(a, s, &v, NULL) >= 0 && v)
                s->encoded = STR_NONE;
}

static void look_at_state(struct arena *a, struct fn_state *s)
{
        if (fn_state_open(a, s, NULL) < 0)
                return;
        for (size_t i = 1; i < s->n_resources; i++)
                assert(str_compare(s->resources[i - 1].name, s->resources[i].name) < 0);
        for (size_t i = 0; i < s->n_resources; i++)
                assert(fn_state_find(s, s->resources[i].name) == &s->resources[i]);
        look_at_struct(a, &s->composite.object);
        s->encoded = STR_NONE;
}

static void write_request(struct arena *a, struct fn_request *req, struct buf *b)
{
        int r = fn_request_encode(a, req, b, NULL);

        assert(r >= 0);
}

static void check_request(struct arena *a, struct str bytes)
{
        _cleanup_buf_ struct buf first = BUF_INIT(0), second = BUF_INIT(0);
        struct fn_request req, again;
        int r;

        if (fn_request_decode(a, bytes, &req, NULL) < 0)
                return;
        look_at_state(a, &req.observed);
        look_at_state(a, &req.desired);
        look_at_struct(a, &req.input);
        look_at_struct(a, &req.context);
        write_request(a, &req, &first);
        r = fn_request_decode(a, buf_str(&first), &again, NULL);
        assert(r >= 0);
        write_request(a, &again, &second);
        assert(str_equal(buf_str(&first), buf_str(&second)));
}

static void write_response(struct arena *a, const struct fn_response *rsp, struct buf *b)
{
        int r = fn_response_encode(a, rsp, b, NULL);

        assert(r >= 0);
}

static void check_response(struct arena *a, struct str bytes)
{
        _cleanup_buf_ struct buf first = BUF_INIT(0), second = BUF_INIT(0);
        struct fn_response rsp, again;
        int r;

        if (fn_response_decode(a, bytes, &rsp, NULL) < 0)
                return;
        look_at_state(a, &rsp.desired);
        look_at_struct(a, &rsp.context);
        look_at_struct(a, &rsp.output);
        write_response(a, &rsp, &first);
        r = fn_response_decode(a, buf_str(&first), &again, NULL);
        assert(r >= 0);
        assert(fn_requirements_equal(&rsp.requirements, &again.requirements));
        write_response(a, &again, &second);
        assert(str_equal(buf_str(&first), buf_str(&second)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct str bytes = { (const char *)data, size };
        _cleanup_arena_ struct arena a;

        arena_init(&a, "fuzz", 0);
        if (size == 0)
                return 0;
        if (data[0] & 1)
                check_request(&a, str_skip(bytes, 1));
        else
                check_response(&a, str_skip(bytes, 1));
        return 0;
}
