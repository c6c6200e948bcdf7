#include "kube-test.h"

#include "kind.h"
#include "prepare.h"

static const char widgets[] =
        "{\"metadata\":{\"name\":\"widgets.ex.org\"},\"spec\":{\"group\":\"ex.org\",\"scope\":\"Namespaced\",\"names\":"
        "{\"kind\":\"Widget\","
        "\"listKind\":\"WidgetList\",\"plural\":\"widgets\",\"singular\":\"widget\",\"shortNames\":[\"w\",\"wd\"],"
        "\"categories\":[\"all\"]},"
        "\"versions\":[{\"name\":\"v1\",\"served\":true,\"storage\":false,\"deprecated\":true,\"deprecationWarning\":"
        "\"use v2\","
        "\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\"}}},"
        "{\"name\":\"v2\",\"served\":false,\"storage\":true,\"subresources\":{\"status\":{},\"scale\":{"
        "\"specReplicasPath\":\".spec.n\","
        "\"statusReplicasPath\":\".status.n\",\"labelSelectorPath\":\".status.s\"}},\"selectableFields\":[{"
        "\"jsonPath\":\".spec.color\"}],"
        "\"additionalPrinterColumns\":[{\"name\":\"N\",\"type\":\"integer\",\"jsonPath\":\".spec.n\"}],"
        "\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\",\"properties\":{\"spec\":{\"type\":\"object\","
        "\"properties\":{\"color\":"
        "{\"type\":\"string\"},\"n\":{\"type\":\"integer\"}}}}}}}]}}";

TEST(from_a_crd)
{
        _cleanup_arena_ struct arena a;
        _cleanup_err_ struct err err = { 0 };
        const struct kind_version *v;
        struct kind *k;

        arena_init(&a, "test", 0);
        ASSERT_INT(kind_from_crd(from_json(&a, widgets), &k, &err), 0);
        arena_reset(&a); /* nothing of the CRD is needed any more */
        ASSERT_STR(k->group, STR("ex.org"));
        ASSERT_STR(k->kind, STR("Widget"));
        ASSERT_STR(k->list_kind, STR("WidgetList"));
        ASSERT_STR(k->plural, STR("widgets"));
        ASSERT_STR(k->singular, STR("widget"));
        ASSERT_INT(k->n_short_names, 2);
        ASSERT_STR(k->short_names[1], STR("wd"));
        ASSERT_INT(k->n_categories, 1);
        ASSERT(k->is_namespaced && k->is_custom && k->has_generation);
        ASSERT(!k->allows_create_on_update && !k->allows_unconditional_update);
        ASSERT_INT(k->n_versions, 2);
        ASSERT_STR(kind_storage(k)->name, STR("v2"));
        v = kind_version(k, STR("v1"));
        ASSERT(v->is_served && !v->is_storage && v->is_deprecated && !v->has_status && !v->has_scale);
        ASSERT_STR(v->deprecation_warning, STR("use v2"));
        ASSERT(v->selectable_fields && v->n_selectable_fields == 0);
        v = kind_version(k, STR("v2"));
        ASSERT(!v->is_served && v->is_storage && v->has_status && v->has_scale);
        ASSERT_STR(v->scale_spec_path, STR(".spec.n"));
        ASSERT_STR(v->scale_status_path, STR(".status.n"));
        ASSERT_STR(v->scale_selector_path, STR(".status.s"));
        ASSERT_INT(v->n_selectable_fields, 1);
        ASSERT_STR(v->selectable_fields[0], STR("spec.color"));
        ASSERT_INT(schema_node_type(schema_root(v->schema)), SCHEMA_OBJECT);
        ASSERT(!kind_version(k, STR("v3")));
        ASSERT_INT(value_count(k->crd_columns), 1);
        ASSERT_STR(value_str(value_get(value_item(value_get(k->crd_columns, STR("v2")), 0), STR("name"))), STR("N"));
        kind_unref(kind_ref(k));
        ASSERT_STR(kind_subject(k, STR("n")).plural, STR("widgets"));
        kind_unref(k);
        kind_unref(NULL);
}

