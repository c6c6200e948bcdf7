#include "function-test.h"

#define FUNCTION             "function-environment-configs"
#define CONFIGS(entries)     "{spec: {environmentConfigs: [" entries "]}}"
#define NEEDS(entries)       "requirements: {resources: {" entries "}}"
#define KIND                 "apiVersion: apiextensions.crossplane.io/v1beta1, kind: EnvironmentConfig"
#define XR                   "observed: {composite: {resource: {spec: {x: hello, num: 5, z: null}}}}"
#define CONFIG(name, data)   "{resource: {metadata: {name: " name "}, data: " data "}}"
#define FOUND(items)         "requiredResources: {environment-config-0: {items: [" items "]}}"
#define HEAD                 "apiVersion: internal.crossplane.io/v1alpha1, kind: Environment"
#define ENVIRONMENT(members) "context: {apiextensions.crossplane.io/environment: {" members "}}"

TEST(asks_for_configs)
{
        static const struct function_case cases[] = {
                { "no input", NULL, "{meta: {tag: t}, desired: {composite: {}}, context: {a: 1}}",
                  "{meta: {tag: t, ttl: 60s}, desired: {composite: {}}, context: {a: 1}}" },
                { "no spec", "{}", "{}", "{}" },
                { "no configs", "{spec: {defaultData: {a: 1}}}", "{}", "{}" },
                { "null configs", "{spec: {environmentConfigs: null}}", "{}", "{}" },
                { "empty list", CONFIGS(""), "{}", "{requirements: {}}" },
                { "members of every object",
                  "{apiVersion: x, kind: 'y', metadata: {name: a}, spec: {environmentConfigs: []}}", "{}",
                  "{requirements: {}}" },
                { "reference by default", CONFIGS("{ref: {name: a}}"), "{}",
                  "{" NEEDS("environment-config-0: {" KIND ", matchName: a}") "}" },
                { "reference", CONFIGS("{type: Reference, ref: {name: a}}, {type: Reference, ref: {name: b}}"), "{}",
                  "{" NEEDS("environment-config-0: {" KIND ", matchName: a}, environment-config-1: {" KIND
                            ", matchName: b}") "}" },
                { "unknown type", CONFIGS("{type: Foo}, {ref: {name: b}}"), "{}",
                  "{" NEEDS("environment-config-1: {" KIND ", matchName: b}") "}" },
                { "label from the XR by default",
                  CONFIGS("{type: Selector, selector: {matchLabels: [{key: k, valueFromFieldPath: spec.x}]}}"),
                  "{" XR "}", "{" NEEDS("environment-config-0: {" KIND ", matchLabels: {labels: {k: hello}}}") "}" },
                { "labels of both types, the last of a key",
                  CONFIGS("{type: Selector, selector: {matchLabels: [{type: Value, key: z, value: v}, {type: "
                          "FromCompositeFieldPath, key: k, valueFromFieldPath: spec.x}, {type: Value, key: a, value: "
                          "''}, {type: Value, key: z, value: w}]}}"),
                  "{" XR "}",
                  "{" NEEDS("environment-config-0: {" KIND ", matchLabels: {labels: {k: hello, z: w, a: ''}}}") "}" },
                { "optional labels are left out",
                  CONFIGS("{type: Selector, selector: {matchLabels: [{key: k, valueFromFieldPath: spec.q, "
                          "fromFieldPathPolicy: Optional}, {key: num, valueFromFieldPath: spec.num, "
                          "fromFieldPathPolicy: "
                          "Optional}, {key: p, valueFromFieldPath: 'spec[', fromFieldPathPolicy: Optional}, {type: "
                          "Value, key: z, value: v}]}}"),
                  "{" XR "}", "{" NEEDS("environment-config-0: {" KIND ", matchLabels: {labels: {z: v}}}") "}" },
                { "a selector without labels is not asked for",
                  CONFIGS("{type: Selector, selector: {matchLabels: [{key: k, valueFromFieldPath: spec.q, "
                          "fromFieldPathPolicy: Optional}, {type: Other, key: o, value: v}]}}, {type: Selector, "
                          "selector: {}}"),
                  "{}", "{requirements: {}}" },
                { "extra resources do not count as answers", CONFIGS("{ref: {name: a}}"),
                  "{extraResources: {environment-config-0: {items: []}}}",
                  "{" NEEDS("environment-config-0: {" KIND ", matchName: a}") "}" },
        };

        CHECK_CASES(FUNCTION, cases);
}

