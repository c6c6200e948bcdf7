#include "test.h"

#include "buf.h"
#include "gates.h"
#include "settings.h"
#include "timetext.h"

static const char *const formats[] = { "text", "json", "yaml", NULL };

static int check_even(struct str text, const void *arg, struct err *err)
{
        if ((text.p[text.n - 1] - '0') % 2 == 0)
                return 0;
        return arg ? ERR_INVALID : err_set(err, ERR_INVALID, "%.*s is odd", STR_ARG(text));
}

static const struct setting table[] = {
        { .name = "verbose", .short_name = 'v', .type = SETTING_BOOL, .help = "Say more." },
        { .name = "color", .short_name = 'c', .type = SETTING_BOOL, .default_text = "true", .help = "Use colours." },
        { .name = "max-reconcile-rate",
          .short_name = 'r',
          .type = SETTING_INT,
          .default_text = "100",
          .min = 1,
          .max = 1000,
          .help = "How many runs there may be in a second." },
        { .name = "offset", .type = SETTING_INT, .help = "Any number." },
        { .name = "memory",
          .type = SETTING_SIZE,
          .default_text = "64Mi",
          .min = 1024,
          .max = 1ll << 40,
          .help = "Memory." },
        { .name = "timeout",
          .type = SETTING_DURATION,
          .default_text = "30s",
          .min = 1000000,
          .max = 3600000000000,
          .help = "Time." },
        { .name = "output", .short_name = 'o', .type = SETTING_STRING, .value_name = "FILE", .help = "Where to." },
        { .name = "format", .type = SETTING_ENUM, .choices = formats, .default_text = "json", .help = "How it looks." },
        { .name = "style", .type = SETTING_ENUM, .choices = formats, .help = "How it reads." },
        { .name = "label", .short_name = 'l', .type = SETTING_LIST, .help = "Labels." },
        { .name = "path", .type = SETTING_LIST, .default_text = "a,b", .is_merged = true, .help = "Paths." },
        { .name = "pin", .type = SETTING_INT, .is_secret = true, .default_text = "1234", .help = "A secret number." },
        { .name = "even", .type = SETTING_INT, .check = check_even, .help = "An even number." },
        { .name = "even-too", .type = SETTING_INT, .check = check_even, .check_arg = "", .help = "An even number." },
        { .name = "hidden", .type = SETTING_BOOL },
};

static struct settings s;
static struct arguments arguments;

static int read_flags(const char *const *argv, struct err *err)
{
        int argc = 0;

        while (argv[argc])
                argc++;
        settings_init(&s, table, ARRAY_SIZE(table));
        return settings_read_flags(&s, argc, argv, false, &arguments, err);
}

#define FLAGS(...) ((const char *const[]) { __VA_ARGS__, NULL })

static struct str list_text(struct setting_list list)
{
        static char text[256];
        size_t n = 0;

        for (size_t i = 0; i < list.n; i++)
                n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%.*s", i ? "|" : "", STR_ARG(list.items[i]));
        return str_make(text, n);
}

static struct str argument_text(void)
{
        static char text[256];
        size_t n = 0;

        for (size_t i = 0; i < arguments.n; i++)
                n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s", i ? "|" : "", arguments.p[i]);
        return str_make(text, n);
}

TEST(defaults)
{
        settings_init(&s, table, ARRAY_SIZE(table));
        ASSERT(!settings_bool(&s, "verbose") && settings_bool(&s, "color"));
        ASSERT_INT(settings_int(&s, "max-reconcile-rate"), 100);
        ASSERT_INT(settings_int(&s, "offset"), 0);
        ASSERT_INT(settings_int(&s, "memory"), 64 << 20);
        ASSERT_INT(settings_int(&s, "timeout"), 30 * NS_PER_SECOND);
        ASSERT_STR(settings_str(&s, "output"), STR(""));
        ASSERT_STR(settings_str(&s, "format"), STR("json"));
        ASSERT_INT(settings_int(&s, "format"), 1);
        ASSERT_STR(settings_str(&s, "style"), STR("text"));
        ASSERT_INT(settings_list(&s, "label").n, 0);
        ASSERT_STR(list_text(settings_list(&s, "path")), STR("a|b"));
        ASSERT_INT(settings_value(&s, "color")->source, SOURCE_DEFAULT);
        ASSERT_TEXT(settings_value(&s, "color")->origin, "default");
        settings_done(&s);
}

