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

/* Expectations: Kubernetes' structural pruning, defaulting and dropping of nulls (docs/spec/apiserver 5.4). */
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
                /* Values that metadata cannot hold are dropped from defaults. Defaults below additional properties are not checked
                 * and may have them. */
                { "{\"m\":{\"type\":\"object\",\"additionalProperties\":{\"type\":\"object\",\"properties\":{\"e\":{"
                  "\"type\":\"object\",\"x-kubernetes-embedded-resource\":true,\"x-kubernetes-preserve-unknown-"
                  "fields\":true,\"default\":{\"apiVersion\":1,\"kind\":"
                  "\"Pod\",\"metadata\":{\"name\":1,\"labels\":{\"a\":null}}}}}}}}",
                  "{\"m\":{\"k\":{}}}",
                  "{\"m\":{\"k\":{\"e\":{\"kind\":\"Pod\",\"metadata\":{\"labels\":{\"a\":\"\"}}}}}}", "" },
                { "{\"m\":{\"type\":\"object\",\"additionalProperties\":{\"type\":\"object\",\"properties\":{\"l\":{"
                  "\"type\":\"array\",\"default\":[{\"kind\":{},\"metadata\":5},{\"metadata\":null}],\"items\":{"
                  "\"type\":\"object\",\"x-kubernetes-embedded-resource\":true,\"x-kubernetes-preserve-unknown-"
                  "fields\":true}}}}}}",
                  "{\"m\":{\"k\":{}}}", "{\"m\":{\"k\":{\"l\":[{\"metadata\":5},{\"metadata\":{}}]}}}", "" },
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

