/* Compositions of every shape, and what the engine makes of those that have no pipeline. Expected inputs are those that
 * `crossplane beta convert pipeline-composition` (v1.20) and `crossplane convert composition-environment` (v2.2) write; tests/interop/convert
 * compares many more. */
#include "values.h"

#include "composition.h"
#include "functions.h"
#include "render.h"
#include "yaml.h"

static const struct value *yaml(const char *what, const char *text)
{
        _cleanup_err_ struct err err = { 0 };
        const struct value *v = NULL;

        if (yaml_parse(&arena, str_from(text), NULL, &v, &err) < 0)
                test_fail(__FILE__, __LINE__, "[%s] %s: %s", what, text, err_message(&err));
        return v;
}

static const struct value *document(const char *what, const char *api_version, const char *spec)
{
        struct object_builder b;

        object_builder_init(&b, &arena, 4);
        object_builder_add(&b, STR("apiVersion"), value_of_str(str_from(api_version)));
        object_builder_add(&b, STR("kind"), value_of_literal("Composition"));
        object_builder_add(&b, STR("metadata"), *parse("{\"name\":\"carts\"}"));
        object_builder_add(&b, STR("spec"), *yaml(what, spec));
        return value_put(&arena, object_builder_finish(&b));
}

/* --- Reading --- */

static struct value steps_value(const struct composition *c)
{
        struct array_builder list;

        array_builder_init(&list, &arena, c->n_steps);
        for (size_t i = 0; i < c->n_steps; i++) {
                struct object_builder b;

                object_builder_init(&b, &arena, 3);
                object_builder_add(&b, STR("step"), value_of_str(c->steps[i].name));
                object_builder_add(&b, STR("function"), value_of_str(c->steps[i].function));
                if (c->steps[i].input)
                        object_builder_add(&b, STR("input"), *c->steps[i].input);
                array_builder_add(&list, object_builder_finish(&b));
        }
        return array_builder_finish(&list);
}

static const struct {
        const char *name;
        const char *api_version;
        const char *spec;
        enum composition_mode mode;
        const char *steps; /* YAML */
        const char *warnings;
} readings[] = {
        { "a pipeline", "apiextensions.crossplane.io/v1",
          "{mode: Pipeline, pipeline: [{step: a, functionRef: {name: f}, input: {x: 1}}]}", COMPOSITION_PIPELINE,
          "[{step: a, function: f, input: {x: 1}}]", "" },
        { "the alias of the version, no mode, and a step named by name", "apiextensions.crossplane.io/v2alpha1",
          "{pipeline: [{name: a, functionRef: {name: f}}, {name: no, step: b, functionRef: {name: g}}]}",
          COMPOSITION_PIPELINE, "[{step: a, function: f}, {step: b, function: g}]", "" },
        { "null is absent", "apiextensions.crossplane.io/v1",
          "{pipeline: [], resources: null, functions: null, mode: null, environment: null}", COMPOSITION_PIPELINE, "[]",
          "" },
        { "a pipeline ignores what belongs to the other mode", "apiextensions.crossplane.io/v1",
          "{mode: Pipeline, pipeline: [], resources: [], patchSets: [], functions: [], environment: {patches: []}}",
          COMPOSITION_PIPELINE, "[]",
          "Composition \"carts\" has mode Pipeline: its spec.resources is ignored\n"
          "Composition \"carts\" has mode Pipeline: its spec.patchSets is ignored\n"
          "Composition \"carts\" has mode Pipeline: its spec.functions is ignored\n"
          "Composition \"carts\" has mode Pipeline: its spec.environment.patches is ignored; give it to a step of "
          "patch-and-transform" },
        { "resources", "apiextensions.crossplane.io/v1",
          "{mode: Resources, pipeline: [], resources: [{name: a, base: {kind: B}}]}", COMPOSITION_RESOURCES,
          "[{step: patch-and-transform, function: 'native:patch-and-transform', input: {apiVersion: "
          "pt.fn.crossplane.io/v1beta1, kind: Resources, resources: [{name: a, base: {kind: B}}]}}]",
          "Composition \"carts\" has mode Resources: its spec.pipeline is ignored" },
        { "no mode, no names", "apiextensions.crossplane.io/v1", "{resources: [{base: {kind: A}}, {base: {kind: B}}]}",
          COMPOSITION_RESOURCES,
          "[{step: patch-and-transform, function: 'native:patch-and-transform', input: {apiVersion: "
          "pt.fn.crossplane.io/v1beta1, kind: Resources, resources: [{name: resource-0, base: {kind: A}}, {name: "
          "resource-1, base: {kind: B}}]}}]",
          "" },
        { "functions alone", "apiextensions.crossplane.io/v1", "{functions: [{name: f}]}", COMPOSITION_RESOURCES, "[]",
          "" },
        { "an environment before a pipeline", "apiextensions.crossplane.io/v1",
          "{pipeline: [{step: a, functionRef: {name: f}}], environment: {defaultData: {a: 1}, policy: {resolution: "
          "Optional, resolve: Always}, environmentConfigs: [{type: Reference, ref: {name: e}}]}}",
          COMPOSITION_PIPELINE,
          "[{step: environment-configs, function: 'native:environment-configs', input: {apiVersion: "
          "environmentconfigs.fn.crossplane.io/v1beta1, kind: Input, spec: {defaultData: {a: 1}, policy: {resolution: "
          "Optional}, environmentConfigs: [{type: Reference, ref: {name: e}}]}}}, {step: a, function: f}]",
          "" },
};

