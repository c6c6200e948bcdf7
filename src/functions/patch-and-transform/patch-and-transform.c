/* function-patch-and-transform: composes resources from templates, patched with fields of the composite, of each other's observed
 * state and of the environment. This file runs the parts in order: the environment, then each template (pt-render.c), then the
 * Secret. Patches read observed state and write desired state. The parts are in pt-*.c. */
#include "functions.h"

#include "desired.h"
#include "environment.h"
#include "gotext.h"
#include "pt-session.h"

/* --- Reading the request --- */

static int read_states(struct pt_session *s, struct err *err)
{
        const struct value *observed, *desired;
        int r = fn_state_open(s->arena, &s->req->observed, err);

        if (r >= 0)
                r = fn_state_open(s->arena, &s->req->desired, err);
        if (r >= 0)
                r = pt_read_struct(s->arena, &s->req->observed.composite.object, &observed, err);
        if (r >= 0)
                r = pt_read_struct(s->arena, &s->req->desired.composite.object, &desired, err);
        if (r < 0)
                return r;
        desired = value_with(s->arena, desired, STR("apiVersion"),
                             value_put(s->arena, value_of_str(value_str(value_get(observed, STR("apiVersion"))))));
        desired = value_with(s->arena, desired, STR("kind"),
                             value_put(s->arena, value_of_str(value_str(value_get(observed, STR("kind"))))));
        s->observed_composite.root = observed;
        s->composite.root = desired;
        pt_details_init(&s->details, s->arena, &s->req->desired.composite.connection);
        return 0;
}

/* Whether Kubernetes finds no group, version and kind in the object. An apiVersion with several slashes also hides the kind. */
static bool has_no_type(const struct value *object)
{
        struct str version = value_str(value_get(object, STR("apiVersion"))), rest = version, group;

        if (version.n && str_split(&rest, '/', &group) && str_find_char(rest, '/') >= 0)
                return true;
        return (version.n == 0 || str_equal(version, STR("/"))) && !pt_has_kind(object);
}

/* Weft's extension: the input may select EnvironmentConfigs itself, like a preceding step of environment-configs. *ret_waits is
 * true when they must be fetched first. */
static int select_environment(struct pt_session *s, bool *ret_waits, struct err *err)
{
        struct environment_spec spec = { 0 };
        int r;

        *ret_waits = false;
        if (!s->input.environment || !s->input.environment->sources.is_set)
                return 0;
        spec.sources = s->input.environment->sources;
        r = environment_require(s->arena, s->req, &spec, s->rsp, err);
        if (r < 0)
                return err_wrap(err, "cannot build requirements");
        *ret_waits = s->rsp->requirements.n_resources && s->req->required_resources.n == 0;
        if (*ret_waits)
                return 0;
        r = environment_build(s->arena, s->req, &spec, s->rsp, err);
        s->req->context = s->rsp->context;
        return r;
}

static int read_environment(struct pt_session *s, struct err *err)
{
        static const struct value version = { .type = VALUE_STRING,
                                              .n = 31,
                                              .bytes = "internal.crossplane.io/v1alpha1" };
        static const struct value kind = { .type = VALUE_STRING, .n = 11, .bytes = "Environment" };
        const struct value *context, *v;
        int r = fn_struct_value(s->arena, &s->req->context, &context, err);

        if (r < 0)
                return r;
        v = value_get(context, ENVIRONMENT_KEY);
        if (!value_is_object(v))
                v = &value_empty_object;
        if (has_no_type(v))
                v = value_with(s->arena, value_with(s->arena, v, STR("apiVersion"), &version), STR("kind"), &kind);
        s->environment.root = v;
        return 0;
}

static int resolve_sets(struct pt_session *s, struct err *err)
{
        struct pt_patch_set *sets = s->input.patch_sets.p;
        const struct pt_template *templates = s->input.templates.p;

        for (size_t i = 0; i < s->input.patch_sets.n; i++)
                map_set(&s->sets, sets[i].name, &sets[i]);
        for (size_t i = 0; i < s->input.templates.n; i++) {
                const struct pt_patch *patches = templates[i].patches.p;

                for (size_t j = 0; j < templates[i].patches.n; j++)
                        if (!pt_patch_type(&patches[j]) && !map_has(&s->sets, patches[j].set_name))
                                return err_set(err, ERR_INVALID, "cannot find PatchSet by name %.*s",
                                               STR_ARG(patches[j].set_name));
        }
        return 0;
}

/* --- The environment's own patches --- */

static int apply_environment_patch(struct pt_session *s, struct pt_patch *patch, struct err *err)
{
        const struct pt_patch_type *type = pt_patch_type(patch);
        bool is_into_environment = type->to == PT_ENVIRONMENT || type->from == PT_COMPOSITE;

        return is_into_environment ? pt_apply(s->run, patch, &s->observed_composite, &s->environment, err)
                                   : pt_apply(s->run, patch, &s->environment, &s->composite, err);
}

static int patch_environment(struct pt_session *s, struct err *err)
{
        struct pt_patch *patches = s->input.environment ? s->input.environment->patches.p : NULL;

        for (size_t i = 0; patches && i < s->input.environment->patches.n; i++) {
                _cleanup_err_ struct err problem = { 0 };
                int r = apply_environment_patch(s, &patches[i], &problem);
                struct str type;

                if (r >= 0 || (r == ERR_NOT_FOUND && pt_patch_is_optional(&patches[i])))
                        continue;
                type = go_quote(s->arena, pt_patch_type_name(&patches[i]));
                err_move(err, &problem);
                return err_wrap(err, "cannot apply the %.*s environment patch at index %zu", STR_ARG(type), i);
        }
        return 0;
}

/* --- The whole --- */

