#include "kube-test.h"

#include "builtin-typed.h"
#include "builtin.h"
#include "json.h"
#include "prepare.h"

static const struct kind *kind_named(const char *group, const char *name)
{
        for (struct kind *const *k = kind_builtins(); *k; k++)
                if (str_equal((*k)->kind, str_from(name)) && str_equal((*k)->group, str_from(group)))
                        return *k;
        return NULL;
}

/* Types an object; the result as JSON with sorted keys, or the error. */
static struct str typed(struct arena *a, const char *group, const char *kind, const char *object, struct str *unknown)
{
        const struct kind *k = kind_named(group, kind);
        _cleanup_err_ struct err err = { 0 };
        const struct value *v;
        struct str_list list;
        struct str text;

        ASSERT(k);
        str_list_init(&list, a);
        if (builtin_type_object(a, k->versions[0].type, from_json(a, object), &list, &v, &err) < 0)
                return arena_copy(a, str_from(err_message(&err)));
        *unknown = str_list_join(&list, STR(" "));
        ASSERT_INT(json_to_str(a, v, JSON_GO, &text, NULL), 0);
        return text;
}

TEST(kinds)
{
        const struct kind *k = kind_named("apps", "Deployment");
        size_t n = 0;

        for (struct kind *const *p = kind_builtins(); *p; p++)
                n++;
        ASSERT(n > 50);
        ASSERT_STR(k->plural, STR("deployments"));
        ASSERT_STR(k->short_names[0], STR("deploy"));
        ASSERT_STR(k->categories[0], STR("all"));
        ASSERT(k->has_generation && k->allows_unconditional_update && !k->allows_create_on_update && k->is_namespaced);
        ASSERT_INT(k->versions[0].n_subresources, 2);
        ASSERT(k->versions[0].has_status && k->versions[0].has_scale);
        ASSERT(kind_named("rbac.authorization.k8s.io", "ClusterRole")->allows_create_on_update);
        ASSERT_INT(kind_named("authentication.k8s.io", "TokenReview")->versions[0].verbs, VERB_CREATE);
        ASSERT(kind_named("", "ResourceQuota")->refusal.n > 0);
}

TEST(unimplemented_subresources)
{
        ASSERT(builtin_unimplemented(kind_named("", "Pod"), STR("exec")).n > 0);
        ASSERT_STR(builtin_unimplemented(kind_named("", "Pod"), STR("status")), STR(""));
        ASSERT_STR(builtin_unimplemented(kind_named("", "Service"), STR("log")), STR(""));
}

TEST(schemas_are_compiled_when_they_are_needed)
{
        const struct schema_node *n;

        size_t total = 0;

        for (struct kind *const *k = kind_builtins(); *k; k++) {
                ASSERT(kind_schema(&(*k)->versions[0]) == kind_schema(&(*k)->versions[0]));
                total += kind_schema_bytes(&(*k)->versions[0]);
        }
        ASSERT(total < 1u << 20); /* of all kinds together */
        n = schema_root(kind_schema(&kind_named("apps", "Deployment")->versions[0]));
        n = schema_node_property(schema_node_property(n, STR("spec")), STR("template"));
        n = schema_node_property(schema_node_property(n, STR("spec")), STR("containers"));
        ASSERT_INT(schema_node_list_type(n), SCHEMA_LIST_MAP);
        ASSERT_STR(schema_node_patch_key(n), STR("name"));
        n = schema_node_property(schema_node_items(n), STR("ports"));
        n = schema_node_property(schema_node_items(n), STR("protocol"));
        ASSERT_STR(value_str(schema_node_default(n)), STR("TCP"));
}

