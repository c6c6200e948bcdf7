/* CertificateSigningRequests: who asks, who decides, who signs. */
#include "store-test.h"

static struct object_key request_key(void)
{
        return (struct object_key) {
                .gvk = { STR("certificates.k8s.io"), STR("v1"), STR("CertificateSigningRequest") },
                .name = STR("r"),
        };
}

static void create_request(struct fixture *f)
{
        MUST(f, create(f, JSON(f, "{'apiVersion':'certificates.k8s.io/v1','kind':'CertificateSigningRequest','metadata'"
                                  ":{'name':'r'},'spec':{'request':'eA==','signerName':'example.org/s','usages':["
                                  "'client auth'],'username':'somebody else','groups':['some']},'status':{"
                                  "'certificate':'eA=='}}")));
}

/* The text of the refusal, or "". */
static struct str patch(struct fixture *f, const char *subresource, const char *body)
{
        struct write_request req = {
                .verb = WRITE_MERGE_PATCH,
                .key = request_key(),
                .subresource = str_from(subresource),
                .body = JSON(f, "%s", body),
        };

        return write_request(f, req, NULL) < 0 ? arena_copy(&f->arena, str_from(err_message(&f->err))) : STR("");
}

static struct str part(struct fixture *f, const char *field)
{
        return to_json(f, value_get(get(f, request_key()), str_from(field)));
}

TEST(the_requester_is_the_user)
{
        static const struct str groups[] = { STR_INIT("a"), STR_INIT("b") }, ids[] = { STR_INIT("x") };
        static const struct user_extra extra[] = { { STR_INIT("example.org/id"), ids, 1 } };
        _cleanup_fixture_ struct fixture f;
        struct store_options options = { 0 };

        fixture_init_with(&f, &options);
        create_request(&f);
        ASSERT_STR(part(&f, "spec"), STR("{\"request\":\"eA==\",\"signerName\":\"example.org/s\",\"usages\":[\"client "
                                         "auth\"],\"username\":\"tester\"}"));
        ASSERT_STR(part(&f, "status"), STR("{}"));
        MUST(&f, delete_with(&f, request_key(), PROPAGATE_BACKGROUND));
        f.run.user = (struct user) {
                .name = STR("u"), .uid = STR("7"), .groups = groups, .n_groups = 2, .extra = extra, .n_extra = 1
        };
        create_request(&f);
        ASSERT_STR(part(&f, "spec"),
                   STR("{\"extra\":{\"example.org/id\":[\"x\"]},\"groups\":[\"a\",\"b\"],\"request\":\"eA==\","
                       "\"signerName\":\"example.org/s\",\"uid\":\"7\",\"usages\":[\"client auth\"],\"username\":"
                       "\"u\"}"));
}

TEST(each_subresource_writes_its_own)
{
#define T             "'lastTransitionTime':'2001-02-03T04:05:06Z','lastUpdateTime':'2001-02-03T04:05:06Z'"
#define C(type, more) "{" T "," more "'status':'True','type':'" type "'}"
        static const struct {
                const char *subresource, *body, *refusal, *status;
        } cases[] = {
                { "", "{'spec':{'signerName':'other/s'},'status':{'certificate':'eA=='}}", "", "{}" },
                { "approval",
                  "{'spec':{'signerName':'other/s'},'status':{'certificate':'eA==','conditions':[" C(
                          "Approved", "") "," C("Denied", "") "]}}",
                  "status.conditions: Invalid value: \"Denied\": Approved and Denied conditions are mutually exclusive",
                  "{}" },
                { "approval", "{'status':{'conditions':[{'type':'Approved','status':'False'}]}}",
                  "status.conditions[0].status: Unsupported value: \"False\": supported values: \"True\"", "{}" },
                { "approval",
                  "{'spec':{'signerName':'other/s'},'status':{'certificate':'eA==','conditions':[" C("Approved",
                                                                                                     "") "]}}",
                  "", "{'conditions':[" C("Approved", "") "]}" },
                { "approval", "{'status':{'conditions':[]}}",
                  "status.conditions: Forbidden: updates may not remove a condition of type \"Approved\"",
                  "{'conditions':[" C("Approved", "") "]}" },
                { "status", "{'status':{'conditions':[" C("Approved", "'reason':'R',") "," C("Failed", "") "]}}", "",
                  "{'conditions':[" C("Approved", "") "," C("Failed", "") "]}" },
                { "status", "{'status':{'conditions':[" C("Denied", "") "]}}",
                  "[status.conditions: Forbidden: updates may not add a condition of type \"Denied\", "
                  "status.conditions: Forbidden: updates may not remove a condition of type \"Approved\", "
                  "status.conditions: Forbidden: updates may not remove a condition of type \"Failed\"]",
                  "{'conditions':[" C("Approved", "") "," C("Failed", "") "]}" },
                { "approval", "{'status':{'conditions':[" C("Approved", "") "]}}",
                  "status.conditions: Forbidden: updates may not remove a condition of type \"Failed\"",
                  "{'conditions':[" C("Approved", "") "," C("Failed", "") "]}" },
                { "status", "{'status':{'certificate':'eQ=='}}", "",
                  "{'certificate':'eQ==','conditions':[" C("Approved", "") "," C("Failed", "") "]}" },
        };
        _cleanup_fixture_ struct fixture f;
        struct store_options options = { 0 };

        fixture_init_with(&f, &options);
        create_request(&f);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct str text = patch(&f, cases[i].subresource, cases[i].body);
                ptrdiff_t at = str_find(text, STR("is invalid: "));

                ASSERT_STR_CASE(cases[i].body, at < 0 ? text : str_skip(text, (size_t)at + strlen("is invalid: ")),
                                str_from(cases[i].refusal));
                ASSERT_STR_CASE(cases[i].body, part(&f, "status"), str_from(quoted(&f, "%s", cases[i].status)));
                ASSERT(strstr(part(&f, "spec").p, "example.org/s"));
        }
}

TEST(conditions_have_times)
{
        _cleanup_fixture_ struct fixture f;
        struct store_options options = { 0 };
        const struct value *c;

        fixture_init_with(&f, &options);
        create_request(&f);
        ASSERT_STR(patch(&f, "approval", "{'status':{'conditions':[{'type':'Approved','status':'True'}]}}"), STR(""));
        c = value_item(value_find(get(&f, request_key()), "status", "conditions"), 0);
        ASSERT(value_str(value_get(c, STR("lastUpdateTime"))).n > 0);
        ASSERT(value_str(value_get(c, STR("lastTransitionTime"))).n > 0);
}