TEST(flags)
{
        ASSERT_INT(read_flags(FLAGS("one", "--verbose", "--no-color", "--max-reconcile-rate", "7", "--offset", "-5",
                                    "--memory=2Gi", "two", "--timeout=1m30s", "-ofile", "--format=yaml", "-",
                                    "--label=a, b,", "-l", "c", "-l=d", "--path", "x", "--", "--three", "-v"),
                              NULL),
                   0);
        ASSERT(settings_bool(&s, "verbose") && !settings_bool(&s, "color"));
        ASSERT_INT(settings_int(&s, "max-reconcile-rate"), 7);
        ASSERT_INT(settings_int(&s, "offset"), -5);
        ASSERT_INT(settings_int(&s, "memory"), 2ll << 30);
        ASSERT_INT(settings_int(&s, "timeout"), 90 * NS_PER_SECOND);
        ASSERT_STR(settings_str(&s, "output"), STR("file"));
        ASSERT_STR(settings_str(&s, "format"), STR("yaml"));
        ASSERT_INT(settings_int(&s, "format"), 2);
        ASSERT_STR(list_text(settings_list(&s, "label")), STR("a|b|c|d"));
        ASSERT_STR(list_text(settings_list(&s, "path")), STR("x"));
        ASSERT_STR(argument_text(), STR("one|two|-|--three|-v"));
        ASSERT_TEXT(settings_value(&s, "color")->origin, "--no-color");
        ASSERT_TEXT(settings_value(&s, "output")->origin, "-o");
        ASSERT_TEXT(setting_source_name(settings_value(&s, "output")->source), "flag");
        ASSERT_TEXT(setting_source_name(settings_value(&s, "style")->source), "default");
        settings_done(&s);
}

TEST(more_flags)
{
        ASSERT_INT(read_flags(FLAGS("-vc=false", "--output=", "--output", "-", "--verbose=false", "--hidden", "-r3"),
                              NULL),
                   0);
        ASSERT(!settings_bool(&s, "verbose")); /* the last one counts */
        ASSERT(!settings_bool(&s, "color") && settings_bool(&s, "hidden"));
        ASSERT_STR(settings_str(&s, "output"), STR("-"));
        ASSERT_INT(settings_int(&s, "max-reconcile-rate"), 3);
        settings_done(&s);
        ASSERT_INT(read_flags(FLAGS("-vo", "x", "--offset", "-.5"), NULL), ERR_INVALID);
        ASSERT_STR(settings_str(&s, "output"), STR("x"));
        settings_done(&s);

        settings_init(&s, table, ARRAY_SIZE(table));
        ASSERT_INT(settings_read_flags(&s, 4, FLAGS("-v", "render", "--unknown", "-x"), true, &arguments, NULL), 0);
        ASSERT_STR(argument_text(), STR("render|--unknown|-x"));
        settings_done(&s);
}