/* A resource, and what becomes of it; the same for patches wherever they stand. */
static const struct {
        const char *name;
        const char *patch;
        const char *converted;
} conversions[] = {
        { "type", "{fromFieldPath: a}", "{fromFieldPath: a, type: FromCompositeFieldPath}" },
        { "policy", "{type: T, policy: {fromFieldPath: Required}}", "{type: T, policy: {fromFieldPath: Required}}" },
        { "no options", "{type: T, policy: {mergeOptions: null}}", "{type: T, policy: {}}" },
        { "empty options", "{type: T, policy: {mergeOptions: {}}}",
          "{type: T, policy: {toFieldPath: ForceMergeObjects}}" },
        { "keep", "{type: T, policy: {mergeOptions: {keepMapValues: true}}}",
          "{type: T, policy: {toFieldPath: MergeObjects}}" },
        { "append", "{type: T, policy: {mergeOptions: {appendSlice: true}}}",
          "{type: T, policy: {toFieldPath: ForceMergeObjectsAppendArrays}}" },
        { "both",
          "{type: T, policy: {fromFieldPath: Required, mergeOptions: {appendSlice: true, keepMapValues: true}}}",
          "{type: T, policy: {fromFieldPath: Required, toFieldPath: MergeObjectsAppendArrays}}" },
        { "math",
          "{type: T, transforms: [{math: {multiply: 2}}, {type: math, math: {clampMin: 1, multiply: 2}}, {math: "
          "{type: Foo, clampMax: 1}}, {type: math}]}",
          "{type: T, transforms: [{type: math, math: {type: Multiply, multiply: 2}}, {type: math, math: {type: "
          "ClampMin, "
          "clampMin: 1, multiply: 2}}, {type: math, math: {type: Foo, clampMax: 1}}, {type: math}]}" },
        { "string",
          "{type: T, transforms: [{string: {fmt: a, convert: b}}, {string: {convert: b}}, {string: {regexp: "
          "{match: c}}}, {string: {trim: x}}, {type: string, string: 3}]}",
          "{type: T, transforms: [{type: string, string: {type: Format, fmt: a, convert: b}}, {type: string, string: "
          "{type: Convert, convert: b}}, {type: string, string: {type: Regexp, regexp: {match: c}}}, {type: string, "
          "string: {trim: x}}, {type: string, string: 3}]}" },
        { "string before math",
          "{type: T, transforms: [{math: {multiply: 2}, string: {fmt: a}}, {type: map, map: {a: "
          "b}}, a]}",
          "{type: T, transforms: [{type: string, math: {multiply: 2}, string: {type: Format, fmt: a}}, {type: map, "
          "map: "
          "{a: b}}, a]}" },
        { "what is no list", "{type: T, transforms: 3, policy: 4}", "{type: T, transforms: 3, policy: 4}" },
};

