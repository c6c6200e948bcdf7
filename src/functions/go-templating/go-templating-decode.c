/* Decodes rendered text to documents like Kubernetes' YAML-or-JSON decoder, with the same error texts. */
#include "go-templating.h"

#include "buf.h"
#include "go-print.h"
#include "gotext.h"
#include "json.h"
#include "vec.h"
#include "yaml-compose.h"
#include "yaml.h"

#define NEAR_BYTES 80

struct decoder {
        struct templating *t;
        struct str text;
        VEC(struct value) documents;
        size_t n_json;         /* values read as JSON, nulls included */
        size_t separator_line; /* S: line of the separator that, for upstream, precedes the document */
        struct err *err;
};

/* --- Lines of the output --- */

/* The first line after `after` that is only a separator; `otherwise` when there is none. */
static size_t next_separator(struct str text, size_t after, size_t otherwise)
{
        struct str line;

        for (size_t number = 1; text.n > 0; number++) {
                str_split(&text, '\n', &line);
                if (number > after && str_equal(str_trim(line), STR("---")))
                        return number;
        }
        return otherwise;
}

static bool line_at(struct str text, size_t number, struct str *ret)
{
        bool has_more = true;

        for (size_t i = 1; has_more; i++) {
                has_more = str_split(&text, '\n', ret);
                if (i == number)
                        return true;
        }
        return false;
}

/* Cuts `yaml: line N: MESSAGE` down to the message. */
static bool cut_line(struct str *text, size_t *ret_line)
{
        size_t line = 0, i = 0;

        if (!str_cut_prefix(text, STR("yaml: line ")))
                return false;
        for (; i < text->n && text->p[i] >= '0' && text->p[i] <= '9'; i++)
                line = line * 10 + (size_t)(text->p[i] - '0');
        *text = str_skip(*text, i);
        *ret_line = line;
        return str_cut_prefix(text, STR(": "));
}

/* Reports a YAML error with the line of the output that upstream shows, which is often off by one. */
static int fail_yaml(struct decoder *d, const struct err *problem)
{
        struct str text = str_from(err_message(problem)), message = text, near;
        size_t line;

        if (!cut_line(&message, &line) || !line_at(d->text, d->separator_line + line, &near))
                return err_set(d->err, ERR_INVALID, "error converting YAML to JSON: %.*s", STR_ARG(text));
        near = str_trim(near);
        return err_set(d->err, ERR_INVALID,
                       "error converting YAML to JSON: yaml: line %zu (document %zu, line %zu) near: '%.*s%s': %.*s",
                       d->separator_line + line, d->documents.n + 1, line, STR_ARG(str_first(near, NEAR_BYTES)),
                       near.n > NEAR_BYTES ? "..." : "", STR_ARG(message));
}

/* --- Documents --- */

static bool has_kind(const struct value *document)
{
        return value_str(value_get(document, STR("kind"))).n > 0;
}

static int check_yaml_document(struct decoder *d, const struct value *document)
{
        struct str text;
        int r;

        if (!value_is_object(document))
                return err_set(
                        d->err, ERR_INVALID,
                        "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal %s into Go value of "
                        "type map[string]interface {}",
                        go_json_type(document));
        if (has_kind(document))
                return 0;
        r = json_to_str(d->t->arena, document, JSON_GO, &text, d->err);
        return r < 0 ? r
                     : err_set(d->err, ERR_INVALID,
                               "error unmarshaling JSON: while decoding JSON: Object 'Kind' is missing in '%.*s'",
                               STR_ARG(text));
}

/* Checks annotations directly after a document is read. */
static int check_annotations(struct decoder *d, const struct value *document)
{
        struct arena *a = d->t->arena;
        const struct value *metadata = value_get(document, STR("metadata"));
        const struct value *annotations = value_get(metadata, STR("annotations")), *wrong = NULL, *name;
        _cleanup_buf_ struct buf shown = BUF_INIT(0), kind = BUF_INIT(0), resource = BUF_INIT(0);
        struct str version = value_str(value_get(document, STR("apiVersion")));
        ptrdiff_t slash = str_find_char(version, '/');
        struct str wrong_key = STR_NONE;

        if (!metadata || value_is_null(metadata) || (value_is_object(metadata) && !annotations))
                return 0;
        if (!value_is_object(metadata))
                wrong = metadata;
        else if (!value_is_object(annotations))
                wrong = annotations;
        annotations = value_is_object(annotations) ? value_sorted(a, annotations) : NULL;
        VALUE_FOREACH_MEMBER (m, annotations)
                if (!wrong && !value_is_string(&m->value)) {
                        wrong = &m->value;
                        wrong_key = m->key;
                }
        if (!wrong)
                return 0;
        name = value_get(annotations, TEMPLATING_ANNOTATION_NAME);
        go_append_value(&shown, wrong);
        go_append_value(&resource, name);
        buf_appendf(&kind, "%.*s/%.*s, Kind=%.*s", STR_ARG(str_first(version, slash < 0 ? 0 : (size_t)slash)),
                    STR_ARG(str_skip(version, (size_t)(slash + 1))),
                    STR_ARG(value_str(value_get(document, STR("kind")))));
        if (wrong_key.p)
                return err_set(
                        d->err, ERR_INVALID,
                        "invalid annotations in resource '%.*s resource-name=%.*s': .metadata.annotations accessor "
                        "error: contains non-string value in the map under key %.*s: %.*s is of the type %.*s, "
                        "expected string",
                        STR_ARG(buf_str(&kind)), STR_ARG(buf_str(&resource)), STR_ARG(go_quote(a, wrong_key)),
                        STR_ARG(buf_str(&shown)), STR_ARG(go_type_name(wrong)));
        return err_set(
                d->err, ERR_INVALID,
                "invalid annotations in resource '%.*s resource-name=%.*s': .metadata.annotations accessor error: "
                "%.*s is of the type %.*s, expected map[string]interface{}",
                STR_ARG(buf_str(&kind)), STR_ARG(buf_str(&resource)), STR_ARG(buf_str(&shown)),
                STR_ARG(go_type_name(wrong)));
}