TEST(bad_flags)
{
        static const struct {
                const char *argv[3];
                const char *message;
        } cases[] = {
                { { "--max-reconcil-rate=3" }, "unknown flag --max-reconcil-rate; did you mean --max-reconcile-rate?" },
                { { "--verbsoe" }, "unknown flag --verbsoe; did you mean --verbose?" },
                { { "--time=3s" }, "unknown flag --time; did you mean --timeout?" },
                { { "--no-colour" }, "unknown flag --no-colour; did you mean --no-color?" },
                { { "--no-elephants" }, "unknown flag --no-elephants" },
                { { "--elephants" }, "unknown flag --elephants" },
                { { "--hiddem" }, "unknown flag --hiddem" },
                { { "--=x" }, "unknown flag --" },
                { { "--no-output" }, "unknown flag --no-output; did you mean --output?" },
                { { "-x" }, "unknown flag -x" },
                { { "-vx" }, "unknown flag -x" },
                { { "--no-color=true" }, "--no-color takes no value; write --color=true" },
                { { "--offset" }, "--offset needs a value, a whole number" },
                { { "--offset", "--verbose" },
                  "--offset needs a value, a whole number; write --offset=VALUE if it starts with a dash" },
                { { "-r" }, "-r needs a value, a whole number from 1 to 1000" },
                { { "--offset=abc" }, "--offset: \"abc\" is not accepted; it must be a whole number" },
                { { "--offset=" }, "--offset: \"\" is not accepted; it must be a whole number" },
                { { "--offset=1.5" }, "--offset: \"1.5\" is not accepted; it must be a whole number" },
                { { "--offset=9223372036854775808" },
                  "--offset: \"9223372036854775808\" is not accepted; it must be a whole number" },
                { { "-r", "0" }, "-r: \"0\" is not accepted; it must be a whole number from 1 to 1000" },
                { { "--max-reconcile-rate=1001" },
                  "--max-reconcile-rate: \"1001\" is not accepted; it must be a whole number from 1 to 1000" },
                { { "--memory=1Zi" },
                  "--memory: \"1Zi\" is not accepted; it must be a size such as 512, 64Ki or 10M from 1024 to "
                  "1099511627776" },
                { { "--timeout=2h" },
                  "--timeout: \"2h\" is not accepted; it must be a duration such as 300ms, 30s or 1h30m from 1ms to "
                  "1h0m0s" },
                { { "--timeout=5" },
                  "--timeout: \"5\" is not accepted; it must be a duration such as 300ms, 30s or 1h30m from 1ms to "
                  "1h0m0s" },
                { { "--verbose=maybe" }, "--verbose: \"maybe\" is not accepted; it must be true or false" },
                { { "--format=xml" }, "--format: \"xml\" is not accepted; it must be one of text, json, yaml" },
                { { "--pin=hunter2" }, "--pin: the value is not accepted; it must be a whole number" },
                { { "--even=3" }, "--even: 3 is odd" },
                { { "--even-too=3" }, "--even-too: \"3\" is not accepted; it must be a whole number" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_err_ struct err err = { 0 };

                ASSERT_INT(read_flags(cases[i].argv, &err), ERR_INVALID);
                ASSERT_TEXT(err_message(&err), cases[i].message);
                settings_done(&s);
                ASSERT_INT(read_flags(cases[i].argv, NULL), ERR_INVALID);
                settings_done(&s);
        }
}

TEST(numbers)
{
        static const struct {
                const char *flag;
                int64_t value;
        } cases[] = {
                { "--offset=+7", 7 },
                { "--offset=9223372036854775807", INT64_MAX },
                { "--offset=-9223372036854775808", INT64_MIN },
        }, sizes[] = {
                { "--memory=1024", 1024 },          { "--memory=2k", 2000 },     { "--memory=2K", 2000 },
                { "--memory=2Ki", 2048 },           { "--memory=3M", 3000000 },  { "--memory=3Mi", 3 << 20 },
                { "--memory=1G", 1000000000 },      { "--memory=1Gi", 1 << 30 }, { "--memory=1T", 1000000000000 },
                { "--memory=1Ti", 1ll << 40 },
        };
        static const char *const bad[] = { "--memory=-5k", "--memory=k", "--memory=9223372036854775807Ki",
                                           "--memory=2kb", "--memory=1 k" };
        static const char *const on[] = { "true", "TRUE", "yes", "on", "1", "t" }, *const off[] = { "false", "No",
                                                                                                    "off", "0", "f" };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                ASSERT_CASE(cases[i].flag, read_flags(FLAGS(cases[i].flag), NULL) == 0);
                ASSERT_INT(settings_int(&s, "offset"), cases[i].value);
                settings_done(&s);
        }
        for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
                ASSERT_CASE(sizes[i].flag, read_flags(FLAGS(sizes[i].flag), NULL) == 0);
                ASSERT_INT(settings_int(&s, "memory"), sizes[i].value);
                settings_done(&s);
        }
        for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
                ASSERT_CASE(bad[i], read_flags(FLAGS(bad[i]), NULL) == ERR_INVALID);
                settings_done(&s);
        }
        for (size_t i = 0; i < ARRAY_SIZE(on) + ARRAY_SIZE(off); i++) {
                bool is_on = i < ARRAY_SIZE(on);
                char flag[32];

                snprintf(flag, sizeof(flag), "--verbose=%s", is_on ? on[i] : off[i - ARRAY_SIZE(on)]);
                ASSERT_CASE(flag, read_flags(FLAGS(flag), NULL) == 0);
                ASSERT_CASE(flag, settings_bool(&s, "verbose") == is_on);
                settings_done(&s);
        }
}

