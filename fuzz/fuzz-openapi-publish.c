/* The first line is an Accept header, the rest the schema of a CRD as JSON. */
#include "fuzz.h"

#include "buf.h"
#include "discovery-accept.h"
#include "json.h"
#include "openapi-document.h"

static void check_accept(struct str header)
{
        for (int may_aggregate = 0; may_aggregate < 2; may_aggregate++) {
                _cleanup_err_ struct err err = { 0 };
                struct discovery_accept accept, again;
                struct str type;
                int r = discovery_accept_parse(header, may_aggregate, &accept, &err);

                if (r < 0) {
                        assert(err.reason == REASON_NOT_ACCEPTABLE);
                        continue;
                }
                /* A client may ask for the content type of an answer. */
                type = discovery_content_type(accept);
                r = discovery_accept_parse(type, may_aggregate, &again, NULL);
                assert(r == 0 && again.form == accept.form && again.notation == accept.notation);
                assert(may_aggregate || accept.form == DISCOVERY_LEGACY);
        }
        discovery_has_tag(header, STR("\"x\""));
}

static bool has_nulls(const struct value *v)
{
        VALUE_FOREACH_MEMBER (m, v)
                if (value_is_null(&m->value))
                        return true;
        return false;
}

static void check_publish(struct arena *a, const struct value *schema)
{
        struct value once = openapi_publish(a, schema), twice = openapi_publish(a, &once);

        assert(value_equal(&once, &twice));
        assert(!has_nulls(&once));
        assert(value_find(&once, "properties", "metadata", "allOf"));
        assert(value_find(&once, "properties", "apiVersion", "type"));
}

/* The document of a CRD with this schema is JSON, and has the component of the kind. */
static void check_document(struct arena *a, const struct value *schema)
{
        struct str field = STR("spec.x");
        struct kind_version version = {
                .name = STR("v1"),
                .verbs = VERBS_ALL,
                .selectable_fields = &field,
                .n_selectable_fields = 1,
        };
        struct kind kind = {
                .group = STR("example.org"),
                .kind = STR("Widget"),
                .list_kind = STR("WidgetList"),
                .plural = STR("widgets"),
                .is_custom = true,
                .versions = &version,
                .n_versions = 1,
        };
        struct value of_version =
                OPENAPI_OBJECT(a, { STR("name"), value_of_literal("v1") },
                               { STR("schema"), OPENAPI_OBJECT(a, { STR("openAPIV3Schema"), *schema }) });
        struct value spec = OPENAPI_OBJECT(a, { STR("versions"), value_of_items(a, &of_version, 1) });
        struct value crd = OPENAPI_OBJECT(a, { STR("spec"), spec });
        struct object_cache *cache = object_cache_new(1 << 20);
        struct openapi_kind of = { &kind, &version, object_of_value(cache, &crd) };
        _cleanup_buf_ struct buf b = { 0 };
        const struct value *document;
        int r = openapi_write(&b, kind.group, version.name, &of, 1, NULL);

        object_unref(of.crd);
        object_cache_unref(cache);
        assert(r == 0);
        r = json_parse(a, buf_str(&b), NULL, &document, NULL);
        assert(r == 0);
        assert(value_get(value_find(document, "components", "schemas"), STR("org.example.v1.Widget")));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct str rest = { (const char *)data, size }, header;
        _cleanup_arena_ struct arena a;
        const struct value *schema;

        arena_init(&a, "fuzz", 0);
        str_split(&rest, '\n', &header);
        check_accept(header);
        if (json_parse(&a, rest, NULL, &schema, NULL) < 0 || !value_is_object(schema))
                return 0;
        check_publish(&a, schema);
        check_document(&a, schema);
        return 0;
}
