#include "test.h"

#include "buf.h"
#include "clock.h"
#include "gotemplate.h"
#include "gt-print.h"
#include "json.h"
#include "limits.h"

static const struct gt_func_table *const tables[] = { &gt_sprig_functions };

struct outcome {
        int code;
        struct str text; /* the output, or the error */
};

/* Executes the text on the data (JSON), within budgets that a hostile template soon uses up. */
static struct outcome execute(struct arena *a, struct str text, const char *json, uint64_t steps)
{
        struct gt_parse_options options = { .name = STR("t"), .tables = tables, .n_tables = ARRAY_SIZE(tables) };
        _cleanup_gt_template_ struct gt_template *t = NULL;
        _cleanup_buf_ struct buf out = BUF_INIT(1u << 20);
        _cleanup_err_ struct err err = { 0 };
        struct gt_context c = {
                .arena = a, .deadline = deadline_after_ms(20000), .steps_left = steps, .max_text_bytes = 1u << 20
        };
        const struct value *data;

        ASSERT(json_parse(a, str_from(json), NULL, &data, NULL) == 0);
        if (gt_parse(text, &options, &t, &err) == 0)
                gt_execute(t, &c, GT_MISSING_INVALID, gt_from_value(&c, data), &out, &err);
        return (struct outcome) { err.code,
                                  err.code < 0 ? arena_copy(a, str_from(err_message(&err))) : buf_to_arena(&out, a) };
}

static void check_output(const char *text, const char *json, const char *wanted)
{
        _cleanup_arena_ struct arena a;
        struct outcome o;

        arena_init(&a, "test", 64u << 20);
        o = execute(&a, str_from(text), json, 1000000);
        if (!str_equal(o.text, str_from(wanted)))
                test_fail(__FILE__, __LINE__, "[%s] gives |%.*s|, wanted |%s|", text, STR_ARG(o.text), wanted);
}