/* --- Sources --- */

static const struct str file_paths[] = { STR_INIT("from"), STR_INIT("file") };

static bool lookup(void *arg, struct str key, struct setting_entry *ret)
{
        const struct {
                struct str key;
                struct setting_entry entry;
        } entries[] = {
                { STR("maxReconcileRate"), { .text = STR("11"), .position = { 3, 1, 20 } } },
                { STR("format"), { .text = STR("text") } },
                { STR("timeout"), { .text = STR("2s"), .position = { 4, 2, 30 } } },
                { STR("path"), { .is_list = true, .items = file_paths, .n_items = 2, .position = { 5, 1, 40 } } },
                { STR("label"), { .is_list = true } },
        };

        for (size_t i = 0; i < ARRAY_SIZE(entries); i++)
                if (str_equal(key, entries[i].key)) {
                        *ret = entries[i].entry;
                        return true;
                }
        return false;
}

/* In whatever order the sources are read, the better one wins. */
TEST(sources)
{
        const char *const environment[] = { "PATH=/bin",         "WEFT_TIMEOUT=3s",        "WEFT_FORMAT=yaml",
                                            "WEFT_OUTPUT=",      "WEFT_PATH=from,env",     "WEFT_UNKNOWN=1",
                                            "WEFT_TIMEOUTS=17s", "WEFT_MAX_RECONCILE=333", NULL };
        static const int orders[][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };

        for (size_t i = 0; i < ARRAY_SIZE(orders); i++) {
                settings_init(&s, table, ARRAY_SIZE(table));
                for (size_t j = 0; j < 3; j++) {
                        int r = orders[i][j] == 0   ? settings_read_flags(&s, 2, FLAGS("--timeout=4s", "--path=flag"),
                                                                          false, &arguments, NULL)
                                : orders[i][j] == 1 ? settings_read_environment(&s, environment, NULL)
                                                    : settings_read_file(&s, "weft.yaml", lookup, NULL, NULL);

                        ASSERT_INT(r, 0);
                }
                ASSERT_INT(settings_int(&s, "timeout"), 4 * NS_PER_SECOND);
                ASSERT_STR(settings_str(&s, "format"), STR("yaml"));
                ASSERT_INT(settings_int(&s, "max-reconcile-rate"), 11);
                ASSERT_STR(settings_str(&s, "output"), STR(""));
                ASSERT_STR(list_text(settings_list(&s, "path")), STR("from|file|from|env|flag"));
                ASSERT_TEXT(settings_value(&s, "timeout")->origin, "--timeout");
                ASSERT_TEXT(settings_value(&s, "format")->origin, "WEFT_FORMAT");
                ASSERT_TEXT(settings_value(&s, "max-reconcile-rate")->origin, "weft.yaml:3:1: maxReconcileRate");
                ASSERT_INT(settings_value(&s, "label")->source, SOURCE_FILE);
                ASSERT_TEXT(setting_source_name(settings_value(&s, "format")->source), "environment");
                ASSERT_TEXT(setting_source_name(settings_value(&s, "label")->source), "file");
                settings_done(&s);
        }
}

static bool lookup_bad(void *arg, struct str key, struct setting_entry *ret)
{
        const struct setting_entry *entry = arg;

        if (!str_equal(key, STR("offset")))
                return false;
        *ret = *entry;
        return true;
}

