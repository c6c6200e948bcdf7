#include "kind.h"

static void check_schema(struct arena *a, const struct value *version, size_t i, struct field_errors *errors)
{
        const struct value *openapi = value_find(version, "schema", "openAPIV3Schema");
        struct str field = arena_printf(a, "spec.versions[%zu].schema.openAPIV3Schema", i);
        struct schema *schema = NULL;

        if (!openapi)
                field_error_add(errors, FIELD_REQUIRED, field, NULL, "%s", "");
        else
                schema_compile(openapi, field, &schema, errors);
        schema_unref(schema);
}

void crd_check(struct arena *a, const struct value *crd, const struct value *old _unused_, struct field_errors *errors,
               struct str_list *warnings _unused_)
{
        const struct value *versions = value_find(crd, "spec", "versions");

        for (size_t i = 0; i < value_count(versions); i++)
                check_schema(a, value_item(versions, i), i, errors);
}

void crd_check_status(struct arena *a _unused_, const struct value *crd, struct field_errors *errors)
{
        const struct value *stored = value_find(crd, "status", "storedVersions");

        if (value_count(stored) == 0)
                field_error_add(errors, FIELD_INVALID, STR("status.storedVersions"), stored,
                                "must have at least one stored version");
}
