/* Our side of the comparison with Go's text/template: reads cases, one JSON per line, and answers each with its output and error.
 *   gotemplate-subject SUITE <CASES */
#include <stdio.h>

#include "buf.h"
#include "gotemplate.h"
#include "gt-print.h"
#include "gt-yaml.h"
#include "json.h"
#include "limits.h"
#include "subject.h"

static const char data_text[] =
        "{\"s\": \"text\", \"e\": \"\", \"t\": true, \"f\": false, \"n\": 7, \"z\": 0, \"neg\": -3, \"d\": 1.5, "
        "\"big\": 1000000,"
        " \"bigd\": 1e6, \"nul\": null, \"html\": \"<a href=\\\"x\\\">'&'</a>\", \"u\": \"h\\u00e9\\u00e9\\u2028\", "
        "\"num\": \"12\","
        " \"l\": [\"a\", \"b\", \"c\"], \"nums\": [1, 2, 3], \"mixed\": [1, \"x\", null, 2.5, true, {\"k\": \"v\"}], "
        "\"el\": [],"
        " \"m\": {\"a\": 1, \"b\": {\"c\": \"deep\", \"d\": [10, 20]}, \"x-y\": \"dash\", \"nul\": null}, \"em\": {},"
        " \"list\": [{\"name\": \"one\", \"v\": 1}, {\"name\": \"two\", \"v\": 2}, {\"name\": \"three\"}],"
        " \"observed\": {\"composite\": {\"resource\": {\"metadata\": {\"name\": \"xr\"}, \"spec\": {\"count\": 3, "
        "\"on\": true}}}}}";

static enum gt_missing_key missing_key_of(const struct value *options)
{
        enum gt_missing_key key = GT_MISSING_INVALID;

        VALUE_FOREACH_ITEM (option, options) {
                if (str_equal(value_str(option), STR("missingkey=error")))
                        key = GT_MISSING_ERROR;
                else if (str_equal(value_str(option), STR("missingkey=zero")))
                        key = GT_MISSING_ZERO;
                else
                        key = GT_MISSING_INVALID;
        }
        return key;
}

int subject_execute(struct arena *a, const struct value *one, struct str json,
                    const struct gt_func_table *const *tables, size_t n_tables, void *user, struct buf *out,
                    struct err *err)
{
        struct gt_parse_options options = {
                .name = STR("manifests"),
                .left = value_str(value_get(one, STR("left"))),
                .right = value_str(value_get(one, STR("right"))),
                .tables = tables,
                .n_tables = n_tables,
        };
        struct gt_context context = {
                .arena = a, .deadline = DEADLINE_NONE, .steps_left = LIMIT_TEMPLATE_STEPS, .user = user
        };
        _cleanup_gt_template_ struct gt_template *t = NULL;
        const struct value *data;
        int r;

        r = json_parse(a, json, NULL, &data, err);
        if (r < 0)
                return r;
        r = gt_parse(value_str(value_get(one, STR("template"))), &options, &t, err);
        if (r < 0)
                return r;
        return gt_execute(t, &context, missing_key_of(value_get(one, STR("options"))), gt_from_value(&context, data),
                          out, err);
}

static int run_core(struct arena *a, const struct value *one, struct buf *out, struct err *err)
{
        static const struct gt_func_table *const tables[] = { &subject_test_functions };

        return subject_execute(a, one, str_from(data_text), tables, ARRAY_SIZE(tables), NULL, out, err);
}

static int run_sprig(struct arena *a, const struct value *one, struct buf *out, struct err *err)
{
        static const struct gt_func_table *const tables[] = { &subject_test_functions, &gt_sprig_functions };

        return subject_execute(a, one, str_from(data_text), tables, ARRAY_SIZE(tables), NULL, out, err);
}

static int run_to_yaml(struct arena *a, const struct value *one, struct buf *out, struct err *err)
{
        struct gt_context context = { .arena = a, .deadline = DEADLINE_NONE, .steps_left = 10000000, .err = err };
        const struct value *v;
        int r = json_parse(a, value_str(value_get(one, STR("value"))), NULL, &v, err);

        return r < 0 ? r : gt_yaml_write(&context, out, gt_from_value(&context, v));
}

static int run_from_yaml(struct arena *a, const struct value *one, struct buf *out, struct err *err)
{
        struct gt_context context = { .arena = a, .deadline = DEADLINE_NONE, .steps_left = 10000000, .err = err };
        struct gt_value v;
        int r = gt_yaml_read(&context, value_str(value_get(one, STR("text"))), &v);

        if (r < 0)
                return r;
        gt_append_sprintf(&context, out, STR("%T %v\n"), (struct gt_value[]) { v, v }, 2);
        return gt_yaml_write(&context, out, v);
}

static const struct {
        const char *name;
        int (*run)(struct arena *a, const struct value *one, struct buf *out, struct err *err);
} suites[] = {
        { "compositions", subject_composition },
        { "responses", subject_response },
        { "core", run_core },
        { "decode", subject_decode },
        { "fromyaml", run_from_yaml },
        { "seals", run_sprig },
        { "sprig", run_sprig },
        { "toyaml", run_to_yaml },
};

static void answer(struct str line,
                   int (*run)(struct arena *a, const struct value *one, struct buf *out, struct err *err))
{
        _cleanup_arena_ struct arena a;
        _cleanup_buf_ struct buf out = BUF_INIT(0), text = BUF_INIT(0);
        _cleanup_err_ struct err err = { 0 };
        const struct value *one;

        arena_init(&a, "case", 256u << 20);
        if (json_parse(&a, line, NULL, &one, &err) < 0)
                abort();
        run(&a, one, &out, &err);
        buf_append_literal(&text, "{\"out\":");
        json_write_string(&text, buf_str(&out), 0);
        if (err.code < 0) {
                buf_append_literal(&text, ",\"err\":");
                json_write_string(&text, str_from(err_message(&err)), 0);
        }
        buf_append_literal(&text, "}\n");
        fwrite(text.p, 1, text.n, stdout);
}

int main(int argc, char **argv)
{
        _cleanup_free_ char *line = NULL;
        size_t capacity = 0;
        ssize_t n;

        for (size_t i = 0; argc > 1 && i < ARRAY_SIZE(suites); i++) {
                if (strcmp(argv[1], suites[i].name) != 0)
                        continue;
                while ((n = getline(&line, &capacity, stdin)) > 0)
                        answer(str_make(line, (size_t)n - 1), suites[i].run);
                return 0;
        }
        return 1;
}
