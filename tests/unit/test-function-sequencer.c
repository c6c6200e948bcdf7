#include "function-test.h"

#define FUNCTION       "function-sequencer"
#define RULES(entries) "{rules: [" entries "]}"
#define READY          "{resource: {}, ready: READY_TRUE}"
#define NORMAL(text)   "{severity: SEVERITY_NORMAL, target: TARGET_COMPOSITE, message: '" text "'}"
#define FATAL(text)    "{severity: SEVERITY_FATAL, target: TARGET_COMPOSITE, message: '" text "'}"

TEST(delays_creation)
{
        static const struct function_case cases[] = {
                { "no input", NULL, "{meta: {tag: t}, context: {a: 1}}",
                  "{meta: {tag: t, ttl: 60s}, context: {a: 1}, desired: {}}" },
                { "no rules", "{}",
                  "{desired: {composite: {ready: READY_TRUE}, resources: {a: {resource: {x: 1}, connectionDetails: {k: "
                  "dg==}, ready: READY_FALSE}}}}",
                  "{desired: {composite: {ready: READY_TRUE}, resources: {a: {resource: {x: 1}, ready: "
                  "READY_FALSE}}}}" },
                { "an unknown readiness is unspecified", "{}",
                  "{desired: {composite: {ready: 7}, resources: {a: {resource: {}, ready: 7}}}}",
                  "{desired: {composite: {ready: 7}, resources: {a: {resource: {}}}}}" },
                { "nothing before", RULES("{sequence: [a, b]}"), "{desired: {resources: {b: {resource: {}}}}}",
                  "{desired: {}, results: [" NORMAL(
                          "Delaying creation of resource(s) matching \"b\" because \"a\" does "
                          "not exist yet") "]}" },
                { "not ready", RULES("{sequence: [a, b]}"),
                  "{desired: {resources: {a: {resource: {}}, b: {resource: {}}, c: {resource: {}}}}}",
                  "{desired: {resources: {a: {resource: {}}, c: {resource: {}}}}, results: [" NORMAL(
                          "Delaying creation of resource(s) "
                          "matching \"b\" because \"a\" is not "
                          "fully ready (0 of 1)") "]"
                                                  "}" },
                { "some are ready", RULES("{sequence: ['a.*', b]}"),
                  "{desired: {resources: {a1: " READY ", a2: {resource: {}, ready: READY_FALSE}, a3: " READY
                  ", b: {resource: {}}}}}",
                  "{desired: {resources: {a1: " READY ", a2: {resource: {}, ready: READY_FALSE}, a3: " READY
                  "}}, results: [" NORMAL("Delaying creation of resource(s) matching \"b\" because \"a.*\" is not "
                                          "fully ready (2 of 3)") "]}" },
                { "ready", RULES("{sequence: [a, b]}"), "{desired: {resources: {a: " READY ", b: {resource: {}}}}}",
                  "{desired: {resources: {a: " READY ", b: {resource: {}}}}}" },
                { "what exists stays", RULES("{sequence: [a, b]}"),
                  "{observed: {resources: {b: {resource: {}}}}, desired: {resources: {b: {resource: {}}}}}",
                  "{desired: {resources: {b: {resource: {}}}}}" },
                { "of many, what exists stays", RULES("{sequence: [a, 'b.*']}"),
                  "{observed: {resources: {b1: {resource: {}}}}, desired: {resources: {b1: {resource: {}}, b2: "
                  "{resource: {}}}}}",
                  "{desired: {resources: {b1: {resource: {}}}}, results: [" NORMAL(
                          "Delaying creation of resource(s) matching \"b.*\" because \"a\" does not exist yet") "]}" },
                { "the first that is not ready speaks", RULES("{sequence: [a, b, c]}"),
                  "{desired: {resources: {a: {resource: {}}, b: {resource: {}}, c: {resource: {}}}}}",
                  "{desired: {resources: {a: {resource: {}}}}, results: [" NORMAL(
                          "Delaying creation of resource(s) matching \"b\" because \"a\" is not fully ready (0 of "
                          "1)") ", " NORMAL("Delaying creation of resource(s) matching \"c\" because \"a\" is not "
                                            "fully "
                                            "ready (0 of 1)") "]}" },
                { "later elements see what was dropped", RULES("{sequence: [a, b]}, {sequence: [b, c]}"),
                  "{desired: {resources: {b: " READY ", c: {resource: {}}}}}",
                  "{desired: {}, results: [" NORMAL(
                          "Delaying creation of resource(s) matching \"b\" because \"a\" does "
                          "not exist yet") ", " NORMAL("Delaying creation of resource(s) matching \"c\" because \"b\" "
                                                       "does not exist yet") "]}" },
                { "a whole name", RULES("{sequence: [a, b]}"),
                  "{desired: {resources: {aa: " READY ", b: {resource: {}}, bb: {resource: {}}}}}",
                  "{desired: {resources: {aa: " READY ", bb: {resource: {}}}}, results: [" NORMAL(
                          "Delaying creation of resource(s) matching \"b\" because \"a\" does not exist yet") "]}" },
                { "a beginning of its own", RULES("{sequence: ['^a', b]}"),
                  "{desired: {resources: {aa: " READY ", b: {resource: {}}}}}",
                  "{desired: {resources: {aa: " READY ", b: {resource: {}}}}}" },
                { "an end of its own", RULES("{sequence: ['a$', b]}"),
                  "{desired: {resources: {aa: " READY ", b: {resource: {}}}}}",
                  "{desired: {resources: {aa: " READY ", b: {resource: {}}}}}" },
                { "no group around alternatives", RULES("{sequence: ['a|b', c]}"),
                  "{desired: {resources: {ax: " READY ", xb: " READY ", c: {resource: {}}}}}",
                  "{desired: {resources: {ax: " READY ", xb: " READY ", c: {resource: {}}}}}" },
                { "deleteOnly", RULES("{sequence: [a, b], deleteOnly: true}"),
                  "{desired: {resources: {b: {resource: {}}}}}", "{desired: {resources: {b: {resource: {}}}}}" },
                { "createOnly", RULES("{sequence: [a, b], createOnly: true}"),
                  "{desired: {resources: {b: {resource: {}}}}}",
                  "{desired: {}, results: [" NORMAL(
                          "Delaying creation of resource(s) matching \"b\" because \"a\" does "
                          "not exist yet") "]}" },
                { "an empty condition is none, an empty rule too", RULES("{sequence: [a], condition: ''}, {}"), "{}",
                  "{desired: {}}" },
                { "quoted", RULES("{sequence: ['a\"', 'b\\d']}"), "{desired: {resources: {b1: {resource: {}}}}}",
                  "{desired: {}, results: [{severity: SEVERITY_NORMAL, target: TARGET_COMPOSITE, message: 'Delaying "
                  "creation "
                  "of resource(s) matching \"b\\\\d\" because \"a\\\"\" does not exist yet'}]}" },
        };

        CHECK_CASES(FUNCTION, cases);
}

