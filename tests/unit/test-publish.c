/* The connection secret of legacy composites (docs/spec/engine 1.7). */
#include "engine-test.h"

#define DETAILS(map) "{desired: {composite: {connectionDetails: " map "}}}"
#define PUBLISHED    "Normal PublishConnectionSecret: Successfully published connection details\n"
#define USER         "\"user\":\"cm9vdA==\"" /* root */
#define CANNOT       "cannot publish connection details: cannot apply connection secret: "

static const struct object_key secret_key = {
        .gvk = { STR_INIT(""), STR_INIT("v1"), STR_INIT("Secret") },
        .ns = STR_INIT("default"),
        .name = STR_INIT("conn"),
};

static void start(const char *definition, const char *answer)
{
        set_up(SCOPE_LEGACY, definition);
        answers[0] = answer;
        make_revision(make_composition("apps", 0, 1, NULL), 1, true);
        make_composite("web",
                       "{compositionRef: {name: apps}, writeConnectionSecretToRef: {name: conn, namespace: default}}");
}

static void check_data(const char *wanted)
{
        check_value("data", value_get(get(&secret_key), STR("data")) ?: &value_null, wanted);
}

static struct str stamp(void)
{
        return value_str(value_find(get(&key), "status", "connectionDetails", "lastPublishedTime"));
}

/* Whether the last event says that it was published. */
static bool is_published(const struct reconcile_result *result)
{
        return strstr(events_text(result), PUBLISHED);
}

TEST(a_secret_is_made_and_belongs_to_the_composite)
{
        struct owner_reference owner;
        struct reconcile_result result;
        const struct value *secret;

        start(NULL, DETAILS("{user: cm9vdA==, host: aA==}"));
        result = reconcile_ok();
        ASSERT(is_published(&result));
        secret = get(&secret_key);
        ASSERT_STR(value_str(value_get(secret, STR("type"))), STR("connection.crossplane.io/v1alpha1"));
        ASSERT(owner_controller(secret, &owner));
        ASSERT_STR(owner.uid, meta_uid(get(&key)));
        ASSERT(owner.blocks_owner_deletion);
        check_data("{" USER ",\"host\":\"aA==\"}");
        ASSERT(stamp().n > 0);
        result = reconcile_ok();
        ASSERT(!is_published(&result));
        ASSERT_INT(faulty.n_writes, 0);
        tear_down();
}

TEST(keys_are_added_and_replaced_but_not_removed)
{
        struct reconcile_result result;

        start(NULL, DETAILS("{user: cm9vdA==}"));
        reconcile_ok();
        answers[0] = DETAILS("{user: eA==, host: aA==}");
        result = reconcile_ok();
        ASSERT(is_published(&result));
        check_data("{\"user\":\"eA==\",\"host\":\"aA==\"}");
        answers[0] = DETAILS("{host: aA==}");
        result = reconcile_ok();
        ASSERT(!is_published(&result));
        check_data("{\"user\":\"eA==\",\"host\":\"aA==\"}");
        tear_down();
}

TEST(only_the_keys_of_the_definition_are_published)
{
        start("{connectionSecretKeys: [user, port]}", DETAILS("{user: cm9vdA==, host: aA==}"));
        reconcile_ok();
        check_data("{" USER "}");
        tear_down();
        start("{connectionSecretKeys: [port]}", DETAILS("{user: cm9vdA==, host: aA==}"));
        reconcile_ok();
        ASSERT(get(&secret_key));
        check_data("null");
        reconcile_ok();
        ASSERT_INT(faulty.n_writes, 0);
        tear_down();
}

TEST(a_secret_that_was_changed_is_put_right)
{
        struct reconcile_result result;

        start(NULL, DETAILS("{user: cm9vdA==}"));
        reconcile_ok();
        patch(&secret_key, "{data: {user: eA==, theirs: eA==}}");
        result = reconcile_ok();
        ASSERT(is_published(&result));
        check_data("{" USER ",\"theirs\":\"eA==\"}");
        remove_object(&secret_key);
        result = reconcile_ok();
        ASSERT(is_published(&result));
        check_data("{" USER "}");
        tear_down();
}

