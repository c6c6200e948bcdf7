#include "kube-test.h"

#include "condition.h"
#include "kind.h"
#include "path.h"
#include "prepare.h"

#define SCHEMA                                                                                                    \
        "{\"openAPIV3Schema\":{\"type\":\"object\",\"properties\":{\"metadata\":{\"type\":\"object\"},\"spec\":{" \
        "\"type\":\"object\","                                                                                    \
        "\"properties\":{\"color\":{\"type\":\"string\"},\"f\":{\"type\":\"number\"},\"m\":{\"type\":\"object\"," \
        "\"additionalProperties\":{\"type\":\"string\"}}}}}}}"
#define HEAD                                                                                                   \
        "{\"metadata\":{\"name\":\"widgets.ex.org\"},\"spec\":{\"group\":\"ex.org\",\"scope\":\"Namespaced\"," \
        "\"names\":{\"plural\":"                                                                               \
        "\"widgets\",\"kind\":\"Widget\"},\"versions\":["
#define V1 "{\"name\":\"v1\",\"served\":true,\"storage\":true,\"schema\":" SCHEMA "}"
#define V2 "{\"name\":\"v2\",\"served\":true,\"storage\":false,\"schema\":" SCHEMA "}"
#define PLAIN \
        "{\"name\":\"v2\",\"served\":true,\"storage\":false,\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\"}}}"
#define TAIL "]}}"

static const char one[] = HEAD V1 TAIL, two[] = HEAD V1 "," V2 TAIL, different[] = HEAD V1 "," PLAIN TAIL;

#define LABEL_TEXT                                                                                              \
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic " \
        "character, and "                                                                                       \
        "end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is "      \
        "'[a-z]([-a-z0-9]*[a-z0-9])?')"

static struct arena arena;

static const struct value *prepare(const struct value *old, const struct value *crd)
{
        struct write_request req = { .verb = old ? WRITE_UPDATE : WRITE_CREATE };

        return crd_strategy.prepare(&arena, &req, old, crd_strategy.complete(&arena, crd));
}

/* With the value at the path, or without it when there is none. */
static const struct value *change(const struct value *crd, const char *path, const char *json)
{
        const struct value *ret = NULL;
        int r = json ? path_set(&arena, crd, str_from(path), from_json(&arena, json), &ret, NULL)
                     : path_delete(&arena, crd, str_from(path), &ret, NULL);

        ASSERT_CASE(path, r == 0);
        return ret;
}

static struct str errors_of(const struct value *crd, const struct value *old)
{
        struct write_request req = { .verb = old ? WRITE_UPDATE : WRITE_CREATE };
        struct field_errors errors;
        struct str text = STR("");

        field_errors_init(&errors, &arena);
        crd_strategy.validate(&arena, &req, old, crd, &errors, NULL);
        field_errors_sort(&errors);
        for (size_t i = 0; i < errors.n; i++)
                text = arena_printf(&arena, "%.*s%.*s: %.*s\n", STR_ARG(text), STR_ARG(errors.p[i].field),
                                    STR_ARG(errors.p[i].text));
        return text;
}

static void finish(void)
{
        arena_done(&arena);
}

static void begin(void)
{
        static bool is_begun;

        if (!is_begun)
                atexit(finish);
        is_begun = true;
        arena_done(&arena);
        arena_init(&arena, "test", 0);
}

TEST(defaults)
{
        const struct value *crd, *again;

        begin();
        crd = crd_default(&arena, from_json(&arena, one));
        ASSERT_JSON(&arena, value_find(crd, "spec", "names"),
                    "{\"plural\":\"widgets\",\"kind\":\"Widget\",\"singular\":\"widget\",\"listKind\":\"WidgetList\"}");
        ASSERT_JSON(&arena, value_find(crd, "spec", "conversion"), "{\"strategy\":\"None\"}");
        again = crd_default(&arena, crd);
        ASSERT(again == crd);
        crd = crd_default(
                &arena,
                from_json(
                        &arena,
                        "{\"spec\":{\"names\":{},\"conversion\":{\"webhook\":{\"clientConfig\":{\"service\":{}}}}}}"));
        ASSERT_JSON(&arena, value_get(crd, STR("spec")),
                    "{\"names\":{\"singular\":\"\"},\"conversion\":{\"webhook\":{\"clientConfig\":{\"service\":{"
                    "\"port\":443}}}}}");
        crd = from_json(&arena, "{}");
        ASSERT(crd_default(&arena, crd) == crd);
}

