/* Strategic merge patches: how lists merge, in which order, and what the directives do. */
#include "kube-test.h"

#include "strategic.h"

static const char openapi[] =
        "{\"type\":\"object\",\"properties\":{"
        "\"containers\":{\"type\":\"array\",\"x-kubernetes-patch-merge-key\":\"name\",\"x-kubernetes-patch-strategy\":"
        "\"merge\",\"items\":{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"},\"image\":{\"type\":"
        "\"string\"},\"args\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},\"ports\":{\"type\":\"array\","
        "\"x-kubernetes-patch-merge-key\":\"containerPort\",\"x-kubernetes-patch-strategy\":\"merge\",\"items\":{"
        "\"type\":\"object\",\"properties\":{\"containerPort\":{\"type\":\"integer\"},\"name\":{\"type\":\"string\"}}}}"
        "}}},"
        "\"volumes\":{\"type\":\"array\",\"x-kubernetes-patch-merge-key\":\"name\",\"x-kubernetes-patch-strategy\":"
        "\"merge,retainKeys\",\"items\":{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"}}}},"
        "\"set\":{\"type\":\"array\",\"x-kubernetes-patch-strategy\":\"merge\",\"items\":{\"type\":\"string\"}},"
        "\"plain\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
        "\"keyless\":{\"type\":\"array\",\"x-kubernetes-patch-strategy\":\"merge\",\"items\":{\"type\":\"object\"}},"
        "\"selector\":{\"type\":\"object\",\"x-kubernetes-patch-strategy\":\"replace\"},"
        "\"strategy\":{\"type\":\"object\",\"x-kubernetes-patch-strategy\":\"retainKeys\"}}}";

static struct schema *make_schema(struct arena *a)
{
        struct field_errors errors;
        struct schema *s = NULL;

        field_errors_init(&errors, a);
        ASSERT_INT(schema_compile(from_json(a, openapi), STR("s"), &s, &errors), 0);
        return s;
}

struct merge_case {
        const char *name;
        const char *live;
        const char *patch;
        const char *wanted;
};

#define ITEM(n)            "{\"name\":\"" n "\"}"
#define LIST(list)         "{\"containers\":[" list "]}"
#define ORDER(order, list) "{\"$setElementOrder/containers\":[" order "],\"containers\":[" list "]}"