TEST(resets_the_composites_readiness)
{
#define RESET "{resetCompositeReadiness: true, rules: [{sequence: [a, b]}]}"
#define WAITS NORMAL("Delaying creation of resource(s) matching \"b\" because \"a\" does not exist yet")
        static const struct function_case cases[] = {
                { "dropped", RESET,
                  "{desired: {composite: {resource: {x: 1}, connectionDetails: {k: dg==}, ready: READY_TRUE}, "
                  "resources: "
                  "{b: {resource: {}}}}}",
                  "{desired: {composite: {resource: {x: 1}, connectionDetails: {k: dg==}, ready: READY_FALSE}}, "
                  "results: "
                  "[" WAITS "]}" },
                { "nothing to drop", RESET, "{desired: {composite: {ready: READY_TRUE}}}",
                  "{desired: {composite: {ready: READY_TRUE}}, results: [" WAITS "]}" },
                { "nothing to wait for", RESET,
                  "{desired: {composite: {ready: READY_TRUE}, resources: {a: " READY ", b: {resource: {}}}}}",
                  "{desired: {composite: {ready: READY_TRUE}, resources: {a: " READY ", b: {resource: {}}}}}" },
                { "a fatal result keeps it",
                  "{resetCompositeReadiness: true, rules: [{sequence: [a, b]}, {sequence: ['(', c]}]}",
                  "{desired: {composite: {resource: {x: 1}, ready: READY_TRUE}, resources: {b: {connectionDetails: {k: "
                  "dg==}}}}}",
                  "{desired: {composite: {resource: {x: 1}, ready: READY_FALSE}, resources: {b: {connectionDetails: "
                  "{k: dg==}}}}, results: [" WAITS ", {severity: SEVERITY_FATAL, target: TARGET_COMPOSITE, message: "
                  "'cannot compile regex (: error parsing regexp: missing closing ): `^($`'}]}" },
                { "no composite", RESET, "{desired: {resources: {b: {resource: {}}}}}",
                  "{desired: {resources: {b: {resource: {}}}}, results: [" WAITS
                  ", " FATAL("cannot reset readiness of the composite resource: there is no desired one") "]}" },
        };

        CHECK_CASES(FUNCTION, cases);
}

