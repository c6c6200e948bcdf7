#include "render-errors.h"

#include "buf.h"
#include "composite.h"
#include "functions.h"
#include "gotext.h"
#include "input.h"
#include "own-kinds.h"
#include "path.h"
#include "render-template.h"
#include "settings.h"

#include <stdio.h>

/* Appends text to the message of the error. */
static void append_to(struct err *err, struct str text)
{
        _cleanup_buf_ struct buf all = BUF_INIT(0);
        struct position position = err->position;
        _cleanup_free_ char *path = TAKE(err->path);
        int code = err->code;

        buf_appendf(&all, "%s%.*s", err_message(err), STR_ARG(text));
        err_set(err, code, "%s", buf_cstring(&all));
        err_set_position(err, position);
        if (path)
                err_set_path(err, str_from(path));
}

int render_hint(struct err *err, const char *format, ...)
{
        _cleanup_buf_ struct buf text = BUF_INIT(0);
        va_list arguments;

        va_start(arguments, format);
        buf_appendv(&text, format, arguments);
        va_end(arguments);
        append_to(err, buf_str(&text));
        return err->code;
}

int render_add_line(struct err *err, const char *format, ...)
{
        _cleanup_buf_ struct buf text = BUF_INIT(0);
        va_list arguments;

        buf_append_literal(&text, "\n  ");
        va_start(arguments, format);
        buf_appendv(&text, format, arguments);
        va_end(arguments);
        append_to(err, buf_str(&text));
        return err->code;
}