/* Wanted texts are those of the real API. */
TEST(values_against_types)
{
        static const struct {
                const char *group, *kind, *object, *want, *unknown;
        } cases[] = {
                { "", "ConfigMap", "{\"data\":{\"a\":1}}",
                  "json: cannot unmarshal number into Go struct field ConfigMap.data of type string", NULL },
                { "", "ConfigMap", "{\"data\":[]}",
                  "json: cannot unmarshal array into Go struct field ConfigMap.data of type map[string]string", NULL },
                { "", "ConfigMap", "{\"metadata\":{\"labels\":{\"a\":1}}}",
                  "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string",
                  NULL },
                { "", "Secret", "{\"data\":{\"a\":\"?\"}}", "illegal base64 data at input byte 0", NULL },
                { "apps", "Deployment", "{\"spec\":{\"replicas\":1.5}}",
                  "json: cannot unmarshal number 1.5 into Go struct field DeploymentSpec.spec.replicas of type int32",
                  NULL },
                { "apps", "Deployment", "{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"name\":true}]}}}}",
                  "json: cannot unmarshal bool into Go struct field Container.spec.template.spec.containers.name of "
                  "type "
                  "string",
                  NULL },
                { "", "Service", "{\"spec\":{\"ports\":{}}}",
                  "json: cannot unmarshal object into Go struct field ServiceSpec.spec.ports of type []v1.ServicePort",
                  NULL },
                { "", "ConfigMap", "{\"b\":1,\"metadata\":{\"x\":1,\"name\":\"n\"},\"data\":null,\"a\":2}",
                  "{\"metadata\":{\"name\":\"n\"}}", "b metadata.x a" },
                { "", "ConfigMap", "{\"data\":{},\"binaryData\":{\"a\":null},\"immutable\":false}",
                  "{\"binaryData\":{\"a\":null},\"immutable\":false,\"metadata\":{}}", "" },
                { "rbac.authorization.k8s.io", "Role", "{\"rules\":[{\"verbs\":null,\"resources\":[]}]}",
                  "{\"metadata\":{},\"rules\":[{\"verbs\":null}]}", "" },
                { "", "Service", "{\"spec\":{\"ports\":[{\"port\":80}]}}",
                  "{\"metadata\":{},\"spec\":{\"internalTrafficPolicy\":\"Cluster\",\"ports\":[{\"port\":80,"
                  "\"protocol\":"
                  "\"TCP\",\"targetPort\":80}],\"sessionAffinity\":\"None\",\"type\":\"ClusterIP\"},\"status\":{"
                  "\"loadBalancer\":{}}}",
                  "" },
        };
        _cleanup_arena_ struct arena a;

        arena_init(&a, "test", 0);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct str unknown = STR("");

                ASSERT_STR_CASE(cases[i].object, typed(&a, cases[i].group, cases[i].kind, cases[i].object, &unknown),
                                str_from(cases[i].want));
                ASSERT_STR_CASE(cases[i].object, unknown, str_from(cases[i].unknown ? cases[i].unknown : ""));
        }
}

/* --- Strategies --- */

/* The errors of an object, joined by `; `. */
static struct str errors_of(struct arena *a, const char *group, const char *kind, const char *old, const char *object)
{
        const struct kind *k = kind_named(group, kind);
        struct write_request req = { .verb = old ? WRITE_UPDATE : WRITE_CREATE };
        const struct value *typed;
        struct field_errors errors;
        struct str all = STR("");

        ASSERT(k && k->strategy && k->strategy->validate);
        ASSERT_INT(builtin_type_object(a, k->versions[0].type, from_json(a, object), NULL, &typed, NULL), 0);
        field_errors_init(&errors, a);
        k->strategy->validate(a, &req, old ? from_json(a, old) : NULL, typed, &errors, NULL);
        for (size_t i = 0; i < errors.n; i++)
                all = arena_printf(a, "%.*s%s%.*s: %.*s", STR_ARG(all), i ? "; " : "", STR_ARG(errors.p[i].field),
                                   STR_ARG(errors.p[i].text));
        return all;
}

