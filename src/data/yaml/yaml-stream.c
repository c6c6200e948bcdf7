/* Streams as apimachinery's util/yaml reads them.
 *
 * A stream whose first character after white space is `{` is JSON: values one after the other, until one cannot be read. If at
 * most one value came before, the rest is read as YAML; so a manifest may begin with JSON and continue in YAML. Every other
 * stream is YAML, cut at lines that start with `---`. */
#include "yaml.h"

#include "json.h"
#include "limits.h"
#include "source.h"
#include "yaml-compose.h"

#define SEPARATOR        STR("---")
#define JSON_GUESS_BYTES 1024 /* upstream looks for the brace in so many bytes */
#define YAML_GUESS_BYTES 4    /* upstream tries YAML after JSON only if so many bytes are left */
#define JSON_SURE_VALUES 2    /* after so many values the stream can no longer become YAML */

void yaml_stream_init(struct yaml_stream *s, struct str text)
{
        *s = (struct yaml_stream) { .rest = text, .line = 1 };
}

/* The first line of rest with its line break. */
static struct str first_line(struct str rest)
{
        const char *end = rest.n ? memchr(rest.p, '\n', rest.n) : NULL;

        return end ? str_first(rest, (size_t)(end - rest.p) + 1) : rest;
}

static void skip_line(struct yaml_stream *s, struct str line)
{
        s->rest = str_skip(s->rest, line.n);
        s->offset += line.n;
        s->line++;
}

static int check_separator(const struct yaml_stream *s, struct str line, struct err *err)
{
        struct str behind = str_trim(str_skip(line, SEPARATOR.n));
        int r;

        if (behind.n == 0 || behind.p[0] == '#')
                return 0;
        r = err_set(err, ERR_INVALID, "invalid Yaml document separator: %.*s", STR_ARG(behind));
        if (err)
                err_set_position(err, (struct position) { .line = s->line, .column = 4, .offset = s->offset + 3 });
        return r;
}

int yaml_stream_next(struct yaml_stream *s, struct yaml_document *ret, struct err *err)
{
        struct yaml_document d = { .text = str_first(s->rest, 0), .line = s->line, .offset = s->offset };

        while (s->rest.n) {
                struct str line = first_line(s->rest);

                if (str_starts_with(line, SEPARATOR)) {
                        int r = check_separator(s, line, err);

                        if (r < 0)
                                return r;
                        /* A separator with no text before it belongs to the document that it starts. */
                        if (d.text.n) {
                                skip_line(s, line);
                                break;
                        }
                }
                d.text.n += line.n;
                skip_line(s, line);
        }
        s->has_ended = d.text.n == 0;
        if (s->has_ended)
                return 0;
        *ret = d;
        return 1;
}

/* Reading all documents */

struct stream_reader {
        struct arena *arena;
        struct str text;
        const struct yaml_read_options *options;
        struct array_builder documents;
        size_t n_read; /* documents, null ones included */
};

static void add_document(struct stream_reader *r, const struct value *v)
{
        r->n_read++;
        if (!value_is_null(v))
                array_builder_add(&r->documents, *v);
}

/* Changes a position in a document to the position in the stream; not beyond the end of the stream, because a newline may have
 * been added there. */
static void shift_position(struct stream_reader *r, struct err *err, uint32_t line, size_t offset)
{
        if (!err || err->position.line == 0)
                return;
        err->position.line += line - 1;
        err->position.offset += offset;
        if (err->position.offset > r->text.n)
                err->position = source_position(r->text, r->text.n);
}

static int read_yaml_document(struct stream_reader *r, const struct yaml_document *d, struct err *err)
{
        _cleanup_arena_ struct arena scratch;
        const struct value *v;
        int code;

        arena_init(&scratch, r->arena->name, 0);
        code = yaml_parse(r->arena, yaml_with_newline(&scratch, d->text), r->options, &v, err);
        if (code < 0) {
                shift_position(r, err, d->line, d->offset);
                err_wrap(err, "error converting YAML to JSON");
                return code;
        }
        add_document(r, v);
        return 0;
}

static int read_yaml(struct stream_reader *r, struct str text, size_t offset, uint32_t line, struct err *err)
{
        struct yaml_document d;
        struct yaml_stream s;
        int code;

        yaml_stream_init(&s, text);
        s.offset = offset;
        s.line = line;
        while ((code = yaml_stream_next(&s, &d, err)) > 0) {
                code = read_yaml_document(r, &d, err);
                if (code < 0)
                        return code;
        }
        return code;
}

