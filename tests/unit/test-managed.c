#include "../interop/subject/managed-life.h"

#include "buf.h"
#include "managed-fields.h"
#include "test.h"
#include "typed.h"

static struct arena arena;

__attribute__((constructor)) static void begin(void)
{
        arena_init(&arena, "test", 0);
}

__attribute__((destructor)) static void end(void)
{
        arena_done(&arena);
}

static const struct value *parse(const char *text)
{
        const struct value *v = NULL;

        ASSERT_INT(json_parse(&arena, str_from(text), NULL, &v, NULL), 0);
        return v;
}

static struct str text_of(const struct value *v)
{
        struct str text = STR_NONE;

        ASSERT_INT(json_to_str(&arena, v, JSON_GO, &text, NULL), 0);
        return text;
}

static const struct value *read_golden(const char *name)
{
        _cleanup_buf_ struct buf text = BUF_INIT(0);
        FILE *f = fopen(name, "r");

        ASSERT(f);
        while (!feof(f) && !ferror(f) && buf_reserve(&text, 65536))
                text.n += fread(text.p + text.n, 1, 65536, f);
        fclose(f);
        return parse(buf_cstring(&text));
}

/* The wanted results are those of the field manager of Kubernetes for the same writes. Upstream names several errors of one map in
 * random order, so no case has them. */
TEST(lives_on_file)
{
        const struct value *lives = read_golden(TEST_SOURCE_DIR "/tests/golden/managed/lives.json");

        ASSERT(value_count(lives) > 20);
        VALUE_FOREACH_ITEM (life, lives) {
                const struct value *want = value_get(life, STR("want"));
                const struct value *got = managed_life(&arena, value_get(life, STR("case")));
                const char *name = arena_cstring(&arena, value_str(value_get(life, STR("name"))));

                ASSERT_CASE(name, value_count(got) == value_count(want));
                for (size_t i = 0; i < value_count(want); i++)
                        ASSERT_STR_CASE(arena_printf(&arena, "%s, step %zu", name, i).p, text_of(value_item(got, i)),
                                        text_of(value_item(want, i)));
        }
}

/* An object whose schema says nothing, with one version only. */
static struct managed_type plain_type(struct schema **ret_schema)
{
        *ret_schema = schema_any();
        return (struct managed_type) { .gvk = { STR(""), STR("v1"), STR("Thing") },
                                       .schema = *ret_schema,
                                       .hub_version = STR("v1") };
}

TEST(kinds_without_schema)
{
        struct schema *schema;
        struct managed_type type = plain_type(&schema);
        struct managed_request req = { .type = &type, .manager = STR("m"), .now = { .seconds = 1577836800 } };
        const struct value *object = NULL;

        ASSERT_INT(managed_apply(&arena, &req, NULL,
                                 parse("{\"apiVersion\":\"v1\",\"kind\":\"Thing\",\"metadata\":{\"name\":\"a\","
                                       "\"finalizers\":[\"x\"]},\"data\":{\"k\":[1]}}"),
                                 &object, NULL),
                   0);
        ASSERT_STR(
                text_of(value_find(object, "metadata", "managedFields")),
                STR("[{\"apiVersion\":\"v1\",\"fieldsType\":\"FieldsV1\",\"fieldsV1\":{\"f:data\":{\".\":{},\"f:k\":{}}"
                    ","
                    "\"f:metadata\":{\"f:finalizers\":{\"v:\\\"x\\\"\":{}}}},\"manager\":\"m\",\"operation\":\"Apply\","
                    "\"time\":\"2020-01-01T00:00:00Z\"}]"));
        schema_unref(schema);
}