/* Properties of spec, spec as it is stored, the spec that it replaces, and the errors that kube-apiserver's own library finds. */
static const struct {
        const char *properties, *spec, *old, *errors;
} invalid[] = {
        { "{\"a\":{\"type\":\"integer\"},\"b\":{\"type\":\"string\"},\"c\":{\"type\":\"boolean\"},\"d\":{\"type\""
          ":\"array\",\"items\":{\"type\":\"string\"}},\"e\":{\"type\":\"object\"},\"f\":{\"type\":\"number\"}}",
          "{\"a\":\"x\",\"b\":1,\"d\":{},\"e\":[],\"f\":true}", NULL,
          "spec.a: Invalid value: \"string\": spec.a in body must be of type integer: \"string\" "
          "[FieldValueTypeInvalid]\012"
          "spec.b: Invalid value: \"integer\": spec.b in body must be of type string: \"integer\" "
          "[FieldValueTypeInvalid]\012"
          "spec.d: Invalid value: \"object\": spec.d in body must be of type array: \"object\" "
          "[FieldValueTypeInvalid]\012"
          "spec.e: Invalid value: \"array\": spec.e in body must be of type object: \"array\" "
          "[FieldValueTypeInvalid]\012"
          "spec.f: Invalid value: \"boolean\": spec.f in body must be of type number: \"boolean\" "
          "[FieldValueTypeInvalid]\012" },
        { "{\"a\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}}}", "{\"a\":[null,\"a\",1.5]}", NULL,
          "spec.a[0]: Invalid value: \"null\": spec.a[0] in body must be of type string: \"null\" "
          "[FieldValueTypeInvalid]\012"
          "spec.a[2]: Invalid value: \"number\": spec.a[2] in body must be of type string: \"number\" "
          "[FieldValueTypeInvalid]\012" },
        { "{\"a\":{\"x-kubernetes-int-or-string\":true},\"b\":{\"x-kubernetes-int-or-string\":true,"
          "\"anyOf\":[{\"type\":\"integer\"},{\"type\":\"string\"}]},\"c\":{\"type\":\"string\",\"x-kubernet"
          "es-int-or-string\":true},\"d\":{\"x-kubernetes-int-or-string\":true,\"minimum\":3,\"patt"
          "ern\":\"^a\",\"minLength\":5}}",
          "{\"a\":true,\"b\":true,\"c\":1,\"d\":1}", NULL,
          "<nil>: Invalid value: \"\": \"spec.b\" must validate at least one schema (anyOf) [FieldValueInvalid]\012"
          "spec.a: Invalid value: \"boolean\": spec.a in body must be of type integer,string: \"boolean\" "
          "[FieldValueTypeInvalid]\012"
          "spec.b: Invalid value: \"boolean\": spec.b in body must be of type integer,string: \"boolean\" "
          "[FieldValueTypeInvalid]\012"
          "spec.b: Invalid value: \"boolean\": spec.b in body must be of type integer: \"boolean\" "
          "[FieldValueTypeInvalid]\012"
          "spec.d: Invalid value: 1: spec.d in body should be greater than or equal to 3 [FieldValueInvalid]\012" },
        { "{\"a\":{\"type\":\"integer\"},\"b\":{\"type\":\"integer\",\"format\":\"int32\"},\"c\":{\"type\":\"int"
          "eger\",\"format\":\"int64\"},\"d\":{\"type\":\"number\",\"format\":\"float\"},\"e\":{\"type\":\"numb"
          "er\",\"format\":\"int32\"},\"f\":{\"type\":\"string\",\"format\":\"date\"},\"g\":{\"type\":\"string\""
          ",\"format\":\"date\"}}",
          "{\"a\":1.5,\"b\":3000000000,\"c\":1e+30,\"d\":1e+300,\"e\":1e+30,\"f\":5,\"g\":[1]}", NULL,
          "<nil>: Invalid value: \"\": Checked value must be of type integer (default format) in spec.a "
          "[FieldValueInvalid]\012"
          "<nil>: Invalid value: \"\": Checked value must be of type integer with format int32 in spec.b "
          "[FieldValueInvalid]\012"
          "<nil>: Invalid value: \"\": Checked value must be of type integer with format int64 in spec.c "
          "[FieldValueInvalid]\012"
          "<nil>: Invalid value: \"\": Checked value must be of type number with format float in spec.d "
          "[FieldValueInvalid]\012"
          "spec.a: Invalid value: \"number\": spec.a in body must be of type integer: \"number\" "
          "[FieldValueTypeInvalid]\012"
          "spec.c: Invalid value: \"float64\": spec.c in body must be of type int64: \"float64\" "
          "[FieldValueTypeInvalid]\012"
          "spec.f: Invalid value: \"int64\": spec.f in body must be of type date: \"int64\" "
          "[FieldValueTypeInvalid]\012" },
        { "{\"a\":{\"type\":\"integer\",\"format\":\"int32\"},\"b\":{\"type\":\"string\",\"format\":\"date\"},\""
          "c\":{\"x-kubernetes-preserve-unknown-fields\":true,\"format\":\"date\"},\"d\":{\"type\":\"in"
          "teger\"}}",
          "{\"a\":true,\"b\":{},\"c\":5.5,\"d\":1.0000000001}", NULL,
          "<nil>: Invalid value: \"\": Checked value must be of type integer (default format) in spec.d "
          "[FieldValueInvalid]\012"
          "spec.a: Invalid value: \"\": spec.a in body must be of type int32: \"\" [FieldValueTypeInvalid]\012"
          "spec.b: Invalid value: \"\": spec.b in body must be of type date: \"\" [FieldValueTypeInvalid]\012"
          "spec.c: Invalid value: \"float64\": spec.c in body must be of type date: \"float64\" "
          "[FieldValueTypeInvalid]\012" },
        { "{\"a\":{\"type\":\"integer\",\"minimum\":1.5,\"maximum\":3},\"b\":{\"type\":\"number\",\"minimum\""
          ":1,\"exclusiveMinimum\":true,\"maximum\":1,\"exclusiveMaximum\":true},\"c\":{\"type\":\"num"
          "ber\",\"multipleOf\":0.1},\"d\":{\"type\":\"integer\",\"multipleOf\":3},\"e\":{\"type\":\"number"
          "\",\"maximum\":10000000000.0}}",
          "{\"a\":1,\"b\":1,\"c\":0.35,\"d\":4,\"e\":2e10}", NULL,
          "<nil>: Invalid value: \"\": Minimum boundary value must be of type integer (default format) in spec.a "
          "[FieldValueInvalid]\012"
          "spec.a: Invalid value: 1: spec.a in body should be greater than or equal to 1.5 [FieldValueInvalid]\012"
          "spec.b: Invalid value: 1: spec.b in body should be greater than 1 [FieldValueInvalid]\012"
          "spec.b: Invalid value: 1: spec.b in body should be less than 1 [FieldValueInvalid]\012"
          "spec.c: Invalid value: 0.35: spec.c in body should be a multiple of 0.1 [FieldValueInvalid]\012"
          "spec.d: Invalid value: 4: spec.d in body should be a multiple of 3 [FieldValueInvalid]\012"
          "spec.e: Invalid value: 2e+10: spec.e in body should be less than or equal to 1e+10 "
          "[FieldValueInvalid]\012" },
        { "{\"a\":{\"type\":\"integer\",\"multipleOf\":0},\"b\":{\"type\":\"number\",\"multipleOf\":-2.5},\""
          "c\":{\"type\":\"integer\",\"multipleOf\":1.5},\"d\":{\"type\":\"number\",\"maximum\":1.5},\"e\":{"
          "\"type\":\"number\",\"minimum\":1.5}}",
          "{\"a\":1,\"b\":3.5,\"c\":4,\"d\":2,\"e\":1}", NULL,
          "<nil>: Invalid value: \"\": MultipleOf value must be of type integer (default format) in spec.c "
          "[FieldValueInvalid]\012"
          "spec.a: Invalid value: 0: factor MultipleOf declared for spec.a must be positive: 0 [FieldValueInvalid]\012"
          "spec.b: Invalid value: -2.5: factor MultipleOf declared for spec.b must be positive: -2.5 "
          "[FieldValueInvalid]\012"
          "spec.c: Invalid value: 4: spec.c in body should be a multiple of 1.5 [FieldValueInvalid]\012"
          "spec.d: Invalid value: 2: spec.d in body should be less than or equal to 1 [FieldValueInvalid]\012" },
        { "{\"a\":{\"type\":\"string\",\"maxLength\":1},\"b\":{\"type\":\"string\",\"minLength\":3},\"c\":{\"t"
          "ype\":\"string\",\"pattern\":\"^[a-z]+$\"},\"d\":{\"type\":\"string\",\"maxLength\":2,\"minLengt"
          "h\":9,\"pattern\":\"x\",\"format\":\"date\"}}",
          "{\"a\":\"\303\244\303\266\",\"b\":\"\303\244\303\266\",\"c\":\"A1\",\"d\":\"abc\"}", NULL,
          "spec.a: Too long: may not be more than 1 byte [FieldValueTooLong]\012"
          "spec.b: Invalid value: \"\303\244\303\266\": spec.b in body should be at least 3 chars long "
          "[FieldValueInvalid]\012"
          "spec.c: Invalid value: \"A1\": spec.c in body should match '^[a-z]+$' [FieldValueInvalid]\012"
          "spec.d: Invalid value: \"abc\": spec.d in body must be of type date: \"abc\" [FieldValueTypeInvalid]\012"
          "spec.d: Too long: may not be more than 2 bytes [FieldValueTooLong]\012" },
        { "{\"a\":{\"type\":\"string\",\"enum\":[\"a\",\"b\"]},\"b\":{\"type\":\"number\",\"enum\":[1]},\"c\":{\"t"
          "ype\":\"string\",\"enum\":[\"a\"]},\"d\":{\"type\":\"integer\",\"enum\":[\"a\",1,1.5,true,null,{\""
          "a\":1}]},\"e\":{\"type\":\"string\",\"nullable\":true,\"enum\":[\"a\",null]},\"f\":{\"type\":\"num"
          "ber\",\"enum\":[1.5]}}",
          "{\"a\":\"c\",\"b\":1.5,\"c\":97,\"d\":2,\"e\":null,\"f\":1}", NULL,
          "spec.a: Unsupported value: \"c\": supported values: \"a\", \"b\" [FieldValueNotSupported]\012"
          "spec.c: Invalid value: \"integer\": spec.c in body must be of type string: \"integer\" "
          "[FieldValueTypeInvalid]\012"
          "spec.d: Unsupported value: 2: supported values: \"a\", \"1\", \"1.5\", \"true\", \"null\", "
          "\"{\\\"a\\\":1}\" [FieldValueNotSupported]\012"
          "spec.e: Unsupported value: null: supported values: \"a\", \"null\" [FieldValueNotSupported]\012"
          "spec.f: Unsupported value: 1: supported values: \"1.5\" [FieldValueNotSupported]\012" },
        { "{\"a\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"minItems\":3,\"maxItems\":1},\"b\":{\""
          "type\":\"object\",\"additionalProperties\":{\"type\":\"string\"},\"minProperties\":4,\"maxPr"
          "operties\":1},\"c\":{\"type\":\"object\",\"properties\":{\"x\":{\"type\":\"string\"}},\"required"
          "\":[\"x\",\"y\"]},\"d\":{\"type\":\"object\",\"additionalProperties\":false}}",
          "{\"a\":[\"1\",2],\"b\":{\"a\":\"x\",\"b\":1},\"c\":{},\"d\":{\"x\":1}}", NULL,
          "spec.a: Invalid value: 2: spec.a in body should have at least 3 items [FieldValueInvalid]\012"
          "spec.a: Too many: 2: must have at most 1 item [FieldValueTooMany]\012"
          "spec.a[1]: Invalid value: \"integer\": spec.a[1] in body must be of type string: \"integer\" "
          "[FieldValueTypeInvalid]\012"
          "spec.b.b: Invalid value: \"integer\": spec.b.b in body must be of type string: \"integer\" "
          "[FieldValueTypeInvalid]\012"
          "spec.b: Invalid value: 2: spec.b in body should have at least 4 properties [FieldValueInvalid]\012"
          "spec.b: Too many: 2: must have at most 1 item [FieldValueTooMany]\012"
          "spec.c.x: Required value [FieldValueRequired]\012"
          "spec.c.y: Required value [FieldValueRequired]\012"
          "spec.d: Invalid value: \"x\": spec.d.x in body is a forbidden property [FieldValueInvalid]\012" },
        { "{\"a\":{\"type\":\"integer\",\"anyOf\":[{\"minimum\":3},{\"maximum\":0,\"multipleOf\":7}]},\"b\""
          ":{\"type\":\"integer\",\"oneOf\":[{\"minimum\":3},{\"multipleOf\":2}]},\"c\":{\"type\":\"intege"
          "r\",\"oneOf\":[{\"minimum\":3},{\"multipleOf\":2}]},\"d\":{\"type\":\"integer\",\"allOf\":[{\"mi"
          "nimum\":3},{\"maximum\":1}]},\"e\":{\"type\":\"integer\",\"not\":{\"minimum\":1}},\"f\":{\"type\""
          ":\"integer\",\"allOf\":[{\"minimum\":3},{\"maximum\":5}]},\"g\":{\"type\":\"integer\",\"anyOf\":"
          "[{\"minimum\":3},{\"maximum\":5}]}}",
          "{\"a\":1,\"b\":4,\"c\":1,\"d\":2,\"e\":3,\"f\":2,\"g\":4}", NULL,
          "<nil>: Invalid value: \"\": \"spec.a\" must validate at least one schema (anyOf) [FieldValueInvalid]\012"
          "<nil>: Invalid value: \"\": \"spec.b\" must validate one and only one schema (oneOf). Found 2 valid "
          "alternatives [FieldValueInvalid]\012"
          "<nil>: Invalid value: \"\": \"spec.c\" must validate one and only one schema (oneOf). Found none valid "
          "[FieldValueInvalid]\012"
          "<nil>: Invalid value: \"\": \"spec.d\" must validate all the schemas (allOf). None validated "
          "[FieldValueInvalid]\012"
          "<nil>: Invalid value: \"\": \"spec.e\" must not validate the schema (not) [FieldValueInvalid]\012"
          "<nil>: Invalid value: \"\": \"spec.f\" must validate all the schemas (allOf) [FieldValueInvalid]\012"
          "spec.a: Invalid value: 1: spec.a in body should be greater than or equal to 3 [FieldValueInvalid]\012"
          "spec.c: Invalid value: 1: spec.c in body should be greater than or equal to 3 [FieldValueInvalid]\012"
          "spec.d: Invalid value: 2: spec.d in body should be greater than or equal to 3 [FieldValueInvalid]\012"
          "spec.d: Invalid value: 2: spec.d in body should be less than or equal to 1 [FieldValueInvalid]\012"
          "spec.f: Invalid value: 2: spec.f in body should be greater than or equal to 3 [FieldValueInvalid]\012" },
        { "{\"a\":{\"type\":\"object\",\"properties\":{\"x\":{\"type\":\"string\"},\"y\":{\"type\":\"string\"}}"
          ",\"anyOf\":[{\"required\":[\"q\"]},{\"properties\":{\"x\":{\"maxLength\":1},\"y\":{\"maxLength\""
          ":1}}}]}}",
          "{\"a\":{\"x\":\"xx\",\"y\":\"yy\"}}", NULL,
          "<nil>: Invalid value: \"\": \"spec.a\" must validate at least one schema (anyOf) [FieldValueInvalid]\012"
          "spec.a.x: Too long: may not be more than 1 byte [FieldValueTooLong]\012"
          "spec.a.y: Too long: may not be more than 1 byte [FieldValueTooLong]\012" },
        { "{\"a\":{\"type\":\"array\",\"x-kubernetes-list-type\":\"set\",\"items\":{\"type\":\"string\"}},\""
          "b\":{\"type\":\"array\",\"x-kubernetes-list-type\":\"map\",\"x-kubernetes-list-map-keys\":["
          "\"k\",\"p\"],\"items\":{\"type\":\"object\",\"required\":[\"k\"],\"properties\":{\"k\":{\"type\":\"st"
          "ring\"},\"p\":{\"type\":\"integer\",\"default\":1},\"v\":{\"type\":\"string\",\"maxLength\":2}}}}"
          "}",
          "{\"a\":[\"a\",\"b\",\"a\",\"a\",\"b\"],\"b\":[{\"k\":\"a\",\"p\":1},{\"k\":\"a\",\"p\":1},{\"k\":\"a\","
          "\"p\":2},"
          "{\"k\":\"b\",\"p\":1},{\"k\":\"b\",\"p\":1}]}",
          NULL,
          "spec.a[2]: Duplicate value: \"a\" [FieldValueDuplicate]\012"
          "spec.a[4]: Duplicate value: \"b\" [FieldValueDuplicate]\012"
          "spec.b[1]: Duplicate value: {\"k\":\"a\",\"p\":1} [FieldValueDuplicate]\012"
          "spec.b[4]: Duplicate value: {\"k\":\"b\",\"p\":1} [FieldValueDuplicate]\012" },
        { "{\"a\":{\"type\":\"array\",\"x-kubernetes-list-type\":\"set\",\"items\":{\"type\":\"string\"}}}",
          "{\"a\":[\"0\",\"1\",\"2\",\"3\",\"4\",\"5\",\"6\",\"7\",\"8\",\"9\",\"10\",\"11\",\"12\",\"13\",\"14\","
          "\"15\",\"16\""
          ",\"17\",\"18\",\"19\",\"0\",\"1\",\"2\",\"3\"]}",
          NULL,
          "spec.a[20]: Duplicate value: \"0\" [FieldValueDuplicate]\012"
          "spec.a[21]: Duplicate value: \"1\" [FieldValueDuplicate]\012"
          "spec.a[22]: Duplicate value: \"2\" [FieldValueDuplicate]\012"
          "spec.a[23]: Duplicate value: \"3\" [FieldValueDuplicate]\012" },
        { "{\"a\":{\"type\":\"array\",\"x-kubernetes-list-type\":\"map\",\"x-kubernetes-list-map-keys\""
          ":[\"k\",\"p\"],\"items\":{\"type\":\"object\",\"required\":[\"k\"],\"properties\":{\"k\":{\"type\":\""
          "string\"},\"p\":{\"type\":\"integer\",\"default\":1},\"v\":{\"type\":\"string\",\"maxLength\":2}}"
          "}}}",
          "{\"a\":[{\"k\":\"0\",\"p\":1},{\"k\":\"1\",\"p\":1},{\"k\":\"2\",\"p\":1},{\"k\":\"3\",\"p\":1},{\"k\":"
          "\"4\",\""
          "p\":1},{\"k\":\"5\",\"p\":1},{\"k\":\"6\",\"p\":1},{\"k\":\"7\",\"p\":1},{\"k\":\"8\",\"p\":1},{\"k\":\"9\","
          "\""
          "p\":1},{\"k\":\"10\",\"p\":1},{\"k\":\"11\",\"p\":1},{\"k\":\"12\",\"p\":1},{\"k\":\"13\",\"p\":1},{\"k\":\""
          "14\",\"p\":1},{\"k\":\"15\",\"p\":1},{\"k\":\"16\",\"p\":1},{\"k\":\"17\",\"p\":1},{\"k\":\"18\",\"p\":1},{"
          "\"k\":\"19\",\"p\":1},{\"k\":\"0\",\"p\":1},{\"k\":\"1\",\"p\":1}]}",
          NULL,
          "spec.a[20]: Duplicate value: {\"k\":\"0\",\"p\":1} [FieldValueDuplicate]\012"
          "spec.a[21]: Duplicate value: {\"k\":\"1\",\"p\":1} [FieldValueDuplicate]\012" },
        { "{\"b\":{\"type\":\"array\",\"x-kubernetes-list-type\":\"map\",\"x-kubernetes-list-map-keys\""
          ":[\"k\",\"p\"],\"items\":{\"type\":\"object\",\"required\":[\"k\"],\"properties\":{\"k\":{\"type\":\""
          "string\"},\"p\":{\"type\":\"integer\",\"default\":1},\"v\":{\"type\":\"string\",\"maxLength\":2}}"
          "}}}",
          "{\"b\":[{\"k\":\"a\",\"p\":1},5,{\"k\":\"a\",\"p\":1}]}", NULL,
          "spec.b[1]: Invalid value: \"integer\": spec.b[1] in body must be of type object: \"integer\" "
          "[FieldValueTypeInvalid]\012"
          "spec.b[1]: Invalid value: 5: must be an object for an array of list-type map [FieldValueInvalid]\012" },
        { "{\"m\":{\"type\":\"object\",\"additionalProperties\":{\"type\":\"array\",\"x-kubernetes-list-"
          "type\":\"set\",\"items\":{\"type\":\"string\"}}},\"n\":{\"type\":\"array\",\"items\":{\"type\":\"arr"
          "ay\",\"x-kubernetes-list-type\":\"set\",\"items\":{\"type\":\"string\"}}}}",
          "{\"m\":{\"k.x\":[\"a\",\"a\"]},\"n\":[[\"a\",\"a\"]]}", NULL,
          "spec.m[k.x][1]: Duplicate value: \"a\" [FieldValueDuplicate]\012"
          "spec.n[0][1]: Duplicate value: \"a\" [FieldValueDuplicate]\012" },
        { "{\"e\":{\"type\":\"object\",\"x-kubernetes-embedded-resource\":true,\"x-kubernetes-preser"
          "ve-unknown-fields\":true}}",
          "{\"e\":{}}", NULL,
          "spec.e.apiVersion: Required value [FieldValueRequired]\012"
          "spec.e.kind: Required value [FieldValueRequired]\012" },
        { "{\"e\":{\"type\":\"object\",\"x-kubernetes-embedded-resource\":true,\"x-kubernetes-preser"
          "ve-unknown-fields\":true}}",
          "{\"e\":{\"apiVersion\":\"a/b/c\",\"kind\":\"9x\",\"metadata\":{\"labels\":{\"a b\":\"c\"},\"name\":\""
          "B_B\"}}}",
          NULL,
          "spec.e.apiVersion: Invalid value: \"a/b/c\": unexpected GroupVersion string: a/b/c [FieldValueInvalid]\012"
          "spec.e.kind: Invalid value: \"9x\": may have mixed case, but should otherwise match: a DNS-1035 label must "
          "consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an "
          "alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is "
          "'[a-z]([-a-z0-9]*[a-z0-9])?') [FieldValueInvalid]\012"
          "spec.e.metadata.labels: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' "
          "or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', "
          "regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') [FieldValueInvalid]\012" },
        { "{\"e\":{\"type\":\"object\",\"x-kubernetes-embedded-resource\":true,\"x-kubernetes-preser"
          "ve-unknown-fields\":true},\"m\":{\"type\":\"object\",\"additionalProperties\":{\"type\":\"ob"
          "ject\",\"x-kubernetes-embedded-resource\":true,\"x-kubernetes-preserve-unknown-field"
          "s\":true}},\"n\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"x-kubernetes-embedded-re"
          "source\":true,\"x-kubernetes-preserve-unknown-fields\":true}}}",
          "{\"e\":{\"apiVersion\":1,\"kind\":\"\"},\"m\":{\"k.x\":{\"apiVersion\":\"v1\",\"kind\":\"A\",\"metada"
          "ta\":5}},\"n\":[{\"apiVersion\":\"v1\",\"kind\":\"A\",\"metadata\":{\"generation\":-1,\"namespac"
          "e\":\"X_\"}}]}",
          NULL,
          "spec.e.apiVersion: Invalid value: 1: must be a string [FieldValueInvalid]\012"
          "spec.e.kind: Invalid value: \"\": must not be empty [FieldValueInvalid]\012"
          "spec.m[k.x].metadata: Invalid value: 5: json: cannot unmarshal number into Go value of type v1.ObjectMeta "
          "[FieldValueInvalid]\012"
          "spec.n[0].metadata.generation: Invalid value: -1: must be greater than or equal to 0 [FieldValueInvalid]\012"
          "spec.n[0].metadata.namespace: Invalid value: \"X_\": a lowercase RFC 1123 label must consist of lower case "
          "alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or "
          "'123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?') [FieldValueInvalid]\012" },
        { "{\"a\":{\"type\":\"array\",\"x-kubernetes-list-type\":\"map\",\"x-kubernetes-list-map-keys\""
          ":[\"k\",\"p\"],\"items\":{\"type\":\"object\",\"required\":[\"k\"],\"properties\":{\"k\":{\"type\":\""
          "string\"},\"p\":{\"type\":\"integer\",\"default\":1},\"v\":{\"type\":\"string\",\"maxLength\":2}}"
          "}}}",
          "{\"a\":[{\"k\":\"a\",\"p\":1,\"v\":\"xxx\"},{\"k\":\"b\",\"p\":1,\"v\":\"xxxx\"}]}",
          "{\"a\":[{\"k\":\"b\",\"v\":\"xxxx\"},{\"k\":\"a\",\"v\":\"xxxx\"}]}",
          "spec.a[0].v: Too long: may not be more than 2 bytes [FieldValueTooLong]\012" },
        { "{\"a\":{\"type\":\"object\",\"properties\":{\"v\":{\"type\":\"string\",\"maxLength\":2},\"w\":{\"ty"
          "pe\":\"string\"}}}}",
          "{\"a\":{\"v\":\"xxx\",\"w\":\"a\"}}", "{\"a\":{\"v\":\"xxx\",\"w\":\"b\"}}", "" },
        { "{\"a\":{\"type\":\"object\",\"properties\":{\"w\":{\"type\":\"string\"}},\"required\":[\"v\"]},\"b\""
          ":{\"type\":\"string\"}}",
          "{\"a\":{\"w\":\"a\"},\"b\":\"1\"}", "{\"a\":{\"w\":\"a\"},\"b\":\"2\"}", "" },
        { "{\"a\":{\"type\":\"object\",\"properties\":{\"w\":{\"type\":\"string\"}},\"required\":[\"v\"]}}",
          "{\"a\":{\"w\":\"a\"}}", "{\"a\":{\"w\":\"b\"}}", "spec.a.v: Required value [FieldValueRequired]\012" },
        { "{\"a\":{\"type\":\"array\",\"items\":{\"type\":\"string\",\"maxLength\":2}}}", "{\"a\":[\"xxx\",\"a\"]}",
          "{\"a\":[\"xxx\",\"b\"]}", "spec.a[0]: Too long: may not be more than 2 bytes [FieldValueTooLong]\012" },
        { "{\"a\":{\"type\":\"array\",\"items\":{\"type\":\"string\",\"maxLength\":2}},\"b\":{\"type\":\"array"
          "\",\"x-kubernetes-list-type\":\"map\",\"x-kubernetes-list-map-keys\":[\"k\",\"p\"],\"items\":"
          "{\"type\":\"object\",\"required\":[\"k\"],\"properties\":{\"k\":{\"type\":\"string\"},\"p\":{\"type"
          "\":\"integer\",\"default\":1},\"v\":{\"type\":\"string\",\"maxLength\":2}}}}}",
          "{\"a\":[\"xxx\",\"a\"],\"b\":[{\"k\":\"a\",\"p\":1,\"v\":\"xxx\"}]}",
          "{\"a\":[\"xxx\",\"a\"],\"b\":[{\"k\":\"a\",\"v\":\"xxx\"}]}", "" },
        { "{\"a\":{\"type\":\"object\",\"additionalProperties\":false},\"b\":{\"type\":\"string\"}}",
          "{\"a\":{\"x\":1},\"b\":\"1\"}", "{\"a\":{\"x\":1},\"b\":\"2\"}",
          "spec.a: Invalid value: \"x\": spec.a.x in body is a forbidden property [FieldValueInvalid]\012" },
        { "{\"a\":{\"type\":\"array\",\"x-kubernetes-list-type\":\"set\",\"items\":{\"type\":\"string\"}}}",
          "{\"a\":[\"a\",\"a\",\"b\"]}", "{\"a\":[\"a\",\"a\"]}", "" },
        { "{\"a\":{\"type\":\"array\",\"x-kubernetes-list-type\":\"set\",\"items\":{\"type\":\"string\"}}}",
          "{\"a\":[\"a\",\"a\",\"b\"]}", "{\"a\":[\"a\"]}",
          "spec.a[1]: Duplicate value: \"a\" [FieldValueDuplicate]\012" },
        { "{\"a\":{\"type\":\"object\",\"properties\":{\"v\":{\"type\":\"string\"},\"w\":{\"type\":\"string\"}}"
          ",\"anyOf\":[{\"properties\":{\"v\":{\"maxLength\":2}}},{\"properties\":{\"w\":{\"maxLength\":2"
          "}}}]}}",
          "{\"a\":{\"v\":\"xxx\",\"w\":\"www\"}}", "{\"a\":{\"v\":\"xxx\",\"w\":\"b\"}}",
          "<nil>: Invalid value: \"\": \"spec.a\" must validate at least one schema (anyOf) [FieldValueInvalid]\012"
          "spec.a.v: Too long: may not be more than 2 bytes [FieldValueTooLong]\012" },
};