TEST(sets_the_ttl)
{
        static const struct function_case cases[] = {
                { "ttl", "{cacheTTL: 5m}", "{}", "{meta: {ttl: 300s}, desired: {}}" },
                { "empty", "{cacheTTL: ''}", "{}", "{desired: {}}" },
                { "negative", "{cacheTTL: -1.5s}", "{}", "{meta: {ttl: -1.5s}, desired: {}}" },
                { "bad", "{cacheTTL: x}", "{}",
                  "{results: [" FATAL("cannot set cacheTTL: time: invalid duration \"x\"") "]}" },
        };

        CHECK_CASES(FUNCTION, cases);
}

TEST(fatal_results_leave_desired_state_alone)
{
        static const struct function_case cases[] = {
                { "both", RULES("{sequence: [a, b], createOnly: true, deleteOnly: true}"),
                  "{desired: {resources: {b: {connectionDetails: {k: dg==}}}}}",
                  "{desired: {resources: {b: {connectionDetails: {k: dg==}}}}, results: [" FATAL(
                          "rule for sequence [a b] cannot have both deleteOnly and createOnly set to true") "]}" },
                { "regex", RULES("{sequence: [a, b]}, {sequence: ['(', b]}"),
                  "{desired: {resources: {b: {resource: {}}}}}",
                  "{desired: {resources: {b: {resource: {}}}}, results: [" WAITS ", {severity: SEVERITY_FATAL, target: "
                  "TARGET_COMPOSITE, message: 'cannot compile regex (: error parsing regexp: missing closing ): "
                  "`^($`'}]}" },
                { "regex of the element", RULES("{sequence: [a, '(']}"), "{}",
                  "{results: [{severity: SEVERITY_FATAL, target: TARGET_COMPOSITE, message: 'cannot compile regex (: "
                  "error parsing regexp: missing closing ): `^($`'}]}" },
                { "a regex that is not reached", RULES("{sequence: ['(']}, {sequence: [a, b, '(']}"),
                  "{observed: {resources: {b: {resource: {}}, (: {resource: {}}}}}", "{desired: {}}" },
                { "condition", RULES("{sequence: [a, b], condition: 'true'}"),
                  "{desired: {resources: {b: {resource: {}}}}}",
                  "{desired: {resources: {b: {resource: {}}}}, results: [" FATAL(
                          "cannot evaluate condition \"true\" for sequence [a b]: CEL is not part of this build of "
                          "weft; "
                          "remove the condition, or run the function outside of weft") "]}" },
                { "input", RULES("{sequence: [1]}"), "{}",
                  "{results: [" FATAL(
                          "cannot get Function input from *v1.RunFunctionRequest: cannot get function input "
                          "*v1beta1.Input from *v1.RunFunctionRequest: cannot unmarshal JSON from "
                          "*structpb.Struct into *v1beta1.Input: rules[0].sequence[0]: must be a string") "]}" },
        };

        CHECK_CASES(FUNCTION, cases);
}

