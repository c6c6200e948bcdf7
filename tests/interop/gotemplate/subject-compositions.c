/* Whole Compositions, with all functions of function-go-templating: the text that they render, and the response. */
#include "buf.h"
#include "go-templating.h"
#include "json.h"
#include "limits.h"
#include "proto-tables.h"
#include "proto.h"
#include "subject.h"

/* As requestText in compositions.go. */
static const char request_text[] =
        "{\"meta\": {\"tag\": \"t\"}, \"observed\": {\"composite\": {\"resource\": {\"apiVersion\": "
        "\"example.org/v1\", \"kind\": \"XApp\", \"metadata\": {\"name\": \"shop\", \"labels\": {\"team\": \"web\", "
        "\"crossplane.io/claim-namespace\": \"prod\"}},"
        " \"spec\": {\"count\": 3, \"region\": \"eu-west-1\", \"size\": \"large\", \"public\": true, \"port\": 8080, "
        "\"cidr\": \"10.0.0.0/16\", \"zones\": [\"a\", \"b\", \"c\"], \"tags\": {\"env\": \"prod\", \"cost\": \"42\"},"
        "  \"users\": [{\"name\": \"ann\", \"roles\": [\"admin\", \"dev\"]}, {\"name\": \"bob\", \"roles\": []}], "
        "\"database\": {\"engine\": \"postgres\", \"version\": \"14.9\", \"storageGB\": 20}, \"nothing\": null}},"
        " \"connectionDetails\": {\"k\": \"dg==\"}},"
        " \"resources\": {\"bucket\": {\"resource\": {\"kind\": \"Bucket\", \"metadata\": {\"name\": \"shop-bucket\"}, "
        "\"status\": {\"atProvider\": {\"arn\": \"arn:aws:s3:::shop\"}, \"conditions\": [{\"type\": \"Ready\", "
        "\"status\": \"True\", \"reason\": \"Available\", \"lastTransitionTime\": \"2024-01-02T03:04:05Z\"}]}}, "
        "\"connectionDetails\": {\"endpoint\": \"aHR0cDovL3g=\"}}}},"
        " \"context\": {\"apiextensions.crossplane.io/environment\": {\"account\": \"123456789012\", \"vpc\": {\"id\": "
        "\"vpc-1\", \"subnets\": [\"s-1\", \"s-2\"]}}},"
        " \"extraResources\": {\"nets\": {\"items\": [{\"resource\": {\"metadata\": {\"name\": \"net-1\"}, \"spec\": "
        "{\"id\": 7}}}]}}}";

int subject_composition(struct arena *a, const struct value *one, struct buf *out, struct err *err)
{
        static const struct gt_func_table *const tables[] = { &templating_functions, &gt_sprig_functions };
        struct templating_state state = { 0 };

        return subject_execute(a, one, str_from(request_text), tables, ARRAY_SIZE(tables), &state, out, err);
}

static const struct value *object_of(struct arena *a, struct str key, const struct value *v)
{
        struct object_builder b;

        object_builder_init(&b, a, 1);
        object_builder_add(&b, key, *v);
        return value_put(a, object_builder_finish(&b));
}

/* The case's request with its template as input. */
static const struct value *with_input(struct arena *a, const struct value *one)
{
        const struct value *options = value_get(one, STR("options"));
        struct object_builder input, request;

        object_builder_init(&input, a, 3);
        object_builder_add(&input, STR("source"), value_of_str(STR("Inline")));
        object_builder_add(&input, STR("inline"), *object_of(a, STR("template"), value_get(one, STR("template"))));
        if (options)
                object_builder_add(&input, STR("options"), *options);
        object_builder_init(&request, a, 8);
        VALUE_FOREACH_MEMBER (m, value_get(one, STR("request")))
                object_builder_set(&request, m->key, m->value);
        object_builder_set(&request, STR("input"), object_builder_finish(&input));
        return value_put(a, object_builder_finish(&request));
}

static int respond(struct arena *a, const struct value *one, struct fn_response *ret, struct err *err)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct run run = { .arena = a, .deadline = DEADLINE_NONE };
        struct fn_request req;
        int r = proto_encode(&b, &proto_fn_v1_RunFunctionRequest, with_input(a, one), NULL, err);

        if (r >= 0)
                r = fn_request_decode(a, buf_to_arena(&b, a), &req, err);
        return r < 0 ? r : function_go_templating.run(&run, &req, ret, err);
}

int subject_response(struct arena *a, const struct value *one, struct buf *out, struct err *err)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        const struct value *message;
        struct object_builder shown;
        struct fn_response rsp;
        struct value v;
        int r = respond(a, one, &rsp, err);

        if (r >= 0 && rsp.n_results > 0)
                return err_set(err, ERR_INVALID, "%.*s", STR_ARG(rsp.results[0].message));
        if (r < 0 || (r = fn_response_encode(a, &rsp, &b, err)) < 0 ||
            (r = proto_decode(a, &proto_fn_v1_RunFunctionResponse, buf_str(&b), NULL, &message, err)) < 0)
                return r;
        object_builder_init(&shown, a, 8);
        VALUE_FOREACH_MEMBER (m, message)
                if (!str_equal(m->key, STR("meta")))
                        object_builder_add(&shown, m->key, m->value);
        v = object_builder_finish(&shown);
        return json_write(out, &v, JSON_GO, err);
}
