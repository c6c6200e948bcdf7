/* Which observed resources are ready. Expectations are the answers of the real function, which tests/interop/builtins compares at length. */
#include "function-test.h"

#include "conditions.h"

#define FUNCTION "function-auto-ready"

struct ready_case {
        const char *object;
        bool is_ready;
};

static void check_ready(const struct ready_case *cases, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                _cleanup_arena_ struct arena a;
                struct str request;
                struct function_case c;

                arena_init(&a, "test", 0);
                request =
                        arena_printf(&a, "{observed: {resources: {a: {resource: %s}}}, desired: {resources: {a: {}}}}",
                                     cases[i].object);
                c = (struct function_case) {
                        .name = cases[i].object,
                        .request = request.p,
                        .response = cases[i].is_ready ? "{desired: {resources: {a: {resource: {}, ready: READY_TRUE}}}}"
                                                      : "{desired: {resources: {a: {resource: {}}}}}",
                };
                check_cases(FUNCTION, &c, 1);
        }
}

#define CHECK_READY(cases)          check_ready((cases), ARRAY_SIZE(cases))
#define OBJECT(version, kind, rest) "{apiVersion: " version ", kind: " kind ", " rest "}"
#define CONDITION(type, status)     "{type: " type ", status: '" status "'}"

TEST(kinds_that_are_ready_once_they_exist)
{
        static const struct ready_case cases[] = {
                { "{apiVersion: v1, kind: ConfigMap}", true },
                { "{apiVersion: v1, kind: Secret}", true },
                { "{apiVersion: v1, kind: ServiceAccount}", true },
                { "{apiVersion: v1, kind: Namespace}", true },
                { "{apiVersion: /v1, kind: Namespace}", true },
                { "{apiVersion: v2, kind: Namespace}", false },
                { "{apiVersion: core/v1, kind: Namespace}", false },
                { "{apiVersion: v1/, kind: Namespace}", false },
                { "{apiVersion: a/v1/b, kind: Namespace}", false },
                { "{apiVersion: v1, kind: namespace}", false },
                { "{apiVersion: v1}", false },
                { "{kind: Namespace}", false },
                { "{apiVersion: v1, kind: Node}", false },
                { "{}", false },
        };

        CHECK_READY(cases);
}

TEST(services_and_ingresses)
{
#define SERVICE(rest) OBJECT("v1", "Service", rest)
#define INGRESS(list) "status: {loadBalancer: {ingress: " list "}}"
        static const struct ready_case cases[] = {
                { SERVICE("spec: {type: ClusterIP}"), true },
                { SERVICE("spec: {}"), true },
                { SERVICE("spec: {type: 5}"), true },
                { SERVICE("spec: {type: LoadBalancer}"), false },
                { SERVICE("spec: {type: LoadBalancer}, " INGRESS("[]")), false },
                { SERVICE("spec: {type: LoadBalancer}, " INGRESS("{a: 1}")), false },
                { SERVICE("spec: {type: LoadBalancer}, " INGRESS("[{ip: 1.2.3.4}]")), true },
                { OBJECT("networking.k8s.io/v1", "Ingress", INGRESS("[{ip: 1.2.3.4}]")), true },
                { OBJECT("networking.k8s.io/v1", "Ingress", INGRESS("[]")), false },
                { OBJECT("networking.k8s.io/v1", "Ingress", "spec: {}"), false },
        };

        CHECK_READY(cases);
}

TEST(pods_and_claims)
{
#define POD(rest) OBJECT("v1", "Pod", rest)
        static const struct ready_case cases[] = {
                { OBJECT("v1", "PersistentVolumeClaim", "status: {phase: Bound}"), true },
                { OBJECT("v1", "PersistentVolumeClaim", "status: {phase: Pending}"), false },
                { POD("status: {phase: Succeeded}"), true },
                { POD("status: {phase: Failed}"), false },
                { POD("status: {phase: Running}"), false },
                { POD("spec: {restartPolicy: Always}, status: {phase: Running}"), false },
                { POD("spec: {restartPolicy: Always}, status: {phase: Running, conditions: [{type: Ready, status: "
                      "'True'}]}"),
                  true },
                { POD("spec: {restartPolicy: Never}, status: {phase: Running, conditions: [{type: Ready, status: "
                      "'True'}]}"),
                  true },
                { POD("spec: {restartPolicy: Always}, status: {phase: Running, conditions: [{type: Ready, status: "
                      "'False'}, "
                      "{type: Ready, status: 'True'}]}"),
                  true },
                { POD("spec: {restartPolicy: Never}, status: {phase: Running, conditions: [{type: Ready, status: "
                      "'False'}, "
                      "{type: Ready, status: 'True'}]}"),
                  false },
        };

        CHECK_READY(cases);
}