TEST(what_is_stored)
{
        const struct value *crd, *old;
        struct write_request status = { .verb = WRITE_UPDATE, .subresource = STR("status") };

        begin();
        old = prepare(NULL, change(from_json(&arena, two), "status", "{\"conditions\":[1]}"));
        ASSERT_JSON(
                &arena, value_get(old, STR("status")),
                "{\"conditions\":null,\"acceptedNames\":{\"plural\":\"\",\"kind\":\"\"},\"storedVersions\":[\"v1\"]}");
        crd = change(change(old, "spec.versions[0].storage", "false"), "spec.versions[1].storage", "true");
        crd = prepare(old, crd);
        ASSERT_JSON(&arena, value_find(crd, "status", "storedVersions"), "[\"v1\",\"v2\"]");
        ASSERT(prepare(old, crd) == crd);
        crd = change(old, "status.storedVersions", "[]");
        ASSERT(crd_strategy.prepare(&arena, &status, old, crd) == crd);
}

/* The wanted texts are those of the API server's library for the same CRDs. */
TEST(rules)
{
        static const struct {
                const char *base, *path, *json, *wanted;
        } cases[] = {
                { one, "spec.scope", "\"Cluster\"", "" },
                { two, "spec.scope", "\"Cluster\"", "" },
                { different, "spec.scope", "\"Cluster\"", "" },
                { one, "metadata.name", "\"foo.bar\"",
                  "metadata.name: Invalid value: \"foo.bar\": must be spec.names.plural+\".\"+spec.group\n" },
                { one, "spec.scope", "\"Foo\"",
                  "spec.scope: Unsupported value: \"Foo\": supported values: \"Cluster\", \"Namespaced\"\n" },
                { one, "spec.scope", NULL, "spec.scope: Required value\n" },
                { one, "spec.group", NULL,
                  "metadata.name: Invalid value: \"widgets.ex.org\": must be "
                  "spec.names.plural+\".\"+spec.group\nspec.group: Required value\n" },
                { one, "spec.group", "\"ex\"",
                  "metadata.name: Invalid value: \"widgets.ex.org\": must be spec.names.plural+\".\"+spec.group\n"
                  "spec.group: Invalid value: \"ex\": should be a domain with at least one dot\n" },
                { one, "spec.names.kind", "\"W_\"",
                  "spec.names.kind: Invalid value: \"W_\": may have mixed case, but should otherwise match: " LABEL_TEXT
                  "\n"
                  "spec.names.listKind: Invalid value: \"W_List\": may have mixed case, but should otherwise "
                  "match: " LABEL_TEXT "\n"
                  "spec.names.singular: Invalid value: \"w_\": " LABEL_TEXT "\n" },
                { one, "spec.names.kind", NULL,
                  "spec.names.kind: Required value\nspec.names.listKind: Required value\nspec.names.singular: Required "
                  "value\n" },
                { one, "spec.names.listKind", "\"Widget\"",
                  "spec.names.listKind: Invalid value: \"Widget\": kind and listKind may not be the same\n" },
                { one, "spec.names.shortNames", "[\"a\",\"A\"]",
                  "spec.names.shortNames[1]: Invalid value: \"A\": " LABEL_TEXT "\n" },
                { one, "spec.names.categories", "[\"\"]",
                  "spec.names.categories[0]: Invalid value: \"\": " LABEL_TEXT "\n" },
                { one, "spec.versions", "[]",
                  "spec.versions: Invalid value: []: must have exactly one version marked as storage version\n"
                  "status.storedVersions: Invalid value: null: must have at least one stored version\n" },
                { one, "spec.versions[0].name", "\"V1\"",
                  "spec.version: Invalid value: \"V1\": " LABEL_TEXT
                  "\nspec.versions[0].name: Invalid value: \"V1\": " LABEL_TEXT "\n" },
                { two, "spec.versions[1].name", "\"v1\"",
                  "spec.versions: Invalid value: [\"v1\",\"v1\"]: must contain unique version names\n" },
                { two, "spec.versions[1].storage", "true",
                  "spec.versions: Invalid value: [\"v1\",\"v2\"]: must have exactly one version marked as storage "
                  "version\n" },
                { one, "spec.versions[0].schema", NULL, "spec.versions[0].schema.openAPIV3Schema: Required value\n" },
                { one, "spec.versions[0].deprecationWarning", "\"x\"",
                  "spec.versions[0].deprecationWarning: Invalid value: \"x\": can only be set for deprecated "
                  "versions\n" },
                { one, "spec.preserveUnknownFields", "true",
                  "spec.preserveUnknownFields: Invalid value: true: cannot set to true, set "
                  "x-kubernetes-preserve-unknown-fields to true in "
                  "spec.versions[*].schema instead\n" },
                { one, "spec.conversion", "{\"strategy\":\"Foo\"}",
                  "spec.conversion.strategy: Unsupported value: \"Foo\": supported values: \"None\", \"Webhook\"\n" },
                { one, "spec.conversion", "{}", "spec.conversion.strategy: Required value\n" },
                { one, "spec.conversion", "{\"strategy\":\"Webhook\"}",
                  "spec.conversion.conversionReviewVersions: Required value\n"
                  "spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook\n" },
                { one, "spec.conversion",
                  "{\"strategy\":\"None\",\"webhook\":{\"clientConfig\":{},\"conversionReviewVersions\":[\"v1\"]}}",
                  "spec.conversion.conversionReviewVersions: Forbidden: should not be set when strategy is not set to "
                  "Webhook\n"
                  "spec.conversion.webhookClientConfig: Forbidden: should not be set when strategy is not set to "
                  "Webhook\n" },
                { one, "spec.conversion",
                  "{\"strategy\":\"Webhook\",\"webhook\":{\"clientConfig\":{},\"conversionReviewVersions\":[\"v2\","
                  "\"v2\",\"A\"]}}",
                  "spec.conversion.conversionReviewVersions: Invalid value: [\"v2\",\"v2\",\"A\"]: must include at "
                  "least one of v1, v1beta1\n"
                  "spec.conversion.conversionReviewVersions[1]: Invalid value: \"v2\": duplicate version\n"
                  "spec.conversion.conversionReviewVersions[2]: Invalid value: \"A\": " LABEL_TEXT "\n"
                  "spec.conversion.webhookClientConfig: Required value: exactly one of url or service is required\n" },
                { one, "spec.conversion",
                  "{\"strategy\":\"Webhook\",\"webhook\":{\"clientConfig\":{\"url\":\"http://u@x/"
                  "?a#b\"},\"conversionReviewVersions\":[\"v1\"]}}",
                  "spec.conversion.webhookClientConfig.url: Invalid value: \"http\": 'https' is the only allowed URL "
                  "scheme; desired format: https://host[/path]\n"
                  "spec.conversion.webhookClientConfig.url: Invalid value: \"u\": user information is not permitted in "
                  "the URL\n"
                  "spec.conversion.webhookClientConfig.url: Invalid value: \"b\": fragments are not permitted in the "
                  "URL\n"
                  "spec.conversion.webhookClientConfig.url: Invalid value: \"a\": query parameters are not permitted "
                  "in the URL\n" },
                { one, "spec.conversion",
                  "{\"strategy\":\"Webhook\",\"webhook\":{\"clientConfig\":{\"url\":\"://"
                  "\"},\"conversionReviewVersions\":[\"v1\"]}}",
                  "spec.conversion.webhookClientConfig.url: Required value: url must be a valid URL: parse \"://\": "
                  "missing protocol scheme; desired "
                  "format: https://host[/path]\n" },
                { one, "spec.conversion",
                  "{\"strategy\":\"Webhook\",\"webhook\":{\"clientConfig\":{\"url\":\"https://"
                  "\"},\"conversionReviewVersions\":[\"v1\"]}}",
                  "spec.conversion.webhookClientConfig.url: Invalid value: \"\": host must be specified; desired "
                  "format: https://host[/path]\n" },
                { one, "spec.conversion",
                  "{\"strategy\":\"Webhook\",\"webhook\":{\"clientConfig\":{\"service\":{\"port\":0,\"path\":\"/a//b/"
                  "\"}},\"conversionReviewVersions\":[\"v1\"]}}",
                  "spec.conversion.webhookClientConfig.service.name: Required "
                  "value\nspec.conversion.webhookClientConfig.service.namespace: Required value\n"
                  "spec.conversion.webhookClientConfig.service.path: Invalid value: \"/a//b/\": segment[1] may not be "
                  "empty\n"
                  "spec.conversion.webhookClientConfig.service.port: Invalid value: 0: port is not valid: must be "
                  "between 1 and 65535, inclusive\n" },
                { one, "spec.conversion",
                  "{\"strategy\":\"Webhook\",\"webhook\":{\"clientConfig\":{\"service\":{\"name\":\"a\",\"namespace\":"
                  "\"b\",\"path\":\"x\"}},\"conversionReviewVersions\":[\"v1\"]}}",
                  "spec.conversion.webhookClientConfig.service.path: Invalid value: \"x\": must start with a '/'\n"
                  "spec.conversion.webhookClientConfig.service.path: Invalid value: \"x\": segment[0] may not be "
                  "empty\n" },
                { one, "spec.conversion",
                  "{\"strategy\":\"Webhook\",\"webhook\":{\"clientConfig\":{\"service\":{\"name\":\"a\",\"namespace\":"
                  "\"b\",\"path\":\"/\"}},\"conversionReviewVersions\":[\"v1\"]}}",
                  "" },
                { one, "spec.versions[0].additionalPrinterColumns",
                  "[{\"name\":\"a\",\"type\":\"foo\",\"format\":\"bar\",\"jsonPath\":\"x\"},{}]",
                  "spec.additionalPrinterColumns[0].JSONPath: Invalid value: \"x\": must be a simple json path "
                  "starting with .\n"
                  "spec.additionalPrinterColumns[0].format: Invalid value: \"bar\": must be one of "
                  "byte,date,date-time,double,float,int32,int64,password\n"
                  "spec.additionalPrinterColumns[0].type: Invalid value: \"foo\": must be one of "
                  "boolean,date,integer,number,string\n"
                  "spec.additionalPrinterColumns[1].JSONPath: Required value\nspec.additionalPrinterColumns[1].name: "
                  "Required value\n"
                  "spec.additionalPrinterColumns[1].type: Required value: must be one of "
                  "boolean,date,integer,number,string\n" },
                { two, "spec.versions[1].additionalPrinterColumns",
                  "[{\"name\":\"a\",\"type\":\"date\",\"jsonPath\":\"x\"}]",
                  "spec.versions[1].additionalPrinterColumns[0].JSONPath: Invalid value: \"x\": must be a simple json "
                  "path starting with .\n" },
                { one, "spec.versions[0].subresources", "{\"scale\":{}}",
                  "spec.subresources.scale.specReplicasPath: Required "
                  "value\nspec.subresources.scale.statusReplicasPath: Required value\n" },
                { two, "spec.versions[0].subresources",
                  "{\"scale\":{\"specReplicasPath\":\"a\",\"statusReplicasPath\":\".b\",\"labelSelectorPath\":\".c\"}}",
                  "spec.versions[0].subresources.scale.labelSelectorPath: Invalid value: \".c\": should be a json path "
                  "under either .spec or .status\n"
                  "spec.versions[0].subresources.scale.specReplicasPath: Invalid value: \"a\": must be a simple json "
                  "path starting with .\n"
                  "spec.versions[0].subresources.scale.statusReplicasPath: Invalid value: \".b\": should be a json "
                  "path under .status\n" },
                { one, "spec.versions[0].selectableFields",
                  "[{\"jsonPath\":\".spec.color\"},{\"jsonPath\":\".spec.m.x\"}]", "" },
                { one, "spec.versions[0].selectableFields",
                  "[{},{\"jsonPath\":\"x\"},{\"jsonPath\":\".spec.l[0]\"},{\"jsonPath\":\".spec[0]\"},{\"jsonPath\":\"."
                  "spec.color.\"},{\"jsonPath\":\".spec.f\"},{\"jsonPath\":\".spec.f\"},{\"jsonPath\":\".metadata\"}]",
                  "spec.selectableFields[0].jsonPath: Required value\n"
                  "spec.selectableFields[1].jsonPath: Invalid value: \"x\": is an invalid path: expected [ or . but "
                  "got: x\n"
                  "spec.selectableFields[2].jsonPath: Invalid value: \".spec.l[0]\": is an invalid path: does not "
                  "refer to a valid field\n"
                  "spec.selectableFields[3].jsonPath: Invalid value: \".spec[0]\": is an invalid path: array notation "
                  "is not allowed\n"
                  "spec.selectableFields[4].jsonPath: Invalid value: \".spec.color.\": is an invalid path: unexpected "
                  "end of JSON path\n"
                  "spec.selectableFields[5].jsonPath: Invalid value: \".spec.f\": must point to a field of type "
                  "string, boolean or integer. Enum string fields and strings with formats are allowed.\n"
                  "spec.selectableFields[6].jsonPath: Invalid value: \".spec.f\": must point to a field of type "
                  "string, boolean or integer. Enum string fields and strings with formats are allowed.\n"
                  "spec.selectableFields[6].jsonPath: Duplicate value: \".spec.f\"\n"
                  "spec.selectableFields[7].jsonPath: Invalid value: \".metadata\": must not point to fields in "
                  "metadata\n"
                  "spec.selectableFields[7].jsonPath: Invalid value: \".metadata\": must point to a field of type "
                  "string, boolean or integer. Enum string fields and strings with formats are allowed.\n" },
                { two, "spec.versions[0].selectableFields", "[{\"jsonPath\":\".spec.color\"}]",
                  "spec.versions[0].selectableFields: Invalid value: \"\": may only be set when "
                  "`version.schema.openAPIV3Schema` is not included\n" },
                { different, "spec.versions[0].selectableFields", "[{\"jsonPath\":\".spec.color\"}]", "" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                begin();
                ASSERT_STR_CASE(
                        cases[i].json ? cases[i].json : cases[i].path,
                        errors_of(prepare(NULL, change(from_json(&arena, cases[i].base), cases[i].path, cases[i].json)),
                                  NULL),
                        str_from(cases[i].wanted));
        }
}

TEST(defaults_and_unknown_fields)
{
        static const struct {
                const char *schema;
                bool has_default;
        } cases[] = {
                { "{\"type\":\"object\",\"properties\":{\"default\":{\"type\":\"string\"}}}", false },
                { "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\",\"nullable\":true,\"default\":null}}"
                  "}",
                  false },
                { "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\",\"default\":\"\"}}}", true },
                { "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"array\",\"items\":{\"type\":\"string\","
                  "\"default\":\"x\"}}}}",
                  true },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                const struct value *crd;

                begin();
                crd = change(from_json(&arena, one), "spec.preserveUnknownFields", "true");
                crd = change(crd, "spec.versions[0].schema.openAPIV3Schema", cases[i].schema);
                ASSERT_CASE(cases[i].schema,
                            (str_find(errors_of(prepare(NULL, crd), NULL),
                                      STR("spec.preserveUnknownFields: Invalid value: true: must be false in order to "
                                          "use defaults in the schema\n")) >= 0) == cases[i].has_default);
        }
}

TEST(deprecation_warnings)
{
        static const struct {
                const char *json, *wanted;
        } cases[] = {
                { "\"x\"", "" },
                { "\"\"", "Invalid value: \"\": must not be an empty string" },
                { "\"a\\nb\"", "Invalid value: \"a\\nb\": must only contain printable UTF-8 characters; non-printable "
                               "character found at index 1" },
                { "\"\\ufffd\\u0001\"", "Invalid value: \"\ufffd\\u0001\": must only contain printable UTF-8 "
                                        "characters; non-printable character found at index 3" },
        };
        char text[300];

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                const struct value *crd;

                begin();
                crd = change(change(from_json(&arena, one), "spec.versions[0].deprecated", "true"),
                             "spec.versions[0].deprecationWarning", cases[i].json);
                snprintf(text, sizeof(text), "%s%s%s", *cases[i].wanted ? "spec.versions[0].deprecationWarning: " : "",
                         cases[i].wanted, *cases[i].wanted ? "\n" : "");
                ASSERT_STR_CASE(cases[i].json, errors_of(prepare(NULL, crd), NULL), str_from(text));
        }
        for (size_t n = 256; n <= 257; n++) {
                const struct value *crd;
                struct str errors;

                begin();
                memset(text, 'x', n + 2);
                text[0] = text[n + 1] = '"';
                text[n + 2] = '\0';
                crd = change(from_json(&arena, one), "spec.versions[0].deprecated", "true");
                errors = errors_of(prepare(NULL, change(crd, "spec.versions[0].deprecationWarning", text)), NULL);
                ASSERT(str_ends_with(errors, STR(": must be <= 256 characters long\n")) == (n > 256));
        }
}

