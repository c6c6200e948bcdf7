/* Programs in the process runtime: what they see, how they are supervised. Isolation is in test-sandbox.c. */
#include "runtime-test.h"

#include <arpa/inet.h>

#include "json.h"

TEST(runs)
{
        struct side s;
        struct oci_image *image;
        struct runtime_wish wish;
        struct runtime_state state;

        side_init(&s);
        image = side_probe(&s, PROBE_CONFIG);
        wish = side_wish("function-probe-1", image);
        state = side_ensure(&s, &wish);
        ASSERT_INT(state.phase, RUNTIME_STARTING);
        ASSERT_STR(state.endpoint, STR("dns:///function-probe.crossplane-system:9443"));
        state = side_await(&s, &wish, RUNTIME_READY);
        ASSERT_STR(state.message, STR(""));
        ASSERT_STR(state.ignored, STR(""));
        ASSERT_STR(side_ask(&s, "function-probe-1", "ids"), STR("2000 2000 2000 2"));
        ASSERT_STR(side_ask(&s, "function-probe-1", "read /etc/of-image"), STR("image"));
        ASSERT_STR(side_ask(&s, "function-probe-1", "read /tls/server/tls.crt"), STR("the certificate"));
        ASSERT_STR(side_ask(&s, "function-probe-1", "read /tls/server/tls.key"), STR("the key"));
        ASSERT_STR(side_ask(&s, "function-probe-1", "read /tls/server/ca.crt"), STR("the authority"));
        ASSERT_STR(side_ask(&s, "function-probe-1", "environment TLS_SERVER_CERTS_DIR"), STR("/tls/server"));
        ASSERT_STR(side_ask(&s, "function-probe-1", "environment FUNCTION_NAME"), STR("function-probe"));
        ASSERT_STR(side_ask(&s, "function-probe-1", "environment REVISION_NAME"), STR("function-probe-1"));
        ASSERT_STR(side_ask(&s, "function-probe-1", "environment REVISION_UID"), STR("uid-1"));
        ASSERT_STR(side_ask(&s, "function-probe-1", "environment OF_IMAGE"), STR("1"));
        side_ask(&s, "function-probe-1", "print hello");
        while (!side_has_logged(&s, "function-probe-1: hello\n"))
                thread_yield();
        oci_image_unref(image);
        side_done(&s);
}

/* A program that ends is started again after a pause, and the state says how it ended. */
TEST(restarts)
{
        struct side s;
        struct oci_image *image;
        struct runtime_wish wish;
        struct runtime_state state;
        struct deadline deadline = deadline_after_ms(PATIENCE_MS);
        unsigned n_changes;

        side_init_with(&s, (struct process_runtime_options) { .backoff_ms = 300, .term_ms = 5000 });
        image = side_probe(&s, PROBE_CONFIG);
        wish = side_wish("restarts", image);
        side_await(&s, &wish, RUNTIME_READY);
        n_changes = atomic_load(&s.n_changes);
        side_ask(&s, "restarts", "exit 7");
        state = side_await(&s, &wish, RUNTIME_FAILED);
        ASSERT_STR(state.message, STR("the program ended with status 7; it is started again after 0.3 s"));
        ASSERT(atomic_load(&s.n_changes) > n_changes);
        side_await(&s, &wish, RUNTIME_READY);
        side_ask(&s, "restarts", "abort");
        while (!str_starts_with(state.message, STR("the program was ended by signal 11 (Segmentation fault)"))) {
                ASSERT(!deadline_has_passed(deadline));
                state = side_ensure(&s, &wish);
                thread_yield();
        }
        ASSERT(str_ends_with(state.message, STR("; it is started again after 0.6 s"))); /* longer each time */
        side_await(&s, &wish, RUNTIME_READY);
        oci_image_unref(image);
        side_done(&s);
}

