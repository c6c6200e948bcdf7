#include "render-errors.h"

#include "buf.h"
#include "composite.h"
#include "functions.h"
#include "gotext.h"
#include "own-kinds.h"
#include "path.h"
#include "settings.h"

#include <stdio.h>

int render_hint(struct err *err, const char *format, ...)
{
        _cleanup_buf_ struct buf text = BUF_INIT(0);
        struct position position = err->position;
        _cleanup_free_ char *path = TAKE(err->path);
        va_list arguments;
        int code = err->code;

        buf_append_str(&text, str_from(err_message(err)));
        va_start(arguments, format);
        buf_appendv(&text, format, arguments);
        va_end(arguments);
        err_set(err, code, "%s", buf_cstring(&text));
        err_set_position(err, position);
        if (path)
                err_set_path(err, str_from(path));
        return code;
}

/* --- Fields --- */

/* Splits `a.b[0].c` into `a.b[0]` and `c`; false when it does not end in a name. */
static bool split_last(struct arena *a, struct str field, struct str *ret_parent, struct str *ret_name)
{
        _cleanup_buf_ struct buf parent = BUF_INIT(0);
        struct path path;

        if (path_parse(a, field, &path, NULL) < 0 || path.n == 0 || path.segments[path.n - 1].is_index)
                return false;
        path_append(&parent, &(struct path) { path.segments, path.n - 1 });
        *ret_parent = buf_to_arena(&parent, a);
        *ret_name = path.segments[path.n - 1].key;
        return true;
}

static const char *suggest(struct arena *a, struct str field, render_fields_fn *fields, void *arg)
{
        struct str parent, name;
        const struct str *known;
        const char **names;
        size_t n;

        if (!fields || !split_last(a, field, &parent, &name) || (n = fields(arg, a, parent, &known)) == 0)
                return NULL;
        names = ARENA_NEW_ARRAY(a, const char *, n);
        for (size_t i = 0; i < n; i++)
                names[i] = arena_cstring(a, known[i]);
        return settings_nearest(name, names, n);
}

/* ` in step "x"` for what is below spec.pipeline of a Composition. */
static struct str step_of_field(struct arena *a, const struct value *object, struct str field)
{
        struct path path;
        const struct value *step;
        struct str name;

        if (!str_starts_with(field, STR("spec.pipeline[")) || path_parse(a, field, &path, NULL) < 0 || path.n < 3)
                return STR("");
        step = value_item(value_find(object, "spec", "pipeline"), path.segments[2].index);
        name = value_str(value_get(step, STR("step")) ?: value_get(step, STR("name")));
        return name.n ? arena_printf(a, " in step \"%.*s\"", STR_ARG(name)) : STR("");
}

static void locate_field_error(struct arena *a, const struct manifest *m, const struct field_error *e,
                               render_fields_fn *fields, void *arg, struct err *err)
{
        const char *near = NULL;
        struct str step = step_of_field(a, m->object, e->field);

        err_set(err, ERR_INVALID, "%.*s%.*s", STR_ARG(e->text), STR_ARG(step));
        if (str_equal(e->text, OWN_KIND_UNKNOWN_FIELD))
                near = suggest(a, e->field, fields, arg);
        if (near)
                render_hint(err, "; did you mean \"%s\"?", near);
        manifest_error(m, e->field, err);
}

int render_field_errors(struct arena *a, const struct manifest *m, const struct field_errors *errors,
                        render_fields_fn *fields, void *arg, struct err *err)
{
        _cleanup_buf_ struct buf all = BUF_INIT(0);

        for (size_t i = 0; i < errors->n; i++) {
                _cleanup_err_ struct err one = { 0 };

                locate_field_error(a, m, &errors->p[i], fields, arg, &one);
                buf_appendf(&all, "%s%s", i ? "\n  " : "", err_message(&one));
        }
        return err_set(err, ERR_INVALID, "%s", buf_cstring(&all));
}

static size_t own_fields(void *arg, struct arena *a, struct str parent, const struct str **ret)
{
        return own_kind_fields(a, gvk_of(arg), parent, ret);
}

void render_warn(const struct command *c, const struct err *err)
{
        fprintf(stderr, "weft %s: warning: %s\n", c->name, err_message(err));
}

