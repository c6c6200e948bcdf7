/* Shared by the tests of built-in functions. A case is an input, the rest of a request and the expected response, all as YAML of
 * the protobuf messages. A response without meta gets the usual TTL. Each case runs twice: on the bytes of the wire, and on values
 * in which integral numbers are ints, as in objects of a cluster. */
#pragma once

#include "kube-test.h"

#include "buf.h"
#include "functions.h"
#include "path.h"
#include "proto-tables.h"
#include "yaml.h"

struct function_case {
        const char *name;
        const char *input; /* NULL: none */
        const char *request;
        const char *response;
};

static inline const struct value *from_yaml(struct arena *a, const char *what, const char *text)
{
        _cleanup_err_ struct err err = { 0 };
        const struct value *v = NULL;

        if (yaml_parse(a, str_from(text), NULL, &v, &err) < 0)
                test_fail(__FILE__, __LINE__, "[%s] %s: %s", what, text, err_message(&err));
        return value_is_null(v) ? &value_empty_object : v;
}

static inline void settle(struct arena *a, struct fn_struct *s)
{
        const struct value *v;

        if (fn_struct_value(a, s, &v, NULL) < 0 || (v && value_settle(a, v, &v, NULL) < 0))
                test_fail(__FILE__, __LINE__, "a part of the request cannot be read");
        *s = (struct fn_struct) { .value = v };
}

static inline void settle_state(struct arena *a, struct fn_state *s)
{
        struct fn_resource *copy;

        ASSERT(fn_state_open(a, s, NULL) >= 0);
        copy = ARENA_NEW_ARRAY(a, struct fn_resource, s->n_resources + 1);
        for (size_t i = 0; i < s->n_resources; i++) {
                copy[i] = s->resources[i];
                settle(a, &copy[i].object);
        }
        settle(a, &s->composite.object);
        s->resources = copy;
        s->encoded = STR_NONE;
}

static inline void settle_request(struct arena *a, struct fn_request *req)
{
        struct fn_resources *copy = ARENA_NEW_ARRAY(a, struct fn_resources, req->required_resources.n + 1);

        settle_state(a, &req->observed);
        settle_state(a, &req->desired);
        settle(a, &req->input);
        settle(a, &req->context);
        for (size_t i = 0; i < req->required_resources.n; i++) {
                struct fn_resource *items;

                copy[i] = req->required_resources.p[i];
                items = ARENA_NEW_ARRAY(a, struct fn_resource, copy[i].n_items + 1);
                for (size_t j = 0; j < copy[i].n_items; j++) {
                        items[j] = copy[i].items[j];
                        settle(a, &items[j].object);
                }
                copy[i].items = items;
        }
        req->required_resources.p = copy;
}

static inline void read_request(struct arena *a, const struct function_case *c, bool as_values, struct fn_request *ret)
{
        _cleanup_err_ struct err err = { 0 };
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        const struct value *request = from_yaml(a, c->name, c->request);

        if (c->input)
                request = value_with(a, request, STR("input"), from_yaml(a, c->name, c->input));
        if (proto_encode(&b, &proto_fn_v1_RunFunctionRequest, request, NULL, &err) < 0 ||
            fn_request_decode(a, buf_to_arena(&b, a), ret, &err) < 0)
                test_fail(__FILE__, __LINE__, "[%s] %s", c->name, err_message(&err));
        if (as_values)
                settle_request(a, ret);
}

/* Runs the function; *ret is its response. */
static inline int call_function(struct arena *a, const char *function, const struct function_case *c, bool as_values,
                                const struct value **ret, struct err *err)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct run run = { .arena = a, .deadline = DEADLINE_NONE };
        struct fn_request req;
        struct fn_response rsp;
        int r;

        read_request(a, c, as_values, &req);
        r = builtin_find(str_from(function))->run(&run, &req, &rsp, err);
        if (r < 0)
                return r;
        if (fn_response_encode(a, &rsp, &b, err) < 0 ||
            proto_decode(a, &proto_fn_v1_RunFunctionResponse, buf_to_arena(&b, a), NULL, ret, err) < 0)
                test_fail(__FILE__, __LINE__, "[%s] %s", c->name, err_message(err));
        return 0;
}

/* The expected response as text to compare: with the TTL that every response has, and in the form that a message has after encoding
 * and decoding. */
static inline struct str wanted_response(struct arena *a, const struct function_case *c)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        _cleanup_err_ struct err err = { 0 };
        const struct value *v = from_yaml(a, c->name, c->response);

        if (!value_get(v, STR("meta")))
                v = value_with(a, v, STR("meta"), from_yaml(a, c->name, "{ttl: 60s}"));
        if (proto_encode(&b, &proto_fn_v1_RunFunctionResponse, v, NULL, &err) < 0 ||
            proto_decode(a, &proto_fn_v1_RunFunctionResponse, buf_to_arena(&b, a), NULL, &v, &err) < 0)
                test_fail(__FILE__, __LINE__, "[%s] %s", c->name, err_message(&err));
        return to_json(a, v);
}

static inline void check_cases(const char *function, const struct function_case *cases, size_t n)
{
        for (size_t i = 0; i < 2 * n; i++) {
                const struct function_case *c = &cases[i / 2];
                _cleanup_err_ struct err err = { 0 };
                _cleanup_arena_ struct arena a;
                const struct value *rsp;

                arena_init(&a, "test", 0);
                ASSERT_CASE(c->name, call_function(&a, function, c, i & 1, &rsp, &err) >= 0);
                ASSERT_STR_CASE(c->name, to_json(&a, rsp), wanted_response(&a, c));
        }
}

#define CHECK_CASES(function, cases) check_cases((function), (cases), ARRAY_SIZE(cases))

/* Each response must have exactly one result, which is fatal; its message is in `response`. */
static inline void check_fatal(const char *function, const struct function_case *cases, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                const struct function_case *c = &cases[i];
                _cleanup_err_ struct err err = { 0 };
                _cleanup_arena_ struct arena a;
                const struct value *rsp, *result;

                arena_init(&a, "test", 0);
                ASSERT_CASE(c->name, call_function(&a, function, c, false, &rsp, &err) >= 0);
                result = value_item(value_get(rsp, STR("results")), 0);
                ASSERT_STR_CASE(c->name, value_str(value_get(result, STR("message"))), str_from(c->response));
                ASSERT_CASE(c->name, value_count(value_get(rsp, STR("results"))) == 1);
                ASSERT_STR_CASE(c->name, value_str(value_get(result, STR("severity"))), STR("SEVERITY_FATAL"));
                ASSERT_STR_CASE(c->name, value_str(value_get(result, STR("target"))), STR("TARGET_COMPOSITE"));
        }
}

#define CHECK_FATAL(function, cases) check_fatal((function), (cases), ARRAY_SIZE(cases))
