#include "function-test.h"

#define FUNCTION           "function-extra-resources"
#define SOURCES(entries)   "{spec: {extraResources: [" entries "]}}"
#define NEEDS(entries)     "requirements: {resources: {" entries "}}"
#define XR                 "observed: {composite: {resource: {spec: {x: hello, num: 5}}}}"
#define FOUND(name, items) "requiredResources: {" name ": {items: [" items "]}}"
#define OBJECT(name)       "{resource: {metadata: {name: " name "}}}"
#define CONTEXT(members)   "context: {apiextensions.crossplane.io/extra-resources: {" members "}}"

#define BY_NAME       SOURCES("{into: x, apiVersion: v1, kind: K, ref: {name: a}}")
#define BY_NAME_NEEDS NEEDS("x: {apiVersion: v1, kind: K, matchName: a}")
#define BY_LABEL(rest)                                                                                               \
        SOURCES("{type: Selector, into: x, apiVersion: v1, kind: K, selector: {matchLabels: [{type: Value, key: k, " \
                "value: v}]" rest "}}")
#define BY_LABEL_NEEDS NEEDS("x: {apiVersion: v1, kind: K, matchLabels: {labels: {k: v}}}")

TEST(asks_for_resources)
{
        static const struct function_case cases[] = {
                { "no input", NULL, "{meta: {tag: t}, desired: {composite: {}}, context: {a: 1}}",
                  "{meta: {tag: t, ttl: 60s}, desired: {composite: {}}, context: {a: 1}, requirements: {}}" },
                { "no sources", "{spec: {}}", "{}", "{requirements: {}}" },
                { "null", "{spec: {extraResources: null}}", "{}", "{requirements: {}}" },
                { "reference", SOURCES("{type: Reference, into: x, apiVersion: v1, kind: K, ref: {name: a}}"), "{}",
                  "{" BY_NAME_NEEDS "}" },
                { "reference by default", BY_NAME, "{}", "{" BY_NAME_NEEDS "}" },
                { "the input of older examples",
                  "{apiVersion: extra.fn.crossplane.io/v1beta1, kind: ExtraResourceSelectors, extraResourceSelectors: "
                  "{extraResources: [{into: x, apiVersion: v1, kind: K, ref: {name: a}}]}}",
                  "{}", "{" BY_NAME_NEEDS "}" },
                { "namespace", SOURCES("{into: x, apiVersion: v1, kind: K, namespace: here, ref: {name: a}}"), "{}",
                  "{" NEEDS("x: {apiVersion: v1, kind: K, namespace: here, matchName: a}") "}" },
                { "an empty namespace is one too",
                  SOURCES("{into: x, apiVersion: v1, kind: K, namespace: '', ref: {name: a}}"), "{}",
                  "{" NEEDS("x: {apiVersion: v1, kind: K, namespace: '', matchName: a}") "}" },
                { "the later of two",
                  SOURCES("{into: x, apiVersion: v1, kind: K, ref: {name: a}}, {into: x, apiVersion: v2, kind: L, ref: "
                          "{name: b}}"),
                  "{}", "{" NEEDS("x: {apiVersion: v2, kind: L, matchName: b}") "}" },
                { "labels",
                  SOURCES("{type: Selector, into: x, apiVersion: v1, kind: K, selector: {matchLabels: [{key: k, "
                          "valueFromFieldPath: spec.x}, {type: Value, key: a, value: b}]}}"),
                  "{" XR "}", "{" NEEDS("x: {apiVersion: v1, kind: K, matchLabels: {labels: {a: b, k: hello}}}") "}" },
                { "without labels nothing is asked for",
                  SOURCES("{type: Selector, into: x, apiVersion: v1, kind: K, selector: {matchLabels: [{key: k, "
                          "valueFromFieldPath: spec.q, fromFieldPathPolicy: Optional}]}}"),
                  "{" XR "}", "{requirements: {}}" },
                { "unknown type", SOURCES("{type: Foo, into: x}"), "{}", "{requirements: {}}" },
                { "extra resources do not count as answers", BY_NAME,
                  "{extraResources: {x: {items: [" OBJECT("a") "]}}}", "{" BY_NAME_NEEDS "}" },
        };

        CHECK_CASES(FUNCTION, cases);
}

TEST(refuses_what_it_cannot_ask_for)
{
#define WRONG(text) "could not build extra resource requirements: " text
        static const struct function_case cases[] = {
                { "no value", SOURCES("{type: Selector, into: x, selector: {matchLabels: [{type: Value, key: k}]}}"),
                  "{}", WRONG("Value cannot be nil for type 'Value'") },
                { "no path", SOURCES("{type: Selector, into: x, selector: {matchLabels: [{key: k}]}}"), "{}",
                  WRONG("ValueFromFieldPath cannot be nil for type 'FromCompositeFieldPath'") },
                { "missing",
                  SOURCES("{type: Selector, into: x, selector: {matchLabels: [{key: k, valueFromFieldPath: spec.q}]}}"),
                  "{" XR "}", WRONG("cannot get value from field path \"spec.q\": spec.q: no such field") },
                { "no string",
                  SOURCES("{type: Selector, into: x, selector: {matchLabels: [{key: k, valueFromFieldPath: "
                          "spec.num}]}}"),
                  "{" XR "}", WRONG("cannot get value from field path \"spec.num\": spec.num: not a string") },
                { "no ref", SOURCES("{into: x}"), "{}", WRONG("ref cannot be nil for type 'Reference' of \"x\"") },
                { "no selector", SOURCES("{type: Selector, into: x}"), "{}",
                  WRONG("selector cannot be nil for type 'Selector' of \"x\"") },
                { "there is no mode", SOURCES("{selector: {mode: Single}}"), "{}",
                  "cannot get Function input from *v1.RunFunctionRequest: cannot get function input *v1beta1.Input "
                  "from "
                  "*v1.RunFunctionRequest: cannot unmarshal JSON from *structpb.Struct into *v1beta1.Input: "
                  "spec.extraResources[0].selector.mode: unknown field" },
        };

        CHECK_FATAL(FUNCTION, cases);
}

