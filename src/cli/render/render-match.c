/* Chooses the Composition for a composite resource. */
#include "render-files.h"

#include "buf.h"
#include "composition.h"
#include "places.h"
#include "render-errors.h"
#include "settings.h"

/* --- Whether a Composition fits --- */

static bool has_type(const struct value *composition, const struct value *composite, const char *field)
{
        const struct value *type = value_find(composition, "spec", "compositeTypeRef");

        return str_equal(value_str(value_get(type, str_from(field))), value_str(value_get(composite, str_from(field))));
}

static bool fits(const struct manifest *composition, const struct value *composite)
{
        return has_type(composition->object, composite, "kind") &&
               has_type(composition->object, composite, "apiVersion");
}

static int check_type(const struct manifest *composition, const struct value *composite, const char *field,
                      struct err *err)
{
        const struct value *type = value_find(composition->object, "spec", "compositeTypeRef");
        struct str path = STR("spec.compositeTypeRef.kind");

        if (has_type(composition->object, composite, field))
                return 0;
        if (strcmp(field, "kind") != 0)
                path = STR("spec.compositeTypeRef.apiVersion");
        err_set(err, ERR_INVALID, "composition's compositeTypeRef.%s (%.*s) does not match XR's %s (%.*s)", field,
                STR_ARG(value_str(value_get(type, str_from(field)))), field,
                STR_ARG(value_str(value_get(composite, str_from(field)))));
        return manifest_error(composition, path, err);
}

static const struct value *wanted_labels(const struct value *composite)
{
        return value_find(composite, "spec", "crossplane", "compositionSelector", "matchLabels");
}

/* The labels for choosing among several Compositions, where the selector of a composite of any design counts. */
static const struct value *choosing_labels(const struct value *composite)
{
        const struct places *places = places_find(places_of_composites, composite, STR("compositionSelector"));

        return places ? value_get(places_get(places, composite, STR("compositionSelector")), STR("matchLabels")) : NULL;
}

static bool has_labels(const struct value *composition, const struct value *composite)
{
        VALUE_FOREACH_MEMBER (m, choosing_labels(composite))
                if (!meta_has_label(composition, m->key) ||
                    !str_equal(meta_label(composition, m->key), value_str(&m->value)))
                        return false;
        return true;
}

static int check_labels(const struct manifest *composition, const struct value *composite, struct err *err)
{
        struct str name = meta_name(composition->object);

        VALUE_FOREACH_MEMBER (m, wanted_labels(composite)) {
                struct str there = meta_label(composition->object, m->key);

                if (!meta_has_label(composition->object, m->key))
                        err_set(err, ERR_INVALID, "composition \"%.*s\" is missing required label \"%.*s\"",
                                STR_ARG(name), STR_ARG(m->key));
                else if (!str_equal(there, value_str(&m->value)))
                        err_set(err, ERR_INVALID,
                                "composition \"%.*s\" has incorrect value for label \"%.*s\": want \"%.*s\", got "
                                "\"%.*s\"",
                                STR_ARG(name), STR_ARG(m->key), STR_ARG(value_str(&m->value)), STR_ARG(there));
                else
                        continue;
                return manifest_error(composition, STR("metadata.labels"), err);
        }
        return 0;
}

static int check_mode(const struct manifest *composition, struct err *err)
{
        const struct value *mode = value_find(composition->object, "spec", "mode");
        enum composition_mode ignored;

        if (composition_mode(composition->object, &ignored, err) >= 0)
                return 0;
        if (str_starts_with(str_from(err_message(err)), STR("apiVersion ")))
                return manifest_error(composition, STR("apiVersion"), err);
        return manifest_error(composition, mode ? STR("spec.mode") : STR("spec"), err);
}

int render_files_check(const struct manifest *composition, const struct value *composite, struct err *err)
{
        int r;

        if ((r = check_type(composition, composite, "kind", err)) < 0 ||
            (r = check_type(composition, composite, "apiVersion", err)) < 0)
                return r;
        return check_labels(composition, composite, err);
}

