#include "render-sort.h"

#include "render-first.h"
#include "render-walk.h"
#include "settings.h"
#include "xrd.h"

#define EXTENSIONS_GROUP    STR("apiextensions.crossplane.io")
#define PACKAGES_GROUP      STR("pkg.crossplane.io")
#define ANNOTATION_RESOURCE STR("crossplane.io/composition-resource-name")

void render_sorter_done(struct render_sorter *s)
{
        vec_done(&s->candidates);
        vec_done(&s->compositions);
        vec_done(&s->definitions);
}

/* --- Errors of a single object --- */

static int no_function(const struct manifest *m, struct err *err)
{
        err_set(err, ERR_INVALID, "not a function: %.*s/%.*s", STR_ARG(gvk_of(m->object).kind),
                STR_ARG(meta_name(m->object)));
        return manifest_error(m, STR("kind"), err);
}

/* The error for a kind in Crossplane's group that is similar to a known one. */
static int misspelt(const struct manifest *m, const char *near, struct err *err)
{
        err_set(err, ERR_INVALID, "\"%.*s\" is not known; did you mean \"%s\"?", STR_ARG(gvk_of(m->object).kind), near);
        return manifest_error(m, STR("kind"), err);
}

/* metadata must be an object, and its name and namespace must be strings: names of resources are made from them. */
static int check_metadata(const struct manifest *m, struct err *err)
{
        static const struct str fields[] = { STR_INIT("name"), STR_INIT("namespace") };
        const struct value *metadata = value_get(m->object, STR("metadata"));

        if (metadata && !value_is_null(metadata) && !value_is_object(metadata)) {
                err_set(err, ERR_INVALID, "must be an object");
                return manifest_error(m, STR("metadata"), err);
        }
        for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
                const struct value *v = value_get(metadata, fields[i]);

                if (!v || value_is_null(v) || value_is_string(v))
                        continue;
                err_set(err, ERR_INVALID, "must be a string: put it in quotes");
                return manifest_error(m, i == 0 ? STR("metadata.name") : STR("metadata.namespace"), err);
        }
        return 0;
}

static int check_kind(const struct manifest *m, struct err *err)
{
        static const char *const kinds[] = { "Composition", "CompositeResourceDefinition", "ApplicationDefinition",
                                             "InfrastructureDefinition", "InfrastructurePublication" };
        struct gvk gvk = gvk_of(m->object);
        const char *near = NULL;

        if (str_equal(gvk.group, EXTENSIONS_GROUP))
                near = settings_nearest(gvk.kind, kinds, ARRAY_SIZE(kinds));
        if (near && !str_equal(gvk.kind, str_from(near)) && !str_equal(gvk.kind, STR("CompositionRevision")))
                return misspelt(m, near, err);
        return check_metadata(m, err);
}

/* --- Kinds of Crossplane and Kubernetes --- */

/* The list for objects of this kind; NULL for kinds without a list. */
static struct manifests *place_of_kind(struct render_files *files, struct gvk gvk)
{
        const struct {
                struct str group, kind;
                struct manifests *to;
        } places[] = {
                { PACKAGES_GROUP, STR("Function"), &files->functions },
                { PACKAGES_GROUP, STR("FunctionRevision"), &files->revisions },
                { EXTENSIONS_GROUP, STR("Composition"), &files->compositions },
                { EXTENSIONS_GROUP, STR("CompositeResourceDefinition"), &files->definitions },
                { EXTENSIONS_GROUP, STR("ApplicationDefinition"), &files->definitions },
                { EXTENSIONS_GROUP, STR("InfrastructureDefinition"), &files->definitions },
                { EXTENSIONS_GROUP, STR("InfrastructurePublication"), &files->publications },
                { EXTENSIONS_GROUP, STR("EnvironmentConfig"), &files->required },
                { STR("meta.pkg.crossplane.io"), STR("Configuration"), &files->packages },
                { STR("meta.dev.upbound.io"), STR("Project"), &files->packages },
                { STR("dev.crossplane.io"), STR("Project"), &files->packages },
        };

