#include "test.h"

#include "arena.h"
#include "buf.h"
#include "fn-client.h"
#include "fn-server.h"

/* Answers with the request's desired state, or refuses when there is none. */
static enum grpc_status answer(void *context, struct grpc_request *call, const struct fn_parts *request,
                               struct buf *ret, struct err *err)
{
        struct fn_parts response = { .message = &proto_fn_v1_RunFunctionResponse };

        *(_Atomic int *)context += 1;
        if (!request->part[FN_REQUEST_DESIRED].p) {
                err_set(err, ERR_INVALID, "nothing desired");
                return GRPC_INVALID_ARGUMENT;
        }
        response.part[FN_RESPONSE_DESIRED] = request->part[FN_REQUEST_DESIRED];
        fn_parts_append(ret, &response);
        return GRPC_OK;
}

struct fixture {
        struct arena arena;
        _Atomic int n_calls;
        struct fn_handler handler;
        struct grpc_method methods[FN_N_METHODS];
        struct grpc_server *server;
        struct grpc_channel *channel;
};

static void fixture_init(struct fixture *f, size_t first_method, size_t n_methods)
{
        _cleanup_err_ struct err err = { 0 };
        _cleanup_buf_ struct buf text = BUF_INIT(0);
        struct grpc_server_options options = { .methods = f->methods + first_method, .n_methods = n_methods };
        struct address address;

        arena_init(&f->arena, "test", 0);
        f->n_calls = 0;
        f->handler = (struct fn_handler) { .run = answer, .context = &f->n_calls };
        fn_server_methods(&f->handler, f->methods);
        ASSERT(address_from_ip(STR("127.0.0.1"), 0, &options.http.address, &err) == 0);
        if (grpc_server_new(&options, &f->server, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
        address = grpc_server_address(f->server);
        address_append(&text, &address);
        ASSERT(grpc_channel_new(buf_str(&text), NULL, &f->channel, &err) == 0);
}

static void fixture_done(struct fixture *f)
{
        grpc_channel_unref(f->channel);
        grpc_server_free(f->server);
        arena_done(&f->arena);
}

static int call(struct fixture *f, struct str message, struct grpc_reply *ret, struct err *err)
{
        struct grpc_call_options options = { .deadline = deadline_after_ms(10000) };
        _cleanup_bytes_ struct bytes *request = bytes_copy(message);

        return fn_call(f->channel, request, &options, &f->arena, ret, err);
}

/* field 3, desired: composite {} */
#define REQUEST  STR("\x1a\x02\x0a\x00")
#define RESPONSE STR("\x12\x02\x0a\x00")

TEST(v1_answers)
{
        _cleanup_err_ struct err err = { 0 };
        struct grpc_reply reply;
        struct fixture f;

        fixture_init(&f, 0, 2);
        ASSERT_INT(call(&f, REQUEST, &reply, &err), 0);
        ASSERT_STR(reply.response->str, RESPONSE);
        bytes_unref(reply.response);
        ASSERT_INT(f.n_calls, 1);
        fixture_done(&f);
}

TEST(v1beta1_answers_when_v1_is_unimplemented)
{
        _cleanup_err_ struct err err = { 0 };
        struct grpc_reply reply;
        struct fixture f;

        fixture_init(&f, 1, 1);
        for (int i = 0; i < 2; i++) {
                ASSERT_INT(call(&f, REQUEST, &reply, &err), 0);
                ASSERT_INT(err.code, 0);
                ASSERT_STR(reply.response->str, RESPONSE);
                bytes_unref(reply.response);
        }
        fixture_done(&f);
}

TEST(neither_version)
{
        _cleanup_err_ struct err err = { 0 };
        struct grpc_reply reply;
        struct fixture f;

        fixture_init(&f, 0, 0);
        ASSERT(call(&f, REQUEST, &reply, &err) < 0);
        ASSERT_INT(reply.status, GRPC_UNIMPLEMENTED);
        ASSERT(str_find(str_from(err_message(&err)), STR("v1beta1")) > 0);
        fixture_done(&f);
}

TEST(errors_are_grpcs)
{
        _cleanup_err_ struct err err = { 0 };
        struct grpc_reply reply;
        struct fixture f;

        fixture_init(&f, 0, 2);
        ASSERT(call(&f, STR(""), &reply, &err) < 0);
        ASSERT_TEXT(err_message(&err), "rpc error: code = InvalidArgument desc = nothing desired");
        ASSERT_INT(f.n_calls, 1);
        ASSERT(call(&f, STR("\xff"), &reply, &err) < 0);
        ASSERT_INT(reply.status, GRPC_INTERNAL);
        ASSERT_INT(f.n_calls, 1);
        fixture_done(&f);
}
