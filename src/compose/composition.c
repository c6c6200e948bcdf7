#include "composition.h"

#include "composition-native.h"
#include "first-design.h"
#include "meta.h"

#define LABEL_NAME STR("crossplane.io/composition-name")

struct str composition_name(const struct value *composition)
{
        struct str name = meta_label(composition, LABEL_NAME);

        return str_equal(gvk_of(composition).kind, STR("CompositionRevision")) && name.n ? name
                                                                                         : meta_name(composition);
}

/* Adds the prefix of every error: `Composition "carts": ...`. */
static int fail(const struct value *composition, struct err *err)
{
        return err_wrap(err, "Composition \"%.*s\"", STR_ARG(composition_name(composition)));
}

static bool has(const struct value *object, const char *key)
{
        const struct value *v = value_get(object, str_from(key));

        return v && !value_is_null(v);
}

/* --- Mode --- */

static int check_version(const struct value *composition, struct err *err)
{
        struct str version = gvk_of(composition).version;
        const struct value *spec = value_get(composition, STR("spec"));

        if (str_equal(version, STR("v1alpha1")))
                return 0;
        if (has(spec, "from") || has(spec, "to"))
                return err_set(err, ERR_INVALID,
                               "spec.from and spec.to are fields of apiextensions.crossplane.io/v1alpha1: set that "
                               "apiVersion, or write spec.compositeTypeRef and spec.resources");
        if (version.n == 0 || str_equal(version, STR("v1")) || str_equal(version, STR("v2alpha1")))
                return 0;
        return err_set(err, ERR_UNSUPPORTED, "apiVersion \"%.*s\" is not known: use apiextensions.crossplane.io/v1",
                       STR_ARG(value_str(value_get(composition, STR("apiVersion")))));
}

/* Without spec.mode the given fields decide the mode. */
static int implied_mode(const struct value *spec, enum composition_mode *ret, struct err *err)
{
        bool has_resources = has(spec, "resources") || has(spec, "functions") || has(spec, "to");

        if (has(spec, "pipeline") && has_resources)
                return err_set(err, ERR_INVALID,
                               "it has both spec.pipeline and spec.%s and does not say which of them counts: set "
                               "spec.mode to Pipeline or to Resources",
                               has(spec, "resources") ? "resources" : "functions");
        if (!has(spec, "pipeline") && !has_resources)
                return err_set(err, ERR_INVALID,
                               "it has neither spec.pipeline nor spec.resources: nothing says what to "
                               "compose");
        *ret = has_resources ? COMPOSITION_RESOURCES : COMPOSITION_PIPELINE;
        return 0;
}

static int explicit_mode(const struct value *spec, struct str mode, enum composition_mode *ret, struct err *err)
{
        if (str_equal(mode, STR("Pipeline"))) {
                *ret = COMPOSITION_PIPELINE;
                return has(spec, "pipeline")
                               ? 0
                               : err_set(err, ERR_INVALID, "it has mode Pipeline, but no spec.pipeline: give it steps");
        }
        if (str_equal(mode, STR("Resources"))) {
                *ret = COMPOSITION_RESOURCES;
                return has(spec, "resources") || has(spec, "functions") || has(spec, "to")
                               ? 0
                               : err_set(err, ERR_INVALID,
                                         "it has mode Resources, but no spec.resources: give it some, or set spec.mode "
                                         "to Pipeline");
        }
        return err_set(err, ERR_INVALID, "spec.mode \"%.*s\" is not known: it is Pipeline or Resources", STR_ARG(mode));
}

int composition_mode(const struct value *composition, enum composition_mode *ret, struct err *err)
{
        const struct value *spec = value_get(composition, STR("spec"));
        struct str mode = value_str(value_get(spec, STR("mode")));
        int r = check_version(composition, err);

        if (r >= 0)
                r = mode.n ? explicit_mode(spec, mode, ret, err) : implied_mode(spec, ret, err);
        return r;
}