TEST(refuses_what_it_cannot_ask_for)
{
        static const struct function_case cases[] = {
                { "missing",
                  CONFIGS("{type: Selector, selector: {matchLabels: [{key: k, valueFromFieldPath: spec.q}]}}"),
                  "{" XR "}",
                  "cannot build requirements: cannot get value from field path \"spec.q\": spec.q: no such field" },
                { "without an XR",
                  CONFIGS("{type: Selector, selector: {matchLabels: [{key: k, valueFromFieldPath: spec.q}]}}"), "{}",
                  "cannot build requirements: cannot get value from field path \"spec.q\": spec: no such field" },
                { "no string",
                  CONFIGS("{type: Selector, selector: {matchLabels: [{key: k, valueFromFieldPath: spec.num}]}}"),
                  "{" XR "}",
                  "cannot build requirements: cannot get value from field path \"spec.num\": spec.num: not a string" },
                { "null",
                  CONFIGS("{type: Selector, selector: {matchLabels: [{key: k, valueFromFieldPath: spec.z, "
                          "fromFieldPathPolicy: Required}]}}"),
                  "{" XR "}",
                  "cannot build requirements: cannot get value from field path \"spec.z\": spec.z: not a string" },
                { "syntax",
                  CONFIGS("{type: Selector, selector: {matchLabels: [{key: k, valueFromFieldPath: 'spec['}]}}"),
                  "{" XR "}",
                  "cannot build requirements: cannot get value from field path \"spec[\": cannot parse path \"spec[\": "
                  "unterminated '[' at position 4" },
                { "no path", CONFIGS("{type: Selector, selector: {matchLabels: [{key: k}]}}"), "{}",
                  "cannot build requirements: ValueFromFieldPath cannot be nil for type 'FromCompositeFieldPath'" },
                { "no value", CONFIGS("{type: Selector, selector: {matchLabels: [{type: Value, key: k}]}}"), "{}",
                  "cannot build requirements: Value cannot be nil for type 'Value'" },
                { "no ref", CONFIGS("{ref: {name: a}}, {}"), "{}",
                  "cannot build requirements: ref cannot be nil for type 'Reference' of entry 1" },
                { "no selector", CONFIGS("{type: Selector}"), "{}",
                  "cannot build requirements: selector cannot be nil for type 'Selector' of entry 0" },
        };

        CHECK_FATAL(FUNCTION, cases);
}

TEST(reads_its_input_strictly)
{
#define PREFIX                                                                                                  \
        "cannot get Function input from *v1.RunFunctionRequest: cannot get function input *v1beta1.Input from " \
        "*v1.RunFunctionRequest: cannot unmarshal JSON from *structpb.Struct into *v1beta1.Input: "
        static const struct function_case cases[] = {
                { "unknown", "{spec: {foo: 1}}", "{}", PREFIX "spec.foo: unknown field" },
                { "deep", CONFIGS("{ref: {named: a}}"), "{}",
                  PREFIX "spec.environmentConfigs[0].ref.named: unknown field" },
                { "no object", "{spec: {defaultData: 1}}", "{}", PREFIX "spec.defaultData: must be an object" },
                { "negative", CONFIGS("{selector: {minMatch: -1}}"), "{}",
                  PREFIX "spec.environmentConfigs[0].selector.minMatch: must not be negative" },
                { "fraction", CONFIGS("{selector: {maxMatch: 1.5}}"), "{}",
                  PREFIX "spec.environmentConfigs[0].selector.maxMatch: must be an integer" },
        };

        CHECK_FATAL(FUNCTION, cases);
}

#define BY_NAME       CONFIGS("{ref: {name: a}}")
#define BY_NAME_NEEDS NEEDS("environment-config-0: {" KIND ", matchName: a}")
#define MULTIPLE(members)                                                                                            \
        CONFIGS("{type: Selector, selector: {mode: Multiple, matchLabels: [{type: Value, key: k, value: v}]" members \
                "}}")
