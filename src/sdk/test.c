/* Helpers for the unit tests of functions. */
#include <stdio.h>

#include "sdk.h"

#include "buf.h"
#include "json.h"
#include "log.h"
#include "patch.h"
#include "yaml.h"

/* Reads a text and encodes it as a message of the protocol, which checks names and enums and normalises defaults. */
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

/* As run_text, with the flags of the test; the environment is ignored. */
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

/* Prints each operation of the diff from the wanted to the actual response: its path, and both values. */
static void print_differences(struct arena *a, const struct value *wanted, const struct value *got)
{
        VALUE_FOREACH_ITEM (op, value_diff(a, wanted, got, true)) {
                struct str path = value_str(value_find(op, "path"));

                printf("#   %.*s\n", STR_ARG(path));
                print_side("wanted", a, value_find(op, "old"));
                print_side("got   ", a, value_find(op, "value"));
        }
}

/* --- Comparing a part --- */

static const struct value *part_like(struct arena *a, const struct value *got, const struct value *wanted);

static const struct value *members_like(struct arena *a, const struct value *got, const struct value *wanted)
{
        struct object_builder b;

        object_builder_init(&b, a, value_count(wanted));
        VALUE_FOREACH_MEMBER (m, wanted) {
                const struct value *member = value_get(got, m->key);

                if (member)
                        object_builder_add(&b, m->key, *part_like(a, member, &m->value));
        }
        return value_put(a, object_builder_finish(&b));
}

/* Extra items are kept, so that they show as a difference. */
static const struct value *items_like(struct arena *a, const struct value *got, const struct value *wanted)
{
        struct array_builder b;
        size_t n = 0;

        array_builder_init(&b, a, value_count(got));
        VALUE_FOREACH_ITEM (item, got) {
                array_builder_add(&b, n < value_count(wanted) ? *part_like(a, item, value_item(wanted, n)) : *item);
                n++;
        }
        return value_put(a, array_builder_finish(&b));
}

/* The actual value without the members that the test does not mention. */
static const struct value *part_like(struct arena *a, const struct value *got, const struct value *wanted)
{
        if (value_is_object(got) && value_is_object(wanted))
                return members_like(a, got, wanted);
        if (value_is_array(got) && value_is_array(wanted))
                return items_like(a, got, wanted);
        return got;
}

/* --- Running --- */

struct comparison {
        const struct value *wanted, *got; /* both NULL: the test wants nothing */
};

static int compare_with(struct arena *a, const char *text, bool is_part, const struct value *got,
                        struct comparison *ret, struct err *err)
{
        int r;

        *ret = (struct comparison) { 0 };
        if (!text)
                return 0;
        r = wanted_response(a, text, &ret->wanted, err);
        if (r == 0)
                ret->got = is_part ? part_like(a, got, ret->wanted) : got;
        return r;
}

static int compare_all(const struct weft_function *function, const struct weft_test *t, struct arena *a,
                       struct comparison ret[2], struct err *err)
{
        const struct value *got;
        int r;

        if (!t->response && !t->contains)
                return err_set(err, ERR_INVALID, "the case has neither a response nor what it contains");
        if ((r = run_with_flags(function, t->flags, a, t->request, &got, err)) < 0 ||
            (r = compare_with(a, t->response, false, got, &ret[0], err)) < 0)
                return r;
        return compare_with(a, t->contains, true, got, &ret[1], err);
}

static bool is_equal(const struct comparison *c)
{
        return !c->wanted || value_equal_numeric(c->got, c->wanted);
}

static bool run_test(const struct weft_function *function, const struct weft_test *t, size_t number)
{
        _cleanup_arena_ struct arena a;
        _cleanup_err_ struct err err = { 0 };
        struct comparison c[2];
        bool ok;

        arena_init(&a, "test", 0);
        if (compare_all(function, t, &a, c, &err) < 0) {
                printf("not ok %zu - %s\n#   %s\n", number, t->name, err_message(&err));
                return false;
        }
        ok = is_equal(&c[0]) && is_equal(&c[1]);
        printf("%s %zu - %s\n", ok ? "ok" : "not ok", number, t->name);
        for (size_t i = 0; i < ARRAY_SIZE(c); i++)
                if (!is_equal(&c[i]))
                        print_differences(&a, c[i].wanted, c[i].got);
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