TEST(workloads)
{
#define DEPLOYMENT(spec, updated, available, status)                                                    \
        OBJECT("apps/v1", "Deployment",                                                                 \
               "spec: {" spec "}, status: {updatedReplicas: " updated ", availableReplicas: " available \
               ", conditions: [null, 5, {type: Available, status: '" status "'}]}")
#define STATEFUL_SET(spec, ready, current, revision)                                            \
        OBJECT("apps/v1", "StatefulSet",                                                        \
               "spec: {" spec "}, status: {readyReplicas: " ready ", currentReplicas: " current \
               ", currentRevision: a, updateRevision: " revision "}")
#define DAEMON_SET(a, b, c, d)                                                                          \
        OBJECT("apps/v1", "DaemonSet",                                                                  \
               "status: {desiredNumberScheduled: " a ", numberReady: " b ", updatedNumberScheduled: " c \
               ", numberAvailable: " d "}")
#define REPLICA_SET(spec, status) \
        OBJECT("apps/v1", "ReplicaSet", "metadata: {generation: 2}, spec: {" spec "}, status: {" status "}")
        static const struct ready_case cases[] = {
                { DEPLOYMENT("replicas: 2", "2", "2", "True"), true },
                { DEPLOYMENT("", "1", "1", "True"), true },
                { DEPLOYMENT("replicas: text", "1", "1", "True"), true },
                { DEPLOYMENT("replicas: 1.9", "1", "1", "True"), true },
                { DEPLOYMENT("replicas: 2", "1", "2", "True"), false },
                { DEPLOYMENT("replicas: 2", "2", "1", "True"), false },
                { DEPLOYMENT("replicas: 2", "2", "2", "False"), false },
                { DEPLOYMENT("replicas: 0", "null", "0", "True"), false },
                { OBJECT("apps/v1", "Deployment", "spec: {replicas: 0}"), false },
                { STATEFUL_SET("replicas: 2", "2", "2", "a"), true },
                { STATEFUL_SET("", "1", "1", "a"), true },
                { STATEFUL_SET("replicas: 2", "2", "2", "b"), false },
                { STATEFUL_SET("replicas: 2", "2", "2", "null"), false },
                { STATEFUL_SET("replicas: 2", "1", "2", "a"), false },
                { STATEFUL_SET("replicas: 2", "2", "null", "a"), false },
                { DAEMON_SET("2", "2", "2", "2"), true },
                { DAEMON_SET("2", "1", "2", "2"), false },
                { DAEMON_SET("2", "2", "1", "2"), false },
                { DAEMON_SET("2", "2", "2", "1"), false },
                { DAEMON_SET("null", "0", "0", "0"), false },
                { REPLICA_SET("replicas: 2", "observedGeneration: 2, availableReplicas: 2"), true },
                { REPLICA_SET("", "observedGeneration: 3, availableReplicas: 1"), true },
                { REPLICA_SET("replicas: 0", "observedGeneration: 2"), true },
                { REPLICA_SET("replicas: 2", "observedGeneration: 1, availableReplicas: 2"), false },
                { REPLICA_SET("replicas: 2", "observedGeneration: 2, availableReplicas: 1"), false },
                { REPLICA_SET("", "observedGeneration: 2, availableReplicas: 1, conditions: [{type: ReplicaFailure, "
                                  "status: 'True'}]"),
                  false },
                { REPLICA_SET(
                          "",
                          "observedGeneration: 2, availableReplicas: 1, conditions: [{type: ReplicaFailure, status: "
                          "'False'}]"),
                  true },
                { REPLICA_SET("", "observedGeneration: 2, availableReplicas: 1.5"), false },
                { REPLICA_SET("replicas: 4294967297", "observedGeneration: 2, availableReplicas: 1"), true },
                { REPLICA_SET("", "observedGeneration: -1e300, availableReplicas: 1"), false },
        };

        CHECK_READY(cases);
}