#define SINGLE(members) \
        CONFIGS("{type: Selector, selector: {matchLabels: [{type: Value, key: k, value: v}]" members "}}")
#define BY_LABEL_NEEDS NEEDS("environment-config-0: {" KIND ", matchLabels: {labels: {k: v}}}")

TEST(makes_the_environment)
{
        static const struct function_case cases[] = {
                { "one by reference", BY_NAME, "{" FOUND(CONFIG("a", "{x: 1, l: [1]}")) "}",
                  "{" BY_NAME_NEEDS ", " ENVIRONMENT(HEAD ", x: 1, l: [1]") "}" },
                { "required ones of others alone", BY_NAME, "{requiredResources: {other: {items: []}}}",
                  "{" BY_NAME_NEEDS ", " ENVIRONMENT(HEAD) "}" },
                { "optional and not there",
                  "{spec: {policy: {resolution: Optional}, defaultData: {d: 1}, environmentConfigs: [{ref: {name: "
                  "a}}]}}",
                  "{" FOUND("") "}", "{" BY_NAME_NEEDS ", " ENVIRONMENT(HEAD ", d: 1") "}" },
                { "an empty list goes on too", "{spec: {defaultData: {d: 1}, environmentConfigs: []}}",
                  "{requiredResources: {other: {items: []}}}", "{requirements: {}, " ENVIRONMENT(HEAD ", d: 1") "}" },
                { "defaults, then what is there, then configs",
                  "{spec: {defaultData: {a: 1, b: 1, c: 1, o: {p: 1, q: 1}}, environmentConfigs: [{ref: {name: a}}]}}",
                  "{context: {other: 1, apiextensions.crossplane.io/environment: {b: 2, c: 2, o: {q: 2, r: "
                  "2}}}, " FOUND(CONFIG("a", "{c: 3, o: {r: 3}}")) "}",
                  "{" BY_NAME_NEEDS ", context: {other: 1, apiextensions.crossplane.io/environment: {" HEAD
                  ", a: 1, b: 2, c: 3, o: {p: 1, q: 2, r: 3}}}}" },
                { "one of apiVersion and kind stays alone", BY_NAME, "{" FOUND(CONFIG("a", "{kind: Mine}")) "}",
                  "{" BY_NAME_NEEDS ", " ENVIRONMENT("kind: Mine") "}" },
                { "apiVersion alone", BY_NAME, "{" FOUND(CONFIG("a", "{apiVersion: v1}")) "}",
                  "{" BY_NAME_NEEDS ", " ENVIRONMENT("apiVersion: v1") "}" },
                { "an apiVersion that cannot be read makes both internal", BY_NAME,
                  "{" FOUND(CONFIG("a", "{apiVersion: a/b/c, kind: Mine, x: 1}")) "}",
                  "{" BY_NAME_NEEDS ", " ENVIRONMENT(HEAD ", x: 1") "}" },
                { "an apiVersion of nothing", BY_NAME, "{" FOUND(CONFIG("a", "{apiVersion: /}")) "}",
                  "{" BY_NAME_NEEDS ", " ENVIRONMENT(HEAD) "}" },
                { "nothing beside a kind", BY_NAME, "{" FOUND(CONFIG("a", "{apiVersion: /, kind: Mine}")) "}",
                  "{" BY_NAME_NEEDS ", " ENVIRONMENT("apiVersion: /, kind: Mine") "}" },
                { "a group alone", BY_NAME, "{" FOUND(CONFIG("a", "{apiVersion: a/}")) "}",
                  "{" BY_NAME_NEEDS ", " ENVIRONMENT("apiVersion: a/") "}" },
                { "an apiVersion and a kind that are no strings", BY_NAME,
                  "{" FOUND(CONFIG("a", "{apiVersion: 1, kind: [x]}")) "}",
                  "{" BY_NAME_NEEDS ", " ENVIRONMENT(HEAD) "}" },
                { "an environment that is no object", BY_NAME,
                  "{context: {apiextensions.crossplane.io/environment: [1]}, " FOUND(CONFIG("a", "{x: 1}")) "}",
                  "{" BY_NAME_NEEDS ", " ENVIRONMENT(HEAD ", x: 1") "}" },
                { "arrays are replaced, null overrides", MULTIPLE(""),
                  "{" FOUND(CONFIG("a", "{l: [1, 2], o: {x: 1}, s: 1, m: null}") ", " CONFIG(
                          "b", "{l: [3], o: {y: 2}, s: null, m: {a: 1}}")) "}",
                  "{" BY_LABEL_NEEDS ", " ENVIRONMENT(HEAD ", l: [3], o: {x: 1, y: 2}, s: null, m: {a: 1}") "}" },
                { "configs are merged with each other first",
                  "{spec: {defaultData: {obj: {d: 3}}, environmentConfigs: [{type: Selector, selector: {mode: "
                  "Multiple, matchLabels: [{type: Value, key: k, value: v}]}}]}}",
                  "{context: {apiextensions.crossplane.io/environment: {obj: {y: 2}, gone: {a: 1}}}, " FOUND(
                          CONFIG("a", "{obj: null, gone: {b: 1}}") ", " CONFIG("b", "{obj: {x: 1}, gone: 1}")) "}",
                  "{" BY_LABEL_NEEDS ", " ENVIRONMENT(HEAD ", obj: {d: 3, x: 1, y: 2}, gone: 1") "}" },
                { "then with what is there, then with the defaults",
                  "{spec: {defaultData: {obj: {d: 3}, nul: {d: 3}}, environmentConfigs: [{ref: {name: a}}]}}",
                  "{context: {apiextensions.crossplane.io/environment: {obj: null, nul: null}}, " FOUND(
                          CONFIG("a", "{obj: {x: 1}}")) "}",
                  "{" BY_NAME_NEEDS ", " ENVIRONMENT(HEAD ", obj: {d: 3, x: 1}, nul: null") "}" },
                { "the last run of objects is merged", MULTIPLE(""),
                  "{" FOUND(CONFIG("a", "{o: {a: 1}}") ", " CONFIG("b", "{o: [1]}") ", " CONFIG(
                          "c", "{o: {c: {x: 1}}}") ", " CONFIG("d", "{o: {c: {}, d: 1}}")) "}",
                  "{" BY_LABEL_NEEDS ", " ENVIRONMENT(HEAD ", o: {c: {x: 1}, d: 1}") "}" },
                { "data null is nothing", BY_NAME, "{" FOUND(CONFIG("a", "null")) "}",
                  "{" BY_NAME_NEEDS ", " ENVIRONMENT(HEAD) "}" },
                { "under a path", CONFIGS("{ref: {name: a}, toFieldPath: 'p.l[1]'}"),
                  "{" FOUND(CONFIG("a", "{x: 1}")) "}",
                  "{" BY_NAME_NEEDS ", " ENVIRONMENT(HEAD ", p: {l: [null, {x: 1}]}") "}" },
                { "without data under a path", CONFIGS("{ref: {name: a}, toFieldPath: p}"),
                  "{" FOUND("{resource: {metadata: {name: a}}}") "}",
                  "{" BY_NAME_NEEDS ", " ENVIRONMENT(HEAD ", p: null") "}" },
                { "in the order of the list",
                  CONFIGS("{ref: {name: a}}, {ref: {name: b}, toFieldPath: p}, {ref: {name: c}}"),
                  "{requiredResources: {environment-config-0: {items: [" CONFIG(
                          "a", "{x: 1, p: {y: 1}}") "]}, "
                                                    "environment-config-1: {items: [" CONFIG(
                                                            "b", "{y: 2, z: 2}") "]}, environment-config-2: {items: "
                                                                                 "[" CONFIG("c",
                                                                                            "{x: 3, p: {z: 3}}") "]}}}",
                  "{" NEEDS("environment-config-0: {" KIND ", matchName: a}, environment-config-1: {" KIND
                            ", matchName: b}, environment-config-2: {" KIND
                            ", matchName: c}") ", " ENVIRONMENT(HEAD ", x: 3, p: {y: 2, z: 3}") "}" },
                { "an unknown type is ignored", CONFIGS("{type: Foo}"), "{" FOUND(CONFIG("a", "{x: 1}")) "}",
                  "{requirements: {}, " ENVIRONMENT(HEAD) "}" },
                { "one by labels", SINGLE(", mode: Single"), "{" FOUND(CONFIG("a", "{x: 1}")) "}",
                  "{" BY_LABEL_NEEDS ", " ENVIRONMENT(HEAD ", x: 1") "}" },
                { "one by labels by default", SINGLE(""), "{" FOUND(CONFIG("a", "{x: 1}")) "}",
                  "{" BY_LABEL_NEEDS ", " ENVIRONMENT(HEAD ", x: 1") "}" },
                { "none of many", MULTIPLE(""), "{" FOUND("") "}", "{" BY_LABEL_NEEDS ", " ENVIRONMENT(HEAD) "}" },
        };

        CHECK_CASES(FUNCTION, cases);
}