static const struct merge_case cases[] = {
        { "maps merge", "{\"a\":{\"b\":1,\"c\":2},\"d\":3}", "{\"a\":{\"b\":4,\"e\":5}}",
          "{\"a\":{\"b\":4,\"c\":2,\"e\":5},\"d\":3}" },
        { "null deletes", "{\"a\":1,\"b\":{\"c\":1}}", "{\"a\":null,\"b\":{\"c\":null},\"d\":null}", "{\"b\":{}}" },
        { "nulls of what was not there are not kept", "{}", "{\"a\":{\"b\":null,\"c\":1}}", "{\"a\":{\"c\":1}}" },
        { "other types replace", "{\"a\":{\"b\":1}}", "{\"a\":[1]}", "{\"a\":[1]}" },
        { "plain lists are replaced", "{\"plain\":[\"a\",\"b\"]}", "{\"plain\":[\"c\"]}", "{\"plain\":[\"c\"]}" },
        { "lists nobody knows are replaced", "{\"x\":[{\"name\":\"a\"}]}", "{\"x\":[{\"name\":\"b\"}]}",
          "{\"x\":[{\"name\":\"b\"}]}" },
        { "a new item goes first", LIST(ITEM("a")), LIST(ITEM("b")), LIST(ITEM("b") "," ITEM("a")) },
        { "the order of the patch", LIST(ITEM("c3") "," ITEM("c")), LIST(ITEM("c") "," ITEM("c3")),
          LIST(ITEM("c") "," ITEM("c3")) },
        { "new before old", LIST(ITEM("c3") "," ITEM("c")), LIST(ITEM("new") "," ITEM("c")),
          LIST(ITEM("new") "," ITEM("c3") "," ITEM("c")) },
        { "new behind old", LIST(ITEM("c3") "," ITEM("c")), LIST(ITEM("c") "," ITEM("new")),
          LIST(ITEM("c3") "," ITEM("c") "," ITEM("new")) },
        { "an order", LIST(ITEM("z1") "," ITEM("z2") "," ITEM("c3") "," ITEM("c")),
          "{\"$setElementOrder/containers\":[" ITEM("c") "," ITEM("c3") "]}",
          LIST(ITEM("z1") "," ITEM("z2") "," ITEM("c") "," ITEM("c3")) },
        { "an order with items", LIST(ITEM("a") "," ITEM("b")),
          ORDER(ITEM("b") "," ITEM("n") "," ITEM("a"), "{\"name\":\"n\",\"image\":\"i\"}"),
          LIST(ITEM("b") ",{\"name\":\"n\",\"image\":\"i\"}," ITEM("a")) },
        { "an order of what is not there", "{}", "{\"$setElementOrder/containers\":[" ITEM("a") "]}", "{}" },
        { "an order of what is new", "{}", ORDER(ITEM("b") "," ITEM("a"), ITEM("b") "," ITEM("a")),
          LIST(ITEM("b") "," ITEM("a")) },
        { "items merge", LIST("{\"name\":\"a\",\"image\":\"1\",\"args\":[\"x\"]}"),
          LIST("{\"name\":\"a\",\"image\":\"2\"}"), LIST("{\"name\":\"a\",\"image\":\"2\",\"args\":[\"x\"]}") },
        { "items of items merge", LIST("{\"name\":\"a\",\"ports\":[{\"containerPort\":80}]}"),
          LIST("{\"name\":\"a\",\"ports\":[{\"containerPort\":81},{\"containerPort\":80,\"name\":\"web\"}]}"),
          LIST("{\"name\":\"a\",\"ports\":[{\"containerPort\":81},{\"containerPort\":80,\"name\":\"web\"}]}") },
        { "an item is deleted", LIST(ITEM("a") "," ITEM("b")), LIST("{\"name\":\"a\",\"$patch\":\"delete\"}"),
          LIST(ITEM("b")) },
        { "an item that is not there is deleted", LIST(ITEM("b")), LIST("{\"name\":\"a\",\"$patch\":\"delete\"}"),
          LIST(ITEM("b")) },
        { "a list is replaced", LIST(ITEM("a") "," ITEM("b")), LIST("{\"$patch\":\"replace\"}," ITEM("c")),
          LIST(ITEM("c")) },
        { "a list is emptied", LIST(ITEM("a")), LIST("{\"$patch\":\"replace\"}"), LIST("") },
        { "directives of a new list are not kept", "{}", LIST("{\"$patch\":\"replace\"}," ITEM("c")), LIST(ITEM("c")) },
        { "scalars merge", "{\"set\":[\"a\"]}", "{\"set\":[\"b\",\"a\"]}", "{\"set\":[\"b\",\"a\"]}" },
        { "scalars that are new go first", "{\"set\":[\"a\"]}", "{\"set\":[\"b\"]}", "{\"set\":[\"b\",\"a\"]}" },
        { "scalars are deleted", "{\"set\":[\"a\",\"b\"]}", "{\"$deleteFromPrimitiveList/set\":[\"a\",\"x\"]}",
          "{\"set\":[\"b\"]}" },
        { "scalars are ordered", "{\"set\":[\"a\",\"b\"]}",
          "{\"$setElementOrder/set\":[\"b\",\"c\",\"a\"],\"set\":[\"c\"]}", "{\"set\":[\"b\",\"c\",\"a\"]}" },
        { "scalars are deleted from nothing", "{}", "{\"$deleteFromPrimitiveList/set\":[\"a\"]}", "{}" },
        { "a map is replaced", "{\"a\":{\"b\":1}}", "{\"a\":{\"$patch\":\"replace\",\"c\":1}}", "{\"a\":{\"c\":1}}" },
        { "a map is emptied", "{\"a\":{\"b\":1}}", "{\"a\":{\"$patch\":\"delete\",\"c\":1}}", "{\"a\":{}}" },
        { "a directive where nothing is takes its map along", "{}",
          "{\"a\":{\"$patch\":\"x\",\"c\":1},\"b\":{\"d\":{\"$patch\":\"replace\",\"e\":1},\"f\":1}}",
          "{\"b\":{\"f\":1}}" },
        { "directives in a new item are only left out", LIST(""),
          LIST("{\"name\":\"a\",\"ports\":[{\"containerPort\":1,\"$patch\":\"delete\"}]}"),
          LIST("{\"name\":\"a\",\"ports\":[{\"containerPort\":1}]}") },
        { "a map that its schema replaces", "{\"selector\":{\"a\":1}}", "{\"selector\":{\"b\":1}}",
          "{\"selector\":{\"b\":1}}" },
        { "keys that stay", "{\"strategy\":{\"type\":\"Rolling\",\"rolling\":{}}}",
          "{\"strategy\":{\"$retainKeys\":[\"type\"],\"type\":\"Recreate\"}}",
          "{\"strategy\":{\"type\":\"Recreate\"}}" },
        { "keys that stay in an item", "{\"volumes\":[{\"name\":\"v\",\"empty\":{}}]}",
          "{\"volumes\":[{\"$retainKeys\":[\"name\",\"host\"],\"name\":\"v\",\"host\":{}}]}",
          "{\"volumes\":[{\"name\":\"v\",\"host\":{}}]}" },
        { "finalizers", "{\"metadata\":{\"finalizers\":[\"a\"]}}",
          "{\"metadata\":{\"finalizers\":[\"b\"],\"$deleteFromPrimitiveList/finalizers\":[\"a\"]}}",
          "{\"metadata\":{\"finalizers\":[\"b\"]}}" },
        { "owners", "{\"metadata\":{\"ownerReferences\":[{\"uid\":\"1\",\"name\":\"a\"}]}}",
          "{\"metadata\":{\"ownerReferences\":[{\"uid\":\"1\",\"controller\":true},{\"uid\":\"2\"}]}}",
          "{\"metadata\":{\"ownerReferences\":[{\"uid\":\"1\",\"name\":\"a\",\"controller\":true},{\"uid\":\"2\"}]}}" },
        { "metadata elsewhere is another", "{\"template\":{\"metadata\":{\"finalizers\":[\"a\"]}}}",
          "{\"template\":{\"metadata\":{\"finalizers\":[\"b\"]}}}",
          "{\"template\":{\"metadata\":{\"finalizers\":[\"b\"]}}}" },
};

