/* function-patch-and-transform: composes resources from templates, patched with fields of the composite, of each other's observed state and
 * of the environment. This file is the order of things: environment first, then template after template, then the Secret; reads
 * are from observed state, writes go to desired state. The parts are in pt-*.c. */
#include "functions.h"

#include "environment.h"
#include "gotext.h"
#include "json.h"
#include "map.h"
#include "pt.h"

struct session {
        struct arena *arena;
        struct run *run;
        struct fn_request *req;
        struct fn_response *rsp;
        struct pt_input input;
        struct map sets;    /* name -> struct pt_patch_set */
        struct map desired; /* name -> struct fn_resource in the arena */
        struct pt_object observed_composite;
        struct pt_object composite;
        struct pt_object environment;
        struct pt_details details;
        bool has_skipped; /* a resource that lacks a required field */
        bool is_native;   /* the rules of `mode: Resources` */
};

/* A template while it is rendered. */
struct rendering {
        struct session *s;
        const struct pt_template *template;
        struct str quoted_name;
        bool is_observed;
        struct pt_object observed;
        struct fn_bytes_map observed_details;
        struct pt_object composed;
        bool is_ready;
        bool is_skipped;
        bool is_terminal; /* the failure of a patch to something else than the resource */
        size_t n_patches; /* so far, those of sets each on its own */
};

/* --- What is given --- */

static int read_struct(struct arena *a, const struct fn_struct *s, const struct value **ret, struct err *err)
{
        struct fn_struct copy = *s;
        int r = fn_struct_value(a, &copy, ret, err);

        if (r >= 0 && !*ret)
                *ret = &value_empty_object;
        return r;
}