#define NUMBERED(name, order) "{resource: {metadata: {name: " name "}, order: " order ", data: {last: " name "}}}"

TEST(sorts_and_cuts)
{
        static const struct function_case cases[] = {
                { "by name", MULTIPLE(""), "{" FOUND(CONFIG("b", "{x: b}") ", " CONFIG("a", "{x: a}")) "}",
                  "{" BY_LABEL_NEEDS ", " ENVIRONMENT(HEAD ", x: b") "}" },
                { "an empty path is the default", MULTIPLE(", sortByFieldPath: ''"),
                  "{" FOUND(CONFIG("b", "{x: b}") ", " CONFIG("a", "{x: a}")) "}",
                  "{" BY_LABEL_NEEDS ", " ENVIRONMENT(HEAD ", x: b") "}" },
                { "the first of them", MULTIPLE(", maxMatch: 1"),
                  "{" FOUND(CONFIG("b", "{x: b}") ", " CONFIG("a", "{x: a}")) "}",
                  "{" BY_LABEL_NEEDS ", " ENVIRONMENT(HEAD ", x: a") "}" },
                { "none of them", MULTIPLE(", maxMatch: 0, minMatch: 1"), "{" FOUND(CONFIG("a", "{x: a}")) "}",
                  "{" BY_LABEL_NEEDS ", " ENVIRONMENT(HEAD) "}" },
                { "by number, missing and null as 0", MULTIPLE(", sortByFieldPath: order"),
                  "{" FOUND(NUMBERED("a", "2") ", " NUMBERED("b", "null") ", " CONFIG("c", "{last: c}") ", " NUMBERED(
                          "d", "-1")) "}",
                  "{" BY_LABEL_NEEDS ", " ENVIRONMENT(HEAD ", last: a") "}" },
                { "0 is more than -1", MULTIPLE(", sortByFieldPath: order, maxMatch: 2"),
                  "{" FOUND(NUMBERED("a", "2") ", " NUMBERED("b", "null") ", " CONFIG("c", "{last: c}") ", " NUMBERED(
                          "d", "-1")) "}",
                  "{" BY_LABEL_NEEDS ", " ENVIRONMENT(HEAD ", last: b") "}" },
                { "by text, missing as empty", MULTIPLE(", sortByFieldPath: order, maxMatch: 2"),
                  "{" FOUND(NUMBERED("a", "z") ", " NUMBERED("b", "'10'") ", " CONFIG("c", "{last: c}") ", " NUMBERED(
                          "d", "'9'")) "}",
                  "{" BY_LABEL_NEEDS ", " ENVIRONMENT(HEAD ", last: b") "}" },
                { "equal ones stay in order", MULTIPLE(", sortByFieldPath: order"),
                  "{" FOUND(NUMBERED("a", "1") ", " NUMBERED("b", "1")) "}",
                  "{" BY_LABEL_NEEDS ", " ENVIRONMENT(HEAD ", last: b") "}" },
                { "one bool needs no order", MULTIPLE(", sortByFieldPath: order"), "{" FOUND(NUMBERED("a", "true")) "}",
                  "{" BY_LABEL_NEEDS ", " ENVIRONMENT(HEAD ", last: a") "}" },
                { "nobody has the field", MULTIPLE(", sortByFieldPath: nowhere"),
                  "{" FOUND(NUMBERED("b", "1") ", " NUMBERED("a", "1")) "}",
                  "{" BY_LABEL_NEEDS ", " ENVIRONMENT(HEAD ", last: a") "}" },
        };

        CHECK_CASES(FUNCTION, cases);
}

