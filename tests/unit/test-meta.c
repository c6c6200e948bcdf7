#include "kube-test.h"

#include "meta.h"

static struct arena arena;

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

static const struct value *json(const char *text)
{
        return from_json(&arena, text);
}

TEST(api_versions)
{
        static const struct {
                const char *text, *group, *version;
        } cases[] = {
                { "", "", "" },      { "v1", "", "v1" }, { "a/b", "a", "b" }, { "ex.org/v1beta1", "ex.org", "v1beta1" },
                { "/v1", "", "v1" }, { "a/", "a", "" },  { "/", "", "" },
        };
        _cleanup_err_ struct err err = { 0 };
        struct str group, version;

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                ASSERT_INT(gvk_split_api_version(str_from(cases[i].text), &group, &version, &err), 0);
                ASSERT_STR_CASE(cases[i].text, group, str_from(cases[i].group));
                ASSERT_STR_CASE(cases[i].text, version, str_from(cases[i].version));
        }
        ASSERT_INT(gvk_split_api_version(STR("a/b/c"), &group, &version, &err), ERR_INVALID);
        ASSERT_TEXT(err_message(&err), "unexpected GroupVersion string: a/b/c");
}

TEST(gvks)
{
        struct gvk gvk, core;

        begin();
        gvk = gvk_of(json("{\"apiVersion\":\"ex.org/v1\",\"kind\":\"Widget\"}"));
        ASSERT_STR(gvk_text(&arena, gvk), STR("ex.org/v1, Kind=Widget"));
        ASSERT_STR(gvk_api_version(&arena, gvk), STR("ex.org/v1"));
        core = gvk_of(json("{\"apiVersion\":\"v1\",\"kind\":\"Secret\"}"));
        ASSERT_STR(gvk_text(&arena, core), STR("/v1, Kind=Secret"));
        ASSERT_STR(gvk_api_version(&arena, core), STR("v1"));
        ASSERT(gvk_equal(gvk, gvk_copy(&arena, gvk)));
        ASSERT(!gvk_equal(gvk, core));
        ASSERT_STR(gvk_of(json("{\"apiVersion\":\"a/b/c\"}")).version, STR("a/b/c"));
        ASSERT_STR(gvk_of(NULL).kind, STR(""));
        ASSERT_STR(gvk_of(json("{\"kind\":1}")).kind, STR(""));
}

TEST(versions_that_are_names_of_another)
{
        static const struct gvk current = { STR_INIT("apiextensions.crossplane.io"), STR_INIT("v1beta1"),
                                            STR_INIT("EnvironmentConfig") };
        struct gvk old = current, other = current;

        old.version = STR("v1alpha1");
        ASSERT(gvk_equal(gvk_current(old), current));
        ASSERT(gvk_equal(gvk_current(current), current));
        ASSERT(gvk_alias(old, &other) && gvk_equal(other, current));
        ASSERT(gvk_alias(current, &other) && gvk_equal(other, old));
        old.kind = STR("Usage");
        ASSERT(gvk_equal(gvk_current(old), old));
        ASSERT(!gvk_alias(old, &other));
        old = current;
        old.version = STR("v1");
        ASSERT(!gvk_alias(old, &other));
}

TEST(keys)
{
        struct object_key a, b;

        begin();
        a = object_key_of(json(
                "{\"apiVersion\":\"ex.org/v1\",\"kind\":\"W\",\"metadata\":{\"name\":\"n\",\"namespace\":\"s\"}}"));
        b = object_key_copy(&arena, &a);
        ASSERT_STR(b.name, STR("n"));
        ASSERT_STR(b.ns, STR("s"));
        ASSERT(object_key_equal(&a, &b));
        b.ns = STR("");
        ASSERT(!object_key_equal(&a, &b));
}

TEST(readers_take_wrong_types_as_absent)
{
        static const char *const texts[] = {
                "null",
                "1",
                "{}",
                "{\"metadata\":null}",
                "{\"metadata\":[]}",
                "{\"metadata\":\"x\"}",
                ("{\"metadata\":{\"name\":1,\"labels\":[],\"annotations\":{\"a\":1},\"finalizers\":{},"
                 "\"generation\":\"1\"}}"),
        };

        begin();
        for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
                const struct value *o = json(texts[i]);

                ASSERT_STR_CASE(texts[i], meta_name(o), STR(""));
                ASSERT_STR_CASE(texts[i], meta_uid(o), STR(""));
                ASSERT_STR_CASE(texts[i], meta_resource_version(o), STR(""));
                ASSERT_STR_CASE(texts[i], meta_label(o, STR("a")), STR(""));
                ASSERT_STR_CASE(texts[i], meta_annotation(o, STR("a")), STR(""));
                ASSERT_CASE(texts[i], !meta_has_label(o, STR("a")) && !meta_has_annotation(o, STR("a")));
                ASSERT_CASE(texts[i], meta_generation(o) == 0 && !meta_is_deleting(o));
                ASSERT_CASE(texts[i], !meta_has_finalizer(o, STR("a")));
        }
}