TEST(patches_are_completed_everywhere)
{
        for (size_t i = 0; i < ARRAY_SIZE(conversions); i++) {
                const char *name = conversions[i].name;
                struct composition c;
                struct str spec;

                begin();
                spec = arena_printf(&arena,
                                    "{resources: [{name: a, patches: [%s]}], patchSets: [{name: s, patches: [%s]}], "
                                    "environment: {patches: [%s]}}",
                                    conversions[i].patch, conversions[i].patch, conversions[i].patch);
                ASSERT(composition_read(&arena,
                                        document(name, "apiextensions.crossplane.io/v1", arena_cstring(&arena, spec)),
                                        &c, NULL) >= 0);
                spec = arena_printf(&arena,
                                    "{apiVersion: pt.fn.crossplane.io/v1beta1, kind: Resources, resources: [{name: a, "
                                    "patches: [%s]}], patchSets: [{name: s, patches: [%s]}], environment: {patches: "
                                    "[%s]}}",
                                    conversions[i].converted, conversions[i].converted, conversions[i].converted);
                ASSERT_INT(c.n_steps, 1);
                check_value(name, c.steps[0].input, text_of(yaml(name, arena_cstring(&arena, spec)), 0));
                end();
        }
}

/* As the engine of Crossplane 1.x inferred them (docs/spec/engine 8.2): a value before a key before a path, and a key is its own name. */
TEST(connection_details_are_completed)
{
        struct composition c;

        begin();
        ASSERT(composition_read(
                       &arena,
                       document("details", "apiextensions.crossplane.io/v1",
                                "{resources: [{name: a, connectionDetails: [{fromConnectionSecretKey: k}, {name: m, "
                                "fromFieldPath: a.b}, {name: v, value: v, fromConnectionSecretKey: k, fromFieldPath: "
                                "p}, {name: t, type: FromFieldPath, value: v, fromFieldPath: p}, {type: "
                                "FromConnectionSecretKey, fromConnectionSecretKey: l}, {}]}]}"),
                       &c, NULL) >= 0);
        check_value(
                "details",
                value_get(value_item(value_get(c.steps[0].input, STR("resources")), 0), STR("connectionDetails")),
                text_of(yaml("details",
                             "[{name: k, type: FromConnectionSecretKey, fromConnectionSecretKey: k}, {name: m, type: "
                             "FromFieldPath, fromFieldPath: a.b}, {name: v, type: FromValue, value: v, "
                             "fromConnectionSecretKey: k, fromFieldPath: p}, {name: t, type: FromFieldPath, value: "
                             "v, fromFieldPath: p}, {name: l, type: FromConnectionSecretKey, "
                             "fromConnectionSecretKey: l}, {}]"),
                        0));
        end();
}

TEST(every_shape_is_a_list_of_steps)
{
        for (size_t i = 0; i < ARRAY_SIZE(readings); i++) {
                const char *name = readings[i].name;
                _cleanup_err_ struct err err = { 0 };
                struct composition c;
                struct value steps;

                begin();
                if (composition_read(&arena, document(name, readings[i].api_version, readings[i].spec), &c, &err) < 0)
                        test_fail(__FILE__, __LINE__, "[%s] %s", name, err_message(&err));
                steps = steps_value(&c);
                ASSERT_CASE(name, c.mode == readings[i].mode);
                check_value(name, &steps, text_of(yaml(name, readings[i].steps), 0));
                ASSERT_STR_CASE(name, str_list_join(&c.warnings, STR("\n")), str_from(readings[i].warnings));
                end();
        }
}