TEST(failures)
{
        static const struct {
                const char *config, *message;
        } cases[] = {
                { "{\"Entrypoint\":[\"/no-such-program\"]}",
                  "cannot run /no-such-program: No such file or directory;" },
                { "{\"Entrypoint\":[\"/probe\",\"fail\"]}",
                  "the program ended with status 3; its last line is: it fails;" },
                { "{\"Entrypoint\":[\"/probe\"],\"WorkingDir\":\"/no/such\"}",
                  "cannot enter the working directory /no/such: No such file or directory;" },
                { "{\"Entrypoint\":[\"/etc/of-image\"]}", "cannot run /etc/of-image: Permission denied;" },
        };
        struct side s;

        side_init(&s);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct oci_image *image = side_probe(&s, cases[i].config);
                char name[32];
                struct runtime_wish wish;
                struct runtime_state state;

                snprintf(name, sizeof(name), "fails-%zu", i);
                wish = side_wish(name, image);
                state = side_await(&s, &wish, RUNTIME_FAILED);
                ASSERT_STR_CASE(name, str_first(state.message, MIN(state.message.n, strlen(cases[i].message))),
                                str_from(cases[i].message));
                runtime_stop(s.runtime, wish.revision);
                oci_image_unref(image);
        }
        side_done(&s);
}

/* Programs of providers share the ports of this machine. */
TEST(taken_ports)
{
        struct sockaddr_in at = { .sin_family = AF_INET };
        socklen_t n = sizeof(at);
        _cleanup_close_ int taken = socket(AF_INET, SOCK_STREAM, 0);
        struct oci_image *image;
        struct runtime_wish wish;
        struct side s;
        char text[128], wanted[160];

        ASSERT(bind(taken, (struct sockaddr *)&at, sizeof(at)) == 0 && listen(taken, 1) == 0 &&
               getsockname(taken, (struct sockaddr *)&at, &n) == 0);
        snprintf(text, sizeof(text), "{\"Entrypoint\":[\"/probe\"],\"Env\":[\"PORT=%d\"]}", ntohs(at.sin_port));
        snprintf(wanted, sizeof(wanted),
                 "the program ended with status 1; another program has a port of this machine that it wants "
                 "({\"error\":\"listen tcp :%d: bind: Address already in use): give it",
                 ntohs(at.sin_port));
        side_init(&s);
        image = side_probe(&s, text);
        wish = side_wish("taken", image);
        wish.kind = XPKG_PROVIDER;
        ASSERT(str_starts_with(side_await(&s, &wish, RUNTIME_FAILED).message, str_from(wanted)));
        oci_image_unref(image);
        side_done(&s);
}

TEST(no_program)
{
        struct side s;
        struct oci_image *image;
        struct runtime_wish wish;
        struct runtime_state state;
        _cleanup_err_ struct err err = { 0 };
        int fd;

        side_init(&s);
        image = side_probe(&s, "{}");
        wish = side_wish("empty", image);
        ASSERT_INT(runtime_ensure(s.runtime, &s.arena, &wish, &state, &err), ERR_INVALID);
        ASSERT_TEXT(err_message(&err),
                    "the image of package \"function-probe\" has no program: its configuration names neither an "
                    "entrypoint nor "
                    "a command (it may be a package without a runtime, see `weft xpkg build --help`)");
        ASSERT_INT(runtime_dial(s.runtime, STR("empty"), &fd, &err), ERR_NOT_FOUND);
        ASSERT_TEXT(err_message(&err), "revision \"empty\" has no program that answers: it is not known");
        runtime_stop(s.runtime, STR("empty"));
        oci_image_unref(image);
        side_done(&s);
}

