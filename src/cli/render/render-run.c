#include "render-run.h"

#include "buf.h"
#include "features.h"
#include "functions.h"
#include "input.h"
#include "package-run.h"
#include "render-errors.h"
#include "render-files.h"
#include "render-print.h"
#include "render-stable.h"
#include "render-steps.h"
#include "render-tree.h"
#include "render-varies.h"
#include "yaml.h"

#include <stdio.h>

/* The state that all renders of one run share. */
struct session {
        const struct command *command;
        const struct settings *settings;
        struct arena *arena;
        struct registry *registry;
        struct package_runner *packages;
        struct render_files files;
        const struct value **revisions; /* one for each Composition; NULL until it is used */
        struct render_failures *failures;
        struct render_schemas *schemas;
        struct render_observed *observed;
        struct render_input input; /* the part that is the same for all renders */
        struct render_print_options print;
        bool wants_steps;
        bool shows_claims;
        struct str explained;     /* argument of --explain; empty: none */
        struct render_tree *tree; /* NULL unless the output is a tree */
        struct buf out;
        bool has_failed;
};

/* --- The context --- */

static int add_context(struct arena *a, struct object_builder *b, struct str pair, bool is_file, struct err *err)
{
        _cleanup_buf_ struct buf text = BUF_INIT(0);
        struct str rest = pair, key;
        const struct value *v;
        int r;

        str_split(&rest, '=', &key);
        if (is_file) {
                r = input_read(arena_cstring(a, rest), &text, err);
                if (r < 0)
                        return err_wrap(err, "cannot build context data: cannot read context value for key \"%.*s\"",
                                        STR_ARG(key));
                rest = arena_copy(a, buf_str(&text));
        }
        r = yaml_parse(a, rest, NULL, &v, err);
        if (r < 0)
                return err_wrap(err, "cannot parse context data: cannot unmarshal context value for key \"%.*s\"",
                                STR_ARG(key));
        object_builder_set(b, key, *v);
        return 0;
}

static int make_context(struct arena *a, const struct settings *settings, const struct value **ret, struct err *err)
{
        static const char *const flags[] = { "context-files", "context-values" };
        struct object_builder b;

        object_builder_init(&b, a, 4);
        for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
                struct setting_list pairs = settings_list(settings, flags[i]);

                for (size_t j = 0; j < pairs.n; j++) {
                        int r = add_context(a, &b, pairs.items[j], i == 0, err);

                        if (r < 0)
                                return r;
                }
        }
        *ret = value_put(a, object_builder_finish(&b));
        return 0;
}

/* --- Input --- */

static int load_list(struct session *s, const char *flag, const char *what, struct manifests *ret, struct err *err)
{
        struct setting_list paths = settings_list(s->settings, flag);

        return render_files_load_list(s->arena, paths.items, paths.n, what, ret, err);
}

static int load_resources(struct session *s, struct err *err)
{
        struct manifests credentials, required, extra;
        int r;

        if ((r = load_list(s, "function-credentials", "secrets", &credentials, err)) < 0 ||
            (r = load_list(s, "observed-resources", "observed composed resources", &s->files.observed, err)) < 0 ||
            (r = load_list(s, "required-resources", "required resources", &required, err)) < 0 ||
            (r = load_list(s, "extra-resources", "extra resources", &extra, err)) < 0 ||
            (r = render_observed_new(s->arena, &s->files, &s->observed, err)) < 0)
                return r;
        for (size_t i = 0; i < extra.n; i++)
                manifests_add(&required, extra.p[i]);
        for (size_t i = 0; i < s->files.required.n; i++)
                manifests_add(&required, s->files.required.p[i]);
        s->files.required = required; /* errors name places in all of them */
        render_files_warn_of_aliases(s->command, &required);
        return render_share(s->arena, render_files_list(s->arena, &required), render_files_list(s->arena, &credentials),
                            &s->input.shared, err);
}

static int start_functions(struct session *s, struct err *err)
{
        struct setting_list annotations = settings_list(s->settings, "function-annotations");
        struct setting_list targets = settings_list(s->settings, "function");
        struct render_function_options options = {
                .command = s->command,
                .targets = targets.items,
                .n_targets = targets.n,
                .packages = s->packages,
                .pull = (unsigned)settings_int(s->settings, "pull"),
                .deadline = deadline_after_ns(settings_int(s->settings, "timeout")),
        };
        int r = features_read(s->settings, &s->input.steps.features, err);

        if (r < 0 || (r = render_files_annotate(s->arena, &s->files, annotations.items, annotations.n, err)) < 0)
                return r;
        if (s->files.revisions.n > 0)
                s->input.steps.features =
                        features_with(s->input.steps.features, FEATURE_FUNCTION_REVISION_SELECTORS, true);
        registry_set_hint(s->registry, "");
        render_files_warn_of_targets(s->arena, s->command, &s->files, targets.items, targets.n);
        return render_files_register(s->arena, &s->files, &options, s->registry, &s->failures, err);
}