static const struct {
        const char *name;
        const char *api_version;
        const char *spec;
        int code;
        const char *message;
} refusals[] = {
        { "both", "apiextensions.crossplane.io/v1", "{pipeline: [], resources: []}", ERR_INVALID,
          "Composition \"carts\": it has both spec.pipeline and spec.resources and does not say which of them counts: "
          "set spec.mode to Pipeline or to Resources" },
        { "both, with functions", "apiextensions.crossplane.io/v1", "{pipeline: [], functions: []}", ERR_INVALID,
          "Composition \"carts\": it has both spec.pipeline and spec.functions and does not say which of them counts: "
          "set spec.mode to Pipeline or to Resources" },
        { "neither", "apiextensions.crossplane.io/v1", "{patchSets: []}", ERR_INVALID,
          "Composition \"carts\": it has neither spec.pipeline nor spec.resources: nothing says what to compose" },
        { "a mode without its field", "apiextensions.crossplane.io/v1", "{mode: Pipeline, resources: []}", ERR_INVALID,
          "Composition \"carts\": it has mode Pipeline, but no spec.pipeline: give it steps" },
        { "the other mode without its field", "apiextensions.crossplane.io/v1", "{mode: Resources, pipeline: []}",
          ERR_INVALID,
          "Composition \"carts\": it has mode Resources, but no spec.resources: give it some, or set spec.mode to "
          "Pipeline" },
        { "an unknown mode", "apiextensions.crossplane.io/v1", "{mode: pipeline, pipeline: []}", ERR_INVALID,
          "Composition \"carts\": spec.mode \"pipeline\" is not known: it is Pipeline or Resources" },
        { "fields of the first design in a later version", "apiextensions.crossplane.io/v1", "{to: []}", ERR_INVALID,
          "Composition \"carts\": spec.from and spec.to are fields of apiextensions.crossplane.io/v1alpha1: set that "
          "apiVersion, or write spec.compositeTypeRef and spec.resources" },
        { "an unknown version", "apiextensions.crossplane.io/v3", "{pipeline: []}", ERR_UNSUPPORTED,
          "Composition \"carts\": apiVersion \"apiextensions.crossplane.io/v3\" is not known: use "
          "apiextensions.crossplane.io/v1" },
        { "names for some", "apiextensions.crossplane.io/v1", "{resources: [{name: a}, {base: {}}]}", ERR_INVALID,
          "Composition \"carts\": spec.resources[1] has no name and others have one: name all of them, or none" },
        { "a name for a later one", "apiextensions.crossplane.io/v1", "{resources: [{base: {}}, {name: a}]}",
          ERR_INVALID,
          "Composition \"carts\": spec.resources[0] has no name and others have one: name all of them, or none" },
        { "a name twice", "apiextensions.crossplane.io/v1", "{resources: [{name: a}, {name: b}, {name: a}]}",
          ERR_INVALID,
          "Composition \"carts\": spec.resources[2] has the name \"a\" of an earlier one: give each a name of its "
          "own" },
        { "nested patch sets", "apiextensions.crossplane.io/v1",
          "{resources: [{name: a}], patchSets: [{name: s, patches: [{fromFieldPath: a}, {type: PatchSet, patchSetName: "
          "t}]}]}",
          ERR_INVALID,
          "Composition \"carts\": patch 1 of patch set \"s\" is a patch set itself, which cannot be: write the patches "
          "of \"t\" here" },
        { "no list", "apiextensions.crossplane.io/v1", "{resources: {}}", ERR_INVALID,
          "Composition \"carts\": spec.resources is not a list" },
        { "no object", "apiextensions.crossplane.io/v1", "{resources: [a]}", ERR_INVALID,
          "Composition \"carts\": spec.resources[0] is not an object" },
};

