/* The helper for functions' own unit tests. */
#include <stdio.h>

#include "sdk.h"

#include "buf.h"
#include "json.h"
#include "log.h"
#include "patch.h"
#include "yaml.h"

/* Reads a text and writes it as a message of the protocol, so that names, enums and defaults are checked and settled. */
static int encode_text(struct arena *a, const struct proto_message *m, const char *text, struct buf *ret,
                       struct err *err)
{
        const struct value *v;
        int r = yaml_parse(a, str_from(text), NULL, &v, err);

        if (r == 0)
                r = proto_encode(ret, m, value_is_null(v) ? &value_empty_object : v, NULL, err);
        return r;
}

static int run_text(const struct flags *flags, struct arena *a, const char *text, const struct value **ret,
                    struct err *err)
{
        _cleanup_buf_ struct buf response = BUF_INIT(0), request = BUF_INIT(0);
        struct fn_parts parts;
        struct str bytes;
        int r;

        r = encode_text(a, &proto_fn_v1_RunFunctionRequest, text, &request, err);
        if (r < 0)
                return err_wrap(err, "the request");
        bytes = buf_to_arena(&request, a);
        r = fn_parts_split(a, &proto_fn_v1_RunFunctionRequest, bytes, &parts, err);
        if (r < 0)
                return r;
        sdk_run(flags, a, &parts, &response, NULL);
        return proto_decode(a, &proto_fn_v1_RunFunctionResponse, buf_str(&response), NULL, ret, err);
}

/* The same with flags from the test's own command line, whatever the environment is. */
static int run_with_flags(const struct weft_function *function, const char *const *arguments, struct arena *a,
                          const char *text, const struct value **ret, struct err *err)
{
        static const char *const none[] = { NULL };
        struct flags flags;
        int r = flags_read(&flags, function, arguments ? arguments : none, NULL, err);

        if (r < 0)
                err_wrap(err, "the flags");
        else
                r = run_text(&flags, a, text, ret, err);
        flags_done(&flags);
        return r;
}

static int wanted_response(struct arena *a, const char *text, const struct value **ret, struct err *err)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        int r = encode_text(a, &proto_fn_v1_RunFunctionResponse, text, &b, err);

        if (r == 0)
                r = proto_decode(a, &proto_fn_v1_RunFunctionResponse, buf_str(&b), NULL, ret, err);
        if (r < 0)
                return err_wrap(err, "the wanted response");
        return 0;
}

static void print_side(const char *label, struct arena *a, const struct value *v)
{
        struct str json;

        if (!v)
                printf("#     %s nothing\n", label);
        else if (json_to_str(a, v, JSON_SORT_KEYS, &json, NULL) == 0)
                printf("#     %s %.*s\n", label, STR_ARG(json));
}

/* Each operation of the diff from what was wanted to what came: its place, and both sides. */
static void print_differences(struct arena *a, const struct value *wanted, const struct value *got)
{
        VALUE_FOREACH_ITEM (op, value_diff(a, wanted, got, true)) {
                struct str path = value_str(value_find(op, "path"));

                printf("#   %.*s\n", STR_ARG(path));
                print_side("wanted", a, value_find(op, "old"));
                print_side("got   ", a, value_find(op, "value"));
        }
}

static bool run_test(const struct weft_function *function, const struct weft_test *t, size_t number)
{
        _cleanup_arena_ struct arena a;
        _cleanup_err_ struct err err = { 0 };
        const struct value *got, *wanted;
        bool ok = false;

        arena_init(&a, "test", 0);
        if (run_with_flags(function, t->flags, &a, t->request, &got, &err) < 0 ||
            wanted_response(&a, t->response, &wanted, &err) < 0) {
                printf("not ok %zu - %s\n#   %s\n", number, t->name, err_message(&err));
                return false;
        }
        ok = value_equal_numeric(got, wanted);
        printf("%s %zu - %s\n", ok ? "ok" : "not ok", number, t->name);
        if (!ok)
                print_differences(&a, wanted, got);
        return ok;
}

int weft_test(const struct weft_function *function, const struct weft_test *tests, size_t n_tests)
{
        size_t n_failed = 0;

        log_set_level(LOG_WARN);
        printf("1..%zu\n", n_tests);
        for (size_t i = 0; i < n_tests; i++)
                n_failed += !run_test(function, &tests[i], i + 1);
        fflush(stdout);
        return n_failed > 0;
}

char *weft_run_text(const struct weft_function *function, const char *request)
{
        _cleanup_arena_ struct arena a;
        _cleanup_err_ struct err err = { 0 };
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        const struct value *response;

        arena_init(&a, "test", 0);
        if (run_with_flags(function, NULL, &a, request, &response, &err) < 0 ||
            json_write(&b, response, JSON_SORT_KEYS, &err) < 0) {
                fprintf(stderr, "%s: error: %s\n", function->name, err_message(&err));
                return NULL;
        }
        return buf_take(&b);
}