/* Upstream makes strings of numbers and booleans where a string belongs, and reads no further at anything else. */
static bool is_of_another_shape(const struct field_error *e)
{
        return e->type == FIELD_TYPE_INVALID &&
               (str_find(e->text, STR(" must be of type string: \"")) < 0 ||
                str_find(e->text, STR(": \"object\"")) >= 0 || str_find(e->text, STR(": \"array\"")) >= 0);
}

int render_check_composition(struct arena *a, const struct command *c, const struct manifest *composition,
                             struct err *err)
{
        struct field_errors errors, types;

        field_errors_init(&errors, a);
        field_errors_init(&types, a);
        own_kind_check(a, composition->object, NULL, &errors);
        for (size_t i = 0; i < errors.n; i++) {
                _cleanup_err_ struct err one = { 0 };

                if (is_of_another_shape(&errors.p[i])) {
                        field_error_add_text(&types, FIELD_TYPE_INVALID, errors.p[i].field, errors.p[i].text);
                        continue;
                }
                locate_field_error(a, composition, &errors.p[i], own_fields, (void *)composition->object, &one);
                render_warn(c, &one);
        }
        return types.n ? render_field_errors(a, composition, &types, NULL, NULL, err) : 0;
}

/* --- Steps --- */

/* The step that the error is about; NULL when it is about none. */
static const struct step_record *failed_step(struct arena *a, const struct render_output *out, const struct err *err)
{
        const struct step_record *last = out->n_records ? &out->records[out->n_records - 1] : NULL;

        if (!last ||
            str_find(str_from(err_message(err)), arena_printf(a, "pipeline step %s", go_quote(a, last->step).p)) < 0)
                return NULL;
        return last;
}

/* Its number in the pipeline; -1 for a step that stands for other fields of the Composition. */
static ptrdiff_t number_of(const struct value *composition, struct str step)
{
        ptrdiff_t i = 0;

        VALUE_FOREACH_ITEM (item, value_find(composition, "spec", "pipeline")) {
                if (str_equal(value_str(value_get(item, STR("step")) ?: value_get(item, STR("name"))), step))
                        return i;
                i++;
        }
        return -1;
}

static bool is_in_input(struct arena *a, const struct value *input, struct str part)
{
        struct path path;

        return part.n > 0 && path_parse(a, part, &path, NULL) >= 0 && path.n > 0 && !path.segments[0].is_index &&
               value_get(input, path.segments[0].key);
}

/* Functions name what is wrong with their input by its path: the last part of the text that begins as something in the input does. */
static struct str path_in_input(struct arena *a, const struct value *input, struct str message)
{
        struct str found = STR("");

        while (message.n > 0) {
                ptrdiff_t end = str_find(message, STR(": "));
                struct str part = end < 0 ? message : str_first(message, (size_t)end);

                if (is_in_input(a, input, part))
                        found = part;
                message = end < 0 ? STR("") : str_skip(message, (size_t)end + 2);
        }
        return found;
}

static struct str place_in_step(struct arena *a, const struct value *step, size_t i, struct str message)
{
        struct str below;

        if (str_find(message, STR("unknown function \"")) >= 0)
                return arena_printf(a, "spec.pipeline[%zu].functionRef.name", i);
        if (str_find(message, STR(" credential \"")) >= 0)
                return arena_printf(a, "spec.pipeline[%zu].credentials", i);
        below = path_in_input(a, value_get(step, STR("input")), message);
        return below.n ? arena_printf(a, "spec.pipeline[%zu].input.%.*s", i, STR_ARG(below))
                       : arena_printf(a, "spec.pipeline[%zu]", i);
}

static struct str place_of(struct arena *a, const struct value *composition, struct str step, struct str message)
{
        const struct value *spec = value_get(composition, STR("spec"));
        ptrdiff_t i = number_of(composition, step);
        struct str below;

        if (i >= 0)
                return place_in_step(a, value_item(value_get(spec, STR("pipeline")), (size_t)i), (size_t)i, message);
        below = path_in_input(a, spec, message);
        return below.n ? arena_printf(a, "spec.%.*s", STR_ARG(below)) : STR("spec");
}

/* A name that a function of the files or of the program has and that is nearly this one. */
static const char *nearest_function(struct arena *a, const struct render_files *files, struct str name)
{
        size_t n = 0, n_files = files->functions.n;
        const char **names = ARENA_NEW_ARRAY(a, const char *, n_files + builtin_n_functions);

        for (size_t i = 0; i < n_files; i++)
                names[n++] = arena_cstring(a, meta_name(files->functions.p[i].object));
        for (size_t i = 0; i < builtin_n_functions && n_files == 0; i++)
                names[n++] = builtin_functions[i]->name;
        return settings_nearest(name, names, n);
}