TEST(protected_groups)
{
        static const struct {
                const char *annotation, *wanted;
        } cases[] = {
                { "", "Required value: protected groups must have approval annotation \"api-approved.kubernetes.io\", "
                      "see https://github.com/kubernetes/enhancements/pull/1111\n" },
                { "x", "Invalid value: \"x\": protected groups must have approval annotation "
                       "\"api-approved.kubernetes.io\" with either a URL or a reason "
                       "starting with \"unapproved\", see https://github.com/kubernetes/enhancements/pull/1111\n" },
                { "unapproved, for a test", NULL },
                { "https://github.com/x", NULL },
        };
        const struct value *crd, *old;

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                begin();
                crd = change(change(from_json(&arena, one), "spec.group", "\"a.k8s.io\""), "metadata.name",
                             "\"widgets.a.k8s.io\"");
                crd = prepare(NULL, meta_with_annotation(&arena, crd, STR("api-approved.kubernetes.io"),
                                                         str_from(cases[i].annotation)));
                ASSERT_STR_CASE(cases[i].annotation, errors_of(crd, NULL),
                                cases[i].wanted
                                        ? arena_printf(&arena, "metadata.annotations[api-approved.kubernetes.io]: %s",
                                                       cases[i].wanted)
                                        : STR(""));
                ASSERT_STR_CASE(cases[i].annotation, errors_of(crd, crd), STR(""));
        }
        old = crd;
        crd = meta_without_annotation(&arena, crd, STR("api-approved.kubernetes.io"));
        ASSERT(str_starts_with(errors_of(crd, old),
                               STR("metadata.annotations[api-approved.kubernetes.io]: Required value")));
}