/* --- Steps --- */

static struct step step_of(const struct value *v)
{
        struct str name = value_str(value_get(v, STR("step")));

        return (struct step) {
                .name = name.n ? name : value_str(value_get(v, STR("name"))),
                .function = value_str(value_find(v, "functionRef", "name")),
                .choice = { value_str(value_find(v, "functionRevisionRef", "name")),
                            value_find(v, "functionRevisionSelector", "matchLabels") },
                .input = value_get(v, STR("input")),
                .input_ref = value_get(v, STR("inputRef")),
                .credentials = value_get(v, STR("credentials")),
                .requirements = value_get(v, STR("requirements")),
                .allowed_extra_resources = value_get(v, STR("allowedExtraResources")),
                .max_iterations = value_int(value_get(v, STR("maxIterations")), 0),
                .watches_extra_resources = value_bool(value_get(v, STR("watchExtraResources")), false),
        };
}

static void warn_of_ignored(struct composition *c, struct str name, const struct value *spec, const char *field,
                            const char *mode)
{
        if (has(spec, field))
                str_list_printf(&c->warnings, "Composition \"%.*s\" has mode %s: its spec.%s is ignored", STR_ARG(name),
                                mode, field);
}

static void read_pipeline(struct composition *c, struct str name, const struct value *spec)
{
        VALUE_FOREACH_ITEM (item, value_get(spec, STR("pipeline")))
                c->steps[c->n_steps++] = step_of(item);
        warn_of_ignored(c, name, spec, "resources", "Pipeline");
        warn_of_ignored(c, name, spec, "patchSets", "Pipeline");
        warn_of_ignored(c, name, spec, "functions", "Pipeline");
        if (value_find(spec, "environment", "patches"))
                str_list_printf(&c->warnings,
                                "Composition \"%.*s\" has mode Pipeline: its spec.environment.patches is ignored; give "
                                "it to a step of patch-and-transform",
                                STR_ARG(name));
}

static int read_resources(struct arena *a, struct composition *c, struct str name, const struct value *spec,
                          struct err *err)
{
        struct step *step = &c->steps[c->n_steps];
        int r = 0;

        if (has(spec, "resources") || value_find(spec, "environment", "patches")) {
                *step = (struct step) { .name = STR("patch-and-transform"), .function = NATIVE_PATCH_AND_TRANSFORM };
                r = native_resources_input(a, spec, &step->input, &c->is_anonymous, err);
                c->n_steps++;
        }
        if (value_count(value_get(spec, STR("functions"))))
                c->functions = value_get(spec, STR("functions"));
        warn_of_ignored(c, name, spec, "pipeline", "Resources");
        return r;
}

int composition_read(struct arena *a, const struct value *composition, struct composition *ret, struct err *err)
{
        const struct value *spec, *environment;
        struct composition c = { 0 };
        int r = composition_mode(composition, &c.mode, err);

        if (r < 0)
                return fail(composition, err);
        composition = first_design_composition(a, composition);
        spec = value_get(composition, STR("spec"));
        str_list_init(&c.warnings, a);
        c.steps = ARENA_NEW_ARRAY(a, struct step, value_count(value_get(spec, STR("pipeline"))) + 2);
        environment = native_environment_input(a, spec);
        if (environment)
                c.steps[c.n_steps++] = (struct step) {
                        .name = STR("environment-configs"),
                        .function = NATIVE_ENVIRONMENT_CONFIGS,
                        .input = environment,
                };
        switch (c.mode) {
        case COMPOSITION_PIPELINE:
                read_pipeline(&c, composition_name(composition), spec);
                break;
        case COMPOSITION_RESOURCES:
                r = read_resources(a, &c, composition_name(composition), spec, err);
                break;
        }
        if (r < 0)
                return fail(composition, err);
        *ret = c;
        return 0;
}