/* --- Not of a step --- */

#define ANNOTATION_RESOURCE STR("crossplane.io/composition-resource-name")

/* The observed resource that the error is about; NULL when it is about none. */
static const struct manifest *wrong_observed(struct arena *a, const struct manifests *observed, struct str message)
{
        bool lacks_name = str_find(message, STR("encountered composed resource without required")) >= 0;

        for (size_t i = 0; i < observed->n; i++) {
                const struct value *o = observed->p[i].object;

                if (lacks_name
                            ? meta_annotation(o, ANNOTATION_RESOURCE).n == 0
                            : str_find(message, arena_printf(a, "observed resource %.*s ", STR_ARG(meta_name(o)))) >= 0)
                        return &observed->p[i];
        }
        return NULL;
}

static int locate_elsewhere(struct arena *a, const struct render_files *files, const struct manifest *composite,
                            struct err *err)
{
        struct str message = str_from(err_message(err)), path = STR("");
        const struct manifest *observed = wrong_observed(a, &files->observed, message);

        if (observed)
                return manifest_error(observed, STR("metadata"), err);
        if (str_find(message, STR("cannot find top-level composite resource name label")) >= 0) {
                render_hint(err, "; give it a name");
                path = STR("metadata");
        }
        return manifest_error(composite, path, err);
}

int render_locate(struct arena *a, const struct render_files *files, const struct manifest *composite,
                  const struct manifest *composition, const struct render_output *out, struct err *err)
{
        const struct step_record *step = failed_step(a, out, err);
        const char *near = NULL;

        if (!step)
                return locate_elsewhere(a, files, composite, err);
        if (str_find(str_from(err_message(err)), STR("unknown function \"")) >= 0)
                near = nearest_function(a, files, step->function);
        if (near)
                render_hint(err, ". Did you mean \"%s\"?", near);
        return manifest_error(composition, place_of(a, composition->object, step->step, str_from(err_message(err))),
                              err);
}

/* --- Nothing --- */

static void append_steps(struct buf *b, const struct render_output *out)
{
        for (size_t i = 0; i < out->n_records; i++)
                buf_appendf(b, "%s\"%.*s\" (%.*s)", i ? ", " : "", STR_ARG(out->records[i].step),
                            STR_ARG(out->records[i].function));
}

/* Of one that a reconcile leaves alone. */
static bool warn_of_rest(const struct command *c, const struct manifest *composite, const struct render_output *out)
{
        bool is_paused = composite_is_paused(composite->object), is_deleted = meta_is_deleting(composite->object);
        _cleanup_err_ struct err err = { 0 };

        if (out->n_records > 0 || (!is_paused && !is_deleted))
                return false;
        err_set(&err, ERR_INVALID, "it is %s, so that no step was run",
                is_paused ? "paused by the annotation crossplane.io/paused" : "being deleted");
        manifest_error(composite, is_paused ? STR("metadata.annotations") : STR("metadata.deletionTimestamp"), &err);
        render_warn(c, &err);
        return true;
}

void render_warn_of_nothing(const struct command *c, const struct manifest *composite,
                            const struct manifest *composition, const struct render_output *out)
{
        const struct value *pipeline = value_find(composition->object, "spec", "pipeline");
        struct str kind = gvk_of(composite->object).kind, name = meta_name(composite->object);
        _cleanup_buf_ struct buf steps = BUF_INIT(0);
        _cleanup_err_ struct err err = { 0 };

        if (value_count(out->composed) > 0 || value_count(out->deleted) > 0 || warn_of_rest(c, composite, out))
                return;
        append_steps(&steps, out);
        if (out->n_records == 0)
                err_set(&err, ERR_INVALID, "no step was run for %.*s \"%.*s\", so that it is composed of nothing",
                        STR_ARG(kind), STR_ARG(name));
        else
                err_set(&err, ERR_INVALID,
                        "none of the steps %s composed a resource for %.*s \"%.*s\": --steps shows what each of them "
                        "did",
                        buf_cstring(&steps), STR_ARG(kind), STR_ARG(name));
        manifest_error(composition, pipeline ? STR("spec.pipeline") : STR("spec"), &err);
        render_warn(c, &err);
}