TEST(updates)
{
        static const struct {
                const char *path, *json, *before, *after; /* being established */
        } cases[] = {
                { "spec.group", "\"ex2.org\"", "spec.group: Invalid value: \"ex2.org\": field is immutable\n", NULL },
                { "spec.names.plural", "\"ws\"", "spec.names.plural: Invalid value: \"ws\": field is immutable\n",
                  NULL },
                { "spec.names.kind", "\"Wid\"", "", "spec.names.kind: Invalid value: \"Wid\": field is immutable\n" },
                { "spec.scope", "\"Cluster\"", "", "spec.scope: Invalid value: \"Cluster\": field is immutable\n" },
                { "spec.names.listKind", "\"Foo\"", "", NULL },
                { "spec.versions[0].name", "\"v3\"",
                  "status.storedVersions[0]: Invalid value: \"v1\": missing from spec.versions; v1 was previously a "
                  "storage version, and must remain in "
                  "spec.versions until a storage migration ensures no data remains persisted in v1 and removes v1 from "
                  "status.storedVersions\n",
                  NULL },
                { "spec.conversion",
                  "{\"strategy\":\"Webhook\",\"webhook\":{\"clientConfig\":{\"url\":\"https://"
                  "x\",\"caBundle\":\"eA==\"},\"conversionReviewVersions\":[\"v1\"]}}",
                  "",
                  "spec.conversion.webhookClientConfig.caBundle: Invalid value: \"eA==\": unable to load root "
                  "certificates: unable to parse bytes as PEM block\n" },
        };
        struct condition established = { .type = STR("Established"), .status = CONDITION_TRUE };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                const struct value *old, *crd;

                begin();
                old = prepare(NULL, from_json(&arena, one));
                crd = prepare(old, change(old, cases[i].path, cases[i].json));
                ASSERT_STR_CASE(cases[i].path, errors_of(crd, old), str_from(cases[i].before));
                old = conditions_set(&arena, old, &established, 1);
                ASSERT_STR_CASE(cases[i].path, errors_of(crd, old),
                                str_from(cases[i].after ? cases[i].after : cases[i].before));
        }
        begin();
        ASSERT_STR(errors_of(change(prepare(NULL, from_json(&arena, one)), "spec.preserveUnknownFields", "true"),
                             change(prepare(NULL, from_json(&arena, one)), "spec.preserveUnknownFields", "true")),
                   STR(""));
}