TEST(bad_sources)
{
        static const struct setting_entry text = { .text = STR_INIT("x"), .position = { 7, 9, 0 } };
        static const struct setting_entry list = { .is_list = true };
        _cleanup_err_ struct err err = { 0 };

        settings_init(&s, table, ARRAY_SIZE(table));
        ASSERT_INT(settings_read_environment(&s, FLAGS("WEFT_EVEN=3"), &err), ERR_INVALID);
        ASSERT_TEXT(err_message(&err), "WEFT_EVEN: 3 is odd");
        ASSERT_INT(settings_read_environment(&s, FLAGS("WEFT_MAX_RECONCILE_RATE=many"), &err), ERR_INVALID);
        ASSERT_TEXT(err_message(&err),
                    "WEFT_MAX_RECONCILE_RATE: \"many\" is not accepted; it must be a whole number from 1 to 1000");
        ASSERT_INT(settings_read_file(&s, "weft.yaml", lookup_bad, (void *)&text, &err), ERR_INVALID);
        ASSERT_TEXT(err_message(&err), "weft.yaml:7:9: offset: \"x\" is not accepted; it must be a whole number");
        ASSERT_INT(err.position.line, 7);
        ASSERT_INT(settings_read_file(&s, "weft.yaml", lookup_bad, (void *)&list, &err), ERR_INVALID);
        ASSERT_TEXT(err_message(&err), "weft.yaml: offset: \"a list\" is not accepted; it must be a whole number");

        ASSERT_INT(settings_check_key(&s, "weft.yaml", STR("maxReconcileRate"), (struct position) { 0 }, &err), 0);
        ASSERT_INT(settings_check_key(&s, "weft.yaml", STR("maxReconcilRate"), (struct position) { 2, 3, 9 }, &err),
                   ERR_INVALID);
        ASSERT_TEXT(err_message(&err),
                    "weft.yaml:2:3: maxReconcilRate: unknown setting; did you mean maxReconcileRate?");
        ASSERT_INT(err.position.offset, 9);
        ASSERT_INT(settings_check_key(&s, "weft.yaml", STR("elephants"), (struct position) { 0 }, &err), ERR_INVALID);
        ASSERT_TEXT(err_message(&err), "weft.yaml: elephants: unknown setting");
        settings_done(&s);
}

TEST(nearest)
{
        static const char *const words[] = { "render", "validate", "test", "trace", "up" };
        static const char very_long[] =
                "a-word-that-is-much-longer-than-anything-that-a-person-would-ever-type-as-a-flag";
        static const struct {
                const char *typed, *nearest;
        } cases[] = {
                { "rendr", "render" }, { "redner", "render" }, { "VALIDATE", "validate" },
                { "val", "validate" }, { "tset", "test" },     { "xyz", NULL },
                { "", NULL },          { "q", NULL },          { very_long, NULL },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
                ASSERT_STR_CASE(cases[i].typed,
                                str_from(settings_nearest(str_from(cases[i].typed), words, ARRAY_SIZE(words))),
                                str_from(cases[i].nearest));
        ASSERT(!settings_nearest(STR("a-word"), (const char *const[]) { very_long }, 1));
}

/* --- Help --- */

TEST(help)
{
        static const struct setting few[] = {
                { .name = "verbose", .short_name = 'v', .type = SETTING_BOOL, .help = "Say more." },
                { .name = "rate",
                  .type = SETTING_INT,
                  .default_text = "100",
                  .help = "How many runs there may be in a second, counted over all kinds." },
                { .name = "format",
                  .type = SETTING_ENUM,
                  .choices = formats,
                  .default_text = "json",
                  .help = "How it looks." },
                { .name = "a-very-long-name-of-a-setting", .type = SETTING_LIST, .help = "Long." },
                { .name = "pin", .type = SETTING_STRING, .default_text = "1234", .is_secret = true, .help = "Hush." },
                { .name = "hidden", .type = SETTING_BOOL },
        };
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        settings_append_help(&b, few, ARRAY_SIZE(few), 70);
        ASSERT_STR(buf_str(&b), STR("  -v, --verbose                Say more. (WEFT_VERBOSE)\n"
                                    "      --rate=N                 How many runs there may be in a second,\n"
                                    "                               counted over all kinds. (default 100;\n"
                                    "                               WEFT_RATE)\n"
                                    "      --format=text|json|yaml  How it looks. (default json;\n"
                                    "                               WEFT_FORMAT)\n"
                                    "      --a-very-long-name-of-a-setting=A,B,...\n"
                                    "                               Long.\n"
                                    "                               (WEFT_A_VERY_LONG_NAME_OF_A_SETTING)\n"
                                    "      --pin=TEXT               Hush. (WEFT_PIN)\n"));
        buf_clear(&b);
        settings_append_help(&b, few, 2, 1);
        ASSERT_STR(buf_str(&b), STR("  -v, --verbose  Say more.\n"
                                    "                 (WEFT_VERBOSE)\n"
                                    "      --rate=N   How many runs there may\n"
                                    "                 be in a second, counted\n"
                                    "                 over all kinds.\n"
                                    "                 (default 100;\n"
                                    "                 WEFT_RATE)\n"));
}

/* --- Gates --- */

enum { GATE_CACHE, GATE_REVISIONS, GATE_USAGES, GATE_OLD };

static const struct gate gate_table[] = {
        [GATE_CACHE] = { "RequirementsCache", GATE_ALPHA, false, false, "Remember requirements." },
        [GATE_REVISIONS] = { "FunctionRevisionSelectors", GATE_BETA, true, false, "Choose revisions." },
        [GATE_USAGES] = { "Usages", GATE_GA, true, true, "Protect what is used." },
        [GATE_OLD] = { "OldWay", GATE_ALPHA, false, true, "Gone." },
};

static int set_gates(struct gates *g, const char *text, struct err *err)
{
        const struct setting setting = { .name = "feature-gates",
                                         .type = SETTING_LIST,
                                         .is_merged = true,
                                         .check = gates_check_item,
                                         .check_arg = g };
        struct settings own;
        char flag[128];
        int r;

        snprintf(flag, sizeof(flag), "--feature-gates=%s", text);
        settings_init(&own, &setting, 1);
        r = settings_read_flags(&own, 1, FLAGS(flag), false, &arguments, err);
        if (r == 0)
                r = gates_set(g, settings_list(&own, "feature-gates"), err);
        settings_done(&own);
        return r;
}

TEST(gates)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct gates g;

        gates_init(&g, gate_table, ARRAY_SIZE(gate_table));
        ASSERT(!gate_is_on(&g, GATE_CACHE) && gate_is_on(&g, GATE_REVISIONS) && gate_is_on(&g, GATE_USAGES));
        ASSERT_INT(set_gates(&g, "RequirementsCache=true, FunctionRevisionSelectors = false,Usages=true", NULL), 0);
        ASSERT(gate_is_on(&g, GATE_CACHE) && !gate_is_on(&g, GATE_REVISIONS) && gate_is_on(&g, GATE_USAGES));
        ASSERT(gate_is_on_by_name(&g, "RequirementsCache") && !gate_is_on_by_name(&g, "OldWay"));
        ASSERT_INT(set_gates(&g, "RequirementsCache=false,RequirementsCache=true,OldWay=false", NULL), 0);
        ASSERT(gate_is_on(&g, GATE_CACHE));
        gates_append_list(&b, &g);
        ASSERT_STR(buf_str(&b), STR("NAME                       STAGE  DEFAULT  NOW    DESCRIPTION\n"
                                    "RequirementsCache          Alpha  false    true   Remember requirements.\n"
                                    "FunctionRevisionSelectors  Beta   true     false  Choose revisions.\n"
                                    "Usages                     GA     true     true   Protect what is used.\n"
                                    "OldWay                     Alpha  false    false  Gone.\n"));
        gates_done(&g);
}