static const struct value *parse(struct side *s, const char *json)
{
        _cleanup_err_ struct err err = { 0 };
        const struct value *v;

        if (json_parse(&s->arena, str_from(json), NULL, &v, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s: %s", json, err_message(&err));
        return v;
}

#define CONTAINER(fields)                                                                                       \
        "{\"deploymentTemplate\":{\"spec\":{\"selector\":{},\"template\":{\"spec\":{\"containers\":[{\"name\":" \
        "\"package-"                                                                                            \
        "runtime\"," fields "}]}}}}}"

/* Arguments and environment of the config reach the program; a changed wish replaces it, an equal one does not. */
TEST(config)
{
        struct side s;
        struct oci_image *image;
        struct runtime_wish wish;
        struct runtime_state state;
        int fd;

        side_init(&s);
        image = side_probe(&s, "{\"Entrypoint\":[\"/probe\"],\"Cmd\":[\"of-image\"]}");
        wish = side_wish("configured", image);
        side_await(&s, &wish, RUNTIME_READY);
        ASSERT(side_has_logged(&s, "configured: argument of-image\n"));
        fd = side_dial(&s, "configured");
        side_ask_on(&s, fd, "write /tmp/mark");
        side_ensure(&s, &wish);
        ASSERT_STR(side_ask_on(&s, fd, "list /tmp"), STR("mark"));
        close(fd);
        wish.config = parse(
                &s,
                "{\"deploymentTemplate\":{\"metadata\":{},\"spec\":{\"selector\":{},\"strategy\":{},\"template\":{"
                "\"spec\":{\"nodeSelector\":{},\"containers\":[{\"name\":\"sidecar\"},{\"name\":\"package-"
                "runtime\",\"image\":\"x\",\"args\":[\"--level=$(LEVEL)\",\"$$(LEVEL)\",\"$(NO)\"],\"env\":[{\"name\":"
                "\"LEVEL\",\"value\":\"7\"},{\"name\":\"COPY\",\"value\":\"$(LEVEL)$(LEVEL)\"},{\"name\":\"FROM\","
                "\"valueFrom\":{}},{\"name\":\"REVISION_UID\",\"value\":\"x\"}],\"resources\":{\"requests\":{}}}]}}}},"
                "\"serviceTemplate\":{}}");
        state = side_ensure(&s, &wish);
        ASSERT_STR(state.ignored, STR("spec.deploymentTemplate.metadata, spec.deploymentTemplate.spec.strategy, "
                                      "spec.deploymentTemplate.spec.template.spec.containers[0], "
                                      "spec.deploymentTemplate.spec.template.spec.containers[1].env[2].valueFrom, "
                                      "spec.deploymentTemplate.spec.template.spec.containers[1].image, "
                                      "spec.deploymentTemplate.spec.template.spec.containers[1].resources.requests, "
                                      "spec.deploymentTemplate.spec.template.spec.nodeSelector, spec.serviceTemplate"));
        while (!side_has_logged(&s, "configured: argument --level=7\n"))
                thread_yield();
        while (!str_equal(side_ask(&s, "configured", "environment COPY"), STR("77")))
                thread_yield();
        ASSERT(side_has_logged(&s, "configured: argument $(LEVEL)\nconfigured: argument $(NO)\n"));
        ASSERT_STR(side_ask(&s, "configured", "environment REVISION_UID"), STR("uid-1"));
        ASSERT_STR(side_ask(&s, "configured", "list /tmp"), STR("")); /* nothing is left of the first one */
        oci_image_unref(image);
        side_done(&s);
}

TEST(bad_configs)
{
        static const struct {
                const char *config, *message;
        } cases[] = {
                { CONTAINER("\"args\":[1]"),
                  "spec.deploymentTemplate.spec.template.spec.containers[0].args[0] is not a string" },
                { CONTAINER("\"ports\":[{\"name\":\"grpc\",\"containerPort\":70000}]"),
                  "spec.deploymentTemplate.spec.template.spec.containers[0].ports[0].containerPort is not a port" },
                { CONTAINER("\"resources\":{\"limits\":{\"memory\":\"much\"}}"),
                  "spec.deploymentTemplate.spec.template.spec.containers[0].resources.limits.memory: quantities must "
                  "match the "
                  "regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'" },
                { CONTAINER("\"resources\":{\"limits\":{\"nvidia.com/gpu\":1}}"),
                  "spec.deploymentTemplate.spec.template.spec.containers[0].resources.limits.nvidia.com/gpu: this "
                  "runtime can limit "
                  "memory and cpu only; remove the limit" },
                { "{\"deploymentTemplate\":{\"spec\":{\"replicas\":100}}}",
                  "spec.deploymentTemplate.spec.replicas: this runtime starts 0 to 16 replicas" },
        };
        struct side s;
        struct oci_image *image;

        side_init(&s);
        image = side_probe(&s, PROBE_CONFIG);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct runtime_wish wish = side_wish("bad", image);
                struct runtime_state state;
                _cleanup_err_ struct err err = { 0 };
                struct str text = STR("cannot use the DeploymentRuntimeConfig: ");

                wish.config = parse(&s, cases[i].config);
                ASSERT(runtime_ensure(s.runtime, &s.arena, &wish, &state, &err) < 0);
                ASSERT_STR(str_from(err_message(&err)), ARENA_CONCAT(&s.arena, text, str_from(cases[i].message)));
        }
        oci_image_unref(image);
        side_done(&s);
}

/* Two replicas take turns; with none there is no program. */
TEST(replicas)
{
        struct side s;
        struct oci_image *image;
        struct runtime_wish wish;
        struct runtime_state state;
        int one, two;

        side_init(&s);
        image = side_probe(&s, PROBE_CONFIG);
        wish = side_wish("two", image);
        wish.config = parse(&s, "{\"deploymentTemplate\":{\"spec\":{\"replicas\":2}}}");
        side_await(&s, &wish, RUNTIME_READY);
        for (unsigned i = 0;; i++) { /* until both answer */
                char mark[32], command[64];

                snprintf(mark, sizeof(mark), "mark-%u", i);
                snprintf(command, sizeof(command), "write /tmp/%s", mark);
                one = side_dial(&s, "two");
                two = side_dial(&s, "two");
                side_ask_on(&s, one, command);
                if (str_find(side_ask_on(&s, two, "list /tmp"), str_from(mark)) < 0)
                        break;
                close(one);
                close(two);
        }
        close(one);
        close(two);
        wish.config = parse(&s, "{\"deploymentTemplate\":{\"spec\":{\"replicas\":0}}}");
        state = side_await(&s, &wish, RUNTIME_STARTING);
        ASSERT_STR(state.message, STR("no program runs: replicas is 0 in the runtime config"));
        oci_image_unref(image);
        side_done(&s);
}

/* New keys: the new program answers before the old one goes, and the old one goes only when its connections have. */
TEST(replacement)
{
        struct side s;
        struct oci_image *image;
        struct runtime_wish wish;
        struct runtime_state state;
        int old;

        side_init(&s);
        image = side_probe(&s, PROBE_CONFIG);
        wish = side_wish("rotated", image);
        side_await(&s, &wish, RUNTIME_READY);
        old = side_dial(&s, "rotated");
        ASSERT_STR(side_ask_on(&s, old, "read /tls/server/tls.crt"), STR("the certificate"));
        wish.server.cert = STR("another certificate");
        for (;;) {
                state = side_ensure(&s, &wish);
                ASSERT_INT(state.phase, RUNTIME_READY); /* all the time */
                if (str_equal(side_ask(&s, "rotated", "read /tls/server/tls.crt"), STR("another certificate")))
                        break;
        }
        for (int i = 0; i < 10; i++) /* longer than it takes to end a program without connections */
                ASSERT_STR(side_ask(&s, "rotated", "read /tls/server/tls.crt"), STR("another certificate"));
        ASSERT_STR(side_ask_on(&s, old, "read /tls/server/tls.crt"), STR("the certificate"));
        runtime_stop(s.runtime, STR("rotated"));
        close(old);
        oci_image_unref(image);
        side_done(&s);
}
