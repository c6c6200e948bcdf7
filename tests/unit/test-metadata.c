/* Expectations are what kube-apiserver 1.36 answers (docs/spec/apiserver 2.2, 2.4). */
#include "test.h"

#include "json.h"
#include "metadata.h"

static const struct value *parse(struct arena *a, const char *json)
{
        const struct value *v;
        int r = json_parse(a, str_from(json), NULL, &v, NULL);

        ASSERT(r >= 0);
        return v;
}

static const struct {
        const char *given;
        const char *wanted;
        const char *unknown;
} coercions[] = {
        { "null", "{}", "" },
        { "{\"name\":\"a\",\"labels\":{\"x\":null,\"y\":\"z\"}}",
          "{\"name\":\"a\",\"labels\":{\"x\":\"\",\"y\":\"z\"}}", "" },
        { "{\"name\":\"a\",\"labels\":{},\"finalizers\":[],\"uid\":\"\",\"generation\":0,\"annotations\":null}",
          "{\"name\":\"a\"}", "" },
        { "{\"foo\":1,\"name\":\"a\",\"ownerReferences\":[{\"bar\":1,\"uid\":\"u\",\"kind\":\"K\",\"name\":\"n\","
          "\"apiVersion\":\"v1\"}]}",
          "{\"name\":\"a\",\"ownerReferences\":[{\"uid\":\"u\",\"kind\":\"K\",\"name\":\"n\",\"apiVersion\":\"v1\"}]}",
          "metadata.foo metadata.ownerReferences[0].bar" },
        { "{\"creationTimestamp\":\"2020-01-02T03:04:05.6+01:00\"}", "{\"creationTimestamp\":\"2020-01-02T02:04:05Z\"}",
          "" },
        { "{\"managedFields\":[{\"manager\":\"m\",\"fieldsV1\":{\"f:spec\":{}},\"zz\":1}]}",
          "{\"managedFields\":[{\"manager\":\"m\",\"fieldsV1\":{\"f:spec\":{}}}]}", "metadata.managedFields[0].zz" },
};

TEST(metadata_is_typed)
{
        for (size_t i = 0; i < ARRAY_SIZE(coercions); i++) {
                _cleanup_err_ struct err err = { 0 };
                _cleanup_arena_ struct arena a;
                const struct value *result;
                struct str_list unknown;

                arena_init(&a, "test", 0);
                str_list_init(&unknown, &a);
                ASSERT_CASE(coercions[i].given,
                            metadata_coerce(&a, parse(&a, coercions[i].given), &unknown, &result, &err) >= 0);
                ASSERT_CASE(coercions[i].given, value_equal(result, parse(&a, coercions[i].wanted)));
                ASSERT_STR_CASE(coercions[i].given, str_list_join(&unknown, STR(" ")), str_from(coercions[i].unknown));
        }
}

TEST(what_is_right_already_is_not_copied)
{
        _cleanup_arena_ struct arena a;
        const struct value *given, *result;

        arena_init(&a, "test", 0);
        given = parse(&a, "{\"name\":\"a\",\"labels\":{\"x\":\"y\"},\"finalizers\":[\"a/b\"],\"generation\":3}");
        ASSERT(metadata_coerce(&a, given, NULL, &result, NULL) >= 0);
        ASSERT(result == given);
}