TEST(refuses_what_came)
{
#define REFERENCE                                                                                         \
        "cannot get selected environment configs: cannot process environment config \"a\" by reference, " \
        "\"environment-config-0\": "
#define SELECTOR                                                                                                  \
        "cannot get selected environment configs: cannot process environment config \"environment-config-0\" by " \
        "selector: "
#define TWO(order) FOUND("{resource: {order: 1}}, {resource: {order: " order "}}")
        static const struct function_case cases[] = {
                { "not there", BY_NAME, "{" FOUND("") "}", REFERENCE "Required environment config \"a\" not found" },
                { "only Optional is optional",
                  "{spec: {policy: {resolution: optional}, environmentConfigs: [{ref: {name: a}}]}}", "{" FOUND("") "}",
                  REFERENCE "Required environment config \"a\" not found" },
                { "two", BY_NAME, "{" FOUND("{}, {}") "}",
                  REFERENCE "expected exactly one required resource \"a\", got 2" },
                { "single of none", SINGLE(""), "{" FOUND("") "}",
                  SELECTOR "expected exactly one required resource, got 0" },
                { "Optional does not help a selector",
                  "{spec: {policy: {resolution: Optional}, environmentConfigs: [{type: Selector, selector: "
                  "{matchLabels: "
                  "[{type: Value, key: k, value: v}]}}]}}",
                  "{" FOUND("") "}", SELECTOR "expected exactly one required resource, got 0" },
                { "single of two", SINGLE(", mode: Single"), "{" FOUND("{}, {}") "}",
                  SELECTOR "expected exactly one required resource, got 2" },
                { "mode", SINGLE(", mode: Foo"), "{" FOUND("{}, {}") "}", SELECTOR "unknown selector mode \"Foo\"" },
                { "too few", MULTIPLE(", minMatch: 3"), "{" FOUND("{}, {}") "}",
                  SELECTOR "expected at least 3 required resources, got 2" },
                { "types", MULTIPLE(", sortByFieldPath: order"), "{" TWO("x") "}",
                  SELECTOR "cannot sort values of different types \"float64\" and \"string\"" },
                { "types of Go", MULTIPLE(", sortByFieldPath: o"),
                  "{" FOUND("{resource: {o: []}}, {resource: {}}, {resource: {o: {}}}") "}",
                  SELECTOR "cannot sort values of different types \"[]interface {}\" and \"map[string]interface {}\"" },
                { "bools", MULTIPLE(", sortByFieldPath: o"),
                  "{" FOUND("{resource: {o: true}}, {resource: {o: false}}") "}",
                  SELECTOR "unsupported type \"bool\" for sorting" },
                { "objects", MULTIPLE(", sortByFieldPath: o"),
                  "{" FOUND("{resource: {o: {}}}, {resource: {o: {}}}") "}",
                  SELECTOR "unsupported type \"map\" for sorting" },
                { "arrays", MULTIPLE(", sortByFieldPath: o"), "{" FOUND("{resource: {o: []}}, {resource: {o: []}}") "}",
                  SELECTOR "unsupported type \"slice\" for sorting" },
                { "a scalar on the way", MULTIPLE(", sortByFieldPath: data.p.q"), "{" FOUND(CONFIG("a", "{p: 1}")) "}",
                  SELECTOR "data.p: not an object" },
                { "syntax", MULTIPLE(", sortByFieldPath: 'a['"), "{" FOUND(CONFIG("a", "{p: 1}")) "}",
                  SELECTOR "cannot parse path \"a[\": unterminated '[' at position 1" },
                { "no data", BY_NAME, "{" FOUND("{resource: {metadata: {name: a}}}") "}",
                  "cannot merge environment data: cannot get data from environment config \"a\": data: no such field" },
#define MUCH "[1024][1024][1024][1024][1024][1024][1024][1024]"
#define NO_MAP(type)                                                                                                 \
        "cannot merge environment data: cannot get data from environment config \"a\": cannot unmarshal value from " \
        "JSON: json: cannot unmarshal " type " into Go value of type map[string]interface {}"
                { "text", BY_NAME, "{" FOUND(CONFIG("a", "text")) "}", NO_MAP("string") },
                { "number", BY_NAME, "{" FOUND(CONFIG("a", "1")) "}", NO_MAP("number") },
                { "bool", BY_NAME, "{" FOUND(CONFIG("a", "true")) "}", NO_MAP("bool") },
                { "array", BY_NAME, "{" FOUND(CONFIG("a", "[]")) "}", NO_MAP("array") },
                { "path", CONFIGS("{ref: {name: a}, toFieldPath: 'x['}"), "{" FOUND(CONFIG("a", "{}")) "}",
                  "cannot merge environment data: cannot get data from environment config a into path \"x[\"" },
                { "a path that multiplies", CONFIGS("{ref: {name: a}, toFieldPath: 'x" MUCH MUCH MUCH MUCH "[9]'}"),
                  "{" FOUND(CONFIG("a", "{}")) "}",
                  "cannot merge environment data: x" MUCH MUCH "[10...: field paths would fill arrays with more "
                  "than the limit of 32768 nulls" },
        };

        CHECK_FATAL(FUNCTION, cases);
}