TEST(rules_of_kinds)
{
        static const char rbac[] = "rbac.authorization.k8s.io", hooks[] = "admissionregistration.k8s.io";
        static const struct {
                const char *group, *kind, *old, *object, *want;
        } cases[] = {
                { rbac, "Role", NULL, "{\"rules\":[{\"apiGroups\":[\"\"],\"resources\":[\"pods\"]}]}",
                  "rules[0].verbs: Required value: verbs must contain at least one value" },
                { rbac, "Role", NULL, "{\"rules\":[{\"verbs\":[\"get\"],\"nonResourceURLs\":[\"/x\"]}]}",
                  "rules[0].nonResourceURLs: Invalid value: [\"/x\"]: namespaced rules cannot apply to non-resource "
                  "URLs" },
                { rbac, "ClusterRole", NULL, "{\"rules\":[{\"verbs\":[\"get\"],\"nonResourceURLs\":[\"/x\"]}]}", "" },
                { rbac, "RoleBinding", NULL, "{\"roleRef\":{\"kind\":\"X\"},\"subjects\":[{\"kind\":\"User\"}]}",
                  "roleRef.kind: Unsupported value: \"X\": supported values: \"Role\", \"ClusterRole\"; roleRef.name: "
                  "Required value; subjects[0].name: Required value" },
                { rbac, "ClusterRoleBinding",
                  "{\"roleRef\":{\"apiGroup\":\"rbac.authorization.k8s.io\",\"kind\":\"ClusterRole\",\"name\":\"a\"}}",
                  "{\"roleRef\":{\"kind\":\"ClusterRole\",\"name\":\"b\"}}",
                  "roleRef: Invalid value: "
                  "{\"APIGroup\":\"rbac.authorization.k8s.io\",\"Kind\":\"ClusterRole\",\"Name\":"
                  "\"b\"}: cannot change roleRef" },
                { hooks, "ValidatingWebhookConfiguration", NULL, "{\"webhooks\":[{\"name\":\"a.b.c\"}]}",
                  "webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun; "
                  "webhooks[0].clientConfig: Required value: exactly one of url or service is required; "
                  "webhooks[0].admissionReviewVersions: Required value: must specify one of v1, v1beta1" },
                { "scheduling.k8s.io", "PriorityClass", NULL, "{\"value\":1000000001}",
                  "value: Forbidden: maximum allowed value of a user defined priority is 1000000000" },
                { "apps", "Deployment", NULL, "{\"spec\":{\"replicas\":-1}}",
                  "spec.replicas: Invalid value: -1: must be greater than or equal to 0" },
        };
        _cleanup_arena_ struct arena a;

        arena_init(&a, "test", 0);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
                ASSERT_STR_CASE(cases[i].object,
                                errors_of(&a, cases[i].group, cases[i].kind, cases[i].old, cases[i].object),
                                str_from(cases[i].want));
}