static int read_states(struct session *s, struct err *err)
{
        const struct value *observed, *desired;
        int r = fn_state_open(s->arena, &s->req->observed, err);

        if (r >= 0)
                r = fn_state_open(s->arena, &s->req->desired, err);
        if (r >= 0)
                r = read_struct(s->arena, &s->req->observed.composite.object, &observed, err);
        if (r >= 0)
                r = read_struct(s->arena, &s->req->desired.composite.object, &desired, err);
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

/* Whether Kubernetes finds no group, version and kind in it. An apiVersion with several slashes hides the kind as well. */
static bool has_no_type(const struct value *object)
{
        struct str version = value_str(value_get(object, STR("apiVersion"))), rest = version, group;

        if (version.n && str_split(&rest, '/', &group) && str_find_char(rest, '/') >= 0)
                return true;
        return (version.n == 0 || str_equal(version, STR("/"))) && !pt_has_kind(object);
}

/* Ours: the input may choose EnvironmentConfigs itself, as a step of environment-configs before this one would. *ret_waits when they
 * have to be fetched first. */
static int select_environment(struct session *s, bool *ret_waits, struct err *err)
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

static int read_environment(struct session *s, struct err *err)
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

static int resolve_sets(struct session *s, struct err *err)
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

static int apply_environment_patch(struct session *s, struct pt_patch *patch, struct err *err)
{
        const struct pt_patch_type *type = pt_patch_type(patch);
        bool is_into_environment = type->to == PT_ENVIRONMENT || type->from == PT_COMPOSITE;

        return is_into_environment ? pt_apply(s->run, patch, &s->observed_composite, &s->environment, err)
                                   : pt_apply(s->run, patch, &s->environment, &s->composite, err);
}

static int patch_environment(struct session *s, struct err *err)
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

/* --- A template --- */

static int parse_base(struct rendering *t, struct err *err)
{
        static const char *const words[] = { "null", "bool", "number", "number", "string", "array", "object" };
        const struct value *base = t->template->base;
        struct str text;
        int r;

        if (!value_is_object(base))
                r = err_set(err, ERR_INVALID, "json: cannot unmarshal %s into Go value of type map[string]interface {}",
                            words[value_type(base)]);
        else
                r = value_settle(t->s->arena, base, &t->composed.root, err);
        if (r >= 0 && !pt_has_kind(base)) {
                r = json_to_str(t->s->arena, base, JSON_SORT_KEYS | JSON_RAW_SEPARATORS, &text, err);
                if (r >= 0)
                        r = err_set(err, ERR_INVALID, "Object 'Kind' is missing in '%.*s'", STR_ARG(text));
        }
        if (r < 0)
                return err_wrap(err, "cannot parse base template of composed resource %.*s", STR_ARG(t->quoted_name));
        t->composed.is_settled = true;
        return 0;
}

static int begin_composed(struct rendering *t, struct err *err)
{
        const struct fn_resource *desired;

        if (t->template->base)
                return parse_base(t, err);
        desired = map_get(&t->s->desired, t->template->name);
        if (!desired)
                return err_set(err, ERR_INVALID,
                               "composed resource %.*s has no base template, and was not produced by a previous "
                               "Function in the pipeline",
                               STR_ARG(t->quoted_name));
        t->composed = (struct pt_object) { 0 };
        return read_struct(t->s->arena, &desired->object, &t->composed.root, err);
}

/* Takes the observed value over, or removes the key where there is none. */
static const struct value *take_metadata(struct arena *a, const struct value *object, const struct value *observed,
                                         struct str key)
{
        const struct value *metadata = value_get(object, STR("metadata"));
        const struct value *v = value_get(value_get(observed, STR("metadata")), key);

        if (metadata && !value_is_object(metadata))
                return object;
        if (value_str(v).n)
                metadata = value_with(a, metadata ? metadata : &value_empty_object, key, v);
        else if (metadata)
                metadata = value_without(a, metadata, key);
        return metadata ? value_with(a, object, STR("metadata"), metadata) : object;
}

/* The name stays what it is; connection details and readiness come from what was observed. */
static int use_observed(struct rendering *t, struct err *err)
{
        const struct fn_resource *found = fn_state_find(&t->s->req->observed, t->template->name);
        _cleanup_err_ struct err problem = { 0 };
        struct session *s = t->s;
        int r;

        if (!found)
                return 0;
        r = read_struct(s->arena, &found->object, &t->observed.root, err);
        if (r < 0)
                return r;
        t->is_observed = true;
        t->composed.root = take_metadata(s->arena, t->composed.root, t->observed.root, STR("namespace"));
        t->composed.root = take_metadata(s->arena, t->composed.root, t->observed.root, STR("name"));
        pt_extract_details(&s->details, &t->template->details, &t->observed, &found->connection);
        r = pt_check_readiness(s->arena, &t->template->checks, &t->observed, &problem);
        if (r < 0)
                fn_response_add_result(s->arena, s->rsp, FN_SEVERITY_WARNING,
                                       "cannot check readiness of composed resource %.*s: %s", STR_ARG(t->quoted_name),
                                       err_message(&problem));
        t->is_ready = r > 0;
        return 0;
}

static struct pt_object *target_of(struct rendering *t, const struct pt_patch_type *type)
{
        switch (type->to) {
        case PT_COMPOSITE:
                return &t->s->composite;
        case PT_ENVIRONMENT:
                return &t->s->environment;
        case PT_COMPOSED:
                break;
        }
        return &t->composed;
}

static const struct pt_object *source_of(const struct rendering *t, const struct pt_patch_type *type)
{
        switch (type->from) {
        case PT_COMPOSITE:
                return &t->s->observed_composite;
        case PT_ENVIRONMENT:
                return &t->s->environment;
        case PT_COMPOSED:
                break;
        }
        return t->is_observed ? &t->observed : NULL;
}

/* What a patch that failed means for the template; 0 to go on with the next one. */
static int judge(struct rendering *t, const struct pt_patch *patch, size_t index, int r, struct err *problem,
                 struct err *err)
{
        struct str type = go_quote(t->s->arena, pt_patch_type_name(patch));

        if (r == ERR_NOT_FOUND && !pt_patch_is_required(patch))
                return 0;
        if (r != ERR_NOT_FOUND || (t->s->is_native && pt_patch_type(patch)->to == PT_COMPOSED)) {
                err_move(err, problem);
                t->is_terminal = pt_patch_type(patch)->to != PT_COMPOSED;
                return err_wrap(err, "cannot render composed resource %.*s %.*s patch at index %zu",
                                STR_ARG(t->quoted_name), STR_ARG(type), index);
        }
        t->is_skipped = pt_patch_type(patch)->to == PT_COMPOSED && !t->is_observed;
        if (t->is_skipped)
                fn_response_add_result(t->s->arena, t->s->rsp, FN_SEVERITY_WARNING,
                                       "not adding new composed resource %.*s to desired state because %.*s patch at "
                                       "index %zu has 'policy.fromFieldPath: Required': %s",
                                       STR_ARG(t->quoted_name), STR_ARG(type), index, err_message(problem));
        else
                fn_response_add_result(t->s->arena, t->s->rsp, FN_SEVERITY_WARNING,
                                       "cannot render composed resource %.*s %.*s patch at index %zu: ignoring "
                                       "'policy.fromFieldPath: Required' because 'to' resource already exists: %s",
                                       STR_ARG(t->quoted_name), STR_ARG(type), index, err_message(problem));
        return 0;
}

static int apply_patch(struct rendering *t, struct pt_patch *patch, struct err *err)
{
        _cleanup_err_ struct err problem = { 0 };
        const struct pt_patch_type *type = pt_patch_type(patch);
        const struct pt_object *from = source_of(t, type);
        size_t index = t->n_patches++;
        int r;

        r = bounds_check(t->s->run, err);
        if (r < 0 || !from)
                return r;
        r = pt_apply(t->s->run, patch, from, target_of(t, type), &problem);
        return r < 0 ? judge(t, patch, index, r, &problem, err) : 0;
}

static int apply_patches(struct rendering *t, const struct input_list *list, struct err *err)
{
        struct pt_patch *patches = list->p;
        int r = 0;

        for (size_t i = 0; r >= 0 && !t->is_skipped && i < list->n; i++) {
                if (pt_patch_type(&patches[i])) {
                        r = apply_patch(t, &patches[i], err);
                } else {
                        const struct pt_patch_set *set = map_get(&t->s->sets, patches[i].set_name);

                        r = apply_patches(t, &set->patches, err);
                }
        }
        return r;
}

static void set_desired(struct session *s, struct str name, const struct value *object, enum fn_ready ready)
{
        struct fn_resource *resource = ARENA_NEW(s->arena, struct fn_resource);

        *resource = (struct fn_resource) { .name = name, .object = { .value = object }, .ready = ready };
        map_set(&s->desired, name, resource);
}

/* `mode: Resources` leaves the kind of what exists alone. */
static int check_kind(const struct rendering *t, struct err *err)
{
        struct str was = value_str(value_get(t->observed.root, STR("kind")));
        struct str is = value_str(value_get(t->composed.root, STR("kind")));

        if (!t->is_observed || str_equal(was, is))
                return 0;
        return err_set(
                err, ERR_INVALID,
                "cannot render composed resource %.*s: cannot change the kind of a composed resource from %.*s to "
                "%.*s (possible composed resource template mismatch)",
                STR_ARG(t->quoted_name), STR_ARG(was), STR_ARG(is));
}

static int render_patched(struct rendering *t, struct err *err)
{
        int r = begin_composed(t, err);

        if (r >= 0)
                r = use_observed(t, err);
        if (r >= 0 && t->s->is_native)
                r = check_kind(t, err);
        return r < 0 ? r : apply_patches(t, &t->template->patches, err);
}

/* In `mode: Resources` what cannot be rendered is told and stays as it is, and the others go on. */
static void skip(struct rendering *t, const struct err *problem)
{
        fn_response_add_result(t->s->arena, t->s->rsp, FN_SEVERITY_WARNING, "%s", err_message(problem));
        t->is_skipped = true;
}

static void keep(struct session *s, struct str name)
{
        struct fn_resource *resource = ARENA_NEW(s->arena, struct fn_resource);

        *resource = (struct fn_resource) { .name = name, .object = { .value = &value_empty_object }, .is_kept = true };
        map_set(&s->desired, name, resource);
}

static int render(struct session *s, const struct pt_template *template, struct err *err)
{
        struct rendering t = { .s = s, .template = template, .quoted_name = go_quote(s->arena, template->name) };
        _cleanup_err_ struct err problem = { 0 };
        int r = bounds_check(s->run, err);

        if (r < 0)
                return r;
        r = render_patched(&t, &problem);
        if (r < 0 && (!s->is_native || t.is_terminal))
                return err_move(err, &problem);
        if (r < 0)
                skip(&t, &problem);
        if (t.is_skipped)
                s->has_skipped = true;
        else
                set_desired(s, template->name, t.composed.root, t.is_ready ? FN_READY_TRUE : FN_READY_UNSPECIFIED);
        if (t.is_skipped && s->is_native && fn_state_find(&s->req->observed, template->name))
                keep(s, template->name);
        return arena_check(s->arena, err);
}

/* --- The whole --- */

static int compose(struct session *s, struct err *err)
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
                r = render(s, &templates[i], err);
        return r;
}