TEST(what_cannot_be_run_says_why_and_what_to_do)
{
        for (size_t i = 0; i < ARRAY_SIZE(refusals); i++) {
                _cleanup_err_ struct err err = { 0 };
                struct composition c;
                int r;

                begin();
                r = composition_read(&arena, document(refusals[i].name, refusals[i].api_version, refusals[i].spec), &c,
                                     &err);
                check_error(refusals[i].name, r, &err, refusals[i].code, refusals[i].message);
                end();
        }
}

TEST(a_revision_goes_by_the_name_of_its_composition)
{
        begin();
        ASSERT_STR(composition_name(parse("{\"kind\":\"CompositionRevision\",\"metadata\":{\"name\":\"carts-1234567\","
                                          "\"labels\":{\"crossplane.io/composition-name\":\"carts\"}}}")),
                   STR("carts"));
        ASSERT_STR(composition_name(parse("{\"kind\":\"CompositionRevision\",\"metadata\":{\"name\":\"r\"}}")),
                   STR("r"));
        ASSERT_STR(composition_name(parse("{\"kind\":\"Composition\",\"metadata\":{\"name\":\"carts\",\"labels\":{"
                                          "\"crossplane.io/composition-name\":\"other\"}}}")),
                   STR("carts"));
        end();
}

/* --- Running --- */

struct rendered {
        struct registry *registry;
        struct render_output out;
};

static void render(const char *what, const char *spec, const char *observed, const char *required, struct rendered *ret,
                   struct err *err)
{
        struct run run = { .arena = &arena, .deadline = DEADLINE_NONE, .cause = STR("test") };
        const struct value *composition = document(what, "apiextensions.crossplane.io/v1", spec);
        struct render_input in = {
                .composite = yaml(what, "{apiVersion: example.org/v1, kind: App, metadata: {name: web, namespace: ns, "
                                        "labels: {stage: dev}}, spec: {size: 3, text: t}}"),
                .observed = observed ? yaml(what, observed) : NULL,
                .required = required ? yaml(what, required) : NULL,
                .steps.registry = registry_new(),
        };

        in.composition = value_with(&arena, composition, STR("spec"),
                                    value_with(&arena, value_get(composition, STR("spec")), STR("compositeTypeRef"),
                                               parse("{\"apiVersion\":\"example.org/v1\",\"kind\":\"App\"}")));
        functions_register_native(in.steps.registry);
        ret->registry = in.steps.registry;
        render_composite(&run, &in, &ret->out, err);
}

static struct str events_text(const struct render_output *out)
{
        struct str_list lines;

        str_list_init(&lines, &arena);
        for (size_t i = 0; i < out->n_events; i++)
                if (!str_equal(out->events[i].reason, STR("SelectComposition")))
                        str_list_printf(&lines, "%s %.*s", out->events[i].is_warning ? "Warning" : "Normal",
                                        STR_ARG(out->events[i].message));
        return str_list_join(&lines, STR("\n"));
}

/* The applied resources, without metadata that is always the same. */
static const struct value *specs_of(const struct render_output *out)
{
        struct object_builder b;

        object_builder_init(&b, &arena, 4);
        VALUE_FOREACH_ITEM (item, out->composed)
                object_builder_add(&b,
                                   value_str(value_find(item, "metadata", "annotations",
                                                        "crossplane.io/composition-resource-name")),
                                   *(value_get(item, STR("spec")) ?: &value_null));
        return value_put(&arena, object_builder_finish(&b));
}

#define OBSERVED(name, key, kind, more) \
        "{apiVersion: e.org/v1, kind: " kind ", metadata: {name: " name ", namespace: ns" key "}, " more "}"
#define KEY(key) ", annotations: {crossplane.io/composition-resource-name: " key "}"
#define READY    "status: {conditions: [{type: Ready, status: 'True'}]}"