static int add_document(struct decoder *d, const struct value *document)
{
        int r = check_annotations(d, document);

        if (r < 0)
                return r;
        vec_push(&d->documents, *document);
        d->separator_line = next_separator(d->text, d->separator_line, d->separator_line);
        return 0;
}

/* --- YAML --- */

static int decode_yaml_document(struct decoder *d, struct str text, const struct value **ret)
{
        _cleanup_err_ struct err problem = { 0 };
        int r = yaml_parse(d->t->arena, yaml_with_newline(d->t->arena, text), NULL, ret, &problem);

        if (r < 0)
                return fail_yaml(d, &problem);
        return value_is_null(*ret) ? 0 : check_yaml_document(d, *ret);
}

static int decode_yaml(struct decoder *d, struct str text)
{
        struct yaml_stream stream;
        struct yaml_document document;
        int r;

        yaml_stream_init(&stream, text);
        while ((r = yaml_stream_next(&stream, &document, d->err)) > 0) {
                const struct value *v;

                r = decode_yaml_document(d, document.text, &v);
                if (r < 0)
                        break;
                if (value_is_null(v))
                        continue;
                r = add_document(d, v);
                if (r < 0)
                        return r;
        }
        return r < 0 ? err_wrap(d->err, "cannot decode manifest") : 0;
}

/* --- JSON --- */

/* A stream that began as JSON continues as YAML when at most one value was read; if that fails too, the JSON error is reported. */
static int go_on_as_yaml(struct decoder *d, struct str rest, size_t offset, const struct err *problem)
{
        _cleanup_err_ struct err ignored = { 0 };
        struct yaml_stream stream;
        struct yaml_document first;
        const struct value *v;

        if (d->n_json >= 2)
                return err_set(d->err, ERR_INVALID, "cannot decode manifest: %s", err_message(problem));
        rest = yaml_stream_rest(rest);
        yaml_stream_init(&stream, rest);
        if (yaml_stream_next(&stream, &first, &ignored) > 0 && decode_yaml_document(d, first.text, &v) == 0) {
                err_done(d->err);
                *d->err = (struct err) { 0 };
                return decode_yaml(d, rest);
        }
        if (strcmp(err_message(problem), "unexpected end of JSON input") == 0)
                return err_set(d->err, ERR_INVALID, "cannot decode manifest: unexpected EOF");
        return err_set(d->err, ERR_INVALID, "cannot decode manifest: json: offset %zu: %s", offset,
                       err_message(problem));
}

static int decode_json(struct decoder *d, struct str text)
{
        const struct json_read_options options = { .is_kubernetes = true };
        size_t offset = 0, consumed;
        int r;

        while (offset < text.n) {
                _cleanup_err_ struct err problem = { 0 };
                struct str rest = str_skip(text, offset);
                const struct value *v;

                r = json_parse_next(d->t->arena, rest, &options, &v, &consumed, &problem);
                if (r == ERR_NOT_FOUND)
                        return 0;
                if (r < 0)
                        return go_on_as_yaml(d, rest, offset + problem.position.offset + 1, &problem);
                offset += consumed;
                d->n_json++;
                if (value_is_null(v))
                        continue;
                if (!value_is_object(v))
                        return err_set(d->err, ERR_INVALID,
                                       "cannot decode manifest: json: cannot unmarshal %s into Go value of type "
                                       "map[string]interface {}",
                                       go_json_type(v));
                if (!has_kind(v))
                        return err_set(d->err, ERR_INVALID,
                                       "cannot decode manifest: Object 'Kind' is missing in '%.*s'",
                                       STR_ARG(str_trim(str_first(rest, consumed))));
                r = add_document(d, v);
                if (r < 0)
                        return r;
        }
        return 0;
}

int templating_decode(struct templating *t, struct str text, struct err *err)
{
        struct decoder d = { .t = t, .text = text, .separator_line = next_separator(text, 1, 1), .err = err };
        int r = yaml_stream_is_json(text) ? decode_json(&d, text) : decode_yaml(&d, text);

        t->documents = ARENA_NEW_ARRAY(t->arena, struct value, d.documents.n + 1);
        t->n_documents = d.documents.n;
        if (d.documents.n > 0)
                memcpy(t->documents, d.documents.p, d.documents.n * sizeof(*t->documents));
        vec_done(&d.documents);
        return r;
}