/* Without a conversion, managers of other versions are forgotten. */
TEST(one_version_only)
{
        struct schema *schema;
        struct managed_type type = plain_type(&schema);
        struct managed_request req = { .type = &type, .manager = STR("m"), .now = { .seconds = 1577836800 } };
        const struct value *live = parse("{\"apiVersion\":\"v1\",\"kind\":\"Thing\",\"metadata\":{\"name\":\"a\","
                                         "\"uid\":\"1\",\"managedFields\":[{"
                                         "\"manager\":\"old\",\"operation\":\"Apply\",\"apiVersion\":\"v0\","
                                         "\"fieldsType\":\"FieldsV1\",\"fieldsV1\":{"
                                         "\"f:data\":{}}}]},\"data\":1}");
        const struct value *object = NULL, *fields;

        ASSERT_INT(managed_apply(&arena, &req, live, parse("{\"apiVersion\":\"v1\",\"kind\":\"Thing\",\"data\":2}"),
                                 &object, NULL),
                   0);
        fields = value_find(object, "metadata", "managedFields");
        ASSERT_INT(value_count(fields), 1);
        ASSERT_STR(value_str(value_get(value_item(fields, 0), STR("manager"))), STR("m"));
        schema_unref(schema);
}

/* A write by way of scale has no time, and so comes first. */
TEST(scale)
{
        struct schema *schema;
        struct managed_type type = plain_type(&schema);
        struct managed_request req = { .type = &type, .manager = STR("m"), .now = { .seconds = 1577836800 } };
        const struct value *object = NULL, *fields;

        ASSERT_INT(managed_update(&arena, &req, NULL,
                                  parse("{\"apiVersion\":\"v1\",\"kind\":\"Thing\",\"spec\":{\"replicas\":1}}"),
                                  &object, NULL),
                   0);
        req.subresource = STR("scale");
        ASSERT_INT(managed_update(&arena, &req, object,
                                  merge_patch_apply(&arena, object, parse("{\"spec\":{\"replicas\":2}}")), &object,
                                  NULL),
                   0);
        fields = value_find(object, "metadata", "managedFields");
        ASSERT_STR(
                text_of(value_item(fields, 0)),
                STR("{\"apiVersion\":\"v1\",\"fieldsType\":\"FieldsV1\",\"fieldsV1\":{\"f:spec\":{\"f:replicas\":{}}},"
                    "\"manager\":\"m\",\"operation\":\"Update\",\"subresource\":\"scale\"}"));
        schema_unref(schema);
}

static const struct {
        const char *old, *newer, *want;
} reversions[] = {
        { "{\"a\":1,\"metadata\":{\"resourceVersion\":\"1\",\"managedFields\":[{\"manager\":\"m\",\"time\":\"1\"}]}}",
          "{\"a\":1,\"metadata\":{\"resourceVersion\":\"2\",\"managedFields\":[{\"manager\":\"m\",\"time\":\"2\"}]}}",
          "{\"a\":1,\"metadata\":{\"managedFields\":[{\"manager\":\"m\",\"time\":\"1\"}],\"resourceVersion\":\"2\"}}" },
        { "{\"a\":1,\"metadata\":{\"managedFields\":[{\"manager\":\"m\"}]}}",
          "{\"a\":1,\"metadata\":{\"managedFields\":[{\"manager\":\"m\",\"time\":\"2\"}]}}",
          "{\"a\":1,\"metadata\":{\"managedFields\":[{\"manager\":\"m\"}]}}" },
        /* Something else is different too: the object, its metadata, an entry, their number. */
        { "{\"a\":2,\"metadata\":{\"managedFields\":[{\"time\":\"1\"}]}}",
          "{\"a\":1,\"metadata\":{\"managedFields\":[{\"time\":\"2\"}]}}", NULL },
        { "{\"b\":2,\"metadata\":{\"managedFields\":[{\"time\":\"1\"}]}}",
          "{\"metadata\":{\"managedFields\":[{\"time\":\"2\"}]}}", NULL },
        { "{\"metadata\":{\"labels\":{},\"managedFields\":[{\"time\":\"1\"}]}}",
          "{\"metadata\":{\"managedFields\":[{\"time\":\"2\"}]}}", NULL },
        { "{\"metadata\":{\"managedFields\":[{\"manager\":\"m\",\"time\":\"1\"}]}}",
          "{\"metadata\":{\"managedFields\":[{\"manager\":\"n\",\"time\":\"2\"}]}}", NULL },
        { "{\"metadata\":{\"managedFields\":[{\"time\":\"1\"}]}}",
          "{\"metadata\":{\"managedFields\":[{\"manager\":\"n\",\"time\":\"2\"}]}}", NULL },
        { "{\"metadata\":{\"managedFields\":[{\"time\":\"1\"},{}]}}",
          "{\"metadata\":{\"managedFields\":[{\"time\":\"2\"}]}}", NULL },
        { "{\"metadata\":{\"managedFields\":[1]}}", "{\"metadata\":{\"managedFields\":[{\"time\":\"2\"}]}}", NULL },
        { "{\"metadata\":{}}", "{\"metadata\":{\"managedFields\":[{\"time\":\"2\"}]}}", NULL },
};