TEST(from_bad_crds)
{
        _cleanup_arena_ struct arena a;
        _cleanup_err_ struct err err = { 0 };
        struct kind *k;

        arena_init(&a, "test", 0);
        ASSERT_INT(kind_from_crd(from_json(&a, "{}"), &k, &err), ERR_INVALID);
        ASSERT_TEXT(err_message(&err), "spec.versions: Required value");
        ASSERT_INT(kind_from_crd(from_json(&a, "{\"spec\":{\"versions\":[{\"name\":\"v1\"},{\"name\":\"v2\",\"schema\":"
                                               "{\"openAPIV3Schema\":"
                                               "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\","
                                               "\"pattern\":\"(\"}}}}}]}}"),
                                 &k, &err),
                   ERR_INVALID);
        ASSERT(str_find(str_from(err_message(&err)), STR("spec.versions[1].schema.openAPIV3Schema")) >= 0);
}

TEST(without_a_schema)
{
        struct kind *k = kind_schemaless((struct gvk) { STR("ex.org"), STR("v1"), STR("NetworkPolicy") }, true);

        ASSERT_STR(k->plural, STR("networkpolicies"));
        ASSERT_STR(k->singular, STR("networkpolicy"));
        ASSERT_STR(k->list_kind, STR("NetworkPolicyList"));
        ASSERT(k->is_namespaced && k->is_custom && k->has_generation);
        ASSERT(kind_storage(k)->schema == schema_any());
        ASSERT(kind_storage(k)->is_served && kind_storage(k)->is_storage);
        kind_unref(k);
}

/* As apimachinery guesses. */
TEST(plurals)
{
        static const struct {
                const char *kind, *plural;
        } cases[] = {
                { "Widget", "widgets" },
                { "Policy", "policies" },
                { "Key", "keies" },
                { "Bus", "buses" },
                { "Box", "boxs" },
                { "Y", "ies" },
                { "S", "ses" },
                { "", "" },
                { "Endpoints", "endpoints" },
                { "Ы", "ыs" },
                { "CHs", "chses" },
        };
        _cleanup_arena_ struct arena a;

        arena_init(&a, "test", 0);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
                ASSERT_STR(kind_guess_plural(&a, str_from(cases[i].kind)), str_from(cases[i].plural));
}

static struct kind *builtin(const char *kind)
{
        for (struct kind *const *k = kind_builtins(); *k; k++)
                if (str_equal((*k)->kind, str_from(kind)))
                        return *k;
        test_fail(__FILE__, __LINE__, "there is no %s", kind);
}

TEST(builtins)
{
        static const struct {
                const char *kind, *api_version, *plural, *singular;
                bool is_namespaced, has_status, has_generation, creates_on_update, updates_unconditionally;
                enum name_rule name_rule;
        } cases[] = {
                { "Namespace", "v1", "namespaces", "namespace", false, true, false, false, true, NAME_LABEL },
                { "CustomResourceDefinition", "apiextensions.k8s.io/v1", "customresourcedefinitions",
                  "customresourcedefinition", false, true, true, false, false, NAME_SUBDOMAIN },
                { "Secret", "v1", "secrets", "secret", true, false, false, false, true, NAME_SUBDOMAIN },
                { "ConfigMap", "v1", "configmaps", "configmap", true, false, false, false, true, NAME_SUBDOMAIN },
                { "ServiceAccount", "v1", "serviceaccounts", "serviceaccount", true, false, false, false, true,
                  NAME_SUBDOMAIN },
                { "Event", "v1", "events", "event", true, false, false, true, true, NAME_PATH_SEGMENT },
                { "Lease", "coordination.k8s.io/v1", "leases", "lease", true, false, false, true, false,
                  NAME_SUBDOMAIN },
        };
        _cleanup_arena_ struct arena a;

        arena_init(&a, "test", 0);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct kind *k = builtin(cases[i].kind);
                struct gvk gvk = { k->group, kind_storage(k)->name, k->kind };

                ASSERT_STR_CASE(cases[i].kind, gvk_api_version(&a, gvk), str_from(cases[i].api_version));
                ASSERT_STR_CASE(cases[i].kind, k->plural, str_from(cases[i].plural));
                ASSERT_STR_CASE(cases[i].kind, k->singular, str_from(cases[i].singular));
                ASSERT_STR_CASE(cases[i].kind, k->list_kind, arena_printf(&a, "%sList", cases[i].kind));
                ASSERT_CASE(cases[i].kind, k->is_namespaced == cases[i].is_namespaced);
                ASSERT_CASE(cases[i].kind, kind_storage(k)->has_status == cases[i].has_status);
                ASSERT_CASE(cases[i].kind, k->has_generation == cases[i].has_generation);
                ASSERT_CASE(cases[i].kind, k->allows_create_on_update == cases[i].creates_on_update);
                ASSERT_CASE(cases[i].kind, k->allows_unconditional_update == cases[i].updates_unconditionally);
                ASSERT_CASE(cases[i].kind, k->name_rule == cases[i].name_rule && !k->is_custom);
                kind_unref(kind_ref(k));
        }
        ASSERT(kind_builtins() == kind_builtins());
        ASSERT(!kind_storage(builtin("ConfigMap"))->selectable_fields);
        ASSERT_INT(kind_storage(builtin("Event"))->n_selectable_fields, 11);
        ASSERT_STR(builtin("ConfigMap")->short_names[0], STR("cm"));
}

