/* Applies the definitions of composite resources: defaults and validation. */
#include "render-files.h"

#include "buf.h"
#include "first-design.h"
#include "own-kinds.h"
#include "render-errors.h"
#include "schema.h"
#include "vec.h"
#include "xrd.h"

struct compiled {
        const struct manifest *definition;
        struct str version;
        struct schema *schema; /* of the CRD that is made from the definition */
};

struct render_schemas {
        const struct command *command;
        const struct render_files *files;
        VEC(struct compiled) compiled;
};

static void unref(void *p)
{
        struct render_schemas *s = p;

        for (size_t i = 0; i < s->compiled.n; i++)
                schema_unref(s->compiled.p[i].schema);
        vec_done(&s->compiled);
}

struct render_schemas *render_schemas_new(struct arena *a, const struct command *command,
                                          const struct render_files *files)
{
        struct render_schemas *s = ARENA_NEW(a, struct render_schemas);

        s->command = command;
        s->files = files;
        arena_pin(a, s, unref);
        return s;
}

/* --- Which definition --- */

static bool is_type(struct gvk defined, struct gvk gvk)
{
        return str_equal(defined.group, gvk.group) && str_equal(defined.kind, gvk.kind);
}

const struct manifest *render_files_definition(const struct render_files *files, const struct value *object)
{
        struct gvk gvk = gvk_of(object), claim;

        for (size_t i = 0; i < files->definitions.n; i++) {
                const struct value *xrd = files->definitions.p[i].object;

                if (is_type(xrd_composite_gvk(xrd), gvk) || (xrd_claim_gvk(xrd, &claim) && is_type(claim, gvk)))
                        return &files->definitions.p[i];
        }
        return NULL;
}

static const struct manifest *find_definition(const struct render_files *files, const struct value *composite)
{
        const struct manifest *found = render_files_definition(files, composite);

        if (found)
                return found;
        /* With a single definition, assume that it was meant; a mismatch is reported later. */
        return files->definitions.n == 1 ? &files->definitions.p[0] : NULL;
}

static const struct value *find_version(const struct value *crd, struct str version)
{
        VALUE_FOREACH_ITEM (v, value_find(crd, "spec", "versions"))
                if (str_equal(value_str(value_get(v, STR("name"))), version))
                        return value_find(v, "schema", "openAPIV3Schema") ?: &value_empty_object;
        return NULL;
}

/* Gives an error about a generated XRD the place of that which the user wrote: path in a CompositeResourceDefinition, first_path in a
 * definition of the first design. */
static int definition_error(struct arena *a, const struct manifest *definition, const char *path,
                            const char *first_path, struct err *err)
{
        struct value kind = value_of_str(meta_label(definition->object, FIRST_DESIGN_LABEL));
        struct manifest written = *definition;

        if (kind.n == 0)
                return manifest_error(definition, str_from(path), err);
        written.object = value_with(a, definition->object, STR("kind"), &kind);
        return manifest_error(&written, str_from(first_path), err);
}

static int missing_version(struct arena *a, const struct manifest *definition, struct gvk gvk, struct err *err)
{
        struct gvk defined = xrd_composite_gvk(definition->object);

        if (!meta_has_label(definition->object, FIRST_DESIGN_LABEL))
                return err_set(err, ERR_INVALID, "the specified API version '%.*s' does not exist in the XRD",
                               STR_ARG(gvk_api_version(a, gvk)));
        return err_set(
                err, ERR_INVALID,
                "%.*s is defined in version \"%.*s\", not in \"%.*s\": write apiVersion: %.*s in the resource, or "
                "another version here",
                STR_ARG(defined.kind), STR_ARG(defined.version), STR_ARG(gvk.version),
                STR_ARG(gvk_api_version(a, defined)));
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
        return definition_error(a, definition, "spec.versions", "spec.crdSpecTemplate.validation", err);
}

/* Compiles the schema of the generated CRD, not the author's: Crossplane takes only some parts of the author's schema, so the parts
 * that it drops may be wrong. */
int render_schema_compile(struct arena *a, const struct manifest *definition, struct gvk gvk, struct schema **ret,
                          struct err *err)
{
        const struct value *crd, *openapi;

        if (xrd_composite_crd(a, definition->object, &crd, err) < 0)
                return definition_error(a, definition, "spec", "spec.crdSpecTemplate", err);
        openapi = find_version(crd, gvk.version);
        if (openapi)
                return compile_schema(a, definition, openapi, ret, err);
        missing_version(a, definition, gvk, err);
        return definition_error(a, definition, "spec.versions", "spec.crdSpecTemplate.version", err);
}

static int compiled_for(struct render_schemas *s, struct arena *a, const struct manifest *definition, struct gvk gvk,
                        struct schema **ret, struct err *err)
{
        struct compiled made = { .definition = definition, .version = gvk.version };
        int r;