static int load(struct session *s, struct arguments arguments, struct err *err)
{
        struct str xrd = settings_str(s->settings, "xrd"), schemas = settings_str(s->settings, "required-schemas");
        int r = render_files_load(s->arena, arguments.p, arguments.n, xrd, &s->files, err);

        render_aside_print(&s->files.aside, s->command);
        if (r < 0 || (r = start_functions(s, err)) < 0 || (r = load_resources(s, err)) < 0 ||
            (schemas.n && (r = render_files_load_schemas(s->arena, schemas, &s->input.schemas, err)) < 0) ||
            (r = make_context(s->arena, s->settings, &s->input.context, err)) < 0)
                return r;
        s->schemas = render_schemas_new(s->arena, s->command, &s->files);
        s->revisions = ARENA_NEW_ARRAY(s->arena, const struct value *, s->files.compositions.n);
        s->input.steps.registry = s->registry;
        s->input.steps.timeout_setting = "--timeout";
        s->input.steps.run_timeout_ns = settings_int(s->settings, "timeout");
        return 0;
}

/* --- One composite --- */

/* Template files are read from the directory of the Composition that names them. */
static void open_templates(struct session *s, const struct manifest *composition)
{
        struct str path = composition->source ? composition->source->name : STR("");
        ptrdiff_t slash = str_find_last_char(path, '/');

        functions_set_template_directory(slash < 0 ? "." : arena_cstring(s->arena, str_first(path, (size_t)slash + 1)));
}

static int prepare(struct session *s, const struct manifest *composition, struct render_input *in, struct err *err)
{
        const struct value **revision = &s->revisions[composition - s->files.compositions.p];
        int r = render_failures_check(s->failures, composition->object, err);

        if (r >= 0 && !*revision && (r = render_check_composition(s->arena, s->command, composition, err)) >= 0)
                r = render_prepare(s->arena, composition->object, revision, err);
        open_templates(s, composition);
        in->composition = composition->object;
        in->revision = *revision;
        return r;
}

/* Checks the Compositions without a composite kind: such a mistake may be why no Composition fits. */
static void warn_of_compositions(struct session *s)
{
        for (size_t i = 0; i < s->files.compositions.n; i++) {
                const struct manifest *m = &s->files.compositions.p[i];
                _cleanup_err_ struct err err = { 0 };

                if (!value_find(m->object, "spec", "compositeTypeRef", "kind") && !s->has_failed &&
                    render_check_composition(s->arena, s->command, m, &err) < 0)
                        render_warn(s->command, &err);
        }
}

/* claim is NULL when it is not printed. */
static int print_one(struct session *s, struct arena *a, const struct manifest *composite, const struct value *claim,
                     const struct render_input *in, const struct render_output *out, struct err *err)
{
        int r;

        if (s->explained.n)
                return render_explain(a, &s->out, composite, out, s->explained, err);
        if (s->wants_steps)
                return render_print_steps(a, &s->out, in->composite, out, false, s->print.format == RENDER_JSON, err);
        if (claim && (r = render_claim_report(a, claim, in, out, &claim, err)) < 0)
                return r;
        if (s->tree) {
                render_tree_add(s->tree, claim, in->observed, out);
                return 0;
        }
        return render_print(a, &s->out, &s->print, claim, in->composite, out, err);
}

/* The composite needs a name or the label: the names of all composed resources are made from it. */
static int check_name(const struct manifest *composite, struct err *err)
{
        if (meta_name(composite->object).n || meta_has_label(composite->object, STR("crossplane.io/composite")))
                return 0;
        err_set(err, ERR_INVALID, "it has no name: give it one in metadata.name");
        return manifest_error(composite, STR("metadata"), err);
}