static const struct value *prepare(struct arena *a, const char *kind, const char *subresource, const char *old,
                                   const char *object)
{
        struct write_request req = { .verb = old ? WRITE_UPDATE : WRITE_CREATE, .subresource = str_from(subresource) };

        const struct kind_strategy *strategy = builtin(kind)->strategy;
        const struct value *v = from_json(a, object);

        if (strategy->complete)
                v = strategy->complete(a, v);
        return strategy->prepare(a, &req, old ? from_json(a, old) : NULL, v);
}

TEST(namespaces)
{
        static const char label[] = "\"metadata\":{\"name\":\"n\",\"labels\":{\"kubernetes.io/metadata.name\":\"n\"}}";
        _cleanup_arena_ struct arena a;
        char old[512], wanted[512];

        arena_init(&a, "test", 0);
        snprintf(wanted, sizeof(wanted),
                 "{%s,\"spec\":{\"finalizers\":[\"kubernetes\"]},\"status\":{\"phase\":\"Active\"}}", label);
        ASSERT_JSON(&a, prepare(&a, "Namespace", "", NULL, "{\"metadata\":{\"name\":\"n\"}}"), wanted);
        ASSERT_JSON(&a,
                    prepare(&a, "Namespace", "", NULL,
                            "{\"metadata\":{\"name\":\"n\"},\"spec\":{\"finalizers\":[\"kubernetes\"]},\"status\":7}"),
                    wanted);
        ASSERT_JSON(&a,
                    value_get(prepare(&a, "Namespace", "", NULL,
                                      "{\"metadata\":{\"name\":\"n\"},\"spec\":{\"finalizers\":[\"a\"]}}"),
                              STR("spec")),
                    "{\"finalizers\":[\"a\",\"kubernetes\"]}");
        snprintf(old, sizeof(old), "%s", wanted);
        ASSERT_JSON(&a, prepare(&a, "Namespace", "", old, "{\"metadata\":{\"name\":\"n\"}}"), old);
        snprintf(wanted, sizeof(wanted), "{%s,\"spec\":{},\"status\":{\"phase\":\"Active\"}}", label);
        ASSERT_JSON(&a, prepare(&a, "Namespace", "finalize", old, "{\"metadata\":{\"name\":\"n\"},\"spec\":{}}"),
                    wanted);
        snprintf(wanted, sizeof(wanted), "{%s,\"spec\":{\"finalizers\":[\"kubernetes\"]},\"status\":{\"phase\":\"x\"}}",
                 label);
        ASSERT_JSON(&a,
                    prepare(&a, "Namespace", "status", old,
                            "{\"metadata\":{\"name\":\"n\"},\"status\":{\"phase\":\"x\"}}"),
                    wanted);
        ASSERT(!builtin("Namespace")->strategy->may_remove(from_json(&a, old)));
        ASSERT(builtin("Namespace")->strategy->may_remove(from_json(&a, "{\"spec\":{\"finalizers\":[]}}")));
}

