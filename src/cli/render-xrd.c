/* What the definitions of composite resources say about them. */
#include "render-files.h"

#include "buf.h"
#include "own-kinds.h"
#include "render-errors.h"
#include "schema.h"
#include "vec.h"
#include "xrd.h"

struct compiled {
        const struct manifest *definition;
        struct str version;
        struct schema *schema; /* what it says itself: its defaults */
        struct schema *whole;  /* with what every composite has besides: what is valid */
};

struct render_schemas {
        const struct render_files *files;
        VEC(struct compiled) compiled;
};

static void unref(void *p)
{
        struct render_schemas *s = p;

        for (size_t i = 0; i < s->compiled.n; i++) {
                schema_unref(s->compiled.p[i].schema);
                schema_unref(s->compiled.p[i].whole);
        }
        vec_done(&s->compiled);
}

struct render_schemas *render_schemas_new(struct arena *a, const struct render_files *files)
{
        struct render_schemas *s = ARENA_NEW(a, struct render_schemas);

        s->files = files;
        arena_pin(a, s, unref);
        return s;
}

/* --- Which definition --- */

static const struct manifest *find_definition(const struct render_files *files, const struct value *composite)
{
        struct gvk gvk = gvk_of(composite);

        for (size_t i = 0; i < files->definitions.n; i++) {
                struct gvk defined = xrd_composite_gvk(files->definitions.p[i].object);

                if (str_equal(defined.group, gvk.group) && str_equal(defined.kind, gvk.kind))
                        return &files->definitions.p[i];
        }
        /* The only one is the one that was meant. That it does not fit is said later. */
        return files->definitions.n == 1 ? &files->definitions.p[0] : NULL;
}

static const struct value *find_version(const struct value *xrd, struct str version)
{
        VALUE_FOREACH_ITEM (v, value_find(xrd, "spec", "versions"))
                if (str_equal(value_str(value_get(v, STR("name"))), version))
                        return value_find(v, "schema", "openAPIV3Schema") ?: &value_empty_object;
        return NULL;
}

static int compile_schema(struct arena *a, const struct manifest *definition, const struct value *openapi,
                          struct schema **ret, struct err *err)
{
        _cleanup_buf_ struct buf text = BUF_INIT(0);
        struct field_errors errors;
        int r;

        field_errors_init(&errors, a);
        r = schema_compile(openapi, STR("spec.versions.schema.openAPIV3Schema"), ret, &errors);
        if (r >= 0)
                return 0;
        field_errors_append(&text, &errors);
        err_set(err, r, "%s", buf_cstring(&text));
        return manifest_error(definition, STR("spec.versions"), err);
}

int render_schema_compile(struct arena *a, const struct manifest *definition, struct gvk gvk, struct schema **ret,
                          struct err *err)
{
        const struct value *openapi = find_version(definition->object, gvk.version);

        if (openapi)
                return compile_schema(a, definition, openapi, ret, err);
        err_set(err, ERR_INVALID, "the specified API version '%.*s' does not exist in the XRD",
                STR_ARG(gvk_api_version(a, gvk)));
        return manifest_error(definition, STR("spec.versions"), err);
}

/* The schema of the CRD that the definition stands for. */
static int compile_whole(struct arena *a, const struct manifest *definition, struct gvk gvk, struct schema **ret,
                         struct err *err)
{
        const struct value *crd;

        if (xrd_composite_crd(a, definition->object, &crd, err) < 0)
                return manifest_error(definition, STR("spec"), err);
        return compile_schema(a, definition, find_version(crd, gvk.version) ?: &value_empty_object, ret, err);
}

static int compile(struct arena *a, const struct manifest *definition, struct gvk gvk, struct compiled *ret,
                   struct err *err)
{
        int r;

        *ret = (struct compiled) { .definition = definition, .version = gvk.version };
        r = render_schema_compile(a, definition, gvk, &ret->schema, err);
        if (r < 0)
                return r;
        r = compile_whole(a, definition, gvk, &ret->whole, err);
        if (r < 0)
                schema_unref(ret->schema);
        return r;
}

static int compiled_for(struct render_schemas *s, struct arena *a, const struct manifest *definition, struct gvk gvk,
                        struct compiled *ret, struct err *err)
{
        int r;

        for (size_t i = 0; i < s->compiled.n; i++)
                if (s->compiled.p[i].definition == definition && str_equal(s->compiled.p[i].version, gvk.version)) {
                        *ret = s->compiled.p[i];
                        return 0;
                }
        r = compile(a, definition, gvk, ret, err);
        if (r >= 0)
                vec_push(&s->compiled, *ret);
        return r;
}

/* --- Whether it is valid --- */

static size_t fields_of(void *arg, struct arena *a, struct str parent, const struct str **ret)
{
        return schema_properties_at(arg, a, parent, ret);
}

static int validate(struct schema *schema, struct arena *a, const struct manifest *composite,
                    const struct value *with_defaults, struct err *err)
{
        struct field_errors errors;
        struct str_list unknown;
        struct schema_admit_options options = { .drop_nulls = true, .unknown = &unknown };

        str_list_init(&unknown, a);
        field_errors_init(&errors, a);
        with_defaults = schema_admit(schema, a, with_defaults, &options);
        for (size_t i = 0; i < unknown.n; i++)
                field_error_add_text(&errors, FIELD_INVALID, unknown.p[i], OWN_KIND_UNKNOWN_FIELD);
        schema_validate(schema, with_defaults, NULL, STR(""), &errors);
        /* That rules were not looked at because of the other errors is no error of the file. */
        if (errors.n > 0 && str_equal(errors.p[errors.n - 1].field, STR("<nil>")))
                errors.n--;
        field_errors_sort(&errors);
        return errors.n == 0 ? 0 : render_field_errors(a, composite, &errors, fields_of, schema, err);
}

int render_schemas_apply(struct render_schemas *s, struct arena *a, const struct manifest *composite,
                         const struct value **ret, const struct value **ret_xrd, struct err *err)
{
        const struct manifest *definition = find_definition(s->files, composite->object);
        struct compiled compiled;

        *ret = composite->object;
        *ret_xrd = NULL;
        if (!definition)
                return 0;
        if (compiled_for(s, a, definition, gvk_of(composite->object), &compiled, err) < 0)
                return err_wrap(err, "cannot apply XRD defaults to XR \"%.*s\"", STR_ARG(meta_name(composite->object)));
        *ret = schema_default(compiled.schema, a, composite->object);
        *ret_xrd = definition->object;
        return validate(compiled.whole, a, composite, *ret, err);
}

int render_files_load_definitions(struct arena *a, struct str path, struct render_files *files, struct err *err)
{
        struct manifests m;
        int r;

        manifests_init(&m, a);
        r = manifests_load(&m, path, err);
        if (r >= 0 && m.n == 0)
                r = err_set(err, ERR_INVALID, "%.*s has no objects", STR_ARG(path));
        if (r < 0)
                return err_wrap(err, "cannot load XRD");
        for (size_t i = 0; i < m.n; i++)
                manifests_add(&files->definitions, m.p[i]);
        return 0;
}
