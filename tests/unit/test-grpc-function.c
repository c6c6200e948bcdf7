/* A step whose function is at the other end of a connection: sizes, tags, errors, time, and how many calls there may be at once. */
#include "values.h"

#include "buf.h"
#include "fn-server.h"
#include "step.h"
#include "store.h"

static struct store *store;
static struct registry *registry;
static struct run run;
static struct fn_state observed;
static struct step_context context;
static struct step_record record;
static struct fn_response rsp;

static struct fn_handler handler;
static struct grpc_method methods[FN_N_METHODS];
static struct grpc_server *server;
static char target[64];

static _Atomic int n_running, most_running, n_calls;
static struct completion may_go;

/* Gives back context and tag, says something, and has a TTL. */
static enum grpc_status answer(void *context_, struct grpc_request *call, const struct fn_parts *request,
                               struct buf *ret, struct err *err)
{
        struct fn_parts response = { .message = &proto_fn_v1_RunFunctionResponse };

        n_calls++;
        response.part[FN_RESPONSE_CONTEXT] = request->part[FN_REQUEST_CONTEXT];
        response.part[FN_RESPONSE_DESIRED] = request->part[FN_REQUEST_DESIRED];
        fn_parts_append(ret, &response);
        return GRPC_OK;
}

static enum grpc_status refuse(void *context_, struct grpc_request *call, const struct fn_parts *request,
                               struct buf *ret, struct err *err)
{
        err_set(err, ERR_INVALID, "I do not like it");
        return GRPC_INVALID_ARGUMENT;
}

static enum grpc_status answer_garbage(void *context_, struct grpc_request *call, const struct fn_parts *request,
                                       struct buf *ret, struct err *err)
{
        buf_append_literal(ret, "\x0a\xff");
        return GRPC_OK;
}

static enum grpc_status wait_for_go(void *context_, struct grpc_request *call, const struct fn_parts *request,
                                    struct buf *ret, struct err *err)
{
        int n = ++n_running, most = most_running;

        while (n > most && !atomic_compare_exchange_weak(&most_running, &most, n))
                ;
        completion_wait(&may_go, DEADLINE_NONE, NULL);
        n_running--;
        return GRPC_OK;
}

static void set_up(enum grpc_status (*f)(void *context, struct grpc_request *call, const struct fn_parts *request,
                                         struct buf *ret, struct err *err),
                   size_t max_in_flight, bool names_itself)
{
        struct store_options options = { .accepts_any_kind = true, .creates_namespaces = true };
        struct grpc_server_options server_options = { .methods = methods, .n_methods = FN_N_METHODS };
        struct grpc_function_options function_options = { .max_in_flight = max_in_flight,
                                                          .names_itself = names_itself };
        _cleanup_buf_ struct buf text = BUF_INIT(0);
        struct address address;
        struct function *function;

        begin();
        run = (struct run) { .arena = &arena, .deadline = DEADLINE_NONE };
        ASSERT(store_new(&options, &store, NULL) >= 0);
        registry = registry_new();
        handler = (struct fn_handler) { .run = f };
        fn_server_methods(&handler, methods);
        ASSERT(address_from_ip(STR("127.0.0.1"), 0, &server_options.http.address, NULL) == 0);
        ASSERT(grpc_server_new(&server_options, &server, NULL) >= 0);
        address = grpc_server_address(server);
        address_append(&text, &address);
        snprintf(target, sizeof(target), "%s", buf_cstring(&text));
        function_options.target = str_from(target);
        ASSERT(function_grpc_new(STR("f"), STR("f-1"), &function_options, &function, NULL) >= 0);
        registry_set(registry, STR("f"), function);
        observed = (struct fn_state) { .is_present = true, .is_open = true };
        context = (struct step_context) {
                .run = &run,
                .cluster = store_cluster(store),
                .options = { .registry = registry, .wants_diff = true },
                .observed = &observed,
        };
        n_calls = n_running = most_running = 0;
        completion_init(&may_go, "go");
}

static void tear_down(void)
{
        registry_free(registry);
        grpc_server_free(server);
        arena_done(&arena);
        store_free(store);
        completion_done(&may_go);
}

static int run_step(struct err *err)
{
        struct step step = { .name = STR("s"), .function = STR("f") };
        struct fn_state desired = { .is_present = true, .is_open = true };
        struct fn_struct first = { .value = parse("{\"a\":\"b\"}") };

        return step_run(&context, &step, &desired, &first, &rsp, &record, err);
}