TEST(a_secret_of_the_right_type_that_nobody_controls_is_taken)
{
        struct owner_reference owner;

        start(NULL, DETAILS("{user: cm9vdA==}"));
        create(yaml("{apiVersion: v1, kind: Secret, metadata: {name: conn, namespace: default}, type: "
                    "connection.crossplane.io/v1alpha1, data: "
                    "{theirs: eA==}}"));
        reconcile_ok();
        check_data("{" USER ",\"theirs\":\"eA==\"}");
        ASSERT(owner_controller(get(&secret_key), &owner));
        ASSERT_STR(owner.uid, meta_uid(get(&key)));
        tear_down();
}

TEST(a_secret_of_somebody_else_is_left_alone)
{
        static const struct {
                const char *secret;
                const char *message; /* of the composite's uid */
        } cases[] = {
                { "{apiVersion: v1, kind: Secret, metadata: {name: conn, namespace: default}, type: Opaque, data: "
                  "{theirs: eA==}}",
                  CANNOT "refusing to modify uncontrolled secret of type \"Opaque\"%.0s" },
                { "{apiVersion: v1, kind: Secret, metadata: {name: conn, namespace: default, ownerReferences: "
                  "[{apiVersion: v1, kind: ConfigMap, "
                  "name: boss, uid: %s, controller: true}]}, type: connection.crossplane.io/v1alpha1, data: {theirs: "
                  "eA==}}",
                  CANNOT "existing secret is not controlled by UID \"%s\"" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct reconcile_result result;
                const struct value *boss, *before;
                const char *message;

                start(NULL, "{desired: {composite: {connectionDetails: {user: cm9vdA==}, resource: {status: {url: "
                            "x}}}, resources: {b: {resource: "
                            "{apiVersion: s3.example.org/v1, kind: Bucket, metadata: {namespace: default}}}}}, "
                            "results: [{severity: "
                            "SEVERITY_NORMAL, message: hello}], conditions: [{type: Database, status: "
                            "STATUS_CONDITION_TRUE, reason: Up}]}");
                boss = create(yaml("{apiVersion: v1, kind: ConfigMap, metadata: {name: boss, namespace: default}}"));
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
                create(yaml(text(cases[i].secret, arena_cstring(&arena, meta_uid(boss)))));
                message = text(cases[i].message, arena_cstring(&arena, meta_uid(get(&key))));
#pragma GCC diagnostic pop
                before = get(&secret_key);
                result = reconcile_error(message);
                ASSERT_STR(result.events[result.n_events - 1].reason, STR("PublishConnectionSecret"));
                ASSERT_STR(result.events[result.n_events - 1].message, str_from(message));
                ASSERT(value_equal(before, get(&secret_key)));
                ASSERT_STR(condition("Synced").message, str_from(message));
                /* The resources and the status are there; what functions said of conditions is not. */
                ASSERT_INT(list(BUCKET, meta_uid(get(&key))).n, 1);
                ASSERT_STR(value_str(value_find(get(&key), "status", "url")), STR("x"));
                ASSERT_INT(condition("Database").reason.n, 0);
                ASSERT(stamp().n == 0);
                tear_down();
        }
}

/* The functions see what was published, and what composed resources have published. */
TEST(functions_get_connection_details)
{
        start(NULL, "{desired: {composite: {connectionDetails: {user: cm9vdA==}}, resources: {b: {resource: "
                    "{apiVersion: s3.example.org/v1, kind: "
                    "Bucket, metadata: {namespace: default}, spec: {writeConnectionSecretToRef: {name: of-b}}}}}}}");
        create(yaml("{apiVersion: v1, kind: Secret, metadata: {name: of-b, namespace: default}, data: {token: dA==}}"));
        reconcile_ok();
        ASSERT_INT(n_seen_details, 0);
        reconcile_ok();
        ASSERT_INT(n_seen_details, 2); /* user of the composite, token of the resource */
        tear_down();
}

TEST(who_published_and_could_not_say_so_says_it_later)
{
        struct reconcile_result result;
        size_t n;

        start(NULL, DETAILS("{user: cm9vdA==}"));
        reconcile_ok();
        n = faulty.n_writes;
        make_composite("again",
                       "{compositionRef: {name: apps}, writeConnectionSecretToRef: {name: conn2, namespace: default}}");
        faulty_reset(&faulty, FAULT_CRASH, n - 1); /* the last write is that of the status */
        ASSERT(reconcile(&result, NULL) < 0);
        ASSERT(faulty.has_fired && stamp().n == 0);
        result = reconcile_ok();
        ASSERT(is_published(&result));
        ASSERT(stamp().n > 0);
        tear_down();
}
