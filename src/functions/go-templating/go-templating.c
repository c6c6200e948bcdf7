/* function-go-templating. The steps are, in this order: input, source, parsing, options, execution, manifests, desired state. */
#include "go-templating.h"

#include "buf.h"
#include "functions.h"
#include "gotext.h"
#include "limits.h"
#include "timetext.h"
#include "utf8.h"

struct templating_defaults templating_defaults; /* set once, before calls run */

void functions_set_templating_defaults(const struct templating_defaults *defaults)
{
        templating_defaults = *defaults;
}

static int read_option(struct str option, enum gt_missing_key *ret, struct err *err)
{
        static const char prefix[] = "cannot apply template options: panic occurred while applying template options";
        struct str value = option;

        if (value.n == 0)
                return err_set(err, ERR_INVALID, "%s: empty option string", prefix);
        if (!str_cut_prefix(&value, STR("missingkey=")))
                value = STR("");
        if (str_equal(value, STR("default")) || str_equal(value, STR("invalid")))
                *ret = GT_MISSING_INVALID;
        else if (str_equal(value, STR("zero")))
                *ret = GT_MISSING_ZERO;
        else if (str_equal(value, STR("error")))
                *ret = GT_MISSING_ERROR;
        else
                return err_set(err, ERR_INVALID, "%s: unrecognized option: %.*s", prefix, STR_ARG(option));
        return 0;
}

/* Later options win. */
static int read_options(struct templating *t, enum gt_missing_key *ret, struct err *err)
{
        const struct setting_list *defaults = &templating_defaults.options;
        const struct str *option;
        int r = 0;

        for (size_t i = 0; i < defaults->n && !t->input.options.is_set && r >= 0; i++)
                r = read_option(defaults->items[i], ret, err);
        INPUT_FOREACH (option, &t->input.options)
                if (r >= 0)
                        r = read_option(*option, ret, err);
        return r;
}

/* The function tables for each kind of input. They are constant, because parsed templates are cached by them. */
static const struct gt_func_table *const plain_tables[] = { &templating_functions, &gt_sprig_functions };
static const struct gt_func_table *const helm_tables[] = { &templating_helm_functions, &templating_functions,
                                                           &gt_sprig_functions };
static const struct gt_func_table *const seed_tables[] = { &templating_seed_functions, &templating_functions,
                                                           &gt_sprig_functions };

static struct gt_parse_options parse_options(const struct templating_input *input)
{
        struct gt_parse_options o = { .name = STR("manifests"),
                                      .tables = plain_tables,
                                      .n_tables = ARRAY_SIZE(plain_tables) };

        if (input->is_seed || (input->helm_functions.is_set && input->helm_functions.value)) {
                o.tables = input->is_seed ? seed_tables : helm_tables;
                o.n_tables = ARRAY_SIZE(helm_tables);
        }
        if (input->delims && input->delims->left.n > 0 && input->delims->right.n > 0) {
                o.left = input->delims->left;
                o.right = input->delims->right;
        }
        return o;
}

int templating_render(struct templating *t, struct str text, struct str *ret, struct err *err)
{
        struct gt_parse_options options = parse_options(&t->input);
        _cleanup_gt_template_ struct gt_template *parsed = NULL;
        _cleanup_buf_ struct buf out = BUF_INIT(LIMIT_TEMPLATE_OUTPUT_BYTES);
        struct templating_state state = { .tables = options.tables, .n_tables = options.n_tables, .data = t->data };
        struct gt_context context = {
                .arena = t->arena,
                .deadline = t->run->deadline,
                .cancel = t->run->cancel,
                .steps_left = LIMIT_TEMPLATE_STEPS,
                .user = &state,
        };
        int r = gt_parse_cached(text, &options, &parsed, err);

        if (r < 0) {
                templating_note_mistake(t, NULL, text, err->position.offset);
                return err_wrap(err, "invalid function input: cannot parse the provided templates");
        }
        r = read_options(t, &state.missing_key, err);
        if (r < 0)
                return r;
        t->rsp->is_pure = t->rsp->is_pure && gt_template_is_pure(parsed);
        r = gt_execute(parsed, &context, state.missing_key, gt_from_value(&context, t->data), &out, err);
        if (r < 0) {
                templating_note_mistake(t, &context, text, context.mistake.at);
                return err_wrap(err, "cannot execute template");
        }
        *ret = buf_to_arena(&out, t->arena);
        return 0;
}

/* An invalid duration is ignored in the input, but means 0 in the annotation. */
static void apply_ttl(struct templating *t)
{
        int64_t ns;

        if (t->input.ttl.n > 0 && duration_parse(t->input.ttl, &ns, NULL) == 0)
                t->rsp->ttl_ns = ns;
}