/* --- Choosing among several --- */

static struct str wanted_name(const struct value *composite, struct str *ret_path)
{
        static const struct {
                const struct places *places;
                struct str path;
        } paths[] = {
                { &places_modern, STR_INIT("spec.crossplane.compositionRef.name") },
                { &places_application, STR_INIT("spec.application.compositionRef.name") },
                { &places_infrastructure, STR_INIT("spec.infrastructure.compositionRef.name") },
                { &places_legacy, STR_INIT("spec.compositionRef.name") },
        };

        for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
                const struct value *ref = places_get(paths[i].places, composite, STR("compositionRef"));
                struct str name = value_str(value_get(ref, STR("name")));

                *ret_path = paths[i].path;
                if (name.n)
                        return name;
        }
        return STR("");
}

static void append_each(struct buf *b, const struct manifests *compositions)
{
        for (size_t i = 0; i < compositions->n; i++) {
                const struct value *c = compositions->p[i].object, *type = value_find(c, "spec", "compositeTypeRef");

                buf_appendf(b, "%s\"%.*s\" (%.*s of %.*s)", i ? ", " : "", STR_ARG(meta_name(c)),
                            STR_ARG(value_str(value_get(type, STR("kind")))),
                            STR_ARG(value_str(value_get(type, STR("apiVersion")))));
        }
}

static int no_such(const struct render_files *files, const struct manifest *composite, struct str name, struct str path,
                   struct err *err)
{
        _cleanup_buf_ struct buf all = BUF_INIT(0);

        append_each(&all, &files->compositions);
        err_set(err, ERR_INVALID, "no Composition \"%.*s\" is in the files; there are %s", STR_ARG(name),
                buf_cstring(&all));
        return manifest_error(composite, path, err);
}

static int none_fits(const struct render_files *files, const struct manifest *composite, struct err *err)
{
        _cleanup_buf_ struct buf all = BUF_INIT(0);
        bool wants_labels = value_count(choosing_labels(composite->object)) > 0;

        append_each(&all, &files->compositions);
        err_set(err, ERR_INVALID, "no Composition in the files is for %.*s of %.*s%s; there are %s",
                STR_ARG(gvk_of(composite->object).kind),
                STR_ARG(value_str(value_get(composite->object, STR("apiVersion")))),
                wants_labels ? " and has the labels of its compositionSelector" : "", buf_cstring(&all));
        return manifest_error(composite, STR("kind"), err);
}

static int both_fit(const struct manifest *first, const struct manifest *second, const struct manifest *composite,
                    struct err *err)
{
        bool have_one_name = str_equal(meta_name(first->object), meta_name(second->object));

        err_set(err, ERR_INVALID, "Compositions \"%.*s\" (%.*s) and \"%.*s\" (%.*s) are both for this kind: %s",
                STR_ARG(meta_name(first->object)), STR_ARG(first->source->name), STR_ARG(meta_name(second->object)),
                STR_ARG(second->source->name),
                have_one_name ? "leave one of them out" : "say which with spec.crossplane.compositionRef.name");
        return manifest_error(composite, STR(""), err);
}

static int choose_by_name(const struct render_files *files, const struct manifest *composite, struct str name,
                          struct str path, const struct manifest **ret, struct err *err)
{
        for (size_t i = 0; i < files->compositions.n; i++)
                if (str_equal(meta_name(files->compositions.p[i].object), name)) {
                        *ret = &files->compositions.p[i];
                        return 0;
                }
        return no_such(files, composite, name, path, err);
}