TEST(a_fatal_result_keeps_requirements_and_context)
{
        static const struct function_case cases[] = {
                { "not there", BY_NAME, "{context: {a: 1}, " FOUND("") "}",
                  "{context: {a: 1}, " BY_NAME_NEEDS ", results: [{severity: SEVERITY_FATAL, target: TARGET_COMPOSITE, "
                  "message: 'cannot get selected environment configs: cannot process environment config \"a\" by "
                  "reference, "
                  "\"environment-config-0\": Required environment config \"a\" not found'}]}" },
        };

        CHECK_CASES(FUNCTION, cases);
}

/* docs/spec/seeds 1: inputs as an older design has them. */
TEST(takes_the_input_of_older_examples)
{
        static const struct function_case cases[] = {
                { "another kind, with another name for spec",
                  "{apiVersion: extra.fn.crossplane.io/v1beta1, kind: ExtraResourceSelectors, extraResourceSelectors: "
                  "{environmentConfigs: [{ref: {name: a}}]}}",
                  "{}", "{" NEEDS("environment-config-0: {" KIND ", matchName: a}") "}" },
                { "answered",
                  "{apiVersion: extra.fn.crossplane.io/v1beta1, kind: ExtraResourceSelectors, extraResourceSelectors: "
                  "{environmentConfigs: [{ref: {name: a}}]}}",
                  "{" FOUND(CONFIG("a", "{x: 1}")) "}",
                  "{" NEEDS("environment-config-0: {" KIND ", matchName: a}") ", " ENVIRONMENT(HEAD ", x: 1") "}" },
        };

        CHECK_CASES(FUNCTION, cases);
}

