/* function-extra-resources: asks for resources and puts them into the context (docs/spec/functions 4.3). */
#include "functions.h"

#include "gotext.h"
#include "selection.h"

#define DEFAULT_KEY STR("apiextensions.crossplane.io/extra-resources")

struct extra_source {
        struct str type;
        struct str into;
        struct str kind;
        struct str api_version;
        struct str ns;
        struct selection_ref *ref;
        struct selection_selector *selector;
};

struct extra_context {
        struct str key;
};

struct extra_spec {
        struct extra_context *context;
        struct selection_policy *policy;
        struct input_list sources; /* struct extra_source */
};

struct extra_input {
        struct extra_spec *spec;
        struct extra_spec *selectors; /* older name of spec: kind ExtraResourceSelectors */
};

static const struct input_field selector_fields[] = { SELECTION_SELECTOR_FIELDS };
static const struct input_type selector_type = INPUT_TYPE(struct selection_selector, selector_fields);

static const struct input_field source_fields[] = {
        { "type", INPUT_STRING, offsetof(struct extra_source, type) },
        { "into", INPUT_STRING, offsetof(struct extra_source, into) },
        { "kind", INPUT_STRING, offsetof(struct extra_source, kind) },
        { "apiVersion", INPUT_STRING, offsetof(struct extra_source, api_version) },
        { "namespace", INPUT_STRING, offsetof(struct extra_source, ns) },
        { "ref", INPUT_OBJECT, offsetof(struct extra_source, ref), &selection_ref_type },
        { "selector", INPUT_OBJECT, offsetof(struct extra_source, selector), &selector_type },
};
static const struct input_type source_type = INPUT_TYPE(struct extra_source, source_fields);

static const struct input_field context_fields[] = {
        { "key", INPUT_STRING, offsetof(struct extra_context, key) },
};
static const struct input_type context_type = INPUT_TYPE(struct extra_context, context_fields);

static const struct input_field spec_fields[] = {
        { "context", INPUT_OBJECT, offsetof(struct extra_spec, context), &context_type },
        { "policy", INPUT_OBJECT, offsetof(struct extra_spec, policy), &selection_policy_type },
        { "extraResources", INPUT_OBJECTS, offsetof(struct extra_spec, sources), &source_type },
};
static const struct input_type spec_type = INPUT_TYPE(struct extra_spec, spec_fields);

static const struct input_field input_fields[] = {
        { "spec", INPUT_OBJECT, offsetof(struct extra_input, spec), &spec_type },
        { "extraResourceSelectors", INPUT_OBJECT, offsetof(struct extra_input, selectors), &spec_type },
};
static const struct input_type input_type = INPUT_TYPE(struct extra_input, input_fields);

/* --- The first call: requirements --- */

static int build_requirements(struct arena *a, struct fn_request *req, const struct extra_spec *spec,
                              struct fn_response *rsp, struct err *err)
{
        struct selection_source *sources = ARENA_NEW_ARRAY(a, struct selection_source, spec->sources.n + 1);
        const struct extra_source *source;
        size_t n = 0;

        INPUT_FOREACH (source, &spec->sources)
                sources[n++] = (struct selection_source) {
                        .label = go_quote(a, source->into),
                        .type = source->type,
                        .ref = source->ref,
                        .selector = source->selector,
                        .wanted = { .name = source->into,
                                    .api_version = source->api_version,
                                    .kind = source->kind,
                                    .ns = source->ns },
                };
        return selection_require(a, req, sources, n, rsp, err);
}

/* --- The second call: the answers --- */

static int check_reference(struct arena *a, const struct extra_spec *spec, const struct extra_source *source,
                           const struct selection *found, struct err *err)
{
        struct str name = go_quote(a, source->into);

        if (found->n > 1)
                return err_set(err, ERR_INVALID, "expected exactly one extra resource %.*s, got %zu", STR_ARG(name),
                               found->n);
        if (found->n == 0 && !selection_is_optional(spec->policy))
                return err_set(err, ERR_INVALID, "Required extra resource %.*s not found", STR_ARG(name));
        return 0;
}