TEST(secrets_are_completed)
{
        _cleanup_arena_ struct arena a;

        arena_init(&a, "test", 0);
        ASSERT_JSON(&a, prepare(&a, "Secret", "", NULL, "{}"), "{\"type\":\"Opaque\"}");
        ASSERT_JSON(&a,
                    prepare(&a, "Secret", "", NULL,
                            "{\"type\":\"t\",\"stringData\":{\"a\":\"hello\",\"b\":\"\"},\"data\":{\"a\":\"eA==\","
                            "\"c\":\"eQ==\"}}"),
                    "{\"type\":\"t\",\"data\":{\"a\":\"aGVsbG8=\",\"b\":\"\",\"c\":\"eQ==\"}}");
        ASSERT_JSON(&a, prepare(&a, "Secret", "", NULL, "{\"type\":\"t\",\"stringData\":{}}"), "{\"type\":\"t\"}");
        ASSERT_JSON(&a, prepare(&a, "Secret", "", NULL, "{\"type\":\"t\",\"data\":{}}"), "{\"type\":\"t\"}");
        ASSERT_JSON(&a, prepare(&a, "Secret", "", NULL, "{\"type\":\"t\",\"data\":null}"), "{\"type\":\"t\"}");
        ASSERT_JSON(&a, prepare(&a, "ConfigMap", "", NULL, "{\"data\":{},\"binaryData\":null}"), "{}");
        ASSERT_JSON(&a, prepare(&a, "ConfigMap", "", NULL, "{\"data\":{\"a\":\"\"}}"), "{\"data\":{\"a\":\"\"}}");
        ASSERT_JSON(&a, prepare(&a, "Event", "", NULL, "{\"reason\":\"r\",\"source\":{\"component\":\"c\"}}"),
                    "{\"reason\":\"r\",\"involvedObject\":{},\"source\":{\"component\":\"c\"},\"firstTimestamp\":null,"
                    "\"lastTimestamp\":null,"
                    "\"eventTime\":null,\"reportingComponent\":\"\",\"reportingInstance\":\"\"}");
}

/* The errors of the strategy, one line each. */
static struct str check(struct arena *a, const char *kind, const char *old, const char *object)
{
        struct write_request req = { .verb = old ? WRITE_UPDATE : WRITE_CREATE };
        struct field_errors errors;
        struct str text = STR("");

        field_errors_init(&errors, a);
        builtin(kind)->strategy->validate(a, &req, old ? from_json(a, old) : NULL, from_json(a, object), &errors, NULL);
        for (size_t i = 0; i < errors.n; i++)
                text = arena_printf(a, "%.*s%.*s: %.*s\n", STR_ARG(text), STR_ARG(errors.p[i].field),
                                    STR_ARG(errors.p[i].text));
        return text;
}

#define KEY_TEXT                                                                                             \
        "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or " \
        "'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"
#define FROZEN "Forbidden: field is immutable when `immutable` is set\n"

