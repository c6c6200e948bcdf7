#include "environment.h"

#include "gotext.h"
#include "path.h"

static const struct input_field selector_fields[] = {
        { "mode", INPUT_STRING, offsetof(struct selection_selector, mode) },
        SELECTION_SELECTOR_FIELDS,
};
static const struct input_type selector_type = INPUT_TYPE(struct selection_selector, selector_fields);

static const struct input_field source_fields[] = {
        { "type", INPUT_STRING, offsetof(struct environment_source, type) },
        { "ref", INPUT_OBJECT, offsetof(struct environment_source, ref), &selection_ref_type },
        { "toFieldPath", INPUT_STRING, offsetof(struct environment_source, to_field_path) },
        { "selector", INPUT_OBJECT, offsetof(struct environment_source, selector), &selector_type },
};
const struct input_type environment_source_type = INPUT_TYPE(struct environment_source, source_fields);

/* One call. */
struct configs {
        struct arena *arena;
        struct fn_request *req;
        const struct environment_spec *spec;
        struct err *err;
};

static struct str requirement_name(struct arena *a, size_t i)
{
        return arena_printf(a, "environment-config-%zu", i);
}

/* --- The first call: what is needed --- */

int environment_require(struct arena *a, struct fn_request *req, const struct environment_spec *spec,
                        struct fn_response *rsp, struct err *err)
{
        struct selection_source *sources = ARENA_NEW_ARRAY(a, struct selection_source, spec->sources.n + 1);
        const struct environment_source *source;
        size_t n = 0;

        INPUT_FOREACH (source, &spec->sources) {
                sources[n] = (struct selection_source) {
                        .label = arena_printf(a, "entry %zu", n),
                        .type = source->type,
                        .ref = source->ref,
                        .selector = source->selector,
                        .wanted = { .name = requirement_name(a, n),
                                    .api_version = STR("apiextensions.crossplane.io/v1beta1"),
                                    .kind = STR("EnvironmentConfig") },
                };
                n++;
        }
        return selection_require(a, req, sources, n, rsp, err);
}

/* --- The second: what came --- */

static int select_reference(struct configs *c, const struct environment_source *source, struct selection *found)
{
        struct str name = go_quote(c->arena, source->ref->name);

        if (found->n > 1)
                return err_set(c->err, ERR_INVALID, "expected exactly one required resource %.*s, got %zu",
                               STR_ARG(name), found->n);
        if (found->n == 0 && !selection_is_optional(c->spec->policy))
                return err_set(c->err, ERR_INVALID, "Required environment config %.*s not found", STR_ARG(name));
        return 0;
}

static int select_multiple(struct configs *c, const struct selection_selector *selector, struct selection *found)
{
        int r;

        if (selector->min_match.is_set && found->n < (uint64_t)selector->min_match.value)
                return err_set(c->err, ERR_INVALID, "expected at least %lld required resources, got %zu",
                               (long long)selector->min_match.value, found->n);
        r = selection_sort(c->arena, found, selector->sort_by_field_path, c->err);
        if (r < 0)
                return r;
        selection_cut(found, selector);
        return 0;
}

static int select_by_labels(struct configs *c, const struct selection_selector *selector, struct selection *found)
{
        if (str_equal(selector->mode, STR("Multiple")))
                return select_multiple(c, selector, found);
        if (selector->mode.n && !str_equal(selector->mode, STR("Single")))
                return err_set(c->err, ERR_INVALID, "unknown selector mode %.*s",
                               STR_ARG(go_quote(c->arena, selector->mode)));
        if (found->n != 1)
                return err_set(c->err, ERR_INVALID, "expected exactly one required resource, got %zu", found->n);
        return 0;
}

/* *ret is NULL when the entry selects nothing. */
static int select_source(struct configs *c, size_t i, const struct environment_source *source, struct selection **ret)
{
        struct str name = requirement_name(c->arena, i);
        enum selection_type type = selection_type(source->type);
        int r = selection_find(c->arena, c->req, name, ret, c->err);

        if (r < 0)
                return r;
        if (type == SELECTION_UNKNOWN)
                *ret = NULL;
        if (!*ret)
                return 0;
        if (type == SELECTION_REFERENCE) {
                r = select_reference(c, source, *ret);
                return r < 0 ? err_wrap(c->err, "cannot process environment config %.*s by reference, %.*s",
                                        STR_ARG(go_quote(c->arena, source->ref->name)),
                                        STR_ARG(go_quote(c->arena, name)))
                             : 0;
        }
        r = select_by_labels(c, source->selector, *ret);
        return r < 0 ? err_wrap(c->err, "cannot process environment config %.*s by selector",
                                STR_ARG(go_quote(c->arena, name)))
                     : 0;
}