TEST(puts_resources_into_the_context)
{
        static const struct function_case cases[] = {
                { "reference", BY_NAME, "{" FOUND("x", "{resource: {metadata: {name: a}, spec: {i: 1, f: 1.5}}}") "}",
                  "{" BY_NAME_NEEDS ", " CONTEXT("x: [{metadata: {name: a}, spec: {i: 1, f: 1.5}}]") "}" },
                { "what was there is replaced", BY_NAME,
                  "{context: {other: 1, apiextensions.crossplane.io/extra-resources: {y: [1]}}, " FOUND(
                          "x", OBJECT("a")) "}",
                  "{" BY_NAME_NEEDS
                  ", context: {other: 1, apiextensions.crossplane.io/extra-resources: {x: [{metadata: "
                  "{name: a}}]}}}" },
                { "another key",
                  "{spec: {context: {key: k}, extraResources: [{into: x, apiVersion: v1, kind: K, ref: {name: a}}]}}",
                  "{" FOUND("x", OBJECT("a")) "}", "{" BY_NAME_NEEDS ", context: {k: {x: [{metadata: {name: a}}]}}}" },
                { "no key", "{spec: {context: {key: null}, extraResources: []}}", "{" FOUND("x", "") "}",
                  "{requirements: {}, " CONTEXT("") "}" },
                { "the empty key", "{spec: {context: {key: ''}, extraResources: []}}", "{" FOUND("x", "") "}",
                  "{requirements: {}, context: {'': {}}}" },
                { "optional and not there",
                  "{spec: {policy: {resolution: Optional}, extraResources: [{into: x, apiVersion: v1, kind: K, ref: "
                  "{name: a}}]}}",
                  "{" FOUND("x", "") "}", "{" BY_NAME_NEEDS ", " CONTEXT("") "}" },
                { "none of many", BY_LABEL(""), "{" FOUND("x", "") "}", "{" BY_LABEL_NEEDS ", " CONTEXT("x: []") "}" },
                { "sorted by name", BY_LABEL(""), "{" FOUND("x", OBJECT("b") ", " OBJECT("a")) "}",
                  "{" BY_LABEL_NEEDS ", " CONTEXT("x: [{metadata: {name: a}}, {metadata: {name: b}}]") "}" },
                { "sorted by a field and cut", BY_LABEL(", sortByFieldPath: o, minMatch: 2, maxMatch: 1"),
                  "{" FOUND("x", "{resource: {o: 2}}, {resource: {o: 1}}") "}",
                  "{" BY_LABEL_NEEDS ", " CONTEXT("x: [{o: 1}]") "}" },
                { "an unknown type takes what came", SOURCES("{type: Foo, into: x}"),
                  "{" FOUND("x", OBJECT("b") ", " OBJECT("a") ", {}") "}",
                  "{requirements: {}, " CONTEXT("x: [{metadata: {name: b}}, {metadata: {name: a}}, {}]") "}" },
                { "into nothing", SOURCES("{type: Foo}"), "{requiredResources: {'': {items: [" OBJECT("a") "]}}}",
                  "{requirements: {}, " CONTEXT("'': [{metadata: {name: a}}]") "}" },
        };

        CHECK_CASES(FUNCTION, cases);
}

TEST(refuses_what_came)
{
#define BAD(text) "verifying and sorting extra resources: " text
        static const struct function_case cases[] = {
                { "not answered", BY_NAME, "{" FOUND("other", "") "}",
                  BAD("cannot find expected extra resource \"x\"") },
                { "an optional label emptied the selector",
                  SOURCES("{type: Selector, into: x, selector: {matchLabels: [{key: k, valueFromFieldPath: spec.q, "
                          "fromFieldPathPolicy: Optional}]}}"),
                  "{" FOUND("other", "") "}", BAD("cannot find expected extra resource \"x\"") },
                { "not there", BY_NAME, "{" FOUND("x", "") "}", BAD("Required extra resource \"x\" not found") },
                { "two", BY_NAME, "{" FOUND("x", "{}, {}") "}",
                  BAD("expected exactly one extra resource \"x\", got 2") },
                { "too few", BY_LABEL(", minMatch: 2"), "{" FOUND("x", "{}") "}",
                  BAD("expected at least 2 extra resources \"x\", got 1") },
                { "types", BY_LABEL(", sortByFieldPath: o"),
                  "{" FOUND("x", "{resource: {o: a}}, {resource: {o: 1}}") "}",
                  BAD("cannot sort values of different types \"string\" and \"float64\"") },
                { "bools", BY_LABEL(", sortByFieldPath: o"),
                  "{" FOUND("x", "{resource: {o: true}}, {resource: {}}") "}",
                  BAD("unsupported type \"bool\" for sorting") },
                { "objects", BY_LABEL(", sortByFieldPath: o"),
                  "{" FOUND("x", "{resource: {o: {}}}, {resource: {}}") "}",
                  BAD("unsupported type \"map[string]interface {}\" for sorting") },
        };

        CHECK_FATAL(FUNCTION, cases);
}