static const struct {
        const char *name;
        const char *spec;
        const char *observed;
        const char *required;
        const char *composed; /* JSON: specs by key */
        size_t n_refs;
        const char *events;
        const char *ready; /* status and message of the condition */
} runs[] = {
        { "templates are patched",
          "{resources: [{name: a, base: {apiVersion: e.org/v1, kind: A, spec: {}}, patches: "
          "[{fromFieldPath: spec.size, transforms: [{type: math, math: {multiply: 2}}]}]}]}",
          NULL, NULL, "{\"a\":{\"size\":6}}", 1, "Normal Composed resource \"a\" is not yet ready",
          "False Unready resources: a" },
        { "one that cannot be rendered is skipped, and the others go on",
          "{resources: [{name: a, base: {apiVersion: e.org/v1, kind: A}, patches: [{fromFieldPath: spec.none, "
          "toFieldPath: "
          "spec.x, policy: {fromFieldPath: Required}}]}, {name: b, base: {apiVersion: e.org/v1, kind: A, spec: {b: "
          "1}}}]}",
          "[" OBSERVED("b1", KEY("b"), "A", READY) "]", NULL, "{\"b\":{\"b\":1}}", 1,
          "Warning Pipeline step \"patch-and-transform\": cannot render composed resource \"a\" "
          "\"FromCompositeFieldPath\" patch at index 0: spec.none: no such field",
          "False " },
        { "and stays what it is when it exists",
          "{resources: [{name: a, base: {apiVersion: e.org/v1, kind: A}, patches: [{fromFieldPath: spec.text, "
          "toFieldPath: "
          "spec.x, transforms: [{type: math, math: {multiply: 2}}]}]}, {name: b, base: {apiVersion: e.org/v1, kind: A, "
          "spec: {b: 1}}}]}",
          "[" OBSERVED("a1", KEY("a"), "A", READY) "," OBSERVED("b1", KEY("b"), "A", READY) "]", NULL,
          "{\"b\":{\"b\":1}}", 2,
          "Warning Pipeline step \"patch-and-transform\": cannot render composed resource \"a\" "
          "\"FromCompositeFieldPath\" patch at index 0: transform at index 0 returned error: math transform could not "
          "resolve: input is required to be a number for math transformer, got string\n"
          "Normal Composed resource \"a\" is not yet ready",
          "False " },
        { "a base without a kind is skipped", "{resources: [{name: a, base: {apiVersion: e.org/v1}}]}", NULL, NULL,
          "{}", 0,
          "Warning Pipeline step \"patch-and-transform\": cannot parse base template of composed resource \"a\": "
          "Object "
          "'Kind' is missing in '{\"apiVersion\":\"e.org/v1\"}'",
          "False " },
        { "the kind of what exists does not change", "{resources: [{name: a, base: {apiVersion: e.org/v1, kind: B}}]}",
          "[" OBSERVED("a1", KEY("a"), "A", READY) "]", NULL, "{}", 1,
          "Warning Pipeline step \"patch-and-transform\": cannot render composed resource \"a\": cannot change the "
          "kind "
          "of a composed resource from A to B (possible composed resource template mismatch)\n"
          "Normal Composed resource \"a\" is not yet ready",
          "False " },
        { "without names what exists is known by the order of references",
          "{resources: [{base: {apiVersion: e.org/v1, kind: A, spec: {i: 0}}}, {base: {apiVersion: e.org/v1, kind: B, "
          "spec: {i: 1}}}]}",
          "[" OBSERVED("a1", "", "A", READY) "," OBSERVED("b1", "", "B", READY) "]", NULL,
          "{\"resource-0\":{\"i\":0},\"resource-1\":{\"i\":1}}", 2, "", "True " },
        { "an environment, selected and patched",
          "{environment: {defaultData: {a: 1, b: 1}, environmentConfigs: [{ref: {name: one}}, {type: Selector, "
          "selector: "
          "{matchLabels: [{key: stage, valueFromFieldPath: 'metadata.labels[stage]'}]}}], patches: [{fromFieldPath: "
          "spec.size, toFieldPath: d}]}, resources: [{name: a, base: {apiVersion: e.org/v1, kind: A}, patches: "
          "[{type: CombineFromEnvironment, toFieldPath: spec.all, combine: {variables: [{fromFieldPath: a}, "
          "{fromFieldPath: b}, {fromFieldPath: c}, {fromFieldPath: d}], strategy: string, string: {fmt: '%v %v %v "
          "%v'}}}]}]}",
          NULL,
          "[{apiVersion: apiextensions.crossplane.io/v1beta1, kind: EnvironmentConfig, metadata: {name: one}, data: "
          "{b: "
          "2, c: 2}}, {apiVersion: apiextensions.crossplane.io/v1beta1, kind: EnvironmentConfig, metadata: {name: two, "
          "labels: {stage: dev}}, data: {c: 3}}]",
          "{\"a\":{\"all\":\"1 2 3 3\"}}", 1, "Normal Composed resource \"a\" is not yet ready",
          "False Unready resources: a" },
        { "an environment of default data alone",
          "{environment: {defaultData: {a: 1}}, resources: [{name: a, base: {apiVersion: e.org/v1, kind: A}, patches: "
          "[{type: FromEnvironmentFieldPath, fromFieldPath: a, toFieldPath: spec.a}]}]}",
          NULL, NULL, "{\"a\":{\"a\":1}}", 1, "Normal Composed resource \"a\" is not yet ready",
          "False Unready resources: a" },
        { "a patch to the composite that needs what is not there is told, and the rest goes on",
          "{resources: [{name: a, base: {apiVersion: e.org/v1, kind: A, spec: {i: 1}}, patches: [{type: "
          "ToCompositeFieldPath, fromFieldPath: status.none, toFieldPath: spec.none, policy: {fromFieldPath: "
          "Required}}]}]}",
          "[" OBSERVED("a1", KEY("a"), "A", READY) "]", NULL, "{\"a\":{\"i\":1}}", 1,
          "Warning Pipeline step \"patch-and-transform\": cannot render composed resource \"a\" "
          "\"ToCompositeFieldPath\" "
          "patch at index 0: ignoring 'policy.fromFieldPath: Required' because 'to' resource already exists: "
          "status.none: "
          "no such field",
          "True " },
        { "what a pipeline ignores is told", "{mode: Pipeline, pipeline: [], resources: []}", NULL, NULL, "{}", 0,
          "Warning Composition \"carts\" has mode Pipeline: its spec.resources is ignored", "True " },
};

