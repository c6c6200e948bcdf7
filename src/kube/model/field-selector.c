#include "field-selector.h"

#include "arena.h"
#include "buf.h"
#include "gotext.h"
#include "meta.h"
#include "status.h"
#include "str-list.h"
#include "utf8.h"

#include <stdio.h>

/* The terms between unescaped commas, in bytewise order. */
static void split_terms(struct str text, struct str_list *ret)
{
        size_t start = 0;

        if (text.n == 0)
                return;
        for (size_t i = 0; i < text.n; i++) {
                if (text.p[i] == '\\') {
                        i++;
                } else if (text.p[i] == ',') {
                        str_list_add(ret, str_make(text.p + start, i - start));
                        start = i + 1;
                }
        }
        str_list_add(ret, str_skip(text, start));
        str_list_sort(ret);
}

/* Splits the term at its first operator. A backslash does not escape an operator. */
static bool split_operator(struct str term, struct field_requirement *ret, struct str *ret_value)
{
        for (size_t i = 0; i < term.n; i++) {
                struct str rest = str_skip(term, i);

                ret->path = str_first(term, i);
                ret->is_not_equals = str_cut_prefix(&rest, STR("!="));
                if (!ret->is_not_equals && !str_cut_prefix(&rest, STR("==")) && !str_cut_prefix(&rest, STR("=")))
                        continue;
                *ret_value = rest;
                return true;
        }
        return false;
}

static int unescape(struct arena *a, struct str text, struct str *ret, struct err *err)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        size_t width;

        for (size_t i = 0; i < text.n; i++) {
                char c = text.p[i];

                if (c == ',' || c == '=')
                        return status_bad_request(err, "invalid field selector: unescaped character in value: %d", c);
                if (c == '\\') {
                        struct str rest = str_skip(text, ++i);
                        char rune[4];

                        if (rest.n == 0)
                                return status_bad_request(err, "invalid field selector: invalid escape sequence: \\");
                        if (!strchr("\\,=", rest.p[0]) || !rest.p[0])
                                return status_bad_request(err,
                                                          "invalid field selector: invalid escape sequence: \\%.*s",
                                                          (int)utf8_encode(utf8_decode(rest, &width), rune), rune);
                        c = rest.p[0];
                }
                buf_append_char(&b, c);
        }
        *ret = buf_to_arena(&b, a);
        return 0;
}

int field_selector_parse(struct arena *a, struct str text, struct field_selector *ret, struct err *err)
{
        struct str_list terms;
        struct field_requirement *p;
        size_t n = 0;

        str_list_init(&terms, a);
        split_terms(text, &terms);
        p = ARENA_NEW_ARRAY(a, struct field_requirement, terms.n);
        for (size_t i = 0; i < terms.n; i++) {
                struct str value;
                int r;

                if (str_is_empty(terms.p[i]))
                        continue;
                if (!split_operator(terms.p[i], &p[n], &value))
                        return status_bad_request(err, "invalid selector: '%.*s'; can't understand '%.*s'",
                                                  STR_ARG(text), STR_ARG(terms.p[i]));
                r = unescape(a, value, &p[n].value, err);
                if (r < 0)
                        return r;
                if (!str_is_empty(p[n].path) || !str_is_empty(p[n].value))
                        n++;
        }
        *ret = (struct field_selector) { .requirements = p, .n = n };
        return 0;
}

void field_selector_append(struct buf *b, const struct field_selector *s)
{
        for (size_t i = 0; i < s->n; i++) {
                const struct field_requirement *r = &s->requirements[i];

                if (i > 0)
                        buf_append_char(b, ',');
                buf_append_str(b, r->path);
                buf_append_str(b, r->is_not_equals ? STR("!=") : STR("="));
                for (size_t j = 0; j < r->value.n; j++) {
                        if (strchr("\\,=", r->value.p[j]) && r->value.p[j])
                                buf_append_char(b, '\\');
                        buf_append_char(b, r->value.p[j]);
                }
        }
}

static bool is_allowed(struct str path, const struct str *allowed, size_t n_allowed)
{
        if (str_equal(path, STR("metadata.name")) || str_equal(path, STR("metadata.namespace")))
                return true;
        for (size_t i = 0; i < n_allowed; i++)
                if (str_equal(path, allowed[i]))
                        return true;
        return false;
}

int field_selector_check(const struct field_selector *s, const struct str *allowed, size_t n_allowed, struct err *err)
{
        for (size_t i = 0; i < s->n; i++) {
                struct str path = s->requirements[i].path;
                _cleanup_buf_ struct buf quoted = BUF_INIT(0);

                if (is_allowed(path, allowed, n_allowed))
                        continue;
                if (allowed)
                        return status_bad_request(err, "field label not supported: %.*s", STR_ARG(path));
                go_append_quoted(&quoted, path);
                return status_bad_request(
                        err, "%.*s is not a known field selector: only \"metadata.name\", \"metadata.namespace\"",
                        STR_ARG(buf_str(&quoted)));
        }
        return 0;
}

/* For an Event, `source` means source.component; if that is empty, reportingComponent. */
static const struct value *find_source(const struct value *object)
{
        const struct value *component = value_find(object, "source", "component");

        return str_is_empty(value_str(component)) ? value_get(object, STR("reportingComponent")) : component;
}

static bool equals(const struct value *object, const struct field_requirement *r)
{
        const struct value *v = value_find_dotted(object, r->path);
        char number[24];

        if (str_equal(r->path, STR("source")) && str_equal(gvk_of(object).kind, STR("Event")))
                v = find_source(object);
        if (value_is_bool(v))
                return str_equal(r->value, v->boolean ? STR("true") : STR("false"));
        if (value_is_int(v)) {
                snprintf(number, sizeof(number), "%lld", (long long)v->integer);
                return str_equal(r->value, str_from(number));
        }
        return str_equal(r->value, value_str(v));
}

bool field_selector_matches(const struct field_selector *s, const struct value *object)
{
        for (size_t i = 0; i < s->n; i++)
                if (equals(object, &s->requirements[i]) == s->requirements[i].is_not_equals)
                        return false;
        return true;
}

struct str field_selector_name(const struct field_selector *s)
{
        for (size_t i = 0; i < s->n; i++)
                if (!s->requirements[i].is_not_equals && str_equal(s->requirements[i].path, STR("metadata.name")))
                        return s->requirements[i].value;
        return STR("");
}