TEST(status_writes)
{
        struct write_request req = { .verb = WRITE_UPDATE, .subresource = STR("status") };
        struct field_errors errors;
        const struct value *crd;

        begin();
        crd = from_json(&arena,
                        "{\"status\":{\"storedVersions\":[],\"acceptedNames\":{\"plural\":\"P\",\"kind\":\"\"}}}");
        field_errors_init(&errors, &arena);
        crd_strategy.validate(&arena, &req, crd, crd, &errors, NULL);
        ASSERT_INT(errors.n, 1);
        ASSERT_STR(errors.p[0].field, STR("status.acceptedNames.plural"));
}

/* Rules that nobody enforces are never passed over in silence. */
TEST(rules_in_cel)
{
        struct write_request req = { .verb = WRITE_CREATE };
        struct field_errors errors;
        struct str_list warnings;
        const struct value *crd;

        begin();
        crd = change(from_json(&arena, one),
                     "spec.versions[0].schema.openAPIV3Schema.properties.spec.x-kubernetes-validations",
                     "[{\"rule\":\"self.color == 'red'\"}]");
        field_errors_init(&errors, &arena);
        str_list_init(&warnings, &arena);
        crd_strategy.validate(&arena, &req, NULL, prepare(NULL, crd), &errors, &warnings);
        ASSERT_INT(errors.n, 0);
        ASSERT_INT(warnings.n, 1);
        ASSERT_STR(warnings.p[0], STR("spec.validation.openAPIV3Schema: x-kubernetes-validations are kept, but not "
                                      "enforced: there is no CEL yet"));
}