TEST(resources_run_as_they_did_when_crossplane_had_them)
{
        for (size_t i = 0; i < ARRAY_SIZE(runs); i++) {
                const char *name = runs[i].name;
                _cleanup_err_ struct err err = { 0 };
                struct rendered r;

                begin();
                render(name, runs[i].spec, runs[i].observed, runs[i].required, &r, &err);
                if (err.code)
                        test_fail(__FILE__, __LINE__, "[%s] %s", name, err_message(&err));
                check_value(name, specs_of(&r.out), runs[i].composed);
                ASSERT_STR_CASE(name, events_text(&r.out), str_from(runs[i].events));
                ASSERT_CASE(name, value_count(value_find(r.out.composite, "spec", "crossplane", "resourceRefs")) ==
                                          runs[i].n_refs);
                ASSERT_CASE(name, value_count(r.out.deleted) == 0);
                VALUE_FOREACH_ITEM (c, value_find(r.out.composite, "status", "conditions"))
                        if (str_equal(value_str(value_get(c, STR("type"))), STR("Ready")))
                                ASSERT_STR_CASE(name,
                                                arena_printf(&arena, "%.*s %.*s",
                                                             STR_ARG(value_str(value_get(c, STR("status")))),
                                                             STR_ARG(value_str(value_get(c, STR("message"))))),
                                                str_from(runs[i].ready));
                registry_free(r.registry);
                end();
        }
}

