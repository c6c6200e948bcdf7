#include "own-kinds.h"

#include "first-design.h"
#include "json.h"
#include "metadata.h"
#include "own-kinds-data.h"
#include "owner.h"
#include "prepare.h"
#include "rare-fields.h"

#include <pthread.h>

#define MAX_VERSIONS 4
#define MAX_KINDS    32

/* The compiled schemas, by the numbers of kind and version, for the life of the process. The last index: 1 is the whole schema, 0
 * the schema without rare_fields. */
static pthread_mutex_t schemas_lock = PTHREAD_MUTEX_INITIALIZER;
static struct schema *schemas[MAX_KINDS][MAX_VERSIONS][2]; /* under the lock */

/* --- Which kind --- */

static const struct own_kind_data *find_kind(struct str group, struct str kind)
{
        for (const struct own_kind_data *k = own_kinds_data; k->crd.p; k++)
                if (str_equal(k->kind, kind) && str_equal(k->group, group))
                        return k;
        return NULL;
}

/* The index of the version, or -1. */
static int find_version(const struct own_kind_data *k, struct str version)
{
        struct str rest = k->versions, name;

        for (int i = 0; rest.n > 0; i++) {
                str_split(&rest, ' ', &name);
                if (str_equal(name, version))
                        return i;
        }
        return -1;
}

bool own_kind_known(struct gvk gvk)
{
        const struct own_kind_data *k = find_kind(gvk.group, gvk.kind);

        return k && find_version(k, gvk.version) >= 0;
}

/* --- Reading the generated data --- */

static const struct value *read_spec(struct arena *a, struct str text)
{
        static const struct json_read_options options = { .borrows_text = true };
        const struct value *spec = NULL;
        int r = json_parse(a, text, &options, &spec, NULL);

        assert(r == 0);
        return spec;
}

/* A version without a schema uses the schema of the first version. */
static const struct value *schema_of_version(const struct value *versions, size_t i)
{
        const struct value *own = value_get(value_item(versions, i), STR("schema"));

        return own ? own : value_get(value_item(versions, 0), STR("schema"));
}

static const struct value *fill_schemas(struct arena *a, const struct value *versions)
{
        for (size_t i = 1; i < value_count(versions); i++)
                versions = value_with_item(a, versions, i,
                                           value_with(a, value_item(versions, i), STR("schema"),
                                                      schema_of_version(versions, i)));
        return versions;
}

const struct value *own_kind_crd(struct arena *a, size_t i)
{
        const struct own_kind_data *k = own_kinds_data;
        struct object_builder crd, metadata;
        const struct value *spec;

        while (i-- > 0 && k->crd.p)
                k++;
        if (!k->crd.p)
                return NULL;
        spec = read_spec(a, k->spec);
        spec = value_with(a, spec, STR("versions"), fill_schemas(a, value_get(spec, STR("versions"))));
        object_builder_init(&metadata, a, 1);
        object_builder_add(&metadata, STR("name"), value_of_str(k->crd));
        object_builder_init(&crd, a, 4);
        object_builder_add(&crd, STR("apiVersion"), value_of_literal("apiextensions.k8s.io/v1"));
        object_builder_add(&crd, STR("kind"), value_of_literal("CustomResourceDefinition"));
        object_builder_add(&crd, STR("metadata"), object_builder_finish(&metadata));
        object_builder_add(&crd, STR("spec"), *spec);
        return value_put(a, object_builder_finish(&crd));
}

static bool has_rare_fields(const struct value *object)
{
        const struct value *spec = value_get(object, STR("spec"));

        for (size_t i = 0; i < ARRAY_SIZE(rare_fields); i++)
                if (value_get(spec, rare_fields[i]))
                        return true;
        return false;
}

static struct schema *compile(const struct own_kind_data *k, size_t version, bool is_whole)
{
        const struct value *versions, *openapi;
        struct field_errors errors;
        struct schema *schema = NULL;
        struct arena scratch;
        int r;

        arena_init(&scratch, "own kinds", 0);
        field_errors_init(&errors, &scratch);
        versions = value_get(read_spec(&scratch, is_whole || !k->common.n ? k->spec : k->common), STR("versions"));
        openapi = value_get(schema_of_version(versions, version), STR("openAPIV3Schema"));
        r = schema_compile(openapi, STR(""), &schema, &errors);
        assert(r == 0);
        arena_done(&scratch);
        return schema;
}

/* The schema of the kind; NULL when it is not one of Crossplane's own. */
static const struct schema *schema_of(struct gvk gvk, bool is_whole)
{
        const struct own_kind_data *k = find_kind(gvk.group, gvk.kind);
        int version = k ? find_version(k, gvk.version) : -1;
        struct schema **s;

        if (version < 0)
                return NULL;
        assert(k - own_kinds_data < MAX_KINDS && version < MAX_VERSIONS);
        s = &schemas[k - own_kinds_data][version][is_whole];
        pthread_mutex_lock(&schemas_lock);
        if (!*s)
                *s = compile(k, (size_t)version, is_whole);
        pthread_mutex_unlock(&schemas_lock);
        return *s;
}