int render_part_of(struct err *err, const char *format, ...)
{
        _cleanup_buf_ struct buf text = BUF_INIT(0);
        va_list arguments;

        va_start(arguments, format);
        buf_appendv(&text, format, arguments);
        va_end(arguments);
        return err->position.line ? render_add_line(err, "%s", buf_cstring(&text))
                                  : err_wrap(err, "%s", buf_cstring(&text));
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

/* ` in step "x"` for a field below spec.pipeline of a Composition; "" for other fields. */
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

/* Whether upstream fails on this error. Upstream converts a number or boolean to a string where a string belongs, and fails on
 * every other wrong type. */
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

/* --- The cause first --- */

/* Parts of a message that give only the context of an error: each part ends with a colon, and begins and ends like one of these. */
static const struct {
        struct str start, end;
} outer[] = {
        { STR_INIT("cannot render composite resource"), STR_INIT("") },
        { STR_INIT("reconcile failed"), STR_INIT("") },
        { STR_INIT("cannot compose resources"), STR_INIT("") },
        { STR_INIT("cannot run Composition pipeline step \""), STR_INIT("\"") },
        { STR_INIT("cannot get Composition pipeline step \""), STR_INIT("") },
        { STR_INIT("pipeline step \""), STR_INIT("\" returned a fatal result") },
        { STR_INIT("cannot get existing composed resources"), STR_INIT("") },
        { STR_INIT("cannot render metadata for composed resource \""), STR_INIT("\"") },
        { STR_INIT("cannot get Function input"), STR_INIT("") },
        { STR_INIT("cannot get function input *"), STR_INIT("") },
        { STR_INIT("cannot unmarshal JSON from *"), STR_INIT("") },
        { STR_INIT("invalid Function input"), STR_INIT("") },
};

static bool is_outer(struct str part)
{
        for (size_t i = 0; i < ARRAY_SIZE(outer); i++)
                if (str_starts_with(part, outer[i].start) && str_ends_with(part, outer[i].end))
                        return true;
        return false;
}

/* The cause in `outer: outer: cause`: the message without its outer parts. */
static struct str cause_of(struct str message)
{
        ptrdiff_t end;

        while ((end = str_find(message, STR(": "))) > 0 && is_outer(str_first(message, (size_t)end)))
                message = str_skip(message, (size_t)end + 2);
        /* In the message of a timeout the useful part is at the end: which function of which step. */
        end = str_find(message, STR(": function \""));
        if (end >= 0 && str_find(message, STR(" did not answer within ")) > end)
                message = str_skip(message, (size_t)end + 2);
        return message;
}

/* --- Steps --- */

/* The step that the error is about; NULL if it is not about a step. */
static const struct step_record *failed_step(struct arena *a, const struct render_output *out, const struct err *err)
{
        const struct step_record *last = out->n_records ? &out->records[out->n_records - 1] : NULL;

        if (!last ||
            str_find(str_from(err_message(err)), arena_printf(a, "pipeline step %s", go_quote(a, last->step).p)) < 0)
                return NULL;
        return last;
}

/* The step's index in the pipeline; -1 for a step that is made from other fields of the Composition. */
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

/* The path of the wrong field in a function's input, from its message: it follows directly after the words that say that the input
 * is wrong. Any other text that looks like a path is part of a sentence. */
static struct str path_in_input(struct arena *a, const struct value *input, struct str message)
{
        static const struct str before[] = { STR_INIT("invalid Function input: "),
                                             STR_INIT("into *v1beta1.Resources: ") };
        struct path path;

        for (size_t i = 0; i < ARRAY_SIZE(before); i++) {
                ptrdiff_t at = str_find(message, before[i]), end;
                struct str text;

                if (at < 0)
                        continue;
                text = str_skip(message, (size_t)at + before[i].n);
                end = str_find(text, STR(": "));
                text = end < 0 ? STR("") : str_first(text, (size_t)end);
                if (text.n && path_parse(a, text, &path, NULL) >= 0 && path.n > 0 && !path.segments[0].is_index &&
                    value_get(input, path.segments[0].key))
                        return text;
        }
        return STR("");
}

static bool is_unknown_function(struct str message)
{
        return str_find(message, STR("unknown function \"")) >= 0;
}

static struct str place_in_step(struct arena *a, const struct value *step, size_t i, struct str message)
{
        struct str below;

        if (is_unknown_function(message))
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

/* The most similar name of a function in the files or of a built-in function; NULL if none is similar. */
static const char *nearest_function(struct arena *a, const struct render_files *files, struct str name)
{
        size_t n = 0, n_files = files->functions.n;
        const char **names = ARENA_NEW_ARRAY(a, const char *, n_files + builtin_n_functions);

        for (size_t i = 0; i < n_files; i++)
                names[n++] = arena_cstring(a, meta_name(files->functions.p[i].object));
        for (size_t i = 0; i < builtin_n_functions; i++)
                names[n++] = builtin_functions[i]->name;
        return settings_nearest(name, names, n);
}

/* --- Not of a step --- */

#define ANNOTATION_RESOURCE STR("crossplane.io/composition-resource-name")

/* The observed resource that the error is about; NULL if it is about none. */
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
                            struct str message, struct err *err)
{
        const struct manifest *observed = wrong_observed(a, &files->observed, message);

        return observed ? manifest_error(observed, STR("metadata"), err) : manifest_error(composite, STR(""), err);
}

/* Cuts off the path of the input field with which a function's message begins: the place of the error has it already. */
static bool cut_path(struct arena *a, struct str path, struct err *err)
{
        struct str message = arena_copy(a, str_from(err_message(err)));
        ptrdiff_t end = str_find(message, STR(": "));

        if (end <= 0 || !str_ends_with(path, str_first(message, (size_t)end)))
                return false;
        err_set(err, err->code, "%.*s", STR_ARG(str_skip(message, (size_t)end + 2)));
        return true;
}

static int locate_step(struct arena *a, const struct render_files *files, const struct manifest *composition,
                       const struct step_record *step, struct str message, bool is_fatal, struct err *err)
{
        const char *near = is_unknown_function(message) ? nearest_function(a, files, step->function) : NULL;
        ptrdiff_t i = number_of(composition->object, step->step);
        struct str path;

        if (i >= 0 && render_template_error(a, files, composition, step, (size_t)i, message, err))
                return err->code;
        path = place_of(a, composition->object, step->step, message);
        if (near)
                render_hint(err, "; did you mean \"%s\"?", near);
        if (is_fatal && !cut_path(a, path, err))
                err_wrap(err, "step \"%.*s\" (%.*s)", STR_ARG(step->step), STR_ARG(step->function));
        return manifest_error(composition, path, err);
}

int render_locate(struct arena *a, const struct render_files *files, const struct manifest *composite,
                  const struct manifest *composition, const struct render_output *out, struct err *err)
{
        const struct step_record *step = failed_step(a, out, err);
        struct str message = arena_copy(a, str_from(err_message(err))), cause = cause_of(message);

        err_set(err, err->code, "%.*s", STR_ARG(cause));
        if (step)
                locate_step(a, files, composition, step, message, out->is_fatal, err);
        else
                locate_elsewhere(a, files, composite, message, err);
        if (cause.n < message.n)
                render_add_line(err, "%.*s", STR_ARG(message));
        if (step && is_unknown_function(message))
                render_hint_ways(err, step->function);
        return err->code;
}

/* --- Printing --- */

static bool read_number(struct str digits, uint32_t *ret)
{
        uint64_t n = 0;

        for (size_t i = 0; i < digits.n; i++) {
                if (digits.p[i] < '0' || digits.p[i] > '9' || n > UINT32_MAX)
                        return false;
                n = 10 * n + (uint64_t)(digits.p[i] - '0');
        }
        *ret = (uint32_t)n;
        return digits.n > 0 && n <= UINT32_MAX;
}

/* Splits `FILE:LINE:COLUMN: TEXT`. */
static bool split_place(struct str line, struct str *ret_file, struct position *ret, struct str *ret_text)
{
        for (size_t i = 0; i + 1 < line.n; i++) {
                struct str rest = str_skip(line, i + 1), row, column;

                if (line.p[i] != ':' || !str_split(&rest, ':', &row) || !str_split(&rest, ':', &column) ||
                    !read_number(row, &ret->line) || !read_number(column, &ret->column) ||
                    !str_cut_prefix(&rest, STR(" ")))
                        continue;
                *ret_file = str_first(line, i);
                *ret_text = rest;
                return true;
        }
        return false;
}

static const struct source_file *find_source(const struct manifests *list, struct str name)
{
        for (size_t i = 0; i < list->n; i++)
                if (list->p[i].source && str_equal(list->p[i].source->name, name))
                        return list->p[i].source;
        return NULL;
}

/* The text of a file that an error names. Uses the text that was loaded, because standard input cannot be read again; otherwise
 * reads the file. */
static bool find_text(const struct render_files *files, struct str name, struct buf *room, struct str *ret)
{
        const struct manifests *const lists[] = { &files->composites, &files->compositions, &files->functions,
                                                  &files->revisions,  &files->definitions,  &files->observed,
                                                  &files->required,   &files->packages };
        _cleanup_free_ char *path = str_to_cstring(name);

        for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
                const struct source_file *source = find_source(lists[i], name);

                if (!source)
                        continue;
                *ret = source->text;
                return true;
        }
        if (strcmp(path, "-") == 0 || input_read(path, room, NULL) < 0)
                return false;
        *ret = buf_str(room);
        return true;
}