static const struct {
        const char *name;
        const char *spec;
        const char *observed;
        const char *message;
} failures[] = {
        { "container functions", "{resources: [{name: a, base: {}}], functions: [{name: f, type: Container}]}", NULL,
          "cannot render composite resource: reconcile failed: cannot compose resources: Composition \"carts\": "
          "function \"f\" of spec.functions is a container, and containers cannot be run yet: move it to a step of "
          "spec.pipeline" },
        { "a Composition that is wrong", "{resources: [{name: a}, {}]}", NULL,
          "cannot render composite resource: reconcile failed: cannot compose resources: Composition \"carts\": "
          "spec.resources[1] has no name and others have one: name all of them, or none" },
        { "a misspelt field", "{resources: [{name: a, bse: {}}]}", NULL,
          "cannot render composite resource: cannot compose resources: pipeline step \"patch-and-transform\" returned "
          "a "
          "fatal result: cannot get Function input: cannot get function input *v1beta1.Resources from "
          "*v1.RunFunctionRequest: cannot unmarshal JSON from *structpb.Struct into *v1beta1.Resources: "
          "resources[0].bse: unknown field" },
        { "a patch to the composite that fails",
          "{resources: [{name: a, base: {apiVersion: e.org/v1, kind: A}, patches: [{type: ToCompositeFieldPath, "
          "fromFieldPath: status.x, toFieldPath: status.x, transforms: [{type: math, math: {multiply: 2}}]}]}]}",
          "[" OBSERVED("a1", KEY("a"), "A", "status: {x: t}") "]",
          "cannot render composite resource: cannot compose resources: pipeline step \"patch-and-transform\" returned "
          "a "
          "fatal result: cannot render composed resource \"a\" \"ToCompositeFieldPath\" patch at index 0: transform at "
          "index 0 returned error: math transform could not resolve: input is required to be a number for math "
          "transformer, got string" },
        { "an environment that is not there", "{environment: {environmentConfigs: [{ref: {name: one}}]}, pipeline: []}",
          NULL,
          "cannot render composite resource: cannot compose resources: pipeline step \"environment-configs\" returned "
          "a "
          "fatal result: cannot get selected environment configs: cannot process environment config \"one\" by "
          "reference, \"environment-config-0\": Required environment config \"one\" not found" },
};

TEST(what_goes_wrong_is_told)
{
        for (size_t i = 0; i < ARRAY_SIZE(failures); i++) {
                _cleanup_err_ struct err err = { 0 };
                struct rendered r;

                begin();
                render(failures[i].name, failures[i].spec, failures[i].observed, NULL, &r, &err);
                ASSERT_STR_CASE(failures[i].name, str_from(err_message(&err)), str_from(failures[i].message));
                registry_free(r.registry);
                end();
        }
}

TEST(resources_patch_any_field_of_the_composite)
{
        _cleanup_err_ struct err err = { 0 };
        struct rendered r;

        begin();
        render("patch",
               "{resources: [{name: a, base: {apiVersion: e.org/v1, kind: A}, patches: [{type: ToCompositeFieldPath, "
               "fromFieldPath: status.id, toFieldPath: spec.id}, {type: ToCompositeFieldPath, fromFieldPath: "
               "status.id, "
               "toFieldPath: 'metadata.annotations[id]'}, {type: ToCompositeFieldPath, fromFieldPath: status.id, "
               "toFieldPath: status.id}]}]}",
               "[" OBSERVED("a1", KEY("a"), "A", "status: {id: i-1}") "]", NULL, &r, &err);
        ASSERT_INT(err.code, 0);
        ASSERT_STR(value_str(value_find(r.out.composite, "spec", "id")), STR("i-1"));
        ASSERT_STR(value_str(value_find(r.out.composite, "metadata", "annotations", "id")), STR("i-1"));
        ASSERT_STR(value_str(value_find(r.out.composite, "status", "id")), STR("i-1"));
        ASSERT_INT(value_count(value_find(r.out.composite, "spec", "crossplane", "resourceRefs")), 1);
        registry_free(r.registry);
        end();
}
