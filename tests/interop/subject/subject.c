/* subject SUITE < cases > results: one JSON value per line in, one per line out. */
#include "subject.h"

#include "buf.h"

#include <stdio.h>

static const struct {
        const char *name;
        suite_run run;
} suites[] = {
        { "access", run_access },
        { "base64", run_base64 },
        { "builtin", run_builtin },
        { "claim", run_claim },
        { "cluster", run_cluster },
        { "condition", run_condition },
        { "crd", run_crd },
        { "format", run_format },
        { "gotime", run_gotime },
        { "json", run_json },
        { "name", run_name },
        { "number", run_number },
        { "patch", run_patch },
        { "path", run_path },
        { "proto", run_proto },
        { "quantity", run_quantity },
        { "regex", run_regex },
        { "jsonpath", run_jsonpath },
        { "selector", run_selector },
        { "semver", run_semver },
        { "table", run_table },
        { "discovery", run_discovery },
        { "time", run_time },
        { "yaml", run_yaml },
        { "managed", run_managed },
        { "fieldset", run_fieldset },
        { "schema", run_schema },
        { "structural", run_structural },
        { "xrd", run_xrd },
        { "own-kinds", run_own_kinds },
        { "own-kinds-more", run_own_kinds },
        { "own-kind-crds", run_own_kind_crds },
        { "composition", run_composition },
};

const struct value *result_error(struct arena *a, const struct err *err)
{
        struct value message = value_of_str(arena_copy(a, str_from(err_message(err))));
        struct member m = { STR("error"), message };

        return value_put(a, value_of_members(a, &m, 1, true));
}

static int run_line(suite_run run, struct str line)
{
        _cleanup_arena_ struct arena a;
        _cleanup_err_ struct err err = { 0 };
        _cleanup_buf_ struct buf out = BUF_INIT(0);
        const struct value *c;
        int r;

        arena_init(&a, "case", 0);
        r = json_parse(&a, line, NULL, &c, &err);
        if (r >= 0)
                r = json_write(&out, run(&a, c), JSON_GO, &err);
        if (r < 0) {
                fprintf(stderr, "subject: %s\n", err_message(&err));
                return r;
        }
        buf_append_char(&out, '\n');
        fwrite(out.p, 1, out.n, stdout);
        return 0;
}

int main(int argc, char **argv)
{
        _cleanup_free_ char *line = NULL;
        size_t capacity = 0;
        suite_run run = NULL;
        ssize_t n;

        for (size_t i = 0; argc == 2 && i < ARRAY_SIZE(suites); i++)
                if (strcmp(suites[i].name, argv[1]) == 0)
                        run = suites[i].run;
        if (!run) {
                fprintf(stderr, "usage: subject SUITE < cases > results\n");
                return 2;
        }
        while ((n = getline(&line, &capacity, stdin)) > 0)
                if (run_line(run, str_trim(str_make(line, (size_t)n))) < 0)
                        return 1;
        return 0;
}