        for (size_t i = 0; i < s->compiled.n; i++)
                if (s->compiled.p[i].definition == definition && str_equal(s->compiled.p[i].version, gvk.version)) {
                        *ret = s->compiled.p[i].schema;
                        return 0;
                }
        r = render_schema_compile(a, definition, gvk, &made.schema, err);
        if (r < 0)
                return r;
        vec_push(&s->compiled, made);
        *ret = made.schema;
        return 0;
}

/* --- Whether it is valid --- */

static size_t fields_of(void *arg, struct arena *a, struct str parent, const struct str **ret)
{
        return schema_properties_at(arg, a, parent, ret);
}

/* Whether the path is a field of spec that some release of Crossplane has or had. If the definition does not have it, the API drops
 * it silently. */
static bool is_of_another_release(struct str path)
{
        static const char *const fields[] = {
                "compositionRef",
                "compositionSelector",
                "compositionRevisionRef",
                "compositionRevisionSelector",
                "compositionUpdatePolicy",
                "compositeDeletePolicy",
                "resourceRef",
                "resourceRefs",
                "claimRef",
                "writeConnectionSecretToRef",
                "publishConnectionDetailsTo",
                "environmentConfigRefs",
        };

        if (!str_cut_prefix(&path, STR("spec.")))
                return false;
        for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
                if (str_equal(path, str_from(fields[i])))
                        return true;
        return false;
}

static void warn_of_field(const struct command *command, const struct manifest *composite, struct str path)
{
        _cleanup_err_ struct err err = { 0 };

        err_set(&err, ERR_INVALID, "unknown field of another release: Crossplane drops it");
        manifest_error(composite, path, &err);
        render_warn(command, &err);
}

static int validate(const struct command *command, struct schema *schema, struct arena *a,
                    const struct manifest *composite, const struct value *with_defaults, struct err *err)
{
        struct field_errors errors;
        struct str_list unknown;
        struct schema_admit_options options = { .drop_nulls = true, .unknown = &unknown };

        str_list_init(&unknown, a);
        field_errors_init(&errors, a);
        with_defaults = schema_admit(schema, a, with_defaults, &options);
        for (size_t i = 0; i < unknown.n; i++) {
                if (is_of_another_release(unknown.p[i]))
                        warn_of_field(command, composite, unknown.p[i]);
                else
                        field_error_add_text(&errors, FIELD_INVALID, unknown.p[i], OWN_KIND_UNKNOWN_FIELD);
        }
        schema_validate(schema, with_defaults, NULL, STR(""), &errors);
        /* Drop the remark that rules were not checked because of other errors: it is not an error in the file. */
        if (errors.n > 0 && str_equal(errors.p[errors.n - 1].field, STR("<nil>")))
                errors.n--;
        field_errors_sort(&errors);
        return errors.n == 0 ? 0 : render_field_errors(a, composite, &errors, fields_of, schema, err);
}

int render_schemas_apply(struct render_schemas *s, struct arena *a, const struct manifest *composite,
                         const struct value **ret, const struct value **ret_xrd, struct err *err)
{
        const struct manifest *definition = find_definition(s->files, composite->object);
        struct schema *schema;

        *ret = composite->object;
        *ret_xrd = NULL;
        if (!definition)
                return 0;
        if (compiled_for(s, a, definition, gvk_of(composite->object), &schema, err) < 0)
                return render_part_of(err, "cannot apply XRD defaults to XR \"%.*s\"",
                                      STR_ARG(meta_name(composite->object)));
        *ret = schema_default(schema, a, composite->object);
        *ret_xrd = definition->object;
        return validate(s->command, schema, a, composite, *ret, err);
}

static int check_definition(const struct manifest *m, struct err *err)
{
        struct gvk gvk = gvk_of(m->object);
        struct str kind = STR("CompositeResourceDefinition");
        bool is_first = first_design_kind(gvk) || first_design_is_publication(gvk);
        bool has_vowel = gvk.kind.n && strchr("AEIOUaeiou", gvk.kind.p[0]);

        if (is_first || (str_equal(gvk.group, STR("apiextensions.crossplane.io")) && str_equal(gvk.kind, kind)))
                return 0;
        err_set(err, ERR_INVALID, "is %s %.*s, not a CompositeResourceDefinition", has_vowel ? "an" : "a",
                STR_ARG(gvk.kind));
        return manifest_error(m, STR("kind"), err);
}

int render_files_load_definitions(struct arena *a, struct str path, struct render_files *files, struct err *err)
{
        struct manifests m;
        int r;

        manifests_init(&m, a);
        r = manifests_load(&m, path, err);
        if (r >= 0 && m.n == 0)
                r = err_set(err, ERR_INVALID, "%.*s has no objects", STR_ARG(path));
        for (size_t i = 0; r >= 0 && i < m.n; i++)
                r = check_definition(&m.p[i], err);
        if (r < 0)
                return render_part_of(err, "cannot load XRD");
        for (size_t i = 0; i < m.n; i++)
                manifests_add(first_design_is_publication(gvk_of(m.p[i].object)) ? &files->publications
                                                                                 : &files->definitions,
                              m.p[i]);
        return 0;
}
