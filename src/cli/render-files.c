#include "render-files.h"

#include "buf.h"
#include "schema.h"

#define EXTENSIONS_GROUP STR("apiextensions.crossplane.io")
#define PACKAGES_GROUP   STR("pkg.crossplane.io")

/* --- Which is which --- */

static bool is_kind(const struct value *object, struct str group, const char *kind)
{
        struct gvk gvk = gvk_of(object);

        return str_equal(gvk.group, group) && str_equal(gvk.kind, str_from(kind));
}

static int take_one(struct manifest *to, const struct manifest *m, const char *what, struct err *err)
{
        if (to->object) {
                err_set(err, ERR_INVALID, "it is a second %s: the first is in %.*s", what, STR_ARG(to->source->name));
                return manifest_error(m, STR(""), err);
        }
        *to = *m;
        return 0;
}

static int take_functions(struct manifests *to, const struct manifests *from, struct err *err)
{
        for (size_t i = 0; i < from->n; i++) {
                struct str group = gvk_of(from->p[i].object).group;

                if (str_equal(group, PACKAGES_GROUP) && is_kind(from->p[i].object, PACKAGES_GROUP, "Function"))
                        continue;
                err_set(err, ERR_INVALID, "not a function: %.*s/%.*s", STR_ARG(gvk_of(from->p[i].object).kind),
                        STR_ARG(meta_name(from->p[i].object)));
                return manifest_error(&from->p[i], STR("kind"), err);
        }
        if (to->n) {
                err_set(err, ERR_INVALID, "it is a second file of functions");
                return manifest_error(&from->p[0], STR(""), err);
        }
        *to = *from;
        return 0;
}

static int load_one(struct arena *a, const char *path, struct render_files *files, struct err *err)
{
        struct manifests m;
        int r;

        manifests_init(&m, a);
        r = manifests_load(&m, str_from(path), err);
        if (r < 0)
                return r;
        if (m.n == 0)
                return err_set(err, ERR_INVALID, "%s has no objects", path);
        if (is_kind(m.p[0].object, EXTENSIONS_GROUP, "Composition"))
                return take_one(&files->composition, &m.p[0], "Composition", err);
        if (str_equal(gvk_of(m.p[0].object).group, PACKAGES_GROUP))
                return take_functions(&files->functions, &m, err);
        return take_one(&files->composite, &m.p[0], "composite resource", err);
}

/* --- Whether they fit --- */

static int check_type(const struct render_files *files, const char *field, struct err *err)
{
        const struct value *type = value_find(files->composition.object, "spec", "compositeTypeRef");
        struct str wanted = value_str(value_get(type, str_from(field)));
        struct str given = value_str(value_get(files->composite.object, str_from(field)));
        struct str path = STR("spec.compositeTypeRef.kind");

        if (str_equal(wanted, given))
                return 0;
        if (strcmp(field, "kind") != 0)
                path = STR("spec.compositeTypeRef.apiVersion");
        err_set(err, ERR_INVALID, "composition's compositeTypeRef.%s (%.*s) does not match XR's %s (%.*s)", field,
                STR_ARG(wanted), field, STR_ARG(given));
        return manifest_error(&files->composition, path, err);
}

static int check_labels(const struct render_files *files, struct err *err)
{
        const struct value *labels =
                value_find(files->composite.object, "spec", "crossplane", "compositionSelector", "matchLabels");
        struct str name = meta_name(files->composition.object);

        VALUE_FOREACH_MEMBER (m, labels) {
                struct str there = meta_label(files->composition.object, m->key);

                if (!meta_has_label(files->composition.object, m->key))
                        err_set(err, ERR_INVALID, "composition \"%.*s\" is missing required label \"%.*s\"",
                                STR_ARG(name), STR_ARG(m->key));
                else if (!str_equal(there, value_str(&m->value)))
                        err_set(err, ERR_INVALID,
                                "composition \"%.*s\" has incorrect value for label \"%.*s\": want \"%.*s\", got "
                                "\"%.*s\"",
                                STR_ARG(name), STR_ARG(m->key), STR_ARG(value_str(&m->value)), STR_ARG(there));
                else
                        continue;
                return manifest_error(&files->composition, STR("metadata.labels"), err);
        }
        return 0;
}

