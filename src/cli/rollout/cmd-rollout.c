#include "command.h"

#include "number.h"
#include "rollout-client.h"

#include <stdio.h>

static const struct setting settings_table[] = {
        API_CLIENT_ADDRESS_SETTINGS,
        { .name = "to",
          .type = SETTING_STRING,
          .value_name = "IMAGE",
          .help = "The new package. Without it, nothing begins: the state is shown, or changed by --steps, --percent "
                  "or --back." },
        { .name = "steps",
          .type = SETTING_LIST,
          .default_text = "10,50,100",
          .value_name = "PERCENT,...",
          .help = "The shares of composites that run on the new revision, one after the other." },
        { .name = "percent",
          .type = SETTING_INT,
          .min = 1,
          .max = 100,
          .value_name = "N",
          .help = "Move to this share only, and stay there." },
        { .name = "max-fatal-percent",
          .type = SETTING_INT,
          .min = 0,
          .max = 100,
          .value_name = "N",
          .help = "How many percent of runs may fail beyond those on the old revision; 0 unless given." },
        { .name = "max-latency-percent",
          .type = SETTING_INT,
          .min = 100,
          .max = 1000000,
          .value_name = "N",
          .help = "How long the function may take, in percent of the old revision. Not judged unless given." },
        { .name = "max-deletions",
          .type = SETTING_INT,
          .min = 0,
          .max = INT32_MAX,
          .value_name = "N",
          .help = "How many composed resources may be deleted beyond what the old revision deletes; 0 unless given." },
        { .name = "minimum-sample",
          .type = SETTING_INT,
          .min = 1,
          .max = INT32_MAX,
          .value_name = "N",
          .help = "How many runs on the new revision each step needs, unless all composites of its share have run; 10 "
                  "unless "
                  "given." },
        { .name = "timeout",
          .type = SETTING_DURATION,
          .default_text = "10m",
          .value_name = "TIME",
          .help = "How long to wait for all steps together. The rollout is then left as it is." },
        { .name = "back", .type = SETTING_BOOL, .help = "Go back to the old revision and its package." },
        { .name = "dry-run",
          .type = SETTING_BOOL,
          .help = "Send the requests of all composites to both revisions and show what differs. Nothing is changed by "
                  "it; "
                  "afterwards the Function is as before." },
        { .name = "with-credentials",
          .type = SETTING_BOOL,
          .help = "Give the new revision the credentials of steps in a dry run. Without it, it gets none." },
};

static bool is_given(const struct settings *s, const char *name)
{
        return settings_value(s, name)->source != SOURCE_DEFAULT;
}

/* --- Arguments --- */

static int read_steps(struct arena *a, const struct settings *s, struct rollout_options *o, struct err *err)
{
        struct setting_list list = settings_list(s, "steps");
        int64_t *steps = ARENA_NEW_ARRAY(a, int64_t, list.n + 1);

        o->steps = steps;
        if (is_given(s, "percent")) {
                steps[o->n_steps++] = settings_int(s, "percent");
                return 0;
        }
        for (size_t i = 0; i < list.n; i++) {
                int64_t n;

                if (number_parse_int(list.items[i], &n, NULL) < 0 || n < 1 || n > 100 ||
                    (o->n_steps > 0 && n <= steps[o->n_steps - 1]))
                        return err_set(
                                err, ERR_INVALID,
                                "--steps: \"%.*s\" is not a share: give percentages from 1 to 100, each more than "
                                "the one before",
                                STR_ARG(list.items[i]));
                steps[o->n_steps++] = n;
        }
        return o->n_steps ? 0 : err_set(err, ERR_INVALID, "--steps: give at least one share");
}

static const struct value *read_limits(struct arena *a, const struct settings *s)
{
        static const struct {
                const char *setting;
                struct str field;
        } limits[] = {
                { "max-fatal-percent", STR_INIT("maxFatalPercent") },
                { "max-latency-percent", STR_INIT("maxLatencyPercent") },
                { "max-deletions", STR_INIT("maxDeletions") },
                { "minimum-sample", STR_INIT("minimumSample") },
        };
        const struct value *v = &value_empty_object;

        for (size_t i = 0; i < ARRAY_SIZE(limits); i++)
                if (is_given(s, limits[i].setting))
                        v = value_with(a, v, limits[i].field,
                                       value_put(a, value_of_int(settings_int(s, limits[i].setting))));
        return v;
}