TEST(readers)
{
        const struct value *o;

        begin();
        o = json("{\"metadata\":{\"uid\":\"u\",\"resourceVersion\":\"7\",\"generation\":3,\"deletionTimestamp\":\"2020-"
                 "01-01T00:00:00Z\","
                 "\"labels\":{\"a\":\"\"},\"annotations\":{\"b\":\"c\"},\"finalizers\":[\"f\"]}}");
        ASSERT_STR(meta_uid(o), STR("u"));
        ASSERT_STR(meta_resource_version(o), STR("7"));
        ASSERT_INT(meta_generation(o), 3);
        ASSERT(meta_is_deleting(o));
        ASSERT(meta_has_label(o, STR("a")));
        ASSERT_STR(meta_label(o, STR("a")), STR(""));
        ASSERT_STR(meta_annotation(o, STR("b")), STR("c"));
        ASSERT(meta_has_annotation(o, STR("b")));
        ASSERT(meta_has_finalizer(o, STR("f")));
}

TEST(edits)
{
        const struct value *o, *same;

        begin();
        o = meta_with_str(&arena, json("{\"kind\":\"K\"}"), STR("name"), STR("n"));
        ASSERT_JSON(&arena, o, "{\"kind\":\"K\",\"metadata\":{\"name\":\"n\"}}");
        same = meta_with_str(&arena, o, STR("name"), STR("n"));
        ASSERT(same == o);
        ASSERT(meta_with(&arena, o, STR("uid"), NULL) == o);
        o = meta_with(&arena, o, STR("name"), NULL);
        ASSERT_JSON(&arena, o, "{\"kind\":\"K\",\"metadata\":{}}");
        ASSERT_JSON(&arena, meta_with_str(&arena, json("{\"metadata\":1}"), STR("a"), STR("b")),
                    "{\"metadata\":{\"a\":\"b\"}}");
        ASSERT_JSON(&arena, meta_with_str(&arena, NULL, STR("a"), STR("b")), "{\"metadata\":{\"a\":\"b\"}}");
}

TEST(maps)
{
        const struct value *o, *with;

        begin();
        o = json("{\"metadata\":{\"labels\":{\"a\":\"b\"}}}");
        ASSERT(meta_with_label(&arena, o, STR("a"), STR("b")) == o);
        ASSERT(meta_without_label(&arena, o, STR("x")) == o);
        with = meta_with_label(&arena, o, STR("c"), STR("d"));
        ASSERT_JSON(&arena, with, "{\"metadata\":{\"labels\":{\"a\":\"b\",\"c\":\"d\"}}}");
        ASSERT_JSON(&arena, o, "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}");
        ASSERT_JSON(&arena, meta_without_label(&arena, with, STR("a")), "{\"metadata\":{\"labels\":{\"c\":\"d\"}}}");
        ASSERT_JSON(&arena, meta_without_label(&arena, o, STR("a")), "{\"metadata\":{}}");
        with = meta_with_annotation(&arena, o, STR("x"), STR(""));
        ASSERT_JSON(&arena, with, "{\"metadata\":{\"labels\":{\"a\":\"b\"},\"annotations\":{\"x\":\"\"}}}");
        ASSERT_JSON(&arena, meta_without_annotation(&arena, with, STR("x")),
                    "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}");
        ASSERT_JSON(&arena, meta_with_label(&arena, json("{\"metadata\":{\"labels\":7}}"), STR("a"), STR("b")),
                    "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}");
}

TEST(finalizers)
{
        const struct value *o;

        begin();
        o = meta_with_finalizer(&arena, json("{}"), STR("a"));
        ASSERT_JSON(&arena, o, "{\"metadata\":{\"finalizers\":[\"a\"]}}");
        ASSERT(meta_with_finalizer(&arena, o, STR("a")) == o);
        ASSERT(meta_without_finalizer(&arena, o, STR("b")) == o);
        ASSERT_JSON(&arena, meta_without_finalizer(&arena, o, STR("a")), "{\"metadata\":{}}");
        o = meta_without_finalizer(&arena, json("{\"metadata\":{\"finalizers\":[\"a\",\"b\",\"a\",1]}}"), STR("a"));
        ASSERT_JSON(&arena, o, "{\"metadata\":{\"finalizers\":[\"b\",1]}}");
}