TEST(bad_gates)
{
        static const struct {
                const char *text;
                int code;
                const char *message;
        } cases[] = {
                { "RequirementCache=true", ERR_INVALID,
                  "--feature-gates: unknown feature gate RequirementCache; did you mean RequirementsCache?" },
                { "Elephants=true", ERR_INVALID, "--feature-gates: unknown feature gate Elephants" },
                { "RequirementsCache", ERR_INVALID,
                  "--feature-gates: \"RequirementsCache\" is not accepted; it must be GATE=true or GATE=false" },
                { "RequirementsCache=maybe", ERR_INVALID,
                  "--feature-gates: \"RequirementsCache=maybe\" is not accepted; it must be GATE=true or GATE=false" },
                { "Usages=false", ERR_FORBIDDEN, "--feature-gates: feature gate Usages is GA and always on" },
                { "OldWay=true", ERR_FORBIDDEN, "--feature-gates: feature gate OldWay is Alpha and always off" },
        };
        const struct str items[] = { STR("RequirementsCache=true"), STR("Usages=false") };
        struct gates g;

        gates_init(&g, gate_table, ARRAY_SIZE(gate_table));
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_err_ struct err err = { 0 };

                ASSERT_INT(set_gates(&g, cases[i].text, &err), cases[i].code);
                ASSERT_TEXT(err_message(&err), cases[i].message);
        }
        ASSERT_INT(gates_set(&g, (struct setting_list) { items, 2 }, NULL), ERR_FORBIDDEN);
        ASSERT(!gate_is_on(&g, GATE_CACHE)); /* nothing was changed */
        gates_done(&g);
}