static const struct value *object_around(struct arena *a, const char *spec)
{
        _cleanup_buf_ struct buf text = BUF_INIT(0);

        buf_appendf(&text,
                    "{\"apiVersion\":\"ex.org/v1\",\"kind\":\"Widget\",\"metadata\":{\"name\":\"a\"},\"spec\":%s}",
                    spec);
        return parse(a, buf_cstring(&text));
}

static struct str sorted_errors(struct arena *a, const struct field_errors *errors)
{
        _cleanup_buf_ struct buf text = BUF_INIT(0);
        struct str_list lines;

        str_list_init(&lines, a);
        for (size_t i = 0; i < errors->n; i++)
                str_list_printf(&lines, "%.*s: %.*s [%s]\n", STR_ARG(errors->p[i].field), STR_ARG(errors->p[i].text),
                                field_error_reason(errors->p[i].type));
        str_list_sort(&lines);
        for (size_t i = 0; i < lines.n; i++)
                buf_append_str(&text, lines.p[i]);
        return buf_to_arena(&text, a);
}

TEST(validate)
{
        for (size_t i = 0; i < ARRAY_SIZE(invalid); i++) {
                _cleanup_buf_ struct buf schema = BUF_INIT(0);
                _cleanup_fixture_ struct fixture f;
                struct field_errors errors;
                const struct value *old = NULL;
                struct schema_admit_options options = { .drop_nulls = true };

                buf_appendf(&schema,
                            "{\"type\":\"object\",\"properties\":{\"spec\":{\"type\":\"object\",\"properties\":%s}}}",
                            invalid[i].properties);
                fixture_init(&f, buf_cstring(&schema));
                field_errors_init(&errors, &f.arena);
                if (invalid[i].old)
                        old = schema_admit(f.schema, &f.arena, object_around(&f.arena, invalid[i].old), &options);
                schema_validate(f.schema, object_around(&f.arena, invalid[i].spec), old, STR(""), &errors);
                ASSERT_STR_CASE(invalid[i].properties, sorted_errors(&f.arena, &errors), str_from(invalid[i].errors));
        }
}