static int compose(struct pt_session *s, struct err *err)
{
        const struct pt_template *templates = s->input.templates.p;
        int r = resolve_sets(s, err);

        if (r < 0)
                return err_wrap(err, "cannot resolve PatchSets");
        r = read_environment(s, err);
        if (r >= 0)
                r = patch_environment(s, err);
        for (size_t i = 0; i < s->req->desired.n_resources; i++)
                map_set(&s->desired, s->req->desired.resources[i].name, (void *)&s->req->desired.resources[i]);
        for (size_t i = 0; r >= 0 && i < s->input.templates.n; i++)
                r = pt_render(s, &templates[i], err);
        return r;
}

/* Composites of Crossplane 2 (with spec.crossplane) have no connection secret of their own, so a Secret is composed. */
static int compose_secret(struct pt_session *s, const struct fn_bytes_map *details, struct err *err)
{
        const struct value *composite = s->observed_composite.root, *secret;
        struct str name = value_str(value_find(composite, "metadata", "name"));
        int r;

        if (details->n == 0 || !value_find(composite, "spec", "crossplane"))
                return 0;
        r = pt_compose_secret(s->run, &s->observed_composite, s->input.secret_ref, details, &secret, err);
        if (r < 0)
                return err_wrap(err, "cannot compose connection secret");
        pt_set_desired(s, arena_printf(s->arena, "%.*s-connection-secret", STR_ARG(name)), secret, FN_READY_TRUE);
        return 0;
}

static int compare_names(const void *a, const void *b)
{
        return str_compare(((const struct fn_resource *)a)->name, ((const struct fn_resource *)b)->name);
}

/* Writes all desired resources as upstream does: without connection details, and an absent object as an empty one. */
static void write_resources(struct pt_session *s, struct fn_state *state)
{
        struct fn_resource *resources = ARENA_NEW_ARRAY(s->arena, struct fn_resource, s->desired.n);
        size_t n = 0;

        for (struct map_entry *e = map_first(&s->desired); e; e = map_next(&s->desired, e)) {
                resources[n] = *(const struct fn_resource *)e->value;
                resources[n].connection = (struct fn_bytes_map) { 0 };
                if (!fn_struct_is_present(&resources[n].object))
                        resources[n].object.value = &value_empty_object;
                n++;
        }
        if (n)
                qsort(resources, n, sizeof(*resources), compare_names);
        desired_settle_ready(resources, n);
        state->resources = resources;
        state->n_resources = n;
}

static void write_response(struct pt_session *s, const struct fn_bytes_map *details)
{
        const struct value *context = s->req->context.value ? s->req->context.value : &value_empty_object;
        struct fn_state *state = &s->rsp->desired;

        *state = (struct fn_state) { .is_present = true, .is_open = true, .has_composite = true };
        state->composite.object.value = s->composite.root;
        state->composite.connection = *details;
        state->composite.ready = s->has_skipped ? FN_READY_FALSE : FN_READY_UNSPECIFIED;
        write_resources(s, state);
        s->rsp->context.encoded = STR_NONE;
        s->rsp->context.value = value_with(s->arena, context, ENVIRONMENT_KEY, s->environment.root);
}

/* Keeps the details that were found before a fatal result in the response: upstream does so, because it shares the map of the
 * composite's connection details with the request if there is one. */
static void keep_details(struct pt_session *s)
{
        struct fn_state *state = &s->rsp->desired;

        if (s->req->desired.composite.connection.n == 0)
                return;
        *state = s->req->desired;
        state->encoded = STR_NONE;
        state->composite.connection = pt_details_finish(&s->details);
}

static int run_steps(struct pt_session *s, struct err *problem)
{
        struct fn_bytes_map details;
        bool waits;
        int r = select_environment(s, &waits, problem);

        if (r >= 0 && waits)
                return 0;
        if (r >= 0)
                r = compose(s, problem);
        if (r >= 0) {
                details = pt_details_finish(&s->details);
                r = compose_secret(s, &details, problem);
        }
        if (r < 0)
                keep_details(s);
        else
                write_response(s, &details);
        return r;
}

static int answer(struct run *run, struct fn_request *req, struct fn_response *rsp, bool is_native, struct err *err)
{
        _cleanup_err_ struct err problem = { 0 };
        struct pt_session s = { .arena = run->arena, .run = run, .req = req, .rsp = rsp, .is_native = is_native };
        int r;

        fn_response_init(rsp, req);
        r = fn_input_read(run->arena, req, &pt_input_type, "Resources", &s.input, &problem);
        if (r < 0) {
                err_wrap(&problem, "cannot get Function input");
        } else {
                r = pt_validate(run, &s.input, &problem);
                if (r < 0)
                        err_wrap(&problem, "invalid Function input");
        }
        if (r >= 0) {
                if (read_states(&s, err) < 0)
                        return ERR_INVALID;
                r = run_steps(&s, &problem);
        }
        map_done(&s.sets);
        map_done(&s.desired);
        if (r < 0)
                fn_response_add_result(run->arena, rsp, FN_SEVERITY_FATAL, "%s", err_message(&problem));
        return 0;
}

static int run_patch_and_transform(struct run *run, struct fn_request *req, struct fn_response *rsp, struct err *err)
{
        return answer(run, req, rsp, false, err);
}

static int run_native(struct run *run, struct fn_request *req, struct fn_response *rsp, struct err *err)
{
        return answer(run, req, rsp, true, err);
}

const struct builtin_function function_native_patch_and_transform = {
        .name = "native:patch-and-transform",
        .is_pure = true,
        .run = run_native,
};

const struct builtin_function function_patch_and_transform = {
        .name = "function-patch-and-transform",
        .version = "v0.10.8",
        .is_pure = true,
        .run = run_patch_and_transform,
};
