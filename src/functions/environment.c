#include "environment.h"

#include "environment-merge.h"
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

/* --- The first call: requirements --- */

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

/* --- The second call: selecting from the answers --- */

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
        r = selection_sort(c->arena, found, selector->sort_by_field_path, true, c->err);
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

/* *ret is NULL when the source selects nothing. */
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

/* Puts the data at the path. Upstream does not report what is wrong with a path; an error of Weft's own limits is reported. */
static int put_data(struct configs *c, struct str path, struct str name, const struct value *data,
                    const struct value **ret)
{
        _cleanup_err_ struct err problem = { 0 };
        int r = path_set(c->arena, &value_empty_object, path, data, ret, &problem);

        if (r >= 0)
                return 0;
        if (r == ERR_LIMIT)
                err_move(c->err, &problem);
        else
                err_set(c->err, ERR_INVALID, "cannot get data from environment config %.*s into path %.*s",
                        STR_ARG(name), STR_ARG(go_quote(c->arena, path)));
        return r;
}

/* The config's data, at the source's path. */
static int data_of(struct configs *c, const struct environment_source *source, const struct value *config,
                   const struct value **ret)
{
        const struct value *data = value_get(config, STR("data"));
        struct str name = value_str(value_find(config, "metadata", "name"));

        if (source->to_field_path.n)
                return put_data(c, source->to_field_path, name, data ?: &value_null, ret);
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

/* Collects the data of all selected configs, in the order of the sources. */
static int collect_data(struct configs *c, struct selection *const *selected, const struct value **ret, size_t *ret_n)
{
        const struct environment_source *source, *first = c->spec->sources.p;
        size_t n = 0;

        INPUT_FOREACH (source, &c->spec->sources) {
                const struct selection *s = selected[source - first];

                for (size_t i = 0; s && i < s->n; i++) {
                        int r = data_of(c, source, s->p[i], &ret[n++]);

                        if (r < 0 || (r = arena_check(c->arena, c->err)) < 0)
                                return r;
                }
        }
        *ret_n = n;
        return 0;
}

/* Configs are merged with each other first: so a null in one of them hides the values of other configs, but not the values below
 * all configs. */
static int merge_selected(struct configs *c, struct selection *const *selected, const struct value **ret)
{
        const struct value **data;
        size_t n = 0;
        int r;

        for (size_t i = 0; i < c->spec->sources.n; i++)
                n += selected[i] ? selected[i]->n : 0;
        data = ARENA_NEW_ARRAY(c->arena, const struct value *, n + 1);
        r = collect_data(c, selected, data, &n);
        if (r >= 0)
                r = environment_merge(c->arena, data, n, ret, c->err);
        return r < 0 ? err_wrap(c->err, "cannot merge environment data") : 0;
}

/* Whether Go finds no group, version and kind in the environment: they are empty, or the apiVersion has more than two parts. */
static bool has_no_kind(const struct value *environment)
{
        struct str version = value_str(value_get(environment, STR("apiVersion")));
        size_t n_slashes = 0;

        for (size_t i = 0; i < version.n; i++)
                n_slashes += version.p[i] == '/';
        if (n_slashes > 1)
                return true;
        return (version.n == 0 || str_equal(version, STR("/"))) &&
               value_str(value_get(environment, STR("kind"))).n == 0;
}

/* Adds apiVersion and kind if the environment has none. */
static const struct value *with_kind(struct arena *a, const struct value *environment)
{
        static const struct value version = { .type = VALUE_STRING,
                                              .n = sizeof("internal.crossplane.io/v1alpha1") - 1,
                                              .bytes = "internal.crossplane.io/v1alpha1" };
        static const struct value kind = { .type = VALUE_STRING,
                                           .n = sizeof("Environment") - 1,
                                           .bytes = "Environment" };

        if (!has_no_kind(environment))
                return environment;
        return value_with(a, value_with(a, environment, STR("apiVersion"), &version), STR("kind"), &kind);
}

/* The environment in the context; {} if it is not an object. */
static const struct value *existing_in(const struct value *context)
{
        const struct value *existing = value_get(context, ENVIRONMENT_KEY);

        return value_is_object(existing) ? existing : &value_empty_object;
}

/* Merges the selected data over the existing environment, and the result over the defaults. The order matters: a null in the
 * existing environment hides a default only if no config has an object there. */
static int lay_over(struct configs *c, struct selection *const *selected, const struct value *existing,
                    const struct value **ret)
{
        const struct value *over_existing[] = { existing, NULL };
        const struct value *over_defaults[] = { c->spec->default_data ?: &value_empty_object, NULL };
        int r = merge_selected(c, selected, &over_existing[1]);

        if (r >= 0)
                r = environment_merge(c->arena, over_existing, ARRAY_SIZE(over_existing), &over_defaults[1], c->err);
        if (r >= 0)
                r = environment_merge(c->arena, over_defaults, ARRAY_SIZE(over_defaults), ret, c->err);
        return r;
}

int environment_build(struct arena *a, struct fn_request *req, const struct environment_spec *spec,
                      struct fn_response *rsp, struct err *err)
{
        struct configs c = { .arena = a, .req = req, .spec = spec, .err = err };
        struct selection **selected = ARENA_NEW_ARRAY(a, struct selection *, spec->sources.n + 1);
        const struct value *environment, *context;
        int r = select_all(&c, selected);

        if (r < 0)
                return r;
        r = fn_struct_value(a, &rsp->context, &context, err);
        if (r < 0)
                return err_wrap(err, "cannot read the context");
        r = lay_over(&c, selected, existing_in(context), &environment);
        if (r < 0)
                return r;
        rsp->context = (struct fn_struct) {
                .value = value_with(a, context ?: &value_empty_object, ENVIRONMENT_KEY, with_kind(a, environment)),
        };
        return 0;
}