/* Of a status subresource only the status is looked at, and named from there. */
TEST(status)
{
        _cleanup_fixture_ struct fixture f;
        struct field_errors errors;

        fixture_init(&f, "{\"type\":\"object\",\"required\":[\"x\"],\"properties\":{\"status\":{\"type\":\"object\","
                         "\"required\":"
                         "[\"r\"],\"properties\":{\"phase\":{\"type\":\"string\"},\"n\":{\"type\":\"integer\",\"not\":{"
                         "\"minimum\":1}}}}}}");
        field_errors_init(&errors, &f.arena);
        schema_validate(f.schema, parse(&f.arena, "{\"status\":{\"phase\":1,\"n\":2}}"), NULL, STR("status"), &errors);
        ASSERT_STR(sorted_errors(&f.arena, &errors),
                   STR("status.phase: Invalid value: \"integer\": phase in body must be of type string: \"integer\" "
                       "[FieldValueTypeInvalid]\n"
                       "status.r: Required value [FieldValueRequired]\n"
                       "status: Invalid value: \"\": \"n\" must not validate the schema (not) [FieldValueInvalid]\n"));
        field_errors_init(&errors, &f.arena);
        schema_validate(f.schema, parse(&f.arena, "{}"), NULL, STR("status"), &errors);
        ASSERT_INT(errors.n, 0);
}