static int check_arguments(const struct settings *s, struct arguments arguments, struct err *err)
{
        bool is_dry_run = settings_bool(s, "dry-run"), has_to = settings_str(s, "to").n > 0;

        if (arguments.n != 1)
                return err_set(err, ERR_INVALID,
                               arguments.n ? "unexpected argument \"%s\"" : "give the name of a Function",
                               arguments.n ? arguments.p[1] : "");
        if (settings_bool(s, "back") && (has_to || is_dry_run || is_given(s, "percent") || is_given(s, "steps")))
                return err_set(err, ERR_INVALID, "--back goes back as a whole: give it alone");
        if (is_dry_run && !has_to)
                return err_set(err, ERR_INVALID, "--dry-run needs --to IMAGE");
        if (is_dry_run && (is_given(s, "percent") || is_given(s, "steps")))
                return err_set(err, ERR_INVALID,
                               "--dry-run selects the new revision for no composite: leave out --percent "
                               "and --steps");
        if (settings_bool(s, "with-credentials") && !is_dry_run)
                return err_set(err, ERR_INVALID, "--with-credentials is for --dry-run");
        return 0;
}

/* --- Ways --- */

static int show_state(struct api_client *api, const struct rollout_options *o, struct err *err)
{
        _cleanup_arena_ struct arena a;
        struct rollout_look look;
        int r;

        arena_init(&a, "rollout", 0);
        r = rollout_look(api, &a, o->function, &look, err);
        if (r < 0)
                return EXIT_ERROR;
        rollout_print(&look);
        return EXIT_OK;
}

static int go_back(struct api_client *api, const struct rollout_options *o, struct err *err)
{
        if (rollout_go_back(api, o->function, o->timeout_ns, err) < 0)
                return EXIT_ERROR;
        printf("All composites run on the old revision; the Function has its package again.\n");
        return EXIT_OK;
}

static int roll_out(const struct settings *settings, const struct rollout_options *o, struct err *err)
{
        _cleanup_(api_client_freep)
        struct api_client *api = NULL;

        if (api_client_new(settings, &api, err) < 0)
                return EXIT_ERROR;
        if (settings_bool(settings, "back"))
                return go_back(api, o, err);
        if (o->is_dry_run)
                return rollout_dry_run(api, o, err);
        if (o->to.n || is_given(settings, "percent") || is_given(settings, "steps"))
                return rollout_run(api, o, err);
        return show_state(api, o, err);
}

static int run(const struct command *c, const struct settings *settings, struct arguments arguments)
{
        _cleanup_err_ struct err err = { 0 };
        _cleanup_arena_ struct arena a;
        struct rollout_options o;
        int status;

        arena_init(&a, "rollout", 0);
        o = (struct rollout_options) {
                .to = settings_str(settings, "to"),
                .limits = read_limits(&a, settings),
                .timeout_ns = settings_int(settings, "timeout"),
                .is_dry_run = settings_bool(settings, "dry-run"),
                .gives_credentials = settings_bool(settings, "with-credentials"),
        };
        if (check_arguments(settings, arguments, &err) < 0 || read_steps(&a, settings, &o, &err) < 0)
                return command_print_usage_error(c, &err);
        o.function = str_from(arguments.p[0]);
        status = roll_out(settings, &o, &err);
        fflush(stdout);
        if (err.code)
                command_print_error(c, &err);
        return status;
}

const struct command command_rollout = {
        .name = "rollout",
        .summary = "Replace a function's revision gradually, and go back if it does harm",
        .arguments = "FUNCTION",
        .help = "Installs a new package of a Function of a running `weft up` and gives its revision a growing share of "
                "the "
                "composites.\n"
                "The control plane compares what becomes of them with those on the old revision. If more of them fail, "
                "take "
                "longer or\n"
                "lose resources than the limits allow, all go back to the old revision by themselves, and the command "
                "ends "
                "with\n"
                "status 1. Ctrl-C leaves the rollout as it is. `weft up` needs "
                "--feature-gates=FunctionRevisionSelectors=true.\n\n"
                "  weft rollout function-hello --to registry.example.org/me/function-hello:v2 --dry-run\n"
                "  weft rollout function-hello --to registry.example.org/me/function-hello:v2 --steps 10,50,100\n"
                "  weft rollout function-hello\n"
                "  weft rollout function-hello --back\n",
        .settings = settings_table,
        .n_settings = ARRAY_SIZE(settings_table),
        .run = run,
};