TEST(rules)
{
        static const struct {
                const char *kind, *old, *object, *wanted;
        } cases[] = {
                { "Secret", NULL, "{\"type\":\"Opaque\",\"data\":{\"a\":\"eA==\"}}", "" },
                { "Secret", NULL, "{\"data\":{\"a b\":\"eA==\"}}",
                  "data[a b]: Invalid value: \"a b\": " KEY_TEXT "\n" },
                { "Secret", NULL, "{\"data\":{\"a\":\"?\"}}",
                  "data[a]: Invalid value: \"\": illegal base64 data at input byte 0\n" },
                { "Secret", "{\"type\":\"a\"}", "{\"type\":\"foo\"}",
                  "type: Invalid value: \"foo\": field is immutable\n" },
                { "Secret", "{\"immutable\":true}", "{\"immutable\":true}", "" },
                { "Secret", "{\"immutable\":true}", "{}", "immutable: " FROZEN },
                { "Secret", "{\"immutable\":true,\"data\":{\"a\":\"eA==\"}}", "{\"immutable\":true,\"data\":{}}",
                  "data: " FROZEN },
                { "Secret", "{\"immutable\":true,\"data\":{}}", "{\"immutable\":true}", "" },
                { "Secret", "{\"data\":{\"a\":\"eA==\"}}", "{\"immutable\":true}", "" },
                { "Secret", NULL, "{\"type\":\"kubernetes.io/tls\"}",
                  "data[tls.crt]: Required value\ndata[tls.key]: Required value\n" },
                { "Secret", NULL, "{\"type\":\"kubernetes.io/tls\",\"data\":{\"tls.crt\":\"\",\"tls.key\":\"\"}}", "" },
                { "Secret", NULL, "{\"type\":\"kubernetes.io/ssh-auth\"}", "data[ssh-privatekey]: Required value\n" },
                { "Secret", NULL, "{\"type\":\"kubernetes.io/basic-auth\"}",
                  "data[username]: Required value\ndata[password]: Required value\n" },
                { "Secret", NULL, "{\"type\":\"kubernetes.io/basic-auth\",\"data\":{\"password\":\"\"}}", "" },
                { "Secret", NULL, "{\"type\":\"kubernetes.io/dockercfg\"}", "data[.dockercfg]: Required value\n" },
                { "Secret", NULL,
                  "{\"type\":\"kubernetes.io/dockerconfigjson\",\"data\":{\".dockerconfigjson\":\"ew==\"}}",
                  "data[.dockerconfigjson]: Invalid value: \"<secret contents redacted>\": unexpected end of JSON "
                  "input\n" },
                { "Secret", NULL,
                  "{\"type\":\"kubernetes.io/dockerconfigjson\",\"data\":{\".dockerconfigjson\":\"e30=\"}}", "" },
                { "Secret", NULL, "{\"type\":\"kubernetes.io/service-account-token\"}",
                  "metadata.annotations[kubernetes.io/service-account.name]: Required value\n" },
                { "Secret", NULL, "{\"type\":\"kubernetes.io/dockercfg\",\"data\":{\".dockercfg\":\"W10=\"}}",
                  "data[.dockercfg]: Invalid value: \"<secret contents redacted>\": json: cannot unmarshal array into "
                  "Go value of type "
                  "map[string]interface {}\n" },
                { "Namespace", NULL, "{\"spec\":{\"finalizers\":[\"a.b/c\",\"kubernetes\"]}}", "" },
                { "Namespace", NULL, "{\"spec\":{\"finalizers\":[\"bad\"]}}",
                  "spec.finalizers: Invalid value: \"bad\": name is neither a standard finalizer name nor is it fully "
                  "qualified\n" },
                { "Namespace", NULL, "{\"spec\":{\"finalizers\":[\"a/b/c\"]}}",
                  "spec.finalizers: Invalid value: \"a/b/c\": a valid label key must consist of alphanumeric "
                  "characters, '-', '_' or '.', and must "
                  "start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex "
                  "used for validation is "
                  "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. "
                  "'example.com/MyName')\n" },
                { "ConfigMap", NULL, "{\"data\":{\"a\":\"x\"},\"binaryData\":{\"a\":\"eA==\"}}",
                  "data[a]: Invalid value: \"a\": duplicate of key present in binaryData\n" },
                { "ConfigMap", NULL, "{\"data\":{\"a\":\"x\"},\"binaryData\":{\"b\":\"eA==\"}}", "" },
                { "ConfigMap", NULL, "{\"data\":{\"a/b\":\"x\"}}",
                  "data[a/b]: Invalid value: \"a/b\": " KEY_TEXT "\n" },
                { "ConfigMap", "{\"immutable\":true,\"data\":{\"a\":\"x\"},\"binaryData\":{\"b\":\"eA==\"}}",
                  "{\"immutable\":true,\"data\":{\"a\":\"y\"}}", "data: " FROZEN "binaryData: " FROZEN },
                { "Event", NULL, "{\"metadata\":{\"namespace\":\"a\"},\"involvedObject\":{\"namespace\":\"a\"}}", "" },
                { "Event", NULL, "{\"metadata\":{\"namespace\":\"default\"},\"involvedObject\":{}}", "" },
                { "Event", NULL, "{\"metadata\":{\"namespace\":\"a\"},\"involvedObject\":{\"namespace\":\"other\"}}",
                  "involvedObject.namespace: Invalid value: \"other\": does not match event.namespace\n" },
                { "Event", NULL, "{\"metadata\":{\"namespace\":\"a\"}}",
                  "involvedObject.namespace: Invalid value: \"\": does not match event.namespace\n" },
                { "Lease", NULL, "{\"spec\":{\"leaseDurationSeconds\":1,\"leaseTransitions\":0}}", "" },
                { "Lease", NULL, "{\"spec\":{\"leaseDurationSeconds\":0,\"leaseTransitions\":-1}}",
                  "spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0\n"
                  "spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0\n" },
        };
        _cleanup_arena_ struct arena a;

        arena_init(&a, "test", 0);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
                ASSERT_STR_CASE(cases[i].object, check(&a, cases[i].kind, cases[i].old, cases[i].object),
                                str_from(cases[i].wanted));
}

TEST(large_data)
{
        _cleanup_arena_ struct arena a;
        size_t n = (1u << 20) + 1;
        char *text;

        arena_init(&a, "test", 0);
        text = arena_alloc(&a, n + 64);
        memcpy(text, "{\"data\":{\"a\":\"", 14);
        memset(text + 14, 'x', n);
        memcpy(text + 14 + n, "\"}}", 4);
        ASSERT_STR(check(&a, "ConfigMap", NULL, text), STR("[]: Too long: may not be more than 1048576 bytes\n"));
}