TEST(jobs_and_autoscalers)
{
#define JOB(list)    OBJECT("batch/v1", "Job", "status: {conditions: [" list "]}")
#define SCALER(list) OBJECT("autoscaling/v2", "HorizontalPodAutoscaler", "status: {conditions: [" list "]}")
#define AT(scheduled, succeeded)      \
        OBJECT("batch/v1", "CronJob", \
               "status: {lastScheduleTime: '" scheduled "', lastSuccessfulTime: '" succeeded "'}")
        static const struct ready_case cases[] = {
                { JOB(CONDITION("Complete", "True")), true },
                { JOB(CONDITION("Complete", "False")), false },
                { JOB(CONDITION("Failed", "True") ", " CONDITION("Complete", "True")), false },
                { JOB(CONDITION("Suspended", "True") ", " CONDITION("Complete", "True")), false },
                { JOB(CONDITION("Complete", "True") ", " CONDITION("Failed", "True")), true },
                { JOB(CONDITION("Failed", "False") ", " CONDITION("Complete", "True")), true },
                { JOB(""), false },
                { OBJECT("batch/v1", "CronJob", "spec: {suspend: true}"), true },
                { OBJECT("batch/v1", "CronJob", "spec: {suspend: false}"), false },
                { OBJECT("batch/v1", "CronJob", "status: {lastScheduleTime: '2024-05-01T10:00:00Z'}"), false },
                { OBJECT("batch/v1", "CronJob", "status: {lastScheduleTime: '2024-05-01T10:00:00Z', active: [{}]}"),
                  true },
                { OBJECT("batch/v1", "CronJob", "status: {active: [{}]}"), false },
                { AT("2024-05-01T10:00:00Z", "2024-05-01T10:00:00Z"), true },
                { AT("2024-05-01T10:00:00Z", "2024-05-01T12:00:00+02:00"), true },
                { AT("2024-05-01T10:00:00Z", "2024-05-01T10:00:00.5Z"), true },
                { AT("2024-05-01T10:00:00.5Z", "2024-05-01T10:00:00Z"), false },
                { AT("2024-05-01T10:00:01Z", "2024-05-01T10:00:00.5Z"), false },
                { AT("2024-05-01T10:00:01Z", "2024-05-01T10:00:02Z"), true },
                { SCALER(CONDITION("ScalingActive", "True")), true },
                { SCALER(CONDITION("ScalingLimited", "True")), true },
                { SCALER(CONDITION("AbleToScale", "True")), false },
                { SCALER(CONDITION("FailedGetScale", "True") ", " CONDITION("ScalingActive", "True")), false },
                { SCALER(CONDITION("FailedUpdateScale", "True") ", " CONDITION("ScalingActive", "True")), false },
                { SCALER(CONDITION("FailedGetResourceMetric", "True") ", " CONDITION("ScalingActive", "True")), false },
                { SCALER(CONDITION("InvalidSelector", "True") ", " CONDITION("ScalingActive", "True")), false },
                { SCALER(CONDITION("InvalidSelector", "False") ", " CONDITION("ScalingActive", "True")), true },
                { SCALER(CONDITION("ScalingActive", "True") ", " CONDITION("InvalidSelector", "True")), true },
        };

        CHECK_READY(cases);
}