/* The digests are sha256 of the lower-cased part: `printf %s bucket-b-vpc-a | sha256sum`. */
#define DELETION(rest) "{enableDeletionSequencing: true, rules: [{sequence: [a, b]}]" rest "}"
#define VPC            "{resource: {apiVersion: ec2/v1, kind: VPC, metadata: {name: a, namespace: ns}}}"
#define BUCKET         "{resource: {apiVersion: s3/v1, kind: Bucket, metadata: {name: b}}}"
#define STATE(a, b)    "{observed: {resources: {a: " a ", b: " b "}}, desired: {resources: {a: {resource: {}}}}}"
#define SPEC(replay)                                                                                                 \
        "spec: {by: {apiVersion: s3/v1, kind: Bucket, resourceRef: {name: b}}, of: {apiVersion: ec2/v1, kind: VPC, " \
        "resourceRef: {name: a}}, reason: dependency, replayDeletion: " replay "}"
#define USAGE_NAME "name: bucket-b-vpc-a-a08178-dependency"
#define ANSWER(usage) \
        "{desired: {resources: {a: {resource: {}}, b-a-usage: {ready: READY_TRUE, resource: {" usage "}}}}}"

#define NAMELESS                                                                                                       \
        "{apiVersion: protection.crossplane.io/v1beta1, kind: ClusterUsage, metadata: {name: ----cb3f91-dependency}, " \
        "spec: {by: {apiVersion: '', kind: '', resourceRef: {name: ''}}, of: {apiVersion: '', kind: '', resourceRef: " \
        "{name: ''}}, reason: dependency, replayDeletion: false}}"

#define USED_BY(version, kind, name)                                                                              \
        ANSWER("apiVersion: protection.crossplane.io/v1beta1, kind: Usage, metadata: {name: " name                \
               ", namespace: ns}, spec: {by: {apiVersion: " version ", kind: " kind                               \
               ", resourceRef: {name: b}}, of: {apiVersion: ec2/v1, kind: VPC, resourceRef: {name: a}}, reason: " \
               "dependency, replayDeletion: false}")