        for (size_t i = 0; i < ARRAY_SIZE(places); i++)
                if (str_equal(gvk.group, places[i].group) && str_equal(gvk.kind, places[i].kind))
                        return places[i].to;
        return NULL;
}

/* Groups of Kubernetes and of Crossplane itself: none of their kinds is a composite. */
static bool is_foreign_group(struct str group)
{
        return str_find_char(group, '.') < 0 || str_ends_with(group, STR(".k8s.io")) ||
               str_equal(group, EXTENSIONS_GROUP) || str_ends_with(group, PACKAGES_GROUP) ||
               str_equal(group, STR("ops.crossplane.io")) || str_equal(group, STR("protection.crossplane.io"));
}

/* --- Objects in named files --- */

int render_sorter_add_named(struct render_sorter *s, const struct manifests *m, struct err *err)
{
        for (size_t i = 0; i < m->n; i++) {
                struct gvk gvk = gvk_of(m->p[i].object);
                struct manifests *to = place_of_kind(s->files, gvk);
                int r = check_kind(&m->p[i], err);

                if (r < 0)
                        return r;
                if (!to && str_equal(gvk.group, PACKAGES_GROUP))
                        return no_function(&m->p[i], err);
                if (to)
                        manifests_add(to, m->p[i]);
                else
                        vec_push(&s->candidates, (struct render_candidate) { .manifest = m->p[i] });
                s->has_named_composition |= to == &s->files->compositions;
        }
        return 0;
}

/* --- Objects below directories --- */

static bool has_test_directory(struct str path)
{
        struct str name;

        while (str_split(&path, '/', &name))
                if (render_walk_is_test(name))
                        return true;
        return false;
}

static bool has_composed(const struct manifests *m)
{
        for (size_t i = 0; i < m->n; i++)
                if (meta_has_annotation(m->p[i].object, ANNOTATION_RESOURCE))
                        return true;
        return false;
}

static void add_found(struct render_sorter *s, const struct render_candidate *c)
{
        struct manifests *to = place_of_kind(s->files, gvk_of(c->manifest.object));

        if (to == &s->files->compositions)
                vec_push(&s->compositions, *c);
        else if (to == &s->files->definitions)
                vec_push(&s->definitions, *c);
        else if (to)
                manifests_add(to, c->manifest);
        else
                vec_push(&s->candidates, *c);
}

/* Records the error, but not for an object that is not rendered anyway: that one is only counted. */
static void add_wrong(struct render_sorter *s, const struct value *object, const struct err *err)
{
        struct gvk gvk = gvk_of(object);

        if (is_foreign_group(gvk.group) && !str_equal(gvk.group, EXTENSIONS_GROUP) && !place_of_kind(s->files, gvk))
                render_aside_add_object(&s->files->aside, object);
        else
                str_list_printf(&s->files->broken, "%s", err_message(err));
}

void render_sorter_add_found(struct render_sorter *s, const struct manifests *m, struct str path)
{
        struct render_candidate c = { .is_found = true,
                                      .is_test = has_test_directory(path),
                                      .is_output = has_composed(m) };

        for (size_t i = 0; i < m->n; i++) {
                _cleanup_err_ struct err err = { 0 };

                c.manifest = m->p[i];
                if (check_kind(&m->p[i], &err) < 0)
                        add_wrong(s, m->p[i].object, &err);
                else
                        add_found(s, &c);
        }
}

/* --- After all objects are loaded --- */

static const struct value *type_of(const struct value *composition)
{
        return value_find(composition, "spec", "compositeTypeRef");
}