/* Each case adds fields to a valid webhook; the errors are those of kube-apiserver. */
TEST(rules_of_webhooks)
{
        static const char complete[] =
                "{\"name\":\"a.example.org\",\"admissionReviewVersions\":[\"v1\"],\"sideEffects\":\"None\","
                "\"clientConfig\":{\"url\":\"https://example.org/x\"}}";
        static const struct {
                const char *fields, *want; /* single quotes stand for double quotes in fields */
        } cases[] = {
                { "'rules':[{}]",
                  "webhooks[0].rules[0].operations: Required value; webhooks[0].rules[0].apiGroups: Required value; "
                  "webhooks[0].rules[0].apiVersions: Required value; webhooks[0].rules[0].resources: Required value" },
                { "'rules':[{'operations':['create','DELETE'],'apiGroups':['apps'],'apiVersions':['v1'],'resources':['"
                  "deployments']}]",
                  "webhooks[0].rules[0].operations[0]: Unsupported value: \"create\": supported values: \"*\", "
                  "\"CONNECT\", \"CREATE\", \"DELETE\", \"UPDATE\"" },
                { "'rules':[{'operations':['*','CREATE'],'apiGroups':['*','a'],'apiVersions':['*','v1'],'resources':['*"
                  "','pods']}]",
                  "webhooks[0].rules[0].operations: Invalid value: [\"*\",\"CREATE\"]: if '*' is present, must not "
                  "specify other operations; webhooks[0].rules[0].apiGroups: Invalid value: [\"*\",\"a\"]: if '*' is "
                  "present, must not specify other API groups; webhooks[0].rules[0].apiVersions: Invalid value: "
                  "[\"*\",\"v1\"]: if '*' is present, must not specify other API versions; "
                  "webhooks[0].rules[0].resources: Invalid value: [\"*\",\"pods\"]: if '*' is present, must not "
                  "specify other resources without subresources" },
                { "'rules':[{'operations':['CREATE'],'apiGroups':['apps'],'apiVersions':['v1'],'resources':['pods/"
                  "*','pods/log']}]",
                  "webhooks[0].rules[0].resources[1]: Invalid value: \"pods/log\": if 'pods/*' is present, must not "
                  "specify pods/log" },
                { "'rules':[{'operations':['CREATE'],'apiGroups':['apps'],'apiVersions':['v1'],'resources':['*','pods/"
                  "status']}]",
                  "" },
                { "'rules':[{'operations':['CREATE'],'apiGroups':['apps'],'apiVersions':['v1'],'resources':['"
                  "deployments'],'scope':'All'}]",
                  "webhooks[0].rules[0].scope: Unsupported value: \"All\": supported values: \"*\", \"Cluster\", "
                  "\"Namespaced\"" },
                { "'failurePolicy':'x','matchPolicy':'y'",
                  "webhooks[0].failurePolicy: Unsupported value: \"x\": supported values: \"Fail\", \"Ignore\"; "
                  "webhooks[0].matchPolicy: Unsupported value: \"y\": supported values: \"Equivalent\", \"Exact\"" },
                { "'timeoutSeconds':31",
                  "webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds" },
                { "'clientConfig':{'url':'http://u:p@example.org/x?a=b#c'}",
                  "webhooks[0].clientConfig.url: Invalid value: \"http\": 'https' is the only allowed URL scheme; "
                  "desired format: https://host[/path]; webhooks[0].clientConfig.url: Invalid value: \"u:p\": user "
                  "information is not permitted in the URL; webhooks[0].clientConfig.url: Invalid value: \"c\": "
                  "fragments are not permitted in the URL; webhooks[0].clientConfig.url: Invalid value: \"a=b\": query "
                  "parameters are not permitted in the URL" },
                { "'clientConfig':{'url':'HTTPS://a'}", "" },
                { "'clientConfig':{'url':'HTTP:'}", "webhooks[0].clientConfig.url: Invalid value: \"http\": 'https' is "
                                                    "the only allowed URL scheme; desired format: https://host[/path]; "
                                                    "webhooks[0].clientConfig.url: Invalid value: \"\": host must be "
                                                    "specified; desired format: https://host[/path]" },
                { "'clientConfig':{'url':'1a:b'}",
                  "webhooks[0].clientConfig.url: Required value: url must be a valid URL: parse \"1a:b\": first path "
                  "segment in URL cannot contain colon; desired format: https://host[/path]" },
                { "'rules':[{'operations':['CREATE'],'apiGroups':['apps'],'apiVersions':['v1'],'resources':['n','*','n/"
                  "s']}]",
                  "" },
                { "'clientConfig':{'service':{'name':'a','namespace':'b','port':0,'path':'x'}}",
                  "webhooks[0].clientConfig.service.port: Invalid value: 0: port is not valid: must be between 1 and "
                  "65535, inclusive; webhooks[0].clientConfig.service.path: Invalid value: \"x\": must start with a "
                  "'/'; webhooks[0].clientConfig.service.path: Invalid value: \"x\": segment[0] may not be empty" },
                { "'admissionReviewVersions':['v1','v1','bad version','v2']",
                  "webhooks[0].admissionReviewVersions[1]: Invalid value: \"v1\": duplicate version; "
                  "webhooks[0].admissionReviewVersions[2]: Invalid value: \"bad version\": a DNS-1035 label must "
                  "consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end "
                  "with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is "
                  "'[a-z]([-a-z0-9]*[a-z0-9])?')" },
                { "'rules':[{'operations':['CREATE'],'apiGroups':['apps'],'apiVersions':['v1'],'resources':['pods/"
                  "status','*/status']}]",
                  "" },
                { "'rules':[{'operations':['CREATE'],'apiGroups':['apps'],'apiVersions':['v1'],'resources':['*/"
                  "status','*/*','a/*','a/b','a/status']}]",
                  "webhooks[0].rules[0].resources[2]: Invalid value: \"a/*\": if '*/*' is present, must not specify "
                  "a/*; webhooks[0].rules[0].resources[3]: Invalid value: \"a/b\": if 'a/*' is present, must not "
                  "specify a/b; webhooks[0].rules[0].resources[4]: Invalid value: \"a/status\": if 'a/*' is present, "
                  "must not specify a/status; webhooks[0].rules[0].resources[4]: Invalid value: \"a/status\": if "
                  "'*/status' is present, must not specify a/status; webhooks[0].rules[0].resources: Invalid value: "
                  "[\"*/status\",\"*/*\",\"a/*\",\"a/b\",\"a/status\"]: if '*/*' is present, must not specify other "
                  "resources" },
                { "'rules':[{'operations':['CREATE'],'apiGroups':['apps'],'apiVersions':['v1'],'resources':['*','*','*'"
                  "]}]",
                  "" },
                { "'rules':[{'operations':['*','x'],'apiGroups':['apps'],'apiVersions':['v1'],'resources':['"
                  "deployments']}]",
                  "webhooks[0].rules[0].operations: Invalid value: [\"*\",\"x\"]: if '*' is present, must not specify "
                  "other operations; webhooks[0].rules[0].operations[1]: Unsupported value: \"x\": supported values: "
                  "\"*\", \"CONNECT\", \"CREATE\", \"DELETE\", \"UPDATE\"" },
                { "'matchConditions':[{'expression':'true'},{'name':'b'}]",
                  "webhooks[0].matchConditions[0].name: Required value; webhooks[0].matchConditions[1].expression: "
                  "Required value" },
                { "'failurePolicy':'','matchPolicy':''",
                  "webhooks[0].failurePolicy: Unsupported value: \"\": supported values: \"Fail\", \"Ignore\"; "
                  "webhooks[0].matchPolicy: Unsupported value: \"\": supported values: \"Equivalent\", \"Exact\"" },
                { "'reinvocationPolicy':''", "webhooks[0].reinvocationPolicy: Unsupported value: \"\": supported "
                                             "values: \"IfNeeded\", \"Never\"" },
        };
        _cleanup_arena_ struct arena a;

        arena_init(&a, "test", 0);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                const char *kind = strstr(cases[i].fields, "reinvocationPolicy") ? "MutatingWebhookConfiguration"
                                                                                 : "ValidatingWebhookConfiguration";
                char *fields = arena_cstring(&a, arena_printf(&a, "{%s}", cases[i].fields));
                const struct value *hook = from_json(&a, complete);

                for (char *c = fields; *c; c++)
                        *c = *c == '\'' ? '"' : *c;
                VALUE_FOREACH_MEMBER (m, from_json(&a, fields))
                        hook = value_with(&a, hook, m->key, &m->value);
                ASSERT_STR_CASE(cases[i].fields,
                                errors_of(&a, "admissionregistration.k8s.io", kind, NULL,
                                          arena_cstring(&a, arena_printf(&a, "{\"webhooks\":[%.*s]}",
                                                                         STR_ARG(to_json(&a, hook))))),
                                str_from(cases[i].want));
        }
}