TEST(patches_merge_as_their_schema_says)
{
        _cleanup_arena_ struct arena a;
        struct schema *s;

        arena_init(&a, "test", 0);
        s = make_schema(&a);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                const struct merge_case *c = &cases[i];
                _cleanup_err_ struct err err = { 0 };
                const struct value *merged = NULL;
                int r = strategic_merge(&a, s, from_json(&a, c->live), from_json(&a, c->patch), &merged, &err);

                if (r < 0)
                        test_fail(__FILE__, __LINE__, "[%s] %s", c->name, err_message(&err));
                ASSERT_JSON_CASE(c->name, &a, merged, c->wanted);
        }
        schema_unref(s);
}

TEST(bad_patches_are_refused_in_the_words_of_the_api)
{
        static const struct {
                const char *live, *patch, *text;
                enum reason reason;
        } bad[] = {
                { LIST(ITEM("a")), LIST("{\"image\":\"i\"}"),
                  "map: map[image:i] does not contain declared merge key: name", REASON_UNKNOWN },
                { "{\"metadata\":{\"ownerReferences\":[{\"uid\":\"1\"}]}}",
                  "{\"metadata\":{\"ownerReferences\":[{\"name\":\"1\"}]}}",
                  "map: map[name:1] does not contain declared merge key: uid", REASON_UNKNOWN },
                { LIST(ITEM("a")), LIST("{\"$patch\":\"delete\"}"),
                  "map: map[$patch:delete] does not contain declared merge key: name", REASON_UNKNOWN },
                { LIST(ITEM("a")), LIST("{\"$patch\":\"bad\",\"name\":\"a\"}"),
                  "unknown patch type: bad in map: map[$patch:bad name:a]", REASON_UNKNOWN },
                { "{\"a\":{\"b\":1}}", "{\"a\":{\"$patch\":\"merge\",\"c\":1}}",
                  "unknown patch type: merge in map: map[$patch:merge c:1]", REASON_UNKNOWN },
                { LIST(ITEM("a")), LIST("{\"$patch\":\"merge\",\"name\":\"a\"}"),
                  "merging lists cannot yet be specified in the patch", REASON_UNKNOWN },
                { "{\"metadata\":{\"finalizers\":[\"x.y/z\"]}}",
                  "{\"metadata\":{\"$setElementOrder/finalizers\":[\"x.y/z\"],\"finalizers\":[\"p.q/r\"]}}",
                  "The order in patch list:\n[p.q/r]\n doesn't match $setElementOrder list:\n[x.y/z]\n",
                  REASON_UNKNOWN },
                { "{\"strategy\":{}}", "{\"strategy\":{\"$retainKeys\":[\"a\"],\"b\":1}}",
                  "invalid patch format of retainKeys", REASON_BAD_REQUEST },
                { "{\"strategy\":{}}", "{\"strategy\":{\"$retainKeys\":\"a\"}}", "invalid patch format of retainKeys",
                  REASON_BAD_REQUEST },
                { "{}", "{\"$deleteFromPrimitiveList\":[]}", "invalid patch format of primitive list",
                  REASON_BAD_REQUEST },
                { "{}", "{\"$setElementOrderx\":[]}", "invalid patch format of setElementOrder list",
                  REASON_BAD_REQUEST },
                { "{\"set\":[]}", "{\"set\":[[]]}", "lists of lists are not supported", REASON_INVALID },
                { "{\"set\":[\"a\"]}", "{\"set\":[1]}", "list element types are not identical: [[a] [1]]",
                  REASON_UNKNOWN },
                { "{\"keyless\":[{\"a\":1}]}", "{\"keyless\":[{\"a\":1}]}",
                  "cannot merge lists without merge key for type struct", REASON_UNKNOWN },
        };
        _cleanup_arena_ struct arena a;
        struct schema *s;

        arena_init(&a, "test", 0);
        s = make_schema(&a);
        for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
                _cleanup_err_ struct err err = { 0 };
                const struct value *merged = NULL;

                ASSERT_CASE(bad[i].patch, strategic_merge(&a, s, from_json(&a, bad[i].live),
                                                          from_json(&a, bad[i].patch), &merged, &err) < 0);
                ASSERT_STR_CASE(bad[i].patch, str_from(err_message(&err)), str_from(bad[i].text));
                ASSERT_CASE(bad[i].patch, err.reason == bad[i].reason);
        }
        schema_unref(s);
}

/* Lists of many items cost what is in them, not their square. */
TEST(long_lists_merge_in_time)
{
        _cleanup_arena_ struct arena a;
        const struct value *merged = NULL;
        struct array_builder live, patch;
        struct value x, y;
        struct schema *s;

        arena_init(&a, "test", 0);
        s = make_schema(&a);
        array_builder_init(&live, &a, 0);
        array_builder_init(&patch, &a, 0);
        for (int i = 0; i < 100000; i++) {
                array_builder_add(&live, value_of_str(arena_printf(&a, "a%d", i)));
                array_builder_add(&patch, value_of_str(arena_printf(&a, "b%d", i)));
        }
        x = array_builder_finish(&live);
        y = array_builder_finish(&patch);
        ASSERT_INT(strategic_merge(&a, s, value_with(&a, &value_empty_object, STR("set"), &x),
                                   value_with(&a, &value_empty_object, STR("set"), &y), &merged, NULL),
                   0);
        ASSERT_INT(value_count(value_get(merged, STR("set"))), 200000);
        schema_unref(s);
}
