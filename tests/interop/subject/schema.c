#include "subject.h"

#include "schema.h"

/* `field: text [reason]`, sorted: upstream's order between siblings is random. */
static struct value texts_of(struct arena *a, const struct field_errors *errors)
{
        struct array_builder b;
        struct str_list texts;

        str_list_init(&texts, a);
        for (size_t i = 0; i < errors->n; i++)
                str_list_add(&texts, arena_printf(a, "%.*s: %.*s [%s]", STR_ARG(errors->p[i].field),
                                                  STR_ARG(errors->p[i].text), field_error_reason(errors->p[i].type)));
        str_list_sort(&texts);
        array_builder_init(&b, a, texts.n);
        for (size_t i = 0; i < texts.n; i++)
                array_builder_add(&b, value_of_str(texts.p[i]));
        return array_builder_finish(&b);
}

static const struct value *object_of(struct arena *a, struct str key, struct value v)
{
        return value_with(a, &value_empty_object, key, value_put(a, v));
}

static int compile(const struct value *openapi, struct schema **ret, struct field_errors *errors)
{
        return schema_compile(openapi, STR("spec.validation.openAPIV3Schema"), ret, errors);
}

static const struct value *admit(struct arena *a, const struct schema *s, const struct value *v,
                                 struct str_list *unknown)
{
        struct schema_admit_options options = { .drop_nulls = true, .unknown = unknown };

        return schema_admit(s, a, v, &options);
}

static const struct value *describe(struct arena *a, const struct schema *s, const struct value *c)
{
        const struct value *object, *old = value_get(c, STR("old")), *result;
        struct field_errors errors;
        struct str_list unknown;
        struct array_builder paths;

        field_errors_init(&errors, a);
        str_list_init(&unknown, a);
        object = admit(a, s, value_get(c, STR("object")), &unknown);
        if (old)
                old = admit(a, s, old, NULL);
        schema_validate(s, object, old, value_str(value_get(c, STR("below"))), &errors);
        array_builder_init(&paths, a, unknown.n);
        for (size_t i = 0; i < unknown.n; i++)
                array_builder_add(&paths, value_of_str(unknown.p[i]));
        result = object_of(a, STR("unknown"), array_builder_finish(&paths));
        result = value_with(a, result, STR("object"), object);
        return value_with(a, result, STR("errors"), value_put(a, texts_of(a, &errors)));
}

const struct value *run_schema(struct arena *a, const struct value *c)
{
        const struct value *result;
        struct field_errors errors;
        struct schema *s;

        field_errors_init(&errors, a);
        if (compile(value_get(c, STR("schema")), &s, &errors) < 0)
                return object_of(a, STR("schema"), texts_of(a, &errors));
        result = describe(a, s, c);
        schema_unref(s);
        return result;
}

const struct value *run_structural(struct arena *a, const struct value *c)
{
        struct field_errors errors;
        struct schema *s;

        field_errors_init(&errors, a);
        if (compile(c, &s, &errors) >= 0)
                schema_unref(s);
        return object_of(a, STR("errors"), texts_of(a, &errors));
}