/* Cuts off the line number in a message of the YAML reader: it may differ from the line of the place. */
static struct str without_line(struct str text)
{
        struct str rest = text, line;
        uint32_t number;

        str_cut_prefix(&rest, STR("error converting YAML to JSON: "));
        if (str_cut_prefix(&rest, STR("yaml: line ")) && str_split(&rest, ':', &line) && read_number(line, &number) &&
            str_cut_prefix(&rest, STR(" ")))
                return rest;
        return text;
}

static bool is_blank_line(struct str text, uint32_t number)
{
        struct str line = STR("");

        while (number-- > 0 && str_split(&text, '\n', &line))
                ;
        for (size_t i = 0; i < line.n; i++)
                if (line.p[i] != ' ' && line.p[i] != '\t' && line.p[i] != '\r')
                        return false;
        return true;
}

static void append_error_line(struct buf *b, const struct render_files *files, struct str line)
{
        _cleanup_buf_ struct buf room = BUF_INIT(0);
        _cleanup_err_ struct err one = { 0 };
        struct position position = { 0 };
        struct source_file source;
        struct str text;

        if (!split_place(line, &source.name, &position, &text) || !find_text(files, source.name, &room, &source.text)) {
                buf_appendf(b, "%.*s\n", STR_ARG(line));
                return;
        }
        text = without_line(text);
        /* After the end of a file there is no line to show. */
        if (is_blank_line(source.text, position.line)) {
                buf_appendf(b, "%.*s:%u:%u: %.*s\n", STR_ARG(source.name), position.line, position.column,
                            STR_ARG(text));
                return;
        }
        err_set(&one, ERR_INVALID, "%.*s", STR_ARG(text));
        err_set_position(&one, position);
        source_append_error(b, &source, &one);
}

void render_print_error(const struct command *c, const struct render_files *files, const struct err *err)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct str rest = str_from(err_message(err));

        buf_appendf(&b, "weft %s: ", c->name);
        while (rest.n > 0) {
                ptrdiff_t end = str_find_char(rest, '\n');
                struct str line = end < 0 ? rest : str_first(rest, (size_t)end);

                rest = end < 0 ? STR("") : str_skip(rest, (size_t)end + 1);
                if (str_cut_prefix(&line, STR("  ")))
                        buf_append_literal(&b, "  ");
                append_error_line(&b, files, line);
        }
        fputs(buf_cstring(&b), stderr);
}

/* --- Renders that compose nothing --- */

static void append_steps(struct buf *b, const struct render_output *out)
{
        for (size_t i = 0; i < out->n_records; i++)
                buf_appendf(b, "%s\"%.*s\" (%.*s)", i ? ", " : "", STR_ARG(out->records[i].step),
                            STR_ARG(out->records[i].function));
}

/* Warns if the composite is paused or being deleted, which is why no step was run. */
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
