/* gotemplate-run TEMPLATE DATA: our side of bench-gotemplate. Prints the nanoseconds of one parse and one execution; with a third
 * argument, prints the output of the execution, to check that both sides do the same. */
#include "bench.h"

#include "buf.h"
#include "go-templating.h"
#include "json.h"
#include "limits.h"

#include <stdio.h>

static const struct gt_func_table *const tables[] = { &templating_functions, &gt_sprig_functions };

struct world {
        struct arena arena;
        struct buf text, out;
        const struct value *data;
        struct gt_template *parsed;
};

static void read_file(const char *path, struct buf *b)
{
        FILE *f = fopen(path, "r");
        char bytes[4096];
        size_t n;

        if (!f)
                abort();
        while ((n = fread(bytes, 1, sizeof(bytes), f)) > 0)
                buf_append(b, bytes, n);
        fclose(f);
}

static struct gt_template *parse(struct world *w)
{
        struct gt_parse_options options = { .name = STR("manifests"),
                                            .tables = tables,
                                            .n_tables = ARRAY_SIZE(tables) };
        _cleanup_err_ struct err err = { 0 };
        struct gt_template *t = NULL;

        if (gt_parse(buf_str(&w->text), &options, &t, &err) < 0) {
                fprintf(stderr, "%s\n", err_message(&err));
                abort();
        }
        return t;
}

static void run_parse(void *context)
{
        gt_template_unref(parse(context));
}

static void run_execute(void *context)
{
        struct world *w = context;
        _cleanup_arena_ struct arena a;
        _cleanup_err_ struct err err = { 0 };
        struct templating_state state = { 0 };
        struct gt_context c = {
                .arena = &a, .deadline = DEADLINE_NONE, .steps_left = LIMIT_TEMPLATE_STEPS, .user = &state
        };

        arena_init(&a, "bench", 0);
        buf_clear(&w->out);
        if (gt_execute(w->parsed, &c, GT_MISSING_INVALID, gt_from_value(&c, w->data), &w->out, &err) < 0) {
                fprintf(stderr, "%s\n", err_message(&err));
                abort();
        }
}

int main(int argc, char **argv)
{
        struct world w = { 0 };
        struct buf json = BUF_INIT(0);
        struct contender contenders[] = { { "parse", run_parse, &w }, { "execute", run_execute, &w } };
        double ns[2];

        arena_init(&w.arena, "bench", 0);
        buf_init(&w.text, 0);
        buf_init(&w.out, 0);
        read_file(argv[1], &w.text);
        read_file(argv[2], &json);
        if (json_parse(&w.arena, buf_str(&json), NULL, &w.data, NULL) < 0)
                abort();
        w.parsed = parse(&w);
        if (argc > 3) {
                run_execute(&w);
                fwrite(w.out.p, 1, w.out.n, stdout);
        } else {
                bench_compare(contenders, 2, 1.0, ns);
                printf("%.0f parse\n%.0f execute\n", ns[0], ns[1]);
        }
        gt_template_unref(w.parsed);
        buf_done(&json);
        buf_done(&w.text);
        buf_done(&w.out);
        arena_done(&w.arena);
        return 0;
}
