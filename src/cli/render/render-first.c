/* Objects of the first design among the files (docs/spec/seeds 5): definitions with their publications become definitions of
 * composite resources, and Compositions with `from` and `to` become modern ones. */
#include "render-first.h"

#include "first-design.h"
#include "own-kinds.h"
#include "render-errors.h"

static size_t own_fields(void *arg, struct arena *a, struct str parent, const struct str **ret)
{
        return own_kind_fields(a, gvk_of(arg), parent, ret);
}

/* Checks the object as the API would. */
static int check(struct arena *a, const struct manifest *m, struct err *err)
{
        struct field_errors errors;

        field_errors_init(&errors, a);
        if (own_kind_check(a, m->object, NULL, &errors) == 0)
                return 0;
        return render_field_errors(a, m, &errors, own_fields, (void *)m->object, err);
}

static const struct manifest *find_publication(const struct render_files *files, const struct value *definition)
{
        for (size_t i = 0; i < files->publications.n; i++)
                if (str_equal(meta_name(files->publications.p[i].object), meta_name(definition)))
                        return &files->publications.p[i];
        return NULL;
}

static int convert_definition(struct arena *a, const struct render_files *files, struct manifest *m, struct err *err)
{
        const struct manifest *publication = find_publication(files, m->object);
        const struct value *xrd;
        int r = check(a, m, err);

        if (r == 0 && publication)
                r = check(a, publication, err);
        if (r < 0)
                return r;
        if (first_design_xrd(a, m->object, publication ? publication->object : NULL, &xrd, NULL, err) < 0)
                return manifest_error(m, STR("spec.crdSpecTemplate"), err);
        m->object = xrd;
        return 0;
}

static int convert_composition(struct arena *a, struct manifest *m, struct err *err)
{
        int r;

        if (!str_equal(gvk_of(m->object).version, STR("v1alpha1")))
                return 0;
        r = check(a, m, err);
        if (r == 0)
                m->object = first_design_composition(a, m->object);
        return r;
}

/* Publications of kinds that no file defines. */
static void check_publications(struct render_files *files)
{
        for (size_t i = 0; i < files->publications.n; i++) {
                const struct manifest *m = &files->publications.p[i];
                _cleanup_err_ struct err err = { 0 };
                bool is_defined = false;

                for (size_t j = 0; j < files->definitions.n && !is_defined; j++)
                        is_defined = str_equal(meta_name(files->definitions.p[j].object), meta_name(m->object)) &&
                                     str_equal(meta_label(files->definitions.p[j].object, FIRST_DESIGN_LABEL),
                                               STR("InfrastructureDefinition"));
                for (size_t j = 0; j < files->refused.n && !is_defined; j++)
                        is_defined = str_equal(meta_name(files->refused.p[j].object), meta_name(m->object));
                if (is_defined)
                        continue;
                err_set(&err, ERR_NOT_FOUND,
                        "no file has the InfrastructureDefinition \"%.*s\": only kinds that one defines can be "
                        "published",
                        STR_ARG(meta_name(m->object)));
                manifest_error(m, STR("spec.infrastructureDefinitionReference.name"), &err);
                str_list_printf(&files->broken, "%s", err_message(&err));
        }
}

void render_first_convert(struct arena *a, struct render_files *files)
{
        size_t n = 0;

        for (size_t i = 0; i < files->definitions.n; i++) {
                struct manifest m = files->definitions.p[i];
                _cleanup_err_ struct err err = { 0 };

                if (first_design_kind(gvk_of(m.object)) && convert_definition(a, files, &m, &err) < 0) {
                        str_list_printf(&files->broken, "%s", err_message(&err));
                        manifests_add(&files->refused, files->definitions.p[i]);
                } else {
                        files->definitions.p[n++] = m;
                }
        }
        files->definitions.n = n;
        n = 0;
        for (size_t i = 0; i < files->compositions.n; i++) {
                struct manifest m = files->compositions.p[i];
                _cleanup_err_ struct err err = { 0 };

                if (convert_composition(a, &m, &err) < 0)
                        str_list_printf(&files->broken, "%s", err_message(&err));
                else
                        files->compositions.p[n++] = m;
        }
        files->compositions.n = n;
        check_publications(files);
}

/* Whether the definition defines this kind, or the kind that this one is a requirement of. One that names no kind may mean any of the group in
 * its own name. */
static bool may_define(const struct value *definition, struct gvk gvk)
{
        struct str kind = value_str(value_find(definition, "spec", "crdSpecTemplate", "names", "kind"));
        struct str group = value_str(value_find(definition, "spec", "crdSpecTemplate", "group"));
        struct str of_name = meta_name(definition), plural, rest = gvk.kind;

        str_split(&of_name, '.', &plural);
        if (kind.n == 0)
                return str_equal(of_name, gvk.group);
        return (str_equal(group, gvk.group) || str_equal(of_name, gvk.group)) && str_cut_prefix(&rest, kind) &&
               (rest.n == 0 || str_equal(rest, STR("Requirement")));
}

static bool is_of_refused(const struct render_files *files, const struct value *object)
{
        for (size_t i = 0; i < files->refused.n; i++)
                if (may_define(files->refused.p[i].object, gvk_of(object)))
                        return true;
        return false;
}

/* Without its definition an object would be rendered in another design. The definition's error is told. */
static void drop_refused(struct render_files *files)
{
        size_t n = 0;

        for (size_t i = 0; i < files->composites.n; i++)
                if (!is_of_refused(files, files->composites.p[i].object))
                        files->composites.p[n++] = files->composites.p[i];
        files->composites.n = n;
}

void render_first_complete(struct arena *a, struct render_files *files)
{
        drop_refused(files);
        for (size_t i = 0; i < files->composites.n; i++) {
                const struct manifest *definition = render_files_definition(files, files->composites.p[i].object);

                if (definition && meta_has_label(definition->object, FIRST_DESIGN_LABEL))
                        files->composites.p[i].object = first_design_complete(a, files->composites.p[i].object);
        }
}
