/* Accept headers, as docs/spec/apiserver 8.1 and 8.3 have them. */
#include "test.h"

#include "accept.h"

#define KUBECTL_TABLE                                                                                     \
        "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io," \
        "application/json"
#define METADATA "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"

TEST(forms)
{
        static const struct {
                const char *accept;
                unsigned forms;
                int form; /* -1: 406 */
                bool is_yaml;
                bool is_custom;
        } cases[] = {
                { "", FORMS_OF_ONE, ANSWER_OBJECT, false },
                { "*/*", FORMS_OF_ONE, ANSWER_OBJECT, false },
                { "application/*", FORMS_OF_ONE, ANSWER_OBJECT, false, true },
                { "application/*", FORMS_OF_ONE, -1, false },
                { "application/*, application/json", FORMS_OF_ONE, ANSWER_OBJECT, false },
                { "application/json", FORMS_OF_ONE, ANSWER_OBJECT, false },
                { "application/json; charset=utf-8", FORMS_OF_ONE, ANSWER_OBJECT, false },
                { "application/yaml", FORMS_OF_ONE, ANSWER_OBJECT, true },
                { "application/vnd.kubernetes.protobuf,application/json", FORMS_OF_ONE, ANSWER_OBJECT, false },
                { "application/vnd.kubernetes.protobuf, */*", FORMS_OF_ONE, ANSWER_OBJECT, false },
                { "application/vnd.kubernetes.protobuf", FORMS_OF_ONE, -1, false },
                { "text/html", FORMS_OF_ONE, -1, false },
                { "application/json;q=0", FORMS_OF_ONE, -1, false },
                { "application/json;q=0.5, application/yaml;q=0.7", FORMS_OF_ONE, ANSWER_OBJECT, true },
                { "application/yaml;q=0.5, application/json;q=0.5", FORMS_OF_ONE, ANSWER_OBJECT, true },
                { KUBECTL_TABLE, FORMS_OF_ONE, ANSWER_TABLE, false },
                { KUBECTL_TABLE, FORMS_OF_LIST, ANSWER_TABLE, false },
                { KUBECTL_TABLE, FORM_SET(ANSWER_OBJECT), ANSWER_OBJECT, false },
                { "application/json;as=Table;v=v1;g=meta.k8s.io", FORM_SET(ANSWER_OBJECT), -1, false },
                { "application/json;as=Table;v=v2;g=meta.k8s.io", FORMS_OF_ONE, -1, false },
                { "application/json;as=Chair;v=v1;g=meta.k8s.io", FORMS_OF_ONE, -1, false },
                { METADATA, FORMS_OF_ONE, ANSWER_METADATA, false },
                { METADATA, FORMS_OF_LIST, -1, false },
                { METADATA ",application/json", FORMS_OF_LIST, ANSWER_OBJECT, false },
                { "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1", FORMS_OF_LIST,
                  ANSWER_METADATA_LIST, false },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_err_ struct err err = { 0 };
                struct accepted found;
                struct acceptable allowed = { .forms = cases[i].forms, .is_custom = cases[i].is_custom };
                int r = accept_negotiate(str_from(cases[i].accept), &allowed, &found, &err);

                ASSERT_CASE(cases[i].accept, (r == 0) == (cases[i].form >= 0));
                if (r < 0) {
                        ASSERT_CASE(cases[i].accept, err.reason == REASON_NOT_ACCEPTABLE);
                        continue;
                }
                ASSERT_CASE(cases[i].accept, (int)found.form == cases[i].form && found.is_yaml == cases[i].is_yaml);
        }
}

/* The words of a real kube-apiserver 1.36. */
TEST(refusals)
{
        static const struct {
                const char *accept;
                struct acceptable allowed;
                const char *error;
        } cases[] = {
                { "text/html",
                  { FORMS_OF_ONE, false, false, true },
                  "only the following media types are accepted: application/json, application/yaml, "
                  "application/vnd.kubernetes.protobuf" },
                { "text/html",
                  { FORMS_OF_LIST, false, true, false },
                  "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, "
                  "application/vnd.kubernetes.protobuf, application/json;stream=watch, "
                  "application/vnd.kubernetes.protobuf;stream=watch" },
                { "application/json;as=Table;g=meta.k8s.io;v=v2",
                  { FORMS_OF_LIST, false, true, false },
                  "only the following media types are accepted: application/json, application/yaml, "
                  "application/vnd.kubernetes.protobuf" },
                { "application/yaml",
                  { FORMS_OF_ONE, true, false, false },
                  "only the following media types are accepted: application/json;stream=watch, "
                  "application/vnd.kubernetes.protobuf;stream=watch" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_err_ struct err err = { 0 };
                struct accepted found;

                ASSERT_CASE(cases[i].accept,
                            accept_negotiate(str_from(cases[i].accept), &cases[i].allowed, &found, &err) < 0);
                ASSERT_STR_CASE(cases[i].accept, str_from(err_message(&err)), str_from(cases[i].error));
        }
}

TEST(tokens)
{
        ASSERT(accept_has_token(STR("gzip"), STR("gzip")));
        ASSERT(accept_has_token(STR("br, GZIP;q=0.5"), STR("gzip")));
        ASSERT(!accept_has_token(STR("gzip;q=0"), STR("gzip")));
        ASSERT(!accept_has_token(STR(""), STR("gzip")));
        ASSERT(!accept_has_token(STR("gzipped"), STR("gzip")));
}
