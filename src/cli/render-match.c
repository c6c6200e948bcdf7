/* Which Composition a composite resource is rendered with. */
#include "render-files.h"

#include "buf.h"
#include "composition.h"
#include "render-errors.h"

/* --- Whether one fits --- */

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

static bool has_labels(const struct value *composition, const struct value *composite)
{
        VALUE_FOREACH_MEMBER (m, wanted_labels(composite))
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

/* --- Which of several --- */

static struct str wanted_name(const struct value *composite, struct str *ret_path)
{
        struct str name = value_str(value_find(composite, "spec", "crossplane", "compositionRef", "name"));

        *ret_path = STR("spec.crossplane.compositionRef.name");
        if (name.n == 0) {
                name = value_str(value_find(composite, "spec", "compositionRef", "name"));
                *ret_path = STR("spec.compositionRef.name");
        }
        return name;
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
        bool wants_labels = value_count(wanted_labels(composite->object)) > 0;

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

static int choose(const struct render_files *files, const struct manifest *composite, const struct manifest **ret,
                  struct err *err)
{
        struct str path, name = wanted_name(composite->object, &path);

        /* Where there is no choice, what the composite wishes for does not matter: upstream overwrites it. */
        if (files->compositions.n == 1) {
                *ret = &files->compositions.p[0];
                return 0;
        }
        return name.n ? choose_by_name(files, composite, name, path, ret, err)
                      : choose_by_type(files, composite, ret, err);
}

int render_files_choose(const struct render_files *files, const struct manifest *composite, const struct manifest **ret,
                        struct err *err)
{
        int r = choose(files, composite, ret, err);

        if (r < 0)
                return r;
        r = render_files_check(*ret, composite->object, err);
        if (r < 0 && !fits(*ret, composite->object))
                render_hint(err, "; change one of the two, or give a Composition that is for the %.*s of %.*s",
                            STR_ARG(gvk_of(composite->object).kind), STR_ARG(composite->source->name));
        return r < 0 ? r : check_mode(*ret, err);
}