/* Whether the list already has this object. Copies are common in package sources and in tests. */
static bool is_there(const struct manifests *list, const struct render_candidate *c)
{
        for (size_t i = 0; i < list->n; i++) {
                const struct value *other = list->p[i].object;

                if (value_equal(other, c->manifest.object) ||
                    (c->is_test && str_equal(meta_name(other), meta_name(c->manifest.object))))
                        return true;
        }
        return false;
}

/* Adds the object unless the list has it. Objects of tests are added last. */
static void add_unless_there(struct render_sorter *s, const struct render_candidate *c, bool is_test,
                             struct manifests *to)
{
        if (c->is_test != is_test)
                return;
        if (is_there(to, c))
                render_aside_add(&s->files->aside, ASIDE_COPY, 1);
        else
                manifests_add(to, c->manifest);
}

static void settle(struct render_sorter *s)
{
        for (int is_test = 0; is_test <= 1; is_test++) {
                for (size_t i = 0; i < s->compositions.n; i++)
                        add_unless_there(s, &s->compositions.p[i], is_test, &s->files->compositions);
                for (size_t i = 0; i < s->definitions.n; i++)
                        add_unless_there(s, &s->definitions.p[i], is_test, &s->files->definitions);
        }
}

/* Whether a Composition or a definition is for objects of this kind, in any version, or for claims of this kind. */
static bool is_composed(const struct render_files *files, const struct value *object)
{
        struct gvk gvk = gvk_of(object);

        for (size_t i = 0; i < files->compositions.n; i++) {
                struct gvk type = gvk_of(type_of(files->compositions.p[i].object));

                if ((str_equal(type.group, gvk.group) && str_equal(type.kind, gvk.kind)) ||
                    render_claim_is_of(object, files->compositions.p[i].object))
                        return true;
        }
        return render_files_definition(files, object) != NULL;
}

static bool is_composite(const struct render_files *files, const struct render_candidate *c)
{
        const struct value *object = c->manifest.object;

        if (!c->is_found)
                return !is_foreign_group(gvk_of(object).group) || is_composed(files, object);
        return !c->is_output && is_composed(files, object);
}

static void add_aside(struct render_files *files, const struct render_candidate *c)
{
        if (c->is_output)
                render_aside_add(&files->aside, ASIDE_OBSERVED, 1);
        else
                render_aside_add_object(&files->aside, c->manifest.object);
}

/* Whether there are composites outside of tests. Composites of tests are rendered only if there are none. */
static bool has_others_than_tests(const struct render_sorter *s)
{
        for (size_t i = 0; i < s->candidates.n; i++)
                if (!s->candidates.p[i].is_test && is_composite(s->files, &s->candidates.p[i]))
                        return true;
        return false;
}

static void sort_candidates(struct render_sorter *s)
{
        bool without_tests = has_others_than_tests(s);

        for (size_t i = 0; i < s->candidates.n; i++) {
                struct render_candidate *c = &s->candidates.p[i];

                if (!is_composite(s->files, c))
                        add_aside(s->files, c);
                else if (c->is_test && without_tests)
                        render_aside_add(&s->files->aside, ASIDE_TEST, 1);
                else
                        manifests_add(&s->files->composites, c->manifest);
        }
}

/* Loads the files that annotations name. A missing file does not stop the render: the Composition may be found by its type. */
static void follow_paths(struct render_sorter *s, const struct manifest *m)
{
        _cleanup_err_ struct err err = { 0 };

        if (render_paths_load(s->arena, m, !s->has_named_composition, s->files, &err) < 0)
                str_list_printf(&s->files->broken, "%s", err_message(&err));
}

void render_sorter_finish(struct render_sorter *s)
{
        settle(s);
        /* Load these files before sorting the candidates: their Compositions decide which candidates are composites. */
        for (size_t i = 0; i < s->candidates.n; i++)
                follow_paths(s, &s->candidates.p[i].manifest);
        render_first_convert(s->arena, s->files);
        sort_candidates(s);
        render_first_complete(s->arena, s->files);
}
