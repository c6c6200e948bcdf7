#include "test.h"

#include "buf.h"
#include "json.h"
#include "schema.h"

struct fixture {
        struct arena arena;
        struct schema *schema;
};

static const struct value *parse(struct arena *a, const char *text)
{
        _cleanup_err_ struct err err = { 0 };
        const struct value *v;

        if (json_parse(a, str_from(text), NULL, &v, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s: %s", text, err_message(&err));
        return v;
}

static struct str text_of(struct arena *a, const struct value *v)
{
        struct str text;

        ASSERT(json_to_str(a, v, 0, &text, NULL) == 0);
        return text;
}

static void fixture_init(struct fixture *f, const char *schema)
{
        struct field_errors errors;

        arena_init(&f->arena, "test", 0);
        field_errors_init(&errors, &f->arena);
        f->schema = NULL;
        if (schema_compile(parse(&f->arena, schema), STR("s"), &f->schema, &errors) < 0)
                test_fail(__FILE__, __LINE__, "%s: %.*s: %.*s", schema, STR_ARG(errors.p[0].field),
                          STR_ARG(errors.p[0].text));
}

static void fixture_done(struct fixture *f)
{
        schema_unref(f->schema);
        arena_done(&f->arena);
}
#define _cleanup_fixture_ _cleanup_(fixture_done)

TEST(tree)
{
        _cleanup_fixture_ struct fixture f;
        const struct schema_node *root, *spec, *list, *n;
        const struct str *keys;
        struct str key;

        fixture_init(&f,
                     "{\"type\":\"object\",\"properties\":{"
                     "\"status\":{\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":true},"
                     "\"spec\":{\"type\":\"object\",\"properties\":{"
                     "\"list\":{\"type\":\"array\",\"x-kubernetes-list-type\":\"map\",\"x-kubernetes-list-map-keys\":"
                     "[\"b\",\"a\"],\"items\":{\"type\":\"object\",\"required\":[\"a\",\"b\"],\"properties\":{"
                     "\"a\":{\"type\":\"string\"},\"b\":{\"type\":\"integer\",\"format\":\"int32\"}}}},"
                     "\"set\":{\"type\":\"array\",\"x-kubernetes-list-type\":\"set\",\"items\":{\"type\":\"string\"}},"
                     "\"port\":{\"x-kubernetes-int-or-string\":true},"
                     "\"map\":{\"type\":\"object\",\"nullable\":true,\"x-kubernetes-map-type\":\"atomic\","
                     "\"additionalProperties\":{\"type\":\"number\",\"default\":1.5}},"
                     "\"open\":{\"type\":\"object\",\"additionalProperties\":true},"
                     "\"closed\":{\"type\":\"object\",\"additionalProperties\":false},"
                     "\"embedded\":{\"type\":\"object\",\"x-kubernetes-embedded-resource\":true,"
                     "\"x-kubernetes-preserve-unknown-fields\":true},"
                     "\"flag\":{\"type\":\"boolean\"}},"
                     "\"x-kubernetes-validations\":[{\"rule\":\"has(self.flag)\"}]}}}");
        root = schema_root(f.schema);
        ASSERT_INT(schema_node_type(root), SCHEMA_OBJECT);
        ASSERT_INT(schema_node_property_count(root), 2);
        spec = schema_node_property_at(root, 0, &key);
        ASSERT_STR(key, STR("spec"));
        ASSERT(spec == schema_node_property(root, STR("spec")));
        ASSERT(!schema_node_property(root, STR("spe")));
        ASSERT(schema_node_preserves_unknown(schema_node_property(root, STR("status"))));
        ASSERT(schema_has_rules(f.schema));
        ASSERT_INT(value_count(schema_node_rules(spec)), 1);
        ASSERT(!schema_node_rules(root));

        list = schema_node_property(spec, STR("list"));
        ASSERT_INT(schema_node_type(list), SCHEMA_ARRAY);
        ASSERT_INT(schema_node_list_type(list), SCHEMA_LIST_MAP);
        ASSERT_INT(schema_node_list_keys(list, &keys), 2);
        ASSERT_STR(keys[0], STR("b"));
        ASSERT_STR(keys[1], STR("a"));
        n = schema_node_property(schema_node_items(list), STR("b"));
        ASSERT_INT(schema_node_type(n), SCHEMA_INTEGER);
        ASSERT_STR(schema_node_format(n), STR("int32"));
        ASSERT_STR(schema_node_format(list), STR(""));

        ASSERT_INT(schema_node_list_type(schema_node_property(spec, STR("set"))), SCHEMA_LIST_SET);
        ASSERT_INT(schema_node_list_keys(spec, &keys), 0);
        ASSERT_INT(schema_node_type(schema_node_property(spec, STR("port"))), SCHEMA_INT_OR_STRING);
        n = schema_node_property(spec, STR("map"));
        ASSERT(schema_node_is_nullable(n) && schema_node_is_atomic_map(n) && !schema_node_is_nullable(spec));
        n = schema_node_additional(n);
        ASSERT_INT(schema_node_type(n), SCHEMA_NUMBER);
        ASSERT(value_double(schema_node_default(n), 0) == 1.5);
        n = schema_node_additional(schema_node_property(spec, STR("open")));
        ASSERT(n && schema_node_type(n) == SCHEMA_UNTYPED && !schema_node_preserves_unknown(n));
        ASSERT(!schema_node_additional(schema_node_property(spec, STR("closed"))));
        ASSERT(!schema_node_additional(spec) && !schema_node_items(spec) && !schema_node_default(spec));
        ASSERT(schema_node_is_embedded(schema_node_property(spec, STR("embedded"))));
        ASSERT_INT(schema_node_type(schema_node_property(spec, STR("flag"))), SCHEMA_BOOLEAN);
}

TEST(equal_parts_are_shared)
{
        _cleanup_fixture_ struct fixture f;
        const struct schema_node *root;

        fixture_init(
                &f,
                "{\"type\":\"object\",\"properties\":{"
                "\"a\":{\"type\":\"object\",\"description\":\"one\",\"properties\":{\"x\":{\"type\":\"string\"}}},"
                "\"b\":{\"type\":\"object\",\"description\":\"two\",\"properties\":{\"x\":{\"type\":\"string\"}}}}}");
        root = schema_root(f.schema);
        ASSERT(schema_node_property(root, STR("a")) == schema_node_property(root, STR("b")));
        ASSERT(!schema_has_rules(f.schema));
        ASSERT(schema_size_bytes(f.schema) < 1024);
}

TEST(any)
{
        _cleanup_arena_ struct arena a;
        struct schema_admit_options options = { .drop_nulls = true };
        const struct value *v;

        arena_init(&a, "test", 0);
        v = parse(&a, "{\"spec\":{\"a\":null,\"b\":[{\"c\":null}]}}");
        ASSERT(schema_admit(schema_any(), &a, v, &options) == v);
        ASSERT(schema_ref(schema_any()) == schema_any());
        schema_unref(schema_any());
        ASSERT_INT(schema_node_type(schema_root(schema_any())), SCHEMA_UNTYPED);
        ASSERT(schema_node_preserves_unknown(schema_root(schema_any())));
        ASSERT_INT(schema_node_property_count(schema_root(schema_any())), 0);
        ASSERT(schema_size_bytes(schema_any()) > 0);
        schema_unref(NULL);
}

/* Expectations: Kubernetes' structural pruning, defaulting and dropping of nulls (spec/apiserver 5.4). */
TEST(admit)
{
        static const struct {
                const char *schema, *object, *want, *unknown;
        } cases[] = {
                { "{\"spec\":{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"}}}}",
                  "{\"apiVersion\":\"v1\",\"kind\":\"A\",\"metadata\":{\"x\":1},\"spec\":{\"a\":\"1\"}}", NULL, "" },
                { "{\"spec\":{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"}}}}",
                  "{\"z\":1,\"spec\":{\"b\":{\"c\":1},\"a\":\"1\",\"kind\":1}}", "{\"spec\":{\"a\":\"1\"}}",
                  "spec.b,spec.kind,z" },
                { "{\"l\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{\"a\":{\"type\":"
                  "\"string\"}}}}}",
                  "{\"l\":[{\"a\":\"1\"},{\"q\":1},3]}", "{\"l\":[{\"a\":\"1\"},{},3]}", "l[1].q" },
                { "{\"m\":{\"type\":\"object\",\"additionalProperties\":true}}", "{\"m\":{\"y\":{\"z\":1},\"n\":null}}",
                  "{\"m\":{\"y\":{},\"n\":null}}", "m.y.z" },
                { "{\"m\":{\"type\":\"object\",\"additionalProperties\":false}}", "{\"m\":{\"y\":{\"z\":1}}}",
                  "{\"m\":{\"y\":{}}}", "m.y.z" },
                { "{\"m\":{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"}}}",
                  "{\"m\":{\"y\":null,\"z\":\"1\"}}", "{\"m\":{\"z\":\"1\"}}", "" },
                { "{\"p\":{\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":true,\"properties\":{\"a\":{"
                  "\"type\":"
                  "\"object\",\"properties\":{\"b\":{\"type\":\"string\"}}}}}}",
                  "{\"p\":{\"x\":{\"n\":null},\"a\":{\"b\":\"1\",\"c\":2}}}",
                  "{\"p\":{\"x\":{\"n\":null},\"a\":{\"b\":\"1\"}}}", "p.a.c" },
                { "{\"e\":{\"type\":\"object\",\"x-kubernetes-embedded-resource\":true,\"properties\":{\"spec\":{"
                  "\"type\":"
                  "\"object\"}}}}",
                  "{\"e\":{\"apiVersion\":\"v1\",\"kind\":\"A\",\"metadata\":{\"zz\":1},\"spec\":{\"a\":1},\"q\":1}}",
                  "{\"e\":{\"apiVersion\":\"v1\",\"kind\":\"A\",\"metadata\":{\"zz\":1},\"spec\":{}}}",
                  "e.q,e.spec.a" },
                /* Defaults. */
                { "{\"a\":{\"type\":\"string\",\"default\":\"x\"},\"c\":{\"type\":\"integer\",\"default\":3}}",
                  "{\"b\":1,\"bb\":1}", "{\"a\":\"x\",\"c\":3}", "b,bb" },
                { "{\"a\":{\"type\":\"string\",\"default\":\"x\"},\"b\":{\"type\":\"string\"},\"c\":{\"type\":"
                  "\"integer\",\"default\":3}}",
                  "{\"b\":\"1\"}", "{\"a\":\"x\",\"b\":\"1\",\"c\":3}", "" },
                { "{\"a\":{\"type\":\"string\",\"default\":\"x\"}}", "{\"a\":null}", "{\"a\":\"x\"}", "" },
                { "{\"a\":{\"type\":\"string\",\"default\":\"x\",\"nullable\":true}}", "{\"a\":null}", NULL, "" },
                { "{\"a\":{\"type\":\"string\",\"default\":null}}", "{}", NULL, "" },
                { "{\"p\":{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\",\"default\":\"x\"}}}}", "{}",
                  NULL, "" },
                { "{\"p\":{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\",\"default\":\"x\"}}}}",
                  "{\"p\":{}}", "{\"p\":{\"a\":\"x\"}}", "" },
                { "{\"p\":{\"type\":\"object\",\"default\":{},\"properties\":{\"a\":{\"type\":\"string\",\"default\":"
                  "\"x\"}}}}",
                  "{}", "{\"p\":{\"a\":\"x\"}}", "" },
                { "{\"l\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{\"a\":{\"type\":"
                  "\"string\",\"default\":"
                  "\"x\"},\"b\":{\"type\":\"string\"}}}}}",
                  "{\"l\":[{\"b\":null},null]}", "{\"l\":[{\"a\":\"x\"},null]}", "" },
                { "{\"m\":{\"type\":\"object\",\"additionalProperties\":{\"type\":\"object\",\"properties\":{\"a\":{"
                  "\"type\":\"string\","
                  "\"default\":\"x\"}}}}}",
                  "{\"m\":{\"k\":{}}}", "{\"m\":{\"k\":{\"a\":\"x\"}}}", "" },
                /* Nulls. */
                { "{\"a\":{\"type\":\"string\"},\"b\":{\"type\":\"string\",\"nullable\":true}}",
                  "{\"a\":null,\"b\":null}", "{\"b\":null}", "" },
                { "{\"a\":{\"x-kubernetes-preserve-unknown-fields\":true}}", "{\"a\":null}", "{}", "" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_buf_ struct buf schema = BUF_INIT(0), unknown_text = BUF_INIT(0);
                _cleanup_fixture_ struct fixture f;
                struct schema_admit_options options = { .drop_nulls = true };
                const struct value *v, *got;
                struct str_list unknown;

                buf_appendf(&schema, "{\"type\":\"object\",\"properties\":%s}", cases[i].schema);
                fixture_init(&f, buf_cstring(&schema));
                str_list_init(&unknown, &f.arena);
                options.unknown = &unknown;
                v = parse(&f.arena, cases[i].object);
                got = schema_admit(f.schema, &f.arena, v, &options);
                if (cases[i].want)
                        ASSERT_STR_CASE(cases[i].schema, text_of(&f.arena, got), str_from(cases[i].want));
                else
                        ASSERT_CASE(cases[i].schema, got == v);
                for (size_t k = 0; k < unknown.n; k++)
                        buf_appendf(&unknown_text, "%s%.*s", k ? "," : "", STR_ARG(unknown.p[k]));
                ASSERT_STR_CASE(cases[i].schema, buf_str(&unknown_text), str_from(cases[i].unknown));
                ASSERT_CASE(cases[i].schema, schema_admit(f.schema, &f.arena, got, &options) == got);
        }
}