TEST(protects_what_others_use)
{
        static const struct function_case cases[] = {
                { "off", RULES("{sequence: [a, b]}"), STATE(VPC, BUCKET),
                  "{desired: {resources: {a: {resource: {}}}}}" },
                { "in the namespace of what is used", DELETION(""), STATE(VPC, BUCKET),
                  ANSWER("apiVersion: protection.crossplane.io/v1beta1, kind: Usage, metadata: {" USAGE_NAME
                         ", namespace: ns}, " SPEC("false")) },
                { "any other version is v2", DELETION(", usageVersion: v3, replayDeletion: true"), STATE(VPC, BUCKET),
                  ANSWER("apiVersion: protection.crossplane.io/v1beta1, kind: Usage, metadata: {" USAGE_NAME
                         ", namespace: ns}, " SPEC("true")) },
                { "v1", DELETION(", usageVersion: v1"), STATE(VPC, BUCKET),
                  ANSWER("apiVersion: apiextensions.crossplane.io/v1beta1, kind: Usage, metadata: {" USAGE_NAME
                         "}, " SPEC("false")) },
                { "without a namespace", DELETION(", usageVersion: v2"),
                  STATE("{resource: {apiVersion: ec2/v1, kind: VPC, metadata: {name: a}}}", BUCKET),
                  ANSWER("apiVersion: protection.crossplane.io/v1beta1, kind: ClusterUsage, metadata: {" USAGE_NAME
                         "}, " SPEC("false")) },
                { "not for createOnly",
                  "{enableDeletionSequencing: true, rules: [{sequence: [a, b], createOnly: true}]}", STATE(VPC, BUCKET),
                  "{desired: {resources: {a: {resource: {}}}}}" },
                { "for deleteOnly", "{enableDeletionSequencing: true, rules: [{sequence: [a, b], deleteOnly: true}]}",
                  STATE(VPC, BUCKET),
                  ANSWER("apiVersion: protection.crossplane.io/v1beta1, kind: Usage, metadata: {" USAGE_NAME
                         ", namespace: ns}, " SPEC("false")) },
                { "what is used must be desired", DELETION(""),
                  "{observed: {resources: {a: " VPC ", b: " BUCKET "}}, desired: {resources: {c: {resource: {}}}}}",
                  "{desired: {resources: {c: {resource: {}}}}}" },
                { "what is used must be observed", DELETION(""),
                  "{observed: {resources: {b: " BUCKET "}}, desired: {resources: {a: {resource: {}}}}}",
                  "{desired: {resources: {a: {resource: {}}}}}" },
                { "usages use nothing", DELETION(""),
                  STATE(VPC, "{resource: {apiVersion: protection.crossplane.io/v1beta1, kind: Usage}}"),
                  "{desired: {resources: {a: {resource: {}}}}}" },
                { "usages of a cluster neither", DELETION(""),
                  STATE(VPC, "{resource: {apiVersion: protection.crossplane.io/v1beta1, kind: ClusterUsage}}"),
                  "{desired: {resources: {a: {resource: {}}}}}" },
                { "the last of a name, in the place of what had it",
                  "{enableDeletionSequencing: true, rules: [{sequence: [a, b]}, {sequence: [a, b]}]}",
                  "{observed: {resources: {a: {}, b: {}}}, desired: {resources: {a: {resource: {}}, b-a-usage: "
                  "{resource: {x: "
                  "1}}, c: {resource: {}}}}}",
                  "{desired: {resources: {a: {resource: {}}, b-a-usage: {ready: READY_TRUE, resource: " NAMELESS
                  "}, c: {resource: {}}}}}" },
                { "a Usage of another group is any resource", DELETION(""),
                  STATE(VPC, "{resource: {apiVersion: example.org/v1, kind: Usage, metadata: {name: b}}}"),
                  USED_BY("example.org/v1", "Usage", "usage-b-vpc-a-41c762-dependency") },
                { "a Usage of v1 is one to v1 alone", DELETION(", usageVersion: v1"),
                  STATE(VPC, "{resource: {apiVersion: apiextensions.crossplane.io/v1beta1, kind: Usage}}"),
                  "{desired: {resources: {a: {resource: {}}}}}" },
                { "to v2 it is any resource", DELETION(""),
                  STATE(VPC, "{resource: {apiVersion: apiextensions.crossplane.io/v1beta1, kind: Usage, metadata: "
                             "{name: b}}}"),
                  USED_BY("apiextensions.crossplane.io/v1beta1", "Usage", "usage-b-vpc-a-41c762-dependency") },
                { "v1 has no ClusterUsage", DELETION(", usageVersion: v1"),
                  STATE(VPC, "{resource: {apiVersion: apiextensions.crossplane.io/v1beta1, kind: ClusterUsage, "
                             "metadata: {name: b}}}"),
                  ANSWER("apiVersion: apiextensions.crossplane.io/v1beta1, kind: Usage, metadata: {name: "
                         "clusterusage-b-vpc-a-124767-dependency}, spec: {by: {apiVersion: "
                         "apiextensions.crossplane.io/v1beta1, kind: ClusterUsage, resourceRef: {name: b}}, of: "
                         "{apiVersion: ec2/v1, kind: VPC, resourceRef: {name: a}}, reason: dependency, replayDeletion: "
                         "false}") },
                { "rules neither hold usages back nor count them",
                  "{enableDeletionSequencing: true, rules: [{sequence: [a, b]}, {sequence: [x, '.*-usage', z]}]}",
                  "{observed: {resources: {a: {}, b: {}}}, desired: {resources: {a: {resource: {}, ready: READY_TRUE}, "
                  "z: {resource: {}}}}}",
                  "{desired: {resources: {a: {resource: {}, ready: READY_TRUE}, b-a-usage: {ready: READY_TRUE, "
                  "resource: " NAMELESS "}}}, results: [" NORMAL(
                          "Delaying creation of resource(s) matching \".*-usage\" because \"x\" does not exist "
                          "yet") ", " NORMAL("Delaying creation of resource(s) matching \"z\" because \"x\" does not "
                                             "exist yet") "]}" },
                { "rules wait for what a usage will replace",
                  "{enableDeletionSequencing: true, rules: [{sequence: [a, b]}, {sequence: [b-a-usage, z]}]}",
                  "{observed: {resources: {a: {}, b: {}}}, desired: {resources: {a: {resource: {}}, b-a-usage: "
                  "{resource: {}}, z: {resource: {}}}}}",
                  "{desired: {resources: {a: {resource: {}}, b-a-usage: {ready: READY_TRUE, resource: " NAMELESS
                  "}}}, results: [" NORMAL("Delaying creation of resource(s) matching \"z\" because \"b-a-usage\" is "
                                           "not fully ready (0 of 1)") "]}" },
                { "several of both, by name",
                  "{enableDeletionSequencing: true, rules: [{sequence: ['[a-c]', '[a-c]']}]}",
                  "{observed: {resources: {c: {}, a: {}}}, desired: {resources: {a: {resource: {}, ready: READY_TRUE}, "
                  "c: "
                  "{resource: {}, ready: READY_TRUE}}}}",
                  "{desired: {resources: {a: {resource: {}, ready: READY_TRUE}, c: {resource: {}, ready: READY_TRUE}, "
                  "a-a-usage: "
                  "{ready: READY_TRUE, resource: " NAMELESS "}, a-c-usage: {ready: READY_TRUE, resource: " NAMELESS
                  "}, c-a-usage: {ready: READY_TRUE, resource: " NAMELESS
                  "}, c-c-usage: {ready: READY_TRUE, resource: " NAMELESS "}}}}" },
                { "each neighbour, and no farther", "{enableDeletionSequencing: true, rules: [{sequence: [a, b, c]}]}",
                  "{observed: {resources: {a: {resource: {}}, b: {resource: {}}, c: {resource: {}}}}, desired: "
                  "{resources: {a: {resource: {}}, b: {resource: {}}}}}",
                  "{desired: {resources: {a: {resource: {}}, b: {resource: {}}, b-a-usage: {ready: READY_TRUE, "
                  "resource: " NAMELESS "}, c-b-usage: "
                  "{ready: READY_TRUE, resource: " NAMELESS "}}}}" },
        };

        CHECK_CASES(FUNCTION, cases);
}

