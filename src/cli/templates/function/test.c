/* Each case is a request and the response that it should give, whole or in part. */
#include "function.h"

#define XR                                    \
        "observed:\n"                         \
        "  composite:\n"                      \
        "    resource:\n"                     \
        "      apiVersion: example.org/v1\n"  \
        "      kind: Greeting\n"              \
        "      metadata: { name: example }\n" \
        "      spec: { name: World }\n"

#define GREETS(text)                           \
        "meta: { ttl: 60s }\n"                 \
        "desired:\n"                           \
        "  composite:\n"                       \
        "    resource:\n"                      \
        "      apiVersion: example.org/v1\n"   \
        "      kind: Greeting\n"               \
        "      status: { text: '" text "' }\n" \
        "  resources:\n"                       \
        "    greeting:\n"                      \
        "      resource:\n"                    \
        "        apiVersion: v1\n"             \
        "        kind: ConfigMap\n"            \
        "        data: { text: '" text "' }\n"

#define FATAL(text)            \
        "meta: { ttl: 60s }\n" \
        "results:\n"           \
        "- { severity: SEVERITY_FATAL, target: TARGET_COMPOSITE, message: '" text "' }\n"

static const struct weft_test tests[] = {
        {
                .name = "the world is greeted",
                .request = XR,
                .response = GREETS("Hello, World!"),
        },
        {
                .name = "the input says how",
                .request = XR "input: { greeting: Good morning }\n",
                .response = GREETS("Good morning, World!"),
        },
        {
                .name = "without input, a flag does",
                .flags = (const char *const[]) { "--greeting=Howdy", NULL },
                .request = XR,
                .response = GREETS("Howdy, World!"),
        },
        {
                .name = "a ConfigMap that exists is ready",
                .request = XR "  resources: { greeting: { resource: { metadata: { name: example-x7x } } } }\n",
                .contains = "desired: { resources: { greeting: { ready: READY_TRUE } } }",
        },
        {
                .name = "a typing error in the input is fatal",
                .request = XR "input: { greting: Hi }\n",
                .response = FATAL("function input: unknown field \"greting\"; did you mean \"greeting\"?"),
        },
        {
                .name = "so is a composite resource without a name to greet",
                .request = "observed: { composite: { resource: { spec: {} } } }",
                .response = FATAL("observed composite resource: spec.name: no such field"),
        },
};

int main(void)
{
        return weft_test(&function, tests, sizeof(tests) / sizeof(tests[0]));
}