/* Composites of the second generation have no secret of their own: it is composed. */
static int compose_secret(struct session *s, const struct fn_bytes_map *details, struct err *err)
{
        const struct value *composite = s->observed_composite.root, *secret;
        struct str name = value_str(value_find(composite, "metadata", "name"));
        int r;

        if (details->n == 0 || !value_find(composite, "spec", "crossplane"))
                return 0;
        r = pt_compose_secret(s->run, &s->observed_composite, s->input.secret_ref, details, &secret, err);
        if (r < 0)
                return err_wrap(err, "cannot compose connection secret");
        set_desired(s, arena_printf(s->arena, "%.*s-connection-secret", STR_ARG(name)), secret, FN_READY_TRUE);
        return 0;
}

static int compare_names(const void *a, const void *b)
{
        return str_compare(((const struct fn_resource *)a)->name, ((const struct fn_resource *)b)->name);
}

/* All desired resources again, as upstream writes them: without connection details, and an absent object as an empty one. */
static void write_resources(struct session *s, struct fn_state *state)
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
        state->resources = resources;
        state->n_resources = n;
}

static void write_response(struct session *s, const struct fn_bytes_map *details)
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

/* Upstream shares the map of the composite's connection details with the request if there is one, so what was found until a fatal
 * result stays in the response. */
static void keep_details(struct session *s)
{
        struct fn_state *state = &s->rsp->desired;

        if (s->req->desired.composite.connection.n == 0)
                return;
        *state = s->req->desired;
        state->encoded = STR_NONE;
        state->composite.connection = pt_details_finish(&s->details);
}

static int run_steps(struct session *s, struct err *problem)
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
        struct session s = { .arena = run->arena, .run = run, .req = req, .rsp = rsp, .is_native = is_native };
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
        .is_pure = true,
        .run = run_patch_and_transform,
};