#define PT                                                                                                             \
        "{environment: {environmentConfigs: [{ref: {name: a}}], patches: [{fromFieldPath: spec.x, toFieldPath: w}]}, " \
        "resources: [{name: r, base: {kind: K}, patches: [{type: FromEnvironmentFieldPath, fromFieldPath: x, "         \
        "toFieldPath: spec.x}]}]}"

TEST(patch_and_transform_can_choose_configs_itself)
{
        static const struct function_case cases[] = {
                { "asks first", PT, "{" XR ", context: {c: 1}, desired: {resources: {o: {resource: {kind: O}}}}}",
                  "{" NEEDS("environment-config-0: {" KIND ", matchName: a}") ", context: {c: 1}, desired: {resources: "
                                                                              "{o: {resource: {kind: O}}}}}" },
                { "then uses what came", PT, "{" XR ", context: {c: 1}, " FOUND(CONFIG("a", "{x: 1}")) "}",
                  "{" NEEDS("environment-config-0: {" KIND
                            ", matchName: a}") ", context: {c: 1, "
                                               "apiextensions.crossplane.io/environment: {" HEAD
                                               ", x: 1, w: hello}}, desired: {composite: {resource: "
                                               "{apiVersion: '', kind: ''}}, resources: {r: {resource: {kind: K, spec: "
                                               "{x: 1}}}}}}" },
                { "nothing to ask for",
                  "{environment: {environmentConfigs: []}, resources: [{name: r, base: {kind: K}}]}", "{" XR "}",
                  "{requirements: {}, context: {apiextensions.crossplane.io/environment: {" HEAD "}}, desired: "
                  "{composite: {resource: {apiVersion: '', kind: ''}}, resources: {r: {resource: {kind: K}}}}}" },
        };
        static const struct function_case refusals[] = {
                { "not there", PT, "{" XR ", " FOUND("") "}",
                  "cannot get selected environment configs: cannot process environment config \"a\" by reference, "
                  "\"environment-config-0\": Required environment config \"a\" not found" },
                { "cannot be asked for",
                  "{environment: {environmentConfigs: [{type: Reference}]}, resources: [{name: r, base: {kind: K}}]}",
                  "{}", "cannot build requirements: ref cannot be nil for type 'Reference' of entry 0" },
        };

        CHECK_CASES("function-patch-and-transform", cases);
        CHECK_FATAL("function-patch-and-transform", refusals);
}