TEST(executes_templates)
{
        static const struct {
                const char *text, *json, *wanted;
        } cases[] = {
                { "a{{.x}}b", "{\"x\": 1}", "a1b" },
                { "{{range $i, $e := .l}}{{$i}}{{$e}} {{end}}", "{\"l\": [\"a\", 2, null]}", "0a 12 2<no value> " },
                { "{{with .m}}{{.k}}{{else}}none{{end}}", "{\"m\": {\"k\": true}}", "true" },
                { "{{define \"d\"}}<{{.}}>{{end}}{{template \"d\" .x}}", "{\"x\": \"y\"}", "<y>" },
                { "{{.a.b.c}}", "{}", "<no value>" },
                { "{{.a.b}}", "{\"a\": 1}",
                  "template: t:1:4: executing \"t\" at <.a.b>: can't evaluate field b in type interface {}" },
                { "{{if}}", "{}", "template: t:1: missing value for if" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
                check_output(cases[i].text, cases[i].json, cases[i].wanted);
}

/* A map that was reached twice is one map; the data itself does not change. */
TEST(maps_are_references)
{
        check_output("{{$_ := set .m \"k\" 2}}{{.m.k}}{{$m := .m}}{{$_ := set $m \"j\" 3}}{{.m}}",
                     "{\"m\": {\"k\": 1}}", "2map[j:3 k:2]");
        check_output("{{range .l}}{{$_ := set . \"x\" 1}}{{end}}{{.l}}", "{\"l\": [{\"a\": 0}, {}]}",
                     "[map[a:0 x:1] map[x:1]]");
        check_output("{{range $k, $v := .m}}{{$_ := set $.m (cat $k \"x\") 1}}{{$k}}{{end}} {{len .m}}",
                     "{\"m\": {\"a\": 1, \"b\": 2}}", "ab 4");
        check_output("{{$c := deepCopy .m}}{{$_ := set $c.n \"k\" 2}}{{.m}}", "{\"m\": {\"n\": {\"k\": 1}}}",
                     "map[n:map[k:1]]");
}

TEST(knows_what_is_pure)
{
        struct gt_parse_options options = { .name = STR("t"), .tables = tables, .n_tables = ARRAY_SIZE(tables) };
        _cleanup_gt_template_ struct gt_template *t = NULL, *again = NULL;

        ASSERT(gt_parse_cached(STR("{{ list 1 | first }}"), &options, &t, NULL) == 0);
        ASSERT(gt_template_is_pure(t));
        ASSERT(gt_parse_cached(STR("{{ list 1 | first }}"), &options, &again, NULL) == 0);
        ASSERT(t == again);
}

TEST(tables_are_sorted)
{
        static const struct gt_func_table *const all[] = { &gt_builtin_functions, &gt_sprig_functions };

        for (size_t i = 0; i < ARRAY_SIZE(all); i++)
                for (size_t k = 1; k < all[i]->n; k++)
                        if (strcmp(all[i]->functions[k - 1].name, all[i]->functions[k].name) >= 0)
                                test_fail(__FILE__, __LINE__, "%s stands before %s", all[i]->functions[k - 1].name,
                                          all[i]->functions[k].name);
}

static struct str repeat(struct arena *a, const char *before, const char *text, size_t n, const char *after)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        buf_append_str(&b, str_from(before));
        for (size_t i = 0; i < n; i++)
                buf_append_str(&b, str_from(text));
        buf_append_str(&b, str_from(after));
        return buf_to_arena(&b, a);
}

/* Each is stopped by a limit, within its budget of time and memory, and says why. */
TEST(stops_hostile_templates)
{
        static const struct {
                const char *text, *reason;
        } cases[] = {
                { "{{range 9223372036854775807}}{{end}}", "template takes more steps than its limit" },
                { "{{range untilStep 0 4611686018427387904 1}}{{end}}", "template takes more steps than its limit" },
                { "{{range 1000000}}{{range 1000000}}x{{end}}{{end}}", "limit" },
                { "{{define \"r\"}}{{template \"r\" .}}{{end}}{{template \"r\" .}}",
                  "exceeded maximum template depth (100000)" },
                { "{{define \"r\"}}x{{template \"r\" .}}{{template \"r\" .}}{{end}}{{template \"r\" .}}",
                  "exceeded maximum template depth" },
                { "{{$x := \"xxxxxxxxxxxxxxxx\"}}{{range 1000}}{{$x = print $x $x}}{{end}}",
                  "text is larger than the limit of 1048576 bytes" },
                { "{{printf \"%1000000000d\" 1}}{{printf \"%999999d\" 1}}{{printf \"%999999d\" 1}}", "limit" },
                { "{{$d := dict}}{{$_ := set $d \"self\" $d}}{{$d}}", "limit" },
                { "{{$d := dict}}{{$_ := set $d \"self\" $d}}{{toJson $d}}{{deepCopy $d}}", "nested too deeply" },
                { "{{$d := dict}}{{$_ := set $d \"a\" $d}}{{$e := dict}}{{$_ := set $e \"a\" $e}}{{deepEqual $d $e}}",
                  "nested too deeply" },
                { "{{$l := list 1}}{{range 100}}{{$l = concat $l $l}}{{end}}", "limit" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_arena_ struct arena a;
                struct outcome o;

                arena_init(&a, "template", 256u << 20);
                o = execute(&a, str_from(cases[i].text), "{}", 2000000);
                if (o.code == 0 || str_find(o.text, str_from(cases[i].reason)) < 0)
                        test_fail(__FILE__, __LINE__, "[%s] %.*s", cases[i].text, STR_ARG(str_first(o.text, 300)));
                ASSERT(a.used_bytes < 300u << 20);
        }
}

TEST(stops_deep_nesting)
{
        static const struct {
                const char *before, *text, *after, *reason;
        } cases[] = {
                { "{{", "(", "1", "max expression depth exceeded" },
                { "{{", "not (", "1", "max expression depth exceeded" },
                { "", "{{if 1}}", "", "more than 1000 controls in each other" },
                { "", "{{range 1}}", "", "more than 1000 controls in each other" },
                { "", "{{if 0}}{{else if 0}}", "", "controls in each other" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_arena_ struct arena a;
                struct outcome o;

                arena_init(&a, "template", 256u << 20);
                o = execute(&a, repeat(&a, cases[i].before, cases[i].text, 100000, cases[i].after), "{}", 2000000);
                if (o.code == 0 || str_find(o.text, str_from(cases[i].reason)) < 0)
                        test_fail(__FILE__, __LINE__, "[%s] %.*s", cases[i].text, STR_ARG(str_first(o.text, 300)));
        }
}

TEST(keeps_its_deadline)
{
        struct gt_parse_options options = { .name = STR("t") };
        _cleanup_gt_template_ struct gt_template *t = NULL;
        _cleanup_buf_ struct buf out = BUF_INIT(0);
        _cleanup_err_ struct err err = { 0 };
        _cleanup_arena_ struct arena a;
        struct gt_context c = { .arena = &a, .deadline = deadline_after_ns(-1), .steps_left = UINT64_MAX };

        arena_init(&a, "test", 0);
        ASSERT(gt_parse(STR("{{range 9223372036854775807}}{{end}}"), &options, &t, NULL) == 0);
        ASSERT(gt_execute(t, &c, GT_MISSING_INVALID, gt_none(), &out, &err) == ERR_TIMEOUT);
        ASSERT(str_ends_with(str_from(err_message(&err)), STR(": deadline exceeded")));
}