static const struct value *prepared(struct arena *a, const char *group, const char *kind, const char *old,
                                    const char *object)
{
        struct write_request req = { .verb = old ? WRITE_UPDATE : WRITE_CREATE };

        return kind_named(group, kind)
                ->strategy->prepare(a, &req, old ? from_json(a, old) : NULL, from_json(a, object));
}

TEST(objects_are_filled_in)
{
        _cleanup_arena_ struct arena a;
        const struct value *v;

        arena_init(&a, "test", 0);
        v = prepared(&a, "", "Service", NULL, "{\"metadata\":{\"uid\":\"u\"},\"spec\":{\"type\":\"ClusterIP\"}}");
        ASSERT(str_starts_with(value_str(value_find(v, "spec", "clusterIP")), STR("10.")));
        ASSERT_STR(value_str(value_item(value_find(v, "spec", "clusterIPs"), 0)),
                   value_str(value_find(v, "spec", "clusterIP")));
        ASSERT_JSON(&a,
                    prepared(&a, "", "Service", "{\"spec\":{\"clusterIP\":\"1.2.3.4\",\"clusterIPs\":[\"1.2.3.4\"]}}",
                             "{\"spec\":{}}"),
                    "{\"spec\":{\"clusterIP\":\"1.2.3.4\",\"clusterIPs\":[\"1.2.3.4\"],\"ipFamilies\":[\"IPv4\"],"
                    "\"ipFamilyPolicy\":\"SingleStack\"}}");
        ASSERT_JSON(&a, prepared(&a, "", "Service", NULL, "{\"spec\":{\"type\":\"ExternalName\"}}"),
                    "{\"spec\":{\"type\":\"ExternalName\"}}");
        v = prepared(&a, "", "Pod", NULL,
                     "{\"spec\":{\"containers\":[{\"resources\":{\"limits\":{\"cpu\":\"1\"},\"requests\":{\"cpu\":"
                     "\"1\"}}}]}}");
        ASSERT_JSON(&a, value_get(v, STR("status")), "{\"phase\":\"Pending\",\"qosClass\":\"Burstable\"}");
        v = prepared(&a, "batch", "Job", NULL, "{\"metadata\":{\"name\":\"j\",\"uid\":\"u\"},\"spec\":{}}");
        ASSERT_JSON(&a, value_find(v, "spec", "selector"),
                    "{\"matchLabels\":{\"batch.kubernetes.io/controller-uid\":\"u\"}}");
        ASSERT_INT(value_count(value_find(v, "metadata", "labels")), 4);
}