bool yaml_stream_is_json(struct str text)
{
        struct str start = str_first(text, JSON_GUESS_BYTES);

        while (start.n && str_find_char(STR(" \t\n\v\f\r"), start.p[0]) >= 0)
                start = str_skip(start, 1);
        return str_starts_with(start, STR("{"));
}

static uint32_t line_at(struct str text, size_t offset)
{
        uint32_t line = 1;

        for (size_t i = 0; i < offset; i++)
                line += text.p[i] == '\n';
        return line;
}

/* The error for JSON that could not be read, with upstream's wording, which depends on whether YAML was still possible. */
static int fail_json(struct stream_reader *r, struct err *json_error, bool has_offset, struct err *err)
{
        size_t offset = json_error->position.offset + 1;

        if (offset > r->text.n) {
                struct position p = json_error->position;

                err_set(json_error, ERR_INVALID, "unexpected EOF");
                err_set_position(json_error, p);
        } else if (has_offset) {
                err_wrap(json_error, "json: offset %zu", offset);
        }
        return err_move(err, json_error);
}

struct str yaml_stream_rest(struct str rest)
{
        while (rest.n && str_find_char(STR(" \t\v\f\r\n"), rest.p[0]) >= 0) {
                bool is_newline = rest.p[0] == '\n';

                rest = str_skip(rest, 1);
                if (is_newline)
                        break;
        }
        return rest;
}

/* The rest of a stream that began as JSON, read as YAML. If the YAML fails at its first document, or if hardly any text is left,
 * the JSON error is reported instead. */
static int read_rest(struct stream_reader *r, size_t offset, struct err *json_error, struct err *err)
{
        struct str rest = str_skip(r->text, offset);
        bool is_short = rest.n < YAML_GUESS_BYTES;
        size_t before = r->n_read;
        int code;

        rest = yaml_stream_rest(rest);
        offset = r->text.n - rest.n;
        if (is_short)
                return fail_json(r, json_error, true, err);
        code = read_yaml(r, rest, offset, line_at(r->text, offset), err);
        if (code < 0 && r->n_read == before)
                return fail_json(r, json_error, true, err);
        return code;
}

static int read_json(struct stream_reader *r, struct err *err)
{
        bool is_strict = r->options && r->options->is_strict;
        const struct json_read_options options = {
                .duplicates = is_strict ? JSON_DUPLICATES_REFUSE : JSON_DUPLICATES_LAST_WINS,
                .is_kubernetes = !is_strict,
                .max_depth = r->options ? r->options->max_depth : 0,
                .max_bytes = r->options ? r->options->max_bytes : 0,
        };
        size_t offset = 0, n_values = 0;

        for (;; n_values++) {
                _cleanup_err_ struct err json_error = { 0 };
                const struct value *v;
                size_t consumed = 0;
                int code = json_parse_next(r->arena, str_skip(r->text, offset), &options, &v, &consumed, &json_error);

                if (code == ERR_NOT_FOUND)
                        return 0;
                if (code < 0) {
                        shift_position(r, &json_error, line_at(r->text, offset), offset);
                        if (n_values >= JSON_SURE_VALUES || code == ERR_LIMIT)
                                return fail_json(r, &json_error, false, err);
                        return read_rest(r, offset, &json_error, err);
                }
                add_document(r, v);
                offset += consumed;
        }
}

int yaml_parse_stream(struct arena *a, struct str text, const struct yaml_read_options *options,
                      const struct value **ret, struct err *err)
{
        struct stream_reader r = { .arena = a, .text = text, .options = options };
        size_t max_bytes = options && options->max_bytes ? options->max_bytes : LIMIT_DOCUMENT_BYTES;
        int code;

        if (text.n > max_bytes)
                return err_set(err, ERR_LIMIT, "yaml: text is larger than the limit of %zu bytes", max_bytes);
        array_builder_init(&r.documents, a, 0);
        code = yaml_stream_is_json(text) ? read_json(&r, err) : read_yaml(&r, text, 0, 1, err);
        if (code < 0)
                return code;
        *ret = value_put(a, array_builder_finish(&r.documents));
        return 0;
}