static int choose_by_type(const struct render_files *files, const struct manifest *composite,
                          const struct manifest **ret, struct err *err)
{
        const struct manifest *found = NULL;

        for (size_t i = 0; i < files->compositions.n; i++) {
                const struct manifest *m = &files->compositions.p[i];

                if (!fits(m, composite->object) || !has_labels(m->object, composite->object))
                        continue;
                if (found)
                        return both_fit(found, m, composite, err);
                found = m;
        }
        if (!found)
                return none_fits(files, composite, err);
        *ret = found;
        return 0;
}

/* The Composition whose file the composite's annotation names; NULL if there is none. */
static const struct manifest *choose_by_path(const struct render_files *files, const struct manifest *composite)
{
        _cleanup_arena_ struct arena a;

        arena_init(&a, "paths", 0);
        for (size_t i = 0; i < files->compositions.n; i++) {
                const struct manifest *m = &files->compositions.p[i];

                if (fits(m, composite->object) && render_paths_name_composition(&a, composite, m))
                        return m;
        }
        return NULL;
}

/* The Composition that the composite's definition names in `enforcedCompositionRef`, or in `defaultCompositionRef` for composites
 * that do not choose; "" if it names none. */
static struct str defined_name(const struct render_files *files, const struct value *composite, const char *field)
{
        const struct manifest *definition = render_files_definition(files, composite);

        return definition ? value_str(value_find(definition->object, "spec", field, "name")) : STR("");
}

static int choose_of_several(const struct render_files *files, const struct manifest *composite,
                             const struct manifest **ret, struct err *err)
{
        struct str enforced = defined_name(files, composite->object, "enforcedCompositionRef"), path;
        struct str name = enforced.n ? enforced : wanted_name(composite->object, &path);

        if (enforced.n)
                path = STR("kind");
        else if ((*ret = choose_by_path(files, composite)))
                return 0;
        if (name.n == 0 && !choosing_labels(composite->object)) {
                name = defined_name(files, composite->object, "defaultCompositionRef");
                path = STR("kind");
        }
        return name.n ? choose_by_name(files, composite, name, path, ret, err)
                      : choose_by_type(files, composite, ret, err);
}

static int choose(const struct render_files *files, const struct manifest *composite, const struct manifest **ret,
                  struct err *err)
{
        if (files->compositions.n != 1)
                return choose_of_several(files, composite, ret, err);
        /* A single Composition is used whatever the composite refers to: upstream overwrites the reference. */
        *ret = &files->compositions.p[0];
        return 0;
}

/* Whether the object may be a claim of the Composition's composites: the group is the same and the kinds are not similar. */
static bool may_be_claim(const struct value *composition, const struct value *object)
{
        struct gvk gvk = gvk_of(object), type = gvk_of(value_find(composition, "spec", "compositeTypeRef"));
        _cleanup_free_ char *kind = str_to_cstring(type.kind);
        const char *const kinds[] = { kind };

        return str_equal(gvk.group, type.group) && !settings_nearest(gvk.kind, kinds, 1);
}

static void add_way_out(const struct manifest *composition, const struct manifest *composite, struct err *err)
{
        struct str kind = gvk_of(composite->object).kind;
        struct str type = value_str(value_find(composition->object, "spec", "compositeTypeRef", "kind"));

        if (may_be_claim(composition->object, composite->object))
                render_hint(err, "; if it is a claim of %.*s, give its definition with --xrd", STR_ARG(type));
        else
                render_hint(err, "; change one of the two");
        render_hint(err, ", or give a Composition that is for the %.*s of %.*s", STR_ARG(kind),
                    STR_ARG(composite->source->name));
}

int render_files_choose(const struct render_files *files, const struct manifest *composite, const struct manifest **ret,
                        struct err *err)
{
        int r = render_claim_check(files, composite, err);

        if (r < 0 || (r = choose(files, composite, ret, err)) < 0)
                return r;
        r = render_files_check(*ret, composite->object, err);
        if (r < 0 && !fits(*ret, composite->object))
                add_way_out(*ret, composite, err);
        return r < 0 ? r : check_mode(*ret, err);
}