TEST(a_call_over_the_wire_is_measured)
{
        _cleanup_err_ struct err err = { 0 };
        const struct value *v;

        set_up(answer, 0, false);
        if (run_step(&err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
        ASSERT_INT(n_calls, 1);
        ASSERT_INT(record.calls, 1);
        ASSERT_STR(record.revision, STR("f-1"));
        ASSERT(record.request_bytes > 64 && record.request_bytes < 200); /* the tag, and little besides */
        ASSERT(record.response_bytes > 5 && record.response_bytes < record.request_bytes);
        ASSERT(record.duration_ns > 0);
        ASSERT(fn_struct_value(&arena, &rsp.context, &v, NULL) >= 0);
        check_value("context", v, "{\"a\":\"b\"}");
        tear_down();
}

TEST(errors_are_the_functions)
{
        static const struct {
                bool is_garbage, names_itself;
                const char *message;
        } cases[] = {
                { false, false,
                  "cannot run Composition pipeline step \"s\": rpc error: code = InvalidArgument desc = I do not like "
                  "it" },
                { false, true,
                  "cannot run Composition pipeline step \"s\": cannot run Function \"f\": rpc error: code = "
                  "InvalidArgument desc = I do not like it" },
                { true, false, NULL },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_err_ struct err err = { 0 };

                set_up(cases[i].is_garbage ? answer_garbage : refuse, 1, cases[i].names_itself);
                ASSERT(run_step(&err) < 0);
                if (cases[i].message)
                        ASSERT_TEXT(err_message(&err), cases[i].message);
                ASSERT(record.duration_ns > 0);
                tear_down();
        }
}

TEST(a_function_that_does_not_answer_runs_out_of_time)
{
        _cleanup_err_ struct err err = { 0 };

        set_up(wait_for_go, 0, true);
        context.options.timeout_ns = 30000000;
        context.options.timeout_setting = "--step-timeout";
        ASSERT_INT(run_step(&err), ERR_TIMEOUT);
        completion_complete(&may_go);
        ASSERT_TEXT(err_message(&err),
                    "cannot run Composition pipeline step \"s\": cannot run Function \"f\": rpc error: code = "
                    "DeadlineExceeded desc = context deadline exceeded: function \"f\" of step \"s\" did not answer "
                    "within 30ms; --step-timeout allows more");
        tear_down();
}

/* --- Many at once --- */

static struct function *shared;

static void call_shared(void *arg)
{
        struct arena a;
        struct run own = { .arena = &a, .deadline = DEADLINE_NONE };
        struct fn_request req = { 0 };
        struct fn_response ignored = { 0 };

        arena_init(&a, "thread", 0);
        ASSERT(shared->ops->call(shared, &own, &req, &ignored, NULL) >= 0);
        arena_done(&a);
}

TEST(no_more_calls_than_allowed_are_in_flight)
{
        struct thread *threads[6];
        _cleanup_err_ struct err err = { 0 };
        struct fn_request req = { 0 };
        struct run hurried;

        set_up(wait_for_go, 2, false);
        ASSERT(registry_find(registry, STR("f"), NULL, &shared, NULL) >= 0);
        for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
                ASSERT(thread_start("caller", call_shared, NULL, &threads[i], NULL) >= 0);
        while (n_running < 2)
                thread_yield();
        hurried = run;
        hurried.deadline = deadline_after_ns(1);
        ASSERT_INT(shared->ops->call(shared, &hurried, &req, &rsp, &err), ERR_TIMEOUT);
        ASSERT(str_find(str_from(err_message(&err)), STR("waiting for a free call")) >= 0);
        completion_complete(&may_go);
        for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
                thread_join(threads[i]);
        ASSERT_INT(most_running, 2);
        function_unref(shared);
        tear_down();
}

TEST(a_function_that_cannot_be_set_up_is_named)
{
        static const struct {
                struct grpc_function_options options;
                const char *message;
        } cases[] = {
                { { .target = STR_INIT("127.0.0.1:1"), .tls_certs_dir = STR_INIT("/nonexistent") },
                  "cannot get gRPC client connection for Function \"f\": " },
                { { .target = STR_INIT("nosuch:///x:y:z") }, "cannot get gRPC client connection for Function \"f\": " },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_err_ struct err err = { 0 };
                struct function *f;

                ASSERT(function_grpc_new(STR("f"), STR(""), &cases[i].options, &f, &err) < 0);
                ASSERT(str_starts_with(str_from(err_message(&err)), str_from(cases[i].message)));
        }
}

/* Without a deadline: patience alone ends the call. The server that answers at first is gone afterwards. */
TEST(a_function_that_is_gone_is_reported_when_patience_ends)
{
        _cleanup_err_ struct err err = { 0 };
        struct grpc_function_options options = { .names_itself = true, .patience_ms = 50 };
        struct function *f;

        set_up(answer, 0, false);
        options.target = str_from(target);
        ASSERT(function_grpc_new(STR("f"), STR("f-2"), &options, &f, NULL) >= 0);
        registry_set(registry, STR("f"), f);
        ASSERT(run_step(&err) >= 0);
        grpc_server_free(TAKE(server));
        ASSERT(run_step(&err) < 0);
        ASSERT(strstr(err_message(&err), "cannot run Function \"f\": rpc error: code = Unavailable desc = "));
        tear_down();
}
