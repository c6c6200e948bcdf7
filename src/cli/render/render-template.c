#include "render-template.h"

#include "buf.h"
#include "functions.h"
#include "path.h"
#include "render-errors.h"
#include "source.h"

/* The object whose text has the mistake, and the path of the text in it. */
struct mistake_place {
        const struct manifest *manifest;
        struct str path;
};

static bool fits(const struct manifest *m, const struct value *reference)
{
        struct gvk gvk = gvk_of(m->object);
        struct str version = value_str(value_get(reference, STR("apiVersion")));

        return str_equal(gvk.kind, value_str(value_get(reference, STR("kind")))) &&
               str_equal(value_str(value_get(m->object, STR("apiVersion"))), version) &&
               str_equal(meta_name(m->object), value_str(value_get(reference, STR("name"))));
}

/* The object that inputRef names, if it is in one of the files. */
static const struct manifest *find_input(const struct render_files *files, const struct value *reference)
{
        const struct manifests *const lists[] = { &files->required, &files->observed };

        for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
                for (size_t j = 0; j < lists[i]->n; j++)
                        if (fits(&lists[i]->p[j], reference))
                                return &lists[i]->p[j];
        return NULL;
}

static struct mistake_place place_of(struct arena *a, const struct render_files *files,
                                     const struct manifest *composition, size_t number, struct str path)
{
        const struct value *step = value_item(value_find(composition->object, "spec", "pipeline"), number);
        const struct value *reference = value_get(step, STR("inputRef"));
        const struct manifest *input = reference ? find_input(files, reference) : NULL;

        if (input)
                return (struct mistake_place) { input, path };
        if (reference)
                return (struct mistake_place) { composition, arena_printf(a, "spec.pipeline[%zu].inputRef", number) };
        return (struct mistake_place) { composition,
                                        arena_printf(a, "spec.pipeline[%zu].input.%.*s", number, STR_ARG(path)) };
}

/* Line and column of the mistake in its text, and the line without its end. */
static struct position position_in(const struct fn_mistake *m, struct str *ret_line)
{
        size_t offset = m->offset, start;
        struct position p;
        struct str rest;

        while (offset < m->text.n && (m->text.p[offset] == ' ' || m->text.p[offset] == '\t'))
                offset++;
        p = source_position(m->text, offset);
        for (start = p.offset; start > 0 && m->text.p[start - 1] != '\n'; start--)
                ;
        rest = str_skip(m->text, start);
        str_split(&rest, '\n', ret_line);
        return p;
}

/* A mistake in a text that is in no file: the place is that of the member that names the text. */
static void show_text(const struct mistake_place *place, const struct fn_mistake *m, struct err *err)
{
        struct str line;
        struct position p = position_in(m, &line);

        manifest_error(place->manifest, place->path, err);
        render_add_line(err, "line %u, column %u of that template:", p.line, p.column);
        if (str_trim(line).n == 0)
                return;
        render_add_line(err, "  %.*s", STR_ARG(line));
        render_add_line(err, "  %*s^", (int)MIN(p.column - 1, 1000u), "");
}

/* The name of a file of templates, as others on the command line: beside the Composition. */
static struct str file_name(struct arena *a, const struct manifest *composition, struct str file)
{
        struct str name = composition->source->name;
        ptrdiff_t slash = str_find_last_char(name, '/');

        return ARENA_CONCAT(a, str_first(name, (size_t)(slash + 1)), file);
}

static void show_file(struct arena *a, const struct mistake_place *place, const struct fn_mistake *m, struct err *err)
{
        struct source_file source = { .name = file_name(a, place->manifest, m->file), .text = m->text };
        struct manifest file = *place->manifest;
        struct str line;

        file.source = &source;
        manifest_error_at(&file, place->path, position_in(m, &line), err);
}

/* The place of a mistake at the end of the text, where there is nothing to point at: the line after the text. */
static bool find_end(const struct mistake_place *place, const struct path *path, const struct fn_mistake *m,
                     struct position *ret)
{
        struct str text = m->text;
        struct position last;
        size_t n = text.n;

        while (n > 0 && (text.p[n - 1] == '\n' || text.p[n - 1] == ' '))
                n--;
        if (m->offset < n || n == 0 ||
            source_locate_in_text(place->manifest->source, place->manifest->document, path, text, n - 1, &last, NULL) <
                    0)
                return false;
        *ret = (struct position) { .line = last.line + 1, .column = 1 };
        return true;
}

static bool find_in_manifest(struct arena *a, const struct mistake_place *place, const struct fn_mistake *m,
                             struct position *ret)
{
        const struct manifest *in = place->manifest;
        struct path path;

        if (path_parse(a, place->path, &path, NULL) < 0)
                return false;
        return source_locate_in_text(in->source, in->document, &path, m->text, m->offset, ret, NULL) >= 0 ||
               find_end(place, &path, m, ret);
}

static bool find_mistake(struct arena *a, const struct value *step, const struct step_record *record,
                         struct str message, struct fn_mistake *ret)
{
        for (size_t i = 0; i < record->n_results; i++)
                if (record->results[i].mistake) {
                        *ret = *record->results[i].mistake;
                        return true;
                }
        return functions_find_mistake(a, value_get(step, STR("input")), message, ret);
}

bool render_template_error(struct arena *a, const struct render_files *files, const struct manifest *composition,
                           const struct step_record *step, size_t number, struct str message, struct err *err)
{
        const struct value *of = value_item(value_find(composition->object, "spec", "pipeline"), number);
        struct position position;
        struct fn_mistake m;
        struct mistake_place place;

        if (!composition->source || !find_mistake(a, of, step, message, &m))
                return false;
        place = place_of(a, files, composition, number, m.path);
        if (m.file.n)
                show_file(a, &place, &m, err);
        else if (find_in_manifest(a, &place, &m, &position))
                manifest_error_at(place.manifest, place.path, position, err);
        else
                show_text(&place, &m, err);
        if (m.value.n)
                render_add_line(err, "%s: %.*s", m.is_call ? "the arguments were" : "the value was", STR_ARG(m.value));
        return true;
}