/* Where values are wrong in a way that rules could not bear, one more error says that they did not run. */
TEST(rules)
{
        _cleanup_fixture_ struct fixture f;
        struct field_errors errors;

        fixture_init(&f, "{\"type\":\"object\",\"x-kubernetes-validations\":[{\"rule\":\"true\"}],\"properties\":{"
                         "\"spec\":{\"type\":"
                         "\"integer\",\"minimum\":3}}}");
        field_errors_init(&errors, &f.arena);
        schema_validate(f.schema, parse(&f.arena, "{\"spec\":1}"), NULL, STR(""), &errors);
        ASSERT_INT(errors.n, 1);
        field_errors_init(&errors, &f.arena);
        schema_validate(f.schema, parse(&f.arena, "{\"spec\":\"x\"}"), NULL, STR(""), &errors);
        ASSERT_STR(sorted_errors(&f.arena, &errors),
                   STR("<nil>: Invalid value: null: some validation rules were not checked because the object was "
                       "invalid; "
                       "correct the existing errors to complete validation [FieldValueInvalid]\n"
                       "spec: Invalid value: \"string\": spec in body must be of type integer: \"string\" "
                       "[FieldValueTypeInvalid]\n"));
}

/* Equal patterns are one, whoever uses them. */
TEST(patterns)
{
        _cleanup_fixture_ struct fixture f, g;
        const char *schema = "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\",\"pattern\":\"^x\"},"
                             "\"b\":{\"type\":\"string\",\"pattern\":\"^x\",\"minLength\":1}}}";
        struct field_errors errors;

        fixture_init(&f, schema);
        fixture_init(&g, schema);
        field_errors_init(&errors, &f.arena);
        schema_validate(f.schema, parse(&f.arena, "{\"a\":\"x\",\"b\":\"y\"}"), NULL, STR(""), &errors);
        schema_validate(g.schema, parse(&f.arena, "{\"a\":\"y\",\"b\":\"x\"}"), NULL, STR(""), &errors);
        ASSERT_STR(sorted_errors(&f.arena, &errors),
                   STR("a: Invalid value: \"y\": a in body should match '^x' [FieldValueInvalid]\n"
                       "b: Invalid value: \"y\": b in body should match '^x' [FieldValueInvalid]\n"));
        schema_unref(schema_ref(f.schema));
}
