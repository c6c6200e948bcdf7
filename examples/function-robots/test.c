/* Each case is a request and the whole response that it should give. */
#include "function.h"

#define XR                                                       \
        "observed:\n"                                            \
        "  composite:\n"                                         \
        "    resource:\n"                                        \
        "      apiVersion: contribfest.crossplane.io/v1alpha1\n" \
        "      kind: XRobotGroup\n"

#define FATAL(text)            \
        "meta: { ttl: 60s }\n" \
        "results:\n"           \
        "- { severity: SEVERITY_FATAL, target: TARGET_COMPOSITE, message: '" text "' }\n"

static const struct weft_test tests[] = {
        {
                .name = "robots get external names and colors, and the user is told",
                .request = "meta: { tag: first }\n" XR "      metadata: { name: somename }\n"
                           "      spec: { count: 2 }\n",
                .response = "meta: { tag: first, ttl: 60s }\n"
                            "desired:\n"
                            "  resources:\n"
                            "    robot-0:\n"
                            "      resource:\n"
                            "        apiVersion: iam.dummy.upbound.io/v1alpha1\n"
                            "        kind: Robot\n"
                            "        metadata: { annotations: { crossplane.io/external-name: somename-robot-0 } }\n"
                            "        spec: { forProvider: { color: red } }\n"
                            "    robot-1:\n"
                            "      resource:\n"
                            "        apiVersion: iam.dummy.upbound.io/v1alpha1\n"
                            "        kind: Robot\n"
                            "        metadata: { annotations: { crossplane.io/external-name: somename-robot-1 } }\n"
                            "        spec: { forProvider: { color: orange } }\n"
                            "results:\n"
                            "- severity: SEVERITY_NORMAL\n"
                            "  target: TARGET_COMPOSITE\n"
                            "  message: set robot \"robot-0\" color to \"red\"\n"
                            "- severity: SEVERITY_NORMAL\n"
                            "  target: TARGET_COMPOSITE\n"
                            "  message: set robot \"robot-1\" color to \"orange\"\n",
        },
        {
                .name = "a color stays once chosen, and what others desire is passed on",
                .request = XR "      metadata:\n"
                              "        name: somename\n"
                              "        annotations: { crossplane.io/external-name: group }\n"
                              "      spec: { count: 2 }\n"
                              "  resources:\n"
                              "    robot-0:\n"
                              "      resource:\n"
                              "        spec: { forProvider: { color: purple } }\n"
                              "        status: { conditions: [{ type: Ready, status: 'True' }] }\n"
                              "desired:\n"
                              "  resources:\n"
                              "    other: { resource: { kind: Bucket }, ready: READY_FALSE }\n"
                              "    robot-1: { resource: { spec: { forProvider: { color: pink } } } }\n",
                .response = "meta: { ttl: 60s }\n"
                            "desired:\n"
                            "  resources:\n"
                            "    other: { resource: { kind: Bucket }, ready: READY_FALSE }\n"
                            "    robot-0:\n"
                            "      ready: READY_TRUE\n"
                            "      resource:\n"
                            "        apiVersion: iam.dummy.upbound.io/v1alpha1\n"
                            "        kind: Robot\n"
                            "        metadata: { annotations: { crossplane.io/external-name: group-robot-0 } }\n"
                            "        spec: { forProvider: { color: purple } }\n"
                            "    robot-1:\n"
                            "      resource:\n"
                            "        apiVersion: iam.dummy.upbound.io/v1alpha1\n"
                            "        kind: Robot\n"
                            "        metadata: { annotations: { crossplane.io/external-name: group-robot-1 } }\n"
                            "        spec: { forProvider: { color: pink } }\n",
        },
        {
                .name = "no robots are no robots",
                .request = XR "      metadata: { name: somename }\n      spec: { count: 0 }\n",
                .response = "meta: { ttl: 60s }\n",
        },
        {
                .name = "a missing count is fatal",
                .request = XR "      metadata: { name: somename }\n      spec: {}\n",
                .response = FATAL("observed composite resource: spec.count: no such field"),
        },
        {
                .name = "so is a count that is none",
                .request = XR "      metadata: { name: somename }\n      spec: { count: many }\n",
                .response = FATAL("observed composite resource: spec.count: not a (int64) number"),
        },
        {
                .name = "and one that is out of bounds",
                .request = XR "      metadata: { name: somename }\n      spec: { count: 1001 }\n",
                .response = FATAL("spec.count: 1001 is not between 0 and 1000"),
        },
};

int main(void)
{
        return weft_test(&(struct weft_function) { .name = "function-robots", .run = robots_run }, tests,
                         sizeof(tests) / sizeof(tests[0]));
}