static int render_one(struct session *s, struct arena *a, size_t i, struct err *err)
{
        const struct manifest *composite = &s->files.composites.p[i], *composition;
        struct run run = {
                .arena = a,
                .deadline = deadline_after_ns(settings_int(s->settings, "timeout")),
                .cause = STR("render"),
        };
        struct render_input in = s->input;
        struct render_output out;
        int r;

        in.observed = render_observed_of(s->observed, i);
        if ((r = check_name(composite, err)) < 0)
                return r;
        if ((r = render_files_choose(&s->files, composite, &composition, err)) < 0) {
                warn_of_compositions(s);
                return r;
        }
        if ((r = render_schemas_apply(s->schemas, a, composite, &in.composite, &in.xrd, err)) < 0 ||
            (r = prepare(s, composition, &in, err)) < 0)
                return r;
        if (settings_bool(s->settings, "until-stable"))
                r = render_until_stable(&run, &in, &out, err);
        else
                r = render_composite(&run, &in, &out, err);
        if (r >= 0) {
                render_warn_of_nothing(s->command, composite, composition, &out);
                render_warn_of_chance(&run, s->command, composition, &in, &out);
                return print_one(s, a, composite, s->shows_claims ? s->files.claims[i] : NULL, &in, &out, err);
        }
        /* With --steps, print the steps until the failure. */
        if (s->wants_steps && out.n_records > 0)
                render_print_steps(a, &s->out, in.composite, &out, !out.is_fatal, s->print.format == RENDER_JSON, NULL);
        return render_locate(a, &s->files, composite, composition, &out, err);
}

static void flush(struct session *s)
{
        if (s->out.n)
                fwrite(s->out.p, 1, s->out.n, stdout);
        buf_clear(&s->out);
}

/* Whether the error already begins with the place of the composite. */
static bool names_it(struct arena *a, const struct manifest *composite, const struct err *err)
{
        struct str message = str_from(err_message(err));
        struct str object = arena_printf(a, " %.*s \"%.*s\": ", STR_ARG(gvk_of(composite->object).kind),
                                         STR_ARG(meta_name(composite->object)));

        return str_cut_prefix(&message, composite->source->name) &&
               str_find_char(message, ' ') == str_find(message, object);
}

static void add_composite(const struct manifest *composite, struct err *err)
{
        render_add_line(err, "for %.*s \"%.*s\" of %.*s", STR_ARG(gvk_of(composite->object).kind),
                        STR_ARG(meta_name(composite->object)), STR_ARG(composite->source->name));
}

static void render_next(struct session *s, struct arena *a, size_t i)
{
        _cleanup_err_ struct err err = { 0 };
        int r = render_one(s, a, i, &err);

        flush(s);
        if (r >= 0)
                return;
        /* With several composites, the error must name the composite. */
        if (s->files.composites.n > 1 && !names_it(a, &s->files.composites.p[i], &err))
                add_composite(&s->files.composites.p[i], &err);
        render_print_error(s->command, &s->files, &err);
        s->has_failed = true;
}

static void print_broken(struct session *s)
{
        for (size_t i = 0; i < s->files.broken.n; i++) {
                _cleanup_err_ struct err err = { 0 };

                err_set(&err, ERR_INVALID, "%.*s", STR_ARG(s->files.broken.p[i]));
                render_print_error(s->command, &s->files, &err);
                s->has_failed = true;
        }
}

static int render_all(struct session *s, struct arguments arguments, struct err *err)
{
        _cleanup_arena_ struct arena a;
        int r = load(s, arguments, err);

        arena_init(&a, "render", 0);
        print_broken(s);
        for (size_t i = 0; r >= 0 && i < s->files.composites.n; i++) {
                render_next(s, &a, i);
                arena_reset(&a);
        }
        if (r >= 0 && s->tree) {
                render_tree_append(s->tree, &s->out);
                flush(s);
        }
        return r;
}

int render_run(const struct command *c, const struct settings *settings, struct arguments arguments)
{
        _cleanup_arena_ struct arena a;
        _cleanup_err_ struct err err = { 0 };
        struct session s = {
                .command = c,
                .settings = settings,
                .arena = &a,
                .registry = registry_new(),
                .packages = package_runner_new(
                        &(struct package_runner_options) { .cache_directory = settings_str(settings, "cache-dir") }),
                .print = {
                        .format = (enum render_format)settings_int(settings, "output"),
                        .full_composite = settings_bool(settings, "include-full-xr"),
                        .results = settings_bool(settings, "include-function-results"),
                        .context = settings_bool(settings, "include-context"),
                },
                .wants_steps = settings_bool(settings, "steps"),
                .shows_claims = settings_bool(settings, "show-claim"),
                .explained = settings_str(settings, "explain"),
                .out = BUF_INIT(0),
        };

        arena_init(&a, "render", 0);
        if (s.print.format == RENDER_TREE && !s.wants_steps && !s.explained.n)
                s.tree = render_tree_new(&a);
        s.input.steps.wants_diff = s.wants_steps || s.explained.n || s.tree;
        if (render_all(&s, arguments, &err) < 0) {
                render_print_error(c, &s.files, &err);
                s.has_failed = true;
        }
        buf_done(&s.out);
        registry_free(s.registry);
        package_runner_free(s.packages);
        return s.has_failed ? EXIT_ERROR : EXIT_OK;
}