/* As the real function decodes: a member of a wrong type, wherever it stands, makes a Pod that has succeeded not ready. */
TEST(types_of_the_kubernetes_api)
{
#define SUCCEEDED(rest)    POD("status: {phase: Succeeded}, " rest)
#define IN_CONTAINER(rest) SUCCEEDED("spec: {containers: [{" rest "}]}")
#define PORT(value)        IN_CONTAINER("livenessProbe: {httpGet: {port: " value "}}")
#define OVERHEAD(value)    SUCCEEDED("spec: {overhead: {cpu: " value "}}")
#define SINCE(value)       POD("status: {phase: Succeeded, startTime: " value "}")
        static const struct ready_case cases[] = {
                { SUCCEEDED("spec: {nodeName: x, hostNetwork: true, priority: 5, foo: 5, NodeName: 5}"), true },
                { SUCCEEDED("spec: {nodeName: null, hostNetwork: null, priority: null, containers: null, affinity: "
                            "null}"),
                  true },
                { SUCCEEDED("spec: {nodeName: 5}"), false },
                { SUCCEEDED("spec: {hostNetwork: 'true'}"), false },
                { SUCCEEDED("spec: {priority: 1.5}"), false },
                { SUCCEEDED("spec: {priority: '5'}"), false },
                { SUCCEEDED("spec: {priority: 4294967296, activeDeadlineSeconds: 1e300}"), true },
                { SUCCEEDED("spec: {affinity: x}"), false },
                { SUCCEEDED("spec: x"), false },
                { SUCCEEDED("spec: {containers: {}}"), false },
                { SUCCEEDED("spec: {containers: [x]}"), false },
                { SUCCEEDED("spec: {containers: [null]}"), true },
                { IN_CONTAINER("args: [a, null]"), true },
                { IN_CONTAINER("args: [1]"), false },
                { SUCCEEDED("metadata: {labels: {a: b, c: null}}"), true },
                { SUCCEEDED("metadata: {labels: {a: 1}}"), false },
                { SUCCEEDED("metadata: {labels: []}"), false },
                { SUCCEEDED("metadata: {managedFields: [{fieldsV1: 5}]}"), true },
                { PORT("80"), true },
                { PORT("-1"), true },
                { PORT("http"), true },
                { PORT("2147483648"), false },
                { PORT("1.5"), false },
                { PORT("true"), false },
                { OVERHEAD("5m"), true },
                { OVERHEAD("0.5"), true },
                { OVERHEAD("' 5 '"), true },
                { OVERHEAD("x"), false },
                { OVERHEAD("''"), false },
                { OVERHEAD("true"), false },
                { SINCE("'2024-05-01T10:00:00.5+02:00'"), true },
                { SINCE("null"), true },
                { SINCE("''"), false },
                { SINCE("x"), false },
                { SINCE("5"), false },
        };

        CHECK_READY(cases);
}

TEST(flags_of_others_stay_and_resources_are_emitted_anew)
{
        static const struct function_case cases[] = {
                { "nothing", NULL, "{}", "{desired: {}}" },
                { "flags", NULL,
                  "{meta: {tag: t}, context: {c: 1}, observed: {resources: {a: {resource: {apiVersion: v1, kind: "
                  "Secret}}, b: "
                  "{resource: {apiVersion: v1, kind: Secret}}, c: {resource: {apiVersion: v1, kind: Secret}}, e: {}}}, "
                  "desired: {composite: {ready: READY_TRUE, connectionDetails: {k: dg==}}, resources: {a: {resource: "
                  "{x: 1}, "
                  "connectionDetails: {k: dg==}}, b: {ready: READY_FALSE}, c: {ready: READY_TRUE}, d: {}, e: {}}}}",
                  "{meta: {tag: t, ttl: 60s}, context: {c: 1}, desired: {composite: {ready: READY_TRUE, "
                  "connectionDetails: {k: "
                  "dg==}}, resources: {a: {resource: {x: 1}, ready: READY_TRUE}, b: {resource: {}, ready: "
                  "READY_FALSE}, c: "
                  "{resource: {}, ready: READY_TRUE}, d: {resource: {}}, e: {resource: {}}}}}" },
        };

        CHECK_CASES(FUNCTION, cases);
}

