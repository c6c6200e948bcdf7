/* The pipeline inspector: what a program behind its socket is told, without values of secrets. */
#include "values.h"

#include "buf.h"
#include "grpc-server.h"
#include "inspector.h"
#include "meter.h"
#include "proto.h"

#include <stdio.h>

static struct mutex mutex;
static struct buf seen[2]; /* the last message of each method */
static struct grpc_server *server;
static struct inspector *inspector;
static struct meters *meters;
static struct run run;
static char directory[] = "/tmp/weft-inspector.XXXXXX", socket_path[64];

static enum grpc_status keep(void *context, struct grpc_request *request, struct buf *ret _unused_,
                             struct err *err _unused_)
{
        mutex_lock(&mutex);
        buf_clear(context);
        buf_append_str(context, request->message);
        mutex_unlock(&mutex);
        return GRPC_OK;
}

static const struct grpc_method methods[] = {
        { "/crossplane.pipeline.v1alpha1.PipelineInspectorService/EmitRequest", keep, &seen[0] },
        { "/crossplane.pipeline.v1alpha1.PipelineInspectorService/EmitResponse", keep, &seen[1] },
};

static void serve(void)
{
        struct grpc_server_options options = { .methods = methods, .n_methods = ARRAY_SIZE(methods) };
        _cleanup_err_ struct err err = { 0 };

        ASSERT(address_from_unix(str_from(socket_path), false, &options.http.address, &err) == 0);
        if (grpc_server_new(&options, &server, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
}

static void set_up(bool is_served)
{
        _cleanup_err_ struct err err = { 0 };

        begin();
        mutex_init(&mutex);
        strcpy(directory + strlen(directory) - 6, "XXXXXX");
        ASSERT(mkdtemp(directory));
        snprintf(socket_path, sizeof(socket_path), "%s/socket", directory);
        if (is_served)
                serve();
        meters = meters_new();
        run = (struct run) { .arena = &arena, .deadline = DEADLINE_NONE };
        ASSERT(inspector_new(str_from(socket_path), meters, &inspector, &err) == 0);
}

static void tear_down(void)
{
        inspector_free(inspector);
        if (server)
                grpc_server_free(server);
        server = NULL;
        meters_free(meters);
        for (size_t i = 0; i < ARRAY_SIZE(seen); i++)
                buf_done(&seen[i]);
        unlink(socket_path);
        rmdir(directory);
        mutex_done(&mutex);
        end();
}

static size_t received(size_t i)
{
        size_t n;

        mutex_lock(&mutex);
        n = seen[i].n;
        mutex_unlock(&mutex);
        return n;
}

/* Tells it until it was received: on a loaded machine a call may take longer than the inspector waits. */
static void tell_request(const struct inspected_step *step, struct fn_request *req)
{
        for (int i = 0; i < 100 && received(0) == 0; i++)
                inspector_tell_request(inspector, &run, step, req);
}

static void tell_response(const struct inspected_step *step, const struct fn_response *rsp, const struct err *err)
{
        mutex_lock(&mutex);
        buf_clear(&seen[1]);
        mutex_unlock(&mutex);
        for (int i = 0; i < 100 && received(1) == 0; i++)
                inspector_tell_response(inspector, &run, step, rsp, err);
}

/* The contents of a field of a message. */
static struct str field(struct str message, uint32_t number)
{
        struct proto_raw_field f;

        while (proto_next_field(&message, &f, NULL) > 0)
                if (f.number == number)
                        return f.bytes;
        return STR("");
}

static uint64_t number_field(struct str message, uint32_t number)
{
        struct proto_raw_field f;

        while (proto_next_field(&message, &f, NULL) > 0)
                if (f.number == number)
                        return f.scalar;
        return 0;
}

static struct inspected_step step_of(const char *composite)
{
        return (struct inspected_step) { .time = { 1800000000, 5 },
                                         .trace = uuid_v4(),
                                         .span = uuid_v4(),
                                         .index = 2,
                                         .name = STR("make"),
                                         .function = STR("function-x"),
                                         .composition = STR("apps"),
                                         .composite = parse(composite) };
}

static const char composite[] = "{\"apiVersion\":\"example.org/v1\",\"kind\":\"App\",\"metadata\":{\"name\":\"web\","
                                "\"namespace\":\"default\",\"uid\":\"u-1\"}}";

static void check_meta(struct str meta, const struct inspected_step *s)
{
        struct str of = field(meta, 9);
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        ASSERT_INT(number_field(field(meta, 1), 1), 1800000000);
        ASSERT_INT(number_field(field(meta, 1), 2), 5);
        uuid_append(&b, s->trace);
        ASSERT_STR(field(meta, 2), buf_str(&b));
        buf_clear(&b);
        uuid_append(&b, s->span);
        ASSERT_STR(field(meta, 3), buf_str(&b));
        ASSERT_INT(number_field(meta, 4), 2);
        ASSERT_STR(field(meta, 5), STR("make"));
        ASSERT_INT(number_field(meta, 6), 0);
        ASSERT_STR(field(meta, 7), STR("function-x"));
        ASSERT_STR(field(of, 1), STR("apps"));
        ASSERT_STR(field(of, 2), STR("u-1"));
        ASSERT_STR(field(of, 3), STR("web"));
        ASSERT_STR(field(of, 4), STR("default"));
        ASSERT_STR(field(of, 5), STR("example.org/v1"));
        ASSERT_STR(field(of, 6), STR("App"));
}

static double errors_of(const char *type)
{
        static const struct meter_options errors = {
                "function_run_function_pipeline_inspector_errors_total", "", METER_COUNTER, { "function_name", "type" }
        };
        struct str labels[2] = { STR("function-x"), str_from(type) };

        return meter_value(meters_get(meters, &errors), labels);
}

#define SECRET "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"data\":{\"key\":\"aHVudGVyMjI=\"}}"

static const struct fn_bytes details[] = { { STR_INIT("password"), STR_INIT("hunter22") } };

static struct fn_state state_with_secrets(void)
{
        static struct fn_resource resource;

        resource = (struct fn_resource) { .name = STR("secret"),
                                          .object = { .value = parse(SECRET) },
                                          .connection = { details, 1 } };
        return (struct fn_state) { .is_present = true,
                                   .is_open = true,
                                   .has_composite = true,
                                   .composite = { .object = { .value = parse(composite) },
                                                  .connection = { details, 1 } },
                                   .resources = &resource,
                                   .n_resources = 1 };
}

TEST(requests_are_told_without_secrets)
{
        static const struct fn_credentials credentials = { STR_INIT("creds"), { details, 1 } };
        struct inspected_step step;
        struct fn_resource found;
        struct fn_resources required;
        struct fn_request req;
        const struct value *json;

        set_up(true);
        found = (struct fn_resource) { .object = { .value = parse(SECRET) } };
        required = (struct fn_resources) { STR("needed"), &found, 1 };
        req = (struct fn_request) { .observed = state_with_secrets(),
                                    .desired = state_with_secrets(),
                                    .credentials = &credentials,
                                    .n_credentials = 1,
                                    .required_resources = { &required, 1 } };
        step = step_of(composite);
        tell_request(&step, &req);
        json = parse(arena_cstring(&arena, field(buf_str(&seen[0]), 1)));
        ASSERT_STR(value_str(value_find(json, "observed", "composite", "resource", "metadata", "name")), STR("web"));
        ASSERT_STR(value_str(value_find(json, "observed", "composite", "connectionDetails", "password")),
                   STR("KipSRURBQ1RFRCoq"));
        ASSERT_STR(value_str(value_find(json, "desired", "resources", "secret", "resource", "data", "key")),
                   STR("**REDACTED**"));
        ASSERT_STR(value_str(value_find(json, "credentials", "creds", "credentialData", "data", "password")),
                   STR("KipSRURBQ1RFRCoq"));
        ASSERT(value_find(json, "requiredResources", "needed", "items"));
        ASSERT(str_find(buf_str(&seen[0]), STR("aHVudGVyMjI")) < 0 && str_find(buf_str(&seen[0]), STR("hunter")) < 0);
        check_meta(field(buf_str(&seen[0]), 2), &step);
        tear_down();
}

TEST(responses_and_errors_are_told)
{
        struct fn_result result = { FN_SEVERITY_WARNING, STR("careful"), { 0 }, FN_TARGET_ABSENT };
        _cleanup_err_ struct err failure = { 0 };
        struct inspected_step step;
        struct fn_response rsp;
        const struct value *json;

        set_up(true);
        step = step_of(composite);
        rsp = (struct fn_response) {
                .desired = state_with_secrets(), .results = &result, .n_results = 1, .ttl_ns = FN_TTL_ABSENT
        };
        tell_response(&step, &rsp, NULL);
        json = parse(arena_cstring(&arena, field(buf_str(&seen[1]), 1)));
        ASSERT_STR(value_str(value_get(value_item(value_get(json, STR("results")), 0), STR("message"))),
                   STR("careful"));
        ASSERT(str_find(buf_str(&seen[1]), STR("aHVudGVyMjI")) < 0);
        ASSERT_INT(field(buf_str(&seen[1]), 2).n, 0);
        check_meta(field(buf_str(&seen[1]), 3), &step);
        err_set(&failure, ERR_FAILED, "rpc error: code = Unavailable desc = gone");
        tell_response(&step, NULL, &failure);
        ASSERT_INT(field(buf_str(&seen[1]), 1).n, 0);
        ASSERT_STR(field(buf_str(&seen[1]), 2), STR("rpc error: code = Unavailable desc = gone"));
        tear_down();
}

TEST(nobody_there_is_counted_and_fails_nothing)
{
        struct inspected_step step;
        struct fn_request req;
        struct fn_response rsp;

        set_up(false);
        step = step_of(composite);
        req = (struct fn_request) { .observed = state_with_secrets() };
        rsp = (struct fn_response) { .ttl_ns = FN_TTL_ABSENT };
        inspector_tell_request(inspector, &run, &step, &req);
        inspector_tell_response(inspector, &run, &step, &rsp, NULL);
        ASSERT(errors_of("request") == 1 && errors_of("response") == 1);
        tear_down();
}