TEST(times_are_reverted)
{
        for (size_t i = 0; i < ARRAY_SIZE(reversions); i++) {
                const struct value *new_object = parse(reversions[i].newer);
                const struct value *got = managed_revert_times(&arena, parse(reversions[i].old), new_object);

                if (reversions[i].want)
                        ASSERT_STR(text_of(got), str_from(reversions[i].want));
                else
                        ASSERT_CASE(reversions[i].old, got == new_object);
        }
}

/* Fields that only a hostile client could claim to own. */
TEST(sets_that_make_no_sense)
{
        static const char *const sets[] = {
                "{\"f:apiVersion\":{},\"f:kind\":{},\"f:metadata\":{},\"f:data\":{},\"f:list\":{}}",
                "{\"f:data\":{\"k:{\\\"a\\\":1}\":{\"f:x\":{}},\"v:1\":{},\"i:7\":{\"f:q\":{}}}}",
                "{\"f:metadata\":{\"f:ownerReferences\":{\"k:{\\\"uid\\\":\\\"1\\\"}\":{\"f:uid\":{}}}}}",
                ("{\"f:metadata\":{\"f:finalizers\":{\"f:x\":{\"f:y\":{}},\"k:{}\":{\"v:1\":{}}},"
                 "\"f:labels\":{\"f:a\":{\"f:b\":{}}}}}"),
        };
        struct schema *schema;
        struct managed_type type = plain_type(&schema);
        struct managed_request req = { .type = &type, .manager = STR("m"), .force = true };

        for (size_t i = 0; i < ARRAY_SIZE(sets); i++) {
                const struct value *live = parse(
                        arena_printf(
                                &arena,
                                "{\"apiVersion\":\"v1\",\"kind\":\"Thing\",\"metadata\":{\"name\":\"a\",\"labels\":{"
                                "\"a\":\"b\"},\"finalizers\":[\"x\"],\"ownerReferences\":[{\"uid\":\"1\"}],"
                                "\"managedFields\":[{\"manager\":\"m\",\"operation\":\"Apply\",\"apiVersion\":\"v1\","
                                "\"fieldsType\":\"FieldsV1\",\"fieldsV1\":%s}]},\"data\":1}",
                                sets[i])
                                .p);
                const struct value *object = NULL;
                int r = managed_apply(&arena, &req, live, parse("{\"apiVersion\":\"v1\",\"kind\":\"Thing\"}"), &object,
                                      NULL);

                ASSERT_CASE(sets[i], r < 0 || value_is_object(object));
        }
        schema_unref(schema);
}

TEST(budget)
{
        struct schema *schema;
        struct managed_type type = plain_type(&schema);
        struct managed_request req = { .type = &type, .manager = STR("m") };
        const struct value *config = parse("{\"apiVersion\":\"v1\",\"kind\":\"Thing\",\"data\":{\"a\":{\"b\":1}}}");
        const struct value *object = NULL;
        _cleanup_arena_ struct arena small;
        _cleanup_err_ struct err err = { 0 };

        arena_init(&small, "small", 1);
        ASSERT_INT(managed_apply(&small, &req, NULL, config, &object, &err), ERR_LIMIT);
        ASSERT_INT(managed_update(&small, &req, NULL, config, &object, &err), ERR_LIMIT);
        schema_unref(schema);
}