/* Asking costs what is asked for. */
TEST(asks_for_many_configs)
{
        _cleanup_buf_ struct buf input = BUF_INIT(0);
        _cleanup_err_ struct err err = { 0 };
        _cleanup_arena_ struct arena a;
        struct function_case c = { .name = "many", .request = "{}" };
        const struct value *rsp, *needed;

        buf_append_literal(&input, "{\"spec\":{\"environmentConfigs\":[{\"ref\":{\"name\":\"a\"}}");
        for (int i = 1; i < 3000; i++)
                buf_append_literal(&input, ",{\"ref\":{\"name\":\"a\"}}");
        buf_append_literal(&input, "]}}");
        c.input = buf_cstring(&input);
        arena_init(&a, "test", 64 << 20);
        ASSERT(call_function(&a, FUNCTION, &c, false, &rsp, &err) >= 0);
        needed = value_find(rsp, "requirements", "resources");
        ASSERT(value_count(needed) == 3000);
        ASSERT(value_is_object(value_get(needed, STR("environment-config-2999"))));
}

/* The bytes that the function takes to merge n configs with two keys each: one of its own, and one object that all share. */
static size_t bytes_to_merge(int n)
{
        static const char input[] = MULTIPLE("");
        _cleanup_buf_ struct buf request = BUF_INIT(0);
        _cleanup_err_ struct err err = { 0 };
        _cleanup_arena_ struct arena given, a;
        struct function_case c = { .name = "many", .input = input };
        struct run run = { .arena = &a, .deadline = DEADLINE_NONE };
        const struct value *context;
        struct fn_request req;
        struct fn_response rsp;

        buf_append_literal(&request, "{\"requiredResources\":{\"environment-config-0\":{\"items\":[");
        for (int i = 0; i < n; i++)
                buf_appendf(&request, "%s{\"resource\":{\"data\":{\"key%d\":1,\"shared\":{\"inner%d\":[1]}}}}",
                            i ? "," : "", i, i);
        buf_append_literal(&request, "]}}}");
        c.request = buf_cstring(&request);
        arena_init(&given, "test", 0);
        arena_init(&a, "test", 0);
        read_request(&given, &c, false, &req);
        ASSERT(function_environment_configs.run(&run, &req, &rsp, &err) >= 0);
        ASSERT(fn_struct_value(&a, &rsp.context, &context, &err) >= 0);
        context = value_get(context, STR("apiextensions.crossplane.io/environment"));
        ASSERT(value_count(context) == (size_t)n + 3);
        ASSERT(value_count(value_get(context, STR("shared"))) == (size_t)n);
        return a.used_bytes;
}

TEST(merging_takes_memory_in_proportion_to_the_configs)
{
        size_t few = bytes_to_merge(500), many = bytes_to_merge(4000);

        if (many > 12 * few)
                test_fail(__FILE__, __LINE__, "500 configs take %zu bytes, 4000 take %zu", few, many);
}