/* Without a mode it is what its fields say (spec/seeds 1). */
static int check_mode(const struct render_files *files, struct err *err)
{
        const struct value *spec = value_get(files->composition.object, STR("spec"));
        struct str mode = value_str(value_get(spec, STR("mode")));

        if (str_equal(mode, STR("Pipeline")) || (mode.n == 0 && value_get(spec, STR("pipeline"))))
                return 0;
        err_set(err, ERR_UNSUPPORTED,
                "render only supports Composition Function pipelines: Composition \"%.*s\" must use spec.mode: "
                "Pipeline",
                STR_ARG(meta_name(files->composition.object)));
        return manifest_error(&files->composition, STR("spec.mode"), err);
}

int render_files_load(struct arena *a, const char *const *paths, size_t n, struct render_files *ret, struct err *err)
{
        int r;

        *ret = (struct render_files) { 0 };
        manifests_init(&ret->functions, a);
        for (size_t i = 0; i < n; i++) {
                r = load_one(a, paths[i], ret, err);
                if (r < 0)
                        return r;
        }
        if (!ret->composite.object)
                return err_set(err, ERR_INVALID, "none of the files has a composite resource");
        if (!ret->composition.object)
                return err_set(err, ERR_INVALID, "none of the files has a Composition");
        ret->composite_with_defaults = ret->composite.object;
        if ((r = check_type(ret, "kind", err)) < 0 || (r = check_type(ret, "apiVersion", err)) < 0 ||
            (r = check_labels(ret, err)) < 0)
                return r;
        return check_mode(ret, err);
}

/* --- Defaults --- */

static const struct value *find_schema(const struct value *xrd, struct str version)
{
        VALUE_FOREACH_ITEM (v, value_find(xrd, "spec", "versions"))
                if (str_equal(value_str(value_get(v, STR("name"))), version))
                        return value_find(v, "schema", "openAPIV3Schema") ?: &value_empty_object;
        return NULL;
}

static int fill_in(struct arena *a, const struct manifest *xrd, struct render_files *files, struct err *err)
{
        struct gvk gvk = gvk_of(files->composite.object);
        const struct value *openapi = find_schema(xrd->object, gvk.version);
        struct field_errors errors;
        struct schema *schema;
        int r;

        if (!openapi) {
                err_set(err, ERR_INVALID, "the specified API version '%.*s' does not exist in the XRD",
                        STR_ARG(gvk_api_version(a, gvk)));
                return manifest_error(xrd, STR("spec.versions"), err);
        }
        field_errors_init(&errors, a);
        r = schema_compile(openapi, STR("spec.versions.schema.openAPIV3Schema"), &schema, &errors);
        if (r < 0) {
                _cleanup_buf_ struct buf text = BUF_INIT(0);

                field_errors_append(&text, &errors);
                err_set(err, r, "%s", buf_cstring(&text));
                return manifest_error(xrd, STR("spec.versions"), err);
        }
        files->composite_with_defaults = schema_default(schema, a, files->composite.object);
        schema_unref(schema);
        return 0;
}

int render_files_load_xrd(struct arena *a, struct str path, struct render_files *files, struct err *err)
{
        struct manifests m;
        int r;

        manifests_init(&m, a);
        r = manifests_load(&m, path, err);
        if (r >= 0 && m.n == 0)
                r = err_set(err, ERR_INVALID, "%.*s has no objects", STR_ARG(path));
        if (r < 0)
                return err_wrap(err, "cannot load XRD");
        files->xrd = m.p[0].object;
        r = fill_in(a, &m.p[0], files, err);
        return r < 0 ? err_wrap(err, "cannot apply XRD defaults to XR \"%.*s\"",
                                STR_ARG(meta_name(files->composite.object)))
                     : 0;
}

/* --- The rest --- */

int render_files_load_list(struct arena *a, const struct str *paths, size_t n, const char *what,
                           const struct value **ret, struct err *err)
{
        struct array_builder list;
        struct manifests m;

        manifests_init(&m, a);
        for (size_t i = 0; i < n; i++)
                if (manifests_load(&m, paths[i], err) < 0)
                        return err_wrap(err, "cannot load %s", what);
        array_builder_init(&list, a, m.n);
        for (size_t i = 0; i < m.n; i++)
                array_builder_add(&list, *m.p[i].object);
        *ret = value_put(a, array_builder_finish(&list));
        return 0;
}
