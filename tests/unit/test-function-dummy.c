/* Texts of errors are those that Go's protojson gave for the same JSON. */
#include "function-test.h"

#define FUNCTION       "function-dummy"
#define RESPONSE(text) "{response: " text "}"

TEST(answers_what_its_input_says)
{
        static const struct function_case cases[] = {
                { "nothing to say", RESPONSE("{}"), "{meta: {tag: t}, desired: {composite: {}}, context: {a: 1}}",
                  "{meta: {tag: t, ttl: 60s}, desired: {composite: {}}, context: {a: 1}}" },
                { "tag and ttl", RESPONSE("{meta: {tag: u, ttl: 5.5s}}"), "{meta: {tag: t}}",
                  "{meta: {tag: u, ttl: 5.5s}}" },
                { "a tag alone keeps the ttl", RESPONSE("{meta: {tag: u}}"), "{}", "{meta: {tag: u, ttl: 60s}}" },
                { "defaults change nothing",
                  RESPONSE("{meta: {tag: '', ttl: 0s}, desired: {composite: {ready: READY_UNSPECIFIED}}}"),
                  "{meta: {tag: t}, desired: {composite: {ready: READY_TRUE}}}",
                  "{meta: {tag: t, ttl: 60s}, desired: {composite: {ready: READY_TRUE}}}" },
                { "a negative ttl", RESPONSE("{meta: {ttl: -5s}}"), "{}", "{meta: {ttl: -5s}}" },
                { "messages merge, entries of maps replace",
                  RESPONSE("{desired: {composite: {resource: {b: {y: 2}}, ready: READY_FALSE}, resources: {a: {ready: "
                           "1}, c: {}}}}"),
                  "{desired: {composite: {resource: {a: 1, b: {x: 1}}, connectionDetails: {k: dg==}}, resources: {a: "
                  "{resource: "
                  "{x: 1}}, b: {}}}}",
                  "{desired: {composite: {resource: {a: 1, b: {y: 2}}, connectionDetails: {k: dg==}, ready: "
                  "READY_FALSE}, "
                  "resources: {a: {ready: READY_TRUE}, b: {}, c: {}}}}" },
                { "context by its top keys", RESPONSE("{context: {b: {y: 2}, c: 3}}"), "{context: {a: 1, b: {x: 1}}}",
                  "{context: {a: 1, b: {y: 2}, c: 3}}" },
                { "results and conditions",
                  RESPONSE("{results: [{severity: SEVERITY_WARNING, message: m}, {severity: 3, target: 2, reason: r}], "
                           "conditions: "
                           "[{type: T, status: STATUS_CONDITION_TRUE, reason: R, target: TARGET_COMPOSITE}]}"),
                  "{}",
                  "{results: [{severity: SEVERITY_WARNING, message: m}, {severity: SEVERITY_NORMAL, target: "
                  "TARGET_COMPOSITE_AND_CLAIM, reason: r}], conditions: [{type: T, status: STATUS_CONDITION_TRUE, "
                  "reason: R, "
                  "target: TARGET_COMPOSITE}]}" },
                { "requirements have one name, and the number of the older one",
                  RESPONSE("{requirements: {resources: {a: {apiVersion: v1, kind: K, matchName: x}, b: {matchLabels: "
                           "{labels: {k: "
                           "v}}}}}}"),
                  "{}",
                  "{requirements: {extraResources: {a: {apiVersion: v1, kind: K, matchName: x}, b: {matchLabels: "
                  "{labels: {k: "
                  "v}}}}}}" },
                { "empty requirements", RESPONSE("{requirements: {}}"), "{}", "{requirements: {}}" },
                { "null is absent", RESPONSE("{meta: null, results: null, context: null, desired: {resources: null}}"),
                  "{}", "{desired: {}}" },
                { "original names", RESPONSE("{desired: {composite: {connection_details: {k: dg}}}}"), "{}",
                  "{desired: {composite: {connectionDetails: {k: dg==}}}}" },
        };

        CHECK_CASES(FUNCTION, cases);
}