#define LONG_STATE(a, b)                                                            \
        STATE("{resource: {apiVersion: v1, kind: Other, metadata: {name: " a "}}}", \
              "{resource: {apiVersion: v1, kind: Kind, metadata: {name: " b "}}}")
#define LONG_ANSWER(a, b, usage)                                                                           \
        ANSWER("apiVersion: protection.crossplane.io/v1beta1, kind: ClusterUsage, metadata: {name: " usage \
               "}, spec: {by: {apiVersion: v1, kind: Kind, resourceRef: {name: " b                         \
               "}}, of: {apiVersion: v1, kind: Other, resourceRef: {name: " a                              \
               "}}, reason: dependency, replayDeletion: false}")

TEST(names_of_usages_are_short)
{
        static const struct function_case cases[] = {
                { "63 characters", DELETION(""), LONG_STATE("ooooooooooooo", "bbbbbbbbbbbbbbbbbbbb"),
                  LONG_ANSWER("ooooooooooooo", "bbbbbbbbbbbbbbbbbbbb",
                              "kind-bbbbbbbbbbbbbbbbbbbb-other-ooooooooooooo-076a70-dependency") },
                { "64 characters", DELETION(""), LONG_STATE("ooooooooooooo", "bbbbbbbbbbbbbbbbbbbbb"),
                  LONG_ANSWER("ooooooooooooo", "bbbbbbbbbbbbbbbbbbbbb",
                              "kind-bbbbbbbbbbbbbbbbbbbbb-other-oooooooooooo-af487c-dependency") },
                { "lower case of every script", DELETION(""), LONG_STATE("ÄΣİǅ", "Ω"),
                  LONG_ANSWER("ÄΣİǅ", "Ω", "kind-ω-other-äσiǆ-37770a-dependency") },
                { "cut between characters", DELETION(""),
                  LONG_STATE("oooooooooooooooooooooooooooo", "bäääääääääääääääääääääääää"),
                  LONG_ANSWER("oooooooooooooooooooooooooooo", "bäääääääääääääääääääääääää",
                              "kind-bäääääääääääääääääää-6c07f7-dependency") },
                { "cut at a dash", DELETION(""), LONG_STATE("oooooooooooo-xyz", "bbbbbbbbbbbbbbbbbbbb"),
                  LONG_ANSWER("oooooooooooo-xyz", "bbbbbbbbbbbbbbbbbbbb",
                              "kind-bbbbbbbbbbbbbbbbbbbb-other-oooooooooooo-37525d-dependency") },
        };

        CHECK_CASES(FUNCTION, cases);
}