/* The smaller schema if the object has no rare fields, otherwise the whole one. */
static const struct schema *schema_for(const struct value *object)
{
        return schema_of(gvk_of(object), has_rare_fields(object));
}

/* --- Defaults that a schema cannot express --- */

static const struct value *step_with_name(struct arena *a, const struct value *step)
{
        const struct value *name = value_get(step, STR("name"));

        if (!value_is_string(name))
                return step;
        if (!value_get(step, STR("step")))
                step = value_with(a, step, STR("step"), name);
        return value_equal(name, value_get(step, STR("step"))) ? value_without(a, step, STR("name")) : step;
}

static const struct value *pipeline_with_names(struct arena *a, const struct value *pipeline)
{
        for (size_t i = 0; value_is_array(pipeline) && i < pipeline->n; i++) {
                const struct value *step = value_item(pipeline, i), *named = step_with_name(a, step);

                if (named != step)
                        pipeline = value_with_item(a, pipeline, i, named);
        }
        return pipeline;
}

/* A null counts as absent: an apply may still contain nulls. */
static bool has(const struct value *spec, struct str key)
{
        const struct value *v = value_get(spec, key);

        return v && !value_is_null(v);
}

/* The mode that the fields imply; NULL when both modes are possible. */
static const struct value *mode_of(const struct value *spec)
{
        static const struct value pipeline = { .type = VALUE_STRING, .n = 8, .bytes = "Pipeline" };
        static const struct value resources = { .type = VALUE_STRING, .n = 9, .bytes = "Resources" };

        if (!has(spec, STR("resources")) && !has(spec, STR("functions")) && !has(spec, STR("to")))
                return &pipeline;
        return has(spec, STR("pipeline")) ? NULL : &resources;
}

static const struct value *complete_composition(struct arena *a, const struct value *object)
{
        const struct value *spec = value_get(object, STR("spec")), *completed = spec;
        const struct value *pipeline = value_get(spec, STR("pipeline")), *named = pipeline_with_names(a, pipeline);

        if (!value_is_object(spec))
                return object;
        if (named != pipeline)
                completed = value_with(a, completed, STR("pipeline"), named);
        if (!has(spec, STR("mode")) && mode_of(spec))
                completed = value_with(a, completed, STR("mode"), mode_of(spec));
        return completed == spec ? object : value_with(a, object, STR("spec"), completed);
}

static const struct value *complete(struct arena *a, const struct value *object)
{
        struct gvk gvk = gvk_of(object);

        if (str_equal(gvk.kind, STR("Composition")) || str_equal(gvk.kind, STR("CompositionRevision")))
                return complete_composition(a, object);
        return object;
}

const struct value *own_kind_default(struct arena *a, const struct value *object)
{
        const struct schema *s = schema_for(object);

        return s ? complete(a, schema_default(s, a, object)) : object;
}

/* --- Checking --- */

static void check_metadata(struct arena *a, const struct value *object, struct str_list *unknown,
                           struct field_errors *errors)
{
        const struct value *metadata;
        _cleanup_err_ struct err err = { 0 };

        if (metadata_coerce(a, value_get(object, STR("metadata")), unknown, &metadata, &err) < 0)
                field_error_add_text(errors, FIELD_TYPE_INVALID, STR("metadata"),
                                     arena_copy(a, str_from(err_message(&err))));
}

static void add_unknown(struct field_errors *errors, const struct str_list *unknown)
{
        for (size_t i = 0; i < unknown->n; i++)
                field_error_add_text(errors, FIELD_INVALID, unknown->p[i], OWN_KIND_UNKNOWN_FIELD);
}

/* Errors about the whole object. Drops the API's remark that rules were not checked: it is about no field, and the rules are checked again
 * after the other errors are fixed. The rules of the whole object are about its name. */
static void place_errors_of_root(struct field_errors *errors, size_t before)
{
        size_t n = before;

        for (size_t i = before; i < errors->n; i++) {
                struct field_error *e = &errors->p[i];
                bool is_root = str_equal(e->field, STR("<nil>"));

                if (is_root && str_find(e->text, STR("rules were not checked")) >= 0)
                        continue;
                if (is_root && str_find(e->text, STR("metadata.name must")) >= 0)
                        e->field = STR("metadata.name");
                errors->p[n++] = *e;
        }
        errors->n = n;
}