TEST(input)
{
#define FATAL(text) "results: [{severity: SEVERITY_FATAL, target: TARGET_COMPOSITE, message: '" text "'}]"
#define PREFIX                                                                                                  \
        "cannot get Function input from *v1.RunFunctionRequest: cannot get function input *v1beta1.Input from " \
        "*v1.RunFunctionRequest: cannot unmarshal JSON from *structpb.Struct into *v1beta1.Input: "
        static const struct function_case cases[] = {
                { "ttl", "{ttl: 5m}", "{}", "{meta: {ttl: 300s}, desired: {}}" },
                { "empty ttl", "{ttl: ''}", "{}", "{desired: {}}" },
                { "zero", "{ttl: '0'}", "{}", "{meta: {ttl: 0s}, desired: {}}" },
                { "negative", "{ttl: -1ns}", "{}", "{meta: {ttl: -0.000000001s}, desired: {}}" },
                { "bad ttl", "{ttl: bad}", "{desired: {resources: {a: {}}}}",
                  "{desired: {resources: {a: {}}}, " FATAL("cannot set ttl: time: invalid duration \"bad\"") "}" },
                { "no unit", "{ttl: '5'}", "{}",
                  "{" FATAL("cannot set ttl: time: missing unit in duration \"5\"") "}" },
                { "CEL is behind a gate that is off",
                  "{celHealthCheckCustomization: {v1_Pod: 'true', x: null}, celHealthCheckCustomizationFrom: a.b}",
                  "{}", "{desired: {}}" },
                { "CEL that is no text", "{celHealthCheckCustomization: {v1_Pod: true}}", "{}",
                  "{" FATAL(PREFIX "celHealthCheckCustomization.v1_Pod: must be a string") "}" },
                { "CEL that is no map", "{celHealthCheckCustomization: x}", "{}",
                  "{" FATAL(PREFIX "celHealthCheckCustomization: must be an object") "}" },
                { "unknown", "{foo: 1}", "{}", "{" FATAL(PREFIX "foo: unknown field") "}" },
        };

        CHECK_CASES(FUNCTION, cases);
}

TEST(conditions)
{
        static const struct {
                const char *status;
                const char *ready;
        } cases[] = {
                { NULL, "" },
                { "null", "Unknown" },
                { "{}", "Unknown" },
                { "text", "" },
                { "{conditions: null}", "Unknown" },
                { "{conditions: {}}", "" },
                { "{conditions: [{type: Ready, status: 'True'}]}", "True" },
                { "{conditions: [{type: Ready, status: 'False'}, {type: Ready, status: 'True'}]}", "False" },
                { "{conditions: [{type: Ready}]}", "" },
                { "{conditions: [null, {type: Synced}]}", "Unknown" },
                { "{conditions: [5, {type: Ready, status: 'True'}]}", "" },
                { "{conditions: [{type: 5}, {type: Ready, status: 'True'}]}", "" },
                { "{conditions: [{Type: 5, other: 5, type: Ready, status: 'True', reason: null, message: m}]}",
                  "True" },
                { "{conditions: [{type: Ready, status: 'True', reason: 5}]}", "" },
                { "{conditions: [{type: Ready, status: 'True', message: 5}]}", "" },
                { "{conditions: [{type: Ready, status: true}]}", "" },
                { "{conditions: [{type: Ready, status: 'True', lastTransitionTime: null}]}", "True" },
                { "{conditions: [{type: Ready, status: 'True', lastTransitionTime: '2024-05-01T10:00:00.5+02:00'}]}",
                  "True" },
                { "{conditions: [{type: Ready, status: 'True', lastTransitionTime: ''}]}", "" },
                { "{conditions: [{type: Ready, status: 'True', lastTransitionTime: 5}]}", "" },
                { "{conditions: [{type: Ready, status: 'True', observedGeneration: 5}]}", "True" },
                { "{conditions: [{type: Ready, status: 'True', observedGeneration: null}]}", "True" },
                { "{conditions: [{type: Ready, status: 'True', observedGeneration: 5.5}]}", "" },
                { "{conditions: [{type: Ready, status: 'True', observedGeneration: 1e18}]}", "True" },
                { "{conditions: [{type: Ready, status: 'True', observedGeneration: 1e19}]}", "" },
                { "{conditions: [{type: Ready, status: 'True', observedGeneration: '5'}]}", "" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                const char *what = cases[i].status ? cases[i].status : "(none)";
                const struct value *object = &value_empty_object;
                _cleanup_arena_ struct arena a;

                arena_init(&a, "test", 0);
                if (cases[i].status)
                        object = value_with(&a, object, STR("status"),
                                            strcmp(what, "null") == 0 ? &value_null : from_yaml(&a, what, what));
                ASSERT_STR_CASE(what, conditions_status(object, STR("Ready")), str_from(cases[i].ready));
                ASSERT_CASE(what, conditions_is_true(object, STR("Ready")) == (strcmp(cases[i].ready, "True") == 0));
        }
}