TEST(a_pattern_that_does_not_compile_while_usages_are_built_fails_the_call)
{
        static const struct function_case wrong = { "regex",
                                                    "{enableDeletionSequencing: true, rules: [{sequence: [a, '(']}]}",
                                                    "{}", NULL };
        _cleanup_err_ struct err err = { 0 };
        _cleanup_arena_ struct arena a;
        const struct value *rsp;

        arena_init(&a, "test", 0);
        ASSERT(call_function(&a, FUNCTION, &wrong, false, &rsp, &err) < 0);
        ASSERT_TEXT(err_message(&err), "cannot compile regex (: error parsing regexp: missing closing ): `^($`");
}

/* Elements and resources multiply: the work ends when the call's time does, be it over creation or usages. */
TEST(the_deadline_ends_it)
{
        static const struct function_case cases[] = {
                { "creation", RULES("{sequence: [a, b]}"), "{desired: {resources: {a: " READY ", b: " READY "}}}" },
                { "usages", "{enableDeletionSequencing: true, rules: [{sequence: [a, b]}]}",
                  "{observed: {resources: {a: {resource: {}}, b: {resource: {}}}}, desired: {resources: {a: " READY
                  ", b: " READY "}}}" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_err_ struct err err = { 0 };
                _cleanup_arena_ struct arena a;
                struct run run = { .arena = &a, .deadline = deadline_after_ms(-1) };
                struct fn_request req;
                struct fn_response rsp;
                int r;

                arena_init(&a, "test", 0);
                read_request(&a, &cases[i], false, &req);
                r = function_sequencer.run(&run, &req, &rsp, &err);
                ASSERT_STR_CASE(cases[i].name, r < 0 ? str_from(err_message(&err)) : rsp.results[0].message,
                                STR("the deadline of the call has passed"));
        }
}

/* The matches of an element are counted again when some of them were held back. */
TEST(counts_again_what_has_changed)
{
        static const struct function_case cases[] = {
                { "an element that was counted before", RULES("{sequence: ['[ab]', a, d]}"),
                  "{desired: {resources: {a: " READY ", b: {resource: {}}, d: {resource: {}}}}}",
                  "{desired: {resources: {b: {resource: {}}}}, results: [" NORMAL(
                          "Delaying creation of resource(s) matching \"a\" because \"[ab]\" is not fully ready (1 of "
                          "2)") ", " NORMAL("Delaying creation of resource(s) matching \"d\" because \"[ab]\" is not "
                                            "fully ready (0 of 1)") "]}" },
        };

        CHECK_CASES(FUNCTION, cases);
}