/* --- Protobuf --- */

static struct str decoded(struct arena *a, const char *bytes, size_t n)
{
        _cleanup_err_ struct err err = { 0 };
        const struct value *v;

        if (builtin_decode(a, str_make(bytes, n), &v, &err) < 0)
                return arena_copy(a, str_from(err_message(&err)));
        return to_json(a, v);
}

/* The first body is what `kubectl create ns foo` sends (docs/spec/apiserver, appendix B). */
TEST(protobuf_bodies)
{
        static const char foo[] = "k8s\0\n\x0f\n\x02v1\x12\tNamespace\x12\x1d\n\x15\n\x03"
                                  "foo\x12\0\x1a\0\"\0*\0"
                                  "2\0"
                                  "8\0B\0\x12\0\x1a\x02\n\0\x1a\0\"\0";
        static const char unknown[] = "k8s\0\n\x0b\n\x02v2\x12\x05Thing";
        static const char options[] = "k8s\0\n\x18\n\x07"
                                      "apps/v1\x12\rDeleteOptions\x12\x02\x08\x05";
        static const char cut[] = "k8s\0\n\x0f\n\x02v1";
        _cleanup_arena_ struct arena a;

        arena_init(&a, "test", 0);
        ASSERT(builtin_is_protobuf(str_make(foo, sizeof(foo) - 1)));
        ASSERT(!builtin_is_protobuf(STR("{}")));
        ASSERT_STR(decoded(&a, foo, sizeof(foo) - 1), STR("{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{"
                                                          "\"name\":\"foo\"},\"spec\":{},\"status\":{}}"));
        ASSERT_STR(decoded(&a, unknown, sizeof(unknown) - 1),
                   STR("no kind \"Thing\" is registered for version \"v2\" in scheme \"pkg/runtime/scheme.go:111\""));
        ASSERT_STR(decoded(&a, options, sizeof(options) - 1),
                   STR("{\"apiVersion\":\"apps/v1\",\"gracePeriodSeconds\":5,\"kind\":\"DeleteOptions\"}"));
        ASSERT(str_find(decoded(&a, cut, sizeof(cut) - 1), STR("v1")) < 0);
        ASSERT(decoded(&a, "{}", 2).n > 0);
}

/* --- OpenAPI --- */

static struct str component(struct arena *a, const char *name)
{
        const struct value *v = builtin_component(a, str_from(name));
        struct str text;

        if (!v)
                return STR("none");
        ASSERT_INT(json_to_str(a, v, JSON_GO, &text, NULL), 0);
        return text;
}

TEST(components)
{
        _cleanup_arena_ struct arena a;

        arena_init(&a, "test", 0);
        ASSERT_STR(builtin_component_of((struct gvk) { STR("apps"), STR("v1"), STR("Deployment") }),
                   STR("io.k8s.api.apps.v1.Deployment"));
        ASSERT_STR(builtin_component_of((struct gvk) { STR("e.org"), STR("v1"), STR("X") }), STR(""));
        ASSERT_STR(component(&a, "io.k8s.api.core.v1.Nothing"), STR("none"));
        ASSERT_STR(component(&a, "io.k8s.api.core.v1.VolumeSource"), STR("none"));
        ASSERT_STR(
                component(&a, "io.k8s.api.core.v1.ServicePort"),
                STR("{\"properties\":{\"appProtocol\":{\"type\":\"string\"},\"name\":{\"type\":\"string\"},"
                    "\"nodePort\":{"
                    "\"format\":\"int32\",\"type\":\"integer\"},\"port\":{\"default\":0,\"format\":\"int32\",\"type\":"
                    "\"integer\"},\"protocol\":{\"default\":\"TCP\",\"enum\":[\"SCTP\",\"TCP\",\"UDP\"],\"type\":"
                    "\"string\"},\"targetPort\":{\"$ref\":\"#/components/schemas/"
                    "io.k8s.apimachinery.pkg.util.intstr.IntOrString\"}},\"required\":[\"port\"],\"type\":"
                    "\"object\"}"));
}