int own_kind_check(struct arena *a, const struct value *object, const struct value *old, struct field_errors *errors)
{
        const struct schema *s = schema_for(object);
        size_t before = errors->n;
        struct str_list unknown;
        struct schema_admit_options options = { .drop_nulls = true, .unknown = &unknown };

        if (!s)
                return 0;
        str_list_init(&unknown, a);
        check_metadata(a, object, &unknown, errors);
        object = complete(a, schema_admit(s, a, object, &options));
        add_unknown(errors, &unknown);
        schema_validate(s, object, old, STR(""), errors);
        schema_check_rules(s, object, old, own_kind_rules, n_own_kind_rules, errors, NULL);
        if (errors->n == before)
                first_design_check(a, object, errors, NULL);
        place_errors_of_root(errors, before);
        return errors->n > before ? ERR_INVALID : 0;
}

/* --- Compositions that were created through v1alpha1 --- */

static bool is_composition(const struct value *object)
{
        return str_equal(gvk_of(object).kind, STR("Composition"));
}

/* The annotation remembers how a Composition was created. A writer who does not send it does not remove it. */
static const struct value *remember_creation(struct arena *a, const struct value *old, const struct value *object)
{
        bool is_first = str_equal(gvk_of(object).version, STR("v1alpha1"));
        struct str created = meta_annotation(old, FIRST_DESIGN_CREATED_AS);

        if (meta_has_annotation(object, FIRST_DESIGN_CREATED_AS))
                return object;
        if (!old && is_first)
                created = STR("v1alpha1");
        return created.n ? meta_with_annotation(a, object, FIRST_DESIGN_CREATED_AS, created) : object;
}

static void check_unchanged(const struct value *old, const struct value *object, struct field_errors *errors)
{
        if (!old || !str_equal(meta_annotation(old, FIRST_DESIGN_CREATED_AS), STR("v1alpha1")) ||
            str_equal(meta_annotation(object, FIRST_DESIGN_CREATED_AS), STR("v1")) ||
            value_equal_numeric(value_get(old, STR("spec")), value_get(object, STR("spec"))))
                return;
        field_error_add_text(errors, FIELD_FORBIDDEN, STR("spec"),
                             STR("Forbidden: a Composition that was created through v1alpha1 cannot change: create "
                                 "another one and select that, or set the annotation weft.dev/created-as: v1 in the "
                                 "same update"));
}

/* An XRD that a definition of the first design keeps is changed back. Whoever changes it is told where to do so. */
static void warn_of_edit(const struct write_request *req, const struct value *old, const struct value *object,
                         struct str_list *warnings)
{
        struct owner_reference owner;

        if (!warnings || !old || !meta_has_label(old, FIRST_DESIGN_LABEL) || !owner_controller(old, &owner) ||
            str_equal(req->manager, STR("crossplane")) ||
            value_equal_numeric(value_get(old, STR("spec")), value_get(object, STR("spec"))))
                return;
        str_list_printf(warnings, "%.*s \"%.*s\" makes this %.*s and undoes changes of it: change that instead",
                        STR_ARG(owner.kind), STR_ARG(owner.name), STR_ARG(gvk_of(object).kind));
}

static const struct value *prepare(struct arena *a, const struct write_request *req, const struct value *old,
                                   const struct value *object)
{
        return req->subresource.n == 0 && is_composition(object) ? remember_creation(a, old, object) : object;
}

static void validate(struct arena *a, const struct write_request *req, const struct value *old,
                     const struct value *object, struct field_errors *errors, struct str_list *warnings)
{
        const struct schema *s = schema_for(object);

        if (!s || req->subresource.n)
                return;
        schema_check_rules(s, object, old, own_kind_rules, n_own_kind_rules, errors, warnings);
        warn_of_edit(req, old, object, warnings);
        if (is_composition(object))
                check_unchanged(old, object, errors);
        else if (errors->n == 0)
                first_design_check(a, object, errors, warnings);
}

const struct kind_strategy *own_kind_strategy(const struct value *crd)
{
        static const struct kind_strategy strategy = { .complete = complete, .validate = validate };
        static const struct kind_strategy defined = { .complete = first_design_complete,
                                                      .validate = first_design_validate };
        static const struct kind_strategy compositions = {
                .complete = complete,
                .prepare = prepare,
                .validate = validate,
                .conversions = first_design_conversions,
                .n_conversions = ARRAY_SIZE(first_design_conversions),
        };
        struct str group = value_str(value_find(crd, "spec", "group"));
        const struct own_kind_data *k = find_kind(group, value_str(value_find(crd, "spec", "names", "kind")));

        if (!k)
                return first_design_is_defined(crd) ? &defined : NULL;
        return str_equal(k->kind, STR("Composition")) ? &compositions : &strategy;
}

/* --- Fields --- */

size_t own_kind_fields(struct arena *a, struct gvk gvk, struct str path, const struct str **ret)
{
        const struct schema *s = schema_of(gvk, true);

        return s ? schema_properties_at(s, a, path, ret) : 0;
}