/* As the API server warned. */
TEST(formats)
{
        struct write_request req = { .verb = WRITE_CREATE };
        struct field_errors errors;
        struct str_list warnings;
        const struct value *crd;

        begin();
        crd = change(from_json(&arena, one), "spec.versions[0].schema.openAPIV3Schema.properties.spec.properties",
                     "{\"a\":{\"type\":\"string\",\"format\":\"zzz\"},\"b\":{\"type\":\"array\",\"items\":{\"type\":"
                     "\"string\",\"format\":\"zzz\"}},"
                     "\"c\":{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\",\"format\":\"y\\\"y\"}},"
                     "\"d\":{\"type\":\"integer\",\"format\":"
                     "\"int99\"},\"e\":{\"type\":\"string\",\"format\":\"date-time\"},\"f\":{\"type\":\"integer\","
                     "\"format\":\"int64\"}}");
        field_errors_init(&errors, &arena);
        str_list_init(&warnings, &arena);
        crd_strategy.validate(&arena, &req, NULL, prepare(NULL, crd), &errors, &warnings);
        ASSERT_INT(errors.n, 0);
        ASSERT_INT(warnings.n, 3);
        ASSERT_STR(warnings.p[0], STR("unrecognized format \"zzz\""));
        ASSERT_STR(warnings.p[1], STR("unrecognized format \"y\\\"y\""));
        ASSERT_STR(warnings.p[2], STR("unrecognized format \"int99\""));
}