TEST(wrong_types_are_errors_in_the_words_of_go)
{
        static const struct {
                const char *given;
                const char *error;
        } cases[] = {
                { "{\"labels\":{\"a\":1}}",
                  "json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string" },
                { "{\"labels\":[]}",
                  "json: cannot unmarshal array into Go struct field ObjectMeta.labels of type map[string]string" },
                { "{\"name\":{}}",
                  "json: cannot unmarshal object into Go struct field ObjectMeta.name of type string" },
                { "{\"generation\":1.5}",
                  "json: cannot unmarshal number 1.5 into Go struct field ObjectMeta.generation of type int64" },
                { "{\"finalizers\":\"x\"}",
                  "json: cannot unmarshal string into Go struct field ObjectMeta.finalizers of type []string" },
                { "{\"creationTimestamp\":\"zz\"}",
                  "parsing time \"zz\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"zz\" as \"2006\"" },
                { "{\"ownerReferences\":[{\"uid\":5}]}",
                  "json: cannot unmarshal number into Go struct field OwnerReference.ownerReferences.uid of type "
                  "types.UID" },
                { "{\"ownerReferences\":[1]}",
                  "json: cannot unmarshal number into Go struct field ObjectMeta.ownerReferences of type "
                  "v1.OwnerReference" },
                { "{\"ownerReferences\":{}}",
                  "json: cannot unmarshal object into Go struct field ObjectMeta.ownerReferences of type "
                  "[]v1.OwnerReference" },
                { "{\"ownerReferences\":[{\"controller\":\"yes\"}]}",
                  "json: cannot unmarshal string into Go struct field OwnerReference.ownerReferences.controller of "
                  "type "
                  "bool" },
                { "{\"finalizers\":[1]}",
                  "json: cannot unmarshal number into Go struct field ObjectMeta.finalizers of type string" },
                { "{\"generation\":\"x\"}",
                  "json: cannot unmarshal string into Go struct field ObjectMeta.generation of type int64" },
                { "{\"creationTimestamp\":5}",
                  "json: cannot unmarshal number into Go struct field ObjectMeta.creationTimestamp of type string" },
                { "{\"managedFields\":[{\"fieldsV1\":5},{\"manager\":5}]}",
                  "json: cannot unmarshal number into Go struct field ManagedFieldsEntry.managedFields.manager of type "
                  "string" },
                { "7", "json: cannot unmarshal number into Go value of type v1.ObjectMeta" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_err_ struct err err = { 0 };
                _cleanup_arena_ struct arena a;
                const struct value *result;

                arena_init(&a, "test", 0);
                ASSERT_CASE(cases[i].given, metadata_coerce(&a, parse(&a, cases[i].given), NULL, &result, &err) < 0);
                ASSERT_STR_CASE(cases[i].given, str_from(err_message(&err)), str_from(cases[i].error));
        }
}

/* `field: text` of each error, with | between. */
static struct str texts_of(struct arena *a, const struct field_errors *errors)
{
        struct str_list list;

        str_list_init(&list, a);
        for (size_t i = 0; i < errors->n; i++)
                str_list_printf(&list, "%.*s: %.*s", STR_ARG(errors->p[i].field), STR_ARG(errors->p[i].text));
        return str_list_join(&list, STR("|"));
}

static const struct kind cluster_scoped = { .is_custom = true };
static const struct kind built_in = { .is_custom = false };
static const struct kind namespaced = { .is_custom = true, .is_namespaced = true };

TEST(metadata_is_validated)
{
        static const struct {
                const struct kind *kind;
                const char *metadata;
                const char *errors;
                const char *warnings;
        } cases[] = {
                { &cluster_scoped, "{\"name\":\"a\"}", "", "" },
                { &cluster_scoped, "{}", "metadata.name: Required value: name or generateName is required", "" },
                { &namespaced, "{\"name\":\"a\"}", "metadata.namespace: Required value", "" },
                { &cluster_scoped, "{\"name\":\"a\",\"finalizers\":[\"orphan\",\"foregroundDeletion\"]}",
                  "metadata.finalizers: Invalid value: [\"orphan\",\"foregroundDeletion\"]: finalizer orphan and "
                  "foregroundDeletion cannot be both set",
                  "" },
                { &cluster_scoped, "{\"name\":\"a\",\"finalizers\":[\"foo\"]}", "",
                  "metadata.finalizers: \"foo\": prefer a domain-qualified finalizer name to avoid accidental "
                  "conflicts with "
                  "other finalizer writers" },
                { &cluster_scoped,
                  "{\"name\":\"a\",\"ownerReferences\":[{\"apiVersion\":\"\",\"kind\":\"\",\"name\":\"\",\"uid\":\"\"}]"
                  "}",
                  "metadata.ownerReferences.apiVersion: Invalid value: \"\": version must not be empty|"
                  "metadata.ownerReferences.kind: Invalid value: \"\": must not be empty|"
                  "metadata.ownerReferences.name: Invalid value: \"\": must not be empty|"
                  "metadata.ownerReferences.uid: Invalid value: \"\": must not be empty",
                  "" },
                { &cluster_scoped,
                  "{\"name\":\"a\",\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"Event\",\"name\":\"e\","
                  "\"uid\":\"u\"}]}",
                  "metadata.ownerReferences: Invalid value: "
                  "{\"apiVersion\":\"v1\",\"kind\":\"Event\",\"name\":\"e\",\"uid\":\"u\"}: "
                  "/v1, Kind=Event is disallowed from being an owner",
                  "" },
                { &built_in,
                  "{\"name\":\"a\",\"managedFields\":[{\"operation\":\"x\",\"fieldsType\":\"q\"},{\"operation\":"
                  "\"Apply\","
                  "\"manager\":\"a\\nbé\"},{\"operation\":\"Update\",\"fieldsType\":\"FieldsV1\",\"manager\":"
                  "\"m\"}]}",
                  "metadata.managedFields[0].operation: Invalid value: \"x\": must be `Apply` or `Update`|"
                  "metadata.managedFields[0].fieldsType: Invalid value: \"q\": must be `FieldsV1`|"
                  "metadata.managedFields[1].manager: Invalid value: \"a\\nbé\": invalid character U+000A (at position "
                  "1)",
                  "" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_arena_ struct arena a;
                struct field_errors errors;
                struct str_list warnings;
                const struct value *object;

                arena_init(&a, "test", 0);
                field_errors_init(&errors, &a);
                str_list_init(&warnings, &a);
                object = value_with(&a, &value_empty_object, STR("metadata"), parse(&a, cases[i].metadata));
                metadata_validate(&a, cases[i].kind, object, NULL, &errors, &warnings);
                ASSERT_STR_CASE(cases[i].metadata, texts_of(&a, &errors), str_from(cases[i].errors));
                ASSERT_STR_CASE(cases[i].metadata, str_list_join(&warnings, STR("|")), str_from(cases[i].warnings));
        }
}

TEST(finalizers_of_most_built_in_kinds_have_a_domain)
{
        _cleanup_arena_ struct arena a;
        struct field_errors errors;

        arena_init(&a, "test", 0);
        field_errors_init(&errors, &a);
        metadata_validate_finalizers(
                &a, parse(&a, "{\"metadata\":{\"finalizers\":[\"orphan\",\"foo\",\"a.b/c\",\"a b\",\"kubernetes\"]}}"),
                &errors);
        ASSERT_STR(
                texts_of(&a, &errors),
                STR("metadata.finalizers[1]: Invalid value: \"foo\": name is neither a standard finalizer name nor is "
                    "it fully qualified|metadata.finalizers[3]: Invalid value: \"a b\": name is neither a standard "
                    "finalizer name nor is it fully qualified"));
}

TEST(managers_have_sizes)
{
        _cleanup_arena_ struct arena a;
        struct str long_text = str_make(memset((char[257]) { 0 }, 'm', 257), 257);
        struct value entry, object;
        struct field_errors errors;
        struct object_builder b;

        arena_init(&a, "test", 0);
        for (size_t n = 0; n < 2; n++) {
                field_errors_init(&errors, &a);
                object_builder_init(&b, &a, 3);
                object_builder_add(&b, STR("operation"), value_of_literal("Apply"));
                object_builder_add(&b, STR("manager"), value_of_str(str_make(long_text.p, 128 + n)));
                object_builder_add(&b, STR("subresource"), value_of_str(str_make(long_text.p, 256 + n)));
                entry = object_builder_finish(&b);
                object = *meta_with(&a, &value_empty_object, STR("managedFields"),
                                    value_put(&a, value_of_items(&a, &entry, 1)));
                metadata_validate_update(&a, &object, &object, &errors);
                ASSERT_STR(texts_of(&a, &errors),
                           n ? STR("metadata.managedFields[0].manager: Too long: may not be more than 128 bytes|"
                                   "metadata.managedFields[0].subresource: Too long: may not be more than 256 bytes")
                             : STR(""));
        }
}

TEST(annotations_have_a_total_size)
{
        _cleanup_arena_ struct arena a;
        struct field_errors errors;
        const struct value *object;
        char *big;

        arena_init(&a, "test", 0);
        field_errors_init(&errors, &a);
        big = arena_alloc(&a, 262144);
        memset(big, 'x', 262144);
        object = parse(&a, "{\"metadata\":{\"name\":\"a\",\"annotations\":{\"k\":\"v\"}}}");
        object = meta_with_annotation(&a, object, STR("k"), str_make(big, 262143));
        metadata_validate(&a, &cluster_scoped, object, NULL, &errors, NULL);
        ASSERT_INT(errors.n, 0);
        object = meta_with_annotation(&a, object, STR("k"), str_make(big, 262144));
        metadata_validate(&a, &cluster_scoped, object, NULL, &errors, NULL);
        ASSERT_STR(texts_of(&a, &errors), STR("metadata.annotations: Too long: may not be more than 262144 bytes"));
}

TEST(updates_keep_what_cannot_change)
{
        _cleanup_arena_ struct arena a;
        struct field_errors errors;

        arena_init(&a, "test", 0);
        field_errors_init(&errors, &a);
        metadata_validate_update(
                &a,
                parse(&a,
                      "{\"metadata\":{\"uid\":\"X\",\"deletionTimestamp\":\"t\",\"finalizers\":[\"a/b\",\"d.e/f\"]}}"),
                parse(&a, "{\"metadata\":{\"uid\":\"U\",\"deletionTimestamp\":\"t\",\"finalizers\":[\"a/b\"]}}"),
                &errors);
        ASSERT_STR(texts_of(&a, &errors),
                   STR("metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, "
                       "found "
                       "new finalizers []string{\"d.e/f\"}|metadata.uid: Invalid value: \"X\": field is immutable"));
}

TEST(equal_owners_are_one)
{
        _cleanup_arena_ struct arena a;
        struct str_list warnings;
        const struct value *object, *result;

        arena_init(&a, "test", 0);
        str_list_init(&warnings, &a);
        object = parse(
                &a,
                "{\"metadata\":{\"ownerReferences\":[{\"uid\":\"1\",\"name\":\"a\"},{\"uid\":\"1\",\"name\":\"a\"}]}}");
        result = metadata_dedupe_owners(&a, object, false, &warnings);
        ASSERT(value_equal(result, parse(&a, "{\"metadata\":{\"ownerReferences\":[{\"uid\":\"1\",\"name\":\"a\"}]}}")));
        ASSERT_INT(warnings.n, 1);
        ASSERT(str_ends_with(warnings.p[0], STR("duplicate UID(s) observed: 1")));
        ASSERT(metadata_dedupe_owners(&a, result, false, &warnings) == result);
}