TEST(says_what_is_wrong_as_protojson_does)
{
#define WRONG(text) "cannot unmarshal RunFunctionResponse from *v1.RunFunctionRequest: proto: " text
        static const struct function_case cases[] = {
                { "no input", NULL, "{}", WRONG("syntax error (line 1:1): unexpected token ") },
                { "no response", "{}", "{}", WRONG("syntax error (line 1:1): unexpected token ") },
                { "null", RESPONSE("null"), "{}", WRONG("syntax error (line 1:1): unexpected token ") },
                { "array", RESPONSE("[]"), "{}", WRONG("syntax error (line 1:1): unexpected token [") },
                { "number", RESPONSE("5"), "{}", WRONG("syntax error (line 1:1): unexpected token 5") },
                { "text", RESPONSE("'\xc3\xbc<'"), "{}",
                  WRONG("syntax error (line 1:1): unexpected token \"\xc3\xbc<\"") },
                { "bool", RESPONSE("true"), "{}", WRONG("syntax error (line 1:1): unexpected token true") },
                { "unknown", RESPONSE("{foo: 1}"), "{}", WRONG("(line 1:2): unknown field \"foo\"") },
                { "unknown, in order", RESPONSE("{zoo: 1, meta: {tag: '<'}}"), "{}",
                  WRONG("(line 1:21): unknown field \"zoo\"") },
                { "unknown, deep", RESPONSE("{results: [{foo: 5}]}"), "{}",
                  WRONG("(line 1:14): unknown field \"foo\"") },
                { "enum", RESPONSE("{results: [{severity: X}]}"), "{}",
                  WRONG("(line 1:25): invalid value for enum field severity: \"X\"") },
                { "enum number", RESPONSE("{results: [{severity: 1.5}]}"), "{}",
                  WRONG("(line 1:25): invalid value for enum field severity: 1.5") },
                { "enum bool", RESPONSE("{results: [{severity: true}]}"), "{}",
                  WRONG("(line 1:25): invalid value for enum field severity: true") },
                { "columns are characters", RESPONSE("{meta: {tag: \xc3\xbc}, results: [{severity: '\xc3\xbc<'}]}"),
                  "{}", WRONG("(line 1:44): invalid value for enum field severity: \"\xc3\xbc<\"") },
                { "separators of lines are as they are",
                  RESPONSE("{meta: {tag: \"\\u2028\"}, results: [{severity: \"\\u2029<\"}]}"), "{}",
                  WRONG("(line 1:44): invalid value for enum field severity: \"\xe2\x80\xa9<\"") },
                { "in keys too", RESPONSE("{context: {\"\\u2028\": 1}, \"z\\u2028\": 1}"), "{}",
                  WRONG("(line 1:20): unknown field \"z\xe2\x80\xa8\"") },
                { "duration", RESPONSE("{meta: {ttl: 5m}}"), "{}",
                  WRONG("(line 1:16): invalid google.protobuf.Duration value \"5m\"") },
                { "duration number", RESPONSE("{meta: {ttl: 5}}"), "{}",
                  WRONG("syntax error (line 1:16): unexpected token 5") },
                { "duration range", RESPONSE("{meta: {ttl: 315576000001s}}"), "{}",
                  WRONG("(line 1:16): google.protobuf.Duration value out of range: \"315576000001s\"") },
                { "string", RESPONSE("{meta: {tag: [5]}}"), "{}",
                  WRONG("(line 1:16): invalid value for string field tag: [") },
                { "string in a map", RESPONSE("{requirements: {resources: {a: {matchLabels: {labels: {k: 5}}}}}}"),
                  "{}", WRONG("(line 1:65): invalid value for string field value: 5") },
                { "JSON names", RESPONSE("{requirements: {resources: {a: {apiVersion: 5}}}}"), "{}",
                  WRONG("(line 1:49): invalid value for string field apiVersion: 5") },
                { "bytes", RESPONSE("{desired: {composite: {connectionDetails: {k: '!!'}}}}"), "{}",
                  WRONG("(line 1:51): invalid value for bytes field value: \"!!\"") },
                { "null bytes", RESPONSE("{desired: {composite: {connectionDetails: {k: null}}}}"), "{}",
                  WRONG("(line 1:51): invalid value for bytes field value: null") },
                { "message", RESPONSE("{meta: x}"), "{}", WRONG("syntax error (line 1:9): unexpected token \"x\"") },
                { "list", RESPONSE("{results: {}}"), "{}", WRONG("syntax error (line 1:12): unexpected token {") },
                { "item", RESPONSE("{results: [null]}"), "{}",
                  WRONG("syntax error (line 1:13): unexpected token null") },
                { "second item", RESPONSE("{results: [{}, 5]}"), "{}",
                  WRONG("syntax error (line 1:16): unexpected token 5") },
                { "map", RESPONSE("{desired: {resources: []}}"), "{}",
                  WRONG("syntax error (line 1:25): unexpected token [") },
                { "second entry", RESPONSE("{desired: {resources: {a: {}, b: 5}}}"), "{}",
                  WRONG("syntax error (line 1:37): unexpected token 5") },
                { "struct", RESPONSE("{context: []}"), "{}", WRONG("syntax error (line 1:12): unexpected token [") },
                { "twice", RESPONSE("{desired: {composite: {connectionDetails: {}, connection_details: {}}}}"), "{}",
                  WRONG("(line 1:49): duplicate field \"connection_details\"") },
                { "one of two", RESPONSE("{requirements: {resources: {a: {matchLabels: {}, matchName: x}}}}"), "{}",
                  WRONG("(line 1:53): error parsing \"matchName\", oneof "
                        "apiextensions.fn.proto.v1.ResourceSelector.match is "
                        "already set") },
                { "the older name of requirements", RESPONSE("{requirements: {extraResources: {}}}"), "{}",
                  WRONG("(line 1:18): unknown field \"extraResources\"") },
                { "schemas", RESPONSE("{requirements: {schemas: {}}}"), "{}",
                  WRONG("(line 1:18): unknown field \"schemas\"") },
                { "input", "{foo: 1}", "{}",
                  "cannot get Function input from *v1.RunFunctionRequest: cannot get function input *v1beta1.Response "
                  "from "
                  "*v1.RunFunctionRequest: cannot unmarshal JSON from *structpb.Struct into *v1beta1.Response: foo: "
                  "unknown "
                  "field" },
        };

        CHECK_FATAL(FUNCTION, cases);
}