static int select_all(struct configs *c, struct selection **selected)
{
        const struct environment_source *source, *first = c->spec->sources.p;

        INPUT_FOREACH (source, &c->spec->sources) {
                int r = select_source(c, (size_t)(source - first), source, &selected[source - first]);

                if (r < 0)
                        return err_wrap(c->err, "cannot get selected environment configs");
        }
        return 0;
}

/* --- The environment --- */

static int merge(struct configs *c, const struct value **environment, const struct value *data)
{
        static const struct merge_options options;

        return merge_values(c->arena, *environment, data, &options, environment, c->err);
}

/* The config's data, at its place. */
static int data_of(struct configs *c, const struct environment_source *source, const struct value *config,
                   const struct value **ret)
{
        const struct value *data = value_get(config, STR("data"));
        struct str name = value_str(value_find(config, "metadata", "name"));

        if (source->to_field_path.n) {
                if (path_set(c->arena, &value_empty_object, source->to_field_path, data ?: &value_null, ret, NULL) >= 0)
                        return 0;
                return err_set(c->err, ERR_INVALID, "cannot get data from environment config %.*s into path %.*s",
                               STR_ARG(name), STR_ARG(go_quote(c->arena, source->to_field_path)));
        }
        name = go_quote(c->arena, name);
        if (!data)
                return err_set(c->err, ERR_INVALID, "cannot get data from environment config %.*s: data: no such field",
                               STR_ARG(name));
        if (!value_is_object(data) && !value_is_null(data))
                return err_set(c->err, ERR_INVALID,
                               "cannot get data from environment config %.*s: cannot unmarshal value from JSON: json: "
                               "cannot unmarshal %s into Go value of type map[string]interface {}",
                               STR_ARG(name), go_json_type(data));
        *ret = value_is_null(data) ? &value_empty_object : data;
        return 0;
}

static int merge_selected(struct configs *c, struct selection *const *selected, const struct value **environment)
{
        const struct environment_source *source, *first = c->spec->sources.p;

        INPUT_FOREACH (source, &c->spec->sources) {
                const struct selection *s = selected[source - first];

                for (size_t i = 0; s && i < s->n; i++) {
                        const struct value *data;

                        if (data_of(c, source, s->p[i], &data) < 0 || merge(c, environment, data) < 0 ||
                            arena_check(c->arena, c->err) < 0)
                                return err_wrap(c->err, "cannot merge environment data");
                }
        }
        return 0;
}

/* It looks like an object of a kind, unless it has one or the other already. */
static const struct value *with_kind(struct arena *a, const struct value *environment)
{
        static const struct value version = { .type = VALUE_STRING,
                                              .n = sizeof("internal.crossplane.io/v1alpha1") - 1,
                                              .bytes = "internal.crossplane.io/v1alpha1" };
        static const struct value kind = { .type = VALUE_STRING,
                                           .n = sizeof("Environment") - 1,
                                           .bytes = "Environment" };

        if (value_str(value_get(environment, STR("apiVersion"))).n || value_str(value_get(environment, STR("kind"))).n)
                return environment;
        return value_with(a, value_with(a, environment, STR("apiVersion"), &version), STR("kind"), &kind);
}

int environment_build(struct arena *a, struct fn_request *req, const struct environment_spec *spec,
                      struct fn_response *rsp, struct err *err)
{
        struct configs c = { .arena = a, .req = req, .spec = spec, .err = err };
        struct selection **selected = ARENA_NEW_ARRAY(a, struct selection *, spec->sources.n + 1);
        const struct value *environment = spec->default_data ?: &value_empty_object, *context, *existing;
        int r = select_all(&c, selected);

        if (r < 0)
                return r;
        r = fn_struct_value(a, &rsp->context, &context, err);
        if (r < 0)
                return err_wrap(err, "cannot read the context");
        existing = value_get(context, ENVIRONMENT_KEY);
        if (value_is_object(existing))
                r = merge(&c, &environment, existing);
        if (r >= 0)
                r = merge_selected(&c, selected, &environment);
        if (r < 0)
                return r;
        rsp->context = (struct fn_struct) {
                .value = value_with(a, context ?: &value_empty_object, ENVIRONMENT_KEY, with_kind(a, environment)),
        };
        return 0;
}