static int check_selector(struct arena *a, const struct extra_source *source, struct selection *found, struct err *err)
{
        const struct selection_selector *selector = source->selector;
        int r;

        if (selector->min_match.is_set && found->n < (uint64_t)selector->min_match.value)
                return err_set(err, ERR_INVALID, "expected at least %lld extra resources %.*s, got %zu",
                               (long long)selector->min_match.value, STR_ARG(go_quote(a, source->into)), found->n);
        r = selection_sort(a, found, selector->sort_by_field_path, false, err);
        if (r < 0)
                return r;
        selection_cut(found, selector);
        return 0;
}

/* Returns 1 when the source's resources go into the context. */
static int check_source(struct arena *a, struct fn_request *req, const struct extra_spec *spec,
                        const struct extra_source *source, struct selection **ret, struct err *err)
{
        int r = selection_find(a, req, source->into, ret, err);

        if (r < 0)
                return r;
        if (!*ret)
                return err_set(err, ERR_INVALID, "cannot find expected extra resource %.*s",
                               STR_ARG(go_quote(a, source->into)));
        switch (selection_type(source->type)) {
        case SELECTION_REFERENCE:
                r = check_reference(a, spec, source, *ret, err);
                return r < 0 ? r : (*ret)->n > 0;
        case SELECTION_SELECTOR:
                r = check_selector(a, source, *ret, err);
                return r < 0 ? r : 1;
        case SELECTION_UNKNOWN:
                break;
        }
        return 1;
}

static int collect(struct arena *a, struct fn_request *req, const struct extra_spec *spec, struct value *ret,
                   struct err *err)
{
        const struct extra_source *source;
        struct object_builder b;

        object_builder_init(&b, a, spec->sources.n);
        INPUT_FOREACH (source, &spec->sources) {
                struct array_builder list;
                struct selection *found;
                int r = check_source(a, req, spec, source, &found, err);

                if (r < 0)
                        return r;
                if (r == 0)
                        continue;
                array_builder_init(&list, a, found->n);
                for (size_t i = 0; i < found->n; i++)
                        array_builder_add(&list, *found->p[i]);
                object_builder_set(&b, source->into.p ? source->into : STR(""), array_builder_finish(&list));
        }
        *ret = object_builder_finish(&b);
        return 0;
}

static int answer(struct arena *a, struct fn_request *req, struct fn_response *rsp, struct err *err)
{
        static const struct extra_spec nothing;
        struct extra_input input = { 0 };
        const struct extra_spec *spec;
        const struct value *context;
        struct value resources;
        int r = fn_input_read(a, req, &input_type, "Input", &input, err);

        if (r < 0)
                return err_wrap(err, "cannot get Function input from *v1.RunFunctionRequest");
        spec = input.spec ?: input.selectors ?: &nothing;
        r = build_requirements(a, req, spec, rsp, err);
        if (r < 0)
                return err_wrap(err, "could not build extra resource requirements");
        if (req->required_resources.n == 0)
                return 0;
        r = collect(a, req, spec, &resources, err);
        if (r < 0)
                return err_wrap(err, "verifying and sorting extra resources");
        r = fn_struct_value(a, &rsp->context, &context, err);
        if (r < 0)
                return err_wrap(err, "cannot read the context");
        rsp->context = (struct fn_struct) {
                .value = value_with(a, context ?: &value_empty_object,
                                    spec->context && spec->context->key.p ? spec->context->key : DEFAULT_KEY,
                                    value_put(a, resources)),
        };
        return 0;
}

static int run_extra_resources(struct run *run, struct fn_request *req, struct fn_response *rsp,
                               struct err *err _unused_)
{
        _cleanup_err_ struct err problem = { 0 };

        fn_response_init(rsp, req);
        if (answer(run->arena, req, rsp, &problem) < 0)
                fn_response_add_result(run->arena, rsp, FN_SEVERITY_FATAL, "%s", err_message(&problem));
        return 0;
}

const struct builtin_function function_extra_resources = {
        .name = "function-extra-resources",
        .version = "v0.3.0",
        .is_pure = true,
        .run = run_extra_resources,
};