static void apply_ttl_annotation(struct templating *t)
{
        const struct value *v =
                value_get(value_find(t->observed, "metadata", "annotations"), TEMPLATING_ANNOTATION_TTL);
        int64_t ns = 0;

        if (!value_is_string(v))
                return;
        if (duration_parse(value_str(v), &ns, NULL) < 0)
                ns = 0;
        t->rsp->ttl_ns = ns;
}

/* Reads the request's composites and its context. */
static int open_request(struct templating *t, struct err *err)
{
        struct fn_request *req = t->req;
        int r = fn_state_open(t->arena, &req->observed, err);

        if (r == 0 && req->observed.has_composite)
                r = fn_struct_value(t->arena, &req->observed.composite.object, &t->observed, err);
        if (r == 0)
                r = fn_state_open(t->arena, &req->desired, err);
        if (r == 0 && req->desired.has_composite) {
                t->composite.connection = req->desired.composite.connection;
                r = fn_struct_value(t->arena, &req->desired.composite.object, &t->desired, err);
        }
        if (r == 0)
                r = fn_struct_value(t->arena, &req->context, &t->context, err);
        t->desired = t->desired ?: &value_empty_object;
        return r;
}

static int answer(struct templating *t, struct err *err)
{
        struct str text, rendered;
        int r = templating_read_input(t, err);

        if (r < 0)
                return r;
        apply_ttl(t);
        r = open_request(t, err);
        if (r < 0)
                return r;
        r = templating_source(t, &text, err);
        if (r < 0)
                return err_wrap(err, "invalid function input");
        t->rsp->is_pure = !t->reads_files;
        r = templating_data(t, err);
        if (r < 0)
                return err_wrap(err, "cannot convert request to map");
        r = templating_render(t, text, &rendered, err);
        if (r < 0)
                return r;
        r = templating_decode(t, rendered, err);
        if (r < 0)
                return r;
        apply_ttl_annotation(t);
        return templating_apply(t, err);
}

bool functions_input_varies(const struct value *input)
{
        _cleanup_gt_template_ struct gt_template *parsed = NULL;
        _cleanup_arena_ struct arena a;
        struct run run = { .arena = &a, .deadline = DEADLINE_NONE };
        struct fn_request req = { .input = { .value = input } };
        struct templating t = { .run = &run, .arena = &a, .req = &req };
        struct gt_parse_options options;
        struct str text;

        arena_init(&a, "input", LIMIT_TEMPLATE_TREE_BYTES);
        if (!str_equal(value_str(value_get(input, STR("kind"))), STR("GoTemplate")))
                return false;
        if (templating_read_input(&t, NULL) < 0 || !str_equal(t.input.source, STR("Inline")) ||
            templating_source(&t, &text, NULL) < 0)
                return false;
        options = parse_options(&t.input);
        return gt_parse_cached(text, &options, &parsed, NULL) == 0 && !gt_template_is_pure(parsed);
}

/* The text with U+FFFD for bytes that are not UTF-8, which a response cannot carry: a template may make any bytes, and an error may
 * quote them. */
static struct str valid_text(struct arena *a, struct str text)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        while (text.n > 0) {
                size_t n = utf8_valid_prefix(text);

                buf_append_str(&b, str_first(text, n));
                text = str_skip(text, n);
                if (text.n > 0) {
                        buf_append_literal(&b, "\xEF\xBF\xBD");
                        text = str_skip(text, 1);
                }
        }
        return buf_to_arena(&b, a);
}

static int run_go_templating(struct run *run, struct fn_request *req, struct fn_response *rsp, struct err *err _unused_)
{
        struct templating t = { .run = run, .arena = run->arena, .req = req, .rsp = rsp };
        _cleanup_err_ struct err problem = { 0 };

        fn_response_init(rsp, req);
        if (templating_defaults.has_ttl)
                rsp->ttl_ns = templating_defaults.ttl_ns;
        if (answer(&t, &problem) < 0) {
                fn_response_add_result(run->arena, rsp, FN_SEVERITY_FATAL, "%.*s",
                                       STR_ARG(valid_text(run->arena, str_from(err_message(&problem)))));
                rsp->results[rsp->n_results - 1].mistake = t.mistake;
        }
        return 0;
}

/* Not pure in general: a template may use the time or random values. Responses of other templates say that they are pure. */
const struct builtin_function function_go_templating = { .name = "function-go-templating",
                                                         .version = "v0.12.2",
                                                         .run = run_go_templating };
